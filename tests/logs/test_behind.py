"""What lies behind the first that a line shows: the text tells it, it goes first, and nothing is asserted."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

HOOK = "docker: Error response from daemon: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.\n"
NO_NVML = (
    "docker: Error response from daemon: nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open "
    "shared object file: No such file or directory: unknown.\n"
)
HANDLE = "2021-03-02 10:00:00.123456: E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"
REFUSED = (
    "2021-03-02 10:00:00.023456: I tensorflow/stream_executor/cuda/cuda_driver.cc:789] failed to allocate 9.50G (10200547328 bytes) from "
    "device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
)
FABRIC = (
    "Error 802: system not yet initialized\n"
    "# systemctl start nvidia-fabricmanager\nJob for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
    "nvidia-fabric-manager-535.104.05-1.x86_64\n"
)
TOLD = [
    ("container-host-driver-broken", HOOK, "$ system76-power graphics\nintegrated\n", "optimus-gpu-powered-off"),
    (
        "container-host-driver-broken",
        HOOK,
        "[    7.1] Loading of module with unavailable key is rejected\n",
        "driver-secure-boot",
    ),
    (
        "container-host-driver-broken",
        HOOK,
        "$ uname -r\n6.1.0-21-amd64\n$ dkms status\nnvidia-current/525.147.05, 6.1.0-18-amd64, x86_64: installed\n",
        "driver-module-not-loaded",
    ),
    ("container-host-driver-broken", NO_NVML, "`lsmod | grep nvidia` prints nothing on the host\n", "driver-missing"),
    (
        "fabric-manager-not-running",
        FABRIC,
        "I upgraded the driver to 550.54.15 yesterday.\n",
        "fabric-manager-version-mismatch",
    ),
    ("gpu-memory-handle-alloc", HANDLE, REFUSED, "gpu-memory-held-by-other-process"),
]


@pytest.mark.parametrize(("shown", "lines", "told", "deeper"), TOLD)
def test_it_goes_first_and_both_are_candidates(shown: str, lines: str, told: str, deeper: str) -> None:
    report = judged(f"It does not work here\n\n{told}{lines}")
    roots, candidates = said(report)
    assert not roots
    assert candidates[:2] == [deeper, shown]


@pytest.mark.parametrize(("shown", "lines"), dict.fromkeys((one[0], one[1]) for one in TOLD))
def test_without_it_what_is_shown_stays(shown: str, lines: str) -> None:
    roots, _ = said(judged(f"It does not work here\n\n{lines}"))
    assert roots[:1] == [shown]


def test_a_module_of_the_running_kernel_is_nothing_deeper() -> None:
    same = "$ uname -r\n6.1.0-18-amd64\n$ dkms status\nnvidia-current/525.147.05, 6.1.0-18-amd64, x86_64: installed\n"
    roots, _ = said(judged(f"It does not work here\n\n{same}{HOOK}"))
    assert roots[:1] == ["container-host-driver-broken"]
