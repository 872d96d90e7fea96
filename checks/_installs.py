"""What a text's words of an installation decide: is it the Python, the platform, or the package?"""

from __future__ import annotations

import functools
import re

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.compat.records import Platform, Release
from gpudoctor.facts import Facts, TextEvent
from gpudoctor.patterns import Pattern

NEWEST_BEFORE = {"3.7": 2, "3.8": 2, "3.9": 5, "3.10": 2, "3.11": 2, "3.12": 2, "3.13": 6}
"""Minor version of Python -> its newest patch when the first TensorFlow for it came (python.org and package index, dates of
release): who has a newer one and is offered nothing has another reason."""
_ALWAYS_64 = (3, 12)
"""From here on a Python whose patch nobody tells counts as too new: hardly anybody has it in 32 bits."""


def minor(version: object) -> str | None:
    """'3.11' of '3.11.4'."""
    found = re.match(r"(\d\.\d+)", version) if isinstance(version, str) else None
    return found[1] if found else None


def is_32bit(facts: Facts) -> bool:
    """Python, or the machine, has 32 bits."""
    return facts.python.bits == 32 or facts.system.machine in ("i686", "i386", "x86")


def is_for(wheel: TextEvent, version: object) -> bool:
    """Whether a wheel that was named is for this minor version of Python; not where nobody tells it."""
    known = minor(version)
    return known is not None and wheel.values.get("python") == "cp" + known.replace(".", "")


_APPLES: Platform = "macos-arm64"


def arm_platform(facts: Facts) -> Platform | None:
    """The ARM platform that pip looks for wheels for, as it is told, or as the list of versions that pip found begins there alone."""
    machine, system = facts.system.machine, facts.system.system
    if machine in ("x86_64", "AMD64", "i686") or system == "Windows":
        return None
    if system != "Darwin" and machine == "aarch64":
        return "linux-aarch64"
    if (system == "Darwin" and machine == "arm64") or (system != "Linux" and facts.text.said("apple-silicon")):
        return _APPLES
    for event in facts.text.said("no-version"):
        fits = _begin_so(offered(event) or (), distribution(event))
        if len(fits) == 1 and (only := next(iter(fits))) in ("linux-aarch64", _APPLES):
            return only
    return None


def _begin_so(listed: tuple[str, ...], name: str) -> set[Platform]:
    """The platforms for which some Python is offered no release before the first of the list."""
    try:
        oldest = min(compat.version(v) for v in listed)
    except ValueError:
        return set()
    return {
        platform
        for (_, platform), v in _first_files(name).items()
        if compat.version(v).release[:2] == oldest.release[:2]
    }


@functools.lru_cache(maxsize=8)
def _first_files(name: str) -> dict[tuple[str, Platform], str]:
    """Minor version of Python and platform -> the first release that was published for them."""
    return {
        (python, f.platform): release.version
        for release in compat.releases()  # newest first: the oldest stays
        for f in release.files
        if f.distribution == name
        for python in f.python
    }


def is_arm(facts: Facts) -> bool:
    """Linux on aarch64."""
    return facts.system.machine == "aarch64" and facts.system.system != "Darwin"


def shows_no_gpu(facts: Facts) -> bool:
    """The text shows or says that TensorFlow has no GPU."""
    return facts.tensorflow.devices == () or facts.tensorflow.build.cuda is False


def at_least(version: object, least: str) -> bool | None:
    """Whether a version is `least` or newer; None: it is not told, or is none."""
    try:
        return compat.version(version) >= compat.version(least) if isinstance(version, str) else None
    except compat.NotAVersion:
        return None


def distribution(event: TextEvent) -> str:
    """The package that was asked for."""
    name = event.values.get("name", "tensorflow").lower().replace("_", "-")
    return name if name in ("tensorflow-gpu", "tensorflow-cpu") else "tensorflow"


def asked_for(event: TextEvent, *, name: str | None = None) -> tuple[Release, ...]:
    """The releases of this package that the requirement admits; all, where it names no version."""
    wanted = name or distribution(event)
    spec = re.sub(r"^=(?!=)", "==", event.values.get("spec", "").strip("'\"`,. )"))
    spec = re.sub(r"^(?=\d)", "==", spec)  # as people say it
    spec = re.sub(r"^==(\d+\.\d+)$", r"==\1.*", spec)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # which takes long to import

    try:
        admitted = SpecifierSet(spec, prereleases=True)
    except InvalidSpecifier:
        return ()
    return tuple(
        r for r in compat.releases() if r.version in admitted and any(f.distribution == wanted for f in r.files)
    )


def pythons(releases: tuple[Release, ...], name: str, platform: Platform | None = None) -> set[str]:
    """The Pythons that they are published for."""
    return {
        p
        for r in releases
        for f in r.files
        if f.distribution == name and platform in (None, f.platform)
        for p in f.python
    }


def offered(event: TextEvent) -> tuple[str, ...] | None:
    """The versions that pip found for this Python; () none, None: pip does not say."""
    if event.kind != "no-version" or "versions" not in event.values:
        return None
    listed = re.findall(r"\d+\.\d+[\w.]*", event.values.get("versions", ""))
    return tuple(listed)


@functools.lru_cache(maxsize=8)
def _first(name: str) -> dict[str, str]:
    """Minor version of Python -> the first release that was published for it."""
    found: dict[str, str] = {}
    for release in compat.releases():  # newest first: the oldest stays
        for python in pythons((release,), name):
            found[python] = release.version
    return found


def python_of(listed: tuple[str, ...], name: str) -> str | None:
    """The Python whose releases begin as the list does: pip shows a Python only what was published for it."""
    try:
        oldest = min(compat.version(v) for v in listed)
    except ValueError:
        return None
    fits = [p for p, v in _first(name).items() if compat.version(v).release[:2] == oldest.release[:2]]
    return fits[0] if len(fits) == 1 else None


def too_new_or_old(facts: Facts, event: TextEvent) -> bool:
    """Whether pip's words, and the Python that is told, leave the Python's version as the reason."""
    name, listed, told = distribution(event), offered(event), facts.python.version
    wanted = asked_for(event)
    if not wanted:
        return False
    if listed:
        if _offers_its_final(event, listed):
            return False
        python = python_of(listed, name) or minor(told)
        return python is not None and python not in pythons(wanted, name)
    python = minor(told)
    if python is None or not isinstance(told, str):
        return False
    if python not in pythons(wanted, name):
        return True
    new = tuple(int(n) for n in python.split(".")) >= _ALWAYS_64  # when it came there were wheels for ARM
    if event.values.get("spec") or python not in NEWEST_BEFORE:
        return False
    if facts.system.machine in ("aarch64", "arm64") and not new:
        return False
    patch = re.match(r"\d\.\d+\.(\d+)", told)
    if patch is None:
        return new
    return int(patch[1]) <= NEWEST_BEFORE[python] and not _is_later(event, python)


def _is_later(event: TextEvent, python: str) -> bool:
    """Whether pip itself is of a time when there were wheels for this Python: it writes 'ERROR:' since 19.1, of April 2019, and
    TensorFlow 1.13 for 3.7 is of February."""
    return python in ("3.5", "3.6", "3.7") and event.text.startswith("ERROR: ")


def _offers_its_final(event: TextEvent, listed: tuple[str, ...]) -> bool:
    """Whether a pre-release is asked for whose release is offered: it was taken away."""
    asked = re.fullmatch(r"==(\d+\.\d+\.\d+)-?(?:rc|a|b)\d+", event.values.get("spec", ""))
    return asked is not None and asked[1] in listed


def refuses(facts: Facts, event: TextEvent) -> bool:
    """Whether a line leaves no doubt that it is the Python's version."""
    if event.kind in ("python-refused", "async-keyword"):
        return True
    told = minor(facts.python.version)
    if event.kind == "no-version":
        return too_new_or_old(facts, event)
    if event.kind == "python-wish":
        return _wishes(facts, event)
    if event.kind == "wheel-not-supported" and "aarch64" in event.values.get("platform", "") and is_arm(facts):
        return True  # it is for this machine
    if event.kind == "wheel-not-supported" and told is not None:
        tags = re.findall(r"cp(\d)(\d{1,2})(?!\d)", event.values.get("python", ""))
        return bool(tags) and "abi3" not in event.values.get("abi", "") and told not in [f"{a}.{b}" for a, b in tags]
    if event.kind == "conda-python" and told is not None:
        return not any(_takes(one, told) for one in event.values.get("pythons", "").split("|"))
    return False


def fits_its_wheels(facts: Facts) -> tuple[TextEvent, ...]:
    """pip's lines that do not offer, or do not take, what is published for the very Python that is told: it is another reason then. ()
    where that is not known: of a Python that was new, without a release that is asked for, nobody knows when it was."""
    told, events = facts.python.version, facts.text.said("no-version")
    python, wheels = minor(told), facts.text.said("wheel-not-supported")
    if python is None or not isinstance(told, str) or facts.text.said(*_OTHER_REFUSALS):
        return ()
    patch = re.match(r"\d\.\d+\.(\d+)", told)
    settled = patch is not None and int(patch[1]) > _ON_WINDOWS_BEFORE.get(python, NEWEST_BEFORE.get(python, 99))
    settled = settled or any(_is_later(e, python) for e in events)
    for event in events:
        name, listed = distribution(event), offered(event)
        wanted, platforms = asked_for(event), _platforms(facts)
        if not (event.values.get("spec") or settled) or any(python not in pythons(wanted, name, p) for p in platforms):
            return ()
        if listed and python_of(listed, name) not in (None, python):
            return ()  # it is another Python's pip
    return (*wheels, *events) if all(is_for(e, told) for e in wheels) else ()


_ON_WINDOWS_BEFORE = {"3.5": 2, "3.6": 1}
"""The same of the Pythons that had wheels for Linux at once."""
_OTHER_REFUSALS = ("python-refused", "async-keyword", "conda-python", "conda-pinned")


def _platforms(facts: Facts) -> tuple[Platform, ...]:
    """The platform; those that most have, where it is not told."""
    system, machine = facts.system.system, facts.system.machine
    if system == "Darwin":
        return (
            ("macos-x86_64",)
            if machine == "x86_64"
            else (_APPLES,)
            if machine == "arm64"
            else (_APPLES, "macos-x86_64")
        )
    if machine == "aarch64":
        return ("linux-aarch64",)
    of_pc: tuple[Platform, ...] = ("windows-x86_64", "linux-x86_64")
    return of_pc[:1] if system == "Windows" else of_pc[1:] if system == "Linux" else of_pc


def _wishes(facts: Facts, event: TextEvent) -> bool:
    """Whether the release that the text is about was not published for the Python that somebody wants."""
    wanted, release = event.values.get("python", ""), facts.tensorflow.version
    python = wanted if "." in wanted else f"{wanted[:1]}.{wanted[1:]}"
    if not isinstance(release, str) or minor(facts.python.version) not in (None, python):
        return False
    published = pythons(_patches(release), "tensorflow")
    return bool(published) and python not in published


def _patches(release: str) -> tuple[Release, ...]:
    """All of a minor version: those of 2.3 for '2.3' and '2.3.1'."""
    version = ".".join(release.split(".")[:2])
    return tuple(r for r in compat.releases() if r.version.startswith(f"{version}."))


def nothing_for_its_bits(facts: Facts) -> tuple[TextEvent, ...]:
    """pip's lines that offer nothing to a Windows whose Python has wheels of the release that the text is about."""
    release, python = facts.tensorflow.version, minor(facts.python.version)
    if not isinstance(release, str) or python is None:
        return ()
    none = tuple(e for e in facts.text.said("no-version") if offered(e) == () and distribution(e) == "tensorflow")
    return none if python in pythons(_patches(release), "tensorflow", "windows-x86_64") else ()


def _takes(one: str, python: str) -> bool:
    """Whether conda's '>=3.6,<3.7.0a0' or '3.7.*' takes a Python."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return f"{python}.0" in SpecifierSet(one if one[:1] in "<>=!~" else f"=={one}")
    except InvalidSpecifier:
        return True


def below_its_wheels(facts: Facts) -> tuple[str, tuple[TextEvent, ...]] | None:
    """The glibc that the wheels of a release need which pip does not offer, though they are for this Python, where that of this
    system is older; and the lines."""
    has = facts.python.glibc
    here = tuple(e for e in facts.text.said("runs-on") if e.values.get("glibc") == has)
    if not isinstance(has, str) or not here or facts.system.system in ("Darwin", "Windows"):
        return None
    for event in facts.text.said("no-version"):
        wanted, listed, name = asked_for(event), offered(event), distribution(event)
        python = (python_of(listed, name) if listed else None) or minor(facts.python.version)
        if not wanted or not listed or not event.values.get("spec") or python not in pythons(wanted, name):
            continue
        builds = [compat.build(r.version) for r in wanted]
        needs = [b.glibc for b in builds if b is not None and b.glibc is not None]
        least = min(needs, key=_minor_of, default=None)
        if least is not None and len(needs) == len(wanted) and _minor_of(has) < _minor_of(least):
            return least, (event, *here[:1])
    return None


_OURS = Pattern(r"tensorflow|pywrap|python|site-packages|libcu|libnv")


def old_system(facts: Facts) -> tuple[TextEvent, ...]:
    """The loader's words for a symbol of glibc, or of the system's own libstdc++, that TensorFlow needs."""
    told = facts.text.said("glibc", "libstdcxx")
    if not told:
        return _old_by_words(facts)
    own = (e for e in told if "by" not in e.values or _OURS.search(e.values["by"]))
    return tuple(e for e in own if not re.search(r"conda|/envs?/|site-packages", e.values.get("library", "")))


def _old_by_words(facts: Facts) -> tuple[TextEvent, ...]:
    """The glibc that is needed, and the older one that is there, in somebody's words."""
    needs = [e for e in facts.text.said("glibc-said") if "needs" in e.values]
    of_wheels = {(e.line, e.values["needs"]) for e in needs}
    here = [
        e for e in facts.text.said("glibc-here") if "here" in e.values and (e.line, e.values["here"]) not in of_wheels
    ]
    if (
        needs
        and here
        and min(_minor_of(e.values["needs"]) for e in needs) > max(_minor_of(e.values["here"]) for e in here)
    ):
        return (*needs[:1], *here[:1])
    return ()


def _minor_of(glibc: str) -> int:
    return int(glibc.partition(".")[2])


def range_of(versions: set[str]) -> str:
    """'3.9 to 3.12'."""
    ordered = sorted(versions, key=compat.version)
    return f"{ordered[0]} to {ordered[-1]}" if len(ordered) > 1 else "".join(ordered)


def before_its_wheels(facts: Facts) -> tuple[TextEvent, ...]:
    """A system of glibc 2.12 on which somebody can't import TensorFlow 1: its wheels are linked with 2.17. () where it tells no such
    thing, or where a line shows another reason."""
    system, fails = facts.text.said("old-system-named"), facts.text.said("import-fails-said")
    old = [r for r in _told.releases(facts) if r[0] == 1]
    error = isinstance(facts.tensorflow.import_error, str) or facts.text.shows_a_failure
    if not system or not fails or not old or error or len(old) < len(_told.releases(facts)):
        return ()
    return system[0], fails[0]
