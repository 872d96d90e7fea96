"""Which CUDA and cuDNN a text names as installed: nvcc, paths, packages, the fields of a report, and what people say.

nvidia-smi's 'CUDA Version' is the driver's and is not meant.
"""

from __future__ import annotations

from ..patterns import Pattern
from .language import Understood
from .notebook import Notebook

LANGUAGE = "claims"
WORDS = ("uda", "UDA", "udnn", "uDNN", "UDNN", ".so", "nvidia-c")
KIND, SHOWN = "names-cuda", "shows-file"

_CUDA = tuple(
    Pattern(p.replace("VERSION", r"(\d{1,2}\.\d{1,2}(?!\d)|1[0-9](?![.\d-]))"))
    for p in (
        r"Cuda compilation tools, release VERSION",
        r"(?i)\bcuda[-/\\ ]?v?VERSION",
        r"(?i)\bcuda[ _-]?(?:toolkit|version|runtime|sdk)?(?: is| was)?[ :=]{1,3}\(?v?VERSION",
        r"(?i)\bcuda[ _-]toolkit(?: version| v)?[ :=-]{1,3}v?VERSION",
        r"(?i)\bcudatoolkit(?:-dev)?[ =]{1,20}VERSION",
        r"\+cuda-?VERSION",
        r"(?i)CUDA/cuDNN version\W{0,6}(?:cuda ?)?v?VERSION",
    )
)
_PACKAGE = Pattern(r"\bcuda-(?:toolkit-|runtime-|libraries-)?(?P<major>\d{1,2})-(?P<minor>\d)\b")
_CUDNN = tuple(
    Pattern(p.replace("VERSION", r"v?(\d{1,2}(?:\.\d{1,3}){0,3})"))
    for p in (
        r"\blibcudnn\d?[ =_-]{1,20}VERSION",
        r"(?i)\bcudnn[ _-]?(?:version|v)?(?: is| was)?[ :=]{0,20}VERSION",
        r"(?i)\bcudnn-\d+\.\d-(?:linux|windows)[\w-]{0,20}-VERSION",
        r"(?i)cuda/cudnn version\W{0,6}(?:cuda[ :]?)?v?\d[\d.]{0,6} {0,2}[/,;&] {0,2}VERSION",
    )
)
_FILE = Pattern(
    r"(?P<directory>(?:~|\$\w{1,20})?/[^\s:'\"()]{0,200}/)(?P<library>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})(?![\w.])"
)
_NO_SUCH = Pattern(r"cannot open|Could not|No such file|not found|dlerror|\bln -s|\bcp ")
_NO_FILE = Pattern(
    r"(?:ls: cannot access|cat:) '?/usr/(?:local/cuda[^/\s']{0,8}|[\w/.-]{0,60}cudnn[\w*.]{0,20})'?: No such file"
    r"|no packages found matching (?:libcudnn|cuda-toolkit)"
)
_EXTRA = Pattern(r"tensorflow\[and-cuda\]|nvidia-(?:cublas|cudnn|cuda-runtime)-cu1\d")
_CUDA_PATH = Pattern(r"/cuda-(\d{1,2}\.\d{1,2})")
_NOT_INSTALLED = Pattern(
    r"NVIDIA-SMI|[Dd]river|dlerror|cannot open|dso_loader|Could not|(?i:\b(?:needs?|requires?|required|supports?|wants?|expects?|looking for|compiled|"
    r"built|must|should|compatible|compatibility|download|upgrad\w+|downgrad\w+|instead|which version|works? (?:with|on|for)|capability|smi|tested|docs?|"
    r"available|available in|only has|without|no longer|don't have|not have|could)\b)"
)  # fmt: skip
_FIELD = Pattern(
    r"(?i)[-*# ]{0,8}(?:cuda ?[/&,] ?cudnn|cuda(?: and cudnn)?)(?: versions?)?(?:\*\*)?:(?:\*\*)? {0,3}(?P<value>\S.{0,60})"
)
_VALUE = Pattern(r"(?i)(?:cuda(?:toolkit)?[ :=]{0,2})?v?(?P<cuda>\d{1,2}\.\d{1,2})(?:\.\d+)?(?!\S*[a-z])(?:\W{1,6}(?:and )?(?:cudnn[ :=]{0,2})?v?(?P<cudnn>\d{1,2}(?:\.\d+){0,3}))?")  # fmt: skip


def line(text: str, _number: int, _notes: Notebook) -> Understood | None:
    """What a line names as installed."""
    if (field := _FIELD.match(text)) and (found := _VALUE.match(field["value"])):
        return Understood(KIND, {k: v for k, v in found.groupdict().items() if v})
    if _NO_FILE.search(text):
        return Understood("no-cudnn-file" if "cudnn" in text.lower() else "no-toolkit", {})
    if "LD_LIBRARY_PATH" in text and (found := _CUDA_PATH.search(text, text.index("LD_LIBRARY_PATH"))):
        return Understood(KIND, {"cuda": found[1]})
    if _EXTRA.search(text):
        return Understood("names-extra", {})
    if shown := _FILE.search(text):
        if _NO_SUCH.search(text):
            return None
        return Understood(SHOWN, {"directory": shown["directory"], "library": shown["library"]})
    if ".cc:" in text or _NOT_INSTALLED.search(text) or text.endswith("?"):
        return None
    values = {}
    if found := next((m for p in _CUDA if (m := p.search(text))), None):
        values["cuda"] = found[1]
    elif found := _PACKAGE.search(text):
        values["cuda"] = f"{found['major']}.{found['minor']}"
    if found := next((m for p in _CUDNN if (m := p.search(text))), None):
        values["cudnn"] = found[1]
    return Understood(KIND, values) if values else None
