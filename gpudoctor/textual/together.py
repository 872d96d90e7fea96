"""What is said of several GPUs, of a machine that goes down and of other programs on the same GPU, and speaks for a cause."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts, Unread, rates_to_others
from ..patterns import Pattern
from .fitting import gpus_asked, lacks_nvcuda

WITHOUT_PEERS = Pattern(r"(?i)(?:RTX ?|GeForce |^)[45]0[5-9]0(?!\d)")
"""GeForce cards that never reach each other's memory."""


def speaks(facts: Facts) -> Iterator[str]:
    """The causes that it speaks for."""
    said = facts.text.said
    if said("several-no-faster"):
        cards = facts.text.cards()
        if said("bandwidth-between-said") and cards and all(WITHOUT_PEERS.search(name) for name in cards):
            yield "p2p-unsupported-geforce"
        if said("input-slow-said", "input-suspected", "input-bound") and not said("not-input-bound"):
            yield "cpu-starved-input"
        if not said("one-works-said"):
            yield "scaling-below-expected"
    if said("some-peers-said"):
        yield "multi-gpu-topology-no-p2p"
    if said("one-works-said"):
        yield "single-gpu-silently"
    if said("several-compute-wrongly") and said("one-is-fine-said"):
        yield "nccl-p2p-iommu-acs"
    if said("device-not-inferred") and said("container-run") and not gpus_asked(facts):
        yield "container-no-gpus-flag"
    builds = [e.values.get("build", "") for e in said("installed") if e.values.get("name") == "pytorch"]
    if said("torch-without-cuda", "torch-lacks-gpu", "torch-sees-none") and any(
        _ON_THE_PROCESSOR.search(one) for one in builds
    ):
        yield "conda-cpu-build"
    if said("one-of-several-unseen"):
        yield "gpu-left-out-beside-another"
    if facts.driver.libcuda.init_result == _NO_DEVICE and said("others-run-said"):
        yield "cuda-visible-devices-wrong"


def unlikely(facts: Facts) -> set[str]:
    """What goes last: of ranks that are all on one host none looks for another's interface; libcuda is the driver's."""
    said = facts.text.said
    hosts = {e.values["host"] for e in said("nccl-host")}
    alone = len(hosts) == 1 and not said("several-machines", "second-machine-named", "nccl-no-interface")
    late = {"nccl-wrong-interface"} if alone and not said("nccl-other-subnet", "nccl-connect-failed") else set()
    lost = {e.values.get("library", "") for e in said("library-not-loaded")}
    if lost == {_LIBCUDA}:
        late |= _OF_TOOLKITS
    elif lost:
        late.add("tf-import-broken")
    if said("slurm-asked") and said("gpu"):  # the job has them
        late |= {"slurm-no-gpu-allocated", "hpc-login-node"}
    if any(e.values.get("name", "").startswith("tensorflow_gpu") for e in said("wheel-chosen")):
        late.add("tensorflow-gpu-package-removed")
    if said("bandwidth-between-said", "trains-well-said"):
        late.add("amd-gpu")
    if said("keras-on-tensorflow"):
        late.add("keras-backend-not-tensorflow")
    return late


def firstly(facts: Facts) -> Iterator[str]:
    """What goes first whatever the text reads like."""
    if lacks_nvcuda(facts):
        yield "driver-missing"
    if facts.text.said("device-unavailable"):
        if any(_VGPU.search(e.values.get("name", "")) for e in facts.text.said("gpu")):
            yield "vgpu-unlicensed"
        if any("E. Process" in e.text for e in facts.text.said("gpu-state")):
            yield "gpu-exclusive-busy"
    if facts.text.said("peer-copies-wrong"):
        yield "nccl-p2p-iommu-acs"
    if facts.text.said("mig-named") and facts.text.said("wrong-ordinal"):
        yield "mig-single-instance-limit"
    if facts.text.said("chief-missing-said"):
        yield "tf-config-invalid"
    elif facts.text.said("workers-wait-said", "session-waits"):
        yield "tf-config-address-unreachable"


def peers_crawl(facts: Facts) -> bool:
    """Whether GPUs that may reach each other's memory do it at a rate at which no direct way between them is."""
    rates = [rate for e in facts.text.said("peer-rates") for rate in rates_to_others(e)]
    return bool(rates and facts.text.said("peers-together")) and max(rates) < _SLOWEST_WAY


def narrow_link(facts: Facts) -> bool:
    """Whether a GPU has an eighth of its lanes, or fewer: an idle link gives up its rate, not its width."""
    devices = facts.gpu.devices
    told = [(d.pcie_width, d.pcie_width_max) for d in (() if isinstance(devices, Unread) else devices or ())]
    return any(isinstance(now, int) and isinstance(most, int) and now * 8 <= most for now, most in told)


_VGPU = Pattern(r"(?:GRID|NVIDIA) [A-Z]\w{1,6}-\d{1,2}[QCAB]\b")
"""A profile of NVIDIA's virtual GPUs: GRID T4-8Q."""
_ON_THE_PROCESSOR = Pattern(r"(?:^|_)cpu")
"""In the name of a build of conda's: py3.7_cpu_0, cpu_py311."""
_SLOWEST_WAY = 4.0
"""GB/s: eight lanes of the third generation carry twice as much (PCI Express Base Specification)."""
_LIBCUDA = "libcuda.so.1"
_OF_TOOLKITS = {"cuda-version-mismatch", "cuda-libs-missing", "cuda-toolkit-missing", "ld-library-path-not-set"}
_NO_DEVICE = 100
