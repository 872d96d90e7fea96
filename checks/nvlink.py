"""NVLink: are the links of each GPU up?"""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor.checks import _speed
from gpudoctor.checks._gpus import about, gpus, title
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import left_open, speaks_of_speed, undecided
from gpudoctor.facts import Facts, GpuDevice, NvLink, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check


def _links(device: GpuDevice) -> tuple[NvLink, ...]:
    links = device.nvlinks
    return () if isinstance(links, Unread) or links is None else links


def _active(device: GpuDevice) -> list[NvLink]:
    return [link for link in _links(device) if link.active]


_MODULE = Pattern(r"SXM|HBM3$|H200$|B[23]00")
"""Names of products that are modules on a baseboard, no PCIe cards."""
_BOARD = 8
"""Modules of the largest board on which they are linked to each other."""


def _on_baseboard(facts: Facts, device: GpuDevice, count: int) -> bool:
    """Its links are part of the machine, to switches or between modules: where one has them, all have.

    Bridges between PCIe cards are bought and plugged: some cards of a machine may have none. A virtual machine may
    have a part of a board, and lack the links to the other part.
    """
    if isinstance(device.name, str) and _MODULE.search(device.name):
        direct = any(link.remote == "gpu" for link in _active(device))
        return bool(_active(device)) and (not direct or count >= _BOARD or not known(facts.system.hypervisor))
    return {known(link.remote) for link in _active(device)} == {"switch"}


Short = tuple[GpuDevice, int, GpuDevice]
"""A GPU, how many of its links are active, and a sibling that has more."""


def _short(facts: Facts, judge: Callable[[int], bool]) -> list[Short]:
    """GPUs with fewer active links than a sibling of their model, where their number is one to be judged here."""
    if facts.text.said("xid-link"):
        undecided("nvidia-smi nvlink -s")
    speaks_of_speed(facts)
    devices = gpus(facts)
    unread = next((d.nvlinks for d in devices if isinstance(d.nvlinks, Unread)), None)
    linked = [d for d in devices if _links(d)]
    if not linked and unread is None:
        raise NotApplicable("no NVLink on this product")
    if len(devices) < 2:
        raise NotApplicable("with one GPU there is no sibling to compare with")
    whole = [d for d in linked if not known(d.mig_mode)]  # in MIG mode there is no traffic between GPUs
    best: dict[str, GpuDevice] = {}
    for device in whole:
        name = known(device.name)
        if _on_baseboard(facts, device, len(devices)) and (
            name not in best or len(_active(device)) > len(_active(best[name]))
        ):
            best[name] = device
    short = [
        (device, len(_active(device)), best[known(device.name)])
        for device in whole
        if known(device.name) in best and len(_active(device)) < len(_active(best[known(device.name)]))
    ]
    hit = [one for one in short if judge(one[1])]
    if not hit and unread is not None:
        raise UnknownFactError(unread)
    if not short and not best:
        raise NotApplicable("no link here leads to a switch or is part of a whole board: it need not be everywhere")
    return hit


def _proof(device: GpuDevice, sibling: GpuDevice) -> tuple[Evidence, ...]:
    down = ", ".join(str(link.index) for link in _links(device) if not link.active)
    return (
        Evidence(
            text=f"GPU {device.index}: {len(_active(device))} of {len(_links(device))} links active (down: {down})",
            source="NVML, nvmlDeviceGetNvLinkState",
        ),
        Evidence(
            text=f"GPU {sibling.index}, of the same model: {len(_active(sibling))} active",
            source="NVML, nvmlDeviceGetNvLinkState",
        ),
    )


def _counts(facts: Facts) -> str:
    counts = sorted({len(_active(d)) for d in gpus(facts)})
    return f"{several(len(gpus(facts)), 'GPU')} with {' or '.join(map(str, counts))} active NVLinks each"


_LOOK = Fix(
    kind="advice",
    risk="safe",
    summary="Look at the links' state and errors, and at what the driver and the fabric manager say of them",
    steps=(
        "nvidia-smi nvlink -s",
        "nvidia-smi nvlink -e",
        "sudo dmesg | grep -iE 'nvlink|xid.*(74|144|145|149)'",
    ),
    verify="nvidia-smi nvlink -s",
)
_MEND = Fix(
    kind="advice",
    risk="needs reboot",
    summary="Reboot (links are trained when the driver and the fabric manager start); if the same links stay down, "
    "the module, the board or the switch needs service",
    steps=(),
    verify="nvidia-smi nvlink -s",
)


@check(
    "GD703",
    "nvlink-down",
    stage=Stage.SPEED,
    explains=("runs-slowly", *_speed.BETWEEN_GPUS),
)
def nvlink_down(facts: Facts) -> Findings:
    """No NVLink of a GPU is up, and its siblings' are.

    What it looks at: the state of every link that NVML knows, against GPUs of the same model in this machine.
    Only links on the baseboard are judged (to NVSwitch, or between SXM modules): bridges between PCIe cards need not
    be everywhere. Products without NVLink, and GPUs in MIG mode, are left out. What a link leads to counts
    by its kind: virtual machines hide the address (FFFFFFFF), which is no fault, and neither is a fabric state of 0.

    Why it matters: everything between this GPU and the others goes over PCIe, at a tenth of the rate, or fails.

    How to fix: look at the links' errors; reboot; then service.

    Source: NVML API reference, nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkRemoteDeviceType.
    """
    for device, _, sibling in _short(facts, lambda active: active == 0):
        yield Found(
            message=f"No NVLink of {title(device)} is up; GPU {sibling.index} has {len(_active(sibling))}.",
            proof=_proof(device, sibling),
            about=about(device),
            fixes=(_LOOK, _MEND),
        )
    return _counts(facts)


@check(
    "GD704",
    "nvlink-degraded",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=_speed.BETWEEN_GPUS,
)
def nvlink_degraded(facts: Facts) -> Findings:
    """A GPU has fewer active NVLinks than its siblings.

    What it looks at: the number of active links of each GPU, against GPUs of the same model in this machine.
    Only links on the baseboard are judged (to NVSwitch, or between SXM modules): bridges between PCIe cards need not
    be everywhere. Products without NVLink, and GPUs in MIG mode, are left out.

    Why it matters: the slowest GPU sets the pace of a collective.

    How to fix: look at the links' errors; reboot; then service.

    Source: NVML API reference, nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkRemoteDeviceType.
    """
    listed = facts.gpu.devices
    alone = isinstance(listed, Unread) or len(listed) < 2
    if alone and facts.text.is_all and facts.text.said("nvlink-inactive"):  # some machines do not wire them all
        raise left_open("nvidia-smi nvlink -s; nvidia-smi topo -m  # of all GPUs")
    for device, active, sibling in _short(facts, lambda active: active > 0):
        yield Found(
            message=f"{title(device)} has {active} active NVLinks, GPU {sibling.index} has {len(_active(sibling))}.",
            proof=_proof(device, sibling),
            about=about(device),
            fixes=(_LOOK, _MEND),
        )
    return _counts(facts)
