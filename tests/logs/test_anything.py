"""Whatever stands in a text, no check fails over it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.logs.text import Binary
from tests.logs.judged import HERE, judged, said

LINES = sorted({line for path in HERE.rglob("*.log") for line in path.read_text().splitlines()})
LETTERS = st.text(alphabet="0123456789.-:xX/\\ '\"[](){}|<>=;,\t\x00é中", max_size=6)


@st.composite
def spoilt(draw: st.DrawFn) -> str:
    """A real line: whole, cut, with its words in another order, or with other numbers in it."""
    line = draw(st.sampled_from(LINES))
    how = draw(st.integers(0, 4))
    at = draw(st.integers(0, len(line)))
    if how == 1:
        return line[:at] if draw(st.booleans()) else line[at:]
    if how == 2:
        return " ".join(draw(st.permutations(line.split(" ")[:40])))
    if how == 3:
        return line[:at] + draw(LETTERS) + line[at:]
    if how == 4:
        return "".join(draw(st.sampled_from("019.x-")) if c.isdigit() else c for c in line[:200])
    return line


@settings(max_examples=200, deadline=None)
@given(st.lists(spoilt(), max_size=12))
def test_no_check_fails(lines: list[str]) -> None:
    try:
        report = judged("\n".join(lines))
    except Binary:
        return
    assert not [one for one in report.unknown if "itself failed" in one.why]
    assert all(name for name in (*report.diagnosis.candidates, report.diagnosis.verdict))


def test_a_report_of_our_own_names_causes_that_were_only_looked_at() -> None:
    text = """\
gpudoctor 0.1.0 · Python 3.12.3 /usr/bin/python3 · tensorflow 2.20.0 · driver 580.159.04 · 2 GPUs

Ruled out: 3 causes and symptoms
    GD101 driver-missing
    GD810 vgpu-unlicensed
Could not be looked at: 2
    gpu-too-new-for-build, cudnn-version-too-old, cudnn-incomplete-install: TensorFlow is not imported; settle it with: gpudoctor check
Does not apply here: 1
    GD810 vgpu-unlicensed: no GPU here is a vGPU, so it needs no licence and is not slow

✓ Healthy: TensorFlow lists 2 GPUs.
"""
    assert said(judged(text)) == ([], [])


@pytest.mark.parametrize(
    "version",
    ["2.2rc2", "2.2.0rc2", "2.21.0.dev20260101", "v2.4.0-49-g85c8b2a817f 2.4.1", "1.4.0-rc0", "0.12head", "2.x", "12"],
)
@pytest.mark.parametrize(
    "rest", ["Cannot dlopen some GPU libraries.\n", "the list of GPUs is empty\n", "DLL load failed\n", "hangs\n"]
)
def test_any_word_for_a_version(version: str, rest: str) -> None:
    judged(
        f"- TensorFlow version: {version}\nI installed tensorflow {version}; CUDA {version}; cuDNN {version}; driver {version}\n{rest}"
    )
