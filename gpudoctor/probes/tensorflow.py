"""TensorFlow's files, its own loader's answers, its import and its device list."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from .. import compat
from ..facts import (
    Build,
    LibraryPick,
    LoaderObject,
    LogEvent,
    Python,
    TensorFlow,
    TensorFlowDevice,
    UnknownFactError,
    Unread,
    known,
    unread_all,
)
from ..loader import elf, glibc, trace
from ..logs import tensorflow as log_lines
from .ask import Answers, Changes, Job, Patient, Task, reason

_LOADER, _IMPORT = "tensorflow.loader", "tf_import.tensorflow"
FILES: Task = ("tensorflow.tensorflow_files", {})
_TRACE_BYTES = 64 << 20
"""The loader's account grows with every directory on LD_LIBRARY_PATH; half of one would be a wrong one."""
IMPORT_ENV = {"TF_CPP_MIN_LOG_LEVEL": "0"}
"""Users set 2 or 3, which hides what TensorFlow says of its GPUs."""

_STEMS = {
    "CudaRuntime": "libcudart",
    "Cublas": "libcublas",
    "CublasLt": "libcublasLt",
    "Cufft": "libcufft",
    "Cusolver": "libcusolver",
    "Cusparse": "libcusparse",
    "Cudnn": "libcudnn",
    "Curand": "libcurand",
    "Cupti": "libcupti",
    "Nccl": "libnccl",
}
"""Name in Get…DsoHandle() -> stem of the soname that it asks for. Releases 2.12 to 2.19 hold the loader in
libtensorflow_cc.so.2, too; libtensorflow_framework.so.2 is loaded before it, so its symbols are the ones bound."""
_DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-rocm")
_LOG_LINES = 200
_SIGNAL = re.compile(r"\bSIG[A-Z]+\b")


def import_task(
    kernels: tuple[str, ...],
    limit_s: float,
    repeats: int = 5,
    kernels_limit_s: float = 120.0,
    until_s: float | None = None,
    costs: Iterable[tuple[str, float, float]] = (),
) -> Task:
    """Import, list, run `kernels`, all of them within `kernels_limit_s`; the forked children get a share of `limit_s`.

    `until_s` seconds from its start no kernel runs any more; `costs`: what each takes, the most telling first, which stay.
    """
    return (
        _IMPORT,
        {
            "kernels": list(kernels),
            "list_limit_s": min(30.0, limit_s / 3),
            "native_limit_s": min(65.0, limit_s / 3),
            "kernel_limit_s": min(60.0, limit_s / 3),
            "kernels_limit_s": min(kernels_limit_s, limit_s / 2),
            "repeats": repeats,
            "until_s": until_s,
            "costs": [list(one) for one in costs],
        },
    )


def read_files(answers: Answers, python: Python) -> TensorFlow:
    """What the files tell, without running TensorFlow."""
    got: dict[str, Any] | None = answers.last("tensorflow_files")
    if got is None:
        return unread_all(TensorFlow, answers.unread(FILES[0]))
    directory = got["directory"]
    stray = tuple(got.get("stray", ()))
    if directory is None:
        absent = Unread(why="TensorFlow is not installed")
        if got["why"] and not stray:
            absent = Unread(why=f"looking for TensorFlow failed: {got['why']}")
            return msgspec.structs.replace(unread_all(TensorFlow, absent), stray=stray)
        return msgspec.structs.replace(
            unread_all(TensorFlow, absent), directory=None, stray=stray, distribution=None, version=None
        )
    name, version = _distribution(got["site"], python)
    return TensorFlow(
        directory=directory,
        stray=stray,
        distribution=name,
        version=version,
        build=_build(got["build"]),
        objects=tuple(_object(raw) for raw in got["objects"]),
    )


def _distribution(site: str, python: Python) -> tuple[str | Unread | None, str | Unread | None]:
    """The distribution that owns the package in the directory `site` (links resolved)."""
    if isinstance(python.distributions, Unread):
        return python.distributions, python.distributions
    mine = [d for d in python.distributions if d.name in _DISTRIBUTIONS and d.real_location == site]
    if not mine:
        return None, Unread(why="no distribution owns this directory", settle="pip show tensorflow")
    if len(mine) > 1:
        several = ", ".join(f"{d.name} {d.version}" for d in mine)
        over = Unread(
            why=f"several distributions lie over each other: {several}", settle="pip list | grep -i tensorflow"
        )
        return over, over
    return mine[0].name, mine[0].version


def _build(raw: dict[str, Any]) -> Build:
    if "build" not in raw:
        why = reason(raw["errno"]) if "errno" in raw else "of an unknown form"
        unread = Unread(
            why=f"build_info.py: {why}",
            settle="python -c 'import tensorflow as tf; print(tf.sysconfig.get_build_info())'",
        )
        return unread_all(Build, unread)
    info = raw["build"]
    cuda = info.get("is_cuda_build", Unread(why="build_info.py does not say"))
    return Build(
        cuda=cuda,
        rocm=info.get("is_rocm_build", False),
        cuda_version=info.get("cuda_version"),
        cudnn_version=info.get("cudnn_version"),
        compute_capabilities=tuple(info.get("cuda_compute_capabilities") or ()),
    )


def _object(raw: dict[str, Any]) -> LoaderObject:
    path = raw["path"]
    if raw["flaw"] is not None:
        return LoaderObject(path=path, runpath=Unread(why=f"{path}: {raw['flaw']}"))
    return LoaderObject(path=path, runpath=tuple(raw["runpath"]))


def ask_loader(patient: Patient, env: Changes, limit_s: float, directory: str | None = None) -> Answers:
    """Ask TensorFlow's own loader in a child, with the dynamic loader's account; for `read_loader`.

    `directory` is the package's; without it, the one that the interpreter would import.
    """
    task: Task = (_LOADER, {} if directory is None else {"directory": directory})
    return patient.do(Job([task], limit_s, {**env, "LD_DEBUG": "libs"}, _TRACE_BYTES))


def loader_job(limit_s: float) -> Job:
    """The question to the loader of the TensorFlow that the interpreter would import."""
    return Job([(_LOADER, {})], limit_s, {"LD_DEBUG": "libs"}, _TRACE_BYTES)


def read_loader(answers: Answers, tensorflow: TensorFlow) -> TensorFlow:
    """TensorFlow's own loader, asked directly: each library, what was picked or where was looked."""
    holder = answers.last("loader_object")
    if holder is None:
        absent = answers.last("loader_absent")
        why = Unread(why=absent) if absent else answers.unread(_LOADER)
        return msgspec.structs.replace(tensorflow, loader_ok=why, libraries=why, loader_source=why)
    parts = trace.sections(answers.stderr)
    mapped: list[str] = answers.last("loader_maps") or []
    picks = [_pick(h, parts.get(f"call {h['name']}", ""), mapped) for h in answers.all("loader_handle")]
    died = (
        None if answers.ended_well else Unread(why=f"the process that asks TensorFlow's loader {answers.outcome.how}")
    )
    whole = answers.last("loader_all")
    return msgspec.structs.replace(
        tensorflow,
        objects=_mark_holder(tensorflow.objects, holder),
        loader_ok=whole if whole is not None else died or Unread(why="TensorFlow's loader gave no answer"),
        libraries=died
        if died is not None
        else _of_release(tuple(p for p in picks if p is not None), tensorflow.version),
        loader_source="direct",
    )


def simulate(tensorflow: TensorFlow, python: Python, library_path: str | None, *, always: bool) -> TensorFlow:
    """The picks by glibc's rules over the files: the answer where the loader itself gave none, else, with
    `always`, beside its own."""
    direct = _whole(tensorflow.libraries)
    if not isinstance(tensorflow.directory, str) or tensorflow.build.cuda is not True:
        return tensorflow
    if not isinstance(direct, Unread) and not always:
        return tensorflow
    try:
        picks = _simulated(tensorflow, python, library_path)
    except (OSError, elf.BadElf, glibc.CannotLoad, UnknownFactError) as e:
        return msgspec.structs.replace(tensorflow, simulated=Unread(why=f"the loader could not be simulated: {e}"))
    tensorflow = msgspec.structs.replace(tensorflow, simulated=picks)
    if not isinstance(direct, Unread):
        return tensorflow
    asked = tensorflow.loader_ok
    died = isinstance(asked, Unread) and _SIGNAL.search(asked.why) is not None  # files tell nothing of that
    return msgspec.structs.replace(
        tensorflow,
        libraries=picks,
        loader_ok=asked if died else all(p.picked is not None for p in picks if p.required),
        loader_source="simulated",
    )


def _whole(picks: tuple[LibraryPick, ...] | Unread) -> tuple[LibraryPick, ...] | Unread:
    """The direct loader's answers, or the reason why one of them is not known."""
    if isinstance(picks, Unread):
        return picks
    return next((p.picked for p in picks if p.required and isinstance(p.picked, Unread)), picks)


def _simulated(tensorflow: TensorFlow, python: Python, library_path: str | None) -> tuple[LibraryPick, ...]:
    direct = _whole(tensorflow.libraries)
    if not isinstance(direct, Unread):
        sonames = tuple(p.soname for p in direct if p.required)
    else:
        version = known(tensorflow.version) or ""
        found = compat.loader_sonames(version)
        if found is None:
            raise UnknownFactError(Unread(why=f"the libraries that TensorFlow {version} asks for are not known"))
        sonames = found
    process = glibc.Process(os.path.realpath(known(python.executable)), glibc.this_platform(), library_path)
    caller = process.open(os.path.join(known(tensorflow.directory) or "", "libtensorflow_framework.so.2"))
    return tuple(process.pick(soname, caller) for soname in sonames)


def _of_release(picks: tuple[LibraryPick, ...], version: str | Unread | None) -> tuple[LibraryPick, ...]:
    """Which of them this release needs before it registers a GPU, where its wheel was read: up to 2.12 cuRAND too."""
    sonames = compat.loader_sonames(version) if isinstance(version, str) else None
    if sonames is None:
        return picks
    stems = {s.split(".so")[0] for s in sonames}
    return tuple(msgspec.structs.replace(p, required=p.soname.split(".so")[0] in stems) for p in picks)


def _mark_holder(objects: tuple[LoaderObject, ...] | Unread, holder: str) -> tuple[LoaderObject, ...] | Unread:
    if isinstance(objects, Unread):
        return objects
    return tuple(msgspec.structs.replace(o, calls_dlopen=o.path == holder) for o in objects)


def _pick(handle: dict[str, Any], text: str, mapped: list[str]) -> LibraryPick | None:
    """One Get…DsoHandle() call: its answer, with the loader's own account of the search."""
    stem, required, tried = _STEMS[handle["name"]], handle["required"], handle["tried"]
    files, tidied = tried["files"], tried["directories"]
    found = trace.searches(text, lambda directory: tidied.get(directory) or os.path.normpath(directory))
    own = next((s for s in found if s.soname.startswith(stem + ".so")), None)
    last = files.get(own.last) if own is not None else None
    if handle["ok"]:
        names = (own.soname, stem + ".so") if own is not None else (stem + ".so",)
        path = next((p for n in names for p in mapped if os.path.basename(p).startswith(n)), None)
        if last is not None and last["real"] in mapped:
            path = last["path"]  # as the loader named it: a link stays one
        if path is None:
            return None  # opened and closed again, or another name: nothing to say
        soname = own.soname if own else os.path.basename(path)
        return LibraryPick(
            soname=soname,
            picked=os.path.normpath(path),
            searched=tuple(own.steps) if own else (),
            required=required,
        )
    if own is None or any(s.last is not None and s.last not in files for s in found):
        lost = Unread(why="the loader's account of this search is lost")
        return LibraryPick(soname=stem + ".so", picked=lost, required=True) if required else None
    if last is None or not last["there"]:
        return LibraryPick(soname=own.soname, picked=None, searched=tuple(own.steps), required=required)
    needed = found[found.index(own) + 1 :]
    broken = last if last["flaw"] else None
    missing = None
    for search in needed if broken is None else ():
        there = files[search.last] if search.last else None
        if there is None or not there["there"]:
            missing = search
            break
        if there["flaw"]:  # what it needs is found and refused: the file itself is good
            broken = there
            break
    refused = broken or last
    return LibraryPick(
        soname=own.soname,
        picked=None,
        searched=tuple(own.steps),
        stopped_by=missing.soname if missing else None,
        rejected=refused["path"] if missing is None else None,
        reason=refused["flaw"] if missing is None else None,
        dependency_searched=tuple(missing.steps) if missing else (),
        required=required,
    )


def read_import(answers: Answers, tensorflow: TensorFlow) -> TensorFlow:
    """The import and the device list of the child that imported TensorFlow."""
    log = tuple(answers.stderr.splitlines()[-_LOG_LINES:])
    tensorflow = msgspec.structs.replace(tensorflow, events=_events(answers), loaded=_loaded(answers))
    failed = answers.last("import_failed")
    done = answers.last("imported")
    if failed is not None:
        text = _telling_line(failed["text"])
        gone = Unread(why=f"import tensorflow failed: {text}")
        return msgspec.structs.replace(
            tensorflow, import_error=text, import_seconds=failed["seconds"], devices=gone, log=log
        )
    if done is None:
        if not answers.all("import_started"):
            why = answers.unread(_IMPORT)
            return msgspec.structs.replace(tensorflow, import_error=why, import_seconds=why, devices=why, log=log)
        how = f"the process that imports it {answers.outcome.how or 'ended without an answer'}"
        return msgspec.structs.replace(
            tensorflow,
            import_error=Unread(why=how) if answers.outcome.in_vain else how,
            import_seconds=Unread(why=how),
            devices=Unread(why=f"import tensorflow: {how}"),
            log=log,
        )
    listed = answers.last("devices")
    version = tensorflow.version
    if isinstance(version, Unread) and done["version"]:
        version = done["version"]
    return msgspec.structs.replace(
        tensorflow,
        version=version,
        import_error=None,
        import_seconds=done["seconds"],
        devices=_devices(listed, answers),
        logical_devices=_logical(answers),
        log=log,
    )


def _events(answers: Answers) -> tuple[LogEvent, ...]:
    """What TensorFlow's processes wrote, and what ended the import and the kernels."""
    texts = [answers.stderr]
    texts += [one["text"] for one in answers.all("import_failed")]
    texts += [one["failed"] for one in answers.all("kernel") if "failed" in one]
    return log_lines.read("\n".join(texts))


def _loaded(answers: Answers) -> tuple[str, ...] | Unread:
    """Everything that one of TensorFlow's processes had mapped."""
    lists = [*answers.all("loaded"), *(one["loaded"] for one in answers.all("kernels_process"))]
    if not lists:
        return Unread(why="no process of TensorFlow came so far as to say what it has loaded")
    return tuple(dict.fromkeys(path for one in lists for path in one))


def _logical(answers: Answers) -> tuple[str, ...] | Unread:
    """Those of the process with the most: the one that owned all devices."""
    lists: list[list[str]] = sorted((one["logical"] for one in answers.all("kernels_process")), key=len)
    return tuple(lists[-1]) if lists else Unread(why="no kernel was run")


def _telling_line(traceback: str) -> str:
    """The last line that names an error: TensorFlow puts advice behind it."""
    lines = traceback.strip().splitlines() or ["no traceback"]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)\b", line)]
    # an ImportError may carry another traceback as its text: what counts is the error at the end of that
    telling = [line for line in named if not line.rstrip().endswith("Traceback (most recent call last):")]
    return (telling or named or lines)[-1].strip()


def _devices(listed: dict[str, Any] | None, answers: Answers) -> tuple[TensorFlowDevice, ...] | Unread:
    if listed is None:
        return answers.unread(_IMPORT)
    if "skipped" in listed:
        return Unread(why=listed["skipped"])
    if "value" not in listed:
        return Unread(why=f"TensorFlow: {listed['failed']}", settle="nvidia-smi")
    return tuple(
        TensorFlowDevice(
            name=d["name"],
            type=d["type"],
            model=d["model"],
            compute_capability=tuple(d["capability"]) if d["capability"] else Unread(why="TensorFlow does not say"),
        )
        for d in listed["value"]
    )
