"""Signs of a cause that stand beside the error: what helped, what did not, what else a machine, a card or a program shows; and the same
text without the sign, or with one that tells something else, which has another answer."""

from __future__ import annotations

import io

import pytest

from gpudoctor import api
from gpudoctor.facts import TextEvent, rates_to_others
from gpudoctor.logs import claims, cures
from gpudoctor.logs.notebook import Notebook
from tests.logs.judged import first, judged, said

P = "2021-11-07 12:33:18.310255: "
HANDLE = f"{P}E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
NO_ALGORITHM = (
    "UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize\n"
)
LOADED = f"{P}I tensorflow/stream_executor/cuda/cuda_dnn.cc:359] Loaded cuDNN version 8005\n"
UNKNOWN = f"{P}E tensorflow/stream_executor/cuda/cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
NO_LIBCUDA = f"{P}W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n"
NO_CUDNN = f"{P}W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\n[]\n"
REFUSED = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
INSUFFICIENT = "RuntimeError: CUDA failed with error CUDA driver version is insufficient for CUDA runtime version\n"
OFF_THE_BUS = (
    "nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible\n"
    "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2757) has fallen off the bus\n"
)
WHISPER = "Could not load library cudnn_ops_infer64_8.dll. Error code 126\nPlease make sure cudnn_ops_infer64_8.dll is in your library path!\n"
HELD, HANDLES = "gpu-memory-held-by-other-process", "gpu-memory-handle-alloc"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # what the driver, the kernel and the nodes show
        ("Plex in the jail does not transcode\n\nI saw that `/dev/nvidia-uvm` wasn't there. The list of TensorFlow is empty.\n", "cuinit-uvm-device-missing"),
        ("Error: API mismatch: The NVIDIA kernel module has version 1.0-8762, but the x module has the version 1.0-9631.\n", "driver-library-mismatch"),
        ("modprobe: ERROR: could not insert 'nvidia': No such device\n[ 2010.6] NVRM: No NVIDIA graphics adapter found!\n", "no-nvidia-gpu"),
        ("[ 2010.6] NVRM: No NVIDIA graphics adapter found!\n", "driver-nouveau-conflict"),
        ("FATAL: Error inserting nvidia (/lib/modules/2.6.32-358.18.1.el6.x86_64/extra/nvidia.ko): No such device\n", "driver-nouveau-conflict"),
        ("hashcat does not build its kernel\n\n# OpenCL Platform #1: Mesa\n- Device #1: NVD7, 1048576/1048576 MB allocatable, 2MCU\n", "driver-nouveau-conflict"),
        ("20211113 15:06:44 WARN: NVML: can't get fan speed for GPU #0, error code 15\n", "xid79-fell-off-bus"),
        (f"New programs fail, the one of yesterday runs on\n\n[2024-06-28T22:40:13+0900] [ALPM] upgraded nvidia-utils (550.90.07-1 -> 555.58-1)\n{UNKNOWN}", "driver-library-mismatch"),
        (f"New programs fail, the one of yesterday runs on\n\n[2024-06-28T22:40:13+0900] [ALPM] upgraded mesa (24.1.1-1 -> 24.1.2-1)\n{UNKNOWN}", "cuinit-uvm-device-missing"),
        (f"The tutorial in VirtualBox\n\nThe machine has no CUDA GPU in it\n{UNKNOWN}", "no-nvidia-gpu"),
        (f"My notebook's list is empty\n\nSince I put Armoury Crate into Eco mode the laptop lasts longer.\n{NO_LIBCUDA}", "optimus-gpu-powered-off"),
        (f"My notebook's list is empty\n\nThe laptop lasts longer now.\n{NO_LIBCUDA}", "driver-missing"),
        # containers
        ("time=\"2025\" /driver-root (/ on host): nvidia-smi: not found, libnvidia-ml.so.1: not found, current contents: [bin boot].\n", "container-driver-root-wrong"),
        (f"Docker is from the shop app \"Ubuntu Software\"\n\n{REFUSED}", "container-snap-docker"),
        (f"Docker is from docker.com\n\n{REFUSED}", "container-toolkit-missing"),
        ("# [1.1.0-gpu image] libcuda.so.1 shared object can't be opened\n", "container-no-gpus-flag"),
        ("pseudotv in docker\n\n[h264_nvenc @ 0x560cd67281a0] Cannot load libcuda.so.1\n", "container-no-gpus-flag"),
        # libraries
        ("libcurand.so.10 in the image\n\n[E:onnxruntime:Default, provider.cc:1548] Failed to load library libonnxruntime_providers_cuda.so with error: libcurand.so.10: cannot open shared object file: No such file or directory\n", "cuda-libs-missing"),
        (f"The list stays empty\n\nTF 2.11, CUDA 11.4\nsudo cp -P ./cuda/lib64/libcudnn* /usr/local/cuda/lib64/\n{NO_CUDNN}", "ld-library-path-not-set"),
        (f"The list stays empty\n\nTF 2.11, CUDA 11.4\n{NO_CUDNN}", "cudnn-missing"),
        (f"Whisper on Windows\n\nMy RX 580 does not run it.\n{WHISPER}", "amd-gpu"),
        (f"Whisper on Windows\n\nMy RTX 3060 does not run it.\n{WHISPER}", "cudnn-incomplete-install"),
        ("The image of Custom Vision has a problem with protobuf\n\nTraceback (most recent call last):\n  File \"/predict.py\", line 7, in <module>\n    import tensorflow as tf\n  File \"/usr/lib/python3.7/site-packages/tensorflow_core/python/__init__.py\", line 52, in <module>\n", "protobuf-mismatch"),
        ("Doesn't run on CentOS, glibc 2.17\n\nThis wheel was made with glibc 2.23.\nImportError: Traceback (most recent call last):\n", "glibc-too-old"),
        # architectures
        ("flash-attn on the Spark\n\nTriton gives up, ptxas says \"Value 'sm_121a' is not defined for option 'gpu-name'\"\n", "ptxas-too-old"),
        ("ptxas fatal   : Value 'sm_100' is not defined for option 'gpu-name'\n", "ptxas-too-old"),
        ("ptxas fatal   : Value 'sm_30' is not defined for option 'gpu-name'\n", "cuda-version-mismatch"),
        ("nvcc fatal : Value 'sm_61' is not defined for option 'cpu-architecture'\n\nCUDA 7.5, GTX1080\n", "gpu-too-new-for-build"),
        ("ValueError: invalid literal for int() with base 10: 'MIG-2e782cfd-36f2-55ff-a7d5-c6734444be2b'\n", "mig-single-instance-limit"),
        # what programs say of the version that they were built with
        ("CUDA backend failed to initialize: Found cuDNN version 8600, but JAX was built against version 8906, which is newer.\n", "cudnn-version-too-old"),
        ("CUDA backend failed to initialize: Found cuDNN version 8906, but JAX was built against version 90100, which is newer.\n", "cudnn-wrong-major"),
        ("CUDA backend failed to initialize: Found cuBLAS version 120205, but JAX was built against version 120304, which is newer.\n", "cublas-version-mismatch"),
        ("Check failed: (cudnn_cuh_major == cudnn_dso_major) [cudnn init] libcudnn v5 with header v7 unmatched!\n", "cudnn-wrong-major"),
        ("FAIL : LoadLibrary failed with error 126 \"\" when trying to load \"D:\\\\net6.0\\\\onnxruntime_providers_cuda.dll\"\n", "cuda-version-mismatch"),
        ("error in open: /usr/local/cuda/bin/../nvvm/libdevice/libdevice.compute_50.10.bc\n", "libdevice-missing"),
        ("Triton on NixOS\n\nRuntimeError: Cannot find ptxas\n", "ptxas-missing"),
        ("DeepEP aborts when only some GPU pairs have CUDA peer access\n\nRuntimeError: Failed: CUDA error 'peer access is not supported between these two devices'\n", "multi-gpu-topology-no-p2p"),
        # what people say of themselves
        ("It says that a driver is missing\n\nRuntimeError: Found no NVIDIA driver on your system.\nBut my gpu is an amd one.\n", "amd-gpu"),
        ("It says that a driver is missing\n\nRuntimeError: Found no NVIDIA driver on your system.\nMy processor is an amd one.\n", "driver-missing"),
        ("The power does not change with the profile\n\nOn linux the GPU seems to be capped at 80W, though the laptop is able to do 105W.\n", "gpu-throttling-power"),
        ("No module named tensorflow, and it is installed\n\nI have it installed; from the Terminal it runs.\nIn Jupyter the code ends with the error that is given further down.\n<ipython-input-1-cdfb01024084> in <module>\nModuleNotFoundError: No module named 'tensorflow'\n", "jupyter-kernel-other-environment"),
        ("No way to have 2 processes on the same GPU\n\nI've to find out who uses it and kill it.\nTHCudaCheck FAIL file=THCStorage.cu line=66 error=46 : all CUDA-capable devices are busy or unavailable\n", "gpu-exclusive-busy"),
        ("Import fails on Windows\n\n- GPU model and memory: APU AMD A10 - AMD GPU R6 M340DX 2GB\nRuntimeError: Found no NVIDIA driver on your system.\n", "amd-gpu"),
        ("Rendering in Google Colab\n\nError: Found no Cycles device of the specified type\n", "colab-cpu-runtime"),
        ("CUPTI\n\nF tensorflow/core/platform/default/gpu/cupti_wrapper.cc:59] Check failed: could not dlopen DSO: libcupti.so.8.0\n", "ld-library-path-not-set"),
        ("Images come from the processor\n\nUnder System Info I read 2.0.0+cpu Autocast half.\n", "tf-cpu-only-package"),
        ("hashcat finds no platform\n\nopen(\"/dev/nvidia-uvm\", O_RDWR|O_CLOEXEC) = -1 EIO (Input/output error)\n", "cuinit-uvm-device-missing"),
        ("hashcat finds no platform\n\nopen(\"/dev/nvidia0\", O_RDWR|O_CLOEXEC) = -1 EIO (Input/output error)\n", "driver-rminit-failed"),
        ("my RTX2080ti can't be used for training\n\n- OS Platform and Distribution :windows10\n- TensorFlow version (use command below):tensorflow-gpu-1.8.0\n- CUDA/cuDNN version:cuda9.2 cudnn7.2\n- GPU model and memory:RTX 2080ti 11G\n\nTraining ends with exit code -1073741819 (0xC0000005)\n2018-10-29 14:18:40.275850: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1435] Adding visible gpu devices: 0\n", "gpu-too-new-for-build"),
        ("Torch not compiled with CUDA enabled\n\nThe specs of my PC:\nCPU :- AMD 7 5800x\nGPU :- AMD 6600xt\nAssertionError: Torch not compiled with CUDA enabled\n", "amd-gpu"),
        ("Cuda devices unavailable or busy\n\n| N/A   66C    P0   253W / 300W |   9000MiB / 16152MiB |     98%   E. Process |\n", "gpu-exclusive-busy"),
        ("Old photos\n\nRuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n|   0  GRID T4-8Q          On   | 00000000:00:09.0 Off |                  N/A |\n| N/A   N/A    P8    N/A /  N/A |    592MiB /  8192MiB |      0%      Default |\n", "vgpu-unlicensed"),
        ("It ends while it is imported\n\nImportError: Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.\nOSError: [WinError 126] The specified module could not be found\n", "driver-missing"),
        ("It takes very long to create an array on the GPU\n\nThe program hangs in mx.ndarray.ones if the GPU is an NVIDIA Turing one. It doesn't crash.\n", "jit-cold-start"),
        ("The yaml files give an environment with the CPU version of pytorch\n\n`mamba env create -f a.yml` should build it, and the solver goes for the CPU-only `pytorch`.\n", "conda-cpu-build"),
        ("nvidia hwaccel_args don't do anything for me\n\n2023-11-12 18:38:50 frigate.video ERROR : [AVHWDeviceContext @ 0x5581c02e3400] Cannot load libcuda.so.1\n", "container-no-gpus-flag"),
        ("nvidia hwaccel_args don't do anything for me\n\n2023-11-12 18:38:50 ffmpeg ERROR : [AVHWDeviceContext @ 0x5581c02e3400] Cannot load libcuda.so.1\n", "driver-missing"),
        # what is denied
        ("The container does not start\n\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.\nThere was no driver; I had been convinced that the laptop has no NVIDIA card.\n", "container-host-driver-broken"),
        ("Which torch build do I need?\n\ntorch.cuda.is_available() returns False, nvidia-smi works. How can I use the GPU?\n", "tf-cpu-only-package"),
        # collectives and links
        ("(RayWorkerWrapper pid=1890) Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error\n", "nccl-wrong-interface"),
        ("Moving a tensor from one gpu to another doesn't work\n\nThe values on the second are zeros.\n", "nccl-p2p-iommu-acs"),
        ("An epoch takes eight times as long in the mining rig\n\nWould mixed precision help here?\nGPU Link Info\nPCIe Generation\nMax : 3\nCurrent : 1\nLink Width\nMax : 16x\nCurrent : 1x\nSix GTX 1070, TF 2.6\n", "pcie-link-degraded"),
        ("Each epoch is slower than the one before\n\nGPU-Z: 480 MHz, 87 C, PerfCap Reason \"Thrm\"\n", "gpu-throttling-thermal"),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # a handle that growing memory does not cure, or that others may take the memory of
        (f"allow_growth = True n'apporte rien, TF 1.14, CUDA 10.0, cuDNN 7.1.4\n\n{NO_ALGORITHM}", ["cudnn-version-too-old"]),
        (f"It worked until the 2.5 rollout\n\n{LOADED}tensorflow/stream_executor/cuda/cuda_dnn.cc:352] ... but source was compiled with: 8.1.0\n{HANDLE}", ["cudnn-version-too-old", HANDLES]),
        (f"pip list has nvidia-cudnn-cu12 9.1.0\n\ntorch wants `nvidia-cudnn-cu13`, both are in site-packages/nvidia/cudnn/lib\n{HANDLE}", ["cu12-cu13-wheel-clash", HANDLES]),
        # what is not asserted, as something is behind it
        ("Error: Could not load UVM kernel module. Is nvidia-modprobe installed?\n\nmodprobe: FATAL: Module nvidia_uvm not found in directory /lib/modules/4.4.0-83-generic\n", ["driver-module-not-loaded", "cuinit-uvm-device-missing"]),
        ("bitsandbytes on [WSL2]\n\nCUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching /usr/local/cuda/lib64...\nCUDA SETUP: WARNING! libcuda.so not found! Do you have a CUDA driver installed?\nCUDA SETUP: CUDA runtime path found: /usr/local/cuda/lib64/libcudart.so\n", ["wsl-libcuda-path", "ld-library-path-not-set"]),
        ("nvidia-htop ends\n\nFileNotFoundError: [Errno 2] No such file or directory: 'nvidia-smi': 'nvidia-smi'\n       product: G98 [GeForce 9300 GS]\n       vendor: NVIDIA Corporation\n       configuration: driver=nouveau latency=0\n", ["driver-missing", "gpu-compute-capability-too-old"]),
        (f"It trains in docker\n\n{HANDLE}InternalError: Failed to load in-memory CUBIN: CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device\n", ["gpu-too-new-for-build", HANDLES]),
        (f"RTX 4090 laptop, booting hangs\n\n{OFF_THE_BUS}", ["optimus-gpu-powered-off", "xid79-fell-off-bus"]),
        (f"Whisper runs on the CPU\n\n# nvidia-smi\n-bash: nvidia-smi: command not found\n{INSUFFICIENT}", ["driver-missing", "driver-too-old"]),
        ("nvidia-smi said Driver/library version mismatch\n\n$ sudo apt purge '*nvidia*'\nNow nvidia-smi: command not found\n", ["driver-missing"]),
        (f"Copies in docker from snap\n\n{REFUSED.replace('could not', 'runtime create failed: unable to retrieve OCI runtime error: fork/exec /var/snap/docker/common/nvidia-container-runtime: no such file or directory; could not')}", ["container-snap-docker"]),
    ],
)  # fmt: skip
def test_what_is_behind_goes_first_and_nothing_is_asserted(text: str, names: list[str]) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[: len(names)] == names


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The power goes off\n\nEach time an image is made the computer loses its power.\nThe power supply is a 650W one.\nGPU: AMD Radeon Pro W7900\nROCm 6.0.0\n", "amd-gpu"),
        ("Does it support MIG?\n\nThe basecall server has shut down successfully while the GPU was at work.\n", "psu-insufficient"),
        ("A container on a Jetson\n\nFROM dustynv/l4t-ml:r32.6.1-py3\nimport cv2\nImportError: libcublas.so.10: cannot open shared object file: No such file or directory\n", "tf-aarch64-cpu-only"),
        ("The image has no libcublas.so\n\n/usr/lib/aarch64-linux-gnu/libcublas.so  file not recognized: File truncated\n-rw-r--r-- 1 root root 0 Jul  1  2020 /usr/lib/aarch64-linux-gnu/libcublas.so.10.2.2.89\n", "tf-aarch64-cpu-only"),
    ],
)  # fmt: skip
def test_what_is_not_asserted(text: str, cause: str) -> None:
    assert cause not in said(judged(text))[0]


@pytest.mark.parametrize(
    "text", [f"It fails at the first step\n\n{HANDLE}", f"It worked until the 2.5 rollout\n\n{LOADED}{HANDLE}"]
)
def test_a_handle_without_more(text: str) -> None:
    assert said(judged(text))[0] == [HANDLES]


@pytest.mark.parametrize(
    ("sentence", "cause"),
    [
        ("Then I moved container-toolkit up to 1.13.5. Now opencl was all right again.", "container-toolkit-too-old"),
        ("I added systemd.unified_cgroup_hierarchy=0 and it works", "container-cgroupv2-unsupported"),
        ("Setting no-cgroups = true solved it", "container-rootless-cgroups"),
        ("I removed the snap docker and now it works", "container-snap-docker"),
        ('ldconfig = "@/sbin/ldconfig" fixed it', "container-ldconfig-path"),
        ("docker context use default solved it", "container-docker-desktop-linux"),
        ("After I deployed the device plugin it works", "k8s-device-plugin-not-registered"),
        ("With iommu=pt, TP=4 uses the four GPUs as it should", "nccl-p2p-iommu-acs"),
        ("I removed cuda-compat and it works", "cuda-compat-unsupported"),
        ("I disabled MIG and it works now", "mig-single-instance-limit"),
        ("I booted the older kernel and everything works", "driver-kernel-incompatible"),
        ("I installed linux-headers and the problem is gone", "driver-module-not-loaded"),
        ("export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/lib/cuda solved it", "libdevice-missing"),
        ("I installed nvidia-cuda-nvcc and it works", "ptxas-missing"),
        ("I cleared LD_LIBRARY_PATH and it works", "ld-library-path-wrong-toolkit"),
        ("It works after I installed the matching fabric manager", "fabric-manager-version-mismatch"),
        ("KERAS_BACKEND=tensorflow solved it", "keras-backend-not-tensorflow"),
        ("I added prefetch and the problem is gone", "cpu-starved-input"),
        ("cuDNN 8.9 instead of 9.1 solved it", "cudnn-wrong-major"),
        ("I removed the Linux driver inside WSL and it works", "wsl-driver-toolkit-mismatch"),
        ("I reseated the card and the problem is gone", "pcie-link-degraded"),
        ("The remedy was to remove tensorflow beside tensorflow-gpu", "tf-packages-overlap"),
        ("What it took: a link to /usr/lib/wsl/lib/libcuda.so.1. With that it works.", "wsl-libcuda-path"),
    ],
)
def test_what_helped(sentence: str, cause: str) -> None:
    understood = cures.line(sentence, 1, Notebook())
    assert understood is not None
    assert understood.values == {"cause": cause}


@pytest.mark.parametrize(
    "sentence",
    [
        "I moved container-toolkit up to 1.13.5. It still fails.",
        "I set XLA_FLAGS=--xla_gpu_cuda_data_dir=/opt/x. That part is solved.",
        "Should I reseat the card, would that have helped?",
        "a link to /usr/lib/wsl/lib/libcuda.so.1. It is a laptop.",
    ],
)
def test_what_did_not_help(sentence: str) -> None:
    assert cures.line(sentence, 1, Notebook()) is None


def test_a_release_candidate_that_was_taken_away_is_no_matter_of_python() -> None:
    text = (
        "tensorflow-gpu==2.3.0rc0 can't be installed\n\nWhy is it not there any more for my Python, please?\nUbuntu 18.04.5, Python 3.7.12\nI asked pip for it:\n"
        "ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==2.3.0rc0 (from versions: 1.13.1, 1.14.0, 1.15.0, 2.0.0, "
        "2.1.0, 2.2.0, 2.3.0, 2.3.1, 2.4.0)\nERROR: No matching distribution found for tensorflow-gpu==2.3.0rc0\n"
    )
    assert said(judged(text))[0] == []


def test_a_file_that_a_program_finds_in_its_second_place_is_not_lost() -> None:
    text = (
        "libcusparse.so.11 is missing\n\nCUDA is of cuda_12.2.0_535.54.03_linux.run, there is a libcusparse.so.12.\n"
        "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...\n"
        "DEBUG: Possible options found for libcudart.so: {PosixPath('/usr/local/cuda/lib64/libcudart.so')}\n"
        "libcusparse.so.11: cannot open shared object file: No such file or directory\nCUDA_VERSION=118 make cuda11x\n"
    )
    assert first(text) == "cuda-version-mismatch"


def test_a_line_that_is_nothing_but_a_requirement() -> None:
    """What is left of it, once what is only required is taken away, is empty."""
    text = "(TF 2.0's binaries want CUDA 10.0 and CuDNN >= 7.6 however.)"
    assert claims.line(text, 1, Notebook()) is None
    assert api.log(io.BytesIO(text.encode())).diagnosis.root_causes == ()


def test_rates_of_one_way_to_the_others() -> None:
    row = {"row": "1", "rates": "25.0 800.0 50.0"}
    event = TextEvent(line=1, language="nvidia-smi", kind="peer-rates", text="", values={**row, "ways": "both"})
    assert rates_to_others(event) == (12.5, 25.0)
    event = TextEvent(line=1, language="nvidia-smi", kind="peer-rates", text="", values={**row, "ways": "one"})
    assert rates_to_others(event) == (25.0, 50.0)


def test_an_xid_that_is_denied_is_none() -> None:
    text = "All-reduce dropped to 190 GB/s after the maintenance\n\nNo Xid 79 in dmesg.\nGPU 3: NVIDIA A100-SXM4-80GB\nLink 4: <inactive>\n"
    assert said(judged(text))[0] == []
    assert first(text.replace("No Xid 79 in dmesg", "Xid 79 in dmesg")) == "xid79-fell-off-bus"


def test_who_asks_behind_a_clear_report_has_a_fault() -> None:
    """A question alone has none (test_asked_before.py)."""
    text = (
        "GPU in the container only after I deleted NVIDIA_VISIBLE_DEVICES=void from our base image\n\nTwo days are lost: the base image of our "
        "company sets ENV NVIDIA_VISIBLE_DEVICES=void, so that services don't take GPUs. My image is made from it, with TF 2.13, and has no libcuda "
        "and no /dev/nvidia*. With -e NVIDIA_VISIBLE_DEVICES=all both GPUs are there. What is the recommended value for no GPU?\n"
    )
    assert first(text) == "container-visible-devices-wrong"


@pytest.mark.parametrize(("loaded", "older"), [("90100", True), ("90300", False), ("8906", False)])
def test_the_number_of_a_later_cudnn(loaded: str, older: bool) -> None:
    built = f"{P}E tensorflow/stream_executor/cuda/cuda_dnn.cc:352] ... but source was compiled with: 9.3.0\n"
    roots, candidates = said(judged(f"Since the update it fails\n\n{LOADED.replace('8005', loaded)}{built}{HANDLE}"))
    assert (candidates[:1] == ["cudnn-version-too-old"]) is older
    assert (roots == [HANDLES]) is not older


def test_jax_says_itself_that_cudnn_is_older() -> None:
    line = "CUDA backend failed to initialize: Found cuDNN version {}, but JAX was built against version {}, which is newer.\n"
    assert said(judged(line.format(8600, 8906)))[0] == ["cudnn-version-too-old"]
    assert said(judged(line.format(90100, 90300)))[0] == ["cudnn-version-too-old"]
    assert said(judged(line.format(8906, 90100)))[0] == []
