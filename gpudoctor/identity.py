"""Who and where this is, as far as it is known: names to replace wherever they stand, and the key that they are replaced under."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path

from . import credentials
from .facts import Facts


@dataclasses.dataclass(frozen=True)
class Identity:
    """Who and where this is, as far as it is known: names to replace wherever they stand."""

    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    secrets: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    """Values of variables that are called secrets: they are no facts, and may stand in another program's output."""

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
    users += _people()
    host = socket.gethostname()
    lines = [line.split("#")[0].split()[1:] for line in _text("/etc/hosts").splitlines()]
    search = re.findall(r"^(?:search|domain)\s+(.+)", _text("/etc/resolv.conf"), re.MULTILINE)
    return Identity(
        users=_given(users),
        homes=_given(homes),
        hosts=_given([host, *(n for names in lines if host in names for n in names if "local" not in n)]),
        domains=_given(domain.strip(".") for line in search for domain in line.split()),
        ids=_given([_text("/etc/machine-id").strip()]),
        secrets=credentials.of_variables(os.environ),
    )


HOMES = ("/home/", "/Users/", "/users/", "\\Users\\")
"""Where homes are."""
_FIRST_OF_PEOPLE, _MOST_PEOPLE = 1000, 200


def _people() -> list[str]:
    """Who has an account and a home on this machine, by its own list alone."""
    entries = (line.split(":") for line in _text("/etc/passwd").splitlines())
    people = (e for e in entries if len(e) == 7 and e[2].isdigit() and int(e[2]) >= _FIRST_OF_PEOPLE)
    return [e[0] for e in people if e[5].startswith(HOMES)][:_MOST_PEOPLE]


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
