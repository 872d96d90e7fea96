"""The `.version` and `.target` at the beginning of a PTX module; only the beginning is decompressed."""

from __future__ import annotations

import re

from .wheel import BadWheel

_HEAD = 4096
"""PTX begins with a comment of a few lines; then come the two."""
_DIRECTIVES = re.compile(rb"^\s*\.version\s+(\d+\.\d+)\s*(?:;\s*)?^\s*\.target\s+(\w+)", re.MULTILINE)


def header(text: bytes) -> tuple[str, str] | None:
    """('8.5', 'sm_90a'); None: not there."""
    found = _DIRECTIVES.search(text)
    return (found[1].decode(), found[2].decode()) if found else None


def lz4_head(block: bytes, size: int = _HEAD) -> bytes:
    """The first `size` bytes, or somewhat more, of an LZ4 block; fewer where it ends or makes no sense.

    Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
    """
    out, at = bytearray(), 0
    try:
        while at < len(block) and len(out) < size:
            token = block[at]
            literals, at = _length(block, at + 1, token >> 4)
            out += block[at : at + literals]
            at += literals
            if at >= len(block):
                break
            distance = block[at] | block[at + 1] << 8
            matched, at = _length(block, at + 2, token & 15)
            if not 0 < distance <= len(out):
                break
            for _ in range(min(matched + 4, size)):
                out.append(out[-distance])
    except IndexError:
        pass
    return bytes(out)


def _length(block: bytes, at: int, count: int) -> tuple[int, int]:
    """A length whose nibble is `count`, and where what follows begins."""
    if count == 15:
        while True:
            more = block[at]
            at += 1
            count += more
            if more != 255:
                break
    return count, at


def zstd_head(frame: bytes, size: int = _HEAD) -> bytes:
    """The first `size` bytes of a zstd frame, or fewer."""
    try:
        import zstandard
    except ImportError as e:
        raise BadWheel("its PTX is compressed with zstd: python -m pip install 'gpudoctor[scan]'") from e
    reader = zstandard.ZstdDecompressor().stream_reader(frame)
    try:
        return bytes(reader.read(size))
    except zstandard.ZstdError:
        return b""
