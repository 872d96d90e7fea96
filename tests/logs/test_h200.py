"""Texts of a real host, without what names their fault: the cause where the text decides, else candidates, else nothing wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor import api
from gpudoctor.bundle import Report

HERE = Path(__file__).parent / "h200"
CAUSE = {
    "cvd-bad-uuid": "cuda-visible-devices-wrong",
    "cvd-empty": "cuda-visible-devices-empty",
    "cvd-minus1": "cuda-visible-devices-empty",
    "cvd-out-of-range": "cuda-visible-devices-wrong",
    "stub-libcuda": "libcuda-stub-loaded",
}
CANDIDATES = {
    "compat-libcuda": ("cuda-compat-unsupported", 2),  # the path of libcuda, which would decide, is not in the text
    "no-cublas": ("cuda-libs-missing", 1),
    "no-cuda_runtime": ("cuda-libs-missing", 1),
    "no-cufft": ("cuda-libs-missing", 1),
    "no-cusolver": ("cuda-libs-missing", 1),
    "no-ctl": ("device-nodes-missing", 1),
    "no-nvidia-wheels": ("cuda-libs-missing", 1),
    "no-nvjitlink": ("cuda-libs-missing", 1),
    "no-uvm": ("cuinit-uvm-device-missing", 1),
    "plain-pip": ("tf-wheel-runpath-gap", 2),
    "vlog-plain": ("tf-wheel-runpath-gap", 1),
}
"""The true cause, and within how many of the first it must stand."""
NOTHING = (
    "cudnn-cu13-first", "cvd-partial", "healthy", "no-cuda_nvcc", "no-cudnn", "no-cusparse", "no-libcuda", "no-nccl",
    "no-nvidia0", "tf32-override-off",
)  # fmt: skip
"""They read like healthy: TensorFlow lists what it was shown, and all that was run worked."""


def report(name: str) -> Report:
    with (HERE / f"{name}.log").open("rb") as stream:
        return api.log(stream)


def test_every_text_has_its_answer() -> None:
    assert {p.stem for p in HERE.glob("*.log")} == {*CAUSE, *CANDIDATES, *NOTHING}


@pytest.mark.parametrize("name", CAUSE)
def test_a_text_that_decides(name: str) -> None:
    diagnosis = report(name).diagnosis
    assert [r.cause for r in diagnosis.root_causes] == [CAUSE[name]]
    assert not diagnosis.candidates
    assert not diagnosis.unexplained
    assert all(e.source.startswith("line ") for e in diagnosis.root_causes[0].proof)


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_text_that_does_not_decide(name: str) -> None:
    diagnosis = report(name).diagnosis
    assert diagnosis.root_causes == ()
    (candidates,) = diagnosis.candidates.values()
    cause, within = CANDIDATES[name]
    assert cause in [c.cause for c in candidates][:within]
    assert len(candidates) > 1
    assert all(c.settle for c in candidates)


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_wrong_in_the_text(name: str) -> None:
    judged = report(name)
    assert judged.findings == ()
    assert judged.diagnosis.candidates == {}
    assert judged.diagnosis.unexplained == ()


def test_what_can_not_open_libraries_leaves_the_causes_of_libraries() -> None:
    (candidates,) = report("plain-pip").diagnosis.candidates.values()
    assert not {c.cause for c in candidates} & {"driver-missing", "no-nvidia-gpu", "container-no-gpus-flag"}
    driver = report("no-uvm").diagnosis.candidates["cuinit-fails"]
    assert not {c.cause for c in driver} & {"cuda-libs-missing", "tf-cpu-only-package", "cuda-visible-devices-empty"}


def test_the_proof_names_the_line() -> None:
    proof = report("cvd-minus1").diagnosis.root_causes[0].proof
    lines = (HERE / "cvd-minus1.log").read_text().splitlines()
    assert [e.text for e in proof] == ['env: CUDA_VISIBLE_DEVICES="-1"']
    assert lines[int(proof[0].source.removeprefix("line ")) - 1].endswith(proof[0].text)
