"""The hardware in the kernel's log and in what programs say of it: Xids, GPUs that are lost, memory errors, bus errors."""

from __future__ import annotations

import re

from ..facts import KernelEvent
from .language import Kind, Language, Understood
from .notebook import Notebook

_FAULT = "gpu-faults"
_HEX = r"[0-9a-fA-F]"


def _xid(numbers: str) -> str:
    """What a line with one of these Xids holds: the driver's own line, or how people and monitors name it."""
    return (
        rf"\bcaused by previous Xid (?P<xid3>{numbers})\b|(?<!expr: )\bDCGM_FI_DEV_XID_ERRORS(?:\{{[^}}\n]{{0,600}}\}})?(?: ?[=:] ?| (?:is |was )?)(?P<xid4>{numbers})\b(?![.:]\d)"
        rf"|\bDCGM_EXP_XID_ERRORS_COUNT\{{[^}}\n]{{0,500}}\bxid=\"(?P<xid5>{numbers})\""
        rf"|\bX[Ii][Dd] \((?:PCI:)?(?P<address>{_HEX}{{2,8}}(?::{_HEX}{{2}}){{1,2}}(?:\.\d)?)[^)]{{0,30}}\):? ?(?P<xid>{numbers})\b(?![^\n]{{0,160}}caused by previous Xid)"
        rf"|(?<![Nn]o )(?<![Nn]ot )(?<!any )(?<!without )\bX[Ii][Dd](?: error| code| event)?s?\s?[:=#(]?\s?(?P<xid2>{numbers})\b(?![.:]\d)"
    )


_LOST = r"(?:fallen|fell|falls|fall|falling|dropped|drops) (?:off|out) (?:of )?the (?:PCI(?:e|-E)? )?bus"
_UNCORRECTABLE = (
    r"(?<!no )(?<!No )(?<!0 )(?<!out )(?i:\buncorrectable (?:double bit |volatile )?ECC error|uncorrectable double bit error|double bit ECC error)(?!s? {0,20}[:=] {0,4}0)"
    r"|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable|ECC_UNCORRECTABLE"
)
_MACHINE = r"\b(?:[Cc]omputer|[Mm]achine|PC|pc|[Ss]ystem|(?<![Jj]upyter )[Ss]erver|[Ww]orkstation|[Bb]ox|[Rr]ig|[Ll]aptop|[Dd]esktop|Windows(?: \d{1,2})?)"
_GOES_DOWN = (
    r"(?:cold[- ](?:re)?boots?|(?:re)?boots? (?:itself|by itself|automatically|randomly|suddenly)|(?:reboots|restarts|resets)\b|shuts? (?:itself )?(?:off|down)\b"
    r"|(?:auto-?|will )shut ?downs?\b|turns? (?:itself )?off\b|powers? (?:itself )?off\b|(?:goes|went) (?:down|dark)\b|los(?:es|t) power\b|switch(?:es)? (?:itself )?off\b|crash(?:es)?[ /,](?:and )?(?:then )?(?:re)?(?:boots?|starts?)\b)"
)
_TAKES_DOWN = (
    rf"(?:(?:[Ss]huts?|[Pp]owers?|[Tt]urns?|[Ss]witches) (?:off |down )?(?:my |the |his |our )?{_MACHINE} ?(?:off|down)\b|(?:[Pp]owers|[Ss]huts|[Tt]urns|[Ss]witches) (?:off|down) (?:my |the |our )?{_MACHINE}|[Ss]hut(?:s )?downs? (?:my |the |our )?{_MACHINE}"
    rf"|(?:[Rr]eboots|[Rr]estarts|[Rr]esets) (?:my |the |our )?{_MACHINE})"
)
"""What a program does to the machine."""
_CHINESE = r"(?:训练|运行|跑|train)[^\n。]{0,30}(?:电脑|主机|机器|服务器)[^\n。]{0,8}(?:重启|关机|断电|死机)|(?:电脑|主机|机器|服务器)[^\n。]{0,8}(?:重启|关机|断电)[^\n。]{0,20}(?:训练|GPU|显卡)"
_NO_KERNEL = r"(?![^\n]{0,80}\b(?:[Kk]ernel|[Nn]otebook|[Cc]ontainer|[Pp]od)\b)[^.;\n]{0,60}"
"""Between the machine and what it does: a notebook's kernel that restarts is another matter."""
_AT_WORK = r"(?:train\w*|running|runs|during|fit\b|under load|using (?:the )?GPU|gpu_?burn|epoch|example|\bGPUs?\b)"


_GSP_CRASHED = r"\bGSP-CrashCat\b|\bGSP task (?:exception|panic)|\bGSP task watchdog timeout @|kgspRpcGspEventPmuHalted|signal from GSP that PMU has halted"
"""The driver's report of its processor's crash, which comes under Xid 62 and others, too."""
_PROGRAM, _GSP, _MEMORY, _REPAIR = "8|13|31|32|43|45|68|69", "119|120", "48|94|95|140|171|172", "63|64|92"
_LINK, _LOST_NUMBER, _FOLLOWS = "74|137|144|145|146|147|148|149|150", "79", "154|155|156"


class _Kernel(Language):
    """Lines of the kernel's log are facts of their own."""

    def line(self, text: str, number: int, notes: Notebook) -> Understood | None:
        """What a line says; what the kernel said is written down."""
        said = super().line(text, number, notes)
        kind = _LOGGED.get(said.kind) if said is not None else None
        if said is None or kind is None:
            return said
        where, xid = said.values.get("address"), said.values.get("xid")
        if kind == "xid" and not (where and xid):
            return said  # told by somebody, not by the kernel
        seconds = re.match(r"\[ {0,8}(\d{1,9}\.\d{1,9})\]", text)
        event = KernelEvent(
            kind=kind,
            text=text[:300],
            xid=int(xid) if xid and kind == "xid" else None,
            pci_address=_whole(where) if where else None,
            seconds=float(seconds[1]) if seconds else None,
        )
        notes.add("system.kernel_log", event, number)
        return said


def _whole(address: str) -> str:
    """'0000:3b:00.0' for '3b:00.0' and '0000:3b:00'."""
    address = address.lower()
    address = address if address.count(":") == 2 else f"0000:{address}"
    return address if "." in address else f"{address}.0"


_LOGGED = {
    **dict.fromkeys(("xid-lost", "xid-gsp", "xid-memory", "xid-repair", "xid-link", "xid-program", "xid-other", "xid-follows"), "xid"),
    "aer-fatal": "aer", "aer-corrected": "aer", "iommu-fault": "iommu-fault", "iommu-fault-of-gpu": "iommu-fault",
}  # fmt: skip
"""Kind of a line -> that of the kernel's event."""
LANGUAGE = _Kernel(
    name="kernel log",
    words=(
        "is lost", "IsLost", "IS_LOST", "Xid", "XID", "DCGM_EXP_XID", "off the", "off of the", "out of the", "ECC", "GSP", "AER", "Bus Error", "DMAR", "IO_PAGE_FAULT", "device handle", "boot",
        "restart", "eset", "hut", "turns", "goes d", "went d", "power", "powers", "Powers", "ower goes off", "switches", "重启", "关机", "断电", "死机", "NVLINK_UNCORR", "NvlinkUncorr", "NVLink error", "over nvlink", "RC watchdog", "bad register read", "PSU", "ower supply", "ower Supply", " supply",
    ),
    kinds=(
        Kind("lost-supposed", r"(?i:^(?![^\n]{0,600}\bxid\b[^\n]{0,12}\b79\b)[^\n]{0,500}?(?:\b(?:thought|think|suspect\w{0,3}|wonder\w{0,3}|whether|maybe|perhaps|would|could|afraid|as if|like it)\b[^.\n]{0,60}|\b(?:no|not|never|none of)\b[^.\n]{0,24}|n't )\b(?:fallen|fell|falls|fall|falling|dropped|drops) (?:off|out) (?:of )?the (?:pci(?:e|-e)? )?bus)"),
        Kind("xid-lost", rf"{_xid(_LOST_NUMBER)}|{_LOST}|GPU is lost\. {{0,4}}(?:Please )?[Rr]eboot|NVMLError_GpuIsLost|NVML_ERROR_GPU_IS_LOST|: GPU is lost|GPU is lost \(15\)|(?:nvidia-smi|nvidia-nvsmi|nvsmi|NVML)\b[^.\n]{{0,40}}[\"'`]GPU is lost", _FAULT),
        Kind("xid-gsp", rf"{_xid(_GSP)}|Timeout (?:after \d{{1,4}}s of )?waiting for RPC (?:response )?from (?:GPU\d{{1,2}} )?GSP|_kgspLogRpcTimeout|GSP RM heartbeat timed out|{_GSP_CRASHED}", _FAULT),
        Kind("gsp-history", r"RPC (?:event )?history \(CPU (?:->|<-) GSP\)|\bGSP (?:RPC |RM |firmware |task )?(?:[Tt]ime-?[Oo]ut|[Ww]atchdog|[Cc]rash(?:es|ed)?\b|[Hh]ang(?:s|ing)?\b|[Pp]anic)|\*{4} GSP Failure \*{4}|NVRM: {1,10}-?\d{1,3} {2,6}\d{1,4} {2,4}GSP_RM_CONTROL\b|\bGSP (?:firmware|FW)\b[^.\n]{0,12}\b(?:fails?|failed|failing|stops?|stopped)\b", _FAULT),
        Kind("xid-memory", rf"{_xid(_MEMORY)}|{_UNCORRECTABLE}", _FAULT),
        Kind("xid-repair", _xid(_REPAIR), _FAULT),
        Kind(
            "xid-link",
            rf"{_xid(_LINK)}|CUDA_ERROR_NVLINK_UNCORRECTABLE|cudaErrorNvlinkUncorrectable|uncorrectable NVLink error detected|Invalid access of peer GPU memory over nvlink",
            _FAULT,
        ),
        Kind("sxid-fatal", r"\bSXid \(PCI[^)\n]{4,30}\): \d{5}, Fatal", _FAULT),
        Kind("gpu-locked", r"RC watchdog: GPU is probably locked", _FAULT),
        Kind("register-read-bad", r"Possible bad register read: addr", _FAULT),
        Kind("xid-program", _xid(_PROGRAM), _FAULT),
        Kind("xid-other", _xid(rf"(?!(?:{_FOLLOWS}|0)\b)\d{{1,3}}"), _FAULT),
        Kind("xid-follows", _xid(_FOLLOWS)),
        Kind("device-handle-unknown", r"Unable to determine the device handle for (?:GPU|gpu)[^\n]{0,60}: (?:Unknown Error|Not Found|GPU requires reset|Insufficient External Power|The NVIDIA kernel module detected an issue with GPU interrupts)", _FAULT),
        Kind("aer-fatal", r"AER: (?:Multiple )?Uncorrect(?:ed|able) \((?:Non-)?Fatal\)|PCIe Bus Error: severity=Uncorrected", _FAULT),
        Kind("aer-corrected", r"AER: (?:Multiple )?Correct(?:ed|able) error|PCIe Bus Error: severity=Corrected"),
        Kind("iommu-fault-of-gpu", r"nvidia \S{7,12}: (?:AMD-Vi|DMAR)[^\n]{0,40}(?:IO_PAGE_FAULT|fault)", _FAULT),
        Kind("iommu-fault", r"DMAR: \[[^\]]{0,60}\] Request device|DMAR: DRHD: handling fault|IO_PAGE_FAULT"),
        Kind(
            "machine-resets",
            rf"{_MACHINE}{_NO_KERNEL}\b{_GOES_DOWN}[^\n]{{0,160}}\b{_AT_WORK}|\b{_AT_WORK}[^.\n]{{0,120}}{_MACHINE}{_NO_KERNEL}\b{_GOES_DOWN}"
            rf"|{_TAKES_DOWN}[^\n]{{0,120}}\b{_AT_WORK}|\b{_AT_WORK}[^.\n]{{0,120}}\b{_TAKES_DOWN}|{_CHINESE}"
            rf"|\b(?:train\w{{0,3}}|GPU)\b[^\n]{{0,120}}\bthe power (?:goes|went|is cut) off\b",
            _FAULT,
        ),
        Kind("names-power-supply", r"\bPSU\b|\b[Pp]ower [Ss]upply\b|\b\d{3,4} ?W(?:att)? supply"),
    ),
)  # fmt: skip
