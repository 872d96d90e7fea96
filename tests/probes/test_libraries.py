"""Files of the CUDA family: real ELF files, wheels, toolkits, conda and dpkg packages in made-up trees."""

from __future__ import annotations

import json
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.facts import CachedLibrary, Libraries, LibraryFile, Unread
from gpudoctor.loader import glibc
from gpudoctor.probes import libraries, python
from gpudoctor.probes.ask import Patient
from tests.building import Workshop, put


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """site-packages of a virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    return next((tmp_path / "v" / "lib").glob("python3*/site-packages"))


def look(tmp_path: Path, **env: str) -> Libraries:
    """What is seen from the environment in `tmp_path`/v, of a machine whose root is `tmp_path`/root."""
    arguments = {**libraries.TASK[1], "root": str(tmp_path / "root")}
    patient = Patient((str(tmp_path / "v" / "bin" / "python3"),), {**os.environ, **env})
    return libraries.read(patient.ask([python.TASK, (libraries.TASK[0], arguments)], limit_s=20))


def files(seen: Libraries) -> dict[str, LibraryFile]:
    assert isinstance(seen.files, tuple), seen.files
    return {f.path: f for f in seen.files}


def wheel(site: Path, name: str, version: str, *paths: str) -> None:
    """The metadata of an installed wheel; sizes are those on disk now."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("".join(f"{p},sha256=x,{(site / p).stat().st_size}\n" for p in paths))


def test_a_wheel(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    path = put(workshop.stub("libcufft.so.11"), site / "nvidia/cufft/lib", "libcufft.so.11")
    wheel(site, "nvidia_cufft_cu12", "11.2.3.61", "nvidia/cufft/lib/libcufft.so.11")
    got = files(look(tmp_path))[str(path)]
    assert (got.kind, got.owner, got.version, got.soname) == (
        "wheel",
        "nvidia-cufft-cu12 11.2.3.61",
        "11.2.3.61",
        "libcufft.so.11",
    )
    assert (got.size_bytes, got.flaw, got.package, got.real) == (path.stat().st_size, None, None, str(path))


@pytest.mark.parametrize(
    ("place", "soname"), [("nvidia/cu13/lib", "libcublas.so.13"), ("tensorrt_libs", "libnvinfer.so.10")]
)
def test_other_layouts_of_wheels(site: Path, tmp_path: Path, workshop: Workshop, place: str, soname: str) -> None:
    path = put(workshop.stub(soname), site / place, soname)
    assert files(look(tmp_path))[str(path)].kind == "wheel"


def test_a_link_to_a_wheels_file_is_the_wheels(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    put(workshop.stub("libcufft.so.11"), site / "nvidia/cufft/lib", "libcufft.so.11")
    wheel(site, "nvidia_cufft_cu12", "11.2.3.61", "nvidia/cufft/lib/libcufft.so.11")
    (site / "nvidia/cublas/lib").mkdir(parents=True)
    (site / "nvidia/cublas/lib/libcufft.so").symlink_to("../../cufft/lib/libcufft.so.11")
    assert files(look(tmp_path))[f"{site}/nvidia/cublas/lib/libcufft.so"].owner == "nvidia-cufft-cu12 11.2.3.61"


def test_wheels_whose_files_lie_in_a_cache(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    """As uv installs them with --link-mode symlink."""
    real = put(workshop.stub("libcufft.so.11"), tmp_path / "cache", "libcufft.so.11")
    (site / "nvidia/cufft/lib").mkdir(parents=True)
    (site / "nvidia/cufft/lib/libcufft.so.11").symlink_to(real)
    wheel(site, "nvidia_cufft_cu12", "11.2.3.61", "nvidia/cufft/lib/libcufft.so.11")
    got = files(look(tmp_path))[f"{site}/nvidia/cufft/lib/libcufft.so.11"]
    assert (got.owner, got.real) == ("nvidia-cufft-cu12 11.2.3.61", str(real))


def test_of_two_wheels_the_size_tells_whose_file_it_is(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    name = "nvidia/cudnn/lib/libcudnn.so.9"
    put(workshop.stub("libcudnn.so.9", ("libfoo.so.1",)), site / "nvidia/cudnn/lib", "libcudnn.so.9")
    wheel(site, "nvidia_cudnn_cu13", "9.14.0.64", name)
    with open(site / name, "ab") as f:
        f.write(b"\0" * 64)
    wheel(site, "nvidia_cudnn_cu12", "9.10.2.21", name)
    assert files(look(tmp_path))[f"{site}/{name}"].owner == "nvidia-cudnn-cu12 9.10.2.21"
    with open(site / name, "ab") as f:
        f.write(b"\0" * 64)
    got = files(look(tmp_path))[f"{site}/{name}"]
    assert isinstance(got.owner, Unread)
    assert "nvidia-cudnn-cu12 9.10.2.21, nvidia-cudnn-cu13 9.14.0.64" in got.owner.why
    assert isinstance(got.version, Unread)


def test_toolkits(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    usual, named = tmp_path / "root/usr/local/cuda-12.5", tmp_path / "mine"
    put(workshop.stub("libcufft.so.11"), usual / "targets/x86_64-linux/lib", "libcufft.so.11.2.3.61")
    (usual / "lib64").symlink_to("targets/x86_64-linux/lib")
    (usual / "lib64/libcufft.so.11").symlink_to("libcufft.so.11.2.3.61")
    put(workshop.stub("libcublas.so.12"), usual / "lib64", "libcublas.so.12")
    put(workshop.stub("libcupti.so.12"), usual / "extras/CUPTI/lib64", "libcupti.so.12")
    told = {"cuda": {"name": "CUDA SDK", "version": "12.5.1"}, "libcublas": {"version": "12.5.3.2"}}
    (usual / "version.json").write_text(json.dumps(told))
    (usual.parent / "cuda").symlink_to("cuda-12.5")
    put(workshop.stub("libcudart.so.10.1"), named / "lib64", "libcudart.so.10.1")
    (named / "version.txt").write_text("CUDA Version 10.1.243\n")
    seen = look(tmp_path, CUDA_HOME=str(named))
    assert isinstance(seen.toolkits, tuple)
    assert [(t.path, t.named_by, t.version) for t in seen.toolkits] == [
        (str(usual.parent / "cuda"), None, "12.5.1"),
        (str(usual), None, "12.5.1"),
        (str(named), "CUDA_HOME", "10.1.243"),
    ]
    assert {t.real for t in seen.toolkits} == {str(usual), str(named)}
    versions = {f.name: f.version for f in files(seen).values() if f.kind == "toolkit"}
    assert versions == {
        "libcufft.so.11": "11.2.3.61",
        "libcufft.so.11.2.3.61": "11.2.3.61",
        "libcublas.so.12": "12.5.3.2",
        "libcupti.so.12": None,
        "libcudart.so.10.1": "10.1",
    }


def test_a_toolkit_without_a_word_on_its_version(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    """As in NVIDIA's images: its runtime library tells."""
    place = tmp_path / "root/usr/local/cuda-13.0"
    put(workshop.stub("libcudart.so.13"), place / "lib64", "libcudart.so.13.0.96")
    (place / "lib64/libcudart.so.13").symlink_to("libcudart.so.13.0.96")
    (tmp_path / "root/opt/cuda/lib64").mkdir(parents=True)
    seen = look(tmp_path).toolkits
    assert isinstance(seen, tuple)
    assert [(os.path.basename(t.path), t.version) for t in seen] == [("cuda-13.0", "13.0"), ("cuda", None)]


def test_cudnn_of_the_system(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    root = tmp_path / "root"
    put(workshop.stub("libcudnn.so.9"), root / "usr/lib/x86_64-linux-gnu", "libcudnn.so.9")
    (root / "usr/include/x86_64-linux-gnu").mkdir(parents=True)
    header = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 14\n#define CUDNN_PATCHLEVEL 0\n"
    (root / "usr/include/x86_64-linux-gnu/cudnn_version.h").write_text(header)
    path = f"{root}/usr/lib/x86_64-linux-gnu/libcudnn.so.9"
    assert files(look(tmp_path))[path].version == "9.14.0"

    info = root / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (info / "libcudnn9-cuda-12.list").write_text("/.\n/usr\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n")
    (info / "unrelated.list").write_text("/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n")
    paragraphs = ["Package: a\nVersion: 1\n", "Package: libcudnn9-cuda-12\nStatus: x\nVersion: 9.14.0.64-1\n"]
    (root / "var/lib/dpkg/status").write_text("\n".join(paragraphs))
    got = files(look(tmp_path))[path]
    assert (got.kind, got.package, got.owner) == ("system", "dpkg libcudnn9-cuda-12 9.14.0.64-1", None)


def test_a_conda_environment(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    prefix = tmp_path / "v"
    path = put(workshop.stub("libcudnn.so.8"), prefix / "lib", "libcudnn.so.8")
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta/cudnn-8.9.7.29-hbc23b4c_3.json").write_text(json.dumps({"files": ["lib/libcudnn.so.8"]}))
    (prefix / "conda-meta/tensorflow-2.15.0-cpu_py311h6667026_0.json").write_text("not read")
    got = files(look(tmp_path))[str(path)]
    assert (got.kind, got.package) == ("environment", "conda cudnn 8.9.7.29 hbc23b4c_3")
    assert got.version == "8.9.7.29"


def test_variables(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    put(workshop.stub("libcudnn.so.9"), tmp_path / "a", "libcudnn.so.9")
    put(workshop.stub("libnccl.so.2"), tmp_path / "b", "libnccl.so.2")
    put(workshop.stub("libcudnn.so.8"), tmp_path / "c/lib", "libcudnn.so.8")
    preload = str(tmp_path / "b/libnccl.so.2")
    seen = look(tmp_path, LD_LIBRARY_PATH=f"{tmp_path}/a:/nowhere", LD_PRELOAD=preload, CUDNN_PATH=f"{tmp_path}/c")
    kinds = {path: f.kind for path, f in files(seen).items()}
    assert kinds[f"{tmp_path}/a/libcudnn.so.9"] == "variable"
    assert kinds[preload] == "preload"
    assert kinds[f"{tmp_path}/c/lib/libcudnn.so.8"] == "toolkit"


def test_files_that_are_no_good(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    directory = site / "nvidia/x/lib"
    good = workshop.stub("libcufft.so.11").read_bytes()
    directory.mkdir(parents=True)
    (directory / "libcufft.so.11").write_bytes(good[: len(good) // 2])
    (directory / "libcufft.so.10").write_text("INPUT(libcufft.so.11)\n" * 9)
    (directory / "libcufft.so.9").write_bytes(good[:18] + struct.pack("<H", 20) + good[20:])
    (directory / "libcufft.so.8").symlink_to("/no/such/file")
    seen = [f for f in files(look(tmp_path)).values() if f.kind == "wheel"]
    flaws = {f.name: f.flaw for f in seen}
    assert flaws == {
        "libcufft.so.11": "file too short",
        "libcufft.so.10": "invalid ELF header",
        "libcufft.so.9": None,
    }
    processors = {f.name: f.other_processor for f in seen}
    assert processors["libcufft.so.11"] is None
    assert processors["libcufft.so.9"] == "64 bits, ELF machine 20"
    assert isinstance(processors["libcufft.so.10"], Unread)


def cache(*entries: tuple[str, str]) -> bytes:
    """A loader's cache of the new format. Source: glibc, sysdeps/generic/dl-cache.h."""
    flags = {"x86_64": 0x0303, "aarch64": 0x0A03}[platform.machine()]
    table, strings = b"", b""
    start = 48 + 24 * len(entries)
    for soname, path in entries:
        key = start + len(strings)
        strings += soname.encode() + b"\0"
        table += struct.pack("=iIIIQ", flags, key, start + len(strings), 0, 0)
        strings += path.encode() + b"\0"
    return struct.pack("=20sIIB3xI12x", b"glibc-ld.so.cache1.1", len(entries), len(strings), 2, 0) + table + strings


def test_the_loaders_cache(site: Path, tmp_path: Path, workshop: Workshop) -> None:
    path = put(workshop.stub("libcudnn.so.9"), tmp_path / "opt/lib", "libcudnn.so.9")
    (tmp_path / "root/etc").mkdir(parents=True)
    place = tmp_path / "root/etc/ld.so.cache"
    place.write_bytes(
        b"ld.so-1.7.0\0" + b"\0" * 16 + cache(("libcudnn.so.9", str(path)), ("libc.so.6", "/lib/libc.so.6"))
    )
    seen = look(tmp_path)
    assert seen.cache == (CachedLibrary(soname="libcudnn.so.9", path=str(path)),)
    assert files(seen)[str(path)].kind == "cache"
    place.write_bytes(cache(("libcudnn.so.9", str(path)))[:60])
    assert isinstance(look(tmp_path).cache, Unread)
    place.write_bytes(b"something else")
    assert isinstance(look(tmp_path).cache, Unread)
    place.unlink()
    assert look(tmp_path).cache is None


def test_the_cache_of_this_machine() -> None:
    known = glibc.read_cache()
    stems = sorted({name.split(".so")[0] for name in known})[:50]
    if not stems:
        pytest.skip("this machine has no loader cache of the new format")
    asked = Patient((sys.executable,), os.environ).ask(
        [("libraries.libraries", {"stems": stems, "directories": []})], limit_s=20
    )
    cached = libraries.read(asked).cache
    assert isinstance(cached, tuple)
    got = {c.soname: c.path for c in reversed(cached)}
    assert got == {k: v for k, v in known.items() if k in got}
    assert {s.split(".so")[0] for s in got} == set(stems)
