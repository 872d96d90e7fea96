"""A notebook without TensorFlow beside a terminal that has it: the kernel is of another Python. Without the terminal it is not installed."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

DIFFER = [
    "In the terminal with python3 tensorflow does load.\n\nIn Jupyter a new notebook gives the error.",
    "It works in the terminal but not in Jupyter Notebook.",
    "import tensorflow works fine from the command line, in the notebook I get this error.",
    "When I run python in the anaconda prompt I can import it, but in jupyter I can't.",
    "From cmd it imports without a problem. Only in jupyter notebook it fails.",
    "pip list shows tensorflow 2.8.0, yet in the Jupyter notebook it is not found.",
    "tensorflow is installed in my environment, but the notebook says there is no such module.",
    "I installed tensorflow with pip3 and in a python3 shell I can use it. Jupyter lab doesn't see it.",
    "\u5728\u547d\u4ee4\u884c\u91cc\u53ef\u4ee5\u5bfc\u5165tensorflow\uff0c\u4f46\u662f\u5728jupyter notebook\u91cc\u62a5\u9519\u3002",
    "Im Terminal funktioniert der Import, im Jupyter-Notebook nicht.",
]
DO_NOT = [
    "I get it in the terminal and in Jupyter.",
    "It fails in both, the terminal and Jupyter.",
    "It fails in every shell.",
    "pip list does not show tensorflow.",
    "I use Jupyter. How do I install it?",
]
ERRORS = [
    "ModuleNotFoundError: No module named 'tensorflow'",
    "<ipython-input-1-64156d691fe5> in <module>\n----> 1 import tensorflow as tf\n\nModuleNotFoundError: No module named 'tensorflow'",
]


def text(said: str, error: str) -> str:
    return f"No module named tensorflow\n\n{said}\n\nimport tensorflow as tf\n{error}\n"


@pytest.mark.parametrize("error", ERRORS, ids=["line", "cell"])
@pytest.mark.parametrize("said", DIFFER)
def test_one_has_it_and_the_other_has_not(said: str, error: str) -> None:
    assert first(text(said, error)) == "jupyter-kernel-other-environment"


@pytest.mark.parametrize("error", ERRORS, ids=["line", "cell"])
@pytest.mark.parametrize("said", DO_NOT)
def test_none_has_it(said: str, error: str) -> None:
    assert first(text(said, error)) == "tf-not-installed"
