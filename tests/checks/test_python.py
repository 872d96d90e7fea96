from __future__ import annotations

import shlex
from typing import Any

import pytest

from gpudoctor.checks._pip import pip
from gpudoctor.diagnosis import judge
from gpudoctor.facts import NOT_RECORDED, Distribution, Facts, KernelSpec, ModulePlace, OtherInterpreter, Unread
from tests.factory import SITE, found, healthy, outcome, roots, with_, with_variable


def test_tf_not_installed() -> None:
    facts = with_(healthy(), tensorflow__directory=None, measurements=())
    assert roots(facts) == ["tf-not-installed"]
    assert found(facts)["tf-not-installed"].fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]==2.20.0'",  # 2.21.0 needs a step more
    )
    nothing = with_(facts, driver__libcuda__devices=(), gpu__devices=(), pci__devices=())
    assert found(nothing)["tf-not-installed"].fixes[0].steps[0].endswith("pip install 'tensorflow[and-cuda]'")
    old = with_(nothing, python__version="3.8.10")
    assert found(old)["tf-not-installed"].fixes[0].steps[0].endswith("pip install tensorflow")


def test_a_directory_that_is_only_called_tensorflow_is_named() -> None:
    facts = with_(healthy(), tensorflow__directory=None, tensorflow__stray=("/work/tensorflow",))
    assert "/work/tensorflow" in " ".join(e.text for e in found(facts)["tf-not-installed"].proof)


def test_an_installed_tensorflow_is_no_fault() -> None:
    assert outcome(healthy(), "tf-not-installed") == "passed"


def test_the_interpreter_that_has_it_is_named() -> None:
    other = OtherInterpreter(executable="/home/u/it's/bin/python3", version="2.20.0", distribution="tensorflow")
    facts = with_(healthy(), tensorflow__directory=None, measurements=(), python__others=(other,))
    finding = found(facts)["tf-not-installed"]
    assert "/home/u/it's/bin/python3 has tensorflow 2.20.0" in [e.text for e in finding.proof]
    assert [f.kind for f in finding.fixes] == ["advice", "command"]
    assert shlex.split(finding.fixes[0].verify)[-1] == "/home/u/it's/bin/python3"
    assert outcome(with_(facts, python__others=NOT_RECORDED), "tf-not-installed") == "found"


def test_an_interpreter_that_the_system_looks_after_gets_an_environment() -> None:
    facts = with_(healthy(), tensorflow__directory=None, measurements=(), python__externally_managed=True)
    (fix,) = found(facts)["tf-not-installed"].fixes
    assert fix.steps[0] == "/opt/venv/bin/python3 -m venv ~/tensorflow"


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({}, ("/opt/venv/bin/python3 -m pip install --force-reinstall x",)),
        ({"pip": False, "made_by_uv": True}, ("uv pip install --python /opt/venv/bin/python3 --reinstall x",)),
        (
            {"pip": False},
            (
                "/opt/venv/bin/python3 -m ensurepip --upgrade",
                "/opt/venv/bin/python3 -m pip install --force-reinstall x",
            ),
        ),
        (
            {"externally_managed": True},
            ("/opt/venv/bin/python3 -m pip install --break-system-packages --force-reinstall x",),
        ),
        ({"executable": Unread(why="?")}, ("python3 -m pip install --force-reinstall x",)),
    ],
)
def test_the_lines_of_pip(changes: dict[str, Any], steps: tuple[str, ...]) -> None:
    facts = with_(healthy(), **{f"python__{k}": v for k, v in changes.items()})
    assert pip(facts, "install", "--force-reinstall", "x") == steps


# ------------------------------------------------------------------------------- tf-shadowed


def first(name: str, path: str, form: str) -> Facts:
    """Something with the name of a module comes before all that is installed."""
    modules = healthy().python.modules
    assert isinstance(modules, tuple)
    return with_(healthy(), python__modules=(ModulePlace(name=name, path=path, form=form), *modules))


def test_a_script_called_tensorflow() -> None:
    absent = Unread(why="TensorFlow is not installed")
    facts = with_(
        first("tensorflow", "/work/tensorflow.py", "module"),
        tensorflow__directory=None,
        tensorflow__stray=("/work/tensorflow.py",),
        tensorflow__import_error=absent,
        tensorflow__devices=absent,
        tensorflow__build__cuda=absent,
        measurements=(),
    )
    assert roots(facts) == ["tf-shadowed"]
    finding = found(facts)["tf-shadowed"]
    assert finding.message == "import tensorflow takes /work/tensorflow.py, not the package that is installed."
    assert f"tensorflow 2.20.0 is installed in {SITE}" in [e.text for e in finding.proof]


@pytest.mark.parametrize(
    ("name", "path", "form"),
    [
        ("numpy", "/work/numpy.py", "module"),
        ("keras", "/work/keras", "package"),
        ("tensorflow", "/src/tensorflow/tensorflow", "package"),
    ],
)
def test_what_keeps_tensorflow_from_being_imported(name: str, path: str, form: str) -> None:
    facts = with_(
        first(name, path, form),
        tensorflow__import_error="ImportError: Could not import tensorflow. Do not import from its source directory",
        tensorflow__devices=Unread(why="import tensorflow failed"),
        measurements=(),
    )
    assert roots(facts) == ["tf-shadowed"]
    assert outcome(first(name, path, form), "tf-shadowed") == "skipped"


def test_what_shadows_nothing() -> None:
    failed = {"tensorflow__import_error": "ImportError: x", "tensorflow__devices": Unread(why="x")}
    assert outcome(with_(healthy(), **failed), "tf-shadowed") == "passed"
    assert outcome(with_(first("nvidia", "/work/nvidia", "namespace"), **failed), "tf-shadowed") == "passed"
    assert outcome(with_(first("numpy", "/work/numpy", "namespace"), **failed), "tf-shadowed") == "passed"
    assert outcome(with_(healthy(), **failed, python__modules=NOT_RECORDED), "tf-shadowed") == "unknown"
    edited = Distribution(name="tensorflow", version="2.22.0", location=SITE, editable="file:///src")
    facts = with_(first("tensorflow", "/src/tensorflow", "package"), **failed, python__distributions=(edited,))
    assert outcome(facts, "tf-shadowed") == "passed"


def test_a_package_of_another_place_is_decided_by_the_import() -> None:
    unread = Unread(why="not imported at this level", chosen=True)
    facts = with_(first("numpy", "/opt/modules/numpy", "package"), tensorflow__import_error=unread)
    assert outcome(facts, "tf-shadowed") == "unknown"
    facts = with_(first("numpy", "/work/numpy.py", "module"), tensorflow__import_error=unread)
    assert outcome(facts, "tf-shadowed") == "found"


# ------------------------------------------------------------------------------- python-32bit


def test_python_32bit() -> None:
    facts = with_(healthy(), tensorflow__directory=None, python__bits=32, measurements=())
    assert roots(facts) == ["python-32bit"]
    assert outcome(with_(facts, python__bits=64), "python-32bit") == "passed"
    assert outcome(with_(facts, python__bits=NOT_RECORDED), "python-32bit") == "unknown"
    assert outcome(healthy(), "python-32bit") == "skipped"


# ------------------------------------------------------------------------------- jupyter-kernel-other-environment


def kernel(**changes: Any) -> KernelSpec:
    values: dict[str, Any] = {
        "name": "data",
        "display_name": "Data",
        "path": "/home/u/.local/share/jupyter/kernels/data/kernel.json",
        "mine": True,
        "executable": "/home/u/data/bin/python",
        "exists": True,
        "examined": False,
        "tensorflow": None,
    }
    return KernelSpec(**{**values, **changes})


def test_jupyter_kernel_other_environment() -> None:
    facts = with_(healthy(), python__kernels=(kernel(),))
    finding = found(facts)["jupyter-kernel-other-environment"]
    assert finding.level == "info"
    assert "'Data' starts /home/u/data/bin/python, which has no TensorFlow" in finding.message
    assert finding.fixes[0].steps[-1].startswith("/opt/venv/bin/python3 -m ipykernel install --user")
    assert judge(facts).diagnosis.verdict == "healthy"
    gone = found(with_(healthy(), python__kernels=(kernel(exists=False),)))["jupyter-kernel-other-environment"]
    assert "which does not exist" in gone.message


@pytest.mark.parametrize(
    "kernels",
    [
        (),
        (kernel(mine=False),),
        (kernel(tensorflow="2.20.0"),),
        (kernel(), kernel(name="tf", examined=True, tensorflow="2.20.0")),
        (kernel(executable="python", exists=Unread(why="?"), examined=Unread(why="?"), tensorflow=Unread(why="?")),),
    ],
)
def test_kernels_that_are_no_news(kernels: tuple[KernelSpec, ...]) -> None:
    assert outcome(with_(healthy(), python__kernels=kernels), "jupyter-kernel-other-environment") == "passed"


def test_kernels_that_were_not_looked_at() -> None:
    assert outcome(with_(healthy(), python__kernels=NOT_RECORDED), "jupyter-kernel-other-environment") == "unknown"
    assert outcome(with_(healthy(), tensorflow__directory=None), "jupyter-kernel-other-environment") == "skipped"


# ------------------------------------------------------------------------------- keras-backend-not-tensorflow


def test_keras_backend_not_tensorflow() -> None:
    by_file = with_(healthy(), python__keras_backend="jax")
    assert found(by_file)["keras-backend-not-tensorflow"].message == "Keras runs on jax, not on TensorFlow."
    by_variable = with_variable(by_file, "KERAS_BACKEND", "torch")
    assert "torch" in found(by_variable)["keras-backend-not-tensorflow"].message
    assert judge(by_variable).diagnosis.verdict == "healthy"
    assert outcome(with_variable(by_file, "KERAS_BACKEND", "tensorflow"), "keras-backend-not-tensorflow") == "passed"
    assert outcome(with_(healthy(), python__keras_backend=None), "keras-backend-not-tensorflow") == "passed"
    assert outcome(with_variable(by_file, "TF_USE_LEGACY_KERAS", "1"), "keras-backend-not-tensorflow") == "skipped"
    assert outcome(with_(healthy(), python__keras_backend=NOT_RECORDED), "keras-backend-not-tensorflow") == "unknown"
    two = Distribution(name="keras", version="2.15.0", location=SITE)
    assert outcome(with_(by_file, python__distributions=(two,)), "keras-backend-not-tensorflow") == "skipped"
