"""Does this build of TensorFlow fit the architecture and the size of the GPUs?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks import _fit, _told, _work
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, LogEvent, Measurement, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_MINIMUM = "TF_MIN_GPU_MULTIPROCESSOR_COUNT"
_DEFAULT_MINIMUM = 8


def _need_cuda_build(facts: Facts) -> None:
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    if not known(facts.tensorflow.build.cuda):
        raise NotApplicable("this TensorFlow is built without CUDA")


def _said(facts: Facts, kind: str) -> tuple[LogEvent, ...]:
    """The events of a kind; unknown where TensorFlow's log is."""
    return known(facts.tensorflow.said(kind))


def _number(capability: str) -> tuple[int, ...]:
    """(12, 0) for '12.0a'."""
    return tuple(int(n) for n in re.findall(r"\d+", capability)[:2])


def _built_for(facts: Facts) -> tuple[int, int] | None:
    """The lowest compute capability in the build; None: it does not say."""
    named = known(facts.tensorflow.build.compute_capabilities)
    numbers = [int(m[1]) for m in (re.fullmatch(r"(?:sm|compute)_(\d+)[a-z]?", n) for n in named) if m]
    return divmod(min(numbers), 10) if numbers else None


def _shown(capability: tuple[int, ...]) -> str:
    return ".".join(str(n) for n in capability)


@check(
    "GD513",
    "gpu-compute-capability-too-old",
    stage=Stage.TENSORFLOW,
    explains=(
        *SHOWN,
        "cuinit-no-device",
        "cuinit-fails",
        "libcuda-not-found",
        "driver-rminit-failed",
        "driver-module-not-loaded",
        "driver-too-old",
        "tf-lists-no-gpu",
    ),
)
def gpu_compute_capability_too_old(facts: Facts) -> Findings:
    """The GPU is older than this build of TensorFlow supports.

    What it looks at: TensorFlow's own line 'Ignoring visible gpu device … The minimum required Cuda capability is …'; in a
    pasted text also 'no kernel image is available' beside the name of such a GPU; where TensorFlow was not run, the lowest compute capability in its build_info.py against those of the GPUs. Beside
    a GPU that TensorFlow takes it is no fault (gpu-left-out-beside-another).

    Why it matters: TensorFlow leaves such a GPU out and computes on the CPU, with one line of log.

    How to fix: use a TensorFlow release (or a container of NVIDIA's) that is still built for this GPU, or build
    TensorFlow from source with this compute capability.

    Source: TensorFlow, tensorflow/core/common_runtime/gpu/gpu_device.cc; tf.sysconfig.get_build_info.
    """
    if told := decided(facts, "gpu-compute-capability-too-old"):
        yield Found(
            message="The GPU is older than any TensorFlow with CUDA, and than today's drivers, support.",
            proof=lines(told),
            fixes=(fix.OTHER_GPU,),
        )
        return
    if facts.text.is_all and (older := list(_work.too_old(facts))):
        yield from older
        return
    _need_cuda_build(facts)
    if facts.text.is_all and not facts.text.said("capability-too-old"):
        _work.unknown("nvidia-smi --query-gpu=name,compute_cap --format=csv")
    too_old, others = _too_old(facts)
    if not others:
        yield from too_old
    return _not_too_old(facts, others)


def _too_old(facts: Facts) -> tuple[list[Found], bool]:
    """What is found of each GPU that is too old, and whether TensorFlow takes others."""
    events, listed = facts.tensorflow.said("capability-too-old"), facts.tensorflow.gpus()
    if isinstance(events, Unread):
        return _too_old_by_files(facts)
    found = []
    for event in events:
        has, least = event.values.get("capability", "?"), event.values.get("minimum", "?")
        name = event.values.get("name", "The GPU")
        said = Evidence(text=event.text, source="TensorFlow")
        found.append(_outdated(event.values.get("device"), name, has, least, said))
    return found, bool(found) and bool(known(listed))


def _not_too_old(facts: Facts, others: bool) -> str:
    """The reason, with the build's lowest and the GPUs' where both are told."""
    if others:
        return "TensorFlow uses other GPUs beside it (gpu-left-out-beside-another)"
    named, devices = facts.tensorflow.build.compute_capabilities, facts.driver.libcuda.devices
    minimum = None if isinstance(named, Unread) else _built_for(facts)
    if minimum is None or isinstance(devices, Unread):
        return "no GPU is left out as too old"
    has = sorted({_shown(tuple(c)) for d in devices if not isinstance(c := d.compute_capability, Unread)})
    return f"the build starts at {_shown(minimum)}, " + (
        f"the GPUs have {' and '.join(has)}" if has else "no GPU is listed"
    )


def _too_old_by_files(facts: Facts) -> tuple[list[Found], bool]:
    minimum = _built_for(facts)
    if minimum is None or isinstance(facts.driver.libcuda.devices, Unread):
        known(facts.tensorflow.events)
        return [], False
    devices = known(facts.driver.libcuda.devices)
    found = []
    for device in devices:
        has = known(device.compute_capability)
        if tuple(has) < minimum:
            built = Evidence(text=f"the lowest in the build is {_shown(minimum)}", source="build_info.py")
            mine = Evidence(text=f"{device.name} has {_shown(tuple(has))}", source="libcuda")
            one = (str(device.index), str(device.name), _shown(tuple(has)), _shown(minimum))
            found.append(_outdated(*one, built, mine))
    return found, len(found) < len(devices)


def _outdated(index: str | None, name: str, has: str, least: str, *proof: Evidence) -> Found:
    return Found(
        message=f"{name} has compute capability {has}; this build of TensorFlow starts at {least} and leaves it out.",
        proof=proof,
        about=(f"gpu{index}",) if index is not None else (),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Use an older TensorFlow release that is built for compute capability {has}, or build it "
                f"from source with TF_CUDA_COMPUTE_CAPABILITIES={has}",
                steps=(),
            ),
        ),
    )


@check(
    "GD515",
    "gpu-ignored-few-sms",
    stage=Stage.TENSORFLOW,
    level=Level.WARN,
    explains=("tf-lists-no-gpu",),
)
def gpu_ignored_few_sms(facts: Facts) -> Findings:
    """TensorFlow ignores a GPU because it has few multiprocessors.

    What it looks at: TensorFlow's own line 'Ignoring visible gpu device … The minimum required count is …', where it
    lists no GPU. Beside a GPU that TensorFlow takes it is no fault (gpu-left-out-beside-another), unless somebody misses it: in a pasted text,
    a second GPU is not seen, and one of those that are named has fewer than 8 multiprocessors.

    Why it matters: TensorFlow leaves out GPUs with fewer than 8 multiprocessors, or than
    TF_MIN_GPU_MULTIPROCESSOR_COUNT asks for.

    How to fix: set TF_MIN_GPU_MULTIPROCESSOR_COUNT to what the GPU has.

    Source: TensorFlow, tensorflow/core/common_runtime/gpu/gpu_device.cc (GetMinGPUMultiprocessorCount).
    """
    if facts.text.is_all and (found := _small_in_words(facts)) is not None:
        yield found
        return None
    _need_cuda_build(facts)
    small = _small(facts)
    if small and not known(facts.tensorflow.gpus()):
        yield from small
    return (
        "TensorFlow leaves a GPU out and lists others"
        if small
        else "TensorFlow leaves out no GPU for its multiprocessors"
    )


def _another_is_taken(facts: Facts) -> bool:
    """TensorFlow counts from 0: where a text shows no list, and it leaves out others than the first, the first is taken."""
    if not facts.text.is_all or not isinstance(facts.tensorflow.gpus(), Unread):
        return False
    out = [e.values.get("device", "0") for e in facts.text.said("few-multiprocessors", "capability-too-old")]
    return bool(out) and "0" not in out


def _small(facts: Facts) -> list[Found]:
    found = []
    for event in _said(facts, "few-multiprocessors"):
        count, least = event.values.get("count", "?"), event.values.get("minimum", str(_DEFAULT_MINIMUM))
        fix = Fix(
            kind="env",
            risk="safe",
            summary="Let TensorFlow use it, for this shell and what it starts",
            steps=(f"export {_MINIMUM}={count}",),
            env=(EnvChange(name=_MINIMUM, op="set", value=count),),
        )
        found.append(
            Found(
                message=f"{event.values.get('name', 'A GPU')} has {count} multiprocessors; TensorFlow uses GPUs with at "
                f"least {least}.",
                proof=(Evidence(text=event.text, source="TensorFlow"),),
                about=(f"gpu{event.values['device']}",) if "device" in event.values else (),
                fixes=(fix,) if count.isdecimal() else (),
            )
        )
    return found


@check("GD531", "gpu-left-out-beside-another", stage=Stage.TENSORFLOW, level=Level.INFO)
def gpu_left_out_beside_another(facts: Facts) -> Findings:
    """TensorFlow leaves a GPU out, too old or too small for it, and uses another one.

    What it looks at: TensorFlow's own lines 'Ignoring visible gpu device …', where it lists a GPU; where TensorFlow was
    not run, GPUs older than its build among others that are not.

    Why it matters: mostly it does not: a display card beside the GPU that computes. Whoever wants to compute on it, too,
    finds here what it takes.

    How to fix: leave it out; or, for a small one, set TF_MIN_GPU_MULTIPROCESSOR_COUNT to what it has, and for an old
    one use a release of TensorFlow that is still built for it.

    Source: TensorFlow, tensorflow/core/common_runtime/gpu/gpu_device.cc.
    """
    _need_cuda_build(facts)
    too_old, others = _too_old(facts)
    if others:
        yield from too_old
    small = () if isinstance(facts.tensorflow.said("few-multiprocessors"), Unread) else _small(facts)
    if small and (_another_is_taken(facts) or known(facts.tensorflow.gpus())):
        yield from small
    return "TensorFlow leaves out no GPU beside others"


_FEW_SMS = Pattern(
    r"(?i)\b(?:GT ?X? ?10[35]0(?!0)|GT ?1030|GTX? ?(?:7[0-5]|9[45])0(?!0)|GT ?[67]\d\d|MX ?[123]\d0|[89][1-6]0 ?MX?|Quadro (?:P[46]\d0|P1000|K\d{3}|K[12]\d00|M[16]\d{2}0?|T400)|NVS ?\d{3})\b"
)
"""NVIDIA's products with fewer multiprocessors than TensorFlow wants beside another GPU."""


def _small_in_words(facts: Facts) -> Found | None:
    """Somebody's second GPU is not seen, and is a small one."""
    unseen, cards = facts.text.said("one-of-several-unseen"), facts.text.cards()
    small = [name for name in cards if _FEW_SMS.search(name)]
    if unseen and not small and (one := _FEW_SMS.search(unseen[0].text)):
        small = [one[0]]
    alone = len(small) == len(cards) and not (unseen and small and small[0] in unseen[0].text)
    if not unseen or not small or alone or facts.text.said("several-machines"):
        return None
    return Found(
        message=f"{small[0]} has fewer multiprocessors than TensorFlow wants of a GPU beside a larger one ({_DEFAULT_MINIMUM}): it is left out.",
        proof=lines((unseen[0], *(e for e in facts.text.said("names") if small[0] in e.values.get("cards", "")))),
        fixes=(
            Fix(
                kind="env",
                risk="safe",
                summary="Let TensorFlow use it, for this shell and what it starts; a step of both takes as long as the small one needs",
                steps=(f"export {_MINIMUM}=1",),
                env=(EnvChange(name=_MINIMUM, op="set", value="1"),),
            ),
        ),
    )


_REJECTED = Pattern(
    r"INVALID_PTX|ILLEGAL_INSTRUCTION|NO_BINARY_FOR_GPU|no kernel image|INVALID_HANDLE|ARCH_MISMATCH|INVALID_SOURCE"
    r"|CUBLAS_STATUS_EXECUTION_FAILED|cudaErrorNoKernelImageForDevice|UNSUPPORTED_PTX_VERSION"
)


def _failed(facts: Facts) -> list[tuple[Measurement, str]]:
    """The kernels on GPUs that ended without a result, and why."""
    return [(one, one.failed) for one in facts.measurements if one.failed and one.in_tensorflow and "GPU" in one.device]


def _without_machine_code(facts: Facts) -> tuple[LogEvent, ...]:
    _need_cuda_build(facts)
    events = _said(facts, "no-machine-code")
    if not events:
        raise NotApplicable("TensorFlow does not say that it has no machine code for a GPU")
    return events


def _codeless(facts: Facts, events: tuple[LogEvent, ...]) -> tuple[str, ...]:
    """The GPUs of the compute capabilities that the events name."""
    meant = {_number(e.values.get("capability", "")) for e in events}
    gpus = facts.tensorflow.gpus()
    found = [
        f"gpu{i}"
        for i, gpu in enumerate(gpus if not isinstance(gpus, Unread) else ())
        if not isinstance(gpu.compute_capability, Unread) and tuple(gpu.compute_capability) in meant
    ]
    return tuple(found)


def _too_new_by_the_wheel(facts: Facts) -> Iterator[Found]:
    """Where TensorFlow was not run: what its wheel holds, by compat/, and which GPUs are here."""
    _need_cuda_build(facts)
    for reason in _fit.of_rule(facts, "code") if isinstance(facts.tensorflow.events, Unread) else ():
        if reason.effect == "fails" and "no code that" in reason.text:
            yield Found(
                message=f"TensorFlow {facts.tensorflow.version}: {reason.text}.",
                proof=(_fit.tensorflow_evidence(facts), _fit.record(reason)),
                fixes=_fit.another_release(facts),
            )


@check(
    "GD516",
    "gpu-too-new-for-build",
    stage=Stage.TENSORFLOW,
    explains=("op-fails", "jit-cold-start", "gpu-memory-handle-alloc", "ptxas-too-old", "gpu-wrong-result"),
)
def gpu_too_new_for_build(facts: Facts) -> Findings:
    """The GPU is newer than this build of TensorFlow, and what is compiled for it on the fly fails.

    What it looks at: TensorFlow's line 'not built with CUDA kernel binaries compatible with compute capability …',
    together with kernels on that GPU that fail for reasons of code: INVALID_PTX, ILLEGAL_INSTRUCTION, no kernel image. Where
    TensorFlow was not run: the code that its wheel holds. In a pasted text: such failures, or cuBLAS' and cuDNN's, an nvcc that does not know it,
    a loss that is no number, or that it goes wrong, beside a GPU that is newer than the CUDA of this TensorFlow.

    Why it matters: the GPU is listed, and most operations on it fail.

    How to fix: use a TensorFlow that is built for this GPU: a newer release or tf-nightly, or NVIDIA's container; or
    build it from source with this compute capability. A newer driver may help where only the compilation from PTX fails.

    Source: TensorFlow, tensorflow/core/common_runtime/gpu/gpu_device.cc; CUDA driver API, CUresult.
    """
    if facts.text.is_all:
        return (yield from _work.too_new(facts))
    if by_the_wheel := list(_too_new_by_the_wheel(facts)):
        yield from by_the_wheel
        return
    events = _without_machine_code(facts)
    failed = [(one, why) for one, why in _failed(facts) if _REJECTED.search(why)]
    rejected = _said(facts, "code-rejected") if _failed(facts) else ()
    if not failed and not rejected:
        return "nothing failed for want of machine code"
    has = events[0].values.get("capability", "?")
    yield Found(
        message=f"This build of TensorFlow has no machine code for compute capability {has}, and what is compiled for "
        "it at run time fails.",
        proof=(
            Evidence(text=events[0].text, source="TensorFlow"),
            *(Evidence(text=why, source=f"TensorFlow {one.kernel} on {one.device}") for one, why in failed[:3]),
            *(Evidence(text=e.text, source="TensorFlow") for e in rejected[:2]),
        ),
        about=_codeless(facts, events),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Use a TensorFlow that is built for compute capability {has}: a newer release, tf-nightly, or "
                "NVIDIA's container nvcr.io/nvidia/tensorflow",
                steps=(),
            ),
        ),
    )


_CACHED = "du -sh ~/.nv/ComputeCache  # then start it again: does the second start take as long?"


def _slow_start(facts: Facts) -> Found:
    """What somebody says of a start that takes minutes: the first one, or on a card that is newer than what was opened. Raises
    UnknownFactError."""
    text = facts.text
    first, newer = text.said("first-start-long"), _told.too_new(facts, any_of_them=True)
    long = text.said("slow-start") if text.said("device-line-waits") else ()
    long = long or (text.said("first-use-slow") if text.said("compute-cache-named") else ())
    if newer:
        long = text.said("slow-start") or (text.said("takes-long") if text.said("device-found") else ())
    first = first or text.said("start-takes-minutes")
    if text.said("card-before-build"):  # no code of it is compiled for that card
        first, long = (), ()
    if text.said("several-no-faster"):  # the first run is the one on one of them
        first = ()
    if any(e.symptom not in (None, "runs-slowly") and not e.is_weak for e in text.understood()) or not (first or long):
        raise UnknownFactError(
            Unread(why="this text does not say whether it is compiled at each start", settle=_CACHED)
        )
    return Found(
        message="A start that takes minutes: as where the build has no code for the GPU, which is compiled then.",
        proof=lines((first or long)[:1]),
        level=Level.WARN,
        fixes=(_KEEP_COMPILED,),
    )


_KEEP_COMPILED = Fix(
    kind="advice",
    risk="safe",
    summary="Keep the compiled code (~/.nv/ComputeCache, or CUDA_CACHE_PATH), with room for all of it",
    steps=("export CUDA_CACHE_MAXSIZE=4294967296",),
)


_LONG_SAID = (
    "takes-long",
    "slow-named",
    "slow-start",
    "start-is-slow",
    "first-start-long",
    "start-takes-minutes",
    "first-use-slow",
)


@check("GD514", "jit-cold-start", stage=Stage.SPEED, level=Level.WARN, explains=("op-fails",))
def jit_cold_start(facts: Facts) -> Findings:
    """The build has no machine code for this GPU: each first use is compiled from PTX, which works and takes time.

    What it looks at: TensorFlow's line 'not built with CUDA kernel binaries compatible with compute capability …', while
    no kernel fails for reasons of code. It is said for information, unless somebody asks in a pasted text why it takes long. There also
    without that line: a first start that takes minutes, a first use that takes minutes and is quick afterwards, one that is slow where CUDA's cache is named, or a start that takes long
    on a card that is newer than the CUDA.

    Why it matters: the first run of a program can take minutes to half an hour. The compiled code is kept in
    ~/.nv/ComputeCache, and the next start is fast, unless the cache is too small or can't be written.

    How to fix: let it compile once and keep the cache (in a container: on a volume), large enough for everything; or
    use a TensorFlow that is built for this GPU.

    Source: TensorFlow, gpu_device.cc; CUDA programming guide, CUDA_CACHE_PATH and CUDA_CACHE_MAXSIZE.
    """
    if facts.text.is_all and not facts.text.said("no-machine-code"):
        if (why := _told.fits(facts)) and not facts.text.said(*_LONG_SAID):
            return why
        yield _slow_start(facts)
        return None
    events = _without_machine_code(facts)
    failed = _failed(facts)
    if any(_REJECTED.search(why) for _, why in failed) or (failed and _said(facts, "code-rejected")):
        return "what is compiled for the GPU is refused (gpu-too-new-for-build)"
    if facts.text.said("ptx-too-new"):
        return
    late = bool(failed) and all("did not end within" in why for _, why in failed)
    has = events[0].values.get("capability", "?")
    yield Found(
        message=f"This build of TensorFlow has no machine code for compute capability {has}: it is compiled at first use, "
        "which can take many minutes" + (", longer than the kernels here were given." if late else "."),
        proof=(Evidence(text=events[0].text, source="TensorFlow"),),
        about=_codeless(facts, events),
        explains=("op-fails",) if late else (),
        level=Level.WARN
        if facts.text.said("takes-long", "slow-named") and not facts.text.shows_a_failure
        else Level.INFO,
        fixes=(_KEEP_COMPILED,),
    )
