"""TensorFlow's files, its own loader, its import."""

import ast
import ctypes
import importlib.util
import os
import platform
import re
import sys
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple

from .core import answer, list_directory, read_text
from .elf import expanded, read_elf, tidied_path
from .loaded import mapped_paths


def find_tensorflow() -> Dict[str, Any]:
    """The directory of the tensorflow package that this interpreter would import; why not, where not."""
    try:
        spec = importlib.util.find_spec("tensorflow")
    except BaseException as e:
        return {"directory": None, "why": "%s: %s" % (type(e).__name__, e)}
    if spec is None:
        return {"directory": None, "why": None}
    if spec.origin is None or not os.path.basename(spec.origin).startswith("__init__."):
        places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
        return {"directory": None, "why": "not the package", "stray": [os.path.abspath(p) for p in places]}
    return {"directory": os.path.dirname(os.path.abspath(spec.origin)), "why": None}


def tensorflow_files() -> None:
    """Where TensorFlow lies, what its build says of itself, its shared objects. Nothing is imported."""
    found = find_tensorflow()
    directory = found["directory"]
    if directory:
        found["build"] = _build_info(os.path.join(directory, "python", "platform", "build_info.py"))
        names = list_directory(directory)
        found["site"] = os.path.realpath(os.path.dirname(directory))
        found["objects"] = [
            _runpath(os.path.join(directory, n))
            for n in (names if isinstance(names, list) else [])
            if re.match(r"libtensorflow_(framework|cc)\.so", n)
        ]
    answer("tensorflow_files", found)


def _runpath(path: str) -> Dict[str, Any]:
    """A shared object and its DT_RUNPATH, `$ORIGIN` set; or what is wrong with it."""
    elf = read_elf(path)
    return {"path": path, "flaw": elf["flaw"], "runpath": expanded(elf["runpath"] or [], path)}


def _build_info(path: str) -> Dict[str, Any]:
    """build_info.py read as text: {key: value}, or {"errno": n}, or {} where it is of another form."""
    got = read_text(path)
    if "text" not in got:
        return got
    found = {}
    try:
        for node in ast.parse(got["text"]).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                continue
            value = node.value
            if node.targets[0].id == "build_info" and isinstance(value, ast.Call) and value.args:
                found.update(dict(ast.literal_eval(value.args[0])))
            else:
                try:
                    found.setdefault(node.targets[0].id, ast.literal_eval(value))
                except ValueError:
                    pass
    except (SyntaxError, ValueError):
        return {}
    return {"build": {k: v for k, v in found.items() if isinstance(v, (str, bool, list))}}


# ----------------------------------------------------------------------------- TensorFlow's own loader

_LOADER = "_ZN3tsl8internal9DsoLoader%d%sEv"
# The libraries of MaybeTryDlopenGPULibraries, in its order, then those that are asked for later.
_REQUIRED = ("CudaRuntime", "Cublas", "CublasLt", "Cufft", "Cusolver", "Cusparse", "Cudnn")
_LATER = ("Curand", "Cupti", "Nccl")


def loader(directory: Optional[str] = None) -> None:
    """Ask TensorFlow's exported loader for each GPU library. The process must run under LD_DEBUG=libs:
    marks on standard error cut its trace into one part a call."""
    directory = directory or find_tensorflow()["directory"]
    if directory is None:
        answer("loader_absent", "TensorFlow is not installed")
        return
    path = os.path.join(directory, "libtensorflow_framework.so.2")
    if not os.path.exists(path):
        answer("loader_absent", "%s does not exist" % path)
        return
    if platform.machine() not in ("x86_64", "AMD64"):
        answer("loader_absent", "TensorFlow's loader can only be called on x86-64")
        return
    _trace_mark("load")
    try:
        lib = ctypes.CDLL(path)
    except OSError as e:
        answer("loader_absent", "%s can't be loaded: %s" % (path, e))
        return
    _trace_mark("loaded")
    whole = _symbol(lib, "MaybeTryDlopenGPULibraries")
    if whole is None:
        answer("loader_absent", "%s exports no DsoLoader" % path)
        return
    answer("loader_object", path)
    for name in _REQUIRED + _LATER:
        function = _symbol(lib, "Get%sDsoHandle" % name)
        if function is None:
            continue
        _trace_mark("call " + name)
        ok, account = _overheard(lambda f=function: _status_ok(f))  # type: ignore[misc]
        _trace_mark("done " + name)
        tried = _tried(account, not ok)
        answer("loader_handle", {"name": name, "ok": ok, "required": name in _REQUIRED, "tried": tried})
    _trace_mark("call all")
    ok = _status_ok(whole)
    _trace_mark("done all")
    answer("loader_all", ok)
    answer("loader_maps", mapped_paths())


def _overheard(call: Callable[[], bool]) -> Tuple[bool, str]:
    """What `call` returns, and what went to standard error meanwhile; it is passed on."""
    kept = _nameless_file()
    if kept is None:
        return call(), ""
    real = os.dup(2)
    os.dup2(kept, 2)
    try:
        returned = call()
    finally:
        os.dup2(real, 2)
        os.close(real)
    with os.fdopen(kept, "rb") as f:
        f.seek(0)
        data = f.read()
    left = data
    while left:
        left = left[os.write(2, left) :]
    return returned, os.fsdecode(data)


def _nameless_file() -> Optional[int]:
    """A file in memory or one without a name; None where neither can be had."""
    try:
        return os.memfd_create("account")
    except (AttributeError, OSError):  # before Python 3.8, before Linux 3.17
        pass
    try:
        with tempfile.TemporaryFile() as f:
            return os.dup(f.fileno())
    except OSError:
        return None


_ACCOUNT = re.compile(r"^\s*\d+:\t(?:(find library=)|\s*trying file=(.*)$)", re.MULTILINE)


def _tried(account: str, failed: bool) -> Dict[str, Any]:
    """Of the loader's account: the file that each search tried last, and directories that are named with '..'.

    They are looked at here: the one who reads the account may have other files under these names.
    """
    last: List[str] = []
    directories: Dict[str, str] = {}
    fresh = False
    for begins, path in _ACCOUNT.findall(account):
        if begins:
            fresh = True
            continue
        directory = os.path.dirname(path)
        if ".." in directory and _as_heard(directory) not in directories:
            directories[_as_heard(directory)] = tidied_path(directory)
        if fresh:
            last.append(path)
        else:
            last[-1:] = [path]
        fresh = False
    files = {_as_heard(path): _tried_file(path, failed) for path in last}
    return {"files": files, "directories": directories}


def _as_heard(path: str) -> str:
    """A path as the one who reads standard error as text has it."""
    return os.fsencode(path).decode("utf-8", "replace")


def _tried_file(path: str, failed: bool) -> Dict[str, Any]:
    there = os.path.isfile(path)
    elf = read_elf(path) if there and failed else None
    if elf is not None and elf["machine"] is not None:
        own = read_elf(sys.executable)
        there = (elf["bits"], elf["machine"]) == (own["bits"], own["machine"])  # the loader passes over any other
    flaw = elf["flaw"] if elf is not None and there else None
    return {"path": tidied_path(path), "real": os.path.realpath(path), "there": there, "flaw": flaw}


def _symbol(lib: Any, name: str) -> Any:
    try:
        return getattr(lib, _LOADER % (len(name), name))
    except AttributeError:
        return None


def _status_ok(function: Any) -> bool:
    """Call a function that returns absl::Status or StatusOr<void*> in memory.

    OK is first word 1 in newer releases (2.12, 2.18 and later) and 0 in others (2.14, 2.16); an error is a pointer or a
    code, never one of these.
    """
    status = (ctypes.c_uint64 * 4)(7, 7, 7, 7)
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p]
    function(ctypes.addressof(status))
    return status[0] in (0, 1)


def _trace_mark(text: str) -> None:
    os.write(2, ("@gpudoctor " + text + "\n").encode())


def c_api_devices(directory: Optional[str] = None) -> None:
    """TensorFlow's device list through its C API, without importing the Python package."""
    directory = directory or find_tensorflow()["directory"]
    path = os.path.join(directory or "", "libtensorflow_cc.so.2")
    if directory is None or not os.path.exists(path):
        answer("c_api_absent", "no libtensorflow_cc.so.2")
        return
    try:
        tf = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
        for name in ("TF_NewStatus", "TFE_NewContextOptions", "TFE_NewContext", "TFE_ContextListDevices"):
            getattr(tf, name).restype = ctypes.c_void_p
        tf.TF_DeviceListName.restype = tf.TF_DeviceListType.restype = tf.TF_Message.restype = ctypes.c_char_p
    except (OSError, AttributeError) as e:
        answer("c_api_absent", str(e))
        return
    status = ctypes.c_void_p(tf.TF_NewStatus())
    context = ctypes.c_void_p(tf.TFE_NewContext(ctypes.c_void_p(tf.TFE_NewContextOptions()), status))
    if tf.TF_GetCode(status) == 0:
        listed = ctypes.c_void_p(tf.TFE_ContextListDevices(context, status))
    if tf.TF_GetCode(status) != 0:
        answer("c_api_absent", (tf.TF_Message(status) or b"").decode("utf-8", "replace"))
        return
    devices = []
    for i in range(tf.TF_DeviceListCount(listed)):
        kind = tf.TF_DeviceListType(listed, i, status).decode()
        devices.append({"name": tf.TF_DeviceListName(listed, i, status).decode(), "type": kind})
    answer("c_api_devices", devices)
