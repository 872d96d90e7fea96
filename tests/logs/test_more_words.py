"""What fresh reports had in other words: losses that are no number, other vendors' errors, tables of a form."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, shown
from tests.logs.test_hints import first

NAN = "loss=NaN from the first step on\n"


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("GeForce RTX 3080, cuda 10.1, tensorflow 2.3.0\n", "gpu-too-new-for-build"),
        ("GTX 3080 with tensorflow 2.3\n", "gpu-too-new-for-build"),
        ("With a 3090 it is slow to start, too\n", "gpu-too-new-for-build"),
        ("I have an RTX 3080 and CUDA 11.1 / 10.0\n", "gpu-too-new-for-build"),
        ("GeForce RTX 3080, cuda 11.2, tensorflow 2.6.0\n", "nothing"),
        ("GeForce RTX 2080, cuda 10.1, tensorflow 2.3.0\n", "nothing"),
        ("", "nothing"),
    ],
)
def test_a_loss_that_is_no_number(told: str, cause: str) -> None:
    roots, candidates = shown(judged(told + NAN))
    assert roots == []
    assert (candidates[0] if candidates else "nothing") == cause


def test_a_loss_beside_what_fails() -> None:
    assert first(f"RTX 3080, CUDA 10.1\n{NAN}Error: OOM when allocating tensor\n") != "gpu-too-new-for-build"


def test_an_error_that_was_cut() -> None:
    assert first("Starting. Press Enter to stop.\nError: OOM when allocating tenso") == "gpu-oom-model-or-data"


NO_DEVICES = "Internal: no supported devices found for platform CUDA\n"


@pytest.mark.parametrize(
    ("card", "too_old"), [("Quadro K420", True), ("GeForce GTX 1080", False), ("Tesla K80", False)]
)
def test_a_card_in_the_table_of_a_form(card: str, too_old: bool) -> None:
    text = f"{NO_DEVICES}| OS            | Linux |\n| Hardware spec | GPU Nvidia {card} / CPU Intel i5-4590 4x @ 3.30 GHz |\n"
    assert (first(text) == "gpu-compute-capability-too-old") is too_old


def test_nvidia_smi_works_here_and_is_not_there() -> None:
    asked = "I built the dockerfiles; docker run --gpus all nvidia/cuda:10.1-base nvidia-smi is right:\n"
    table = "> NVIDIA-SMI 450.51.05    Driver Version: 450.51.05    CUDA Version: 11.0\n"
    inside = 'In the notebook !nvidia-smi doesn\'t work either: "/bin/bash: nvidia-smi: command not found"\n'
    assert first(asked + table + inside) == "container-no-gpus-flag"
    assert first(inside) == "driver-missing"


def test_copies_between_gpus_that_differ() -> None:
    assert first("Verification error @ element 1: val = nan, ref = 4.000000\n") == "nccl-p2p-iommu-acs"


def test_podman_knows_no_runtime_of_that_name() -> None:
    assert first('Error: default OCI runtime "nvidia" not found: invalid argument\n') == "container-toolkit-missing"


def test_what_a_gpu_can_show_is_no_list() -> None:
    assert first("the loading is slow and so the GPU can't show what it can\n") == "nothing"
    assert first("the GPU does not show up\n") != "nothing"
