"""The platform, told by what only programs of it print and only its packages are called, and by people in a word of their own."""

from __future__ import annotations

from .language import Kind, Language, Tell, Values
from .notebook import Notebook

_SAID, _NAMED, _PRINTED = -2, -1, 0
"""How much it weighs, as in report.py."""
_LINUX = r"(?:linux|ubuntu|debian|centos|rhel|rocky|fedora)"
_ARM = r"(?:aarch64|arm64|arm v8|armv8)"
_BOX = r"(?:linux|ubuntu|debian|servers?|machines?|systems?|hosts?|box|instances?|cpus?|processors?|platforms?|nodes?|architecture)"
_NOT_THIS = r"(?ia:^(?![^\n]{0,300}(?:\b(?:not|no|n't|instead of|unlike|besides|x86|amd64|mac ?os|mac|macbook|apple|darwin|m[1-4]|windows)\b|\?$))"


def _of(system: str | None, machine: str | None, weight: int) -> Tell:
    """Writes down a system, and its processors."""

    def tell(_values: Values, line: int, notes: Notebook) -> None:
        if system is not None:
            notes.tell("system.system", system, line, weight)
        if machine is not None:
            notes.tell("system.machine", machine, line, weight)

    return tell


def _jetson(values: Values, line: int, notes: Notebook) -> None:
    _of("Linux", "aarch64", _NAMED)(values, line, notes)
    notes.tell("system.tegra", True, line, _NAMED)


_OF_MODULES = r"(?:kepler|maxwell|pascal|volta|ampere)\b"
LANGUAGES = (
    Language(
        name="places",
        words=("-core", "egra", "l4t", "L4T", "Cortex-A", "ARM A57", "name: Xavier", "name: Orin", "9.0.252", "10.0.166", "10.0.326", "10.2.300"),
        kinds=(
            Kind(
                "runs-on-jetson",
                rf"(?i:\b(?:128|192|256|384|512|1024|1792|2048)-core (?:nvidia )?{_OF_MODULES})|\bname: (?:NVIDIA )?(?:Tegra|Xavier|Orin)\b|\bTegra [TXK]X?[12]\b"
                r"|\d-tegra\b|\bL4T\b|(?<![\w-])l4t-(?:base|tensorflow|ml|pytorch|jetpack)\b|(?i:\b(?:arm )?cortex-a57\b|\bquad-core arm a57\b)|(?i:\bcuda\b)[^\n]{0,40}?\b(?:9\.0\.252|10\.0\.166|10\.0\.326|10\.2\.300)\b",
                tell=_jetson,
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        words=("_x86_64",),
        kinds=(Kind("wheel-of-x86", r"\btensorflow[\w.+-]{0,60}-(?:manylinux\w{0,14}|linux)_x86_64\b", once=True),),
        foreign=True,
    ),
    Language(
        name="places",
        words=("WDDM", "vs2015_runtime", "vc14_runtime", "pywin32", "wincertstore", "Pacific_", "win-64::", "/win-64/", "Program Files", "ensorflow-intel", "native Windows"),
        kinds=(
            Kind(
                "runs-on-windows",
                r"^ *(?:- |\+ )?(?:vs20\d\d_runtime|vc14_runtime|pywin32|wincertstore|tensorflow-intel)(?:==| {1,40}|=)\d|(?:::|/)win-64(?:::|/)|\bwin-64::",
                tell=_of("Windows", None, _PRINTED),
                once=True,
            ),
            Kind("native-windows-told", r"GPU support is not available on native Windows for TensorFlow", tell=_of("Windows", None, _PRINTED), once=True),
            Kind("runs-on-windows", r"\bTCC/WDDM\b|\bWDDM +\||^Built on \w{3}_\w{3}_[\d_:]{8,20}_Pacific_", tell=_of("Windows", None, _NAMED), once=True),
            Kind("runs-on-windows", r"(?<![\w/])[A-Z]:\\{1,2}Program Files\\{1,2}NVIDIA", tell=_of("Windows", None, _SAID), once=True),
        ),
    ),
    Language(
        name="places",
        words=("darwin", "brew install", "osx-"),
        kinds=(
            Kind("runs-on-macos", r"^['\"]darwin['\"]$|(?:::|/)osx-(?:arm)?64(?:::|/)", tell=_of("Darwin", None, _PRINTED), once=True),
            Kind("runs-on-macos", r"^(?:\$ |% )?brew install [a-z]", tell=_of("Darwin", None, _SAID), once=True),
        ),
    ),
    Language(
        name="places",
        words=("aarch64", "arm64", "ARM64", "ARM", "Arm", "raviton", "g5g.", "Ampere Altra", "cpu-aws", "cpu_aws", "sbsa"),
        kinds=(
            Kind("runs-on-arm", r"^['\"]?aarch64['\"]?$|^Architecture: {1,30}(?:aarch64|arm64)$|/usr/lib/aarch64-linux-gnu/", tell=_of(None, "aarch64", _PRINTED), once=True),
            Kind("runs-on-arm", r"\btensorflow[-_]cpu[-_]aws\b|[_-]sbsa\b|(?:::|/)linux-aarch64(?:::|/)|--platform[= ]linux/arm64\b", tell=_of("Linux", "aarch64", _PRINTED), once=True),
            Kind(
                "runs-on-arm",
                rf"(?i:\b(?:no|without|lacks?) cuda\b[^\n]{{0,60}}\b{_ARM} (?:wheels?|packages?|builds?)\b|\b{_ARM} (?:wheels?|packages?|builds?)\b[^\n]{{0,60}}\b(?:no|without|not|lacks?) (?:\w+ ){{0,3}}?cuda\b)",
                tell=_of(None, "aarch64", _SAID),
                once=True,
            ),
            Kind(
                "runs-on-arm",
                rf"{_NOT_THIS}[^\n]{{0,300}}?(?:\b{_LINUX}\b[^.\n]{{0,24}}\b{_ARM}\b|(?<![\w/-]){_ARM}(?:\b(?![-_/])|(?=[\u4e00-\u9fff]))[^.\n]{{0,20}}?\b{_BOX}\b"
                r"|\barm(?:-based)? (?:servers?|machines?|cpus?|processors?|instances?)\b|\bgraviton ?\d?\b|\bg5g\.\w|\bampere altra\b))",
                tell=_of(None, "aarch64", _SAID),
                once=True,
            ),
        ),
        foreign=True,
    ),
)  # fmt: skip
