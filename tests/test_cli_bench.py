"""What `gpudoctor bench` is asked for becomes a plan."""

from __future__ import annotations

import pytest

from gpudoctor import cli_bench
from gpudoctor.cli_bench import Asked
from gpudoctor.examine import RESERVED_S, Options
from gpudoctor.kernels import native
from gpudoctor.kernels import tensorflow as in_tensorflow
from gpudoctor.terminal import Backend, UsageError
from tests.running import gpudoctor


def options(asked: Asked) -> Options:
    return cli_bench._options(asked)


def names(asked: Asked) -> list[str]:
    return [native.title(one) for one in options(asked).native]


def test_without_a_name_everything_runs_and_tensorflow_is_left_alone() -> None:
    made = options(Asked())
    assert made.native == native.bench(5)
    assert (made.tensorflow, made.framework) == (False, ())


def test_names_and_patterns() -> None:
    assert set(names(Asked(wanted=("matmul-*",)))) == {
        "matmul-float32",
        "matmul-tf32",
        "matmul-float16",
        "matmul-bfloat16",
        "matmul-float8",
    }
    assert names(Asked(wanted=("copy-pair",), quick=True)) == ["copy-pair"]
    assert names(Asked(wanted=("copy-pair-no-peer",))) == ["copy-pair-no-peer"]


def test_what_prepares_a_kernel_comes_along() -> None:
    assert names(Asked(wanted=("copy-device-to-host",), quick=True)) == ["prepare-copies", "copy-device-to-host"]


def test_backends() -> None:
    both = options(Asked(backend=Backend.ALL))
    assert both.native == native.bench(5)
    assert both.framework == in_tensorflow.ALL
    alone = options(Asked(backend=Backend.TENSORFLOW))
    assert (alone.native, alone.tensorflow) == ((), True)


def test_a_budget_is_handed_on() -> None:
    made = options(Asked(budget_s=8))
    assert made.work_s == 8 - RESERVED_S
    assert made.native == native.bench(5)  # the child chooses, when it knows the GPUs


def test_the_quick_benchmark_has_the_kernels_of_the_standard_level() -> None:
    assert options(Asked(backend=Backend.TENSORFLOW, quick=True)).framework == in_tensorflow.STANDARD
    only = options(Asked(backend=Backend.TENSORFLOW, wanted=("training-*",))).framework
    assert only == ("training-step", "training-step-between", "training-step-mixed")


@pytest.mark.parametrize("gpus", ["x", "", "-1", "0,0", "0;1"])
def test_gpus_that_are_none(gpus: str) -> None:
    with pytest.raises(UsageError, match="name GPUs as CUDA numbers them"):
        options(Asked(gpus=gpus))


def test_some_gpus() -> None:
    assert options(Asked(gpus="1,0")).gpus == (1, 0)


def test_a_kernel_that_there_is_not_is_wrong_usage() -> None:
    done = gpudoctor("bench", "matmul", "copy-sideways")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("gpudoctor: there is no kernel 'matmul'; there are: ")
    assert "prepare-copies" not in done.stderr
