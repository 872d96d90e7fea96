"""What leaves the machine: nothing that names it, and the same diagnosis."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import tests.checks
import tests.factory
from gpudoctor import api, bundle, identifiers, redact
from gpudoctor.bundle import Report
from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, NcclFile, NcclSetting, TfConfig, Trial, Variable, VariableNow
from gpudoctor.findings import Found, Judgement, Level, Stage
from gpudoctor.probes.cluster import parse
from gpudoctor.redact import Identity, Redactor, Tokens
from gpudoctor.registry import Check
from gpudoctor.render import json as as_json
from tests.checks.test_libraries import gap
from tests.factory import healthy, with_, with_variable
from tests.running import causes, gpudoctor
from tests.running import report as printed

HOSTS = Path(__file__).parent / "hosts"
KEY = b"of the tests"
UUIDS = ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-8932f0aa-1111-4222-b333-0123456789ab")
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
ORIGINALS = (
    "secretname",
    "otherperson",
    "node7",
    "node8",
    "cluster.corp",
    "corp.example",
    "10.20.30.40",
    "192.168.7.9",
    "fd00:1234::17",
    "52:54:00:ab:cd:ef",
    "8932f937",
    "8932f0aa",
    "1652421002345",
    AWS,
    "hunter2",
    "eyJhbGciOiJI",
    "Zk3v9QpX7wLm2Rt8Yb5N",
)


def answer(report: Report) -> tuple[object, ...]:
    """What must be the same on both sides."""
    d = report.diagnosis
    trials = [(f.trial.judged_by, f.trial.worked) for r in d.root_causes for f in r.fixes if f.trial is not None]
    return (
        d.verdict,
        [(r.cause, r.explains, len(r.fixes), len(r.proof)) for r in d.root_causes],
        trials,
        d.combined_fix is not None and d.combined_fix.trial is not None,
        [f.cause for f in report.findings],
        [u.cause for u in report.unknown],
        [s.cause for s in report.skipped],
    )


def given(facts: Facts, identity: Identity | None = None) -> tuple[Report, Report]:
    """A report and what leaves of it, which a replay judges alike."""
    made = bundle.make(facts, "now")
    leaves = redact.report(made, identity or Identity(), key=KEY)
    again = bundle.make(*_read(leaves))
    assert again == leaves
    assert answer(leaves) == answer(made)
    return made, leaves


def _read(report: Report) -> tuple[Any, ...]:
    facts, started_at, redactions = bundle.read(as_json.render(report).encode())
    return facts, started_at, None, redactions


def through(text: str, identity: Identity | None = None, name: str = "NCCL_TEXT") -> str:
    """The value of a variable when it leaves."""
    facts = with_variable(healthy(), name, text)
    _, leaves = given(facts, identity)
    value = leaves.facts.environment.get(name)
    assert isinstance(value, str)
    return value


# ------------------------------------------------------------------------------- the same diagnosis


@pytest.mark.parametrize("path", sorted(HOSTS.glob("*.json")), ids=lambda p: p.stem)
def test_a_recorded_host_has_the_same_diagnosis(path: Path) -> None:
    facts, _, redactions = bundle.read(path.read_bytes())
    assert redactions is None
    given(facts)
    _, leaves = given(identifying(facts))
    assert_clean(leaves)


def identifying(facts: Facts) -> Facts:
    """`facts` of a machine that gives away whose it is, wherever a text may."""
    ids = {"GPU-00000000-0000-4000-8000-000000000000": UUIDS[0], "GPU-00000001-0000-4000-8000-000000000000": UUIDS[1]}
    places = {"/opt/venv": "/home/secretname/venv", "/tmp/site": "/nfs/home/secretname/site"}

    def put(value: Any) -> Any:
        if isinstance(value, str):
            for old, new in {**ids, **places}.items():
                value = value.replace(old, new)
            return value
        if isinstance(value, tuple):
            return tuple(put(v) for v in value)
        if isinstance(value, msgspec.Struct):
            return type(value)(**{f: put(getattr(value, f)) for f in value.__struct_fields__})
        return value

    told: Facts = put(facts)
    if not isinstance(told.environment.variables, tuple):
        return told
    variables = {v.name: v.value for v in told.environment.variables}
    config = {
        "cluster": {"worker": ["node7.cluster.corp.example:2222", "node8:2222", "10.20.30.40:2222"]},
        "task": {"type": "worker", "index": 0},
    }
    variables |= {
        "TF_CONFIG": json.dumps(config),
        "SUDO_USER": "secretname",
        "NCCL_COMM_ID": "192.168.7.9:4242",
        "NCCL_TEST_A": f"mail otherperson@corp.example, [fd00:1234::17]:22, 52:54:00:ab:cd:ef, {AWS}",
        "NCCL_TEST_B": "http://secretname:hunter2@node8.cluster.corp.example/x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "NCCL_TEST_C": "Zk3v9QpX7wLm2Rt8Yb5N /home/otherperson/x Serial Number: 1652421002345",
        "LD_LIBRARY_PATH": variables.get("LD_LIBRARY_PATH", "") + ":/home/otherperson/lib:/scratch/secretname",
    }
    if variables.get("CUDA_VISIBLE_DEVICES") == "0":
        variables["CUDA_VISIBLE_DEVICES"] = UUIDS[0][:10]
    return with_(told, environment__variables=tuple(Variable(name=k, value=v) for k, v in sorted(variables.items())))


def assert_clean(report: Report) -> None:
    text = as_json.render(report)
    assert [o for o in ORIGINALS if o in text] == []
    assert report.redactions
    for one in report.redactions:
        assert one.token in text
        assert one.count > 0


def faults() -> Iterator[Facts]:
    """Every machine that a test of a check makes up."""
    seen: list[Facts] = []

    def keep(facts: Facts) -> Judgement:
        seen.append(facts)
        return judge(facts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tests.factory, "judge", keep)
        for module in pkgutil.iter_modules(tests.checks.__path__):
            loaded = importlib.import_module(f"tests.checks.{module.name}")
            for name, function in inspect.getmembers(loaded, inspect.isfunction):
                if name.startswith("test_") and function.__module__ == loaded.__name__:
                    for arguments in _arguments(function):
                        if set(inspect.signature(function).parameters) == set(arguments):
                            function(**arguments)
    yield from {msgspec.json.encode(f): f for f in seen}.values()


def _arguments(function: Any) -> Iterator[dict[str, Any]]:
    """Of each case of a test."""
    cases: list[list[dict[str, Any]]] = []
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            names = mark.args[0].replace(" ", "").split(",") if isinstance(mark.args[0], str) else list(mark.args[0])
            values = [getattr(v, "values", v) if not isinstance(v, dict) else v for v in mark.args[1]]
            cases.append([dict(zip(names, v if len(names) > 1 else [v], strict=True)) for v in values])
    for chosen in itertools.product(*cases):
        yield {name: value for case in chosen for name, value in case.items()}


def test_every_made_up_fault_has_the_same_diagnosis() -> None:
    made_up = list(faults())
    assert len(made_up) > 60
    for facts in made_up:
        _, leaves = given(identifying(facts), Identity(users=("secretname",), hosts=("node7",)))
        if isinstance(leaves.facts.environment.variables, tuple):
            assert_clean(leaves)


def test_the_trials_are_found_again_where_a_path_needs_quotes() -> None:
    site = "/mnt/c/Users/John Smith/site"
    text = as_json.render(bundle.make(gap(), "now")).replace(tests.factory.SITE, site)
    facts = bundle.read(text.encode())[0]
    fixes = bundle.make(facts, "now").diagnosis.root_causes[0].fixes
    assert all("'" in f.steps[0] for f in fixes)
    tried = tuple(Trial(cause="tf-wheel-runpath-gap", steps=f.steps, worked=True, judged_by="list") for f in fixes)
    _, leaves = given(with_(facts, trials=tried))
    assert [f.trial is not None for f in leaves.diagnosis.root_causes[0].fixes] == [True, True]
    assert "Smith" not in as_json.render(leaves)


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("GPU-8932f937", None),
        ("GPU-8932f9", None),
        ("GPU-8932F937,GPU-8932f0", None),
        ("GPU-8932f", "cuda-visible-devices-wrong"),  # of both
        ("GPU-8", "cuda-visible-devices-wrong"),
        ("GPU-77", "cuda-visible-devices-wrong"),  # of none
        (f"{UUIDS[1]},{UUIDS[0]}", None),
        ("MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0", None),
    ],
)
def test_an_abbreviated_uuid_abbreviates_the_token(value: str, cause: str | None) -> None:
    facts = identifying(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", value))
    made, leaves = given(facts)
    assert cause is None or cause in [r.cause for r in made.diagnosis.root_causes]
    assert "8932f" not in as_json.render(leaves).lower()
    devices = leaves.facts.gpu.devices
    assert isinstance(devices, tuple)
    for device in devices:
        assert isinstance(device.uuid, str)
        assert identifiers.is_uuid(device.uuid.removeprefix("GPU-"))


# ------------------------------------------------------------------------------- what is replaced


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("/home/alice/x", "home"),
        ("/Users/alice/x", "home"),
        ("/export/home/alice", "home"),
        ("/mnt/nfs3/home/j.doe/.local/lib", "home"),
        ("/home/python/lib", "home"),
        ("/scratch/dave77/env/lib", "user"),
        ("/work/fay:/usr/lib", "user"),
        ("/nfs/users4/bob/cuda/lib64", "user"),
        ("/gpfs/acme/erin/x", "user"),
        ("10.1.2.3", "address"),
        ("eth0:192.0.2.2<0>", "address"),
        ("192.168.0.7:2222", "address"),
        ("fe80::5054:ff:feab:cdef", "address"),
        ("52:54:00:ab:cd:ef", "mac"),
        ("52-54-00-AB-CD-EF", "mac"),
        ("GPU-8932f937", "gpu-uuid"),
        ("MIG-8932f937-d72c-4106-c12f-20bd9faed9f6", "gpu-uuid"),
        ("Serial Number : 1652421002345", "serial"),
        ("alice@corp.example", "email"),
        ("node7.cluster.corp.example:2222", "host"),
        ("vm-1.europe-west4-a.c.project-9.internal", "host"),
        ("dgx01:1234:1250 [0] NCCL INFO Bootstrap", "host"),
        ("ip-10-0-0-7", "host"),
        ("bigbank.com", "domain"),
        (AWS, "secret"),
        ("ghp_" + "x1Y2z3" * 6, "secret"),
        ("hf_" + "aBcDeF" * 5, "secret"),
        ("sk-" + "proj1234" * 4, "secret"),
        ("sk_live_51H8xyzABCDEF", "secret"),
        ("https://u:pa55@host9.corp.example/x", "secret"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "secret"),
        ("password=abc123def", "secret"),
        ("wJalrXUtnFEMI/K7MDENG/b2xRf9CYEXAMPLEKEY", "secret"),
        ("3f9a0c7b1d5e2f8a4c6b0d9e7f1a3c5b", "secret"),
    ],
)
def test_what_is_replaced(text: str, kind: str) -> None:
    made = bundle.make(with_variable(healthy(), "NCCL_TEXT", text), "now")
    leaves = redact.report(made, Identity(), key=KEY)
    assert leaves.redactions is not None
    assert kind in {r.kind for r in leaves.redactions}
    assert leaves.facts.environment.get("NCCL_TEXT") != text


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "0.0.0.0:80",
        "255.255.255.0",
        "::1",
        "nvidia-cusolver-cu12 11.6.3.83",
        "nvidia-curand-cu12==10.3.7.77",
        "CUDA version 12.4.1.1",
        "libcufft.so.12.0.0.61",
        "/usr/local/cudnn/9.1.0.70/lib",
        "580.159.04",
        "13.580.159.04",
        "96.00.CF.00.01",
        "0000:00:06.0",
        "00000000:00:06.0",
        "00:00:00:00:00:00",
        "GPU-0",
        "GPU-accelerated",
        "/root/x:/home/ubuntu/y:/home/jovyan:/tmp/home/.nv/ComputeCache:/home/linuxbrew/.linuxbrew/lib",
        "https://www.tensorflow.org/guide/gpu",
        "/scratch/software/cuda-12:/work/data:/nfs/apps/cuda/lib64:/gpfs/shared/conda:/scratch/envs:/work/x.py",
        "/usr/work/alice:./scratch/alice",
        "cannot import name 'builder' from 'google.protobuf.internal'",
        "_ZN3tsl8internal9DsoLoader29MaybeTryDlopenGPULibrariesEv",
        "tsl::internal::DsoLoader",
        "cuda_dnn.cc:454] Loaded runtime",
        "memcpy@GLIBC_2.14",
        "user@1000.service",
        "--xla_gpu_cuda_data_dir=/usr/local/cuda-12.4",
        "cuda>=12.4 brand=tesla,driver>=470,driver<471",
        "2026-11-21 04:05:06.789",
        "123456789012345678901234567890",
        "/nix/store/0c5w9l2jv8v1n3rz6k4q7d2p8s1x5y3b-libcuda/lib",
        "libcudart-0a1b2c3d.so.12.4.127",
        "GPU-00000000-0000-0000-0000-000000000000",
    ],
)
def test_what_is_no_identifier_stays(text: str) -> None:
    assert through(text) == text


def test_a_version_of_four_numbers_that_a_package_has_is_no_address() -> None:
    assert through("10.3.7.77") != "10.3.7.77"
    facts = with_(healthy(), tensorflow__build__cudnn_version="10.3.7.77")
    _, leaves = given(with_variable(facts, "NCCL_TEXT", "found 10.3.7.77"))
    assert leaves.facts.environment.get("NCCL_TEXT") == "found 10.3.7.77"


@pytest.mark.parametrize("name", ["python", "gpu", "test", "tensorflow", "lib", "o"])
def test_a_user_with_an_ordinary_name(name: str) -> None:
    identity = Identity(users=(name,), homes=(f"/home/{name}",))
    text = f"/home/{name}/lib/python3/site-packages/tensorflow/test gpu {name} {name}@example"
    made = bundle.make(with_variable(with_variable(healthy(), "NCCL_TEXT", text), "SUDO_USER", name), "now")
    value = redact.report(made, identity, key=KEY).facts.environment
    token = Tokens(KEY).of("user", name)
    assert str(value.get("NCCL_TEXT")).startswith(
        f"/home/{token}/lib/python3/site-packages/tensorflow/test gpu {name} {token}@host-"
    )
    assert value.get("SUDO_USER") == token
    again = redact.report(made, identity, key=KEY).facts
    assert again.tensorflow == made.facts.tensorflow
    assert again.python == made.facts.python


def test_a_distinctive_user_is_replaced_everywhere() -> None:
    identity = Identity(users=("secretname",))
    token = Tokens(KEY).of("user", "secretname")
    assert through("/scratch/secretname/x secretname_env", identity) == f"/scratch/{token}/x {token}_env"
    assert through("/opt/secretname2", identity) == "/opt/secretname2"


def test_a_home_that_is_no_home_stays() -> None:
    for home in ("/", "/root", "/opt/app", "/tmp/x", "/nonexistent"):
        assert through("/opt/app/lib:/tmp/x:/root:/usr", Identity(users=("root",), homes=(home,))) == (
            "/opt/app/lib:/tmp/x:/root:/usr"
        )
    token = Tokens(KEY).of("user", "al01")
    assert through("/gpfs/u/al01/lib", Identity(homes=("/gpfs/u/al01",))) == f"/gpfs/u/{token}/lib"


def test_a_host_alone_and_in_its_full_name() -> None:
    host, domain = Tokens(KEY).of("host", "node7"), Tokens(KEY).of("domain", "corp.example")
    assert through("Node7.corp.example node7", Identity(hosts=("node7",))) == f"{host}.{domain} {host}"


@pytest.mark.parametrize(
    ("name", "value"), [("JUPYTERHUB_SERVER_NAME", "gina-lab"), ("NCCL_HOSTID", "judynode1"), ("NCCL_HOSTID", "gpu2")]
)
def test_variables_that_name_a_user_or_a_host(name: str, value: str) -> None:
    assert value not in through(value, name=name)


@pytest.mark.parametrize(
    ("command", "leaves"),
    [
        ("sshpass -p hunter2secret ssh -p 2222 alice@gpubox7 python3", "--in sshpass {} python3"),
        ("docker run --rm -i -e DB_PASSWORD=correcthorsebattery corp/img python3", "--in docker {} python3"),
        ("docker exec -i alice-notebook python3", "--in docker {} python3"),
        ("kubectl --token abcdefghij exec -i trainer-0 -- python3.11", "--in kubectl {} python3.11"),
        ("srun -A physics42 -w dgx07 /opt/venv/bin/python", "--in srun {} /opt/venv/bin/python"),
        ("sh -c 'PASSWORD=abc exec python3 -'", "--in sh {}"),
        ("ssh h python3", "--in ssh {} python3"),
        ("/usr/bin/python3", "--in /usr/bin/python3"),
    ],
)
def test_of_the_command_that_leads_there_its_ends_leave(command: str, leaves: str) -> None:
    facts = with_(healthy(), python__chosen_because=f"--in {command}", tensorflow__directory=None)
    _, redacted = given(facts)
    because = redacted.facts.python.chosen_because
    assert isinstance(because, str)
    pattern = re.escape(leaves).replace(r"\{\}", "['\"]?secret[- ][0-9a-f]+['\"]?")
    assert re.fullmatch(pattern, because)
    (finding,) = (f for f in redacted.findings if f.cause == "tf-not-installed")
    assert because in finding.proof[0].source


def test_a_host_with_an_ordinary_name_is_replaced_where_it_is_a_host() -> None:
    host = Tokens(KEY).of("host", "gpu2")
    identity = Identity(hosts=("gpu2",))
    assert through("gpu2 is hot", identity) == "gpu2 is hot"
    assert through("me@gpu2 gpu2:2222", identity).endswith(f"@{host} {host}:2222")
    assert through("gpu2,gpu3", identity, "SLURM_JOB_NODELIST").startswith(f"{host},host-")


def test_a_host_that_is_called_as_a_check_leaves_the_check_its_name() -> None:
    facts = with_(healthy(), system__hostname="colab")
    redactor = Redactor(facts, redact.recorded(facts), KEY)
    made = bundle.make(facts, "2026-11-22T00:00:00+00:00")
    skipped = redactor.tree(made.skipped)
    assert [(s.code, s.cause) for s in skipped] == [(s.code, s.cause) for s in made.skipped]
    assert "colab-cpu-runtime" in [s.cause for s in skipped]
    ruled_out = redactor.tree(made.diagnosis.ruled_out)
    assert [(r.code, r.cause, r.title) for r in ruled_out] == [
        (r.code, r.cause, r.title) for r in made.diagnosis.ruled_out
    ]
    assert "colab" not in redactor.tree("on colab it fails")


def test_node_lists_keep_their_numbers() -> None:
    assert through("dgx[01-04],login1", name="SLURM_JOB_NODELIST").count("[01-04],host-") == 1


def test_settings_and_changed_variables_are_variables() -> None:
    secret = "Zk3v9QpX7wLm2Rt8Yb5N"
    changed = (VariableNow(name="NCCL_TEXT", value=secret), VariableNow(name="NCCL_DEBUG", value=None))
    settings = (NcclSetting(name="NCCL_COMM_ID", value="node8:4242"),)
    files = (NcclFile(path="/etc/nccl.conf", exists=True, settings=settings),)
    _, leaves = given(with_(healthy(), environment__changed=changed, nccl__files=files))
    text = as_json.render(leaves)
    assert secret not in text
    assert "node8" not in text


# ------------------------------------------------------------------------------- tokens


def test_tokens_are_stable_under_one_key_and_differ_under_another() -> None:
    assert Tokens(KEY).of("user", "alice") == Tokens(KEY).of("user", "alice")
    assert Tokens(KEY).of("user", "alice") != Tokens(b"other").of("user", "alice")
    assert Tokens(KEY).of("user", "alice")[4:] != Tokens(KEY).of("host", "alice")[4:]
    assert redact.machine_key() == redact.machine_key()


def test_two_values_never_share_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens(KEY)
    monkeypatch.setattr(tokens, "_digest", lambda _, value: "aaaaaa" + value * 9)
    assert len({tokens.of("user", v) for v in "abc"}) == 3


def test_what_begins_alike_begins_alike_afterwards() -> None:
    tokens = Tokens(KEY)
    one, other = (tokens.uuid(u.removeprefix("GPU-")) for u in UUIDS)
    assert one[:5] == other[:5]
    assert one[5] != other[5]
    assert [tokens.uuid(UUIDS[0][4 : 4 + n]) for n in range(1, 36)] == [one[:n] for n in range(1, 36)]


def test_the_list_tells_token_kind_and_count_and_no_original() -> None:
    _, leaves = given(with_variable(healthy(), "NCCL_TEXT", "/home/alice/a:/home/alice/b:bob@corp.example"))
    assert leaves.redactions is not None
    listed = {(r.kind, r.count) for r in leaves.redactions if r.kind in ("home", "email")}
    assert listed == {("home", 2), ("email", 1)}
    assert not any("alice" in r.token or "bob" in r.token for r in leaves.redactions)


def test_what_is_redacted_is_not_redacted_twice() -> None:
    _, leaves = given(identifying(gap()))
    assert redact.report(leaves, Identity(users=("lib",)), key=b"other") == leaves


def test_a_check_that_goes_by_a_name_has_said_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_name(facts: Facts) -> Iterator[Found]:
        """Somebody is called alice."""
        if "alice" in str(facts.environment.known("NCCL_TEXT")):
            yield Found(message="/home/alice is hers")

    checks = (Check("GD999", "by-name", Stage.USE, Level.FAIL, (), None, by_name),)
    made = bundle.make(with_variable(healthy(), "NCCL_TEXT", "/home/alice"), "now", checks)
    leaves = redact.report(made, Identity(), checks, key=KEY)
    (finding,) = leaves.findings
    assert finding.message == f"/home/{Tokens(KEY).of('user', 'alice')} is hers"
    assert leaves.diagnosis.verdict == "faulty"


def test_what_checks_say_is_what_was_said_with_tokens() -> None:
    facts = identifying(gap())
    made, leaves = given(facts)
    tokens = Redactor(facts, Identity(), KEY)
    assert tokens.tree(made.findings) == leaves.findings
    assert tokens.tree(made.diagnosis) == leaves.diagnosis


# ------------------------------------------------------------------------------- the command

CHECK = ("check", "--level", "quick", "--no-trials", "--python", sys.executable)


def test_nothing_of_a_real_run_names_its_user_or_its_machine(tmp_path: Path) -> None:
    lib = tmp_path / "home" / "otherperson" / "lib"
    lib.mkdir(parents=True)
    env = {
        "HOME": "/home/secretname",
        "USER": "secretname",
        "SUDO_USER": "secretname",
        "PYTHONPATH": "/home/secretname/code",
        "LD_LIBRARY_PATH": f"{lib}:/scratch/secretname/lib",
        "CUDA_VISIBLE_DEVICES": UUIDS[0][:12],
        "NCCL_COMM_ID": "10.20.30.40:1",
        "TF_CONFIG": '{"cluster": {"worker": ["node7.cluster.corp.example:2222", "node8:2222"]}}',
        "NCCL_TEST": f"{AWS} [fd00:1234::17]:22 52:54:00:ab:cd:ef http://me:hunter2@node7",
    }
    prefix: tuple[str, ...] = ()
    if shutil.which("unshare") and _can_rename():
        prefix = ("unshare", "-Ur", "--uts", "sh", "-c", 'hostname node7 && exec "$@"', "sh")
    done = gpudoctor(*CHECK, "--format", "json", env=env, prefix=prefix)
    assert done.returncode in (0, 1, 3), done.stderr
    assert [o for o in ORIGINALS if o in done.stdout] == []
    machine_id = Path("/etc/machine-id")
    assert not machine_id.exists() or machine_id.read_text().strip() not in (done.stdout.strip() or "x")
    kinds = {r["kind"] for r in printed(done)["redactions"]}
    assert kinds >= {"home", "user", "host", "domain", "address", "mac", "gpu-uuid", "secret"}

    kept = gpudoctor(*CHECK, "--format", "json", "--no-redact", env=env, prefix=prefix)
    assert printed(kept)["redactions"] is None
    for one in ("/scratch/secretname/lib", "10.20.30.40", UUIDS[0][:12], AWS):
        assert one in kept.stdout
    assert causes(printed(kept)) == causes(printed(done))
    file = tmp_path / "kept.json"
    file.write_text(kept.stdout)
    replayed = gpudoctor("replay", str(file), "--format", "json")
    assert [o for o in ORIGINALS if o in replayed.stdout] == []
    assert causes(printed(replayed)) == causes(printed(done))
    assert printed(gpudoctor("replay", str(file), "--format", "json", "--no-redact"))["facts"] == printed(kept)["facts"]
    file.write_text(done.stdout)
    assert gpudoctor("replay", str(file), "--format", "json").stdout == done.stdout


def _can_rename() -> bool:
    return (
        subprocess.run(["unshare", "-Ur", "--uts", "hostname", "node7"], capture_output=True, check=False).returncode
        == 0
    )


def test_two_reports_of_one_machine_compare() -> None:
    env = {"HOME": "/home/secretname", "LD_LIBRARY_PATH": "/home/secretname/lib"}
    one, other = (printed(gpudoctor(*CHECK, "--format", "json", env=env)) for _ in range(2))
    assert one["facts"]["environment"] == other["facts"]["environment"]
    assert "user-" in json.dumps(one["facts"]["environment"])


def test_text_stays_as_it_is() -> None:
    env = {"HOME": "/home/secretname", "CUDA_VISIBLE_DEVICES": "-1", "LD_LIBRARY_PATH": "/home/secretname/lib"}
    done = gpudoctor(*CHECK, "-v", env={**os.environ, **env})
    assert "user-" not in done.stdout


def test_facts_that_nobody_recorded_are_not_written() -> None:
    path = HOSTS / "h200-x2-healthy.json"
    leaves = as_json.render(api.redacted(api.replay(path), here=False))
    assert leaves.count("not recorded") == as_json.render(api.replay(path)).count("not recorded")


def test_an_old_report_is_read() -> None:
    path = HOSTS / "h200-x2-tf-2.21-plain.json"
    assert "redactions" not in json.loads(path.read_text())
    report = api.redacted(api.replay(path), here=False)
    assert report.redactions is not None
    assert answer(report) == answer(api.replay(path))


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ('{"cluster": {"worker": ["node7:2222", "gpu_box_3:2222"]', ("node7", "gpu_box_3")),
        ('{"cluster": {"worker": {"0": "node7:2222"}, "ps": "node8"}}', ("node7", "node8")),
        ('{"cluster": ["node7.train.svc:2222"]}', ("node7",)),
        ('{"cluster": {"worker": ["node7", "node8.rack.zone"]}}', ("node7", "node8")),
    ],
)
def test_hosts_of_a_tf_config_of_any_shape(text: str, hosts: tuple[str, ...]) -> None:
    """They are replaced in the variable, and where its facts and findings name them."""
    facts = with_(with_variable(healthy(), "TF_CONFIG", text), cluster__tf_config=parse(text, {}, []))
    leaves = redact.report(bundle.make(facts, "now"), Identity(), key=KEY)
    shown = as_json.render(leaves)
    assert [h for h in hosts if h in shown] == []


def test_tasks_of_tf_config_stay_tasks() -> None:
    """Equal hosts stay equal, an address keeps its port, and the diagnosis is the same."""
    text = '{"cluster": {"worker": ["node7:2222", "node8:2222"]}, "task": {"type": "worker", "index": 0}}'
    told = {
        "node7:2222": {"resolved": ["10.20.30.40"], "here": True, "connection": None, "proxy": None},
        "node8:2222": {"resolved": ["10.20.30.41"], "here": False, "connection": "timed out", "proxy": None},
    }
    facts = with_(with_variable(healthy(), "TF_CONFIG", text), cluster__tf_config=parse(text, told, []))
    leaves = redact.report(bundle.make(facts, "now"), Identity(), key=KEY)
    assert [r.cause for r in leaves.diagnosis.root_causes] == ["tf-config-address-unreachable"]
    config = leaves.facts.cluster.tf_config
    assert isinstance(config, TfConfig)
    assert [t.port for t in config.tasks] == [2222, 2222]
    assert len({t.host for t in config.tasks}) == 2
    shown = as_json.render(leaves)
    assert [one for one in ("node7", "node8", "10.20.30.4") if one in shown] == []
