"""NCCL: its configuration files, the network that it may use, its library's version."""

import ctypes
import glob
import os
import re
import socket
import struct
import sys
from typing import Any, Dict, List, Optional

from .core import answer, list_directory, read_text
from .loaded import mapped_file

_MOST_INTERFACES = 256


def nccl_files(root: str = "", home: str = "") -> None:
    """Configuration files, interfaces, RDMA ports, and what GPUs and adapters share memory through."""
    modules = list_directory(root + "/sys/module")
    answer(
        "nccl_files",
        {
            "files": [_configuration(path) for path in _configuration_files(root, home)],
            "interfaces": _interfaces(root),
            "rdma": _rdma(root),
            "peer_memory": modules
            if isinstance(modules, int)
            else any(m in modules for m in ("nvidia_peermem", "nv_peer_mem")),
            "gdrcopy": os.path.exists(root + "/dev/gdrdrv"),
        },
    )


def _configuration_files(root: str, home: str) -> List[str]:
    """NCCL takes the home directory of the user database, not of $HOME."""
    named = os.environ.get("NCCL_CONF_FILE")
    if not named:
        if not home:
            try:
                import pwd

                home = pwd.getpwuid(os.getuid()).pw_dir
            except (ImportError, KeyError):
                pass
        named = os.path.join(home, ".nccl.conf") if home else ""
    return ([named] if named else []) + [root + "/etc/nccl.conf"]


def _configuration(path: str) -> Dict[str, Any]:
    """The lines NAME=VALUE, as NCCL reads them: '#' in the first column alone makes a comment, nothing is trimmed."""
    got = read_text(path, 1 << 18)
    settings = []
    for number, line in enumerate(got.get("text", "").split("\n"), 1):
        name, equals, value = line.partition("=")
        if equals and re.match(r"^NCCL_\w+$", name):
            settings.append({"name": name, "value": value, "line": number})
    return {"path": path, "errno": got.get("errno"), "settings": settings}


def _interfaces(root: str) -> Any:
    base = root + "/sys/class/net"
    names = list_directory(base)
    if isinstance(names, int):
        return names
    sixes = _ipv6_addresses(root)
    found = []
    for name in names[:_MOST_INTERFACES]:
        place = os.path.join(base, name)
        if os.path.isdir(place):  # bonding_masters is a file
            one = {"name": name, "virtual": "/devices/virtual/" in os.path.realpath(place)}  # type: Dict[str, Any]
            one["pci"] = _on_bus(os.path.join(place, "device"))
            one["addresses"] = _ipv4_addresses(root, name) + sixes.get(name, [])
            for key in ("flags", "operstate", "mtu", "speed"):
                one[key] = read_text(os.path.join(place, key), 64)
            found.append(one)
    return found


def _on_bus(place: str) -> Optional[str]:
    """The PCI address of an adapter, or of the one that it is a part of (virtio)."""
    parts = os.path.realpath(place).split("/") if os.path.exists(place) else []
    return next((p for p in reversed(parts) if re.match(r"^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", p)), None)


def _ipv4_addresses(root: str, name: str) -> List[str]:
    """The address of an interface, by SIOCGIFADDR; made-up trees have none."""
    if root:
        return []
    try:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            got = fcntl.ioctl(asking.fileno(), 0x8915, struct.pack("256s", os.fsencode(name)[:15]))
        return [socket.inet_ntoa(got[20:24])]
    except (ImportError, OSError):
        return []


def _ipv6_addresses(root: str) -> Dict[str, List[str]]:
    """By interface, from /proc/net/if_inet6; without that file there is no IPv6."""
    found = {}  # type: Dict[str, List[str]]
    for line in read_text(root + "/proc/net/if_inet6").get("text", "").splitlines():
        fields = line.split()
        if len(fields) == 6 and len(fields[0]) == 32:
            text = socket.inet_ntop(socket.AF_INET6, bytes(bytearray.fromhex(fields[0])))
            found.setdefault(fields[5], []).append(text)
    return found


def _rdma(root: str) -> Any:
    """Ports of the devices in /sys/class/infiniband; no such directory is no device."""
    base = root + "/sys/class/infiniband"
    devices = list_directory(base)
    if isinstance(devices, int):
        return devices
    found = []
    for device in devices:
        interfaces = list_directory(os.path.join(base, device, "device", "net"))
        ports = list_directory(os.path.join(base, device, "ports"))
        for port in ports if isinstance(ports, list) else ():
            place = os.path.join(base, device, "ports", port)
            one = {key: read_text(os.path.join(place, key), 128) for key in ("state", "link_layer", "rate")}  # type: Dict[str, Any]
            one.update({"device": device, "port": port, "interfaces": interfaces})
            one["pci"] = _on_bus(os.path.join(base, device, "device"))
            found.append(one)
    return found


# ----------------------------------------------------------------------------- the library


def nccl_version() -> None:
    """ncclGetVersion of the file that TensorFlow's loader would take; loading it may hurt, so in a child of its own.

    That loader looks in LD_LIBRARY_PATH, then in the wheel beside TensorFlow, then where the system looks.
    """
    path = _nccl_file()
    answer("nccl_loading", path)
    try:
        lib = ctypes.CDLL(path)
        version = ctypes.c_int()
        result = lib.ncclGetVersion(ctypes.byref(version))
    except (OSError, AttributeError) as e:
        answer("nccl_version", {"path": path, "error": str(e)})
        return
    real = os.path.realpath(path) if os.path.isabs(path) else mapped_file("libnccl.so")
    answer("nccl_version", {"path": real, "error": None, "result": result, "version": version.value})


def _nccl_file() -> str:
    soname = "libnccl.so.2"
    for directory in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")):
        if directory and os.path.isfile(os.path.join(directory, soname)):
            return os.path.abspath(os.path.join(directory, soname))
    for entry in sys.path:
        for path in glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", "nccl", "lib", soname)):
            return os.path.abspath(path)
    return soname
