"""The PCI bus of a made-up tree, read in a real child."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

from gpudoctor.facts import Pci, PciAcs, PciBar, PciDevice, Unread
from gpudoctor.probes import pci
from gpudoctor.probes.ask import Patient

Make = Callable[..., Patient]
ROOT_PORT, SWITCH, GPU, DISK = "0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:00:1f.0"
H200_RESOURCE = (
    "0x0000104003000000 0x0000104003ffffff 0x000000000014220c\n"
    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    "0x0000108000000000 0x000010bfffffffff 0x000000000014220c\n"
) + "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 4


class Bus:
    """A tree like /sys in a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/bus/pci/devices").mkdir(parents=True)

    def add(self, *place: str, uevent: str, **files: str | bytes) -> Path:
        """A device below the bridges that `place` names before it."""
        path = self.root.joinpath("sys/devices/pci0000:00", *place)
        path.mkdir(parents=True)
        (path / "uevent").write_text(uevent)
        for name, text in files.items():
            (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        link = self.root / "sys/bus/pci/devices" / place[-1]
        link.symlink_to(Path("../../../devices/pci0000:00", *place))
        return path

    def read(self, patient: Patient) -> dict[str, PciDevice]:
        devices = self.pci(patient).devices
        assert isinstance(devices, tuple)
        return {d.address: d for d in devices}

    def pci(self, patient: Patient) -> Pci:
        return pci.read(patient.ask([("pci.pci", {"root": str(self.root)})], limit_s=10))


def config(*capabilities: tuple[int, bytes]) -> bytes:
    """4096 bytes of configuration space with these extended capabilities."""
    space = bytearray(4096)
    at = 0x100
    for number, (capability, body) in enumerate(capabilities):
        following = at + 0x40 if number + 1 < len(capabilities) else 0
        space[at : at + 4] = struct.pack("<I", capability | 1 << 16 | following << 20)
        space[at + 4 : at + 4 + len(body)] = body
        at += 0x40
    return bytes(space)


BRIDGE = "DRIVER=pcieport\nPCI_CLASS=60400\nPCI_ID=8086:352A\n"


def bus(tmp_path: Path, port_config: bytes = b"\0" * 64) -> Bus:
    made = Bus(tmp_path)
    made.add(
        ROOT_PORT,
        uevent=BRIDGE,
        config=port_config,
        numa_node="1\n",
        aer_dev_fatal="Undefined 0\nDLP 2\nTOTAL_ERR_FATAL 2\n",
    )
    made.add(ROOT_PORT, SWITCH, uevent=BRIDGE, config=config((1, b""), (0x0D, struct.pack("<HH", 0x5F, 0x1D))))
    gpu = made.add(
        ROOT_PORT,
        SWITCH,
        GPU,
        uevent="DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2335\nPCI_SUBSYS_ID=10DE:18BF\n",
        subsystem_vendor="0x10de\n",
        subsystem_device="0x18bf\n",
        driver_override="(null)\n",
        enable="1\n",
        numa_node="-1\n",
        local_cpulist="0-31\n",
        power_state="D0\n",
        current_link_speed="2.5 GT/s PCIe\n",
        current_link_width="16\n",
        max_link_speed="32.0 GT/s PCIe\n",
        max_link_width="255\n",
        resource=H200_RESOURCE,
        resource2_resize="00000000000201c0\n",
    )
    group = tmp_path / "sys/kernel/iommu_groups/42"
    group.mkdir(parents=True)
    (group / "type").write_text("DMA-FQ\n")
    (gpu / "iommu_group").symlink_to("../../../../../kernel/iommu_groups/42")
    made.add(DISK, uevent="PCI_CLASS=10601\nPCI_ID=8086:A182\n", numa_node="0\n")
    return made


def test_a_gpu(patient: Make, tmp_path: Path) -> None:
    gpu = bus(tmp_path).read(patient())[GPU]
    assert gpu.is_nvidia_gpu
    assert (gpu.vendor, gpu.device, gpu.pci_class, gpu.driver) == (0x10DE, 0x2335, 0x030200, "nvidia")
    assert (gpu.subsystem_vendor, gpu.subsystem_device) == (0x10DE, 0x18BF)
    assert (gpu.parent, gpu.driver_override, gpu.enabled, gpu.power_state) == (SWITCH, None, True, "D0")
    assert gpu.numa_node is None
    assert gpu.local_cpus == "0-31"
    assert (gpu.link_speed_gt_per_s, gpu.link_width, gpu.max_link_speed_gt_per_s) == (2.5, 16, 32.0)
    assert isinstance(gpu.max_link_width, Unread)
    assert gpu.bars == (
        PciBar(index=0, size_bytes=1 << 24, possible_bytes=None),
        PciBar(index=2, size_bytes=1 << 38, possible_bytes=(64 << 20, 128 << 20, 256 << 20, 128 << 30)),
    )
    assert (gpu.iommu_group, gpu.iommu_type, gpu.physical_function) == (42, "DMA-FQ", None)
    assert (gpu.acs, gpu.aer_fatal) == (None, None)


def test_the_bridges_above_a_gpu(patient: Make, tmp_path: Path) -> None:
    got = bus(tmp_path).pci(patient())
    assert isinstance(got.devices, tuple)
    gpu = next(d for d in got.devices if d.address == GPU)
    switch, port = got.above(gpu)
    assert (switch.address, port.address) == (SWITCH, ROOT_PORT)
    assert switch.acs == PciAcs(capability=0x5F, control=0x1D)
    assert switch.acs.redirects
    assert (port.parent, port.numa_node, port.aer_fatal, port.iommu_group) == (None, 1, 2, None)


def test_configuration_space_that_is_cut_short(patient: Make, tmp_path: Path) -> None:
    acs = bus(tmp_path).read(patient())[ROOT_PORT].acs
    assert isinstance(acs, Unread)
    assert acs.settle == "sudo lspci -vvv"


def test_a_bridge_without_acs(patient: Make, tmp_path: Path) -> None:
    assert bus(tmp_path, config((1, b""), (3, b"\0\0"))).read(patient())[ROOT_PORT].acs is None
    loop = bytearray(config((1, b"")))
    loop[0x100:0x104] = struct.pack("<I", 1 | 0x100 << 20)
    assert bus(tmp_path / "loop", bytes(loop)).read(patient())[ROOT_PORT].acs is None
    dead = bus(tmp_path / "dead", b"\xff" * 4096).read(patient())[ROOT_PORT]
    assert dead.acs is None


def test_other_devices_are_read_as_little_as_before(patient: Make, tmp_path: Path) -> None:
    disk = bus(tmp_path).read(patient())[DISK]
    assert disk == PciDevice(address=DISK, vendor=0x8086, device=0xA182, pci_class=0x010601, driver=None)


def test_a_card_that_is_switched_off_is_not_asked(patient: Make, tmp_path: Path) -> None:
    made = Bus(tmp_path)
    made.add(
        GPU,
        uevent="PCI_CLASS=30000\nPCI_ID=10DE:1C8D\n",
        power_state="D3cold\n",
        current_link_speed="Unknown\n",
        current_link_width="63\n",
    )
    gpu = made.read(patient())[GPU]
    assert gpu.power_state == "D3cold"
    assert isinstance(gpu.link_speed_gt_per_s, Unread)
    assert "D3cold" in gpu.link_speed_gt_per_s.why


def test_files_that_are_hidden(patient: Make, tmp_path: Path) -> None:
    made = Bus(tmp_path)
    path = made.add(GPU, uevent="", vendor="0x10de\n", device="0x2335\n", **{"class": "0x030200\n"})
    (path / "numa_node").mkdir()  # reading it fails for every user
    (path / "uevent").unlink()
    (path / "driver").symlink_to("../../../bus/pci/drivers/vfio-pci")
    (path / "physfn").symlink_to("../0000:02:00.1")
    gpu = made.read(patient())[GPU]
    assert gpu.is_nvidia_gpu
    assert (gpu.driver, gpu.physical_function) == ("vfio-pci", "0000:02:00.1")
    assert isinstance(gpu.numa_node, Unread)
    assert gpu.link_width is None
    (path / "vendor").unlink()
    assert isinstance(made.read(patient())[GPU].vendor, Unread)


def test_a_bus_that_shows_nothing(patient: Make, tmp_path: Path) -> None:
    got = Bus(tmp_path).pci(patient())
    assert isinstance(got.devices, Unread)
    missing = pci.read(patient().ask([("pci.pci", {"root": str(tmp_path / "none")})], limit_s=10))
    assert "ENOENT" in str(missing.devices)


def test_a_host_of_500_devices_is_quick(patient: Make, tmp_path: Path) -> None:
    made = Bus(tmp_path)
    for number in range(500):
        made.add(f"0000:{number // 32:02x}:{number % 32:02x}.0", uevent="PCI_CLASS=88000\nPCI_ID=8086:0001\n")
    warm = patient().ask([], limit_s=10).outcome.seconds
    started = time.monotonic()
    assert len(made.read(patient())) == 500
    assert time.monotonic() - started < warm + 0.5
