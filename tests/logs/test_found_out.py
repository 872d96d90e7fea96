"""What somebody has found out by himself decides, whatever the rest of the text reads like."""

from __future__ import annotations

import pytest

from gpudoctor.textual.found_out import firstly
from tests.logs.judged import first, judged

FOUND = [
    ("I installed the CUDA 12.2 toolkit by NVIDIA's guide, yet nvcc --version answers release 11.5", "ld-library-path-wrong-toolkit"),
    ("Could not load dynamic library 'libcudnn.so.8': it turned out that our module system overwrites LD_LIBRARY_PATH", "ld-library-path-not-set"),
    ("My GPU isn't used by TensorFlow.\nUpdate: another service of mine had all the GPUs, once I stopped that one it went well", "gpu-memory-held-by-other-process"),
    ("TensorFlow doesn't use the GPU any more\nI installed tensorflow since a package asked for it, and now it trains on the CPU only", "tf-cpu-only-package"),
    ("The installer's last words: your GPU was detected, but the Docker runtime is not configured", "container-toolkit-missing"),
    ("No GPU inside podman. `nvidia-ctk cdi list` prints: Found 0 CDI devices", "container-toolkit-missing"),
    ("My jobs see no GPU\nscontrol show node n1\n   Gres=(null)", "slurm-no-gpu-allocated"),
    ("GPUs aren't used on k3s: in kubectl describe node there is no nvidia.com/gpu at all", "k8s-device-plugin-not-registered"),
    ("TensorFlow in this image is without CUDA, I'd like it with it. conda install tensorflow-gpu replaces\n  tensorflow                       2.7.0-cpu_py39h4655687_0 --> 2.7.0-cuda112py39h01bd6f0_0", "conda-cpu-build"),
    ("GPU is hardly utilized, it sits at some 1-10% utilization. On my box it's clearly the CPU that holds things up", "cpu-starved-input"),
    ("java.lang.UnsatisfiedLinkError: libjnitensorflow.so: libcudart.so.8.0: cannot open shared object file\nMust I install CUDA 8, although there is no GPU in here?", "cuda-toolkit-missing"),
    ("TensorFlow 2.10 on an RTX 5060 Laptop, it brings no kernels for sm_120\nnow and then cuModuleGetFunction(...) failed with CUDA_ERROR_UNKNOWN", "gpu-too-new-for-build"),
    ("GPU \u5360\u7528\u7387\u4e0a\u4e0d\u53bb\nbatch_size \u5230 128 \u5c31 OOM \u4e86", "cpu-starved-input"),
    ("failed call to cuInit: CUDA_ERROR_UNKNOWN\n\u63d0\u793a\u5185\u6838\u7248\u672c\u4e0d\u5339\u914d", "driver-library-mismatch"),
    ("With cuDNN >= 7.2, and that is too new for TF 1.6.0, the plugin fails", "cudnn-version-mismatch"),
    ("ImportError: libcudnn.so.6: cannot open shared object file\nsudo ln -s /usr/local/cuda-8.0/lib64/libcudnn.so.7.0.5 /usr/local/cuda-8.0/lib64/libcudnn.so.6", "cudnn-wrong-major"),
    ("TensorFlow doesn't use the GPU\n$ ln -s libcudart.so.12 libcudart.so.11.0\nand the GPU isn't used still", "cuda-version-mismatch"),
    ("Blas GEMM launch failed\nI had far too many Jupyter Notebooks open at once. With one of them it works again.", "gpu-memory-held-by-other-process"),
    ("Can this be trained on a card that isn't from NVIDIA? Ours is an Intel(R) UHD Graphics 620", "no-nvidia-gpu"),
    ("Every CuPy call takes minutes on our A30-24C vGPU once the machine is up for 20 minutes", "vgpu-unlicensed"),
    ("docker: OCI runtime create failed: starting container process caused \"permission denied\": unknown\nSELinux is enforcing here", "lsm-denied"),
    ("Unable to determine the device handle for GPU 0000:4F:00.0: Unknown Error\nCUDA error: unknown error", "xid79-fell-off-bus"),
    ("modprobe: FATAL: Error inserting nvidia_current (/lib/modules/5.4.0/updates/dkms/nvidia_current.ko): No such device\noptirun can't be started", "optimus-gpu-powered-off"),
    ("Training is very slow on the GPU, the dataset lies on a mounted drive", "cpu-starved-input"),
    ("Unable to initialize backend 'gpu'\nThe card is a Quadro K600", "gpu-compute-capability-too-old"),
    ("Keras doesn't use the GPU\nWe have a GTX 1070 here.\nset CUDA_VISIBLE_DEVICES=1", "cuda-visible-devices-wrong"),
    ("Could not find 'cudart64_100.dll'. TensorFlow requires it.\nIn my bin directory there is only cudart64_101.dll", "cuda-version-mismatch"),
    ("A convolution fails in cuDNN. With allow_growth it's OK.", "gpu-memory-handle-alloc"),
    ("GPU isn't used by TensorFlow\nTensorFlow version: 1.14.0\nCUDA/cuDNN version: 10.1 / 7.6\n", "cuda-version-mismatch"),
    ("I can't get tensorflow onto my Jetson Nano\nERROR: No matching distribution found for tensorflow", "tf-aarch64-no-wheel"),
    ("In Google Colab with a T4:\nSkipping registering GPU devices...\nRuntimeError: No GPU devices found", "cuda-version-mismatch"),
    ("GPU isn't recognized in Spyder. From the Anaconda prompt it works:\n, name: \"/device:GPU:0\"\ndevice_type: \"GPU\"\nand in Spyder only the CPU is listed", "jupyter-kernel-other-environment"),
    ("The detection API needs cuDNN 8.1, and what gets loaded is 8.0.5", "cudnn-version-too-old"),
    ("So my card can't be used: its compute capability is 5.2, and the binary wants 6.0", "gpu-compute-capability-too-old"),
    ("nvidia-smi fails in my container. My mistake: I should have used nvidia-docker instead of docker", "container-no-gpus-flag"),
    ("ERROR: Detected Tesla V100S-PCIE-32GB GPU, which is not supported by this container", "gpu-compute-capability-too-old"),
    ("ERROR: Detected NVIDIA B200 GPU, which is not supported by this container", "gpu-too-new-for-build"),
    ("ImportError: /opt/c/lib/libtensorflow_framework.so.2: undefined symbol: _ZTIN6snappy4SinkE", "tf-import-broken"),
    ("My notebook's memory isn't freed: the vram stays taken by the dead kernel, only a reboot of the machine frees it", "gpu-memory-held-by-other-process"),
    ("The Dockerfile can't be built: while it builds,\nImportError: libcuda.so.1: cannot open shared object file: No such file or directory", "container-no-gpus-flag"),
    ("\u663e\u5b58\u88ab\u5360\u6ee1\u4e86,\u53ef\u662f GPU \u7684\u4f7f\u7528\u7387\u663e\u793a 0,\u8dd1\u5f97\u5f88\u6162", "cpu-starved-input"),
    ("JetPack 4.6, my own image:\n>>> import cv2\nImportError: /usr/lib/aarch64-linux-gnu/libcublas.so.10: file too short", "container-no-gpus-flag"),
    ("My server, my own image:\n>>> import cv2\nImportError: /usr/lib/x86_64-linux-gnu/libcublas.so.10: file too short", "cuda-lib-unusable"),
    ("TensorFlow works in R from a terminal, and RStudio can't use it:\nError: Installation of TensorFlow not found.", "jupyter-kernel-other-environment"),
    ("A handle of cuDNN isn't made, it happens ONLY while our simulator runs on the same GPU\ncould not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED", "gpu-memory-held-by-other-process"),
    ("The container's hook says that libnvidia-gpucomp can't be found, no GPU inside\ndocker run --gpus all …", "container-toolkit-too-old"),
    ("TensorFlow sees no GPU. I had to delete everything in /usr/local/cuda/lib64/stubs to make it work", "libcuda-stub-loaded"),
    ("No module folder for the newest kernel is in /lib/modules, nvidia-smi fails", "driver-module-not-loaded"),
    ("Could not load dynamic library 'libcublas.so.11'\n# export LD_LIBARY_PATH=/usr/local/cuda/lib64", "ld-library-path-not-set"),
    ("CUDA fails in every program: there is no /dev/nvidia-uvm here", "cuinit-uvm-device-missing"),
    ("Inside WSL2 the GPU isn't seen any more since I ran\nsudo apt install nvidia-utils-510", "wsl-libcuda-path"),
    ("TensorRT was linked against cuBLAS/cuBLAS LT 11.4.2 but loaded cuBLAS/cuBLAS LT 11.2.1\nMy program fails", "cublas-version-mismatch"),
    ("Some minutes into the training an error tells that on the GPU memory has run out", "gpu-oom-model-or-data"),
    ("The convolution crashes since the cudnn in that image is of the wrong subversion", "cudnn-version-mismatch"),
    ("Its CUDA part isn't used, with an outdated cuDNN it says", "cudnn-version-too-old"),
    ("As soon as both GPUs train, the computer loses its power", "psu-insufficient"),
    ("The card is lost under load\nnvidia 0000:63:00.0: AER: can't recover (no error_detected callback)", "xid79-fell-off-bus"),
    ("Copies to the GPU are slow\nLnkSta: Speed 8GT/s (ok), Width x1 (downgraded)", "pcie-link-degraded"),
    ("Training on all of them is slow\n> Peer access from Tesla K80 (GPU0) -> Tesla K80 (GPU1) : Yes\n> Peer access from Tesla K80 (GPU0) -> Tesla K80 (GPU4) : No", "multi-gpu-topology-no-p2p"),
    ("Each start of the training takes minutes\ndocker run -u $(id -u) --gpus all tensorflow/tensorflow:2.4.0-gpu", "jit-cache-unwritable"),
    ("Neither of them installs on Windows 10. The processor is an Intel Core i5 CPU 650.\nAll right, it really was the CPU!", "cpu-no-avx"),
    ("The desktop is black since the kernel's update, and dmesg | grep nvidia prints nothing at all", "driver-module-not-loaded"),
    ("cudart64_80.dll was missing. I had never installed the base, only its patch", "cuda-toolkit-missing"),
    ("An error about memory on the server's GPU, two of the cards are taken by others", "gpu-memory-held-by-other-process"),
    ("all_reduce_perf hangs with two GPUs, /proc/cmdline has intel_iommu=on", "nccl-p2p-iommu-acs"),
    ("It could not be installed: no version\nERROR: No matching distribution found for tensorflow\nI put Python 64bit on it\nSuccessfully installed tensorflow-1.4.0 six-1.11.0\n", "python-32bit"),
    ("The third-party dynamic library (cublas64_102.dll;cublas64_10.dll) that Paddle depends on is not configured correctly. (error code is 126)", "cuda-toolkit-missing"),
    ("tensorflow 2.3 doesn't load in a docker container, libcuda.so.1 is missing", "container-no-gpus-flag"),
    ("torch.cuda.is_available() is False, with a warning about the NVIDIA driver of our nodes being too old", "driver-too-old"),
    ("My env lacks libcudnn.so.6\nImportError: libcudnn.so.6: cannot open shared object file: No such file or directory\nIt looks as if the cudnn there is the old version", "cudnn-wrong-major"),
    ("No GPU any more in our compose project since I removed `runtime: nvidia` from its file", "container-no-gpus-flag"),
    ("The component of my pipeline has set_gpu_limit(1), the cluster's pod prints\nsh: 1: nvidia-smi: not found", "container-runtime-not-default"),
    ("As a docker swarm service my program has no GPU: libcuda.so.1 not found", "container-runtime-not-default"),
    ("Aborted at the start\ncould not find cudnnCreate in cudnn DSO; dlerror: /usr/lib/_pywrap_tensorflow.so: undefined symbol: cudnnCreate", "cudnn-missing"),
    ("My pod isn't made\nnvidia-container-cli: device error: unknown device id: no-gpu-has-2MiB-to-run", "container-visible-devices-wrong"),
    ("Copies between my cards come out wrong. The culprit was, as so often, the IOMMU", "nccl-p2p-iommu-acs"),
    ("I can't install it\n- OS: Mac OS X\nERROR: No matching distribution found for cupy-cuda110", "tf-macos-no-cuda"),
    ("NCCL fails on some of my nodes\ntransport/nvls.cc:223 NCCL WARN Cuda failure 999 'unknown error'", "nccl-nvls-fabric-manager"),
    ("My miner ends in a container\nCUDA error: error code 34", "libcuda-stub-loaded"),
    ("onnxruntime can't be imported here. In the end it was the Visual C++ runtime", "msvc-runtime-missing"),
    ("The hook of podman fails for me. Found it: my nvidia-ctk was an outdated one", "container-toolkit-too-old"),
    ("My card's link falls back: while it is under load it drops to 2.5 GT/s", "pcie-link-degraded"),
    ("A question about my GPU: once the script is over, its memory remains taken on GPU 1", "gpu-memory-held-by-other-process"),
    ("My tests fail in odd ways: the paths are a mixture of two installs, 8.0 and 10.1", "ld-library-path-wrong-toolkit"),
    ("My training with a trace aborts\ncupti_wrapper.cc:59] Check failed: OK == (f)", "ld-library-path-not-set"),
    ("TensorFlow doesn't import for me; nvidia-smi tells 10, and nvcc --version shows nothing", "cuda-toolkit-missing"),
    ("Native Windows CUDA support, please bring it back!\nWe have TF 2.15 on Windows here", "tf-windows-native-cpu-only"),
    ("We need the GPU during `docker build`, and torch sees none there", "container-runtime-not-default"),
    ("My image can't be started on the Orin\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported", "container-runtime-not-default"),
    ("The spec can't be made:\nERRO[0000] failed to generate CDI spec: failed to locate libcuda.so.535.1\nIt goes with\nnvidia-ctk cdi generate --library-search-path=/var/lib/nvidia", "container-driver-root-wrong"),
    ("Copies are slow here: p2p is on between GPUs on two sides of the QPI", "multi-gpu-topology-no-p2p"),
    ("No GPU on my EC2 t3.xlarge though I installed the driver\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "no-nvidia-gpu"),
    ("It dies for want of libcuda.so.1, and my cluster has no GPU at all", "no-nvidia-gpu"),
    ("Rootless podman: Failed to initialize NVML: Insufficient Permissions\nno-cgroups = false\n", "container-rootless-cgroups"),
    ("I asked conda for CUDA and got cpuonly, torch doesn't see my GPU", "conda-cpu-build"),
    ("My GPU is not used\nGPU 1: AMD Lucienne [Integrated]\nGPU 2: NVIDIA GeForce MX450 [Discrete]", "optimus-gpu-powered-off"),
    ("Since the last Ubuntu updates my training doesn't start\nerror=804 : forward compatibility was attempted on non supported HW", "driver-library-mismatch"),
    ("The NVIDIA driver isn't loaded on my Fedora\nSecure boot is enabled. The kernel module is built, and nothing gets signed", "driver-secure-boot"),
    ("nvidia-smi fails after the reboot on my Fedora\nSecureBoot may be on, it came to my mind.\nI went into the BIOS - it was! Now it's off", "driver-secure-boot"),
    ("all-reduce is slower than before on our HGX A100 with NVSwitch\nGPU 3: NVIDIA A100-SXM4-80GB\n\t Link 0: 25 GB/s\n\t Link 4: <inactive>", "nvlink-degraded"),
    ("TF finds no GPU on NixOS, nvidia-smi works fine\nCould not find cuda drivers on your machine, GPU will not be used.\nWith LD_LIBRARY_PATH=/run/opengl-driver/lib it does", "driver-libcuda-not-on-path"),
    ("The service has no GPU\ndocker run --rm -v /srv:/models tensorflow/serving:2.8.2-gpu\nfailed call to cuInit: UNKNOWN ERROR (303)\nElsewhere I use --gpus and it works", "container-no-gpus-flag"),
    ("My card fails\nGPU Device 0 with compute capability 6.0\nCUDA error: no kernel image is available for execution on the device", "gpu-compute-capability-too-old"),
    ("It works for root, my TensorFlow lists no GPU in my login\nlist_physical_devices('GPU') gives []\nCUDA_VISIBLE_DEVICES=\n", "cuda-visible-devices-empty"),
    ("TF 2.17 was fine, TF 2.18 doesn't see my GPU, we have cuDNN 8.9.7 here\nCannot dlopen some GPU libraries.\nSkipping registering GPU devices...", "cudnn-wrong-major"),
    ("My AnimeGAN doesn't use the GPU\nThere is a single RTX 2080 in it.\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = \"1\"\nI turned it into\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = \"0\"", "cuda-visible-devices-wrong"),
    ("My GPU isn't used\nDevice mapping: no known devices.\nThe card is a GTX 970", "tf-cpu-only-package"),
    ("My tensorflow is one with CUDA. Installing magenta pulled in tensorflow-gpu as well, and now all is broken", "tf-packages-overlap"),
    ("Whatever I do, my GPU is not used.\nONNXRuntimeError : 1 : FAIL : LoadLibrary failed with error 126\ncuDNN: 8.9\nonnxruntime-gpu: 1.21.0", "cudnn-wrong-major"),
    ("I can't do a thing on the GPU\ncudaGetDevice() failed. Status: cudaGetErrorString symbol not found\nCUDA 10.1 is installed", "cuda-version-mismatch"),
    ("My training runs for a while, then slurm kills it with an out-of-memory error", "cgroup-memory-limit"),
    ("The screen of my RTX 5060 stays black after the reboot. Update: with the open source drivers there's no problem", "driver-rminit-failed"),
    ("colabcode gives me a vscode without a GPU\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "colab-cpu-runtime"),
    ("RTX 3090 isn't recognized by Tensorflow 2.x\n- TensorFlow version: 2.2 / 2.3\n- CUDA/cuDNN version: 11.1/8.0.4\n", "cuda-version-mismatch"),
    ("My jupyter image fails: nvidia-smi has failed because it couldn't communicate with the NVIDIA driver. I should have used nvidia-docker instead of docker", "container-no-gpus-flag"),
    ("No container starts\nnvidia-container-cli: initialization error: load library failed: libcuda.so.1\n| NVIDIA-SMI 384.90                 Driver Version: 384.90                    |", "driver-libcuda-not-on-path"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), FOUND)
def test_what_is_found_out_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


OTHERWISE = [
    ("CUDA 12.2 is installed, and nvcc --version says release 12.2", "ld-library-path-wrong-toolkit"),
    ("I installed tensorflow-gpu, and now it trains on the CPU only", "tf-packages-overlap"),
    ("My jobs see no GPU\n   Gres=gpu:4", "slurm-no-gpu-allocated"),
    ("GPU isn't used by TensorFlow\nTensorFlow version: 1.14.0\nCUDA/cuDNN version: 10.0 / 7.6\n", "cuda-version-mismatch"),
    ("The detection API needs cuDNN 8.1, and what gets loaded is 8.6.0", "cudnn-version-too-old"),
    ("I can't get tensorflow onto my PC\nERROR: No matching distribution found for tensorflow", "tf-aarch64-no-wheel"),
    ("ImportError: /opt/c/lib/libtensorflow_framework.so.2: undefined symbol: _ZN10tensorflow4data", "tf-import-broken"),
    ("Keras doesn't use the GPU\nWe have two GTX 1070 here.\nset CUDA_VISIBLE_DEVICES=1", "cuda-visible-devices-wrong"),
    ("Could not find 'cudart64_100.dll'. TensorFlow requires it.\nIn my bin directory there is cudart64_100.dll", "cuda-version-mismatch"),
    ("My GPU isn't used\nDevice mapping: no known devices.\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error", "tf-cpu-only-package"),
    ("RTX 3090 isn't recognized by Tensorflow 2.x\n- TensorFlow version: 2.2 / 2.3\n- CUDA/cuDNN version: 10.1/7.6\n", "cuda-version-mismatch"),
    ("Whatever I do, my GPU is not used.\nONNXRuntimeError : 1 : FAIL : LoadLibrary failed with error 126\ncuDNN: 9.3\nonnxruntime-gpu: 1.21.0", "cudnn-wrong-major"),
    ("The jupyter kernel dies on my ec2 t2.small instance where the training starts", "no-nvidia-gpu"),
    ("torch doesn't see my GPU. The NVIDIA driver isn't too old, is it?", "driver-too-old"),
    ("The service has no GPU\ndocker run --rm tensorflow/serving:2.8.2-gpu\ndocker run --gpus all --rm tensorflow/serving:2.8.2-gpu\nfailed call to cuInit: UNKNOWN ERROR (303)", "container-no-gpus-flag"),
    ("My card fails\nGPU Device 0 with compute capability 12.0\nCUDA error: no kernel image is available for execution on the device", "gpu-compute-capability-too-old"),
    ("TF 2.17 doesn't see my GPU, we have cuDNN 8.9.7 here\nCannot dlopen some GPU libraries.\nSkipping registering GPU devices...", "cudnn-wrong-major"),
    ("all-reduce is slow here\nGPU 3: NVIDIA A100-PCIE-40GB\n\t Link 4: <inactive>", "nvlink-degraded"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), OTHERWISE)
def test_what_is_not_found_out_does_not(text: str, cause: str) -> None:
    assert cause not in firstly(judged(text).facts)


def test_a_start_that_is_denied_leaves_more_than_one_cause() -> None:
    text = 'docker: OCI runtime create failed: starting container process caused "permission denied": unknown\n'
    candidates = [c.cause for group in judged(text).diagnosis.candidates.values() for c in group]
    assert {"lsm-denied", "container-rootless-cgroups", "device-node-permission"} <= {*candidates}


def test_a_small_gpu_beside_one_that_is_used_is_left_out() -> None:
    text = (
        "name: GeForce GTX 1080 major: 6 minor: 1 memoryClockRate(GHz): 1.73\n"
        "Ignoring visible gpu device (device: 1, name: GeForce GT 1030, pci bus id: 0000:02:00.0, compute capability: 6.1) "
        "with Cuda multiprocessor count: 3. The minimum required count is 8. You can adjust this requirement with the env var "
        "TF_MIN_GPU_MULTIPROCESSOR_COUNT.\n"
        "Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 7534 MB memory) -> physical GPU "
        "(device: 0, name: GeForce GTX 1080, pci bus id: 0000:01:00.0, compute capability: 6.1)\n"
    )
    assert [r.cause for r in judged(text).diagnosis.root_causes] == ["gpu-left-out-beside-another"]
