"""What people complain of in their own words."""

from __future__ import annotations

import pytest

from gpudoctor.logs.complaints import says_no_gpu
from tests.logs.judged import judged, said, shown


def by_lines(text: str) -> str:
    """The same by what lines show alone."""
    roots, candidates = shown(judged(text))
    return roots[0] if roots else f"{candidates[0]}?" if candidates else "nothing"


FORM = """\
- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): {system}
- TensorFlow version (use command below): {release}
- Python version: 3.9.7
- CUDA/cuDNN version: {cuda}
- GPU model and memory: RTX 2060, 6 GB
"""


def first(text: str) -> str:
    """The cause, or the likeliest candidate with a question mark, or 'nothing'."""
    roots, candidates = said(judged(text))
    return roots[0] if roots else f"{candidates[0]}?" if candidates else "nothing"


@pytest.mark.parametrize(
    "complaint",
    [
        "tensorflow can't use the GPU",
        "My RTX 2060 isn't recognised by tensorflow",
        "The graphics card is not being used at all",
        "Tensorflow doesn't see my GPU",
        "Keras not running on GPU",
        "it runs without finding the GPU",
        "No GPU after the update to this",
        "there is no GPU with tensorflow",
        "it finds no GPU",
        "3080 RTX not detected",
        "What I get is 0 GPUs",
        "number of GPUs available is 0",
        "list_physical_devices gives me an empty list",
        "tf.test.is_gpu_available() says False",
        "it sees nothing but the CPU",
        "everything still runs on the CPU",
        "it trains in CPU mode",
        "training falls back to the CPU",
        "it computes on the processor instead of the GPU",
        "the GPU does nothing",
        "my GPU stays idle",
        "GPU utilization stays at 0%",
        "the GPU works in other programs but not with this one",
        "GPU wird nicht erkannt",
        "无法使用GPU",
        "TensorFlow sieht keine GPU",
        "TensorFlow erkennt meine Grafikkarte nicht",
        "tensorflow benutzt nur die CPU",
        "tensorflow n'utilise pas le GPU",
        "TensorFlow non vede la GPU",
        "tensorflow\uac00 GPU\ub97c \uc778\uc2dd\ud558\uc9c0 \ubabb\ud569\ub2c8\ub2e4",
        "tensorflow ignores my gpu",
        "the GPU isn't seen by tensorflow",
        "no detecta la GPU",
        "não reconhece a GPU",
        "tensorflow не видит видеокарту",
        "tensorflow ne voit pas la carte",
        "GPUを認識しない",
    ],
)
def test_no_gpu_is_seen(complaint: str) -> None:
    assert first(f"{complaint}\n\n" + FORM.format(system="Windows 10", release="2.12.0", cuda="11.8/8.6")) == (
        "tf-windows-native-cpu-only"
    )
    assert first(f"{complaint}\n\ntensorflow-gpu, Linux").endswith("?")


@pytest.mark.parametrize(
    "prose",
    [
        "Which GPU do I need?",
        "How much of the GPU memory is used?",
        "The Dense layer returns another shape",
        "tensorflow sees the GPU now, thanks",
        "device:GPU:0 is in the list",
    ],
)
def test_nothing_is_wrong(prose: str) -> None:
    assert by_lines(f"{prose}\n\n" + FORM.format(system="Ubuntu 20.04", release="2.9.0", cuda="11.2/8.1")) == "nothing"


def test_the_gpu_field_of_a_form_is_no_complaint() -> None:
    assert first("The progress bar flickers.\n- GPU model and memory: no GPU available\n") == "nothing"


def test_long_paragraphs_are_read() -> None:
    text = "I have installed everything twice. " * 30 + "But tensorflow does not find my GPU."
    assert 600 < len(text) < 2000
    assert first(text) == "tf-cpu-only-package?"
    assert first(text * 3) == "nothing"


# ------------------------------------------------------------------- Windows


@pytest.mark.parametrize(
    "wish",
    [
        "How can I make it take only the CPU with tensorflow?",
        "How do I get keras to use the CPU instead of the GPU",
        "I would like to use only the CPU, not the GPU",
        "Is there a way to make tensorflow run on CPU only?",
        "Keras: use the CPU and not the GPU",
        "Use CPU instead of GPU",
        "Is it possible to switch to the CPU",
    ],
)
def test_who_wants_the_processor(wish: str) -> None:
    assert not says_no_gpu(wish)


@pytest.mark.parametrize(
    "complaint",
    [
        "tensorflow uses the CPU and not the GPU",
        "it decides to use the CPU instead of the GPU",
        "only use CPU, GPU idle",
    ],
)
def test_who_does_not_want_it(complaint: str) -> None:
    assert says_no_gpu(complaint)


def test_who_can_use_one_gpu_only() -> None:
    assert not says_no_gpu("More than 1 GPU can't be used")
    assert says_no_gpu("The GPU can't be used")


def test_who_asks_for_a_gpu_on_windows() -> None:
    ask = "How do I get tensorflow to run on the GPU, not on the processor?\n\n"
    assert first(ask + FORM.format(system="Windows 11", release="2.13.0", cuda="12.1")) == "tf-windows-native-cpu-only"
    assert first("Using the GPU\n" + FORM.format(system="Windows 11", release="2.13.0", cuda="")) == (
        "tf-windows-native-cpu-only"
    )
    assert first(ask + FORM.format(system="Windows 11", release="2.10.0", cuda="11.2")) == "nothing"
    assert first("The loss is NaN.\n\n" + FORM.format(system="Windows 11", release="2.13.0", cuda="12.1")) == "nothing"
    killed = first(ask + "Killed\n" + FORM.format(system="Windows 11", release="2.10.0", cuda="11.2"))
    assert killed.rstrip("?") == "cgroup-memory-limit"


@pytest.mark.parametrize(
    "which", ["No GPU after 2.10", "no GPU found by tensorflow > 2.10", "2.11 and newer see no GPU"]
)
def test_releases_after_2_10(which: str) -> None:
    assert first(f"{which}\n\n" + FORM.format(system="Windows 10", release="2.10.1", cuda="8.1")) == (
        "tf-windows-native-cpu-only"
    )


def test_2_10_itself_is_another_matter() -> None:
    text = "tensorflow 2.10 finds no GPU\n\n" + FORM.format(system="Windows 10", release="2.10.1", cuda="12.2/8.1")
    assert first(text) == "cuda-version-mismatch"
    assert first(text.replace("12.2", "11.2")) == "ld-library-path-not-set?"


# ------------------------------------------------------------------- a release and the CUDA that is named


@pytest.mark.parametrize(
    ("release", "cuda", "fits"),
    [
        ("1.4.0", "9.0/7", False),
        ("1.12.0", "10.0/7.4", False),
        ("1.12.0", "9.0/7.4", True),
        ("1.15.0", "10.1/7.6", False),
        ("2.1.0", "10.2.89", False),
        ("2.3.1", "CUDA 11.0, cuDNN 8.0.4", False),
        ("2.3.1", "cuDNN 7.6, CUDA 10.1", True),
        ("2.5.0", "10/7", False),
        ("2.5.0", "11.3 / 8.2", True),
    ],
)
def test_the_cuda_of_old_releases(release: str, cuda: str, fits: bool) -> None:
    text = "The GPU is not recognised\n\n" + FORM.format(system="Ubuntu 18.04", release=release, cuda=cuda)
    assert (first(text) == "cuda-version-mismatch") is not fits
    assert first(text + "Installed with conda install tensorflow-gpu in /opt/conda/envs/t\n") != "cuda-version-mismatch"


def test_ones_own_build_asks_for_what_it_was_built_with() -> None:
    text = "The GPU is not recognised\n\n" + FORM.format(system="Ubuntu 18.04", release="2.1.0", cuda="10.2")
    assert first(text + "- TensorFlow installed from (source or binary): source\n") != "cuda-version-mismatch"


# ------------------------------------------------------------------- memory


# ------------------------------------------------------------------- the rest


def test_glibc_in_words() -> None:
    assert first("this wheel wants glibc 2.27\nour cluster has glibc 2.17") == "glibc-too-old"
    assert first("it requires GLIBC_2.23, CentOS 7 only has glibc 2.17") == "glibc-too-old"
    assert first("The wheel's glibc is 2.27\nCan't use it on glibc 2.17") == "glibc-too-old"
    assert first("this wheel wants glibc 2.17\nour cluster has glibc 2.28") != "glibc-too-old"
    assert first("this wheel wants glibc 2.27") != "glibc-too-old"
    assert first("GLIBC 2.27 not found when tensorflow is imported") == "glibc-too-old"


def test_files_that_hide_a_module() -> None:
    assert first("import tensorflow crashes where a script is named inspect.py") == "tf-shadowed"
    assert first("import tensorflow crashes where a script is named train.py") != "tf-shadowed"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("RuntimeError: CUDA error: invalid device ordinal", "cuda-visible-devices-wrong?"),
        ("Internal: no supported devices found for platform CUDA", "cuda-visible-devices-wrong?"),
        ("The card is in exclusive compute mode and another program uses it: segfault", "gpu-exclusive-busy?"),
    ],
)
def test_devices_that_can_not_be_taken(text: str, cause: str) -> None:
    assert first(text) == cause


def test_pythons_that_somebody_wishes() -> None:
    old = "There are no tensorflow 1.15.2 binaries for Python 3.8\n- TensorFlow version: 1.15\n- Python version: {}\n"
    assert first(old.format("3.8.2")) == "python-version-unsupported"
    assert first(old.format("3.7.2")) == "python-version-unsupported?"
    assert first("Please provide wheels for python 3.99") == "python-version-unsupported?"
    assert first(old.format("3.8.2").replace("1.15.2", "2.3").replace("1.15", "2.3.0")) == "python-version-unsupported?"


def test_the_package_that_was_removed() -> None:
    for text in ("Tensorflow-gpu version 2.12.0 is not available", "there is no version 2.13 of the tensorflow-gpu"):
        assert first(text) == "tensorflow-gpu-package-removed"
    assert first("tensorflow-gpu 2.10 is not available") != "tensorflow-gpu-package-removed"


def test_dlls_that_no_module_is_named_of() -> None:
    text = "ImportError: DLL load failed: The specified module could not be found.\n\nWindows 10, tensorflow 2.1"
    assert first(text) == "msvc-runtime-missing?"
    assert first(text.replace("failed:", "failed while importing _ssl:")) == "nothing"
