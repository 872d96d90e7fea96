"""The collector: one file for hosts where nothing can be installed, and what it brings back.

It is a zipapp that needs Python 3.6 or newer and nothing else. It runs the same jobs as `check`, judges nothing, and
writes what was answered, a line each; `replay` turns that into facts.
"""

from __future__ import annotations

import io
import zipfile
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from . import __version__, child, patient
from .examine import FILES, ExamineLevel, Options, facts_of, jobs_of, with_import, with_native
from .facts import Facts, Process
from .interpreter import Chosen
from .probes.ask import Answers, Conversation
from .probes.inside import Inside, Talks

VERSION = 1
MARK = "gpudoctor-collection"
MAX_BYTES = 16 << 20
"""A larger file is no collection of ours."""
MAX_VALUES = 500_000
"""Of a list or an object, all of a collection together: as Python's own objects they take more memory than the file."""


class NotACollection(ValueError):  # noqa: N818
    """A file that the collector did not write; the text is the reason."""


def write(path: Path, options: Options) -> None:
    """Write the collector to `path`. Raises OSError."""
    jobs = jobs_of(options)
    talks = Talks(jobs)
    header = {
        "version": VERSION,
        "gpudoctor": __version__,
        "level": options.level.value,
        "kernels": options.kernels,
        "marks": talks.marks(),
    }
    program = patient.program(["collector.collect"])
    main = f"{program}\nmain({MARK!r}, {header!r}, {talks.requests()!r})\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", (1980, 1, 1, 0, 0, 0)), main, zipfile.ZIP_DEFLATED)
    path.write_bytes(b"#!/usr/bin/env python3\n" + packed.getvalue())
    path.chmod(0o755)


def looks_like_one(data: bytes) -> bool:
    """Whether a file begins as a collection does."""
    return data.startswith(MARK.encode())


def read(data: bytes) -> tuple[Facts, str]:
    """The facts in a collection, and when it was made. It comes from a stranger: raises NotACollection for anything odd."""
    if len(data) > MAX_BYTES:
        raise NotACollection(f"larger than {MAX_BYTES >> 20} MiB")
    if data.count(b",") + data.count(b"[") > MAX_VALUES:
        raise NotACollection(f"more than {MAX_VALUES:,} values in it")
    try:
        return _read(data)
    except NotACollection:
        raise
    except Exception as e:
        raise NotACollection(f"damaged: {type(e).__name__}: {e}") from e


def _read(data: bytes) -> tuple[Facts, str]:
    answers = list(_answers(data))
    header = next((value for name, value in answers if name == "collection"), None)
    if header is None:
        raise NotACollection("it has no header")
    if header["version"] != VERSION:
        raise NotACollection(f"version {header['version']} is not this gpudoctor's {VERSION}")
    options = Options(level=ExamineLevel(header["level"]), kernels=bool(header["kernels"]), inside="the collector")
    talks = Talks(jobs_of(options), header["marks"])
    for name, value in answers:
        talks.hear(name, value)
    talks.end(child.RUNNING)
    work: dict[str, Future[Answers]] = talks.futures
    files = work[FILES].result()
    if not files.spoke:
        raise NotACollection("the collector was ended before it had read anything")
    chosen = Chosen(Inside((), {}, sees_our_files=False), "the collector")
    facts = facts_of(work, files, chosen, Process(pid=None), options)
    when = next((value for name, value in answers if name == "collected_at"), "")
    return with_import(with_native(facts, work, options), work, options), str(when)


def _answers(data: bytes) -> list[tuple[str, Any]]:
    talk = Conversation([], mark=MARK[::-1])
    heard = (talk.hear(line) for line in data.splitlines())
    return [one for one in heard if one is not None]
