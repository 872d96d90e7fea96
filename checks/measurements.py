"""What the kernels measured: are the numbers right?"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _speed
from gpudoctor.checks._gpus import measured_on
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import fails, lines, machines_alone, said, undecided
from gpudoctor.facts import Facts, Measurement, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import check, symptom
from gpudoctor.verdicts import judged, places
from gpudoctor.verdicts.collective import times

_SLOWS = ("slow-copies", *_speed.COLLECTIVES)


@check("GD801", "gpu-wrong-result", stage=Stage.USE)
def gpu_wrong_result(facts: Facts) -> Findings:
    """A kernel returned wrong numbers.

    What it looks at: sampled elements of each kernel's result against the same computed in float64 on the
    CPU; copies, all-reduces and patterns in the device's memory against the exact data; a product that is repeated against itself. The
    tolerance is that of rounding in the kernel's own precision. Beside it stands what NVML counts of the memory's errors. In a pasted
    text, gpu_burn's 'FAULTY'.

    Why it matters: training on such a device goes wrong silently.

    How to fix: run it again; if the same device is wrong again, suspect its memory (nvidia-smi -q -d ECC,
    ROW_REMAPPER), its power supply or an overclock, and have it replaced.

    Source: the measurement itself.
    """
    if facts.text.is_all:
        yield _burnt(facts)
        return None
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
            proof=(*(_compared(one) for one in ones), *_errors_of_memory(facts, ones[0])),
            about=measured_on(facts, ones[0]),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Repeat it, and look at the device's memory errors",
                    steps=("gpudoctor check", "nvidia-smi -q -d ECC,ROW_REMAPPER"),
                ),
            ),
        )
    right = sum(one.verified is True for one in facts.measurements)
    return f"{several(right, 'result')} compared, none wrong" if right else "no kernel gave a result"


def _burnt(facts: Facts) -> Found:
    told = said(facts, "burn-faulty", settle="gpu_burn 600")
    which = " and ".join(dict.fromkeys(e.values["index"] for e in told if "index" in e.values))
    return Found(
        message=f"{f'GPU {which}' if which else 'A GPU'} returned wrong numbers under gpu_burn.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Look at its memory errors, take every overclock back and try it again, also in another slot; if the "
                "same card is wrong again, have it replaced",
                steps=("nvidia-smi -q -d ECC,ROW_REMAPPER", "gpu_burn 600"),
            ),
        ),
    )


def _compared(one: Measurement) -> Evidence:
    error = "not finite or not the data" if isinstance(one.error, Unread) else f"{one.error:.2g}"
    against = one.against if isinstance(one.against, str) else "float64"
    return Evidence(
        text=f"{one.kernel}: relative error {error}, rounding allows {_tolerance(one)}",
        source=f"{one.backend} {one.kernel} against {against}",
    )


def _errors_of_memory(facts: Facts, one: Measurement) -> Iterator[Evidence]:
    """What NVML says of the memory of the GPUs."""
    for device in (place.nvml for place in places(facts, one)):
        if device is None or isinstance(device.ecc_mode, Unread):
            continue
        errors = device.ecc_volatile_uncorrected
        counted = f", {errors} uncorrected error(s) since the driver was loaded" if isinstance(errors, int) else ""
        state = {
            True: f"its errors are corrected or counted (ECC on{counted})",
            False: "ECC is off: errors of its memory pass unseen",
        }
        text = (
            "a product without ECC: errors of its memory pass unseen"
            if device.ecc_mode is None
            else state[device.ecc_mode]
        )
        yield Evidence(text=f"memory of GPU {device.index}: {text}", source="NVML, nvmlDeviceGetEccMode")


def _tolerance(one: Measurement) -> str:
    return "?" if isinstance(one.tolerance, Unread) else f"{one.tolerance:.2g}"


@symptom("GD893", "slow-copies", rank=SymptomRank.SLOW, stage=Stage.SPEED)
def slow_copies(facts: Facts) -> Findings:
    """Copies to, from, between or inside GPUs are much slower than their links allow.

    What it looks at: native copies of locked memory, inside a GPU and between two: clearly slower than on the sibling GPUs, or below 0.4
    of the physical limit of the link as it was seen while they ran.

    Why it matters: every batch goes through these copies.

    Source: the measurements. Healthy machines reach 0.78 to 0.88 of the limits.
    """
    machines_alone(facts, "a text does not measure (runs-slowly)")
    compared = [v for m, v in judged(facts) if m.kernel.startswith("copy-") and v.expected is not None]
    if not compared:
        raise NotApplicable("no copy was measured that could be compared with anything")
    by_device: dict[str, list[_speed.Judged]] = {}
    for one, verdict in _speed.slow_copies(facts):
        by_device.setdefault(one.device, []).append((one, verdict))
    for device, ones in by_device.items():
        worst, verdict = ones[0]
        expected = verdict.expected or verdict.value
        yield Found(
            message=f"{device}: {worst.kernel} reaches {verdict.value:.3g} {verdict.unit}, {times(expected / verdict.value)} less than "
            f"{verdict.basis.partition(': ')[2]}{f' ({expected:.3g})' if verdict.kind == 'siblings' else ''}.",
            proof=tuple(_speed.shown(*one) for one in ones),
            about=measured_on(facts, worst),
            level=Level.WARN,
        )
    return f"{several(len(compared), 'figure')} of copies compared, none much slower than its link"


@check("GD820", "gpu-outlier", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def gpu_outlier(facts: Facts) -> Findings:
    """One GPU is clearly slower than its siblings on the same work.

    What it looks at: matrix products, memory and copies of GPUs of the same model, those that were verified: below 75% of the median of
    the others. Of two GPUs both must be steady (samples within 10% of each other). Copies to and from the host are compared over links
    of one generation and width only; those from pageable memory, which is the host's own work, not at all. In a pasted text, a list of
    what each of three or more GPUs does in a second, or that somebody finds some of his cards slower than the others, of one product.

    Why it matters: every step of a training on several GPUs waits for the slowest one.

    How to fix: see whether something else runs on it, whether it is hot or held back (clocks, power limit), and whether
    it has errors; the command shows all of these.

    Source: the measurement itself, against the sibling GPUs of this machine.
    """
    if facts.text.is_all:
        yield from _listed(facts)
        return None
    compared = [(m, v) for m, v in judged(facts) if v.siblings and "," not in m.device]
    if not compared:
        raise NotApplicable("no two GPUs of one model were measured on the same work")
    slow: dict[str, list[_speed.Judged]] = {}
    for one, verdict in compared:
        if verdict.verdict == "low":
            slow.setdefault(one.device, []).append((one, verdict))
    for device, ones in slow.items():
        worst, verdict = min(ones, key=lambda one: one[1].ratio or 0.0)
        yield Found(
            message=f"{device} is clearly slower than the other GPUs of its model on the same work: {worst.kernel} "
            f"reaches {verdict.ratio:.2f} of their rate.",
            proof=tuple(_speed.shown(*one) for one in ones),
            about=measured_on(facts, worst),
            fixes=(_LOOK_AT_IT,),
        )
    least = min(v.value / v.siblings for _, v in compared if v.siblings)
    return f"each GPU does {int(100 * least)}% or more of what the others of its model do"


_LOOK_AT_IT = Fix(
    kind="advice",
    risk="safe",
    summary="See what else runs on it and what holds it back",
    steps=("nvidia-smi", "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE,ECC"),
)
_MUCH_SLOWER, _SEVERAL, _TWO = 0.75, 3, 2


def _listed(facts: Facts) -> Iterator[Found]:
    """What somebody measured on each GPU."""
    told = said(facts, "gpu-rate", "one-card-slower", settle="gpudoctor check")
    slower = facts.text.said("one-card-slower")
    if (
        slower
        and len(facts.text.cards()) < _TWO
        and not fails(facts)
        and not facts.text.said("heat-named", "heat-slows", "riser-named")
    ):
        yield Found(
            message="Some of the cards are slower than the others on the same work.",
            proof=lines(slower),
            fixes=(_LOOK_AT_IT,),
        )
        return
    told = tuple(e for e in told if e.kind == "gpu-rate")
    import statistics  # which takes long

    rates: dict[int, list[float]] = {}
    for event in told:
        rates.setdefault(int(event.values["index"]), []).append(float(event.values["rate"]))
    each = {index: statistics.median(ones) for index, ones in rates.items()}
    if len(each) < _SEVERAL or len(facts.text.cards()) > 1:
        undecided("gpudoctor check")
    for index, rate in each.items():
        others = statistics.median(one for at, one in each.items() if at != index)
        if rate < _MUCH_SLOWER * others:
            yield Found(
                message=f"GPU {index} is clearly slower than the others on the same work: {rate / others:.2f} of their rate.",
                proof=lines((*(e for e in told if int(e.values["index"]) == index), *told))[:3],
                fixes=(_LOOK_AT_IT,),
            )


@check(
    "GD821",
    "gpu-pair-slow",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", *_SLOWS),
)
def pair_slow(facts: Facts) -> Findings:
    """Two GPUs exchange data clearly slower than other pairs that are linked in the same way.

    What it looks at: copies between two GPUs, and all-reduces of two, that were verified: below 75% of the median of the other pairs
    of this model whose link is of the same kind, by NVML (NVLink or not, where their PCIe paths meet) and CUDA (performance rank).

    Why it matters: a collective is as fast as the slowest link on its way.

    How to fix: look at the links' errors; reboot; then service.

    Source: the measurement itself, against the other pairs of this machine.
    """
    compared = [(m, v) for m, v in judged(facts) if v.siblings and "," in m.device]
    if not compared:
        raise NotApplicable("no two pairs of GPUs that are linked alike were measured")
    for one, verdict in compared:
        if verdict.verdict == "low":
            yield Found(
                message=f"{one.device.replace(',', ' and ')}: {one.kernel} reaches {verdict.ratio:.2f} of the rate of other pairs.",
                proof=(_speed.shown(one, verdict),),
                about=measured_on(facts, one),
                fixes=(
                    Fix(
                        kind="advice",
                        risk="safe",
                        summary="Look at the links' state and errors",
                        steps=("nvidia-smi topo -m", "nvidia-smi nvlink -s", "nvidia-smi nvlink -e"),
                        verify="gpudoctor check",
                    ),
                ),
            )
    least = min(v.value / v.siblings for _, v in compared if v.siblings)
    return f"each pair does {int(100 * least)}% or more of what others that are linked alike do"


@check("GD846", "measurement-impossible", stage=Stage.SPEED, level=Level.INFO)
def measurement_impossible(facts: Facts) -> Findings:
    """A figure is above what the device can do: the measurement is wrong.

    What it looks at: every rate against the physical limit of its kernel, from the attributes of the device: multiprocessors and clock,
    width and clock of its memory, generation and width of its PCIe link, its active NVLinks. It fires from 2% above on.

    Why it matters: the figure must not be trusted, nor what is compared with it. The machine is not better than it can be. Work that was
    not done in the timed region looks like this, and attributes that a virtual machine tells wrongly.

    How to fix: nothing is to be fixed on the machine; measure again, and report it if it stays.

    Source: the limits' own, which the proof names; compat/gpus.json.
    """
    if not facts.measurements:
        raise NotApplicable("no kernel was run")
    all_of_it = judged(facts)
    for one, verdict in all_of_it:
        if verdict.verdict == "impossible":
            yield Found(
                message=f"{one.kernel} on {one.device} gave {verdict.value:.4g} {verdict.unit}, and {verdict.expected:.4g} is possible: "
                "that figure is wrong.",
                proof=(_speed.shown(one, verdict),),
                about=measured_on(facts, one),
                fixes=(Fix(kind="command", risk="safe", summary="Measure again", steps=("gpudoctor check",)),),
            )
    against = sum(v.kind == "limit" for _, v in all_of_it)
    return (
        f"{several(against, 'figure')} compared with a physical limit, none above"
        if against
        else "no figure has a known limit"
    )
