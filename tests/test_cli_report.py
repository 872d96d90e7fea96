"""`gpudoctor report`: one file for a ticket."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from gpudoctor import api, attachments, bundle, cli_report, recorded, redact
from gpudoctor.redact import Identity
from gpudoctor.render import json as as_json
from gpudoctor.terminal import OutputError
from tests.eight import eight
from tests.running import COMMAND, ROOT, gpudoctor, one_line

HOSTS = ROOT / "tests" / "hosts"
GAP = HOSTS / "h200-x2-tf-2.21-plain.json"
QUICK = ("report", "--level", "quick", "--no-trials", "--python", sys.executable)
NAME = re.compile(r"gpudoctor-\d{4}-\d\d-\d\d-[0-9a-f]{8}\.zip")
FILES = ["report.json", "report.md", "report.html"]
SECRETS = {
    "user": "zorvald", "host": "node-quell7", "password": "Tr4fo-lampe9x", "index": "9Kl-mnp0qrs", "uuid": "6f1c2a9e-77aa-4b2d-9e10-5c1f0d3b8a21",
    "serial": "1654922006599", "address": "10.44.3.17", "mac": "0c:42:a1:5e:77:f3", "mail": "zorvald@fjord-lab.org", "token": "ghp_" + "a9Zk3Lm0Qw" * 4,
}  # fmt: skip
SMI = """#!/bin/sh
case "$1" in
-q) cat <<'END'
    Product Name                          : NVIDIA H200
    Serial Number                         : {serial}
    GPU UUID                              : GPU-{uuid}
    Processes
        Process ID                        : 4711
            Name                          : python3 train.py --user-name olaf --key=hvem {password}
END
echo "on $(hostname) for {mail}, {address}, {mac}, node {host}.fjord-lab.org" ;;
*) echo "GPU0 X NV18"; echo "{token}" >&2; exit 9 ;;
esac
"""


def fake(directory: Path, text: str) -> dict[str, str]:
    """Variables with a program called nvidia-smi on the path."""
    directory.mkdir(exist_ok=True)
    program = directory / "nvidia-smi"
    program.write_text(text)
    program.chmod(0o755)
    return {"PATH": f"{directory}{os.pathsep}{os.environ['PATH']}"}


def unpacked(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_of_this_machine(tmp_path: Path) -> None:
    home, place = tmp_path / "home" / SECRETS["user"], tmp_path / "place"
    home.mkdir(parents=True)
    place.mkdir()
    env = {
        **fake(tmp_path / "bin", SMI.format(**SECRETS)),
        "HOME": str(home),
        "USER": SECRETS["user"],
        "LD_LIBRARY_PATH": f"{home}/lib",
        "TRAINING_DB_PASSWORD": SECRETS["password"],
        "NCCL_TEXT": f"psql://svc:{SECRETS['password']}@{SECRETS['address']}/x {SECRETS['token']}",
        "PIP_INDEX_URL": f"https://deploy:{SECRETS['index']}@pypi.fjord-lab.org/simple",
    }
    done = gpudoctor(*QUICK, env=env, cwd=place)
    assert done.returncode in (0, 1, 3), done.stderr
    (file,) = place.iterdir()
    assert NAME.fullmatch(file.name)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"Written: {file.name} (" in done.stdout
    files = unpacked(file)
    assert list(files)[:3] == FILES
    assert list(files)[-2:] == ["redactions.json", "manifest.json"]
    assert "Product Name                          : NVIDIA H200" in files["nvidia-smi-q.txt"]
    assert re.search(r"Name +: python3 'secret [0-9a-f]+'|Name +: python3 secret[- ]", files["nvidia-smi-q.txt"])
    assert "GPU0 X NV18" in files["nvidia-smi-topo.txt"]
    assert "(nvidia-smi ended with exit code 9)" in files["nvidia-smi-topo.txt"]
    assert "index-url" in files["pip-config.txt"]
    assert "msgspec" in files["pip-list.txt"]
    assert "LD_LIBRARY_PATH=" in files["environment.txt"]
    for name, text in [*files.items(), ("the terminal", done.stderr)]:
        assert {kind: one for kind, one in SECRETS.items() if one.lower() in text.lower()} == {}, name

    told = json.loads(files["redactions.json"])
    assert told["redacted"] is True
    for one in told["tokens"]:
        assert one["count"] == sum(files[name].count(one["token"]) for name in one["files"])
    assert {"user", "secret", "serial", "gpu-uuid", "address"} <= {
        one["kind"] for one in told["tokens"] if one["count"]
    }
    judged = recorded.load(file)
    assert api.judged(judged).diagnosis.verdict == json.loads(files["report.json"])["diagnosis"]["verdict"]
    assert gpudoctor("replay", str(file), "--format", "json").stdout == files["report.json"]


def test_what_hangs_or_is_missing_is_said(tmp_path: Path) -> None:
    env = fake(tmp_path / "bin", "#!/bin/sh\nexec sleep 100\n")
    began = time.monotonic()
    done = gpudoctor(*QUICK, "--timeout", "2", "-o", str(tmp_path / "x.zip"), env=env)
    assert time.monotonic() - began < 40
    assert done.returncode in (0, 1, 3), done.stderr
    missing = {one["name"]: one["why"] for one in json.loads(unpacked(tmp_path / "x.zip")["manifest.json"])["missing"]}
    assert re.fullmatch(r"nvidia-smi did not end within 2\S* s and was killed", missing["nvidia-smi-q.txt"])
    assert "tensorflow-log.txt" not in missing


def test_without_its_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = bundle.recorded(GAP.read_bytes()).facts
    found, left = attachments.made(facts, here=False)
    assert {one.name: one.why for one in left if "nvidia" in one.name} == dict.fromkeys(
        ("nvidia-smi-q.txt", "nvidia-smi-topo.txt"), "there is no nvidia-smi"
    )
    assert {one.name for one in found} <= {"kernel-log.txt"}


def test_a_long_output_is_cut_between_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", fake(tmp_path, "#!/bin/sh\nseq 1000000 1400000\n")["PATH"])
    found, _ = attachments.made(bundle.recorded(GAP.read_bytes()).facts, here=False)
    text = next(one.text for one in found if one.name == "nvidia-smi-q.txt")
    assert len(text) <= (256 << 10) + 100
    first, gap, last = re.split(r"(\.\.\. \d+ bytes left out \.\.\.\n)", text)
    assert gap
    assert first.startswith("1000000\n")
    assert last.endswith("1400000\n")
    assert all(len(line) == 7 for line in (first + last).splitlines())


# ------------------------------------------------------------------------------- of a recorded report


@pytest.mark.parametrize("host", ["h200-x2-tf-2.21-plain", "h200-x4-healthy-full", "h100-x1-healthy-user"])
def test_a_recorded_report(host: str, tmp_path: Path) -> None:
    done = gpudoctor("report", str(HOSTS / f"{host}.json"), cwd=tmp_path)
    (file,) = tmp_path.iterdir()
    files = unpacked(file)
    assert list(files)[:3] == FILES
    assert "nvidia-smi-q.txt" not in files
    assert json.loads(files["manifest.json"])["missing"] == []
    report = api.replay(HOSTS / f"{host}.json")
    assert done.returncode == bundle.exit_code(report, "warn")
    for cause in (r.cause for r in report.diagnosis.root_causes):
        assert all(cause in files[name] for name in FILES)
    # the same report gives the same file, which is there already
    data = file.read_bytes()
    assert gpudoctor("report", str(HOSTS / f"{host}.json"), cwd=tmp_path).returncode == done.returncode
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [data]


@pytest.mark.parametrize(("format", "begins"), [("html", "<!doctype html>"), ("md", "## ✗"), ("json", "{")])
def test_one_file(format: str, begins: str, tmp_path: Path) -> None:
    done = gpudoctor("report", str(GAP), "--format", format, cwd=tmp_path)
    (file,) = tmp_path.iterdir()
    assert (done.returncode, file.suffix) == (1, f".{format}")
    assert file.read_text().lower().startswith(begins)
    assert "tf-wheel-runpath-gap" in file.read_text()
    done = gpudoctor("report", str(GAP), "--format", format, "--stdout", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, file.read_text())


def test_a_zip_into_a_pipe() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*COMMAND, "report", str(GAP), "--stdout"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert recorded.read(done.stdout).answer is not None


def on_a_terminal(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Exit code and all that is shown, where both streams are a terminal."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    with subprocess.Popen([*COMMAND, *arguments], env=env, cwd=cwd, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:  # it has ended
                break
            shown += block
    os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def test_a_zip_is_nothing_for_a_terminal(tmp_path: Path) -> None:
    code, shown = on_a_terminal("report", str(GAP), "--stdout", cwd=tmp_path)
    assert code == 2
    assert shown.count("\n") == 1
    assert "a zip is nothing for a terminal" in shown
    code, shown = on_a_terminal("report", str(GAP), "--stdout", "--format", "md", cwd=tmp_path)
    assert code == 1
    assert shown.startswith("## ✗")


def test_what_was_replaced_is_shown_on_the_terminal_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(GAP.read_text().replace("/opt/site", "/home/gretchen/site"))
    code, shown = on_a_terminal("report", str(kept), "--show-redactions", "-o", "x.zip", cwd=tmp_path)
    assert code == 1
    assert re.search(r"^home +user-[0-9a-f]+ +\d+  gretchen$", shown, re.MULTILINE)
    assert not any("gretchen" in text for text in unpacked(tmp_path / "x.zip").values())
    done = gpudoctor("report", str(kept), "--show-redactions", "-o", str(tmp_path / "y.zip"))
    assert done.returncode == 2
    assert "writes to a terminal only" in one_line(done)
    assert not (tmp_path / "y.zip").exists()


def test_names_stay_where_that_is_typed_out(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(GAP.read_text().replace("/opt/site", "/home/gretchen/site"))
    done = gpudoctor("report", str(kept), "--no-redact", "-o", str(tmp_path / "x.zip"))
    assert one_line(done).startswith("gpudoctor: --no-redact: names")
    files = unpacked(tmp_path / "x.zip")
    assert all("gretchen" in files[name] for name in FILES)
    assert json.loads(files["redactions.json"]) == {"redacted": False, "tokens": []}


# ------------------------------------------------------------------------------- where it is written


def test_nothing_is_overwritten_and_nothing_is_left(tmp_path: Path) -> None:
    taken = tmp_path / "taken.zip"
    taken.write_text("mine")
    done = gpudoctor("report", str(GAP), "-o", str(taken))
    assert done.returncode == 2
    assert "exists already" in one_line(done)
    done = gpudoctor("report", str(GAP), "-o", str(tmp_path / "no" / "x.zip"))
    assert done.returncode == 2
    assert "can't write" in one_line(done)
    assert gpudoctor("report", str(GAP), "-o", "x.zip", "--stdout", cwd=tmp_path).returncode == 2
    assert gpudoctor("report", str(tmp_path / "none.json"), cwd=tmp_path).returncode == 2
    assert gpudoctor("report", "--in", "true", cwd=tmp_path).returncode == 3
    assert gpudoctor("report", "--in", "x", "--pid", "1", cwd=tmp_path).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["taken.zip"]
    assert taken.read_text() == "mine"


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); import sys; from gpudoctor import cli; sys.exit(cli.run(sys.argv[1:]))"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code, "report", str(GAP)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 3
    assert "can't write to" in one_line(done)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_into_being_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"theirs")
    with pytest.raises(OutputError, match="meanwhile"):
        cli_report.written(b"ours", path)
    assert path.read_bytes() == b"theirs"
    assert not cli_report.written(b"theirs", path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.zip"]


# ------------------------------------------------------------------------------- eight GPUs


def test_eight_gpus_are_less_than_a_megabyte() -> None:
    report = bundle.make(eight(), "2026-11-22T00:00:00+00:00")
    assert report.diagnosis.verdict == "healthy"
    lines = "".join(f"        Clock {n} : {n * 7919 % 99991} MHz, {n * 104729 % 999983}\n" for n in range(6_000))
    raw = [
        attachments.Attachment("nvidia-smi-q.txt", "", lines),
        attachments.Attachment("kernel-log.txt", "", lines[: 64 << 10]),
    ]
    leaves = redact.together(report, [one.text for one in raw], Identity(), key=b"of the tests")
    files = cli_report.rendered_files(leaves.report, None, "warn", recorded=False)
    packed = cli_report.zipped(leaves, files, raw, [])
    assert len(lines) > 200_000
    assert len(packed) < 1_000_000
    began = time.monotonic()
    again = api.judged(recorded.read(packed))
    assert time.monotonic() - began < 5  # a loaded machine; benchmarks.replay has the figure
    assert again.diagnosis.verdict == "healthy"
    assert len(unpacked_bytes(packed)) == 7


def unpacked_bytes(packed: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return archive.namelist()


def test_many_replays_take_no_more_memory_than_a_few() -> None:
    data = as_json.render(bundle.make(eight(), "2026-11-22T00:00:00+00:00")).encode()

    def replays(count: int) -> int:
        for _ in range(count):
            api.judged(recorded.read(data))
        return int(psutil.Process().memory_info().rss)

    before = replays(8)
    assert replays(30) - before < 6 << 20  # thirty reports that are kept take 13 MB
