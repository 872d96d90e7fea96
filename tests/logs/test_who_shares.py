"""Who else is on a GPU, in one process or beside it; and what is meant to be so."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

EMPTY = "tf.config.list_physical_devices('GPU') is []\n"
NO_CUDNN = "ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
HANDLE = (
    "E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
)
OOM = "ResourceExhaustedError: OOM when allocating tensor with shape[64,512] and type float on device:GPU:0\n"
MADE = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:GPU:{gpu} with {mb} MB memory:  -> device: {gpu}, name: {card}, pci bus id: 0000:{gpu}5:00.0, compute capability: 8.6\n"
ROW = "|    0   N/A  N/A     41977      C   python3                         {mb}MiB |\n"
NO_DEVICE = "E tensorflow/stream_executor/cuda/cuda_driver.cc:318] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
TORCH = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.90 GiB total capacity; 240.00 MiB already allocated; 12.00 MiB free; 260.00 MiB reserved in total by PyTorch)\n"
PRELOADED, HELD = "cuda-lib-preloaded-by-other-package", "gpu-memory-held-by-other-process"
BOTH = "In one script we first load the keras encoder and then a torch model.\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the order of imports
        ("With pytorch imported ahead of tensorflow it fails with a segmentation error.\n" + EMPTY, PRELOADED),
        ("With pytorch imported ahead of tensorflow there are no errors.\n" + EMPTY, None),
        ("With import torch before tensorflow the GPU list is an empty list.\n" + EMPTY, PRELOADED),
        ("If I import tensorflow first, everything works.\n" + NO_CUDNN, PRELOADED),
        ("It only works when I import tensorflow before cupy.\n" + HANDLE, PRELOADED),
        ("Without importing torch it works.\nLoaded runtime CuDNN library: 8.2.4 but source was compiled with: 8.6.0.\n", PRELOADED),
        ("Reversing the order of the imports fixed it.\n" + HANDLE, PRELOADED),
        ("Importing tensorflow before torch did not help.\n" + NO_CUDNN, None),
        ("Whether I import torch first or tensorflow first, either order fails.\n" + NO_CUDNN, None),
        ("If I import tensorflow first it fails, if I import torch first it fails as well.\n" + NO_CUDNN, None),
        ("Somebody suggested: if you import tensorflow before torch it works. I don't use torch at all.\n" + NO_CUDNN, None),
        ("If I import tensorflow before cv2, will it work?\n" + EMPTY, None),
        ("Without importing cv2 it works the same.\n" + EMPTY, None),
        ("I import torch before tensorflow and it prints no errors, no crash.\n", None),
        ("After importing keras no GPU is used.\n" + EMPTY, None),
        ("Without importing torch the model fits.\n" + OOM, None),
        # memory that another program holds
        (MADE.format(gpu=0, mb=22000, card="A10") + MADE.format(gpu=0, mb=40, card="A10") + HANDLE, HELD),
        (MADE.format(gpu=0, mb=22000, card="A10") + MADE.format(gpu=1, mb=40, card="GT 1030") + HANDLE, None),
        (MADE.format(gpu=0, mb=250, card="RTX 3080") + ROW.format(mb=9100) + OOM, HELD),
        (MADE.format(gpu=0, mb=8000, card="RTX 3080") + ROW.format(mb=8700) + OOM, None),
        ("I have two notebooks open.\n" + MADE.format(gpu=0, mb=140, card="GTX 1080") + HANDLE, HELD),
        ("I have two notebooks open.\n" + MADE.format(gpu=0, mb=7000, card="GTX 1080") + HANDLE, None),
        ("[1]+  Stopped                 python fit.py\n" + OOM, HELD),
        ("I pressed Ctrl+Z and started it again.\n" + OOM, HELD),
        ("In vim I pressed ctrl+z to undo the batch size.\n" + OOM, None),
        ("[1]+  Stopped                 python fit.py\nI killed it with kill %1\n" + OOM, None),
        ("host1 has this, in a cluster of several machines:\n" + MADE.format(gpu=0, mb=78000, card="A100") + "laptop:\n" + MADE.format(gpu=0, mb=2600, card="MX450") + OOM, None),
        ("I stopped it with Ctrl+C and started it again.\n" + OOM, None),
        ("I pressed Ctrl+Z and started it again.\n" + EMPTY, None),
        # TensorFlow and PyTorch in one process
        (BOTH + TORCH, "tf-preallocates-all-memory"),
        ("A torch model on a machine where nobody uses keras.\n" + TORCH, HELD),
        # a device that is not there
        ("I have a single RTX 3060 and use CUDA_VISIBLE_DEVICES=1 as in the book.\n" + EMPTY, "cuda-visible-devices-wrong"),
        ("We have four GPUs and use CUDA_VISIBLE_DEVICES=1 as in the book.\n" + EMPTY, None),
        ("I have a single RTX 3060 and use CUDA_VISIBLE_DEVICES=0 as in the book.\n" + EMPTY, None),
        ("The machine has one RTX 3090 and one RTX 3080, CUDA_VISIBLE_DEVICES=1.\n" + EMPTY, None),
        ("With one GPU it works, with CUDA_VISIBLE_DEVICES=1,2 it lists none.\n" + EMPTY, None),
        ("There is only one GPU left free, so CUDA_VISIBLE_DEVICES=3.\n" + EMPTY, None),
    ],
)  # fmt: skip
def test_who_shares_it(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    if cause is None:
        assert not {PRELOADED, HELD, "tf-preallocates-all-memory", "cuda-visible-devices-wrong"} & set(roots)
    else:
        assert roots[0] == cause


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA_VISIBLE_DEVICES= python3 train.py --job_name=ps --task_index=0\n" + NO_DEVICE, "benign-kept-off"),
        ("CUDA_VISIBLE_DEVICES=-1 so that it leaves the GPU to the trainer.\n" + NO_DEVICE, "benign-kept-off"),
        ("I did not set CUDA_VISIBLE_DEVICES on purpose.\n" + NO_DEVICE, None),
        ("export CUDA_VISIBLE_DEVICES=1 so that it doesn't disturb the others\n" + NO_DEVICE, None),
        ("CUDA_VISIBLE_DEVICES= python3 train.py --job_name=ps\nCUDA_VISIBLE_DEVICES=0 python3 train.py --job_name=worker\n" + NO_DEVICE, None),
        ("CUDA_VISIBLE_DEVICES= python3 train.py --job_name=worker --task_index=0\n" + NO_DEVICE, None),
        ("I have cudatoolkit 11.2 installed.\nnvidia-smi says CUDA 12.4. Training works and is fast.\n", "benign-smi-cuda"),
        ("I have cudatoolkit 11.2 installed.\nnvidia-smi says CUDA 12.4. Training works on the CPU.\n", None),
        ("I have cudatoolkit 12.2 installed.\nnvidia-smi says CUDA 11.4. Training works and is fast.\n", None),
        ("I have cudatoolkit 11.2 installed.\nnvidia-smi says CUDA 12.4. If it works as expected, is that right?\n", None),
        ("lspci: Speed 2.5GT/s (downgraded), Width x16\nnvidia-smi: P8, 9 W\n", "benign-pcie-idle"),
        ("lspci: Speed 2.5GT/s (downgraded), Width x4 (downgraded)\nnvidia-smi: P8, 9 W\n", None),
        ("lspci: Speed 2.5GT/s (downgraded), Width x16\nnvidia-smi: P0, 290 W\n", None),
        ("PCIe Generation Current: 1, Max: 4. Should I reseat it? Nothing is running on it now.\n", "benign-pcie-idle"),
        ("PCIe Generation Current: 1, Max: 4. Should I reseat it? A training runs on it now.\n", None),
        ("The task manager shows 0% for the GPU, is it used at all?\ntf.test.is_gpu_available() returns True\n", "benign-task-manager"),
        ("The task manager shows 0% for the GPU, is it used at all?\ntf.test.is_gpu_available() returns False\n", None),
        ("TensorFlow does not use my GPU\nThe task manager shows 0% for the GPU\n>>> device_lib.list_local_devices()\n[name: \"/device:CPU:0\"\n, name: \"/device:GPU:0\"\ndevice_type: \"GPU\"\n", "benign-task-manager"),
        ("TensorFlow does not use my GPU\nThe task manager shows 0% for the GPU\n>>> device_lib.list_local_devices()\n[name: \"/device:CPU:0\"\n", None),
        ("Warning  FailedScheduling  34s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\nNormal   Scheduled  19s  default-scheduler  Successfully assigned a/b to node-4\n", "benign-waited"),
        ("Normal   Scheduled  19s  default-scheduler  Successfully assigned a/c to node-4\nWarning  FailedScheduling  34s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n", None),
        ("train-0 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\nNormal   Scheduled  19s  default-scheduler  Successfully assigned a/c to node-4\n", None),
        ("n1:7:8 [0] NCCL WARN Call to ibv_open_device failed\nn1:7:8 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE ; OOB eth0:10.0.0.7<0>\n", "benign-adapter"),
        ("n1:7:8 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/IB\nn1:7:8 [0] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n", None),
        ("LnkSta: Speed 2.5GT/s (downgraded), Width x16\nnvidia-smi during training shows P8, it is very slow\n", None),
        ("n1:7:8 [0] NCCL WARN Call to ibv_open_device failed\nn1:7:8 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.7<0>\n", None),
    ],
)  # fmt: skip
def test_what_is_meant_so(text: str, kind: str | None) -> None:
    report = judged(text)
    harmless = [e.kind for e in report.facts.text.understood() if e.kind.startswith("benign-")]
    if kind is None:
        assert not {
            "benign-kept-off",
            "benign-smi-cuda",
            "benign-pcie-idle",
            "benign-adapter",
            "benign-task-manager",
            "benign-waited",
        } & {*harmless}
    else:
        assert kind in harmless
        assert said(report) == ([], [])


def test_nobody_else_is_there() -> None:
    """Then it is not another process, whatever else it is."""
    room = "InternalError: Failed copying input tensor: Dst tensor is not initialized.\n"
    assert said(judged(room))[1][0] == HELD
    alone = said(judged("Nobody else is using the card.\n" + room))[1]
    assert alone[0] != HELD
    assert alone[-1] == HELD
