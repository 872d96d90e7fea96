"""Who says that a GPU's memory is taken, wants less of it to be taken, or sees another program end: facts x what stands around
them, and what is named first; with the look-alikes of which nobody complains, or of something else."""

from __future__ import annotations

import itertools

import pytest

from tests.logs.judged import first, judged, said

TOO_LARGE, HELD, TAKEN = "gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory"
GROWS = "host-memory-leak"
AROUND = ("{}", "Memory\n\nHi,\n\n{}\n\nRegards\nJo", "Hello! {}\n\nUbuntu 16.04, Python 3.6")
"""Shapes of a message."""
WHO = ("TensorFlow", "keras", "The trainer")

TAKES = (
    "{} makes use of the whole of the 8 GB of my card's VRAM.",
    "Right after the session is made the GPU memory is filled completely by {}.",
    "{} shows 7712MiB / 8119MiB on the GPU with a model of two layers.",
    "The VRAM that {} uses is the same for every batch size and model.",
    "Why does {} want 15 GB of GPU memory for one picture?",
    "Der ganze Grafikspeicher wird von {} belegt, das Netz ist winzig.",
    "{} utiliza toda la memoria de la GPU para un modelo de juguete.",
    "\u6a21\u578b\u5f88\u5c0f\uff0c\u663e\u5b58\u5168\u90fd\u88ab{}\u5403\u5149\u4e86",
)
WANTS_LESS = (
    "Is there a solution to keep the GPU memory that {} needs minimal?",
    "Can {} be made to use less GPU memory?",
    "Could {} please be restricted to a part of the card's memory?",
    "Is it possible to share the GPU between {} and our renderer?",
    "Where can I set gpu_memory_fraction for {}?",
    "Can {} take only what it needs of the GPU?",
    "{} \u5360\u7528GPU\u8d44\u6e90\u592a\u591a\uff0c\u600e\u4e48\u52a0\u70b9\u9650\u5236",
    "L\u00e4sst sich der GPU-Speicher von {} begrenzen?",
)
IN_VAIN = (
    "allow_growth is True and {} goes on taking all of it.",
    "per_process_gpu_memory_fraction=0.2 makes no difference, {} shows 10 GB.",
    "I call set_memory_growth first. Nothing changed, {} is at 11 GB.",
    "memory_limit=2048 is exceeded, {} holds 9 GB",
    "\u8bbe\u7f6e\u4e86allow_growth=True\uff0c{}\u8fd8\u662f\u5360\u6ee1\u663e\u5b58",
)
OF_ALL = (
    "{} works on GPU 0, but memory is allocated on the other three cards as well. I want to leave those to others.",
    "How can {} be kept to a single GPU? It fills up the memory of all four.",
    "with tf.device('/gpu:1') the memory of both GPUs is occupied by {}",
    "The memory of GPU 1, 2 and 3 is taken too while {} computes on GPU 0. How do I avoid that?",
    "{} belegt den Speicher aller vier Karten, ich brauche aber nur eine.",
    "\u53ea\u7528\u4e00\u5757\u5361\uff0c{}\u628a\u6240\u6709\u5361\u7684\u663e\u5b58\u90fd\u5360\u4e86",
)
KEEPS = (
    "After sess.close() {} still holds the memory of the GPU.",
    "K.clear_session() does not give the GPU memory of {} back",
    "The VRAM that {} took stays occupied until I restart the kernel.",
    "How can I free the GPU memory of {} without ending the process?",
)


def _texts(facts: tuple[str, ...]) -> list[str]:
    """Each fact in one shape and with one name, so that all of them occur."""
    around, who = itertools.cycle(AROUND), itertools.cycle(WHO)
    return [next(around).format(fact.format(next(who))) for fact in facts for _ in range(2)]


@pytest.mark.parametrize("text", _texts((*TAKES, *WANTS_LESS, *IN_VAIN, *OF_ALL, *KEEPS)))
def test_what_tensorflow_takes(text: str) -> None:
    assert first(text) == TAKEN


@pytest.mark.parametrize(
    "text",
    [
        "If the detector is loaded in two kernels, one of the two crashes.\n\nimport keras_tool",
        "The first notebook runs; the second one dies when it makes the model",
        "Started in two jupyter notebooks it makes the latter crash",
        "Wenn zwei Notebooks mit Keras offen sind, st\u00fcrzt der Kernel des zweiten ab",
        "Run two instances on one GPU: the second ends with CUDA_ERROR_OUT_OF_MEMORY",
        "\u540c\u4e00\u5757GPU\u8dd1\u4e24\u4e2a\u7a0b\u5e8f\uff0c\u7b2c\u4e8c\u4e2a\u5c31\u62a5OOM",
    ],
)
def test_another_program_ends(text: str) -> None:
    assert first(text) in (TAKEN, HELD)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # left over by what ended
        ("The kernel was interrupted; its memory isn't freed and now I always get CUDA_ERROR_OUT_OF_MEMORY", HELD),
        ("Ctrl+Z stopped the training; at the next start: OOM on the GPU", HELD),
        ("Ein alter Prozess belegt den GPU-Speicher, jetzt kommt out of memory", HELD),
        ("I closed the notebook but the GPU memory is still used, the next container fails with out of memory", HELD),
        ("Once it has run the gpu memory is full, also after a new console is opened. Out of memory. Only a restart of the computer helps.", HELD),
        # the host's
        ("The host memory goes up steadily in training, the GPU memory is constant", GROWS),
        ("Why does the RAM of each worker grow slowly all the time? It crashes in the end.", GROWS),
        ("With every iteration the RAM goes up. It may crash; out of memory errors can come on the GPU, too.", GROWS),
        # too large
        ("GPU memory grows with every batch until it is out of memory", TOO_LARGE),
    ],
)  # fmt: skip
def test_what_is_named_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "How much GPU memory is needed to train the model?",
        "Is 8 GB of VRAM enough for the base config?",
        "What is the memory footprint of the net on the GPU?",
        "How large is the memory of the card that you use, and how long did it take?",
        "PR: allow_growth in the config of the example",
        "K.clear_session() gives the GPU memory back, thanks!",
        "Everything runs fine on the GPU, and I use all the images.",
    ],
)
def test_nobody_complains(text: str) -> None:
    assert first(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Two cards are no faster than one with MirroredStrategy, the memory of all GPUs is taken and only one works",
        "The loss is NaN after some steps. GPU memory is at 10/11 GB.",
        "Task manager shows GPU 1%, dedicated memory 3.5/4.0 GB. Is the GPU used?",
        "On the container's start everything is OK and it uses the GPU, some hours later it has lost the GPU",
    ],
)
def test_memory_is_not_what_it_is_about(text: str) -> None:
    assert first(text) != TAKEN
    assert TAKEN not in said(judged(text))[0]
