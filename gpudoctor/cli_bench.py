"""`gpudoctor bench`: every GPU measured, as a table, JSON or CSV."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Callable

from . import api, registry
from .bundle import Report
from .examine import ExamineLevel, Options
from .kernels import native
from .kernels import tensorflow as in_tensorflow
from .progress import Progress
from .terminal import Backend, Table, UsageError, deliver, show

SUBJECTS = ("measurements", "topology", "nccl")
"""Whose checks judge a benchmark."""
NATIVE_LIMIT_S = 300.0


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is to be measured."""

    wanted: tuple[str, ...] = ()
    """Patterns of kernel names; empty: all."""
    backend: Backend = Backend.NATIVE
    gpus: str | None = None
    repeats: int = 5
    quick: bool = False
    """The sizes and repeats of the standard level of `check`."""
    budget_s: float | None = None
    price: float | None = None
    python: str | None = None
    timeout_s: float | None = None


def bench(asked: Asked, format: Table, write: Callable[[str], None] | None, *, verbose: bool) -> int:
    """Measure and print. 0: all is measured and right; 1: something is not; 3: there was nothing to measure on."""
    options = _options(asked)
    progress = Progress()
    with progress.shown():
        report, _ = api.check(options, registry.select(SUBJECTS), trials=False, progress=progress.step)
    _print(report, format, write, asked.price, verbose=verbose)
    if all(one.skipped or one.failed for one in report.measurements):
        return 1 if any(one.failed for one in report.measurements) else 3
    bad = any(one.failed or one.verified is False for one in report.measurements)
    return 1 if bad or any(f.level in ("fail", "warn") for f in report.findings) else 0


def _options(asked: Asked) -> Options:
    """What the examination needs to know."""
    plan = native.STANDARD if asked.quick else native.bench(asked.repeats)
    plan = plan if asked.backend is not Backend.TENSORFLOW else ()
    framework: tuple[str, ...] = in_tensorflow.STANDARD if asked.quick else in_tensorflow.ALL
    framework = framework if asked.backend is not Backend.NATIVE else ()
    plan, framework = _chosen(asked.wanted, plan, framework)
    return Options(
        level=ExamineLevel.STANDARD,
        python=asked.python,
        native=plan,
        gpus=None if asked.gpus is None else _indices(asked.gpus),
        native_limit_s=NATIVE_LIMIT_S,
        tensorflow=bool(framework),
        framework=framework,
        repeats=asked.repeats,
        timeout_s=asked.timeout_s,
        budget_s=asked.budget_s,
    )


def _chosen(
    wanted: tuple[str, ...], plan: tuple[native.Kernel, ...], framework: tuple[str, ...]
) -> tuple[tuple[native.Kernel, ...], tuple[str, ...]]:
    """The kernels whose names match, and what prepares them."""
    if not wanted:
        return plan, framework
    names = dict.fromkeys([native.title(one) for one in plan if one.name not in native.NO_FIGURE] + list(framework))
    for pattern in wanted:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"there is no kernel {pattern!r}; there are: {', '.join(names)}")
    matched = [one for one in plan if any(fnmatch.fnmatch(native.title(one), p) for p in wanted)]
    prepared = any(one.name in native.PREPARED for one in matched)
    return (
        tuple(one for one in plan if one in matched or (one.name in native.NO_FIGURE and prepared)),
        tuple(name for name in framework if any(fnmatch.fnmatch(name, p) for p in wanted)),
    )


def _indices(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = (-1,)
    if min(found) < 0 or len(set(found)) != len(found):
        raise UsageError(f"--gpu {text}: name GPUs as CUDA numbers them, each once: 0,1")
    return found


def _print(
    report: Report,
    format: Table,
    write: Callable[[str], None] | None,
    price: float | None,
    *,
    verbose: bool,
) -> None:
    from .render import bench, bench_text

    if format is not Table.TEXT:
        deliver(bench.csv(report, price) if format is Table.CSV else bench.json(report, price), write)
        return
    show(lambda out: bench_text.show(report, out, price=price, verbose=verbose), write)
