"""The kernel side of the driver, from a made-up tree, read in a real child."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import child
from gpudoctor.facts import BuildLog, DkmsBuild, Driver, DriverGpu, KernelModule, Major, ModuleFile, Parameter, Unread
from gpudoctor.probes import modules
from gpudoctor.probes.ask import Answers, Patient
from tests.interpreters import interpreters

Make = Callable[..., Patient]
RELEASE = "6.8.0-45-generic"
INFORMATION = """Model: \t\t NVIDIA H200
IRQ:   \t\t 41
GPU UUID: \t GPU-00000000-0000-4000-8000-000000000000
Video BIOS: \t 96.00.a5.00.1a
Bus Type: \t PCIe
Bus Location: \t 0000:00:06.0
Device Minor: \t 0
GPU Firmware: \t 580.159.04
GPU Excluded:\t No
"""
PARAMS = """ModifyDeviceFiles: 1
DeviceFileUID: 0
DeviceFileMode: 438
NvLinkDisable: 0
EnableGpuFirmware: 18
RegistryDwords: "RMForceStaticBar1=1;"
RmMsg: ""
"""
DEVICES = "Character devices:\n195 nvidia\n195 nvidiactl\n238 nvidia-uvm\n241 nvidia-caps\n  1 mem\n\nBlock devices:\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def read(patient: Patient, root: Path) -> Driver:
    task = ("modules.modules", {"release": RELEASE, "root": str(root)})
    fields: dict[str, Any] = modules.read(patient.ask([task], limit_s=10))
    return Driver(**fields)


def host(root: Path) -> Path:
    return tree(
        root,
        {
            "proc/driver/nvidia/params": PARAMS,
            "proc/driver/nvidia/gpus/0000:00:06.0/information": INFORMATION,
            "proc/driver/nvidia/gpus/0000:00:07.0/information": "Model: \t Unknown\nGPU UUID: \t GPU-????????-????\n"
            "Bus Location: \t 0000:00:07.0\nDevice Minor: \t 1\nGPU Excluded:\t Yes\n",
            "proc/driver/nvidia/capabilities/mig/config": "DeviceFileMinor: 1\n",
            "proc/devices": DEVICES,
            "proc/cmdline": "root=/dev/vda1 modprobe.blacklist=nouveau,nova_core quiet\n",
            "sys/module/nvidia/version": "580.159.04\n",
            "sys/module/nvidia/srcversion": "AB12\n",
            "sys/module/nvidia/taint": "OE\n",
            "sys/module/virtio/version": "1\n",
            "sys/module/nvidia_uvm/taint": "OE\n",
            f"lib/modules/{RELEASE}/updates/dkms/nvidia.ko.zst": "",
            f"lib/modules/{RELEASE}/updates/dkms/nvidia-uvm.ko.zst": "",
            f"lib/modules/{RELEASE}/kernel/drivers/net/dummy.ko": "",
            f"lib/modules/{RELEASE}/build/Makefile": "",
            "lib/modules/6.8.0-31-generic/kernel/nvidia-580/nvidia.ko": "",
            "var/lib/dkms/nvidia/580.159.04/6.8.0-45-generic/x86_64/module/nvidia.ko": "",
            "var/lib/dkms/nvidia/570.86.15/source/dkms.conf": "",
            "var/lib/dkms/zfs/2.2/6.8.0/x86_64/module/zfs.ko": "",
            "etc/modprobe.d/a.conf": "# blacklist amdgpu\nblacklist i2c_nvidia_gpu\nalias nouveau off\noptions nvidia x=1\n",
            "usr/lib/modprobe.d/b.conf": "install nvidia-drm /bin/false\nblacklist vfio-pci # why\n",
            "usr/lib/modprobe.d/b.conf.old": "blacklist nvidia\n",
        },
    )


def test_a_host_with_a_driver(patient: Make, tmp_path: Path) -> None:
    got = read(patient(), host(tmp_path))
    assert got.loaded == (
        KernelModule(name="nvidia", version="580.159.04", source_version="AB12", taint="OE"),
        KernelModule(name="nvidia_uvm", version=None, source_version=None, taint="OE"),
    )
    assert isinstance(got.parameters, tuple)
    assert Parameter(name="RegistryDwords", value="RMForceStaticBar1=1;") in got.parameters
    assert "RmMsg" not in [p.name for p in got.parameters]
    assert got.gpus == (
        DriverGpu(
            pci_address="0000:00:06.0",
            model="NVIDIA H200",
            uuid="GPU-00000000-0000-4000-8000-000000000000",
            minor=0,
            excluded=False,
            firmware="580.159.04",
        ),
        DriverGpu(pci_address="0000:00:07.0", model="Unknown", uuid=None, minor=1, excluded=True, firmware=None),
    )
    assert got.capabilities is True
    assert got.majors == (
        Major(name="nvidia", number=195),
        Major(name="nvidiactl", number=195),
        Major(name="nvidia-uvm", number=238),
        Major(name="nvidia-caps", number=241),
    )


def test_modules_on_disk(patient: Make, tmp_path: Path) -> None:
    got = read(patient(), host(tmp_path))
    assert got.kernels_on_disk == (RELEASE, "6.8.0-31-generic")
    assert got.module_files == (
        ModuleFile(kernel=RELEASE, path=f"/lib/modules/{RELEASE}/updates/dkms/nvidia-uvm.ko.zst"),
        ModuleFile(kernel=RELEASE, path=f"/lib/modules/{RELEASE}/updates/dkms/nvidia.ko.zst"),
        ModuleFile(kernel="6.8.0-31-generic", path="/lib/modules/6.8.0-31-generic/kernel/nvidia-580/nvidia.ko"),
    )
    assert got.kernel_headers is True
    assert got.dkms == (
        DkmsBuild(version="570.86.15", kernel=None),
        DkmsBuild(version="580.159.04", kernel=RELEASE),
    )


def test_what_is_kept_from_being_loaded(patient: Make, tmp_path: Path) -> None:
    got = read(patient(), host(tmp_path))
    assert got.blacklisted == ("nouveau", "nova_core", "nvidia_drm", "vfio_pci")


LOG = "var/lib/dkms/nvidia/580.159.04"
HEAD = "DKMS make.log for nvidia-580.159.04 for kernel {} (x86_64)\n"
ERROR = "/var/lib/dkms/nvidia/580.159.04/build/nvidia/nv.c:5:1: error: implicit declaration of function 'sys_close'"
COMPLAINTS = (
    (ERROR, "error"),
    ("nvidia/nv.h:9:10: fatal error: linux/gone.h: No such file or directory", "error"),
    ("ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol 'x'", "error"),
    ("make[1]: *** [Makefile:1851: /var/lib/dkms/nvidia/580/build] Error 2", "error"),
    ("/bin/sh: 1: gcc-12: not found", "no-compiler"),
    ("make[2]: gcc-12: No such file or directory", "no-compiler"),
    ("cc: error: unrecognized command-line option '-ftrivial-auto-var-init=zero'", "compiler-differs"),
    ("make: *** /lib/modules/6.8.0-45-generic/build: No such file or directory.  Stop.", "headers-missing"),
    ("nvidia/nv.c:1:1: fatal error: error writing to /tmp/cc.s: No space left on device", "no-room"),
    ("cc: fatal error: Killed signal terminated program cc1", "no-room"),
    ("warning: the compiler differs from the one used to build the kernel", None),
    ("  CC [M]  /var/lib/dkms/nvidia/580.159.04/build/nvidia/nv.o", None),
    ("nv.c:3:16: warning: this statement may fall through", None),
)


@pytest.mark.parametrize(("line", "kind"), COMPLAINTS)
def test_the_log_of_a_build(patient: Make, tmp_path: Path, line: str, kind: str | None) -> None:
    files = {
        f"{LOG}/build/make.log": HEAD.format(RELEASE) + f"  CC [M]  nv.o\n{line}\n",
        "var/lib/dkms/nvidia-fs/2.20/build/make.log": HEAD.format(RELEASE) + ERROR,
    }
    log = read(patient(), tree(tmp_path, files)).build_log
    assert isinstance(log, BuildLog)
    assert (log.path, log.version, log.kernel) == (f"/{LOG}/build/make.log", "580.159.04", RELEASE)
    assert [(e.kind, e.text) for e in log.complaints] == ([(kind, line)] if kind else [])


@pytest.mark.parametrize("python", interpreters().values())
def test_the_newest_log_for_this_kernel_counts(tmp_path: Path, python: str) -> None:
    files = {
        f"{LOG}/build/make.log": HEAD.format("6.8.0-31-generic") + ERROR,
        f"{LOG}/{RELEASE}/x86_64/log/make.log": HEAD.format(RELEASE),
        "var/lib/dkms/nvidia-srv/570.86.15/build/make.log": HEAD.format(RELEASE) + ERROR,
    }
    root = tree(tmp_path, files)
    os.utime(root / f"{LOG}/build/make.log", (300, 300))
    os.utime(root / f"{LOG}/{RELEASE}/x86_64/log/make.log", (200, 200))
    os.utime(root / "var/lib/dkms/nvidia-srv/570.86.15/build/make.log", (100, 100))
    log = read(Patient((python,), dict(os.environ)), root).build_log
    assert isinstance(log, BuildLog)
    assert (log.path, log.complaints) == (f"/{LOG}/{RELEASE}/x86_64/log/make.log", ())


def test_only_the_end_of_a_long_log_is_read(patient: Make, tmp_path: Path) -> None:
    first, last = ERROR.replace("sys_close", "first"), ERROR.replace("sys_close", "last")
    text = HEAD.format(RELEASE) + first + "\n" + "  CC [M]  nv.o\n" * 9000 + last + "\n"
    log = read(patient(), tree(tmp_path, {f"{LOG}/build/make.log": text})).build_log
    assert isinstance(log, BuildLog)
    assert [e.text for e in log.complaints] == [last]


def test_no_log_of_a_build(patient: Make, tmp_path: Path) -> None:
    assert read(patient(), tmp_path).build_log is None
    other = tree(tmp_path, {f"{LOG}/build/make.log": HEAD.format("5.4.0-1") + ERROR})
    assert read(patient(), other).build_log is None
    closed = modules.read(Answers({"modules": [{**blank(), "build_log": {"errno": 13}}]}, child.RUNNING, {}))[
        "build_log"
    ]
    assert isinstance(closed, Unread)
    assert "EACCES" in closed.why


def blank() -> dict[str, Any]:
    """What modules.modules answers where nothing can be read."""
    no = {"errno": 2}
    told: dict[str, Any] = dict.fromkeys(("devices", "params", "bbswitch", "prime", "disk"), no)
    return {**told, **dict.fromkeys(("loaded", "gpus", "nvidia", "dkms", "blacklisted"), 2)}


def test_headers_that_lead_nowhere(patient: Make, tmp_path: Path) -> None:
    (tmp_path / "lib/modules" / RELEASE).mkdir(parents=True)
    (tmp_path / "lib/modules" / RELEASE / "build").symlink_to("/usr/src/gone")
    got = read(patient(), tmp_path)
    assert (got.kernel_headers, got.module_files, got.kernels_on_disk) == (False, (), (RELEASE,))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("proc/acpi/bbswitch", "0000:01:00.0 OFF\n", "/proc/acpi/bbswitch: 0000:01:00.0 OFF"),
        ("proc/acpi/bbswitch", "0000:01:00.0 ON\n", None),
        ("etc/prime-discrete", "off\n", "/etc/prime-discrete: off"),
        ("etc/prime-discrete", "on-demand\n", None),
    ],
)
def test_a_laptop_gpu_that_is_switched_off(
    patient: Make, tmp_path: Path, path: str, text: str, expected: str | None
) -> None:
    assert read(patient(), tree(tmp_path, {path: text})).switched_off == expected


def test_a_host_without_any_of_it(patient: Make, tmp_path: Path) -> None:
    got = read(patient(), tmp_path)
    assert (got.parameters, got.gpus, got.capabilities) == (None, None, False)
    assert got.dkms == ()
    assert got.switched_off is None
    for value in (got.loaded, got.majors, got.module_files, got.kernel_headers, got.blacklisted):
        assert isinstance(value, Unread)


def test_no_answer(patient: Make) -> None:
    fields = modules.read(patient().ask([], limit_s=10))
    assert set(fields) <= set(Driver.__struct_fields__)
    assert all(isinstance(value, Unread) for value in fields.values())
