"""What is said of several GPUs, of a machine that goes down and of other programs on the same GPU, and speaks for a cause."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts


def speaks(facts: Facts) -> Iterator[str]:
    """The causes that it speaks for."""
    said = facts.text.said
    if said("several-no-faster"):
        if said("input-slow-said", "input-suspected", "input-bound") and not said("not-input-bound"):
            yield "cpu-starved-input"
        if not said("one-works-said"):
            yield "scaling-below-expected"
    if said("one-works-said"):
        yield "single-gpu-silently"
    if said("several-compute-wrongly") and said("one-is-fine-said"):
        yield "nccl-p2p-iommu-acs"
    if said("one-of-several-unseen"):
        yield "gpu-left-out-beside-another"
    if facts.driver.libcuda.init_result == _NO_DEVICE and said("others-run-said"):
        yield "cuda-visible-devices-wrong"


def firstly(facts: Facts) -> Iterator[str]:
    """What goes first whatever the text reads like."""
    if facts.text.said("chief-missing-said"):
        yield "tf-config-invalid"
    elif facts.text.said("workers-wait-said", "session-waits"):
        yield "tf-config-address-unreachable"


_NO_DEVICE = 100
