"""The simulated loader against the real one, on random layouts of real ELF files."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from gpudoctor.facts import SearchStep
from gpudoctor.loader import elf, glibc, trace
from tests.building import Workshop, put
from tests.conftest import SEED

SONAMES = ("liba.so.1", "libb.so.1", "libc1.so.1", "libd.so.1")
DIRECTORIES = ("p", "q", "r", "r/glibc-hwcaps/x86-64-v2", "s")
PATHS = ("$ORIGIN", "$ORIGIN/../p", "$ORIGIN/../q", "$ORIGIN/../r", "$ORIGIN/../s", "$ORIGIN/../none")


@dataclasses.dataclass(frozen=True)
class File:
    """One file of a layout: a library, or something that only has the name of one."""

    kind: str
    soname: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: bool


paths = st.lists(st.sampled_from(PATHS), max_size=3).map(tuple)
files = st.builds(
    File,
    kind=st.sampled_from(["library"] * 12 + ["truncated", "wrong class", "text", "directory", "wrong machine"]),
    soname=st.sampled_from(["same"] * 8 + list(SONAMES)),
    needed=st.lists(st.sampled_from(SONAMES), max_size=2, unique=True).map(tuple),
    rpath=paths,
    runpath=st.booleans(),
)
layouts = st.dictionaries(
    st.tuples(st.sampled_from(DIRECTORIES), st.sampled_from(SONAMES)), files, min_size=2, max_size=9
)
library_paths = st.none() | st.lists(st.sampled_from(("p", "q", "r", "s", "none")), max_size=3)


def lay_out(root: Path, layout: dict[tuple[str, str], File], workshop: Workshop) -> None:
    for directory in DIRECTORIES:
        (root / directory).mkdir(parents=True, exist_ok=True)
    for (directory, name), file in layout.items():
        target = root / directory / name
        if file.kind == "directory":
            target.mkdir()
            continue
        soname = name if file.soname == "same" else file.soname
        put(workshop.stub(soname, file.needed, file.rpath, runpath=file.runpath), root / directory, name)
        data = bytearray(target.read_bytes())
        if file.kind == "truncated":
            data = data[:40]
        elif file.kind == "wrong class":
            data[4] = 1
        elif file.kind == "wrong machine":
            data[18] = 0xB7
        elif file.kind == "text":
            data = bytearray(b"INPUT(libother.so)\n" * 8)
        target.write_bytes(data)


def real(program: Path, library_path: str | None, words: list[str]) -> tuple[list[str], list[str], trace.Search | None]:
    """Answers, objects in the process, and the first search of the last call, by glibc's own account."""
    env = {"PATH": os.environ["PATH"], "LD_DEBUG": "libs"}
    if library_path is not None:
        env["LD_LIBRARY_PATH"] = library_path
    got = subprocess.run([str(program), *words], env=env, capture_output=True, text=True, timeout=20, check=False)
    assert got.returncode == 0, got.stderr[-2000:]
    answers, _, objects = got.stdout.partition("objects\n")
    last = trace.searches(list(trace.sections(got.stderr).values())[-1], elf.tidy)
    return answers.split(), [os.path.normpath(o) for o in objects.split()], last[0] if last else None


PLATFORM = glibc.this_platform()


def there(steps: tuple[SearchStep, ...]) -> list[str]:
    """Directories that exist: the loader skips the others after a first look. A directory that several lists
    name goes by the first one's name in glibc's account, so the origin is not compared."""
    plain = (s.directory.partition("/glibc-hwcaps")[0] for s in steps)
    return list(dict.fromkeys(os.path.realpath(d) for d in plain if os.path.isdir(d)))


@seed(SEED)
@settings(max_examples=200, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    layout=layouts,
    library_path=library_paths,
    program_rpath=paths,
    program_runpath=st.booleans(),
    caller=st.tuples(st.sampled_from(("p", "q", "r", "s")), st.sampled_from(SONAMES)) | st.none(),
    first=st.none() | st.sampled_from(SONAMES),
    asked=st.sampled_from(SONAMES),
)
def test_the_simulation_equals_the_real_loader(
    workshop: Workshop,
    layout: dict[tuple[str, str], File],
    library_path: list[str] | None,
    program_rpath: tuple[str, ...],
    program_runpath: bool,
    caller: tuple[str, str] | None,
    first: str | None,
    asked: str,
) -> None:
    place = tempfile.mkdtemp(prefix="layout-", dir=workshop.place)
    try:
        root = Path(place)
        lay_out(root, layout, workshop)
        built = workshop.program("dlopener.c", program_rpath, runpath=program_runpath)
        program = put(built, root / "p", "program")
        variable = None if library_path is None else ":".join(str(root / d) for d in library_path)

        process = glibc.Process(str(program), PLATFORM, variable)
        words: list[str] = []
        expected: list[str] = []
        if first is not None:  # something loaded before: its soname wins later without a search
            words += ["soname", first, "-"]
            expected.append("ok" if process.pick(first).picked else "failed")
        source = None
        caller_path = str(root / caller[0] / caller[1]) if caller else "-"
        if caller is not None:
            words += ["open", caller_path]
            try:
                source = process.open(caller_path)
                expected.append("ok")
            except (glibc.CannotLoad, elf.BadElf, OSError):
                expected.append("failed")
                caller_path = "-"
        words += ["soname", asked, caller_path]
        pick = process.pick(asked, source)
        expected.append("ok" if pick.picked else "failed")

        answers, objects, search = real(program, variable, words)
        assert answers == expected
        ours = [os.path.realpath(o.path) for o in process.loaded[1:] if "/ld-linux" not in o.path]
        assert [os.path.realpath(o) for o in objects] == ours
        assert (search is None) == (not pick.searched)
        if search is not None:
            assert search.soname == asked
            if isinstance(pick.picked, str):
                assert os.path.realpath(search.last or "") == os.path.realpath(pick.picked)
            assert there(pick.searched) == there(tuple(search.steps))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def chain(workshop: Workshop, root: Path, **flags: bool) -> glibc.Process:
    """A program that needs nothing; q/liba.so.1 lies where only a RUNPATH names it."""
    put(workshop.stub("liba.so.1"), root / "q", "liba.so.1")
    program = put(workshop.program("dlopener.c", ("$ORIGIN/../q",), **flags), root / "p", "program")
    return glibc.Process(str(program), glibc.this_platform(), str(root / "empty"))


def test_why_is_told(workshop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    pick = chain(workshop, tmp_path).pick("liba.so.1")
    assert pick.picked == str(tmp_path / "q" / "liba.so.1")
    assert [(s.directory, s.origin) for s in pick.searched] == [
        (str(tmp_path / "empty"), "LD_LIBRARY_PATH"),
        (str(tmp_path / "q"), "RUNPATH of program"),
    ]


def test_a_missing_dependency_is_told_apart(workshop: Workshop, tmp_path: Path) -> None:
    put(workshop.stub("libb.so.1", ("libmissing.so.7",), ("$ORIGIN",)), tmp_path / "q", "libb.so.1")
    pick = chain(workshop, tmp_path).pick("libb.so.1")
    assert pick.picked is None
    assert pick.stopped_by == "libmissing.so.7"
    assert str(tmp_path / "q") in [s.directory for s in pick.dependency_searched]


def test_a_file_that_is_refused_is_told_apart(workshop: Workshop, tmp_path: Path) -> None:
    process = chain(workshop, tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "liba.so.1").write_bytes(b"\x7fELF")
    pick = process.pick("liba.so.1")
    assert pick.picked is None
    assert pick.rejected == str(tmp_path / "empty" / "liba.so.1")


def test_the_cache_is_read() -> None:
    cache = glibc.read_cache()
    if not cache:
        pytest.skip("this machine has no loader cache of the new format")
    printed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    assert cache.get("libc.so.6")
    for soname, path in cache.items():
        assert soname in printed
        assert path in printed


def test_a_damaged_cache_is_no_cache(tmp_path: Path) -> None:
    bad = tmp_path / "cache"
    for data in (b"", b"nonsense" * 100, b"glibc-ld.so.cache1.1" + b"\xff" * 60):
        bad.write_bytes(data)
        assert glibc.read_cache(path=str(bad)) == {}
