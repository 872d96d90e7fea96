"""What in a text names a person, a machine or a network: found by its form and by what stands around it (`credentials` finds secrets).

Nothing here is replaced; `redact` does that. What a check needs is no identifier: a version of four numbers, a
PCI address, a symbol, a library's path, the name of a public site.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from .bundle import Kind
from .credentials import context


class Identifier(NamedTuple):
    """Something to replace, as it stands in a text."""

    kind: Kind
    text: str
    before: str = ""
    """What must stand before it; '': it is replaced wherever it stands."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PUBLIC_USERS = _words(
    "root ubuntu user runner jovyan ec2-user debian centos fedora admin azureuser vagrant opc nobody coder codespace "
    "vscode gitpod sagemaker-user mambauser linuxbrew Public Shared Default"
)
"""Names that images and clouds give to everybody."""

_WORDS = _words(
    "anaconda apps arch auto base bash build builder cache check chief child cloud cluster code combined compat conda config "
    "container containerd core cpu cuda cudnn data default deploy dev devel device direct dist docker driver env "
    "envs etc evaluator example file files forward full generic global gpu group groups guest home host index install internal jax jenkins job jupyter "
    "keras kernel kubernetes legacy lib libs linux list loader local localhost lxc machine main master mamba matmul "
    "media miniconda model models nccl net node none notebook nouveau numpy nvidia open opt package packages path pip "
    "podman prod project projects proprietary python release remote rocm run scratch server service share shared "
    "simulated site slurm software source src standard static storage student support system task team temp tensor "
    "tensorflow tensorrt test tests tf tmp tools torch train triton type ubuntu unknown users usr var venv version virtual "
    "wheel work worker workspace x86 xla"
)
_STEMS = ("conda", "cuda", "model", "nvidia", "package", "project", "python", "software", "tensor", "torch", "venv")


def ordinary_user(name: str) -> bool:
    """A name that may be part of other text: it is replaced only where it stands as a user's."""
    lower = name.lower()
    return len(name) < 3 or lower in _WORDS or name.isdigit() or any(s in lower for s in _STEMS)


def ordinary_host(name: str) -> bool:
    """A name that may be part of other text ('gpu2' is what a finding is about)."""
    parts = [p for p in re.split(r"[\d-]+", name.lower()) if p]
    numbered = re.fullmatch(r"(?:gpu|cpu|cuda|cu|sm|eth|ib|mlx|tf|nvidia|lib)[\d_]*", name.lower()) is not None
    return (
        len(name) < 3 or numbered or name.isdigit() or (not re.search(r"\d", name) and all(p in _WORDS for p in parts))
    )


# ------------------------------------------------------------------------------- people

_SEGMENT = r"[^/\\:;,\s\"'`()\[\]{}<>|=$*?]+"
_HOME = re.compile(
    rf"[/\\](?:home\d*|homes|Users|users|Documents and Settings)[/\\]+({_SEGMENT}(?:(?: {_SEGMENT})+(?=[/\\]))?)"
)
_SHARE = re.compile(
    r"(?<![\w.~+-])/(?:p?scratch|work|projects?|fsx|efs|nethome|afs|(?:gpfs|lustre|nfs)/[\w.-]+)/(?:[a-z]/)?([A-Za-z][\w-]*(?:\.[\w-]+)*)"
)
"""What is below a cluster's file systems is a user's or a project's, unless it is called as software is."""
_AT = re.compile(r"(?<![\w/.@+-])([A-Za-z_][\w.-]*)@(?!sha\d)([A-Za-z][A-Za-z0-9-]*)(?![\w@]|\.\w)")
_SSH = re.compile(r"\bssh (?:-\w+(?: [^-\s]\S*)?? )*([A-Za-z][A-Za-z0-9-]*)(?= |$)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+(?:@|%40)(?:[A-Za-z0-9-]+\.)+([A-Za-z]{2,})(?![\w-])")
_NAMED_USER = re.compile(
    r"(?i:\b(?:r?user(?:name)?|login|logname|owner|account|acct))=[\"']?([A-Za-z_][\w.-]*)|\b[ugf]?id=\d+\(([A-Za-z_][\w.-]*)\)"
)
_SAID_USER = re.compile(
    r"(?i:\b(?:for|of|by|as) user |^\s*(?:user(?:name)?|owner)[ \t]*: +|\bsu -l? ?|\b(?:sudo|runuser) -u ?|--username[ \t]+"
    r"|\bsudo: +(?=\S+ : )|\bAccepted \w+ for "
    r"|\b(?:user(?:name)?|owner|login|account)[\"']?[ \t]*:[ \t]*(?=[\"']))[\"']?([A-Za-z_][\w.-]*)"
    r"|(?<![\w/.~$-])~([A-Za-z_][\w-]*)(?=/)|(?<![\w/.@+-])([A-Za-z_][\w.-]*)(?=@\d{1,3}(?:\.\d{1,3}){3})",
    re.MULTILINE,
)
_USER_OF_URL = re.compile(r"(?<=://)([A-Za-z_][\w.-]*)(?=(?::[^\s@]*)?@)")
_OF_MACHINE = re.compile(r"\b(?:machine\s+\S+|default)\s+login[ \t]+([A-Za-z_][\w.-]*)(?=\s+(?:account|password)\s)")
"""A line of ~/.netrc."""
_UNITS = _words("service socket slice scope mount target timer path device so")
USER_VARIABLES = re.compile(r"USER(NAME)?$|^LOGNAME$|_USER$|_ACCOUNT$|^JUPYTERHUB_SERVER_NAME$")


def _there(kind: Kind, text: str, at: int, value: str) -> Identifier:
    """One that only its surroundings give away."""
    return Identifier(kind, value, context(text, at))


def people(text: str) -> Iterator[Identifier]:
    """Homes, users, addresses of mail."""
    for match in _HOME.finditer(text):
        name = match[1].rstrip(".")
        if name and not name.startswith(".") and name not in PUBLIC_USERS:
            yield Identifier("home", name)
    for match in _SHARE.finditer(text):
        if not ordinary_user(match[1]) and match[1].rpartition(".")[2] not in _FILES:
            yield Identifier("user", match[1])
    for match in _EMAIL.finditer(text):
        if match[1].lower() not in _UNITS:
            yield Identifier("email", match[0])
    for match in _NAMED_USER.finditer(text):
        name = (match[1] or match[2]).rstrip(".")
        if name not in PUBLIC_USERS:
            yield (
                Identifier("user", name)
                if not ordinary_user(name)
                else _there("user", text, match.start(match.lastindex or 0), name)
            )
    for match in _SAID_USER.finditer(text):
        at, name = match.start(match.lastindex or 0), str(match[match.lastindex or 0]).rstrip(".")
        if name not in PUBLIC_USERS:
            yield _there("user", text, at, name) if context(text, at) else Identifier("user", name)
    for match in _USER_OF_URL.finditer(text):
        if match[1] not in PUBLIC_USERS | {"git", "oauth2", "token", "x-access-token", "__token__"}:
            yield _there("user", text, match.start(1), match[1])
    for match in _OF_MACHINE.finditer(text):
        if match[1] not in PUBLIC_USERS:
            yield _there("user", text, match.start(1), match[1])
    for match in _AT.finditer(text):
        user, host = match.groups()
        if user not in PUBLIC_USERS:
            yield Identifier("user", user)
        if host.lower() != "localhost":
            yield Identifier("host", host)


# ------------------------------------------------------------------------------- machines and networks

_MAC = re.compile(
    r"(?<!\w)(?<!\W[0-9A-Fa-f]{2}:)[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}(?!\w|:\w)|(?<![\w:-])[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}(?:(?:-[0-9A-Fa-f]{2}){2})?(?![\w:-])"
    r"|(?<![\w.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![\w.])"
)
_MAC_IN_NAME = re.compile(r"(?<![A-Za-z0-9])((?:en|wl|ww)x)([0-9a-f]{12})(?![A-Za-z0-9])")
_NODE_GUID = re.compile(r"(?<![\w:])[0-9a-f]{4}(?::[0-9a-f]{4}){3}(?![\w:])")
_IPV6 = re.compile(
    r"(?:(?<![\w:.])|(?<=\w:)(?=fe80::|f[cd][0-9a-f]{2}:|2[0-9a-f]{3}:))(?=[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{3,39}(?:\d+(?:\.\d+){3})?(?![\w:]|\.\w)"
)
_QUAD = re.compile(r"(?<![\w.+])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_VERSION_BEFORE = re.compile(
    r"(?:[=<>!~]=\s*|[<>]\s*|\b(?:version|release|driver|cuda|cudnn|tensorrt|nccl|runtime)\w*[\s:('\"=]*"
    r"|\b[\w.-]*(?:nvidia|cuda|cudnn|tensor|-cu\d|lib(?:cu|nv|nccl|np))[\w.-]*(?:[\s('\"]+|[/-])"
    r"|\b(?:cu[a-z]+|nv[a-z]+|nccl|tensorrt|npp|hpc_sdk)[\w.+]*[/-]"
    r"|\b(?:cu(?:blas|fft|rand|solver|sparse|pti|dart|file|tensor)\w*|npp\w*|nvjitlink|bios|firmware)[\s:('\"=]+)$",
    re.IGNORECASE,
)
_PACKAGE = re.compile(
    r"(?!(?i:inet|ip|addr\w*|gateway|gw|nameserver|dns|server|host\w*|via|from|to|peer|src|dst|ping|node|remote|local|bind|"
    r"connect|listen|route|ssh|telnet|nc) )[A-Za-z][\w-]*[A-Za-z](?:[ \t]+|==)"
)
_AFTER_PACKAGE = re.compile(r"[ \t]*$|[ \t]+(?:/|\w*_\d+(?:\s|$))", re.MULTILINE)
"""A line of a list of packages: a name and a version, and where it is or its build."""
_NETWORK = re.compile(r"/\d\d?(?![\w.])")
_FIRST_OF_NO_VERSION = 32
_NIL = "00000000-0000-0000-0000-000000000000"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_GPU_ID = re.compile(r"(?<![\w-])(?:MIG-GPU-|GPU-|MIG-)([0-9a-fA-F][0-9a-fA-F-]{3,35})(?![\w-])", re.IGNORECASE)
_SHORT_GPU_ID = re.compile(r"(?<![\w-])(?:MIG-GPU-|GPU-|MIG-)([0-9a-fA-F]{1,3})(?![\w-])", re.IGNORECASE)
_BARE_UUID = re.compile(rf"{_UUID}|[0-9a-fA-F]{{8}}(?:_[0-9a-fA-F]{{4}}){{3}}_[0-9a-fA-F]{{12}}")
_SERIAL = re.compile(
    r"(?:\bserial(?:[ _-]?(?:number|no|num)\.?)?|\bS/?N(?=[ :=#]+[A-Z0-9-]*\d{4})|\b(?:service|asset)[ _-]?tag|\b(?:machine|boot)[ _-]?id|\b(?:product|system)[ _-]?uuid|(?:\b|_)GUID|\bGPU PDI)"
    r"[\"']?(?:\s*[:=#]\s*|(?<=/N) |[ \t]+(?=0x))[\"']?([A-Za-z0-9-]{4,})",
    re.IGNORECASE,
)
_NO_SERIAL = re.compile(r"(?:0x)?0+|n/?a|none|unknown|not.*|default.*|to be filled.*", re.IGNORECASE)
_NCCL_LINE = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*):\d+:\d+ \[\d+\] ")
_ADDRESS_IN_NAME = re.compile(r"\bip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}\b")


def is_uuid(text: str) -> bool:
    """Five groups of hexadecimal digits."""
    return _BARE_UUID.fullmatch(text) is not None


def halves(uuid: str) -> tuple[str, str]:
    """'GPU-', 'MIG-', 'MIG-GPU-' or nothing, and the digits."""
    start = re.match(r"(?:MIG-)?(?:GPU-)?", uuid, re.IGNORECASE)
    end = start.end() if start is not None else 0
    return uuid[:end], uuid[end:]


DEVICE_VARIABLES = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


def hardware(text: str) -> Iterator[Identifier]:
    """GPU UUIDs, whole or abbreviated; MAC addresses; serial numbers."""
    for match in _GPU_ID.finditer(text):
        if match[1] != _NIL:
            yield Identifier("gpu-uuid", match[0])
    for match in _BARE_UUID.finditer(text):
        if match[0].strip("0-_"):
            yield Identifier("serial", match[0])
    for pattern in (_MAC, _NODE_GUID):
        for match in pattern.finditer(text):
            if match[0].lower().strip("0:-") and match[0].lower().strip("f:-"):
                yield Identifier("mac", match[0])
    for match in _MAC_IN_NAME.finditer(text):
        if match[2].strip("0"):
            yield Identifier("mac", match[2], match[1])
    for match in _SERIAL.finditer(text):
        yield from serial(match[1])


def serial(value: str) -> Iterator[Identifier]:
    """A serial number, unless it says that there is none."""
    if len(value) >= 4 and not _NO_SERIAL.fullmatch(value):
        yield Identifier("serial", value)


def short_gpu_ids(value: str) -> Iterator[Identifier]:
    """In a list of devices three digits of a UUID may do; elsewhere 'GPU-0' is a number."""
    for match in _SHORT_GPU_ID.finditer(value):
        yield Identifier("gpu-uuid", match[0])


def addresses(text: str) -> Iterator[Identifier]:
    """IP addresses of this network: no loopback, no mask, no version of four numbers."""
    for match in _QUAD.finditer(text):
        try:
            address = ipaddress.IPv4Address(match[0])
        except ValueError:
            continue
        first = address.packed[0]
        if first == 127 or first == 0 or first == 255 or address.is_unspecified:
            continue
        if first < _FIRST_OF_NO_VERSION and _is_version(text, match, first):
            continue
        yield Identifier("address", match[0])
    for match in _IPV6.finditer(text):
        digits = match[0].rstrip(":") if not match[0].endswith("::") else match[0]
        try:
            six = ipaddress.IPv6Address(digits)
        except ValueError:
            continue
        if not six.is_loopback and not six.is_unspecified and (re.search(r"\d", digits) or digits.count(":") > 3):
            yield Identifier("address", digits)


def _is_version(text: str, quad: re.Match[str], first: int) -> bool:
    """By what stands around it. What is behind a scheme, or is a network, is none; in a list of packages it is one."""
    before = text[max(0, quad.start() - 60) : quad.start()]
    if before.endswith(("://", "/mnt/")):
        return False
    if _VERSION_BEFORE.search(before):
        return True
    if first == 10 or _NETWORK.match(text, quad.end()):
        return False
    around = before[-1:] + text[quad.end() : quad.end() + 1]
    if any(c in "-+/" for c in around):
        return True
    line = text[text.rfind("\n", 0, quad.start()) + 1 : quad.start()]
    few = sum(len(part) == 1 for part in quad[0].split(".")) >= 2
    return few and _PACKAGE.fullmatch(line) is not None and _AFTER_PACKAGE.match(text, quad.end()) is not None


# ------------------------------------------------------------------------------- names of hosts and domains

_NAME = re.compile(r"(?<![\w.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]*(?![\w-]|\.\w)")
_TOP = _words("com org net edu gov mil corp lan intra intranet localdomain example invalid private")
_TOP_OF_HOSTS = _words("local internal home")
DOMAINS_OF_HOSTS = _TOP_OF_HOSTS | {"corp", "lan", "intra", "intranet", "localdomain", "private"}
"""Domains of one label: what stands before them is a host."""
_TOP_OF_MANY = _words("ai app biz cloud co dev global info io me network online services site systems tech xyz")
_COUNTRIES = _words("at au be br ca ch cn cz de dk es eu fi fr hk ie il it jp gr kr mx nl no nz pl ru se sg tw uk us")
_FILES = _words(
    "a c cc cfg conf cpp cu cuh egg go gz h hh hpp html inc ini ipynb java js json la log md o out pb pth proto ptx py "
    "pyc pyi pyx rs rst sh so tar toml txt whl xml yaml yml zip"
)
_PUBLIC = re.compile(
    r"(?:(?:www|docs|developer|developers|help|bugs|forums?|files|packages|pypi|download|security|lists|kb|ngc|catalog|"
    r"api|storage|conda|colab|research|registry|repo|us|eu|asia|support|archive|enterprise-support|raw|cloud|tfhub|registry-1|index|gpu|compute-domain)\.)*"
    r"(?:nvidia|github|githubusercontent|google|googleapis|stackoverflow|microsoft|ubuntu|redhat|docker|anaconda|conda|"
    r"amd|intel|kaggle|readthedocs|suse|schedmd|tensorflow|python|pypi|pythonhosted|debian|kernel|pytorch|numpy|scipy|"
    r"conda-forge|apache|launchpad|keras|kubernetes|open-mpi|freedesktop|gnu|sourceware|mozilla|fedoraproject|"
    r"almalinux|rockylinux|archlinux|wikipedia|pip|k8s|nvcr|gcr|quay|abseil|opensource|w3)\.(?:com|org|io|net|ai|dev)|[a-z0-9-]+-docker\.pkg\.dev",
    re.IGNORECASE,
)


def names(text: str) -> Iterator[Identifier]:
    """Full names of hosts, and domains, that are not public sites."""
    for match in _NAME.finditer(text):
        name = match[0]
        labels = name.lower().split(".")
        top = labels[-1]
        before, after = text[max(0, match.start() - 3) : match.start()], text[match.end() : match.end() + 6]
        meant = before.endswith(("://", "@")) or re.match(r":\d{2,5}(?!\d)", after) is not None
        hostlike = any(re.search(r"[\d-]", label) for label in labels[:-1])
        if top in _FILES | _UNITS or _PUBLIC.fullmatch(name):
            continue
        if (
            top in _TOP
            or (top in _TOP_OF_HOSTS and hostlike)
            or name.lower().endswith(".svc.cluster.local")
            or (top == "local" and len(labels) > 2 and after[:1] not in ("(", "["))
            or (top in _TOP_OF_MANY and len(labels) > 2 and after.startswith("/") and not before.endswith("/"))
            or (top in _COUNTRIES and len(labels) > 2)
            or (top in _TOP_OF_MANY and len(labels) > 2 and (hostlike or (len(top) < 4 and len(labels) > 3)))
            or (meant and not before.endswith("/."))
        ):
            yield Identifier("domain", name)
    for match in _SAID_HOST.finditer(text):
        name = match[1].rstrip(".-")
        if name.lower() not in ("localhost", "none", "n", "cpu", "gpu"):
            yield _there("host", text, match.start(1), name)
            if match[0][: -len(match[1])].endswith("=") and not ordinary_host(name) and re.search(r"\d", name):
                yield Identifier("host", name)
    for match in (*_OF_SCHEME.finditer(text), *_OF_SHARE.finditer(text)):
        at, name = match.start(match.lastindex or 0), str(match[match.lastindex or 0])
        if name.lower() not in ("localhost", "wsl", "host"):
            yield _there("host", text, at, name)
            if re.search(r"\d", name) and not ordinary_host(name):
                yield Identifier("host", name)
    for pattern in (_NCCL_LINE, _ADDRESS_IN_NAME, _SSH):
        for match in pattern.finditer(text):
            if "." not in (name := match[match.lastindex or 0]) and name.lower() != "localhost":
                yield Identifier("host", name)


_SAID_HOST = re.compile(
    r"(?i:\b(?:host ?name|node ?name|fqdn)(?:=|[ \t]*:[ \t]+)|\b(?:host|node|server|peer)=|^[ \t]*host[ \t]*:[ \t]+|\bfor host: "
    r"|\bmaster[_-]addr[= ]|\brdzv[_-]endpoint[= ]|\b(?:HOROVOD_HOSTS|NODELIST)=|\bmpi(?:run|exec) (?:[^\n|;&]* )?-H[ \t]+"
    r"|\bsrun: error: (?=[\w-]+: )|^[a-z]{3} [ \d]\d \d\d:\d\d:\d\d (?=[\w-]+ (?:kernel|[\w.-]+\[\d+\]):))"
    r"[\"']?([A-Za-z][A-Za-z0-9-]*)(?![\w.])",
    re.MULTILINE,
)

_OF_SCHEME = re.compile(
    r"(?<![A-Za-z])(?:grpcs?|https?|tcp|smb|cifs|nfs|wss?|redis|amqp|mysql|postgresql|ssh|s?ftp|rsync)://"
    r"(?:[^\s/@]*@)?([A-Za-z][A-Za-z0-9-]*)(?![\w.%@-])"
)
_OF_SHARE = re.compile(
    r"(?<![\\\w:])\\\\([A-Za-z][A-Za-z0-9-]*)(?=\\\w)|(?<![\w:/.@])//([A-Za-z][A-Za-z-]*\d[A-Za-z0-9-]*)(?=/\w)"
)
HOST_VARIABLES = re.compile(r"HOSTS?(NAME|ID)?$|_ADDR$|NODE(LIST|NAME)$|^TF_CONFIG$|_COMM_ID$|_ROOT_UNIQUE_ID$")


_HOST = re.compile(r"(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]*")
_BEFORE_PORT = re.compile(r"[\w.-]+(?=:\d{2,5}(?!\d))")


def hosts_in_variable(value: str) -> Iterator[Identifier]:
    """The hosts in a list of them: 'a,b', 'node[1-4]', 'a:2222', or TensorFlow's JSON."""
    for entry in _entries(value):
        name = re.sub(r"(\[[\d,-]+\].*|:\d+)$", "", entry.rpartition("@")[2])
        if _HOST.fullmatch(name) and name.lower() not in ("localhost", "none"):
            yield Identifier("host", name)
        elif _NAME.fullmatch(name) and not name.lower().startswith("localhost."):
            yield Identifier("domain", name)


def _entries(value: str) -> Iterator[str]:
    if value.lstrip().startswith("{"):  # JSON that is cut, or of another shape, holds names as well
        yield from _BEFORE_PORT.findall(value)
    try:
        cluster = json.loads(value).get("cluster", {})
        for hosts in cluster.values():
            for host in hosts if isinstance(hosts, list) else [hosts]:
                yield str(host)
    except (ValueError, AttributeError, RecursionError):
        if not value.lstrip().startswith("{"):
            yield from (e.strip() for e in re.split(r"[,\s]+(?![^\[]*\])", value))


# ------------------------------------------------------------------------------- what programs were started with

_COMMAND = re.compile(r"(\S+)([ \t]+)(\S.*)", re.DOTALL)
_PROCESS = re.compile(r"^[ \t]+(?:Process )?Name[ \t]*: (\S+[ \t]+\S.*?)[ \t]*$", re.MULTILINE)
"""Of a process, as `nvidia-smi -q` prints it."""


def arguments(command: str) -> Iterator[Identifier]:
    """All words of a command but the program: they name projects and people, and may hold passwords."""
    if match := _COMMAND.fullmatch(command.strip()):
        yield Identifier("secret", match[3], match[1] + match[2])


def processes(text: str) -> Iterator[Identifier]:
    """The same of the commands in a text."""
    for match in _PROCESS.finditer(text):
        yield from arguments(match[1])
