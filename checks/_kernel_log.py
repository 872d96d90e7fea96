"""What several checks ask of the kernel's log: is the GPU that a line names out of order now?"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable

from gpudoctor import compat
from gpudoctor.checks._cuinit import COMPAT_NOT_SUPPORTED, DRIVER_MISMATCH, NOT_READY, STUB
from gpudoctor.facts import Facts, KernelEvent, TextEvent, Unread, known
from gpudoctor.findings import Evidence

_NVML_MISMATCH = 18
_SHOWN = 5


def shown(events: Iterable[KernelEvent]) -> tuple[Evidence, ...]:
    """The last lines, each text once."""
    last = dict.fromkeys((e.text, e.seconds) for e in events)
    return tuple(
        Evidence(
            text=text, source="the kernel's log" + (f", {seconds:.0f} s after boot" if seconds is not None else "")
        )
        for text, seconds in list(last)[-_SHOWN:]
    )


def told(events: Iterable[KernelEvent]) -> tuple[Evidence, ...]:
    """What NVIDIA says of each Xid among these lines, and what to do about it."""
    found = []
    for code in dict.fromkeys(e.xid for e in events if e.xid is not None):
        one = compat.xid(code)
        if one is not None:
            meaning = one.meaning or one.older_meaning or one.mnemonic
            action = f"; NVIDIA's immediate action: {one.action_text}" if one.action_text else ""
            found.append(Evidence(text=f"Xid {code}: {meaning}{action}", source=one.source))
    return tuple(found)


def of_text(events: Iterable[TextEvent]) -> tuple[Evidence, ...]:
    """The same of the lines of a pasted text."""
    numbers = dict.fromkeys(int(e.values["xid"]) for e in events if "xid" in e.values)
    return told(KernelEvent(kind="xid", text="", xid=number) for number in numbers)


def logged(facts: Facts, address: str | Unread, xids: Iterable[int]) -> tuple[Evidence, ...]:
    """The lines with these Xids about the GPU (about any, where its address is not known), and what they mean.

    Nothing where the log can't be read: this is proof beside other proof.
    """
    log, wanted = facts.system.kernel_log, set(xids)
    if isinstance(log, Unread):
        return ()
    mine = [
        e
        for e in log
        if e.kind == "xid" and e.xid in wanted and (isinstance(address, Unread) or e.pci_address == address)
    ]
    return (*shown(mine), *told(mine))


def named(facts: Facts, address: str | None) -> tuple[str, ...]:
    """('gpu2',) for a GPU that NVML lists; nothing where it does not."""
    devices = facts.gpu.devices
    listed = () if isinstance(devices, Unread) else devices
    return tuple(f"gpu{d.index}" for d in listed if address is not None and d.pci_address == address)


def other_cause(facts: Facts) -> bool:
    """CUDA's own answer tells why nothing works: libraries that do not fit, or a fabric that is not ready."""
    lib = facts.driver.libcuda
    return (
        lib.path is None
        or lib.init_result in (STUB, NOT_READY, DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED)
        or facts.gpu.nvml_error == _NVML_MISMATCH
    )


def out_of_order(facts: Facts) -> tuple[str, ...]:
    """Addresses of the GPUs that this process should have and that CUDA does not list.

    A GPU that was given to others (a container, a job) is not missed: every node must be here and open to us. NVML
    must miss it, too: CUDA fails for other reasons as well, and leaves GPUs out by rule (CUDA_VISIBLE_DEVICES, MIG).
    """
    if other_cause(facts):
        return ()
    cuda, nvml = facts.driver.all_devices, facts.gpu.devices
    if isinstance(cuda, Unread):
        cuda = facts.driver.libcuda.devices
    if isinstance(cuda, Unread) and not isinstance(facts.driver.libcuda.no_answer, str):
        known(facts.driver.libcuda.init_result)
    alive = set() if isinstance(cuda, Unread) else {d.pci_address for d in cuda}
    if not isinstance(nvml, Unread):
        alive |= {d.pci_address for d in nvml if not isinstance(d.name, Unread)}
    if alive and not isinstance(nvml, Unread) and len(alive) >= len(nvml) and isinstance(facts.pci.devices, Unread):
        return ()  # nothing says that there are more
    on_bus = [d.address for d in known(facts.pci.devices) if d.is_nvidia_gpu]
    missed = tuple(address for address in on_bus if address not in alive)
    if not missed:
        return ()
    if not isinstance(cuda, Unread) and facts.environment.get("CUDA_VISIBLE_DEVICES") is not None:
        known(facts.driver.all_devices)
    nodes = [n for n in known(facts.driver.nodes) if re.fullmatch(r"/dev/nvidia\d+", n.path) and n.exists is True]
    refused = any(n.open_errno in (errno.EPERM, errno.EACCES) for n in nodes)
    return () if refused or len(nodes) < len(on_bus) else missed


def blamed(facts: Facts, kind: str, xids: tuple[int, ...] = ()) -> dict[str | None, list[KernelEvent]]:
    """The lines of this kind, by the GPU that is out of order now and that they name; None: they name none."""
    missed = out_of_order(facts)
    found: dict[str | None, list[KernelEvent]] = {}
    for event in known(facts.system.kernel_log) if missed else ():
        if event.kind == kind and (not xids or event.xid in xids) and event.pci_address in (*missed, None):
            found.setdefault(event.pci_address, []).append(event)
    return found


def cleared(facts: Facts, what: str) -> str:
    """Why `blamed` blames no GPU for such lines."""
    lib = facts.driver.libcuda
    if other_cause(facts):
        if lib.path is None:
            return "there is no libcuda.so.1"
        by_nvml = facts.gpu.nvml_error == _NVML_MISMATCH
        return "NVML is of another release" if by_nvml else f"cuInit answers {lib.init_result}, which has other causes"
    if out_of_order(facts):
        return f"the kernel's log has no {what} of the GPU that is missing"
    return "every GPU that this process may use answers"
