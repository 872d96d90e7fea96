"""Causes of a driver that does not work which what happened before tells: what was built, a suspend, what was installed."""

from __future__ import annotations

from typing import Literal

from gpudoctor.checks._cuinit import NOT_READY, SUCCESS, UNKNOWN_ERROR, init_evidence, init_result
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import BuildLog, FabricManager, Facts, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails")


def _lines(facts: Facts, cause: str, settle: str) -> tuple[TextEvent, ...]:
    """The lines that decide; unknown where a text has none; nothing on a machine."""
    return decided(facts, cause) or (said(facts, "", settle=settle) if facts.text.is_all else ())


# ------------------------------------------------------------------- the module is not built

_NEWER = {
    "ubuntu": ("sudo apt-get update", "sudo ubuntu-drivers install", "sudo reboot"),
    "debian": (
        "sudo apt-get update",
        'sudo apt-get install -t "$(. /etc/os-release; echo "$VERSION_CODENAME")-backports" nvidia-driver',
        "sudo reboot",
    ),
    **dict.fromkeys(
        ("fedora", "rhel", "rocky", "almalinux", "ol", "amzn"),
        ("sudo dnf upgrade --refresh '*nvidia*'", "sudo reboot"),
    ),
    **dict.fromkeys(("arch", "manjaro", "endeavouros"), ("sudo pacman -Syu", "sudo reboot")),
    **dict.fromkeys(("opensuse-leap", "opensuse-tumbleweed", "sles"), ("sudo zypper update", "sudo reboot")),
}
"""ID of /etc/os-release -> how its newest driver comes."""


@check(
    "GD160",
    "driver-kernel-incompatible",
    stage=Stage.DRIVER,
    explains=(*_NO_GPU, *SHOWN, "driver-module-not-loaded"),
)
def driver_kernel_incompatible(facts: Facts) -> Findings:
    """The driver's kernel module can't be built for this kernel.

    What it looks at: where a GPU is on the bus, the kernel module is not loaded, and none lies under /lib/modules for the
    kernel that runs: the log of dkms's last build of the driver for this kernel (the end of /var/lib/dkms/nvidia/VERSION/build/
    make.log). It fires where that ends in errors of the compiler. In a pasted text, DKMS's 'Bad return status for module build'
    of nvidia, the installer's words for a build that failed, a kernel of a kind that the driver refuses (PREEMPT_RT, Xen), and
    symbols that the kernel keeps for GPL modules. Where headers, the compiler or room on the disk are missing it is another
    cause (driver-module-not-loaded).

    Why it matters: without its module for the running kernel the driver does not start. It happens when the kernel is newer
    than the driver knows.

    How to fix: install a newer release of the driver (or of the same branch), or start the kernel for which it was built.

    Source: dkms(8); NVIDIA driver installer, log; NVIDIA driver README, 'Minimum software requirements'.
    """
    if told := _lines(
        facts, "driver-kernel-incompatible", "dkms status; tail -n 50 /var/lib/dkms/nvidia/*/build/make.log"
    ):
        yield Found(
            message="The driver's kernel module is not built: this release of the driver does not know this kernel.",
            proof=lines(told),
            fixes=(
                Fix(
                    kind="advice",
                    risk="needs reboot",
                    summary="Install a newer driver, or start the kernel that worked (menu of the boot loader) and hold it "
                    "there (apt-mark hold). What the compiler said is in /var/lib/dkms/nvidia/VERSION/build/make.log",
                    steps=(),
                    verify="dkms status; nvidia-smi",
                ),
            ),
        )
        return
    if facts.driver.kernel_version is not None:
        return f"the kernel module {known(facts.driver.kernel_version)} is loaded"
    if known(facts.system.container) is not None:
        raise NotApplicable("the driver of a container is the host's")
    if not any(d.is_nvidia_gpu for d in known(facts.pci.devices)):
        raise NotApplicable("no NVIDIA GPU is on the PCI bus")
    log = known(facts.driver.build_log)
    if log is None:
        raise NotApplicable("dkms has no log of a build of the driver for this kernel")
    kernels = sorted({f.kernel for f in known(facts.driver.module_files)})
    library = facts.driver.libcuda.version
    if log.kernel in kernels:
        return f"the module is built for kernel {log.kernel}"
    if isinstance(library, str) and library != log.version:
        return f"dkms's log is of the driver {log.version}, the library of {library}"
    errors = [e for e in log.complaints if e.kind == "error"]
    if not errors or len(errors) < len(log.complaints):
        return "dkms's log ends in no errors of the compiler's alone"
    yield Found(
        message=f"The driver {log.version} can't be built for kernel {log.kernel}: the compiler stops with errors.",
        proof=(
            *(Evidence(text=e.text, source=log.path) for e in errors[:4]),
            Evidence(
                text=f"nvidia.ko is there for {', '.join(kernels) or 'no kernel'}; kernel {log.kernel} runs",
                source="/lib/modules",
            ),
        ),
        fixes=_newer_or_older(facts, log, kernels),
    )


def _newer_or_older(facts: Facts, log: BuildLog, kernels: list[str]) -> tuple[Fix, ...]:
    name = facts.system.distribution
    steps = _NEWER.get(name, ()) if isinstance(name, str) else ()
    newer = Fix(
        kind="command" if steps else "advice",
        risk="needs reboot",
        summary=f"Install a release of the driver that is newer than {log.version} and knows kernel {log.kernel}",
        steps=steps,
        verify="dkms status; nvidia-smi",
    )
    older = Fix(
        kind="advice",
        risk="needs reboot",
        summary=f"Or start kernel {' or '.join(kernels)}, for which the module is there (menu of the boot loader)",
        steps=(),
        verify="uname -r; nvidia-smi",
    )
    return (newer, older) if kernels else (newer,)


# ------------------------------------------------------------------- a suspend


@check("GD161", "cuinit-unknown-after-suspend", stage=Stage.NODES, explains=_NO_GPU)
def cuinit_unknown_after_suspend(facts: Facts) -> Findings:
    """CUDA does not start any more since the machine was suspended.

    What it looks at: cuInit's answer 999 (CUDA_ERROR_UNKNOWN), where NVML works, every device node opens, and kernel module and
    library are of one release; and whether the machine was suspended since it was started (/sys/power/suspend_stats, the
    kernel's log), with no nvidia-uvm loaded after that. In a pasted text, that answer together with words or lines of the
    kernel about suspend and resume, or a nvidia-uvm that is unloaded and loaded again. A missing /dev/nvidia-uvm gives the same
    answer, and goes before.

    Why it matters: the module nvidia-uvm does not survive the sleep where a program held the GPU; the screen and nvidia-smi
    go on working.

    How to fix: end the programs that use CUDA and load the module again; or reboot. For good: the driver's own services
    nvidia-suspend and nvidia-resume, with NVreg_PreserveVideoMemoryAllocations=1.

    Source: NVIDIA driver README, 'Configuring Power Management Support'.
    """
    if told := _lines(facts, "cuinit-unknown-after-suspend", _RELOAD):
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
        return
    answer = init_result(facts)
    if answer != UNKNOWN_ERROR:
        return f"cuInit answers {answer}"
    if not _all_else_is_well(facts):
        return f"cuInit answers {answer}, and module, nodes or NVML are not well either"
    slept = _slept(facts)
    if slept is None:
        return "the machine was not suspended since nvidia-uvm was loaded"
    yield Found(
        message="cuInit answers 999 since the machine was suspended: the module nvidia-uvm did not survive it.",
        proof=(init_evidence(facts.driver.libcuda), slept, *_preserved(facts)),
        fixes=_reload(facts),
    )


_RELOAD = "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"
_PRESERVE = "PreserveVideoMemoryAllocations"


def _all_else_is_well(facts: Facts) -> bool:
    """No other cause of that answer is there: module and library of one release, nodes that open, GPUs that answer."""
    kernel, library = known(facts.driver.kernel_version), facts.driver.libcuda.version
    if kernel is None or (isinstance(library, str) and library != kernel):
        return False
    nodes = {n.path: n for n in known(facts.driver.nodes)}
    if not {"/dev/nvidiactl", "/dev/nvidia-uvm"} <= set(nodes):
        return False
    if not all(known(n.exists) and known(n.open_errno) is None for n in nodes.values()):
        return False
    if known(nodes["/dev/nvidia-uvm"].major) != known(facts.driver.uvm_major):
        return False
    return known(facts.gpu.nvml_error) is None and all(d.nvml_error is None for d in known(facts.gpu.devices))


def _slept(facts: Facts) -> Evidence | None:
    """What tells that the machine was suspended, and nvidia-uvm not loaded anew after it; None: it was not so."""
    log = facts.system.kernel_log
    told = [e for e in log if e.kind in ("resumed", "uvm-loaded")] if not isinstance(log, Unread) else []
    if told:
        return Evidence(text=told[-1].text, source="the kernel's log") if told[-1].kind == "resumed" else None
    count = known(facts.system.suspends)
    if not count:
        return None
    times = "once" if count == 1 else f"{count} times"
    return Evidence(text=f"suspended {times} since the machine was started", source="/sys/power/suspend_stats/success")


def _preserved(facts: Facts) -> tuple[Evidence, ...]:
    parameters = facts.driver.parameters
    values = {} if isinstance(parameters, Unread) else {p.name: p.value for p in parameters or ()}
    if _PRESERVE not in values:
        return ()
    return (Evidence(text=f"{_PRESERVE}: {values[_PRESERVE]}", source="/proc/driver/nvidia/params"),)


def _reload(facts: Facts) -> tuple[Fix, ...]:
    devices = facts.gpu.devices
    listed = () if isinstance(devices, Unread) else devices
    held = [p for d in listed if isinstance(d.processes, tuple) for p in d.processes if p.kind == "compute"]
    names = {p.pid: f"{p.name if isinstance(p.name, str) else 'a program'} (PID {p.pid})" for p in held}
    first = f"End what holds the GPU ({', '.join(names.values())})" if names else "End every program that uses CUDA"
    inside = isinstance(facts.system.container, str)
    again = Fix(
        kind="advice" if inside else "command",
        risk="needs root",
        summary=f"On the host: {first}, containers too, then {_RELOAD}, and restart this container"
        if inside
        else f"{first}, containers too, and load the module again; where it stays in use, reboot",
        steps=() if inside else (_RELOAD,),
        verify="gpudoctor check",
    )
    lasting = Fix(
        kind="advice",
        risk="needs reboot",
        summary="For good: 'options nvidia NVreg_PreserveVideoMemoryAllocations=1' in /etc/modprobe.d, the services nvidia-suspend, "
        "nvidia-hibernate and nvidia-resume enabled, and a reboot; or end the programs that use CUDA before each suspend",
        steps=(),
        verify="grep PreserveVideoMemoryAllocations /proc/driver/nvidia/params",
    )
    return again, lasting


# ------------------------------------------------------------------- the fabric manager

_WAITING = (1, 2)
"""NVML's fabric states 'not started' and 'in progress'."""
_LAST_NAMED_BY_BRANCH = 580
"""NVIDIA's own packages carry the branch in their names up to this one; Ubuntu's do so for ever."""


@check(
    "GD162",
    "fabric-manager-version-mismatch",
    stage=Stage.DRIVER,
    explains=(*_NO_GPU, *SHOWN, "collective-fails", "fabric-manager-not-running"),
)
def fabric_manager_version_mismatch(facts: Facts) -> Findings:
    """The fabric manager is of another release than the driver.

    What it looks at: where cuInit answers 802 (CUDA_ERROR_SYSTEM_NOT_READY), or fails while NVML says that the fabric is not set
    up: the release of the fabric manager that is installed (its package; else what its file names) against the kernel
    module's. In a pasted text, nv-fabricmanager's own line: its driver interface version does not match the driver's.

    Why it matters: it ends at once, the NVLink switches stay unconfigured, and CUDA answers 802 (system not yet initialized).

    How to fix: install the fabric manager of exactly the driver's release (all parts of the number), and start it. After an
    update of the driver, reboot first.

    Source: NVIDIA Fabric Manager User Guide, 'Fabric Manager and driver version'.
    """
    if told := _lines(
        facts, "fabric-manager-version-mismatch", "nv-fabricmanager --version; cat /proc/driver/nvidia/version"
    ):
        yield _of_text(told)
        return
    result = init_result(facts)
    if result == SUCCESS or (result != NOT_READY and not _fabric_waits(facts)):
        return f"cuInit answers {result}"
    driver = known(facts.driver.kernel_version)
    if driver is None:
        raise NotApplicable("the NVIDIA kernel module is not loaded")
    container = known(facts.system.container)
    if container is not None:
        why = f"this is a {container} container: the fabric manager is the host's"
        raise UnknownFactError(Unread(why=why, settle="nv-fabricmanager --version, on the host"))
    manager = known(facts.driver.fabric_manager)
    if manager is None:
        raise NotApplicable("the fabric manager is not installed")
    version = known(manager.version)
    if version is None:
        raise UnknownFactError(Unread(why=f"{manager.path} names no release", settle="nv-fabricmanager --version"))
    if version == driver:
        return f"the fabric manager and the kernel module are of release {driver}"
    package = manager.package if isinstance(manager.package, str) else None
    yield Found(
        message=f"The fabric manager is of release {version}, the driver of {driver}.",
        proof=(
            init_evidence(facts.driver.libcuda),
            Evidence(
                text=f"{package} {manager.package_version}" if package else f"{manager.path} is of release {version}",
                source=f"{manager.manager}, package of {manager.path}" if package else manager.path,
            ),
            Evidence(text=f"kernel module {driver}", source="/proc/driver/nvidia/version"),
        ),
        fixes=(_same_release(facts, manager, driver),),
    )


def _fabric_waits(facts: Facts) -> bool:
    devices = facts.gpu.devices
    return not isinstance(devices, Unread) and any(d.fabric_state in _WAITING for d in devices)


def _of_text(told: tuple[TextEvent, ...]) -> Found:
    versions = {name: e.values[name] for e in told for name in ("kernel", "library") if name in e.values}
    names: dict[str, Literal["library", "kernel"]] = {"fabric-manager-release": "library", "driver-package": "kernel"}
    versions = {names[e.kind]: e.values["release"] for e in told if e.kind in names} | versions
    for banner in (e for e in told if e.kind == "nvidia-smi"):
        versions["kernel"] = banner.values["driver"]
    driver = versions.get("kernel", "the driver's release")
    return Found(
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


def _same_release(facts: Facts, manager: FabricManager, driver: str) -> Fix:
    install = _install(facts, manager, driver)
    where = "" if install else " (https://developer.download.nvidia.com/compute/nvidia-driver/redist/fabricmanager)"
    return Fix(
        kind="command" if install else "advice",
        risk="needs root",
        summary=f"Install the fabric manager of exactly the driver's release, {driver}, and start it{where}",
        steps=(install, "sudo systemctl restart nvidia-fabricmanager") if install else (),
        verify="systemctl status nvidia-fabricmanager",
    )


def _install(facts: Facts, manager: FabricManager, driver: str) -> str | None:
    """The line for this package manager; None where no package holds the file."""
    name, version = manager.package, manager.package_version
    if not isinstance(name, str):
        return None
    branch, plain = driver.partition(".")[0], name.rstrip("0123456789").rstrip("-")
    if manager.manager == "dpkg":
        named = int(branch) <= _LAST_NAMED_BY_BRANCH or "ubuntu" in str(version)
        wanted = f"{plain}-{branch}" if named else plain
        return f"sudo apt-get install -y --allow-downgrades '{wanted}={driver}-*'"
    wanted = f"{plain}-{branch}" if plain != name else plain
    distribution = facts.system.distribution
    if isinstance(distribution, str) and distribution.startswith(("opensuse", "sles")):
        return f"sudo zypper install -y --oldpackage '{wanted}={driver}'"
    return f"sudo dnf install -y '{wanted}-{driver}'"
