"""The fabric manager that is installed: its file, and the package that brought it."""

import glob
import mmap
import os
import re
import subprocess
from typing import Any, Dict, List, Optional

from .core import answer, read_text

_FABRIC_MANAGER = ("/usr/bin/nv-fabricmanager", "/usr/local/bin/nv-fabricmanager")
_FABRIC_MOST_BYTES = 128 << 20
_FABRIC_RPM_LIMIT_S = 3.0
_FABRIC_RELEASE = re.compile(rb"(?<![\d.])(\d{3}\.\d{2,3}(?:\.\d{2})?)(?![\d.])")


def fabric_manager(root: str = "") -> None:
    """The first of its files that is there, its package, and, where no package tells the release, those in its text."""
    path = next((p for p in _FABRIC_MANAGER if os.path.isfile(root + p)), None)
    if path is None:
        answer("fabric_manager", {"path": None})
        return
    package = _fabric_package(root, path)
    answer(
        "fabric_manager",
        {
            "path": path,
            "package": package,
            "releases": None if package.get("version") else _fabric_releases(root, path),
        },
    )


def _fabric_package(root: str, path: str) -> Dict[str, Any]:
    """manager, name and version of the package that holds the file; manager None without one that is known here."""
    if os.path.exists(root + "/var/lib/dpkg/status"):
        return dict(_fabric_of_dpkg(root, path), manager="dpkg")
    if any(os.path.isdir(root + p) for p in ("/var/lib/rpm", "/usr/lib/sysimage/rpm")):
        return dict(_fabric_of_rpm(path), manager="rpm")
    return {"manager": None}


def _fabric_of_dpkg(root: str, path: str) -> Dict[str, Any]:
    for listing in sorted(glob.glob(glob.escape(root) + "/var/lib/dpkg/info/*nvidia-fabric*.list")):
        if path in read_text(listing, 1 << 20).get("text", "").splitlines():
            name = os.path.basename(listing)[: -len(".list")].partition(":")[0]
            status = read_text(root + "/var/lib/dpkg/status", 1 << 26)
            if "text" not in status:
                return {"failed": "/var/lib/dpkg/status: %s" % os.strerror(status["errno"])}
            told = re.search(r"^Package: %s\n((?:[^\n]+\n)*)" % re.escape(name), status["text"], re.MULTILINE)
            version = re.search(r"^Version: (\S+)", told.group(1), re.MULTILINE) if told else None
            return {"name": name, "version": version.group(1) if version else None}
    return {"name": None}


def _fabric_of_rpm(path: str) -> Dict[str, Any]:
    command = ["rpm", "-qf", "--qf", "%{NAME} %{VERSION}\\n", path]
    try:
        done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    except OSError as e:
        return {"failed": "rpm: %s" % os.strerror(e.errno or 0)}
    try:
        out = done.communicate(timeout=_FABRIC_RPM_LIMIT_S)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        done.kill()
        return {"failed": "rpm did not end within %g s" % _FABRIC_RPM_LIMIT_S}
    words = out.splitlines()[0].split(" ") if done.returncode == 0 and out else []
    return {"name": words[0], "version": words[1]} if len(words) == 2 else {"name": None}


def _fabric_releases(root: str, path: str) -> Any:
    """What in the file looks like a driver's release: the kernel module's own alone where it is among them; or the errno."""
    kernel = read_text(root + "/proc/driver/nvidia/version").get("text", "").encode()
    found = []  # type: List[str]
    try:
        with open(root + path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as text:
            own = _first_of(_FABRIC_RELEASE.findall(kernel), text)
            if own is not None:
                return [own]
            for match in _FABRIC_RELEASE.finditer(text, 0, min(len(text), _FABRIC_MOST_BYTES)):
                release = match.group(1).decode()
                if release not in found:
                    found.append(release)
                if len(found) > 8:
                    break
    except OSError as e:
        return e.errno
    except ValueError:  # an empty file
        return []
    return found


def _first_of(releases: List[bytes], text: Any) -> Optional[str]:
    for release in releases:
        form = re.compile(rb"(?<![\d.])%s(?![\d.])" % re.escape(release))
        if form.search(text, 0, min(len(text), _FABRIC_MOST_BYTES)):
            return release.decode()
    return None
