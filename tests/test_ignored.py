"""The ignore list: what counts for nothing, until when, and that it is said."""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpudoctor import api, bundle, config, registry
from gpudoctor.bundle import Report
from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, Text
from gpudoctor.findings import Found, Judgement, Level, Stage, SymptomRank
from gpudoctor.registry import Check
from gpudoctor.render import rendered
from tests.checks.test_libraries import gap
from tests.factory import healthy, with_
from tests.render.parsed import READERS
from tests.running import ROOT, gpudoctor, one_line, report
from tests.test_bundle import SCHEMA

GAP = ROOT / "tests" / "hosts" / "h200-x2-tf-2.21-plain.json"
BOTH = ROOT / "tests" / "hosts" / "h200-x2-tf-2.21-plain-cvd-minus-1.json"
DAY = datetime.date(2027, 3, 1)
KNOWN = '[[ignore]]\ncheck = "GD511"\nreason = "riser cards, known; ticket 4711"\n'


def written(directory: Path, text: str = KNOWN, name: str = "gpudoctor.toml") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def check(code: str, cause: str, *found: Found, explains: tuple[str, ...] = (), level: Level = Level.FAIL) -> Check:
    def body(_: Facts) -> Iterator[Found]:
        """Something."""
        yield from found

    return Check(code, cause, Stage.USE, level, explains, None, body)


def symptom(code: str, name: str, *found: Found) -> Check:
    def body(_: Facts) -> Iterator[Found]:
        """A symptom."""
        yield from found

    return Check(code, name, Stage.USE, Level.FAIL, (), SymptomRank.SLOW, body)


def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checks: tuple[Check, ...], *entries: str) -> Judgement:
    """What `checks` say with these entries in the ignore list."""
    by_name = {word: c for c in checks for word in (c.code, c.cause)}
    monkeypatch.setattr(registry, "find", by_name.__getitem__)
    path = written(tmp_path, "".join(f'[[ignore]]\nreason = "known"\n{one}\n' for one in entries))
    return judge(healthy(), config.marked(checks, path, today=DAY))


def summary(judgement: Judgement) -> tuple[str, list[str], list[str], list[str]]:
    """Verdict, root causes, other findings, what is ignored."""
    roots = [r.cause for r in judgement.diagnosis.root_causes]
    return (
        judgement.diagnosis.verdict,
        roots,
        [f.cause for f in judgement.findings if f.cause not in roots],
        [f.cause for one in judgement.ignored for f in one.findings],
    )


IT = Found(message="it is")
A = check("GD901", "a", IT, explains=("s", "c"))
B = check("GD902", "b", IT, explains=("s",))
C = check("GD903", "c", IT, explains=("t",))
S, T = symptom("GD904", "s", IT), symptom("GD905", "t", IT)


@pytest.mark.parametrize(
    ("checks", "entries", "expected"),
    [
        ((A, S), ['check = "a"'], ("healthy", [], [], ["a", "s"])),
        ((A, S), ['check = "GD901"'], ("healthy", [], [], ["a", "s"])),
        ((A, B, S), ['check = "a"'], ("faulty", ["b"], ["s"], ["a"])),
        ((A, B, S), ['check = "a"', 'check = "b"'], ("healthy", [], [], ["a", "s", "b"])),
        ((A, S, T), ['check = "a"'], ("faulty", [], ["t"], ["a", "s"])),
        ((A, C, T), ['check = "a"'], ("healthy", [], [], ["a", "c", "t"])),
        ((A, C, T), ['check = "c"'], ("faulty", ["a"], ["t"], ["c"])),
        ((A, C, T), ['check = "t"'], ("faulty", ["a"], ["c"], ["t"])),
        ((A, S), ['check = "s"'], ("faulty", ["a"], [], ["s"])),
        ((B, S), [], ("faulty", ["b"], ["s"], [])),
    ],
)  # fmt: skip
def test_what_it_explains_is_ignored_with_it_where_nothing_else_explains_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checks: tuple[Check, ...], entries: list[str], expected: Any
) -> None:
    assert summary(judged(monkeypatch, tmp_path, checks, *entries)) == expected


def test_what_a_known_cause_explains_is_never_unexplained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    diagnosis = judged(monkeypatch, tmp_path, (A, S, T), 'check = "a"').diagnosis
    assert [u.symptom for u in diagnosis.unexplained] == ["t"]
    kept = judged(monkeypatch, tmp_path, (A, C, T), 'check = "c"').diagnosis
    assert kept.unexplained == ()
    assert set(kept.root_causes[0].explains) == {"c", "t"}


def test_the_verdict_is_of_what_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    warns = check("GD906", "w", IT, level=Level.WARN)
    assert judged(monkeypatch, tmp_path, (B, warns), 'check = "b"').diagnosis.verdict == "warning"
    assert judged(monkeypatch, tmp_path, (B, warns), 'check = "w"').diagnosis.verdict == "faulty"


def test_an_entry_is_for_the_devices_that_it_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one, two, several, all_ = (Found(message="x", about=a) for a in (("gpu1",), ("gpu2",), ("gpu1", "gpu2"), ()))
    checks = (check("GD901", "a", one, two, several, all_),)
    for about, left in (
        ('"gpu2"', [("gpu1",), ("gpu1", "gpu2"), ()]),
        ('["gpu1", "gpu2"]', [()]),
        ('"gpu3"', [one.about, two.about, several.about, ()]),
    ):
        made = judged(monkeypatch, tmp_path, checks, f'check = "a"\nabout = {about}')
        assert [f.about for f in made.findings] == left


def test_a_text_is_judged_as_it_is(tmp_path: Path) -> None:
    text = with_(healthy(), text=Text(lines=1, events=()))
    checks = config.marked(registry.all_checks(), written(tmp_path))
    assert judge(text, checks) == judge(text)


# ------------------------------------------------------------------------------- until


@pytest.mark.parametrize(("until", "counts"), [("2027-03-01", True), ("2027-02-28", False), ("2030-01-01", True)])
def test_it_comes_back_on_the_day_after(tmp_path: Path, until: str, counts: bool) -> None:
    path = written(tmp_path, f"{KNOWN}until = {until}\n")
    made = judge(gap(), config.marked(registry.all_checks(), path, today=DAY))
    assert made.diagnosis.verdict == ("healthy" if counts else "faulty")
    (one,) = made.ignored
    assert (one.entry.expired, one.is_back) == (not counts, not counts)
    if not counts:
        said = f"It was ignored (riser cards, known; ticket 4711): the entry in {path} expired on {until}."
        assert made.diagnosis.root_causes[0].message.endswith(said)
        (root,) = judge(gap()).diagnosis.root_causes
        assert made.diagnosis.root_causes[0].message == f"{root.message} {said}"


def test_another_entry_may_still_count(tmp_path: Path) -> None:
    path = written(tmp_path, f"{KNOWN}until = 2020-01-01\n{KNOWN}")
    made = judge(gap(), config.marked(registry.all_checks(), path, today=DAY))
    assert [(one.entry.expired, one.is_back, len(one.findings)) for one in made.ignored] == [
        (True, False, 0),
        (False, False, 2),
    ]


# ------------------------------------------------------------------------------- what is wrong in the file

WRONG = {
    'check = "GD511"': "entry 1 (GD511): reason is missing",
    'reason = "x"': "entry 1: check is missing",
    'check = "GD511"\nreason = ""': "reason is a text, in quotes",
    'check = 511\nreason = "x"': "check is a text, in quotes",
    'check = "GD511"\nreason = "x"\nuntil = "2027-03-01"': "until is a day without quotes",
    'check = "GD511"\nreason = "x"\nuntil = 2027-03-01T10:00:00': "until is a day without quotes",
    'check = "GD511"\nreason = "x"\nuntil = 2027-13-01': "is no TOML",
    'check = "GD511"\nreason = "x"\nutnil = 2027-03-01': "no key is called utnil; did you mean until?",
    'check = "GD511"\nreason = "x"\nabout = 2': "about is a text or a list of texts",
    'check = "GD511"\nreason = "x"\nabout = [2]': "about is a text or a list of texts",
    'check = "tf-wheel-runpath-gop"\nreason = "x"': "did you mean tf-wheel-runpath-gap?",
    'check = "GD999"\nreason = "x"': "entry 1 (GD999): no check is called 'GD999'",
    'check = "driver"\nreason = "x"': "no check is called 'driver'",
    f'check = "GD511"\nreason = "{"x" * 501}"': "longer than 500",
}


@pytest.mark.parametrize("entry", WRONG, ids=lambda e: e[-30:])
def test_what_can_not_be_meant_is_refused(tmp_path: Path, entry: str) -> None:
    path = written(tmp_path, f"[[ignore]]\n{entry}\n")
    with pytest.raises(config.BadConfig) as refused:
        config.entries(path, DAY)
    assert str(refused.value).startswith(str(path))
    assert WRONG[entry] in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ignore = 3", "ignore is a list of tables, [[ignore]]"),
        ("ignore = [3]", "ignore is a list of tables"),
        ("ingore = []", "no key is called ingore; did you mean ignore?"),
        ("x = [" * 5000, "is no TOML"),
        ("\x00", "is no TOML"),
        ("a = 1\n" + "#" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_no_ignore_list_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(config.BadConfig, match=r"gpudoctor\.toml") as refused:
        config.entries(written(tmp_path, text), DAY)
    assert words in str(refused.value)


def test_the_second_of_two_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, f'{KNOWN}\n[[tool.gpudoctor.ignore]]\nchek = "x"\n', "pyproject.toml")
    path.write_text(path.read_text().replace("[[ignore]]", "[[tool.gpudoctor.ignore]]"))
    with pytest.raises(config.BadConfig, match=r"entry 2: no key is called chek; did you mean check\?"):
        config.entries(path, DAY)


def test_a_plugin_that_is_not_here_is_no_fault_of_the_list(tmp_path: Path) -> None:
    path = written(tmp_path, '[[ignore]]\ncheck = "ACME101"\nreason = "x"\n')
    assert config.entries(path, DAY) == ()


# ------------------------------------------------------------------------------- where it is looked for


def test_the_nearest_of_the_project_the_users_and_the_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, inside = tmp_path / "repository", tmp_path / "repository" / "a" / "b"
    inside.mkdir(parents=True)
    (repository / ".git").mkdir()
    written(tmp_path)
    user = written(tmp_path / "home" / "gpudoctor")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(config, "MACHINE", tmp_path / "etc.toml")
    assert config.files(inside) == (user,)
    machine = written(tmp_path, KNOWN, "etc.toml")
    assert config.files(inside) == (user, machine)
    project = written(repository, "[tool.gpudoctor]\n", "pyproject.toml")
    assert config.files(inside) == (project, user, machine)
    other = written(repository / "a", "[tool.other]\nname = 'gpudoctor'\n", "pyproject.toml")
    assert config.files(inside) == (project, user, machine)
    own = written(repository / "a")
    assert config.files(inside) == (own, user, machine)
    other.write_text("not TOML, and not about it")
    own.unlink()
    assert config.files(inside) == (project, user, machine)
    other.write_text("gpudoctor, and no TOML")
    with pytest.raises(config.BadConfig, match="is no TOML"):
        config.files(inside)


# ------------------------------------------------------------------------------- that it is said


def ignoring(tmp_path: Path, host: Path, text: str = f"{KNOWN}until = 2090-03-01\n") -> Report:
    return api.replay(host, config.marked(registry.all_checks(), written(tmp_path, text)))


@pytest.mark.parametrize("format", READERS)
def test_every_format_says_it_and_has_the_verdict_of_what_is_left(tmp_path: Path, format: str) -> None:
    text = rendered(ignoring(tmp_path, GAP), format)
    assert READERS[format](text) == ("healthy", [])
    assert {
        "json": '"reason": "riser cards, known; ticket 4711"',
        "oneline": "gpudoctor: healthy (2 findings ignored)",
        "prometheus": "gpudoctor_ignored_findings 2.0",
        "html": "<p>2 findings ignored:</p><ul><li>tf-wheel-runpath-gap, and what it alone explains: tf-lists-no-gpu (until",
        "markdown": "**2 findings ignored**\n\n- tf-wheel-runpath-gap, and what it alone explains: tf-lists-no-gpu (until 2090-03-01: riser",
    }.get(
        format, "2 findings ignored: tf-wheel-runpath-gap, and what it alone explains: tf-lists-no-gpu (until"
    ) in text
    assert READERS[format](rendered(ignoring(tmp_path, BOTH), format)) == ("faulty", ["cuda-visible-devices-empty"])


def test_it_is_a_case_of_its_own_in_what_counts_checks(tmp_path: Path) -> None:
    made = ignoring(tmp_path, GAP)
    assert 'type="ignored" message="found, and ignored until 2090-03-01: riser cards' in rendered(made, "junit")
    assert 'failures="0"' in rendered(made, "junit")
    assert (
        'gpudoctor_check_status{cause="tf-wheel-runpath-gap",code="GD511",level="fail",subject="tensorflow"} 4.0'
        in (rendered(made, "prometheus"))
    )


def test_the_report_has_the_whole_of_it(tmp_path: Path) -> None:
    made = json.loads(rendered(ignoring(tmp_path, GAP), "json"))
    jsonschema.validate(made, json.loads(SCHEMA.read_text()))
    (one,) = made["ignored"]
    assert one["entry"] == {
        "code": "GD511", "cause": "tf-wheel-runpath-gap", "reason": "riser cards, known; ticket 4711",
        "until": "2090-03-01", "about": [], "file": str(tmp_path / "gpudoctor.toml"), "expired": False,
    }  # fmt: skip
    assert [f["cause"] for f in one["findings"]] == ["tf-wheel-runpath-gap", "tf-lists-no-gpu"]
    assert one["findings"][0]["proof"]
    assert made["findings"] == made["diagnosis"]["root_causes"] == []


def test_words_of_the_list_leave_without_names(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    text = KNOWN.replace("riser cards, known", f"ask gretchen@corp.example, /home/gretchen, {token}")
    for host in (GAP, BOTH):
        raw = ignoring(
            tmp_path / "home" / "gretchen", host, f'{text}\n[[ignore]]\ncheck = "GD705"\nreason = "gretchen"\n'
        )
        once = api.redacted(raw, here=False)
        assert "gretchen" in rendered(raw, "json")
        assert "gretchen" not in rendered(once, "json")
        assert token not in rendered(once, "json")
        assert once.diagnosis.verdict == raw.diagnosis.verdict
        assert [len(i.findings) for i in once.ignored] == [len(i.findings) for i in raw.ignored]
        kept = written(tmp_path, rendered(api.redacted(api.replay(host), here=False), "json"), "redacted.json")
        again = api.redacted(ignoring(tmp_path / "home" / "gretchen", kept, text), here=False)
        assert "gretchen" not in rendered(again, "json")
        assert bundle.read(rendered(again, "json").encode())[0] == bundle.read(kept.read_bytes())[0]


# ------------------------------------------------------------------------------- the command


def test_the_command(tmp_path: Path) -> None:
    path = written(tmp_path, f'{KNOWN}\n[[ignore]]\ncheck = "GD705"\nreason = "y"\nuntil = 2020-01-01\n')
    done = gpudoctor("replay", str(GAP), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-3:] == [
        "2 findings ignored: tf-wheel-runpath-gap, and what it alone explains: tf-lists-no-gpu (riser cards, known; ticket 4711)",
        "",
        "✓ Healthy: nothing is wrong but what is ignored.",
    ]
    with_v = gpudoctor("replay", str(GAP), "-v", cwd=tmp_path).stdout
    assert (
        "The ignore list: pcie-upstream-narrow matches nothing here, and expired on 2020-01-01  [gpudoctor.toml]"
        in with_v
    )
    assert "GD511 tf-wheel-runpath-gap: TensorFlow 2.21.0 can't find libcusolver.so.11" in with_v
    assert gpudoctor("replay", str(GAP), "--no-config", cwd=tmp_path).returncode == 1
    assert gpudoctor("replay", str(GAP), "--config", str(path)).returncode == 0
    assert report(gpudoctor("replay", str(GAP), "--format", "json", "--no-config", cwd=tmp_path))["ignored"] == []


def test_a_wrong_list_is_wrong_usage(tmp_path: Path) -> None:
    written(tmp_path, '[[ignore]]\ncheck = "GD511"\n')
    for command in (("check", "--level", "quick"), ("replay", str(GAP)), ("run", "--", "touch", "x")):
        done = gpudoctor(*command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert one_line(done) == f"gpudoctor: {tmp_path}/gpudoctor.toml, entry 1 (GD511): reason is missing"
    assert not (tmp_path / "x").exists()
    assert gpudoctor("replay", str(GAP), "--config", "none.toml", cwd=tmp_path).returncode == 2
    assert gpudoctor("replay", str(GAP), "--config", "x", "--no-config", cwd=tmp_path).returncode == 2
    log = ROOT / "tests" / "logs" / "h200" / "cvd-empty.log"
    assert gpudoctor("log", str(log), cwd=tmp_path).returncode == 1


def test_a_machine_that_is_examined(tmp_path: Path) -> None:
    quick = ("check", "--level", "quick", "--format", "json")
    found = report(gpudoctor(*quick))
    causes = {f["cause"] for f in found["findings"]}
    assert causes, "this machine has a GPU that works"
    written(tmp_path, "".join(f'[[ignore]]\ncheck = "{one}"\nreason = "x"\n' for one in sorted(causes)))
    done = gpudoctor(*quick, cwd=tmp_path)
    assert done.returncode in (0, 3)
    assert report(done)["findings"] == []
    assert {f["cause"] for i in report(done)["ignored"] for f in i["findings"]} == causes


def test_the_file_for_a_ticket_goes_by_the_list(tmp_path: Path) -> None:
    written(tmp_path)
    with_it = gpudoctor("report", str(GAP), "-o", str(tmp_path / "a.zip"), cwd=tmp_path)
    without = gpudoctor("report", str(GAP), "-o", str(tmp_path / "b.zip"), "--no-config", cwd=tmp_path)
    assert (with_it.returncode, without.returncode) == (0, 1)
    with zipfile.ZipFile(tmp_path / "a.zip") as made:
        assert json.loads(made.read("report.json"))["ignored"][0]["entry"]["reason"].endswith("ticket 4711")


def test_a_comparison_goes_by_the_list(tmp_path: Path) -> None:
    written(tmp_path)
    with_it = gpudoctor("diff", str(GAP.with_name("h200-x2-healthy.json")), str(GAP), cwd=tmp_path)
    without = gpudoctor("diff", str(GAP.with_name("h200-x2-healthy.json")), str(GAP), "--no-config", cwd=tmp_path)
    assert "tf-wheel-runpath-gap" in without.stdout
    assert "New: " not in with_it.stdout
    assert "ignored, and so not compared: tf-wheel-runpath-gap, tf-lists-no-gpu" in with_it.stdout
    assert with_it.returncode == 0
    assert without.returncode == 1
