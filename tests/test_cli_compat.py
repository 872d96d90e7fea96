"""`gpudoctor compat`, end to end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.running import gpudoctor, one_line


def ask(*arguments: str) -> str:
    done = gpudoctor("compat", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_release_with_everything_and_its_source() -> None:
    text = ask("show", "2.21.0")
    for part in (
        "12.5.1",
        "sm_60",
        "PTX 8.5",
        "nvidia-cudnn-cu12",
        "[and-cuda]",
        "libcusolver.so.11",
        "wheel tensorflow 2.21.0",
        "Hazards",
    ):
        assert part in text
    assert "the package index" in " ".join(text.split())


def test_a_minor_release_is_its_newest_patch() -> None:
    assert ask("show", "2.17").startswith("TensorFlow 2.17.1\n(also known: 2.17.0)")


def test_a_package() -> None:
    assert "error stub" in ask("show", "tensorflow-gpu")


def test_an_old_release_is_as_documented() -> None:
    text = ask("show", "1.3.0")
    assert "tensorflow-gpu" in text
    assert "as documented" in text


def test_the_table() -> None:
    lines = ask("matrix").splitlines()
    assert lines[0].split()[0] == "release"
    assert sum(line.startswith("2.") for line in lines) >= 22
    assert sum(line.startswith("1.") for line in lines) >= 15
    assert len(ask("matrix", "--all").splitlines()) > len(lines)
    (row,) = [line for line in lines if line.startswith("2.20.0")]
    assert row.split() == ["2.20.0", "3.9-3.13", "12.5.1", "9", "6.0", "6.0-8.9", "(9.0)", "525.60.13", "yes"]


def test_solve_answers_with_one_reason_each_and_a_command() -> None:
    text = ask("solve", "--driver", "535.161.08", "--gpu", "H100", "--python", "3.11")
    assert "driver 535.161.08 (R535, CUDA 12.2)" in text
    assert "✗  2.21.0" in text
    assert "PTX 8.5" in text
    assert "Best: TensorFlow 2.16.2" in text
    assert "    python3.11 -m pip install 'tensorflow[and-cuda]==2.16.2'" in text


def test_solve_in_json_says_the_same() -> None:
    arguments = ("solve", "2.21", "2.20", "2.16", "--driver", "535.161.08", "--gpu", "H100", "--python", "3.11")
    got = json.loads(ask(*arguments, "--format", "json"))
    assert [(one["version"], one["verdict"]) for one in got["answers"]] == [
        ("2.21.0", "fails"),
        ("2.20.0", "fails"),
        ("2.16.2", "works"),
    ]
    assert got["best"] == "2.16.2"
    assert all(one["reason"]["source"] for one in got["answers"] if one["reason"])
    assert got["command"] in ask(*arguments)


def test_a_named_distribution() -> None:
    done = gpudoctor("compat", "solve", "tensorflow-gpu==2.12.0", "--gpu", "A100")
    assert done.returncode == 1
    assert "can't be installed" in done.stdout


def test_none_works() -> None:
    done = gpudoctor("compat", "solve", "--driver", "535.161.08", "--gpu", "K80")
    assert done.returncode == 1
    assert "None of these works there" in done.stdout


def test_this_machine() -> None:
    done = gpudoctor("compat", "solve", "2.20", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    got = json.loads(done.stdout)
    assert got["machine"]["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert got["machine"]["platform"].startswith("linux-")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("show", "9.9"), "is not known here; the newest"),
        (("show", "tensorflo"), "'tensorflo'"),
        (("solve", "--gpu", "RTX 9090"), "no GPU 'RTX 9090' is known here"),
        (("solve", "--driver", "new"), "--driver 'new'"),
        (("solve", "--python", "three"), "--python 'three'"),
        (("solve", "--platform", "beos"), "--platform 'beos'"),
        (("solve", "2.99", "--gpu", "H100"), "'2.99' is not known here"),
        (("solve", "--driver", "12.2", "--gpu", "H100"), "CUDA's version is another number"),
        (("solve", "--driver", ""), "--driver ''"),
        (("solve", "--python", "", "2.20"), "--python ''"),
        (("solve", "bogus==2.17", "--gpu", "H100"), "bogus is no package of TensorFlow"),
        (("solve", "tensorflow-macos==2.12", "--gpu", "H100"), "not recorded here"),
        (("solve", "2.17.0rc1", "--gpu", "H100"), "'2.17.0rc1' is not known here"),
        (("gpu", "Voodoo 2"), "no GPU 'Voodoo 2'"),
        (("xid", "999"), "Xid 999 is not known here"),
    ],
)
def test_wrong_questions(arguments: tuple[str, ...], word: str) -> None:
    done = gpudoctor("compat", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in one_line(done)


def test_a_gpu_and_an_xid() -> None:
    assert "compute capability 9.0 (Hopper)" in ask("gpu", "10de:2335")
    assert json.loads(ask("gpu", "RTX 4090", "--format", "json"))[0]["compute_capability"] == "8.9"
    assert "fallen off the bus" in ask("xid", "79")
    assert json.loads(ask("xid", "79", "--format", "json"))["code"] == 79


def test_the_version_does_not_read_the_knowledge() -> None:
    program = "import sys; sys.argv=['gpudoctor','--version']; from gpudoctor.__main__ import main; main(); print([m for m in sys.modules if 'compat' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("tensorflow[and-cuda]==2.16.1", ["2.16.1"]),
        ("TensorFlow==2.20.*", ["2.20.0"]),
        ("tensorflow>=2.18,<2.21", ["2.20.0", "2.19.1", "2.18.1"]),
        ("v2.17", ["2.17.1"]),
        ("tensorflow_gpu==2.10", ["2.10.1"]),
    ],
)
def test_releases_as_people_write_them(asked: str, answered: list[str]) -> None:
    done = gpudoctor("compat", "solve", asked, "--gpu", "A100", "--driver", "580.65.06", "--format", "json")
    assert [one["version"] for one in json.loads(done.stdout)["answers"]] == answered


def test_tensorflow_itself_is_a_package() -> None:
    assert ask("show", "tensorflow").startswith("tensorflow\n")
    assert ask("show", "tensorflow==2.20.0").startswith("TensorFlow 2.20.0")
