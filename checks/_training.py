"""What training steps and matrix products of TensorFlow's tell of GPUs that idle, and of tensor cores."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.checks._said import lines
from gpudoctor.facts import NATIVE, TRAINING, Facts, Measurement, TextEvent, Unread
from gpudoctor.findings import Evidence, Fix, Found
from gpudoctor.verdicts.scaling import Step, steps_of


def shown(step: Step) -> Evidence:
    text = f"{step.count} GPUs: {step.images_per_s:.4g} images/s, {step.speed_up:.2f} times one, {step.expected:.1f} expected"
    return Evidence(text=text, source=f"TensorFlow {TRAINING} on {step.device}")


def measurement_of(facts: Facts, step: Step) -> Measurement:
    return next(m for m in facts.measurements if (m.kernel, m.device) == (TRAINING, step.device))


_AT_WORK, _NOT_AT_WORK, _ALONE, _FAST = 30, 1, 1.2, 2


def works_alone(facts: Facts) -> tuple[Evidence, ...]:
    """What shows that of several GPUs one did a training step of MirroredStrategy's; () where nothing does."""
    for step in steps_of(facts):
        if step.count < 2:
            continue
        one = measurement_of(facts, step)
        placed = {place.rpartition("device:")[2] for place in str(one.placed_on).split(", ")}
        if not isinstance(one.placed_on, Unread) and len(placed) < step.count:
            text = f"the step of {step.count} GPUs was placed on {', '.join(sorted(placed))} alone"
            return (Evidence(text=text, source="TensorFlow's graph"), shown(step))
        told = [u for u in step.utilisation_percent if u is not None]
        idle = [u for u in told if u <= _NOT_AT_WORK]
        if len(told) == step.count and len(idle) == step.count - 1 and max(told) >= _AT_WORK and step.speed_up < _ALONE:
            said = ", ".join(f"{n}: {u}%" for n, u in zip(step.device.split(","), told, strict=True))
            return (Evidence(text=f"utilisation {said}", source="NVML, while the step ran"), shown(step))
    return ()


def tensor_cores_unused(facts: Facts) -> Iterator[tuple[Measurement, Evidence]]:
    """GPUs on which TensorFlow multiplies float16 about as slowly as float32, and the same product is fast without TensorFlow."""
    of = {
        (m.backend, m.kernel, m.device): m.value
        for m in facts.measurements
        if m.verified is True and isinstance(m.value, float)
    }
    for one in facts.measurements:
        if not one.in_tensorflow or one.kernel != "matmul-float16" or not one.device.startswith("GPU:"):
            continue
        half, single = (of.get((one.backend, kernel, one.device)) for kernel in ("matmul-float16", "matmul"))
        native = of.get((NATIVE, "matmul-float16", one.device))
        if half is None or single is None or native is None or half >= _ALONE * single or native <= _FAST * half:
            continue
        text = f"float16 {half:.3g} TFLOP/s, float32 {single:.3g} TFLOP/s; without TensorFlow {native:.3g}"
        yield one, Evidence(text=text, source=f"TensorFlow matmul on {one.device}")


def in_words(facts: Facts, fix: Fix) -> Found | None:
    """Somebody says that one of several GPUs works, which TensorFlow sees."""
    found = facts.text.said("device-found")
    seen = facts.text.said("others-are-seen") or (found if len(found) > 1 else ())
    one = facts.text.said("one-of-several-works")
    if not one or not seen:
        return None
    message = "TensorFlow sees several GPUs and computes on one: the program does not spread its work."
    return Found(message=message, proof=lines((*one, *seen)), fixes=(fix,))


_SECONDS = {"m": 60.0, "h": 3600.0, "s": 1.0}
_CLEARLY = 1.5


def faster_without_input(facts: Facts) -> tuple[TextEvent, ...]:
    """Lines that tell how much faster a training is whose input costs nothing; () where it is not."""
    told = facts.text.said("input-taken-away")
    return tuple(e for e in told if sum(word in e.text for word in ("step", "epoch", "batch")) < 2 and _gains(e.values))


def _gains(values: dict[str, str]) -> bool:
    if _done(values["unit"]) != _done(values["unit_real"]):
        return False
    without, is_rate = _amount(values["without"], values["unit"])
    real, also = _amount(values["real"], values["unit_real"])
    if is_rate != also or not without or not real:
        return False
    return (without / real if is_rate else real / without) >= _CLEARLY


def _done(unit: str) -> str:
    """Of what a rate is: 'image' of 'images/s'; '' of a time."""
    of = unit.partition("/")[0].strip().lower().rstrip("s") if "/" in unit else ""
    return {"img": "image", "imag": "image"}.get(of, of)


def _amount(number: str, unit: str) -> tuple[float, bool]:
    """Seconds, or what is done in one; and whether it is that."""
    thousands = 1000.0 if number.endswith("k") else 1.0
    digits = number.rstrip("k")
    digits = digits.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits) else digits.replace(",", ".")
    value = float(digits) * thousands
    if "/" in unit:
        return value, True
    return (value / 1000.0 if unit == "ms" else value * _SECONDS[unit[0]]), False
