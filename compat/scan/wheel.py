"""A wheel as a file: its metadata, its tag, its shared objects one at a time in a temporary file."""

from __future__ import annotations

import contextlib
import mmap
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import cast

from packaging.utils import canonicalize_name, parse_wheel_filename

from gpudoctor.compat.records import Platform

Data = mmap.mmap | bytes

_MANYLINUX = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_DATA = re.compile(r"[^/]+\.data/(purelib|platlib)/")
_SHARED_OBJECT = re.compile(r"\.so(\.[\d.]+)?$|\.(pyd|dll)$")
_PLATFORMS = ("linux-x86_64", "linux-aarch64")
_WINDOWS = "win_amd64"


class BadWheel(Exception):  # noqa: N818
    """A file that no record can be made of; the text is the reason."""


class Wheel:
    """An open wheel. Raises BadWheel for what is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as e:
            raise BadWheel(f"{path}: {e.strerror}") from e
        except zipfile.BadZipFile as e:
            raise BadWheel(f"{path}: not a wheel, or cut off ({e})") from e
        files = [i.filename for i in self._zip.infolist() if not i.is_dir()]
        self._members = {_DATA.sub("", name, count=1): name for name in files}
        self.names = list(self._members)
        """As they are installed in site-packages."""
        info = next((n for n in self.names if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)), None)
        if info is None:
            raise BadWheel(f"{path}: not a wheel: it has no METADATA")
        self.metadata = HeaderParser().parsestr(self.text(info))
        for field in ("Name", "Version"):
            if not self.metadata[field]:
                raise BadWheel(f"{path}: its METADATA has no {field}")
        self.distribution = str(canonicalize_name(self.metadata["Name"]))
        self.version = str(self.metadata["Version"])
        self._tags = self._platform_tags(info.replace("/METADATA", "/WHEEL"))

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def text(self, name: str) -> str:
        """A small text file of the wheel."""
        with self._reading(name):
            return self._zip.read(self._members[name]).decode("utf-8", "replace")

    def _platform_tags(self, wheel_file: str) -> list[str]:
        """Of the file's name, which the index goes by; of the WHEEL file where it has been renamed."""
        with contextlib.suppress(ValueError):
            return sorted(tag.platform for tag in parse_wheel_filename(self.path.name)[3])
        if wheel_file not in self.names:
            return []
        tags = HeaderParser().parsestr(self.text(wheel_file)).get_all("Tag", [])
        return sorted(part for tag in tags for part in tag.split("-")[-1].split("."))

    @property
    def platform(self) -> Platform:
        """The platform of its tag."""
        for name in _PLATFORMS:
            if any(tag.endswith(name.partition("-")[2]) and "linux" in tag for tag in self._tags):
                return cast(Platform, name)
        if _WINDOWS in self._tags:
            return "windows-x86_64"
        wanted = "only wheels for Linux and 64-bit Windows are read"
        raise BadWheel(f"{self.path}: for {', '.join(self._tags) or 'no platform'}; {wanted}")

    @property
    def glibc(self) -> str | None:
        """The oldest glibc that its tag admits; None: the tag does not say."""
        found = []
        for tag in self._tags:
            if m := re.match(r"manylinux_(\d+)_(\d+)_", tag):
                found.append(f"{m[1]}.{m[2]}")
            elif old := _MANYLINUX.get(tag.split("_")[0]):
                found.append(old)
        return min(found, key=lambda v: [int(n) for n in v.split(".")], default=None)

    def shared_objects(self) -> list[str]:
        """The names of its shared objects, sorted."""
        return sorted(n for n in self.names if _SHARED_OBJECT.search(n))

    @contextlib.contextmanager
    def unpacked(self, name: str) -> Iterator[tuple[str, Data]]:
        """A file of the wheel as a temporary file and its bytes."""
        with tempfile.NamedTemporaryFile(prefix="gpudoctor-scan-") as f:
            with self._reading(name), self._zip.open(self._members[name]) as packed:
                shutil.copyfileobj(packed, f, 1 << 20)
                f.flush()
            if f.tell() == 0:
                yield f.name, b""
                return
            with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield f.name, data

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as e:
            raise BadWheel(f"{self.path}: {name} is damaged ({e})") from e
        except OSError as e:
            raise BadWheel(f"{self.path}: {name}: {e.strerror or e}") from e
