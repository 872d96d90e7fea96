"""What people say is wrong with packages, libraries and memory, in titles and prose, where no line of a program shows it.

Such words are weak: they count only where no line of a program shows that something fails, and they decide nothing.
"""

from __future__ import annotations

from ..facts import COMPLAINT
from .language import Kind
from .prose import Prose

_ARM = r"(?:\baarch64\b|\barm64\b|\barm(?:v?8)?\b|\bjetson\b|\braspberry ?pi\b)"
_MAC = r"\b(?:mac ?os(?: ?x)?|os ?x|macs?|macbooks?|imac|hackintosh|m[1-4]|apple silicon)\b"
_LACKS = r"(?:\bno\b|n't\b|\bcannot\b|\bcan not\b|\bunable\b|\bfails?\b|\bnot\b|\bis there\b|\bare there\b|\bmissing\b|\blacks?\b|\bwithout\b|\bwhy\b|\bonly\b)"
_PACKAGE = r"(?:install\w*|wheels?|whl|pip3?|packages?|binar(?:y|ies)|versions?|releases?|distributions?|builds?)"
_TF = r"(?:tensorflow|\btf|keras)"
_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        "says-no-arm-cuda",
        rf"^(?=[^\n]{{0,400}}\b{_PACKAGE}\b)(?=[^\n]{{0,400}}\b(?:gpus?|cuda)\b)[^\n]{{0,200}}(?:{_LACKS}[^\n.]{{0,60}}{_ARM}|{_ARM}[^\n.]{{0,60}}{_LACKS})",
        "install-fails",
    ),
    (
        "says-no-arm-wheel",
        rf"^(?=[^\n]{{0,400}}\b{_PACKAGE}\b)[^\n]{{0,200}}(?:{_LACKS}[^\n.]{{0,60}}{_ARM}|{_ARM}[^\n.]{{0,60}}{_LACKS})|\b(?:wheels?|whl)\b[^\n.]{{0,20}}\b(?:for|on) {_ARM}",
        "install-fails",
    ),
    (
        "says-mac-gpu",
        rf"^(?![^\n]{{0,400}}\b(?:metal|mlcompute|slow\w*|faster)\b)(?:[^\n]{{0,200}}\bgpus?\b[^\n]{{0,60}}{_MAC}|[^\n]{{0,200}}{_MAC}[^\n]{{0,60}}\bgpus?\b)",
        "op-fails",
    ),
    (
        "says-cpu-package",
        (rf"\b(?:forc\w{{1,3}}|instead|overrid\w{{1,4}}|overwrit\w{{1,4}}|replac\w{{1,4}}|pulls?|always|still)\b[^\n.]{{0,40}}\bcpu(?:[- ]only)? (?:version|build|package|variant) of {_TF}|\bcpu(?:[- ]only)? (?:version|build|package|variant) of {_TF}[^\n.]{{0,40}}\b(?:forced|instead|overrid\w{{1,4}}|overwrit\w{{1,4}}|replac\w{{1,4}})\b"
        r"|\btensorflow (?:package )?(?:is |was )?installed\b[^\n]{0,60}\bcpu\b[^\n]{0,60}\btensorflow-gpu\b|\b(?:both|beside) tensorflow\b[^\n.]{0,20}\btensorflow-gpu\b[^\n.]{0,60}\bcpu\b"),
        "op-fails",
    ),
    (
        "says-minimum-capability",
        r"^(?![^\n]{0,300}\bmixed_float16\b)[^\n]{0,300}?(?:\b(?:minimum|min\.?|at least|requires?|required|needs?)\b[^\n]{0,40}\bcompute capabilit(?:y|ies)\b|\bcompute capability\b[^\n]{0,30}\b(?:at least|minimum|is the least|too (?:low|old)|not supported|unsupported|no longer)\b)",
        "op-fails",
    ),
    ("says-no-libdevice", r"\blibdevice(?:\.10\.bc)?['`\"]{0,2} (?:is |was |could |can )?(?:not (?:be )?found|missing|n't be found)|\b(?:no|missing|find|locate) (?:the )?['`\"]?libdevice\b(?! directory)", "op-fails"),
    ("says-visible-overwritten", r"\b(?:overwrites?|overrides?|clobbers?|resets?|unsets?|hard-?codes?)\b[^\n.]{0,20}\bCUDA_VISIBLE_DEVICES|\bCUDA_VISIBLE_DEVICES[`'\"]? (?:is|was|gets|got|being)? ?(?:being )?(?:overwritten|overridden|hard-?coded)", "op-fails"),
    (
        "says-memory-taken",
        r"^(?=[^\n]{0,400}\b(?:gpus?|device|cards?|vram|cuda)\b)(?![^\n]{0,300}\b(?:system|host|cpu) memory\b)(?![^\n]{0,400}\b(?:only as much|as needed)\b)[^\n]{0,300}(?<!not )(?<!n't )\b(?:consum|tak|us|reserv|occup|allocat|eat|hog|grab|fill|get)\w{0,4}\b[^\n.?!]{0,20}\b(?:all|whole|entire|full|as much)\b[^\n.?!]{0,20}\b(?:memory|vram)\b",
        "op-fails",
    ),
    ("says-no-holder", r"\bno (?:other )?process(?:es)?\b[^\n.]{0,20}\b(?:us(?:es?|ing)|on|holds?|holding|occup\w{1,5}) (?:the |that |this |my )?GPU\b[^\n.]{0,60}\bmemory\b", "op-fails"),
)  # fmt: skip


LANGUAGE = Prose(
    name=COMPLAINT,
    words=(
        "arch64", "ARCH64", "Arch64", "arm", "ARM", "Arm", "etson", "aspberry", "GPU", "gpu", "CPU", "cpu", "ompute capab", "ompute Capab", "libdevice",
        "CUDA_VISIBLE_DEVICES", "emory", "vram", "VRAM", "tensorflow-gpu",
    ),
    kinds=tuple(Kind(name, f"(?i:{pattern})", symptom) for name, pattern, symptom in _KINDS),
)  # fmt: skip
