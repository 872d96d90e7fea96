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
        r"Start cannot (?:spawn|fork\(\)) child process: No such file|redzone_allocator\.cc:\d{1,4}\] [A-Za-z_ ]{4,20}: [^\n]{0,160}ptxas|Will attempt to let GPU driver compile the ptx|Relying on (?:the )?driver to perform ptx compilation|Invoking (?:ptxas not|GPU asm compilation is) supported on"
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
    Kind(
        "benign-driver-older-than-ptxas",
        r"older than the (?:PTX compiler|ptxas)(?: CUDA)? version[^\n]{0,80}XLA is disabling parallel compilation",
    ),
    Kind("benign-architecture-unknown", r"Defaulting to telling LLVM that we're compiling for"),
    Kind("benign-pool-allocator", r"PoolAllocator: After \d+ get requests|Garbage collection: deallocate free memory regions"),
    Kind("benign-peer-access", r"cannot enable peer access from device ordinal|CUDA_ERROR_TOO_MANY_PEERS"),
)  # fmt: skip

_CODE = (
    Kind(
        "ptx-too-new",
        r"UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|PTX was compiled with an unsupported toolchain|(?i:\bunsupported ptx\b(?! instruction))"
        r"|cuLinkAdd\w{4,8} fails\. This is usually caused by stale driver|The CUDA linking API did not work|ptxas application ptx input\b[^\n]{0,40}Unsupported \.version",
        _FAILS,
    ),
    Kind(
        "no-kernel-image",
        r"(?<!nccl: )(?<!NCCL: )\binvalid device function\b|cudaErrorInvalidDeviceFunction|no kernel image is available|device kernel image is invalid|cudaErrorNoKernelImageForDevice"
        r"|cudaErrorInvalidKernelImage|CUDA_ERROR_NO_BINARY_FOR_GPU|CUDA_ERROR_INVALID_IMAGE|CUDA binary kernel for this graphics card compute capability \((?P<capability>\d+\.\d)\) not found",
        _FAILS,
    ),
    Kind(
        "ptx-rejected",
        r"CUDA_ERROR_(?:INVALID_PTX|INVALID_HANDLE|ILLEGAL_INSTRUCTION)|cudaErrorInvalidResourceHandle|(?:status: (?:Internal|INTERNAL)|CUDA error): invalid resource handle|PTX version [\d.]+ does not support target"
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
        r"|No CUDA device found with minimum required compute capability (?P<minimum>\d+\.\d+)"
        r"|\bkernel requires (?:compute )?(?P<minimum2>\d+\.\d+) capability",
        _FAILS,
    ),
    Kind(
        "symbol-of-another",
        r"(?P<file>\S{0,200}?lib(?:cu|nv)\w{2,20}\.so[.\d]{0,14}): (?:undefined symbol: |symbol )(?P<symbol>__nvJitLink\w{1,60}),? version (?P<other>libnvJitLink\.so\.\d{1,2})"
        r"|(?P<file2>/\S{0,200}?lib(?:cu|nv)(?!dnn)\w{2,20}\.so[.\d]{0,14}): symbol (?!cublasLt)\w{1,80},? version \S{1,40} not defined in file (?P<other2>lib(?:cu|nv)(?!dnn)\w{2,20}\.so[.\d]{0,14}) with link time reference",
        _FAILS,
    ),
    Kind("arch-mismatch", r"CU(?:DNN|BLAS|SPARSE|SOLVER|RAND)_STATUS_(?:NOT_SUPPORTED_)?ARCH_MISMATCH", _FAILS),
)

_LIBRARIES = (
    Kind("jit-compiler-lost", r"PTX JIT compiler library not found|_JIT_COMPILER_NOT_FOUND|libnvidia-ptxjitcompiler\.so[\d.]{0,12}:? cannot open", _FAILS),
    Kind("nvrtc-builtins-lost", r"failed to open (?:lib)?nvrtc-builtins|NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", _FAILS),
    Kind(
        "cudnn-lacks-nvrtc",
        r"Could not load library libcudnn\S{1,40} Error: libnvrtc\S{0,40} cannot open"
        r"|(?<![\w/.])libnvrtc\.so: cannot open|(?i:cudnn[^\n]{0,120}libnvrtc\.so[\d.]{0,8}['`\"]{0,2}:? (?:cannot open|not found|(?:is |was )?missing))",
        _FAILS,
    ),
    Kind(
        "cudnn-outdated",
        r"Outdated cuDNN installation found|Found cuDNN version (?:(?P<major>\d)\d{3}, but JAX was built against version (?P=major)\d{3}|(?P<major2>\d)\d{4}, but JAX was built against version (?P=major2)\d{4}),"
        r" which is newer",
        _FAILS,
    ),
    Kind("cuda-outdated", r"Outdated (?P<library>CUDA|cu[A-Z]{2,8}|CUPTI) installation found|CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART", _FAILS),
    Kind(
        "cudnn-rules",
        r"CuDNN library (?:major and minor version )?needs to (?:match|have matching)|upgrade your CuDNN library",
        _FAILS,
    ),
    Kind("cudnn-lacks-libcuda", r"CUDNN_STATUS_(?:NOT_SUPPORTED_)?RUNTIME_PREREQUISITE_MISSING|^(?:\W{0,3}(?:[Bb]ug|[Ii]ssue|[Pp]roblem)\W{1,3})?Error: libcuda\.so: cannot open shared object|Could not load library libcudnn\S{1,40} Error: libcuda\.so\S{0,10} cannot open", _FAILS),
    Kind("cudnn-lacks-cublas", r"Could not load library lib(?:cudnn|cublas|cudart)\S{1,40} Error: lib(?:cublas(?:Lt)?|cudart)\.so\.(?P<major>\d{1,2})\S{0,20} cannot open", _FAILS),
    Kind(
        "libraries-mixed",
        r"CUDNN_STATUS_(?:SUBLIBRARY_|SERIALIZATION_)?VERSION_MISMATCH"
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
        r"Could not load library libcudnn_(?:\S{1,40} Error: libcudnn_\S{1,40} cannot open|\w{1,30}\.so\.\d['\"`.!?]{0,3}$)"
        r"|CUDNN_STATUS_(?:SUBLIBRARY_LOADING_FAILED|NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE)|Unable to load (?:any of \{)?libcudnn_|(?:[Ii]nvalid handle|Error)[^\n]{0,30}Cannot load symbol cudnn",
        _FAILS,
    ),
    Kind(
        "cudnn-part-on-windows",
        r"(?i:could not (?:load library|locate)) \"?(?:[A-Za-z]:\\[^\"\n]{0,200}\\)?(?P<library>cudnn_\w*64_\d+\.dll)(?:\. Error code:? (?P<code>\d+))?"
        r"|(?i:make sure) ['\"`]?(?P<library2>cudnn_\w*64_\d+\.dll)['\"`]? is in|\b(?P<library3>cudnn_\w*64_\d+\.dll)['\"`]? (?i:(?:\w+ )?(?:can(?:'t|not| not) be|could(?:n't| not) be|(?:was|is) not|not) (?:found|loaded|located)|is missing|(?:is not|isn't) in (?:the|your|my) (?:library )?path)",
        _FAILS,
    ),
)  # fmt: skip

_FINDS_NONE = (
    r"\bcudaMalloc(?:Managed|Async)? failed: out of memory|\bCUDA failure 2: out of memory|\bcudaSuccess \(2 vs\. 0\)|\bCUDA Error: out of memory|[Oo]ut of memory in cu\w{2,30}\(|System is out of GPU|[Oo]ut of memory error on GPU \d"
    r"|[Cc]ould not allocate (?:\w{1,12} ){0,3}(?:GPU|CUDA|device|shared) (?:\w{1,12} ){0,2}(?:buffer|memory)|[Ff]ailed to allocate (?:memory for requested buffer of size|compute buffers|CUDA\d? buffer|(?:\w{1,12} ){0,3}on (?:the )?(?:GPU|device))"
    r"|[Oo]ut of memory allocating [\d,]{1,20} bytes \(allocated so far|out of memory to allocate \d{1,16} bytes|\[CUDA memory error\]|CUDA_OUT_OF_MEMORY|\bOUT_OF_DEVICE_MEMORY\b|CL_MEM_OBJECT_ALLOCATION_FAILURE|\bcudaErrorMemoryAllocation\b"
)
"""Programs that are not TensorFlow: basecallers, renderers, ONNX Runtime, Caffe, darknet, MXNet, CuPy, Paddle, llama.cpp."""
_MEMORY = (
    Kind(
        "host-memory-full",
        r"OOM when allocating tensor.{0,300}(?:device:CPU:\d|by allocator (?:mklcpu|cpu))|\bUnable to allocate (?:array with shape|\d[\d.]{0,8} [MGTP]iB for an array)|^(?:numpy\S{1,40}\.)?_?(?:Array)?MemoryError(?:: .{0,200})?$"
        r"|DefaultCPUAllocator: (?:can't|not enough|could not)|\[(?:Errno|WinError) (?:12|1455)\]|session crashed after using all available RAM|\boom-killer\b",
        _FAILS,
    ),
    Kind("pinned-memory-full", r"failed to alloc(?:ate)? \d+ bytes on host|could not allocate pinned host memory", _FAILS),
    Kind(
        "tensor-too-large",
        r"OOM when allocating ten|\bOOM\b[^\n]{0,60}\bshape ?\[\d|(?:RESOURCE_EXHAUSTED|Resource exhausted|ResourceExhaustedError): Out of memory while trying"
        r" to allocate (?P<bytes>\d+)|Out of memory allocating (?P<bytes2>\d+) bytes"
        r"|ResourceExhaustedError.{0,80}failed to allocate memory|Failed to allocate request for \d[^\n]{0,40} on device ordinal \d",
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
    Kind("context-refused", r"failed call to cu(?:DevicePrimaryCtxRetain|CtxCreate)\w{0,4}: (?:CUDA_ERROR_INVALID_DEVICE|CUDA_ERROR_DEVICE_UNAVAILABLE|invalid device ordinal)", _FAILS),
    Kind("context-not-made", r"\bat \S{1,80}\.cu(?:CtxCreate|DevicePrimaryCtxRetain)\("),
    Kind(
        "allocation-refused",
        rf"failed to allocate (?P<size>{_SIZE}) \((?P<bytes>\d+) bytes\) from device: (?:RESOURCE_EXHAUSTED: ?:? ?)?(?:CUDA_ERROR_OUT_OF_MEMORY|out of memory)",
        _FAILS,
    ),
    Kind("executor-refused", r"device CUDA:\d{1,3} not supported by XLA service", _FAILS),
    Kind(
        "allocator-refused",
        r"TF_GPU_ALLOCATOR=cuda_malloc_async isn't currently supported on GPU|cudaErrorNotSupported: operation not supported[^\n]{0,80}MemPool",
        _FAILS,
    ),
    Kind("visible-list-wrong", r"'visible_device_list' listed an invalid (?:GPU|[Dd]evice) id", _FAILS),
    Kind("executor-not-made", r"failed initializing StreamExecutor for CUDA device ordinal", _FAILS),
    Kind("cupti-lost", r"could not dlopen DSO: libcupti|Couldn't open CUDA library libcupti|libcupti\.so[\d.]{0,5}:? (?:cannot open|can ?not open|can't open)", _FAILS),
    Kind("copy-finds-no-room", r"could not create CUDA event: out of device memory|Dst tensor is not initialized|unable to allocate output tensor", _FAILS),
    Kind("torch-out-of-memory", r"CUDA out of memory\. Tried to allocate|cuda runtime error \(2\)", _FAILS),
    Kind("program-finds-no-memory", _FINDS_NONE, _FAILS),
    Kind("cuda-out-of-memory", r"CUDA error: out of memory", _FAILS),
    Kind("driver-suspected", r"(?i:possibly insufficient driver version): (?P<version>\d{3,4}\.[\d.]*\d)"),
    Kind("handle-memory", r"Memory usage: (?P<free>\d+) bytes free, (?P<total>\d+) bytes total"),
    Kind("allocator-limit", r"^Limit: {1,30}(?P<bytes>\d{1,16})$"),
    Kind("allocator-report", r"Sum Total of in-use", _FAILS),
    Kind("device-unavailable", r"CUDA_ERROR_DEVICES?_UNAVAILABLE|CUDA-capable device\(?s?\)? (?:is/)?are busy or unavailable|cudaErrorDevicesUnavailable", _FAILS),
    Kind("invalid-ordinal", r"invalid device ordinal|cudaErrorInvalidDevice\b|CUDA_ERROR_INVALID_DEVICE\b(?!.*cuInit)(?<!cuInit: CUDA_ERROR_INVALID_DEVICE)", _FAILS),
    Kind("resource-exhausted", r"\bResourceExhausted(?:Error)?\b|list of allocated tensors when OOM happens", _FAILS),
    Kind("no-supported-device", r"no supported devices found for platform CUDA", _FAILS),
    Kind(
        "exclusive-mode-said",
        r"(?i:\bexclusive(?:[ _](?:process|thread))?(?: compute)? mode\b[^.\n]{0,60}\b(?:another|other|already|busy|in use|fail|error|crash|seg)|\bcompute mode\b[^.\n]{0,40}\bEXCLUSIVE_THREAD|exclusive-thread device already in use)",
        _FAILS,
    ),
    Kind(
        "killed",  # by bash at a prompt, in a script, by macOS, zsh, fish, make, subprocess; by engines and schedulers
        r"^Killed(?:: 9)?$|(?:\bline \d{1,6}: {1,8}|\.sh: {1,3}\d{1,6}: {1,8}|^\[\d{1,3}\][+-]? {1,4})\d{1,9} [Kk]illed\b|^\[\d{1,3}\][+-]? {1,4}Killed {2,}|^zsh: killed {1,8}\S|\bterminated by signal SIGKILL\b|\*\*\* \[[^\]\n]{1,120}\] Killed$|\bdied with <Signals\.SIGKILL: 9>"
        r"|\b[Ee]xit(?:s|ed)?(?: with)?(?:[ _]?(?:status|code|Code))?(?: ?[:=] ?| (?:of |is )?)\(?137\b|returned non-zero exit status (?:137|-9)\b|interrupted by signal 9|(?<!No )(?<!no )(?<!not )OOMKilled(?!\W{1,4}false)|\bstd::bad_alloc\b",
        _FAILS,
    ),
)  # fmt: skip

_WORK = (
    Kind(
        "handle-without-memory",
        r"CU(?:DNN|BLAS|SOLVER|SPARSE)_STATUS_ALLOC_FAILED|CURAND_STATUS_ALLOCATION_FAILED|CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        _FAILS,
    ),
    Kind(
        "fft-failed",
        r"(?i:failed to (?:create|initialize|make|run) cufft (?!handle))|CUFFT_(?:ALLOC_FAILED|INTERNAL_ERROR|EXEC_FAILED|SETUP_FAILED)"
        r"|FFT operation using StreamExecutor without FFT support",
        _FAILS,
    ),
    Kind(
        "solver-failed",
        r"cuSolverDN call failed with status|cuSparse call failed with status|CUSOLVER_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)"
        r"|CUSPARSE_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)",
        _FAILS,
    ),
    Kind("handle-not-made", r"Failed to create cuS(?:olverDN|parse) instance|failed to create random number generator|CUSOLVER_STATUS_NOT_INITIALIZED|CUSPARSE_STATUS_NOT_INITIALIZED|CURAND_STATUS_INITIALIZATION_FAILED|cusolverDnCreate\(&|(?i:could not|failed to) create (?:cudnn|cublas|cusolver|cusparse|cufft)\w* ?handle|CUBLAS_STATUS_NOT_INITIALIZED|cublas runtime error : library not initialized", _FAILS),
    Kind(
        "cublas-failed",
        r"CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR|NOT_SUPPORTED)|cublas error|cublas runtime error : (?:the GPU program failed to execute|an internal operation failed|an access to GPU memory space failed)",
        _FAILS,
    ),
    Kind("gemv-failed", r"Blas x?GEMV launch failed", _FAILS),
    Kind("gemm-failed", r"(?i:blas (?:x?|[sdchz])gemm\w* launch failed)|BLAS operation using StreamExecutor without BLAS support", _FAILS),
    Kind(
        "no-algorithm",
        r"Failed to get convolution algorithm|No algorithm worked!|cuDNN launch failure|DNN library initialization failed"
        r"|DNN operation using StreamExecutor without DNN support|Failed to determine best cudnn convolution algorithm"
        r"|[Uu]nable to find a valid cuDNN algorithm|GetConvolveAlgorithms\("
        r"|(?i:\bcudnn (?:has |had )?fail(?:s|ed|ing)? to initiali[sz]e|\b(?:can(?:'t|not| not)|could(?:n't| not)|fail(?:s|ed|ure|ing)? (?:to|in)|unable to|error) initiali[sz]\w{1,3} cudnn\b)",
        _FAILS,
    ),
    Kind("cudnn-differs", r"cuDNN compiled \(\d{4,5}\) and runtime \(\d{4,5}\) versions mismatch|Found cuDNN version \d{4,5}, but JAX was built against version \d{4,5}, which is newer|\blibcudnn v\d with header v\d unmatched|PyTorch was compiled {1,4}against \(\d+, \d+, \d+\) but (?:found runtime version|linked against)|is compiled with CUDNN \d+\.\d+, but CUDNN version in your machine is \d|(?i:loaded runtime cudnn library)(?![^\n]{0,80}\b(?:wrong\b|(?:compiled|built) (?:with|against):? ?\d))|^\W{0,3}(?:If using a binary install, )?upgrade your CuDNN library to match", _FAILS),
    Kind("cudnn-failed", r"CUDNN_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR|NOT_INITIALIZED)\w*", _FAILS),
    Kind("launch-timed-out", r"CUDA_ERROR_LAUNCH_TIMEOUT|the launch timed out and was terminated", _FAILS),
    Kind(
        "gpu-access-failed",
        r"CUDA_ERROR_(?:ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS|CONTAINED|HARDWARE_STACK_ERROR|INVALID_ADDRESS_SPACE|INVALID_PC)|an illegal (?:memory access|instruction) was encountered|misaligned address"
        r"|cudaError(?:IllegalAddress|LaunchFailure|HardwareStackError|MisalignedAddress)|CUDA error: (?:hardware stack error|misaligned address|invalid program counter|operation not supported on global)|unspecified launch failure|Unexpected Event status: 1",
        _FAILS,
    ),
    Kind(
        "ptxas-lacking",
        r"Failed to launch ptxas\b|ptxas returned an error during compilation of ptx to sass: '?\w+: (?:Failed|Couldn't)"
        r"|(?:OP_REQUIRES failed|NotFoundError|[Nn]ot found|NOT_FOUND)[^\n]{0,60}ptxas not found|[\"'`](?:\S{0,60}/)?ptxas not found[\"'`]|^\W{0,4}Couldn't (?:get|invoke) ptxas"
        r"|No PTX compilation provider is available|(?:does(?:n't| not)|did(?:n't| not)|can(?:not|'t)) (?:find|detect|see) (?:the )?ptxas\.exe|(?:Error: |INTERNAL|failed)[^\n]{0,60}Couldn't find a suitable version of ptxas",
        _FAILS,
    ),
    Kind("nvcc-lacks-old", r"nvcc fatal\s{0,4}: (?:Unsupported gpu architecture|Value) '(?:compute|sm)_[1-5]\d'", _FAILS),
    Kind("libdevice-not-opened", r"\berror in open: \S{0,200}libdevice\S{0,60}\.bc\b", _FAILS),
    Kind("provider-not-loaded", r"LoadLibrary failed with error 126 \W{0,4}when trying to load \W{0,2}[^\"\n]{0,300}onnxruntime_providers_cuda\.dll", _FAILS),
    Kind("library-older-than-built", r"Found cu(?!DNN)\w{3,9} version \d{4,6}, but JAX was built against version \d{4,6}, which is newer", _FAILS),
    Kind("mig-name-not-read", r"invalid literal for int\(\) with base 10: '(?:b')?MIG-", _FAILS),
    Kind("ptxas-lacks-old", r"\b[Vv]alue 'sm_(?:1\d|2\d|3[02])' is not defined for option 'gpu-name'", _FAILS),
    Kind("ptxas-too-old", r"(?<!fatal   : )(?<!fatal : )(?<!fatal: )\b[Vv]alue '(?P<architecture>sm_\w{2,5})' is not defined for option 'gpu-name'", _FAILS),
    Kind(
        "nvcc-lacks-new",
        r"nvcc fatal\s{0,4}: (?:Unsupported gpu architecture|Value) '(?:compute|sm)_\d{2,3}"
        r"|nvrtc: error: invalid value for --gpu-architecture|'(?:compute|sm)_\d{2,3}\w?' is an unsupported arch",
        _FAILS,
    ),
    Kind("gpu-sync-failed", r"\bGPU sync failed\b", _FAILS),
    Kind("jit-failed", r"JIT compilation failed", _FAILS),
)  # fmt: skip

_CURES = r"(?:(?<!demo )works?|worked|solved?|solution|fix(?:ed|es)?|helps?|helped|cure[sd]?|runs fine|ran|resolved?)"
_GROWTH = (
    r"(?:allow_growth|(?:memory|gpu)[ _]growth|set_memory_growth|memory_fraction|gpu memory (?:allocation|limit|fraction|growth)"
    r"|(?:limit|restrict)\w{0,3} (?:the )?(?:gpu|video) memory)"
)
_PLACEMENT = (
    Kind("torch-without-cuda", r"Torch not compiled with CUDA enabled|CUDA-enabled jaxlib is not installed", _FAILS),
    Kind("platform-not-registered", r"(?i:could not find registered platform with name: \"cuda\")", _FAILS),
    Kind("no-cuda-in-build", r"appears to be a GPU, but CUDA is not enabled", _FAILS, _no_cuda),
    Kind(
        "gpu-index-absent",
        r"(?i:assigned to [^\n]{0,80}\bGPU:(?P<index>[1-9]\d?)\b[^\n]{0,60}available devices)[^\[\n]{0,10}\[(?=[^\]\n]{0,2000}device:GPU:0)(?![^\]\n]{0,2000}device:GPU:(?P=index)\b)",
        _FAILS,
    ),
    Kind(
        "gpu-not-among-devices",
        r"(?i:available devices:?(?: are)?:? ?\[(?:(?!(?:/(?:device:)?|[ ,])GPU:)[^\]]){0,3000}(?:\]|$))",
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
)
_TOLD = (
    Kind(
        "memory-cures",
        rf"(?i:^(?![^\n]{{0,400}}(?:\bstill\b|\bnot? (?:help|work|effect|difference|change|luck|solve|fix)|n't (?:help|work|solve|fix)|\bwithout (?:success|effect)))"
        rf"[^\n]{{0,300}}(?:\b{_CURES}\b[^.\n]{{0,100}}\b{_GROWTH}|\b{_GROWTH}\b[^.\n]{{0,60}}\b(?:solve[sd]?|fix(?:ed|es)|help(?:s|ed)|cure[sd]|resolve[sd])\b))",
        _FAILS,
    ),
    Kind(
        "takes-all-memory",
        r"(?i:\b(?:TF|tensorflow|keras)\b[^.?!\n]{0,50}\b(?<!not )(?<!make )(?<!makes )(?:takes?|taking|allocat\w{1,4}(?! (?:an? |the )?(?:tensor|op|variable|node))|reserv\w{1,4}|grab\w{0,4}|fill\w{0,3}|occup\w{1,5}"
        r"|hog\w{0,4}|eat\w{0,3}|consum\w{1,4}|maps|us(?:es?|ing))\b[^.?!\n]{0,30}\b(?:all|whole|entire|every|full|100 ?%|9\d ?%)[^.?!\n]{0,40}"
        r"\b(?:memory|v?ram|gpus?|cards?)|\b(?:TF|tensorflow|keras) (?:takes?|grabs?|reserves?|allocates?|eats?|occupies) all (?:of )?(?:the |my )?\d{1,3} ?(?:GB|GiB)\b"
        r"|(?<!not )\b(?:tak(?:es?|ing)(?: over| up)?|allocat(?:es?|ing)|reserv(?:es?|ing)|grabs?|occup(?:ies|ying)|us(?:es|ing)) (?:up )?"
        r"(?:almost |nearly )?(?:all|the (?:whole|entire|full|total)|entire|whole) (?:of )?(?:the |my )?(?:available )?(?:(?:gpu|video|graphics)(?:'?s)? (?:memory|ram)|(?:memory|v?ram) (?:of|on) (?:the |my |each |every |a |its )?(?:gpu|card|graphics card)s?\b)"
        r"|\b(?:(?:seems?|appears?|tends?) to|(?:processes|programs|scripts|predictions|sessions|models|workers|runs|jobs|kernels|notebooks)(?: will| each| both| all)?) (?:occupy|take|allocate|reserve|grab|eat|fill) (?:up )?"
        r"(?:almost |nearly )?(?:all|the (?:whole|entire|full|total)|entire|whole) (?:of )?(?:the |my )?(?:available )?(?:(?:gpu|video|graphics)(?:'?s)? (?:memory|ram)|(?:memory|v?ram) (?:of|on) (?:the |my |each |every |a |its )?(?:gpu|card|graphics card)s?\b)"
        r"|(?<!not )\b(?:takes?|grabs?|occup(?:ies|y)|allocates?) (?:up )?(?:the )?(?:resources?|memory) (?:of|on) all (?:the |my |available )?gpus\b"
        r"|(?<!not )\b(?:takes?|occup(?:ies|y)|allocates?|uses?|fills?) (?:up )?(?:the |my )?gpu(?:'s)? memory (?:completely|entirely|fully|as a whole)\b"
        r"|\ball (?:of )?(?:the |my )?/?(?:device:)?gpu(?::\d)?(?:'s)? memory (?:is|gets|was) (?:taken|allocated|grabbed|reserved|occupied)\b(?![^.\n]{0,40}\b(?:by (?:an)?other|already)\b))"
        r"|(?i:\b(?:all|(?:nearly |almost )?(?:the )?(?:whole|entire|full)|9\d ?%) (?:of )?(?:the |my )?(?:gpu|card|v?ram)(?:'s)?(?: memory| ram)? (?:is|gets|was) (?:being )?(?:taken|allocated|grabbed|reserved|occupied|filled|used)(?: up)?"
        r" (?:at once|immediately|right away|instantly|anyway|regardless|(?:right )?(?:at|from) the (?:very )?(?:start|beginning)|at start-?up|as soon as)\b"
        r"|\b(?:TF|tensorflow|keras)\b(?: v?\d[\d.]{0,6}\d)?[^.?!\n]{0,16}? (?:ignores|does(?:n't| not) (?:do|respect|honou?r|obey|use|support)) (?:the )?(?:incremental |dynamic |gradual )?(?:gpu )?(?:memory[ _]growth|allow[ _]growth|(?:incremental|dynamic|gradual) (?:gpu )?(?:memory )?allocation)\b)"
        r"|(?:显存|GPU)(?![^。,\n]{0,8}(?:没|未|不|别的|其他|另))[^。,\n]{0,6}(?:就|都|会|全部?){0,3}被?(?:全部?)?(?:占满|占完|吃满|用完|占光)",
    ),
)  # fmt: skip
_OTHER = (
    Kind(
        "cuda-call-failed",
        r"^(?![^\n]{0,200}cuInit)[^\n]{0,200}\b(?:CUDA_ERROR_(?:NOT_INITIALIZED|DEINITIALIZED|INVALID_VALUE|INVALID_CONTEXT|CONTEXT_IS_DESTROYED|NOT_FOUND"
        r"|LAUNCH_OUT_OF_RESOURCES|ASSERT|INVALID_SOURCE|MAP_FAILED|NOT_SUPPORTED|PEER_ACCESS_NOT_ENABLED|FILE_NOT_FOUND)\b"
        r"|(?:cudaGetDevice|cudaSetDevice)\(\)(?: on GPU:\d{1,3})? failed\. Status: (?!initialization error|CUDA driver version|cudaGetErrorString|unknown))",
        _FAILS,
    ),
    Kind(
        "runtime-not-started",
        r"(?:cuda[GS]etDevice\(\)(?: on GPU:\d{1,3})?|implicit initialization on GPU:\d{1,3}) failed\. Status: initialization error",
        _FAILS,
    ),
    Kind(
        "cuda-call-failed",
        r"CUDA error: (?:initialization error|driver shutting down|invalid (?:argument|configuration argument|device symbol|device context|pitch)|limit is not|file not found"
        r"|shared object|named symbol not found|device not ready|too many resources|context is destroyed|device-side assert|operation not supported$|operation not permitted$"
        r"|mapping of buffer|PTX JIT compilation was|invalid external device|the provided execution)|\bcudaErrorInitializationError\b",
        _FAILS,
    ),
    Kind("cublas-refused", r"CUBLAS_STATUS_INVALID_VALUE", _FAILS),
    Kind(
        "builds-for-another-cuda",
        r"[Dd]etected CUDA version \(\d+\.\d+\) (?:mismatches|has a m\w{3}r version mismatch with) the version that was used to compile",
        _FAILS,
    ),
    Kind("kernel-not-launched", r"Non-OK-status: (?:Gpu|Cuda)LaunchKernel\(", _FAILS),
    Kind("cudnn-refused", r"[Cc]ould not [^\n:]{0,80}: CUDNN_STATUS_BAD_PARAM", _FAILS),
)
"""Calls that fail, where nothing more is known of why."""

LANGUAGE = Language(
    name="operations",
    words=(
        "libcuda.so: cannot", "libdevice", "providers_cuda", "JAX was built", "'MIG-", "gpu-name", "etected CUDA version", "PTX", "ptx", "cuLinkAdd", "CUDA linking", "caller", "exceeds", "ailed: ", "ayout failed", "retracing", "ignore this message", "elay kernel", "nd of sequence", "out of data",
        "slow compile", "Constant folding", "operation took", "MLIR", "XLA", "peer access", "kernel image", "KernelImage", "CUDA_ERROR", "cudaError",
        "CUDA capability", "cuda capability", "PyTorch no", "No CUDA device", "nvalid device function", "InvalidDeviceFunction", "cusolverDnCreate", "uSolverDN", "sync failed", "nvcc fatal", "_STATUS_", "libcudnn", "libnvrtc", "CuDNN library", "cudnn_", "load symbol", "cublas",
        "OOM", "xhausted", "XHAUSTED", "ut of memory", "OUT_OF_MEMORY", "OUT_OF_DEVICE", "out of GPU", "(2 vs. 0)", "ould not allocate", "ailed to allocate", "nable to allocate", "MemoryError", "CPUAllocator", "rror 12]", "rrno 12]", "rror 1455]", "ALLOCATION_FAILURE", "memory error]", "available RAM", "oom-killer", "on host", "pinned host", "Dst tensor", "output tensor", "Memory usage", "nsufficient driver", "Sum Total", "Limit: ", ".cuCtxCreate(", ".cuDevicePrimaryCtxRetain(",
        "busy or unavailable", "Unavailable", "ordinal", "libcupti", "INVALID_DEVICE", "InvalidDevice", "no supported devices", "xclusive", "EXCLUSIVE", "Killed", "137", "signal 9", "SIGKILL", " killed", "status -9", "OOMKilled", "bad_alloc", " handle", "GEM", "gemm", "BLAS",
        "algorithm", "Algorithm", "cuDNN", "DNN", "timed out", "illegal memory", "llegal instruction", "isaligned address", "launch failure", "Event status", "ptxas", "JIT", "not enabled", "available devices",
        "Available devices", "Outdated ", "with CUDA", " capability", "PoolAllocator", "collection: deallocate", "telling LLVM", "child process", "resource handle", "cuLinkAddData", "linking API", "nvrtc", "NVRTC_",
        "request for ", "not supported by XLA", "cuda_malloc_async", "MemPool", "visible_device_list", "device memory", "cuFFT", "cufft", "CUFFT_", "FFT ", "cuSolver", "cuSparse", "random number", "unsupported arch", "jaxlib is not", "nvJitLink",
        "registered platform", "PTX JIT", "JIT_COMPILER", "ptxjitcompiler", "CUDA error", "cuda runtime error (2)", "cudaErrorMem", "LaunchKernel(", "failed. Status: ", "egistered devices", "NHWC", "memory", "RAM", "rowth", "s all ", "占", "吃满", "用完",
    ),
    kinds=(*_HARMLESS, *_CODE, *_LIBRARIES, *_MEMORY, *_WORK, *_PLACEMENT, *_OTHER),
)  # fmt: skip
SAID = Language(
    name="operations",
    words=("emory", "EMORY", "RAM", "ram", "GPU", "gpu", "card", "rowth", " all ", "显存"),
    kinds=_TOLD,
    foreign=True,
)
"""What people say of memory."""
