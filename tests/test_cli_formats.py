"""Formats for others, as a user asks for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.render import rendered
from gpudoctor.terminal import Format, OutputError, UsageError, writer
from tests.render.parsed import READERS
from tests.running import ROOT, gpudoctor, one_line

HOSTS, LOGS = ROOT / "tests" / "hosts", ROOT / "tests" / "logs"
GAP, HEALTHY = HOSTS / "h200-x2-tf-2.21-plain.json", HOSTS / "h200-x2-healthy.json"
FORMATS = [f.value for f in Format if f.leaves]


@pytest.mark.parametrize("format", FORMATS)
def test_a_recorded_report(format: str) -> None:
    done = gpudoctor("replay", str(GAP), "--format", format)
    assert (done.returncode, done.stderr) == (1, "")
    assert READERS[format](done.stdout) == ("faulty", ["tf-wheel-runpath-gap"])
    done = gpudoctor("replay", str(HEALTHY), "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    assert READERS[format](done.stdout) == ("healthy", [])


@pytest.mark.parametrize("format", FORMATS)
def test_a_text(format: str) -> None:
    done = gpudoctor("log", str(LOGS / "h200" / "cvd-empty.log"), "--format", format)
    assert (done.returncode, done.stderr) == (1, "")
    assert READERS[format](done.stdout) == ("faulty", ["cuda-visible-devices-empty"])


@pytest.mark.parametrize("format", FORMATS)
def test_names_leave_only_where_that_is_asked_for(format: str, tmp_path: Path) -> None:
    text = GAP.read_text().replace("/opt/site", "/home/gretchen/site").replace('"NVIDIA H200"', '"gretchen@node7.corp"')
    kept = tmp_path / "report.json"
    kept.write_text(text)
    assert "gretchen" not in gpudoctor("replay", str(kept), "--format", format).stdout
    if format not in ("oneline", "prometheus"):  # which name no paths
        assert "gretchen" in gpudoctor("replay", str(kept), "--format", format, "--no-redact").stdout
    assert "gretchen" in gpudoctor("replay", str(kept)).stdout


def test_of_this_machine(tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "FORCE_COLOR": "1"}
    done = gpudoctor("check", "--level", "quick", "--format", "github", "--python", sys.executable, env=env)
    verdict, causes = READERS["github"](done.stdout)
    assert verdict == {0: "healthy", 1: "faulty", 3: "unknown"}[done.returncode]
    assert bool(causes) == (done.returncode == 1)
    assert "\x1b" not in done.stdout
    assert not summary.exists()


def test_a_program_that_runs() -> None:
    done = gpudoctor("run", "--format", "oneline", "--", "sh", "-c", "echo mine; exit 5")
    assert (done.returncode, done.stdout) == (5, "mine\n")
    assert any(line.startswith("gpudoctor: ") for line in done.stderr.splitlines())


def test_without_the_extra_nothing_begins(tmp_path: Path) -> None:
    (tmp_path / "prometheus_client.py").write_text("raise ImportError\n")
    for command in (
        ("check",),
        ("log", str(LOGS / "h200" / "cvd-empty.log")),
        ("replay", str(GAP)),
        ("run", "--", "touch", "x"),
    ):
        words = [command[0], "--format", "prometheus", *command[1:]]
        done = gpudoctor(*words, env={"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert one_line(done).endswith("needs the package prometheus-client: pip install 'gpudoctor[prometheus]'")
    assert not (tmp_path / "x").exists()


# ------------------------------------------------------------------------------- a file that is read at any time


def test_the_file_of_prometheus_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file, link = tmp_path / "gpudoctor.prom", tmp_path / "link.prom"
    file.write_text("old\n")
    file.chmod(0o640)
    link.symlink_to(file)
    with file.open() as reader:
        assert gpudoctor("replay", str(GAP), "--format", "prometheus", "-o", str(link)).returncode == 1
        assert reader.read() == "old\n"
    assert READERS["prometheus"](file.read_text()).verdict == "faulty"
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_a_new_file_has_the_modes_of_others(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write = writer(tmp_path / "new.prom", Format.PROMETHEUS)
    assert write is not None
    write("a 1\n")
    assert (tmp_path / "new.prom").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_is_no_regular_file_is_written_to() -> None:
    done = gpudoctor("replay", str(GAP), "--format", "prometheus", "-o", "/dev/stderr")
    assert READERS["prometheus"](done.stderr).verdict == "faulty"


def test_a_file_that_can_not_be_replaced_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        writer(tmp_path / "none" / "x.prom", Format.PROMETHEUS)
    write = writer(tmp_path / "x.prom", Format.PROMETHEUS)
    assert write is not None
    (tmp_path / "x.prom").mkdir()
    with pytest.raises(OutputError):
        write("a 1\n")
    assert [p.name for p in tmp_path.iterdir()] == ["x.prom"]


# ------------------------------------------------------------------------------- what is not asked for costs nothing


def test_a_short_text_is_judged_without_the_other_formats() -> None:
    program = (
        "import sys; from gpudoctor import cli_log; code = cli_log.quick([sys.argv[1]]); "
        "print(sorted(m for m in sys.modules if m.startswith('gpudoctor.render')), 'rich' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(LOGS / "h200" / "cvd-empty.log")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == "['gpudoctor.render', 'gpudoctor.render.lines', 'gpudoctor.render.log'] False\n"


def test_an_unknown_format_is_wrong_usage() -> None:
    assert gpudoctor("replay", str(GAP), "--format", "pdf").returncode == 2
    with pytest.raises(ImportError):
        rendered(None, "pdf")  # type: ignore[arg-type]
