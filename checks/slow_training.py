"""Training that runs and is slow: GPUs that wait, that idle beside others, that copy slowly, or compute without their tensor cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpudoctor.checks import _bound, _run, _slow_runs, _speed, _told, _training
from gpudoctor.checks._gpus import measured_on, visible
from gpudoctor.checks._processors import numbers
from gpudoctor.checks._reasons import set_to
from gpudoctor.checks._said import lines, said, speaks_of_speed, undecided
from gpudoctor.facts import Facts, GpuDevice, PciDevice, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_PROFILE = "tensorboard --logdir LOGS  # Profile, Overview; the program with tf.keras.callbacks.TensorBoard('LOGS', profile_batch=(10, 20))"


def _of_a_run(facts: Facts) -> None:
    """Not applicable where no text of a training program is judged, or where it shows a failure."""
    if not facts.text.is_all:
        raise NotApplicable(_run.FROM_A_RUN)
    speaks_of_speed(facts)


@check(
    "GD840",
    "cpu-starved-input",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", "tensor-cores-idle"),
)
def cpu_starved_input(facts: Facts) -> Findings:
    """The GPU waits for the input pipeline.

    What it looks at: a run under gpudoctor run: no kernel runs in three tenths of the time or more; in half of that or more the threads
    that start operations have nothing to start, and meanwhile other threads or processes of the program compute, or wait for a
    disk. Where the input is at its limit (one thread without a pause, or all processors that the program may use) and those that
    start operations are not, 15% of the time is enough. In a pasted text, what a profiler says: TensorFlow's 'Your program is HIGHLY (or MODERATELY) input-bound
    because …% of the total step time sampled is waiting for input', DLProf's data loader with the highest usage.
    Somebody says that the processor is full while the GPU idles for most of the time, that reading or preparing the data is slow,
    that the GPU works in spikes and Python's own generators feed it, or how much faster it is without the input (one batch that is
    repeated, synthetic data). Low utilisation alone makes it a candidate.

    Why it matters: the GPU computes for a part of each step, and idles while processors read, decode and augment the next batch.

    How to fix: tf.data with parallel maps and prefetching, cached or prepared data; for a Keras PyDataset its workers.

    Source: TensorFlow, op_stats_to_input_pipeline_analysis.cc; TensorFlow guide, 'Better performance with the tf.data API'.
    """
    if _run.is_there(facts):
        return (yield from _slow_runs.starved(facts, _PREPARED, _PROFILE))
    _of_a_run(facts)
    if facts.text.said("not-input-bound") and not facts.text.said("input-bound"):
        return None
    text = facts.text
    by_python = text.said("input-by-python") and not text.said("data-in-memory")
    complaint = (
        text.said("processor-full-gpu-idle", "input-blamed")
        or ((by_python or text.said("input-suspected")) and text.said("gpu-in-spikes"))
        or _training.faster_without_input(facts)
    )
    told = complaint or said(facts, "input-bound", settle=_PROFILE)
    percent = next((e.values["percent"] for e in told if "percent" in e.values), None)
    yield Found(
        message="The GPU waits for the input pipeline" + (f" in {percent}% of the time." if percent else "."),
        proof=lines(told),
        fixes=(_PREPARED,),
    )
    return None


_PREPARED = Fix(
    kind="advice",
    risk="safe",
    summary="Prepare batches beside the step: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE), .cache() where "
    "the data fit, .prefetch(tf.data.AUTOTUNE) last; for a Keras PyDataset super().__init__(workers=8, "
    "use_multiprocessing=True)",
    steps=(),
    verify=_PROFILE,
)
_TF32 = "NVIDIA_TF32_OVERRIDE"
_AMPERE = 8
_TF32_ON = Fix(
    kind="env",
    risk="safe",
    summary=f"Unset {_TF32}, if nothing needs the last digits of float32",
    steps=(f"unset {_TF32}",),
    env=(EnvChange(name=_TF32, op="unset"),),
)
_TF32_ON_IN_CODE = Fix(
    kind="advice",
    risk="safe",
    summary="Take the line out of the program (or pass True), if nothing needs the last digits of float32",
    steps=(),
    verify="the time of a step",
)


@check("GD841", "tf32-off", stage=Stage.SPEED, level=Level.INFO, explains=("runs-slowly", "tensor-cores-idle"))
def tf32_off(facts: Facts) -> Findings:
    """TF32 is switched off: float32 products and convolutions run without the tensor cores.

    What it looks at: NVIDIA_TF32_OVERRIDE=0 in the environment, on a GPU of compute capability 8.0 or newer; in a pasted text
    that variable, and tf.config.experimental.enable_tensor_float_32_execution(False).

    Why it matters: with TF32, which is TensorFlow's default from Ampere on, products of float32 matrices run several times
    faster, with 10 bits of mantissa. Somebody may have switched it off on purpose: then it is right.

    How to fix: unset the variable, or take the call out.

    Source: cuBLAS and cuDNN guides, NVIDIA_TF32_OVERRIDE; TensorFlow API, enable_tensor_float_32_execution.
    """
    if facts.text.is_all:
        told = said(facts, "tf32-off", settle=f'echo "${{{_TF32}-not set}}"; grep -rn enable_tensor_float_32 .')
        cards = _told.cards(facts).values()
        if facts.text.said("tf32-used") or (cards and all(c[0] < _AMPERE for c in cards)):
            return
        variable = any(_TF32 in e.text for e in told)
        message = "TF32 is switched off: float32 products run without the tensor cores."
        yield Found(message=message, proof=lines(told), fixes=(_TF32_ON if variable else _TF32_ON_IN_CODE,))
        return
    if (value := facts.environment.known(_TF32)) != "0":
        return set_to(_TF32, value)
    new = [g for g in visible(facts) if known(g.compute_capability)[0] >= _AMPERE]
    if not new:
        return "no GPU here has TF32"
    yield Found(
        message=f"{_TF32}=0 switches TF32 off: float32 products run without the tensor cores.",
        proof=(
            Evidence(text=f"{_TF32}='0'", source="environment of the examined process"),
            Evidence(text=f"compute capability {'.'.join(map(str, known(new[0].compute_capability)))}", source="NVML"),
        ),
        fixes=(_TF32_ON,),
    )


_BUSY, _IDLE = 50.0, 0.005
_HALF_ONLY = 7
"""Compute capability of Volta and Turing, whose tensor cores take 16 bits and no float32; the GTX 16 have none."""
_HALF = Fix(
    kind="advice",
    risk="safe",
    summary="Train in mixed precision: tf.keras.mixed_precision.set_global_policy('mixed_float16') before the model is made "
    "(the last layer in float32); sizes that are multiples of 8",
    steps=(),
    verify="the time of a step",
)


_COMPARE = Fix(
    kind="command",
    risk="safe",
    summary="Compare with the same without TensorFlow: which cuBLAS each uses, and what holds the GPU back",
    steps=("gpudoctor bench matmul-float16 matmul --backend all",),
)


@check("GD842", "tensor-cores-idle", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def tensor_cores_idle(facts: Facts) -> Findings:
    """The GPU's tensor cores have nothing to do.

    What it looks at: a run under gpudoctor run on a GPU that counts it (from Hopper on): the float32 units are at work in a fifth of
    their time or more, and the tensor cores in less than a two-hundredth. TensorFlow's own matrix products, as they were measured:
    float16 is less than 1.2 times as fast as float32, and the same GPU more than twice as fast without TensorFlow. In a pasted text,
    the profiler's 'Only …% of device computation is 16 bit' and DLProf's 'ops were eligible
    to use tensor cores but none are using FP16', on a GPU whose tensor cores take 16 bits only (Volta, Turing) or where TF32 is off;
    DCGM's counter of the tensor cores at zero beside a busy GPU.

    Why it matters: most of the arithmetic of such a GPU is in the tensor cores.

    How to fix: mixed precision; on Ampere and newer TF32 does it for float32.

    Source: TensorFlow, op_stats_to_overview_page.cc; DCGM field identifiers 203 and 1004.
    """
    if _run.is_there(facts):
        return (yield from _slow_runs.tensor_cores(facts, _HALF))
    if not facts.text.is_all:
        if not (found := tuple(_products(facts))):
            raise NotApplicable(_run.FROM_A_RUN)
        yield from found
        return None
    _of_a_run(facts)
    settle = "dcgmi dmon -e 203,1004  # while the program runs"
    text = facts.text
    if text.said("benign-no-tensor-cores"):
        return None
    busy = {e.values["index"]: e for e in text.said("gpu-busy") if float(e.values["percent"]) >= _BUSY}
    counted = [e for e in text.said("tensor-active") if e.values["index"] in busy]
    if counted:
        idle = [e for e in counted if float(e.values["value"]) < _IDLE]
        if len(idle) < len(counted):
            return None
        proof = lines([e for one in idle for e in (one, busy[one.values["index"]])])
        yield Found(message="The GPU is busy and its tensor cores are not.", proof=proof, fixes=(_HALF,))
        return None
    told = said(facts, "little-16-bit", settle=settle)
    needs_half = [name for name, c in _told.cards(facts).items() if c[0] == _HALF_ONLY and "GTX" not in name]
    if not needs_half and not text.said("tf32-off"):
        undecided(settle)
    where = f"those of {needs_half[0]} take 16 bits only" if needs_half else "TF32 is off"
    message = f"Nearly all is computed in 32 bits, which the tensor cores do not do here: {where}."
    yield Found(message=message, proof=lines((*told, *text.said("tf32-off"))), fixes=(_HALF,))
    return None


def _products(facts: Facts) -> Iterator[Found]:
    """What TensorFlow's own products tell: only of a GPU that is fast without TensorFlow, for some of the same generations have none."""
    for one, proof in _training.tensor_cores_unused(facts):
        yield Found(
            message=f"{one.device}: TensorFlow multiplies float16 hardly faster than float32: the tensor cores are idle.",
            proof=(proof,),
            about=measured_on(facts, one),
            fixes=(_COMPARE,),
        )


_AT_WORK, _NOT_AT_WORK = 30, 1
"""Percent of utilisation."""
_ONE_WORKS = "nvidia-smi  # while the program trains: memory, utilisation and processes of each GPU"
_GPU = Pattern(r"GPU:\d{1,3}")
_ALL_GPUS = Fix(
    kind="advice",
    risk="safe",
    summary="Make and compile the model inside strategy.scope() of tf.distribute.MirroredStrategy() without a list of devices, and "
    "multiply the batch by strategy.num_replicas_in_sync; without a strategy TensorFlow takes the memory of all GPUs and "
    "computes on the first",
    steps=(),
    verify=_ONE_WORKS,
)


_SEE_WHY = Fix(
    kind="command",
    risk="safe",
    summary="See what TensorFlow says of its devices and of NCCL",
    steps=("export TF_CPP_MIN_LOG_LEVEL=0 NCCL_DEBUG=INFO",),
    verify=_ONE_WORKS,
)


@check(
    "GD843",
    "single-gpu-silently",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", "scaling-below-expected"),
)
def single_gpu_silently(facts: Facts) -> Findings:
    """One GPU works, and the others only hold memory.

    What it looks at: a run under gpudoctor run, the process that was named with --pid, or the table of a pasted nvidia-smi: one program
    holds memory on several GPUs, and only one of these is at work. A training step of MirroredStrategy's, as it was measured on several
    GPUs: placed on fewer, or one at work, the others at 1% or less, and no faster than one. In a text also the devices that
    MirroredStrategy says it uses, against those that TensorFlow has, and a table without processes: the memory of all GPUs
    is taken to 85% or more, one is at work and the others at 1% or less.

    Why it matters: TensorFlow takes the memory of every GPU that it sees and computes on the first, unless the program spreads
    the work. Nothing says so.

    How to fix: build the model in the scope of a distribution strategy; or give the other GPUs to others (CUDA_VISIBLE_DEVICES).

    Source: TensorFlow guide, 'Distributed training with TensorFlow'; mirrored_strategy.py, cross_device_ops.py.
    """
    if facts.text.is_all:
        if not facts.text.said("some-gpus-only"):
            speaks_of_speed(facts)
        yield from _in_words(facts)
        return None
    if _run.is_there(facts):
        return (yield from _slow_runs.one_works(facts, _ALL_GPUS))
    pid = facts.process.pid
    if pid is None or isinstance(pid, Unread):
        if proof := _training.works_alone(facts):
            message = "MirroredStrategy holds several GPUs here, and only one of them does the work of a training step."
            yield Found(message=message, proof=proof, fixes=(_SEE_WHY,))
            return None
        raise NotApplicable(_run.FROM_A_RUN)
    if (one := _works_alone(visible(facts), pid)) is not None:
        yield one
    return f"process {pid} does not leave GPUs idle that it holds"


def _in_words(facts: Facts) -> Iterator[Found]:
    devices = facts.gpu.devices
    table = () if isinstance(devices, Unread) else devices
    pids = {p.pid for g in table if isinstance(g.processes, tuple) for p in g.processes if p.kind == "compute"}
    for pid in sorted(pids):
        if (one := _works_alone(table, pid)) is not None:
            yield one
            return
    slower = facts.text.said("several-slower-said")  # which a GPU that idles does not make it
    if not pids and not slower and (one := _full_and_idle(table)) is not None:
        yield one
        return
    if (one := _training.in_words(facts, _SEE_WHY)) is not None:
        yield one
        return
    told = said(facts, "strategy-devices", "strategy-on-processor", settle=_ONE_WORKS)
    listed = facts.tensorflow.gpus()
    if isinstance(listed, Unread) or len({d.name for d in listed}) < 2:
        undecided(_ONE_WORKS)
    few = [e for e in told if e.kind == "strategy-on-processor" or len(set(_GPU.findall(e.text))) < 2]
    if few:
        message = (
            f"TensorFlow has {len(listed)} GPUs, and the distribution strategy does not spread the work over them."
        )
        yield Found(message=message, proof=lines(few), fixes=(_ALL_GPUS,))


_FULL, _SOME_WORK = 0.85, 15


def _full_and_idle(table: Iterable[GpuDevice]) -> Found | None:
    """What is found in a table without processes: the memory of every GPU is taken, as TensorFlow does it, and one is at work."""
    rows = [
        (g, g.utilisation_gpu_percent, g.memory_used_bytes / g.memory_total_bytes)
        for g in table
        if isinstance(g.utilisation_gpu_percent, int)
        and isinstance(g.memory_used_bytes, int)
        and isinstance(g.memory_total_bytes, int)
        and g.memory_total_bytes > 0
    ]
    working = [g for g, busy, _ in rows if isinstance(busy, int) and busy >= _SOME_WORK]
    idle = [g for g, busy, _ in rows if isinstance(busy, int) and busy <= _NOT_AT_WORK]
    if len(rows) < 2 or len(working) != 1 or len(idle) != len(rows) - 1 or any(part < _FULL for _, _, part in rows):
        return None
    shown = ", ".join(f"GPU {g.index}: {busy}%, {part:.0%} of its memory taken" for g, busy, part in rows)
    return Found(
        message=f"The memory of all {len(rows)} GPUs is taken, and only GPU {working[0].index} is at work.",
        proof=(Evidence(text=f"utilisation {shown}", source="nvidia-smi"),),
        about=tuple(f"gpu{g.index}" for g, _, _ in rows),
        fixes=(_ALL_GPUS,),
    )


def _works_alone(devices: Iterable[GpuDevice], pid: int) -> Found | None:
    """What is found where this process holds memory on several GPUs, of which one is at work."""
    held = [g for g in devices if isinstance(g.processes, tuple) and any(p.pid == pid for p in g.processes)]
    busy = {g.index: g.utilisation_gpu_percent for g in held}
    if len(held) < 2 or not all(isinstance(b, int) for b in busy.values()):
        return None
    working = [i for i, b in busy.items() if isinstance(b, int) and b >= _AT_WORK]
    idle = [i for i, b in busy.items() if isinstance(b, int) and b <= _NOT_AT_WORK]
    if len(working) != 1 or len(idle) != len(held) - 1:
        return None
    shown = ", ".join(f"GPU {i}: {b}%" for i, b in busy.items())
    return Found(
        message=f"Process {pid} holds memory on {len(held)} GPUs, and only GPU {working[0]} is at work.",
        proof=(Evidence(text=f"utilisation {shown}", source="NVML"),),
        about=tuple(f"gpu{i}" for i in busy),
        fixes=(_ALL_GPUS,),
    )


_NSYS = "nsys profile -t cuda -o run python3 train.py && nsys analyze -r cuda_memcpy_async run.nsys-rep"
_PINNED = Fix(
    kind="advice",
    risk="safe",
    summary="Let tf.data bring the data: dataset.prefetch(tf.data.AUTOTUNE), or "
    "tf.data.experimental.prefetch_to_device('/GPU:0') last, in the type that is stored (uint8, cast on the GPU); what is used in "
    "every step is made a tensor once. A link is measured with bandwidthTest --memory=pinned",
    steps=(),
    verify=_NSYS,
)


@check("GD844", "h2d-pageable", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def h2d_pageable(facts: Facts) -> Findings:
    """Copies to the GPU go through pageable memory.

    What it looks at: a run under gpudoctor run: no kernel runs in three tenths of the time or more, and what comes over the bus
    is more than a program copies that does not wait for it: so much that at 7 GB/s, the rate of pageable memory, it takes three tenths of
    that time or more; or 0.8 GB/s while the program's own thread, and no thread of tf.data, works. In a pasted text, Nsight Systems' advice on asynchronous copies from pageable memory, and a slow result of
    bandwidthTest that was measured in its pageable mode. nvprof's 'Pageable' beside its copies makes it a candidate.

    Why it matters: the driver copies pageable memory through a small pinned buffer: a fraction of the link's rate, and nothing
    runs beside it.

    How to fix: leave copies to tf.data and prefetch to the device; do not feed NumPy arrays step by step. Measure links with
    pinned memory.

    Source: CUDA Driver API, 'API synchronization behavior'; CUDA samples, bandwidthTest.
    """
    if _run.is_there(facts):
        return (yield from _slow_runs.copies(facts, _PINNED, _NSYS))
    _of_a_run(facts)
    if facts.text.said("no-pageable"):
        return None
    measured = facts.text.said("pageable-measured")
    told = facts.text.said("pageable-blocks")
    if not told and measured and facts.text.said("says-slow-copy", "gpu-is-slow"):
        told = measured
    if not told:
        said(facts, "pageable-blocks", settle=_NSYS)
    yield Found(
        message="Copies to the GPU go through pageable memory, at a fraction of the link's rate.",
        proof=lines(told),
        fixes=(_PINNED,),
    )
    return None


@check(
    "GD845",
    "numa-misplaced",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", "slow-copies", "slow-collective"),
)
def numa_misplaced(facts: Facts) -> Findings:
    """The program is bound to processors that are far from every GPU that it may use.

    What it looks at: the processors that the process may run on (affinity, numactl, cpusets) against those next to each GPU, by the
    PCI bus; not where the firmware tells no NUMA node. In a pasted text, taskset or numactl, also in the loop of a launcher, against
    nvidia-smi topo -m.

    Why it matters: what is copied to the GPUs goes through the link between the processors: slower, and in everybody's way.

    How to fix: bind it to the GPU's own processors, or not at all.

    Source: Linux, /sys/bus/pci/devices/…/local_cpulist; nvidia-smi topo; numactl(8).
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        yield from _bound.in_words(facts)
        return
    buses = {g.pci_address for g in visible(facts)}
    devices = [d for d in known(facts.pci.devices) if d.address in buses]
    if not devices or not all(isinstance(d.numa_node, int) and isinstance(d.local_cpus, str) for d in devices):
        untold = "the firmware does not tell which NUMA node the GPUs are next to"
        if _speed.slow_copies(facts):
            raise UnknownFactError(Unread(why=untold, settle="nvidia-smi topo -m; numactl --hardware; taskset -pc $$"))
        raise NotApplicable(untold)
    if facts.process.pid is None or isinstance(facts.process.pid, Unread):
        if facts.system.cores_usable == facts.system.cores:
            return f"it may run on all {facts.system.cores} processors"
        bound, source = known(facts.system.cpus_usable), "/proc/self/status of the examined interpreter"
    else:
        bound, source = known(facts.process.cpus_usable), f"/proc/{facts.process.pid}/status"
    if any(numbers(bound) & numbers(known(d.local_cpus) or "") for d in devices):
        return "it may run on processors that are next to a GPU"
    yield Found(
        message=f"It runs on the processors {bound} only, and none of its GPUs is next to these.",
        proof=(Evidence(text=f"may run on {bound}", source=source), *(_place(d) for d in devices)),
        fixes=(_bound.rebind(str(devices[0].local_cpus), facts.process.pid),),
    )


def _place(device: PciDevice) -> Evidence:
    text = f"{device.address} is on NUMA node {device.numa_node}, next to the processors {device.local_cpus}"
    return Evidence(text=text, source="/sys/bus/pci/devices")
