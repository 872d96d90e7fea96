"""What TensorFlow writes to standard error -> events.

A line may have the prefix of 1.x to 2.17 ('2024-01-01 12:00:00.123456: I tensorflow/…cc:123] …'), that of Abseil and
glog ('I0000 00:00:1723.45 4711 file.cc:12] …'), or none (libraries, tracebacks).
"""

from __future__ import annotations

from ..facts import LogEvent
from ..patterns import Pattern

LIMIT = 200
"""Events that are kept."""
_TEXT = 400
_PREFIXES = (
    Pattern(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: (?P<severity>[IWEF]) (?P<source>\S+:\d+)\] (?P<text>.*)"),
    Pattern(r"(?:^|(?<=\W))(?P<severity>[IWEF])\d{4} \d\d:\d\d:[\d.]+\s+\d+ (?P<source>[^\s\]]+:\d+)\] (?P<text>.*)"),
)
_DEVICE = r"device: (?P<device>\d+), name: (?P<name>[^,]*), pci bus id: (?P<pci>[^,)]+)"
_VERSION = r"\d+(?:\.\d+)*"

KINDS: tuple[tuple[str, str], ...] = (
    (
        "cuinit-failed",
        (
            r"failed call to cuInit: .*?(?P<error>CUDA_ERROR_\w+|UNKNOWN ERROR \((?P<number>-?\d+)\)|CUresult\((?P<number2>-?\d+)\))"
            r"(?:: (?P<meaning>.+))?"
        ),
    ),
    ("no-cuda-driver", r"Could not find cuda drivers on your machine"),
    (
        "cudart-not-opened",
        r"Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries|Ignore above cudart dlerror|cudaGetErrorString symbol not found",
    ),
    (
        "library-not-loaded",
        (
            r"Could not (?:load dynamic|dlopen) library '(?P<library>[^':; ]+)['\"]?(?:; dlerror: (?P<error>[^;]*))?"
            r"|Couldn't open CUDA library (?P<library2>[\w.-]+?)\.?(?= |$)"
        ),
    ),
    ("libraries-not-opened", r"Cannot dlopen some GPU libraries"),
    ("library-opened", r"[Ss]uccessfully opened (?:dynamic|CUDA) library (?P<library>[\w.-]+?\.(?:so[\w.]*|dll))"),
    ("registers-no-gpu", r"Skipping registering GPU devices|No GPU devices available on machine"),
    (
        "capability-too-old",
        (
            rf"(?:Ignoring (?:visible )?gpu device .{{0,4}}{_DEVICE}.{{0,60}}? )?[Ww]ith [Cc]uda compute capability (?P<capability>\d+\.\d+)\w?\."
            r" The minimum required \w+ capability is (?P<minimum>\d+\.\d+)"
            r"|is of insufficient compute capability: (?P<minimum2>\d+\.\d+) required, device is (?P<capability2>\d+\.\d+)"
        ),
    ),
    (
        "few-multiprocessors",
        (
            rf"Ignoring (?:visible )?gpu device (?:\({_DEVICE}.*?\) )?with (?:Cuda multiprocessor|core) count: (?P<count>\d+)"
            r"(?:\. The minimum required count is (?P<minimum>\d+))?"
        ),
    ),
    (
        "gpu-ignored",
        r"Ignoring visible [^\d]{0,40}(?P<device>\d{1,3})[^\n]{0,300}?(?:invalid state: |whose )(?P<error>.*)",
    ),
    (
        "no-machine-code",
        r"not built with CUDA kernel binaries compatible with compute capability (?P<capability>\d+\.\d+\w?)",
    ),
    (
        "device-created",
        (
            r"Created (?:TensorFlow )?device \(?(?P<logical>/\S+) with (?P<memory_mb>\d+) MB memory\)?:? *-> .*?"
            rf"{_DEVICE}, compute capability: (?P<capability>\d+\.\d+\w?)"
        ),
    ),
    (
        "cudnn-too-old",
        (
            rf"[Ll]oaded (?:runtime )?(?i:cudnn) library:? (?P<loaded>{_VERSION}).{{0,60}}? but (?:the )?source was (?:compiled|built) (?:with|against):? "
            rf"(?P<compiled>{_VERSION})"
        ),
    ),
    ("cudnn-loaded", r"Loaded cuDNN version (?P<version>\d+)"),
    (
        "cudnn-part-missing",
        (
            r"Could not load library (?P<library>libcudnn\w*\.so[.\d]*?)\.? Error: (?P<error>.*)"
            r"|Unable to load any of \{(?P<library2>libcudnn[^}]*)\}"
        ),
    ),
    ("dnn-absent", r"No DNN in stream executor|DNN library is not found|DNN library initialization failed"),
    (
        "handle-failed",
        (
            r"(?:[Cc]ould not|[Ff]ailed to) create (?P<library>cudnn|cublas|cusolver|cusparse|cufft)\w* ?handle"
            r"(?:: (?P<error>\w+))?"
        ),
    ),
    (
        "kernel-module-absent",
        r"kernel driver (?:is installed, but )?does not appear to be (?:running|installed) on this host",
    ),
    ("device-node-absent", r"no NVIDIA GPU device is present: (?P<path>/dev/\S+) does not exist"),
    (
        "driver-insufficient",
        r"(?i:CUDA driver version is ins+uf+icient for CUDA runtime)|\bcudaErrorInsufficientDriver\b",
    ),
    ("versions-match", rf"kernel version seems to match DSO: (?P<version>{_VERSION})"),
    ("diagnostics-whole", r"verbose logging is disabled\. Rerun with verbose logging"),
    ("libcuda-version", rf"libcuda reported version is: (?P<version>{_VERSION})"),
    ("kernel-version", rf"kernel reported version is: (?P<version>{_VERSION})"),
    (
        "driver-versions-differ",
        rf"kernel version (?P<kernel>{_VERSION})\.{{0,3}} does not match DSO version (?P<library>{_VERSION})",
    ),
    ("visible-devices", r"env: CUDA_VISIBLE_DEVICES=\"(?P<value>[^\"]*)\""),
    (
        "code-rejected",
        (
            r"(?P<error>CUDA_ERROR_(?:INVALID_PTX|ILLEGAL_INSTRUCTION|NO_BINARY_FOR_GPU|UNSUPPORTED_PTX_VERSION"
            r"|INVALID_SOURCE)|no kernel image is available|CUBLAS_STATUS_ARCH_MISMATCH)"
        ),
    ),
    ("benign-memory-retried", r"The caller indicates that this is not a failure"),
    (
        "out-of-memory",
        (
            r"Allocator \((?P<allocator>\S+?)\) ran out of memory trying to allocate (?P<size>\w[\w.]*)"
            r"|failed to allocate (?P<size2>\S+).*?from device: CUDA_ERROR_OUT_OF_MEMORY|CUDA_ERROR_OUT_OF_MEMORY"
            r"|OOM when allocating ten|\bRan out of memory trying to allocate (?P<size3>\w[\w.]*)"
        ),
    ),
    (
        "libdevice-missing",
        (
            r"libdevice is required by this HLO module but was not found at (?P<path>\S+)"
            r"|libdevice not found\W{0,3} error|libdevice\.compute_\d\d\.\d\d\.\w{2} not found(?![^\n]{0,60}\b(?:fixed|solved|old|since)\b)|\berror\W{1,3}libdevice not found|libdevice not found at (?P<path2>\S+)|ptxas fatal\s*: Unresolved extern function '__nv_"
        ),
    ),
    ("libdevice-not-seen", r"Can't find libdevice directory"),
    ("benign-ptxas-newer", r"using ptxas 1\d\.[\d.]{1,10}, which is older than \d\."),
    (
        "ptxas-too-old",
        (
            r"You are using ptxas [\d.]{1,12}x?, but TF requires ptxas|You are using ptxas [\d.]{3,12}, which is (?:older than [\d.]{3,12}|in range \[)|ptxas(?: (?P<path>\S+))? too old|ptxas does not support CC (?P<capability>\d+\.\d+)"
            r"|(?:ptxas|nvlink) fatal\s*: [Vv]alue '(?P<architecture>sm_(?!(?:1\d|2\d|3[02])')\w+)' is not defined|^(?![^\n]{0,200}ptxas application ptx input)[^\n]{0,200}?Unsupported \.version (?P<version>[\d.]+)"
        ),
    ),
    ("built-with-cudnn", r"source was (?:compiled|built) (?:with|against):? (?P<version>\d{1,2}\.\d{1,2}\.\d{1,3})"),
    (
        "ptxas-missing",
        (
            r"No PTX compilation provider is available|Couldn't find a suitable version of ptxas"
            r"|[Cc]an(?:'t|not) find ptxas|ptxas not found|Couldn't (?:invoke|get) ptxas"
        ),
    ),
    (
        "benign-numpy-warning",
        r"Warning: numpy\.\w+ size changed|numpy\.\w+ size changed, may indicate binary incompatibility\. Expected \d+, got \d+(?! from)",
    ),
    (
        "numpy-abi",
        (
            r"^(?=.{0,80}(?i:numpy)).{0,80}\bcompiled with API 0x[0-9a-f]{1,3}\b|compiled (?:using|against) (?:NumPy|ABI version|API version) (?P<built>\S+)[ ,].*?(?i:numpy) (?:is )?"
            r"(?P<found>\d[\w.]*)|numpy\.core\.multiarray failed to import|numpy\.core\.umath failed to import"
            r"|_ARRAY_API not found|numpy\.\w+ size changed(?:, may indicate|\W{0,3}$)|numpy\.\w+ has the wrong size, try recompiling"
            r"|numpy\._core(?:\.\w+)*'? ?(?:failed to import|is not a package)"
        ),
    ),
    (
        "protobuf-mismatch",
        (
            r"Descriptors? can ?not (?:not )?be created directly"
            r"|cannot import name '(?:builder|runtime_version)' from 'google\.protobuf"
            r"|Detected (?:incompatible|mismatched) Protobuf Gencode/Runtime"
            r"|_DEFAULT = SymbolDatabase\(pool=descriptor_pool\.Default\(\)\)"
            r"|google\._upb\._message' has no attribute|module 'google\.protobuf\S*' has no attribute"
        ),
    ),
    ("operation-failed", r"OP_REQUIRES failed at (?P<where>\S+) ?: (?P<error>.+)"),
    ("benign-numa", r"(?<!between )(?<!within a )NUMA node(?!\(s\)|\d* CPU)"),
    ("benign-factory", r"(?:Unable|Attempting) to register (?P<library>cu\w+) factory"),
    ("benign-tensorrt", r"TF-TRT Warning|Could not find TensorRT"),
    ("benign-onednn", r"oneDNN custom operations are on"),
    (
        "benign-cpu-instructions",
        r"TensorFlow binary (?:is|was not) (?:optimized|compiled) to use|^To enable the following instructions:",
    ),
    ("benign-computation-placer", r"computation placer already registered"),
    ("benign-absl", r"All log messages before absl::InitializeLog\(\) is called"),
)
"""(kind, what a line of it holds): the first that fits. A group's trailing digit only tells alternatives apart."""
_COMPILED = tuple((kind, Pattern(pattern)) for kind, pattern in KINDS)


WORDS = (
    "cuInit", "To enable", "uda", "UDA", "GPU", "gpu", "udnn", "uDNN", "ibrar", "DNN", "NUMA", "ublas", "Tensor", "PTX", "ptxas", "nvlink fatal", "OOM",
    "umpy", "ARRAY_API", "rotobuf", "SymbolDatabase", "escriptor", "OP_REQUIRES", "TRT", "oneDNN", "factory", "devices",
    "absl", "Ran out of", "libdevice", "upb", "verbose", "placer", "Allocator", "kernel", ".version",
)  # fmt: skip
"""Every line with an event holds one of them."""


def read(text: str) -> tuple[LogEvent, ...]:
    """What is understood of a log, in its order, equal events once."""
    found: dict[tuple[str, str], LogEvent] = {}
    for line in text.splitlines():
        event = event_of(line)
        if event is not None and not event.kind.startswith(_QUIET):
            found.setdefault((event.kind, event.text), event)
            if len(found) >= LIMIT:
                break
    return tuple(found.values())


_QUIET = (
    "benign-onednn", "benign-cpu", "benign-comp", "benign-absl", "diagnostics-", "versions-match", "library-opened",
)  # fmt: skip
"""What a pasted text is asked for alone: of a live machine it tells nothing new."""


def event_of(line: str) -> LogEvent | None:
    """What a line tells."""
    if not any(word in line for word in WORDS):
        return None
    prefix = next((m for m in (p.search(line) for p in _PREFIXES) if m), None)
    text = prefix["text"] if prefix else line.strip()
    for kind, pattern in _COMPILED:
        match = pattern.search(text)
        if match:
            values = {k.rstrip("23"): v.strip() for k, v in match.groupdict().items() if v}
            return LogEvent(
                kind=kind,
                text=text[:_TEXT],
                severity=prefix["severity"] if prefix else None,
                source=prefix["source"].rpartition("/")[2] if prefix else None,
                values=values,
            )
    return None
