"""What numbers that somebody writes down tell of a slow training: a GPU among its siblings, bindings, the input taken away."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown
from tests.logs.test_hints import first

LIST = "Each of the four A100 alone, the same model ({unit})\n"
RATES = "gpu0 512\ngpu1 508\ngpu2 371\ngpu3 515\n"
NEAR = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-31\t0\nGPU1\tSYS\t X \t32-63\t1\n"
IN_WORDS = "GPU0 .. GPU1   CPU Affinity 0-31    NUMA 0\nGPU2 .. GPU3   CPU Affinity 32-63   NUMA 1\n"
LOOP = "for i in {which}; do CUDA_VISIBLE_DEVICES=$i taskset -c $((i*{each}))-$((i*{each}+7)) python train.py & done\n"
SPIKES = "The GPU usage goes up and down between 0 and 90 %. {feeds}\n"
OUTLIER, MISPLACED, STARVED, LINK = "gpu-outlier", "numa-misplaced", "cpu-starved-input", "pcie-link-degraded"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # one of several GPUs
        (LIST.format(unit="images/s") + RATES, OUTLIER),
        (LIST.format(unit="TFLOPS") + RATES, OUTLIER),
        (LIST.format(unit="ms a step") + RATES, None),
        (LIST.format(unit="degrees") + RATES, None),
        (LIST.format(unit="images/s") + "Temperatures in the same order:\nThey were read once.\n" + RATES, None),
        (LIST.format(unit="images/s") + RATES.replace("371", "431"), None),
        (LIST.format(unit="images/s") + "gpu0 512\ngpu1 371\n", None),
        ("Two A100 and two V100 (images/s)\n" + RATES, None),
        ("GPU 0: 221 img/s\nGPU 1: 223 img/s\nGPU 2: 110 img/s\n", OUTLIER),
        ("GPU 0: 22.1 GB/s\nGPU 1: 22.3 GB/s\nGPU 2: 11.0 GB/s\n", None),  # which may be the link's
        ("GPU 0: 22 C\nGPU 1: 23 C\nGPU 2: 11 C\n", None),
        # processors of other GPUs
        (NEAR + "CUDA_VISIBLE_DEVICES=1 taskset -c 0-7 python train.py\n", MISPLACED),
        (NEAR + "CUDA_VISIBLE_DEVICES=1 taskset -c 32-39 python train.py\n", None),
        (NEAR + "taskset -c 0-7 python train.py\n", None),
        (NEAR + "taskset -c 64-71 python train.py\n", MISPLACED),
        (NEAR + "I tried taskset -c 64-71 python train.py, too\n", None),
        (NEAR + "Should I start it by CUDA_VISIBLE_DEVICES=1 taskset -c 0-7 python train.py ?\n", None),
        (IN_WORDS + LOOP.format(which="0 1 2 3", each=8), MISPLACED),
        (IN_WORDS + LOOP.format(which="{0..3}", each=8), MISPLACED),
        (IN_WORDS + LOOP.format(which="$(seq 0 3)", each=8), MISPLACED),
        (IN_WORDS + LOOP.format(which="0 1 2 3", each=16), None),
        (IN_WORDS + LOOP.format(which="0 1", each=8), None),
        (IN_WORDS + LOOP.replace("$i ", "$j ").format(which="0 1 2 3", each=8), None),
        (IN_WORDS + LOOP.replace("taskset -c ", "numactl -C ").format(which="0 1 2 3", each=8), MISPLACED),
        (NEAR + "CUDA_VISIBLE_DEVICES=1 numactl --physcpubind=0-7 python train.py\n", MISPLACED),
        (LOOP.format(which="0 1 2 3", each=8), None),
        # without the input
        ("An epoch takes 3 min with synthetic data and 21 min with the real data.\n", STARVED),
        ("21 min with the real dataset, 3 min with ds.take(1).repeat()\n", STARVED),
        ("With dummy data a step takes 80 ms, with my images 410 ms.\n", STARVED),
        ("1400 img/s synthetic, 320 img/s with real JPEGs\n", STARVED),
        ("GPU usage stays under 8%, our data generators seem to be a bottle neck\n", STARVED),
        ("An epoch takes 20 min with synthetic data and 21 min with the real data.\n", None),
        ("1400 img/s synthetic, 1320 img/s with real JPEGs\n", None),
        ("A search takes 3 s with a random choice and 30 s with the full grid.\n", None),
        ("An epoch takes 90 s with synthetic data and 1 min with the real data.\n", None),
        # who feeds it
        (SPIKES.format(feeds="A feed_dict, images are read one by one."), STARVED),
        (SPIKES.format(feeds="A feed_dict, all images are in RAM."), None),
        (SPIKES.format(feeds="A feed_dict, the images were decoded beforehand."), None),
        # a GPU by its number is no comparison with the processor
        ("The same job is slower on GPU 1 than on GPU 0\n", None),
    ],
)  # fmt: skip
def test_what_is_decided(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


def test_which_gpus_are_bound_elsewhere() -> None:
    root = judged(IN_WORDS + LOOP.format(which="0 1 2 3", each=8)).diagnosis.root_causes[0]
    assert "GPU 2, 3 " in root.message
    assert "32-63" in root.fixes[0].steps[0]


ROOM = "InternalError: Dst tensor is not initialized.\n"


@pytest.mark.parametrize(
    "told",
    ["With x[:500] it works.", "It works if I use fewer images.", "If I take a subset it runs.", "When I cut the array to a tenth, it is fine."],
)  # fmt: skip
def test_less_data_that_fit(told: str) -> None:
    assert first(f"{ROOM}It fails at once.\n") == "gpu-memory-held-by-other-process"
    assert first(f"{ROOM}{told}\n") == "gpu-oom-model-or-data"


def test_a_riser_puts_the_link_first() -> None:
    text = "Training on my rig is slower than on the laptop, GPU util jumps up and down. Copies are slow, what is it? {more}\n"
    with_it = said(judged(text.format(more="It is a mining frame with risers, the PCIe link is x1.")))
    assert [*with_it[0], *with_it[1]][0] == LINK
