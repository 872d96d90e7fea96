"""Who asks before anything has failed, or worries while it works, is told of no fault; and who tells of trouble in the same words is."""

from __future__ import annotations

import pytest

from gpudoctor.logs import asked_before
from gpudoctor.logs.notebook import Notebook
from tests.logs.judged import first, judged, said

NOTHING: tuple[list[str], list[str]] = ([], [])
OPENINGS = ("", "Hi, thanks for the repository!\n", "I'm new to all of this. ")
QUESTIONS = (
    "Which version of cuDNN goes with tensorflow-gpu 1.12 and CUDA 9.0?",
    "Can the detection API be installed on Windows with a GTX 1660 and CUDA 10.1? In the manual I saw 9.0, so I wonder whether that is possible.",
    "Must it be CUDA 9.0 exactly, or is 9.2 fine with TF 1.9?",
    "Is there a table of which TensorFlow works with which CUDA?",
    "Do I need the CUDA toolkit with the docker image, or is the driver enough?",
    "Could you tell me your versions of tensorflow, keras and cuda?",
    "I have CUDA 8.0 and cuDNN 6 on the server and may not change it. Which tensorflow version can I use?",
    "Does tensorflow support cards of compute capability 3.0?",
    "I want to buy a PC with a Ryzen and an RTX 3060. Will TensorFlow run on it?",
    "Would a Quadro P4000 be good for training, or is a GeForce the better choice?",
    "Should I double the learning rate with 2 GPUs?",
    "How can I get the list of GPUs in tensorflow 2?",
    "How do I train on the CPU only?",
    "Is it feasible to train on CPU? How long would it take?",
    "Are tensor cores used automatically with float16?",
    "Is gpu:0 of tensorflow the first card in nvidia-smi? How are GPUs numbered?",
)
ABROAD = (
    "请问tensorflow 1.14要装哪个版本的cuda\uff1f",
    "6G显存够吗\uff1f",
    "请问怎么指定用哪块GPU\uff1f",
    "如何用CPU运行\uff1f",
    "请问你们是用几张卡训练的\uff0cbatch size是多少",
    "非常棒的项目\uff0c2080ti上可以跑100fps",
    "Kann ich TensorFlow 1.15 mit CUDA 10.1 verwenden, oder muss es 10.0 sein?",
    "Reicht eine GTX 1060 mit 6 GB?",
    "¿Qué versión de CUDA necesito para TensorFlow 2.3?",
    "Quelle version de CUDA faut-il pour TensorFlow 2.4 ?",
    "Qual versão do CUDA preciso para o TensorFlow 2.3?",
    "\u041a\u0430\u043a\u0430\u044f \u0432\u0435\u0440\u0441\u0438\u044f CUDA \u043d\u0443\u0436\u043d\u0430 \u0434\u043b\u044f TensorFlow 2.4?",
)


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_no_fault(opening: str, question: str) -> None:
    assert said(judged(f"A question\n\n{opening}{question}\n")) == NOTHING


@pytest.mark.parametrize("text", ABROAD)
def test_a_question_in_another_language(text: str) -> None:
    assert said(judged(f"{text}\n")) == NOTHING


@pytest.mark.parametrize(
    "trouble",
    [
        "I get an error when I import it.",
        "It doesn't work here.",
        "My GPU isn't detected.",
        "It is terribly slow.",
        "I tried both in vain.",
        "GPU utilization is 10 %.",
        "Es funktioniert nicht.",
        "总是报错",
    ],
)
@pytest.mark.parametrize("question", QUESTIONS[:2])
def test_who_has_tried_it_does_not_only_ask(question: str, trouble: str) -> None:
    assert not asked_before.asks([question, trouble], Notebook())
    assert asked_before.asks([question], Notebook())


@pytest.mark.parametrize(
    "text",
    [
        "How can I make keras use my GPU? Is CUDA needed?",
        "Is it possible to run the training on the GPU?",
        "Does this work on a Jetson Nano, and which version?",
        "What is the reason?",
        "Is this normal?",
    ],
)
def test_what_is_asked_else(text: str) -> None:
    assert not asked_before.asks([text], Notebook())


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Which version of CUDA do I need?\n\nI have CUDA 9.2 and tensorflow-gpu 1.8.\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n", "cuda-version-mismatch"),
        ("Why is tensorflow using cpu and not my gtx 1060?\n\nEach step takes 5 seconds\n", "tf-cpu-only-package"),
        ("训练很慢\n\n看nvidia-smi没有进程\uff0c应该是没用上GPU\n", "tf-cpu-only-package"),
    ],
)  # fmt: skip
def test_what_fails_beside_a_question(text: str, cause: str) -> None:
    assert first(text) == cause


LINES = (
    "W tensorflow/stream_executor/gpu/asm_compiler.cc:63] Running ptxas --version returned 256",
    "Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered",
)
RETRIED = "W tensorflow/core/common_runtime/bfc_allocator.cc:237] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.07GiB with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory were available."


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("worry", ["Can I ignore this?", "What does it mean?", "Must I worry about it?"])
def test_who_worries_while_it_works(line: str, worry: str) -> None:
    assert said(judged(f"A warning\n\nTraining is fine, but I see this each time. {worry}\n{line}\n")) == NOTHING


@pytest.mark.parametrize("words", ["How do I fix this?", "This is what I see with my GTX 1660."])
def test_a_line_that_calls_itself_no_failure(words: str) -> None:
    assert said(judged(f"GPU out of memory\n\n{words}\n{RETRIED}\n")) == NOTHING
    assert said(judged(f"GPU out of memory\n\n{words} After that it crashes.\n{RETRIED}\n")) != NOTHING


@pytest.mark.parametrize("title", ["Training speed", "faster rcnn: slow training"])
def test_who_reckons_how_long_all_takes(title: str) -> None:
    text = f"{title}\n\nA step takes 0.5 sec with one GTX 1080, there are {{steps}} steps by default. That makes {{days}} days. Did I miss anything?{{more}}\n"
    assert said(judged(text.format(steps=400000, days=2, more=""))) == NOTHING
    assert said(judged(text.format(steps=400000, days=2, more=" The GPU utilization is low."))) != NOTHING


def test_of_a_choice_of_gpus_only() -> None:
    text = "Only CPU with CUDA_VISIBLE_DEVICES=3\n\ntf1.3\nCUDA 7.5\n{more}With CUDA_VISIBLE_DEVICES=3 only the CPU is used.\n"
    assert "cuda-version-mismatch" in said(judged(text.format(more="")))[0]
    assert not said(judged(text.format(more="With plain python train.py GPU 3 is used. ")))[0]
