"""What fresh reports had in other words: losses that are no number, other vendors' errors, tables of a form."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown
from tests.logs.test_hints import first

NAN = "loss=NaN from the first step on\n"
NO_DOUBT = ("GeForce RTX 3080, cuda 10.1, tensorflow 2.3.0\n", "GTX 3080 with tensorflow 2.3\n")


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("GeForce RTX 3080, cuda 10.1, tensorflow 2.3.0\n", "gpu-too-new-for-build"),
        ("GTX 3080 with tensorflow 2.3\n", "gpu-too-new-for-build"),
        ("With a 3090 it is slow to start, too\n", "gpu-too-new-for-build"),
        ("I have an RTX 3080 and CUDA 11.1 / 10.0\n", "gpu-too-new-for-build"),
        ("GeForce RTX 3080, cuda 11.2, tensorflow 2.6.0\n", "nothing"),
        ("GeForce RTX 2080, cuda 10.1, tensorflow 2.3.0\n", "nothing"),
        ("", "nothing"),
    ],
)
def test_a_loss_that_is_no_number(told: str, cause: str) -> None:
    roots, candidates = shown(judged(told + NAN))
    assert [*roots, *candidates, "nothing"][0] == cause
    assert bool(roots) is (told in NO_DOUBT)  # the card and the CUDA that is too old for it: no doubt is left


def test_a_loss_beside_what_fails() -> None:
    assert first(f"RTX 3080, CUDA 10.1\n{NAN}Error: OOM when allocating tensor\n") != "gpu-too-new-for-build"


def test_an_error_that_was_cut() -> None:
    assert first("Starting. Press Enter to stop.\nError: OOM when allocating tenso") == "gpu-oom-model-or-data"


NO_DEVICES = "Internal: no supported devices found for platform CUDA\n"


@pytest.mark.parametrize(
    ("card", "too_old"), [("Quadro K420", True), ("GeForce GTX 1080", False), ("Tesla K80", False)]
)
def test_a_card_in_the_table_of_a_form(card: str, too_old: bool) -> None:
    text = f"{NO_DEVICES}| OS            | Linux |\n| Hardware spec | GPU Nvidia {card} / CPU Intel i5-4590 4x @ 3.30 GHz |\n"
    assert (first(text) == "gpu-compute-capability-too-old") is too_old


def test_nvidia_smi_works_here_and_is_not_there() -> None:
    asked = "I built the dockerfiles; docker run --gpus all nvidia/cuda:10.1-base nvidia-smi is right:\n"
    table = "> NVIDIA-SMI 450.51.05    Driver Version: 450.51.05    CUDA Version: 11.0\n"
    inside = 'In the notebook !nvidia-smi doesn\'t work either: "/bin/bash: nvidia-smi: command not found"\n'
    assert first(asked + table + inside) == "container-no-gpus-flag"
    assert first(inside) == "driver-missing"


def test_copies_between_gpus_that_differ() -> None:
    assert first("Verification error @ element 1: val = nan, ref = 4.000000\n") == "nccl-p2p-iommu-acs"


def test_podman_knows_no_runtime_of_that_name() -> None:
    assert first('Error: default OCI runtime "nvidia" not found: invalid argument\n') == "container-toolkit-missing"


def test_what_a_gpu_can_show_is_no_list() -> None:
    assert first("the loading is slow and so the GPU can't show what it can\n") == "nothing"
    assert first("the GPU does not show up\n") != "nothing"


_FULL_TABLE = (
    "| NVIDIA-SMI 396.44                 Driver Version: 396.44                    |\n"
    "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "|===============================+======================+======================|\n"
    "|   0  GeForce GTX 108...  Off  | 00000000:04:00.0 Off |                  N/A |\n"
    "| 36%   49C    P2    80W / 250W |  10882MiB / 11178MiB |     26%      Default |\n"
    "|   1  GeForce GTX 108...  Off  | 00000000:06:00.0 Off |                  N/A |\n"
    "| 29%   39C    P2    56W / 250W |  {used}MiB / 11178MiB |     {busy}%      Default |\n"
)


@pytest.mark.parametrize(
    ("used", "busy", "causes"),
    [("10631", " 0", ["single-gpu-silently"]), ("10631", "25", []), ("    2", " 0", []), (" 4100", " 0", [])],
)
def test_a_table_without_processes(used: str, busy: str, causes: list[str]) -> None:
    assert said(judged(_FULL_TABLE.format(used=used, busy=busy)))[0] == causes


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        ("ImportError: Extension horovod.tensorflow has not been built.  If this is not expected, reinstall", ["horovod-without-tensorflow"]),
        ("ModuleNotFoundError: No module named 'horovod'", ["horovod-missing"]),
        ("python: Error while finding module specification for 'horovod.run.task_fn'", ["horovod-missing"]),
        ("Extension horovod.torch has not been built", []),
        ("it is killed with exit code 137, and the memory of the host keeps growing", ["host-memory-leak"]),
        ("exit code 137\n训练时内存不断增长", ["host-memory-leak"]),
        ("训练时显存不断增长", []),
        ("GPU memory keeps growing", []),
    ],
)  # fmt: skip
def test_one_line_that_decides(text: str, causes: list[str]) -> None:
    assert said(judged(text + "\n"))[0] == causes


def test_what_is_killed_may_leak_and_what_grows_may_not_be_killed() -> None:
    assert said(judged("Epoch 3/10\nKilled\n"))[1] == ["cgroup-memory-limit", "host-memory-leak"]
    assert said(judged("the memory usage keeps growing\n"))[0] == []


def test_a_libcuda_that_is_cut_in_a_container_that_was_given_no_gpu() -> None:
    text = (
        ">>> import tensorflow\n"
        "ImportError: /usr/lib/x86_64-linux-gnu/libcuda.so.1: file too short\n"
        "docker run -it f2808fb1dfe9 bash\n"
    )
    assert said(judged(text)) == (["container-no-gpus-flag"], [])


@pytest.mark.parametrize(
    ("told", "first"),
    [("it takes about 5 minutes to start", "jit-cold-start"), ("it does not train", "gpu-too-new-for-build")],
)
def test_a_card_that_is_too_new_and_a_start_that_takes_long(told: str, first: str) -> None:
    assert said(judged(f"RTX 3060 Ti with TensorFlow 2.1, {told}\n"))[1][:1] == [first]


@pytest.mark.parametrize(
    ("told", "causes"),
    [
        ("mixed_float16 gives horrible performance on a GeForce GTX 1660 Ti, TensorFlow 2.3", ["mixed-precision-no-gain"]),
        ("mixed_float16 gives horrible performance on a GeForce RTX 2080 Ti, TensorFlow 2.3", []),
        ("mixed_float16 on a GeForce GTX 1660 Ti, TensorFlow 2.3", []),
    ],
)  # fmt: skip
def test_mixed_precision_on_a_card_without_tensor_cores_is_information(told: str, causes: list[str]) -> None:
    roots = judged(told + "\n").diagnosis.root_causes
    assert [(r.cause, r.level) for r in roots] == [(cause, "info") for cause in causes]
