from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.facts import Facts, KernelEvent, Unread, unread_all
from gpudoctor.facts.gpu import GpuDevice
from tests.factory import cu_init, found, gpu_device, healthy, outcome, roots, with_, with_gpu

CHECKS = (
    "xid79-fell-off-bus",
    "gpu-needs-reset",
    "ecc-uncorrectable-error",
    "gpu-memory-repair-pending",
    "gpu-throttling-thermal",
    "gpu-throttling-power",
)
UNREAD = Unread(why="no answer", settle="nvidia-smi -q")


def gpu1(**changes: Any) -> Facts:
    """A healthy host, but for its second GPU."""
    return with_gpu(healthy(), 1, **changes)


def lost(code: int, text: str) -> Facts:
    """NVML answers this about the second GPU."""
    silent = unread_all(GpuDevice, Unread(why=f"NVML: {text}"))
    fields = {f: getattr(silent, f) for f in GpuDevice.__struct_fields__ if f not in ("index", "is")}
    return gpu1(**{**fields, "nvml_error": code, "nvml_error_text": text})


@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_host_is_silent(name: str) -> None:
    assert outcome(healthy(), name) == "passed"
    busy = gpu1(clock_event_reasons=("sw-power-cap",), temperature_c=70, power_draw_w=699.0)
    assert outcome(busy, name) == "passed"


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("xid79-fell-off-bus", "nvml_error"),
        ("gpu-needs-reset", "nvml_error"),
        ("ecc-uncorrectable-error", "ecc_volatile_uncorrected"),
        ("ecc-uncorrectable-error", "row_remap_failure"),
        ("gpu-memory-repair-pending", "row_remap_pending"),
        ("gpu-memory-repair-pending", "retired_pages_pending"),
        ("gpu-throttling-thermal", "clock_event_reasons"),
        ("gpu-throttling-power", "clock_event_reasons"),
    ],
)
def test_what_is_unread_is_unknown(name: str, field: str) -> None:
    assert outcome(gpu1(**{field: UNREAD}), name) == "unknown"
    assert outcome(with_(healthy(), gpu__devices=UNREAD), name) == "unknown"


@pytest.mark.parametrize("name", CHECKS)
def test_without_a_gpu_there_is_nothing_to_look_at(name: str) -> None:
    assert outcome(with_(healthy(), gpu__devices=()), name) == "skipped"
    assert outcome(with_(healthy(), gpu__devices=UNREAD, system__tegra=True), name) == "skipped"


@pytest.mark.parametrize("name", CHECKS)
def test_a_geforce_has_none_of_it(name: str) -> None:
    absent: dict[str, Any] = dict.fromkeys(
        ("ecc_volatile_uncorrected", "row_remap_failure", "row_remap_pending", "retired_pages_pending")
    )
    assert outcome(with_(healthy(), gpu__devices=(gpu_device(0, **absent),)), name) == "passed"


def test_fell_off_the_bus() -> None:
    facts = lost(15, "GPU is lost")
    assert roots(facts) == ["xid79-fell-off-bus"]
    one = found(facts)["xid79-fell-off-bus"]
    assert one.about == ("gpu1",)
    assert "NVML answers 15 (GPU is lost)" in one.proof[0].text
    assert roots(cu_init(facts, 100)) == ["xid79-fell-off-bus"]
    assert outcome(facts, "gpu-needs-reset") == "passed"


def test_needs_reset() -> None:
    facts = lost(16, "GPU requires reset")
    assert roots(facts) == ["gpu-needs-reset"]
    assert found(facts)["gpu-needs-reset"].fixes[0].steps == ("sudo nvidia-smi --gpu-reset -i 1",)


def test_uncorrectable_errors() -> None:
    facts = gpu1(ecc_volatile_uncorrected=2, ecc_aggregate_uncorrected=5, rows_remapped_uncorrectable=1)
    assert roots(facts) == ["ecc-uncorrectable-error"]
    one = found(facts)["ecc-uncorrectable-error"]
    assert one.message.startswith("GPU 1 (NVIDIA H200): 2 memory error(s)")
    assert one.about == ("gpu1",)
    assert "uncorrected, volatile: 2, aggregate: 5" in one.proof[0].text


def test_a_row_that_could_not_be_replaced() -> None:
    facts = gpu1(row_remap_failure=True, ecc_volatile_uncorrected=UNREAD)
    assert roots(facts) == ["ecc-uncorrectable-error"]
    (fix,) = found(facts)["ecc-uncorrectable-error"].fixes
    assert "replaced" in fix.summary


def test_errors_of_former_days_that_were_repaired_are_no_finding() -> None:
    past = {"ecc_aggregate_uncorrected": 5, "rows_remapped_uncorrectable": 1, "ecc_volatile_corrected": 9}
    assert outcome(gpu1(**past), "ecc-uncorrectable-error") == "passed"


def test_a_fault_on_one_gpu_is_found_while_another_is_silent() -> None:
    facts = with_gpu(gpu1(ecc_volatile_uncorrected=2), 0, ecc_volatile_uncorrected=UNREAD)
    assert outcome(facts, "ecc-uncorrectable-error") == "found"
    hot = with_gpu(gpu1(clock_event_reasons=("hw-thermal-slowdown",)), 0, clock_event_reasons=UNREAD)
    assert outcome(hot, "gpu-throttling-thermal") == "found"


@pytest.mark.parametrize(("field", "what"), [("row_remap_pending", "a row"), ("retired_pages_pending", "pages")])
def test_a_repair_that_waits_for_a_reset(field: str, what: str) -> None:
    facts = gpu1(**{field: True})
    assert roots(facts) == ["gpu-memory-repair-pending"]
    one = found(facts)["gpu-memory-repair-pending"]
    assert one.level == "warn"
    assert what in one.message


def test_the_error_explains_the_repair_that_waits() -> None:
    facts = gpu1(ecc_volatile_uncorrected=1, row_remap_pending=True)
    assert roots(facts) == ["ecc-uncorrectable-error"]
    elsewhere = with_gpu(gpu1(ecc_volatile_uncorrected=1), 0, row_remap_pending=True)
    assert roots(elsewhere) == ["ecc-uncorrectable-error", "gpu-memory-repair-pending"]


@pytest.mark.parametrize("reason", ["hw-thermal-slowdown", "sw-thermal-slowdown"])
def test_heat(reason: str) -> None:
    facts = gpu1(clock_event_reasons=("hw-slowdown", reason), temperature_c=91, clock_sm_mhz=990)
    assert roots(facts) == ["gpu-throttling-thermal"]
    one = found(facts)["gpu-throttling-thermal"]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert [p.text for p in one.proof] == [f"{reason}; SM clock 990 of 1980 MHz", "91 °C, slowdown from 89 °C"]


def test_heat_of_unknown_degree() -> None:
    facts = gpu1(clock_event_reasons=("hw-thermal-slowdown",), temperature_c=UNREAD, temperature_slowdown_c=None)
    assert found(facts)["gpu-throttling-thermal"].proof[1].text == "temperature unknown"


def test_power_brake() -> None:
    facts = gpu1(clock_event_reasons=("hw-slowdown", "hw-power-brake"))
    assert roots(facts) == ["gpu-throttling-power"]
    assert found(facts)["gpu-throttling-power"].proof[1].text == "79 W of 700 W"


@pytest.mark.parametrize("reason", ["idle", "sw-power-cap", "hw-slowdown", "applications-clocks-setting", "sync-boost"])
def test_what_is_normal_is_no_finding(reason: str) -> None:
    facts = gpu1(clock_event_reasons=(reason,))
    assert roots(facts) == []


def test_nothing_is_asked_of_gpus_without_a_driver() -> None:
    absent = Unread(why="NVML Shared Library Not Found")
    bare = with_(healthy(), gpu__nvml_error=12, gpu__devices=absent, driver__kernel_version=None)
    assert outcome(bare, "ecc-uncorrectable-error") == "skipped"
    assert outcome(with_(bare, driver__kernel_version="580.159.04"), "ecc-uncorrectable-error") == "unknown"


def test_the_kernel_log_is_proof_beside_nvml() -> None:
    def line(number: int, index: int) -> KernelEvent:
        address = f"0000:00:0{6 + index}.0"
        return KernelEvent(kind="xid", xid=number, text=f"NVRM: Xid (PCI:{address}): {number}", pci_address=address)

    facts = with_(gpu1(row_remap_pending=True), system__kernel_log=(line(63, 1), line(63, 0), line(13, 1)))
    texts = [e.text for e in found(facts)["gpu-memory-repair-pending"].proof]
    assert texts[1] == "NVRM: Xid (PCI:0000:00:07.0): 63"
    assert texts[2].startswith("Xid 63: GPU memory remapping event")
    assert len(texts) == 3
    facts = with_(gpu1(ecc_volatile_uncorrected=2), system__kernel_log=(line(48, 1),))
    assert any("Double Bit ECC Error" in e.text for e in found(facts)["ecc-uncorrectable-error"].proof)
    unread = with_(gpu1(ecc_volatile_uncorrected=2), system__kernel_log=Unread(why="not permitted"))
    assert outcome(unread, "ecc-uncorrectable-error") == "found"
