"""System, environment and container as a real child reads them, from made-up trees of /proc, /sys and /etc."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.examine import FILE_TASKS
from gpudoctor.facts import (
    Container,
    ContainerTool,
    KernelEvent,
    NumaNode,
    System,
    Unread,
    Variable,
    VariableNow,
    known,
)
from gpudoctor.probes import container, environment, kernel_log, python, system
from gpudoctor.probes.ask import Answers, Patient

Make = Callable[..., Patient]


@pytest.fixture
def patient() -> Make:
    """With no variables but its own: those of the machine that runs the tests may name a container."""

    def make(**env: str) -> Patient:
        return Patient((sys.executable,), {"PATH": os.defpath, "HOME": os.environ.get("HOME", "/"), **env})

    return make


def tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def asked(patient: Patient, root: Path | str = "") -> Answers:
    tasks: list[tuple[str, dict[str, Any]]] = [
        (name, {"root": str(root)}) for name, _ in (system.TASK, container.TASK, container.TOOLS, container.ENGINES)
    ]
    answers = patient.ask(tasks, limit_s=20)
    assert answers.errors == {}
    return answers


def seen(patient: Patient, root: Path) -> tuple[System, Container]:
    answers = asked(patient, root)
    return system.read(answers), container.read(answers)


CPUINFO = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu sse4_2 avx avx2 fma hypervisor\n"
BARE = {
    "/proc/cpuinfo": CPUINFO,
    "/proc/meminfo": "MemTotal:       1000 kB\nMemFree: 3 kB\nMemAvailable:    600 kB\n",
    "/proc/1/cgroup": "0::/init.scope\n",
    "/proc/self/cgroup": "0::/user.slice/session.scope\n",
    "/proc/self/mountinfo": "27 1 254:0 / / rw - ext4 /dev/vda rw\n32 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "/proc/self/uid_map": "         0          0 4294967295\n",
    "/proc/self/status": "Name:\tpython\nSeccomp:\t2\n",
    "/proc/cmdline": "root=/dev/vda quiet iommu=pt pci=realloc=off nouveau.modeset=0 modprobe.blacklist=nouveau panic=1\n",
    "/proc/uptime": "3600.50 7000.00\n",
    "/sys/class/dmi/id/sys_vendor": "QEMU\n",
    "/sys/class/dmi/id/product_name": "Standard PC\n",
}


def test_a_bare_host(patient: Make, tmp_path: Path) -> None:
    machine, around = seen(patient(), tree(tmp_path, BARE))
    assert machine.container is None
    assert machine.cpu_model == "Some CPU"
    assert machine.cpu_flags == ("sse4_2", "avx", "fma", "avx2")
    assert machine.hypervisor is True
    assert (machine.memory_total_bytes, machine.memory_available_bytes) == (1000 << 10, 600 << 10)
    assert (machine.memory_limit_bytes, machine.cpu_quota_cores, machine.oom_kills) == (None, None, None)
    assert machine.shm_total_bytes is None
    assert machine.kernel_parameters == (
        "iommu=pt",
        "pci=realloc=off",
        "nouveau.modeset=0",
        "modprobe.blacklist=nouveau",
    )
    assert (machine.machine_vendor, machine.machine_product) == ("QEMU", "Standard PC")
    assert (machine.seccomp, machine.uptime_seconds) == (2, 3600.5)
    assert (machine.selinux, machine.apparmor_profile, machine.lockdown, machine.secure_boot) == (None,) * 4
    assert around == Container(
        evidence=(),
        platforms=around.platforms,
        driver_mounts=(),
        device_rules=None,
        user_namespace=False,
        rootless=False,
        tools=(),
        docker_snap=False,
        docker_runtimes=None,
        docker_default_runtime=None,
        containerd_runtimes=None,
        containerd_default_runtime=None,
        toolkit_settings=None,
        cdi_specs=(),
        packages=None,
        control_groups=2,
        docker_server=None,
        docker_snap_runtimes=None,
        rootless_docker=(),
        podman_hooks=(),
        toolkit_paths=None,
        kubelet_plugins=None,
        kubelet_resources=None,
        kubelet_runtimes=None,
    )


def test_numa_nodes(patient: Make, tmp_path: Path) -> None:
    """Two sockets, and a node without processors, as the memory of a GPU is one."""
    files = {"/proc/self/status": "Mems_allowed_list:\t0-1\n"}
    for number, cpus, size, far in (
        (0, "0-31,64-95", 500, "10 21 80"),
        (1, "32-63", 400, "21 10 80"),
        (10, "", 90, "x"),
    ):
        node = f"/sys/devices/system/node/node{number}"
        files |= {f"{node}/cpulist": cpus + "\n", f"{node}/distance": far + "\n"}
        files[f"{node}/meminfo"] = f"Node {number} MemTotal:       {size} kB\nNode {number} MemFree:  3 kB\n"
    files["/sys/devices/system/node/online"] = "0-1,10\n"
    machine, _ = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert isinstance(machine.numa_nodes, tuple)
    assert machine.numa_nodes[:2] == (
        NumaNode(index=0, cpus="0-31,64-95", memory_total_bytes=500 << 10, distances=(10, 21, 80)),
        NumaNode(index=1, cpus="32-63", memory_total_bytes=400 << 10, distances=(21, 10, 80)),
    )
    assert (machine.numa_nodes[2].index, machine.numa_nodes[2].cpus) == (10, "")
    assert isinstance(machine.numa_nodes[2].distances, Unread)
    assert machine.memory_nodes_usable == "0-1"
    bare, _ = seen(patient(), tree(tmp_path / "bare", BARE))
    assert (bare.numa_nodes, bare.memory_nodes_usable) == (None, None)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"/sys/power/suspend_stats/success": "3\n", "/sys/power/state": "freeze mem disk\n"}, 3),
        ({"/sys/kernel/debug/suspend_stats": "success: 2\nfail: 1\n", "/sys/power/state": "freeze mem\n"}, 2),
        ({"/sys/power/state": "\n"}, None),
    ],
)
def test_how_often_it_was_suspended(
    patient: Make, tmp_path: Path, files: dict[str, str | bytes], expected: int | None
) -> None:
    machine, _ = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert machine.suspends == expected


def test_nothing_tells_whether_it_was_suspended(patient: Make, tmp_path: Path) -> None:
    for files in ({}, {"/sys/power/state": "freeze mem\n"}):
        machine, _ = seen(patient(), tree(tmp_path / str(len(files)), {**BARE, **files}))
        assert isinstance(machine.suspends, Unread)
        assert "dmesg" in str(machine.suspends.settle)


def allowed(pid: int | str) -> str:
    """Which processors a process may run on, as the kernel says it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list:"))


def test_this_process(patient: Make) -> None:
    """What is no file in a tree: it is the child's own."""
    script = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30));"
    limited = Patient(
        (sys.executable, "-c", f"{script} os.execv(sys.executable, [sys.executable, '-'])"), dict(os.environ)
    )
    got = system.read(asked(limited))
    assert got.limit_address_space_bytes == 8 << 30
    assert got.cores_usable == len(os.sched_getaffinity(0))
    assert got.cpus_usable == allowed("self")
    assert got.cores == os.sysconf("SC_NPROCESSORS_ONLN")
    assert (got.user_id, got.hostname) == (os.getuid(), os.uname().nodename)
    assert set(got.groups if isinstance(got.groups, tuple) else ()) >= set(os.getgroups())
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    assert got.limit_stack_bytes == (None if stack == resource.RLIM_INFINITY else stack)
    assert isinstance(got.memory_total_bytes, int)
    assert isinstance(got.cpu_flags, tuple)


def test_control_groups_of_version_2(patient: Make, tmp_path: Path) -> None:
    """The least limit on the way up counts; the kills are the own group's."""
    place = "/sys/fs/cgroup/user.slice"
    files = {
        f"{place}/session.scope/cpu.max": "max 100000\n",
        f"{place}/session.scope/memory.max": "max\n",
        f"{place}/session.scope/memory.events": "low 0\noom 2\noom_kill 3\n",
        f"{place}/cpu.max": "150000 100000\n",
        f"{place}/memory.max": "2147483648\n",
        f"{place}/memory.events": "oom_kill 7\n",
    }
    machine, _ = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert (machine.cpu_quota_cores, machine.memory_limit_bytes, machine.oom_kills) == (1.5, 2 << 30, 3)


def test_control_groups_of_version_1(patient: Make, tmp_path: Path) -> None:
    """A container without a namespace of its own: its part of the tree is mounted, and named from outside."""
    inside = "/docker/abc"
    mounts = "27 1 0:50 / / rw - overlay overlay rw\n"
    for name in ("cpu,cpuacct", "memory", "devices"):
        mounts += f"33 31 0:30 {inside} /sys/fs/cgroup/{name} ro master:9 - cgroup cgroup rw,{name}\n"
    files = {
        "/proc/1/cgroup": f"4:memory:{inside}\n",
        "/proc/self/cgroup": f"5:devices:{inside}\n4:memory:{inside}/sub\n1:cpu,cpuacct:{inside}\n0::/\n",
        "/proc/self/mountinfo": mounts,
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
        "/sys/fs/cgroup/memory/sub/memory.limit_in_bytes": "9223372036854771712\n",
        "/sys/fs/cgroup/memory/sub/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        "/sys/fs/cgroup/devices/devices.list": "c 195:* m\nc 1:3 rwm\n",
    }
    machine, around = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert (machine.cpu_quota_cores, machine.memory_limit_bytes, machine.oom_kills) == (0.5, 1 << 30, 1)
    assert around.device_rules == ("c 195:* m", "c 1:3 rwm")
    assert (machine.container, around.evidence) == ("docker", ("/proc/1/cgroup names docker",))


def test_control_groups_that_can_not_be_read(patient: Make, tmp_path: Path) -> None:
    files = {k: v for k, v in BARE.items() if k != "/proc/self/cgroup"}
    machine, _ = seen(patient(), tree(tmp_path, files))
    assert all(isinstance(v, Unread) for v in (machine.cpu_quota_cores, machine.memory_limit_bytes, machine.oom_kills))


def test_security_modules(patient: Make, tmp_path: Path) -> None:
    variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    files: dict[str, str | bytes] = {
        "/sys/fs/selinux/enforce": "1",
        "/sys/module/apparmor/parameters/enabled": "Y\n",
        "/proc/self/attr/apparmor/current": "docker-default (enforce)\n",
        "/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
        variable: b"\x06\x00\x00\x00\x01",
    }
    machine, _ = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert (machine.selinux, machine.lockdown, machine.secure_boot) == ("enforcing", "integrity", True)
    assert machine.apparmor_profile == "docker-default (enforce)"
    off, _ = seen(patient(), tree(tmp_path, {variable: b"\x06\x00\x00\x00\x00", "/sys/fs/selinux/enforce": "0"}))
    assert (off.selinux, off.secure_boot) == ("permissive", False)


def test_the_cache_of_compiled_kernels(patient: Make, tmp_path: Path) -> None:
    def read(path: str) -> System:
        return system.read(patient(CUDA_CACHE_PATH=path).ask([system.TASK, python.HOME], limit_s=20))

    made = read(str(tmp_path / "not" / "there"))
    assert (made.jit_cache, made.jit_cache_writable) == (str(tmp_path / "not" / "there"), True)
    never = read("/proc/nowhere/cache")
    assert never.jit_cache_writable is (os.geteuid() == 0 and os.access("/proc", os.W_OK))


# ----------------------------------------------------------------------------- containers


@pytest.mark.parametrize(
    ("kind", "files", "variables"),
    [
        ("docker", {"/.dockerenv": ""}, {}),
        ("podman", {"/run/.containerenv": ""}, {}),
        ("lxc", {"/proc/1/environ": "PATH=/bin\0container=lxc\0"}, {}),
        ("systemd-nspawn", {"/run/systemd/container": "systemd-nspawn\n"}, {}),
        ("kubernetes", {"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
        ("containerd", {"/proc/1/cgroup": "0::/system.slice/containerd.service/x\n"}, {}),
        ("apptainer", {"/.singularity.d/env": "", "/.dockerenv": ""}, {"APPTAINER_CONTAINER": "/a.sif"}),
        ("singularity", {"/.singularity.d/env": ""}, {"SINGULARITY_CONTAINER": "/a.sif"}),
        (
            "enroot",
            {"/proc/self/mountinfo": "9 1 0:5 /home/u/.local/share/enroot/tf / rw - ext4 /dev/a rw\n"},
            {"SLURM_JOB_ID": "7"},
        ),
        (
            "docker",
            {"/proc/self/mountinfo": "9 1 0:5 /var/lib/docker/containers/a/hosts /etc/hosts rw - ext4 /dev/a rw\n"},
            {},
        ),
        (None, {"/proc/1/environ": "PATH=/bin\0"}, {"SLURM_JOB_ID": "7", "container": ""}),
    ],
)
def test_which_container(
    patient: Make, tmp_path: Path, kind: str | None, files: dict[str, str | bytes], variables: dict[str, str]
) -> None:
    machine, around = seen(patient(**variables), tree(tmp_path, {**BARE, **files}))
    assert machine.container == kind
    assert bool(around.evidence) is (kind is not None)
    assert isinstance(around.platforms, tuple)
    assert ("slurm" in around.platforms) is ("SLURM_JOB_ID" in variables)


def test_a_hidden_proc_is_no_bare_host(patient: Make, tmp_path: Path) -> None:
    machine, around = seen(patient(), tmp_path)
    assert isinstance(machine.container, Unread)
    assert isinstance(around.driver_mounts, Unread)
    assert isinstance(around.user_namespace, Unread)


def test_platforms(patient: Make, tmp_path: Path) -> None:
    files = {"/dev/dxg": ""}
    _, around = seen(patient(COLAB_GPU="", KAGGLE_KERNEL_RUN_TYPE="x"), tree(tmp_path, {**BARE, **files}))
    assert isinstance(around.platforms, tuple)
    assert {"colab", "kaggle", "wsl2"} <= set(around.platforms)


def test_what_was_handed_over(patient: Make, tmp_path: Path) -> None:
    points = (
        "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04",
        "/usr/bin/nvidia-smi",
        "/proc/driver/nvidia",
        "/dev/nvidia0",
        "/dev/nvidiactl",
        "/usr/local/nvidia",
    )
    mounts = "".join(f"9 1 0:5 / {p} ro - tmpfs tmpfs ro\n" for p in (*points, "/home/me/nvidia-notes", "/dev/pts"))
    files = {"/proc/self/mountinfo": mounts, "/proc/self/uid_map": "0 1000 1\n1 100000 65536\n"}
    _, around = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert around.driver_mounts == points
    assert (around.user_namespace, around.rootless) == (True, True)
    _, remapped = seen(patient(), tree(tmp_path, {"/proc/self/uid_map": "0 100000 65536\n"}))
    assert (remapped.user_namespace, remapped.rootless) == (True, False)


SPEC = """---
cdiVersion: 0.5.0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  hooks:
  - args:
    - nvidia-cdi-hook
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/lib/libcuda.so.580.159.04
    hostPath: /usr/lib/libcuda.so.580.159.04
    options:
    - ro
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: all
kind: nvidia.com/gpu
"""


def test_the_tools_of_a_host(patient: Make, tmp_path: Path) -> None:
    other = {
        "kind": "nvidia.com/gpu",
        "devices": [{"name": "all"}],
        "containerEdits": {"mounts": [{"hostPath": "/usr/lib/libcuda.so.570.86.15"}]},
    }
    files = {
        "/usr/bin/dockerd": "",
        "/usr/bin/nvidia-ctk": "",
        "/snap/bin/docker": "",
        "/snap/docker/current/meta/snap.yaml": "name: docker\nversion: '27.2.0'\n",
        "/usr/lib/x86_64-linux-gnu/libnvidia-container.so.1.17.4": "",
        "/usr/lib/libcuda.so.580.159.04": "",
        "/etc/docker/daemon.json": json.dumps({"runtimes": {"nvidia": {"path": "x"}}, "default-runtime": "nvidia"}),
        "/etc/containerd/config.toml": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n',
        "/etc/containerd/conf.d/99-nvidia.toml": "[plugins.'io.containerd.cri.v1.runtime'.containerd]\n"
        "  default_runtime_name = 'nvidia'\n"
        "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]\n",
        "/etc/nvidia-container-runtime/config.toml": '#root = "/x"\nno-cgroups = true\nldconfig = "@/sbin/ldconfig"\n',
        "/etc/cdi/nvidia.yaml": SPEC,
        "/var/run/cdi/nvidia.json": json.dumps(other),
    }
    _, around = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert isinstance(around.tools, tuple)
    assert ContainerTool(name="nvidia-ctk", path="/usr/bin/nvidia-ctk", version="1.17.4") in around.tools
    assert ContainerTool(name="docker", path="/snap/bin/docker", version="27.2.0") in around.tools
    assert ContainerTool(name="dockerd", path="/usr/bin/dockerd", version=None) in around.tools
    assert around.docker_snap is True
    assert (around.docker_runtimes, around.docker_default_runtime) == (("nvidia",), "nvidia")
    assert (around.containerd_runtimes, around.containerd_default_runtime) == (("runc", "nvidia"), "nvidia")
    assert around.toolkit_settings == ("no-cgroups = true", 'ldconfig = "@/sbin/ldconfig"')
    assert isinstance(around.cdi_specs, tuple)
    first, second = around.cdi_specs
    assert (first.kind, first.devices, first.driver_version) == ("nvidia.com/gpu", ("0", "all"), "580.159.04")
    assert first.libcuda_exists is True
    assert (second.driver_version, second.devices, second.libcuda_exists) == ("570.86.15", ("all",), False)


def test_settings_that_are_broken(patient: Make, tmp_path: Path) -> None:
    files = {"/etc/docker/daemon.json": "{", "/etc/cdi/broken.json": "{"}
    _, around = seen(patient(), tree(tmp_path, {**BARE, **files}))
    assert isinstance(around.docker_runtimes, Unread)
    assert isinstance(around.cdi_specs, tuple)
    assert around.cdi_specs[0].kind is None


# ----------------------------------------------------------------------------- the kernel's log


def logged(patient: Patient, *lines: str) -> list[KernelEvent]:
    """A log that is read as /dev/kmsg is: records of 'priority,number,microseconds,-;text'."""
    text = "".join(f"6,{n},{n}500000,-;{line}\n SUBSYSTEM=pci\n" for n, line in enumerate(lines))
    place = Path(patient.env["KMSG"])
    place.write_text(text)
    answers = patient.ask([(kernel_log.TASK[0], {"path": str(place)})], limit_s=20)
    got = kernel_log.read(answers)
    assert isinstance(got, tuple), got
    return list(got)


@pytest.mark.parametrize(
    ("line", "kind", "xid", "address"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.", "xid", 79, "0000:3b:00.0"),
        ("NVRM: Xid (PCI:0000:c1:00): 119, Timeout waiting for RPC from GSP!", "xid", 119, "0000:c1:00.0"),
        ("NVRM: Xid (0000:03:00): 31, Ch 00000010", "xid", 31, "0000:03:00.0"),
        (
            "NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x24:0x72:1568)",
            "rminit-failed",
            None,
            "0000:0a:00.0",
        ),
        (
            "NVRM: GPU 0000:0A:00.0: rm_init_adapter failed, device minor number 5",
            "rminit-failed",
            None,
            "0000:0a:00.0",
        ),
        ("NVRM: RmInitAdapter failed! (0x26:0x56:1463)", "rminit-failed", None, None),
        ("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04", "nvrm", None, None),
        ("Loading of unsigned module is rejected", "module-rejected", None, None),
        ("nvidia: loading of module with unavailable key is rejected", "module-rejected", None, None),
        ("Lockdown: modprobe: unsigned module loading is restricted; see man", "module-rejected", None, None),
        ("Memory cgroup out of memory: Killed process 99 (python3) total-vm:1kB", "oom-kill", None, None),
        ("DMAR: [DMA Read NO_PASID] Request device [3b:00.0] fault addr 0x7", "iommu-fault", None, "0000:3b:00.0"),
        ("nvidia 0000:3b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x1]", "iommu-fault", None, "0000:3b:00.0"),
        ("pcieport 0000:00:01.0: AER: Corrected error received: 0000:3b:00.0", "aer", None, "0000:00:01.0"),
        ("PM: suspend exit", "resumed", None, None),
        ("PM: hibernation: hibernation exit", "resumed", None, None),
        ("PM: suspend entry (deep)", None, None, None),
        ("nvidia-uvm: Loaded the UVM driver, major device number 238.", "uvm-loaded", None, None),
        ("DMAR: IOMMU enabled", None, None, None),
        ("nvidia: module verification failed: signature and/or required key missing", None, None, None),
        ("usb 1-1: new high-speed USB device", None, None, None),
    ],
)
def test_lines(
    patient: Make, tmp_path: Path, line: str, kind: str | None, xid: int | None, address: str | None
) -> None:
    got = logged(patient(KMSG=str(tmp_path / "kmsg")), "usb 1-1: nothing", line)
    if kind is None:
        assert got == []
    else:
        assert got == [KernelEvent(kind=kind, text=line, xid=xid, pci_address=address, seconds=1.5)]


def test_a_log_without_end_is_cut(patient: Make, tmp_path: Path) -> None:
    got = logged(patient(KMSG=str(tmp_path / "kmsg")), *(f"NVRM: Xid (PCI:0000:3b:00): 31, n {n}" for n in range(5000)))
    assert len(got) == 400
    assert got[-1].text.endswith("n 4999")


def test_no_log(patient: Make, tmp_path: Path) -> None:
    answers = patient().ask([(kernel_log.TASK[0], {"path": str(tmp_path / "none")})], limit_s=20)
    got = kernel_log.read(answers)
    assert isinstance(got, Unread)
    assert "sudo dmesg" in str(got.settle)


def test_the_log_of_this_machine(patient: Make) -> None:
    answers = patient().ask([kernel_log.TASK], limit_s=20)
    assert answers.errors == {}
    assert answers.outcome.seconds < 5
    assert isinstance(kernel_log.read(answers), tuple | Unread)


def test_what_came_meanwhile(patient: Make) -> None:
    lines = [[1.0, "NVRM: Xid (PCI:0000:3b:00): 31, a"], [9.0, "NVRM: Xid (PCI:0000:3b:00): 31, a"]]
    values: dict[str, list[Any]] = {
        "kernel_log": [{"lines": lines}],
        "cgroup": [{"levels": {"": [{"memory.events": "oom_kill 3\n"}]}}],
    }
    answers = Answers(values, patient().ask([], limit_s=5).outcome, {})
    log = kernel_log.read(answers)
    assert isinstance(log, tuple)
    after = system.read_again(System(oom_kills=2, kernel_log=log[:1]), answers)
    assert after.oom_kills_during == 1
    assert after.kernel_log_during == log[1:]
    blind = system.read_again(System(oom_kills=None, kernel_log=Unread(why="EPERM")), answers)
    assert blind.oom_kills_during is None
    assert isinstance(blind.kernel_log_during, Unread)


# ----------------------------------------------------------------------------- variables


def test_variables_as_started_and_as_they_are_now(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ.pop('TF_XLA_FLAGS', None)\n"
    )
    env = {
        "PYTHONPATH": str(tmp_path),
        "TF_XLA_FLAGS": "x",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KERAS_HOME": "/tmp/x",
        "OMP_NUM_THREADS": "4",
        "KMP_AFFINITY": "x",
        "HOROVOD_LOG_LEVEL": "info",
        "NVIDIA_API_KEY": "hidden",
        "TF_AUTH": "hidden",
        "COLAB_JUPYTER_TOKEN": "hidden",
        "SLURM_JWT": "hidden",
        "EDITOR": "vi",
    }
    got = environment.read(Patient((sys.executable,), env).ask([environment.TASK], limit_s=10))
    assert isinstance(got.variables, tuple)
    names = ["HOROVOD_LOG_LEVEL", "KMP_AFFINITY", "OMP_NUM_THREADS", "PYTHONPATH", "TF_XLA_FLAGS"]
    assert [v.name for v in got.variables] == names
    assert got.changed == (
        VariableNow(name="CUDA_VISIBLE_DEVICES", value="0"),
        VariableNow(name="TF_XLA_FLAGS", value=None),
    )
    assert got.dropped_by_sudo is None


def test_what_sudo_dropped(tmp_path: Path) -> None:
    """A process called sudo that starts Python without LD_LIBRARY_PATH, as the real one does."""
    (tmp_path / "libcufft.so.11").touch()
    (tmp_path / "libother.so").touch()
    source = tmp_path / "sudo.c"
    source.write_text(
        "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
        'int main(int n, char **v) { int s; unsetenv("LD_LIBRARY_PATH"); setenv("SUDO_USER", "me", 1);\n'
        "  if (fork() == 0) execv(v[1], v + 1);\n  wait(&s); return 0; }\n"
    )
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "sudo")], check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    got = environment.read(Patient((str(tmp_path / "sudo"), sys.executable), env).ask([environment.TASK], limit_s=10))
    assert got.dropped_by_sudo == (Variable(name="LD_LIBRARY_PATH", value=str(tmp_path)),)
    assert got.dropped_libraries == (str(tmp_path / "libcufft.so.11"),)


def test_sudo_that_can_not_be_seen() -> None:
    env = {**os.environ, "SUDO_USER": "me"}
    got = environment.read(Patient((sys.executable,), env).ask([environment.TASK], limit_s=10))
    assert isinstance(got.dropped_by_sudo, Unread)


def test_all_files_are_read_at_once(patient: Make) -> None:
    """Everything that one child reads; its time is bounded here, loosely: machines that run tests are busy."""
    started = time.monotonic()
    answers = patient().ask(FILE_TASKS, limit_s=20)
    assert answers.errors == {}
    assert time.monotonic() - started < 5


def test_what_is_no_file_is_not_waited_for(patient: Make, tmp_path: Path) -> None:
    """A pipe where a file should be, in the home and among the packages; a device; a directory."""
    home, site = tmp_path / "home", tmp_path / "site"
    (home / ".keras").mkdir(parents=True)
    os.mkfifo(home / ".keras" / "keras.json")
    os.mkfifo(home / ".nccl.conf")
    info = site / "tensorflow-2.20.0.dist-info"
    info.mkdir(parents=True)
    os.mkfifo(info / "RECORD")
    (info / "WHEEL").symlink_to("/dev/zero")
    (info / "INSTALLER").mkdir()
    answers = patient(HOME=str(home), PYTHONPATH=str(site)).ask(FILE_TASKS, limit_s=5)
    assert answers.ended_well
    seen = python.read(answers, "test")
    assert isinstance(seen.keras_backend, Unread)
    assert "tensorflow" in [d.name for d in known(seen.distributions)]


ASLEEP = """
import builtins, os, time
def wait(call):
    def waiting(path, *a, **k):
        if str(path).startswith(os.environ["HOME"]):
            time.sleep(60)
        return call(path, *a, **k)
    return waiting
os.stat, os.listdir, builtins.open = wait(os.stat), wait(os.listdir), wait(builtins.open)
"""


def test_a_home_that_does_not_answer_is_asked_last(patient: Make, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(ASLEEP)
    answers = patient(HOME=str(tmp_path / "home"), PYTHONPATH=str(tmp_path / "site")).ask(FILE_TASKS, limit_s=3)
    assert answers.outcome.timed_out
    tasks = ("system", "python", "libraries", "pci", "driver_files", "tensorflow_files")
    assert [name for name in tasks if answers.last(name) is None] == []
    assert isinstance(python.read(answers, "test").keras_backend, Unread)
    assert isinstance(system.read(answers).jit_cache, Unread)
