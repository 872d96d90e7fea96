"""Which CUDA and cuDNN a text names as installed: nvcc, paths, packages, the fields of a report, and what people say.

nvidia-smi's 'CUDA Version' is the driver's and is not meant.
"""

from __future__ import annotations

import re

import msgspec

from ..facts import TextEvent
from ..patterns import Pattern
from .language import LONGEST, Understood, named
from .notebook import Notebook

LANGUAGE = "claims"
WORDS = ("uda", "UDA", "src", "udnn", "uDNN", "UDNN", ".so", "nvidia-c", "oolkit", "nvcc")
KIND, SHOWN = "names-cuda", "shows-file"

_CUDA = tuple(
    Pattern(
        p.replace(
            "VERSION", r"(\d{1,2}\.\d{1,2}(?!\d)|1[0-9](?![.\d-])|(?<=v)[789](?![\w.-])|(?<=\bCUDA )[89](?![\w.-]))"
        ),
        re.ASCII,
    )
    for p in (
        r"Cuda compilation tools, release VERSION",
        r"(?i)\bcuda(?:[-/_ ]|\\{1,2})?v?VERSION",
        r"\bnvidia-cuda-toolkit\b[^\d\n]{1,40}VERSION",
        r"(?i)\bcuda[ _-]?(?:toolkit|ver\w{0,5}|runtime|sdk)?(?: is| was)?[ :=]{1,3}\(?v?VERSION",
        r"(?i)\b(?:cuda|gpu(?: computing)?|nvidia)[ _-]toolkit(?: ver\w{0,5}| v)?[ :=-]{1,3}v?VERSION",
        r"(?i)\bcudatoolkit(?:-dev)?(?: \([^)\n]{1,20}\))?[ =:]{1,20}VERSION",
        r"(?i)\bcuda(?:[ -]toolkit)? (?:is |was |has been |got )?(?:re-?installed|up(?:dated|graded)|down(?:dated|graded)) (?:as|to|at|in(?: version)?) VERSION",
        r"(?i)\bcuda(?:[ -]toolkit)?(?: ver\w{0,5})?(?: ?\| ?| ?\t ?| [-\u2013\u2014] |[\u2013\u2014])v?VERSION",
        r"(?i)\bcuda(?:[ -]toolkit)?(?: that is| which is)?(?: installed)?(?: here)?(?:(?: is| was)?(?: at| on| of| in)? (?:ver\w{0,5}|release)|(?<=installed) is|(?<=here) is) v?VERSION",
        r"(?i)\b(?:re-?)?installed (?:the )?cuda(?:[ -]toolkit)?(?: again| anew| freshly)?(?: as| in| at| with)?(?: ver\w{0,5})? v?VERSION",
        r"(?i)\btoolkit(?: ver\w{0,5})? v?VERSION (?:is |was |has been |got )?(?:already |properly |correctly )?(?:installed|in place|is there)\b",
        r"(?i)\bnvcc\b[`'\"]?(?: -V| --version)?[`'\"]?(?: (?:also )?(?:says|shows|reports|prints|gives|tells|answers|returns|is)(?: me| it is)?| ?:|,)?(?: cuda)?(?: release| ver\w{0,5})?:? v?VERSION",
        r"\blibcudart(?:\.so)?(?:\.\d{1,2})? is (?:of |at )?version VERSION",
        r"\+cuda-?VERSION",
        r"(?i)CUDA/cuDNN version\W{0,6}(?:cuda ?)?v?VERSION",
        r"(?i)\bcuda\b(?: toolkit)?[^.\n]{0,20}? from v?\d{1,2}\.\d[\d.]{0,6} to v?VERSION",
    )
)
_ADVICE = Pattern(
    r"CUDA_VERSION=\d{2,3} make |PaddlePaddle Requirement: |then, unzip it and copy it into |For instance, download |/usr/local/cuda-1\d\.\d$"
)
"""What bitsandbytes prints as its advice."""
_REPLACED = Pattern(
    r"(?i)\b(?:uninstalled|removed|deleted|purged|wiped|got rid of|replaced|swapped) (?:the |my |our |old |out |all of ){0,3}(?:nvidia )?cuda(?:[ -]toolkit)?[ -]?v?(?P<old>\d{1,2}(?:\.\d{1,2})?)(?![\d.]*\d)"
    r"(?:(?![.!?] |\b(?:not|should|because|since)\b)[^\n]){0,80}?\b(?:installed|put(?: in)?|with|by|took|got|for) (?:the )?(?:new |newest |newer )?(?:nvidia )?(?:cuda )?(?:toolkit )?v?(?P<version>\d{1,2}\.\d)(?![\d.]*\d)"
)
"""One CUDA was put in another's place."""
_RUNFILE = Pattern(
    r"\bcuda_(\d{1,2}\.\d)\.\d{1,3}_(?:\d{3}\.[\d.]{2,8}_linux(?:_sbsa)?\.run|(?:\d{3}\.[\d.]{2,8}_)?(?:windows|win10)(?:_network)?\.exe)"
)
"""NVIDIA's installer."""
_REQUIRED = Pattern(r"\([^()\n]{0,80}(?:>=|\bor (?:newer|later|higher)\b)[^()\n]{0,40}\)")
"""Behind the name of a build: what it asks for."""
_ASKED_ABROAD = Pattern(
    r"(?:(?i:\b(?:braucht|verlangt|ben\u00f6tigt|requiere|necesita|pide|exige|demande|requiert|precisa|requer)\b|\u0442\u0440\u0435\u0431\u0443\w{1,4}|\u043d\u0443\u0436\u0435?\u043d\w?)|\u8981\u6c42|\u9700\u8981|\u8981)[^.,;\uff0c\u3002\uff1f?\n]{0,20}?(?i:cuda|cudnn)[ _-]?v?\d{1,2}(?:\.\d{1,3}){0,3}\u5417?"
)
"""What is asked for, in other tongues."""
_PACKAGE = Pattern(r"\bcuda-(?:toolkit-|runtime-|libraries-)?(?P<major>\d{1,2})-(?P<minor>\d)\b")
_CUDNN = tuple(
    Pattern(p.replace("VERSION", r"v?(\d{1,2}(?:\.\d{1,3}){0,3})"), re.ASCII)
    for p in (
        r"(?i)\bcudnn\b[^.\n\d]{0,30}?(?: from v?\d{1,2}\.[\d.]{1,12} to | \(?v?\d{1,2}\.[\d.]{1,12}(?:-\d{1,2})? ?(?:-+>|=>|\u2192) ?)VERSION",
        r"\blibcudnn\d\.x86_64 +VERSION",
        r"(?i)\bcudnn[- \"']{1,3}(?:\d+\.\d-)?(?:linux|windows)[\w-]{0,20}-VERSION",
        r"\blibcudnn\d(?:-cuda-\d\d)?(?:-dev)?/[\w,.-]{1,40} VERSION",
        r"\blibcudnn\d?(?:-cuda-\d\d)?(?:-dev|-devel)?[ =_-]{1,20}VERSION",
        r"\b(?:apt(?:-get)?|dnf|yum|zypper)(?: -\w)? install [^\n]{0,80}?\b(?:lib)?cudnn([4-9])(?:-cuda-\d\d)?(?:-devel|-dev)?(?:\s|$)",
        r"\bNV_CUDNN_(?i:version)[=: ]{1,3}['\"]?VERSION",
        r"\blibcudnn\d-cuda-\d\d\.x86_64 +VERSION",
        r"(?i)\bcudnn(?: (?:sdk|library|runtime))?\*{0,2}(?: ver\w{0,5}| release)?(?: ?\| ?| ?\t ?| [-\u2013\u2014] |[\u2013\u2014]|[:\uff1a=]{0,2}\*{0,2} | \(|[/@])v?VERSION",
        r"(?i)\bcudnn(?: (?:sdk|library|runtime))?(?: that is| which is)?(?: installed)?(?: here)?(?: is| was)?(?: at| on| of)? (?:ver\w{0,5}|release) VERSION",
        r"(?i)\bcudnn(?: \u7684)? ?\u7248\u672c\u53f7? ?(?:[:\uff1a]|\u662f|\u4e3a)? ?VERSION",
        r"(?i)\b(?:upgraded|updated|downgraded|changed|switched|moved) (?:the |my )?(?:nvidia )?cudnn (?:back )?to (?:ver\w{0,5} )?VERSION",
        r"\bCUDNN_MAJOR(?: is|:| =)? {1,8}VERSION",
        r"\bSetting up libcudnn\d(?:-cuda-\d\d)?(?::\w{3,6})? \(VERSION",
        r"(?i)\bcudnn_VERSION_windows",
        r"(?i)\bcudnn(?!64_)[ _-]?(?:ver\w{0,5}|v)?(?: is| was)?[ :=]{0,20}VERSION",
        r"(?i)\b(?:took|chose|downloaded|picked|grabbed|got|fetched|installed|used|have|copied|unpacked|extracted) [^.\n\d;?]{0,24}?\bcudnn\b,? (?:which|that) (?:is|was) (?=v?[4-9]\.\d)VERSION",
        r"(?i)\bcudnn\b[^.\n\d;?]{1,30}?\b(?:took|chose|downloaded|picked|grabbed|fetched|installed|copied|unpacked|extracted)(?: (?:the|version|release|newest|latest|only)){0,3} (?=v?[4-9]\.\d)VERSION",
        r"(?i)\b(?:took|chose|downloaded|picked|grabbed|got|fetched|installed|used|have|copied|unpacked|extracted) (?:the )?(?:version |release )?(?=v?[4-9]\.\d)VERSION of (?:nvidia'?s? )?cudnn",
        r"(?i)cuda/cudnn version\W{0,6}(?:cuda[ :]?)?v?\d[\d.]{0,6} {0,2}[/,;&] {0,2}VERSION",
    )
)
_FILE = Pattern(
    r"(?P<directory>(?:~|\$\w{1,20})?/[^\s:'\"()]{0,200}/)(?P<library>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})(?![\w.])"
)
_LIES_IN = Pattern(
    r"(?P<library>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})['`\" ]{0,3}(?:\w+ ){0,2}(?:is|exists|lies|sits|are|was|present|located|installed|found)\b[\w, ]{0,20} (?:in|under|at|inside|within) ['`\"]?(?P<directory>/[\w./<>-]{3,160})"
    r"|(?i:\bin|under|at|inside) ['`\"]?(?P<directory2>/[\w./<>-]{3,160}?)/?['`\"]?,? (?i:there(?:'s| is| are)|(?:I|we|you) (?:can )?(?:see|have|find)|lies|sits|contains) (?:an? |the |file |only ){0,3}['`\"]?(?P<library2>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})"
    r"|(?P<library3>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})['`\" ]{0,3}(?:really |actually |definitely )?(?:does exist|exists|is there)[,.;:]? (?:it is|it's|it lies|and is|and lies) (?:in|under|at|inside|within) ['`\"]?(?P<directory3>/[\w./<>-]{3,160})"
)
_SEEN_IN = Pattern(
    r"(?i:\b(?:I|we) (?:\w+ )?(?:see|have|found|got)|there(?:'s| is| are))(?: an?| the| my| also){0,2} ['`\"]?(?P<library>lib(?:cu|nv)\w{2,20}\.so(?:\.\d+){0,3})['`\"]? (?:in|under|at|inside) ['`\"]?(?P<directory>/[\w./-]{3,160})"
)
_FILES = Pattern(
    r"(?:lib[\w.+-]{3,40}\s{1,8}){0,8}libcudnn\.so\s{1,8}(?:libcudnn[\w.-]{3,40}\s{1,8}){0,4}libcudnn\.so\.(?P<version>\d)(?:\.\d{1,2}){0,2}(?:\s|$)"
)
"""A list of files without their directory, in which cuDNN's link stands beside what it leads to."""
_LINKED = Pattern(
    r"\blib(?:cudart|cublas)\.so(?:\.\d{1,2})? -> (?:lib(?:cudart|cublas)\.so\.)(?P<version>(?:[789]\.\d|10\.0)(?![\d]))"
)
"""Up to 10.0 these libraries carry the toolkit's version."""
_NO_SUCH = Pattern(
    r"cannot open|Could not|No such file|not found|not there|does(?:n't| not) exist|is missing|dlerror|\bln -s|\bcp |\btrying file="
)
_ERROR_BEGINS = Pattern(r"\b(?:ImportError|OSError|lib\w{3,20}\.so|Could not|cannot open|cu\w{3,12}64_)")
"""In a title: what stands before it is what somebody has."""
_MESSAGE = Pattern(
    r"['\"`\u2018\u201c]?(?:Could not load dynamic library ['\"`]?[\w.]{3,40}['\"`]?; dlerror: [\w.]{3,40}(?:: cannot open shared object file: No such file or directory| not found)"
    r"|(?:ImportError: )?lib\w{3,20}\.so[\d.]{0,8}: cannot open shared object file(?:: No such file or directory)?"
    r"|ImportError: DLL load failed(?: while importing \w{1,60})?: The specified (?:module|procedure) could not be found\.?"
    r"|(?:ImportError: )?Could not find ['\"`]?[\w.]{3,40}\.dll['\"`]?\.(?: TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable\.)?)['\"`\u2019\u201d]?"
)
"""What a program says of a library that is lost, quoted in a sentence."""
_ASKED_LAST = Pattern(
    r"(?i:[,;] (?:what|how|why|any|can|could|please|is|where)\b[^,;?\n]{0,60}|[,\uff0c](?:\u8be5)?\u600e\u4e48[^,\uff0c?\uff1f\n]{0,20})[?\uff1f]$"
)
"""The question at the end of a sentence that tells something."""
_BUT = Pattern(
    r"(?<=, )(?=I've |I have |we have |we've )|(?i:\b(?:but|while|whereas|although|though|however|instead),? (?:actually )?(?=(?:I|we|my|I've|we've|mine|there|it|the|only|this|installed|have)\b))"
)
_ADDRESS = Pattern(r"https?://[^\s)]{1,300}")
_BUT_TENSORFLOW = Pattern(
    r"(?i:,? (?:but|while|whereas|although|though) (?:the |my |this )?(?:tensorflow|tf|wheel|package|build)\b)"
)
"""What stands before it is what somebody has."""
_OWN = Pattern(
    r"(?i:\b(?:with|have|has|on|using|under|got|and)(?: an?| the| my| our| only)? (?:nvidia )?(?P<what>cuda|cudnn)(?:[ -]toolkit)?[ -]v?(?P<version>\d{1,2}(?:\.\d{1,2}){0,2})"
    r" (?:is |was |are |being |already |properly |correctly )?(?:installed|installation|install|in place|set ?up)\b)"
    r"|(?i:\bcuda[ -](?:toolkit )?v?\d{1,2}\.\d(?: toolkit)?(?:,| and| &| \+|/) ?cudnn[ -]?v?\d{1,2}(?:\.\d){0,2} (?:are |were |is )?(?:both |all )?(?:correctly |properly )?installed\b)"
    r"|(?i:\b(?:I|we)(?: have|'ve)? (?:installed|have|use) (?:the )?(?:nvidia )?cuda(?:[ -]toolkit)?[ -]v?\d{1,2}(?:\.\d)?\b)"
)
"""What is called installed, in a line that also tells what is asked for."""
_HAS = Pattern(
    r"(?i:\b(?:have|has|I've|we've|only|there(?:'s| is| are)|contains?|see|got)\b[^.?!,;:]{0,30}?)(?<![\w/.])['`\"]?(?P<name>cudnn64_|libcudnn\.so\.|cudart64_|libcudart\.so\.)(?P<version>\d{1,3}(?:\.\d)?)\b"
)
"""A library that is there, by its name."""
_LISTED = Pattern(
    r"^(?:(?:\d{1,4}[./-]\d\d[./-]\d{2,4} |-a-{4} ).{0,80}\b|[A-Za-z]:\\[^:\n]{0,200}\\)?(?P<name>cudnn64_)(?P<version>\d)\.dll$"
    r"|^(?:\d{1,4}[./-]\d\d[./-]\d{2,4} |-a-{4} ).{0,80}\b(?P<name2>cudart64_)(?P<version2>\d{1,3})\.dll$"
)
"""A line of a directory of Windows."""
_INSTALLED_IN = Pattern(r"(?i)\\NVIDIA\\CUDNN\\v(\d{1,2}(?:\.\d{1,2}){0,2})\\")
"""Where cuDNN's installer for Windows puts it."""
_NO_LONGER = Pattern(r"\b(?:not|no|never|missing|if|should|must|cannot|unable|fails?|failed|could)\b|n't\b")
_NO_FILE = Pattern(
    r"(?:ls: cannot access|cat:) '?/usr/(?:local/cuda[^/\s']{0,8}|[\w/.-]{0,60}cudnn[\w*.]{0,20})'?: No such file"
    r"|no packages found matching (?:libcudnn|cuda-toolkit)|package '?libcudnn\d\S{0,20} is not installed|^bin\s{1,8}(?:(?!cuda)[\w.-]{1,20}\s{1,8}){3,12}src$"
)
_EXTRA = Pattern(r"(?:tensorflow|\d) ?\[and-cuda\]|nvidia-(?:cublas|cudnn|cuda-runtime)-cu1\d")
_CUDA_PATH = Pattern(r"/cuda-(\d{1,2}\.\d{1,2})")
_NOT_INSTALLED = Pattern(
    r"NVIDIA-SMI|[Dd]river|dlerror|cannot open|dso_loader|Could not|(?i:\b(?:needs?|requires?|required|supports?|wants?|asks?|asking|insists|expects?|look(?:ing|ed|s)? for|search(?:ing|ed|es)? for|compiled|"
    r"built|must|should|compatible|compatibility|download|(?:up|down)grad(?!ed (?:from |cudnn|cuda|to (?:tf|tensorflow|keras|python|ubuntu)\b|(?:tf|tensorflow|keras|python|ubuntu|pip)\b)[^\n?]{0,40})\w+|instead|which version|works? (?:with|on|for)|capability|smi|tested|docs?(?= (?:says?|lists?|states?|recommends?|mentions?|wants?|only|asks?|tells?)\b)|"
    r"available|available in|only has|without|no longer|don't have|not have|could)\b)"
)  # fmt: skip
_DRIVER = Pattern(r"(?i)\b(?:nvidia[ -])?drivers?(?: version)?[ :=]{0,2}v?\d{3}(?:\.\d{1,3}){0,2}\b")
_BOTH = Pattern(
    r"(?i)\bcuda(?: toolkit| version)?[ :=-]{0,2}v?\d{1,2}\.\d\b[^\n]{0,40}\bcudnn(?: version)?[ :=-]{0,2}v?\d"
)
"""Who names cuDNN beside it means the toolkit, and not what nvidia-smi says."""
_BUILT_WITH = Pattern(r"\bcu(?:da|dnn)_version['\"]?\W{1,3}\d")
"""A build's own information."""
_FIELD = Pattern(
    r"(?i)[-*# ]{0,8}(?:cuda ?[/&,] ?cudnn|cuda(?: and cudnn)?)(?: versions?)?(?:\*\*)?:(?:\*\*)? {0,3}(?P<value>\S.{0,60})"
)
_VERSIONS = Pattern(
    r"(?P<what>(?i:cuda|cudnn))?(?P<between>[^\w]{0,6}(?:(?i:toolkit|release|version|and|for|v)[ :=_-]{0,3}){0,2}|_)(?<![\d.])(?P<version>\d{1,2}(?:\.\d{1,3}){0,3})(?![\d.]*\d)"
)
_PUBLISHED = {7: 5, 8: 0, 9: 2, 10: 2, 11: 8, 12: 9, 13: 9}
"""CUDA's major versions, and the last minor version of each."""
_MAJORS_OF_CUDNN = range(4, 10)
_TWO_DIGITS = Pattern(r"[4-9]\d$")


def is_cuda(version: str) -> bool:
    """Whether CUDA has such a release: people write cuDNN's version into fields for both."""
    major, _, rest = version.partition(".")
    return int(rest.partition(".")[0] or 0) <= _PUBLISHED.get(int(major), -1)


def both(value: str, *, of_cudnn: bool) -> dict[str, str]:
    """CUDA's and cuDNN's versions in the field for them: '10.1/7.6', 'cuDNN 8.1, CUDA 11.2', '8.1' (which is no CUDA)."""
    found: dict[str, str] = {}
    for one in _VERSIONS.finditer(value):
        what, version = (one["what"] or "").lower(), one["version"]
        if not what and not one["between"].strip(" v:=") and found and one.start() and value[one.start() - 1].isalpha():
            continue  # the 'r11.2' of 'cuda_11.2.r11.2'
        if what == "cuda" or (not what and "cuda" not in found and is_cuda(version)):
            if is_cuda(version):
                found.setdefault("cuda", ".".join(version.split(".")[:2]))
        elif of_cudnn and int(version.partition(".")[0]) in _MAJORS_OF_CUDNN:
            found.setdefault("cudnn", version)
    return found


def _of_ones_own(text: str) -> str:
    """The part of a line that tells what somebody has, beside what is asked for."""
    if own := _BUT.search(text):
        rest = text[own.end() :]
    elif before := _BUT_TENSORFLOW.search(text):
        rest = text[: before.start()]
    else:
        error = _ERROR_BEGINS.search(text)
        rest = text[: error.start()] if error else ""
    rest = _ADDRESS.sub("", rest)
    return "" if _NOT_INSTALLED.search(rest) else rest


def _sentence(text: str) -> str:
    """Those sentences of a line that call something installed and speak of nothing that is asked for."""
    parts = _SENTENCES.sub("\n", text).split("\n") if text[:1].isalpha() else []
    own = (
        one for one in parts if _INSTALLED.search(one) and not _NOT_INSTALLED.search(one) and not _NO_LONGER.search(one)
    )
    return ". ".join(own) if len(parts) > 1 else ""


_TURNS = Pattern(
    r"(?<=\w[.!?;])\s+(?=\S)|(?i:,? \b(?:although|though|but|while|whereas|however|yet|even though)\b,? )|\.{3} "
)
"""Between what is said of the error and of what is there."""
_SENTENCES = Pattern(r"(?<=\w[.!?;])\s+(?=\S)")
_INSTALLED = Pattern(
    r"(?i:\b(?:is|are|was|were|have|has|got|i've|we've|my) (?:\w+ ){0,2}?installed\b|\binstalled:|\b(?:cuda|cudnn)(?: toolkit)? v?\d[\d.]{0,8} (?:\w+ )?installed\b|\bi (?:have|use|run|installed|fetched|took|chose)\b|\bmy (?:cuda|cudnn)\b)"
)


def _by_file(name: str, version: str) -> dict[str, str]:
    """The version that a library's file name tells."""
    if name in ("libcudnn.so.", "cudnn64_"):
        return {"cudnn": version}
    if name == "cudart64_" and int(version) >= 50:
        version = f"{version[:-1]}.{version[-1]}"
    return {"cuda": "11" if version.startswith("11") else version}


_MORE = Pattern(
    r"(?: ?, ?| ?,? (?:and|&|or|und|y|et) )(?:also )?(?:cuda[ -]?)?v?(?P<version>\d{1,2}\.\d)(?![\d.]*\d)",
    re.IGNORECASE,
)
"""Another one beside it: 'CUDA 9.0, 9.1 and 10.0'."""


def _others(text: str, at: int, number: int, notes: Notebook) -> None:
    """Writes down each further version of a list that goes on at a place of the line."""
    while (more := _MORE.match(text[at:])) and is_cuda(more["version"]):
        notes.note(
            TextEvent(line=number, language=LANGUAGE, kind=KIND, text=text[:LONGEST], values={"cuda": more["version"]})
        )
        at += more.end()


def line(text: str, number: int, notes: Notebook) -> Understood | None:
    """What a line names as installed."""
    if (field := _FIELD.match(text)) and "libcudnn" not in field["value"]:
        values = both(field["value"], of_cudnn="dnn" in text[: field.start("value")].lower())
        return Understood(KIND, values) if values else None
    if _ADVICE.match(text):
        return None
    if _NO_FILE.search(text):
        return Understood("no-cudnn-file" if "cudnn" in text.lower() else "no-toolkit", {})
    if "LD_LIBRARY_PATH" in text and (found := _CUDA_PATH.search(text, text.index("LD_LIBRARY_PATH"))):
        return Understood(KIND, {"cuda": found[1]})
    if _EXTRA.search(text):
        return Understood("names-extra", {})
    if (lies := _LIES_IN.search(text) or _SEEN_IN.search(text)) and not _NO_LONGER.search(text[: lies.end()]):
        seen = named(lies.groupdict())
        return Understood(SHOWN, {"directory": seen["directory"].rstrip("."), "library": seen["library"]})
    if _BUILT_WITH.search(text):
        return None
    if linked := _LINKED.search(text):
        return Understood(KIND, {"cuda": linked["version"]})
    if shown := next((m for m in _FILE.finditer(text) if m["library"][-1].isdigit()), None) or _FILE.search(text):
        if _NO_SUCH.search(text):
            parts = _TURNS.sub("\n", text).split("\n") if text[:1].isalpha() and ".cc:" not in text else []
            shown = next((m for one in parts if not _NO_SUCH.search(one) and (m := _FILE.search(one))), None)
            if shown is None:
                return None
        return Understood(SHOWN, {"directory": shown["directory"], "library": shown["library"]})
    if (replaced := _REPLACED.search(text)) and is_cuda(replaced["version"]) and not text.endswith("?"):
        return Understood(KIND, {"cuda": replaced["version"]})
    text = _ASKED_ABROAD.sub("", _REQUIRED.sub("", text))
    if (run := _RUNFILE.search(text)) and not _NO_SUCH.search(text[run.start() :]):
        return Understood(KIND, {"cuda": run[1]})
    if ".cc:" in text:
        return None
    if listed := _LISTED.match(text):
        file = named(listed.groupdict())
        return Understood(KIND, _by_file(file["name"], file["version"]))
    if files := _FILES.match(text):
        return Understood(KIND, {"cudnn": files["version"]})
    if places := set(_INSTALLED_IN.findall(text)):
        return Understood(KIND, {"cudnn": places.pop()}) if len(places) == 1 else None
    if text[:1].isalpha() and (quoted := _MESSAGE.search(text)) and quoted.start():
        around = _ASKED_LAST.sub("", _MESSAGE.sub(" ", text).rstrip())
        text = text if _NOT_INSTALLED.search(around) or around.endswith(("?", "\uff1f")) else around
    if text.endswith("?") and (said := _SENTENCES.sub("\n", text)).count("\n"):
        text = said.rpartition("\n")[0].replace("\n", " ")  # what is asked at the end tells nothing
    elif "?" in text and len(parts := _SENTENCES.sub("\n", text).split("\n")) > 1:
        text = " ".join(one for one in parts if not one.endswith("?")) or text
    if text.endswith("?") and "Error" not in text and "cannot open" not in text:  # the file's name alone tells
        has = _HAS.search(text)
        return Understood(KIND, _by_file(has["name"], has["version"])) if has else None
    without_cuda = False
    if _NOT_INSTALLED.search(text):
        own = _OWN.search(text)
        rest = own[0] if own else _sentence(text) or _of_ones_own(text)
        beside = not rest and _DRIVER.search(text) is not None
        without_cuda = beside and not _BOTH.search(text)
        if beside:
            rest = _DRIVER.sub("", text)
            rest = _sentence(rest) or ("" if _NOT_INSTALLED.search(rest) else rest)
        text = rest
    values = {}
    if (has := _HAS.search(text)) and not _NO_LONGER.search(text):
        values |= _by_file(has["name"], has["version"])
    if without_cuda:
        pass  # beside the driver's version it may be nvidia-smi's
    elif (found := next((m for p in _CUDA if (m := p.search(text))), None)) and is_cuda(found[1]):
        values["cuda"] = found[1]
        _others(text, found.end(), number, notes)
    elif found := _PACKAGE.search(text):
        values["cuda"] = f"{found['major']}.{found['minor']}"
    if found := next((m for p in _CUDNN if (m := p.search(text))), None):
        if _TWO_DIGITS.match(found[1]):  # 'cudnn82'
            values["cudnn"] = f"{found[1][0]}.{found[1][1]}"
        elif int(found[1].partition(".")[0]) in _MAJORS_OF_CUDNN or not is_cuda(found[1]):
            values["cudnn"] = found[1]
        else:  # 'cuDNN 11.1' is CUDA's version
            values.setdefault("cuda", ".".join(found[1].split(".")[:2]))
    return Understood(KIND, values) if values else None


_OF_UBUNTU = {"14": "5.5", "16": "7.5", "18": "9.1", "20": "10.1", "22": "11.5", "24": "12.0"}
"""Release of Ubuntu (its April) -> the CUDA of its own package nvidia-cuda-toolkit. Source: the packages, as apt and dpkg list them:
5.5.22-3ubuntu1, 7.5.18-0ubuntu1, 9.1.85-3ubuntu1, 10.1.243-3, 11.5.1-1ubuntu1, 12.0.140~12.0.1-4build4."""


_NOT_YET = {"nvcc-absent", "nvcc-lost", "no-toolkit"}
"""Who sees these has not installed it: it is what his shell proposes."""


def settle(notes: Notebook) -> None:
    """Who installed the distribution's toolkit has its version, and a cuDNN that was packaged for another names none beside it."""
    installed = [e for e in notes.events if e.kind == "distribution-toolkit-said"]
    releases = {e.values["release"] for e in notes.events if e.kind == "distribution-named"}
    if not installed or len(releases) != 1 or any(e.kind in _NOT_YET for e in notes.events):
        return
    for at, one in enumerate(notes.events):
        if one.kind == KIND and "+cuda" in one.text:
            kept = {name: version for name, version in one.values.items() if name != "cuda"}
            notes.events[at] = msgspec.structs.replace(one, values=kept)
    first, version = installed[0], _OF_UBUNTU[releases.pop()]
    notes.note(TextEvent(line=first.line, language=LANGUAGE, kind=KIND, text=first.text, values={"cuda": version}))
