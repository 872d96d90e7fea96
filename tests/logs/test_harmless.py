"""Lines that people worry about: each is known as harmless, and nothing is found in it."""

from __future__ import annotations

import pytest

from gpudoctor.logs.harmless import HARMLESS
from tests.logs.judged import judged, said

_AT = "2024-05-06 07:08:09.101112: "
LINES = {
    "benign-factory": f"{_AT}E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:485] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered",
    "benign-numa": f"{_AT}I tensorflow/stream_executor/cuda/cuda_gpu_executor.cc:939] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero",
    "benign-tensorrt": f"{_AT}W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
    "benign-onednn": f"{_AT}I tensorflow/core/util/port.cc:153] oneDNN custom operations are on. You may see slightly different numerical results",
    "benign-cpu-instructions": f"{_AT}I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.",
    "benign-computation-placer": "E0000 00:00:1740000000.000001    77 computation_placer.cc:177] computation placer already registered. Please check linkage and avoid linking the same target more than once.",
    "benign-absl": "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "benign-container-mode": "Auto-detected mode as 'legacy'",
    "benign-container-cli": "I0405 06:07:08.000009 99 nvc.c:395] dxcore initialization failed, continuing assuming a non-WSL environment",
    "benign-ngc-network": "NOTE: MOFED driver for multi-node communication was not detected.",
    "benign-ngc-compat": "NOTE: CUDA Forward Compatibility mode is ENABLED.\n  version 470.57.02 was detected and compatibility mode is ENABLED.",
    "benign-module-signature": "[    7.1] nvidia: module verification failed: signature and/or required key missing - tainting kernel",
    "benign-module-taints": "[    7.2] nvidia: loading out-of-tree module taints kernel.",
    "benign-wsl-link": "/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",
    "benign-no-nvswitch": "nv-fabricmanager[88]: failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
    "benign-optional-library": f"{_AT}W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory",
    "benign-memory-retried": f"{_AT}W tensorflow/core/common_runtime/bfc_allocator.cc:245] The caller indicates that this is not a failure, but may mean that there could be performance gains",
    "benign-host-allocation": f"{_AT}W tensorflow/core/framework/cpu_allocator_impl.cc:81] Allocation of 737280000 exceeds 10% of free system memory.",
    "benign-driver-compiles": "Relying on driver to perform ptx compilation.",
    "benign-ptxas-newer": f"{_AT}W tensorflow/stream_executor/gpu/asm_compiler.cc:99] *** WARNING *** You are using ptxas 10.1.243, which is older than 9.2.88.",
    "benign-graph-optimizer": f"{_AT}E tensorflow/core/grappler/optimizers/meta_optimizer.cc:961] layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4",
    "benign-retracing": "WARNING:tensorflow:5 out of the last 5 calls to <function f at 0x7f00> triggered tf.function retracing.",
    "benign-delay-kernel": f"{_AT}E external/local_xla/xla/stream_executor/cuda/cuda_timer.cc:86] Delay kernel timed out: measured time has sub-optimal accuracy.",
    "benign-end-of-data": f"{_AT}I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "benign-slow-compile": f"{_AT}E external/local_xla/xla/service/slow_operation_alarm.cc:133] Very slow compile? If you want to file a bug, run with envvar XLA_FLAGS",
    "benign-mlir": f"{_AT}I tensorflow/compiler/mlir/mlir_graph_optimization_pass.cc:185] None of the MLIR Optimization Passes are enabled (registered 2)",
    "benign-xla-service": f"{_AT}I tensorflow/compiler/xla/service/service.cc:168] XLA service 0x55aa initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:",
    "benign-executor-aborts": f"{_AT}I tensorflow/core/common_runtime/executor.cc:1197] [/device:CPU:0] (DEBUG INFO) Executor start aborting (this does not indicate an error and you can ignore this message): CANCELLED",
    "benign-driver-older-than-ptxas": f"{_AT}W external/local_xla/xla/service/gpu/nvptx_compiler.cc:744] The NVIDIA driver's CUDA version is 12.2 which is older than the ptxas CUDA version (12.3.107). Because the driver is older than the ptxas version, XLA is disabling parallel compilation, which may slow down compilation.",
    "benign-architecture-unknown": f"{_AT}W tensorflow/compiler/xla/service/gpu/llvm_gpu_backend/nvptx_backend_lib.cc:105] Unknown compute capability (8, 0) .Defaulting to telling LLVM that we're compiling for sm_75",
    "benign-pool-allocator": f"{_AT}W external/local_tsl/tsl/framework/bfc_allocator.cc:310] Garbage collection: deallocate free memory regions (i.e., allocations) so that we can re-allocate a larger region",
    "benign-ngc-shm": "NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be insufficient for TensorFlow.",
    "benign-slow-callback": "WARNING:tensorflow:Callback method `on_train_batch_end` is slow compared to the batch time (batch time: 0.0131s vs `on_train_batch_end` time: 0.0410s). Check your callbacks.",
    "benign-py-dataset": "/opt/venv/lib/python3.12/site-packages/keras/src/trainers/data_adapters/py_dataset_adapter.py:121: UserWarning: Your `PyDataset` class should call `super().__init__(**kwargs)` in its constructor.",
    "benign-shuffle-buffer": f"{_AT}I tensorflow/core/kernels/data/shuffle_dataset_op.cc:452] ShuffleDatasetV3:1: Filling up shuffle buffer (this may take a while): 120 of 5000",
    "benign-no-tensor-cores": "Your GPU may run slowly with dtype policy mixed_float16 because it does not have compute capability of at least 7.0. Your GPU:",
    "benign-no-nvcc": "bash: nvcc: command not found\n>>> tf.test.is_gpu_available()\nTrue",
    "benign-absent-directory": f"/opt/cuda/extras/CUPTI/lib64 does not exist\n{_AT}I tensorflow/stream_executor/platform/default/dso_loader.cc:49] Successfully opened dynamic library libcudart.so.10.1\n{_AT}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1763] Adding visible gpu devices: 0",
    "benign-smi-shows-all": "$ CUDA_VISIBLE_DEVICES=1 nvidia-smi\nIt shows all the GPUs",
    "benign-renumbered": f"export CUDA_VISIBLE_DEVICES=3\n{_AT}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 15000 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:83:00.0, compute capability: 7.5",
    "benign-no-nvlink": "GPU 0: NVIDIA L4 (UUID: GPU-0a1b)\nGPU 1: NVIDIA L4 (UUID: GPU-0a1c)\nNVML: Unable to retrieve NVLink information as all links are inActive",
    "benign-nvlink-overhead": "GPU0 GPU1 NV4\nUnidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n     0 1290.1  93.11\n     1  93.12 1289.7",
    "benign-smi-cuda": "I have cudatoolkit 11.2 installed.\nnvidia-smi says CUDA 12.4. Training works.",
    "benign-kept-off": f"CUDA_VISIBLE_DEVICES= python3 train.py --job_name=ps\n{_AT}E tensorflow/stream_executor/cuda/cuda_driver.cc:318] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "benign-beyond-a-node": "Each node has 2 GPUs. A pod with 2 GPUs works fine, with 3 GPUs not:\n0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
    "benign-unasked-gpus": "kubernetes: a pod that requests no GPU sees all the GPUs of its node",
    "benign-waited": "Warning  FailedScheduling  34s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\nNormal  Scheduled  19s  default-scheduler  Successfully assigned a/b to node-4",
    "benign-task-manager": "The task manager shows 0% for the GPU\n>>> tf.test.is_gpu_available()\nTrue",
    "benign-adapter": "n1:7:8 [0] NCCL WARN Call to ibv_open_device failed\nn1:7:8 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE ; OOB eth0:10.0.0.7<0>",
    "benign-peer-access": f"{_AT}W tensorflow/stream_executor/cuda/x.cc:100] cannot enable peer access from device ordinal 0",
    "benign-api-of-tf1": "AttributeError: module 'tensorflow' has no attribute 'placeholder'",
    "benign-numpy-warning": "RuntimeWarning: numpy.dtype size changed, may indicate binary incompatibility. Expected 96, got 88",
    "benign-leftover": "WARNING: Ignoring invalid distribution -ensorflow (/srv/v/lib/python3.9/site-packages)",
    "benign-deprecation": "/srv/v/lib/python3.6/site-packages/h5py/__init__.py:36: FutureWarning: Conversion of the second argument of issubdtype is deprecated.",
    "benign-no-gpu-wanted": f"We don't need a GPU here.\n{_AT}E tensorflow/stream_executor/cuda/cuda_driver.cc:318] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "benign-power-cap": "    Clocks Throttle Reasons\n        SW Power Cap                      : Active\n    Power Readings\n        Power Limit                       : 300.00 W\n        Default Power Limit               : 300.00 W",
    "benign-own-error": 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    main()\nKeyError: \'label\'',
}  # fmt: skip


def test_each_has_its_line() -> None:
    assert HARMLESS.keys() - LINES.keys() == {"benign-pcie-idle"}  # nvidia-smi -q; see test_nvidia_smi_query


@pytest.mark.parametrize(("kind", "text"), LINES.items())
def test_it_is_known_and_nothing_is_wrong(kind: str, text: str) -> None:
    report = judged(text + "\n")
    assert report.facts.text.said(kind)
    assert said(report) == ([], [])
    assert not report.diagnosis.unexplained
