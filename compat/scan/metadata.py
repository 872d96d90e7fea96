"""What the METADATA of a wheel requires, in one stable form."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from .wheel import BadWheel, Wheel

LIMITS = ("numpy", "protobuf", "keras", "h5py", "ml-dtypes", "tensorboard")
_REDIRECTS = frozenset(
    f"tensorflow-{kind}" for kind in ("intel", "cpu-aws", "macos", "cpu", "gpu", "rocm", "aarch64", "cpu-intel")
)
_PYTHONS = ("2.7", *(f"3.{minor}" for minor in range(4, 20)))


def specifier(text: str) -> str:
    """Sorted, without blanks ('<2.2,>=1.26')."""
    return ",".join(sorted(str(s) for s in SpecifierSet(text)))


def requires_python(wheel: Wheel) -> str | None:
    """Its Requires-Python; None: there is none."""
    text = wheel.metadata["Requires-Python"]
    try:
        return specifier(text) if text else None
    except InvalidSpecifier as e:
        raise BadWheel(f"{wheel.path}: {e}") from e


def requirements(wheel: Wheel) -> list[Requirement]:
    """Its Requires-Dist."""
    try:
        return [Requirement(line) for line in wheel.metadata.get_all("Requires-Dist", [])]
    except InvalidRequirement as e:
        raise BadWheel(f"{wheel.path}: {e}") from e


def extras(wheel: Wheel) -> list[str]:
    """The extras that it provides, in their normal form."""
    return [str(canonicalize_name(e)) for e in wheel.metadata.get_all("Provides-Extra", [])]


def limits(wheel: Wheel) -> dict[str, str]:
    """What it requires of the packages in LIMITS, as their imports are named ('ml_dtypes')."""
    wanted = [r for r in requirements(wheel) if canonicalize_name(r.name) in LIMITS]
    found = {key.replace("ml-dtypes", "ml_dtypes"): text for key, text in _for_platform(wheel, wanted, "")}
    return dict(sorted(found.items()))


def of_extra(wheel: Wheel, name: str) -> dict[str, str] | None:
    """What the extra `name` adds; None: there is no such extra."""
    if name not in extras(wheel):
        return None
    adds = [r for r in requirements(wheel) if r.marker is not None and "extra" in str(r.marker)]
    return dict(sorted(_for_platform(wheel, adds, name)))


def redirects(wheel: Wheel) -> tuple[str, ...]:
    """Requirements that install another distribution of TensorFlow in its place on some platforms."""
    return tuple(sorted({written(r) for r in requirements(wheel) if canonicalize_name(r.name) in _REDIRECTS}))


def written(requirement: Requirement) -> str:
    """A requirement in one form: 'tensorflow-intel==2.12.0; platform_system == "Windows"'."""
    text = str(canonicalize_name(requirement.name)) + specifier(str(requirement.specifier))
    return f"{text}; {requirement.marker}" if requirement.marker is not None else text


def _for_platform(wheel: Wheel, wanted: list[Requirement], extra_name: str) -> Iterator[tuple[str, str]]:
    """(name, specifier) of those that hold on the wheel's platform; with the marker where it depends on the Python."""
    machine = wheel.platform.partition("-")[2]
    for requirement in wanted:
        name, spec = str(canonicalize_name(requirement.name)), specifier(str(requirement.specifier))
        holds = {_holds(requirement.marker, python, machine, extra_name) for python in _PYTHONS}
        if holds == {True}:
            yield name, spec
        elif True in holds:
            yield f"{name}; {requirement.marker}", spec


def _holds(marker: Marker | None, python: str, machine: str, extra_name: str) -> bool:
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": machine,
        "extra": extra_name,
    }
    return marker is None or marker.evaluate(environment)
