from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gpudoctor import registry
from gpudoctor.facts import Facts
from gpudoctor.findings import Found, Stage


def test_every_check_has_a_whole_page() -> None:
    for check in registry.all_checks():
        assert check.title, check.code
        for part in ("What it looks at:", "Why it matters:", "Source:"):
            assert part in check.page, f"{check.code} has no '{part}'"
        if not check.is_symptom:
            assert "How to fix:" in check.page, check.code


def test_codes_and_names_are_unique() -> None:
    checks = registry.all_checks()
    assert len({c.code for c in checks}) == len({c.cause for c in checks}) == len(checks)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", c.cause) for c in checks)


def test_selection() -> None:
    assert [c.code for c in registry.select(["GD511"])] == ["GD511"]
    assert [c.code for c in registry.select(["gd511", "no-nvidia-gpu"])] == ["GD511", "GD701"]
    assert {c.subject for c in registry.select(["driver"])} == {"driver"}
    assert "GD511" not in {c.code for c in registry.select(skip=["tensorflow"])}
    with pytest.raises(registry.UnknownCheckError, match="no check is left"):
        registry.select(["GD511"], ["GD511"])


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(registry.UnknownCheckError, match="did you mean tf-lists-no-gpu"):
        registry.select(["tf-list-no-gpu"])
    with pytest.raises(registry.UnknownCheckError, match="no check is called 'zzz'"):
        registry.find("zzz")


def body(facts: Facts) -> Iterator[Found]:
    """Something is wrong."""
    yield from ()


def no_page(facts: Facts) -> Iterator[Found]:
    yield from ()


@pytest.mark.parametrize(
    ("code", "cause", "function", "complaint"),
    [
        ("GD511", "new-name", body, "GD511"),
        ("GD599", "no-nvidia-gpu", body, "no-nvidia-gpu"),
        ("X1", "new-name", body, "three digits"),
        ("GD599", "new-name", no_page, "docstring"),
    ],
)
def test_a_check_that_can_not_be_told_apart_is_refused(
    code: str, cause: str, function: registry.Body, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.all_checks()
    monkeypatch.setattr(function, "__module__", "gpudoctor.checks.another")
    with pytest.raises(ValueError, match=complaint):
        registry.check(code, cause, stage=Stage.USE)(function)
