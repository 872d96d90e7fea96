"""A PCIe link of the first generation, with and without work on it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

FIRST = (
    "Device 1 [GeForce GTX 1080 Ti] PCIe GEN 1@16x",
    "LnkSta: Speed 2.5GT/s, Width x8",
    "pcie.link.gen.current: 1, pcie.link.gen.max: 4",
    "my card is at PCIe Gen 1 and the board has 4",
)


@pytest.mark.parametrize("first", FIRST)
def test_nothing_tells_of_work(first: str) -> None:
    report = judged(f"# Which generation?\n\nThe second one is known to do more.\n{first}\n")
    assert said(report) == ([], [])
    assert "benign-pcie-idle" in {e.kind for e in report.facts.text.said("benign-pcie-idle")}


def test_it_rises_at_work() -> None:
    text = (
        "PCIe 1.1?\n\nGPU-Z says PCIe x16 4.0 @ x16 1.1. When I press the render test it jumps to 4.0 and goes back.\n"
    )
    assert said(judged(text)) == ([], [])


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize(
    "work",
    [
        "bandwidthTest gives 25.1 GB/s host to device.",
        "What puzzles me: while the sample runs it says 4, 4, 16 and copies slowly fall back to 1.",
        "3DMark 跑的时候变成了 @ x16 4.0",
        "負荷をかけると3.0 x16になっていました",
    ],
)
def test_what_it_carries_tells_that_it_rises(first: str, work: str) -> None:
    report = judged(f"# My new board is broken? Only PCIe gen 1\n\n{first}\n{work}\n")
    assert said(report) == ([], [])
    assert report.facts.text.said("benign-pcie-idle")


@pytest.mark.parametrize(
    "work",
    [
        "bandwidthTest gives 3.1 GB/s.",
        "GPU 0 gives 25.1 GB/s, GPU 2 3.1 GB/s.",
        "Its memory does 900 GB/s.",
        "The NVMe disk reads 6.8 GB/s.",
    ],
)
def test_what_it_carries_does_not_tell_that(work: str) -> None:
    report = judged(f"# Which generation?\n\n{FIRST[0]}\nThe training is slow. {work}\n")
    assert not report.facts.text.said("benign-pcie-idle")


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("work", ["It does so under load.", "Copies reach 3 GB/s.", "Training is slow since then."])
def test_work_is_told_of(first: str, work: str) -> None:
    report = judged(f"# Which generation?\n\n{first}\n{work}\n")
    assert not report.facts.text.said("benign-pcie-idle")


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("work", ["It stays so under load.", "Even while it trains, the same."])
def test_it_stays_so_at_work(first: str, work: str) -> None:
    roots, candidates = said(judged(f"# Which generation?\n\n{first}\n{work}\n"))
    assert [*roots, *candidates][:1] == ["pcie-link-degraded"]
