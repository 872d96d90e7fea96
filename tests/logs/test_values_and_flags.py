"""Values and flags that do not mean what somebody means by them, and what people state of a driver that is not started."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

TORCH_NONE = "RuntimeError: No CUDA GPUs are available\n"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
TORCH_NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n"
PROMPT = "$ docker run {flags}-it --rm pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime python\n>>> import torch\n>>> torch.cuda.is_available()\n{answer}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # CUDA_VISIBLE_DEVICES takes numbers and UUIDs
        ("services:\n  app:\n    environment:\n      CUDA_VISIBLE_DEVICES: all\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("$ docker run --gpus all -e CUDA_VISIBLE_DEVICES=all app\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = 'cuda:0'\n" + NO_DEVICE, "cuda-visible-devices-wrong"),
        ("export CUDA_VISIBLE_DEVICES=gpu:0\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("services:\n  app:\n    environment:\n      NVIDIA_VISIBLE_DEVICES: all\n" + TORCH_NONE, None),
        ("services:\n  app:\n    environment:\n      CUDA_VISIBLE_DEVICES: 0\n" + TORCH_NONE, None),
        ("export CUDA_VISIBLE_DEVICES=all\nexport CUDA_VISIBLE_DEVICES=0\n" + TORCH_NONE, None),  # which of them is it?
        ("export CUDA_VISIBLE_DEVICES=all\n" + "Found device 0 with properties: \nname: GeForce GTX 1080\n", None),
        ("export CUDA_VISIBLE_DEVICES=all\n" + TORCH_NO_DRIVER, None),
        # no GPU is asked for
        (PROMPT.format(flags="", answer="False"), "container-no-gpus-flag"),
        (PROMPT.format(flags="--gpus 0 ", answer="False"), "container-no-gpus-flag"),
        (PROMPT.format(flags="--gpus '0' ", answer="False"), "container-no-gpus-flag"),
        ("docker run --gpus=0 -p 80:80 worker\n" + TORCH_NO_DRIVER, "container-no-gpus-flag"),
        (PROMPT.format(flags="", answer="True"), None),
        (PROMPT.format(flags="--gpus all ", answer="False"), None),
        ("docker run --gpus '\"device=0\"' -p 80:80 worker\n" + TORCH_NO_DRIVER, None),
        ("docker run --gpus 1 -p 80:80 worker\n" + TORCH_NO_DRIVER, None),
        (">>> torch.cuda.is_available()\nFalse\n", None),
    ],
)  # fmt: skip
def test_what_settings_mean(text: str, cause: str | None) -> None:
    roots, left = said(judged(text))
    assert roots == ([cause] if cause else []), left
