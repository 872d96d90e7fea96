"""NCCL's settings, the network and the library, read in real children."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.facts import (
    Distribution,
    Environment,
    LibraryPick,
    Nccl,
    NcclSetting,
    NetworkInterface,
    Python,
    RdmaPort,
    TensorFlow,
    Unread,
    Variable,
)
from gpudoctor.probes import nccl
from gpudoctor.probes.ask import NOT_ANSWERED, Patient
from tests.building import Workshop, put
from tests.probes.test_modules import tree

Make = Callable[..., Patient]
NOTHING = Environment(variables=())


def files(patient: Patient, root: Path, home: str = "") -> Nccl:
    answers = patient.ask([("nccl.nccl_files", {"root": str(root), "home": home})], limit_s=10)
    return nccl.read(answers, NOT_ANSWERED, TensorFlow(), Python())


def variables(**values: str) -> Environment:
    return Environment(variables=tuple(Variable(name=n, value=v) for n, v in values.items()))


CONF = "# NCCL_DEBUG=INFO\nNCCL_P2P_DISABLE=1\n NCCL_SHM_DISABLE=1\nexport NCCL_ALGO=Ring\nNCCL_P2P_DISABLE=0\nNCCL_SOCKET_IFNAME==eth0\n"


def test_configuration_files_as_nccl_reads_them(patient: Make, tmp_path: Path) -> None:
    tree(tmp_path, {"home/.nccl.conf": CONF, "etc/nccl.conf": "NCCL_P2P_DISABLE=0\nNCCL_MAX_NCHANNELS=1\nPATH=/x\n"})
    got = files(patient(), tmp_path, f"{tmp_path}/home")
    user, system = f"{tmp_path}/home/.nccl.conf", f"{tmp_path}/etc/nccl.conf"
    assert isinstance(got.files, tuple)
    assert [f.path for f in got.files] == [user, system]
    assert got.setting("NCCL_P2P_DISABLE", NOTHING) == NcclSetting(
        name="NCCL_P2P_DISABLE", value="1", file=user, line=2
    )
    assert got.setting("NCCL_SOCKET_IFNAME", NOTHING) == NcclSetting(
        name="NCCL_SOCKET_IFNAME", value="=eth0", file=user, line=6
    )
    channels = got.setting("NCCL_MAX_NCHANNELS", NOTHING)
    assert isinstance(channels, NcclSetting)
    assert channels.source == f"{system}, line 2"
    for name in ("NCCL_SHM_DISABLE", "NCCL_ALGO", "NCCL_DEBUG", "PATH"):
        assert got.setting(name, NOTHING) is None


def test_the_environment_counts_before_files(patient: Make, tmp_path: Path) -> None:
    tree(tmp_path, {"etc/nccl.conf": "NCCL_P2P_DISABLE=1\n"})
    got = files(patient(), tmp_path, "/nowhere")
    assert got.setting("NCCL_P2P_DISABLE", variables(NCCL_P2P_DISABLE="")) == NcclSetting(
        name="NCCL_P2P_DISABLE", value=""
    )
    hidden = Unread(why="hidden")
    assert got.setting("NCCL_P2P_DISABLE", Environment(variables=hidden)) == hidden
    assert isinstance(Nccl().setting("NCCL_P2P_DISABLE", NOTHING), Unread)


def test_a_file_that_is_named_stands_for_the_users(patient: Make, tmp_path: Path) -> None:
    tree(tmp_path, {"home/.nccl.conf": "NCCL_ALGO=Ring\n", "mine.conf": "NCCL_ALGO=Tree\n"})
    got = files(patient(NCCL_CONF_FILE=f"{tmp_path}/mine.conf"), tmp_path, f"{tmp_path}/home")
    algorithm = got.setting("NCCL_ALGO", NOTHING)
    assert isinstance(algorithm, NcclSetting)
    assert algorithm.value == "Tree"


def test_a_file_that_can_not_be_read_counts_for_nothing(patient: Make, tmp_path: Path) -> None:
    (tmp_path / "home/.nccl.conf").mkdir(parents=True)
    got = files(patient(), tmp_path, f"{tmp_path}/home")
    assert isinstance(got.files, tuple)
    assert got.files[0].exists is True
    assert isinstance(got.files[0].settings, Unread)
    assert got.files[1].exists is False
    assert got.setting("NCCL_ALGO", NOTHING) is None


def test_secrets_are_not_kept(patient: Make, tmp_path: Path) -> None:
    tree(tmp_path, {"etc/nccl.conf": "NCCL_NET_TOKEN=abc\n"})
    got = files(patient(), tmp_path, "/nowhere")
    assert got.setting("NCCL_NET_TOKEN", NOTHING) is None


def test_interfaces_and_rdma_ports(patient: Make, tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "sys/devices/pci0000:00/0000:00:03.0/net/eth0/flags": "0x1003\n",
            "sys/devices/pci0000:00/0000:00:03.0/net/eth0/operstate": "up\n",
            "sys/devices/pci0000:00/0000:00:03.0/net/eth0/mtu": "9000\n",
            "sys/devices/pci0000:00/0000:00:03.0/net/eth0/speed": "100000\n",
            "sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0/net/ib0/mtu": "2044\n",
            "sys/devices/virtual/net/docker0/flags": "0x1002\n",
            "sys/devices/virtual/net/docker0/operstate": "down\n",
            "sys/devices/virtual/net/docker0/speed": "-1\n",
            "sys/devices/virtual/net/lo/flags": "0x9\n",
            "sys/devices/virtual/net/lo/operstate": "unknown\n",
            "sys/class/net/bonding_masters": "\n",
            "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
            "sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand\n",
            "sys/class/infiniband/mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)\n",
            "sys/module/nvidia_peermem/refcnt": "0\n",
            "proc/net/if_inet6": "fe80000000000000021122fffe334455 02 40 20 80     eth0\n",
        },
    )
    for place in ("sys/class/infiniband/mlx5_0", "sys/devices/pci0000:00/0000:00:03.0/net/eth0"):
        there = "0000:00/0000:00:03.0" if "eth0" in place else "0000:10/0000:10:01.0/0000:11:00.0"
        (tmp_path / place / "device").symlink_to(tmp_path / f"sys/devices/pci{there}")
    (tmp_path / "sys/class/net/eth0").symlink_to("../../devices/pci0000:00/0000:00:03.0/net/eth0")
    for name in ("docker0", "lo"):
        (tmp_path / "sys/class/net" / name).symlink_to(f"../../devices/virtual/net/{name}")
    got = files(patient(), tmp_path)
    assert got.interfaces == (
        NetworkInterface(
            name="docker0", up=False, state="down", loopback=False, virtual=True, mtu=None, speed_mbit_per_s=None,
            addresses=(), pci_address=None,
        ),
        NetworkInterface(
            name="eth0", up=True, state="up", loopback=False, virtual=False, mtu=9000, speed_mbit_per_s=100000,
            addresses=("fe80::211:22ff:fe33:4455",), pci_address="0000:00:03.0",
        ),
        NetworkInterface(
            name="lo", up=True, state="unknown", loopback=True, virtual=True, mtu=None, speed_mbit_per_s=None,
            addresses=(), pci_address=None,
        ),
    )  # fmt: skip
    assert got.rdma_ports == (
        RdmaPort(
            device="mlx5_0",
            port=1,
            state="ACTIVE",
            link_layer="InfiniBand",
            rate="400 Gb/sec (4X NDR)",
            interfaces=("ib0",),
            pci_address="0000:11:00.0",
        ),
    )
    assert (got.peer_memory, got.gdrcopy) == (True, False)


def test_a_system_that_shows_nothing(patient: Make, tmp_path: Path) -> None:
    got = files(patient(), tmp_path)
    assert isinstance(got.interfaces, Unread)
    assert isinstance(got.peer_memory, Unread)
    assert got.rdma_ports == ()


def test_the_network_of_this_machine(patient: Make) -> None:
    got = nccl.read(patient().ask([nccl.FILES], limit_s=10), NOT_ANSWERED, TensorFlow(), Python())
    if isinstance(got.interfaces, Unread):
        pytest.skip("this machine shows no network")
    loopback = next(i for i in got.interfaces if i.loopback is True)
    assert isinstance(loopback.addresses, tuple)
    if loopback.up is True and not os.path.exists("/.dockerenv"):
        assert "127.0.0.1" in loopback.addresses


# ----------------------------------------------------------------------------- the library


@pytest.fixture
def library(workshop: Workshop, tmp_path: Path) -> str:
    return str(put(workshop.fake("libnccl.c", "libnccl.so.2"), tmp_path / "nvidia/nccl/lib", "libnccl.so.2"))


def version(
    patient: Patient, picked: str | None = None, python: Python | None = None, limit_s: float = 10
) -> tuple[object, object]:
    answers = patient.ask([nccl.VERSION], limit_s=limit_s)
    picks = () if picked is None else (LibraryPick(soname="libnccl.so.2", picked=picked, required=False),)
    got = nccl.read(NOT_ANSWERED, answers, TensorFlow(libraries=picks), python or Python())
    return got.library, got.version


def with_wheel(version: str) -> Python:
    return Python(distributions=(Distribution(name="nvidia-nccl-cu12", version=version, location="/site"),))


@pytest.mark.parametrize(("code", "text"), [("22707", "2.27.7"), ("23203", "2.32.3"), ("2708", "2.7.8")])
def test_the_version_on_the_path(patient: Make, library: str, code: str, text: str) -> None:
    there = patient(LD_LIBRARY_PATH=f"/nowhere:{os.path.dirname(library)}", FAKE_NCCL_VERSION=code)
    assert version(there, library) == (library, text)


def test_the_version_of_the_wheel(patient: Make, library: str, tmp_path: Path) -> None:
    assert version(patient(PYTHONPATH=str(tmp_path)), library) == (library, "2.27.7")


def test_loading_crashes_or_hangs(patient: Make, library: str) -> None:
    path = os.path.dirname(library)
    for how, word in (("crash", "SIGSEGV"), ("hang", "did not end within")):
        file, release = version(patient(LD_LIBRARY_PATH=path, FAKE_NCCL_LOAD=how), limit_s=1.5)
        assert isinstance(file, Unread)
        assert isinstance(release, Unread)
        assert word in release.why
    crashed = version(patient(LD_LIBRARY_PATH=path, FAKE_NCCL_LOAD="crash"), library, with_wheel("2.27.7"))
    assert crashed[1] == "2.27.7"


def test_another_file_than_tensorflow_picks(patient: Make, library: str) -> None:
    there = patient(LD_LIBRARY_PATH=os.path.dirname(library))
    file, release = version(there, "/usr/lib/libnccl.so.2", with_wheel("2.27.7"))
    assert file == "/usr/lib/libnccl.so.2"
    assert isinstance(release, Unread)
    assert "/usr/lib/libnccl.so.2" in release.why


def test_a_library_without_the_function(patient: Make, workshop: Workshop, tmp_path: Path) -> None:
    put(workshop.stub("libnccl.so.2"), tmp_path / "bad", "libnccl.so.2")
    _, release = version(patient(LD_LIBRARY_PATH=str(tmp_path / "bad")))
    assert isinstance(release, Unread)
    assert "ncclGetVersion" in release.why


def test_no_nccl_at_all(patient: Make) -> None:
    file, release = version(patient())
    if file is not None:
        pytest.skip("this machine has NCCL")
    assert release is None
