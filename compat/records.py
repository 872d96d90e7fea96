"""The records of compat/*.json, one type a kind. Each has a source; what is not there is unknown, and None says so.

Versions are strings that `packaging` compares ('12.5.1', '535.161.08', compute capability '9.0'); sets of them are
specifiers ('>=9.11', '>=2.16,<2.21'). A record that is not certain says how it is known.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Confidence = Literal["certain", "inferred", "reported", "recall"]
"""certain: read from the files or from the maker's documents. inferred: follows from such, was not run. reported: others
say so. recall: from memory; it may be shown, and never condemns a machine."""

Platform = Literal["linux-x86_64", "linux-aarch64", "windows-x86_64", "macos-x86_64", "macos-arm64"]
"""WSL2 is linux-x86_64."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What every record has: where it comes from, and how certain that is."""

    source: str
    confidence: Confidence = "certain"


# --------------------------------------------------------------------------- CUDA and drivers


class CudaResult(Record, frozen=True, kw_only=True):
    """A CUresult of the driver API."""

    code: int
    name: str
    meaning: str


class CudaMajor(Record, frozen=True, kw_only=True):
    """Minor-version compatibility: a driver from here on runs programs built for any CUDA of this major version."""

    cuda: int
    linux: str
    windows: str | None


class CudaToolkit(Record, frozen=True, kw_only=True):
    """A CUDA toolkit and the driver that it comes with: the oldest for all its features, and, up to CUDA 10.2, at all."""

    cuda: str
    linux: str | None
    windows: str | None


class PtxIsa(Record, frozen=True, kw_only=True):
    """A version of PTX and the CUDA that brought it: an older driver can't compile it (error 222), within a major neither."""

    isa: str
    cuda: str


class DriverBranch(Record, frozen=True, kw_only=True):
    """A branch of the driver ('R580') and the CUDA version that it implements."""

    branch: int
    cuda: str | None
    kind: str | None = None
    """'LTSB', 'PB', 'NFB', as NVIDIA names them."""
    end_of_life: str | None = None


class ForwardCompatibility(Record, frozen=True, kw_only=True):
    """What the cuda-compat packages do: a newer libcuda over an older kernel module."""

    package: str
    since_cuda: str
    platforms: tuple[Platform, ...]
    products: tuple[str, ...]
    not_for: tuple[str, ...]
    rule: str


class Architecture(Record, frozen=True, kw_only=True):
    """A generation of GPUs: the CUDA versions and driver branches that know it."""

    name: str
    compute_capabilities: tuple[str, ...]
    first_cuda: str
    last_cuda: str | None
    """None: the newest known here still builds for it."""
    last_branch: int | None
    """None: the newest known here still drives it."""


# --------------------------------------------------------------------------- libraries


class Library(Record, frozen=True, kw_only=True):
    """A CUDA library and the wheel that carries it; `{major}` is the CUDA major version, 11 or 12."""

    stem: str
    wheel: str
    directory: str


class Support(Record, frozen=True, kw_only=True):
    """What releases of cuDNN or NCCL need, by their documents."""

    library: Literal["cudnn", "nccl"]
    versions: str
    """Specifier ('>=9.11')."""
    cuda_majors: tuple[int, ...]
    minimum_compute_capability: str | None
    minimum_driver: dict[str, str] = msgspec.field(default_factory=dict)
    """CUDA major version -> the oldest Linux driver."""


class Ptx(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A PTX module: its version and target. A target that ends in a letter ('sm_90a') runs on that GPU only."""

    isa: str
    target: str


class Kernels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fat binaries of one make: each holds this machine code and this PTX, side by side."""

    machine_code: tuple[str, ...]
    """'sm_80', …"""
    ptx: tuple[Ptx, ...]
    count: int
    """How many fat binaries there are of this make."""


class WheelLibrary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shared library of a wheel."""

    soname: str
    path: str
    """In the wheel ('nvidia/cudnn/lib/libcudnn.so.9')."""
    needs: tuple[str, ...]
    runpath: tuple[str, ...]
    machine_code: dict[str, int]
    """'sm_90' -> how many entries of its fat binaries."""
    ptx: dict[str, int]
    """'compute_90' -> how many."""


class LibraryWheel(Record, frozen=True, kw_only=True):
    """An nvidia-* wheel, read by `python -m gpudoctor.compat.scan`."""

    distribution: str
    version: str
    platform: Platform
    requires: tuple[str, ...]
    libraries: tuple[WheelLibrary, ...]


# --------------------------------------------------------------------------- TensorFlow


class Package(Record, frozen=True, kw_only=True):
    """A distribution of TensorFlow and what it is."""

    name: str
    role: Literal["gpu", "cpu", "mixed", "stub", "part", "plug-in", "rocm"]
    """mixed: depends on release and platform. stub: its installation fails on purpose. part: pulled by another."""
    text: str
    stub: str | None = None
    """Specifier of the versions whose installation fails on purpose; None: none."""


class Files(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was published of one distribution for one platform."""

    distribution: str
    platform: Platform
    python: tuple[str, ...]
    """CPython versions ('3.10')."""
    cuda: bool | None
    """Whether it computes on NVIDIA GPUs; None: unknown."""


class Release(Record, frozen=True, kw_only=True):
    """A release of TensorFlow as it was published: the index's list of files, and the documents' CUDA and cuDNN.

    Where a Build of the same version exists it is the better witness: it was read from the wheel.
    """

    version: str
    files: tuple[Files, ...]
    cuda: str | None
    """As documented ('11.2'): tested build configurations; None: no document says."""
    cudnn: str | None


class BuildObject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shared object of TensorFlow."""

    name: str
    loader: bool
    """It holds the loader that opens the CUDA libraries: its RUNPATH is the one that counts."""
    runpath: tuple[str, ...]
    """The directories of site-packages that its RUNPATH names ('nvidia/cublas/lib')."""


class Build(Record, frozen=True, kw_only=True):
    """A wheel of TensorFlow, read by `python -m gpudoctor.compat.scan`. None: the wheel does not say."""

    distribution: str
    version: str
    platform: Platform
    glibc: str | None
    """Oldest glibc, of its manylinux tag."""
    requires_python: str | None
    requires: dict[str, str]
    """'numpy' -> '>=1.26.0': what limits numpy, protobuf, keras, h5py, ml_dtypes, tensorboard; '' is any."""
    redirects: tuple[str, ...]
    """Requirements that install another distribution in its place on some platforms."""
    extra: dict[str, str] | None
    """Pins of [and-cuda]; None: there is no such extra."""
    is_cuda: bool | None
    cuda: str | None
    cudnn: str | None
    compute_capabilities: tuple[str, ...]
    """As build_info.py lists them."""
    complete: tuple[str, ...]
    """Architectures with machine code for every kernel ('sm_80')."""
    partial: tuple[str, ...]
    """Architectures with machine code for some kernels only; the others are compiled from PTX on first use."""
    kernels: tuple[Kernels, ...]
    """Its fat binaries by what they hold: what `complete` and `partial` sum up."""
    minimum_compute_capability: str | None
    sonames: tuple[str, ...]
    """What its loader opens before it registers a GPU."""
    optional_sonames: tuple[str, ...]
    """What it opens later, where an operation needs it (NCCL, CUPTI, TensorRT)."""
    objects: tuple[BuildObject, ...]
    out_of_reach: tuple[str, ...]
    """Libraries of its own extra that its loader does not find, without LD_LIBRARY_PATH."""


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hazard that was run on a real GPU."""

    date: str
    host: str
    outcome: Literal["confirmed", "refuted"]
    how: str


class Hazard(Record, frozen=True, kw_only=True):
    """A combination that fails, or needs a step, although the documents allow it. Conditions hold together; '' is any."""

    id: str
    tensorflow: str
    """Specifier of releases."""
    compute_capability: str = ""
    driver: str = ""
    python: str = ""
    packages: dict[str, str] = msgspec.field(default_factory=dict)
    """Distribution -> specifier of its version, where it is installed or would be."""
    platforms: tuple[Platform, ...] = ()
    outcome: Literal["fails", "needs", "note"]
    """fails: TensorFlow computes nothing useful there. needs: it works with the pins or steps. note: it works."""
    effect: str
    fix: str
    pins: tuple[str, ...] = ()
    """Requirements to install with it ('nvidia-cudnn-cu12<9.11')."""
    rule: str = ""
    """The rule in compat/rules.py that already follows it from other records ('code', 'ptx', 'cudnn', 'loader', …): it is
    listed with what was run, and not judged twice."""
    run: Run | None = None


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """compat/matrix.json."""

    schema_version: int
    cuda_results: tuple[CudaResult, ...]
    cuda_majors: tuple[CudaMajor, ...]
    cuda_toolkits: tuple[CudaToolkit, ...]
    ptx_isas: tuple[PtxIsa, ...]
    driver_branches: tuple[DriverBranch, ...]
    forward_compatibility: tuple[ForwardCompatibility, ...]
    architectures: tuple[Architecture, ...]
    libraries: tuple[Library, ...]
    support: tuple[Support, ...]
    packages: tuple[Package, ...]
    releases: tuple[Release, ...]
    builds: tuple[Build, ...]
    library_wheels: tuple[LibraryWheel, ...]
    hazards: tuple[Hazard, ...]


# --------------------------------------------------------------------------- GPUs


class NvLink(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The NVLinks of a GPU."""

    generation: int
    links: int
    total_gb_per_s: float
    """All links, both directions together."""


class GpuModel(Record, frozen=True, kw_only=True):
    """A GPU. Names, ids and capability go by `confidence`; the figures, which are the rest, by `figures`. None: unknown.

    Products that share a name (another size of memory) are records of their own with the same name, and perhaps ids.
    """

    name: str
    """As NVML prints it ('NVIDIA H100 80GB HBM3')."""
    also: tuple[str, ...] = ()
    """Other names that people use ('H100 SXM5 80GB')."""
    pci_ids: tuple[str, ...]
    """Device ids of vendor 10de ('2335')."""
    compute_capability: str
    multiprocessors: int | None = None
    boost_mhz: int | None = None
    """The clock by which the data sheet counts; a device's own highest clock may be above it."""
    memory_gb: float | None = None
    memory_type: str | None = None
    memory_width_bits: int | None = None
    memory_gb_per_s: float | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    nvlink: NvLink | None = None
    """None: the product has none, or nobody told (`figures` is None then)."""
    p2p: Literal["yes", "no", "nvlink only"] | None = None
    """Peer-to-peer over PCIe with NVIDIA's own driver; None: unknown."""
    p2p_source: str | None = None
    tdp_w: int | None = None
    figures: Confidence | None = None
    """None: no figures are known here."""
    figures_source: str | None = None
    note: str | None = None


class PciDevice(Record, frozen=True, kw_only=True):
    """The name that NVIDIA gives to a PCI device id of vendor 10de; an id may have several, by the maker of the card."""

    id: str
    name: str


class Fp32Rate(Record, frozen=True, kw_only=True):
    """FP32 operations a clock and multiprocessor, a fused multiply-add counted once."""

    compute_capability: str
    per_sm: int


class TensorRate(Record, frozen=True, kw_only=True):
    """Dense FLOP of the tensor cores a clock and multiprocessor, accumulated in FP32, a multiply-add counted as two.

    The first record of a capability that names a product counts. A product that none names has no known rate.
    """

    compute_capability: str
    products: tuple[str, ...]
    """Words that stand in the product's name ('GeForce RTX'); none: every product."""
    fp16_flop_per_sm: int | None
    """0: it has no tensor cores. None: known to differ, and not known how."""
    tf32_flop_per_sm: int | None
    fp8_flop_per_sm: int | None
    """None: not known here."""


class Gpus(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """compat/gpus.json."""

    schema_version: int
    models: tuple[GpuModel, ...]
    pci: tuple[PciDevice, ...]
    fp32_rates: tuple[Fp32Rate, ...]
    tensor_rates: tuple[TensorRate, ...]


class Xid(Record, frozen=True, kw_only=True):
    """An error number of the driver's kernel log ('NVRM: Xid (PCI:…): 79, …'), Ampere and newer if not said otherwise."""

    code: int
    mnemonic: str | None
    meaning: str | None
    older_meaning: str | None = None
    """On GPUs before Ampere, where it differs, or the driver's own words where the catalog calls the number unused."""
    action: str | None
    """NVIDIA's recommended immediate action, its bucket ('RESET_GPU'); None: none is published."""
    action_text: str | None
    """The same for a person."""
    investigate: str | None
    """NVIDIA's investigatory action ('CHECK_APP/CUDA')."""


class Xids(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """compat/xid.json."""

    schema_version: int
    xids: tuple[Xid, ...]
