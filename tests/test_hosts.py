"""Facts recorded on real hosts, replayed whole: facts in, expected diagnosis out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpudoctor import api

HOSTS = Path(__file__).parent / "hosts"
EXPECTED = {
    "h100-x1-healthy": ("healthy", []),
    "h100-x1-healthy-user": ("healthy", []),
    "h100-x1-tf-2.21-plain": ("faulty", ["tf-wheel-runpath-gap"]),
    "h200-x2-healthy": ("healthy", []),
    "h200-x2-tf-2.20-healthy": ("healthy", []),
    "h200-x4-healthy": ("healthy", []),
    "h200-x4-healthy-full": ("healthy", []),
    "h200-x4-tf-2.21-plain": ("faulty", ["tf-wheel-runpath-gap"]),
    "h200-x2-tf-2.21-plain": ("faulty", ["tf-wheel-runpath-gap"]),
    "h200-x2-tf-2.21-plain-cvd-minus-1": ("faulty", ["cuda-visible-devices-empty", "tf-wheel-runpath-gap"]),
}


def test_every_recorded_host_is_expected() -> None:
    assert {p.stem for p in HOSTS.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_diagnosis(name: str) -> None:
    report = api.replay(HOSTS / f"{name}.json")
    verdict, causes = EXPECTED[name]
    assert report.diagnosis.verdict == verdict
    assert [r.cause for r in report.diagnosis.root_causes] == causes
    assert report.diagnosis.unexplained == ()
    assert report.unknown == ()


def test_the_fixes_were_tried_there() -> None:
    report = api.replay(HOSTS / "h200-x2-tf-2.21-plain.json")
    (root,) = report.diagnosis.root_causes
    assert [f.kind for f in root.fixes] == ["env", "link"]
    for fix in root.fixes:
        assert fix.trial is not None
        assert fix.trial.worked is True
        assert fix.trial.outcome == "TensorFlow then lists 2 GPUs"


def test_two_causes_have_one_fix_that_was_tried() -> None:
    combined = api.replay(HOSTS / "h200-x2-tf-2.21-plain-cvd-minus-1.json").diagnosis.combined_fix
    assert combined is not None
    assert combined.trial is not None
    assert combined.trial.worked is True


def test_no_recording_names_a_machine() -> None:
    for path in HOSTS.glob("*.json"):
        text = path.read_text()
        assert "/home/" not in text
        assert all(name.startswith("host-") for name in re.findall(r'"hostname":"([^"]*)"', text))
        assert not re.search(r'"addresses":\["(?!127\.)\d', text)
