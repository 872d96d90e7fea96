"""Drivers and kernel modules, cards against builds, containers and Kubernetes: the same fact in many words, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("docker run -it --rm --gpus '\"all,capabilities=utility\"' tensorflow/tensorflow:2.10.0-gpu bash\nnvidia-smi works\npython -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"\n[]\n", "container-capabilities-without-compute"),
        ("our compose file:\n          devices:\n            - driver: nvidia\n              count: 1\n              capabilities: [gpu, utility]\nCould not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\nWe added \"compute\" to the capabilities in docker-compose.yml and now it works\n", "container-capabilities-without-compute"),
        ("jax sees no GPU in the container, only the CPU. nvidia-smi shows the card\nIt turned out that the capabilities list in the compose file lacks compute; with [gpu, compute, utility] it is fixed\n", "container-capabilities-without-compute"),
        ("No GPU in the container\ndocker run -e NVIDIA_DRIVER_CAPABILITIES=utility,video --gpus all img\nlibcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("tf.config.list_physical_devices('GPU') gives [] inside docker\nThe stack only requests the `utility` capability\n", "container-capabilities-without-compute"),
        ("Found no NVIDIA driver on your system\nChanging capabilities: [gpu] to capabilities: [gpu, compute, utility] solved it for me\n", "container-capabilities-without-compute"),
        ("Setting NVIDIA_DRIVER_CAPABILITIES to compute,utility fixed it\n2020-06-07 11:48:43.115000: W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("After upgrading Ubuntu:\nkernel version 470.57.2 does not match DSO version 460.91.3 -- cannot find working devices in this configuration\nI have nvidia-driver-460 from apt\n", "driver-library-mismatch"),
        ("kernel version 515.48.7 does not match DSO version 510.73.5 -- cannot find working devices in this configuration\n$ dpkg -l | grep nvidia\nii  libnvidia-compute-510:amd64                510.73.05-0ubuntu0.22.04.1\nii  nvidia-utils-510\n", "driver-library-mismatch"),
        ("FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y nvidia-utils-470\n$ docker run --gpus all our nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nOn the host: Driver Version: 535.54.03\n| NVIDIA-SMI 535.54.03   Driver Version: 535.54.03   CUDA Version: 12.2     |\n", "container-image-has-driver-files"),
        ("In the image: apt-get install -y libnvidia-encode-470\ndocker run --gpus all img python a.py\nkernel version 525.105.17 does not match DSO version 470.182.3 -- cannot find working devices in this configuration\n", "container-image-has-driver-files"),
        ("FROM tensorflow/tensorflow:2.9.1-gpu\nRUN apt-get install -y nvidia-driver-510\nE failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\nlibcuda reported version is: 510.108.3\nkernel reported version is: 525.85.12\nkernel version 525.85.12 does not match DSO version 510.108.3 -- cannot find working devices in this configuration\n", "container-image-has-driver-files"),
        ("module load cuda/11.8-compat\nfailed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\nkernel version 535.54.3 does not match DSO version 520.61.5 -- cannot find working devices in this configuration\n", "cuda-compat-unsupported"),
        ("We load the cuda-compat module for the old nodes\nfailed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\nkernel version 535.54.3 does not match DSO version 520.61.5 -- cannot find working devices in this configuration\n", "cuda-compat-unsupported"),
        ("conda installed CUDA compat 11.4, the forward compatibility package\nkernel version 470.54.3 does not match DSO version 455.61.5 -- cannot find working devices in this configuration\n", "cuda-compat-unsupported"),
        ("TF 2.4 with CUDA 11.0 ends\nGTX 1080 Ti with driver 430.26, Ubuntu 18.04\nRuntimeError: cudaGetDevice() failed. Status: initialization error\n", "driver-too-old"),
        ("RuntimeError: cudaGetDevice() failed. Status: initialization error\nnvidia driver version: 418.87.00\ntensorflow 2.5.0\n", "driver-too-old"),
        ("tensorflow-gpu 1.13.1\nNVIDIA driver 384.130\nInternalError: cudaGetDevice() failed. Status: initialization error\n", "driver-too-old"),
        ("Unser Server hat den Treiber 390.116, tensorflow 2.1.0\nRuntimeError: cudaGetDevice() failed. Status: initialization error\n", "driver-too-old"),
        ("docker: Error response from daemon: OCI runtime create failed: nvidia-container-cli: requirement error: unsatisfied cond…\n", "container-driver-too-old"),
        ("nvidia-container-cli: requirement error\n", "container-driver-too-old"),
        ("The container doesn't start, it complains about the condition cuda >= 12.2 not being met\n", "container-driver-too-old"),
        ("docker run --gpus all nvidia/cuda:12.2.0-base-ubuntu22.04 nvidia-smi\nThe host has driver 450.80.02\ndocker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0\n", "container-driver-too-old"),
        ("nvidia-dkms 545\n/lib/modules/6.6.1-arch1-1/build/include/generated/autoconf.h: No such file or directory\nnvidia-smi has failed because it couldn't communicate with the NVIDIA driver.\n", "driver-module-not-loaded"),
        ("==> ERROR: Missing 6.6.1-arch1-1 kernel headers for module nvidia/545.29.02.\n", "driver-module-not-loaded"),
        ("ERROR: Kernel configuration is invalid.\ninclude/generated/autoconf.h or include/config/auto.conf are missing.\nbuilding nvidia-dkms\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-module-not-loaded"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\nDuring the installation it wanted a password, after the reboot I skipped the MOK management screen\n", "driver-secure-boot"),
        ("kernel driver does not appear to be running on this host (pc): /proc/driver/nvidia/version does not exist\nThere was a blue screen about keys, and I chose \"Continue boot\"\n", "driver-secure-boot"),
        ("$ mokutil --test-key /var/lib/shim-signed/mok/MOK.der\n/var/lib/shim-signed/mok/MOK.der is not enrolled\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-secure-boot"),
        ("modprobe nvidia fails, nvidia-smi can't communicate\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\nI didn't enroll the key at the boot\n", "driver-secure-boot"),
        ("The MOK was never enrolled since the server has no screen\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-secure-boot"),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.0-91-generic\nfailed call to cuInit: UNKNOWN ERROR (-1)\n", "driver-module-not-loaded"),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.0-91-generic\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "driver-module-not-loaded"),
        ("$ sudo docker run --rm --gpus all nvidia/cuda:12.2.0-base-ubuntu22.04 nvidia-smi\nFailed to initialize NVML: Unknown Error\n$ grep no-cgroups /etc/nvidia-container-runtime/config.toml\nno-cgroups = true\n", "container-no-cgroups-set"),
        ("podman run --device nvidia.com/gpu=all ubi8 nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\nWith --security-opt=label=disable it works\n", "lsm-denied"),
        ("podman in Fedora: Failed to initialize NVML: Insufficient Permissions\nworks fine when I add --security-opt label=disable\n", "lsm-denied"),
        ("In the container: failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nadding label=disable fixed it\n", "lsm-denied"),
        ("I selected docker in the Ubuntu server installer\ndocker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\n", "container-snap-docker"),
        ("docker was picked during the Ubuntu installation\nIn the installer I ticked docker\ndocker: Error response from daemon: Unknown runtime specified nvidia.\n", "container-snap-docker"),
        ("I ran the docker installer script get.docker.com\ndocker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\n", "container-toolkit-missing"),
        ("Ubuntu 22.04\n$ docker info\n Context:    desktop-linux\n Operating System: Docker Desktop\nroot@5d2c6a1be0f9:/# python a.py\nkernel driver does not appear to be running on this host (5d2c6a1be0f9): /proc/driver/nvidia/version does not exist\n", "container-docker-desktop-linux"),
        ("Fedora 38\ndesktop-linux *   moby    unix:///home/a/.docker/desktop/docker.sock\ndocker run -it tensorflow/tensorflow:2.13.0-gpu bash\nCould not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\nkernel driver does not appear to be running on this host (5d2c6a1be0f9): /proc/driver/nvidia/version does not exist\n", "container-docker-desktop-linux"),
        ("tensorflow 2.3.0 on a p4d.24xlarge, on a p3.2xlarge it works\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\nmemory is free there\nV100 works, A100 fails\n", "gpu-too-new-for-build"),
        ("TensorFlow 1.15 on g5.xlarge\nfailed to run cuBLAS routine: CUBLAS_STATUS_EXECUTION_FAILED\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\n", "gpu-too-new-for-build"),
        ("Google's a2-highgpu-1g, TensorFlow 1.15.5\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\n", "gpu-too-new-for-build"),
        ("T4: ok, L4: error, TensorFlow 2.3\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\n", "gpu-too-new-for-build"),
        ("RTX 3060 and GTX 1070 in one machine, TF 2.20\nnvidia-cudnn-cu12  9.13.0.50\nGTX 1070: DNN library initialization failed. Look at the errors above for more details.\n", "cudnn-dropped-gpu"),
        ("RTX 3060 and Titan X in one machine, TF 2.20. It works on the 3060 and fails on the GTX 1080\nnvidia-cudnn-cu12  9.13.0.50\nDNN library initialization failed. Look at the errors above for more details.\n", "cudnn-dropped-gpu"),
        ("2022-01-08 13:20:44.900315: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1857] Ignoring visible gpu device (device: 0, name: NVIDIA GeForce GT 730, pci bus id: 0000:21:00.0, compute capability: 3.5) with core count: 2. The minimum required count is 8. You can adjust this requirement with the env var TF_MIN_GPU_MULTIPROCESSOR_COUNT.\n[]\n", "gpu-ignored-few-sms"),
        ("$ sbatch -p gpu -c 8 run.sh\nNo devices were found\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nlibcuda reported version is: 418.67.0\nkernel reported version is: 418.67.0\n", "slurm-no-gpu-allocated"),
        ("#SBATCH --partition=gpu_short\n#SBATCH --time=1:00:00\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nlibcuda reported version is: 418.67.0\n", "slurm-no-gpu-allocated"),
        ("$ srun --partition gpu --pty bash\n$ python a.py\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "slurm-no-gpu-allocated"),
        ("Le PC se met en veille la nuit. Au réveil TensorFlow ne trouve plus de GPU\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "cuinit-unknown-after-suspend"),
        ("Nach dem Aufwachen des Rechners geht es nicht mehr\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "cuinit-unknown-after-suspend"),
        ("电脑唤醒之后就不行了\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "cuinit-unknown-after-suspend"),
        ("NVRM: GPU at PCI:0000:01:00: GPU-1234\nNVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\nI think the card is dead\n", "xid79-fell-off-bus"),
        ("dmesg says the GPU has fallen off the bus\n", "xid79-fell-off-bus"),
        ("nextflow.config:\nsingularity {\n  enabled = true\n  runOptions = '-B /scratch'\n}\ntf.config.list_physical_devices('GPU')\n[]\n", "apptainer-no-nv"),
        ("snakemake --use-singularity --singularity-args \"-B /data\" --cores 8\nCould not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n", "apptainer-no-nv"),
        ("kubectl get pods shows the daemonset. The device plugin can't find libnvidia-ml.so.1 on my k3s\n", "container-runtime-not-default"),
        ("k8s: the nvidia plugin's pod does not find NVML\n0/1 nodes are available: 1 Insufficient nvidia.com/gpu\n", "container-runtime-not-default"),
        ("CUDA-capable device(s) is/are busy or unavailable\nnvidia-gridd: Failed to acquire/renew license from license server.\n", "vgpu-unlicensed"),
        ("Training is slow on the vGPU\nJan 1 10:00:00 vm nvidia-gridd[812]: Failed server communication. Please verify the server address\n", "vgpu-unlicensed"),
        ("MacBook Pro, Docker Desktop 4.1\ndocker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\n", "no-nvidia-gpu"),
        ("docker run --gpus all -p 8501:8501 -t tensorflow/serving\nIt does not use the GPU\n", "tf-cpu-only-package"),
        ("Created device /job:localhost/replica:0/task:0/device:GPU:0 with 312 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 2080 Ti, pci bus id: 0000:65:00.0, compute capability: 7.5\nCould not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n", "gpu-memory-held-by-other-process"),
    ],
)  # fmt: skip
def test_it_is_understood(text: str, cause: str) -> None:
    roots, _ = said(judged(text))
    assert roots == [cause]


def test_a_machine_that_goes_down_has_a_weak_supply_first() -> None:
    text = "The PC switches off when training starts with both 3090 on the 850 W power supply. I thought a GPU falls off the bus\n"
    roots, candidates = said(judged(text))
    assert (roots, candidates[0]) == ([], "psu-insufficient")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("docker run --gpus '\"all,capabilities=compute,utility\"' tensorflow/tensorflow:2.10.0-gpu\nlibcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("With compute capability 6.1 my card should work. Setting TF_CUDA_COMPUTE_CAPABILITIES to 6.1 while building works\nlibcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("I added compute to the capabilities, but it didn't help\nlibcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("capabilities: [gpu, video]\nSuccessfully opened dynamic library libcuda.so.1\nlibcuda reported version is: 470.57.2\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "container-capabilities-without-compute"),
        ("              capabilities: [gpu]\nlibcuda.so.1: cannot open shared object file: No such file or directory\n", "container-capabilities-without-compute"),
        ("nvidia-driver-535 is installed\nkernel version 535.54.3 does not match DSO version 520.61.5 -- cannot find working devices in this configuration\n", "driver-library-mismatch"),
        ("FROM tensorflow/tensorflow:2.9.1-gpu\nOn the host apt install nvidia-driver-525\nkernel version 525.85.12 does not match DSO version 510.108.3 -- cannot find working devices in this configuration\n", "container-image-has-driver-files"),
        ("FROM tensorflow/tensorflow:2.9.1-gpu\nRUN apt-get install -y nvidia-utils-525\nkernel version seems to match DSO: 525.85.12\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "container-image-has-driver-files"),
        ("cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW\nkernel version 535.54.3 does not match DSO version 535.61.5 -- cannot find working devices in this configuration\n", "cuda-compat-unsupported"),
        ("apt list: nvidia-driver-470\ndocker run --gpus all nvidia/cuda:11.8.0-base-ubuntu22.04 nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03\n", "container-image-has-driver-files"),
        ("RuntimeError: cudaGetDevice() failed. Status: initialization error\ndriver 470.57.02, tensorflow 2.4\n", "driver-too-old"),
        ("RuntimeError: cudaGetDevice() failed. Status: initialization error\ntensorflow 2.4 needs a driver 450.36 or newer; I tried driver 440.33 before, and now 470.57\n", "driver-too-old"),
        ("failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\ndriver 440.100, tensorflow 2.4\n", "driver-too-old"),
        ("At home with driver 440.100 it's the same. RuntimeError: cudaGetDevice() failed. Status: initialization error\ntensorflow 2.4\n", "driver-too-old"),
        ("docker: Error response from daemon: nvidia-container-cli: requirement error: invalid expression\n", "container-driver-too-old"),
        ("pip says in the container: nothing provides __cuda>=11.8 error\n", "container-driver-too-old"),
        ("docker run --gpus all nvidia/cuda:12.2.0-base-ubuntu22.04 nvidia-smi\nThe host has driver 535.80.02\ndocker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0\n", "container-driver-too-old"),
        ("docker run -it tensorflow/tensorflow:latest-gpu bash gave nothing, so I ran it with nvidia-docker\nroot@03866238e29e:/# python a.py\nfailed call to cuInit: UNKNOWN ERROR (-1)\n", "container-no-gpus-flag"),
        ("I enrolled the MOK and the module is signed\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-secure-boot"),
        ("Secure boot is disabled, so I skipped MOK management\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-secure-boot"),
        ("I could not enroll the students in the course, smoke came out\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\n", "driver-secure-boot"),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.153.1-microsoft-standard-WSL2\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "driver-module-not-loaded"),
        ("$ docker run --rm --gpus all nvidia/cuda:12.2.0-base-ubuntu22.04 nvidia-smi\nFailed to initialize NVML: Unknown Error\nrootless docker, no-cgroups = true\n", "container-no-cgroups-set"),
        ("podman in Fedora: Failed to initialize NVML: Insufficient Permissions\nalso with label=disable it is the same error, nothing works\n", "lsm-denied"),
        ("Windows 11, Docker Desktop\n Operating System: Docker Desktop\ndocker run -it tensorflow/tensorflow:2.13.0-gpu bash\nkernel driver does not appear to be running on this host (5d2c6a1be0f9): /proc/driver/nvidia/version does not exist\n", "container-docker-desktop-linux"),
        ("Ubuntu. I removed Docker Desktop last year\ndocker run -it tensorflow/tensorflow:2.13.0-gpu bash\nkernel driver does not appear to be running on this host (5d2c6a1be0f9): /proc/driver/nvidia/version does not exist\n", "container-docker-desktop-linux"),
        ("TensorFlow 2.3 on p3.2xlarge\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\n", "gpu-too-new-for-build"),
        ("A100: ok, V100: error, TensorFlow 2.3\nBlas GEMM launch failed : a.shape=(1, 2048), b.shape=(2048, 1000), m=1, n=1000, k=2048\n", "gpu-too-new-for-build"),
        ("RTX 3060 and GTX 1070 in one machine, TF 2.20\nnvidia-cudnn-cu12  9.13.0.50\nRTX 3060: DNN library initialization failed. Look at the errors above for more details.\n", "cudnn-dropped-gpu"),
        ("$ sbatch -p gpu --gres=gpu:1 -c 8 run.sh\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "slurm-no-gpu-allocated"),
        ("$ srun -p short -G 1 python a.py\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "slurm-no-gpu-allocated"),
        ("#SBATCH --tres-per-node=gpu:1\n#SBATCH -p gpu\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "slurm-no-gpu-allocated"),
        ("Je surveille la machine, elle ne dort jamais\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "cuinit-unknown-after-suspend"),
        ("The GPU doesn't fall off the bus, no Xid. The machine reboots when training\n", "xid79-fell-off-bus"),
        ("Could it be that the card drops off the bus? TF hangs\n", "xid79-fell-off-bus"),
        ("singularity {\n  enabled = true\n  runOptions = '--nv -B /scratch'\n}\ntf.config.list_physical_devices('GPU')\n[]\n", "apptainer-no-nv"),
        ("snakemake --use-singularity --singularity-args \"--nv\" --cores 8\ntf.config.list_physical_devices('GPU')\n[]\n", "apptainer-no-nv"),
        ("docker.runOptions = '-u 1000'\ntf.config.list_physical_devices('GPU')\n[]\n", "apptainer-no-nv"),
        ("docker: the container has no libnvidia-ml.so.1\n", "container-runtime-not-default"),
        ("kubectl: NVML mismatch in the pod, Failed to initialize NVML: Driver/library version mismatch\n", "container-runtime-not-default"),
        ("nvidia-gridd: License acquired successfully. (Info: license.example)\nCUDA-capable device(s) is/are busy or unavailable\n", "vgpu-unlicensed"),
        ("I ssh from my MacBook to the Ubuntu server with the RTX 3090\ndocker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\n", "no-nvidia-gpu"),
        ("docker run --gpus all -p 8501:8501 -t tensorflow/serving:latest-gpu\nIt does not use the GPU\n", "tf-cpu-only-package"),
        ("Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9312 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 2080 Ti, pci bus id: 0000:65:00.0, compute capability: 7.5\nCould not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n", "gpu-memory-held-by-other-process"),
    ],
)  # fmt: skip
def test_it_only_looks_like_it(text: str, cause: str) -> None:
    roots, _ = said(judged(text))
    assert cause not in roots


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("docker run -it tensorflow/tensorflow:latest-gpu bash\nroot@03866238e29e:/# python a.py\nfailed call to cuInit: UNKNOWN ERROR (-1)\nkernel driver does not appear to be running on this host (03866238e29e)\nMust I use nvidia-docker?\n", "container-no-gpus-flag"),
        ("On microk8s the pod lacks libnvidia-ml.so\nkubectl exec shows it\n", "container-runtime-not-default"),
        ("rke2 kubernetes: libnvidia-ml.so.1 is not mounted in the pod\n", "container-runtime-not-default"),
    ],
)  # fmt: skip
def test_it_comes_first(text: str, cause: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == cause
