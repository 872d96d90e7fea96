"""What somebody did, and it worked: 'after I disabled Secure Boot the GPU was found'. What cures it tells what it was."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Understood
from .notebook import Notebook

LANGUAGE = "cures"
WORDS = (
    "olve", "olution", "fix", "Fix", "FIX", "work", "Work", "help", "Help", "trick", "found", "cure", "remed", "gone", "disappear", "went away", "oila",
    "vanish", "goes away", "detected", "ecogni", " fine", "all right", " should", "back to normal", "good again",
)  # fmt: skip
KIND = "cured"

_IT = r"(?:it|this|that|everything|all|(?:the |my )?(?:gpu|card|problem|error|issue|warning|message|training|program|tensorflow|tf)s?)"
_FAULT = r"(?:it|this|that|all|(?:the |my )?(?:problem|error|issue|warning|message)s?)"
_WORKED = (
    r"(?:(?:has |have )?(?:solve[sd]|fixe[sd]|resolve[sd]|cure[sd]|help(?:s|ed))\b|(?:did|does|do) the trick\b|ma(?:kes|de) (?:it|everything) work\b|work(?:s|ed) for me\b|was (?:the|my) (?:solution|fix|cure|remedy)\b"
    rf"|{_IT} (?:\w+ )?(?:works|worked|runs|ran)\b(?! (?:on|until|yesterday|before|for (?!me)|in|there|with))|{_IT} (?:\w+ )?(?:is|was|got|gets) (?:\w+ )?(?:solved|fixed|found|seen|detected|recogni[sz]ed)"
    rf"|{_FAULT} (?:\w+ )?(?:(?:is|was) (?:\w+ )?gone|went away|goes away|disappear(?:s|ed)|vanish(?:es|ed))|(?:is|was) (?:found|detected|recogni[sz]ed|seen) again|voil[a\u00e0]"
    r"|(?:[\w-]{1,20} ){0,3}?(?:is|was|are|were) (?:now |then )?(?:all right|good again|back to normal)\b|[^.?!;]{0,60}\bas (?:it|they) should\b)"
)
_AFTER = Pattern(
    rf"^(?:[^.?!;]|\.\d){{0,45}}?(?:\b(?:and|then|so|now|finally|again)\b[ ,]{{0,2}}|, |: |-> |=> | - |\) |['`\"] | ){{1,4}}(?:that |this |it |which )?(?:just |finally |now |really |also )?{_WORKED}",
    2,
)
_BEFORE = Pattern(
    r"\b(?:works|worked|solved?|fixed?|resolved?|cured?|solution|the fix|workaround|remedy|helped|helps|gone|found|detected|recogni[sz]ed|fine|trick)\b"
    r"(?:[ ,:]{1,2}(?:now|again|fine|finally|properly|perfectly|it|this|that|for me|here|the problem|the issue|the error|was|is|has been|in the end|to|only))*"
    r"[ ,:-]{1,3}(?:(?:after|by|with|when|once|if|as soon as|because|since|:) ?)?(?:i |we |you )?(?:just |simply |have |had |then |'ve )*(?:the |a |an |to |my )?(?:(?:\w+(?:ing|ed)|ran|put|set|did|went|made|chose|took|got|give|gave) [^.?!;]{0,24})?$",
    2,
)
_THEN = Pattern(rf"^(?:and |so |then |now |after (?:that|this)(?: it)?,? |with (?:that|this),? |edit:? )*{_WORKED}", 2)
"""The next sentence."""
_BY_IT = Pattern(r"(?i:with|after|since) (?:that|this)\b")
_NOT = Pattern(
    r"\b(?:not|never|no luck|without (?:success|effect|luck|any)|nothing|none|neither|nor|in vain|still|tried|tries|trying|(?<!as it )(?<!as they )should|would|could|might|may|maybe|perhaps|will|whether|supposed|hope|hoping|expect\w*|suggest\w*"
    r"|recommend\w*|advi[sc]e\w*|people|others?|someone|somebody|if i|if we|can i|can we|how|why|often|want|need|needs|worse|that part|except|used to|until now|before|thought|believed?|he|him|she|they|them|even (?:after|with|though)|only for)\b|n't\b|\?",
    2,
)
_UNTIL = Pattern(
    r"\b(?:not|never|didn't|did not|nothing|n't)\b[^.?!;]{0,60}\b(?:until|till|before) (?=(?:i|we) )|\b(?:no longer|not? more|not any ?more|n't any ?more)\b|\bbut (?:after|once|with|when)\b",
    2,
)
"""What makes a refusal of it a cure: 'it did not work until I ...'."""
_SENTENCES = Pattern(r"(?<=[\w)'\"`\]][.!?;])\s+(?=\S)")
_DONE = Pattern(
    r"^[^.?!;]{0,40}?\b(?:i|we)(?:'ve| have| then| finally| just| simply)* (?:\w+ed|set|unset|put|ran|did|chose|took|got|made|went|started|cut|shut|added)\b",
    2,
)

_ADD = r"(?:add|append|pass|us|set|includ|giv|gave|run|ran|start|launch|specif|put|provid|with)\w{0,4}"
_GET = r"(?:(?:re)?install|upgrad|updat|downgrad|switch|mov|chang|us(?=e|ing)|go back|going back|went back|revert|pin|roll)\w{0,5}"
_OFF = r"(?:disabl|deactivat|turn|switch)\w{0,4}"
_AWAY = r"(?:remov|delet|uninstall|unset|purg|clear|dropp?|comment|got rid of|getting rid of)\w{0,4}"
_NEAR = r"[^.?!;]{0,30}?"
_REMEDIES = tuple(
    (cause, words, Pattern(pattern, 2))
    for cause, words, pattern in (
        ("driver-secure-boot", ("ecure", "ECURE", "MOK", "sign"), rf"\b{_OFF}\b{_NEAR}\bsecure[ -]?boot\b|\bsecure[ -]?boot\b[^.?!;]{{0,14}}\b(?:off|disabled)\b|\b(?:enroll|sign)\w{{0,3}}\b[^.?!;]{{0,20}}\b(?:MOK|kernel modules?)\b"),
        ("driver-nouveau-conflict", ("ouveau",), rf"\b(?:blacklist|disabl|remov|unload|block)\w{{0,4}}\b{_NEAR}\bnouveau\b"),
        ("container-runtime-not-default", ("efault",), rf"\b{_ADD}\b{_NEAR}\bnvidia\b{_NEAR}\bdefault[ -]runtime\b|\bdefault[ -]runtime\b[^.?!;]{{0,20}}\bnvidia\b"),
        ("container-toolkit-missing", ("nvidia-", "toolkit"), rf"\binstall\w{{0,3}}\b{_NEAR}\bnvidia[- ](?:container[- ](?:toolkit|runtime)|docker2?)\b"),
        ("container-no-gpus-flag", ("gpus", "runtime", "nvidia-docker"), rf"\b{_ADD}\b{_NEAR}(?:--gpus\b|--runtime[= ]nvidia\b)|\b(?:us|start|r[ua]n)\w{{0,4}}\b[^.?!;]{{0,20}}\bnvidia-docker\b[^.?!;]{{0,20}}\binstead\b"),
        ("cuinit-unknown-after-suspend", ("rmmod", "modprobe -r"), r"\b(?:rmmod|modprobe -r) nvidia[-_]uvm\b"),
        ("driver-module-not-loaded", ("modprobe",), r"(?<!-)\bmodprobe nvidia(?![-_\w])"),
        ("cuinit-uvm-device-missing", ("nvidia-modprobe", "uvm"), r"\bnvidia-modprobe\b|\bmodprobe nvidia[-_]uvm\b"),
        ("device-node-permission", ("group", "/dev/nvidia"), r"\badd\w{0,4}\b[^.?!;]{0,30}\b(?:video|render|vglusers)[`'\"]? group\b|\bgroup[s]? [`'\"]?(?:video|render)\b|\bchmod\b[^.?!;]{0,20}/dev/nvidia"),
        ("driver-too-old", ("river",), r"\b(?:updat|upgrad)\w{0,4}\b[^.?!;]{0,25}?\b(?:nvidia|gpu|graphics?|video|display)?[ -]?drivers?\b(?! to (?:an )?older)|\b(?:newer|newest|latest) (?:nvidia |gpu |graphics? )?drivers?\b"),
        ("driver-missing", ("river",), r"\b(?<!re)(?<!re-)install\w{0,3}\b[^.?!;]{0,12}?\b(?:nvidia|gpu|graphics?)[ -](?:gpu |graphics )?drivers?\b(?! (?:version )?\d)"),
        ("tf-cpu-only-package", ("tensorflow",), rf"\b{_GET}\b[^.?!;]{{0,12}}?\btensorflow-gpu\b|\b{_AWAY}\b[^.?!;]{{0,12}}?\btensorflow(?:-cpu)?\b(?!-gpu)[^.?!;]{{0,40}}\binstall\w{{0,3}}\b[^.?!;]{{0,12}}?\btensorflow(?:-gpu)?\b"),
        ("tf-packages-overlap", ("tensorflow-gpu", "tensorflow_gpu"), rf"\b{_AWAY}\b[^.?!;]{{0,16}}?\btensorflow(?:-cpu)?\b(?![-_]gpu)"),
        ("cuda-libs-missing", ("and-cuda",), r"\binstall\w{0,3}\b[^.?!;]{0,20}?\btensorflow\[and-cuda\]"),
        ("cudnn-version-too-old", ("udnn", "uDNN", "UDNN"), r"\b(?:upgrad|updat)\w{0,4}\b[^.?!;]{0,14}?\bcudnn\b|\bnewer cudnn\b"),
        ("cudnn-missing", ("udnn", "uDNN", "UDNN"), r"\b(?<!re)(?<!re-)(?:install|copy|copi|add|download)\w{0,4}\b[^.?!;]{0,12}?\bcudnn\b(?!,? ?(?:v|version|from|release)? ?\d)(?! and cuda| instead)"),
        ("ld-library-path-not-set", ("PATH", "path"), r"\b(?:sett?|export|add|defin|correct|point)\w{0,4}\b[^.?!;]{0,25}?\bLD_LIBRARY_PATH\b|\badd\w{0,4}\b[^.?!;]{0,40}?\b(?:cuda|cudnn|cupti)\b[^.?!;]{0,40}?\bto (?:my |the |your )?(?:system |environment |windows )?%?path\b"),
        ("cuda-visible-devices-empty", ("CUDA_VIS",), rf"\b{_AWAY}\b[^.?!;]{{0,40}}\bCUDA_VISIBLE_DEVICES\b"),
        ("numpy-abi-break", ("umpy", "umPy"), rf"\b{_GET}\b[^.?!;]{{0,14}}?\bnumpy\b"),
        ("protobuf-mismatch", ("rotobuf",), rf"\b{_GET}\b[^.?!;]{{0,14}}?\bprotobuf\b"),
        ("msvc-runtime-missing", ("isual", "vc_redist", "VC_redist", "edistributable", "MSVC"), r"\b(?:install|download|repair)\w{0,4}\b[^.?!;]{0,40}?(?:visual c\+\+|vc_?redist|msvc|redistributable)"),
        ("python-32bit", ("64",), r"\b64[- ]?bit (?:version of )?python\b|\bpython\b[^.?!;]{0,10}\b64[- ]?bit\b"),
        ("python-version-unsupported", ("ython",), rf"\b{_GET}\b[^.?!;]{{0,20}}?\bpython ?(?:version )?3\.\d"),
        ("gpu-memory-held-by-other-process", ("clos", "kill", "stop", "shut", "end", "terminat", "quit", "restart"), r"\b(?:clos|kill|stopp|shut|end|terminat|quit)\w{0,4}\b[^.?!;]{0,20}?\b(?:other|old|zombie|previous|all|leftover|orphan\w{0,3}) [^.?!;]{0,20}?\b(?:notebooks?|kernels?|process(?:es)?|programs?|sessions?|scripts?)\b"),
        ("gpu-oom-model-or-data", ("batch", "image size", "resolution", "input size"), r"\b(?:reduc|lower|decreas|shrink|halv|small|cut)\w{0,5}\b[^.?!;]{0,20}?\b(?:batch|image size|resolution|input size)"),
        ("apptainer-no-nv", ("--nv",), r"(?<![\w-])--nv\b"),
        ("nccl-shm-too-small", ("shm", "ipc"), r"\bshm[-_]size\b|--ipc[= ]host\b"),
        ("nccl-wrong-interface", ("NCCL_SOCKET", "NCCL_IB"), r"\bNCCL_SOCKET_IFNAME\b|\bNCCL_IB_DISABLE\b"),
        ("fabric-manager-version-mismatch", ("abric",), r"\b(?:match|same|right|correct|updat|upgrad)\w{0,4}\b[^.?!;]{0,30}\bfabric[- ]?manager\b|\bfabric[- ]?manager\b[^.?!;]{0,30}\b(?:of the same|matching|same version)\b"),
        ("fabric-manager-not-running", ("abric",), r"\b(?<!re)(?:start|enabl|install)\w{0,4}\b[^.?!;]{0,20}?\bfabric[- ]?manager\b"),
        ("tf-shadowed", (".py",), r"\brenam\w{0,4}\b[^.?!;]{0,40}?\b(?:tensorflow|keras|numpy|random|types)\.py\b"),
        ("jupyter-kernel-other-environment", ("kernel",), r"\b(?:select|choos|chose|switch|chang|regist|install)\w{0,4}\b[^.?!;]{0,30}?\b(?:ipykernel|(?:right|correct|other) kernel|kernel (?:in|of) (?:jupyter|my notebook|the notebook|vs ?code))\b"),
        ("zlibwapi-missing", ("zlibwapi",), r"\bzlibwapi(?:\.dll)?\b"),
        ("wsl-libcuda-path", ("wsl/lib",), r"\b(?:sym)?link\w*\b[^?!;]{0,40}/usr/lib/wsl/lib\b[\w./]{0,20}|/usr/lib/wsl/lib\b[\w./]{0,20}[^?!;]{0,40}\b(?:LD_LIBRARY_PATH|ld\.so\.conf|ldconfig)\b|\bLD_LIBRARY_PATH\b[^?!;]{0,40}/usr/lib/wsl/lib\b"),
        ("tf-windows-native-cpu-only", ("WSL", "wsl", "2.10"), r"\b(?:mov|switch|chang|go|went)\w{0,4}\b[^.?!;]{0,10}?\bto WSL ?2?\b|\bdowngrad\w{0,4}\b[^.?!;]{0,16}?\b(?:tensorflow|tf)\b[^.?!;]{0,6}?\b2\.10\b"),
        ("driver-libcuda-not-on-path", ("opengl-driver",), r"/run/opengl-driver/lib\b"),
        ("libcuda-stub-loaded", ("stub",), rf"\b{_AWAY}\b{_NEAR}\bstubs?\b"),
        ("psu-insufficient", ("ower supply", "PSU"), r"\b(?:bigger|stronger|new|better|larger|another)\b[^.?!;]{0,14}?\b(?:power supply|PSU)\b|\b(?:replac|exchang|swapp)\w{0,4}\b[^.?!;]{0,14}?\b(?:power supply|PSU)\b"),
        ("colab-cpu-runtime", ("olab",), r"\b(?:choos|chose|select|sett?|switch|chang)\w{0,4}\b[^.?!;]{0,20}?\bGPU\b[^.?!;]{0,30}?\b(?:colab|runtime)|\bcolab\b[^.?!;]{0,40}?\b(?:runtime|accelerator)\b[^.?!;]{0,20}\bGPU\b"),
        ("optimus-gpu-powered-off", ("prime-select",), r"\bprime-select nvidia\b"),
        ("container-toolkit-too-old", ("toolkit", "Toolkit", "libnvidia-container", "nvidia-docker"), rf"\b(?:updat|upgrad|mov|newer|newest|latest)\w{{0,4}}\b{_NEAR}\b(?:nvidia[- ])?(?:container[- ]toolkit|libnvidia-container|nvidia-docker2?)\b|\b(?:container[- ]toolkit|libnvidia-container|nvidia-docker2)\b[^.?!;]{{0,20}}\b(?:updat|upgrad|mov)\w{{0,4}} (?:up )?to\b"),
        ("container-cgroupv2-unsupported", ("unified_cgroup",), r"\bunified_cgroup_hierarchy=(?:0|false)\b"),
        ("container-rootless-cgroups", ("no-cgroups",), r"\bno-cgroups ?= ?true\b"),
        ("container-snap-docker", ("snap",), rf"\b{_AWAY}\b{_NEAR}\bsnap\b{_NEAR}\bdocker\b|\b{_AWAY}\b{_NEAR}\bdocker\b{_NEAR}\bsnap\b"),
        ("container-ldconfig-path", ("ldconfig",), r"\bldconfig ?= ?\W{0,2}@?/sbin/ldconfig\b"),
        ("container-docker-desktop-linux", ("esktop", "context"), rf"\b{_AWAY}\b{_NEAR}\bdocker[ -]desktop\b|\bdocker context use default\b"),
        ("k8s-device-plugin-not-registered", ("device-plugin", "device plugin"), r"\b(?:appl(?:y|ied)|deploy\w{0,3}|install\w{0,3}|creat\w{0,3}|restart\w{0,3})\b[^.?!;]{0,40}\b(?:nvidia-)?device[- ]plugin"),
        ("nccl-p2p-iommu-acs", ("iommu", "IOMMU", "ACS"), rf"\b(?:amd_|intel_)?iommu=(?:off|pt|soft)\b|\b{_OFF}\b{_NEAR}\b(?:IOMMU|PCIe ACS|ACS)\b"),
        ("cuda-compat-unsupported", ("compat",), rf"\b{_AWAY}\b{_NEAR}(?:/compat\b|\bcuda-compat\b)"),
        ("mig-single-instance-limit", ("MIG",), rf"\b{_OFF}\b{_NEAR}\bMIG\b|\bMIG\b[^.?!;]{{0,14}}\b(?:off|disabled)\b"),
        ("driver-kernel-incompatible", ("kernel",), r"\b(?:boot|went|go|going|roll|downgrad|switch|revert)\w{0,4}\b[^.?!;]{0,16}?\b(?:old|older|previous|earlier|former) kernel\b|\bdowngrad\w{0,4} (?:the |my )?(?:linux )?kernel\b"),
        ("driver-module-not-loaded", ("headers",), r"\binstall\w{0,3}\b[^.?!;]{0,30}?\b(?:linux|kernel)[- ]headers\b"),
        ("libdevice-missing", ("XLA_FLAGS", "xla_gpu_cuda_data_dir", "libdevice"), r"\b(?:add|set|export|copy|copi|link|symlink|us)\w{0,4}\b[^?!;]{0,60}(?:XLA_FLAGS|xla_gpu_cuda_data_dir|\blibdevice\b)"),
        ("ptxas-missing", ("cuda-nvcc", "ptxas"), r"\binstall\w{0,3}\b[^.?!;]{0,30}\b(?:cuda-nvcc|nvidia-cuda-nvcc)\b|\b(?:put|add|copi|copy|link)\w{0,4}\b[^.?!;]{0,30}\bptxas\b"),
        ("ld-library-path-wrong-toolkit", ("LD_LIBRARY_PATH",), rf"\b{_AWAY}\b[^.?!;]{{0,30}}\bLD_LIBRARY_PATH\b"),
        ("keras-backend-not-tensorflow", ("KERAS_BACKEND", "keras.json"), r"\bKERAS_BACKEND\b|\bkeras\.json\b"),
        ("cpu-starved-input", ("prefetch", "num_workers", "num_parallel"), r"\b(?:prefetch|num_workers|num_parallel_calls)\b"),
        ("cudnn-wrong-major", ("udnn", "uDNN", "UDNN"), r"\b(?:downgrad|went back|roll\w{0,3} back)\w{0,4}\b[^.?!;]{0,14}?\bcudnn\b|\bcudnn v?\d[\d.]{0,6} instead of v?\d"),
        ("wsl-driver-toolkit-mismatch", ("WSL", "wsl"), rf"\b{_AWAY}\b[^.?!;]{{0,20}}\b(?:linux )?drivers?\b[^.?!;]{{0,20}}\b(?:in|inside|from|within) (?:of )?WSL\b"),
        ("pcie-link-degraded", ("seat", "riser", "slot"), r"\bre-?seat\w{0,3}\b|\b(?:replac|remov|without|swapp|anoth|new|different|oth)\w{0,4}\b[^.?!;]{0,12}\briser\b"),
        ("cuda-version-mismatch", ("uda", "UDA"), rf"\b{_GET}\b[^.?!;]{{0,14}}?\bcuda(?: toolkit)?[ -]?v?\d|\b(?:down|up)grad\w{{0,4}}\b[^.?!;]{{0,10}}?\bcuda\b(?! ?dnn)"),
    )
)  # fmt: skip
"""What is done about each cause; the first that fits a sentence counts."""


def line(text: str, _number: int, _notes: Notebook) -> Understood | None:
    """The cause of which a line says that what is done about it worked."""
    sentences = _SENTENCES.sub("\n", text).split("\n")
    for at, one in enumerate(sentences):
        if (found := _remedy(one)) is None or refuses(one):
            continue
        cause, start, end = found
        after = sentences[at + 1] if at + 1 < len(sentences) else ""
        if (
            _AFTER.search(one[end:])
            or _BEFORE.search(one[:start])
            or ((_DONE.search(one) or _BY_IT.match(after)) and _THEN.search(after) and not refuses(after))
        ):
            return Understood(KIND, {"cause": cause})
    return None


def _remedy(sentence: str) -> tuple[str, int, int] | None:
    """The cause, and where what is done about it stands."""
    for cause, words, pattern in _REMEDIES:
        for word in words:
            if word in sentence and (found := pattern.search(sentence)):
                return cause, found.start(), found.end()
    return None


def refuses(sentence: str) -> bool:
    """Whether it says of what was done that it did not help, or only might."""
    return _NOT.search(_UNTIL.sub(" ", sentence)) is not None
