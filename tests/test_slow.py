"""Slow on purpose on fake GPUs, the whole way through: kernels and NCCL's log, facts, checks, the trial of the fix."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor import api
from gpudoctor.bundle import Report
from gpudoctor.examine import Options
from gpudoctor.facts import Unread
from gpudoctor.kernels.native import MIB, Kernel
from tests.building import Workshop, put

PLAN = (
    Kernel("copy-pair", {"size": 4 * MIB, "queued": 2, "samples": 3, "peer": True}),
    Kernel("all-reduce", {"size": 64 * MIB, "graph": False, "iterations": 2, "samples": 3}),
)
Check = Callable[..., Report]


@pytest.fixture
def check(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """`gpudoctor check` of two fake GPUs between which copies run at 50 GB/s, with these variables."""
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    put(workshop.fake("libnccl.c", "libnccl.so.2"), tmp_path / "wheels/nvidia/nccl/lib", "libnccl.so.2")
    fakes = {
        "LD_LIBRARY_PATH": f"{tmp_path}/driver",
        "PYTHONPATH": f"{tmp_path}/wheels",
        "FAKE_CUDA_DEVICES": "2",
        "FAKE_CUDA_GB_PER_S": "gpu0=50",
        "FAKE_NCCL_BUSBW": "40",
        "FAKE_NCCL_BUSBW_SHM": "5",
        "FAKE_NCCL_BUSBW_NET": "0.5",
        "FAKE_NCCL_BUSBW_ONE": "2",
    }

    def make(**variables: str) -> Report:
        for name, value in {**fakes, **variables}.items():
            monkeypatch.setenv(name, value)
        report, _ = api.check(Options(python=sys.executable, native=PLAN, tensorflow=False))
        return report

    return make


def causes(report: Report) -> list[str]:
    return [r.cause for r in report.diagnosis.root_causes if r.cause.startswith("nccl-")]


def test_as_fast_as_it_should_be(check: Check) -> None:
    report = check()
    assert causes(report) == []
    assert [f.cause for f in report.findings if f.cause.startswith("slow-")] == []
    assert "slow-collective" in [r.cause for r in report.diagnosis.ruled_out]


@pytest.mark.parametrize(
    ("variables", "expected", "words", "restored"),
    [
        (
            {"NCCL_P2P_DISABLE": "1"},
            ["nccl-p2p-disabled-by-env"],
            "reaches 5 GB/s through SHM/direct/direct, 10 times slower than copies",
            "then reaches 40 GB/s through P2P/direct instead of 5",
        ),
        (
            {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"},
            ["nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env"],
            "reaches 0.5 GB/s through NET/Socket/0, 100 times slower than copies",
            "then reaches 40 GB/s through P2P/direct instead of 0.5",
        ),
        (
            {"NCCL_MAX_NCHANNELS": "1"},
            ["nccl-channels-limited"],
            "reaches 2 GB/s through P2P/direct, 25 times slower than copies",
            "then reaches 40 GB/s through P2P/direct instead of 2",
        ),
    ],
    ids=lambda v: "+".join(v) if isinstance(v, dict) else "",
)
def test_a_setting_is_named_with_its_factor_and_the_speed_comes_back(
    check: Check, variables: dict[str, str], expected: list[str], words: str, restored: str
) -> None:
    report = check(**variables)
    assert causes(report) == expected
    root = next(r for r in report.diagnosis.root_causes if r.cause == expected[0])
    assert words in root.message
    assert root.explains == ("slow-collective",)
    made = [t for t in report.facts.trials if t.worked is True and t.judged_by == "all-reduce"]
    assert made
    assert restored in str(made[-1].outcome)


def test_slow_without_a_setting(check: Check) -> None:
    report = check(FAKE_NCCL_BUSBW="6")
    assert causes(report) == []
    assert any(f.cause == "slow-collective" for f in report.findings)
    told = {u.symptom for u in report.diagnosis.unexplained} | set(report.diagnosis.candidates)
    assert "slow-collective" in told
    assert not any(isinstance(m.transport, Unread) for m in report.measurements if m.kernel == "all-reduce")
