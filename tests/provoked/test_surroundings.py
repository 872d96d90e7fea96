"""The process and its surroundings: limits, control groups, sudo; the container or job that it runs in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from tests.provoked.case import Build, Case, prove
from tests.provoked.groups import group
from tests.provoked.scene import LIBRARIES, RELEASE, Scene
from tests.provoked.test_driver import does
from tests.provoked.test_gpus import without_gpus
from tests.provoked.test_nodes import as_a_user

DOCKER, WITHOUT = ": > /.dockerenv", "rm /dev/nvidia*"
NO_LIBRARY = f"rm {LIBRARIES}/libcuda.so.*; ldconfig"


def with_env(do: Callable[[Scene], None], **env: str) -> Callable[[Scene], None]:
    def both(machine: Scene) -> None:
        do(machine)
        machine.env |= env

    return both


def few_addresses(machine: Scene) -> None:
    machine.before = "ulimit -S -v 8000000"


def below_sudo(machine: Scene) -> None:
    machine.do(f"mkdir -p /opt/driver; mv {LIBRARIES}/libcuda.so.* /opt/driver; ldconfig")
    machine.env["LD_LIBRARY_PATH"] = "/opt/driver"
    machine.as_user = ("/usr/bin/sudo",)


def no_place_for_kernels(machine: Scene) -> None:
    as_a_user(machine)
    machine.env["HOME"] = "/nowhere"


def some_gpus(machine: Scene) -> None:
    handed_over(machine)
    machine.do("rm /dev/nvidia1")
    machine.env["NVIDIA_VISIBLE_DEVICES"] = "0"


SPEC = """kind: nvidia.com/gpu
containerEdits:
  mounts:
    - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15
"""


def on_one_processor(machine: Scene) -> None:
    machine.before = "taskset -pc 0 $$ >/dev/null"


CASES = (
    Case("address-space-limit", "ulimit -v", few_addresses),
    Case("sudo-stripped-environment", "a sudo that drops LD_LIBRARY_PATH, where libcuda is", below_sudo),
    Case("jit-cache-unwritable", "a user whose home can't be written", no_place_for_kernels, is_note=True),
    Case("container-no-gpus-flag", "Docker's file, no nodes, no libcuda", does(DOCKER, WITHOUT, NO_LIBRARY)),
    Case("container-visible-devices-wrong", "the same with NVIDIA_VISIBLE_DEVICES=void",
         with_env(does(DOCKER, WITHOUT, NO_LIBRARY), NVIDIA_VISIBLE_DEVICES="void")),
    Case("container-capabilities-without-compute", "Docker's file, nodes, no libcuda, NVIDIA_DRIVER_CAPABILITIES=utility",
         with_env(does(DOCKER, NO_LIBRARY), NVIDIA_DRIVER_CAPABILITIES="utility")),
    Case("apptainer-no-nv", "Apptainer's directory and variable, no libcuda", with_env(does("mkdir /.singularity.d", NO_LIBRARY), APPTAINER_CONTAINER="/x.sif")),
    Case("colab-cpu-runtime", "Colab's variable, no GPU on the bus", with_env(without_gpus(None), COLAB_RELEASE_TAG="release-colab_20260101")),
    Case("slurm-no-gpu-allocated", "a job's variable, no GPU on the bus", with_env(without_gpus(None), SLURM_JOB_ID="7"), elsewhere=True),
    Case("nccl-shm-disabled-by-env", "NCCL_SHM_DISABLE=1, and GPUs that don't reach each other",
         with_env(does(":"), NCCL_SHM_DISABLE="1", FAKE_CUDA_P2P="none"), is_note=True),
    *(
        Case(cause, f"{name}={value}", with_env(does(":"), **{name: value}), is_note=True)
        for cause, name, value in (
            ("nccl-p2p-disabled-by-env", "NCCL_P2P_DISABLE", "1"),
            ("nccl-channels-limited", "NCCL_MAX_NCHANNELS", "1"),
            ("nccl-wrong-interface", "NCCL_SOCKET_IFNAME", "eth9"),
            ("tf32-off", "NVIDIA_TF32_OVERRIDE", "0"),
        )
    ),
    Case("cpu-affinity-narrow", "taskset leaves one of the machine's processors, for two GPUs", on_one_processor, elsewhere=True),
    Case("container-has-some-gpus", "Docker's file, NVIDIA_VISIBLE_DEVICES=0 and one node of two", some_gpus, is_note=True),
    Case("cdi-spec-stale", "a CDI specification that names files of an older driver", lambda machine: machine.put("/etc/cdi/nvidia.yaml", SPEC)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)


def handed_over(machine: Scene) -> None:
    """As the container toolkit does it: the driver's file is a mount."""
    file = f"{LIBRARIES}/libcuda.so.{RELEASE}"
    machine.do(f"{DOCKER}; mount --bind {file} {file}")


def in_a_job(machine: Scene) -> None:
    machine.env["SLURM_JOB_ID"] = "7"


BY_RULES = (
    Case("container-cgroup-devices-lost", "a real control group that may not open the nodes", handed_over),
    Case("slurm-no-gpu-allocated", "a job's variable, and a control group that may not open the nodes", in_a_job),
)


@pytest.mark.parametrize("case", BY_RULES, ids=str)
def test_device_rules_of_a_control_group(case: Case, build: Build) -> None:
    with group("devices", {"devices.deny": "c 1:5 rwm"}, None) as enter:
        prove(_inside(case, enter), build)


def hungry(machine: Scene) -> None:
    """An import that takes more memory than the group has."""
    (machine.site / "tensorflow/__init__.py").write_text("held = [bytearray(b'x' * (64 << 20)) for _ in range(40)]\n")


LIMITED = (
    (Case("cgroup-cpu-quota", "a real control group with half a processor", lambda machine: None, is_note=True), "cpu",
     {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}, {"cpu.max": "50000 100000"}),
    (Case("cgroup-memory-limit", "a real control group with 800 MB, and an import that takes more", hungry, level="standard", arguments=("--no-kernels",)), "memory",
     {"memory.limit_in_bytes": str(800 << 20), "memory.swappiness": "0"}, {"memory.max": str(800 << 20), "memory.swap.max": "0"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "controller", "one", "two"), LIMITED, ids=lambda v: str(v) if isinstance(v, Case) else ""
)
def test_limits_of_a_control_group(
    case: Case, controller: str, one: dict[str, str], two: dict[str, str], build: Build
) -> None:
    with group(controller, one, two) as enter:
        prove(_inside(case, enter), build)


def _inside(case: Case, enter: str) -> Case:
    def do(machine: Scene) -> None:
        case.do(machine)
        machine.before = enter

    return dataclasses.replace(case, do=do)
