"""What the checks of single GPUs share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gpudoctor import compat
from gpudoctor.facts import Facts, GpuDevice, LogEvent, Measurement, PciDevice, UnknownFactError, Unread, known
from gpudoctor.findings import Found, NotApplicable
from gpudoctor.verdicts import places

_NO_PERMISSION, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND = 4, 9, 12


def ours(devices: Iterable[GpuDevice]) -> tuple[GpuDevice, ...]:
    """Without those that NVML counts and this process may not ask: they were given to others."""
    return tuple(d for d in devices if d.nvml_error != _NO_PERMISSION)


def gpus(facts: Facts) -> tuple[GpuDevice, ...]:
    """Every GPU that NVML counts, of those that this process may use."""
    devices = facts.gpu.devices
    if isinstance(devices, Unread) and facts.system.tegra is True:
        raise NotApplicable("a Jetson's driver may have no NVML")
    if facts.gpu.nvml_error in (_DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND) and facts.driver.kernel_version is None:
        raise NotApplicable("no NVIDIA driver is loaded")
    devices = ours(known(devices))
    if not devices:
        raise NotApplicable("NVML lists no GPU")
    return devices


def visible(facts: Facts) -> tuple[GpuDevice, ...]:
    """Those that CUDA shows to the examined process; all of them where CUDA was not asked."""
    cuda = facts.driver.libcuda.devices
    devices = gpus(facts)
    if isinstance(cuda, Unread) or not cuda:
        return devices
    seen = {d.pci_address for d in cuda}
    left = tuple(d for d in devices if isinstance(d.pci_address, Unread) or d.pci_address in seen)
    if not left:
        raise NotApplicable("CUDA shows none of NVML's GPUs to this process")
    return left


def each(devices: Iterable[GpuDevice], look: Callable[[GpuDevice], Found | None]) -> Iterator[Found]:
    """What is found on any of them; unknown where one could not be looked at and nothing was found on the others."""
    found, unread = [], None
    for device in devices:
        try:
            one = look(device)
        except UnknownFactError as e:
            unread = unread or e.unread
            continue
        found += [one] if one is not None else []
    if unread is not None and not found:
        raise UnknownFactError(unread)
    yield from found


def left_out(facts: Facts) -> tuple[LogEvent, ...]:
    """What TensorFlow says of GPUs that it ignores, where it lists others; nothing where it was not run."""
    listed, said = facts.tensorflow.gpus(), facts.tensorflow.said("capability-too-old", "few-multiprocessors")
    if isinstance(listed, Unread) or isinstance(said, Unread) or not listed:
        return ()
    return tuple({e.values.get("device", e.text): e for e in said}.values())


def about(device: GpuDevice) -> tuple[str, ...]:
    """('gpu2',)."""
    return (f"gpu{device.index}",)


def measured_on(facts: Facts, one: Measurement) -> tuple[str, ...]:
    """What a measurement is about, by NVML's numbers: ('gpu2',). CUDA's number, where nothing tells which GPU of NVML's that is."""
    return tuple(
        place.name.replace(":", "").lower() if place.nvml is None else f"gpu{place.nvml.index}"
        for place in places(facts, one)
    )


def title(device: GpuDevice) -> str:
    """'GPU 2 (NVIDIA H200)'."""
    return f"GPU {device.index}" + (f" ({device.name})" if isinstance(device.name, str) else "")


def on_bus(device: PciDevice) -> str:
    """'0000:00:06.0 (10de:2335, NVIDIA H200)': a GPU as the bus shows it, without any driver."""
    if not isinstance(device.device, int):
        return device.address
    names = " or ".join(d.name for d in compat.gpu_by_pci(device.device))
    return f"{device.address} (10de:{device.device:04x}{', ' + names if names else ''})"


def gib(size: int) -> str:
    """'1.5 GiB'."""
    return f"{size / (1 << 30):.1f} GiB"
