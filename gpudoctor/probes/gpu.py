"""NVML's answers as facts. It is asked in a child of the patient: it can hang like any vendor library."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from ..facts import Gpu, GpuDevice, Unread, unread_all
from .ask import Answers, Task


@functools.cache
def task() -> Task:
    """The question, with the text of pynvml: the patient needs not have it."""
    import pynvml

    return ("nvml.nvml", {"library": Path(pynvml.__file__).read_text(encoding="utf-8")})


def read(answers: Answers) -> Gpu:
    """What the child did not get to is unread, with how it ended."""
    silent = Unread(why=f"the process that asks NVML {answers.outcome.how or 'gave no answer'}", settle="nvidia-smi")
    head: dict[str, Any] | None = answers.last("nvml")
    if head is None:
        return unread_all(Gpu, answers.unread("nvml.nvml", "nvidia-smi") if answers.errors else silent)
    if head["error"] is not None:
        failed = Unread(why=f"NVML: {head['text']}", settle="nvidia-smi")
        return Gpu(nvml_error=head["error"], nvml_error_text=head["text"], driver_version=failed, devices=failed)
    got = {d["index"]: d for d in answers.all("nvml_gpu")}
    return Gpu(
        nvml_error=None,
        nvml_error_text=None,
        driver_version=head["driver"] or silent,
        devices=tuple(_device(i, got.get(i), silent) for i in range(head["count"])),
    )


def _device(index: int, raw: dict[str, Any] | None, silent: Unread) -> GpuDevice:
    if raw is None or "lost" in raw:
        why = silent if raw is None else Unread(why=f"NVML: {raw['lost']['error']}", settle="nvidia-smi")
        return GpuDevice(index=index, **dict.fromkeys(GpuDevice.__struct_fields__[1:], why))

    def value(name: str) -> Any:
        got = raw[name]
        return Unread(why=f"NVML: {got['error']}", settle="nvidia-smi -q") if isinstance(got, dict) else got

    capability = value("compute_capability")
    return GpuDevice(
        index=index,
        name=value("name"),
        uuid=value("uuid"),
        pci_address=value("pci_address"),
        compute_capability=tuple(capability) if isinstance(capability, list) else capability,
        memory_total_bytes=value("memory_total_bytes"),
        fabric_state=value("fabric_state"),
    )
