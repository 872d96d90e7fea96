"""Hosts before and after one upgrade, and what a comparison must say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import (
    Build,
    DeviceNode,
    Distribution,
    Facts,
    Load,
    LoaderObject,
    Measurement,
    NcclSetting,
    SearchStep,
    TensorFlowDevice,
    Unread,
    Variable,
)
from tests.factory import (
    SITE,
    cannot_open,
    cu_init,
    healthy,
    lists_no_gpu,
    measured,
    reduced,
    wheel,
    with_,
    with_variable,
)

Change = Callable[[Facts], Facts]
OTHER_DRIVER = "590.44.01"
STUBS = "/usr/local/cuda/lib64/stubs"


class Pair(NamedTuple):
    """An upgrade."""

    name: str
    change: Change
    first: str
    """Id of the change that must be named first."""
    cause: str | None = None
    """A finding that it brings about; None: there is none."""
    verdict: str = "worse"
    before: Change = lambda facts: facts
    """What the host is like before."""

    def __str__(self) -> str:
        return self.name

    @property
    def hosts(self) -> tuple[Facts, Facts]:
        """Before and after."""
        old = self.before(with_wheels(healthy()))
        return old, self.change(old)


def replaced(one: Any, **changes: Any) -> Any:
    """A fact with other fields."""
    return msgspec.structs.replace(one, **changes)


def listed(facts: Facts, path: str, of: Callable[[Any], bool], **changes: Any) -> Facts:
    """`facts` with fields of some elements of a list changed."""
    elements: Any = facts
    for name in path.split("."):
        elements = getattr(elements, name)
    made = tuple(replaced(one, **changes) if of(one) else one for one in elements)
    return with_(facts, **{path.replace(".", "__"): made})


def gpu(index: int, **changes: Any) -> Change:
    """NVML says something else of one GPU."""
    return lambda facts: listed(facts, "gpu.devices", lambda one: one.index == index, **changes)


def with_wheels(facts: Facts) -> Facts:
    """The packages that the healthy host's library files are of."""
    owners = {f.owner for f in facts.libraries.files if isinstance(f.owner, str)}  # type: ignore[union-attr]
    wheels = tuple(
        Distribution(name=o.split()[0], version="1", location=SITE, real_location=SITE) for o in sorted(owners)
    )
    assert isinstance(facts.python.distributions, tuple)
    return with_(facts, python__distributions=(*facts.python.distributions, *wheels))


# ------------------------------------------------------------------------------- driver and kernel


def driver(version: str, api: int = 13000) -> Change:
    return lambda facts: with_(
        facts,
        driver__kernel_version=version,
        driver__libcuda__version=version,
        driver__libcuda__path=f"/usr/lib/x86_64-linux-gnu/libcuda.so.{version}",
        driver__libcuda__api_version=api,
        gpu__driver_version=version,
        gpu__cuda_driver_version=api,
    )


def without_reboot(facts: Facts) -> Facts:
    """The driver's libraries were upgraded, and its module was not."""
    nothing = Unread(why="NVML answered 18")
    facts = cu_init(facts, 803, f"/usr/lib/x86_64-linux-gnu/libcuda.so.{OTHER_DRIVER}", version=OTHER_DRIVER)
    return with_(facts, gpu__nvml_error=18, gpu__devices=nothing, gpu__pairs=nothing)


def module_missing(facts: Facts) -> Facts:
    """A new kernel runs, and the driver's module was not built for it."""
    nothing = Unread(why="NVML answered 9")
    nodes = facts.driver.nodes
    assert isinstance(nodes, tuple)
    gone = tuple(DeviceNode(path=n.path, exists=False, major=None, minor=None, open_errno=2) for n in nodes)
    return with_(
        cu_init(facts, 999),
        system__kernel="6.20.1-generic",
        driver__kernel_version=None,
        driver__modules=(),
        driver__loaded=(),
        driver__gpus=None,
        driver__parameters=None,
        driver__nodes=gone,
        driver__all_devices=nothing,
        gpu__nvml_error=9,
        gpu__devices=nothing,
        gpu__pairs=nothing,
    )


# ------------------------------------------------------------------------------- packages


def gap(facts: Facts) -> Facts:
    """TensorFlow 2.21 does not look where its own extra installs a library."""
    objects = facts.tensorflow.objects
    assert isinstance(objects, tuple)
    kept = [
        d for one in objects for d in (one.runpath if isinstance(one.runpath, tuple) else ()) if "cusolver" not in d
    ]
    facts = version_of(facts, "tensorflow", "2.21.0")
    facts = cannot_open(facts, "libcusolver.so.11", tuple(dict.fromkeys(kept)))
    fewer = tuple(LoaderObject(path=o.path, runpath=tuple(kept), calls_dlopen=o.calls_dlopen) for o in objects)
    return with_(facts, tensorflow__version="2.21.0", tensorflow__objects=fewer)


def version_of(facts: Facts, name: str, version: str) -> Facts:
    return listed(facts, "python.distributions", lambda one: one.name == name, version=version)


def cpu_wheel(facts: Facts) -> Facts:
    facts = listed(facts, "python.distributions", lambda one: one.name == "tensorflow", name="tensorflow-cpu")
    none = Build(cuda=False, rocm=False, cuda_version=None, cudnn_version=None, compute_capabilities=())
    return with_(
        lists_no_gpu(facts), tensorflow__distribution="tensorflow-cpu", tensorflow__build=none, tensorflow__libraries=()
    )


def without_wheel(facts: Facts) -> Facts:
    facts = cannot_open(facts, "libcusolver.so.11", (wheel("cublas"),))
    files, packages = facts.libraries.files, facts.python.distributions
    assert isinstance(files, tuple)
    assert isinstance(packages, tuple)
    return with_(
        facts,
        libraries__files=tuple(f for f in files if f.name != "libcusolver.so.11"),
        python__distributions=tuple(p for p in packages if p.name != "nvidia-cusolver-cu12"),
    )


def other_cudnn(facts: Facts) -> Facts:
    facts = version_of(facts, "nvidia-cudnn-cu12", "9.20.1")
    return listed(
        facts, "libraries.files", lambda one: "cudnn" in one.name, version="9.20.1", owner="nvidia-cudnn-cu12 9.20.1"
    )


def other_python(facts: Facts) -> Facts:
    return with_(
        facts,
        python__version="3.11.9",
        python__executable="/usr/bin/python3.11",
        python__extension_suffix=".cpython-311-x86_64-linux-gnu.so",
    )


# ------------------------------------------------------------------------------- GPUs


def moved(facts: Facts) -> Facts:
    """The second GPU was put into another slot."""
    old, new = "0000:00:07.0", "0000:a1:00.0"
    for path in ("gpu.devices", "driver.gpus", "driver.libcuda.devices"):
        facts = listed(facts, path, lambda one: one.pci_address == old, pci_address=new)
    facts = listed(facts, "pci.devices", lambda one: one.address == old, address=new)

    def there(one: Measurement) -> Measurement:
        addresses = one.pci_addresses
        at = tuple(new if a == old else a for a in addresses) if isinstance(addresses, tuple) else addresses
        return msgspec.structs.replace(one, pci_addresses=at)

    return with_(facts, measurements=tuple(map(there, facts.measurements)))


def lost(facts: Facts) -> Facts:
    """The second GPU fell off the bus before the system started."""
    address = "0000:00:07.0"
    for path in ("gpu.devices", "driver.gpus", "driver.libcuda.devices"):
        devices: Any = facts
        for name in path.split("."):
            devices = getattr(devices, name)
        left = tuple(d for d in devices if d.pci_address != address)
        facts = with_(facts, **{path.replace(".", "__"): left})
    devices = facts.tensorflow.devices
    assert isinstance(devices, tuple)
    assert isinstance(facts.pci.devices, tuple)
    return with_(
        facts,
        pci__devices=tuple(d for d in facts.pci.devices if d.address != address),
        gpu__pairs=(),
        driver__libcuda__pairs=(),
        tensorflow__devices=tuple(d for d in devices if not d.name.endswith("GPU:1")),
        measurements=tuple(m for m in facts.measurements if "GPU:1" not in m.device),
    )


def lost_link(facts: Facts) -> Facts:
    assert isinstance(facts.gpu.devices, tuple)
    links = facts.gpu.devices[1].nvlinks
    assert isinstance(links, tuple)
    return gpu(1, nvlinks=tuple(replaced(one, active=one.index != 3) for one in links))(facts)


def narrow(facts: Facts) -> Facts:
    """The second GPU's link has half of its lanes while a copy runs, and the copies are half as fast."""

    def slower(one: Measurement) -> Measurement:
        if one.device != "GPU:1" or not isinstance(one.load, Load) or not isinstance(one.load.pcie_width, int):
            return one
        load = msgspec.structs.replace(one.load, pcie_width=8)
        if not one.kernel.startswith("copy-host-to-device") or not isinstance(one.value, float):
            return msgspec.structs.replace(one, load=load)
        half = one.value / 2
        return msgspec.structs.replace(one, load=load, value=half, samples=(half,) * 3)

    facts = gpu(1, pcie_width=8)(facts)
    facts = listed(facts, "pci.devices", lambda one: one.address == "0000:00:07.0", link_width=8)
    return with_(facts, measurements=tuple(map(slower, facts.measurements)))


def limited(facts: Facts) -> Facts:
    return measured(gpu(1, power_limit_w=350.0)(facts), "matmul-float16", "GPU:1", value=330.0, samples=(330.0,) * 3)


# ------------------------------------------------------------------------------- variables and the system


def stub(facts: Facts) -> Facts:
    found = SearchStep(directory=STUBS, origin="LD_LIBRARY_PATH")
    return cu_init(
        with_variable(facts, "LD_LIBRARY_PATH", STUBS), 34, f"{STUBS}/libcuda.so.1", version=None, found_in=found
    )


def nccl_conf(facts: Facts) -> Facts:
    setting = NcclSetting(name="NCCL_P2P_DISABLE", value="1", file="/etc/nccl.conf", line=1)
    facts = reduced(facts, 35.0, "SHM/direct")
    return listed(facts, "nccl.files", lambda one: one.path == "/etc/nccl.conf", exists=True, settings=(setting,))


def far_memory(facts: Facts) -> Facts:
    return listed(facts, "pci.devices", lambda one: one.is_nvidia_gpu, numa_node=1, local_cpus="64-127")


def renamed(facts: Facts) -> Facts:
    """The variable that was set has another value."""
    assert isinstance(facts.environment.variables, tuple)
    kept = tuple(v for v in facts.environment.variables if v.name != "CUDA_VISIBLE_DEVICES")
    return with_(facts, environment__variables=(*kept, Variable(name="CUDA_VISIBLE_DEVICES", value="0,7")))


def one_left(facts: Facts) -> Facts:
    devices = facts.tensorflow.devices
    assert isinstance(devices, tuple)
    return with_(facts, tensorflow__devices=tuple(TensorFlowDevice(name=d.name, type=d.type) for d in devices))


PAIRS = (
    Pair("driver up", driver(OTHER_DRIVER), "driver.kernel_version", None, "changed"),
    Pair("driver down", driver("470.10.01", 11040), "driver.kernel_version", "driver-too-old"),
    Pair("driver upgraded, not rebooted", without_reboot, "driver.libcuda.version", "driver-library-mismatch"),
    Pair("kernel upgraded", lambda f: with_(f, system__kernel="6.20.1"), "system.kernel", None, "changed"),
    Pair("kernel upgraded, module not built", module_missing, "system.kernel", "cuinit-fails"),
    Pair("open module", lambda f: with_(f, driver__kernel_flavour="proprietary"), "driver.kernel_flavour", None, "changed"),
    Pair("TensorFlow 2.20 to 2.21", gap, "python.distributions.version:tensorflow", "tf-wheel-runpath-gap"),
    Pair("TensorFlow's CPU wheel", cpu_wheel, "python.distributions:tensorflow", "tf-cpu-only-package"),
    Pair("a wheel removed", without_wheel, "python.distributions:nvidia-cusolver-cu12", "cuda-libs-missing"),
    Pair("cuDNN", other_cudnn, "python.distributions.version:nvidia-cudnn-cu12", None, "changed"),
    Pair("another Python", other_python, "python.version", None, "changed"),
    Pair("a moved GPU", moved, "gpu.devices.pci_address:gpu-1", None, "changed"),
    Pair("a lost GPU", lost, "pci.devices:gpu-1", None),
    Pair("a lost NVLink", lost_link, "gpu.devices.nvlinks:gpu-1", "nvlink-degraded"),
    Pair("a narrowed link", narrow, "pci.devices.link_width:gpu-1", None),
    Pair("a row to be remapped", gpu(1, row_remap_pending=True), "gpu.devices.row_remap_pending:gpu-1", "gpu-memory-repair-pending"),
    Pair("errors of the memory", gpu(1, ecc_volatile_uncorrected=3), "gpu.devices.ecc_volatile_uncorrected:gpu-1", "ecc-uncorrectable-error"),
    Pair("a power limit", limited, "gpu.devices.power_limit_w:gpu-1", "gpu-power-limit-lowered"),
    Pair("VBIOS", gpu(0, vbios_version="96.00.FF.00.01"), "gpu.devices.vbios_version:gpu-0", None, "changed"),
    Pair("MIG", gpu(0, mig_mode=True), "gpu.devices.mig_mode:gpu-0", None, "changed"),
    Pair("CUDA_VISIBLE_DEVICES", lambda f: lists_no_gpu(with_variable(f, "CUDA_VISIBLE_DEVICES", "")), "environment.variables:CUDA_VISIBLE_DEVICES", "cuda-visible-devices-empty"),
    Pair("CUDA_VISIBLE_DEVICES has another value", renamed, "environment.variables.value:CUDA_VISIBLE_DEVICES", "cuda-visible-devices-wrong", before=lambda f: with_variable(f, "CUDA_VISIBLE_DEVICES", "0,1")),
    Pair("a stub on LD_LIBRARY_PATH", stub, "environment.variables:LD_LIBRARY_PATH", "libcuda-stub-loaded"),
    Pair("NCCL_P2P_DISABLE", lambda f: reduced(with_variable(f, "NCCL_P2P_DISABLE", "1"), 35.0, "SHM/direct"), "environment.variables:NCCL_P2P_DISABLE", "nccl-p2p-disabled-by-env"),
    Pair("the same in nccl.conf", nccl_conf, "nccl.files.settings:/etc/nccl.conf NCCL_P2P_DISABLE", "nccl-p2p-disabled-by-env"),
    Pair("another NUMA node", far_memory, "pci.devices.numa_node:gpu-0", "numa-memory-elsewhere"),
    Pair("/dev/shm", lambda f: with_(f, system__shm_total_bytes=64 << 20, system__shm_free_bytes=64 << 20), "system.shm_total_bytes", None, "changed"),
    Pair("in a container", lambda f: with_(f, system__container="docker"), "system.container", None, "changed"),
    Pair("fewer processors", lambda f: with_(f, system__cores_usable=2, system__cpus_usable="0-1"), "system.cores_usable", None, "changed"),
    Pair("no TensorFlow device has a name", one_left, "tensorflow.devices", None, "same"),
)  # fmt: skip
