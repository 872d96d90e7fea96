"""The same in other forms: later releases, other systems, other frameworks, and what mail and forums make of a line."""

from __future__ import annotations

import pytest

from gpudoctor.logs.text import clean
from tests.logs.judged import judged, said

CLI = "nvidia-container-cli: "
TORCH = "RuntimeError: CUDA out of memory. Tried to allocate 32.00 MiB (GPU 0; {total} total capacity; {own} already allocated; {free} free; {reserved} reserved in total by PyTorch)\n"
TORCH_2 = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 31.73 GiB of which 700.00 MiB is free. "
    "Process 8123 has {others} memory in use. Of the allocated memory {own} is allocated by PyTorch, and {unused} is reserved by PyTorch but unallocated.\n"
)
DYLIB = (
    "ImportError: dlopen(/Users/eva/tf/lib/python3.5/site-packages/tensorflow/python/_pywrap_tensorflow.so, 10): Library not loaded: @rpath/{}\n"
    "  Referenced from: /Users/eva/tf/lib/python3.5/site-packages/tensorflow/python/_pywrap_tensorflow.so\n  Reason: image not found\n"
)
STUB = '  File "/tmp/pip-install-a1b2c3d4/{}/setup.py", line 40, in <module>\n    setuptools.setup()\n'
NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})\n"
MISMATCH = """[   44.100001] NVRM: API mismatch: the client has the version 535.230.02, but
[   44.100002] NVRM: this kernel module has the version 535.183.01.  Please
[   44.100003] NVRM: make sure that this kernel module and all NVIDIA driver
[   44.100004] NVRM: components have the same version.
"""
NO_FIRMWARE = """[   51.200001] nvidia 0000:3b:00.0: Direct firmware load for nvidia/535.183.01/gsp_tu10x.bin failed with error -2
[   51.200002] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x61:0x2:1500)
"""
HELD, TOO_LARGE, MEMORY = "gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "gpu-memory-handle-alloc"
LOADED = (
    "error while loading shared libraries: libcuda.so.1: cannot open shared object file: No such file or directory\n"
)
STAMP = "2022-02-03 04:05:06.000123: "


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the driver is too old for the image
        (CLI + "requirement error: requirements not met: \ncuda>=13.1||brand=unknown&&driver>=570&&driver<571||brand=grid&&driver>=570: unknown\n", "container-driver-too-old"),
        (CLI + "requirement error: requirements not met: cuda>=12.9||brand=tesla&&driver>=535&&driver<536: unknown\n", "container-driver-too-old"),
        ("cuda>=13.0||brand=unknown&&driver>=550&&driver<551: unknown\n", "container-driver-too-old"),
        # the beginning of a line is cut off
        ("rror: driver not loaded: unknown.\n", "container-host-driver-broken"),
        ("driver not loaded: unknown\n", "container-host-driver-broken"),
        ("Error: device cgroup rules are not supported in rootless mode or in a user namespace\n", "container-rootless-cgroups"),
        ("Failed to initialize nvml: unknown error inside docker\nIt worked for some hours.\n", "container-cgroup-devices-lost"),
        (MISMATCH + NO_FIRMWARE, "driver-library-mismatch"),
        ("podman run x\n" + CLI + "mount error: failed to add device rules: unable to create new device filters program: load program: operation not permitted\n", "container-rootless-cgroups"),
        ('docker from snap: could not select device driver "" with capabilities: [[gpu]]\n', "container-snap-docker"),
        ('Docker Desktop for Linux: could not select device driver "" with capabilities: [[gpu]]\n', "container-docker-desktop-linux"),
        ("cudaGetDeviceCount returned 35\n", "driver-too-old"),
        ("Check failed: error == cudaSuccess (35 vs. 0)\n", "driver-too-old"),
        ('time=x level=WARN msg="CUDA driver version too old" driver=11.4\n', "driver-too-old"),
        ("tensorflow grabs all 11 GB for a small model\n", "tf-preallocates-all-memory"),
        ("ModuleNotFoundError: No module named 'tensorflow' since the new image\n", "tf-not-installed"),
        ("I see libcudart.so.10.0 in /usr/local/cuda-10.0/lib64, yet ImportError: libcudart.so.10.0: cannot open shared object file\n", "ld-library-path-not-set"),
        ("Grace Hopper node: no GPU is found by tensorflow\n", "tf-aarch64-cpu-only"),
        # PyTorch's numbers
        (TORCH.format(total="15.90 GiB", own="0 bytes", free="61.75 MiB", reserved="0 bytes"), HELD),
        (TORCH.format(total="11.17 GiB", own="512.00 KiB", free="12.50 MiB", reserved="2.00 MiB"), HELD),
        (TORCH.format(total="7.79 GiB", own="6.01 GiB", free="180.00 MiB", reserved="6.70 GiB"), TOO_LARGE),
        (TORCH_2.format(others="30.90 GiB", own="28.20 GiB", unused="1.90 GiB"), TOO_LARGE),
        (TORCH_2.format(others="30.90 GiB", own="0 bytes", unused="0 bytes"), HELD),
        # cuDNN
        ("Loaded cudnn library: 5005 but source was compiled against 5103.  If using a binary install, upgrade\n", "cudnn-version-too-old"),
        ("Loaded runtime CuDNN library: 5005 (compatibility version 5000) but\nsource was compiled with 5103 (compatibility version 5100).\n", "cudnn-version-too-old"),
        ("Outdated cuDNN installation found.\nVersion JAX was built against: 90300\nInstalled version: 8905\n", "cudnn-version-too-old"),
        ("cuMulticastBindMem failed with invalid argument\n", "nccl-nvls-fabric-manager"),
        ("an exception of unsupported PTX in a kernel of ours\n", "driver-too-old-for-ptx"),
        # packages
        (STUB.format("tf-nightly-gpu_00112233445566778899aabbccddeeff"), "tensorflow-gpu-package-removed"),
        (STUB.format("tensorflow-gpu"), "tensorflow-gpu-package-removed"),
        ("      python_version>\"3.7\"\n                    ^\n", "tensorflow-gpu-package-removed"),
        ("找不到 zlibwapi.dll\n", "zlibwapi-missing"),
        ("zlibwapi.dll找不到\n", "zlibwapi-missing"),
        ("it says that zlibwapi.dll can't be found\n", "zlibwapi-missing"),
        ("Unable to find the library zlibwapi.dll\n", "zlibwapi-missing"),
        # a Mac with a card of NVIDIA
        ("CUDA 9.0 is installed.\n" + DYLIB.format("libcudart.8.0.dylib"), "cuda-version-mismatch"),
        ("cuDNN 6 is installed, see cudnn-8.0-osx-x64-v6.0.\n" + DYLIB.format("libcudnn.5.dylib"), "cudnn-wrong-major"),
        # TensorFlow's lines, broken and linked
        (
            (f"{STAMP}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1023] Ignoring visible gpu device (device: 0, name: Quadro K620M, pci bus\n"
            "id: 0000:02:00.0, compute capability: 2.1) with Cuda compute capability 2.1. The minimum\nrequired Cuda capability is 3.0.\n"),
            "gpu-compute-capability-too-old",
        ),
        (STAMP + "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2211] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0.\nWhy does it take that long to start?\n", "jit-cold-start"),
        # the fields of a form, each answer on the next line
        ("- **TensorFlow version (use command below)**:\n1.6\n\n- **CUDA/cuDNN version**:\n9.1\n\nImportError: libcublas.so.9.0: cannot open shared object file\n", "cuda-version-mismatch"),
        ("I use the tensorflow-gpu package and want to run a model on it. The cuda 10.2 toolkit is installed.\nImportError: libcudart.so.10.0: cannot open shared object file\n", "cuda-version-mismatch"),
        ("My CUDA is 9.1. Is a build for it hard to make?\nImportError: libcudart.so.9.0: cannot open shared object file\n", "cuda-version-mismatch"),
        ("tensorflow 1.9 asks for cuda 9.0 though I have another one\nnvcc: release 9.2, V9.2.64\nCuda compilation tools, release 9.2, V9.2.64\nCould not find 'cudart64_90.dll'\n", "cuda-version-mismatch"),
        ("VS 2019 is installed\nGPU: NVIDIA RTX A4000\ntensorflow 2.14.0\ntensorflow doesn't use the GPU\n", "tf-windows-native-cpu-only"),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Err:7 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  InRelease\n  403  Forbidden\nE: Unable to locate package nvidia-container-toolkit\n", "container-toolkit-missing"),
        ("E: Package 'nvidia-docker2' has no installation candidate\n", "container-toolkit-missing"),
        ("No match for argument: nvidia-container-toolkit\n", "container-toolkit-missing"),
        ("E: The repository 'https://nvidia.github.io/nvidia-docker/ubuntu18.04/amd64  Release' does not have a Release file.\n", "container-toolkit-missing"),
        (f"The services that docker compose starts end so:\n{LOADED}", "container-no-gpus-flag"),
        (f"compose.yaml\nservices:\n  work:\n    image: registry/work\n{LOADED}", "container-no-gpus-flag"),
        ("With runc the plugin puts nvidia.com/gpu: 0 on the node\n" + CLI + "mount error: file creation failed: /run/x: no such device or address\n", "container-runtime-not-default"),
        ("cudaGetDeviceCount returned 30\n-> unknown error\n", "cuinit-uvm-device-missing"),
        ("Check failed: error == cudaSuccess (30 vs. 0)  unknown error\n", "cuinit-uvm-device-missing"),
        ("cuda runtime error (999) : unknown error at THCGeneral.cpp:50\n", "cuinit-uvm-device-missing"),
        ("$ optirun ./deviceQuery\ncudaGetDeviceCount returned 30\n", "optimus-gpu-powered-off"),
        ("cudaGetDeviceCount returned 38\nCUDA_VISIBLE_DEVICES=9\n", "cuda-visible-devices-wrong"),
        ("cuMulticastCreate returned 802\n", "fabric-manager-not-running"),
        ("clocks fall at 92 degrees, SW Thermal Slowdown: Active\n", "gpu-throttling-thermal"),
        ("CUDA error 38: no device\n", "cuda-visible-devices-wrong"),
        ("miner: CUDA error code: 803\n", "driver-library-mismatch"),
        ("cuInit()=804\n", "cuda-compat-unsupported"),
        ("CUDA initialization failed with error 30\n", "cuinit-uvm-device-missing"),
        ("CUDA error: 209\n", "gpu-too-new-for-build"),
        ("no kernel image is available\nwith --xla_gpu_force_compilation_parallelism=1 it runs\n", "driver-too-old-for-ptx"),
        ("in LXC cuInit gives 999\n", "cuinit-uvm-device-missing"),
        ("Windows, nvcuda.dll not found\n", "driver-missing"),
        ("libcuda.so.1: cannot open; it is in /run/opengl-driver/lib\n", "driver-libcuda-not-on-path"),
        ("all_reduce_perf hangs\nnvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021]\n", "nccl-p2p-iommu-acs"),
        ("[   77.000001] NVRM: GPU2 RPC event history (CPU <- GSP):\n", "xid119-gsp-timeout"),
        ("[   77.000001] NVRM: GPU0 RPC history (CPU -> GSP):\n", "xid119-gsp-timeout"),
        ("kernel 6.8, GSP timeout\n", "xid119-gsp-timeout"),
        ("the GSP firmware crashed after an hour\n", "xid119-gsp-timeout"),
        ("modprobe: ERROR: could not insert 'nvidia': Function not implemented\n", "driver-module-not-loaded"),
        (NONE.format("torch==1.12.1", "2.0.0, 2.0.1, 2.1.0"), "python-version-unsupported"),
        (NONE.format("tensorflow-rocm", "none"), "python-version-unsupported"),
        ("ERROR: No matching distribution found for jaxlib==0.4.7\n", "python-version-unsupported"),
        ("Python 3.10\n" + NONE.format("tensorflow-gpu==2.11", "2.8.0, 2.9.0, 2.10.0, 2.10.1"), "tf-windows-native-cpu-only"),
        ("MacBook Pro with an M1 Pro chip\nAssertionError: Torch not compiled with CUDA enabled\n", "tf-macos-no-cuda"),
        ("AssertionError: Torch not compiled with CUDA enabled\n", "tf-cpu-only-package"),
        ("Outdated cuBLAS installation found.\n", "cuda-version-mismatch"),
        (DYLIB.format("libcudart.7.5.dylib"), "cuda-toolkit-missing"),
        (
            (f"{STAMP}E tensorflow/stream_executor/cuda/[cuda_driver.cc:328](http://cuda_driver.cc:328/)] failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver\n"
            f"{STAMP}E tensorflow/stream_executor/cuda/cuda_diagnostics.cc:313<http://cuda_diagnostics.cc:313>] kernel version 470.199.2 does not match DSO version 470.223.2 -- cannot find working devices in this configuration\n"),
            "driver-library-mismatch",
        ),
        ("CUDA 8.0 is installed.\n" + DYLIB.format("libcudart.8.0.dylib"), "ld-library-path-not-set"),
        (STAMP + "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'nvcuda.dll'; dlerror: nvcuda.dll not found\n", "driver-missing"),
        ("Could not load library libcudnn_cnn_infer.so.8. Error:\nlibcuda.so: cannot open shared object file: No such file or directory\n", "wsl-libcuda-path"),
        ("The CNN fails, it seems cuDNN failed to initialize.\n", MEMORY),
        ("a cudnn error in conv1d, fixed by set_memory_growth\n", MEMORY),
        ("allow_growth helps: no cudnn error any more\n", MEMORY),
        ("RTX 30XX with tensorflow 1.15\nCan I use it?\n", "gpu-too-new-for-build"),
        ("RTX 3080, and the first epoch begins late\nCudatoolkit (from conda) 10.1.243\n", "gpu-too-new-for-build"),
        ("cuda was reinstalled as 9.1, tensorflow is updated to 1.5\nTraceback (most recent call last):\n  File \"/srv/a/site-packages/tensorflow/python/x.py\", line 28, in <module>\n    import tensorflow\n", "cuda-version-mismatch"),
        ("Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found\nThe cuda paths are all in PATH.\n", "ld-library-path-not-set"),
        ("Two GPUs: NCCL hangs, p2p is not supported on my GeForce I read\n    Device=0 CAN Access Peer Device=1\n", "nccl-p2p-iommu-acs"),
    ],
)  # fmt: skip
def test_it_is_the_likely_one(text: str, cause: str) -> None:
    roots, candidates = said(judged(text))
    assert (roots, candidates[:1]) == ([], [cause])


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-container-toolkit is already the newest version (1.16.2-1).\n",
        "Get:5 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  InRelease [1477 B]\n",
        STAMP + "I tensorflow/core/common_runtime/gpu/gpu_device.cc:2211] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.\n",
        "AttributeError: module 'tensorflow._api.v2.experimental' has no attribute 'dtensor'\nIt fails with the numpy of our tests, too.\n",
        "cuBLAS error with tensorflow 2.15\n" + STAMP + "E external/local_xla/xla/stream_executor/cuda/cuda_blas.cc:1515] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered\n",
        "a warning each time I import it in conda\n" + STAMP + "E cuda_fft.cc:477] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered\n",
        "allow_growth works as documented\n",
        "30 vs. 20 epochs, which is better?\n",
    ],
)  # fmt: skip
def test_nothing_is_wrong(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_a_factory_beside_another_complaint_is_not_what_is_asked() -> None:
    factory = f"{STAMP}E cuda_blas.cc:1515] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered\n"
    assert said(judged(f"cuBLAS error\n{factory}RuntimeError: CUBLAS_STATUS_NOT_INITIALIZED\n"))[1]
    assert said(judged(f"no GPU is used in docker since the update, why?\n{factory}"))[1]


def test_a_warning_that_is_not_there_is_asked_about() -> None:
    assert said(judged("a warning that no GPU is found in docker, since the update\n"))[1]


def test_a_file_that_was_looked_for_is_not_there() -> None:
    text = "looked for libcudart.so.10.0 in /usr/local/cuda-10.0/lib64 in vain\nImportError: libcudart.so.10.0: cannot open shared object file\n"
    assert said(judged(text))[0] == []


def test_a_module_that_another_place_finds_is_not_just_absent() -> None:
    text = "ModuleNotFoundError: No module named 'tensorflow' in the notebook, in the terminal it is there\n"
    assert said(judged(text))[0] == []


def test_a_driver_of_linux_that_lists_all_says_nothing_of_windows() -> None:
    offered = NONE.format("tensorflow-gpu==2.11", "2.8.0, 2.10.1, 2.12.0")
    assert said(judged(f"Python 3.10\n{offered}"))[1][:1] != ["tf-windows-native-cpu-only"]


def test_a_label_with_its_version_is_no_question() -> None:
    text = "- **Cuda compilation tools, release 9.2, V9.2.64**:\n- **cudnn:7.1.4**:\nImportError: libcublas.so.8.0: cannot open shared object file\n"
    assert said(judged(text)) == (["cuda-version-mismatch"], [])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Ignoring visible gpu device (device: 0\n2022-01-01 00:00:00.000001: I another\n", 2),
        ("Ignoring visible gpu device (device: 0\nname: A\nb\nc\nd\n", 2),
        ("Ignoring visible gpu device (device: 0, name: A) with Cuda multiprocessor count: 5.\nnext\n", 2),
        ("see Loaded runtime CuDNN library: 7.1\n\nnext\n", 2),
        ("Ignoring gpu device (device: 0, a\n", 1),
    ],
)
def test_what_is_broken_ends(text: str, lines: int) -> None:
    assert len(clean(text).lines) == lines


def test_other_links_stay() -> None:
    (line,) = clean("see [this answer](https://example.org/a) and [b](http://b)\n").lines
    assert line.text == "see [this answer](https://example.org/a) and [b](http://b)"
