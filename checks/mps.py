"""NVIDIA's multi-process service (MPS), which stands between a CUDA program and its GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor import compat
from gpudoctor.checks._cuinit import SUCCESS, init_evidence, init_result
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, Mps, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Stage
from gpudoctor.registry import check

_VARIABLE = "CUDA_MPS_PIPE_DIRECTORY"
_DEFAULT = "/tmp/nvidia-mps"  # noqa: S108 - NVIDIA's own default
_NO_CONNECTION, _FULL, _ENDED = 805, (808, 809), 810
_ANSWERS = range(_NO_CONNECTION, _ENDED + 1)


@check(
    "GD124",
    "mps-daemon-stale",
    stage=Stage.DRIVER,
    explains=("cuinit-fails", "tf-lists-no-gpu", "op-fails"),
)
def mps_daemon_stale(facts: Facts) -> Findings:
    """The multi-process service (MPS) is in the way: this program is sent to a daemon that does not take it.

    What it looks at: cuInit's answers 805 to 810 (CUDA_ERROR_MPS_CONNECTION_FAILED, …_RPC_FAILURE, …_SERVER_NOT_READY,
    …_MAX_CLIENTS_REACHED, …_MAX_CONNECTIONS_REACHED, …_CLIENT_TERMINATED), and the same names where an operation fails.
    As proof CUDA_MPS_PIPE_DIRECTORY, whether somebody listens at the socket `control` in that directory (/tmp/nvidia-mps where
    the variable is not set), and the daemon's visible processes.

    Why it matters: a CUDA program goes to the service wherever it finds the daemon's pipes, and to no GPU without it. A
    daemon of another user or container, one whose server died or is full, and pipes that were left over, stop every program of
    this environment.

    How to fix: unset the variable, or point it at nothing (/dev/null), and CUDA runs without the service; else start the
    daemon again.

    Source: CUDA Driver API, CUresult 805 to 810; NVIDIA Multi-Process Service, CUDA_MPS_PIPE_DIRECTORY.
    """
    if ended := facts.text.said("mps-ended-client"):
        yield Found(message=_says(_ENDED), proof=lines(ended), fixes=_fixes(facts))
        return
    failed = [m for m in facts.measurements if "CUDA_ERROR_MPS_" in (m.failed or "")]
    if failed and facts.driver.libcuda.init_result == SUCCESS:
        proof = tuple(Evidence(text=m.failed or "", source=f"{m.backend} {m.kernel}") for m in failed[:2])
        message = "CUDA starts, and the MPS daemon does not let this program work."
        yield Found(message=message, proof=(*proof, *_seen(facts)), fixes=_fixes(facts))
        return
    result = init_result(facts)
    if result in _ANSWERS:
        yield Found(
            message=_says(result),
            proof=(init_evidence(facts.driver.libcuda), *_seen(facts)),
            fixes=_fixes(facts),
        )
    return f"cuInit answers {result}" + ("" if result == SUCCESS else ", which does not come from MPS")


def _says(result: int) -> str:
    named = compat.cuda_result(result)
    meaning = named.meaning if named is not None else "MPS refuses"
    if result in _FULL:
        return f"CUDA goes through MPS, and it is full: {meaning}."
    return f"CUDA goes through MPS and fails there: {meaning}."


def _seen(facts: Facts) -> Iterator[Evidence]:
    """The variable, the directory and who is there."""
    mps, named = facts.driver.mps, facts.environment.get(_VARIABLE)
    if not isinstance(named, Unread):
        text = f"{_VARIABLE}={named!r}" if named is not None else f"{_VARIABLE} is not set"
        yield Evidence(text=text, source="environment of the examined process")
    if not isinstance(mps.directory, Unread) and not isinstance(mps.listens, Unread):
        yield Evidence(text=_at_the_socket(mps), source=f"{mps.directory}, read in a child process")
    if not isinstance(mps.processes, Unread):
        running = ", ".join(mps.processes) or "no process of MPS is visible"
        yield Evidence(text=running, source="/proc")


def _at_the_socket(mps: Mps) -> str:
    directory = known(mps.directory)
    if mps.listens is None:
        there = f"{directory} can be listed" if mps.directory_errno is None else f"{directory} can't be listed"
        return f"there is no socket {directory}/control ({there})"
    return f"{'a process listens' if mps.listens else 'nobody listens'} at {directory}/control"


def _fixes(facts: Facts) -> tuple[Fix, ...]:
    mps, named = facts.driver.mps, facts.environment.get(_VARIABLE)
    directory = mps.directory if isinstance(mps.directory, str) else named if isinstance(named, str) else _DEFAULT
    unset = Fix(
        kind="env",
        risk="safe",
        summary=f"Unset {_VARIABLE}, so that no daemon is looked for there",
        steps=(f"unset {_VARIABLE}",),
        env=(EnvChange(name=_VARIABLE, op="unset"),),
    )
    past = Fix(
        kind="env",
        risk="safe",
        summary="Run without MPS: no daemon's pipes are found at /dev/null",
        steps=(f"export {_VARIABLE}=/dev/null",),
        env=(EnvChange(name=_VARIABLE, op="set", value="/dev/null"),),
    )
    control = f"{_VARIABLE}={quote(directory)} nvidia-cuda-mps-control"
    start = Fix(
        kind="command",
        risk="safe",
        summary="Or, where MPS is wanted, start its daemon for this directory, as the user whose programs it is to serve",
        steps=(f"mkdir -p {quote(directory)}", f"{control} -d"),
        verify=f"echo get_server_list | {control}",
    )
    restart = Fix(
        kind="command",
        risk="destructive",
        summary="Or start its daemon again, as the user who started it; the programs that run through it end with it",
        steps=(f"echo quit | {control}", f"{control} -d"),
        verify=f"echo get_server_list | {control}",
    )
    ways = (unset, past) if isinstance(named, str) and named != "/dev/null" else (past,)
    return (*ways, restart if mps.listens is True or facts.text.is_all else start)
