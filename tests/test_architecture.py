"""The arrows of the house run down only."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import gpudoctor
from gpudoctor import patient

PACKAGE = Path(gpudoctor.__file__).parent

# room -> the rooms of ours that it may import
ALLOWED = {
    "facts": {"facts"},
    "findings": {"facts"},
    "registry": {"facts", "findings", "checks"},
    "checks": {"facts", "findings", "registry", "compat", "checks", "patterns"},
    "compat": {"child", "compat", "facts", "loader"},
    "child": set[str](),
    "patient": {"patient"},
    "loader": {"facts", "loader"},
    "logs": {"facts", "logs", "patterns"},
    "patterns": set[str](),
    "kernels": {"facts"},
    "interpreter": {"probes"},
    "probes": {"facts", "loader", "logs", "child", "compat", "patient", "patterns", "probes"},
    "diagnosis": {"facts", "findings", "registry", "textual"},
    "textual": {"facts", "findings", "registry", "textual"},
    "identifiers": {"bundle"},
    "redact": {"bundle", "facts", "identifiers", "registry"},
    "bundle": {"", "facts", "findings", "identifiers", "registry", "diagnosis"},
    "collection": {"", "child", "examine", "facts", "interpreter", "patient", "probes"},
    "examine": {"child", "facts", "interpreter", "probes", "kernels"},
    "trial": {"facts", "findings", "registry", "diagnosis", "probes"},
    "exports": {"findings"},
    "mending": {"bundle", "diagnosis", "exports", "facts", "findings", "mending"},
    "render": {"bundle", "compat", "facts", "findings", "logs", "mending", "render"},
    "api": {
        "bundle",
        "collection",
        "diagnosis",
        "examine",
        "facts",
        "findings",
        "pasted",
        "redact",
        "registry",
        "trial",
    },
    "pasted": {"", "bundle", "logs", "registry"},
    "cli": {
        "",
        "api",
        "bundle",
        "child",
        "cli_compat",
        "cli_log",
        "collection",
        "cli_fix",
        "examine",
        "exports",
        "findings",
        "interpreter",
        "mending",
        "progress",
        "registry",
        "render",
        "terminal",
    },
    "cli_compat": {"", "api", "compat", "examine", "facts", "progress", "render", "terminal"},
    "cli_fix": {
        "",
        "api",
        "bundle",
        "diagnosis",
        "examine",
        "exports",
        "findings",
        "interpreter",
        "mending",
        "progress",
        "render",
        "terminal",
    },
    "cli_log": {"", "api", "bundle", "logs", "pasted", "render", "terminal"},
    "terminal": {"", "child", "render"},
    "progress": {"findings", "render"},
    "__main__": {"", "cli", "cli_log"},
    "__init__": set[str](),
}


def modules() -> list[Path]:
    """Every module of the package, the linked rooms by their place inside it."""
    found = list(PACKAGE.glob("*.py"))
    for room in PACKAGE.iterdir():
        if room.is_dir():
            found += room.rglob("*.py")
    return found


def imports(path: Path) -> set[str]:
    """The rooms of gpudoctor that a module imports; '' is the package itself."""
    inside = ("gpudoctor", *path.relative_to(PACKAGE).with_suffix("").parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(inside[: len(inside) - node.level]) if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{whole}.{a.name}" for a in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "gpudoctor":
                room = parts[1] if len(parts) > 1 else ""
                found.add("" if room.startswith("__version") else room)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows_run_down(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert imports(path) <= ALLOWED[room]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 480


PATIENT = [p for p in sorted((PACKAGE / "patient").glob("*.py")) if p.name != "__init__.py"]


@pytest.mark.parametrize("path", PATIENT, ids=lambda p: p.stem)
def test_the_patient_needs_the_standard_library_only(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 6))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    assert names - {"tensorflow", "numpy"} <= sys.stdlib_module_names
    assert "__future__" not in names  # it would have to stand first in the program that is made of several files


def test_no_name_is_used_twice_in_the_patient() -> None:
    """Sent, its files are one program."""
    owner: dict[str, str] = {}
    for path in PATIENT:
        for node in ast.parse(path.read_text()).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            names += [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
            for name in names:
                assert owner.setdefault(name, path.stem) == path.stem, name


def test_every_file_of_the_patient_is_a_program() -> None:
    for name in patient.names():
        ast.parse(patient.program([f"{name}.anything"]), feature_version=(3, 6))
