"""CUDA's libraries for TensorFlow's real loader object: missing, elsewhere, of another CUDA, spoilt. Each fault is made
in a real environment, gpudoctor is run on it, and what it says is pasted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.building import put
from tests.probes.test_tensorflow import WHEELS
from tests.provoked.bench import Bench, Case, Maker, prove, roots
from tests.provoked.environments import VERSIONS


def _without(*distributions: str) -> Case:
    def fault(bench: Bench) -> None:
        bench.place.pip("uninstall", "-y", *distributions)

    return Case("cuda-libs-missing", f"pip uninstall {' '.join(distributions)}", fault)


def nothing_but_tensorflow(bench: Bench) -> None:
    """What `pip install tensorflow` brings: no library at all."""
    bench.place.pip("uninstall", "-y", *VERSIONS)
    shutil.rmtree(bench.site / "nvidia", ignore_errors=True)


def _toolkit(bench: Bench, version: str, sonames: Mapping[str, tuple[str, ...]]) -> Path:
    """A CUDA toolkit with stubs: soname -> what it needs."""
    place = bench.tmp / f"cuda {version}"
    for soname, needed in sonames.items():
        put(bench.workshop.stub(soname, needed), place / "lib64", soname)
    (place / "version.json").write_text(f'{{"cuda": {{"name": "CUDA SDK", "version": "{version}.1"}}}}')
    bench.env["CUDA_HOME"] = str(place)
    return place


OF_CUDA_12 = {soname: () for soname, _, _ in WHEELS.values()}


def _on_path(bench: Bench, directory: Path) -> None:
    bench.env["LD_LIBRARY_PATH"] = f"{directory}:{bench.tmp}/not there"


def toolkit_off_the_path(bench: Bench) -> None:
    nothing_but_tensorflow(bench)
    _toolkit(bench, "12.5", OF_CUDA_12)


def conda_off_the_path(bench: Bench) -> None:
    nothing_but_tensorflow(bench)
    for soname in OF_CUDA_12:
        put(bench.workshop.stub(soname), bench.place.prefix / "lib", soname)


def older_toolkit(bench: Bench) -> None:
    nothing_but_tensorflow(bench)
    old = ("libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11", "libcufft.so.10", "libcudnn.so.8")
    _on_path(bench, _toolkit(bench, "11.8", dict.fromkeys(old, ())) / "lib64")


def newer_wheels(bench: Bench) -> None:
    nothing_but_tensorflow(bench)
    path = "nvidia/cu13/lib/libcudart.so.13"
    bench.house.add("nvidia-cuda-runtime", "13.0.96", {path: bench.workshop.stub("libcudart.so.13").read_bytes()})
    path = "nvidia/cu13/lib/libcublas.so.13"
    bench.house.add("nvidia-cublas", "13.1.0.3", {path: bench.workshop.stub("libcublas.so.13").read_bytes()})
    bench.place.pip("install", "nvidia-cuda-runtime==13.0.96", "nvidia-cublas==13.1.0.3")


def cudnn_8(bench: Bench) -> None:
    path = "nvidia/cudnn/lib/libcudnn.so.8"
    bench.house.add("nvidia-cudnn-cu12", "8.9.7.29", {path: bench.workshop.stub("libcudnn.so.8").read_bytes()})
    bench.place.pip("install", "nvidia-cudnn-cu12==8.9.7.29")


def cudnn_9_1(bench: Bench) -> None:
    """As PyTorch pins it."""
    path = "nvidia/cudnn/lib/libcudnn.so.9"
    bench.house.add("nvidia-cudnn-cu12", "9.1.0.70", {path: bench.workshop.stub("libcudnn.so.9").read_bytes()})
    bench.place.pip("install", "nvidia-cudnn-cu12==9.1.0.70")


def cudnn_of_cuda_13(bench: Bench) -> None:
    """Its libcudnn needs a library of CUDA 13 that is not here."""
    stub = bench.workshop.stub("libcudnn.so.9", ("libcublasLt.so.13",)).read_bytes()
    bench.house.add("nvidia-cudnn-cu13", "9.14.0.64", {"nvidia/cudnn/lib/libcudnn.so.9": stub + b"\0" * 64})
    bench.place.pip("install", "nvidia-cudnn-cu13==9.14.0.64")


def cut_short(bench: Bench) -> None:
    os.truncate(bench.site / "nvidia/cufft/lib/libcufft.so.11", 100)


def one_file_gone(bench: Bench) -> None:
    (bench.site / "nvidia/cudnn/lib/libcudnn.so.9").unlink()


def spoilt(bench: Bench) -> None:
    """Of the right size, and no ELF object: a bad disk, a copy that went wrong."""
    path = bench.site / "nvidia/cufft/lib/libcufft.so.11"
    path.write_bytes(b"\0" * path.stat().st_size)


def text_on_the_path(bench: Bench) -> None:
    """A linker's script is first on the path, a good library behind it."""
    (bench.tmp / "old libs").mkdir()
    (bench.tmp / "old libs/libcufft.so.11").write_text("INPUT(libcufft.so.11.2)\n" * 9)
    _on_path(bench, bench.tmp / "old libs")


def other_toolkit_on_the_path(bench: Bench) -> None:
    """CUDA 12.8's libcusolver needs a libnvJitLink of its own, which is not installed."""
    place = _toolkit(bench, "12.8", {"libcusolver.so.11": ("libcublasLt_of_12_8.so.12",), "libcufft.so.11": ()})
    _on_path(bench, place / "lib64")


def wheels_in_another_directory(bench: Bench) -> None:
    """As `pip install --target` or a second layer of an image leaves them."""
    (bench.tmp / "more packages").mkdir()
    shutil.move(bench.site / "nvidia", bench.tmp / "more packages/nvidia")
    for info in bench.site.glob("nvidia_*.dist-info"):
        shutil.move(info, bench.tmp / "more packages" / info.name)
    bench.env["PYTHONPATH"] = str(bench.tmp / "more packages")


def no_link(bench: Bench) -> None:
    (bench.site / "nvidia/cusparse/lib/libcusolver.so.11").unlink()


def hidden_by_another_cuda(bench: Bench) -> None:
    """libcusparse.so.12 is CUDA 13's as well: the wheel is not missed, and what it needs may not fit."""
    bench.place.pip("uninstall", "-y", "nvidia-cusparse-cu12")
    _on_path(bench, _toolkit(bench, "13.0", {"libcusparse.so.12": (), "libcudart.so.13": ()}) / "lib64")


def both_are_there(bench: Bench) -> None:
    """The wheel is installed, and the variable puts CUDA 13's before it."""
    _on_path(bench, _toolkit(bench, "13.0", {"libcusparse.so.12": (), "libcudart.so.13": ()}) / "lib64")


GAP = ("tf-wheel-runpath-gap",)
"""TensorFlow 2.21.0's own, where the link that mends it went with the wheel."""
CASES = (
    Case("cuda-toolkit-missing", "pip uninstalls all CUDA wheels", nothing_but_tensorflow, name="plain"),
    Case("cuda-libs-missing", "pip uninstalls one CUDA wheel", _without("nvidia-cufft-cu12").make, name="cufft"),
    Case("cuda-libs-missing", "pip uninstalls nvJitLink, which others need", _without("nvidia-nvjitlink-cu12").make, name="nvjitlink"),
    Case("cudnn-missing", "pip uninstalls the wheel of cuDNN", _without("nvidia-cudnn-cu12").make, name="cudnn"),
    Case("ld-library-path-not-set", "a toolkit that CUDA_HOME names, no wheels", toolkit_off_the_path, name="toolkit"),
    Case("ld-library-path-not-set", "the libraries in the environment's own lib, no wheels", conda_off_the_path, name="conda"),
    Case("cuda-version-mismatch", "a CUDA 11.8 toolkit on LD_LIBRARY_PATH, no wheels", older_toolkit, name="11"),
    Case("cuda-version-mismatch", "pip installed CUDA 13's wheels alone", newer_wheels, name="13"),
    Case("cudnn-wrong-major", "pip installed cuDNN 8 in the place of 9", cudnn_8),
    Case("cudnn-version-too-old", "pip installed cuDNN 9.1", cudnn_9_1),
    Case("cu12-cu13-wheel-clash", "pip installed nvidia-cudnn-cu13 over nvidia-cudnn-cu12", cudnn_of_cuda_13),
    Case("wheel-damaged", "libcufft.so.11 of the wheel cut short", cut_short, name="cut"),
    Case("wheel-damaged", "libcudnn.so.9 of the wheel deleted", one_file_gone, name="gone"),
    Case("cuda-lib-unusable", "libcufft.so.11 of the wheel overwritten with zeros", spoilt, name="zeros"),
    Case("cuda-lib-unusable", "a text called libcufft.so.11 first on LD_LIBRARY_PATH", text_on_the_path, name="text"),
    Case("ld-library-path-wrong-toolkit", "another toolkit, whose libcusolver lacks a library, first on LD_LIBRARY_PATH", other_toolkit_on_the_path),
    Case("pip-nvidia-libs-not-found", "the wheels in another directory of packages than TensorFlow", wheels_in_another_directory),
    Case("tf-wheel-runpath-gap", "tensorflow[and-cuda] 2.21.0 as pip installs it", no_link),
    Case("cuda-lib-from-other-toolkit", "no cuSPARSE wheel, CUDA 13's libcusparse.so.12 on LD_LIBRARY_PATH", hidden_by_another_cuda, name="hidden"),
    Case("cuda-lib-from-other-toolkit", "CUDA 13's libcusparse.so.12 on LD_LIBRARY_PATH before the wheel's", both_are_there, name="first"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cause_is_first_and_its_fix_cures_it(case: Case, make: Maker) -> None:
    prove(case, make)


def test_without_a_fault_nothing_is_said(make: Maker) -> None:
    bench = make()
    seen = bench.check()
    assert roots(seen) == []
    assert seen["facts"]["tensorflow"]["loader_ok"] is True
