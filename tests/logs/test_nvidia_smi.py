"""nvidia-smi's table in the layouts of the years, -L, -q, topo and nvlink."""

from __future__ import annotations

import pytest

from gpudoctor.bundle import Report
from gpudoctor.facts import GpuDevice, MigDevice, Unread
from tests.logs.judged import judged, said

MIB = 1 << 20
OLD = """\
+------------------------------------------------------+
| NVIDIA-SMI 340.29     Driver Version: 340.29         |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|===============================+======================+======================|
|   0  Tesla K20c          Off  | 0000:02:00.0     Off |                    0 |
| 30%   35C    P8    17W / 225W |     11MiB /  4799MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|   1  GeForce GTX 960     Off  | 0000:03:00.0     N/A |                  N/A |
| 30%   35C    P8    N/A /  N/A |    300MiB /  2047MiB |     N/A   E. Process |
+-----------------------------------------------------------------------------+
| Compute processes:                                               GPU Memory |
|=============================================================================|
|    0      4242    C   /usr/bin/python                              800MiB |
+-----------------------------------------------------------------------------+"""
NEW = """\
| NVIDIA-SMI 590.44.01              KMD Version: 590.44.01     CUDA UMD Version: 13.1     |
|   0  NVIDIA H200                    On  |   00000000:00:06.0 Off |                    0 |
| N/A   34C    P0             76W /  700W |       4MiB / 143771MiB |     35%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|  No running processes found                                                             |"""
WINDOWS = """\
| NVIDIA-SMI 531.41                 Driver Version: 531.41       CUDA Version: 12.1     |
|   0  NVIDIA GeForce RTX 3080       WDDM | 00000000:0A:00.0  On |                  N/A |
|  0%   41C    P8              22W / 320W |   1043MiB / 10240MiB |      3%      Default |
|                                         |                      |                  N/A |
|    0   N/A  N/A      1234    C+G   ...ram Files\\Some App\\app.exe         N/A      |"""
MIG = """\
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                   On |
| N/A   30C    P0              43W / 400W |     45MiB / 40960MiB |     N/A      Default |
|                                         |                      |              Enabled |
| MIG devices:                                                                          |
|  0    1   0   0  |              25MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |"""
NO_INSTANCE = MIG.rpartition("\n")[0] + "\n|  No MIG devices found                                             |"
ERR = """\
| NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |
|   0  NVIDIA A10          Off  | 00000000:3B:00.0 Off |                    0 |
|  0%   41C    P0    57W / 150W |      0MiB / 22731MiB |      0%      Default |
|   1  ERR!                ERR!  | 00000000:5E:00.0 ERR! |                 ERR! |
| ERR!  ERR! ERR!    ERR! / ERR! |  GPU is lost         |     ERR!         ERR! |"""
BROKEN_FAN = OLD.replace("30%   35C    P8    17W", "ERR!  35C    P8   ERR!")


def device(report: Report, index: int = 0) -> GpuDevice:
    devices = report.facts.gpu.devices
    assert isinstance(devices, tuple)
    return next(d for d in devices if d.index == index)


@pytest.mark.parametrize("text", [OLD, NEW, WINDOWS, MIG])
def test_a_healthy_table(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_the_old_layout() -> None:
    report = judged(OLD)
    one, two = device(report), device(report, 1)
    assert (one.name, one.pci_address, one.ecc_volatile_uncorrected) == ("Tesla K20c", "0000:02:00.0", 0)
    assert (one.memory_used_bytes, one.memory_total_bytes) == (11 * MIB, 4799 * MIB)
    assert (one.power_draw_w, one.power_limit_w, one.temperature_c, one.utilisation_gpu_percent) == (17.0, 225.0, 35, 0)
    assert (two.compute_mode, two.ecc_volatile_uncorrected) == ("exclusive-process", None)
    assert isinstance(two.power_draw_w, Unread)
    assert isinstance(one.processes, tuple)
    assert [(p.pid, p.name, p.memory_used_bytes) for p in one.processes] == [(4242, "/usr/bin/python", 800 * MIB)]
    assert report.facts.gpu.driver_version == "340.29"


def test_the_new_layout() -> None:
    report = judged(NEW)
    one = device(report)
    assert (report.facts.gpu.driver_version, report.facts.gpu.cuda_driver_version) == ("590.44.01", 13010)
    assert (one.name, one.persistence_mode, one.mig_mode, one.processes) == ("NVIDIA H200", True, False, ())
    assert (one.memory_total_bytes, one.compute_mode, one.utilisation_gpu_percent) == (143771 * MIB, "default", 35)


def test_windows() -> None:
    one = device(judged(WINDOWS))
    assert (one.name, one.display_attached, one.pci_address) == ("NVIDIA GeForce RTX 3080", True, "0000:0a:00.0")
    assert isinstance(one.processes, tuple)
    assert (one.processes[0].pid, one.processes[0].kind) == (1234, "compute")


def test_mig() -> None:
    one = device(judged(MIG))
    assert one.mig_mode is True
    assert one.mig_devices == (MigDevice(gpu_instance=1, compute_instance=0, memory_total_bytes=19968 * MIB),)
    assert said(judged(NO_INSTANCE)) == (["mig-enabled-no-instance"], [])


def test_the_first_table_counts() -> None:
    assert device(judged(NEW + "\n" + NEW.replace("76W", "99W"))).power_draw_w == 76.0


def test_a_gpu_that_the_table_calls_lost() -> None:
    assert said(judged(ERR)) == (["xid79-fell-off-bus"], [])


@pytest.mark.parametrize("text", [ERR.replace("GPU is lost", "0MiB / 22731MiB"), BROKEN_FAN])
def test_a_gpu_that_does_not_answer(text: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == "xid79-fell-off-bus"


def test_errors_of_the_memory() -> None:
    report = judged(NEW.replace("                    0 |", "                    3 |"))
    assert said(report) == (["ecc-uncorrectable-error"], [])
    assert report.diagnosis.root_causes[0].proof[0].source == "line 2"


def test_a_full_gpu_alone_is_no_finding() -> None:
    full = NEW.replace("     4MiB", "143000MiB")
    assert said(judged(full)) == (["gpu-memory-held-by-other-process"], [])  # a process that the table does not list
    process = "|    0   N/A  N/A            4711      C   python3                            142990MiB |"
    trains = full.rpartition("\n")[0] + "\n" + process
    assert said(judged(trains)) == ([], [])
    failed = judged(trains + "\nCUDA_ERROR_OUT_OF_MEMORY: out of memory")
    assert "gpu-memory-held-by-other-process" in said(failed)[0]


def test_a_process_on_an_exclusive_gpu() -> None:
    busy = OLD.replace("0%      Default", "0%   E. Process")
    assert said(judged(busy)) == ([], [])
    assert said(judged(busy + "\nall CUDA-capable devices are busy or unavailable"))[0] == ["gpu-exclusive-busy"]
    assert said(judged(OLD.replace("0%      Default", "0%   Prohibited")))[0] == ["compute-mode-prohibited"]


def test_the_list() -> None:
    text = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1f2e3d4c-0000)
  MIG 3g.20gb     Device  0: (UUID: MIG-aaaa-bbbb)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1f2e3d4c-0001)"""
    report = judged(text)
    assert (device(report, 1).name, device(report, 1).uuid) == ("NVIDIA A100-SXM4-40GB", "GPU-1f2e3d4c-0001")
    assert device(report).mig_devices == (MigDevice(name="3g.20gb", uuid="MIG-aaaa-bbbb"),)
