"""Files of the CUDA libraries on this machine, and which wheel owns them."""

from __future__ import annotations

import os
from typing import Any

from ..facts import Libraries, LibraryFile
from .ask import Answers, Task

STEMS = (
    "libcuda",
    "libcudart",
    "libcublas",
    "libcublasLt",
    "libcudnn",
    "libcudnn_adv",
    "libcudnn_cnn",
    "libcudnn_engines_precompiled",
    "libcudnn_engines_runtime_compiled",
    "libcudnn_graph",
    "libcudnn_heuristic",
    "libcudnn_ops",
    "libcufft",
    "libcupti",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libnccl",
    "libnvJitLink",
    "libnvinfer",
    "libnvidia-ml",
    "libnvrtc",
)
DIRECTORIES = (
    "/usr/local/cuda*/lib64",
    "/usr/local/cuda*/targets/*/lib",
    "/usr/local/cuda*/lib64/stubs",
    "/usr/local/cuda*/targets/*/lib/stubs",
    "/usr/local/cuda*/compat",
    "/usr/local/cuda*/extras/CUPTI/lib64",
    "/opt/cuda/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
TASK: Task = ("python.libraries", {"stems": list(STEMS), "directories": list(DIRECTORIES)})


def read(answers: Answers) -> Libraries:
    """Every file, in the order of the search; the same file behind several links is listed once a name."""
    got: dict[str, Any] | None = answers.last("libraries")
    if got is None:
        return Libraries(files=answers.unread(TASK[0]))
    python = answers.last("python") or {"distributions": []}
    owners = {
        os.path.realpath(path): f"{d['name']} {d['version']}" for d in python["distributions"] for path in d["files"]
    }
    files, seen = [], set()
    for raw in got["files"]:
        if (raw["name"], raw["real"]) in seen:
            continue
        seen.add((raw["name"], raw["real"]))
        files.append(LibraryFile(name=raw["name"], path=raw["path"], kind=raw["kind"], owner=owners.get(raw["real"])))
    return Libraries(files=tuple(files))
