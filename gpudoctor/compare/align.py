"""Two reports made comparable: the same names for the same things, and which GPU of one is which of the other."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from .. import bundle, redact
from ..bundle import Redaction, Report
from ..facts import (
    CudaDevice,
    CudaPair,
    Distribution,
    DriverGpu,
    Facts,
    GpuDevice,
    GpuPair,
    LoaderObject,
    Measurement,
    NcclFile,
    PciDevice,
    TensorFlowDevice,
    Unread,
)
from ..registry import Check
from ..verdicts import places
from .model import Hosts

Gpu = GpuDevice | CudaDevice | DriverGpu


def prepared(old: Report, new: Report, checks: tuple[Check, ...] | None = None) -> tuple[Report, Report, bool]:
    """The two with names that compare: where one has tokens, both have. True: their tokens do not compare, having been made with
    different keys, and every name is left out."""
    if (old.redactions is None) != (new.redactions is None):
        old, new = (redact.report(one, redact.live(), checks) for one in (old, new))
    if old.redactions is None or new.redactions is None or _share_names(old, new):
        return old, new, False
    return _blind(old, checks), _blind(new, checks), True


def _share_names(old: Report, new: Report) -> bool:
    """Their tokens were made with one key: at least one of those that stand for a machine is on both sides, or nothing is hidden."""
    before, after = _tokens(old), _tokens(new)
    return bool(before & after) or not before or not after


def _tokens(report: Report) -> set[str]:
    named = {one.token for one in report.redactions or ()}
    host = report.facts.system.hostname
    return named | ({host} if isinstance(host, str) else set()) | set(uuids(report.facts))


def _blind(report: Report, checks: tuple[Check, ...] | None) -> Report:
    """Every token replaced by its kind."""
    tokens = sorted(report.redactions or (), key=lambda one: -len(one.token))
    if not tokens:
        return report
    kinds = {one.token: one.kind for one in tokens}
    pattern = re.compile("|".join(re.escape(one.token) for one in tokens))

    def tree(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda found: kinds[found[0]], value)
        if isinstance(value, tuple):
            return tuple(map(tree, value))
        if isinstance(value, dict):
            return {name: tree(one) for name, one in value.items()}
        if isinstance(value, msgspec.Struct):
            return type(value)(**{field: tree(getattr(value, field)) for field in value.__struct_fields__})
        return value

    listed: tuple[Redaction, ...] = tuple(tokens)
    return bundle.make(tree(report.seen), report.started_at, checks, listed)


def uuids(facts: Facts) -> list[str]:
    """Of the GPUs, as far as they tell different GPUs apart."""
    lists = (facts.gpu.devices, facts.driver.gpus, facts.driver.libcuda.devices, facts.driver.all_devices)
    for devices in lists:
        found = [d.uuid for d in devices if isinstance(d.uuid, str)] if isinstance(devices, tuple) else []
        if found and len(set(found)) == len(found):
            return found
    return []


def hosts(old: Facts, new: Facts, *, blind: bool) -> tuple[Hosts, str]:
    """Whether both were made on one machine, and what shows it."""
    if blind:
        return "not known", "both hide their names, by tokens that do not compare; no name is compared"
    before, after = set(uuids(old)), set(uuids(new))
    if before & after:
        return "same", "they have GPUs in common"
    names = (old.system.hostname, new.system.hostname)
    if any(isinstance(name, Unread) for name in names):
        if before and after:
            return "different", "they have no GPU in common"
        return "not known", "the host's name is not in both"
    if names[0] == names[1]:
        return "same", "they have the same name"
    if before and after:
        return "different", "they have other names and no GPU in common"
    contained = isinstance(old.system.container, str) or isinstance(new.system.container, str)
    if contained:
        return "not known", "the names differ, as those of containers do, and no GPU tells"
    return "different", "they have other names"


# ------------------------------------------------------------------------------- which GPU is which


@dataclasses.dataclass(frozen=True)
class Gpus:
    """The GPUs of one side, each by the name that it has on both."""

    by_uuid: dict[str, str]
    by_address: dict[str, str]
    nvml: dict[int, str]
    """By NVML's number."""
    cuda: dict[int, str]
    """By CUDA's number in the examined process."""

    def of(self, one: Gpu) -> str | None:
        """The name of a GPU."""
        uuid, address = getattr(one, "uuid", None), one.pci_address
        if isinstance(uuid, str) and uuid in self.by_uuid:
            return self.by_uuid[uuid]
        return self.by_address.get(address) if isinstance(address, str) else None


@dataclasses.dataclass
class _Seen:
    """A GPU as one side has it."""

    uuid: str | None
    address: str | None
    index: int | None
    name: str | None = None


def pair_up(old: Facts, new: Facts) -> tuple[Gpus, Gpus, dict[str, str]]:
    """The GPUs of both sides under common names: what has one UUID is one GPU, wherever it is; of the rest what has one address. And
    the words for each name: 'GPU 1 (0000:00:07.0)'."""
    before, after = _seen(old), _seen(new)
    names: dict[int, str] = {}
    words: dict[str, str] = {}
    taken: set[int] = set()

    def match(alike: Callable[[_Seen, _Seen], bool]) -> None:
        for one in after:
            other = next((o for o in before if id(o) not in taken and alike(o, one)), None)
            if id(one) not in names and other is not None:
                taken.add(id(other))
                names[id(one)] = names[id(other)] = f"gpu-{len(words)}"
                words[names[id(one)]] = _words(one)

    match(lambda o, n: o.uuid is not None and o.uuid == n.uuid)
    kept = {o.uuid for o in before if o.uuid} & {n.uuid for n in after if n.uuid}

    def free(one: _Seen) -> bool:
        return one.uuid is None or one.uuid not in kept

    match(lambda o, n: o.address is not None and o.address == n.address and free(o) and free(n))
    match(lambda o, n: o.address is None and n.address is None and o.index == n.index)
    for one in (*before, *after):
        if id(one) not in names:
            names[id(one)] = f"gpu-{len(words)}"
            words[names[id(one)]] = _words(one)
    mine, others = _gpus(old, before, names), _gpus(new, after, names)
    for numbers, known in (
        (mine.nvml, others.nvml),
        (others.nvml, mine.nvml),
        (mine.cuda, others.cuda),
        (others.cuda, mine.cuda),
    ):
        if not numbers:  # a list that one side could not read
            numbers.update(known)
    return mine, others, words


def _words(one: _Seen) -> str:
    number = f"GPU {one.index}" if one.index is not None else "the GPU"
    return f"{number} ({one.address})" if one.address is not None else number


def _seen(facts: Facts) -> list[_Seen]:
    found: list[_Seen] = []
    lists = (facts.gpu.devices, facts.driver.gpus, facts.driver.all_devices, facts.driver.libcuda.devices)
    several = Counter(uuid for devices in lists for uuid in set(_uuids(devices)) if _uuids(devices).count(uuid) > 1)
    for devices in lists:
        for one in devices if isinstance(devices, tuple) else ():
            uuid = one.uuid if isinstance(one.uuid, str) and one.uuid not in several else None
            address = one.pci_address if isinstance(one.pci_address, str) else None
            index = one.index if isinstance(one, GpuDevice) else None
            known = next((s for s in found if _is(s, uuid, address)), None)
            if known is None:
                if uuid is None and address is None and index is None:
                    continue
                found.append(_Seen(uuid, address, index))
            else:
                known.uuid, known.address = known.uuid or uuid, known.address or address
    for device in facts.pci.devices if isinstance(facts.pci.devices, tuple) else ():
        if device.is_nvidia_gpu and all(s.address != device.address for s in found):
            found.append(_Seen(None, device.address, None))
    return found


def _uuids(devices: Any) -> list[str]:
    return [d.uuid for d in devices if isinstance(d.uuid, str)] if isinstance(devices, tuple) else []


def _is(seen: _Seen, uuid: str | None, address: str | None) -> bool:
    if uuid is not None and seen.uuid is not None:
        return seen.uuid == uuid
    return address is not None and seen.address == address


def _gpus(facts: Facts, seen: list[_Seen], names: dict[int, str]) -> Gpus:
    by_uuid = {s.uuid: names[id(s)] for s in seen if s.uuid}
    by_address = {s.address: names[id(s)] for s in seen if s.address}
    both = Gpus(by_uuid, by_address, {}, {})
    nvml, cuda = facts.gpu.devices, facts.driver.libcuda.devices
    for one in nvml if isinstance(nvml, tuple) else ():
        index = next((names[id(s)] for s in seen if s.index == one.index and not s.uuid and not s.address), None)
        if (name := both.of(one) or index) is not None:
            both.nvml[one.index] = name
    for device in cuda if isinstance(cuda, tuple) else ():
        if (name := both.of(device)) is not None:
            both.cuda[device.index] = name
    return both


# ------------------------------------------------------------------------------- what elements are known again by

_FIELDS: dict[str, tuple[str, ...]] = {
    "Variable": ("name",),
    "VariableNow": ("name",),
    "NvLink": ("index",),
    "KernelModule": ("name",),
    "ModuleFile": ("kernel", "path"),
    "DkmsBuild": ("version", "kernel"),
    "DeviceNode": ("path",),
    "Major": ("name",),
    "Parameter": ("name",),
    "LibraryFile": ("path",),
    "LibraryPick": ("soname",),
    "CachedLibrary": ("soname",),
    "Toolkit": ("path",),
    "NcclFile": ("path",),
    "NcclSetting": ("name",),
    "NetworkInterface": ("name",),
    "RdmaPort": ("device", "port"),
    "CondaPackage": ("name",),
    "Overlap": ("owners",),
    "DamagedFile": ("path",),
    "ModulePlace": ("name",),
    "KernelSpec": ("path",),
    "OtherInterpreter": ("executable",),
    "NumaNode": ("index",),
    "ClusterTask": ("role", "index"),
    "CdiSpec": ("path",),
    "ContainerTool": ("name",),
    "ContainerPackage": ("name",),
    "ToolkitPath": ("setting",),
    "PciBar": ("index",),
    "MigDevice": ("gpu_instance", "compute_instance"),
    "MappedFile": ("path",),
}


def keys(facts: Facts, gpus: Gpus) -> Callable[[tuple[Any, ...]], list[str] | None]:
    """What the elements of the lists of `facts` are known again by."""

    def key(one: Any) -> str | None:
        if isinstance(one, GpuDevice):
            return gpus.nvml.get(one.index) or f"index {one.index}"
        if isinstance(one, CudaDevice | DriverGpu):
            return gpus.of(one) or f"{one.pci_address}"
        if isinstance(one, PciDevice):
            return gpus.by_address.get(one.address, one.address)
        if isinstance(one, GpuPair):
            return " and ".join(sorted(gpus.nvml.get(i) or f"index {i}" for i in (one.first, one.second)))
        if isinstance(one, CudaPair):
            return " to ".join(gpus.cuda.get(i) or f"index {i}" for i in (one.device, one.peer))
        if isinstance(one, TensorFlowDevice):
            return one.name
        if isinstance(one, Measurement):
            return measured_as(facts, gpus, one)
        if isinstance(one, LoaderObject):
            return one.path.rpartition("/")[2]
        if isinstance(one, Distribution):
            return f"{one.name} (shadowed)" if one.shadowed else one.name
        if isinstance(one, NcclFile) and one.path.endswith("/.nccl.conf"):
            return "~/.nccl.conf"
        fields = _FIELDS.get(type(one).__name__)
        return None if fields is None else " ".join(str(getattr(one, field)) for field in fields)

    lists: dict[int, tuple[tuple[Any, ...], list[str] | None]] = {}

    def listed(elements: tuple[Any, ...]) -> list[str] | None:
        if id(elements) not in lists:  # which are held there, so that none takes another's place
            lists[id(elements)] = elements, named(elements)
        return lists[id(elements)][1]

    def named(elements: tuple[Any, ...]) -> list[str] | None:
        made: list[str] = []
        times: Counter[str] = Counter()
        for one in elements:
            name = key(one)
            if name is None:
                return None
            times[name] += 1
            made.append(name if times[name] == 1 else f"{name} #{times[name]}")
        return made

    return listed


def measured_as(facts: Facts, gpus: Gpus, one: Measurement) -> str:
    """What was measured, and on which device, by the device itself and not by its number."""
    return " ".join([one.backend, one.kernel, str(one.dtype), str(one.size), ",".join(on(facts, gpus, one))])


def on(facts: Facts, gpus: Gpus, one: Measurement) -> tuple[str, ...]:
    """The devices of a measurement by their common names; of one that is not known, as the measurement has it."""
    addresses = one.pci_addresses if isinstance(one.pci_addresses, tuple) else ()
    names = []
    for position, place in enumerate(places(facts, one)):
        address = addresses[position] if position < len(addresses) else None
        known = gpus.by_address.get(address) if address else None
        if known is None:
            found = place.cuda or place.nvml
            known = gpus.of(found) if found is not None else None
        names.append(known or place.name)
    return tuple(names)
