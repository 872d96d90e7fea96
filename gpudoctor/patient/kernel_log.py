"""The kernel's log: the lines that may tell of a GPU. Nothing here waits for new ones."""

import ctypes
import errno
import os
import re
from typing import Any, List

from .core import answer

_TELLING = re.compile(
    r"NVRM|\bXid\b|\bnvidia|DMAR|AMD-Vi|iommu|arm-smmu|\bAER: |PCIe Bus Error|[Oo]ut of memory|oom-kill|is rejected"
    r"|Lockdown: |module verification failed|PM: .*(suspend|hibernation) exit",
)
_KEPT = 400
_READ_ALL, _SIZE_BUFFER = 3, 10
_MOST_BYTES = 4 << 20


def kernel_log(path: str = "/dev/kmsg") -> None:
    """The telling lines, oldest first, as [seconds since boot or None, text]; at most the last 400."""
    lines = _syslog() if path == "/dev/kmsg" else errno.ENOSYS
    if isinstance(lines, int):
        first = lines
        lines = _kmsg(path)
        if isinstance(lines, int):
            answer("kernel_log", {"errno": first if lines == errno.ENOENT and first != errno.ENOSYS else lines})
            return
    told = [line for line in lines if _TELLING.search(line[1])]
    answer("kernel_log", {"lines": told[-_KEPT:], "left_out": max(0, len(told) - _KEPT)})


def _syslog() -> Any:
    """The whole buffer by one call of syslog(2), or the errno."""
    try:
        call = ctypes.CDLL(None, use_errno=True).klogctl
    except (AttributeError, OSError):
        return errno.ENOSYS
    size = call(_SIZE_BUFFER, None, 0)
    if size <= 0:
        return ctypes.get_errno() or errno.ENOSYS
    text = ctypes.create_string_buffer(min(size, _MOST_BYTES))
    got = call(_READ_ALL, text, len(text))
    if got < 0:
        return ctypes.get_errno()
    found: List[Any] = []
    for line in text.raw[:got].decode("utf-8", "replace").splitlines():
        match = re.match(r"(?:<\d+>)?(?:\[ *(\d+\.\d+)\] ?(?:\[ *[CT]\d+\] ?)?)?(.*)", line)
        if match:
            found.append([float(match.group(1)) if match.group(1) else None, match.group(2)])
    return found


def _kmsg(path: str) -> Any:
    """One record a read, until there is none; or the errno."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except (OSError, AttributeError) as e:
        return getattr(e, "errno", None) or errno.ENOSYS
    found: List[Any] = []
    try:
        for _ in range(100000):
            try:
                record = os.read(handle, 8192)
            except OSError as e:
                if e.errno == errno.EPIPE:  # overwritten while it was read: the next one is there
                    continue
                if e.errno != errno.EAGAIN and not found:
                    return e.errno
                break
            if not record:
                break
            for line in record.decode("utf-8", "replace").splitlines():
                head, _, text = line.partition(";")
                fields = head.split(",")
                if len(fields) > 2 and fields[2].isdigit():
                    found.append([int(fields[2]) / 1e6, text])
    finally:
        os.close(handle)
    return found
