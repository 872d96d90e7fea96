"""TensorFlow: what it lists, what it is, whether it imports."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _run
from gpudoctor.checks._builds_said import by_hand, is_apart, named_apart, with_cuda
from gpudoctor.checks._gpus import gpus, left_out, measured_on, ours
from gpudoctor.checks._installs import at_least
from gpudoctor.checks._pip import pip
from gpudoctor.checks._reasons import several, short
from gpudoctor.checks._said import lines
from gpudoctor.checks._work import named_too_new
from gpudoctor.checks.environment import visible_entries
from gpudoctor.facts import Facts, GpuDevice, Measurement, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage, SymptomRank
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check, symptom


@symptom("GD501", "tf-lists-no-gpu", rank=SymptomRank.NO_GPU, stage=Stage.TENSORFLOW)
def tf_lists_no_gpu(facts: Facts) -> Findings:
    """TensorFlow lists no GPU.

    What it looks at: tf.config.list_physical_devices() in a child process that runs the examined
    interpreter, with its environment. Under gpudoctor run, whether the program that had TensorFlow loaded touched a GPU.

    Why it matters: everything runs on the CPU, usually without an error.

    Source: TensorFlow, tf.config.list_physical_devices.
    """
    if facts.tensorflow.directory is None:
        _run.needs_tensorflow(facts)
        where = facts.python.executable
        yield Found(
            message="There is no TensorFlow that could list a GPU.",
            proof=(Evidence(text="TensorFlow is not installed", source=where if isinstance(where, str) else "files"),),
        )
        return
    error = facts.tensorflow.import_error
    if isinstance(error, str):
        yield Found(
            message="TensorFlow can't be imported, so it lists nothing.",
            proof=(Evidence(text=error, source="import tensorflow"),),
        )
        return
    if isinstance(facts.tensorflow.devices, Unread) and (proof := _run.touched_no_gpu(facts)):
        yield Found(
            message="The program ran on processors alone: no GPU had to do with it.", proof=proof, level=Level.WARN
        )
        return
    if not (found := known(facts.tensorflow.gpus())):
        listed = ", ".join(d.name for d in known(facts.tensorflow.devices)) or "nothing"
        yield Found(
            message="tf.config.list_physical_devices('GPU') is empty.",
            proof=(Evidence(text=f"TensorFlow lists {listed}", source="tf.config.list_physical_devices()"),),
        )
    return f"TensorFlow lists {several(len(found), 'GPU')}"


@symptom("GD502", "fewer-gpus", rank=SymptomRank.FEWER_GPUS, stage=Stage.TENSORFLOW)
def fewer_gpus(facts: Facts) -> Findings:
    """TensorFlow lists fewer GPUs than it should.

    What it looks at: the number of GPUs that TensorFlow lists against the number of entries in
    CUDA_VISIBLE_DEVICES, or, where that is not set, against the GPUs that NVML lists and this process may ask.
    Of MIG instances CUDA uses one a process, however many there are. GPUs that TensorFlow itself says it leaves out
    beside others are gpu-left-out-beside-another's subject.

    Why it matters: the others stand idle.

    Source: TensorFlow, tf.config.list_physical_devices; NVML, nvmlDeviceGetCount; NVIDIA Multi-Instance GPU User Guide,
    CUDA device enumeration.
    """
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    listed = known(facts.tensorflow.gpus())
    if not listed:
        raise NotApplicable("TensorFlow lists none")
    chosen = facts.environment.known("CUDA_VISIBLE_DEVICES")
    if _uses_an_instance(facts, chosen):
        raise NotApplicable("CUDA uses one MIG instance a process")
    wanted = _usable(facts) if chosen is None else len(visible_entries(chosen))
    if len(listed) < wanted - len(left_out(facts)):
        asked = "NVML lists" if chosen is None else f"CUDA_VISIBLE_DEVICES={chosen!r} names"
        yield Found(
            message=f"TensorFlow lists {len(listed)} GPU(s) where {asked} {wanted}.",
            proof=(Evidence(text=", ".join(d.name for d in listed), source="tf.config.list_physical_devices('GPU')"),),
        )
    return f"TensorFlow lists {several(len(listed), 'GPU')}; expected: {wanted - len(left_out(facts))}"


def _in_instances(facts: Facts) -> tuple[GpuDevice, ...]:
    """The GPUs in MIG mode that have instances; one without is mig-enabled-no-instance's subject."""
    devices = facts.gpu.devices
    listed = () if isinstance(devices, Unread) else ours(devices)
    return tuple(d for d in listed if d.mig_mode is True and d.mig_devices != ())


def _uses_an_instance(facts: Facts, chosen: str | None) -> bool:
    """Whether what CUDA shows to this process is an instance of a GPU in MIG mode."""
    if chosen is not None and any(e.upper().startswith("MIG-") for e in visible_entries(chosen)):
        return True
    cuda, parted = facts.driver.libcuda.devices, {d.pci_address for d in _in_instances(facts)}
    return not isinstance(cuda, Unread) and any(d.pci_address in parted for d in cuda)


def _usable(facts: Facts) -> int:
    """The GPUs that one process can use at a time: whole ones, and no instances beside them."""
    return len(gpus(facts)) - len(_in_instances(facts))


@symptom("GD503", "op-fails", rank=SymptomRank.OPERATION_FAILS, stage=Stage.USE)
def op_fails(facts: Facts) -> Findings:
    """An operation fails on a device that TensorFlow lists.

    What it looks at: every kernel that gpudoctor ran, on TensorFlow's devices and without TensorFlow, in a child process a
    device: did it end with a result, or with an error, a signal or the time limit? Matrix products, a convolution, an FFT,
    a solve, a function compiled by XLA, copies, and an all-reduce over all GPUs. What fails without TensorFlow as well is not TensorFlow's fault.

    Why it matters: a GPU that is listed is not yet one that works.

    Source: the measurement itself.
    """
    if facts.text.is_all:
        yield from _fails_in_text(facts)
        return
    if not facts.measurements:
        raise NotApplicable("no kernel was run")
    failed: dict[str, list[tuple[Measurement, str]]] = {}
    for one in facts.measurements:
        if one.failed:
            failed.setdefault(one.device, []).append((one, one.failed))
    for device, all_of_it in failed.items():
        one, why = all_of_it[0]
        also = ", ".join(other.kernel for other, _ in all_of_it[1:])
        yield Found(
            message=f"{one.kernel} on {device} failed: {why}" + (f" (also: {also})" if also else ""),
            proof=tuple(Evidence(text=w, source=f"{o.where_it_ran} {o.kernel} on {device}") for o, w in all_of_it),
            about=measured_on(facts, one),
        )
    ran = sum(not one.skipped for one in facts.measurements)
    return f"{several(ran, 'kernel')} ran, and none failed" if ran else "no kernel failed"


def _fails_in_text(facts: Facts) -> Iterator[Found]:
    failures = facts.text.shows("op-fails")
    if failures:
        yield Found(message="A program fails.", proof=lines(failures[:3]))
    elif named_too_new(facts):
        yield Found(
            message="A GPU is named that is newer than the build.",
            proof=lines(facts.text.said("names", "device-found")[:3]),
        )


@check("GD510", "tf-cpu-only-package", stage=Stage.TENSORFLOW, explains=("tf-lists-no-gpu", "tf-no-gpu-registered"))
def tf_cpu_only_package(facts: Facts) -> Findings:
    """The installed TensorFlow is built without CUDA.

    What it looks at: the package's own build_info.py (is_cuda_build), and which distribution it came from.

    Why it matters: no driver, library or variable makes such a build use an NVIDIA GPU. It comes from
    tensorflow-cpu, from conda when no GPU was visible while it solved, and on Windows and macOS.

    How to fix: replace it by the build with CUDA, of the same version.

    Source: TensorFlow, tf.sysconfig.get_build_info; https://www.tensorflow.org/install/pip
    """
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    build = facts.tensorflow.build
    if facts.text.is_all and build.cuda is not True and (why := _cpu_build_in_text(facts)) is not None:
        yield why
        return
    if facts.text.is_all and build.cuda is not False and (here := with_cuda(facts)):
        return f"a package with CUDA is named: {short(here[0].text)}"
    if known(build.cuda):
        return "this TensorFlow is built with CUDA" + (f" {v}" if isinstance(v := build.cuda_version, str) else "")
    if build.rocm is True:
        raise NotApplicable("this TensorFlow is built for AMD GPUs (ROCm)")
    name = facts.tensorflow.distribution
    version = facts.tensorflow.version
    python = facts.python.executable
    shown = f"{name} {version}" if isinstance(name, str) and isinstance(version, str) else "This TensorFlow"
    yield Found(
        message=f"{shown} is a build for CPUs only; it can't use a GPU.",
        proof=(
            Evidence(
                text="is_cuda_build is False",
                source="the text"
                if facts.text.is_all
                else f"{known(facts.tensorflow.directory)}/python/platform/build_info.py",
            ),
        ),
        fixes=(_replace(name, version, python, facts),),
    )


def _by_its_name(facts: Facts) -> Found | None:
    """Packages of distributions and of JavaScript that are for CPUs only, by their names."""
    said, lost = facts.text.said, facts.tensorflow.libraries
    asks = not isinstance(lost, Unread) and bool(lost)
    told = () if said("distribution-cuda-package") else said("distribution-cpu-package")
    if told and facts.tensorflow.devices == () and not asks:
        name = told[0].values["name"]
        with_cuda = f"{name}-cuda" if name.startswith("python-") else "pip install 'tensorflow[and-cuda]'"
        return Found(
            message=f"{name} of the distribution is built for CPUs only.",
            proof=lines(told),
            fixes=(
                Fix(kind="advice", risk="safe", summary=f"Take {with_cuda} in its place", steps=(), verify=_LISTS_GPUS),
            ),
        )
    script = () if said("javascript-gpu-package") else said("javascript-cpu-package")
    if script and (facts.tensorflow.devices == () or said("slow-named", "gpu-is-slow", "wants-gpu", "says-no-gpu")):
        return Found(
            message="The package @tensorflow/tfjs-node is for CPUs only; 'tensorflow' as its backend says that it is native.",
            proof=lines(script),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Install the package with CUDA, and require that",
                    steps=("npm install @tensorflow/tfjs-node-gpu",),
                ),
            ),
        )
    return None


_LISTS_GPUS = "python3 -c 'import tensorflow as tf; print(tf.config.list_physical_devices())'"


def _cpu_build_in_text(facts: Facts) -> Found | None:
    """The packages that a text lists, where no GPU is listed: tensorflow-cpu alone, or tensorflow of a release whose
    computing package was tensorflow-gpu."""
    if (after := facts.text.said("cpu-after-keras")) and facts.text.said("gpu-package"):
        return Found(
            message="keras asked for the package tensorflow, which before 1.15 is for CPUs only: it lies over tensorflow-gpu.",
            proof=lines(after),
            fixes=(by_hand(("tensorflow", "tensorflow-gpu"), "tensorflow-gpu", named_apart(facts)),),
        )
    if image := _cpu_image(facts):
        return Found(
            message="The image tensorflow/tensorflow without 'gpu' in its tag has the build for CPUs only.",
            proof=lines(image),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Start the image of the same release whose tag ends with -gpu",
                    steps=(),
                ),
            ),
        )
    if (by_name := _by_its_name(facts)) is not None:
        return by_name
    lost = facts.tensorflow.libraries
    asks = facts.text.is_all and not isinstance(lost, Unread) and bool(lost)  # which no build without CUDA does
    if asks or facts.tensorflow.devices != () or isinstance(facts.tensorflow.import_error, str):
        return None
    installed = facts.python.distributions
    ours = (
        {}
        if isinstance(installed, Unread)
        else {d.name: d.version for d in installed if d.name.startswith("tensorflow")}
    )
    apart = {n: v for n, v in ours.items() if n == "tensorflow" and is_apart(v)}
    forge = [
        e
        for e in facts.text.said("installed")
        if e.values.get("channel") == "conda-forge" and e.values["name"] == "tensorflow"
    ]
    apart |= {e.values["name"]: e.values["version"] for e in forge if is_apart(e.values["version"])}
    if not ("tensorflow-cpu" in ours and not ours.keys() & {"tensorflow", "tensorflow-gpu"}) and not apart:
        return None
    names = {n: v for n, v in {**ours, **apart}.items() if n in ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")}
    listed = ", ".join(f"{n} {v}" for n, v in names.items())
    rows = [e for e in facts.text.said("installed") if e.values.get("name", "").replace("_", "-") in names]
    version = next(iter(names.values()))
    wanted = "tensorflow-gpu" if apart else "tensorflow" if _before_extra(version) else "tensorflow[and-cuda]"
    return Found(
        message=f"{listed}: a build for CPUs only"
        + (" lies over the one with CUDA." if "tensorflow-gpu" in names else "."),
        proof=lines(rows),
        fixes=(by_hand(tuple(names), wanted, version),),
    )


def _cpu_image(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that starts an image without CUDA, where TensorFlow lists no GPU and says nothing of CUDA."""
    says_nothing = isinstance(facts.driver.libcuda.init_result, Unread) and not facts.text.shows_a_failure
    lacks = facts.tensorflow.devices == () or bool(facts.text.said("says-no-gpu", "lists-no-gpu", "lists-cpu"))
    asks = facts.text.said(
        "library-not-loaded",
        "libraries-not-opened",
        "cuinit-failed",
        "no-cuda-driver",
        "image-for-gpu",
        "names-extra",
        "pip-brings-tensorflow",
        "gpu-package",
    )
    return facts.text.said("cpu-image") if says_nothing and lacks and not asks else ()


_FIRST_EXTRA = "2.14"
"""The first release whose wheel has the extra [and-cuda]; before it CUDA is installed apart."""


def _before_extra(version: object) -> bool:
    return at_least(version, _FIRST_EXTRA) is False


def _replace(name: object, version: object, python: object, facts: Facts) -> Fix:
    """The build with CUDA in place of this one, where there is one for this platform."""
    if facts.system.system != "Linux" or facts.system.machine != "x86_64" or not isinstance(python, str):
        return Fix(
            kind="advice",
            risk="safe",
            summary="TensorFlow's wheels with CUDA exist for Linux on x86-64 only (on Windows: inside WSL2)",
            steps=(),
        )
    steps: list[str] = []
    installed = facts.python.distributions
    owners = [name] if isinstance(name, str) else []
    if isinstance(name, Unread) and not isinstance(installed, Unread):  # several lie over each other
        owners = [d.name for d in installed if d.name.startswith(("tensorflow", "tf-nightly")) and not d.shadowed]
    if owners:
        steps += pip(facts, "uninstall", "-y", *(quote(o) for o in owners))
    exact = f"=={version}" if isinstance(version, str) else ""
    extra = "" if _before_extra(version) else "[and-cuda]"
    steps += pip(facts, "install", quote(f"tensorflow{extra}{exact}"))
    return Fix(kind="command", risk="safe", summary="Replace it by the build with CUDA", steps=tuple(steps))


@check("GD520", "tf-import-broken", stage=Stage.TENSORFLOW, explains=("tf-lists-no-gpu",))
def tf_import_broken(facts: Facts) -> Findings:
    """TensorFlow is installed and can't be imported.

    What it looks at: how `import tensorflow` ended in a child process: an exception, a signal, the time limit.

    Why it matters: nothing works until it imports. Typical reasons are numpy or protobuf of another major
    version than this TensorFlow takes, a processor without AVX (signal 4, SIGILL), or a damaged installation.

    How to fix: read the last line of the traceback; reinstall TensorFlow with its dependencies.

    Source: observed; the child is gpudoctor's own.
    """
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    error = known(facts.tensorflow.import_error)
    if error is None:
        return "TensorFlow imports"
    if "cannot open shared object file" in error and facts.tensorflow.loader_ok is False:
        raise NotApplicable("the library that the import lacks is the subject of other checks")
    if facts.text.is_all:
        raise UnknownFactError(Unread(why="an import fails for many reasons", settle="python3 -c 'import tensorflow'"))
    yield Found(
        message=f"import tensorflow fails: {error}",
        proof=(Evidence(text=error, source="import tensorflow, in a child process"),),
        fixes=_reinstalls(facts, error),
    )


_LACKS = Pattern(r"ModuleNotFoundError: No module named '(?!tensorflow\b)([\w.]+)'")


def _reinstalls(facts: Facts, error: str) -> tuple[Fix, ...]:
    """First what TensorFlow asks for and lacks, where the import names it; TensorFlow's own files once more; where pip did not
    install it, the traceback."""
    python = quote(facts.python.executable) if isinstance(facts.python.executable, str) else "python3"
    see = f"{python} -c 'import tensorflow'"
    name, version, installed = facts.tensorflow.distribution, facts.tensorflow.version, facts.python.distributions
    ours = () if isinstance(installed, Unread) else installed
    own = next((d for d in ours if d.name == name and not d.shadowed), None)
    if own is None or own.installer == "conda" or isinstance(own.editable, str) or not isinstance(version, str):
        summary = "See the whole traceback; if it names no other package, reinstall"
        return (Fix(kind="command", risk="safe", summary=summary, steps=(see,)),)
    exact = quote(f"{own.name}=={version}")
    asked_for = pip(facts, "install", exact)
    again = Fix(
        kind="command",
        risk="safe",
        summary="Put TensorFlow's files back, then what it asks for; if it still fails, the traceback names the package",
        steps=(*pip(facts, "install", "--force-reinstall", "--no-deps", exact), asked_for[-1]),
        verify=see,
    )
    if (lacks := _LACKS.search(error)) is None:
        return (again,)
    summary = f"Install what TensorFlow asks for and lacks: {lacks[1]}"
    return Fix(kind="command", risk="safe", summary=summary, steps=asked_for, verify=see), again
