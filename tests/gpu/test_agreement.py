"""nvidia-smi, pynvml in this process and gpudoctor say the same of the GPUs, field by field: `pytest -m gpu`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agreement import P2P, Said, differences, links, matrix, ours, smi
from tests.running import gpudoctor, report

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
]


@pytest.fixture(scope="module")
def gpu() -> dict[str, Any]:
    """The GPU subject of one quick run."""
    plain = ["--no-redact"] if "--no-redact" in gpudoctor("check", "--help", env={"COLUMNS": "200"}).stdout else []
    done = gpudoctor("check", "--level", "quick", "--format", "json", *plain)
    facts: dict[str, Any] = report(done)["facts"]["gpu"]
    assert isinstance(facts["devices"], list), facts["devices"]
    return facts


def nvidia_smi(*arguments: str) -> str:
    if shutil.which("nvidia-smi") is None:
        pytest.skip("nvidia-smi is not installed")
    done = subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip(
            f"nvidia-smi {' '.join(arguments)} ended with {done.returncode}: {(done.stderr or done.stdout)[:200]}"
        )
    return done.stdout


def no_difference(lines: list[str]) -> None:
    assert not lines, "\n" + "\n".join(lines)


def test_nvidia_smi(gpu: dict[str, Any]) -> None:
    said = smi(nvidia_smi("-q", "-x"))
    assert len(said) == len(gpu["devices"])
    no_difference(
        [
            line
            for mine, theirs in zip(gpu["devices"], said, strict=True)
            for line in differences(f"gpu{mine['index']}", ours(mine), theirs, "nvidia-smi -q -x")
        ]
    )


def test_nvlinks(gpu: dict[str, Any]) -> None:
    said = links(nvidia_smi("nvlink", "-s"))
    different = []
    for device in gpu["devices"]:
        theirs = {i: speed for i, speed in said.get(device["index"], {}).items() if speed is not None}
        mine = {link["index"]: link for link in device["nvlinks"] or () if link["active"]}
        if set(mine) != set(theirs):
            different.append(
                f"gpu{device['index']} nvlinks: gpudoctor {sorted(mine)}, nvidia-smi {sorted(theirs)} active"
            )
        for index in sorted(set(mine) & set(theirs)):
            speed = mine[index]["speed_mb_per_s"]
            if isinstance(speed, int) and abs(speed / 1000 - theirs[index]) > 0.01:
                different.append(
                    f"gpu{device['index']} link {index}: gpudoctor {speed} MB/s, nvidia-smi {theirs[index]} GB/s"
                )
    no_difference(different)


def pairs(gpu: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    found = {(p["first"], p["second"]): p for p in gpu["pairs"]}
    if not found:
        pytest.skip("there is one GPU only")
    return found


def test_topology(gpu: dict[str, Any]) -> None:
    mine, said, different = pairs(gpu), matrix(nvidia_smi("topo", "-m")), []
    assert set(mine) == set(said)
    for pair, word in said.items():
        if word.startswith("NV"):  # then the PCIe path is not shown
            to_switch = [
                link for link in gpu["devices"][pair[0]]["nvlinks"] if link["active"] and link["remote"] == "switch"
            ]
            if mine[pair]["nvlink"] != "ok" or (to_switch and len(to_switch) != int(word[2:])):
                different.append(f"{pair} nvlink: gpudoctor {mine[pair]['nvlink']} {len(to_switch)}, topo -m {word}")
        elif mine[pair]["topology"] != word:
            different.append(f"{pair} topology: gpudoctor {mine[pair]['topology']}, topo -m {word}")
    no_difference(different)


@pytest.mark.parametrize(("field", "letter"), [("read", "r"), ("nvlink", "n")])
def test_peer_access(gpu: dict[str, Any], field: str, letter: str) -> None:
    mine, said = pairs(gpu), matrix(nvidia_smi("topo", "-p2p", letter))
    no_difference(
        [
            f"{pair} {field}: gpudoctor {mine[pair][field]}, topo -p2p {letter} {word}"
            for pair, word in said.items()
            if mine[pair][field] != P2P.get(word, word)
        ]
    )


@pytest.fixture
def pynvml() -> Iterator[Any]:
    """NVML in this very process."""
    library = pytest.importorskip("pynvml")
    library.nvmlInit()
    yield library
    library.nvmlShutdown()


DIRECT = {
    "name": ("nvmlDeviceGetName",),
    "uuid": ("nvmlDeviceGetUUID",),
    "minor_number": ("nvmlDeviceGetMinorNumber",),
    "serial": ("nvmlDeviceGetSerial",),
    "vbios_version": ("nvmlDeviceGetVbiosVersion",),
    "clock_graphics_max_mhz": ("nvmlDeviceGetMaxClockInfo", 0),
    "clock_sm_max_mhz": ("nvmlDeviceGetMaxClockInfo", 1),
    "clock_memory_max_mhz": ("nvmlDeviceGetMaxClockInfo", 2),
    "pcie_generation_max": ("nvmlDeviceGetMaxPcieLinkGeneration",),
    "pcie_generation_gpu_max": ("nvmlDeviceGetGpuMaxPcieLinkGeneration",),
    "pcie_width_max": ("nvmlDeviceGetMaxPcieLinkWidth",),
    "ecc_volatile_uncorrected": ("nvmlDeviceGetTotalEccErrors", 1, 0),
    "ecc_aggregate_uncorrected": ("nvmlDeviceGetTotalEccErrors", 1, 1),
    "temperature_c": ("nvmlDeviceGetTemperature", 0),
    "temperature_slowdown_c": ("nvmlDeviceGetTemperatureThreshold", 1),
    "temperature_shutdown_c": ("nvmlDeviceGetTemperatureThreshold", 0),
}


def test_pynvml(gpu: dict[str, Any], pynvml: Any) -> None:
    assert pynvml.nvmlDeviceGetCount() == len(gpu["devices"])
    assert pynvml.nvmlSystemGetDriverVersion() == gpu["driver_version"]
    assert pynvml.nvmlSystemGetNVMLVersion() == gpu["nvml_version"]
    assert pynvml.nvmlSystemGetCudaDriverVersion_v2() == gpu["cuda_driver_version"]
    no_difference(
        [
            line
            for device in gpu["devices"]
            for line in differences(f"gpu{device['index']}", ours(device), direct(pynvml, device["index"]), "pynvml")
        ]
    )


def direct(n: Any, index: int) -> Said:
    """What NVML says of one GPU in this process."""
    handle = n.nvmlDeviceGetHandleByIndex(index)
    asked = {
        field: said(n, lambda f=function, r=rest: getattr(n, f)(handle, *r))
        for field, (function, *rest) in DIRECT.items()
    }
    asked["memory_total_bytes"] = said(n, lambda: n.nvmlDeviceGetMemoryInfo(handle).total)
    asked["ecc_mode"] = said(n, lambda: bool(n.nvmlDeviceGetEccMode(handle)[0]))
    asked["mig_mode"] = said(n, lambda: bool(n.nvmlDeviceGetMigMode(handle)[0]))
    asked["persistence_mode"] = said(n, lambda: bool(n.nvmlDeviceGetPersistenceMode(handle)))
    asked["power_limit_w"] = said(n, lambda: n.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000)
    return {field: value for field, value in asked.items() if value is not NOT_SAID}


NOT_SAID = object()


def said(n: Any, call: Any) -> Any:
    """What NVML says: None where this product does not have it; another error says nothing."""
    try:
        return call()
    except n.NVMLError as e:
        return None if e.value in (3, 6) else NOT_SAID
