"""The arrows of the house run down only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gpudoctor

PACKAGE = Path(gpudoctor.__file__).parent

# room -> the rooms of ours that it may import
ALLOWED = {
    "facts": {"facts"},
    "findings": {"facts"},
    "registry": {"facts", "findings", "checks"},
    "checks": {"facts", "findings", "registry", "compat", "checks"},
    "compat": set[str](),
    "child": set[str](),
    "patient": set[str](),
    "loader": {"facts", "loader"},
    "kernels": {"facts"},
    "probes": {"facts", "loader", "child", "compat", "probes"},
    "diagnosis": {"facts", "findings", "registry"},
    "bundle": {"", "facts", "findings", "registry", "diagnosis"},
    "examine": {"child", "facts", "probes", "kernels"},
    "trial": {"facts", "findings", "registry", "diagnosis", "probes"},
    "render": {"bundle", "facts", "findings"},
    "api": {"bundle", "diagnosis", "examine", "facts", "findings", "registry", "trial"},
    "cli": {"", "api", "bundle", "child", "examine", "findings", "registry", "render"},
    "__main__": {"", "cli"},
    "__init__": set[str](),
}


def modules() -> list[Path]:
    """Every module of the package, the linked rooms by their place inside it."""
    found = list(PACKAGE.glob("*.py"))
    for room in PACKAGE.iterdir():
        if room.is_dir():
            found += room.rglob("*.py")
    return [p for p in found if p.name != "in_patient.py"]


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
    limit = 800 if path.name == "patient.py" else 480
    assert len(path.read_text().splitlines()) <= limit


def test_the_patient_needs_the_standard_library_only() -> None:
    tree = ast.parse((PACKAGE / "patient.py").read_text(), feature_version=(3, 6))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    assert names - {"tensorflow"} <= {
        "ast", "ctypes", "errno", "functools", "glob", "importlib", "json", "os", "platform", "re", "select", "signal",
        "struct", "sys", "time", "traceback", "typing",
    }  # fmt: skip
