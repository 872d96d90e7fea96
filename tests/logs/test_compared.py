"""What a text sets side by side: a container and its host, two machines, two cards, two versions; and texts that only look like it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

APART = "nvidia-smi fails inside our docker container\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n"
TORCH = "A problem with an RTX 2080 Ti and CUDA 9.0\nRuntimeError: cublas runtime error : the GPU program failed to execute at /opt/conda/aten/src/THC/THCBlas.cu:41\n"


@pytest.mark.parametrize(
    ("told", "of_the_image"),
    [
        ("The host's driver is 535.183.01.", True),
        ("Host driver: 535", True),
        ("The driver on the host is 535.", True),
        ("On the host I have NVIDIA driver version 535.161", True),
        ("The Ubuntu host runs nvidia driver 535 and I can't go higher.", True),
        ("nvidia driver 535.104 is installed on the host", True),
        ("It is a Debian host with nvidia drivers 525.147", True),
        ("The host driver is 550.54", False),
        ("The host needs a driver 535 or newer", False),
        ("I updated the host from driver 535 to 550", False),
        ("The host was on driver 535 before the update", False),
        ("The image wants driver 535 on the host?", False),
    ],
)
def test_a_driver_that_is_not_the_hosts(told: str, of_the_image: bool) -> None:
    cause = "container-image-has-driver-files" if of_the_image else "driver-library-mismatch"
    assert said(judged(f"{APART}{told}\n"))[0] == [cause]


def test_without_a_container_it_is_the_driver() -> None:
    text = (
        APART.replace("inside our docker container", "on this machine")
        + "On the host I have NVIDIA driver version 535.161\n"
    )
    assert said(judged(text))[0] == ["driver-library-mismatch"]


@pytest.mark.parametrize(
    ("told", "spoilt"),
    [
        ("Cross-GPU copies fail silently", True),
        ("Tensor moved to another device becomes all zeros", True),
        ("Peer-to-peer copies return garbage on our machine", True),
        ("GPU to GPU transfers silently fail", True),
        ("Moving tensors from device to device yields zeros", True),
        ("inter-GPU copies give wrong results", True),
        ("How can I copy a tensor from one GPU to the other?", False),
        ("Peer to peer copies work and are fast", False),
        ("copying the model to the gpu fails silently", False),
        ("The copy to another GPU is slow", False),
    ],
)
def test_copies_between_gpus(told: str, spoilt: bool) -> None:
    kinds = {e.kind for e in judged(f"Two cards in one box\n{told}\n").facts.text.understood()}
    assert ("peer-copies-wrong" in kinds) is spoilt


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("On system A it runs, on system B it gets stuck with both GPUs at 100 %. Of the two machines B is a Threadripper.", "nccl-p2p-iommu-acs"),
        ("Multi-GPU training works on my Intel machine but hangs on the AMD machine, one of our two machines", "nccl-p2p-iommu-acs"),
        ("Two machines: with two GPUs it hangs on machine 2 (an EPYC) and works on machine 1", "nccl-p2p-iommu-acs"),
        ("Multi-worker training hangs with two machines", "nccl-wrong-interface"),
        ("Multi-GPU training hangs on four nodes with EPYC CPUs, each node alone works", "nccl-wrong-interface"),
    ],
)  # fmt: skip
def test_two_machines_of_which_one_hangs(told: str, cause: str) -> None:
    roots, left = said(judged(f"TensorFlow 2.4, CUDA 11.0\n{told}\n"))
    assert [*roots, *left][0] == cause


@pytest.mark.parametrize(
    ("told", "lost"),
    [
        ("GPU becomes unavailable after some time in Docker container", True),
        ("Our docker containers lose their GPUs after a few hours", True),
        ("After some days the containers can't see the GPU any more", True),
        ("The GPU disappears from the container overnight, a restart brings it back", True),
        ("In docker CUDA stops working after several hours, on the host all is fine", True),
        ("The container loses access to the GPU randomly", True),
        ("Kubernetes pod: GPU suddenly no longer visible", True),
        ("There is no GPU in my docker container", False),
        ("After some time of training the GPU in the container runs out of memory", False),
        ("I have no GPU in docker after the update", False),
        ("After a few hours my laptop loses the GPU", False),
    ],
)
def test_a_container_that_had_its_gpu(told: str, lost: bool) -> None:
    roots, left = said(judged(f"Trouble with a T4\n{told}\ndocker run --gpus all -it nvidia/cuda:11.2.1-base bash\n"))
    assert ([*roots, *left][:1] == ["container-cgroup-devices-lost"]) is lost


@pytest.mark.parametrize(
    ("told", "single"),
    [
        ("The same script works on a V100.", True),
        ("The very same code runs fine with a Tesla V100, CUDA 9.0 as well.", True),
        ("The same script also fails on a V100.", False),
        ("Would the same code work on a V100?", False),
        ("The same script is slower on a V100.", False),
    ],
)
def test_a_card_on_which_it_works(told: str, single: bool) -> None:
    roots, left = said(judged(TORCH + told + "\n"))
    assert (roots == ["gpu-too-new-for-build"]) is single, (roots, left)


@pytest.mark.parametrize(
    ("told", "newer"),
    [
        ("GTX 1080, TF 0.10, CUDA 7.5: the loss is nan", True),
        ("GTX 1080, TF 0.10 built with CUDA 8.0: the loss is nan", False),
        ("GTX 1080, TF 0.12: the loss is nan", False),
        ("GTX 980, TF 0.10, CUDA 7.5: the loss is nan", False),
    ],
)
def test_a_card_and_the_cuda_of_an_early_release(told: str, newer: bool) -> None:
    assert (said(judged(f"{told}\nWhat can I do?\n"))[0] == ["gpu-too-new-for-build"]) is newer
