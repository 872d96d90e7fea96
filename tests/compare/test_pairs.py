"""One upgrade a pair: it is named first, and explains what it brings about."""

from __future__ import annotations

import pytest

from gpudoctor import api, bundle
from gpudoctor.bundle import Report
from gpudoctor.compare import Comparison, compare
from gpudoctor.facts import Facts
from tests.compare.pairs import PAIRS, Pair
from tests.factory import with_gpu
from tests.running import ROOT


def report(facts: Facts, at: str = "2026-11-21T00:00:00+00:00") -> Report:
    return bundle.make(facts, at)


def of(pair: Pair) -> Comparison:
    old, new = pair.hosts
    return compare(report(old), report(new))


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.verdict != "same"], ids=str)
def test_the_upgrade_is_named_first(pair: Pair) -> None:
    made = of(pair)
    assert made.verdict == pair.verdict
    assert made.hosts == "same"
    assert made.changes[0].id == pair.first
    assert made.changes[0].follows == ()


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.cause], ids=str)
def test_what_it_brings_about_is_explained_by_it(pair: Pair) -> None:
    old, new = (report(facts) for facts in pair.hosts)
    assert pair.cause not in {f.cause for f in old.findings}
    made = compare(old, new)
    assert pair.cause in {one.finding.cause for one in made.new_findings}
    for one in made.new_findings:
        assert one.explanation.changes, one.finding.cause
        assert one.explanation.changes[0].id == pair.first, one.finding.cause
    assert made.new_findings[0].finding.cause == new.diagnosis.root_causes[0].cause


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_other_way_round_is_its_mirror(pair: Pair) -> None:
    old, new = (report(facts) for facts in pair.hosts)
    there, back = compare(old, new), compare(new, old)
    assert {(c.id, c.old, c.new) for c in there.changes} == {(c.id, c.new, c.old) for c in back.changes}
    assert {n.finding.cause for n in there.new_findings} == {g.cause for g in back.gone_findings}
    assert {g.cause for g in there.gone_findings} == {n.finding.cause for n in back.new_findings}
    assert {(s.what, s.where) for s in there.losses} == {(s.what, s.where) for s in back.gains}
    assert {(n.id, n.side) for n in there.not_known} == {
        (n.id, "now" if n.side == "before" else "before") for n in back.not_known
    }


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_report_with_itself_is_the_same(pair: Pair) -> None:
    made = compare(report(pair.hosts[1]), report(pair.hosts[1], "2026-11-22T00:00:00+00:00"))
    assert (made.verdict, made.changes, made.new_findings, made.losses, made.gains, made.not_known) == (
        "same", (), (), (), (), ()
    )  # fmt: skip


def test_what_lasts_explains_before_what_is_of_the_moment() -> None:
    """A GPU at work shows its narrow link; that it works is no reason for the link."""
    old = api.replay(ROOT / "tests" / "hosts" / "h200-x4-healthy.json").seen
    new = with_gpu(old, 1, pcie_width=4, utilisation_gpu_percent=80)
    made = compare(report(old), report(new))
    (one,) = [n for n in made.new_findings if n.finding.cause == "pcie-link-degraded"]
    assert [change.what for change in one.explanation.changes] == ["PCIe width"]
