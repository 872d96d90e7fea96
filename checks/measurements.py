"""What the kernels measured: are the numbers right?"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts import Facts, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD801", "gpu-wrong-result", stage=Stage.USE)
def gpu_wrong_result(facts: Facts) -> Iterator[Found]:
    """A kernel returned wrong numbers.

    What it looks at: sampled elements of each kernel's result against the same computed in float64 on the
    CPU. The tolerance is that of rounding in the kernel's own precision.

    Why it matters: training on such a device goes wrong silently.

    How to fix: run it again; if the same device is wrong again, suspect its memory (nvidia-smi -q -d ECC,
    ROW_REMAPPER), its power supply or an overclock, and have it replaced.

    Source: the measurement itself.
    """
    if not facts.measurements:
        raise NotApplicable("no kernel was run")
    wrong = [one for one in facts.measurements if one.verified is False]
    for one in facts.measurements if not wrong else ():
        known(one.verified)
    for one in wrong:
        error = "not finite" if isinstance(one.error, Unread) else f"{one.error:.2g}"
        yield Found(
            message=f"{one.kernel} on {one.device} ({one.device_name or 'unnamed'}) is wrong.",
            proof=(
                Evidence(
                    text=f"relative error {error}, rounding allows {one.tolerance}",
                    source=f"{one.backend} {one.kernel} against float64",
                ),
            ),
            about=(one.device.replace(":", "").lower(),),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Repeat it, and look at the device's memory errors",
                    steps=("gpudoctor check", "nvidia-smi -q -d ECC,ROW_REMAPPER"),
                ),
            ),
        )
