"""gpudoctor diff, baseline and check --against, as a user runs them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import baseline, bundle, cli_diff
from gpudoctor.cli_options import without_value
from gpudoctor.render import rendered
from gpudoctor.terminal import Format, UsageError
from tests.compare.pairs import lost
from tests.factory import healthy, measured
from tests.running import ROOT, gpudoctor, one_line

HOSTS = ROOT / "tests" / "hosts"
OLD, NEW = HOSTS / "h200-x2-tf-2.21-plain.json", HOSTS / "h200-x2-tf-2.21-plain-cvd-minus-1.json"


def kept(path: Path, facts: Any) -> Path:
    path.write_text(rendered(bundle.make(facts, "2026-11-21T00:00:00+00:00"), "json"))
    return path


# ------------------------------------------------------------------------------- diff


def test_worse_and_better_and_the_same() -> None:
    done = gpudoctor("diff", str(OLD), str(NEW))
    assert (done.returncode, done.stderr) == (1, "")
    assert "Most likely because of variable CUDA_VISIBLE_DEVICES: nothing → -1." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("✗ Worse than before: 2 new findings: cuda-visible-devices-empty")
    done = gpudoctor("diff", str(NEW), str(OLD))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("✓ Better than before: 2 findings less")


def test_json_and_a_file(tmp_path: Path) -> None:
    out = tmp_path / "diff.json"
    done = gpudoctor("diff", str(OLD), str(NEW), "--format", "json", "-o", str(out))
    assert (done.returncode, done.stdout) == (1, "")
    made = json.loads(out.read_text())
    assert (made["verdict"], made["hosts"], made["basis"]) == ("worse", "same", "report")


def test_several_old_ones(tmp_path: Path) -> None:
    slow = kept(tmp_path / "slow.json", measured(healthy(), "matmul-float32", "GPU:1", value=38.0, samples=(38.0,) * 3))
    new = kept(tmp_path / "new.json", measured(healthy(), "matmul-float32", "GPU:1", value=39.0, samples=(39.0,) * 3))
    old = kept(tmp_path / "old.json", healthy())
    assert cli_diff.command([old, new]) == 1
    assert cli_diff.command([slow, old, new]) == 0


def test_names_leave_only_where_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = OLD.read_text().replace("/opt/site", "/home/gretchen/site")
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(text)
    new.write_text(text.replace("/home/gretchen/site/tensorflow", "/home/gretchen/other/tensorflow"))

    def printed(*, format: Format, redact: bool) -> str:
        cli_diff.command([old, new], format=format, redact=redact, verbose=True)
        return capsys.readouterr().out

    hidden = printed(format=Format.JSON, redact=True)
    assert json.loads(hidden)["changes"]
    assert "gretchen" not in hidden
    assert "gretchen" in printed(format=Format.JSON, redact=False)
    assert "gretchen" in printed(format=Format.TEXT, redact=True)


@pytest.mark.parametrize(
    ("files", "output", "said"),
    [
        ((OLD,), None, "two reports"),
        ((OLD, HOSTS / "none.json"), None, "No such file"),
        ((Path("-"), Path("-")), None, "once only"),
        ((OLD, ROOT / "README.md"), None, "no report"),
        ((OLD, NEW), HOSTS / "none" / "x", "can't write"),
    ],
)
def test_wrong_usage(files: tuple[Path, ...], output: Path | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cli_diff.command(list(files), output=output)


def test_wrong_usage_is_one_line_and_two() -> None:
    done = gpudoctor("diff", str(OLD), str(HOSTS / "none.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such file" in one_line(done)


def test_standard_input(tmp_path: Path) -> None:
    done = gpudoctor("diff", "-", str(NEW), "--format", "oneline", prefix=("sh", "-c", f'exec "$@" < {OLD}', "sh"))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("gpudoctor: worse: cuda-visible-devices-empty (GD121) and 1 more; variable CUDA_VISI")


# ------------------------------------------------------------------------------- baseline


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter in which nothing is installed: it is examined quickly."""
    place = tmp_path_factory.mktemp("bare") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    return str(place / "bin" / "python3")


@pytest.fixture(scope="module")
def state(bare: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where this machine's baseline is kept, and one in it of two runs."""
    place = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    python = ("--python", bare)
    done = gpudoctor("baseline", "save", "--force", *python, env=place)
    assert done.returncode == 0, done.stderr
    assert "1 run, " in done.stdout
    done = gpudoctor("baseline", "save", "--add", "--force", *python, env=place)
    assert done.returncode == 0, done.stderr
    assert "2 runs, " in done.stdout
    return place


def test_what_is_kept(state: dict[str, str]) -> None:
    file = Path(state["XDG_STATE_HOME"], "gpudoctor", "baseline.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [p.name for p in file.parent.iterdir()] == ["baseline.json"]
    assert len(baseline.further(file)) == 1
    done = gpudoctor("baseline", "show", env=state)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(file) in done.stdout
    assert "measured again 20" in done.stdout
    assert gpudoctor("replay", str(file), "--format", "oneline").stdout.startswith("gpudoctor: ")


def test_check_against_it(bare: str, state: dict[str, str]) -> None:
    """On a machine that has not changed nothing is worse; what is wrong with it is still found."""
    check = ("check", "--level", "quick", "--python", bare)
    done = gpudoctor(*check, "--against", env=state)
    assert "the baseline of 20" in done.stdout
    assert "(2 runs) → " in done.stdout
    assert done.stdout.splitlines()[-1].lstrip("✓· ").startswith(("The same as", "Not worse than", "Better than"))
    assert done.returncode == gpudoctor(*check, env=state).returncode
    done = gpudoctor(*check, "--format", "json", "--against", env={**state, "CUDA_VISIBLE_DEVICES": ""})
    made = json.loads(done.stdout)
    assert made["comparison"]["basis"] == "baseline"
    assert [c["id"] for c in made["comparison"]["changes"]][:1] == ["environment.variables:CUDA_VISIBLE_DEVICES"]


def test_against_any_report_of_another_host(bare: str, tmp_path: Path) -> None:
    other = kept(tmp_path / "other.json", healthy())
    done = gpudoctor("check", "--level", "quick", "--python", bare, "--against", str(other), "--format", "json")
    made = json.loads(done.stdout)["comparison"]
    assert made["hosts"] != "same"
    assert (made["verdict"] == "worse") == bool(made["new_findings"] or made["losses"])
    assert done.returncode == (1 if made["verdict"] == "worse" else done.returncode)


def test_without_a_baseline_nothing_begins(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    done = gpudoctor("check", "--against", "--format", "oneline", env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert "gpudoctor baseline save keeps one" in one_line(done)
    assert gpudoctor("baseline", "save", "--add", env=env).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_is_wrong_is_not_kept(bare: str, tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": "-1"}
    done = gpudoctor("baseline", "save", "--python", bare, env=env)
    assert done.returncode in (1, 3)
    assert "--force keeps it all the same" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_runs_are_bounded_and_the_file_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "state" / "b.json"
    report = bundle.make(healthy(), "2026-11-21T00:00:00+00:00")
    runs = tuple(baseline.Run(started_at=str(n), measurements=report.measurements[:1]) for n in range(60))
    baseline.keep(file, report, runs)
    assert [run.started_at for run in baseline.further(file)] == [str(n) for n in range(10, 60)]
    assert bundle.read(file.read_bytes())[0] == report.seen
    link = tmp_path / "link.json"
    link.symlink_to(file)
    baseline.keep(link, report)
    assert link.is_symlink()
    assert baseline.further(file) == ()
    with pytest.raises(baseline.CannotKeep, match="no ordinary file"):
        baseline.keep(tmp_path, report)
    with pytest.raises(baseline.CannotKeep, match="can't write"):
        baseline.keep(file / "x", report)
    assert [p.name for p in file.parent.iterdir()] == ["b.json"]


def test_a_baseline_from_a_stranger(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    made = json.loads(rendered(bundle.make(healthy(), "2026-11-21T00:00:00+00:00"), "json"))
    for runs in (
        5,
        [5],
        [{"started_at": 5, "measurements": []}],
        [{"started_at": "x", "measurements": [{"kernel": 3}]}],
    ):
        file.write_text(json.dumps({**made, "runs": runs}))
        done = gpudoctor("diff", str(file), str(file))
        assert (done.returncode, done.stdout) == (2, "")
        one_line(done)


def test_the_noise_of_a_baseline_counts(tmp_path: Path) -> None:
    file, report = tmp_path / "b.json", bundle.make(healthy(), "2026-11-21T00:00:00+00:00")
    slow = measured(healthy(), "matmul-float32", "GPU:1", value=37.0, samples=(37.0,) * 3)
    now = kept(tmp_path / "now.json", measured(healthy(), "matmul-float32", "GPU:1", value=39.0, samples=(39.0,) * 3))
    baseline.keep(file, report)
    assert cli_diff.command([file, now]) == 1
    baseline.keep(file, report, (baseline.Run(started_at="x", measurements=slow.measurements),))
    assert cli_diff.command([file, now]) == 0


def test_a_lost_gpu_ends_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = kept(tmp_path / "old.json", healthy()), kept(tmp_path / "new.json", lost(healthy()))
    assert cli_diff.command([old, new], format=Format.ONELINE) == 1
    said = "gpudoctor: worse: lost: GPU 1 (0000:00:07.0) NVIDIA H200: known: on the bus"
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["check", "--against"], ["check", "--against="]),
        (["check", "--against", "-v"], ["check", "--against=", "-v"]),
        (["check", "--against", "x.json", "-v"], ["check", "--against", "x.json", "-v"]),
        (["check", "--against=x.json"], ["check", "--against=x.json"]),
        (["run", "--", "prog", "--against"], ["run", "--", "prog", "--against"]),
        ([], []),
    ],
)
def test_against_may_stand_without_a_value(typed: list[str], read: list[str]) -> None:
    assert without_value(typed) == read


def test_the_readme_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text()
    shown = text.partition("    $ gpudoctor diff ")[2].partition("\n\nA figure is slower")[0]
    old, new = shown.splitlines()[0].split()
    assert cli_diff.command([ROOT / old, ROOT / new]) == 1
    printed = capsys.readouterr().out.splitlines()
    lines = [line.removeprefix("    ") for line in shown.splitlines()[1:]]
    assert [line for line in lines if line.strip("… ") and line not in printed] == []
    assert len(lines) > 10


def test_fewer_gpus_in_tensorflow_are_worse_whatever_the_reason(tmp_path: Path) -> None:
    """By a variable, too: no check finds fault with what somebody set."""
    old, new = HOSTS / "h200-x4-healthy.json", tmp_path / "new.json"
    seen = json.loads(old.read_text())
    seen["facts"]["tensorflow"]["devices"] = seen["facts"]["tensorflow"]["devices"][:2]
    new.write_text(json.dumps(seen))
    done = gpudoctor("diff", str(old), str(new))
    assert done.returncode == 1
    assert "TensorFlow lists 1 GPU, 4 before" in done.stdout
    back = gpudoctor("diff", str(new), str(old))
    assert back.returncode == 0


def test_what_could_not_be_looked_at_now_is_not_less(tmp_path: Path) -> None:
    old = HOSTS / "h200-x2-tf-2.21-plain.json"
    report = json.loads(old.read_text())
    for name in ("libraries", "tensorflow"):
        report["facts"].pop(name)
    (tmp_path / "new.json").write_text(json.dumps(report))
    done = gpudoctor("diff", str(old), str(tmp_path / "new.json"))
    assert "could not be looked at now" in done.stdout
    assert "finding less" not in done.stdout
