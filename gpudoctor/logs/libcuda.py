"""Where libcuda lies and which one is found: ldconfig, ldd, ls and find, the loader's paths; WSL's, stubs, compat libraries."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_PATH = r"(?P<path>/[\w./+-]{1,200}/libcuda\.so(?:\.\d[\d.]{0,14})?)"
_LINKED = 1


def _found(values: Values, line: int, notes: Notebook) -> None:
    _lies(values, line, notes)
    notes.tell("driver.libcuda.path", values["path"], line, _LINKED)


def _lies(values: Values, line: int, notes: Notebook) -> None:
    notes.add("driver.libcuda.candidates", values["path"], line)
    if values["path"].startswith("/usr/lib/wsl/"):
        notes.tell("system.wsl", True, line)


def _linked(values: Values, line: int, notes: Notebook) -> None:
    """The release is that of the driver's libraries, unless it is a library for forward compatibility."""
    _lies(values, line, notes)
    if values["path"].startswith(("/usr/lib", "/lib", "libcuda")):
        notes.tell("driver.libcuda.version", values["library"], line)


def _absent(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.path", None, line, _LINKED)
    notes.tell("driver.libcuda.load_error", "libcuda.so.1 could not be opened", line)


def _not_in_process(values: Values, line: int, notes: Notebook) -> None:
    """TensorFlow looks among the libraries of its process where cuInit fails; a stub that answered is not seen as one."""
    if not notes.told("driver.libcuda.init_result"):
        _absent(values, line, notes)


def _versions(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.version", values["library"], line, _LINKED)
    notes.tell("driver.kernel_version", values["kernel"], line, _LINKED)


def _wsl(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("system.wsl", True, line)


LANGUAGE = Language(
    name="libcuda",
    words=("libcuda", "libnvidia-", "stubs", "compat", "3.4.0", "microsoft", "Microsoft", "/wsl/", "stub library"),
    kinds=(
        Kind(
            "stub-mapped",
            r"^[0-9a-f]{6,16}-[0-9a-f]{6,16} [rwxps-]{4} [^\n/]{0,60}(?P<path>/[\w./+-]{1,200}/stubs/libcuda\.so[\d.]{0,14})"
            r"|libcuda\.so\.1 (?:\([^)]{0,40}\) )?=> (?P<path2>/[\w./+-]{1,200}/stubs/libcuda\.so[\d.]{0,14})"
            r"|(?<![\w./+-])(?P<path3>/[\w./+-]{1,200}/stubs/libcuda\.so[\d.]{0,14}): undefined symbol",
            tell=_lies,
        ),
        Kind("libcuda-mapped", r"^Mapped libcuda\.so paths"),
        Kind("libcuda-found", rf"libcuda\.so\.1 (?:\([^)]{{0,40}}\) )?=> {_PATH}", tell=_found),
        Kind(
            "libcuda-absent",
            r"(?<!Error: )libcuda\.so(?:\.1)?\W{1,4}(?:cannot open(?: shared object file|;|,|$)|(?:is |was )?(?:not found|missing)|does(?:n't| not) exist)"
            r"|\b(?:missing|lacks?|lacking|lack of)(?: the| file)? libcuda\.so(?:\.1)?(?![\w.]*\d)",
            tell=_absent,
        ),
        Kind("libcuda-not-in-process", r"unable to find libcuda\.so DSO loaded", tell=_not_in_process),
        Kind(
            "versions-reported",
            r"libcuda reported version is: (?P<library>\d[\d.]{2,15}\d) kernel reported version is: (?P<kernel>\d[\d.]{2,15}\d)",
            "driver-does-not-load",
            _versions,
        ),
        Kind(
            "benign-wsl-link",
            r"ldconfig\S{0,10}: (?P<path>/usr/lib/wsl/lib/libcuda\.so\S{0,6}) is not a symbolic link",
            tell=_lies,
        ),
        Kind(
            "libcuda-linked",
            r"(?P<path>(?:/[\w./+-]{1,200}/)?libcuda\.so\.1) -> (?:/[\w./+-]{1,200}/)?libcuda\.so\.(?P<library>\d{3}\.\d[\d.]{0,8})$",
            tell=_linked,
        ),
        Kind("libcuda-lies", rf"^(?:[-l][rwx-]{{9}}[.+@]? .{{5,120}} )?{_PATH}(?: -> \S{{1,200}})?$", tell=_lies),
        Kind(
            "stubs-on-path",
            r"(?:LD_LIBRARY_PATH|LIBRARY_PATH|ld\.so\.conf|(?<!R)(?<!RUN)PATH)\b.{0,400}/stubs\b|/stubs\b['\"]? ?>+ ?/etc/ld\.so\.conf"
            r"|ln -s\S{0,3} .{0,200}/stubs/libcuda\.so|\blibcuda\.so\.1 -> (?:\S{0,200}/stubs/)?libcuda\.so$"
            r"|^\W{0,3}/\S{0,200}/lib64/stubs/?:/",
        ),
        Kind("driver-library-lost", r"\blibnvidia-[a-z-]{2,24}\.so\.(?P<release>\d{3}\.\d[\d.]{0,8}\d): cannot open"),
        Kind("libcuda-without-release", r"libcuda reported version is: Invalid argument: expected [^\n]{0,60}got \"1\""),
        Kind("nvml-stub", r"libnvidia-ml\.so in GDK package is a stub library", "driver-does-not-load"),
        Kind("compat-on-path", r"LD_LIBRARY_PATH\b.{0,400}/cuda[\w.-]{0,10}/compat\b|/cuda[\w.-]{0,10}/compat\b['\"]? ?>+ ?/etc/ld\.so\.conf"),
        Kind("wsl-1", r"\b4\.4\.0-\d{4,5}-Microsoft\b|\bLinux \S{1,40} 3\.4\.0\+ |/lib/modules/3\.4\.0\+/|\b3\.4\.0-Microsoft\b"),
        Kind("wsl", r"microsoft-standard|\d-Microsoft\b|/usr/lib/wsl/lib\b", tell=_wsl),
    ),
)  # fmt: skip
