"""Pairs of GPUs that can't read each other's memory, as a machine shows them."""

from __future__ import annotations

from collections.abc import Generator

from gpudoctor.checks._gpus import gpus
from gpudoctor.checks._reasons import several
from gpudoctor.facts import Facts, known
from gpudoctor.findings import Evidence, Fix, Found, Level, NotApplicable
from gpudoctor.topology import Pair, derive

_OF_THE_MACHINE = ("chipset-not-supported", "topology-not-supported", "gpu-not-supported", "not-supported")
"""NVML's words for what is so by design; 'disabled-by-regkey' is somebody's choice."""


def apart(facts: Facts, *, geforce: bool) -> Generator[Found, None, str]:
    """One finding for all pairs without direct access: those of GeForce cards, or all others. Returns why there is none."""
    names = {d.index: d.name for d in gpus(facts)}
    if len(names) < 2:
        raise NotApplicable("there are no two GPUs")
    parted = {d.index for d in gpus(facts) if d.mig_mode is True}
    pairs = [
        pair
        for pair in derive(facts).pairs
        if pair.first in names and pair.second in names and not {pair.first, pair.second} & parted
        if all("GeForce" in str(names[i]) for i in (pair.first, pair.second)) == geforce
    ]
    if not pairs:
        raise NotApplicable(
            "there are no two GeForce cards" if geforce else "there are GeForce cards only, or GPUs in MIG mode"
        )
    without = [p for p in pairs if p.nvlinks == 0 and p.p2p in _OF_THE_MACHINE and p.can_access is not True]
    if not without:
        if any(p.p2p is None and p.can_access is None for p in pairs):
            for one in known(facts.gpu.pairs):
                known(one.read)
        return f"{several(len(pairs), 'pair')} of GPUs can read each other's memory, or are linked otherwise"
    shown = ", ".join(f"{p.first} and {p.second}" for p in without[:4]) + (" and others" if len(without) > 4 else "")
    yield Found(
        message=f"GPUs {shown} can't reach each other's memory directly"
        + (": GeForce cards have no peer access over PCIe." if geforce else ", by the design of the machine.")
        + " What they exchange goes through the host's memory.",
        proof=(
            Evidence(
                text=f"GPU {without[0].first} and {without[0].second}: {without[0].p2p}",
                source="NVML, nvmlDeviceGetP2PStatus",
            ),
            *_by_cuda(without[0]),
            *_rate(without[0]),
        ),
        about=tuple(dict.fromkeys(f"gpu{i}" for p in without for i in (p.first, p.second))),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Nothing is broken: NCCL goes through the host's memory by itself. Where a program insists on peer access, "
                "set NCCL_P2P_DISABLE=1; more work for each step (a larger batch) hides the slower exchange",
                steps=(),
                verify="gpudoctor topo",
            ),
        ),
        level=Level.INFO,
        explains=(),
    )
    return ""


def _by_cuda(pair: Pair) -> tuple[Evidence, ...]:
    return () if pair.can_access is None else (Evidence(text="no access", source="cuDeviceCanAccessPeer"),)


def _rate(pair: Pair) -> tuple[Evidence, ...]:
    if pair.measured_gb_per_s is None:
        return ()
    of = f"; {pair.limit_by} carries {pair.limit_gb_per_s:.3g}" if pair.limit_gb_per_s else ""
    return (Evidence(text=f"{pair.measured_gb_per_s:.3g} GB/s from one to the other{of}", source="native copy-pair"),)
