"""What people state of the driver: which flavour its kernel module must be, a module that they load by hand, headers of another
kernel than the one that runs. It is weak: it decides where no program's line says otherwise."""

from __future__ import annotations

from .language import Kind, Language, told

_KINDS: tuple[tuple[str, tuple[str, ...], str, bool], ...] = (
    (
        "open-modules-needed-said",
        ("open", "Open"),
        (
            r"(?i:^(?![^\n]{0,400}(?:\?$|\b(?:not|n't|never|no longer) (?:\w+ )?(?:need\w{0,3}|requir\w{1,4}|necessary|mandatory)\b))[^\n]{0,400}?(?:"
            r"\b(?:open(?:[- ]source)?(?:[- ](?:gpu|nvidia))?[- ]kernel[- ]modules?|(?:nvidia[- ])?open[- ](?:kernel )?(?:modules?|drivers?|variant|flavou?r)|nvidia-open(?:-dkms)?)[`'\"]? (?:is|are|was|were) (?:now |strictly |absolutely )?(?:required|needed|mandatory|a must|necessary|the only)\b"
            r"|\b(?:needs?|needed|requires?|must (?:use|have)|only works? with|only supported by) (?:the |nvidia's |to use the )?[`'\"]?(?:open(?:[- ]source)?(?:[- ](?:gpu|nvidia))?[- ]kernel[- ]modules?|(?:nvidia[- ])?open[- ](?:kernel )?(?:modules?|drivers?|variant|flavou?r)|nvidia-open(?:-dkms)?)\b))"
        ),
        False,
    ),
    (
        "driver-removed",
        ("nvidia-uninstall", "--uninstall", "purge", "emove", " -R", "erase", "ninstall", "urged", "eleted"),
        (
            r"^(?![^\n]{0,300}(?:\?$|\b(?i:re-?install\w*|install\w*|should|before|if|not|never|then)\b|n't\b|\bnvidia-container|\bnvidia-docker|\bcuda-toolkit))[^\n]{0,300}?(?:(?:^|[`$#>&;] ?|sudo |\b(?:ran|run|did|used|executed|called|with) [`'\"]?)nvidia-uninstall\b|\bNVIDIA-Linux-\S{3,60}\.run [^\n]{0,20}--uninstall"
            r"|\b(?:apt|apt-get|aptitude|yum|dnf|zypper)(?: -\S{1,12})* (?:--?\w+ )*(?:purge|remove|autoremove|erase)\b[^\n]{0,40}?[ '\"^](?:\.?\*)?(?:lib)?nvidia(?:-driver|-\d{3}|[*.-]|['\"\s]|$)|\bpacman -R\w{0,4} nvidia"
            r"|(?i:\b(?:removed|uninstalled|purged|deleted)(?: (?:all|the|my|every|of|old|proprietary)){0,3} nvidia(?:'s)?(?: (?:display|graphics|gpu|proprietary|kernel))? drivers?\b))"
        ),
        False,
    ),
    (
        "uvm-by-hand",
        ("nvidia_uvm", "nvidia-uvm"),
        (
            r"(?i:^(?![^\n]{0,400}\b(?:rmmod|unload\w*|suspend\w*|resum\w*|sleep|does(?:n't| not) help|did(?:n't| not) help|no (?:luck|difference))\b|[^\n]{0,400}\bmodprobe -r\b)[^\n]{0,400}?(?:"
            r"\b(?:after|once|with|when|if|until|unless|need to|have to|must|by) (?:\w+ ){0,3}?(?:an? )?[`'\"]?(?:sudo )?(?:modprobe|insmod|nvidia-modprobe -u|load(?:ing|ed)?)(?: the)? [`'\"]?nvidia[-_]uvm\b[^\n]{0,80}\b(?:works?|worked|fine|ok|runs?|starts?|fixe[sd]|solve[sd]|helps|helped|found|detected)\b"
            r"|\b(?:works?|worked|fine|ok|runs?|fixed|solved|detected)\b[^.\n]{0,30}\b(?:after|once|with|when|if|by) (?:\w+ ){0,3}?(?:an? )?[`'\"]?(?:sudo )?(?:modprobe|insmod|load(?:ing|ed)?)(?: the)? [`'\"]?nvidia[-_]uvm\b"
            r"|[`'\"]?\b(?:modprobe|insmod) nvidia[-_]uvm[`'\"]? (?:by hand |manually )?(?:fixe[sd]|solve[sd]|helps|helped|makes)\b))"
        ),
        False,
    ),
    (
        "uvm-not-loaded-said",
        ("nvidia_uvm", "nvidia-uvm"),
        r"(?i:(?<!if )\bnvidia[-_]uvm[`'\"]? (?:kernel )?(?:module )?(?:(?:is|was|does|did)(?:n't| not) (?:being )?(?:get )?(?:auto\w{0,10} )?load(?:ed)?|not (?:auto\w{0,10} )?loaded|(?:is|was) missing)\b(?![^\n]{0,80}\?$))",
        False,
    ),
    (
        "key-not-enrolled-said",
        ("MOK", "mok", "nroll", "ontinue boot", "ontinue Boot"),
        (
            r"(?i:^(?![^\n]{0,400}(?:\b(?:disabled|switched off|turned off) secure ?boot|secure ?boot (?:is |was )?(?:disabled|off)\b))[^\n]{0,400}?(?:"
            r"\b(?:took|chose|choose|selected|select|pressed|hit|clicked|picked|with|on|pick) (?:on |the )?[`'\"*]{0,2}continue boot\b"
            r"|\b(?:skipped|skip|ignored|ignore|cancell?ed|missed|forgot|dismissed|did(?:n't| not)|never|have(?:n't| not)|not|wasn't|was not|isn't|is not|without) (?:\w+ ){0,3}?(?:the |that |a |to )?(?:blue )?(?:enroll?(?:ed|ing|ment)?\b[^.\n]{0,40}\b(?:MOK|key)|(?:(?:perform|enroll?) )?MOK\b(?: (?:management|manager|screen|enroll?ment|dialog|key))?)"
            r"|\b(?:MOK|machine owner key)s?\b[^.\n]{0,30}?\b(?:(?:is|was|were|are|been|got)(?: never| not|n't) (?:yet )?enroll?ed|never enroll?ed|not enroll?ed|enroll?ment (?:was |is |has )?(?:been )?(?:skipped|missed|failed|pending|ignored|timed out|cancell?ed))"
            r"|\.der is not enrolled))"
        ),
        False,
    ),
    (
        "headers-differ-said",
        ("kernel-devel", "kernel-headers", "linux-headers", "ernel headers"),
        (
            r"(?i:^(?![^\n]{0,400}(?:\?$|\bmatch(?:es)? the running\b))[^\n]{0,300}?\b(?:kernel-devel|kernel[- ]headers?|linux-headers)\b[^.\n]{0,50}?\b(?:mismatch\w{0,3}|(?:do|does|did)(?:n't| not) match|(?:other|different|another|newer|older|wrong|differing) (?:kernel )?(?:release|version)s?)\b)"
        ),
        False,
    ),
)  # fmt: skip
TOLD = told(_KINDS)
PACKAGES = Language(
    name="dkms",
    words=("kernel", "linux-headers", "inux headers"),
    kinds=(
        Kind(
            "headers-not-offered",
            r"(?:Unable to locate package|No match for argument:?|Unable to find a match:?|Couldn't find any package by (?:glob|regex)|error: target not found:) ['\"`]?(?:linux-headers|kernel-devel|kernel-headers)\b"
            r"|No package ['\"`]?(?:kernel-devel|kernel-headers|linux-headers)\S{0,60} available|Package ['\"`]?(?:linux-headers|kernel-devel)\S{0,60} (?:has no installation candidate|is not available)"
            r"|^(?:\S{1,30}Error: )?Command [^\n]{0,200}\binstall\b[^\n]{0,120}\b(?:linux-headers|kernel-devel)-(?P<kernel2>\d[\w.+~-]{3,60})['\"][^\n]{0,200}returned non-zero exit status",
            "driver-does-not-load",
        ),
        Kind("kernel-devel-package", r"^(?:ii +)?kernel-(?:uek-)?devel(?:\.(?:x86_64|aarch64))?[- ]{1,60}(?P<release>\d\.?\d*\.\d[\w.~-]{3,50})"),
        Kind("kernel-package", r"^kernel(?:-core|-uek)?(?:\.(?:x86_64|aarch64))?[- ]{1,60}(?P<release>\d\.?\d*\.\d[\w.~-]{3,50})"),
    ),
)  # fmt: skip
"""Kernels and what modules are built against, as package managers name them."""
_NOT_DONE = r"(?:\?$|\b(?:not|n't|never|should|must not|if|whether|remov\w+|purg\w+|uninstall\w*|without)\b)"
DRIVER_PACKAGES = Language(
    name="circumstances",
    words=(
        "nvidia-driver-",
        "nvidia-compute-",
        "nvidia-utils-",
        "nvidia-decode-",
        "nvidia-encode-",
        "nvidia-headless-",
        "nvidia-gl-",
        "cuda-drivers-",
        "nvidia-extra-",
        "nvidia-cfg1-",
        "nvidia-fbc1-",
    ),
    kinds=(
        Kind(
            "driver-libraries-named",
            rf"^(?![^\n]{{0,400}}{_NOT_DONE})[^\n]{{0,400}}?(?<![\w/])(?:(?:lib)?nvidia-(?:driver|compute|utils|decode|encode|headless|gl|extra|cfg1|fbc1)(?:-no-dkms)?|cuda-drivers)-(?P<branch>[345]\d\d)(?!\.\d+[-.\w]*\.(?:run|deb|rpm))\b",
        ),
    ),
    foreign=True,
)
"""The distributions' packages of the driver's own libraries, by the branch in their names; the module's are others."""
LANGUAGES = (*TOLD, PACKAGES, DRIVER_PACKAGES)
