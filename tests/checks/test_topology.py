"""The ways between GPUs, processors and memory: each rule fires on its board, is silent on healthy ones, and unknown where it can't see."""

from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import Facts, NumaNode, PciBar, PciDevice, Unread
from tests.boards import REDIRECTING, copies, nvlinks_to, on_board, recorded
from tests.factory import healthy, outcome, with_, with_gpu
from tests.provoked.test_boards import SWITCHED, four, two

HIDDEN = Unread(why="this user sees 64 bytes of config", settle="sudo lspci -vvv")
RULES = (
    "pcie-upstream-narrow",
    "gpus-across-sockets",
    "p2p-redirected",
    "resizable-bar-off",
    "numa-memory-elsewhere",
    "p2p-unsupported-geforce",
    "multi-gpu-topology-no-p2p",
)


def unmeasured(facts: Facts) -> Facts:
    return with_(facts, measurements=())


@pytest.mark.parametrize("cause", RULES)
@pytest.mark.parametrize("host", [healthy(), recorded("h100-x1-healthy"), recorded("h200-x4-healthy")])
def test_hosts_that_are_well(cause: str, host: Facts) -> None:
    assert outcome(host, cause) in ("passed", "skipped")


def test_narrow_links_above_a_switch() -> None:
    at = {"0000:81:00.0": {"link_width": 4}}
    assert outcome(four(), "pcie-upstream-narrow") == "passed"
    assert outcome(unmeasured(four(at=at)), "pcie-upstream-narrow") == "found"
    assert outcome(four(at=at), "pcie-upstream-narrow") == "passed"  # its copies are faster than that
    # the link of the GPU itself is another's
    assert outcome(unmeasured(four(at={"0000:83:00.0": {"link_width": 4}})), "pcie-upstream-narrow") == "passed"
    assert outcome(unmeasured(two()), "pcie-upstream-narrow") == "skipped"
    hidden = with_(healthy(), pci__devices=Unread(why="no /sys"))
    assert outcome(hidden, "pcie-upstream-narrow") == "unknown"


def test_sockets() -> None:
    assert outcome(four(), "gpus-across-sockets") == "found"
    assert outcome(two(), "gpus-across-sockets") == "passed"
    assert outcome(on_board(recorded("h200-x4-healthy"), SWITCHED), "gpus-across-sockets") == "passed"
    blind = with_(four(), pci__devices=Unread(why="no /sys"))
    assert outcome(blind, "gpus-across-sockets") == "unknown"
    untold = {way[-1]: {"numa_node": None} for way in SWITCHED}
    assert outcome(four(at=untold), "gpus-across-sockets") == "skipped"


def test_redirection() -> None:
    at = {"0000:02:00.0": {"acs": REDIRECTING}}
    assert outcome(four(), "p2p-redirected") == "passed"
    assert outcome(four(at=at), "p2p-redirected") == "found"
    assert outcome(copies(four(at=at), 45.0), "p2p-redirected") == "passed"
    assert outcome(four(at={"0000:02:00.0": {"acs": HIDDEN}}), "p2p-redirected") == "unknown"
    assert outcome(two(at={"0000:00:01.0": {"acs": REDIRECTING}}), "p2p-redirected") == "skipped"  # no common switch
    assert outcome(four(p2p="chipset-not-supported", at=at), "p2p-redirected") == "skipped"
    guest = with_(four(at={"0000:03:00.0": {"iommu_type": "DMA"}}), system__hypervisor=True)
    assert outcome(guest, "p2p-redirected") == "passed"  # a guest's IOMMU is not what the traffic meets
    assert outcome(with_(guest, system__hypervisor=False), "p2p-redirected") == "found"


def test_a_small_window() -> None:
    def window(possible: tuple[int, ...] | Unread | None) -> Facts:
        facts = with_gpu(two(), 1, bar1_bytes=256 << 20)
        devices: tuple[PciDevice, ...] = facts.pci.devices  # type: ignore[assignment]
        bars = (PciBar(index=1, size_bytes=256 << 20, possible_bytes=possible),)
        return with_(
            facts,
            pci__devices=tuple(
                msgspec.structs.replace(d, bars=bars) if d.address == "0000:02:00.0" else d for d in devices
            ),
        )

    assert outcome(two(), "resizable-bar-off") == "passed"
    assert outcome(window((256 << 20, 256 << 30)), "resizable-bar-off") == "found"
    assert outcome(window(None), "resizable-bar-off") == "passed"
    assert outcome(window(HIDDEN), "resizable-bar-off") == "unknown"


def test_memory_of_another_node() -> None:
    assert outcome(two(), "numa-memory-elsewhere") == "passed"
    assert outcome(with_(two(), system__memory_nodes_usable="1-3"), "numa-memory-elsewhere") == "found"
    assert outcome(with_(two(), system__memory_nodes_usable=None), "numa-memory-elsewhere") == "skipped"
    assert outcome(with_(two(), system__memory_nodes_usable=HIDDEN), "numa-memory-elsewhere") == "unknown"
    nodes = (NumaNode(index=0, cpus="0-31"), NumaNode(index=1, cpus="32-63"))
    untold = with_(healthy(), system__memory_nodes_usable="1", system__numa_nodes=nodes)
    assert outcome(untold, "numa-memory-elsewhere") == "skipped"
    only = with_(healthy(), system__memory_nodes_usable="0", system__numa_nodes=nodes[:1])
    assert outcome(only, "numa-memory-elsewhere") == "passed"


def test_cards_without_peer_access() -> None:
    geforce = two(name="NVIDIA GeForce RTX 4090", p2p="chipset-not-supported")
    assert outcome(geforce, "p2p-unsupported-geforce") == "found"
    assert outcome(geforce, "multi-gpu-topology-no-p2p") == "skipped"
    assert outcome(two(name="NVIDIA GeForce RTX 2080"), "p2p-unsupported-geforce") == "passed"
    others = two(p2p="topology-not-supported")
    assert outcome(others, "p2p-unsupported-geforce") == "skipped"
    assert outcome(others, "multi-gpu-topology-no-p2p") == "found"
    assert outcome(two(p2p="disabled-by-regkey"), "multi-gpu-topology-no-p2p") == "passed"  # somebody's choice
    silent = with_(others, gpu__pairs=HIDDEN, driver__libcuda__pairs=HIDDEN)
    assert outcome(silent, "multi-gpu-topology-no-p2p") == "unknown"
    # an NVLink bridge leads from one to the other
    bridged = nvlinks_to(nvlinks_to(others, 0, {1: 4}), 1, {0: 4})
    assert outcome(bridged, "multi-gpu-topology-no-p2p") == "passed"
