"""Collectives that fail, hang or crawl: most of it as pasted texts tell it."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _peers, _speed
from gpudoctor.checks._collectives import all_apart, apart_by_table, told_of, without_peers, wrongly_copied
from gpudoctor.checks._gpus import measured_on
from gpudoctor.checks._nccl_settings import seen, setting
from gpudoctor.checks._said import holds, lines, said, speaks_of_speed, undecided
from gpudoctor.facts import Facts, Unread
from gpudoctor.findings import EnvChange, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check
from gpudoctor.verdicts.collective import all_reduce

_DEBUG = "NCCL_DEBUG=INFO python3 …  # the same program, on every machine"


@check("GD320", "nccl-unavailable-windows", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def nccl_unavailable_windows(facts: Facts) -> Iterator[Found]:
    """TensorFlow for Windows has no NCCL.

    What it looks at: in a pasted text, 'No OpKernel was registered to support Op NcclAllReduce' (1.x: 'Op type not registered').
    Linux builds with CUDA have these operations; where the text shows paths of Linux or a build without GPUs, it is left open.

    Why it matters: MirroredStrategy takes NCCL by default where there are several GPUs, and fails at its first step.

    How to fix: give the strategy another way to reduce: HierarchicalCopyAllReduce or ReductionToOneDevice. Or use WSL2.

    Source: tensorflow/tensorflow issues 21470 and 33656; TensorFlow's build rules (NCCL is for Linux only).
    """
    told = said(facts, "nccl-op-absent", settle="python3 -c 'import platform; print(platform.system())'")
    build = "python3 -c 'import tensorflow as tf; print(tf.sysconfig.get_build_info())'"
    windows = facts.system.system == "Windows" or holds(facts, ":\\", "indows", "DESKTOP-", "win_amd64")
    if facts.text.said("registered-without-gpu") or facts.system.system in ("Linux", "Darwin"):
        undecided(build)
    if not windows and (
        holds(facts, "/home/", "/usr/", "/opt/", "/root/", ".so", "MacBook") or facts.tensorflow.gpus() == ()
    ):
        undecided(build)
    yield Found(
        message="TensorFlow's build for Windows has no NCCL operations, and the strategy asks for them.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
                steps=(),
                verify="one training step with the strategy",
            ),
        ),
    )


@check("GD321", "nccl-nvls-fabric-manager", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def nccl_nvls_fabric_manager(facts: Facts) -> Iterator[Found]:
    """NVLink's multicast is in a bad state, and NCCL can't use NVLS.

    What it looks at: in a pasted text, NCCL's warnings from transport/nvls.cc ('invalid argument', 401 'the operation cannot be
    performed in the present state') and of multicast memory. 802 'system not yet initialized' is another cause: the fabric manager
    does not run.

    Why it matters: on machines with NVSwitch every collective over more than two GPUs fails at its start.

    How to fix: end what uses the GPUs, restart nvidia-fabricmanager (it must be of the driver's release) and reset the GPUs, or
    reboot. Until then NCCL_NVLS_ENABLE=0 works, slower.

    Source: NVIDIA/nccl issues 976, 1338 and 1788; Fabric Manager user guide.
    """
    told = said(facts, "nvls-failed", settle=_DEBUG)
    yield Found(
        message="NCCL can't set up multicast over NVLink (NVLS): the fabric's state is bad.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="env",
                risk="safe",
                summary="For now, do without it: right, and somewhat slower",
                steps=("export NCCL_NVLS_ENABLE=0",),
                env=(EnvChange(name="NCCL_NVLS_ENABLE", op="set", value="0"),),
            ),
            Fix(
                kind="command",
                risk="destructive",
                summary="End every program on the GPUs, restart the fabric manager and reset them; where that is refused, reboot",
                steps=("sudo systemctl restart nvidia-fabricmanager", "sudo nvidia-smi --gpu-reset"),
                verify="nvidia-smi -q | grep -A3 Fabric",
            ),
        ),
    )


@check("GD322", "p2p-unsupported-geforce", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def p2p_unsupported_geforce(facts: Facts) -> Findings:
    """These cards have no direct access to each other, and a program counts on it.

    What it looks at: in a pasted text, 'peer access is not supported between these two devices' where it names GeForce RTX
    cards, TensorFlow's table of peers where none of them reaches another, and Accelerate's own words for it; copies that simpleP2P finds
    wrong between GeForce cards from the RTX 40 on, which never have it. Without such names it is left open. On a machine, for information: pairs of GeForce
    cards without NVLink that can't read each other's memory, by NVML and CUDA.

    Why it matters: GeForce cards since the RTX 20 have no peer-to-peer over PCIe. What opens another card's memory fails.

    How to fix: NCCL_P2P_DISABLE=1 (and NCCL_IB_DISABLE=1 for Accelerate): data goes through the host's memory.

    Source: NVIDIA/nccl-tests issue 117; CUDA runtime, cudaErrorPeerAccessUnsupported.
    """
    if not facts.text.is_all:
        return (yield from _peers.apart(facts, geforce=True))
    settle = "nvidia-smi topo -p2p r; nvidia-smi -L"
    told = (*facts.text.said("geforce-no-p2p"), *wrongly_copied(facts))
    if (rows := all_apart(facts)) and facts.text.said("p2p-named") and without_peers(facts):
        told = (*told, *rows)
    if not told and (told := said(facts, "peer-refused", settle=settle)) and not without_peers(facts):
        undecided(settle)
    yield Found(
        message="These GeForce cards can't reach each other's memory directly, and the program tries to.",
        proof=lines(told),
        fixes=(_through_the_host(),),
    )
    return None


def _through_the_host() -> Fix:
    return Fix(
        kind="env",
        risk="safe",
        summary="Let NCCL copy through the host's memory",
        steps=("export NCCL_P2P_DISABLE=1",),
        env=(EnvChange(name="NCCL_P2P_DISABLE", op="set", value="1"),),
    )


_BETWEEN_PROCESSORS = "SYS"
"""What nvidia-smi topo -m calls a way over the link between two processors."""


@check("GD323", "multi-gpu-topology-no-p2p", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def multi_gpu_topology_no_p2p(facts: Facts) -> Findings:
    """Some of the GPUs can't reach each other directly: they are on different processors or host bridges.

    What it looks at: in a pasted text, TensorFlow's 'Peer access not supported between device ordinals' (or the CUDA sample's
    'CANNOT Access Peer') for some pairs and not for all, or where somebody says that the slots are different processors', or 'chipset not supported' of nvidia-smi topo -p2p; nothing in the text
    fails. On a machine, for information: pairs of other cards than GeForce, without NVLink and not in MIG mode, that can't read
    each other's memory.

    Why it matters: by design of the machine such pairs copy through the host's memory: slower, and right.

    How to fix: nothing is broken. Use GPUs of one processor together (nvidia-smi topo -m shows them), or put the cards there.

    Source: CUDA C++ Programming Guide, peer-to-peer memory access; nvidia-smi topo.
    """
    if not facts.text.is_all:
        return (yield from _peers.apart(facts, geforce=False))
    told = said(facts, "tf-peers-apart", "gpu-pairs", settle="nvidia-smi topo -m; nvidia-smi topo -p2p r")
    speaks_of_speed(facts)
    one_way = {(e.values["first"], e.values["second"]) for e in told if e.kind == "tf-peers-apart"}
    one_way |= apart_by_table(facts)
    printed = {e.line for e in told}
    spoken_of = any(e.line not in printed for e in facts.text.said("p2p-named"))
    from_them = {a for a, _ in one_way}
    linked = any(a < b and not {(a, b), (b, a)} & one_way for a in from_them for b in from_them)
    if spoken_of and linked and not any((b, a) in one_way for a, b in one_way):
        one_way |= {(b, a) for a, b in one_way}  # somebody who writes of it gives one direction for both
    apart = {(a, b) for a, b in one_way if (b, a) in one_way}
    count = len({one for pair in apart for one in pair})
    chipset = [e for e in told if e.values.get("word") in ("CNS", "TNS")]
    parted = facts.text.said("gpus-on-two-processors") if not without_peers(facts) else ()
    pairs = [e for e in told if e.kind == "gpu-pairs"]
    if apart and pairs and all(e.values.get("word") == _BETWEEN_PROCESSORS for e in pairs):
        parted = tuple(pairs)
    if not chipset and not parted and (not apart or len(apart) >= count * (count - 1)):
        undecided("nvidia-smi topo -m; nvidia-smi topo -p2p r")
    yield Found(
        message="Some pairs of these GPUs have no direct way to each other, by the design of the machine.",
        proof=lines(chipset or [*(e for e in told if e.kind == "tf-peers-apart"), *parted]),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="See which GPUs are close to each other, and use those together",
                steps=("nvidia-smi topo -m",),
            ),
        ),
    )
    return None


@check(
    "GD324",
    "p2p-not-used",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", *_speed.COLLECTIVES),
)
def p2p_not_used(facts: Facts) -> Findings:
    """GPUs that are linked by NVLink talk through the host's memory.

    What it looks at: NCCL's transports, by its log of the native all-reduce that was measured, between GPUs that are all linked by NVLink
    by NVML; in a pasted text 'via SHM', 'via NET' between GPUs of one machine beside NVLinks in nvidia-smi topo -m. Where a setting
    turns direct access off, it is that setting's.

    Why it matters: a collective runs at a tenth of what the links could do.

    How to fix: look for what keeps NCCL from it: NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,P2P, containers without a
    common PID namespace, NCCL_P2P_LEVEL.

    Source: NCCL user guide, Troubleshooting and environment variables.
    """
    if not facts.text.is_all:
        yield from (found := tuple(_past_the_links(facts)))
        return "NCCL goes from GPU to GPU" if not found else None
    told = said(facts, "nccl-transport", settle=_DEBUG)
    speaks_of_speed(facts)
    if any(e.values["way"] == "P2P" for e in told):
        return
    pairs = told_of(facts.gpu.pairs)
    if not pairs:
        undecided("nvidia-smi topo -m")
    if any(facts.environment.get(name) is not None and not isinstance(facts.environment.get(name), Unread)
           for name in ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL")):  # fmt: skip
        raise NotApplicable("a variable turns direct access off")
    if not all(p.nvlink == "ok" for p in pairs):
        return
    yield Found(
        message="NCCL does not use the NVLinks between these GPUs.",
        proof=lines(told),
        fixes=(_LET_IT_SAY,),
    )


_LET_IT_SAY = Fix(
    kind="command",
    risk="safe",
    summary="Let NCCL say why: its log tells, for each two GPUs, which way it takes",
    steps=("export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,P2P,ENV",),
)


def _past_the_links(facts: Facts) -> Iterator[Found]:
    measured = all_reduce(facts)
    if measured is None or not measured.ways:
        raise NotApplicable("no all-reduce was measured whose way NCCL's log tells")
    if not measured.linked:
        raise NotApplicable("the GPUs are not all linked by NVLink")
    if any(way.startswith(("P2P", "NVLS")) for way in measured.ways):
        return
    forbids = [
        s for name in ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL") if (s := setting(facts, name)) is not None and s.value
    ]
    if forbids:
        raise NotApplicable(f"{forbids[0].name} is set")
    yield Found(
        message=f"NCCL does not use the NVLinks between these GPUs: {measured.in_words()}.",
        proof=seen(measured),
        about=measured_on(facts, measured.of),
        fixes=(_LET_IT_SAY,),
    )
