"""The hardware in the kernel's log, and in what people say of it."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts
from tests.logs.judged import judged, said, shown

LOST = "[ 4711.123456] NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
GSP = "NVRM: Xid (PCI:0000:ca:00): 119, pid=4711, name=python3, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76"
DOUBLE_BIT = "Nov 20 10:11:12 node7 kernel: NVRM: Xid (PCI:0000:1b:00): 48, pid=0, An uncorrectable double bit error (DBE) has been detected on GPU"
FAULT = "[Fri Nov 20 10:11:12 2026] NVRM: Xid (PCI:0000:3d:00): 31, pid=99, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"
HALT = "NVRM: Xid (PCI:0000:65:00): 62, 0a5b(2d50) 00000000 00000000"
UNKNOWN_HANDLE = "Unable to determine the device handle for GPU0000:0a:00.0: Unknown Error"
CAUSES = [
    (LOST, "xid79-fell-off-bus"),
    ("NVRM: Xid (0000:04:00): 79, GPU has fallen off the bus.", "xid79-fell-off-bus"),
    ("NVRM: GPU 0000:04:00.0: GPU has fallen off the bus.", "xid79-fell-off-bus"),
    ("NVRM: fallen off the bus and is not responding to commands.", "xid79-fell-off-bus"),
    ("after some hours one card falls off of the PCIe bus", "xid79-fell-off-bus"),
    ("device plugin: XidCriticalError: Xid=79 on Device=GPU-1234", "xid79-fell-off-bus"),
    (
        "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU",
        "xid79-fell-off-bus",
    ),
    (
        f"{UNKNOWN_HANDLE}\n[  +0.01] pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
        "xid79-fell-off-bus",
    ),
    ('nvidia-smi tells "The GPU is lost.Reboot the system to recover the GPU"', "xid79-fell-off-bus"),
    ("pynvml.NVMLError_GpuIsLost: GPU is lost", "xid79-fell-off-bus"),
    (GSP, "xid119-gsp-timeout"),
    ("NVRM: Xid (PCI:0000:ca:00): 120, pid=1, GSP Error: Task 0 raised error code", "xid119-gsp-timeout"),
    ("NVRM: GPU1 kgspHealthCheck_TU102: ******* GSP-CrashCat Report *******", "xid119-gsp-timeout"),
    ("NVRM: Xid (PCI:0000:ca:00): 1, GSP task exception: load access fault", "xid119-gsp-timeout"),
    (
        f"{HALT}\nNVRM: GPU0 _kgspRpcGspEventPmuHalted: Received signal from GSP that PMU has halted.",
        "xid119-gsp-timeout",
    ),
    (f"{HALT}\nGSP task watchdog timeout @ pc:0x17c", "xid119-gsp-timeout"),
    (DOUBLE_BIT, "ecc-uncorrectable-error"),
    ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "ecc-uncorrectable-error"),
    ("failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_ECC_UNCORRECTABLE", "ecc-uncorrectable-error"),
    ("NVRM: Xid (PCI:0000:1b:00 GPU-I:02): 94, Contained ECC error", "ecc-uncorrectable-error"),
    (FAULT, "xid13-31-43-app-or-gpu-fault"),
    ("we see XID 43 in the journal", "xid13-31-43-app-or-gpu-fault"),
    ("Xid 13 again: misaligned address or illegal instruction on every SM", "xid13-31-43-app-or-gpu-fault"),
    (f"{FAULT}\nall SMs: illegal instruction", "xid13-31-43-app-or-gpu-fault"),
    (HALT, "xid-hardware-fault"),
    ("The PC shuts down when training with a big batch.\nIs my PSU (650 W) too weak?", "psu-insufficient"),
    ("Workstation reboots by itself during training, with a 750W supply", "psu-insufficient"),
]


@pytest.mark.parametrize(("text", "cause"), CAUSES)
def test_a_line_that_decides(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (UNKNOWN_HANDLE, "xid79-fell-off-bus"),
        ("pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: 0000:00:02.0", "xid79-fell-off-bus"),
        ("NVRM: Xid (PCI:0000:3d:00): 63, Row Remapper: New row marked for remapping", "gpu-memory-repair-pending"),
        ("NVRM: Xid (PCI:0000:3d:00): 74, NVLink: fatal error detected on link 4", "nvlink-down"),
        ("NVRM: Xid (PCI:0000:3d:00): 38, firmware error", "xid-hardware-fault"),
        ("My computer turns off while training", "psu-insufficient"),
    ],
)
def test_a_line_that_does_not_decide(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == first


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.10",
        "NVRM: Xid (PCI:0000:3d:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
        "DMAR: [DMA Write] Request device [02:00.0] fault addr cd139000 [fault reason 05] PTE Write access is not set",
        "The jupyter server restarts the kernel when training",
        "the notebook's kernel restarts on the gpu server",
        "After a reboot of the machine training works",
        "We bought a power supply of 1600 W",
        "Volatile Uncorr. ECC",
        "there are no uncorrectable ECC errors",
        "Uncorrectable ECC errors : 0",
    ],
)
def test_nothing_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])


def test_what_came_first_counts() -> None:
    assert said(judged(f"{FAULT}\n{LOST}\n{GSP}\n{HALT}")) == (["xid79-fell-off-bus"], [])
    assert said(judged(f"{GSP}\n{FAULT}\n{HALT}")) == (["xid119-gsp-timeout"], [])
    assert said(judged(f"{DOUBLE_BIT}\n{FAULT}\n{HALT}")) == (["ecc-uncorrectable-error"], [])
    assert said(judged(f"{HALT}\n{FAULT}")) == (["xid-hardware-fault"], [])


def test_the_kernels_log_is_a_fact() -> None:
    facts: Facts = judged(f"{LOST}\nXID 43 again\nAMD-Vi: Event logged [IO_PAGE_FAULT device=0a:00.0 domain=0x1]").facts
    log = facts.system.kernel_log
    assert isinstance(log, tuple)
    assert [(e.kind, e.xid, e.pci_address, e.seconds) for e in log] == [
        ("xid", 79, "0000:41:00.0", 4711.123456),
        ("iommu-fault", None, None, None),
    ]


def test_the_lines_are_the_proof() -> None:
    root = judged(f"nothing here\n{FAULT}\n{FAULT.replace('99', '98')}").diagnosis.root_causes[0]
    assert [p.source for p in root.proof][:2] == ["line 2", "line 3"]
    assert "same GPU each time" in root.message
    assert any("memory page fault" in p.text for p in root.proof)


def test_a_training_that_died_of_it() -> None:
    text = f"""Traceback (most recent call last):
  File "train.py", line 3, in <module>
    model.fit(x)
tensorflow.python.framework.errors_impl.InternalError: GPU sync failed
{LOST}"""
    assert said(judged(text)) == (["xid79-fell-off-bus"], [])
