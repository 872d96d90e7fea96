"""Which Python it is, by what programs print and commands name beside Python's own banner: sys.version, the launchers, uv, pyenv, a module."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_VERSION = r"[23]\.\d{1,2}(?:\.\d{1,2})?"


def _printed(values: Values, line: int, notes: Notebook) -> None:
    version = values.get("version") or f"{values['major']}.{values['minor']}" + (
        f".{values['micro']}" if "micro" in values else ""
    )
    notes.tell("python.version", version, line, 0)


def _claimed(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("python.version", values["version"], line, -1)


LANGUAGE = Language(
    name="pythons",
    words=(
        "(main,",
        "(default,",
        "(tags/",
        "version_info(",
        "python_version()",
        "Using CPython",
        "Using Python",
        "(set by",
        "-V:",
        "-64 *",
        "-32 *",
        "pip3.",
        "pip-3.",
        "pyenv",
        "python-version",
        "python_version",
        "Python.Python",
        "load ",
        "ml ",
        "py -3",
        "ii  python",
    ),
    kinds=(
        Kind(
            "python-printed",
            rf"^(?:Out\[\d+\]: ?)?['\"]?(?P<version>[23]\.\d{{1,2}}\.\d{{1,2}})[+\w]{{0,4}} (?:\|[^|\n]{{1,60}}\| ?)?\((?:main|default|tags/)"
            r"|\bsys\.version_info\(major=(?P<major>[23]), minor=(?P<minor>\d{1,2})(?:, micro=(?P<micro>\d{1,2}))?"
            rf"|\bUsing (?:CPython|Python) (?P<version2>{_VERSION})(?![\d.]*\d)"
            rf"|^\* (?P<version3>{_VERSION}) \(set by|^-V:(?P<version4>[23]\.\d{{1,2}})(?:-(?:64|32))? \*|^-(?P<version5>[23]\.\d{{1,2}})-(?:64|32) \*"
            r"|(?:^|[\s$#>`])(?:sudo )?pip-?(?P<version6>3\.\d{1,2}) (?:install|list|download)\b|^platform\.python_version\(\) (?P<version7>[23]\.\d{1,2}\.\d{1,2})$"
            r"|^ii +python[23]\.\d{1,2} +(?P<version8>[23]\.\d{1,2}\.\d{1,2})-",
            tell=_printed,
            once=True,
        ),
        Kind(
            "python-named",
            rf"\bpyenv (?:local|global|install|shell|virtualenv) (?P<version>{_VERSION})(?![\d.]*\d)"
            rf"|\bpython[-_]version['\"]? ?[:=] ?['\"]?(?P<version2>{_VERSION})['\"]?$"
            r"|\bPython\.Python\.(?P<version3>3\.\d{1,2})(?![\d.])"
            rf"|(?:\bmodule (?:load|add)|^(?:\S{{1,60}}[$#%>] ?)?ml) [^\n]{{0,80}}?\b[Pp]ython/(?P<version4>{_VERSION})"
            rf"|^(?i:(?:my |the )?python(?: version)?(?: here| in use)? is (?:ver\w{{0,4}} ?|v)?)(?P<version6>3\.\d{{1,2}}(?:\.\d{{1,2}})?)\W{{0,3}}$"
            r"|(?:^|[\s$#>`])py -(?P<version5>3\.\d{1,2})(?:-64)?(?![\d.])",
            tell=_claimed,
            once=True,
        ),
    ),
    foreign=True,
)
