"""What TensorFlow, XLA and the CUDA libraries say of operations that fail: memory, handles, code for the GPU, placement.

The kinds of tensorflow.py tell how far TensorFlow came; these tell what became of the work.
"""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_FAILS = "op-fails"
_SHOWN = 1
_SIZE = r"[\d.]+ ?[KMGT]?i?[Bb]?"


def _no_gpu(_values: Values, line: int, notes: Notebook) -> None:
    """TensorFlow has devices, and no GPU is among them."""
    notes.tell("tensorflow.devices", (), line, _SHOWN)


def _no_cuda(_values: Values, line: int, notes: Notebook) -> None:
    """Only a build without CUDA says so."""
    notes.tell("tensorflow.build.cuda", False, line, _SHOWN)
    notes.tell("tensorflow.devices", (), line, _SHOWN)


_HARMLESS = (
    Kind("benign-memory-retried", r"The caller indicates that this is not a failure"),
    Kind("benign-host-allocation", r"Allocation of \d+ exceeds \d+% of (?:free )?system memory"),
    Kind(
        "benign-driver-compiles",
        r"Relying on (?:the )?driver to perform ptx compilation|Invoking (?:ptxas not|GPU asm compilation is) supported on"
        r"|We fallback to the NVIDIA driver for some compilation|Couldn't get ptxas version string",
    ),
    Kind("benign-graph-optimizer", r"(?:layout|remapper|model_pruner|function_optimizer|shape_optimizer|dependency_optimizer|arithmetic_optimizer|constant_folding) failed: |[Ll]ayout failed"),
    Kind("benign-retracing", r"triggered tf\.function retracing"),
    Kind("benign-delay-kernel", r"[Dd]elay kernel timed out"),
    Kind("benign-end-of-data", r"OUT_OF_RANGE: End of sequence|Out of range: End of sequence|ran out of data; interrupting"),
    Kind("benign-slow-compile", r"Very slow compile\?|Constant folding an instruction is taking >|The operation took \d[\d.]*s"),
    Kind("benign-mlir", r"None of the MLIR [Oo]ptimization [Pp]asses are enabled|disabling MLIR crash reproducer"),
    Kind("benign-xla-service", r"this does not guarantee that XLA will be used|Compiled cluster using XLA"),
    Kind("benign-executor-aborts", r"this does not indicate an error and you can ignore this message"),
    Kind("benign-peer-access", r"cannot enable peer access from device ordinal|CUDA_ERROR_TOO_MANY_PEERS"),
)  # fmt: skip

_CODE = (
    Kind(
        "ptx-too-new",
        r"UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|PTX was compiled with an unsupported toolchain",
        _FAILS,
    ),
    Kind(
        "no-kernel-image",
        r"no kernel image is available|device kernel image is invalid|cudaErrorNoKernelImageForDevice"
        r"|cudaErrorInvalidKernelImage|CUDA_ERROR_NO_BINARY_FOR_GPU|CUDA_ERROR_INVALID_IMAGE",
        _FAILS,
    ),
    Kind(
        "ptx-rejected",
        r"CUDA_ERROR_(?:INVALID_PTX|INVALID_HANDLE|ILLEGAL_INSTRUCTION)|PTX version [\d.]+ does not support target"
        r"|(?i:ptx jit compilation failed)",
        _FAILS,
    ),
    Kind(
        "not-in-this-build",
        r"with CUDA capability sm_(?P<has>\d+)\w? is not compatible with the current PyTorch",
        _FAILS,
    ),
    Kind(
        "below-the-minimum",
        r"of cuda capability (?P<has>\d+\.\d+)\.? ?(?:$|PyTorch)|PyTorch no longer supports this GPU"
        r"|No CUDA device found with minimum required compute capability (?P<minimum>\d+\.\d+)",
        _FAILS,
    ),
    Kind("arch-mismatch", r"CU(?:DNN|BLAS)_STATUS_ARCH_MISMATCH", _FAILS),
)

_LIBRARIES = (
    Kind(
        "cudnn-lacks-nvrtc",
        r"Could not load library libcudnn\S{1,40} Error: libnvrtc\S{0,40} cannot open"
        r"|(?<![\w/.])libnvrtc\.so: cannot open|(?i:cudnn[^\n]{0,120}libnvrtc\.so[\d.]{0,8}['`\"]{0,2}:? (?:cannot open|not found|(?:is |was )?missing))",
        _FAILS,
    ),
    Kind(
        "cudnn-rules",
        r"CuDNN library (?:major and minor version )?needs to (?:match|have matching)|upgrade your CuDNN library",
        _FAILS,
    ),
    Kind("cudnn-lacks-libcuda", r"Could not load library libcudnn\S{1,40} Error: libcuda\.so\S{0,10} cannot open", _FAILS),
    Kind("cudnn-lacks-cublas", r"Could not load library libcudnn\S{1,40} Error: lib(?:cublas|cudart)\S{0,20} cannot open", _FAILS),
    Kind(
        "libraries-mixed",
        r"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH|CUDNN_STATUS_VERSION_MISMATCH"
        r"|Could not load library libcudnn\S{1,40} Error: .{0,360}(?:undefined symbol|version lookup|not defined in file)"
        r"|[Uu]ndefined symbol:? \w*(?:cudnn|libcudnn)\w*|libcudnn\w*\.so[.\d]*: (?:undefined symbol|version)",
        _FAILS,
    ),
    Kind(
        "cublas-mixed",
        r"symbol cublasLt\w{1,60},? version libcublasLt\.so[.\d]* not defined|undefined symbol: cublas\w{1,60}"
        r"|libcublas\w*\.so[.\d]*: undefined symbol",
        _FAILS,
    ),
    Kind(
        "cudnn-lacks-part",
        r"Could not load library libcudnn_\S{1,40} Error: libcudnn_\S{1,40} cannot open"
        r"|Unable to load any of \{libcudnn_|(?:[Ii]nvalid handle|Error)[^\n]{0,30}Cannot load symbol cudnn",
        _FAILS,
    ),
    Kind(
        "cudnn-part-on-windows",
        r"Could not (?:load library|locate) (?P<library>cudnn_\w*64_\d+\.dll)(?:\. Error code:? (?P<code>\d+))?",
        _FAILS,
    ),
)  # fmt: skip

_MEMORY = (
    Kind(
        "host-memory-full",
        r"OOM when allocating tensor.{0,300}(?:device:CPU:\d|by allocator (?:mklcpu|cpu))"
        r"|failed to alloc(?:ate)? \d+ bytes on host|could not allocate pinned host memory",
        _FAILS,
    ),
    Kind(
        "tensor-too-large",
        r"OOM when allocating tensor|(?:RESOURCE_EXHAUSTED|Resource exhausted|ResourceExhaustedError): Out of memory while trying"
        r" to allocate (?P<bytes>\d+)|Out of memory allocating (?P<bytes2>\d+) bytes"
        r"|ResourceExhaustedError.{0,80}failed to allocate memory",
        _FAILS,
    ),
    Kind(
        "no-memory-for-a-context",
        r"(?:cuDevicePrimaryCtxRetain|cuCtxCreate\w{0,8}|implicit initialization on GPU:\d{1,3} failed\. Status"
        r"|cuda\w{1,30}\(\)(?: on GPU:\d{1,3})? failed\. Status|[Cc]ould not create CUDA context|failed to create (?:CUDA )?context)"
        r":? .{0,60}(?:OUT_OF_MEMORY|out of memory)"
        r"(?:.{0,60}total memory reported: (?P<total>\d+))?",
        _FAILS,
    ),
    Kind(
        "allocation-refused",
        rf"failed to allocate (?P<size>{_SIZE}) \((?P<bytes>\d+) bytes\) from device: CUDA_ERROR_OUT_OF_MEMORY",
        _FAILS,
    ),
    Kind("executor-not-made", r"failed initializing StreamExecutor for CUDA device ordinal", _FAILS),
    Kind("cupti-lost", r"could not dlopen DSO: libcupti|libcupti\.so[\d.]{0,5}:? (?:cannot open|can ?not open|can't open)", _FAILS),
    Kind("copy-finds-no-room", r"Dst tensor is not initialized|unable to allocate output tensor", _FAILS),
    Kind(
        "torch-out-of-memory",
        r"CUDA out of memory\. Tried to allocate",
        _FAILS,
    ),
    Kind("driver-suspected", r"(?i:possibly insufficient driver version): (?P<version>\d{3,4}\.[\d.]*\d)"),
    Kind("handle-memory", r"Memory usage: (?P<free>\d+) bytes free, (?P<total>\d+) bytes total"),
    Kind("allocator-report", r"Sum Total of in-use", _FAILS),
    Kind("device-unavailable", r"CUDA_ERROR_DEVICES?_UNAVAILABLE|CUDA-capable device\(?s?\)? (?:is/)?are busy or unavailable|cudaErrorDevicesUnavailable", _FAILS),
    Kind("invalid-ordinal", r"invalid device ordinal|cudaErrorInvalidDevice\b|CUDA_ERROR_INVALID_DEVICE\b(?!.*cuInit)(?<!cuInit: CUDA_ERROR_INVALID_DEVICE)", _FAILS),
    Kind("no-supported-device", r"no supported devices found for platform CUDA", _FAILS),
    Kind(
        "exclusive-mode-said",
        r"(?i:\bexclusive(?:[ _](?:process|thread))?(?: compute)? mode\b[^.\n]{0,60}\b(?:another|other|already|busy|in use|fail|error|crash|seg)|\bcompute mode\b[^.\n]{0,40}\bEXCLUSIVE_THREAD)",
        _FAILS,
    ),
    Kind("killed", r"^Killed$|exit(?:ed with)?(?: status| code)? 137\b|interrupted by signal 9|OOMKilled|\bstd::bad_alloc\b", _FAILS),
)  # fmt: skip

_WORK = (
    Kind(
        "handle-without-memory",
        r"CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED|CUSOLVER_STATUS_ALLOC_FAILED",
        _FAILS,
    ),
    Kind("handle-not-made", r"(?i:could not|failed to) create (?:cudnn|cublas|cusolver|cusparse|cufft)\w* ?handle|CUBLAS_STATUS_NOT_INITIALIZED", _FAILS),
    Kind(
        "cublas-failed",
        r"CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR|NOT_SUPPORTED)|cublas error",
        _FAILS,
    ),
    Kind("gemv-failed", r"Blas x?GEMV launch failed", _FAILS),
    Kind("gemm-failed", r"(?i:blas x?gemm\w* launch failed)|BLAS operation using StreamExecutor without BLAS support", _FAILS),
    Kind(
        "no-algorithm",
        r"Failed to get convolution algorithm|No algorithm worked!|cuDNN launch failure|DNN library initialization failed"
        r"|DNN operation using StreamExecutor without DNN support|Failed to determine best cudnn convolution algorithm"
        r"|[Uu]nable to find a valid cuDNN algorithm|GetConvolveAlgorithms\(",
        _FAILS,
    ),
    Kind("cudnn-failed", r"CUDNN_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR|NOT_INITIALIZED)\w*", _FAILS),
    Kind("launch-timed-out", r"CUDA_ERROR_LAUNCH_TIMEOUT|the launch timed out and was terminated", _FAILS),
    Kind(
        "gpu-access-failed",
        r"CUDA_ERROR_(?:ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS)|an illegal memory access was encountered"
        r"|unspecified launch failure|Unexpected Event status: 1",
        _FAILS,
    ),
    Kind(
        "ptxas-lacking",
        r"Failed to launch ptxas'?$|ptxas returned an error during compilation of ptx to sass: '?\w+: (?:Failed|Couldn't)"
        r"|(?:OP_REQUIRES failed|NotFoundError|[Nn]ot found|NOT_FOUND)[^\n]{0,60}ptxas not found"
        r"|No PTX compilation provider is available",
        _FAILS,
    ),
    Kind("jit-failed", r"JIT compilation failed", _FAILS),
)  # fmt: skip

_PLACEMENT = (
    Kind("no-cuda-in-build", r"appears to be a GPU, but CUDA is not enabled", _FAILS, _no_cuda),
    Kind(
        "gpu-not-among-devices",
        r"(?i:available devices:?(?: are)?:? ?\[(?:(?!/(?:device:)?GPU:)[^\]]){0,3000}(?:\]|$))",
        _FAILS,
        _no_gpu,
    ),
    Kind("gpu-not-registered", r"[Rr]egistered devices: \[(?:X?L?A?_?CPU|XLA_GPU|[, ]){1,12}\]", _FAILS, _no_gpu),
    Kind(
        "layout-of-cpu",
        r"only supports? (?:the )?NHWC (?:tensor format )?on (?:the )?(?:device type )?CPU"
        r"|CPU implementation only supports NHWC",
        _FAILS,
    ),
    Kind(
        "takes-all-memory",
        r"(?i:\b(?:TF|tensorflow|keras)\b[^.?!\n]{0,50}\b(?<!not )(?:takes?|taking|allocat\w{1,4}|reserv\w{1,4}|grabs?|fills?|occup\w{1,5}"
        r"|hogs?|eats?|consum\w{1,4}|maps|us(?:es?|ing))\b[^.?!\n]{0,30}\b(?:all|whole|entire|every|full|100 ?%|9\d ?%)[^.?!\n]{0,40}"
        r"\b(?:memory|v?ram|gpus?|cards?)"
        r"|(?<!not )\b(?:tak(?:es?|ing)(?: over| up)?|allocat(?:es?|ing)|reserv(?:es?|ing)|grabs?|occup(?:ies|ying)|us(?:es|ing)) (?:up )?"
        r"(?:almost |nearly )?(?:all|the (?:whole|entire|full)|entire|whole) (?:of )?(?:the |my )?(?:available )?(?:gpu|video|graphics)(?:'?s)? "
        r"(?:memory|ram))",
    ),
)  # fmt: skip
"""The last is prose."""

LANGUAGE = Language(
    name="operations",
    words=(
        "PTX", "ptx", "caller", "exceeds", "ailed: ", "ayout failed", "retracing", "ignore this message", "elay kernel", "nd of sequence", "out of data",
        "slow compile", "Constant folding", "operation took", "MLIR", "XLA", "peer access", "kernel image", "KernelImage", "CUDA_ERROR", "cudaError",
        "CUDA capability", "cuda capability", "PyTorch no", "No CUDA device", "_STATUS_", "libcudnn", "libnvrtc", "CuDNN library", "cudnn_", "load symbol", "cublas",
        "OOM", "xhausted", "XHAUSTED", "ut of memory", "OUT_OF_MEMORY", "on host", "pinned host", "Dst tensor", "output tensor", "Memory usage", "nsufficient driver", "Sum Total",
        "busy or unavailable", "Unavailable", "ordinal", "libcupti", "INVALID_DEVICE", "InvalidDevice", "no supported devices", "xclusive", "EXCLUSIVE", "Killed", "137", "signal 9", "OOMKilled", "bad_alloc", " handle", "GEM", "gemm", "BLAS",
        "algorithm", "Algorithm", "cuDNN", "DNN", "timed out", "illegal memory", "launch failure", "Event status", "ptxas", "JIT", "not enabled", "available devices",
        "Available devices", "egistered devices", "NHWC", "memory", "RAM",
    ),
    kinds=(*_HARMLESS, *_CODE, *_LIBRARIES, *_MEMORY, *_WORK, *_PLACEMENT),
)  # fmt: skip
