"""What is installed in an interpreter, over what, and which others there are: real environments, made-up packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.facts import CondaPackage, OtherInterpreter, Python, Unread
from gpudoctor.probes import python
from gpudoctor.probes.ask import Patient


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """site-packages of a virtual environment."""
    return environment(tmp_path / "v")


def environment(place: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    return next((place / "lib").glob("python3*/site-packages"))


def look(tmp_path: Path, directory: Path | None = None, **env: str) -> Python:
    base = {**os.environ, "HOME": str(tmp_path / "home"), **env}
    patient = Patient((str(tmp_path / "v/bin/python3"),), base, str(directory) if directory else None)
    return python.read(patient.ask([python.TASK, python.HOME, python.KERNELS], limit_s=20), "test")


def install(site: Path, name: str, version: str, files: dict[str, str], **metadata: str) -> None:
    """A distribution with these files, over whatever is there."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    (info / "RECORD").write_text(
        "".join(f"{p},sha256=x,{len(t)}\n" for p, t in files.items()) + f"{info.name}/RECORD,,\n"
    )
    for what, text in metadata.items():
        (info / what.replace("_json", ".json")).write_text(text)


def test_cudnn_wheels_over_each_other(site: Path, tmp_path: Path) -> None:
    name = "nvidia/cudnn/lib/libcudnn.so.9"
    init = {"nvidia/__init__.py": "", "nvidia/cudnn/__init__.py": ""}
    install(site, "nvidia_cudnn_cu12", "9.10.2.21", {name: "twelve", "nvidia/cudnn/lib/libcudnn_x.so.9": "12", **init})
    install(
        site, "nvidia_cudnn_cu13", "9.14.0.64", {name: "thirteen", "nvidia/cudnn/lib/libcudnn_y.so.9": "13", **init}
    )
    install(site, "nvidia_nccl_cu12", "2.27.3", {"nvidia/nccl/lib/libnccl.so.2": "nccl", **init})
    got = look(tmp_path)
    assert isinstance(got.overlaps, tuple)
    (overlap,) = got.overlaps
    assert overlap.owners == ("nvidia-cudnn-cu12 9.10.2.21", "nvidia-cudnn-cu13 9.14.0.64")
    assert overlap.count == 1
    (file,) = overlap.files
    assert (file.path, file.size_bytes, file.recorded_bytes) == (str(site / name), 8, (6, 8))
    assert got.damaged == ()


def test_tensorflows_over_each_other(site: Path, tmp_path: Path) -> None:
    files = {"tensorflow/__init__.py": "x", "tensorflow/libtensorflow_framework.so.2": "so", "tensorflow/other.py": ""}
    install(site, "tensorflow", "2.20.0", files)
    install(site, "tensorflow_cpu", "2.20.0", files)
    install(site, "tensorflow_io", "0.37.0", {"tensorflow/__init__.py": "x"})
    (overlap,) = look(tmp_path).overlaps  # type: ignore[misc]
    assert overlap.owners == ("tensorflow 2.20.0", "tensorflow-cpu 2.20.0")
    assert overlap.count == 2


def test_one_directory_on_the_path_twice_is_no_overlap(site: Path, tmp_path: Path) -> None:
    install(site, "nvidia_nccl_cu12", "2.27.3", {"nvidia/nccl/lib/libnccl.so.2": "nccl"})
    (tmp_path / "again").symlink_to(site)
    got = look(tmp_path, PYTHONPATH=str(tmp_path / "again"))
    assert got.overlaps == ()
    assert isinstance(got.distributions, tuple)
    assert [d.shadowed for d in got.distributions] == [False, True]


def test_damaged_files(site: Path, tmp_path: Path) -> None:
    files = {"nvidia/nccl/lib/libnccl.so.2": "nccl", "nvidia/nccl/lib/libx.so": "x", "nvidia/nccl/include/nccl.h": "h"}
    install(site, "nvidia_nccl_cu12", "2.27.3", files)
    (site / "nvidia/nccl/lib/libnccl.so.2").write_text("nc")
    (site / "nvidia/nccl/lib/libx.so").unlink()
    (site / "nvidia/nccl/include/nccl.h").unlink()
    got = look(tmp_path).damaged
    assert isinstance(got, tuple)
    assert [(os.path.basename(d.path), d.owner, d.size_bytes, d.recorded_bytes) for d in got] == [
        ("libnccl.so.2", "nvidia-nccl-cu12 2.27.3", 2, 4),
        ("libx.so", "nvidia-nccl-cu12 2.27.3", None, 1),
    ]


def test_metadata(site: Path, tmp_path: Path) -> None:
    tags = "Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_17_x86_64\nTag: cp312-cp312-manylinux2014_x86_64\n"
    install(site, "tensorflow", "2.20.0", {"tensorflow/__init__.py": ""}, WHEEL=tags, INSTALLER="uv\n")
    edited = json.dumps({"url": "file:///src/keras", "dir_info": {"editable": True}})
    install(site, "keras", "3.11.0", {}, direct_url_json=edited)
    (site / "h5py-3.1.0-py3.8.egg-info").mkdir()
    (tmp_path / "src/numpy.egg-info").mkdir(parents=True)
    (tmp_path / "src/numpy.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n")
    (site / "numpy.egg-link").write_text(f"{tmp_path}/src\n.")
    (site / "wrapt.egg-link").write_text("/no/such/place\n.")
    got = look(tmp_path).distributions
    assert isinstance(got, tuple)
    by_name = {d.name: d for d in got}
    assert set(by_name) == {"tensorflow", "keras", "h5py", "numpy"}
    tensorflow = by_name["tensorflow"]
    assert (tensorflow.installer, tensorflow.editable, tensorflow.form) == ("uv", None, "dist-info")
    assert tensorflow.tags == ("cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux2014_x86_64")
    assert by_name["keras"].editable == "file:///src/keras"
    assert (by_name["h5py"].version, by_name["h5py"].form) == ("3.1.0", "egg-info")
    assert (by_name["numpy"].version, by_name["numpy"].editable) == ("1.26.4", f"{tmp_path}/src")


def test_conda_packages(site: Path, tmp_path: Path) -> None:
    (tmp_path / "v/conda-meta").mkdir()
    for name in ("tensorflow-base-2.15.0-cpu_py311h6667026_0.json", "zlib-1.3-h_0.json", "history"):
        (tmp_path / "v/conda-meta" / name).touch()
    got = look(tmp_path)
    assert got.conda is True
    assert got.conda_packages == (CondaPackage(name="tensorflow-base", version="2.15.0", build="cpu_py311h6667026_0"),)


def test_what_has_the_name_of_a_module(site: Path, tmp_path: Path) -> None:
    install(site, "numpy", "1.26.4", {"numpy/__init__.py": ""})
    (site / "nvidia").mkdir()
    (tmp_path / "work/nvidia").mkdir(parents=True)
    (tmp_path / "work/numpy.py").touch()
    got = look(tmp_path, tmp_path / "work").modules
    assert isinstance(got, tuple)
    assert [(m.name, m.path, m.form) for m in got] == [
        ("numpy", f"{tmp_path}/work/numpy.py", "module"),
        ("numpy", f"{site}/numpy", "package"),
        ("nvidia", f"{tmp_path}/work/nvidia", "namespace"),
        ("nvidia", f"{site}/nvidia", "namespace"),
    ]


def test_flags(site: Path, tmp_path: Path) -> None:
    got = look(tmp_path)
    assert (got.isolated, got.pip, got.externally_managed, got.made_by_uv) == (False, False, False, False)
    assert got.user_site is False
    assert str(got.extension_suffix).endswith(".so")
    with open(tmp_path / "v/pyvenv.cfg", "a") as f:
        f.write("uv = 0.9.2\n")
    (site / "pip").mkdir()
    (site / "pip/__init__.py").touch()
    got = look(tmp_path)
    assert (got.pip, got.made_by_uv) == (True, True)
    isolated = Patient((str(tmp_path / "v/bin/python3"), "-I"), os.environ).ask([python.TASK], limit_s=20)
    assert python.read(isolated, "test").isolated is True


def test_keras_configuration(site: Path, tmp_path: Path) -> None:
    assert look(tmp_path).keras_backend is None
    (tmp_path / "home/.keras").mkdir(parents=True)
    place = tmp_path / "home/.keras/keras.json"
    for text, backend in (('{"backend": "jax"}', "jax"), ('{"floatx": "float32"}', None)):
        place.write_text(text)
        assert look(tmp_path).keras_backend == backend
    place.write_text("{")
    assert isinstance(look(tmp_path).keras_backend, Unread)


# ------------------------------------------------------------------------------- Jupyter's kernels


def kernel(place: Path, name: str, *argv: str) -> None:
    directory = place / "kernels" / name
    directory.mkdir(parents=True)
    text = {"argv": [*argv, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": f"A {name}"}
    (directory / "kernel.json").write_text(json.dumps(text))


def test_kernels(site: Path, tmp_path: Path) -> None:
    install(site, "tensorflow", "2.20.0", {"tensorflow/__init__.py": ""})
    bare = environment(tmp_path / "bare")
    mine = tmp_path / "home/.local/share/jupyter"
    kernel(mine, "here", str(tmp_path / "v/bin/python3"))
    kernel(mine, "there", str(tmp_path / "bare/bin/python"))
    kernel(mine, "gone", "/no/such/python3.11")
    kernel(mine, "ir", "/usr/bin/R")
    kernel(tmp_path / "v/share/jupyter", "python3", "python")
    kernel(tmp_path / "v/share/jupyter", "here", "/usr/bin/python3")  # taken by the user's own
    (mine / "kernels/odd").mkdir()
    (mine / "kernels/odd/kernel.json").write_text("[]")
    got = look(tmp_path).kernels
    assert isinstance(got, tuple)
    rows = {k.name: (k.mine, k.exists, k.examined, k.tensorflow) for k in got}
    assert rows.pop("python3")[0] is False
    assert rows == {
        "here": (True, True, True, "2.20.0"),
        "there": (True, True, False, None),
        "gone": (True, False, False, None),
    }
    (server,) = [k for k in got if k.name == "python3"]
    assert isinstance(server.examined, Unread)
    assert (server.executable, server.display_name) == ("python", "A python3")
    assert bare.is_dir()


def test_kernels_where_variables_name_them(site: Path, tmp_path: Path) -> None:
    kernel(tmp_path / "a", "a", sys.executable)
    kernel(tmp_path / "b", "b", sys.executable)
    kernel(tmp_path / "c/jupyter", "c", sys.executable)
    got = look(tmp_path, JUPYTER_PATH=str(tmp_path / "a"), JUPYTER_DATA_DIR=str(tmp_path / "b")).kernels
    assert isinstance(got, tuple)
    assert [k.name for k in got] == ["a", "b"]
    got = look(tmp_path, XDG_DATA_HOME=str(tmp_path / "c")).kernels
    assert isinstance(got, tuple)
    assert [k.name for k in got] == ["c"]


# ------------------------------------------------------------------------------- other interpreters


def test_other_interpreters(site: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for place, version in (("project/.venv", "2.19.0"), (".virtualenvs/x", "2.18.0"), ("miniconda3/envs/tf", "2.17.0")):
        there = environment(home / place)
        install(there, "tensorflow", version, {"tensorflow/__init__.py": ""})
    environment(home / ".virtualenvs/without")
    install(site, "tensorflow", "2.20.0", {"tensorflow/__init__.py": ""})
    env = {**os.environ, "HOME": str(home), "PATH": str(tmp_path / "v/bin")}
    started = time.monotonic()
    asked = Patient((str(tmp_path / "v/bin/python3"),), env, str(tmp_path)).ask([python.OTHERS], limit_s=10)
    assert time.monotonic() - started < 3
    got = python.read_others(asked)
    assert isinstance(got, tuple)
    assert {(o.executable, o.version) for o in got if o.executable.startswith(str(tmp_path))} == {
        (next(str(p) for p in (home / place / "bin").glob("python3.*")), version)
        for place, version in (
            ("project/.venv", "2.19.0"),
            (".virtualenvs/x", "2.18.0"),
            ("miniconda3/envs/tf", "2.17.0"),
        )
    }
    assert all(isinstance(o, OtherInterpreter) and o.distribution == "tensorflow" for o in got)


def test_others_that_can_not_be_looked_for() -> None:
    assert isinstance(python.read_others(Patient(("false",), os.environ).ask([python.OTHERS], limit_s=5)), Unread)


def test_a_full_environment_takes_no_time(site: Path, tmp_path: Path) -> None:
    files = {f"tensorflow/include/tensorflow/core/some/long/path/of/a/header_{i}.h": "" for i in range(30000)}
    info = site / "tensorflow-2.20.0.dist-info"
    info.mkdir()
    lines = "".join(f"{p},sha256=T1HcSYRxdHv4HnHVe1FtGcVAWyjB9WkGmFHB_qwxgqA,1234\n" for p in files)
    (info / "RECORD").write_text(lines + "tensorflow/libtensorflow_cc.so.2,sha256=x,9\n")
    (site / "tensorflow_cpu-2.20.0.dist-info").mkdir()
    (site / "tensorflow_cpu-2.20.0.dist-info/RECORD").write_text(
        lines + "tensorflow/libtensorflow_cc.so.2,sha256=x,9\n"
    )
    took = []
    for _ in range(3):
        started = time.monotonic()
        got = look(tmp_path)
        took.append(time.monotonic() - started)
    assert isinstance(got.overlaps, tuple)
    assert got.overlaps[0].count == 1
    assert min(took) < 0.5  # on a busy machine; 0.1 s on an idle one, the start of the interpreter among it
