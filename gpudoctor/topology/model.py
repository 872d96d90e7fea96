"""What a machine's topology is made of. Rates are GB/s (10^9 bytes/s), one direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from ..verdicts import pcie

Kind = Literal["host-bridge", "switch", "bridge", "gpu", "nvswitch", "nic"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a topology: None is 'not told', and never 'not there' unless a field says so."""


class PcieLink(Part, frozen=True, kw_only=True):
    """A PCI Express link, by the device at its lower end."""

    address: str
    port: str | None
    """The port at its upper end; None: none is seen, as in a virtual machine."""
    generation: int | None
    """While gpudoctor copied over it, else when it was looked at: an idle link may be slower than it can be."""
    width: int | None
    generation_possible: int | None
    """Of both ends together, as far as both are seen."""
    width_possible: int | None
    under_load: bool
    """Generation and width are those of a time at which something was copied over it."""

    @property
    def gb_per_s(self) -> float | None:
        """What it carries: its width now; its generation under load, or where it was idle the one that it may reach."""
        generation = self.generation if self.under_load else self.generation_possible or self.generation
        bound = pcie(generation, self.width or self.width_possible or 0) if generation else None
        return bound.value if bound else None

    @property
    def possible_gb_per_s(self) -> float | None:
        """What both of its ends are made for."""
        bound = pcie(self.generation_possible or 0, self.width_possible or 0)
        return bound.value if bound else None

    @property
    def is_degraded(self) -> bool:
        """It has fewer lanes than both of its ends have, or was slow under load."""
        now, possible = self.gb_per_s, self.possible_gb_per_s
        return now is not None and possible is not None and now < possible

    @property
    def words(self) -> str:
        """'5.0 x16', '4.0 x4 of 5.0 x16'; '' where nothing is told."""
        generation = self.generation if self.under_load else self.generation_possible or self.generation
        if generation is None or (self.width or self.width_possible) is None:
            return ""
        now = f"{generation}.0 x{self.width or self.width_possible}"
        return f"{now} of {self.generation_possible}.0 x{self.width_possible}" if self.is_degraded else now


class Node(Part, frozen=True, kw_only=True):
    """A place of the PCI tree, and what is below it. Ports of a switch and root ports are a part of what hangs on them."""

    kind: Kind
    address: str
    """Of a host bridge: its root bus, '0000:00'."""
    name: str | None = None
    index: int | None = None
    """NVML's, of a GPU."""
    link: PcieLink | None = None
    """The one above it."""
    numa_node: int | None = None
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """Itself, and all that is below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class GpuPlace(Part, frozen=True, kw_only=True):
    """A GPU, and where it stands."""

    index: int
    """NVML's."""
    name: str | None
    address: str | None
    numa_node: int | None
    cpus: str | None
    """Processors that are next to it: '0-31'."""
    nvlinks: int | None
    """Those that the product has; 0: it has none by design."""
    nvlinks_active: int | None
    nvlink_gb_per_s: float | None
    """Of all active ones together."""
    path: tuple[PcieLink, ...]
    """From its own link up to the root port."""
    own_gb_per_s: float | None
    """What the GPU's own end of its link is made for."""
    bar1_bytes: int | None
    memory_bytes: int | None
    mig_instances: int | None
    """None: MIG is off, or there is none."""

    @property
    def bottleneck(self) -> PcieLink | None:
        """The slowest link between it and the root complex; of equal ones that which is closest to the GPU."""
        return narrowest(self.path)


def narrowest(links: tuple[PcieLink, ...]) -> PcieLink | None:
    """The slowest of `links`, the first of equal ones; None: of none the rate is known."""
    rated = [(link.gb_per_s, i) for i, link in enumerate(links) if link.gb_per_s is not None]
    return links[min(rated)[1]] if rated else None


class Pair(Part, frozen=True, kw_only=True):
    """Two GPUs, by NVML's indices, and the ways between them."""

    first: int
    second: int
    pcie: str | None
    """Where their PCIe paths meet, in nvidia-smi's words: 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'."""
    pcie_by: Literal["NVML", "PCI bus"] | None
    nvlinks: int | None
    """Active ones from one to the other, through switches or not; 0: none; None: there are, and how many is not told."""
    p2p: str | None
    """NVML's word on reading the other's memory directly: 'ok', 'chipset-not-supported', …"""
    p2p_nvlink: str | None
    can_access: bool | None
    """CUDA's word, both ways."""
    limit_gb_per_s: float | None
    limit_by: str | None
    """'18 NVLinks', 'PCIe 4.0 x4 at 0000:41:00.0'."""
    measured_gb_per_s: float | None = None
    """A copy from the first to the second, by gpudoctor; None: not measured."""
    measured_back_gb_per_s: float | None = None
    all_reduce_gb_per_s: float | None = None
    """Bus bandwidth of the two alone."""

    @property
    def word(self) -> str | None:
        """As `nvidia-smi topo -m` has it: 'NV18', 'PIX', …; 'NV?': linked, with a number that is not told."""
        if self.nvlinks == 0:
            return self.pcie
        return "NV?" if self.nvlinks is None else f"NV{self.nvlinks}"


class NicPair(Part, frozen=True, kw_only=True):
    """A GPU and a network adapter."""

    gpu: int
    nic: str
    """Its address."""
    pcie: str | None


class Numa(Part, frozen=True, kw_only=True):
    """A NUMA node."""

    index: int
    cpus: str | None
    memory_bytes: int | None
    distances: tuple[int, ...] | None


class Topology(Part, frozen=True, kw_only=True):
    """The machine as data moves through it."""

    virtual: bool | None
    """A virtual machine, which shows of the PCI tree what its host lets it see."""
    roots: tuple[Node, ...]
    gpus: tuple[GpuPlace, ...]
    pairs: tuple[Pair, ...]
    """Each once."""
    nic_pairs: tuple[NicPair, ...]
    """With the adapters that know RDMA."""
    numa_nodes: tuple[Numa, ...]
    untold: tuple[str, ...]
    """What this machine does not tell, a sentence each."""

    def pair(self, one: int, other: int) -> Pair | None:
        """The pair of two GPUs, by NVML's indices."""
        return next((p for p in self.pairs if {p.first, p.second} == {one, other}), None)

    def gpu(self, index: int) -> GpuPlace | None:
        """The GPU with this index of NVML."""
        return next((g for g in self.gpus if g.index == index), None)

    def nodes(self) -> Iterator[Node]:
        """All of the tree."""
        for root in self.roots:
            yield from root.walk()
