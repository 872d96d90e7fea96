"""Who may use each GPU: other processes, compute mode, MIG, licence."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks import _others, _speed, _work
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._gpus import about, each, gib, gpus, title, visible
from gpudoctor.checks._said import holds, lines, speaks_of_speed, undecided
from gpudoctor.checks._work import held_by_others
from gpudoctor.facts import Facts, GpuDevice, GpuProcess, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

NEARLY_ALL = 0.9
"""Of the memory: TensorFlow takes what is left, and models with their workspace do not fit into that."""
_MPS = "nvidia-cuda-mps-server"


def speaks_of_memory(facts: Facts) -> None:
    """Unknown where a text does not show that memory was wanted: a GPU that a program uses is full."""
    if facts.text.is_all and not facts.text.said("out-of-memory", "handle-failed", "nccl-no-memory"):
        undecided("nvidia-smi  # before the program starts")


def speaks_of_a_busy_gpu(facts: Facts) -> None:
    """Unknown where a text does not show a program that is refused: the process on the GPU may be its own."""
    if facts.text.is_all and not holds(facts, "busy or unavailable", "DEVICE_UNAVAILABLE", "DEVICES_UNAVAILABLE"):
        undecided("nvidia-smi")


def _is_ours(facts: Facts, process: GpuProcess) -> bool:
    """The examination's own, or the process that was named with --pid."""
    return process.ours is True or process.pid == facts.process.pid


def _holder(process: GpuProcess) -> str:
    name = process.name.rsplit("/", 1)[-1] if isinstance(process.name, str) else "a process"
    size = process.memory_used_bytes
    return f"{name} (PID {process.pid}" + (f", {gib(size)})" if isinstance(size, int) else ")")


def _inside(facts: Facts) -> bool:
    return isinstance(facts.system.container, str)


@check(
    "GD806",
    "gpu-memory-held-by-other-process",
    stage=Stage.USE,
    level=Level.WARN,
    explains=("op-fails", "gpu-memory-handle-alloc", "gpu-oom-model-or-data"),
)
def memory_held(facts: Facts) -> Findings:
    """Another process holds nearly all memory of a GPU.

    What it looks at: the memory in use of each GPU that CUDA shows to this process, before anything of ours
    runs there, and the processes that NVML lists; in a pasted text how much was free at the start, or how much TensorFlow was given of the memory that the card has. Nine tenths in use count as nearly all. In a container the
    processes of others are not listed: then only the memory is known. GPUs in MIG mode are left out.

    Why it matters: TensorFlow takes what is left; it fails with out-of-memory errors, or with 'could not create
    cudnn handle'. It is often a notebook that is still open, or a process that was not ended.

    How to fix: use another GPU, wait, or end the process if it is yours.

    Source: NVML API reference, nvmlDeviceGetMemoryInfo_v2, nvmlDeviceGetComputeRunningProcesses.
    """

    if facts.text.is_all:
        if (others := held_by_others(facts)) is None:
            _work.unknown("nvidia-smi")
        yield Found(message=others[0], proof=others[1], fixes=(_LOOK,))
        return

    def look(device: GpuDevice) -> Found | None:
        used, total = known(device.memory_used_bytes), known(device.memory_total_bytes)
        if not total or used is None or used < NEARLY_ALL * total or known(device.mig_mode):
            return None
        listed = device.processes
        processes = () if isinstance(listed, Unread) or listed is None else listed
        others = [p for p in processes if not _is_ours(facts, p)]
        if not others and processes:
            return None  # it is ours
        if others:
            who = " and ".join(_holder(p) for p in others[:3]) + (" and others" if len(others) > 3 else "")
        elif _inside(facts):
            who = "a process that this container can't see (another container, or the host)"
        else:
            who = "a process that NVML does not list here (another container or user)"
        return Found(
            message=f"{gib(used)} of the {gib(total)} of {title(device)} are in use already, by {who}.",
            proof=(
                Evidence(
                    text=f"{gib(used)} of {gib(total)} used, {used / total:.0%}", source="NVML, nvmlDeviceGetMemoryInfo"
                ),
                *(Evidence(text=_holder(p), source="NVML, list of processes") for p in others[:8]),
            ),
            about=about(device),
            fixes=_ways_out(facts, device, others),
        )

    yield from each(visible(facts), look)
    return _fullest(visible(facts))


def _fullest(devices: Iterable[GpuDevice]) -> str:
    told = [(d.memory_used_bytes, d.memory_total_bytes) for d in devices]
    sizes = [(used, total) for used, total in told if isinstance(used, int) and isinstance(total, int) and total]
    used, total = max(sizes, key=lambda one: one[0] / one[1], default=(0, 0))
    return f"the fullest GPU has {gib(used)} of {gib(total)} in use" if total else "no GPU tells of its memory"


_LOOK = Fix(
    kind="advice",
    risk="safe",
    summary="See which process holds it, and end it if it is yours and not needed; or use another GPU",
    steps=("nvidia-smi", "fuser -v /dev/nvidia*"),
    verify="nvidia-smi",
)


def _ways_out(facts: Facts, full: GpuDevice, others: list[GpuProcess]) -> tuple[Fix, ...]:
    fixes: list[Fix] = []
    free = next((d for d in visible(facts) if d.index != full.index and _is_free(d)), None)
    if free is not None and isinstance(free.uuid, str):
        fixes.append(
            Fix(
                kind="command",
                risk="safe",
                summary=f"Use GPU {free.index}, which is free",
                steps=(f"export CUDA_VISIBLE_DEVICES={free.uuid}",),
                verify="nvidia-smi",
            )
        )
    pids = " ".join(str(p.pid) for p in others)
    fixes.append(
        Fix(
            kind="command",
            risk="destructive" if others else "safe",
            summary="Look at what holds it, and end it if it is yours and not needed"
            if others
            else "Look on the host which process holds it",
            steps=(f"ps -o pid,user,etime,args -p {pids.replace(' ', ',')}", f"kill {pids}")
            if others
            else ("nvidia-smi",),
            verify="nvidia-smi",
        )
    )
    return tuple(fixes)


def _is_free(device: GpuDevice) -> bool:
    used, total = device.memory_used_bytes, device.memory_total_bytes
    return isinstance(used, int) and isinstance(total, int) and used < total / 10 and device.compute_mode == "default"


@check(
    "GD807",
    "mig-enabled-no-instance",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "fewer-gpus"),
)
def mig_without_instance(facts: Facts) -> Findings:
    """A GPU is in MIG mode and has no instance that could be used.

    What it looks at: the MIG mode of each GPU, and its MIG devices (a GPU instance with a compute instance).

    Why it matters: in MIG mode CUDA sees instances only. Without one, the GPU is not there for any program,
    although nvidia-smi lists it.

    How to fix: make an instance, or turn MIG off. In a container: hand an instance over.

    Source: NVIDIA Multi-Instance GPU User Guide.
    """
    devices = gpus(facts)
    others_work = any(d.mig_mode is False or (isinstance(d.mig_devices, tuple) and d.mig_devices) for d in devices)

    def look(device: GpuDevice) -> Found | None:
        if not known(device.mig_mode) or known(device.mig_devices) != ():
            return None
        index = device.index
        here = " that this container was given" if _inside(facts) else ""
        make = Fix(
            kind="command",
            risk="needs root",
            summary="Make one instance of the whole GPU (nvidia-smi mig -lgip lists the other sizes)",
            steps=(f"sudo nvidia-smi mig -i {index} -cgi 0 -C",),
            verify="nvidia-smi -L",
        )
        off = Fix(
            kind="command",
            risk="needs root",
            summary="Turn MIG off: the whole GPU is usable then (on an A100 after a reset)",
            steps=(f"sudo nvidia-smi -i {index} -mig 0",),
            verify="nvidia-smi -L",
        )
        hand_over = Fix(
            kind="advice",
            risk="safe",
            summary="Start the container with a MIG instance (--gpus '\"device=MIG-…\"'; nvidia-smi -L on the host "
            "lists them), or have the host make one",
            steps=(),
            verify="nvidia-smi -L",
        )
        return Found(
            message=f"{title(device)} is in MIG mode and has no instance{here}: CUDA does not see it.",
            proof=(Evidence(text="MIG mode on, no MIG device", source="NVML"),),
            about=about(device),
            fixes=(hand_over,) if _inside(facts) else (make, off),
            explains=("fewer-gpus",) if others_work else None,
        )

    yield from each(devices, look)
    return (
        "every GPU in MIG mode has an instance" if any(d.mig_mode is True for d in devices) else "no GPU is in MIG mode"
    )


def _default_mode(device: GpuDevice) -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="Let any number of processes use it",
        steps=(f"sudo nvidia-smi -i {device.index} -c DEFAULT",),
        verify=f"nvidia-smi -q -d COMPUTE -i {device.index}",
    )


def _modes(facts: Facts) -> str:
    modes = sorted({d.compute_mode for d in visible(facts) if isinstance(d.compute_mode, str)})
    shared = "exclusive-process" in modes or "exclusive-thread" in modes
    return f"compute mode: {', '.join(modes)}" + ("; no other program keeps it busy" if shared else "")


@check("GD808", "compute-mode-prohibited", stage=Stage.USE, explains=("op-fails",))
def compute_mode_prohibited(facts: Facts) -> Findings:
    """A GPU's compute mode forbids every program to use it.

    What it looks at: the compute mode of each GPU that CUDA shows to this process.

    Why it matters: CUDA lists the GPU and refuses to open it (error 46, 'all CUDA-capable devices are busy or
    unavailable'); so does TensorFlow.

    How to fix: set the compute mode to DEFAULT.

    Source: NVML API reference, NVML_COMPUTEMODE_PROHIBITED.
    """

    def look(device: GpuDevice) -> Found | None:
        if known(device.compute_mode) != "prohibited":
            return None
        return Found(
            message=f"{title(device)} is closed to programs: its compute mode is 'prohibited'.",
            proof=(Evidence(text="compute mode: prohibited", source="NVML, nvmlDeviceGetComputeMode"),),
            about=about(device),
            fixes=(_default_mode(device),),
        )

    yield from each(visible(facts), look)
    return _modes(facts)


@check("GD809", "gpu-exclusive-busy", stage=Stage.USE, explains=("op-fails",))
def exclusive_busy(facts: Facts) -> Findings:
    """A GPU admits one process at a time, and another one is on it.

    What it looks at: the compute mode 'exclusive process' of each GPU that CUDA shows to this process, and the
    compute processes that NVML lists there. CUDA's Multi-Process Service is no finding: it is the one process, and
    lets others in.

    Why it matters: CUDA lists the GPU and refuses to open it (error 46, 'all CUDA-capable devices are busy or
    unavailable').

    How to fix: use another GPU, wait until the process has ended, or set the compute mode to DEFAULT.

    Source: NVML API reference, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS; NVIDIA Multi-Process Service.
    """

    refused = facts.text.said("context-refused", "context-not-made", "executor-not-made") if facts.text.is_all else ()
    if refused and (taken := _others.exclusive_and_taken(facts)) and not facts.text.said("gpu-process"):
        message = "A GPU admits one process at a time, and another one is on it."
        mode = Fix(
            kind="command",
            risk="needs root",
            summary="Let any number of processes use it",
            steps=("sudo nvidia-smi -c DEFAULT",),
            verify="nvidia-smi -q -d COMPUTE",
        )
        yield Found(message=message, proof=lines((*refused[:1], *taken)), fixes=(mode,))
        return None
    if not refused:
        speaks_of_a_busy_gpu(facts)

    def look(device: GpuDevice) -> Found | None:
        if known(device.compute_mode) not in ("exclusive-process", "exclusive-thread"):
            return None
        others = [p for p in known(device.processes) or () if p.kind == "compute" and not _is_ours(facts, p)]
        for process in others:
            name = known(process.name)
            if name is None:
                why = f"who PID {process.pid} on GPU {device.index} is can't be seen from here"
                raise UnknownFactError(Unread(why=why, settle="nvidia-smi, on the host"))
            if name.rsplit("/", 1)[-1].startswith(_MPS):
                return None
        if not others:
            return None
        who = " and ".join(_holder(p) for p in others[:3])
        return Found(
            message=f"{title(device)} admits one process at a time, and {who} is on it.",
            proof=(
                Evidence(text=f"compute mode: {device.compute_mode}", source="NVML, nvmlDeviceGetComputeMode"),
                Evidence(text=who, source="NVML, nvmlDeviceGetComputeRunningProcesses"),
            ),
            about=about(device),
            fixes=(_default_mode(device),),
        )

    yield from each(visible(facts), look)
    return _modes(facts)


@check("GD810", "vgpu-unlicensed", stage=Stage.SPEED, level=Level.WARN, explains=("op-fails", "runs-slowly"))
def vgpu_unlicensed(facts: Facts) -> Findings:
    """A virtual GPU has no licence.

    What it looks at: the virtualisation mode of each GPU; where it is a vGPU in a virtual machine, whether NVML
    calls one of its features licensed.

    Why it matters: about 20 minutes after the start, an unlicensed vGPU is slowed down to the level of an idle one.

    How to fix: give the virtual machine a client configuration token of the licence server, and restart
    nvidia-gridd.

    Source: NVML API reference, nvmlDeviceGetGridLicensableFeatures; NVIDIA AI Enterprise, vGPU for Compute
    licensing.
    """
    if told := decided(facts, "vgpu-unlicensed"):
        yield Found(
            message="The virtual GPU has no licence: it is slowed down some minutes after the start.",
            proof=lines(told),
            fixes=(fix.LICENCE,),
        )
        return
    strong, prose = facts.text.said("vgpu-no-licence"), facts.text.said("names-vgpu-licence")
    if strong or (prose and facts.text.said("device-busy")):
        yield Found(
            message="A vGPU has no licence: it is slowed down, and closed to programs, some minutes after the start.",
            proof=lines((*strong[:2], *prose[:2], *facts.text.said("device-busy")[:1])),
            fixes=(fix.LICENCE,),
        )
        return
    devices = gpus(facts)
    if all(d.virtualization_mode != "vgpu" for d in devices):
        for device in devices:
            known(device.virtualization_mode)
        raise NotApplicable("no GPU here is a vGPU")

    def look(device: GpuDevice) -> Found | None:
        if known(device.virtualization_mode) != "vgpu" or known(device.vgpu_licensed) is not False:
            return None
        return Found(
            message=f"{title(device)} is a vGPU without a licence: it is slowed down some minutes after the start.",
            proof=(Evidence(text="no feature is licensed", source="NVML, nvmlDeviceGetGridLicensableFeatures"),),
            about=about(device),
            fixes=(fix.LICENCE,),
        )

    yield from each(devices, look)
    return "NVML reports no vGPU without a licence"


_FULLY = 90


def _shared_in_words(facts: Facts) -> tuple[TextEvent, ...]:
    """The rows of nvidia-smi's table that show another program at work on a GPU that somebody finds slow."""
    text, devices = facts.text, facts.gpu.devices
    if not text.said("slow-named", "gpu-is-slow", "takes-long", "got-slower-said"):
        return ()
    others = {e.values["index"]: e for e in _others.foreign(facts)}
    busy = [
        str(d.index)
        for d in (() if isinstance(devices, Unread) else devices)
        if isinstance(d.utilisation_gpu_percent, int) and d.utilisation_gpu_percent >= _FULLY
    ]
    states = {e.values["index"]: e for e in text.said("gpu-state")}
    return tuple(e for index in busy if index in others for e in (others[index], states[index]) if index in states)


_BUSY = 50
"""Percent of the time in which a kernel ran on the GPU."""


@check(
    "GD813",
    "gpu-busy-with-other-work",
    stage=Stage.USE,
    level=Level.WARN,
    explains=_speed.OF_A_GPU,
)
def busy_with_other_work(facts: Facts) -> Findings:
    """Another program computes on a GPU, and what is measured there is slow.

    What it looks at: the utilisation of each GPU before anything of gpudoctor ran there, with clocks that are not idle, and
    whether a kernel of gpudoctor then was clearly slower than on the sibling GPUs, or than is usual. A busy GPU that measures well is no
    finding.

    Why it matters: two programs on one GPU take turns: each gets a part of it, and the other GPUs of a job wait.

    How to fix: use another GPU, wait, or end the process if it is yours.

    Source: NVML API reference, nvmlDeviceGetUtilizationRates; the measurements.
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        shared = _shared_in_words(facts)
        if not shared:
            raise NotApplicable("no table shows another program at work")
        yield Found(message="Another program computes on the GPU, too.", proof=lines(shared), fixes=(_LOOK,))
        return None
    measured = _speed.by_gpu(facts)
    if not measured:
        raise NotApplicable("no kernel was run on a GPU of NVML's")

    def look(device: GpuDevice) -> Found | None:
        slow = _speed.slow(measured.get(device.index, ()))
        if not slow:
            return None
        percent, reasons = known(device.utilisation_gpu_percent), known(device.clock_event_reasons)
        if percent is None or percent < _BUSY or "idle" in (reasons or ()):
            return None
        listed = device.processes
        others = [p for p in (() if isinstance(listed, Unread) else listed or ()) if not _is_ours(facts, p)]
        who = f" by {' and '.join(_holder(p) for p in others[:3])}" if others else ""
        return Found(
            message=f"{title(device)} was at {percent}% utilisation before anything of gpudoctor ran there{who}: "
            f"{slow[0][0].kernel} reaches {slow[0][1].why}.",
            proof=(
                Evidence(text=f"{percent}% utilisation", source="NVML, nvmlDeviceGetUtilizationRates"),
                *(_speed.shown(*one) for one in slow[:3]),
                *(Evidence(text=_holder(p), source="NVML, list of processes") for p in others[:8]),
            ),
            about=about(device),
            fixes=_ways_out(facts, device, others),
        )

    yield from each(visible(facts), look)
    told = [d.utilisation_gpu_percent for d in visible(facts) if isinstance(d.utilisation_gpu_percent, int)]
    return f"no slow GPU was at work before; the busiest was at {max(told)}%" if told else "no GPU is slow"


def _licence() -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="Put the licence server's token into /etc/nvidia/ClientConfigToken, and restart the service",
        steps=("sudo systemctl restart nvidia-gridd",),
        verify="nvidia-smi -q | grep -i license",
    )
