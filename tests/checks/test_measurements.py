from __future__ import annotations

import msgspec

from gpudoctor.facts import Unread
from tests.factory import found, healthy, outcome, with_


def test_gpu_wrong_result() -> None:
    one, two = healthy().measurements
    facts = with_(healthy(), measurements=(one, msgspec.structs.replace(two, verified=False, error=0.5)))
    assert found(facts)["gpu-wrong-result"].about == ("gpu1",)
    assert outcome(healthy(), "gpu-wrong-result") == "passed"


def test_a_result_that_is_not_finite_is_wrong() -> None:
    one, two = healthy().measurements
    facts = with_(healthy(), measurements=(one, msgspec.structs.replace(two, verified=False, error=Unread(why="NaN"))))
    assert "not finite" in found(facts)["gpu-wrong-result"].proof[0].text


def test_a_kernel_that_did_not_run_is_neither_right_nor_wrong() -> None:
    one, _ = healthy().measurements
    facts = with_(healthy(), measurements=(msgspec.structs.replace(one, verified=Unread(why="failed")),))
    assert outcome(facts, "gpu-wrong-result") == "unknown"
    wrong = with_(healthy(), measurements=(*facts.measurements, msgspec.structs.replace(one, verified=False)))
    assert outcome(wrong, "gpu-wrong-result") == "found"
    assert outcome(with_(healthy(), measurements=()), "gpu-wrong-result") == "skipped"
