"""The Pythons of this machine, for tests of what runs inside an examined interpreter."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path


@functools.cache
def interpreters() -> dict[str, str]:
    """Version -> path of every Python that can be found here and runs; those of pyenv before the shims that start them."""
    found = {}
    for minor in range(6, 15):
        paths = [str(p) for p in sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"), reverse=True)]
        paths.append(shutil.which(f"python3.{minor}") or "")
        works = next((path for path in paths if path and _runs(path)), None)
        if works is not None:
            found[f"3.{minor}"] = works
    return found


def _runs(path: str) -> bool:
    return subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
