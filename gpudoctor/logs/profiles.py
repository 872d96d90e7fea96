"""What programs say of the speed of a training: profilers, distribution strategies, counters, switches."""

from __future__ import annotations

from .language import Kind, Language

_SLOW = "runs-slowly"
_NUMBER = r"\d{1,3}(?:\.\d{1,6})?"
_CODE = r"^(?:>>> |\.\.\. |[-+] |In \[\d{1,4}\]: )?"
"""What may stand before a line of a program's text."""
_SETS = r"(?:export |declare -x |ENV |setenv |set |%env |env |-e |--env[ =])?[\"']?"

PROFILES = Language(
    name="profile",
    words=(
        "input-bound", "Kernel Launch", "16 bit", "using FP16", "underutilized", "has the highest", "high time cost on input", "PAGEABLE", "ageable", "PIPE_TENSOR_ACTIVE",
        "DEV_GPU_UTIL", "slow compared to the batch", "`PyDataset`", "shuffle buffer", "dtype policy",
    ),
    kinds=(
        # the input
        Kind("input-bound", rf"[Yy]our program is (?P<how>HIGHLY|MODERATELY) input-bound because (?P<percent>{_NUMBER}) ?%", _SLOW),
        Kind("input-maybe-bound", r"[Yy]our program COULD be input-bound because", _SLOW),
        Kind("not-input-bound", r"[Yy]our program is NOT input-bound because"),
        Kind(
            "input-bound",
            rf"\"?[Dd]ata ?[Ll]oader\"? has the highest \(non-GPU\) usage at (?P<percent>{_NUMBER}) ?%|has high time cost on input data loading",
            _SLOW,
        ),
        Kind("gpu-underused", rf"The GPU is underutilized: Only (?P<percent>{_NUMBER}) ?% of the profiled time", _SLOW),
        Kind("benign-slow-callback", r"is slow compared to the batch (?:time|update)"),
        Kind("benign-py-dataset", r"Your `PyDataset` class should call"),
        Kind("benign-shuffle-buffer", r"(?:Filling up shuffle buffer|Shuffle buffer filled)"),
        Kind("launch-bound", rf"(?P<percent>{_NUMBER}) ?% of the total step time sampled is spent on 'Kernel Launch'", _SLOW),
        # tensor cores
        Kind("little-16-bit", rf"Only (?P<percent>{_NUMBER}) ?% of device computation is 16 bit"),
        Kind("little-16-bit", r"\b\d{1,6} ops were eligible to use tensor cores but none are using FP16"),
        Kind("benign-no-tensor-cores", r"may run slowly with dtype policy mixed_float16"),
        Kind("tensor-active", rf"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE\{{gpu=\"(?P<index>\d{{1,3}})\"[^}}\n]{{0,400}}\}} (?P<value>{_NUMBER})"),
        Kind("gpu-busy", rf"DCGM_FI_DEV_GPU_UTIL\{{gpu=\"(?P<index>\d{{1,3}})\"[^}}\n]{{0,400}}\}} (?P<percent>{_NUMBER})"),
        # copies
        Kind("pageable-blocks", r"use PAGEABLE memory which causes asynchronous CUDA memcpy operations to block", _SLOW),
        Kind("no-pageable", r"no problems detected related to memcpy operations using pageable memory"),
        Kind("pageable-measured", r"^\W{0,4}PAGEABLE Memory Transfers"),
        Kind("pageable-copy", r"\bPageable {1,12}Device\b[^\n]{0,120}\[CUDA memcpy HtoD\]"),
    ),
)  # fmt: skip
STRATEGIES = Language(
    name="tensorflow-python",
    words=("Strategy",),
    kinds=(
        Kind(
            "strategy-devices",
            r"Using (?:Mirrored|OneDevice|CentralStorage)?Strategy with (?:remote )?devices (?P<devices>[(\[][^\n]{1,600})"
            r"|Single-worker MultiWorkerMirroredStrategy with local_devices = (?P<devices2>\([^)\n]{1,600}\))",
        ),
        Kind(
            "strategy-device-absent",
            r"Some requested devices in `?tf\.distribute\.Strategy`? are not visible to TensorFlow: (?P<devices>[^\n]{1,400})",
            _SLOW,
        ),
        Kind("strategy-on-processor", r"There are non-GPU devices in `?tf\.distribute\.Strategy`?"),
    ),
)
"""What tf.distribute logs of the devices that it takes."""
SWITCHES = Language(
    name="switches",
    words=("TF32_OVERRIDE", "enable_tensor_float_32_execution", "TensorFloat-32 will be used"),
    kinds=(
        Kind("tf32-used", r"TensorFloat-32 will be used for the matrix multiplication"),
        Kind(
            "tf32-off",
            rf"{_CODE}{_SETS}NVIDIA_TF32_OVERRIDE[\"']?(?:=|: ?|, ?| )[\"']?0[\"']?(?=$|[\s;,}}\\])"
            r"|(?:^| )(?:-e|--env)[ =]NVIDIA_TF32_OVERRIDE=0(?=$|\s)"
            rf"|{_CODE}os\.environ\[[\"']NVIDIA_TF32_OVERRIDE[\"']\] ?= ?[\"']0[\"']"
            rf"|{_CODE}(?:tf|tensorflow)\.config\.experimental\.enable_tensor_float_32_execution\( ?(?:enabled ?= ?)?False ?\)",
        ),
    ),
)
_ON = r"(?:(?:on|in|with|using|running (?:it )?on|the|my|a|that on) ){0,3}"
COMPARED = Language(
    name="profile",
    words=("lower", "longer", "faster"),
    kinds=(
        Kind(
            "gpu-slower-than-cpu",
            rf"^(?![^\n]{{0,300}}\b(?:possible|whether|expected|should be)\b)[^\n]{{0,300}}?(?i:\bGPUs?\b[^.\n]{{0,60}}\b(?:slow(?:er|ly)|longer) (?:than|then) {_ON}CPUs?\b|\bCPUs?\b[^.\n]{{0,60}}\bfaster (?:than|then) {_ON}GPUs?\b"
            rf"|(?<!\bno )(?<!\bany )\b(?:slower|longer) (?:on|with|using) (?:the |my |a )?GPU\b(?![^.\n]{{0,40}}\bthan (?:the |my |on |with )*(?:other|second|old|another|\d)))",
            _SLOW,
            once=True,
        ),
    ),
)
"""Who finds the processor faster."""
_FEW = r"(?:\d ?(?:-|to|~) ?)?(?:[1-9]|[1-3]\d) ?%"
LITTLE = Language(
    name="profile",
    words=("%",),
    kinds=(
        Kind(
            "gpu-hardly-used",
            rf"(?i:\b(?:only|just|juste|uses?|using)\b[^.\n%]{{0,20}}(?<![\d.]){_FEW}[^.\n]{{0,12}}\bGPU\b(?! mem)"
            rf"|\bGPU(?:'s)? (?:usage|util\w*|load)\b[^.\n%]{{0,20}}\b(?:only|just|about|around|at|below|under|(?:above|over)) (?:only |about |around )?(?<![\d.]){_FEW})",
            _SLOW,
            once=True,
        ),
    ),
)
"""Who sees his GPU idle."""
SIZES = Language(
    name="circumstances",
    words=(
        "nist",
        "NIST",
        "iris",
        "Iris",
        "xor",
        "XOR",
        "mall",
        "tiny",
        "toy",
        "imple",
        "little",
        "hallow",
        "layer",
        "atch",
        "LSTM",
        "lstm",
        "RNN",
        "GRU",
        "einforcement",
        "DQN",
        "at a time",
    ),
    kinds=(
        Kind(
            "small-work",
            r"(?i:\b(?:mnist|iris|xor)\b|\b(?:small|tiny|toy|simple|little|shallow|(?:single|one|two)[- ](?:hidden[- ])?layer(?:ed)?) (?:[\w-]{1,15} ){0,2}(?:models?|networks?|nets?|nn|mlp|data ?sets?|examples?|batch(?:es)?|problem|task)\b"
            r"|\bbatch[_ ]?size ?(?:=|of|:|is)? ?(?:[1248]|16|32)\b|\b(?:lstm|rnn|gru)s?\b|\breinforcement learning\b|\bdqn\b|\b(?:image|sample|example) at a time\b)",
            once=True,
        ),
    ),
)
_AMOUNT = (
    r"(?<![\w.])(?P<{n}>\d{{1,6}}(?:[.,]\d{{1,3}})?k?) ?(?P<{u}>ms|s|secs?|seconds?|min(?:ute)?s?|h|hours?"
    r"|(?:imgs?|images?|samples?|examples?|steps?|it|batches) ?/ ?s(?:ec)?)\b"
)
_FREE = r"(?:\btake\(1\)(?:\.cache\(\))?\.repeat\b|\b(?i:synthetic|(?:dummy|fake|random(?:ly generated)?|constant|zero) (?:data|input|images?|tensors?|arrays?|batch(?:es)?|numbers)|(?:the )?same batch|one batch (?:again|repeated)|a (?:single|cached) batch|no input pipeline|data on the GPU)\b)"
_REAL = r"\b(?i:real|actual|true|full|original|tfrecords?|(?:my|the) (?:own )?(?:data|dataset|pipeline|generator|images|files)|jpe?gs?)\b"


def _compared(number: int) -> str:
    """What stands first, and what second, by `number` of the order."""
    free = _AMOUNT.format(n=f"without{number}", u=f"unit{number}"), _FREE
    real = _AMOUNT.format(n=f"real{number}", u=f"unit_real{number}"), _REAL
    first, second = (free, real) if number % 2 else (real, free)
    (a, b), (c, d) = (first, second) if number < 3 else (first[::-1], second[::-1])
    return rf"{a}[^\n\d]{{0,40}}?{b}[^\n]{{0,40}}?{c}[^\n\d]{{0,40}}?{d}"


WITHOUT_INPUT = Language(
    name="circumstances",
    words=("take(1)", "ynthetic", "ummy", "fake", "andom", "onstant", "zero ", "ame batch", "one batch", "a single batch", "a cached batch", "no input pipeline", "data on the GPU"),
    kinds=(Kind("input-taken-away", "|".join(_compared(n) for n in (1, 2, 3, 4))),),
)  # fmt: skip
"""Who measures without the input."""
LANGUAGES = (WITHOUT_INPUT, PROFILES, STRATEGIES, SWITCHES, COMPARED, LITTLE, SIZES)
