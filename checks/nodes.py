"""Device nodes: there, and openable by this user."""

from __future__ import annotations

import errno
import os

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks._cuinit import SUCCESS, UNKNOWN_ERROR, init_evidence, init_result, starts
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines
from gpudoctor.facts import DeviceNode, Facts, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check


@check(
    "GD105",
    "cuinit-uvm-device-missing",
    stage=Stage.NODES,
    explains=(*SHOWN, "tf-lists-no-gpu", "cuinit-fails"),
)
def uvm_device_missing(facts: Facts) -> Findings:
    """CUDA can't open /dev/nvidia-uvm.

    What it looks at: the node /dev/nvidia-uvm (is it there, does open() work for this user), the other
    nodes, and cuInit's answer 999 (CUDA_ERROR_UNKNOWN).

    Why it matters: nvidia-smi works without it, CUDA does not. The node is made by nvidia-modprobe on the
    first use by root; containers, LXC and hosts whose modules were just reloaded lack it.

    How to fix: `sudo nvidia-modprobe -u -c=0` on the host; in a container, hand the node over.

    Source: NVIDIA driver README, chapter 'Installing the driver' (nvidia-modprobe); observed on an H200
    host without the node: cuInit answers 999.
    """
    if told := decided(facts, "cuinit-uvm-device-missing"):
        yield Found(
            message="/dev/nvidia-uvm is not there; CUDA does not start without it, though nvidia-smi may.",
            proof=lines(told),
            fixes=(fix.MAKE_UVM,),
        )
        return
    lib = facts.driver.libcuda
    result = init_result(facts)
    if result == SUCCESS:
        return "cuInit answers 0"
    node = known(facts.driver.node("/dev/nvidia-uvm"))
    control = known(facts.driver.node("/dev/nvidiactl"))
    exists = node is not None and known(node.exists)
    failed = known(node.open_errno) if node is not None and exists else None
    control_there = control is not None and known(control.exists)
    if exists and failed in (None, errno.EACCES, errno.EPERM):  # a refusal is device-node-permission
        return "/dev/nvidia-uvm can be opened" if failed is None else "/dev/nvidia-uvm is there, and refuses this user"
    if result != UNKNOWN_ERROR and not control_there:
        return f"cuInit answers {result}, and /dev/nvidiactl is not there either"
    state = "does not exist" if not exists else f"can't be opened: {os.strerror(failed or 0)}"
    container = facts.system.container
    yield Found(
        message=f"/dev/nvidia-uvm {state}; CUDA does not start without it, though nvidia-smi may.",
        proof=(init_evidence(lib), Evidence(text=f"/dev/nvidia-uvm {state}", source="open()")),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Load the module and make its device node"
                + (f" on the host, and hand it to this {container} container" if isinstance(container, str) else ""),
                steps=("sudo nvidia-modprobe -u -c=0",),
                verify="ls -l /dev/nvidia-uvm && gpudoctor check",
            ),
        ),
    )


@check(
    "GD107",
    "device-node-permission",
    stage=Stage.NODES,
    explains=(*SHOWN, "tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails"),
)
def device_node_permission(facts: Facts) -> Findings:
    """This user may not open NVIDIA's device nodes.

    What it looks at: what open() answers for each of /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidia0, … as
    the examined user: EACCES (mode bits, access lists) or EPERM (a container's device rules). The mode
    bits alone do not tell; in a pasted text, a program that finds the GPU as root and not as another user. Where
    CUDA starts, what is refused are GPUs that were given to others: a job with one GPU of eight sees the nodes of all.

    Why it matters: CUDA then finds no device, or does not start, for this user only; for root everything works.

    How to fix: give the user access (the group of the nodes, often video or render), or hand the devices to
    the container.

    Source: open(2); NVIDIA driver README, NVreg_DeviceFileMode.
    """
    if told := decided(facts, "device-node-permission"):
        yield Found(message="This user may not open NVIDIA's device nodes.", proof=lines(told), fixes=(fix.JOIN,))
        return
    if starts(facts):
        return "cuInit answers 0"
    refused = [n for n in known(facts.driver.nodes) if n.open_errno in (errno.EACCES, errno.EPERM)]
    if not refused:
        return "no device node refuses this user"
    names = " ".join(n.path for n in refused)
    container = facts.system.container
    if isinstance(container, str):
        steps: tuple[str, ...] = ()
        summary = f"Hand these devices to the {container} container (docker run --gpus all …), as this user"
    else:
        summary, steps = _let_in(refused)
    yield Found(
        message=f"{names}: permission denied for this user.",
        proof=tuple(
            Evidence(text=f"{n.path}: {os.strerror(known(n.open_errno) or 0)}", source="open(), read and write")
            for n in refused
        ),
        fixes=(
            Fix(
                kind="command" if steps else "advice",
                risk="needs root",
                summary=summary,
                steps=steps,
                verify="log in again, then gpudoctor check",
            ),
        ),
    )


def _let_in(refused: list[DeviceNode]) -> tuple[str, tuple[str, ...]]:
    """How this user gets in: by the nodes' group, where it may open them; else by a wider mode."""
    names = " ".join(n.path for n in refused)
    if not all(_no_group_may(n) for n in refused):
        join = f'sudo usermod -aG "$(stat -c %G {refused[0].path})" "$USER"'
        return "See which group may open them, and join it", (f"ls -l {names}", join)
    summary = "Open them to all users until the next boot; for good, set NVreg_DeviceFileMode=0666 in /etc/modprobe.d"
    return summary, (f"sudo chmod 666 {names}",)


def _no_group_may(node: DeviceNode) -> bool:
    """It is root's alone: no group that one could join may open it."""
    mode = node.mode
    alone = isinstance(mode, int) and mode & 0o006 != 0o006 and (mode & 0o060 != 0o060 or node.group_id == 0)
    return alone and node.open_errno == errno.EACCES


@check(
    "GD112",
    "uvm-node-stale-major",
    stage=Stage.NODES,
    explains=(*SHOWN, "tf-lists-no-gpu", "cuinit-fails", "cuinit-uvm-device-missing"),
)
def uvm_node_stale_major(facts: Facts) -> Findings:
    """The node /dev/nvidia-uvm belongs to another device driver.

    What it looks at: the major number of /dev/nvidia-uvm against that of nvidia-uvm in /proc/devices, where cuInit fails.

    Why it matters: the kernel gives nvidia-uvm a number anew whenever the module is loaded. A node that was made before
    (in /etc/udev/devices, in a container, by mknod in a script) then leads to nothing or to another device.

    How to fix: make the node again with nvidia-modprobe; restart a container, so that it gets the new one.

    Source: Linux, /proc/devices (dynamic majors); NVIDIA driver README, nvidia-modprobe.
    """
    if told := decided(facts, "uvm-node-stale-major"):
        yield Found(
            message="/dev/nvidia-uvm has another major number than the driver has in /proc/devices.",
            proof=lines(told),
            fixes=(fix.MAKE_UVM_AGAIN,),
        )
        return
    if init_result(facts) == SUCCESS:
        return "cuInit answers 0"
    node = known(facts.driver.node("/dev/nvidia-uvm"))
    if node is None or not known(node.exists):
        raise NotApplicable("/dev/nvidia-uvm is not there")
    registered = known(facts.driver.uvm_major)
    if registered is None:
        raise NotApplicable("the module nvidia-uvm is not loaded")
    if known(node.major) == registered:
        return f"/dev/nvidia-uvm has the driver's major number, {registered}"
    container = facts.system.container
    inside = isinstance(container, str)
    yield Found(
        message=f"/dev/nvidia-uvm has the major number {node.major}; the driver's is {registered}.",
        proof=(
            init_evidence(facts.driver.libcuda),
            Evidence(text=f"/dev/nvidia-uvm: major {node.major}, minor {node.minor}", source="stat()"),
            Evidence(text=f"{registered} nvidia-uvm", source="/proc/devices"),
        ),
        fixes=(
            Fix(
                kind="advice" if inside else "command",
                risk="needs root",
                summary=f"Restart this {container} container, so that it gets the host's node as it is now"
                if inside
                else "Make the node again",
                steps=()
                if inside
                else ("sudo rm -f /dev/nvidia-uvm /dev/nvidia-uvm-tools", "sudo nvidia-modprobe -u -c=0"),
                verify="ls -l /dev/nvidia-uvm && gpudoctor check",
            ),
        ),
    )


@check(
    "GD115",
    "device-nodes-missing",
    stage=Stage.NODES,
    explains=(*SHOWN, "tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails", "cuinit-uvm-device-missing"),
)
def device_nodes_missing(facts: Facts) -> Findings:
    """Device nodes of the GPUs are missing, though the kernel module is loaded.

    What it looks at: /dev/nvidiactl, where cuInit fails, and the node of every GPU that the kernel module knows
    (/proc/driver/nvidia/gpus) and CUDA does not list. On a host only: a container is given the nodes that it may use.

    Why it matters: CUDA opens these nodes. The driver makes them through nvidia-modprobe or udev; a host without a
    screen, without the persistence daemon and without the set-user-id bit on nvidia-modprobe lacks them after a boot.

    How to fix: `sudo nvidia-modprobe` makes them; the nvidia-persistenced service does so at every boot.

    Source: NVIDIA driver README, 'nvidia-modprobe' and NVreg_ModifyDeviceFiles; observed on an H200 host: without
    /dev/nvidia0 cuInit answers 100 or one GPU is missing.
    """
    if told := decided(facts, "device-nodes-missing"):
        yield Found(
            message="The kernel module is loaded, and device nodes are missing.",
            proof=lines(told),
            fixes=(fix.MAKE_NODES,),
        )
        return
    if known(facts.system.container) is not None:
        raise NotApplicable("a container is given the device nodes that it may use")
    if known(facts.system.wsl) or known(facts.system.tegra):
        raise NotApplicable("the driver of this machine has other nodes")
    if known(facts.driver.kernel_version) is None:
        raise NotApplicable("the NVIDIA kernel module is not loaded")
    works = init_result(facts) == SUCCESS
    listed = _listed(facts) if works else set[str]()
    missing = [] if works or _exists(facts, "/dev/nvidiactl") else ["/dev/nvidiactl"]
    bus = facts.pci.devices
    if not missing and not isinstance(bus, Unread) and {d.address for d in bus if d.is_nvidia_gpu} <= listed:
        return (
            f"CUDA lists {several(len(listed), 'GPU')}"
            if works
            else "/dev/nvidiactl is there, and no GPU is on the bus"
        )
    minors = []
    for gpu in known(facts.driver.gpus) or ():
        minor = known(gpu.minor)
        if minor is None or known(gpu.excluded) or gpu.pci_address in listed or _exists(facts, f"/dev/nvidia{minor}"):
            continue
        if works and facts.environment.known("CUDA_VISIBLE_DEVICES") is not None:
            known(facts.driver.all_devices)
        missing.append(f"/dev/nvidia{minor}")
        minors.append(minor)
    if not missing:
        return "the device nodes of all GPUs of the driver are there"
    parameters = facts.driver.parameters
    values = {p.name: p.value for p in parameters or ()} if not isinstance(parameters, Unread) else {}
    yield Found(
        message=f"The kernel module is loaded, and {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
        + (
            " The module is told to make no nodes (ModifyDeviceFiles 0)."
            if values.get("ModifyDeviceFiles") == "0"
            else ""
        ),
        proof=(
            Evidence(text=f"kernel module {facts.driver.kernel_version}", source="/proc/driver/nvidia/version"),
            Evidence(text=f"not there: {', '.join(missing)}", source="/dev"),
            init_evidence(facts.driver.libcuda),
        ),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Make them now, and at every boot",
                steps=(
                    " ".join(["sudo nvidia-modprobe -u", *(f"-c={m}" for m in minors or [0])]),
                    "sudo systemctl enable --now nvidia-persistenced",
                ),
                verify="ls -l /dev/nvidia* && gpudoctor check",
            ),
        ),
        explains=("fewer-gpus",) if works and listed else None,
    )


def _exists(facts: Facts, path: str) -> bool:
    node = known(facts.driver.node(path))
    return node is not None and known(node.exists)


def _listed(facts: Facts) -> set[str]:
    """The addresses of the GPUs that CUDA lists, with or without CUDA_VISIBLE_DEVICES."""
    lists = (facts.driver.all_devices, facts.driver.libcuda.devices)
    return {known(d.pci_address) for devices in lists if not isinstance(devices, Unread) for d in devices}


@check(
    "GD905",
    "lsm-denied",
    stage=Stage.NODES,
    explains=(
        "tf-lists-no-gpu",
        "cuinit-no-device",
        "cuinit-fails",
        *SHOWN,
        "device-node-permission",
    ),
)
def lsm_denied(facts: Facts) -> Findings:
    """SELinux or AppArmor denies what the device nodes' permissions allow.

    What it looks at: where CUDA does not start, nodes that this user may open by owner, group and mode, that open()
    refuses nevertheless with EACCES, while SELinux enforces or an AppArmor profile confines this process.

    Why it matters: changing groups or modes does not help; the policy decides.

    How to fix: see what was denied, and allow it: for containers under SELinux the boolean container_use_devices; for
    AppArmor, the profile named.

    Source: selinux(8), apparmor(7); SELinux Project, container_use_devices.
    """
    if told := decided(facts, "lsm-denied"):
        yield Found(message="SELinux or AppArmor denies the device nodes.", proof=lines(told), fixes=(fix.SEE_DENIED,))
        return
    if starts(facts):
        return "cuInit answers 0"
    refused = [n for n in known(facts.driver.nodes) if n.open_errno == errno.EACCES]
    if not refused:
        return "no device node refuses this user"
    selinux, profile = known(facts.system.selinux), known(facts.system.apparmor_profile)
    confined = profile is not None and profile != "unconfined"
    if selinux != "enforcing" and not confined:
        return "neither SELinux nor AppArmor confines this process"
    mine = [n for n in refused if _allowed(facts, n)]
    if not mine:
        return "the permissions of the nodes that refuse it do not allow this user"
    who = "SELinux" if selinux == "enforcing" else f"the AppArmor profile {profile}"
    inside = isinstance(facts.system.container, str)
    if selinux == "enforcing":
        steps = ("sudo ausearch -m avc -ts recent", *(("sudo setsebool -P container_use_devices 1",) if inside else ()))
    else:
        steps = ("sudo dmesg | grep 'apparmor=\"DENIED\"'",)
    yield Found(
        message=f"{' '.join(n.path for n in mine)}: the permissions allow this user, and {who} denies it.",
        proof=tuple(
            Evidence(text=f"{n.path}: mode {known(n.mode) or 0:o}, and open() is refused", source="stat() and open()")
            for n in mine
        ),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="See what was denied" + (", and let containers use devices (on the host)" if inside else ""),
                steps=steps,
            ),
        ),
    )


def _allowed(facts: Facts, node: DeviceNode) -> bool:
    """Whether owner, group and mode let this user read and write."""
    mode, user = known(node.mode) or 0, known(facts.system.user_id)
    if user in (0, known(node.user_id)):
        return user == 0 or mode & 0o600 == 0o600
    shift = 3 if known(node.group_id) in known(facts.system.groups) else 0
    return mode >> shift & 0o6 == 0o6
