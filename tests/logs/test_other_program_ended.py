"""A library's handle finds no room, and another program holds the memory: it works when that one is ended, or two sizes are told."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

HANDLE = "It fails in one place\nE tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
HELD, SHORT = "gpu-memory-held-by-other-process", "gpu-memory-handle-alloc"


@pytest.mark.parametrize(
    "text",
    [
        "It works after I shut down the other notebook.\n",
        "If I do shutdown on the first kernel it mostly works.\n",
        "Once the other notebook is closed, the training runs.\n",
        "When I kill the first process, everything is fine.\n",
        "Closing the other notebook helps.\n",
        "After restarting the kernel of the first notebook the second trains.\n",
        "As soon as the other process is stopped there are no errors.\n",
        "The error is gone when I close the other Python session.\n",
        'First kernel: "Created TensorFlow device (device:GPU:0 with 5124 MB memory)", second one: "... with 88 MB memory"\n',
        "The first log says device:GPU:0 with 9606 MB memory and that of the second one only 98 MB\n",
    ],
)
def test_another_program_holds_it(text: str) -> None:
    assert said(judged(HANDLE + text)) == ([HELD], [])


@pytest.mark.parametrize(
    "text",
    [
        "I closed all other programs, the same.\n",
        "Shutting down the first notebook did not help.\n",
        "Should I shut down the other notebook?\n",
        "I don't want to stop the first training.\n",
        "When I stop the first epoch early it works\n",
        "Restarted the kernel, it works sometimes.\n",
        "device:GPU:0 with 9606 MB memory, device:GPU:1 with only 97 MB memory\n",
        "device:GPU:0 with 9606 MB memory, the model has 98 MB\n",
    ],
)
def test_nobody_else_is_told_of(text: str) -> None:
    assert said(judged(HANDLE + text))[0] in ([SHORT], [])
    assert HELD not in said(judged(HANDLE + text))[0]
