"""What people state of their environment: issue forms, lists, prompts, banners, what programs print of versions.

A statement weighs less than what a program printed, and prose counts only where the whole text has one such statement.
What they say of CUDA, cuDNN and the GPU is kept as events ('says': gpu, cuda, cudnn, driver): claims, no facts.
"""

from __future__ import annotations

import re
from collections import defaultdict

from ..facts import TextEvent
from ..patterns import Pattern
from .complaints import says_no_gpu
from .language import Understood, named
from .notebook import Notebook

LANGUAGE = "report"
WORDS = (
    "indows", "윈도우", "ウィンドウズ", "视窗系统", "in10", "in11", "buntu", "ebian", "entOS", "edora", "inux", "LINUX", "macOS", "MacOS", "MacBook", "MBP", "iMac", "Macbook", "macbook",
    "OS X", "OSX", "Darwin", "WSL", "wsl", "ython", "ensor", "tf", "TF", "CUDA", "Cuda", "cuda", "GPU", "gpu", "GTX",
    "RTX", "py3", "py 3", "Tesla", "Quadro", "GeForce", "Jetson", "JetPack", "Jetpack", "Orin", "Xavier", "eGPU", "vidia", "VIDIA",
    "32", "GNU/", "Apple", "aarch64", "arm64", "i686", "ocker", "olab", "aggle", "[MSC", "[GCC", "[Clang", ":\\", "@", "ldd", "-64", "M1", "M2",
    "Catalina", "Monterey", "CPU", "cpu", "_devices", "raphics", "ideo card", "显卡", "VS 20", "VS20", "isual Studio", "MSVC", "Grace", "GH200", "GB200", "GB10", "DGX",
)  # fmt: skip
_KEPT = 60
"""Statements that are kept as events."""
_SPEECHES = 1500
"""Lines that are read as prose: nobody writes more."""
_LONGEST = 2000
"""Characters of a paragraph that is looked at for complaints."""
_LOGGED = Pattern(r"\d{4}-\d\d-\d\d[ T]\d\d:|[IWEF]\d{4} \d\d:|\[ *\d+\.\d+\]|[IWEF] tensorflow/")
_PROSE, _CLAIM, _PRINTED, _PROVEN = -2, -1, 0, 1

_NOTE = Pattern(r"\((?:e\.?g\b|use |source |if |as |with |or )[^)]{0,160}\)", re.IGNORECASE)
_FIELD = Pattern(
    r"(?:[-*•+|>#]|\d{1,2}[.)]){0,6}\s{0,8}(?P<label>[A-Za-z][\w /().,&?-]{0,60}?)\s{0,8}[:\uff1a=|]{1,4}\s{0,8}(?P<value>\S.*)"
)
_LABELS: tuple[tuple[str, Pattern], ...] = (
    ("tensorflow", Pattern(r"(?:your |installed )?(?:tensor ?flow|tf)(?:[- ]gpu)?(?: {0,3}version)?(?: used)?$")),
    (
        "system",
        Pattern(
            r"(?:os|operating system|system|platform|host os)(?: platform)?(?: (?:and|&) distribution)?"
            r"(?: ?version)?$"
        ),
    ),
    ("python", Pattern(r"python(?: ?version)?$")),
    (
        "cuda",
        Pattern(
            r"(?:installed )?(?:version of )?cuda(?: toolkit)?(?: ?(?:/|and|&|,) ?cudnn)?(?: ?versions?)?"
            r"(?: installed)?$"
        ),
    ),
    ("cudnn", Pattern(r"cu ?dnn(?: ?version)?$")),
    ("driver", Pattern(r"(?:nvidia |gpu |graphics )?drivers?(?: ?version)?$")),
    (
        "gpu",
        Pattern(
            r"(?:gpus?|graphics? cards?|video card|nvidia gpu)(?: ?(?:model|type|name))?(?: ?(?:and"
            r"|&) memory)?$"
        ),
    ),
)
_TF_VERSION = Pattern(r"(?<![\w.-])(?:v|==|tf|TF)?(?P<version>[012]\.\d{1,2}(?:\.\d{1,2})?(?:-?rc\d)?)(?![\w.]*\d|-)")
_GIT_VERSION = Pattern(r"\bv[012]\.\d+\.\d+(?:-rc\d)?-\d+-g[0-9a-f]+\b")
_PYTHON_VERSION = Pattern(r"(?<![\w.])(?P<version>[23]\.\d{1,2}(?:\.\d{1,2})?)(?![\w]*\d)")
_DOTTED = Pattern(r"(?<![\w.])(?P<version>\d{1,2}(?:\.\d{1,2}){1,2})(?![\w]*\d)")
_CUDNN_FIRST = Pattern(r"(?i)[^\d]{0,20}\bcudnn\b.{1,60}\bcuda\b")
_GPU = Pattern(
    r"(?:NVIDIA )?(?:GeForce )?(?:RTX|GTX|GT|MX) ?-?A?\d{3,4}(?: ?(?:Ti|SUPER|Super|Laptop|Max-Q))*\b"

        r"|(?:NVIDIA )?(?:Quadro|Tesla|TITAN|Titan|GeForce) [\w-]{1,8}(?: [\w-]{1,6})?|\b(?:NVIDIA )?"
        r"(?:[AH]100|H200|V100|P100|T4|L40S?|L4|A10G?)\b"
    r"|\b(?:AMD )?Radeon [\w ]{1,20}|\bRX ?\d{4}\w*|\bIntel (?:\(R\) )?(?:Iris|UHD|HD|Arc)\b"
)  # fmt: skip

_SYSTEMS: tuple[tuple[str, Pattern], ...] = (
    (
        "WSL",
        Pattern(
            r"(?<!without )(?<!w/o )(?<!avoid )(?<!no )(?<!not )(?<!using )\bWSL ?2?\b|(?<!not )\busing WSL|Windows Subsystem|microsoft-standard",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    (
        "Windows",
        Pattern(
            r"\b[Ww](?:indows|in) ?(?:1[01]|[78](?:\.1)?|XP|Server|Home|Pro|Edition|NT)\b|\b[Ww]indows\b|\b(?:VS|Visual Studio|MSVC) ?20(?:1\d|2\d)\b|\bwin"
            r"(?:32|64|-64)\b|\bWIN(?:1[01]|DOWS)\b|윈도우|ウィンドウズ|视窗系统",
            re.ASCII,
        ),
    ),
    (
        "Darwin",
        Pattern(
            r"\bmac ?OS\b|\bOS ?X\b|\bDarwin\b|\bMac(?:[Bb]ook)?\b|\bMBPs?\b|\biMac\b|\b(?:Mojave|Catalina|Big Sur|Monterey"
            r"|Ventura|Sonoma|Sequoia)\b|\bosx-(?:arm)?64\b|Apple M\d|\bM[1-4] (?:Pro|Max|Ultra|chip|mac)"
            r"|Apple [Ss]ilicon",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    (
        "Linux",
        Pattern(
            r"\b(?:[UuXxKkLl]+buntu|Debian|CentOS|Red ?Hat|RHEL|Fedora|Arch Linux|Manjaro|Linux|SUSE|openSUSE"
            r"|Mint|Pop!?_?OS|Kali|Gentoo|Nix ?OS|Rocky|AlmaLinux|Raspbian|JetPack|linux-64)\b",
            re.IGNORECASE | re.ASCII,
        ),
    ),
)
_OS = r"(?:native )?(?:windows(?: 1[01])?|linux|ubuntu|wsl ?2?|mac ?os|macs?)"
_NOT_HERE = Pattern(
    rf"(?i)(?<!not )\b(?:works?|worked|ran|runs|working)(?: fine| well| perfectly| great)? (?:on|in|under|with|for) (?:my |the |an? )?{_OS}\b"
    rf"|, not (?:on |in |using )?{_OS}\b(?! machine)|\b(?:moved|switched|migrated|changed|came|upgraded) from (?:my |the |an? )?{_OS}\b(?= to\b)"
)
"""The system on which it works, which is not in question, or was left."""
_MACHINES = (
    (
        "arm",
        Pattern(
            r"\baarch64\b|\barm64\b|linux-aarch64|\bJetson\b|\bJetPack\b|Apple M\d|\bM[1-4] (?:Pro|Max|Ultra"
            r"|chip|mac)|Apple [Ss]ilicon|\bGraviton",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    ("x86", Pattern(r"\bx86[_-]64\b|\bamd64\b|\bx64\b|\bwin-64\b|\blinux-64\b", re.IGNORECASE | re.ASCII)),
    ("32", Pattern(r"\bi[36]86\b|\bx86\b(?![_-])|\b32[- ]bit\b", re.IGNORECASE | re.ASCII)),
)
_NAMES = {
    ("arm", "Darwin"): "arm64", ("arm", "Linux"): "aarch64", ("x86", "Windows"): "AMD64", ("x86", "Linux"): "x86_64",
    ("x86", "Darwin"): "x86_64", ("32", "Linux"): "i686",
}  # fmt: skip
"""What platform.machine() says there."""

_BANNER = Pattern(r"Python (?P<version>\d\.\d+\.\d+)\S* ?(?:\||\(|:: )")
_COMPILER = Pattern(
    r"\[(?:MSC v\.\d+ (?P<bits>32|64) bit|GCC|Clang)[^\]]{0,80}\] (?:on|:: [\w, .]{0,40}on) "
    r"(?P<on>linux2?|win32|darwin|cygwin)"
)
_PYTHON_V = Pattern(r"Python (?P<version>[23]\.\d+\.\d+)(?: :: .*)?$")
_PIP_V = Pattern(r"pip [\d.]+ from (?P<path>.{1,200}) \(python (?P<version>\d\.\d+)\)")
_PLATFORM = Pattern(
    r"Linux-[\w.+-]{3,80}-(?P<machine>x86_64|aarch64|i686)-with-(?:\w{1,20}-)?(?:glibc(?P<glibc>\d+\.\d+))?|"
    r"(?P<windows>Windows-\d+-\d)|macOS-[\d.]+-(?P<mac>arm64|x86_64)"
)
_UNAME = Pattern(
    r"(?:Linux|Darwin) \S+ \d+\.\d+\S* .{0,160}\b(?P<machine>x86_64|aarch64|arm64|i686)\b|\b"
    r"(?P<machine2>x86_64|aarch64|i686) GNU/Linux"
)
_LDD = Pattern(r"ldd \([^)]{3,60}\) (?P<glibc>2\.\d+)$")
_PROMPT_WINDOWS = Pattern(r"(?:\([\w .-]{1,40}\) ?)?(?:PS )?(?:\([\w .-]{1,40}\) ?)?[A-Z]:\\[^>|<\"]{0,120}>")
_PROMPT_LINUX = Pattern(
    r"(?:\([\w .-]{1,40}\) ?)?\[?[\w.-]{1,40}@[\w.-]{1,60}(?::[~/][^$#]{0,120}| [~/\w.-]{1,60}\])[$#](?: |$)"
)
_SITE_WINDOWS = Pattern(
    r"(?:\b[A-Za-z]:|(?<!\w)~)\\{1,4}[^\"'<>|]{1,160}?(?:site-packages|python\d*\\|conda\d?\\)"
    r"|(?<!\w)[A-Z]:/[^\"'<>|\n]{1,160}?(?:site-packages|python\.exe|python\d{1,3}\.dll)",
    re.IGNORECASE,
)
_SITE_UNIX = Pattern(
    r"(?P<root>/(?:home|root|usr|opt|workspace|Users|Library|data|mnt|content)/)[^\"'<>"
    r"|: ]{0,160}?python(?P<version>[23]\.\d+)/(?:site|dist)-packages"
)
_WHEEL = Pattern(
    r"(?:pip3? install|Downloading|Using cached|Installing|Saved) [^\n]{0,200}-(?:macosx_\d{1,2}_\d{1,2}_(?P<mac>arm64|x86_64)|win_amd64)\.whl"
)
"""A wheel that is installed tells the system."""
_SITE_VERSION = Pattern(r"Python(?P<major>[23])(?P<minor>\d{1,2})(?P<bits>-32)?[\\/]", re.IGNORECASE)
_PYTHON_32 = Pattern(r"[\\/]Python\d{2,3}-32[\\/](?:python\.exe|scripts\b)", re.IGNORECASE)
_JETSON_HOST = Pattern(r"[\w.-]{1,40}@(?:jetson|tegra)\b")
"""As NVIDIA's own images of the Jetson are called."""
_SPEECH = 600
_IN_SPEECH = Pattern(
    r"(?<!numba-)\b(?P<what>[Pp]ython|PYTHON|[Tt]ensor[Ff]low(?:[-_ ][Gg][Pp][Uu])?|TF|tf|CUDA|[Cc]uda|cu ?DNN"
    r"|[Cc]udnn|CUDNN)(?: ?version)?[ =:v-]{0,3}(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?![\w]*\d|-(?:windows|linux|osx))"
)
_PYTHON_SAID = Pattern(
    r"(?i:(?<![\x2d-9A-Z_a-z])python)(?i:[ -]?version| release| --version| -V)?`?(?i: that is)?(?i: installed)?(?i:(?: is| was| to)(?: at| on)?(?: version)?| (?:says|gives|prints|shows)(?: python)?)?"
    r"(?: ?\| ?|\t| [-\u2013\u2014] |[\u2013\u2014]| ?[:\uff1a=]{1,2} ?| ?\(| {1,30}|@|\u7248\u672c\u53f7?[:\uff1a\u662f]{0,2} ?|\u662f)v?(?P<version>[23]\.\d{1,2}(?:\.\d{1,2})?)(?!\w|\.\d|[+*])"
    r"|\bversion (?i:of )?python(?: is)? (?P<version2>[23]\.\d{1,2}(?:\.\d{1,2})?)(?!\w|\.\d|[+*])|(?<![\w./-])py ?(?P<version3>3\.\d{1,2}(?:\.\d{1,2})?)(?!\w|\.\d|[+*])"
    r"|(?<![\w./-])py(?P<major>3)(?P<minor>1\d|[4-9])(?![\w.-])"
    r"|(?i:(?<![\w./-])python\b)(?:(?!(?i:cuda|cudnn|tensorflow|\btf\b|keras|\bpip\b|torch|numpy|driver|ubuntu|works?|\bnot\b|needs?|wants?|requires?))[^.\n\d]){1,32}[ (](?P<version4>3\.(?:[4-9]|1[0-5])\.\d{1,2})(?![\w.])"
)
"""Further ways to tell Python's version."""
_GRACE = Pattern(r"\bGrace[ -]Hopper\b|\bG[HB]200\b|\bDGX Spark\b|\bGB10\b")
"""NVIDIA's machines with processors of ARM."""
_ARM_IMAGE = Pattern(r"(?i)\barm ?nn\b|\barmswdev\b|\barm64v8\b")
"""Images and libraries for them."""
_JETSON = Pattern(
    r"(?<!no )(?<!not a )(?<!n't a )\bJetson\b(?! (?:it is not|this is not|it isn't))|\bjtop\b|\bJet[Pp]ack\b|\bOrin (?:NX|Nano|AGX)\b|\bXavier (?:NX|AGX)\b"
)
_32BIT = Pattern(
    r"\b(?:Ubuntu|Windows|Linux|Debian|Python|system|OS|machine)\b.{0,24}\b(?:32[- ]?bits?|x32)\b"
    r"|\b32[- ]?bits? (?:version of )?(?:Ubuntu|Windows|Linux|Debian|Python|system|OS|machine)\b",
    re.IGNORECASE,
)
_64BIT = Pattern(
    r"\bpython-3\.\d{1,2}\.\d{1,2}-amd64\b|\bPython ?3(?:\.\d{1,2}){1,2},? ?\(?(?:x64|64[- ]?bits?)\b|\b(?:64[- ]?bits?|x64) (?:version of )?Python ?3",
    re.IGNORECASE,
)
_ELSEWHERE = Pattern(
    r"\b(?:[Dd]ocker|[Cc]ontainers?|(?<!without )(?<!w/o )(?<!no )(?:WSL2?|wsl2?)|[Cc]olab|[Kk]aggle|[Ss]ubsystem for Linux)\b"
)
"""Where the system that is stated is not the one that TensorFlow runs on."""
_WITH_CUDA = Pattern(
    r"(?P<answer2>No) CUDA support will be enabled for TensorFlow|(?:is_built_with_cuda|is_cuda_build|[Bb]uilt with CUDA)[^\w]{0,8}(?:support)?[^\w]{0,8}(?:(?:gives|returns?|is|prints?|says|shows|outputs?) (?:me )?)?\W{0,3}(?P<answer>True|False|TRUE|FALSE)\b"
)
_BUILT_FOR = Pattern(r"['\"](cuda|cudnn)_version['\"][,:] ['\"](\d[\d.]*)['\"]")
_WISH = Pattern(r"tensorflow[-_](?:gpu|cpu)?==|pip3? install|conda install|>=|<=|requires|compatible", re.IGNORECASE)
_NEEDS = Pattern(r">=|<=|requires|compatible|\bneeds?\b|\bsupport", re.IGNORECASE)


class Reader:
    """Reads line by line; what prose says is told at the end, where it says one thing."""

    def __init__(self, notes: Notebook) -> None:
        self.notes = notes
        self._prose: dict[str, dict[str, int]] = defaultdict(dict)
        self._nvidia: tuple[int, str] | None = None
        self._elsewhere: tuple[int, str] | None = None
        self._no_gpu = 0
        self._form: str | None = None
        """The field of a form that the line fills; None: it is prose."""
        self._kept = self._speeches = 0

    def line(self, text: str, number: int) -> Understood | None:
        """What a line states of the environment."""
        if len(text) > 600:
            self._complains(text, number)
            return None
        values = self._printed(text, number)
        if values and "built-with-cuda" in values:
            self._speech(text, number)  # a message of one line
        if values and self._kept < _KEPT:
            self._kept += 1
            return Understood("runs-on", values)
        if not values and (self._speeches >= _SPEECHES or _LOGGED.match(text)):
            return None
        values = self._stated(text, number)
        if values and self._kept < _KEPT:
            self._kept += 1
            if self._form in (None, "tensorflow"):
                self._complains(text, number)
            return Understood("says", values)
        self._speeches += 1
        return Understood("says-no-gpu", {}) if self._complains(text, number) else None

    def _complains(self, text: str, line: int) -> bool:
        """Whether a line of prose says that there is no GPU."""
        if (
            len(text) > _LONGEST
            or self._speeches >= _SPEECHES
            or text.startswith(("File ", ">>>"))
            or _LOGGED.match(text)
        ):
            return False
        told = says_no_gpu(text)
        if told:
            self._no_gpu = self._no_gpu or line
        return told

    def finish(self) -> None:
        """What the prose says, where it does not contradict itself."""
        failing = any(e.symptom for e in self.notes.events) or self.notes.told("tensorflow.import_error")
        if self._no_gpu and not failing:
            self.notes.tell("tensorflow.devices", (), self._no_gpu, _PROSE)
        for kind, said_at in (("says-nvidia", self._nvidia), ("says-elsewhere", self._elsewhere)):
            if said_at is not None:
                self.notes.note(TextEvent(line=said_at[0], language=LANGUAGE, kind=kind, text=said_at[1][:400]))
        for fact, said in self._prose.items():
            longest = max(said, key=len)
            if fact == "system":
                self._system_of(set(said), min(said.values()), _PROSE)
            elif all(longest == one or longest.startswith(f"{one}.") for one in said):
                self.notes.tell(fact, longest, said[longest], _PROSE)

    # ------------------------------------------------------------------- what programs print

    def _printed(self, text: str, line: int) -> dict[str, str] | None:
        """Banners, versions, prompts and paths. {}: nothing new in them."""
        notes, values = self.notes, dict[str, str]()
        if banner := _BANNER.search(text) or _PYTHON_V.match(text):
            notes.tell("python.version", banner["version"], line, _PROVEN if "(" in banner[0] else _PRINTED)
            values["python"] = banner["version"]
        if pip := _PIP_V.search(text):
            notes.tell("python.version", pip["version"], line, _PRINTED)
            values["python"] = pip["version"]
        if compiler := _COMPILER.search(text):
            system = {"win32": "Windows", "darwin": "Darwin"}.get(compiler["on"], "Linux")
            notes.tell("system.system", system, line, _PROVEN)
            values["system"] = system
            if compiler["bits"]:
                notes.tell("python.bits", int(compiler["bits"]), line, _PROVEN)
                values["bits"] = compiler["bits"]
                if compiler["bits"] == "64" and system == "Windows":
                    notes.tell("system.machine", "AMD64", line, _PRINTED)
        if one := _PLATFORM.search(text):
            system = "Windows" if one["windows"] else "Darwin" if one["mac"] else "Linux"
            notes.tell("system.system", system, line, _PROVEN)
            if machine := one["machine"] or one["mac"]:
                notes.tell("system.machine", machine, line, _PRINTED)
            if one["glibc"]:
                notes.tell("python.glibc", one["glibc"], line, _PRINTED)
                values["glibc"] = one["glibc"]
            values["system"] = system
        if uname := _UNAME.search(text):
            machine = uname["machine"] or uname["machine2"]
            notes.tell("system.machine", machine, line, _PRINTED)
            self._system(text, line, _PRINTED)
            values["machine"] = machine
        if ldd := _LDD.match(text):
            notes.tell("python.glibc", ldd["glibc"], line, _PRINTED)
            values["glibc"] = ldd["glibc"]
        return values or self._built(text, line) or self._place(text, line)

    def _built(self, text: str, line: int) -> dict[str, str]:
        """What TensorFlow says of its own build."""
        notes, values = self.notes, dict[str, str]()
        if cuda := _WITH_CUDA.search(text):
            built = str(cuda["answer"]).lower() == "true"
            notes.tell("tensorflow.build.cuda", built, line, _PROVEN)
            if not built:
                notes.tell("tensorflow.devices", (), line, _PROSE)
            values["built-with-cuda"] = str(built)
            if "msvcp" in text:
                notes.tell("system.system", "Windows", line, _PRINTED)
        for name, version in _BUILT_FOR.findall(text):
            notes.tell(f"tensorflow.build.{name}_version", version, line, _PROVEN)
            values[name] = version
        return values

    def _place(self, text: str, line: int) -> dict[str, str] | None:
        """What a prompt or a path of Python's packages tells."""
        notes = self.notes
        told = notes.told("system.system")
        if _SITE_WINDOWS.search(text):
            notes.tell("system.system", "Windows", line, _PROVEN if "site-packages" in text else _PRINTED)
            if version := _SITE_VERSION.search(text):
                notes.tell("python.version", f"{version['major']}.{version['minor']}", line, _PRINTED)
                if version["bits"]:
                    notes.tell("python.bits", 32, line, _PRINTED)
            return {"system": "Windows"} if told != "Windows" else {}
        if _PYTHON_32.search(text):
            notes.tell("python.bits", 32, line, _PRINTED)
        if wheel := _WHEEL.search(text):
            system = "Darwin" if wheel["mac"] else "Windows"
            notes.tell("system.system", system, line, _PRINTED)
            notes.tell("system.machine", wheel["mac"] or "AMD64", line, _PRINTED)
            return {"system": system} if told != system else {}
        if path := _SITE_UNIX.search(text):
            system = "Darwin" if path["root"] in ("/Users/", "/Library/") or "homebrew" in text else "Linux"
            notes.tell("system.system", system, line, _PROVEN)
            notes.tell("python.version", path["version"], line, _PRINTED)
            return {"system": system, "python": path["version"]} if told != system else {}
        prompt = "Windows" if _PROMPT_WINDOWS.match(text) else "Linux" if _PROMPT_LINUX.match(text) else None
        if prompt is not None:
            notes.tell("system.system", prompt, line, _PRINTED)
            if _JETSON_HOST.match(text):
                notes.tell("system.machine", "aarch64", line, _PRINTED)
            return {"prompt": prompt} if told != prompt else None
        return None

    # ------------------------------------------------------------------- what people state

    def _stated(self, text: str, line: int) -> dict[str, str]:
        bare = _NOTE.sub("", re.sub(r"[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)", "", text)).strip()
        field = _FIELD.match(bare)
        label = field["label"].strip().lower() if field else ""
        kind = next((name for name, pattern in _LABELS if pattern.match(label)), None)
        self._form = kind
        if field is not None and kind is not None and not field["value"].startswith(":"):
            return self._field(kind, label, field["value"], line)
        if len(bare) > _SPEECH or "pci bus id" in text or text.startswith(("|", "+", "File ")):
            return {}
        return self._speech(bare, line)

    def _field(self, kind: str, label: str, value: str, line: int) -> dict[str, str]:
        notes = self.notes
        if kind == "tensorflow":
            versions = dict.fromkeys(m["version"] for m in _TF_VERSION.finditer(_GIT_VERSION.sub("", value)))
            if not versions and (git := _GIT_VERSION.search(value)):
                versions = {git[0][1:].split("-")[0]: None}
            if len(versions) == 1:
                notes.tell("tensorflow.version", next(iter(versions)), line, _CLAIM)
            return {"tensorflow": value[:60]} if versions or re.search(r"(?i)\d|nightly|latest|master", value) else {}
        if kind == "python":
            found = dict.fromkeys(m["version"] for m in _PYTHON_VERSION.finditer(value))
            if len(found) == 1:
                notes.tell("python.version", next(iter(found)), line, _CLAIM)
            if re.search(r"32[- ]?bit", value):
                notes.tell("python.bits", 32, line, _CLAIM)
            return {"python": value[:60]}
        if kind == "system":
            return {"system": value[:60]} if self._system(value, line, _CLAIM) else {}
        if kind == "gpu":
            name = _GPU.search(value)
            return {"gpu": name[0] if name else value[:60]}
        numbers = [m["version"] for m in _DOTTED.finditer(value)]
        if kind == "cuda" and _CUDNN_FIRST.match(value):
            numbers.reverse()
        if kind == "driver":
            return {"driver": value[:40]}
        values = {}
        if kind == "cuda" and numbers:
            values["cuda"] = numbers[0]
        if (kind == "cudnn" or "cudnn" in label) and numbers and (kind == "cudnn" or len(numbers) > 1):
            values["cudnn"] = numbers[-1]
        return values

    def _speech(self, text: str, line: int) -> dict[str, str]:
        """Versions and systems in prose: collected, and told at the end."""
        values: dict[str, str] = {}
        wish, needs = _WISH.search(text), _NEEDS.search(text)
        for found in _IN_SPEECH.finditer(text):
            what = found["what"].lower().replace(" ", "")
            if what == "cuda" or (what == "cudnn" and len(found["version"].partition(".")[0]) < 2):
                values.setdefault(what, found["version"])
            elif what == "python" and not needs:
                self._prose["python.version"].setdefault(found["version"], line)
            elif what.startswith(("tf", "tensor")) and found["version"][0] in "012" and not wish:
                self._prose["tensorflow.version"].setdefault(found["version"], line)
        if not needs and not wish and "python.version" not in self._prose and (said := _PYTHON_SAID.search(text)):
            python = named(said.groupdict())
            self._prose["python.version"][python.get("version") or "{major}.{minor}".format(**python)] = line
        if gpu := _GPU.search(text):
            values["gpu"] = gpu[0]
        if _32BIT.search(text) and not re.search(r"\b64|\bnot\b|n't\b|\?", text):
            self.notes.tell("python.bits", 32, line, _PROSE)
            values["bits"] = "32"
        elif _64BIT.search(text) and not re.search(r"\b32|\bnot\b|n't\b|\?|\b(?:need|must|requir)", text):
            self.notes.tell("python.bits", 64, line, _CLAIM)
        if not self._nvidia and re.search(r"\bNVIDIA\b|\be-?GPU\b|\bCUDA\b", text, re.IGNORECASE):
            self._nvidia = (line, text)
        if not self._elsewhere and _ELSEWHERE.search(text):
            self._elsewhere = (line, text)
        here = _NOT_HERE.sub("", text)
        for name, pattern in _SYSTEMS:
            if pattern.search(here):
                self._prose["system"].setdefault(name, line)
        if _JETSON.search(text):
            self.notes.tell("system.tegra", True, line, _PROSE)
            self._prose["system"].setdefault("Jetson", line)
        if _GRACE.search(text) or _ARM_IMAGE.search(text):
            self._prose["system"].setdefault("Jetson", line)
        if re.search(r"Apple (?:M\d|[Ss]ilicon)|\bM[1-4] (?:Pro|Max|Ultra|chip|[Mm]ac)", text):
            self._prose["system"].setdefault("Apple", line)
        return values

    def _system(self, value: str, line: int, weight: int) -> bool:
        """Whether a text names a system; then it is told."""
        named = {name for name, pattern in _SYSTEMS if pattern.search(value)}
        for kind, pattern in _MACHINES:
            if pattern.search(value):
                named.add({"arm": "arm", "x86": "x86", "32": "32"}[kind])
        return self._system_of(named, line, weight)

    def _system_of(self, named: set[str], line: int, weight: int) -> bool:
        notes = self.notes
        system = None
        systems = named & {"Windows", "Darwin", "Linux"}
        if "WSL" in named:
            system = "Linux"
            notes.tell("system.wsl", True, line, weight)
        elif "Jetson" in named:
            system = "Linux"
            notes.tell("system.machine", "aarch64", line, weight)
        elif "Apple" in named and systems <= {"Darwin"}:
            system = "Darwin"
            notes.tell("system.machine", "arm64", line, weight)
        elif len(systems) == 1:
            system = next(iter(systems))
        if system is None:
            return False
        notes.tell("system.system", system, line, weight)
        for kind in ("arm", "x86", "32"):
            if kind in named and (kind, system) in _NAMES:
                notes.tell("system.machine", _NAMES[kind, system], line, weight)
        return True
