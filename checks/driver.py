"""The driver: there, one release, the right libcuda, and what cuInit answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from shlex import quote

from gpudoctor import compat
from gpudoctor.facts import Facts, Libcuda, SearchStep, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Fix, Found, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import check, symptom

_SUCCESS, _NO_DEVICE, _STUB, _UNKNOWN = 0, 100, 34, 999
_NOT_READY, _DRIVER_MISMATCH, _COMPAT_NOT_SUPPORTED = 802, 803, 804
_NVML_MISMATCH = 18


def _answered(result: int) -> str:
    """'cuInit answered 100 (CUDA_ERROR_NO_DEVICE: no CUDA-capable device …)'."""
    named = compat.cuda_result(result)
    return f"cuInit answered {result}" + (f" ({named.name}: {named.meaning})" if named else "")


def _init_result(facts: Facts) -> int:
    """cuInit's answer; not applicable where there is no library that could be asked."""
    lib = facts.driver.libcuda
    if lib.path is None:
        raise NotApplicable("there is no libcuda.so.1 that could be asked")
    return known(lib.init_result)


def _init_evidence(lib: Libcuda) -> Evidence:
    source = lib.path if isinstance(lib.path, str) else "libcuda.so.1"
    return Evidence(text=_answered(known(lib.init_result)), source=f"{source}, asked in a child process")


def _directory_matches(path: str, part: str) -> bool:
    return part in os.path.dirname(path).split("/")


def _off_the_path(facts: Facts) -> Fix | None:
    """LD_LIBRARY_PATH without the directory in which libcuda was found, where that is how it was found and
    another libcuda lies elsewhere."""
    found = facts.driver.libcuda.found_in
    value = facts.environment.get("LD_LIBRARY_PATH")
    if not isinstance(found, SearchStep) or found.origin != "LD_LIBRARY_PATH" or not isinstance(value, str):
        return None
    kept = [p for p in re.split("[:;]", value) if p and os.path.normpath(p) != os.path.normpath(found.directory)]
    if not _elsewhere(facts, found.directory):
        return None
    if not kept:
        change = EnvChange(name="LD_LIBRARY_PATH", op="unset")
        step = "unset LD_LIBRARY_PATH"
    else:
        change = EnvChange(name="LD_LIBRARY_PATH", op="set", value=":".join(kept))
        step = f"export LD_LIBRARY_PATH={quote(change.value)}"
    return Fix(
        kind="env",
        risk="safe",
        summary=f"Take {found.directory} off LD_LIBRARY_PATH, so that the driver's own libcuda is found",
        steps=(step,),
        env=(change,),
    )


def _elsewhere(facts: Facts, directory: str) -> bool:
    """Whether another libcuda than the one in `directory` lies on this machine, as far as is known."""
    candidates = facts.driver.libcuda.candidates
    if isinstance(candidates, Unread):
        return True
    own = os.path.normpath(directory)
    return any(os.path.dirname(os.path.normpath(c)) != own for c in candidates)


def _fixes(*fixes: Fix | None) -> tuple[Fix, ...]:
    return tuple(f for f in fixes if f is not None)


@symptom("GD150", "cuinit-no-device", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_no_device(facts: Facts) -> Iterator[Found]:
    """The driver finds no device for this process.

    What it looks at: cuInit(0), called in a child process with this environment's libcuda.so.1.
    100 is CUDA_ERROR_NO_DEVICE: the library works and finds nothing that it may use.

    Why it matters: TensorFlow asks the same question first and registers no GPU.

    Source: CUDA Driver API, CUresult.
    """
    if _init_result(facts) == _NO_DEVICE:
        yield Found(message=_answered(_NO_DEVICE), proof=(_init_evidence(facts.driver.libcuda),))


@symptom("GD151", "cuinit-fails", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_fails(facts: Facts) -> Iterator[Found]:
    """The driver library does not initialise.

    What it looks at: cuInit(0), called in a child process with this environment's libcuda.so.1; any
    answer but 0 (success) and 100 (no device).

    Why it matters: TensorFlow asks the same question first and registers no GPU.

    Source: CUDA Driver API, CUresult.
    """
    result = _init_result(facts)
    if result not in (_SUCCESS, _NO_DEVICE):
        yield Found(message=_answered(result), proof=(_init_evidence(facts.driver.libcuda),))


@symptom("GD152", "cuinit-no-answer", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def cuinit_no_answer(facts: Facts) -> Iterator[Found]:
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
            message=f"{how}. If it hangs, look for a wedged GPU: sudo dmesg | grep -iE 'nvrm|xid'",
            proof=(Evidence(text=how, source=f"{where}, asked in a child process"),),
        )


@check(
    "GD101",
    "driver-missing",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails"),
)
def driver_missing(facts: Facts) -> Iterator[Found]:
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
    gpus = [d for d in known(facts.pci.devices) if d.is_nvidia_gpu]
    if not gpus:
        raise NotApplicable("no NVIDIA GPU is on the PCI bus")
    lib = facts.driver.libcuda
    if known(lib.path) is not None:
        return
    candidates = [c for c in known(lib.candidates) if not _directory_matches(c, "stubs")]
    if candidates:
        return
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
                text=f"{len(gpus)} NVIDIA GPU(s): {', '.join(d.address for d in gpus)}{by_whom}", source="/sys/bus/pci"
            ),
            Evidence(text=f"libcuda.so.1: {known(lib.load_error) or 'not found'}", source="dynamic loader"),
            Evidence(text=f"the NVIDIA kernel module {state}", source="/proc/driver/nvidia/version"),
        ),
        fixes=(_install_driver(facts),),
    )


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
    "GD102",
    "driver-library-mismatch",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device"),
)
def driver_library_mismatch(facts: Facts) -> Iterator[Found]:
    """The driver's libraries and its kernel module are of different releases.

    What it looks at: cuInit's answer 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) and NVML's 18 (driver/library
    version mismatch), the release of the kernel module (/proc/driver/nvidia/version) and that of the libcuda
    file which this environment loads. A libcuda in a compat directory is another cause
    (cuda-compat-unsupported), a toolkit's stub too.

    Why it matters: the driver refuses to work until both are the same. It happens after an upgrade
    (unattended ones too) until the next reboot, and in containers that were started before it.

    How to fix: reboot, or unload and load the kernel modules; restart containers. Reinstalling TensorFlow or
    CUDA changes nothing.

    Source: CUDA Driver API, CUresult 803; NVML, NVML_ERROR_LIB_RM_VERSION_MISMATCH 18.
    """
    lib = facts.driver.libcuda
    path = lib.path if isinstance(lib.path, str) else ""
    if _directory_matches(path, "compat") or _directory_matches(path, "stubs"):
        raise NotApplicable(f"the libcuda that is loaded, {path}, is not the driver's own")
    nvml = facts.gpu.nvml_error
    cuda_says = lib.init_result == _DRIVER_MISMATCH
    if not cuda_says and nvml != _NVML_MISMATCH:
        if _init_result(facts) == _SUCCESS:
            return
        kernel, user = known(facts.driver.kernel_version), known(lib.version)
        if kernel is None or user is None or _same_release(kernel, user):
            return
    user_text = lib.version if isinstance(lib.version, str) else "unknown"
    kernel_text = facts.driver.kernel_version if isinstance(facts.driver.kernel_version, str) else "not loaded"
    proof = [
        Evidence(text=f"kernel module: {kernel_text}", source="/proc/driver/nvidia/version"),
        Evidence(text=f"user library: {user_text}", source=path or "libcuda.so.1"),
    ]
    if not isinstance(lib.init_result, Unread):
        proof.insert(0, _init_evidence(lib))
    if nvml == _NVML_MISMATCH:
        proof.append(Evidence(text=f"NVML: {facts.gpu.nvml_error_text}", source="nvmlInit, in a child process"))
    yield Found(
        message=f"The kernel module is {kernel_text} and libcuda is {user_text}: the driver works only when they match.",
        proof=tuple(proof),
        fixes=_fixes(
            _off_the_path(facts),
            Fix(
                kind="command",
                risk="needs reboot",
                summary="Load the kernel module of the installed release: reboot (in a container: restart it "
                "after the host is rebooted)",
                steps=("sudo reboot",),
                verify="nvidia-smi",
            ),
        ),
    )


def _same_release(one: str, other: str) -> bool:
    """'580.159.04' and '580.159.4' are one release."""
    return [int(p) for p in one.split(".")] == [int(p) for p in other.split(".")]


@check(
    "GD103", "libcuda-stub-loaded", stage=Stage.DRIVER, explains=("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device")
)
def libcuda_stub_loaded(facts: Facts) -> Iterator[Found]:
    """The CUDA toolkit's stub is loaded in place of the driver's libcuda.

    What it looks at: the path of the libcuda.so.1 that this environment loads, and cuInit's answer 34
    (CUDA_ERROR_STUB_LIBRARY).

    Why it matters: the stub exists so that programs can be linked on machines without a driver. It
    answers every call with an error. It gets in the way when lib64/stubs is on LD_LIBRARY_PATH or in
    /etc/ld.so.conf.d.

    How to fix: take the stubs directory off the search path.

    Source: CUDA Driver API, CUresult 34.
    """
    lib = facts.driver.libcuda
    result = _init_result(facts)
    path = known(lib.path) or ""
    if result != _STUB and not (_directory_matches(path, "stubs") and result != _SUCCESS):
        return
    yield Found(
        message=f"{path} is a stub for linking, not the driver's library.",
        proof=(
            _init_evidence(lib),
            Evidence(text=f"libcuda.so.1 is {path}", source="/proc/self/maps of a child process"),
        ),
        fixes=_fixes(
            _off_the_path(facts),
            Fix(
                kind="command",
                risk="needs root",
                summary=f"Find what puts {os.path.dirname(path)} on the loader's path, and take it out",
                steps=("grep -rn stubs /etc/ld.so.conf /etc/ld.so.conf.d", "sudo ldconfig"),
                verify="ldconfig -p | grep libcuda.so.1",
            ),
        ),
    )


@check(
    "GD104",
    "cuda-compat-unsupported",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device"),
)
def cuda_compat_unsupported(facts: Facts) -> Iterator[Found]:
    """A forward-compatibility libcuda is loaded that this driver or GPU does not accept.

    What it looks at: the path of the libcuda.so.1 that this environment loads (a directory called compat,
    as in /usr/local/cuda/compat) with cuInit's answer 803, and cuInit's answer 804
    (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) wherever the library lies.

    Why it matters: the cuda-compat package lets data-center GPUs run a newer CUDA than their driver. It
    works with older drivers of certain branches only, never with a newer one, and never on GeForce.
    Container images put it first on the path.

    How to fix: take the compat directory off the search path, or remove the cuda-compat package.

    Source: NVIDIA, CUDA forward compatibility; CUDA Driver API, CUresult 803 and 804.
    """
    lib = facts.driver.libcuda
    result = _init_result(facts)
    path = known(lib.path) or ""
    in_compat = _directory_matches(path, "compat")
    if result != _COMPAT_NOT_SUPPORTED and not (in_compat and result == _DRIVER_MISMATCH):
        return
    user = lib.version if isinstance(lib.version, str) else "of unknown release"
    kernel = facts.driver.kernel_version if isinstance(facts.driver.kernel_version, str) else "not loaded"
    yield Found(
        message=f"{path} ({user}) is a forward-compatibility library; the kernel module is {kernel}.",
        proof=(
            _init_evidence(lib),
            Evidence(text=f"libcuda.so.1 is {path}, release {user}", source="/proc/self/maps of a child process"),
            Evidence(text=f"kernel module: {kernel}", source="/proc/driver/nvidia/version"),
        ),
        fixes=_fixes(
            _off_the_path(facts),
            Fix(
                kind="command",
                risk="needs root",
                summary="Remove the forward-compatibility package, which this driver does not need",
                steps=("sudo apt-get remove 'cuda-compat-*'", "sudo ldconfig"),
                verify="ldconfig -p | grep libcuda.so.1",
            ),
        ),
    )


@check(
    "GD105",
    "cuinit-uvm-device-missing",
    stage=Stage.NODES,
    explains=("tf-lists-no-gpu", "cuinit-fails"),
)
def uvm_device_missing(facts: Facts) -> Iterator[Found]:
    """CUDA can't open /dev/nvidia-uvm.

    What it looks at: the node /dev/nvidia-uvm (is it there, does open() work for this user), the other
    nodes, and cuInit's answer 999 (CUDA_ERROR_UNKNOWN).

    Why it matters: nvidia-smi works without it, CUDA does not. The node is made by nvidia-modprobe on the
    first use by root; containers, LXC and hosts whose modules were just reloaded lack it.

    How to fix: `sudo nvidia-modprobe -u -c=0` on the host; in a container, hand the node over.

    Source: NVIDIA driver README, chapter 'Installing the driver' (nvidia-modprobe); observed on an H200
    host without the node: cuInit answers 999.
    """
    lib = facts.driver.libcuda
    result = _init_result(facts)
    if result == _SUCCESS:
        return
    node = known(facts.driver.node("/dev/nvidia-uvm"))
    control = known(facts.driver.node("/dev/nvidiactl"))
    exists = node is not None and known(node.exists)
    failed = known(node.open_errno) if node is not None and exists else None
    control_there = control is not None and known(control.exists)
    if exists and failed is None:
        return
    if result != _UNKNOWN and not control_there:
        return
    state = "does not exist" if not exists else f"can't be opened: {os.strerror(failed or 0)}"
    container = facts.system.container
    yield Found(
        message=f"/dev/nvidia-uvm {state}; CUDA does not start without it, though nvidia-smi may.",
        proof=(_init_evidence(lib), Evidence(text=f"/dev/nvidia-uvm {state}", source="open()")),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Load the module and make its device node"
                + (f" on the host, and hand it to this {container} container" if isinstance(container, str) else ""),
                steps=("sudo nvidia-modprobe -u -c=0",),
                verify="ls -l /dev/nvidia-uvm && gpudoctor check",
            ),
        ),
    )


@check(
    "GD106",
    "fabric-manager-not-running",
    stage=Stage.DRIVER,
    explains=("tf-lists-no-gpu", "cuinit-fails"),
)
def fabric_manager_not_running(facts: Facts) -> Iterator[Found]:
    """The fabric manager that an NVSwitch machine needs is not running.

    What it looks at: cuInit's answer 802 (CUDA_ERROR_SYSTEM_NOT_READY) and whether a process
    nv-fabricmanager is visible. Without 802 its absence is no fault: machines without NVSwitch need none,
    and in a virtual machine it runs on the host.

    Why it matters: on HGX and DGX machines CUDA does not start before the fabric manager has set up the
    NVLink switches, although nvidia-smi lists every GPU.

    How to fix: install the fabric manager of exactly the driver's release, and start it. On a machine in
    confidential-computing mode 802 means that the GPUs were not set ready (nvidia-smi conf-compute -srs 1).

    Source: NVIDIA Fabric Manager User Guide; CUDA Driver API, CUresult 802.
    """
    lib = facts.driver.libcuda
    if _init_result(facts) != _NOT_READY:
        return
    if "nv-fabricmanager" in known(facts.driver.daemons):
        return
    kernel = facts.driver.kernel_version
    branch = kernel.split(".")[0] if isinstance(kernel, str) else None
    package = f"nvidia-fabricmanager-{branch}" if branch else "nvidia-fabricmanager"
    inside = isinstance(facts.system.container, str)
    yield Found(
        message="cuInit waits for the NVLink fabric, and no fabric manager is running"
        + (" that this container could see." if inside else "."),
        proof=(_init_evidence(lib), Evidence(text="no process nv-fabricmanager", source="/proc")),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary=f"Install the fabric manager of the driver's own release ({package}) and start it"
                + (", on the host" if inside else ""),
                steps=("sudo systemctl enable --now nvidia-fabricmanager",),
                verify="systemctl status nvidia-fabricmanager",
            ),
        ),
    )
