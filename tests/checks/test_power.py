from __future__ import annotations

from gpudoctor.facts import Facts
from tests.factory import found, gpu_device, healthy, measured, outcome, roots, with_, with_gpu
from tests.figures import load

LINK = "pcie-link-degraded"


def working(**changes: int) -> Facts:
    """A machine whose second GPU is at work, and on which nothing was measured."""
    busy = gpu_device(1, "0000:00:07.0", utilisation_gpu_percent=90, **changes)
    return with_(healthy(), gpu__devices=(gpu_device(0), busy), measurements=())


def test_the_link_of_a_gpu_at_work() -> None:
    assert outcome(working(), LINK) == "unknown"  # the first is idle
    assert outcome(working(pcie_width=8), LINK) == "unknown"  # boards share lanes
    slow = found(working(pcie_generation=1))[LINK]
    assert (slow.about, slow.level) == (("gpu1",), "warn")
    assert slow.message.endswith("runs at generation 1 x16; generation 5 x16 is possible.")
    assert outcome(working(pcie_width=4), LINK) == "found"


def test_idle_gpus_have_slow_links() -> None:
    idle = gpu_device(0, pcie_generation=1)
    assert outcome(with_(healthy(), gpu__devices=(idle,), measurements=()), LINK) == "skipped"


COPIES = ("copy-host-to-device", "copy-device-to-host", "copy-both-ways")


def copying(share: float, **link: int) -> Facts:
    """The second GPU's link is like this while copies run over it, and they reach `share` of what they should."""
    facts = healthy()
    for kernel, rate in zip(COPIES, (55.4, 55.3, 98.7), strict=True):
        facts = measured(facts, kernel, "GPU:1", value=share * rate, load=load(**link))
    return facts


def test_the_link_while_copies_ran() -> None:
    assert outcome(healthy(), LINK) == "passed"
    slow = copying(0.22, pcie_generation=3)
    assert roots(slow) == [LINK]
    one = found(slow)[LINK]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert (
        "generation 3 x16 while it copies; generation 5 x16 is possible: its copies reach 0.22 of the other GPUs'"
        in one.message
    )
    assert one.proof[0].source == "NVML while copy-host-to-device ran on GPU:1"
    assert roots(copying(0.24, pcie_width=4)) == [LINK]


def test_half_the_width_is_a_note_where_it_costs() -> None:
    half = copying(0.48, pcie_width=8)
    assert found(half)[LINK].level == "info"
    narrow = with_gpu(half, 1, pcie_width_max=8)
    assert outcome(narrow, LINK) == "passed"  # the slot has no more
    alone = with_(half, measurements=tuple(m for m in half.measurements if m.device == "GPU:1"))
    assert outcome(alone, LINK) == "passed"  # there is nothing to compare with, and the other GPU was not measured


def test_a_link_that_was_seen_slower_than_its_copy() -> None:
    """NVML was asked at another moment, or a virtual machine tells it wrongly."""
    assert roots(copying(1.0, pcie_generation=1)) == []


def test_without_siblings_the_limit_tells_the_factor() -> None:
    slow = copying(0.22, pcie_generation=3)
    alone = with_(slow, measurements=tuple(m for m in slow.measurements if m.device == "GPU:1"))
    assert "of the limit" in found(alone)[LINK].proof[1].text


def test_what_the_link_could_be_must_be_known() -> None:
    facts = with_gpu(copying(0.22, pcie_generation=3), 1, pcie_generation_max=None)
    assert outcome(facts, LINK) == "passed"
