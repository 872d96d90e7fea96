"""Which CUDA is there: one that was put in another's place, an installer's name, a variable; and what only a package asks for."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

LOST = "ImportError: Could not find 'cudart64_80.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.\n"
CUBLAS = "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n"
PACKAGE = "dpkg -i libcudnn7_7.1.4.18-1+cuda9.0_amd64.deb\n"
CACHE = "$ ldconfig -p | grep cublas\n\tlibcublas.so.{0} (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcublas.so.{0}\n"
MISMATCH = "cuda-version-mismatch"


@pytest.mark.parametrize(
    "text",
    [
        "I uninstalled CUDA 8.0 and installed 9.0.\n",
        "I removed CUDA 8.0 from the control panel, then installed CUDA 9.0.\n",
        "Replaced CUDA 8.0 with 9.0 yesterday\n",
        "I have swapped CUDA 8 for 9.0\n",
        "I got rid of CUDA 8.0, installed 9.0 plus cuDNN\n",
        "wiped my old CUDA 8.0 and put in 9.1\n",
        "It was cuda_9.0.176_win10.exe\n",
        '> Sys.getenv("CUDA_PATH")\n[1] "C:\\\\Program Files\\\\NVIDIA GPU Computing Toolkit\\\\CUDA\\\\v9.0"\n',
        "I chose 'TF 1.4 GPU (CUDA 8.0, CuDNN >= 6.0)' in the menu\nCUDA 9.0 is installed\n",
    ],
)
def test_another_cuda_is_there(text: str) -> None:
    assert said(judged(LOST + text)) == ([MISMATCH], [])


@pytest.mark.parametrize(
    "text",
    [
        "Should I have uninstalled CUDA 8.0 and installed 9.0?\n",
        "I uninstalled CUDA 8.0 and installed it again.\n",
        "I uninstalled CUDA 9.0 and installed 8.0.\n",
        "I removed CUDA 8.0 and installed TensorFlow 1.4\n",
        "cuda_8.0.61_win10.exe did not help\n",
    ],
)
def test_no_other_cuda_is_there(text: str) -> None:
    assert MISMATCH not in said(judged(LOST + text))[0]


def test_files_tell_better_than_the_name_of_a_package_of_cudnn() -> None:
    assert said(judged(PACKAGE + CUBLAS + CACHE.format("9.1"))) == ([MISMATCH], [])
    assert MISMATCH not in said(judged(PACKAGE + CUBLAS))[0]
    assert MISMATCH not in said(judged(PACKAGE + CUBLAS + CACHE.format("9.0")))[0]


REFUSED = (
    "InternalError: cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version\n"
)
LEGACY = "NVRM: The NVIDIA Tesla K80 GPU installed in this system is\nNVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Tesla K80, tensorflow 2.16.1, driver 470\n" + REFUSED, "gpu-compute-capability-too-old"),
        ("Quadro K4000, tensorflow 2.17, there is no newer driver\n" + REFUSED, "gpu-compute-capability-too-old"),
        ("Tesla K80, tensorflow 2.16.1\n" + REFUSED + LEGACY, "gpu-compute-capability-too-old"),
        ("Tesla K80, tensorflow 2.10.0, driver 440\n" + REFUSED, "driver-too-old"),
        ("GTX 780 and RTX 3060, tensorflow 2.16.1, driver 470\n" + REFUSED, "driver-too-old"),
        ("GTX 1080 Ti, tensorflow 2.16.1, driver 470\n" + REFUSED, "driver-too-old"),
        ("Tesla K80, driver 470\n" + REFUSED, "driver-too-old"),
        ("Tesla K80, tensorflow 2.16.1\n" + LEGACY, "driver-rminit-failed"),
    ],
)
def test_a_card_whose_last_driver_does_not_run_this_cuda(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])
