"""The services beside the driver: fabric manager, persistence daemon, licences of vGPUs, and what switches laptops' GPUs."""

from __future__ import annotations

from .language import Kind, Language

_DOES_NOT_LOAD = "driver-does-not-load"
_FABRIC = r"nvidia-fabric-?manager(?:\.service)?"

LANGUAGE = Language(
    name="services",
    words=(
        "abric", "Active:", "nv-fab", "NVSwitch", "persistenced", "gridd", "nlicensed", "NOTHING_TO_DO", "License Status", "secondary GPU", "umblebee",
        "discrete", "prime-", "Prime", "switching to", "current GPU", "intel profile", "license", "NOT_LICENSED", "nvidia-d", "nvidia-k", "nvidia-c", "nvidia-h", "NotLicensed", "GPU driver",
    ),
    kinds=(
        Kind(
            "fabric-manager-differs",
            r"NVIDIA GPU driver interface version (?P<library>\d[\d.]{2,15})(?:\s+don't match with driver version (?P<kernel>\d[\d.]{2,15}))?"
            r"|don't match with driver version (?P<kernel2>\d[\d.]{2,15})",
            _DOES_NOT_LOAD,
        ),
        Kind(
            "fabric-manager-release",
            r"^(?!(?:rc|un|pn|pi|in)\s)[^\n]{0,200}?\bnvidia-fabric-?manager(?:-\d{3})?(?:[ \t|]{1,40}|[-=])(?P<release>\d{3}\.\d{1,3}(?:\.\d{1,3})?)\b|Fabric ?Manager version is ?: ?(?P<release2>\d{3}\.\d{1,3}(?:\.\d{1,3})?)\b",
        ),
        Kind(
            "driver-package",
            r"^(?!(?:rc|un|pn|pi|in)\s)(?![^\n]{0,400}(?i:\b(?:wants?|would|candidate|available|could|should|removed?|purged?)\b))[^\n]{0,200}?(?:^|[\s*])nvidia-(?:driver|dkms|kernel-common|kernel-source|compute-utils|headless)(?:-\d{3})?(?:-server|-open){0,2}(?::\w{3,6})?(?:[ \t|]{1,40}\(?|[-=])(?:\d:)?(?P<release>\d{3}\.\d{1,3}(?:\.\d{1,3})?)\b",
        ),
        Kind("benign-no-nvswitch", r"NV_WARN_NOTHING_TO_DO"),
        Kind(
            "fabric-manager-failed",
            rf"{_FABRIC}: (?:Control process|Main process) exited|{_FABRIC}: Failed with result"
            rf"|[Ff]ailed to start (?:{_FABRIC}|NVIDIA fabric manager|Fabric ?[Mm]anager)|Job for {_FABRIC} failed"
            rf"|Unit {_FABRIC} (?:could not be found|is masked|not found)|Could not find the requested service nvidia-fabricmanager"
            rf"|{_FABRIC}: unrecognized service|{_FABRIC}\W{{0,3}} (?:is |was )?(?:not |n.t |isn.t )(?:currently )?(?:installed|running)"
            r"|lack of nvidia-fabricmanager|(?i:\bfabric[ -]?manager\b(?: service)?[^\n.]{0,24}(?:\bnot|n't) (?:\w+ ){0,2}(?:running|started|active|installed|enabled|up)\b|\bno (?:nvidia[- ])?fabric[ -]?manager\b(?: service)? (?:is (?:running|installed|active|started|there)|runs|exists)\b)",
        ),
        Kind("fabric-manager-unit", rf"^(?:[^\w ] )?{_FABRIC} - NVIDIA [Ff]abric"),
        Kind("unit-not-active", r"Active: (?P<state>inactive|failed|activating)"),
        Kind("persistenced-finds-none", r"Failed to query NVIDIA devices\.", _DOES_NOT_LOAD),
        Kind(
            "vgpu-unlicensed",
            r"License Status +: (?P<state>Unlicensed[\w ()]{0,30})|Failed to (?:acquire|obtain|get|renew|check ?out)(?:/\w{1,10})? (?:a |the )?licen[cs]e\b|nvidia-gridd(?:\[\d+\])?: [^\n]{0,60}(?:[Ff]ailed server communication|[Ll]icen[cs]e (?:has )?expired|[Ii]nvalid response from (?:the )?license)|Valid GRID license not found|CUDA_ERROR_DEVICE_NOT_LICENSED|cudaErrorDeviceNotLicensed|device doesn't have valid Grid license"
            r"|(?i:\bvgpu\b.{0,20}\bunlicensed|unlicensed vgpu)",
            "runs-slowly",
        ),
        Kind("laptop-gpu-off", r"secondary GPU - error: Could not enable discrete graphics card", _DOES_NOT_LOAD),
        Kind(
            "laptop-gpu-not-started",
            r"Cannot access secondary GPU|Could not load GPU driver|[Tt]he Bumblebee daemon has not been started",
            _DOES_NOT_LOAD,
        ),
        Kind("prime-intel", r"Info: (?:selecting|switching to|the current GPU (?:in use )?is:?|the)? ?(?:the )?intel\b|prime-select (?:is set to|says|query\)?:?) ['\"]?intel"),
    ),
    foreign=True,
)  # fmt: skip
