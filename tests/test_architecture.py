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
    "errors": set[str](),
    "findings": {"facts"},
    "plugins": {"facts"},
    "registry": {"errors", "facts", "findings", "checks", "plugins"},
    "ignoring": {"findings", "registry"},
    "config": {"errors", "findings", "registry"},
    "alternatives": set[str](),
    "checks": {"facts", "findings", "registry", "compat", "checks", "patterns", "topology", "verdicts"},
    "compat": {"child", "compat", "facts", "loader", "patterns"},
    "topology": {"facts", "topology", "verdicts"},
    "verdicts": {"compat", "facts", "verdicts"},
    "child": set[str](),
    "patient": {"patient"},
    "loader": {"facts", "loader"},
    "logs": {"compat", "facts", "logs", "patterns"},
    "needed": {"alternatives"},
    "patterns": {"alternatives", "needed"},
    "kernels": {"facts"},
    "interpreter": {"errors", "probes"},
    "probes": {"secret_names", "facts", "loader", "logs", "child", "compat", "patient", "patterns", "probes"},
    "diagnosis": {"facts", "findings", "ignoring", "plugins", "registry", "textual"},
    "textual": {"compat", "facts", "findings", "patterns", "registry", "textual"},
    "state": set[str](),
    "baseline": {"", "bundle", "facts", "state"},
    "compare": {"", "bundle", "compare", "diagnosis", "facts", "findings", "redact", "registry", "verdicts"},
    "answer": {"findings"},
    "secret_names": set[str](),
    "credentials": {"secret_names"},
    "identifiers": {"bundle", "credentials"},
    "identity": {"credentials", "facts"},
    "redact": {"bundle", "credentials", "facts", "identifiers", "identity", "registry"},
    "archive": {"bundle"},
    "attachments": {"child", "facts", "probes"},
    "recorded": {"archive", "bundle", "collection"},
    "bundle": {"", "answer", "errors", "facts", "findings", "identifiers", "registry", "diagnosis", "verdicts"},
    "collection": {"", "child", "examine", "facts", "interpreter", "patient", "probes"},
    "examine": {"child", "facts", "interpreter", "probes", "kernels"},
    "trial": {"facts", "findings", "registry", "diagnosis", "kernels", "probes", "verdicts"},
    "exports": {"findings"},
    "mending": {"bundle", "diagnosis", "exports", "facts", "findings", "mending", "state"},
    "render": {
        "bundle",
        "compare",
        "compat",
        "facts",
        "findings",
        "logs",
        "mending",
        "registry",
        "render",
        "topology",
        "verdicts",
    },
    "api": {
        "bundle",
        "collection",
        "diagnosis",
        "examine",
        "facts",
        "findings",
        "interpreter",
        "pasted",
        "recorded",
        "redact",
        "registry",
        "trial",
        "verdicts",
    },
    "pasted": {"", "bundle", "facts", "logs", "registry"},
    "cli": {
        "",
        "api",
        "bundle",
        "child",
        "cli_baseline",
        "cli_bench",
        "cli_checks",
        "cli_diff",
        "cli_topo",
        "cli_compat",
        "cli_completion",
        "cli_log",
        "cli_report",
        "cli_run",
        "collection",
        "cli_fix",
        "cli_options",
        "examine",
        "exports",
        "findings",
        "interpreter",
        "mending",
        "progress",
        "registry",
        "render",
        "terminal",
        "verdicts",
    },
    "cli_checks": {"", "cli_options", "registry", "terminal"},
    "cli_completion": {"", "kernels", "registry", "terminal"},
    "cli_baseline": {
        "",
        "api",
        "baseline",
        "bundle",
        "cli_diff",
        "cli_options",
        "compare",
        "examine",
        "progress",
        "registry",
        "render",
        "terminal",
    },
    "cli_diff": {"", "api", "baseline", "bundle", "cli_options", "compare", "facts", "registry", "render", "terminal"},
    "cli_options": {
        "answer",
        "api",
        "bundle",
        "cli_completion",
        "config",
        "examine",
        "recorded",
        "registry",
        "render",
        "terminal",
    },
    "cli_report": {
        "",
        "api",
        "archive",
        "attachments",
        "bundle",
        "cli_options",
        "examine",
        "interpreter",
        "progress",
        "redact",
        "registry",
        "render",
        "terminal",
    },
    "cli_bench": {"api", "bundle", "examine", "kernels", "progress", "registry", "render", "terminal"},
    "cli_topo": {"api", "bundle", "cli_options", "examine", "kernels", "progress", "registry", "render", "terminal"},
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
    "cli_run": {"", "api", "bundle", "facts", "probes", "progress", "registry", "render", "terminal", "through"},
    "through": {"child"},
    "terminal": {"", "child", "render"},
    "progress": {"findings", "render"},
    "__main__": {"", "cli", "cli_log"},
    "library": {"api", "bundle", "config", "errors", "examine", "logs", "registry", "result"},
    "result": {"api", "bundle", "facts", "findings", "registry", "render", "terminal"},
    "__init__": {"bundle", "config", "errors", "interpreter", "library", "registry", "result"},
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
    imported: dict[str, str | None] = {}
    for path in PATIENT:
        for node in ast.parse(path.read_text()).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                name, module = alias.asname or alias.name, getattr(node, "module", None)
                if not getattr(node, "level", 0):
                    assert imported.setdefault(name, module) == module, name
            targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
            names += [t.id for t in targets if isinstance(t, ast.Name)]
            for name in names:
                assert owner.setdefault(name, path.stem) == path.stem, name


def test_every_file_of_the_patient_is_a_program() -> None:
    for name in patient.names():
        ast.parse(patient.program([f"{name}.anything"]), feature_version=(3, 6))
