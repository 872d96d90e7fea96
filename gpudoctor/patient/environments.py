"""Other interpreters around this one, by their files only: Jupyter's kernels, environments that have TensorFlow; and
what else lies in the user's home."""

import glob
import json
import os
import re
import sys
from typing import Any, Dict, List, Optional, Tuple

from .core import answer, list_directory, read_text

_MOST_KERNELS = 40
_MOST_PREFIXES = 200
_TF_DISTRIBUTION = re.compile(
    r"^(tensorflow(?:_cpu|_gpu|_rocm|_intel)?|tf_nightly(?:_cpu)?)-(\d[^-]*)\.(dist|egg)-info$"
)


def _tensorflow_in(prefix: str) -> Optional[Tuple[str, str, str]]:
    """(distribution, version, 'python3.12') of the TensorFlow below an interpreter's prefix; None: there is none."""
    patterns = [os.path.join(glob.escape(prefix), "lib/python3*/site-packages")]
    if prefix in ("/usr", "/usr/local"):
        patterns.append(prefix + "/lib/python3*/dist-packages")
    if prefix == "/usr":  # what its pip installs for one user
        patterns.append(glob.escape(os.path.expanduser("~")) + "/.local/lib/python3*/site-packages")
    for site in [s for pattern in patterns for s in sorted(glob.glob(pattern))]:
        if not glob.glob(os.path.join(glob.escape(site), "tensorflow", "__init__.py*")):
            continue
        names = list_directory(site)
        for name in names if isinstance(names, list) else []:
            match = _TF_DISTRIBUTION.match(name)
            if match:
                return match.group(1).replace("_", "-"), match.group(2), os.path.basename(os.path.dirname(site))
    return None


def _python_in(prefix: str, name: str) -> Optional[str]:
    """The interpreter `name` below a prefix."""
    return next(
        (p for p in (os.path.join(prefix, "bin", n) for n in (name, "python3", "python")) if os.path.exists(p)), None
    )


def _prefix(executable: str) -> str:
    """The environment that an interpreter belongs to: its links are not followed, by its own name it is known."""
    return os.path.dirname(os.path.dirname(os.path.abspath(executable)))


# ----------------------------------------------------------------------------- Jupyter's kernels


def home() -> None:
    """What lies in the user's home, which may be a file system that does not answer: asked for last."""
    answer("keras_json", read_text(os.path.join(os.path.expanduser("~"), ".keras", "keras.json"), 1 << 16))
    answer("jit_cache", _jit_cache())


def _jit_cache() -> Dict[str, Any]:
    """Where CUDA keeps the kernels that it compiled, and whether this user may write there."""
    path = os.environ.get("CUDA_CACHE_PATH")
    if not path:
        home = os.environ.get("HOME")
        if not home:
            return {"path": None}
        path = os.path.join(home, ".nv", "ComputeCache")
    place = os.path.abspath(path)
    while not os.path.isdir(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    return {"path": path, "writable": os.access(place, os.W_OK | os.X_OK)}


def kernels() -> None:
    """Jupyter's kernels that run Python: what they are called, what they start, if that has TensorFlow."""
    found: List[Dict[str, Any]] = []
    seen = set()
    for directory, mine in _kernel_directories():
        names = list_directory(directory)
        for name in names if isinstance(names, list) else []:
            path = os.path.join(directory, name, "kernel.json")
            if name.lower() in seen or len(found) >= _MOST_KERNELS:
                continue  # a kernel of that name in an earlier directory is taken
            spec = _kernel(path)
            if spec is not None:
                seen.add(name.lower())
                spec.update({"name": name, "path": path, "mine": mine})
                found.append(spec)
    answer("jupyter_kernels", found)


def _kernel_directories() -> List[Tuple[str, bool]]:
    """Where Jupyter looks for kernels, in its order, and whether that is the user's own choice."""
    home = os.path.expanduser("~")
    data = os.environ.get("JUPYTER_DATA_DIR") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "jupyter"
    )
    named = [p for p in os.environ.get("JUPYTER_PATH", "").split(os.pathsep) if p]
    places = [(p, True) for p in [*named, data]]
    places += [(os.path.join(p, "share", "jupyter"), False) for p in (sys.prefix, "/usr/local", "/usr")]
    found: List[Tuple[str, bool]] = []
    for place, mine in places:
        directory = os.path.join(place, "kernels")
        if directory not in [d for d, _ in found]:
            found.append((directory, mine))
    return found


def _kernel(path: str) -> Optional[Dict[str, Any]]:
    """A kernel.json that starts Python; None where it is not there, is of another form or starts something else."""
    try:
        read = json.loads(read_text(path, 1 << 16).get("text", ""))
        first = str(read["argv"][0])
        shown = str(read.get("display_name", ""))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None
    if not re.match(r"(python|pypy)[\d.]*$", os.path.basename(first)):
        return None
    told: Dict[str, Any] = {
        "display_name": shown,
        "executable": first,
        "exists": None,
        "examined": None,
        "tensorflow": None,
    }
    if not os.path.isabs(first):
        return told  # the server's own interpreter is started for it, whichever that is
    told["exists"] = exists = os.path.isfile(first)
    got = _tensorflow_in(_prefix(first)) if exists else None
    told["examined"] = exists and os.path.realpath(_prefix(first)) == os.path.realpath(sys.prefix)
    told["tensorflow"] = got[1] if got else None
    return told


# ----------------------------------------------------------------------------- other interpreters


def others() -> None:
    """Other interpreters of this machine that have TensorFlow, an answer each as soon as it is seen."""
    answer("others", None)
    seen = {os.path.realpath(sys.prefix)}
    for prefix in _prefixes()[:_MOST_PREFIXES]:
        real = os.path.realpath(prefix)
        if real in seen:
            continue
        seen.add(real)
        got = _tensorflow_in(prefix)
        python = _python_in(prefix, got[2]) if got else None
        if got and python:
            answer("other", {"executable": python, "distribution": got[0], "version": got[1]})


def _prefixes() -> List[str]:
    """Prefixes of interpreters: what variables name, then usual places, then PATH."""
    home = os.path.expanduser("~")
    found = [os.environ[v] for v in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(v)]
    found += [".venv", "venv", "env"]
    workon = os.environ.get("WORKON_HOME") or os.path.join(home, ".virtualenvs")
    conda = ["miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda"]
    patterns = [os.path.join(glob.escape(workon), "*"), os.path.join(glob.escape(home), ".pyenv/versions/*")]
    for base in [os.path.join(home, c) for c in conda] + ["/opt/" + c for c in conda] + ["/opt/conda"]:
        patterns += [glob.escape(base), os.path.join(glob.escape(base), "envs/*")]
    if os.environ.get("MAMBA_ROOT_PREFIX"):
        patterns.append(os.path.join(glob.escape(os.environ["MAMBA_ROOT_PREFIX"]), "envs/*"))
    patterns += [
        os.path.join(glob.escape(home), ".venv"), os.path.join(glob.escape(home), "venv"),
        os.path.join(glob.escape(home), "*", ".venv"), os.path.join(glob.escape(home), "*", "venv"),
        "/opt/*", "/opt/*/venv", "/opt/*/.venv", "/venv",
    ]  # fmt: skip
    for pattern in patterns:
        found += sorted(glob.glob(pattern))
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if directory and glob.glob(os.path.join(glob.escape(directory), "python3*")):
            found.append(os.path.dirname(os.path.abspath(directory)))
    return [os.path.abspath(p) for p in [*found, "/usr/local", "/usr"]]
