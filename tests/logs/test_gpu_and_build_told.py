"""A GPU and a release that do not go together, and those that do."""

from __future__ import annotations

import pytest

from gpudoctor import compat
from gpudoctor.logs.generations import capability, first_cuda
from tests.logs.judged import first, judged, said

FAILS = "InternalError: 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'"
NEW, OLD, WAITS = "gpu-too-new-for-build", "gpu-compute-capability-too-old", "jit-cold-start"


@pytest.mark.parametrize(
    "form", ["GPU: {0}", "- GPU model and memory: {0}, 12GB", "I have a {0}.", "| GPU | {0} |", "My GPU is a {0}"]
)
@pytest.mark.parametrize("card", ["RTX 3090", "RTX 4090", "RTX 3060"])
def test_too_new_and_known(form: str, card: str) -> None:
    text = f"Title: fails\n\n{form.format(card)}\nTensorFlow VERSION\n\n{FAILS}\n\nAny idea?\n"
    assert first(text.replace("VERSION", "1.15")) == NEW
    assert first(text.replace("VERSION", "2.13.0")) != NEW


NEWER = (
    ("rtx3080", "docker image tensorflow/tensorflow:1.13.2-gpu"),
    ("card: 3070", "tf-gpu 1.12"),
    ("an a40", "cuda 9"),
    ("sm_86 card", "I installed tensorflow_gpu-1.12.0-cp36-cp36m-linux_x86_64.whl"),
    ("new Ampere card", "nvcr.io/nvidia/tensorflow:19.10-py3"),
    ("2080 Ti", "tensorflow-gpu              1.8.0"),
    ("Titan V", "Caffe built with CUDA 8.0"),
    ("gtx1080", "CUDA Version: 7.5"),
    ("RTX 5090", "torch 2.1.0+cu121"),
    ("L40S", "mxnet-cu92"),
    ("40xx card", "tf.__version__ is '1.15.0'"),
    (
        "T1000",
        "I tensorflow/stream_executor/dso_loader.cc:135] successfully opened CUDA library libcublas.so.9.0 locally",
    ),
)
FIT = (
    ("GTX 1080 Ti", "tensorflow-gpu 1.12"),
    ("RTX 2070", "docker image tensorflow/tensorflow:1.15.0-gpu"),
    ("A100", "nvcr.io/nvidia/tensorflow:20.11-tf1-py3"),
    ("rtx3070", "torch 1.10.0+cu113"),
    ("Tesla M40", "my tensorflow version is 1.9"),
)
BEFORE = (("GeForce 610M", "tensorflow 1.10"), ("GTX 560", "conda env with tf-gpu 1.14"), ("GTX 765M", "TF 2.3"), ("Quadro 4000", "TensorFlow 1.12.0"))  # fmt: skip
WRONG = (
    "everything it predicts is zero, on the CPU it is right",
    "it crashes at the first step",
    "my colleague's machine runs the same script without any change, mine gives an error",
    "der Lauf stürzt ab",
    "训练的时候程序报错",
    "el programa no funciona en esta máquina",
    "the loss is nan",
)
FORMS = ("Problem\n\n{0}\n{1}\n\n{2}\n\nWhat could it be?\n", "Hello\n\n{2}\n\n- {1}\n- GPU: {0}\n")


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("card", "build"), NEWER)
def test_a_card_that_is_newer_than_the_build(card: str, build: str, wrong: str) -> None:
    for form in FORMS:
        assert first(form.format(card, build, wrong)) == NEW


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("card", "build"), FIT)
def test_a_card_that_the_build_knows(card: str, build: str, wrong: str) -> None:
    for form in FORMS:
        assert first(form.format(card, build, wrong)) not in (NEW, OLD)


@pytest.mark.parametrize("wrong", WRONG[1:])
@pytest.mark.parametrize(("card", "build"), BEFORE)
def test_a_card_that_is_older_than_any_build(card: str, build: str, wrong: str) -> None:
    for form in FORMS:
        assert first(form.format(card, build, wrong)) == OLD


@pytest.mark.parametrize(("card", "build"), FIT)
def test_what_fails_there_has_another_cause(card: str, build: str) -> None:
    fails = "E tensorflow/stream_executor/cuda/cuda_blas.cc:428] failed to run cuBLAS routine: CUBLAS_STATUS_EXECUTION_FAILED"
    roots, left = said(judged(f"Help\n\n{card}\n{build}\n\n{fails}\n\nWhy is that?\n"))
    assert NEW not in roots
    assert left[:1] != [NEW]


@pytest.mark.parametrize(
    "remark",
    [
        "Does {1} support the {0}?",
        "Works great with {1} on my {0}, thank you!",
        "For the record: {0}, {1}, 320 images per second",
        "{1} trains without any problems on a {0} here. Nice project.",
        "Läuft {1} auf einer {0}?",
        "{1} 支持 {0} 吗？",  # noqa: RUF001
        "Should I buy a {0} for {1}?",
    ],
)
@pytest.mark.parametrize(
    ("card", "build"), [("RTX 3090", "TensorFlow 1.15"), ("A100", "tf 1.14"), ("GTX 580", "tensorflow 2.4")]
)
def test_who_asks_or_is_content(remark: str, card: str, build: str) -> None:
    assert first(remark.format(card, build)) not in (NEW, OLD, WAITS)


def test_a_card_that_is_too_old_is_not_compiled_for() -> None:
    text = "Slow\n\nThe first run takes ten minutes until it begins, then it is fast. Why?\nGPU: {0}\nTensorFlow 1.12\n"
    assert first(text.format("RTX 3080")) == WAITS
    assert first(text.format("GeForce 610M")) != WAITS


def test_names_are_of_the_generations_that_are_known() -> None:
    """What compat/ has of cards: the reader of names puts each into its generation, or knows it not."""
    apart = []
    for model in compat.gpus().models:
        for name in (model.name, *model.also):
            told, (major, minor) = capability(name), map(int, model.compute_capability.split("."))
            if told is not None and first_cuda(told) != first_cuda((major, minor)):
                apart.append(name)
    # two chips were sold by these names
    assert set(apart) <= {"NVIDIA GeForce GTX 750 Ti", "NVIDIA GeForce GTX 860M", "NVIDIA GeForce GTX 750 v2"}


ASKS = (
    "list_physical_devices('GPU') gives [] in tensorflow",
    "E tensorflow/stream_executor/cuda/cuda_driver.cc:351] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "RuntimeError: Found no NVIDIA driver on your system.",
    "nvidia-smi: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
)


@pytest.mark.parametrize("shown", ASKS)
@pytest.mark.parametrize(
    "told",
    [
        "There is no GPU on my laptop.",
        "This machine has no GPU at all",
        "I have an Intel integrated gpu and no nvidia one",
        "Ich habe keine NVIDIA Grafikkarte",
        "No tengo tarjeta NVIDIA, solo Intel HD",
        "我的电脑只有集成显卡",
    ],
)
def test_who_has_no_card_says_so(told: str, shown: str) -> None:
    assert first(f"Problem\n\n{told}\n{shown}\n") == "no-nvidia-gpu"


@pytest.mark.parametrize(
    "told",
    [
        "Colab tells that this machine has no GPU",
        "Our login node has no GPU, the nodes have a Tesla V100",
        "It sets CUDA_VISIBLE_DEVICES=2 on a machine that has no GPU of index 2",
    ],
)
def test_who_has_one_elsewhere_does_not(told: str) -> None:
    assert first(f"Problem\n\n{told}\n{ASKS[1]}\n") != "no-nvidia-gpu"


def test_an_image_says_itself_which_card_it_does_not_know() -> None:
    text = "Container\n\nFROM nvcr.io/nvidia/tensorflow:22.07-tf2-py3\nWARNING: Detected NVIDIA GeForce RTX 4080 GPU, which is not yet supported in this version of the container\nERROR: No supported GPU(s) detected to run this container\n"
    assert first(text) == "gpu-too-new-for-build"
