"""What several checks ask of NCCL's settings: in the environment and in its configuration files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.checks._said import lines, said
from gpudoctor.facts import CudaPair, Facts, NcclSetting, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Fix, NotApplicable
from gpudoctor.verdicts.collective import AllReduce


def several_gpus(facts: Facts) -> None:
    """Not applicable with fewer than two GPUs: TensorFlow's list, or CUDA's where nobody asked TensorFlow."""
    listed = facts.tensorflow.gpus()
    if isinstance(listed, Unread) and (facts.driver.libcuda.path is None or facts.driver.libcuda.init_result == 100):
        raise NotApplicable("CUDA shows no GPU")
    count = len(known(facts.driver.libcuda.devices)) if isinstance(listed, Unread) else len(listed)
    if count < 2:
        raise NotApplicable("there are no two GPUs that could speak to each other")


def setting(facts: Facts, name: str) -> NcclSetting | None:
    """What NCCL takes it to be. Of a text the settings count that NCCL names: it names those that it uses."""
    if facts.text.is_all:
        told = {e.values["name"]: e.values["value"] for e in said(facts, "nccl-setting", settle="env | grep NCCL")}
        return NcclSetting(name=name, value=told[name]) if name in told else None
    return known(facts.nccl.setting(name, facts.environment))


def number(one: NcclSetting | None) -> int | None:
    """The number that NCCL reads (strtoll): what stands at the beginning, 0 where that is none; None: not set."""
    if one is None or not one.value:
        return None
    match = re.match(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|\d+)", one.value)
    if match is None:
        return 0
    digits = match.group(2).lower()
    octal = re.match(r"0[0-7]*", digits)
    value = int(digits, 16) if digits.startswith("0x") else int(octal.group() if octal else digits, 8 if octal else 10)
    return -value if match.group(1) == "-" else value


def p2p_disabled(facts: Facts) -> NcclSetting | None:
    """The setting by which GPUs are kept from reaching each other directly."""
    disable = setting(facts, "NCCL_P2P_DISABLE")
    if number(disable) == 1:
        return disable
    level = setting(facts, "NCCL_P2P_LEVEL")
    return level if level is not None and level.value in ("LOC", "0") else None


def pairs_that_reach(facts: Facts) -> list[CudaPair]:
    """The pairs of GPUs that can reach each other directly; unknown where none is known to."""
    pairs = known(facts.driver.libcuda.pairs)
    reach = [p for p in pairs if p.can_access is True]
    for pair in pairs if not reach else ():
        known(pair.can_access)
    return reach


def shown(one: NcclSetting) -> Evidence:
    """The setting, and where it stands."""
    return Evidence(text=f"{one.name}={one.value!r}", source=one.source)


def said_so(facts: Facts, one: NcclSetting) -> tuple[Evidence, ...]:
    """The lines of a text in which NCCL says that it uses the variable."""
    return lines(e for e in facts.text.said("nccl-setting") if e.values["name"] == one.name)[:1]


def seen(measured: AllReduce | None) -> tuple[Evidence, ...]:
    """The all-reduce that was measured, with the way that NCCL took, and the copies beside it."""
    if measured is None:
        return ()
    channels = f", {measured.of.channels} channel(s)" if isinstance(measured.of.channels, int) else ""
    ways = f", through {', '.join(measured.ways)}{channels}" if measured.ways else channels
    expected = f" ({measured.verdict.basis})" if measured.verdict.expected is not None else ""
    proof = [
        Evidence(
            text=f"all-reduce: {measured.rate:.3g} GB/s{ways}{expected}",
            source=f"native all-reduce on {measured.of.device}, and NCCL's log of it",
        )
    ]
    if measured.copies is not None:
        proof.append(
            Evidence(
                text=f"copy: {measured.copy_rate:.3g} GB/s", source=f"native copy-pair on {measured.copies.device}"
            )
        )
    return tuple(proof)


_DEFAULTS = {"NCCL_P2P_DISABLE": "0", "NCCL_SHM_DISABLE": "0"}
_NOT_NUMBERS = (
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_TOPO_FILE",
    "NCCL_GRAPH_FILE",
    "NCCL_TUNER_PLUGIN",
    "NCCL_TUNER_CONFIG_FILE",
)
"""Lists and files, of which an empty one may mean none. Of a number, of NCCL_P2P_LEVEL and of NCCL_SOCKET_IFNAME it means NCCL's own default
(param.cc, paths.cc, socket.cc)."""


def ways_out(*settings: NcclSetting) -> tuple[Fix, ...]:
    """Unset what is a variable; what a file says, overrule by a variable, which can be tried, and take out of the file."""
    ours = [s for s in settings if s.file is None]
    filed = [s for s in settings if s.file is not None]
    changes = [EnvChange(name=s.name, op="unset") for s in ours]
    overruled = _overruled(filed)
    fixes: list[Fix] = []
    if overruled is not None and (changes or overruled):
        names = " and ".join(s.name for s in ours)
        summary = f"Unset {names}, and find who sets it (shell profile, job script, Dockerfile)" if ours else ""
        if filed:
            files = " and ".join(dict.fromkeys(str(s.file) for s in filed))
            summary += (
                "; and overrule" if ours else "Overrule"
            ) + f" {files} for this shell: a variable counts before the file"
        fixes.append(
            Fix(
                kind="env",
                risk="safe",
                summary=summary,
                steps=tuple(_line(c) for c in (*changes, *overruled)),
                env=(*changes, *overruled),
            )
        )
    for one in filed:
        system = str(one.file).startswith("/etc/")
        fixes.append(
            Fix(
                kind="advice",
                risk="needs root" if system else "safe",
                summary=f"For good: take line {one.line} ({one.name}={one.value}) out of {one.file}",
                steps=(),
            )
        )
    return tuple(fixes)


def _overruled(filed: Sequence[NcclSetting]) -> list[EnvChange] | None:
    """Variables that take back what files say; None: none can."""
    if not any(s.name in _NOT_NUMBERS for s in filed):
        return [EnvChange(name=s.name, op="set", value=_DEFAULTS.get(s.name, "")) for s in filed]
    if any(str(s.file).startswith("/etc/") for s in filed):
        return None
    return [EnvChange(name="NCCL_CONF_FILE", op="set", value="/dev/null")]


def _line(change: EnvChange) -> str:
    return f"unset {change.name}" if change.op == "unset" else f"export {change.name}={change.value}"
