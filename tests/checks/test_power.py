from __future__ import annotations

from gpudoctor.facts import Facts
from tests.factory import found, gpu_device, healthy, outcome, with_

LINK = "pcie-link-degraded"


def working(**changes: int) -> Facts:
    """A machine whose second GPU is at work."""
    busy = gpu_device(1, "0000:00:07.0", utilisation_gpu_percent=90, **changes)
    return with_(healthy(), gpu__devices=(gpu_device(0), busy))


def test_the_link_of_a_gpu_at_work() -> None:
    assert outcome(working(), LINK) == "unknown"  # the first is idle
    assert outcome(working(pcie_width=8), LINK) == "unknown"  # boards share lanes
    slow = found(working(pcie_generation=1))[LINK]
    assert (slow.about, slow.level) == (("gpu1",), "warn")
    assert slow.message.endswith("runs at generation 1 x16; generation 5 x16 is possible.")
    assert outcome(working(pcie_width=4), LINK) == "found"


def test_idle_gpus_have_slow_links() -> None:
    idle = gpu_device(0, pcie_generation=1)
    assert outcome(with_(healthy(), gpu__devices=(idle,)), LINK) == "skipped"
