"""Where CUDA's libraries are, as people and their commands tell it: behind sudo, in no image, in wheels, off the path, of another version."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said
from tests.logs.test_complaints import first as called

AT = "2022-07-13 08:44:20.917716: "
LOST = (
    AT
    + "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library '{0}'; dlerror: {0}: cannot open shared object file: No such file or directory\n"
)
OPEN = AT + "I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library {0}\n"
NOT_ON_WINDOWS = LOST.replace(": cannot open shared object file: No such file or directory", " not found")
DLOPEN = AT + "W tensorflow/core/common_runtime/gpu/gpu_device.cc:{0}] Cannot dlopen some GPU libraries.\n"
IMPORT = "ImportError: {0}: cannot open shared object file: No such file or directory\n"
NO_DRIVERS = (
    AT + "I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.\n"
)


def first(text: str) -> str:
    """The cause that is called, or the first candidate."""
    return called(text).rstrip("?")


def alone(text: str, cause: str) -> bool:
    """Whether this cause alone is called."""
    return said(judged(text))[0] == [cause]


@pytest.mark.parametrize(
    "told",
    [
        "The script works as long as I don't use sudo.",
        "If I call it through sudo the GPU libraries aren't found",
        "sudo python main.py says this; as my own user it works fine",
        "I need root for port 80; as a normal user (port 8080) it imports fine.",
        "Seltsam: ohne sudo l\u00e4uft es, mit sudo nicht.",
        "en cuanto lo lanzo con sudo falla",
        "avec sudo \u00e7a ne marche pas, sans sudo oui",
        "\u7528 sudo \u8fd0\u884c\u5c31\u62a5\u9519",
    ],
)
def test_sudo_drops_the_path(told: str) -> None:
    assert alone(IMPORT.format("libcublas.so.10.0") + told, "sudo-stripped-environment")


@pytest.mark.parametrize(
    "told",
    [
        "I installed CUDA with sudo apt install cuda-10-0.",
        "Do I need sudo?",
        "It works only with sudo.",
        "I ran sudo ldconfig and it still fails.",
        "pip3 install without sudo worked fine.",
        "without sudo the docker command doesn't work",
    ],
)
def test_sudo_for_other_things(told: str) -> None:
    assert not alone(IMPORT.format("libcublas.so.10.0") + told, "sudo-stripped-environment")


def test_sudo_alone_makes_it_likely() -> None:
    text = "It stopped today\n" + IMPORT.format("libcublas.so.10.0") + "$ sudo python3 serve.py\n"
    assert first(text + "export LD_LIBRARY_PATH=/usr/local/cuda-10.0/lib64\n") == "sudo-stripped-environment"


@pytest.mark.parametrize(
    "told",
    [
        "I downloaded version 7.6.5 of cuDNN and copied it to /usr/local/cuda",
        "for cuDNN I took v7.6.4, driver 470.82",
        "dnf list installed: libcudnn7.x86_64 7.6.5.33-1.cuda11.0",
        "libcudnn9-cuda-12/unknown,now 9.1.0.70-1 amd64 [installed]",
        "libcudnn7/now 7.6.5.32-1+cuda10.2 amd64 [installed,local]",
        "[ALPM] upgraded cudnn (8.9.7.29-1 -> 9.1.1.17-1)",
        "the system moved cudnn from 8.9.7 to 9.1",
        "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n--",
        "$ ls /usr/lib/x86_64-linux-gnu | grep cudnn\nlibcudnn.so.9\nlibcudnn.so.9.1.0",
    ],
)
def test_another_cudnn_is_told(told: str) -> None:
    assert alone(LOST.format("libcudnn.so.8") + OPEN.format("libcublas.so.11") + told, "cudnn-wrong-major")


@pytest.mark.parametrize(
    "told",
    [
        "I downloaded version 8.1.0 of cuDNN",
        "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0",
        "TensorFlow 2.6 needs cuDNN 8, not 7.",
        "Must I install cuDNN 9?",
        "cuDNN isn't found, I have installed 2.4 of tensorflow",
        "for cuDNN I downloaded python 3.8",
        "cudnn-11.2-linux-x64-v8.1.0.77.tgz is unpacked",
    ],
)
def test_no_other_cudnn_is_told(told: str) -> None:
    assert not alone(LOST.format("libcudnn.so.8") + OPEN.format("libcublas.so.11") + told, "cudnn-wrong-major")


@pytest.mark.parametrize(
    ("after", "refused"),
    [
        ("cannot open shared object file: Permission denied", True),
        ("cannot open shared object file: Stale file handle", True),
        ("failed to map segment from shared object: Operation not permitted", True),
        ("failed to map segment from shared object: Cannot allocate memory", False),
        ("cannot open shared object file: No such file or directory", False),
    ],
)
def test_a_file_that_is_refused(after: str, refused: bool) -> None:
    text = LOST.format("libcufft.so.10").replace("cannot open shared object file: No such file or directory", after)
    assert alone("It computes on the CPU\n" + text, "cuda-lib-unusable") is refused


@pytest.mark.parametrize(
    "listed",
    [
        "-rw-r--r-- 1 root root {size} Jan  5 12:01 /usr/local/cuda/lib64/libcudnn.so.8",
        "-rwxr-xr-x 1 root root {size} Jan  5 12:01 libcudnn.so.8.1.0",
        "{size} libcudnn.so.8.1.0",
    ],
)
def test_a_file_without_a_byte(listed: str) -> None:
    text = LOST.format("libcudnn.so.8") + "$ ls -l\n"
    assert alone(text + listed.format(size=0), "cuda-lib-unusable")
    assert not alone(text + listed.format(size=158264), "cuda-lib-unusable")


@pytest.mark.parametrize(
    ("image", "cause"),
    [
        ("FROM nvidia/cuda:11.2.2-base-ubuntu20.04", "cuda-libs-missing"),
        ("Our image is based on nvidia/cuda:11.4.3-base-ubuntu20.04", "cuda-libs-missing"),
        ("docker run --rm --gpus all -it nvidia/cuda:11.0-base bash, then pip install tensorflow==2.4", "cuda-libs-missing"),
        ("docker run --rm --gpus all nvidia/cuda:11.0-base nvidia-smi", None),
        ("FROM nvidia/cuda:11.2.2-base-ubuntu20.04\nRUN apt-get install -y cuda-libraries-11-2", None),
        ("FROM nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04", None),
        ("docker run --rm --gpus all ubuntu:20.04 nvidia-smi", None),
        ("FROM continuumio/miniconda3:4.12.0\nRUN conda env create -f environment.yml", None),
        ("FROM python:3.9-slim", "cuda-toolkit-missing"),
        ("FROM ubuntu:20.04\nRUN pip3 install tensorflow==2.8", "cuda-toolkit-missing"),
        ("jupyter/tensorflow-notebook is the image", "cuda-toolkit-missing"),
        ("The host is ubuntu:20.04", None),
        ("FROM ubuntu:20.04\nRUN conda install cudatoolkit=11.2 cudnn", None),
    ],
)  # fmt: skip
def test_an_image_without_cuda(image: str, cause: str | None) -> None:
    text = LOST.format("libcudart.so.11.0") + LOST.format("libcublas.so.11") + DLOPEN.format(1850) + image
    roots, _ = said(judged(text))
    assert roots == [cause] if cause else not {"cuda-libs-missing", "cuda-toolkit-missing"} & set(roots)


@pytest.mark.parametrize(
    ("told", "absent"),
    [
        ("$ sudo find / -name 'libcudnn*'\n$", True),
        ("$ find / -name libcudnn.so* 2>/dev/null\n$ nvcc -V", True),
        ("$ sudo find / -name 'libcudnn*'\n/opt/cudnn/lib/libcudnn.so.8", False),
        ("[me@box ~]$ locate libcudnn\n[me@box ~]$ ", True),
        ("$ ls /usr/local/cuda/lib64 | grep dnn\n$", False),
        ("find / -name '*cudnn*' finds nothing", True),
        ("There's no libcudnn anywhere on the disk", True),
        ("where do I find libcudnn on the disk?", False),
        ("FROM nvidia/cuda:11.2.2-devel-ubuntu20.04", True),
        ("FROM nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04", False),
    ],
)
def test_no_cudnn_at_all(told: str, absent: bool) -> None:
    assert alone(LOST.format("libcudnn.so.8") + OPEN.format("libcublas.so.11") + told, "cudnn-missing") is absent


@pytest.mark.parametrize(
    ("told", "there"),
    [
        ("$ pip list | grep nvidia\nnvidia-cudnn-cu11       8.6.0.163", True),
        ("pip install nvidia-cudnn-cu11==8.6.0.163 tensorflow==2.12", True),
        ("pip freeze says nvidia-cudnn-cu12==8.9.7.29", True),
        ("I have it only inside torch/lib and in the nvidia/cudnn folder of the venv", True),
        ("$ ls ~/v/lib/python3.10/site-packages/nvidia/cudnn/lib\nlibcudnn.so.8  libcudnn_ops_infer.so.8", True),
        ("$ pip list | grep nvidia\nnvidia-cudnn-cu12       9.1.0.70", False),
        ("Should I pip install nvidia-cudnn-cu11?", False),
        ("Would nvidia-cudnn-cu11==8.6.0.163 help?", False),
    ],
)
def test_the_wheel_is_there(told: str, there: bool) -> None:
    assert (first(LOST.format("libcudnn.so.8") + told) == "pip-nvidia-libs-not-found") is there


def test_the_wheels_of_cuda_before_they_were_looked_for() -> None:
    text = LOST.format("libcudart.so.11.0") + LOST.format("libcublas.so.11")
    wheels = "pip install tensorflow==2.11.0 nvidia-cuda-runtime-cu11==11.7.99 nvidia-cublas-cu11==11.10.3.66\n"
    assert alone(text + wheels, "pip-nvidia-libs-not-found")
    assert not alone(text + wheels.replace("cu11==11", "cu12==12"), "pip-nvidia-libs-not-found")


@pytest.mark.parametrize(
    ("told", "removed"),
    [
        ("I did pip uninstall -y nvidia-cufft-cu12 nvidia-curand-cu12", True),
        ("To save space I removed nvidia-cusolver-cu12 and nvidia-cusparse-cu12", True),
        ("pip uninstall nvidia-cudnn-cu12 && pip install nvidia-cudnn-cu12", False),
        ("I removed nvidia-driver-535", False),
    ],
)
def test_wheels_that_were_removed(told: str, removed: bool) -> None:
    assert alone("TF 2.15.0\n" + DLOPEN.format(2256) + told, "cuda-libs-missing") is removed


@pytest.mark.parametrize(
    ("told", "other"),
    [
        ("TF 2.15.0\nnvidia-cublas-cu11==11.11.3.6\nnvidia-cudnn-cu11==8.6.0.163", True),
        ("tensorflow 2.16.1\nnvidia-cuda-runtime-cu11        11.8.89", True),
        ("TF 2.15.0\nnvidia-cublas-cu12==12.2.5.6", False),
        ("TF 2.15.0\nnvidia-cublas-cu12==12.2.5.6\nnvidia-cusparse-cu11==11.7.5.86", False),
    ],
)
def test_wheels_of_another_cuda(told: str, other: bool) -> None:
    assert alone(DLOPEN.format(2256) + told, "cuda-version-mismatch") is other


@pytest.mark.parametrize(
    ("told", "off"),
    [
        ("The file C:\\tools\\cuda\\bin\\cudnn64_8.dll exists.", True),
        ("I put cudnn64_8.dll to C:\\cudnn\\bin", True),
        ("C:\\cuda\\bin\\cudnn64_8.dll\nC:\\Windows;C:\\Program Files\\CUDA\\v11.2\\bin;C:\\Python39", True),
        ("C:\\cuda\\bin\\cudnn64_8.dll\nC:\\Windows;C:\\cuda\\bin;C:\\Python39", False),
        ("C:\\cudnn\\bin\\cudnn64_8.dll not found", False),
        ("C:\\cudnn\\bin\\cudnn64_7.dll is there", False),
        ("C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v11.2\\bin\\cudnn64_8.dll is there", False),
    ],
)
def test_a_dll_off_the_path(told: str, off: bool) -> None:
    text = OPEN.format("cublas64_11.dll") + NOT_ON_WINDOWS.format("cudnn64_8.dll")
    assert alone(text + told, "ld-library-path-not-set") is off


DLLS = "cublas64_11.dll\ncublasLt64_11.dll\ncudart64_110.dll\ncusolver64_11.dll\ncusparse64_11.dll\n"


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        (DLLS, True),
        (DLLS + "cufft64_10.dll\n", False),
        (DLLS.replace("64_11.", "64_12.").replace("_110", "_120"), False),  # which has cufft64_11.dll
        ("cudart64_110.dll\n", False),
    ],
)
def test_a_list_of_dlls_without_it(told: str, left_out: bool) -> None:
    text = OPEN.format("cusparse64_11.dll") + NOT_ON_WINDOWS.format("cufft64_10.dll")
    assert alone(text + told, "cuda-libs-missing") is left_out


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        ("apt-get install cuda-cudart-11-2 libcublas-11-2 libcurand-11-2 libcusolver-11-2", True),
        ("ii  cuda-cudart-11-2  11.2.152-1\nii  libcublas-11-2 11.4.1\nii  libcusparse-11-2 11.4", True),
        ("ii  cuda-cudart-11-2\nii  libcublas-11-2\nii  libcufft-11-2\nii  libcusparse-11-2", False),
        ("ii  cuda-libraries-11-2\nii  cuda-cudart-11-2\nii  libcublas-11-2\nii  libcusparse-11-2", False),
        ("$ find / -name 'libcufft*'\n$", True),
        ("locate libcufft: nothing", True),
        ("$ find / -name 'libcublas*'\n$", False),
    ],
)
def test_packages_of_single_libraries(told: str, left_out: bool) -> None:
    roots, _ = said(judged(LOST.format("libcufft.so.10") + told))
    assert (roots == ["cuda-libs-missing"]) is left_out


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("ImportError: /usr/lib/libcublas.so.9.0: version `libcublas.so.9.0' not found (required by /x/_pywrap_tensorflow_internal.so)", True),
        (IMPORT.format("libcudart.so.10.0") + "ln -s /opt/cuda/lib64/libcudart.so.10.1 /opt/cuda/lib64/libcudart.so.10.0", True),
        (IMPORT.format("libcusolver.so.10") + "ln -s libcusolver.so.11 libcusolver.so.10", True),
        (IMPORT.format("libcudart.so.10.0") + "ln -s /opt/x/libcudart.so.10.0.130 /opt/x/libcudart.so.10.0", False),
        ("ln -s libcublas.so.9.1 libcublas.so.9.0", False),
    ],
)  # fmt: skip
def test_a_link_to_another_version(text: str, other: bool) -> None:
    assert alone("Import fails\n" + text, "cuda-version-mismatch") is other


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("TF 2.13 of pip\nAfter I switched to CUDA 11.8 the GPU is used\n" + NO_DRIVERS, "cuda-version-mismatch"),
        ("TF 2.17.0 is installed, and tfjs-node-gpu prints\n" + IMPORT.format("libcudart.so.11.0"), "cuda-version-mismatch"),
        ("TF 2.17.0\n$ pip list | grep nvidia\n$ nvidia-smi -L\n" + NO_DRIVERS, "cuda-toolkit-missing"),
        ("TF 2.17.0\n`pip freeze | grep nvidia` prints nothing\n" + NO_DRIVERS, "cuda-toolkit-missing"),
        ("TF 2.17.0\n$ pip list | grep nvidia\nnvidia-cublas-cu12  12.3.4.1\n" + NO_DRIVERS, "pip-nvidia-libs-not-found"),
        ("A 3090 with 24G of free memory\nBlas GEMM launch failed : a.shape=(56, 512), b.shape=(512, 512)\n", "gpu-too-new-for-build"),
        ("A 1080 Ti with 11G of free memory\nBlas GEMM launch failed : a.shape=(56, 512), b.shape=(512, 512)\n", "gpu-memory-handle-alloc"),
        ("spawned from tensorflow-notebook, TensorFlow lists no GPU\n", "tf-cpu-only-package"),
        ("tensorflow sagt, libcublas.so.10.0 wurde nicht gefunden\nCUDA 10.2 is installed\n", "cuda-version-mismatch"),
        ("el import falla: libcublas.so.10.0 no existe\nCUDA 10.2 is installed\n", "cuda-version-mismatch"),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


def test_the_path_of_a_dll_tells_its_version() -> None:
    there = "C:\\>where /r C:\\cuda cudnn*.dll\nC:\\cuda\\bin\\cudnn64_{0}.dll\n"
    assert alone(NOT_ON_WINDOWS.format("cudnn64_8.dll") + there.format(9), "cudnn-wrong-major")
    assert not alone(NOT_ON_WINDOWS.format("cudnn64_8.dll") + there.format(8), "cudnn-wrong-major")
