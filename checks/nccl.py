"""NCCL: settings that keep GPUs from speaking to each other, or make them slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _start
from gpudoctor.checks._collectives import redirected, without_peers, wrong_interface
from gpudoctor.checks._reasons import set_to
from gpudoctor.checks._said import lines, said, speaks_of_speed
from gpudoctor.facts import (
    ALL_REDUCE,
    CudaPair,
    Facts,
    Measurement,
    NcclSetting,
    NetworkInterface,
    PciDevice,
    Unread,
    known,
)
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_THROUGH_THE_HOST = "makes NCCL copy through the host's memory"
_TRANSLATED = ("DMA", "DMA-FQ")
_FEW_CHANNELS = 4
"""One channel moved 20 GB/s on H200, where the default is 24 channels."""


def _several_gpus(facts: Facts) -> None:
    """Not applicable with fewer than two GPUs: TensorFlow's list, or CUDA's where nobody asked TensorFlow."""
    listed = facts.tensorflow.gpus()
    if isinstance(listed, Unread) and (facts.driver.libcuda.path is None or facts.driver.libcuda.init_result == 100):
        raise NotApplicable("CUDA shows no GPU")
    count = len(known(facts.driver.libcuda.devices)) if isinstance(listed, Unread) else len(listed)
    if count < 2:
        raise NotApplicable("there are no two GPUs that could speak to each other")


def _setting(facts: Facts, name: str) -> NcclSetting | None:
    """What NCCL takes it to be. Of a text the settings count that NCCL names: it names those that it uses."""
    if facts.text.is_all:
        told = {e.values["name"]: e.values["value"] for e in said(facts, "nccl-setting", settle="env | grep NCCL")}
        return NcclSetting(name=name, value=told[name]) if name in told else None
    return known(facts.nccl.setting(name, facts.environment))


def _number(setting: NcclSetting | None) -> int | None:
    """The number that NCCL reads (strtoll): what stands at the beginning, 0 where that is none; None: not set."""
    if setting is None or not setting.value:
        return None
    match = re.match(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|\d+)", setting.value)
    if match is None:
        return 0
    digits = match.group(2).lower()
    octal = re.match(r"0[0-7]*", digits)
    value = int(digits, 16) if digits.startswith("0x") else int(octal.group() if octal else digits, 8 if octal else 10)
    return -value if match.group(1) == "-" else value


def _p2p_disabled(facts: Facts) -> NcclSetting | None:
    """The setting by which GPUs are kept from reaching each other directly."""
    disable = _setting(facts, "NCCL_P2P_DISABLE")
    if _number(disable) == 1:
        return disable
    level = _setting(facts, "NCCL_P2P_LEVEL")
    return level if level is not None and level.value in ("LOC", "0") else None


def _pairs_that_reach(facts: Facts) -> list[CudaPair]:
    """The pairs of GPUs that can reach each other directly; unknown where none is known to."""
    pairs = known(facts.driver.libcuda.pairs)
    reach = [p for p in pairs if p.can_access is True]
    for pair in pairs if not reach else ():
        known(pair.can_access)
    return reach


def _shown(setting: NcclSetting) -> Evidence:
    return Evidence(text=f"{setting.name}={setting.value!r}", source=setting.source)


def _said_so(facts: Facts, setting: NcclSetting) -> tuple[Evidence, ...]:
    """The lines of a text in which NCCL says that it uses the variable."""
    return lines(e for e in facts.text.said("nccl-setting") if e.values["name"] == setting.name)[:1]


def _take_out(setting: NcclSetting) -> Fix:
    """Unset the variable, or name the line of the file."""
    if setting.file is None:
        return Fix(
            kind="env",
            risk="safe",
            summary=f"Unset {setting.name}, and find who sets it (shell profile, job script, Dockerfile)",
            steps=(f"unset {setting.name}",),
            env=(EnvChange(name=setting.name, op="unset"),),
        )
    system = setting.file.startswith("/etc/")
    return Fix(
        kind="advice",
        risk="needs root" if system else "safe",
        summary=f"Take line {setting.line} ({setting.name}={setting.value}) out of {setting.file}",
        steps=(),
    )


@check("GD301", "nccl-p2p-disabled-by-env", stage=Stage.SPEED, level=Level.WARN)
def nccl_p2p_disabled(facts: Facts) -> Findings:
    """A setting keeps GPUs from reaching each other's memory directly.

    What it looks at: NCCL_P2P_DISABLE=1 and NCCL_P2P_LEVEL=LOC, in the environment and in NCCL's configuration files
    (NCCL_CONF_FILE or ~/.nccl.conf, then /etc/nccl.conf), where the driver says that at least two of the GPUs can reach
    each other (cuDeviceCanAccessPeer).

    Why it matters: NCCL then copies through the host's memory. On 2x H200 an all-reduce of 512 MiB fell from 234 to
    26 GB/s. TensorFlow says nothing of it. The setting is often left over from an earlier hang.

    How to fix: take it out. If an all-reduce then hangs or returns wrong numbers, the machine's IOMMU or PCIe switches
    redirect the traffic (nccl-p2p-iommu-acs): mend that.

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        if (setting := _p2p_disabled(facts)) is None:
            return
        if without_peers(facts):
            raise NotApplicable("GeForce RTX cards do not reach each other directly anyway")
        yield Found(
            message=f"{setting.name}={setting.value} {_THROUGH_THE_HOST}.",
            proof=_said_so(facts, setting),
            fixes=(_take_out(setting),),
        )
        return
    _several_gpus(facts)
    setting = _p2p_disabled(facts)
    if setting is None:
        return "neither NCCL_P2P_DISABLE nor NCCL_P2P_LEVEL forbids it"
    reach = _pairs_that_reach(facts)
    if not reach:
        raise NotApplicable("no two of these GPUs can reach each other directly")
    yield Found(
        message=f"{setting.name}={setting.value} {_THROUGH_THE_HOST}, though these GPUs can reach each other directly.",
        proof=(
            _shown(setting),
            Evidence(text=f"{len(reach)} ordered pair(s) of GPUs can", source="cuDeviceCanAccessPeer"),
        ),
        fixes=(_take_out(setting),),
    )


@check("GD302", "nccl-shm-disabled-by-env", stage=Stage.SPEED, level=Level.WARN)
def nccl_shm_disabled(facts: Facts) -> Findings:
    """A setting keeps NCCL from using shared memory, and it has no faster way.

    What it looks at: NCCL_SHM_DISABLE=1, in the environment and in NCCL's configuration files, where GPUs can't reach
    each other directly: by a setting (NCCL_P2P_DISABLE), or by the driver's answer (cuDeviceCanAccessPeer). Where all
    of them do, shared memory is not used and the setting does no harm.

    Why it matters: NCCL then sends data between GPUs of one machine through the network. On 2x H200 an all-reduce of
    512 MiB fell from 26 to 2.9 GB/s.

    How to fix: take the setting out; if /dev/shm is too small, make that larger instead (docker run --shm-size).

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    speaks_of_speed(facts)
    if not facts.text.is_all:
        _several_gpus(facts)
    setting = _setting(facts, "NCCL_SHM_DISABLE")
    if setting is None or _number(setting) != 1:
        return set_to("NCCL_SHM_DISABLE", setting.value if setting is not None else None)
    disabled = _p2p_disabled(facts)
    pairs = known(facts.driver.libcuda.pairs) if disabled is None else ()
    apart = [p for p in pairs if p.can_access is False]
    for pair in pairs if not apart else ():
        known(pair.can_access)
    if disabled is None and not apart:
        return "the GPUs reach each other directly"
    why = (
        _shown(disabled)
        if disabled is not None
        else Evidence(text=f"{len(apart)} ordered pair(s) of GPUs can't", source="cuDeviceCanAccessPeer")
    )
    yield Found(
        message="NCCL_SHM_DISABLE makes NCCL send data between the GPUs of this machine through the network.",
        proof=(*(_said_so(facts, setting) if facts.text.is_all else (_shown(setting),)), why),
        fixes=(_take_out(setting),),
    )


@check("GD303", "nccl-channels-limited", stage=Stage.SPEED, level=Level.WARN)
def nccl_channels_limited(facts: Facts) -> Findings:
    """A setting leaves NCCL too few channels.

    What it looks at: NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS and NCCL_MAX_NRINGS, in the environment and in NCCL's
    configuration files: 1, or fewer than 4 where GPUs reach each other with native atomic operations, as over NVLink.

    Why it matters: a channel is one multiprocessor that copies, about 20 GB/s. On 2x H200 an all-reduce of 512 MiB fell
    from 234 to 20 GB/s with one channel; the default there is 24.

    How to fix: take the setting out. To keep multiprocessors free for computing, 8 or more are usual on NVLink.

    Source: NCCL user guide, environment variables; measured on 2x H200.
    """
    speaks_of_speed(facts)
    if not facts.text.is_all:
        _several_gpus(facts)
    limits = [s for n in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NRINGS") if (s := _setting(facts, n))]
    low = [(s, n) for s in limits if (n := _number(s)) is not None and 0 < n < _FEW_CHANNELS]
    if not low:
        return f"no setting leaves NCCL fewer than {_FEW_CHANNELS} channels"
    setting, number = min(low, key=lambda one: one[1])
    if number > 1:
        pairs = known(facts.driver.libcuda.pairs)
        if not any(p.native_atomics is True for p in pairs):
            for pair in pairs:
                known(pair.native_atomics)
            return "no GPUs are linked by NVLink, which takes more channels"
    yield Found(
        message=f"{setting.name}={setting.value} leaves NCCL {number} channel{'s' if number > 1 else ''}, of about 20 GB/s "
        "each.",
        proof=_said_so(facts, setting) if facts.text.is_all else (_shown(setting),),
        fixes=(_take_out(setting),),
    )


@check("GD304", "nccl-wrong-interface", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def nccl_wrong_interface(facts: Facts) -> Findings:
    """NCCL uses a network interface that is not there, or does not reach the other processes.

    What it looks at: NCCL_SOCKET_IFNAME, in the environment and in NCCL's configuration files, against the interfaces
    that are up and have an address: a list of prefixes, of whole names after '=', or of what to leave out after '^'.

    Why it matters: NCCL opens a socket before anything else, on a single machine too; without an interface every
    collective fails at once ('no socket interface found'; TensorFlow: 'NCCL: invalid usage').

    How to fix: name an interface that exists (ip -br address), or unset it: NCCL finds one itself.

    Source: NCCL user guide, NCCL_SOCKET_IFNAME; observed with TensorFlow 2.21 and NCCL 2.27 on 2x H200.
    """
    if facts.text.is_all:
        yield from wrong_interface(facts)
        return
    _several_gpus(facts)
    setting = _setting(facts, "NCCL_SOCKET_IFNAME")
    if setting is None or len(setting.value) < 2:  # NCCL passes over a value of one character
        return set_to("NCCL_SOCKET_IFNAME", setting.value if setting is not None else None)
    interfaces = known(facts.nccl.interfaces)
    named = [i for i in interfaces if names_interface(setting.value, i.name)]
    if any(_usable(i) for i in named):
        return f"{set_to(setting.name, setting.value)} names a network interface that is there"
    usable = [i.name for i in interfaces if _usable(i)]
    others = [i.name for i in interfaces if _usable(i) and i.loopback is False and i.virtual is False]
    state = (
        f"names {', '.join(i.name for i in named)}, which {'is' if len(named) == 1 else 'are'} down or without an address"
        if named
        else "names no network interface of this machine"
    )
    fixes = [_take_out(setting)]
    if setting.file is None and others:
        value = others[0]
        fixes.append(
            Fix(
                kind="env",
                risk="safe",
                summary="Name the one that is there",
                steps=(f"export NCCL_SOCKET_IFNAME={quote(value)}",),
                env=(EnvChange(name="NCCL_SOCKET_IFNAME", op="set", value=value),),
            )
        )
    yield Found(
        message=f"NCCL_SOCKET_IFNAME={setting.value} {state}; every collective fails at once.",
        proof=(
            _shown(setting),
            Evidence(text=f"interfaces that are up: {', '.join(usable) or 'none'}", source="/sys/class/net"),
        ),
        fixes=tuple(fixes),
    )


def names_interface(value: str, name: str) -> bool:
    """Whether NCCL_SOCKET_IFNAME `value` chooses the interface `name`. The signs stand at the beginning, for the whole list."""
    leave_out = value.startswith("^")
    value = value[leave_out:]
    exact = value.startswith("=")
    entries = [e.partition(":")[0] for e in value[exact:].split(",")]
    entries = [e for e in entries if e]
    matches = not entries or any(name == e if exact else name.startswith(e) for e in entries)
    return matches != leave_out


def _usable(interface: NetworkInterface) -> bool:
    """Up, with an address, as far as is known."""
    return interface.up is not False and interface.addresses != ()


@check("GD305", "nccl-p2p-iommu-acs", stage=Stage.USE, explains=("op-fails", "gpu-wrong-result", "collective-fails"))
def nccl_p2p_iommu_acs(facts: Facts) -> Findings:
    """The IOMMU or a PCIe switch redirects the traffic between GPUs, and a collective hangs or returns wrong numbers.

    What it looks at: an all-reduce that gpudoctor ran and that did not end in time, or whose numbers are wrong; GPUs
    that reach each other over PCIe (without native atomic operations, so not over NVLink); and for these GPUs, whether
    their IOMMU group translates addresses (type DMA) or a bridge above them redirects peer traffic (ACS control). Where
    all-reduce works, or was not run, neither is a fault.

    Why it matters: a GPU writes into another's memory by its PCIe address. A translation or a detour on the way leads
    such writes elsewhere, or nowhere.

    How to fix: on a bare machine, pass addresses through (kernel parameter iommu=pt, or the IOMMU off in the firmware) and
    switch ACS off in the firmware or with setpci on the bridges. Until then NCCL_P2P_DISABLE=1 works, slowly.

    Source: NCCL user guide, Troubleshooting (PCI access control services); Linux kernel, sysfs-kernel-iommu_groups.
    """
    if facts.text.is_all:
        yield Found(
            message="A collective hangs or is wrong, and the traffic between the GPUs does not go straight.",
            proof=lines(redirected(facts)),
            fixes=_RATHER_STRAIGHT,
        )
        return
    tried = [m for m in facts.measurements if m.kernel == ALL_REDUCE]
    if not tried:
        raise NotApplicable("no all-reduce was run")
    broken = [m for m in tried if _hung(m) or m.verified is False]
    if not broken:
        return "no all-reduce hung or returned wrong numbers"
    if _p2p_disabled(facts) is not None:
        raise NotApplicable("a setting keeps GPUs from reaching each other directly")
    over_pcie = [p for p in _pairs_that_reach(facts) if not known(p.native_atomics)]
    if not over_pcie:
        raise NotApplicable("no GPUs reach each other over PCIe")
    proof = _redirected(facts)
    if not proof:
        return "neither the IOMMU nor a PCIe switch redirects the traffic between the GPUs"
    what = "did not end" if _hung(broken[0]) else "returned wrong numbers"
    yield Found(
        message=f"An all-reduce {what}, and the traffic between the GPUs does not go straight.",
        proof=(Evidence(text=f"all-reduce on {broken[0].device} {what}", source="the measurement itself"), *proof),
        fixes=_RATHER_STRAIGHT,
    )


_RATHER_STRAIGHT = (
    Fix(
        kind="env",
        risk="safe",
        summary="For now, let NCCL copy through the host's memory: right, and slower",
        steps=("export NCCL_P2P_DISABLE=1",),
        env=(EnvChange(name="NCCL_P2P_DISABLE", op="set", value="1"),),
    ),
    Fix(
        kind="advice",
        risk="needs reboot",
        summary="For good: boot with iommu=pt (or the IOMMU off), and switch ACS off in the firmware",
        steps=(),
    ),
)


def _hung(one: Measurement) -> bool:
    return "did not end within" in (one.failed or "")


def _redirected(facts: Facts) -> list[Evidence]:
    """What stands in the way of CUDA's GPUs; unknown where nothing is seen and something could not be read."""
    addresses = {known(d.pci_address) for d in known(facts.driver.libcuda.devices)}
    gpus = [d for d in known(facts.pci.devices) if d.address in addresses]
    translated = [g for g in gpus if g.iommu_type in _TRANSLATED]
    bridges: dict[str, PciDevice] = {b.address: b for g in gpus for b in facts.pci.above(g)}
    redirecting = [
        b for b in bridges.values() if b.acs is not None and not isinstance(b.acs, Unread) and b.acs.redirects
    ]
    found = []
    if translated:
        text = ", ".join(f"{g.address}: group {g.iommu_group}, type {g.iommu_type}" for g in translated)
        found.append(Evidence(text=f"the IOMMU translates for {text}", source="/sys/kernel/iommu_groups"))
    if redirecting:
        text = ", ".join(b.address for b in redirecting)
        found.append(Evidence(text=f"ACS sends peer traffic to the root complex at {text}", source="PCI configuration"))
    if not found:
        for gpu in gpus:
            known(gpu.iommu_type)
        for bridge in bridges.values():
            known(bridge.acs)
    return found


_MORE_SHARED_MEMORY = Fix(
    kind="advice",
    risk="safe",
    summary="Start the container with more shared memory: docker run --shm-size=1g (or --ipc=host); Kubernetes: an emptyDir of "
    "medium Memory on /dev/shm; on a bare machine: sudo mount -o remount,size=50% /dev/shm",
    steps=(),
    verify="df -h /dev/shm",
)
SEGMENT_BYTES = 9_637_888
"""What NCCL 2.27 makes in /dev/shm for one connection (its own warning where that does not fit)."""


@check("GD306", "nccl-shm-too-small", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def nccl_shm_too_small(facts: Facts) -> Findings:
    """Shared memory is too small for NCCL, and a collective fails.

    What it looks at: an all-reduce over several GPUs that gpudoctor ran and that failed with NCCL's 'unhandled system
    error', and how much is free in /dev/shm: less than two connections a GPU need. Where all-reduce works, a small
    /dev/shm is no fault: GPUs that reach each other directly do without it. Where none was run, the 64 MB that docker gives
    to a container with several GPUs are told for information.

    Why it matters: GPUs that can't reach each other directly talk through /dev/shm. Docker gives a container 64 MB.

    How to fix: start the container with more (`--shm-size=1g`, or `--ipc=host`; Kubernetes: an emptyDir of medium Memory
    on /dev/shm); on a bare machine, remount /dev/shm with a larger size.

    Source: NCCL user guide, Troubleshooting (shared memory); observed: NCCL 2.27.7 with /dev/shm of 1 MiB.
    """
    if facts.text.is_all:
        yield Found(
            message="NCCL finds no room in /dev/shm, where GPUs that can't reach each other directly exchange their data.",
            proof=lines(said(facts, "nccl-shm-full", settle="df -h /dev/shm; NCCL_DEBUG=INFO python3 …")),
            fixes=(_MORE_SHARED_MEMORY,),
        )
        return
    failed = [m for m in facts.measurements if m.kernel == ALL_REDUCE and m.failed]
    if not any("unhandled system error" in (m.failed or "") for m in failed):
        if not any(m.kernel == ALL_REDUCE for m in facts.measurements):
            yield from _small_for_several(facts)
        return "no all-reduce failed with a system error"
    free = known(facts.system.shm_free_bytes)
    gpus = max(2, len(failed[0].devices()))
    if free is None or free >= 2 * gpus * SEGMENT_BYTES:
        return "there is no /dev/shm" if free is None else f"{free / 1e6:.0f} MB are left in /dev/shm"
    container = facts.system.container
    yield Found(
        message=f"NCCL failed, and /dev/shm has {free / 1e6:.1f} MB left: {gpus} GPUs need "
        f"{2 * gpus * SEGMENT_BYTES / 1e6:.0f} MB or more.",
        proof=(
            Evidence(
                text=failed[0].value.why if isinstance(failed[0].value, Unread) else "",
                source=f"all-reduce on {failed[0].device}",
            ),
            Evidence(text=f"{free / 1e6:.1f} MB free", source="statvfs of /dev/shm"),
        ),
        fixes=_start.with_shared_memory(container) if isinstance(container, str) else (_LARGER,),
    )


_LARGER = Fix(
    kind="command",
    risk="needs root",
    summary="Make /dev/shm larger",
    steps=("sudo mount -o remount,size=50% /dev/shm",),
    verify="df -h /dev/shm && gpudoctor check",
)
_OF_DOCKER_BYTES = 64 << 20


def _small_for_several(facts: Facts) -> Iterator[Found]:
    """What docker gives where nobody asks for more, in a container with several GPUs; nothing has failed."""
    container = facts.system.container
    devices = facts.driver.libcuda.devices
    if not isinstance(container, str) or isinstance(devices, Unread) or len(devices) < 2:
        raise NotApplicable("no all-reduce was run")
    total = known(facts.system.shm_total_bytes)
    if total is None or total > _OF_DOCKER_BYTES:
        raise NotApplicable("no all-reduce was run")
    yield Found(
        message=f"This {container} container has {total >> 20} MiB of shared memory (/dev/shm). NCCL needs more where its "
        f"{len(devices)} GPUs can't reach each other directly.",
        proof=(Evidence(text=f"{total} bytes", source="statvfs of /dev/shm"),),
        fixes=_start.with_shared_memory(container),
        level=Level.INFO,
    )
