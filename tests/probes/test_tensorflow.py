"""TensorFlow's files, its own loader and its import: the real wheel, without a GPU."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from gpudoctor.facts import LibraryPick, Python, TensorFlow, Unread
from gpudoctor.probes import python, tensorflow
from gpudoctor.probes.ask import Answers, Patient
from tests.building import Workshop, put

WHEELS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "cuda_runtime": ("libcudart.so.12", (), ("$ORIGIN",)),
    "cublas": ("libcublas.so.12", ("libcublasLt.so.12",), ("$ORIGIN",)),
    "cublas ": ("libcublasLt.so.12", (), ("$ORIGIN",)),
    "cufft": ("libcufft.so.11", (), ("$ORIGIN",)),
    "cusolver": (
        "libcusolver.so.11",
        ("libnvJitLink.so.12", "libcusparse.so.12", "libcublas.so.12"),
        ("$ORIGIN", "$ORIGIN/../../cublas/lib", "$ORIGIN/../../nvjitlink/lib", "$ORIGIN/../../cusparse/lib"),
    ),
    "cusparse": ("libcusparse.so.12", ("libnvJitLink.so.12",), ("$ORIGIN", "$ORIGIN/../../nvjitlink/lib")),
    "cudnn": ("libcudnn.so.9", (), ("$ORIGIN",)),
    "nvjitlink": ("libnvJitLink.so.12", (), ("$ORIGIN",)),
    "nccl": ("libnccl.so.2", (), ("$ORIGIN",)),
}
"""As the wheels of CUDA 12.5 are laid out: component -> soname, DT_NEEDED, DT_RUNPATH."""


@pytest.fixture
def site(tensorflow_directory: Path, workshop: Workshop, tmp_path: Path) -> Path:
    return lay_out_site(tensorflow_directory, workshop, tmp_path)


def lay_out_site(tensorflow_directory: Path, workshop: Workshop, place: Path) -> Path:
    """site-packages with TensorFlow's real loader object and stub CUDA libraries, as the extra installs them."""
    package = place / "site" / "tensorflow"
    (package / "python" / "platform").mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("libtensorflow_framework.so.2", "python/platform/build_info.py"):
        (package / name).symlink_to(tensorflow_directory / name)
    for component, (soname, needed, runpath) in WHEELS.items():
        put(workshop.stub(soname, needed, runpath), place / "site" / "nvidia" / component.strip() / "lib", soname)
    (place / "site" / "tensorflow-2.21.0.dist-info").mkdir()
    return place / "site"


def look(site: Path, limit_s: float = 30, **env: str) -> tuple[TensorFlow, Python]:
    """What the probes say of TensorFlow in `site`."""
    base = {**os.environ, "PYTHONPATH": str(site), **env}
    patient = Patient((sys.executable,), base)
    files = patient.ask([python.TASK, tensorflow.FILES], limit_s=limit_s)
    interpreter = python.read(files, "test")
    static = tensorflow.read_files(files, interpreter)
    asked = tensorflow.ask_loader(patient, base, limit_s)
    return tensorflow.read_loader(asked, static), interpreter


def picks(facts: TensorFlow) -> dict[str, LibraryPick]:
    assert isinstance(facts.libraries, tuple), facts.libraries
    return {p.soname: p for p in facts.libraries}


def missing(facts: TensorFlow) -> list[str]:
    return [s for s, p in picks(facts).items() if p.required and p.picked is None]


def test_the_defect_of_2_21(site: Path) -> None:
    got, interpreter = look(site)
    assert got.loader_ok is False
    assert missing(got) == ["libcusolver.so.11"]
    searched = [s.directory for s in picks(got)["libcusolver.so.11"].searched]
    assert str(site / "nvidia" / "cusparse" / "lib") in searched
    assert str(site / "nvidia" / "cusolver" / "lib") not in searched
    assert picks(got)["libcufft.so.11"].picked == str(site / "nvidia/cufft/lib/libcufft.so.11")
    assert isinstance(got.objects, tuple)
    assert [os.path.basename(o.path) for o in got.objects if o.calls_dlopen is True] == ["libtensorflow_framework.so.2"]
    assert (got.distribution, got.version) == ("tensorflow", "2.21.0")
    assert got.build.cuda is True
    both = tensorflow.simulate(got, interpreter, None, always=True)
    agree(both)


def agree(facts: TensorFlow) -> None:
    """The direct loader and the simulated one name the same files."""
    assert isinstance(facts.simulated, tuple), facts.simulated
    direct = {s: p.picked for s, p in picks(facts).items() if p.required}
    assert {p.soname: p.picked for p in facts.simulated} == direct


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("variable", []),
        ("link", []),
        ("no cufft", ["libcufft.so.11", "libcusolver.so.11"]),
        ("no nvjitlink", ["libcusolver.so.11", "libcusparse.so.12"]),
        ("truncated cufft", ["libcufft.so.11", "libcusolver.so.11"]),
        ("text for cufft", ["libcufft.so.11", "libcusolver.so.11"]),
        ("32-bit cufft first", ["libcusolver.so.11"]),
        ("all elsewhere", [s for s, _, _ in WHEELS.values() if not s.startswith(("libnv", "libnccl"))]),
    ],
)
def test_direct_and_simulated_agree(site: Path, tmp_path: Path, fault: str, expected: list[str]) -> None:
    nvidia = site / "nvidia"
    variable: str | None = None
    if fault == "variable":
        variable = str(nvidia / "cusolver" / "lib")
    elif fault == "link":
        (nvidia / "cusparse/lib/libcusolver.so.11").symlink_to("../../cusolver/lib/libcusolver.so.11")
    elif fault.startswith("no "):
        shutil.rmtree(nvidia / fault.removeprefix("no "))
    elif fault == "truncated cufft":
        os.truncate(nvidia / "cufft/lib/libcufft.so.11", 30)
    elif fault == "text for cufft":
        (nvidia / "cufft/lib/libcufft.so.11").write_text("INPUT(libcufft.so.11.2)\n" * 9)
    elif fault == "32-bit cufft first":
        data = bytearray((nvidia / "cufft/lib/libcufft.so.11").read_bytes())
        data[4] = 1
        (tmp_path / "old").mkdir()
        (tmp_path / "old" / "libcufft.so.11").write_bytes(data)
        variable = str(tmp_path / "old")
    elif fault == "all elsewhere":
        nvidia.rename(tmp_path / "elsewhere")
    got, interpreter = look(site, LD_LIBRARY_PATH=variable or "")
    assert missing(got) == expected
    assert got.loader_ok is (not expected)
    agree(tensorflow.simulate(got, interpreter, variable, always=True))


def test_a_missing_dependency_is_named(site: Path) -> None:
    shutil.rmtree(site / "nvidia" / "nvjitlink")
    got, _ = look(site)
    assert picks(got)["libcusparse.so.12"].stopped_by == "libnvJitLink.so.12"
    assert str(site / "nvidia/nvjitlink/lib") not in [s.directory for s in picks(got)["libcusparse.so.12"].searched]


def test_a_refused_file_is_named(site: Path) -> None:
    os.truncate(site / "nvidia/cufft/lib/libcufft.so.11", 30)
    assert picks(look(site)[0])["libcufft.so.11"].rejected == str(site / "nvidia/cufft/lib/libcufft.so.11")


def test_a_dependency_that_is_refused_is_named_and_not_what_needs_it(site: Path, tmp_path: Path) -> None:
    bad = site / "nvidia/cusparse/lib/libcusparse.so.12"
    os.truncate(bad, 30)
    got, interpreter = look(site, LD_LIBRARY_PATH=str(site / "nvidia/cusolver/lib"))
    assert {s: p.rejected for s, p in picks(got).items() if p.picked is None} == {
        "libcusparse.so.12": str(bad),
        "libcusolver.so.11": str(bad),
    }
    assert all(p.reason for p in picks(got).values() if p.picked is None)
    simulated = tensorflow.simulate(got, interpreter, str(site / "nvidia/cusolver/lib"), always=True).simulated
    assert isinstance(simulated, tuple)
    assert {p.soname: p.rejected for p in simulated if p.picked is None} == {
        "libcusparse.so.12": str(bad),
        "libcusolver.so.11": str(bad),
    }


def test_where_the_loader_dies_the_simulation_answers(site: Path, workshop: Workshop) -> None:
    library = site / "nvidia/cufft/lib/libcufft.so.11"
    os.truncate(library, 9000)  # the header is whole, the segments are not: mapping it is a bus error
    got, interpreter = look(site)
    assert isinstance(got.libraries, Unread)
    assert "SIGBUS" in got.libraries.why or "SIGSEGV" in got.libraries.why
    simulated = tensorflow.simulate(got, interpreter, None, always=False)
    assert simulated.loader_source == "simulated"
    assert picks(simulated)["libcufft.so.11"].rejected == str(library)
    assert isinstance(simulated.loader_ok, Unread)  # that it dies is what is known of it


def test_a_loader_that_is_not_there(tmp_path: Path) -> None:
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "__init__.py").touch()
    got, interpreter = look(tmp_path)
    assert got.directory == str(package)
    assert "does not exist" in str(got.loader_ok)
    assert isinstance(got.version, Unread)
    assert isinstance(got.build.cuda, Unread)
    assert tensorflow.simulate(got, interpreter, None, always=True) == got


# ------------------------------------------------------------------------------- the import


def imported(answers: Answers) -> TensorFlow:
    return tensorflow.read_import(answers, TensorFlow(directory="/x", version=Unread(why="?")))


def run_import(kernels_: tuple[str, ...] = (), limit_s: float = 120, **env: str) -> Answers:
    patient = Patient((sys.executable,), {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env})
    return patient.ask([tensorflow.import_task(kernels_, limit_s)], limit_s=limit_s)


FAKE = """
import types
__version__ = "9.9.9"
class Device:
    def __init__(self, name, kind): self.name, self.device_type = name, kind
class config:
    experimental = types.SimpleNamespace(get_device_details=lambda device: {})
    @staticmethod
    def list_physical_devices(kind=None): %s
"""


def fake(place: Path, body: str) -> str:
    (place / "tensorflow").mkdir()
    (place / "tensorflow" / "__init__.py").write_text(body)
    return str(place)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ImportError('numpy.core.multiarray failed to import')", "numpy.core.multiarray"),
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("import os; os._exit(0)", "without an answer"),
        ("import time; time.sleep(60)", "did not end within"),
        ("raise SystemExit(3)", "SystemExit"),
        ("x = 1", "no attribute 'config'"),
    ],
)
def test_an_import_that_fails(tmp_path: Path, body: str, words: str) -> None:
    got = imported(run_import(limit_s=4, PYTHONPATH=fake(tmp_path, body)))
    assert isinstance(got.import_error, str)
    assert words in got.import_error
    assert isinstance(got.devices, Unread)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os; os.kill(os.getpid(), 6)", "signal 6"),
        ("import time; time.sleep(60)", "did not end within"),
        ("raise RuntimeError('Cannot dlopen')", "Cannot dlopen"),
    ],
)
def test_a_device_list_that_fails(tmp_path: Path, body: str, words: str) -> None:
    got = imported(run_import(limit_s=6, PYTHONPATH=fake(tmp_path, FAKE % body)))
    assert got.import_error is None
    assert got.version == "9.9.9"
    assert words in str(got.devices)


def test_fifty_megabytes_of_log(tmp_path: Path) -> None:
    body = "import sys\nfor _ in range(50000): sys.stderr.write('x' * 1023 + '\\n')\n" + FAKE % "return []"
    got = imported(run_import(limit_s=60, PYTHONPATH=fake(tmp_path, body)))
    assert got.devices == ()
    assert isinstance(got.log, tuple)
    assert len(got.log) <= 200


TENSORFLOWS_OWN = """
raise ImportError('''Traceback (most recent call last):
  File "pywrap_tensorflow.py", line 73, in <module>
    from tensorflow.python._pywrap_tensorflow_internal import *
ImportError: libfoo.so.1: cannot open shared object file: No such file or directory


Failed to load the native TensorFlow runtime.
See https://www.tensorflow.org/install/errors for some common causes and solutions.
If you need help, create an issue at https://github.com/tensorflow/tensorflow/issues.''')
"""


def test_the_telling_line_of_an_import_error(tmp_path: Path) -> None:
    got = imported(run_import(limit_s=10, PYTHONPATH=fake(tmp_path, TENSORFLOWS_OWN)))
    assert got.import_error == "ImportError: libfoo.so.1: cannot open shared object file: No such file or directory"


def test_an_account_that_is_lost_is_not_absence(site: Path) -> None:
    got, interpreter = look(site, 30, LD_DEBUG_OUTPUT=str(site / "elsewhere"))
    lost = [p for p in picks(got).values() if isinstance(p.picked, Unread)]
    assert [p.soname for p in lost] == ["libcusolver.so"]
    whole = tensorflow.simulate(got, interpreter, None, always=False)
    assert whole.loader_source == "simulated"
    assert missing(whole) == ["libcusolver.so.11"]


def test_a_package_behind_a_link(site: Path, tmp_path: Path) -> None:
    """'..' of $ORIGIN leads to the place of the directory itself, not to that of the link."""
    (tmp_path / "elsewhere").mkdir()
    (site / "tensorflow").rename(tmp_path / "elsewhere" / "tensorflow")
    (site / "tensorflow").symlink_to(tmp_path / "elsewhere" / "tensorflow")
    got, interpreter = look(site)
    assert len(missing(got)) == 7
    agree(tensorflow.simulate(got, interpreter, None, always=True))


@pytest.mark.parametrize("offset", [32, 40, 54, 56, 58])
def test_a_damaged_loader_object(site: Path, offset: int) -> None:
    library = site / "tensorflow" / "libtensorflow_framework.so.2"
    with open(library, "rb") as real:
        data = bytearray(real.read(1 << 16))
    data[offset : offset + 8] = b"\xff" * 8
    library.unlink()
    library.write_bytes(data)
    got, interpreter = look(site)
    assert isinstance(got.loader_ok, Unread)
    simulated = tensorflow.simulate(got, interpreter, None, always=True)
    assert isinstance(simulated.simulated, Unread)


def test_what_the_loader_tried_is_looked_at_where_it_lies(site: Path, tmp_path: Path) -> None:
    """Whoever reads the account may have no file, or another, under the names in it."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    (site / "nvidia/cufft/lib").rename(tmp_path / "deep" / "lib")
    put(tmp_path / "deep/lib/libcufft.so.11", tmp_path / "lib", "libcufft.so.11")  # where '..' seems to lead
    variable = f"{tmp_path}/link/../lib"
    patient = Patient((sys.executable,), {**os.environ, "PYTHONPATH": str(site), "LD_LIBRARY_PATH": variable})
    asked = tensorflow.ask_loader(patient, {}, 30)
    shutil.rmtree(tmp_path / "deep")
    shutil.rmtree(site)
    got = picks(tensorflow.read_loader(asked, TensorFlow()))
    assert got["libcufft.so.11"].picked == str(tmp_path / "deep" / "lib" / "libcufft.so.11")
    assert got["libcusolver.so.11"].searched[0].directory == str(tmp_path / "deep" / "lib")
    assert got["libcusolver.so.11"].picked is None
    assert got["libcublas.so.12"].picked == str(site / "nvidia/cublas/lib/libcublas.so.12")
