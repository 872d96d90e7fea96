"""The site: mkdocs calls these (mkdocs.yml). Pages that are made of something else are made here and kept nowhere."""

from __future__ import annotations

import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from handbook import checks, matrix, pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made to what lies in docs/."""
    for path, text in {**pages.made(), **checks.made(), "matrix.md": matrix.page()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead from a cause's name to its page, and from what lies beside docs/ to what is made of it."""
    if page.file.generated_by is None:
        markdown = pages.linked(markdown, "docs")
    if page.file.src_path not in ("causes.md", "proofs.md", "reading.md", "using.md"):
        return markdown
    names = checks.names()
    up = posixpath.relpath("checks", posixpath.dirname(page.file.src_path) or ".")

    def linked(found: re.Match[str]) -> str:
        name = found["name"]
        return f"{found['before']}[{name}]({up}/{name}.md){found['after']}" if name in names else found[0]

    in_tables = r"(?m)^(?P<before>\| GD\d{3} \| )(?P<name>[a-z0-9-]+)(?P<after> \|)"
    in_text = r"(?P<before>\*)(?P<name>[a-z0-9]+(?:-[a-z0-9]+)+)(?P<after>\*)"
    return re.sub(in_text, linked, re.sub(in_tables, linked, markdown))
