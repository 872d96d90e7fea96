"""What the kernels measured: are the numbers right?"""

from __future__ import annotations

import statistics

from gpudoctor.checks._reasons import several
from gpudoctor.facts import Facts, Measurement, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD801", "gpu-wrong-result", stage=Stage.USE)
def gpu_wrong_result(facts: Facts) -> Findings:
    """A kernel returned wrong numbers.

    What it looks at: sampled elements of each kernel's result against the same computed in float64 on the
    CPU; copies and all-reduces against the exact data. The tolerance is that of rounding in the kernel's own precision.

    Why it matters: training on such a device goes wrong silently.

    How to fix: run it again; if the same device is wrong again, suspect its memory (nvidia-smi -q -d ECC,
    ROW_REMAPPER), its power supply or an overclock, and have it replaced.

    Source: the measurement itself.
    """
    if not facts.measurements:
        raise NotApplicable("no kernel was run")
    wrong: dict[str, list[Measurement]] = {}
    for one in facts.measurements:
        if one.verified is False:
            wrong.setdefault(one.device, []).append(one)
    for one in facts.measurements if not wrong else ():
        if not isinstance(one.value, Unread):  # one that failed has no numbers: op-fails tells of it
            known(one.verified)
    for device, ones in wrong.items():
        name = f" ({ones[0].device_name})" if isinstance(ones[0].device_name, str) else ""
        yield Found(
            message=f"{device}{name}: {', '.join(one.kernel for one in ones)}: the result is wrong.",
            proof=tuple(_compared(one) for one in ones),
            about=ones[0].devices(),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Repeat it, and look at the device's memory errors",
                    steps=("gpudoctor check", "nvidia-smi -q -d ECC,ROW_REMAPPER"),
                ),
            ),
        )
    right = sum(one.verified is True for one in facts.measurements)
    return f"{several(right, 'result')} compared, none wrong" if right else "no kernel gave a result"


def _compared(one: Measurement) -> Evidence:
    error = "not finite or not the data" if isinstance(one.error, Unread) else f"{one.error:.2g}"
    against = one.against if isinstance(one.against, str) else "float64"
    return Evidence(
        text=f"{one.kernel}: relative error {error}, rounding allows {_tolerance(one)}",
        source=f"{one.backend} {one.kernel} against {against}",
    )


def _tolerance(one: Measurement) -> str:
    return "?" if isinstance(one.tolerance, Unread) else f"{one.tolerance:.2g}"


_SLOW, _STEADY = 0.75, 0.1


@check("GD820", "gpu-outlier", stage=Stage.SPEED, level=Level.WARN)
def gpu_outlier(facts: Facts) -> Findings:
    """One GPU is clearly slower than its siblings on the same work.

    What it looks at: the matrix products, verified and steady (samples within 10% of each other), of GPUs of the same
    model. It fires below 75% of the median of the others.

    Why it matters: every step of a training on several GPUs waits for the slowest one.

    How to fix: see whether something else runs on it, whether it is hot or held back (clocks, power limit), and whether
    it has errors; the command shows all of these.

    Source: the measurement itself, against the sibling GPUs of this machine.
    """
    groups: dict[tuple[object, ...], list[tuple[Measurement, float]]] = {}
    for one in facts.measurements:
        rate, spread = one.value, one.spread
        steady = isinstance(spread, float) and spread <= _STEADY
        gpu = one.kernel.startswith("matmul") and one.device.startswith("GPU:") and isinstance(one.device_name, str)
        if gpu and isinstance(rate, float) and steady and one.verified is True:
            groups.setdefault((one.kernel, one.device_name, one.dtype, one.size), []).append((one, rate))
    compared = {key: group for key, group in groups.items() if len(group) > 1}
    if not compared:
        raise NotApplicable("no two GPUs of one model were measured on the same work")
    slow: dict[str, list[Evidence]] = {}
    least = 1.0
    for group in compared.values():
        for one, rate in group:
            others = [r for other, r in group if other is not one]
            least = min(least, rate / statistics.median(others))
            if rate < _SLOW * statistics.median(others):
                text = f"{one.kernel}: {rate:.3g} {one.unit}, the others {statistics.median(others):.3g}"
                slow.setdefault(one.device, []).append(Evidence(text=text, source=f"{one.backend} on {one.device}"))
    for device, proof in slow.items():
        index = device.partition(":")[2]
        yield Found(
            message=f"{device} is clearly slower than the other GPUs of its model on the same work.",
            proof=tuple(proof),
            about=(f"gpu{index}",),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="See what else runs on it and what holds it back",
                    steps=("nvidia-smi", "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE,ECC"),
                ),
            ),
        )
    return f"each GPU does {int(100 * least)}% or more of what the others of its model do"
