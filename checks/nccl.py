"""NCCL: what keeps GPUs from speaking to each other. What makes them slow is in nccl_speed."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _speed, _start
from gpudoctor.checks._collectives import redirected, wrong_interface
from gpudoctor.checks._nccl_settings import p2p_disabled, pairs_that_reach, seen, setting, several_gpus, shown, ways_out
from gpudoctor.checks._reasons import set_to
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import ALL_REDUCE, Facts, Measurement, NetworkInterface, PciDevice, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check
from gpudoctor.verdicts.collective import all_reduce

_TRANSLATED = ("DMA", "DMA-FQ")


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
    several_gpus(facts)
    one = setting(facts, "NCCL_SOCKET_IFNAME")
    if one is None or len(one.value) < 2:  # NCCL passes over a value of one character
        return set_to("NCCL_SOCKET_IFNAME", one.value if one is not None else None)
    interfaces = known(facts.nccl.interfaces)
    named = [i for i in interfaces if names_interface(one.value, i.name)]
    if any(_usable(i) for i in named):
        return f"{set_to(one.name, one.value)} names a network interface that is there"
    usable = [i.name for i in interfaces if _usable(i)]
    others = [i.name for i in interfaces if _usable(i) and i.loopback is False and i.virtual is False]
    state = (
        f"names {', '.join(i.name for i in named)}, which {'is' if len(named) == 1 else 'are'} down or without an address"
        if named
        else "names no network interface of this machine"
    )
    fixes = list(ways_out(one))
    if one.file is None and others:
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
        message=f"NCCL_SOCKET_IFNAME={one.value} {state}; every collective fails at once.",
        proof=(
            shown(one),
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


_BREAKS = ("op-fails", "gpu-wrong-result", "collective-fails", *_speed.COLLECTIVES, "p2p-redirected")


@check("GD305", "nccl-p2p-iommu-acs", stage=Stage.USE, explains=_BREAKS)
def nccl_p2p_iommu_acs(facts: Facts) -> Findings:
    """The IOMMU or a PCIe switch redirects the traffic between GPUs, and a collective hangs, returns wrong numbers or crawls.

    What it looks at: an all-reduce that gpudoctor ran and that did not end in time, whose numbers are wrong, or that is slow
    (slow-collective) though NCCL goes straight from GPU to GPU; GPUs that reach each other over PCIe (without native atomic operations, so not over NVLink); and for these GPUs, whether
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
    tried = [m for m in facts.measurements if m.kernel == ALL_REDUCE and m.in_tensorflow]
    measured = all_reduce(facts)
    slow = measured is not None and measured.is_slow and measured.is_direct
    if not tried and not slow:
        raise NotApplicable("no all-reduce was run")
    broken = [m for m in tried if _hung(m) or m.verified is False]
    if not broken and not slow:
        return "no all-reduce hung or returned wrong numbers"
    if p2p_disabled(facts) is not None:
        raise NotApplicable("a setting keeps GPUs from reaching each other directly")
    over_pcie = [p for p in pairs_that_reach(facts) if not known(p.native_atomics)]
    if not over_pcie:
        raise NotApplicable("no GPUs reach each other over PCIe")
    proof = _redirected(facts)
    if not proof:
        return "neither the IOMMU nor a PCIe switch redirects the traffic between the GPUs"
    if not broken and measured is not None:
        yield Found(
            message=f"The traffic between the GPUs does not go straight: {measured.in_words()}.",
            proof=(*seen(measured), *proof),
            fixes=_RATHER_STRAIGHT,
            explains=_speed.COLLECTIVES,
            level=Level.WARN,
        )
        return
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
    failed = [m for m in facts.measurements if m.kernel == ALL_REDUCE and m.in_tensorflow and m.failed]
    if not any("unhandled system error" in (m.failed or "") for m in failed):
        if not any(m.kernel == ALL_REDUCE and m.in_tensorflow for m in facts.measurements):
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
