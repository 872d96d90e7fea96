"""Which GPUs, releases and CUDA a pasted text tells of, and whether they fit each other."""

from __future__ import annotations

from gpudoctor import compat
from gpudoctor.checks._driver_asked import in_container
from gpudoctor.checks._said import holds
from gpudoctor.facts import Facts, Unread
from gpudoctor.patterns import Pattern

Capability = tuple[int, int]
_TURING, _FIRST_FOR_TURING = (7, 5), (10, 0)
"""The code for Volta runs there, but for what cuBLAS chooses by the card."""
RUNS_PTX = (2, 21)
"""The first release whose PTX Blackwell's driver compiles throughout."""

_GTX = Pattern(r"(?i:GTX)(?= ?[345]0\d0)")
"""What people call cards that are RTX."""


def capability(name: str) -> Capability | None:
    """Of a GPU by the name that a program prints or a person writes; None: not known, or several."""
    if _QUADRO.search(name):  # Quadro 4000 is no Quadro RTX 4000
        return next((known for known, names in _FERMI.items() if names.search(name)), None)
    words = _GTX.sub("RTX", name.replace("...", " ")).split()
    for length in range(len(words), 0, -1):
        models = compat.gpu_models(" ".join(words[:length]))
        found = {m.compute_capability for m in models}
        if len(found) > 1 and "Ti" in name:
            found = {max(found)}  # GTX 750 Ti: the OEM card of the same name is older
        if len(found) == 1:
            return pair(found.pop())
    return next((known for known, names in _FERMI.items() if names.search(name)), None)


_QUADRO = Pattern(r"(?i)\bquadro (?:600|[1-6]000)M?\b")
_FERMI: dict[Capability, Pattern] = {
    (2, 0): Pattern(
        r"(?i)\bGTX ?(?:465|470|480|570|580|590)(?!M|\d)|\bGTX ?480M\b|\bTesla [CM]20[5-9]\d\b|\bQuadro (?:50[01]0M|[4-6]000)\b"
    ),
    (2, 1): Pattern(
        r"(?i)\bG(?:T|TS|TX) ?(?:4[1-6]\d|5[1-6]\d)M?(?: ?Ti| ?SE)?(?!\d)|\bGTX? ?(?:5[78]0M|47[05]M|4[68]0M)\b|\bGT ?(?:6[12][05]|63[05]M)M?\b|\bGTX ?67[05]M\b(?!X)|\b(?:610|710)M\b"
        r"|\bNVS ?(?:310|315|4200M?|5[24]00M?)\b|\bQuadro (?:600|2000|[1-4]000M|3010M)\b"
    ),
}
"""Names of cards before Kepler, by NVIDIA's list 'Legacy CUDA GPUs'; no newer series has them."""


def pair(text: str) -> Capability:
    """(7, 5) of '7.5'."""
    major, _, minor = text.partition(".")
    return int(major), int(minor[:1] or 0)


def printed_cards(facts: Facts) -> dict[str, Capability]:
    """The GPUs that programs name, with their compute capability."""
    found: dict[str, Capability] = {}
    for event in facts.text.said("device-found"):
        name, values = event.values.get("name", ""), event.values
        if "capability" in values:
            found[name] = pair(values["capability"])
        elif "major" in values:
            found[name] = int(values["major"]), int(values.get("minor", "0"))
        elif (known := capability(name)) is not None:
            found[name] = known
    listed = facts.gpu.devices
    for device in () if isinstance(listed, Unread) else listed:
        if isinstance(device.name, str) and device.name not in found and (known := capability(device.name)) is not None:
            found[device.name] = known
    return found


def named_cards(facts: Facts) -> dict[str, Capability]:
    """The GPUs that people name."""
    named = {name: known for name in facts.text.cards() if (known := capability(name)) is not None}
    return named or {name: known for name in facts.text.capabilities() if (known := _of_generation(name)) is not None}


_GENERATIONS = {
    "fermi": (2, 0),
    "kepler": (3, 5),
    "maxwell": (5, 2),
    "pascal": (6, 1),
    "volta": (7, 0),
    "turing": (7, 5),
    "ampere": (8, 0),
    "hopper": (9, 0),
    "blackwell": (12, 0),
}


def _of_generation(name: str) -> Capability | None:
    """(8, 6) of 'sm_86' and 'compute capability 8.6', (8, 0) of 'Ampere'."""
    found = _NUMBER.search(name)
    if found is None:
        return _GENERATIONS.get(name.lower())
    return pair(found[1]) if found[1] else (int(found[2]), int(found[3]))


_NUMBER = Pattern(r"(\d{1,2}\.\d)|(\d{1,2})(\d)\b")


def cards(facts: Facts) -> dict[str, Capability]:
    """Those that programs name; where none does, those that people name."""
    return printed_cards(facts) or named_cards(facts)


def releases(facts: Facts) -> tuple[tuple[int, int], ...]:
    """The minor releases of TensorFlow that the text names: (2, 16)."""
    version = facts.tensorflow.version
    told = [version] if isinstance(version, str) else []
    told += [v for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()]
    return tuple(release for release in dict.fromkeys(_minor(v) for v in told) if release[0] <= _NEWEST_MAJOR)


_NEWEST_MAJOR = 2
"""'tensorflow:21.10' is the tag of an image."""
_LEADING_DIGITS = Pattern(r"\d{1,3}")


def _minor(version: str) -> tuple[int, int]:
    major, _, rest = version.partition(".")
    minor = _LEADING_DIGITS.match(rest)  # of '2.2rc2' as well
    return int(major), int(minor[0]) if minor else 0


def cudas(facts: Facts) -> tuple[tuple[int, int], ...]:
    """The CUDA releases for which the TensorFlow in question may be built."""
    named = tuple(dict.fromkeys(pair(v) for e in facts.text.said("names") for v in e.values.get("cuda", "").split()))
    built, told = built_for(facts), releases(facts)
    if named and told and all(release < (1, 0) for release in told):
        return named  # who used one of these mostly built it
    return built or named


def built_for(facts: Facts) -> tuple[tuple[int, int], ...]:
    """The same by what TensorFlow opened and by the releases that are named; nothing that is only installed."""
    opened = [e.values.get("version", "") for e in facts.text.said("runtime-opened")]
    found = [runtime(v) for v in opened if "." in v or len(v) > 2]
    found = found or _named(facts, "image")
    if not found and not own_build(facts):
        found = [compat.built_for(release).cuda for release in releases(facts)]
    return tuple(dict.fromkeys(found or _named(facts, "program")))


def _named(facts: Facts, what: str) -> list[tuple[int, int]]:
    """The CUDA of NVIDIA's image, or of another program's package."""
    return [pair(v) for e in facts.text.said("names") for v in e.values.get(what, "").split()]


def runtime(version: str) -> tuple[int, int]:
    """(10, 1) of libcudart.so.10.1 and cudart64_101.dll; (11, 0), which is any 11, of libcudart.so.11.0."""
    digits = version.replace(".", "")
    return int(digits[:-1]), int(digits[-1])


def own_build(facts: Facts) -> bool:
    """Whether TensorFlow was built by the one who writes, and not installed by pip, whatever the form says."""
    return any("own_build" in e.values for e in facts.text.said("names")) and not facts.text.said(
        "pip-brings-tensorflow"
    )


def needs(card: Capability) -> tuple[int, int] | None:
    """The oldest CUDA whose code runs on a GPU of this compute capability, or is compiled for it without trouble."""
    if card[0] == 9:
        return 11, 0  # Hopper: PTX for Ampere is compiled at the first use, which is slow and works
    majors = [
        pair(a.first_cuda)
        for a in compat.matrix().architectures
        if a.first_cuda and any(pair(c)[0] == card[0] for c in a.compute_capabilities)
    ]
    return min(majors, default=None)


def beyond_its_drivers(facts: Facts) -> tuple[str, int, str] | None:
    """A card none of whose drivers runs the CUDA of every release that is named: its name, the last branch, and that CUDA. None
    where a newer card is named as well."""
    built, known = built_for(facts), cards(facts)
    if not built or not known:
        return None
    last = {name: _last_branch(has) for name, has in known.items()}
    oldest = min(built)
    if any(branch is None or branch[1] >= oldest[0] for branch in last.values()):
        return None
    name, first = next(iter(last.items()))
    return name, first[0] if first else 0, f"{oldest[0]}.{oldest[1]}"


def _last_branch(has: Capability) -> tuple[int, int] | None:
    """The last branch of drivers for a GPU, and the major version of its CUDA; None: there are newer ones."""
    matrix = compat.matrix()
    shown = f"{has[0]}.{has[1]}"
    branches = {a.last_branch for a in matrix.architectures if shown in a.compute_capabilities}
    if len(branches) != 1 or (last := branches.pop()) is None:
        return None
    cuda = next((b.cuda for b in matrix.driver_branches if b.branch == last), None)
    return (last, pair(cuda)[0]) if cuda else None


_MAKER = Pattern(r"(?i)^(?:(?:nvidia|geforce|tesla|quadro|rtx|gtx) )+")


def failing_cards(facts: Facts, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these cards with which it goes wrong, where somebody says with which it does and with which not, or the lines of what
    fails name some and not the others; none where that is not told."""
    fails = [e.values["fails"].lower() for e in facts.text.said("card-decides")]
    machines = dict(
        one.split("=") for e in facts.text.said("names") for one in e.values.get("machines", "").split("|") if one
    )
    fails = [machines.get(one, one).lower() for one in fails]
    if said := tuple(name for name in names if any(one in name.lower() for one in fails)):
        return said
    works = [e.values["works"].lower() for e in facts.text.said("card-works-said")]
    left = tuple(name for name in names if not any(_MAKER.sub("", name).lower() in one for one in works))
    if left and len(left) < len(names):
        return left
    wrong = [e.text.lower() for e in facts.text.understood() if e.symptom and not e.is_weak]
    named = tuple(name for name in names if any(_MAKER.sub("", name).lower() in text for text in wrong))
    return named if len(named) < len(names) else ()


def too_new(facts: Facts, of_cublas: bool = False, any_of_them: bool = False) -> tuple[str, Capability, str] | None:
    """A card that is newer than everything that the text says of the build: its name, its capability, and the build.
    `of_cublas`: it is cuBLAS that fails. `any_of_them`: an older card that is named as well does not matter."""
    built, tensorflow = cudas(facts), releases(facts)
    known = cards(facts) if built else {}
    old = [name for name, has in known.items() if _newer(has, built, tensorflow, of_cublas)]
    failing = failing_cards(facts, tuple(known))
    old = [name for name in old if not failing or name in failing]
    others = len(old) < len(known) and not any_of_them
    if not old or (others and not printed_cards(facts) and not failing and not facts.text.said("card-was-changed")):
        return None
    text = ", ".join(".".join(map(str, b)) for b in built)
    return old[0], known[old[0]], f"CUDA {text}"


def fits(facts: Facts) -> str | None:
    """The reason why no GPU is newer than the build, where the text names GPUs and what the build is for; None: it may be."""
    said = facts.text.said
    built, known = cudas(facts), {**named_cards(facts), **printed_cards(facts)}
    one_of_each = len(releases(facts)) == 1 and bool(built) and len(set(known.values())) == 1
    told = said(
        "no-machine-code",
        "nvcc-lacks-new",
        "card-refused-said",
        "runtime-opened",
        "several-machines",
        "card-decides",
        "card-was-changed",
        "cublas-failed",
    )
    fitting = said("card-fits-build")
    if (
        fitting
        and not (own_build(facts) or said("cublas-failed", "nvcc-lacks-new", "new-card-unfit-said", "no-kernel-image"))
        and built_for(facts)
    ):
        return f"the CUDA of this build knows {fitting[0].values['card']}"
    if not one_of_each or told or own_build(facts) or in_container(facts) or holds(facts, "sm_", "source", "build"):
        return None
    if any(capability(name) is None for name in facts.text.cards()):
        return None
    least = {name: needs(has) for name, has in known.items()}
    if any(first is None or min(built) < first for first in least.values()):
        return None
    if any(has == _TURING and min(built) < _FIRST_FOR_TURING for has in known.values()):
        return None
    name, has = next(iter(known.items()))
    return f"CUDA {min(built)[0]}.{min(built)[1]} knows {name} (compute capability {has[0]}.{has[1]})"


def _newer(
    has: Capability, built: tuple[tuple[int, int], ...], tensorflow: tuple[tuple[int, int], ...], of_cublas: bool
) -> bool:
    first = _FIRST_FOR_TURING if of_cublas and has == _TURING else needs(has)
    if first is None or not built or (has[0] >= 10 and any(t >= RUNS_PTX for t in tensorflow)):
        return False
    return all(b < first for b in built)
