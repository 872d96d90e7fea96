"""Kernels without a framework: which run at which level, and the patient's answers -> measurements."""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..facts import LEFT_OUT, NATIVE, ClockReason, CudaDevice, Load, Measurement, Unread, clock_reasons

TASK = "native.native"
MIB = 1 << 20
LEAST_S = 2.0
"""No kernel gets less time than this, where there is as much."""


class Kernel(NamedTuple):
    """A kernel of `gpudoctor/patient/native.py`, and its parameters there."""

    name: str
    parameters: Mapping[str, Any]


_COPY = {"size": 64 * MIB, "queued": 8, "samples": 3}
STANDARD = (
    Kernel("copy-inside", {"size": 512 * MIB, "queued": 8, "samples": 3}),
    Kernel("memory-pattern", {"size": 2048 * MIB, "samples": 1}),
    Kernel("matmul-float32", {"n": 8192, "queued": 1, "samples": 3}),
    Kernel("matmul-tf32", {"n": 8192, "queued": 8, "samples": 3}),
    Kernel("matmul-float16", {"n": 8192, "queued": 16, "samples": 3}),
    Kernel("matmul-bfloat16", {"n": 8192, "queued": 16, "samples": 3}),
    Kernel("matmul-float8", {"n": 8192, "queued": 16, "samples": 3}),
    Kernel("repeat-matmul", {"n": 8192, "dtype": "float16", "seconds": 0.1}),
    Kernel("prepare-copies", {"size": 64 * MIB}),
    Kernel("copy-host-to-device", _COPY),
    Kernel("copy-device-to-host", _COPY),
    Kernel("copy-both-ways", _COPY),
    Kernel("copy-host-to-device-pageable", {"size": 64 * MIB, "samples": 3}),
    Kernel("copy-latency", {"samples": 3}),
    Kernel("launch-latency", {"samples": 3}),
    Kernel("copy-pair", {"size": 256 * MIB, "queued": 8, "samples": 3, "peer": True}),
    Kernel("all-reduce", {"size": 128 * MIB, "graph": False, "iterations": 20, "samples": 3}),
    Kernel("all-reduce", {"size": 1024 * MIB, "graph": False, "iterations": 5, "samples": 3}),
    Kernel("all-reduce", {"size": 8 * MIB, "graph": True, "iterations": 20, "samples": 3}),
)
"""What the standard level of `check` runs, in this order: each long enough for a figure, all of them a few seconds. What lives on the
memory comes first: under the power that products draw, clocks sink, and copies inside the GPU with them (H200: 2100 to 1890 GB/s)."""
_HALF = ("float16", "bfloat16", "float8")
_BENCH_COPY = {"size": 512 * MIB, "queued": 16}


def bench(repeats: int) -> tuple[Kernel, ...]:
    """What `gpudoctor bench` runs: sizes as the reference tools take them, `repeats` samples each."""
    plan = [
        Kernel("copy-inside", _BENCH_COPY),
        Kernel("memory-pattern", {"size": 16384 * MIB}),
        Kernel("matmul-float32", {"n": 8192, "queued": 4}),
        Kernel("matmul-tf32", {"n": 8192, "queued": 16}),
        *(Kernel(f"matmul-{dtype}", {"n": 8192, "queued": 32}) for dtype in _HALF),
        *(Kernel(f"matmul-{dtype}", {"n": 16384, "queued": 8}) for dtype in _HALF),
        *(Kernel("repeat-matmul", {"n": 8192, "dtype": d, "seconds": 0.5}) for d in ("float32", "float16")),
        Kernel("prepare-copies", {"size": 512 * MIB}),
        Kernel("copy-host-to-device", _BENCH_COPY),
        Kernel("copy-device-to-host", _BENCH_COPY),
        Kernel("copy-both-ways", _BENCH_COPY),
        Kernel("copy-host-to-device-far", _BENCH_COPY),
        Kernel("copy-host-to-device-pageable", {"size": 512 * MIB}),
        Kernel("copy-device-to-host-pageable", {"size": 512 * MIB}),
        Kernel("copy-latency", {}),
        Kernel("launch-latency", {}),
        Kernel("copy-pair", {**_BENCH_COPY, "peer": True}),
        Kernel("copy-pair", {"size": 128 * MIB, "queued": 2, "peer": False}),
        *(Kernel("all-reduce", {"size": n * MIB, "graph": n < 16, "iterations": 20}) for n in (1, 8, 128, 1024)),
        Kernel("all-reduce-pair", {"size": 128 * MIB, "iterations": 20}),
        Kernel("all-reduce-latency", {"iterations": 100}),
    ]
    return tuple(one if one.name in _NO_SAMPLES else _sampled(one, repeats) for one in plan)


_NO_SAMPLES = ("repeat-matmul", "prepare-copies")


def _sampled(one: Kernel, repeats: int) -> Kernel:
    return Kernel(one.name, {**one.parameters, "samples": repeats})


def title(one: Kernel) -> str:
    """The kernel's name as a measurement has it."""
    return _SECOND_NAME.get(one.name, one.name) if one.parameters.get("peer") is False else one.name


COSTS = {
    "all-reduce": 1.0,
    "copy-pair": 0.1,
    "prepare-copies": 0.1,
    "copy-host-to-device": 0.1,
    "matmul-float16": 0.45,
    "matmul-float32": 0.5,
    "copy-device-to-host": 0.1,
    "copy-inside": 0.1,
    "memory-pattern": 0.15,
    "matmul-tf32": 0.25,
    "repeat-matmul": 0.2,
    "all-reduce-pair": 0.5,
    "matmul-bfloat16": 0.35,
    "copy-both-ways": 0.1,
    "copy-host-to-device-pageable": 0.15,
    "copy-pair-no-peer": 0.2,
    "matmul-float8": 0.25,
    "all-reduce-latency": 0.2,
    "copy-latency": 0.05,
    "launch-latency": 0.05,
    "copy-host-to-device-far": 0.1,
    "copy-device-to-host-pageable": 0.2,
}
"""Seconds that a kernel of the standard level takes on one H200, or on one pair. The most telling first: they stay where time is short."""
_LONGER = 3.0
"""How much more those of `bench` take: their sizes are four times as large."""


SEVERAL = ("copy-pair", "all-reduce", "all-reduce-pair", "all-reduce-latency")
"""Those that need more than one GPU."""
NO_FIGURE = ("prepare-copies",)
"""What only prepares others."""
PREPARED = ("copy-host-to-device", "copy-device-to-host", "copy-both-ways")
"""Those others; pageable copies compare their data with the same buffers, and do with less haste."""
_SECOND_NAME = {"copy-pair": "copy-pair-no-peer"}


def task(
    plan: Sequence[Kernel],
    gpus: Sequence[int] | None,
    limit_s: float,
    *,
    after_nvml: bool,
    share_s: float | None = None,
) -> tuple[str, dict[str, Any]]:
    """The task of the patient that runs `plan` on `gpus` (None: all), at most `limit_s` seconds in all, and each a third of it
    or `LEAST_S`, whichever is longer. Of the plan, it leaves out what does not fit into `share_s` seconds."""
    longer = 1.0 if all(one in STANDARD for one in plan) else _LONGER
    telling, titles = list(COSTS), [title(one) for one in plan]
    in_order = sorted(range(len(plan)), key=lambda i: telling.index(titles[i]))
    return (
        TASK,
        {
            "plan": [[one.name, dict(one.parameters)] for one in plan],
            "only": None if gpus is None else list(gpus),
            "limit_s": min(limit_s, max(limit_s / 3, LEAST_S)),
            "total_s": limit_s,
            "after_nvml": after_nvml,
            "share_s": share_s,
            "costs": [] if share_s is None else [[i, COSTS[titles[i]] * longer] for i in in_order],
        },
    )


def read(
    plan: Sequence[Kernel],
    gpus: Sequence[int] | None,
    told: Mapping[str, Any] | None,
    answered: Sequence[Mapping[str, Any]],
    ended: Unread | None,
    listed: Sequence[CudaDevice] = (),
) -> tuple[Measurement, ...]:
    """Measurements of the answers 'native_devices' (`told`) and 'native'. How the process `ended`, if it ended badly: then what it
    did not come to is a measurement without a value, and so is everything where the GPUs could not be counted although CUDA has
    `listed` some."""
    devices: Sequence[Mapping[str, Any]] = (told or {}).get("value") or ()
    done = [raw for raw in answered if "no_value" not in raw.get("value", ())]
    outcome = "skipped" if ended is not None and ended.chosen else "failed"
    why = {outcome: ended.why} if ended is not None else _uncounted(told)
    if why and not devices:
        devices = [{"name": d.name, "pci_address": d.pci_address} for d in listed]
    if why:
        have = {(raw["kernel"], *raw["gpus"]) for raw in answered}
        done += [
            {"kernel": one.name, "parameters": one.parameters, "gpus": [i], "total_seconds": 0.0, **why}
            for one in plan
            if one.name not in (*SEVERAL, *NO_FIGURE)
            for i in range(len(devices))
            if (gpus is None or i in gpus) and (one.name, i) not in have
        ]
    return tuple(_measurement(raw, devices) for raw in done)


def left_out(
    plan: Sequence[Kernel], positions: Sequence[int], told: Mapping[str, Any] | None, gpus: Sequence[int] | None
) -> tuple[Measurement, ...]:
    """Measurements without a value of those of `plan` for which there was no time, on the GPUs of the answer `told`."""
    devices: Sequence[Mapping[str, Any]] = (told or {}).get("value") or ()
    seen = [i for i in range(len(devices)) if gpus is None or i in gpus]
    common = {"skipped": LEFT_OUT.why, "total_seconds": 0.0}
    return tuple(
        _measurement({"kernel": one.name, "parameters": one.parameters, "gpus": on, **common}, devices)
        for one in (plan[i] for i in positions)
        if one.name not in NO_FIGURE and len(seen) > (one.name in SEVERAL)
        for on in ([seen] if one.name in SEVERAL else [[i] for i in seen])
    )


def _uncounted(told: Mapping[str, Any] | None) -> dict[str, str]:
    """Why the GPUs could not be counted; {}: they were."""
    failed = str((told or {}).get("failed", ""))
    absent = failed.removeprefix("Absent: ")
    return {"skipped": absent} if absent != failed else {"failed": failed} if failed else {}


def _measurement(raw: Mapping[str, Any], devices: Sequence[Mapping[str, Any]]) -> Measurement:
    gpus, name = raw["gpus"], raw["kernel"]
    if raw["parameters"].get("peer") is False:
        name = _SECOND_NAME.get(name, name)
    models, addresses = {devices[i]["name"] for i in gpus}, tuple(devices[i]["pci_address"] for i in gpus)
    common: dict[str, Any] = {
        "kernel": name,
        "backend": NATIVE,
        "device": ",".join(f"GPU:{i}" for i in gpus),
        "pci_addresses": next((a for a in addresses if isinstance(a, Unread)), addresses),
        "device_name": models.pop() if len(models) == 1 else Unread(why="the GPUs are of several models"),
        "seconds": raw["total_seconds"],
    }
    if "value" not in raw:
        skipped = raw.get("skipped")
        why = Unread(why=skipped, chosen=True) if skipped else Unread(why=raw["failed"])
        size = raw["parameters"].get("size")
        return Measurement(**common, size=(size,) if size else Unread(why=why.why), value=why, verified=why)
    got: Mapping[str, Any] = raw["value"]
    none = Unread(why="this kernel does not say")
    samples, library = tuple(got["samples"]), got.get("library")
    kept = sorted(samples)[1:-1] if len(samples) > 4 else samples
    middle = statistics.median(kept)
    return Measurement(
        **common,
        dtype=got["dtype"],
        size=tuple(got["size"]),
        unit=got["unit"],
        value=middle,
        spread=(max(kept) - min(kept)) / middle if middle else none,
        samples=samples,
        first_s=got.get("first_s", none),
        warm_up=got.get("warm_up", none),
        queued=got.get("queued", 1),
        overhead_s=0.0,
        verified=got["verified"],
        against=got.get("against", none),
        error=Unread(why="the result is not finite, or not the data") if got["error"] is None else got["error"],
        tolerance=got["tolerance"],
        library=library["path"] if library else None,
        library_version=(library["version"] or _release(library["path"])) if library else None,
        peak_memory_bytes=raw.get("peak_bytes", none),
        load=_load(raw.get("watched")),
        transport=_transport(raw.get("log")),
        channels=_channels(raw.get("log")),
    )


_VIA = re.compile(r" Channel (\d+)(?:/\d+)? : \d+\[\w+\] -> \d+\[\w+\] (?:\[\w+\] )?via (\S+)")


def _transport(log: str | None) -> tuple[str, ...] | Unread:
    """From the lines of NCCL's own log about the communicator that was measured."""
    if log is None:
        return Unread(why="this kernel has no communicator")
    ways = sorted(
        {way for _, way in _VIA.findall(log)} | ({"NVLS"} if re.search(r" NVLS comm 0x\w+ headRank", log) else set())
    )
    return tuple(ways) if ways else Unread(why="NCCL's log does not tell it")


def _channels(log: str | None) -> int | Unread:
    found = re.findall(r" (\d+) coll channels,", log or "")
    return int(found[-1]) if found else Unread(why="NCCL's log does not tell it")


def _release(path: str | None) -> str | None:
    """The driver's release in the name of libcuda's file."""
    found = re.search(r"libcuda\.so\.(\d{3}\.[\d.]+)$", os.path.realpath(path or ""))
    return found.group(1) if found else None


def _load(watched: Mapping[str, Any] | None) -> Load | Unread | None:
    if watched is None:
        return None
    if "why" in watched:
        return Unread(why=watched["why"])

    def of(name: str, choose: Any) -> Any:
        values = watched.get(name)
        return choose(values) if values else None

    masks = watched.get("reasons") or []
    names = [clock_reasons(mask) for mask in masks]
    shares = {name: sum(name in one for one in names) / len(names) for one in names for name in one}
    energy = watched.get("energy_mj")
    return Load(
        seconds=watched["seconds"],
        samples=watched["samples"],
        clock_sm_mhz=of("clock_sm_mhz", statistics.median_low),
        clock_sm_min_mhz=of("clock_sm_mhz", min),
        clock_memory_mhz=of("clock_memory_mhz", statistics.median_low),
        clock_reasons=tuple(ClockReason(name=n, share=s) for n, s in sorted(shares.items())) if masks else None,
        power_w=of("power_mw", lambda all_: statistics.median(all_) / 1000),
        power_max_w=of("power_mw", lambda all_: max(all_) / 1000),
        energy_j=energy / 1000 if energy is not None else None,
        temperature_max_c=of("temperature_c", max),
        utilisation_percent=of("utilisation_percent", statistics.fmean),
        pcie_generation=of("pcie_generation", max),
        pcie_width=of("pcie_width", max),
    )
