"""The multi-process service that does not take this program."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts, Measurement, Mps, Unread
from tests.factory import cu_init, found, healthy, outcome, roots, with_, with_variable

MPS = "mps-daemon-stale"
STALE = Mps(directory="/run/mps", directory_errno=None, listens=False, processes=())
ALIVE = Mps(
    directory="/tmp/nvidia-mps", directory_errno=None, listens=True, processes=("nvidia-cuda-mps-control (PID 812)",)
)


def refused(result: int = 805, mps: Mps = STALE) -> Facts:
    return with_(cu_init(healthy(), result), driver__mps=mps)


@pytest.mark.parametrize("result", [805, 806, 807, 808, 809, 810])
def test_every_answer_of_its_own(result: int) -> None:
    assert roots(refused(result)) == [MPS]
    assert set(found(refused(result))[MPS].may_explain) >= {"cuinit-fails", "tf-lists-no-gpu"}


@pytest.mark.parametrize("result", [804, 811, 100])
def test_other_answers_are_others(result: int) -> None:
    assert outcome(refused(result), MPS) == "passed"


def test_a_daemon_that_serves_is_no_fault() -> None:
    assert outcome(with_(healthy(), driver__mps=ALIVE), MPS) == "passed"
    assert outcome(with_variable(healthy(), "CUDA_MPS_PIPE_DIRECTORY", "/run/mps"), MPS) == "passed"


def test_nobody_is_there_any_more() -> None:
    one = found(with_variable(refused(), "CUDA_MPS_PIPE_DIRECTORY", "/run/mps"))[MPS]
    assert [p.text for p in one.proof][1:] == [
        "CUDA_MPS_PIPE_DIRECTORY='/run/mps'",
        "nobody listens at /run/mps/control",
        "no process of MPS is visible",
    ]
    assert [f.steps for f in one.fixes] == [
        ("unset CUDA_MPS_PIPE_DIRECTORY",),
        ("export CUDA_MPS_PIPE_DIRECTORY=/dev/null",),
        ("mkdir -p /run/mps", "CUDA_MPS_PIPE_DIRECTORY=/run/mps nvidia-cuda-mps-control -d"),
    ]


def test_there_are_no_pipes_at_all() -> None:
    gone = Mps(directory="/run/mps", directory_errno=2, listens=None, processes=Unread(why="hidden"))
    one = found(refused(mps=gone))[MPS]
    assert one.proof[-1].text == "there is no socket /run/mps/control (/run/mps can't be listed)"


def test_a_daemon_that_answers_and_refuses() -> None:
    one = found(refused(808, ALIVE))[MPS]
    assert "it is full" in one.message
    assert [p.text for p in one.proof][1:] == [
        "CUDA_MPS_PIPE_DIRECTORY is not set",
        "a process listens at /tmp/nvidia-mps/control",
        "nvidia-cuda-mps-control (PID 812)",
    ]
    past, restart = one.fixes
    assert (past.kind, past.env[0].value) == ("env", "/dev/null")
    assert restart.risk == "destructive"
    assert restart.steps[0] == "echo quit | CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps nvidia-cuda-mps-control"


def test_cuda_starts_and_the_daemon_ends_the_program() -> None:
    why = Unread(why="INTERNAL: failed to create a context: CUDA_ERROR_MPS_SERVER_NOT_READY: MPS server is not ready")
    died = Measurement(kernel="matmul", backend="tensorflow", device="GPU:0", value=why)
    one = found(with_(healthy(), driver__mps=ALIVE))
    assert MPS not in one
    facts = with_(healthy(), driver__mps=ALIVE)
    broken = type(facts)(**{f: getattr(facts, f) for f in facts.__struct_fields__} | {"measurements": (died,)})
    assert roots(broken) == [MPS]
    assert "does not let this program work" in found(broken)[MPS].message
