"""The examined interpreter: is TensorFlow in it?"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.facts import Facts, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, Stage
from gpudoctor.registry import check


@check("GD401", "tf-not-installed", stage=Stage.PYTHON, explains=("tf-lists-no-gpu",))
def tf_not_installed(facts: Facts) -> Iterator[Found]:
    """The examined Python has no TensorFlow.

    What it looks at: which package `import tensorflow` would load in the examined interpreter, found without
    importing it. A file or directory that is only called tensorflow is not the package.

    Why it matters: the TensorFlow that you installed may be in another interpreter. gpudoctor examines the
    activated environment ($VIRTUAL_ENV, $CONDA_PREFIX), else `python3` on PATH; `--python` chooses another.

    How to fix: examine the interpreter that has it, or install it here.

    Source: https://www.tensorflow.org/install/pip
    """
    if known(facts.tensorflow.directory) is not None:
        return
    python = known(facts.python.executable)
    because = facts.python.chosen_because
    stray = facts.tensorflow.stray
    proof = [
        Evidence(
            text="no package tensorflow can be imported",
            source=python + (f" (examined because: {because})" if isinstance(because, str) else ""),
        )
    ]
    if not isinstance(stray, Unread) and stray:
        proof.append(Evidence(text=f"{', '.join(stray)} has the name and is not the package", source="sys.path"))
    yield Found(
        message=f"{python} has no TensorFlow.",
        proof=tuple(proof),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install TensorFlow with its CUDA libraries into this interpreter; if it is installed "
                "elsewhere, examine that one: gpudoctor check --python /path/to/python",
                steps=(f"{quote(python)} -m pip install 'tensorflow[and-cuda]'",),
            ),
        ),
    )
