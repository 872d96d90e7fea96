"""The spread of each figure over many runs on one host, and what was warned of.

    python -m benchmarks.spread [--runs 20] [--quick] [--check] [--python PATH] [--bench 'COMMAND'] [--json FILE]

Runs `gpudoctor bench --format json` again and again and prints a table in Markdown, for docs/measuring.md. Of a figure that several
GPUs have, or pairs of them, the median is that of all their runs, and the spread, (most - least) / median over the runs, that of the
one with the largest: what differs from GPU to GPU is none. With `--check` each round also runs `gpudoctor check --level standard`.

Exit code: 0 where nothing was warned of in any run, 1 where something was, 3 where no run gave figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.reference_tools import run
from gpudoctor.render import measured
from gpudoctor.render.bench import Bench

Figure = tuple[str, str]
"""A kernel with its type and size, as the table of `gpudoctor bench` has it; a unit."""
TIME = ("a whole run of bench", "s")


@dataclass
class Runs:
    """What all runs gave."""

    count: int = 0
    """Runs that were begun."""
    values: dict[Figure, dict[str, list[float]]] = field(default_factory=dict)
    """By figure and GPU, pair or group."""
    seconds: list[float] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    """In how many runs each was given."""
    notes: Counter[str] = field(default_factory=Counter)
    """The same of what is no warning."""
    verdicts: Counter[str] = field(default_factory=Counter)
    """Of `check`."""
    host: str = ""

    def add(self, bench: Bench, seconds: float) -> None:
        """One run of the benchmark."""
        models = dict.fromkeys(bench.gpus)
        named = ", ".join(f"{bench.gpus.count(name)}x {name}" for name in models) or "no GPU"
        self.host = f"{named}, driver {bench.driver_version or 'unknown'}, {bench.started_at[:10]}"
        self.seconds.append(seconds)
        warnings, notes = set[str](), set[str]()
        for one in bench.measurements:
            if isinstance(one.value, float) and isinstance(one.unit, str):
                figure = (measured.what(one), one.unit)
                self.values.setdefault(figure, {}).setdefault(one.device, []).append(one.value)
            if one.verified is False:
                warnings.add(f"{one.kernel} on {one.device}: wrong numbers")
            if one.failed:
                warnings.add(f"{one.kernel} on {one.device} failed: {one.failed}")
        for verdict in bench.verdicts:
            text = f"{verdict.kernel} on {verdict.device}: {verdict.verdict}"
            if verdict.verdict in ("low", "impossible"):
                warnings.add(text)
            elif verdict.verdict == "info":
                notes.add(text)
        self.warnings.update(warnings)
        self.notes.update(notes)


def table(runs: Runs) -> str:
    """Markdown."""
    lines = ["| figure | on | median | least | most | spread |", "|---|---|---|---|---|---|"]
    whole = {**runs.values, **({TIME: {"": runs.seconds}} if runs.seconds else {})}
    for (what, unit), by_device in whole.items():
        every = [value for values in by_device.values() for value in values]
        figures = [f"{number:.4g}" for number in (statistics.median(every), min(every), max(every))]
        figures[0] += f" {unit}"
        spread = max((max(values) - min(values)) / statistics.median(values) for values in by_device.values())
        lines.append(f"| {what} | {_where(list(by_device))} | {' | '.join(figures)} | {spread:.1%} |")
    return "\n".join(lines)


def _where(devices: list[str]) -> str:
    if len(devices) > 2 and all(name.count(",") == 1 for name in devices):
        return f"{measured.devices(devices)}, {len(devices)} pairs"
    return measured.devices(devices) if devices != [""] else ""


def summary(runs: Runs, command: Sequence[str]) -> str:
    """The table below what was run, above what was warned of."""

    def counted(what: Counter[str]) -> list[str]:
        return [f"* in {count} of {runs.count} runs: {text}" for text, count in what.most_common()]

    lines = [f"{runs.host}; {runs.count} runs of `{' '.join(command)}`.", "", table(runs), ""]
    lines += counted(runs.warnings) or [f"Warnings: none in {runs.count} runs."]
    if runs.notes:
        lines += ["", "Less than usual, and no warning:", "", *counted(runs.notes)]
    if runs.verdicts:
        told = ", ".join(f"{verdict} {count}" for verdict, count in runs.verdicts.most_common())
        lines += ["", f"Verdicts of `gpudoctor check --level standard`: {told}."]
    return "\n".join(lines)


def judged(text: str) -> tuple[str, list[str]]:
    """The verdict of a report of `check`, and the causes of its findings that are no information. Raises ValueError."""
    try:
        report = json.loads(text)
        causes = [f["cause"] for f in report["findings"] if f["level"] != "info"]
        return str(report["diagnosis"]["verdict"]), causes
    except (KeyError, TypeError) as e:
        raise ValueError(f"not a report: {e!r}") from e


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, exit with 1 where something was warned of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="the sizes of the standard level of check")
    parser.add_argument("--check", action="store_true", help="run `gpudoctor check --level standard` as well")
    parser.add_argument("--python", help="the interpreter that is examined")
    parser.add_argument("--bench", help="our command, if it is not `python -m gpudoctor`")
    parser.add_argument("--json", type=Path, help="a file for every value")
    options = parser.parse_args(arguments)
    ours = shlex.split(options.bench) if options.bench else [sys.executable, "-m", "gpudoctor"]
    python = ["--python", options.python] if options.python else []
    quick = ["--quick"] if options.quick else []
    runs = Runs()
    for number in range(1, max(1, options.runs) + 1):
        runs.count += 1
        ran = run([*ours, "bench", *quick, "--format", "json", *python], os.environ)
        try:  # exit code 1 is a finding, not a failure
            runs.add(msgspec.json.decode(ran.out, type=Bench), ran.seconds)
        except msgspec.DecodeError as e:
            runs.warnings[ran.failed or f"what it printed was not understood: {e}"] += 1
            print(f"run {number}: {ran.failed or e}", file=sys.stderr)
            continue
        print(f"run {number}: {ran.seconds:.1f} s, exit {ran.code}", file=sys.stderr)
        if options.check:
            ran = run([*ours, "check", "--level", "standard", "--format", "json", *python], os.environ)
            try:
                verdict, causes = judged(ran.out)
            except ValueError as e:
                verdict, causes = "none", [ran.failed or str(e)]
            runs.verdicts[verdict] += 1
            runs.warnings.update({f"check: {cause}" for cause in causes})
    command = ["gpudoctor", "bench", *quick]
    print(summary(runs, command) if runs.values else "no run gave figures")
    if options.json:
        kept = [{"figure": f[0], "unit": f[1], "values": by_device} for f, by_device in runs.values.items()]
        whole = {
            "host": runs.host,
            "seconds": runs.seconds,
            "figures": kept,
            "warnings": runs.warnings,
            "notes": runs.notes,
        }
        options.json.write_text(json.dumps({**whole, "verdicts": runs.verdicts}, indent=1) + "\n")
    if not runs.values:
        return 3
    return 1 if runs.warnings or set(runs.verdicts) - {"healthy"} else 0


if __name__ == "__main__":
    sys.exit(main())
