"""What runs inside the examined interpreter: one file, standard library only, Python 3.6 and newer.

The tool sends this text through the standard input of the patient's own Python, followed by one call
of `serve`. Nothing is installed, nothing is written. Every answer is one line on the standard output
that the process was started with: a mark, the name of the answer and its JSON. Whatever else the
process prints (a sitecustomize, TensorFlow, a C library) goes to standard error and is kept as log.

It reads and reports; it never judges.
"""

import sys

# `python -` puts the working directory first on the path. Keep a stray json.py there from breaking the
# imports below, and put it back afterwards: the user's own program would see it.
_PATH_AS_STARTED = list(sys.path)
sys.path = [p for p in sys.path if p not in ("", ".")]

import ast  # noqa: E402
import ctypes  # noqa: E402
import errno  # noqa: E402
import functools  # noqa: E402
import glob  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import struct  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from typing import Any, Callable, Dict, List, Optional, Tuple  # noqa: E402

sys.path = _PATH_AS_STARTED
try:
    os.getcwd()
except OSError:  # it was removed: then "" leads nowhere, and resolving it raises
    sys.path = [p for p in sys.path if p]

_out = -1
_mark = ""

# ----------------------------------------------------------------------------- talking


def answer(name: str, value: Any) -> None:
    """Send one answer: a mark, a name, a JSON value, one line."""
    line = "%s %s %s\n" % (_mark, name, json.dumps(value, ensure_ascii=False))
    data = line.encode("utf-8", "surrogateescape")  # bytes that are no text are read as such on the other side
    while data:
        data = data[os.write(_out, data) :]


def serve(request: Dict[str, Any]) -> None:
    """Do the tasks of `request`, a dict with `mark` (reversed) and `tasks` [[name, arguments], …]."""
    global _out, _mark
    _mark = request["mark"][::-1]  # so that a program that only echoes its input sends no answer
    _out = os.dup(1)
    os.dup2(2, 1)
    _die_with_parent()
    for name, arguments in request["tasks"]:
        try:
            TASKS[name](**arguments)
        except BaseException:
            answer("error", {"task": name, "text": traceback.format_exc()})
    answer("end", None)
    sys.stdout.flush()
    os._exit(0)  # a vendor library's exit handler must not change the outcome


def _die_with_parent() -> None:
    """Linux: do not outlive the process that started this one. Forked children must ask for it again."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except Exception:
        pass


def _read(path: str, limit: int = 1 << 20) -> Dict[str, Any]:
    """A text file: {"text": …}, or {"errno": n} where it can't be read."""
    try:
        with open(path, "rb") as f:
            return {"text": f.read(limit).decode("utf-8", "replace")}
    except OSError as e:
        return {"errno": e.errno}


def _listed(path: str) -> Any:
    """The sorted names in a directory, or the errno."""
    try:
        return sorted(os.listdir(path))
    except OSError as e:
        return e.errno


# ----------------------------------------------------------------------------- the environment


def environment(names: List[str], prefixes: List[str]) -> None:
    """The variables that matter, by name, as this process was started with them."""
    found = {}
    for key, value in os.environ.items():
        if key in names or key.startswith(tuple(prefixes)):
            found[key] = value
    answer("environment", found)


# ----------------------------------------------------------------------------- the machine


def system() -> None:
    """Kernel, architecture, what kind of machine or container this is."""
    marks = [p for p in ("/.dockerenv", "/run/.containerenv", "/dev/dxg", "/etc/nv_tegra_release") if os.path.exists(p)]
    answer(
        "system",
        {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "uid": os.getuid() if hasattr(os, "getuid") else None,
            "marks": marks,
            "cgroup": _read("/proc/1/cgroup"),
            "init_environ_container": _container_variable(),
            "device_tree": _read("/proc/device-tree/model"),
            "kubernetes": "KUBERNETES_SERVICE_HOST" in os.environ,
            "os_release": _read("/etc/os-release"),
        },
    )


def _container_variable() -> Optional[str]:
    try:
        with open("/proc/1/environ", "rb") as f:
            for item in f.read(1 << 20).split(b"\0"):
                if item.startswith(b"container="):
                    return item[10:].decode("utf-8", "replace")
    except OSError:
        pass
    return None


def pci() -> None:
    """Every device on the PCI bus: address, vendor, device, class, bound driver."""
    root = "/sys/bus/pci/devices"
    names = _listed(root)
    if isinstance(names, int):
        answer("pci", {"errno": names})
        return
    devices = []
    for name in names:
        base = os.path.join(root, name)
        device = {"address": name}
        for key in ("vendor", "device", "class"):
            device[key] = _read(os.path.join(base, key)).get("text", "").strip() or None
        link = os.path.join(base, "driver")
        device["driver"] = os.path.basename(os.path.realpath(link)) if os.path.islink(link) else None
        devices.append(device)
    answer("pci", {"devices": devices})


def driver_files() -> None:
    """What the kernel says of the NVIDIA driver."""
    answer(
        "driver_files",
        {
            "proc": _listed("/proc"),
            "version": _read("/proc/driver/nvidia/version"),
            "gpus": _listed("/proc/driver/nvidia/gpus"),
            "modules": _read("/proc/modules"),
            "devices": _read("/proc/devices"),
            "processes": _processes(("nv-fabricmanage", "nvidia-fabricma", "nvidia-persiste")),
        },
    )


def _processes(names: Tuple[str, ...]) -> Any:
    """Which of `names` (comm, 15 characters) run here; an errno where /proc can't be listed."""
    listed = _listed("/proc")
    if isinstance(listed, int):
        return listed
    pids = [p for p in listed if p.isdigit()]
    if not pids:
        return errno.ENOENT
    running = set()
    for pid in pids:
        comm = _read("/proc/%s/comm" % pid, 64).get("text", "").strip()
        if comm in names:
            running.add(comm)
    return {"running": sorted(running)}


def nodes() -> None:
    """NVIDIA's device nodes, and what open() says to this user. One answer a node: an open can hang."""
    listed = _listed("/dev")
    if isinstance(listed, int):
        answer("nodes", {"errno": listed})
        return
    wanted = ["nvidiactl", "nvidia-uvm"]
    wanted += [n for n in listed if re.match(r"nvidia\d+$", n)]
    answer("nodes", {"names": wanted})
    for name in wanted:
        path = "/dev/" + name
        node = {"path": path, "errno": None, "major": None, "minor": None, "mode": None}  # type: Dict[str, Any]
        try:
            status = os.stat(path)
            node["major"], node["minor"] = os.major(status.st_rdev), os.minor(status.st_rdev)
            node["mode"] = status.st_mode
        except OSError as e:
            node["errno"], node["missing"] = e.errno, e.errno == errno.ENOENT
            answer("node", node)
            continue
        answer("node_opening", path)
        try:
            os.close(os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0)))
        except OSError as e:
            node["errno"] = e.errno
        answer("node", node)


# ----------------------------------------------------------------------------- this interpreter

_DISTRIBUTION = re.compile(r"^(?P<name>.+?)-(?P<version>\d[^-]*)(-py\d.*)?\.(dist-info|egg-info)$")


def python(wanted: str) -> None:
    """This interpreter, and the installed distributions whose normalised name matches `wanted`."""
    pattern = re.compile(wanted)
    distributions, seen = [], set()
    for entry in sys.path:
        names = _listed(entry or ".")
        if isinstance(names, int):
            continue
        for name in names:
            m = _DISTRIBUTION.match(name)
            if not m:
                continue
            normal = re.sub(r"[-_.]+", "-", m.group("name")).lower()
            if not pattern.match(normal):
                continue
            info = os.path.join(entry, name)
            distributions.append(
                {
                    "name": normal,
                    "version": m.group("version"),
                    "location": os.path.abspath(entry or "."),
                    "shadowed": normal in seen,
                    "files": _so_files(info, entry) if normal.startswith("nvidia-") else [],
                }
            )
            seen.add(normal)
    answer(
        "python",
        {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "prefix": sys.prefix,
            "base_prefix": getattr(sys, "base_prefix", sys.prefix),
            "conda": os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
            "bits": struct.calcsize("P") * 8,
            "machine": platform.machine(),
            "libc": " ".join(platform.libc_ver()).strip() or None,
            "path": [os.path.abspath(p or ".") for p in sys.path],
            "distributions": distributions,
        },
    )


def _so_files(info: str, entry: str) -> List[str]:
    """The shared libraries that a wheel's RECORD lists, as absolute paths."""
    text = _read(os.path.join(info, "RECORD"), 4 << 20).get("text", "")
    paths = (line.split(",", 1)[0] for line in text.splitlines())
    return [os.path.normpath(os.path.join(entry, p)) for p in paths if ".so" in os.path.basename(p)]


def libraries(stems: List[str], directories: List[str]) -> None:
    """Files of the CUDA family: in wheels, toolkits, system directories, conda and LD_LIBRARY_PATH."""
    pattern = re.compile(r"^(%s)\.so(\.[\d.]+)?$" % "|".join(re.escape(s) for s in stems))
    where = []
    for entry in sys.path:
        where += [
            (d, "wheel") for d in sorted(glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", "*", "lib")))
        ]
    where += [(d, "variable") for d in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if d]
    for directory in directories:
        where += [(d, "system") for d in sorted(glob.glob(directory))]
    for prefix in (sys.prefix, os.environ.get("CONDA_PREFIX", "")):
        if prefix:
            where.append((os.path.join(prefix, "lib"), "environment"))
    files, seen = [], set()
    for directory, kind in where:
        directory = os.path.abspath(directory)
        names = _listed(directory)
        if directory in seen or isinstance(names, int):
            continue
        seen.add(directory)
        for name in names:
            path = os.path.join(directory, name)
            if pattern.match(name) and os.path.isfile(path):  # a link that leads nowhere is no library
                files.append({"name": name, "path": path, "real": os.path.realpath(path), "kind": kind})
    answer("libraries", {"files": files})


# ----------------------------------------------------------------------------- TensorFlow's files


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
        names = _listed(directory)
        found["objects"] = [
            os.path.join(directory, n)
            for n in (names if isinstance(names, list) else [])
            if re.match(r"libtensorflow_(framework|cc)\.so", n)
        ]
    answer("tensorflow_files", found)


def _build_info(path: str) -> Dict[str, Any]:
    """build_info.py read as text: {key: value}, or {"errno": n}, or {} where it is of another form."""
    got = _read(path)
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


# ----------------------------------------------------------------------------- the driver's own answers


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _file_of(function: Any) -> Optional[str]:
    """The file that a C function was loaded from, as the loader named it (dladdr: needs no /proc)."""
    info = _DlInfo()
    try:
        if ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info)) and info.file:
            return os.path.abspath(os.fsdecode(info.file))
    except (AttributeError, OSError):
        pass
    return None


def _mapped(name: str) -> Optional[str]:
    """The file from which a library whose name begins with `name` is mapped into this process."""
    try:
        with open("/proc/self/maps") as f:
            for line in f:
                fields = line.split(None, 5)
                path = fields[5].strip() if len(fields) > 5 else ""
                if os.path.basename(path).startswith(name):
                    return path
    except OSError:
        pass
    return None


def cuda() -> None:
    """What libcuda answers: cuInit, version, devices. Answered step by step: any of them can hang."""
    answer("cuda_loading", None)
    try:
        lib = ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        answer("cuda_load", {"path": None, "error": str(e)})
        return
    try:
        path = _file_of(lib.cuInit) or _mapped("libcuda.so")
    except AttributeError as e:
        path = _mapped("libcuda.so")
        answer("cuda_load", {"path": path, "real": os.path.realpath(path) if path else None, "error": str(e)})
        return
    answer("cuda_load", {"path": path, "real": os.path.realpath(path) if path else None, "error": None})
    started = time.time()
    result = lib.cuInit(0)
    answer(
        "cuda_init",
        {"result": result, "seconds": time.time() - started, "name": _cuda_text(lib, "cuGetErrorName", result)},
    )
    version = ctypes.c_int(-1)
    try:
        if lib.cuDriverGetVersion(ctypes.byref(version)) == 0:
            answer("cuda_version", version.value)
    except AttributeError:
        pass
    if result:
        return
    count = ctypes.c_int(-1)
    result = lib.cuDeviceGetCount(ctypes.byref(count))
    if result:
        answer("cuda_devices", {"result": result})
        return
    devices = []
    for index in range(count.value):
        handle, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        lib.cuDeviceGet(ctypes.byref(handle), index)
        lib.cuDeviceGetName(name, 256, handle)
        uuid = (ctypes.c_ubyte * 16)()
        try:
            lib.cuDeviceGetUuid(uuid, handle)
        except AttributeError:
            pass
        bus = ctypes.create_string_buffer(32)
        try:
            lib.cuDeviceGetPCIBusId(bus, 32, handle)
        except AttributeError:
            pass
        attributes = {}
        for key, number in (("major", 75), ("minor", 76), ("multiprocessors", 16)):
            value = ctypes.c_int(-1)
            if lib.cuDeviceGetAttribute(ctypes.byref(value), number, handle) == 0:
                attributes[key] = value.value
        hexed = bytes(bytearray(uuid)).hex()
        devices.append(
            {
                "index": index,
                "name": name.value.decode("utf-8", "replace"),
                "uuid": "GPU-%s-%s-%s-%s-%s" % (hexed[:8], hexed[8:12], hexed[12:16], hexed[16:20], hexed[20:]),
                "bus": bus.value.decode("ascii", "replace").lower(),
                "attributes": attributes,
            }
        )
    answer("cuda_devices", {"result": 0, "devices": devices})


def _cuda_text(lib: Any, function: str, result: int) -> Optional[str]:
    text = ctypes.c_char_p()
    try:
        if getattr(lib, function)(result, ctypes.byref(text)) == 0 and text.value:
            return text.value.decode("utf-8", "replace")
    except AttributeError:
        pass
    return None


# ----------------------------------------------------------------------------- TensorFlow's own loader

_LOADER = "_ZN3tsl8internal9DsoLoader%d%sEv"
# The libraries of MaybeTryDlopenGPULibraries, in its order, then those that are asked for later.
_REQUIRED = ("CudaRuntime", "Cublas", "CublasLt", "Cufft", "Cusolver", "Cusparse", "Cudnn")
_LATER = ("Cupti", "Nccl")


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
        ok = _status_ok(function)
        _trace_mark("done " + name)
        answer("loader_handle", {"name": name, "ok": ok, "required": name in _REQUIRED})
    _trace_mark("call all")
    ok = _status_ok(whole)
    _trace_mark("done all")
    answer("loader_all", ok)
    answer("loader_maps", _shared_objects())


def _symbol(lib: Any, name: str) -> Any:
    try:
        return getattr(lib, _LOADER % (len(name), name))
    except AttributeError:
        return None


def _status_ok(function: Any) -> bool:
    """Call a function that returns absl::Status or StatusOr<void*> in memory; first word 1 is OK."""
    status = (ctypes.c_uint64 * 4)()
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p]
    function(ctypes.addressof(status))
    return status[0] == 1


def _trace_mark(text: str) -> None:
    os.write(2, ("@gpudoctor " + text + "\n").encode())


def _shared_objects() -> List[str]:
    found = []
    try:
        with open("/proc/self/maps") as f:
            for line in f:
                fields = line.split(None, 5)
                path = fields[5].strip() if len(fields) > 5 else ""
                if ".so" in os.path.basename(path) and path not in found:
                    found.append(path)
    except OSError:
        pass
    return found


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


# ----------------------------------------------------------------------------- TensorFlow, imported


def tensorflow(kernels: List[str], list_limit_s: float, kernel_limit_s: float) -> None:
    """Import TensorFlow once; list its devices and run `kernels` in forked children, a child a device.

    Forking before any device is touched keeps a wedged or crashing GPU out of the other children.
    """
    started = time.time()
    answer("import_started", None)
    try:
        import tensorflow as tf
    except BaseException as e:
        answer(
            "import_failed",
            {"type": type(e).__name__, "text": traceback.format_exc(), "seconds": time.time() - started},
        )
        return
    answer(
        "imported",
        {
            "version": getattr(tf, "__version__", None),
            "file": getattr(tf, "__file__", None),
            "seconds": time.time() - started,
        },
    )
    if not hasattr(tf, "config"):
        answer(
            "import_failed",
            {"type": "AttributeError", "text": "the module tensorflow has no attribute 'config'", "seconds": 0},
        )
        return
    listed = _forked("listing the devices", list_limit_s, lambda: _list_devices(tf))
    answer("devices", listed)
    if not kernels or "value" not in listed:
        return
    gpus = [d for d in listed["value"] if d["type"] == "GPU"]
    targets = [("GPU", i) for i in range(len(gpus))] or [("CPU", 0)]
    for name in kernels:
        children = []
        for kind, index in targets:
            work = functools.partial(KERNELS[name], tf, kind, index)
            children.append((kind, index, time.time(), _fork(work)))
        for kind, index, started, child in children:
            got = _join(child, name, started + kernel_limit_s)
            got.update({"kernel": name, "device": "%s:%d" % (kind, index), "total_seconds": time.time() - started})
            answer("kernel", got)


def _list_devices(tf: Any) -> List[Dict[str, Any]]:
    devices = []
    list_physical = getattr(tf.config, "list_physical_devices", None) or tf.config.experimental.list_physical_devices
    for device in list_physical():
        details = {}
        try:
            details = dict(tf.config.experimental.get_device_details(device))
        except Exception:
            pass
        devices.append(
            {
                "name": device.name,
                "type": device.device_type,
                "model": details.get("device_name"),
                "capability": list(details.get("compute_capability") or ()),
            }
        )
    return devices


KERNELS = {}  # type: Dict[str, Callable[[Any, str, int], Dict[str, Any]]]


def _forked(what: str, limit_s: float, work: Callable[[], Any]) -> Dict[str, Any]:
    """Run `work` in a forked child: {"value": …} or {"failed": …, "signal": n, "timed_out": bool}."""
    return _join(_fork(work), what, time.time() + limit_s)


def _fork(work: Callable[[], Any]) -> Tuple[int, int]:
    """Start `work` in a forked child; its pid and the pipe that its answer comes through."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _die_with_parent()
        try:
            try:
                payload = {"value": work()}
            except BaseException as e:
                payload = {"failed": "%s: %s" % (type(e).__name__, e), "text": traceback.format_exc()}
            data = json.dumps(payload).encode()
            while data:
                data = data[os.write(write_end, data) :]
        finally:
            os._exit(0)
    os.close(write_end)
    return pid, read_end


def _join(child: Tuple[int, int], what: str, deadline: float) -> Dict[str, Any]:
    """The answer of a forked child, or how it ended."""
    pid, read_end = child
    started, data, timed_out = time.time(), b"", False
    while True:
        ready = select.select([read_end], [], [], max(0.0, deadline - time.time()))[0]
        if not ready:
            timed_out = True
            os.kill(pid, signal.SIGKILL)
            break
        block = os.read(read_end, 1 << 16)
        if not block:
            break
        data += block
    os.close(read_end)
    status = _reap(pid, 2.0)
    if timed_out:
        return {"failed": "%s did not end within %.3g s" % (what, time.time() - started), "timed_out": True}
    if status is not None and os.WIFSIGNALED(status):
        return {"failed": "%s was ended by signal %d" % (what, os.WTERMSIG(status)), "signal": os.WTERMSIG(status)}
    try:
        return dict(json.loads(data.decode()))
    except ValueError:
        return {"failed": "%s ended without an answer" % what}


def _reap(pid: int, patience_s: float) -> Optional[int]:
    """Wait for a child, but not for ever: a process in the kernel's hands can't be killed."""
    deadline = time.time() + patience_s
    while time.time() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    return None


TASKS = {  # type: Dict[str, Callable[..., None]]
    "environment": environment,
    "system": system,
    "pci": pci,
    "driver_files": driver_files,
    "nodes": nodes,
    "python": python,
    "libraries": libraries,
    "tensorflow_files": tensorflow_files,
    "cuda": cuda,
    "loader": loader,
    "c_api_devices": c_api_devices,
    "tensorflow": tensorflow,
}
