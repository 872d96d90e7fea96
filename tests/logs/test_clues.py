"""Lines that show a failure and do not decide: each brings its own causes, and narrows those of the others."""

from __future__ import annotations

import pytest

from gpudoctor.textual.clues import CLUES
from tests.logs.judged import judged, said

STAMP = "2021-03-04 05:06:07.000123: "
BUS = "3b:00.0 3D controller: NVIDIA Corporation GP104GL [Tesla P4] (rev a1)\n\tKernel driver in use: nvidia\n"
ROOM = f"{STAMP}E tensorflow/stream_executor/cuda/cuda_dnn.cc:340] Memory usage: 6442450944 bytes free, 8369078272 bytes total.\n"
IMPORTED = (
    'Traceback (most recent call last):\n  File "/srv/p/a.py", line 1, in <module>\n    import tensorflow as tf\n'
)
ILL = "Illegal instruction (core dumped)\n"
OPTIMIZED = f"{STAMP}I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU instructions\n"
INSTRUCTIONS = f"{STAMP}I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\n"
DRIVER = f"{STAMP}E tensorflow/stream_executor/cuda/cuda_driver.cc:1045] "
ANY_CARD, TOO_OLD = "gpu-too-new-for-build", "gpu-compute-capability-too-old"
TASKS = 'TF_CONFIG={"cluster": {"worker": ["10.0.0.4:2222", "10.0.0.5:2222"]}}\n'
FAULT, FAINT = "xid13-31-43-app-or-gpu-fault", "ecc-uncorrectable-error"
NO_ROOM, ALL_TAKEN, HELD = "gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process"
NOT_LOADED, NOT_BUILT = "driver-module-not-loaded", "driver-kernel-incompatible"

CASES: list[tuple[str, tuple[str, ...]]] = [
    # the driver
    ("NVRM: GPU 0000:3b:00.0 is already bound to nouveau.\n" + BUS, ("driver-nouveau-conflict", "gpu-bound-to-vfio")),
    ("NVRM: The NVIDIA probe routine was not called for 1 device(s).\n" + BUS, ("driver-nouveau-conflict", "gpu-bound-to-vfio", "optimus-gpu-powered-off")),
    ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-9-amd64\nbash: nvidia-smi: command not found\n", ("driver-missing",)),
    ("Error! Your kernel headers for kernel 6.1.0-9-amd64 cannot be found.\n", (NOT_LOADED, NOT_BUILT)),
    ("E: Unable to locate package linux-headers-6.1.0-9-amd64\n", (NOT_LOADED, NOT_BUILT)),
    ("UnknownError: Could not start gRPC server\n", ("tf-config-port-taken",)),
    ("gcc: error: unrecognized command-line option '-ftrivial-auto-var-init=zero'\n", (NOT_LOADED, NOT_BUILT)),
    ("ERROR: Unable to find the development tool `cc` in your path\n", (NOT_LOADED, "driver-missing")),
    ("root@0a1b2c3d4e5f:/srv# ls\n/dev/nvidia0: Permission denied\n", ("device-node-permission", "container-cgroup-devices-lost", "lsm-denied")),
    ("kernel reported version is: 470.94.0\nlibcuda reported version is: 510.47.3\n", ("driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path")),
    ("libcuda reported version is: 510.47.3\nkernel reported version is: 470.94.0\n", ("driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path")),
    # containers
    (
        "nvidia-container-cli: mount error: stat failed: /proc/driver/nvidia/gpus/0000:3b:00.0: no such file or directory\n",
        ("container-toolkit-too-old", "wsl-driver-toolkit-mismatch", "container-host-driver-broken"),
    ),
    # what is not installed or imported
    ("When will there be wheels for Python 3.13?\nTensorFlow does not support Python 3.13 yet\n", ("python-version-unsupported", "python-32bit")),
    (
        "ERROR: No matching distribution found for nvidia-cublas-cu12\n",
        ("tf-aarch64-cpu-only", "tf-macos-no-cuda", "tf-windows-native-cpu-only", "python-version-unsupported"),
    ),
    (
        "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified procedure could not be found.\n",
        ("msvc-runtime-missing", "tf-import-broken", "tf-packages-overlap", "protobuf-mismatch"),
    ),
    (
        IMPORTED + "ImportError: dlopen(/srv/p/_pywrap_tensorflow_internal.so, 0x0006): tried: '/srv/p/_pywrap_tensorflow_internal.so' "
        "(mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64e'))\n",
        ("tf-import-broken",),
    ),
    (
        "\\\\?\\D:\\app\\node_modules\\@tensorflow\\tfjs-node-gpu\\lib\\napi-v5\\tfjs_binding.node\n",
        ("cuda-version-mismatch", "cuda-toolkit-missing", "ld-library-path-not-set", "cudnn-missing", "msvc-runtime-missing"),
    ),
    (OPTIMIZED + ILL, ("cpu-no-avx", "tf-import-broken")),
    ("Linux nano 4.9.140-tegra #1 SMP PREEMPT aarch64 aarch64 aarch64 GNU/Linux\n>>> import tensorflow\n" + ILL, ("tf-import-broken",)),
    ("/lib64/libc.so.6: version `GLIBC_2.27' not found (required by /srv/p/numpy/x.so)\n", ("glibc-too-old",)),
    # operations
    (
        ("InvalidArgumentError: Could not satisfy device specification '/job:localhost/replica:0/task:0/device:GPU:1' because no devices "
        "matching that specification are registered\n"),
        (
            "tf-no-gpu-registered", "tf-cpu-only-package", "cuda-libs-missing", "cuda-version-mismatch", "driver-missing",
            "container-no-gpus-flag", "cuda-visible-devices-empty",
        ),
    ),
    ("The Conv2D op currently only supports the NHWC tensor format on the CPU.\n", ("tf-no-gpu-registered", "tf-cpu-only-package")),
    (
        f"{STAMP}W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB\n",
        ("gpu-oom-model-or-data", HELD, ALL_TAKEN, NO_ROOM),
    ),
    (
        "$ lsmod | grep nvidia\n$ uname -r\n",
        (
            "driver-module-not-loaded", "driver-missing", "driver-kernel-incompatible", "driver-secure-boot", "driver-nouveau-conflict",
            "optimus-gpu-powered-off", "no-nvidia-gpu",
        ),
    ),
    ("WARNING: Could not find any nv files on this host!\n", ("driver-missing", "driver-module-not-loaded", "no-nvidia-gpu")),
    ("Sum Total of in-use chunks: 1.20GiB\n", ("gpu-oom-model-or-data", HELD, ALL_TAKEN)),
    ("OOM when allocating tensor with shape[9,9] and type float on /job:a/replica:0/task:0/device:CPU:0 by allocator cpu\n", ("cgroup-memory-limit",)),
    ("failed to alloc 415990272 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n", ("wsl-pinned-memory-limit", "cgroup-memory-limit")),
    ("RuntimeError: CUBLAS_STATUS_NOT_INITIALIZED\n", (NO_ROOM, ALL_TAKEN, HELD, ANY_CARD, "cudnn-version-too-old", "cudnn-version-mismatch", "driver-too-old", "cublas-version-mismatch")),
    ("CUDNN_STATUS_ALLOC_FAILED\n" + ROOM, (NO_ROOM, ALL_TAKEN, HELD)),
    (
        "CUDNN_STATUS_MAPPING_ERROR\n",
        (NO_ROOM, ANY_CARD, "cudnn-version-mismatch", "cudnn-version-too-old", "cudnn-dropped-gpu", ALL_TAKEN, HELD, "driver-too-old", TOO_OLD),
    ),
    (
        "CUDNN_STATUS_EXECUTION_FAILED\n",
        (ANY_CARD, NO_ROOM, "cudnn-version-mismatch", "cudnn-version-too-old", "cudnn-dropped-gpu", ALL_TAKEN, HELD, "driver-too-old", TOO_OLD),
    ),
    (DRIVER + "Failed to load in-memory CUBIN: CUDA_ERROR_INVALID_SOURCE\n", (ANY_CARD, "driver-too-old-for-ptx", TOO_OLD, FAULT)),
    (DRIVER + "failed to load PTX text as a module: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\n", (ANY_CARD, "driver-too-old-for-ptx", FAULT)),
    ("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device\n", (ANY_CARD, TOO_OLD, "driver-too-old-for-ptx")),
    ("CUDNN_STATUS_ARCH_MISMATCH\n", (TOO_OLD, "cudnn-dropped-gpu", ANY_CARD)),
    (
        "Unable to determine the device handle for GPU 0000:4F:00.0: Unknown Error\n",
        ("xid79-fell-off-bus", "xid119-gsp-timeout", "gpu-needs-reset", "xid-hardware-fault", "psu-insufficient"),
    ),
    ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered\n", (FAULT, ANY_CARD, FAINT)),
    ("RuntimeError: CUDA error: an illegal instruction was encountered\n", (FAULT, ANY_CARD, FAINT, "gpu-needs-reset")),
    ("CUDA error: misaligned address\n", (FAULT, ANY_CARD, FAINT, "gpu-needs-reset")),
    ("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure\n", (FAULT, ANY_CARD)),
    ("CUDA_ERROR_MISALIGNED_ADDRESS\n", (FAULT, ANY_CARD, FAINT, "gpu-needs-reset")),
    ("CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out and was terminated\n", (FAULT, ANY_CARD, FAINT, "gpu-needs-reset")),
    (
        "CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable\n",
        ("gpu-exclusive-busy", "vgpu-unlicensed", "compute-mode-prohibited", HELD),
    ),
    # what people say of what is installed
    ("Only cuDNN 7 on the cluster. The code expects cuDNN 8.\n", ("cudnn-wrong-major", "cudnn-version-too-old")),
    ("dnf update killed my setup: cuda-10-1 replaced cuda-10-0, TF 1.13.1 does not import any more\n", ("cuda-version-mismatch", "cuda-libs-missing", "tf-import-broken")),
    ("After 'pip uninstall tensorflow' my tensorflow-gpu is broken: module 'tensorflow' has no attribute 'Session'\n", ("tf-packages-overlap", "tf-cpu-only-package")),
    (f"pip install -r requirements.txt\npip install -r requirements-gpu.txt\n{INSTRUCTIONS}", ("tf-packages-overlap", "tf-cpu-only-package", "tf-macos-no-cuda")),
    ("module 'tensorflow' has no attribute 'constant', I git cloned tensorflow to this folder and run the script from there\n", ("tf-shadowed", "tf-packages-overlap")),
    ("I installed normal tensorflow 1.7, how can I train with my GPU?\n", ("tf-cpu-only-package", "conda-cpu-build")),
    ("I have tensorflow, not tensorflow-gpu. How can I use the GPU?\n", ("tf-cpu-only-package", "conda-cpu-build", "tensorflow-gpu-package-removed")),
    ("Why doesn't the image ship libcuda.so.1? I have to link against it\n", ("container-no-gpus-flag", "container-toolkit-missing", "driver-missing", "driver-library-damaged")),
    ("nvidia-dkms: kernel headers aren't pulled in by the package, so that no module gets built for 6.1\n", (NOT_LOADED, NOT_BUILT)),
    ("Is the 5070 Ti incompatible?\n", (ANY_CARD, "driver-too-old")),
    ("TF 1.15 crashes on the RTX 3090, the GTX 1080 Ti beside it computes\n", ("gpu-too-new-for-build", "cuda-version-mismatch", "gpu-left-out-beside-another")),
    ("GeForce GT 430 with tensorflow 1.12, every session crashes\n", (TOO_OLD, "driver-too-old")),
    ("Is my Quadro M4000 unsupported in the current version?\n", (TOO_OLD, "driver-too-old", "driver-too-old-for-ptx", "gpu-ignored-few-sms")),
    (
        "With time-slicing each pod gets a share of the card.\nAs soon as two tensorflow pods run at the same time, one crashes.\n",
        (ALL_TAKEN, HELD, "scaling-below-expected"),
    ),
    ("The GPU is underutilized: Only 12.3 % of the profiled time was spent\n", ("cpu-starved-input", "single-gpu-silently", "h2d-pageable")),
    # collectives
    (
        f"{TASKS}UnavailableError: failed to connect to all addresses\n",
        ("tf-config-address-unreachable", "tf-config-proxy", "tf-config-localhost", "tf-config-host-unresolvable"),
    ),
    (f'{TASKS}"description":"Error received from peer ipv4:10.9.9.9:3128"\n', ("tf-config-proxy", "tf-config-address-unreachable")),
    (
        "All-reduce hangs on pairs without NVLink. 4x RTX A6000, bridged pairs are fine.\n",
        ("nccl-p2p-iommu-acs", "p2p-unsupported-geforce", "multi-gpu-topology-no-p2p", "nccl-shm-too-small"),
    ),
    (
        "gpu-host:77:99 [0] init.cc:31 NCCL WARN Cuda failure 802\n",
        ("fabric-manager-not-running", "fabric-manager-version-mismatch", "nccl-nvls-fabric-manager"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "causes"), CASES)
def test_these_are_left(text: str, causes: tuple[str, ...]) -> None:
    roots, candidates = said(judged(text))
    assert (roots, tuple(candidates)) == ([], causes)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("container-cgroup-mount", "OCI runtime create failed: mountpoint for cgroup not found"),
        ("host-memory-much-told", "The data generator of ours takes too much RAM of the host, in every one of its workers."),
        ("another-dies-told", "If I open the model in two different notebooks, one of the two crashes."),
        ("container-no-dxcore", "nvidia-container-cli: initialization error: load library failed: libdxcore.so: cannot open shared object file"),
        ("module-bad-argument", "modprobe: ERROR: could not insert 'nvidia': Invalid argument"),
        ("other-module-key-rejected", "modprobe: ERROR: could not insert 'vboxdrv': Required key not available"),
        ("dll-routine", "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed."),
        ("cudnn-differs", "E tensorflow/stream_executor/cuda/cuda_dnn.cc:378] Loaded runtime CuDNN library: 7003 (compatib"),
        ("executor-not-made", "tensorflow.python.framework.errors_impl.InternalError: failed initializing StreamExecutor for CUDA device ordinal 0: Internal"),
        ("cupti-lost", "could not dlopen DSO: libcupti.so.9.0; dlerror: libcupti.so.9.0: cannot open shared object file"),
        ("iommu-fault-of-gpu", "nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021]"),
        ("driver-blamed", f"{STAMP}E tensorflow/stream_executor/cuda/cuda_dnn.cc:328] Possibly insufficient driver version: 418.87.1"),
        ("bus-error", "[box:00811] *** Process received signal ***\n[box:00811] Signal: Bus error (7)"),
        ("power-cap-named", "- SW Power Cap: Active"),
        ("gpu-slower-than-cpu", "The GPU is slower than the CPU"),
        ("gpu-hardly-used", "It uses only 5% of the GPU"),
        ("nccl-versions-differ", "NCCL WARN Mismatched NCCL version detected"),
        ("no-device-function", "RuntimeError: NCCL: no device function"),
        ("session-waits", "CreateSession still waiting for response from worker: /job:worker/replica:0/task:1"),
        ("workers-wait-said", "My ParameterServerStrategy hangs, its workers wait for the ps"),
        ("chief-missing-said", "My train_and_evaluate hangs, TF_CONFIG has no chief"),
    ],
)  # fmt: skip
def test_a_line_brings_its_causes_in_order(kind: str, line: str) -> None:
    roots, candidates = said(judged(f"{line}\n"))
    assert roots == []
    assert tuple(candidates) == tuple(dict.fromkeys(CLUES[kind]))


def test_what_only_a_running_process_tells_is_no_proof() -> None:
    text = "Whenever torch is imported before tensorflow in our script, TF takes torch's cuDNN and conv layers die; with tensorflow imported first it trains\n"
    diagnosis = judged(text).diagnosis
    (candidates,) = diagnosis.candidates.values()
    assert (diagnosis.root_causes, candidates[0].cause) == ((), "cuda-lib-preloaded-by-other-package")
    assert "--pid" in str(candidates[0].settle)
