"""What somebody has, told in the sentence that quotes what a program says is lost; the toolkit of a distribution; a TensorFlow that
was built here; the memory of all GPUs where one is wanted; and a Colab that gives none."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged

ERRORS = (
    "Could not load dynamic library 'cudart64_100.dll'; dlerror: cudart64_100.dll not found",
    "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory",
    "ImportError: DLL load failed: The specified module could not be found.",
    "Could not find 'cudart64_100.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.",
)
SENTENCES = (
    "I get {error} when I import tensorflow-gpu 1.15. I have CUDA {cuda} installed. Any idea?",
    "When I run train.py the error '{error}' appears. I installed CUDA {cuda} and tensorflow-gpu==1.15.0. What should I do?",
    "\u8fd0\u884c\u65f6\u62a5\u9519'{error}'\u3002\u6211\u88c5\u7684\u662fCuda{cuda}\uff0ctensorflow_gpu==1.15.0\uff0c\u8be5\u600e\u4e48\u529e\uff1f",
    "Error: {error} - my versions: tensorflow-gpu 1.15.0, CUDA {cuda}, Windows 10",
    "Hi, tensorflow 1.15 says {error}, my cuda is {cuda}, what is wrong?",
)
MISMATCH, PATH, TAKEN = "cuda-version-mismatch", "ld-library-path-not-set", "tf-preallocates-all-memory"
LOST = "\n\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n"
FIELDS = "- TensorFlow version: {tf}\n- CUDA/cuDNN version: {cuda}\n- GPU model and memory: GeForce GTX 1050 Ti\n\ntensorflow does not find the GPU, I use PyCharm. {beside}\n"
ALONE = "only GPU 0 computes"


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_version_beside_a_quoted_message(sentence: str, error: str) -> None:
    title = "tensorflow does not find the GPU\n\n"
    assert first(title + sentence.format(error=error, cuda="12.3")) == MISMATCH
    assert first(title + sentence.format(error=error, cuda="10.0")) != MISMATCH


@pytest.mark.parametrize(
    ("tf", "cuda", "is_another"),
    [("1.12.0", "CUDA 10 / cuDNN 7.4.2", True), ("1.12.0", "CUDA 9.0 / cuDNN 7.4.2", False), ("2.14.0", "CUDA 11.8", False), ("2.13.1", "12.4", True)],
)  # fmt: skip
@pytest.mark.parametrize("beside", ["", "They are there and were added to PATH."])
def test_a_form_with_another_cuda(tf: str, cuda: str, is_another: bool, beside: str) -> None:
    assert (first(FIELDS.format(tf=tf, cuda=cuda, beside=beside)) == MISMATCH) is is_another


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("On Ubuntu 18.04 I did sudo apt install nvidia-cuda-toolkit and pip install tensorflow-gpu==1.12. It does not find my GPU." + LOST, MISMATCH),
        ("OS Platform (e.g., Linux Ubuntu 18.04): Linux Ubuntu 20.04\n- sudo apt install nvidia-cuda-toolkit\n- pip install tensorflow==2.4\n- Installed: libcudnn8_8.0.5.39-1+cuda11.0_amd64.deb\n\nCould not load dynamic library 'libcudart.so.11.0'\n", MISMATCH),
        ("CUDA/cuDNN version: libcudnn8_8.0.5.39-1+cuda11.0_amd64.deb\ntensorflow 2.4 on Ubuntu 20.04 lists no GPU\n\nCould not load dynamic library 'libcudart.so.11.0'\n", PATH),
        ("Ubuntu 20.04, TF 2.8\n\n$ ls /usr/local\nbin  etc  games  include  lib  man  sbin  share  src\n$ nvcc\nCommand 'nvcc' not found, but can be installed with:\nsudo apt install nvidia-cuda-toolkit\n\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n", "cuda-toolkit-missing"),
        ("I compiled tensorflow from source with GPU support, and now the import fails." + LOST, PATH),
        ("TensorFlow installed from (source or binary): source" + LOST, PATH),
        ("TensorFlow installed from (source or binary): binary\nBazel version (if compiling from source):\nhelp" + LOST, MISMATCH),
        ("I built tensorflow from source, CUDA 8.0 is what I have" + LOST, MISMATCH),
    ],
)  # fmt: skip
def test_whose_cuda_it_is(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Training on one GPU\n\nIt runs on GPU:0, but memory got loaded on the other three GPUs as well. How can I run it on exactly one?", TAKEN),
        ("tensorflow takes all GPUs\n\nMy script uses only one GPU but it allocates the memory on all of them. How can I avoid that?", TAKEN),
        ("I don't want tensorflow to allocate memory on all gpus, only on the first. Setting it in the session config did not help.", TAKEN),
        ("On a machine with several GPUs I can't get tensorflow to use one only: it still initializes on all the free GPUs and takes their memory.", TAKEN),
        ("tensorflow\n\n\u53ea\u60f3\u7528\u4e00\u5757\u5361\u8bad\u7ec3\uff0c\u4f46\u662f\u6240\u6709\u7684\u5361\u663e\u5b58\u90fd\u88ab\u5360\u6ee1\u4e86\uff0c\u600e\u4e48\u529e\uff1f", TAKEN),
        (f"The memory of all four GPUs is taken by tensorflow\n\nyet {ALONE}, the others idle. I expected all of them to train.", "single-gpu-silently"),
        ("CUDA_ERROR_OUT_OF_MEMORY: batch of 256 on all four GPUs, how can I use only one? OOM when allocating tensor with shape[256,1024,1024]", "gpu-oom-model-or-data"),
    ],
)  # fmt: skip
def test_one_gpu_is_wanted_and_the_memory_of_all_is_taken(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "words",
    [
        "Cannot connect to GPU backend",
        "You cannot currently connect to a GPU due to usage limits in Colab.",
        "\u65e0\u6cd5\u4f7f\u7528\u5e26\u6709 GPU \u7684\u540e\u7aef\u3002\u8981\u4f7f\u7528\u4e0d\u5e26\u52a0\u901f\u5668\u7684\u8fd0\u884c\u65f6\u5417\uff1f",
        "No se puede conectar con el backend de GPU",
    ],
)
def test_colab_gives_no_gpu(words: str) -> None:
    report = judged(f"What now?\n\n{words}\n")
    assert [one.cause for one in report.diagnosis.root_causes] == ["colab-cpu-runtime"]
    assert "hours" in report.diagnosis.root_causes[0].fixes[0].summary


def test_the_driver_of_a_colab_without_gpu() -> None:
    smi = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
    assert first(f"In Google Colab I get\n\n{smi}") == "colab-cpu-runtime"
    assert first(f"On my Ubuntu machine I get\n\n{smi}") == "driver-module-not-loaded"


@pytest.mark.parametrize(
    "words", ["connect the GPU to the backplane", "the backend of Keras, no GPU", "Could not connect to the server"]
)
def test_other_connections(words: str) -> None:
    assert not judged(f"What now?\n\n{words}\n").diagnosis.root_causes
