"""pip, uv, Poetry, pipenv, conda: why an installation fails, and what is installed."""

from __future__ import annotations

import re

from ..facts import CondaPackage, Distribution
from ..patterns import Pattern
from .language import Kind, Language, Values
from .notebook import Notebook

_FAILS = "install-fails"
_SOME = r"(?:[^.?!]|\.(?=\d))"
"""A letter within a sentence; the point of a version ends none."""
_TF = r"(?:tensorflow|tf[-_]nightly)(?:[-_](?:gpu|cpu|macos|intel))?"
_QUOTE = r"['`\"]?"
_BESIDE = r"(?:torch(?:vision|audio)?|jaxlib|tensorflow[-_](?:rocm|directml|text|addons|io|metal))"
"""Packages of which a Python that is too new, or too old, is offered none, or others, as of TensorFlow."""
_WEAK, _PRINTED, _PROVEN = -2, 0, 1
_MATTER = Pattern(
    r"(?:tensorflow|tf[-_]nightly|intel[-_]tensorflow|keras|numpy|protobuf|cudatoolkit|cudnn|cuda[-_]"
    r"|nvidia[-_]|torch|jax|h5py|ml[-_]dtypes)"
)
_OTHERS = ("tensorboard", "tensorflow-estimator", "tensorflow-io", "tensorflow-hub", "tensorflow-datasets")
_BUILDS = {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tensorflow-intel", "tensorflow-macos", "tf-nightly-gpu"}  # fmt: skip
_PLATFORMS = (
    (r"win_amd64", "Windows", "AMD64"),
    (r"win32", "Windows", None),
    (r"manylinux\w*_x86_64|linux_x86_64", "Linux", "x86_64"),
    (r"manylinux\w*_aarch64|linux_aarch64", "Linux", "aarch64"),
    (r"macosx\w*_arm64", "Darwin", "arm64"),
    (r"macosx\w*_x86_64", "Darwin", "x86_64"),
    (r"win-64", "Windows", "AMD64"),
    (r"linux-64", "Linux", "x86_64"),
    (r"linux-aarch64", "Linux", "aarch64"),
    (r"osx-64", "Darwin", "x86_64"),
    (r"osx-arm64", "Darwin", "arm64"),
)
"""In a wheel's name, or a conda channel's -> the system, and what platform.machine() says there."""


def _platform(tag: str, line: int, notes: Notebook) -> None:
    for pattern, system, machine in _PLATFORMS:
        if re.search(pattern, tag):
            notes.tell("system.system", system, line, _PRINTED)
            if machine is not None:
                notes.tell("system.machine", machine, line, _PRINTED)
            return


def _wheel(values: Values, line: int, notes: Notebook) -> None:
    """A wheel that pip chose: for this Python, on this platform."""
    if values.get("platform") in _OF_32_BITS:
        notes.tell("python.bits", 32, line, _PRINTED)
    if (python := re.match(r"cp(\d)(\d+)", values.get("python", ""))) and "abi3" not in values.get("python", ""):
        notes.tell("python.version", f"{python[1]}.{python[2]}", line, _PRINTED)
    _platform(values.get("platform", ""), line, notes)


_OF_32_BITS = ("win32", "linux_i686", "manylinux1_i686", "manylinux2014_i686")
"""Platform tags of wheels that only a Python of 32 bits takes (PEP 425)."""
_OF_WINDOWS = ("tensorflow-intel", "pywin32", "pywinpty")
"""Packages that are installed on Windows alone."""


def _installed(values: Values, line: int, notes: Notebook) -> None:
    """A package that is installed."""
    name = values["name"].lower().replace("_", "-")
    if not _MATTER.match(name) or name.startswith(_OTHERS):
        return
    version, build = values["version"], values.get("build", "")
    if build and re.search(r"_", build):
        notes.add("python.conda_packages", CondaPackage(name=name, version=version, build=build), line)
    else:
        notes.add("python.distributions", Distribution(name=name, version=version, location=""), line)
    if name in _OF_WINDOWS:
        notes.tell("system.system", "Windows", line, _PRINTED)
    if name in _BUILDS:
        notes.tell("tensorflow.version", version, line, _PRINTED)
    if (python := re.search(r"py(\d)(\d{1,2})(?:h|_)", build)) is not None:
        notes.tell("python.version", f"{python[1]}.{python[2]}", line, _PRINTED)
    _platform(values.get("channel", ""), line, notes)


def _several(values: Values, line: int, notes: Notebook) -> None:
    """'Successfully installed a-1 b-2'."""
    for one in values["names"].split():
        if found := re.match(r"(?P<name>.+)-(?P<version>\d[\w.+]*)$", one):
            _installed(found.groupdict(), line, notes)


def _pin(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("python.version", values["version"], line, _PRINTED)


_LEAST = 12
"""Minor version of Python 3 from which on pip's list of what it ignores tells it: below, old releases' bounds do not reach."""


def _ignored(values: Values, line: int, notes: Notebook) -> None:
    """What pip leaves out since it is for other Pythons: where each has an upper bound, this one is above all of them."""
    asked = re.findall(r"Requires-Python ([^;\n]{1,60})", values.pop("ignored"))
    above = [
        re.search(r"<(=?)3\.(\d{1,2})", one) for one in asked if not one.strip().endswith(",")
    ]  # where it is cut off
    least = max((int(one[2]) + (one[1] == "=") for one in above if one), default=0)
    if all(above) and least >= _LEAST:
        notes.tell("python.version", f"3.{least}", line, _WEAK)


LANGUAGE = Language(
    name="pip",
    words=(
        "ensorflow",
        "Long Path",
        "WinError 206",
        "unpacking",
        "pip ",
        "nvalid distribution",
        "ensorFlow",
        "tf-nightly",
        "tf_nightly",
        "nvidia-",
        "nvidia_",
        "numpy",
        "protobuf",
        "keras",
        "cudnn",
        "cudatoolkit",
        "pytorch  ",
        "cuda-",
        "Your python",
        "pip3",
        "setup.py",
        "empty package",
        "ython 3.",
        "ython3.",
        "ython 2.",
        "-cp",
        "Ignored the following",
        "wheels",
        "different Python",
        "from versions",
        "o matching",
        "python_version",
        "Successfully installed",
        "Successfully uninstalled",
        "libcudnn",
        "nvidia-cudnn-cu",
        "equire",
        "_aarch64",
    ),
    kinds=(
        Kind("benign-leftover", r"(?i:ignoring invalid distribution) [-~]\w"),
        Kind(
            "tensorflow-gpu-stub",
            r"(?:The )?\"?`?tensorflow-gpu`?\"? (?:package )?has been removed|tensorflow[-_]gpu-2\.12\.0\.tar\.gz"
            r"|(?i:tensorflow[-_]gpu)\b[^\n]{0,400}metadata-generation-failed"
            r"|Please install \"tensorflow\" instead|empty package (?:that|which) (?:generates"
            r"|raises) an error|Failed to build tensorflow-gpu$"
            r"|(?i:tensorflow[-_]gpu)(?: version)? ?(?:==|v)?2\.1[2-9](?:\.\d)?(?:rc\d)? (?:is |was |isn't |can't be )?(?:not )?(?:available|found|missing|gone)"
            r"|(?i:\bno (?:such )?(?:version|release|package)) ?(?:2\.1[2-9][\d.]{0,3} )?(?:of|for) (?:the )?(?i:tensorflow[-_]gpu)(?: 2\.1[2-9])?"
            r"|Building wheel for (?:tensorflow|tf-nightly)-gpu \(setup\.py\).{0,40}error|Failed to build tf-nightly-gpu$"
            r"|pip-(?:install|req-build|download)-\w{4,12}[/\\](?:tensorflow|tf[-_]nightly)[-_]gpu(?:_[0-9a-f]{8,64})?[/\\]setup\.py"
            r"|^python_version ?> ?\"3\.7\"$",
            _FAILS,
        ),
        Kind(
            "no-version",
            rf"Could not find a version that satisfies the requirement (?P<name>{_TF})(?:\[[\w,-]+\])?"
            rf"(?![\w-])\s*(?P<spec>[<>=!~][^ (;]*)?"
            r"[^(]{0,60}(?:\(from (?!versions)[^()]{0,200}(?:\([^()]{0,40}\))?\) ?)?\(from versions: ?"
            r"(?P<versions>[^)]*)",
            _FAILS,
        ),
        Kind(
            "no-version",
            rf"(?:No matching distribution found|No distributions at all found|Could not find a version that matches|Could not find any downloads that satisfy the requirement"
            rf"|Couldn't find a distribution|Could not find a version that satisfies the requirement"
            rf"|no such package)\W+(?:for )?(?P<name>{_TF})(?:\[[\w,-]+\])?(?![\w-])\s*"
            rf"(?P<spec>[<>=!~][^ (;)]*)?",
            _FAILS,
        ),
        Kind(
            "no-version",
            rf"(?i:\bno matching distributions?(?: (?:was |is |can be |could be )?found)? (?:for|of)(?: the)? {_QUOTE}(?P<name>{_TF}){_QUOTE}(?![\w-]) ?(?:version )?v?(?P<spec>\d\.\d{{1,2}}(?:\.\d{{1,2}})?)?(?![\w]|\.\d))",
            _FAILS,
        ),
        Kind(
            "other-no-version",
            rf"Could not find a version that satisfies the requirement (?P<name>{_BESIDE})(?:\[[\w,-]+\])?(?![\w-])\s*(?P<spec>[<>=!~][^ (;]*)?"
            r"[^(]{0,60}\(from versions: ?(?P<versions>[^)]*)"
            rf"|(?:No matching distribution found|Could not find any downloads that satisfy the requirement|No distributions at all found)\W+(?:for )?(?P<name2>{_BESIDE})(?:\[[\w,-]+\])?(?![\w-])\s*(?P<spec2>[<>=!~][^ (;)]*)?",
            _FAILS,
        ),
        Kind(
            "path-too-long",
            r"Windows Long Path support enabled|\[WinError 206\][^\n]{0,200}site-packages"
            r"|(?:^|\[Errno 2\] )No such file or directory: '[A-Za-z]:\\[^'\n]{60,400}?(?i:tensorflow)\w{0,12}\\{1,2}include\\",
            _FAILS,
        ),
        Kind("pip-before-wheels", r"^Downloading/unpacking |\bpip (?:[01]|[67])\.\d[\d.]{0,6} from /", once=True),
        Kind(
            "no-cuda-wheel",
            r"(?:No matching distribution found for|Could not find a version that satisfies the requirement) "
            r"(?P<name>nvidia-[\w-]+)(?P<spec>[<>=!~][^ (]*)?",
            _FAILS,
        ),
        Kind(
            "wheel-not-supported",
            rf"(?P<name>{_TF})-(?P<version>[\w.+]+)-(?P<python>[\w.]+)-(?P<abi>[\w]+)-"
            rf"(?P<platform>[\w.]+?)\.whl['\"]? is not a supported wheel on this plat",
            _FAILS,
        ),
        Kind(
            "python-refused",
            rf"(?P<name>{_TF})[^|]{{0,160}}(?:only has|only found|have no|has no) wheels? (?:for |with )?[^"
            rf"|]{{0,40}}Python (?:ABI|implementation|version)"
            rf"|wheels for `?(?P<name2>{_TF})`?[^|]{{0,30}} with the following Python (?:ABI|implementation) tags?"
            rf"|(?P<name3>{_TF})[^|]{{0,30}} requires Python [^|]{{0,60}}, so it will not be (?:satisfied"
            rf"|installable) for"
            rf"|(?P<name4>{_TF})[^|]{{0,120}}no wheels (?:are )?(?:available )?with a matching Python"
            rf"|^\W{{0,4}}(?P<name5>{_TF}) requires Python [<>=!]",
            _FAILS,
        ),
        Kind(
            "python-refused",
            rf"Package '?\"?(?P<name>{_TF})'?\"? requires a different Python: (?P<python>[\d.]+) not in",
            _FAILS,
        ),
        Kind(
            "conda-python",
            rf"(?P<name>{_TF})(?:-base)?[^|]{{0,40}} -> (?:[^|]{{0,80}}-> )?python\[version=['\"](?P<pythons>[^'\"]*)",
            _FAILS,
        ),
        Kind("conda-pinned", r"Your python: python(?:=|==)(?P<version>[23]\.\d+)", tell=_pin),
        Kind(
            "wheel-chosen",
            r"(?:Downloading|Using cached|Processing) \S*?(?P<name>[A-Za-z][\w.]+)-(?P<version>\d[\w.]*)-"
            r"(?P<python>cp\d+(?:\.\w+)?)-(?P<abi>\w+)-(?P<platform>[\w.]+)\.whl",
            tell=_wheel,
        ),
        Kind(
            "pip-ignored",
            r"Ignored the following versions that require a different python version: (?P<ignored>.+)",
            tell=_ignored,
            once=True,
        ),
        Kind(
            "cudnn-requirement",
            r"\brequire(?:s|ment) nvidia-cudnn-cu\d\d==(?P<needs>\d[\d.]{1,14})[^\n]{0,80}\byou have nvidia-cudnn-cu\d\d (?P<has>\d[\d.]{1,13}\d)",
        ),
        Kind(
            "cudnn-upgraded", r"\blibcudnn\d(?:-cuda-\d\d)?:\w{3,6} \(\d[\d.]{1,14}-\d, (?P<version>\d[\d.]{1,14})-\d\)"
        ),
        Kind("pip-tag", r"^cp3\d{1,2}-\w{4,6}-(?P<platform>(?:many)?linux\w{0,16}_aarch64)$", tell=_wheel),
        Kind("uninstalled", r"Successfully uninstalled (?P<name>[\w-]{2,60})-(?P<version>\d[\w.]{0,20})$"),
        Kind("installed-now", r"Successfully installed (?P<names>.+)", tell=_several),
        Kind(
            "installed",
            r"^(?P<name>[A-Za-z][\w-]{2,40})(?: {2,}|\t+| *\| *)(?P<version>\d+\.\d[\w.+-]{0,30})(?:\s+"
            r"(?P<build>[\w.]+)?)?(?: +\[\w{2,20}\])?(?:\s+(?P<channel>[\w./:-]+))?\s*\|?$",
            tell=_installed,
        ),
        Kind(
            "installed",
            r"\b(?P<name>tensorflow) {1,20}(?P<version>\d\.\d{1,2}\.\d) {1,20}(?P<build>(?:mkl|eigen|cpu)_py\w{3,40})",
            tell=_installed,
        ),
        Kind(
            "installed",
            r"^(?P<name>[A-Za-z][\w-]{2,40}) \((?P<version>\d+\.\d[\w.+-]{0,30})(?:, [^\n()]{1,80})?\)$",
            tell=_installed,
        ),
        Kind("installed", rf"^(?P<name>{_TF}) (?P<version>\d+\.\d+\.\d+\w{{0,6}})$", tell=_installed),
        Kind("installed", r"^(?P<name>[A-Za-z][\w-]{2,40})==(?P<version>\d+\.\d[\w.+-]{0,30})$", tell=_installed),
        Kind(
            "installed",
            r"^(?P<name>[A-Za-z][\w-]{2,40})-(?P<version>\d+\.\d[\w.+]*)-(?P<build>\w+_\w+)$|^[+-]? ?"
            r"(?P<name2>[A-Za-z][\w-]{2,40}):? +\S*?(?P<channel>(?:win|linux|osx)-\w+)::[\w-]+-"
            r"(?P<version2>\d+\.\d[\w.+]*)-(?P<build2>\w+_\w+)",
            tell=_installed,
        ),
        Kind(
            "installed",
            r"/(?P<channel>(?:win|linux|osx)-\w{2,8})/(?P<name>tensorflow(?:-\w{2,9})?)-(?P<version>\d[\w.]{2,14})-(?P<build>\w{2,20}_\w{1,20})\.(?:conda|tar\.bz2)\b",
            tell=_installed,
        ),
        Kind(
            "conda-changes",
            r"^(?P<name>tensorflow(?:-\w+)?):? +(?P<before>\d+\.\d[\w.+]*)[- ]{1,20}(?P<build>\w+)[^"
            r"|>]{0,60}--> +(?P<version>\d+\.\d[\w.+]*)[- ]{1,20}(?P<after>\w+)",
        ),
        Kind(
            "installed",
            rf"Requirement already satisfied: (?P<name>{_TF})(?:[<>=!~][^ ]*)? in [^|]{{1,200}} \("
            rf"(?P<version>\d[\w.]+)\)"
            rf"|Found existing installation: (?P<name2>{_TF}) (?P<version2>\d[\w.]+)",
            tell=_installed,
        ),
        Kind(
            "setup-failed",
            r"python setup\.py (?:egg_info|bdist_wheel) did not run successfully"
            r"|Command \"?python setup\.py egg_info\"? failed with error",
            _FAILS,
        ),
        Kind(
            "python-wish",
            rf"(?:can't|cannot|can not|unable|won't|will not|doesn't|does not|isn't|aren't|\b[Nn]o\b|\b[Nn]ot\b|[Nn]either|lacks?|missing|(?i:provide|please|add|request)"
            rf"|[Ww]hen will){_SOME}{{0,60}}?(?:install|support|wheels?\b|availab|compatib|be had|\bhad\b|binar(?:y|ies)|packages?\b|builds?\b|publish|offer"
            rf"|distribut|releas){_SOME}{{0,40}}?(?i:python|\bpy|cp) ?-?(?P<python>[23]\.?\d{{1,2}})(?!\d)(?! (?:on )?(?i:win|linux|ubuntu|mac))",
            _FAILS,
        ),
        Kind(
            "cudnn-wheel-named",
            r"^(?![^\n]{0,400}(?i:\b(?:not|wanted|wants|stayed|needs?|requires?)\b|n't\b))[^\n]{0,400}?\bnvidia-cudnn-cu\d\d[ =]{1,12}(?P<version>\d{1,2}\.\d[\d.]{0,12})",
        ),
        Kind(
            "gpu-package",
            r"tensorflow[-_]gpu\b|tensorflow\[and-cuda\]",
        ),
        Kind("tf-required", rf"(?<![\w./-])(?P<name>{_TF})(?P<spec>==\d\.\d{{1,2}}(?:\.\d{{1,2}})?)(?![\w.])"),
    ),
    foreign=True,
)
