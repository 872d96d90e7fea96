"""What every Linux machine answers, with or without a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gpudoctor.facts import TensorFlow
from gpudoctor.probes import driver, tensorflow
from gpudoctor.probes.ask import Patient

FAKE = """
class config:
    list_physical_devices = staticmethod(lambda: [])
__version__ = '9.9.9'
"""


def test_driver_files(patient: Callable[..., Patient]) -> None:
    """The task driver.driver_files."""
    got = driver.read_files(patient().ask([driver.FILES], limit_s=20))
    listed = Path("/proc/modules")
    loaded = {line.split(" ")[0] for line in listed.read_text().splitlines()} if listed.exists() else set[str]()
    assert isinstance(got.modules, tuple) or not listed.exists()  # a kernel without modules says so, too
    if isinstance(got.modules, tuple):
        assert set(got.modules) == {m for m in loaded if re.match(r"nvidia|nouveau|nova_|amdgpu|vfio_pci$", m)}
    assert isinstance(got.daemons, tuple)
    assert isinstance(got.kernel_version, str) is Path("/proc/driver/nvidia/version").exists()


def test_the_device_list_without_python(patient: Callable[..., Patient], tensorflow_directory: Path) -> None:
    """The task tensorflow.c_api_devices."""
    directory = str(tensorflow_directory)
    asked = patient(TF_CPP_MIN_LOG_LEVEL="3").ask([("tensorflow.c_api_devices", {"directory": directory})], limit_s=60)
    devices = asked.last("c_api_devices")
    assert devices is not None, asked.values
    assert "CPU" in [d["type"] for d in devices]


def test_an_import(patient: Callable[..., Patient], tmp_path: Path) -> None:
    """The task tf_import.tensorflow, and tensorflow.read_import(): a package that lists nothing."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(FAKE)
    asked = patient(PYTHONPATH=str(tmp_path)).ask([tensorflow.import_task((), 20)], limit_s=20)
    got = tensorflow.read_import(asked, TensorFlow(directory=str(tmp_path / "tensorflow")))
    assert got.import_error is None
    assert got.devices == ()
