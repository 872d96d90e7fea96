"""What people tell of the circumstances. It is weak: it decides only between causes that lines of programs leave open."""

from __future__ import annotations

from .language import Kind, Language

LANGUAGE = Language(
    name="circumstances",
    words=(
        "uspen", "ibernat", "sleep", "Sleep", "esum", "wak", "Wak", "kernel", "Kernel", "ocker", "ontainer", "odman", "ubernetes",
        "内核", "休眠", "挂起", "睡眠", "root@", "GPU", "gpu", "raphics", "modules.", "sudo", "WSL", "nvidia_uvm", "NVreg_", "nvidia-", "abric", "orce", "TX", "uadro", "esla", "MIG-", "A100", "H100", "H200",
    ),
    kinds=(
        Kind(
            "suspended",
            r"(?i:\b(?:after|from|since|upon|post|following|comes? back from|into|every|when|whenever|once|if)[- ](?:[\w'-]+ ){0,4}(?:suspend|resum|hibernat|sleep|wak(?:e|ing)))"
            r"|PM: (?:suspend (?:entry|exit)|resume from)|(?i:suspend ?(?:/|and|&) ?resume)|休眠|挂起|睡眠",
            once=True,
        ),
        Kind(
            "suspend-remedy",
            r"(?:rmmod|modprobe(?: -r)?) nvidia_uvm|NVreg_PreserveVideoMemoryAllocations|nvidia-(?:suspend|resume|hibernate)\.service"
            r"|nvidia_uvm\W{0,3} (?:module )?(?:(?:is|was|gets) )?reload",
            once=True,
        ),
        Kind("fabric-version-named", r"(?i:fabric.?manager[^.]{0,40}(?:version|release|mismatch)|(?:version|release) of (?:the |its )?fabric.?manager)", once=True),
        Kind(
            "kernel-updated",
            r"(?i:kernel (?:was |is |has been |got |has |were )?(?:just |automatically |auto[- ]?|recently )?(?:updat|upgrad))"
            r"|(?i:(?:updat|upgrad)(?:ed|ing|e|es) (?:of |to )?(?:the |my |a |its )?(?:new |newer |linux |ubuntu )*kernel)"
            r"|(?i:new(?:er)? (?:linux )?kernel (?:was |is |has been )?(?:installed|update))|更新了?内核|内核(?:自动)?(?:更新|升级)|升级了?内核",
            once=True,
        ),
        Kind("container-shell", r"^\(?[\w-]{0,20}\)? ?root@[0-9a-f]{12}:|host(?:name)?: [0-9a-f]{12}$|could not open (?:moddep|builtin) file '/lib/modules", once=True),
        Kind("container-named", r"(?i:\bdocker|\bpodman\b|\bcontainers?\b|kubernetes)", once=True),
        Kind("nvidia-gpu-named", r"(?i:geforce|\b[gr]tx ?\d|quadro|tesla [a-z]\d|titan (?:x|v|rtx)|\b[ah][12]00\b)", once=True),
        Kind("mig-asked", r"CUDA_VISIBLE_DEVICES\W{1,3}\"?MIG-[\w/-]{8,80},[\"' ]*MIG-", once=True),
        Kind("wsl-named", r"\bWSL ?2?\b", once=True),
        Kind("root-works", r"(?i:(?:works?|worked|fine|detected|succeeds?) (?:\w+ ){0,4}(?:with|as|using|under|by) (?:sudo|root))|(?i:unless (?:\w+ ){0,3}sudo)", once=True),
        Kind(
            "other-gpu-named",
            r"(?i:^[\W\d]{0,6}(?:GPU(?: model(?: and memory)?)?|graphics(?: card)?|video card)\W{1,6}(?:[\w.]+ ){0,2}?(?P<vendor>AMD|ATI|Radeon|Intel|Mesa Intel)\b)(?!.*(?i:nvidia|geforce|quadro|tesla|rtx|gtx))",
            once=True,
        ),
    ),
)  # fmt: skip
