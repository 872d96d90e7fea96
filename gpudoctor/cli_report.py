"""`gpudoctor report`: one file for the ticket."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import bundle
from .cli_options import (
    ConfigOption,
    FailOn,
    FailOnOption,
    InsideOption,
    KernelsOption,
    LevelOption,
    NoConfig,
    PidOption,
    PythonOption,
    TimeoutOption,
    TrialsOption,
    chosen,
    differs,
    one_interpreter,
    told,
)
from .examine import ExamineLevel, Options
from .terminal import OneFile, OutputError, UsageError, delivering, say, to_stdout

if TYPE_CHECKING:
    from .archive import Part
    from .attachments import Attachment, Left
    from .bundle import Redaction, Report
    from .redact import Leaving
    from .registry import Check

FORMATS = {
    "report.json": ("json", "everything; gpudoctor replay judges it again"),
    "report.md": ("markdown", "for an issue's comment"),
    "report.html": ("html", "for a browser"),
}
"""File -> how it is rendered, and what it is for."""
_ONE = {OneFile.HTML: "report.html", OneFile.MD: "report.md", OneFile.JSON: "report.json"}


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A recorded report, or what the collector brought back; - is standard input. Without one: this machine.",
        ),
    ] = None,
    level: LevelOption = ExamineLevel.STANDARD,
    python: PythonOption = None,
    inside: InsideOption = None,
    pid: PidOption = None,
    kernels: KernelsOption = True,
    trials: TrialsOption = True,
    timeout: TimeoutOption = None,
    config: ConfigOption = None,
    no_config: NoConfig = False,
    fail_on: FailOnOption = FailOn.WARN,
    format: Annotated[OneFile | None, typer.Option("--format", help="Write this one file, and no zip.")] = None,
    stdout: Annotated[bool, typer.Option("--stdout", help="Write to standard output.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="A new file, or a directory; the working directory, if none is named.",
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact/--no-redact",
            help="Replace names, homes, hosts, addresses, ids, secrets and command lines by tokens in everything that is written.",
        ),
    ] = True,
    show_redactions: Annotated[
        bool,
        typer.Option(
            "--show-redactions",
            help="Show what was replaced, and what by, on this terminal. That list is for your eyes: it is in no file.",
        ),
    ] = False,
) -> int:
    """Write one file for a ticket: the report, raw outputs that support asks for, what was replaced in them."""
    from . import api, attachments
    from . import redact as redaction

    if output is not None and stdout:
        raise UsageError("--stdout and --output exclude each other")
    if stdout and format is None and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(
            "a zip is nothing for a terminal: --stdout goes with --format html, md or json, or into a pipe"
        )
    if show_redactions and not sys.stderr.isatty():
        raise UsageError("--show-redactions writes to a terminal only: what it shows may not leave")
    place, checks = _place(output), chosen(config=config, no_config=no_config)
    options = Options(level=level, python=python, inside=inside, pid=pid, kernels=kernels, timeout_s=timeout)
    if file is not None:
        recorded = told(file)
        report = api.judged(recorded, checks)
        for line in differs(recorded, report):
            say(line)
    else:
        report = _examined(options, trials, checks)
    found = attachments.taken(report.facts)
    left: list[Left] = []
    if file is None and format is None:
        made, left = attachments.made(report.facts, here=inside is None, limit_s=options.limit(attachments.LIMIT_S))
        found = made + found
    leaves = redaction.Leaving(report, (*(one.text for one in found), *(one.why for one in left)))
    if redact:
        who = redaction.live() if file is None else redaction.Identity()
        leaves = redaction.together(report, leaves.texts, who, checks)
    else:
        say("--no-redact: names, addresses, ids and secrets of this machine are in what is written")
    rendered = rendered_files(leaves.report, format, fail_on.value, recorded=file is not None)
    if format is None:
        raw = [one._replace(text=text) for one, text in zip(found, leaves.texts, strict=False)]
        missing = [one._replace(why=why) for one, why in zip(left, leaves.texts[len(found) :], strict=True)]
        data, suffix = zipped(leaves, rendered, raw, missing), "zip"
    else:
        data, suffix = rendered[0].data, format.value
    if show_redactions:
        _show(leaves.stood_for)
    if stdout:
        _print(data)
    else:
        path = place / _name(report, data, suffix) if place.is_dir() else place
        word = "Written" if written(data, path) else "It is there already"
        with delivering() as out:
            from .render.view import sentence

            out.print(sentence(report).plain, markup=False, soft_wrap=True)
            out.print(f"{word}: {path} ({max(1, len(data) // 1000)} kB)", markup=False, soft_wrap=True)
    return bundle.exit_code(report, fail_on.value)


# ------------------------------------------------------------------------------- what goes in


def _examined(options: Options, trials: bool, checks: tuple[Check, ...]) -> Report:
    """This machine's report; of a command that reaches no Python what it printed is judged, where that tells anything."""
    from . import api
    from .interpreter import Unreachable
    from .progress import Progress

    if sys.platform != "linux":
        raise UsageError(
            f"report examines Linux machines (WSL2 among them), this is {sys.platform}; report FILE works anywhere"
        )
    one_interpreter(options.python, options.inside, options.pid)
    progress = Progress()
    try:
        with progress.shown():
            return api.check(options, checks, trials=trials, on_early=progress.early, progress=progress.step)[0]
    except Unreachable as e:
        judged = api.told(e.told, checks) if e.told else None
        if judged is None:
            raise
        say(str(e))
        return judged


def rendered_files(report: Report, format: OneFile | None, fail_on: bundle.FailOn, *, recorded: bool) -> list[Part]:
    """The report in every format, or in that one."""
    from .archive import Part
    from .render import rendered

    names = FORMATS if format is None else (_ONE[format],)
    return [
        Part(name, FORMATS[name][1], rendered(report, FORMATS[name][0], fail_on, recorded=recorded).encode())
        for name in names
    ]


def zipped(leaves: Leaving, rendered: list[Part], raw: Sequence[Attachment], left: Sequence[Left]) -> bytes:
    """The zip: the report, the raw outputs, what was replaced in them, and the manifest."""
    import msgspec

    from . import archive

    parts = [*rendered, *(archive.Part(one.name, one.what, one.text.encode("utf-8", "replace")) for one in raw)]
    listed = [one for one, _ in leaves.stood_for] or list(leaves.report.redactions or ())
    told = {"redacted": leaves.report.redactions is not None, "tokens": list(_counted(listed, parts))}
    what = "every token that stands for something, and how often it is in which file"
    parts.append(
        archive.Part("redactions.json", what, msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
    )
    missing = [archive.Missing(name=one.name, what=one.what, why=one.why) for one in left]
    return archive.pack(parts, leaves.report.started_at, missing)


def _counted(listed: Sequence[Redaction], parts: Sequence[Part]) -> Iterator[dict[str, object]]:
    """Each token with its count in every file that holds it."""
    for one in {(one.kind, one.token): one for one in listed}.values():
        token = one.token.encode()
        files = {part.name: n for part in parts if (n := part.data.count(token))}
        yield {"token": one.token, "kind": one.kind, "count": sum(files.values()), "files": files}


# ------------------------------------------------------------------------------- where it goes


def _place(output: Path | None) -> Path:
    """The directory, or the new file, that is written to: tried before the examination. Raises UsageError."""
    place = output or Path()
    if not place.is_dir() and os.path.lexists(place):
        if place.is_file() or place.is_symlink():
            raise UsageError(f"{place} exists already; gpudoctor report overwrites nothing")
        return place  # a pipe, a device
    try:
        with tempfile.NamedTemporaryFile(dir=place if place.is_dir() else place.parent, prefix=".gpudoctor-"):
            pass
    except OSError as e:
        raise UsageError(f"can't write to {place}: {e.strerror or e}") from e
    return place


def _name(report: Report, data: bytes, suffix: str) -> str:
    """'gpudoctor-2026-11-22-1f2e3d4c.zip': equal files have equal names."""
    day = re.match(r"\d{4}-\d\d-\d\d", report.started_at)
    return f"gpudoctor-{day[0] if day else 'undated'}-{hashlib.sha256(data).hexdigest()[:8]}.{suffix}"


def written(data: bytes, path: Path) -> bool:
    """Write a new file that only this user may read: it is there whole, or not at all. False: the very same is there already.

    Raises OutputError.
    """
    try:
        if os.path.lexists(path) and not path.is_file():
            path.write_bytes(data)
            return True
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".gpudoctor-")  # its mode is 0600
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            _named(new, path)
        finally:
            new.unlink(missing_ok=True)
    except FileExistsError:
        if path.read_bytes() != data:
            raise OutputError(f"{path} came into being meanwhile, and is not overwritten") from None
        return False
    except OSError as e:
        raise OutputError(f"can't write to {path}: {e.strerror or e}") from e
    return True


def _named(new: Path, path: Path) -> None:
    """Give a whole file its name, unless there is one of that name. Raises OSError."""
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(str(path)) from None
        new.rename(path)


def _print(data: bytes) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    with to_stdout():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _show(stood_for: Sequence[tuple[Redaction, str]]) -> None:
    """What was replaced, for this user."""
    from .render.lines import clean

    lines = [f"{one.kind:8} {one.token:44} {one.count:4}  {clean(text)}" for one, text in stood_for]
    with contextlib.suppress(OSError):
        sys.stderr.write("\n".join(("Replaced (shown here only):", *(lines or ["(nothing)"]), "")))
