"""A notebook beside a terminal: one imports TensorFlow, and the other does not, as people tell it."""

from __future__ import annotations

from .language import Language, told

_NOTEBOOK = r"(?:(?<!gpu-)jupyter\w{0,3}|notebooks?(?! (?:manufacturer|maker|vendor|computer))|ipynb|spyder)"
_TERMINAL = r"(?:terminal|shell|command[- ]?line|cmd|(?:anaconda|command) prompt|console|powershell|\u547d\u4ee4\u884c|\u7ec8\u7aef)"
_LISTS = r"(?:(?:pip3?|conda) (?:list|show|freeze)|(?:is|was) (?:already |correctly |properly )?installed(?! in (?:an? |the |my )?jupyter)|i(?:'ve| have)? installed)"
_WORKS = r"(?:works?|worked|fine|ok|okay|(?:does |do )?loads?|imports?|can (?:import|use|load)|no (?:error|problem)s?|without (?:a |an |any )?(?:error|problem|issue)s?|succeeds|funktioniert|\u53ef\u4ee5|\u6b63\u5e38|\u6210\u529f)"
_FAILS = r"(?:\bnot\b|n't\b|\berrors?\b|\bfail\w{0,3}\b|\bcannot\b|\bno such\b|\bnicht\b|\bunable\b|\bonly in\b|\u62a5\u9519|\u4e0d\u884c|\u4e0d\u80fd|\u65e0\u6cd5|\bnever\b)"
_BOTH = r"\b(?:both|neither|nor|also fails|same (?:error|problem)|as well|everywhere|do i|should i)\b"
_WORDS = ("upyter", "otebook", "ipynb", "pyder")

LANGUAGES: tuple[Language, ...] = told(
    (
        (
            "notebook-differs",
            _WORDS,
            rf"(?i:^(?![^\n]{{0,600}}{_BOTH})(?=[^\n]{{0,600}}{_NOTEBOOK})(?=[^\n]{{0,600}}{_FAILS})(?:(?=[^\n]{{0,600}}{_TERMINAL})(?=[^\n]{{0,600}}{_WORKS})|(?=[^\n]{{0,600}}{_LISTS}))[^\n]{{0,600}}?{_NOTEBOOK})",
            True,
        ),
        (
            "terminal-imports",
            ("erminal", "shell", "ommand", "cmd", "rompt", "onsole", "python3", "owershell"),
            rf"(?i:^(?![^\n]{{0,400}}(?:{_FAILS}|{_NOTEBOOK}|\?))(?=[^\n]{{0,400}}(?:{_TERMINAL}|[`'\"]python3[`'\"]))(?=[^\n]{{0,400}}{_WORKS})[^\n]{{0,400}}?\b(?:tensorflow|import\w{{0,3}}|tf)\b)",
            True,
        ),
        (
            "notebook-fails",
            _WORDS,
            rf"(?i:^(?![^\n]{{0,400}}{_BOTH})(?=[^\n]{{0,400}}{_FAILS})[^\n]{{0,400}}?{_NOTEBOOK})",
            True,
        ),
    )
)
