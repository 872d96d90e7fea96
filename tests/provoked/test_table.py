"""docs/proofs.md says how each cause is proven, and no cause is without a proof."""

from __future__ import annotations

from gpudoctor.registry import all_checks
from tests.provoked.proof import HERE, HOST, RECORDED, TEXT
from tests.provoked.table import PAGE, only_text, proofs, table

NEEDS_HARDWARE = {
    "gpu-wrong-result",
    "gpu-outlier",
    "gpu-power-limit-lowered",
    "gpu-busy-with-other-work",
    "gpu-pair-slow",
    "nccl-tuning-forced",
    "p2p-not-used",
    "mixed-precision-no-gain",
    "scaling-below-expected",
    "measurement-impossible",
    "xid13-31-43-app-or-gpu-fault",
    "jit-cold-start",
    "gpu-ignored-few-sms",
    "gpu-memory-handle-alloc",
    "driver-too-old-for-ptx",
    "gpus-across-sockets",
    "multi-gpu-topology-no-p2p",
    "numa-memory-elsewhere",
    "p2p-redirected",
    "p2p-unsupported-geforce",
    "pcie-upstream-narrow",
    "resizable-bar-off",
}
NO_SUCH_INTERPRETER = {"python-version-unsupported", "python-32bit"}
"""What a recorded host alone, with one thing changed, may prove."""


def test_the_table_is_what_the_tests_say() -> None:
    """Written anew by `python -m tests.provoked.table`."""
    assert PAGE.read_text() == table()


def test_every_cause_is_proven() -> None:
    found = proofs()
    assert {c.cause for c in all_checks() if not c.is_symptom} == found.keys()
    told = [hows for ways in found.values() for (kind, _), hows in ways.items() if kind in (HERE, RECORDED)]
    assert told
    assert all(hows and all(hows) for hows in told)


def test_a_recorded_host_alone_proves_what_can_not_be_made_here() -> None:
    alone = {cause for cause, ways in proofs().items() if {kind for kind, _ in ways} <= {RECORDED, HOST}}
    assert alone == NEEDS_HARDWARE | NO_SUCH_INTERPRETER


def test_ways_are_told_apart() -> None:
    found = {cause: {kind for kind, _ in ways} for cause, ways in proofs().items()}
    assert found["driver-missing"] >= {HERE}
    assert found["cuda-visible-devices-empty"] == {HERE, HOST}
    assert found["gpu-outlier"] == {RECORDED}
    assert found["hpc-login-node"] == {TEXT}
    assert {cause for cause, kinds in found.items() if TEXT in kinds} <= only_text()
    assert all(kinds == {TEXT} for kinds in found.values() if TEXT in kinds)
