"""What was measured: a map of what each two GPUs reach, a bar beside what is to be expected for each kernel and device, and every
measurement with its conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...facts import TRAINING, Load, Measurement, Unread
from ...verdicts import Verdict
from .. import measured
from ..view import View
from .markup import Child, Markup, capped, folded, table, tag

_PAIRS = ("copy-pair", "copy-pair-no-peer", "all-reduce-pair")
_MOST_GPUS, _MOST_MAPS, _MOST_GROUPS, _MOST_BARS, _MOST_ROWS = 64, 12, 200, 64, 1_500
_OPEN = 16
"""A kernel of more bars is folded."""
STEPS = 9
"""Of the map's colours."""

Judged = tuple[Measurement, Verdict | None]


def section(view: View) -> Iterator[Markup]:
    """Nothing where nothing was measured."""
    every, left = capped([(one, verdict) for one, verdict in view.measured if not one.skipped], _MOST_ROWS)
    groups = list(_groups(every).values())
    between = [ones for ones in groups if ones[0][0].kernel in _PAIRS][:_MOST_MAPS]
    if between:
        yield tag("h3", "Between each two GPUs")
        yield tag("div", [_map(measured.what(ones[0][0]), ones) for ones in between], class_="maps")
        yield _scale(judged for ones in between for judged in ones)
        yield from map(_bars, between)
    shown, more = capped([ones for ones in groups if ones not in between], _MOST_GROUPS)
    if shown:
        yield tag("h3", "Measured against expected")
        yield _key()
        yield tag("div", [_bars(ones) for ones in shown], class_="figures")
    if more is not None:
        yield more
    if any(one.kernel == TRAINING for one, _ in every):
        said = [*measured.beside_native(view.report.seen), *measured.speed_ups(view.report.measurements)]
        if said:
            yield tag("h3", "Side by side")
            yield tag("ul", (tag("li", one.strip()) for one in said))
    if every:
        yield folded("Every measurement, with its samples and conditions", _conditions(every))
    if left is not None:
        yield left
    yield from _not_measured(view)


def _figure(value: float, unit: object) -> Markup:
    """Three digits to read, all of them for a program."""
    words = measured.rate(value, value, unit if isinstance(unit, str) else "")
    return tag("data", words.strip(), value=repr(value))


# ------------------------------------------------------------------------------- a map of pairs


def _map(what: str, ones: list[Judged]) -> Markup:
    """Rows and columns are GPUs, as CUDA numbers them in the examined process."""
    cells: dict[tuple[str, str], Judged] = {}
    for one, verdict in ones:
        first, _, second = one.device.partition(",")
        cells[first, second] = one, verdict
        if one.kernel.startswith("all-reduce"):  # of two alone: it has no direction
            cells.setdefault((second, first), (one, verdict))
    names = sorted({name for pair in cells for name in pair}, key=lambda name: (len(name), name))
    if len(names) > _MOST_GPUS:
        return tag("p", f"{what}: {len(names):,} GPUs, too many for a map.", class_="cut")
    most = max((one.value for one, _ in cells.values() if isinstance(one.value, float)), default=0.0)
    units = {one.unit for one, _ in ones if isinstance(one.unit, str)}
    unit = units.pop() if len(units) == 1 else None
    head = tag("tr", tag("td"), (tag("th", name, scope="col") for name in names))
    rows = (
        tag("tr", tag("th", one, scope="row"), (_cell(cells.get((one, other)), most, one == other) for other in names))
        for one in names
    )
    direction = "" if ones[0][0].kernel.startswith("all-reduce") else ", from row to column"
    title = f"{what}{direction}{f', {unit}' if unit else ''}"
    inside = tag("table", tag("thead", head), tag("tbody", rows), class_="heat", aria_label=title)
    box = tag("div", inside, class_="wide", tabindex=0, role="region", aria_label=title)
    return tag("figure", tag("figcaption", title), box)


def _cell(judged: Judged | None, most: float, is_itself: bool) -> Markup:
    if judged is None:
        return tag("td", "·" if is_itself else "-", title=None if is_itself else "not measured", class_="none")
    one, verdict = judged
    if not isinstance(one.value, float):
        return tag("td", "✗ failed", class_="bad", title=one.failed)
    step = round((STEPS - 1) * max(0.0, min(1.0, one.value / most))) if most > 0 else 0
    mark, is_bad = _mark(one, verdict)
    shown = tag("data", f"{one.value:.3g}" if one.value < 1000 else f"{one.value:.0f}", value=repr(one.value))
    words = verdict.why if verdict is not None else None
    return tag(
        "td",
        None if mark.startswith("✓") else f"{mark[0]} ",
        shown,
        class_=f"heat-{step}{' bad' if is_bad else ''}",
        title=words,
    )


def _scale(ones: Iterable[Judged]) -> Markup:
    """The colours, from nothing to the fastest pair of a map, and the signs that occur."""
    steps = (tag("span", class_=f"heat-{step}") for step in range(STEPS))
    marks = {"✗" if not isinstance(one.value, float) else _mark(one, verdict)[0][0] for one, verdict in ones}
    said = "".join(f" {mark}: {words}." for mark, words in _SIGNS.items() if mark in marks)
    scale = tag("span", "0 ", steps, " 100%", class_="scale")
    return tag("p", "Colour: part of the fastest pair, ", scale, f".{said}", class_="note")


_SIGNS = {"▼": "clearly slower than its siblings", "i": "less than usual", "✗": "failed, or wrong", "?": "not verified"}


# ------------------------------------------------------------------------------- bars


class _Key(NamedTuple):
    """What the bars of one figure have in common."""

    what: str
    ran: str
    several: int


def _groups(every: Iterable[Judged]) -> dict[_Key, list[Judged]]:
    groups: dict[_Key, list[Judged]] = {}
    for one, verdict in every:
        groups.setdefault(_Key(measured.what(one), one.where_it_ran, one.device.count(",")), []).append((one, verdict))
    for ones in groups.values():
        ones.sort(key=lambda judged: [(len(name), name) for name in judged[0].device.split(",")])
    return groups


def _key() -> Markup:
    bar = tag("svg", tag("rect", x=0, y=3, width=26, height=6, class_="bar"), **_sample())
    limit = tag("svg", tag("rect", x=12, y=0, width=2, height=12, class_="limit"), **_sample())
    sibling = tag("svg", tag("path", d="M13 1l4 5l-4 5l-4-5z", class_="sibling"), **_sample())
    samples = tag("svg", tag("path", d="M2 6h22M2 3v6M24 3v6", class_="samples"), **_sample())
    parts = [bar, " measured  ", limit, " expected  ", sibling, " its siblings' median  ", samples, " all samples"]
    return tag("p", parts, ". Each figure has its own scale.", class_="note key")


def _sample() -> dict[str, str]:
    return {"width": "26", "height": "12", "viewBox": "0 0 26 12", "aria_hidden": "true"}


def _bars(ones: list[Judged]) -> Markup:
    first = ones[0][0]
    shown, left = capped(ones, _MOST_BARS)
    ran = "TensorFlow" if first.in_tensorflow else "without TensorFlow"
    name = tag("b", measured.what(first)), f" · {ran}"
    scale = max((end for judged in shown for end in _ends(*judged)), default=0.0)
    rows = [row for judged in shown for row in _bar(*judged, scale)]
    head = tag("tr", (tag("th", tag("span", word, class_=kind), scope="col") for word, kind in _HEAD))
    whole = tag("table", tag("thead", head), tag("tbody", rows), class_="bars")
    inside = tag("div", whole, class_="wide")
    basis = tag("p", _basis(shown), class_="note")
    if len(ones) > _OPEN or first.kernel in _PAIRS:
        said = f": {len(ones)} of them, {measured.values([one for one, _ in ones]) or 'none has a result'}"
        return tag("figure", folded([*name, said], inside, left), basis)
    return tag("figure", tag("figcaption", name), inside, left, basis)


_HEAD = (
    ("on", "heard"),
    ("bar", "heard"),
    ("measured", None),
    ("of expected", None),
    ("spread", None),
    ("result", "heard"),
)
"""Columns, and whether their names are for the ear alone."""


def _ends(one: Measurement, verdict: Verdict | None) -> Iterator[float]:
    if isinstance(one.value, float):
        yield one.value
    if verdict is not None and verdict.expected is not None:
        yield verdict.expected


def _basis(ones: Sequence[Judged]) -> list[Child]:
    """What is expected and why, said once where it is the same."""
    said: dict[str, list[Measurement]] = {}
    for one, verdict in ones:
        if verdict is None:
            continue
        if verdict.expected is not None and verdict.unit is not None:
            start = "At most" if verdict.kind == "limit" else "Expected"
            words = f"{start} {measured.rate(verdict.expected, verdict.expected, verdict.unit)}; {verdict.basis}."
            words += (
                f" {more[0].upper()}{more[1:]}."
                if verdict.verdict == "ok" and (more := verdict.why.partition("; ")[2])
                else ""
            )
        else:
            words = f"Nothing to compare with: {verdict.why}."
        said.setdefault(words, []).append(one)
    if len(said) == 1:
        return list(said)
    return [[tag("span", f"{measured.where(on)}: {words}"), " "] for words, on in said.items()]


def _bar(one: Measurement, verdict: Verdict | None, scale: float) -> Iterator[Markup]:
    on = tag("th", measured.where([one]), scope="row")
    if not isinstance(one.value, float):
        yield tag("tr", on, tag("td", f"✗ failed: {one.failed}", colspan=len(_HEAD) - 1, class_="bad"))
        return
    mark, is_bad = _mark(one, verdict)
    yield tag(
        "tr",
        on,
        tag("td", _drawn(one, one.value, verdict, scale), class_="drawn"),
        tag("td", _figure(one.value, one.unit), class_="number"),
        tag("td", f"{verdict.ratio:.0%}" if verdict and verdict.ratio is not None else "", class_="number"),
        tag("td", f"{one.spread:.1%}" if isinstance(one.spread, float) else "", class_="number"),
        tag("td", mark, class_="bad" if is_bad else None),
    )
    if verdict is not None and verdict.verdict in ("low", "impossible", "info"):
        yield tag("tr", tag("td"), tag("td", verdict.why, colspan=len(_HEAD) - 1, class_="why"))


def _mark(one: Measurement, verdict: Verdict | None) -> tuple[str, bool]:
    """How a figure is to be taken, and whether that is bad."""
    if one.verified is False:
        return "✗ wrong numbers", True
    word = verdict.verdict if verdict is not None else "not judged"
    if word == "low":
        return "▼ low", True
    if word == "impossible":
        return "✗ impossible", True
    if one.verified is not True:
        return "? not verified", False
    return ("i less than usual" if word == "info" else "✓ verified"), False


def _drawn(one: Measurement, value: float, verdict: Verdict | None, scale: float) -> Markup:
    """A bar in a field of 200 by 12, as wide as the cell."""
    is_bad = _mark(one, verdict)[1]
    parts = [tag("rect", x=0, y=3, width=_FIELD, height=6, class_="track", fill="none")]
    parts.append(tag("rect", x=0, y=3, width=_x(value, scale), height=6, class_="bar bad" if is_bad else "bar"))
    if isinstance(one.samples, tuple) and one.samples:
        low, high = _x(min(one.samples), scale), _x(max(one.samples), scale)
        parts.append(tag("path", d=f"M{low} 6H{high}M{low} 3v6M{high} 3v6", class_="samples"))
    if verdict is not None and verdict.siblings is not None:
        x = _x(verdict.siblings, scale)
        parts.append(tag("path", d=f"M{x} 1l4 5l-4 5l-4-5z", class_="sibling"))
    if verdict is not None and verdict.expected is not None:
        parts.append(tag("rect", x=max(_x(verdict.expected, scale) - 2, 0), y=0, width=2, height=12, class_="limit"))
    stretched = {"viewBox": f"0 0 {_FIELD} 12", "preserveAspectRatio": "none"}
    return tag("svg", parts, width=_FIELD, height=12, **stretched, aria_hidden="true")


_FIELD = 180


def _x(value: float, scale: float) -> float:
    return round(_FIELD * max(0.0, min(1.0, value / scale)), 1) if scale > 0 else 0.0


# ------------------------------------------------------------------------------- all of it


def _conditions(every: Sequence[Judged]) -> Markup:
    head = (
        "kernel", "on", "model", "ran", "measured", "verdict", "spread", "samples", "verified against", "error", "library", "while it ran", "took",
    )  # fmt: skip
    return table("Every measurement", head, (_row(*judged) for judged in every), class_="small")


def _row(one: Measurement, verdict: Verdict | None) -> tuple[Child, ...]:
    samples = one.samples if isinstance(one.samples, tuple) else ()
    right = "" if one.verified is True else "WRONG: " if one.verified is False else "not verified: "
    against = one.against if isinstance(one.against, str) else ""
    library = " ".join(part for part in (one.library, one.library_version) if isinstance(part, str))
    return (
        measured.what(one),
        measured.where([one]),
        one.device_name if isinstance(one.device_name, str) else "",
        one.where_it_ran,
        _figure(one.value, one.unit) if isinstance(one.value, float) else f"failed: {one.failed}",
        f"{verdict.verdict}: {verdict.why}" if verdict is not None else "",
        f"{one.spread:.1%}" if isinstance(one.spread, float) else "",
        " ".join(f"{sample:.4g}" for sample in samples[:100]),
        f"{right}{against}" if against or right else "",
        f"{one.error:.2g}" if isinstance(one.error, float) else "",
        library,
        ", ".join(_load(one)),
        f"{one.seconds:.2f} s" if isinstance(one.seconds, float) else "",
    )


def _load(one: Measurement) -> Iterator[str]:
    load = one.load
    if isinstance(load, Load):
        for value, unit in ((load.clock_sm_mhz, "MHz"), (load.power_w, "W"), (load.temperature_max_c, "°C")):
            if isinstance(value, int | float):
                yield f"{value:.0f} {unit}"
        if isinstance(load.pcie_generation, int) and isinstance(load.pcie_width, int):
            yield f"PCIe {load.pcie_generation}.0 x{load.pcie_width}"
        if isinstance(load.clock_reasons, tuple):
            yield from (f"{one.name} {one.share:.0%}" for one in load.clock_reasons if one.name != "idle")
    if isinstance(one.transport, tuple) and one.transport:
        yield " ".join(one.transport)
    if isinstance(one.channels, int):
        yield f"{one.channels} channels"


def _not_measured(view: View) -> Iterator[Markup]:
    done = {one.kernel for one, _ in view.measured if not one.skipped}
    left: dict[str, list[str]] = {}
    for one, _ in view.measured:
        if isinstance(one.value, Unread) and one.skipped and one.kernel not in done:
            names = left.setdefault(one.value.why, [])
            if one.kernel not in names[:_MOST_BARS]:
                names.append(one.kernel)
    shown, more = capped(list(left.items()), _MOST_GROUPS)
    if shown:
        yield tag("h3", "Not measured")
        yield tag("ul", (tag("li", f"{', '.join(names[:_MOST_BARS])}: {why}") for why, names in shown))
    if more is not None:
        yield more
