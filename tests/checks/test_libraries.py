from __future__ import annotations

import subprocess

from gpudoctor.facts import Facts, LibraryFile, LibraryPick, LoaderObject, SearchStep
from tests.factory import (
    FRAMEWORK,
    RUNPATH_OF,
    SITE,
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
)

ALL_BUT_CUSOLVER = tuple(dict.fromkeys(wheel(c) for c in WHEELS.values() if c != "cusolver"))


def gap() -> Facts:
    """TensorFlow 2.21.0: installed beside it, not named by the RUNPATH of the object that opens it."""
    facts = cannot_open(healthy(), "libcusolver.so.11", ALL_BUT_CUSOLVER)
    holder = LoaderObject(path=FRAMEWORK, runpath=ALL_BUT_CUSOLVER, calls_dlopen=True)
    return with_(facts, tensorflow__objects=(holder,), tensorflow__version="2.21.0")


def files_without(*sonames: str) -> tuple[LibraryFile, ...]:
    return tuple(library_file(s) for s in WHEELS if s not in sonames)


def test_tf_wheel_runpath_gap() -> None:
    facts = gap()
    assert roots(facts) == ["tf-wheel-runpath-gap"]
    finding = found(facts)["tf-wheel-runpath-gap"]
    proof = " ".join(e.text for e in finding.proof)
    assert f"libcusolver.so.11 lies in {wheel('cusolver')} (nvidia-cusolver-cu12 1)" in proof
    assert f"{RUNPATH_OF}: {SITE}/nvidia/{{cuda_runtime,cublas,cufft,cusparse,cudnn}}/lib" in proof
    env, link = finding.fixes
    assert env.steps == (f'export LD_LIBRARY_PATH="{wheel("cusolver")}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"',)
    assert link.steps == (f"ln -s ../../cusolver/lib/libcusolver.so.11 {wheel('cuda_runtime')}/libcusolver.so.11",)


def test_a_library_that_is_found_is_no_gap() -> None:
    assert outcome(lists_no_gpu(healthy()), "tf-wheel-runpath-gap") == "passed"


def test_a_tensorflow_that_lists_gpus_needs_nothing() -> None:
    assert outcome(healthy(), "tf-wheel-runpath-gap") == "skipped"


def test_pip_nvidia_libs_not_found_where_no_wheel_directory_is_named() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", ())
    facts = with_(facts, tensorflow__objects=(LoaderObject(path=FRAMEWORK, runpath=(), calls_dlopen=True),))
    assert roots(facts) == ["pip-nvidia-libs-not-found"]
    assert wheel("cusolver") in found(facts)["pip-nvidia-libs-not-found"].fixes[0].steps[0]


def test_pip_nvidia_libs_not_found_in_another_site_packages() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", ALL_BUT_CUSOLVER)
    elsewhere = LibraryFile(
        name="libcusolver.so.11", path="/home/u/.local/nvidia/cusolver/lib/libcusolver.so.11", kind="wheel"
    )
    facts = with_(facts, libraries__files=(*files_without("libcusolver.so.11"), elsewhere))
    assert roots(facts) == ["pip-nvidia-libs-not-found"]


def test_pip_nvidia_libs_not_found_for_a_dependency() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", (wheel("cusolver"),), stopped_by="libnvJitLink.so.12")
    lost = LibraryFile(name="libnvJitLink.so.12", path=f"{SITE}/nvidia/nvjitlink/lib/libnvJitLink.so.12", kind="wheel")
    facts = with_(facts, libraries__files=(*files_without(), lost))
    assert roots(facts) == ["pip-nvidia-libs-not-found"]
    assert "libnvJitLink.so.12" in found(facts)["pip-nvidia-libs-not-found"].message


def test_ld_library_path_not_set() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", ALL_BUT_CUSOLVER)
    toolkit = LibraryFile(
        name="libcusolver.so.11", path="/usr/local/cuda/lib64/libcusolver.so.11", kind="system", owner=None
    )
    facts = with_(facts, libraries__files=(*files_without("libcusolver.so.11"), toolkit))
    assert roots(facts) == ["ld-library-path-not-set"]
    assert "/usr/local/cuda/lib64" in found(facts)["ld-library-path-not-set"].fixes[0].steps[0]


def test_cuda_libs_missing() -> None:
    facts = cannot_open(healthy(), "libcufft.so.11", ALL_BUT_CUSOLVER)
    facts = with_(facts, libraries__files=files_without("libcufft.so.11"))
    assert roots(facts) == ["cuda-libs-missing"]
    fix = found(facts)["cuda-libs-missing"].fixes[0]
    assert fix.steps == ("/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]==2.20.0'",)


def test_cuda_libs_missing_names_the_wheels_where_there_is_no_extra() -> None:
    facts = cannot_open(healthy(), "libcufft.so.11", ())
    facts = with_(
        facts,
        libraries__files=files_without("libcufft.so.11"),
        tensorflow__version="2.13.1",
        tensorflow__build__cuda_version="11.8",
    )
    assert found(facts)["cuda-libs-missing"].fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip install nvidia-cufft-cu11",
    )


def test_a_missing_dependency_is_named_itself() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", (wheel("cusolver"),), stopped_by="libnvJitLink.so.12")
    assert roots(facts) == ["cuda-libs-missing"]
    assert "libnvJitLink.so.12 is not installed" in found(facts)["cuda-libs-missing"].message


def test_a_cpu_build_misses_no_libraries() -> None:
    facts = with_(cannot_open(healthy(), "libcufft.so.11", ()), tensorflow__build__cuda=False, libraries__files=())
    assert outcome(facts, "cuda-libs-missing") == "skipped"


def test_cuda_lib_unusable() -> None:
    bad = f"{wheel('cufft')}/libcufft.so.11"
    facts = cannot_open(healthy(), "libcufft.so.11", (wheel("cufft"),), rejected=bad)
    assert roots(facts) == ["cuda-lib-unusable"]
    fix = found(facts)["cuda-lib-unusable"].fixes[0]
    assert fix.steps == ("/opt/venv/bin/python3 -m pip install --force-reinstall --no-deps nvidia-cufft-cu12==1",)


def test_a_library_that_is_only_asked_for_later_is_no_fault() -> None:
    later = LibraryPick(
        soname="libnccl.so.2", picked=None, required=False, searched=(SearchStep(directory="/", origin="x"),)
    )
    facts = healthy()
    picks = facts.tensorflow.libraries
    assert isinstance(picks, tuple)
    facts = lists_no_gpu(with_(facts, tensorflow__libraries=(*picks, later)))
    assert roots(facts) == []


def test_two_faults_are_both_roots() -> None:
    facts = cannot_open(gap(), "libcufft.so.11", ALL_BUT_CUSOLVER)
    facts = with_(facts, libraries__files=files_without("libcufft.so.11"))
    assert sorted(roots(facts)) == ["cuda-libs-missing", "tf-wheel-runpath-gap"]


def test_lines_to_paste_survive_odd_names() -> None:
    odd = "/home/it's me/$HOME lib"
    facts = cannot_open(healthy(), "libcusolver.so.11", ALL_BUT_CUSOLVER)
    toolkit = LibraryFile(name="libcusolver.so.11", path=f"{odd}/libcusolver.so.11", kind="system")
    facts = with_(facts, libraries__files=(*files_without("libcusolver.so.11"), toolkit))
    (step,) = found(facts)["ld-library-path-not-set"].fixes[0].steps
    for before, after in (("", odd), ("/usr/x y", f"{odd}:/usr/x y")):
        shell = subprocess.run(
            ["sh", "-c", f'{step}; printf %s "$LD_LIBRARY_PATH"'],
            env={"LD_LIBRARY_PATH": before} if before else {},
            capture_output=True,
            text=True,
            check=True,
        )
        assert shell.stdout == after
