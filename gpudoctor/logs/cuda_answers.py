"""What CUDA answers programs other than TensorFlow: PyTorch, JAX, ffmpeg, samples."""

from __future__ import annotations

from functools import partial

from ..patterns import Pattern
from .language import Kind, Language, Understood, Values
from .notebook import Notebook

_SHOWN, _NAMED = 1, -1
"""What TensorFlow's own line says of cuInit weighs more; a name without a call, less than a device that was created."""
_UNKNOWN = 999
_CALL = r"(?:cuInit|cuda(?:GetDeviceCount|SetDevice|Free|RuntimeGetVersion|DriverGetVersion))(?:\(\w{0,20}\))?"
_ANSWERS: tuple[tuple[int, str], ...] = (
    (34, r"CUDA driver is a stub library|cudaErrorStubLibrary|CUDA_ERROR_STUB_LIBRARY|CudaAPIError: \[34\]"),
    (
        100,
        r"[Nn]o CUDA-capable device is detected|cudaGetDeviceCount(?:\(\))? returned (?:38|100)\b|cudaErrorNoDevice|CudaAPIError: \[100\]|cuInit\S{0,12} .{0,30}CUDA_ERROR_NO_DEVICE",
    ),
    (304, r"(?:cuda|CUDA|cuInit)\w{0,40}\W.{0,60}OS call failed or operation not supported on this OS"),
    (500, rf"{_CALL}[^\n]{{0,160}}\b[Ee]rror:? 500: named symbol not found|{_CALL} returned 500\b"),
    (
        802,
        r"[Ss]ystem not yet initialized|(?i:\b802 system error|error[ :(]{1,3}802\b|code=802\b)|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY",
    ),
    (
        803,
        r"system has unsupported display driver / cuda driver combination(?! \(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\) cuInit)|cudaErrorSystemDriverMismatch|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH(?!\) cuInit\(\)=803)",
    ),
    (
        804,
        (
            r"(?i:forward compatibility (?:was attempted )?on non[- ]supported HW)|cudaErrorCompatNotSupportedOnDevice"
            r"|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|(?i:\bcuda\b[^\n]{0,60}\b804 error\b)"
        ),
    ),
    (
        805,
        r"MPS client failed to connect to the MPS control daemon|cudaErrorMpsConnectionFailed|CUDA_ERROR_MPS_CONNECTION_FAILED",
    ),
    (
        806,
        r"procedural call between the MPS server and the MPS client failed|cudaErrorMpsRpcFailure|CUDA_ERROR_MPS_RPC_FAILURE",
    ),
    (
        807,
        r"MPS server is not ready to accept new MPS client|cudaErrorMpsServerNotReady|CUDA_ERROR_MPS_SERVER_NOT_READY",
    ),
    (
        808,
        r"required to create MPS client have been exhausted|cudaErrorMpsMaxClientsReached|CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
    ),
    (
        809,
        r"required to support device connections have been exhausted|cudaErrorMpsMaxConnectionsReached|CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
    ),
    (
        999,
        (
            r"CUDA (?:error: )?unknown error\b|cudaGetDeviceCount(?:\(\))? returned (?:30|999)\b|\((?:30|999) vs\.? 0\)|(?i:cuda runtime error \((?:30|999)\))|(?i:cuda (?:driver )?error:? 999)|[Ee]rror 999: unknown error|CudaAPIError: \[999\]"
            r"|cuInit\S{0,12} .{0,40}(?:CUDA_ERROR_UNKNOWN|(?:returned|returns|gives|answers|fails with|failed with|error) 999\b|unknown error)|failed to initialize CUDA: unknown error|[Uu]nknown error in cuInit\b|cuInit: [Uu]nknown error"
            r"|(?:cuda\w{3,30}\(\)(?: on GPU:\d{1,3})?|implicit initialization on GPU:\d{1,3}) failed\. Status: unknown error|Failed to get device (?:properties|attribute), error code: (?:30|999)\b"
        ),
    ),
)


def _named(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.init_result", 999, line, _NAMED)


def _answer(code: int, _values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.init_result", code, line, _SHOWN)


_SAYS = r"(?:\W{0,3}(?:error|err|failed|fails|failure|returned|returns|returning|gives|gave|answers|with|code|status|result|number|no\.))"
_NUMBERED = Pattern(
    rf"(?i:(?:\bcuda(?:[ _](?:driver|runtime|library|initiali[sz]ation|init|api)){{0,3}}{_SAYS}{{1,5}}|\b{_CALL}(?:{_SAYS}{{1,5}}|(?= ?=)))\W{{0,3}}(?<![-.\d])(?P<code>\d{{2,3}})\b)(?![.:,]?\d| ?%| (?:times|(?i:gpus?|cards?|steps|epochs|images|runs))\b)"
)
"""A call or an error that is told by its number alone: 'CUDA error: error code 34', 'cuInit()=100'."""
_OLD_NUMBERS = {30: 999, 38: 100}
"""Numbers of CUDA's runtime before 10.1."""
_ALONE = frozenset(code for code, _ in _ANSWERS)
_FAILURES = {209: "no-kernel-image", 222: "ptx-too-new"}
"""Kinds of what TensorFlow's operations fail with, by their numbers."""


class _Others(Language):
    def line(self, text: str, number: int, notes: Notebook) -> Understood | None:
        """What a line says that is not TensorFlow's own of cuInit, which is read there, nor the container toolkit's."""
        if "failed call to cuInit" in text or "nvidia-container-cli" in text:
            return None
        told = super().line(text, number, notes)
        return told or (None if ".cc:" in text else _numbered(text, number, notes))  # TensorFlow's log has the names


def _numbered(text: str, number: int, notes: Notebook) -> Understood | None:
    """What a line tells by a number alone."""
    if " NCCL " in text or "MISMATCH) cuInit()=803" in text or (found := _NUMBERED.search(text)) is None:
        return None  # a container that says that it runs without its own compatibility library
    code = int(found["code"])
    if code in _FAILURES:
        return Understood(_FAILURES[code], {}, "op-fails")
    code = _OLD_NUMBERS.get(code, code)
    if code not in _ALONE:
        return None
    (_named if code == _UNKNOWN else partial(_answer, code))({}, number, notes)
    return Understood(f"cuda-answers-{code}", {})


LANGUAGE = _Others(
    name="cuda",
    words=(
        "CUDA",
        "cuda",
        " vs",
        "cuInit",
        "ystem not yet",
        "unsupported display",
        "ompatibility",
        "stub library",
        "UNKNOWN_ERROR",
        "rror 999",
        "rror code 999",
        "rror code: 999",
        "Cuda",
        "get device ",
        "MPS",
        "cudaErrorMps",
        "device connections have",
    ),
    kinds=(
        *(Kind(f"cuda-answers-{code}", pattern, tell=partial(_answer, code)) for code, pattern in _ANSWERS),
        Kind("cuda-busy", r"CUDA-capable device(?:s|\(s\) is/are| is)? (?:are )?busy or unavailable"),
        Kind(
            "mps-ended-client",
            r"MPS client has been terminated by the (?:MPS )?server|cudaErrorMpsClientTerminated|CUDA_ERROR_MPS_CLIENT_TERMINATED",
            "op-fails",
        ),
        Kind(
            "cuda-answers-999",
            r"^(?![^\n]{0,400}?\bcu(?:Module|Launch|Memcpy|Memset|Stream|Event|Func|Graph)[A-Z]\w{0,40})[^\n]{0,80}\b[Ee]rror (?:code:? )?999\b|^(?![^\n]{0,400}?\bcu(?:Module|Launch|Memcpy|Memset|Stream|Event|Func|Graph)[A-Z]\w{0,40})[^\n]{0,600}?\bCUDA_ERROR_UNKNOWN\b|\bUNKNOWN_ERROR\(99\)|\bcudaErrorUnknown\b",
            tell=_named,
        ),
    ),
)
