"""Causes of a driver that does not work which only a text tells: what was built, what happened before, which versions."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._driver_said import SHOWN, decided
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import Facts, TextEvent
from gpudoctor.findings import Fix, Found, Stage
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails")


def _lines(facts: Facts, cause: str, settle: str) -> tuple[TextEvent, ...]:
    """The lines that decide; unknown where the text has none."""
    return decided(facts, cause) or said(facts, "", settle=settle)


@check(
    "GD160",
    "driver-kernel-incompatible",
    stage=Stage.DRIVER,
    explains=(*_NO_GPU, *SHOWN, "driver-module-not-loaded"),
)
def driver_kernel_incompatible(facts: Facts) -> Iterator[Found]:
    """The driver's kernel module can't be built for this kernel.

    What it looks at: in a pasted text, DKMS's 'Bad return status for module build' of nvidia, the installer's words for a
    build that failed, a kernel of a kind that the driver refuses (PREEMPT_RT, Xen), and symbols that the kernel keeps for
    GPL modules. Where headers or the compiler are missing it is another cause (driver-module-not-loaded).

    Why it matters: without its module for the running kernel the driver does not start. It happens when the kernel is newer
    than the driver knows.

    How to fix: install a newer release of the driver (or of the same branch), or start the kernel for which it was built.

    Source: dkms(8); NVIDIA driver installer, log; NVIDIA driver README, 'Minimum software requirements'.
    """
    told = _lines(facts, "driver-kernel-incompatible", "dkms status; tail -n 50 /var/lib/dkms/nvidia/*/build/make.log")
    yield Found(
        message="The driver's kernel module is not built: this release of the driver does not know this kernel.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary="Install a newer driver, or start the kernel that worked (menu of the boot loader) and hold it there "
                "(apt-mark hold). What the compiler said is in /var/lib/dkms/nvidia/VERSION/build/make.log",
                steps=(),
                verify="dkms status; nvidia-smi",
            ),
        ),
    )


@check("GD161", "cuinit-unknown-after-suspend", stage=Stage.NODES, explains=_NO_GPU)
def cuinit_unknown_after_suspend(facts: Facts) -> Iterator[Found]:
    """CUDA does not start any more since the machine was suspended.

    What it looks at: in a pasted text, cuInit's answer 999 (CUDA_ERROR_UNKNOWN) together with words or lines of the kernel
    about suspend and resume. A missing /dev/nvidia-uvm gives the same answer, and goes before.

    Why it matters: the module nvidia-uvm does not survive the sleep where a program held the GPU; the screen and nvidia-smi
    go on working.

    How to fix: end the programs that use CUDA and load the module again; or reboot. For good: the driver's own services
    nvidia-suspend and nvidia-resume, with NVreg_PreserveVideoMemoryAllocations=1.

    Source: NVIDIA driver README, 'Configuring Power Management Support'.
    """
    told = _lines(facts, "cuinit-unknown-after-suspend", "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm")
    yield Found(
        message="cuInit answers 999 since the machine slept: the module nvidia-uvm did not survive it.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="End every program that uses CUDA, and load the module again; where it is in use, reboot",
                steps=("sudo rmmod nvidia_uvm", "sudo modprobe nvidia_uvm"),
                verify="gpudoctor check",
            ),
        ),
    )


@check(
    "GD162",
    "fabric-manager-version-mismatch",
    stage=Stage.DRIVER,
    explains=(*_NO_GPU, *SHOWN, "collective-fails", "fabric-manager-not-running"),
)
def fabric_manager_version_mismatch(facts: Facts) -> Iterator[Found]:
    """The fabric manager is of another release than the driver.

    What it looks at: in a pasted text, nv-fabricmanager's own line: its driver interface version does not match the
    driver's.

    Why it matters: it ends at once, the NVLink switches stay unconfigured, and CUDA answers 802 (system not yet initialized).

    How to fix: install the fabric manager of exactly the driver's release (all parts of the number), and start it. After an
    update of the driver, reboot first.

    Source: NVIDIA Fabric Manager User Guide, 'Fabric Manager and driver version'.
    """
    told = _lines(
        facts,
        "fabric-manager-version-mismatch",
        "nv-fabricmanager --version; cat /proc/driver/nvidia/version",
    )
    versions = {name: e.values[name] for e in told for name in ("kernel", "library") if name in e.values}
    driver = versions.get("kernel", "the driver's release")
    yield Found(
        message=f"The fabric manager is of release {versions.get('library', 'unknown')}, the driver of {driver}.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command" if "kernel" in versions else "advice",
                risk="needs root",
                summary="Install the fabric manager of the driver's release, and start it",
                steps=(
                    f"sudo apt-get install 'nvidia-fabricmanager*={driver}-*'",
                    "sudo systemctl restart nvidia-fabricmanager",
                )
                if "kernel" in versions
                else (),
                verify="systemctl status nvidia-fabricmanager",
            ),
        ),
    )
