"""The examined interpreter and the distributions in it."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Distribution(Fact, frozen=True, kw_only=True):
    """An installed distribution, by its metadata; the name is normalised (PEP 503)."""

    name: str
    version: str
    location: str
    """The directory on sys.path that holds it."""
    real_location: str | Unread = NOT_RECORDED
    """The same, links resolved."""
    shadowed: bool = False
    """An earlier entry of sys.path holds the same distribution."""
    form: str | Unread = NOT_RECORDED
    """'dist-info', 'egg-info', 'egg-link'."""
    installer: str | Unread | None = NOT_RECORDED
    """Who installed it ('pip', 'uv', 'conda'), where its metadata say."""
    editable: str | Unread | None = NOT_RECORDED
    """Where its source lies, where it was installed in place."""
    tags: tuple[str, ...] | Unread = NOT_RECORDED
    """Tags of the wheel that it came from ('cp312-cp312-manylinux_2_27_x86_64')."""


class CondaPackage(Fact, frozen=True, kw_only=True):
    """A package of the conda environment that the interpreter belongs to."""

    name: str
    version: str
    build: str
    """conda's build string: 'cpu_py311h…' is a build without CUDA."""


class RecordedFile(Fact, frozen=True, kw_only=True):
    """A file that the RECORD of several distributions lists, and the size that each wrote down."""

    path: str
    size_bytes: int | None
    """None: it is not there."""
    recorded_bytes: tuple[int | None, ...]


class Overlap(Fact, frozen=True, kw_only=True):
    """Distributions that were installed over each other: who was last has the files."""

    owners: tuple[str, ...]
    """'nvidia-cudnn-cu12 9.10.2.21', in the order of their names in the directory."""
    count: int
    """How many shared libraries and key files they both list."""
    files: tuple[RecordedFile, ...]
    """The first of them."""


class DamagedFile(Fact, frozen=True, kw_only=True):
    """A shared library or key file that is not as the RECORD of its distribution says."""

    path: str
    owner: str
    size_bytes: int | None
    """None: it is not there."""
    recorded_bytes: int | None


class ModulePlace(Fact, frozen=True, kw_only=True):
    """A file or directory on sys.path that has the name of a module that matters."""

    name: str
    path: str
    form: str
    """'package', 'module', 'namespace' (a directory without __init__: counts only where nothing else is found)."""


class KernelSpec(Fact, frozen=True, kw_only=True):
    """A Jupyter kernel."""

    name: str
    display_name: str
    path: str
    """Its kernel.json."""
    mine: bool
    """It lies in the user's own directory, or in one that a variable names."""
    executable: str
    """First word of its command. Where that is no path, the Jupyter server's own interpreter is started for it."""
    exists: bool | Unread
    examined: bool | Unread
    """It starts the examined interpreter."""
    tensorflow: str | Unread | None = NOT_RECORDED
    """Version of the TensorFlow in it, by files; None: it has none."""


class OtherInterpreter(Fact, frozen=True, kw_only=True):
    """Another Python of this machine that has TensorFlow, known by files only: it was not run."""

    executable: str
    version: str
    """Of TensorFlow ('2.20.0')."""
    distribution: str


class Python(Fact, frozen=True, kw_only=True):
    """The interpreter that runs the user's TensorFlow."""

    chosen_because: str | Unread = NOT_RECORDED
    """'--python', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'python3 on PATH', 'runs gpudoctor'."""
    passed_over: tuple[str, ...] | Unread = NOT_RECORDED
    """Environments that were named and whose Python does not run, each with what is wrong."""
    executable: str | Unread = NOT_RECORDED
    version: str | Unread = NOT_RECORDED
    implementation: str | Unread = NOT_RECORDED
    prefix: str | Unread = NOT_RECORDED
    virtual_environment: bool | Unread = NOT_RECORDED
    conda: bool | Unread = NOT_RECORDED
    bits: int | Unread = NOT_RECORDED
    libc: str | Unread | None = NOT_RECORDED
    glibc: str | Unread | None = NOT_RECORDED
    """The glibc that is in its process ('2.39'); None: another C library."""
    extension_suffix: str | Unread = NOT_RECORDED
    """Of its extension modules: version, ABI, platform ('.cpython-312-x86_64-linux-gnu.so')."""
    path: tuple[str, ...] | Unread = NOT_RECORDED
    isolated: bool | Unread = NOT_RECORDED
    """Started with -I."""
    user_site: bool | Unread | None = NOT_RECORDED
    """Whether ~/.local is on its path (site.ENABLE_USER_SITE); None: forbidden, or there is no module site."""
    pip: bool | Unread = NOT_RECORDED
    """It has pip."""
    externally_managed: bool | Unread = NOT_RECORDED
    """pip refuses to install into it (PEP 668)."""
    made_by_uv: bool | Unread = NOT_RECORDED
    """Its virtual environment was made by uv."""
    keras_backend: str | Unread | None = NOT_RECORDED
    """The backend that ~/.keras/keras.json names; None: no such file, or it names none."""
    distributions: tuple[Distribution, ...] | Unread = NOT_RECORDED
    """Those that matter to TensorFlow on GPUs."""
    conda_packages: tuple[CondaPackage, ...] | Unread = NOT_RECORDED
    overlaps: tuple[Overlap, ...] | Unread = NOT_RECORDED
    damaged: tuple[DamagedFile, ...] | Unread = NOT_RECORDED
    modules: tuple[ModulePlace, ...] | Unread = NOT_RECORDED
    """Of tensorflow, keras, numpy and nvidia: everything on sys.path that has the name, in its order."""
    kernels: tuple[KernelSpec, ...] | Unread = NOT_RECORDED
    """Jupyter's kernels that run Python."""
    others: tuple[OtherInterpreter, ...] | Unread = NOT_RECORDED
