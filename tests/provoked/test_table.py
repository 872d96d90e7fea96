"""docs/proofs.md says how each cause is proven, and no cause is without a proof."""

from __future__ import annotations

from gpudoctor.registry import all_checks
from tests.provoked.table import HERE, PAGE, RECORDED, TEXT, only_text, proofs, table

STILL_OPEN = {
    "conda-cpu-build",
    "cpu-no-avx",
    "cu12-cu13-wheel-clash",
    "cuda-lib-from-other-toolkit",
    "cuda-lib-unusable",
    "cuda-libs-missing",
    "cuda-version-mismatch",
    "cudnn-dropped-gpu",
    "cudnn-incomplete-install",
    "cudnn-version-too-old",
    "cudnn-wrong-major",
    "glibc-too-old",
    "jupyter-kernel-other-environment",
    "keras-backend-not-tensorflow",
    "known-hazard",
    "ld-library-path-not-set",
    "ld-library-path-wrong-toolkit",
    "libdevice-missing",
    "nccl-p2p-iommu-acs",
    "nccl-shm-too-small",
    "nccl-too-old-for-gpu",
    "numpy-abi-break",
    "pip-nvidia-libs-not-found",
    "process-holds-replaced-library",
    "protobuf-mismatch",
    "ptxas-missing",
    "ptxas-too-old",
    "python-32bit",
    "python-version-unsupported",
    "tf-aarch64-cpu-only",
    "tf-cpu-only-package",
    "tf-import-broken",
    "tf-macos-no-cuda",
    "tf-not-installed",
    "tf-packages-overlap",
    "tf-shadowed",
    "tf-wheel-runpath-gap",
    "tf-windows-native-cpu-only",
    "wheel-damaged",
}
"""Causes of Python, packages, libraries and TensorFlow whose proofs are not here yet: the set may only shrink."""


def test_the_table_is_what_the_tests_say() -> None:
    """Written anew by `python -m tests.provoked.table`."""
    assert PAGE.read_text() == table()


def test_every_cause_is_proven() -> None:
    found = proofs()
    causes = {c.cause for c in all_checks() if not c.is_symptom}
    assert set(found) <= causes | {c.cause for c in all_checks()}
    assert causes - set(found) <= STILL_OPEN


def test_ways_are_told_apart() -> None:
    found = proofs()
    assert found["driver-missing"][0].startswith(HERE)
    assert any(way.startswith(RECORDED) for way in found["gpu-outlier"])
    assert found["hpc-login-node"] == [TEXT]
    assert not only_text() & {cause for cause, ways in found.items() if any(w.startswith(HERE) for w in ways)}
