"""Cards against builds, where hardly a program's line is: who says that a new card is not used or makes trouble, or that an old one
is not compatible; and containers in which the GPU is said to work."""

from __future__ import annotations

import msgspec

from ..facts import COMPLAINT, READS_LIKE_A_FAULT, TextEvent
from . import alike
from .language import LONGEST, told
from .notebook import Notebook

_NEW = r"(?:(?:rtx ?|geforce |nvidia )*(?<![\d.])50[5-9]0(?: ?ti| laptop)?\b(?![.,]?\d)|\brtx ?50(?:xx|00)?[- ](?:series|cards?|gpus?)|\brtx pro \d{4}\b|\bblackwell\b|\bsm_?(?:8[69]|90|10[03]|12[01])\b)"
_OLD = r"(?:\b(?:gtx|geforce)(?: gtx)? ?-?(?:[4-9]\d0m?|10[1-8]0)(?: ?ti| max-q)?\b|\bquadro [kmp]\d{3,4}\w?\b|\btesla [cmkp]\d{1,4}\b|\b[pm](?:100|40|60|6000|5000|4000|2200|2000)\b(?! ?(?:mb|gb|ms|steps|images))|\bk(?:80|40|20)\b|\btitan (?:x|xp|z|black)\b|\bmx ?1[135]0\b|\bgt ?(?:7[1-4]0|10[13]0)m?\b|\bpascal\b(?! voc)|\bmaxwell\b|\bkepler\b)"
_UNFIT = r"(?:(?:not|n't|no longer|never) (?:\w+ )?(?:compatible|supported|support(?! ?me)|work with)|incompatible|unsupported|too (?:old|new)|outdated|(?:dropped|ended|end of|lacks?|no|without|missing|add|need|needs|is there|for) (?:\w+ )?(?:support|compatibility)|compatib\w+ (?:issue|problem|error)s?|(?:is|are) (?:\w+ )?(?:compatible|supported)\b(?=[^.\n]{0,30}\?))"
_TROUBLE = r"(?:trouble\w*|problems?|issues?|difficult\w{0,4}|struggl\w+|errors?|fail(?:s|ed|ing|ure)?|crash\w*|unable|impossible|can(?:not|'t| not)|broken|(?:not|n't|never|nothing) (?:\w+ ){0,2}?(?:work|run|start|us(?:e|ed|ing)|train|detect|recogni[sz]|find|found|see|seen)\w*)"
LANGUAGES = told(
    (
        (
            "new-card-unfit-said",
            ("50", "lackwell", "PRO", "Pro ", "sm_", "sm1"),
            rf"(?i:^(?![^\n]{{0,400}}\b(?:memory|vram|slow\w*|temperature|watt|power|hang\w*|nccl|reboot\w*|oom)\b)[^\n]{{0,300}}?(?:{_NEW}[^.\n]{{0,60}}?\b(?:{_UNFIT}|{_TROUBLE})|\b(?:{_UNFIT}|{_TROUBLE})\b[^.\n]{{0,60}}?{_NEW}))",
            True,
        ),
        ("tensorflow-named", ("ensorflow", "ensorFlow", "eras"), r"(?i:(?<!rebuild )(?<![\w./])(?:tensorflow|keras)\b(?! with the appr| binary|[./]\w))", True),
        (
            "bandwidth-between-said",
            ("andwidth", "busbw", "algbw", "nccl-test", "nccl_test", "nccl test", "all_reduce_perf"),
            r"(?i:\b(?:bus ?)?bandwidth\b|\bbusbw\b|\balgbw\b|\bnccl[-_ ]tests?\b|\ball_reduce_perf\b)",
            True,
        ),
        ("slices-named", ("slic", "Slic", "SLIC"), r"(?i:\btime[-_ ]?slic\w+)|\btimeSlicing\b", True),
        (
            "more-at-once-fail-said",
            ("rash", "ail", "rror", "die", "illed", "ut of memory", "OOM"),
            r"(?i:(?<!\bno )\b(?:(?<!any )(?<!no )(?<!once )(?<!one or )(?<!1 or )more(?! (?:or less|than (?:\d|that|once|one (?:h\d00 )?(?:gpus?|cards?|nodes?)))\b)|second|2nd|both|two|several|further|(?<!or any )other(?! hand\b)|another(?! one with\b)|next|third|parallel|simultaneous\w*|at the same time|at once)\b[^.\n]{0,60}\b(?:crash\w*|fail\w*|dies?|died|errors?|ooms?|oom-?killed|killed|out of memory)\b)",
            True,
        ),
        (
            "old-card-unfit-said",
            ("ompatib", "upport", "too old", "utdated"),
            rf"\bCUDA GPU is too old\b|(?i:{_OLD}[^.\n]{{0,60}}?\b{_UNFIT}|\b{_UNFIT}\b[^.\n]{{0,60}}?{_OLD})",
            True,
        ),
        (
            "container-computes-said",
            ("ontainer", "ocker", "pod"),
            (r"(?i:^(?![^\n]{0,400}\b(?:if|should|whether|expected|want)\b)[^\n]{0,300}?(?:\b(?:inside|in|within) (?:of )?(?:the |a |my |this |that |same )*(?:docker )?(?:container|pod)s?\b(?:(?!\b(?:not|no|never|but|only|without|fails?)\b|n't\b)[^.\n]){0,40}?\b(?:cuda|nvidia[- ](?:runtime|smi)|gpus?|torch|pytorch|devicequery|nbody)\b(?:(?!\b(?:not|no|never|but|only|without|fails?)\b|n't\b)[^.\n]){0,50}?\b(?:works?|accessible|visible|available|usable|fine|listed|shown|detected|seen|(?<!=)true)\b"
            r"|\b(?:nvidia[- ]smi|torch|pytorch) (?:\w+ )?(?:sees|finds|uses|lists|detects|shows)\b(?:(?!\b(?:not|no|never|but|only|without|fails?|on the host)\b|n't\b)[^.\n]){0,40}?\b(?:inside|in|within|from) (?:of )?(?:the |a |my |this |that |same )*(?:docker )?(?:container|pod)\b"
            r"|\b(?:cuda|nvidia[- ]smi|gpus?|torch|pytorch|devicequery|nbody)\b(?:(?!\b(?:not|no|never|but|only|without|fails?|when)\b|n't\b)[^.\n]){0,40}?\b(?:works?|accessible|visible|available|usable|fine|listed|shown|detected|seen|true)\b(?:(?!\b(?:not|no|never|but|only|without|fails?|on the host)\b|n't\b)[^.\n]){0,24}?\b(?:inside|in|within|from) (?:of )?(?:the |a |my |this |that |same )*(?:docker )?(?:container|pod)\b))"),
            True,
        ),
    )
)  # fmt: skip


_SAID = -2


_ENDS = "Attempting to deserialize"
"""A program that ends for want of a GPU: torch.load."""
_TELLS = {
    "says-no-gpu", "talks-of-colab", "in-colab", "wants-gpu", "smi-works", "nvidia-smi-not-found", "container-computes-said", "wants-several-said", READS_LIKE_A_FAULT,
}  # fmt: skip
"""Somebody tells of it, or wants a GPU."""


def settle(notes: Notebook) -> None:
    """Who says so complains, where no line shows another failure."""
    said = {e.kind: e for e in reversed(notes.events)}
    _torch_alone(notes, said)
    event = said.get("torch-lacks-gpu")
    if event and not any(e.symptom and not e.is_weak and e.kind != event.kind for e in notes.events):
        if said.keys() & _TELLS or alike.is_of_people(event.text) or _ENDS in event.text:
            notes.tell("tensorflow.devices", (), event.line, _SAID)  # which would list none either
        return
    if any(e.symptom and e.kind != READS_LIKE_A_FAULT for e in notes.events):
        return
    if "more-at-once-fail-said" in said and "slices-named" in said and "tensorflow-named" in said:
        event = said["more-at-once-fail-said"]
        notes.note(
            TextEvent(
                line=event.line, language=COMPLAINT, kind="complains-slices", text=event.text[:LONGEST], symptom=READS_LIKE_A_FAULT,
            )
        )  # fmt: skip
        return
    if "card-merely-named" in said:
        return
    for kind in ("new-card-unfit-said", "old-card-unfit-said"):
        if event := said.get(kind):
            notes.note(
                TextEvent(
                    line=event.line, language=COMPLAINT, kind=f"complains-{kind.removesuffix('-said')}",
                    text=event.text[:LONGEST], symptom=READS_LIKE_A_FAULT,
                )
            )  # fmt: skip
            return


def _torch_alone(notes: Notebook, said: dict[str, TextEvent]) -> None:
    """A PyTorch that is built without CUDA has none, where no other one is in the text."""
    built = said.get("torch-built-without")
    others = {"torch-built-for", "torch-is-rocm", "torch-sees-cuda", "torch-without-cuda", "apple-silicon", "on-a-mac"}
    if built is None or "torch-sees-none" not in said or said.keys() & others:
        return
    if not any(e.symptom and not e.is_weak for e in notes.events if e.kind != "torch-lacks-gpu"):
        notes.note(msgspec.structs.replace(built, kind="torch-without-cuda", symptom="op-fails"))
