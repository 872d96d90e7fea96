"""What a program did under `gpudoctor run`, for a person."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Load, Quantiles, Run, RunGpu, Unread


def lines(run: Run) -> Iterator[str]:
    """The program, its GPUs, its processors and memory: a line each, what is not known left out. Nothing where nothing was run."""
    if not isinstance(run.command, tuple):
        return
    ended = f"ended by {run.signal}" if isinstance(run.signal, str) else f"exit code {run.exit_code}"
    steady = ""
    if isinstance(run.steady_s, float) and isinstance(run.warm_up_s, float):
        steady = f"; what follows is of {run.steady_s:.0f} s, from {run.warm_up_s:.0f} s on"
    took = f"{run.seconds:.1f} s, " if isinstance(run.seconds, float) else ""
    yield f"{took}{ended}{steady}"
    for gpu in () if isinstance(run.gpus, Unread) else run.gpus:
        if told := ", ".join(_gpu(gpu)):
            yield f"GPU {gpu.index}{f' {gpu.name}' if isinstance(gpu.name, str) else ''}: {told}"
    if told := ", ".join(_host(run)):
        yield f"host: {told}"


def _gpu(gpu: RunGpu) -> Iterator[str]:
    if isinstance(busy := gpu.utilisation_percent, Quantiles):
        yield f"at work in {busy.mean:.0f}% of the time"
    if isinstance(gpu.sm_percent, float):
        yield f"multiprocessors {gpu.sm_percent:.0f}%"
    if isinstance(gpu.tensor_percent, float):
        yield f"tensor cores {gpu.tensor_percent:.0f}%"
    if isinstance(gpu.load, Load) and isinstance(gpu.load.power_w, float):
        yield f"{gpu.load.power_w:.0f} W"
    if isinstance(held := gpu.held_bytes(), int):
        yield f"{held / (1 << 30):.1f} GiB held"
    if isinstance(rate := gpu.copied_in_gb_per_s, Quantiles):
        yield f"{rate.mean:.2f} GB/s to it"


def _host(run: Run) -> Iterator[str]:
    if isinstance(run.cores, Quantiles):
        usable = f" of {run.cores_usable}" if isinstance(run.cores_usable, int) else ""
        yield f"{run.cores.mean:.1f}{usable} processors at work"
    if isinstance(run.memory_bytes, tuple) and run.memory_bytes:
        first, last = run.memory_bytes[0] / (1 << 30), run.memory_bytes[-1] / (1 << 30)
        yield f"memory {first:.1f} to {last:.1f} GiB"
    if isinstance(run.read_bytes_per_s, float):
        yield f"{run.read_bytes_per_s / 1e6:.0f} MB/s read from disks"
