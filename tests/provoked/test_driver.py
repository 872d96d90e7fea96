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


def under_wsl_1(machine: Scene) -> None:
    """No kernel of its own, no GPU, no driver."""
    machine.do(
        f"cp {machine.fake('platform.c')} /usr/lib/libplatform.so; {UNLOADED}; rm -rf /sys/bus/pci/devices/*; rm -f {LIBRARIES}/lib{{cuda,nvidia-ml}}.so.*; ldconfig"
    )
    machine.env.update(LD_PRELOAD="/usr/lib/libplatform.so", FAKE_RELEASE="4.4.0-19041-Microsoft")


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
        "driver-missing", "no module, no library, nothing of a package",
        does(UNLOADED, f"rm {LIBRARIES}/libcuda.so.* {LIBRARIES}/libnvidia-ml.so.*; rm -r {KERNEL}; ldconfig"),
    ),
    Case("driver-library-mismatch", "newer libraries beside the loaded module, as after an update", updated),
    Case("driver-library-mismatch", "an older libcuda on LD_LIBRARY_PATH", older_library_on_the_path),
    Case("libcuda-stub-loaded", "a toolkit's stub on LD_LIBRARY_PATH", stub_on_the_path),
    Case("libcuda-stub-loaded", "a toolkit's stub in the loader's cache", stub_in_the_cache),
    Case("cuda-compat-unsupported", "a compat libcuda on LD_LIBRARY_PATH", compat_on_the_path),
    Case("cuda-compat-unsupported", "a compat libcuda in the loader's cache", compat_in_the_cache),
    Case("driver-libcuda-not-on-path", "libcuda moved to /usr/local/nvidia/lib64",
         does("mkdir -p /usr/local/nvidia/lib64", f"mv {LIBRARIES}/libcuda.so.* /usr/local/nvidia/lib64", "ldconfig")),
    Case("driver-module-not-loaded", "the module is built, and not loaded", does(UNLOADED)),
    Case("driver-module-not-loaded", "the module is built for another kernel",
         does(UNLOADED, f"rm -r {KERNEL}; mkdir -p /lib/modules/5.4.0-1/updates/dkms", ": > /lib/modules/5.4.0-1/updates/dkms/nvidia.ko")),
    Case("driver-module-not-loaded", "the module is built for no kernel", does(UNLOADED, f"rm -r {KERNEL}")),
    Case("driver-module-not-loaded", "a file of modprobe's keeps the module out",
         does(UNLOADED, "echo 'install nvidia /bin/false' > /etc/modprobe.d/x.conf")),
    Case("driver-nouveau-conflict", "nouveau holds the GPUs", does(bound_to("nouveau"))),
    Case("gpu-bound-to-vfio", "vfio-pci holds the GPUs", does(bound_to("vfio-pci"))),
    Case("driver-secure-boot", "Secure Boot's variable is set, and modprobe refuses the module's key", key_is_unknown),
    Case("driver-too-old", "module and libraries of release 470", old_driver),
    Case("fabric-manager-not-running", "NVSwitch nodes, and cuInit waits for the fabric", does("mknod -m 666 /dev/nvidia-nvswitchctl c 1 3")),
    Case("optimus-gpu-powered-off", "prime-select has the discrete GPU off", does(UNLOADED, "echo off > /etc/prime-discrete")),
    Case("optimus-gpu-powered-off", "bbswitch has the discrete GPU off",
         does(UNLOADED, "mount -t tmpfs scene /proc/acpi", "echo 0000:01:00.0 OFF > /proc/acpi/bbswitch")),
    Case("wsl-libcuda-path", "/dev/dxg, Windows' libcuda in /usr/lib/wsl/lib and a Linux one before it", under_wsl),
    Case("wsl1-no-gpu", "the release that WSL 1 tells, and neither GPU nor driver", under_wsl_1, elsewhere=True),
    Case("driver-library-damaged", "libcuda cut after 30 bytes", does(f"truncate -s 30 {LIBRARIES}/libcuda.so.1")),
    Case("driver-library-damaged", "libcuda cut after 9000 bytes", does(f"truncate -s 9000 {LIBRARIES}/libcuda.so.1")),
    Case("driver-library-damaged", "an empty libcuda", does(f": > {LIBRARIES}/libcuda.so.1")),
    Case("driver-library-damaged", "a web page as libcuda on LD_LIBRARY_PATH", damaged_on_the_path),
    Case("driver-kernel-incompatible", "a DKMS log that ends in a compiler's errors", build_that_fails),
    Case("cuinit-unknown-after-suspend", "a suspend that the kernel counts", suspended(BROKEN)),
    Case("cuinit-unknown-after-suspend", "a suspend in the kernel's log", does(BROKEN, "echo '6,900,900000000,-;PM: suspend exit' > /dev/kmsg")),
    Case("cuinit-uvm-device-missing", "no /dev/nvidia-uvm after a suspend", suspended("rm /dev/nvidia-uvm")),
    Case("fabric-manager-version-mismatch", "a fabric manager of another release, by its package", other_fabric_manager),
    Case("fabric-manager-version-mismatch", "a fabric manager of another release, by its file",
         does("mknod -m 666 /dev/nvidia-nvswitchctl c 1 3", "printf 'release\\0 535.183.01\\0' > /usr/bin/nv-fabricmanager")),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
