"""NCCL: configuration files, interfaces, and the version of the library that TensorFlow's loader picks."""

from __future__ import annotations

import errno
import os
from shlex import quote
from typing import Any

import msgspec

from ..facts import Nccl, NcclFile, NcclSetting, NetworkInterface, Python, RdmaPort, TensorFlow, Unread, unread_all
from ..secret_names import is_called_secret
from .ask import Answers, Job, Task, reason

FILES: Task = ("nccl.nccl_files", {})
VERSION: Task = ("nccl.nccl_version", {})
_IFF_UP, _IFF_LOOPBACK = 0x1, 0x8
_SETTLE = "python3 -c 'import ctypes; ctypes.CDLL(\"libnccl.so.2\")'"


def version_job(limit_s: float) -> Job:
    """The child that loads libnccl: hundreds of MB, of which little is read."""
    return Job([VERSION], limit_s)


def read(files: Answers, version: Answers, tensorflow: TensorFlow, python: Python) -> Nccl:
    """Both children's answers as one subject."""
    library, release = read_version(version, tensorflow, python)
    got: dict[str, Any] | None = files.last("nccl_files")
    if got is None:
        why = files.unread(FILES[0])
        return msgspec.structs.replace(unread_all(Nccl, why), library=library, version=release)
    interfaces, rdma, peer_memory = got["interfaces"], got["rdma"], got["peer_memory"]
    return Nccl(
        library=library,
        version=release,
        files=tuple(_file(raw) for raw in got["files"]),
        interfaces=_hidden("/sys/class/net", interfaces, "ip link")
        if isinstance(interfaces, int)
        else tuple(_interface(raw) for raw in interfaces),
        rdma_ports=_ports(rdma),
        peer_memory=peer_memory if isinstance(peer_memory, bool) else _hidden("/sys/module", peer_memory, "lsmod"),
        gdrcopy=got["gdrcopy"],
    )


def _hidden(path: str, number: int, settle: str | None = None) -> Unread:
    return Unread(why=f"{path}: {reason(number)}", settle=settle)


def _file(raw: dict[str, Any]) -> NcclFile:
    path, number = raw["path"], raw["errno"]
    if number is not None:
        absent = number in (errno.ENOENT, errno.ENOTDIR)
        return NcclFile(
            path=path, exists=not absent, settings=() if absent else _hidden(path, number, f"sudo cat {quote(path)}")
        )
    settings = tuple(
        NcclSetting(name=one["name"], value=one["value"], file=path, line=one["line"])
        for one in raw["settings"]
        if not is_called_secret(one["name"])
    )
    return NcclFile(path=path, exists=True, settings=settings)


def _interface(raw: dict[str, Any]) -> NetworkInterface:
    flags = _number(raw["flags"], 16)
    unknown = Unread(why=f"/sys/class/net/{raw['name']}/flags can't be read", settle="ip link")
    speed = _number(raw["speed"], 10)
    return NetworkInterface(
        name=raw["name"],
        up=bool(flags & _IFF_UP) if flags is not None else unknown,
        state=_text(raw["operstate"]),
        loopback=bool(flags & _IFF_LOOPBACK) if flags is not None else unknown,
        virtual=raw["virtual"],
        mtu=_number(raw["mtu"], 10),
        speed_mbit_per_s=speed if speed is not None and speed > 0 else None,
        addresses=tuple(raw["addresses"]),
        pci_address=raw["pci"],
    )


def _number(got: dict[str, Any], base: int) -> int | None:
    try:
        return int(got.get("text", ""), base)
    except ValueError:
        return None


def _text(got: dict[str, Any]) -> str | Unread | None:
    if "text" in got:
        return str(got["text"]).strip()
    return None if got["errno"] == errno.ENOENT else Unread(why=reason(got["errno"]))


def _ports(listed: Any) -> tuple[RdmaPort, ...] | Unread:
    if isinstance(listed, int):
        return () if listed == errno.ENOENT else _hidden("/sys/class/infiniband", listed, "ibstat")
    return tuple(_port(raw) for raw in listed)


def _port(raw: dict[str, Any]) -> RdmaPort:
    state, interfaces = _text(raw["state"]), raw["interfaces"]
    return RdmaPort(
        device=raw["device"],
        port=int(raw["port"]),
        state=state.partition(": ")[2] or state if isinstance(state, str) else state,
        link_layer=_text(raw["link_layer"]),
        rate=_text(raw["rate"]),
        interfaces=() if isinstance(interfaces, int) else tuple(interfaces),
        pci_address=raw["pci"],
    )


# ----------------------------------------------------------------------------- the library


def read_version(
    answers: Answers, tensorflow: TensorFlow, python: Python
) -> tuple[str | Unread | None, str | Unread | None]:
    """The file and its version: as the child was told, unless TensorFlow's loader picked another file."""
    picked = _picked(tensorflow)
    told: dict[str, Any] | None = answers.last("nccl_version")
    if told is None:
        started = answers.last("nccl_loading")
        how = answers.outcome.how or "ended without a word"
        why = Unread(why=f"loading {started}: the process {how}") if started else answers.unread(VERSION[0], _SETTLE)
        return why, _of_wheel(picked, python) or why
    if told["error"] is not None:
        if picked is None and told["path"] == "libnccl.so.2" and "cannot open shared object file" in told["error"]:
            return None, None
        why = Unread(why=f"{told['path']}: {told['error']}", settle=_SETTLE)
        return why, _of_wheel(picked, python) or why
    if picked is not None and told["path"] is not None and os.path.realpath(picked) != told["path"]:
        why = Unread(why=f"TensorFlow's loader picks {picked}; {told['path']} was asked", settle=_SETTLE)
        return picked, _of_wheel(picked, python) or why
    if told["result"] != 0:
        why = Unread(why=f"ncclGetVersion answered {told['result']}")
        return told["path"], why
    return told["path"] or Unread(why="the loader does not say which file it loaded"), version_text(told["version"])


def version_text(code: int) -> str:
    """'2.27.7' for 22707; until 2.8 the code had one digit less: 2708 is '2.7.8'."""
    major = 10000 if code >= 10000 else 1000
    return f"{code // major}.{code % major // 100}.{code % 100}"


def _picked(tensorflow: TensorFlow) -> str | None:
    """The file that TensorFlow's loader picked, where it was asked and said."""
    picks = () if isinstance(tensorflow.libraries, Unread) else tensorflow.libraries
    found = next((p.picked for p in picks if p.soname.startswith("libnccl.so")), None)
    return found if isinstance(found, str) else None


def _of_wheel(picked: str | None, python: Python) -> str | None:
    """The version of the wheel, where the file lies in one and one alone is installed."""
    if isinstance(python.distributions, Unread) or (picked is not None and "/nvidia/nccl/lib/" not in picked):
        return None
    versions = {d.version for d in python.distributions if d.name.startswith("nvidia-nccl-cu")}
    return versions.pop() if len(versions) == 1 else None
