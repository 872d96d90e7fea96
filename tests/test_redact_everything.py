"""Nothing that was planted leaves: not in a file of the zip, not in a format."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpudoctor import bundle, cli_report, redact
from gpudoctor.attachments import Attachment, taken
from gpudoctor.bundle import Report
from gpudoctor.facts import Facts, Variable
from gpudoctor.redact import Identity
from gpudoctor.render import rendered
from gpudoctor.terminal import Format
from tests.factory import with_
from tests.planted import Garden, Planted

HOSTS = Path(__file__).parent / "hosts"
KEY = b"of the tests"


def sown(value: Any, garden: Garden, planted: list[Planted], share: float) -> Any:
    """The same facts with something planted in a `share` of their texts, whatever these are for."""
    if isinstance(value, str):
        if garden.chance.random() > share:
            return value
        return f"{value} {garden.chance.choice(planted).text}"
    if isinstance(value, tuple):
        return tuple(sown(one, garden, planted, share) for one in value)
    if isinstance(value, dict):
        return {k: sown(one, garden, planted, share) for k, one in value.items()}
    if isinstance(value, msgspec.Struct):
        return type(value)(**{f: sown(getattr(value, f), garden, planted, share) for f in value.__struct_fields__})
    return value


def outputs(planted: list[Planted], garden: Garden) -> list[Attachment]:
    """What programs print, with everything in it."""
    lines = [f"{'':4}{garden.chance.choice(['Note', 'Name', 'Info'])} : {one.text}\n" for one in planted]
    q = f"Product Name : NVIDIA H200\n{''.join(lines)}Process ID : 7\n        Name : python train.py {planted[-1].text}\n"
    log = "".join(f"[{n:6}.25] NVRM: Xid (PCI:0000:3b:00): 31, {one.text}\n" for n, one in enumerate(planted))
    pip = "".join(f"global.index-url='{one.text}'\n" for one in planted)
    return [
        Attachment("nvidia-smi-q.txt", "", q),
        Attachment("kernel-log.txt", "", log),
        Attachment("pip.txt", "", pip),
    ]


def leaks(data: str, planted: list[Planted]) -> list[Planted]:
    low = data.lower()
    return [one for one in planted if one.secret.lower() in low]


def leaving(report: Report, raw: list[Attachment], who: Identity) -> dict[str, str]:
    """Every file of the zip, and every format."""
    leaves = redact.together(report, [one.text for one in raw], who, key=KEY)
    shown = [one._replace(text=text) for one, text in zip(raw, leaves.texts, strict=True)]
    files = cli_report.rendered_files(leaves.report, None, "warn", recorded=False)
    packed = cli_report.zipped(leaves, files, shown, [])
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    again = redact.report(report, who, key=KEY)
    formats = [one.value for one in Format if one.leaves]
    return texts | {f: rendered(again, f) for f in formats} | {"all": packed.decode("latin-1")}


@settings(
    max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(seed=st.integers(0, 1 << 40))
def test_nothing_planted_leaves(seed: int) -> None:
    garden = Garden(seed)
    planted = garden.everything()
    facts, _, _ = bundle.read((HOSTS / "h200-x2-tf-2.21-plain.json").read_bytes())
    facts = sown(facts, garden, planted, 0.02)
    assert isinstance(facts, Facts)
    variables = tuple(Variable(name=f"NCCL_TEXT_{n}", value=one.text) for n, one in enumerate(planted))
    facts = with_(facts, environment__variables=variables)
    report = bundle.make(facts, "2026-11-22T00:00:00+00:00")
    found = {
        name: leaks(text, planted)
        for name, text in leaving(report, [*outputs(planted, garden), *taken(facts)], Identity()).items()
    }
    assert {name: ones for name, ones in found.items() if ones} == {}
