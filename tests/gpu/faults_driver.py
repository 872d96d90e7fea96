"""Faults of the driver's library and of the device nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.gpu.faults import Fault, Route, Subject
from tests.gpu.scene import NOBODY, Machine, Scene

LIBCUDA = "libcuda.so.1"


def faults(machine: Machine) -> Iterator[Fault]:
    yield from _toolkits(machine)
    yield from _answers()
    yield from _damaged(machine)
    yield from _gone(machine)
    yield from _nodes(machine)


def _fault(name: str, route: Route, make: Callable[[Scene], None], *causes: str, **more: object) -> Fault:
    return Fault(name, route, "libcuda", make, causes, library="libcuda", **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------- of a toolkit


def stub_of(machine: Machine) -> str | None:
    """A stub of a CUDA toolkit that lies on this machine."""
    stubs = [f["path"] for f in machine.files if f["name"].startswith("libcuda.so") and "/stubs/" in f["path"]]
    return stubs[0] if stubs else None


def compat_of(machine: Machine) -> str | None:
    """A directory compat with a libcuda of an older release than the driver's."""
    kernel = machine.facts["driver"]["kernel_version"]
    for file in machine.copies(LIBCUDA):
        directory = os.path.dirname(file["path"])
        release = file["real"].partition(".so.")[2]
        if os.path.basename(directory) == "compat" and _numbers(release) < _numbers(kernel):
            return str(directory)
    return None


def _numbers(release: str) -> list[int]:
    return [int(n) for n in release.split(".") if n.isdecimal()]


def _toolkits(machine: Machine) -> Iterator[Fault]:
    if (stub := stub_of(machine)) is not None:

        def real_stub(scene: Scene) -> None:
            os.symlink(stub, scene.new("lib64", "stubs") / LIBCUDA)
            scene.put_first("LD_LIBRARY_PATH", scene.place / "lib64/stubs")

        def stub_over_it(scene: Scene) -> None:
            scene.replace(machine.libcuda, Path(os.path.realpath(stub)))

        yield _fault("the toolkit's stub first", "other toolkit", real_stub, "libcuda-stub-loaded")
        yield _fault(
            "the toolkit's stub over the driver's file",
            "mount namespace",
            stub_over_it,
            "libcuda-stub-loaded",
            cured=False,
        )
    if (compat := compat_of(machine)) is not None:

        def older(scene: Scene) -> None:
            scene.put_first("LD_LIBRARY_PATH", compat)

        def elsewhere(scene: Scene) -> None:
            scene.first.append(["bind", compat, str(scene.new("compat"))])
            scene.put_first("LD_LIBRARY_PATH", scene.place / "compat")

        def preloaded(scene: Scene) -> None:
            scene.put_first("LD_PRELOAD", f"{compat}/{LIBCUDA}")

        yield _fault("compat first", "other toolkit", older, "cuda-compat-unsupported")
        yield _fault("compat moved, first", "moved", elsewhere, "cuda-compat-unsupported")
        yield _fault("compat preloaded", "preloaded", preloaded, "cuda-compat-unsupported")


# ------------------------------------------------------------------------------- what it answers


def _answering(code: str, directory: str = "driver") -> Callable[[Scene], None]:
    return lambda scene: scene.put_first("LD_LIBRARY_PATH", scene.libcuda(code, directory))


def _preloading(code: str, directory: str) -> Callable[[Scene], None]:
    return lambda scene: scene.put_first("LD_PRELOAD", scene.libcuda(code, directory) / LIBCUDA)


def _answers() -> Iterator[Fault]:
    for code, directory, cause in (
        ("34", "lib64/stubs", "libcuda-stub-loaded"),
        ("34", "lib", "libcuda-stub-loaded"),
        ("-1", "stubs", "libcuda-stub-loaded"),
        ("802", "driver", "fabric-manager-not-running"),
        ("803", "driver", "driver-library-mismatch"),
        ("803", "compat", "cuda-compat-unsupported"),
        ("804", "driver", "cuda-compat-unsupported"),
        ("804", "compat", "cuda-compat-unsupported"),
    ):
        name = f"libcuda in {directory} answers {code}"
        yield _fault(name, "fake library", _answering(code, directory), cause)
    for code, directory, cause in (
        ("34", "lib64/stubs", "libcuda-stub-loaded"),
        ("802", "driver", "fabric-manager-not-running"),
        ("803", "driver", "driver-library-mismatch"),
        ("804", "compat", "cuda-compat-unsupported"),
    ):
        name = f"libcuda of {directory} preloaded, answers {code}"
        yield _fault(name, "preloaded", _preloading(code, directory), cause)
    for code, symptom in (("3", "cuinit-fails"), ("100", "cuinit-no-device"), ("999", "cuinit-fails")):
        make = _answering(code)
        yield _fault(f"libcuda answers {code}, for no reason to be seen", "fake library", make, symptom=symptom)
    for code in ("hang", "crash"):
        more = ("--timeout", "5") if code == "hang" else ()
        yield _fault(f"cuInit: {code}", "fake library", _answering(code), symptom="cuinit-no-answer", more=more)


# ------------------------------------------------------------------------------- damaged


def _damaged(machine: Machine) -> Iterator[Fault]:
    """Something else in the place of the driver's file, or before it."""
    with open(machine.libcuda, "rb") as f:
        beginning = f.read(9000)
    contents: tuple[tuple[str, Route, bytes], ...] = (
        ("is empty", "truncated", b""),
        ("cut after 30 bytes", "truncated", beginning[:30]),
        ("cut after 9000 bytes", "truncated", beginning),
        ("is a web page", "wrong kind", b"<html><body>404 Not Found</body></html>\n" * 200),
    )
    for how, route, content in contents:

        def in_place(scene: Scene, content: bytes = content) -> None:
            scene.replace(machine.libcuda, scene.write("bad-libcuda", content))

        def first(scene: Scene, content: bytes = content) -> None:
            scene.put_first("LD_LIBRARY_PATH", scene.write(f"first-libcuda/{LIBCUDA}", content).parent)

        # NVML loads libcuda, too, and one whose header promises more than there is ends its process
        ends_nvml = content is beginning
        yield _fault(f"libcuda {how}", route, in_place, "driver-library-damaged", hides_nvml=ends_nvml)
        name = f"a libcuda first on the path {how}"
        yield _fault(name, "variable", first, "driver-library-damaged", hides_nvml=ends_nvml)


# ------------------------------------------------------------------------------- gone


def _gone(machine: Machine) -> Iterator[Fault]:
    if machine.container is not None:

        def no_compute(scene: Scene) -> None:
            scene.without(LIBCUDA)
            scene.env["NVIDIA_DRIVER_CAPABILITIES"] = "utility"

        # the capabilities are what an engine was asked for; whoever takes the library away without them has no such cause
        yield _fault("no libcuda, utility alone", "hidden", no_compute, "container-capabilities-without-compute")

    def off_the_path(scene: Scene) -> None:
        """The driver's file lies in /usr/local/lib, which is not in the loader's cache."""
        kept = scene.new("kept") / LIBCUDA
        kept.touch()
        scene.first.append(["bind", os.path.realpath(machine.libcuda), str(kept)])
        for file in machine.copies(LIBCUDA):
            if "/compat/" not in file["path"] and "/stubs/" not in file["path"]:
                scene.take(file)
        scene.add(f"{PLACE_OFF_THE_PATH}/{LIBCUDA}", kept)
        if _knows(machine, PLACE_OFF_THE_PATH):
            raise AssertionError(f"{PLACE_OFF_THE_PATH} is on the loader's path")

    if not _knows(machine, PLACE_OFF_THE_PATH) and os.path.isdir(PLACE_OFF_THE_PATH):
        yield _fault("libcuda moved off the path", "moved", off_the_path, "driver-libcuda-not-on-path")


PLACE_OFF_THE_PATH = "/usr/lib64"


def _knows(machine: Machine, directory: str) -> bool:
    """Whether the loader looks there without being told: it does in /usr/lib64 of most builds of glibc, not of Debian's."""
    return not os.path.exists("/etc/debian_version") or directory in machine.env.get("LD_LIBRARY_PATH", "")


# ------------------------------------------------------------------------------- nodes


def _node(name: str, route: Route, make: Callable[[Scene], None], *causes: str, hides_nvml: bool = False) -> Fault:
    subject: Subject = "nodes"
    return Fault(name, route, subject, make, causes, library="/dev", hides_nvml=hides_nvml)


def _hide(*nodes: str, **variables: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.nodes["hide"].update(dict.fromkeys(nodes, True))
        scene.env.update(variables)

    return make


def _refuse(mode: int, group: int, *nodes: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.user = NOBODY
        scene.env["HOME"] = str(scene.place)
        scene.place.chmod(0o777)
        scene.nodes["modes"].update({node: [mode, 0, group] for node in nodes})

    return make


def _renumber(node: str, major: int, minor: int) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.nodes["numbers"][node] = [major, minor]

    return make


def _nodes(machine: Machine) -> Iterator[Fault]:
    there = machine.nodes()
    gpus = [n for n in there if n.removeprefix("nvidia").isdecimal()]
    if "nvidia-uvm" not in there or "nvidiactl" not in there or not gpus:
        return
    yield _node("no nvidia-uvm", "hidden", _hide("nvidia-uvm"), "cuinit-uvm-device-missing")
    for name, number in (("no driver", (511, 0)), ("the GPUs", (195, 254)), ("/dev/null", (1, 3))):
        make = _renumber("nvidia-uvm", *number)
        yield _node(f"nvidia-uvm with the major of {name}", "wrong major", make, "uvm-node-stale-major")
    inside = machine.container is not None
    without = "container-no-gpus-flag" if inside else "device-nodes-missing"
    yield _node("no nvidiactl", "hidden", _hide("nvidiactl"), without, hides_nvml=True)
    yield _node("no nodes", "hidden", _hide(*there), without, hides_nvml=True)
    yield _node("no nvidiactl, no nvidia-uvm", "hidden", _hide("nvidiactl", "nvidia-uvm"), without, hides_nvml=True)
    if inside:
        for value in ("void", "none", ""):
            make = _hide(*there, NVIDIA_VISIBLE_DEVICES=value)
            yield _node(
                f"no nodes, NVIDIA_VISIBLE_DEVICES={value!r}",
                "hidden", make, "container-visible-devices-wrong", hides_nvml=True,
            )  # fmt: skip
            make = _hide(*gpus, NVIDIA_VISIBLE_DEVICES=value)
            yield _node(
                f"no nodes of GPUs, NVIDIA_VISIBLE_DEVICES={value!r}",
                "hidden", make, "container-visible-devices-wrong", hides_nvml=True,
            )  # fmt: skip
    else:
        yield _node("no nodes of GPUs", "hidden", _hide(*gpus), without, hides_nvml=True)
    if not can_be(machine, NOBODY):
        return
    for mode, group, how in ((0o600, 0, "root's alone"), (0o000, 0, "of mode 000"), (0o660, 44, "of a group")):
        for nodes, which in (
            (there, "all nodes"),
            (["nvidia-uvm"], "nvidia-uvm"),
            (["nvidiactl"], "nvidiactl"),
            (gpus, "GPUs"),
        ):
            yield _node(
                f"{which} {how}", "file", _refuse(mode, group, *nodes), "device-node-permission",
                hides_nvml=which != "nvidia-uvm",
            )  # fmt: skip


def can_be(machine: Machine, user: int) -> bool:
    """Whether another user can run the tool here at all."""
    scene = machine.scene()
    scene.user = user
    import sys

    return scene.run(sys.executable, "-c", "import gpudoctor, typer").returncode == 0
