"""Does the installed release fit this machine, by what compat/ knows?"""

from __future__ import annotations

import msgspec
import pytest

from gpudoctor import compat
from gpudoctor.facts import Distribution, Facts, Measurement, Unread
from gpudoctor.registry import find
from tests.factory import found, healthy, outcome, roots, with_


def with_capability(facts: Facts, has: tuple[int, int], name: str = "NVIDIA GPU") -> Facts:
    """The same machine with other GPUs."""
    cuda = tuple(
        msgspec.structs.replace(d, compute_capability=has, name=name)
        for d in facts.driver.libcuda.devices  # type: ignore[union-attr]
    )
    return with_(facts, driver__libcuda=msgspec.structs.replace(facts.driver.libcuda, devices=cuda))


def not_run(facts: Facts) -> Facts:
    """As at the quick level: no kernel has shown that it works."""
    return with_(facts, measurements=())


def with_driver(facts: Facts, release: str) -> Facts:
    return with_(facts, driver__kernel_version=release, driver__libcuda__version=release)


def with_release(facts: Facts, version: str) -> Facts:
    """The same machine with the package index's build of another release."""
    facts, build = with_(facts, tensorflow__version=version), compat.build(version)
    if build is None:
        return facts
    named = msgspec.structs.replace(
        facts.tensorflow.build, cuda_version=build.cuda, compute_capabilities=build.compute_capabilities
    )
    return with_(facts, tensorflow__build=named)


# ------------------------------------------------------------------------------- the driver and PTX


def old_driver() -> Facts:
    return with_driver(not_run(healthy()), "535.161.08")


def test_ptx_that_the_driver_cannot_compile() -> None:
    assert outcome(old_driver(), "driver-too-old-for-ptx") == "found"
    one = found(old_driver())["driver-too-old-for-ptx"]
    assert "PTX 8.5" in one.message
    assert "535.161.08" in one.message
    assert any("pip install" in step for fix in one.fixes for step in fix.steps)


def test_a_driver_that_can() -> None:
    assert outcome(not_run(healthy()), "driver-too-old-for-ptx") == "passed"
    assert outcome(with_driver(not_run(healthy()), "555.42.02"), "driver-too-old-for-ptx") == "passed"


def test_machine_code_needs_no_compiler() -> None:
    assert outcome(with_capability(old_driver(), (8, 0)), "driver-too-old-for-ptx") == "passed"


def test_kernels_that_ran_prove_the_contrary() -> None:
    assert outcome(with_driver(healthy(), "535.161.08"), "driver-too-old-for-ptx") == "passed"


def test_a_release_that_nobody_knows_is_not_judged() -> None:
    for name in ("driver-too-old-for-ptx", "cudnn-dropped-gpu", "known-hazard", "glibc-too-old"):
        assert outcome(with_release(old_driver(), "9.1.0"), name) == "skipped"


def test_an_unknown_driver_or_gpu_is_not_condemned() -> None:
    assert outcome(with_driver(old_driver(), "547.12"), "driver-too-old-for-ptx") == "passed"
    assert outcome(with_capability(old_driver(), (17, 0)), "driver-too-old-for-ptx") == "passed"


def test_without_a_gpu_that_could_be_read_it_is_unknown() -> None:
    unread = Unread(why="not answered")
    facts = with_(old_driver(), driver__libcuda__devices=unread, gpu__devices=unread, pci__devices=unread)
    assert outcome(facts, "driver-too-old-for-ptx") == "unknown"


# ------------------------------------------------------------------------------- cuDNN


def with_cudnn(facts: Facts, version: str) -> Facts:
    files = tuple(
        msgspec.structs.replace(f, version=version) if f.name.startswith("libcudnn.so") else f
        for f in facts.libraries.files  # type: ignore[union-attr]
    )
    return with_(facts, libraries__files=files)


def volta() -> Facts:
    return with_capability(not_run(healthy()), (7, 0), "Tesla V100-SXM2-16GB")


def test_a_cudnn_that_dropped_the_gpu() -> None:
    facts = with_cudnn(volta(), "9.28.0")
    assert outcome(facts, "cudnn-dropped-gpu") == "found"
    (fix,) = found(facts)["cudnn-dropped-gpu"].fixes
    assert fix.steps[0].endswith("-m pip install 'nvidia-cudnn-cu12<9.11'")


@pytest.mark.parametrize("version", ["9.3.0", "9.10.2"])
def test_a_cudnn_that_still_knows_it(version: str) -> None:
    assert outcome(with_cudnn(volta(), version), "cudnn-dropped-gpu") == "passed"


def test_the_newest_cudnn_and_a_newer_gpu() -> None:
    assert outcome(with_cudnn(not_run(healthy()), "9.28.0"), "cudnn-dropped-gpu") == "passed"


# ------------------------------------------------------------------------------- NCCL


def with_nccl(facts: Facts, version: str) -> Facts:
    files = tuple(f for f in facts.libraries.files if not f.name.startswith("libnccl"))  # type: ignore[union-attr]
    return with_(facts, nccl__version=version, libraries__files=files)


def test_an_nccl_without_code_for_the_gpu() -> None:
    newest = compat.library_wheels("nccl")[-1]
    facts = with_nccl(with_capability(with_release(not_run(healthy()), "2.21.0"), (3, 5)), newest.version)
    assert outcome(facts, "nccl-too-old-for-gpu") == "found"
    assert outcome(with_capability(facts, (9, 0)), "nccl-too-old-for-gpu") == "passed"
    assert outcome(with_nccl(facts, "9.9.9"), "nccl-too-old-for-gpu") == "passed", "nobody has read it"
    assert outcome(with_(facts, nccl__version=Unread(why="not answered")), "nccl-too-old-for-gpu") == "unknown"
    assert outcome(with_release(facts, "2.20.0"), "nccl-too-old-for-gpu") == "skipped", "it is linked in"


# ------------------------------------------------------------------------------- Python, glibc, aarch64


def without_tensorflow(python: str) -> Facts:
    return with_(healthy(), tensorflow__directory=None, python__version=python, measurements=())


def test_a_python_that_tensorflow_is_not_published_for() -> None:
    facts = without_tensorflow("3.14.2")
    assert outcome(facts, "python-version-unsupported") == "found"
    assert roots(facts)[:1] == ["python-version-unsupported"]
    assert "Python 3.10 to 3.13" in found(facts)["python-version-unsupported"].message


def test_a_python_that_it_is_published_for() -> None:
    assert outcome(without_tensorflow("3.12.3"), "python-version-unsupported") == "passed"
    assert outcome(without_tensorflow("3.8.20"), "python-version-unsupported") == "passed"
    assert outcome(healthy(), "python-version-unsupported") == "skipped"


def test_an_old_c_library() -> None:
    facts = with_(
        healthy(), python__glibc="2.12", tensorflow__import_error="ImportError: version `GLIBC_2.17' not found"
    )
    assert outcome(facts, "glibc-too-old") == "found"
    assert outcome(with_(facts, tensorflow__import_error=None), "glibc-too-old") == "passed"
    assert outcome(healthy(), "glibc-too-old") == "passed"


def test_aarch64() -> None:
    facts = with_(
        healthy(),
        system__machine="aarch64",
        tensorflow__build=msgspec.structs.replace(healthy().tensorflow.build, cuda=False, cuda_version=None),
    )
    assert outcome(facts, "tf-aarch64-cpu-only") == "found"
    assert outcome(with_(facts, driver__libcuda__devices=(), pci__devices=()), "tf-aarch64-cpu-only") == "skipped"
    assert outcome(with_(healthy(), system__machine="aarch64"), "tf-aarch64-cpu-only") == "passed"
    assert outcome(healthy(), "tf-aarch64-cpu-only") == "skipped"


# ------------------------------------------------------------------------------- hazards


def with_package(facts: Facts, name: str, version: str) -> Facts:
    kept = tuple(d for d in facts.python.distributions if d.name != name)  # type: ignore[union-attr]
    return with_(facts, python__distributions=(*kept, Distribution(name=name, version=version, location="/opt/site")))


def blackwell(facts: Facts) -> Facts:
    return with_capability(with_release(facts, "2.21.0"), (12, 0), "NVIDIA GeForce RTX 5090")


def test_a_hazard_is_told_for_information() -> None:
    facts = blackwell(not_run(healthy()))
    assert find("known-hazard").level.word == "info"
    assert "XLA" in found(facts)["known-hazard"].message
    assert outcome(not_run(healthy()), "known-hazard") == "passed"


def test_no_hazard_is_told_where_the_kernels_work_or_no_gpu_is() -> None:
    assert outcome(blackwell(healthy()), "known-hazard") == "passed"
    nothing = with_(not_run(healthy()), driver__libcuda__devices=(), gpu__devices=(), pci__devices=())
    assert outcome(nothing, "known-hazard") == "skipped"


def test_a_skipped_kernel_proves_nothing() -> None:
    skipped = Measurement(
        kernel="all-reduce", backend="tensorflow", device="GPU:0", value=Unread(why="one GPU", chosen=True)
    )
    assert outcome(with_(old_driver(), measurements=(skipped,)), "driver-too-old-for-ptx") == "found"


# ------------------------------------------------------------------------------- known before TensorFlow is imported


def not_imported(facts: Facts) -> Facts:
    """As at the quick level."""
    unread = Unread(why="TensorFlow is not imported at the quick level", chosen=True)
    names = ("import_error", "events", "devices", "log", "loaded")
    return with_(not_run(facts), **{f"tensorflow__{name}": unread for name in names})


def test_numpy_2_under_a_release_made_for_numpy_1() -> None:
    facts = with_package(with_release(not_imported(healthy()), "2.10.1"), "numpy", "2.2.6")
    assert outcome(facts, "numpy-abi-break") == "found"
    assert "-m pip install 'numpy<2'" in found(facts)["numpy-abi-break"].fixes[0].steps[0]
    assert outcome(with_package(facts, "numpy", "1.26.4"), "numpy-abi-break") == "unknown"
    assert outcome(with_release(facts, "2.19.1"), "numpy-abi-break") == "unknown"
    imported = with_(facts, tensorflow__import_error=None, tensorflow__events=())
    assert outcome(imported, "numpy-abi-break") == "passed", "the import knows better"


def test_protobuf_4_under_an_old_release() -> None:
    facts = with_package(with_release(not_imported(healthy()), "2.8.0"), "protobuf", "4.25.1")
    assert outcome(facts, "protobuf-mismatch") == "found"
    assert outcome(with_package(facts, "protobuf", "3.20.3"), "protobuf-mismatch") == "unknown"


def test_a_gpu_that_the_wheel_has_no_code_for() -> None:
    facts = with_capability(with_release(not_imported(healthy()), "2.17.1"), (12, 0), "NVIDIA GeForce RTX 5090")
    assert outcome(facts, "gpu-too-new-for-build") == "found"
    one = found(facts)["gpu-too-new-for-build"]
    assert "no code that NVIDIA GeForce RTX 5090" in one.message
    assert any("tensorflow[and-cuda]==2.21.0" in step for fix in one.fixes for step in fix.steps) or not one.fixes
    assert outcome(with_release(facts, "2.21.0"), "gpu-too-new-for-build") == "unknown"


def test_a_cudnn_older_than_the_one_it_was_built_with() -> None:
    facts = with_cudnn(with_release(not_imported(healthy()), "2.21.0"), "9.1.0")
    assert outcome(facts, "cudnn-version-too-old") == "found"
    assert "'nvidia-cudnn-cu12>=9.3.0.75,<10'" in found(facts)["cudnn-version-too-old"].fixes[0].steps[0]
    assert outcome(with_cudnn(facts, "9.3.0"), "cudnn-version-too-old") == "unknown", "its own words are not there yet"
    assert outcome(with_cudnn(facts, "8.9.7"), "cudnn-version-too-old") == "unknown", "another major has its own cause"


def test_another_build_of_the_same_version_is_not_judged_by_the_index_wheel() -> None:
    own = msgspec.structs.replace(healthy().tensorflow.build, compute_capabilities=("sm_90", "compute_120"))
    facts = with_(old_driver(), tensorflow__build=own)
    for name in ("driver-too-old-for-ptx", "cudnn-dropped-gpu", "known-hazard", "glibc-too-old"):
        assert outcome(facts, name) == "skipped", name


def test_a_forward_compatibility_driver_compiles_what_its_release_can() -> None:
    libcuda = msgspec.structs.replace(
        old_driver().driver.libcuda, path="/usr/local/cuda/compat/libcuda.so.580.95.05", version="580.95.05"
    )
    assert outcome(with_(old_driver(), driver__libcuda=libcuda), "driver-too-old-for-ptx") == "passed"


def test_what_a_release_asks_for_and_another_generation_of_it() -> None:
    facts = with_package(with_release(not_imported(healthy()), "2.17.1"), "numpy", "2.1.3")
    assert outcome(facts, "numpy-abi-break") == "found"
    assert "'numpy" in found(facts)["numpy-abi-break"].fixes[0].steps[0]
    older = with_package(with_release(not_imported(healthy()), "2.20.0"), "protobuf", "4.25.1")
    assert outcome(older, "protobuf-mismatch") == "found"
    near = with_package(with_release(not_imported(healthy()), "2.18.1"), "numpy", "2.2.0")
    assert outcome(near, "numpy-abi-break") == "unknown", "of the same generation: the import will tell"
