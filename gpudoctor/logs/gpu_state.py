"""What holds a GPU back or closes it, as programs and people say it: busy, unlicensed, throttled, a slow link, faults of programs."""

from __future__ import annotations

from .language import Kind, Language, Tell, Values
from .notebook import Notebook

_SYMPTOM, _SAID = 1, -1
_LOST, _MISMATCH, _UNKNOWN = 15, 18, 999
_LINK = r"\b(?:(?:pci-?e ?)?gen(?:eration)? ?[123]\b|(?:pci-?e ?)?[123]\.[01]\b|x ?[1248]\b|\b[1248]x\b|(?:link )?gen\w* (?:max )?\d current [12]\b)"
"""A PCIe link that is not all that it could be."""


def _no_gpu(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.devices", (), line, _SYMPTOM)


def _nvml(code: int) -> Tell:
    def tell(_values: Values, line: int, notes: Notebook) -> None:
        notes.tell("gpu.nvml_error", code, line, _SAID)

    return tell


LANGUAGE = Language(
    name="gpu",
    words=(
        "undefined symbol: cu", "busy or unavailable", "DEVICE_UNAVAILABLE", "DEVICES_UNAVAILABLE", "icens", "icenc", "Power Cap", "PowerCap", "POWER_CAP", "power cap", "hrottl", "PerfCap", "Gen", "gen ",
        "ILLEGAL_ADDRESS", "illegal memory access", "LAUNCH_FAILED", "launch failure", "Registered devices", "PCIe bandwidth", "Width", "PCIe", "PCIE", "PCI-E", "pcie", "PCI-e", "device ordinal", "num_gpus", "InvalidDevice", "device_count", "Invalid device", "Invalid CUDA",
        "supported devices found", "visible GPU devices", "CUDA_DRIVER", "RequiresNewerDriver", "ABI_VERSION", "ABI version", "installed CUDA driver", "IllegalAddress", "LaunchFailure", "too old", "returned 35", "(35 vs", "rror 35", "rror: 35", "ode 35", "ode: 35", "failure 35", "code=35", "#35", "Insufficient CUDA driver", "Slowdown", "is not supported by", "which supports up to", "nvenc API", "nvml", "NVML", "ismatch", "asons.active",
    ),
    kinds=(
        Kind("device-busy", r"busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE|cudaErrorDevicesUnavailable", "op-fails"),
        Kind(
            "vgpu-no-licence",
            r"Failed to (?:acquire|obtain|fetch) (?:a )?[Ll]icen[sc]e|Valid GRID [Ll]icense not found|[Uu]nlicensed vGPU|vGPU (?:is )?[Uu]nlicensed"
            r"|Status {1,40}: Unlicensed|vGPU[^\n]{0,40}throttl\w{1,4} without a licen[sc]e",
        ),
        Kind("licence-acquired", r"(?i:\blicen[sc]e (?:\w+ )?(?:acquired|renewed|obtained)\b|\balready licen[sc]ed\b)"),
        Kind("names-vgpu-licence", r"(?:vGPU|GRID|gridd)[^\n]{0,80}\b[Ll]icen[sc](?:e|ing)|\b[Ll]icen[sc](?:e|ing)[^\n]{0,80}(?:vGPU|GRID)\b"),
        Kind(
            "power-cap-slows",
            r"(?:[Tt]hrottl|[Cc]locks? (?:go|goes|drop|drops|fall|falls)\b)[^\n]{0,80}S[Ww] [Pp]ower [Cc]ap"
            r"|S[Ww] [Pp]ower [Cc]ap[^\n:]{0,80}(?:[Tt]hrottl|[Cc]lock)|\bS[Ww] [Pp]ower [Cc]ap {0,40}: ?Active\b[^\n]{0,80}\b(?:slow|limit|thrott)",
            "runs-slowly",
        ),
        Kind("power-cap-named", r"\bsw_power_cap\b\W{1,3}(?:is )?active\b|^\W{1,6}S[Ww] [Pp]ower [Cc]ap: Active\W{0,3}$|(?<![a-z])reasons\.active\W{1,4}0x0*4\b|\bnvmlClocks(?:Throttle|Event)ReasonSwPowerCap\b|\bSW_POWER_CAP\b", "runs-slowly"),
        Kind(
            "thermal-throttle",
            r"(?<![a-z])reasons\.active\W{1,4}0x0*(?:20|40|48|60|68)\b|[Tt]hermal(?:ly)? [Tt]hrottl(?!\w{0,3}\W{1,8}(?:0|no|none|never|not active|inactive)\b)|\bThermal Slowdown ?: ?Active\b|\bPerfCap(?: [Rr]eason)?\W{1,4}(?:is )?[\"'\u201c]?Thrm\b|[Tt]hrottl\w{1,4} (?:due to|because of) (?:the )?(?:heat|temperature|overheating)",
            "runs-slowly",
        ),
        Kind(
            "link-slow-at-work",
            r"^(?![^\n]{0,300}(?i:nvme|\bssd|\bdisk|\bnic\b))[^\n]{0,200}?\bWidth x[124] \(downgraded\)[^\n]{0,60}\b(?:while|during|under) (?:\w+ ){0,2}(?:training|load|it trains)|\b[Gg]en ?[12]\b(?![^.\n]{0,60}\bidle)[^.\n]{0,60}\b(?:under load|during|while|for|of) ?[^.\n]{0,60}(?:load|training)\b",
            "runs-slowly",
        ),
        Kind(
            "link-called-slow",
            rf"(?i:\bpci-?e\b(?![^.\n]{{0,80}}\b(?:idle|power sav))[^\n]{{0,60}}\b(?:degrad\w*|downgrad\w*|drop(?:s|ped)?|went down|goes down|down|falls?|fell|stuck|only|limited|reduced|lower|instead of|current(?:ly)?)\b[^\n]{{0,40}}{_LINK})"
            rf"|(?i:{_LINK}[^.\n]{{0,30}}\b(?:instead of|rather than|not) (?:pci-?e ?)?(?:gen ?)?(?:[345]\.0|[345]|x ?(?:8|16))\b)",
            "runs-slowly",
        ),
        Kind("illegal-address", r"CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress|an illegal memory access was encountered", "op-fails"),
        Kind("launch-failed", r"CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure|unspecified launch failure", "op-fails"),
        Kind(
            "driver-refused",
            r"CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER|OPTIX_ERROR_UNSUPPORTED_ABI_VERSION|driver does not support ABI version|cudaErrorCallRequiresNewerDriver|API call is not supported in the installed CUDA driver|NVIDIA driver on your system is too old|CUDA \d{1,2}\.\d{1,2} is not supported by(?: your driver|$)|your driver \(which supports up to \d"
            r"|[Dd]river does not support the required nvenc API|CUDA driver (?:version |library )?is too old\b|CUDA driver version too old\b|cudaGetDeviceCount(?:\(\))? returned 35\b|\(35 vs\.? 0\)|(?i:\bcuda (?:initiali[sz]ation )?(?:failure|error)(?: with error)?(?: code)?:? 35\b)|\bcode=35\(|\b(?i:cuda\w{0,24}(?:\(\))?,? (?:error|failed|fails|failure|returned|returns)\b[^\n\d]{0,20}#?35\b)(?![.,:]?\d| ?%)|Insufficient CUDA driver: \d"
            r"|(?<!/stubs/)\blibcuda\.so(?:\.\d[\d.]{0,12})?: undefined symbol: cu[A-Z]\w{3,60}"
            r"|(?:undefined symbol|symbol not found|[Cc]ould not find symbol|symbol lookup error)\W{1,3}['\"]?nvml[A-Z]\w{3,60}",
            "op-fails",
        ),
        Kind(
            "wrong-ordinal",
            r"(?i:\binvalid device ordinal)|device >= 0 && device < num_gpus|cudaErrorInvalidDevice\b|torch\.cuda\.device_count\(\) is \d"
            r"|AssertionError: Invalid device id|Invalid CUDA '?device=\d",
            "op-fails",
        ),
        Kind(
            "nvml-said-mismatch",
            r"(?i:\bnvml (?:version )?mismatch|\bdriver ?(?:/|and|vs\.?) ?library (?:version )?mismatch)(?<!Driver/library version mismatch)(?<!driver/library version mismatch)",
            "nvidia-smi-fails",
            _nvml(_MISMATCH),
        ),
        Kind("nvml-said-unknown", r"\bNVML (?:says |gives )?(?i:unknown error)\b", "nvidia-smi-fails", _nvml(_UNKNOWN)),
        Kind("nvml-said-lost", r"\bNVML: [^\n]{0,60}\berror code 15\b", "nvidia-smi-fails", _nvml(_LOST)),
        Kind("platform-without-devices", r"no supported devices found for platform CUDA|backend 'cuda': [^\n]{0,40}No visible GPU devices", "op-fails"),
        Kind("registered-without-gpu", r"Registered devices: \[(?:CPU|XLA_CPU)(?:, ?(?:CPU|XLA_CPU))?\]", "op-fails", tell=_no_gpu),
    ),
)  # fmt: skip
