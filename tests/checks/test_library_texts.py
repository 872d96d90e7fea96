"""CUDA's libraries that a text says are not there, and not only not found."""

from __future__ import annotations

import pytest

from tests.factory import healthy, outcome
from tests.logs.judged import judged, said

LOST = "Could not load dynamic library '{0}'; dlerror: {0}: cannot open shared object file: No such file or directory\n"
CUDNN, CUDART = LOST.format("libcudnn.so.8"), LOST.format("libcudart.so.11.0")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (CUDNN + "ls: cannot access '/usr/local/cuda/include/cudnn.h': No such file or directory\n", "cudnn-missing"),
        (CUDNN + "dpkg-query: no packages found matching libcudnn8\n", "cudnn-missing"),
        (CUDART + "ls: cannot access '/usr/local/cuda': No such file or directory\n", "cuda-toolkit-missing"),
    ],
)
def test_it_is_not_there(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])
    assert outcome(healthy(), cause) == "skipped"


@pytest.mark.parametrize("text", [CUDNN, CUDART, "dpkg-query: no packages found matching libcudnn8\n"])
def test_not_found_is_not_absent(text: str) -> None:
    assert not said(judged(text))[0]
