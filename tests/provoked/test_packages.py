"""The interpreter and its packages: none, several, of the wrong kind or generation, spoilt. Each fault is made in a real
environment, gpudoctor is run on it, and what it says is pasted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.building import FAKES
from tests.interpreters import interpreters
from tests.provoked.bench import Bench, Case, Maker, prove
from tests.provoked.environments import LISTS_TWO, VERSIONS, Files, made, repacked, tensorflow_files, tensorflow_wheel

IMPORTED = ("--level", "standard", "--no-kernels")
PINS = [f"{distribution}>={least}" for distribution, least in VERSIONS.items()]


# ------------------------------------------------------------------------------- none, or another


def _bare(bench: Bench, python: str = sys.executable) -> None:
    """Another environment, which has pip alone; the release that fits the GPUs is on the index."""
    made(bench.tmp / "bare env", python)
    bench.python = str(bench.tmp / "bare env")
    tensorflow_wheel(bench.house, "2.20.0")
    bench.house.add("tensorflow", "2.6.2", tensorflow_files())


def empty(bench: Bench) -> None:
    _bare(bench)
    shutil.rmtree(bench.place.prefix)


def under(minor: str) -> Case:
    def fault(bench: Bench) -> None:
        path = interpreters().get(minor)
        if path is None:
            pytest.skip(f"no Python {minor} here")
        _bare(bench, path)

    return Case("tf-not-installed", f"an environment of Python {minor} without it", fault, name=minor)


def of_the_system(bench: Bench) -> None:
    """A copy of the interpreter that is marked as the system's own (PEP 668)."""
    library = Path(sysconfig.get_path("stdlib"))
    place = bench.tmp / "usr"
    (place / "bin").mkdir(parents=True)
    (place / "lib").mkdir()
    shutil.copy(os.path.realpath(sys.executable), place / "bin/python3")
    subprocess.run(["cp", "-rs", str(library), str(place / "lib")], check=True)
    shutil.rmtree(place / "lib" / library.name / "site-packages")
    (place / "lib" / library.name / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=no\n")
    bench.env["LD_LIBRARY_PATH"] = sysconfig.get_config_var("LIBDIR")
    bench.python = str(place / "bin/python3")
    tensorflow_wheel(bench.house, "2.20.0")


def script_of_that_name(bench: Bench) -> None:
    (bench.cwd / "tensorflow.py").write_text("print('my first network')\n")


def numpy_of_that_name(bench: Bench) -> None:
    bench.house.add("numpy", "1.26.4", {"numpy/__init__.py": ""})
    bench.place.pip("install", "numpy==1.26.4")
    (bench.cwd / "numpy.py").write_text("print('my numbers')\n")


def source_tree(bench: Bench) -> None:
    """As when Python is started in a checkout of TensorFlow's sources."""
    (bench.cwd / "tensorflow").mkdir()
    (bench.cwd / "tensorflow/__init__.py").write_text("from tensorflow.python import pywrap_tensorflow\n")
    _init(bench, LISTS_TWO)
    bench.level = IMPORTED


def _init(bench: Bench, text: str) -> None:
    (bench.site / "tensorflow/__init__.py").write_text(text)


def kernel_of_another(bench: Bench) -> None:
    made(bench.tmp / "old env", pip=False)
    directory = bench.place.home / ".local/share/jupyter/kernels/python3"
    directory.mkdir(parents=True)
    argv = [f"{bench.tmp}/old env/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (directory / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    bench.env["PIP_NO_INDEX"] = "0"  # the real ipykernel
    bench.env["PIP_CONFIG_FILE"] = os.environ.get("PIP_CONFIG_FILE", "")


def _keras(bench: Bench) -> None:
    bench.house.add("keras", "3.12.0", {"keras/__init__.py": ""})
    bench.place.pip("install", "keras==3.12.0")


def keras_on_jax(bench: Bench) -> None:
    _keras(bench)
    bench.env["KERAS_BACKEND"] = "jax"


def keras_configured(bench: Bench) -> None:
    _keras(bench)
    (bench.place.home / ".keras").mkdir()
    (bench.place.home / ".keras/keras.json").write_text('{"backend": "torch", "floatx": "float32"}')


# ------------------------------------------------------------------------------- builds


def _for_cpus(bench: Bench) -> None:
    files = tensorflow_files(cuda=None)
    bench.house.add("tensorflow-cpu", "2.21.0", files)


def cpu_package(bench: Bench) -> None:
    _for_cpus(bench)
    bench.place.pip("uninstall", "-y", "tensorflow")
    bench.place.pip("install", "tensorflow-cpu==2.21.0")


def both_packages(bench: Bench) -> None:
    _for_cpus(bench)
    bench.place.pip("install", "tensorflow-cpu==2.21.0")


def two_releases(bench: Bench) -> None:
    """Mixed from two releases, as when another package asks for tf-nightly; both have CUDA."""
    bench.house.add("tf-nightly", "2.22.0.dev20260301", tensorflow_files())
    bench.place.pip("install", "--pre", "tf-nightly")


CONDA = """#!/bin/bash
# What conda would do of it: `conda install -p PREFIX -c CHANNEL NAME=VERSION=BUILD*` puts another build in the place of the one
# that is there.
set -e
[[ $1 = install && $2 = -p && $4 = -c && $5 = conda-forge && $# = 6 && $6 =~ ^tensorflow=([0-9.]+)=cuda\\*$ ]]
rm "$3"/conda-meta/tensorflow-*.json
echo '{}' > "$3/conda-meta/tensorflow-${BASH_REMATCH[1]}-cuda120py312hf2b0f1d_3.json"
echo '{}' > "$3/conda-meta/tensorflow-base-${BASH_REMATCH[1]}-cuda120py312h4e5d3d9_3.json"
cat > "$3"/lib/python3.*/site-packages/tensorflow/python/platform/build_info.py <<'F'
build_info = dict([('is_cuda_build', True), ('is_rocm_build', False), ('cuda_version', '12.5.1')])
F
"""


def conda_for_cpus(bench: Bench) -> None:
    meta = bench.place.prefix / "conda-meta"
    meta.mkdir()
    for name in ("tensorflow", "tensorflow-base"):
        (meta / f"{name}-2.21.0-cpu_py312h69ecde4_0.json").write_text("{}")
    (meta / "history").touch()
    for path, text in tensorflow_files(cuda=None).items():
        (bench.site / path).write_text(text)
    info = bench.site / "tensorflow-2.21.0.dist-info"
    (info / "INSTALLER").write_text("conda\n")
    (bench.tmp / "bin").mkdir()
    (bench.tmp / "bin/conda").write_text(CONDA)
    (bench.tmp / "bin/conda").chmod(0o755)
    bench.path = str(bench.tmp / "bin")


# ------------------------------------------------------------------------------- the system


def _preloaded(bench: Bench, **told: str) -> None:
    library = bench.workshop.fake("platform.c", "libplatform.so")
    bench.env |= {"LD_PRELOAD": str(library), **told}


def old_glibc(bench: Bench) -> None:
    _preloaded(bench, FAKE_GLIBC="2.17")
    tensorflow_wheel(bench.house, "2.20.0")


def on_arm(bench: Bench) -> None:
    _for_cpus(bench)
    for path, text in tensorflow_files(cuda=None).items():
        (bench.site / path).write_text(text)
    _preloaded(bench, FAKE_MACHINE="aarch64")


def without_avx(bench: Bench) -> None:
    """The processor's flags lack it, and the first instruction of TensorFlow's library is one that it does not have."""
    library = bench.site / "tensorflow/libtensorflow_framework.so.2"
    library.unlink()
    path = ":".join(f"$ORIGIN/../nvidia/{d.name}/lib" for d in sorted((bench.site / "nvidia").iterdir()))
    command = ["gcc", "-shared", "-fPIC", f"-Wl,-rpath,{path}", str(FAKES / "illegal.c"), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    flags = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: QEMU Virtual CPU\nflags\t\t: fpu sse sse2 ssse3 sse4_2\n"
    (bench.tmp / "cpuinfo").write_text(flags)
    mounted = 'mount --bind "$0" /proc/cpuinfo && exec "$@"'
    bench.around = ("unshare", "-m", "bash", "-c", mounted, str(bench.tmp / "cpuinfo"))


# ------------------------------------------------------------------------------- the import


def _release(
    bench: Bench, version: str, requires: tuple[str, ...], init: str, more: dict[str, bytes] | None = None
) -> None:
    """A TensorFlow that asks for other packages, imported whole."""
    files: Files = {**tensorflow_files(f"__version__ = {version!r}\n{init}\n{LISTS_TWO}"), **(more or {})}
    bench.house.add("tensorflow", version, files, requires, extras={"and-cuda": PINS})
    bench.level = IMPORTED


def _numpy_1(bench: Bench) -> None:
    files = {"numpy/__init__.py": "__version__ = '1.26.4'\n", "numpy/core/__init__.py": ""}
    bench.house.add("numpy", "1.26.4", {**files, "numpy/core/_multiarray_umath.py": "_ARRAY_API = object()\n"})


def numpy_2(bench: Bench) -> None:
    """The real numpy 2, and an extension that does what numpy 1's headers do."""
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").is_file():
        pytest.skip("no header files of Python")
    native = bench.tmp / "_native.so"
    command = ["gcc", "-shared", "-fPIC", f"-I{include}", str(FAKES / "numpy1.c"), "-o", str(native)]
    subprocess.run(command, check=True, capture_output=True)
    _numpy_1(bench)
    version = repacked(bench.house, "numpy")
    compiled = {"tensorflow/_native.so": native.read_bytes()}
    _release(bench, "2.15.1", ("numpy<2.0.0,>=1.23.5",), "from tensorflow import _native", compiled)
    bench.place.pip("install", "tensorflow==2.15.1")
    bench.place.pip("install", "--no-deps", f"numpy=={version}")


def numpy_2_by_release(bench: Bench) -> None:
    """The same, where nobody imports it."""
    _numpy_1(bench)
    bench.house.add("numpy", "2.2.6", {"numpy/__init__.py": ""})
    _release(bench, "2.15.1", ("numpy<2.0.0,>=1.23.5",), "")
    bench.place.pip("install", "tensorflow==2.15.1")
    bench.place.pip("install", "--no-deps", "numpy==2.2.6")
    bench.level = ("--level", "quick")


OLD_DESCRIPTOR = """
from google.protobuf import descriptor as _descriptor
TYPES = _descriptor.FieldDescriptor(
    name='dtype', full_name='tensorflow.TensorProto.dtype', index=0, number=1, type=14, cpp_type=8, label=1,
    has_default_value=False, default_value=0, message_type=None, enum_type=None, containing_type=None,
    is_extension=False, extension_scope=None, serialized_options=None, file=None)
"""
"""As protoc 3.12 wrote it, which TensorFlow 2.5 was built with."""
NEWER_CODE = """
from google.protobuf import runtime_version
runtime_version.ValidateProtobufRuntimeVersion(runtime_version.Domain.PUBLIC, 99, 1, 0, '', 'tensorflow/tensor.proto')
"""
"""As protoc writes it today, of a protobuf that is newer than the one that is installed."""


def _protobuf(bench: Bench, version: str, wants: str, has: str, code: str) -> None:
    real = repacked(bench.house, "protobuf")
    about = {"google/protobuf/descriptor.py": "class FieldDescriptor:\n    def __init__(self, **told): pass\n"}
    newer = "class Domain:\n    PUBLIC = 1\ndef ValidateProtobufRuntimeVersion(*told): pass\n"
    about |= {"google/protobuf/__init__.py": "", "google/protobuf/runtime_version.py": newer}
    bench.house.add("protobuf", has, about)
    _release(
        bench,
        version,
        (f"protobuf{wants}",),
        "from tensorflow import tensor_pb2",
        {"tensorflow/tensor_pb2.py": code.encode()},
    )
    bench.place.pip("install", "--force-reinstall", "--no-deps", f"tensorflow=={version}", f"protobuf=={real}")


def protobuf_too_new(bench: Bench) -> None:
    _protobuf(bench, "2.5.3", "<3.20,>=3.9.2", "3.19.6", OLD_DESCRIPTOR)


def protobuf_too_old(bench: Bench) -> None:
    _protobuf(bench, "2.21.0", ">=99.1", "99.1.0", NEWER_CODE)


def protobuf_by_release(bench: Bench) -> None:
    protobuf_too_new(bench)
    bench.house.add("protobuf", "4.25.8", {"google/protobuf/__init__.py": ""})
    _release(bench, "2.15.1", ("protobuf<5.0.0,>=3.20.3",), "")
    bench.place.pip("install", "--no-deps", "tensorflow==2.15.1")
    bench.level = ("--level", "quick")


def module_cut_short(bench: Bench) -> None:
    stub = bench.workshop.stub("_pywrap_tensorflow_internal.so").read_bytes()
    _release(
        bench,
        "2.21.0",
        (),
        "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'python/_internal.so'))",
        {"tensorflow/python/_internal.so": stub},
    )
    bench.place.pip("install", "--force-reinstall", "--no-deps", "tensorflow==2.21.0")
    os.truncate(bench.site / "tensorflow/python/_internal.so", 40)


def dependency_gone(bench: Bench) -> None:
    bench.house.add("wrapt", "1.17.2", {"wrapt/__init__.py": ""})
    _release(bench, "2.21.0", ("wrapt>=1.11.0",), "import wrapt")
    bench.place.pip("install", "--force-reinstall", "--no-deps", "tensorflow==2.21.0")


CASES = (
    Case("tf-not-installed", "an environment without it", empty),
    *(under(minor) for minor in ("3.6", "3.8", "3.13")),
    Case("tf-not-installed", "a Python that is marked as the system's own", of_the_system, name="externally-managed", then="tensorflow"),
    Case("tf-shadowed", "a script tensorflow.py in the working directory", script_of_that_name, name="script"),
    Case("tf-shadowed", "a script numpy.py in the working directory", numpy_of_that_name, name="numpy"),
    Case("tf-shadowed", "started in a source tree of TensorFlow", source_tree, name="tree"),
    Case("jupyter-kernel-other-environment", "the user's kernel starts another environment; the real ipykernel is installed", kernel_of_another),
    Case("keras-backend-not-tensorflow", "KERAS_BACKEND=jax", keras_on_jax, name="variable"),
    Case("keras-backend-not-tensorflow", "torch in ~/.keras/keras.json", keras_configured, name="file"),
    Case("tf-cpu-only-package", "pip installed tensorflow-cpu", cpu_package),
    Case("tf-packages-overlap", "pip installed tensorflow-cpu over tensorflow", both_packages, name="cpu"),
    Case("tf-packages-overlap", "pip installed tf-nightly over tensorflow", two_releases, name="nightly"),
    Case("conda-cpu-build", "conda's metadata of a CPU build; a stand-in for conda, which must understand the line", conda_for_cpus),
    Case("glibc-too-old", "a preloaded library by which glibc says 2.17", old_glibc),
    Case("tf-aarch64-cpu-only", "a CPU build, and a preloaded library by which uname() says aarch64", on_arm, advice=True),
    Case("cpu-no-avx", "a loader object that dies of an illegal instruction, a /proc/cpuinfo without avx", without_avx, advice=True),
    Case("numpy-abi-break", "the real numpy 2 under an extension that was compiled for numpy 1", numpy_2, name="import"),
    Case("numpy-abi-break", "pip installed numpy 2 beside TensorFlow 2.15.1, which is not imported", numpy_2_by_release, name="release"),
    Case("protobuf-mismatch", "the real protobuf under code of protoc 3.12", protobuf_too_new, name="descriptors"),
    Case("protobuf-mismatch", "the real protobuf under code of a newer protoc", protobuf_too_old, name="gencode"),
    Case("protobuf-mismatch", "pip installed protobuf of another generation, TensorFlow is not imported", protobuf_by_release, name="release"),
    Case("tf-import-broken", "a library of TensorFlow's own cut short", module_cut_short, name="cut"),
    Case("tf-import-broken", "a package that it needs is not installed", dependency_gone, name="dependency"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cause_is_first_and_its_fix_cures_it(case: Case, make: Maker) -> None:
    prove(case, make)
