"""What slows a training down, as profilers, strategies, counters, switches and people say it."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

_BOUND = "Your program is {} input-bound because {}% of the total step time sampled is waiting for input."
_PRECISION = "Only 0.4% of device computation is 16 bit. So you might want to replace more 32-bit Ops by 16-bit Ops to improve performance (if the reduced accuracy is acceptable)."
_T4 = "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13949 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:1e.0, compute capability: 7.5"
_A100 = "Created device /job:localhost/replica:0/task:0/device:GPU:{} with 38000 MB memory:  -> device: {}, name: NVIDIA A100-SXM4-40GB, pci bus id: 0000:0{}:00.0, compute capability: 8.0"
_TWO = "\n".join(_A100.format(i, i, i + 1) for i in range(2))
_MIRRORED = "INFO:tensorflow:Using MirroredStrategy with devices ({})"
_DEVICE = "'/job:localhost/replica:0/task:0/device:{}',"
_TENSOR = 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{gpu="{}",UUID="GPU-0a",device="nvidia0"}} {}'
_UTIL = 'DCGM_FI_DEV_GPU_UTIL{{gpu="{}",UUID="GPU-0a",device="nvidia0"}} {}'
_TABLE = """\
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|   0  Tesla V100-SXM2-16GB           On  | 00000000:00:1B.0 Off |                    0 |
| N/A   55C    P0             210W / 300W |  15508MiB / 16384MiB |     {}%      Default |
|   1  Tesla V100-SXM2-16GB           On  | 00000000:00:1C.0 Off |                    0 |
| N/A   41C    P0              44W / 300W |  15508MiB / 16384MiB |     {}%      Default |
| Processes:                                                                            |
|    0   N/A  N/A      6021      C   python3                                  15504MiB |
|    1   N/A  N/A      {}      C   python3                                  15504MiB |"""
_TOPO = """\
        GPU0    GPU1    CPU Affinity    NUMA Affinity
GPU0     X      NV12    24-47,72-95     1
GPU1    NV12     X      24-47,72-95     1"""

DECIDED = {
    "cpu-starved-input": [
        _BOUND.format("HIGHLY", "71.3"),
        _BOUND.format("MODERATELY", "9.8") + " Therefore, you would need to reduce both the input time and other time.",
        '(1) Your program is HIGHLY input-bound because 44.0% of the total step time\n"Dataloader" has the highest (non-GPU) usage at 40.1%.',
        'The GPU is underutilized: Only 12.5% of the profiled time is spent on GPU kernel operations\n"Dataloader" has the highest (non-GPU) usage at 61.2%. Investigate the dataloading pipeline',
        "This run has high time cost on input data loading. 58.9% of the step time is in DataLoader.",
        _BOUND.format("HIGHLY", "71.3") + "\n" + _PRECISION + "\n" + _T4,
    ],
    "tensor-cores-idle": [
        f"{_T4}\n{_PRECISION}",
        f"{_T4}\n19 ops were eligible to use tensor cores but none are using FP16",
        f"{_TENSOR.format(0, '0.000000')}\n{_UTIL.format(0, 97)}",
    ],
    "single-gpu-silently": [
        _TABLE.format(" 93", "  0", 6021),
        f"{_TWO}\n{_MIRRORED.format(_DEVICE.format('GPU:0'))}",
        f"{_TWO}\nWARNING:tensorflow:There are non-GPU devices in `tf.distribute.Strategy`, not using nccl allreduce.",
        f"{_TWO}\nINFO:tensorflow:Single-worker MultiWorkerMirroredStrategy with local_devices = ('/device:GPU:0',), communication = auto",
    ],
    "h2d-pageable": [
        "The following APIs use PAGEABLE memory which causes asynchronous CUDA memcpy operations to block and be executed synchronously.",
        "Host to device copies are slow, only 3 GB/s\n PAGEABLE Memory Transfers",
    ],
    "numa-misplaced": [
        f"{_TOPO}\npid 811's current affinity list: 0-23,48-71",
        f"numactl --cpunodebind=0 --membind=0 python3 train.py\n{_TOPO}",
        f"physcpubind: 0 1 2 3\n{_TOPO}",
    ],
}  # fmt: skip
NOTHING = [
    "Your program is NOT input-bound because only 0.3% of the total step time sampled is waiting for input.",
    f"{_TWO}\n{_PRECISION}",  # TF32 keeps its tensor cores at work
    _PRECISION,
    f"{_TENSOR.format(0, '0.412')}\n{_UTIL.format(0, 97)}",
    f"{_TENSOR.format(0, '0.000')}\n{_UTIL.format(0, 2)}",
    f"{_TENSOR.format(0, '0.000')}\n{_TENSOR.format(1, '0.300')}\n{_UTIL.format(0, 97)}\n{_UTIL.format(1, 97)}",
    _TABLE.format(" 93", " 88", 6021),
    _TABLE.format(" 93", "  0", 7133),
    f"{_TWO}\n{_MIRRORED.format(_DEVICE.format('GPU:0') + ' ' + _DEVICE.format('GPU:1'))}",
    _MIRRORED.format(_DEVICE.format("GPU:0")),
    "There were no problems detected related to memcpy operations using pageable memory.",
    " PAGEABLE Memory Transfers",
    f"{_TOPO}\npid 811's current affinity list: 0-95",
    f"{_TOPO}\nnumactl --cpunodebind=1 python3 train.py",
    "pid 811's current affinity list: 0-23",
    "TensorFloat-32 will be used for the matrix multiplication. This will only be logged once.",
    "Is a GPU usage of 95-100% good for the card?",
    "Low GPU usage in Task Manager, games are fine",
]
FIRST = {
    "cpu-starved-input": [
        "Low GPU utilization while training",
        "my GPU usage is only 5-10%",
        "Your program COULD be input-bound because 41.2% of the total step time is idle.",
        "The GPU is underutilized: Only 4.1% of the profiled time is spent on GPU kernel operations",
    ],
    "cuda-visible-devices-wrong": [
        "WARNING:tensorflow:Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:localhost/replica:0/task:0/device:GPU:1",
    ],
}


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in DECIDED.items() for text in texts])
def test_what_decides(cause: str, text: str) -> None:
    assert said(judged(f"{text}\n")) == ([cause], [])


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_well_or_tells_nothing(text: str) -> None:
    assert shown(judged(f"{text}\n")) == ([], [])


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in FIRST.items() for text in texts])
def test_what_makes_it_the_likely_one(cause: str, text: str) -> None:
    roots, candidates = said(judged(f"{text}\n"))
    assert (roots, candidates[:1]) == ([], [cause])


def test_one_gpu_of_several_in_words() -> None:
    assert "single-gpu-silently" in said(judged("TensorFlow only uses one of my GPUs\n"))[1]


def test_a_failure_is_another_matter() -> None:
    oom = "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
    for texts in DECIDED.values():
        for text in texts:
            assert not set(said(judged(f"{text}\n{oom}\n"))[0]) & set(DECIDED)


def informed(text: str) -> list[str]:
    return [r.cause for r in judged(f"{text}\n").diagnosis.root_causes]


@pytest.mark.parametrize(
    "text",
    [
        "export NVIDIA_TF32_OVERRIDE=0",
        "ENV NVIDIA_TF32_OVERRIDE 0",
        "NVIDIA_TF32_OVERRIDE=0 python3 train.py",
        "docker run --gpus all -e NVIDIA_TF32_OVERRIDE=0 image",
        "os.environ['NVIDIA_TF32_OVERRIDE'] = '0'",
        ">>> tf.config.experimental.enable_tensor_float_32_execution(False)",
    ],
)
def test_tf32_is_switched_off(text: str) -> None:
    assert informed(text) == ["tf32-off"]
    assert informed(f"{text}\n{_TWO}") == ["tf32-off"]
    assert informed(f"{text}\n{_T4}") == []  # it has none
    assert informed(f"{text}\nTensorFloat-32 will be used for the matrix multiplication.") == []


@pytest.mark.parametrize(
    "text",
    [
        "export NVIDIA_TF32_OVERRIDE=1",
        "NVIDIA_TF32_OVERRIDE is not set",
        "You may call tf.config.experimental.enable_tensor_float_32_execution(False) for exact numbers",
        "tf.config.experimental.enable_tensor_float_32_execution(True)",
    ],
)
def test_tf32_is_not_switched_off(text: str) -> None:
    assert informed(text) == []


def test_tf32_off_idles_the_tensor_cores() -> None:
    assert informed(f"{_TWO}\n{_PRECISION}\nexport NVIDIA_TF32_OVERRIDE=0") == ["tf32-off"]


def test_a_gpu_without_tensor_cores() -> None:
    slow = "Your GPU may run slowly with dtype policy mixed_float16 because it does not have compute capability of at least 7.0."
    assert said(judged(f"{_T4}\n{_PRECISION}\n{slow}\n")) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_MPS_CONNECTION_FAILED: MPS client failed to connect to the MPS control daemon or the MPS server",
        "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_MPS_RPC_FAILURE: the call failed",
        "Unexpected error from cudaGetDeviceCount(). Error 805: MPS client failed to connect to the MPS control daemon or the MPS server",
        "CUDA error: the remote procedural call between the MPS server and the MPS client failed",
        "CUDA error: MPS server is not ready to accept new MPS client requests",
        "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED: the hardware resources required to create MPS client have been exhausted",
        "CUDA error: the hardware resources required to support device connections have been exhausted",
        "CUDA_ERROR_MPS_CLIENT_TERMINATED: the MPS client has been terminated by the server",
    ],
)
def test_a_daemon_that_does_not_take_the_program(text: str) -> None:
    assert said(judged(f"{text}\n")) == (["mps-daemon-stale"], [])


def test_the_words_of_a_daemon_that_works() -> None:
    text = "[2025-01-02 03:04:05.678 Control   811] Starting control daemon using socket /tmp/nvidia-mps/control\n[2025-01-02 03:04:05.678 Control   811] NEW CLIENT 0 from user 1000: Server is not ready, push client to pending list\n"
    assert shown(judged(text)) == ([], [])
