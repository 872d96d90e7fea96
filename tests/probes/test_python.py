"""The patient in real interpreters, 3.6 to 3.13."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.examine import FILE_TASKS
from gpudoctor.facts import Unread
from gpudoctor.probes import driver, environment, libraries, pci, python, system, tensorflow
from gpudoctor.probes.ask import Patient
from tests.interpreters import interpreters


@pytest.mark.parametrize(("version", "path"), interpreters().items())
def test_every_python_answers_every_question(version: str, path: str) -> None:
    patient = Patient((path,), os.environ)
    answers = patient.ask([*FILE_TASKS, driver.NODES, driver.CUDA], limit_s=30)
    assert answers.errors == {}
    assert answers.ended_well
    facts = python.read(answers, "--python")
    assert isinstance(facts.version, str)
    assert facts.version.startswith(version + ".")
    assert facts.implementation == "CPython"
    assert facts.bits == 64
    assert tensorflow.read_files(answers, facts).directory is None or version != "3.6"
    assert not isinstance(system.read(answers).kernel, Unread)


def test_a_virtual_environment(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    site = next((tmp_path / "v" / "lib").glob("python3*/site-packages"))
    for name in ("tensorflow-2.21.0.dist-info", "nvidia_cufft_cu12-11.2.3.61.dist-info", "requests-2.0.dist-info"):
        (site / name).mkdir()
    (site / "nvidia_cufft_cu12-11.2.3.61.dist-info" / "RECORD").write_text(
        "nvidia/cufft/lib/libcufft.so.11,sha256=x,1\n"
    )
    (site / "nvidia" / "cufft" / "lib").mkdir(parents=True)
    (site / "nvidia" / "cufft" / "lib" / "libcufft.so.11").touch()
    (site / "nvidia" / "cufft" / "lib" / "libcufft.so.11.2.3").touch()
    (site / "nvidia" / "cufft" / "lib" / "readme.so.txt").touch()
    (site / "nvidia" / "cufft" / "lib" / "libcublas.so.12").symlink_to("/no/such/file")
    answers = Patient((str(tmp_path / "v" / "bin" / "python3"),), os.environ).ask(FILE_TASKS, limit_s=20)
    facts = python.read(answers, "--python")
    assert facts.virtual_environment is True
    assert isinstance(facts.distributions, tuple)
    assert [(d.name, d.version) for d in facts.distributions] == [
        ("nvidia-cufft-cu12", "11.2.3.61"),
        ("tensorflow", "2.21.0"),
    ]
    files = libraries.read(answers).files
    assert isinstance(files, tuple)
    wheels = {f.name: f.owner for f in files if f.kind == "wheel"}
    assert wheels == {"libcufft.so.11": "nvidia-cufft-cu12 11.2.3.61", "libcufft.so.11.2.3": None}


Make = Callable[..., Patient]


def test_a_directory_called_tensorflow_is_not_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tensorflow").mkdir()
    monkeypatch.chdir(tmp_path)
    bare = Patient((sys.executable, "-S"), os.environ)
    answers = bare.ask(FILE_TASKS, limit_s=20)
    got = tensorflow.read_files(answers, python.read(answers, "x"))
    assert got.directory is None
    assert got.stray == (str(tmp_path / "tensorflow"),)


def test_a_file_called_tensorflow_is_not_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tensorflow.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    answers = Patient((sys.executable,), os.environ).ask(FILE_TASKS, limit_s=20)
    got = tensorflow.read_files(answers, python.read(answers, "x"))
    assert got.directory is None
    assert got.stray == (str(tmp_path / "tensorflow.py"),)


def test_stray_modules_do_not_break_the_patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "re", "ctypes", "typing", "glob"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('stray')")
    monkeypatch.chdir(tmp_path)
    answers = Patient((sys.executable,), os.environ).ask(FILE_TASKS, limit_s=20)
    assert answers.ended_well, answers.stderr


def test_what_else_a_python_prints_is_no_answer(tmp_path: Path) -> None:
    noise = "import sys, os; print('{\"hello\": 1}'); os.write(1, b'noise\\n' * 1000); print('more', file=sys.stderr)"
    (tmp_path / "sitecustomize.py").write_text(noise)
    answers = Patient((sys.executable,), {**os.environ, "PYTHONPATH": str(tmp_path)}).ask(FILE_TASKS, limit_s=20)
    assert answers.ended_well
    assert "more" in answers.stderr


def test_a_program_that_only_echoes_gives_no_answer() -> None:
    answers = Patient(("cat",), os.environ).ask(FILE_TASKS, limit_s=10)
    assert not answers.spoke


def test_an_interpreter_that_dies_at_start(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os; os.abort()")
    patient = Patient((sys.executable,), {**os.environ, "PYTHONPATH": str(tmp_path)})
    answers = patient.ask(FILE_TASKS, limit_s=10)
    assert not answers.spoke
    facts = python.read(answers, "x")
    assert "SIGABRT" in str(facts.version)
    assert isinstance(pci.read(answers).devices, Unread)
    assert isinstance(environment.read(answers).variables, Unread)


def test_variables_are_allow_listed() -> None:
    env = {
        "PATH": os.environ["PATH"],
        "CUDA_VISIBLE_DEVICES": "",
        "NCCL_DEBUG": "INFO",
        "AWS_SECRET_ACCESS_KEY": "x",
        "TF_API_TOKEN": "x",
    }
    got = environment.read(Patient((sys.executable,), env).ask([environment.TASK], limit_s=10))
    assert isinstance(got.variables, tuple)
    assert {v.name: v.value for v in got.variables if v.name != "PATH"} == {
        "CUDA_VISIBLE_DEVICES": "",
        "NCCL_DEBUG": "INFO",
    }
    assert got.get("CUDA_VISIBLE_DEVICES") == ""
    assert got.get("LD_LIBRARY_PATH") is None
