"""Other programs on a GPU, by the names that nvidia-smi lists, and how much memory a product has."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.patterns import Pattern

_FOREIGN = Pattern(
    r"(?i)(?:^|[/\\ ])(?:\\.?/?)?(?:gmx\w{0,8}|mdrun\w{0,8}|namd\d?\w{0,6}|lmp\w{0,10}|pmemd\S{0,10}|amber\w{0,6}|vasp\w{0,8}|xmrig\S{0,10}|\w{0,4}miner\S{0,12}|t-rex\S{0,6}|trex|ethminer|lolminer|phoenixminer|gminer|kworkerds"
    r"|hashcat\S{0,6}|blender\S{0,6}|fahcore\S{0,8}|fah\w{0,8}|boinc\w{0,8}|ollama\S{0,12}|llama\S{0,16}|vllm\S{0,16}|ffmpeg|relion\w{0,10}|obs(?:64)?(?:\.exe)?|caffe\S{0,6}|darknet\S{0,6}|matlab\S{0,6}|octane\S{0,6}|redshift\S{0,10})$"
    r"|^/(?:tmp|var/tmp|dev/shm)/\S{0,60}$|/\.[^/]{1,20}/[^/]{1,30}$(?<!/bin/python)(?<!/bin/python3)"
)
_PYTHON = Pattern(r"python|jupyter|ipykernel|/envs/|/venvs?/|/\.(?:venv|conda|pyenv|virtualenvs|local|env)/")
_MUCH = 2048
"""MiB, which a program takes that computes."""
_GB = 10**9


def foreign(facts: Facts) -> tuple[TextEvent, ...]:
    """Processes of nvidia-smi's table that compute, hold much memory, and are no programs that run TensorFlow."""
    return tuple(e for e in _holds_much(facts) if is_foreign(e.values["name"]))


def held_before_start(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that says when nvidia-smi was asked, and the processes that held much memory then; (): nothing of it is told."""
    before, much = facts.text.said("shown-before-start"), _holds_much(facts)
    return (*before, *much) if before and much else ()


def _holds_much(facts: Facts) -> tuple[TextEvent, ...]:
    return tuple(e for e in facts.text.said("gpu-process") if _mib(e.values.get("used", "")) >= _MUCH)


def is_foreign(name: str) -> bool:
    """Whether a program of this name does not run TensorFlow."""
    return _FOREIGN.search(name) is not None and _PYTHON.search(name) is None


def _mib(text: str) -> int:
    digits = text.removesuffix("MiB")
    return int(digits) if digits.isdecimal() else 0


def memory_of_named(names: Iterable[str]) -> int:
    """Bytes that every product has which these names mean, at least; 0: not known."""
    sizes = [_least(name) for name in dict.fromkeys(names)]
    return min(sizes, default=0)


def _least(name: str) -> int:
    models = compat.gpu_models(name)
    known = [size for m in models if (size := m.memory_gb or _in_name(m.name)) is not None]
    if known and len(known) == len(models):
        return int(min(known) * _GB)
    has = _told.capability(name)
    return _LEAST_SINCE_PASCAL if has is not None and has >= _PASCAL and not _SMALL.search(name) else 0


def _in_name(name: str) -> float | None:
    """GB that a product's name tells: 'Tesla V100-SXM3-32GB'."""
    told = _SIZE.search(name)
    return float(told[1]) if told is not None else None


_SIZE = Pattern(r"(?<![\d.])(\d{1,3}) ?GB\b")
_PASCAL, _LEAST_SINCE_PASCAL = (6, 0), 3 * _GB
_SMALL = Pattern(r"\bMX ?\d|\bGT ?\d|\b1050\b|\bP[4-6]00\b|\bT[4-6]00\b|Tegra|Jetson|Orin|Xavier|MIG|GRID|\bP?1000\b")
"""Products that may have less."""


def exclusive_and_taken(facts: Facts) -> tuple[TextEvent, ...]:
    """Rows of nvidia-smi's table of GPUs that admit one process, and are in use."""
    devices = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    taken = {
        str(d.index)
        for d in devices
        if d.compute_mode in ("exclusive-process", "exclusive-thread")
        and isinstance(d.memory_used_bytes, int)
        and d.memory_used_bytes >= _IN_USE
    }
    return tuple(e for e in facts.text.said("gpu-state") if e.values["index"] in taken)


_IN_USE = 400 << 20
"""Bytes: an idle GPU with a display has less, a context of CUDA's with something in it more."""
