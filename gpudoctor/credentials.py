"""What in a text is a secret: by the published form of its kind, by what stands before it, by its randomness.

What only its surroundings give away ('--password tensorflow') is replaced there alone, and what is no word of anybody's
everywhere. Nothing here is replaced; `redact` does that.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .secret_names import is_called_secret


class Secret(NamedTuple):
    """A secret as it stands in a text."""

    text: str
    before: str = ""
    """What must stand before it; '': it is one wherever it stands."""


# ------------------------------------------------------------------------------- published forms

_FORMS = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|\b1//0[\w-]{20,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl[a-z]{2,5}-[\w.-]{20,}|\bATATT3[\w=-]{20,}",
    r"[rsp]k_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[\w+/=-]{16,}|sq0[a-z]{3}-[\w-]{20,}",
    r"\bhf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\br8_[A-Za-z0-9]{16,}|\bgsk_[A-Za-z0-9]{16,}",
    r"nvapi-[\w-]{16,}|wandb_v1_\w{16,}|\bdapi[0-9a-f]{32}(?:-\d)?|\bKGAT_[0-9a-f]{16,}|\b(?:pplx|xai)-[\w-]{20,}",
    r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-[\w-]{10,}|hooks\.slack\.com/(?:services|workflows)/[\w/]+",
    r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]+|[\w-]+\.webhook\.office\.com/webhookb2/[^\s\"']+",
    r"\b[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
    r"\bSG\.[\w-]{16,}\.[\w-]{16,}|\b(?:SK|AC)[0-9a-f]{32}\b|\bkey-[0-9a-f]{32}\b|\b\d{8,10}:AA[\w-]{33}",
    r"pypi-A[\w-]{16,}|npm_[A-Za-z0-9]{20,}|rubygems_[0-9a-f]{20,}|dckr_[a-z]{3}_[\w-]{20,}|\bcio[A-Za-z0-9]{32}\b",
    r"do[opr]_v1_[0-9a-f]{32,}|\bhv[sbr]\.[\w-]{20,}|\b[sbr]\.[A-Za-z0-9]{24}\b|[\w-]{14}\.atlasv1\.[\w-]{40,}",
    r"tskey-[\w-]{16,}|\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{16,}|\bglsa_\w{20,}|\bglc_[\w+/=-]{20,}|sntry[su]_[\w+/=.-]{20,}",
    r"lin_api_\w{20,}|shp(?:at|ca|pa|ss)_[0-9a-f]{20,}|PMAK-[0-9a-f-]{20,}|NRAK-[A-Z0-9]{20,}|NRJS-[0-9a-f]{16,}|\bnfp_\w{20,}|sbp_[0-9a-f]{20,}",
    r"\bfo1_[\w-]{20,}|FlyV1 [\w+/=,-]{20,}|\bpul-[0-9a-f]{32,}|\bEAA[A-Za-z0-9]{40,}|\bsl\.[\w-]{60,}",
    r"\bSCW[A-Z0-9]{17}(?!\w)|(?<![\w.-])[a-z0-9]{6}\.(?=[a-z]{0,15}\d)(?=\d{0,15}[a-z])[a-z0-9]{16}(?![\w.-])",
    r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,}",
    r"\beyJ[\w-]{8,}(?:\.[\w-]{8,}){1,2}(?:\.[\w-]*)*|\beyJ[A-Za-z0-9+/_-]{20,}={0,2}",
    r"\$(?:2[abxy]|5|6|y|argon2id?)\$[^\s:\"']{20,}|\$(?:1|apr1)\$[\w./]{1,8}\$[\w./]{22}",
)
_PUBLISHED = re.compile("|".join(f"(?:{form})" for form in _FORMS), re.DOTALL)

# ------------------------------------------------------------------------------- what stands before it

_WORD = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|credentials?|jwt|bearer|authorization|authentication|auth|cookie|sas"
    r"|session[_-]?id|signature|sig|private[_-]?key|api[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key"
    r"|secret[_-]?key|license[_-]?key|encryption[_-]?key|auth[_-]?key|client[_-]?key|ssh[_-]?key|key)"
)
_STRONG = r"(?:password|passwd|passphrase|secret|token|apikey)"
"""The same where they end a longer word: PGPASSWORD, authToken."""
_VALUE = r"(?:\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'|([^\s\"'`,;&|<>()\[\]{}]+))"
_NAME = rf"(?i:(?<![A-Za-z])(?:(?:[A-Za-z][\w.-]{{0,60}}?[_.-])?{_WORD}|[A-Za-z]{{1,20}}{_STRONG})(?:[_-]\w{{1,20}})?)"
_IS = r"[ \t]*(?:=(?!=)>?|:=|%3D)[ \t]*|[ \t]*:[ \t]+|:"
_QUOTED = r"(?:\\+[\"']|&quot;)"
"""A quote in a text that is quoted itself."""
_ASSIGNED = re.compile(rf"{_NAME}(?:[\"']|{_QUOTED})?((?:{_IS}){_QUOTED}?)(?=\S){_VALUE}")
_GLUED_WORD = r"(?i:[A-Za-z]{1,20}(?<!by)(?<!com)(?<!low)(?<!high)(?<!band)(?:pass|pwd|pw))"
"""A word that ends in one: SSHPASS, userPass. Compilers have passes, too, and tell of them with a colon."""
_GLUED_NAME = re.compile(
    rf"(?<![A-Za-z]){_GLUED_WORD}(?:[\"']|{_QUOTED})?([ \t]*=(?!=)[ \t]*|(?<=[\"'])[ \t]*:[ \t]*(?=[\"'])){_VALUE}"
)
_WHOLE = r"(?:password|passwd|passphrase|pass|pwd|secret|token|pw)"
_REST = re.compile(
    rf"(?<!\S)-{{0,2}}(?i:(?:[A-Za-z][\w.-]{{0,60}})?{_WHOLE})=(?![\"'=/])(\S+)"
    rf"|^[ \t]*(?i:(?:[A-Za-z][\w.-]{{0,60}})?{_WHOLE})[ \t]*[:=][ \t]*(?![\"'=:/])(\S+)[ \t]*$",
    re.MULTILINE,
)
"""A word of a shell, and the last of a line, goes on behind a comma, too."""
_NAME_OF_OPTION = rf"--?(?i:(?:[A-Za-z0-9]*[_-])*(?:{_WORD}|[A-Za-z]{{1,20}}(?:{_STRONG}|pass|pwd))(?:[_-][\w-]*)?)"
_OPTION = re.compile(rf"(?<!\S){_NAME_OF_OPTION}([ \t]+)(?!-){_VALUE}")
_LISTED = re.compile(rf"(?<=[\"']){_NAME_OF_OPTION}[\"'],\s*[\"']([^\"'\n]{{1,300}})[\"']")
"""The same in a list of words."""
_SCHEME = re.compile(
    r"(?i:\b(?:bearer|digest|negotiate|apikey|x-api-key:|authorization:\s*(?:\w+\s)?))\s*([\w.~+/=:-]{6,})"
)
_BEARER = re.compile(r"(?i:\bbearer[ \t]+(?!token|auth))([\w.~+/=-]{8,})")
_BASIC = re.compile(r"(?i:\bbasic)\s+([A-Za-z0-9+/]{6,}={0,2})(?![\w+/=])")
_URL = re.compile(r"(?<=://)([^\s/@:\"'<>]{0,200}:[^\s\"'<>]{0,2000})(?=@[\w\[.-])")
_USER_OF_URL = re.compile(r"(?<=://)([^\s/@:\"'<>]+)(?=@[\w\[.-])")
_USER_PASSWORD = re.compile(
    r"(?<!\S)(?:-u|--user|--proxy-user|-U|--creds)[ =]?[\"']?(?!\d+:\d+\b)([^\s:\"'=]+:[^\s\"']+)"
)
_PROGRAMS = (
    r"(?:mysql\w*|mariadb\w*|mongo\w*|sshpass|7za?|zip|unzip|unrar|sqlcmd|smbclient|ldap\w+|redis-cli|(?:docker|podman|helm|oc|skopeo|"
    r"buildah) (?:registry )?login|cqlsh|clickhouse\S*|rabbitmq\w*|ipmitool|xfreerdp|net use|htpasswd|snmp\w+)"
)
_SHORT = re.compile(rf"\b{_PROGRAMS}\b[^\n|;&]*?\s-[pPawA]\s?[\"']?([^\s\"'-][^\s\"']*)")
_GLUED = re.compile(r"(?<![^\s\"'])-p[\"']?((?=[^\s\"']*[A-Za-z])(?=[^\s\"']*[\d\W])[^\s\"'/:=][^\s\"'/:]{5,})")
_NETRC = re.compile(r"\b(?:login\s+\S+\s+)?password\s+(?=\S*[\d!@#$%^&*+?])([^\s,;.]\S{3,})", re.IGNORECASE)
_OF_MACHINE = re.compile(r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+(?:account\s+\S+\s+)?password[ \t]+(\S+)")
_PASSIN = re.compile(r"\bpass:(\S{3,})")
_WITH_USER = re.compile(
    r"\b(?:smbclient|rpcclient|smbmap|net)\b[^\n|;&]*?\s-U[ =]?[\"']?[^\s%\"']+%([^\s\"']{2,})"
    r"|\bsqlplus\s+(?:-\w+\s+)*[\"']?[^\s/\"']+/([^\s@\"']+)@"
)
_ELEMENT = re.compile(rf"<(?i:{_WORD})>([^<>\s]{{2,}})</")
_SETENV = re.compile(rf"\bsetenv[ \t]+(?i:(?:\w{{0,60}}_)?(?:{_WORD})|\w{{0,60}}{_WHOLE})[ \t]+[\"']?([^\s\"']+)")
_NAME_AND_VALUE = re.compile(
    rf"\bname:[ \t]+[\"']?(?i:(?:\w{{0,60}}_)?(?:{_WORD})|\w{{0,60}}{_WHOLE})[\"']?\s+value:[ \t]+[\"']?([^\s\"']+)"
)
"""Of a container, in YAML."""
_OF_PATH = re.compile(r"://[^\s/]+(?:/[\w.-]+){0,3}/t/([\w-]{6,})(?=/)")
_NOTHING = re.compile(
    r"(?:\*+|x+|\.+|none|null|nil|true|false|yes|no|on|off|\d{1,3}|0x[0-9a-f]+|<.*|\$\{?\w.*|%\w.*|redacted|hidden|unset|empty|is|not|and|was|for|"
    r"required|invalid|missing|expected|error|unexpected|unknown|auto|default|basic|bearer|secret-[0-9a-f]{6,})[.,;:]?",
    re.IGNORECASE,
)
_DIRECTORY = re.compile(r"(?i:pwd|key|auth|sock|file|path|dir)$")
"""Names whose value is often a path: the working directory, a file."""


def found(text: str) -> Iterator[Secret]:
    """The secrets in a text."""
    for match in _PUBLISHED.finditer(text):
        yield Secret(match[0])
        if match[0].startswith("-----BEGIN"):
            yield from map(Secret, _lines_of_key(match[0]))
    for pattern in (_ASSIGNED, _GLUED_NAME, _OPTION):
        for match in pattern.finditer(text):
            value = match[2] or match[3] or match[4] or ""
            between = match[1]
            at = match.start(match.lastindex or 0)
            is_said = match[2] or match[3] or _is_a_line(text, match)
            if between.strip() == ":" and not (is_said or _may_be_one(value)):
                continue  # 'token: unexpected end'
            if value.startswith("/") and _DIRECTORY.search(text[match.start() : match.start(1)].rstrip("\"'")):
                continue
            yield from _called(text, at, value.rstrip(".,\\") if match[4] else value)
    for match in _BASIC.finditer(text):
        if _is_basic(match[1]):
            yield Secret(match[1])
    for match in _SCHEME.finditer(text):
        if _may_be_one(match[1]):
            yield from _called(text, match.start(1), match[1])
    for match in _BEARER.finditer(text):
        yield from _called(text, match.start(1), match[1])
    for match in _URL.finditer(text):
        yield Secret(match[1])
        yield from _called(text, match.start(1) + match[1].index(":") + 1, match[1].partition(":")[2])
    for match in _USER_OF_URL.finditer(text):
        if len(match[1]) >= 16:
            yield Secret(match[1])
    for pattern in (
        _USER_PASSWORD,
        _SHORT,
        _GLUED,
        _NETRC,
        _OF_MACHINE,
        _PASSIN,
        _OF_PATH,
        _LISTED,
        _REST,
        _WITH_USER,
        _ELEMENT,
        _SETENV,
        _NAME_AND_VALUE,
    ):
        for match in pattern.finditer(text):
            yield from _called(text, match.start(match.lastindex or 0), str(match[match.lastindex or 0]))


def _lines_of_key(key: str) -> Iterator[str]:
    """A key's lines may stand apart, and its last one is short."""
    lines = key.split("\n")[1:]
    return itertools.takewhile(_LINE_OF_KEY.fullmatch, (line.strip() for line in lines))


_LINE_OF_KEY = re.compile(r"[A-Za-z0-9+/]{4,}={0,2}")


def context(text: str, at: int) -> str:
    """What stands before a place, as far as it takes to know it again in the same line."""
    return text[max(0, at - 24) : at].rpartition("\n")[2]


def _called(text: str, at: int, value: str) -> Iterator[Secret]:
    """A value that is called a secret: replaced where it stands, and where it is no word of anybody's, everywhere."""
    if len(value) < 2 or _NOTHING.fullmatch(value):
        return
    yield Secret(value, context(text, at))
    if distinctive(value):
        yield Secret(value)


def _is_a_line(text: str, match: re.Match[str]) -> bool:
    """A name and one word, and nothing else: as in a file of settings."""
    end = text.find("\n", match.end())
    rest = text[match.end() : end if end >= 0 else None].strip()
    return not rest and not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t-\"'")


def _may_be_one(value: str) -> bool:
    """Not a word of prose."""
    return len(value) >= 4 and re.search(r"[\d!@#$%^&*+=~]", value) is not None


def _is_basic(word: str) -> bool:
    try:
        return b":" in base64.b64decode(word + "=" * (-len(word) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def distinctive(value: str) -> bool:
    """Whether a secret may be replaced wherever it stands: no path, no number, no version, no word."""
    if len(value) < 6 or value.startswith(("/", "~/", "./")) or re.fullmatch(r"[\d.:,-]{1,11}|[\d.]+", value):
        return False
    kinds = sum(re.search(one, value) is not None for one in ("[a-z]", "[A-Z]", "[0-9]", r"[^A-Za-z0-9_.:/-]"))
    numbered = re.fullmatch(r"[A-Za-z]+[-_.]?\d{1,2}(?:\.\d+)*", value) is not None  # 'python3', 'gpu-12', 'cuda12.4'
    capital = re.fullmatch(r"[A-Z][a-z]+", value) is not None
    return kinds >= 2 and not capital and not (numbered and len(value) < 9)


def of_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that are called secrets, and passwords in the addresses of others."""
    kept = []
    for name, value in variables.items():
        if is_called_secret(name) and not value.startswith("/"):
            kept += [v for v in (value.strip(), *value.split()) if distinctive(v)]
        kept += [one.text for one in found(value) if not one.before and distinctive(one.text)]
    return tuple(dict.fromkeys(kept))


def of_variable(name: str, value: str) -> Iterator[Secret]:
    """The value of a variable that is called a secret, behind its name and, where it is no word of anybody's, everywhere."""
    if is_called_secret(name) and len(value) >= 2 and not value.startswith("/") and not _NOTHING.fullmatch(value):
        yield Secret(value, f"{name}=")
        if distinctive(value):
            yield Secret(value)


# ------------------------------------------------------------------------------- by randomness

_RUN = re.compile(r"(?<![A-Za-z0-9$~])[A-Za-z0-9+/_-]{16,}")
_STORE = re.compile(r"/(?:nix|gnu)/store/$|/spack/.*$|\bsha\d{3}[:=]$")
"""What is below is named by a hash of what is public."""
_DRIVER = re.compile(r"inf_(?:amd|arm)64_[0-9a-f]{16}")
"""A directory of Windows' driver store."""
_PLAIN = re.compile(r"[a-z]+|[A-Z]+|[A-Z][a-z]+|\d{1,4}|[a-z]{1,8}\d{1,4}|x86|")
_PIECE = 16


_LONG_WORD = re.compile(r"(?<![\w/.~$+-])[A-Za-z0-9+][A-Za-z0-9+/]{19,}(?![\w/.])")


def long_words(value: str) -> Iterator[Secret]:
    """Of the value of a variable, which holds few words: by their digits alone. A path, a name of parts, a number is none."""
    for match in _LONG_WORD.finditer(value):
        word = match[0]
        if _STORE.search(value[max(0, match.start() - 8) : match.start()]):
            continue
        runs = len(re.findall(r"\d+", word))
        kinds = sum(re.search(letters, word) is not None for letters in ("[a-z]", "[A-Z]", "[0-9]"))
        if (kinds == 3 and runs >= 3) or (kinds == 2 and runs >= 5):
            yield Secret(word)


def random_words(text: str) -> Iterator[Secret]:
    """Long words that nobody would write: keys of kinds that have no form of their own."""
    for match in _RUN.finditer(text):
        run = match[0]
        if _is_base64(run):
            yield from map(Secret, _random_parts(run))
            continue
        for word in re.finditer(r"[^/]+", run):
            at = match.start() + word.start()
            if not _STORE.search(text[max(0, at - 80) : at]) and not _DRIVER.fullmatch(word[0]):
                yield from map(Secret, _random_parts(word[0]))


def _is_base64(run: str) -> bool:
    """With slashes that part nothing: its pieces are as random as the whole, and no words."""
    pieces = run.split("/")
    if (
        len(pieces) == 1
        or run.startswith(("/", "inf_"))
        or any(piece.startswith(("lib", "nvidia")) for piece in pieces)
    ):
        return False
    if any(_PLAIN.fullmatch(piece) for piece in pieces if len(piece) > 3):
        return False
    return any(map(_is_random, pieces)) or _is_random("".join(pieces))


def _random_parts(word: str) -> Iterator[str]:
    pieces = list(re.finditer(r"[^_-]+", word))
    if word.startswith("_Z") or not any(_is_random(piece[0]) for piece in pieces):
        return
    odd = [piece for piece in pieces if not _PLAIN.fullmatch(piece[0])]
    yield word[odd[0].start() : odd[-1].end()]


def _is_random(piece: str) -> bool:
    """By how often it changes between small and capital letters and digits: a name of parts does so seldom."""
    if len(piece) < _PIECE or piece.isdigit():
        return False
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "o" for c in piece]
    changes = sum(a != b for a, b in itertools.pairwise(classes)) / (len(piece) - 1)
    kinds, digits, numbers = len({c for c in classes if c != "o"}), classes.count("d"), len(re.findall(r"\d+", piece))
    if kinds == 3:
        return changes >= (0.34 if numbers > 1 else 0.45)  # 'gpuClearPoisonForBug2924523' ends in a number
    return kinds == 2 and digits >= 3 and len(piece) >= 20 and changes >= 0.25 and not _CONDA.search(piece)


_CONDA = re.compile(r"py\d{2,3}h[0-9a-f]{7}$")
"""A build string."""
