"""Programs over several processes or machines, as people paste them: TF_CONFIG, Horovod's ranks, TensorFlow's servers; and how many
machines and GPUs they speak of."""

from __future__ import annotations

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
LANGUAGES = (SERVERS, TAKEN, NAMED, WORKERS, TASKS, MACHINES, UNSEEN)
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
