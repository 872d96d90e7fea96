"""The spread of figures over many runs: stand-ins for gpudoctor print what it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import spread
from gpudoctor import bundle, registry
from gpudoctor.cli_bench import SUBJECTS
from gpudoctor.facts import Facts, Unread
from gpudoctor.render import bench
from tests.factory import healthy, measured, with_

Host = Callable[..., list[str]]


def printed(facts: Facts) -> str:
    """What `gpudoctor bench --format json` prints."""
    native = tuple(m for m in facts.measurements if not m.in_tensorflow)
    made = bundle.make(with_(facts, measurements=native), "2026-11-21T00:00:00+00:00", registry.select(SUBJECTS))
    return bench.json(made, None)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """Makes a command that prints one of `runs` after the other, and `check` a report with a verdict and causes."""

    def made(*runs: str, verdict: str = "healthy", findings: tuple[tuple[str, str], ...] = ()) -> list[str]:
        for number, text in enumerate(runs):
            (tmp_path / f"run{number}").write_text(text)
        report = {
            "diagnosis": {"verdict": verdict},
            "findings": [{"cause": cause, "level": level} for cause, level in findings],
        }
        (tmp_path / "report").write_text(json.dumps(report))
        program = tmp_path / "gpudoctor"
        program.write_text(
            f"""#!{sys.executable}
import pathlib, sys
place = pathlib.Path({str(tmp_path)!r})
with (place / "asked").open("a") as f:
    print(*sys.argv[1:], file=f)
if sys.argv[1] == "check":
    sys.stdout.write((place / "report").read_text())
else:
    done = (place / "asked").read_text().count("bench") - 1
    text = (place / f"run{{done % {len(runs)}}}").read_text()
    sys.stdout.write(text)
    sys.exit(1 if not text else 0)
"""
        )
        program.chmod(0o755)
        return ["--bench", str(program), "--runs", str(len(runs))]

    return made


def row(out: str, beginning: str) -> list[str]:
    (line,) = [line for line in out.splitlines() if line.startswith(f"| {beginning} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_spread_is_that_of_one_gpu_over_the_runs(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for first, second in ((600.0, 700.0), (606.0, 700.0), (612.0, 700.0)):
        facts = measured(healthy(), "matmul-float16", "GPU:0", value=first)
        runs.append(printed(measured(facts, "matmul-float16", "GPU:1", value=second)))
    assert spread.main([*host(*runs), "--quick", "--python", "/opt/py", "--json", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2x NVIDIA H200, driver 580.159.04, 2026-11-21; 3 runs of `gpudoctor bench --quick`.\n")
    assert row(out, "matmul-float16 8192") == ["matmul-float16 8192", "GPU:0,1", "656 TFLOP/s", "600", "700", "2.0%"]
    assert row(out, "copy-pair 256 MiB")[1:3] == ["GPU:0,1", "394.5 GB/s"]
    assert row(out, "all-reduce float32 1 GiB")[-1] == "0.0%"
    assert row(out, "a whole run of bench")[2].endswith(" s")
    assert out.splitlines()[-1] == "Warnings: none in 3 runs."
    assert set((tmp_path / "asked").read_text().splitlines()) == {"bench --quick --format json --python /opt/py"}
    kept = json.loads((tmp_path / "kept").read_text())
    (one,) = [f for f in kept["figures"] if f["figure"] == "matmul-float16 8192"]
    assert one["values"] == {"GPU:0": [600.0, 606.0, 612.0], "GPU:1": [700.0] * 3}


def test_what_was_warned_of_is_counted_in_runs(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    slow = printed(measured(healthy(), "matmul-float32", "GPU:1", value=25.0))
    died = Unread(why="it was ended by signal 9")
    failed = printed(measured(healthy(), "copy-inside", "GPU:0", value=died, verified=died, samples=died))
    assert spread.main(host(printed(healthy()), slow, slow, failed)) == 1
    out = capsys.readouterr().out
    assert "* in 2 of 4 runs: matmul-float32 on GPU:1: low" in out
    assert "* in 1 of 4 runs: copy-inside on GPU:0 failed: it was ended by signal 9" in out
    assert "Warnings: none" not in out


def test_less_than_usual_is_no_warning(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    facts = measured(healthy(), "matmul-float16", "GPU:0", value=500.0)
    facts = measured(facts, "matmul-float16", "GPU:1", value=500.0)
    assert spread.main(host(printed(facts))) == 0
    out = capsys.readouterr().out
    assert "Warnings: none in 1 runs." in out
    assert "* in 1 of 1 runs: matmul-float16 on GPU:0: info" in out


def test_a_run_without_figures_is_a_warning(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert spread.main(host(printed(healthy()), "")) == 1
    got = capsys.readouterr()
    assert "2 runs of" in got.out
    assert "* in 1 of 2 runs: gpudoctor exit 1: no output" in got.out
    assert "run 2: gpudoctor exit 1: no output" in got.err
    assert spread.main(host("", "")) == 3
    assert capsys.readouterr().out == "no run gave figures\n"


@pytest.mark.parametrize(
    ("verdict", "findings", "code", "words"),
    [
        ("healthy", (("persistence-mode-off", "info"),), 0, "healthy 2."),
        ("warning", (("gpu-outlier", "warn"),), 1, "* in 2 of 2 runs: check: gpu-outlier"),
        ("unknown", (), 1, "unknown 2."),
    ],
)
def test_verdicts_of_check(
    host: Host,
    capsys: pytest.CaptureFixture[str],
    verdict: str,
    findings: tuple[tuple[str, str], ...],
    code: int,
    words: str,
) -> None:
    text = printed(healthy())
    assert spread.main([*host(text, text, verdict=verdict, findings=findings), "--check"]) == code
    assert words in capsys.readouterr().out
