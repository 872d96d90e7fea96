"""The comparison of tests/gpu/test_agreement.py, against what nvidia-smi printed on a host with two H200."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.agreement import P2P, Said, differences, links, matrix, ours, smi
from tests.factory import healthy

CAPTURES = Path(__file__).parent / "captures"


def capture(name: str) -> str:
    return (CAPTURES / name).read_text(encoding="utf-8")


def devices() -> list[dict[str, Any]]:
    """The GPUs of the healthy host, as they are written."""
    got: list[dict[str, Any]] = json.loads(msgspec.json.encode(healthy().gpu.devices))
    return got


def test_the_healthy_host_of_the_tests_is_the_recorded_one() -> None:
    """So its fields have the names and the units that the comparison uses."""
    said = smi(capture("nvidia-smi-q-x.xml"))
    assert len(said) == 2
    for index, (mine, theirs) in enumerate(zip(devices(), said, strict=True)):
        anonymous = {name: value for name, value in theirs.items() if name not in ("serial", "uuid")}
        assert differences(f"gpu{index}", ours(mine), anonymous, "nvidia-smi") == []


def test_most_of_it_is_said() -> None:
    said = smi(capture("nvidia-smi-q-x.xml"))[0]
    assert len(said) > 32
    assert said["memory_total_mib"] == 143771
    assert said["virtualization_mode"] == "pass-through"
    assert (said["rows_remapped_uncorrectable"], said["row_remap_pending"]) == (0, False)
    assert (said["power_limit_w"], said["pcie_width_max"], said["recovery_action"]) == (700.0, 16, "none")


def test_a_difference_names_the_field() -> None:
    mine: Said = {"power_limit_w": 700.0, "ecc_mode": {"is": "unread", "why": "NVML: no"}, "name": None}
    theirs: Said = {"power_limit_w": 650.0, "ecc_mode": True, "name": "H200", "uuid": "GPU-1"}
    assert differences("gpu1", mine, theirs, "nvidia-smi") == [
        "gpu1 power_limit_w: gpudoctor says 700.0, nvidia-smi 650.0",
        "gpu1 ecc_mode: gpudoctor could not read it (NVML: no), nvidia-smi says True",
        "gpu1 name: gpudoctor says None, nvidia-smi 'H200'",
        "gpu1 uuid: gpudoctor has no such field, nvidia-smi says 'GPU-1'",
    ]
    assert differences("gpu1", {"temperature_c": 40}, {"temperature_c": 45}, "nvidia-smi") == []


def test_links() -> None:
    got = links(capture("nvidia-smi-nvlink-s.txt"))
    assert {gpu: len(each) for gpu, each in got.items()} == {0: 18, 1: 18}
    assert got[1][17] == 26.562
    assert links("GPU 0: A (UUID: GPU-1)\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n") == {0: {0: 25.0, 1: None}}
    assert links("GPU 0: A (UUID: GPU-1)\nUnable to retrieve NVLink information as all links are inActive\n") == {0: {}}


def test_topology() -> None:
    assert matrix(capture("nvidia-smi-topo-m.txt")) == {(0, 1): "NV18"}
    assert matrix(capture("nvidia-smi-topo-p2p-r.txt")) == {(0, 1): "OK"}
    with_nics = "\tGPU0\tNIC0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tPXB\tPIX\tSYS\t0-31\nNIC0\tPXB\t X \tSYS\tSYS\t\n"
    assert matrix(with_nics + "GPU1\tPIX\tSYS\t X \tSYS\t0-31\n") == {(0, 1): "PIX", (0, 2): "SYS", (1, 2): "SYS"}
    assert P2P["OK"] == "ok"


def test_mig_instances() -> None:
    text = (
        "<nvidia_smi_log><gpu id='1'><mig_mode><current_mig>Enabled</current_mig></mig_mode><mig_devices><mig_device>"
        "<index>0</index><gpu_instance_id>7</gpu_instance_id><compute_instance_id>0</compute_instance_id>"
        "</mig_device></mig_devices></gpu></nvidia_smi_log>"
    )
    assert smi(text) == [{"mig_mode": True, "mig_instances": [(7, 0)]}]
    mine = {"mig_mode": True, "mig_devices": [{"gpu_instance": 7, "compute_instance": 0}]}
    assert differences("gpu0", ours(mine), smi(text)[0], "nvidia-smi") == []
