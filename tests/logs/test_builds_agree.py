"""What the readers of texts know of releases is what their wheels say (compat/matrix.json)."""

from __future__ import annotations

import io

import pytest

from gpudoctor import compat, pasted
from gpudoctor.compat.records import Build
from tests.logs.judged import first

BUILDS = {
    one.version: one
    for one in compat.matrix().builds
    if one.is_cuda and one.platform == "linux-x86_64" and one.distribution in ("tensorflow", "tensorflow-gpu")
}
MISMATCH = "cuda-version-mismatch"
TEXT = "- TensorFlow version: {0}\n- CUDA/cuDNN version: CUDA {1}\n- GPU model: Tesla V100\n\ntensorflow does not find the GPU\n"


def _release(build: Build) -> tuple[int, int]:
    major, minor = build.version.split(".")[:2]
    return int(major), int(minor)


def _cuda(build: Build) -> str:
    assert build.cuda is not None
    return build.cuda


def test_there_are_builds_of_every_age() -> None:
    assert {_release(one)[0] for one in BUILDS.values()} == {1, 2}
    assert (2, 14) in map(_release, BUILDS.values())


@pytest.mark.parametrize("version", BUILDS)
def test_the_table_says_what_the_wheel_says(version: str) -> None:
    build = BUILDS[version]
    told = compat.built_for(_release(build))
    assert build.cudnn is not None and build.sonames is not None and told.cudnn is not None
    assert "{}.{}".format(*told.cuda) == ".".join(_cuda(build).split(".")[:2])
    assert told.cudnn[0] == int(build.cudnn.partition(".")[0])
    assert set(told.runtime) <= set(build.sonames)


@pytest.mark.parametrize("version", BUILDS)
def test_its_own_cuda_is_no_mismatch_and_the_next_one_is(version: str) -> None:
    cuda = ".".join(_cuda(BUILDS[version]).split(".")[:2])
    own = pasted.log(io.BytesIO(TEXT.format(version, cuda).encode()))
    assert MISMATCH not in [one.cause for one in own.diagnosis.root_causes]
    assert first(TEXT.format(version, cuda)) != MISMATCH
    assert first(TEXT.format(version, "13.0" if cuda.startswith("12") else "12.4")) == MISMATCH
