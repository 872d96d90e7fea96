"""The kernel side of the driver: modules that are loaded, modules on disk, what they were told."""

import errno
import glob
import os
import re
import stat
from typing import Any, Dict, List

from .core import answer, list_directory, read_text

_DRIVERS = re.compile(r"^(nvidia\w*|nouveau|nova_\w+|amdgpu|vfio_pci)$")
_MOST_KERNELS, _MOST_FILES = 12, 64
_MODULE_DIRECTORIES = (
    "updates",
    "updates/dkms",
    "updates/nvidia*",
    "extra",
    "extra/nvidia*",
    "extramodules",
    "misc",
    "kernel/drivers/video",
    "kernel/drivers/video/nvidia*",
    "kernel/nvidia*",
    "weak-updates",
    "weak-updates/nvidia*",
    "weak-updates/updates",
)
"""Where dkms, akmods, kmod packages, Ubuntu's signed modules and NVIDIA's installer put them, below a kernel's directory."""


def modules(release: str = "", root: str = "") -> None:
    """What /proc/driver/nvidia, /sys/module, /lib/modules, dkms and modprobe's files say. `release`: the kernel's."""
    nvidia = root + "/proc/driver/nvidia"
    listed = list_directory(nvidia + "/gpus")
    answer(
        "modules",
        {
            "nvidia": list_directory(nvidia),
            "params": read_text(nvidia + "/params"),
            "gpus": listed
            if isinstance(listed, int)
            else {name: read_text("%s/gpus/%s/information" % (nvidia, name)) for name in listed},
            "devices": read_text(root + "/proc/devices"),
            "loaded": _loaded(root),
            "disk": _on_disk(root, release or os.uname().release),
            "dkms": _dkms(root),
            "build_log": _build_log(root, release or os.uname().release),
            "blacklisted": _blacklisted(root),
            "bbswitch": read_text(root + "/proc/acpi/bbswitch", 256),
            "prime": read_text(root + "/etc/prime-discrete", 256),
        },
    )


def _loaded(root: str) -> Any:
    """The GPU drivers in /sys/module, which shows those that are built in as well; or the errno."""
    names = list_directory(root + "/sys/module")
    if isinstance(names, int):
        return names
    found = []
    for name in names:
        if _DRIVERS.match(name):
            one = {"name": name}  # type: Dict[str, Any]
            for key in ("version", "srcversion", "taint"):
                one[key] = read_text("%s/sys/module/%s/%s" % (root, name, key), 256)
            found.append(one)
    return found


def _on_disk(root: str, release: str) -> Dict[str, Any]:
    """Kernels under /lib/modules and NVIDIA's modules for each, the running kernel first; bounded."""
    names = list_directory(root + "/lib/modules")
    if isinstance(names, int):
        return {"errno": names}
    kernels = [n for n in names if os.path.isdir("%s/lib/modules/%s" % (root, n))]
    kernels.sort(key=lambda n: n != release)
    files = []  # type: List[Dict[str, str]]
    for kernel in kernels[:_MOST_KERNELS]:
        base = "%s/lib/modules/%s/" % (glob.escape(root), glob.escape(kernel))
        for directory in _MODULE_DIRECTORIES:
            for path in sorted(glob.glob(base + directory + "/nvidia*.ko*")):
                if os.path.isfile(path) and len(files) < _MOST_FILES:
                    files.append({"kernel": kernel, "path": path[len(root) :]})
    return {
        "release": release,
        "kernels": kernels,
        "files": files,
        "headers": os.path.isdir("%s/lib/modules/%s/build/" % (root, release)),
    }


def _dkms(root: str) -> Any:
    """What /var/lib/dkms holds of NVIDIA: NAME/VERSION/KERNEL/ARCH; or the errno."""
    base = root + "/var/lib/dkms"
    names = list_directory(base)
    if isinstance(names, int):
        return names
    found = []
    for name in names:
        versions = list_directory(os.path.join(base, name)) if name.startswith("nvidia") else []
        for version in versions if isinstance(versions, list) else ():
            place = os.path.join(base, name, version)
            if os.path.islink(place) or not re.match(r"^\d", version):  # kernel-RELEASE-ARCH links
                continue
            inside = list_directory(place)
            built = [
                kernel
                for kernel in (inside if isinstance(inside, list) else ())
                if kernel not in ("build", "source")
                and glob.glob(glob.escape(os.path.join(place, kernel)) + "/*/module")
            ]
            found += [{"version": version, "kernel": kernel} for kernel in built or [None]]
    return found


_LOG_HEAD, _LOG_TAIL = 512, 64 << 10


def _build_log(root: str, release: str) -> Any:
    """The end of the newest log of a build of the driver for this kernel; None where there is none, or the errno."""
    base, unread = root + "/var/lib/dkms", None
    found = []  # type: List[Any]
    names = list_directory(base)
    if isinstance(names, int):
        return None if names == errno.ENOENT else {"errno": names}
    for name in names:
        if not re.match(r"nvidia(?!-(fs|peermem)\b)", name):
            continue
        versions = list_directory(os.path.join(base, name))
        for version in versions if isinstance(versions, list) else ():
            place = os.path.join(base, name, version)
            if os.path.islink(place) or not re.match(r"^\d", version):
                continue
            kept = glob.glob(glob.escape(os.path.join(place, release)) + "/*/log/make.log")
            for path in [place + "/build/make.log", *sorted(kept)]:
                try:
                    status = os.stat(path)
                    named = (
                        re.search(r" for kernel (\S+)", _part_of(path, 0, _LOG_HEAD))
                        if stat.S_ISREG(status.st_mode)
                        else None
                    )
                except OSError as e:
                    unread = unread if e.errno in (errno.ENOENT, errno.ENOTDIR) else e.errno
                    continue
                if named and named.group(1) == release:
                    found.append((status.st_mtime, path, version, status.st_size))
    if not found:
        return None if unread is None else {"errno": unread}
    _, path, version, size = max(found)
    try:
        text = _part_of(path, max(0, size - _LOG_TAIL), _LOG_TAIL)
    except OSError as e:
        return {"errno": e.errno}
    return {"path": path[len(root) :], "version": version, "kernel": release, "text": text}


def _part_of(path: str, start: int, length: int) -> str:
    with open(path, "rb") as f:
        f.seek(start)
        return f.read(length).decode("utf-8", "replace")


def _blacklisted(root: str) -> Any:
    """Names of GPU drivers that modprobe's files or the kernel's command line keep from being loaded; or an errno."""
    found = set()
    readable, error = False, None
    for place in ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"):
        names = list_directory(root + place)
        if isinstance(names, int):
            error = names
            continue
        readable = True
        for name in names:
            if name.endswith(".conf"):
                for line in read_text("%s%s/%s" % (root, place, name), 1 << 16).get("text", "").splitlines():
                    found.update(_kept_out(line.split("#")[0].split()))
    line = read_text(root + "/proc/cmdline", 1 << 14)
    for word in line.get("text", "").split():
        key, _, value = word.partition("=")
        if key in ("modprobe.blacklist", "module_blacklist", "rd.driver.blacklist"):
            found.update(name.replace("-", "_") for name in value.split(","))
    if not readable and "text" not in line:
        return error
    return sorted(name for name in found if _DRIVERS.match(name))


def _kept_out(words: List[str]) -> List[str]:
    """The module that one line of a modprobe file keeps out, as a list."""
    kept_out = len(words) > 1 and (
        words[0] == "blacklist"
        or (words[0] == "alias" and words[2:] == ["off"])
        or (
            words[0] == "install"
            and words[2:3] in (["/bin/false"], ["/bin/true"], ["/usr/bin/false"], ["/usr/bin/true"])
        )
    )
    return [words[1].replace("-", "_")] if kept_out else []
