"""Boards that no host at hand has: a recorded one with other links, switches or cards, judged as `gpudoctor replay` does."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, MigDevice, PciBar, PciDevice
from tests.boards import REDIRECTING, cards, copies, host_copies, on_board, recorded
from tests.factory import with_, with_gpu
from tests.provoked.proof import RECORDED, Proof


class Board(Proof):
    """A recorded host, on another board."""

    kind: ClassVar[str] = RECORDED


def proves(cause: str, how: str) -> pytest.MarkDecorator:
    """What a test proves with such a board."""
    return pytest.mark.proves(Board(cause, how))


SWITCHED: tuple[tuple[str, ...], ...] = (
    ("0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0"),
    ("0000:00:01.0", "0000:01:00.0", "0000:02:01.0", "0000:04:00.0"),
    ("0000:80:01.0", "0000:81:00.0", "0000:82:00.0", "0000:83:00.0"),
    ("0000:80:01.0", "0000:81:00.0", "0000:82:01.0", "0000:84:00.0"),
)
"""Two GPUs below a switch on each of two sockets."""
SLOTS: tuple[tuple[str, ...], ...] = (("0000:00:01.0", "0000:01:00.0"), ("0000:00:01.1", "0000:02:00.0"))
"""Two slots of one processor."""


def four(**changes: object) -> Facts:
    """Four PCIe cards below two switches, with pairs that are as fast as their links."""
    facts = cards(on_board(recorded("h200-x4-healthy"), SWITCHED, changes.pop("at", None)), **changes)  # type: ignore[arg-type]
    return host_copies(facts, [55.0] * 4)


def two(**changes: object) -> Facts:
    facts = cards(on_board(recorded("h200-x2-healthy"), SLOTS, changes.pop("at", None)), **changes)  # type: ignore[arg-type]
    return host_copies(facts, [55.0] * 2)


def named(facts: Facts) -> dict[str, str]:
    """What is found, with its level."""
    return {f.cause: f.level for f in judge(facts).findings}


def roots(facts: Facts) -> list[str]:
    return [r.cause for r in judge(facts).diagnosis.root_causes]


SIDE = {(0, 1): 50.0, (1, 0): 50.0, (2, 3): 50.0, (3, 2): 50.0}
ACROSS = {(a, b): 20.0 for a in range(4) for b in range(4) if a // 2 != b // 2}
QUIET = {"gpus-across-sockets": "info"}
"""All that is said of such a board where nothing is wrong."""


def test_healthy_boards() -> None:
    assert named(copies(four(), SIDE | ACROSS)) == QUIET
    assert named(copies(two(), 40.0)) == {}


@proves(
    "gpus-across-sockets", "four cards below two switches, on two sockets; a pair of one switch is 2.5 times as fast"
)
def test_two_sockets() -> None:
    judged = judge(copies(four(), SIDE | ACROSS))
    (one,) = judged.findings
    assert "0 and 2, 0 and 3, 1 and 2, 1 and 3" in one.message
    assert "2.5x slower than within one" in one.message
    assert any("NUMA node 0: GPU 0, 1; NUMA node 1: GPU 2, 3" in e.text for e in one.proof)
    assert judged.diagnosis.verdict == "healthy"
    # NVLinks lead past the sockets
    assert named(on_board(recorded("h200-x4-healthy"), SWITCHED)) == {}


@proves("p2p-unsupported-geforce", "two GeForce cards, whose memory NVML and CUDA say that the other can't read")
def test_geforce_without_p2p() -> None:
    facts = copies(two(name="NVIDIA GeForce RTX 4090", p2p="chipset-not-supported"), 9.0)
    assert named(facts) == {"p2p-unsupported-geforce": "info"}
    (one,) = judge(facts).findings
    assert any("9 GB/s" in e.text for e in one.proof)
    assert named(copies(two(name="NVIDIA GeForce RTX 4090"), 40.0)) == {}


@proves("multi-gpu-topology-no-p2p", "two cards that are no GeForce, whose memory the chipset lets the other not read")
def test_cards_that_the_chipset_keeps_apart() -> None:
    assert named(copies(two(p2p="chipset-not-supported"), 9.0)) == {"multi-gpu-topology-no-p2p": "info"}


def test_a_link_of_4_lanes_under_load() -> None:
    at = {"0000:02:00.0": {"link_width": 4}}
    facts = cards(on_board(recorded("h200-x2-healthy"), SLOTS, at))
    facts = with_gpu(facts, 1, pcie_width=4)
    facts = host_copies(copies(facts, 13.0), [55.0, 13.5], [(5, 16), (5, 4)])
    assert roots(facts) == ["pcie-link-degraded"]
    assert "generation 5 x4 while it copies" in judge(facts).diagnosis.root_causes[0].message


@proves(
    "pcie-upstream-narrow", "the link to a switch has 4 of its 16 lanes, and copies to both GPUs below it are as slow"
)
def test_a_narrow_link_above_a_switch() -> None:
    facts = copies(four(at={"0000:81:00.0": {"link_width": 4}}), SIDE | dict.fromkeys(ACROSS, 13.0))
    slow = host_copies(with_(facts, measurements=tuple(m for m in facts.measurements if "host" not in m.kernel)),
                       [55.0, 55.0, 14.0, 14.0])  # fmt: skip
    assert roots(slow)[0] == "pcie-upstream-narrow"
    first = judge(slow).diagnosis.root_causes[0]
    assert first.level == "warn"
    assert "at 0000:81:00.0, above GPU 2" in first.message
    assert "4x less than the GPU's own link" in first.message
    assert "gpu-outlier" not in roots(slow)
    # not measured: a note; copies that are faster than it: it slept
    unmeasured = with_(slow, measurements=())
    assert named(unmeasured)["pcie-upstream-narrow"] == "info"
    assert "pcie-upstream-narrow" not in named(facts)


def test_a_board_with_narrow_links_by_design() -> None:
    at = {"0000:01:00.0": {"max_link_width": 8, "link_width": 8}}
    facts = four(at=at)
    facts = with_(facts, measurements=())
    assert named(facts) == {"pcie-upstream-narrow": "info", **QUIET}


@proves(
    "p2p-redirected", "a port of the switch above two cards redirects peer traffic (ACS), and copies between them crawl"
)
@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"0000:02:00.0": {"acs": REDIRECTING}}, "ACS redirects peer traffic at 0000:02:00.0"),
        ({"0000:03:00.0": {"iommu_type": "DMA-FQ"}}, "the IOMMU translates for 0000:03:00.0: type DMA-FQ"),
    ],
)
def test_traffic_between_two_gpus_is_sent_up(at: dict[str, dict[str, object]], said: str) -> None:
    facts = copies(four(at=at), SIDE | ACROSS | {(0, 1): 6.0, (1, 0): 6.2})
    assert roots(facts)[0] == "p2p-redirected"
    first = judge(facts).diagnosis.root_causes[0]
    assert first.level == "warn"
    assert "10x slower than the links carry" in first.message or "11x slower" in first.message
    assert said in [e.text for e in first.proof]
    assert "gpu-pair-slow" not in roots(facts)
    assert named(with_(facts, measurements=()))["p2p-redirected"] == "info"
    assert "p2p-redirected" not in named(copies(facts, SIDE | ACROSS))


def test_redirection_above_the_switch_is_not_in_the_way() -> None:
    at = {"0000:00:01.0": {"acs": REDIRECTING}, "0000:01:00.0": {"acs": REDIRECTING}}
    assert named(with_(four(at=at), measurements=())) == QUIET
    assert "p2p-redirected" not in named(on_board(recorded("h200-x4-healthy"), SWITCHED, at))


def test_nvlinks_that_are_down() -> None:
    facts = on_board(recorded("h200-x4-healthy"), SWITCHED)
    links = facts.gpu.devices[2].nvlinks  # type: ignore[index]
    one = tuple(msgspec.structs.replace(link, active=link.index != 7) for link in links)  # type: ignore[union-attr]
    assert roots(with_gpu(facts, 2, nvlinks=one)) == ["nvlink-degraded"]
    none = tuple(msgspec.structs.replace(link, active=False) for link in links)  # type: ignore[union-attr]
    judged = named(with_gpu(facts, 2, nvlinks=none))
    assert judged["nvlink-down"] == "fail"


def test_mig() -> None:
    """A GPU in MIG mode reaches no other, by design; that it has no instance is the fault."""
    facts = recorded("h200-x4-healthy")
    pairs = facts.gpu.pairs
    assert isinstance(pairs, tuple)
    alone = tuple(
        msgspec.structs.replace(p, read="not-supported", nvlink="not-supported") if 1 in (p.first, p.second) else p
        for p in pairs
    )
    parted = with_gpu(
        with_(facts, gpu__pairs=alone, measurements=()),
        1,
        mig_mode=True,
        mig_mode_pending=True,
        mig_devices=(),
        nvlinks=(),
    )
    assert roots(parted) == ["mig-enabled-no-instance"]
    used = with_gpu(parted, 1, mig_devices=(MigDevice(uuid="MIG-1", gpu_instance=1, compute_instance=0),))
    assert named(used) == {}


def _window(facts: Facts, possible: tuple[int, ...] | None) -> Facts:
    devices: tuple[PciDevice, ...] = facts.pci.devices  # type: ignore[assignment]
    bars = (
        PciBar(index=0, size_bytes=16 << 20, possible_bytes=None),
        PciBar(index=1, size_bytes=256 << 20, possible_bytes=possible),
    )
    small = tuple(msgspec.structs.replace(d, bars=bars) if d.address == "0000:02:00.0" else d for d in devices)
    return with_gpu(with_(facts, pci__devices=small), 1, bar1_bytes=256 << 20)


@proves("resizable-bar-off", "BAR1 of one of two cards has 256 MiB, and could have as much as the card")
def test_a_small_window() -> None:
    facts = copies(two(), 40.0)
    assert named(_window(facts, (256 << 20, 256 << 30))) == {"resizable-bar-off": "info"}
    assert named(_window(facts, None)) == {}
    assert named(_window(facts, (128 << 20, 256 << 20))) == {}


@proves(
    "numa-memory-elsewhere",
    "both cards are next to the first of two sockets, and memory of the second alone is allowed",
)
def test_memory_of_the_other_socket() -> None:
    facts = copies(two(), 40.0)
    assert named(with_(facts, system__memory_nodes_usable="1")) == {"numa-memory-elsewhere": "warn"}
    assert named(with_(facts, system__memory_nodes_usable="0,1")) == {}
    assert named(with_(recorded("h200-x4-healthy"), system__memory_nodes_usable="1")) == {}
