"""What texts tell of a TF_CONFIG, and of the servers of its tasks."""

from __future__ import annotations

from gpudoctor.checks._said import left_open, lines
from gpudoctor.facts import Facts
from gpudoctor.findings import Fix, Found
from gpudoctor.patterns import Pattern

SHOW = "python3 -c 'import json, os; print(json.dumps(json.loads(os.environ[\"TF_CONFIG\"]), indent=1))'"
"""Prints TF_CONFIG."""


def advice(summary: str, *steps: str) -> Fix:
    """A fix that changes nothing by itself; with steps it can be typed."""
    return Fix(kind="command" if steps else "advice", risk="safe", summary=summary, steps=steps)


def nameless(facts: Facts) -> Found:
    """gRPC finds no address for another task's name. Raises UnknownFactError."""
    lost = facts.text.said("cluster-no-name")
    if not lost:
        raise left_open("getent hosts NAME  # that of each other task")
    return Found(
        message="The name of another task's host leads to no address here.",
        proof=lines(lost[:2]),
        fixes=(advice("Correct the name, or make it known here", "getent hosts NAME"),),
    )


def refused(facts: Facts, kind: str, why: str) -> Found:
    """TensorFlow refuses TF_CONFIG, and says why. Raises UnknownFactError."""
    told = facts.text.said(kind)
    if not told:
        raise left_open(SHOW)
    return Found(
        message=f"TensorFlow refuses TF_CONFIG: {why}.",
        proof=lines(told[:2]),
        fixes=(advice("Write it anew: the same 'cluster' on every machine, on each its own 'task'", SHOW),),
    )


def taken(facts: Facts) -> Found:
    """TensorFlow's server finds its port taken. Raises UnknownFactError."""
    server, in_use, named_ = (
        facts.text.said(kind) for kind in ("server-not-started", "address-in-use", "cluster-named")
    )
    if not server or not in_use or not named_:
        raise left_open("ss -ltnp")
    return Found(
        message="The port that the cluster gives to this process is taken: by another program, or by a server that this program has "
        "started itself before (tf.train.Server beside train_and_evaluate or a strategy).",
        proof=lines((server[0], in_use[0], named_[0])),
        fixes=(
            advice("See who has it", "ss -ltnp"),
            advice("Start one server alone in a process: tf.estimator and the strategies start theirs from TF_CONFIG"),
        ),
    )


_LOOPBACK = Pattern(r"[\"'](?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}):")


def local(facts: Facts) -> Found:
    """Every address of the cluster is localhost, and it is meant for several machines. Raises UnknownFactError."""
    told, others = facts.text.said("task-addresses"), facts.text.said("second-machine-named")
    count = sum(e.values["addresses"].count(":") for e in told)
    local = sum(len(_LOOPBACK.findall(e.values["addresses"])) for e in told)
    if not others or count < _TWO or local < count or not facts.text.said("cluster-named"):
        raise left_open(SHOW)
    return Found(
        message="Every task of TF_CONFIG is on 'localhost', which is another machine on each of them.",
        proof=lines((*told[:2], others[0])),
        fixes=(advice("Name the host as the other machines know it", "hostname -f", "ip -br address"),),
    )


_TWO = 2
