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


IMPORTED = 'Traceback (most recent call last):\n  File "/home/ann/anaconda3/lib/python3.6/site-packages/tensorflow/python/pywrap_tensorflow.py", line 58, in <module>\n    from tensorflow.python.pywrap_tensorflow_internal import *\n'
XLA = "Keras finds no GPU\n{}\n/job:localhost/replica:0/task:0/device:XLA_CPU:0 -> device: XLA_CPU device\n/job:localhost/replica:0/task:0/device:XLA_GPU:0 -> device: XLA_GPU device\nWhat can I do?\n"
NOT_FOUND = "It doesn't start\n\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
DSO = "F tensorflow/stream_executor/cuda/cuda_dnn.cc:204] could not find {} in cudnn DSO; dlerror: {}: undefined symbol: {}\n"


def begins(text: str) -> str:
    """The cause that is named first."""
    roots, left = said(judged(text))
    return next(iter((*roots, *left)), "")


@pytest.mark.parametrize(
    ("told", "another"),
    [
        ("TF 1.4.1, CUDA 8, cuDNN 7.0.5", True),
        ("TensorFlow 1.5, CUDA 9.0, cudnn 6", True),
        ("tensorflow-gpu==1.2, CUDA 8.0, cuDNN v6.0", True),
        ("TF 1.4.1, CUDA 8, cuDNN 6.0", False),
        ("TF 1.6, CUDA 9.0, cuDNN 7.1", False),
        ("TF 1.15, CUDA 10.0, cuDNN 8.0", False),  # which is imported without
    ],
)
def test_the_cudnn_that_a_release_is_linked_with(told: str, another: bool) -> None:
    assert (begins(f"Not able to import tensorflow\n{told}\n{IMPORTED}") == "cudnn-wrong-major") is another


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("tensorflow-gpu 1.15, CUDA 10.1", "cuda-version-mismatch"),
        ("tensorflow 2.2, CUDA 10.2, cuDNN 7.6", "cuda-version-mismatch"),
        ("- TensorFlow installed from (source or binary): source\n- TensorFlow version: 1.15\n- CUDA/cuDNN version: 10.1", "cuda-version-mismatch"),
        ("TF 1.15, CUDA 10.0", "ld-library-path-not-set"),
        ("TF 2.3, CUDA 10.1", "ld-library-path-not-set"),
        ("tensorflow 1.15 and cuda 10", "ld-library-path-not-set"),
    ],
)  # fmt: skip
def test_the_cuda_that_a_release_opens(told: str, cause: str) -> None:
    assert begins(XLA.format(told)) == cause


@pytest.mark.parametrize(
    ("told", "amd"),
    [
        ("The bat doesn't find a GPU (mine is AMD).", True),
        ("My graphics card is from AMD", True),
        ("I only have an AMD graphics card", True),
        ("The only GPU here, it is an AMD", True),
        ("I'm using AMD graphics", True),
        ("My CPU is AMD and the card is a GTX 1060", False),
        ("The GPU isn't found, the processor is an AMD", False),
        ("The processor is from AMD", False),
        ("My GPU is a 3060, it is an AMD Ryzen machine", False),
    ],
)
def test_whose_card_it_is(told: str, amd: bool) -> None:
    assert (said(judged(f"{NOT_FOUND}{told}\n"))[0] == ["amd-gpu"]) is amd


@pytest.mark.parametrize(
    ("told", "removed"),
    [
        ("sudo nvidia-uninstall -y", True),
        ("$ sudo apt-get purge -y nvidia-*", True),
        ("sudo apt remove --purge '^nvidia-.*'", True),
        ("sudo sh NVIDIA-Linux-x86_64-384.130.run --uninstall", True),
        ("I purged all nvidia drivers for a clean desktop", True),
        ("I removed the nvidia driver and installed 390 again", False),
        ("sudo apt-get purge nvidia-*\nsudo apt-get install nvidia-driver-470", False),
        ("Should I purge the nvidia drivers?", False),
        ("sudo apt-get remove nvidia-container-toolkit", False),
        ("sudo apt purge nvidia-cuda-toolkit", False),
    ],
)
def test_a_driver_that_was_removed(told: str, removed: bool) -> None:
    text = f"CUDA is gone\n\nUbuntu 16.04, on an AMI\n{told}\nand now the import gives\n{IMPORTED}"
    assert (begins(text) == "driver-missing") is removed


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (DSO.format("cudnnConvolutionBackwardFilter_v2", "/usr/local/cuda/lib64/libcudnn.so", "cudnnConvolutionBackwardFilter_v2"), "cudnn-version-mismatch"),
        (DSO.format("cudnnSetRNNDescriptor_v6", "/usr/lib/x86_64-linux-gnu/libcudnn.so.5", "cudnnSetRNNDescriptor_v6"), "cudnn-version-mismatch"),
        (DSO.format("cudnnCreate", "/usr/bin/python", "cudnnCreate"), "cudnn-missing"),
        ("I get cudnnConvolutionBackwardFilter_v2 cudnn DSO dlerror\n", "cudnn-version-mismatch"),
    ],
)  # fmt: skip
def test_a_cudnn_that_lacks_a_function(line: str, cause: str) -> None:
    assert begins(f"It ends on the GPU\n\nUbuntu 14.04, K40, CUDA 7.5\n{line}") == cause


@pytest.mark.parametrize(
    ("told", "takes"),
    [
        ("Nearly the entire GPU is taken at once whatever I set", True),
        ("The whole card's memory gets reserved right away", True),
        ("Tensorflow 2.1 doesn't respect memory growth", True),
        ("95% of the GPU memory is used up at the start", True),
        ("The whole GPU is used for training", False),
        ("all of the gpu memory is used by another process", False),
        ("Does tensorflow support memory growth?", False),
        ("The full GPU is not used at once", False),
    ],
)
def test_all_memory_is_taken(told: str, takes: bool) -> None:
    text = f"Memory on an RTX 2070\nI run a small model in a notebook.\n{told}\nWhat can I do?\n"
    assert (said(judged(text))[0] == ["tf-preallocates-all-memory"]) is takes


@pytest.mark.parametrize(("tool", "cause"), [("bumblebee", "driver-libcuda-not-on-path"), ("a blog", "driver-missing")])
def test_a_tool_that_keeps_the_driver_off_the_path(tool: str, cause: str) -> None:
    lost = "I tensorflow/stream_executor/dso_loader.cc:119] Couldn't open CUDA library libcuda.so.1. LD_LIBRARY_PATH: /usr/local/cuda-8.0/lib64\n"
    text = f"TensorFlow doesn't find the driver\n\nBy {tool} I got the card of my laptop to work, with driver 367.\nls /usr/local/cuda-8.0/lib64/stubs/libcuda.*\n/usr/local/cuda-8.0/lib64/stubs/libcuda.so\n{lost}"
    assert begins(text) == cause


@pytest.mark.parametrize(
    ("told", "first"),
    [
        ("The program needs CUDA; on the nodes that have no GPU (nor CUDA installed) the import ends", True),
        ("There is neither CUDA installed nor a driver", True),
        ("CUDA 8.0 is installed, but nor cuDNN", False),
    ],
)
def test_a_toolkit_that_is_told_to_be_absent(told: str, first: bool) -> None:
    kinds = {e.kind for e in judged(f"An error at the import\n{told}\n").facts.text.understood()}
    assert ("toolkit-absent-said" in kinds) is first


def test_two_sentences_are_read_with_more_care() -> None:
    """Of few words the model must be surer."""
    short = "Low GPU usage\n\nI started the training of the examples folder, and after some minutes the ETA had climbed to days, with a GPU usage that was low.\n"
    roots, left = said(judged(short))
    assert (roots, left[:1]) == ([], ["cpu-starved-input"])
