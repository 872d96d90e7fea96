"""Does a release of TensorFlow work on a machine? One rule a question; each answers with reasons that carry a source.

A rule says nothing where nothing stands in the way. What is not known is said to be unknown; what was not told of the
machine is a condition ('depends').
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from .code import Fit, fit
from .files import matrix
from .records import Architecture, Build, Files, Hazard, Platform, Release, Support
from .versions import (
    admits,
    architecture,
    capability,
    driver_branch,
    first_branch,
    major_minor,
    newest_branch,
    version,
)

Effect = Literal["fails", "unknown", "depends", "needs", "note"]


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU as a person or the machine names it; capability None: not known."""

    name: str
    compute_capability: str | None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a machine. None and empty: not told."""

    platform: Platform
    windows_driver: bool = False
    """The driver's release is one of Windows (native, or WSL2)."""
    python: str | None = None
    """'3.11'."""
    glibc: str | None = None
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    packages: dict[str, str] | None = None
    """What is installed, name -> version; None: nothing yet, pip will choose."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found."""

    effect: Effect
    rule: str
    text: str
    source: str
    pins: tuple[str, ...] = ()
    """Requirements to install with TensorFlow."""
    steps: tuple[str, ...] = ()
    """Shell lines after the installation."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A release, and the machine that it is meant for. Without a build only the documents speak."""

    release: Release
    build: Build | None
    machine: Machine
    distribution: str | None = None
    """Asked for by name ('tensorflow-gpu'); None: whichever computes on GPUs."""

    @property
    def cuda(self) -> str | None:
        """The CUDA version that it is built for ('12.5.1'; '12' where only a soname tells)."""
        if self.build is not None:
            runtime = next((s for s in self.build.sonames if s.startswith("libcudart.so.")), None)
            return self.build.cuda or (runtime.removeprefix("libcudart.so.") if runtime else None)
        return self.release.cuda

    @property
    def source(self) -> str:
        """Who tells what it is built for."""
        return self.build.source if self.build is not None else self.release.source

    def candidates(self) -> tuple[Files, ...]:
        """What of it was published for this platform."""
        return tuple(
            one
            for one in self.release.files
            if one.platform == self.machine.platform and self.distribution in (None, one.distribution)
        )


Rule = Callable[[Case], Iterator[Reason]]


def _files(case: Case) -> Iterator[Reason]:
    """Is there a file of it for this platform and Python that computes on GPUs?"""
    say = functools.partial(Reason, rule="files", source=case.release.source)
    platform, found = case.machine.platform, case.candidates()
    if case.distribution is not None:
        package = next((p for p in matrix().packages if p.name == case.distribution), None)
        if package is not None and package.stub is not None and admits(package.stub, case.release.version):
            text = f"{package.name} {case.release.version} can't be installed: {package.text}"
            yield Reason(effect="fails", rule="files", text=text, source=package.source)
            return
    if not found:
        of = case.distribution or "TensorFlow"
        yield say(effect="fails", text=f"there is no file of {of} {case.release.version} for {platform}")
        return
    able = [one for one in found if one.cuda is not False]
    if not able:
        yield say(effect="fails", text=f"its files for {platform} are built without CUDA: they compute on the CPU only")
        return
    python = case.machine.python
    pythons = sorted({p for one in able for p in one.python}, key=version)
    if python is None:
        yield say(effect="depends", text=f"it needs Python {_listed(pythons)}")
    elif python not in pythons:
        yield say(effect="fails", text=f"there is no file for Python {python}, but for {_listed(pythons)}")
        return
    if all(one.cuda is None for one in able if python is None or python in one.python):
        yield say(effect="unknown", text=f"whether its files for {platform} are built with CUDA is not known")


def _listed(versions: list[str]) -> str:
    """'3.9, 3.10 and 3.11'."""
    return " and ".join([", ".join(versions[:-1])] * (len(versions) > 1) + versions[-1:])


def _glibc(case: Case) -> Iterator[Reason]:
    """Is the C library new enough?"""
    needs, has = (case.build.glibc if case.build else None), case.machine.glibc
    if needs is not None and has is not None and version(has) < version(needs):
        yield Reason(
            effect="fails",
            rule="glibc",
            text=f"it needs glibc {needs}, this is {has}",
            source=case.build.source if case.build else "",
        )


def _driver(case: Case) -> Iterator[Reason]:
    """Does the driver run programs of this CUDA? Minor-version compatibility from CUDA 11 on."""
    cuda, driver = case.cuda, case.machine.driver
    if case.build is not None and case.build.is_cuda is False:
        yield Reason(effect="fails", rule="driver", text="it is built without CUDA", source=case.source)
        return
    if cuda is None:
        yield Reason(
            effect="unknown",
            rule="driver",
            text="the CUDA version that it is built for is not known",
            source=case.source,
        )
        return
    floor, source = minimum(cuda, windows=case.machine.windows_driver)
    if floor is None:
        text = f"the oldest driver for its CUDA {cuda} is not known here"
        yield Reason(effect="unknown", rule="driver", text=text, source=source or case.source)
    elif driver is None:
        text = f"its CUDA {cuda} needs a driver {floor} or newer"
        yield Reason(effect="depends", rule="driver", text=text, source=source)
    elif driver_branch(driver, windows=case.machine.windows_driver) is None:
        newer = version(driver).major > newest_branch()
        text = f"driver {driver} is of a branch that is not known here" + (
            f" (the newest is R{newest_branch()}); newer drivers run older CUDA, so it should work" if newer else ""
        )
        yield Reason(effect="unknown", rule="driver", text=text, source=source)
    elif driver == str(version(floor).major):
        text = f"its CUDA {cuda} needs a driver {floor} or newer; of this one only the branch is told"
        yield Reason(effect="depends", rule="driver", text=text, source=source)
    elif version(driver) < version(floor):
        text = f"its CUDA {cuda} needs a driver {floor} or newer, this is {driver}"
        yield Reason(effect="fails", rule="driver", text=text, source=source)


def minimum(cuda: str, *, windows: bool = False) -> tuple[str | None, str]:
    """The oldest driver for a CUDA version, and who says so; None: not known here."""
    by_major = next((one for one in matrix().cuda_majors if one.cuda == version(cuda).major), None)
    if by_major is not None and version(cuda) != version(f"{by_major.cuda}.0"):
        return (by_major.windows if windows else by_major.linux), by_major.source
    same = [one for one in matrix().cuda_toolkits if major_minor(one.cuda) == major_minor(cuda)]
    oldest = min(same, key=lambda one: version(one.cuda), default=None)
    if oldest is None and by_major is not None:
        return (by_major.windows if windows else by_major.linux), by_major.source
    return ((oldest.windows if windows else oldest.linux), oldest.source) if oldest is not None else (None, "")


def _generation(case: Case) -> Iterator[Reason]:
    """Does the driver still, or already, know the GPU?"""
    driver = case.machine.driver
    branch = driver_branch(driver, windows=case.machine.windows_driver) if driver is not None else None
    for gpu in dict.fromkeys(case.machine.gpus):
        if gpu.compute_capability is None:
            text = f"the compute capability of {gpu.name} is not known"
            yield Reason(effect="unknown", rule="generation", text=text, source="compat/gpus.json has no such GPU")
            continue
        kind = architecture(gpu.compute_capability)
        if kind is None:
            text = f"compute capability {gpu.compute_capability} ({gpu.name}) is not known here"
            yield Reason(effect="unknown", rule="generation", text=text, source="compat/matrix.json, architectures")
        elif branch is not None:
            first, last = first_branch(kind), kind.last_branch
            if last is not None and branch.branch > last:
                text = f"R{last} is the last driver for {kind.name} ({gpu.name}), this is R{branch.branch}"
                yield Reason(effect="fails", rule="generation", text=text, source=kind.source)
            elif first is not None and branch.branch < first:
                text = f"{kind.name} ({gpu.name}) needs a driver R{first} or newer, this is R{branch.branch}"
                yield Reason(effect="fails", rule="generation", text=text, source=kind.source)


def _known_gpus(case: Case) -> list[tuple[Gpu, str]]:
    """The GPUs of a generation that is known here, with their compute capability: of others nothing can be said."""
    return [
        (gpu, gpu.compute_capability)
        for gpu in dict.fromkeys(case.machine.gpus)
        if gpu.compute_capability is not None and architecture(gpu.compute_capability) is not None
    ]


def _code(case: Case) -> Iterator[Reason]:
    """Does the build accept the GPU, and have its kernels code for it that the driver can load?"""
    build = case.build
    gpus = _known_gpus(case)
    if build is None or not build.kernels:
        if gpus:
            text = f"which GPUs TensorFlow {case.release.version} has code for is not known here"
            yield Reason(effect="unknown", rule="code", text=text, source=case.source)
        return
    for gpu, has in gpus:
        least = build.minimum_compute_capability
        if least is not None and capability(has) < capability(least):
            text = f"it leaves out GPUs below compute capability {least}; {gpu.name} has {has}"
            yield Reason(effect="fails", rule="code", text=text, source=build.source)
            continue
        how = fit(build.kernels, has)
        kind, cuda = architecture(has), case.cuda
        if not how.native and kind is not None and cuda is not None and _too_young(build, kind, cuda):
            text = f"CUDA {cuda} is older than {kind.name} ({gpu.name}): whether its libraries have code for it is not known"
            yield Reason(effect="unknown", rule="code", text=text, source=kind.source)
        if how.linked and len(case.machine.gpus) > 1:
            text = f"the NCCL inside of it has no code for {gpu.name}: collectives between GPUs may fail"
            yield Reason(effect="unknown", rule="code", text=text, source=build.source)
        if how.useless:
            text = f"{how.useless} of its {how.total} kernels have no code that {gpu.name} (compute capability {has}) can run"
            yield Reason(effect="fails", rule="code", text=text, source=build.source)
        elif how.compiled and how.isa is not None:
            yield from _ptx(case, gpu, how)


def _too_young(build: Build, kind: Architecture, cuda: str) -> bool:
    """The GPU came after this CUDA, and the extra does not let pip choose newer libraries."""
    if version(major_minor(cuda)) >= version(kind.first_cuda):
        return False
    pin = next((s for n, s in (build.extra or {}).items() if n.startswith("nvidia-cublas-")), None)
    return pin is None or not overlap(pin, f">={kind.first_cuda}")


def _ptx(case: Case, gpu: Gpu, how: Fit) -> Iterator[Reason]:
    """Can the driver compile the PTX? This is outside of minor-version compatibility."""
    isa = next((one for one in matrix().ptx_isas if one.isa == how.isa), None)
    driver = case.machine.driver
    share = f"{how.compiled} of its {how.total} kernels are compiled from PTX {how.isa} on {gpu.name}"
    if isa is None:
        text = f"{share}, and which driver can do that is not known here"
        yield Reason(effect="unknown", rule="ptx", text=text, source=case.source)
        return
    branches = [
        b.branch for b in matrix().driver_branches if b.cuda is not None and version(b.cuda) >= version(isa.cuda)
    ]
    oldest = f"R{min(branches)}" if branches else f"of CUDA {isa.cuda}"
    branch = driver_branch(driver, windows=case.machine.windows_driver) if driver is not None else None
    if driver is None:
        yield Reason(
            effect="depends", rule="ptx", text=f"{share}, which needs a driver {oldest} or newer", source=isa.source
        )
    elif branch is None:
        return  # the driver's own rule has said so
    elif branch.cuda is None:
        yield Reason(
            effect="unknown",
            rule="ptx",
            text=f"{share}, and the CUDA of R{branch.branch} is not known",
            source=isa.source,
        )
    elif version(branch.cuda) < version(isa.cuda):
        text = (
            f"{share}, which needs a driver {oldest} or newer (CUDA {isa.cuda}), this is {driver} (CUDA {branch.cuda})"
        )
        yield Reason(effect="fails", rule="ptx", text=text, source=isa.source)
    else:
        yield Reason(effect="note", rule="ptx", text=f"{share}, on their first use", source=case.source)


def _supports(library: str, cuda: str) -> list[Support]:
    """What is known of a library's releases for this CUDA, newest first."""
    found = [one for one in matrix().support if one.library == library and version(cuda).major in one.cuda_majors]
    return sorted(found, key=lambda one: _lowest(one.versions), reverse=True)


def _lowest(specifier: str) -> tuple[int, ...]:
    """The lower bound of '>=9.11' or '>=9.0,<9.11'."""
    bounds = [part.removeprefix(">=") for part in specifier.split(",") if part.startswith(">=")]
    return version(bounds[0]).release if bounds else ()


def _library(case: Case, library: Literal["cudnn", "nccl"]) -> Iterator[Reason]:
    """Has the cuDNN (NCCL) that pip would choose, or that is installed, code for the GPU?"""
    cuda, extra = case.cuda, case.build.extra if case.build is not None else None
    if cuda is None:
        return
    name = f"nvidia-{library}-cu{version(cuda).major}"
    installed = (case.machine.packages or {}).get(name)
    pin = extra.get(name) if extra is not None else None
    if installed is None and (pin is None or case.machine.packages is not None):
        return
    word = "cuDNN" if library == "cudnn" else "NCCL"
    for gpu, capability_text in _known_gpus(case):
        has = capability(capability_text)
        possible = [
            one
            for one in _supports(library, cuda)
            if (admits(one.versions, installed) if installed is not None else overlap(one.versions, pin or ""))
        ]
        if not possible or not _drops(possible[0], has):
            continue
        newest = possible[0]
        rest = [one for one in _supports(library, cuda) if overlap(one.versions, pin or "")]
        fitting = next((one for one in rest if not _drops(one, has)), None)
        dropped = [one for one in rest if fitting is None or _lowest(one.versions) > _lowest(fitting.versions)]
        bound = ".".join(str(n) for n in _lowest(dropped[-1].versions))
        which = f"{word} {installed}" if installed is not None else f"{word} {bound} and newer, which pip would choose,"
        text = f"{which} has no code for {gpu.name} (compute capability {gpu.compute_capability})"
        if fitting is None:
            yield Reason(effect="fails", rule=library, text=text, source=newest.source)
        else:
            yield Reason(effect="needs", rule=library, text=text, source=newest.source, pins=(f"{name}<{bound}",))
        return


def _drops(one: Support, has: tuple[int, int]) -> bool:
    return one.minimum_compute_capability is not None and has < capability(one.minimum_compute_capability)


def _cudnn(case: Case) -> Iterator[Reason]:
    yield from _library(case, "cudnn")


def _nccl(case: Case) -> Iterator[Reason]:
    if len(case.machine.gpus) > 1:
        yield from _library(case, "nccl")


_SITE = "$(python3 -c \"import sysconfig; print(sysconfig.get_paths()['purelib'])\")"


def _loader(case: Case) -> Iterator[Reason]:
    """Does its loader find the libraries, and who brings them?"""
    build = case.build
    if build is None or build.extra is None or case.machine.platform != "linux-x86_64":
        cuda, cudnn = case.cuda, case.release.cudnn
        if build is not None and build.cudnn and not (cudnn or "").startswith(build.cudnn):
            cudnn = build.cudnn
        if cuda is not None:
            text = f"CUDA {cuda} and cuDNN {f'{cudnn} or newer' if cudnn else '(of a version not known here)'} must be installed apart: pip does not bring them"
            yield Reason(effect="needs", rule="loader", text=text, source=case.source, steps=("",))
        return
    if build.out_of_reach:
        folders = sorted(
            {r.directory for s in build.out_of_reach for r in matrix().libraries if r.stem == s.split(".so")[0]}
        )
        path = ":".join(f"{_SITE}/nvidia/{folder}/lib" for folder in folders)
        yield Reason(
            effect="needs",
            rule="loader",
            text=f"it does not look where its own extra installs {_listed(list(build.out_of_reach))}: LD_LIBRARY_PATH must name it",
            source=build.source,
            steps=(f'export LD_LIBRARY_PATH="{path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"',),
        )


def overlap(one: str, other: str) -> bool:
    """Whether some version is in both specifiers: tried at, just above and below every bound that they name."""
    bounds = {p.lstrip("<>=!~ ").removesuffix(".*") for p in f"{one},{other}".split(",") if p.strip()}
    tried = {"0", "99999"} | bounds | {f"{version(b).base_version}.0.1" for b in bounds}
    both = ",".join(p for p in (one, other) if p)
    return any(admits(both, v) for v in tried)


def applies(hazard: Hazard, case: Case) -> bool:
    """Whether the conditions of a hazard hold. What was not told of the machine holds none."""
    machine = case.machine
    if not admits(hazard.tensorflow, case.release.version):
        return False
    if hazard.platforms and machine.platform not in hazard.platforms:
        return False
    if hazard.python and machine.python is not None and not admits(hazard.python, machine.python):
        return False
    if hazard.driver:
        known = machine.driver is not None and driver_branch(machine.driver, windows=machine.windows_driver)
        if not known or not admits(hazard.driver, machine.driver or ""):
            return False
    if hazard.compute_capability and not any(admits(hazard.compute_capability, has) for _, has in _known_gpus(case)):
        return False
    return all(_has(case, name, specifier) for name, specifier in hazard.packages.items())


def limit_of(build: Build, package: str, python: str | None) -> str | None:
    """What a release asks of a package on this Python ('<2.0.0,>=1.26.0'; '' is any); None: it does not ask for it.

    A key of `Build.requires` may carry a marker ('numpy; python_version >= "3.12"'). Where the Python is not told the
    first counts.
    """
    from packaging.markers import Marker  # which takes long to import

    for key, specifier in {**build.requires, **(build.extra or {})}.items():
        name, _, marker = key.partition(";")
        if name.strip() != package:
            continue
        if not marker or python is None or Marker(marker.strip()).evaluate({"python_version": python}):
            return specifier
    return None


def _has(case: Case, name: str, specifier: str) -> bool:
    """Whether a version in `specifier` of a package is installed, or may be chosen by pip."""
    if case.machine.packages is not None:
        has = case.machine.packages.get(name)
        return has is not None and admits(specifier, has)
    if case.build is None:
        return not name.startswith("nvidia-")
    limit = limit_of(case.build, name, case.machine.python)
    return limit is not None and overlap(specifier, limit)


def _name(requirement: str) -> str:
    from packaging.requirements import Requirement

    return Requirement(requirement).name


def _hazards(case: Case) -> Iterator[Reason]:
    """Combinations that go wrong although the documents allow them."""
    for hazard in matrix().hazards:
        if hazard.rule or (hazard.run is not None and hazard.run.outcome == "refuted") or not applies(hazard, case):
            continue
        if hazard.outcome == "note" and not (hazard.compute_capability or hazard.driver):
            continue  # true of the release wherever it runs
        effect: Effect = hazard.outcome
        itself = any(_name(pin).startswith("tensorflow") for pin in hazard.pins)
        if itself and effect == "needs":
            effect = "fails"  # what helps is another release
        elif effect == "fails" and hazard.pins and hazard.packages and case.machine.packages is None and not itself:
            effect = "needs"  # the pins keep pip from choosing it
        if effect == "fails" and hazard.python and case.machine.python is None:
            effect = "depends"
        if effect == "fails" and hazard.confidence == "recall":
            effect = "unknown"  # what is only remembered never condemns
        yield Reason(
            effect=effect,
            rule=f"hazard {hazard.id}",
            text=hazard.effect,
            source=hazard.source,
            pins=() if itself else hazard.pins,
        )


RULES: tuple[Rule, ...] = (_files, _glibc, _driver, _generation, _code, _cudnn, _nccl, _loader, _hazards)


def reasons(case: Case) -> tuple[Reason, ...]:
    """Everything that the rules say of a case, in their order. Raises NotAVersion on a malformed version."""
    return tuple(reason for rule in RULES for reason in rule(case))
