"""`python -m gpudoctor.compat.scan WHEEL…`: the record of each wheel, printed, compared or written."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from gpudoctor.compat.files import DIRECTORY, text_of
from gpudoctor.compat.records import Build, LibraryWheel, Matrix

from . import fetch, nvidia, tensorflow
from .wheel import BadWheel, Wheel

Scanned = Build | LibraryWheel


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done, or the same; 1: another record, or none, where --check was asked for; 2: no record could be made."""
    options = _options(arguments)
    try:
        matrix = msgspec.json.decode(options.matrix.read_bytes(), type=Matrix)
    except (OSError, msgspec.MsgspecError) as e:
        return _complain(f"{options.matrix}: {e}")
    wheels = options.wheels + (_recorded(matrix) if options.all else [])
    if not wheels:
        return _complain("no wheel is named")
    code = 0
    for name in wheels:
        started = time.monotonic()
        try:
            record = scan(name, matrix, (options.python,) if options.python else fetch.PYTHONS)
        except BadWheel as e:
            code = _complain(str(e) if name in str(e) else f"{name}: {e}")
            continue
        took = f"{name}: read in {time.monotonic() - started:.1f} s"
        if options.write:
            matrix = written(matrix, record)
            _replace(options.matrix, text_of(matrix))
            sys.stderr.write(f"{took}, written\n")
        elif options.check:
            difference = compare(matrix, record)
            sys.stderr.write(f"{took}\n")
            sys.stdout.write(difference or f"{record.distribution} {record.version}: the same\n")
            code = max(code, 1 if difference else 0)
        else:
            sys.stdout.write(text_of(record))
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m gpudoctor.compat.scan", description=__doc__)
    parser.add_argument(
        "wheels", nargs="*", metavar="WHEEL", help="a file, or a requirement such as tensorflow==2.16.2"
    )
    parser.add_argument(
        "--python", metavar="3.11", help="fetch the wheel of this CPython (default: the first there is)"
    )
    parser.add_argument("--all", action="store_true", help="every wheel that has a record, fetched anew")
    parser.add_argument("--matrix", type=Path, default=Path(DIRECTORY) / "matrix.json", help=argparse.SUPPRESS)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with the record in compat/matrix.json")
    what.add_argument("--write", action="store_true", help="put the record into compat/matrix.json")
    return parser.parse_args(arguments)


def _complain(text: str) -> Literal[2]:
    sys.stderr.write(f"{' '.join(text.split())}\n")
    return 2


def _recorded(matrix: Matrix) -> list[str]:
    """Every recorded wheel as a requirement; the libraries' first, which TensorFlow's records refer to."""
    records: tuple[Scanned, ...] = (*matrix.library_wheels, *matrix.builds)
    return [f"{r.distribution}=={r.version}" for r in records]


def scan(name: str, matrix: Matrix, pythons: tuple[str, ...] = fetch.PYTHONS) -> Scanned:
    """The record of a wheel: a file or a requirement. Raises BadWheel."""
    with _file(name, pythons) as path:
        wheel = Wheel(path)
        with contextlib.closing(wheel):
            if re.match(r"nvidia-", wheel.distribution):
                return nvidia.library_wheel(wheel, matrix)
            if re.match(r"(tensorflow|tf-nightly)", wheel.distribution) and any(
                re.match(r"tensorflow(_core)?/(__init__|_api/.*)\.py$", n) for n in wheel.names
            ):
                return tensorflow.build(wheel, matrix)
            raise BadWheel(
                f"{name}: {wheel.distribution} {wheel.version} is no wheel of TensorFlow and none of nvidia-*"
            )


@contextlib.contextmanager
def _file(name: str, pythons: tuple[str, ...]) -> Iterator[Path]:
    path = Path(name)
    if path.exists() or "/" in name or name.endswith(".whl"):
        yield path
        return
    try:
        requirement = Requirement(name)
    except InvalidRequirement as e:
        raise BadWheel(f"{name}: no such file, and no requirement") from e
    if requirement.url is not None:
        raise BadWheel(f"{name}: a file or a requirement such as tensorflow==2.16.2 is wanted")
    with fetch.fetched(str(requirement), pythons) as fetched:
        yield fetched


def _key(record: Scanned) -> tuple[str, Version, str]:
    try:
        return record.distribution, Version(record.version), record.platform
    except InvalidVersion as e:
        raise BadWheel(f"{record.distribution} {record.version}: {e}") from e


def _records(matrix: Matrix, like: Scanned) -> tuple[Scanned, ...]:
    return matrix.builds if isinstance(like, Build) else matrix.library_wheels


def written(matrix: Matrix, record: Scanned) -> Matrix:
    """The matrix with this record, in the place of the one of the same distribution, version and platform."""
    others = [r for r in _records(matrix, record) if _key(r) != _key(record)]
    records = tuple(sorted([*others, record], key=_key))
    name = "builds" if isinstance(record, Build) else "library_wheels"
    return msgspec.structs.replace(matrix, **{name: records})


def compare(matrix: Matrix, record: Scanned) -> str:
    """What differs between the recorded and the read, as a unified diff; '' where nothing does."""
    name = f"{record.distribution} {record.version} ({record.platform})"
    old = next((r for r in _records(matrix, record) if _key(r) == _key(record)), None)
    if old is None:
        return f"{name}: compat/matrix.json has no record of it\n"
    recorded, read = (text_of(r).splitlines(keepends=True) for r in (old, record))
    return "".join(difflib.unified_diff(recorded, read, fromfile=f"{name}, recorded", tofile=f"{name}, read"))


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


if __name__ == "__main__":
    sys.exit(main())
