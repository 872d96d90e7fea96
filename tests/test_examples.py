"""examples/: each file is what its system reads, its commands are ours, and what can run without a GPU is run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.parsing import in_json_array, in_yaml, invocations, parse
from tests.running import COMMAND, ROOT, gpudoctor

EXAMPLES = ROOT / "examples"
HOSTS = ROOT / "tests" / "hosts"
HEALTHY, GAP, HIDDEN = (
    HOSTS / f"{name}.json" for name in ("h200-x2-healthy", "h200-x2-tf-2.21-plain", "h200-x2-tf-2.21-plain-cvd-minus-1")
)
FILES = sorted(p for p in EXAMPLES.rglob("*") if p.is_file() and p.name != "README.md" and p.suffix != ".pyc")
SHELL = [EXAMPLES / "slurm" / "node-check.sh", EXAMPLES / "slurm" / "train.sbatch", EXAMPLES / "shell" / "train.sh"]
YAML = [p for p in FILES if p.suffix in (".yaml", ".yml")]
HAS_GPU = Path("/proc/driver/nvidia/version").exists()


def name(path: Path) -> str:
    return str(path.relative_to(EXAMPLES))


def loaded(path: str) -> Any:
    return yaml.safe_load((EXAMPLES / path).read_text())


def commands(path: Path) -> list[list[str]]:
    """The arguments of each gpudoctor in an example."""
    text = path.read_text()
    if path in YAML:
        text = text.replace("{{ $labels.cause }}", "driver-missing")
        return list(in_yaml(yaml.safe_load(text)))
    if path.suffix == ".ipynb":
        text = "".join(line for cell in json.loads(text)["cells"] for line in cell["source"] if line.startswith("!"))
        return list(invocations(text.replace("!", "").replace("{os.getpid()}", "1")))
    if path.suffix == ".service":
        return list(invocations("\n".join(re.findall(r"(?m)^ExecStart=(.*)$", text))))
    if path.name == "Dockerfile":
        lines = [line for instruction, line in instructions(text) if instruction in ("RUN", "CMD", "HEALTHCHECK")]
        shells = [json.loads(line)[-1] if line.startswith("[") else line for line in lines]
        return [c for line in shells for c in invocations(line)] + list(in_json_array(text))
    return list(invocations(text.replace('"$gpudoctor"', "gpudoctor")))


def instructions(text: str) -> list[tuple[str, str]]:
    """A Dockerfile's, with their arguments."""
    whole = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ")
    return [(i, " ".join(rest.split())) for i, _, rest in (line.partition(" ") for line in whole.splitlines() if line)]


# ------------------------------------------------------------------------------- all of them


def test_the_table_has_every_example() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (EXAMPLES / "README.md").read_text())
    assert sorted(links) == sorted(name(p) for p in FILES)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_its_commands_are_ours(path: Path) -> None:
    found = commands(path)
    assert (path.suffix in (".timer", ".conf", ".py", ".toml")) == (found == [])
    for words in found:
        assert parse(words) is not None, words


@pytest.mark.parametrize("path", FILES, ids=name)
def test_it_begins_with_why(path: Path) -> None:
    """Every example that can have a comment, but a timer and a package's settings, says at its top what it is for."""
    if path.suffix not in (".ipynb", ".timer", ".toml"):
        first, second = path.read_text().splitlines()[:2]
        assert (second if first.startswith("#!") else first).startswith(("#", '"""'))


# ------------------------------------------------------------------------------- shell


@pytest.mark.parametrize("path", SHELL, ids=name)
def test_the_shell_reads_it(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    shell = shlex.split(first.removeprefix("#!"))[-1].rsplit("/", 1)[-1]
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.suffix == ".sbatch" or os.access(path, os.X_OK)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck here")
@pytest.mark.parametrize("path", SHELL, ids=name)
def test_shellcheck(path: Path) -> None:
    done = subprocess.run(["shellcheck", "-e", "SC1091", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def machine(directory: Path, host: Path) -> Path:
    """A `gpudoctor` whose `check` examines a recorded host."""
    directory.mkdir(exist_ok=True)
    command = directory / "gpudoctor"
    command.write_text(
        "#!/bin/sh\n"
        f"export PYTHONPATH={shlex.quote(str(ROOT))}\n"
        f'[ "$1" = check ] || exec {shlex.join(COMMAND)} "$@"\n'
        "shift; kept=\n"
        "while [ $# -gt 0 ]; do\n"
        '  case "$1" in --level|--timeout|--python) shift;; *) kept="$kept $1";; esac; shift\n'
        "done\n"
        f"exec {shlex.join(COMMAND)} replay {shlex.quote(str(host))} $kept\n"
    )
    command.chmod(0o755)
    return command


def ended(script: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
    return subprocess.run(
        [str(script), *arguments],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def node_check(command: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    return ended(EXAMPLES / "slurm" / "node-check.sh", GPUDOCTOR=str(command), **variables)


def test_a_fault_drains_a_node_and_nothing_else_does(tmp_path: Path) -> None:
    job = {"SLURM_JOB_ID": "17", "SLURM_JOB_GPUS": "0,1"}
    assert node_check(machine(tmp_path / "a", HEALTHY), **job).returncode == 0
    done = node_check(machine(tmp_path / "b", HIDDEN), **job)
    assert done.returncode == 1
    assert "job 17: exit code 1: gpudoctor: faulty: cuda-visible-devices-empty" in done.stderr
    assert node_check(machine(tmp_path / "c", GAP), **job).returncode == 0, "a job's TensorFlow is the job's business"


@pytest.mark.parametrize("code", [2, 3])
def test_what_could_not_be_looked_at_is_logged(tmp_path: Path, code: int) -> None:
    command = tmp_path / "gpudoctor"
    command.write_text(f"#!/bin/sh\nexit {code}\n")
    command.chmod(0o755)
    done = node_check(command)
    assert done.returncode == 0
    assert f"job none: exit code {code}:" in done.stderr


def test_a_job_without_gpus_is_not_kept_waiting(tmp_path: Path) -> None:
    assert node_check("/bin/false", SLURM_JOB_ID="17").returncode == 0
    assert node_check("/bin/false", SLURM_JOB_ID="17", SLURM_JOB_GPUS="0").returncode == 1


@pytest.mark.skipif(HAS_GPU, reason="this machine has an NVIDIA GPU")
def test_on_this_machine_without_gpus(tmp_path: Path) -> None:
    command = tmp_path / "gpudoctor"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    done = node_check(command)
    assert done.returncode == 1
    assert "no-nvidia-gpu" in done.stderr


def train(tmp_path: Path, env: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """train.sh in a directory of its own, with a `gpudoctor env` that does `env`."""
    (tmp_path / "gpudoctor").write_text(f'#!/bin/sh\n[ "$*" = env ] || exit 9\n{env}\n')
    (tmp_path / "gpudoctor").chmod(0o755)
    (tmp_path / "train.py").write_text("import os, sys; print(sys.argv[1:], os.environ.get('LD_LIBRARY_PATH'))\n")
    path = os.pathsep.join([str(tmp_path), os.path.dirname(sys.executable), os.environ["PATH"]])
    script = shutil.copy(EXAMPLES / "shell" / "train.sh", tmp_path)
    os.chdir(tmp_path)
    return ended(Path(script), "--epochs", "10", PATH=path, **variables)


def test_training_gets_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = train(tmp_path, "echo \"export LD_LIBRARY_PATH='/opt/a b'\"")
    assert (done.returncode, done.stdout, done.stderr) == (0, "['--epochs', '10'] /opt/a b\n", "")


def test_training_does_not_start_where_no_variable_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = train(tmp_path, "echo 'gpudoctor: driver-missing' >&2; exit 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gpudoctor: driver-missing\ntrain.sh: ")
    assert train(tmp_path, "exit 1", TRAIN_ANYWAY="1").stdout.startswith("['--epochs', '10']")


# ------------------------------------------------------------------------------- containers


def test_the_dockerfile() -> None:
    found = instructions((EXAMPLES / "docker" / "Dockerfile").read_text())
    known = {"FROM", "ARG", "RUN", "WORKDIR", "COPY", "HEALTHCHECK", "CMD"}
    assert {i for i, _ in found} == known
    assert found[0][0] == "FROM"
    (health,) = (rest for i, rest in found if i == "HEALTHCHECK")
    assert health.endswith("|| exit 1"), "docker reserves the other codes"
    assert set(re.findall(r"--(\S+?)=", health.partition(" CMD ")[0])) <= {
        "interval", "timeout", "start-period", "retries"
    }  # fmt: skip
    test = loaded("docker/compose.yaml")["services"]["train"]["healthcheck"]["test"]
    assert test == ["CMD-SHELL", health.partition(" CMD ")[2]]


def test_the_image_is_not_built_where_tensorflow_finds_no_libraries(tmp_path: Path) -> None:
    found = instructions((EXAMPLES / "docker" / "Dockerfile").read_text())
    (line,) = (rest for i, rest in found if i == "RUN" and rest.startswith("gpudoctor check"))
    for host, code in ((HEALTHY, 0), (GAP, 1)):
        path = f"{machine(tmp_path / str(code), host).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, check=False)
        assert done.returncode == code


def test_compose_hands_gpus_over() -> None:
    (device,) = loaded("docker/compose.yaml")["services"]["train"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}


@pytest.mark.parametrize("path", [p for p in YAML if p.parent.name == "kubernetes"], ids=name)
def test_kubernetes(path: Path) -> None:
    found = loaded(name(path))
    assert found["apiVersion"] == "batch/v1"
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?", found["metadata"]["name"])
    job = found["spec"]["jobTemplate"]["spec"] if found["kind"] == "CronJob" else found["spec"]
    assert found["kind"] in ("Job", "CronJob")
    pod = job["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    containers = [*pod.get("initContainers", []), *pod["containers"]]
    assert len({c["name"] for c in containers}) == len(containers)
    gpus = [c["resources"]["limits"]["nvidia.com/gpu"] for c in containers]
    assert len(set(gpus)) == 1
    assert isinstance(gpus[0], int)
    for container in containers:
        assert container["image"]
        assert all(isinstance(word, str) for word in container["command"])
    volumes = {v["name"] for v in pod.get("volumes", [])}
    assert {m["name"] for c in containers for m in c.get("volumeMounts", [])} == volumes
    for rule in job.get("podFailurePolicy", {}).get("rules", []):
        assert rule["onExitCodes"]["containerName"] in {c["name"] for c in containers}
    if found["kind"] == "CronJob":
        assert re.fullmatch(r"(\S+ ){4}\S+", found["spec"]["schedule"])


# ------------------------------------------------------------------------------- systemd and Prometheus


def unit(file: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"(?m)^(\w+)=(.*)$", (EXAMPLES / "systemd" / file).read_text()):
        found.setdefault(key, []).append(value)
    return found


def test_the_unit_may_write_what_it_writes_and_see_what_it_examines() -> None:
    service = unit("gpudoctor.service")
    (words,) = commands(EXAMPLES / "systemd" / "gpudoctor.service")
    work = parse(words)
    assert work is not None
    assert service["ReadWritePaths"] == [str(work.keywords["output"].parent)]
    assert service["ProtectSystem"] == ["strict"]
    assert service["Environment"] == [f"TMPDIR=/run/{service['RuntimeDirectory'][0]}"]
    assert service["SuccessExitStatus"] == ["1"]
    hiding = {"PrivateDevices", "DevicePolicy", "ProtectKernelLogs", "PrivateTmp", "ProcSubset", "ProtectProc"}
    assert not hiding & set(service)


def test_it_works_where_nothing_else_may_be_written(tmp_path: Path) -> None:
    """As ProtectSystem=strict has it: only the directories of ReadWritePaths= and RuntimeDirectory= can be written to."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace to be had here")
    (words,) = commands(EXAMPLES / "systemd" / "gpudoctor.service")
    out, run = tmp_path / "out", tmp_path / "run"
    for directory in (out, run):
        directory.mkdir()
    words[words.index("--output") + 1] = str(out / "gpudoctor.prom")
    binds = "".join(f"mount --bind {shlex.quote(str(d))} {shlex.quote(str(d))} && " for d in (out, run))
    protected = (
        f"mount --make-rprivate / && {binds}mount -o remount,bind,ro / && ! touch {shlex.quote(str(tmp_path))}/x"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{protected} && {shlex.join([*COMMAND, *words])}"],
        env={**os.environ, "TMPDIR": str(run), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, int(unit("gpudoctor.service")["SuccessExitStatus"][0])), done.stderr
    assert "gpudoctor_check_status{" in (out / "gpudoctor.prom").read_text()
    assert [p.name for p in out.iterdir()] == ["gpudoctor.prom"]
    assert list(run.iterdir()) == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for file in ("gpudoctor.service", "gpudoctor.timer"):
        text = (EXAMPLES / "systemd" / file).read_text()
        (tmp_path / file).write_text(text.replace("/opt/gpudoctor/bin/gpudoctor", str(machine(tmp_path / "bin", GAP))))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "gpudoctor.service", "gpudoctor.timer"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "gpudoctor" in line]) == (0, [])


def test_alerts_are_on_metrics_that_exist(tmp_path: Path) -> None:
    done = gpudoctor("replay", str(GAP), "--format", "prometheus")
    metrics = set(re.findall(r"(?m)^# TYPE (\S+)", done.stdout))
    (sample,) = re.findall(r'gpudoctor_check_status\{(.*code="GD511".*)\} 1\.0', done.stdout)
    labels = dict(re.findall(r'(\w+)="([^"]*)"', sample))
    assert (labels["level"], labels["cause"]) == ("fail", "tf-wheel-runpath-gap")
    rules = [rule for group in loaded("systemd/alerts.yml")["groups"] for rule in group["rules"]]
    assert [rule["alert"] for rule in rules] == ["GpuFault", "GpuExaminationStale"]
    for rule in rules:
        used = set(re.findall(r"gpudoctor_\w+", rule["expr"]))
        assert used
        assert used <= metrics
        wanted = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert wanted <= {"instance", *labels}


# ------------------------------------------------------------------------------- CI


def test_github_actions(tmp_path: Path) -> None:
    found = loaded("ci/github-actions.yml")
    assert set(found[True]) == {"push", "workflow_dispatch"}  # YAML 1.1 reads 'on' so, GitHub does not
    (job,) = found["jobs"].values()
    assert job["runs-on"]
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    (step,) = (s for s in job["steps"] if "gpudoctor check" in s.get("run", ""))
    for host, code in ((HEALTHY, 0), (GAP, 1)):
        place = tmp_path / str(code)
        path = f"{machine(place, host).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],  # as GitHub does
            env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md")},
            cwd=place,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code
        assert ("::error" in done.stdout) == bool(code)
        assert (place / "summary.md").read_text().startswith("#")
    (upload,) = (s for s in job["steps"] if "upload-artifact" in s.get("uses", ""))
    assert upload["if"] == "always()"
    assert all((place / file).stat().st_size for file in upload["with"]["path"].split())


def test_gitlab_ci(tmp_path: Path) -> None:
    found = loaded("ci/gitlab-ci.yml")
    job = found["gpus"]
    assert job["stage"] in found["stages"]
    assert job["artifacts"]["when"] == "always"
    line = job["script"][-1].replace("/opt/gpudoctor/bin/gpudoctor", str(machine(tmp_path / "bin", GAP)))
    assert subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False).returncode == 1
    assert "<failure" in (tmp_path / job["artifacts"]["reports"]["junit"]).read_text()
    assert job["allow_failure"] == {"exit_codes": [3]}


def test_the_issue_form() -> None:
    found = loaded("ci/issue-form.yml")
    assert {"name", "description", "body"} <= set(found) <= {"name", "description", "title", "labels", "body"}
    ids = [one["id"] for one in found["body"] if one["type"] != "markdown"]
    assert len(set(ids)) == len(ids) == len(found["body"]) - 1
    for one in found["body"]:
        assert one["type"] in ("markdown", "textarea", "checkboxes")
        assert "value" in one["attributes"] if one["type"] == "markdown" else one["attributes"]["label"]
    report = next(one for one in found["body"] if one.get("id") == "report")
    assert report["validations"] == {"required": True}
    assert "render" not in report["attributes"], "it is Markdown"


# ------------------------------------------------------------------------------- notebook


def test_the_notebook(tmp_path: Path) -> None:
    found = json.loads((EXAMPLES / "notebook" / "gpu-check.ipynb").read_text())
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert [cell["cell_type"] for cell in found["cells"]] == ["markdown", "code"]
    assert all(re.fullmatch(r"[\w-]{1,64}", cell["id"]) for cell in found["cells"])
    assert found["cells"][1]["outputs"] == []
    source = "".join(found["cells"][1]["source"])
    line = re.sub(r"(?m)^!(.*)$", r"import subprocess; subprocess.run(f'\1', shell=True)", source)  # as IPython does
    command = tmp_path / "gpudoctor"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", line],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert " (--pid " in done.stdout.splitlines()[0]
