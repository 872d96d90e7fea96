"""Set-ups that are told by halves, logs that are cut short, and reports in which nothing is wrong: what goes first, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

P = "2021-03-04 05:06:07.000123: "
SWIG = (
    'Traceback (most recent call last):\n  File "/usr/local/lib/tensorflow/python/pywrap_tensorflow.py", line 58, in <module>\n'
    "    from tensorflow.python.pywrap_tensorflow_internal import *\n"
)
HELPER = "    _pywrap_tensorflow_internal = swig_import_helper()\n"
IMPORT = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import tensorflow as tf\n'
ABSENT = "ImportError: DLL load failed: The specified module could not be found.\n"
CUBLAS = "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n"
CUDART = f"{P}W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n"
FREE = "name: GeForce RTX 2070 major: 7 minor: 5 memoryClockRate(GHz): 1.62\npciBusID: 0000:0{bus}:00.0\ntotalMemory: 7.79GiB freeMemory: {free}\n"
OPENED = (
    "{p}I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library {name}\n"
)
LOST = "{p}W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library '{name}'; dlerror: {name} not found\n"
CLUSTER = 'Two machines\nTF_CONFIG=\'{{"cluster": {{"worker": ["{a}:2222", "{b}:2222"]}}, "task": {{"type": "worker", "index": 0}}}}\'\n'
RUNS = "Cannot run with the GPU, it works with the CPU\n{p}I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library {name}\n{p}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1304] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 2457 MB memory) -> physical GPU (device: 0, name: NVIDIA GeForce {card}, pci bus id: 0000:01:00.0, compute capability: {has})\nname: NVIDIA GeForce {card} major: {has[0]} minor: {has[2]}\n"
PACKAGES = "/usr/lib/python3/dist-packages/"
NO_WHEEL, PATH, HELD, MISMATCH = (
    "tf-aarch64-no-wheel",
    "ld-library-path-not-set",
    "gpu-memory-held-by-other-process",
    "cuda-version-mismatch",
)
BROKEN, AMD, NEW, PROXY, NAMELESS = (
    "tf-import-broken",
    "amd-gpu",
    "gpu-too-new-for-build",
    "tf-config-proxy",
    "tf-config-host-unresolvable",
)


def within(*frames: tuple[str, str], error: str) -> str:
    """A traceback of an import of TensorFlow that goes on in other packages."""
    told = (
        ("tensorflow/__init__.py", "from tensorflow.python.tools import module_util"),
        ("tensorflow/python/__init__.py", "from tensorflow.python.eager import context"),
        *frames,
    )
    lines = "".join(f'  File "{PACKAGES}{file}", line 7, in <module>\n    {code}\n' for file, code in told)
    return f"It broke over night\n{IMPORT}{lines}{error}"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # whose memory is gone before the start
        ("training problem\n" + FREE.format(bus=1, free="38.12MiB") + FREE.format(bus=2, free="91.50MiB"), HELD),
        ("two notebooks at the same time\nWhen notebook A is open, a second notebook fails on the GPU. RTX 2070", HELD),
        # a board that is told by its cores, its kernel or its CUDA
        ("The import fails\n256-core NVIDIA Pascal @ 1300MHz\nunpacked tensorflow_gpu-1.13.1-cp36-cp36m-manylinux1_x86_64.whl\n" + SWIG, NO_WHEEL),
        ("The import fails\nkernel 4.9.140-tegra\nunzipped tensorflow-2.0.0-cp36-cp36m-manylinux2010_x86_64.whl\n" + SWIG, NO_WHEEL),
        ("The import fails\nCUDA 10.0.326, from the SD card image\nI renamed tensorflow-2.0.0-cp36-cp36m-manylinux2010_x86_64.whl\n" + SWIG, NO_WHEEL),
        # one user of several
        ("Second account cannot import tensorflow\nIn my own account it works.\n" + IMPORT + CUBLAS, PATH),
        ("A different user of the workstation does not get the GPU.\n" + CUDART, PATH),
        ("Der zweite Benutzer bekommt den Fehler nicht weg\n" + IMPORT + CUBLAS, PATH),
        # the one library that tells CUDA 11.0 from the later ones
        ("tensorflow 2.5.0 finds no GPU\n" + OPENED.format(p=P, name="libcusparse.so.11") + LOST.format(p=P, name="libcusolver.so.11"), MISMATCH),
        ("Cusolver still looks for version 10, each other dll is there\n" + OPENED.format(p=P, name="cudart64_110.dll"), MISMATCH),
        # a traceback that ends before its error
        ("import error with tensorflow-gpu 1.9\nCUDA 9.2 on Ubuntu 16.04\n" + SWIG + HELPER, MISMATCH),
        ("import error with tensorflow-gpu 1.9\nCUDA 9.0 on Ubuntu 16.04\n" + SWIG + HELPER, PATH),
        ("The import ends due to a missing libcuda.so.1\nIt is in a container.\n" + SWIG, "container-no-gpus-flag"),
        # where an import ends
        (within(("six.py", "import winreg"), error="AttributeError: module 'six' has no attribute 'ensure_str'"), BROKEN),
        (within(("google/protobuf/__init__.py", "__import__('pkg_resources')"), ("pkg_resources.py", "register(x)"), error="Attribute"), BROKEN),
        (within(("google/protobuf/descriptor.py", "from google.protobuf.pyext import _message"), error="ImportError: DLL load failed: The specified procedure could not be found."), "protobuf-mismatch"),
        # cards
        ("tensorflow-gpu 1.14, CUDA 10.0 on Windows 10\nGPU: AMD Radeon R7 M265\n" + IMPORT + ABSENT, AMD),
        ("TF 1.12 and A100\ntensorflow-gpu==1.12.0, CUDA 9.0\nIt works on a V100, on the A100 it does not.\n", NEW),
        ("A100 incompatible\nTensorFlow version: 1.15.5 (pip)\nIs there a way to make it run there? On a V100 it runs.", NEW),
        ("\u7248\u672c\u517c\u5bb9\ntensorflow-gpu 1.12 \u5728 3090 \u4e0a\u65e0\u6cd5\u8fd0\u884c\uff0c\u5728 1080Ti \u4e0a\u6b63\u5e38", NEW),
        ("Program crashes when training starts\ntensorflow-gpu 1.4, CUDA 9.1, cuDNN 7, Windows 10\npython.exe has stopped working\n", MISMATCH),
        ("Which versions?\ntensorflow-gpu 1.8 with CUDA 9.2 does not work, what do I do?\n", MISMATCH),
        # tasks that do not reach each other
        (CLUSTER.format(a="10.0.0.4", b="10.0.0.5") + '"Error received from peer ipv4:10.9.9.9:3128","grpc_message":"Socket closed"\n', PROXY),
        (CLUSTER.format(a="10.0.0.4", b="node7") + "UnavailableError: DNS resolution failed for node7:2222\n", NAMELESS),
        (CLUSTER.format(a="172.17.0.2", b="172.17.0.3") + "MultiWorkerMirroredStrategy hangs at its start, both machines wait for each other forever.\n", "tf-config-address-unreachable"),
        # a build from before its card
        (RUNS.format(p=P, name="cudart64_100.dll", card="RTX 3060", has="8.6"), "gpu-too-new-for-build"),
        (RUNS.format(p=P, name="libcudnn.so.7", card="RTX 3090", has="8.6"), "gpu-too-new-for-build"),
        # lines that are cut short
        (f"{P}E tensorflow/stream_executor/cuda/cuda_dnn.cc:359] could no", "gpu-memory-handle-alloc"),
        (f"{P}E tensorflow/stream_executor/cuda/cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNK", "cuinit-uvm-device-missing"),
        (IMPORT + "ImportError: DLL load failed: The specified mo", "msvc-runtime-missing"),
        (IMPORT + "ImportError: libcuda.so.1: cann", "driver-missing"),
    ],
)  # fmt: skip
def test_the_halves_are_put_together(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("training problem\n" + FREE.format(bus=1, free="7.55GiB") + FREE.format(bus=2, free="91.50MiB"), ""),
        (RUNS.format(p=P, name="cudart64_100.dll", card="RTX 2070", has="7.5"), ""),
        (RUNS.format(p=P, name="cudart64_110.dll", card="RTX 3060", has="8.6"), ""),
        ("PC with a GTX 1080\nunpacked tensorflow_gpu-1.13.1-cp36-cp36m-manylinux1_x86_64.whl by hand\n" + SWIG, BROKEN),
        ("I have a second user name here; no idea what is wrong\n" + IMPORT + "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n", "driver-missing"),
        ("No GPU\n" + OPENED.format(p=P, name="libcusparse.so.11") + LOST.format(p=P, name="libcudnn.so.8"), "cudnn-missing"),
        (within(("pandas/__init__.py", "import numpy"), error="ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject"), "numpy-abi-break"),
        ("AMD Ryzen 5 3600 and RTX 2060\ntensorflow-gpu 1.14, CUDA 10.0\n" + IMPORT + ABSENT, "msvc-runtime-missing"),
        (CLUSTER.format(a="10.0.0.4", b="10.0.0.5") + "it trains\n", ""),
        (f"{P}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1850] Adding visible gpu devices: 0", ""),
        ("Which GPUs are compatible with tensorflow 1.12? I have a GTX 1080", ""),
        ("Is TF 2.6 compatible with my RTX 3080?\nCUDA 11.2", ""),
        # nothing is wrong
        ("First inference is slow\nThe first image takes 3.1 s on my RTX 2080 Ti, the next ones 0.05 s each. Why, and can it be avoided?", ""),
        ("slow at the first call\nThe first call of sess.run takes about 4 sec, all others 15ms. GPU: GTX 1660 Ti", ""),
        ("First predict call\nThe first predict call takes about 4 minutes on the RTX 3090, later 20 ms. TensorFlow 2.2.", "jit-cold-start"),
        ("cpu usage\nwhy is my cpu usage 800% when gpu is at 100%? I thought all runs on the GPU", ""),
        ("Training takes longer than stated\nThe readme says 2 hours on a V100. My GTX 1080 takes 3 hours. What do I do wrong?", ""),
        ("Training takes long\nIn the paper it took 1 day on Titan X; on my GTX 970 it takes 40 hours. Why?", ""),
        ("Training is slow\nThe readme says 2 hours on a V100. My GTX 1080 takes 40 hours.", "cpu-starved-input"),
        ("Slow training on an RTX 3090\nThe readme says 2 hours on a GTX 1080. My RTX 3090 takes 6 hours. Why so slow?", "cpu-starved-input"),
    ],
)  # fmt: skip
def test_what_looks_alike_has_its_own_answer(text: str, cause: str) -> None:
    assert first(text) == cause
