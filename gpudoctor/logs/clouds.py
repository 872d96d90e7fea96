"""Which GPU the machines of clouds have, by the names of their kinds: 'p4d.24xlarge', 'a2-highgpu-1g', 'Standard_NC6s_v3'."""

from __future__ import annotations

from ..patterns import Pattern

NAME = (
    r"(?i:\b(?P<aws>p[2-6](?:de?|en?)?|g[2-6](?:dn|e)?)\.\d{0,2}x?large\b|\b(?P<google>a2-(?:high|mega|ultra)gpu|a3-(?:high|mega|edge|ultra)gpu|g2-standard|a4-highgpu)-\d{1,3}g?\b"
    r"|\bStandard_(?P<azure>N[CDV]\d{1,2}[a-z]{0,4}(?:_(?:A100|H100|A10|T4|H200))?(?:_v[2-5])?)\b|\b(?P<azure2>N[CDV]\d{1,2}[a-z]{0,4}(?:_(?:A100|H100|A10|T4|H200))?_v[2-5])\b)"
)
"""Their names in a text."""
_NAME = Pattern(NAME)
_AMAZON = {
    "p2": "K80", "p3": "V100", "p3d": "V100", "p4d": "A100", "p4de": "A100", "p5": "H100", "p5e": "H200", "p5en": "H200",
    "g2": "GRID K520", "g3": "Tesla M60", "g4dn": "T4", "g5": "A10G", "g6": "L4", "g6e": "L40S",
}  # fmt: skip
_GOOGLE = {"a2": "A100", "a3": "H100", "g2": "L4", "a4": "B200"}
_AZURE = (
    (Pattern(r"(?i)_(A100|H100|A10|T4|H200)"), ""),
    (Pattern(r"(?i)^ND\d+\w*sr\w*_v4$|^ND96am\w*_v4$"), "A100"),
    (Pattern(r"(?i)^ND\d+\w*sr\w*_v5$"), "H100"),
    (Pattern(r"(?i)^N[CD]\d+r?s\w*_v3$"), "V100"),
    (Pattern(r"(?i)^NC\d+r?s\w*_v2$"), "P100"),
    (Pattern(r"(?i)^ND\d+r?s$"), "Tesla P40"),
    (Pattern(r"(?i)^NC\d+r?$"), "K80"),
    (Pattern(r"(?i)^NV\d+$"), "Tesla M60"),
)


def machines(text: str) -> dict[str, str]:
    """The kinds of machines that a text names, as it writes them -> their GPU."""
    return {one[0].lower(): card for one in _NAME.finditer(text) if (card := _card(one.groupdict()))}


def _card(named: dict[str, str | None]) -> str | None:
    if amazon := named["aws"]:
        return _AMAZON.get(amazon.lower())
    if google := named["google"]:
        return "H200" if google.lower() == "a3-ultragpu" else _GOOGLE.get(google.lower().partition("-")[0])
    azure = named["azure"] or named["azure2"] or ""
    for pattern, card in _AZURE:
        if (found := pattern.search(azure)) is not None:
            return card or found[1].upper()
    return None
