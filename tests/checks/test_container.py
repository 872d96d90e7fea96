from __future__ import annotations

import errno

import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import CdiSpec, DeviceNode, Facts, Unread
from tests.checks.test_platforms import ABSENT, NODES, without_libcuda
from tests.factory import DRIVER, cu_init, found, healthy, outcome, roots, with_, with_variable

NONE = ABSENT
CONTROL = NODES[:2]


@pytest.mark.parametrize(
    ("container", "how"), [("docker", "--gpus all"), ("kubernetes", "nvidia.com/gpu"), ("lxc", "lxc config")]
)
def test_container_no_gpus_flag(container: str, how: str) -> None:
    facts = cu_init(with_(healthy(), system__container=container, driver__nodes=NONE), 100)
    assert roots(facts) == ["container-no-gpus-flag"]
    assert how in found(facts)["container-no-gpus-flag"].fixes[0].summary


def test_without_the_library_too() -> None:
    facts = with_(
        healthy(),
        system__container="docker",
        driver__nodes=NONE,
        driver__libcuda__path=None,
        driver__libcuda__load_error="cannot open shared object file",
        driver__libcuda__candidates=(),
        driver__libcuda__init_result=Unread(why="no libcuda"),
        driver__libcuda__devices=Unread(why="no libcuda"),
    )
    assert roots(facts) == ["container-no-gpus-flag"]
    assert "neither /dev/nvidiactl nor libcuda.so.1" in found(facts)["container-no-gpus-flag"].message


def test_where_it_does_not_apply() -> None:
    bare = cu_init(with_(healthy(), driver__nodes=NONE), 100)
    assert outcome(bare, "container-no-gpus-flag") == "skipped"
    inside = with_(healthy(), system__container="docker")
    assert outcome(inside, "container-no-gpus-flag") == "passed"
    no_driver = with_(inside, driver__nodes=NONE, driver__kernel_version=None)
    assert outcome(no_driver, "container-no-gpus-flag") == "skipped"
    blind = cu_init(with_(inside, driver__nodes=Unread(why="?")), 100)
    assert outcome(blind, "container-no-gpus-flag") == "unknown"


@pytest.mark.parametrize("variable", [None, "void"])
def test_where_cuda_starts_without_nodes_nothing_is_missing(variable: str | None) -> None:
    """Containers on Jetson, and sandboxes that bring nodes of their own."""
    facts = with_(healthy(), system__container="docker", driver__nodes=NONE)
    facts = with_variable(facts, "NVIDIA_VISIBLE_DEVICES", variable) if variable else facts
    judged = judge(facts)
    assert (judged.diagnosis.verdict, judged.findings) == ("healthy", ())


def test_an_image_that_asks_in_vain() -> None:
    facts = cu_init(with_(healthy(), system__container="docker", driver__nodes=NONE), 100)
    facts = with_variable(facts, "NVIDIA_VISIBLE_DEVICES", "all")
    assert roots(facts) == ["container-no-gpus-flag"]
    assert "NVIDIA_VISIBLE_DEVICES=all" in found(facts)["container-no-gpus-flag"].proof[-1].text


def inside(facts: Facts | None = None, **changes: object) -> Facts:
    return with_(facts or healthy(), system__container="docker", **changes)


@pytest.mark.parametrize("value", ["", "void", "none"])
def test_container_visible_devices_wrong(value: str) -> None:
    facts = with_variable(cu_init(inside(driver__nodes=NONE), 100), "NVIDIA_VISIBLE_DEVICES", value)
    assert roots(facts) == ["container-visible-devices-wrong"]
    assert "container-no-gpus-flag" in found(facts)
    with_control = with_variable(cu_init(inside(driver__nodes=CONTROL), 100), "NVIDIA_VISIBLE_DEVICES", value)
    assert roots(with_control) == ["container-visible-devices-wrong"]


def test_visible_devices_that_say_nothing() -> None:
    """The Container Device Interface sets void, and the host of a virtual machine its own numbers."""
    for value in ("void", "0,1", "all"):
        assert roots(with_variable(inside(), "NVIDIA_VISIBLE_DEVICES", value)) == []
    assert outcome(inside(driver__nodes=NONE), "container-visible-devices-wrong") == "passed"
    assert outcome(healthy(), "container-visible-devices-wrong") == "skipped"
    void = with_variable(inside(), "NVIDIA_VISIBLE_DEVICES", "void")
    assert outcome(with_(void, driver__kernel_version=None), "container-visible-devices-wrong") == "skipped"
    blind = cu_init(with_(void, driver__nodes=Unread(why="?")), 100)
    assert outcome(blind, "container-visible-devices-wrong") == "unknown"
    blind = inside(environment__variables=Unread(why="?"))
    assert outcome(blind, "container-visible-devices-wrong") == "unknown"


@pytest.mark.parametrize("value", ["utility", "graphics,utility", None])
def test_container_capabilities_without_compute(value: str | None) -> None:
    mounts = (f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{DRIVER}",)
    facts = inside(without_libcuda(healthy()), driver__nodes=NODES, container__driver_mounts=mounts)
    if value is not None:
        facts = with_variable(facts, "NVIDIA_DRIVER_CAPABILITIES", value)
    assert roots(facts) == ["container-capabilities-without-compute"]


def test_capabilities_that_are_no_cause() -> None:
    name = "container-capabilities-without-compute"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(with_variable(inside(), "NVIDIA_DRIVER_CAPABILITIES", "utility"), name) == "passed"
    lost = inside(without_libcuda(healthy()), driver__nodes=NODES)
    assert outcome(lost, name) == "passed"
    for value in ("all", "compute,utility"):
        assert outcome(with_variable(lost, "NVIDIA_DRIVER_CAPABILITIES", value), name) == "passed"
    utility = with_variable(lost, "NVIDIA_DRIVER_CAPABILITIES", "utility")
    assert outcome(with_(utility, driver__libcuda__candidates=("/opt/libcuda.so.1",)), name) == "passed"
    assert outcome(with_(utility, driver__nodes=NONE), name) == "passed"
    assert outcome(with_(utility, container__driver_mounts=Unread(why="?")), name) == "unknown"
    assert outcome(with_(utility, driver__nodes=Unread(why="?")), name) == "unknown"


REFUSED = tuple(DeviceNode(path=n.path, exists=True, open_errno=errno.EPERM) for n in NODES)
HANDED = (f"/usr/lib/x86_64-linux-gnu/libcuda.so.{DRIVER}",)


def test_container_cgroup_devices_lost() -> None:
    failed = Unread(why="NVML: Unknown Error")
    facts = inside(
        driver__nodes=REFUSED,
        container__driver_mounts=HANDED,
        gpu__nvml_error=999,
        gpu__nvml_error_text="Unknown Error",
        gpu__devices=failed,
    )
    facts = cu_init(facts, 100)
    assert roots(facts) == ["container-cgroup-devices-lost"]
    assert "device-node-permission" in found(facts)
    assert any("Unknown Error" in e.text for e in found(facts)["container-cgroup-devices-lost"].proof)


def test_devices_that_were_never_allowed() -> None:
    name = "container-cgroup-devices-lost"
    facts = cu_init(inside(driver__nodes=REFUSED), 100)
    assert roots(facts) == ["device-node-permission"]
    denied = tuple(DeviceNode(path=n.path, exists=True, open_errno=errno.EACCES) for n in NODES)
    assert outcome(inside(driver__nodes=denied, container__driver_mounts=HANDED), name) == "passed"
    assert outcome(inside(container__driver_mounts=HANDED), name) == "passed"
    assert outcome(with_(facts, system__container="lxc"), name) == "skipped"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(with_(facts, container__driver_mounts=Unread(why="?")), name) == "unknown"
    assert outcome(with_(facts, driver__nodes=Unread(why="?")), name) == "unknown"
    assert outcome(inside(driver__nodes=REFUSED, container__driver_mounts=HANDED), name) == "passed"  # CUDA starts


def spec(version: str | None, exists: bool, path: str = "/etc/cdi/nvidia.yaml") -> CdiSpec:
    return CdiSpec(
        path=path,
        kind="nvidia.com/gpu",
        devices=("0", "all"),
        driver_version=version,
        libcuda=f"/usr/lib/libcuda.so.{version}",
        libcuda_exists=exists,
    )


def test_cdi_spec_stale() -> None:
    facts = with_(healthy(), container__cdi_specs=(spec("570.86.15", False),))
    assert roots(facts) == ["cdi-spec-stale"]
    finding = found(facts)["cdi-spec-stale"]
    assert finding.level == "warn"
    assert finding.fixes[0].steps == ("sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",)


def test_cdi_specs_that_work() -> None:
    newer = spec(DRIVER, True, "/var/run/cdi/nvidia.yaml")
    for specs in ((), (newer,), (spec("570.86.15", True),), (spec(None, False),), (spec("570.86.15", False), newer)):
        assert outcome(with_(healthy(), container__cdi_specs=specs), "cdi-spec-stale") == "passed"
    hidden = CdiSpec(path="/etc/cdi/nvidia.yaml", kind=Unread(why="permission denied"))
    assert outcome(with_(healthy(), container__cdi_specs=(hidden,)), "cdi-spec-stale") == "unknown"
    assert outcome(with_(healthy(), container__cdi_specs=Unread(why="?")), "cdi-spec-stale") == "unknown"
    assert outcome(with_(healthy(), driver__kernel_version=None), "cdi-spec-stale") == "skipped"
    assert outcome(inside(), "cdi-spec-stale") == "skipped"
