"""The kernel's log, modprobe, lsmod and mokutil: why NVIDIA's kernel module is not loaded, or does not bring a GPU up."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_DOES_NOT_LOAD = "driver-does-not-load"
_INSERTED = r"(?:could not insert|[Ff]ailed to insert|[Cc]annot insert|inserting)(?: module)? ?['\"]?(?P<module>\S{0,80}?nvidia[\w.-]*)[^:]{0,120}:"
_RELEASE = r"(?P<version>\d{2,3}\.\d+(?:\.\d+)?)"


def _loaded(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.kernel_version", values["version"], line)


def _secure_boot(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("system.secure_boot", values["state"].lower() not in ("disabled", "off"), line)


LANGUAGE = Language(
    name="kernel",
    words=(
        "NVRM", "nvidia", "NVIDIA", "API mismatch", "off the bus", "RmInit", "rm_init", "'off'", "UVM kernel", "GSP", "gsp", "nouveau", "module", "Module", "Secure", "secure", "bbswitch", "power state", "not insert", "- Device #",
    ),
    kinds=(
        Kind("gpu-went-out", r"fallen off the bus|\bXid \(PCI[^)]{4,30}\): (?:79|119|120)\b", once=True),
        Kind(
            "api-mismatch",
            r"API mismatch: (?:[Tt]he client|[Tt]he NVIDIA kernel module|[Tt]his NVIDIA)|this kernel module has the version \d",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "module-loaded",
            rf"(?:NVRM version: +|NVRM: loading )NVIDIA UNIX [\w ]{{1,30}}Kernel Module(?: for \w+)? +{_RELEASE}",
            tell=_loaded,
        ),
        Kind("gpu-held-by", r"NVRM: GPU \S+ is already bound to (?P<driver>[\w-]+)", _DOES_NOT_LOAD),
        Kind("registers-claimed", r"NVRM: request_mem_region failed", _DOES_NOT_LOAD),
        Kind("probe-not-called", r"NVIDIA probe routine was not called for", _DOES_NOT_LOAD),
        Kind(
            "open-module-refuses",
            r"not supported by (?:the )?open\b|does not include the required GPU|Open nvidia\.ko is only ready"
            r"|requires use of the NVIDIA open kernel modules",
            _DOES_NOT_LOAD,
        ),
        Kind("legacy-gpu", r"supported through the NVIDIA (?P<branch>\d{2,3})\.[\dx.]{1,8} Legacy drivers", _DOES_NOT_LOAD),
        Kind("gpu-not-supported", r"installed in this system is not supported by the", _DOES_NOT_LOAD),
        Kind(
            "bar-unassigned",
            r"PCI I/O region assigned to your NVIDIA device is invalid|64-bit BAR mapped above \d{1,2}[GT]B|NVRM: BAR\d is 0M|BIOS may have misconfigured your",
            _DOES_NOT_LOAD,
        ),
        Kind("bar-no-room", r"nvidia \S{7,12}: BAR \d: (?:no space for|failed to assign)"),
        Kind(
            "rminit-failed",
            r"RmInitAdapter(?: failed|: Cannot)|rm_init_adapter(?:\(\d+\))? failed|RmFetchGspRmImages: No firmware|NVRM: [^\n]{0,40}rm_init_(?:rm|private_state)\(\) failed"
            r"|need firmware to initialize GSP|unexpected WPR2 already up|osInitNvMapping: \*{3} Cannot attach gpu"
            r"|kgspBoot\w{0,24}: [^\n]{0,60}(?:error|fail|cannot proceed)|cannot bootstrap riscv/gsp|GSP-FMC reported an error|\bGSP (?:firmware |RM )?(?:fail(?:s|ed) to|does(?: not|n't)|can(?:not|'t)) (?:boot|start)\b",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "probe-failed",
            r"nvidia(?: [0-9a-f:.]{7,12})?: probe (?:of \S{7,12}|with driver nvidia) failed|NVIDIA probe routine failed for"
            r"|None of the NVIDIA (?:graphics adapters|devices) were initialized|NVRM: pci_enable_device failed|NVRM: Can't find an IRQ for your NVIDIA"
            r"|NVRM: Fatal Error while attempting to resize PCIe BARs",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "smi-does-not-work",
            r"nvidia-smi\W{0,2} (?:command )?(?:no longer|does(?:n't| not)|did(?:n't| not)|is not|isn't|stopped) (?:work|run)(?![^\n]{0,80}\b(?:[Dd]ocker|[Cc]ontainers?|[Pp]ods?|not found)\b)",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "module-called-absent",
            r"\b[Nn]vidia (?:kernel )?(?:modules?|driver) (?:(?:is|are|was|were|does|do|did|will|would|can|could) ?(?:not|n't)|isn't|aren't|doesn't|won't|not|never|fails? to|refuses to) (?:be(?:ing)? |get )?load",
            _DOES_NOT_LOAD,
        ),
        Kind("module-finds-no-gpu", r"NVRM: No NVIDIA (?:GPU|graphics adapter|(?:PCI )?devices?) (?:found|probed)", _DOES_NOT_LOAD),
        Kind(
            "module-key-rejected",
            rf"{_INSERTED} ?(?:Required key not available|Key was rejected by service)|nvidia\S{{0,20}}: Loading of (?:unsigned )?module"
            r"|nvidia[\w/-]{0,24} (?:kernel )?modules?(?: keys?)? (?:are |is |were |was |get )?rejected",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "other-module-key-rejected",
            r"(?:could not insert|[Ff]ailed to insert) (?:module )?['\"]?[\w-]{1,40}['\"]?: (?:Required key not available|Key was rejected by service)",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "unsigned-module-rejected",
            r"Loading of (?:unsigned module|module with unavailable key) is rejected|unsigned module loading is restricted",
        ),
        Kind("benign-module-signature", r"nvidia\S{0,12}: module verification failed: signature"),
        Kind("benign-module-taints", r"nvidia\S{0,12}: (?:loading out-of-tree module taints|module license 'NVIDIA' taints|module uses symbols \S{1,60} from proprietary module)"),
        Kind(
            "module-switched-off",
            r"(?:could not insert|find module by name=) ?'off'|Module off not found|modprobe.{0,40}\balias nvidia off",
            _DOES_NOT_LOAD,
        ),
        Kind("module-asked-of-wsl", r"Module nvidia\S{0,20} not found in directory /lib/modules/\S{0,60}microsoft"),  # which never has one
        Kind("uvm-module-not-found", r"(?:FATAL|ERROR): Module nvidia[-_]uvm not found|Could not load UVM kernel module", _DOES_NOT_LOAD),
        Kind(
            "module-not-found",
            r"(?:FATAL|ERROR): Module (?P<module>nvidia(?:-current|-open)?) not found"
            r"|could not find module by name='(?P<module2>nvidia[\w-]{0,12})'",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "module-kept-out",
            r"running install command '?/(?:usr/)?bin/(?:false|true)'? for module nvidia|[Mm]odule nvidia\S{0,10} is blacklisted",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "module-of-other-kernel",
            rf"{_INSERTED} ?(?:Exec format error|Invalid module format)"
            r"|nvidia\S{0,20}: (?:version magic|disagrees about version of symbol)",
            _DOES_NOT_LOAD,
        ),
        Kind("module-gpl-symbol", r"GPL-incompatible module nvidia\S{0,20} uses", _DOES_NOT_LOAD),
        Kind("module-unknown-symbol", rf"{_INSERTED} ?Unknown symbol|nvidia\S{{0,20}}: Unknown symbol", _DOES_NOT_LOAD),
        Kind("module-no-device", rf"{_INSERTED} ?[Nn]o such device", _DOES_NOT_LOAD),
        Kind("module-no-modules", rf"{_INSERTED} ?Function not implemented", _DOES_NOT_LOAD),
        Kind("module-bad-argument", rf"{_INSERTED} ?Invalid argument", _DOES_NOT_LOAD),
        Kind("module-not-inserted", _INSERTED, _DOES_NOT_LOAD),
        Kind("nouveau-computes", r"^- Device #\d{1,2}: NV[0-9A-F]{2,3}, ", _DOES_NOT_LOAD),  # Mesa's OpenCL
        Kind(
            "nouveau-loaded",
            r"\bnouveau [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d: |fb\d: nouveau|Initialized nouveau|^nouveau +\d{5,} +\d"
            r"|[Dd]river[:=] ?nouveau\b|renderer(?: string)?: (?:nouveau|NV[0-9A-F]{2,3}\b)",
        ),
        Kind(
            "module-not-listed",
            r"^(?:(?!\b(?:if|says)\b)[^\n]){0,200}?\blsmod ?\| ?grep (?:-\w )?['\"]?nvidia['\"]?(?: -e \w{3,12})?\W{0,4} (?:\w+ ){0,2}?(?:nothing\b|is empty\b|(?:shows|prints|returns|gives|lists) nothing\b|empty\b|no output\b|没有(?:任何)?(?:输出|内容)|空)",
            _DOES_NOT_LOAD,
        ),
        Kind("nvidia-listed", r"^nvidia +\d{6,} +\d+"),
        Kind(
            "secure-boot",
            r"(?i:secure ?boot)(?:: | is | )(?P<state>(?i:enabled|disabled|on\b|off\b))|Kernel is (?P<state2>locked down) from EFI",
            tell=_secure_boot,
        ),
        Kind(
            "gpu-switched-off",
            r"bbswitch: (?:disabling discrete graphics|Succesfully loaded\. Discrete card \S+ is off|device \S+ is off)"
            r"|^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d OFF$",
        ),
        Kind(
            "gpu-does-not-wake",
            r"nvidia \S{7,12}: (?:Refused to|Unable to|can't) change power state|nvidia \S{7,12}: not ready \d+ms after resume",
            _DOES_NOT_LOAD,
        ),
    ),
)  # fmt: skip
