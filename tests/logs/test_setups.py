"""What people tell of what they have, and the same words where they tell nothing of it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

SMI_FAILS = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
STUB = "failed call to cuInit: UNKNOWN ERROR (34)\n"
INTEL = "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620 (rev 07)\n"
NVIDIAS = "01:00.0 3D controller: NVIDIA Corporation TU117M [T500] (rev a1)\n"
REFUSED = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
ARM = "WARNING: The requested image's platform (linux/amd64) does not match the detected host platform (linux/arm64/v8) and no specific platform was requested\n"
LOST = "Could not load dynamic library '{name}'; dlerror: {name}: cannot open shared object file: No such file or directory\n"
NO_CUDART = LOST.format(name="libcudart.so.11.0")
NO_CUSOLVER = LOST.format(name="libcusolver.so.11")
DLOPEN = (
    "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly\n"
)
IN_WHEEL = "/srv/v/lib/python3.12/site-packages/nvidia/cusolver/lib/libcusolver.so.11\n"
OFFERED = "ERROR: Could not find a version that satisfies the requirement tensorflow=={version} (from versions: 2.16.1, 2.16.2, 2.17.0, 2.18.0, 2.19.0, 2.20.0)\n"
PLAN = "  tensorflow                       2.8.0-{before}_py39h4655687_0 --> 2.8.0-{after}_py39h01bd6f0_0\n"
DLL_8 = "TF 2.10 on Windows 10\nCould not load dynamic library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found\n"
NO_HANDLE = "failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
IN_NOTEBOOK = "<ipython-input-3-64156d691fe5> in <module>\n----> 1 import tensorflow as tf\nModuleNotFoundError: No module named 'tensorflow'\n"
ROUTINE = "ImportError: DLL load failed{where}: A dynamic link library (DLL) initialization routine failed.\n"
PROCEDURE = "ImportError: DLL load failed: The specified procedure could not be found.\n"
PB2 = (
    "    from tensorflow.core.framework.graph_pb2 import *\n    from google.protobuf import descriptor as _descriptor\n"
)
SWIG = "    _pywrap_tensorflow_internal = swig_import_helper()\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the bus
        ("$ lspci | grep -E 'VGA|3D'\n" + INTEL + STUB, "no-nvidia-gpu"),
        ("$ sudo lspci -nn\n" + INTEL + STUB, "no-nvidia-gpu"),
        ("modprobe: ERROR: could not insert 'nvidia': No such device\n$ lspci | grep -i vga\n" + INTEL + STUB, "no-nvidia-gpu"),
        ("$ lspci | grep -i vga\n" + INTEL + STUB, "libcuda-stub-loaded"),  # 3D controllers are not in it
        ("$ lspci | grep -E 'VGA|3D'\n" + INTEL + NVIDIAS + STUB, "libcuda-stub-loaded"),
        ("$ lspci | grep -E 'VGA|3D'\n" + INTEL + STUB + "What about my RTX A1000?\n", "libcuda-stub-loaded"),
        # Docker on a Mac
        ("Docker on my MacBook\n$ docker run --gpus all tensorflow/tensorflow:latest-gpu nvidia-smi\n" + REFUSED, "no-nvidia-gpu"),
        (ARM + REFUSED + "Apple M2\n", "no-nvidia-gpu"),
        ("Docker Desktop for Mac\n" + REFUSED, "no-nvidia-gpu"),
        (ARM + REFUSED, "container-toolkit-missing"),
        ("From my MacBook I log in by ssh, and there\n" + REFUSED, "container-toolkit-missing"),
        ("docker on my Mac is fine, on our server I get\n" + REFUSED, "container-toolkit-missing"),
        ("docker on my mac works, where the two T4 are it does not\n" + REFUSED, "container-toolkit-missing"),
        # no toolkit
        ("I only have the driver, no CUDA toolkit is installed\n" + NO_CUDART, "cuda-toolkit-missing"),
        ("There is no /usr/local/cuda at all\n" + NO_CUDART, "cuda-toolkit-missing"),
        ("`find / -name 'libcudart*'` returns nothing\n" + NO_CUDART, "cuda-toolkit-missing"),
        ("I have not installed the CUDA toolkit yet\n" + LOST.format(name="cudart64_110.dll"), "cuda-toolkit-missing"),
        ("There is no /usr/local/cuda-11.2 here\n" + NO_CUDART, None),
        ("Is it bad that no CUDA toolkit is installed?\n" + NO_CUDART, None),
        ("On another machine no CUDA toolkit is installed\n" + NO_CUDART, None),
        ("No CUDA toolkit is installed\nconda install cudatoolkit=11.2\n" + NO_CUDART, None),
        ("No CUDA toolkit is installed\n" + LOST.format(name="libcudnn.so.8"), None),
        ("I have not installed the CUDA toolkit by apt but with NVIDIA's runfile\n" + NO_CUDART, None),
        ("If no CUDA toolkit is installed it is the same\n" + NO_CUDART, None),
        # the gap of one release
        ("pip install 'tensorflow[and-cuda]==2.21.0'\n" + NO_CUSOLVER + IN_WHEEL, "tf-wheel-runpath-gap"),
        ("pip install 'tensorflow[and-cuda]==2.20.0'\n" + NO_CUSOLVER + IN_WHEEL, "pip-nvidia-libs-not-found"),
        ("pip install 'tensorflow[and-cuda]==2.21.0'\n" + NO_CUSOLVER + LOST.format(name="libcudart.so.12") + IN_WHEEL, "pip-nvidia-libs-not-found"),
        ("pip install 'tensorflow==2.21.0'\n" + NO_CUSOLVER + "/usr/local/cuda-12.5/lib64/libcusolver.so.11\n", "ld-library-path-not-set"),
        # the C library
        (OFFERED.format(version="2.21.0") + "ldd (GNU libc) 2.17\n", "glibc-too-old"),
        (OFFERED.format(version="2.21.0") + "Linux-3.10.0-1160.el7.x86_64-x86_64-with-glibc2.17\n", "glibc-too-old"),
        (OFFERED.format(version="2.21.0") + "ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35\n", None),
        (OFFERED.format(version="2.25.0") + "ldd (GNU libc) 2.17\n", None),
        (OFFERED.format(version="2.15.0") + "ldd (GNU libc) 2.17\n", "python-version-unsupported"),
        # packages
        ("GPU is not used\ntensorflow and tensorflow-gpu 1.12 are both installed here\n", "tf-packages-overlap"),
        ("GPU is not used\ntensorflow-gpu alongside tensorflow in the same env\n", "tf-packages-overlap"),
        ("GPU is not used\nwe have both tensorflow and tensorflow-gpu 1.8\n", "tf-packages-overlap"),
        ("GPU is not used\nboth tensorflow and tensorflow-gpu, 2.3.0, TensorFlow 2.3.0\n", None),
        ("GPU is not used\nShould tensorflow and tensorflow-gpu both be installed?\n", None),
        ("GPU is not used\nI removed tensorflow and tensorflow-gpu is installed\n", None),
        ("This TensorFlow came without CUDA\n" + PLAN.format(before="cpu", after="cuda112"), "conda-cpu-build"),
        (PLAN.format(before="cpu", after="cuda112"), None),
        ("GPU is not used, still not after this\n" + PLAN.format(before="cpu", after="cuda112"), None),
        # cuDNN on Windows
        (DLL_8 + "07/03/2024  01:10           265,256 cudnn64_9.dll\n", "cudnn-wrong-major"),
        (DLL_8 + "-a----        07.03.2024     01:10         265256 cudnn64_9.dll\n", "cudnn-wrong-major"),
        (DLL_8 + r"PATH=C:\Program Files\NVIDIA\CUDNN\v9.1\bin;C:\Windows" + "\n", "cudnn-wrong-major"),
        (DLL_8 + "07/03/2024  01:10           265,256 cudnn64_8.dll\n", None),
        (DLL_8 + r"PATH=C:\Program Files\NVIDIA\CUDNN\v9.1\bin;C:\Program Files\NVIDIA\CUDNN\v8.6\bin" + "\n", None),
        # which card
        ("works fine on V100 but fails on A100\nTF 1.15, " + NO_HANDLE, "gpu-too-new-for-build"),
        ("works fine on A100 but fails on V100\nTF 1.15, " + NO_HANDLE, None),
        ("V100 and A100\nTF 2.6, " + NO_HANDLE, "gpu-memory-handle-alloc"),
        # whose Python
        (IN_NOTEBOOK, "tf-not-installed"),
        (IN_NOTEBOOK + "In the terminal it is fine.\n", None),
    ],
)  # fmt: skip
def test_what_is_there(text: str, cause: str | None) -> None:
    assert said(judged(text))[0] == ([cause] if cause else [])


def test_a_desktop_that_is_a_macs() -> None:
    """It is no matter of Docker's."""
    desktop = "I use docker desktop for mac\n" + REFUSED
    assert said(judged(desktop))[0] == ["no-nvidia-gpu"]


AMD = "My desktop has a Radeon RX 7900 XT{and}.\n" + SMI_FAILS
WANTED = "I have reinstalled Python twice now and it is always the same error, please help me\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (AMD.format(**{"and": ""}), "amd-gpu"),
        (AMD.format(**{"and": " for the screens and an RTX 3080"}), "driver-module-not-loaded"),
        ("$ sudo prime-select intel\n" + INTEL + SMI_FAILS, "optimus-gpu-powered-off"),
        # a library of many
        ("TF 2.6\nRUN apt-get install cuda-cudart-11-2 libcublas-11-2\n" + LOST.format(name="libcufft.so.10") + DLOPEN, "cuda-libs-missing"),
        ("TF 2.6\n/usr/local/cuda-11.2/bin/nvcc\n" + NO_CUDART + LOST.format(name="libcufft.so.10") + DLOPEN, "ld-library-path-not-set"),
        # a card
        ("same job is fine on A100 nodes and fails on H100 nodes\nTF 2.6.0\n" + NO_HANDLE, "gpu-too-new-for-build"),
        ("same job fails on RTX 2080 and is fine on RTX 3090\nTF 2.6.0\n" + NO_HANDLE, "gpu-memory-handle-alloc"),
        # a processor
        (SWIG + ROUTINE.format(where=""), "cpu-no-avx"),
        ("TensorFlow 1.14 on Windows\n" + ROUTINE.format(where=""), "cpu-no-avx"),
        ("Ryzen 5 3600\n" + SWIG + ROUTINE.format(where=""), "msvc-runtime-missing"),
        ("It worked until Monday\n" + SWIG + ROUTINE.format(where=""), "msvc-runtime-missing"),
        ("TensorFlow 1.4 on Windows\n" + ROUTINE.format(where=""), "msvc-runtime-missing"),
        (ROUTINE.format(where=" while importing _pywrap_tensorflow_internal"), "msvc-runtime-missing"),
        # an image
        ("The image that I built has no CUDA inside\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n", "cuda-libs-missing"),
        ("Does the image need CUDA?\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n", "cuda-version-mismatch"),
        # a notebook
        (IN_NOTEBOOK + "top right it says base (Python 3.11.4)\n", "jupyter-kernel-other-environment"),
        (IN_NOTEBOOK + "the environment tf2 lists it\n", "jupyter-kernel-other-environment"),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert [*roots, *candidates][0] == first


def test_what_helps_tells_of_memory() -> None:
    text = "convolution fails in the second script (cuDNN error, RTX 2070, CUDA 10 and cuDNN 7.4)\n\nThe first one {growth}.\nWhat can I do in the second script, which I did not write, to make it run on this card?\n"
    helps, does_not = (
        judged(text.format(growth=g)) for g in ("works with allow_growth", "does not run with allow_growth")
    )
    roots, candidates = said(helps)
    assert helps.facts.text.said("growth-helps")
    assert [*roots, *candidates][0] == "gpu-memory-handle-alloc"
    assert not does_not.facts.text.said("growth-helps")


def test_a_library_of_protobuf_that_does_not_load() -> None:
    assert "protobuf-mismatch" in said(judged(PB2 + PROCEDURE))[1][:2]
    assert "protobuf-mismatch" not in said(judged(PROCEDURE))[1][:2]


def test_a_module_of_node_that_is_not_there() -> None:
    """It was not installed, which is no matter of CUDA."""
    text = "Error: Cannot find module 'D:\\app\\node_modules\\@tensorflow\\tfjs-node-gpu\\lib\\napi-v5\\tfjs_binding.node'\n"
    assert not judged(text).facts.text.said("node-binding")


def test_an_old_processor_is_likely() -> None:
    """Where somebody tells of it."""
    told = "TensorFlow fails on the old PC in the office\n" + SWIG + ROUTINE.format(where="") + WANTED + "Windows 7\n"
    assert said(judged(told))[0] == ["cpu-no-avx"]
