"""What compat/*.json must keep to: its types, its written form, a source on every record, and the records among themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema
import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpudoctor.compat import schemas
from gpudoctor.compat.files import DIRECTORY, matrix, text_of
from gpudoctor.compat.published import DISTRIBUTIONS, ORDER
from gpudoctor.compat.records import Gpus, Matrix, Record, Xids

FILES = {name: Path(DIRECTORY) / f"{name}.json" for name in schemas.FILES}
NEWEST_KNOWN = Version("2.22.0rc0")
"""The newest TensorFlow, a release candidate, that anything here speaks of."""


def text(name: str) -> str:
    return FILES[name].read_text()


def contents(name: str) -> Matrix | Gpus | Xids:
    decoded: Matrix | Gpus | Xids = msgspec.json.decode(text(name), type=schemas.FILES[name])
    return decoded


def walk(thing: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Everything inside, with its place: found by the types' own fields, so that a new list is found, too."""
    yield path, thing
    if isinstance(thing, msgspec.Struct):
        for field in msgspec.structs.fields(thing):
            yield from walk(getattr(thing, field.name), f"{path}.{field.name}")
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from walk(key, f"{path}[key]")
            yield from walk(value, f"{path}[{key}]")
    elif isinstance(thing, list | tuple):
        for number, value in enumerate(thing):
            yield from walk(value, f"{path}[{number}]")


def without_source(thing: object) -> list[str]:
    """The places of records whose source says nothing."""
    return [path for path, found in walk(thing) if isinstance(found, Record) and not says_something(found.source)]


def says_something(source: str) -> bool:
    """At least two words, and not one that stands for 'to be found out'."""
    return len(re.findall(r"\w+", source)) >= 2 and not re.fullmatch(
        r"(?i)\W*(to ?do|tbd|fixme|xxx|unknown)\b.*", source
    )


# --------------------------------------------------------------------------- files and types


@pytest.mark.parametrize("name", FILES)
def test_the_schema_is_made_from_the_types(name: str) -> None:
    """Write it anew with `python -m gpudoctor.compat.schemas`."""
    assert (Path(DIRECTORY) / f"{name}.schema.json").read_text() == schemas.schema(name)


@pytest.mark.parametrize("name", FILES)
def test_the_file_keeps_to_its_schema(name: str) -> None:
    schema = json.loads(schemas.schema(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(text(name)))


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_in_its_written_form(name: str) -> None:
    assert text_of(contents(name)) == text(name)


@pytest.mark.parametrize("name", FILES)
def test_every_record_has_a_source(name: str) -> None:
    assert without_source(contents(name)) == []


@pytest.mark.parametrize("source", ["", "  ", "?", "NVIDIA", "TODO find it", "unknown to me", "tbd."])
def test_a_record_without_a_source_is_found(source: str) -> None:
    first = matrix().hazards[0]
    spoilt = msgspec.structs.replace(
        matrix(), hazards=(msgspec.structs.replace(first, source=source), *matrix().hazards[1:])
    )
    assert without_source(spoilt) == [".hazards[0]"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_a_record_without_source_is_no_such_file(name: str) -> None:
    raw = json.loads(text(name))
    for key in [key for key, records in raw.items() if isinstance(records, list) and records]:
        spoilt = raw | {key: [{k: v for k, v in raw[key][0].items() if k != "source"}]}
        with pytest.raises(msgspec.ValidationError, match="source"):
            msgspec.json.decode(json.dumps(spoilt), type=schemas.FILES[name])
        with pytest.raises(jsonschema.ValidationError, match="source"):
            jsonschema.Draft202012Validator(json.loads(schemas.schema(name))).validate(spoilt)


@pytest.mark.parametrize("type_", [Matrix, Gpus, Xids])
def test_every_list_is_of_records(type_: type[Matrix | Gpus | Xids]) -> None:
    lists = {name: hint for name, hint in get_type_hints(type_).items() if name != "schema_version"}
    assert lists
    for name, hint in lists.items():
        assert issubclass(get_args(hint)[0], Record), name


@pytest.mark.parametrize("name", FILES)
def test_no_text_tells_of_a_machine(name: str) -> None:
    """No path, host or address of where it was made, and no registry."""
    tells = re.compile(
        r"(^|[\s'\"(=])/(tmp|work|home|root|opt|mnt|srv|Users|var)/|file://|localhost|/simple/|pypi\.|pythonhosted|://[^/]*@"
    )
    found = contents(name)
    assert [(path, value) for path, value in walk(found) if isinstance(value, str) and tells.search(value)] == []


# --------------------------------------------------------------------------- one list at a time

Key = Callable[[Any], Any]

SORTED_BY: dict[str, Key] = {
    "cuda_results": lambda r: r.code,
    "cuda_majors": lambda r: r.cuda,
    "cuda_toolkits": lambda r: Version(r.cuda),
    "ptx_isas": lambda r: Version(r.isa),
    "driver_branches": lambda r: r.branch,
    "forward_compatibility": lambda r: r.package,
    "architectures": lambda r: Version(r.compute_capabilities[0]),
    "libraries": lambda r: r.stem,
    "support": lambda r: (r.library, lowest(r.versions), r.cuda_majors),
    "packages": lambda r: r.name,
    "releases": lambda r: Version(r.version),
    "builds": lambda r: (r.distribution, Version(r.version), ORDER.index(r.platform)),
    "library_wheels": lambda r: (r.distribution, Version(r.version), ORDER.index(r.platform)),
    "hazards": lambda r: r.id,
}
"""List -> its key: no two records have the same, and they stand in its order."""


def lowest(specifier: str) -> Version:
    """The version at which a range begins."""
    return max(Version(s.version) for s in SpecifierSet(specifier) if s.operator == ">=")


def test_every_list_has_a_key() -> None:
    assert set(SORTED_BY) == set(get_type_hints(Matrix)) - {"schema_version"}


@pytest.mark.parametrize("name", SORTED_BY)
def test_sorted_and_without_duplicates(name: str) -> None:
    keys = [SORTED_BY[name](record) for record in getattr(matrix(), name)]
    assert keys == sorted(set(keys))


def test_files_of_a_release_are_sorted() -> None:
    for release in matrix().releases:
        keys = [(f.distribution, ORDER.index(f.platform)) for f in release.files]
        assert keys == sorted(set(keys)), release.version
        for files in release.files:
            assert list(files.python) == sorted(set(files.python), key=Version), release.version


def test_codes_and_names_of_cuda_results_are_unique() -> None:
    names = [r.name for r in matrix().cuda_results]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"CUDA_(SUCCESS|ERROR_[A-Z_]+)", name) for name in names)


def test_a_capability_is_of_one_architecture() -> None:
    capabilities = [c for a in matrix().architectures for c in a.compute_capabilities]
    assert len(set(capabilities)) == len(capabilities)


VERSIONS = {
    "cuda_majors": ("linux", "windows"),
    "cuda_toolkits": ("cuda", "linux", "windows"),
    "ptx_isas": ("isa", "cuda"),
    "driver_branches": ("cuda",),
    "forward_compatibility": ("since_cuda",),
    "architectures": ("compute_capabilities", "first_cuda", "last_cuda"),
    "support": ("minimum_compute_capability", "minimum_driver"),
    "releases": ("version", "cuda", "cudnn"),
    "builds": ("version", "cuda", "cudnn", "glibc", "minimum_compute_capability"),
    "library_wheels": ("version",),
}
SPECIFIERS = {
    "support": ("versions",),
    "builds": ("requires_python", "requires", "extra"),
    "hazards": ("tensorflow", "compute_capability", "driver", "packages"),
}


def each(table: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """The strings of the named fields, with their places."""
    for name, fields in table.items():
        for record in getattr(matrix(), name):
            for field in fields:
                value = getattr(record, field)
                values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
                for one in values:
                    if one is not None:
                        yield f"{name}.{field} of {SORTED_BY[name](record)}", one


def test_versions_are_versions() -> None:
    for place, value in each(VERSIONS):
        assert str(Version(value)), place


def test_specifiers_are_specifiers() -> None:
    for place, value in each(SPECIFIERS):
        assert isinstance(SpecifierSet(value), SpecifierSet), place


def test_ranges_of_support_have_two_ends_and_do_not_overlap() -> None:
    """For one CUDA; beyond the last release that was read nothing is known."""
    for one in matrix().support:
        for other in matrix().support:
            same = one.library == other.library and set(one.cuda_majors) & set(other.cuda_majors)
            assert one is other or not same or lowest(one.versions) not in SpecifierSet(other.versions), one.versions
    for record in matrix().support:
        assert {s.operator for s in SpecifierSet(record.versions)} == {">=", "<"}
        assert {int(cuda) for cuda in record.minimum_driver} <= set(record.cuda_majors)


# --------------------------------------------------------------------------- the lists among themselves


def minors() -> set[str]:
    """The CUDA versions that a toolkit or a branch here knows, as '12.5'."""
    known = [Version(t.cuda) for t in matrix().cuda_toolkits]
    known += [Version(b.cuda) for b in matrix().driver_branches if b.cuda is not None]
    return {f"{v.major}.{v.minor}" for v in known}


def test_the_cuda_of_a_ptx_isa_is_known() -> None:
    assert {p.cuda for p in matrix().ptx_isas} <= minors()


def test_the_cuda_of_an_architecture_is_known() -> None:
    oldest = min(Version(t.cuda) for t in matrix().cuda_toolkits)
    branches = {b.branch for b in matrix().driver_branches}
    for architecture in matrix().architectures:
        for cuda in filter(None, (architecture.first_cuda, architecture.last_cuda)):
            assert cuda in minors() or Version(cuda) < oldest, architecture.name
        assert architecture.last_branch is None or architecture.last_branch in branches, architecture.name


def test_a_toolkits_driver_is_of_a_branch_that_knows_it() -> None:
    """On Linux: the driver that comes with CUDA 12.5 is of the branch that implements 12.5, where the branch is known."""
    branches = {b.branch: b.cuda for b in matrix().driver_branches}
    for toolkit in matrix().cuda_toolkits:
        branch = Version(toolkit.linux).major if toolkit.linux is not None else None
        if branch in branches and branches[branch] is not None:
            assert Version(toolkit.cuda).release[:2] == Version(branches[branch] or "").release[:2], toolkit.cuda


def test_minor_version_compatibility_begins_with_the_major_version() -> None:
    assert [m.cuda for m in matrix().cuda_majors] == [11, 12, 13]
    toolkits = {t.cuda: t.linux for t in matrix().cuda_toolkits}
    for major in (12, 13):
        assert next(m.linux for m in matrix().cuda_majors if m.cuda == major) == toolkits[f"{major}.0.0"]


OTHERS = {"numpy", "protobuf", "setuptools", "tensorrt", "tensorrt-libs", "nvidia-cuda-runtime"}
"""Distributions that no list here is about."""


def distributions() -> set[str]:
    """The names that packages, libraries and library wheels know."""
    wheels = {library.wheel.replace("{major}", major) for library in matrix().libraries for major in ("11", "12", "13")}
    return {p.name for p in matrix().packages} | wheels | {w.distribution for w in matrix().library_wheels} | OTHERS


@pytest.mark.parametrize("hazard", matrix().hazards, ids=lambda h: h.id)
def test_a_hazard_speaks_of_what_is_known(hazard: Any) -> None:
    assert re.fullmatch(r"[a-z0-9.-]+", hazard.id)
    assert set(hazard.packages) <= distributions()
    for pin in hazard.pins:
        assert Requirement(pin).name in distributions(), pin
    assert any((hazard.tensorflow, hazard.compute_capability, hazard.driver, hazard.packages, hazard.platforms))
    assert hazard.effect.endswith(".")
    assert hazard.fix.endswith(".")
    releases = [Version(r.version) for r in matrix().releases] + [NEWEST_KNOWN]
    assert any(SpecifierSet(hazard.tensorflow).contains(v, prereleases=True) for v in releases)
    if hazard.compute_capability:
        capabilities = [c for a in matrix().architectures for c in a.compute_capabilities]
        assert any(c in SpecifierSet(hazard.compute_capability) for c in capabilities)


def test_a_hazard_that_was_run_says_so() -> None:
    """Refuted is a note; what follows from files alone and was not run is not certain to fail."""
    for hazard in matrix().hazards:
        if hazard.run is not None and hazard.run.outcome == "refuted":
            assert hazard.outcome == "note", hazard.id
        if hazard.outcome == "fails":
            assert hazard.confidence == "certain" or hazard.run is not None, hazard.id


def test_a_pin_leaves_the_hazard() -> None:
    """What is installed with the pin is out of the condition that the hazard has on that distribution."""
    for hazard in matrix().hazards:
        for requirement in map(Requirement, hazard.pins):
            condition = hazard.packages.get(requirement.name)
            if condition:
                bounds = [Version(s.version) for s in requirement.specifier if s.operator in ("==", "<=", ">=")]
                assert not any(v in SpecifierSet(condition) for v in bounds), hazard.id


def test_files_are_of_known_distributions() -> None:
    known = {p.name for p in matrix().packages}
    assert set(DISTRIBUTIONS) <= known
    assert {f.distribution for r in matrix().releases for f in r.files} == set(DISTRIBUTIONS)
    assert {b.distribution for b in matrix().builds} <= known


def test_a_build_is_of_a_release() -> None:
    published = {(f.distribution, r.version, f.platform) for r in matrix().releases for f in r.files}
    for build in matrix().builds:
        if not Version(build.version).is_prerelease:
            assert (build.distribution, build.version, build.platform) in published


@pytest.mark.parametrize(
    ("version", "distribution", "platform", "cuda"),
    [
        ("1.1.0", "tensorflow-gpu", "macos-x86_64", True),
        ("1.14.0", "tensorflow", "linux-x86_64", False),
        ("1.15.0", "tensorflow", "linux-x86_64", True),
        ("1.15.5", "tensorflow", "linux-x86_64", False),
        ("2.0.0", "tensorflow", "linux-x86_64", False),
        ("2.0.0", "tensorflow-gpu", "linux-x86_64", True),
        ("2.10.1", "tensorflow", "windows-x86_64", True),
        ("2.11.0", "tensorflow", "windows-x86_64", False),
        ("2.21.0", "tensorflow", "linux-x86_64", True),
        ("2.21.0", "tensorflow", "linux-aarch64", False),
        ("2.21.0", "tensorflow", "macos-arm64", False),
    ],
)
def test_what_is_well_known(version: str, distribution: str, platform: str, cuda: bool) -> None:
    release = next(r for r in matrix().releases if r.version == version)
    assert [f.cuda for f in release.files if (f.distribution, f.platform) == (distribution, platform)] == [cuda]


def test_every_minor_release_is_there() -> None:
    """1.0 to 1.15 and 2.0 to 2.21, each documented."""
    found = {Version(r.version).release[:2] for r in matrix().releases}
    assert found >= {(1, n) for n in range(16)} | {(2, n) for n in range(22)}
    assert all(r.cuda and r.cudnn for r in matrix().releases if Version(r.version) < Version("2.22"))


def test_every_release_from_2_12_on_was_read_from_its_wheel() -> None:
    """What a wheel can tell is there: where a field is empty, the wheel says nothing of it."""
    read = {b.version: b for b in matrix().builds if b.distribution == "tensorflow"}
    for release in matrix().releases:
        if Version(release.version) < Version("2.12") or not any(f.cuda for f in release.files):
            continue
        build = read[release.version]
        assert build.confidence == "certain"
        assert build.is_cuda is True
        for name in ("glibc", "requires_python", "cuda", "cudnn", "minimum_compute_capability"):
            assert getattr(build, name), (release.version, name)
        for name in (
            "requires",
            "compute_capabilities",
            "complete",
            "partial",
            "kernels",
            "sonames",
            "optional_sonames",
        ):
            assert getattr(build, name), (release.version, name)
        assert any(o.loader for o in build.objects)
        assert (build.extra is None) == (Version(release.version) < Version("2.14"))
        if build.extra is not None:
            assert any(o.runpath for o in build.objects)
