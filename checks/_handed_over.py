"""What a pasted text tells of GPUs that were not handed over to the place where the program runs."""

from __future__ import annotations

from gpudoctor.checks._cuinit import NO_DEVICE, STUB, starts
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.patterns import Pattern

ENGINES = ("docker", "podman", "containerd")
"""Containers that are started by one command, which either asks for GPUs or does not."""
_NO_LIBRARY = 12
"""NVML's code: libnvidia-ml.so.1 is not found."""


def nothing_here(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that show that there is neither driver library nor GPU where the program ran; none where CUDA starts."""
    if starts(facts):
        return ()
    lib = facts.driver.libcuda
    kinds: list[str] = [
        "ngc-no-driver",
        "nvidia-smi-not-inside",
        "nvidia-smi-not-found",
        "torch-no-driver",
        "device-node-absent",
        "kernel-module-absent",
    ]
    if lib.path is None or lib.init_result in (NO_DEVICE, STUB):
        kinds += ["cuinit-failed", "library-not-loaded"]
    if facts.gpu.nvml_error == _NO_LIBRARY:
        kinds.append("nvml-failed")
    return facts.text.said(*kinds)


def a_part_was_asked_for(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that show that a container was given some of the host's GPUs, and that these work; () where none works, and where
    all are asked for as well."""
    said = facts.text.said
    asked, fewer = said("some-gpus-asked"), said("fewer-gpus-seen")
    everything = any(_ALL.search(e.text) for e in said("gpus-asked"))
    fails = lists_nothing(facts) or any(e.symptom and not e.is_weak for e in facts.text.understood())
    return (*asked[:1], *fewer[:1]) if asked and fewer and not everything and not fails else ()


_ALL = Pattern(r"--gpus[= ]['\"]?all\b|VISIBLE_DEVICES['\"]?[=: ]{1,2}['\"]?all\b")


def lists_nothing(facts: Facts) -> bool:
    """TensorFlow got as far as to say that it has no GPU."""
    devices = facts.tensorflow.devices
    return not isinstance(devices, Unread) and not any(d.type == "GPU" for d in devices)


def driver_works(facts: Facts) -> bool:
    """nvidia-smi shows its table: on the host, where a container is not started."""
    return isinstance(facts.gpu.driver_version, str)


def without_compute(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text that show that the libraries for computing were not asked for."""
    lib, said = facts.driver.libcuda, facts.text.said
    if isinstance(lib.path, str) or isinstance(lib.version, str) or starts(facts):
        return ()
    if few := said("capabilities-without-compute"):
        return few if lib.path is None or lists_nothing(facts) or not facts.text.shows_a_failure else ()
    cured = said("compute-capability-cures")
    works = [e for e in cured if _CURES.search(e.text)]
    return tuple(works or cured) if cured and (lib.path is None or works) else ()


_CURES = Pattern(
    r"(?i)\b(?:fix\w*|solv\w+|works?|worked|cure[sd]?|help(?:s|ed)|resolv\w+|gone|did the trick|is found|finds?)\b"
)
