"""The fabric manager that is installed."""

from __future__ import annotations

import re
from typing import Any

from ..facts import FabricManager, Unread
from .ask import Answers, Task, reason

TASK: Task = ("fabric.fabric_manager", {})
_SETTLE = "nv-fabricmanager --version"
_RELEASE = re.compile(r"(?:\d+:)?(\d{3}\.\d{1,3}(?:\.\d{1,2})?)(?![\d.])")


def read(answers: Answers) -> FabricManager | Unread | None:
    """Its file, its package, its release; None where it is not installed."""
    got: dict[str, Any] | None = answers.last("fabric_manager")
    if got is None:
        return answers.unread(TASK[0], _SETTLE)
    if got["path"] is None:
        return None
    package = got["package"]
    failed = Unread(why=package["failed"], settle=_SETTLE) if "failed" in package else None
    return FabricManager(
        path=got["path"],
        version=_version(got),
        package=failed or package.get("name"),
        package_version=failed or package.get("version"),
        manager=package["manager"],
    )


def _version(got: dict[str, Any]) -> str | Unread | None:
    """Of the package; of the file only where it names no other."""
    told = _RELEASE.match(got["package"].get("version") or "")
    if told:
        return told.group(1)
    releases = got["releases"]
    if isinstance(releases, int):
        return Unread(why=f"{got['path']}: {reason(releases)}", settle=_SETTLE)
    if releases and len(releases) > 1:
        return Unread(why=f"{got['path']} names several releases", settle=_SETTLE)
    return str(releases[0]) if releases else None
