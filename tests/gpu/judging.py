"""Runs cases and compares what was named with what was done; writes the table."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.gpu.faults import Case
from tests.gpu.scene import Machine, Scene, names


@dataclasses.dataclass
class Answer:
    """What a check of a case said."""

    case: Case
    causes: list[str] = dataclasses.field(default_factory=list)
    trials: list[str] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        state = "ok  " if not self.problems else "FAIL"
        said = ", ".join(self.causes) or "nothing"
        return f"{state} {self.seconds:5.1f} s  {self.case.name}: {said}" + "".join(
            f"\n       {p}" for p in self.problems
        )


def tried(machine: Machine, case: Case) -> Answer:
    """One case, from its stage to the judgement."""
    answer, began = Answer(case), time.monotonic()
    scene = case.make(machine)
    try:
        report = scene.check(case.level, *case.more)
        answer.causes = names(report)
        _compare(answer, report)
        _fixes(answer, report)
        if not answer.problems:
            _paste(answer, scene, report)
    except (AssertionError, OSError) as e:
        answer.problems.append(f"{type(e).__name__}: {e}")
    finally:
        answer.seconds = time.monotonic() - began
        shutil.rmtree(scene.place, ignore_errors=True)
    return answer


def _compare(answer: Answer, report: dict[str, Any]) -> None:
    expected, named = answer.case.causes, answer.causes
    if len(answer.case.faults) == 1 and expected and named[:1] != [expected[0]]:
        answer.problems.append(f"named first: {named[:1]}, and it is {expected[0]}")
    if set(named) != set(expected):
        answer.problems.append(f"named: {named}, and it is {list(expected)}")
    symptom = next((f.symptom for f in answer.case.faults if f.symptom), None)
    if symptom is not None:
        diagnosis = report["diagnosis"]
        left = {*diagnosis["candidates"], *(u["symptom"] for u in diagnosis["unexplained"])}
        if symptom not in left:
            answer.problems.append(f"the symptom {symptom} is not said: {sorted(left)}")
    if not expected and symptom is None and report["findings"]:
        warned = [f["cause"] for f in report["findings"] if f["level"] != "info"]
        if warned:
            answer.problems.append(f"a false alarm: {warned}")


def _fixes(answer: Answer, report: dict[str, Any]) -> None:
    """Every fix of kind env or link was tried where something shows at once whether it works, and the first works."""
    diagnosis = report["diagnosis"]
    cured = all(f.cured for f in answer.case.faults)
    single = cured and len(answer.case.faults) == 1  # of two, one may leave the other's trial undecided
    for root in diagnosis["root_causes"]:
        fixes = [f for f in root["fixes"] if f["kind"] in ("env", "link") and f["trial"] is not None]
        for fix in fixes:
            worked = fix["trial"]["worked"]
            if worked is True:
                answer.trials.append(f"{root['cause']}: {fix['kind']} worked ({fix['trial']['outcome']})")
            elif worked is False and cured:
                answer.problems.append(
                    f"{root['cause']}: the trial of {fix['steps']} failed: {fix['trial']['outcome']}"
                )
        if fixes and not any(f["trial"]["worked"] is True for f in fixes) and single:
            answer.problems.append(f"{root['cause']}: no trial worked: {fixes[0]['trial']}")
    combined = diagnosis["combined_fix"]
    if combined is not None and combined["trial"] is not None:
        if combined["trial"]["worked"] is True:
            answer.trials.append(f"together: worked ({combined['trial']['outcome']})")
        elif combined["trial"]["worked"] is False:
            answer.problems.append(f"the combined fix failed: {combined['trial']}")


def _paste(answer: Answer, scene: Scene, report: dict[str, Any]) -> None:
    """The lines of each cause's first fix, where they are variables: pasted into the shell, they cure it."""
    roots = report["diagnosis"]["root_causes"]
    lines, cured = [], []
    for root in roots:
        fix = next((f for f in root["fixes"] if f["kind"] == "env"), None)
        if fix is not None:
            lines += fix["steps"]
            cured.append(root["cause"])
    if not cured or answer.case.level != "quick" or not all(f.cured for f in answer.case.faults):
        return
    if len(roots) > 1 and report["diagnosis"]["combined_fix"] is not None:
        lines = report["diagnosis"]["combined_fix"]["steps"] if len(cured) == len(roots) else lines
    after = names(scene.check("quick", "--no-trials", *answer.case.more, paste=tuple(lines)))
    if set(after) != set(answer.causes) - set(cured):
        answer.problems.append(f"after {lines} was pasted: {after}")
    else:
        answer.trials.append("pasted: cured")


def run(machine: Machine, cases: list[Case], told: Callable[[str], None]) -> list[Answer]:
    """Every case: quick ones side by side, those that import TensorFlow two at a time, and alone what must be."""
    cores = os.cpu_count() or 2
    answers: dict[int, Answer] = {}

    def done(number: int) -> None:
        answers[number] = tried(machine, cases[number])
        told(f"[{len(answers)}/{len(cases)}] {answers[number].line()}")

    alone = [i for i, c in enumerate(cases) if c.alone]
    slow = [i for i, c in enumerate(cases) if not c.alone and c.level == "standard"]
    quick = [i for i, c in enumerate(cases) if not c.alone and c.level == "quick"]
    for numbers, workers in ((quick, max(1, min(6, cores // 3))), (slow, max(1, min(2, cores // 4))), (alone, 1)):
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(done, numbers))
    return [answers[i] for i in range(len(cases))]


# ------------------------------------------------------------------------------- the table

_HEAD = """# Faults

Each row is a fault that was made on a real machine, in a mount namespace or with variables of its own, and what
`gpudoctor check` then said. Written by the suite: `pytest -m gpu --faults N --seed S --faults-table docs/faults.md`
(seed {seed}; {count} cases, {right} right; {machine}).

'Trial' is what gpudoctor itself tried before it recommended the fix; 'pasted' means that the suite pasted the fix's lines
into a shell with the fault, and a new check did not find it any more.
"""


def table(answers: Iterable[Answer], seed: int, machine: str) -> str:
    """docs/faults.md."""
    every = list(answers)
    head = _HEAD.format(seed=seed, count=len(every), right=sum(not a.problems for a in every), machine=machine)
    rows = ["| fault | route | library | expected cause | answer | trial |", "|---|---|---|---|---|---|"]
    for answer in sorted(every, key=lambda a: (len(a.case.faults), a.case.faults[0].subject, a.case.name)):
        faults = answer.case.faults
        expected = ", ".join(answer.case.causes) or next(
            (f"{f.symptom}, unexplained" for f in faults if f.symptom), "none"
        )
        said = ", ".join(answer.causes) or "none"
        cells = (
            answer.case.name,
            " + ".join(f.route for f in faults),
            " + ".join(f.library for f in faults),
            expected,
            said if not answer.problems else f"**{said}**: {'; '.join(answer.problems)}",
            "; ".join(dict.fromkeys(answer.trials)),
        )
        rows.append("| " + " | ".join(_cell(c) for c in cells) + " |")
    return head + "\n" + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())[:400]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
