"""The examined interpreter, its distributions, and the other interpreters around it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ..facts import (
    NOT_RECORDED,
    CondaPackage,
    DamagedFile,
    Distribution,
    KernelSpec,
    ModulePlace,
    OtherInterpreter,
    Overlap,
    Python,
    RecordedFile,
    Unread,
    unread_all,
)
from .ask import Answers, Job, Task, reason

WANTED = (
    r"^(tensorflow|tf-|tensorrt|keras|tf2-|intel-tensorflow|nvidia-|cuda-|numpy$|protobuf$|h5py$|jax|jaxlib|torch$|cupy|"
    r"triton$|absl-py$|ml-dtypes$|wrapt$|typing-extensions$|opencv-)"
)
FAMILY = (
    r"^(nvidia-(?!ml-py)|tensorrt|tensorflow(-(cpu|gpu|intel|rocm|macos|aws|cpu-aws))?$|tf-nightly|intel-tensorflow)"
)
"""Whose shared libraries are compared with what is on disk, and with each other's."""
CONDA = r"^(_?tensorflow|_tflow|keras|cuda|cudnn|nccl|libcu|libnv|libcudnn|tensorrt|numpy$|protobuf$|python$|jaxlib|pytorch)"
TASK: Task = ("python.python", {"wanted": WANTED, "family": FAMILY, "conda": CONDA})
HOME: Task = ("environments.home", {})
KERNELS: Task = ("environments.kernels", {})
OTHERS: Task = ("environments.others", {})


def read(answers: Answers, chosen_because: str, passed_over: tuple[str, ...] = ()) -> Python:
    """The interpreter as it describes itself."""
    got: dict[str, Any] | None = answers.last("python")
    if got is None:
        return msgspec.structs.replace(unread_all(Python, answers.unread(TASK[0])), passed_over=passed_over)
    virtual = got["prefix"] != got["base_prefix"]
    return Python(
        chosen_because=chosen_because,
        passed_over=passed_over,
        executable=got["executable"],
        version=got["version"],
        implementation=got["implementation"],
        prefix=got["prefix"],
        virtual_environment=virtual,
        conda=got["conda"],
        bits=got["bits"],
        libc=got["libc"],
        glibc=got.get("glibc", NOT_RECORDED),
        extension_suffix=got["extension_suffix"],
        path=tuple(got["path"]),
        isolated=got["isolated"],
        user_site=got["user_site"],
        pip=got["pip"],
        externally_managed=got["marked"] and not virtual,
        made_by_uv=bool(re.search(r"^uv\s*=", got["pyvenv"] or "", re.MULTILINE)),
        keras_backend=_keras_backend(answers),
        distributions=tuple(_distribution(d) for d in got["distributions"] if d["version"]),
        conda_packages=tuple(CondaPackage(name=n, version=v, build=b) for n, v, b in got["conda_packages"]),
        overlaps=tuple(_overlap(o) for o in got["overlaps"]),
        damaged=tuple(
            DamagedFile(path=d["path"], owner=" ".join(d["owner"]), size_bytes=d["size"], recorded_bytes=d["recorded"])
            for d in got["damaged"]
        ),
        modules=tuple(
            ModulePlace(name=name, path=p["path"], form=p["form"])
            for name, places in got["modules"].items()
            for p in places
        ),
        kernels=_kernels(answers),
    )


def others_job(limit_s: float) -> Job:
    """The look at other interpreters: many directories, maybe slow ones."""
    return Job([OTHERS], limit_s)


def read_others(answers: Answers) -> tuple[OtherInterpreter, ...] | Unread:
    """The other interpreters of this machine that have TensorFlow; those that were seen before the time was up."""
    if not answers.spoke:
        return answers.unread(OTHERS[0])
    return tuple(
        OtherInterpreter(executable=o["executable"], version=o["version"], distribution=o["distribution"])
        for o in answers.all("other")
    )


def _distribution(raw: dict[str, Any]) -> Distribution:
    return Distribution(
        name=raw["name"],
        version=raw["version"],
        location=raw["location"],
        real_location=raw["real_location"],
        shadowed=raw["shadowed"],
        form=raw["form"],
        installer=raw["installer"],
        editable=raw["editable"],
        tags=tuple(raw["tags"]),
    )


def _overlap(raw: dict[str, Any]) -> Overlap:
    return Overlap(
        owners=tuple(" ".join(owner) for owner in raw["owners"]),
        count=raw["count"],
        files=tuple(
            RecordedFile(path=f["path"], size_bytes=f["size"], recorded_bytes=tuple(f["recorded"]))
            for f in raw["files"]
        ),
    )


def _keras_backend(answers: Answers) -> str | Unread | None:
    raw: dict[str, Any] | None = answers.last("keras_json")
    if raw is None:
        return answers.unread(HOME[0], "cat ~/.keras/keras.json")
    if "errno" in raw:
        return None if raw["errno"] == 2 else Unread(why=f"~/.keras/keras.json: {reason(raw['errno'])}")
    try:
        backend = json.loads(raw["text"]).get("backend")
    except (ValueError, AttributeError):
        return Unread(why="~/.keras/keras.json is of an unknown form", settle="cat ~/.keras/keras.json")
    return backend if isinstance(backend, str) else None


def _kernels(answers: Answers) -> tuple[KernelSpec, ...] | Unread:
    got: list[dict[str, Any]] | None = answers.last("jupyter_kernels")
    if got is None:
        return answers.unread(KERNELS[0], "jupyter kernelspec list")
    unnamed = Unread(why="the Jupyter server's own interpreter is started for it")
    return tuple(
        KernelSpec(
            name=k["name"],
            display_name=k["display_name"],
            path=k["path"],
            mine=k["mine"],
            executable=k["executable"],
            exists=unnamed if k["exists"] is None else k["exists"],
            examined=unnamed if k["examined"] is None else k["examined"],
            tensorflow=unnamed if k["exists"] is None else k["tensorflow"],
        )
        for k in got
    )
