"""Our kernels and the reference tools in turn on one host, as ratios.

    python -m benchmarks.reference [--nvbandwidth PATH] [--all-reduce-perf PATH] [--torch-python PATH]
                                   [--library-path DIRS] [--bench 'COMMAND'] [--rounds N] [--json FILE]

A tool that isn't given is looked for on PATH (torch: in the Python that runs this); what isn't found is left out, and said. Both
sides get one LD_LIBRARY_PATH: the directories of the libnccl and libcublas that torch maps, or `--library-path`, before what it was;
other variables (NCCL_NVLS_ENABLE, CUDA_VISIBLE_DEVICES) stay as they are. A ratio of collectives or matmuls counts only with one
libnccl or libcublas file on both sides. In every round ours run first, then theirs; the figure of each is the median of the rounds.

Goals: copies within 2% of nvbandwidth, all-reduce within 3% of nccl-tests (8 MiB with CUDA graphs, 128 MiB, 1 GiB), matmul at least 0.98
of torch, ours in less than a third of the time of theirs. Exit code: 1 where a goal is missed, 3 where nothing could be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.reference_tools import (
    ALL_REDUCE_SIZES,
    ALL_REDUCES,
    COPIES,
    TORCH,
    Figure,
    Ran,
    all_reduce_perf,
    gpudoctor_bench,
    nvbandwidth,
    run,
    torch_files,
    torch_matmuls,
)  # fmt: skip

Key = tuple[str, str, tuple[int, ...]]


@dataclass
class Side:
    """What one side measured, round after round."""

    figures: dict[Key, list[Figure]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    """Wall time of each round."""
    problems: list[str] = field(default_factory=list)

    def add(self, figures: Sequence[Figure]) -> None:
        """Keep them under what they are of; copies of one kernel and device are one figure, whatever their size."""
        for figure in figures:
            size = () if figure.kernel in COPIES.values() else figure.size
            self.figures.setdefault((figure.kernel, figure.device, size), []).append(figure)

    def problem(self, text: str) -> None:
        """Say it once."""
        if text not in self.problems:
            self.problems.append(text)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    kernel: str
    device: str
    size: tuple[int, ...]
    ours: float
    theirs: float
    goal: str
    verdict: str
    """'ok', 'off (…)', or 'no comparison: …'."""
    our_library: str | None
    their_library: str | None

    @property
    def ratio(self) -> float:
        """Ours to theirs."""
        return self.ours / self.theirs


def largest(figures: Sequence[Figure]) -> list[Figure]:
    """Of each kind of copy on each device the one of the largest size: nvbandwidth's are of 512 MiB."""
    kept: dict[Key, Figure] = {}
    for figure in figures:
        key = (figure.kernel, figure.device, () if figure.kernel in COPIES.values() else figure.size)
        if key not in kept or figure.size > kept[key].size:
            kept[key] = figure
    return list(kept.values())


def same_file(one: str, other: str) -> bool:
    """Whether two paths are one file; by their names where they can't be asked."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def libraries_differ(ours: Sequence[Figure], theirs: Sequence[Figure]) -> str | None:
    """Why two figures don't compare: another file, or one that isn't known."""
    for side, figures in (("ours", ours), ("theirs", theirs)):
        if any(figure.library is None for figure in figures):
            return f"{side} doesn't name its library"
    pairs = {(one.library or "", other.library or "") for one in ours for other in theirs}
    return next((f"ours {one}, theirs {other}" for one, other in sorted(pairs) if not same_file(one, other)), None)


def compare(ours: Side, theirs: Side) -> list[Row]:
    """A row for each figure that both sides have, in our order."""
    rows = []
    for key, mine in ours.figures.items():
        if key not in theirs.figures:
            continue
        other, kernel = theirs.figures[key], key[0]
        value, reference = (statistics.median(f.value for f in figures) for figures in (mine, other))
        if reference <= 0:
            continue
        ratio = value / reference
        low, high, goal = (0.98, 1.02, "±2%") if kernel in COPIES.values() else (0.97, 1.03, "±3%")
        if kernel.startswith("matmul-"):
            low, high, goal = 0.98, float("inf"), "≥0.98"
        if kernel not in COPIES.values() and (why := libraries_differ(mine, other)):
            verdict = f"no comparison: {why}"
        else:
            verdict = "ok" if low <= ratio <= high else f"off ({'low' if ratio < low else 'high'})"
        rows.append(
            Row(kernel, key[1], mine[0].size, value, reference, goal, verdict, mine[0].library, other[0].library)
        )
    return rows


def time_verdict(ours: Side, theirs: Side, complete: bool) -> str:
    """Ours against a third of theirs; no verdict while a tool of theirs is missing."""
    mine, other = statistics.median(ours.seconds), statistics.median(theirs.seconds)
    text = f"wall time of a round: ours {mine:.1f} s, theirs {other:.1f} s"
    if other <= 0:
        return f"{text}: no comparison"
    text += f", ratio {mine / other:.2f} (goal: below 0.33): "
    return text + ("no comparison: not all of theirs ran" if not complete else "ok" if mine * 3 < other else "off")


def size_text(size: Sequence[int]) -> str:
    """'128 MiB', '8192^3', '' for none."""
    if not size:
        return ""
    if len(size) == 3:
        return f"{size[0]}^3" if len(set(size)) == 1 else "x".join(map(str, size))
    return f"{size[0] / 2**20:g} MiB"


def table(rows: Sequence[Row]) -> str:
    """The lines of the table."""
    lines = [f"{'what':22} {'where':12} {'size':>9} {'ours':>9} {'theirs':>9} {'ratio':>6}  {'goal':6} verdict"]
    for row in rows:
        where = row.device if len(row.device) < 13 else f"{row.device.count(',') + 1} GPUs"
        lines.append(
            f"{row.kernel:22} {where:12} {size_text(row.size):>9} {row.ours:9.2f} {row.theirs:9.2f} {row.ratio:6.3f}"
            f"  {row.goal:6} {row.verdict}"
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Tools:
    """The commands, and the environment of all of them; None: not found."""

    bench: tuple[str, ...]
    nvbandwidth: str | None
    all_reduce_perf: str | None
    torch_python: str | None
    env: Mapping[str, str]


SAME = ("matmul-*", *dict.fromkeys(COPIES.values()), "all-reduce")
"""Our kernels whose figures the reference tools have, too: only with these do times compare."""


def our_round(tools: Tools, ours: Side) -> list[Figure]:
    """One run of our benchmark; its figures."""
    ran = run(tools.bench, tools.env)
    ours.seconds.append(ran.seconds)
    try:  # exit code 1 is a finding, not a failure
        figures = largest(gpudoctor_bench(ran.out))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        ours.problem(ran.failed or f"its output was not understood: {type(e).__name__}: {e}")
        return []
    ours.add(figures)
    return figures


def their_round(tools: Tools, figures: Sequence[Figure], theirs: Side) -> None:
    """One run of each of their tools, for what we measured."""
    seconds = 0.0

    def read(ran: Ran, parsed: list[Figure], what: str) -> None:
        theirs.add(parsed)
        if ran.failed or not parsed:
            theirs.problem(ran.failed or f"no figure in what {what} printed")

    copies = {figure.kernel for figure in figures}
    tests = [test for test, kernel in COPIES.items() if kernel in copies]
    if tools.nvbandwidth and tests:
        ran = run([tools.nvbandwidth, "-v", "-t", *tests], tools.env, ("libcuda.so",))
        seconds += ran.seconds
        read(ran, nvbandwidth(ran.out, ran.files.get("libcuda.so")), "nvbandwidth")
    gpus = max((figure.device.count(",") + 1 for figure in figures if figure.kernel == "all-reduce"), default=0)
    if tools.all_reduce_perf and gpus > 1:
        for arguments in ALL_REDUCES:
            env = {"NCCL_DEBUG": "VERSION", **tools.env}
            ran = run([tools.all_reduce_perf, *arguments, "-g", str(gpus)], env, ("libnccl.so",))
            seconds += ran.seconds
            try:
                read(ran, all_reduce_perf(ran.out, gpus, ran.files.get("libnccl.so")), "all_reduce_perf")
            except ValueError as e:
                theirs.problem(ran.failed or str(e))
    matmuls = [
        (f.kernel, f.size[0], f.device) for f in figures if f.kernel.startswith("matmul-") and len(set(f.size)) == 1
    ]
    if tools.torch_python and matmuls:
        ran = run([tools.torch_python, "-c", TORCH], tools.env, text=json.dumps(matmuls))
        seconds += ran.seconds
        if ran.failed:
            theirs.problem(ran.failed)
        else:
            read(ran, torch_matmuls(ran.out), "torch")
            for failed in json.loads(ran.out)["failed"]:
                theirs.problem(f"torch: {failed}")
    theirs.seconds.append(seconds)


def find(options: argparse.Namespace, notes: list[str]) -> Tools:
    """Which tools there are; what isn't found goes into the notes."""
    env = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", **os.environ}
    directories = [options.library_path] if options.library_path else []
    torch: str | None = options.torch_python or sys.executable
    ran = run([str(torch), "-c", TORCH], env, text="[]")
    if ran.failed:
        notes.append(f"torch not found ({ran.failed}): matmuls are not compared. Give --torch-python.")
        torch = None
    elif not directories:
        directories = list(dict.fromkeys(str(Path(path).parent) for path in torch_files(ran.out).values()))
    if path := ":".join([*directories, *filter(None, [env.get("LD_LIBRARY_PATH")])]):
        env["LD_LIBRARY_PATH"] = path
    found: list[str | None] = []
    for name, given, what in (
        ("nvbandwidth", options.nvbandwidth, "copies are"), ("all_reduce_perf", options.all_reduce_perf, "all-reduce is"),
    ):  # fmt: skip
        found.append(shutil.which(given or name))
        if found[-1] is None:
            notes.append(f"{given or name} not found: {what} not compared. Give --{name.replace('_', '-')} PATH.")
    bench = (
        shlex.split(options.bench)
        if options.bench
        else [sys.executable, "-m", "gpudoctor", "bench", *SAME, "--format", "json"]
    )
    return Tools(tuple(bench), found[0], found[1], torch, env)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, exit with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvbandwidth")
    parser.add_argument("--all-reduce-perf")
    parser.add_argument("--torch-python", help="a Python that has torch")
    parser.add_argument("--library-path", help="directories of libnccl and libcublas, for both sides")
    parser.add_argument("--bench", help="our command, if it is not `python -m gpudoctor bench KERNELS --format json`")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="a file for everything: raw samples, library files, versions")
    options = parser.parse_args(arguments)
    notes: list[str] = []
    tools = find(options, notes)
    ours, theirs = Side(), Side()
    for round_ in range(max(1, options.rounds)):
        print(f"round {round_ + 1}", file=sys.stderr)
        if not (figures := our_round(tools, ours)):
            break
        their_round(tools, figures, theirs)
    rows = compare(ours, theirs)
    if any(kernel == "all-reduce" for kernel, _, _ in ours.figures):
        compared = {row.size for row in rows if row.kernel == "all-reduce"}
        missing = [size_text((size,)) for size in ALL_REDUCE_SIZES if (size,) not in compared]
        notes += [f"all-reduce of {size}: not measured by both sides" for size in missing]
    notes += [f"ours: {text}" for text in ours.problems] + [f"theirs: {text}" for text in theirs.problems]
    complete = bool(tools.nvbandwidth and tools.all_reduce_perf and tools.torch_python) and not theirs.problems
    print(table(rows) if rows else "nothing was measured by both sides")
    for label, side in (("ours", ours), ("theirs", theirs)):
        used = {(f.library or "unknown", f.version or "?") for figures in side.figures.values() for f in figures}
        for library, version in sorted(used):
            print(f"{label + ':':8}{library} ({version})")
    timing = time_verdict(ours, theirs, complete) if ours.seconds and theirs.seconds else ""
    print("\n".join(filter(None, [timing, *notes])))
    if options.json:
        record = {
            "rows": [{**asdict(row), "ratio": row.ratio} for row in rows], "time": timing, "notes": notes,
            "environment": {k: v for k, v in tools.env.items() if k.startswith(("NCCL_", "CUDA_")) or k == "LD_LIBRARY_PATH"},
            "tools": {"bench": tools.bench, "nvbandwidth": tools.nvbandwidth, "all_reduce_perf": tools.all_reduce_perf,
                      "torch_python": tools.torch_python},
            **{label: {"seconds": side.seconds, "rounds": [asdict(f) for figures in side.figures.values() for f in figures]}
               for label, side in (("ours", ours), ("theirs", theirs))},
        }  # fmt: skip
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    if any(row.verdict.startswith("off") for row in rows) or timing.endswith(": off"):
        return 1
    return 0 if any(row.verdict == "ok" for row in rows) else 3


if __name__ == "__main__":
    sys.exit(main())
