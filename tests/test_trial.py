"""Fixes tried in a throw-away view: real loader, stub libraries, fake libcuda. Nothing of the machine changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gpudoctor import trial
from gpudoctor.diagnosis import COMBINED, judge
from gpudoctor.facts import (
    ALL_REDUCE,
    Environment,
    Facts,
    Libcuda,
    Libraries,
    LibraryFile,
    NcclFile,
    NcclSetting,
    System,
    Unread,
    Variable,
)
from gpudoctor.findings import EnvChange, LinkChange
from gpudoctor.probes import libraries, python
from gpudoctor.probes.ask import Patient
from gpudoctor.registry import all_checks
from tests.building import Workshop, put
from tests.factory import healthy, reduced, with_, with_variable
from tests.probes.test_tensorflow import look, site

__all__ = ["site"]


@pytest.fixture
def libcuda(workshop: Workshop, tmp_path: Path) -> str:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    return str(tmp_path / "driver")


def examined(place: Path, **env: str) -> tuple[Facts, Patient]:
    """The facts that a trial needs, of TensorFlow in `place`."""
    base = {**os.environ, "PYTHONPATH": str(place), **env}
    patient = Patient((sys.executable,), base)
    seen, interpreter = look(place, 30, **env)
    answers = patient.ask([python.TASK, libraries.TASK], limit_s=20)
    unread = Unread(why="not imported")
    return (
        Facts(
            environment=Environment(variables=tuple(Variable(name=k, value=v) for k, v in env.items())),
            system=System(system="Linux", machine="x86_64", container=None, wsl=False, tegra=False),
            python=interpreter,
            libraries=libraries.read(answers),
            tensorflow=msgspec.structs.replace(seen, import_error=unread, devices=unread),
        ),
        patient,
    )


def tried(facts: Facts, patient: Patient) -> Facts:
    return trial.try_fixes(facts, patient, all_checks(), 30)


def tree(place: Path) -> list[tuple[str, int, int]]:
    return sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in place.rglob("*"))


def test_both_fixes_of_the_defect_work(site: Path) -> None:
    facts, patient = examined(site)
    before = tree(site)
    facts = tried(facts, patient)
    assert tree(site) == before
    (root,) = judge(facts).diagnosis.root_causes
    assert root.cause == "tf-wheel-runpath-gap"
    assert [f.kind for f in root.fixes] == ["env", "link"]
    for fix in root.fixes:
        assert fix.trial is not None
        assert fix.trial.worked is True
        assert str(fix.trial.outcome).startswith("TensorFlow's loader then opens all 7 libraries")
        assert fix.trial.judged_by == "loader"


def test_pasting_either_fix_mends_it(site: Path) -> None:
    facts, _ = examined(site)
    env, link = judge(facts).diagnosis.root_causes[0].fixes
    os.system("; ".join(link.steps))
    assert look(site)[0].loader_ok is True
    Path(link.links[0].link).unlink()
    assert look(site)[0].loader_ok is False
    assert look(site, LD_LIBRARY_PATH=env.env[0].value)[0].loader_ok is True


def test_a_fix_that_is_not_enough_is_seen_to_fail(site: Path) -> None:
    (site / "nvidia/nvjitlink/lib/libnvJitLink.so.12").unlink()
    facts, patient = examined(site)
    facts = tried(facts, patient)
    roots = {r.cause: r for r in judge(facts).diagnosis.root_causes}
    assert set(roots) == {"cuda-libs-missing", "tf-wheel-runpath-gap"}
    for fix in roots["tf-wheel-runpath-gap"].fixes:
        assert fix.trial is not None
        assert fix.trial.worked is False
        assert "libcusolver.so.11" in str(fix.trial.outcome)


def test_a_fix_for_one_of_two_libraries_is_judged_by_its_own(site: Path) -> None:
    (site / "nvidia/cufft/lib/libcufft.so.11").unlink()
    facts, patient = examined(site)
    fixes = {r.cause: r for r in judge(tried(facts, patient)).diagnosis.root_causes}["tf-wheel-runpath-gap"].fixes
    for fix in fixes:
        assert fix.trial is not None
        assert fix.trial.worked is True
        assert "opens libcusolver.so.11" in str(fix.trial.outcome)
        assert "libcufft.so.11" in str(fix.trial.outcome)


def test_two_causes_are_tried_one_on_top_of_the_other_and_together(site: Path, libcuda: str) -> None:
    env = {"LD_LIBRARY_PATH": libcuda, "FAKE_CUDA_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "-1"}
    facts, patient = examined(site, **env)
    facts = msgspec.structs.replace(
        facts,
        driver=msgspec.structs.replace(facts.driver, libcuda=Libcuda(path=f"{libcuda}/libcuda.so.1", init_result=100)),
    )
    facts = tried(facts, patient)
    diagnosis = judge(facts).diagnosis
    hidden, gap = diagnosis.root_causes
    assert (hidden.cause, gap.cause) == ("cuda-visible-devices-empty", "tf-wheel-runpath-gap")
    first = hidden.fixes[0].trial
    assert first is not None
    assert first.worked is True
    assert str(first.outcome).startswith("cuInit then answers 0 and finds 2 GPUs")
    second = gap.fixes[0].trial
    assert second is not None
    assert second.with_causes == ("cuda-visible-devices-empty",)
    assert second.worked is True
    combined = diagnosis.combined_fix
    assert combined is not None
    assert combined.trial is not None
    assert combined.trial.cause == COMBINED
    assert isinstance(combined.trial.worked, Unread)  # the loader opens all, a fake driver lists nothing
    assert "opens all 7 libraries" in str(combined.trial.outcome)
    again = tried(facts, patient)
    assert again.trials == facts.trials


def test_a_wrong_fix_of_a_variable_is_seen_to_fail(site: Path, libcuda: str) -> None:
    env = {"LD_LIBRARY_PATH": libcuda, "FAKE_CUDA_INIT": "999", "FAKE_CUDA_DEVICES": "2", "CUDA_VISIBLE_DEVICES": ""}
    facts, patient = examined(site, **env)
    facts = tried(facts, patient)
    fix = next(r for r in judge(facts).diagnosis.root_causes if r.cause == "cuda-visible-devices-empty").fixes[0]
    assert fix.trial is not None
    assert fix.trial.worked is False
    assert fix.trial.outcome == "cuInit then answers 999"


def test_where_another_cause_stands_in_the_way_a_trial_is_undecided(site: Path, libcuda: str) -> None:
    env = {"LD_LIBRARY_PATH": libcuda, "FAKE_CUDA_INIT": "100", "FAKE_CUDA_DEVICES": "2", "CUDA_VISIBLE_DEVICES": ""}
    facts, patient = examined(site, **env)
    nodes = healthy().driver.nodes
    assert isinstance(nodes, tuple)
    refused = tuple(msgspec.structs.replace(n, open_errno=13) for n in nodes)
    facts = msgspec.structs.replace(
        facts, driver=msgspec.structs.replace(facts.driver, nodes=refused, libcuda=Libcuda(init_result=100))
    )
    roots = {r.cause: r for r in judge(tried(facts, patient)).diagnosis.root_causes}
    assert {"device-node-permission", "cuda-visible-devices-empty"} <= set(roots)
    made = roots["cuda-visible-devices-empty"].fixes[0].trial
    assert made is not None
    assert isinstance(made.worked, Unread)
    assert "device-node-permission stands in the way" in made.worked.why


def test_a_driver_that_hangs_does_not_hang_a_trial(site: Path, libcuda: str) -> None:
    facts, patient = examined(site, LD_LIBRARY_PATH=libcuda, FAKE_CUDA_INIT="hang", CUDA_VISIBLE_DEVICES="")
    facts = trial.try_fixes(facts, patient, all_checks(), 2)
    fix = next(r for r in judge(facts).diagnosis.root_causes if r.cause == "cuda-visible-devices-empty").fixes[0]
    assert fix.trial is not None
    assert fix.trial.outcome == "cuInit then gives no answer"


def test_no_place_for_a_shadow(site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    facts, patient = examined(site)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    outcome = {f.kind: f.trial for f in judge(tried(facts, patient)).diagnosis.root_causes[0].fixes}
    assert outcome["env"] is not None
    assert outcome["env"].worked is True
    assert outcome["link"] is not None
    assert "no shadow could be made" in str(outcome["link"].worked)


def test_variables() -> None:
    prepend = EnvChange(name="A", op="prepend", value="/new")
    assert trial.apply({"A": "/old"}, [prepend]) == {"A": "/new:/old"}
    assert trial.apply({"A": ""}, [prepend]) == {"A": "/new"}
    assert trial.apply({}, [prepend]) == {"A": "/new"}
    assert trial.apply({"A": "1"}, [EnvChange(name="A", op="unset")]) == {}
    assert trial.apply({"A": "1"}, [EnvChange(name="A", op="set", value="2")]) == {"A": "2"}
    assert trial.apply({}, [EnvChange(name="A", op="unset")]) == {}


def test_the_shadow_is_real_directories_and_file_links(site: Path) -> None:
    (site / "nvidia/cudnn/lib/libcudnn_ops.so.9").symlink_to("libcudnn.so.9")
    change = LinkChange(link=str(site / "nvidia/nccl/lib/libx.so"), target="../../cufft/lib/libcufft.so.11")
    with trial.shadow(str(site / "tensorflow"), [change]) as directory:
        place = Path(directory).parent
        assert (place / "nvidia/nccl/lib").is_dir()
        assert not (place / "nvidia/nccl/lib").is_symlink()
        assert (place / "nvidia/nccl/lib/libx.so").resolve() == site / "nvidia/cufft/lib/libcufft.so.11"
        assert (place / "nvidia/cudnn/lib/libcudnn_ops.so.9").readlink() == Path("libcudnn.so.9")
        assert (Path(directory) / "libtensorflow_framework.so.2").is_symlink()
    assert not place.exists()
    outside = LinkChange(link="/etc/libx.so", target="x")
    with pytest.raises(OSError, match="outside"), trial.shadow(str(site / "tensorflow"), [outside]):
        pass


def test_facts_without_a_tensorflow_try_nothing_with_libraries() -> None:
    facts = Facts(libraries=Libraries(files=(LibraryFile(name="x", path="/x", kind="wheel"),)))
    assert tried(facts, Patient((sys.executable,), os.environ)).trials == ()


def test_a_long_search_path_loses_nothing(site: Path) -> None:
    (site / "nvidia/cufft/lib/libcufft.so.11").unlink()
    many = [site / ("x" * (120 - len(str(site)))) / f"{i:03}" for i in range(900)]
    for directory in many:  # glibc looks once only where there is none
        directory.mkdir(parents=True)
    facts, patient = examined(site, LD_LIBRARY_PATH=":".join(str(d) for d in many))
    for fix in {r.cause: r for r in judge(tried(facts, patient)).diagnosis.root_causes}["tf-wheel-runpath-gap"].fixes:
        assert fix.trial is not None
        assert "it still can't open libcufft.so.11" in str(fix.trial.outcome)


NOWHERE = Patient(("/nowhere/python3",), {})


def test_what_only_a_measurement_can_judge_is_not_tried_without_one() -> None:
    facts = with_variable(with_(healthy(), measurements=()), "NCCL_P2P_DISABLE", "1")
    after = trial.try_fixes(facts, NOWHERE, all_checks())
    assert after.trials == ()
    assert [r.cause for r in judge(after).diagnosis.root_causes] == ["nccl-p2p-disabled-by-env"]
    several = with_variable(facts, "NCCL_MAX_NCHANNELS", "1")
    assert trial.try_fixes(several, NOWHERE, all_checks()).trials == ()
    interface = with_variable(healthy(), "NCCL_SOCKET_IFNAME", "eth9")  # which all-reduce on one machine does not use
    assert trial.try_fixes(interface, NOWHERE, all_checks()).trials == ()


# ----------------------------------------------------------------------------- settings of NCCL


@pytest.fixture
def crawling(workshop: Workshop, libcuda: str, tmp_path: Path) -> Callable[..., tuple[Facts, Patient]]:
    """Two fake GPUs, and a fake NCCL that `settings` make slow; with what was measured then."""
    put(workshop.fake("libnccl.c", "libnccl.so.2"), tmp_path / "wheels/nvidia/nccl/lib", "libnccl.so.2")

    def make(rate: float, way: str, channels: int = 24, /, **settings: str) -> tuple[Facts, Patient]:
        facts = healthy()
        for name, value in settings.items():
            facts = with_variable(facts, name, value)
        small = tuple(
            msgspec.structs.replace(m, size=(16 << 20,)) if m.kernel == ALL_REDUCE else m for m in facts.measurements
        )
        facts = reduced(with_(facts, measurements=small), rate, way, channels)
        env = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": libcuda,
            "PYTHONPATH": f"{tmp_path}/wheels",
            "KERAS_HOME": str(tmp_path),
            "FAKE_CUDA_DEVICES": "2",
            "FAKE_CUDA_GB_PER_S": "gpu0=50",
            "FAKE_NCCL_BUSBW": "284",
            "FAKE_NCCL_BUSBW_SHM": "26.3",
            "FAKE_NCCL_BUSBW_NET": "2.9",
            "FAKE_NCCL_BUSBW_ONE": "20.3",
        }
        return facts, Patient((sys.executable,), {**env, **settings})

    return make


Crawling = Callable[..., tuple[Facts, Patient]]


def test_the_speed_comes_back_without_the_variable(crawling: Crawling) -> None:
    facts, patient = crawling(26.3, "SHM/direct/direct", NCCL_P2P_DISABLE="1")
    facts = tried(facts, patient)
    (root,) = judge(facts).diagnosis.root_causes
    made = root.fixes[0].trial
    assert made is not None
    assert (root.cause, made.worked, made.judged_by) == ("nccl-p2p-disabled-by-env", True, "all-reduce")
    assert made.outcome == "all-reduce then reaches 284 GB/s through P2P/direct instead of 26.3"
    assert tried(facts, patient).trials == facts.trials


def test_two_settings_are_taken_back_one_on_top_of_the_other_and_together(crawling: Crawling) -> None:
    off = {"NCCL_P2P_DISABLE": "1", "NCCL_MAX_NCHANNELS": "1"}
    facts, patient = crawling(20.3, "SHM/direct/direct", 1, **off)
    facts = tried(facts, patient)
    diagnosis = judge(facts).diagnosis
    assert [r.cause for r in diagnosis.root_causes] == ["nccl-p2p-disabled-by-env", "nccl-channels-limited"]
    first, second = (r.fixes[0].trial for r in diagnosis.root_causes)
    assert first is not None
    assert second is not None
    assert isinstance(first.worked, Unread)
    assert "nccl-channels-limited stands in the way as well" in first.worked.why
    assert second.outcome == "all-reduce then reaches 26.3 GB/s through SHM/direct/direct instead of 20.3"
    combined = diagnosis.combined_fix
    assert combined is not None
    assert combined.steps == ("unset NCCL_P2P_DISABLE", "unset NCCL_MAX_NCHANNELS")
    assert combined.trial is not None
    assert (combined.trial.worked, combined.trial.judged_by) == (True, "all-reduce")
    assert "then reaches 284 GB/s through P2P/direct" in str(combined.trial.outcome)


def test_a_variable_that_is_not_the_cause_is_seen_to_fail(crawling: Crawling) -> None:
    facts, patient = crawling(26.0, "P2P/CUMEM", NCCL_BUFFSIZE="4194304")
    slow = Patient(patient.command, {**patient.env, "FAKE_NCCL_BUSBW": "26"})
    (root,) = judge(tried(facts, slow)).diagnosis.root_causes
    assert root.cause == "nccl-tuning-forced"
    assert root.fixes[0].trial is not None
    assert root.fixes[0].trial.worked is False


def test_a_file_is_overruled(crawling: Crawling) -> None:
    facts, patient = crawling(20.3, "P2P/CUMEM", 1)
    one = NcclSetting(name="NCCL_MAX_NCHANNELS", value="1", file="/etc/nccl.conf", line=1)
    facts = with_(facts, nccl__files=(NcclFile(path="/etc/nccl.conf", exists=True, settings=(one,)),))
    (root,) = judge(tried(facts, patient)).diagnosis.root_causes
    now, later = root.fixes
    assert now.steps == ("export NCCL_MAX_NCHANNELS=",)
    assert now.trial is not None
    assert now.trial.worked is True
    assert (later.kind, later.trial) == ("advice", None)


def test_an_all_reduce_that_does_not_run_again_decides_nothing(crawling: Crawling) -> None:
    facts, patient = crawling(26.3, "SHM/direct/direct", NCCL_P2P_DISABLE="1")
    for broken in ("error", "wrong", "init"):
        ill = Patient(patient.command, {**patient.env, "FAKE_NCCL": broken})
        made = judge(tried(facts, ill)).diagnosis.root_causes[0].fixes[0].trial
        assert made is not None
        assert (made.worked is False) if broken == "wrong" else isinstance(made.worked, Unread)
    gone = trial.try_fixes(facts, NOWHERE, all_checks()).trials[0]
    assert isinstance(gone.worked, Unread)
