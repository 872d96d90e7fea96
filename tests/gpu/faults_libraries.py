"""Faults of the CUDA libraries that TensorFlow's loader opens."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.gpu.faults import Fault, Route, Subject
from tests.gpu.scene import GAP, NOBODY, Machine, Scene

TEXT = b"<html><body>404 Not Found</body></html>\n" * 200
CUDNN = "libcudnn.so.9"


def faults(machine: Machine) -> Iterator[Fault]:
    yield from _paths(machine)
    for soname in sorted(machine.required):
        yield from _of_one(machine, soname)
    yield from _needed(machine)
    yield from _majors(machine)


def _fault(name: str, route: Route, make: Callable[[Scene], None], *causes: str, library: str = "all") -> Fault:
    subject: Subject = "libraries"
    return Fault(name, route, subject, make, causes, library=library)


# ------------------------------------------------------------------------------- search paths


def _paths(machine: Machine) -> Iterator[Fault]:
    if machine.without_wheels is not None:

        def gap(scene: Scene) -> None:
            scene.env["LD_LIBRARY_PATH"] = machine.without_wheels or None

        def other_directories(scene: Scene) -> None:
            scene.env["LD_LIBRARY_PATH"] = ":".join([str(scene.new("cuda", "lib64")), machine.without_wheels or ""])

        def one_lost(scene: Scene) -> None:
            entries = (scene.get("LD_LIBRARY_PATH") or "").split(":")
            scene.env["LD_LIBRARY_PATH"] = ":".join(e for e in entries if "/nvidia/cusolver/" not in e)

        yield _fault("LD_LIBRARY_PATH without the wheels", "variable", gap, GAP)
        yield _fault("LD_LIBRARY_PATH of an empty directory", "variable", other_directories, GAP)
        yield _fault("LD_LIBRARY_PATH without cusolver", "variable", one_lost, GAP, library="libcusolver.so.11")

    def all_moved(scene: Scene) -> None:
        for soname, path in {**machine.required, **needed(machine)}.items():
            _move_wheel(scene, soname, path)
        scene.env["LD_LIBRARY_PATH"] = machine.without_wheels or machine.env.get("LD_LIBRARY_PATH")

    if _can_move(machine):
        name = "every wheel in another site-packages"
        yield _fault(name, "moved", all_moved, "pip-nvidia-libs-not-found")


def _can_move(machine: Machine) -> bool:
    """Whether what a wheel needs of its neighbours is found without them: by LD_LIBRARY_PATH."""
    return machine.without_wheels is not None


# ------------------------------------------------------------------------------- of one library


def recorded(machine: Machine, soname: str, path: str) -> tuple[bool, bool]:
    """Whether the wheel's own list of files names this one, and whether it tells its size."""
    file = next(f for f in machine.copies(soname) if f["path"] == path)
    info = Scene.metadata(file["owner"], file["path"])
    record = Path(info or "", "RECORD")
    for line in record.read_text().splitlines() if info is not None and record.exists() else ():
        name, _, size = line.rsplit(",", 2)
        if name.strip('"') == os.path.relpath(path, machine.site):
            return True, size.isdecimal()
    return False, False


def _of_one(machine: Machine, soname: str) -> Iterator[Fault]:
    path = machine.required[soname]

    def fault(name: str, route: Route, make: Callable[[Scene], None], *causes: str) -> Fault:
        return _fault(f"{soname} {name}", route, make, *causes, library=soname)

    # a good copy elsewhere does not help: the search ends at the file that is refused
    listed, sized = recorded(machine, soname, path)
    bad = "wheel-damaged" if sized else "cuda-lib-unusable"
    yield fault("cut after 30 bytes", "truncated", _cut(path, 30), bad)
    yield fault("cut after 9000 bytes", "truncated", _cut(path, 9000), bad)
    yield fault("is empty", "truncated", _cut(path, 0), bad)
    yield fault("is a web page", "wrong kind", _text(path), bad)
    absent = "cudnn-missing" if soname.startswith("libcudnn") else "cuda-libs-missing"
    yield fault("gone from its wheel", "hidden", _gone(soname), "wheel-damaged" if listed else absent)
    yield fault("not installed", "mount namespace", _not_installed(soname), absent)
    yield fault("cut, of a directory first on the path", "variable", _first(soname, path, 30), "cuda-lib-unusable")
    yield fault("as text, of a directory first on the path", "variable", _first_text(soname), "cuda-lib-unusable")
    yield fault(
        "cut, of another toolkit first on the path",
        "other toolkit",
        _toolkit_first(soname, path),
        "ld-library-path-wrong-toolkit",
    )
    yield fault(
        "of another toolkit first on the path, which needs what is not there",
        "other toolkit",
        _needy(soname),
        "ld-library-path-wrong-toolkit",
    )
    yield fault("in a toolkit off the path alone", "moved", _in_toolkit(soname, path), "ld-library-path-not-set")
    if _can_move(machine):
        yield fault(
            "in another site-packages", "moved", lambda s: _move_wheel(s, soname, path), "pip-nvidia-libs-not-found"
        )
    yield fault(
        "for another processor, and no other",
        "wrong kind",
        _other_processor(soname, path),
        "wheel-damaged" if listed else absent,
    )
    if can_read_all(machine):
        name = "that this user may not read"
        refused = fault(name, "file", _unreadable(soname, path), "cuda-lib-unusable")
        yield dataclasses.replace(refused, as_nobody=True)


def _cut(path: str, size: int) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.replace(path, scene.write("cut", _beginning(path, size)))

    return make


def _beginning(path: str, size: int) -> bytes:
    with open(path, "rb") as f:
        return f.read(size)


def _text(path: str) -> Callable[[Scene], None]:
    return lambda scene: scene.replace(path, scene.write("page.html", TEXT))


def _gone(soname: str) -> Callable[[Scene], None]:
    return lambda scene: scene.without(soname, installed=True)


def _not_installed(soname: str) -> Callable[[Scene], None]:
    return lambda scene: scene.without(soname)


def _first(soname: str, path: str, size: int) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.write(f"first/{soname}", _beginning(path, size))
        scene.put_first("LD_LIBRARY_PATH", scene.place / "first")

    return make


def _first_text(soname: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.write(f"first/{soname}", TEXT)
        scene.put_first("LD_LIBRARY_PATH", scene.place / "first")

    return make


def _toolkit(scene: Scene, version: str) -> Path:
    """A CUDA toolkit without a library."""
    content = json.dumps({"cuda": {"name": "CUDA SDK", "version": version}})
    place = scene.write(f"cuda-{version}/version.json", content.encode()).parent
    scene.env["CUDA_HOME"] = str(place)
    return scene.new(place.name, "lib64")


def _toolkit_first(soname: str, path: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        place = _toolkit(scene, "11.8")
        (place / soname).write_bytes(_beginning(path, 200))
        scene.put_first("LD_LIBRARY_PATH", place)

    return make


def _needy(soname: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        place = _toolkit(scene, "11.8")
        scene.stub(soname, place.parent.name, "lib64", needed=("libnvrtc-builtins.so.11.8",))
        scene.put_first("LD_LIBRARY_PATH", place)

    return make


def _in_toolkit(soname: str, path: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.without(soname)
        kept = _toolkit(scene, "12.5") / soname
        kept.touch()
        scene.first.append(["bind", os.path.realpath(path), str(kept)])

    return make


def _move_wheel(scene: Scene, soname: str, path: str) -> None:
    """The wheel's library in another directory of PYTHONPATH, with what is known of the wheel."""
    machine = scene.machine
    scene.without(soname)
    component = os.path.relpath(os.path.dirname(path), machine.site)
    kept = scene.new("other-site", component) / soname
    kept.touch()
    scene.first.append(["bind", os.path.realpath(path), str(kept)])
    file = next(f for f in machine.copies(soname) if f["path"] == path)
    info = Scene.metadata(file["owner"], path)
    if info is not None:
        shutil.copytree(info, scene.place / "other-site" / os.path.basename(info), dirs_exist_ok=True)
    other = str(scene.place / "other-site")
    if other not in (scene.get("PYTHONPATH") or ""):
        scene.put_last("PYTHONPATH", other)


def _other_processor(soname: str, path: str) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        from tests.gpu.scene import other_processor

        scene.without(soname, installed=True)
        hidden = scene.shadows[os.path.realpath(os.path.dirname(path))]
        hidden[1][soname] = str(other_processor(scene.machine.place))

    return make


def can_read_all(machine: Machine) -> bool:
    """Whether another user finds this machine healthy, too."""
    scene = machine.scene()
    _as_nobody(scene)
    words = "import gpudoctor, typer, tensorflow.python.platform.build_info"
    if scene.run(sys.executable, "-c", "import gpudoctor, typer").returncode != 0:
        return False
    files = [*machine.required.values(), os.path.join(machine.site, "tensorflow/libtensorflow_framework.so.2")]
    reading = "import sys; [open(p, 'rb').read(1) for p in sys.argv[1:]]"
    del words
    return scene.run(sys.executable, "-c", reading, *files).returncode == 0


def _as_nobody(scene: Scene) -> None:
    scene.user = NOBODY
    scene.env["HOME"] = str(scene.place)
    scene.place.chmod(0o777)


def _unreadable(soname: str, path: str) -> Callable[[Scene], None]:
    """The loader passes over what it may not open: no other file of that name is left to be found."""

    def make(scene: Scene) -> None:
        for file in scene.machine.copies(soname):
            if os.path.realpath(file["path"]) != os.path.realpath(path):
                scene.take(file)
        closed = scene.write("closed", b"")
        os.truncate(closed, os.stat(path).st_size)
        closed.chmod(0)
        scene.replace(path, closed)
        _as_nobody(scene)

    return make


# ------------------------------------------------------------------------------- what they need


def needed(machine: Machine) -> dict[str, str]:
    """What TensorFlow does not ask for, and its libraries do -> the file beside TensorFlow."""
    files = machine.copies("libnvJitLink.so.12")
    return {f["name"]: f["path"] for f in files if f["path"].startswith(machine.site + "/")}


def _needed(machine: Machine) -> Iterator[Fault]:
    for soname, path in needed(machine).items():
        yield from _of_a_needed_one(machine, soname, path)


def _of_a_needed_one(machine: Machine, soname: str, path: str) -> Iterator[Fault]:
    listed, sized = recorded(machine, soname, path)
    bad = "wheel-damaged" if sized else "cuda-lib-unusable"
    library = soname
    gone = "wheel-damaged" if listed else "cuda-libs-missing"
    yield _fault(f"{soname} cut after 30 bytes", "truncated", _cut(path, 30), bad, library=library)
    yield _fault(f"{soname} is a web page", "wrong kind", _text(path), bad, library=library)
    yield _fault(f"{soname} gone from its wheel", "hidden", _gone(soname), gone, library=library)
    yield _fault(
        f"{soname} not installed", "mount namespace", _not_installed(soname), "cuda-libs-missing", library=library
    )


# ------------------------------------------------------------------------------- another major


def _majors(machine: Machine) -> Iterator[Fault]:
    def cudnn_8(scene: Scene) -> None:
        scene.without(CUDNN)
        scene.put_first("LD_LIBRARY_PATH", scene.stub("libcudnn.so.8"))

    def cudnn_9_by_name(scene: Scene) -> None:
        """A link of the wrong major: the file is cuDNN 8 and says so."""
        scene.without(CUDNN)
        scene.put_first("LD_LIBRARY_PATH", scene.stub("libcudnn.so.8", named="libcudnn.so.8.9.7"))
        os.symlink("libcudnn.so.8.9.7", scene.place / "stub/libcudnn.so.8")

    if CUDNN in machine.required:
        cause = "cudnn-wrong-major"
        yield _fault("cuDNN 8 alone, on the path", "wrong major", cudnn_8, cause, library=CUDNN)
        yield _fault("cuDNN 8.9.7 alone, with its link", "wrong soname", cudnn_9_by_name, cause, library=CUDNN)

    def cuda_11(only: tuple[str, ...]) -> Callable[[Scene], None]:
        def make(scene: Scene) -> None:
            for soname in machine.required:
                if soname.startswith(only):
                    scene.without(soname)
            for soname in ("libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11"):
                scene.stub(soname, "cuda-11.8", "lib64")
            scene.put_first("LD_LIBRARY_PATH", _toolkit(scene, "11.8"))

        return make

    family = ("libcudart.", "libcublas.", "libcublasLt.")
    cause = "cuda-version-mismatch"
    yield _fault("CUDA 11.8 alone, on the path", "wrong major", cuda_11(("lib",)), cause)
    yield _fault("cudart and cublas of CUDA 11.8 alone", "wrong major", cuda_11(family), cause)

    def none(scene: Scene) -> None:
        for soname in machine.required:
            scene.without(soname)

    others = [
        f
        for f in machine.files
        if f["name"].startswith("libcudart.so.") and not f["name"].startswith("libcudart.so.12")
    ]
    yield _fault("no CUDA wheel is installed", "mount namespace", none, cause if others else "cuda-toolkit-missing")
