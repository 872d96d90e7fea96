"""The examined interpreter: is TensorFlow in it, is it the one that is meant?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _fit, _installs
from gpudoctor.checks._pip import pip
from gpudoctor.checks._reasons import short
from gpudoctor.checks._run import needs_tensorflow
from gpudoctor.checks._said import left_open, lines
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD401", "tf-not-installed", stage=Stage.PYTHON, explains=("tf-lists-no-gpu",))
def tf_not_installed(facts: Facts) -> Findings:
    """The examined Python has no TensorFlow.

    What it looks at: which package `import tensorflow` would load in the examined interpreter, found without
    importing it. A file or directory that is only called tensorflow is not the package.

    Why it matters: the TensorFlow that you installed may be in another interpreter. gpudoctor examines the
    activated environment ($VIRTUAL_ENV, $CONDA_PREFIX), else `python3` on PATH; `--python` chooses another. A program that used a GPU
    under gpudoctor run, and never loaded TensorFlow, needs none.

    How to fix: examine the interpreter that has it, or install it here.

    Source: https://www.tensorflow.org/install/pip
    """
    if known(facts.tensorflow.directory) is not None:
        return f"TensorFlow is in {short(facts.tensorflow.directory)}"
    if facts.text.is_all and facts.text.shows("install-fails"):
        raise UnknownFactError(
            Unread(why="why it can't be installed is not decided", settle="python3 -m pip install tensorflow")
        )
    if facts.text.is_all and facts.text.said("illegal-instruction"):
        raise left_open("python3 -c 'import tensorflow'")  # another Python has it, and ends there
    if facts.text.is_all and _of_a_notebook(facts):
        raise left_open("jupyter kernelspec list")
    needs_tensorflow(facts)
    python = known(facts.python.executable) if not facts.text.is_all else "python3"
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
    others = () if isinstance(facts.python.others, Unread) else facts.python.others
    proof += [Evidence(text=f"{o.executable} has {o.distribution} {o.version}", source="its files") for o in others[:3]]
    yield Found(message=f"{python} has no TensorFlow.", proof=tuple(proof), fixes=_fixes(facts, python))


def _of_a_notebook(facts: Facts) -> bool:
    """Whether it is a notebook that lacks it, as the text says, and another interpreter has it or may have it."""
    said = facts.text.said
    elsewhere = said(
        "environment-has-it", "shell-works", "kernel-is-another", "is-installed-elsewhere", "lists-gpus", "release-beside-list",
    )  # fmt: skip
    fails = said("in-a-notebook", "notebook-fails")
    return bool(
        said("notebook-lacks-tensorflow", "notebook-differs") or (fails and (elsewhere or said("terminal-imports")))
    )


def _fixes(facts: Facts, python: str) -> tuple[Fix, ...]:
    """Examine the one that has it, where one is known; install it here, or beside where the system forbids that."""
    fixes = []
    others = () if isinstance(facts.python.others, Unread) else facts.python.others
    if others:
        found = quote(others[0].executable)
        fixes.append(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"If {others[0].executable} is the one you use, examine that: gpudoctor check --python {found}",
                steps=(),
                verify=f"gpudoctor check --python {found}",
            )
        )
    elsewhere = (
        "" if others else "; if it is installed elsewhere, examine that one: gpudoctor check --python /path/to/python"
    )
    words = tuple(quote(w) for w in _release(facts))
    if facts.python.externally_managed is True:
        steps: tuple[str, ...] = (
            f"{quote(python)} -m venv ~/tensorflow",
            " ".join(("~/tensorflow/bin/python -m pip install", *words)),
        )
        where, verify = (
            "an environment of its own (the system looks after this interpreter)",
            ("gpudoctor check --python ~/tensorflow"),
        )
    else:
        steps = pip(facts, "install", *words)
        where, verify = "this interpreter", "gpudoctor check"
    fixes.append(
        Fix(
            kind="command",
            risk="safe",
            summary=f"Install TensorFlow with its CUDA libraries into {where}{elsewhere}",
            steps=steps,
            verify=verify,
        )
    )
    return tuple(fixes)


def _release(facts: Facts) -> tuple[str, ...]:
    """The release that fits the GPUs that are here, where that is known; else the newest that pip finds for this Python."""
    fitting = () if facts.text.is_all else _fit.wanted(facts)
    old = _installs.at_least(_installs.minor(facts.python.version), "3.9") is False  # no release for it has the extra
    return fitting or (("tensorflow",) if old else ("tensorflow[and-cuda]",))


_FRAMEWORK = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-rocm")


@check(
    "GD403",
    "tf-shadowed",
    stage=Stage.PYTHON,
    explains=("tf-import-broken", "tf-lists-no-gpu", "tf-not-installed", "op-fails"),
)
def tf_shadowed(facts: Facts) -> Findings:
    """A local file or directory is imported instead of TensorFlow, Keras or NumPy.

    What it looks at: everything on sys.path that is called tensorflow, keras or numpy, in the order of the search,
    and where the installed packages of that name lie. It fires where a file (numpy.py) comes before the package, or
    a directory does and the import fails.

    Why it matters: Python takes what comes first, and the directory that a program is started from comes before
    everything that is installed. A script called tensorflow.py, or TensorFlow's source tree, hides the package.

    How to fix: rename the file, or start from another directory.

    Source: The Python Language Reference, The import system; sys.path.
    """
    error = facts.tensorflow.import_error
    told = facts.text.said("tf-is-a-file", "tf-source-directory")
    if isinstance(error, str) and any(words in error for words in ("No module named", "cannot import name")):
        told += facts.text.said("frame-in-source-tree")
    if facts.text.said("tf-lacks-attribute", "benign-api-of-tf1"):
        told += facts.text.said("frame-of-a-namesake")
    if facts.text.is_all and told:
        yield Found(
            message="import takes a file or directory of that name, not the package that is installed.",
            proof=lines(told),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Rename your file tensorflow.py (and remove the __pycache__ beside it), or start from another directory",
                    steps=(),
                    verify="python3 -c 'import tensorflow; print(tensorflow.__file__)'",
                ),
            ),
        )
        return
    if error is None:
        raise NotApplicable("TensorFlow imports")
    for name, owners in (("tensorflow", _FRAMEWORK), ("keras", ("keras",)), ("numpy", ("numpy",))):
        packages = [d for d in known(facts.python.distributions) if d.name in owners]
        places = [m for m in known(facts.python.modules) if m.name == name and m.form != "namespace"]
        if not packages or not places or any(isinstance(d.editable, str) for d in packages):
            continue
        homes = {d.location for d in packages} | {d.real_location for d in packages}
        first = places[0]
        if os.path.dirname(first.path) in homes or (first.form == "package" and known(error) is None):
            continue
        yield Found(
            message=f"import {name} takes {first.path}, not the package that is installed.",
            proof=(
                Evidence(text=f"{first.path} comes first", source="sys.path"),
                Evidence(
                    text=f"{packages[0].name} {packages[0].version} is installed in {packages[0].location}",
                    source="its metadata",
                ),
                *((Evidence(text=error, source="import tensorflow"),) if isinstance(error, str) else ()),
            ),
            fixes=(_renamed(first.path, name),),
        )
    return "no file or directory hides TensorFlow, Keras or NumPy"


def _renamed(path: str, name: str) -> Fix:
    """The file or directory under another name, beside what it was."""
    place, called = os.path.split(path)
    return Fix(
        kind="command",
        risk="safe",
        summary=f"Rename it (what of yours imports it must ask for the new name), or start from another directory than {place}",
        steps=(f"mv -n {quote(path)} {quote(os.path.join(place, 'my_' + called))}",),
        verify=f"python3 -c 'import {name}; print({name}.__file__)'",
    )


@check(
    "GD407",
    "python-32bit",
    stage=Stage.PYTHON,
    explains=("tf-lists-no-gpu", "tf-not-installed", "install-fails", "tf-import-broken"),
)
def python_32bit(facts: Facts) -> Findings:
    """The examined Python is a 32-bit one, for which there is no TensorFlow.

    What it looks at: the size of a pointer in the examined interpreter.

    Why it matters: TensorFlow's wheels and NVIDIA's libraries exist for 64 bits only; pip finds 'no matching
    distribution'.

    How to fix: install a 64-bit Python and TensorFlow in that.

    Source: the files of tensorflow on PyPI; https://www.tensorflow.org/install/pip
    """
    if facts.text.is_all:
        yield from _32bit_in_text(facts)
        return
    if known(facts.tensorflow.directory) is not None:
        raise NotApplicable("TensorFlow is installed")
    if known(facts.python.bits) != 32:
        return f"this Python has {facts.python.bits} bits"
    python = known(facts.python.executable)
    yield Found(
        message=f"{python} is a 32-bit Python; TensorFlow exists for 64 bits only.",
        proof=(Evidence(text="a pointer has 32 bits", source=python),),
        fixes=(_64BIT,),
    )


_64BIT = Fix(kind="advice", risk="safe", summary="Install a 64-bit Python, and TensorFlow in that", steps=())


def _fits_but_for_bits(facts: Facts) -> tuple[TextEvent, ...]:
    """Wheels for Windows of 64 bits, and for the very Python that the text names, which are 'not supported on this platform', or
    not offered."""
    if facts.system.system != "Windows":
        return ()
    refused = (e for e in facts.text.said("wheel-not-supported") if e.values.get("platform") == "win_amd64")
    fits = tuple(e for e in refused if _installs.is_for(e, facts.python.version))
    return fits or _installs.nothing_for_its_bits(facts)


def _32bit_in_text(facts: Facts) -> Iterator[Found]:
    """Where an installation or an import fails, and the Python or the machine is told to have 32 bits."""
    of_64 = facts.system.machine in ("x86_64", "AMD64", "aarch64", "arm64")
    is_64 = facts.python.bits == 64 or (of_64 and not _fits_but_for_bits(facts))  # a Windows of 64 bits runs both
    if is_64 and facts.python.bits != 32:
        raise NotApplicable("it has 64 bits")
    failed = facts.text.shows("install-fails")
    breaks = isinstance(facts.tensorflow.import_error, str) or facts.text.said("swig-import")
    if not failed and facts.tensorflow.directory is not None and not breaks:
        raise UnknownFactError(Unread(why="no installation fails"))
    if not _installs.is_32bit(facts):
        if refused := _fits_but_for_bits(facts):
            yield Found(
                message="There is a wheel for this Python and for Windows, and pip does not take it: this Python has 32 bits.",
                proof=lines(refused),
                fixes=(_64BIT,),
            )
            return
        known(facts.python.bits)
        return
    yield Found(
        message="This Python, or this system, has 32 bits; TensorFlow exists for 64 bits only.",
        proof=(Evidence(text="32 bits", source="what the text tells of it"), *lines(failed)),
        fixes=(_64BIT,),
    )


@check("GD405", "jupyter-kernel-other-environment", stage=Stage.PYTHON, level=Level.WARN)
def jupyter_kernel_other_environment(facts: Facts) -> Findings:
    """Your Jupyter kernel starts another interpreter, one without TensorFlow.

    What it looks at: the kernels in the user's own Jupyter directories: which interpreter each starts, and whether
    that has TensorFlow, by its files. It says something where the examined interpreter has TensorFlow, no kernel
    starts it, and one of the user's own starts another that has none. In a pasted text: a Jupyter of Windows, started from WSL.

    Why it matters: a notebook runs in its kernel's interpreter, whatever environment is activated. TensorFlow is
    then 'not installed' in the notebook, or an older one without GPUs.

    How to fix: make a kernel of the examined interpreter, and choose it in the notebook.

    Source: https://jupyter-client.readthedocs.io/en/stable/kernels.html
    """
    if facts.text.is_all and facts.text.said("wsl-named") and (told := facts.text.said("windows-jupyter")):
        yield Found(
            message="This starts the Jupyter of Windows: its kernel is a Python of Windows', not the one of WSL.",
            proof=lines(told),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Install Jupyter in the environment inside WSL, and start that",
                    steps=("python3 -m pip install notebook", "python3 -m notebook --no-browser"),
                ),
            ),
        )
        return
    if facts.text.is_all and facts.tensorflow.directory is None and _of_a_notebook(facts):
        raise left_open("jupyter kernelspec list")
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed here")
    kernels = [k for k in known(facts.python.kernels) if k.mine]
    if any(k.examined is True for k in kernels):
        return "a Jupyter kernel starts this interpreter"
    others = [k for k in kernels if k.examined is False and (k.exists is False or k.tensorflow is None)]
    if not others:
        return "no Jupyter kernel starts one without TensorFlow" if kernels else "this user has no Jupyter kernels"
    executable = known(facts.python.executable)
    first = others[0]
    what = "which does not exist" if first.exists is False else "which has no TensorFlow"
    yield Found(
        message=f"The Jupyter kernel '{first.display_name or first.name}' starts {first.executable}, {what}; no kernel "
        f"starts {executable}.",
        proof=tuple(Evidence(text=f"{k.name} starts {k.executable}", source=k.path) for k in others[:3]),
        level=Level.INFO,
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Make a kernel of this interpreter, then choose it in the notebook (Kernel, Change kernel)",
                steps=(
                    *pip(facts, "install", "ipykernel"),
                    f"{quote(executable)} -m ipykernel install --user --name tensorflow-gpu",
                ),
                verify="jupyter kernelspec list",
            ),
        ),
    )


_ON_TENSORFLOW = Fix(
    kind="command",
    risk="safe",
    summary="Choose TensorFlow, for this shell and what it starts",
    steps=("export KERAS_BACKEND=tensorflow",),
    verify="python -c 'import keras; print(keras.backend.backend())'",
)


@check("GD406", "keras-backend-not-tensorflow", stage=Stage.PYTHON, level=Level.INFO)
def keras_backend_not_tensorflow(facts: Facts) -> Findings:
    """Keras runs on another backend than TensorFlow.

    What it looks at: KERAS_BACKEND, else the backend in ~/.keras/keras.json, where Keras 3 is installed. In a pasted text: either of
    them, where TensorFlow lists its GPU there and nothing else fails.

    Why it matters: what TensorFlow sees of the GPUs then says nothing of what Keras uses: models run on JAX's or
    PyTorch's devices.

    How to fix: nothing, if it is meant; else choose TensorFlow.

    Source: https://keras.io/getting_started/#configuring-your-backend
    """
    if facts.text.is_all:
        yield from _keras_in_text(facts)
        return None
    keras = [d for d in known(facts.python.distributions) if d.name in ("keras", "keras-nightly")]
    if not any(re.match(r"[3-9]|\d\d", d.version) for d in keras):
        raise NotApplicable("Keras 3 is not installed")
    if facts.environment.known("TF_USE_LEGACY_KERAS") in ("1", "true", "True"):
        raise NotApplicable("TF_USE_LEGACY_KERAS chooses Keras 2")
    variable = facts.environment.known("KERAS_BACKEND")
    backend = variable or known(facts.python.keras_backend)
    if backend is None or backend == "tensorflow":
        return "Keras runs on TensorFlow"
    by_variable = bool(variable)
    yield Found(
        message=f"Keras runs on {backend}, not on TensorFlow.",
        proof=(
            Evidence(
                text=f"KERAS_BACKEND={backend}" if by_variable else f'"backend": "{backend}"',
                source="environment" if by_variable else "~/.keras/keras.json",
            ),
        ),
        fixes=(_ON_TENSORFLOW,),
    )


def _keras_in_text(facts: Facts) -> Iterator[Found]:
    """Where the text itself names another backend, TensorFlow lists its GPU, and nothing else fails."""
    said, listed = facts.text.said, facts.tensorflow.gpus()
    told, without = said("keras-on-another"), said("jax-lacks-cuda")
    others = [e for e in facts.text.understood() if e.symptom and not e.is_weak and "jaxlib" not in e.text]
    if not told or others or isinstance(listed, Unread) or not listed:
        raise left_open("python3 -c 'import keras; print(keras.backend.backend())'")
    backend = told[0].values["backend"]
    yield Found(
        message=f"Keras runs on {backend}, not on TensorFlow"
        + (", and this JAX has no CUDA: the models run on the CPU." if without else "."),
        proof=lines((*told, *without)),
        fixes=(_ON_TENSORFLOW,),
        explains=("op-fails", "runs-slowly", READS_LIKE_A_FAULT),
    )
