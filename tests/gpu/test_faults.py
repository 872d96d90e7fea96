"""Faults made on a real machine, and named: `pytest -m gpu --faults N|all --seed S [--faults-table FILE]`, as root."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.building import Workshop
from tests.gpu import judging
from tests.gpu.faults import draw, faults
from tests.gpu.judging import Answer
from tests.gpu.scene import Machine, base_environment, look_at, names

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
    pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root"),
]

SURROUNDINGS = dict(os.environ)
"""As pytest was started, before the tests take variables away."""


@pytest.fixture(scope="module")
def machine(pytestconfig: pytest.Config, place: Path) -> Machine:
    if pytestconfig.getoption("--faults") == 0:
        pytest.skip("--faults N was not asked for")
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    (place / "workshop").mkdir()
    machine, report = look_at(base_environment(SURROUNDINGS), Workshop(place / "workshop"), place, "standard")
    assert names(report) == [], "this machine is not healthy before any fault is made"
    assert report["diagnosis"]["verdict"] == "healthy"
    return machine


def listed(facts: dict[str, Any]) -> list[str]:
    return [d["name"] for d in facts["tensorflow"]["devices"] if d["type"] == "GPU"]


@pytest.fixture(scope="module")
def answers(pytestconfig: pytest.Config, machine: Machine) -> list[Answer]:
    number, seed = pytestconfig.getoption("--faults"), pytestconfig.getoption("--seed")
    reporter = pytestconfig.pluginmanager.getplugin("terminalreporter")
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def told(line: str) -> None:
        with capture.global_and_fixture_disabled():
            reporter.write_line(line)

    cases = draw(machine, number, seed)
    told(f"\n{machine.gpus} GPU(s); {len(faults(machine))} faults can be made here; {len(cases)} cases, seed {seed}")
    got = judging.run(machine, cases, told)
    path = pytestconfig.getoption("--faults-table")
    if path is not None:
        gpu = machine.facts["driver"]["libcuda"]["devices"][0]["name"]
        what = f"{machine.gpus} x {gpu}, driver {machine.facts['driver']['kernel_version']}"
        judging.write(
            Path(path), judging.table(got, seed, f"{what}, TensorFlow {machine.facts['tensorflow']['version']}")
        )
    return got


def test_there_are_sixty_different_faults(machine: Machine) -> None:
    assert len({(f.name, f.route, f.library) for f in faults(machine) if f.causes}) >= 60


def test_the_cause_is_named_first(answers: list[Answer]) -> None:
    """Of every case: the right causes and no other, trials that worked, and fixes that cure it."""
    wrong = [a.line() for a in answers if a.problems]
    assert not wrong, f"{len(wrong)} of {len(answers)}:\n" + "\n".join(wrong)


def test_the_machine_is_healthy_after_it(answers: list[Answer], machine: Machine) -> None:
    report = machine.scene().check("standard")
    assert names(report) == []
    assert report["diagnosis"]["verdict"] == "healthy"
    assert listed(report["facts"]) == listed(machine.facts)
