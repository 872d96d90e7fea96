"""NVML in a child process: a fake library answers, loses a GPU, hangs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gpudoctor.facts import Gpu, Unread
from gpudoctor.probes import gpu
from gpudoctor.probes.ask import Patient


def environment(directory: str, **more: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": directory, **more}


def ask(env: dict[str, str], limit_s: float) -> Gpu:
    return gpu.read(Patient((sys.executable,), env).ask([gpu.task()], limit_s=limit_s))


def test_two_gpus(nvml: str) -> None:
    got = ask(environment(nvml), 10)
    assert got.nvml_error is None
    assert got.driver_version == "580.159.04"
    assert isinstance(got.devices, tuple)
    one = got.devices[1]
    assert (one.name, one.pci_address, one.compute_capability) == ("Fake GPU 1", "0000:02:00.0", (9, 0))
    assert one.uuid == "GPU-00000001-0000-4000-8000-000000000000"
    assert one.memory_total_bytes == 1 << 37
    assert isinstance(one.fabric_state, Unread)


def test_one_lost_gpu_of_eight_leaves_seven(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="8", FAKE_NVML_LOST="3"), 10)
    assert isinstance(got.devices, tuple)
    assert len(got.devices) == 8
    assert "GPU is lost" in str(got.devices[3].name)
    assert [d.name for d in got.devices if isinstance(d.name, str)] == [f"Fake GPU {i}" for i in range(8) if i != 3]


def test_a_gpu_that_hangs_leaves_the_others(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="3", FAKE_NVML_HANG="1"), 2)
    assert isinstance(got.devices, tuple)
    assert [isinstance(d.name, str) for d in got.devices] == [True, False, True]
    assert "did not end within" in str(got.devices[1].uuid)


def test_nvml_says_why(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_INIT="18"), 10)
    assert got.nvml_error == 18
    assert "mismatch" in str(got.nvml_error_text)
    assert isinstance(got.devices, Unread)


def test_nvml_hangs(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_INIT="hang"), 1)
    assert "did not end within" in str(got.devices)
    assert isinstance(got.nvml_error, Unread)


def test_no_nvml(tmp_path: object) -> None:
    got = ask(environment("/nowhere"), 10)
    if got.nvml_error is not None:
        assert got.nvml_error in (9, 12)
        assert isinstance(got.devices, Unread)


def test_a_stray_module_in_the_working_directory_is_not_taken(nvml: str, tmp_path: object, monkeypatch: object) -> None:
    import pathlib

    import pytest

    assert isinstance(tmp_path, pathlib.Path)
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    (tmp_path / "pynvml.py").write_text("raise SystemExit('the stray one')")
    monkeypatch.chdir(tmp_path)
    assert ask(environment(nvml), 10).nvml_error is None


def test_a_python_that_prints_by_itself(nvml: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello'); print('{}')")
    assert ask(environment(nvml, PYTHONPATH=str(tmp_path)), 10).nvml_error is None
