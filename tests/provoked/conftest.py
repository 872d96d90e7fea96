from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.building import Workshop
from tests.probes.test_tensorflow import lay_out_site
from tests.provoked.case import Build
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
