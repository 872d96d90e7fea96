from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.building import Workshop
from tests.probes.test_tensorflow import site as _site
from tests.provoked.scene import Scene, scene

site = _site


@pytest.fixture
def machine(site: Path, workshop: Workshop, tmp_path: Path) -> Iterator[Scene]:
    """A machine with two GPUs, on which all is well."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to lay out a machine in a mount namespace")
    with scene(tmp_path, workshop, site) as made:
        yield made
