"""NVML's answers as facts. It is asked in a child of the patient: it can hang like any vendor library."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..facts import Gpu, GpuDevice, GpuPair, GpuProcess, MigDevice, NvLink, Unread, clock_reasons, unread_all
from .ask import Answers, Task

NOT_THERE = (3, 6)
"""NVML's codes 'not supported' and 'not found': this product does not have it."""
LOST = (15, 16)
"""'GPU is lost' and 'GPU requires reset': they speak of the GPU, not of one question."""


@functools.cache
def task() -> Task:
    """The question, with the text of pynvml: the patient needs not have it."""
    spec = importlib.util.find_spec("pynvml")  # to import it takes longer than all that is done with it here
    assert spec is not None and spec.origin is not None
    return ("nvml.nvml", {"library": Path(spec.origin).read_text(encoding="utf-8")})


def read(answers: Answers) -> Gpu:
    """What the child did not get to is unread, with how it ended."""
    ended = {e["index"]: _unread(e["how"]) for e in answers.all("nvml_ended")}
    how = answers.outcome.how or "gave no answer"
    silent = ended.get(None, _unread(f"the process that asks NVML {how}"))
    head: dict[str, Any] | None = answers.last("nvml")
    if head is None:
        return unread_all(Gpu, answers.unread("nvml.nvml", "nvidia-smi") if answers.errors else silent)
    if head["error"] is not None:
        failed = Unread(why=f"NVML: {head['text']}", settle="nvidia-smi")
        return Gpu(
            nvml_error=head["error"],
            nvml_error_text=head["text"],
            nvml_version=failed,
            driver_version=failed,
            cuda_driver_version=failed,
            devices=failed,
            pairs=failed,
        )
    said: dict[int, dict[str, Any]] = {}
    for part in answers.all("nvml_gpu"):
        said.setdefault(part["index"], {}).update(part)
    pairs = {(p["first"], p["second"]): p for p in answers.all("nvml_pair")}
    count = head["count"]
    devices = tuple(_device(i, said.get(i, {}), ended.get(i, silent)) for i in range(count))
    return Gpu(
        nvml_error=None,
        nvml_error_text=None,
        nvml_version=fact(head["version"]),
        driver_version=_needed(head["driver"]),
        cuda_driver_version=fact(head["cuda_driver"]),
        devices=devices,
        pairs=tuple(
            _pair(devices[i], devices[j], pairs.get((i, j)), silent) for i in range(count) for j in range(i + 1, count)
        ),
    )


def _unread(why: str) -> Unread:
    return Unread(why=why, settle="nvidia-smi -q")


def fact(raw: Any, convert: Callable[[Any], Any] = lambda got: got) -> Any:
    """A raw answer as a fact: converted, None where it is not there, Unread with NVML's words on another error."""
    if isinstance(raw, Unread) or raw is None:
        return raw
    if isinstance(raw, dict):
        return None if raw["code"] in NOT_THERE else _unread(f"NVML: {raw['error']}")
    return convert(raw)


def _needed(raw: Any, convert: Callable[[Any], Any] = lambda got: got) -> Any:
    """Of what every GPU has: 'not supported' is no answer."""
    got = fact(raw, convert)
    return _unread(f"NVML: {raw['error'] if isinstance(raw, dict) else 'no answer'}") if got is None else got


def word(words: Mapping[int, str]) -> Callable[[int], str]:
    """A number's word, or the number."""
    return lambda number: words.get(number, str(number))


def _item(position: int, convert: Callable[[Any], Any] = lambda got: got) -> Callable[[Any], Any]:
    return lambda got: None if got[position] is None else convert(got[position])


def _watt(milliwatt: int) -> float:
    return milliwatt / 1000


_COMPUTE_MODES = {0: "default", 1: "exclusive-thread", 2: "prohibited", 3: "exclusive-process"}
_VIRTUALIZATION = {0: "none", 1: "pass-through", 2: "vgpu", 3: "host-vgpu", 4: "host-vsga"}
_RECOVERY = {
    0: "none",
    1: "reset",
    2: "reboot",
    3: "drain-p2p",
    4: "drain-and-reset",
    5: "recover-imex-domain",
    6: "bus-reset",
    7: "system-reboot",
}
_REMOTES = {0: "gpu", 1: "npu", 2: "switch", 255: "unknown"}
_P2P = {
    0: "ok",
    1: "chipset-not-supported",
    2: "gpu-not-supported",
    3: "topology-not-supported",
    4: "disabled-by-regkey",
    5: "not-supported",
    6: "unknown",
}
_TOPOLOGY = {0: "internal", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
_HEALTH = (
    ("bandwidth-degraded", 0),
    ("route-recovery-in-progress", 2),
    ("route-unhealthy", 4),
    ("access-timeout-recovery", 6),
)
"""Two bits each: 0 not supported, 1 yes, 2 no. Four bits from the eighth on: 1 is no wrong configuration."""


def _health(mask: int) -> tuple[str, ...] | None:
    if not mask:
        return None
    wrong = [name for name, shift in _HEALTH if mask >> shift & 3 == 1]
    return tuple(wrong + (["incorrect-configuration"] if mask >> 8 & 15 > 1 else []))


def _device(index: int, raw: dict[str, Any], silent: Unread) -> GpuDevice:
    lost = raw.get("lost") or next((got for got in raw.values() if isinstance(got, dict) and got["code"] in LOST), None)
    error, text = (None, None) if "processes" in raw else (silent, silent)  # they are the last question
    if lost is not None:
        error, text = lost["code"], lost["error"]
    if not raw or "lost" in raw:
        why = silent if not raw else _unread(f"NVML: {text}")
        rest = (f for f in GpuDevice.__struct_fields__ if f not in ("index", "nvml_error", "nvml_error_text"))
        return GpuDevice(index=index, nvml_error=error, nvml_error_text=text, **dict.fromkeys(rest, why))

    def value(name: str, convert: Callable[[Any], Any] = lambda got: got) -> Any:
        return fact(raw.get(name, silent), convert)

    def needed(name: str, convert: Callable[[Any], Any] = lambda got: got) -> Any:
        return _needed(raw.get(name, silent), convert)

    return GpuDevice(
        index=index,
        nvml_error=error,
        nvml_error_text=text,
        name=needed("name"),
        uuid=needed("uuid"),
        pci_address=needed("pci_address"),
        compute_capability=needed("compute_capability", tuple),
        memory_total_bytes=value("memory", _item(0)),
        memory_used_bytes=value("memory", _item(1)),
        memory_free_bytes=value("memory", _item(2)),
        memory_reserved_bytes=value("memory", _item(3)),
        processes=value("processes", lambda got: tuple(_process(*one) for one in got)),
        compute_mode=value("compute_mode", word(_COMPUTE_MODES)),
        persistence_mode=value("persistence_mode", bool),
        display_attached=value("display_attached", bool),
        virtualization_mode=value("virtualization_mode", word(_VIRTUALIZATION)),
        mig_mode=value("mig_mode", _item(0, bool)),
        mig_mode_pending=value("mig_mode", _item(1, bool)),
        mig_devices=value("mig_devices", lambda got: tuple(_mig_device(*one) for one in got)),
        clock_event_reasons=value("clock_event_reasons", clock_reasons),
        power_draw_w=value("power_draw", _watt),
        power_limit_w=value("power_limit", _watt),
        power_default_w=value("power_default", _watt),
        power_min_w=value("power_range", _item(0, _watt)),
        power_max_w=value("power_range", _item(1, _watt)),
        utilisation_gpu_percent=value("utilisation", _item(0)),
        utilisation_memory_percent=value("utilisation", _item(1)),
        ecc_mode=value("ecc_mode", _item(0, bool)),
        ecc_mode_pending=value("ecc_mode", _item(1, bool)),
        rows_remapped_correctable=value("remapped_rows", _item(0)),
        rows_remapped_uncorrectable=value("remapped_rows", _item(1)),
        row_remap_pending=value("remapped_rows", _item(2, bool)),
        row_remap_failure=value("remapped_rows", _item(3, bool)),
        retired_pages_pending=value("retired_pages_pending", bool),
        recovery_action=value("recovery_action", word(_RECOVERY)),
        numa_node=value("numa_node", lambda node: None if node < 0 else node),
        nvlinks=value("nvlinks", lambda got: tuple(_link(*one) for one in got)),
        c2c=value("c2c", bool),
        fabric_state=value("fabric", _item(0)),
        fabric_status=value("fabric", _item(1)),
        fabric_health=value("fabric", _item(2, _health)),
        **{name: value(name) for name in _AS_IT_IS},
    )


_AS_IT_IS = (
    "minor_number",
    "serial",
    "board_id",
    "vbios_version",
    "gsp_version",
    "bar1_bytes",
    "vgpu_licensed",
    "clock_graphics_mhz",
    "clock_sm_mhz",
    "clock_memory_mhz",
    "clock_graphics_max_mhz",
    "clock_sm_max_mhz",
    "clock_memory_max_mhz",
    "temperature_c",
    "temperature_slowdown_c",
    "temperature_shutdown_c",
    "ecc_volatile_corrected",
    "ecc_volatile_uncorrected",
    "ecc_aggregate_corrected",
    "ecc_aggregate_uncorrected",
    "retired_pages_single_bit",
    "retired_pages_double_bit",
    "pcie_generation",
    "pcie_generation_max",
    "pcie_generation_gpu_max",
    "pcie_width",
    "pcie_width_max",
    "pcie_replays",
)
"""Fields that NVML answers in our units."""


def _process(pid: int, kind: str, memory: int | None, name: Any, ours: bool) -> GpuProcess:
    return GpuProcess(pid=pid, kind=kind, memory_used_bytes=memory, name=fact(name), ours=ours)


def _mig_device(uuid: Any, name: Any, gpu_instance: Any, compute_instance: Any, memory: Any) -> MigDevice:
    return MigDevice(
        uuid=_needed(uuid),
        name=_needed(name),
        gpu_instance=_needed(gpu_instance),
        compute_instance=_needed(compute_instance),
        memory_total_bytes=_needed(memory),
    )


def _link(index: int, active: int, version: Any, remote: Any, speed: Any, bus: Any) -> NvLink:
    return NvLink(
        index=index,
        active=bool(active),
        version=fact(version),
        remote=fact(remote, word(_REMOTES)),
        speed_mb_per_s=fact(speed),
        remote_address=fact(bus, _remote_address),
    )


def _remote_address(text: str) -> str | None:
    """'00000000:C1:00.0' as the bus has it; virtual machines are told FFFFFFFF."""
    domain, _, rest = text.partition(":")
    return f"{int(domain, 16):04x}:{rest}" if rest and domain != "ffffffff" else None


def _pair(first: GpuDevice, second: GpuDevice, raw: dict[str, Any] | None, silent: Unread) -> GpuPair:
    if raw is None:
        # a GPU that did not answer is the reason, where there is one
        why = next((d.processes for d in (first, second) if isinstance(d.processes, Unread)), silent)
        return GpuPair(first=first.index, second=second.index, read=why, nvlink=why, topology=why)
    return GpuPair(
        first=first.index,
        second=second.index,
        read=fact(raw["read"], word(_P2P)),
        nvlink=fact(raw["nvlink"], word(_P2P)),
        topology=fact(raw["topology"], word(_TOPOLOGY)),
    )
