"""Circumstances, cards and statements that put one of the causes left first."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Unread
from tests.logs.judged import judged, said
from tests.logs.test_complaints import first as answer

NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
CPU = "\nNum GPUs Available: 0\n"
EMPTY, WRONG = "cuda-visible-devices-empty", "cuda-visible-devices-wrong"
PATH = "ld-library-path-not-set"


def first(text: str) -> str:
    """The cause that is named first, decided or not."""
    return answer(text).rstrip("?")


TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/a/site-packages/tensorflow/__init__.py", line 4, in <module>\n    from tensorflow.python import *\n'


@pytest.mark.parametrize(
    "asked",
    [
        "CUDA 9 is needed",
        "This code requires CUDA 8.0",
        "it only works with cuda 10",
        "the wheel was built for CUDA 9.0",
    ],
)
def test_which_cuda_a_program_asks_for(asked: str) -> None:
    assert first(f"{TRACEBACK}\n") == "tf-import-broken"
    assert first(f"{asked}\n{TRACEBACK}\n") == "cuda-version-mismatch"


PART = "Could not load library libcudnn_ops_infer.so.8. Error: {}/libnvrtc.so: undefined symbol: nvrtcGetCUBIN\n"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("CUDA_VISIBLE_DEVICES=$0 ./train.py", WRONG),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "1"', WRONG),
        ("os.environ['CUDA_VISIBLE_DEVICES']='2,3'", WRONG),
        ("export CUDA_VISIBLE_DEVICES=4", WRONG),
        ("export CUDA_VISIBLE_DEVICES=", EMPTY),
        ("export CUDA_VISIBLE_DEVICES=''", EMPTY),
        ("CUDA_VISIBLE_DEVICES=-1 python3 train.py", EMPTY),
        ("export CUDA_VISIBLE_DEVICES=0", EMPTY),
        ("CUDA_VISIBLE_DEVICES=${GPU} python3 train.py", EMPTY),
        ("CUDA_VISIBLE_DEVICES=$GPU python3 train.py", EMPTY),
        ("python3 train.py --gpu 0", EMPTY),
        ("I ran python3 train.py", WRONG),
    ],
)
def test_the_value_that_is_set(line: str, cause: str) -> None:
    both = [one for one in said(judged(f"{line}\n{NO_DEVICE}"))[1] if one in (EMPTY, WRONG)]
    assert both[0] == cause
    assert len(both) == 2


def test_who_names_a_gpu_hides_none() -> None:
    asks = "environment variable CUDA_VISIBLE_DEVICES, why does it hide the GPUs?\n"
    assert EMPTY in said(judged(asks))[1]
    assert EMPTY not in said(judged(f"{asks}export CUDA_VISIBLE_DEVICES=3\n"))[1]


@pytest.mark.parametrize(
    "card",
    [
        "RX580", "rx 470", "RX 6800 XT", "RX 7900 XTX", "Radeon Pro 5500", "Vega 56", "RX 9070 XT", "Instinct MI250",
    ],
)  # fmt: skip
def test_cards_of_amd(card: str) -> None:
    text = f"tensorflow doesn't use the GPU, though there's a {card} in the computer{CPU}"
    assert first(text) == "amd-gpu"


@pytest.mark.parametrize("card", ["GTX 1060", "MX150", "Quadro K620"])
def test_a_card_of_nvidia_beside(card: str) -> None:
    text = f"tensorflow doesn't use the GPU, though there's a RX580 in the computer{CPU}"
    assert first(f"{text}and the {card}\n") != "amd-gpu"


@pytest.mark.parametrize("card", ["Intel Arc A770", "Arc B580", "Iris Xe", "Intel UHD 620"])
def test_cards_of_intel(card: str) -> None:
    assert first(f"tensorflow doesn't use the GPU, a laptop with {card} inside{CPU}") == "no-nvidia-gpu"


@pytest.mark.parametrize(
    "text",
    [
        "In that directory I looked, the file is there.",
        "I checked, the dll exists",
        "cudart64_90.dll is present in the bin folder",
        "It works in the terminal",
        "From the command line everything is fine",
        "in a shell it ran",
        "only in Qt Creator",
        "the IDE doesn't know the variable",
    ],
)
def test_the_file_is_there(text: str) -> None:
    lost = "ImportError: Could not find 'cudart64_90.dll'.\n"
    assert first(lost) != PATH
    assert first(f"{lost}{text}\n") == PATH


@pytest.mark.parametrize(
    "text", ["Is the file there?", "there is a file missing", "I run it from Windows", "nothing works"]
)
def test_the_file_is_not_there(text: str) -> None:
    assert first(f"ImportError: Could not find 'cudart64_90.dll'.\n{text}\n") != PATH


@pytest.mark.parametrize("directory", ["/usr/local/cuda-10.1/targets/x86_64-linux/lib", "/opt/cuda/8.0/lib64"])
def test_a_library_of_another_toolkit(directory: str) -> None:
    assert first(PART.format(directory)) == "ld-library-path-wrong-toolkit"
    assert first("libcudnn_ops_infer.so.8 error\n" + PART.format(directory)) == "ld-library-path-wrong-toolkit"
    assert first(PART.format("/usr/lib")) != "ld-library-path-wrong-toolkit"


def test_what_reads_so_comes_first_where_no_line_shows_it() -> None:
    told = "After every suspend the GPU in docker containers isn't used until the host is restarted\n"
    assert first(f"{told}docker run --gpus all image\n") == "cuinit-unknown-after-suspend"


@pytest.mark.parametrize(
    "listed",
    [
        "[PhysicalDevice(name='/physical_device:XLA_GPU:0', device_type='XLA_GPU')]",
        'device_type: "XLA_GPU"',
        "/device:XLA_GPU:0",
    ],
)
def test_only_xla_sees_the_gpu(listed: str) -> None:
    assert first(f"{listed}{CPU}") == "cuda-version-mismatch"
    assert first(f"{listed.replace('XLA_GPU', 'XLA_CPU')}{CPU}") != "cuda-version-mismatch"
    assert said(judged(f"/physical_device:GPU:0\n{listed}\nPhysicalDevice(name='/physical_device:GPU:0'")) == ([], [])


CONVOLUTION = "could not launch the convolution: CUDNN_STATUS_INTERNAL_ERROR\n"


@pytest.mark.parametrize(
    ("told", "hints"),
    [
        ("since the change to an RTX2070 it does not run", True),
        ("After I switched to a 3080 every convolution fails", True),
        ("I replaced it: after upgrading my graphics card nothing trains", True),
        ("the same code works on my old GTX 1080", True),
        ("it runs fine with an older card", True),
        ("after changing the batch size the card is idle", False),
        ("it works on the other machine", False),
        ("I got a new GTX 1080", False),
    ],
)
def test_a_card_that_was_changed(told: str, hints: bool) -> None:
    assert (first(f"{told}\n{CONVOLUTION}") == "gpu-too-new-for-build") is hints


def test_what_decides_is_kept_of_a_long_line() -> None:
    line = f"RuntimeError: Error while calling cudnnConvolutionForward({'descriptor(data), ' * 40}) code: 8, reason: CUDNN_STATUS_EXECUTION_FAILED"
    (event,) = judged(line).facts.text.said("cudnn-failed")
    assert event.text.endswith("reason: CUDNN_STATUS_EXECUTION_FAILED")
    assert event.text.startswith("…")
    assert len(event.text) == 400
    assert first(line) == "gpu-too-new-for-build"


@pytest.mark.parametrize(
    "told",
    [
        "Environment:\n - Installed by conda\n - No GPU\n",
        "when a machine has *no* GPU this is printed:\n",
        "I run it on my laptop without a GPU\n",
    ],
)
def test_who_says_that_there_is_no_gpu(told: str) -> None:
    line = "E tensorflow/stream_executor/cuda/cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR (303)\n"
    assert first(told + line) == "no-nvidia-gpu"
    assert first("GPU: GeForce RTX 2080\n" + told + line) != "no-nvidia-gpu"
    assert first(line) != "no-nvidia-gpu"


def test_a_symbol_that_cuinit_misses_is_of_windows_driver() -> None:
    line = "cuda_driver.cc:282] failed call to cuInit: CUDA_ERROR_NOT_FOUND: named symbol not found\n"
    assert first(line) == "wsl-driver-toolkit-mismatch"


def test_a_link_to_colab_is_no_place() -> None:
    run = "docker run -it tensorflow/tensorflow:latest-gpu jupyter --NotebookApp.allow_origin='https://colab.research.google.com'\n"
    line = "cuda_diagnostics.cc:163] no NVIDIA GPU device is present: /dev/nvidia0 does not exist\n"
    assert first(run + line) == "container-no-gpus-flag"
    assert first("on colab:\n" + line) == "colab-cpu-runtime"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # a host is named, and no container
        (
            "failed call to cuInit: CUDA_ERROR_NO_DEVICE\nkernel driver does not appear to be running on this host (pedro): /proc/driver/nvidia/version does not exist\n",
            "driver-module-not-loaded",
        ),
        (
            "in docker: failed call to cuInit: CUDA_ERROR_NO_DEVICE\nkernel driver does not appear to be running on this host (pedro): /proc/driver/nvidia/version does not exist\n",
            "container-no-gpus-flag",
        ),
        # a GPU that is chosen by its number
        ("$ python train.py --gpu 1\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE\n", "cuda-visible-devices-wrong"),
        ("$ python train.py --gpu 0\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE\n", "cuda-visible-devices-empty"),
        # the file is there, and what it needs is not
        (
            "the directory of cudnn_cnn_infer64_8.dll is there\nCould not load library cudnn_cnn_infer64_8.dll. Error code 126\n",
            "zlibwapi-missing",
        ),
        ("Could not load library cudnn_cnn_infer64_8.dll. Error code 126\n", "cudnn-incomplete-install"),
        # GeForce cards without NVLink
        ("all_reduce_perf hangs, two RTX 4090\n", "p2p-unsupported-geforce"),
        ("all_reduce_perf hangs, two RTX 5880 Ada\n", "nccl-p2p-iommu-acs"),
        # not another vendor's card, but Colab's
        ("Colab: Found no NVIDIA driver on your system. Mine is a Radeon RX 6600\n", "colab-cpu-runtime"),
        # who is asked tells nothing
        (
            "Must I install CUDA 10.1? What I have is CUDA 11.\nCould not load dynamic library 'libcudart.so.10.1'; dlerror: not found\n",
            "cuda-version-mismatch",
        ),
        # conda's libraries lie where pip's TensorFlow does not look
        (
            "conda install -c conda-forge cudatoolkit-dev\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: not found\n",
            "ld-library-path-not-set",
        ),
        ("Could not load dynamic library 'libcudart.so.11.0'; dlerror: not found\n", "cuda-version-mismatch"),
        # a container that is named anywhere
        (
            "Found no NVIDIA driver on your system. Please check that you\nI run it in docker\n",
            "container-no-gpus-flag",
        ),
        ("AssertionError:\nFound no NVIDIA driver on your system. Please check that you\n", "driver-missing"),
        ("ResourceExhaustedError on GPU\n", "gpu-oom-model-or-data"),
        ("It's very slow, and only 1 to 5% of the GPU is used\n", "cpu-starved-input"),
        (
            "The pod does not run when using cgroupsv2\nError response from daemon: OCI runtime create failed: error running hook\n",
            "container-cgroupv2-unsupported",
        ),
        # the driver's own tools
        ("ERROR: NVIDIA driver is not loaded\n", "driver-module-not-loaded"),
    ],
)
def test_what_is_named_goes_first(text: str, cause: str) -> None:
    roots, candidates = said(judged(text))
    assert (roots, candidates[:1]) == ([], [cause])


def test_an_error_after_the_import_is_none_of_the_import() -> None:
    of_work = judged("import tensorflow as tf\nSystemError: GPU device not found\n")
    assert isinstance(of_work.facts.tensorflow.import_error, Unread)
    of_import = judged("import tensorflow as tf\nSystemError: initialization of _internal failed\n")
    assert of_import.facts.tensorflow.import_error == "SystemError: initialization of _internal failed"
