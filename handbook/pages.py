"""Pages from what lies beside docs/: the README, CONTRIBUTING, the knowledge base's page, the examples, the commands."""

from __future__ import annotations

import functools
import posixpath
import re
from pathlib import Path

from gpudoctor.cli import app
from handbook.commands import Command, Parameter, commands
from handbook.markdown import plain, table

ROOT = Path(__file__).parent.parent
_ELSEWHERE = {
    "CONTRIBUTING.md": "contributing.md",
    "compat/README.md": "knowledge.md",
    "examples/README.md": "examples.md",
}
"""File -> its page."""
_SECOND = "## Let it do the fix\n"
"""Where the README's second page begins."""


def made() -> dict[str, str]:
    """Path in the site -> Markdown."""
    return {
        **{path: linked(text, readme=True) for path, text in _halves().items()},
        "contributing.md": linked((ROOT / "CONTRIBUTING.md").read_text()),
        "knowledge.md": linked((ROOT / "compat" / "README.md").read_text(), "compat"),
        "examples.md": _examples(),
        "commands.md": _commands(),
    }


@functools.cache
def _halves() -> dict[str, str]:
    """The README's pages."""
    start, heading, rest = (ROOT / "README.md").read_text().partition(_SECOND)
    assert heading, f"README.md has no section {_SECOND.strip()}"
    return {"index.md": start, "using.md": f"# Using it\n\n{heading}{rest}"}


def linked(text: str, directory: str = "", *, readme: bool = False) -> str:
    """`text`, of a file in `directory`, with links to files of the repository as links to their pages."""

    def page_of(found: re.Match[str]) -> str:
        path, sharp, anchor = found["target"].partition("#")
        if ":" in path or not (path or readme):
            return found[0]
        return f"]({_page(posixpath.normpath(posixpath.join(directory, path)) if path else 'README.md', anchor)}{sharp}{anchor})"

    return re.sub(r"\]\((?P<target>[^)\s]+)\)", page_of, text)


def _page(path: str, anchor: str) -> str:
    """The page of a file, or of the section of it that has this anchor."""
    if path == "README.md":
        holding = (
            p for p, half in _halves().items() for h in re.findall(r"(?m)^#+ (.+)$", half) if _anchor(h) == anchor
        )
        return next(holding, "index.md")
    if path.startswith("examples/"):
        return "examples.md"
    return _ELSEWHERE.get(path, path.removeprefix("docs/"))


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def _examples() -> str:
    """Their table, and then each."""
    text = (ROOT / "examples" / "README.md").read_text()
    paths = re.findall(r"\]\(([^)]+)\)", text)
    for path in paths:
        text = text.replace(f"]({path})", f"](#{_anchor(path)})")
    for path in paths:
        text += f"\n## {path} {{#{_anchor(path)}}}\n\n````\n{(ROOT / 'examples' / path).read_text()}````\n"
    return text


def _commands() -> str:
    parts = [
        "# Commands",
        "`gpudoctor COMMAND --help` shows the same. Exit codes: [Commands](using.md#commands). There is a manual page, too: `man gpudoctor`.",
    ]
    for one in commands(app):
        parts += [f"## gpudoctor {one.name}", plain(one.help), _parameters(one)]
    return "\n\n".join(parts) + "\n"


def _parameters(one: Command) -> str:
    rows = [
        (_name(p), plain(p.help + (f" (default: {p.default})" if p.default else "")))
        for p in (*one.arguments, *one.options)
    ]
    return table(("argument or option", "what it does"), rows)


def _name(one: Parameter) -> str:
    names = ", ".join(f"`{n}`" for n in one.names)
    return " ".join(part for part in (names, plain(one.value)) if part)
