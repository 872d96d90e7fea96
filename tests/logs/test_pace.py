"""Who is slower than whom, as people put it; and where it tells nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

OUTLIER, HEAT, SCALING, LAUNCH, COLD, INPUT = (
    "gpu-outlier", "gpu-throttling-thermal", "scaling-below-expected", "gpu-launch-bound", "jit-cold-start", "cpu-starved-input",
)  # fmt: skip
MNIST = "It is the MNIST example\n"
SPIKES = "The GPU utilization that nvidia-smi shows goes up and down, 0 to 70%\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # a card among its siblings
        ("One of my four cards is 30% slower in every benchmark\n", OUTLIER),
        ("GPU 3 is much slower than the others, whatever runs there\n", OUTLIER),
        ("One of my four cards is 30% slower: it hangs on a riser\n", None),
        ("One of the cards is slower, an RTX 2060 beside an RTX 3090\n", None),
        ("One of my four cards gets too hot and becomes slower after a while\n", HEAT),
        # heat
        ("The temperature reaches 88 degrees and training slows down\n", HEAT),
        ("The card overheats, and the epochs get slower\n", HEAT),
        ("The card does not get hot, and training slows down\n", None),
        ("The temperature reaches 88 degrees and training goes on\n", None),
        # several and one
        ("With MirroredStrategy on two GPUs an epoch is slower than on one GPU\n" + MNIST, SCALING),
        ("A single GPU is faster than four GPUs\n" + MNIST, SCALING),
        ("Two GPUs are faster than one GPU\n" + MNIST, None),
        ("Two GPUs are slower than one GPU, p2p is off\n" + MNIST, None),
        ("Two GPUs are slower than one GPU\n", None),
        # a loop of one's own
        ("My custom training loop is three times slower than model.fit\n", LAUNCH),
        ("model.fit is much faster than my own loop with GradientTape\n", LAUNCH),
        ("My custom training loop is three times slower than model.fit\nThe step is a tf.function\n", None),
        ("My custom training loop is as fast as model.fit\n", None),
        # code that is compiled at the first use
        ("The first run on the GPU is slow, is that the JIT cache?\nI set CUDA_CACHE_MAXSIZE\n", COLD),
        ("The first run on the GPU is slow\n", None),
        ("On an RTX 3080 with TensorFlow 1.15, to start the training takes 20 minutes\n", COLD),
        ("On a GTX 1080 with TensorFlow 1.15, to start the training takes 20 minutes\n", None),
        # the input
        (SPIKES + "I guess that the data don't arrive fast enough\n", INPUT),
        (SPIKES + "Where is the bottleneck?\n", None),
        ("I guess that the data don't arrive fast enough\n", None),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    if cause is None:
        assert not {*roots} & {OUTLIER, HEAT, SCALING, LAUNCH, COLD, INPUT}
    else:
        assert roots == [cause]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("On a GTX 1070 an epoch takes 90 s, on a Tesla V100 it takes 90 s as well\n", INPUT),
        ("My RTX 4090 isn't any faster than the GTX 1080\n", INPUT),
    ],
)
def test_it_goes_first(text: str, cause: str) -> None:
    roots, left = said(judged(text))
    assert [*roots, *left][:1] == [cause]


@pytest.mark.parametrize(
    "text",
    [
        "With two GPUs an epoch takes 60 s, with one 115 s, as it should be\n",
        "On a GTX 1070 an epoch takes 90 s, on a Tesla V100 it takes 40 s\n",
    ],
)
def test_nothing_is_slower(text: str) -> None:
    roots, left = said(judged(text))
    assert not {*roots, *left} & {SCALING, INPUT}
