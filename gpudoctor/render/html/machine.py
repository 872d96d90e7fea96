"""What was looked at: a machine, a pasted text, a program that ran."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ...facts import CudaDevice, Facts, GpuDevice, Unread
from .. import log, run
from ..measured import amount
from ..view import View, count
from .markup import Child, Markup, capped, code, folded, table, tag

_MOST = 128
_NAMES = {"tensorflow": "TensorFlow", "cuda": "CUDA", "nvml": "NVML"}

Row = tuple[Child, ...]


def machine(view: View) -> Iterator[Markup]:
    """The host, its software and its GPUs; nothing where there is a text and no machine behind it."""
    facts = view.report.facts
    if facts.text.is_all:
        return
    if rows := [row for row in _host(facts, view) if row[1]]:
        yield table("The machine", (), rows, class_="facts")
    devices = list(_devices(facts))
    shown, left = capped(devices, _MOST)
    if shown:
        head = ("NVML", "CUDA", "model", "PCI address", "capability", "memory", "power limit", "temperature", "ECC")
        yield tag("h3", "GPUs")
        yield table("GPUs", head, (_gpu(*one) for one in shown))
        yield tag("p", "NVML counts all GPUs; CUDA those that the examined process may use.", class_="note")
    if left is not None:
        yield left
    yield from _libraries(facts)
    yield from _variables(facts)


def in_a_line(facts: Facts) -> str:
    """'4 x NVIDIA H200 · driver 580.159.04 · …': what is known."""
    parts = []
    names = [one.name if isinstance(one.name, str) else "GPU" for one in _listed(facts.gpu.devices)[:_MOST]]
    parts += [f"{names.count(name)}× {name}" for name in list(dict.fromkeys(names))[:4]]  # noqa: RUF001
    if isinstance(facts.driver.kernel_version, str):
        parts.append(f"driver {facts.driver.kernel_version}")
    if isinstance(facts.tensorflow.version, str):
        parts.append(f"TensorFlow {facts.tensorflow.version}")
    if isinstance(facts.python.version, str):
        parts.append(f"Python {facts.python.version}")
    return " · ".join(parts)


def _listed(devices: tuple[GpuDevice, ...] | Unread) -> tuple[GpuDevice, ...]:
    return () if isinstance(devices, Unread) else devices


def _said(value: object, none: str = "none") -> str:
    """A fact in words; '' where nobody looked."""
    if isinstance(value, Unread):
        return "" if value.why == "not recorded" else f"not read: {value.why}"
    return none if value is None else str(value)


def _known(*values: object) -> list[str]:
    return [str(value) for value in values if value is not None and not isinstance(value, Unread)]


def _host(facts: Facts, view: View) -> Iterator[Row]:
    system, python, flow, driver = facts.system, facts.python, facts.tensorflow, facts.driver
    build = flow.build
    yield (
        "System",
        " · ".join(
            filter(None, [" ".join(_known(system.system, system.kernel)), *_known(system.machine, system.distribution)])
        ),
    )
    virtual = "virtual machine" if system.hypervisor is True else "bare machine" if system.hypervisor is False else ""
    inside = f"in a container ({system.container})" if isinstance(system.container, str) else ""
    yield "Host", " · ".join([*_known(system.machine_vendor, system.machine_product), *filter(None, (virtual, inside))])
    yield "Processor", " · ".join([*_known(system.cpu_model), *_cores(facts)])
    flavour = f" ({driver.kernel_flavour} kernel module)" if isinstance(driver.kernel_flavour, str) else ""
    yield "Driver", _said(driver.kernel_version, "its kernel module is not loaded") + flavour
    of_driver = driver.libcuda.cuda or _said(driver.libcuda.api_version)
    path = driver.libcuda.path
    yield "CUDA of the driver", [of_driver, ", by ", code(path)] if of_driver and isinstance(path, str) else of_driver
    made = [f"built for CUDA {build.cuda_version}"] if isinstance(build.cuda_version, str) else []
    made += [f"cuDNN {build.cudnn_version}"] if isinstance(build.cudnn_version, str) else []
    made = ["built without CUDA"] if build.cuda is False else made
    name = [flow.distribution] if isinstance(flow.distribution, str) and flow.distribution != "tensorflow" else []
    yield "TensorFlow", " · ".join(filter(None, [_said(flow.version, "not installed"), *name, ", ".join(made)]))
    why = f" ({python.chosen_because})" if isinstance(python.chosen_because, str) else ""
    at: list[Child] = [" · ", code(python.executable), why] if isinstance(python.executable, str) else []
    yield "Python", [_said(python.version), *at] if _said(python.version) or at else None
    over = python.passed_over if isinstance(python.passed_over, tuple) else ()
    yield "Passed over", ", ".join(over[:_MOST])
    lists = [f"{_NAMES[source]} {number}" for source, number in view.gpus.items()]
    yield "GPUs that are listed", " · ".join(f"by {one}" for one in lists)


def _cores(facts: Facts) -> Iterator[str]:
    cores, usable, memory = facts.system.cores, facts.system.cores_usable, facts.system.memory_total_bytes
    if isinstance(cores, int):
        yield f"{usable} of {count(cores, 'core')} usable" if isinstance(usable, int) else count(cores, "core")
    if isinstance(memory, int):
        yield f"{amount(memory)} of memory"


# ------------------------------------------------------------------------------- GPUs


def _devices(facts: Facts) -> Iterator[tuple[GpuDevice | None, CudaDevice | None]]:
    """NVML's and CUDA's words on each GPU, by its address."""
    cuda = () if isinstance(facts.driver.libcuda.devices, Unread) else facts.driver.libcuda.devices
    by_address = {one.pci_address: one for one in reversed(cuda) if isinstance(one.pci_address, str)}
    seen = set()
    for one in _listed(facts.gpu.devices):
        address = one.pci_address if isinstance(one.pci_address, str) else ""
        seen.add(address)
        yield one, by_address.get(address)
    for other in cuda:
        if other.pci_address not in seen:
            yield None, other


def _gpu(nvml: GpuDevice | None, cuda: CudaDevice | None) -> Row:
    def told(name: str) -> object:
        values = [getattr(one, name, None) for one in (nvml, cuda) if one is not None]
        return next((v for v in values if v is not None and not isinstance(v, Unread)), None)

    memory, capability = told("memory_total_bytes"), told("compute_capability")
    power, heat, ecc = told("power_limit_w"), told("temperature_c"), told("ecc_mode")
    return (
        f"GPU {nvml.index}" if nvml is not None else "-",
        f"GPU:{cuda.index}" if cuda is not None else "-",
        str(told("name") or "?"),
        code(str(told("pci_address") or "?")),
        ".".join(map(str, capability)) if isinstance(capability, tuple) else "?",
        amount(memory) if isinstance(memory, int) else "?",
        f"{power:.0f} W" if isinstance(power, float) else "?",
        f"{heat} °C" if isinstance(heat, int) else "?",
        "on" if ecc is True else "off" if ecc is False else "?",
    )


# ------------------------------------------------------------------------------- software


def _libraries(facts: Facts) -> Iterator[Markup]:
    picks = facts.tensorflow.libraries
    shown, left = capped(() if isinstance(picks, Unread) else picks, _MOST)
    if not shown:
        return

    def row(soname: str, picked: str | Unread | None) -> Row:
        return code(soname), code(picked) if isinstance(picked, str) else _said(picked, "not found") or "?"

    rows = (row(one.soname, one.picked) for one in shown)
    missing = sum(one.picked is None for one in shown)
    summary = f"Libraries that TensorFlow's loader opens: {len(shown)}" + (f", {missing} not found" if missing else "")
    yield folded(summary, table("Libraries", ("asked for", "opened"), rows), left)


def _variables(facts: Facts) -> Iterator[Markup]:
    variables = facts.environment.variables
    shown, left = capped(() if isinstance(variables, Unread) else variables, _MOST)
    if shown:
        rows = ((code(one.name), code(one.value) if one.value else "empty") for one in shown)
        summary = f"Variables that matter to GPU programs and are set: {len(shown)}"
        yield folded(summary, table("Variables", ("variable", "value"), rows), left)


# ------------------------------------------------------------------------------- a text, a run


def pasted(view: View) -> Iterator[Markup]:
    """How much was read, what was understood, and what looks bad and is harmless."""
    said = view.report.facts.text
    if not said.is_all:
        return
    events = said.understood()
    parts = [count(said.lines, "line") if isinstance(said.lines, int) else "", f"{len(events):,} of them understood"]
    if isinstance(said.left_out, str):
        parts.append(f"not read: {said.left_out}")
    yield tag("p", " · ".join(filter(None, parts)))
    if found := log.harmless(view.report):
        yield tag("h3", "Harmless in this text")
        rows = ((str(event.line), code(event.text), why) for event, why in found)
        yield table("Harmless lines", ("line", "text", "what it is"), rows, class_="prose")
    shown, left = capped(events, _MOST)
    if shown:
        rows = ((str(one.line), code(one.text), f"{one.language}: {one.kind}") for one in shown)
        yield folded("Lines that tell something", table("Lines", ("line", "text", "kind"), rows, class_="prose"), left)


def ran(view: View) -> Iterator[Markup]:
    """What a program did under `gpudoctor run`."""
    told = list(run.lines(view.report.facts.run))
    shown, left = capped(told, _MOST)
    if shown:
        command = view.report.facts.run.command
        if isinstance(command, tuple):
            yield tag("p", code(shlex.join(command[:_MOST])))
        yield tag("ul", (tag("li", one) for one in shown))
    if left is not None:
        yield left
