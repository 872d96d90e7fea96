"""Device nodes: ls -l /dev/nvidia*, /proc/devices, what open() answers, what SELinux and AppArmor deny."""

from __future__ import annotations

from .language import Kind, Language

_NODE = r"(?P<path>/dev/nvidia[\w-]*)"
_DOES_NOT_LOAD = "driver-does-not-load"

LANGUAGE = Language(
    name="nodes",
    words=("/dev/nvidia", "nvidia-uvm", "nvidia-frontend", "denied", "DENIED", "NvRmMem"),
    kinds=(
        Kind("lsm-denied", rf"avc: +denied .{{0,300}}/?nvidia|apparmor=\"DENIED\".{{0,200}}name=\"{_NODE}", _DOES_NOT_LOAD),
        Kind("node", rf"^c(?P<mode>[rwx-]{{9}})[.+@]? +\d+ +\S+ +\S+ +(?P<major>\d+), +\d+ .{{0,30}}{_NODE}$"),
        Kind("nodes-listed", rf"^{_NODE}(?: +/dev/nvidia[\w-]*){{1,20}}$"),
        Kind("nodes-handed", rf"--device[= ]{_NODE}"),
        Kind("major", r"^(?P<major>\d{2,3}) (?P<name>nvidia[\w-]*)$"),
        Kind("node-of-gres-absent", rf"gres\.conf file {_NODE}(?:: No such file| to appear)", _DOES_NOT_LOAD),
        Kind(
            "node-absent",
            rf"{_NODE}\W?,? ?(?:\(No such file|[^()=]{{0,60}}\) = -1 ENOENT|: No such file|does not exist|not found)"
            rf"|{_NODE.replace('path', 'path4')}\b[^.]{{0,40}} (?:(?:is|was|were|are) )?(?:missing|not there|absent)\b"
            rf"|[`'\"]?{_NODE.replace('path', 'path5')}[`'\"]? (?:(?:is|was|were|are)(?:n't| not)|not) (?:there|present|in there|inside)\b"
            rf"|(?:stat|open|access) {_NODE.replace('path', 'path2')}: no such file|device file {_NODE.replace('path', 'path3')} \(No such file",
        ),
        Kind(
            "node-refused",
            rf"{_NODE}\W?,? ?[^()=]{{0,60}}(?:\) = -1 (?:EACCES|EPERM)|[:(] ?\(?(?:Permission denied|Operation not permitted))",
            _DOES_NOT_LOAD,
        ),
        Kind("nvmap-refused", r"NvRmMemInitNvmap failed with Permission denied", _DOES_NOT_LOAD),
        Kind("node-does-not-answer", rf"{_NODE}\W?,? ?[^()=]{{0,60}}(?:\) = -1 EIO|[:(] ?\(?Input/output error)", _DOES_NOT_LOAD),
    ),
)  # fmt: skip
