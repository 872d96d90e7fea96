"""The CUDA that a text tells of, in the forms in which people and programs tell it: one that is not asked for is the cause, and the one
that is asked for speaks against it."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

TOLD = {
    "form": "- CUDA/cuDNN version: {0} / {1}",
    "form-of-both": "- CUDA/cuDNN version: CUDA {0}, cuDNN {1}.5",
    "form-twice": "- CUDA/cuDNN version: CUDA Version: {0}",
    "field": "CUDA: {0}",
    "dash": "CUDA - {0}",
    "long dash": "CUDA \u2013 {0}",
    "table": "| CUDA | {0} |",
    "tab": "CUDA\t{0}",
    "glued": "cuda{0}",
    "toolkit": "CUDA toolkit: {0}",
    "toolkit alone": "toolkit {0} is installed",
    "version": "cuda is at version {0}",
    "release": "CUDA release {0}",
    "installed is": "cuda installed is version {0}",
    "nvcc's line": "Cuda compilation tools, release {0}, V{0}.105",
    "nvcc, told": "nvcc -V shows release {0}",
    "nvcc says": "nvcc says {0}",
    "beside a driver": "GTX 1080 Ti, driver 555.42, CUDA {0}, cuDNN {1}.5, Python 3.6",
    "R's path": '> Sys.getenv("CUDA_PATH")\n[1] "C:\\\\Program Files\\\\NVIDIA GPU Computing Toolkit\\\\CUDA\\\\v{0}"',
    "module": "module load CUDA/{0}.105",
    "prose": "Our admin put CUDA {0} on the server last week.",
    "Chinese": "\u5df2\u7ecf\u5b89\u88c5\u4e86CUDA {0}\u548ccuDNN {1}",
}
OF_LINUX = {
    "ls": "$ ls /usr/local\nbin  cuda  cuda-{0}  etc  games  include  lib  man  sbin  share  src",
    "files": "$ ls /usr/local/cuda/lib64/libcudart*\n/usr/local/cuda/lib64/libcudart.so  /usr/local/cuda/lib64/libcudart.so.{0}",
    "dpkg": "ii  nvidia-cuda-toolkit  {0}.105-3  amd64  NVIDIA CUDA development toolkit",
}
OLD = ("10.1", "10.0", "7.6", {
    "no DLL": "ImportError: Could not find 'cudart64_100.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH%",
    "none is listed": "TensorFlow version: 1.15\n>>> tf.config.experimental.list_physical_devices('GPU')\n[]",
    "prose": "Tensorflow-gpu 1.14 does not find my GPU, training runs on the CPU.",
})  # fmt: skip
NEW = ("12.2", "11.2", "8.1", {
    "no DLL": "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
    "none is listed": "TensorFlow version: 2.9\n>>> tf.config.list_physical_devices('GPU')\n[]",
})  # fmt: skip
CASES = [
    pytest.param(form.format(version, cudnn), shows, is_another, id=f"{how}-{what}-{version}")
    for another, same, cudnn, shown in (OLD, NEW)
    for how, form in (TOLD | OF_LINUX).items()
    for what, shows in shown.items()
    if not (what == "no DLL" and how in OF_LINUX)
    for version, is_another in ((another, True), (same, False))
]


@pytest.mark.parametrize(("told", "shows", "is_another"), CASES)
def test_another_cuda_is_the_cause_and_the_one_asked_for_is_not(told: str, shows: str, is_another: bool) -> None:
    named = first(f"TensorFlow does not use my GPU\n\n{told}\n\n{shows}\n\nWhat can I do?\n")
    assert (named == "cuda-version-mismatch") is is_another


DLL = "ImportError: DLL load failed: The specified module could not be found."
SETUP = "Windows 10, GeForce GTX 1070, TensorFlow-GPU 1.13.1\n\nWhat is installed, in this order:\n\n1. Python 3.6.8\n2. Microsoft Visual C++ 2015 Redistributable (x64)\n3. {}\n4. cuDNN 7.4\n"


@pytest.mark.parametrize(
    ("named", "is_another"), [("Cuda_10.1.105_win10_network", True), ("Cuda_10.0.130_411.31_win10", False)]
)
def test_a_module_that_is_not_found_beside_a_cuda_that_is_told(named: str, is_another: bool) -> None:
    """Releases before 1.14 are linked with CUDA's libraries: the other CUDA is the cause whatever the text reads like."""
    cause = first(f"Import of TensorFlow fails\n\n{SETUP.format(named)}\n>>> import tensorflow\n{DLL}\n")
    assert (cause == "cuda-version-mismatch") is is_another


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("/opt/env/bin/../lib/libcudnn_ops_train.so.8: undefined symbol: _ZN5cudnn3ops26JoinInternalPriorityStreamEP12cudnnContexti, version libcudnn_ops_infer.so.8", "cudnn-version-mismatch"),
        ("libcudnn_ops_train.so.8: cannot open shared object file: No such file or directory", "cudnn-incomplete-install"),
    ],
)  # fmt: skip
def test_parts_of_two_cudnn_are_no_part_that_is_lost(error: str, cause: str) -> None:
    shown = f"Could not load library libcudnn_cnn_train.so.8. Error: {error}"
    assert (
        first(f"Training stops at the first step\n\ncuda 11.3, cudnn 8.6.0, Python 3.8\n\n{shown}\nAborted\n") == cause
    )
