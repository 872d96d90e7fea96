"""CUDA libraries that were not found, wherever a text says so: a title, a sentence, the loader's words in the middle of a line.

TensorFlow's own lines and Python's errors have their readers. What the loader says counts as a program's line, what people
say of a library counts as prose.
"""

from __future__ import annotations

from ..facts import LibraryPick
from ..patterns import Pattern
from . import tensorflow_facts
from .language import Understood, named
from .notebook import Notebook

LANGUAGE = "lost-libraries"
WORDS = (
    "libcu",
    "nvcuda",
    "NVCUDA",
    "64_",
    "64.dll",
    "cudart",
    "cublas",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    " DSO",
)
_NAMES = "cudart|cublasLt|cublas|cufft|curand|cusolver|cusparse|cudnn"
_LIBRARY = rf"(?P<library>lib(?:{_NAMES})(?:\.so(?:\.\d{{1,2}}){{0,3}}|(?:\.\d{{1,2}}){{0,2}}\.dylib)|(?i:{_NAMES})_?64(?:_\d{{1,3}}(?:_\d{{1,2}})?)?\.dll)\b"
_QUOTE = r"['\"`*]{0,3}"
_TURNED = rf"^\W{{0,4}}{_LIBRARY}{_QUOTE} ?: ?[Cc]ould not (?:load|open)"
"""TensorFlow's words turned round, as in a title."""
_LOADER = Pattern(
    rf"{_LIBRARY}{_QUOTE}(?: ?: ?{_QUOTE}cannot open shared object|: ?No such file or directory| => not found"
    r"|: ?(?:file too short|invalid ELF header|cannot read file data|object file has no loadable segments))"
    rf"|(?i:importerror: ){_LIBRARY.replace('P<library>', 'P<library4>')}{_QUOTE}$|{_TURNED.replace('P<library>', 'P<library5>')} dynamic library"
    rf"|Library not loaded: {_QUOTE}(?:@rpath/|/[\w./-]{{1,100}}/)?{_LIBRARY.replace('P<library>', 'P<library3>')}"
    rf"|cannot open shared object file: {_QUOTE}(?P<library2>lib(?:{_NAMES})\.so(?:\.\d{{1,2}}){{0,3}})"
)
_IS_TURNED = Pattern(_TURNED)
_LIBCUDA = Pattern(
    r"\b(?:Cannot load libcuda\.so\.1$|libcuda\.so\.1: ?cannot open shared object|libcuda\.so\.1 => not found|[Cc](?:an't|annot) open shared object(?: file)?:? ['\"`]{0,2}libcuda\.so\.1|(?i:dlopen(?:ing)?(?: of)?) libcuda\.so(?:\.1)? (?:\w+ )?fail|(?i:nvcuda\.dll)['\"`]? (?:(?:was|is|could) )?(?:not (?:be )?found|missing)|Library not loaded: \S{0,60}libcuda(?:\.1)?\.dylib|(?i:\b(?:due to|because of|with)(?: an?| the)? missing (?:file |library )?['\"`]{0,2})libcuda\.so(?:\.1)?\b)"
)
_PROSE = Pattern(
    rf"(?:找不到|缺[少失了]?|没有找到|没找到|无法加载|加载不了|未找到) ?{_QUOTE}{_LIBRARY.replace('P<library>', 'P<library4>')}"
    rf"|(?i:\b(?:can(?:'|no)?t|cannot|can not|could ?n[o']t|could not|unable to|fail(?:s|ed|ing|ure)? (?:to|in)|not able to|didn't|doesn't|does not|did not)"
    rf" (?:\w+ ){{0,3}}?(?:find|load|locate|open|see|have|include|contain|provide|bring|detect)\w{{0,3}}\b[^.?!\n]{{0,40}}?)(?<![\w/.]){_QUOTE}{_LIBRARY}"
    rf"|(?i:\b(?:missing|no|lacks?|without|look(?:s|ing)? for|search(?:es|ing)? for|asks? for|wants?|requires?|needs?|expects?|tr(?:ies|ying) to (?:load|open)|goes (?:for|after))\b"
    rf"[^.?!\n]{{0,50}}?)(?<![\w/.]){_QUOTE}{_LIBRARY.replace('P<library>', 'P<library2>')}"
    rf"|(?<![\w/.]){_QUOTE}{_LIBRARY.replace('P<library>', 'P<library3>')}{_QUOTE}(?i: (?:\w+ ){{0,3}}?(?:(?:is|was|were|are) )?(?:missing|not (?:found|there|present|available|loaded|installed)"
    rf"|not to be found|could not be (?:found|loaded|opened)|couldn't be|can ?not be (?:found|loaded|opened)|can't be (?:found|loaded|opened)|(?:is |was )?(?:wanted|asked for|needed|required|expected|searched|looked for)\b|fails? to load|won't (?:load|open)|will not (?:load|open)|doesn't (?:load|open)|doesn't exist|does not exist|nowhere))"
)
_NO = r"will aber|will (?:die|das)\b|verlangt|braucht|ben\u00f6tigt|sucht|pide|busca|exige|requiere|cherche|demande|r\u00e9clame|\u0442\u0440\u0435\u0431\u0443\u0435\u0442|\u0438\u0449\u0435\u0442|no (?:se )?(?:encuentra|ha encontrado|puede (?:cargar|abrir|encontrar)|existe)|ne (?:trouve pas|peut pas (?:trouver|charger|ouvrir))|introuvable ?:|findet (?:die (?:datei )?|das )?|(?:me )?falta|(?:es )?fehlt|il manque|n\u00e3o (?:encontra|encontrou|consegue (?:carregar|abrir))|non (?:trova|trovo)"
_IS_NOT = (
    r"no (?:existe|se (?:encuentra|encontr\u00f3)|encontrad\w|est\u00e1|puede)|n'existe pas|n'est pas (?:trouv|l\u00e0)|introuvable|manque|nicht (?:gefunden|vorhanden|da\b|gefunden|findet|finden)|fehlt|kann nicht"
    r"|n\u00e3o (?:existe|foi encontrad|encontrad)|non (?:trovat|esiste)|\u043d\u0435 (?:\u043d\u0430\u0439\u0434|\u043d\u0430\u0445\u043e\u0434)|\u043e\u0442\u0441\u0443\u0442\u0441\u0442\u0432"
)
_ELSEWHERE = Pattern(
    rf"(?i:\b(?:{_NO})[^.?!\n]{{0,30}}?)(?<![\w/.]){_QUOTE}{_LIBRARY}"
    rf"|(?<![\w/.]){_QUOTE}{_LIBRARY.replace('P<library>', 'P<library2>')}{_QUOTE}(?: ?(?:\u627e\u4e0d\u5230|\u4e0d\u5b58\u5728|\u7f3a\u5931|\u6ca1\u6709\u627e\u5230|\u672a\u627e\u5230|\u65e0\u6cd5|\u304c\u898b\u3064|\u304c\u306a\u3044|\u304c\u3042\u308a\u307e\u305b\u3093)|(?i: (?:\w+ ){{0,3}}?(?:{_IS_NOT})))"
)
"""The same in other tongues."""
_TITLE = Pattern(
    rf"(?:(?:can't|cannot|can not|unable to|fail(?:s|ed)? to|when|while|error (?:on|at|in)) import(?:ing)?(?: \w+)?|ImportError|OSError|DLL load failed|loading shared libraries)\W{{1,3}}(?:of )?{_LIBRARY}(?!\.\d|\w| ?:| is (?:there|installed))"
)
"""The error without what the loader says of the file."""
_BY_VERSION = Pattern(
    r"(?i:\b(?:looks?|looking|search\w{0,3}|asks?|asking) for|\bwants?|\brequires?|\bneeds?|\bexpects?|\bcan(?:'t|not| not) (?:find|load)) (?:the )?(?:lib)?"
    r"(?P<name>(?i:cudart|cublas|cufft|curand|cusolver|cusparse))[ -]v?(?P<version>\d{1,2}\.\d)\b"
)
"""'looks for cublas 9.0'."""
_BY_NUMBER = Pattern(
    r"\b(?:lib)?(?P<name>(?i:cudart|cublas|cufft|curand|cusolver|cusparse))(?:64)?\b['\"`]?(?: (?!not\b|no\b)\w+){0,3}? (?i:(?:looks?|looking|search\w{0,3}|asks?|asking) for|wants?|requires?|needs?|expects?)"
    r" (?i:(?:an? |the |its )?(?:version |v)?)(?P<version>\d{1,2}(?:\.\d)?)\b(?! ?(?:GB|MB|files?|dlls?))"
)
"""'cusolver still looks for version 10'."""
_OWN = Pattern(
    r"\.cc:|Searching in backup paths|Could not load (?:dynamic )?library|Couldn't open CUDA|[Ss]uccessfully opened|^(?:sudo |\$ |# )?(?:ln|cp|find|ls|locate|export|ldconfig|whereis|mv) "
    r"|^(?:File|import|from) (?![^\n]{0,300}cannot open shared object)|Could not find '"
)
"""Lines that have their own readers, and commands."""
_DSO = Pattern(
    r"load (cu[A-Z]{2,5}|cuDNN) DSO|could not find cu\w{3,60} in (cublas|cudnn|cufft|curand|libcuda|cuda) DSO"
)
_LACKS = Pattern(
    r"(?i:\b(?P<function>(?!cudnnCreate\b)(?:cudnn\w{3,60}|\w{3,60}_v\d))['`\"]? (?:in |from )?(?:the )?cudnn DSO\b)"
    r"|cudnn DSO; dlerror: \S{0,200}libcudnn\.so[\d.]{0,8}: undefined symbol: (?P<function2>cudnn\w{3,60})"
)
"""cuDNN was opened, and is of another version; without one the first function that is sought is cudnnCreate."""
_IS_OLD = Pattern(r"\blibcuda\.so[\d.]{0,14}: undefined symbol")
"""It was opened, and lacks a function."""
_SAID = -2


def line(text: str, number: int, notes: Notebook) -> Understood | None:
    """What a line says of a library that was not found."""
    if " DSO" in text and (lacks := _LACKS.search(text)):
        return Understood("cudnn-lacks-function", named(lacks.groupdict()), "op-fails")
    if " DSO" in text and (dso := _DSO.search(text)):  # TensorFlow before 1.4
        name = f"lib{next(one for one in dso.groups() if one).lower().removeprefix('lib')}.so"
        if name == "libcuda.so":
            if _IS_OLD.search(text):
                return None
            notes.tell("driver.libcuda.path", None, number)
            notes.tell("driver.libcuda.load_error", text[:200], number)
        elif not notes.told("tensorflow.libraries"):
            tensorflow_facts.not_opened(name, number, notes)
            notes.tell("tensorflow.loader_ok", False, number)
        return Understood("library-not-loaded", {"library": name})
    if "[E:onnxruntime:" not in text and _OWN.search(text) and not _IS_TURNED.search(text):
        return None
    if _LIBCUDA.search(text):
        notes.tell("driver.libcuda.path", None, number)
        notes.tell("driver.libcuda.load_error", text[:200], number)
        return Understood("library-not-loaded", {"library": "libcuda.so.1"})
    found = _LOADER.search(text)
    weight = 0 if found else _SAID
    if found is None and len(text) > 600:
        return None
    if found := found or _PROSE.search(text) or _TITLE.search(text) or _ELSEWHERE.search(text):
        name = next(value for value in found.groups() if value)
        name = name.lower().replace("_64_", "64_") if name.endswith(".dll") else name
    elif found := _BY_VERSION.search(text) or _BY_NUMBER.search(text):
        name, version = found["name"].lower(), found["version"]
        name = f"{name}64_{version.replace('.', '')}.dll" if "dll" in text.lower() else f"lib{name}.so.{version}"
    else:
        return None
    told = notes.told("tensorflow.libraries") or ()
    if not any(pick.soname == name for pick in told):
        notes.add("tensorflow.libraries", LibraryPick(soname=name, picked=None), number, weight)
    notes.tell("tensorflow.devices", (), number, weight)
    notes.tell("tensorflow.loader_ok", False, number, weight)
    return Understood("library-not-loaded", {"library": name})
