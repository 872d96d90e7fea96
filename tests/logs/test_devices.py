"""The cards and releases that people name."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Unread
from gpudoctor.logs.devices import claims
from gpudoctor.logs.notebook import Notebook
from tests.logs.judged import judged
from tests.logs.test_complaints import first


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("RTX3070, tensorflow-gpu=1.13.1/1.14.0", {"cards": "RTX3070", "tensorflow": "1.13.1 1.14.0"}),
        ("- GPU model and memory: GTX 965m", {"cards": "GTX 965m"}),
        ("- TensorFlow version (use command below): 2.3.0", {"tensorflow": "2.3.0"}),
        ("- TensorFlow version: tensorflow-gpu 2.2.0", {"tensorflow": "2.2.0"}),
        ("TensorFlow version (use command below): v2.4.0-rc2-0-g0b06f2927b 2.4.0-rc2", {"tensorflow": "2.4.0"}),
        ("TF 2.5, 2.6 and 2.7", {"tensorflow": "2.5 2.6 2.7"}),
        ("- CUDA/cuDNN version: 10.1/7.6", {"cuda": "10.1"}),
        ("cudatoolkit=10.0/10.1", {"cuda": "10.0 10.1"}),
        ("on my 4070 Ti", {"cards": "4070 Ti"}),
        ("RTX 3000 series owners", {"cards": "RTX 3090"}),
        ("GTX 1050 and 940MX", {"cards": "GTX 1050|940MX"}),
        ("TensorFlow installed from (source or binary): source", {"own_build": "yes"}),
        ("3080 steps of 4090 in 5070 s", {"cards": "3080"}),
    ],
)
def test_claims(line: str, values: dict[str, str]) -> None:
    understood = claims(line, 1, Notebook())
    assert understood is not None
    assert understood.values == values


@pytest.mark.parametrize(
    "line",
    [
        "2021-01-01 00:00:00.000000: I tensorflow/core/gpu_device.cc:1402] name: GeForce RTX 2070, TF 2.3",
        "| NVIDIA-SMI 455.23.05    Driver Version: 455.23.05    CUDA Version: 11.1     |",
        "nvidia-tensorflow 1.15.4",
        "cuda_dnn.cc:3070 took 30.90 ms",
        "Downloading tensorflow-2.3.0-cp38-cp38-manylinux2010_x86_64.whl",
        "x" * 700 + " RTX 3090",
    ],
)
def test_no_claims(line: str) -> None:
    assert claims(line, 1, Notebook()) is None


def test_words_of_languages_without_spaces_end_where_latin_letters_begin() -> None:
    said = "tensorflow-gpu=1.13.1、keras=2.2.4、显卡A100、cuda=10.0.130。\nBlas GEMM launch failed\n"
    assert first(said) == "gpu-too-new-for-build"


LISTED = ", ".join(f"PhysicalDevice(name='/physical_device:GPU:{n}', device_type='GPU')" for n in range(4))
CREATED = "".join(
    f"I0000 00:00:1795752424.667265    6835 gpu_device.cc:2043] Created device /job:localhost/replica:0/task:0/device:GPU:{n} with 140827 MB memory:  -> device: {n}, name: NVIDIA H200, pci bus id: 0000:00:0{n}.0, compute capability: 9.0a\n"
    for n in range(4)
)


@pytest.mark.parametrize("text", [f"[{LISTED}]\n", f"[{LISTED}]\n{CREATED}", f"{CREATED}[{LISTED}]\n"])
def test_each_gpu_is_counted_once(text: str) -> None:
    listed = judged(text).facts.tensorflow.gpus()
    assert not isinstance(listed, Unread)
    assert len(listed) == 4
    assert all(d.model == "NVIDIA H200" for d in listed) == ("Created" in text)
