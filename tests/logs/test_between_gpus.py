"""What GPUs share, and what lies between them: memory that others hold, peers that can't be reached, slots of other processors."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, shown

GIVEN = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:GPU:0 with {mb} MB memory:  -> device: 0, name: {name}, pci bus id: 0000:0b:00.0, compute capability: 8.6\n"
FULL = "ResourceExhaustedError: OOM when allocating tensor with shape[64,128,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
STATE = "|   0  NVIDIA GeForce ...  Off  | 00000000:0B:00.0 Off |                  N/A |\n| 40%   55C    P2   120W / 220W |   {used}MiB /  8192MiB |     97%      Default |\n|    0   N/A  N/A      4711      C   /srv/other/bin/python3                 N/A |\n"
HELD, MODEL = "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"
NAME = "NVIDIA GeForce RTX 3060 Ti"


def given(mb: int, name: str = NAME) -> str:
    return GIVEN.format(mb=mb, name=name)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # how much of the card TensorFlow was given
        ("The card has 8 GB.\n" + given(310) + FULL, HELD),
        ("It's a GPU with 8 GB\n" + given(310) + FULL, HELD),
        ("RTX 3060 Ti 8GB, Windows\n" + given(310) + FULL, HELD),
        ("8 GB of VRAM\n" + given(310) + FULL, HELD),
        ("The card has 8 GB.\n" + given(5900) + FULL, MODEL),
        ("The card has 8 GB free.\n" + given(310) + FULL, MODEL),
        ("The card has 8 GB. I set memory_limit=310\n" + given(310) + FULL, MODEL),
        ("The card has 8 GB, config.gpu_options.per_process_gpu_memory_fraction = 0.04\n" + given(310) + FULL, MODEL),
        ("The card has 40 GB\n" + given(4000, "NVIDIA A100-SXM4-40GB MIG 1g.5gb") + FULL, MODEL),
        # what the table has in use, less what TensorFlow was given
        (STATE.format(used=6900) + given(1180) + FULL, HELD),
        (STATE.format(used=6900) + "It is created with 1180 MB memory.\n" + FULL, MODEL),
        (STATE.format(used=6900) + "'Created device with 1180 MB memory' was 6000 before\n" + FULL, HELD),
        (STATE.format(used=2100) + given(1180) + FULL, MODEL),
        (STATE.format(used=7900) + given(6700) + FULL, MODEL),
        (STATE.format(used=6900) + given(1180), None),
        (
            STATE.format(used=6900)
            + STATE.format(used=4).replace("0B:", "0C:").replace("|   0", "|   1")
            + given(1180)
            + FULL,
            HELD,
        ),
        (
            STATE.format(used=4)
            + STATE.format(used=6900).replace("0B:", "0C:").replace("|   0", "|   1")
            + given(1180)
            + FULL,
            MODEL,
        ),
        ("The card has 24 GB\n" + given(2000, "GRID A10-2C") + FULL, MODEL),
        # what a process that was ended keeps
        ("用 kill 杀掉训练以后 显存没有释放\n", HELD),
        ("模型训练好以后 同一个 notebook 里显存没有释放\n", None),
    ],
)
def test_who_has_the_memory(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


ROWS = "".join(
    f"2019-02-03 04:05:06.7: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1001] {n}:   {{{n}}} \n" for n in (0, 1)
)
APART, TOGETHER, ITSELF = ROWS.format("N N", "N N"), ROWS.format("N Y", "Y N"), ROWS.format("Y N", "N Y")
PEERS = "Peer access from {card} (GPU0) -> {card} (GPU1) : Yes\n"
WRONG = "Verification error @ element 1: val = 0.000000, ref = 4.000000\n"
CANNOT = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:855] cannot enable peer access from device ordinal 0 to device ordinal 1\n"
GEFORCE, REDIRECTED, SOCKETS = "p2p-unsupported-geforce", "nccl-p2p-iommu-acs", "multi-gpu-topology-no-p2p"
HANGS = "Training on two GPUs hangs at the first all-reduce.\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Two RTX 2080 Ti, no peer access\n" + APART, GEFORCE),
        ("Two RTX 2080 Ti, no peer access\n" + ITSELF, GEFORCE),
        ("Two RTX 2080 Ti, no peer access\n" + TOGETHER, None),
        ("Two Tesla P100, no peer access\n" + APART, None),
        ("Two RTX 2080 Ti, no peer access. Is something wrong? The topology says PIX.\n" + APART, GEFORCE),
        ("Training on two GPUs fails behind a PIX pair, RTX 2080 Ti, peer access\n" + APART, GEFORCE),
        # a driver that promises what the card does not have
        (PEERS.format(card="NVIDIA GeForce RTX 4080") + WRONG, GEFORCE),
        (PEERS.format(card="NVIDIA GeForce RTX 4080") + WRONG + HANGS + "The IOMMU is disabled.\n", GEFORCE),
        (PEERS.format(card="NVIDIA RTX A6000") + WRONG, None),
        (PEERS.format(card="NVIDIA GeForce RTX 4080") + WRONG + "This is a patched driver.\n", None),
        (PEERS.format(card="NVIDIA GeForce RTX 4080"), None),
        # the IOMMU
        (HANGS + "The IOMMU is disabled in the BIOS.\n", None),
        (HANGS + "VT-d was already off.\n", None),
        (HANGS + "With the IOMMU disabled it runs.\n", REDIRECTED),
        (HANGS + "Once VT-d is disabled it works.\n", REDIRECTED),
        # slots of other processors
        (
            CANNOT + ITSELF + "Two K80 boards; the manual says that this slot belongs to the second processor.\n",
            SOCKETS,
        ),
        (CANNOT + ITSELF + "One K80 hangs on CPU 0, the other on CPU 1.\n", SOCKETS),
        (CANNOT + ITSELF + "Two K80 boards.\n", None),
        (CANNOT + ITSELF + "Two K80 boards. The second processor is idle.\n", None),
    ],
)
def test_what_lies_between(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


@pytest.mark.parametrize(
    "text",
    [
        "Copying a tensor between two GPUs gives zeros, through the host it is right. Four A100 PCIe.\n",
        "The values are garbage after the array was moved\nWrong data when copying arrays from one GPU to another\n",
        "With both cards, a matrix that I transfer across devices ends up corrupted.\n",
        "To move anything between GPUs it has to pass through the CPU first, else the numbers are off\n",
    ],
)
def test_copies_that_come_out_wrong(text: str) -> None:
    roots, candidates = shown(judged(text))
    assert "nccl-p2p-iommu-acs" in [*roots, *candidates][:1], (roots, candidates)


@pytest.mark.parametrize(
    "text",
    [
        "Moving tensors between GPUs is slow: 9 GB/s.\n",
        "ZeRO stage 3 shards what is copied between devices, with zero redundancy.\n",
        "How do I copy a model from one GPU to another?\n",
        "Wrong data type when copying a file from one machine to another\n",
    ],
)
def test_copies_that_nobody_calls_wrong(text: str) -> None:
    roots, candidates = shown(judged(text))
    assert "nccl-p2p-iommu-acs" not in [*roots, *candidates], (roots, candidates)
