"""What was published of TensorFlow: every release from 1.0 on, for which platforms and Pythons.

    python -m gpudoctor.compat.published                  # the records of every release, as JSON
    python -m gpudoctor.compat.published 2.20.0 2.21.0    # of these
    python -m gpudoctor.compat.published --write          # put them into compat/matrix.json

pip is asked, in a child, for the file lists of three distributions: `pip index versions NAME -vv` names every file of
the index that pip is configured with (PIP_INDEX_URL, `pip config`), whether it suits this machine or not. Nothing is
downloaded. Yanked files, source archives, release candidates and nightlies are left out.

What a list of files can't tell comes from the tables below: which of them compute on NVIDIA GPUs (`COMPUTES`), and the
CUDA and cuDNN of the documents (`TESTED`). A release that they don't cover gets None: unknown.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from gpudoctor.child import run

from .files import DIRECTORY, text_of
from .records import Files, Matrix, Platform, Release

DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
FIRST = Version("1.0")
LIMIT_S = 300.0

PLATFORMS: tuple[tuple[str, Platform], ...] = (
    (r"(manylinux|linux).*_x86_64", "linux-x86_64"),
    (r"(manylinux|linux).*_aarch64", "linux-aarch64"),
    (r"win_amd64", "windows-x86_64"),
    (r"macosx_.*_(x86_64|intel)", "macos-x86_64"),
    (r"macosx_.*_arm64", "macos-arm64"),
)
ORDER: tuple[Platform, ...] = ("linux-x86_64", "linux-aarch64", "windows-x86_64", "macos-x86_64", "macos-arm64")

TESTED = {
    "1.0": ("1.0.0", "8", "5.1"),
    "1.1": ("1.1.0", "8", "5.1"),
    "1.2": ("1.2.0", "8", "5.1"),
    "1.3": ("1.3.0", "8", "6"),
    "1.4": ("1.4.0", "8", "6"),
    "1.5": ("1.5.0", "9", "7"),
    "1.6": ("1.6.0", "9", "7"),
    "1.7": ("1.7.0", "9", "7"),
    "1.8": ("1.8.0", "9", "7"),
    "1.9": ("1.9.0", "9", "7"),
    "1.10": ("1.10.0", "9", "7"),
    "1.11": ("1.11.0", "9", "7"),
    "1.12": ("1.12.0", "9", "7"),
    "1.13": ("1.13.1", "10.0", "7.4"),
    "1.14": ("1.14.0", "10.0", "7.4"),
    "1.15": ("1.15.0", "10.0", "7.4"),
    "2.0": ("2.0.0", "10.0", "7.4"),
    "2.1": ("2.1.0", "10.1", "7.6"),
    "2.2": ("2.2.0", "10.1", "7.6"),
    "2.3": ("2.3.0", "10.1", "7.6"),
    "2.4": ("2.4.0", "11.0", "8.0"),
    "2.5": ("2.5.0", "11.2", "8.1"),
    "2.6": ("2.6.0", "11.2", "8.1"),
    "2.7": ("2.7.0", "11.2", "8.1"),
    "2.8": ("2.8.0", "11.2", "8.1"),
    "2.9": ("2.9.0", "11.2", "8.1"),
    "2.10": ("2.10.0", "11.2", "8.1"),
    "2.11": ("2.11.0", "11.2", "8.1"),
    "2.12": ("2.12.0", "11.8", "8.6"),
    "2.13": ("2.13.0", "11.8", "8.6"),
    "2.14": ("2.14.0", "11.8", "8.7"),
    "2.15": ("2.15.0", "12.2", "8.9"),
    "2.16": ("2.16.1", "12.3", "8.9"),
    "2.17": ("2.17.0", "12.3", "8.9"),
    "2.18": ("2.18.0", "12.5", "9.3"),
    "2.19": ("2.19.0", "12.5", "9.3"),
    "2.20": ("2.20.0", "12.5", "9.3"),
    "2.21": ("2.21.0", "12.5", "9.3"),
}
"""Minor release -> the release that the row is for, CUDA, cuDNN: tested build configurations (Linux / GPU), tensorflow/docs,
site/en/install/source.md of 2026-03-11."""


class Rule(NamedTuple):
    """Whether the files of these releases compute on NVIDIA GPUs, and who says so."""

    distribution: str
    platforms: tuple[Platform, ...]
    versions: str
    cuda: bool
    source: str


LINUX: tuple[Platform, ...] = ("linux-x86_64",)
WINDOWS: tuple[Platform, ...] = ("windows-x86_64",)
MACOS: tuple[Platform, ...] = ("macos-x86_64", "macos-arm64")

COMPUTES = (
    Rule("tensorflow-cpu", ORDER, ">=1.15", False, "the package's purpose, release notes of 1.15.0 and 2.1.0"),
    Rule(
        "tensorflow-gpu", LINUX, ">=1.0,<2.12", True, "tested build configurations, Linux / GPU; wheels of 1.0 to 2.0"
    ),
    Rule("tensorflow-gpu", WINDOWS, ">=1.0,<2.11", True, "tested build configurations, Windows / GPU"),
    Rule("tensorflow-gpu", WINDOWS, ">=2.11,<2.12", False, "source_windows.md: 2.10 was the last with GPUs on Windows"),
    Rule("tensorflow-gpu", MACOS, ">=1.0,<1.2", True, "tested build configurations, macOS / GPU: 1.0 and 1.1"),
    Rule("tensorflow", (*LINUX, *WINDOWS), ">=1.0,<1.15", False, "tested build configurations: GPUs in tensorflow-gpu"),
    Rule("tensorflow", (*LINUX, *WINDOWS), "==1.15.0", True, "release notes of 1.15.0; GPU code in the Linux wheel"),
    Rule(
        "tensorflow", (*LINUX, *WINDOWS), ">=1.15.1,<2.1", False, "tensorflow issue 36347; no GPU code in wheel 2.0.0"
    ),
    Rule(
        "tensorflow",
        LINUX,
        ">=2.1,<2.22",
        True,
        "release notes of 2.1.0; GPU code in the wheels of every minor release",
    ),
    Rule(
        "tensorflow", WINDOWS, ">=2.1,<2.11", True, "release notes of 2.1.0; tested build configurations, Windows / GPU"
    ),
    Rule("tensorflow", WINDOWS, ">=2.11,<2.22", False, "source_windows.md: 2.10 was the last with GPUs on Windows"),
    Rule(
        "tensorflow",
        MACOS,
        ">=1.0,<2.22",
        False,
        "pip.md: no official GPU support for macOS; macOS / GPU rows end at 1.1",
    ),
    Rule("tensorflow", ("linux-aarch64",), ">=2.10,<2.22", False, "pip.md: the aarch64 packages are CPU-only"),
)
"""tensorflow is bounded above by what has been looked at: a newer release is unknown until a rule says more."""


class PublishedError(Exception):
    """What can't be done, for a person."""


def computes(distribution: str, platform: Platform, version: Version) -> bool | None:
    """Whether this file computes on NVIDIA GPUs; None: no rule covers it."""
    for rule in COMPUTES:
        if rule.distribution == distribution and platform in rule.platforms and version in SpecifierSet(rule.versions):
            return rule.cuda
    return None


def wheels(distribution: str) -> set[str]:
    """The names of the wheels of a distribution that were not yanked, as pip reads them from its index."""
    command = [sys.executable, "-m", "pip", "index", "versions", distribution, "-vv", "--disable-pip-version-check"]
    outcome = run(command, limit_s=LIMIT_S, keep_bytes=1 << 26)
    text = (outcome.stdout + outcome.stderr).decode(errors="replace")
    found = set()
    for line in text.splitlines():
        link = re.search(r"(?:Found|Skipping) link.*?/([^/\s#]+\.(?:whl|zip|tar\.gz))[#\s]", line + " ")
        if link is not None and "link: yanked" not in line:
            found.add(link.group(1).replace("%2B", "+"))
    if not found:
        errors = [line for line in text.splitlines() if "ERROR" in line or "No module named" in line]
        raise PublishedError(
            f"pip names no file of {distribution}: {(errors or [outcome.how or 'no reason given'])[-1].strip()}"
        )
    return {name for name in found if name.endswith(".whl")}


def python_of(interpreter: str) -> str | None:
    """'3.10' for 'cp310'; None for what is not CPython."""
    found = re.fullmatch(r"cp(\d)(\d+)", interpreter)
    return f"{found.group(1)}.{found.group(2)}" if found is not None else None


def platform_of(tag: str) -> Platform | None:
    """The platform of a wheel's tag ('manylinux2014_x86_64'); None for one that we have no name for."""
    return next((platform for pattern, platform in PLATFORMS if re.fullmatch(pattern, tag)), None)


def releases(names: dict[str, set[str]], day: str) -> list[Release]:
    """The releases that these wheels (distribution -> file names) make up."""
    pythons: dict[Version, dict[tuple[str, Platform], set[str]]] = defaultdict(lambda: defaultdict(set))
    for distribution, files in names.items():
        for file in sorted(files):
            try:
                name, version, _, tags = parse_wheel_filename(file)
            except (InvalidWheelFilename, InvalidVersion):
                continue
            if name != distribution or version.is_prerelease or version < FIRST:
                continue
            for tag in tags:
                platform, python = platform_of(tag.platform), python_of(tag.interpreter)
                if platform is not None and python is not None:
                    pythons[version][distribution, platform].add(python)
    return [_release(version, pythons[version], day) for version in sorted(pythons)]


def _release(version: Version, found: dict[tuple[str, Platform], set[str]], day: str) -> Release:
    keys = sorted(found, key=lambda key: (key[0], ORDER.index(key[1])))
    row = TESTED.get(f"{version.major}.{version.minor}")
    documented = f"tested build configurations, documented for {row[0]}" if row else "no document"
    return Release(
        version=str(version),
        files=tuple(
            Files(
                distribution=distribution,
                platform=platform,
                python=tuple(sorted(found[distribution, platform], key=Version)),
                cuda=computes(distribution, platform, version),
            )
            for distribution, platform in keys
        ),
        cuda=row[1] if row else None,
        cudnn=row[2] if row else None,
        source=f"files: the package index, {day}; what computes on GPUs: compat/published.py; CUDA and cuDNN: {documented}",
    )


def version_of(text: str) -> Version:
    """What a person typed as a version."""
    try:
        return Version(text)
    except InvalidVersion:
        raise PublishedError(f"{text!r} is no version") from None


def chosen(known: Iterable[Release], versions: Collection[Version]) -> list[Release]:
    """The releases that were asked for; all of them where none was."""
    by_version = {Version(release.version): release for release in known}
    for version in versions:
        if version not in by_version:
            raise PublishedError(
                f"the package index has no release {version} of TensorFlow (from {FIRST} on, no candidates)"
            )
    return [by_version[version] for version in versions] or list(by_version.values())


def merged(matrix: Matrix, new: Iterable[Release]) -> Matrix:
    """The matrix with these releases in the place of what it said of them; other releases stay."""
    records = {Version(release.version): release for release in (*matrix.releases, *new)}
    return msgspec.structs.replace(matrix, releases=tuple(records[version] for version in sorted(records)))


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gpudoctor.compat.published", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; default: all from 1.0 on")
    parser.add_argument("--write", action="store_true", help="put the records into compat/matrix.json")
    options = parser.parse_args(arguments)
    try:
        wanted = [version_of(text) for text in options.versions]
        day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        new = chosen(releases({name: wheels(name) for name in DISTRIBUTIONS}, day), wanted)
        if options.write:
            path = Path(DIRECTORY) / "matrix.json"
            matrix = msgspec.json.decode(path.read_bytes(), type=Matrix)
            path.write_text(text_of(merged(matrix, new)))
            sys.stderr.write(f"{len(new)} releases written into {path.name}\n")
        else:
            sys.stdout.write(text_of(new))
    except PublishedError as error:
        sys.stderr.write(f"published: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
