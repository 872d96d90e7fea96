"""Tries fixes of kind env and link in a child's throw-away view, before they are recommended.

Trials are cumulative, in the order of the root causes: a fix is tried with those in force that worked for
the causes before it. Each is judged by its own step: cuInit for what stands before it, TensorFlow's loader
for a library, the device list where a GPU can be had, the rate of the all-reduce for a setting of NCCL that
makes it slow. Nothing of the machine changes: variables live in
the child, links in a shadow of real directories and file links, so that $ORIGIN stays true.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from .diagnosis import COMBINED, first_usable, judge, together
from .facts import Facts, TensorFlow, Trial, Unread
from .findings import EnvChange, Fix, LinkChange, RootCause, Stage
from .kernels import native as native_kernels
from .probes import driver as driver_probe
from .probes import tensorflow as tensorflow_probe
from .probes.ask import Changes, Patient
from .registry import Check, all_checks
from .verdicts.collective import all_reduce

LIMIT_S = 20.0


@dataclasses.dataclass(frozen=True)
class View:
    """A throw-away view of the machine: variables and links that differ from it."""

    env: tuple[EnvChange, ...] = ()
    links: tuple[LinkChange, ...] = ()

    def and_also(self, env: Iterable[EnvChange], links: Iterable[LinkChange]) -> View:
        """This view with more changes; a change that is in it already is not made twice."""
        return View(
            together((*self.env, *env)),
            self.links + tuple(link for link in links if link not in self.links),
        )


def apply(env: Mapping[str, str], changes: Iterable[EnvChange]) -> dict[str, str]:
    """`env` with `changes` made in order."""
    changed = dict(env)
    for change in changes:
        if change.op == "unset":
            changed.pop(change.name, None)
        elif change.op == "set":
            changed[change.name] = change.value
        else:
            old = changed.get(change.name)
            changed[change.name] = f"{change.value}:{old}" if old else change.value
    return changed


def _changes(env: Mapping[str, str], view: View) -> Changes:
    """What differs from `env` in this view; None: taken away."""
    after = apply(env, view.env)
    return {name: after.get(name) for name in {*env, *after} if after.get(name) != env.get(name)}


def try_fixes(facts: Facts, patient: Patient, checks: tuple[Check, ...], limit_s: float = LIMIT_S) -> Facts:
    """`facts` with the outcome of every trial that can be made; one that was made already is kept."""
    stages = _stages()
    view = View()
    held: list[str] = []
    trials: list[Trial] = []
    roots = sorted(judge(facts, checks).diagnosis.root_causes, key=lambda r: stages[r.code])
    for root in roots:
        if patient.left_s <= 0.0:
            break
        worked: list[Fix] = []
        for fix in root.fixes:
            by_speed = _by_speed(facts, root, fix)
            if fix.kind not in ("env", "link") or not (_can_be_judged(stages[root.code]) or by_speed):
                continue
            with_fix = view.and_also(fix.env, fix.links)
            trial = _made(facts, root.cause, fix, tuple(held)) or _try(
                root.cause,
                fix.steps,
                tuple(held),
                with_fix,
                facts,
                patient,
                stages[root.code],
                limit_s,
                by_speed=by_speed,
            )
            beside = [r.cause for r in roots if r is not root and r.cause not in held and _hides(r, stages, trial)]
            if trial.worked is False and beside:
                trial = msgspec.structs.replace(trial, worked=Unread(why=f"{beside[0]} stands in the way as well"))
            trials.append(trial)
            worked += [fix] if trial.worked is True else []
        if worked:
            view = view.and_also(worked[0].env, worked[0].links)
            held.append(root.cause)
    before = tuple(t for t in facts.trials if t.cause == COMBINED)
    facts = msgspec.structs.replace(facts, trials=(*trials, *before))
    return _try_together(facts, patient, checks, limit_s)


def _stages() -> dict[str, Stage]:
    return {c.code: c.stage for c in all_checks()}


def _can_be_judged(stage: Stage) -> bool:
    """Whether cuInit, the loader or the list show that a cause is gone: not where GPUs are listed and then fail or crawl."""
    return stage < Stage.USE


def _by_speed(facts: Facts, root: RootCause, fix: Fix) -> bool:
    """Whether the all-reduce that was measured is what shows that a cause is gone: then it is run again."""
    is_nccls = bool(fix.env) and not fix.links and all(c.name.startswith("NCCL_") for c in fix.env)
    return is_nccls and _slows(root.code) and all_reduce(facts) is not None


def _slows(code: str) -> bool:
    return any(c.code == code and "slow-collective" in c.explains for c in all_checks())


def _hides(root: RootCause, stages: Mapping[str, Stage], trial: Trial) -> bool:
    """Whether this cause may keep the step from working by which a trial is judged."""
    if trial.judged_by == "all-reduce":
        return _slows(root.code)
    return stages[root.code] <= Stage.VISIBILITY if trial.judged_by == "cuInit" else False


def _made(facts: Facts, cause: str, fix: Fix, held: tuple[str, ...]) -> Trial | None:
    """The trial of this fix under the same view, where it was made already."""
    same = (t for t in facts.trials if (t.cause, t.steps, t.with_causes) == (cause, fix.steps, held))
    return next(same, None)


def _try_together(facts: Facts, patient: Patient, checks: tuple[Check, ...], limit_s: float) -> Facts:
    """The combined fix of several root causes, where every part of it can be tried."""
    diagnosis = judge(facts, checks).diagnosis
    combined = diagnosis.combined_fix
    if combined is None or combined.trial is not None or patient.left_s <= 0.0:
        return facts
    parts = [first_usable(r.fixes) for r in diagnosis.root_causes if r.cause in combined.causes]
    if not all(part is not None and part.kind in ("env", "link") for part in parts):
        return facts
    roots = [r for r in diagnosis.root_causes if r.cause in combined.causes]
    by_speed = all(part is not None and _by_speed(facts, r, part) for r, part in zip(roots, parts, strict=True))
    if not by_speed and not all(_can_be_judged(_stages()[r.code]) for r in roots):
        return facts
    view = View().and_also(combined.env, combined.links)
    trial = _try(
        COMBINED, combined.steps, combined.causes, view, facts, patient, Stage.TENSORFLOW, limit_s, by_speed=by_speed
    )
    if by_speed:
        return msgspec.structs.replace(facts, trials=(*facts.trials, trial))
    if trial.worked is True and trial.judged_by != "list" and isinstance(trial.outcome, str):
        # all causes are gone and no GPU is listed: that proves nothing
        trial = msgspec.structs.replace(trial, worked=Unread(why=trial.outcome))
    return msgspec.structs.replace(facts, trials=(*facts.trials, trial))


def _try(
    cause: str,
    steps: tuple[str, ...],
    with_causes: tuple[str, ...],
    view: View,
    facts: Facts,
    patient: Patient,
    stage: Stage,
    limit_s: float,
    *,
    by_speed: bool = False,
) -> Trial:
    began = time.monotonic()
    if by_speed:
        judged_by, worked, outcome = _reduced(view, facts, patient, limit_s)
    else:
        judged_by, worked, outcome = _look(view, facts, patient, stage, limit_s)
    if worked is False and patient.left_s <= 0.0:
        worked, outcome = Unread(why="the time was over (--budget)", chosen=True), "not decided"
    return Trial(
        cause=cause,
        steps=steps,
        with_causes=with_causes,
        worked=worked,
        judged_by=judged_by,
        outcome=outcome,
        seconds=time.monotonic() - began,
    )


Answer = tuple[str, "bool | Unread", str]
"""Judged by, whether it worked, what was seen."""


def _look(view: View, facts: Facts, patient: Patient, stage: Stage, limit_s: float) -> Answer:
    """What the patient answers under `view`, at the step that a cause of `stage` stands in the way of.

    Where that step works, the device list is asked too: it is the better proof.
    """
    directory = facts.tensorflow.directory
    with contextlib.ExitStack() as stack:
        if view.links:
            if not isinstance(directory, str):
                return "loader", Unread(why="TensorFlow's directory is not known"), "not tried"
            if not patient.sees_our_files:
                return "loader", Unread(why="a link can't be tried from outside"), "not tried"
            try:
                directory = stack.enter_context(shadow(directory, view.links))
            except OSError as e:
                return "loader", Unread(why=f"no shadow could be made: {e}"), "not tried"
        env = {**_changes(patient.env, view), "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
        if stage <= Stage.VISIBILITY:
            step = _cuda(patient, env, limit_s)
        elif isinstance(directory, str):
            step = _loader(patient, env, directory, facts, limit_s)
        else:
            return "loader", Unread(why="TensorFlow is not installed"), "not tried"
        if step[1] is not True or not isinstance(directory, str) or isinstance(facts.driver.libcuda.no_answer, str):
            return step
        gpus = _listed(patient, env, directory, limit_s)
        if gpus:
            return "list", True, f"TensorFlow then lists {_gpus(gpus)}"
        return step[0], True, step[2] + ("" if gpus is None else "; TensorFlow still lists no GPU")


def _cuda(patient: Patient, env: Changes, limit_s: float) -> Answer:
    asked = patient.ask([driver_probe.CUDA], limit_s=limit_s, env=env)
    init = (asked.last("cuda_init") or {}).get("result")
    found = len((asked.last("cuda_devices") or {}).get("devices", ()))
    if init is None and (asked.last("cuda_load") or {}).get("error"):
        return "cuInit", Unread(why="there is no libcuda.so.1 that could be asked"), "not decided"
    if init is None:
        return "cuInit", False, "cuInit then gives no answer"
    return "cuInit", init == 0, f"cuInit then answers {init}" + (f" and finds {_gpus(found)}" if init == 0 else "")


def _loader(patient: Patient, env: Changes, directory: str, facts: Facts, limit_s: float) -> Answer:
    asked = tensorflow_probe.ask_loader(patient, env, limit_s, directory)
    opened = asked.last("loader_all")
    required = [h for h in asked.all("loader_handle") if h["required"]]
    if opened is None:
        return "loader", Unread(why="TensorFlow's loader gave no answer"), "not decided"
    if opened:
        return "loader", True, f"TensorFlow's loader then opens all {len(required)} libraries"
    left = _missing(tensorflow_probe.read_loader(asked, TensorFlow()))
    opened_now = [name for name in _missing(facts.tensorflow) if name not in left]
    still = f"can't open {', '.join(left) or 'a library'}"
    if opened_now:
        return "loader", True, f"TensorFlow's loader then opens {', '.join(opened_now)}; it still {still}"
    return "loader", False, f"TensorFlow's loader still {still}"


_FASTER = 1.25
"""What an all-reduce must gain, at least: the figure of one run to the next differs by a tenth at most."""


def _reduced(view: View, facts: Facts, patient: Patient, limit_s: float) -> Answer:
    """The all-reduce that was measured, once more under `view`: the same size over the same GPUs."""
    before = all_reduce(facts)
    if before is None or not isinstance(before.of.size, tuple):
        return "all-reduce", Unread(why="no all-reduce was measured"), "not tried"
    size, gpus = before.of.size[0] * 4, [int(d.removeprefix("gpu")) for d in before.of.devices()]
    plan = (native_kernels.Kernel("all-reduce", {"size": size, "graph": False, "iterations": 5, "samples": 3}),)
    task = native_kernels.task(plan, gpus, limit_s, after_nvml=False)
    asked = patient.ask([task], limit_s=limit_s + 2.0, env=_changes(patient.env, view))
    told = native_kernels.read(
        plan, gpus, asked.last("native_devices"), asked.all("native"), asked.ended("the process that runs it")
    )
    after = told[0] if told else None
    if after is None or not isinstance(after.value, float):
        why = after.value.why if after is not None and isinstance(after.value, Unread) else "all-reduce gave no answer"
        return "all-reduce", Unread(why=why), "not decided"
    if after.verified is not True:
        return "all-reduce", False, "the sums of all-reduce are then wrong"
    ways = "" if isinstance(after.transport, Unread) else f" through {', '.join(after.transport)}"
    if after.value < _FASTER * before.rate:
        return "all-reduce", False, f"all-reduce still reaches {after.value:.3g} GB/s{ways}"
    return "all-reduce", True, f"all-reduce then reaches {after.value:.3g} GB/s{ways} instead of {before.rate:.3g}"


def _missing(tensorflow: TensorFlow) -> list[str]:
    """The required libraries that the loader could not open."""
    picks = () if isinstance(tensorflow.libraries, Unread) else tensorflow.libraries
    return [p.soname for p in picks if p.required and p.picked is None]


def _listed(patient: Patient, env: Changes, directory: str, limit_s: float) -> int | None:
    """How many GPUs TensorFlow's C API lists; None where it can't be asked."""
    asked = patient.ask([("tensorflow.c_api_devices", {"directory": directory})], limit_s=limit_s, env=env)
    devices = asked.last("c_api_devices")
    return None if devices is None else sum(d["type"] == "GPU" for d in devices)


def _gpus(count: int) -> str:
    return "no GPU" if count == 0 else f"{count} GPU{'s' if count > 1 else ''}"


@contextlib.contextmanager
def shadow(tensorflow_directory: str, links: Iterable[LinkChange]) -> Iterator[str]:
    """A copy of the tree around TensorFlow in real directories and file links, with `links` made in it.

    Yields the shadow's TensorFlow directory. A plain directory on LD_LIBRARY_PATH or links to directories
    would not do: $ORIGIN moves, and '..' leaves through a directory link. Raises OSError.
    """
    tensorflow_directory = os.path.realpath(tensorflow_directory)  # where its $ORIGIN/.. leads
    site = os.path.dirname(tensorflow_directory)
    with tempfile.TemporaryDirectory(prefix="gpudoctor-shadow-", ignore_cleanup_errors=True) as place:
        inside = os.path.join(place, "site-packages")
        target = os.path.join(inside, os.path.basename(tensorflow_directory))
        os.makedirs(target)
        for name in os.listdir(tensorflow_directory):
            if re.match(r"lib\w+\.so", name):
                os.symlink(os.path.join(tensorflow_directory, name), os.path.join(target, name))
        _mirror(os.path.join(site, "nvidia"), os.path.join(inside, "nvidia"))
        for change in links:
            relative = os.path.relpath(change.link, site)
            if relative.startswith(".."):
                raise OSError(f"{change.link} lies outside of {site}")
            path = os.path.join(inside, relative)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            os.symlink(change.target, path)
        yield target


def _mirror(source: str, target: str) -> None:
    """Directories made anew, files as links, of the shared libraries below `source`."""
    for directory, _, files in os.walk(source):
        wanted = [f for f in files if ".so" in f]
        if not wanted:
            continue
        place = os.path.join(target, os.path.relpath(directory, source))
        os.makedirs(place, exist_ok=True)
        for name in wanted:
            path = os.path.join(directory, name)
            link = os.readlink(path) if os.path.islink(path) else None
            # a relative link inside the tree stays one: it leads to the shadow's own file
            os.symlink(link if link and not os.path.isabs(link) else path, os.path.join(place, name))
