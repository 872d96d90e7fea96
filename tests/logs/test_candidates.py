"""Every cause that a text may leave open has a check, and a command of its own that settles it."""

from __future__ import annotations

import importlib

import pytest

from gpudoctor.registry import all_checks
from gpudoctor.textual.clues import CLUES
from gpudoctor.textual.settles import SETTLES
from tests.logs.judged import HERE, judged, said

FITTING, LIBRARIES = (importlib.import_module(f"gpudoctor.textual.{name}") for name in ("fitting", "libraries"))
NAMED = {
    *(cause for causes in CLUES.values() for cause in causes),
    *(cause for module in (FITTING, LIBRARIES) for cause in [
        name
        for value in vars(module).values()
        for names in (value.values() if isinstance(value, dict) else [value])
        if isinstance(names, tuple)
        for name in names
        if isinstance(name, str) and "-" in name
    ]),
} - set(FITTING.DEEPEST)  # fmt: skip
ANYWHERE = ("gpudoctor check", None)


@pytest.mark.parametrize("cause", sorted(NAMED))
def test_a_candidate_can_be_settled(cause: str) -> None:
    assert cause in {c.cause for c in all_checks() if not c.is_symptom}
    unknown = {u.cause: u.settle for u in judged("hello\n").unknown}
    assert SETTLES.get(cause, unknown.get(cause)) not in ANYWHERE


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("compat-libcuda", "cuda-compat-unsupported"),
        ("no-ctl", "device-nodes-missing"),
        ("no-cuda_runtime", "cuda-libs-missing"),
        ("no-nvidia-wheels", "cuda-libs-missing"),
        ("no-uvm", "cuinit-uvm-device-missing"),
        ("plain-pip", "tf-wheel-runpath-gap"),
        ("vlog-plain", "tf-wheel-runpath-gap"),
    ],
)
def test_the_true_cause_of_a_real_host_is_the_first(name: str, first: str) -> None:
    assert said(judged((HERE / "h200" / f"{name}.log").read_text()))[1][0] == first
