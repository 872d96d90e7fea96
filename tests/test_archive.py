"""The zip of `gpudoctor report`, and what strangers make of one."""

from __future__ import annotations

import io
import json
import os
import resource
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor import archive, bundle
from gpudoctor.archive import Missing, NotAnArchive, Part
from gpudoctor.render import json as as_json
from tests.running import COMMAND, ROOT, gpudoctor, one_line
from tests.test_bundle import CASES

WHEN = "2026-11-22T07:08:09+00:00"
MOST_MB = 300
REPORT = as_json.render(bundle.make(CASES["gap"], WHEN)).encode()
PARTS = (Part("report.json", "everything", REPORT), Part("pip-list.txt", "pip list", b"numpy 2\n" * 1000))


def packed(*parts: Part) -> bytes:
    return archive.pack(parts or PARTS, WHEN, (Missing(name="a.txt", what="a", why="there is no a"),))


def test_what_is_packed_is_read_back() -> None:
    assert archive.read(packed()) == REPORT
    assert packed() == packed()


def test_the_zip_itself() -> None:
    with zipfile.ZipFile(io.BytesIO(packed())) as zipped:
        assert zipped.testzip() is None
        assert [i.filename for i in zipped.infolist()] == ["report.json", "pip-list.txt", "manifest.json"]
        for info in zipped.infolist():
            assert info.date_time == (2026, 11, 22, 7, 8, 8)  # a zip counts two seconds at a time
            assert stat.S_IMODE(info.external_attr >> 16) == 0o600
        manifest = json.loads(zipped.read("manifest.json"))
    assert [(f["name"], f["size"], len(f["sha256"])) for f in manifest["files"]] == [
        ("report.json", len(REPORT), 64),
        ("pip-list.txt", 8000, 64),
    ]
    assert manifest["missing"] == [{"name": "a.txt", "what": "a", "why": "there is no a"}]
    assert manifest["created"] == WHEN


def test_a_time_that_is_none_harms_nothing() -> None:
    for created in ("now", "1970-01-01T00:00:00+00:00", ""):
        assert archive.read(archive.pack(PARTS, created)) == REPORT


def test_a_file_that_somebody_took_out_is_not_missed() -> None:
    assert archive.read(edited(lambda name: name != "pip-list.txt")) == REPORT


def edited(
    keep: Callable[[str], bool] = lambda _: True,
    change: Callable[[zipfile.ZipInfo, bytes], bytes] = lambda _, data: data,
    more: Callable[[zipfile.ZipFile], None] = lambda _: None,
) -> bytes:
    """A good zip, written anew with something changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed())) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if keep(info.filename):
                data = old.read(info)
                new.writestr(info, change(info, data), info.compress_type)
        more(new)
    return made.getvalue()


def named(name: str) -> bytes:
    return edited(more=lambda new: new.writestr(name, "x"))


def link() -> bytes:
    info = zipfile.ZipInfo("link.txt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return edited(more=lambda new: new.writestr(info, "/etc/passwd"))


def bomb(size: int, name: str = "report.json") -> bytes:
    """A file of spaces, as the manifest has it."""
    made = io.BytesIO()
    told = archive.Manifest(schema_version=1, tool=bundle.Tool(), created=WHEN, files=())
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        with new.open(name, "w", force_zip64=True) as stream:
            for _ in range(size >> 20):
                stream.write(b" " * (1 << 20))
        if name != "report.json":
            new.writestr("report.json", REPORT)
        new.writestr(
            "manifest.json", json.dumps({"schema_version": 1, "tool": {}, "created": told.created, "files": []})
        )
    return made.getvalue()


def lying(size: int) -> bytes:
    """A bomb whose directory says that it is small."""
    data = bytearray(bomb(64 << 20))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x01\x02"))
    data[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(data)


def twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        return edited(more=lambda new: new.writestr("report.json", REPORT))


def many() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as new:
        for number in range(20_000):
            new.writestr(f"f{number}", "")
    return made.getvalue()


def flagged(bit: int) -> bytes:
    data = bytearray(packed())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= bit
    return bytes(data)


def method(number: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", number) as new:
        for part in PARTS:
            new.writestr(part.name, part.data)
        new.writestr("manifest.json", json.dumps({"schema_version": 1, "tool": {}, "created": WHEN, "files": []}))
    return made.getvalue()


def with_report(data: bytes) -> bytes:
    """A zip that is right but for its report, which is not made small: that alone may not be what it is refused for."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive.pack((Part("report.json", "", data),), WHEN))) as old,
        zipfile.ZipFile(made, "w") as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return made.getvalue()


def inserted(text: str, value: str) -> bytes:
    assert text in REPORT.decode()
    return with_report(REPORT.decode().replace(text, value, 1).encode())


FINDING = json.dumps(json.loads(REPORT)["findings"][0])
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip slip": (lambda: named("../../etc/cron.d/x"), "a file called"),
    "zip slip of Windows": (lambda: named("..\\..\\x"), "a file called"),
    "an absolute name": (lambda: named("/tmp/x"), "a file called"),
    "a directory": (lambda: named("raw/"), "a file called"),
    "a name with an escape": (lambda: named("a\x1b[2Jb"), "a file called"),
    "a name with a NUL": (lambda: edited(more=lambda new: new.writestr("aXb", "x")).replace(b"aXb", b"a\0b"), "a file called"),
    "a name without end": (lambda: named("a" * 60_000), "a file called|more than"),
    "a link": (link, "no regular file"),
    "a file that the manifest lacks": (lambda: named("more.txt"), "does not name"),
    "a name twice": (twice, "twice"),
    "a bomb": (lambda: bomb(200 << 20), "expands to"),
    "a bomb beside the report": (lambda: bomb(40 << 20, "pip-list.txt"), "expands to"),
    "a bomb that lies": (lambda: lying(1 << 20), "damaged|expands to|does not name"),
    "20,000 files": (many, "more than 64 files"),
    "encrypted": (lambda: flagged(1), "encrypted"),
    "strongly encrypted": (lambda: flagged(0x40), "encrypted"),
    "packed by LZMA": (lambda: method(zipfile.ZIP_LZMA), "not ours"),
    "packed by bzip2": (lambda: method(zipfile.ZIP_BZIP2), "not ours"),
    "cut in half": (lambda: packed()[: len(packed()) // 2], "cut off"),
    "cut at its end": (lambda: packed()[:-1], "cut off"),
    "with more behind it": (lambda: packed() + b"x", "cut off"),
    "with more before its directory": (lambda: packed()[:40] + b"junk" + packed()[40:], "not where"),
    "nothing but an end": (lambda: b"PK\x05\x06" + bytes(18), "without manifest"),
    "without a manifest": (lambda: edited(lambda name: name != "manifest.json"), "without manifest"),
    "without a report": (lambda: edited(lambda name: name != "report.json"), "without report"),
    "a changed report": (lambda: edited(change=lambda i, d: d.replace(b"580.", b"581.") if i.filename == "report.json" else d), "is not what its manifest says|does not hold"),
    "a changed attachment": (lambda: edited(change=lambda i, d: b"x" if i.filename == "pip-list.txt" else d), "pip-list.txt in it is not what its manifest says"),
    "a damaged byte": (lambda: packed()[:60] + bytes([packed()[60] ^ 255]) + packed()[61:], "damaged|not what"),
    "a manifest that is none": (lambda: edited(change=lambda i, d: b"[1]" if i.filename == "manifest.json" else d), "its manifest can't be read"),
    "a newer manifest": (lambda: edited(change=lambda i, d: d.replace(b'"schema_version": 1', b'"schema_version": 9') if i.filename == "manifest.json" else d), "newer"),
    "a deep manifest": (lambda: edited(change=lambda i, d: b"[" * 500_000 if i.filename == "manifest.json" else d), "its manifest can't be read"),
    "a zip as report": (lambda: with_report(packed()), "malformed|invalid"),
    "deep nesting": (lambda: with_report(b'{"schema_version":1,"started_at":"x","facts":' + b'{"a":' * 300_000), "recursion|truncated|depth"),
    "deep nesting of lists": (lambda: with_report(b"[" * 1_000_000), "recursion|object"),
    "no text": (lambda: with_report(bytes(range(256)) * 100), "malformed|invalid|utf"),
    "a number for a text": (lambda: inserted('"started_at": "2', '"started_at": 5, "x": "2'), "started_at|Expected"),
    "a list for facts": (lambda: inserted('"facts": {', '"facts": [], "x": {'), "facts|Expected"),
    "a million findings": (lambda: with_report(b'{"schema_version":1,"started_at":"x","facts":{"is":"facts"},"findings":[' + b",".join([b"{}"] * 1_000_000) + b"]}"), "values in it"),
    "a million long findings": (lambda: with_report(b'{"findings":[' + ",".join([FINDING] * 3_000).encode() + b"," * 200_000), "values in it"),
    "a million GPUs": (lambda: with_report(b'{"schema_version":1,"started_at":"x","facts":{"is":"facts","gpu":{"is":"gpu","devices":[' + b",".join([b'{"is":"gpudevice","index":0}'] * 400_000) + b"]}}}"), "values in it"),
    "a thousand GPUs": (
        lambda: with_report(
            b'{"schema_version":1,"started_at":"x","facts":{"is":"facts","gpu":{"is":"gpu","devices":['
            + b",".join([b'{"is":"gpudevice","index":0}'] * 1000)
            + b"]}}}"
        ),
        "1000 GPUs",
    ),
    "too long a text": (lambda: with_report(b'{"schema_version":1,"started_at":"' + os.urandom(9 << 20).hex().encode() + b'"}'), "expands to|larger"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused(name: str) -> None:
    make, words = HOSTILE[name]
    with pytest.raises(bundle.NotAReport, match=f"(?i){words}"):
        bundle.recorded(archive.read(make()))


@pytest.mark.parametrize(
    "name",
    ["zip slip", "a bomb", "a bomb that lies", "20,000 files", "a million findings", "a million GPUs", "deep nesting", "too long a text", "cut in half", "a changed attachment"],
)  # fmt: skip
def test_one_line_little_memory_and_nothing_written(name: str, tmp_path: Path) -> None:
    file, place = tmp_path / "bundle.zip", tmp_path / "empty"
    file.write_bytes(HOSTILE[name][0]())
    place.mkdir()
    before = sorted(p.name for p in tmp_path.iterdir())
    for command in ("replay", "topo") if name == "zip slip" else ("replay",):
        code, out, err, memory_mb = measured([*COMMAND, command, str(file)], place)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert err.startswith(f"gpudoctor: {file} is no report of gpudoctor: ")
        assert "\x1b" not in err
        assert memory_mb < MOST_MB
    assert list(place.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == before


MEASURES = """
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
os.write(int(sys.argv[1]), b"%d" % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Between: the most memory of a process counts what its parent held when it was forked, and pytest holds much."""


def measured(command: list[str], directory: Path) -> tuple[int, str, str, float]:
    """Exit code, output, complaints, and the most memory in MB, of a process that may write no file and has little memory."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    reading, writing = os.pipe()
    with os.fdopen(reading) as told:
        try:
            done = subprocess.run(
                [sys.executable, "-c", MEASURES, str(writing), *command],
                cwd=directory,
                env=env,
                capture_output=True,
                text=True,
                preexec_fn=limits,
                pass_fds=(writing,),
                check=False,
            )
        finally:
            os.close(writing)
        return done.returncode, done.stdout, done.stderr, int(told.read()) / 1024


def test_what_the_tests_hold_is_no_memory_of_what_they_start(tmp_path: Path) -> None:
    held = bytearray(b"x") * (400 << 20)
    assert measured([sys.executable, "-c", "pass"], tmp_path)[3] < 100
    assert measured([sys.executable, "-c", "bytearray(b'x') * (200 << 20)"], tmp_path)[3] > 200
    assert held[-1] == ord("x")


def test_a_good_one_is_judged_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "bundle.zip"
    file.write_bytes(packed())
    code, out, err, memory_mb = measured([*COMMAND, "replay", str(file)], tmp_path)
    assert (code, err) == (1, "")
    assert "tf-wheel-runpath-gap" in out
    assert memory_mb < MOST_MB


def test_a_collection_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "collected.txt"
    mark = "gpudoctor-collection"
    values = ",".join(["[]"] * 900_000)
    file.write_text(f'{mark} collection {{"version": 1}}\n{mark} x [{values}]\n')
    code, _, err, memory_mb = measured([*COMMAND, "replay", str(file)], tmp_path)
    assert code == 2
    assert "values in it" in err
    assert memory_mb < MOST_MB


def test_a_zip_on_standard_input() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*COMMAND, "replay", "-", "--format", "oneline"], input=packed(), env=env, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"tf-wheel-runpath-gap" in done.stdout
    assert "no report" in one_line(gpudoctor("replay", sys.executable))


def test_it_is_a_reason_of_its_own() -> None:
    assert issubclass(NotAnArchive, bundle.NotAReport)
