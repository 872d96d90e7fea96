"""What is done to TensorFlow for each text of the corpus.

A case is a host (a driver or none, what cuInit answers, which CUDA libraries are found) and what surrounds TensorFlow
(the environment, a file beside the script, other packages). Names of cases are parts of file names.
"""

from __future__ import annotations

import dataclasses

CODES = (100, 999, 803, 804, 802, 34, 3, 46, 2, 101, 304)
KERNEL = "535.161.08"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """One host. `libraries`: 'none', 'all' or 'all' without those in `without` (short names: cudart, cublasLt …)."""

    made: str
    libcuda: str | None = (
        KERNEL  # the version that its file name carries; '' is a file named libcuda.so.1; None: no libcuda
    )
    kernel: str | None = KERNEL  # what /proc/driver/nvidia/version says; None: the module is not loaded
    nvidia0: bool = True
    nvml: bool = True  # libnvidia-ml.so.1 lies beside libcuda
    cuinit: int = 0
    libraries: str = "none"
    without: tuple[str, ...] = ()
    damaged: tuple[str, str] | None = None  # (short name, 'short', 'no-elf' or 'needs SONAME')
    other_major: tuple[str, ...] = ()  # these are there, of the next major version
    environment: tuple[tuple[str, str], ...] = ()
    beside: tuple[tuple[str, str], ...] = ()  # files beside the script
    packages: tuple[
        str, ...
    ] = ()  # installed before, over what is there: only in a venv that is thrown away afterwards


def _codes() -> dict[str, Case]:
    found = {f"cuinit-{code}": Case(made=f"cuInit answers {code}", cuinit=code, libraries="all") for code in CODES}
    found["cuinit-34"] = Case(
        made="the toolkit's stub as libcuda.so.1: every call answers 34", cuinit=34, libcuda="", libraries="all"
    )
    newer, older = "550.54.15", "530.30.02"
    for code in (803, 804):
        found[f"cuinit-{code}"] = Case(
            made=f"cuInit answers {code}, libcuda is newer than the kernel module",
            cuinit=code, libcuda=newer, libraries="all",
        )  # fmt: skip
    found["cuinit-803-older"] = Case(
        made="cuInit answers 803, libcuda is older than the kernel module", cuinit=803, libcuda=older, libraries="all"
    )
    return found


CASES: dict[str, Case] = {
    "no-driver": Case(made="no libcuda, no module, no device node", libcuda=None, kernel=None, nvidia0=False),
    "no-driver-libs": Case(
        made="no libcuda, no module, no device node; the CUDA libraries are found",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        libraries="all",
    ),
    "no-nvml": Case(made="the driver works, libnvidia-ml.so.1 is not found", nvml=False, libraries="all"),
    "no-libcuda": Case(made="the module is loaded, no libcuda is found", libcuda=None, libraries="all"),
    **_codes(),
    "cuinit-100-no-node": Case(
        made="cuInit answers 100, the module is loaded, no /dev/nvidia0", cuinit=100, nvidia0=False, libraries="all"
    ),
    "cuinit-100-no-module": Case(
        made="cuInit answers 100, the module is not loaded, no device node",
        cuinit=100,
        kernel=None,
        nvidia0=False,
        libraries="all",
    ),
    "cuinit-999-no-module": Case(
        made="cuInit answers 999, the module is not loaded, no device node",
        cuinit=999,
        kernel=None,
        nvidia0=False,
        libraries="all",
    ),
    "cuinit-999-no-libs": Case(made="cuInit answers 999, no CUDA library is found", cuinit=999),
    "cvd-empty": Case(
        made="CUDA_VISIBLE_DEVICES is empty", cuinit=100, libraries="all", environment=(("CUDA_VISIBLE_DEVICES", ""),)
    ),
    "cvd-empty-no-node": Case(
        made="CUDA_VISIBLE_DEVICES is empty and /dev/nvidia0 is not there",
        cuinit=100,
        nvidia0=False,
        libraries="all",
        environment=(("CUDA_VISIBLE_DEVICES", ""),),
    ),
    "cvd-minus1": Case(
        made="CUDA_VISIBLE_DEVICES=-1", cuinit=100, libraries="all", environment=(("CUDA_VISIBLE_DEVICES", "-1"),)
    ),
    "cvd-7": Case(
        made="CUDA_VISIBLE_DEVICES=7", cuinit=100, libraries="all", environment=(("CUDA_VISIBLE_DEVICES", "7"),)
    ),
    "libs-none": Case(made="the driver works, no CUDA library is found"),
    **{
        f"libs-no-{name}": Case(made=f"the driver works, {name} alone is not found", libraries="all", without=(name,))
        for name in ("cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "cudnn")
    },
    "libs-other-major": Case(
        made="the driver works, the CUDA libraries found are of the next major version",
        libraries="none",
        other_major=("cudart", "cublas", "cublasLt", "cufft", "cusparse"),
    ),
    "libs-other-cudnn": Case(
        made="the driver works, the cuDNN found is of the next major version",
        libraries="all",
        without=("cudnn",),
        other_major=("cudnn",),
    ),
    "libs-cudnn-short": Case(made="libcudnn is cut off after 20 bytes", libraries="all", damaged=("cudnn", "short")),
    "libs-cublas-no-elf": Case(
        made="libcublas is a text (a pointer of a version control system)",
        libraries="all",
        damaged=("cublas", "no-elf"),
    ),
    "libs-cusolver-needs": Case(
        made="libcusolver needs libnvJitLink.so.12, which is not found",
        libraries="all",
        damaged=("cusolver", "needs libnvJitLink.so.12"),
    ),
    "no-driver-quiet": Case(
        made="no driver, TF_CPP_MIN_LOG_LEVEL=3",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        environment=(("TF_CPP_MIN_LOG_LEVEL", "3"),),
    ),
    "libs-no-cusolver-vlog": Case(
        made="the driver works, cusolver alone is not found, TF_CPP_VMODULE=dso_loader=1",
        libraries="all",
        without=("cusolver",),
        environment=(("TF_CPP_VMODULE", "dso_loader=1"),),
    ),
    "shadowed": Case(
        made="a file tensorflow.py lies beside the script",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        beside=(("tensorflow.py", "import numpy as np\n\n\ndef layer(x):\n    return np.maximum(x, 0)\n"),),
    ),
    "numpy-2": Case(
        made="numpy 2 is installed over an older one",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        packages=("numpy==2.2.6",),
    ),
    "numpy-old": Case(
        made="numpy 1.19 is installed, older than TensorFlow was compiled for",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        packages=("numpy==1.19.5",),
    ),
    "protobuf-5": Case(
        made="protobuf 5 is installed over an older one",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        packages=("protobuf==5.29.3",),
    ),
    "protobuf-4": Case(
        made="protobuf 4 is installed over an older one",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        packages=("protobuf==4.21.12",),
    ),
    "no-tensorflow": Case(made="an environment without TensorFlow", libcuda=None, kernel=None, nvidia0=False),
    "keras-other": Case(
        made="Keras 2.6 is installed over another",
        libcuda=None,
        kernel=None,
        nvidia0=False,
        packages=("keras==2.6.0",),
    ),
}
MAIN = (
    "no-driver", "cuinit-100", "cuinit-100-no-module", "cuinit-999", "cuinit-803", "cuinit-804", "cvd-minus1",
    "libs-none", "libs-no-cudart", "libs-no-cudnn",
)  # fmt: skip
ALL = tuple(n for n, c in CASES.items() if not c.packages and n != "no-tensorflow")
# From 2.12 on a library that can't be opened is not named: these read like libs-no-cublas, which 2.12.1 and 2.21.0 show.
SILENT = (
    "libs-no-cublasLt", "libs-no-cufft", "libs-no-cusolver", "libs-no-cusparse", "libs-cublas-no-elf",
    "libs-cusolver-needs", "libs-other-cudnn", "libs-other-major", "cuinit-999-no-module", "no-driver-quiet", "no-nvml",
)  # fmt: skip
FEW = ("no-driver", "cuinit-999", "libs-none")
MOST = (*MAIN, "libs-no-cublas", "libs-other-major", "libs-other-cudnn", "cuinit-34", "cuinit-100-no-node", "cvd-empty")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Release:
    """A build: the Python it runs under, what pip is told, and its cases."""

    version: str
    python: str
    cases: tuple[str, ...]
    package: str = "tensorflow"
    pins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.package} {self.version}".strip() if self.package else "Python without TensorFlow"

    @property
    def name(self) -> str:
        if not self.package:
            return "none"
        return (
            self.version
            if self.package == "tensorflow"
            else f"{self.package.removeprefix('tensorflow-')}-{self.version}"
        )


RELEASES = (
    Release(version="2.21.0", python="3.12", cases=ALL),
    Release(version="2.18.1", python="3.12", cases=tuple(n for n in ALL if n not in SILENT)),
    Release(version="2.12.1", python="3.11", cases=tuple(n for n in ALL if n != "no-nvml")),
    Release(version="1.15.5", python="3.7", cases=FEW, pins=("protobuf<3.21",)),
    Release(
        version="1.15.5",
        python="3.7",
        package="tensorflow-gpu",
        cases=(*MOST, "shadowed", "libs-cudnn-short"),
        pins=("protobuf<3.21",),
    ),
    Release(version="2.15.1", python="3.11", cases=(*MOST, "numpy-2")),
    Release(
        version="2.8.4",
        python="3.8",
        cases=(*MOST, "libs-cusolver-needs", "libs-cudnn-short", "protobuf-4", "keras-other", "numpy-old"),
        pins=("protobuf<3.20",),
    ),
    Release(version="2.20.0", python="3.12", cases=(*MAIN, "cvd-empty", "cuinit-34", "libs-no-cusolver", "no-nvml")),
    Release(version="2.16.2", python="3.12", cases=(*MAIN, "libs-no-cusolver", "cuinit-34", "cuinit-100-no-node")),
    Release(version="2.4.4", python="3.8", cases=(*MAIN, "libs-no-cusolver", "cuinit-34")),
    Release(version="2.14.1", python="3.11", cases=(*MAIN, "libs-no-cusolver", "numpy-2")),
    Release(version="2.10.1", python="3.8", cases=(*MAIN, "libs-no-cusolver", "protobuf-5")),
    Release(version="1.14.0", python="3.7", package="tensorflow-gpu", cases=MAIN, pins=("protobuf<3.20",)),
    Release(version="2.17.1", python="3.12", cases=MAIN),
    Release(version="2.19.1", python="3.12", cases=MAIN),
    Release(version="2.13.1", python="3.11", cases=MAIN),
    Release(version="2.6.5", python="3.8", cases=MAIN, pins=("protobuf<3.20",)),
    Release(version="2.18.1", python="3.12", package="tensorflow-cpu", cases=FEW),
    Release(version="2.12.1", python="3.11", package="tensorflow-cpu", cases=FEW),
    Release(version="", python="3.12", package="", cases=("no-tensorflow",)),
)
