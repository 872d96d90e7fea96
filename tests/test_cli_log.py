"""`gpudoctor log` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gpudoctor.render.log import verdict
from tests.logs.judged import judged
from tests.running import COMMAND, ROOT, gpudoctor, one_line

LOGS = ROOT / "tests" / "logs"
FAULTY, OPEN, HEALTHY = (LOGS / "h200" / f"{name}.log" for name in ("cvd-empty", "plain-pip", "healthy"))


@pytest.mark.parametrize(
    ("file", "code", "ending"),
    [
        (FAULTY, 1, "Cause: cuda-visible-devices-empty"),
        (OPEN, 1, "Not decided by this text: tf-wheel-runpath-gap, or one of "),
        (HEALTHY, 0, "✓ Nothing wrong in this text."),
    ],
)
def test_an_answer(file: Path, code: int, ending: str) -> None:
    done = gpudoctor("log", str(file))
    assert done.stdout.splitlines()[-1].startswith(ending)
    assert done.stderr == ""
    assert done.returncode == code


WORDS = "A short question\n\nHello, my colleague sees the letters of the page upside down. What did we do, please?\n"
HARMLESS = f"{WORDS}WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"


@pytest.mark.parametrize(
    ("text", "ending"), [(WORDS, "Not decided by this text: no program's line in it"), (HARMLESS, "✓ Nothing wrong")]
)
def test_of_words_that_tell_nothing_it_does_not_say_that_nothing_is_wrong(
    text: str, ending: str, tmp_path: Path
) -> None:
    (tmp_path / "words.txt").write_text(text)
    done = gpudoctor("log", str(tmp_path / "words.txt"))
    assert done.stdout.splitlines()[-1].startswith(ending)
    assert done.returncode == 0


def test_the_plain_call_says_what_the_whole_command_line_says() -> None:
    quick = gpudoctor("log", str(FAULTY), "-v")
    whole = gpudoctor("log", "--format", "text", "-v", str(FAULTY))
    assert (quick.stdout, quick.returncode) == (whole.stdout, whole.returncode)


@pytest.mark.parametrize("words", [(), ("-",), ("-v", "-")])
def test_standard_input(words: tuple[str, ...]) -> None:
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*COMMAND, "log", *words], input=FAULTY.read_bytes(), capture_output=True, check=False, env=path, cwd=ROOT
    )
    assert done.returncode == 1
    assert b"Cause: cuda-visible-devices-empty" in done.stdout


def test_json_says_the_same_and_is_replayed(tmp_path: Path) -> None:
    kept = tmp_path / "report.json"
    done = gpudoctor("log", str(FAULTY), "--format", "json", "-o", str(kept))
    assert (done.returncode, done.stdout) == (1, "")
    report = json.loads(kept.read_text())
    assert [r["cause"] for r in report["diagnosis"]["root_causes"]] == ["cuda-visible-devices-empty"]
    assert report["facts"]["text"]["lines"] == len(FAULTY.read_text().splitlines())
    again = gpudoctor("replay", str(kept))
    assert again.returncode == 1
    assert again.stdout == gpudoctor("log", str(FAULTY)).stdout


def test_names_and_homes_leave_json_only_where_asked(tmp_path: Path) -> None:
    text = tmp_path / "t.log"
    text.write_text(
        'ImportError: libcublas.so.9.0: cannot open shared object file\n  File "/home/gretchen/x.py", line 3\n'
    )
    assert "gretchen" not in gpudoctor("log", str(text), "--format", "json").stdout
    text.write_text(FAULTY.read_text() + "Traceback\nImportError: /home/gretchen/x.so: undefined symbol: a\n")
    kept = gpudoctor("log", str(text), "--format", "json", "--no-redact").stdout
    assert json.loads(kept)["redactions"] is None


def test_a_file_to_write_to(tmp_path: Path) -> None:
    out = tmp_path / "answer.txt"
    done = gpudoctor("log", str(FAULTY), "-o", str(out))
    assert (done.returncode, done.stdout) == (1, "")
    assert out.read_text().endswith("Cause: cuda-visible-devices-empty\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"\x7fELF" + bytes(99), "is no text"), (None, "No such file"), ("directory", "directory")],
)
def test_what_can_not_be_read(content: bytes | str | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "given"
    if content == "directory":
        file.mkdir()
    elif isinstance(content, bytes):
        file.write_bytes(content)
    done = gpudoctor("log", str(file))
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in one_line(done)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_where_nothing_can_be_written() -> None:
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "log", str(FAULTY)], stdout=full, stderr=subprocess.PIPE, check=False, env=path, cwd=ROOT
        )
    assert done.returncode == 3
    assert done.stderr.decode().count("\n") == 1
    closed = (
        f"import os, sys, runpy; os.close(1); sys.stdout = None; sys.argv = ['gpudoctor', 'log', {str(FAULTY)!r}]; "
    )
    run = "runpy.run_module('gpudoctor', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", closed + run], stderr=subprocess.PIPE, check=False, env=path, cwd=ROOT)
    assert done.returncode == 3
    assert b"standard output is closed" in done.stderr


def test_nobody_reads() -> None:
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*COMMAND, "log", str(FAULTY)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=path, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read().decode()
        assert process.wait(60) == 3
    assert "closed before" in said
    assert "Traceback" not in said


def test_escapes_of_the_text_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    text = tmp_path / "t.log"
    text.write_text(FAULTY.read_text().replace("no CUDA-capable", "no\x1b]0;title\x07 \x1b[2J\u202eCUDA-capable"))
    done = gpudoctor("log", str(text))
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_a_likely_cause_says_that_it_is_not_proven(tmp_path: Path) -> None:
    text = "The machine restarts by itself\n\nWhenever I train on the GPU the machine restarts. What can I do?\nThanks!\n\n"
    pasted = tmp_path / "post.txt"
    pasted.write_text(text)
    done = gpudoctor("log", str(pasted))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[-1] == "Likely cause, not proven by this text: psu-insufficient"
    assert any("If it is not that, these fit as well." in line for line in lines)
    assert "xid79-fell-off-bus" in done.stdout


def test_what_takes_long_to_import_is_left_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gpudoctor", "log", str(FAULTY)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "msgspec" in imported
    assert not imported & {
        "dataclasses",
        "inspect",
        "statistics",
        "typer",
        "rich",
        "pynvml",
    }  # inspect: by typing_extensions


def test_the_last_line_names_a_cause_once() -> None:
    """Two findings of one cause."""
    report = judged(FAULTY.read_text())
    (root,) = report.diagnosis.root_causes
    twice = msgspec.structs.replace(report.diagnosis, root_causes=(root, root))
    assert verdict(msgspec.structs.replace(report, diagnosis=twice)).plain == f"Cause: {root.cause}"
