"""`gpudoctor fix` and `gpudoctor env`, run as users run them: TensorFlow's real loader object and stub libraries in a
virtual environment. What is done is done for real, checked again, and taken back."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import msgspec
import pytest

from gpudoctor import bundle
from gpudoctor.findings import EnvChange, Fix, RootCause
from gpudoctor.mending import Journal, Lines, plan
from tests.building import Workshop, put
from tests.factory import healthy, with_
from tests.probes.test_tensorflow import site as _site
from tests.running import COMMAND, ROOT, causes, gpudoctor, one_line, report

site = _site
GAP = "tf-wheel-runpath-gap"


@pytest.fixture
def place(site: Path, tmp_path: Path) -> Path:
    """A virtual environment in which pip, as it seems, installed tensorflow[and-cuda] 2.21.0."""
    made = tmp_path / "env with space"
    venv.create(made, with_pip=False, symlinks=True)
    packages = next((made / "lib").glob("python3*/site-packages"))
    for one in site.iterdir():
        shutil.move(one, packages / one.name)
    return made


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": ""}


QUICK = ("--level", "quick")


def tree(place: Path) -> list[tuple[str, str]]:
    return sorted(
        (str(p), os.readlink(p) if p.is_symlink() else p.read_text(errors="replace") if p.suffix != ".so" and p.is_file() and p.stat().st_size < 99999 else "")
        for p in place.rglob("*")
    )  # fmt: skip


def found(place: Path, env: dict[str, str]) -> list[str]:
    return causes(report(gpudoctor("check", *QUICK, "--format", "json", "--python", str(place), env=env)))


def test_the_defect_is_mended_checked_and_taken_back(place: Path, surroundings: dict[str, str]) -> None:
    before = tree(place)
    assert GAP in found(place, surroundings)
    shown = gpudoctor("fix", GAP, "--dry-run", *QUICK, "--python", str(place), env=surroundings)
    assert tree(place) == before
    assert "Would do: Make a link" in shown.stdout
    assert "tried here, works" in shown.stdout
    assert "ln -s ../../cusolver/lib/libcusolver.so.11" in shown.stdout
    assert not (Path(surroundings["HOME"]) / ".local").exists()

    done = gpudoctor("fix", GAP, "--yes", *QUICK, "--python", str(place), env=surroundings)
    assert f"Mended, as a new check shows: {GAP}" in done.stdout, done.stdout + done.stderr
    link = next(place.glob("lib/*/site-packages/nvidia/*/lib/libcusolver.so.11"))
    links = [p for p in place.glob("lib/*/site-packages/nvidia/*/lib/libcusolver.so.11") if p.is_symlink()]
    assert len(links) == 1, link
    assert links[0].resolve().parent.parent.name == "cusolver"
    assert GAP not in found(place, surroundings)
    assert done.returncode == 1  # this machine has other causes

    back = gpudoctor("fix", "--undo", "--yes", env=surroundings)
    assert "Taken back." in back.stdout
    assert back.returncode == 0
    assert tree(place) == before
    assert GAP in found(place, surroundings)
    again = gpudoctor("fix", "--undo", "--yes", env=surroundings)
    assert again.returncode == 2
    assert "nothing to undo" in one_line(again)


def test_a_variable_goes_into_the_activation_script(
    place: Path, surroundings: dict[str, str], workshop: Workshop, tmp_path: Path
) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    env = {
        **surroundings,
        "LD_LIBRARY_PATH": str(tmp_path / "driver"),
        "FAKE_CUDA_DEVICES": "2",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    before = tree(place)
    done = gpudoctor("fix", "cuda-visible-devices-empty", "--yes", *QUICK, "--python", str(place), env=env)
    assert "Mended, as a new check shows: cuda-visible-devices-empty" in done.stdout, done.stdout + done.stderr
    assert "activate the environment anew" in done.stdout
    for shell, script in (("bash", "activate"), ("sh", "activate")):
        if shutil.which(shell):
            said = subprocess.run(
                [shell, "-c", f'. "{place}/bin/{script}"; echo "${{CUDA_VISIBLE_DEVICES-gone}}"; deactivate'],
                env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}, capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert said.stdout.strip() == "gone"
    assert "unset CUDA_VISIBLE_DEVICES" in (place / "bin/activate").read_text()
    assert "unsetenv CUDA_VISIBLE_DEVICES" in (place / "bin/activate.csh").read_text()
    assert "set -e CUDA_VISIBLE_DEVICES" in (place / "bin/activate.fish").read_text()
    gpudoctor("fix", "--undo", "--yes", env=surroundings)
    assert tree(place) == before


def test_without_a_terminal_it_asks_for_yes(place: Path, surroundings: dict[str, str]) -> None:
    before = tree(place)
    done = gpudoctor("fix", GAP, *QUICK, "--python", str(place), env=surroundings)
    assert done.returncode == 2
    assert "--yes" in one_line(done)
    assert tree(place) == before


@pytest.mark.parametrize(("answer", "is_done"), [("n", False), ("", False), ("y", True)])
def test_on_a_terminal_it_asks(place: Path, surroundings: dict[str, str], answer: str, is_done: bool) -> None:
    """A real terminal: what is typed decides."""
    ours, theirs = pty.openpty()
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    with subprocess.Popen(
        [*COMMAND, "fix", GAP, *QUICK, "--python", str(place)], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **surroundings, "PYTHONPATH": path}, text=True,
    ) as running:  # fmt: skip
        os.write(ours, f"{answer}\n".encode())
        out, err = running.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert "Do this? [y/N]" in err
    assert ("Mended" in out) is is_done
    assert ("Nothing was done." in out) is not is_done


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_what_can_not_be_written_is_the_users(place: Path, surroundings: dict[str, str]) -> None:
    read_only = (
        "unshare",
        "-m",
        "sh",
        "-c",
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
        str(place),
    )
    env = {**surroundings, "CUDA_VISIBLE_DEVICES": "-1"}
    done = gpudoctor("fix", GAP, "--yes", *QUICK, "--python", str(place), env=env, prefix=read_only)
    assert "Yours to do (you may not write" in done.stdout, done.stdout + done.stderr
    assert "export LD_LIBRARY_PATH=" in done.stdout or "ln -s" in done.stdout


def test_a_cause_that_is_not_here(place: Path, surroundings: dict[str, str]) -> None:
    done = gpudoctor("fix", "xid79-fell-off-bus", *QUICK, "--python", str(place), env=surroundings)
    assert done.returncode == 2
    assert "is no cause that was found here" in one_line(done)


def test_without_a_journal_nothing_is_done(place: Path, surroundings: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = tree(place)
    env = {**surroundings, "XDG_STATE_HOME": str(tmp_path / "file")}
    done = gpudoctor("fix", GAP, "--yes", *QUICK, "--python", str(place), env=env)
    assert done.returncode == 3
    assert "nothing was done" in done.stderr.splitlines()[-1]
    assert tree(place) == before


def test_what_was_changed_since_is_left(place: Path, surroundings: dict[str, str]) -> None:
    gpudoctor("fix", GAP, "--yes", *QUICK, "--python", str(place), env=surroundings)
    link = next(p for p in place.glob("lib/*/site-packages/nvidia/*/lib/libcusolver.so.11") if p.is_symlink())
    link.unlink()
    link.write_text("somebody's own")
    done = gpudoctor("fix", "--undo", "--yes", env=surroundings)
    assert done.returncode == 3
    assert "was changed since" in done.stderr
    assert link.read_text() == "somebody's own"
    assert Journal(Path(surroundings["HOME"], ".local/state/gpudoctor/fixes")).entries()


# ------------------------------------------------------------------------------- pip


def wheel(directory: Path, name: str, version: str) -> None:
    """A wheel of one module."""
    import zipfile

    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as z:
        z.writestr(f"{name}.py", f"VERSION = '{version}'\n")
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", "")


def test_pip_is_run_in_the_examined_environment_and_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpudoctor.mending import CannotDo, Pip

    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "v")], check=True)
    python = str(tmp_path / "v/bin/python")
    for name, version in (("alpha", "1.0"), ("alpha", "2.0"), ("beta", "1.0")):
        wheel(tmp_path, name, version)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    subprocess.run([python, "-m", "pip", "install", "-q", "alpha==1.0"], check=True)

    def installed() -> dict[str, str]:
        listed = subprocess.run(
            [python, "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True
        )
        return {d["name"]: d["version"] for d in json.loads(listed.stdout) if d["name"] in ("alpha", "beta")}

    action = Pip(commands=((python, "-m", "pip", "install", "-q", "alpha==2.0", "beta"),)).prepared()
    action.do()
    assert installed() == {"alpha": "2.0", "beta": "1.0"}
    action.undo()
    assert installed() == {"alpha": "1.0"}
    half = Pip(
        commands=((python, "-m", "pip", "install", "-q", "alpha==2.0"), (python, "-m", "pip", "install", "-q", "gamma"))
    ).prepared()
    with pytest.raises(CannotDo, match="exit code"):
        half.do()
    assert installed() == {"alpha": "1.0"}


# ------------------------------------------------------------------------------- env


@pytest.mark.parametrize("form", ['eval "$(cat lines)"', "eval $(cat lines)"])
def test_the_lines_make_the_environment_work(
    place: Path, surroundings: dict[str, str], tmp_path: Path, form: str
) -> None:
    done = gpudoctor("env", "--python", str(place), env=surroundings)
    assert done.stdout.startswith("export LD_LIBRARY_PATH=")
    (tmp_path / "lines").write_text(done.stdout)
    checked = subprocess.run(
        ["sh", "-c", f'{form}; exec "$@"', "sh", *COMMAND, "check", *QUICK, "--format", "json", "--python", str(place)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, **surroundings, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert GAP not in [r["cause"] for r in json.loads(checked.stdout)["diagnosis"]["root_causes"]], checked.stderr
    assert done.returncode == 1  # no variable gives this machine a GPU, and it says so
    assert "no variable mends no-nvidia-gpu" in done.stderr


@pytest.mark.parametrize(
    ("shell", "first"),
    [("sh", "export LD_LIBRARY_PATH='"), ("fish", "set -gx LD_LIBRARY_PATH (string join -- : '"), ("csh", "setenv LD_LIBRARY_PATH '"), ("dockerfile", 'ENV LD_LIBRARY_PATH="')],
)  # fmt: skip
def test_every_shell_has_its_own_lines(place: Path, surroundings: dict[str, str], shell: str, first: str) -> None:
    done = gpudoctor("env", "--for", shell, "--python", str(place), env=surroundings)
    assert done.stdout.startswith(first)
    assert "nvidia/cusolver/lib" in done.stdout


# ------------------------------------------------------------------------------- several causes


def test_the_variables_of_several_causes_are_one_change(place: Path) -> None:
    """What one fix takes off a list no other puts back, in the activation script as in what is tried."""

    def root(cause: str, value: str) -> RootCause:
        change = EnvChange(name="LD_LIBRARY_PATH", op="set", value=value)
        fix = Fix(kind="env", risk="safe", summary="x", steps=(f"export LD_LIBRARY_PATH={value}",), env=(change,))
        return RootCause(
            code="GD1", cause=cause, title="x", level="fail", message="x", about=(), proof=(), fixes=(fix,), explains=()
        )

    report = bundle.make(
        with_(healthy(), python__prefix=str(place), python__virtual_environment=True, python__conda=False), "now"
    )
    roots = (root("one", "/b:/c"), root("two", "/a:/c"))
    report = msgspec.structs.replace(report, diagnosis=msgspec.structs.replace(report.diagnosis, root_causes=roots))
    todo = plan(report)
    assert [m.cause for m in todo.mended] == ["one", "two"]
    scripts = {os.path.basename(a.path): a.lines for a in todo.actions if isinstance(a, Lines)}
    assert len(todo.actions) == len(scripts) == 3
    assert scripts["activate"] == ("export LD_LIBRARY_PATH=/c;",)
