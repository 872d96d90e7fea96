from __future__ import annotations

import shlex

import msgspec
import pytest

from gpudoctor.facts import Distribution, LogEvent, Unread
from tests.checks.test_architecture import fails, says
from tests.factory import SITE, found, healthy, outcome, roots, with_

CUDNN = LogEvent(kind="cudnn-too-old", text="Loaded runtime CuDNN …", values={"loaded": "9.1.0", "compiled": "9.3.0"})


def test_cudnn_version_too_old() -> None:
    facts = says(fails(healthy(), "No DNN in stream executor", kernel="convolution"), CUDNN)
    assert roots(facts) == ["cudnn-version-too-old"]
    finding = found(facts)["cudnn-version-too-old"]
    assert "9.1.0" in finding.message
    assert shlex.split(finding.fixes[0].steps[0])[-1] == "nvidia-cudnn-cu12>=9.3.0,<10"
    assert finding.proof[1].text.endswith("libcudnn.so.9")
    assert outcome(healthy(), "cudnn-version-too-old") == "passed"
    assert outcome(with_(facts, tensorflow__events=Unread(why="?")), "cudnn-version-too-old") == "unknown"


def test_a_cudnn_from_elsewhere_is_named() -> None:
    facts = with_(says(healthy(), CUDNN), tensorflow__loaded=("/usr/lib/x86_64-linux-gnu/libcudnn.so.9",))
    assert "/usr/lib/x86_64-linux-gnu/libcudnn.so.9" in found(facts)["cudnn-version-too-old"].fixes[0].summary


def test_an_old_form_of_version_is_no_command() -> None:
    old = LogEvent(kind="cudnn-too-old", text="Loaded …", values={"loaded": "7003", "compiled": "7600"})
    (fix,) = found(says(healthy(), old))["cudnn-version-too-old"].fixes
    assert (fix.kind, fix.steps) == ("advice", ())


def test_cudnn_incomplete_install() -> None:
    event = LogEvent(
        kind="cudnn-part-missing",
        text="Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open",
    )
    facts = says(fails(healthy(), "convolution was ended by signal 6", kernel="convolution"), event)
    assert roots(facts) == ["cudnn-incomplete-install"]
    assert "nvidia-cuda-nvrtc-cu12" in found(facts)["cudnn-incomplete-install"].fixes[0].steps[0]
    assert outcome(says(healthy(), event), "cudnn-incomplete-install") == "passed"
    assert outcome(healthy(), "cudnn-incomplete-install") == "passed"
    assert outcome(with_(facts, tensorflow__events=Unread(why="?")), "cudnn-incomplete-install") == "unknown"


@pytest.mark.parametrize("cause", ["libdevice-missing", "ptxas-missing", "ptxas-too-old"])
def test_what_xla_needs(cause: str) -> None:
    event = LogEvent(kind=cause, text="words about it", values={})
    facts = says(fails(healthy(), "InternalError: …", kernel="xla"), event)
    assert roots(facts) == [cause]
    assert "nvidia-cuda-nvcc-cu12" in " ".join(found(facts)[cause].fixes[0].steps)
    assert outcome(says(fails(healthy(), "…", kernel="xla")), cause) == "passed"
    assert outcome(healthy(), cause) == "skipped"
    assert outcome(with_(facts, tensorflow__events=Unread(why="?")), cause) == "unknown"
    assert outcome(with_(facts, tensorflow__build__cuda=False), cause) == "skipped"


@pytest.mark.parametrize("cause", ["libdevice-missing", "ptxas-missing", "ptxas-too-old"])
def test_where_xla_works_its_words_are_harmless(cause: str) -> None:
    one = healthy().measurements[0]
    facts = says(fails(healthy(), "fft was ended by signal 6", kernel="fft"), LogEvent(kind=cause, text="words"))
    works = with_(facts, measurements=(*facts.measurements, msgspec.structs.replace(one, kernel="xla")))
    assert outcome(works, cause) == "passed"


def test_libdevice_that_is_installed_is_pointed_at() -> None:
    facts = says(fails(healthy(), "…", kernel="xla"), LogEvent(kind="libdevice-missing", text="words"))
    nvcc = Distribution(name="nvidia-cuda-nvcc-cu12", version="12.5.82", location=SITE)
    facts = with_(facts, python__distributions=(nvcc,))
    fix = found(facts)["libdevice-missing"].fixes[0]
    assert fix.steps == (f"export XLA_FLAGS=--xla_gpu_cuda_data_dir={SITE}/nvidia/cuda_nvcc",)


def test_gpu_memory_handle_alloc() -> None:
    event = LogEvent(kind="handle-failed", text="Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED")
    facts = says(fails(healthy(), "No DNN in stream executor", kernel="convolution"), event)
    assert roots(facts) == ["gpu-memory-handle-alloc"]
    assert outcome(says(healthy(), event), "gpu-memory-handle-alloc") == "passed"
    assert outcome(healthy(), "gpu-memory-handle-alloc") == "passed"
    assert outcome(with_(facts, tensorflow__events=Unread(why="?")), "gpu-memory-handle-alloc") == "unknown"
