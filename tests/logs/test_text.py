"""A text as people paste it gives the events of the text as the program wrote it."""

from __future__ import annotations

import contextlib
import html
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.logs import reader
from gpudoctor.logs.text import Binary, clean

HERE = Path(__file__).parent
TEXTS = [p.read_text() for p in sorted([*HERE.glob("*.log"), *(HERE / "h200").glob("*.log")])]
HEALTHY = (HERE / "h200" / "healthy.log").read_text().splitlines()

Events = list[tuple[str, str]]


def events(data: str | bytes) -> Events:
    """What was understood, without whitespace: where a line was cut at a space, it may be gone."""
    found = reader.read(clean(data)).text.events
    assert isinstance(found, tuple)
    return [(e.kind, "".join(e.text.split())) for e in found]


def coloured(line: str, at: int) -> str:
    at = min(at, len(line))
    return f"\x1b[1;31m{line[:at]}\x1b[0m\x1b[K{line[at:]}\x1b[39;49m"


def wrapped(line: str, width: int) -> str:
    return "\n".join(line[i : i + width] for i in range(0, len(line), width)) if line else line


def word_wrapped(line: str, width: int) -> str:
    lines, now = [], ""
    for word in line.split(" "):
        if now and len(now) + 1 + len(word) > width:
            lines.append(now)
            now = word
        else:
            now = f"{now} {word}" if now else word
    return "\n".join([*lines, now])


PREFIXES = (
    "2024-05-01T12:00:00.123456789Z ", "2024-05-01T12:00:00.123456789Z stderr F ", "2024-05-01T12:00:00+02:00 stdout F ",
    "May  1 12:00:00 gpu-host python3[4711]: ", "E       ", "tf-1  | ", "[pod/trainer-0/main] ", "[rank0]: ",
    "[1,0]<stderr>:", "(TrainWorker pid=4711, ip=10.0.0.1) ", "2024-05-01 12:00:00,123 - root - ERROR - ",
    "ERROR:tensorflow:", "INFO:root:", "> ", ">> ", "    ",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    text=st.sampled_from(TEXTS),
    colour=st.none() | st.integers(0, 60),
    quote=st.sampled_from(("", "> ", ">", "> > ")),
    fence=st.booleans(),
    ends=st.sampled_from(("\n", "\r\n")),
    entities=st.booleans(),
    encoding=st.sampled_from(("utf-8", "utf-8-sig", "utf-16")),
)
def test_what_is_around_a_text_changes_nothing(
    text: str, colour: int | None, quote: str, fence: bool, ends: str, entities: bool, encoding: str
) -> None:
    lines = text.splitlines()
    if colour is not None:
        lines = [coloured(line, colour) for line in lines]
    if entities:
        lines = [html.escape(line) for line in lines]
    if fence:
        lines = ["```text", *lines, "```"]
    pasted = ends.join(quote + line for line in lines) + ends
    assert events(pasted.encode(encoding)) == events(text)


@settings(max_examples=60, deadline=None)
@given(
    text=st.sampled_from([t for t in TEXTS if "NVIDIA-SMI" not in t]),  # pieces of a table stay what they are
    width=st.sampled_from((72, 80, 100, 120, 132)),
    words=st.booleans(),
    quote=st.sampled_from(("", "> ")),
    ends=st.sampled_from(("\n", "\r\n")),
)
def test_a_wrapped_text_is_made_whole(text: str, width: int, words: bool, quote: str, ends: str) -> None:
    wrap = word_wrapped if words else wrapped
    lines = "\n".join(wrap(line, width) for line in text.splitlines()).splitlines()
    whole, found = events(text), events(ends.join(quote + line for line in lines))
    assert [kind for kind, _ in found] == [kind for kind, _ in whole]
    # what follows an exception's last line may be taken for its end
    paired = [(said, was) for (kind, said), (_, was) in zip(found, whole, strict=True) if kind != "runs-on"]
    assert all(said[:40] == was[:40] for said, was in paired)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", ["cvd-minus1", "no-nvidia-wheels", "vlog-plain", "healthy"])
def test_what_tools_put_before_a_line(prefix: str, name: str) -> None:
    text = (HERE / "h200" / f"{name}.log").read_text()
    assert events("\n".join(prefix + line for line in text.splitlines())) == events(text)


@settings(max_examples=40, deadline=None)
@given(text=st.sampled_from(TEXTS), places=st.lists(st.integers(0, 100), max_size=len(HEALTHY)))
def test_lines_of_a_healthy_run_in_between_leave_the_fault(text: str, places: list[int]) -> None:
    lines = text.splitlines()
    for line, place in zip(HEALTHY, sorted(places), strict=False):
        lines.insert(min(place, len(lines)), line)
    assert set(events(text)) <= set(events("\n".join(lines)))


def test_a_notebook_output() -> None:
    text = (HERE / "h200" / "cvd-minus1.log").read_text()
    cells = "\n".join('      "' + line.replace('"', '\\"') + '\\n",' for line in text.splitlines())
    assert events(cells) == events(text)


def test_numbers_are_those_of_the_file() -> None:
    pasted = clean("one\n\n> two\r\nthree\rfour\n")
    assert [(line.number, line.text) for line in pasted.lines] == [(1, "one"), (3, "two"), (4, "three"), (4, "four")]
    assert pasted.count == 4


def test_bytes_that_are_no_utf_8() -> None:
    assert [line.text for line in clean(b"caf\xe9 \xff end\n").lines] == ["caf\ufffd \ufffd end"]
    assert clean("x\ny\n".encode("utf-16")).lines == clean("x\ny\n").lines
    assert clean("x y z\n".encode("utf-16")[2:]).lines == clean("x y z\n").lines  # its beginning was cut off


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01", b"PK\x03\x04rest", bytes(range(256)) * 40])
def test_what_is_no_text(data: bytes) -> None:
    with pytest.raises(Binary):
        clean(data)


def test_nothing() -> None:
    assert clean(b"").lines == ()
    assert clean(b"").count == 0


def test_lines_that_belong_to_nobody_are_not_joined() -> None:
    long = "I0000 00:00:1795203576.408741     951 gpu_device.cc:2365] " + "x" * 40
    assert len(clean(f"{long}\n{long}\nTraceback (most recent call last):\n").lines) == 3


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_anything_is_read(data: bytes) -> None:
    with contextlib.suppress(Binary):
        reader.read(clean(data))
