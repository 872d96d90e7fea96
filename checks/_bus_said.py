"""What lines of a pasted text decide of the GPUs on the bus: whose they are."""

from __future__ import annotations

from gpudoctor.checks._cuinit import NO_DEVICE, UNKNOWN_ERROR
from gpudoctor.checks._driver_asked import Lines, answer, in_container, no_driver, wsl
from gpudoctor.facts import Facts, Unread
from gpudoctor.patterns import Pattern


def _vendors(facts: Facts) -> set[str]:
    return {e.values.get("vendor", "") for e in facts.text.said("gpu-on-bus")}


def _without_nvidia(facts: Facts) -> bool:
    """Nothing in the text speaks of an NVIDIA GPU or of its driver at work."""
    works = isinstance(facts.driver.kernel_version, str) or isinstance(facts.gpu.driver_version, str)
    named = facts.text.said("nvidia-gpu-named") or "nvidia" in _vendors(facts)
    listed = facts.tensorflow.gpus()
    empty = not isinstance(listed, Unread) and not listed
    answered = answer(facts) in (NO_DEVICE, UNKNOWN_ERROR)
    asks = isinstance(listed, Unread) and not facts.text.shows_a_failure
    lacks = facts.driver.libcuda.path is None or answered or empty or facts.text.shows("container-does-not-start")
    elsewhere = facts.text.said("directml-works", "hybrid-named")
    return not works and not named and not elsewhere and bool(lacks or asks)


def _named(facts: Facts, *vendors: str) -> Lines:
    return tuple(e for e in facts.text.said("other-gpu-named") if e.values.get("vendor", "").startswith(vendors))


_AT_WORK = ("bandwidth-between-said", "trains-well-said")
"""Whoever measures what GPUs do, or says that they work, does not ask why his is none of NVIDIA's."""


def amd(facts: Facts) -> Lines:
    """What tells that the GPU is AMD's."""
    if not _without_nvidia(facts) or facts.text.said("rocm-in-use", *_AT_WORK):
        return ()
    on_bus = tuple(e for e in facts.text.said("gpu-on-bus") if e.values.get("vendor") == "amd")
    return (*on_bus, *_named(facts, "AMD", "ATI", "Radeon", "RADEON"))


def none(facts: Facts) -> Lines:
    """What tells that no GPU here is NVIDIA's."""
    if guest := _guest(facts):
        return guest
    if not _without_nvidia(facts) or amd(facts) or facts.python.bits == 32:
        return ()
    said = facts.text.said
    return (
        *_named(facts, "Intel", "Mesa Intel"),
        *(e for e in said("gpu-not-there") if not _OF_A_POD.search(e.text)),
        *(said("no-card-said") if facts.text.shows("container-does-not-start") else ()),
        *_others_on_bus(facts),
        *_docker_of_a_mac(facts),
    )


def _others_on_bus(facts: Facts) -> Lines:
    """The list of all displays, or what modprobe says of the module beside a list of some, has GPUs of others only. A laptop's may
    be switched off."""
    said = facts.text.said
    whole = said("displays-listed") or said("module-no-device")
    off = said("gpu-switched-off", "prime-intel", "laptop-mode", "laptop-tool", "wsl-named", "hybrid-named")
    off = off or (said("laptop-named") and said("card-gone-said"))
    if not whole or off or facts.text.cards() or not said("gpu-on-bus") or in_container(facts):
        return ()
    return (*said("displays-listed")[:1], *said("gpu-on-bus")[:2])


def _guest(facts: Facts) -> Lines:
    """Somebody wants a GPU in a virtual machine of a kind that hands over none, whatever the host has."""
    said = facts.text.said
    guest, works = said("guest-named"), isinstance(facts.gpu.driver_version, str)
    lacks = no_driver(facts) or said("says-no-gpu") or any(_WANTED.search(e.text) for e in guest)
    return guest if guest and lacks and not works and not wsl(facts) and "nvidia" not in _vendors(facts) else ()


_OF_A_POD = Pattern(r"(?i)\b(?:pod|container)s?\b[^.\n]{0,60}\bno gpu in it\b")
_WANTED = Pattern(r"(?i)\b(?:gpu|cuda|nvidia)\b")


def _docker_of_a_mac(facts: Facts) -> Lines:
    """Docker is asked for GPUs on a Mac, which hands over none whatever is installed."""
    said = facts.text.said
    by_name = said("docker-of-a-mac", "mac-named")
    if not by_name or said("linux-host-named") or facts.text.cards():
        return ()
    refused = said("no-gpu-device-driver", "no-gpu-runtime")
    return (*by_name[:1], *refused[:1]) if refused else ()


def missing(facts: Facts) -> Lines:
    """What tells that an NVIDIA GPU has no driver."""
    absent = facts.text.said("smi-not-found")
    gpus = tuple(e for e in facts.text.said("gpu-on-bus") if e.values.get("vendor") == "nvidia")
    no_library = facts.driver.libcuda.path is None
    return (*absent, *gpus) if absent and gpus and no_library and not in_container(facts) and not wsl(facts) else ()
