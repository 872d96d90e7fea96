"""Python's tracebacks and what people print: why an import failed, how many GPUs a program saw."""

from __future__ import annotations

import re

from ..facts import TensorFlowDevice, TextEvent
from ..patterns import Pattern
from . import tensorflow_facts
from .imports import OF_TF1
from .language import Understood
from .notebook import Notebook

LANGUAGE = "python"
CUT = "traceback-cut"
"""The kind of the last frame of a traceback with which a text ends."""
WORDS = (
    "Devices visible to",
    "Traceback",
    "Error",
    "[]",
    'File "',
    "import ",
    "PhysicalDevice",
    "GPU",
    "gpu",
    "tf.__version__",
    "tensorflow",
    "Device mapping",
    "name:",
    "nstallation of TensorFlow",
)
_ERROR = Pattern(r"(?P<error>(?:[\w.]{1,100}\.)?(?:\w{0,60}(?:Error|Exception)|SystemExit)): ?(?P<text>.*)")
_FRAME = Pattern(
    r'File \\?"(?P<file>[^"]+)", line \d+|File (?P<file2>[^",]{3,300}\.py)(?::\d+)?,? in |(?P<file3>[^\s",:]?:?[^\s",:]{2,300}\.py) in <?\w+'
    r"|File (?P<file4>[^\",]{3,300}\.py):\d+$"
)
"""As Python prints it, and the forms of IPython."""
_OF_TENSORFLOW = Pattern(
    r"(?:^|[/\\])tensorflow(?:_core|_cpu|_gpu|_intel)?[/\\]|pywrap_tensorflow|import tensorflow|[/\\]keras[/\\]"
)
_WITHOUT_A_PART = Pattern(r"No module named ['\"]?tensorflow[._]")
_IMPORTS = Pattern(r"(?:-+> ?\d+ +)?(?:from|import) tensorflow\b")
_LIBRARY = Pattern(r"(?P<library>lib(?:cu[\w]+|nv[\w]+)\.so[.\d]*): cannot open shared object file")
_AT_WORK = Pattern(
    r"GPU device not found|(?:UNKNOWN|INTERNAL|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|UNIMPLEMENTED): |CUDA error"
)
"""How errors of programs begin that have imported TensorFlow."""
_OWN = Pattern(
    r"(?!.{0,400}(?i:gpu|cuda|cudnn|cublas|nccl|nvidia|driver|device|nvcc|ptxas|nvlink|libdevice|\.so\b|\.dll\b|memory|numpy|protobuf|site-packages|bad marshal))"
    r"(?:(?:Unicode(?:Decode|Encode)|Syntax|Indentation|Tab|Name|UnboundLocal|Key|ZeroDivision|JSONDecode|FileNotFound|NotADirectory"
    r"|IsADirectory|FileExists|HTTP|URL|Type|Recursion)Error: "
    r"|AttributeError: '[\w.]{1,60}' object has no attribute"
    r"|(?:Value|InvalidArgument)Error: .{0,200}(?:[Ss]hape|[Dd]imension|\brank\b|could not convert string|not enough values to unpack|too many values to unpack|[Cc]annot feed|[Ll]ogits|[Ll]abels))"
)
"""Errors that no fault of a GPU's set-up brings about; not one by an index, which is how a list of no GPUs shows."""
_PACKAGE = Pattern(r"[/\\](?:site|dist)-packages[/\\](?P<package>\w{2,40}?)(?:\.py\b|[/\\])")
_OF_PYTHON = Pattern(r"[/\\][Ll]ib(?:64)?[/\\]|<frozen|pydev")
"""Where Python's own modules lie: what is called there is called for a package."""
_STATEMENT = Pattern(
    r"(?:-+> ?\d+ +)?(?:from (?P<package>[a-zA-Z]\w{1,40})[\w.]* import\b|__import__\(['\"](?P<package2>\w{2,40})['\"]\))"
)
_DEPENDS_ON = {
    "google", "pkg_resources", "setuptools", "six", "absl", "h5py", "wrapt", "gast", "astor", "termcolor", "grpc", "flatbuffers", "typing_extensions", "opt_einsum",
    "astunparse", "requests", "markdown", "werkzeug", "pandas", "scipy", "sklearn", "importlib_metadata", "rich", "namex", "optree", "jax", "ml_dtypes",
}  # fmt: skip
"""What TensorFlow imports of others' packages."""
_OF_PACKAGES = Pattern(r"[/\\](?:site|dist)-packages[/\\]")
_OF_DATA = Pattern(r"(?:Value|InvalidArgument)Error")
_LISTS_NONE = Pattern(
    r"^(?:(?:CUDA|GPU|cuda) is (?:not available|unavailable)|Torch is not able to use GPU|Error running command\.$)"
)
"""What containers.py reads, and what only passes on another program's error."""
_OLD = Pattern(rf"has no attribute '?{OF_TF1}|No module named ['\"]?tensorflow\.(?:contrib|examples)\b")
"""Told by the language of imports."""
_CUT_LIBCUDA = Pattern(r"libcuda\.so[.\d]*: (?:file too short|invalid ELF header)")
_PRINTED = (
    (
        "lists-no-gpu",
        Pattern(

                r"Num GPUs(?: Available)?:?\s*0\b|Device mapping: no known devices|No GPU (?:device )?(?:found|available)\b|^\[\]$|list_(?:physical"
                r"|logical)_devices\(.{0,30}?\[\]$"

                r"|\bGPUs?\b[^\[\]]{0,40}\[\]$|is_gpu_available\W{0,4}(?:(?:is|returns?) )?False"
                r"|gpu_device_name\(\) (?:''|\"\")"

                r"|list_(?:physical|logical)_devices\(.{0,30}?list\(\)$|^GPU device name: *$|^GPU is NOT AVAILABLE$|\bGPU is available: *False\b"
                r"|^Please install GPU version of TF$|^Not connected to a GPU$"

                r"|\[PhysicalDevice\(name='/physical_device:CPU:0', device_type='CPU'\)"
                r"(?:, PhysicalDevice\(name='/physical_device:XLA_CPU:0', device_type='XLA_CPU'\))?\]"
        ),
    ),
    ("lists-cpu", Pattern(
        r"(?:^|\W)name: ?\"/(?:device:CPU|cpu):0\"|^PhysicalDevice\(name='/physical_device:CPU:0', device_type='CPU'\)$")),
    ("lists-no-gpu", Pattern(r"Devices visible to TensorFlow:? \[_DeviceAttributes\(\S{0,60}device:CPU:0, CPU, \d+\)\]")),
    ("lists-gpus", Pattern(r"(?:^|\W)name: ?\"/(?:device:GPU|gpu):(?P<index>\d+)\"")),
    ("lists-gpus", Pattern(
        r"PhysicalDevice\(name='/physical_device:GPU:(?P<index>\d+)'|Num GPUs(?: Available)?:\s*"
        r"(?P<count>[1-9]\d*)\b")),
    ("lists-xla-gpu", Pattern(r"device_type(?:: ?\"|=')XLA_GPU\b|device:XLA_GPU:0\b")),
)  # fmt: skip
_VERSION = Pattern(
    r"(?:tf\.__version__|tensorflow\.__version__|TensorFlow version|tensorflow version)[^\d\n]{0,12}"
    r"(?P<version>[012]\.\d+\.\d+(?:rc\d|-rc\d)?)"
)
_NONE_FOR_R = Pattern(
    r"(?i:.{0,240}\bimport error: No module named '?tensorflow'?$)|(?:Error: )?(?:Valid installation|Installation) of TensorFlow not found\b|tensorflow: +\[NOT FOUND\]$"
)
_CUT, _SYMPTOM, _FAILED = -2, 1, 2


def _is_of_import(error: str, said: str) -> bool:
    """Whether an error in one of TensorFlow's files says that it can't be imported; others' modules are asked for later, too."""
    return "Import" in error or (error == "ModuleNotFoundError" and _WITHOUT_A_PART.match(said) is not None)


class Reader:
    """Reads line by line; a traceback is what it remembers."""

    def __init__(self, notes: Notebook) -> None:
        self.notes = notes
        self._in_tensorflow = False
        self._importing = False
        self._traceback = False
        self._in_package = False
        """The last frame is a package's, not the program's own."""
        self._deepest = ("", 0)
        """The package of the last frame of a traceback, and its line."""
        self._cut = 0
        """The line of an import of TensorFlow within a traceback whose end is not there yet."""
        self._frame = self._last = 0
        """The lines of the last frame, and of the text so far."""

    def line(self, text: str, number: int) -> Understood | None:
        """The kind of a line, and what it names."""
        self._last = number if text.strip("`~ ") else self._last
        if text.startswith("Traceback"):
            self._in_tensorflow = self._importing = self._in_package = False
            self._deepest = ("", 0)
            self._traceback = True
            return None
        if frame := _FRAME.match(text):
            file = next(one for one in frame.groups() if one)
            self._frame = number
            self._in_tensorflow |= bool(_OF_TENSORFLOW.search(file))
            self._in_package = _OF_PACKAGES.search(file) is not None
            if not _OF_PYTHON.search(file):
                self._deepest = ("", 0)
            self._goes_into(_PACKAGE.search(file), number)
            return None
        if self._in_tensorflow or self._importing:
            self._goes_into(_STATEMENT.match(text), number)
        if _OF_TENSORFLOW.search(text) and re.match(r"(?:-+> ?\d+ +)?(?:import |from )", text):
            self._importing = True
            self._cut = number if self._in_tensorflow else self._cut
            return None
        if self._in_tensorflow and _IMPORTS.match(text):
            self._cut = number
        if (error := _ERROR.match(text.lstrip("`'\" E"))) is not None:
            return self._error(error["error"], error["text"], text, number)
        return self._printed(text, number)

    def finish(self) -> None:
        """What a text tells that ends within a traceback: something fails, or an import, and why is not there."""
        if self._traceback and self._frame and self._last - self._frame <= 1:
            self.notes.note(TextEvent(line=self._frame, language=LANGUAGE, kind=CUT, text="the traceback is not whole"))
        if self._cut and not any(e.symptom for e in self.notes.events):
            if absent := next((e for e in self.notes.events if e.kind == "libcuda-absent"), None):
                self.notes.tell("driver.libcuda.path", None, absent.line, _CUT)
                self.notes.tell("driver.libcuda.load_error", absent.text, absent.line, _CUT)
                return
            self.notes.tell("tensorflow.import_error", "the traceback is not whole", self._cut, _CUT)
            self._ends_in_another()

    def _goes_into(self, found: re.Match[str] | None, line: int) -> None:
        if found is not None:
            self._deepest = next(one for one in found.groups() if one), line

    def _ends_in_another(self) -> None:
        """The import of TensorFlow fails within a package that it imports."""
        package, line = self._deepest
        if package in _DEPENDS_ON:
            values = {"package": package}
            self.notes.note(TextEvent(line=line, language=LANGUAGE, kind="import-ends-in", text=package, values=values))

    def _error(self, name: str, said: str, text: str, line: int) -> Understood | None:
        self._cut = 0
        notes, of_import = self.notes, self._importing or (self._in_tensorflow and _is_of_import(name, said))
        of_import = of_import and _AT_WORK.match(said) is None
        if _CUT_LIBCUDA.search(said):
            notes.tell("driver.libcuda.path", None, line, _FAILED)
            notes.tell("driver.libcuda.load_error", said, line, _FAILED)
            notes.tell("tensorflow.import_error", text, line, _FAILED)
            return Understood("library-not-loaded", {"library": "libcuda.so.1"})
        if library := _LIBRARY.search(said):
            if library["library"].startswith("libcuda.so"):
                notes.tell("driver.libcuda.path", None, line, _FAILED)
                notes.tell("driver.libcuda.load_error", said, line, _FAILED)
            else:
                notes.tell("tensorflow.loader_ok", False, line, _SYMPTOM)
                tensorflow_facts.not_opened(library["library"], line, notes)
            notes.tell("tensorflow.import_error", text, line, _FAILED)
            return Understood("library-not-loaded", {"library": library["library"]})
        if re.match(
            r"No module named ['\"]?tensorflow['\"]?(?:$|[,.]? +(?!is not a package|[^\n]{0,200}(?i:jupyter|notebook|kernel|terminal|shell|pycharm|code|installed))(?=[a-zA-Z]))",
            said,
        ):
            notes.tell("tensorflow.directory", None, line, _FAILED)
            return Understood("no-tensorflow", {})
        if said.endswith("Traceback (most recent call last):"):
            return None
        if _OLD.search(said) or _LISTS_NONE.search(said):
            return None
        if not of_import:
            if not self._traceback:
                return None
            own = _OWN.match(f"{name.rpartition('.')[2]}: {said}") and (not self._in_package or _OF_DATA.search(name))
            return Understood("benign-own-error" if own else "error", {"error": name}, None if own else "op-fails")
        notes.tell("tensorflow.import_error", text, line, _FAILED)
        self._ends_in_another()
        return Understood("import-failed", {"error": name})

    def _printed(self, text: str, line: int) -> Understood | None:
        notes = self.notes
        if version := _VERSION.search(text):
            notes.tell("tensorflow.version", version["version"], line)
            return Understood("tensorflow-version", {"version": version["version"]})
        if _NONE_FOR_R.match(text):
            notes.tell("tensorflow.directory", None, line, _FAILED)
            return Understood("no-tensorflow", {})
        for kind, pattern in _PRINTED:
            if pattern.search(text) is None:
                continue
            if kind == "lists-no-gpu" and text != "[]":
                notes.tell("tensorflow.devices", (), line, _SYMPTOM)
            elif kind == "lists-cpu":
                notes.tell("tensorflow.devices", (), line)
            elif kind == "lists-gpus":
                for one in pattern.finditer(text):
                    _list(one, line, notes)
            return Understood(kind, {}) if text != "[]" else None
        return None


def _list(found: re.Match[str], line: int, notes: Notebook) -> None:
    """The GPU that a line names, or as many as it counts."""
    first = int(found["index"] or 0)
    for index in range(first, int(found.groupdict().get("count") or first + 1)):
        name = f"/physical_device:GPU:{index}"
        if not any(d.name == name for d in notes.told("tensorflow.devices") or ()):
            notes.add("tensorflow.devices", TensorFlowDevice(name=name, type="GPU"), line)
