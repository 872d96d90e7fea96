"""What holds a GPU back, or closes it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

BUSY = "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("nvidia-gridd: Failed to acquire license from licence.example", "vgpu-unlicensed"),
        ("        License Status                    : Unlicensed (Restricted)", "vgpu-unlicensed"),
        (f"{BUSY}\nthe licence of our vGPU has run out", "vgpu-unlicensed"),
        ("clocks go down at full load, nvidia-smi shows SW Power Cap", "gpu-throttling-power"),
        ("the plugin ends with 'undefined symbol: nvmlDeviceGetMemoryInfo_v2'", "driver-too-old"),
        ("the card stays at Gen2 x16 during the whole training", "pcie-link-degraded"),
    ],
)
def test_a_line_that_decides(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (BUSY, "gpu-exclusive-busy"),
        ("is this thermal throttling?", "gpu-throttling-thermal"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", "xid13-31-43-app-or-gpu-fault"),
        ("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", "xid13-31-43-app-or-gpu-fault"),
        ("Registered devices: [CPU]", "tf-no-gpu-registered"),
    ],
)
def test_a_line_that_does_not_decide(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == first


@pytest.mark.parametrize(
    "text",
    [
        "we use vGPU with a licence server",
        "Registered devices: [CPU, GPU]",
        "        SW Power Cap                      : Not Active",
        "W tensorflow/core/common_runtime/gpu/gpu_device.cc:9] Unable to enable peer access: CUDA_ERROR_TOO_MANY_PEERS",
        "--query-gpu=clocks_throttle_reasons.sw_power_cap",
        "PCIe Gen1 when idle, Gen4 during training",
    ],
)
def test_nothing_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])


def test_what_slows_is_no_cause_of_a_failure() -> None:
    assert said(judged(f"clocks go down, SW Power Cap\n{BUSY}"))[0] == []
