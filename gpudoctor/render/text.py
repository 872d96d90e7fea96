"""The report for a person: the first root cause first, with its proof and a fix to paste."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..bundle import Report
from ..facts import TRAINING, Measurement, Unread, every_unread
from ..findings import Evidence, RootCause, Skipped, Unknown
from . import ignored, measured, run
from . import lines as plain
from .lines import Line, clean
from .view import count, sentence

UNWRAPPED = 1 << 16
"""The width where nothing is to be wrapped."""


def show(report: Report, console: Console, *, verbose: bool = False, recorded: bool = False) -> None:
    """Print `report`, made here or `recorded` elsewhere. Lines to paste are never wrapped; where there is no
    terminal, no line is."""
    if not console.is_terminal:
        console.width = UNWRAPPED
    console.print(_head(report, recorded), soft_wrap=True)
    passed_over = report.facts.python.passed_over
    for one in passed_over if not isinstance(passed_over, Unread) else ():
        console.print(styled(f"passed over: {one}", "yellow"), soft_wrap=True)
    console.print()
    for block in _blocks(report, verbose, "there" if recorded else "here"):
        console.print(block, crop=False)
        console.print()
    console.print(rich(sentence(report)))


def indented(text: Text, by: int) -> Padding:
    """A paragraph whose every line is indented."""
    return Padding(text, (0, 0, 0, by), expand=False)


def styled(text: str, style: str = "") -> Text:
    """Text of others, made harmless for a terminal."""
    return Text(clean(text), style=style)


def rich(one: Line) -> RenderableType:
    """A line as rich prints it."""
    text = Text.assemble(*one.parts)
    if one.is_paste:  # whole, however narrow the terminal is
        text.no_wrap, text.overflow = True, "ignore"
    elif one.is_item:
        return bullet(text)
    return indented(text, one.indent) if one.indent else text


def paste(step: str) -> RenderableType:
    """A line to paste."""
    return rich(plain.paste(step))


def _head(report: Report, recorded: bool) -> Text:
    facts = report.facts
    parts = [f"gpudoctor {report.tool.version}"]
    if isinstance(facts.python.executable, str):
        because = facts.python.chosen_because
        why = f" ({because})" if isinstance(because, str) else ""
        parts.append(f"Python {_plain(facts.python.version)} {facts.python.executable}{why}")
    name, version = facts.tensorflow.distribution, facts.tensorflow.version
    if isinstance(version, str):
        parts.append(f"{name if isinstance(name, str) else 'tensorflow'} {version}")
    if isinstance(facts.driver.kernel_version, str):
        parts.append(f"driver {facts.driver.kernel_version}")
    if not isinstance(facts.gpu.devices, Unread):
        parts.append(count(len(facts.gpu.devices), "GPU"))
    if recorded:
        parts.append(f"recorded {report.started_at}")
    return styled(" · ".join(parts), "dim")


def _blocks(report: Report, verbose: bool, where: str) -> Iterator[RenderableType]:
    diagnosis = report.diagnosis
    roots = diagnosis.root_causes
    for position, root in enumerate(roots):
        yield root_block(root, where, whole=position == 0 or verbose)
    if diagnosis.combined_fix is not None:
        combined = diagnosis.combined_fix
        parts = plain.tried(combined.trial, where) if combined.trial is not None else []
        head = Text.assemble((f"All {len(combined.causes)} causes stand in the way. One fix for all", "bold"), *parts)
        yield Group(head, *[paste(s) for s in combined.steps])
    titles = {f.cause: f for f in report.findings}
    for symptom, candidates in diagnosis.candidates.items():
        lines: list[RenderableType] = [
            Text.assemble(("? ", "bold yellow"), styled(titles[symptom].title, "bold"), styled(f"   {symptom}", "dim")),
            *evidence(titles[symptom].proof),
            Text("  The cause could not be determined. What is left, and what would settle it:"),
        ]
        for one in candidates:
            lines.append(styled(f"    {one.cause}: {one.unknown_because}"))
            if one.settle and where == "there":
                lines.append(styled(f"      (the report says: {one.settle})", "dim"))
            elif one.settle:
                lines.append(paste("  " + one.settle))
        yield Group(*lines)
    for left in diagnosis.unexplained:
        ruled = f" Ruled out: {', '.join(left.ruled_out)}." if left.ruled_out else ""
        yield Group(
            Text.assemble(
                ("? ", "bold yellow"), styled(titles[left.symptom].title, "bold"), styled(f"   {left.symptom}", "dim")
            ),
            *evidence(left.proof),
            indented(styled(left.message), 2),
            indented(styled(f"Unexplained: none of the causes that gpudoctor knows explains it.{ruled}"), 2),
        )
    if ran := [styled(f"  {line}") for line in run.lines(report.facts.run)]:
        yield Group(Text("The run", style="bold"), *ran)
    if report.measurements:
        yield Group(Text("Measured", style="bold"), *_measured(report.measurements, verbose), *_compared(report))
    yield from _coverage(report, verbose, where)
    if listed := list(_ignored(report, verbose)):
        yield Group(*listed)


def _ignored(report: Report, verbose: bool) -> Iterator[RenderableType]:
    """What the ignore list takes out of the report; with `verbose` also what in it matches nothing."""
    listed = list(ignored.lines(report.ignored))
    if len(listed) == 1:
        yield styled(str(ignored.sentence(report.ignored)), "yellow")
    elif listed:
        yield styled(f"{ignored.head(ignored.count(report.ignored))}:", "yellow")
        yield from (indented(styled(one), 4) for one in listed)
    if verbose:
        for one in report.ignored:
            yield from (indented(styled(f"{f.code} {f.cause}: {f.message}", "dim"), 4) for f in one.findings)
        yield from (styled(f"The ignore list: {one}", "dim") for one in ignored.idle(report.ignored))


def root_block(root: RootCause, where: str, *, whole: bool) -> Group:
    """A cause; `whole`: with its proof and every fix."""
    return Group(*map(rich, plain.cause(root, where, whole=whole)))


def evidence(proof: tuple[Evidence, ...]) -> list[RenderableType]:
    """A line for each piece of proof, and who says so."""
    return [rich(one) for one in plain.evidence(proof)]


def bullet(text: Text, width: int = 5) -> Table:
    """An item of a list, its dot the last of `width` columns: its further lines begin under its first word."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width)
    grid.add_column(overflow="fold")  # a path is proof only when it is whole
    grid.add_row(Text("·".rjust(width), style="dim"), text)
    return grid


def _measured(measurements: tuple[Measurement, ...], verbose: bool) -> list[RenderableType]:
    """A line a kernel, below its devices: those of the same outcome stand together."""
    ran = [one for one in measurements if not one.skipped]
    if ran and not verbose and all(one.device.startswith("CPU:") and one.verified is True for one in ran):
        return [styled(f"  TensorFlow's CPU: {count(len(ran), 'kernel')}, verified (-v shows them)")]
    groups: dict[tuple[str, ...], list[Measurement]] = {}
    for one in measurements:
        outcome = (one.value.why if one.skipped else "failed") if isinstance(one.value, Unread) else ""
        several = str(one.device.count(","))
        key = (one.backend, one.kernel, several, measured.what(one), str(one.verified is False), outcome)
        groups.setdefault(key, []).append(one)
    rows: dict[str, list[RenderableType]] = {}
    skipped: dict[str, list[str]] = {}
    done = {one.kernel for one in measurements if not one.skipped}
    for (_, kernel, _, name, wrong, outcome), ones in groups.items():
        if all(one.skipped for one in ones):
            if kernel in done:
                continue
            right = all(one.verified is True for one in ones)
            skipped.setdefault(outcome, []).append(f"{kernel} (verified)" if right else kernel)
            continue
        rates = [one.value for one in ones if isinstance(one.value, float)]
        models = {one.device_name for one in ones if isinstance(one.device_name, str)}
        on = f"{measured.devices(one.device for one in ones)}{''.join(f' {m}' for m in sorted(models))}"
        where = f"  {on}, TensorFlow" if ones[0].in_tensorflow else f"  {on}, without TensorFlow"
        lines = rows.setdefault(where, [])
        if not rates:
            whys = [one.value.why for one in ones if isinstance(one.value, Unread)]
            lines.append(indented(Text.assemble(styled(f"{kernel} "), styled(f"failed ({whys[0]})", "red")), 4))
            continue
        spreads = [one.spread for one in ones if isinstance(one.spread, float)]
        spread = f", spread {max(spreads):.0%}" if spreads else ""
        right = all(one.verified is True for one in ones)
        verdict = ("WRONG NUMBERS", "bold red") if wrong == "True" else ("verified", "green")
        verdict = verdict if right or wrong == "True" else ("not verified", "yellow")
        lines.append(Text.assemble(styled(f"    {name}: {measured.values(ones)}{spread}, "), verdict))
    shown = [line for where, lines in rows.items() for line in (styled(where), *lines)]
    shown += [
        indented(styled(f"not measured: {', '.join(dict.fromkeys(n))}: {why}", "dim"), 2) for why, n in skipped.items()
    ]
    return shown


def _compared(report: Report) -> list[RenderableType]:
    """TensorFlow beside native, and several GPUs beside one, where a training step was measured (`--level full`)."""
    if all(one.kernel != TRAINING or one.skipped for one in report.measurements):
        return []
    lines = [*measured.beside_native(report.seen), *measured.speed_ups(report.measurements)]
    return [indented(styled(line), 4 if line.startswith(" ") else 2) for line in lines]


def _coverage(report: Report, verbose: bool, where: str) -> Iterator[RenderableType]:
    out = report.diagnosis.ruled_out
    lines: list[RenderableType] = []
    if out:
        more = "" if verbose else " (-v lists them)"
        lines.append(styled(f"Ruled out: {len(out)} causes and symptoms{more}"))
        if verbose:
            lines += [_ended(o.code, o.cause, o.reason) for o in out]
    if open_ := [one for one in report.unknown if not one.needs_root]:
        lines.append(Text(f"Could not be looked at: {len(open_)}", style="yellow"))
        for (why, settle), causes in _by_command(open_).items():
            word = "settle it with" if where == "here" else "the report says"
            hint = f"; {word}: {settle}" if settle else ""
            lines.append(indented(styled(f"{', '.join(causes)}: {why}{hint}", "dim"), 4))
    lines += _for_root(report, verbose, where)
    if report.skipped and verbose:
        lines.append(Text(f"Does not apply here: {len(report.skipped)}"))
        reasons: dict[str, list[Skipped]] = {}
        for s in report.skipped:
            reasons.setdefault(s.reason, []).append(s)
        alone = [several[0] for several in reasons.values() if len(several) == 1]
        lines += [_ended(s.code, s.cause, s.reason) for s in alone]
        for reason, several in reasons.items():
            if len(several) > 1:
                lines.append(indented(styled(f"{reason}:", "dim"), 4))
                lines.append(indented(styled(", ".join(s.cause for s in several)), 10))
    if lines:
        yield Group(*lines)


def _ended(code: str, cause: str, reason: str | None) -> RenderableType:
    """A check and why it found nothing: further lines begin under the cause."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=9)
    grid.add_column(overflow="fold")
    grid.add_row(styled(f"    {code}"), Text.assemble(styled(cause), styled(f": {reason}" if reason else "", "dim")))
    return grid


def _by_command(unknown: Iterable[Unknown]) -> dict[tuple[str, str | None], list[str]]:
    """(why, what settles it) -> the causes that hang on it."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for one in unknown:
        groups.setdefault((one.why, one.settle), []).append(one.cause)
    return groups


def _for_root(report: Report, verbose: bool, where: str) -> Iterator[RenderableType]:
    """What this user may not look at: where a cause hangs on it; with `verbose` all of it."""
    groups = _by_command(one for one in report.unknown if one.needs_root)
    settled = {settle for _, settle in groups}
    for unread in every_unread(report.facts) if verbose else ():
        if unread.needs_root and not unread.chosen and unread.settle not in settled:
            settled.add(unread.settle)
            groups[unread.why, unread.settle] = []
    if groups:
        yield Text("Not looked at: needs root", style="yellow" if any(groups.values()) else "")
    for (why, settle), causes in groups.items():
        what = f"{', '.join(causes)}: {why}" if causes else f"{why}; no cause hangs on it here"
        yield indented(styled(what, "dim"), 4)
        if where == "here":
            yield rich(
                plain.Line((("      as root: ", "dim"), (plain.clean(settle or ""), "bold cyan")), is_paste=True)
            )
        else:
            yield styled(f"      (the report says, as root: {settle})", "dim")


def _plain(value: object) -> str:
    """A value for a person; a question mark where it could not be read."""
    return "?" if isinstance(value, Unread) else str(value)
