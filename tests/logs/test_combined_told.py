"""What two facts of a text decide together, neither of them alone."""

from __future__ import annotations

import pytest

from gpudoctor.compat.built_for import least_of_pytorch, newest_of_pytorch
from gpudoctor.facts import TextEvent
from tests.logs.judged import first, judged, said

NO_IMAGE = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
NEW, OLD = "gpu-too-new-for-build", "gpu-compute-capability-too-old"


@pytest.mark.parametrize(
    ("card", "build", "cause"),
    [
        ("RTX 3090", "pytorch 1.3.1", NEW),
        ("RTX 3080", "torch==1.6.0", NEW),
        ("RTX 5090", "torch 2.5.1", NEW),
        ("GTX 1050", "torch 2.8.0+cu128", OLD),
        ("Tesla P40", "torch-2.9.1+cu130", OLD),
        ("Tesla V100", "torch 2.9.0+cu130", OLD),
    ],
)
def test_a_card_and_a_release_of_pytorch_decide(card: str, build: str, cause: str) -> None:
    assert first(f"It fails on my card\n\nI have a {card} and {build}\n\n{NO_IMAGE}\n") == cause


@pytest.mark.parametrize(
    ("card", "build"),
    [
        ("RTX 3090", "torch 1.10.0+cu113"),
        ("RTX 5090", "torch 2.7.1+cu128"),
        ("GTX 1080 Ti", "torch 2.8.0+cu126"),
        ("Tesla V100", "torch 2.8.0+cu128"),
    ],
)
def test_a_card_that_pytorch_has_code_for(card: str, build: str) -> None:
    roots, _ = said(judged(f"It fails on my card\n\nI have a {card} and {build}\n\n{NO_IMAGE}\n"))
    assert not {NEW, OLD} & {*roots}


def test_what_pytorch_is_to_be_had_for() -> None:
    assert [newest_of_pytorch(one) for one in ((1, 3), (1, 9), (2, 5), (2, 12))] == [(10, 1), (11, 1), (12, 4), (13, 0)]
    assert [least_of_pytorch(one) for one in ((12, 6), (12, 8), (13, 0))] == [(0, 0), (7, 0), (7, 5)]


def test_who_builds_tensorflow_himself_has_the_cuda_that_he_names() -> None:
    text = "A100 fails\n\nTF 2.4.1 built by us with CUDA 10.1 for our A100 nodes\n\nInternalError: CUDA_ERROR_NO_BINARY_FOR_GPU\n"
    assert first(text) == NEW
    assert first(text.replace(" built by us", "").replace("10.1", "11.0")) != NEW


@pytest.mark.parametrize(
    "computer", ["16' MBP of 2019", "MacBook Pro of 2019", "iMac with Monterey", "Mac mini, macOS 13"]
)
def test_on_a_mac_the_maker_of_the_card_does_not_matter(computer: str) -> None:
    text = f"No GPU\n\n{computer}, AMD Radeon Pro 5500M\ntf.config.list_physical_devices('GPU') returns []\n"
    assert said(judged(text))[0] == ["tf-macos-no-cuda"]
    assert first(text.replace(computer, "A desktop PC, Ubuntu 22.04")) == "amd-gpu"


LOST = "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory"


def test_a_library_is_lost_in_the_notebook_alone() -> None:
    text = f"Importing tensorflow in a jupyter notebook fails:\n{LOST}\n"
    assert first(f"{text}In ipython and at the command prompt the import is fine.\n") == "ld-library-path-not-set"
    assert first(f"{text}At the command prompt it fails as well.\n") != "ld-library-path-not-set"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("NVRM: Xid (PCI:0000:00:0b): 13, Graphics SM Warp Exception\nNVRM: Xid (PCI:0000:00:0b): 109, CTX SWITCH TIMEOUT\n", "xid13-31-43-app-or-gpu-fault"),
        ("NVRM: Xid (PCI:0000:00:0b): 109, CTX SWITCH TIMEOUT\n", "xid-hardware-fault"),
    ],
)  # fmt: skip
def test_a_context_switch_that_follows_a_program(text: str, cause: str) -> None:
    assert first(text) == cause


def test_peers_of_one_direction() -> None:
    pairs = "".join(
        f"cannot enable peer access from device ordinal {a} to device ordinal {b}\n" for a in (0, 1) for b in (2, 3)
    )
    assert first(f"Peer access between the cards of one machine\n\n{pairs}") == "multi-gpu-topology-no-p2p"
    assert first(pairs) != "multi-gpu-topology-no-p2p"
    cut = "".join(f"Device=0 CANNOT Access Peer Device={n}\n" for n in (1, 2, 3))
    assert first(f"P2P between 3090s\n\nNVIDIA GeForce RTX 3090\n{cut}") == "p2p-unsupported-geforce"


PART = "Could not load library libcublasLt.so.12. Error: libcublasLt.so.12: cannot open shared object file"


def test_a_cudnn_for_another_cuda() -> None:
    text = (
        "Ubuntu 22.04, RTX 4080, CUDA 11.7, cuDNN 8.8\n"
        f"Driver API Version: 12.0, Runtime API Version: 11.7\n{PART}\n11.7目录里没有12的文件, 不能换CUDA 12, 怎么办?\n"
    )
    another = ("cuda-version-mismatch", "cuda-lib-from-other-toolkit")
    assert first(text) in another
    assert first(text.replace("11.7, cu", "12.1, cu").rpartition("\n1")[0]) not in another


def test_as_long_as_is_no_time() -> None:
    text = (
        "No GPU since I have keras\n\nI have tensorflow-gpu 1.0.1, it does see the GPU as long as keras isn't there.\n"
    )
    assert "gpu-no-faster" not in {e.kind for e in _events(text)}
    slow = "I have tensorflow-gpu 1.15, and on the GPU an epoch takes as long as on the CPU.\n"
    assert "gpu-no-faster" in {e.kind for e in _events(slow)}


def _events(text: str) -> tuple[TextEvent, ...]:
    events = judged(text).facts.text.events
    assert isinstance(events, tuple)
    return events


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Slow for hours\n\nThe GPU ran at Gen2 x16 for three hours of real training, 8 GB/s where 64 are due.\n", "pcie-link-degraded"),
        ("out of memory on the next start\n\nEarlier processes still hold their memory on the T4: CUDA out of memory\n", "gpu-memory-held-by-other-process"),
        ("libcudnn\n\n/venv/lib/python3.10/site-packages/nvidia/cudnn/lib/ 里有 libcudnn_ops_infer.so.8\nCould not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory\n", "pip-nvidia-libs-not-found"),
        ("In docker\n\nI run the image nvidia/cuda:11.5.1-base, is_available() gives False there\n", "container-no-gpus-flag"),
    ],
)  # fmt: skip
def test_said_so(text: str, cause: str) -> None:
    assert first(text) == cause


WARNS = "2021-01-01 10:00:00.000000: W tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic library"


@pytest.mark.parametrize(
    ("library", "path", "cause"),
    [
        ("libcusolver.so.10", "/usr/local/cuda-11.2/lib64", "cuda-version-mismatch"),
        ("libcusolver.so.11", "/usr/local/cuda-11.0/lib64", "cuda-version-mismatch"),
    ],
)
def test_a_toolkit_on_the_path_that_does_not_bring_it(library: str, path: str, cause: str) -> None:
    lost = f"{WARNS} '{library}'; dlerror: {library}: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: {path}\n"
    lost += (
        f"{WARNS} 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file; LD_LIBRARY_PATH: {path}\n"
    )
    assert first(f"No GPU with my cuda\n\n{lost}") == cause


def test_a_loader_of_old_is_no_new_wheel() -> None:
    text = f"{WARNS} 'libcusolver.so.11'; dlerror: libcusolver.so.11: cannot open shared object file: No such file or directory\n"
    assert first(text) != "tf-wheel-runpath-gap"


def test_ranks_on_one_host_look_for_no_interface() -> None:
    text = "AllReduce hangs\n\nall_reduce_perf with 4 GPUs hangs, the usage is 100%.\n# Rank 0 on {0} device 0 GeForce GTX 1080 Ti\n{0}:14120:14120 [0] NCCL INFO NET/Socket : Using [0]eth0:10.2.3.41<0>\n{1}:14120:14120 [1] NCCL INFO NET/Socket : Using [0]eth0:10.2.3.42<0>\n"
    _, candidates = said(judged(text.format("vmk", "vmk")))
    assert candidates[-1:] == ["nccl-wrong-interface"] or "nccl-wrong-interface" not in candidates
    _, between = said(judged(text.format("vmk", "vml")))
    assert between.index("nccl-wrong-interface") < len(between) - 1


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("NVLS multicast team of NCCL\n\nThe multicast bind fails on three ranks: cuMulticastBindMem() returned CUDA error 802 \"system not yet initialized\", a second later the team was formed\n", "nccl-nvls-fabric-manager"),
        ("NCCL\n\nFailed to bind NVLink SHARP (NVLS) Multicast memory: CUDA error 401\nThe H100 nodes have NVSwitch, but no Fabric Manager service runs there.\n", "fabric-manager-not-running"),
        ("cuda stops now and then\n\nEvery so often, mostly when the laptop was asleep and has been woken:\nUserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment\n", "cuinit-unknown-after-suspend"),
        ("In docker\n\nI start a docker container with --gpus all and nvidia-smi says\nNVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nThe problem is gone once I run ldconfig inside the container.\n", "container-ldconfig-path"),
        ("LD_LIBRARY_PATH has to be set\n\nCould not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file\n\nexport LD_LIBRARY_PATH=`python3 -c 'import nvidia.cudnn.lib; print(nvidia.cudnn.lib.__file__)'`\n", "pip-nvidia-libs-not-found"),
        ("A100 with MIG instances\n\nAll subprocesses but the first die by\nRuntimeError: cuda runtime error (101) : invalid device ordinal\n", "mig-single-instance-limit"),
        ("It does not start\n\nMine is a MacBook Pro. Error response from daemon: could not select device driver \"nvidia\" with capabilities: [[gpu]]\n", "no-nvidia-gpu"),
        ("It does not start\n\nMine is a ThinkPad. Error response from daemon: could not select device driver \"nvidia\" with capabilities: [[gpu]]\n", "container-toolkit-missing"),
        ("Weak for some time\n\nnvml gives nvmlClocksThrottleReasonSwPowerCap, the temperature is 60 C\n", "gpu-throttling-power"),
        ("Tensorflow takes the wrong one of my cuda toolkits\n\nThe machine has 6.5 and 7.0. Importing tensorflow fails.\n", "ld-library-path-wrong-toolkit"),
        ("CUDA 7.5 fails\n\nThe new one went to /usr/local/cuda7.5 and /usr/local/cuda stayed as it had been, that is what $LD_LIBRARY_PATH has.\n", "ld-library-path-wrong-toolkit"),
        ("TensorFlow: conda update turns the GPU build into the MKL build\n\nname: tf\n", "conda-cpu-build"),
        ("CentOS has glibc 2.17, the wheel doesn't run there\n\nThis wheel was made against glibc 2.23.\n---> 24 from tensorflow.python import *\n51 # Protocol buffers\n_pywrap_tensorflow_internal = swig_import_helper()\n", "glibc-too-old"),
        ("안녕하세요\n\ntrain 을 돌렸는데 cuda out of memory 가 뜹니다. 배치는 1 입니다.\n아무것도 안 돌릴 때도 메모리 6기가 정도가 이미 사용 중으로 나옵니다.\n", "gpu-memory-held-by-other-process"),
        ("Blas GEMM launch failed\n\nInternalError: Blas GEMM launch failed : a.shape=(64, 32), b.shape=(32, 32)\n环境:tensorflow1.14,cuda10.0, 显卡是笔记本上的 3070(8G 显存)\n", "gpu-too-new-for-build"),
        ("2 GPU = 1.1x of 1 GPU\n\ndual Xeon, GTX 1080 Ti x2: 206 img/s vs 231 img/s, it is slow. nothing hangs.\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1051] DMA: 0 1\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1061] 0:   Y N\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1061] 1:   N Y\n        GPU0    GPU1    CPU Affinity\nGPU0     X      SYS     0-13,28-41\nGPU1    SYS      X      14-27,42-55\n", "multi-gpu-topology-no-p2p"),
        ("ollama does not use it\n\nTesla K40c\nINFO CUDA GPU is too old. Falling back to CPU mode. Compute Capability detected: 3.5\n", "gpu-compute-capability-too-old"),
        ("It does not start\n\nMicrosoft Visual C++ Redistributable is not installed, this may lead to the DLL load failure.\nOSError: [WinError 126] Error loading \"D:\\\\torch\\\\lib\\\\c10.dll\" or one of its dependencies.\n", "msvc-runtime-missing"),
        ("It stopped launching\n\nRuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (8, 7, 0) but found runtime version (8, 5, 0).\n", "cudnn-version-too-old"),
        ("识别结果全是乱的\n\nW0316 14:55:02.121893 20011 gpu_resources.cc:217] WARNING: device: 0. The installed Paddle is compiled with CUDNN 8.2, but CUDNN version in your machine is 8.1, which may cause serious incompatible bug.\n", "cudnn-version-too-old"),
        ("ollama only uses CPU since yesterday\n\nerror=\"cuda driver library init failure: 100\"\nI rebooted. `lsmod | grep -e nvidia -e nouveau` returns nothing at all.\nii  nvidia-kernel-dkms 525.147.05-7~deb12u1 amd64\n", "driver-module-not-loaded"),
        ("ResourceExhausted on tiny model??\n\nResourceExhaustedError: OOM when allocating tensor with shape[3,3,64,64] and type float\n|    0      9127      C   /home/h/anaconda3/bin/python         10605MiB |\n(taken before I start my script.)\n", "gpu-memory-held-by-other-process"),
        ("device plugin crashloops\n\nE0612 08:13:55.104210       1 factory.go:68] Failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH.\n", "driver-library-mismatch"),
        ("pip list of my venv (the computer has a 2060):\n\ntensorflow                   2.16.1\ntensorflow-intel             2.16.1\n\nIt trains with 100% of my i5 and 0% GPU in task manager.\n", "tf-windows-native-cpu-only"),
        ("HGX H100\n\nfailed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\nnvidia-driver-cuda-550.90.12-1.el9.x86_64\nnvidia-fabric-manager-550.54.15-1.x86_64\n", "fabric-manager-version-mismatch"),
        ("MirroredStrategy with 7 x 1g.10gb\n\nThe pod requests nvidia.com/mig-1g.10gb: 7 and gets them.\n[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\nExpected: 7 replicas.\n", "mig-single-instance-limit"),
        ("No GPU since the upgrade\n\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nakmods[1031]: Building and installing nvidia-kmod[FAILED]\nakmodsbuild: Could not find files needed to compile modules for 6.7.3-200.fc39.x86_64\n", "driver-module-not-loaded"),
        ("OptiX can't be chosen\n\ndevice.cpp:62] OptiX initialization failed because driver does not support ABI version 55 ... OPTIX_ERROR_UNSUPPORTED_ABI_VERSION\nGPU-Z shows driver 446.14\n", "driver-too-old"),
        ("k3s: no GPU\n\nThe pod (limits nvidia.com/gpu: 1) starts, and in it\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nIf I add runtimeClassName: nvidia to the pod it works.\n", "container-runtime-not-default"),
        ("flash-attn won't build\n\nRuntimeError:\nThe detected CUDA version (12.3) mismatches the version that was used to compile\nPyTorch (11.8). Please make sure to use the same CUDA versions.\n", "cuda-version-mismatch"),
        ("Kernel died in Spyder\n\nLoaded cuDNN version 8101\nCould not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!\n\nIt complained about cudnn64_8.dll, so I downloaded that one dll from a dll website.\n", "cudnn-incomplete-install"),
        ("cublas alone is not found\n\nSuccessfully opened dynamic library libcudart.so.10.1\nCould not load dynamic library 'libcublas.so.10'; dlerror: libcublas.so.10: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-10.1/lib64\nSuccessfully opened dynamic library libcudnn.so.7\nii  libcublas10           10.2.2.89-1    amd64  CUBLAS native runtime libraries\n", "cublas-version-mismatch"),
        ("PyTorch has no memory\n\nFirst tensorflow_hub, then a small MLP in PyTorch\n2022-11-08 14:20:17 I tensorflow/core/common_runtime/gpu/gpu_device.cc:1616] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22286 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3090, pci bus id: 0000:2d:00.0, compute capability: 8.6\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 23.69 GiB total capacity; 0 bytes already allocated; 11.69 MiB free; 0 bytes reserved in total by PyTorch)\n", "tf-preallocates-all-memory"),
        ("libcublas.so.10.0 not found though it is there\n\nCould not dlopen library 'libcublas.so.10.0'; dlerror: libcublas.so.10.0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-9.0/lib64\n$ ls /usr/local/cuda-10.0/lib64/libcublas.so*\n/usr/local/cuda-10.0/lib64/libcublas.so.10.0\n", "ld-library-path-wrong-toolkit"),
        ("bandwidthTest only 0.8 GB/s\n\nlspci -vv -s 41:00.0: LnkSta: Speed 2.5GT/s (downgraded), Width x4 (downgraded)\nIt's a 3090 on one of those riser cables\n", "pcie-link-degraded"),
        ("All of the dlopen fail, TF 2.5\n\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n`ls /usr/local | grep cuda` gives nothing, `locate libcudart` gives nothing, no conda.\n", "cuda-toolkit-missing"),
        ("所有程序都报错\n\nfailed call to cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW\nkernel version 460.91.3 does not match DSO version 470.86.0 -- cannot find working devices in this configuration\n网上说要装 cuda-compat 包。 /usr/lib/x86_64-linux-gnu/libcuda.so.470.86 时间是今天\n", "driver-library-mismatch"),
        ("Keras only uses the CPU\n\nKeras (2.0.8)\nnumpy (1.13.3)\ntensorflow (1.3.0)\ntensorflow-gpu (1.3.0)\n\n>>> device_lib.list_local_devices()\n[name: \"/cpu:0\"\n", "tf-cpu-only-package"),
        ("Crash on first conv\n\n- CUDA/cuDNN version: 11.2 / 8.1 (I copied the .so by hand from the tar, only the first ones)\nLoaded cuDNN version 8101\nCould not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: cannot open shared object file: No such file or directory\n", "cudnn-incomplete-install"),
        ("Nur nach Neustart nutzbar\n\nKlappe zu, Klappe auf, und:\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "cuinit-unknown-after-suspend"),
        ("Works in terminal\n\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nRun config: PYTHONUNBUFFERED=1;CUDA_VISIBLE_DEVICES=;KMP_DUPLICATE_LIB_OK=TRUE\n", "cuda-visible-devices-empty"),
        ("newest Cuda\n\nThe DLL that I have is cudnn64_6.dll, and TensorFlow can't do with any other than cudnn64_5.dll, so importing it crashes.\n", "cudnn-wrong-major"),
        ("No CUDA in TensorFlow's aarch64 wheels\n\n>>> tf.test.is_built_with_cuda()\nFalse\n", "tf-aarch64-cpu-only"),
        ("Could not locate cudnn_cnn_infer64_8.dll. Please make sure it is in your library path!\n\nCuda 11.8. I got the dll from the net and copied it to the folder, no change.\n", "cudnn-incomplete-install"),
        ("Found no NVIDIA driver\n\nroot@4728a09607c1:/opt/project# python3 test.py\nAssertionError: Found no NVIDIA driver on your system.\n\nTesting:\n> sudo docker run --gpus all nvidia/cuda:10.0-base nvidia-smi\n| NVIDIA-SMI 440.59       Driver Version: 440.59       CUDA Version: 10.2     |\n", "container-no-gpus-flag"),
        ("no wheel\n\n- Windows 10 (64-bit)\n- Python 3.6.1\n\ntensorflow_gpu-1.2.0-cp36-cp36m-win_amd64.whl is not a supported wheel on this platform.\n", "python-32bit"),
    ],
)  # fmt: skip
def test_told_by_more_than_one(text: str, cause: str) -> None:
    assert first(text) == cause
