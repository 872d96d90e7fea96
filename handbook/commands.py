"""The commands of gpudoctor with their arguments and options, as `gpudoctor/cli.py` declares them."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo


@dataclasses.dataclass(frozen=True)
class Parameter:
    """An argument or an option."""

    names: tuple[str, ...]
    """('-o', '--output'); of an argument nothing."""
    value: str
    """What stands for its value: 'FILE', 'text|json'; nothing for a flag."""
    help: str
    default: str
    """Nothing where there is none to name."""
    optional: bool
    repeatable: bool


@dataclasses.dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    """'check', 'compat solve'."""
    help: str
    """Its whole docstring; the first line is a summary."""
    arguments: tuple[Parameter, ...]
    options: tuple[Parameter, ...]


def commands(app: typer.Typer, group: str = "") -> Iterator[Command]:
    """Every command in the order in which it is registered, those of a group after the commands beside it."""
    for info in app.registered_commands:
        body = info.callback
        assert body is not None
        parameters = list(_parameters(body))
        yield Command(
            name=f"{group}{info.name or body.__name__.rstrip('_')}",
            help=inspect.cleandoc(body.__doc__ or ""),
            arguments=tuple(p for p in parameters if not p.names),
            options=tuple(p for p in parameters if p.names),
        )
    for inner in app.registered_groups:
        assert inner.typer_instance is not None
        yield from commands(inner.typer_instance, f"{group}{inner.name or inner.typer_instance.info.name} ")


def _parameters(body: Callable[..., Any]) -> Iterator[Parameter]:
    hints = typing.get_type_hints(body, include_extras=True)
    for name, one in inspect.signature(body).parameters.items():
        annotated = get_args(hints[name])
        info = next((a for a in annotated if isinstance(a, ArgumentInfo | OptionInfo)), None)
        assert info is not None, f"{body.__name__}({name}) is not declared"
        kind, repeatable = _kind(annotated[0])
        names: tuple[str, ...] = ()
        if isinstance(info, OptionInfo):
            written = (
                info.default,
                *(info.param_decls or ()),
            )  # in an Annotated, the first stands where a default would
            decls = tuple(d for d in written if isinstance(d, str) and d.startswith("-"))
            names = tuple(n for d in decls for n in d.split("/")) or (f"--{name.replace('_', '-')}",)
        yield Parameter(
            names=names,
            value=_value(kind, info, name),
            help=info.help or "",
            default=_default(one.default, names),
            optional=one.default is not inspect.Parameter.empty,
            repeatable=repeatable,
        )


def _kind(hint: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there may be several."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (a for a in get_args(hint) if a is not type(None))
    if get_origin(hint) is list:
        return get_args(hint)[0], True
    return hint, False


def _value(kind: Any, info: ArgumentInfo | OptionInfo, name: str) -> str:
    if kind is bool:
        return ""
    if info.metavar:
        return info.metavar
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "|".join(str(one.value) for one in kind)
    return name.upper() if isinstance(info, ArgumentInfo) else {int: "N", float: "N", Path: "FILE"}.get(kind, "TEXT")


def _default(value: Any, names: tuple[str, ...]) -> str:
    if value is inspect.Parameter.empty or value is None or value is False:
        return ""
    if value is True:
        return names[0] if len(names) > 1 else ""
    return str(value.value if isinstance(value, enum.Enum) else value)
