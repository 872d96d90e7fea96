"""`gpudoctor compat`: questions put to the knowledge in compat/*.json."""

from __future__ import annotations

import contextlib
import enum
import re
import sys
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from .terminal import UsageError, deferred, delivering

if TYPE_CHECKING:
    from .compat.records import Hazard, Release
    from .compat.rules import Machine

app = typer.Typer(
    name="compat",
    help="Which TensorFlow works with which driver, GPU, CUDA, cuDNN and Python; every answer with its source.",
    no_args_is_help=True,
    add_completion=False,
)

_OLDEST_DRIVER = 90
"""Below are CUDA's versions: '12.2'."""


class Format(str, enum.Enum):
    """How knowledge is printed."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="Text for a person, JSON for a program.")]


@deferred(app, "show")
def show(
    release: Annotated[str, typer.Argument(metavar="RELEASE|PACKAGE", help="'2.17', '2.21.0', 'tensorflow-gpu'.")],
    format: FormatOption = Format.TEXT,
) -> int:
    """Show what is known of a release of TensorFlow, or of one of its packages."""
    from . import compat
    from .render import compat as renderer

    named, _, version = release.partition("==")
    package = compat.package(named) if not version else None
    found = _releases(version or release) if package is None else []
    with delivering() as out:
        if format is Format.JSON:
            _json(
                package or {"release": found[0], "build": compat.build(found[0].version), "hazards": _hazards(found[0])}
            )
        elif package is not None:
            renderer.package(package, out)
        else:
            renderer.release(found[0], out, found[1:])
    return 0


def _hazards(release: Release) -> list[Hazard]:
    from . import compat

    return [h for h in compat.matrix().hazards if compat.admits(h.tensorflow, release.version)]


def _json(value: object) -> None:
    from .compat.files import text_of

    sys.stdout.write(text_of(value))


@deferred(app, "matrix")
def matrix(
    all: Annotated[
        bool, typer.Option("--all", help="Every release; without it the newest patch of each minor.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> int:
    """Print the releases of TensorFlow as a table: Python, CUDA, cuDNN, GPUs, oldest driver."""
    from . import compat
    from .render import compat as renderer

    chosen = compat.releases() if all else compat.newest_patches()
    with delivering() as out:
        if format is Format.JSON:
            _json([{"release": one, "build": compat.build(one.version)} for one in chosen])
        else:
            renderer.matrix(chosen, out)
    return 0


@deferred(app, "solve")
def solve(
    releases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RELEASE]...", help="Only these ('2.21', 'tensorflow-gpu==2.12.0'); all of them otherwise."
        ),
    ] = None,
    driver: Annotated[
        str | None, typer.Option("--driver", help="'535.161.08'; without this and the next options: of this machine.")
    ] = None,
    gpu: Annotated[
        list[str] | None,
        typer.Option("--gpu", help="'H100', 'RTX 4090', a PCI id or a compute capability; repeatable."),
    ] = None,
    python: Annotated[str | None, typer.Option("--python", help="'3.11'.")] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform", help="linux-x86_64, linux-aarch64, wsl2, windows-x86_64, macos-arm64, macos-x86_64."
        ),
    ] = None,
    glibc: Annotated[str | None, typer.Option("--glibc", help="'2.31'.")] = None,
    all: Annotated[
        bool, typer.Option("--all", help="Every release; without it the newest patch of each minor.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> int:
    """Say which releases of TensorFlow work on a machine, which don't and why, and how to install the best.

    Exit code 1: none works.
    """
    from . import compat
    from .compat.solve import best
    from .compat.solve import command as command_of
    from .render import compat as renderer

    given = (driver, gpu, python, platform, glibc)
    try:
        here = given == (None,) * len(given)
        machine, own = _this_machine() if here else (_described(*given), None)
        chosen = [one for text in releases or () for one in _asked(text)]
        if not chosen:
            chosen = [(None, one) for one in (compat.releases() if all else compat.newest_patches())]
        answers = tuple(compat.answer(one, machine, name) for name, one in chosen)
    except compat.NotAVersion as e:
        raise UsageError(str(e)) from e
    chosen_one = best(answers)
    with delivering() as out:
        if format is Format.JSON:
            command = command_of(chosen_one, machine, own) if chosen_one is not None else None
            version = chosen_one.version if chosen_one is not None else None
            _json({"machine": machine, "answers": answers, "best": version, "command": command})
        else:
            renderer.solution(answers, machine, out, python=own, here=here)
    return 0 if chosen_one is not None else 1


def _asked(text: str) -> list[tuple[str | None, Release]]:
    """'2.21', 'tensorflow-gpu==2.12.0', 'tensorflow[and-cuda]>=2.15': the distribution where one is named, and the releases
    that are meant: of a version the newest patch, of a range the newest patch of each minor."""
    from . import compat

    with contextlib.suppress(compat.NotAVersion):
        compat.version(text)
        found = _releases(text)
        return [(None, next((one for one in found if one.version == text), found[0]))]
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        raise UsageError(f"{text!r} is no version and no requirement (such as 2.21 or 'tensorflow>=2.15')") from None
    name = canonicalize_name(wanted.name)
    if all(name not in {f.distribution for f in one.files} for one in compat.releases()):
        known = compat.package(name)
        why = f"what was published of {name} is not recorded here" if known else f"{name} is no package of TensorFlow"
        raise UsageError(f"{text!r}: {why}")
    only = None if name == "tensorflow" else name
    exact = [s.version for s in wanted.specifier if s.operator == "==" and not s.version.endswith(".*")]
    if exact:
        return [(only, _releases(exact[0])[0])]
    chosen = [one for one in compat.newest_patches() if wanted.specifier.contains(one.version, prereleases=True)]
    if not chosen:
        raise UsageError(f"{text!r}: no release of TensorFlow that is known here is in it")
    return [(only, one) for one in chosen]


def _releases(text: str) -> list[Release]:
    from . import compat

    try:
        found = compat.releases_like(text)
    except compat.NotAVersion as e:
        raise UsageError(f"{e}, and no package of TensorFlow") from e
    if not found:
        newest = compat.releases()[0].version
        raise UsageError(f"TensorFlow {text!r} is not known here; the newest that is known is {newest}")
    return found


def _described(
    driver: str | None,
    gpu: list[str] | None,
    python: str | None,
    platform: str | None,
    glibc: str | None,
) -> Machine:
    from . import compat
    from .compat.records import Platform

    platforms: tuple[Platform, ...] = get_args(Platform)
    named = next(
        (one for one in platforms if one == ("linux-x86_64" if platform in (None, "wsl2") else platform)), None
    )
    if named is None:
        raise UsageError(f"--platform {platform!r}: one of {', '.join(('wsl2', *platforms))}")
    if python is not None and not re.fullmatch(r"\d+\.\d+(\.\d+)?", python):
        raise UsageError(f"--python {python!r}: a version such as 3.11")
    for name, value in (("--driver", driver), ("--glibc", glibc)):
        if value is not None and not re.fullmatch(r"\d+(\.\d+)*", value):
            raise UsageError(f"{name} {value!r}: a version such as {'535.161.08' if name == '--driver' else '2.31'}")
    if driver is not None and int(driver.split(".")[0]) < _OLDEST_DRIVER:
        raise UsageError(
            f"--driver {driver!r}: a driver's release, such as 535.161.08; CUDA's version is another number"
        )
    return compat.Machine(
        platform=named,
        windows_driver=platform in ("wsl2", "windows-x86_64"),
        python=".".join(python.split(".")[:2]) if python else None,
        driver=driver,
        glibc=glibc,
        gpus=tuple(compat.gpu_named(text) for text in gpu or ()),
    )


def _this_machine() -> tuple[Machine, str | None]:
    """This machine, and its Python's command."""
    from . import api
    from .compat.machine import machine_of
    from .examine import ExamineLevel, Options
    from .facts import Unread
    from .progress import Progress

    if sys.platform != "linux":
        raise UsageError(
            "this machine can't be examined (it is not Linux): describe it with --platform, --driver, --gpu, --python"
        )
    progress = Progress()
    with progress.shown():
        report, _ = api.check(Options(level=ExamineLevel.QUICK), (), trials=False, progress=progress.step)
    machine = machine_of(report.facts)
    if machine is None:
        raise UsageError("this machine's platform is none that TensorFlow is published for, as far as it could be read")
    executable = report.facts.python.executable
    return machine, None if isinstance(executable, Unread) else executable


@deferred(app, "gpu")
def gpu_(
    name: Annotated[str, typer.Argument(metavar="NAME|PCI-ID", help="'H100', 'RTX 4090', '10de:2335'.")],
    format: FormatOption = Format.TEXT,
) -> int:
    """Show what is known of a GPU: capability, memory, links, rates."""
    from . import compat
    from .render import knowledge

    models = compat.gpu_models(name)
    near = compat.near(name) if not models else ()
    if not models:
        raise UsageError(f"no GPU {name!r} is known here" + (f"; near it: {', '.join(near)}" if near else ""))
    with delivering() as out:
        if format is Format.JSON:
            _json(models)
        else:
            knowledge.gpus(name, models, out, architectures=compat.matrix().architectures)
    return 0


@deferred(app, "xid")
def xid_(
    code: Annotated[int, typer.Argument(metavar="CODE", help="The number after 'NVRM: Xid (PCI:…):'.")],
    format: FormatOption = Format.TEXT,
) -> int:
    """Show what an Xid of the kernel's log means, and what NVIDIA recommends."""
    from . import compat
    from .render import knowledge

    found = compat.xid(code)
    if found is None:
        raise UsageError(f"Xid {code} is not known here")
    with delivering() as out:
        if format is Format.JSON:
            _json(found)
        else:
            knowledge.xid(code, found, out)
    return 0
