"""What several checks ask of compat/: how the TensorFlow that is installed fits this machine."""

from __future__ import annotations

from shlex import quote

import msgspec

from gpudoctor.checks._pip import pip
from gpudoctor.compat import admits, matrix, newest_patches, releases
from gpudoctor.compat import build as compat_build
from gpudoctor.compat.machine import machine_of
from gpudoctor.compat.records import Build, Release
from gpudoctor.compat.rules import Case, Machine, Reason, limit_of, overlap, reasons
from gpudoctor.compat.solve import Answer, best, build_of, requirements, solve
from gpudoctor.compat.versions import NotAVersion, major
from gpudoctor.facts import Facts, LibraryFile, Unread, known
from gpudoctor.findings import Evidence, Fix, NotApplicable


def machine(facts: Facts, *, installed: bool) -> Machine:
    """This machine as the rules ask of it; not applicable where its platform is none of TensorFlow's."""
    found = machine_of(facts, installed=installed)
    if found is None:
        raise NotApplicable("this platform is none that TensorFlow is published for")
    return found


def release(facts: Facts) -> tuple[Release, Build | None]:
    """The release that is installed; not applicable where it, or its CUDA, is not in the knowledge."""
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    if known(facts.tensorflow.build.cuda) is not True:
        raise NotApplicable("this TensorFlow is built without CUDA")
    version = known(facts.tensorflow.version)
    found = next((r for r in releases() if r.version == version), None)
    if found is None:
        raise NotApplicable(f"TensorFlow {version} is not in compat/matrix.json")
    build, own = build_of(found.version, machine(facts, installed=True).platform), facts.tensorflow.build
    listed = own.compute_capabilities
    if build is not None and build.compute_capabilities and not isinstance(listed, Unread):
        same = set(listed) == set(build.compute_capabilities) and own.cuda_version in (build.cuda, None)
        if not same:
            raise NotApplicable(f"this TensorFlow {version} is another build than the package index has")
    return found, build


def of_rule(facts: Facts, *rules: str, packages: dict[str, str] | None = None) -> tuple[Reason, ...]:
    """What these rules say of the installed release on this machine, with what is installed here."""
    found, build = release(facts)
    here = machine(facts, installed=True)
    if packages is not None:
        here = Machine(**{**{f: getattr(here, f) for f in here.__struct_fields__}, "packages": packages})
    try:
        said = reasons(Case(release=found, build=build, machine=here))
    except NotAVersion as e:
        raise NotApplicable(str(e)) from e
    return tuple(r for r in said if any(r.rule == rule or r.rule.startswith(rule + " ") for rule in rules))


class Breaks(msgspec.Struct, frozen=True, kw_only=True):
    """An installed version of a package with which TensorFlow can't be imported."""

    installed: str
    text: str
    source: str
    pins: tuple[str, ...]


def breaks_import(facts: Facts, package: str) -> Breaks | None:
    """Why the installed version of a package ends TensorFlow's import: a hazard, or another generation than it asks for.

    Only where the import was not tried: it knows better.
    """
    version, installed = facts.tensorflow.version, facts.python.distributions
    if not isinstance(facts.tensorflow.import_error, Unread) or not isinstance(version, str):
        return None
    has = [
        d.version for d in (() if isinstance(installed, Unread) else installed) if d.name == package and not d.shadowed
    ]
    build = compat_build(version)
    python = ".".join(facts.python.version.split(".")[:2]) if isinstance(facts.python.version, str) else None
    limit = (limit_of(build, package, python) if build is not None else None) or ""
    try:
        if has and limit and not overlap(limit, f"=={major(has[0])}.*") and not admits(limit, has[0]):
            source = build.source if build is not None else ""
            return Breaks(
                installed=has[0],
                text=f"TensorFlow {version} asks for {package}{limit}",
                source=source,
                pins=(f"{package}{limit}",),
            )
        for hazard in matrix().hazards if has else ():
            specifier = hazard.packages.get(package)
            alone = specifier is not None and len(hazard.packages) == 1 and hazard.outcome == "fails"
            if alone and admits(hazard.tensorflow, version) and admits(specifier or "", has[0]):
                return Breaks(installed=has[0], text=hazard.effect, source=hazard.source, pins=hazard.pins)
    except NotAVersion:
        return None
    return None


def need_gpus(facts: Facts) -> None:
    """Unknown where nobody could tell which GPUs are here; not applicable where there is none."""
    if machine(facts, installed=True).gpus:
        return
    if not known(facts.driver.libcuda.devices) and not known(facts.gpu.devices):
        raise NotApplicable("no GPU is here")


def picked(facts: Facts, stem: str) -> LibraryFile | None:
    """The file of a library that TensorFlow's loader picks, or has loaded."""
    picks, loaded, files = facts.tensorflow.libraries, facts.tensorflow.loaded, facts.libraries.files
    paths = [p.picked for p in picks if p.soname.startswith(stem + ".so")] if not isinstance(picks, Unread) else []
    if not isinstance(loaded, Unread):
        paths += [p for p in loaded if p.rpartition("/")[2].startswith(stem + ".so")]
    wanted = {p for p in paths if isinstance(p, str)}
    if isinstance(files, Unread):
        return None
    return next((f for f in files if f.path in wanted or f.real in wanted), None)


def has_nccl_inside(facts: Facts) -> bool:
    """Whether this release has NCCL linked in: its loader opens none, or its wheel holds relocatable code (up to 2.20)."""
    version = facts.tensorflow.version
    build = build_of(version, machine(facts, installed=True).platform) if isinstance(version, str) else None
    if build is None:
        return False
    return "libnccl.so.2" not in build.optional_sonames or any(not group.machine_code for group in build.kernels)


def computes(facts: Facts) -> bool:
    """Work was done on the GPUs and none of it failed: no combination that fails is at hand."""
    run = [m for m in facts.measurements if m.in_tensorflow and m.device.startswith("GPU:") and not m.skipped]
    return bool(run) and not any(m.failed for m in run)


WORKS = "what was run on the GPUs works"
"""Why a combination that fails is ruled out where `computes`."""


def tensorflow_evidence(facts: Facts) -> Evidence:
    """'tensorflow 2.21.0, built for CUDA 12.5.1'."""
    name, version, cuda = facts.tensorflow.distribution, facts.tensorflow.version, facts.tensorflow.build.cuda_version
    built = f", built for CUDA {cuda}" if isinstance(cuda, str) else ""
    return Evidence(
        text=f"{name if isinstance(name, str) else 'tensorflow'} {version}{built}", source="installed distributions"
    )


def record(reason: Reason) -> Evidence:
    """What the knowledge says, and from where it has that."""
    return Evidence(text=reason.text, source=reason.source)


def wanted(facts: Facts) -> tuple[str, ...]:
    """What pip must be told, where nothing is installed: the best release that works with the GPUs that are here; nothing
    where that is not known for certain."""
    try:
        here = machine(facts, installed=False)
    except NotApplicable:
        return ()
    chosen = best(solve(here, newest_patches())) if here.gpus else None
    return requirements(chosen, here) if chosen is not None and chosen.verdict == "works" and not chosen.needs else ()


def another_release(facts: Facts) -> tuple[Fix, ...]:
    """The best release that works on this machine as it is; nothing where none does for certain."""
    here = machine(facts, installed=False)
    chosen = best(solve(here, newest_patches()))
    if chosen is None or chosen.verdict != "works":
        return ()
    return (
        Fix(
            kind="command",
            risk="safe",
            summary=f"Install TensorFlow {chosen.version}, which works with this driver and GPU",
            steps=(*install(facts, chosen, here), *(step for need in chosen.needs for step in need.steps if step)),
        ),
    )


def install(facts: Facts, chosen: Answer, here: Machine) -> tuple[str, ...]:
    """The lines that install a release into the examined interpreter."""
    return pip(facts, "install", *(quote(r) for r in requirements(chosen, here)))
