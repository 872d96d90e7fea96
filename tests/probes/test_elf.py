"""The patient's reader of ELF files against pyelftools, on real files and on damaged ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from gpudoctor.loader import elf
from gpudoctor.patient.elf import expanded, read_elf
from tests.building import Workshop, put
from tests.conftest import SEED

MACHINES = {"EM_X86_64": 62, "EM_386": 3, "EM_AARCH64": 183}


def agree(path: Path) -> None:
    ours = read_elf(str(path))
    try:
        theirs = elf.read(str(path))
    except elf.BadElf:
        assert ours["flaw"] is not None
        return
    assert ours["flaw"] is None
    assert ours["soname"] == theirs.soname
    assert tuple(ours["needed"]) == theirs.needed
    assert ours["runpath"] == (None if theirs.runpath is None else list(theirs.runpath))
    assert ("", *(ours["rpath"] or ())) == ("", *theirs.rpath) or ours["runpath"] is not None
    assert (ours["bits"], ours["machine"]) == (theirs.bits, MACHINES[theirs.machine])
    assert bool(ours["flags_1"] & 0x800) == theirs.no_default_libs
    assert expanded(ours["runpath"] or [], str(path)) == list(elf.expand(theirs.runpath or (), str(path)))


def test_libraries_of_this_system() -> None:
    places = [p for p in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64") if os.path.isdir(p)]
    files = [p for place in places for p in sorted(Path(place).glob("*.so*")) if p.is_file()][::7]
    if not files:
        pytest.skip("no library directory is known here")
    for path in files:
        agree(path)


def test_tensorflow(tensorflow_directory: Path) -> None:
    for path in [*tensorflow_directory.glob("*.so*"), *tensorflow_directory.glob("python/*.so")]:
        agree(path)


@pytest.mark.parametrize("runpath", [True, False])
def test_lists(workshop: Workshop, tmp_path: Path, runpath: bool) -> None:
    made = workshop.stub("liba.so.1", ("libb.so.1", "libc1.so.1"), ("$ORIGIN/../p", "/q", "$LIB/x"), runpath=runpath)
    path = put(made, tmp_path / "d", "liba.so.1")
    agree(path)
    got = read_elf(str(path))
    assert got["needed"] == ["libb.so.1", "libc1.so.1"]
    assert got["runpath" if runpath else "rpath"] == ["$ORIGIN/../p", "/q", "$LIB/x"]
    assert expanded(["$ORIGIN/../p", "/q", "$LIB/x", "/q"], str(path)) == [str(tmp_path / "p"), "/q"]


def test_what_is_no_object(workshop: Workshop, tmp_path: Path) -> None:
    good = workshop.stub("liba.so.1").read_bytes()
    path = tmp_path / "x"
    for data, flaw, cut in (
        (b"", "file too short", True),
        (good[:30], "file too short", True),
        (good[: len(good) // 2], "file too short", True),
        (b"INPUT(liba.so.1.2)\n" * 9, "invalid ELF header", False),
        (good[:4] + b"\7" + good[5:], "invalid ELF header", False),
        (good[:16] + b"\1" + good[17:], "only ET_DYN and ET_EXEC can be loaded", False),
        (good[:-1], None, True),
    ):
        path.write_bytes(data)
        got = read_elf(str(path))
        assert (got["flaw"], got["cut_short"]) == (flaw, cut)
    assert read_elf(str(tmp_path))["flaw"] == "cannot read file data: Is a directory"
    assert read_elf(str(tmp_path / "missing"))["flaw"] == "No such file or directory"
    os.mkfifo(tmp_path / "pipe")
    assert read_elf(str(tmp_path / "pipe"))["flaw"] is not None


@seed(SEED)
@settings(max_examples=200, deadline=None)
@given(
    places=st.lists(st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=8)), max_size=4), end=st.integers()
)
def test_damage_is_a_flaw_and_no_crash(workshop: Workshop, places: list[tuple[int, bytes]], end: int) -> None:
    data = bytearray(workshop.stub("liba.so.1", ("libb.so.1",), ("$ORIGIN",)).read_bytes())
    for at, what in places:
        data[at : at + len(what)] = what
    path = workshop.place / "damaged"
    path.write_bytes(data[: end % len(data)])
    assert set(read_elf(str(path))) == set(read_elf("/"))
