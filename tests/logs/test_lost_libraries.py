"""CUDA libraries that were not found, and what is there instead, in titles and sentences."""

from __future__ import annotations

import pytest

from gpudoctor.textual import likeness
from tests.logs.judged import judged, said
from tests.logs.test_complaints import first

MISMATCH = "cuda-version-mismatch"


@pytest.mark.parametrize(
    "lost",
    [
        "the package has no libcudart.so.10.1",
        "tensorflow can't find libcudart.so.10.1",
        "libcudart.so.10.1 is missing",
        "`libcudart.so.10.1` could not be found",
        "it looks for a library with the name 'libcudart.so.10.1'",
        "it says: libcudart.so.10.1: cannot open shared object file: No such file or directory",
        "cannot open shared object file: libcudart.so.10.1",
        "        libcudart.so.10.1 => not found",
        "unable to load cudart64_101.dll",
        "ImportError: libcudart.so.10.1",
        "error while loading shared libraries: libcudart.so.10.1",
        "it looks for cudart 10.1",
        "tensorflow wants cudart-10.1",
        "Could not find 'cudart64_101.dll'. TensorFlow requires that this DLL be installed",
    ],
)
@pytest.mark.parametrize("there", ["CUDA 10.2 is installed.", "nvcc: Cuda compilation tools, release 10.2, V10.2.89"])
def test_another_version_is_there(lost: str, there: str) -> None:
    assert first(f"{lost}\n{there}") == MISMATCH
    assert first(f"{lost}\n{there.replace('10.2', '10.1')}") != MISMATCH


@pytest.mark.parametrize(
    "text",
    [
        "Error with cuda-9.1, libcublas.so.8.0: cannot open shared object file",
        "tensorflow 1.12 with cuda 10.0: ImportError: libcublas.so.9.0: cannot open shared object file",
        "tensorflow wants libcudart.so.10.0, but I have CUDA 10.1",
        "ImportError: libcublas.so.9.0: cannot open shared object file\n- CUDA/cuDNN version: 10/7",
        "libcudart.so.10.1 is missing\nIn the directory there is libcudart.so.10.2",
        "the import says dlerror: cudart64_101.dll not found\nI have CUDA 10.2",
        "cudart64_100.dll is missing\nI only have cudart64_101.dll",
    ],
)
def test_one_line_names_both(text: str) -> None:
    assert first(text) == MISMATCH


def test_commands_and_wishes_name_nothing() -> None:
    assert first("sudo ln -s libcudart.so.10.2 libcudart.so.10.1") == "nothing"
    assert first("libcudart.so.10.0 is missing\nwhich version is needed, must I download CUDA 10.1?") != MISMATCH
    assert first("Successfully opened dynamic library libcudart.so.10.1") == "nothing"


def test_where_a_gpu_is_listed_nothing_is_lost() -> None:
    created = (
        "Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 7000 MB memory) -> physical GPU "
        "(device: 0, name: GeForce RTX 2080, pci bus id: 0000:01:00.0, compute capability: 7.5)"
    )
    assert first(f"{created}\nAnother program asks for libcudart.so.9.0, here is CUDA 10.1") == "nothing"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("ImportError: libcudnn.so.6: cannot open shared object file\nThe guide had me install libcudnn 5.1.", "cudnn-wrong-major"),
        ("cudnn64_8.dll not found\nInstead I have cudnn64_7.dll in the folder", "cudnn-wrong-major"),
        ("Couldn't open CUDA library libcudnn.so.5.\nInstalled are cuDNN 6.0 and CUDA 8.0", "cudnn-wrong-major"),
        ("ImportError: libcudnn.so.6: cannot open shared object file\ncudnn 5.1 is on this machine\nand cudnn 6.0, too", "cudnn-wrong-major?"),
        ("ImportError: libcudnn.so.6: cannot open shared object file\nCUDA/cuDNN version: 6.0\nthe old one was cudnn 5.1", "cudnn-wrong-major?"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file\nCommand 'nvcc' not found, but can be installed with:", "cuda-toolkit-missing?"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file\nCommand 'nvcc' not found\nCUDA 9.0 was installed", "ld-library-path-not-set?"),
        ("Unable to load cuDNN DSO", "cudnn-missing?"),
        ("Could not find 'cudnn64_7.dll'. TensorFlow requires that this DLL be installed", "cudnn-missing?"),
        ("Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed", "driver-missing?"),
        ("Could not find 'cudart64_90.dll'.", "cuda-toolkit-missing?"),
        ("python: libcuda.so.1: cannot open shared object file: No such file or directory", "driver-missing?"),
    ],
)  # fmt: skip
def test_cudnn_and_the_driver(text: str, cause: str) -> None:
    assert first(text) == cause


def test_the_file_is_there() -> None:
    lost = "ImportError: libcudart.so.9.0: cannot open shared object file: No such file or directory\n\n"
    assert first(lost + "The file libcudart.so.9.0 exists in /opt/toolkit/lib64.") == "ld-library-path-not-set"
    assert first(lost + "The file libcudart.so.9.0 is not in /opt/toolkit/lib64.") != "ld-library-path-not-set"


def test_cudnn_of_another_version() -> None:
    old = "Loaded runtime CuDNN library: 7.0.5 {} 7.1.4."
    assert first(old.format("but the source was compiled with:")) == "cudnn-version-too-old"
    assert first(old.format("(compatibility version 7.0) but source was built with")) == "cudnn-version-too-old"
    assert first("CuDNN library needs to have matching major version and equal or higher minor version.") == (
        "cudnn-version-too-old?"
    )


def test_nvrtc() -> None:
    for text in (
        "Loading cuDNN gives Error: libnvrtc.so: cannot open shared object file: No such file or directory",
        "cudnn fails since libnvrtc.so.11.2 is missing",
    ):
        assert first(text) == "cudnn-incomplete-install"
    assert first("libnvrtc.so.12 is found") == "nothing"


@pytest.mark.parametrize(
    ("value", "cuda", "cudnn"),
    [
        ("9/7", "9", "7"),
        ("8.6.0.163", None, "8.6.0.163"),
        ("v11", "11", None),
        ("10.1 / 7.6.5", "10.1", "7.6.5"),
        ("cuDNN 7.6, CUDA 10.0", "10.0", "7.6"),
        ("cuda_11.2.r11.2", "11.2", None),
        ("CUDA Toolkit 11.0 + cuDNN v8.0.4", "11.0", "8.0.4"),
        ("12.2, driver 535.104.05", "12.2", None),
        ("release 10.0, V10.0.130", "10.0", None),
        ("NA", None, None),
    ],
)
def test_fields_for_both(value: str, cuda: str | None, cudnn: str | None) -> None:
    events = judged(f"- CUDA/cuDNN version: {value}\n").facts.text.said("names-cuda")
    told = {k: v for e in events for k, v in e.values.items()}
    assert (told.get("cuda"), told.get("cudnn")) == (cuda, cudnn)


def test_what_is_installed_in_single_words() -> None:
    text = "pip list:\ntensorflow 1.12.0\ntensorflow-gpu 1.12.0\n\ndevice_lib lists only the CPU"
    assert said(judged(text))[0] == ["tf-cpu-only-package"]


def test_the_extra_points_at_the_loaders_path() -> None:
    text = "pip install tensorflow[and-cuda] in a new environment, and list_physical_devices gives an empty list"
    assert first(text) == "pip-nvidia-libs-not-found?"


def test_a_name_in_bold_is_a_name() -> None:
    text = """_tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library '**cudart64_100.dll**'; dlerror: **cudart64_100.dll** not found_
the variables lead to CUDA\\v10.1\\bin"""
    assert said(judged(text))[0] == ["cuda-version-mismatch"]


def test_a_name_without_its_version() -> None:
    """What is asked for is not known, and that it is CUDA's runtime is."""
    _, left = said(judged("cant detect cudart64.dll, though I set the path to the right folder"))
    assert left[0] == "cuda-toolkit-missing"


def test_a_part_of_cudnn_in_a_path() -> None:
    text = 'ERROR: could not load library "D:\\julia\\artifacts\\12ab\\bin\\cudnn_ops_infer64_8.dll"'
    assert said(judged(text))[1][0] == "cudnn-incomplete-install"


def test_libcuda_of_an_image() -> None:
    """Whoever writes about an image has started it without the GPUs, most often."""
    lost = (
        "error while loading shared libraries: libcuda.so.1: cannot open shared object file: No such file or directory"
    )
    assert said(judged(f"model server does not run\n{lost}"))[1][0] == "driver-missing"
    assert (
        said(judged(f"Dockerfile.gpu builds and the model server does not run\n{lost}"))[1][0]
        == "container-no-gpus-flag"
    )


_LOG = "2021-08-06 21:37:12.56: I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library {}"
_LOST = (
    "2021-08-06 21:37:12.57: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; "
    "dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory"
)


@pytest.mark.parametrize(
    ("text", "late"),
    [
        (_LOST, {"ld-library-path-not-set"}),
        (f"{_LOST}\nlibcudnn.so.8 is in /usr/local/cuda/lib64", set()),
        (
            "\n".join((_LOG.format("libcublas.so.11"), _LOST)),
            {"ld-library-path-not-set", "cuda-version-mismatch", "cuda-libs-missing", "cuda-toolkit-missing"},
        ),
        (_LOST.replace("cudnn.so.8", "cublas.so.11"), set()),
    ],
)
def test_where_cudnn_alone_is_lost_cuda_is_there(text: str, late: set[str]) -> None:
    assert likeness.against(judged(text).facts) == late
