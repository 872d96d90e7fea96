"""What a text names as installed, against what TensorFlow could not open."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

LOST = "Could not load dynamic library '{0}'; dlerror: {0}: cannot open shared object file: No such file or directory"
OPENED = "Successfully opened dynamic library {}"
CUDNN = (
    "cudnn-missing", "ld-library-path-not-set", "cudnn-wrong-major", "pip-nvidia-libs-not-found", "cuda-libs-missing",
)  # fmt: skip


def lost(*names: str) -> str:
    return "\n".join(LOST.format(name) for name in names) + "\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (lost("libcudart.so.10.1") + "CUDA 10.2.89 from the repository", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "Cuda compilation tools, release 12.3, V12.3.107", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "- CUDA/cuDNN version: 12.1 / 8.9", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "### CUDA/cuDNN version\n\n12.1 / 8.9", "cuda-version-mismatch"),
        (lost("libcudart.so.10.1") + OPENED.format("libcublas.so.10"), "cuda-version-mismatch"),
        (lost("libcusolver.so.10") + OPENED.format("libcublas.so.11"), "cuda-version-mismatch"),
        (lost("cudart64_110.dll") + "CUDA v10.1 is installed", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "$ ls\n/usr/local/cuda/lib64/libcudart.so.12", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0").strip() + "; LD_LIBRARY_PATH: /usr/local/cuda-10.1/lib64", "cuda-version-mismatch"),
        (lost("libcudnn.so.8") + "libcudnn7_7.6.5.32-1+cuda10.2_amd64.deb is installed", "cudnn-wrong-major"),
        (lost("libcudnn.so.8") + "/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "cudnn-wrong-major"),
        (lost("libcudart.so.11.0") + "/usr/local/cuda-11.2/lib64/libcudart.so.11.0", "ld-library-path-not-set"),
        (lost("libcudnn.so.9") + "/opt/v/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9", "pip-nvidia-libs-not-found"),
        (lost("libcudnn.so.8") + "dpkg-query: no packages found matching libcudnn8", "cudnn-missing"),
        (lost("libcudart.so.11.0") + "ls: cannot access '/usr/local/cuda*': No such file or directory", "cuda-toolkit-missing"),
        (lost("cublas64_80.dll") + "Gpu toolkit version : v9.0", "cuda-version-mismatch"),
        (lost("libcudart.so.10.1") + "CUDA=10.2", "cuda-version-mismatch"),
        (lost("libcudart.so.10.1") + "I ran cuda_10.2.89_win10.exe", "cuda-version-mismatch"),
        (lost("cudart64_101.dll") + "cuda v11", "cuda-version-mismatch"),
        ("TF asks for cusolver64_10.dll on a cuDNN 11.1 installation\n", "cuda-version-mismatch"),
        ("With CUDA 10 installed my tensorflow 1.12 looks for cublas 9.0\n", "cuda-version-mismatch"),
        ("Tensorflow 2.1\nCUDA 10.2\nCannot dlopen some GPU libraries. Skipping", "cuda-version-mismatch"),
        ("TensorFlow version: 2.13.1\nCUDA toolkit: 12.3\nCould not find cuda drivers on your machine", "cuda-version-mismatch"),
        ("TensorFlow version: 2.13.1\nCUDA/cuDNN version: 12.3/8.9\nCould not find cuda drivers on your machine", "cuda-version-mismatch"),
        ("Could not load dynamic library 'libcusolver.so.10: No such file\nCUDA 11.2", "cuda-version-mismatch"),
        (LOST.format("libcudnn.so.8").partition(": cannot")[0] + ": file too short", "cuda-lib-unusable"),
    ],
)  # fmt: skip
def test_what_is_there_decides(text: str, cause: str) -> None:
    report = judged(text)
    assert said(report) == ([cause], [])
    assert all(one.source.startswith("line ") for one in report.diagnosis.root_causes[0].proof)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (lost("libcudart.so.11.0", "libcublas.so.11", "libcufft.so.10"), "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "CUDA 11.2", "ld-library-path-not-set"),
        (lost("libcudart.so.11.0") + "Do I need CUDA 12?", "cuda-version-mismatch"),
        (lost("libcudart.so.11.0") + "| NVIDIA-SMI 535.1  Driver Version: 535.1  CUDA Version: 12.2 |", "cuda-version-mismatch"),
        ("Tensorflow 2.1 here, tensorflow 2.4 there\nCUDA 11.0\nCannot dlopen some GPU libraries.", "ld-library-path-not-set"),
        ("TensorFlow version: 2.13.1\nCUDA version: 12.3\nCould not find cuda drivers on your machine", "cuda-version-mismatch"),
        ("Tensorflow 2.15\nCUDA 11.8\nCould not find cuda drivers on your machine", "cuda-version-mismatch"),
        ("Tensorflow 2.15\nCUDA 12.2\nCould not find cuda drivers on your machine", "cuda-libs-missing"),
        ("ImportError: libcudart.so.8.0 in PyCharm", "ld-library-path-not-set"),
        (lost("libcudnn.so.8"), "cudnn-missing"),
        (lost("libcudnn.so.8") + "cudnn 8.6", "ld-library-path-not-set"),
        (lost("cudart64_110.dll"), "cuda-toolkit-missing"),
        (lost("cudart64_110.dll") + "CUDA 11.2 is on the PATH", "ld-library-path-not-set"),
        (lost("libcusolver.so.11").replace("dlerror: libcusolver.so.11", "dlerror: libnvJitLink.so.12"), "cuda-lib-from-other-toolkit"),
    ],
)  # fmt: skip
def test_what_it_leaves_open(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert roots == []
    assert candidates[0] == first


def test_only_cudnn_is_lost() -> None:
    assert tuple(said(judged(lost("libcudnn.so.8")))[1][:5]) == CUDNN
