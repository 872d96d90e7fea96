"""Containers: were GPUs handed over, whole, and are they still?"""

from __future__ import annotations

import errno
import os
from shlex import quote

from gpudoctor.checks import _start
from gpudoctor.checks._cuinit import own_libraries, starts
from gpudoctor.checks._driver_said import refused_by_rules
from gpudoctor.checks._handed_over import (
    ENGINES,
    driver_works,
    lists_nothing,
    nothing_here,
    without_compute,
)
from gpudoctor.checks._inside import gpu_nodes, inside
from gpudoctor.checks._reasons import set_to, short
from gpudoctor.checks._said import left_open, lines
from gpudoctor.facts import READS_LIKE_A_FAULT, DeviceNode, Facts, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails", "libcuda-not-found")
_WITHOUT = (*_NO_GPU, "nvidia-smi-fails", "container-does-not-start", "libcuda-stub-loaded")
"""What a text shows of a container without GPUs: the stub is what images bring for building."""
_NO_DEVICES = ("", "void", "none")
"""Values of NVIDIA_VISIBLE_DEVICES that ask for no GPU."""
_WITHOUT_LIBRARY = (9, 12)
"""NVML's answers where no driver is, and where its own library is not found."""


def _not_asked_for(facts: Facts, container: str) -> tuple[TextEvent, ...]:
    """The lines of a text that show that this container was started without GPUs."""
    undecided = left_open("nvidia-smi -L  # inside, and on the host")
    if container not in ENGINES or facts.text.said("builds-an-image", "on-a-host", "rootless"):
        raise undecided
    if facts.text.said("wants-processor") and facts.text.said("killed"):
        raise undecided  # no GPU is wanted, and something else ended it
    if (lost := facts.tensorflow.libraries) and not isinstance(lost, Unread) and facts.driver.libcuda.path is not None:
        raise undecided  # a library that is the image's own
    without = facts.text.said("run-without-gpus", "gpus-asked-too-late", "zero-gpus-asked")
    absent = nothing_here(facts)
    if isinstance(facts.gpu.nvml_error, int) and facts.gpu.nvml_error not in _WITHOUT_LIBRARY:
        raise undecided  # the driver's library is inside
    if facts.text.said("gpus-asked") and not (without and driver_works(facts)):
        raise undecided
    if without and not starts(facts):
        absent = absent or facts.text.said("torch-lacks-gpu")
    if not absent and not (without and lists_nothing(facts) and not starts(facts)):
        raise undecided
    first = min((e.line for e in facts.text.said("in-a-container")), default=0)
    if any(e.line > first > 0 for e in facts.text.said("gpu", "nvidia-smi")):
        raise undecided  # nvidia-smi was run inside, and works
    if facts.text.said("nvidia-docker-used"):
        raise undecided
    return (*without[:2], *absent)


@check(
    "GD601",
    "container-no-gpus-flag",
    stage=Stage.CONTAINER,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails", "libcuda-not-found"),
)
def container_no_gpus_flag(facts: Facts) -> Findings:
    """This container was started without GPUs.

    What it looks at: whether this is a container, whether the host's kernel has the NVIDIA module loaded (a
    container sees the host's /proc/driver/nvidia), and whether /dev/nvidiactl is inside. Where CUDA starts without that
    node (Jetson, sandboxes that bring their own), nothing is missing. Under WSL, where there are no such nodes: whether
    anything of /usr/lib/wsl was mounted, or any libcuda.so.1 can be loaded. In a pasted text: a container's prompt, host name or
    command without GPUs, and that neither the driver's library nor a GPU is there.

    Why it matters: the driver's device nodes and libraries come from the host when a container is started;
    nothing that is installed inside replaces them.

    How to fix: start it with GPUs (`docker run --gpus all`), which needs the NVIDIA container toolkit on the host.

    Source: NVIDIA Container Toolkit documentation; observed: a container of an H200 host without the nodes.
    """
    container = inside(facts)
    if facts.text.is_all:
        told = _not_asked_for(facts, container)
        message = "Neither a GPU nor the driver's library is inside this container: it was started without GPUs."
        yield Found(message=message, proof=lines(told), fixes=_start.with_gpus(container), explains=_WITHOUT)
        return
    if known(facts.driver.kernel_version) is None:
        return (yield from _nothing_of_windows(facts, container))
    if starts(facts):
        return "cuInit answers 0"
    node = known(facts.driver.node("/dev/nvidiactl"))
    if node is not None and known(node.exists):
        return "/dev/nvidiactl is in the container"
    library = facts.driver.libcuda.path
    asked = facts.environment.get("NVIDIA_VISIBLE_DEVICES")
    unheard = isinstance(asked, str) and asked not in _NO_DEVICES
    without = "neither /dev/nvidiactl nor libcuda.so.1 is" if library is None else "/dev/nvidiactl is not"
    seen = [] if isinstance(facts.driver.nodes, Unread) else [n.path for n in facts.driver.nodes if n.exists is True]
    yield Found(
        message=f"The host has an NVIDIA driver, and {without} in this {container} container.",
        proof=(
            Evidence(
                text=f"kernel module {facts.driver.kernel_version}, the host's", source="/proc/driver/nvidia/version"
            ),
            Evidence(text=f"device nodes inside: {', '.join(seen) or 'none'}", source="/dev"),
            *(
                [
                    Evidence(
                        text=f"NVIDIA_VISIBLE_DEVICES={asked} is set, which only NVIDIA's container runtime acts on",
                        source="environment of the examined process",
                    )
                ]
                if unheard
                else []
            ),
        ),
        fixes=_start.with_gpus(container),
    )


def _nothing_of_windows(facts: Facts, container: str) -> Findings:
    """A container under WSL, which gets Windows' driver from /usr/lib/wsl."""
    if not known(facts.system.wsl):
        raise NotApplicable("the host's kernel has no NVIDIA module loaded")
    if facts.driver.libcuda.path is not None or any("/usr/lib/wsl" in m for m in known(facts.container.driver_mounts)):
        return "Windows' driver is in the container"
    yield Found(
        message=f"Neither libcuda.so.1 nor anything of Windows' driver is in this {container} container.",
        proof=(
            Evidence(
                text=f"libcuda.so.1: {facts.driver.libcuda.load_error}", source="dynamic loader, in a child process"
            ),
            Evidence(text="nothing of /usr/lib/wsl is mounted", source="/proc/self/mountinfo"),
        ),
        fixes=_start.with_gpus(container),
    )


_ASK_FOR_ONE = Fix(
    kind="advice",
    risk="safe",
    summary="Name GPUs that nvidia-smi -L lists on the host: --gpus all, --gpus device=0, NVIDIA_VISIBLE_DEVICES=all",
    steps=(),
    verify="nvidia-smi -L, inside the container",
)


@check(
    "GD602",
    "container-visible-devices-wrong",
    stage=Stage.CONTAINER,
    explains=(*_NO_GPU, "container-no-gpus-flag", "container-does-not-start"),
)
def container_visible_devices_wrong(facts: Facts) -> Findings:
    """NVIDIA_VISIBLE_DEVICES asks for no GPU in this container, or for one that does not exist.

    What it looks at: in a pasted text, nvidia-container-cli's 'unknown device'; on a machine, the variable (void, none or
    nothing: no GPU is asked for; an index or a UUID that no GPU of the host has), and whether a GPU's device node is
    inside. With nodes inside, or where CUDA starts, the value says nothing: the Container Device Interface sets void
    itself.

    Why it matters: NVIDIA's container runtime hands over what this variable names, and nothing else. An image sets it
    to all; a compose file, a chart or `docker run -e` overrides it.

    How to fix: start the container with NVIDIA_VISIBLE_DEVICES=all (or indices or UUIDs), or with --gpus.

    Source: NVIDIA Container Toolkit documentation, 'Environment variables (OCI spec)'.
    """
    if unheard_of := facts.text.said("container-unknown-device"):
        yield Found(
            message="The container asks for a GPU that the driver does not have.",
            proof=lines(unheard_of),
            fixes=(_ASK_FOR_ONE,),
        )
        return
    container = inside(facts)
    if (none := facts.text.said("none-is-visible")) and (absent := nothing_here(facts)):
        yield Found(
            message="NVIDIA_VISIBLE_DEVICES asks for no GPU in this container.",
            proof=lines((*none[:1], *absent)),
            fixes=(_ASK_FOR_ONE,),
        )
        return
    value = facts.environment.known("NVIDIA_VISIBLE_DEVICES")
    control = facts.driver.node("/dev/nvidiactl")
    handed = isinstance(control, DeviceNode) and control.exists is True  # the runtime acted on it
    wrong = _no_such_gpus(facts, value or "") if handed else []
    if value is None or (value.strip() not in _NO_DEVICES and not wrong):
        return set_to("NVIDIA_VISIBLE_DEVICES", value)
    if known(facts.driver.kernel_version) is None:
        raise NotApplicable("the host's kernel has no NVIDIA module loaded")
    if starts(facts) or gpu_nodes(facts):
        return f"{set_to('NVIDIA_VISIBLE_DEVICES', value)}, and there are GPUs all the same"
    yield Found(
        message=f"This {container} container was started with NVIDIA_VISIBLE_DEVICES={value!r}, which "
        + (f"names {wrong[0]}, and the host has no such GPU." if wrong else "asks for no GPU."),
        proof=(
            Evidence(text=f"NVIDIA_VISIBLE_DEVICES={value!r}", source="environment of the examined process"),
            Evidence(text="no /dev/nvidia0, /dev/nvidia1, … is inside", source="/dev"),
        ),
        fixes=_start.with_variable(container, "NVIDIA_VISIBLE_DEVICES", "all", "--runtime=nvidia"),
    )


def _no_such_gpus(facts: Facts, value: str) -> list[str]:
    """Entries that name no GPU of the host, as far as its whole list is seen from here."""
    bus, by_driver = facts.pci.devices, facts.driver.gpus
    if isinstance(bus, Unread):
        return []
    count = sum(d.is_nvidia_gpu for d in bus)
    seen = [g.uuid for g in (() if isinstance(by_driver, Unread) else by_driver or ()) if isinstance(g.uuid, str)]
    entries = [e.strip() for e in value.split(",")]
    wrong = [e for e in entries if e.isdigit() and count and int(e) >= count]
    if seen and len(seen) == count:  # else the list is masked
        wrong += [e for e in entries if e.startswith("GPU-") and not any(u.startswith(e) for u in seen)]
    return wrong


@check(
    "GD603",
    "container-capabilities-without-compute",
    stage=Stage.CONTAINER,
    explains=("tf-lists-no-gpu", "libcuda-not-found"),
)
def container_capabilities_without_compute(facts: Facts) -> Findings:
    """The GPUs were handed to this container without the libraries for computing.

    What it looks at: GPU device nodes that are inside, libcuda.so.1 that is nowhere inside, and what
    NVIDIA_DRIVER_CAPABILITIES asks for: it must hold compute or all. In a pasted text: that variable, docker's --gpus or compose's list of
    capabilities without compute, or that adding it helped.

    Why it matters: with utility alone nvidia-smi works and lists every GPU, and no CUDA program starts.

    How to fix: start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility.

    Source: NVIDIA Container Toolkit documentation, 'Driver capabilities'.
    """
    lib = facts.driver.libcuda
    if few := without_compute(facts):
        asked_for = few[0].values.get("value", "").strip("'\"`")
        what = (
            f"What this container asks of the driver ({asked_for})"
            if asked_for
            else "What this container asked of the driver"
        )
        yield Found(
            message=f"{what} is without the libraries for computing.",
            proof=lines((*few, *facts.text.said("library-not-loaded")[:1])),
            fixes=_start.with_variable("docker", "NVIDIA_DRIVER_CAPABILITIES", "compute,utility", "--gpus all"),
            explains=(*_NO_GPU, "container-no-gpus-flag", "driver-missing", READS_LIKE_A_FAULT),
        )
        return
    container = inside(facts)
    if lib.path is not None:
        return f"libcuda.so.1 is {short(known(lib.path))}"
    if not gpu_nodes(facts) or own_libraries(known(lib.candidates)):
        gpu = bool(gpu_nodes(facts))
        return "a libcuda lies where the loader does not look" if gpu else "no device node of a GPU is inside"
    value = facts.environment.known("NVIDIA_DRIVER_CAPABILITIES")
    asked = [word.strip() for word in (value or "").split(",") if word.strip()]
    handed = [m for m in known(facts.container.driver_mounts) if os.path.basename(m).startswith("libnvidia-ml.so")]
    if "compute" in asked or "all" in asked or (not asked and not handed):
        return set_to("NVIDIA_DRIVER_CAPABILITIES", value)
    state = f"is {value!r}" if value else "is not set, and this toolkit's default is utility"
    yield Found(
        message=f"This {container} container got the GPUs and not libcuda.so.1: NVIDIA_DRIVER_CAPABILITIES {state}.",
        proof=(
            Evidence(text=f"NVIDIA_DRIVER_CAPABILITIES {state}", source="environment of the examined process"),
            Evidence(text=f"libcuda.so.1: {lib.load_error}", source="dynamic loader, in a child process"),
            Evidence(text=f"inside: {', '.join(n.path for n in gpu_nodes(facts))}", source="/dev"),
        ),
        fixes=_start.with_variable(container, "NVIDIA_DRIVER_CAPABILITIES", "compute,utility", "--gpus all"),
    )


_UNKNOWN = 999


def _lost(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text that show it: NVML's 'Unknown Error' in a container, or after a daemon-reload."""
    failed = facts.text.said("nvml-failed") if facts.gpu.nvml_error == _UNKNOWN else refused_by_rules(facts)
    if not failed or facts.text.shows("gpu-faults") or facts.text.said("no-cgroups-set"):
        return ()
    container, reloaded = facts.system.container, facts.text.said("daemon-reload")
    within = container in (*ENGINES, "kubernetes")
    if isinstance(container, Unread) and facts.text.said("talks-of-a-container"):
        within = True
    return (*failed, *reloaded) if reloaded or within else ()


@check(
    "GD604",
    "container-cgroup-devices-lost",
    stage=Stage.CONTAINER,
    explains=(
        *("tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails", "nvidia-smi-fails"),
        "device-node-permission",
    ),
)
def container_cgroup_devices_lost(facts: Facts) -> Findings:
    """This container has lost the right to use its GPUs.

    What it looks at: /dev/nvidiactl that is inside and answers open() with EPERM, which mode bits never do (they
    answer EACCES): the device rules of the container's control group. And driver files that the container
    toolkit mounted: so the rules allowed the device when the container was started. In a pasted text: NVML's 'Unknown
    Error' inside a container, or that opening such a node is 'not permitted' though its mode lets everybody.

    Why it matters: it worked, and after a `systemctl daemon-reload` on the host (every package update does one) systemd
    wrote the device rules anew without the GPUs. NVML then says 'Unknown Error'.

    How to fix: start the container again. To keep it from coming back: request devices through the Container Device
    Interface, or let the engine manage control groups with cgroupfs.

    Source: NVIDIA/nvidia-container-toolkit issue 48.
    """
    if facts.text.is_all and (told := _lost(facts)):
        yield Found(
            message="This container was given its GPUs and may no longer open them.",
            proof=lines(told),
            fixes=_start.again("docker", facts),
        )
        return
    container = inside(facts)
    if container in ("lxc", "apptainer", "singularity"):
        raise NotApplicable(f"{container} keeps its own device rules, or none")
    if starts(facts):
        return "cuInit answers 0"
    refused = [n for n in known(facts.driver.nodes) if n.open_errno == errno.EPERM and n.exists is True]
    if "/dev/nvidiactl" not in [n.path for n in refused]:
        return "the device rules do not refuse /dev/nvidiactl"
    handed = [m for m in known(facts.container.driver_mounts) if "libcuda" in m or "libnvidia-ml" in m]
    if not handed:
        return "no library of the driver was handed to this container"
    error = facts.gpu.nvml_error
    yield Found(
        message=f"This {container} container was given its GPUs and may no longer open them.",
        proof=(
            Evidence(
                text=f"{', '.join(n.path for n in refused)}: {os.strerror(errno.EPERM)}",
                source="open(), read and write",
            ),
            Evidence(text=f"handed over when it was started: {handed[0]}", source="/proc/self/mountinfo"),
            *(
                [Evidence(text=f"NVML: {facts.gpu.nvml_error_text}", source="nvmlInit")]
                if isinstance(error, int)
                else []
            ),
        ),
        fixes=_start.again(container, facts),
    )


@check("GD608", "cdi-spec-stale", stage=Stage.CONTAINER, level=Level.WARN, explains=("container-does-not-start",))
def cdi_spec_stale(facts: Facts) -> Findings:
    """The description of the GPUs for containers is of another driver release.

    What it looks at: the specifications in /etc/cdi and /var/run/cdi (of one kind the latter counts): the libcuda
    file that each mounts, whether that file is still there, and the release of the loaded kernel module. In a pasted text:
    that the engine finds no longer a library of the driver that it is to mount, or that writing the description anew helped.

    Why it matters: after a driver update the files that it names are gone, and every container that asks for
    nvidia.com/gpu fails to start.

    How to fix: write it anew.

    Source: NVIDIA Container Toolkit documentation, 'Support for Container Device Interface'.
    """
    if facts.text.is_all:
        gone = tuple(e for e in facts.text.said("cdi-file-gone") if "file" in e.values)
        told = gone or _helps_anew(facts)
        if not told:
            raise left_open("ls -l /etc/cdi /var/run/cdi; cat /proc/driver/nvidia/version")
        yield Found(
            message="The description of the GPUs for containers (CDI) names files of a driver that is not there any more.",
            proof=lines(told),
            fixes=(_written_anew("/etc/cdi/nvidia.yaml"),),
            explains=("container-does-not-start", "tf-lists-no-gpu", READS_LIKE_A_FAULT),
        )
        return
    if known(facts.system.container) is not None:
        raise NotApplicable("the specifications are the host's")
    kernel = known(facts.driver.kernel_version)
    if kernel is None:
        raise NotApplicable("the NVIDIA kernel module is not loaded")
    counting = {known(s.kind): s for s in known(facts.container.cdi_specs)}
    for kind, spec in counting.items():
        version = known(spec.driver_version)
        if version is None or version == kernel or known(spec.libcuda_exists):
            continue
        yield Found(
            message=f"{spec.path} describes driver {version}, and {kernel} is loaded: containers that ask for {kind} can't "
            "start.",
            proof=(
                Evidence(text=f"mounts {spec.libcuda}, which does not exist", source=spec.path),
                Evidence(text=f"kernel module {kernel}", source="/proc/driver/nvidia/version"),
            ),
            fixes=(_written_anew(spec.path),),
        )
    return (
        "no CDI specification mounts the libcuda of a driver that is gone"
        if counting
        else "there is no CDI specification"
    )


_NEAR = 5
"""Lines between a command and what somebody says of it."""


_ONLY_THEN = Pattern(r"(?i)\b(?:until|unless|ha(?:s|ve|d) to|needs? to|must)\b[^.\n]{0,60}\bcdi\b")


def _helps_anew(facts: Facts) -> tuple[TextEvent, ...]:
    """The driver was updated, and then it works again once the description was written anew."""
    updated = facts.text.said("driver-was-updated")
    for one in facts.text.said("cdi-generated") if updated else ():
        if _ONLY_THEN.search(one.text):
            return (*updated[:1], one)
        if again := [e for e in facts.text.said("works-again") if 0 <= e.line - one.line <= _NEAR]:
            return (*updated[:1], one, *again[:1])
    return ()


def _written_anew(path: str) -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="Write the specification anew",
        steps=(f"sudo nvidia-ctk cdi generate --output={quote(path)}",),
        verify="nvidia-ctk cdi list",
    )
