"""What readers of each format understand: the verdict, and the causes and open symptoms by name."""

from __future__ import annotations

import json as json_
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree as ET

from markdown_it import MarkdownIt
from markdown_it.token import Token
from prometheus_client.parser import text_string_to_metric_families


class Said(NamedTuple):
    """What a reader takes home."""

    verdict: str
    causes: list[str]
    """Root causes that are more than information, in their order."""


def json(text: str) -> Said:
    diagnosis = json_.loads(text)["diagnosis"]
    return Said(diagnosis["verdict"], [r["cause"] for r in diagnosis["root_causes"] if r["level"] != "info"])


def text(printed: str) -> Said:
    """Of a machine: by the last line."""
    last = printed.splitlines()[-1]
    words = {"✓ Healthy": "healthy", "? Unknown": "unknown", "Warning": "warning", "Faulty": "faulty"}
    named = re.search(r": \d+ root causes?: (.*)", last)
    return Said(words[last.partition(":")[0]], named[1].split(", ") if named else [])


def tokens(text: str) -> list[Token]:
    """Markdown's, with tables, inner ones after their paragraph."""
    found: list[Token] = []
    for one in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found += [one, *(one.children or ())]
    return found


def markdown(text: str) -> Said:
    """A cause is a heading with a mark, and the code below it."""
    every = tokens(text)
    causes = []
    for position, one in enumerate(every):
        if one.type == "heading_open" and one.tag == "h3" and every[position + 1].content[:1] in ("✗", "!"):
            below = next(n for n in range(position, len(every)) if every[n].type == "heading_close")
            causes.append(next(t.content for t in every[below:] if t.type == "code_inline"))
    (verdict,) = [m[1] for t in every if t.type == "inline" and (m := re.match(r"<sub>.*?verdict: (\w+)", t.content))]
    return Said(verdict, causes)


def junit(text: str) -> Said:
    properties = [(p.attrib["name"], p.attrib["value"]) for p in ET.fromstring(text).iter("property")]
    return Said(dict(properties)["verdict"], [value for name, value in properties if name == "root_cause"])


def prometheus(text: str) -> Said:
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    (verdict,) = [s.labels["verdict"] for s in samples if s.name == "gpudoctor_verdict" and s.value == 1]
    roots = [s.labels for s in samples if s.name == "gpudoctor_root_cause" and s.value == 1]
    return Said(verdict, [r["cause"] for r in roots if r["level"] != "info"])


class Annotation(NamedTuple):
    """What GitHub shows beside a run."""

    command: str
    title: str
    text: str


def commands(text: str) -> Iterator[Annotation]:
    """As GitHub's runner reads a step's output."""
    stopped = None
    for line in text.split("\n"):
        command = re.match(r"\s*::([\w-]+)(?: ([^\n]*?))?::(.*)", line)
        if stopped is not None:
            stopped = None if command and command[1] == stopped else stopped
        elif command and command[1] == "stop-commands":
            stopped = command[3]
        elif command and command[1] not in ("group", "endgroup"):
            properties = dict(p.split("=", 1) for p in (command[2] or "").split(",") if p)
            yield Annotation(command[1], _unescaped(properties.pop("title")), _unescaped(command[3]))
            assert properties == {}
        else:
            assert "##[" not in line or command
    assert stopped is None


def _unescaped(text: str) -> str:
    for code, letter in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def github(text: str) -> Said:
    every = list(commands(text))
    (verdict,) = [a.title.removeprefix("gpudoctor: ") for a in every if a.title.startswith("gpudoctor: ")]
    open_ = [a for a in every if a.text.endswith("shows what is left to look at.")]
    named = [a for a in every if a.command in ("error", "warning") and a not in open_]
    return Said(verdict, [a.title.split()[0] for a in named])


def oneline(text: str) -> Said:
    """The first cause; how many more there are is said."""
    assert text.endswith("\n")
    line = text[:-1]
    assert len(line) <= 200
    assert line.isprintable()
    verdict = re.match(r"gpudoctor: (\w+)", line)
    assert verdict
    cause = re.match(r"gpudoctor: \w+(?: \(\d+ findings? ignored\))?: (\S+) \(GD\d+\)(?: and (\d+) more)?: ", line)
    return Said(verdict[1], [] if cause is None else [cause[1], *["…"] * int(cause[2] or 0)])


class _Tree(HTMLParser):
    """Elements as they are written: each that is opened is closed, in its place."""

    VOID = ("meta", "link", "br", "hr", "img", "input")

    def __init__(self) -> None:
        super().__init__()
        self.builder, self.open = ET.TreeBuilder(), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in self.VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.builder.data(data)
        else:
            assert not data.strip()

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def page(text: str) -> ET.Element:
    """A page's elements."""
    tree = _Tree()
    tree.feed(text)
    tree.close()
    assert tree.open == []
    root: ET.Element = tree.builder.close()
    return root


def html(text: str) -> Said:
    root = page(text)
    verdict = root.find(".//*[@id='verdict']")
    assert verdict is not None
    articles = [one for one in root.iter("article") if one.attrib.get("id", "").startswith("cause-")]
    return Said(verdict.text or "", [one.findtext("p/code") or "" for one in articles])


READERS: dict[str, Callable[[str], Said]] = {
    "json": json,
    "markdown": markdown,
    "html": html,
    "junit": junit,
    "prometheus": prometheus,
    "github": github,
    "oneline": oneline,
}
