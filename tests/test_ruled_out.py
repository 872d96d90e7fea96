"""Every cause that is ruled out on a machine says in a few words why, in the text as in the JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from gpudoctor import api, bundle
from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, Text, Unread, every_unread, known
from gpudoctor.findings import Findings, Found, Level, Stage
from gpudoctor.registry import Check
from gpudoctor.render import json as as_json
from gpudoctor.render import text
from tests.checks.test_libraries import gap
from tests.factory import LIBCUDA, cu_init, healthy, lists_no_gpu, reason_of, with_, with_variable

HOSTS = sorted((Path(__file__).parent / "hosts").glob("*.json"))
NO_LOG = Unread(why="the kernel's log: Operation not permitted (EPERM)", settle="sudo dmesg | grep -iE 'nvrm|xid'")


def reasons(facts: Facts) -> dict[str, str]:
    return {one.cause: reason_of(one) for one in judge(facts).diagnosis.ruled_out}


def shown(facts: Facts, *, recorded: bool = False, verbose: bool = True) -> str:
    file = io.StringIO()
    console = Console(file=file, no_color=True, highlight=False)
    text.show(bundle.make(facts, "2026-11-21T00:00:00+00:00"), console, verbose=verbose, recorded=recorded)
    return file.getvalue()


def test_a_healthy_machine_gives_every_reason_with_its_values() -> None:
    said = reasons(healthy())
    assert len(said) > 60
    assert said["driver-missing"] == f"libcuda.so.1 is {LIBCUDA}"
    assert said["driver-library-mismatch"] == "cuInit answers 0: kernel module 580.159.04, libcuda 580.159.04"
    assert said["cuda-visible-devices-empty"] == "CUDA_VISIBLE_DEVICES is not set"
    assert said["driver-module-not-loaded"] == "the kernel module 580.159.04 is loaded"
    assert said["fewer-gpus"] == "TensorFlow lists 2 GPUs; expected: 2"
    assert said["gpu-throttling-thermal"] == "no clock is held down by heat; the warmest GPU has 37 °C"


@pytest.mark.parametrize("path", HOSTS, ids=lambda p: p.stem)
def test_a_recorded_host_gives_every_reason(path: Path) -> None:
    report = api.replay(path)
    assert len(report.diagnosis.ruled_out) > 60
    assert {one.cause: one.reason for one in report.diagnosis.ruled_out} == reasons(bundle.read(path.read_bytes())[0])


def test_the_reason_is_that_of_the_exit_that_was_taken() -> None:
    assert reasons(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "1"))["cuda-visible-devices-empty"] == (
        "CUDA_VISIBLE_DEVICES='1'"
    )
    refused = cu_init(healthy(), 100)
    assert reasons(refused)["cuinit-fails"] == "cuInit answers 100"
    assert reasons(refused)["driver-library-mismatch"] == "the kernel module is of 580.159.04, libcuda of 580.159.04"
    opened = lists_no_gpu(healthy())
    assert reasons(opened)["cuda-libs-missing"] == "TensorFlow's loader opens all 7 libraries that it needs"
    lost = gap()
    assert reasons(lost)["cuda-libs-missing"] == (
        "there is a file for libcusolver.so.11, which the loader does not find or take"
    )


def test_a_long_value_is_cut_and_the_line_stays_one() -> None:
    several = ",".join(f"GPU-{i:08d}-0000-4000-8000-000000000000" for i in range(8)) + "\n"
    said = reasons(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", several))["cuda-visible-devices-empty"]
    assert said == "CUDA_VISIBLE_DEVICES is a list of 8"
    deep = "/home/alice" + "/deep" * 30
    assert reasons(with_(healthy(), tensorflow__directory=f"{deep}/tensorflow"))["tf-not-installed"] == (
        "TensorFlow is in …/tensorflow"
    )


def test_what_a_body_returns_is_the_reason_where_it_found_nothing() -> None:
    def body(facts: Facts) -> Findings:
        """Something is wrong."""
        if facts.environment.known("BAD"):
            yield Found(message="it is")
            return "never told"
        return "BAD is not set"

    def silent(facts: Facts) -> Iterator[Found]:
        """Something is wrong."""
        yield from ()

    checks = tuple(
        Check(code, code.lower(), Stage.DRIVER, Level.FAIL, (), None, one)
        for code, one in (("GD901", body), ("GD902", silent))
    )
    assert [o.reason for o in judge(healthy(), checks).diagnosis.ruled_out] == ["BAD is not set", None]
    bad = judge(with_variable(healthy(), "BAD", "1"), checks)
    assert [f.message for f in bad.findings] == ["it is"]
    assert [o.code for o in bad.diagnosis.ruled_out] == ["GD902"]
    pasted = with_(healthy(), text=Text(lines=1))
    assert [o.reason for o in judge(pasted, checks).diagnosis.ruled_out] == [None, None]


@pytest.mark.parametrize("facts", [healthy(), gap()], ids=["healthy", "faulty"])
def test_text_and_json_give_the_same_reasons(facts: Facts) -> None:
    report = json.loads(as_json.render(bundle.make(facts, "2026-11-21T00:00:00+00:00")))
    printed = shown(facts).splitlines()
    for one in report["diagnosis"]["ruled_out"]:
        assert f"    {one['code']} {one['cause']}: {one['reason']}" in printed


def test_what_needs_root_stands_apart_with_its_command() -> None:
    blind = cu_init(with_(healthy(), system__kernel_log=NO_LOG), 999)
    blind = with_(blind, gpu__devices=NO_LOG, driver__all_devices=NO_LOG)
    unknown = [one for one in judge(blind).unknown if one.needs_root]
    assert {"xid119-gsp-timeout", "driver-rminit-failed"} <= {one.cause for one in unknown}
    assert {one.settle for one in unknown} == {NO_LOG.settle}
    lines = shown(blind, verbose=False).splitlines()
    start = lines.index("Not looked at: needs root")
    assert "xid119-gsp-timeout" in lines[start + 1]
    assert lines[start + 1].endswith(f": {NO_LOG.why}")
    assert lines[start + 2] == f"      as root: {NO_LOG.settle}"
    assert f"settle it with: {NO_LOG.settle}" not in "\n".join(lines)
    assert f"      (the report says, as root: {NO_LOG.settle})" in shown(blind, recorded=True).splitlines()


def test_what_no_cause_hangs_on_is_told_on_demand() -> None:
    facts = with_(healthy(), system__kernel_log=NO_LOG, system__kernel_log_during=NO_LOG)
    assert judge(facts).unknown == ()
    assert "needs root" not in shown(facts, verbose=False)
    lines = shown(facts).splitlines()
    start = lines.index("Not looked at: needs root")
    assert lines[start + 1 : start + 3] == [
        f"    {NO_LOG.why}; no cause hangs on it here",
        f"      as root: {NO_LOG.settle}",
    ]
    assert "needs root" not in shown(healthy())


@pytest.mark.parametrize(
    ("settle", "root"),
    [
        ("sudo lspci -vvv", True),
        ("modprobe -c; sudo dmesg", True),
        ("nvidia-smi", False),
        ("echo $LD_LIBRARY_PATH, without sudo", False),
        (None, False),
    ],
)
def test_which_command_is_for_root(settle: str | None, root: bool) -> None:
    assert Unread(why="no permission", settle=settle).needs_root is root


def test_every_unread_fact_is_found_at_any_depth() -> None:
    first = known(healthy().gpu.devices)[0]
    assert list(every_unread(healthy().driver.libcuda)) == []
    facts = with_(healthy(), gpu__devices=(first, NO_LOG))
    assert NO_LOG in list(every_unread(facts))
