"""The site builds without a network, every link leads somewhere, and every page can be reached."""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from gpudoctor import compat, registry
from gpudoctor.cli import app
from handbook import checks
from handbook.commands import commands
from handbook.markdown import plain
from handbook.pages import linked
from tests.running import ROOT

pytest.importorskip("mkdocs")


class Read(HTMLParser):
    """What a page says, leads to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.loaded: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        self.anchors |= {given[k] for k in ("id", "name") if k in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and given.get("rel") != "canonical":
            self.loaded.add(given["href"])
        elif "src" in given:
            self.loaded.add(given["src"])

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Read]:
    """Path -> page."""
    place = tmp_path_factory.mktemp("site")
    (place / "sitecustomize.py").write_text(
        "import socket\ndef refuse(*_):\n    raise SystemExit('the build asked the network')\nsocket.socket.connect = refuse\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place / "out")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    out = place / "out"
    return {str(p.relative_to(out)): Read(p.read_text()) if p.suffix == ".html" else Read("") for p in out.rglob("*.*")}


def target(page: str, link: str) -> tuple[str, str] | None:
    """The path and the anchor that a link on a page leads to; None: out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
    return ("index.html" if path == "." else path), unquote(parts.fragment)


def pages(site: dict[str, Read]) -> dict[str, Read]:
    return {p: page for p, page in site.items() if p.endswith(".html") and p not in ("404.html", "search.html")}


def test_every_link_leads_somewhere(site: dict[str, Read]) -> None:
    broken = []
    for path, page in pages(site).items():
        for link in page.links:
            found = target(path, link)
            if found is None:
                continue
            to, anchor = found
            if to not in site or (anchor and anchor not in site[to].anchors):
                broken.append(f"{path}: {link}")
    assert broken == []


def test_every_page_can_be_reached(site: dict[str, Read]) -> None:
    seen, left = set[str](), ["index.html"]
    while left:
        path = left.pop()
        if path not in seen and path in site:
            seen.add(path)
            left += [found[0] for link in site[path].links if (found := target(path, link))]
    assert set(pages(site)) <= seen


def test_nothing_is_loaded_from_elsewhere(site: dict[str, Read]) -> None:
    for path, page in pages(site).items():
        for link in page.loaded:
            found = target(path, link)
            assert found is not None, f"{path}: {link}"
            assert found[0] in site, f"{path}: {link}"


def test_every_page_of_docs_is_in_the_site(site: dict[str, Read]) -> None:
    assert {f"{p.stem}.html" for p in (ROOT / "docs").glob("*.md")} < set(site)
    assert {"index.html", "using.html", "contributing.html", "knowledge.html", "examples.html"} < set(site)
    assert "TensorFlow lists none; or it lists eight and two work" in site["index.html"].text


def words(text: str) -> str:
    return "".join(text.replace("`", "").split())


def test_every_check_has_its_page(site: dict[str, Read]) -> None:
    for one in registry.all_checks():
        page = site[f"checks/{one.cause}.html"]
        text = words(page.text)
        for paragraph in one.page.split("\n\n"):
            assert words(paragraph).rstrip(".") in text, one.cause
        assert one.code in page.text
        assert {f"{name}.html" for name in one.explains} <= page.links, one.cause
    listed = site["checks/index.html"]
    assert {f"{c.cause}.html" for c in registry.all_checks()} <= listed.links
    assert {*registry.SUBJECTS.values(), "symptom"} <= listed.anchors


def test_every_cause_says_how_it_is_proven(site: dict[str, Read]) -> None:
    for one in registry.all_checks():
        assert ("How it is proven" in site[f"checks/{one.cause}.html"].text) == (not one.is_symptom), one.cause


def test_names_lead_to_their_pages(site: dict[str, Read]) -> None:
    names = {f"checks/{c.cause}.html" for c in registry.all_checks()}
    assert names <= site["causes.html"].links
    assert len(names & site["proofs.html"].links) > 150


def test_the_matrix_has_every_release_with_a_source(site: dict[str, Read]) -> None:
    page = site["matrix.html"]
    for one in compat.releases():
        assert one.version in page.text
        assert words(one.source) in words(page.text), one.version
    for hazard in compat.matrix().hazards:
        assert words(hazard.effect) in words(page.text), hazard.id
    numbers = {link for link in page.links if link.startswith("#source-")}
    assert len(numbers) > 20


def test_every_example_is_shown_whole(site: dict[str, Read]) -> None:
    text = words(site["examples.html"].text)
    for path in (ROOT / "examples").rglob("*"):
        if path.is_file() and path.name != "README.md" and path.suffix != ".pyc":
            assert words(path.read_text()) in text, path


def test_every_command_and_option_is_shown(site: dict[str, Read]) -> None:
    text = site["commands.html"].text
    for one in commands(app):
        assert f"gpudoctor {one.name}" in text
        for option in one.options:
            assert ", ".join(option.names) in words(text).replace(",", ", "), option.names


def test_links_into_the_repository_lead_to_pages() -> None:
    text = "[a](../README.md#formats) [b](../CONTRIBUTING.md#add-a-check) [c](causes.md#x) [d](../examples/slurm) [e](#y) [f](https://x.y/z.md)"
    assert linked(text, "docs") == (
        "[a](using.md#formats) [b](contributing.md#add-a-check) [c](causes.md#x) [d](examples.md) [e](#y) [f](https://x.y/z.md)"
    )
    assert linked("[a](#try-it) [b](docs/causes.md) [c](compat/README.md)", readme=True) == (
        "[a](index.md#try-it) [b](causes.md) [c](knowledge.md)"
    )


def test_text_means_nothing_to_markdown() -> None:
    assert plain("a*b*_c_ <d> [e](f) `g*h`") == r"a\*b\*\_c\_ &lt;d&gt; \[e\](f) `g*h`"
    page = checks.page(registry.find("tf-wheel-runpath-gap"), "")
    assert page.startswith("# tf-wheel-runpath-gap\n")
    assert r"nvidia/\*/lib" in page


def test_the_build_leaves_the_sources_alone() -> None:
    assert not (ROOT / "docs" / "checks").exists()
    assert not list((ROOT / "docs").glob("matrix*"))
