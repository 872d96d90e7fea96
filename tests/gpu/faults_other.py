"""Faults of packages, of NCCL's settings, limits, memory and work; and what only looks like one."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Callable, Iterator

from tests.gpu.faults import Fault, Route, Subject, variable
from tests.gpu.scene import Machine, Scene

GIB = 1 << 30


def faults(machine: Machine) -> Iterator[Fault]:
    yield from _packages(machine)
    yield from _imports(machine)
    if machine.gpus > 1:
        yield from _nccl()
        yield from _shared_memory()
    if not machine.always:  # a fake driver needs neither addresses nor a GPU's memory
        yield from _limits()
        yield from _memory()
    yield from _settings(machine)
    yield from _parts_of_cudnn(machine)
    yield from _nothing(machine)


def _fault(name: str, route: Route, subject: Subject, make: Callable[[Scene], None], *causes: str, library: str = "-", level: str = "quick", alone: bool = False, at_home: bool = False) -> Fault:  # fmt: skip
    return Fault(name, route, subject, make, causes, library=library, level=level, alone=alone, at_home=at_home)


# ------------------------------------------------------------------------------- packages


def _module(name: str, text: str = "") -> Callable[[Scene], None]:
    """A file of the user's that has the name of a package, in a directory of PYTHONPATH."""

    def make(scene: Scene) -> None:
        scene.write(f"mine/{name}", text.encode())
        scene.put_first("PYTHONPATH", scene.place / "mine")

    return make


def _packages(machine: Machine) -> Iterator[Fault]:
    for name in ("tensorflow.py", "keras.py", "numpy.py"):
        make = _module(name)
        yield _fault(f"a file {name} of the user's", "variable", "package", make, "tf-shadowed", library=name[:-3])
    package = _module("tensorflow/__init__.py", "raise ImportError('this is not the one')\n")
    yield _fault(
        "a directory tensorflow of the user's", "variable", "import", package, "tf-shadowed",
        library="tensorflow", level="standard",
    )  # fmt: skip

    def not_there(scene: Scene) -> None:
        scene.hide(os.path.join(machine.site, "tensorflow"))
        for name in os.listdir(machine.site):
            if name.startswith("tensorflow-") and name.endswith(".dist-info"):
                scene.hide(os.path.join(machine.site, name))

    elsewhere = [m for m in machine.facts["python"]["modules"] if m["name"] == "tensorflow"]
    if len(elsewhere) > 1:
        return
    yield _fault(
        "TensorFlow is not installed", "hidden", "package", not_there, "tf-not-installed", library="tensorflow"
    )

    def off_the_path(scene: Scene) -> None:
        entries = (scene.get("PYTHONPATH") or "").split(":")
        scene.env["PYTHONPATH"] = ":".join(e for e in entries if os.path.realpath(e) != os.path.realpath(machine.site))

    entries = {os.path.realpath(e) for e in machine.env.get("PYTHONPATH", "").split(":") if e}
    if os.path.realpath(machine.site) in entries:
        yield _fault(
            "PYTHONPATH without TensorFlow's directory", "variable", "package", off_the_path, "tf-not-installed",
            library="tensorflow",
        )  # fmt: skip


def _imports(machine: Machine) -> Iterator[Fault]:
    """What ends the import. Those that a package of the same name in front brings about are over at once."""
    for name in ("absl", "flatbuffers", "astunparse", "termcolor", "opt_einsum"):
        text = f"raise ImportError('{name} is broken')\n"
        yield _fault(
            f"a broken {name} first on the path", "variable", "import", _module(f"{name}/__init__.py", text),
            "tf-import-broken", library=name, level="standard",
        )  # fmt: skip
    core = os.path.join(machine.site, "tensorflow", "python", "_pywrap_tensorflow_internal.so")
    if os.path.exists(core):

        def cut(scene: Scene) -> None:
            scene.replace(core, scene.write("cut", b"\x7fELF" + bytes(26)))

        def gone(scene: Scene) -> None:
            scene.hide(core)

        yield _fault(
            "TensorFlow's own object cut", "truncated", "import", cut, "tf-import-broken", library="tensorflow",
            level="standard",
        )  # fmt: skip
        yield _fault(
            "TensorFlow's own object gone", "hidden", "import", gone, "tf-import-broken", library="tensorflow",
            level="standard",
        )  # fmt: skip


# ------------------------------------------------------------------------------- NCCL

P2P, SHM, CHANNELS = "nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env", "nccl-channels-limited"
INTERFACE = "nccl-wrong-interface"
SETTINGS: tuple[tuple[dict[str, str], tuple[str, ...]], ...] = (
    ({"NCCL_P2P_DISABLE": "1"}, (P2P,)),
    ({"NCCL_P2P_LEVEL": "LOC"}, (P2P,)),
    ({"NCCL_P2P_LEVEL": "0"}, (P2P,)),
    ({"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}, (P2P, SHM)),
    ({"NCCL_MAX_NCHANNELS": "1"}, (CHANNELS,)),
    ({"NCCL_MAX_CTAS": "1"}, (CHANNELS,)),
    ({"NCCL_MAX_NRINGS": "1"}, (CHANNELS,)),
    ({"NCCL_SOCKET_IFNAME": "eth9"}, (INTERFACE,)),
    ({"NCCL_SOCKET_IFNAME": "=et"}, (INTERFACE,)),
    ({"NCCL_SOCKET_IFNAME": "ib"}, (INTERFACE,)),
)


def _lines(settings: dict[str, str]) -> bytes:
    return "".join(f"{k}={v}\n" for k, v in settings.items()).encode()


def _nccl() -> Iterator[Fault]:
    for settings, causes in SETTINGS:
        said = " ".join(f"{k}={v}" for k, v in settings.items())
        library = "+".join(sorted({k.partition("_")[2].partition("_")[0] for k in settings}))

        def by_variable(scene: Scene, settings: dict[str, str] = settings) -> None:
            scene.env.update(settings)

        def by_home(scene: Scene, settings: dict[str, str] = settings) -> None:
            home = pwd.getpwuid(os.getuid()).pw_dir  # NCCL does not ask $HOME
            scene.add(os.path.join(home, ".nccl.conf"), scene.append("home.conf", _lines(settings)))

        def by_named(scene: Scene, settings: dict[str, str] = settings) -> None:
            scene.env["NCCL_CONF_FILE"] = str(scene.append("my.conf", _lines(settings)))

        def by_system(scene: Scene, settings: dict[str, str] = settings) -> None:
            scene.add("/etc/nccl.conf", scene.append("system.conf", _lines(settings)))

        routes: tuple[tuple[Route, str, Callable[[Scene], None]], ...] = (
            ("variable", "in the environment", by_variable),
            ("file", "in ~/.nccl.conf", by_home),
            ("file", "in the file of NCCL_CONF_FILE", by_named),
            ("mount namespace", "in /etc/nccl.conf", by_system),
        )
        for route, where, make in routes:
            name = f"{said} {where}"
            yield _fault(name, route, "nccl", make, *causes, library=library, at_home=make is by_home)


def _shared_memory() -> Iterator[Fault]:
    def small(scene: Scene) -> None:
        scene.last.append(["tmpfs", "/dev/shm", "size=1m"])
        scene.env["NCCL_P2P_DISABLE"] = "1"

    yield _fault(
        "/dev/shm of 1 MiB, NCCL_P2P_DISABLE=1", "mount namespace", "work", small, "nccl-shm-too-small", P2P,
        library="NCCL", level="standard",
    )  # fmt: skip


# ------------------------------------------------------------------------------- limits, memory, work


def _limits() -> Iterator[Fault]:
    for gib in (3, 4):

        def make(scene: Scene, gib: int = gib) -> None:
            scene.limits["RLIMIT_AS"] = gib * GIB

        yield _fault(f"ulimit -v of {gib} GiB", "limit", "limit", make, "address-space-limit")


HOLDER = """
import ctypes, sys
cuda = ctypes.CDLL('libcuda.so.1')
def call(name, *words):
    if (code := getattr(cuda, name)(*words)): sys.exit('%s: %d' % (name, code))
call('cuInit', 0)
count = ctypes.c_int(); call('cuDeviceGetCount', ctypes.byref(count))
for index in range(count.value):
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call('cuDeviceGet', ctypes.byref(device), index)
    call('cuCtxCreate_v2', ctypes.byref(context), 0, device)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call('cuMemGetInfo_v2', ctypes.byref(free), ctypes.byref(total))
    place, size = ctypes.c_uint64(), free.value - int(0.03 * total.value)
    call('cuMemAlloc_v2', ctypes.byref(place), ctypes.c_size_t(size))
print('ready', flush=True)
sys.stdin.read()
"""


def _memory() -> Iterator[Fault]:
    def held(scene: Scene) -> None:
        scene.beside.append([sys.executable, "-I", "-S", "-c", HOLDER])

    yield _fault(
        "97% of every GPU's memory held", "other process", "memory", held, "gpu-memory-held-by-other-process",
        library="-", alone=True,
    )  # fmt: skip


def _settings(machine: Machine) -> Iterator[Fault]:
    """What works, and not as most people want it."""
    name = "NVIDIA_TF32_OVERRIDE"
    yield _fault(f"{name}=0", "variable", "work", variable(name, "0"), "tf32-off")
    keras = [d for d in machine.facts["python"]["distributions"] if d["name"] == "keras"]
    if any(d["version"].split(".")[0] >= "3" for d in keras):
        name = "KERAS_BACKEND"
        for backend in ("jax", "torch"):
            make = variable(name, backend)
            yield _fault(f"{name}={backend}", "variable", "work", make, "keras-backend-not-tensorflow", library="keras")

    def closed_home(scene: Scene) -> None:
        scene.last.append(["read-only", str(scene.new("home"))])
        scene.env["HOME"] = str(scene.place / "home")

    def closed_cache(scene: Scene) -> None:
        scene.last.append(["read-only", str(scene.new("cache"))])
        scene.env["CUDA_CACHE_PATH"] = str(scene.place / "cache")

    cause = "jit-cache-unwritable"
    yield _fault("HOME that can't be written", "mount namespace", "work", closed_home, cause)
    yield _fault("CUDA_CACHE_PATH that can't be written", "mount namespace", "work", closed_cache, cause)
    if machine.container is not None and "nvidiactl" in machine.nodes():

        def job(scene: Scene) -> None:
            scene.nodes["hide"].update(dict.fromkeys(machine.nodes(), True))
            scene.env["SLURM_JOB_ID"] = "4711"

        yield _fault("no nodes, in a Slurm job", "hidden", "work", job, "slurm-no-gpu-allocated", library="/dev")


def _parts_of_cudnn(machine: Machine) -> Iterator[Fault]:
    """What libcudnn.so.9 opens when it is first used."""
    if machine.always:  # a fake driver runs no convolution
        return
    for soname in ("libcudnn_graph.so.9", "libcudnn_ops.so.9"):
        copies = machine.copies(soname)  # another one would be taken, and does the work
        if len(copies) != 1 or not copies[0]["path"].startswith(machine.site + "/"):
            continue

        def gone(scene: Scene, soname: str = soname) -> None:
            scene.without(soname, installed=True)

        yield _fault(
            f"{soname} gone from its wheel", "hidden", "work", gone, "cudnn-incomplete-install", library=soname,
            level="standard",
        )  # fmt: skip


# ------------------------------------------------------------------------------- nothing is wrong


def _nothing(machine: Machine) -> Iterator[Fault]:
    """What only looks like a fault: no cause may be named."""

    def elsewhere(scene: Scene) -> None:
        scene.put_first("LD_LIBRARY_PATH", "/nowhere/lib64:/usr/local/cuda-10.1/lib64")

    yield _fault("LD_LIBRARY_PATH of directories that are not there", "variable", "nothing", elsewhere)
    soname = next(iter(sorted(machine.required)), None)
    if soname is not None:

        def passed_over(scene: Scene) -> None:
            from tests.gpu.scene import other_processor

            scene.new("other")
            os.symlink(other_processor(machine.place), scene.place / "other" / soname)
            scene.put_first("LD_LIBRARY_PATH", scene.place / "other")

        yield _fault(
            f"{soname} of another processor first on the path", "variable", "nothing", passed_over, library=soname
        )
    for name, value in (
        ("CUDA_VISIBLE_DEVICES", ",".join(str(i) for i in range(machine.gpus))),
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
        ("TF_CPP_MIN_LOG_LEVEL", "3"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ("CUDA_MPS_PIPE_DIRECTORY", "/nowhere/nvidia-mps"),
        ("APPTAINER_NAME", "image.sif"),
        ("SLURM_JOB_ID", "4711"),
        ("PATH", "/nowhere"),
        ("NVIDIA_VISIBLE_DEVICES", "void"),
        ("NCCL_NVLS_ENABLE", "0"),
        ("NCCL_SHM_DISABLE", "1"),
        ("NCCL_SOCKET_IFNAME", "lo"),
    ):
        yield _fault(f"{name}={value}", "variable", "nothing", variable(name, value))

    def no_proc(scene: Scene) -> None:
        scene.last.append(["empty", "/proc/driver/nvidia"])

    def no_sys(scene: Scene) -> None:
        scene.last.append(["empty", "/sys/bus/pci"])

    if not machine.always:
        yield _fault("/sys/bus/pci is empty", "mount namespace", "nothing", no_sys)
        if os.path.isdir("/proc/driver/nvidia"):
            yield _fault("/proc/driver/nvidia is empty", "mount namespace", "nothing", no_proc)
