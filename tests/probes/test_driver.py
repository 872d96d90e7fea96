"""libcuda in a child process: a fake library answers, hangs and crashes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gpudoctor import child
from gpudoctor.facts import DeviceNode, Libcuda, Unread
from gpudoctor.probes import driver, environment
from gpudoctor.probes.ask import Answers, Patient
from tests.building import Workshop, put

Make = Callable[..., Patient]


def ask(patient: Patient, limit_s: float = 10.0) -> Libcuda:
    answers = patient.ask([driver.CUDA], limit_s=limit_s, env={**patient.env, **driver.CUDA_ENV})
    return driver.read_libcuda(answers)


@pytest.mark.parametrize("code", [3, 34, 100, 802, 803, 804, 999])
def test_cuinit_answers(patient: Make, libcuda: str, code: int) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_INIT=str(code)))
    assert got.init_result == code
    assert got.no_answer is None
    assert got.path == f"{libcuda}/libcuda.so.1"
    assert got.api_version == 13000
    assert isinstance(got.devices, Unread)
    assert str(code) in got.devices.why


def test_devices(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_DEVICES="2"))
    assert got.init_result == 0
    assert isinstance(got.devices, tuple)
    assert [d.name for d in got.devices] == ["Fake GPU 0", "Fake GPU 1"]
    assert got.devices[1].uuid == "GPU-02020202-0202-0202-0202-020202020202"
    assert got.devices[1].pci_address == "0000:02:00.0"
    assert got.devices[1].compute_capability == (9, 0)
    assert got.devices[1].multiprocessors == 132


def test_what_a_device_is(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_DEVICES="1", FAKE_CUDA_PROHIBITED="1"))
    assert isinstance(got.devices, tuple)
    device = got.devices[0]
    assert (device.clock_khz, device.memory_clock_khz, device.memory_bus_bits) == (1980000, 3201000, 6016)
    assert (device.memory_total_bytes, device.l2_bytes) == (150754820096, 60 << 20)
    assert (device.compute_mode, device.integrated, device.multi_gpu_board) == (2, False, False)
    assert device.unified_addressing is True
    assert device.virtual_memory_management is True
    assert isinstance(device.gpu_direct_rdma, Unread)
    assert got.pairs == ()


@pytest.mark.parametrize(
    ("how", "reaches"), [("nvlink", (True, True)), ("pcie", (True, False)), ("none", (False, False))]
)
def test_which_gpus_reach_each_other(patient: Make, libcuda: str, how: str, reaches: tuple[bool, bool]) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_DEVICES="3", FAKE_CUDA_P2P=how))
    assert isinstance(got.pairs, tuple)
    assert [(p.device, p.peer) for p in got.pairs] == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert {(p.can_access, p.native_atomics) for p in got.pairs} == {reaches}
    assert {p.access_supported for p in got.pairs} == {reaches[0]}
    assert {p.performance_rank for p in got.pairs} == {0}


def test_asking_which_gpus_reach_each_other_hangs(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_DEVICES="2", FAKE_CUDA_P2P="hang"), limit_s=1.5)
    assert isinstance(got.devices, tuple)
    assert len(got.devices) == 2
    assert isinstance(got.pairs, Unread)
    assert "did not end within" in got.pairs.why


def test_where_the_loader_found_it(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=f"/nowhere:{libcuda}", FAKE_CUDA_DEVICES="1"))
    assert not isinstance(got.found_in, Unread)
    assert got.found_in is not None
    assert (got.found_in.directory, got.found_in.origin) == (libcuda, "LD_LIBRARY_PATH")
    assert got.log == ""


def test_cuinit_hangs(patient: Make, libcuda: str) -> None:
    started = time.monotonic()
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_INIT="hang"), limit_s=1.5)
    assert time.monotonic() - started < 5
    assert isinstance(got.no_answer, str)
    assert "did not end within" in got.no_answer
    assert isinstance(got.init_result, Unread)
    assert got.path == f"{libcuda}/libcuda.so.1"


def test_cuinit_crashes(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_INIT="crash"))
    assert isinstance(got.no_answer, str)
    assert "SIGSEGV" in got.no_answer


def test_loading_crashes(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda, FAKE_CUDA_LOAD="crash"))
    assert isinstance(got.no_answer, str)
    assert "SIGSEGV" in got.no_answer
    assert isinstance(got.path, Unread)


def test_no_libcuda(patient: Make) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has a driver")
    got = ask(patient())
    assert got.path is None
    assert "libcuda.so.1" in str(got.load_error)
    assert got.no_answer is None


@pytest.mark.parametrize(
    ("name", "text", "kernel", "version"),
    [
        ("libcuda.so.580.159.04", b"", None, "580.159.04"),
        ("libcuda.so.1", b"\0libfoo.so.570.86.15\0", None, "570.86.15"),
        ("libcuda.so.1", b"1.2.3 570.86.15 580.159.04 \0", "580.159.04", "580.159.04"),
        ("libcuda.so.1", b"nothing of the kind", None, None),
    ],
)
def test_the_release_of_a_file(
    patient: Make, tmp_path: Path, name: str, text: bytes, kernel: str | None, version: str | None
) -> None:
    if kernel is not None:
        (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
        (tmp_path / "proc/driver/nvidia/version").write_text(OPEN)
    (tmp_path / name).write_bytes(text)
    assert release(patient(), tmp_path / name, tmp_path) == version


def test_a_file_that_can_not_be_read_has_no_known_release(patient: Make, tmp_path: Path) -> None:
    assert isinstance(release(patient(), tmp_path / "missing", tmp_path), Unread)


def release(patient: Patient, path: Path, root: Path) -> str | Unread | None:
    asked = patient.ask([("driver.libcuda_release", {"path": str(path), "root": str(root)})], limit_s=10)
    return driver.read_release(asked, str(path))


def answers(**values: list[object]) -> Answers:
    return Answers(values, child.Outcome(b"", b"", None, None, True, 2.0), {})


PROC = {
    "proc": ["driver", "modules"],
    "gpus": [],
    "processes": {"running": ["nv-fabricmanage"]},
    "devices": {"text": "Character devices:\n195 nvidia\n238 nvidia-uvm\n"},
    "modules": {"text": "nvidia_uvm 1830912 - - Live 0x0 (O)\nnvidia 14299136 - - Live 0x0 (O)\nvirtio 1 0 - Live\n"},
}
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (nixbld@)  \nGCC version: x\n"
)
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 17 22:55:48 UTC 2024\nGCC version: x\n"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ({"text": OPEN}, ("580.159.04", "open")),
        ({"text": CLOSED}, ("535.161.08", "proprietary")),
        ({"errno": 2}, (None, None)),
    ],
)
def test_kernel_files(version: dict[str, object], expected: tuple[str | None, str | None]) -> None:
    got = driver.read_files(answers(driver_files=[{**PROC, "version": version}]))
    assert (got.kernel_version, got.kernel_flavour) == expected
    assert got.modules == ("nvidia", "nvidia_uvm")
    assert got.uvm_major == 238
    assert got.daemons == ("nv-fabricmanager",)


def test_kernel_files_that_can_not_be_read_are_unread() -> None:
    hidden = {
        "proc": 2,
        "version": {"errno": 2},
        "modules": {"errno": 2},
        "devices": {"errno": 2},
        "processes": 2,
        "gpus": 2,
    }
    got = driver.read_files(answers(driver_files=[hidden]))
    for value in (got.kernel_version, got.modules, got.uvm_major, got.daemons):
        assert isinstance(value, Unread)
    built_in = {**PROC, "version": {"errno": 2}, "proc": ["driver", "stat"], "modules": {"errno": 2}}
    assert driver.read_files(answers(driver_files=[built_in])).modules == ()
    refused = driver.read_files(answers(driver_files=[{**built_in, "modules": {"errno": 13}}]))
    assert isinstance(refused.modules, Unread)
    odd = driver.read_files(answers(driver_files=[{**PROC, "version": {"text": "something new"}}]))
    assert isinstance(odd.kernel_version, Unread)
    blocked = driver.read_files(answers(driver_files=[{**PROC, "version": {"errno": 13}}]))
    assert "EACCES" in str(blocked.kernel_version)


def test_a_node_whose_open_hangs() -> None:
    got = driver.read_nodes(
        answers(
            nodes=[{"names": ["nvidiactl", "nvidia0"]}],
            node=[
                {
                    "path": "/dev/nvidiactl",
                    "errno": None,
                    "major": 195,
                    "minor": 255,
                    "mode": 0o666,
                    "uid": 0,
                    "gid": 44,
                }
            ],
            node_opening=["/dev/nvidiactl", "/dev/nvidia0"],
        )
    )
    assert isinstance(got, tuple)
    assert got[0] == DeviceNode(
        path="/dev/nvidiactl", exists=True, major=195, minor=255, open_errno=None, mode=0o666, user_id=0, group_id=44
    )
    assert got[1].exists is True
    assert "did not end within" in str(got[1].open_errno)


def test_nodes_of_this_machine(patient: Make) -> None:
    got = driver.read_nodes(patient().ask([driver.NODES], limit_s=10))
    assert isinstance(got, tuple)
    for node in got:
        assert node.exists is os.path.exists(node.path)
    others = driver.read_other_nodes(patient().ask([driver.NODES], limit_s=10))
    assert isinstance(others, tuple)
    assert not {n.path for n in others} & {n.path for n in got}


def test_an_interpreter_that_is_slow_is_no_driver_that_hangs(patient: Make, libcuda: str) -> None:
    got = ask(patient(LD_LIBRARY_PATH=libcuda), limit_s=0.001)
    assert isinstance(got.no_answer, Unread)
    assert isinstance(got.path, Unread)


def test_bytes_that_are_no_text(patient: Make, libcuda: str) -> None:
    odd = os.fsdecode(b"/tmp/\xff")
    answers = patient(LD_LIBRARY_PATH=f"{odd}:{libcuda}").ask([environment.TASK, driver.CUDA], limit_s=10)
    seen = environment.read(answers).get("LD_LIBRARY_PATH")
    assert seen == f"/tmp/\ufffd:{libcuda}"
    msgspec.json.encode(environment.read(answers))


def test_a_file_of_another_name(patient: Make, libcuda: str, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    Path(libcuda, "libcuda.so.1").rename(tmp_path / "anything")
    (tmp_path / "links" / "libcuda.so.1").symlink_to(tmp_path / "anything")
    got = ask(patient(LD_LIBRARY_PATH=str(tmp_path / "links"), FAKE_CUDA_INIT="34"))
    assert got.path == str(tmp_path / "anything")
    assert got.init_result == 34
    assert not isinstance(got.found_in, Unread)
    assert got.found_in is not None
    assert got.found_in.directory == str(tmp_path / "links")


def test_a_libcuda_without_cuinit(patient: Make, workshop: Workshop, tmp_path: Path) -> None:
    put(workshop.stub("libcuda.so.1"), tmp_path, "libcuda.so.1")
    got = ask(patient(LD_LIBRARY_PATH=str(tmp_path)))
    assert "cuInit" in str(got.load_error)
    assert isinstance(got.init_result, Unread)
    assert got.no_answer is None
