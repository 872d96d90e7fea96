"""What programs print of GPUs, in the wording of each release, as their sources have it: each is understood."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

AT = "2019-07-03 10:11:12.000042: "
DSO = f"{AT}I tensorflow/stream_executor/platform/default/dso_loader.cc:53] "
DRIVER = "E tensorflow/stream_executor/cuda/cuda_driver.cc:806] "
DEVICE = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1814] "
CUINIT = "E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit: "
NCCL = "box1:101:155 [0] "
NVRM = "[    5.100000] NVRM: "
CLI = "nvidia-container-cli: "
R_CPU = "[[1]]\nPhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')\n\n"
HELD = "gpu-memory-held-by-other-process"
NEW, OLD = "gpu-too-new-for-build", "gpu-compute-capability-too-old"
UVM = "cuinit-uvm-device-missing"
TOO_OLD = "driver-too-old"

CAUSES: tuple[tuple[str, str], ...] = (
    # TensorFlow
    (f"{DEVICE}Ignoring visible gpu device (device: 0, name: Quadro K620, pci bus id: 0000:02:00.0, compute capability: 5.0) with core count: 3. The minimum required count is 8.", "gpu-ignored-few-sms"),
    ("I tensorflow/compiler/xla/service/platform_util.cc:197] StreamExecutor cuda device (0) is of insufficient compute capability: 3.5 required, device is 3.0", OLD),
    (f"{CUINIT}CUDA_ERROR_DEVICE_NOT_LICENSED: device doesn't have valid Grid license", "vgpu-unlicensed"),
    ("ImportError: Found conflicting TensorFlow installations in this environment: tensorflow 2.16.1, tensorflow-cpu 2.21.0. These distributions", "tf-packages-overlap"),
    ("ImportError: TensorFlow requires a 64-bit Python interpreter, but this interpreter is 32-bit. Reinstall", "python-32bit"),
    ("RESOURCE_EXHAUSTED: Failed to allocate request for 3.91GiB (4194304000B) on device ordinal 0", "gpu-oom-model-or-data"),
    # XLA
    ("ptxas fatal   : Unresolved extern function '__nv_expf'", "libdevice-missing"),
    ("*** WARNING *** You are using ptxas 9.0.176, which is in range [9.0.0, 9.0.276). These versions", "ptxas-too-old"),
    ("INTERNAL: nvlink exited with non-zero error code 1, output: nvlink fatal   : Value 'sm_89' is not defined for option 'arch'", "ptxas-too-old"),
    # R
    ("> tf_gpu_configured()\nTensorFlow built with CUDA:  FALSE \nGPU device name:  \n[1] FALSE", "tf-cpu-only-package"),
    (f"{R_CPU}> tf_config()\nTensorFlow v2.12.0\nPython v3.9 (C:/Users/kim/envs/r-reticulate/python.exe)", "tf-windows-native-cpu-only"),
    ("Error: Valid installation of TensorFlow not found.", "tf-not-installed"),
    ("Installation of TensorFlow not found.\n\nPython environments searched for 'tensorflow' package:", "tf-not-installed"),
    ("> reticulate::py_config()\npython:         /home/kim/.virtualenvs/r-reticulate/bin/python\ntensorflow: [NOT FOUND]", "tf-not-installed"),
    # containers
    ("nvidia-docker | 2018/01/01 10:10:10 Error: unsupported CUDA version: driver 7.5 < image 8.0.44", "container-driver-too-old"),
    ("If this is a GPU node, did you configure the NVIDIA Container Toolkit?", "container-runtime-not-default"),
    # the driver
    (f"{NVRM}rm_init_rm() failed!", "driver-rminit-failed"),
    (f"{NVRM}GPU 0000:0b:00.0: rm_init_private_state() failed!", "driver-rminit-failed"),
    (f"{NVRM}kgspInitRm_IMPL: need firmware to initialize GSP", "driver-rminit-failed"),
    (f"{NVRM}GPU0 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP", "driver-rminit-failed"),
    (f"{NVRM}osInitNvMapping: *** Cannot attach gpu", "driver-rminit-failed"),
    (f"{NVRM}This is a 64-bit BAR mapped above 16TB by the system BIOS or the Linux kernel.", "driver-rminit-failed"),
    (f"{NVRM}_kgspRpcRecvPoll: Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76", "xid119-gsp-timeout"),
    ("Failed to initialize NVML: RM has detected an NVML/RM version mismatch.", "driver-library-mismatch"),
    # CUDA and its libraries
    ("RuntimeError: CUDA error: API call is not supported in the installed CUDA driver", TOO_OLD),
    ("cudaErrorCallRequiresNewerDriver", TOO_OLD),
    ("torch fails with cudaErrorInsufficientDriver", TOO_OLD),
    ("CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER", TOO_OLD),
    ("CUSPARSE_STATUS_ALLOC_FAILED", "gpu-memory-handle-alloc"),
    ("CURAND_STATUS_ALLOCATION_FAILED", "gpu-memory-handle-alloc"),
    ("CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", "gpu-memory-handle-alloc"),
    # NCCL
    (f"{NCCL}misc/socket.cc:456 NCCL WARN socketPollConnect: connect to 10.0.3.5<41325> timed out", "nccl-wrong-interface"),
    ("Last error:\nsocketStartConnect: Connect to 10.0.3.5<50001> failed : Software caused connection abort", "nccl-wrong-interface"),
    ("Last error:\nBootstrap : no socket interface found", "nccl-wrong-interface"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), CAUSES)
def test_it_says_the_cause(text: str, cause: str) -> None:
    assert said(judged(text))[0] == [cause]


FIRST: tuple[tuple[str, str], ...] = (
    # TensorFlow 1.14 has other words for a library that it can't open, and the first releases again others
    (f"{DSO}Could not dlopen library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open shared object file: No such file or directory", "cudnn-missing"),
    (f"{DSO}Could not dlopen library 'libcublas.so.10.0'; dlerror: libcublas.so.10.0: cannot open shared object file; LD_LIBRARY_PATH: /opt/lib", "cuda-version-mismatch"),
    (f"{DSO}Could not dlopen library 'cudart64_100.dll'; dlerror: cudart64_100.dll not found", "cuda-toolkit-missing"),
    (f"{DSO}Could not dlopen library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file", "driver-missing"),
    ("I tensorflow/stream_executor/cuda/cuda_blas.cc:2294] Unable to load cuBLAS DSO.", "cuda-libs-missing"),
    ("I tensorflow/stream_executor/cuda/cuda_rng.cc:338] Unable to load cuRAND DSO.", "cuda-libs-missing"),
    ("F tensorflow/stream_executor/cuda/cuda_driver.cc:93] Check failed: s.ok() could not find cuInit in libcuda DSO; dlerror: python: undefined symbol: cuInit", "driver-missing"),
    ("F tensorflow/stream_executor/cuda/cuda_rng.cc:50] could not find curandCreateGenerator in curand DSO; dlerror: undefined symbol", "cuda-libs-missing"),
    ("InternalError: cudaGetDevice() failed. Status: cudaGetErrorString symbol not found.", "cuda-libs-missing"),
    ("I tensorflow/core/common_runtime/gpu/gpu_init.cc:81] No GPU devices available on machine.", "tf-cpu-only-package"),
    # its calls of the driver
    ("Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_INVALID_DEVICE", "gpu-exclusive-busy"),
    ("Internal: failed call to cuCtxCreate: CUDA_ERROR_INVALID_DEVICE", "gpu-exclusive-busy"),
    (f"{DRIVER}failed to allocate 7.50G (8053063680 bytes) from device: out of memory", HELD),
    (f"{DRIVER}failed to allocate 22.2GiB (23836229632 bytes) from device: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory", HELD),
    ("Resource exhausted: could not create CUDA event: out of device memory", HELD),
    ("RuntimeError: cudaGetDevice() failed. Status: unknown error", UVM),
    ("InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: unknown error", UVM),
    ("InternalError: Failed to get device properties, error code: 30", UVM),
    ("InternalError: cudaGetDevice() failed. Status: initialization error", TOO_OLD),
    ("I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:150] kernel driver does not appear to be running on this host (box7): /proc/driver/nvidia/version does not exist", "container-no-gpus-flag"),
    ("I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:139] kernel driver does not appear to be installed on this host (box7)", "container-no-gpus-flag"),
    ("I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:163] no NVIDIA GPU device is present: /dev/nvidia0 does not exist", "container-no-gpus-flag"),
    ("InvalidArgumentError: 'visible_device_list' listed an invalid GPU id '1' but visible device count is 1", "cuda-visible-devices-wrong"),
    ("INVALID_ARGUMENT: device CUDA:0 not supported by XLA service while setting up XLA_GPU_JIT device number 0", OLD),
    ("F gpu_cudamallocasync_allocator.cc:60] TF_GPU_ALLOCATOR=cuda_malloc_async isn't currently supported on GPU id 0: Possible causes", TOO_OLD),
    ("NOT_FOUND: Could not find registered platform with name: \"cuda\". Available platform names are: Host", "tf-cpu-only-package"),
    ("RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU devices.", "cuda-visible-devices-wrong"),
    ("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.", "tf-cpu-only-package"),
    # its libraries
    ("E tensorflow/stream_executor/cuda/cuda_fft.cc:150] failed to create cuFFT batched plan:5", "gpu-oom-model-or-data"),
    ("W tensorflow/stream_executor/stream.cc:1993] attempting to perform FFT operation using StreamExecutor without FFT support", "gpu-oom-model-or-data"),
    ("CUFFT_INTERNAL_ERROR", "gpu-oom-model-or-data"),
    ("Internal: tensorflow/core/kernels/cuda_solvers.cc:463: cuSolverDN call failed with status =6", "gpu-memory-handle-alloc"),
    ("CUSPARSE_STATUS_INTERNAL_ERROR", "gpu-memory-handle-alloc"),
    ("E tensorflow/stream_executor/cuda/cuda_rng.cc:120] failed to create random number generator: 203", "gpu-memory-handle-alloc"),
    ("F cuda_sparse.cc:164] Failed to create cuSparse instance.", "gpu-memory-handle-alloc"),
    ("CUSPARSE_STATUS_NOT_INITIALIZED", "gpu-memory-handle-alloc"),
    ("Internal: Blas SGEMM launch failed : m=100, n=10, k=784", "gpu-memory-handle-alloc"),
    ("F tensorflow/stream_executor/cuda/cuda_dnn.cc:427] could not set cudnn filter descriptor: CUDNN_STATUS_BAD_PARAM", "cudnn-version-mismatch"),
    ("F random_op.cc:1] Non-OK-status: GpuLaunchKernel(x) status: INTERNAL: invalid resource handle", NEW),
    # compilers
    ("nvcc fatal   : Value 'sm_86' is not defined for option 'gpu-architecture'", NEW),
    ("nvcc fatal   : Value 'compute_30' is not defined for option 'gpu-architecture'", OLD),
    ("nvrtc: error: invalid value for --gpu-architecture (-arch)", NEW),
    ("error: libnvvm: 'compute_120' is an unsupported arch", NEW),
    ("nvrtc: error: failed to open libnvrtc-builtins.so.12.1.", "cuda-libs-missing"),
    ("NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "cuda-libs-missing"),
    # what is printed
    (f"> tf$config$list_physical_devices()\n{R_CPU}", "tf-cpu-only-package"),
    (f"> tf$config$list_physical_devices()\n{R_CPU}> tf_config()\nTensorFlow v2.11.0 (C:\\Users\\kim\\envs\\r-reticulate\\lib\\site-packages\\tensorflow)", "tf-windows-native-cpu-only"),
    ('> tf$config$list_physical_devices("GPU")\nlist()', "tf-cpu-only-package"),
    ("TensorFlow built with CUDA:  TRUE \nGPU device name:  \n[1] FALSE", "cuda-libs-missing"),
    ("Please install GPU version of TF", "tf-cpu-only-package"),
    ("GPU is available:  False", "tf-cpu-only-package"),
    ("GPU is NOT AVAILABLE", "tf-cpu-only-package"),
    ("Not connected to a GPU", "tf-cpu-only-package"),
    # containers
    (f"{CLI}permission error: capability change failed: operation not permitted", "container-host-driver-broken"),
    (f"{CLI}mig-config error: permission denied", "container-host-driver-broken"),
    (f"{CLI}input error: invalid rootfs directory", "container-host-driver-broken"),
    ("invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported.", "container-runtime-not-default"),
    ("nvidia-docker: command not found", "container-toolkit-missing"),
    ("docker: 'nvidia-docker' is not a docker command", "container-toolkit-missing"),
    ("create nvidia_driver_375.26: Post http://%2Frun%2Fdocker%2Fplugins%2Fnvidia-docker.sock/VolumeDriver.Create: dial unix", "container-toolkit-missing"),
    ("services.app.deploy.resources.reservations value Additional properties are not allowed ('devices' was unexpected)", "container-toolkit-too-old"),
    ("Unsupported config option for services.app: 'runtime'", "container-toolkit-too-old"),
    ("failed to generate CDI spec: failed to create device CDI specs: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND", "container-host-driver-broken"),
    ("Error: crun: cannot stat `/run/nvidia-persistenced/socket`: No such file or directory", "cdi-spec-stale"),
    ("Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0", "k8s-device-plugin-not-registered"),
    ("WARNING: Detected NVIDIA GeForce RTX 5090 GPU, which may not yet be supported in this version of the container", NEW),
    ("ERROR: No supported GPU(s) detected to run this container", NEW),
    ("ERROR: Detected NVIDIA Tesla K80 GPU, which is not supported by this container", "gpu-compute-capability-too-old"),
    # the driver
    (f"{NVRM}No NVIDIA PCI devices found.", "driver-nouveau-conflict"),
    (f"{NVRM}request_mem_region failed for 16M @ 0xfb000000. This can", "driver-nouveau-conflict"),
    (f"{NVRM}pci_enable_device failed, aborting", "driver-rminit-failed"),
    (f"{NVRM}Can't find an IRQ for your NVIDIA card!", "driver-rminit-failed"),
    (f"{NVRM}Fatal Error while attempting to resize PCIe BARs.", "driver-rminit-failed"),
    (f"{NVRM}GPU0 kgspHealthCheck_TU102: ************ GSP Failure ************", "xid119-gsp-timeout"),
    (f"{NVRM}GPU0 gpuHandleSanityCheckRegReadError_GM107: Possible bad register read: addr: 0x110040", "xid79-fell-off-bus"),
    (f"{NVRM}krcWatchdog_IMPL: RC watchdog: GPU is probably locked! Notify Timeout Seconds: 7", "xid13-31-43-app-or-gpu-fault"),
    ("[ 5.1] nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 45 LTSSM Fault Up", "xid-hardware-fault"),
    ("ERROR: Unable to load the 'nvidia-drm' kernel module.", "driver-nouveau-conflict"),
    ("NVIDIA-SMI has failed because it couldn't communicate with NVIDIA driver. Make sure that latest NVIDIA driver is installed", "driver-module-not-loaded"),
    ("Failed to initialize NVML: The operating system has blocked the request", "wsl-driver-toolkit-mismatch"),
    ("Failed to initialize NVML: N/A", "wsl-driver-toolkit-mismatch"),
    ("Failed to initialize NVML: GPU requires reset", "gpu-needs-reset"),
    ("Failed to initialize NVML: Corrupted infoROM", "xid-hardware-fault"),
    ("Failed to initialize NVML: Function Not Found", "driver-library-mismatch"),
    ("Failed to initialize NVML: Interrupt Request Issue", "driver-rminit-failed"),
    ("Failed to initialize NVML: Timeout", "xid79-fell-off-bus"),
    ("Failed to initialize NVML: Insufficient External Power", "psu-insufficient"),
    ("nvmlInit failed: Unknown Error", "container-cgroup-devices-lost"),
    ("pynvml.nvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", "driver-missing"),
    ("NVIDIA-SMI couldn't find nvml.dll library in your system", "driver-missing"),
    ("Unable to determine the device handle for GPU 0000:0B:00.0: Insufficient External Power", "xid79-fell-off-bus"),
    ("Unable to determine the device handle for gpu 0000:0B:00.0: Not Found", "xid79-fell-off-bus"),
    # CUDA and its libraries
    ("RuntimeError: CUDA error: unknown error", UVM),
    ("RuntimeError: CUDA error: out of memory", HELD),
    ("cuda runtime error (2) : out of memory at /tmp/THCStorage.cu:58", "gpu-oom-model-or-data"),
    ("RuntimeError: CUDA error: an illegal instruction was encountered", "xid13-31-43-app-or-gpu-fault"),
    ("RuntimeError: CUDA error: invalid resource handle", NEW),
    ("RuntimeError: CUDA error: hardware stack error", "xid13-31-43-app-or-gpu-fault"),
    ("CUDA_ERROR_INVALID_PC", "xid13-31-43-app-or-gpu-fault"),
    ("cudaErrorIllegalAddress", "xid13-31-43-app-or-gpu-fault"),
    ("cudaErrorLaunchFailure", "xid13-31-43-app-or-gpu-fault"),
    ("CUDA_ERROR_NVLINK_UNCORRECTABLE", "nvlink-down"),
    ("RuntimeError: CUDA error: PTX JIT compiler library not found", "driver-library-mismatch"),
    ("RuntimeError: CUDA error: exclusive-thread device already in use by a different thread", "gpu-exclusive-busy"),
    ("CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm( handle)`", "cublas-version-mismatch"),
    ("CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING", "wsl-libcuda-path"),
    ("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", "cudnn-incomplete-install"),
    ("CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH", "cudnn-version-mismatch"),
    ("CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART", "cuda-version-mismatch"),
    ("CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH", OLD),
    # NCCL
    (f"{NCCL}init.cc:790 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000", "mig-single-instance-limit"),
    (f"{NCCL}init.cc:1400 NCCL WARN Mismatched NCCL version detected : rank 0 version 21003 rank 1 version 20804", "cu12-cu13-wheel-clash"),
    (f"{NCCL}misc/cudawrap.cc:200 NCCL WARN CUDA some PFN functions not found in the library", TOO_OLD),
    (f"{NCCL}misc/cudawrap.cc:188 NCCL WARN Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='')", "driver-missing"),
    (f"{NCCL}graph/paths.cc:308 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be", "fabric-manager-not-running"),
    (f"{NCCL}transport.cc:45 NCCL WARN No transport found for rank 0[1000] -> rank 1[2000]", "nccl-wrong-interface"),
    (f"{NCCL}transport/p2p.cc:246 NCCL WARN failed to open CUDA IPC handle : 30 unknown error", "nccl-p2p-iommu-acs"),
    (f"{NCCL}mnnvl.cc:30 NCCL WARN MNNVL (cliqueSize 4) is available but not working on this system. Check the IMEX channel", "nccl-nvls-fabric-manager"),
    (f"{NCCL}misc/socket.cc:500 NCCL WARN Call to bind failed : Cannot assign requested address", "nccl-wrong-interface"),
    (f"{NCCL}misc/ibvwrap.cc:160 NCCL WARN Call to ibv_modify_qp failed with error Connection timed out", "nccl-wrong-interface"),
    ("Last error:\nNET/IB : Got completion from peer 10.0.3.5<41325> with error 5", "nccl-wrong-interface"),
    (f"{NCCL}misc/socket.cc:70 NCCL WARN socketProgress: Connection closed by remote peer box2<53188>", "nccl-wrong-interface"),
    (f"{NCCL}include/shm.h:48 NCCL WARN Cuda failure 'invalid argument'", "nccl-nvls-fabric-manager"),
    (f"{NCCL}misc/shmutils.cc:110 NCCL WARN Error: Could not map /dev/shm/nccl-AyBSKd size 33030532, error: Cannot allocate memory (12)", "nccl-shm-too-small"),
    (f"{NCCL}include/shm.h:30 NCCL WARN Call to mmap failed : Cannot allocate memory", "nccl-shm-too-small"),
    ("Last error:\nCuda failure 'out of memory'", HELD),
    ("RuntimeError: NCCL Error 3: internal error", "nccl-p2p-iommu-acs"),
    ("ncclInvalidArgument: Invalid value for an argument.", "nccl-p2p-iommu-acs"),
    ("horovod.common.exceptions.HorovodInternalError: ncclCommInitRank failed: invalid argument", "nccl-p2p-iommu-acs"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "first"), FIRST)
def test_it_leaves_causes(text: str, first: str) -> None:
    roots, candidates = shown(judged(text))
    assert not roots
    assert candidates[:1] == [first]


@pytest.mark.parametrize(
    "text",
    [
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:967] could not retrieve CUDA device count: CUDA_ERROR_NOT_INITIALIZED",
        f"{DRIVER}failed to launch CUDA kernel: 0x55d0; result: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch",
        "F kernels.cc:1] Non-OK-status: GpuLaunchKernel(x, y) status: Internal: invalid configuration argument",
        "RuntimeError: CUDA error: device-side assert triggered",
        "cudaErrorInitializationError",
        f"{CLI}device error: no-gpu-has-256MiB-to-run: unknown device",
    ],
)
def test_something_fails_and_nobody_can_say_why(text: str) -> None:
    report = judged(text)
    assert report.diagnosis.unexplained
    assert shown(report) == ([], [])


MADE = (
    f"{AT}{DEVICE}Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 7000 MB memory) -> physical GPU "
    "(device: 0, name: GeForce RTX 2070, pci bus id: 0000:0b:00.0, compute capability: 7.5)\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: \"rocm\"",
        "[[1]]\nPhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')\n\n[[2]]\nPhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')\n",
        "TensorFlow built with CUDA:  TRUE \nGPU device name:  /device:GPU:0\n[1] TRUE",
        f"{MADE}E tensorflow/core/platform/default/subprocess.cc:304] Start cannot spawn child process: No such file or directory",
        f"{MADE}W tensorflow/stream_executor/gpu/redzone_allocator.cc:314] Internal: Failed to launch ptxas\nRelying on driver to perform ptx compilation.",
        f"{MADE}W redzone_allocator.cc:312] Not found: ./bin/ptxas not found\nRelying on driver to perform ptx compilation.",
        f"{MADE}W nvptx_compiler.cc:408] Failed to compile ptx to cubin.  Will attempt to let GPU driver compile the ptx. Not found: /opt/cuda/bin/ptxas not found",
        "[ 5.1] nvidia_uvm: module uses symbols nvUvmInterfaceDisableAccessCntr from proprietary module nvidia, inheriting taint.",
        "[ 5.1] nvidia 0000:0b:00.0: BAR 1: no space for [mem size 0x400000000 64bit pref]",
        "[ 5.1] nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 22013, Non-fatal, Link 07 AN1 Heartbeat",
        "W0405 06:07:08.000009 99 nvc_info.c:398] missing library libnvidia-nscq.so",
        "E0405 06:07:08.000009 99 nvc.c:290] could not load kernel module nvidia_modeset",
    ],
)  # fmt: skip
def test_nothing_is_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])
