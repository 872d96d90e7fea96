"""What PyTorch tells of itself decides: the table of collect_env, a module without CUDA's functions, and vLLM that finds no GPU."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said


def env(cuda: str, sees: str, driver: str = "Could not collect", rocm: str = "N/A", more: str = "") -> str:
    """As `python -m torch.utils.collect_env` prints it, below a title."""
    return (
        "CUDA can't be used\n\n"
        "Collecting environment information...\nPyTorch version: 1.13.1\nIs debug build: False\n"
        f"CUDA used to build PyTorch: {cuda}\nROCM used to build PyTorch: {rocm}\n\n"
        "OS: Debian GNU/Linux 11 (bullseye)\nPython version: 3.9\n"
        f"Is CUDA available: {sees}\nCUDA runtime version: Could not collect\n"
        f"GPU models and configuration: GPU 0: Tesla T4\nNvidia driver version: {driver}\n"
        f"cuDNN version: Could not collect\n{more}"
    )


@pytest.mark.parametrize(("cuda", "driver"), [("10.1.243", "410.104"), ("11.7", "440.33"), ("12.1", "470.82.01")])
@pytest.mark.parametrize("sees", ["No", "False"])
def test_a_driver_that_is_older_than_the_build_needs(cuda: str, driver: str, sees: str) -> None:
    report = judged(env(cuda, sees, driver))
    assert said(report)[0] == ["driver-too-old"]
    assert f"release {driver}" in report.diagnosis.root_causes[0].message


@pytest.mark.parametrize(
    "text",
    [
        env("10.1.243", "Yes", "410.104"),
        env("11.7", "False", "470.82.01"),  # within CUDA 11 any driver from 450 on will do
        env("11.7", "False"),
        env("11.7", "False", "440.33") + env("11.7", "True", "440.33"),
        env("11.7", "False", "440.33").replace("Debian GNU/Linux 11 (bullseye)", "Microsoft Windows 10 Pro"),
    ],
)
def test_no_driver_is_called_too_old(text: str) -> None:
    assert "driver-too-old" not in said(judged(text))[0]


def test_a_build_without_cuda() -> None:
    assert first(env("None", "False", "535.54.03")) == "tf-cpu-only-package"


def test_a_build_of_condas_for_processors() -> None:
    lines = "[conda] blas                      1.0                         mkl\n[conda] mkl                       2019.4                      243\n[conda] mkl_fft                   1.0.14           py37ha843d7b_0\n[conda] pytorch                   1.4.0               py3.7_cpu_0{}    pytorch\n"
    for feature in ("", "  [cpuonly]"):
        assert first(env("None", "False", "535.54.03", more=lines.format(feature))) == "conda-cpu-build"


@pytest.mark.parametrize(
    "text",
    [env("None", "True"), env("None", "False", rocm="5.2.21151"), env("None", "False") + env("11.7", "True", "535.54")],
)
def test_a_build_without_cuda_beside_another(text: str) -> None:
    kinds = {e.kind for e in judged(text).facts.text.understood()}
    assert "torch-built-without" in kinds
    assert "torch-without-cuda" not in kinds


def test_a_module_without_cudas_functions() -> None:
    line = "AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'\n"
    assert first(f"It does not start\n\n{line}") == "tf-cpu-only-package"
    assert first("It starts\n\nhasattr(torch._C, '_cuda_getDeviceCount')  # gives True\n") == ""


VLLM = "RuntimeError: Failed to infer device type\n"


def test_vllm_that_finds_no_gpu() -> None:
    run = "root@ubuntu22:~# docker run {}-p 8000:8000 vllm/vllm-openai:v0.9.1\n"
    assert first(run.format("") + VLLM) == "container-no-gpus-flag"
    assert first(run.format("--gpus all ") + VLLM) != "container-no-gpus-flag"
    assert first(f"vLLM does not start\n\n{VLLM}") == "driver-missing"
