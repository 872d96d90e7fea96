from __future__ import annotations

import errno

import pytest

from gpudoctor.facts import DeviceNode, Facts, Unread
from tests.factory import cu_init, found, healthy, lists_no_gpu, outcome, roots, with_, with_variable

NODES = tuple(
    DeviceNode(path=p, exists=True, open_errno=None) for p in ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0")
)
ABSENT = (DeviceNode(path="/dev/nvidiactl", exists=False, open_errno=Unread(why="it does not exist")),)


def without_libcuda(facts: Facts, **more: object) -> Facts:
    gone = Unread(why="no libcuda")
    return lists_no_gpu(
        with_(
            facts,
            driver__libcuda__path=None,
            driver__libcuda__load_error="cannot open shared object file",
            driver__libcuda__candidates=(),
            driver__libcuda__init_result=gone,
            driver__libcuda__devices=gone,
            driver__all_devices=gone,
            **more,
        )
    )


def no_driver(facts: Facts) -> Facts:
    """A machine without a GPU, as a cluster or Colab has many."""
    devices = facts.pci.devices
    assert isinstance(devices, tuple)
    return without_libcuda(facts, driver__kernel_version=None, driver__nodes=ABSENT, pci__devices=devices[:1])


@pytest.mark.parametrize("kind", ["apptainer", "singularity"])
def test_apptainer_no_nv(kind: str) -> None:
    facts = without_libcuda(healthy(), system__container=kind)
    assert roots(facts) == ["apptainer-no-nv"]
    assert f"{kind} exec --nv" in found(facts)["apptainer-no-nv"].fixes[0].summary


def test_the_image_is_named() -> None:
    facts = with_variable(
        without_libcuda(healthy(), system__container="apptainer"), "APPTAINER_CONTAINER", "/data/my tf.sif"
    )
    assert found(facts)["apptainer-no-nv"].fixes[0].steps == ("apptainer exec --nv '/data/my tf.sif' python3 …",)
    other = without_libcuda(healthy(), system__container="apptainer")
    assert found(other)["apptainer-no-nv"].fixes[0].steps == ("apptainer exec --nv IMAGE python3 …",)


def test_apptainer_with_a_dev_of_its_own() -> None:
    facts = cu_init(with_(healthy(), system__container="apptainer", driver__nodes=ABSENT), 100)
    assert roots(facts) == ["apptainer-no-nv"]


def test_apptainer_with_nv() -> None:
    libs = ("/.singularity.d/libs/libcuda.so.1",)
    facts = with_(healthy(), system__container="apptainer", container__driver_mounts=libs)
    assert outcome(facts, "apptainer-no-nv") == "passed"
    assert outcome(without_libcuda(facts), "apptainer-no-nv") == "passed"


def test_apptainer_where_nothing_can_be_said() -> None:
    assert outcome(healthy(), "apptainer-no-nv") == "skipped"
    inside = with_(healthy(), system__container="apptainer")
    assert outcome(with_(inside, driver__kernel_version=None), "apptainer-no-nv") == "skipped"
    assert outcome(with_(inside, container__driver_mounts=Unread(why="?")), "apptainer-no-nv") == "unknown"
    assert outcome(with_(inside, driver__nodes=Unread(why="?")), "apptainer-no-nv") == "unknown"


def job(facts: Facts, **variables: str) -> Facts:
    for name, value in {"SLURM_JOB_ID": "42", **variables}.items():
        facts = with_variable(facts, name, value)
    return facts


def test_slurm_finds_no_device() -> None:
    facts = job(cu_init(with_(healthy(), driver__all_devices=Unread(why="?")), 100))
    assert roots(facts) == ["slurm-no-gpu-allocated"]
    assert "job 42" in found(facts)["slurm-no-gpu-allocated"].message


def test_slurm_refuses_the_nodes() -> None:
    nodes = tuple(
        DeviceNode(path=p, exists=True, open_errno=errno.EPERM if p[-1].isdigit() else None)
        for p in ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1")
    )
    assert roots(job(cu_init(with_(healthy(), driver__nodes=nodes), 100))) == ["slurm-no-gpu-allocated"]


def test_slurm_on_a_machine_without_a_gpu() -> None:
    assert roots(no_driver(healthy())) == ["no-nvidia-gpu"]
    assert roots(job(no_driver(healthy()))) == ["slurm-no-gpu-allocated"]


def test_slurm_hides_by_the_variable() -> None:
    facts = cu_init(with_(healthy(), driver__all_devices=Unread(why="?")), 100)
    assert roots(job(facts, CUDA_VISIBLE_DEVICES="NoDevFiles")) == ["slurm-no-gpu-allocated"]
    assert "cuda-visible-devices-empty" in roots(job(facts, CUDA_VISIBLE_DEVICES="-1"))


@pytest.mark.parametrize(
    "variables", [{"SLURM_JOB_GPUS": "0,1"}, {"SLURM_STEP_GPUS": "0"}, {"SLURM_GPUS": "2"}, {"SLURM_GPUS_ON_NODE": "1"}]
)
def test_slurm_has_given_a_gpu(variables: dict[str, str]) -> None:
    assert outcome(job(cu_init(healthy(), 100), **variables), "slurm-no-gpu-allocated") == "passed"


def test_slurm_that_hides_nothing() -> None:
    assert outcome(job(healthy()), "slurm-no-gpu-allocated") == "passed"
    masked = cu_init(with_(healthy(), driver__all_devices=healthy().driver.libcuda.devices), 100)
    assert outcome(job(masked, CUDA_VISIBLE_DEVICES="-1"), "slurm-no-gpu-allocated") == "passed"


def test_slurm_where_nothing_can_be_said() -> None:
    assert outcome(healthy(), "slurm-no-gpu-allocated") == "skipped"
    assert outcome(job(with_(healthy(), driver__nodes=Unread(why="?"))), "slurm-no-gpu-allocated") == "unknown"
    assert outcome(with_(healthy(), environment__variables=Unread(why="?")), "slurm-no-gpu-allocated") == "unknown"


def test_colab_cpu_runtime() -> None:
    facts = with_(no_driver(healthy()), container__platforms=("colab",), system__container="docker")
    assert roots(facts) == ["colab-cpu-runtime"]
    assert "Change runtime type" in found(facts)["colab-cpu-runtime"].fixes[0].summary


def test_colab_with_a_gpu() -> None:
    assert outcome(healthy(), "colab-cpu-runtime") == "skipped"
    colab = with_(healthy(), container__platforms=("colab",))
    assert outcome(colab, "colab-cpu-runtime") == "passed"
    assert outcome(with_(colab, driver__kernel_version=None), "colab-cpu-runtime") == "passed"
    assert outcome(with_(healthy(), container__platforms=Unread(why="?")), "colab-cpu-runtime") == "unknown"
    blind = with_(colab, driver__kernel_version=None, driver__nodes=Unread(why="?"))
    assert outcome(blind, "colab-cpu-runtime") == "unknown"
