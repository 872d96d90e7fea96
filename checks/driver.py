"""The driver: there, of one release, ready; and what cuInit answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor import compat
from gpudoctor.checks import _driver_release
from gpudoctor.checks._cuinit import NO_DEVICE, NOT_READY, SUCCESS, answered, init_evidence, init_result, own_libraries
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._gpus import on_bus
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import check, symptom


@symptom("GD150", "cuinit-no-device", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_no_device(facts: Facts) -> Findings:
    """The driver finds no device for this process.

    What it looks at: cuInit(0), called in a child process with this environment's libcuda.so.1.
    100 is CUDA_ERROR_NO_DEVICE: the library works and finds nothing that it may use.

    Why it matters: TensorFlow asks the same question first and registers no GPU.

    Source: CUDA Driver API, CUresult.
    """
    if (result := init_result(facts)) == NO_DEVICE:
        yield Found(message=answered(NO_DEVICE), proof=(init_evidence(facts.driver.libcuda),))
    return f"cuInit answers {result}"


@symptom("GD151", "cuinit-fails", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_fails(facts: Facts) -> Findings:
    """The driver library does not initialise.

    What it looks at: cuInit(0), called in a child process with this environment's libcuda.so.1; any
    answer but 0 (success) and 100 (no device).

    Why it matters: TensorFlow asks the same question first and registers no GPU.

    Source: CUDA Driver API, CUresult.
    """
    result = init_result(facts)
    if result not in (SUCCESS, NO_DEVICE):
        yield Found(message=answered(result), proof=(init_evidence(facts.driver.libcuda),))
    return f"cuInit answers {result}"


@symptom("GD152", "cuinit-no-answer", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_no_answer(facts: Facts) -> Findings:
    """The driver library hangs or crashes.

    What it looks at: whether the child process that loads libcuda.so.1 and calls cuInit(0) ends with an
    answer, or is killed at its time limit, or by a signal.

    Why it matters: every CUDA program on this machine hangs or crashes the same way. A hang usually
    means a wedged GPU or driver (look for Xid lines in the kernel log); a crash, a damaged libcuda.

    Source: observed; the child is gpudoctor's own.
    """
    lib = facts.driver.libcuda
    how = known(lib.no_answer)
    if how is not None:
        where = lib.path if isinstance(lib.path, str) else "libcuda.so.1"
        yield Found(
            message=f"{how[:1].upper()}{how[1:]}. If it hangs, look for a wedged GPU: sudo dmesg | grep -iE 'nvrm|xid'",
            proof=(Evidence(text=how, source=f"{where}, asked in a child process"),),
        )
    return "libcuda gives its answers" if lib.path is not None else "there is no libcuda.so.1 that could hang"


@symptom("GD153", "libcuda-not-found", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def libcuda_not_found(facts: Facts) -> Findings:
    """The driver's library libcuda.so.1 can't be loaded.

    What it looks at: whether a child process of the examined interpreter can load libcuda.so.1.

    Why it matters: every CUDA program needs it; TensorFlow registers no GPU without.

    Source: ld.so(8); the child is gpudoctor's own.
    """
    lib = facts.driver.libcuda
    if known(lib.path) is None:
        text = known(lib.load_error) or "not found"
        yield Found(message=text, proof=(Evidence(text=text, source="dynamic loader, in a child process"),))
    return f"libcuda.so.1 is {short(lib.path)}"


@symptom("GD154", "nvidia-smi-fails", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def nvidia_smi_fails(facts: Facts) -> Iterator[Found]:
    """nvidia-smi shows no GPU.

    What it looks at: in a pasted text, nvidia-smi's own error, or that it finds no device, or that it has lost one. On a
    machine that is examined the checks ask NVML themselves.

    Why it matters: nvidia-smi asks the driver alone. Where it fails, nothing in Python is at fault.

    Source: NVML, nvmlReturn_t; nvidia-smi(1).
    """
    if not facts.text.is_all:
        raise NotApplicable("only a text shows it (gpudoctor log)")
    said = facts.gpu.nvml_error_text
    if known(facts.gpu.nvml_error) is not None:
        text = said if isinstance(said, str) else "NVML does not start"
        yield Found(message=f"nvidia-smi fails: {text}", proof=(Evidence(text=text, source="nvidia-smi"),))
    elif facts.gpu.devices == ():
        text = "No devices were found"
        yield Found(message=f"nvidia-smi: {text}", proof=(Evidence(text=text, source="nvidia-smi"),))


@check(
    "GD101",
    "driver-missing",
    stage=Stage.DRIVER,
    explains=(*SHOWN, "tf-lists-no-gpu", "libcuda-not-found"),
)
def driver_missing(facts: Facts) -> Findings:
    """A GPU is there and the NVIDIA driver is not installed.

    What it looks at: the PCI bus, /proc/driver/nvidia/version (the kernel module), and every libcuda.so.1
    on this machine. It fires where the user library is nowhere to be found, on a machine that is no
    container: inside one the driver is handed over from the host, and its absence has another cause.

    Why it matters: TensorFlow, CUDA and nvidia-smi all speak to the GPU through the driver. The CUDA
    toolkit and the pip packages do not contain it.

    How to fix: install the distribution's driver package and reboot. CUDA 12 needs 525.60.13 or newer,
    CUDA 13 needs 580.65.06 or newer.

    Source: NVIDIA, CUDA minor-version compatibility (compat/matrix.json, cuda_majors).
    """
    if told := decided(facts, "driver-missing"):
        yield Found(
            message="The GPU is on the bus, and neither nvidia-smi nor libcuda.so.1 is installed.",
            proof=lines(told),
            fixes=(_install_driver(facts),),
        )
        return
    lib = facts.driver.libcuda
    if lib.path is not None and not isinstance(lib.path, Unread):
        return f"libcuda.so.1 is {short(lib.path)}"
    gpus = [d for d in known(facts.pci.devices) if d.is_nvidia_gpu]
    if not gpus:
        raise NotApplicable("no NVIDIA GPU is on the PCI bus")
    known(lib.path)
    if own_libraries(known(lib.candidates)) or _dropped_by_sudo(facts):
        return "a libcuda.so.1 of the driver is here, and not on the loader's path"
    container = known(facts.system.container)
    if container is not None:
        raise UnknownFactError(
            Unread(why=f"this is a {container} container: the driver is the host's", settle="nvidia-smi, on the host")
        )
    kernel = known(facts.driver.kernel_version)
    state = "is not loaded" if kernel is None else f"is loaded ({kernel}), without its user-space libraries"
    bound = sorted({str(d.driver) for d in gpus if isinstance(d.driver, str) and d.driver != "nvidia"})
    by_whom = f", bound to {', '.join(bound)}" if bound else ""
    yield Found(
        message=f"The GPU is on the bus, and no libcuda.so.1 is on this machine; the kernel module {state}.",
        proof=(
            Evidence(
                text=f"{len(gpus)} NVIDIA GPU(s): {', '.join(on_bus(d) for d in gpus)}{by_whom}", source="/sys/bus/pci"
            ),
            Evidence(text=f"libcuda.so.1: {known(lib.load_error) or 'not found'}", source="dynamic loader"),
            Evidence(text=f"the NVIDIA kernel module {state}", source="/proc/driver/nvidia/version"),
        ),
        fixes=(_install_driver(facts),),
    )


def _dropped_by_sudo(facts: Facts) -> bool:
    """The library lies on the path that sudo took away (sudo-stripped-environment)."""
    dropped = facts.environment.dropped_libraries
    return isinstance(dropped, tuple) and any(path.endswith("/libcuda.so.1") for path in dropped)


_INSTALL = {
    "ubuntu": ("sudo ubuntu-drivers install", "sudo reboot"),
    "debian": ("sudo apt-get install nvidia-driver", "sudo reboot"),
    "fedora": ("sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda", "sudo reboot"),
    "arch": ("sudo pacman -S nvidia-open", "sudo reboot"),
    "opensuse-leap": ("sudo zypper install nvidia-open-driver-G06-signed-kmp-default", "sudo reboot"),
}


def _install_driver(facts: Facts) -> Fix:
    cuda = facts.tensorflow.build.cuda_version
    floor = compat.minimum_driver(cuda) if isinstance(cuda, str) else None
    needs = f" (this TensorFlow's CUDA {cuda} needs {floor.linux} or newer)" if floor is not None else ""
    name = facts.system.distribution
    steps = _INSTALL.get(name, ()) if isinstance(name, str) else ()
    return Fix(
        kind="command" if steps else "advice",
        risk="needs reboot",
        summary=f"Install NVIDIA's driver{needs}" + ("" if steps else ": https://www.nvidia.com/drivers"),
        steps=steps,
        verify="nvidia-smi",
    )


@check(
    "GD106",
    "fabric-manager-not-running",
    stage=Stage.DRIVER,
    explains=("collective-fails", *SHOWN, "tf-lists-no-gpu", "cuinit-fails"),
)
def fabric_manager_not_running(facts: Facts) -> Findings:
    """The fabric manager that an NVSwitch machine needs is not running.

    What it looks at: cuInit's answer 802 (CUDA_ERROR_SYSTEM_NOT_READY) and whether a process
    nv-fabricmanager is visible; in a pasted text also nvidia-smi's state of the fabric ('In Progress') where no GPU is found. Without 802 its absence is no fault: machines without NVSwitch need none,
    and in a virtual machine it runs on the host.

    Why it matters: on HGX and DGX machines CUDA does not start before the fabric manager has set up the
    NVLink switches, although nvidia-smi lists every GPU.

    How to fix: install the fabric manager of exactly the driver's release, and start it. On a machine in
    confidential-computing mode 802 means that the GPUs were not set ready (nvidia-smi conf-compute -srs 1).

    Source: NVIDIA Fabric Manager User Guide; CUDA Driver API, CUresult 802.
    """
    if told := decided(facts, "fabric-manager-not-running"):
        yield Found(
            message="The fabric manager, which an NVSwitch machine needs, does not run.",
            proof=lines(told),
            fixes=(_start_fabric_manager(facts),),
        )
        return
    lib = facts.driver.libcuda
    if init_result(facts) != NOT_READY:
        return f"cuInit answers {lib.init_result}"
    if "nv-fabricmanager" in known(facts.driver.daemons):
        return "nv-fabricmanager is running"
    inside = isinstance(facts.system.container, str)
    yield Found(
        message="cuInit waits for the NVLink fabric, and no fabric manager is running"
        + (" that this container could see." if inside else "."),
        proof=(init_evidence(lib), Evidence(text="no process nv-fabricmanager", source="/proc")),
        fixes=(_start_fabric_manager(facts),),
    )


def _start_fabric_manager(facts: Facts) -> Fix:
    kernel = facts.driver.kernel_version
    branch = kernel.split(".")[0] if isinstance(kernel, str) else None
    package = f"nvidia-fabricmanager-{branch}" if branch else "nvidia-fabricmanager"
    inside = isinstance(facts.system.container, str)
    return Fix(
        kind="command",
        risk="needs root",
        summary=f"Install the fabric manager of the driver's own release ({package}) and start it"
        + (", on the host" if inside else ""),
        steps=("sudo systemctl enable --now nvidia-fabricmanager",),
        verify="systemctl status nvidia-fabricmanager",
    )


@check(
    "GD114",
    "driver-too-old",
    stage=Stage.DRIVER,
    explains=(
        "tf-lists-no-gpu",
        "op-fails",
        "driver-too-old-for-ptx",
        "gpu-too-new-for-build",
        "gpu-memory-handle-alloc",
    ),
)
def driver_too_old(facts: Facts) -> Findings:
    """The driver is older than the CUDA version that this TensorFlow is built for.

    What it looks at: the CUDA version in TensorFlow's build_info.py, and the driver: the CUDA version that the driver
    answers (cuDriverGetVersion, where cuInit works), else the release of its kernel module, against the oldest one
    that runs this CUDA major version. A newer minor version alone is no fault.

    Why it matters: the CUDA libraries of this TensorFlow refuse to start (CUDA driver version is insufficient for CUDA
    runtime version), and it registers no GPU.

    How to fix: install a newer driver, on the host, or an older TensorFlow that is built for the driver's CUDA.

    Source: NVIDIA, CUDA minor-version compatibility (compat/matrix.json, cuda_majors).
    """
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    if facts.text.is_all and (enough := _driver_release.new_enough(facts)):
        return f"the driver is of release {enough[0]}, which CUDA {enough[1]} takes"
    refused = facts.tensorflow.said("driver-insufficient")
    if facts.text.is_all and not isinstance(refused, Unread) and refused:
        yield Found(
            message="The driver is older than the CUDA runtime that this program uses, and refuses it.",
            proof=tuple(Evidence(text=e.text, source="TensorFlow") for e in refused[:1]),
            fixes=(_install_driver(facts),),
        )
        return
    if facts.text.is_all and (lines_of_others := facts.text.said("driver-refused")):
        yield Found(
            message="The driver is older than the CUDA runtime that this program uses.",
            proof=lines(lines_of_others),
            fixes=(_install_driver(facts),),
        )
        return
    if facts.text.is_all and (told := _driver_release.suspected(facts)):
        event, has, whose, least = told
        yield Found(
            message=f"The driver is of release {has}; the CUDA {whose} needs {least} or newer.",
            proof=lines((event,)),
            fixes=(_install_driver(facts),),
        )
        return
    build = facts.tensorflow.build
    cuda = known(build.cuda_version) if known(build.cuda) else None
    floor = compat.minimum_driver(cuda) if cuda is not None else None
    if cuda is None or floor is None:
        raise NotApplicable("this TensorFlow is built without CUDA, or for one whose drivers are not known here")
    lib = facts.driver.libcuda
    if lib.init_result == SUCCESS:
        api = known(lib.api_version)
        too_old = api // 1000 < floor.cuda
        has, source = f"CUDA {lib.cuda}", "cuDriverGetVersion"
    else:
        release = known(facts.driver.kernel_version)
        if release is None:
            raise NotApplicable("the NVIDIA kernel module is not loaded")
        too_old = [int(n) for n in re.findall(r"\d+", release)] < [int(p) for p in floor.linux.split(".")]
        has, source = f"release {release}", "/proc/driver/nvidia/version"
    if not too_old:
        return f"the driver is of {has}, and CUDA {cuda} needs {floor.linux} or newer"
    install = _install_driver(facts)
    container = facts.system.container
    if isinstance(container, str):
        install = Fix(kind="advice", risk=install.risk, summary=f"On the host: {install.summary}", steps=())
    yield Found(
        message=f"This TensorFlow is built for CUDA {cuda}, which needs a driver {floor.linux} or newer; the driver "
        f"here is of {has}.",
        proof=(
            Evidence(text=f"TensorFlow is built for CUDA {cuda}", source="build_info.py"),
            Evidence(text=f"the driver: {has}", source=source),
            Evidence(text=f"CUDA {floor.cuda} needs {floor.linux} or newer", source=floor.source),
        ),
        fixes=(install,),
    )
