"""`gpudoctor topo`: how data moves through the machine, drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from . import api, registry
from .bundle import Report
from .cli_options import recorded
from .examine import ExamineLevel, Options
from .kernels import native
from .progress import Progress
from .terminal import Drawing, deliver, show

SUBJECTS = ("topology", "nccl", "measurements")
"""Whose checks judge it."""
_LIMIT_S = 120.0
_MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is to be drawn."""

    file: Path | None = None
    """A recorded report; None: this machine."""
    kernels: bool = True
    python: str | None = None
    timeout_s: float | None = None


def plan() -> tuple[native.Kernel, ...]:
    """What is measured: each pair of GPUs, by the kernels and sizes of the standard level and of `bench`."""
    copies = tuple(k for k in native.STANDARD if k.name == "copy-pair")
    return (*copies, native.Kernel("all-reduce-pair", {"size": 128 * _MIB, "samples": 3, "iterations": 10}))


def topo(asked: Asked, format: Drawing, write: Callable[[str], None] | None) -> int:
    """Draw it. 0; 1: something is found that slows it down or breaks it; 3: there is no GPU to be seen."""
    checks = registry.select(SUBJECTS)
    from .render import topo as render

    is_recorded = asked.file is not None
    report = recorded(asked.file, checks) if asked.file is not None else _here(asked, checks)
    if format is Drawing.TEXT:
        show(lambda out: render.show(report, out, why_unmeasured=_why(asked), recorded=is_recorded), write)
    else:
        shown = api.redacted(report, checks, here=not is_recorded)
        deliver(render.json(shown) if format is Drawing.JSON else render.dot(shown), write)
    devices = report.facts.gpu.devices
    if not isinstance(devices, tuple) or not devices:
        return 3
    return 1 if any(f.level in ("fail", "warn") for f in report.findings) else 0


def _here(asked: Asked, checks: tuple[registry.Check, ...]) -> Report:
    options = Options(
        level=ExamineLevel.STANDARD if asked.kernels else ExamineLevel.QUICK,
        python=asked.python,
        kernels=asked.kernels,
        native=plan(),
        native_limit_s=_LIMIT_S,
        tensorflow=False,
        framework=(),
        timeout_s=asked.timeout_s,
    )
    progress = Progress()
    with progress.shown():
        return api.check(options, checks, trials=False, progress=progress.step)[0]


def _why(asked: Asked) -> str:
    if asked.file is not None:
        return "the report has no such measurement"
    return "--no-kernels" if not asked.kernels else "no copy between two GPUs ended with a result"
