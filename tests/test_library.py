"""gpudoctor from Python: what docs/api.md says, what a notebook shows, and that nothing is left behind."""

from __future__ import annotations

import doctest
import io
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import gpudoctor
from gpudoctor import bundle, child
from tests.render.parsed import READERS
from tests.render.parsed import text as read_text
from tests.running import ROOT
from tests.running import gpudoctor as command

GAP, HEALTHY = (ROOT / "tests" / "hosts" / f"h200-x2-{name}.json" for name in ("tf-2.21-plain", "healthy"))
LOG = ROOT / "tests" / "logs" / "h200" / "cvd-empty.log"
PAGES = ROOT / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (PAGES / page).read_text(), re.MULTILINE | re.DOTALL)


# ------------------------------------------------------------------------------- the pages


def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    session = "".join(blocks("api.md", "pycon"))
    test = doctest.DocTestParser().get_doctest(session, {}, "api.md", str(PAGES / "api.md"), 0)
    assert len(test.examples) > 12
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert failed == 0, "".join(said)


def test_the_first_lines_of_the_page_run(capfd: pytest.CaptureFixture[str]) -> None:
    """On this machine, at the quick level: what it prints is the report."""
    (program,) = blocks("api.md", "python")
    exec(compile(program, "api.md", "exec"), {})
    said = capfd.readouterr()
    assert said.err == ""
    assert said.out == "" or read_text(said.out.rstrip()).verdict in ("faulty", "warning", "unknown")


def test_every_name_is_on_the_page() -> None:
    page = (PAGES / "api.md").read_text()
    for name in gpudoctor.__all__:
        assert name == "__version__" or f"`{name}`" in page or f"gpudoctor.{name}" in page
    public = [n for n in dir(gpudoctor.Result) if not n.startswith("_")]
    assert [n for n in public if f"`{n}" not in page and f".{n}" not in page and f"{n}()" not in page] == [
        "checks",
        "place",
        "view",
    ]


def test_the_pages_plugin_is_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = ROOT / "examples" / "plugin"
    (project,) = blocks("plugins.md", "toml")
    assert project in (example / "pyproject.toml").read_text()
    shown, test = blocks("plugins.md", "python")
    assert shown in (example / "acme_gpu_checks.py").read_text()
    (tmp_path / "test_ours.py").write_text(test)
    path = os.pathsep.join([str(example), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "2 passed" in done.stdout, done.stdout


def test_the_pages_ignore_list_is_one(tmp_path: Path) -> None:
    from gpudoctor import config

    (text,) = blocks("ignoring.md", "toml")
    (tmp_path / "pyproject.toml").write_text(text)
    (entry,) = config.entries(tmp_path / "pyproject.toml")
    assert (entry.cause, entry.until, entry.about) == ("pcie-upstream-narrow", "2027-03-01", ("gpu2",))


# ------------------------------------------------------------------------------- nothing more than is asked for


def test_the_package_alone_imports_nothing() -> None:
    program = """
import sys
before = set(sys.modules)
import gpudoctor
assert set(sys.modules) - before == {"gpudoctor"}, set(sys.modules) - before
assert set(gpudoctor.__all__) <= set(dir(gpudoctor))
assert not hasattr(gpudoctor, "chekc")
gpudoctor.read_log
assert "gpudoctor.library" in sys.modules
assert "rich" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_every_name_is_there() -> None:
    for name in gpudoctor.__all__:
        assert getattr(gpudoctor, name) is not None
    for name in (
        "NoInterpreter",
        "Unreachable",
        "NotAReport",
        "NotAText",
        "UnknownCheckError",
        "BadConfig",
        "Unsupported",
    ):
        assert issubclass(getattr(gpudoctor, name), gpudoctor.Error)


def test_a_thread_may_call_it_and_nothing_is_left(capfd: pytest.CaptureFixture[str]) -> None:
    before = [signal.getsignal(n) for n in range(1, 32)], dict(os.environ), Path.cwd()
    got: list[gpudoctor.Result] = []
    thread = threading.Thread(target=lambda: got.append(gpudoctor.check(level="quick", python=sys.executable)))
    thread.start()
    thread.join(120)
    (result,) = got
    assert result.took_s is not None
    assert 0 < result.took_s < 120
    assert result.facts.python.executable == sys.executable
    assert ([signal.getsignal(n) for n in range(1, 32)], dict(os.environ), Path.cwd()) == before
    assert threading.active_count() == 1
    assert capfd.readouterr() == ("", "")


def test_one_that_fails_keeps_no_later_one_from_working() -> None:
    with pytest.raises(gpudoctor.NoInterpreter):
        gpudoctor.check(python="/bin/true")
    with pytest.raises(gpudoctor.Unreachable) as unreached:
        gpudoctor.check(inside="sh -c 'echo NVML: Driver/library version mismatch; exit 1' python3", level="quick")
    assert "mismatch" in unreached.value.told
    assert not child._everybody.is_ended
    assert gpudoctor.check(level="quick", python=sys.executable).facts.python.executable == sys.executable


# ------------------------------------------------------------------------------- the answer


def test_it_says_what_the_command_says() -> None:
    result = gpudoctor.replay(GAP)
    done = command("replay", str(GAP), "--format", "json")
    assert result.to_json() == done.stdout
    assert result.exit_code == done.returncode == 1
    assert result.render() == str(result) == command("replay", str(GAP)).stdout
    assert result.render(verbose=True) == command("replay", str(GAP), "-v").stdout
    for format in READERS:
        assert READERS[format](result.render(format)) == ("faulty", ["tf-wheel-runpath-gap"])
    with pytest.raises(ValueError, match="no format is called 'yaml'"):
        result.render("yaml")


def test_ok_is_the_exit_code_and_it_has_no_truth_value() -> None:
    assert gpudoctor.replay(HEALTHY).ok
    assert gpudoctor.replay(HEALTHY).causes == ()
    assert not gpudoctor.replay(GAP).ok
    for host in (HEALTHY, GAP):
        with pytest.raises(TypeError, match=r"ask \.ok"):
            bool(gpudoctor.replay(host))
    nothing = gpudoctor.Result(bundle.make(gpudoctor.replay(HEALTHY).facts, "now", ()))
    assert (nothing.verdict, nothing.ok, nothing.exit_code) == ("unknown", False, 3)


def test_the_selection_has_the_commands_words() -> None:
    assert gpudoctor.replay(GAP, only="GD511").verdict == "faulty"
    assert gpudoctor.replay(GAP, only=["driver"]).verdict == "healthy"
    assert gpudoctor.replay(GAP, skip=("tensorflow", "tf-lists-no-gpu")).verdict == "healthy"
    with pytest.raises(gpudoctor.UnknownCheckError, match="did you mean"):
        gpudoctor.replay(GAP, only="tf-list-no-gpu")
    wrong: Any = "never"
    calls: list[Callable[[], object]] = [
        lambda: gpudoctor.replay(GAP, fail_on=wrong),
        lambda: gpudoctor.check(level=wrong),
        lambda: gpudoctor.check(python="x", pid=1),
        lambda: gpudoctor.check(timeout_s=0),
        lambda: gpudoctor.check(fail_on=wrong),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"never|exclude|above 0"):
            call()


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(gpudoctor.NotAReport):
        gpudoctor.replay(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        gpudoctor.replay(str(tmp_path / "none"))


def test_the_ignore_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gpudoctor.toml"
    path.write_text('[[ignore]]\ncheck = "GD511"\nreason = "known"\n')
    assert gpudoctor.replay(GAP, config=path).ok
    assert gpudoctor.replay(GAP, config=str(path)).ignored[0].entry.reason == "known"
    monkeypatch.chdir(tmp_path)
    assert gpudoctor.replay(GAP).ok
    assert not gpudoctor.replay(GAP, config=False).ok
    path.write_text("x")
    with pytest.raises(gpudoctor.BadConfig):
        gpudoctor.replay(GAP)


# ------------------------------------------------------------------------------- texts


def test_a_text_a_path_or_an_open_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LOG.read_text()
    (tmp_path / "my log.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    sources: list[Any] = [
        LOG,
        str(LOG),
        text,
        text.encode(),
        io.StringIO(text),
        io.BytesIO(text.encode()),
        "my log.txt",
    ]
    for source in sources:
        result = gpudoctor.read_log(source)
        assert [c.cause for c in result.causes] == ["cuda-visible-devices-empty"]
        assert result.exit_code == 1
    with LOG.open() as as_text, LOG.open("rb") as as_bytes:
        assert gpudoctor.read_log(as_text).facts == gpudoctor.read_log(as_bytes).facts == result.facts
    assert str(result) == command("log", str(LOG)).stdout
    assert gpudoctor.read_log("It is a fine day\n").ok


def test_a_name_that_is_no_file_is_not_taken_for_a_text() -> None:
    with pytest.raises(FileNotFoundError):
        gpudoctor.read_log("train.log")
    with pytest.raises(IsADirectoryError):
        gpudoctor.read_log(ROOT)
    for nothing in ("", b""):
        with pytest.raises(gpudoctor.NotAText, match="empty"):
            gpudoctor.read_log(nothing)
    with pytest.raises(gpudoctor.NotAText, match="no text"):
        gpudoctor.read_log(b"\x7fELF" + bytes(range(256)) * 40)
    none: Any = None
    with pytest.raises(TypeError, match="NoneType"):
        gpudoctor.read_log(none)


# ------------------------------------------------------------------------------- shown and kept


def test_it_shows_itself_in_one_line() -> None:
    for host in (HEALTHY, GAP):
        assert re.fullmatch(r"<gpudoctor\.Result (healthy|faulty)[^\n]+>", repr(gpudoctor.replay(host)))


def named(tmp_path: Path) -> gpudoctor.Result:
    """A report of somebody's machine."""
    (tmp_path / "kept.json").write_text(GAP.read_text().replace("/opt/site", "/home/gretchen/[b]site"))
    return gpudoctor.replay(tmp_path / "kept.json")


def test_what_leaves_holds_no_names(tmp_path: Path) -> None:
    result = named(tmp_path)
    for format in ("json", "markdown", "junit", "github"):
        assert "gretchen" not in result.render(format)
        assert "gretchen" in result.render(format, redact=False)
    assert "gretchen" in result.render("text")
    assert "gretchen" not in result.render("text", redact=True)
    shown = result._repr_mimebundle_()
    assert set(shown) == {"text/markdown", "text/plain"}
    assert "gretchen" not in "".join(shown.values())
    assert READERS["markdown"](shown["text/markdown"]) == ("faulty", ["tf-wheel-runpath-gap"])
    assert read_text(shown["text/plain"].rstrip()) == ("faulty", ["tf-wheel-runpath-gap"])
    assert "gretchen" not in result.save(tmp_path / "a.json").read_text()
    assert "gretchen" in result.save(tmp_path / "b.json", redact=False).read_text()


@pytest.mark.parametrize("suffix", ["json", "md", "xml", "prom"])
def test_it_is_saved_by_the_end_of_its_name(tmp_path: Path, suffix: str) -> None:
    format = {"md": "markdown", "xml": "junit", "prom": "prometheus"}.get(suffix, suffix)
    kept = gpudoctor.replay(GAP).save(str(tmp_path / f"x.{suffix}"))
    assert READERS[format](kept.read_text()) == ("faulty", ["tf-wheel-runpath-gap"])
    assert gpudoctor.replay(GAP).save(tmp_path / "y", "oneline").read_text().startswith("gpudoctor: faulty")
    with pytest.raises(ValueError, match="does not say a format"):
        gpudoctor.replay(GAP).save(tmp_path / "report")


@pytest.mark.parametrize("width", [40, 100])
def test_rich_shows_the_text_report_and_loses_nothing(tmp_path: Path, width: int) -> None:
    for result in (named(tmp_path), gpudoctor.read_log(LOG)):
        console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor")
        with console.capture() as capture:
            console.print(result)
        printed = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
        assert "\x1b[1;31m✗" in capture.get()
        assert max(len(line) for line in printed.splitlines()) <= width
        for cause in result.causes:
            for step in cause.fixes[0].steps:
                assert re.sub(r"\s", "", step) in re.sub(r"\s", "", printed)
        plain = [re.sub(r"\W", "", line) for line in str(result).splitlines()]
        assert plain[-1] in re.sub(r"\W", "", printed)


# ------------------------------------------------------------------------------- its types

USER = """
from pathlib import Path
from typing import assert_type

import gpudoctor
from gpudoctor.findings import Candidate, RootCause, Verdict

result = gpudoctor.check(level="quick", python=Path("x"), only="driver", timeout_s=3, config=False)
assert_type(result, gpudoctor.Result)
assert_type(result.verdict, Verdict)
assert_type(result.causes, tuple[RootCause, ...])
assert_type(result.candidates, dict[str, tuple[Candidate, ...]])
assert_type(result.ok, bool)
assert_type(gpudoctor.read_log(open("x")).to_json(), str)
assert_type(gpudoctor.replay("x", fail_on="fail").save("y"), Path)
try:
    pass
except gpudoctor.Unreachable as e:
    assert_type(e.told, str)
"""


def test_a_strict_type_checker_is_content_and_finds_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        USER.replace("from typing import assert_type", "from typing_extensions import assert_type")
    )
    mistakes = [
        "gpudoctor.chekc()",
        'gpudoctor.check(level="fast")',
        "result.cause",
        "gpudoctor.replay(3)",
        'gpudoctor.check("x")',
    ]
    (tmp_path / "wrong.py").write_text(
        "import gpudoctor\nresult = gpudoctor.replay('x')\n" + "\n".join(mistakes) + "\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"), "user.py", "wrong.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [
        line for line in done.stdout.splitlines() if line.startswith(("user.py", "wrong.py")) and ": error" in line
    ]
    wrong = dict.fromkeys(line.partition(": error")[0] for line in lines)
    assert list(wrong) == [f"wrong.py:{n + 3}" for n in range(len(mistakes))], done.stdout
