"""The running process that was named with --pid."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gpudoctor.facts import Facts, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD910", "process-holds-replaced-library", stage=Stage.USE, explains=("op-fails",), level=Level.WARN)
def process_holds_replaced_library(facts: Facts) -> Iterator[Found]:
    """The process runs with a library that was replaced on disk since it started.

    What it looks at: the mappings of the process that was named with --pid. A CUDA, driver or TensorFlow library
    that is marked as deleted there was removed or replaced by an upgrade while the process ran.

    Why it matters: what such a process does is not what a new one would do. A driver library of another release than
    the kernel module fails at its next call; a wheel that was upgraded under a notebook loads its other half in the
    new version.

    How to fix: restart the process (a notebook: restart its kernel).

    Source: proc(5), /proc/PID/maps, '(deleted)'.
    """
    pid = facts.process.pid
    if pid is None or isinstance(pid, Unread):
        raise NotApplicable("no process was named (--pid)")
    gone = [one.path for one in known(facts.process.libraries) if one.deleted]
    if not gone:
        return
    names = ", ".join(os.path.basename(path) for path in gone)
    yield Found(
        message=f"Process {pid} holds {names}, which was replaced on disk since: what is installed is not what it runs.",
        proof=tuple(Evidence(text=f"{path} (deleted)", source=f"/proc/{pid}/maps") for path in gone),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Restart process {pid} (a notebook: restart its kernel)",
                steps=(),
                verify="gpudoctor check --pid, with the new process",
            ),
        ),
    )
