"""What pip, uv, Poetry and conda print: is it the Python, the platform, or the package?"""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

NONE = (
    "ERROR: Could not find a version that satisfies the requirement {name} (from versions: {list})\n"
    "ERROR: No matching distribution found for {name}\n"
)


def none(name: str = "tensorflow", listed: str = "none") -> str:
    return NONE.format(name=name, list=listed)


@pytest.mark.parametrize(
    "text",
    [
        "(base) C:\\Users\\ana>python -V\nPython 3.12.1\n" + none(),
        "### Python version\n\n3.11.1\n\n### Relevant log output\n\n" + none(),
        "I have Python 3.14.0 here.\n" + none("tensorflow-cpu"),
        "Python 3.13\n$ pipenv install tensorflow\n" + none(),
        none("tensorflow==2.4.1", "2.5.0rc1, 2.5.0, 2.5.1, 2.6.0"),  # the list is of 3.9
        none("tensorflow<2.0,>=1.12", "2.2.0, 2.2.1, 2.3.0"),
        none("tensorflow-gpu==1.14", "2.2.0rc2, 2.2.0, 2.3.0"),
        "Python 2.7.18 (default, Mar  8 2021, 13:02:45) \n[GCC 9.3.0] on linux2\n" + none("tensorflow==2.6.0", ""),
        "OS: Fedora\n- Python version: 3.9\n`ERROR: No matching distribution found for tensorflow==2.2.0`",
        ("  x No solution found when resolving dependencies:\n  ╰─▶ Because all versions of tensorflow have no wheels with a matching Python "
        "ABI tag (e.g., `cp314`) and you require tensorflow, we can conclude that your requirements are unsatisfiable."),
        ("      hint: You require CPython 3.14 (`cp314`), but we only found wheels for `tensorflow` (v2.20.0) with the following "
        "Python ABI tags: `cp39`, `cp310`, `cp311`"),
        "  - tensorflow requires Python >=3.9,<3.13, so it will not be installable for Python >=3.13,<4.0",
        "ERROR: Package 'tensorflow' requires a different Python: 3.13.2 not in '<3.13,>=3.9'",
        ("UnsatisfiableError: The following specifications were found\nto be incompatible with the existing python installation in "
        "your environment:\nYour python: python=3.10\nSpecifications:\n  - tensorflow-gpu -> python[version='3.6.*|>=3.7,<3.8.0a0']"),
        "Python 3.6.9\nERROR: tensorflow-2.8.0-cp38-cp38-manylinux2010_x86_64.whl is not a supported wheel on this platform.",
    ],
)  # fmt: skip
def test_the_python_is_the_reason(text: str) -> None:
    assert said(judged(text)) == (["python-version-unsupported"], [])


@pytest.mark.parametrize(
    "text",
    [
        none(),
        "Python 3.9\n" + none(),
        none("tensorflow==2.4.1", "2.2.0, 2.3.0"),  # a mirror, or an old pip: this release is for that Python
        "tensorflow-2.8.0-cp38-cp38-manylinux2010_x86_64.whl is not a supported wheel on this platform.",
        "Specifications:\n  - tensorflow -> python[version='3.8.*|>=3.9,<3.10.0a0']\nYour python: python=3.9",
    ],
)
def test_it_may_be_the_python(text: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == "python-version-unsupported"


def test_it_is_not_the_python_that_had_wheels_when_it_came() -> None:
    """There were wheels for 3.11 before 3.11.9: it has 32 bits, or is of another platform."""
    roots, candidates = said(judged("Python 3.11.9\n" + none()))
    assert not roots
    assert candidates[0] == "python-32bit"
    assert "python-version-unsupported" not in candidates


def test_32_bits() -> None:
    banner = "Python 3.8.6 (tags/v3.8.6:db45529, Sep 23 2020, 15:37:30) [MSC v.1927 32 bit (Intel)] on win32\n"
    assert said(judged(banner + none())) == (["python-32bit"], [])
    path = "c:\\users\\ana\\appdata\\local\\programs\\python\\python37-32\\lib\\site-packages\n"
    assert said(judged(path + none(listed=""))) == (["python-32bit"], [])
    uname = "Linux box 4.19.0-6-686-pae #1 SMP Debian 4.19.67 i686 GNU/Linux\n"
    assert said(judged(uname + none("tensorflow>=1.8", ""))) == (["python-32bit"], [])
    assert said(judged("pip on Ubuntu 16.04 (32 bit)\n" + none())) == (["python-32bit"], [])
    assert "python-32bit" not in said(judged(banner.replace("32 bit (Intel)", "64 bit (AMD64)") + none()))[0]


@pytest.mark.parametrize(
    "text",
    [
        '      Exception:\n      The "tensorflow-gpu" package has been removed!\n      Please install "tensorflow" instead.',
        "Collecting tensorflow-gpu\n  Using cached tensorflow-gpu-2.12.0.tar.gz (2.6 kB)\n  Preparing metadata (setup.py) ... error",
        none("tensorflow-gpu==2.15.0", "2.8.0, 2.9.0, 2.10.0, 2.11.0, 2.12.0"),
    ],
)
def test_tensorflow_gpu_is_gone(text: str) -> None:
    assert said(judged(text)) == (["tensorflow-gpu-package-removed"], [])


def test_a_setup_that_fails() -> None:
    failed = "error: subprocess-exited-with-error\n  x python setup.py egg_info did not run successfully.\n  │ exit code: 1\n"
    assert said(judged("pip install tensorflow-gpu\n" + failed))[1][0] == "tensorflow-gpu-package-removed"
    assert "tensorflow-gpu-package-removed" not in said(judged("pip install scikit-umfpack\n" + failed))[1]


def test_aarch64() -> None:
    jetson = "Linux nano 4.9.253-tegra #1 SMP PREEMPT aarch64 aarch64 aarch64 GNU/Linux\nPython 3.6.9\n"
    assert said(judged(jetson + none())) == (["tf-aarch64-no-wheel"], [])
    assert said(judged(jetson.replace("3.6.9", "3.8.10") + none()))[0] == []
    cuda = "$ uname -m\nLinux gh 6.5.0-1019-nvidia-64k #19 SMP PREEMPT_DYNAMIC aarch64 GNU/Linux\nPython 3.11.9\n"
    cuda += "ERROR: No matching distribution found for nvidia-nccl-cu12==2.21.5; extra == 'and-cuda'"
    assert said(judged(cuda)) == (["tf-aarch64-cpu-only"], [])


def test_a_module_that_could_not_be_installed() -> None:
    text = none() + "Traceback (most recent call last):\nModuleNotFoundError: No module named 'tensorflow'\n"
    assert said(judged("Python 3.13.1\n" + text))[0] == ["python-version-unsupported"]
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == "python-version-unsupported"


def test_what_is_installed() -> None:
    facts = judged(
        "Package        Version\n-------------- -------\ntensorflow     2.16.1\nnumpy          1.26.4\n"
        "nvidia-cudnn-cu12 8.9.7.29\nrequests 2.31.0\n"
    ).facts
    assert facts.tensorflow.version == "2.16.1"
    assert {d.name for d in facts.python.distributions} == {"tensorflow", "numpy"}  # type: ignore[union-attr]
    shown = judged("Name: tensorflow\nVersion: 2.13.0\nSummary: TensorFlow is …").facts
    assert shown.tensorflow.version == "2.13.0"
    chosen = judged("  Downloading tensorflow-2.9.1-cp310-cp310-win_amd64.whl (444.0 MB)").facts
    assert (chosen.python.version, chosen.system.system, chosen.system.machine) == ("3.10", "Windows", "AMD64")
    conda = judged("tensorflow-base           2.8.1           eigen_py39h9d57fe5_0    defaults").facts
    assert [p.build for p in conda.python.conda_packages] == ["eigen_py39h9d57fe5_0"]  # type: ignore[union-attr]
    now = judged("Successfully installed keras-2.9.0 numpy-1.23.1 tensorflow-2.9.1").facts
    assert now.tensorflow.version == "2.9.1"


NO_GPU = "Num GPUs Available:  0\n"


def test_conda_builds_without_cuda() -> None:
    row = "tensorflow                2.6.0           {}    https://repo.anaconda.com/pkgs/main/linux-64\n"
    assert said(judged(row.format("mkl_py39h4683426_0") + NO_GPU)) == (["conda-cpu-build"], [])
    assert "conda-cpu-build" not in said(judged(row.format("gpu_py39h2ddf7ca_0") + NO_GPU))[0]
    assert said(judged(row.format("mkl_py39h4683426_0"))) == ([], [])
    change = "  tensorflow   pkgs/main::tensorflow\n  tensorflow      2.4.1-gpu_py38h8a7d6ce_0 --> 2.5.0-mkl_py38h2fd4b7e_0\n"
    assert said(judged(change)) == (["conda-cpu-build"], [])
    assert said(judged(change.replace("mkl_", "gpu_"))) == ([], [])


def test_packages_without_cuda() -> None:
    assert said(judged("tensorflow-cpu==2.12.0\n" + NO_GPU)) == (["tf-cpu-only-package"], [])
    assert said(judged("tensorflow==1.14.0\ntensorflow-gpu==1.14.0\n" + NO_GPU)) == (["tf-cpu-only-package"], [])
    assert said(judged("tensorflow==2.12.0\n" + NO_GPU))[0] == []
    assert said(judged("tensorflow-gpu==1.14.0\n" + NO_GPU))[0] == []
    assert said(judged("tensorflow-cpu==2.12.0\n")) == ([], [])


LISTED = "ERROR: Could not find a version that satisfies the requirement tensorflow{spec} (from versions: {versions})\n"
PATH_ENDS = (
    "ERROR: Could not install packages due to an OSError: [Errno 2] No such file or directory: "
    "'C:\\\\Users\\\\kim\\\\AppData\\\\Local\\\\pypoetry\\\\Cache\\\\virtualenvs\\\\a-py3.8\\\\Lib\\\\site-packages\\\\tensorflow\\\\"
)
SKIPPED = "ERROR: Ignored the following versions that require a different python version: {}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("I have an M1 Mac\n" + LISTED.format(spec="~=2.12.0", versions="2.13.0rc0, 2.13.0rc1, 2.13.0"), "tf-aarch64-no-wheel"),
        ("Which release is meant?\n" + LISTED.format(spec="==2.9.2", versions="2.13.0rc0, 2.13.0rc1, 2.13.0"), "tf-aarch64-no-wheel"),
        ("On Apple silicon it says: no matching distribution for tensorflow 2.8.0\n", "tf-aarch64-no-wheel"),
        ("On my MacBook Air M2 there is no matching distribution found for 'tensorflow' 2.11\n", "tf-aarch64-no-wheel"),
        ("Using cached numpy-1.24.1-cp39-cp39-macosx_11_0_arm64.whl (13.9 MB)\n" + LISTED.format(spec="==2.10.0", versions="none"), "tf-aarch64-no-wheel"),
        ("Using cached lxml-4.9.3-cp310-cp310-manylinux_2_28_aarch64.whl (5 MB)\nThe requirements have tensorflow==2.7.1\n", "tf-aarch64-no-wheel"),
        ("Using cached lxml-4.9.3-cp310-cp310-manylinux_2_28_aarch64.whl (5 MB)\nThe requirements have tensorflow==2.12.1\n", None),
        ("Using cached lxml-4.9.3-cp310-cp310-manylinux_2_28_x86_64.whl (5 MB)\nThe requirements have tensorflow==2.7.1\n", None),
        ("I have an Intel MacBook\n" + LISTED.format(spec="==2.9.2", versions="none"), None),
        ("I have an M1 Mac\n" + LISTED.format(spec="==2.14.0", versions="none"), None),
        ("I have an M1 Mac\nNo matching distribution found for tensorflow-gpu==2.5.0\n", "tf-macos-no-cuda"),
        # what pip leaves out tells the Python
        (SKIPPED.format("1.21.2 Requires-Python >=3.7,<3.11; 1.10.1 Requires-Python <3.12,>=3.8") + LISTED.format(spec="", versions="none"), "python-version-unsupported"),
        ("It is a MacBook with an M1 Pro chip\n" + SKIPPED.format("1.21.2 Requires-Python >=3.7,<3.11; 1.10.1 Requires-Python <3.12,>=3.8; 1.9.0 Requires-Python >=3.8,") + LISTED.format(spec="", versions="none"), "python-version-unsupported"),
        (SKIPPED.format("1.21.2 Requires-Python >=3.7,<3.11; 2.1.0 Requires-Python >=3.10") + LISTED.format(spec="", versions="none"), None),
        (SKIPPED.format("1.6.2 Requires-Python >=3.7,<3.10") + LISTED.format(spec="", versions="none"), None),
        # a pip that knows no wheel for Linux
        ("Downloading/unpacking tensorflow\n  Could not find any downloads that satisfy the requirement tensorflow\nNo distributions at all found for tensorflow\n", "pip-too-old"),
        ("$ pip -V\npip 7.1.2 from /usr/lib/python2.7/dist-packages (python 2.7)\nNo distributions at all found for tensorflow\n", "pip-too-old"),
        ("$ pip -V\npip 18.1 from /usr/lib/python2.7/dist-packages (python 2.7)\nNo distributions at all found for tensorflow\n", None),
        ("C:\\> pip -V\npip 7.1.2 from C:\\Python27\\lib\\site-packages (python 2.7)\nNo distributions at all found for tensorflow\n", None),
        # a path that is too long
        (PATH_ENDS + "include\\\\external\\\\cudnn_frontend_archive\\\\_virtual_includes\\\\cudnn_frontend\\\\engine.h'\n", "windows-long-path"),
        (PATH_ENDS + "python\\\\keras.py'\nHINT: This error might have occurred since this system does not have Windows Long Path support enabled.\n", "windows-long-path"),
        (PATH_ENDS + "python\\\\keras.py'\n", None),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/srv/venv/lib/python3.9/site-packages/tensorflow/include/external/cudnn_frontend_archive/engine.h'\n", None),
    ],
)  # fmt: skip
def test_which_machine_or_python_pip_looks_for(text: str, cause: str | None) -> None:
    assert said(judged(text))[0] == ([cause] if cause else [])


def test_no_build_with_cuda_is_asked_for() -> None:
    text = "The MacBook can't install it, it is an M1\nERROR: No matching distribution found for tensorflow\n"
    candidates = said(judged(text))[1]
    assert candidates[0] == "tf-aarch64-no-wheel"
    assert candidates[-1] == "python-32bit"  # no Python for these is one
    assert candidates[-2] in {"tf-macos-no-cuda", "tf-windows-native-cpu-only"}
