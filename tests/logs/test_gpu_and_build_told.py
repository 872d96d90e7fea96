"""A GPU and a release that do not go together, and those that do."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

FAILS = "InternalError: 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'"


@pytest.mark.parametrize(
    "form", ["GPU: {0}", "- GPU model and memory: {0}, 12GB", "I have a {0}.", "| GPU | {0} |", "My GPU is a {0}"]
)
@pytest.mark.parametrize("card", ["RTX 3090", "RTX 4090", "RTX 3060"])
def test_too_new_and_known(form: str, card: str) -> None:
    text = f"Title: fails\n\n{form.format(card)}\nTensorFlow VERSION\n\n{FAILS}\n\nAny idea?\n"
    assert first(text.replace("VERSION", "1.15")) == "gpu-too-new-for-build"
    assert first(text.replace("VERSION", "2.13.0")) != "gpu-too-new-for-build"
