"""The printed report: its schema is pinned, and it is judged again elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from gpudoctor import bundle
from gpudoctor.facts import Facts, Trial
from gpudoctor.render import json as as_json
from tests.checks.test_libraries import gap
from tests.factory import cu_init, healthy, lists_no_gpu, with_, with_variable

SCHEMA = Path(__file__).parent.parent / "docs" / "report.schema.json"
CASES = {
    "healthy": healthy(),
    "gap": with_(
        gap(), trials=(Trial(cause="tf-wheel-runpath-gap", steps=("x",), worked=True, outcome="it lists 2 GPUs"),)
    ),
    "two causes": cu_init(with_variable(gap(), "CUDA_VISIBLE_DEVICES", "-1"), 100),
    "unexplained": lists_no_gpu(healthy()),
    "nothing known": Facts(),
}


def test_the_schema_is_pinned() -> None:
    """A change of the format shows here; write the new one with `python -m tests.test_bundle`."""
    assert json.loads(SCHEMA.read_text()) == json.loads(msgspec.json.encode(bundle.schema()))


@pytest.mark.parametrize("name", CASES)
def test_a_report_keeps_to_the_schema(name: str) -> None:
    text = as_json.render(bundle.make(CASES[name], "2026-11-21T00:00:00+00:00"))
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))


def test_the_shape_that_programs_rely_on() -> None:
    report = json.loads(as_json.render(bundle.make(CASES["two causes"], "2026-11-21T00:00:00+00:00")))
    assert set(report) == {
        "schema_version", "tool", "started_at", "facts", "findings", "measurements", "diagnosis", "skipped", "unknown",
        "ignored", "redactions",
    }  # fmt: skip
    assert report["schema_version"] == 1
    assert report["tool"]["name"] == "gpudoctor"
    diagnosis = report["diagnosis"]
    assert {"verdict", "root_causes", "candidates", "unexplained"} <= set(diagnosis)
    root = diagnosis["root_causes"][1]
    assert {"code", "cause", "title", "message", "about", "proof", "fixes", "explains"} <= set(root)
    assert {"kind", "risk", "steps", "verify", "trial"} <= set(root["fixes"][0])


def test_every_fix_says_whether_it_was_tried() -> None:
    report = json.loads(as_json.render(bundle.make(CASES["gap"], "now")))
    assert [f["trial"] for r in report["diagnosis"]["root_causes"] for f in r["fixes"]] == [None, None]


@pytest.mark.parametrize("name", CASES)
def test_a_replay_gives_the_same_answer(name: str) -> None:
    report = bundle.make(CASES[name], "2026-11-21T00:00:00+00:00")
    facts, started_at, redactions = bundle.read(as_json.render(report).encode())
    assert facts == CASES[name]
    assert redactions is None
    assert bundle.make(facts, started_at) == report


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "truncated"),
        (b"hello", "malformed"),
        (b"[]", "object"),
        (b"{}", "schema_version"),
        (b'{"schema_version": 1, "started_at": "x"}', "facts"),
        (b'{"schema_version": 2, "started_at": "x", "facts": {"is": "facts"}}', "newer"),
        (b'{"schema_version": 1, "started_at": "x", "facts": {"is": "pci"}}', "pci"),
        (
            b'{"schema_version": 1, "started_at": "x", "facts": {"is": "facts", "pci": {"is": "pci", "devices": 3}}}',
            "devices",
        ),
        (b"[" * 100_000, "."),
        (b'\xff\xfe{"a": 1}', "."),
    ],
)
def test_what_is_no_report_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(bundle.NotAReport, match=words):
        bundle.read(data)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(bundle.NotAReport, match="larger than"):
        bundle.read(b" " * (bundle.MAX_BYTES + 1))


@pytest.mark.parametrize(("fail_on", "code"), [("fail", 1), ("warn", 1), ("unknown", 1)])
def test_exit_code_of_a_faulty_machine(fail_on: bundle.FailOn, code: int) -> None:
    assert bundle.exit_code(bundle.make(CASES["gap"], "now"), fail_on) == code


@pytest.mark.parametrize(("fail_on", "code"), [("fail", 3), ("warn", 3), ("unknown", 1)])
def test_exit_code_where_nothing_is_known(fail_on: bundle.FailOn, code: int) -> None:
    assert bundle.exit_code(bundle.make(Facts(), "now"), fail_on) == code
    assert bundle.exit_code(bundle.make(healthy(), "now"), fail_on) == 0


if __name__ == "__main__":
    SCHEMA.write_bytes(msgspec.json.format(msgspec.json.encode(bundle.schema()), indent=1) + b"\n")
