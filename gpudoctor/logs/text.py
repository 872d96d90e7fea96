"""Pasted text -> its lines, as the program wrote them: without colours, quotes, and what tools put before a line.

A line keeps the number that an editor shows, so that a proof can name it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

import msgspec

from ..patterns import Pattern, expect
from . import cut

LONGEST = 4000
"""Characters of a line that are kept."""


class Line(msgspec.Struct, frozen=True):
    """A line of the text; one that was wrapped is whole again and has the number of its first piece."""

    number: int
    text: str


class Pasted(msgspec.Struct, frozen=True):
    """A whole text."""

    lines: tuple[Line, ...]
    count: int
    """Lines of the file."""
    left_out: str | None
    """What was not read; None: all was."""


class Binary(ValueError):  # noqa: N818
    """Not a text."""


def clean(data: bytes | str) -> Pasted:
    """The lines of a text that is held whole. Raises Binary."""
    text = data if isinstance(data, str) else _decoded(data)
    if re.search("&(?:gt|lt|amp|quot|nbsp|#39|#x27);", text):
        import html

        text = html.unescape(text)
    text = text.replace("#012", "\r")  # syslog's line break
    expect(text)
    raw, count = [], 0
    for count, line in enumerate(text.split("\n"), 1):
        raw += [(count, piece) for piece in line.split("\r") if piece] if "\r" in line else [(count, line)]
    lines = [(number, *_bare(piece)) for number, line in raw for piece in _pieces(line)]
    joined = _rejoined(_unwrapped(lines))
    kept = [Line(n, own) for n, piece in joined if (own := _own(piece)[:LONGEST])]
    if kept:
        kept[-1] = Line(kept[-1].number, cut.completed(kept[-1].text))
    return Pasted(
        lines=tuple(kept),
        count=count - text.endswith("\n") if text else 0,
        left_out=None,
    )


_OVERLAP = 500


def _pieces(line: str) -> Iterator[str]:
    """A line; one that is too long in pieces, which overlap."""
    yield line[:LONGEST]
    for at in range(LONGEST - _OVERLAP, len(line) - _OVERLAP, LONGEST - _OVERLAP):
        yield line[at : at + LONGEST]


def cleaned(lines: Iterable[tuple[int, str]]) -> Iterator[Line]:
    """Single lines out of a long text: what was wrapped stays so."""
    for number, line in lines:
        for piece in line.split("#012") if "#012" in line else (line,):
            if own := _own(_bare(piece)[0])[:LONGEST]:
                yield Line(number, own)


_PRINTED = bytes(b for b in range(256) if b >= 32 and b != 127) + b"\t\n\r\f\b\x1b"
"""What stands in texts; the rest are control codes."""


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    zeros = data[:4096].count(0)
    if zeros and zeros >= len(data[:4096]) // 4:  # UTF-16 whose beginning was cut off
        for encoding, at in (("utf-16-le", 1), ("utf-16-be", 0)):
            if data[:4096][at::2].count(0) == zeros:
                return data[: len(data) & ~1].decode(encoding, "replace")
    refuse_binary(data)
    return data.decode("utf-8-sig", "replace").replace("\0", "")


def refuse_binary(data: bytes) -> None:
    """Raises Binary for what begins like no text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    if data.startswith((b"\x7fELF", b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"%PDF", b"MZ")):
        raise Binary
    if len(data[:4096].translate(None, _PRINTED)) > len(data[:4096]) // 20:
        raise Binary


# ------------------------------------------------------------------- what stands in a line and is not its text

_ESCAPE = Pattern(
    r"(?:\x1b|␛|\^\[)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78MNOc])"
    r"|\x9b[0-?]*[ -/]*[@-~]|\[(?:\d{1,3};)*\d{0,3}m|.\x08|[\u200b-\u200f\u2060\ufeff\x00-\x08\x0b-\x1f\x7f]"
)
_COLOUR = Pattern(r"\[(?:\d{1,3};)*\d{0,3}m")
"""What is left of one where the escape itself was lost."""
_QUOTE = Pattern(r"\s{0,4}(?:> ?){1,9}")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00b4\u2033", "''\"\"'\"")
"""What word processors make of quotation marks."""
_LINK = Pattern(
    r"\[((?:[IWEF] )?[\w./-]{1,120}\.(?:cc|h|cpp|cu|py|so)(?::\d{1,5})?)\]\(https?://[^()\s]{1,300}\)|(\.(?:cc|h):\d{1,5})<https?://[^<>\s]{1,300}>"
)
"""A place in a source, of which mail and forums make a link."""
_FENCE = Pattern(r"\s{0,20}(?:```+|~~~+)[\w-]{0,20}\s{0,20}$|\s{0,20}</?(?:pre|code|details|summary)>\s{0,20}$")
_NOTEBOOK = Pattern(r'\s*"(.*?)(?:\\n",?|",?)\s*$')


def _bare(line: str) -> tuple[str, int]:
    """A line without colours and quotes, and how wide it was on the screen."""
    if not line.isprintable() or "␛" in line or "^[" in line:
        line = _ESCAPE.sub("", line).replace("\xa0", " ")
    elif "[" in line:
        line = _COLOUR.sub("", line)
    if not line.isascii():
        line = line.translate(_QUOTES)
    width = len(line)
    if ">" in line[:6] and (quote := _QUOTE.match(line)):
        line = line[quote.end() :]
    if "](http" in line or "<http" in line:
        line = _LINK.sub(r"\1\2", line)
    if line[:1] in "`~<" or line.lstrip()[:1] in ("`", "~", "<"):
        line = "" if _FENCE.match(line) else line
    return line, width


_DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
_LEVEL = r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)"
_TOOL = Pattern(
    "|".join(
        (
            rf"{_DATE}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)\s+(?:std(?:out|err) [FP] )?",  # docker, kubectl, containerd
            r"std(?:out|err) [FP] ",
            r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./@-]+(?:\[\d+\])?: ",  # journald, syslog
            rf"{_DATE},\d+ +(?:-? *[\w.\[\]:-]+ +){{0,3}}?-? *\[?{_LEVEL}\]? *[-:]* +",  # Python's logging
            rf"{_LEVEL}:[\w.]+:(?:\d+:)? ?",
            r"\[[\w ./:,-]{1,60}\](?:<std(?:out|err)>)?:? +(?=\S)",  # [pod/x/y], [rank0]:, [1,0]<stderr>:, [12:00:01]
            r"\[\d+,\d+\]<std(?:out|err)>: ?",
            r"\((?:\w+ )?pid=\d+(?:, ip=[\d.]+)?\) ",  # ray
            r"[\w.-]{2,40} +\| (?!.*\|\s*$|(?:e?grep|awk|head|tail|less) )",  # compose; a row of a table ends with a bar
            r"E {3,}(?=\S)",  # pytest
        )
    )
)
_BOLD = Pattern(r"\*\*([\w-]{1,60}(?:[._][\w-]{1,60}){1,6})\*\*")
"""The name of a file, or a version, that somebody made bold; a heading stays as it is."""
_NOT_A_TOOL = Pattern(
    r"\[\d+:\d+:\d+\]$|\[(?:\d+|\s*\d+\.\d+)\] |\[(?i:solved|resolved|feature(?:[ -]request)?|enhancement)\]"
)


def _own(line: str) -> str:
    """The program's own words."""
    if (json := _NOTEBOOK.match(line)) and (line.rstrip().endswith(('\\n",', '\\n"')) or line.rstrip().endswith('",')):
        line = json[1].replace('\\"', '"').replace("\\u001b", "\x1b").replace("\\t", "\t")
        line = _ESCAPE.sub("", line)
    for _ in range(4):
        found = _TOOL.match(line)
        if found is None or not found.end() or _NOT_A_TOOL.match(line):
            break
        line = line[found.end() :]
    line = line.strip()
    if "  tensorflow/" in line:  # a table of a log, whose cells were pasted: blanks are doubled anywhere
        line = " ".join(line.split())
    if "**" in line:
        line = _BOLD.sub(r"\1", line)
    return line[1:-1].strip() if line[:1] == line[-1:] == "`" and line.count("`") == 2 else line


# ------------------------------------------------------------------- lines that were wrapped

_BEGINS = Pattern(
    rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF](?: |$)|[IWEF]\d{{4}} \d\d:\d\d:[\d.]+ +\d+ |{_DATE}|"
    r"[\w.]{1,100}(?:Error|Exception|Warning)(?::|$)|Traceback|File \"|[-=]{5}|\+[-=]|\||>>> |\$ |# |(?:WARNING|ERROR|INFO)[: ]|To enable|"
    r"Skipping reg|Could not locate |Process finished |\[?\w[\w.-]{0,80}:\d+:\d+ \[|\[ *\d+\.\d+\]|\(\d+\) [A-Z]|Detected at |\d+ (?:root err|successful op|derived err)|\[\[\{\{"
)
_STARTS_TEXT = Pattern(
    r"\s{0,20}(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF](?: |$)|[IWEF]\d{4} \d\d:\d\d:[\d.]+ +\d+ |[\w.]{1,100}(?:Error|Exception): |WARNING: "
    r"|(?:_?docker: )?(?:Error response from daemon|OCI runtime create failed|container_linux\.go)"
    r"|\(\d+\) [A-Z]{4,}: |\w[\w.-]{0,60}:\d+:\d+ \[\d+\] |\[ {0,6}\d+\.\d+\] NVRM: )"
)
_NARROWEST, _WIDEST = 50, 250


def _unwrapped(lines: list[tuple[int, str, int]]) -> Iterator[tuple[int, str]]:
    """Pieces of one line together, where the text was cut at one column: only lines of TensorFlow's and of Python's errors,
    and only what has no beginning of its own."""
    width = max(
        (w for _, t, w in lines if " " in t.strip()), default=0
    )  # a path that is longer is not cut between words
    full = sum(w >= width - 12 for _, _, w in lines)
    if not _NARROWEST <= width <= _WIDEST or full < 2:
        yield from ((n, text) for n, text, _ in lines)
        return
    cuts = [
        a[2]
        for a, b in itertools.pairwise(lines)
        if a[2] > width - 25 and _STARTS_TEXT.match(_stripped(a[1])) and not _begins(b[1])
    ]
    in_words = 10 * sum(w == width for w in cuts) < 9 * len(cuts)
    held: tuple[int, str, int] | None = None
    for number, text, wide in lines:
        if held is not None:
            cut = _cut(held[2], text, width, in_words)
            if cut is not None:
                held = (held[0], held[1] + cut + (text.lstrip() if cut else text), wide)
                continue
            yield held[:2]
            held = None
        if _STARTS_TEXT.match(_stripped(text)):
            held = (number, text, wide)
        else:
            yield number, text
    if held is not None:
        yield held[:2]


_MESSAGES = (
    (
        Pattern(r"Ignoring (?:visible )?gpu device \("),
        Pattern(r"[Tt]he minimum required \w+ (?:capability is \d+\.\d|count is \d)|multiprocessor count: \d+\.$"),
    ),
    (
        Pattern(r"Loaded (?:runtime )?[Cc]u[Dd][Nn][Nn] library:? \d"),
        Pattern(r"source was (?:compiled|built) (?:with|against):? \d"),
    ),
    (
        Pattern(r"Could not load (?:dynamic )?library '?lib[^\n]{1,60}(?:Error|dlerror): ?$"),
        Pattern(r"(?:E|dle)rror: ?\S"),
    ),
    (Pattern(r"\(from versions: [\w., ]{0,4000}$"), Pattern(r"\(from versions: [\w., ]{0,4000}\)")),
)
"""How messages begin that people break anywhere, and what stands in them when they are whole."""
_PIECES = 3


def _rejoined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Messages of TensorFlow's that were broken by hand, whole again."""
    held: tuple[int, str, Pattern] | None = None
    left = 0
    for number, text in lines:
        if held is not None:
            if left and not _begins(text):
                glue = "" if held[1].endswith(" ") else " "
                held, left = (held[0], held[1] + glue + text.lstrip(), held[2]), left - 1
                if not left or held[2].search(held[1]):
                    yield held[:2]
                    held = None
                continue
            yield held[:2]
            held = None
        end = next((end for begin, end in _MESSAGES if begin.search(text)), None)
        if end is None or end.search(text):
            yield number, text
        else:
            held, left = (number, text, end), _PIECES
    if held is not None:
        yield held[:2]


def _stripped(text: str) -> str:
    found = _TOOL.match(text)
    return text[found.end() :] if found else text


def _begins(text: str) -> bool:
    """Whether a line has a beginning of its own, or nothing in it."""
    bare = text.lstrip()
    return not bare or bool(_BEGINS.match(bare) or _BEGINS.match(_stripped(bare)))


def _cut(wide: int, after: str, width: int, in_words: bool) -> str | None:
    """What stood between a line of this width and the next piece: '' (cut within a word), ' '; None: it is another line."""
    if _begins(after):
        return None
    if wide == width and not in_words:
        return ""
    return " " if wide + 1 + len(after.split(None, 1)[0]) > width else None
