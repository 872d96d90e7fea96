"""What looks bad and is as it should be: whoever asks about it is told so, and where it is not so he is not."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

QUERY = "$ nvidia-smi --query-gpu=pstate,pcie.link.gen.current,pcie.link.gen.max{more} --format=csv\npstate, pcie.link.gen.current, pcie.link.gen.max{more}\n{row}\n"
LINK = "The PCIe link of my RTX A5000 is degraded to gen 1, why? I have seated the card again and tried another slot.\n"
MATRIX = "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n     0 790.11  {rate}\n     1  {rate} 791.22\n"
NVLINK = "The NVLink bandwidth is below the 50 GB/s that I expect, is a link degraded?\nV100, topo -m shows NV2\n"
INACTIVE = "NVLink is inactive on our {card} machine, how do I get the links up?\nnvidia-smi nvlink --status says nothing. We have four {card}.\n"
OPENED = "".join(
    f"Successfully opened dynamic library {name}\n"
    for name in ("libcudart.so.10.1", "libcublas.so.10", "libcudnn.so.7")
)
FOLDER = "Is it bad that /usr/local/cuda-9.0/lib64 in my LD_LIBRARY_PATH doesn't exist any more? The path points to an old toolkit.\n"
NO_NVCC = "nvcc: command not found, is the CUDA toolkit missing?\n"
RENUMBERED = "I set CUDA_VISIBLE_DEVICES={value} and tensorflow takes device GPU:0, the variable is ignored, it selects the wrong GPU\n"
CREATED = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 15000 MB memory:  -> device: 0, name: Tesla P100-PCIE-16GB, pci bus id: 0000:83:00.0, compute capability: 6.0\n"
IDLE, OVERHEAD, NO_LINKS = "benign-pcie-idle", "benign-nvlink-overhead", "benign-no-nvlink"
ABSENT, NVCC, COUNTED = "benign-absent-directory", "benign-no-nvcc", "benign-renumbered"


def query(row: str, more: str = "") -> str:
    return LINK + QUERY.format(row=row, more=more)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (query("P8, 1, 4"), IDLE),
        (query("P8, 1, 4, 16", ", pcie.link.width.current"), IDLE),
        (query("P0, 1, 4, 97 %", ", utilization.gpu [%]"), None),
        (query("P8, 1, 4, 4, 16", ", pcie.link.width.current, pcie.link.width.max"), None),
        (LINK + "LnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok), pstate P8\n", IDLE),
        (LINK + "LnkSta: Speed 2.5GT/s (downgraded), Width x4 (downgraded), pstate P8\n", None),
        (LINK + "It's gen 1 when idle and gen 4 while it trains.\n", IDLE),
        (LINK + "It's gen 1 when it trains, too.\n", None),
        (NVLINK + MATRIX.format(rate="48.1"), OVERHEAD),
        (NVLINK + MATRIX.format(rate="24.2"), None),
        (NVLINK + MATRIX.format(rate="9.7"), None),
        (INACTIVE.format(card="L40S"), NO_LINKS),
        (INACTIVE.format(card="RTX 4090"), NO_LINKS),
        (INACTIVE.format(card="A100"), None),
        (FOLDER + OPENED + "Adding visible gpu devices: 0\n", ABSENT),
        (FOLDER + OPENED, None),
        (NO_NVCC + "tf.test.is_gpu_available() returns True.\n", NVCC),
        (NO_NVCC + "Is it really running on CPU? tf.test.is_gpu_available() returns True.\n", NVCC),
        (NO_NVCC + "tf.test.is_gpu_available() returns False.\n", None),
        (RENUMBERED.format(value="2") + CREATED, COUNTED),
        (RENUMBERED.format(value="2,3") + CREATED, None),
        (RENUMBERED.format(value="2"), None),
    ],
)
def test_what_is_as_it_should_be(text: str, kind: str | None) -> None:
    report = judged(text)
    harmless = [e.kind for e in report.facts.text.understood() if e.kind.startswith("benign-")]
    if kind is None:
        assert not {IDLE, OVERHEAD, NO_LINKS, ABSENT, NVCC, COUNTED} & set(harmless)
    else:
        assert kind in harmless
        assert said(report) == ([], [])
        assert not report.diagnosis.unexplained


@pytest.mark.parametrize(
    "text", [LINK, NVLINK, INACTIVE.format(card="A100"), FOLDER, NO_NVCC + "The GPU is not used.\n"]
)
def test_who_asks_is_heard(text: str) -> None:
    assert said(judged(text)) != ([], [])


def test_a_slow_link_at_work_is_one() -> None:
    assert said(judged(query("P0, 1, 4, 97 %", ", utilization.gpu [%]")))[0] == ["pcie-link-degraded"]


def test_who_is_slowed_down_asks_for_more() -> None:
    text = query("P8, 1, 4") + "Copies to the GPU are slow, PCIe seems degraded while training.\n"
    assert said(judged(text)) != ([], [])


def test_a_gpu_among_the_devices_that_somebody_shortens() -> None:
    assigned = "Cannot assign a device: explicitly assigned to /device:GPU:2 but available devices are [ CPU:0{gpu} ]\n"
    assert judged(assigned.format(gpu="")).facts.text.said("gpu-not-among-devices")
    assert not judged(assigned.format(gpu=", GPU:0")).facts.text.said("gpu-not-among-devices")
