"""What a host shows of its container engines before anybody starts a container: information, never a warning."""

from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import CdiSpec, ContainerPackage, ContainerTool, Facts, ToolkitPath, Unread
from tests.factory import DRIVER, found, healthy, outcome, roots, with_

HIDDEN = Unread(why="?")


def tool(name: str, version: str | None = None, place: str = "/usr/bin") -> ContainerTool:
    return ContainerTool(name=name, path=f"{place}/{name}", version=version)


DOCKER = (tool("docker"), tool("dockerd"), tool("containerd"))
TOOLKIT = tuple(
    tool(f"nvidia-{n}", "1.17.4") for n in ("ctk", "container-cli", "container-runtime", "container-runtime-hook")
)
SPEC = CdiSpec(
    path="/var/run/cdi/nvidia.yaml",
    kind="nvidia.com/gpu",
    devices=("all",),
    driver_version=DRIVER,
    libcuda=f"/usr/lib/libcuda.so.{DRIVER}",
    libcuda_exists=True,
)


def host(*tools: ContainerTool, **container: Any) -> Facts:
    return with_(healthy(), container__tools=tools, **{f"container__{k}": v for k, v in container.items()})


def told(facts: Facts, cause: str) -> str:
    """The lines of the first fix of what is found, for information only."""
    judged = judge(facts)
    assert judged.diagnosis.verdict == "healthy", judged.diagnosis
    assert roots(facts) == [cause]
    finding = found(facts)[cause]
    assert finding.level == "info"
    assert finding.proof
    return "\n".join(finding.fixes[0].steps)


ALL_OF_A_HOST = (
    "container-toolkit-missing", "container-cgroupv2-unsupported", "container-rootless-cgroups", "container-snap-docker",
    "container-ldconfig-path", "container-driver-root-wrong", "container-toolkit-too-old", "container-docker-desktop-linux",
    "container-runtime-not-default", "k8s-device-plugin-not-registered", "container-no-cgroups-set",
)  # fmt: skip


def test_a_host_on_which_containers_work() -> None:
    whole = host(
        *DOCKER, *TOOLKIT, tool("podman"),
        docker_runtimes=("nvidia",), cdi_specs=(SPEC,), toolkit_settings=("no-cgroups = false",),
        toolkit_paths=(ToolkitPath(setting="ldconfig", path="/sbin/ldconfig", holds=True), ToolkitPath(setting="root", path="/", holds=True)),
        packages=tuple(ContainerPackage(name=n, version="1.17.4") for n in ("nvidia-container-toolkit", "libnvidia-container1")),
        kubelet_plugins=("kubelet.sock", "nvidia-gpu.sock"), kubelet_resources=("nvidia.com/gpu",), kubelet_runtimes=("runc", "nvidia"),
    )  # fmt: skip
    judged = judge(whole)
    assert (judged.diagnosis.verdict, judged.findings) == ("healthy", ())
    assert not {u.cause for u in judged.unknown} & set(ALL_OF_A_HOST)


@pytest.mark.parametrize("cause", ALL_OF_A_HOST)
def test_where_none_of_it_is_asked(cause: str) -> None:
    """Inside a container, and without NVIDIA's driver."""
    broken = host(*DOCKER, docker_server="desktop-linux", kubelet_plugins=())
    assert outcome(with_(broken, driver__kernel_version=None), cause) == "skipped"
    inside = with_(broken, system__container="docker")
    assert outcome(inside, cause) == "skipped"


@pytest.mark.parametrize("cause", ALL_OF_A_HOST)
def test_what_can_not_be_read_is_unknown(cause: str) -> None:
    fields = [f for f in healthy().container.__struct_fields__ if f not in ("evidence", "platforms", "driver_mounts")]
    blind = with_(healthy(), **{f"container__{f}": HIDDEN for f in fields})
    assert outcome(blind, cause) == "unknown"


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        ("ubuntu", "apt-get install -y nvidia-container-toolkit"),
        ("rocky", "dnf install -y nvidia-container-toolkit"),
        ("sles", "zypper --gpg-auto-import-keys install -y nvidia-container-toolkit"),
        ("arch", "pacman -S"),
    ],
)
def test_docker_without_the_toolkit(distribution: str, words: str) -> None:
    facts = with_(host(*DOCKER), system__distribution=distribution)
    steps = told(facts, "container-toolkit-missing")
    assert words in steps
    assert steps.endswith("sudo nvidia-ctk runtime configure --runtime=docker\nsudo systemctl restart docker")
    assert "docker" in found(facts)["container-toolkit-missing"].message


def test_podman_without_a_description() -> None:
    facts = host(tool("podman"), *TOOLKIT)
    assert told(facts, "container-toolkit-missing") == "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
    assert outcome(with_(facts, container__cdi_specs=(SPEC,)), "container-toolkit-missing") == "passed"
    hook = ("/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json",)
    assert outcome(with_(facts, container__podman_hooks=hook), "container-toolkit-missing") == "passed"
    both = host(*DOCKER, tool("podman"))
    assert "docker and podman" in found(both)["container-toolkit-missing"].message
    assert len(found(both)["container-toolkit-missing"].fixes) == 2


def test_docker_that_knows_it() -> None:
    name = "container-toolkit-missing"
    assert outcome(host(*DOCKER, *TOOLKIT), name) == "passed"  # --gpus finds the hook without settings
    only_ctk = (*DOCKER, tool("nvidia-ctk", "1.17.4"))
    assert told(host(*only_ctk), name).startswith("sudo nvidia-ctk runtime configure")
    assert outcome(host(*only_ctk, docker_runtimes=("nvidia",)), name) == "passed"
    assert outcome(host(*only_ctk, cdi_specs=(SPEC,)), name) == "passed"
    assert outcome(host(tool("docker")), name) == "skipped"  # a client; its server is elsewhere
    assert outcome(host(tool("docker", place="/snap/bin")), name) == "skipped"
    assert outcome(host(), name) == "skipped"


def test_a_toolkit_before_control_groups_of_version_2() -> None:
    name = "container-cgroupv2-unsupported"
    old = (*DOCKER, *(tool(t.name, "1.7.0") for t in TOOLKIT))
    facts = host(*old)
    assert "1.7.0" in found(facts)[name].message
    assert told(facts, name).endswith("sudo systemctl restart docker")
    assert outcome(host(*old, control_groups=1), name) == "passed"
    assert outcome(host(*old, toolkit_settings=("no-cgroups = true", 'mode = "cdi"')), name) == "passed"
    assert outcome(host(*DOCKER, *TOOLKIT), name) == "passed"
    assert outcome(host(*DOCKER, tool("nvidia-container-cli", "1.10.0")), name) == "passed"
    assert outcome(host(*DOCKER), name) == "skipped"
    assert outcome(host(*DOCKER, tool("nvidia-container-cli", None)), name) == "unknown"


def test_rootless_docker() -> None:
    name = "container-rootless-cgroups"
    socket = ("/run/user/1000/docker.sock",)
    facts = host(*DOCKER, *TOOLKIT, rootless_docker=socket)
    assert "no-cgroups=true" in told(facts, name)
    commented = with_(facts, container__toolkit_settings=("no-cgroups = false  # true for rootless",))
    assert outcome(commented, name) == "found"
    assert outcome(with_(facts, container__toolkit_settings=("no-cgroups = true",)), name) == "passed"
    assert outcome(host(*DOCKER, *TOOLKIT), name) == "skipped"
    assert outcome(host(*DOCKER, rootless_docker=socket), name) == "skipped"


def test_no_cgroups_for_docker_of_root() -> None:
    name = "container-no-cgroups-set"
    facts = host(*DOCKER, *TOOLKIT, toolkit_settings=("no-cgroups = true",))
    assert "no-cgroups=false" in told(facts, name)
    assert outcome(with_(facts, container__rootless_docker=("/run/user/1000/docker.sock",)), name) == "passed"
    assert outcome(with_(facts, container__toolkit_settings=("no-cgroups = true", 'mode = "cdi"')), name) == "passed"
    assert outcome(with_(facts, container__toolkit_settings=None), name) == "passed"
    assert outcome(with_(facts, container__tools=(tool("podman"),)), name) == "skipped"


def test_docker_of_snap() -> None:
    name = "container-snap-docker"
    facts = host(tool("docker", "27.2.0", "/snap/bin"), docker_snap=True)
    assert "snap remove docker" in told(facts, name)
    assert outcome(with_(facts, container__docker_snap_runtimes=("nvidia",)), name) == "passed"
    assert outcome(with_(facts, container__docker_snap_runtimes=("runc",)), name) == "found"
    assert outcome(host(*DOCKER, *TOOLKIT, docker_snap=True), name) == "skipped"
    assert outcome(host(*DOCKER, *TOOLKIT), name) == "skipped"


@pytest.mark.parametrize("server", ["desktop-linux", "unix:///home/user/.docker/desktop/docker.sock"])
def test_docker_desktop(server: str) -> None:
    name = "container-docker-desktop-linux"
    assert told(host(docker_server=server), name) == "docker context use default"
    assert outcome(with_(host(docker_server=server), system__wsl=True), name) == "skipped"
    for other in (None, "rootless", "ssh://…"):
        assert outcome(host(docker_server=other), name) == "passed"


def test_an_ldconfig_that_is_not_there() -> None:
    name = "container-ldconfig-path"
    gone = (ToolkitPath(setting="ldconfig", path="/sbin/ldconfig.real", holds=False),)
    assert "ldconfig=@/sbin/ldconfig --in-place" in told(host(toolkit_paths=gone), name)
    other = (ToolkitPath(setting="ldconfig", path="/sbin/ldconfig", holds=False),)
    assert "command -v ldconfig" in told(host(toolkit_paths=other), name)
    assert outcome(host(toolkit_paths=()), name) == "passed"
    assert outcome(host(toolkit_paths=None), name) == "skipped"


def test_a_root_without_a_driver() -> None:
    name = "container-driver-root-wrong"
    empty = ToolkitPath(setting="root", path="/run/nvidia/driver", holds=False)
    assert "nvidia-container-cli.root=/" in told(host(toolkit_paths=(empty,)), name)
    full = ToolkitPath(setting="root", path="/run/nvidia/driver", holds=True)
    assert outcome(host(toolkit_paths=(full,)), name) == "passed"
    own = ToolkitPath(setting="root", path="/", holds=False)
    assert outcome(host(toolkit_paths=(own,)), name) == "passed"
    assert outcome(host(toolkit_paths=(ToolkitPath(setting="root", path="/x", holds=HIDDEN),)), name) == "unknown"


def packages(**versions: str) -> tuple[ContainerPackage, ...]:
    return tuple(ContainerPackage(name=name.replace("_", "-"), version=v) for name, v in versions.items())


def test_packages_of_several_releases() -> None:
    name = "container-toolkit-too-old"
    mixed = packages(nvidia_container_toolkit="1.17.4", libnvidia_container1="1.12.0", docker_ce="27.3.1")
    steps = told(host(packages=mixed), name)
    assert "sudo apt-get install -y nvidia-container-toolkit libnvidia-container1" in steps
    rocky = with_(host(packages=mixed), system__distribution="rocky")
    assert "sudo dnf install -y nvidia-container-toolkit libnvidia-container1" in told(rocky, name)
    first = packages(nvidia_docker="1.0.1")
    assert "sudo apt-get remove -y nvidia-docker\n" in told(host(packages=first), name)
    for fine in (
        packages(nvidia_container_toolkit="1.17.4", libnvidia_container1="1.17.4", docker_ce="27.3.1"),
        packages(nvidia_container_toolkit="1.5.1", libnvidia_container1="1.4.0"),  # numbered apart then
        packages(nvidia_docker2="2.13.0", nvidia_container_toolkit="1.13.5"),
        (),
    ):
        assert outcome(host(packages=fine), name) == "passed"
    assert outcome(host(packages=None), name) == "skipped"


def test_a_node_without_a_device_plugin() -> None:
    name, runtime = "k8s-device-plugin-not-registered", "container-runtime-not-default"
    node = host(kubelet_plugins=("kubelet.sock",), kubelet_resources=(), kubelet_runtimes=("runc", "nvidia"))
    assert "helm upgrade -i nvdp" in told(node, name)
    assert outcome(node, runtime) == "passed"
    without = with_(node, container__kubelet_runtimes=("runc",))
    assert "--runtime=containerd --set-as-default" in told(without, runtime)
    assert name in found(without)  # explained
    assert outcome(with_(without, container__cdi_specs=(SPEC,)), runtime) == "passed"
    assert outcome(with_(without, container__kubelet_runtimes=None), runtime) == "skipped"
    assert outcome(with_(without, container__tools=(tool("crio"),)), runtime) == "skipped"


def test_nodes_that_have_one() -> None:
    for sockets, resources in (
        (("kubelet.sock", "nvidia-gpu.sock"), None),
        (("kubelet.sock", "/var/lib/kubelet/plugins/gpu.nvidia.com"), ()),  # resource claims
        (("kubelet.sock",), ("nvidia.com/mig-1g.5gb",)),
        (None, None),
    ):
        node = host(kubelet_plugins=sockets, kubelet_resources=resources, kubelet_runtimes=("runc",))
        for name in ("k8s-device-plugin-not-registered", "container-runtime-not-default"):
            assert outcome(node, name) == "skipped"
    hidden = host(kubelet_plugins=HIDDEN, kubelet_resources=HIDDEN)
    assert outcome(hidden, "k8s-device-plugin-not-registered") == "unknown"


def test_two_of_them_are_both_told() -> None:
    facts = host(*DOCKER, docker_server="desktop-linux")
    assert set(roots(facts)) == {"container-toolkit-missing", "container-docker-desktop-linux"}
    assert judge(facts).diagnosis.combined_fix is None
