"""The word model: what people write is weighed as a whole. It names candidates, never one cause; programs' lines outweigh it."""

from __future__ import annotations

import io

import pytest

from gpudoctor import api, registry
from gpudoctor.facts import NOTHING_WRONG, known
from gpudoctor.logs import alike
from tests.logs import learn
from tests.logs.judged import HERE, judged, said


def first(text: str) -> str:
    roots, candidates = said(judged(text))
    assert not roots
    return candidates[0] if candidates else "nothing"


@pytest.mark.parametrize("of", learn.MODELS, ids=lambda of: of.name)
def test_the_model_is_of_these_texts(of: learn.Learnt) -> None:
    model = alike.learnt(of.name)
    assert model.of == learn.digest(of), "python -m tests.logs.learn"
    assert model.pairs is of.pairs
    causes = {one.cause for one in registry.all_checks() if not one.is_symptom}
    assert set(model.causes) - {NOTHING_WRONG} <= causes


def test_every_cause_has_enough_wordings() -> None:
    count: dict[str, int] = {}
    for cause, text in learn.wordings(learn.WORDINGS):
        count[cause] = count.get(cause, 0) + 1
        assert len(text) < 4000
    assert min(count.values()) >= 7
    assert count[NOTHING_WRONG] >= 300


# sentences that are in no wording
@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Since Tuesday's kernel upgrade nvidia-smi can't talk to the driver and my training uses the processor", "driver-module-not-loaded"),
        ("After closing the lid and opening it again, tensorflow has lost the card until I reboot", "cuinit-unknown-after-suspend"),
        ("Two 3090 with NCCL hang at the first step, without IOMMU in the BIOS they don't", "nccl-p2p-iommu-acs"),
        ("The pod has no GPU though the node has four; runtimeClassName nvidia is what was missing in the end, I believe", "container-runtime-not-default"),
        ("pip can't find any tensorflow for python 3.13 on this server", "python-version-unsupported"),
        ("My PC switches off the moment both cards start to compute, a bigger supply is ordered", "psu-insufficient"),
        ("inside docker the gpus vanish whenever somebody runs systemctl daemon-reload on the host", "container-cgroup-devices-lost"),
    ],
)  # fmt: skip
def test_what_people_mean(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "How do I save a model after each epoch?",
        "Keras: the loss is NaN when I use my own layer, shapes are right",
        "It works on both GPUs now, thanks to all of you!",
        "What does the message about oneDNN custom operations mean? The training runs on my GPU.",
    ],
)
def test_nothing_is_wrong(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_a_title_that_is_harmless_asks_about_it() -> None:
    asks = "how do I install tensorflow in a venv, it is not found there\n"
    assert said(judged(asks))[1]
    assert said(judged(f"TensorFlow binary was not compiled to use: AVX2 FMA\n{asks}")) == ([], [])


@pytest.mark.parametrize("title", ["It crashes with `--tensor-parallel-size`", "`NaN` in each step with two cards"])
def test_titles_with_code(title: str) -> None:
    assert alike.is_people([title])


def test_a_command_is_no_title() -> None:
    assert not alike.is_people(["docker run --runtime=nvidia -it image bash"])


def test_what_a_program_says_of_a_graph_is_no_sentence() -> None:
    assert not alike.is_people(["Detected at node NcclAllReduce_1 defined at (most recent call last):"], titled=False)
    assert alike.is_people(["Two cards hang"]) and not alike.is_people(["Two cards hang"], titled=False)


def test_the_line_that_reads_so_is_the_proof() -> None:
    report = judged("hello\n\nmy laptop woke up from suspend and cuda is gone until the next reboot, why?\n")
    assert list(report.diagnosis.candidates) == ["reads-like-a-fault"]
    assert report.diagnosis.candidates["reads-like-a-fault"][0].cause == "cuinit-unknown-after-suspend"
    assert report.diagnosis.candidates["reads-like-a-fault"][0].settle
    shown = next(f for f in report.findings if f.cause == "reads-like-a-fault")
    assert shown.proof


def test_a_program_outweighs_what_is_written() -> None:
    text = "I think my driver is too old, the card is a 1080\n\n2024-01-01 10:00:00.000001: E tensorflow/stream_executor/cuda/cuda_driver.cc:351] failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n"
    assert first(text).startswith("fabric-manager")


def test_pure_logs_are_no_prose() -> None:
    for name in ("healthy.log", "vlog-plain.log"):
        facts = api.log(io.BytesIO((HERE / name).read_bytes())).facts
        assert facts.text.alike == ()


def test_shares_are_shares() -> None:
    shares = alike.shares(["no GPU in docker"])
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) >= 0
    assert sum(alike.shares([""]).values()) == pytest.approx(1)
    assert alike.features(["a b", "GPU gpu"])["gpu"] > 1


TABLE = """
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|                                         |                        |               MIG M. |
|   0  NVIDIA GeForce RTX 3060        Off |   00000000:01:00.0  On |                  N/A |
| 41%   39C    P8              9W /  170W |     402MiB /  12288MiB |      3%      Default |
|                                         |                        |                  N/A |
"""


def test_what_nvidia_smi_refutes_is_no_candidate() -> None:
    """The driver works, and MIG stands there for every card."""
    complaint = "TensorFlow does not detect the cuda drivers\nI did what the page of the installation says."
    assert "driver-missing" in said(judged(complaint))[1]
    _, with_table = said(judged(complaint + TABLE))
    assert with_table
    assert not {"driver-missing", "no-nvidia-gpu", "mig-enabled-no-instance"} & {*with_table}


def test_what_brings_no_such_thing_about_is_no_candidate() -> None:
    """However much it reads alike: a weak power supply hides no GPU."""
    text = "It only uses my CPU when training"
    assert "psu-insufficient" in [one.cause for one in known(judged(text).facts.text.alike)]
    _, left = said(judged(text))
    assert left[0] == "tf-no-gpu-registered"
    assert "psu-insufficient" not in left


@pytest.mark.parametrize("text", ["the new version only takes my CPU when training", "it only trains on the CPU"])
def test_what_only_takes_the_processor_is_a_complaint(text: str) -> None:
    assert "tf-cpu-only-package" in said(judged(text))[1]


def test_a_message_full_of_numbers_is_somebodys() -> None:
    """Little words hold it together; a program's line has them, too, after its name."""
    told = "GPU-Util 0..90..0 on 2 V100 with TF-2.9, NFS/JPG from 1 server: 300 img/s and P0, 1530 MHz"
    assert alike.is_people([told], titled=False, message=True)
    assert not alike.is_people([told], titled=False)
    assert not alike.is_people([f"ERROR: {told}"], titled=False, message=True)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("I pulled the container of a project and started it with the line of its readme, which names all GPUs. Docker on this Debian box says that the runtime name is unknown or invalid. What is missing?", "container-toolkit-missing"),
        ("As a novice I started the GPU variant of a service by its compose file in docker, and it refuses, since a runtime called nvidia is unknown. What needs preparing?", "container-toolkit-missing"),
        ("We run a container with tensorflow, and it stays on the CPU", "container-no-gpus-flag"),
    ],
)  # fmt: skip
def test_a_container_is_given_no_gpu_where_nothing_else_is_meant(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize("ends", ["ends with a status about an invalid kernel image", "is refused"])
def test_who_says_what_is_refused_does_not_praise(ends: str) -> None:
    text = f"On our new Ampere node even a constant {ends}, TensorFlow is 2.2. The same environment works on the older Volta node."
    assert first(text) == "gpu-too-new-for-build"
