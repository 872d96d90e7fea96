"""GitHub's Markdown, for an issue or a job's summary: the verdict, each cause with its proof and its fix, what is left open, and,
folded, the machine, what was measured and what could not be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..facts import Measurement, Unread
from ..findings import Candidate, CombinedFix, Finding, Fix, RootCause
from ..verdicts import Verdict
from . import ignored, lines, measured, run
from .lines import clean
from .view import View, count, cut, one_line

MOST = 60_000
"""Characters; GitHub takes 65,536."""
_NOTE = 1_500
"""Of these, for the words about what was cut."""
_MOST_OF_PROSE, _MOST_OF_FENCE, _MOST_CANDIDATES = 1_000, 4_000, 12

Block = tuple[str, str]
"""What it is, for the case that there is no room for it, and its text."""


def render(view: View) -> str:
    """As much as fits; what is cut is said."""
    room, kept, missing = MOST - _NOTE, [], []
    for name, text in _blocks(view):
        room -= len(text) + 2
        if room >= 0:
            kept.append(text)
        else:
            room += len(text) + 2
            missing.append(name)
    if missing:
        more = f" and {len(missing) - 9} more" if len(missing) > 9 else ""
        said = f"Cut, to stay below {MOST:,} characters: {', '.join(missing[:9])}{more}."
        kept.append(f"{said} `--format json` has everything.")
    return "\n\n".join(kept) + "\n"


def _blocks(view: View) -> Iterator[Block]:
    report = view.report
    mark = {"healthy": "✓ ", "unknown": "? ", "warning": "! ", "faulty": "✗ "}[view.verdict]
    yield "the verdict", f"## {mark}{prose(view.sentence)}"
    made = "recorded" if view.recorded else "examined"
    if report.facts.text.is_all:
        made = "read"
    by = f"gpudoctor {report.tool.version} · verdict: {view.verdict} · {made} {report.started_at}"
    yield "the version", f"<sub>{prose(by)}</sub>"
    for root in report.diagnosis.root_causes:
        yield code(root.cause), "\n\n".join(_root(root, view.where))
    if (combined := report.diagnosis.combined_fix) is not None:
        yield "the fix for all", "\n\n".join(_combined(combined, view.where))
    for symptom in view.open_symptoms:
        yield code(symptom.cause), "\n\n".join(_open(symptom, view))
    if view.ignored is not None:
        listed = "\n".join(f"- {prose(one)}" for one in ignored.lines(report.ignored))
        yield "what is ignored", f"**{ignored.head(ignored.count(report.ignored))}**\n\n{listed}"
    if ran := list(run.lines(report.facts.run)):
        yield "the run", f"### The run\n\n{fence(ran)}"
    for summary, parts in (
        ("The machine", _machine(view)),
        ("Measured", _measured(view)),
        ("Could not be decided", _unknown(view)),
        ("Does not apply here", _skipped(view)),
    ):
        if inside := "\n\n".join(parts):
            yield summary, f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"


# ------------------------------------------------------------------------------- causes and symptoms


def _root(root: RootCause, where: str) -> Iterator[str]:
    yield f"### {lines.MARKS[root.level][0]} {prose(root.title)}"
    explains = f" · explains {', '.join(map(code, root.explains))}" if root.explains else ""
    yield f"{code(root.cause)} {root.code}{explains}"
    yield prose(root.message)
    if root.proof:
        yield "**Proof**\n\n" + fence(f"{one.text}  [{one.source}]" for one in root.proof)
    for position, fix in enumerate(root.fixes):
        yield from _fix(fix, "Or" if position else "Fix", where)


def _fix(fix: Fix, word: str, where: str) -> Iterator[str]:
    risk = f" ({fix.risk})" if fix.risk != "safe" else ""
    tried = "".join(text for text, _ in lines.tried(fix.trial, where)) if fix.trial is not None else ""
    yield f"**{word}:** {prose(fix.summary + risk + tried)}"
    if fix.steps:
        yield commands(fix.steps)
    if fix.verify != "gpudoctor check":
        yield f"Then: {code(fix.verify)}"


def _combined(combined: CombinedFix, where: str) -> Iterator[str]:
    yield f"### One fix for all {len(combined.causes)} causes"
    if combined.trial is not None:
        yield prose("".join(text for text, _ in lines.tried(combined.trial, where)).removeprefix(" — "))
    yield commands(combined.steps)


def _open(symptom: Finding, view: View) -> Iterator[str]:
    diagnosis = view.report.diagnosis
    yield f"### ? {prose(symptom.title)}"
    yield f"{code(symptom.cause)} {symptom.code}"
    yield prose(symptom.message)
    if symptom.proof:
        yield "**Proof**\n\n" + fence(f"{one.text}  [{one.source}]" for one in symptom.proof)
    if candidates := diagnosis.candidates.get(symptom.cause, ()):
        yield "The cause could not be determined. What is left, and what would settle it:"
        yield from _candidates(candidates, view)
    for left in diagnosis.unexplained:
        if left.symptom == symptom.cause:
            out = f" Ruled out: {', '.join(map(code, left.ruled_out))}." if left.ruled_out else ""
            yield f"Unexplained: none of the causes that gpudoctor knows explains it.{out}"


def _candidates(candidates: tuple[Candidate, ...], view: View) -> Iterator[str]:
    by_command: dict[str | None, list[Candidate]] = {}
    for one in candidates[:_MOST_CANDIDATES]:
        by_command.setdefault(one.settle, []).append(one)
    for settle, ones in by_command.items():
        why = "" if view.report.facts.text.is_all else ": {}"
        yield "\n".join(f"- {code(one.cause)}: {prose(one.title + why.format(one.unknown_because))}" for one in ones)
        if settle is not None:
            yield fence([f"(the report says) {settle}"]) if view.recorded else commands([settle])
    if rest := candidates[_MOST_CANDIDATES:]:
        yield f"Less likely: {', '.join(code(one.cause) for one in rest)}"


# ------------------------------------------------------------------------------- what is folded


_NAMES = {"tensorflow": "TensorFlow", "cuda": "CUDA", "nvml": "NVML"}


def _machine(view: View) -> Iterator[str]:
    facts = view.report.facts
    rows: list[tuple[str, object]] = [
        ("Driver", facts.driver.kernel_version),
        ("CUDA of the driver", facts.driver.libcuda.cuda),
        ("TensorFlow", facts.tensorflow.version),
        ("Python", facts.python.version),
        *((f"GPUs that {_NAMES[source]} lists", number) for source, number in view.gpus.items()),
    ]
    if not isinstance(facts.gpu.devices, Unread):
        rows += [(f"GPU {one.index}", one.name) for one in facts.gpu.devices]
    known = [(name, value) for name, value in rows if value is not None and not isinstance(value, Unread)]
    if known:
        yield table(("", ""), [(name, prose(str(value))) for name, value in known])


def _measured(view: View) -> Iterator[str]:
    groups: dict[tuple[object, ...], list[tuple[Measurement, Verdict | None]]] = {}
    for one, verdict in view.measured:
        if not one.skipped:
            same = (one.in_tensorflow, measured.what(one), one.device_name, one.device.count(","), _worth(one, verdict))
            groups.setdefault((*same, verdict and verdict.basis), []).append((one, verdict))
    if groups:
        head = ("kernel", "on", "measured", "expected", "verdict")
        yield table(head, [_row(ones) for ones in groups.values()])
    done = {one.kernel for one, _ in view.measured if not one.skipped}
    left = {o.kernel: o.value.why for o, _ in view.measured if isinstance(o.value, Unread) and o.kernel not in done}
    if left:
        yield "\n".join(["Not measured:", *(f"- {prose(kernel)}: {prose(why)}" for kernel, why in left.items())])


def _worth(one: Measurement, verdict: Verdict | None) -> str:
    if one.failed is not None:
        return f"failed: {one.failed}"
    if one.verified is False:
        return "WRONG NUMBERS"
    checked = "verified" if one.verified is True else "not verified"
    return checked if verdict is None or verdict.verdict == "not judged" else f"{checked}, {verdict.verdict}"


def _row(ones: list[tuple[Measurement, Verdict | None]]) -> tuple[str, ...]:
    first, verdict = ones[0]
    all_of_them = [one for one, _ in ones]
    on = f"{measured.where(all_of_them)}{', TensorFlow' if first.in_tensorflow else ''}"
    expected = [v.expected for _, v in ones if v is not None and v.expected is not None]
    against = ""
    if expected and verdict is not None and verdict.unit is not None:
        against = f"{measured.rate(min(expected), max(expected), verdict.unit)} ({verdict.basis})"
    cells = measured.what(first), on, measured.values(all_of_them), against, _worth(first, verdict)
    return tuple(prose(cell) for cell in cells)


def _unknown(view: View) -> Iterator[str]:
    left = [one for one in view.report.unknown if not one.chosen]
    if left and not view.report.facts.text.is_all:
        word = "the report says" if view.recorded else "settle it with"
        settles = {one.cause: f" ({word}: {code(one.settle)})" for one in left if one.settle}
        yield "\n".join(f"- {code(one.cause)}: {prose(one.why)}{settles.get(one.cause, '')}" for one in left)


def _skipped(view: View) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for one in () if view.report.facts.text.is_all else view.report.skipped:
        reasons.setdefault(one.reason, []).append(code(one.cause))
    if reasons:
        yield "\n".join(f"- {prose(reason)}: {', '.join(causes)}" for reason, causes in reasons.items())


# ------------------------------------------------------------------------------- the language

_STRUCTURE = re.compile(r"[\\`*_\[\]~]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;"}
_LINKS = re.compile(r"[@#]|(?i:\bGH-(?=\d))")
"""What GitHub makes mentions and references of, whatever stands around it."""
_ADDRESS = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)[^\s`|]+)")
_BEGINS_A_BLOCK = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=]))")
_NOTHING = "\u200b"
"""A space without width, which ends such a word."""


def prose(text: str) -> str:
    """Text of others within a line, as it is: no markup, no mention, no reference of it works, and addresses are code."""
    parts = _ADDRESS.split(cut(one_line(text), _MOST_OF_PROSE))
    return _BEGINS_A_BLOCK.sub(r"\1\\", "".join(code(p) if n % 2 else _escaped(p) for n, p in enumerate(parts)))


def _escaped(text: str) -> str:
    text = "".join(_ENTITIES.get(c, c) for c in _STRUCTURE.sub(r"\\\g<0>", text))
    return _LINKS.sub(lambda found: found[0] + _NOTHING, text)


def code(text: str) -> str:
    """Text of others as code within a line, outside of tables."""
    text = cut(one_line(text), _MOST_OF_PROSE)
    ticks = "`" * (_longest(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}" if text else ""


def fence(texts: Iterable[str], language: str = "text") -> str:
    """Lines of others, as they are."""
    whole = "\n".join(clean(text) for text in texts)
    if len(whole) > _MOST_OF_FENCE:
        whole = f"{whole[:_MOST_OF_FENCE]}\n… ({len(whole) - _MOST_OF_FENCE} characters more)"
    ticks = "`" * max(3, _longest(whole) + 1)
    return f"{ticks}{language}\n{whole}\n{ticks}"


def commands(steps: Iterable[str]) -> str:
    """Lines to paste: whole, or not at all."""
    steps = list(steps)
    if sum(map(len, steps)) > _MOST_OF_FENCE:
        return f"({count(len(steps), 'line')} to paste, too long to be shown here)"
    return fence(steps, "shell")


def _longest(text: str) -> int:
    """Of its runs of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Cells are Markdown already."""
    every = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in every)
