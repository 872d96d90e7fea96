"""Hosts changed at random: what holds for every pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor import bundle
from gpudoctor.bundle import Report
from gpudoctor.compare import compare
from gpudoctor.compare.align import keys, pair_up
from gpudoctor.compare.walk import differences, put_back
from gpudoctor.facts import Fact, Facts, Unread
from tests.compare.pairs import PAIRS, with_wheels
from tests.factory import healthy

WORDS = st.sampled_from(["", "1", "0,1", "590.1", "12.9", "/opt/x/lib", "[red]", "\x1b[31m", "GPU-1", "'; rm", "é"])
HOST = with_wheels(healthy())


def other(value: Any, draw: Callable[..., Any], depth: int = 0) -> Any:
    """`value` with something in it changed, of the same types."""
    if isinstance(value, Unread) or value is None:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + draw(st.integers(-3, 3))
    if isinstance(value, float):
        return value * draw(st.sampled_from([0.2, 0.9, 1.0, 1.1, 5.0]))
    if isinstance(value, str):
        return draw(WORDS)
    if isinstance(value, Fact) and value.__struct_fields__:
        field = draw(st.sampled_from(value.__struct_fields__))
        old = getattr(value, field)
        if draw(st.integers(0, 5)) == 0 and type(value).__name__ != "Measurement":
            defaults = {f.name: f.default for f in msgspec.structs.fields(value)}
            if isinstance(defaults[field], Unread):
                return msgspec.structs.replace(value, **{field: Unread(why="not read")})
        return msgspec.structs.replace(value, **{field: other(old, draw, depth + 1)})
    if isinstance(value, tuple) and value:
        place = draw(st.integers(0, len(value) - 1))
        how = draw(st.sampled_from(["change", "change", "drop", "swap"]))
        rest = (*value[:place], *value[place + 1 :])
        if how == "drop":
            return rest
        if how == "swap":
            return (*rest, value[place])
        return (*value[:place], other(value[place], draw, depth + 1), *value[place + 1 :])
    return value


@st.composite
def hosts(draw: Callable[..., Any]) -> Facts:
    facts = HOST
    if draw(st.booleans()):
        facts = draw(st.sampled_from(PAIRS)).change(facts)
    for _ in range(draw(st.integers(0, 6))):
        facts = other(facts, draw)
    return facts


def report(facts: Facts) -> Report:
    return bundle.make(facts, "2026-11-21T00:00:00+00:00")


SLOW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SLOW
@given(hosts(), hosts())
def test_there_and_back(old: Facts, new: Facts) -> None:
    before, after = report(old), report(new)
    there, back = compare(before, after), compare(after, before)
    assert {(c.what, c.old, c.new) for c in there.changes} == {(c.what, c.new, c.old) for c in back.changes}
    assert {(n.what, n.side == "now") for n in there.not_known} == {
        (n.what, n.side == "before") for n in back.not_known
    }
    assert len(there.losses) == len(back.gains) + sum(s.failed is not None for s in there.losses)
    assert {n.finding.cause for n in there.new_findings} >= {f.cause for f in after.findings if f.level != "info"} - {
        f.cause for f in before.findings if f.level != "info"
    }
    assert there.is_worse == bool(there.new_findings or there.losses or there.lost or there.verdict_fell)


@SLOW
@given(hosts())
def test_itself(facts: Facts) -> None:
    made = compare(report(facts), report(facts))
    assert (made.verdict, made.changes, made.new_findings, made.losses, made.gains, made.not_known) == (
        "same", (), (), (), (), ()
    )  # fmt: skip


@SLOW
@given(hosts(), hosts())
def test_all_put_back_is_the_old_host(old: Facts, new: Facts) -> None:
    """So what is said to explain a finding was really taken away."""
    old_gpus, new_gpus, _ = pair_up(old, new)
    mine, others = keys(old, old_gpus), keys(new, new_gpus)
    made = put_back(new, differences(old, new, mine, others), others)
    again = pair_up(old, made)
    left = [d for d in differences(old, made, keys(old, again[0]), keys(made, again[1])) if not d.unread]
    assert left == []


@SLOW
@given(hosts(), hosts())
def test_something_stands_for_itself(old: Facts, new: Facts) -> None:
    changes = compare(report(old), report(new)).changes
    assert not changes or any(c.follows == () for c in changes)
    ids = {c.id for c in changes}
    assert all(set(c.follows) <= ids for c in changes)
    alike = [c for c in changes if c.old == c.new and c.what not in ("NVLinks in use", "package")]
    assert alike == []
