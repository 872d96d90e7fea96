"""Packages that can't be installed, or not with CUDA, on this platform. The forms of their lines: tests/logs."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts
from tests.factory import found, healthy, lists_no_gpu, outcome, with_
from tests.logs.judged import judged

NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})"


def told(text: str) -> Facts:
    return judged(text).facts


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('The "tensorflow-gpu" package has been removed!', "tensorflow-gpu-package-removed"),
        (NONE.format("tensorflow-gpu==2.16", "2.12.0"), "tensorflow-gpu-package-removed"),
        ("Linux a 5.4.0 #1 SMP aarch64 GNU/Linux\nPython 3.6.9\n" + NONE.format("tensorflow", "none"), "tf-aarch64-no-wheel"),
        ("Could not find the DLL(s) 'msvcp140_1.dll'.", "msvc-runtime-missing"),
        ("Could not locate zlibwapi.dll.", "zlibwapi-missing"),
    ],
)  # fmt: skip
def test_what_a_text_states(text: str, cause: str) -> None:
    assert outcome(told(text), cause) == "found"
    assert outcome(told("tensorflow"), cause) in ("unknown", "skipped")
    assert outcome(healthy(), cause) == "skipped"


def test_windows() -> None:
    facts = lists_no_gpu(
        with_(healthy(), system__system="Windows", tensorflow__version="2.12.0", tensorflow__build__cuda=False)
    )
    assert outcome(facts, "tf-windows-native-cpu-only") == "found"
    assert "WSL2" in found(facts)["tf-windows-native-cpu-only"].fixes[0].summary
    assert outcome(with_(facts, tensorflow__version="2.10.1"), "tf-windows-native-cpu-only") == "passed"
    assert outcome(with_(facts, tensorflow__build__cuda=True), "tf-windows-native-cpu-only") == "skipped"
    assert outcome(healthy(), "tf-windows-native-cpu-only") == "skipped"


def test_macos() -> None:
    facts = lists_no_gpu(with_(healthy(), system__system="Darwin", tensorflow__build__cuda=False))
    assert outcome(facts, "tf-macos-no-cuda") == "found"
    assert outcome(with_(facts, tensorflow__version="1.1.0"), "tf-macos-no-cuda") == "unknown"
    assert outcome(healthy(), "tf-macos-no-cuda") == "skipped"
