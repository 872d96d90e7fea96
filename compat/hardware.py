"""Questions about GPUs and the driver's error numbers: compat/gpus.json and compat/xid.json."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ..patterns import Pattern
from .files import gpus, xids
from .records import Confidence, Fp32Rate, GpuModel, PciDevice, TensorRate, Xid

_BRAND = frozenset({"nvidia", "geforce", "tesla", "rtx", "gtx", "gt", "generation", "gpu", "edition"})
"""Words that people leave out, and that tell no product from another where the rest is the same."""
_FORM = Pattern(r"pcie|sxm\d?|dgxs|fhhl|nvl|hbm\d?e?|\d+gb?|ac")
"""Words that tell the forms of one product apart: how it is plugged in, and its memory."""
_GLUED = Pattern(r"(rtx|gtx|gt)(\d+)(ti)?|(\d+)(ti|super)")
_LONGEST = 80
_WEAKEST: tuple[Confidence, ...] = ("certain", "inferred", "reported", "recall")


# --------------------------------------------------------------------------- names


@functools.lru_cache(maxsize=2048)
def _words(text: str) -> tuple[str, ...]:
    """'NVIDIA A100-SXM4-80GB' -> nvidia, a100, sxm4, 80gb; 'rtx3090ti' -> rtx, 3090, ti."""
    found: list[str] = []
    for word in re.findall(r"[a-z0-9]+", text[:_LONGEST].lower()):
        glued = _GLUED.fullmatch(word)
        found += [part for part in glued.groups() if part] if glued else [word]
    return tuple(found)


def _stands_in(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return any(long[i : i + len(short)] == short for i in range(len(long) - len(short) + 1))


def _names(asked: Iterable[str] = ()) -> Iterator[tuple[tuple[str, ...], GpuModel]]:
    """Every name, as words, of every model in which all that is `asked` stands (the few that are left are soon parted into words)."""
    for model in gpus().models:
        for name in (model.name, *model.also):
            lower = name.lower()
            if all(word in lower for word in asked):
                yield _words(name), model


def gpu_models(text: str) -> tuple[GpuModel, ...]:
    """The GPUs that a name means: NVML's ('NVIDIA H100 80GB HBM3') or what people type ('h100', 'rtx5090', '10de:2335').

    NVML's own name goes before all; then the product ('GTX 1080', without the Ti) with all its forms ('H100': PCIe, SXM,
    NVL; 'V100': 16 and 32 GB); then names that have the words one after the other ('RTX 6000': Quadro RTX 6000 and RTX
    6000 Ada); then those that have them anywhere. Several: the text does not tell them apart. None: not known here.
    """
    text = text.split(" MIG ")[0].strip()
    asked = {w for w in _words(text) if w != "nvidia"}
    phrase = tuple(w for w in _words(text) if w != "nvidia")
    if not asked - _BRAND:
        return _by_id(text)
    return (
        tuple(m for m in gpus().models if text in (m.name, *m.also))
        or _those(
            asked, lambda name: asked <= set(name) and all(_FORM.fullmatch(w) for w in set(name) - asked - _BRAND)
        )
        or _those(asked, lambda name: _stands_in(phrase, name))
        or _those(asked, lambda name: asked <= set(name))
        or _by_id(text)
    )


def _those(asked: Iterable[str], fits: Callable[[tuple[str, ...]], bool]) -> tuple[GpuModel, ...]:
    found: list[GpuModel] = []
    for name, model in _names(asked):
        if model not in found and fits(name):
            found.append(model)
    return tuple(found)


def near(text: str) -> tuple[str, ...]:
    """Names that look like `text`, for a question that nothing answers; at most five."""
    import difflib

    known = {
        " ".join(w for w in name if w not in less): model.name
        for less in (frozenset(), {"nvidia", "geforce", "tesla"}, _BRAND)
        for name, model in _names()
    }
    close = difflib.get_close_matches(" ".join(_words(text)), known, n=8, cutoff=0.6)
    return tuple(dict.fromkeys(known[c] for c in close))[:5]


# --------------------------------------------------------------------------- PCI


def _device_id(text: str | int) -> str | None:
    if isinstance(text, int):
        return f"{text:04x}" if 0 <= text <= 0xFFFF else None
    found = re.fullmatch(r"\s*(?:(?:0x)?10de[: ])?\s*(?:0x)?([0-9a-f]{4})\s*", text.lower(), re.ASCII)
    return found.group(1) if found else None


def gpu_by_pci(device_id: str | int) -> tuple[PciDevice, ...]:
    """What NVIDIA calls a device of its own (vendor 10de): '2335', '10de:2335', 0x2335. An id may have several names."""
    wanted = _device_id(device_id)
    return tuple(d for d in gpus().pci if d.id == wanted)


def _by_id(text: str) -> tuple[GpuModel, ...]:
    wanted = _device_id(text)
    return tuple(m for m in gpus().models if wanted in m.pci_ids)


def xid(code: int) -> Xid | None:
    """What is known of an Xid; None: nothing."""
    return next((x for x in xids().xids if x.code == code), None)


# --------------------------------------------------------------------------- peaks


class GpuAttributes(msgspec.Struct, frozen=True, kw_only=True):
    """What a device tells of itself; None: it could not be asked."""

    name: str | None = None
    compute_capability: str | None = None
    multiprocessors: int | None = None
    clock_mhz: float | None = None
    """The highest of its multiprocessors."""
    memory_clock_mhz: float | None = None
    memory_width_bits: int | None = None


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """A physical limit. A measurement above it is wrong; one below it is no fault by itself."""

    value: float
    basis: str
    confidence: Confidence

    @property
    def certain(self) -> bool:
        """A machine may be judged by it: nothing in it is hearsay or from memory."""
        return self.confidence in ("certain", "inferred")


class Peaks(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a GPU; None: an attribute or a rate of it is unknown."""

    fp32_tflops: Peak | None
    tf32_tflops: Peak | None
    """Dense, on tensor cores; None too where there are none."""
    fp16_tflops: Peak | None
    """Dense, on tensor cores, accumulated in FP32. BF16 is the same from Ampere on."""
    fp8_tflops: Peak | None
    memory_gb_per_s: Peak | None


def peaks(of: GpuModel | GpuAttributes) -> Peaks:
    """The limits by a device's own attributes and the rates of its multiprocessors, or by the figures of a model.

    By attributes the clock is the highest that the device may have; data sheets count with a lower one on some products.
    """
    return _peaks(of, tensor_rate(of.name, of.compute_capability))


def ceilings(of: GpuAttributes) -> Peaks:
    """What no GPU of this compute capability exceeds, whatever its name: by the fastest product of the capability.

    A product may be sold with half of its tensor rate, and a name that is not in the table has no rate of its own.
    """
    same = [r for r in gpus().tensor_rates if r.compute_capability == of.compute_capability and r.fp16_flop_per_sm]
    return _peaks(of, max(same, key=lambda r: (r.fp16_flop_per_sm or 0, r.fp8_flop_per_sm or 0), default=None))


def _peaks(of: GpuModel | GpuAttributes, tensor: TensorRate | None) -> Peaks:
    if isinstance(of, GpuModel):
        own: Confidence = of.figures or "recall"
        about = f"figures of {of.name} in compat/gpus.json"
        clock: float | None = of.boost_mhz
        bandwidth = of.memory_gb_per_s
        memory = Peak(value=bandwidth, basis=about, confidence=own) if bandwidth is not None else None
    else:
        own, about, clock = "certain", "the device's own attributes", of.clock_mhz
        memory = _bandwidth(of)
    capability, processors = of.compute_capability, of.multiprocessors
    fp32 = fp32_rate(capability)

    def peak(flop_per_sm: int | None, rate: Confidence) -> Peak | None:
        if not flop_per_sm or not processors or not clock:
            return None
        return Peak(
            value=processors * flop_per_sm * clock * 1e-6,
            basis=f"{processors} multiprocessors x {flop_per_sm} FLOP x {clock:g} MHz: {about}; rate of compute capability "
            f"{capability} ({rate})",
            confidence=_weakest((own, rate)),
        )

    return Peaks(
        fp32_tflops=peak(2 * fp32.per_sm, fp32.confidence) if fp32 else None,
        tf32_tflops=peak(tensor.tf32_flop_per_sm, tensor.confidence) if tensor else None,
        fp16_tflops=peak(tensor.fp16_flop_per_sm, tensor.confidence) if tensor else None,
        fp8_tflops=peak(tensor.fp8_flop_per_sm, tensor.confidence) if tensor else None,
        memory_gb_per_s=memory,
    )


def fp32_rate(compute_capability: str | None) -> Fp32Rate | None:
    """What a multiprocessor of this compute capability does a clock; None: unknown."""
    return next((r for r in gpus().fp32_rates if r.compute_capability == compute_capability), None)


def tensor_rate(name: str | None, compute_capability: str | None) -> TensorRate | None:
    """The rate of the tensor cores of a product; None: unknown."""
    words = _words(name or "")
    for rate in gpus().tensor_rates:
        named = not rate.products or any(_stands_in(_words(p), words) for p in rate.products)
        if rate.compute_capability == compute_capability and named:
            return rate
    return None


def _bandwidth(of: GpuAttributes) -> Peak | None:
    if not of.memory_width_bits or not of.memory_clock_mhz:
        return None
    return Peak(
        value=of.memory_width_bits / 8 * 2 * of.memory_clock_mhz * 1e-3,
        basis=f"{of.memory_width_bits} bits x 2 x {of.memory_clock_mhz:g} MHz: the device's own attributes",
        confidence="certain",
    )


def _weakest(confidences: Iterable[Confidence]) -> Confidence:
    return max(confidences, key=_WEAKEST.index)
