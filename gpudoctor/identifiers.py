"""What in a text names a person, a machine, a network or a secret: found by its form and by what stands around it.

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


class Identifier(NamedTuple):
    """Something to replace, as it stands in a text."""

    kind: Kind
    text: str


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
_HOME = re.compile(rf"[/\\](?:home|Users|users)[/\\]+({_SEGMENT}(?:(?: {_SEGMENT})+(?=[/\\]))?)")
_SHARE = re.compile(r"(?<![\w.~+-])/(?:scratch|work|(?:gpfs|lustre|nfs)/[\w.-]+)/([A-Za-z][\w-]*(?:\.[\w-]+)*)")
"""What is below a cluster's file systems is a user's or a project's, unless it is called as software is."""
_AT = re.compile(r"(?<![\w/.@+-])([A-Za-z_][\w.-]*)@([A-Za-z][A-Za-z0-9-]*)(?![\w@]|\.\w)")
_SSH = re.compile(r"\bssh (?:-\w+(?: [^-\s]\S*)?? )*([A-Za-z][A-Za-z0-9-]*)(?= |$)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[A-Za-z0-9-]+\.)+([A-Za-z]{2,})(?![\w-])")
_UNITS = _words("service socket slice scope mount target timer path device so")
USER_VARIABLES = re.compile(r"USER(NAME)?$|^LOGNAME$|_USER$|_ACCOUNT$|^JUPYTERHUB_SERVER_NAME$")


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
    for match in _AT.finditer(text):
        user, host = match.groups()
        if user not in PUBLIC_USERS:
            yield Identifier("user", user)
        if host.lower() != "localhost":
            yield Identifier("host", host)


# ------------------------------------------------------------------------------- machines and networks

_MAC = re.compile(
    r"(?<![\w:-])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}(?![\w:])|(?<![\w:-])[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}(?![\w:-])"
)
_NODE_GUID = re.compile(r"(?<![\w:])[0-9a-f]{4}(?::[0-9a-f]{4}){3}(?![\w:])")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{3,39}(?:\d+(?:\.\d+){3})?(?![\w:]|\.\w)")
_QUAD = re.compile(r"(?<![\w.+-])(?:\d{1,3}\.){3}\d{1,3}(?![\w+-]|\.\d)")
_VERSION_BEFORE = re.compile(
    r"(?:[=<>!~]=\s*|[<>]\s*|\b(?:version|release|driver|cuda|cudnn|tensorrt|nccl|runtime)\w*[\s:('\"=]*"
    r"|\b[\w.-]*(?:nvidia|cuda|cudnn|tensor|-cu\d)[\w.-]*[\s('\"]+|(?<!/)/)$",
    re.IGNORECASE,
)
_FIRST_OF_NO_VERSION = 32
_NIL = "00000000-0000-0000-0000-000000000000"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_GPU_ID = re.compile(r"(?<![\w-])(?:MIG-GPU-|GPU-|MIG-)([0-9a-fA-F][0-9a-fA-F-]{3,35})(?![\w-])", re.IGNORECASE)
_SHORT_GPU_ID = re.compile(r"(?<![\w-])(?:MIG-GPU-|GPU-|MIG-)([0-9a-fA-F]{1,3})(?![\w-])", re.IGNORECASE)
_BARE_UUID = re.compile(rf"(?<![\w-]){_UUID}(?![\w-])")
_SERIAL = re.compile(r"\bserial(?: ?number| ?no\.?)?\s*[:=#]\s*([A-Za-z0-9-]{4,})", re.IGNORECASE)
_NO_SERIAL = re.compile(r"0+|n/?a|none|unknown|not.*|default.*|to be filled.*", re.IGNORECASE)
_NCCL_LINE = re.compile(r"^([A-Za-z][\w.-]*):\d+:\d+ \[\d+\] ", re.MULTILINE)
_ADDRESS_IN_NAME = re.compile(r"\bip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}\b")


def is_uuid(text: str) -> bool:
    """Five groups of hexadecimal digits."""
    return re.fullmatch(_UUID, text) is not None


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
        if match[0] != _NIL:
            yield Identifier("serial", match[0])
    for pattern in (_MAC, _NODE_GUID):
        for match in pattern.finditer(text):
            if match[0].lower().strip("0:-") and match[0].lower().strip("f:-"):
                yield Identifier("mac", match[0])
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
        if first < _FIRST_OF_NO_VERSION and _VERSION_BEFORE.search(text[max(0, match.start() - 60) : match.start()]):
            continue
        yield Identifier("address", match[0])
    for match in _IPV6.finditer(text):
        digits = match[0].rstrip(":") if not match[0].endswith("::") else match[0]
        try:
            six = ipaddress.IPv6Address(digits)
        except ValueError:
            continue
        if not six.is_loopback and not six.is_unspecified and re.search(r"\d", digits):
            yield Identifier("address", digits)


# ------------------------------------------------------------------------------- names of hosts and domains

_NAME = re.compile(r"(?<![\w.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]*(?![\w-]|\.\w)")
_TOP = _words("com org net edu gov mil corp lan intra intranet localdomain example invalid private")
_TOP_OF_HOSTS = _words("local internal home")
DOMAINS_OF_HOSTS = _TOP_OF_HOSTS | {"corp", "lan", "intra", "intranet", "localdomain", "private"}
"""Domains of one label: what stands before them is a host."""
_COUNTRIES = _words("at au be br ca ch cn cz de dk es eu fi fr hk ie il it jp kr nl no nz ru se sg tw uk us")
_FILES = _words(
    "a c cc cfg conf cpp cu cuh egg go gz h hh hpp html inc ini ipynb java js json la log md o out pb pth proto ptx py "
    "pyc pyi pyx rs rst sh so tar toml txt whl xml yaml yml zip"
)
_PUBLIC = re.compile(
    r"(?:(?:www|docs|developer|developers|help|bugs|forums?|files|packages|pypi|download|security|lists|kb|ngc|catalog|"
    r"api|support|archive|enterprise-support|raw|cloud|tfhub|registry-1|index|gpu|compute-domain)\.)*"
    r"(?:nvidia|github|githubusercontent|google|googleapis|stackoverflow|microsoft|ubuntu|redhat|docker|anaconda|conda|"
    r"amd|intel|kaggle|readthedocs|suse|schedmd|tensorflow|python|pypi|pythonhosted|debian|kernel|pytorch|numpy|scipy|"
    r"conda-forge|apache|launchpad|keras|kubernetes|open-mpi|freedesktop|gnu|sourceware|mozilla|fedoraproject|"
    r"almalinux|rockylinux|archlinux|wikipedia|pip|k8s|nvcr|gcr|quay|abseil|opensource|w3)\.(?:com|org|io|net|ai|dev)",
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
            or (top in _COUNTRIES and len(labels) > 2)
            or (meant and not before.endswith("/."))
        ):
            yield Identifier("domain", name)
    for pattern in (_NCCL_LINE, _ADDRESS_IN_NAME, _SSH):
        for match in pattern.finditer(text):
            if "." not in (name := match[match.lastindex or 0]) and name.lower() != "localhost":
                yield Identifier("host", name)


HOST_VARIABLES = re.compile(r"HOST(NAME|ID)?$|_ADDR$|NODE(LIST|NAME)$|^TF_CONFIG$|_COMM_ID$|_ROOT_UNIQUE_ID$")


def hosts_in_variable(value: str) -> Iterator[Identifier]:
    """The hosts in a list of them: 'a,b', 'node[1-4]', 'a:2222', or TensorFlow's JSON."""
    for entry in _entries(value):
        name = re.sub(r"(\[[\d,-]+\].*|:\d+)$", "", entry.rpartition("@")[2])
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name) and name.lower() not in ("localhost", "none"):
            yield Identifier("host", name)


def _entries(value: str) -> Iterator[str]:
    try:
        cluster = json.loads(value).get("cluster", {})
        for hosts in cluster.values():
            for host in hosts if isinstance(hosts, list) else [hosts]:
                yield str(host)
    except (ValueError, AttributeError, RecursionError):
        if not value.lstrip().startswith("{"):
            yield from (e.strip() for e in re.split(r"[,\s]+(?![^\[]*\])", value))


# ------------------------------------------------------------------------------- secrets

_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}"
    r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{8,}|\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bnvapi-[\w-]{16,}"
    r"|\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bpypi-AgE[\w-]{16,}|\bnpm_[A-Za-z0-9]{20,}|\bdop_v1_[0-9a-f]{32,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    re.DOTALL,
)
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@:\"']*:[^\s/@\"']+(?=@)")
_NAMED = re.compile(
    r"(?:password|passwd|secret|token|credential|api[_-]?key|access[_-]?key|signature)[\"']?\s*[=:]\s*[\"']?"
    r"([A-Za-z0-9+_~-][A-Za-z0-9+/_~.-]{5,}={0,2})",
    re.IGNORECASE,
)
_LONG_WORD = re.compile(r"(?<![\w/.~$+-])[A-Za-z0-9+][A-Za-z0-9+/]{19,}(?![\w/.])")


def secrets(text: str) -> Iterator[Identifier]:
    """Keys and tokens by their published forms, passwords in addresses, and what is called a secret."""
    for pattern in (_SECRETS, _CREDENTIALS):
        for match in pattern.finditer(text):
            yield Identifier("secret", match[0])
    for match in _NAMED.finditer(text):
        if re.search(r"\d", match[1]) and re.search(r"[A-Za-z]", match[1]):
            yield Identifier("secret", match[1].rstrip("."))


def random_words(value: str) -> Iterator[Identifier]:
    """Long random words in a variable's value; a path, a name of parts or a number is none."""
    for match in _LONG_WORD.finditer(value):
        word = match[0]
        runs = len(re.findall(r"\d+", word))
        kinds = sum(re.search(letters, word) is not None for letters in ("[a-z]", "[A-Z]", "[0-9]"))
        if (kinds == 3 and runs >= 3) or (kinds == 2 and runs >= 5):
            yield Identifier("secret", word)
