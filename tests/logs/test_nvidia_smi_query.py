"""nvidia-smi -q, topo -m, topo -p2p, nvlink -s."""

from __future__ import annotations

import pytest

from gpudoctor.facts import GpuPair, NvLink
from tests.logs.judged import judged, said
from tests.logs.test_nvidia_smi import MIB, device

QUERY = """\
==============NVSMI LOG==============
Driver Version                            : 570.10
Attached GPUs                             : 2
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A40
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : N/A
    GPU UUID                              : GPU-aaaa-0000
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
    vGPU Software Licensed Product
        Product Name                      : NVIDIA RTX Virtual Workstation
        License Status                    : Licensed (Expiry: 2027-1-1)
    PCI
        Bus                               : 0x3B
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 4
            Link Width
                Max                       : 16x
                Current                   : 16x
        Replays Since Reset               : 7
    Fan Speed                             : 30 %
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    FB Memory Usage
        Total                             : 46068 MiB
        Used                              : 100 MiB
    BAR1 Memory Usage
        Total                             : 65536 MiB
        Used                              : 1 MiB
    Compute Mode                          : Default
    Utilization
        Gpu                               : 90 %
        Memory                            : 40 %
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 1
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 2
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Uncorrectable            : 4
            DRAM Uncorrectable            : 5
    Retired Pages
        Single Bit ECC                    : 0
        Double Bit ECC                    : 0
        Pending Page Blacklist            : No
    Remapped Rows
        Correctable Error                 : 1
        Uncorrectable Error               : 0
        Pending                           : No
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 60 C
        GPU Slowdown Temp                 : 95 C
    GPU Power Readings
        Power Draw                        : 201.50 W
        Enforced Power Limit              : 300.00 W
        Default Power Limit               : 300.00 W
    Clocks
        SM                                : 1200 MHz
    Max Clocks
        SM                                : 1740 MHz
GPU 00000000:AF:00.0
    Product Name                          : NVIDIA A40
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 4
    Clocks Event Reasons
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active"""


def test_what_q_tells() -> None:
    report = judged(QUERY)
    one, two = device(report), device(report, 1)
    assert (one.name, two.name, two.pci_address) == ("NVIDIA A40", "NVIDIA A40", "0000:af:00.0")
    assert (one.persistence_mode, one.mig_mode, one.uuid) == (True, False, "GPU-aaaa-0000")
    assert (one.virtualization_mode, one.vgpu_licensed) == ("vgpu", True)
    assert (one.pcie_generation_max, one.pcie_generation, one.pcie_width_max, one.pcie_width) == (4, 4, 16, 16)
    assert one.pcie_replays == 7
    assert (one.clock_event_reasons, two.clock_event_reasons) == (("sw-power-cap",), ())
    assert (one.memory_total_bytes, one.memory_used_bytes) == (46068 * MIB, 100 * MIB)
    assert (one.compute_mode, one.utilisation_gpu_percent, one.ecc_mode) == ("default", 90, True)
    assert (one.ecc_volatile_corrected, one.ecc_volatile_uncorrected, one.ecc_aggregate_uncorrected) == (3, 0, 9)
    assert (one.retired_pages_double_bit, one.retired_pages_pending, one.row_remap_failure) == (0, False, False)
    assert (one.temperature_c, one.temperature_slowdown_c, one.power_draw_w, one.power_limit_w) == (
        60,
        95,
        201.5,
        300.0,
    )
    assert (one.clock_sm_mhz, one.clock_sm_max_mhz) == (1200, 1740)
    assert said(report) == ([], [])


@pytest.mark.parametrize(
    ("was", "now", "cause"),
    [
        ("HW Thermal Slowdown           : Not Active", "HW Thermal Slowdown           : Active", "gpu-throttling-thermal"),
        ("HW Power Brake Slowdown       : Not Active", "HW Power Brake Slowdown       : Active", "gpu-throttling-power"),
        ("Current                   : 16x", "Current                   : 1x", "pcie-link-degraded"),
        ("Current                   : 4\n            Link", "Current                   : 1\n            Link", "pcie-link-degraded"),
        ("DRAM Uncorrectable            : 0", "DRAM Uncorrectable            : 2", "ecc-uncorrectable-error"),
        ("Remapping Failure Occurred        : No", "Remapping Failure Occurred        : Yes", "ecc-uncorrectable-error"),
        ("Pending                           : No\n        Remapping", "Pending                           : Yes\n        Remapping", "gpu-memory-repair-pending"),
        ("Pending Page Blacklist            : No", "Pending Page Blacklist            : Yes", "gpu-memory-repair-pending"),
        ("Compute Mode                          : Default", "Compute Mode                          : Prohibited", "compute-mode-prohibited"),
        (": Licensed (Expiry: 2027-1-1)", ": Unlicensed (Unrestricted)", "vgpu-unlicensed"),
    ],
)  # fmt: skip
def test_one_thing_is_wrong(was: str, now: str, cause: str) -> None:
    assert was in QUERY
    report = judged(QUERY.replace(was, now, 1))
    assert said(report) == ([cause], [])


def test_an_idle_link_is_harmless() -> None:
    idle = (
        QUERY.replace("Current                   : 4", "Current                   : 1", 1)
        .replace("State                     : P0", "State                     : P8")
        .replace(": 90 %", ": 0 %")
    )
    report = judged(idle)
    assert said(report) == ([], [])
    assert report.facts.text.said("benign-pcie-idle")


def test_the_old_form_of_ecc_errors() -> None:
    text = """\
GPU 0000:04:00.0
    Product Name                    : Tesla K80
    ECC Errors
        Volatile
            Single Bit
                Device Memory       : 3
                Total               : 3
            Double Bit
                Device Memory       : 1
                Total               : 1"""
    report = judged(text)
    assert (device(report).ecc_volatile_corrected, device(report).ecc_volatile_uncorrected) == (3, 1)
    assert said(report) == (["ecc-uncorrectable-error"], [])


def test_throttling_is_no_cause_of_a_failure() -> None:
    hot = QUERY.replace("HW Thermal Slowdown           : Not Active", "HW Thermal Slowdown           : Active", 1)
    assert "gpu-throttling-thermal" not in said(judged(hot + "\nNCCL failure: unhandled system error"))[0]


LINKS = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000)
  Link 0: 25 GB/s
  Link 1: 25 GB/s
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0001)
  Link 0: 25 GB/s
  Link 1: 25 GB/s"""
DISABLED = "\nGPU 00000000:07:00.0\n    MIG Mode\n        Current : Disabled\nGPU 00000000:0B:00.0\n    MIG Mode\n        Current : Disabled"


def test_links() -> None:
    report = judged(LINKS + DISABLED)
    assert device(report).nvlinks == (NvLink(index=0, active=True), NvLink(index=1, active=True))
    assert said(report) == ([], [])
    one = LINKS[::-1].replace("s/BG 52", ">evitcani<", 1)[::-1]
    assert said(judged(one + DISABLED)) == (["nvlink-degraded"], [])
    xid = "\nNVRM: Xid (PCI:0000:0b:00): 74, pid=4711, NVLink: fatal error detected on link 1"
    assert said(judged(one + DISABLED + xid))[0] == []  # the link went down at work: why, the log does not tell
    none = one[::-1].replace("s/BG 52", ">evitcani<", 1)[::-1]
    assert said(judged(none + DISABLED)) == (["nvlink-down"], [])
    assert said(judged(none + DISABLED + "\nNCCL failure: unhandled system error"))[0] == []


TOPOLOGY = """\
  GPU0  GPU1  GPU2  CPU Affinity  NUMA Affinity
GPU0   X   NV4  SYS  0-15  0
GPU1  NV4   X   PHB  0-15  0
GPU2  SYS  PHB   X   16-31  1"""


def test_pairs() -> None:
    report = judged(TOPOLOGY)
    assert report.facts.gpu.pairs == (
        GpuPair(first=0, second=1, nvlink="ok"),
        GpuPair(first=0, second=2, topology="SYS"),
        GpuPair(first=1, second=2, topology="PHB"),
    )
    assert said(report) == ([], [])


def test_pairs_that_the_chipset_keeps_apart() -> None:
    assert said(judged(" \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX")) == (["multi-gpu-topology-no-p2p"], [])
    assert said(judged(" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX")) == ([], [])
