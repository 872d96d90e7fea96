"""The ways in which a text tells which cuDNN is installed, each with the one that is asked for and with another, and that there is none."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.logs.judged import first


class Told(NamedTuple):
    """A release of cuDNN in the pieces that forms use."""

    release: str
    major: str
    minor: str
    patch: str
    package: str


SEVEN = Told("7.6.5", "7", "6", "5", "7.6.5.32")
EIGHT = Told("8.1.1", "8", "1", "1", "8.1.1.33")
LOST = "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory"
NINE_LOST = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
TEXT = "TensorFlow does not use my GPU\n\n{told}\n\n{lost}\n\nWhat can I do?\n"
WRONG, NONE = "cudnn-wrong-major", "cudnn-missing"

FORMS = (
    "- CUDA/cuDNN version: 11.2 / {t.release}",
    "- CUDA/cuDNN version: cuDNN {t.release}, CUDA 11.2",
    "### CUDA/cuDNN version\n\n11.2/{t.release}",
    "* **cuDNN**: {t.release}",
    "| cuDNN | {t.release} |",
    "cuDNN\t{t.release}",
    "cuDNN \u2013 {t.release}",
    "cuDNN ({t.release})",
    "cuDNN SDK {t.release}",
    "the cuDNN library version {t.release} is installed",
    "cudnn is at version {t.release}",
    "cudnn installed is version {t.release}",
    "cuDNN release {t.release}",
    "I installed version {t.release} of cuDNN.",
    "upgraded cuDNN to {t.release}",
    "CUDA 11.2 (cuDNN {t.release})",
    "CUDNN_MAJOR is {t.major}",
    "cudnn.h says CUDNN_MAJOR {t.major}, CUDNN_MINOR {t.minor}",
    "#define CUDNN_MAJOR {t.major}\n#define CUDNN_MINOR {t.minor}\n#define CUDNN_PATCHLEVEL {t.patch}",
    "$ cd /usr/local/cuda/lib64; ls libcudnn*\nlibcudnn.so  libcudnn.so.{t.major}  libcudnn.so.{t.release}  libcudnn_static.a",
    "ii  libcudnn{t.major}-dev   {t.package}-1+cuda11.2  amd64  cuDNN development libraries",
    "sudo apt install libcudnn{t.major} libcudnn{t.major}-dev",
    "libcudnn{t.major}-cuda-11.x86_64     {t.package}-1     @cuda-rhel8-x86_64",
    "module load cuda/11.2 cudnn/{t.release}",
    "module load cuDNN/{t.package}-CUDA-11.2",
    "spack load cudnn@{t.release}",
    "ENV NV_CUDNN_VERSION={t.package}",
    "cudnn                     {t.release}                h90431f1_0    conda-forge",
    "$ pip list | grep nvidia\nnvidia-cudnn-cu11        {t.package}",
    "Successfully installed nvidia-cudnn-cu11-{t.package}",
    "pip install nvidia-cudnn-cu11=={t.package}",
    "CUDA 11.2 ist installiert, cuDNN {t.release} auch.",
    "已经安装了CUDA 11.2和cuDNN {t.release}",
    "cuDNN版本\uff1a{t.release}",
    "cudnn版本是{t.release}",
)


@pytest.mark.parametrize("form", FORMS)
def test_another_major_version_is_the_cause_and_the_right_one_is_not(form: str) -> None:
    """libcudnn.so.8 is asked for: cuDNN 7 is the wrong one; 8 is the right one, and there."""
    assert first(TEXT.format(told=form.format(t=SEVEN), lost=LOST)) == WRONG
    assert first(TEXT.format(told=form.format(t=EIGHT), lost=LOST)) not in (WRONG, NONE)


def test_the_right_one_speaks_against_another_one() -> None:
    """Beside whatever CUDA: the library that is asked for is the one that is told."""
    told = "I installed cuDNN 8.9.7 for CUDA 12"
    assert first(TEXT.format(told=told, lost=LOST)) not in (WRONG, NONE)
    assert first(TEXT.format(told=told, lost=NINE_LOST)) == WRONG


def test_an_error_after_a_list_of_files_is_none_of_them() -> None:
    """`ls` shows cuDNN 8, and the error below names 9."""
    listed = "$ ls -l /usr/lib/x86_64-linux-gnu/libcudnn*\nlrwxrwxrwx 1 root root 17 Oct 28 2023 /usr/lib/x86_64-linux-gnu/libcudnn.so.8 -> libcudnn.so.8.9.7"
    assert first(TEXT.format(told=listed, lost=NINE_LOST)) == WRONG
    assert first(TEXT.format(told=listed, lost=LOST)) == "ld-library-path-not-set"


@pytest.mark.parametrize(
    ("told", "is_none"),
    [
        ("cuDNN is not installed.", True),
        ("I have not installed cuDNN.", True),
        ("I did not install cuDNN yet", True),
        ("I haven't installed cudnn", True),
        ("I forgot to install cuDNN.", True),
        ("cuDNN: not installed", True),
        ("- CUDA/cuDNN version: 11.2 / none", True),
        ("I installed only the CUDA toolkit, no cuDNN.", True),
        ("$ dpkg -s libcudnn8\ndpkg-query: package 'libcudnn8' is not installed and no information is available", True),
        ("cuDNN ist nicht installiert.", True),
        ("没有安装cuDNN", True),
        ("I have not installed cuDNN with apt, but by copying cuDNN 8.1 to /usr/local/cuda.", False),
        ("I have not installed cuDNN 7, cuDNN 8.1.1 is installed.", False),
    ],
)
def test_none_is_told(told: str, is_none: bool) -> None:
    """Somebody's word that there is none; not where one is named."""
    assert (first(TEXT.format(told=told, lost=LOST)) == NONE) is is_none


@pytest.mark.parametrize(
    "form",
    [
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Loaded runtime CuDNN library: {a} but source was compiled with: {b}.",
        "loaded runtime cudnn library: {a} but source was compiled with: {b}",
        "TensorFlow was compiled with cuDNN {b} but the loaded runtime library is {a}, and model.fit crashes",
        "The runtime cuDNN is {a}, while TensorFlow was compiled with cuDNN {b}. conv2d fails.",
    ],
)
def test_what_is_loaded_against_what_it_was_compiled_with(form: str) -> None:
    """The older one is too old; a newer one is another one."""
    assert first(f"Training crashes\n\n{form.format(a='8.0.5', b='8.1.0')}\n") == "cudnn-version-too-old"
    assert first(f"Training crashes\n\n{form.format(a='8.2.1', b='7.6.5')}\n") == "cudnn-version-mismatch"
