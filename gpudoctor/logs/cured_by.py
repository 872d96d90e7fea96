"""A command that somebody ran, and that it helped, told in another line: 'these lines solved it:' above it, 'now it works' below."""

from __future__ import annotations

from ..facts import READS_LIKE_A_FAULT
from ..patterns import Pattern
from .cures import KIND, refuses
from .language import Understood
from .notebook import Notebook

LANGUAGE = "cures"
_NEAR = 3
"""Lines between what helped and the word that it did."""
_COMMAND = r"^\W{0,3}(?:sudo |\d{1,2}[.)] |-e )*"
_REMEDIES = tuple(
    (cause, Pattern(_COMMAND + pattern))
    for cause, pattern in (
        ("pip-nvidia-libs-not-found", r"(?:export |set |Environment=)?LD_LIBRARY_PATH ?=[^\n]{0,200}(?:site|dist)-packages/nvidia/"),
        ("wsl-libcuda-path", r"(?:export )?LD_LIBRARY_PATH ?=[^\n]{0,120}/usr/lib/wsl/lib"),
        ("ld-library-path-not-set", r"(?:export )?LD_LIBRARY_PATH ?=[^\n]{0,120}(?:/cuda|/cudnn|CUPTI|\$CONDA_PREFIX)"),
        ("cuda-visible-devices-wrong", r"(?:os\.environ\[['\"]CUDA_VISIBLE_DEVICES['\"]\] ?=|(?:export )?CUDA_VISIBLE_DEVICES=) ?['\"]?0\b"),
        ("container-runtime-not-default", r"nvidia-ctk runtime configure\b"),
        ("container-toolkit-missing", r"(?:apt(?:-get)?|dnf|yum|zypper) (?:-y )?install (?:-\w )?nvidia-(?:container-toolkit|container-runtime|docker2)\b"),
        ("container-no-gpus-flag", r"docker run [^\n]{0,80}--(?:gpus|runtime)[= ]"),
        ("cuinit-unknown-after-suspend", r"(?:rmmod|modprobe -r) nvidia[-_]uvm\b"),
        ("cuinit-uvm-device-missing", r"(?:modprobe nvidia[-_]uvm|nvidia-modprobe\b)"),
        ("fabric-manager-not-running", r"systemctl (?:enable --now|start|restart) nvidia-fabricmanager\b"),
        ("optimus-gpu-powered-off", r"prime-select (?:nvidia|on-demand)\b"),
        ("driver-secure-boot", r"mokutil --(?:disable-validation|import)\b"),
        ("nccl-p2p-iommu-acs", r"(?:export )?NCCL_P2P_DISABLE ?= ?['\"]?1\b"),
        ("numpy-abi-break", r"(?:python3? -m )?pip3? install [^\n]{0,30}['\"]?numpy ?(?:< ?2|== ?1)"),
        ("protobuf-mismatch", r"(?:python3? -m )?pip3? install [^\n]{0,30}['\"]?protobuf ?(?:<|==|~=)"),
        ("cuda-libs-missing", r"(?:python3? -m )?pip3? install [^\n]{0,30}tensorflow\[and-cuda\]"),
    )
)  # fmt: skip
"""A command, and what it cures."""
_PROMISES = Pattern(
    r"(?i)\b(?:solved|fixed|resolved|cured|helped|did the trick|worked(?: for me)?|(?:it|this|that|all) (?:is )?(?:now )?(?:works?|runs?)(?: \w+)?(?: (?:once|after|when|with|since))?|runs? (?:right|fine|again)(?: now)?|works (?:now|again|fine)|got rid of (?:it|this|that)|it(?: is|'s) enough to (?:set|do|run|add)|my (?:solution|fix|workaround)|the (?:solution|fix) (?:was|is))\b[^?\n]{0,60}?[:.]?\W{0,3}$"
)
_CONFIRMS = Pattern(
    r"(?i)^\W{0,4}(?:and |so |then |now,? |after (?:that|this|which)(?: it)?,? |with (?:that|this|it),? |(?:edit|update) ?: ?|i |we |this |that |it )*(?:solved|fixed|resolved|cured|did the trick|works? (?:now|again|fine|for me)|(?:it|everything|all|the gpu|tensorflow) (?:now )?(?:works|runs|is (?:found|listed|detected|seen|fixed|solved))(?! (?:on|in|only|until|for (?!me)|with)\b)|and (?:it|that) (?:works|worked|was it)|that was it|helped)\b"
)
WORDS = (
    "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "nvidia-ctk", "nvidia-container-toolkit", "nvidia-docker2", "nvidia-container-runtime", "docker run",
    "rmmod ", "modprobe", "fabricmanager", "prime-select", "mokutil", "numpy", "protobuf", "[and-cuda]", "olved", "ixed", "cured", "elped", "trick",
    "rid of", "enough to", "NCCL_P2P", "work", "Work", "run", "Run", "olution", " fix", "found", "listed", "detected", " seen", "that was it", "That was it",
)  # fmt: skip


class Apart:
    """Reads line by line what helped and that it did."""

    def __init__(self) -> None:
        self._promised = -_NEAR - 1
        self._done: tuple[str, int] = ("", -_NEAR - 1)

    def line(self, text: str, number: int, _notes: Notebook) -> Understood | None:
        """The cause that a command cures, where a line near it says that it did."""
        if cause := next((name for name, pattern in _REMEDIES if pattern.search(text)), None):
            if number - self._promised <= _NEAR:
                return Understood(KIND, {"cause": cause}, READS_LIKE_A_FAULT)
            self._done = (cause, number)
            return None
        if refuses(text):
            return None
        if _PROMISES.search(text):
            self._promised = number
        cause, at = self._done
        if number - at <= _NEAR and _CONFIRMS.search(text):
            return Understood(KIND, {"cause": cause}, READS_LIKE_A_FAULT)
        return None
