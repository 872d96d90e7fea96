from __future__ import annotations

import msgspec

from gpudoctor.facts import (
    NOT_RECORDED,
    DamagedFile,
    Facts,
    LibraryFile,
    LibraryPick,
    SearchStep,
    Toolkit,
    Unread,
)
from tests.factory import (
    WHEELS,
    cannot_open,
    found,
    healthy,
    library_file,
    lists_no_gpu,
    outcome,
    roots,
    wheel,
    with_,
    with_variable,
)

SEARCHED = tuple(dict.fromkeys(wheel(c) for c in WHEELS.values()))


def of_toolkit(name: str, version: str = "13.0") -> LibraryFile:
    path = f"/usr/local/cuda-{version}/lib64/{name}"
    return LibraryFile(name=name, path=path, kind="toolkit", real=path, owner=None, package=None, version=None)


def without(facts: Facts, *sonames: str) -> Facts:
    """None of `sonames` is installed, and the loader does not open them."""
    for soname in sonames:
        facts = cannot_open(facts, soname, SEARCHED)
    return with_(facts, libraries__files=tuple(library_file(s) for s in WHEELS if s not in sonames))


def picks(facts: Facts) -> tuple[LibraryPick, ...]:
    assert isinstance(facts.tensorflow.libraries, tuple)
    return facts.tensorflow.libraries


def files(facts: Facts) -> tuple[LibraryFile, ...]:
    assert isinstance(facts.libraries.files, tuple)
    return facts.libraries.files


# ------------------------------------------------------------------------------- cuda-version-mismatch


def test_cuda_version_mismatch() -> None:
    facts = without(healthy(), *WHEELS)
    others = tuple(of_toolkit(n) for n in ("libcudart.so.13", "libcublas.so.13", "libcusparse.so.12.6.3"))
    facts = with_(facts, libraries__files=others)
    assert roots(facts) == ["cuda-version-mismatch"]
    finding = found(facts)["cuda-version-mismatch"]
    assert (
        finding.message
        == "TensorFlow was built for CUDA 12.5.1 and asks for libcudart.so.12; installed is CUDA 13 only."
    )
    assert "libcudart.so.13 lies in /usr/local/cuda-13.0/lib64" in finding.proof[0].text
    assert finding.fixes[0].steps == ("/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]==2.20.0'",)


def test_cuda_and_cudnn_of_other_versions_are_one_fault() -> None:
    facts = without(healthy(), *WHEELS)
    facts = with_(
        facts, libraries__files=(of_toolkit("libcudart.so.11.0", "11.8"), of_toolkit("libcudnn.so.8", "11.8"))
    )
    assert roots(facts) == ["cuda-version-mismatch"]


def test_one_missing_library_is_no_other_version() -> None:
    """The rest of CUDA 12 is there: what is missing is one wheel."""
    facts = without(healthy(), "libcudart.so.12")
    facts = with_(facts, libraries__files=(*files(facts), of_toolkit("libcudart.so.13")))
    assert roots(facts) == ["cuda-libs-missing"]


def test_no_cuda_at_all_is_no_other_version() -> None:
    assert roots(without(healthy(), *WHEELS)) == ["cuda-toolkit-missing"]


def test_a_library_for_another_processor_is_no_other_version() -> None:
    facts = without(healthy(), *WHEELS)
    foreign = msgspec.structs.replace(of_toolkit("libcudart.so.13"), other_processor="64 bits, ELF machine 183")
    assert roots(with_(facts, libraries__files=(foreign,))) == ["cuda-toolkit-missing"]


def test_versions_that_were_not_read_are_unknown() -> None:
    facts = with_(cannot_open(healthy(), "libcudart.so.12", SEARCHED), libraries__files=NOT_RECORDED)
    for cause in ("cuda-version-mismatch", "cudnn-wrong-major", "cuda-libs-missing"):
        assert outcome(facts, cause) == "unknown"
    for cause in ("cuda-version-mismatch", "cudnn-wrong-major", "wheel-damaged", "ld-library-path-wrong-toolkit"):
        assert outcome(healthy(), cause) == "skipped"
        assert outcome(lists_no_gpu(healthy()), cause) == "passed"


# ------------------------------------------------------------------------------- cudnn-wrong-major


def test_cudnn_wrong_major() -> None:
    facts = without(healthy(), "libcudnn.so.9")
    old = LibraryFile(
        name="libcudnn.so.8",
        path="/usr/lib/x86_64-linux-gnu/libcudnn.so.8",
        kind="system",
        version="8.9.7",
        package="dpkg libcudnn8 8.9.7.29-1",
    )
    facts = with_(facts, libraries__files=(*files(facts), old))
    assert roots(facts) == ["cudnn-wrong-major"]
    finding = found(facts)["cudnn-wrong-major"]
    assert finding.message == "TensorFlow asks for libcudnn.so.9; installed is cuDNN 8 only."
    assert "(dpkg libcudnn8 8.9.7.29-1), version 8.9.7" in finding.proof[0].text


def test_no_cudnn_at_all() -> None:
    assert roots(without(healthy(), "libcudnn.so.9")) == ["cudnn-missing"]


def test_where_more_is_missing_cudnn_is_one_of_many() -> None:
    facts = without(healthy(), "libcudnn.so.9", "libcufft.so.11")
    facts = with_(facts, libraries__files=(*files(facts), of_toolkit("libcudnn.so.8")))
    assert roots(facts) == ["cuda-libs-missing"]


# ------------------------------------------------------------------------------- wheel-damaged


def damaged(name: str, size: int | None) -> DamagedFile:
    owner = "nvidia-cudnn-cu12 9.10.2.21"
    return DamagedFile(path=f"{wheel('cudnn')}/{name}", owner=owner, size_bytes=size, recorded_bytes=100)


def test_a_wheel_without_its_file() -> None:
    facts = with_(without(healthy(), "libcudnn.so.9"), python__damaged=(damaged("libcudnn.so.9", None),))
    assert roots(facts) == ["wheel-damaged"]
    finding = found(facts)["wheel-damaged"]
    assert finding.message == "nvidia-cudnn-cu12 9.10.2.21 is installed, and libcudnn.so.9 is gone."
    assert finding.fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21",
    )


def test_a_wheel_whose_file_was_cut_short() -> None:
    bad = f"{wheel('cudnn')}/libcudnn.so.9"
    facts = cannot_open(healthy(), "libcudnn.so.9", SEARCHED, rejected=bad)
    facts = with_(facts, python__damaged=(damaged("libcudnn.so.9", 9),))
    assert roots(facts) == ["wheel-damaged"]
    assert "has 9 bytes; 100 were installed" in found(facts)["wheel-damaged"].proof[0].text


def test_a_file_of_another_size_that_is_not_reached_is_not_to_blame() -> None:
    """Stripped by whoever built the image: what is wrong is the path."""
    facts = cannot_open(healthy(), "libcudnn.so.9", ())
    facts = with_(facts, python__damaged=(damaged("libcudnn.so.9", 9),))
    assert "wheel-damaged" not in found(facts)


def test_damage_beside_another_missing_library_leaves_both() -> None:
    facts = without(healthy(), "libcudnn.so.9", "libcufft.so.11")
    facts = with_(facts, python__damaged=(damaged("libcudnn.so.9", None),))
    assert sorted(roots(facts)) == ["cuda-libs-missing", "wheel-damaged"]
    assert "libcudnn" not in found(facts)["cuda-libs-missing"].message


def test_damage_that_was_not_looked_for() -> None:
    facts = with_(without(healthy(), "libcudnn.so.9"), python__damaged=NOT_RECORDED)
    assert outcome(facts, "wheel-damaged") == "unknown"
    assert roots(facts) == ["cudnn-missing"]


# ------------------------------------------------------------------------------- ld-library-path-wrong-toolkit

OLD = "/usr/local/cuda-11.8/lib64"


def behind_the_variable(**failure: str) -> Facts:
    facts = cannot_open(healthy(), "libcusolver.so.11", (), **failure)
    changed = tuple(
        msgspec.structs.replace(p, searched=(SearchStep(directory=OLD, origin="LD_LIBRARY_PATH"),))
        if p.picked is None
        else p
        for p in picks(facts)
    )
    toolkit = Toolkit(path="/usr/local/cuda-11.8", real="/usr/local/cuda-11.8", named_by=None, version="11.8.0")
    facts = with_(facts, tensorflow__libraries=changed, libraries__toolkits=(toolkit,))
    facts = with_(facts, libraries__files=(*files(facts), of_toolkit("libcusolver.so.11", "11.8")))
    return with_variable(facts, "LD_LIBRARY_PATH", f"/mine:{OLD}/")


def test_ld_library_path_wrong_toolkit() -> None:
    facts = behind_the_variable(stopped_by="libcublas.so.11")
    assert roots(facts) == ["ld-library-path-wrong-toolkit"]
    finding = found(facts)["ld-library-path-wrong-toolkit"]
    assert "needs libcublas.so.11, which was not found" in finding.proof[0].text
    assert finding.fixes[0].steps == ("export LD_LIBRARY_PATH=/mine",)
    assert finding.fixes[0].env[0].value == "/mine"
    assert roots(behind_the_variable(rejected=f"{OLD}/libcusolver.so.11")) == ["ld-library-path-wrong-toolkit"]


def test_a_directory_of_the_variable_that_is_no_toolkit() -> None:
    facts = with_(behind_the_variable(rejected=f"{OLD}/libcusolver.so.11"), libraries__toolkits=())
    assert roots(facts) == ["cuda-lib-unusable"]


def test_a_variable_that_was_not_read() -> None:
    facts = behind_the_variable(rejected=f"{OLD}/libcusolver.so.11")
    unread = Unread(why="hidden")
    assert outcome(with_(facts, environment__variables=unread), "ld-library-path-wrong-toolkit") == "unknown"
    assert outcome(with_(facts, libraries__toolkits=unread), "ld-library-path-wrong-toolkit") == "unknown"


def test_another_fault_beside_it_stays_a_root() -> None:
    facts = behind_the_variable(stopped_by="libcublas.so.11")
    gone = tuple(LibraryPick(soname=p.soname, picked=None) if p.soname == "libcufft.so.11" else p for p in picks(facts))
    left = tuple(f for f in files(facts) if f.name != "libcufft.so.11")
    facts = with_(facts, tensorflow__libraries=gone, libraries__files=left)
    assert sorted(roots(facts)) == ["cuda-libs-missing", "ld-library-path-wrong-toolkit"]


# ------------------------------------------------------------------------------- cuda-lib-from-other-toolkit


def borrowed() -> Facts:
    """libcusparse.so.12 of CUDA 13, under a TensorFlow for CUDA 12."""
    file = of_toolkit("libcusparse.so.12")
    changed = tuple(
        LibraryPick(soname=p.soname, picked=file.path) if p.soname == file.name else p for p in picks(healthy())
    )
    toolkit = Toolkit(path="/usr/local/cuda-13.0", real="/usr/local/cuda-13.0", named_by=None, version="13.0.1")
    facts = with_(healthy(), tensorflow__libraries=changed, libraries__toolkits=(toolkit,))
    return with_(facts, libraries__files=(*files(facts), file))


def test_cuda_lib_from_other_toolkit() -> None:
    facts = lists_no_gpu(borrowed())
    finding = found(facts)["cuda-lib-from-other-toolkit"]
    assert finding.level == "info"
    assert finding.message == "libcusparse.so.12 comes from CUDA 13; TensorFlow was built for CUDA 12.5.1."
    assert outcome(lists_no_gpu(healthy()), "cuda-lib-from-other-toolkit") == "passed"
    assert outcome(with_(facts, libraries__toolkits=NOT_RECORDED), "cuda-lib-from-other-toolkit") == "unknown"


def test_a_library_of_another_cudas_wheel() -> None:
    for path, owner in (
        (f"{wheel('cu13')}/libcusparse.so.12", "nvidia-cusparse 12.6.3"),
        (f"{wheel('cusparse')}/libcusparse.so.12", "nvidia-cusparse-cu11 1"),
    ):
        file = LibraryFile(name="libcusparse.so.12", path=path, kind="wheel", real=path, owner=owner)
        changed = tuple(
            LibraryPick(soname=p.soname, picked=path) if p.soname == file.name else p for p in picks(healthy())
        )
        facts = with_(lists_no_gpu(healthy()), tensorflow__libraries=changed)
        facts = with_(facts, libraries__files=(file, *(f for f in files(facts) if f.name != file.name)))
        assert outcome(facts, "cuda-lib-from-other-toolkit") == "found"


def test_a_borrowed_library_under_which_everything_works_is_not_spoken_of() -> None:
    assert outcome(borrowed(), "cuda-lib-from-other-toolkit") == "skipped"


def test_a_borrowed_library_where_something_fails() -> None:
    one, two, *_ = borrowed().measurements
    failed = msgspec.structs.replace(two, value=Unread(why="INTERNAL: cusparse"))
    facts = with_(borrowed(), measurements=(one, failed))
    assert outcome(facts, "cuda-lib-from-other-toolkit") == "found"


def test_cudnn_of_the_system_has_no_cuda_version() -> None:
    path = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9"
    changed = tuple(LibraryPick(soname=p.soname, picked=path) if "cudnn" in p.soname else p for p in picks(healthy()))
    facts = with_(lists_no_gpu(healthy()), tensorflow__libraries=changed)
    system = LibraryFile(name="libcudnn.so.9", path=path, kind="system", real=path, owner=None, version="9.14.0")
    facts = with_(facts, libraries__files=(*files(facts), system))
    assert outcome(facts, "cuda-lib-from-other-toolkit") == "passed"
