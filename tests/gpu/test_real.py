"""On a machine with NVIDIA GPUs and a TensorFlow that lists them: `pytest -m gpu`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.running import causes, gpudoctor, report

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
]


@pytest.fixture(scope="module")
def healthy() -> dict[str, Any]:
    done = gpudoctor("check", "--level", "full", "--format", "json", env=dict(SURROUNDINGS))
    got = report(done)
    if causes(got):
        pytest.skip(f"this machine is not healthy: {causes(got)}")
    assert done.returncode == 0
    return got


# what the machine has set, before the tests take it away
SURROUNDINGS = {k: v for k, v in os.environ.items() if k.startswith(("LD_LIBRARY", "CUDA_", "NVIDIA_", "NCCL_"))}
OF_THE_HOST = ("dataset", "numpy-to-tensor")
"""Kernels of TensorFlow that begin in the host's memory."""


def test_a_healthy_machine_has_no_finding(healthy: dict[str, Any]) -> None:
    assert healthy["diagnosis"]["verdict"] == "healthy"
    assert healthy["findings"] == []
    assert healthy["unknown"] == []


def test_three_libraries_agree_on_the_gpus(healthy: dict[str, Any]) -> None:
    nvml = healthy["facts"]["gpu"]["devices"]
    cuda = healthy["facts"]["driver"]["libcuda"]["devices"]
    listed = [d for d in healthy["facts"]["tensorflow"]["devices"] if d["type"] == "GPU"]
    assert {d["uuid"] for d in nvml} == {d["uuid"] for d in cuda}
    assert {d["pci_address"] for d in nvml} == {d["pci_address"] for d in cuda}
    assert [d["compute_capability"] for d in cuda] == [d["compute_capability"] for d in listed]


def test_every_gpu_computes_right_numbers(healthy: dict[str, Any]) -> None:
    gpus = [f"GPU:{i}" for i in range(len(healthy["facts"]["gpu"]["devices"]))]
    measured = {(m["kernel"], m["device"]): m for m in healthy["measurements"]}
    done = {key: m for key, m in measured.items() if isinstance(m["value"], float)}
    assert {device for _, device in done if "," not in device} == set(gpus)
    for gpu in gpus:
        for kernel in (
            "matmul",
            "matmul-float16",
            "convolution",
            "fft",
            "solve",
            "xla",
            "host-to-device",
            "device-to-host",
        ):
            assert (kernel, gpu) in done
    assert (len(gpus) < 2) or ("all-reduce", ",".join(gpus)) in done
    for (kernel, _), one in done.items():
        assert one["verified"] is True
        assert one["value"] > 0
        if one["backend"] == "tensorflow":
            assert kernel in OF_THE_HOST or "GPU" in one["placed_on"].upper()


def test_the_libraries_that_did_the_work_are_named(healthy: dict[str, Any]) -> None:
    stems = {"matmul": "libcublas", "convolution": "libcudnn", "fft": "libcufft", "solve": "libcusolver"}
    for one in healthy["measurements"]:
        if one["kernel"] in stems and isinstance(one["value"], float):
            assert os.path.basename(one["library"]).startswith(stems[one["kernel"]])
            assert one["library_version"][0].isdecimal()


def test_the_standard_kernels_are_quick(healthy: dict[str, Any]) -> None:
    """Of a single GPU: what several do together comes on top."""
    assert sum(m["seconds"] for m in healthy["measurements"] if m["device"] == "GPU:0") < 30


def test_the_direct_and_the_simulated_loader_agree(healthy: dict[str, Any]) -> None:
    tensorflow = healthy["facts"]["tensorflow"]
    direct = {p["soname"]: os.path.realpath(p["picked"]) for p in tensorflow["libraries"] if p.get("required", True)}
    assert {p["soname"]: os.path.realpath(p["picked"]) for p in tensorflow["simulated"]} == direct


@pytest.mark.parametrize(
    ("value", "cause"), [("-1", "cuda-visible-devices-empty"), ("99", "cuda-visible-devices-wrong"), ("0,0", "cuda-visible-devices-wrong")]
)  # fmt: skip
def test_a_hidden_gpu_is_found_and_its_fix_works(healthy: dict[str, Any], value: str, cause: str) -> None:
    done = gpudoctor("check", "--format", "json", env={**SURROUNDINGS, "CUDA_VISIBLE_DEVICES": value})
    got = report(done)
    assert causes(got) == [cause]
    trial = got["diagnosis"]["root_causes"][0]["fixes"][0]["trial"]
    assert trial["worked"] is True
    assert trial["judged_by"] == "list"
