"""The examined interpreter and its distributions."""

from __future__ import annotations

from typing import Any

import msgspec

from ..facts import Distribution, Python, unread_all
from .ask import Answers, Task

WANTED = (
    r"^(tensorflow|tf-|tensorrt|keras|tf2-|nvidia-|cuda-|numpy$|protobuf$|h5py$|jax|jaxlib|torch$|cupy|"
    r"triton$|absl-py$|ml-dtypes$|wrapt$|typing-extensions$|opencv-)"
)
TASK: Task = ("python.python", {"wanted": WANTED})


def read(answers: Answers, chosen_because: str, passed_over: tuple[str, ...] = ()) -> Python:
    """The interpreter as it describes itself."""
    got: dict[str, Any] | None = answers.last("python")
    if got is None:
        return msgspec.structs.replace(unread_all(Python, answers.unread(TASK[0])), passed_over=passed_over)
    return Python(
        chosen_because=chosen_because,
        passed_over=passed_over,
        executable=got["executable"],
        version=got["version"],
        implementation=got["implementation"],
        prefix=got["prefix"],
        virtual_environment=got["prefix"] != got["base_prefix"],
        conda=got["conda"],
        bits=got["bits"],
        libc=got["libc"],
        path=tuple(got["path"]),
        distributions=tuple(
            Distribution(
                name=d["name"],
                version=d["version"],
                location=d["location"],
                real_location=d["real_location"],
                shadowed=d["shadowed"],
            )
            for d in got["distributions"]
        ),
    )
