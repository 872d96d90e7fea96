"""Programs over several processes or machines, as people paste them: TF_CONFIG, Horovod's ranks, TensorFlow's servers; and how many
machines and GPUs they speak of."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import TextEvent
from ..patterns import Pattern
from .language import Kind, Language, Values
from .notebook import Notebook


def _without(values: Values, line: int, notes: Notebook) -> None:
    if "gpu" not in values["has"].lower():
        notes.tell("tensorflow.devices", (), line)


SERVERS = Language(
    name="tensorflow-python",
    words=("gRPC server", "local_rank()", "machine only has", "server with target", "waiting for response", "in TF_CONFIG", "at most one '", "the maximum id", "cluster_spec"),
    kinds=(
        Kind("server-started", r"Started server with target\b", once=True),
        Kind("session-waits", r"CreateSession still waiting for response from worker\b", "collective-fails", once=True),
        Kind(
            "cluster-refused",
            r"If \"cluster\" is set in TF_CONFIG, (?:it must have one \"|task (?:type|index) must be set)|\"cluster\" in TF_CONFIG must have only one \"|There must be at most one '(?:chief|evaluator)' job",
            "collective-fails",
        ),
        Kind(
            "task-refused",
            r"The `task_id` \d{1,6} exceeds the maximum id of \w|`task_type` \S{1,40} not found in cluster_spec|\b\w{1,40} is not a valid task_(?:type|id)(?: for task_type \w{1,40})? in the cluster_spec",
            "collective-fails",
        ),
        Kind("server-not-started", r"Could not start gRPC server", "collective-fails"),
        Kind("rank-takes-gpu", r"\b(?:gpus?|devices|physical_\w{1,20})\[hvd\.local_rank\(\)\]|\bvisible_device_list ?= ?str\(hvd\.local_rank\(\)\)|\bset_device\(hvd\.local_rank\(\)\)"),
        Kind(
            "model-wants-more-gpus",
            r"we expect the following devices to be available: [^\n]{1,400}?\. However this machine only has: \[(?P<has>[^\]\n]{1,400})\]",
            tell=_without,
        ),
    ),
)  # fmt: skip
TAKEN = Language(
    name="tensorflow-python",
    words=("ddress already in use", "list index out of", "device ordinal"),
    kinds=(
        Kind("address-in-use", r"[Aa]ddress already in use"),
        Kind("rank-beyond", r"IndexError: list index out of range|invalid device ordinal"),
    ),
)
NAMED = Language(
    name="circumstances",
    words=("TF_CONFIG", "ClusterSpec"),
    kinds=(Kind("cluster-named", r"\bTF_CONFIG\b|\bClusterSpec\(", once=True),),
)
WORKERS = Language(
    name="circumstances",
    foreign=True,
    words=(
        "MultiWorker",
        "ParameterServer",
        "ulti-worker",
        "ulti worker",
        "t2t-trainer",
        "train_and_evaluate",
        "chief",
        "Chief",
    ),
    kinds=(
        Kind("chief-named", r"\b[Cc]hief\b|\bt2t-trainer\b|\btrain_and_evaluate\b", once=True),
        Kind("workers-named", r"\b(?:MultiWorkerMirrored|ParameterServer)Strategy|\b[Mm]ulti[- ]worker\b", once=True),
    ),
)
TASKS = Language(
    name="tensorflow-python",
    words=('worker"', "worker'", 'chief"', "chief'", 'ps"', "ps'"),
    kinds=(
        Kind(
            "task-addresses",
            r"[\"'](?:chief|worker|ps|master)[\"']\W{1,4}\[ ?(?P<addresses>[\"'][\w.-]{1,80}:\d{1,5}[\"'](?: ?, ?[\"'][\w.-]{1,80}:\d{1,5}[\"']){0,15}) ?\]",
        ),
    ),
)
"""TF_CONFIG's cluster, a role a line."""
PEERS = Language(
    name="tensorflow-python",
    words=("rom peer ipv4:", "to all addresses", "DNS resolution failed", "route to host", "/job:"),
    kinds=(
        Kind("grpc-peer", r"[Ee]rror received from peer ipv4:(?P<host>[\d.]{7,15}):\d{1,5}"),
        Kind("grpc-no-name", r"DNS resolution failed"),
        Kind("grpc-no-way", r"[Ff]ailed to connect to all addresses|No route to host"),
        Kind("grpc-of-task", r"Additional GRPC error information from remote target /job:(?:worker|ps|chief)\b"),
    ),
)
"""What gRPC says of another task."""
_PLACE = r"(?:machine|node|server|host|computer|box|workstation)"
MACHINES = Language(
    name="circumstances",
    foreign=True,
    words=("achine", "ode", "erver", "ost", "omputer", "box", "orkstation"),
    kinds=(
        Kind(
            "second-machine-named",
            rf"(?i:\b{_PLACE}[ _#-]{{0,2}}(?:2|two|b)\b(?![.:]\d)|\b(?:second|2nd|other|another) (?:\w+ )?{_PLACE}\b|\b(?:two|2|three|3|several|multiple|different|both) (?:different |separate |physical )?(?:\w+ )?{_PLACE}s\b)",
            once=True,
        ),
    ),
)
_CARD = r"(?:GPUs?|cards?|graphics cards?)"
UNSEEN = Language(
    name="circumstances",
    foreign=True,
    words=("2nd", "econd", "ther", "ne of", "ne GPU", "nly 1", "ust 1"),
    kinds=(
        Kind(
            "one-of-several-unseen",
            rf"(?i:\b(?:2nd|second|other|one of (?:the|my)(?: two| 2)?) {_CARD}\b(?: ?\([^)\n]{{0,30}}\))?[^.\n]{{0,30}}?(?:\bnot\b|n't\b|\bnever\b)[^.\n]{{0,12}}?\b(?:detect|recogni[sz]|seen|see\b|found|listed|visible|show|used?\b|register)\w*"
            rf"|(?:\bnot\b|n't\b|\bnever\b) (?:\w+ ){{0,2}}?(?:detect|recogni[sz]e|see|find|list|show|use)\w{{0,3}} (?:my |the )?(?:2nd|second|other) {_CARD}\b"
            rf"|\bonly (?:detects|sees|finds|recogni[sz]es|lists|shows) (?:one|1)(?: {_CARD})? of (?:my|the|our|these)\b|\bonly (?:one|1)(?: of (?:my|the|our)(?: two| 2)?)? {_CARD} (?:is |gets )?(?:detected|seen|found|visible|recogni[sz]ed|listed)\b"
            rf"|\b(?:detects|sees|finds|recogni[sz]es|lists|shows) (?:only|just) (?:one|1)(?: {_CARD})?(?: out)? of (?:my|the|our|these|two|2)\b)",
            once=True,
        ),
    ),
)
LANGUAGES = (SERVERS, TAKEN, NAMED, WORKERS, TASKS, PEERS, MACHINES, UNSEEN)


def settle(notes: Notebook) -> None:
    """Where a cluster is told of, what gRPC says of another task shows that it is not reached: a server of another kind, or a
    TPU, is asked in the same words."""
    said = {e.kind: e for e in reversed(notes.events)}
    if "cluster-named" not in said and "task-addresses" not in said:
        return
    tasks = _hosts(notes.events)
    if any(host.startswith(_BRIDGE) for host in tasks):
        notes.note(_like(said["task-addresses"], "tasks-on-bridge", None))
    kind = next((one for one in ("grpc-no-name", "grpc-no-way") if one in said), "")
    if not kind and "grpc-peer" in said and _is_no_task(said["grpc-peer"].values["host"], tasks):
        kind = "grpc-peer"
    if kind and not any(e.symptom == _FAILS for e in notes.events):
        notes.note(_like(said[kind], kind.replace("grpc", "cluster"), _FAILS))


def _like(event: TextEvent, kind: str, symptom: str | None) -> TextEvent:
    return TextEvent(
        line=event.line, language=event.language, kind=kind, text=event.text, values=event.values, symptom=symptom
    )


def _hosts(events: Iterable[TextEvent]) -> list[str]:
    """The hosts of TF_CONFIG."""
    told = (e.values["addresses"] for e in events if e.kind == "task-addresses")
    return [host for addresses in told for host in _HOST.findall(addresses)]


def _is_no_task(peer: str, tasks: list[str]) -> bool:
    """Whether gRPC spoke to one that is no task: not where they are told by name."""
    return peer not in tasks and not peer.startswith("127.") and all(_NUMBERS.fullmatch(host) for host in tasks)


_FAILS = "collective-fails"
_BRIDGE = "172.17.0."
"""Docker's own network, which leads to containers of the same machine alone."""
_HOST = Pattern(r"([\w.-]{1,80}):\d")
_NUMBERS = Pattern(r"\d{1,3}(?:\.\d{1,3}){3}")
_OF_A_POD = (
    "k8s-device-plugin-not-registered", "container-runtime-not-default", "container-toolkit-missing", "container-no-gpus-flag",
    "container-visible-devices-wrong", "multi-gpu-topology-no-p2p", "gpu-left-out-beside-another", "single-gpu-silently",
    "container-cgroup-devices-lost", "slurm-no-gpu-allocated", "p2p-not-used",
)  # fmt: skip
ANSWERS = {
    "benign-beyond-a-node": _OF_A_POD,
    "benign-unasked-gpus": _OF_A_POD,
    "benign-waited": ("k8s-device-plugin-not-registered", "container-runtime-not-default"),
}
"""Suspicions of who has a pod with too few GPUs, or too many."""
