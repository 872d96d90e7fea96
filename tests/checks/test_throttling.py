"""What held the clocks down while a kernel ran."""

from __future__ import annotations

import pytest

from gpudoctor.facts import ClockReason, Facts, Unread
from tests.factory import found, healthy, measured, outcome, roots, with_, with_gpu
from tests.figures import load

HEAT, POWER, LOWERED = "gpu-throttling-thermal", "gpu-throttling-power", "gpu-power-limit-lowered"
FP16 = "matmul-float16"


def held(*reasons: tuple[str, float], value: float = 350.0, facts: Facts | None = None) -> Facts:
    """The second GPU's clocks were held down for `reasons` while it multiplied."""
    seen = load(
        clock_reasons=tuple(ClockReason(name=n, share=s) for n, s in reasons), clock_sm_mhz=990, temperature_max_c=91
    )
    return measured(facts or healthy(), FP16, "GPU:1", value=value, load=seen)


@pytest.mark.parametrize("reason", ["hw-thermal-slowdown", "sw-thermal-slowdown"])
def test_heat_while_a_kernel_ran(reason: str) -> None:
    facts = held((reason, 0.4), ("hw-slowdown", 0.4))
    assert roots(facts) == [HEAT]
    one = found(facts)[HEAT]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert one.message == "GPU 1 (NVIDIA H200) is slowed down by heat at 91 °C."
    assert one.proof[0].text == f"{reason} in 40% of the time; SM clock 990 of 1980 MHz"
    assert one.proof[0].source == "NVML while matmul-float16 ran on GPU:1"
    assert any("0.50 of what its sibling reaches" in p.text for p in one.proof)  # the measured factor
    assert outcome(facts, POWER) == "passed"


def test_a_moment_is_no_throttling() -> None:
    assert roots(held(("hw-thermal-slowdown", 0.05), ("hw-power-brake", 0.05), value=700.0)) == []


def test_the_power_brake_while_a_kernel_ran() -> None:
    facts = held(("hw-power-brake", 0.8), ("hw-slowdown", 0.8))
    assert roots(facts) == [POWER]
    one = found(facts)[POWER]
    assert "power brake" in one.message
    assert one.proof[1].text == "705 W of 700 W"
    alone = found(held(("hw-slowdown", 0.8)))[POWER]
    assert "slows itself down" in alone.message


def test_the_softwares_power_cap_is_normal() -> None:
    assert roots(held(("sw-power-cap", 1.0), value=690.0)) == []


def test_other_reasons_do_not_explain_a_slow_gpu() -> None:
    assert roots(held(("sw-power-cap", 1.0))) == ["gpu-outlier"]


def test_what_is_unread_now_was_seen_at_work() -> None:
    unread = with_gpu(held(("hw-thermal-slowdown", 0.4)), 1, clock_event_reasons=Unread(why="no answer"))
    assert outcome(unread, HEAT) == "found"


def test_a_lowered_power_limit_that_costs_speed() -> None:
    facts = with_gpu(held(("sw-power-cap", 1.0)), 1, power_limit_w=350.0)
    assert roots(facts) == [LOWERED]
    one = found(facts)[LOWERED]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert one.message.startswith("The power limit of GPU 1 (NVIDIA H200) is 350 W, its default 700 W: matmul-float16 ")
    assert "reaches 0.50 of what its sibling reaches" in one.message
    assert one.fixes[0].steps == ("sudo nvidia-smi -i 1 -pl 700",)


def test_all_gpus_with_a_lowered_power_limit_are_judged_by_what_is_usual() -> None:
    facts = healthy()
    for i in (0, 1):
        facts = with_gpu(measured(facts, FP16, f"GPU:{i}", value=300.0), i, power_limit_w=300.0)
    assert roots(facts) == [LOWERED, LOWERED]
    assert "usual" in found(facts)[LOWERED].message


def test_a_lowered_power_limit_that_costs_nothing_is_a_note() -> None:
    facts = with_gpu(healthy(), 1, power_limit_w=600.0)
    one = found(facts)[LOWERED]
    assert one.level == "info"
    assert one.message == "The power limit of GPU 1 (NVIDIA H200) is 600 W, its default 700 W."
    uncapped = with_gpu(held(value=350.0), 1, power_limit_w=600.0)
    assert roots(uncapped) == ["gpu-outlier", LOWERED]  # what holds it back is another thing
    assert outcome(with_gpu(healthy(), 1, power_limit_w=699.0), LOWERED) == "passed"
    assert outcome(with_gpu(healthy(), 1, power_limit_w=None), LOWERED) == "passed"
    assert outcome(with_gpu(healthy(), 1, power_default_w=Unread(why="no answer")), LOWERED) == "unknown"
    assert outcome(with_(healthy(), measurements=()), LOWERED) == "passed"
