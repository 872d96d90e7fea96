"""Checks of other distributions: the example fires, and one that fails is a finding while all else goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.provoked.proof import proves
from tests.running import ROOT, causes, gpudoctor, report

EXAMPLE = ROOT / "examples" / "plugin"
HEALTHY, GAP = (ROOT / "tests" / "hosts" / f"h200-x2-{name}.json" for name in ("healthy", "tf-2.21-plain"))
HEAD = """
from gpudoctor.findings import Evidence, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check, symptom
"""


def body(code: str, name: str, lines: str, doc: str = '"""Something of ours."""') -> str:
    inside = "".join(f"    {line}\n" for line in lines.splitlines())
    return f'\n@check("{code}", "{name}", stage=Stage.USE)\ndef _{code.lower()}(facts):\n    {doc}\n{inside}'


FINE = body("FINE101", "fine-thing", 'yield Found(message="fine works")')


class Site:
    """A directory on the path with distributions in it, as pip leaves them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def install(self, name: str, module: str, text: str | None = None, value: str | None = None) -> None:
        info = self.path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[gpudoctor.checks]\nany = {value or module}\n")
        if text is not None:
            (self.path / f"{module}.py").write_text(HEAD + text)

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.path), str(ROOT)])
        return gpudoctor(*arguments, env={"PYTHONPATH": path, "GPUDOCTOR_NO_PLUGINS": "", **env})


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


def example(site: Site) -> None:
    """What pip makes of examples/plugin, by its pyproject.toml."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    (value,) = project["project"]["entry-points"]["gpudoctor.checks"].values()
    (module,) = project["tool"]["setuptools"]["py-modules"]
    site.install(project["project"]["name"], module, value=value)
    (site.path / f"{module}.py").write_text((EXAMPLE / f"{module}.py").read_text())


def test_the_example_fires(site: Site) -> None:
    example(site)
    done = site.run("replay", str(HEALTHY))
    assert done.returncode == 1
    assert (
        "! The driver is not of the branch that our images are tested with   acme-driver-branch ACME101" in done.stdout
    )
    assert "sudo apt-get install -y nvidia-driver-570" in done.stdout
    assert site.run("replay", str(HEALTHY), GPUDOCTOR_NO_PLUGINS="1").returncode == 0
    told = report(site.run("replay", str(HEALTHY), "--format", "json"))
    assert [(f["code"], f["level"]) for f in told["findings"]] == [("ACME101", "warn")]
    assert "acme-gpu-checks 1.0: no check of it failed" in [r["reason"] for r in told["diagnosis"]["ruled_out"]]
    for format in ("markdown", "junit", "prometheus", "github", "oneline"):
        assert "acme-driver-branch" in site.run("replay", str(HEALTHY), "--format", format).stdout


def test_the_example_is_listed_and_explained(site: Site) -> None:
    example(site)
    listed = site.run("list", "driver").stdout
    (line,) = [one for one in listed.splitlines() if "ACME101" in one]
    assert "acme-gpu-checks 1.0" in line
    page = site.run("explain", "acme-driver-branch").stdout
    assert page.startswith("ACME101 acme-driver-branch (cause, warn, driver)")
    assert "From acme-gpu-checks 1.0" in page
    only = report(site.run("replay", str(HEALTHY), "--only", "acme101", "--format", "json"))
    assert [f["code"] for f in only["findings"]] == ["ACME101"]
    assert only["diagnosis"]["ruled_out"] == []


def test_where_it_is_not_installed_its_findings_are_absent(site: Site, tmp_path: Path) -> None:
    example(site)
    (tmp_path / "there.json").write_text(site.run("replay", str(HEALTHY), "--format", "json").stdout)
    again = gpudoctor("replay", str(tmp_path / "there.json"))
    assert again.returncode == 0
    assert "ACME" not in again.stdout


def test_a_pasted_text_loads_no_plugin(site: Site) -> None:
    site.install("loud", "loud", "raise SystemExit('loud')")
    log = ROOT / "tests" / "logs" / "h200" / "cvd-empty.log"
    with_them, without = site.run("log", str(log)), gpudoctor("log", str(log))
    assert (with_them.stdout, with_them.stderr) == (without.stdout, "")


# ------------------------------------------------------------------------------- what fails

FAILURES = {
    "raises at import": ("raise KeyError('gone')", "KeyError: 'gone'", "line 4: raise KeyError('gone')"),
    "exits at import": ("raise SystemExit(3)", "SystemExit: 3", "line 4"),
    "another exit": ("class Out(BaseException): pass\nraise Out('of here')", "Out: of here", "line 5"),
    "no Python": ("def (:", "SyntaxError", "line 4: def (:"),
    "a code that is ours": (body("GD198", "a-thing", "yield"), "other than GD", "line 5"),
    "a bad code": (body("B1", "a-thing", "yield"), "three digits", "line 5"),
    "no page": (body("BAD101", "a-thing", "yield", doc="0"), "no page", "line 5"),
    "a name that is no name": (body("BAD101", "A thing", "yield"), "is no name", "line 5"),
    "no stage": (body("BAD101", "a-thing", "yield").replace("Stage.USE", "3"), "stage is a Stage", "line 5"),
    "no rank": (
        body("BAD101", "a-thing", "yield").replace("@check", "@symptom").replace("stage", "rank=3, stage"),
        "rank is a SymptomRank",
        "line 5",
    ),
    "explains what is no name": (
        body("BAD101", "a-thing", "yield").replace("stage", "explains=[3], stage"),
        "explains is a list of names",
        "line 5",
    ),
    "a name of ours": (body("BAD101", "no-nvidia-gpu", "yield"), "GD701 no-nvidia-gpu has that code or name", "line 5"),
    "a code of another": (body("FINE101", "z-thing", "yield"), "FINE101 fine-thing of a-fine 1.0 has that", "line 5"),
    "raises": (body("BAD101", "a-thing", "1 / 0\nyield"), "ZeroDivisionError: division by zero", "line 8: 1 / 0"),
    "raises late": (
        body("BAD101", "a-thing", "yield Found(message='x')\nraise ValueError('late')"), "ValueError: late", "line 9"
    ),
    "exits": (body("BAD101", "a-thing", "import sys\nsys.exit(0)\nyield"), "SystemExit: 0", "line 9"),
    "yields a text": (body("BAD101", "a-thing", "yield 'slow'"), "yielded str, which is no Found", "line 5"),
    "yields nonsense": (body("BAD101", "a-thing", "yield Found(message=3)"), "Expected `str`, got `int`", "line 5"),
    "proof is a text": (body("BAD101", "a-thing", "yield Found(message='', proof=('x',))"), "got `str` - at `$.proof[0]`", "line 5"),
    "yields nothing at all": (body("BAD101", "a-thing", "return 3"), "TypeError", "line 5"),
    "an error without a text": (
        "class E(Exception):\n    def __str__(self): raise ValueError\n" + body("BAD101", "a-thing", "raise E\nyield"),
        "E: (its text can't be had)",
        "line 10",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What is said where all of them are installed, beside one that works: the report, and standard error of `list`."""
    site = Site(tmp_path_factory.mktemp("all") / "site")
    site.install("a-fine", "fine_checks", FINE)
    for number, (text, _, _) in enumerate(FAILURES.values()):
        mine = (
            text.replace("BAD101", f"BAD{number + 101}").replace("bad101", "it").replace("a-thing", f"thing-{number}")
        )
        site.install(f"bad-{number}", f"bad_{number}", mine)
    done = site.run("replay", str(GAP), "--format", "json", "--no-redact")
    assert (done.returncode, done.stderr) == (1, "")
    listed = site.run("list")
    assert listed.returncode == 0
    assert "fine-thing" in listed.stdout
    return report(done), listed.stderr


def test_all_else_goes_on(all_of_them: tuple[dict[str, Any], str]) -> None:
    told, _ = all_of_them
    found = causes(told)
    assert sorted(found) == sorted(["fine-thing", "tf-wheel-runpath-gap", *["plugin-failed"] * len(FAILURES)])
    assert {f["cause"] for f in told["findings"]} == {*found, "tf-lists-no-gpu"}
    assert told["diagnosis"]["verdict"] == "faulty"
    without = report(gpudoctor("replay", str(GAP), "--format", "json"))["diagnosis"]
    for one in ("candidates", "unexplained", "combined_fix"):
        assert told["diagnosis"][one] == without[one]


@proves("plugin-failed", "plug-ins that can't be imported, take a code that is taken, raise, exit or yield nonsense")
@pytest.mark.parametrize("name", FAILURES)
def test_a_plugin_that_fails_is_a_finding(all_of_them: tuple[dict[str, Any], str], name: str) -> None:
    told, listed = all_of_them
    number = list(FAILURES).index(name)
    _, error, where = FAILURES[name]
    (failed,) = [f for f in told["findings"] if f"bad-{number} 1.0" in f["message"]]
    assert (failed["code"], failed["cause"], failed["level"]) == ("GD990", "plugin-failed", "warn")
    assert error in failed["message"]
    (proof,) = failed["proof"]
    assert error in proof["text"]
    assert proof["source"].startswith(f"site/bad_{number}.py, {where}")
    assert f"pip uninstall bad-{number};" in failed["fixes"][0]["summary"]
    undecided = [u["why"] for u in told["unknown"] if u["code"] == f"BAD{number + 101}"]
    assert undecided in ([], [f"the check of bad-{number} 1.0 failed: {failed['message'].partition(' failed: ')[2]}"])
    assert (f"the plug-in bad-{number} 1.0 failed: " in listed) is (undecided == [])


def test_a_module_that_is_not_there(site: Site) -> None:
    site.install("bad-checks", "nowhere_checks")
    (failed,) = report(site.run("replay", str(HEALTHY), "--format", "json"))["findings"]
    assert (
        failed["message"] == "The plug-in bad-checks 1.0 failed: ModuleNotFoundError: No module named 'nowhere_checks'"
    )
    assert site.run("replay", str(HEALTHY)).stdout.splitlines()[-1] == "Warning: 1 root cause: plugin-failed"


def test_a_failed_plugin_keeps_no_two_causes_from_their_fix(site: Site) -> None:
    site.install("bad-checks", "bad_checks", "1 / 0")
    both = HEALTHY.parent / "h200-x2-tf-2.21-plain-cvd-minus-1.json"
    told = report(site.run("replay", str(both), "--format", "json"))
    assert causes(told)[-1] == "plugin-failed"
    assert told["diagnosis"]["combined_fix"]["causes"] == ["cuda-visible-devices-empty", "tf-wheel-runpath-gap"]


def test_what_a_plugin_prints_is_no_data(site: Site) -> None:
    site.install(
        "loud", "loud", "print('hello')\n" + body("LOUD101", "loud-thing", "print('again')\nreturn 'quiet'\nyield")
    )
    done = site.run("replay", str(HEALTHY), "--format", "json")
    assert json.loads(done.stdout)["diagnosis"]["verdict"] == "healthy"
    assert set(done.stderr.split()) == {"hello", "again"}


def test_an_interrupt_is_the_users(site: Site) -> None:
    site.install("slow", "slow", body("SLOW101", "slow-thing", "raise KeyboardInterrupt\nyield"))
    done = site.run("replay", str(HEALTHY))
    assert (done.returncode, done.stderr) == (130, "gpudoctor: interrupted\n")


def test_a_plugin_can_explain_what_ours_find(site: Site) -> None:
    text = FINE.replace("stage=Stage.USE", "stage=Stage.BUS, explains=['tf-wheel-runpath-gap']")
    site.install("a-fine", "fine_checks", text)
    told = report(site.run("replay", str(GAP), "--format", "json"))
    assert causes(told) == ["fine-thing"]
    assert set(told["diagnosis"]["root_causes"][0]["explains"]) == {"tf-lists-no-gpu", "tf-wheel-runpath-gap"}


def test_what_a_plugin_says_leaves_without_names(site: Site) -> None:
    token = "ghp_" + "a1B2" * 9
    text = body("LEAK101", "leak-thing", f"yield Found(message='/home/gretchen/x {token}')")
    text += body("LEAK102", "leak-other", f"return '/home/gretchen/y {token}'\nyield")
    text += body("LEAK103", "leak-error", f"raise OSError('/home/gretchen/z {token}')\nyield")
    site.install("leak", "leak", text)
    done = site.run("replay", str(HEALTHY), "--format", "json")
    assert [f["code"] for f in report(done)["findings"]] == ["LEAK101", "GD990"] or causes(report(done))
    for one in ("gretchen", token):
        assert one not in done.stdout
        assert one in site.run("replay", str(HEALTHY), "--format", "json", "--no-redact").stdout
    kinds = {r["kind"] for r in report(done)["redactions"]}
    assert {"home", "secret"} <= kinds
    assert report(done)["diagnosis"]["verdict"] == "faulty"
