"""A container that was given a part of the host's GPUs: in each form of asking, and of seeing fewer than there are."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged

IMAGE = "tensorflow/tensorflow:2.14.0-gpu"
COMPOSE = "services:\n  tf:\n    image: {}\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              {}\n              capabilities: [gpu]"
ASKED = {
    "count": f"docker run --rm -it --gpus 2 {IMAGE} python train.py",
    "device": f"docker run --rm -it --gpus device=0 {IMAGE} bash",
    "devices": f"docker run --rm -it --gpus '\"device=0,1\"' {IMAGE} bash",
    "variable": f"docker run --rm -it --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=0 {IMAGE} bash",
    "compose": COMPOSE.format(IMAGE, "count: 1"),
    "compose by names": COMPOSE.format(IMAGE, "device_ids: ['0', '1']"),
    "prose": "I start the container with --gpus 2.",
}
SEEN = {
    "list": "My server has four A100. Inside the container TensorFlow only shows 2 of them:\n>>> tf.config.list_physical_devices('GPU')\n[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU'), PhysicalDevice(name='/physical_device:GPU:1', device_type='GPU')]",
    "prose": "The machine has 4 GPUs, but in the container TensorFlow lists only one. On the host nvidia-smi shows all four.",
    "question": "Where are the other GPUs? The host has 8 of them.",
    "share": "Only 2 of 4 GPUs are used in there, and both work.",
    "fewer": "In docker I see fewer GPUs than the host has (4).",
}
CAUSE = "container-has-some-gpus"


def text(asked: str, seen: str) -> str:
    return f"GPUs in a container\n\n{asked}\n\n{seen}\n"


@pytest.mark.parametrize("seen", SEEN.values(), ids=list(SEEN))
@pytest.mark.parametrize("asked", ASKED.values(), ids=list(ASKED))
def test_who_asks_for_some_sees_some(asked: str, seen: str) -> None:
    assert first(text(asked, seen)) == CAUSE


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        (f"docker run --rm -it --gpus all {IMAGE} bash", SEEN["prose"]),
        (f"docker run --rm -it --gpus 2 {IMAGE} bash\ndocker run --gpus all {IMAGE} bash shows the same", SEEN["prose"]),
        (ASKED["count"], "Training works, it takes only 2 hours."),
        (ASKED["count"], "Only one GPU is busy, and:\n>>> tf.config.list_physical_devices('GPU')\n[]"),
        ("python train.py", SEEN["prose"]),
        ("--gpus takes a number: docs", "nvidia-smi shows only 2 GiB in use."),
    ],
)  # fmt: skip
def test_otherwise_it_is_something_else(asked: str, seen: str) -> None:
    named = [r.cause for r in judged(text(asked, seen)).diagnosis.root_causes]
    assert CAUSE not in named
