"""The process and its surroundings: limits, control groups, sudo, the processor."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gpudoctor.checks import _told, _work
from gpudoctor.checks._cuinit import answered
from gpudoctor.checks._kernel_log import shown
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import lines
from gpudoctor.checks.library_texts import not_in_this_text
from gpudoctor.checks.places_texts import dropped_by_sudo
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage, on_library_path
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_OUT_OF_MEMORY = 2
_NO_SPACE = Pattern(r"failed to map segment|cannot allocate memory|MemoryError|bad_alloc", re.IGNORECASE)
_KILLED = Pattern(r"\bSIGKILL\b|\bsignal 9\b")
_GIB = 1 << 30


@check(
    "GD524",
    "cpu-no-avx",
    stage=Stage.TENSORFLOW,
    explains=("tf-import-broken", "tf-lists-no-gpu"),
)
def cpu_no_avx(facts: Facts) -> Findings:
    """This processor lacks AVX, which TensorFlow's wheels are built for.

    What it looks at: how the import of TensorFlow (or its loader, asked alone) died: an illegal instruction (SIGILL),
    or TensorFlow's own message that the processor lacks instructions; and the processor's flags. In a pasted text also what somebody
    says of the processor, or a model of before AVX, where TensorFlow fails and no line tells another reason.

    Why it matters: every wheel since 1.6 needs AVX. In a virtual machine the processor often has it and the hypervisor
    hides it.

    How to fix: in a virtual machine, pass the host's processor through; else use another machine, or build TensorFlow.

    Source: TensorFlow release notes 1.6; tensorflow/tensorflow issue 46496.
    """
    if facts.text.is_all:
        yield from _no_avx_in_text(facts)
        return
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    if known(facts.system.machine) not in ("x86_64", "AMD64", "i686"):
        raise NotApplicable("AVX is of x86 processors")
    loader = facts.tensorflow.loader_ok
    error = facts.tensorflow.import_error
    died = loader.why if isinstance(loader, Unread) and "SIGILL" in loader.why else None
    if died is None:
        died = known(error)
    if died is None or not ("SIGILL" in died or ("SIGABRT" in died and _says_avx(facts))):
        return "TensorFlow imports" if died is None else "nothing ended by an illegal instruction"
    if "avx" in known(facts.system.cpu_flags):
        return "the processor has AVX"
    virtual = facts.system.hypervisor is True
    model = facts.system.cpu_model
    yield Found(
        message="TensorFlow's wheels need a processor with AVX, and this one has none"
        + (" (or this virtual machine hides it)." if virtual else "."),
        proof=(
            Evidence(text=died, source="TensorFlow, in a child process"),
            Evidence(
                text=f"{model if isinstance(model, str) else 'the processor'}: no flag avx", source="/proc/cpuinfo"
            ),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary="Give the virtual machine the host's processor type (QEMU and libvirt: host-passthrough; Proxmox: "
                "CPU type host)"
                if virtual
                else "Use a machine whose processor has AVX, or build TensorFlow from source without it",
                steps=(),
                verify="grep -c avx /proc/cpuinfo",
            ),
        ),
    )


def _says_avx(facts: Facts) -> bool:
    log = facts.tensorflow.log
    return not isinstance(log, Unread) and any("compiled to use AVX" in line for line in log)


def _no_avx_in_text(facts: Facts) -> Iterator[Found]:
    """TensorFlow's own words; or an illegal instruction on x86, where no line shows that TensorFlow came further."""
    if facts.system.machine in ("aarch64", "arm64"):
        raise NotApplicable("AVX is of x86 processors")
    told, died = facts.text.said("avx-required"), facts.text.said("illegal-instruction")
    if facts.text.said("benign-cpu-instructions", "device-created", "cudnn-loaded"):
        died = ()
    if not (proof := told or died or _named_without(facts)):
        raise UnknownFactError(Unread(why="not in this text", settle="grep -c avx /proc/cpuinfo"))
    flags = next((e.values["flags"] for e in told if not _OF_AVX.search(e.values.get("flags", "AVX"))), None)
    yield Found(
        message="TensorFlow's wheels need a processor with AVX, and this one has none (or a virtual machine hides it)."
        if flags is None
        else f"This build of TensorFlow needs a processor with {flags}, and this one has none (or a virtual machine hides it).",
        proof=lines(proof),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Use another machine, pass the host's processor through to the virtual machine, or build TensorFlow "
                f"without {flags or 'AVX'}",
                steps=(),
                verify=f"grep -c {(flags or 'avx').split()[0].strip(',.').lower()} /proc/cpuinfo",
            ),
        ),
        explains=("tf-import-broken", "tf-lists-no-gpu", READS_LIKE_A_FAULT),
    )


_OF_AVX = Pattern(r"AVX(?!512)")
_NEEDS_AVX = (1, 6)


def _named_without(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody says that the processor has no AVX, or names one that has none, where TensorFlow fails and no line tells another
    reason."""
    release = re.match(r"(\d+)\.(\d+)", str(facts.tensorflow.version))
    before = release is not None and (int(release[1]), int(release[2])) < _NEEDS_AVX
    gone = facts.tensorflow.directory is None
    if facts.text.shows_a_failure or gone or before or facts.text.said("processor-with-avx"):
        return ()
    lacks, fails = facts.text.said("avx-absent-said"), facts.text.said("tensorflow-fails-said")
    old = lacks or facts.text.said("processor-without-avx")
    about = fails or tuple(e for e in lacks if "tensorflow" in e.text.lower())
    return (old[0], *(e for e in about[:1] if e.line != old[0].line)) if old and about else ()


@check(
    "GD901",
    "address-space-limit",
    stage=Stage.USE,
    explains=("tf-lists-no-gpu", "cuinit-fails", "libcuda-not-found", "tf-import-broken", "op-fails"),
)
def address_space_limit(facts: Facts) -> Findings:
    """The limit on this process's address space is too small for CUDA.

    What it looks at: RLIMIT_AS (ulimit -v), and that cuInit answers 2 (out of memory), that libcuda can't be mapped,
    or that TensorFlow's import runs out of memory. A limit without such a failure is no fault. In a pasted text: a limit (ulimit) that
    somebody names beside TensorFlow's 'failed to allocate … CUDA_ERROR_OUT_OF_MEMORY'.

    Why it matters: CUDA reserves many gigabytes of addresses, far more than it uses. Batch systems and shared login
    machines set such limits.

    How to fix: ulimit -v unlimited, before the program is started; in a batch job ask for more memory, or have the
    administrator limit the control group's memory in its place.

    Source: observed on an H100 host (driver 580.159.04): cuInit answers 2 under ulimit -v of 4 GiB, and works under 16.
    """
    told = facts.text.said("address-space-limited", "address-space-said") if facts.text.is_all else ()
    if told and (refused := facts.text.said("allocation-refused", "no-memory-for-a-context")):
        message = "A limit on this process's address space (ulimit) is set, and CUDA reserves more than it uses."
        yield Found(message=message, proof=lines((told[0], refused[0])), fixes=(_LIFT,))
        return None
    limit = known(facts.system.limit_address_space_bytes)
    if limit is None:
        return "the address space is not limited (ulimit -v)"
    lib = facts.driver.libcuda
    failures = []
    if lib.init_result == _OUT_OF_MEMORY:
        failures.append(Evidence(text=answered(_OUT_OF_MEMORY), source="libcuda, in a child process"))
    for text, source in ((lib.load_error, "dynamic loader"), (facts.tensorflow.import_error, "import tensorflow")):
        if isinstance(text, str) and _NO_SPACE.search(text):
            failures.append(Evidence(text=text, source=f"{source}, in a child process"))
    if not failures:
        if lib.path is not None:
            known(lib.init_result)
        return f"nothing failed within {limit / _GIB:.3g} GiB of addresses (ulimit -v)"
    yield Found(
        message=f"This process may use {limit / _GIB:.3g} GiB of addresses (ulimit -v), and CUDA reserves more.",
        proof=(Evidence(text=f"RLIMIT_AS is {limit} bytes", source="getrlimit()"), *failures),
        fixes=(_LIFT,),
    )
    return None


_LIFT = Fix(
    kind="command",
    risk="safe",
    summary="Lift the limit for this shell and what it starts; where that is refused, the administrator or the batch system has set it",
    steps=("ulimit -v unlimited",),
    verify="ulimit -v && gpudoctor check",
)


@check(
    "GD902",
    "cgroup-memory-limit",
    stage=Stage.USE,
    explains=("tf-import-broken", "tf-lists-no-gpu", "op-fails"),
)
def cgroup_memory_limit(facts: Facts) -> Findings:
    """The memory limit of this container or job is too small: the kernel killed TensorFlow.

    What it looks at: a child of gpudoctor that was ended by signal 9, a memory limit of its control group, and that
    the control group counted a kill for want of memory (oom_kill) while gpudoctor ran. In a pasted text: Kubernetes' OOMKilled, Slurm's oom-kill event, the kernel's
    'Memory cgroup out of memory' and what LSF and PBS say, or 'Killed' beside a limit in the command (docker run --memory), where nobody
    says that the memory only grows.

    Why it matters: the program disappears with 'Killed' and nothing else. Importing TensorFlow and starting CUDA take a
    few gigabytes of host memory before any data is loaded.

    How to fix: raise the limit (docker run --memory, resources.limits.memory, sbatch --mem).

    Source: Linux kernel, cgroup-v2, memory.events.
    """
    killed_by = [e for e in facts.text.said("killed", "cgroup-killed") if e.kind != "killed" or "OOMKilled" in e.text]
    if facts.text.is_all and (told := killed_by):
        if facts.text.said(*_GROWS):
            raise UnknownFactError(Unread(why="memory that only grows meets every limit"))
        yield Found(
            message="The job or pod met its memory limit, and was killed.", proof=lines(told[:2]), fixes=(_RAISE,)
        )
        return None
    granted, ended = facts.text.said("memory-granted"), facts.text.said("killed", "killed-said")
    if facts.text.is_all and granted and ended and not facts.text.said(*_GROWS, *_work.FULL):
        message = "The container or job was given this much memory, and was killed."
        yield Found(message=message, proof=lines((granted[0], ended[0])), fixes=(_RAISE,))
        return None
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    ends = [m.failed for m in facts.measurements if m.failed]
    devices, error = facts.tensorflow.devices, facts.tensorflow.import_error
    ends += [devices.why] if isinstance(devices, Unread) else []
    ends += [error] if isinstance(error, str) else []
    killed = [text for text in ends if _KILLED.search(text)]
    if not killed:
        known(error)
        return "nothing that ran was killed"
    limit = known(facts.system.memory_limit_bytes)
    if limit is None:
        return "memory is not limited"
    counted = facts.system.oom_kills_during
    log = facts.system.kernel_log_during
    kills = [] if isinstance(log, Unread) else [e for e in log if e.kind == "oom-kill"]
    if not kills and not known(counted):
        return "the kernel killed nothing for want of memory"
    yield Found(
        message=f"The kernel killed it for want of memory: this container or job may use {limit / _GIB:.3g} GiB.",
        proof=(
            Evidence(text=killed[0], source="a child process of gpudoctor"),
            Evidence(text=f"memory limit {limit} bytes, kills while gpudoctor ran: {counted}", source="control group")
            if isinstance(counted, int)
            else Evidence(text=f"memory limit {limit} bytes", source="control group"),
            *shown(kills),
        ),
        fixes=(_RAISE,),
    )
    return None


_GROWS = ("memory-grows", "memory-grows-by-step")
_RAISE = Fix(
    kind="advice",
    risk="safe",
    summary="Raise the limit: docker run --memory, resources.limits.memory in Kubernetes, --mem in Slurm",
    steps=(),
)


@check(
    "GD904",
    "sudo-stripped-environment",
    stage=Stage.VISIBILITY,
    explains=(
        "tf-lists-no-gpu",
        "libcuda-not-found",
        "driver-libcuda-not-on-path",
        "ld-library-path-not-set",
        "pip-nvidia-libs-not-found",
        "tf-wheel-runpath-gap",
        "cuda-libs-missing",
    ),
)
def sudo_stripped_environment(facts: Facts) -> Findings:
    """sudo dropped the variable that tells the loader where the CUDA libraries are.

    What it looks at: LD_LIBRARY_PATH of the sudo process itself, against this one's; which libraries lie on it; and which
    library could not be found here. It fires where the missing library lies there. In a pasted text: a library that is lost, and
    somebody's word that it is found without sudo.

    Why it matters: without sudo it works. `sudo -E` does not help: the loader takes this variable from every program
    with the set-user-id bit, sudo among them.

    How to fix: run it without sudo, or name the variable behind sudo: sudo env LD_LIBRARY_PATH=… python3 …

    Source: sudoers(5), 'Command environment'; ld.so(8), 'Secure-execution mode'.
    """
    if facts.text.is_all:
        yield from not_in_this_text(dropped_by_sudo(facts))
        return
    if facts.environment.dropped_by_sudo is None:
        raise NotApplicable("this is not run under sudo")
    if not _not_found(facts):
        return "no library is missing"
    value = next((v.value for v in known(facts.environment.dropped_by_sudo) or () if v.name == "LD_LIBRARY_PATH"), None)
    if not value:
        return "sudo dropped no LD_LIBRARY_PATH"
    there = {os.path.basename(path): path for path in known(facts.environment.dropped_libraries) or ()}
    lost = [there[name] for name in _not_found(facts) if name in there]
    if not lost:
        return "what is missing is not on the path that sudo dropped"
    names = ", ".join(os.path.basename(p) for p in lost)
    yield Found(
        message=f"sudo dropped LD_LIBRARY_PATH, and {names} is found through it alone.",
        proof=(
            Evidence(text=f"LD_LIBRARY_PATH={value}", source="the sudo process's own environment"),
            *(Evidence(text=f"{p} is there, and was not found", source="files") for p in lost),
        ),
        fixes=(on_library_path([d for d in value.split(":") if d]),),
    )


def _not_found(facts: Facts) -> list[str]:
    """Sonames that could not be loaded here."""
    names = ["libcuda.so.1"] if facts.driver.libcuda.path is None else []
    picks = facts.tensorflow.libraries
    if not isinstance(picks, Unread):
        names += [p.stopped_by or p.soname for p in picks if p.picked is None]
    return names


@check("GD906", "jit-cache-unwritable", stage=Stage.SPEED, level=Level.WARN, explains=("jit-cold-start",))
def jit_cache_unwritable(facts: Facts) -> Findings:
    """CUDA can't keep the kernels that it compiles.

    What it looks at: whether this user may write to CUDA_CACHE_PATH, or to ~/.nv/ComputeCache, or make it. It does not
    apply where CUDA_CACHE_DISABLE is set, or where CUDA finds no GPU. It is said for information. In a pasted text: every start takes
    minutes on a GPU that is newer than the build, and the file system is read-only, or there is no home directory.

    Why it matters: only where a build has no machine code for the GPU: then every start compiles every kernel again,
    which takes minutes. Otherwise nothing is lost.

    How to fix: point CUDA_CACHE_PATH to a directory that can be written and that lasts.

    Source: CUDA C++ Programming Guide, CUDA environment variables.
    """
    if facts.text.is_all:
        yield _compiled_each_time(facts)
        return None
    if facts.environment.known("CUDA_CACHE_DISABLE") == "1":
        raise NotApplicable("CUDA_CACHE_DISABLE is set")
    devices = facts.driver.libcuda.devices
    if isinstance(devices, Unread) or not devices:
        raise NotApplicable("CUDA lists no GPU")
    place = known(facts.system.jit_cache)
    if place is not None and known(facts.system.jit_cache_writable):
        return f"{short(place)} can be written"
    what = f"{place} can't be written by this user" if place is not None else "there is no home directory"
    yield Found(
        message=f"CUDA keeps no compiled kernels from one start to the next: {what}.",
        proof=(Evidence(text=what, source="access()"),),
        fixes=(_ANOTHER_PLACE,),
        level=Level.INFO,
        explains=(),
    )
    return None


_ANOTHER_PLACE = Fix(
    kind="advice",
    risk="safe",
    summary="Set CUDA_CACHE_PATH to a directory that this user can write and that stays (in a container: on a volume)",
    steps=(),
)


def _compiled_each_time(facts: Facts) -> Found:
    each, gone = facts.text.said("each-start-long"), facts.text.said("cache-not-kept")
    codeless = facts.text.said("no-machine-code") or _told.too_new(facts, any_of_them=True)
    if facts.text.shows_a_failure or not (each and gone and codeless) or facts.text.said("cache-placed"):
        raise UnknownFactError(
            Unread(why="not in this text", settle="ls -ld ~ ~/.nv/ComputeCache; env | grep -E 'HOME|CUDA_CACHE'")
        )
    return Found(
        message="Every start compiles the GPU's code anew: the driver finds no place to keep it.",
        proof=lines((*each, *gone)),
        fixes=(_ANOTHER_PLACE,),
    )
