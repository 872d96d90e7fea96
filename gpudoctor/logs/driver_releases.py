"""The driver's release, as package managers, the kernel, graphics tools and Windows print it, and as people write it."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Kind, Language, Understood
from .notebook import Notebook

_RELEASE = r"(?P<release>[3-6]\d\d\.\d{2,3}(?:\.\d{1,2})?)(?![\d.]*\d)"
_PACKAGES = (
    r"(?:(?:[ak]?kmod-|dkms-)?nvidia(?:-driver|-x11-drv|-kmod|-open-kmod|-utils|-dkms|-lts|-driver-cuda|-driver-libs)?"
    r"|xorg-x11-drv-nvidia(?:-cuda|-libs)?|(?:[ak]mod|dkms)-nvidia(?:-open|-latest-dkms)?|x11-video-nvidiaG0[4-7]|nvidia-(?:compute|video)-G0[4-7])"
)
PRINTED = Language(
    name="services",
    words=(
        "version:",
        "OpenGL",
        "OPENGL",
        "v: ",
        "-nvidia",
        "nvidia-",
        "nvidia ",
        "Installed: ",
        "NVIDIA-Linux-",
        "-win10",
        "-win11",
        "GeForce",
        "NVIDIA",
        "ersion",
    ),
    kinds=(
        Kind("driver-release", rf"^(?:version:|Driver Version\s{{0,40}}:)\s{{1,20}}{_RELEASE}$"),
        Kind("driver-release", rf"(?i:\bOpenGL\b)[^\n]{{0,60}}?\bNVIDIA {_RELEASE}"),
        Kind("driver-release", rf"\bdriver: nvidia v: {_RELEASE}"),
        Kind("driver-release", rf"^(?:ii {{1,4}})?{_PACKAGES}(?:-\d{{3}})?(?:\.(?:x86_64|noarch))?(?:-| {{1,60}})(?:\d:)?{_RELEASE}-\d"),
        Kind("driver-release", rf"^nvidia-(?:driver|utils|dkms|compute-utils|kernel-common)-\d{{3}}(?:-server|-open){{0,2}}/[^\n]{{1,60}}? (?:\d:)?{_RELEASE}-\S{{1,40}} \w{{2,8}} \[installed"),
        Kind("driver-release", rf"^Installed: (?:\d:)?{_RELEASE}-\d"),
        Kind("driver-release", rf"^(?![^\n]{{0,300}}\b(?:should|try|download|could|would|fail\w*|not|n't|if)\b)[^\n]{{0,200}}?(?i:\binstall\w*|\bsh |\./)[^\n]{{0,60}}?\bNVIDIA-Linux-(?:x86_64|aarch64)-{_RELEASE}(?:-no-compat32)?\.run"),
        Kind("driver-release-windows", rf"\b{_RELEASE}-(?:desktop|notebook|quadro|data-center|tesla)[\w-]{{0,40}}-win"),
        Kind("driver-release-windows", r"(?:(?i:driver ?version|driver|nvidia|geforce)\b[^\n]{0,60}?|^)\b(?:2[1-9]|3\d)\.(?:20|21|0)\.1\d?(?P<first>\d)\.(?P<rest>\d{4})\b"),
    ),
)  # fmt: skip
"""Lines of programs. The last is Windows' own number, which ends in NVIDIA's: 31.0.15.3758 is 537.58."""

_DRIVER = (
    r"(?:\bdrivers?(?:'s)?|treiber(?:version)?|\bpilotes?|\bcontrolador(?:es)?|\u0434\u0440\u0430\u0439\u0432\u0435\u0440\w{0,3}"
    r"|\u9a71\u52a8(?:\u7a0b\u5e8f)?|\u30c9\u30e9\u30a4\u30d0\u30fc?|\ub4dc\ub77c\uc774\ubc84)"
)
_LINK = (
    r"(?:[ \t:=|(,*`_\uff1a-]|nvidia\b|(?:da|de|do|the|branch|release|version|versi\u00f3n|vers\u00e3o|version's|is|at|on|of|est|en|ist|es|installed|here|you|we|have"
    r"|installiert|run)\b|\u7248\u672c|\u30d0\u30fc\u30b8\u30e7\u30f3|\ubc84\uc804|\u306e|\u306f|\u662f|\u4e3a|\uff08|['\"]|v(?=\d)|[rR](?=\d)){1,12}"
)
_BRANCHES = (
    "304|340|352|361|367|375|378|381|384|387|390|396|410|415|418|430|435|440|450|455|460|465|470|495|510|515|520|525|530"
    "|535|545|550|555|560|565|570|575|580|590"
)
_NUMBER = rf"(?:(?P<release>[3-6]\d\d\.\d{{1,3}}(?:\.\d{{1,2}})?)|(?P<branch>{_BRANCHES})(?:\.x+)?)(?![\d.]*\d|[A-Za-z\d_%]| ?(?:\+|>|W\b|MHz|[MG]i?B|or (?:newer|later|higher|above)|and (?:newer|later|above)|worked|is (?:required|needed)|series card| - (?:distro|third-party)))"
_ASKED = (
    r"(?:\b(?:needs?|needed|requires?|required|recommend\w*|minimum|min|at least|tried|try|upgrad\w+|updat\w+|downgrad\w+|install it|latest|download\w*"
    r"|should|must|if|which|until|before|previous\w*|earlier|older|newer|used to|was|works? with|worked|another|other|would|both|works|laptop|home|candidate"
    r"|supports?|want\w*|no|not|without|remov\w+|purg\w+|uninstall\w*|from|unable|fail\w*|could|may|can)\b|n't\b|>=?|<=?)"
)
_BEFORE = rf"(?:^(?!(?:rc|un|pn|pi|pu) )|[.!?;(|,] |\(|\t)(?:(?!{_ASKED})[^\n.;!?]|\.(?=\d)){{0,120}}?"
SAID = Language(
    name="circumstances",
    words=(
        "river",
        "RIVER",
        "reiber",
        "ilote",
        "ontrolador",
        "\u0440\u0430\u0439\u0432\u0435\u0440",
        "\u9a71\u52a8",
        "\u30c9\u30e9\u30a4\u30d0",
        "\ub4dc\ub77c\uc774\ubc84",
        "vidia",
        "VIDIA",
    ),
    kinds=(
        Kind("driver-release-said", rf"(?i:{_BEFORE}{_DRIVER}{_LINK}{_NUMBER})"),
        Kind(
            "driver-release-said",
            rf"(?i:{_BEFORE}(?:\b(?:nvidia|the|with|using|running|on|have)[ -])(?:[vr](?=\d))?{_NUMBER.replace('|[', '|(?! drivers?)[')} (?:nvidia |gpu |display |graphics )?drivers?\b)",
        ),
        Kind(
            "driver-release-said",
            rf"(?i:{_BEFORE}(?:nvidia-smi`?|/proc/driver/nvidia/version|modinfo(?: nvidia)?`?)[,:]? (?:says|shows|reports|gives|prints|tells|displays|is)(?: me)?(?: driver)?(?: version)?:? {_NUMBER})",
        ),
        Kind("driver-release-said", rf"(?i:{_BEFORE}\bnvidia ){_RELEASE}(?! ?(?:\+|or (?:newer|later)|and (?:newer|later)))"),
    ),
    foreign=True,
)  # fmt: skip
"""The driver's release, or its branch, as people write it in passing."""
LANGUAGES = (PRINTED, SAID)

_ASKS = Pattern(r"driver_version|\bmodinfo\b[^\n]{0,60}\bversion\b|/sys/module/nvidia/version")
_BARE = Pattern(rf"^(?:[^,\n]{{2,60}}, {{0,2}})?{_RELEASE}(?:,|$)")


class Answers:
    """Reads what a command prints that asks for the driver's release alone."""

    NAME = "services"
    WORDS = ("driver_version", "modinfo", "/sys/module", ".")
    _NEAR = 3

    def __init__(self) -> None:
        self._asked = -self._NEAR - 1

    def line(self, text: str, number: int, _notes: Notebook) -> Understood | None:
        """A bare release below the command."""
        if _ASKS.search(text):
            self._asked = number
            return None
        if number - self._asked <= self._NEAR and (found := _BARE.match(text)):
            return Understood("driver-release", {"release": found["release"]})
        return None
