"""Virtual environments with faults in them: real interpreters, real pip, and wheels that are small and have the right
names. TensorFlow's loader object in them is the real one; the CUDA libraries are stub ELF files with the real names."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.building import Workshop
from tests.probes.test_tensorflow import WHEELS

TENSORFLOW = "2.21.0"
VERSIONS = {
    "nvidia-cuda-runtime-cu12": "12.5.82",
    "nvidia-cublas-cu12": "12.5.3.2",
    "nvidia-cufft-cu12": "11.2.3.61",
    "nvidia-cusolver-cu12": "11.6.3.83",
    "nvidia-cusparse-cu12": "12.5.1.3",
    "nvidia-cudnn-cu12": "9.10.2.21",
    "nvidia-nvjitlink-cu12": "12.5.82",
    "nvidia-nccl-cu12": "2.27.7",
}
"""What `tensorflow[and-cuda]` 2.21.0 brings, as far as its loader asks for it."""

Files = Mapping[str, "str | bytes"]


class Wheelhouse:
    """A directory of small wheels, for pip alone to choose from."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)

    def add(
        self,
        name: str,
        version: str,
        files: Files,
        requires: Iterable[str] = (),
        extras: Mapping[str, Iterable[str]] | None = None,
        programs: Mapping[str, str] | None = None,
    ) -> None:
        """Make a wheel; one of this name and version that is there is replaced."""
        called = name.replace("-", "_")
        info = f"{called}-{version}.dist-info"
        about = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        about += [f"Requires-Dist: {one}" for one in requires]
        for extra, wanted in (extras or {}).items():
            about += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {one} ; extra == "{extra}"' for one in wanted)]
        inside = {
            **files,
            f"{info}/METADATA": "\n".join(about) + "\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        if programs:
            lines = "".join(f"{program} = {target}\n" for program, target in programs.items())
            inside[f"{info}/entry_points.txt"] = "[console_scripts]\n" + lines
        record = []
        made = self.place / f"{called}-{version}-py3-none-any.whl"
        made.unlink(missing_ok=True)
        with zipfile.ZipFile(made, "w") as wheel:
            for path, text in inside.items():
                data = text.encode() if isinstance(text, str) else text
                wheel.writestr(path, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{path},sha256={digest},{len(data)}")
            wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))

    def copy(self, place: Path) -> Wheelhouse:
        """The same wheels in another directory; more of them are nobody else's."""
        shutil.copytree(self.place, place, copy_function=os.link)
        return Wheelhouse(place)

    @property
    def variables(self) -> dict[str, str]:
        """With these pip takes its wheels from here alone."""
        return {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.place),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }


def build_info(cuda: str | None = "12.5.1", **more: object) -> str:
    """TensorFlow's build_info.py, in the form of its own."""
    told = {"is_cuda_build": cuda is not None, "is_rocm_build": False, **more}
    if cuda is not None:
        told |= {
            "cuda_compute_capabilities": ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"],
            "cuda_version": cuda,
            "cudnn_version": "9",
        }
    return f"import collections\nbuild_info = collections.OrderedDict({list(told.items())!r})\n"


def tensorflow_files(init: str = "", cuda: str | None = "12.5.1") -> dict[str, str]:
    """The files of a TensorFlow wheel that decide, less the loader object, which is linked in (it has 160 MB)."""
    return {
        "tensorflow/__init__.py": init,
        "tensorflow/python/__init__.py": "",
        "tensorflow/python/platform/__init__.py": "",
        "tensorflow/python/platform/build_info.py": build_info(cuda),
    }


def cuda_wheels(house: Wheelhouse, workshop: Workshop, versions: Mapping[str, str] = VERSIONS) -> None:
    """The wheels of CUDA 12.5, a stub for each library."""
    for distribution, version in versions.items():
        component = distribution.removeprefix("nvidia-").removesuffix("-cu12").replace("-", "_")
        files = {
            f"nvidia/{component}/lib/{soname}": workshop.stub(soname, needed, runpath).read_bytes()
            for name, (soname, needed, runpath) in WHEELS.items()
            if name.strip() == component
        }
        house.add(distribution, version, {"nvidia/__init__.py": "", **files})


def tensorflow_wheel(house: Wheelhouse, version: str = TENSORFLOW, init: str = "", name: str = "tensorflow") -> None:
    """A TensorFlow with CUDA and its extra."""
    pins = [f"{distribution}>={least}" for distribution, least in VERSIONS.items()]
    house.add(name, version, tensorflow_files(init), extras={"and-cuda": pins})


LISTS_TWO = """
import types
class Device:
    def __init__(self, name, kind): self.name, self.device_type = name, kind
class config:
    experimental = types.SimpleNamespace(get_device_details=lambda device: {"compute_capability": (9, 0), "device_name": "Fake GPU"})
    @staticmethod
    def list_physical_devices(kind=None): return [Device("/physical_device:GPU:%d" % i, "GPU") for i in range(2)]
"""
"""The rest of a TensorFlow whose import is what counts: it lists the two GPUs of the machine."""


def repacked(house: Wheelhouse, name: str) -> str:
    """A wheel of a distribution that is installed beside the tests, whole but for its own tests; its version."""
    found = importlib.metadata.distribution(name)
    root = Path(str(found.locate_file("")))
    kept = [f for f in found.files or () if "/tests/" not in str(f) and ".." not in str(f) and f.suffix != ".pyc"]
    files = {str(f): (root / str(f)).read_bytes() for f in kept if ".dist-info/" not in str(f)}
    house.add(name, found.version, files)
    return found.version


class Place:
    """A virtual environment (a copy of one that was made before), and how programs are run in it."""

    def __init__(self, prefix: Path, house: Wheelhouse, home: Path) -> None:
        self.prefix, self.house, self.home = prefix, house, home
        self.python = prefix / "bin" / "python3"
        self.env: dict[str, str] = {**house.variables, "HOME": str(home), "XDG_STATE_HOME": "", "XDG_DATA_HOME": ""}
        self.cwd = home
        home.mkdir(parents=True, exist_ok=True)

    @property
    def site(self) -> Path:
        """Its site-packages."""
        return next((self.prefix / "lib").glob("python3*/site-packages"))

    def pip(self, *words: str, **env: str) -> None:
        """Run its pip."""
        command = [str(self.python), "-m", "pip", *words]
        subprocess.run(
            command, env={**os.environ, **self.env, **env}, check=True, capture_output=True, cwd=self.home, text=True
        )

    def fix_gap(self, beside: str = "cusparse") -> None:
        """The link without which release 2.21.0 finds no libcusolver."""
        link = self.site / f"nvidia/{beside}/lib/libcusolver.so.11"
        link.symlink_to("../../cusolver/lib/libcusolver.so.11")


def made(prefix: Path, python: str = sys.executable, *, pip: bool = True) -> None:
    """A new virtual environment."""
    options = [] if pip else ["--without-pip"]
    subprocess.run([python, "-m", "venv", *options, str(prefix)], check=True, capture_output=True)


def copied(template: Path, prefix: Path) -> None:
    """A copy of an environment: nothing that is used of it says where it lies, but its activation scripts."""
    shutil.copytree(template, prefix, symlinks=True)
    for script in ("activate", "activate.csh", "activate.fish"):
        path = prefix / "bin" / script
        text = path.read_text()
        path.write_text(
            text.replace(shlex.quote(str(template)), shlex.quote(str(prefix))).replace(str(template), str(prefix))
        )
