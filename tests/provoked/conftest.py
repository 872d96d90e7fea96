from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.building import Workshop
from tests.probes.test_tensorflow import lay_out_site
from tests.provoked import environments
from tests.provoked.bench import NO_TOOLKIT, Bench, Maker
from tests.provoked.case import Build
from tests.provoked.environments import Place, Wheelhouse
from tests.provoked.scene import Scene, scene


@pytest.fixture
def build(tensorflow_directory: Path, workshop: Workshop, tmp_path: Path) -> Build:
    """Makes machines with two GPUs, on which all is well."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to lay out a machine in a mount namespace")
    made = 0

    def one() -> AbstractContextManager[Scene]:
        nonlocal made
        made += 1
        place = tmp_path / str(made)
        place.mkdir()
        return scene(place, workshop, lay_out_site(tensorflow_directory, workshop, place))

    return one


@pytest.fixture
def machine(build: Build) -> Iterator[Scene]:
    with build() as made:
        yield made


_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def grounds(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A machine with two GPUs and no CUDA of its own; the environments lie below its `place`."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to lay out a machine in a mount namespace")
    nothing = tmp_path_factory.mktemp("nothing")
    (nothing / "nvidia/nccl/lib").mkdir(parents=True)
    made = Scene(tmp_path_factory.mktemp("grounds"), workshop, nothing)
    try:
        made.do(NO_TOOLKIT)
        yield made
    finally:
        made.close()


@pytest.fixture(scope="session")
def wheelhouse(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Wheelhouse:
    """Small wheels of TensorFlow 2.21.0 and what its extra brings."""
    house = Wheelhouse(tmp_path_factory.mktemp("wheelhouse"))
    environments.cuda_wheels(house, workshop)
    environments.tensorflow_wheel(house)
    return house


@pytest.fixture(scope="session")
def template(wheelhouse: Wheelhouse, tensorflow_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment into which pip installed tensorflow[and-cuda], with the link that 2.21.0 lacks."""
    prefix = tmp_path_factory.mktemp("template") / "env"
    environments.made(prefix)
    place = Place(prefix, wheelhouse, tmp_path_factory.mktemp("home"))
    place.pip("install", f"tensorflow[and-cuda]=={environments.TENSORFLOW}")
    (place.site / "tensorflow/libtensorflow_framework.so.2").symlink_to(
        tensorflow_directory / "libtensorflow_framework.so.2"
    )
    place.fix_gap()
    return prefix


@pytest.fixture
def make(template: Path, wheelhouse: Wheelhouse, workshop: Workshop, grounds: Scene) -> Maker:
    """Makes an environment in which everything is right."""

    def one() -> Bench:
        number = next(_NUMBERS)
        tmp = grounds.place / f"bench {number}"
        tmp.mkdir()
        house = wheelhouse.copy(grounds.place / f"wheels{number}")  # pip cuts its list at spaces
        prefix = tmp / "my env"
        environments.copied(template, prefix)
        place = Place(prefix, house, tmp / "home")
        (tmp / "work").mkdir()
        return Bench(place, house, workshop, tmp, grounds, {}, tmp / "work")

    return one
