from __future__ import annotations

import errno

import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import CdiSpec, DeviceNode, Facts, Unread
from gpudoctor.findings import Fix
from tests.checks.test_platforms import ABSENT, NODES, without_libcuda
from tests.factory import DRIVER, cu_init, found, healthy, lists_no_gpu, outcome, roots, with_, with_variable

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


# ------------------------------------------------------------------------------- the very lines


def pasted(facts: Facts, cause: str) -> list[str]:
    """The lines of each fix."""
    fixes: tuple[Fix, ...] = found(facts)[cause].fixes
    return ["\n".join(fix.steps) for fix in fixes]


@pytest.mark.parametrize(
    ("container", "lines"),
    [
        ("docker", "docker run --rm -it --gpus all IMAGE"),
        ("podman", "podman run --rm -it --device nvidia.com/gpu=all"),
        ("containerd", "nerdctl run --rm -it --gpus all IMAGE"),
        ("kubernetes", "        limits:\n          nvidia.com/gpu: 1"),
        ("lxc", "lxc config device add CONTAINER gpu gpu"),
        ("enroot", "enroot start"),
    ],
)
def test_how_each_kind_is_started_with_gpus(container: str, lines: str) -> None:
    facts = cu_init(with_(healthy(), system__container=container, driver__nodes=NONE), 100)
    fixes = pasted(facts, "container-no-gpus-flag")
    assert lines in fixes[0]
    assert (len(fixes) == 2) is (container == "docker")
    if container == "docker":
        assert (
            "devices:\n            - driver: nvidia\n              count: all\n              capabilities: [gpu]"
            in fixes[1]
        )


def test_how_it_is_started_with_a_variable() -> None:
    none = with_variable(cu_init(inside(driver__nodes=NONE), 100), "NVIDIA_VISIBLE_DEVICES", "void")
    docker = pasted(none, "container-visible-devices-wrong")
    assert docker[0] == "docker run --rm -it --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all IMAGE"
    assert docker[1].endswith("environment:\n      NVIDIA_VISIBLE_DEVICES: all")
    pod = pasted(with_(none, system__container="kubernetes"), "container-visible-devices-wrong")
    assert pod[0].endswith('- name: NVIDIA_VISIBLE_DEVICES\n          value: "all"')
    mounts = (f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{DRIVER}",)
    utility = inside(without_libcuda(healthy()), driver__nodes=NODES, container__driver_mounts=mounts)
    name = "container-capabilities-without-compute"
    assert (
        pasted(utility, name)[0] == "docker run --rm -it --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE"
    )


def test_how_it_is_started_again() -> None:
    lost = cu_init(inside(driver__nodes=REFUSED, container__driver_mounts=HANDED), 100)
    name = "container-cgroup-devices-lost"
    assert pasted(lost, name)[0] == "docker restart CONTAINER"
    assert pasted(with_(lost, system__hostname="0a1b2c3d4e5f"), name)[0] == "docker restart 0a1b2c3d4e5f"
    pod = with_(lost, system__container="kubernetes", system__hostname="train-0")
    assert pasted(pod, name)[0] == "kubectl delete pod train-0"
    assert "create-dev-char-symlinks --create-all" in pasted(lost, name)[1]


# ------------------------------------------------------------------------------- which GPUs


@pytest.mark.parametrize("value", ["7", "0,2", "GPU-deadbeef-0000-4000-8000-000000000000", "GPU-dead"])
def test_gpus_that_the_host_does_not_have(value: str) -> None:
    facts = with_variable(cu_init(inside(driver__nodes=CONTROL), 100), "NVIDIA_VISIBLE_DEVICES", value)
    assert roots(facts) == ["container-visible-devices-wrong"]
    wrong = value.split(",")[-1]
    assert f"names {wrong}, and the host has no such GPU" in found(facts)["container-visible-devices-wrong"].message


def test_names_of_gpus_that_say_nothing() -> None:
    name = "container-visible-devices-wrong"
    facts = cu_init(inside(driver__nodes=CONTROL), 100)
    for value in ("0", "0,1", "GPU-00000001", "GPU-00000000-0000-4000-8000-000000000000", "all", "MIG-7"):
        assert outcome(with_variable(facts, "NVIDIA_VISIBLE_DEVICES", value), name) == "passed"
    unheard = cu_init(inside(driver__nodes=NONE), 100)  # no runtime read it
    assert outcome(with_variable(unheard, "NVIDIA_VISIBLE_DEVICES", "7"), name) == "passed"
    gpus = healthy().driver.gpus
    assert isinstance(gpus, tuple)
    one = gpus[:1]
    masked = with_variable(with_(facts, driver__gpus=one), "NVIDIA_VISIBLE_DEVICES", "GPU-deadbeef")
    assert outcome(masked, name) == "passed"
    blind = with_variable(with_(facts, pci__devices=Unread(why="?")), "NVIDIA_VISIBLE_DEVICES", "7")
    assert outcome(blind, name) == "passed"


def test_container_has_some_gpus() -> None:
    name = "container-has-some-gpus"
    facts = with_variable(inside(driver__nodes=NODES), "NVIDIA_VISIBLE_DEVICES", "0")
    finding = found(facts)[name]
    assert (finding.level, "1 of the host's 2 GPUs" in finding.message) == ("info", True)
    assert judge(facts).diagnosis.verdict == "healthy"
    for value in ("all", "void"):
        assert outcome(with_variable(inside(driver__nodes=NODES), "NVIDIA_VISIBLE_DEVICES", value), name) == "passed"
    assert outcome(with_variable(inside(), "NVIDIA_VISIBLE_DEVICES", "0,1"), name) == "passed"
    assert outcome(with_(facts, system__container="kubernetes"), name) == "skipped"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(with_(facts, pci__devices=Unread(why="?")), name) == "unknown"


# ------------------------------------------------------------------------------- what the image brings


NEEDS = "cuda>=12.8 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471 brand=tesla,driver>=535,driver<536"


def of_cuda(number: int, driver: str, condition: str | None = NEEDS) -> Facts:
    facts = inside(driver__libcuda__api_version=number, driver__kernel_version=driver)
    return facts if condition is None else with_variable(facts, "NVIDIA_REQUIRE_CUDA", condition)


def test_an_image_that_needs_a_newer_driver() -> None:
    name = "container-driver-too-old"
    works = of_cuda(12040, "550.90.07")
    assert found(works)[name].level == "info"
    assert found(works)[name].message == "The image wants cuda>=12.8, and the host's driver 550.90.07 is of CUDA 12.4."
    fails = lists_no_gpu(works)
    assert found(fails)[name].level == "fail"
    assert name in roots(fails)
    old = of_cuda(12020, "535.161.08", "cuda>=12.4 brand=tesla,driver>=470,driver<471")
    assert outcome(old, name) == "found"


@pytest.mark.parametrize(
    ("number", "driver", "condition"),
    [
        (12080, "570.86.15", NEEDS),
        (13000, "580.159.04", NEEDS),
        (12020, "535.161.08", NEEDS),  # the brand may be the one that is named
        (11040, "470.223.02", NEEDS),
        (12040, "550.90.07", "cuda>=12.4,driver>=550"),
        (12040, "550.90.07", "arch>=7.0"),
    ],
)
def test_conditions_that_may_hold(number: int, driver: str, condition: str) -> None:
    assert outcome(of_cuda(number, driver, condition), "container-driver-too-old") == "passed"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("cuda>12.4", False), ("cuda>12.3", True), ("cuda<=12.4", True), ("cuda<12.4", False), ("cuda=12.4", True), ("cuda=12", True),
        ("cuda!=12.4", False), ("cuda>=12.4,driver<550", False), ("driver>=550.54.14", True), ("driver>=550.90.08", False),
    ],
)  # fmt: skip
def test_every_kind_of_condition(condition: str, holds: bool) -> None:
    right = "passed" if holds else "found"
    assert outcome(of_cuda(12040, "550.90.07", condition), "container-driver-too-old") == right


def test_where_no_condition_is_asked() -> None:
    name = "container-driver-too-old"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(of_cuda(12040, "550.90.07", None), name) == "skipped"
    gone = inside(with_variable(without_libcuda(healthy()), "NVIDIA_REQUIRE_CUDA", NEEDS))
    assert outcome(gone, name) == "skipped"
    unasked = with_(of_cuda(12040, "550.90.07"), driver__libcuda__api_version=Unread(why="?"))
    assert outcome(unasked, name) == "unknown"


def test_an_image_with_a_driver_of_its_own() -> None:
    name = "container-image-has-driver-files"
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08"
    mounts = (f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{DRIVER}",)
    facts = cu_init(inside(container__driver_mounts=mounts), 803, path, version="535.161.08")
    assert roots(facts) == [name]
    assert "driver-library-mismatch" in found(facts)
    (line,) = pasted(facts, name)
    assert line.startswith("RUN rm -f /usr/lib/x86_64-linux-gnu/libcuda.so* /usr/lib/x86_64-linux-gnu/libnvidia-")


def test_libraries_that_are_not_the_images() -> None:
    name = "container-image-has-driver-files"
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08"
    facts = cu_init(inside(), 803, path, version="535.161.08")
    assert outcome(facts, name) == "found"
    for mount in (path, "/usr/lib/x86_64-linux-gnu", "/usr/lib/"):
        assert outcome(with_(facts, container__driver_mounts=(mount,)), name) == "passed"
    assert outcome(with_(facts, driver__libcuda__version=DRIVER), name) == "passed"
    assert outcome(with_(facts, driver__libcuda__init_result=0), name) == "passed"
    compat = cu_init(inside(), 803, "/usr/local/cuda/compat/libcuda.so.535.161.08", version="535.161.08")
    assert outcome(compat, name) == "passed"
    assert outcome(with_(facts, system__container=None), name) == "skipped"
    assert outcome(with_(facts, driver__kernel_version=None), name) == "skipped"
    assert outcome(with_(facts, container__driver_mounts=Unread(why="?")), name) == "unknown"


# ------------------------------------------------------------------------------- WSL


def test_a_container_under_wsl() -> None:
    name = "container-no-gpus-flag"
    windows = inside(without_libcuda(healthy()), system__wsl=True, driver__kernel_version=None, driver__nodes=NONE)
    assert roots(windows) == [name]
    assert "Windows" in found(windows)[name].message
    mounted = with_(windows, container__driver_mounts=("/usr/lib/wsl/drivers",))
    assert outcome(mounted, name) == "passed"
    other = with_(windows, system__wsl=False)
    assert outcome(other, name) == "skipped"
    assert outcome(with_(windows, system__wsl=Unread(why="?")), name) == "unknown"
    works = inside(system__wsl=True, driver__kernel_version=None)
    assert outcome(works, name) == "passed"
