"""The list of releases: made from an index that pip reads, here a made-up one in a directory."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import msgspec
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpudoctor.compat import published
from gpudoctor.compat.files import matrix, text_of
from gpudoctor.compat.records import Files, Release

needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this environment has no pip")

TENSORFLOW = (
    "tensorflow-0.12.1-cp35-cp35m-manylinux1_x86_64.whl",
    "tensorflow-2.10.1-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "tensorflow-2.10.1-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "tensorflow-2.10.1-cp39-cp39-win_amd64.whl",
    "tensorflow-2.10.1-cp39-cp39-macosx_10_14_x86_64.whl",
    "tensorflow-2.10.1-cp39-cp39-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
    "tensorflow-2.15.0.post1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "tensorflow-2.21.0rc1-cp312-cp312-manylinux_2_27_x86_64.whl",
    "tensorflow-2.21.0.dev20260101-cp312-cp312-manylinux_2_27_x86_64.whl",
    "tensorflow-2.30.0-cp314-cp314-manylinux_2_39_x86_64.whl",
    "tensorflow-2.30.0-cp314-cp314-freebsd_14_amd64.whl",
    "tensorflow-2.30.0-pp311-pypy311_pp73-win_amd64.whl",
    "tensorflow-2.10.1-not-a-wheel.whl",
    "another-1.0-cp39-cp39-win_amd64.whl",
)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that pip takes for its index, and nothing else."""
    simple = tmp_path / "simple"
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", simple.as_uri())
    page(simple, "tensorflow", TENSORFLOW, yanked=("tensorflow-2.9.9-cp39-cp39-win_amd64.whl",))
    page(simple, "tensorflow-cpu", ("tensorflow_cpu-2.10.1-cp39-cp39-win_amd64.whl",))
    page(
        simple,
        "tensorflow-gpu",
        ("tensorflow_gpu-1.1.0-cp35-cp35m-macosx_10_11_intel.whl", "tensorflow-gpu-2.12.0.tar.gz"),
    )
    return simple


def page(simple: Path, name: str, files: tuple[str, ...], yanked: tuple[str, ...] = ()) -> None:
    (simple / name).mkdir(parents=True, exist_ok=True)
    links = [f'<a href="../../files/{file}#sha256=00">{file}</a><br>' for file in files]
    links += [f'<a href="../../files/{file}" data-yanked="broken">{file}</a><br>' for file in yanked]
    text = "<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>"
    (simple / name / "index.html").write_text(text)


def one(version: str, *files: Files, cuda: str | None = "11.2", cudnn: str | None = "8.1") -> tuple[object, ...]:
    return (version, files, cuda, cudnn)


@needs_pip
def test_what_an_index_holds(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert published.main([]) == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=tuple[Release, ...])
    assert [(r.version, r.files, r.cuda, r.cudnn) for r in found] == [
        one(
            "1.1.0",
            Files(distribution="tensorflow-gpu", platform="macos-x86_64", python=("3.5",), cuda=True),
            cuda="8",
            cudnn="5.1",
        ),
        one(
            "2.10.1",
            Files(distribution="tensorflow", platform="linux-x86_64", python=("3.9", "3.10"), cuda=True),
            Files(distribution="tensorflow", platform="linux-aarch64", python=("3.9",), cuda=False),
            Files(distribution="tensorflow", platform="windows-x86_64", python=("3.9",), cuda=True),
            Files(distribution="tensorflow", platform="macos-x86_64", python=("3.9",), cuda=False),
            Files(distribution="tensorflow-cpu", platform="windows-x86_64", python=("3.9",), cuda=False),
        ),
        one(
            "2.15.0.post1",
            Files(distribution="tensorflow", platform="linux-x86_64", python=("3.11",), cuda=True),
            cuda="12.2",
            cudnn="8.9",
        ),
        one(
            "2.30.0",
            Files(distribution="tensorflow", platform="linux-x86_64", python=("3.14",), cuda=None),
            cuda=None,
            cudnn=None,
        ),
    ]
    assert "documented for 2.10.0" in found[1].source
    assert "no document" in found[3].source
    assert not any(str(index) in r.source for r in found)


@needs_pip
def test_one_release(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert published.main(["2.10.1"]) == 0
    assert [r["version"] for r in json.loads(capsys.readouterr().out)] == ["2.10.1"]


@needs_pip
def test_written_into_the_matrix(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was there of other releases stays, the same release is replaced, the order is that of the versions."""
    monkeypatch.setattr(published, "DIRECTORY", tmp_path)
    (tmp_path / "matrix.json").write_text(text_of(matrix()))
    assert published.main(["--write"]) == 0
    assert capsys.readouterr().err == "4 releases written into matrix.json\n"
    written = (tmp_path / "matrix.json").read_text()
    after = msgspec.json.decode(written, type=type(matrix()))
    assert text_of(after) == written
    versions = [r.version for r in after.releases]
    assert versions == sorted({r.version for r in matrix().releases} | {"2.30.0"}, key=Version)
    assert next(r for r in after.releases if r.version == "1.1.0").files[0].distribution == "tensorflow-gpu"
    assert next(r for r in after.releases if r.version == "2.9.1") == next(
        r for r in matrix().releases if r.version == "2.9.1"
    )
    assert after.hazards == matrix().hazards


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["banana"], "published: 'banana' is no version\n"),
        (["2.9.9"], "published: the package index has no release 2.9.9 of TensorFlow (from 1.0 on, no candidates)\n"),
    ],
)
@needs_pip
def test_bad_input_is_one_line(
    arguments: list[str], line: str, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert published.main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", line)


@needs_pip
def test_an_index_without_tensorflow_is_one_line(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (index / "tensorflow-gpu" / "index.html").unlink()
    assert published.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("published: pip names no file of tensorflow-gpu: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("distribution", "platform", "version", "expected"),
    [
        ("tensorflow", "linux-x86_64", "2.99.0", None),
        ("tensorflow", "windows-x86_64", "2.99.0", None),
        ("tensorflow-cpu", "linux-x86_64", "2.99.0", False),
        ("tensorflow-gpu", "windows-x86_64", "2.11.0", False),
        ("tensorflow-gpu", "linux-x86_64", "2.12.0", None),
        ("tensorflow", "linux-x86_64", "1.15.0", True),
        ("tensorflow", "linux-x86_64", "1.15.2", False),
        ("tf-nightly", "linux-x86_64", "2.21.0", None),
    ],
)
def test_what_no_rule_covers_is_unknown(distribution: str, platform: str, version: str, expected: bool | None) -> None:
    assert published.computes(distribution, platform, Version(version)) is expected  # type: ignore[arg-type]


def test_no_two_rules_speak_of_one_file() -> None:
    for release in matrix().releases:
        for file in release.files:
            rules = [
                rule
                for rule in published.COMPUTES
                if rule.distribution == file.distribution
                and file.platform in rule.platforms
                and Version(release.version) in SpecifierSet(rule.versions)
            ]
            assert len(rules) == 1, (release.version, file.distribution, file.platform)
            assert rules[0].cuda is file.cuda
