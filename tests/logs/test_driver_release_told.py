"""The driver's release in the forms in which it is told: too old for the CUDA in use, and new enough for it."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

OLD = ("440.33.01", "440.33", "440", "441.22", "26.21.14.4122")
NEW = ("470.161.03", "470.161", "470", "472.12", "30.0.14.7212")
FORMS = (
    "$ nvidia-smi\n| NVIDIA-SMI {0}                Driver Version: {0}                   |",
    "$ nvidia-smi -q\nDriver Version                            : {0}\nAttached GPUs                             : 1",
    "$ nvidia-smi --query-gpu=name,driver_version --format=csv\nname, driver_version\nGeForce RTX 2080 Ti, {0}",
    "$ nvidia-smi --query-gpu=driver_version --format=csv,noheader\n{0}",
    "$ modinfo nvidia | grep ^version\nversion:        {0}",
    "$ cat /sys/module/nvidia/version\n{0}",
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {0}  Tue Nov 12 20:11:05 UTC 2019",
    "ii  nvidia-{2}                    {0}-0ubuntu0.18.04.1   amd64        NVIDIA binary driver - version {0}",
    "nvidia-driver-{2}/bionic-updates,now {0}-0ubuntu0.18.04.1 amd64 [installed]",
    "$ apt-cache policy nvidia-driver-{2}\n  Installed: {0}-0ubuntu0.18.04.1\n  Candidate: {0}-0ubuntu0.18.04.1",
    "$ rpm -qa | grep -i nvidia\nxorg-x11-drv-nvidia-{0}-1.fc30.x86_64\nakmod-nvidia-{0}-1.fc30.x86_64",
    "$ rpm -qa | grep nvidia\nkmod-nvidia-{0}-1.el7_7.elrepo.x86_64",
    "$ pacman -Q nvidia\nnvidia {0}-1",
    "$ dkms status\nnvidia, {0}, 5.4.0-42-generic, x86_64: installed",
    "I installed it with NVIDIA-Linux-x86_64-{0}.run",
    "OpenGL core profile version string: 4.6.0 NVIDIA {0}",
    "- GPU driver version: {0}",
    "**Driver version**: {1}",
    "- GPU model and memory: RTX 2080 Ti 11GB, driver {1}",
    "| Driver | {1} |",
    "NVIDIA driver\t{0}",
    "GPU: RTX 2080 Ti (driver {1})",
    "NVIDIA driver {2}",
    "The machine is on the R{2} driver branch.",
    "nvidia-driver-{2} is installed",
    "the driver's version is {0}",
    "our nvidia driver is at version {1}",
    "I am using the {1} driver",
    "Installed NVIDIA {1} from the ppa",
    "nvidia-smi reports {0}",
    "/proc/driver/nvidia/version says {0}",
    "The cluster's nodes have driver {0} and we can't change that.",
    "Der NVIDIA-Treiber ist {1}.",
    "\u663e\u5361\u9a71\u52a8\u7248\u672c\uff1a{0}",
    "Tengo el controlador NVIDIA {1}.",
    "Le pilote NVIDIA est en version {1}.",
    "\u0434\u0440\u0430\u0439\u0432\u0435\u0440 NVIDIA {1}",
    "Tenho o driver da NVIDIA vers\u00e3o {0}.",
    "\u30c9\u30e9\u30a4\u30d0\u30fc\u306e\u30d0\u30fc\u30b8\u30e7\u30f3\u306f{0}\u3067\u3059",
)
REFUSED = "TensorFlow version: 2.4.1\nInternalError: cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version"
NONE = "TensorFlow version: 2.4.1\n>>> tf.config.list_physical_devices('GPU')\n[]"
ON_WINDOWS = (
    "GeForce driver {3}",
    "Device manager: driver version {4}",
    "Name                    DriverVersion\nNVIDIA GeForce RTX 2080 {4}",
    "{3}-desktop-win10-64bit-international-dch-whql.exe is what I installed.",
)


def _text(form: str, has: tuple[str, ...], asked: str) -> str:
    return f"TensorFlow does not use my GPU\n\n{form.format(*has)}\n\n{asked}\n\nWhat can I do?\n"


@pytest.mark.parametrize("form", FORMS)
def test_too_old_and_new_enough(form: str) -> None:
    assert first(_text(form, OLD, NONE)) == "driver-too-old"
    assert first(_text(form, NEW, NONE)) != "driver-too-old"
    assert first(_text(form, NEW, REFUSED)) != "driver-too-old"


@pytest.mark.parametrize("form", ON_WINDOWS)
def test_on_windows(form: str) -> None:
    refused = f"Windows 10\n{REFUSED}"
    assert first(_text(form, OLD, refused)) == "driver-too-old"
    assert first(_text(form, NEW, refused)) != "driver-too-old"


@pytest.mark.parametrize(
    "said",
    [
        "driver   : nvidia-driver-470 - distro non-free recommended",
        "Which driver 470.57 or newer should I install?",
        "I read that it needs driver 470.57.",
        "The card has a memory of 470 MB.",
    ],
)
def test_what_is_no_release_that_is_here(said: str) -> None:
    assert first(_text(said, NEW, REFUSED)) == "driver-too-old"


def test_a_runtime_that_conda_may_bring_is_not_known() -> None:
    refused = REFUSED.replace("2.4.1", "1.14.0")
    assert first(_text("| NVIDIA-SMI {0}    Driver Version: {0}    |", ("410.72",), refused)) == "driver-too-old"
    assert first(_text("| NVIDIA-SMI {0}    Driver Version: {0}    |", ("440.33",), refused)) != "driver-too-old"


@pytest.mark.parametrize(
    ("asked", "here", "driver", "is_old"),
    [
        ("7.5", "8.0 rc", "367.27", False),
        ("7.5", "8.0", "361.28", False),
        ("8.0", "9.0", "375.66", False),
        ("8.0", "9.0", "361.28", True),
    ],
)
def test_the_runtime_that_is_asked_for_in_vain_tells_which_cuda_the_driver_must_know(
    asked: str, here: str, driver: str, is_old: bool
) -> None:
    text = (
        f"ImportError: libcudart.so.{asked}: cannot open shared object file: No such file or directory\n\n"
        f"- GPU: GTX 1080\n- GPU driver: {driver}\n- CUDA: {here}\n\nI get it on import tensorflow, does it have no support for this?\n"
    )
    roots = said(judged(text))[0]
    assert ("driver-too-old" in roots) is is_old
    assert "cuda-version-mismatch" in roots
