"""Which GPU a measurement was taken on: CUDA's device and NVML's, by their PCI address."""

from __future__ import annotations

from typing import NamedTuple

from ..facts import CudaDevice, Facts, GpuDevice, GpuPair, Measurement, Unread


class Place(NamedTuple):
    """One of the devices that a measurement names; None: not known, or the processor."""

    name: str
    """As the measurement has it: 'GPU:0'."""
    cuda: CudaDevice | None = None
    nvml: GpuDevice | None = None


def places(facts: Facts, of: Measurement) -> tuple[Place, ...]:
    """Where `of` was measured, in the order of its `device`. CUDA counts what CUDA_VISIBLE_DEVICES leaves; NVML counts all."""
    return tuple(_place(facts, of, i, name) for i, name in enumerate(of.device.split(",")))


def pair(facts: Facts, one: GpuDevice, other: GpuDevice) -> GpuPair | None:
    """What NVML says of two GPUs; None: nothing."""
    pairs = facts.gpu.pairs
    wanted = {one.index, other.index}
    return None if isinstance(pairs, Unread) else next((p for p in pairs if {p.first, p.second} == wanted), None)


def _place(facts: Facts, of: Measurement, position: int, name: str) -> Place:
    kind, _, number = name.partition(":")
    if kind != "GPU" or not (number.isascii() and number.isdecimal() and len(number) < 6):  # int() may refuse others
        return Place(name)
    address = _address(facts, of, position, int(number))
    if address is None:
        return Place(name)
    lists = (facts.driver.libcuda.devices, facts.driver.all_devices)
    cuda = [d for devices in lists if not isinstance(devices, Unread) for d in devices if d.pci_address == address]
    nvml = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    return Place(
        name,
        next((d for d in cuda if d.index == int(number)), cuda[0] if cuda else None),  # MIG: several at one address
        next((d for d in nvml if d.pci_address == address), None),
    )


def _address(facts: Facts, of: Measurement, position: int, ordinal: int) -> str | None:
    if not isinstance(of.pci_addresses, Unread):
        return of.pci_addresses[position] if position < len(of.pci_addresses) else None
    cuda = facts.driver.libcuda.devices
    if isinstance(cuda, Unread) or ordinal >= len(cuda):
        return None
    listed = facts.tensorflow.gpus() if of.in_tensorflow else None
    if listed is not None and not isinstance(listed, Unread) and len(listed) != len(cuda):
        return None  # TensorFlow leaves some out, and counts the others anew
    address = cuda[ordinal].pci_address
    return None if isinstance(address, Unread) else address
