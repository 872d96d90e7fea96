"""A part of the host's GPUs: of how many a container is given, and who sees fewer than there are."""

from __future__ import annotations

from .language import Kind, Language, told

_COUNT = r"(?:one|two|three|four|[1-7])"
GIVEN = Language(
    name="containers",
    words=("--gpus", "NVIDIA_VISIBLE_DEVICES", "count:", "device_ids", "cuda.visible"),
    kinds=(
        Kind(
            "some-gpus-asked",
            r"--gpus[= ]{1,2}\\?['\"]{0,3}(?:device=(?P<ids>(?:\d{1,2}|GPU-[\w-]{8,40})(?:,(?:\d{1,2}|GPU-[\w-]{8,40})){0,15})|(?P<count>[1-9]\d?)\b)"
            r"|\bNVIDIA_VISIBLE_DEVICES['\"]?(?:=| ?: ?| )['\"]?(?P<ids2>(?:\d{1,2}|GPU-[\w-]{8,40})(?:,(?:\d{1,2}|GPU-[\w-]{8,40})){0,15})(?![\w,])"
            r"|^[- ]{0,40}count: ?(?P<count2>[1-9]\d?)\s*$|\bdevice_ids: ?\[ ?(?P<ids3>['\"]?\d{1,2}['\"]?(?: ?, ?['\"]?\d{1,2}['\"]?){0,15}) ?\]",
            once=True,
        ),
    ),
    foreign=True,
)  # fmt: skip
SEEN = told(
    (
        (
            "fewer-gpus-seen",
            ("ot all", "ewer", "nly", "ther", "issing", " of "),
            (
                rf"(?i:\bnot all (?:of )?(?:the |my |our )?(?:{_COUNT} |eight )?(?:gpus|cards)\b|\bfewer (?:gpus|cards)\b|\b(?:lists?|shows?|sees?|finds?|detects?|recogni[sz]es|has|have|gets?|visible)\b[^.?!\n]{{0,20}} (?:only|just) {_COUNT}\b(?! ?(?:GB|GiB|%|MiB|min|hour|day|of the time))"
                rf"|\b(?:only|just) (?:sees?|lists?|shows?|finds?|detects?|recogni[sz]es|has|gets?) {_COUNT}\b|\bwhere (?:are|is) the other (?:{_COUNT} )?(?:gpus?|cards?|one|ones)\b|\bonly {_COUNT} (?:of (?:the|my|our|them)|(?:gpus?|cards?) (?:is|are) (?:visible|seen|listed|found|detected|available))"
                rf"|\b{_COUNT} (?:out )?of (?:the |my |our )?(?:{_COUNT}|eight|8) (?:gpus|cards)\b"
                rf"|\b(?:sees|lists|shows|finds|detects) {_COUNT} of (?:them|the|my|{_COUNT}|eight|8)\b|\bthe other (?:{_COUNT} )?(?:gpus?|cards?) (?:is|are) (?:missing|not (?:visible|seen|listed|found|there))\b)"
            ),
            True,
        ),
    )
)
LANGUAGES = (GIVEN, *SEEN)
