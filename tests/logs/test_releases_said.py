"""A GPU that is gone since another TensorFlow was installed: what goes first by the CUDA of both, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

MISMATCH = "cuda-version-mismatch"


@pytest.mark.parametrize(
    "text",
    [
        "After upgrading tensorflow from 2.0 to 2.1 my GPU is no longer detected",
        "I updated from TF 2.3.1 to 2.4.0 and now no GPU is found, with 2.3.1 it works",
        "TF 2.4 does not see the GPU, 2.3 does",
        "tensorflow-gpu 1.13 can't find my GPU whereas 1.12 works perfectly",
        "downgraded tensorflow 2.5 to 2.4, list_physical_devices('GPU') is [] now",
        "Nach dem Update von TensorFlow 2.0 auf 2.1 wird die GPU nicht mehr erkannt",
        "tf 2.1.0 shows no gpu anymore, 2.0.1 was fine",
        "With the preinstalled tensorflow 2.15 the GPU is found, after pip install tensorflow==2.10 it is not. Colab",
        "keras example runs on the cpu only with tensorflow 1.5, under tensorflow 1.4 my card was used",
        "GPU lost by the update\n\ntf.test.is_gpu_available() is False since TF went from 1.12.0 -> 1.13.1",
        "Mise à jour de tensorflow 2.3 à 2.4: la carte graphique n'est pas reconnue, aucun GPU",
        "tensorflow 升级 2.3 -> 2.4 之后找不到 GPU",
    ],
)
def test_releases_of_another_cuda(text: str) -> None:
    assert first(text) == MISMATCH


@pytest.mark.parametrize(
    "text",
    [
        "GPU not detected since update 2.9 -> 2.10 of tensorflow",
        "GPU worked with tensorflow 2.10, since I upgraded to 2.12 it is not listed (Ubuntu 20.04)",
        "Updating tensorflow to 2.20 broke GPU support, 2.19 worked fine",
    ],
)
def test_releases_of_the_same_cuda_leave_it_open(text: str) -> None:
    roots, candidates = said(judged(text))
    assert roots == []
    assert candidates[0] != MISMATCH
    assert {"cuda-libs-missing", "tf-cpu-only-package"} & {*candidates} or "driver-missing" in candidates


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("After update to tensorflow 2.11 on Windows 10 no GPU any more, 2.10 worked", "tf-windows-native-cpu-only"),
        ("macOS: tensorflow 2.3 found no GPU, now 2.4 does not find one either", "tf-macos-no-cuda"),
        (
            "Since the upgrade from tensorflow 2.3 to 2.4 no GPU is found\n\n2021-03-04 05:06:07.000123: E tensorflow/stream_executor/cuda/cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nCUDA_VISIBLE_DEVICES=-1",
            "cuda-visible-devices-empty",
        ),
    ],
)
def test_what_looks_alike(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "We moved from tensorflow 2.3 to 2.4 and the GPU is used as before. Great work!",
        "The update of the driver from 418.87 to 440.33 went well with tensorflow 2.1",
        "Which is better for the GPU, tensorflow 2.3 or 2.4?",
        "The accuracy is not the same since I went from tensorflow 2.3 to 2.4",
    ],
)
def test_no_gpu_is_gone(text: str) -> None:
    assert first(text) != MISMATCH
