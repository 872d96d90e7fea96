"""Reports as older versions wrote them, from the first one on, are judged with today's checks. `tests/bundles` keeps them: none is
changed, and a new one is added when the format grows. Each is called by the commit that wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpudoctor import answer, api, bundle, recorded
from gpudoctor.render import json as as_json
from tests.running import gpudoctor

BUNDLES = Path(__file__).parent / "bundles"
EXPECTED: dict[str, tuple[str, list[str]]] = {
    "first-h200-x2-tf-2.21-plain.json": ("faulty", ["tf-wheel-runpath-gap"]),
    "2b3b25e-h200-x4-healthy.json": ("healthy", []),
    "35c44d8-h200-x2-tf-2.21-plain-cvd-minus-1.json": (
        "faulty",
        ["cuda-visible-devices-empty", "tf-wheel-runpath-gap"],
    ),
    "316ceba-h200-x2-healthy.json": ("healthy", []),
    "9cc1580-h200-x4-healthy-full.json": ("healthy", []),
    "61f1afb-redacted-h200-x4-tf-2.21-plain.json": ("faulty", ["tf-wheel-runpath-gap"]),
    "0d94e1f-log.json": ("faulty", ["cuda-visible-devices-empty"]),
    "996bd7a-collected.txt": ("faulty", []),  # an older collector did not ask what today's probes want: candidates
    "3b40e90-collected.txt": ("faulty", ["no-nvidia-gpu", "tf-not-installed"]),
}


def test_every_one_is_expected() -> None:
    assert sum(recorded.load(BUNDLES / name).answer is not None for name in EXPECTED) == 6
    assert {p.name for p in BUNDLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_judged(name: str) -> None:
    told = recorded.load(BUNDLES / name)
    report = api.judged(told)
    assert (report.diagnosis.verdict, [r.cause for r in report.diagnosis.root_causes if r.level != "info"]) == EXPECTED[
        name
    ]
    assert [u.why for u in report.unknown if "itself failed" in u.why] == []
    assert [u.why for u in report.unknown if "older" in u.why] == [] or name.startswith("996bd7a")
    # and what is made of it is a report of today
    facts, started_at, redactions = bundle.read(as_json.render(report).encode())
    assert bundle.make(facts, started_at, None, redactions) == report
    if told.answer is not None:
        assert told.answer.verdict == report.diagnosis.verdict
        assert set(EXPECTED[name][1]) <= set(told.answer.causes)


def test_what_a_field_of_tomorrow_says_is_left_out() -> None:
    text = json.loads((BUNDLES / "first-h200-x2-tf-2.21-plain.json").read_text())
    text["tomorrow"] = text["facts"]["tomorrow"] = text["facts"]["gpu"]["tomorrow"] = {"is": "new", "x": [1]}
    text["diagnosis"]["tomorrow"] = 1
    told = bundle.recorded(json.dumps(text).encode())
    assert told == bundle.recorded((BUNDLES / "first-h200-x2-tf-2.21-plain.json").read_bytes())


# ------------------------------------------------------------------------------- where today's answer differs


def said(verdict: str, causes: tuple[str, ...] = (), **candidates: tuple[str, ...]) -> answer.Answer:
    return answer.Answer(verdict=verdict, causes=causes, candidates=candidates)


@pytest.mark.parametrize(
    ("then", "now", "sentences"),
    [
        (said("faulty", ("a", "b"), s=("c",)), said("faulty", ("b", "a"), s=("c",)), ()),
        (said("healthy"), said("faulty", ("a",)), ("the verdict is faulty, was healthy", "now a root cause: a")),
        (said("faulty", ("a", "b")), said("faulty", ("b",)), ("no longer a root cause: a",)),
        (said("faulty", s=("a", "b")), said("faulty", s=("b", "c")), ("now a candidate for s: c", "no longer a candidate for s: a")),
        (said("faulty"), said("faulty", s=("a",)), ("now a candidate for s: a",)),
        (said("faulty", tuple(map(str, range(20)))), said("faulty"), ("no longer a root cause: 0, 1, 2, 3, 4, 5, 6, 7 and 12 more",)),
    ],
)  # fmt: skip
def test_differences(then: answer.Answer, now: answer.Answer, sentences: tuple[str, ...]) -> None:
    assert answer.differences(then, now) == sentences


def test_replay_says_where_the_answer_differs(tmp_path: Path) -> None:
    text = json.loads((BUNDLES / "first-h200-x2-tf-2.21-plain.json").read_text())
    causes = text["diagnosis"]["root_causes"]
    causes.append({**causes[0], "cause": "of\x1b[2Ja-stranger"})
    text["diagnosis"]["verdict"] = "healthy"
    text["diagnosis"]["candidates"] = {"tf-lists-no-gpu": [{"cause": "driver-too-old"}]}
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(text))
    sentences = (
        f"gpudoctor 0.1.0 answered otherwise on {text['started_at']}:",
        "the verdict is faulty, was healthy",
        "no longer a root cause: of\\x1b[2Ja-stranger",
        "no longer a candidate for tf-lists-no-gpu: driver-too-old",
    )
    done = gpudoctor("replay", str(file))
    assert done.stdout.endswith("\n" + "\n  · ".join(sentences) + "\n")
    assert (done.returncode, done.stderr) == (1, "")
    done = gpudoctor("replay", str(file), "--format", "json")
    assert done.stderr == "".join(f"gpudoctor: {one}\n" for one in sentences)
    assert json.loads(done.stdout)["diagnosis"]["verdict"] == "faulty"
    assert gpudoctor("replay", str(file), "--skip", "GD511", "--format", "json").stderr == ""


def test_where_nothing_differs_nothing_is_said() -> None:
    for format in ("text", "json"):
        done = gpudoctor("replay", str(BUNDLES / "first-h200-x2-tf-2.21-plain.json"), "--format", format)
        assert (done.returncode, done.stderr) == (1, "")
        assert "otherwise" not in done.stdout


@pytest.mark.parametrize(
    "damage", [{"verdict": 5}, {"root_causes": "x"}, {"root_causes": [{"cause": []}]}, {"candidates": {"a": {}}}]
)
def test_a_recorded_answer_is_validated(damage: dict[str, object]) -> None:
    text = json.loads((BUNDLES / "first-h200-x2-tf-2.21-plain.json").read_text())
    text["diagnosis"].update(damage)
    with pytest.raises(bundle.NotAReport, match="Expected"):
        bundle.recorded(json.dumps(text).encode())
