"""The machine, as the patient sees it."""

import os
import platform
from typing import List, Optional

from .core import answer, read_text


def environment(names: List[str], prefixes: List[str]) -> None:
    """The variables that matter, by name, as this process was started with them."""
    found = {}
    for key, value in os.environ.items():
        if key in names or key.startswith(tuple(prefixes)):
            found[key] = value
    answer("environment", found)


def system() -> None:
    """Kernel, architecture, what kind of machine or container this is."""
    marks = [p for p in ("/.dockerenv", "/run/.containerenv", "/dev/dxg", "/etc/nv_tegra_release") if os.path.exists(p)]
    answer(
        "system",
        {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "uid": os.getuid() if hasattr(os, "getuid") else None,
            "marks": marks,
            "cgroup": read_text("/proc/1/cgroup"),
            "init_environ_container": _container_variable(),
            "device_tree": read_text("/proc/device-tree/model"),
            "kubernetes": "KUBERNETES_SERVICE_HOST" in os.environ,
            "os_release": read_text("/etc/os-release"),
        },
    )


def _container_variable() -> Optional[str]:
    try:
        with open("/proc/1/environ", "rb") as f:
            for item in f.read(1 << 20).split(b"\0"):
                if item.startswith(b"container="):
                    return item[10:].decode("utf-8", "replace")
    except OSError:
        pass
    return None
