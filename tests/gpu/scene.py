"""A machine with a fault: what is different there, and what `gpudoctor check` says of it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.building import Workshop, put
from tests.running import COMMAND, ROOT

STAGE = Path(__file__).with_name("stage.py")
LIMIT_S = 240.0
NOBODY = 65534
ANSWER = "FAULT_CUDA_INIT"
SMALL = 1500
"""Entries of a directory that is made anew to take one away. In a larger one, a file that the loader passes over stands
for none."""


def other_processor(place: Path) -> Path:
    """An object for 32-bit processors, of its header alone: the loader passes over it, as if it were not there."""
    path = place / "for-another-processor"
    if not path.exists():
        ident = b"\x7fELF\x01\x01\x01" + bytes(9)
        path.write_bytes(ident + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0) + bytes(4096))
    return path


@dataclasses.dataclass(frozen=True)
class Machine:
    """This machine as it is without a fault: how it is asked, and what was seen then."""

    env: Mapping[str, str]
    """Of a healthy run."""
    without_wheels: str | None
    """LD_LIBRARY_PATH of a run in which TensorFlow's own wheel does not find its libraries; None: it does."""
    facts: dict[str, Any]
    workshop: Workshop
    place: Path
    numbers: Iterator[int] = dataclasses.field(default_factory=itertools.count)
    always: tuple[list[Any], ...] = ()
    """Mounts that every scene has."""

    @property
    def site(self) -> str:
        return str(os.path.dirname(self.facts["tensorflow"]["directory"]))

    @property
    def gpus(self) -> int:
        listed = self.facts["driver"]["libcuda"]["devices"]
        return len(listed) if isinstance(listed, list) else 0

    @property
    def container(self) -> str | None:
        kind: str | None = self.facts["system"]["container"]
        return kind

    @property
    def files(self) -> list[dict[str, Any]]:
        files: list[dict[str, Any]] = self.facts["libraries"]["files"]
        return files

    def copies(self, soname: str) -> list[dict[str, Any]]:
        """Every file of this name that was seen, and by which other names the loader's cache has it."""
        seen = [f for f in self.files if f["name"] == soname]
        places = {os.path.realpath(os.path.dirname(f["path"])) for f in seen}
        cache = self.facts["libraries"]["cache"]
        for entry in cache if isinstance(cache, list) else ():
            place = os.path.realpath(os.path.dirname(entry["path"]))
            if entry["soname"] == soname and place not in places:
                places.add(place)
                path = os.path.join(place, os.path.basename(entry["path"]))
                seen.append(
                    {"name": soname, "path": path, "kind": "system", "real": os.path.realpath(path), "owner": None}
                )
        return seen

    @property
    def required(self) -> dict[str, str]:
        """The libraries that TensorFlow's loader needs -> the file beside TensorFlow that it opens."""
        return {
            p["soname"]: p["picked"]
            for p in self.facts["tensorflow"]["libraries"]
            if p.get("required", True) and p["picked"].startswith(os.path.join(self.site, "nvidia") + "/")
        }

    @property
    def libcuda(self) -> str:
        path: str = self.facts["driver"]["libcuda"]["path"]
        return path

    def nodes(self) -> list[str]:
        """The names of the nodes that CUDA opens."""
        return [os.path.basename(n["path"]) for n in self.facts["driver"]["nodes"] if n["exists"]]

    def scene(self) -> Scene:
        made = Path(tempfile.mkdtemp(prefix=f"scene{next(self.numbers)}-", dir=self.place))
        made.chmod(0o755)
        return Scene(self, made)


@dataclasses.dataclass
class Scene:
    """The machine with something different. A directory of its own, which ends with it."""

    machine: Machine
    place: Path
    env: dict[str, str | None] = dataclasses.field(default_factory=dict)
    first: list[list[Any]] = dataclasses.field(default_factory=list)
    """Mounts that are made before anything is hidden."""
    last: list[list[Any]] = dataclasses.field(default_factory=list)
    shadows: dict[str, tuple[list[str], dict[str, str]]] = dataclasses.field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = dataclasses.field(
        default_factory=lambda: {"hide": {}, "modes": {}, "numbers": {}}
    )
    limits: dict[str, int] = dataclasses.field(default_factory=dict)
    user: int | None = None
    beside: list[list[str]] = dataclasses.field(default_factory=list)
    """Commands that run meanwhile; each prints a line when it is ready."""

    # ------------------------------------------------------------------------- variables

    def get(self, name: str) -> str | None:
        return self.env[name] if name in self.env else self.machine.env.get(name)

    def put_first(self, name: str, directory: Path | str) -> None:
        old = self.get(name)
        self.env[name] = f"{directory}:{old}" if old else str(directory)

    def put_last(self, name: str, directory: Path | str) -> None:
        old = self.get(name)
        self.env[name] = f"{old}:{directory}" if old else str(directory)

    # ------------------------------------------------------------------------- files

    def new(self, *parts: str) -> Path:
        """A directory for this scene."""
        path = self.place.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, content: bytes) -> Path:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def append(self, name: str, content: bytes) -> Path:
        path = self.place / name
        return self.write(name, (path.read_bytes() if path.exists() else b"") + content)

    def replace(self, path: str, by: Path) -> None:
        """Another file in the place of a file."""
        self.last.append(["bind", str(by), os.path.realpath(path)])

    def hide(self, path: str) -> None:
        """No such file or directory."""
        directory, name = os.path.split(os.path.normpath(path))
        self.shadow(os.path.realpath(directory))[0].append(name)

    def add(self, path: str, source: Path) -> None:
        """A file or directory where there is none."""
        directory, name = os.path.split(path)
        self.shadow(os.path.realpath(directory))[1][name] = str(source)

    def shadow(self, directory: str) -> tuple[list[str], dict[str, str]]:
        return self.shadows.setdefault(directory, ([], {}))

    # ------------------------------------------------------------------------- libraries

    def without(self, soname: str, *, installed: bool = False) -> None:
        """No file of this name on the machine; with `installed`, the wheels that it belongs to believe that it is there."""
        for file in self.machine.copies(soname):
            if file["kind"] == "wheel" and not installed:
                self.forget(file["owner"], file["path"])
            self.take(file)

    def take(self, file: dict[str, Any]) -> None:
        """A library away from where it lies."""
        if file["kind"] == "wheel" or len(os.listdir(os.path.dirname(file["path"]))) <= SMALL:
            self.hide(file["path"])
        else:
            mask = ["bind", str(other_processor(self.machine.place)), file["real"]]
            self.last += [mask] if mask not in self.last else []

    def forget(self, owner: Any, path: str) -> None:
        """The distribution that owns a file is not installed."""
        info = self.metadata(owner, path)
        if info is not None:
            self.hide(info)

    @staticmethod
    def metadata(owner: Any, path: str) -> str | None:
        if not isinstance(owner, str):
            return None
        site = path.split("/nvidia/")[0]
        name, version = owner.split(" ")[:2]
        for entry in sorted(os.listdir(site)):
            if entry.lower().replace("-", "_") == f"{name}_{version}.dist_info".lower().replace("-", "_"):
                return os.path.join(site, entry)
        return None

    # ------------------------------------------------------------------------- running it

    def plan(self) -> dict[str, Any]:
        shadows = [["shadow", d, hide, add] for d, (hide, add) in sorted(self.shadows.items(), key=lambda s: len(s[0]))]
        nodes = self.nodes
        dev = [["devices", list(nodes["hide"]), nodes["modes"], nodes["numbers"]]] if any(nodes.values()) else []
        return {
            "place": str(self.place),
            "cwd": str(self.new("cwd")),
            # what is bound over a file must be there before the directory around it is made anew
            "mounts": [*self.machine.always, *self.first, *self.last, *shadows, *dev],
            "limits": self.limits,
            "user": self.user,
        }

    def variables(self) -> dict[str, str]:
        merged = {**self.machine.env, **self.env}
        return {k: v for k, v in merged.items() if v is not None}

    def run(
        self, *words: str, paste: tuple[str, ...] = (), limit_s: float = LIMIT_S
    ) -> subprocess.CompletedProcess[str]:
        """A command on this stage; `paste`: lines that are pasted into the shell before."""
        plan = self.write("plan.json", json.dumps(self.plan()).encode())
        shell = ["sh", "-c", "\n".join([*paste, 'exec "$@"']), "sh"] if paste else []
        command = [sys.executable, "-I", "-S", str(STAGE), str(plan), *shell, *words]
        with contextlib.ExitStack() as stack:
            for other in self.beside:
                stack.enter_context(_running(other, self.variables()))
            with subprocess.Popen(
                command,
                env=self.variables(),
                cwd=self.place,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            ) as process:
                try:
                    out, err = process.communicate(timeout=limit_s)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    out, err = process.communicate()
                    err += f"\nit did not end within {limit_s:g} s"
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def check(self, level: str, *more: str, paste: tuple[str, ...] = ()) -> dict[str, Any]:
        """The report of `gpudoctor check` on this stage."""
        words = ["check", "--level", level, "--format", "json", "--no-redact", "--python", sys.executable, *more]
        done = self.run(*COMMAND, *words, paste=paste)
        try:
            got: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(
                f"{shlex.join(words)} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}"
            ) from None
        return got

    def libcuda(self, answer: str, *directory: str) -> Path:
        """A directory with a libcuda whose cuInit gives this answer."""
        place = self.new(*directory)
        put(self.machine.workshop.fake("libcuda.c", "libcuda.so.1", f'INIT="{ANSWER}"'), place, "libcuda.so.1")
        self.env[ANSWER] = answer
        return place

    def stub(self, soname: str, *directory: str, needed: tuple[str, ...] = (), named: str | None = None) -> Path:
        """A directory with a stub library in it; `named`: its file's name, where that is not its soname."""
        place = self.new(*(directory or ("stub",)))
        put(self.machine.workshop.stub(soname, needed), place, named or soname)
        return place


@contextlib.contextmanager
def _running(command: list[str], env: dict[str, str]) -> Iterator[None]:
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready", f"{command[0]} was not ready"
        try:
            yield
        finally:
            process.kill()


def names(report: dict[str, Any]) -> list[str]:
    return [r["cause"] for r in report["diagnosis"]["root_causes"]]


def base_environment(surroundings: Mapping[str, str]) -> dict[str, str]:
    """The variables in which pytest was started, and where gpudoctor is."""
    path = os.pathsep.join([str(ROOT), surroundings.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    left = {k: v for k, v in surroundings.items() if not k.startswith(("GPUDOCTOR_", "PYTEST_", "FAKE_", "FAULT_"))}
    return {**left, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def wheel_directories(site: str) -> list[str]:
    """The directories of the CUDA wheels beside TensorFlow."""
    return sorted(str(p) for p in Path(site, "nvidia").glob("*/lib") if p.is_dir())


GAP = "tf-wheel-runpath-gap"


def look_at(
    env: dict[str, str], workshop: Workshop, place: Path, level: str, always: tuple[list[Any], ...] = ()
) -> tuple[Machine, dict[str, Any]]:
    """This machine, made healthy where TensorFlow's own wheel does not find its libraries, and the report of that run."""
    machine = Machine(env, None, {}, workshop, place, always=always)
    report = machine.scene().check(level)
    without: str | None = None
    if GAP in names(report):
        without = env.get("LD_LIBRARY_PATH", "")
        directories = wheel_directories(os.path.dirname(report["facts"]["tensorflow"]["directory"]))
        env = {**env, "LD_LIBRARY_PATH": ":".join([*directories, *([without] if without else [])])}
        machine = Machine(env, without, {}, workshop, place, always=always)
        report = machine.scene().check(level)
    return dataclasses.replace(machine, facts=report["facts"], without_wheels=without), report
