"""The page: everything of a report is in it, nothing of a stranger's works in it, and its size has an end."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from gpudoctor import api, bundle
from gpudoctor.bundle import Redaction, Report
from gpudoctor.facts import Facts, NvLink, PciDevice, Run, RunGpu, Trial, Unread
from gpudoctor.findings import Evidence, Finding, RootCause
from gpudoctor.render import html, rendered
from gpudoctor.render import measured as words
from gpudoctor.render.html.page import MOST
from gpudoctor.render.view import View
from tests.boards import copies, nvlinks_to, on_board, recorded
from tests.factory import found, healthy, lists_no_gpu, with_, with_gpu
from tests.provoked.test_boards import ACROSS, SIDE, SWITCHED, four
from tests.render.parsed import page
from tests.render.test_formats import BASES, NASTY, made, pending, poisoned
from tests.test_topology import eight

HOSTS, LOGS = Path(__file__).parent.parent / "hosts", Path(__file__).parent.parent / "logs"
URL = "http://127.0.0.1:9/planted"
HOSTILE = (
    *NASTY,
    "</style><style>*{display:none}</style><script>alert(1)</script>",
    f'"><img src="{URL}" onerror="alert(1)"><a href="javascript:alert(1)">x</a>',
    f"' onload='alert(1)' style='background:url({URL})",
    f"</title></svg></table><base href='{URL}'><iframe srcdoc='<script>1</script>'><!--",
    "&lt;script&gt; &#60;script&#62; &amp;lt; ]]> <![CDATA[ <?php ?> <!doctype html>",
)
TAGS = """html head meta title style body header h1 h2 h3 h4 p span a nav main section article ul li pre code cite b div table thead
tbody tr th td details summary figure figcaption data time svg desc g rect line path text tspan"""
ATTRIBUTES = """lang charset http-equiv content name class id href aria-label aria-hidden aria-labelledby role tabindex scope colspan
open title datetime value width height viewbox preserveaspectratio xmlns x y rx x1 y1 x2 y2 d fill stroke transform text-anchor"""


def drawn(report: Report, *, recorded: bool = False) -> ET.Element:
    """A page that is sound."""
    text = html.render(View(report, recorded=recorded))
    assert len(text) <= MOST
    root = page(text)
    is_sound(root)
    return root


def is_sound(root: ET.Element) -> None:
    """No program, nothing from elsewhere, no markup but ours, headings in order, references that lead somewhere."""
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    assert len(ids) == len(set(ids))
    for one in root.iter():
        assert one.tag in TAGS.split()
        assert set(one.attrib) <= set(ATTRIBUTES.split()), one.attrib
        assert one.attrib.get("href", "#")[0] == "#"
        assert one.attrib.get("href", "#")[1:] in {"", *ids}
        assert set(one.attrib.get("aria-labelledby", "").split()) <= set(ids)
        shown = (one.text or "") + (one.tail or "") + "".join(one.attrib.values())
        assert shown.replace("\n", "").replace("\u3000", " ").isprintable() or one.tag == "style"
        if one.tag == "th":
            assert one.attrib["scope"] in ("row", "col")
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(list(root.iter("style"))) == 1
    policy = [m.attrib["content"] for m in root.iter("meta") if m.attrib.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1
    assert policy[0].startswith("default-src 'none';")
    assert "unsafe" not in policy[0]


def text_of(root: ET.Element | None) -> str:
    assert root is not None
    return "".join(root.itertext())


def part(root: ET.Element, name: str) -> ET.Element:
    (one,) = [s for s in root.iter("section") if s.attrib["id"] == name]
    return one


def sections(root: ET.Element) -> list[str]:
    return [s.attrib["id"] for s in root.iter("section")]


# ------------------------------------------------------------------------------- all of it


def is_complete(report: Report, root: ET.Element) -> None:
    """Every cause, proof, fix, figure, reason and command of `report` is in the page."""
    shown = text_of(root)
    diagnosis = report.diagnosis
    assert not [
        one for one in root.iter() if "broken" in one.attrib.get("class", "") or one.attrib.get("class") == "cut"
    ]
    for one in report.findings:
        for said in (one.cause, one.code, one.title, one.message):
            assert said in shown
        for proof in one.proof:
            assert proof.text in shown
            assert proof.source in shown
    named = [
        text_of(a.find("p/code")) for a in root.iter("article") if a.attrib.get("id", "")[:5] in ("cause", "note-")
    ]
    assert sorted(named) == sorted(one.cause for one in diagnosis.root_causes)
    blocks = {text_of(one) for one in root.iter("pre")}
    for root_cause in diagnosis.root_causes:
        for fix in root_cause.fixes:
            assert fix.summary in shown
            assert fix.risk in shown
            assert not fix.steps or "\n".join(fix.steps) in blocks
            if fix.trial is not None and isinstance(fix.trial.outcome, str):
                assert fix.trial.outcome in shown
    if diagnosis.combined_fix is not None:
        assert "\n".join(diagnosis.combined_fix.steps) in blocks
    for candidates in diagnosis.candidates.values():
        for left in candidates:
            assert left.cause in shown
            assert (left.settle or "") in shown
    for out in diagnosis.ruled_out:
        assert out.cause in shown
        assert (out.reason or "") in shown
    if not report.facts.text.is_all:
        for skipped in report.skipped:
            assert skipped.reason in shown
        for unknown in report.unknown:
            assert unknown.why in shown
            assert (unknown.settle or "") in shown
    figures = {(one.attrib["value"], text_of(one)) for one in root.iter("data")}
    for measurement, verdict in View(report).measured:
        if isinstance(measurement.value, float):
            assert isinstance(measurement.unit, str)
            rate = words.rate(measurement.value, measurement.value, measurement.unit)
            assert (repr(measurement.value), rate) in figures
            assert words.what(measurement) in shown
            for sample in measurement.samples if isinstance(measurement.samples, tuple) else ():
                assert f"{sample:.4g}" in shown
        elif measurement.failed is not None:
            assert measurement.failed in shown
        if verdict is not None and verdict.expected is not None and verdict.unit is not None:
            assert words.rate(verdict.expected, verdict.expected, verdict.unit) in shown
            assert verdict.basis in shown


@pytest.mark.parametrize("path", sorted(HOSTS.glob("*.json")), ids=lambda p: p.stem)
def test_everything_of_a_recorded_host_is_in_it(path: Path) -> None:
    report = api.replay(path)
    root = drawn(report, recorded=True)
    is_complete(report, root)
    assert sections(root)[-7:] == ["machine", "topology", "measured", "not-applicable", "ruled-out", "replaced", "made"]
    assert text_of(root.find("body/header/h1"))[2:] == View(report).sentence
    assert root.findtext("head/title") == f"gpudoctor: {View(report).sentence}"


def paired() -> Facts:
    """Four GPUs, one way between two of which is slow, and one that fails."""
    rates = {(a, b): 390.0 + a for a in range(4) for b in range(4) if a != b} | {(2, 1): 100.0}
    facts = copies(recorded("h200-x4-healthy"), rates)
    failed = [m for m in facts.measurements if m.device == "GPU:3,GPU:0"]
    other = [m for m in facts.measurements if m.device != "GPU:3,GPU:0"]
    assert len(failed) == 1
    lost = msgspec.structs.replace(failed[0], value=Unread(why="CUDA_ERROR_LAUNCH_FAILED"), verified=Unread(why="x"))
    return with_(facts, measurements=(*other, lost))


@pytest.mark.parametrize(
    "facts",
    [
        *BASES,
        paired(),
        copies(four(at={"0000:81:00.0": {"link_width": 4}}), SIDE | dict.fromkeys(ACROSS, 13.0)),
        with_(lists_no_gpu(healthy()), pci__devices=Unread(why="/sys is not mounted", settle="lspci -nn")),
        with_(healthy(), tensorflow__devices=Unread(why="TensorFlow is not imported at this level", chosen=True)),
        with_(healthy(), pci__devices=Unread(why="only root may", settle="sudo lspci -vv")),
        with_(healthy(), measurements=(msgspec.structs.replace(healthy().measurements[0], verified=False),)),
    ],
)
def test_everything_of_a_change_is_in_it(facts: Facts) -> None:
    report = made(facts)
    is_complete(report, drawn(report))


@pytest.mark.parametrize("name", ["corpus/2.21.0-cuinit-803.log", "h200/healthy.log", "h200/cvd-empty.log"])
def test_of_a_text(name: str) -> None:
    report = api.log(io.BytesIO((LOGS / name).read_bytes()))
    root = drawn(report)
    is_complete(report, root)
    assert {"text", "made"} <= set(sections(root))
    assert not {"machine", "topology", "measured", "undecided", "not-applicable"} & set(sections(root))
    assert text_of(root.find("body/header/h1"))[2:] == View(report).sentence
    for event in report.facts.text.understood():
        assert event.text in text_of(part(root, "text"))


def test_what_a_program_did() -> None:
    run = Run(command=("python3", "a b.py"), exit_code=3, seconds=4.25, gpus=(RunGpu(index=1, tensor_percent=7.0),))
    root = drawn(made(with_(healthy(), run=run)))
    shown = text_of(part(root, "run"))
    assert "python3 'a b.py'" in shown
    assert "4.2 s, exit code 3" in shown
    assert "GPU 1: tensor cores 7%" in shown
    assert "Exit code" not in text_of(part(root, "made"))  # which is the program's


def test_what_a_trial_showed() -> None:
    cause = "tf-wheel-runpath-gap"
    env, link = found(BASES[2])[cause].fixes
    worked = Trial(cause=cause, steps=env.steps, worked=True, outcome="TensorFlow then lists 2 GPUs", judged_by="list")
    failed = Trial(cause=cause, steps=link.steps, worked=False, outcome="it still can't", judged_by="loader")
    report = made(with_(BASES[2], trials=(worked, failed)))
    for recorded_, where in ((False, "here"), (True, "there")):
        shown = text_of(part(drawn(report, recorded=recorded_), "causes"))
        assert f"tried {where}: works TensorFlow then lists 2 GPUs" in shown
        assert f"tried {where}: not enough it still can't" in shown


def test_what_a_recorded_report_says_to_run_is_no_command_of_ours() -> None:
    facts = with_(Facts(), tensorflow=BASES[4].tensorflow, pci__devices=Unread(why="w", settle="rm -rf /"))
    commands = [[text_of(c) for c in drawn(made(facts), recorded=r).iter("code")] for r in (False, True)]
    assert ["rm -rf /" in one for one in commands] == [True, False]
    assert "(the report says) rm -rf /" in text_of(drawn(made(facts), recorded=True))


def test_what_was_replaced_is_counted() -> None:
    report = made(healthy())
    tokens = (Redaction(token="home-1a", kind="home", count=3), Redaction(token="host-2b", kind="host", count=4))
    assert "Nothing was replaced" in text_of(part(drawn(report), "replaced"))
    shown = text_of(part(drawn(msgspec.structs.replace(report, redactions=tokens)), "replaced"))
    assert "2 things of the machine are tokens here, 7 times altogether" in shown
    assert "home-1a" in shown
    assert "nothing to replace" in text_of(part(drawn(msgspec.structs.replace(report, redactions=())), "replaced"))


# ------------------------------------------------------------------------------- the pictures


def cells(table: ET.Element) -> dict[tuple[str, str], str]:
    """By its row's and its column's head."""
    columns = [text_of(one) for one in table.iter("th") if one.attrib["scope"] == "col"]
    rows = [[text_of(cell) for cell in row] for row in table.findall("tbody/tr")]
    columns = columns if len(columns) == len(rows[0]) else ["", *columns]
    return {(row[0], column): cell for row in rows for column, cell in zip(columns, row, strict=True)}


def test_the_map_of_pairs() -> None:
    root = drawn(made(paired()))
    (table,) = [one for one in root.iter("table") if one.attrib.get("class") == "heat"]
    shown = cells(table)
    assert shown["GPU:0", "GPU:1"] == "390"
    assert shown["GPU:3", "GPU:1"] == "393"
    assert shown["GPU:2", "GPU:1"] == "▼ 100"
    assert shown["GPU:3", "GPU:0"] == "✗ failed"
    assert shown["GPU:2", "GPU:2"] == "·"
    classes = {text_of(one): one.attrib["class"] for one in table.iter("td") if "class" in one.attrib}
    assert (classes["390"], classes["▼ 100"]) == ("heat-8", "heat-2 bad")
    assert "▼: clearly slower" in text_of(part(root, "measured"))


def test_a_bar_is_as_long_as_its_part_of_what_is_expected() -> None:
    root = drawn(made(healthy()))
    (row,) = [
        tr
        for figure in root.iter("figure")
        if text_of(figure).startswith("matmul float32 8192 · TensorFlow")
        for tr in figure.iter("tr")
        if text_of(tr).startswith("GPU:1")
    ]
    assert [text_of(td) for td in row][2:4] == ["51.1 TFLOP/s", "76%"]
    (bar,) = [one for one in row.iter("rect") if one.attrib.get("class") == "bar"]
    (limit,) = [one for one in row.iter("rect") if one.attrib.get("class") == "limit"]
    (whole,) = [one for one in row.iter("rect") if one.attrib.get("class") == "track"]
    assert float(limit.attrib["x"]) + 2 == float(whole.attrib["width"])
    assert float(bar.attrib["width"]) / float(whole.attrib["width"]) == pytest.approx(51.1 / 66.9, abs=0.01)


def test_a_slow_gpu_is_marked_with_the_reason() -> None:
    facts = recorded("h200-x4-healthy-full")
    ones = tuple(
        msgspec.structs.replace(m, value=30.0, samples=(30.0,) * 3)
        if (m.kernel, m.device) == ("matmul", "GPU:1")
        else m
        for m in facts.measurements
    )
    shown = text_of(part(drawn(made(with_(facts, measurements=ones))), "measured"))
    assert "▼ low" in shown
    assert "0.59 of what its siblings reach" in shown


def svg(facts: Facts) -> ET.Element:
    (picture,) = [one for one in drawn(made(facts)).iter("svg") if one.attrib.get("class") == "picture"]
    return picture


def strokes(picture: ET.Element, kind: str) -> int:
    return sum(one.attrib.get("class") == kind for one in picture.iter())


def test_the_picture_has_switches_numa_nodes_and_the_degraded_link() -> None:
    picture = svg(four(at={"0000:81:00.0": {"link_width": 4}}))
    shown = [text_of(one) for one in picture.iter("text")]
    assert [one for one in shown if one.startswith("NUMA")] == [
        "NUMA node 0 · processors 0-31 · 256 GiB",
        "NUMA node 1 · processors 32-63 · 256 GiB",
    ]
    assert [one.split()[1] for one in shown if one.startswith("GPU ")] == ["0", "1", "2", "3"]
    assert [one for one in shown if one.startswith("0000:8")] == [
        "0000:83:00.0",
        "0000:84:00.0",
        "0000:81:00.0",
        "0000:80",
    ]
    assert shown.count("5.0 x16, 63 GB/s") == 5
    assert "▼ 5.0 x4 of 5.0 x16" in shown
    assert strokes(picture, "pcie bad") == 1
    assert strokes(picture, "nvlink") == 0
    assert "GPU 3" in (picture.findtext("desc") or "")


def test_the_picture_has_the_nvlinks() -> None:
    through = svg(eight())
    assert strokes(through, "nvlink") == 8
    assert "NVLink, NV18" in [text_of(one) for one in through.iter("text")]
    facts = on_board(recorded("h200-x4-healthy"), SWITCHED)
    for index, peers in enumerate(({1: 2, 2: 1, 3: 1}, {0: 2, 2: 1, 3: 1}, {3: 2, 0: 1, 1: 1}, {2: 2, 0: 1, 1: 1})):
        facts = nvlinks_to(facts, index, peers)
    straight = svg(facts)
    assert strokes(straight, "nvlink") == 6
    assert (
        sorted(text_of(one) for one in straight.iter("text") if text_of(one).startswith("NV"))
        == ["NV1"] * 4 + ["NV2"] * 2
    )
    some = with_gpu(eight(), 3, nvlinks=tuple(NvLink(index=i, active=i < 17, remote="switch", speed_mb_per_s=26562) for i in range(18)))  # fmt: skip
    assert any(text_of(one).startswith("17 of 18 NVLinks") for one in svg(some).iter("text"))


def test_gpus_that_the_bus_does_not_show_are_drawn() -> None:
    picture = svg(with_(healthy(), pci__devices=Unread(why="/sys is not mounted")))
    assert [text_of(one).split()[1] for one in picture.iter("text") if text_of(one).startswith("GPU ")] == ["0", "1"]


# ------------------------------------------------------------------------------- strangers


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_of_a_stranger_is_markup(what: str) -> None:
    for base in (*BASES[::2], paired()):
        root = drawn(made(poisoned(base, what)))
        assert sections(root)[-1] == "made"


@pytest.mark.parametrize("device", ["GPU:²", f"GPU:0,GPU:1,GPU:{'9' * 5_000}", "GPU:", ",,,", ""])
def test_devices_that_no_machine_has(device: str) -> None:
    ones = tuple(msgspec.structs.replace(m, device=device, pci_addresses=("x",)) for m in healthy().measurements)
    report = made(with_(healthy(), measurements=ones))
    assert "could not be drawn" not in text_of(drawn(report))


def test_a_broken_part_takes_no_other_with_it() -> None:
    """Sizes that no machine has, which a report may hold."""
    one = msgspec.structs.replace(healthy().measurements[0], size=(10**400, 2), unit="GB/s", dtype="bytes")
    root = drawn(made(with_(healthy(), measurements=(one,))))
    assert "could not be drawn: OverflowError" in text_of(part(root, "measured"))
    assert sections(root)[-2:] == ["replaced", "made"]


MANY = 100_000
LONG = "<b>x" * 2_500_000


def flooded() -> Report:
    """More of everything than any machine has."""
    report = made(pending())
    (root, *_), (finding, *_) = report.diagnosis.root_causes, report.findings
    proof = (Evidence(text=LONG, source=LONG),) * MANY
    roots: tuple[RootCause, ...] = (
        msgspec.structs.replace(root, message=LONG, title=LONG, proof=proof, fixes=root.fixes * MANY),
        *(root,) * MANY,
    )
    findings: tuple[Finding, ...] = (msgspec.structs.replace(finding, message=LONG, proof=proof), *(finding,) * MANY)
    diagnosis = msgspec.structs.replace(
        report.diagnosis, root_causes=roots, ruled_out=report.diagnosis.ruled_out * 2_000
    )
    return msgspec.structs.replace(
        report,
        diagnosis=diagnosis,
        findings=findings,
        skipped=report.skipped * 2_000,
        started_at=LONG,
        redactions=(Redaction(token=LONG, kind="host", count=1),) * MANY,
    )


def test_a_flood_ends_in_a_page_that_says_what_is_cut() -> None:
    report = flooded()
    began = time.process_time()
    root = drawn(report)
    assert time.process_time() - began < 20
    shown = text_of(root)
    assert "9,998,000 characters more" in shown
    assert "99,900 more are left out here; --format json has all." in shown
    assert {"causes", "machine", "topology", "made"} <= set(sections(root))


@pytest.mark.parametrize(
    "facts",
    [
        lambda: with_(healthy(), gpu__devices=healthy().gpu.devices * 5_000),  # type: ignore[operator]
        lambda: with_(healthy(), pci__devices=healthy().pci.devices * 5_000),  # type: ignore[operator]
        lambda: with_(healthy(), pci__devices=chain(3_000)),
        lambda: with_(healthy(), pci__devices=chain(1_500)),
    ],
    ids=["gpus", "devices", "too deep a bus", "a deep bus"],
)
def test_a_topology_that_no_machine_has_is_not_drawn(facts: Callable[[], Facts]) -> None:
    report = msgspec.structs.replace(made(healthy()), facts=facts(), measurements=())
    root = drawn(report)
    assert "Not drawn: " in text_of(part(root, "topology"))
    assert not [one for one in root.iter("svg") if one.attrib.get("class") == "picture"]


def chain(length: int) -> tuple[PciDevice, ...]:
    """Bridges below each other, and a GPU at their end."""
    devices = healthy().pci.devices
    assert isinstance(devices, tuple)
    gpu = next(d for d in devices if d.is_nvidia_gpu)
    names = [f"{i:04x}:00:00.0" for i in range(length)]
    bridges = [
        PciDevice(address=name, pci_class=0x060400, parent=names[i - 1] if i else None) for i, name in enumerate(names)
    ]
    return (*bridges, msgspec.structs.replace(gpu, parent=names[-1]))


# ------------------------------------------------------------------------------- to read


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_are_told_apart_in_every_theme() -> None:
    style = Path(html.__file__).with_name("page.css").read_text()
    themes = [
        dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]
    assert len(themes) == 3  # light, dark, paper
    for theme in themes:
        for name in ("fg", "dim", "link", "fail", "warn", "info", "ok"):
            assert contrast(theme[name], theme["bg"]) >= 4.5, name
            assert contrast(theme[name], theme["panel"]) >= 4.5, name
        maps = [theme[f"heat-{step}"] for step in range(9)]
        assert all(contrast(theme["fg"], colour) >= 4.5 for colour in maps)
        assert all(
            contrast(theme[name], theme[ground]) >= 4.5 for name in ("fg", "dim") for ground in ("gpu", "fabric")
        )
        assert all(contrast(theme[name], theme["bg"]) >= 3 for name in ("bar", "bar-bad"))
        lights = [luminance(colour) for colour in maps]
        assert lights in (sorted(lights), sorted(lights, reverse=True))  # so they differ without any colour, too
        assert contrast(maps[0], maps[-1]) > 1.5


def test_it_is_rendered_as_every_format_is() -> None:
    report = bundle.make(healthy(), "2026-11-21T00:00:00+00:00")
    assert rendered(report, "html").startswith('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">')
    assert "2026-11-21 00:00:00 UTC" in rendered(report, "html")
