"""What people tell of others on a GPU: jobs that are stopped and not ended, workers that are kept off it, or nobody."""

from __future__ import annotations

from .language import Kind, Language

LANGUAGES = (
    Language(
        name="circumstances",
        foreign=True,
        words=("topped", "uspended", "trl", "TRL"),
        kinds=(
            Kind(
                "holder-is-stopped",
                r"^\[\d{1,2}\][+-]? {1,4}(?i:stopped|suspended)\b[^\n]{0,60}\bpython"
                r"|(?i:^(?![^\n]{0,300}(?:\?|\b(?:never|nothing happened|undo|vim|nano|editor|killed|fg)\b))[^\n]{0,200}?(?<!not )(?<!n't )\b(?:press(?:ed|ing)?|with|by|used?|using|hit|via|did|after) (?:a )?[`'\"]?ctrl ?[- +] ?z\b)"
                r"|(?i:\bctrl ?[- +] ?z\b)(?= ?(?:로|で|を|停|暂停))",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("kill", "fg"),
        kinds=(Kind("holder-was-ended", r"(?i:\bkill(?:ed|ing)?\b[^.\n]{0,30}(?:%\d|\b(?:job|that one|it|them)\b))|^[$#%] ?fg\b", once=True),),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("else", "alone", "other", "only ", "ersonne", "iemand", "adie ", "inguém", "别人", "其他"),
        kinds=(
            Kind(
                "alone-there",
                r"(?i:\b(?:nobody|no[- ]one|nothing|no process) else (?:is |was )?(?:(?:on|using|uses|used|runs?|running|logged)\b|has|takes|holds)|\b(?:used by|there is|shared with) (?:nobody|no[- ]one|nothing) else\b|\bI(?:'m| am) (?:alone|the only (?:one|user))\b"
                r"|\bno other (?:process(?:es)?|users?|jobs?|programs?)\b(?! (?:than|except))|\bpersonne d'autre\b|\bniemand (?:sonst|anderes)\b|\bnadie m[aá]s\b|\bningu[eé]m mais\b)|没有(?:别人|其他(?:人|进程|程序))",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("CUDA_VISIBLE_DEVICES",),
        kinds=(
            Kind(
                "kept-off-on-purpose",
                r"\bCUDA_VISIBLE_DEVICES=(?:''|\"\"|-1)? [^\n]{0,120}\b(?:python[\d.]{0,4}|run)\b[^\n]{0,120}(?:(?:--|\b)(?:job|task|role|job_name|type)[= ]['\"]?(?:ps|evaluator|chief)\b|\bps\b)"
                r"|\bCUDA_VISIBLE_DEVICES(?:['\"]?\])? ?= ?(?:''|\"\"|['\"]?-1['\"]?|(?=[ `]))[ `](?![^\n]{0,120}(?:\bnot\b|n't set|\bnever\b)[^\n]{0,20}on purpose)[^\n]{0,120}\b(?i:on purpose|intentionally|deliberately|so that (?:it|they) (?:does(?:n't| not)|do(?:n't| not)|won't|leaves?)|to keep (?:it|them) off)\b",
                once=True,
            ),
        ),
    ),
)  # fmt: skip
