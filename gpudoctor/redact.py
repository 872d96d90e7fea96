"""What leaves the machine: names, addresses, ids and secrets become tokens, and the report lists them.

A token is made of the value and a key that stays on this machine. So equal things stay equal, within one report
and between two of one machine, and nobody can look a name or an address up in a list of all there are. A token
keeps the form where form matters: paths stay paths, a GPU's UUID stays one, and what abbreviates it abbreviates it.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import hmac
import os
import re
import secrets
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from . import bundle, identifiers
from .bundle import Kind, Redaction, Report
from .facts import Facts
from .identifiers import Identifier
from .registry import Check

# ------------------------------------------------------------------------------- who and where


@dataclasses.dataclass(frozen=True)
class Identity:
    """Who and where this is, as far as it is known: names to replace wherever they stand."""

    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def and_also(self, other: Identity) -> Identity:
        """Both."""
        mine, others = dataclasses.astuple(self), dataclasses.astuple(other)
        return Identity(*(a + b for a, b in zip(mine, others, strict=True)))


def live() -> Identity:
    """This machine and this user; the network is not asked."""
    users, homes = [os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")], [os.environ.get("HOME", "")]
    try:
        import pwd

        entry = pwd.getpwuid(os.getuid())
    except (ImportError, KeyError):
        pass
    else:
        users.append(entry.pw_name)
        homes.append(entry.pw_dir)
    host = socket.gethostname()
    lines = [line.split("#")[0].split()[1:] for line in _text("/etc/hosts").splitlines()]
    search = re.findall(r"^(?:search|domain)\s+(.+)", _text("/etc/resolv.conf"), re.MULTILINE)
    return Identity(
        users=_given(users),
        homes=_given(homes),
        hosts=_given([host, *(n for names in lines if host in names for n in names if "local" not in n)]),
        domains=_given(domain.strip(".") for line in search for domain in line.split()),
        ids=_given([_text("/etc/machine-id").strip()]),
    )


def recorded(facts: Facts) -> Identity:
    """What the facts themselves say of it."""

    def of(field: str) -> tuple[str, ...]:
        value = getattr(facts.system, field, None)
        return (value,) if isinstance(value, str) and value else ()

    return Identity(users=of("user_name"), homes=of("home"), hosts=of("hostname"))


@functools.cache
def machine_key() -> bytes:
    """The same on one machine, and in no report.

    An image may bring its machine-id, which everybody who has the image knows: in a container the id of this
    boot is added, and tokens compare until the next one. Where nothing can be read the key is of this run alone.
    """
    machine = _text("/etc/machine-id").strip() or _text("/var/lib/dbus/machine-id").strip()
    contained = (
        any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))) or "KUBERNETES_SERVICE_HOST" in os.environ
    )
    boot = _text("/proc/sys/kernel/random/boot_id").strip() if contained or not machine else ""
    return hashlib.sha256(
        f"gpudoctor {machine}{boot or (secrets.token_hex() if not machine else '')}".encode()
    ).digest()


def _text(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as f:
            return f.read(1 << 16)
    except OSError:
        return ""


def _given(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(v for v in values if v))


# ------------------------------------------------------------------------------- the report


def report(
    made: Report, identity: Identity, checks: tuple[Check, ...] | None = None, key: bytes | None = None
) -> Report:
    """`made` with tokens for what it tells of persons and machines; one that has them already is left as it is.

    What was seen is redacted and then judged again: so what is said of it holds nothing that it does not hold.
    """
    if made.redactions is not None:
        return made
    facts = msgspec.structs.replace(made.facts, measurements=made.measurements)
    redactor = Redactor(facts, recorded(facts).and_also(identity), machine_key() if key is None else key)
    again = bundle.make(redactor.tree(facts), made.started_at, checks)
    if _answer(again) != _answer(made):  # a check went by something that is a token now: what it said stands
        said = {name: redactor.tree(getattr(made, name)) for name in ("findings", "diagnosis", "skipped", "unknown")}
        again = msgspec.structs.replace(again, **said)
    return msgspec.structs.replace(again, redactions=redactor.listed())


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
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from texts(getattr(value, field), _holder(value, field))


def _holder(value: msgspec.Struct, field: str) -> str:
    """The field's name; of what a variable or a setting is set to, that one's."""
    name = getattr(value, "name", None)
    return name if field == "value" and isinstance(name, str) else field


def _found(name: str, text: str) -> Iterator[Identifier]:
    """The identifiers in a text of the field or variable `name`."""
    yield from identifiers.people(text)
    yield from identifiers.hardware(text)
    yield from identifiers.names(text)
    yield from identifiers.secrets(text)
    if "version" not in name.lower():
        yield from identifiers.addresses(text)
    if "serial" in name:
        yield from identifiers.serial(text)
    if not name.isupper():
        return
    if name in identifiers.DEVICE_VARIABLES:
        yield from identifiers.short_gpu_ids(text)
    else:
        yield from identifiers.random_words(text)
    if identifiers.USER_VARIABLES.search(name) and text:
        yield Identifier("user", text)
    if identifiers.HOST_VARIABLES.search(name):
        yield from identifiers.hosts_in_variable(text)


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
            if letter == "-":
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

_NO_HOMES = ("", "/opt", "/usr", "/usr/local", "/var", "/var/lib", "/tmp", "/srv", "/run", "/mnt", "/data", "/etc")  # noqa: S108
"""Directories whose children are homes only where they are called as the user is."""
_HOMES = ("/home/", "/Users/", "/users/", "\\Users\\")
_STARTS, _ENDS = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_SEGMENT_ENDS = r"(?![\w@+-]|\.\w)"
_NAME_STARTS, _NAME_ENDS = r"(?<![A-Za-z0-9.-])", r"(?![A-Za-z0-9-]|\.[A-Za-z0-9])"


_PYTHON = re.compile(r"[\w./+~-]*python[\w.]*")
"""A word that is a Python's name or path, and nothing else."""


class Redactor:
    """One replacement for every text of a report."""

    def __init__(self, facts: Facts, identity: Identity, key: bytes) -> None:
        self._tokens = Tokens(key)
        self._rules: dict[str, tuple[str, Parts]] = {}
        self._names: dict[str, Parts] = {}
        self._count: Count = collections.Counter()
        self._done: dict[str, tuple[str, Count]] = {}
        seen = list(dict.fromkeys(texts(facts)))
        self._learn(identity)
        self._command(facts.python.chosen_because)
        versions = {text.rpartition(" ")[2] for name, text in seen if "version" in name.lower() or name == "owner"}
        for one in dict.fromkeys(one for name, text in seen for one in _found(name, text)):
            if one.text not in versions:
                self._add(*one)
        longest_first = sorted(self._rules.items(), key=lambda rule: -len(rule[1][0]))
        self._groups = {f"r{n}": parts for n, (_, (_, parts)) in enumerate(longest_first)}
        self._pattern = re.compile("|".join(f"(?P<r{n}>{one})" for n, (one, _) in enumerate(longest_first)) or "(?!)")

    def tree(self, value: Any, name: str = "") -> Any:
        """The same structure with tokens in its texts."""
        if isinstance(value, str):
            return self._whole(value, name)
        if isinstance(value, tuple):
            return tuple(self.tree(one, name) for one in value)
        if isinstance(value, dict):
            return {k: self.tree(one, name) for k, one in value.items()}
        if isinstance(value, msgspec.Struct):
            fields = value.__struct_fields__
            made = type(value)(**{field: self.tree(getattr(value, field), _holder(value, field)) for field in fields})
            return value if made == value else made  # a default that stays itself is not written
        return value

    def listed(self) -> tuple[Redaction, ...]:
        """The tokens that were put in until now."""
        return tuple(Redaction(token=token, kind=kind, count=n) for (kind, token), n in sorted(self._count.items()))

    def _text(self, text: str) -> str:
        if text not in self._done:
            counted: Count = collections.Counter()

            def token(match: re.Match[str]) -> str:
                parts = self._groups[str(match.lastgroup)]
                counted.update(parts)
                return _joined(parts)

            self._done[text] = (self._pattern.sub(token, text), counted)
        replaced, counted = self._done[text]
        self._count.update(counted)
        return replaced

    def _whole(self, text: str, name: str) -> str:
        """A field or a variable that holds nothing but names holds tokens; all others go by the rules."""
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
            if name not in ("", *identifiers.PUBLIC_USERS) and (parent not in _NO_HOMES or name in identity.users):
                self._home(name, (f"{parent}/",))
        for host in identity.hosts:
            self._add("domain" if "." in host else "host", host)
        for domain in identity.domains:
            if domain.lower() not in ("local", "localdomain", "cluster.local"):
                parts: Parts = (("domain", self._tokens.of("domain", domain.lower())),)
                self._rule(domain, parts, r"(?<![A-Za-z0-9-])", _NAME_ENDS, any_case=True)
        for one in identity.ids:
            self._add("serial", one)

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

    def _add(self, kind: Kind, text: str) -> None:
        if kind == "home":
            self._home(text, _HOMES)
        elif kind == "user":
            self._user(text)
        elif kind == "host":
            self._host(text)
        elif kind == "domain":
            self._full_name(text)
        elif kind == "gpu-uuid" or (kind == "serial" and identifiers.is_uuid(text)):
            word, digits = identifiers.halves(text)
            self._rule(text, ((kind, word + self._tokens.uuid(digits)),), r"(?<![\w-])", r"(?![\w-])")
        elif kind == "address":
            parts: Parts = ((kind, self._tokens.of("ip", text.lower())),)
            self._rule(text, parts, r"(?<![A-Za-z0-9.+-])", r"(?![A-Za-z0-9]|\.\d)")
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
        for before in (*_HOMES, "/media/", "user=", "~"):
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
        self._rules.setdefault(before + literal + after, (text, parts))


def _joined(parts: Parts) -> str:
    return ".".join(token for _, token in parts)
