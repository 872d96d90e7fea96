"""Training over several processes: TF_CONFIG's addresses as they look from here, who has this task's port, Horovod's files.

Only where TF_CONFIG names addresses are they looked up and connected to; the connection is closed at once, and nothing is sent.
"""

import errno
import glob
import ipaddress
import json
import os
import socket
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from .core import answer, read_text

_MOST_ADDRESSES = 256
_LISTENING = "0A"


def horovod_files() -> None:
    """Where Horovod lies, and the frameworks whose compiled part is there. None: it is not on the path."""
    for entry in sys.path:
        directory = os.path.join(entry or ".", "horovod")
        if os.path.isfile(os.path.join(directory, "__init__.py")):
            built = [
                name
                for name in ("tensorflow", "torch", "mxnet")
                if glob.glob(os.path.join(glob.escape(directory), name, "mpi_lib*.so"))
            ]
            answer("horovod", {"directory": directory, "built": built})
            return
    answer("horovod", None)


def tf_config(connect_s: float, total_s: float) -> None:
    """The variable as it is, and what is known of each address in it. At most `connect_s` seconds a connection."""
    text = os.environ.get("TF_CONFIG")
    if text is None:
        answer("tf_config", None)
        return
    addresses, mine = _addresses_of(text)
    seen = {}  # type: Dict[str, Dict[str, Any]]
    asking = []
    for address in addresses[:_MOST_ADDRESSES]:
        one = seen[address] = {"proxy": _proxy_for(_host_and_port(address)[0])}
        thread = threading.Thread(target=_look_at, args=(address, address != mine, connect_s, one))
        thread.daemon = True  # a look-up that does not end must not keep this process
        thread.start()
        asking.append(thread)
    deadline = time.time() + total_s
    for thread in asking:
        thread.join(max(0.0, deadline - time.time()))
    port = _host_and_port(mine)[1] if mine is not None else None
    holders = _listeners(port, text) if port is not None else []
    told = {address: dict(one) for address, one in seen.items()}  # a thread may still write
    answer("tf_config", {"text": text, "addresses": told, "holders": holders})


def _addresses_of(text: str) -> Tuple[List[str], Optional[str]]:
    """Every address of the cluster, each once, and this task's own; of what can't be read none."""
    try:
        config = json.loads(text)
        lists = {role: _by_index(tasks) for role, tasks in config["cluster"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], None
    found = [a for tasks in lists.values() for a in tasks.values() if isinstance(a, str) and _host_and_port(a)[1]]
    try:
        mine = lists[config["task"]["type"]][int(config["task"]["index"])]
    except (ValueError, KeyError, TypeError):
        mine = None
    return list(dict.fromkeys(found)), mine if mine in found else None


def _by_index(tasks: Any) -> Dict[int, Any]:
    if isinstance(tasks, dict):
        return {int(i): a for i, a in tasks.items()}
    return dict(enumerate(tasks)) if isinstance(tasks, list) else {}


def _host_and_port(address: str) -> Tuple[str, Optional[int]]:
    host, _, port = address.rpartition(":")
    number = int(port) if len(port) < 6 and port.isdigit() else 0
    return host.strip("[]"), number if host and 0 < number < 65536 else None


def _look_at(address: str, connects: bool, connect_s: float, told: Dict[str, Any]) -> None:
    """Look up the host; is it this machine; who answers at the port? What is not in `told` at the end took too long."""
    host, port = _host_and_port(address)
    try:
        got = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as e:
        told["resolved"] = None if e.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", -5)) else str(e)
        return
    except (OSError, ValueError) as e:  # ValueError: no host name at all
        told["resolved"] = None if isinstance(e, ValueError) else str(e)
        return
    places = list(dict.fromkeys((one[0], one[4]) for one in got))
    told["resolved"] = sorted({str(place[1][0]) for place in places})
    told["here"] = _is_here(places)
    told["connection"] = _connect(places, connect_s) if connects else None


def _is_here(places: List[Tuple[Any, Any]]) -> Any:
    """Whether one of the addresses is this machine's: a socket can be bound to it. An errno where that can't be told."""
    if any(
        read_text("/proc/sys/net/%s/ip_nonlocal_bind" % v).get("text", "0").strip() == "1" for v in ("ipv4", "ipv6")
    ):
        return errno.ENOTSUP  # here every address can be bound
    for family, place in places:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as asking:
                asking.bind((place[0], 0) + tuple(place[2:]))
            return True
        except OSError as e:
            if e.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL):
                return e.errno
    return False


def _connect(places: List[Tuple[Any, Any]], limit_s: float) -> str:
    """'accepted', or why the first address was not reached: 'refused', 'timed out', an errno's name."""
    said = []
    for family, place in places[:2]:
        try:
            with socket.socket(family, socket.SOCK_STREAM) as asking:
                asking.settimeout(limit_s)
                asking.connect(place)
            return "accepted"
        except socket.timeout:
            said.append("timed out")
        except OSError as e:
            if e.errno == errno.ECONNREFUSED:
                said.append("refused")
            else:
                said.append(errno.errorcode.get(e.errno or 0, str(e)))
    return "refused" if "refused" in said else said[0]


def _proxy_for(host: str) -> Optional[str]:
    """The variable by which gRPC goes to `host` through a proxy: the first of three that is set, where no list leaves the host out."""
    name = next((n for n in ("grpc_proxy", "https_proxy", "http_proxy") if os.environ.get(n)), None)
    if name is None or not os.environ[name].startswith("http://"):  # gRPC passes over any other kind
        return None
    left_out = os.environ.get("no_grpc_proxy") or os.environ.get("no_proxy") or ""
    return None if any(_leaves_out(entry.strip(), host) for entry in left_out.split(",")) else name


def _leaves_out(entry: str, host: str) -> bool:
    """An entry is the end of a name, or a network."""
    if not entry:
        return False
    if host.lower().endswith(entry.lower()):
        return True
    try:
        return "/" in entry and ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _listeners(port: int, text: str) -> Any:
    """Who listens on `port` of this machine, on whatever address: a server that takes all of them can't start. Or an errno."""
    inodes = []
    for name in ("tcp", "tcp6"):
        got = read_text("/proc/net/" + name, 1 << 22)
        if "errno" in got and name == "tcp":
            return got["errno"]
        for line in got.get("text", "").splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.append(fields[9])
    return [_owner(inode, text) for inode in dict.fromkeys(inodes)]


def _owner(inode: str, text: str) -> Dict[str, Any]:
    """The process that holds a socket, and whether it was started with the same TF_CONFIG. Without a pid: nobody who may be looked into."""
    target = "socket:[%s]" % inode
    for pid in sorted((p for p in os.listdir("/proc") if p.isdigit()), key=int):
        try:
            held = any(_link("/proc/%s/fd/%s" % (pid, fd)) == target for fd in os.listdir("/proc/%s/fd" % pid))
        except OSError:
            continue
        if held:
            command = read_text("/proc/%s/comm" % pid, 64).get("text", "").strip()
            return {"pid": int(pid), "command": command, "same": _has_config(pid, text)}
    return {"pid": None}


def _link(path: str) -> Optional[str]:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return None


def _has_config(pid: str, text: str) -> Any:
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            return b"TF_CONFIG=" + os.fsencode(text) in f.read(4 << 20).split(b"\0")
    except OSError as e:
        return e.errno
