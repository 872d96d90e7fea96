"""NVML in a child process: a fake library answers, loses a GPU, hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.facts import Gpu, GpuDevice, GpuPair, MigDevice, NvLink, Unread
from gpudoctor.probes import gpu
from gpudoctor.probes.ask import Patient


def environment(directory: str, **more: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": directory, **more}


def ask(env: dict[str, str], limit_s: float) -> Gpu:
    return gpu.read(Patient((sys.executable,), env).ask([gpu.task()], limit_s=limit_s))


def test_two_gpus(nvml: str) -> None:
    got = ask(environment(nvml), 10)
    assert got.nvml_error is None
    assert got.driver_version == "580.159.04"
    assert isinstance(got.devices, tuple)
    one = got.devices[1]
    assert (one.name, one.pci_address, one.compute_capability) == ("Fake GPU 1", "0000:02:00.0", (9, 0))
    assert one.uuid == "GPU-00000001-0000-4000-8000-000000000000"
    assert one.memory_total_bytes == 1 << 37


def devices(got: Gpu) -> tuple[GpuDevice, ...]:
    assert isinstance(got.devices, tuple)
    return got.devices


def test_a_damaged_libcuda_takes_nothing_but_its_own_answer(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_LIBCUDA="cut"), 10)
    assert (got.nvml_error, got.driver_version) == (None, "580.159.04")
    assert [one.name for one in devices(got)] == ["Fake GPU 0", "Fake GPU 1"]
    assert isinstance(got.pairs, tuple)
    assert isinstance(got.cuda_driver_version, Unread)
    assert "ended" in got.cuda_driver_version.why


def test_every_question_is_answered(nvml: str) -> None:
    got = ask(environment(nvml), 10)
    assert (got.nvml_version, got.cuda_driver_version) == ("13.580.159.04", 13000)
    one = devices(got)[1]
    assert one.nvml_error is None
    assert (one.minor_number, one.serial, one.board_id) == (1, "1650000000001", 0x600)
    assert (one.vbios_version, one.gsp_version) == ("96.00.A5.00.1A", "580.159.04")
    assert (one.memory_used_bytes, one.memory_reserved_bytes, one.bar1_bytes) == (1 << 30, 1 << 29, 1 << 38)
    assert one.memory_free_bytes == (1 << 37) - (1 << 30) - (1 << 29)
    assert (one.compute_mode, one.persistence_mode, one.display_attached) == ("default", True, False)
    assert (one.virtualization_mode, one.vgpu_licensed) == ("pass-through", None)
    assert (one.mig_mode, one.mig_mode_pending, one.mig_devices) == (False, False, None)
    assert (one.clock_graphics_mhz, one.clock_sm_mhz, one.clock_memory_mhz) == (345, 345, 3201)
    assert (one.clock_graphics_max_mhz, one.clock_sm_max_mhz, one.clock_memory_max_mhz) == (1980, 1980, 3201)
    assert one.clock_event_reasons == ("idle", "sw-power-cap", "0x1000")
    assert (one.power_draw_w, one.power_limit_w, one.power_default_w) == (78.629, 700, 700)
    assert (one.power_min_w, one.power_max_w) == (200, 700)
    assert (one.temperature_c, one.temperature_slowdown_c, one.temperature_shutdown_c) == (37, 89, 95)
    assert (one.utilisation_gpu_percent, one.utilisation_memory_percent) == (7, 3)
    assert (one.ecc_mode, one.ecc_mode_pending) == (True, True)
    assert (one.ecc_volatile_corrected, one.ecc_volatile_uncorrected) == (1, 0)
    assert (one.ecc_aggregate_corrected, one.ecc_aggregate_uncorrected) == (3, 0)
    assert (one.rows_remapped_correctable, one.rows_remapped_uncorrectable) == (2, 1)
    assert (one.row_remap_pending, one.row_remap_failure) == (False, False)
    assert (one.retired_pages_single_bit, one.retired_pages_double_bit, one.retired_pages_pending) == (2, 0, False)
    assert one.recovery_action == "none"
    assert (one.pcie_generation, one.pcie_generation_max, one.pcie_generation_gpu_max) == (1, 4, 5)
    assert (one.pcie_width, one.pcie_width_max, one.pcie_replays, one.numa_node) == (16, 16, 0, None)
    assert (one.fabric_state, one.fabric_status, one.fabric_health) == (3, 0, ())
    assert one.nvlinks == tuple(
        NvLink(index=i, active=True, version=6, remote="switch", remote_address=None, speed_mb_per_s=26562)
        for i in range(18)
    )
    assert one.processes == ()
    assert got.pairs == (GpuPair(first=0, second=1, read="ok", nvlink="ok", topology="PHB"),)


def test_a_function_that_this_nvml_lacks_is_unread_and_an_older_name_is_tried(nvml: str) -> None:
    one = devices(ask(environment(nvml), 10))[0]
    assert isinstance(one.c2c, Unread)
    assert "Not Found" in one.c2c.why
    assert isinstance(one.clock_event_reasons, tuple)


def test_what_a_product_does_not_have_is_none(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_PLAIN="1"), 10)
    one = devices(got)[0]
    names = ("ecc_mode", "ecc_volatile_uncorrected", "row_remap_failure", "retired_pages_pending", "mig_mode", "serial")
    assert [getattr(one, name) for name in names] == [None] * len(names)
    assert (one.mig_devices, one.recovery_action, one.fabric_state, one.fabric_health) == (None, None, None, None)
    assert one.nvlinks == ()
    assert isinstance(got.pairs, tuple)
    assert (got.pairs[0].read, got.pairs[0].nvlink) == ("ok", "not-supported")


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (0, None),
        (0x1 | 0x2 << 2 | 0x1 << 8, ("bandwidth-degraded",)),
        (0x1 << 4 | 0x5 << 8, ("route-unhealthy", "incorrect-configuration")),
    ],
)
def test_the_health_of_the_fabric(nvml: str, mask: int, expected: object) -> None:
    assert devices(ask(environment(nvml, FAKE_NVML_HEALTH=str(mask)), 10))[0].fabric_health == expected


def test_a_row_that_waits_for_a_reset(nvml: str) -> None:
    one = devices(ask(environment(nvml, FAKE_NVML_PENDING="1"), 10))[0]
    assert (one.row_remap_pending, one.row_remap_failure) == (True, False)


def test_mig_instances(nvml: str) -> None:
    off, on = devices(ask(environment(nvml, FAKE_NVML_MIG="1"), 10))
    assert (off.mig_mode, off.mig_devices, on.mig_mode) == (False, None, True)
    assert on.mig_devices == (
        MigDevice(
            uuid="MIG-00000000-0000-4000-8000-000000000000",
            name="Fake GPU MIG 1g.18gb",
            gpu_instance=3,
            compute_instance=0,
            memory_total_bytes=1 << 34,
        ),
    )


def test_links_that_are_down(nvml: str) -> None:
    whole, down = devices(ask(environment(nvml, FAKE_NVML_DOWN="1"), 10))
    assert isinstance(whole.nvlinks, tuple)
    assert isinstance(down.nvlinks, tuple)
    assert [sum(link.active for link in links) for links in (whole.nvlinks, down.nvlinks)] == [18, 13]


def test_links_from_one_gpu_to_the_other(nvml: str) -> None:
    one, other = devices(ask(environment(nvml, FAKE_NVML_BRIDGED="1"), 10))
    for device, peer in ((one, other), (other, one)):
        assert isinstance(device.nvlinks, tuple)
        assert {(link.remote, link.remote_address) for link in device.nvlinks} == {("gpu", peer.pci_address)}


def process(nvml: str, pid: int) -> tuple[object, ...]:
    one, other = devices(ask(environment(nvml, FAKE_NVML_PROCESS=str(pid)), 10))
    assert other.processes == ()
    assert isinstance(one.processes, tuple)
    (found,) = one.processes
    return found.pid, found.kind, found.memory_used_bytes, found.name, found.ours


def test_processes(nvml: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert process(nvml, child.pid) == (child.pid, "compute", 1 << 30, "/usr/bin/python3", True)
        child.communicate()
    assert process(nvml, os.getppid())[4] is False
    assert process(nvml, 1) == (1, "compute", 1 << 30, None, False)


def test_one_lost_gpu_of_eight_leaves_seven(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="8", FAKE_NVML_LOST="3"), 10)
    assert isinstance(got.devices, tuple)
    assert len(got.devices) == 8
    assert "GPU is lost" in str(got.devices[3].name)
    assert (got.devices[3].nvml_error, got.devices[3].nvml_error_text) == (15, "GPU is lost")
    assert [d.name for d in got.devices if isinstance(d.name, str)] == [f"Fake GPU {i}" for i in range(8) if i != 3]


def test_a_gpu_that_falls_off_after_its_handle_was_got(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="8", FAKE_NVML_FELL="3"), 10)
    assert [d.nvml_error for d in devices(got)] == [15 if i == 3 else None for i in range(8)]
    assert "GPU is lost" in str(devices(got)[3].memory_used_bytes)


def test_a_crash_while_one_is_asked_leaves_the_others(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="8", FAKE_NVML_CRASH="3"), 10)
    assert [d.name for d in devices(got)] == [f"Fake GPU {i}" for i in range(8)]
    assert [d.index for d in devices(got) if isinstance(d.memory_used_bytes, Unread)] == [3]
    assert "ended by signal 11" in str(devices(got)[3].nvml_error)
    assert all(d.nvml_error is None for d in devices(got) if d.index != 3)


def test_a_crash_of_nvml_itself(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_INIT="crash"), 10)
    assert "ended by signal 11" in str(got.devices)
    assert isinstance(got.nvml_error, Unread)


def test_a_gpu_that_hangs_leaves_the_others(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_COUNT="3", FAKE_NVML_HANG="1"), 2)
    assert isinstance(got.devices, tuple)
    assert [isinstance(d.name, str) for d in got.devices] == [True, False, True]
    assert "did not end within" in str(got.devices[1].uuid)
    assert isinstance(got.pairs, tuple)
    assert [p.topology for p in got.pairs if isinstance(p.topology, str)] == ["PHB"]  # of the two that answered


def test_nvml_says_why(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_INIT="18"), 10)
    assert got.nvml_error == 18
    assert "mismatch" in str(got.nvml_error_text)
    assert isinstance(got.devices, Unread)


def test_nvml_hangs(nvml: str) -> None:
    got = ask(environment(nvml, FAKE_NVML_INIT="hang"), 1)
    assert "did not end within" in str(got.devices)
    assert isinstance(got.nvml_error, Unread)


def test_no_nvml(tmp_path: object) -> None:
    got = ask(environment("/nowhere"), 10)
    if got.nvml_error is not None:
        assert got.nvml_error in (9, 12)
        assert isinstance(got.devices, Unread)


def test_a_stray_module_in_the_working_directory_is_not_taken(nvml: str, tmp_path: object, monkeypatch: object) -> None:
    assert isinstance(tmp_path, Path)
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    (tmp_path / "pynvml.py").write_text("raise SystemExit('the stray one')")
    monkeypatch.chdir(tmp_path)
    assert ask(environment(nvml), 10).nvml_error is None


def test_a_python_that_prints_by_itself(nvml: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello'); print('{}')")
    assert ask(environment(nvml, PYTHONPATH=str(tmp_path)), 10).nvml_error is None
