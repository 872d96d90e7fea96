"""Fixed messages by which other programs tell that they have no GPU, no CUDA of their own, the wrong card or no memory: JAX, Numba, CuPy,
onnxruntime, TensorRT, vLLM, llama.cpp, ollama, Blender, hashcat, ffmpeg and others. The causes are the same as TensorFlow's."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_FAILS = "op-fails"


def _no_libcuda(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.path", None, line)
    notes.tell("driver.libcuda.load_error", values["error"], line)


_BUILT = (
    Kind(
        "program-without-cuda",
        r"not compiled with (?:GPU offload|CUDA|GPU) support|(?:is|was) compiled without (?:CUDA|GPU) support|(?<!\w)Compile with USE_CUDA=1"
        r"|you have installed CPU version PaddlePaddle|GPU Tree Learner was not enabled in this build|has no attribute 'GpuAllocatorConfig'"
        r"|provider 'CUDAExecutionProvider' is not in available provider names"
        r"|\[(?:'(?:Azure|OpenVINO|Dnnl|XNNPACK)ExecutionProvider', ?)?'CPUExecutionProvider'\]",
        _FAILS,
    ),
    Kind(
        "program-without-cuda",
        r"(?<![\w.])[0-2]\.\d{1,2}\.\d(?:\.dev\d+)?\+cpu\b(?![^\n]{0,20}\.whl)",
        _FAILS,
    ),
    Kind("program-sees-none", r"No GPU/TPU found, falling back to CPU", _FAILS),
)
_SEEN = (
    Kind("driver-outdated-said", r"Outdated or broken NVIDIA driver|CUDA Driver version is too old for", _FAILS),
    Kind("context-is-unknown", r"cuda driver library failed to get device context 999", _FAILS),
    Kind("rocm-in-use", r"^ROCm (?:[Vv]ersion|[Rr]untime)\W{0,4}|\bROCm \d\.\d|\brocminfo\b"),
    Kind(
        "device-unavailable", r"(?i:\bcuda devices? (?:are |is )?(?:unavailable or busy|busy or unavailable)\b)", _FAILS
    ),
    Kind(
        "program-lacks-libraries",
        r"couldn't load GPU\. Make sure CUDA Toolkit and cuDNN are installed|third-party dynamic library \([^)\n]{1,120}\) that Paddle depends on is ?not configured correctly",
        _FAILS,
    ),
    Kind("hip-sees-none", r"No HIP GPUs are available", _FAILS),
    Kind(
        "cuda-sees-none",
        r"(?<!\w)No CUDA GPUs are available|FAILED_PRECONDITION: No visible GPU devices",
        _FAILS,
    ),
    Kind(
        "program-finds-none",
        r"no compatible GPUs were discovered|no usable GPU found, --gpu-layers|Found no Cycles device of the specified type"
        r"|you might not have a CUDA gpu"
        r"|\bUnable to initialize backend '(?:gpu|cuda)'\W{0,3}$|\bCL_DEVICE_NOT_FOUND\b|\bNo NVENC capable devices found",
        _FAILS,
    ),
    Kind(
        "driver-library-lost",
        r"(?P<error>CUDA driver library cannot be found|Cannot load nvcuda\.dll|Unable to load CUDA\. Is it installed)",
        tell=_no_libcuda,
    ),
)
_LIBRARIES = (
    Kind("nvvm-lost", r"libNVVM cannot be found|library nvvm not found|LinkerError: libcudadevrt\.a not found", _FAILS),
    Kind(
        "cudnn-lacks-part", r"\blibcudnn_(?:adv|ops|cnn|graph)\w{0,12}\.so\.\d{1,2}: cannot open shared object", _FAILS
    ),
    Kind("cudnn-not-loaded", r"Unable to load cuDNN\. Is it installed|Cannot load cudnn shared library", _FAILS),
    Kind(
        "nvrtc-lost",
        r"failed to load (?:lib)?nvrtc\S{0,20}(?:: (?:FileNotFound|OS)Error|\.(?:dll|so))|Could not find module '[^'\n]{0,200}nvrtc64_\w{2,8}\.dll'",
        _FAILS,
    ),
    Kind("nvvm-knows-none", r"NvvmSupportError: No supported GPU compute capabilities found", _FAILS),
    Kind(
        "cuda-majors-differ", r"PyTorch and torchvision were compiled with different CUDA (?:major )?versions", _FAILS
    ),
    Kind("torch-lacks-of-nccl", r"libtorch_cuda\S{0,20}: undefined symbol: nccl", _FAILS),
    Kind("torch-dll-lost", r"\[WinError 126\][^\n]{0,160}\\torch\\lib\\", _FAILS),
    Kind("no-algorithm", r"RET_CHECK failure \([^\n]{0,120}\) dnn != nullptr", _FAILS),
    Kind("provider-not-made", r"Failed to create CUDAExecutionProvider", _FAILS),
    Kind(
        "toolkit-not-set-up",
        r"CUDA SDK Toolkit not installed or incorrectly installed|CUDA_HOME (?:environment variable is not set|does not exist)",
        _FAILS,
    ),
    Kind(
        "builds-for-another-cuda",
        r"Installed CUDA version \d{1,2}\.\d does not match the version torch was compiled with",
        _FAILS,
    ),
)
_CARDS = (
    Kind(
        "needs-newer-card",
        r"only supported on GPUs with compute capability of at least|FlashAttention only supports Ampere GPUs or newer",
        _FAILS,
    ),
    Kind(
        "build-before-card",
        r"Target GPU SM 1\d\d is not supported by this TensorRT release|Unsupported SM: 0x(?:8[0-9a-f]\d|9\d\d|[a-f]\d\d)\b",
        _FAILS,
    ),
    Kind("thermal-throttle", r"Driver temperature threshold met on GPU", "runs-slowly"),
    Kind(
        "illegal-instruction",
        r"\btraps: [^\n]{1,60}\btrap invalid opcode\b[^\n]{0,120}\bin \S{0,60}(?:ggml|llama|torch|jax|xla|onnx|paddle|mxnet)",
        _FAILS,
    ),
)
_MEMORY = (
    Kind("memory-held-at-start", r"Free memory on device [^\n]{0,40}on startup is less than desired GPU memory utilization", _FAILS),
    Kind("no-room-for-cache", r"No available memory for the cache blocks", _FAILS),
)  # fmt: skip

LANGUAGE = Language(
    name="programs",
    words=(
        "couldn't load GPU", "Paddle depends", "initialize backend", "CPUExecutionProvider", "compiled with", "compiled without", "USE_CUDA=1", "CPU version Paddle", "GPU Tree Learner", "GpuAllocatorConfig", "CUDAExecutionProvider",
        "+cpu", "No GPU/TPU", "No HIP", "unavailable or busy", "busy or unavailable", "ROCm", "rocminfo", "No CUDA GPUs", "No visible GPU", "no compatible GPUs", "no usable GPU", "no Cycles device", "a CUDA gpu",
        "CL_DEVICE_NOT_FOUND", "NVENC capable", "driver library cannot", "nvcuda.dll", "Is it installed",
        "NVVM", "nvvm", "libcudnn_", "nvrtc", "SDK Toolkit", "CUDA_HOME", "torch was compiled", "compute capability of at least", "only supports Ampere",
        "Target GPU SM", "Unsupported SM", "temperature threshold", "invalid opcode", "less than desired", "cache blocks",
        "libcudadevrt", "cudnn shared library", "GPU compute capabilities", "torchvision were", "libtorch_cuda", "WinError 126", "dnn != nullptr",
        "broken NVIDIA driver", "is too old for", "device context 999",
    ),
    kinds=(*_BUILT, *_SEEN, *_LIBRARIES, *_CARDS, *_MEMORY),
)  # fmt: skip
