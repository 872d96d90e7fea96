"""What holds the clocks of a GPU down: heat, its power supply, a lowered power limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.checks import _run, _speed
from gpudoctor.checks._gpus import about, each, gpus, title
from gpudoctor.checks._said import lines, speaks_of_speed, undecided
from gpudoctor.facts import Facts, GpuDevice, Load, Measurement, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, Stage
from gpudoctor.registry import check

_SLOWS = (*_speed.OF_A_GPU, "gpu-work-unequal")


class _Held(NamedTuple):
    device: GpuDevice
    proof: tuple[Evidence, ...]
    load: Load | None
    """While the kernel or the program ran that shows it; None: it was so when NVML was asked."""


def _held_back(facts: Facts, reasons: tuple[str, ...], at_work: tuple[str, ...]) -> Iterator[_Held]:
    """The GPUs whose clocks are held down: for one of `reasons` when NVML was asked, or of `at_work` while a kernel ran, or a program."""
    hit: list[_Held] = []
    unread: Unread | None = None
    measured, at_work_in_a_run = _speed.by_gpu(facts), _run.loads(facts)
    for device in gpus(facts):
        mine = measured.get(device.index, ())
        worst = max(_speed.loads(mine), key=lambda one: _speed.share(one[1], at_work), default=None)
        now, ran = device.clock_event_reasons, at_work_in_a_run.get(device.index)
        if ran is not None and _speed.share(ran, at_work) >= _speed.HELD:
            hit.append(_Held(device, (_while_it_ran(device, "the program ran", ran, at_work),), ran))
        elif worst is not None and _speed.share(worst[1], at_work) >= _speed.HELD:
            proof = (
                _while_it_ran(device, f"{worst[0].kernel} ran on {worst[0].device}", worst[1], at_work),
                *(_speed.shown(*s) for s in _speed.slow(mine)[:2]),
            )
            hit.append(_Held(device, proof, worst[1]))
        elif isinstance(now, Unread):
            unread = unread or now
        elif active := tuple(r for r in now or () if r in reasons):
            hit.append(_Held(device, (_clocks(device, active),), None))
    if unread is not None and not hit:
        raise UnknownFactError(unread)
    yield from hit


def _while_it_ran(device: GpuDevice, what: str, load: Load, reasons: tuple[str, ...]) -> Evidence:
    told = () if isinstance(load.clock_reasons, Unread) else load.clock_reasons or ()
    text = ", ".join(f"{r.name} in {r.share:.0%} of the time" for r in told if r.name in reasons)
    now, top = load.clock_sm_mhz, device.clock_sm_max_mhz
    speed = f"; SM clock {now} of {top} MHz" if isinstance(now, int) and isinstance(top, int) else ""
    return Evidence(text=text + speed, source=f"NVML while {what}")


def _clocks(device: GpuDevice, active: tuple[str, ...]) -> Evidence:
    now, top = device.clock_sm_mhz, device.clock_sm_max_mhz
    speed = f"; SM clock {now} of {top} MHz" if isinstance(now, int) and isinstance(top, int) else ""
    return Evidence(text=", ".join(active) + speed, source="NVML, nvmlDeviceGetCurrentClocksEventReasons")


_HEAT = ("hw-thermal-slowdown", "sw-thermal-slowdown")


@check("GD804", "gpu-throttling-thermal", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def throttling_thermal(facts: Facts) -> Findings:
    """A GPU runs slower because it is too hot.

    What it looks at: the reasons that NVML gives for lower clocks: hardware or software thermal slowdown, when the GPU was
    looked at and in a tenth or more of the time in which a kernel of gpudoctor, or a program under gpudoctor run, ran on it. The software's power cap is no
    finding: it is normal under load. In a pasted text: somebody's card gets hot, and slower and slower.

    Why it matters: the clocks fall to as little as half until it is cooler, and a job on several GPUs waits for
    the slowest.

    How to fix: see to the cooling: fans, air flow, dust, room temperature, the pump where it is liquid-cooled.

    Source: NVML API reference, nvmlClocksEventReasons.
    """
    speaks_of_speed(facts)
    if told := facts.text.said("heat-slows") if facts.text.is_all else ():
        message = "A GPU gets hot, and slower with it."
        yield Found(message=message, proof=lines(told), fixes=(_cool(_TEMPERATURES),))
        return None
    for device, proof, load in _held_back(facts, _HEAT, _HEAT):
        degrees, limit = load.temperature_max_c if load else device.temperature_c, device.temperature_slowdown_c
        at = f" at {degrees} °C" if isinstance(degrees, int) else ""
        heat = f"{degrees} °C" if isinstance(degrees, int) else "temperature unknown"
        bound = f", slowdown from {limit} °C" if isinstance(limit, int) else ""
        yield Found(
            message=f"{title(device)} is slowed down by heat{at}.",
            proof=(proof[0], Evidence(text=heat + bound, source="NVML, nvmlDeviceGetTemperature"), *proof[1:]),
            about=about(device),
            fixes=(_cool(f"{_TEMPERATURES} -i {device.index}"),),
        )
    return _temperatures(facts)


_TEMPERATURES = "nvidia-smi -q -d TEMPERATURE,PERFORMANCE"


def _cool(verify: str) -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="See to the cooling of this GPU: fans, air flow, dust, room temperature",
        steps=(),
        verify=verify,
    )


def _temperatures(facts: Facts) -> str:
    degrees = [d.temperature_c for d in gpus(facts) if isinstance(d.temperature_c, int)]
    return "no clock is held down by heat" + (f"; the warmest GPU has {max(degrees)} °C" if degrees else "")


_BRAKE = ("hw-power-brake",)


@check("GD805", "gpu-throttling-power", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def throttling_power(facts: Facts) -> Findings:
    """A GPU is slowed down because its power supply says so.

    What it looks at: the reason 'hardware power brake' that NVML gives for lower clocks: a signal from outside
    the GPU. While a kernel of gpudoctor or a program under gpudoctor run ran, also 'hardware slowdown' without heat, in a tenth or more of the time: the GPU's own
    protection from drawing too much. The software's power cap is no finding: under load a GPU runs at its power limit.

    Why it matters: the clocks fall to half or less while the signal stands.

    How to fix: see to the power: the supply's load and redundancy, the cables to the card, a power limit that the
    chassis sets.

    Source: NVML API reference, nvmlClocksEventReasonHwPowerBrakeSlowdown, nvmlClocksEventReasonHwSlowdown.
    """
    speaks_of_speed(facts)
    if facts.text.is_all and (_lowered_said(facts) or facts.text.said("benign-power-cap")):
        return "the power limit is what holds the clocks, and it is known why"
    if facts.text.is_all and (told := facts.text.said("power-cap-slows")):
        yield Found(
            message="A GPU's clocks are held down by its power limit.", proof=lines(told), fixes=(_see_to_power(),)
        )
        return None
    found = False
    for device, proof, load in _held_back(facts, _BRAKE, (*_BRAKE, "hw-slowdown")):
        if load is not None and not _speed.share(load, _BRAKE) and _speed.share(load, _HEAT):
            continue  # the heat's
        draw, limit = load.power_max_w if load else device.power_draw_w, device.power_limit_w
        power = f"{draw:.0f} W" if isinstance(draw, float) else "power draw unknown"
        bound = f" of {limit:.0f} W" if isinstance(limit, float) else ""
        brake = load is None or _speed.share(load, _BRAKE)
        found = True
        yield Found(
            message=f"The power supply holds {title(device)} down (power brake)."
            if brake
            else f"{title(device)} slows itself down: it draws more power than its supply is good for, or has another hardware fault.",
            proof=(proof[0], Evidence(text=power + bound, source="NVML, nvmlDeviceGetPowerUsage"), *proof[1:]),
            about=about(device),
            fixes=(_see_to_power(f" -i {device.index}"),),
        )
    capped = any(e.values["reason"] == "sw-power-cap" for e in facts.text.said("held-back"))
    if facts.text.is_all and capped and not found:  # which a busy GPU tells, and not what it costs
        undecided(_LIMITS)
    return "no power brake holds a clock down"


def _see_to_power(which: str = "") -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="See to the power of this machine: are all supplies on, are the card's cables seated, "
        "does the chassis or its management controller limit it?",
        steps=(),
        verify=f"nvidia-smi -q -d POWER,PERFORMANCE{which}",
    )


_LOWERED = 0.98
_CAP = ("sw-power-cap",)


@check("GD812", "gpu-power-limit-lowered", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def power_limit_lowered(facts: Facts) -> Findings:
    """A GPU's power limit is set below its default.

    What it looks at: the power limit that is enforced, against the default one. It is a warning where a matrix product of gpudoctor is
    slower than on the sibling GPUs, or than is usual for this product, and the power limit held the clocks down meanwhile;
    else it is a note: many lower it on purpose. In a pasted text: both limits (nvidia-smi -q, a query, somebody's words), where the GPU
    is called slow, or held by its power limit.

    Why it matters: a GPU at its power limit lowers its clocks. Matrix products lose most, copies nothing.

    How to fix: set the default limit again, if supply and cooling are made for it.

    Source: NVML API reference, nvmlDeviceGetEnforcedPowerLimit, nvmlDeviceGetPowerManagementDefaultLimit.
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        if not (told := _lowered_said(facts)):
            undecided(_LIMITS)
        limit, default = told[0].values["limit"], told[0].values["default"]
        message = f"A GPU's power limit is {limit} W, its default {default} W."
        yield Found(message=message, proof=lines(told), fixes=(_default_limit(default),))
        return None
    measured = _speed.by_gpu(facts)

    def look(device: GpuDevice) -> Found | None:
        limit, default = known(device.power_limit_w), known(device.power_default_w)
        if limit is None or not default or limit >= _LOWERED * default:
            return None
        held = [(m, v) for m, v in measured.get(device.index, ()) if _speed.is_arithmetic(m) and _is_capped(m)]
        slow = _speed.slow(held)
        factor = f": {slow[0][0].kernel} reaches {slow[0][1].why}" if slow else ""
        return Found(
            message=f"The power limit of {title(device)} is {limit:.0f} W, its default {default:.0f} W{factor}.",
            proof=(
                Evidence(
                    text=f"enforced {limit:.0f} W, default {default:.0f} W",
                    source="NVML, nvmlDeviceGetEnforcedPowerLimit",
                ),
                *(_speed.shown(*one) for one in (slow or held)[:3]),
            ),
            about=about(device),
            level=Level.WARN if slow else Level.INFO,
            explains=None if slow else (),
            fixes=(_default_limit(f"{default:.0f}", f" -i {device.index}"),),
        )

    yield from each(gpus(facts), look)
    return _limits(facts)


_LIMITS = "nvidia-smi -q -d POWER,PERFORMANCE,CLOCK  # while it works"


def _default_limit(watts: str, which: str = "") -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="Set the default power limit, if the supply and the cooling of this machine are made for it",
        steps=(f"sudo nvidia-smi{which} -pl {watts}",),
        verify=f"nvidia-smi -q -d POWER{which}",
    )


def _lowered_said(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text that tell a limit below the default one, of a GPU that is held by it, or called slow."""
    told = tuple(
        e for e in facts.text.said("power-limit-said") if int(e.values["limit"]) < _LOWERED * int(e.values["default"])
    )
    capped = [e for e in facts.text.said("held-back") if e.values["reason"] in _CAP]
    slow = facts.text.said(
        "slow-named", "gpu-is-slow", "takes-long", "power-cap-named", "power-cap-slows", "one-card-slower", "got-slower-said",
    )  # fmt: skip
    return told if capped or slow else ()


def _is_capped(one: Measurement) -> bool:
    return isinstance(one.load, Load) and _speed.share(one.load, _CAP) >= _speed.HELD


def _limits(facts: Facts) -> str:
    told = sorted({d.power_limit_w for d in gpus(facts) if isinstance(d.power_limit_w, float)})
    return (
        f"power limit: {' and '.join(f'{w:.0f}' for w in told)} W, as by default"
        if told
        else "no GPU has a power limit"
    )
