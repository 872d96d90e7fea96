"""The knowledge of releases for a person: one release, the table of all, what fits a machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import compat
from ..compat.records import Build, Files, Hazard, Package, Record, Release
from ..compat.rules import Machine, Reason
from ..compat.solve import Answer, best, command
from ..compat.versions import driver_branch, target

_WIDE = 200
_MARKS = {
    "works": ("✓", "green"),
    "depends": ("✓", "yellow"),
    "unknown": ("?", "yellow"),
    "fails": ("✗", "red"),
}
_WORDS = {"depends": "it depends", "unknown": "not known"}


def _sourced(text: str, record: Record | Reason) -> Text:
    certain = getattr(record, "confidence", "certain")
    shown = Text(text)
    shown.append(f"  [{record.source}" + ("" if certain == "certain" else f"; {certain}") + "]", style="dim")
    return shown


def _pairs() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    return table


def _span(versions: Sequence[str]) -> str:
    """'3.9 to 3.12'."""
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}" if versions else "none"


def package(one: Package, console: Console) -> None:
    """Print what a distribution is."""
    console.print(Text(one.name, style="bold"))
    console.print(_sourced(one.text, one))


def release(one: Release, console: Console, others: Sequence[Release] = ()) -> None:
    """Print what is known of a release; `others` are those that the question could have meant as well."""
    build = compat.build(one.version)
    console.print(Text(f"TensorFlow {one.version}", style="bold"))
    if others:
        console.print(Text(f"(also known: {', '.join(o.version for o in others)})", style="dim"))
    console.print()
    table = _pairs()
    for files in one.files:
        table.add_row(files.distribution, _published(files))
    if build is None:
        table.add_row("CUDA, cuDNN", f"{one.cuda or 'not known'}, {one.cudnn or 'not known'}, as documented")
        table.add_row("source", one.source)
    else:
        _built(build, table)
        table.add_row("source", f"{build.source}; files: {one.source}")
    console.print(table)
    hazards = [h for h in compat.matrix().hazards if compat.admits(h.tensorflow, one.version)]
    if hazards:
        console.print()
        console.print(Text("Hazards", style="bold"))
        for hazard in hazards:
            console.print(_hazard(hazard))


def _published(files: Files) -> str:
    on = {True: "CUDA", False: "CPU only", None: "CUDA or not: not known"}[files.cuda]
    return f"{files.platform}, Python {_span(files.python)}, {on}"


def _built(build: Build, table: Table) -> None:
    floor = compat.minimum_driver(build.cuda) if build.cuda else None
    table.add_row(
        "CUDA", f"{build.cuda or 'the wheel does not say'}" + (f" (driver {floor.linux} or newer)" if floor else "")
    )
    table.add_row("cuDNN", build.cudnn or "the wheel does not say")
    table.add_row("machine code", ", ".join(build.complete) or "none for every kernel")
    if build.partial:
        table.add_row("", f"for some kernels only: {', '.join(build.partial)}")
    ptx = sorted({f"PTX {p.isa} for {p.target}" for k in build.kernels for p in k.ptx})
    table.add_row("compiled at run time", ", ".join(ptx) or "nothing")
    table.add_row("GPUs from", f"compute capability {build.minimum_compute_capability or 'not known'}")
    table.add_row("glibc", f"{build.glibc} or newer" if build.glibc else "not known")
    table.add_row(
        "Python packages", Text(", ".join(f"{n}{s}" for n, s in build.requires.items()) or "none are limited")
    )
    extra = "there is none" if build.extra is None else ", ".join(f"{n}{s}" for n, s in build.extra.items())
    table.add_row(Text("[and-cuda]"), Text(extra))
    table.add_row("its loader opens", ", ".join(build.sonames) or "not known")
    if build.out_of_reach:
        table.add_row("and does not find", ", ".join(build.out_of_reach))


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}." if text else ""


def _hazard(one: Hazard) -> Text:
    words = {"fails": "fails", "needs": "works with a step", "note": "note"}
    when = [
        f"{name} {value}"
        for name, value in (
            ("compute capability", one.compute_capability),
            ("driver", one.driver),
            *one.packages.items(),
        )
        if value
    ]
    text = Text("  · ")
    text.append(
        f"{one.id} ({words[one.outcome]}{'; with ' + ', '.join(when) if when else ''}): {one.effect}. {one.fix}"
    )
    if one.run is not None:
        text.append(f" {one.run.outcome} on {one.run.date}, {one.run.host}: {one.run.how}.")
    text.append(f"  [{one.source}" + ("" if one.confidence == "certain" else f"; {one.confidence}") + "]", style="dim")
    return text


def matrix(releases: Iterable[Release], console: Console) -> None:
    """Print releases as a table, one a line."""
    if not console.is_terminal:
        console.width = _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for column in COLUMNS:
        table.add_column(column, no_wrap=True)
    for one in releases:
        table.add_row(*row(one))
    console.print(table)
    console.print(Text(LEGEND, style="dim"))


COLUMNS = ("release", "Python", "CUDA", "cuDNN", "GPUs", "machine code", "driver", "extra")
LEGEND = (
    "GPUs: lowest compute capability; driver: oldest for Linux. machine code: first to last architecture with code for every kernel; in parentheses, for some only. "
    "extra: pip install 'tensorflow[and-cuda]' brings CUDA and cuDNN; gap: and TensorFlow does not find all of it."
)


def row(one: Release) -> tuple[str, ...]:
    """A release's line in the table of all, by COLUMNS."""
    build = compat.build(one.version)
    linux = [f for f in one.files if f.platform == "linux-x86_64" and f.cuda]
    python = _span(sorted({p for f in linux for p in f.python}, key=compat.version)).replace(" to ", "-")
    cuda, cudnn = (build.cuda, build.cudnn) if build is not None else (one.cuda, one.cudnn)
    floor = compat.floor(cuda) if cuda else None
    if build is None:
        return (one.version, python, cuda or "?", cudnn or "?", "?", "?", floor or "?", "no")
    code = _archs(build.complete) + (f" ({_archs(build.partial)})" if build.partial else "")
    extra = "no" if build.extra is None else "yes" if not build.out_of_reach else "gap"
    least = build.minimum_compute_capability or "?"
    return (one.version, python, cuda or "?", cudnn or "?", least, code, floor or "?", extra)


def _archs(names: Sequence[str]) -> str:
    """'6.0-8.9' of sm_60 to sm_89."""
    numbers = sorted({target(name)[0] for name in names})
    shown = [f"{major}.{minor}" for major, minor in (numbers[:1] + numbers[1:][-1:])]
    return "-".join(shown) or "none"


def solution(
    answers: Sequence[Answer], machine: Machine, console: Console, *, python: str | None = None, here: bool = False
) -> None:
    """Print which releases work on a machine, one reason each with its source, and the command for the best."""
    if not console.is_terminal:
        console.width = _WIDE * 2
    console.print(Text(("This machine: " if here else "A machine with ") + described(machine), style="dim"))
    console.print()
    sources = _Sources()
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for several in _alike(answers):
        table.add_row(*_answer(several, sources))
    console.print(table)
    console.print()
    chosen = best(answers)
    if chosen is None:
        console.print(Text("None of these works there.", style="bold"))
        sources.show(console)
        return
    sure = {"works": "Best", "depends": "Best, if the rest fits", "unknown": "The most likely, and not certain"}
    console.print(Text(f"{sure[chosen.verdict]}: TensorFlow {chosen.version}", style="bold"))
    for line in command(chosen, machine, python).split(" && "):
        console.print(Text(f"    {line}", style="bold cyan", no_wrap=True, overflow="ignore"), crop=False)
    for reason in chosen.reasons:
        if reason.effect in ("needs", "depends", "note"):
            console.print(Text("  · ") + sources.after(_sentence(reason.text), reason.source))
    sources.show(console)


class _Sources:
    """Footnotes: each source once."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def after(self, text: str, source: str) -> Text:
        """The text with the number of its source."""
        return Text(text).append(f" [{self.seen.setdefault(source, len(self.seen) + 1)}]", style="dim")

    def show(self, console: Console) -> None:
        """Print the sources by their numbers."""
        if self.seen:
            console.print()
            console.print(Text("Sources", style="dim"))
        for source, number in self.seen.items():
            console.print(Text(f"  [{number}] {source}", style="dim"))


def _gist(one: Answer) -> str:
    """What the reason has in common with that of other releases."""
    return one.reason.text.partition(", but for ")[0] if one.reason is not None else ""


def _alike(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Neighbours that fail for the same reason, together where they are three or more."""
    runs = [list(group) for _, group in itertools.groupby(answers, key=lambda a: (a.verdict, _gist(a)))]
    folded: list[list[Answer]] = []
    for run in runs:
        folded += [run] if len(run) > 2 and run[0].verdict == "fails" else [[one] for one in run]
    return folded


def _answer(several: list[Answer], sources: _Sources) -> tuple[Text, Text, Text, Text]:
    one = several[0]
    mark, style = _MARKS[one.verdict]
    word = _WORDS.get(one.verdict, one.verdict)
    if one.verdict == "works" and one.reason is not None:
        word = "works with a step" if one.needs else "works with a pin" if one.pins else word
    if one.reason is None:
        why = Text("as pip installs it")
    else:
        why = sources.after(one.reason.text if len(several) == 1 else _gist(one), one.reason.source)
    name = one.version if len(several) == 1 else f"{several[-1].version} to {one.version}"
    return Text(mark, style=f"bold {style}"), Text(name, style="bold"), Text(word, style=style), why


def described(machine: Machine) -> str:
    """'linux-x86_64 · Python 3.11 · driver 535.161.08 (R535, CUDA 12.2) · NVIDIA H100 (9.0)'."""
    parts = [
        machine.platform + (" under Windows (WSL2)" if machine.windows_driver and "linux" in machine.platform else "")
    ]
    if machine.python is not None:
        parts.append(f"Python {machine.python}")
    if machine.glibc is not None:
        parts.append(f"glibc {machine.glibc}")
    if machine.driver is None:
        parts.append("driver not known")
    else:
        branch = driver_branch(machine.driver, windows=machine.windows_driver)
        of = f" (R{branch.branch}, CUDA {branch.cuda or 'not known'})" if branch is not None else " (not known here)"
        parts.append(f"driver {machine.driver}{of}")
    counted = {(g.name, g.compute_capability): machine.gpus.count(g) for g in machine.gpus}
    for (name, has), count in counted.items():
        parts.append((f"{count} x " if count > 1 else "") + f"{name} ({has or 'compute capability not known'})")
    if not machine.gpus:
        parts.append("GPU not known")
    return " · ".join(parts)
