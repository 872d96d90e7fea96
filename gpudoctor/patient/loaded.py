"""The libraries that this process has loaded: their files, and what a library's number of its release means."""

import os
from typing import List, Optional


def mapped_paths() -> List[str]:
    """The shared objects that are mapped into this process, each once, in the order of their addresses."""
    found = []
    try:
        with open("/proc/self/maps") as f:
            for line in f:
                fields = line.split(None, 5)
                path = fields[5].strip() if len(fields) > 5 else ""
                if ".so" in os.path.basename(path) and path not in found:
                    found.append(path)
    except OSError:
        pass
    return found


def mapped_file(stem: str) -> Optional[str]:
    """The first of them whose name begins with `stem`."""
    return next((path for path in mapped_paths() if os.path.basename(path).startswith(stem)), None)


def nccl_release(code: int) -> str:
    """'2.27.7' for 22707. Up to 2.8 the code was 2807, since 2.9 it is 20900 (nccl.h, NCCL_VERSION)."""
    unit = 1000 if code < 10000 else 10000
    return "%d.%d.%d" % (code // unit, code % unit // 100, code % 100)
