"""A comparison says the same in every format, and text of others is harmless in each."""

from __future__ import annotations

import json as json_
import re
from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpudoctor import api, bundle
from gpudoctor.compare import Comparison, compare
from gpudoctor.facts import Facts, GpuDevice
from gpudoctor.render.diff import FORMATS, below, rendered
from gpudoctor.render.diff.view import View
from tests.compare.pairs import PAIRS, Pair, listed
from tests.factory import healthy, with_, with_variable
from tests.render import parsed
from tests.running import ROOT


class Said(NamedTuple):
    """What a reader takes home."""

    verdict: str
    new: list[str]
    """Causes that came."""


def text(said: str) -> Said:
    last = said.splitlines()[-1]
    words = {"Worse than": "worse", "Better than": "better", "Not worse than": "changed", "The same as": "same"}
    verdict = next(word for begin, word in words.items() if last[2:].startswith(begin))
    return Said(verdict, unique(re.findall(r"^[✗!] New: .*   (\S+) GD\d+$", said, re.MULTILINE)))


def json(said: str) -> Said:
    made = json_.loads(said)
    return Said(made["verdict"], unique([n["finding"]["cause"] for n in made["new_findings"]]))


def markdown(said: str) -> Said:
    every = parsed.tokens(said)
    causes = []
    for position, one in enumerate(every):
        if one.type == "heading_open" and one.tag == "h3" and every[position + 1].content.startswith("New: "):
            causes.append(next(t.content for t in every[position:] if t.type == "code_inline"))
    (verdict,) = [m[1] for t in every if t.type == "inline" and (m := re.match(r"<sub>.*?compared: (\w+)", t.content))]
    return Said(verdict, unique(causes))


def junit(said: str) -> Said:
    suite = ET.fromstring(said).find("testsuite[@name='gpudoctor diff']")
    assert suite is not None
    named = [(p.attrib["name"], p.attrib["value"]) for p in suite.iter("property")]
    assert (dict(named)["diff.exit_code"] == "1") == (suite.find("testcase/failure") is not None)
    assert len(suite.findall("testcase")) == int(suite.attrib["tests"]) > 0
    return Said(dict(named)["diff.verdict"], [value for name, value in named if name == "diff.new_finding"])


def prometheus(said: str) -> Said:
    samples = [s for family in text_string_to_metric_families(said) for s in family.samples]
    (verdict,) = [s.labels["verdict"] for s in samples if s.name == "gpudoctor_diff_verdict" and s.value == 1]
    return Said(verdict, unique([s.labels["cause"] for s in samples if s.name == "gpudoctor_diff_new_finding"]))


def html(said: str) -> Said:
    root = parsed.page(said)
    verdict = root.find(".//*[@id='comparison']")
    assert verdict is not None
    articles = [one for one in root.iter("article") if one.attrib.get("id", "").startswith("new-")]
    return Said(verdict.text or "", unique([one.findtext("p/code") or "" for one in articles]))


def github(said: str) -> Said:
    every = list(parsed.commands(said))
    (verdict,) = [a.title.removeprefix("gpudoctor diff: ") for a in every if a.title.startswith("gpudoctor diff: ")]
    named = [a.title.split()[0] for a in every if a.command in ("error", "warning") and " GD" in a.title]
    return Said(verdict, unique(named))


def oneline(said: str) -> Said:
    assert said.endswith("\n")
    assert len(said) <= 201
    assert said[:-1].isprintable()
    verdict = re.match(r"gpudoctor: (\w+)", said)
    assert verdict
    cause = re.match(r"gpudoctor: \w+: (\S+) \(GD\d+\)", said)
    return Said(verdict[1], [cause[1]] if cause else [])


def unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


READERS: dict[str, Callable[[str], Said]] = {
    "text": text,
    "json": json,
    "markdown": markdown,
    "html": html,
    "junit": junit,
    "prometheus": prometheus,
    "github": github,
    "oneline": oneline,
}


def of(old: Facts, new: Facts) -> Comparison:
    return compare(*(bundle.make(facts, "2026-11-21T00:00:00+00:00") for facts in (old, new)))  # type: ignore[arg-type]


def test_every_format_has_a_reader() -> None:
    assert set(READERS) == set(FORMATS)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_one_verdict_in_every_format(pair: Pair) -> None:
    for old, new in (pair.hosts, pair.hosts[::-1]):
        made = of(old, new)
        new_causes = unique([n.finding.cause for n in made.new_findings])
        for format, read in READERS.items():
            said = read(rendered(made, format))
            assert said.verdict == made.verdict, format
            assert sorted(said.new) == sorted(new_causes[:1] if format == "oneline" else new_causes), format
        assert View(made).exit_code == int(made.verdict == "worse")


def test_the_change_stands_beside_what_it_brings_about() -> None:
    made = of(healthy(), with_variable(healthy(), "CUDA_VISIBLE_DEVICES", ""))
    for format in FORMATS:
        assert "CUDA_VISIBLE_DEVICES" in rendered(made, format).replace("\\", "")
    assert "Most likely because of variable CUDA_VISIBLE_DEVICES: nothing → (empty)." in rendered(made, "text")
    assert "environment.variables:CUDA_VISIBLE_DEVICES" in rendered(made, "prometheus")


def test_a_loss_has_both_figures_and_the_noise() -> None:
    power = next(pair for pair in PAIRS if pair.name == "a power limit")
    made = of(*power.hosts)
    line = (
        "matmul-float16 8192 on GPU 1 (0000:00:07.0): 700 TFLOP/s → 330 TFLOP/s, -53% "
        "(noise 7%: 20 runs on 2x H200 (docs/measuring.md); the old report)"
    )
    said = rendered(made, "text")
    assert line in said
    assert "changed, too: GPU 1 (0000:00:07.0): power limit: 700 W → 350 W (down)" in said
    assert line in rendered(made, "github")
    ratio = r'gpudoctor_diff_measurement_ratio\{.*kernel="matmul-float16".*\} 0\.47\d*'
    assert re.search(ratio, rendered(made, "prometheus"))


HOSTILE = (
    "x\x1b[2J\n::error::owned\n<script>alert(1)</script> @everyone [red]bold[/red] `${{ secrets.X }}` ]]> & é"
    + "y" * 5000
)


def test_text_of_others_is_harmless() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", HOSTILE)
    facts = listed(facts, "python.distributions", lambda one: one.name == "tensorflow", version=HOSTILE)
    facts = with_(facts, system__kernel=HOSTILE, python__executable=HOSTILE)
    made = of(healthy(), facts)
    assert made.is_worse
    for format, read in READERS.items():
        said = rendered(made, format, verbose=True)
        assert "\x1b" not in said, format
        assert read(said).verdict == "worse", format
        assert len(said) < 100_000
    assert "<script>" not in rendered(made, "markdown")
    assert all(a.text != "owned" for a in parsed.commands(rendered(made, "github")))


def test_thousands_of_changes_are_bounded() -> None:
    facts = healthy()
    for n in range(800):
        facts = with_variable(facts, f"CUDA_X{n}", "y" * 200)
    made = of(healthy(), facts)
    assert len(made.changes) == 800
    assert len(rendered(made, "markdown")) <= 60_000
    assert len(rendered(made, "oneline")) <= 201
    assert len(rendered(made, "text").splitlines()) < 40


def test_verbose_lists_what_follows_and_what_is_not_known() -> None:
    reboot = next(pair for pair in PAIRS if pair.name == "driver upgraded, not rebooted")
    made = of(*reboot.hosts)
    short, long = rendered(made, "text"), rendered(made, "text", verbose=True)
    assert "answer of cuInit: 0 → 803" not in short
    assert "answer of cuInit: 0 → 803" in long
    assert "NVML answered 18" not in short
    assert "NVML answered 18" in long


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "text"])
def test_below_a_report(format: str) -> None:
    """It stays one text of the format: readers of reports and of comparisons both understand it."""
    old, new = (
        bundle.make(facts, "2026-11-21T00:00:00+00:00")
        for facts in (healthy(), with_variable(healthy(), "CUDA_VISIBLE_DEVICES", ""))
    )
    made = compare(old, new, basis="baseline")
    said = below(new, made, format)
    if format == "oneline":
        assert said == rendered(made, format)
        assert parsed.oneline(below(new, compare(new, new), format)).verdict == "faulty"
        return
    assert parsed.READERS[format](said) == ("faulty", [r.cause for r in new.diagnosis.root_causes])
    if format == "json":
        both = json_.loads(said)
        assert (both["comparison"]["verdict"], both["comparison"]["basis"]) == ("worse", "baseline")
        assert bundle.read(said.encode())[0] == new.seen
    elif format != "github":
        assert READERS[format](said).verdict == "worse"
    assert "baseline" in said


def four_gpus() -> Facts:
    return api.replay(ROOT / "tests" / "hosts" / "h200-x4-healthy.json").seen


def with_devices(facts: Facts, devices: list[GpuDevice]) -> Facts:
    return with_(facts, gpu=msgspec.structs.replace(facts.gpu, devices=tuple(devices)))


def gpus(facts: Facts) -> list[GpuDevice]:
    assert isinstance(facts.gpu.devices, tuple)
    return list(facts.gpu.devices)


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_what_changed_alike_on_several_gpus_is_said_once(format: str) -> None:
    old = four_gpus()
    limits = (500.0, 500.0, 500.0, 600.0)
    new = with_devices(
        old, [msgspec.structs.replace(d, power_limit_w=w) for d, w in zip(gpus(old), limits, strict=True)]
    )
    made = compare(bundle.make(old, "2026-11-21T00:00:00+00:00"), bundle.make(new, "2026-11-22T00:00:00+00:00"))
    said = rendered(made, format)
    assert "GPUs 0, 1, 2: power limit: 700 W → 500 W (down)" in said
    assert "GPU 3 (0000:00:09.0): power limit: 700 W → 600 W (down)" in said
    assert said.count("power limit") == 2
    each = rendered(made, format, verbose=True)
    assert "GPU 1 (0000:00:07.0): power limit: 700 W → 500 W (down)" in each
    assert each.count("power limit") == 4


def test_pairs_of_gpus_are_counted() -> None:
    old = four_gpus()
    assert isinstance(old.gpu.pairs, tuple)
    pairs = tuple(msgspec.structs.replace(one, read="NOT_SUPPORTED") for one in old.gpu.pairs)
    new = with_(old, gpu=msgspec.structs.replace(old.gpu, pairs=pairs))
    made = compare(bundle.make(old, "2026-11-21T00:00:00+00:00"), bundle.make(new, "2026-11-22T00:00:00+00:00"))
    assert "6 pairs of GPUs: peer access: ok → NOT_SUPPORTED" in rendered(made, "text")


def test_gpus_in_another_order_are_the_same_with_other_numbers() -> None:
    old = four_gpus()
    first, second, *rest = gpus(old)
    new = with_devices(old, [msgspec.structs.replace(second, index=0), msgspec.structs.replace(first, index=1), *rest])
    made = compare(bundle.make(old, "2026-11-21T00:00:00+00:00"), bundle.make(new, "2026-11-22T00:00:00+00:00"))
    assert [(one.subject, one.what, one.old, one.new) for one in made.changes] == [
        ("GPU 0 (0000:00:07.0)", "number with nvidia-smi", "1", "0"),
        ("GPU 1 (0000:00:06.0)", "number with nvidia-smi", "0", "1"),
    ]
    assert made.verdict == "changed"
