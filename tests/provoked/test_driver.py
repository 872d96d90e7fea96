"""The driver: installed, loaded, of one release, the right library, and the GPUs its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.provoked.case import Build, Case, prove
from tests.provoked.scene import LIBRARIES, RELEASE, Scene

UNLOADED = "umount /proc/devices || :; rm -rf /proc/driver/nvidia /dev/nvidia*; sed -i /DRIVER=/d /sys/bus/pci/devices/*/uevent"
KERNEL = "/lib/modules/$(uname -r)"


def does(*lines: str) -> Callable[[Scene], None]:
    def do(machine: Scene) -> None:
        machine.do("\n".join(lines))

    return do


def library(machine: Scene, directory: str, *defines: str, name: str = "libcuda.so.1") -> None:
    """Another libcuda in a directory of its own."""
    machine.do(f"mkdir -p '{directory}'; cp {machine.fake('libcuda.c', *defines)} '{directory}/{name}'")


def updated(machine: Scene) -> None:
    """The package manager brought another release, and nobody has rebooted."""
    machine.do(f"rm {LIBRARIES}/lib{{cuda,nvidia-ml}}.so.*")
    for source, name in (("libcuda.c", "libcuda"), ("libnvidia_ml.c", "libnvidia-ml")):
        made = machine.fake(source, 'RELEASE="580.171.01"')
        machine.do(
            f"cp {made} {LIBRARIES}/{name}.so.580.171.01; ln -s {name}.so.580.171.01 {LIBRARIES}/{name}.so.1; ldconfig"
        )


def older_library_on_the_path(machine: Scene) -> None:
    library(machine, "/opt/old driver", 'RELEASE="570.86.15"', name="libcuda.so.570.86.15")
    machine.do("cd '/opt/old driver'; ln -s libcuda.so.570.86.15 libcuda.so.1")
    machine.env["LD_LIBRARY_PATH"] = "/opt/old driver"


def stub_on_the_path(machine: Scene) -> None:
    library(machine, "/usr/local/cuda-12.4/lib64/stubs", "ANSWER=34")
    machine.env["LD_LIBRARY_PATH"] = "/usr/local/cuda-12.4/lib64/stubs:/nowhere"


def stub_in_the_cache(machine: Scene) -> None:
    library(machine, "/usr/local/cuda-12.4/lib64/stubs", "ANSWER=34")
    machine.put("/etc/ld.so.conf.d/000_cuda.conf", "/usr/local/cuda-12.4/lib64/stubs\n")
    machine.do("ldconfig")


def compat_on_the_path(machine: Scene) -> None:
    library(machine, "/usr/local/cuda-13.1/compat", 'RELEASE="590.44.01"', name="libcuda.so.590.44.01")
    machine.do("cd /usr/local/cuda-13.1/compat; ln -s libcuda.so.590.44.01 libcuda.so.1")
    machine.env["LD_LIBRARY_PATH"] = "/usr/local/cuda-13.1/compat"


def compat_in_the_cache(machine: Scene) -> None:
    library(machine, "/usr/local/cuda-13.1/compat", "ANSWER=804")
    machine.put("/etc/ld.so.conf.d/000_cuda.conf", "/usr/local/cuda-13.1/compat\n")
    machine.do("ldconfig")


def old_driver(machine: Scene) -> None:
    machine.do(f"rm {LIBRARIES}/lib{{cuda,nvidia-ml}}.so.*")
    for source, name in (("libcuda.c", "libcuda"), ("libnvidia_ml.c", "libnvidia-ml")):
        made = machine.fake(source, 'RELEASE="470.256.02"', "API=11040")
        machine.do(f"cp {made} {LIBRARIES}/{name}.so.470.256.02")
        machine.do(f"ln -s {name}.so.470.256.02 {LIBRARIES}/{name}.so.1; ldconfig")
    machine.do("echo 470.256.02 > /proc/driver/fake/module; modprobe nvidia")


def under_wsl(machine: Scene) -> None:
    """A Linux driver was installed where Windows' own is."""
    library(machine, "/usr/lib/wsl/lib", "WSL")
    machine.do(f"{UNLOADED}; rm -rf /sys/bus/pci/devices/*; mknod -m 666 /dev/dxg c 1 3")
    machine.put("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n")


def key_is_unknown(machine: Scene) -> None:
    machine.do(f"{UNLOADED}; mount -t tmpfs scene /sys/firmware; mkdir -p /sys/firmware/efi/efivars")
    machine.do(
        r"printf '\6\0\0\0\1' > /sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        "; touch /proc/driver/fake/secure-boot; ! modprobe nvidia"
    )


def build_that_fails(machine: Scene) -> None:
    """A new kernel was started; dkms could not build the driver for it."""
    machine.do(
        f"{UNLOADED}; rm -r {KERNEL}; mkdir -p /lib/modules/5.4.0-1/updates/dkms; : > /lib/modules/5.4.0-1/updates/dkms/nvidia.ko"
    )
    kernel, place = machine.do("uname -r").strip(), f"/var/lib/dkms/nvidia/{RELEASE}/build"
    text = f"DKMS make.log for nvidia-{RELEASE} for kernel {kernel} (x86_64)\n"
    text += f"{place}/nvidia/nv-caps.c:598:5: error: implicit declaration of function 'sys_close'\nmake: *** [Makefile:80: modules] Error 2\n"
    machine.put(f"{place}/make.log", text)
    machine.do(f"sed -i \"1r /dev/stdin\" {place}/make.log < <(yes '  CC [M]  nvidia/nv.o' | head -n 9000)")


def suspended(*lines: str) -> Callable[[Scene], None]:
    return does(
        "mount -t tmpfs scene /sys/power; mkdir /sys/power/suspend_stats",
        "echo 2 > /sys/power/suspend_stats/success",
        *lines,
    )


BROKEN = ": > /proc/driver/fake/uvm-did-not-survive"


def other_fabric_manager(machine: Scene) -> None:
    machine.do("mknod -m 666 /dev/nvidia-nvswitchctl c 1 3; apt-get install 'nvidia-fabricmanager-535=535.183.01-*'")
    machine.put("/usr/bin/nv-fabricmanager", "the manager")


def bound_to(driver: str) -> str:
    return f"{UNLOADED}; sed -i 1iDRIVER={driver} /sys/bus/pci/devices/*/uevent"


def damaged_on_the_path(machine: Scene) -> None:
    machine.put("/opt/driver/libcuda.so.1", "<html>404 Not Found</html>\n" * 9)
    machine.env["LD_LIBRARY_PATH"] = "/opt/driver"


CASES = (
    Case(
        "driver-missing",
        does(UNLOADED, f"rm {LIBRARIES}/libcuda.so.* {LIBRARIES}/libnvidia-ml.so.*; rm -r {KERNEL}; ldconfig"),
    ),
    Case("driver-library-mismatch", updated, "after an update"),
    Case("driver-library-mismatch", older_library_on_the_path, "by the variable"),
    Case("libcuda-stub-loaded", stub_on_the_path, "by the variable"),
    Case("libcuda-stub-loaded", stub_in_the_cache, "by the loader's cache"),
    Case("cuda-compat-unsupported", compat_on_the_path, "by the variable"),
    Case("cuda-compat-unsupported", compat_in_the_cache, "by the loader's cache"),
    Case("driver-libcuda-not-on-path", does("mkdir -p /usr/local/nvidia/lib64", f"mv {LIBRARIES}/libcuda.so.* /usr/local/nvidia/lib64", "ldconfig")),
    Case("driver-library-damaged", does(f"truncate -s 30 {LIBRARIES}/libcuda.so.1"), "cut short"),
    Case("driver-library-damaged", does(f"truncate -s 9000 {LIBRARIES}/libcuda.so.1"), "cut later"),
    Case("driver-library-damaged", does(f": > {LIBRARIES}/libcuda.so.1"), "empty"),
    Case("driver-library-damaged", damaged_on_the_path, "by the variable"),
    Case("driver-module-not-loaded", does(UNLOADED), "though it is there"),
    Case("driver-module-not-loaded", does(UNLOADED, f"rm -r {KERNEL}; mkdir -p /lib/modules/5.4.0-1/updates/dkms",
         ": > /lib/modules/5.4.0-1/updates/dkms/nvidia.ko"), "built for another kernel"),
    Case("driver-module-not-loaded", does(UNLOADED, f"rm -r {KERNEL}"), "built for none"),
    Case("driver-module-not-loaded", does(UNLOADED, "echo 'install nvidia /bin/false' > /etc/modprobe.d/x.conf"), "kept out"),
    Case("driver-nouveau-conflict", does(bound_to("nouveau"))),
    Case("gpu-bound-to-vfio", does(bound_to("vfio-pci"))),
    Case("driver-secure-boot", key_is_unknown),
    Case("driver-too-old", old_driver),
    Case("driver-kernel-incompatible", build_that_fails),
    Case("cuinit-unknown-after-suspend", suspended(BROKEN), "as the kernel counts"),
    Case("cuinit-unknown-after-suspend", does(BROKEN, "echo '6,900,900000000,-;PM: suspend exit' > /dev/kmsg"), "as its log says"),
    Case("cuinit-uvm-device-missing", suspended("rm /dev/nvidia-uvm"), "after a suspend"),
    Case("fabric-manager-version-mismatch", other_fabric_manager, "by its package"),
    Case("fabric-manager-version-mismatch", does("mknod -m 666 /dev/nvidia-nvswitchctl c 1 3",
         "printf 'release\\0 535.183.01\\0' > /usr/bin/nv-fabricmanager"), "by its file"),
    Case("fabric-manager-not-running", does("mknod -m 666 /dev/nvidia-nvswitchctl c 1 3")),
    Case("optimus-gpu-powered-off", does(UNLOADED, "echo off > /etc/prime-discrete"), "by prime-select"),
    Case("optimus-gpu-powered-off", does(UNLOADED, "mount -t tmpfs scene /proc/acpi", "echo 0000:01:00.0 OFF > /proc/acpi/bbswitch"),
         "by bbswitch"),
    Case("wsl-libcuda-path", under_wsl),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
