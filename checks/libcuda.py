"""Which libcuda the loader picks: the driver's, a toolkit's stub, a compat library, none."""

from __future__ import annotations

import os
import re
from shlex import quote

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks._cuinit import (
    COMPAT_NOT_SUPPORTED,
    DRIVER_MISMATCH,
    MAPPED,
    OLD_STUB,
    STUB,
    SUCCESS,
    init_evidence,
    init_result,
    kernel_release,
    lies_in,
    own_libraries,
    path_of,
)
from gpudoctor.checks._driver_asked import SHOWN, modules_differ
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._handed_over import driver_works
from gpudoctor.checks._libcuda_said import stub_of_an_image
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import left_open, lines
from gpudoctor.facts import Facts, SearchStep, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, NotApplicable, Stage, on_library_path
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_NVML_MISMATCH = 18


_MISMATCH = ("driver-does-not-load", "tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "nvidia-smi-fails")


@check(
    "GD102",
    "driver-library-mismatch",
    stage=Stage.DRIVER,
    explains=(*_MISMATCH, "driver-rminit-failed"),  # for want of a firmware of the module's own release
)
def driver_library_mismatch(facts: Facts) -> Findings:
    """The driver's libraries and its kernel module are of different releases.

    What it looks at: cuInit's answer 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) and NVML's 18 (driver/library
    version mismatch), the release of the kernel module (/proc/driver/nvidia/version) and that of the libcuda
    file which this environment loads. A libcuda in a compat directory is another cause
    (cuda-compat-unsupported), a toolkit's stub too.

    Why it matters: the driver refuses to work until both are the same. It happens after an upgrade
    (unattended ones too) until the next reboot, and in containers that were started before it.

    How to fix: reboot, or unload and load the kernel modules; restart containers. Reinstalling TensorFlow or
    CUDA changes nothing.

    Source: CUDA Driver API, CUresult 803; NVML, NVML_ERROR_LIB_RM_VERSION_MISMATCH 18.
    """
    if told := decided(facts, "driver-library-mismatch"):
        yield Found(
            message="The driver's libraries and its kernel module are of different releases: it was updated, or installed twice.",
            proof=lines(told),
            fixes=(fix.REBOOT,),
        )
        return
    lib = facts.driver.libcuda
    path = lib.path if isinstance(lib.path, str) else ""
    if lies_in(lib, "compat") or lies_in(lib, "stubs"):
        raise NotApplicable(f"the libcuda that is loaded, {path}, is not the driver's own")
    nvml = facts.gpu.nvml_error
    cuda_says = lib.init_result == DRIVER_MISMATCH
    if lib.init_result == SUCCESS and not (
        facts.text.is_all and nvml == _NVML_MISMATCH
    ):  # a text may be of two moments
        ours = f", libcuda {lib.version}" if isinstance(lib.version, str) else ""
        return f"cuInit answers 0: kernel module {kernel_release(facts)}{ours}"
    if facts.text.is_all and nvml != _NVML_MISMATCH:
        known(lib.path)  # of a compat directory it would be another cause
    if not cuda_says and nvml != _NVML_MISMATCH:
        init_result(facts)
        kernel, user = known(facts.driver.kernel_version), known(lib.version)
        if kernel is None or user is None:
            return "the kernel module is not loaded" if kernel is None else "libcuda names no release"
        if not _RELEASE.fullmatch(kernel) or not _RELEASE.fullmatch(user):
            raise NotApplicable(f"kernel module {kernel} and libcuda {user} are no releases that can be compared")
        if _same_release(kernel, user):
            return f"the kernel module is of {kernel}, libcuda of {user}"
    user_text = lib.version if isinstance(lib.version, str) else "unknown"
    kernel_text = kernel_release(facts)
    proof = [
        Evidence(text=f"kernel module: {kernel_text}", source="/proc/driver/nvidia/version"),
        Evidence(text=f"user library: {user_text}", source=path or "libcuda.so.1"),
    ]
    if not isinstance(lib.init_result, Unread):
        proof.insert(0, init_evidence(lib))
    if nvml == _NVML_MISMATCH:
        proof.append(Evidence(text=f"NVML: {facts.gpu.nvml_error_text}", source="nvmlInit, in a child process"))
    off = _off_the_path(facts)
    named = not isinstance(lib.version, Unread) and not isinstance(facts.driver.kernel_version, Unread)
    which = f" ({kernel_text})", f" (libcuda: {user_text})"
    yield Found(
        message="The driver works only when its kernel module{} and its libraries{} are of one release.".format(
            *(which if named or not facts.text.is_all else ("", ""))
        ),
        proof=tuple(proof),
        fixes=_fixes(off, fix.REBOOT if off is None or nvml == _NVML_MISMATCH else None),
        explains=None if facts.text.is_all else _MISMATCH,
    )


_RELEASE = Pattern(r"\d{3}\.\d+(\.\d+)?")
"""'580.159.04'; the libcuda of WSL and Jetson is '1.1', and vendors add words."""


def _same_release(one: str, other: str) -> bool:
    """'580.159.04' and '580.159.4' are one release."""
    first, second = ([int(p) for p in release.split(".")] for release in (one, other))
    return [*first, 0][:3] == [*second, 0][:3]  # TensorFlow writes 384.130 as 384.130.0


@check(
    "GD103",
    "libcuda-stub-loaded",
    stage=Stage.DRIVER,
    explains=("libcuda-not-found", *SHOWN, "tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device"),
)
def libcuda_stub_loaded(facts: Facts) -> Findings:
    """The CUDA toolkit's stub is loaded in place of the driver's libcuda.

    What it looks at: the path of the libcuda.so.1 that this environment loads, and cuInit's answer 34
    (CUDA_ERROR_STUB_LIBRARY).

    Why it matters: the stub exists so that programs can be linked on machines without a driver. It
    answers every call with an error. It gets in the way when lib64/stubs is on LD_LIBRARY_PATH or in
    /etc/ld.so.conf.d.

    How to fix: take the stubs directory off the search path.

    Source: CUDA Driver API, CUresult 34.
    """
    if told := decided(facts, "libcuda-stub-loaded"):
        yield Found(
            message="A stub of the CUDA toolkit, made for linking, is on the loader's path in place of the driver's library.",
            proof=lines(told),
            fixes=(fix.OFF_STUBS,),
        )
        return
    lib = facts.driver.libcuda
    result = init_result(facts)
    is_stub = result in (STUB, OLD_STUB)
    if is_stub and stub_of_an_image(facts):
        known(lib.path)
    if result == OLD_STUB and facts.text.said("driver-insufficient"):
        raise UnknownFactError(Unread(why="a driver answered, and is too old", settle="nvidia-smi"))
    path = path_of(lib, decided=is_stub)
    if not is_stub and not (lies_in(lib, "stubs") and result != SUCCESS):
        return f"cuInit answers {result}: {short(path)} is no stub"
    if facts.text.said("device-node-absent", "kernel-module-absent", "module-not-found") and not driver_works(facts):
        why = "images bring the stub for building, and there is no driver here that it could stand in for"
        raise UnknownFactError(Unread(why=why, settle="nvidia-smi -L  # here, and on the host"))
    yield Found(
        message=f"{path or 'The libcuda.so.1 that is loaded'} is a stub for linking, not the driver's library.",
        proof=(
            init_evidence(lib),
            Evidence(text=f"libcuda.so.1 is {path}", source=MAPPED),
        ),
        fixes=_fixes(
            _off_the_path(facts),
            _off_the_cache(facts, path),
        ),
    )


@check(
    "GD104",
    "cuda-compat-unsupported",
    stage=Stage.DRIVER,
    explains=("driver-does-not-load", "tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "nvidia-smi-fails"),
)
def cuda_compat_unsupported(facts: Facts) -> Findings:
    """A forward-compatibility libcuda is loaded that this driver or GPU does not accept.

    What it looks at: the path of the libcuda.so.1 that this environment loads (a directory called compat,
    as in /usr/local/cuda/compat) with cuInit's answer 803, and cuInit's answer 804
    (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) wherever the library lies.

    Why it matters: the cuda-compat package lets data-center GPUs run a newer CUDA than their driver. It
    works with older drivers of certain branches only, never with a newer one, and never on GeForce.
    Container images put it first on the path.

    How to fix: take the compat directory off the search path, or remove the cuda-compat package.

    Source: NVIDIA, CUDA forward compatibility; CUDA Driver API, CUresult 803 and 804.
    """
    if told := decided(facts, "cuda-compat-unsupported"):
        yield Found(
            message="A forward-compatibility libcuda, of the image or of a cuda-compat package, is used where driver or GPU do not take it.",
            proof=lines(told),
            fixes=(fix.OFF_COMPAT,),
        )
        return
    lib = facts.driver.libcuda
    result = init_result(facts)
    if result not in (COMPAT_NOT_SUPPORTED, DRIVER_MISMATCH):
        return f"cuInit answers {result}"
    if facts.text.is_all and modules_differ(facts):
        raise NotApplicable("the driver's own libraries are of another release than its kernel module")
    if facts.text.is_all:
        known(lib.path)  # after an update, the driver's own library gets the same answers
    path = path_of(lib, decided=result == COMPAT_NOT_SUPPORTED)
    in_compat = lies_in(lib, "compat")
    if result != COMPAT_NOT_SUPPORTED and not (in_compat and result == DRIVER_MISMATCH):
        return f"{short(path)} is in no compat directory"
    user = lib.version if isinstance(lib.version, str) else "of unknown release"
    kernel = kernel_release(facts)
    yield Found(
        message=f"{path or 'The libcuda.so.1 that is loaded'} ({user}) is a forward-compatibility library; the kernel module is {kernel}.",
        proof=(
            init_evidence(lib),
            Evidence(text=f"libcuda.so.1 is {path}, release {user}", source=MAPPED),
            Evidence(text=f"kernel module: {kernel}", source="/proc/driver/nvidia/version"),
        ),
        fixes=_fixes(
            _off_the_path(facts),
            Fix(
                kind="command",
                risk="needs root",
                summary="Remove the forward-compatibility package, which this driver does not need",
                steps=("sudo apt-get remove 'cuda-compat-*'", "sudo ldconfig"),
                verify="ldconfig -p | grep libcuda.so.1",
            ),
        ),
    )


@check(
    "GD108",
    "driver-libcuda-not-on-path",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "libcuda-not-found"),
)
def driver_libcuda_not_on_path(facts: Facts) -> Findings:
    """The driver's libcuda.so.1 is installed where the loader does not look.

    What it looks at: whether libcuda.so.1 can be loaded, and every file of that name on this machine, without
    toolkit stubs and forward-compatibility libraries.

    Why it matters: every CUDA program needs it; TensorFlow registers no GPU without.

    How to fix: put its directory on the loader's path; for all users, with a file in /etc/ld.so.conf.d.

    Source: ld.so(8), ldconfig(8).
    """
    lib = facts.driver.libcuda
    if known(lib.path) is not None:
        return f"the loader finds {short(lib.path)}"
    own = own_libraries(known(lib.candidates))
    if facts.text.is_all and not own and lib.candidates:  # a directory that is listed is not all
        raise UnknownFactError(
            Unread(why="this text names a stub alone", settle="find / -name 'libcuda.so*' 2>/dev/null")
        )
    if not own or refused_library(facts) is not None:
        return (
            "the libcuda that is there is refused (driver-library-damaged)"
            if own
            else "no libcuda of a driver is on this machine"
        )
    directory = os.path.dirname(own[0])
    yield Found(
        message=f"{own[0]} is there, and the loader does not find it.",
        proof=(
            Evidence(text=f"libcuda.so.1: {known(lib.load_error) or 'not found'}", source="dynamic loader"),
            Evidence(text=f"{own[0]} exists", source="files"),
        ),
        fixes=(
            on_library_path([directory]),
            Fix(
                kind="command",
                risk="needs root",
                summary="Tell the loader's cache, for all users",
                steps=(f"echo {quote(directory)} | sudo tee /etc/ld.so.conf.d/nvidia-driver.conf", "sudo ldconfig"),
            ),
        ),
    )


_REFUSED = Pattern(r"(/.*/libcuda\.so[.\d]*): (?!cannot open shared object file)(.+)")
"""The loader's words for a file that it found; of one that it did not find it names no path."""


def refused_library(facts: Facts) -> tuple[str, str] | None:
    """The libcuda.so.1 that the loader found and refused, or died of, and why; None: it was not so."""
    lib = facts.driver.libcuda
    if lib.path is None:
        told = _REFUSED.fullmatch(lib.load_error) if isinstance(lib.load_error, str) else None
        return (told.group(1), told.group(2)) if told else None
    how = lib.no_answer
    if not isinstance(how, str) or not how.startswith("loading ") or not isinstance(lib.found_in, SearchStep):
        return None
    path = os.path.join(lib.found_in.directory, "libcuda.so.1")
    files = [] if isinstance(facts.libraries.files, Unread) else facts.libraries.files
    meant = [f for f in files if f.path.removeprefix("/usr") == path.removeprefix("/usr")]  # /lib is most often a link
    flaws = [f.flaw for f in meant if isinstance(f.flaw, str)]
    return (path, f"{flaws[0]}; {how}") if flaws and len(flaws) == len(meant) else None


@check(
    "GD125",
    "driver-library-damaged",
    stage=Stage.DRIVER,
    explains=("libcuda-not-found", "cuinit-no-answer", "tf-lists-no-gpu"),
)
def driver_library_damaged(facts: Facts) -> Findings:
    """The driver's libcuda.so.1 is found and is no whole library.

    What it looks at: what the loader says of the libcuda.so.1 that it finds (file too short, invalid ELF header, a symbol
    that is missing); where the process dies of loading it, what the file's header says. In a pasted text, 'file too short' and 'invalid
    ELF header' of a libcuda.so that is no container's: there it is what an image keeps of a mounted file.

    Why it matters: every CUDA program needs it. A file that is found first ends the search, even if a good one lies
    behind it. It happens where an installation or a copy was cut short (disk full), and where something else was written over it.

    How to fix: install the driver's package again, in a container on the host; or take the file's directory off the path.

    Source: ld.so(8); glibc elf/dl-load.c.
    """
    if facts.text.is_all:
        yield _cut_short(facts)
        return None
    if facts.driver.libcuda.path is not None and not isinstance(facts.driver.libcuda.no_answer, str):
        return f"the loader takes {short(known(facts.driver.libcuda.path))}"
    refused = refused_library(facts)
    if refused is None:
        return "the loader refuses no libcuda.so.1 that it finds"
    path, why = refused
    yield Found(
        message=f"{path} is found, and is no library that can be loaded: {why}.",
        proof=(Evidence(text=f"{path}: {why}", source="dynamic loader, in a child process"),),
        fixes=(_off_the_path(facts) or fix.again(path, facts),),
    )


_CUT = Pattern(r"libcuda\.so[.\d]*: (?:file too short|invalid ELF header)")
_ELSEWHERE = ("container-named", "container-shell", "talks-of-a-container", "slurm-job", "on-a-login-node")


def _cut_short(facts: Facts) -> Found:
    """What the loader says of the file in a text. Raises UnknownFactError."""
    told = tuple(e for e in facts.text.said("library-not-loaded") if _CUT.search(e.text))
    if not told or isinstance(facts.system.container, str) or facts.text.said(*_ELSEWHERE):
        raise left_open("ls -lL /usr/lib/x86_64-linux-gnu/libcuda.so.1; hostname")
    return Found(
        message="The driver's libcuda.so.1 is found, and is no whole library.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs root",
                summary="Install the driver's package again; on a node without GPUs the file stands for one that other nodes have",
                steps=("ls -lL /usr/lib/x86_64-linux-gnu/libcuda.so.1",),
                verify="nvidia-smi",
            ),
        ),
    )


def _off_the_path(facts: Facts) -> Fix | None:
    """LD_LIBRARY_PATH without the directory in which libcuda was found, where that is how it was found and
    another libcuda lies elsewhere."""
    found = facts.driver.libcuda.found_in
    value = facts.environment.get("LD_LIBRARY_PATH")
    if not isinstance(found, SearchStep) or found.origin != "LD_LIBRARY_PATH" or not isinstance(value, str):
        return None
    kept = [p for p in re.split("[:;]", value) if p and os.path.normpath(p) != os.path.normpath(found.directory)]
    if not _elsewhere(facts, found.directory):
        return None
    if not kept:
        change = EnvChange(name="LD_LIBRARY_PATH", op="unset")
        step = "unset LD_LIBRARY_PATH"
    else:
        change = EnvChange(name="LD_LIBRARY_PATH", op="set", value=":".join(kept))
        step = f"export LD_LIBRARY_PATH={quote(change.value)}"
    return Fix(
        kind="env",
        risk="safe",
        summary=f"Take {found.directory} off LD_LIBRARY_PATH, so that the driver's own libcuda is found",
        steps=(step,),
        env=(change,),
    )


def _off_the_cache(facts: Facts, path: str) -> Fix | None:
    """The loader's settings without the stubs; not where LD_LIBRARY_PATH is how the stub was found."""
    found = facts.driver.libcuda.found_in
    by_variable = isinstance(found, SearchStep) and found.origin == "LD_LIBRARY_PATH"
    if by_variable and _off_the_path(facts) is not None:
        return None
    return Fix(
        kind="command",
        risk="needs root",
        summary=f"Take {os.path.dirname(path) or 'the directory of the stub'} out of the loader's settings, for all users",
        steps=(
            "grep -lsE '^[^#]*/stubs' /etc/ld.so.conf /etc/ld.so.conf.d/*.conf | xargs -r sudo sed -i -E '/\\/stubs/s/^/# /'",
            "sudo ldconfig",
        ),
        verify="ldconfig -p | grep libcuda.so.1",
    )


def _elsewhere(facts: Facts, directory: str) -> bool:
    """Whether another libcuda of a driver than the one in `directory` lies on this machine, as far as is known."""
    candidates = facts.driver.libcuda.candidates
    if isinstance(candidates, Unread):
        return True
    own = os.path.normpath(directory)
    return any(os.path.dirname(os.path.normpath(c)) != own for c in own_libraries(candidates))


def _fixes(*fixes: Fix | None) -> tuple[Fix, ...]:
    return tuple(f for f in fixes if f is not None)
