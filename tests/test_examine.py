"""Which interpreter is the patient's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from gpudoctor import examine, interpreter
from gpudoctor.facts import NOT_RECORDED, Unread
from tests.building import Workshop, put
from tests.factory import SKIPPED, healthy, with_


def python_at(place: Path) -> Path:
    place.mkdir(parents=True)
    path = place / "python3"
    path.symlink_to(sys.executable)
    return path


def test_our_own_first_on_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uvx puts the environment that it made for the tool before everything else."""
    users = python_at(tmp_path / "bin")
    ours = Path(sys.executable).parent
    if not (ours / "python3").exists():
        pytest.skip("our own interpreter has no python3 beside it")
    monkeypatch.setenv("PATH", f"{ours}:{tmp_path}/none:{tmp_path}/bin")
    monkeypatch.setattr(sys, "executable", str(ours / "python3"))
    found = [(str(ours / "python3"), "python3 on PATH"), (str(users), "python3 on PATH")]
    assert interpreter.candidates(None) == found


@pytest.mark.parametrize("value", ["", ":", "none:", ".:/etc/passwd", "../bin", "none:/etc/passwd::/usr/bin"])
def test_an_odd_path_is_read_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    users = python_at(tmp_path / "bin")
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", value)
    assert interpreter.candidates(None)[0] == (str(users), "python3 on PATH")


@pytest.mark.parametrize("value", ["", "none:"])
def test_a_path_without_a_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", value)
    assert interpreter.candidates(None) == [(sys.executable, "runs gpudoctor")]


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_an_activated_environment_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    path = python_at(tmp_path / "env" / "bin")
    monkeypatch.setenv(variable, str(tmp_path / "env"))
    assert interpreter.candidates(None) == [(str(path), variable)]


def test_a_stale_variable_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert "VIRTUAL_ENV" not in [why for _, why in interpreter.candidates(None)]


def test_python3_on_path_then_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = python_at(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert interpreter.candidates(None) == [(str(path), "python3 on PATH"), (sys.executable, "runs gpudoctor")]
    monkeypatch.setenv("PATH", "/nowhere")
    assert interpreter.candidates(None) == [(sys.executable, "runs gpudoctor")]


def test_what_is_given_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = python_at(tmp_path / "env" / "bin")
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
    assert interpreter.candidates(str(path)) == [(str(path), "--python")]
    assert interpreter.candidates(str(tmp_path / "env")) == [(str(path), "--python")]
    monkeypatch.setenv("PATH", str(path.parent))
    assert interpreter.candidates("python3") == [(str(path), "--python")]
    monkeypatch.chdir(tmp_path)
    assert interpreter.candidates("env/bin/python3") == [(os.path.abspath("env/bin/python3"), "--python")]


def with_tensorflow(place: Path) -> str:
    (place / "tensorflow").mkdir(parents=True)
    (place / "tensorflow" / "__init__.py").touch()
    return str(place)


def test_of_several_the_one_with_tensorflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pipx keeps gpudoctor apart from TensorFlow; an unactivated environment has both."""
    for owner, chosen in (("path", "python3 on PATH"), ("own", "runs gpudoctor")):
        place = tmp_path / owner
        place.mkdir()
        script = place / "python3"
        site = with_tensorflow(place / "site") if owner == "path" else ""
        script.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} -S "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(place))
        monkeypatch.setenv("PYTHONPATH", with_tensorflow(place / "mine") if owner == "own" else "")
        seen = examine.examine(examine.Options(level=examine.ExamineLevel.QUICK)).facts
        assert seen.python.chosen_because == chosen, owner


def test_a_masked_list_is_asked_for_without_the_mask(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "2")
    options = examine.Options(level=examine.ExamineLevel.QUICK, python=sys.executable)
    for value, masked in (("7", 100), ("1", 0)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
        driver = examine.examine(options).facts.driver
        assert driver.libcuda.init_result == masked
        assert isinstance(driver.all_devices, tuple)
        assert len(driver.all_devices) == 2
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    driver = examine.examine(options).facts.driver
    assert driver.all_devices == driver.libcuda.devices


def test_where_nothing_died_nothing_is_looked_after() -> None:
    """A kernel with nothing to do on a device did not die there."""
    assert not examine.something_died(healthy())
    failed = msgspec.structs.replace(SKIPPED, value=Unread(why="CUDA_ERROR_UNKNOWN"))
    assert examine.something_died(with_(healthy(), measurements=(failed,)))


def test_what_died_is_looked_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow's import is killed: the control group and the kernel's log are read once more."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    seen = examine.examine(examine.Options(python=sys.executable)).facts
    assert "SIGKILL" in str(seen.tensorflow.import_error)
    assert seen.system.kernel_log_during != NOT_RECORDED
    assert seen.system.oom_kills_during != NOT_RECORDED
    if isinstance(seen.system.oom_kills, int):
        assert seen.system.oom_kills_during == 0
