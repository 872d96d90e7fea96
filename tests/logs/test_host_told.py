"""What people tell of the host: memory that grows, limits of a container or a shell, a driver's file; and where it tells nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

REFUSED = "failed to allocate 7.52G (8074559488 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
HANDLE = "Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
CUT = "ImportError: /usr/lib/x86_64-linux-gnu/libcuda.so.1: file too short\n"
GROUP = "docker run {limits} --gpus all -it lab/train:3 python train.py\nWhy {what}?\n"
MOVED = "The loss is nan, only with several GPUs. The cards were taken {whence} into a rack.\n"
LEAK, LIMIT, QUOTA, ADDRESSES = "host-memory-leak", "cgroup-memory-limit", "cgroup-cpu-quota", "address-space-limit"
DAMAGED, TAKEN, ACS = "driver-library-damaged", "tf-preallocates-all-memory", "nccl-p2p-iommu-acs"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # what grows
        ("The RAM that is used increases with every epoch, I look at it with psutil\n", LEAK),
        ("After each epoch some 300 MB of host memory are lost\n", LEAK),
        ("Memory leak in a custom loop\nWith every call of predict the resident memory (top shows it) grows\n", LEAK),
        ("memory consumption rises with each step, and after an hour the process was killed\n", LEAK),
        ("The GPU memory increases with every epoch\n", None),
        ("memory increases with every epoch\n", None),
        ("The RAM that is used is the same in every epoch\n", None),
        # what is granted
        (GROUP.format(limits="--memory=12g", what='is it "Killed" after an hour'), LIMIT),
        (GROUP.format(limits="-m 12g", what="does the process get killed"), LIMIT),
        (GROUP.format(limits="--shm-size=12g", what='is it "Killed" after an hour'), None),
        (GROUP.format(limits="--memory=12g", what="is it so fast"), None),
        (GROUP.format(limits="--cpus=1", what="is it slow"), QUOTA),
        (GROUP.format(limits="--cpu-period=50000 --cpu-quota=25000", what="is it slow"), QUOTA),
        (GROUP.format(limits="--cpu-quota=800000", what="is it slow"), None),
        (GROUP.format(limits="--cpus=16", what="is it slow"), None),
        (GROUP.format(limits="--cpus=1", what="is it so fast"), None),
        # addresses
        ("With ulimit set to 40 GB the GPU can't be used\n" + REFUSED, ADDRESSES),
        ("docker run --ulimit memlock=-1 --gpus all lab/train:3\n" + REFUSED, None),
        ("I set ulimit -n 4096 and ulimit -s unlimited before\n" + REFUSED, None),
        # the driver's file
        (CUT, DAMAGED),
        ("In the docker container I get\n" + CUT, None),
        ("libcudnn.so.8: file too short\n", None),
        # all memory of a GPU
        ("Each of my two services occupies the whole memory of the GPU\n" + HANDLE, TAKEN),
        ("My service occupies the memory of the GPU\n" + HANDLE, "gpu-memory-handle-alloc"),
        # another machine
        (MOVED.format(whence="out of an old workstation"), ACS),
        (MOVED.format(whence="out of the box"), None),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    if cause is None:
        assert not {*roots} & {LEAK, LIMIT, QUOTA, ADDRESSES, DAMAGED, TAKEN, ACS}
    else:
        assert roots == [cause]


def test_a_libcuda_that_is_cut_in_a_container_is_what_an_image_kept() -> None:
    roots, left = said(judged("In the docker container I get\n" + CUT))
    assert "container-no-gpus-flag" in (*roots, *left)


@pytest.mark.parametrize(
    "text",
    [
        "Slower when using cpu-quota\n",
        "I fear that the data don't get to the GPU fast enough\n",
        "It takes 64 GB of addresses, but 8 when it runs on the CPU\n",
    ],
)
def test_nobody_says_that_there_is_no_gpu(text: str) -> None:
    report = judged(text)
    assert not report.facts.text.said("says-no-gpu")
    assert shown(report) == ([], [])
