"""NCCL: what makes GPUs speak to each other more slowly than their links allow, by the all-reduce that was measured."""

from __future__ import annotations

from gpudoctor.checks import _speed
from gpudoctor.checks._collectives import without_peers
from gpudoctor.checks._gpus import measured_on
from gpudoctor.checks._nccl_settings import (
    number,
    p2p_disabled,
    pairs_that_reach,
    said_so,
    seen,
    setting,
    several_gpus,
    shown,
    ways_out,
)
from gpudoctor.checks._reasons import set_to, several
from gpudoctor.checks._said import machines_alone, speaks_of_speed
from gpudoctor.facts import Facts, NcclSetting, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Found, Level, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import check, symptom
from gpudoctor.verdicts.collective import AllReduce, all_reduce

_THROUGH_THE_HOST = "makes NCCL copy through the host's memory"
_FEW_CHANNELS = 4
"""One channel moved 20 GB/s on H200, where the default is 24 channels."""


@symptom("GD391", "slow-collective", rank=SymptomRank.SLOW, stage=Stage.SPEED)
def slow_collective(facts: Facts) -> Findings:
    """All-reduce between the GPUs is much slower than their links allow.

    What it looks at: the best native all-reduce of 64 MiB or more over all GPUs, against the slowest copy between two of them that was
    measured in the same run: less than a third of it; a sixth where more than two GPUs share a way over PCIe. Where GPUs do not
    reach each other directly there is no such copy, and nothing to compare with.

    Why it matters: every step of a training on several GPUs ends with an all-reduce of all gradients.

    Source: the measurements. Measured on healthy machines: 0.72 to 0.93 of these copies over NVLink, 2 to 8 GPUs.
    """
    machines_alone(facts, "a text does not measure (runs-slowly)")
    measured = all_reduce(facts)
    if measured is None:
        raise NotApplicable("no all-reduce of 64 MiB or more was measured without a framework")
    if measured.copy_rate is None:
        raise NotApplicable("no copy between two of the GPUs was measured that it could be compared with")
    if measured.is_slow:
        yield Found(
            message=f"{_capital(measured)}.",
            proof=seen(measured),
            about=measured_on(facts, measured.of),
            level=Level.WARN,
        )
    return f"all-reduce reaches {measured.rate / measured.copy_rate:.2f} of what copies between the same GPUs do"


def _capital(measured: AllReduce) -> str:
    return f"A{measured.in_words()[1:]}"


def _measured(measured: AllReduce | None) -> str:
    """What follows the message, where it was measured: ': all-reduce reaches 26.3 GB/s …'."""
    return f": {measured.in_words()}" if measured is not None else ""


def _went_straight(measured: AllReduce) -> str:
    return f"NCCL went straight from GPU to GPU all the same ({', '.join(measured.ways)})"


@check("GD301", "nccl-p2p-disabled-by-env", stage=Stage.SPEED, level=Level.WARN, explains=_speed.COLLECTIVES)
def nccl_p2p_disabled(facts: Facts) -> Findings:
    """A setting keeps GPUs from reaching each other's memory directly.

    What it looks at: NCCL_P2P_DISABLE=1 and NCCL_P2P_LEVEL=LOC, in the environment and in NCCL's configuration files
    (NCCL_CONF_FILE or ~/.nccl.conf, then /etc/nccl.conf), where the driver says that at least two of the GPUs can reach
    each other (cuDeviceCanAccessPeer). Where an all-reduce was measured, the way that NCCL's own log tells of it decides: then any
    NCCL_P2P_LEVEL counts that made it slow, and none that did not keep NCCL from going straight.

    Why it matters: NCCL then copies through the host's memory. On 2x H200 an all-reduce of 512 MiB fell from 234 to
    26 GB/s. TensorFlow says nothing of it. The setting is often left over from an earlier hang.

    How to fix: take it out. If an all-reduce then hangs or returns wrong numbers, the machine's IOMMU or PCIe switches
    redirect the traffic (nccl-p2p-iommu-acs): mend that.

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        if (one := p2p_disabled(facts)) is None:
            return
        if without_peers(facts):
            raise NotApplicable("GeForce RTX cards do not reach each other directly anyway")
        yield Found(
            message=f"{one.name}={one.value} {_THROUGH_THE_HOST}.",
            proof=said_so(facts, one),
            fixes=ways_out(one),
        )
        return
    several_gpus(facts)
    measured = all_reduce(facts)
    one = p2p_disabled(facts) or _too_near(facts, measured)
    if one is None:
        return "neither NCCL_P2P_DISABLE nor NCCL_P2P_LEVEL forbids it"
    reach = pairs_that_reach(facts)
    if not reach:
        raise NotApplicable("no two of these GPUs can reach each other directly")
    if measured is not None and measured.is_direct:
        return _went_straight(measured)
    yield Found(
        message=f"{one.name}={one.value} {_THROUGH_THE_HOST}, though these GPUs can reach each other directly"
        f"{_measured(measured)}.",
        proof=(
            shown(one),
            *seen(measured),
            Evidence(text=f"{len(reach)} ordered pair(s) of GPUs can", source="cuDeviceCanAccessPeer"),
        ),
        fixes=ways_out(one),
    )


def _too_near(facts: Facts, measured: AllReduce | None) -> NcclSetting | None:
    """A level that lets only GPUs reach each other that are nearer than these; shown by the measurement alone."""
    if measured is None or not measured.is_slow or not measured.ways or measured.is_direct:
        return None
    level = setting(facts, "NCCL_P2P_LEVEL")
    return level if level is not None and level.value not in ("", "SYS", "5") else None


@check("GD302", "nccl-shm-disabled-by-env", stage=Stage.SPEED, level=Level.WARN, explains=_speed.COLLECTIVES)
def nccl_shm_disabled(facts: Facts) -> Findings:
    """A setting keeps NCCL from using shared memory, and it has no faster way.

    What it looks at: NCCL_SHM_DISABLE=1, in the environment and in NCCL's configuration files, where GPUs can't reach
    each other directly: by a setting (NCCL_P2P_DISABLE), or by the driver's answer (cuDeviceCanAccessPeer). Where all
    of them do, shared memory is not used and the setting does no harm. Where an all-reduce was measured, NCCL's log of it tells whether
    it went through the network (NET).

    Why it matters: NCCL then sends data between GPUs of one machine through the network. On 2x H200 an all-reduce of
    512 MiB fell from 26 to 2.9 GB/s.

    How to fix: take the setting out; if /dev/shm is too small, make that larger instead (docker run --shm-size).

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    speaks_of_speed(facts)
    if not facts.text.is_all:
        several_gpus(facts)
    one = setting(facts, "NCCL_SHM_DISABLE")
    if one is None or number(one) != 1:
        return set_to("NCCL_SHM_DISABLE", one.value if one is not None else None)
    measured = all_reduce(facts)
    if measured is not None and measured.ways and not any(way.startswith("NET") for way in measured.ways):
        return f"NCCL did not go through the network ({', '.join(measured.ways)})"
    disabled = p2p_disabled(facts)
    pairs = known(facts.driver.libcuda.pairs) if disabled is None else ()
    apart = [p for p in pairs if p.can_access is False]
    through_network = measured is not None and bool(measured.ways)
    for pair in pairs if not apart and not through_network else ():
        known(pair.can_access)
    if disabled is None and not apart and not through_network:
        return "the GPUs reach each other directly"
    why = (
        (shown(disabled),)
        if disabled is not None
        else (Evidence(text=f"{len(apart)} ordered pair(s) of GPUs can't", source="cuDeviceCanAccessPeer"),)
        if apart
        else ()
    )
    yield Found(
        message="NCCL_SHM_DISABLE makes NCCL send data between the GPUs of this machine through the network"
        f"{_measured(measured)}.",
        proof=(*(said_so(facts, one) if facts.text.is_all else (shown(one),)), *why, *seen(measured)),
        fixes=ways_out(one),
    )


@check("GD303", "nccl-channels-limited", stage=Stage.SPEED, level=Level.WARN, explains=_speed.COLLECTIVES)
def nccl_channels_limited(facts: Facts) -> Findings:
    """A setting leaves NCCL too few channels.

    What it looks at: NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS and NCCL_MAX_NRINGS, in the environment and in NCCL's
    configuration files: 1, or fewer than 4 where GPUs reach each other with native atomic operations, as over NVLink. Where an
    all-reduce was measured, the channels that NCCL's log tells decide: as many as the setting allows, and a slow all-reduce.

    Why it matters: a channel is one multiprocessor that copies, about 20 GB/s. On 2x H200 an all-reduce of 512 MiB fell
    from 234 to 20 GB/s with one channel; the default there is 24.

    How to fix: take the setting out. To keep multiprocessors free for computing, 8 or more are usual on NVLink.

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    speaks_of_speed(facts)
    if not facts.text.is_all:
        several_gpus(facts)
    limits = [s for n in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NRINGS") if (s := setting(facts, n))]
    numbered = [(s, n) for s in limits if (n := number(s)) is not None and n > 0]
    measured = all_reduce(facts)
    used = measured.of.channels if measured is not None and isinstance(measured.of.channels, int) else None
    tells = measured is not None and used is not None and measured.copy_rate is not None
    low = [(s, n) for s, n in numbered if n < _FEW_CHANNELS or (tells and used is not None and n <= used)]
    if not low:
        return f"no setting leaves NCCL fewer than {_FEW_CHANNELS} channels"
    one, least = min(low, key=lambda sn: sn[1])
    if measured is not None and tells and used is not None:
        if used > least:
            return f"NCCL uses {several(used, 'channel')} all the same"
        if not measured.suffers:
            return f"{several(used, 'channel')} are enough: all-reduce reaches {measured.rate:.3g} GB/s"
    elif least > 1:
        pairs = known(facts.driver.libcuda.pairs)
        if not any(p.native_atomics is True for p in pairs):
            for pair in pairs:
                known(pair.native_atomics)
            return "no GPUs are linked by NVLink, which takes more channels"
    cost = _measured(measured) or ", of about 20 GB/s each"
    yield Found(
        message=f"{one.name}={one.value} leaves NCCL {several(least, 'channel')}{cost}.",
        proof=said_so(facts, one) if facts.text.is_all else (shown(one), *seen(measured)),
        fixes=ways_out(one),
    )


_TUNING = (
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_BUFFSIZE",
    "NCCL_LL_BUFFSIZE",
    "NCCL_LL128_BUFFSIZE",
    "NCCL_NTHREADS",
    "NCCL_LL128_NTHREADS",
    "NCCL_P2P_USE_CUDA_MEMCPY",
    "NCCL_P2P_DIRECT_DISABLE",
    "NCCL_P2P_READ_ENABLE",
    "NCCL_SHM_USE_CUDA_MEMCPY",
    "NCCL_TOPO_FILE",
    "NCCL_GRAPH_FILE",
    "NCCL_TUNER_PLUGIN",
    "NCCL_TUNER_CONFIG_FILE",
    "NCCL_CUMEM_ENABLE",
    "NCCL_CUMEM_HOST_ENABLE",
    "NCCL_CGA_CLUSTER_SIZE",
    "NCCL_IGNORE_CPU_AFFINITY",
)
"""What takes choices from NCCL that it makes well; each is right somewhere, so that the measurement decides."""


@check("GD325", "nccl-tuning-forced", stage=Stage.SPEED, level=Level.WARN, explains=_speed.COLLECTIVES)
def nccl_tuning_forced(facts: Facts) -> Findings:
    """Settings force NCCL's algorithm, protocol or buffers, and all-reduce is slow.

    What it looks at: NCCL_ALGO, NCCL_PROTO, NCCL_BUFFSIZE, NCCL_NTHREADS and others that take a choice from NCCL, in the environment and in
    its configuration files; and the native all-reduce of 64 MiB or more that was measured with them: less than half of the copies
    between the same GPUs, or than is usual. Where it is not slow they are no finding.

    Why it matters: NCCL chooses by the machine's links. A choice that was right on another machine, or was made to look for an
    error, costs most of the rate: the protocol LL sends a flag with every 4 bytes of data.

    How to fix: take them out.

    Source: NCCL user guide, environment variables; the measurement.
    """
    machines_alone(facts, "a text does not measure what they cost")
    several_gpus(facts)
    forced = [s for name in _TUNING if (s := setting(facts, name)) is not None and s.value]
    names = ", ".join(s.name for s in forced)
    if not forced:
        return "no setting takes a choice from NCCL"
    measured = all_reduce(facts)
    if measured is None:
        why = f"{names}: what it costs was not measured"
        raise UnknownFactError(Unread(why=why, settle="gpudoctor check", chosen=True))
    if not measured.suffers:
        return f"{several(len(forced), 'setting')}, and all-reduce reaches {measured.rate:.3g} GB/s"
    told = " and ".join(f"{s.name}={s.value}" for s in forced[:3])
    yield Found(
        message=f"{told} {'takes a choice' if len(forced) == 1 else 'take choices'} from NCCL{_measured(measured)}.",
        proof=(*(shown(s) for s in forced), *seen(measured)),
        fixes=ways_out(*forced),
    )
