from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import NOT_RECORDED, CondaPackage, Distribution, Facts, Overlap, RecordedFile, Unread
from tests.factory import SITE, cannot_open, found, healthy, lists_no_gpu, outcome, roots, wheel, with_


def overlap(*owners: str, path: str = f"{SITE}/tensorflow/__init__.py", size: int | None = 3) -> Overlap:
    file = RecordedFile(path=path, size_bytes=size, recorded_bytes=tuple(range(2, 2 + len(owners))))
    return Overlap(owners=owners, count=40, files=(file,))


# ------------------------------------------------------------------------------- tf-packages-overlap


def both(facts: Facts, cpu: str = "2.20.0") -> Facts:
    over = Unread(why="several distributions lie over each other")
    return with_(
        facts,
        python__overlaps=(overlap("tensorflow 2.20.0", f"tensorflow-cpu {cpu}"),),
        tensorflow__distribution=over,
        tensorflow__version=over,
    )


def test_tf_packages_overlap() -> None:
    facts = with_(both(lists_no_gpu(healthy())), tensorflow__build__cuda=False)
    assert roots(facts) == ["tf-packages-overlap"]
    finding = found(facts)["tf-packages-overlap"]
    assert finding.message == "tensorflow 2.20.0 and tensorflow-cpu 2.20.0 are installed over each other."
    assert finding.fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip uninstall -y tensorflow tensorflow-cpu",
        "/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]==2.20.0'",
    )


def test_packages_that_can_not_be_imported_together() -> None:
    facts = with_(
        both(lists_no_gpu(healthy())),
        tensorflow__import_error="ImportError: undefined symbol",
        tensorflow__devices=Unread(why="import tensorflow failed"),
    )
    assert roots(facts) == ["tf-packages-overlap"]


def test_two_versions_over_each_other() -> None:
    assert roots(both(lists_no_gpu(healthy()), cpu="2.15.1")) == ["tf-packages-overlap"]


def test_an_overlap_that_does_no_harm() -> None:
    assert outcome(both(healthy()), "tf-packages-overlap") == "skipped"
    assert outcome(both(healthy(), cpu="2.15.1"), "tf-packages-overlap") == "skipped"
    assert outcome(both(lists_no_gpu(healthy())), "tf-packages-overlap") == "passed"


def test_what_is_no_overlap_of_tensorflows() -> None:
    facts = with_(lists_no_gpu(healthy()), tensorflow__build__cuda=False)
    for owners in (("tensorflow 2.20.0", "tensorflow 2.19.0"), ("tensorflow 2.20.0", "tensorflow-io 0.37")):
        assert outcome(with_(facts, python__overlaps=(overlap(*owners),)), "tf-packages-overlap") == "passed"
    assert outcome(with_(facts, python__overlaps=NOT_RECORDED), "tf-packages-overlap") == "unknown"
    assert outcome(lists_no_gpu(healthy()), "tf-packages-overlap") == "passed"


# ------------------------------------------------------------------------------- cu12-cu13-wheel-clash

CUDNN = f"{wheel('cudnn')}/libcudnn.so.9"
OWNERS = ("nvidia-cudnn-cu12 9.10.2.21", "nvidia-cudnn-cu13 9.14.0.64")


def clash(facts: Facts, winner: int = 1, path: str = CUDNN) -> Facts:
    return with_(facts, python__overlaps=(overlap(*OWNERS, path=path, size=2 + winner),))


def test_a_clash_that_keeps_a_library_closed() -> None:
    facts = clash(cannot_open(healthy(), "libcudnn.so.9", (wheel("cudnn"),), stopped_by="libcublas.so.13"))
    assert roots(facts) == ["cu12-cu13-wheel-clash"]
    finding = found(facts)["cu12-cu13-wheel-clash"]
    assert "TensorFlow can't open libcudnn.so.9 (it needs libcublas.so.13)." in finding.message
    assert "what lies there is of nvidia-cudnn-cu13 9.14.0.64" in [e.text for e in finding.proof]
    assert finding.fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip uninstall -y nvidia-cudnn-cu13",
        "/opt/venv/bin/python3 -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21",
    )
    assert roots(clash(cannot_open(healthy(), "libcudnn.so.9", (wheel("cudnn"),), rejected=CUDNN))) == [
        "cu12-cu13-wheel-clash"
    ]


def test_a_library_of_a_newer_cuda_than_the_driver() -> None:
    facts = with_(clash(healthy()), driver__libcuda__api_version=12080)
    finding = found(facts)["cu12-cu13-wheel-clash"]
    assert "the driver is for CUDA 12.8" in [e.text for e in finding.proof]
    failed = tuple(msgspec.structs.replace(m, value=Unread(why="CUDNN_STATUS")) for m in facts.measurements)
    assert roots(with_(facts, measurements=failed)) == ["cu12-cu13-wheel-clash"]


def test_a_clash_that_does_no_harm() -> None:
    """Seen on H200: TensorFlow for CUDA 12 with cuDNN for CUDA 13 works under a driver for CUDA 13."""
    assert outcome(clash(healthy()), "cu12-cu13-wheel-clash") == "passed"
    assert outcome(with_(clash(healthy(), 0), driver__libcuda__api_version=12080), "cu12-cu13-wheel-clash") == "passed"
    mixed = with_(clash(healthy(), 7), driver__libcuda__api_version=12080)
    assert outcome(mixed, "cu12-cu13-wheel-clash") == "passed"
    assert outcome(with_(clash(healthy()), tensorflow__build__cuda=False), "cu12-cu13-wheel-clash") == "skipped"
    assert outcome(with_(healthy(), python__overlaps=NOT_RECORDED), "cu12-cu13-wheel-clash") == "unknown"


def test_another_missing_library_stays_a_root_beside_a_clash() -> None:
    facts = clash(cannot_open(healthy(), "libcudnn.so.9", (wheel("cudnn"),), rejected=CUDNN))
    facts = clash(cannot_open(facts, "libcufft.so.11", (wheel("cudnn"),)))
    assert "pip-nvidia-libs-not-found" in roots(facts) or "tf-wheel-runpath-gap" in roots(facts)


# ------------------------------------------------------------------------------- conda-cpu-build


def conda(build: str, installer: str = "conda") -> Facts:
    facts = with_(lists_no_gpu(healthy()), tensorflow__build__cuda=False, python__conda=True, python__prefix="/opt/c")
    owner = Distribution(name="tensorflow", version="2.15.0", location=SITE, real_location=SITE, installer=installer)
    packages = tuple(CondaPackage(name=n, version="2.15.0", build=build) for n in ("tensorflow", "tensorflow-base"))
    return with_(facts, python__distributions=(owner,), python__conda_packages=packages)


@pytest.mark.parametrize("build", ["cpu_py311h6667026_0", "mkl_py310h24f4fea_0", "eigen_py39h8d2d1dd_0"])
def test_conda_cpu_build(build: str) -> None:
    facts = conda(build)
    assert roots(facts) == ["conda-cpu-build"]
    finding = found(facts)["conda-cpu-build"]
    assert build in finding.message
    assert finding.fixes[0].steps == ("conda install -p /opt/c -c conda-forge 'tensorflow=2.15.0=cuda*'",)


def test_what_is_no_cpu_build_of_conda() -> None:
    assert outcome(conda("cuda120py311h5cbd639_0"), "conda-cpu-build") == "passed"
    assert roots(conda("cuda120py311h5cbd639_0")) == ["tf-cpu-only-package"]
    assert outcome(conda("cpu_py311h6667026_0", installer="pip"), "conda-cpu-build") == "skipped"
    assert outcome(healthy(), "conda-cpu-build") == "passed"
    assert outcome(with_(conda("cpu_x"), python__conda=False), "conda-cpu-build") == "skipped"
    assert outcome(with_(conda("cpu_x"), python__conda_packages=NOT_RECORDED), "conda-cpu-build") == "unknown"
    assert outcome(with_(healthy(), tensorflow__directory=None), "conda-cpu-build") == "skipped"
