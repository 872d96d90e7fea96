"""What several checks of collectives ask of a pasted text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import EnvChange, Fix, Found
from gpudoctor.patterns import Pattern

_Item = TypeVar("_Item")
_NO_PEERS = Pattern(r"GeForce RTX (?:20|30|40|50)\d\d|RTX ?(?:4090|5090|4080|5080|3090|2080|2070|3080|3070)(?!\d)")
"""Cards that reach each other over an NVLink bridge only, or not at all."""
_NEVER = Pattern(r"GeForce RTX (?:40|50)[5-9]0(?!\d)")
"""Cards that have no bridge either: whatever a driver says of them."""


def without_peers(facts: Facts) -> bool:
    """The GPUs that the text names are GeForce cards without direct access to each other."""
    names = [d.name for d in told_of(facts.gpu.devices)] + [d.model for d in told_of(facts.tensorflow.gpus())]
    named = [name for name in names if isinstance(name, str)]
    if not named:
        cards = facts.text.cards()
        return bool(cards) and all(_NO_PEERS.search(name) for name in cards)
    return any(_NO_PEERS.search(name) for name in named)


def all_apart(facts: Facts) -> tuple[TextEvent, ...]:
    """TensorFlow's table of peers, where none reaches another; each reaches itself in some releases' tables."""
    rows = facts.text.said("peer-row")
    reach = [(int(e.values["row"]), e.values["reach"].split()) for e in rows]
    return rows if reach and not any("Y" in (*row[:at], *row[at + 1 :]) for at, row in reach) else ()


def apart_by_table(facts: Facts) -> set[tuple[str, str]]:
    """The pairs that TensorFlow's table of peers says do not reach each other, in the order of the way."""
    rows = [(e.values["row"], e.values["reach"].split()) for e in facts.text.said("peer-row")]
    return {(row, str(to)) for row, reach in rows for to, word in enumerate(reach) if word == "N" and str(to) != row}


def wrongly_copied(facts: Facts) -> tuple[TextEvent, ...]:
    """Copies between cards that never have peer access came out wrong, though the driver says that they have it."""
    wrong = facts.text.said("peer-copies-wrong")
    claimed = [e for e in facts.text.said("peers-together") if _NEVER.search(e.text)]
    patched = facts.text.said("peer-patch")  # a driver of others', which opens this way
    return (*claimed[:1], *wrong[:2]) if wrong and claimed and not patched else ()


def told_of(items: tuple[_Item, ...] | Unread) -> tuple[_Item, ...]:
    return () if isinstance(items, Unread) else items


_SETTLE_INTERFACE = "NCCL_DEBUG=INFO python3 …; ip -br address"
_INTERNAL = Pattern(r"127\.|172\.(?:1[7-9]|2\d|3[01])\.|192\.168\.122\.|10\.0\.[23]\.|169\.254\.|fe80:")
"""Addresses of this machine, and of bridges that containers and virtual machines get by default."""
_INTERNAL_NAME = Pattern(r"lo$|docker|br-|virbr|veth|cni|flannel|tunl|tun\d|vmnet")


_LET_NCCL_CHOOSE = Fix(
    kind="env",
    risk="safe",
    summary="Unset NCCL_SOCKET_IFNAME: NCCL finds an interface itself",
    steps=("unset NCCL_SOCKET_IFNAME",),
    env=(EnvChange(name="NCCL_SOCKET_IFNAME", op="unset"),),
)


def wrong_interface(facts: Facts) -> Iterator[Found]:
    """NCCL has no interface, or one from which the other machines can't be reached."""
    none = facts.text.said("nccl-no-interface")
    failed = facts.text.said("nccl-connect-failed", "mpi-connect-failed", "nccl-other-subnet")
    chosen = [e for e in facts.text.said("nccl-interface") if _internal(e)]
    unreachable = [e for e in failed if _internal(e) or "oute to host" in e.text or e.kind != "nccl-connect-failed"]
    if not none and not unreachable and not (failed and chosen):
        said(facts, "nccl-no-interface", settle=_SETTLE_INTERFACE)
    value = facts.environment.get("NCCL_SOCKET_IFNAME")
    named = f" (NCCL_SOCKET_IFNAME={value})" if isinstance(value, str) else ""
    yield Found(
        message=f"NCCL finds no network interface to use{named}."
        if none
        else f"NCCL speaks through an interface from which the others are not reached{named}.",
        proof=lines((*none, *unreachable[:2], *chosen[:2], *failed[:1])),
        fixes=(
            *((_LET_NCCL_CHOOSE,) if isinstance(value, str) else ()),
            Fix(
                kind="command",
                risk="safe",
                summary="Name the one that leads to the other machines, on each of them; containers on several machines need "
                "the host's network (docker run --network=host)",
                steps=("ip -br address", "export NCCL_SOCKET_IFNAME=eth0"),
            ),
        ),
    )


def _internal(event: TextEvent) -> bool:
    name, address = event.values.get("interface", ""), event.values.get("address", "")
    return bool(_INTERNAL_NAME.match(name) or _INTERNAL.match(address))


def redirected(facts: Facts) -> tuple[TextEvent, ...]:
    """Lines that show a collective hanging or several GPUs computing wrongly, and what redirects the traffic between GPUs; unknown without both."""
    settle = "sudo dmesg | grep -iE 'iommu|dmar'; sudo lspci -vvv | grep ACSCtl"
    hangs = facts.text.said("collective-hangs")
    wrong = facts.text.said("several-compute-wrongly", "only-several-wrong")
    if all_apart(facts) or wrongly_copied(facts):
        undecided(settle)  # no traffic goes from GPU to GPU that could be redirected
    if behind := facts.text.said("pairs-behind-switch"):
        return (*behind, *hangs[:1], *wrong[:1])
    changed = facts.text.said("machine-was-changed") if facts.text.said("only-several-wrong") else ()
    if changed and facts.text.said("loss-is-nan", "several-compute-wrongly"):
        return (*wrong[:2], *changed)
    if not hangs and not wrong:
        raise UnknownFactError(Unread(why="not in this text", settle=settle))
    off = facts.text.said("iommu-is-off") and without_peers(facts)  # and it hangs all the same
    why = facts.text.said("iommu-fault", "acs-on", *(() if off else ("iommu-cure",)))
    if not hangs:
        if not why:
            raise UnknownFactError(Unread(why="not in this text", settle=settle))
        return (*wrong[:1], *why[:3])
    if not why and not without_peers(facts):
        both = facts.text.said("p2p-on-tried") and facts.text.said("p2p-off-tried")
        why = facts.text.said("p2p-cure") or (both and facts.text.said("p2p-on-tried", "p2p-off-tried"))
    if not why:
        undecided(settle)
    return (*hangs[:1], *why[:3])
