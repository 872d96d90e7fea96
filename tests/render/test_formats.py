"""Every format says the same: each is read back, whatever stands in the facts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from gpudoctor import api, bundle
from gpudoctor.bundle import Report
from gpudoctor.facts import Facts, Trial, Unread
from gpudoctor.findings import Evidence
from gpudoctor.render import junit, log, markdown, rendered, text
from gpudoctor.render.view import View
from gpudoctor.terminal import Format
from tests.checks.test_libraries import gap
from tests.factory import cannot_open, cu_init, found, healthy, lists_no_gpu, with_, with_variable
from tests.render import parsed
from tests.render.parsed import READERS, Said

TESTS = Path(__file__).parent.parent
NOW = "2026-11-21T00:00:00+00:00"
NASTY = (
    "\x1b]0;owned\x07\x1b[2J",
    "\x00\x08\x0b\x0c\x7f\x85\ufffe\uffff",
    "a\r\nb\n\n# c\n- d\n===\n    e\n1. f",
    "::error title=x::y\n::set-output name=a::b\n##[error]z\n::stop-commands::q\n::endgroup::",
    "@mention and #123 and GH-7 and o/r#5 and https://example.org www.example.org a@b.org",
    "`code` ``` ```` ~~~ $x$ **b** _i_ ~s~ [l](http://x) ![i](y) <!-- c --> <b>&amp;</b> | \\| \\",
    "```\n</details>\n## ✓ Healthy\n### ✗ x\n`no-nvidia-gpu`\n```",
    "<sub>gpudoctor 1 · verdict: healthy · x</sub>",
    "]]></failure><testcase name='x'/>&#0;",
    'a"b\\n} 1\ngpudoctor_verdict{verdict="healthy"} 1\n# HELP',
    "%0A%25%3A,title=x",
    "gpudoctor: healthy",
    "\u202e\u2028\u200b",
    "",
    "✓ ? ✗ !",
)


def made(facts: Facts) -> Report:
    return bundle.make(facts, NOW)


def poisoned(value: Any, what: str, every: int = 1) -> Any:
    """`value` with `what` at the end of every so-manieth text in it."""
    seen = 0

    def put(value: Any) -> Any:
        nonlocal seen
        if isinstance(value, str):
            seen += 1
            return value + what if seen % every == 0 else value
        if isinstance(value, tuple):
            return tuple(put(v) for v in value)
        if isinstance(value, msgspec.Struct):
            return type(value)(**{f: put(getattr(value, f)) for f in value.__struct_fields__})
        return value

    return put(value)


def agree(report: Report) -> None:
    """Each format is read back to what the report says."""
    says = Said(report.diagnosis.verdict, [r.cause for r in report.diagnosis.root_causes if r.level != "info"])
    for format, read in READERS.items():
        got = read(rendered(report, format))
        if format == "oneline":
            got = Said(got.verdict, [*got.causes[:1], *says.causes[1:]][: len(got.causes)])
        names = (
            list(dict.fromkeys(says.causes)) if format == "prometheus" else says.causes
        )  # it has no second one of a name
        assert got == Said(says.verdict, names), format
    if not report.facts.text.is_all:
        file = io.StringIO()
        text.show(report, Console(file=file, highlight=False))
        assert parsed.text(file.getvalue()) == says
    is_sound(rendered(report, "markdown"))


def is_sound(printed: str) -> None:
    """Nothing in it is markup of somebody else's."""
    assert len(printed) <= markdown.MOST
    every = parsed.tokens(printed)
    kinds = {one.type for one in every}
    assert not kinds & {"link_open", "image", "em_open", "s_open", "code_block", "hr", "blockquote_open"}
    tags = {one.content.strip() for one in every if one.type == "html_inline"}
    assert tags <= {"<sub>", "</sub>"}
    blocks = [one.content for one in every if one.type == "html_block"]
    assert all(re.fullmatch(r"<details><summary>[\w ]+</summary>\n|</details>\n?", b) for b in blocks), blocks
    shown = "".join(one.content for one in every if one.type == "text")
    assert not re.search(r"[@#]\w|GH-\d|://|www\.", shown)
    assert shown.replace("\u200b", "").isprintable()


# ------------------------------------------------------------------------------- the same verdict


@pytest.mark.parametrize("path", sorted((TESTS / "hosts").glob("*.json")), ids=lambda p: p.stem)
def test_of_a_recorded_host(path: Path) -> None:
    agree(api.replay(path))


def texts() -> Iterator[Path]:
    yield from sorted(p for p in (TESTS / "captures").iterdir())
    yield from sorted((TESTS / "logs" / "h200").glob("*.log"))
    yield from sorted((TESTS / "logs" / "corpus").glob("2.*-*.log"))[::3]


@pytest.mark.parametrize("path", list(texts()), ids=lambda p: p.name)
def test_of_a_text(path: Path) -> None:
    agree(api.log(io.BytesIO(path.read_bytes())))


def pending() -> Facts:
    """Both GPUs have the same flaw: two causes of one name, and no more than a warning."""
    devices = healthy().gpu.devices
    assert isinstance(devices, tuple)
    return with_(healthy(), gpu__devices=tuple(msgspec.structs.replace(d, row_remap_pending=True) for d in devices))


BASES = (
    pending(),
    healthy(),
    gap(),
    Facts(),
    lists_no_gpu(healthy()),
    with_(Facts(), tensorflow=lists_no_gpu(healthy()).tensorflow),
    cu_init(with_variable(gap(), "CUDA_VISIBLE_DEVICES", "-1"), 100),
    cannot_open(healthy(), "libcudnn.so.9", ("/a", "/b")),
    with_variable(healthy(), "NCCL_P2P_DISABLE", "1"),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    base=st.integers(0, len(BASES) - 1),
    what=st.one_of(st.sampled_from(NASTY), st.text(max_size=40), st.lists(st.sampled_from(NASTY)).map("".join)),
    every=st.integers(1, 5),
)
def test_whatever_stands_in_the_facts(base: int, what: str, every: int) -> None:
    agree(made(poisoned(BASES[base], what, every)))


@pytest.mark.parametrize("what", NASTY)
def test_whatever_stands_in_the_answer(what: str) -> None:
    """Also where no check would put it: in messages, proofs, fixes, reasons and commands."""
    for base in BASES:
        report = made(base)
        diagnosis = report.diagnosis
        roots = tuple(
            msgspec.structs.replace(
                r, message=what + r.message, title=what, proof=(*r.proof, Evidence(text=what, source=what)),
                fixes=tuple(msgspec.structs.replace(f, summary=what, steps=(*f.steps, what), verify=what) for f in r.fixes),
            )
            for r in diagnosis.root_causes
        )  # fmt: skip
        unknown = tuple(msgspec.structs.replace(u, why=what + u.why, settle=what) for u in report.unknown)
        skipped = tuple(msgspec.structs.replace(s, reason=what) for s in report.skipped)
        diagnosis = msgspec.structs.replace(diagnosis, root_causes=roots)
        report = msgspec.structs.replace(report, diagnosis=diagnosis, unknown=unknown, skipped=skipped, started_at=what)
        agree(report)


# ------------------------------------------------------------------------------- Markdown


def test_markdown_has_the_proof_the_fix_and_what_its_trial_showed() -> None:
    cause = "tf-wheel-runpath-gap"
    env, link = found(gap())[cause].fixes
    worked = Trial(cause=cause, steps=env.steps, worked=True, outcome="TensorFlow then lists 2 GPUs", judged_by="list")
    failed = Trial(cause=cause, steps=link.steps, worked=False, outcome="it still can't", judged_by="loader")
    printed = rendered(made(with_(gap(), trials=(worked, failed))), "markdown")
    assert printed.startswith("## ✗ Faulty: 1 root cause: tf-wheel-runpath-gap\n")
    fences = [(t.info, t.content) for t in parsed.tokens(printed) if t.type == "fence"]
    assert [info for info, _ in fences] == ["text", "shell", "shell"]
    assert fences[1][1] == env.steps[0] + "\n"
    assert "works: TensorFlow then lists 2 GPUs" in printed
    assert "not enough: it still can't" in printed


def test_markdown_shows_measurements_with_what_is_expected() -> None:
    cells = [t.content for t in parsed.tokens(rendered(made(healthy()), "markdown")) if t.type == "inline"]
    position = cells.index("matmul float32 8192")
    assert cells[position + 1 : position + 3] == ["GPU:0,1, TensorFlow", "51.1 TFLOP/s"]
    assert cells[position + 3].startswith("66.9 TFLOP/s (limit: 132 multiprocessors")
    assert cells[position + 4] == "verified, ok"
    one = healthy().measurements[0]
    wrong = msgspec.structs.replace(one, verified=False)
    failed = msgspec.structs.replace(one, value=Unread(why="it ended by SIGSEGV"), verified=Unread(why="x"))
    printed = rendered(made(with_(healthy(), measurements=(wrong, failed))), "markdown")
    assert "WRONG NUMBERS" in printed
    assert "failed: it ended by SIGSEGV" in printed


def test_markdown_is_cut_and_says_so() -> None:
    report = made(cu_init(with_variable(gap(), "CUDA_VISIBLE_DEVICES", "-1"), 100))
    first, *others = report.diagnosis.root_causes
    long = msgspec.structs.replace(first.fixes[0], summary="x" * 5_000, steps=("y " * 1_900,))
    roots = (
        first,
        *(msgspec.structs.replace(r, cause=f"{r.cause}-{n}", fixes=(long,) * 5) for n in range(9) for r in others),
    )
    report = msgspec.structs.replace(report, diagnosis=msgspec.structs.replace(report.diagnosis, root_causes=roots))
    printed = rendered(report, "markdown")
    assert len(printed) <= 60_000
    assert "\nCut, to stay below 60,000 characters: `" in printed
    shown = parsed.markdown(printed).causes
    assert shown == [r.cause for r in roots][: len(shown)]
    assert all(f"`{r.cause}`" in printed.splitlines()[-1] for r in roots[len(shown) :])
    is_sound(printed)


def test_a_command_is_shown_whole_or_not_at_all() -> None:
    step = "echo " + "z" * 5_000
    assert markdown.commands([step]) == "(1 line to paste, too long to be shown here)"
    assert markdown.commands(["echo ```` x"]) == "`````shell\necho ```` x\n`````"


def test_what_a_recorded_report_says_to_run_is_no_command_of_ours() -> None:
    facts = with_(
        Facts(), tensorflow=lists_no_gpu(healthy()).tensorflow, pci__devices=Unread(why="w", settle="rm -rf /")
    )
    report = made(facts)
    there = View(report, recorded=True)
    assert not [
        t
        for t in parsed.tokens(markdown.render(there))
        if t.type == "fence" and "rm -rf" in t.content and t.info == "shell"
    ]
    assert "the report says: rm -rf /" in junit.render(there)


# ------------------------------------------------------------------------------- JUnit

ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"name", "tests", "failures", "errors"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set[str](), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": (
        {"name", "time", "classname", "group"},
        {"name"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    **{name: ({"type", "message"}, set(), set()) for name in ("failure", "error", "skipped")},
    **{name: (set[str](), set(), set()) for name in ("system-out", "system-err")},
}  # fmt: skip
"""By element: the attributes that it may have and must have, and its children, as in the schema junit-10.xsd of Jenkins' xUnit plugin."""


def fits(element: ET.Element) -> None:
    may, must, children = ALLOWED[element.tag]
    assert must <= set(element.attrib) <= may
    if "time" in element.attrib:
        assert re.fullmatch(r"\d*(\.\d*)?", element.attrib["time"])
    assert children or not len(element)
    for child in element:
        assert child.tag in children
        fits(child)


@pytest.mark.parametrize("facts", BASES)
def test_junit_has_the_structure_that_jenkins_wants(facts: Facts) -> None:
    report = made(facts)
    root = ET.fromstring(junit.render(View(report, took_s=1.25)))
    fits(root)
    (suite,) = root
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    assert len(cases) == int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))
    assert kinds == {
        **{out.cause: [] for out in report.diagnosis.ruled_out},
        **{unknown.cause: ["skipped"] for unknown in report.unknown},
        **{skipped.cause: ["skipped"] for skipped in report.skipped},
        **{f.cause: ["failure" if f.level == "fail" else "system-out"] for f in report.findings},
    }
    assert int(suite.attrib["failures"]) == len(list(suite.iter("failure")))
    assert int(suite.attrib["skipped"]) == len(list(suite.iter("skipped")))
    assert suite.attrib["time"] == "1.250"
    assert cases["no-nvidia-gpu"].attrib["classname"] == "gpudoctor.topology"


def test_a_failure_has_its_proof_and_its_fix() -> None:
    cases = {c.attrib["name"]: c for c in ET.fromstring(rendered(made(gap()), "junit")).iter("testcase")}
    told = cases["tf-wheel-runpath-gap"].findtext("failure") or ""
    assert "RUNPATH of libtensorflow_framework.so.2" in told
    assert "    export LD_LIBRARY_PATH=" in told


# ------------------------------------------------------------------------------- Prometheus


def samples(facts: Facts) -> dict[str, list[tuple[dict[str, str], float]]]:
    got: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(rendered(made(facts), "prometheus")):
        for one in family.samples:
            got.setdefault(one.name, []).append((one.labels, one.value))
    return got


def test_prometheus_has_base_units() -> None:
    got = samples(healthy())
    (flops,) = [
        (labels, value)
        for labels, value in got["gpudoctor_measurement_flop_per_second"]
        if (labels["kernel"], labels["device"]) == ("matmul", "GPU:0")
    ]
    assert flops[0]["size"] == "8192x8192x8192"
    assert flops[1] == pytest.approx(51.1e12, rel=0.01)
    expected = [v for labels, v in got["gpudoctor_measurement_expected_flop_per_second"] if labels == flops[0]]
    assert expected == [pytest.approx(66.9e12, rel=0.01)]
    assert all(v > 1e8 for _, v in got["gpudoctor_measurement_bytes_per_second"])
    assert all(0 < v < 1 for _, v in got.get("gpudoctor_measurement_seconds", ()))
    assert got["gpudoctor_gpus"] == [({"source": s}, 2.0) for s in ("tensorflow", "cuda", "nvml")]
    assert got["gpudoctor_timestamp_seconds"] == [({}, 1795219200.0)]


def test_prometheus_tells_how_every_check_ended() -> None:
    got = samples(gap())
    status = {
        labels["cause"]: (labels["subject"], labels["level"], value) for labels, value in got["gpudoctor_check_status"]
    }
    assert status["tf-wheel-runpath-gap"] == ("tensorflow", "fail", 1.0)
    assert status["driver-missing"][2] == 0.0
    assert {value for _, _, value in status.values()} == {0.0, 1.0, 3.0}
    unread = {labels["cause"]: value for labels, value in samples(Facts())["gpudoctor_check_status"]}
    assert unread["no-nvidia-gpu"] == 2.0


def test_every_number_has_a_unit_that_prometheus_knows() -> None:
    from gpudoctor.render.prometheus import _UNITS

    assert {m.unit for m in healthy().measurements if isinstance(m.unit, str)} <= set(_UNITS)


# ------------------------------------------------------------------------------- GitHub, one line


def test_github_is_told_of_causes_and_open_symptoms() -> None:
    every = list(parsed.commands(rendered(made(gap()), "github")))
    assert [(a.command, a.title) for a in every] == [
        ("error", "tf-wheel-runpath-gap GD511"),
        ("notice", "gpudoctor: faulty"),
    ]
    assert "export LD_LIBRARY_PATH=" in every[0].text
    open_ = list(parsed.commands(rendered(made(lists_no_gpu(healthy())), "github")))
    assert open_[0].command == "error"
    assert open_[0].title.startswith("tf-lists-no-gpu")
    report = api.log(io.BytesIO((TESTS / "logs" / "h200" / "cvd-empty.log").read_bytes()))
    assert log.plain(report) in rendered(report, "github")


GAP = (
    "gpudoctor: faulty: tf-wheel-runpath-gap (GD511): TensorFlow lists 0 of 2 GPUs; fix: Put the directory on the "
    "loader's path, for this shell and what it starts"
)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (healthy(), "gpudoctor: healthy, 2 GPUs"),
        (Facts(), "gpudoctor: unknown: nothing wrong was found, and what would show it could not be looked at."),
        (
            gap(),
            GAP,
        ),
        (
            lists_no_gpu(healthy()),
            "gpudoctor: faulty: tf-lists-no-gpu, and the cause could not be determined; gpudoctor check shows what is left",
        ),
    ],
)
def test_one_line(facts: Facts, line: str) -> None:
    assert rendered(made(facts), "oneline") == line + "\n"


def test_two_causes_of_one_name_and_a_warning() -> None:
    report = made(pending())
    assert report.diagnosis.verdict == "warning"
    assert [r.cause for r in report.diagnosis.root_causes] == ["gpu-memory-repair-pending"] * 2
    assert rendered(report, "oneline").startswith("gpudoctor: warning: gpu-memory-repair-pending (GD")
    assert [a.command for a in parsed.commands(rendered(report, "github"))] == ["warning", "warning", "notice"]


def test_each_format_has_its_file_and_its_reader() -> None:
    assert {f.value for f in Format} - {"text"} == set(READERS)
