"""What leaves the machine: names, addresses, ids and secrets become tokens, and the report lists them.

A token is made of the value and a key that stays on this machine. So equal things stay equal, within one report
and between two of one machine, and nobody can look a name or an address up in a list of all there are. A token
keeps the form where form matters: paths stay paths, a GPU's UUID stays one, and what abbreviates it abbreviates it.
"""

from __future__ import annotations

import collections
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote
from typing import Any, NamedTuple

import msgspec

from . import bundle, credentials, identifiers, registry
from .bundle import Kind, Redaction, Report
from .facts import Facts, GpuProcess
from .identifiers import Identifier
from .identity import HOMES, Identity, live, machine_key, recorded
from .registry import Check

# ------------------------------------------------------------------------------- the report


class Leaving(NamedTuple):
    """What may leave the machine."""

    report: Report
    texts: tuple[str, ...] = ()
    """Raw outputs, with the same tokens."""
    stood_for: tuple[tuple[Redaction, str], ...] = ()
    """What the tokens stand for. This may not leave."""


def report(
    made: Report, identity: Identity, checks: tuple[Check, ...] | None = None, key: bytes | None = None
) -> Report:
    """`made` with tokens for what it tells of persons and machines; one that has them already is left as it is.

    What was seen is redacted and then judged again: so what is said of it holds nothing that it does not hold. The words of the
    ignore list and of plug-ins come from elsewhere, and are redacted as they are, in a report that has tokens already, too.
    """
    return together(made, (), identity, checks, key).report


def together(
    made: Report,
    raw: Sequence[str],
    identity: Identity,
    checks: tuple[Check, ...] | None = None,
    key: bytes | None = None,
) -> Leaving:
    """The same of a report and of raw outputs that leave with it: what one of them gives away is replaced in all."""
    others = tuple(_of_others(made))
    before = made.redactions
    if before is not None and not raw and not others:
        return Leaving(made)
    if others:
        identity = identity.and_also(live())
    key = machine_key() if key is None else key
    if before is not None:
        redactor = Redactor(Facts(), identity, key, (*others, *raw))
        made = msgspec.structs.replace(made, **_tokens_in_what_is_said(made, redactor))
        made = msgspec.structs.replace(made, redactions=_both(before, redactor.listed()))
    else:
        facts = made.seen
        redactor = Redactor(facts, recorded(facts).and_also(identity), key, (*others, *raw))
        again = bundle.make(redactor.tree(facts), made.started_at, checks)
        # where a check went by something that is a token now, what it said stands
        if others or _answer(again) != _answer(made):
            again = msgspec.structs.replace(again, **_tokens_in_what_is_said(made, redactor))
        made = msgspec.structs.replace(again, redactions=redactor.listed())
    return Leaving(made, tuple(map(redactor.raw, raw)), tuple(redactor.stood_for()))


def _tokens_in_what_is_said(made: Report, redactor: Redactor) -> dict[str, Any]:
    fields = ("findings", "diagnosis", "skipped", "unknown", "ignored")
    return {name: redactor.tree(getattr(made, name)) for name in fields}


def _of_others(made: Report) -> Iterator[str]:
    """The texts in a report that are not made of its facts by gpudoctor: of the ignore list, and of plug-ins."""
    told = {"plugin-failed", *(one.entry.cause for one in made.ignored if one.is_back)}
    ends = (made.findings, made.diagnosis.ruled_out, made.skipped, made.unknown)
    of_plugins = tuple(one for several in ends for one in several if not registry.is_own(one.code))
    parts = (made.ignored, tuple(f for f in made.findings if f.cause in told), of_plugins)
    yield from (text for part in parts for _, text in texts(part))


def _both(one: tuple[Redaction, ...], other: tuple[Redaction, ...]) -> tuple[Redaction, ...]:
    counts: Count = collections.Counter()
    for redaction in (*one, *other):
        counts[redaction.kind, redaction.token] += redaction.count
    return tuple(Redaction(token=token, kind=kind, count=n) for (kind, token), n in sorted(counts.items()))


def _answer(made: Report) -> tuple[object, ...]:
    """What must not depend on names."""
    diagnosis = made.diagnosis
    return (
        diagnosis.verdict,
        [(r.code, r.explains, [f.trial and f.trial.worked is True for f in r.fixes]) for r in diagnosis.root_causes],
        {symptom: [c.code for c in left] for symptom, left in diagnosis.candidates.items()},
        [f.code for f in made.findings],
        [u.code for u in made.unknown],
        [s.code for s in made.skipped],
    )


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a structure, with the field, or the variable, that holds it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple):
        for one in value:
            yield from texts(one, name)
    elif isinstance(value, dict):
        yield from texts(tuple(value.values()), name)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from texts(getattr(value, field), _holder(value, field))


COMMAND = "command"
"""The name of a field that holds what a process was started with."""


def _kept(value: msgspec.Struct) -> tuple[str, ...]:
    """The fields that hold the names of gpudoctor's own checks, whatever a host is called."""
    return ("cause", "code", "title", "explains") if registry.is_own(str(getattr(value, "code", ""))) else ()


def _holder(value: msgspec.Struct, field: str) -> str:
    """The field's name; of what a variable or a setting is set to, that one's; of a process its command."""
    if isinstance(value, GpuProcess) and field == "name":
        return COMMAND
    name = getattr(value, "name", None)
    return name if field == "value" and isinstance(name, str) else field


def _found(name: str, text: str) -> Iterator[Identifier]:
    """The identifiers in a text of the field or variable `name`."""
    yield from identifiers.people(text)
    yield from identifiers.hardware(text)
    yield from identifiers.names(text)
    for one in credentials.found(text):
        yield Identifier("secret", *one)
    if "version" not in name.lower() or " " in text:
        yield from identifiers.addresses(text)
        for one in credentials.random_words(text):
            yield Identifier("secret", *one)
    if "serial" in name:
        yield from identifiers.serial(text)
    if name == COMMAND:
        yield from identifiers.arguments(text)
    if _is_variable(name):
        for one in credentials.of_variable(name, text):
            yield Identifier("secret", *one)
    if not name.isupper():
        return
    if name in identifiers.DEVICE_VARIABLES:
        yield from identifiers.short_gpu_ids(text)
    else:
        for one in credentials.long_words(text):
            yield Identifier("secret", *one)
    if identifiers.USER_VARIABLES.search(name) and text:
        yield Identifier("user", text)
    if identifiers.HOST_VARIABLES.search(name):
        yield from identifiers.hosts_in_variable(text)


def _is_variable(name: str) -> bool:
    """Not a field: their names have no capital letters."""
    return name != name.lower()


# ------------------------------------------------------------------------------- tokens


class Tokens:
    """Values -> tokens, under one key. Two values never share a token."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._owners: dict[str, tuple[str, str]] = {}

    def of(self, word: str, value: str) -> str:
        """`word` and some digits. A value that a shell wants quoted has a token that it wants quoted, too."""
        digest = self._digest(word, value)
        space = "-" if quote(value) == value else " "
        for digits in range(6, len(digest)):
            token = f"{word}{space}{digest[:digits]}"
            if self._owners.setdefault(token, (word, value)) == (word, value):
                break
        return token

    def uuid(self, text: str) -> str:
        """A UUID, or what abbreviates one, in other digits: what begins alike begins alike afterwards, too."""
        seen, made = "", ""
        for letter in text.lower():
            if letter in "-_":
                made += letter
            else:
                made += f"{(int(letter, 16) + int(self._digest('digit', seen)[0], 16)) % 16:x}"
                seen += letter
        return made

    def _digest(self, word: str, value: str) -> str:
        message = f"{word}\0{value}".encode("utf-8", "surrogateescape")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()


# ------------------------------------------------------------------------------- replacing

Parts = tuple[tuple[Kind, str], ...]
"""Tokens with their kinds; more than one are joined by dots."""
Count = collections.Counter[tuple[Kind, str]]

_NOHOMES = ("", "/opt", "/usr", "/usr/local", "/var", "/var/lib", "/tmp", "/srv", "/run", "/mnt", "/data", "/etc")  # noqa: S108
"""Directories whose children are homes only where they are called as the user is."""
_STARTS, _ENDS = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_SEGMENT_ENDS = r"(?![\w@+-]|\.\w)"
_NAME_STARTS, _NAME_ENDS = r"(?<![A-Za-z0-9.-])", r"(?![A-Za-z0-9-]|\.[A-Za-z0-9])"


_PYTHON = re.compile(r"[\w./+~-]*python[\w.]*")
"""A word that is a Python's name or path, and nothing else."""


_VERSION = re.compile(r"(?:[A-Za-z][\w.-]* )?(\d+\.[\w.+!-]{1,40})")
"""All of the text of a version, or of a package with its version."""


class Redactor:
    """One replacement for every text of a report."""

    def __init__(self, facts: Facts, identity: Identity, key: bytes, also: Iterable[str] = ()) -> None:
        """What to replace is learnt from the facts, the identity, and other texts that leave with them (`also`)."""
        self._tokens = Tokens(key)
        self._rules: dict[str, tuple[str, Parts]] = {}
        self._names: dict[str, Parts] = {}
        self._words: dict[str, Parts] = {}
        self._count: Count = collections.Counter()
        self._done: dict[str, tuple[str, Count]] = {}
        self._compiled: dict[tuple[int, ...], tuple[re.Pattern[str], dict[str, Parts]]] = {}
        self._meant: dict[tuple[Kind, str], str] = {}
        seen = list(dict.fromkeys(texts(facts)))
        log = facts.tensorflow.log
        whole = "\n".join(log) if isinstance(log, tuple) else ""
        of_log = credentials.found(whole) if "-----BEGIN" in whole else ()  # a key, in lines of which none is one
        self._learn(identity)
        self._command(facts.python.chosen_because)
        self._program(facts.run.command)
        held = [_VERSION.fullmatch(text) for name, text in seen if "version" in name.lower() or name == "owner"]
        versions = {match[1] for match in held if match is not None}
        found = (one for name, text in seen for one in _found(name, text))
        found_also = (one for text in also for one in (*_found("", text), *identifiers.processes(text)))
        for one in dict.fromkeys((*found, *found_also, *(Identifier("secret", *one) for one in of_log))):
            if one.text not in versions:
                self._add(one.kind, one.text, one.before)
        longest_first = sorted(self._rules.items(), key=lambda rule: -len(rule[1][0]))
        self._ordered = [(text.lower(), pattern, parts) for pattern, (text, parts) in longest_first]

    def tree(self, value: Any, name: str = "") -> Any:
        """The same structure with tokens in its texts."""
        if isinstance(value, str):
            return self._whole(value, name)
        if isinstance(value, tuple):
            return tuple(self.tree(one, name) for one in value)
        if isinstance(value, dict):
            return {k: self.tree(one, name) for k, one in value.items()}
        if isinstance(value, msgspec.Struct):
            fields, kept = value.__struct_fields__, _kept(value)
            made = type(value)(
                **{
                    f: getattr(value, f) if f in kept else self.tree(getattr(value, f), _holder(value, f))
                    for f in fields
                }
            )
            return value if made == value else made  # a default that stays itself is not written
        return value

    def listed(self) -> tuple[Redaction, ...]:
        """The tokens that were put in until now."""
        return tuple(Redaction(token=token, kind=kind, count=n) for (kind, token), n in sorted(self._count.items()))

    def raw(self, text: str) -> str:
        """A text of many lines, such as a program prints."""
        whole = [n for n, (literal, _, _) in enumerate(self._ordered) if "\n" in literal and literal in text.lower()]
        if whole:
            text, counted = self._replaced(text, tuple(whole))
            self._count.update(counted)
        return "\n".join(map(self._text, text.split("\n")))

    def stood_for(self) -> Iterator[tuple[Redaction, str]]:
        """What was put in until now, with what each token stands for: it may not leave the machine."""
        for one in self.listed():
            yield one, self._meant.get((one.kind, one.token), "(in the digits of an id)")

    def _text(self, text: str) -> str:
        if text not in self._done:
            low = text.lower()
            fitting = tuple(n for n, (literal, _, _) in enumerate(self._ordered) if literal in low)
            self._done[text] = self._replaced(text, fitting) if fitting else (text, collections.Counter())
        replaced, counted = self._done[text]
        self._count.update(counted)
        return replaced

    def _replaced(self, text: str, rules: tuple[int, ...]) -> tuple[str, Count]:
        """`text` by the rules of these numbers, all at once: the longest that fits at a place counts."""
        if rules not in self._compiled:
            pattern = "|".join(f"(?P<r{n}>{self._ordered[n][1]})" for n in rules)
            self._compiled[rules] = re.compile(pattern), {f"r{n}": self._ordered[n][2] for n in rules}
        compiled, groups = self._compiled[rules]
        counted: Count = collections.Counter()

        def token(match: re.Match[str]) -> str:
            parts = groups[str(match.lastgroup)]
            counted.update(parts)
            return _joined(parts)

        return compiled.sub(token, text), counted

    def _whole(self, text: str, name: str) -> str:
        """A field or a variable that holds nothing but names holds tokens; all others go by the rules."""
        if name == COMMAND and text in self._words:
            parts = self._words[text]
            self._count.update(parts)
            return _joined(parts)
        if _is_variable(name) and (one := next(credentials.of_variable(name, text), None)):
            parts = (("secret", self._tokens.of("secret", one.text)),)
            self._count.update(parts)
            return _joined(parts)
        if name in ("user_name", "hostname") or "serial" in name or identifiers.USER_VARIABLES.search(name):
            return self._named(text) or self._text(text)
        if identifiers.HOST_VARIABLES.search(name) and not text.lstrip().startswith("{"):
            return re.sub(r"[A-Za-z][\w.-]*", lambda m: self._named(m[0]) or m[0], self._text(text))
        return self._text(text)

    def _named(self, text: str) -> str | None:
        parts = self._names.get(text)
        if parts is None:
            return None
        self._count.update(parts)
        return _joined(parts)

    def _learn(self, identity: Identity) -> None:
        for user in identity.users:
            self._user(user)
        for home in identity.homes:
            parent, _, name = home.rstrip("/").rpartition("/")
            if name not in ("", *identifiers.PUBLIC_USERS) and (parent not in _NOHOMES or name in identity.users):
                self._home(name, (f"{parent}/",))
        for host in identity.hosts:
            self._add("domain" if "." in host else "host", host)
        for domain in identity.domains:
            if domain.lower() not in ("local", "localdomain", "cluster.local"):
                parts: Parts = (("domain", self._tokens.of("domain", domain.lower())),)
                self._rule(domain, parts, r"(?<![A-Za-z0-9-])", _NAME_ENDS, any_case=True)
        for one in identity.ids:
            self._add("serial", one)
        for one in identity.secrets:
            self._add("secret", one)

    def _command(self, because: object) -> None:
        """Of the command that leads to the patient the program and the Python at its end stay; what is between them
        names users, hosts, containers and projects, and may hold passwords."""
        words = because.split() if isinstance(because, str) else []
        if len(words) < 3 or words[0] != "--in":
            return
        assert isinstance(because, str)
        start = because.index(words[1]) + len(words[1]) + 1
        end = because.rindex(words[-1]) if _PYTHON.fullmatch(words[-1]) else len(because)
        if between := because[start:end].strip():
            parts: Parts = (("secret", self._tokens.of("secret", between)),)
            self._rule(between, parts, f"(?<={re.escape(because[:start])})", "")

    def _program(self, words: object) -> None:
        """Of a program that was run each word is a text of its own: the one before it tells that it is a secret."""
        for one in credentials.found(" ".join(words)) if isinstance(words, tuple) else ():
            self._words[one.text] = (("secret", self._tokens.of("secret", one.text)),)

    def _add(self, kind: Kind, text: str, before: str = "") -> None:
        if before:
            parts: Parts = ((kind, self._tokens.of(kind, text)),)
            self._rule(text, parts, f"(?<={re.escape(before)})", "" if kind == "secret" else _ENDS)
        elif kind == "home":
            self._home(text, HOMES)
        elif kind == "user":
            self._user(text)
        elif kind == "host":
            self._host(text)
        elif kind == "domain":
            self._full_name(text)
        elif kind == "gpu-uuid" or (kind == "serial" and identifiers.is_uuid(text)):
            word, digits = identifiers.halves(text)
            edges = ("", "") if identifiers.is_uuid(digits) else (r"(?<![\w-])", r"(?![\w-])")
            self._rule(text, ((kind, word + self._tokens.uuid(digits)),), *edges)
        elif kind == "address":
            parts = ((kind, self._tokens.of("ip", text.lower())),)
            self._rule(text, parts, r"(?<![A-Za-z0-9.+])", r"(?![A-Za-z0-9]|\.\d)")
        elif kind == "secret" and credentials.distinctive(text):
            self._rule(text, ((kind, self._tokens.of(kind, text)),), "", "")
        else:
            parts = ((kind, self._tokens.of(kind, text)),)
            self._names[text] = parts
            if kind != "serial" or len(text) > 5:
                self._rule(text, parts)

    def _home(self, name: str, parents: Iterable[str]) -> None:
        for parent in parents:
            self._rule(name, (("home", self._tokens.of("user", name)),), f"(?<={re.escape(parent)})", _SEGMENT_ENDS)
        self._user(name)

    def _user(self, name: str) -> None:
        if name in identifiers.PUBLIC_USERS:
            return
        parts: Parts = (("user", self._tokens.of("user", name)),)
        self._names.setdefault(name, parts)
        if not identifiers.ordinary_user(name):
            self._rule(name, parts)
            return
        for before in (*HOMES, "/media/", "user=", "~"):
            self._rule(name, parts, f"(?<={re.escape(before)})", _SEGMENT_ENDS)
        self._rule(name, parts, r"(?<![\w.+-])", "(?=@)")

    def _host(self, name: str) -> None:
        if name.lower() == "localhost":
            return
        parts: Parts = (("host", self._tokens.of("host", name.lower())),)
        self._names.setdefault(name, parts)
        if not identifiers.ordinary_host(name):
            self._rule(name, parts, any_case=True)
            return
        self._rule(name, parts, "(?<=@)", r"(?![\w-])")
        self._rule(name, parts, r"(?<![\w./-])", r"(?=:\d{3,5}(?!\d)|\[\d+[,-])")

    def _full_name(self, name: str) -> None:
        host, _, domain = name.lower().partition(".")
        if "." in domain or domain in identifiers.DOMAINS_OF_HOSTS:
            self._host(name.partition(".")[0])
            parts: Parts = (("host", self._tokens.of("host", host)), ("domain", self._tokens.of("domain", domain)))
        else:
            parts = (("domain", self._tokens.of("domain", name.lower())),)
        self._names.setdefault(name, parts)
        self._rule(name, parts, _NAME_STARTS, _NAME_ENDS, any_case=True)

    def _rule(
        self, text: str, parts: Parts, before: str = _STARTS, after: str = _ENDS, *, any_case: bool = False
    ) -> None:
        literal = f"(?i:{re.escape(text)})" if any_case else re.escape(text)
        self._meant.update((one, text) for one in parts)
        self._rules.setdefault(before + literal + after, (text, parts))


def _joined(parts: Parts) -> str:
    return ".".join(token for _, token in parts)


__all__ = [
    "Identity",
    "Leaving",
    "Redactor",
    "Tokens",
    "live",
    "machine_key",
    "recorded",
    "report",
    "texts",
    "together",
]
