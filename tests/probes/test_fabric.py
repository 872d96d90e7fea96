"""The fabric manager as a real child finds it: its file, its package, what its file names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpudoctor.facts import FabricManager, Unread
from gpudoctor.probes import fabric
from gpudoctor.probes.ask import Answers, Patient
from tests.interpreters import interpreters
from tests.probes.test_engines import rpm
from tests.probes.test_host import tree

PATH = "/usr/bin/nv-fabricmanager"
KERNEL = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x@y)\n"
STATUS = """Package: nvidia-fabricmanager-dev-580
Status: install ok installed
Version: 580.95.05-1

Package: nvidia-fabricmanager-580
Status: install ok installed
Architecture: amd64
Version: 1:580.95.05-0ubuntu0.24.04.1
"""


def seen(
    root: Path, files: dict[str, str | bytes], python: str = sys.executable, **env: str
) -> FabricManager | Unread | None:
    patient = Patient((python,), {"PATH": os.defpath, **env})
    answers = patient.ask([(fabric.TASK[0], {"root": str(tree(root, files))})], limit_s=20)
    assert answers.errors == {}
    return fabric.read(answers)


def of(got: FabricManager | Unread | None) -> tuple[object, ...]:
    assert isinstance(got, FabricManager), got
    assert got.path == PATH
    return got.version, got.package, got.package_version, got.manager


@pytest.mark.parametrize("python", [sys.executable, *interpreters().values()])
def test_a_package_of_dpkg(tmp_path: Path, python: str) -> None:
    files: dict[str, str | bytes] = {
        PATH: "\0 535.183.01\0",
        "/var/lib/dpkg/status": STATUS,
        "/var/lib/dpkg/info/nvidia-fabricmanager-580.list": f"/.\n/usr\n{PATH}\n",
        "/var/lib/dpkg/info/nvidia-fabricmanager-dev-580.list": f"/.\n{PATH}.h\n",
    }
    got = seen(tmp_path, files, python)
    assert of(got) == ("580.95.05", "nvidia-fabricmanager-580", "1:580.95.05-0ubuntu0.24.04.1", "dpkg")


def test_a_package_of_rpm(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {PATH: "", "/var/lib/rpm/rpmdb.sqlite": ""}
    says = seen(tmp_path / "a", files, PATH=rpm(tmp_path / "says", "echo nvidia-fabric-manager 550.90.07"))
    assert of(says) == ("550.90.07", "nvidia-fabric-manager", "550.90.07", "rpm")
    none = seen(tmp_path / "b", files, PATH=rpm(tmp_path / "none", "echo file is not owned by any package; exit 1"))
    assert of(none) == (None, None, None, "rpm")
    gone = seen(tmp_path / "c", files, PATH="/nonexistent")
    assert isinstance(gone, FabricManager)
    assert isinstance(gone.package, Unread)
    assert "No such file" in gone.package.why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\0Version 535.183.01\0 535.183.01\0", "535.183.01"),
        (b"\0 450.80.02\0 580.159.04\0", "580.159.04"),
        (b"\0 1580.159.04 192.168.0.1 255.255.255.0 3535.183.01.7\0", None),
        (b"", None),
    ],
)
def test_a_file_of_no_package(tmp_path: Path, text: bytes, expected: str | None) -> None:
    got = seen(tmp_path, {PATH: text, "/proc/driver/nvidia/version": KERNEL})
    assert of(got) == (expected, None, None, None)


def test_a_file_that_names_several_releases(tmp_path: Path) -> None:
    got = seen(tmp_path, {PATH: b"\0 535.183.01\0 550.90.07\0", "/proc/driver/nvidia/version": KERNEL})
    assert isinstance(got, FabricManager)
    assert isinstance(got.version, Unread)
    assert got.version.settle == "nv-fabricmanager --version"


def test_none_is_installed(tmp_path: Path) -> None:
    assert seen(tmp_path, {"/var/lib/dpkg/status": STATUS}) is None
    nobody = fabric.read(Patient((sys.executable,), {}).ask([], limit_s=10))
    assert isinstance(nobody, Unread)
    unreadable = Answers(
        {"fabric_manager": [{"path": PATH, "package": {"manager": None}, "releases": 13}]},
        Patient((sys.executable,), {}).ask([], limit_s=10).outcome,
        {},
    )
    got = fabric.read(unreadable)
    assert isinstance(got, FabricManager)
    assert isinstance(got.version, Unread)
