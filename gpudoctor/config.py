"""The ignore list: where it is looked for, how it is read, and how it comes to the checks.

`[tool.gpudoctor]` of a pyproject.toml, or a gpudoctor.toml, of a project; gpudoctor.toml of the user; /etc/gpudoctor.toml of the
machine. They speak of different things, and so all of them count.
"""

from __future__ import annotations

import datetime
import difflib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from . import registry
from .errors import Error
from .findings import IgnoreEntry
from .registry import Check

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MACHINE = Path("/etc/gpudoctor.toml")
MAX_BYTES = 1 << 20
"""A larger file is none that a person wrote."""
_OWN, _PROJECT = "gpudoctor.toml", "pyproject.toml"
_KEYS = ("check", "reason", "until", "about")
_MOST_OF_A_REASON = 500
"""Characters."""


class BadConfig(Error, ValueError):  # noqa: N818
    """An ignore list that can't be read, or says what can't be meant; the text names the file and the entry."""


def files(start: Path | None = None) -> tuple[Path, ...]:
    """The files that hold an ignore list, or may: the nearest one above `start` (default: here), the user's, the machine's.

    Upwards it goes no further than the root of a git repository. Raises BadConfig where a file can't be read.
    """
    ways = [_of_project(start or _here()), _of_user(), MACHINE]
    return tuple(dict.fromkeys(one for one in ways if one is not None and os.path.lexists(one)))


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return None


def _of_project(start: Path | None) -> Path | None:
    """gpudoctor.toml before pyproject.toml, of which only that counts which speaks of gpudoctor."""
    for directory in (start, *start.parents) if start is not None else ():
        if os.path.lexists(directory / _OWN):
            return directory / _OWN
        if os.path.isfile(project := directory / _PROJECT) and b"gpudoctor" in (data := _bytes(project)):
            tool = _parsed(project, data).get("tool")
            if isinstance(tool, dict) and "gpudoctor" in tool:
                return project
        if os.path.exists(directory / ".git"):
            return None
    return None


def _of_user() -> Path | None:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(home) / "gpudoctor" / _OWN if os.path.isabs(home) else None


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as f:
            data = f.read(MAX_BYTES + 1)
    except OSError as e:
        raise BadConfig(f"{path}: {e.strerror or e}") from e
    if len(data) > MAX_BYTES:
        raise BadConfig(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    return data


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as e:
        raise BadConfig(f"{path} is no TOML: {' '.join(str(e).split())}") from e


# ------------------------------------------------------------------------------- what stands in it


def entries(path: Path, today: datetime.date | None = None) -> tuple[IgnoreEntry, ...]:
    """What the ignore list in `path` says; `today`, the local day, decides which entry has expired. Raises BadConfig."""
    table: Any = _parsed(path, _bytes(path))
    prefix = ""
    if path.name == _PROJECT:
        prefix = "tool.gpudoctor."
        table = table.get("tool", {})
        table = table.get("gpudoctor", {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise BadConfig(f"{path}: {prefix.rstrip('.')} is no table")
    for key in table:
        if key != "ignore":
            raise BadConfig(f"{path}: {_unknown(key, ('ignore',), prefix)}")
    listed = table.get("ignore", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadConfig(f"{path}: ignore is a list of tables, [[{prefix}ignore]]")
    day = datetime.date.today() if today is None else today  # noqa: DTZ011 - the day of who reads the file
    made = []
    for number, one in enumerate(listed, 1):
        try:
            entry = _entry(one, path, day)
        except (BadConfig, registry.UnknownCheckError) as e:
            raise BadConfig(f"{path}, entry {number}{_named(one)}: {e}") from e
        made += [entry] if entry is not None else []
    return tuple(made)


def _entry(one: dict[str, Any], path: Path, today: datetime.date) -> IgnoreEntry | None:
    """None: it is for a check of a plug-in that is not installed here."""
    for key in one:
        if key not in _KEYS:
            raise BadConfig(_unknown(key, _KEYS))
    for key in ("check", "reason"):
        if key not in one:
            raise BadConfig(f"{key} is missing")
        if not isinstance(one[key], str) or not one[key].strip():
            raise BadConfig(f"{key} is a text, in quotes")
    until, about = one.get("until"), one.get("about", [])
    if until is not None and (not isinstance(until, datetime.date) or isinstance(until, datetime.datetime)):
        raise BadConfig("until is a day without quotes and hours: until = 2027-03-01")
    about = [about] if isinstance(about, str) else about
    if not isinstance(about, list) or not all(isinstance(device, str) and device for device in about):
        raise BadConfig('about is a text or a list of texts: about = "gpu2"')
    reason = " ".join(one["reason"].split())
    if len(reason) > _MOST_OF_A_REASON:
        raise BadConfig(f"reason is longer than {_MOST_OF_A_REASON} characters")
    name = one["check"].strip()
    try:
        check = registry.find(name)
    except registry.UnknownCheckError:
        if registry.is_code_of_plugin(name):
            return None
        raise
    return IgnoreEntry(
        code=check.code,
        cause=check.cause,
        reason=reason,
        until=until.isoformat() if until is not None else None,
        about=tuple(about),
        file=_shown(path),
        expired=until is not None and until < today,
    )


def _unknown(key: str, known: Iterable[str], prefix: str = "") -> str:
    near = difflib.get_close_matches(key, list(known), n=1)
    hint = f"; did you mean {near[0]}?" if near else f" (known: {', '.join(known)})"
    return f"no key is called {prefix}{key}{hint}"


def _named(one: dict[str, Any]) -> str:
    name = one.get("check")
    return f" ({name})" if isinstance(name, str) and len(name) < 80 else ""


def _shown(path: Path) -> str:
    """Below the current directory without it."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


# ------------------------------------------------------------------------------- to the checks


def marked(
    checks: tuple[Check, ...], config: Path | bool = True, *, today: datetime.date | None = None
) -> tuple[Check, ...]:
    """`checks` with what the ignore list says of each. `config`: the file; True: those that are found; False: none.

    Raises BadConfig.
    """
    every = [entry for path in _chosen(config) for entry in entries(path, today)]
    by_code: dict[str, list[IgnoreEntry]] = {}
    for entry in every:
        by_code.setdefault(entry.code, []).append(entry)
    if not by_code:
        return checks
    return tuple(msgspec.structs.replace(c, ignored=tuple(by_code.get(c.code, ()))) for c in checks)


def _chosen(config: Path | bool) -> Iterator[Path]:
    if config is True:
        yield from files()
    elif config is not False:
        yield config
