"""The zip of `gpudoctor report`: its files with a manifest of their hashes, packed and read back.

One that is read comes from a stranger. Nothing of it is written anywhere: it is read in memory, piece by piece, and only
the report in it is kept. What is not as `pack` makes it is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence

import msgspec

from .bundle import MAX_BYTES, NotAReport, Tool

SCHEMA_VERSION = 1
REPORT, MANIFEST = "report.json", "manifest.json"
MOST_PACKED_BYTES = 16 << 20
MOST_ENTRIES = 64
_MOST_EXPANDED_BYTES = 48 << 20
"""Of all files together."""
_MOST_MANIFEST_BYTES = 1 << 20
_MOST_DIRECTORY_BYTES = 64 << 10
_SMALL_BYTES, _MOST_RATIO = 1 << 20, 200
"""What is larger when expanded, and shrinks by more, is no text of ours."""
_BLOCK = 1 << 16
_END, _END64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES, _END64_BYTES = 22, 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_FIRST_YEAR = "1980"
"""Of the times that a zip can hold."""


class NotAnArchive(NotAReport):
    """A zip that `gpudoctor report` did not write; the text is the reason."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A file of the zip."""

    name: str
    what: str
    """For a person."""
    data: bytes


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file, as the manifest has it."""

    name: str
    size: int
    """Bytes."""
    sha256: str
    what: str


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for and could not be had."""

    name: str
    what: str
    why: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the zip, beside the manifest itself."""

    schema_version: int
    tool: Tool
    created: str
    """When the report was made: UTC, ISO 8601."""
    files: tuple[Entry, ...]
    missing: tuple[Missing, ...] = ()


def pack(parts: Sequence[Part], created: str, missing: Sequence[Missing] = ()) -> bytes:
    """The zip with `parts` in their order, and their manifest as the last file. The same parts give the same bytes."""
    files = tuple(
        Entry(name=one.name, size=len(one.data), sha256=hashlib.sha256(one.data).hexdigest(), what=one.what)
        for one in parts
    )
    manifest = Manifest(
        schema_version=SCHEMA_VERSION, tool=Tool(), created=created, files=files, missing=tuple(missing)
    )
    told = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in (*((one.name, one.data) for one in parts), (MANIFEST, told)):
            info = zipfile.ZipInfo(name, _time(created))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix: the mode counts
            info.external_attr = (stat.S_IFREG | 0o600) << 16
            archive.writestr(info, data, compresslevel=9)
    return packed.getvalue()


def _time(created: str) -> tuple[int, int, int, int, int, int]:
    found = re.match(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)", created)
    if found is None or found[1] < _FIRST_YEAR:
        return 1980, 1, 1, 0, 0, 0
    year, month, day, hour, minute, second = map(int, found.groups())
    return year, month, day, hour, minute, second


# ------------------------------------------------------------------------------- a stranger's


def looks_like_one(data: bytes) -> bool:
    """Whether a file begins as a zip does."""
    return data.startswith((b"PK\x03\x04", _END))


def read(data: bytes) -> bytes:
    """The report in a zip, once every file in it is as the manifest says. Raises NotAnArchive.

    A file of the manifest that was taken out of the zip, because somebody did not want to send it, is not missed.
    """
    if len(data) > MOST_PACKED_BYTES:
        raise NotAnArchive(f"a zip larger than {MOST_PACKED_BYTES >> 20} MiB")
    _plain(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _report(archive)
    except NotAReport:
        raise
    except Exception as e:
        raise NotAnArchive(f"a damaged zip: {type(e).__name__}: {e}") from e


def _plain(data: bytes) -> None:
    """Its end says how long its directory is: known before zipfile makes an object of every entry."""
    end = data[-_END_BYTES:]
    if len(end) < _END_BYTES or not end.startswith(_END) or end[-2:] != b"\0\0":
        raise NotAnArchive("a zip that is cut off, or goes on after its end")
    entries, size, offset = (int.from_bytes(end[a:b], "little") for a, b in ((10, 12), (12, 16), (16, 20)))
    if entries > MOST_ENTRIES or size > _MOST_DIRECTORY_BYTES:
        raise NotAnArchive(f"a zip of more than {MOST_ENTRIES} files")
    if offset + size + _END_BYTES != len(data) or data[-_END_BYTES - _END64_BYTES :].startswith(_END64):
        raise NotAnArchive("a zip whose directory is not where its end says")


def _report(archive: zipfile.ZipFile) -> bytes:
    infos: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        _acceptable(info)
        if info.filename in infos:
            raise NotAnArchive(f"a zip that holds {info.filename} twice")
        infos[info.filename] = info
    if len(infos) > MOST_ENTRIES or sum(i.file_size for i in infos.values()) > _MOST_EXPANDED_BYTES:
        raise NotAnArchive(f"a zip that expands to more than {_MOST_EXPANDED_BYTES >> 20} MiB")
    for name in (MANIFEST, REPORT):
        if name not in infos:
            raise NotAnArchive(f"a zip without {name}")
    manifest = _manifest(b"".join(_blocks(archive, infos.pop(MANIFEST))))
    hashes = {one.name: one.sha256 for one in manifest.files}
    report = b""
    for name, info in infos.items():
        if name not in hashes:
            raise NotAnArchive(f"a zip that holds {name}, which its manifest does not name")
        blocks, digest = [], hashlib.sha256()
        for block in _blocks(archive, info):
            digest.update(block)
            if name == REPORT:
                blocks.append(block)
        if digest.hexdigest() != hashes[name]:
            raise NotAnArchive(f"{name} in it is not what its manifest says: it was changed or damaged")
        report = b"".join(blocks) or report
    return report


def _acceptable(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if name != info.orig_filename or not _NAME.fullmatch(name):
        raise NotAnArchive(f"a zip with a file called {info.orig_filename[:80]!r}")
    if info.flag_bits & _ENCRYPTED:
        raise NotAnArchive(f"{name} in it is encrypted")
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise NotAnArchive(f"{name} in it is no regular file")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotAnArchive(f"{name} in it is packed in a way that is not ours")
    most = {MANIFEST: _MOST_MANIFEST_BYTES, REPORT: MAX_BYTES}.get(name, _MOST_EXPANDED_BYTES)
    bomb = info.file_size > _SMALL_BYTES and info.file_size > _MOST_RATIO * info.compress_size
    if info.file_size > most or bomb:
        raise NotAnArchive(f"{name} in it expands to {info.file_size:,} bytes")


def _blocks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """A file, piece by piece: zipfile expands no more of it than the directory says, and compares the checksum."""
    with archive.open(info) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _manifest(data: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as e:
        raise NotAnArchive(f"its manifest can't be read: {e}") from e
    if manifest.schema_version > SCHEMA_VERSION:
        raise NotAnArchive("its manifest is of a newer gpudoctor; upgrade gpudoctor")
    return manifest
