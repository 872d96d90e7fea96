"""Compiles the fakes: real ELF files, made once a session."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

FAKES = Path(__file__).parent / "fakes"


class Workshop:
    """A directory of compiled fakes; the same order is compiled once."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def _built(self, words: Iterable[str], command: list[str]) -> Path:
        name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
        path = self.place / name
        if not path.exists():
            subprocess.run([*command, "-o", str(path)], check=True, capture_output=True, cwd=self.place)
        return path

    def fake(self, source: str, soname: str, *defines: str) -> Path:
        """A library of tests/fakes with this soname."""
        command = [
            "gcc",
            "-shared",
            "-fPIC",
            f"-Wl,-soname,{soname}",
            *(f"-D{d}" for d in defines),
            str(FAKES / source),
        ]
        return self._built(["fake", source, soname, *defines], command)

    def stub(
        self, soname: str, needed: tuple[str, ...] = (), rpath: tuple[str, ...] = (), *, runpath: bool = True
    ) -> Path:
        """A stub library with DT_NEEDED `needed` and a DT_RUNPATH or DT_RPATH."""
        needs = []
        for name in needed:
            empty = self.place / "empty" / name
            if not empty.exists():
                empty.parent.mkdir(exist_ok=True)
                nothing = [
                    "gcc",
                    "-shared",
                    "-nostdlib",
                    "-x",
                    "c",
                    "/dev/null",
                    f"-Wl,-soname,{name}",
                    "-o",
                    str(empty),
                ]
                subprocess.run(nothing, check=True, capture_output=True)
            needs.append(f"-l:{name}")
        command = [
            "gcc", "-shared", "-fPIC", "-nostdlib", str(FAKES / "stub.c"), f"-Wl,-soname,{soname}",
            "-Wl,--no-as-needed", f"-L{self.place / 'empty'}", *needs, *_path(rpath, runpath=runpath),
        ]  # fmt: skip
        return self._built(["stub", soname, *needed, "|", *rpath, str(runpath)], command)

    def program(self, source: str, rpath: tuple[str, ...] = (), *, runpath: bool = True) -> Path:
        """A program of tests/fakes."""
        command = ["gcc", str(FAKES / source), "-ldl", *_path(rpath, runpath=runpath)]
        return self._built(["program", source, *rpath, str(runpath)], command)


def _path(entries: tuple[str, ...], *, runpath: bool) -> list[str]:
    if not entries:
        return []
    kind = "--enable-new-dtags" if runpath else "--disable-new-dtags"
    return [f"-Wl,{kind}", f"-Wl,-rpath,{':'.join(entries)}"]


def put(made: Path, directory: Path, name: str) -> Path:
    """A copy of a compiled file, with an inode of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / name
    shutil.copy(made, target)
    return target
