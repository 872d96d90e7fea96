"""What the kernel's log proves. A line from hours ago about a GPU that works now is history."""

from __future__ import annotations

from gpudoctor import compat
from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks._cuinit import own_libraries
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._gpus import measured_on, on_bus
from gpudoctor.checks._kernel_log import blamed, cleared, named, of_text, shown, told
from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import Facts, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check
from gpudoctor.verdicts import places

_NO_GPU = ("tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails", "cuinit-no-answer")
_GSP_TIMEOUT = (119, 120)
_APPLICATION = (13, 31, 43, 45)
_LOST, _NEEDS_RESET = 15, 16
_IN_TEXT = ("gpu-faults", "op-fails", "nvidia-smi-fails", "collective-fails")
"""Symptoms of a text that a GPU out of order brings about."""


@check(
    "GD116",
    "driver-secure-boot",
    stage=Stage.DRIVER,
    explains=(
        *SHOWN,
        "driver-module-not-loaded",
        "driver-kernel-incompatible",
        "tf-lists-no-gpu",
        "cuinit-no-device",
        "cuinit-fails",
    ),
)
def driver_secure_boot(facts: Facts) -> Findings:
    """Secure Boot keeps the NVIDIA kernel module from loading.

    What it looks at: whether Secure Boot (or kernel lockdown) is on, the driver's libraries are installed, a GPU is on
    the bus and the kernel module is not loaded, and the kernel's log says that it rejected an unsigned module. All of
    them together are the proof; Secure Boot alone is no fault.

    Why it matters: a module that was built on this machine (DKMS) is signed with a key that the firmware does not
    know. The kernel refuses it, and the GPU has no driver.

    How to fix: enroll the key that signed it (mokutil, then confirm at the next boot), install the distribution's signed
    modules, or switch Secure Boot off in the firmware.

    Source: Linux kernel, kernel/module/signing.c ('Loading of … is rejected') and kernel_lockdown(7).
    """
    if told := decided(facts, "driver-secure-boot"):
        yield Found(
            message="The kernel refuses NVIDIA's module: it is not signed with a key that Secure Boot knows.",
            proof=lines(told),
            fixes=(fix.ENROLL,),
        )
        return
    if known(facts.system.container) is not None:
        raise NotApplicable("the driver of a container is the host's")
    if facts.driver.kernel_version is not None:
        return f"the kernel module {known(facts.driver.kernel_version)} is loaded"
    if not any(d.is_nvidia_gpu for d in known(facts.pci.devices)):
        raise NotApplicable("no NVIDIA GPU is on the PCI bus")
    locked = facts.system.lockdown in ("integrity", "confidentiality")
    if not locked and known(facts.system.secure_boot) is not True:
        return "Secure Boot is not on"
    if not own_libraries(known(facts.driver.libcuda.candidates)):
        return "no library of the driver is installed"
    rejected = [e for e in known(facts.system.kernel_log) if e.kind == "module-rejected"]
    if not rejected:
        return "the kernel's log has no module that was rejected"
    state = "Secure Boot is on" if facts.system.secure_boot is True else f"kernel lockdown is {facts.system.lockdown}"
    yield Found(
        message=f"{state}, and the kernel rejected a module that is not signed with a key it knows; the NVIDIA module is "
        "not loaded.",
        proof=(Evidence(text=state, source="firmware and kernel settings"), *shown(rejected)),
        fixes=(fix.ENROLL,),
    )


@check(
    "GD117",
    "driver-rminit-failed",
    stage=Stage.DRIVER,
    explains=(*SHOWN, *_NO_GPU, "xid-hardware-fault"),
)
def driver_rminit_failed(facts: Facts) -> Findings:
    """The driver is loaded and could not bring a GPU up.

    What it looks at: lines of the kernel's log in which the driver says that RmInitAdapter failed, or that its open
    kernel module does not support a GPU, and whether CUDA (or NVML) lists that GPU now. A GPU that works now is
    left alone.

    Why it matters: the GPU is on the bus, the driver is installed, and no program sees it.

    How to fix: it depends on the numbers behind 'failed!'. Most often: power the machine off and on (a reboot is not
    enough), switch on 'Above 4G decoding' in the firmware, take the other flavour of the kernel module (open or
    proprietary), or another driver branch.

    Source: NVIDIA driver README, chapter 'Common problems'; NVIDIA/open-gpu-kernel-modules issue 789.
    """
    if told := decided(facts, "driver-rminit-failed"):
        yield Found(
            message="The driver is loaded and can't bring the GPU up.", proof=lines(told), fixes=(_bring_up(facts),)
        )
        return
    for address, events in blamed(facts, "rminit-failed").items():
        which = f"GPU {_product(facts, address)}" if address else "a GPU"
        unsupported = any("not supported by open" in e.text for e in events)
        yield Found(
            message=f"The driver could not bring {which} up"
            + (": the open kernel module does not support it." if unsupported else "."),
            proof=shown(events),
            about=named(facts, address),
            fixes=(fix.OTHER_FLAVOUR if unsupported else _power_cycle(),),
        )
    return cleared(facts, "RmInitAdapter failure")


def _bring_up(facts: Facts) -> Fix:
    """What a pasted text tells to do."""
    if facts.text.said("legacy-gpu"):
        return fix.LEGACY_BRANCH
    return fix.OTHER_FLAVOUR if facts.text.said("open-module-refuses", "open-modules-needed-said") else _power_cycle()


def _power_cycle() -> Fix:
    return Fix(
        kind="advice",
        risk="needs reboot",
        summary="Power the machine off, wait, and power it on; if it stays, switch on 'Above 4G decoding' in the firmware, "
        "try another driver branch, and put the GPU into another slot or machine",
        steps=(),
        verify="sudo dmesg | grep -i rminit; nvidia-smi",
    )


@check(
    "GD118",
    "xid119-gsp-timeout",
    stage=Stage.DRIVER,
    explains=(*_NO_GPU, "xid-hardware-fault"),
)
def xid119_gsp_timeout(facts: Facts) -> Findings:
    """The GPU's own system processor (GSP) stopped answering the driver.

    What it looks at: Xid 119 (GSP RPC timeout) and 120 (GSP error) in the kernel's log, and whether CUDA (or NVML)
    lists that GPU now. A GPU that works now is left alone. In a pasted text also the driver's report of the GSP's crash,
    which comes under other numbers, too (Xid 62).

    Why it matters: the GPU stays out of order until it is reset; programs hang or see one GPU less.

    How to fix: reset the GPU or reboot; update the driver. If it comes back, switch the GSP off where the GPU and the
    proprietary driver allow it (NVreg_EnableGpuFirmware=0), and ask the vendor.

    Source: NVIDIA, Xid Errors, 119 and 120.
    """
    if facts.text.is_all and (told_by := facts.text.said("xid-gsp")):
        yield Found(
            message="A GPU's system processor (GSP) stopped answering the driver.",
            proof=(*lines(told_by), *of_text(told_by)),
            fixes=(_remedy("RESTART_BM", None), _without_gsp()),
            explains=(*_NO_GPU, *_IN_TEXT, "xid-hardware-fault", "xid13-31-43-app-or-gpu-fault"),
        )
        return
    for address, events in blamed(facts, "xid", _GSP_TIMEOUT).items():
        yield Found(
            message=f"GPU {address} no longer answers: its system processor (GSP) timed out (Xid {events[-1].xid}).",
            proof=(*shown(events), *told(events)),
            about=named(facts, address),
            fixes=(_remedy("RESET_GPU", address),),
        )
    return cleared(facts, "Xid 119 or 120")


def _without_gsp() -> Fix:
    return Fix(
        kind="command",
        risk="needs reboot",
        summary="If it comes back: another driver release, or the proprietary driver without GSP (not on GPUs that need it: Blackwell)",
        steps=(
            "echo 'options nvidia NVreg_EnableGpuFirmware=0' | sudo tee /etc/modprobe.d/nvidia-gsp.conf",
            "sudo update-initramfs -u",
            "sudo reboot",
        ),
        verify="nvidia-smi -q | grep -i gsp",
    )


def _product(facts: Facts, address: str) -> str:
    return next((on_bus(d) for d in known(facts.pci.devices) if d.address == address), address)


def _remedy(action: str, address: str | None) -> Fix:
    """NVIDIA's immediate action as a fix."""
    if action == "RESET_GPU" and address is not None:
        return Fix(
            kind="command",
            risk="destructive",
            summary="End every program on this GPU and reset it; where that is refused, reboot",
            steps=(f"sudo nvidia-smi --gpu-reset -i {address}",),
            verify="nvidia-smi",
        )
    if action in ("RESET_GPU", "RESTART_BM"):
        return Fix(
            kind="command",
            risk="needs reboot",
            summary="Reboot (better: switch the machine off and on); if it comes back, have the card and its power looked at",
            steps=("sudo reboot",),
            verify="nvidia-smi",
        )
    summary = "Ask the vendor if it comes back (nvidia-bug-report.sh collects what they want to see)"
    if action == "CHECK_MECHANICALS":
        summary = "Switch the machine off, and check the power cables and how the card is seated"
    return Fix(
        kind="advice",
        risk="needs reboot",
        summary=summary,
        steps=(),
        verify="nvidia-smi",
    )


@check("GD131", "xid-hardware-fault", stage=Stage.DRIVER, explains=_NO_GPU)
def xid_hardware_fault(facts: Facts) -> Findings:
    """A GPU went out of order with an error that a program can't cause.

    What it looks at: Xids in the kernel's log for which NVIDIA's catalog says to reset the GPU, to reboot, to check
    power and seating, or to ask the vendor, and whether CUDA (or NVML) lists that GPU now. A GPU that works now is left
    alone, and so are Xids that have a check of their own (119, 120) and GPUs that NVML calls lost.

    Why it matters: the GPU stays out of order until that is done; programs see one GPU less, or none.

    How to fix: what NVIDIA recommends for this number; `gpudoctor compat xid NUMBER` shows it.

    Source: NVIDIA, Xid Errors, Xid catalog (compat/xid.json).
    """
    devices = facts.gpu.devices
    if not isinstance(devices, Unread) and any(d.nvml_error in (_LOST, _NEEDS_RESET) for d in devices):
        raise NotApplicable("NVML says itself which GPU is lost or waits for a reset")
    actions = {
        x.code: x.action
        for x in compat.xids().xids
        if x.meaning is not None
        and x.action in ("RESET_GPU", "RESTART_BM", "CHECK_MECHANICALS", "CONTACT_SUPPORT")
        and x.code not in _GSP_TIMEOUT
    }
    if facts.text.is_all and (told_by := facts.text.said("xid-other", "xid-link")):
        hit = [e for e in told_by if int(e.values.get("xid", 0)) in actions and not _follows_a_program(facts, e)]
        late = {_CONTEXT_SWITCH} | ({_HALT} if facts.text.said("gsp-history", "xid-gsp") else set())
        hit = [e for e in hit if int(e.values["xid"]) not in late]
        if not hit:
            undecided("sudo dmesg | grep -i xid; nvidia-smi")
        yield Found(
            message=f"A GPU reported Xid {hit[-1].values['xid']}, which a program can't cause.",
            proof=(*lines(hit), *of_text(hit)),
            fixes=(_remedy(actions[int(hit[-1].values["xid"])] or "", None),),
            explains=(*_NO_GPU, *_IN_TEXT, "xid13-31-43-app-or-gpu-fault"),
        )
        return
    for address, events in blamed(facts, "xid", tuple(actions)).items():
        last = events[-1].xid or 0
        known_as = compat.xid(last)
        yield Found(
            message=f"{'GPU ' + _product(facts, address) if address else 'A GPU'} is out of order; the kernel's log has Xid {last} "
            f"of it: {known_as.meaning if known_as else 'unknown'}.",
            proof=(*shown(events), *told(events)),
            about=named(facts, address),
            fixes=(_remedy(actions[last] or "", address),),
        )
    return cleared(facts, "such Xid")


def _follows_a_program(facts: Facts, event: TextEvent) -> bool:
    """Whether the same GPU reported a program's fault within the minutes before: what comes after may be its consequence."""
    log = facts.system.kernel_log
    xids = [] if isinstance(log, Unread) else [k for k in log if k.kind == "xid" and k.seconds is not None]
    own = next((k for k in xids if k.text == event.text[: len(k.text)]), None)
    if event.kind != "xid-other" or own is None:
        return False
    before = [k for k in xids if k.xid in _OF_A_PROGRAM and k.pci_address == own.pci_address is not None]
    return any(0 <= (own.seconds or 0.0) - (k.seconds or 0.0) < _SOON_S for k in before)


_OF_A_PROGRAM, _SOON_S = (13, 31), 120.0
_CONTEXT_SWITCH, _HALT = 109, 62
"""What a program that went wrong does not give back in time; a microcontroller that stops, as it does when the GSP has."""
_CLEANED_UP = "45"
"""A channel was stopped for another error."""


@check("GD814", "xid13-31-43-app-or-gpu-fault", stage=Stage.USE, explains=("op-fails",))
def xid13_31_43_app_or_gpu_fault(facts: Facts) -> Findings:
    """The GPU reported a fault while an operation ran on it.

    What it looks at: Xid 13 (graphics engine exception), 31 (memory page fault), 43 and 45 (channel stopped) that came
    into the kernel's log while gpudoctor ran an operation on that GPU, and that operation failed. Older lines
    are history: any program with a wild pointer makes them.

    Why it matters: in a program of one's own these mean a bug in it. gpudoctor's operations are TensorFlow's own and
    give right numbers elsewhere, so what is left is the GPU, its driver, or a build of TensorFlow that does not fit.

    How to fix: run NVIDIA's diagnostic on the GPU; if other GPUs of the machine pass with the same software, it is the GPU.

    Source: NVIDIA, Xid Errors, 13, 31, 43 and 45.
    """
    if facts.text.is_all:
        told_by = said(facts, "xid-program", settle="sudo dmesg | grep -i xid")
        if facts.text.said("xid-link", "xid-memory") and all(e.values.get("xid") == _CLEANED_UP for e in told_by):
            undecided("sudo dmesg | grep -i xid")
        one = len({e.values["address"] for e in told_by if "address" in e.values}) == 1 and len(told_by) > 1
        yield Found(
            message="A GPU reported a fault while a program ran: the program's error, or the GPU's"
            + (" (it is the same GPU each time)." if one else "."),
            proof=(*lines(told_by), *of_text(told_by)),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Run the same program on another GPU: if it fails there too, it is the program; if not, the GPU",
                    steps=("CUDA_VISIBLE_DEVICES=1 python3 …", "sudo dcgmi diag -r 3"),
                    verify="sudo dmesg | grep -i xid",
                ),
            ),
            explains=_IN_TEXT,
        )
        return
    failed = [m for m in facts.measurements if m.failed and m.device.startswith("GPU:")]
    if not failed:
        raise NotApplicable("no operation failed on a GPU")
    events = [e for e in known(facts.system.kernel_log_during) if e.kind == "xid" and e.xid in _APPLICATION]
    if events:
        known(facts.driver.libcuda.devices)
    for device, first in {m.device: m for m in failed}.items():
        addresses = {p.cuda.pci_address for p in places(facts, first) if p.cuda is not None}
        mine = [e for e in events if e.pci_address in addresses]
        if mine:
            numbers = ", ".join(sorted({str(e.xid) for e in mine}))
            yield Found(
                message=f"{device} reported Xid {numbers} while gpudoctor's operation ran on it, and the operation failed.",
                proof=(*shown(mine), *told(mine)),
                about=measured_on(facts, first),
                fixes=(
                    Fix(
                        kind="command",
                        risk="needs root",
                        summary="Run NVIDIA's diagnostic (package datacenter-gpu-manager) while nothing else uses the GPU",
                        steps=("sudo dcgmi diag -r 3",),
                        verify="gpudoctor check",
                    ),
                ),
            )
    return "no Xid of the GPU came into the kernel's log while its operation failed"
