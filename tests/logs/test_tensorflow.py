"""TensorFlow's lines of all generations -> events."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpudoctor.facts import LogEvent, TensorFlow
from gpudoctor.logs.tensorflow import LIMIT, read
from gpudoctor.probes import tensorflow
from gpudoctor.probes.ask import Patient
from tests.building import Workshop, put

HERE = Path(__file__).parent
GPU_DEVICE = "tensorflow/core/common_runtime/gpu/gpu_device.cc"


def events(name: str) -> dict[str, LogEvent]:
    return {e.kind: e for e in read((HERE / name).read_text())}


def test_a_healthy_log() -> None:
    got = events("healthy.log")
    assert set(got) == {"device-created", "cudnn-loaded"}
    made = got["device-created"]
    assert (made.severity, made.source) == ("I", "gpu_device.cc:2043")
    assert made.values["pci"] == "0000:00:07.0"
    assert made.values["memory_mb"] == "140829"
    assert made.values["capability"] == "9.0a"


def test_recorded_faults() -> None:
    compat = events("compat-libcuda.log")
    assert compat["cuinit-failed"].values["error"] == "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    assert compat["driver-versions-differ"].values == {"kernel": "580.159.4", "library": "580.95.5"}
    assert events("cvd-empty.log")["visible-devices"].values == {}
    assert events("stub-libcuda.log")["cuinit-failed"].values["number"] == "34"
    lost = events("vlog-plain.log")
    assert lost["library-not-loaded"].values["library"] == "libcusolver.so.11"
    assert "libraries-not-opened" in lost


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        (
            (
                f"2018-10-31 10:35:54.318150: I {GPU_DEVICE}:1469] Ignoring visible gpu device (device: 1, name: Quadro K4000, "
                "pci bus id: 0000:08:00.0, compute capability: 3.0) with Cuda multiprocessor count: 4. The minimum required "
                "count is 8. You can adjust this requirement with the env var TF_MIN_GPU_MULTIPROCESSOR_COUNT."
            ),
            "few-multiprocessors",
            {"device": "1", "name": "Quadro K4000", "pci": "0000:08:00.0", "count": "4", "minimum": "8"},
        ),
        (
            (
                "Ignoring visible gpu device (device: 0, name: Tesla K80, pci bus id: 0000:00:1e.0, compute capability: 3.7) "
                "with Cuda compute capability 3.7. The minimum required Cuda capability is 7.0."
            ),
            "capability-too-old",
            {"device": "0", "name": "Tesla K80", "pci": "0000:00:1e.0", "capability": "3.7", "minimum": "7.0"},
        ),
        (
            (
                "W0000 00:00:1764044088.195750   20660 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries "
                "compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX, which could take 30 "
                "minutes or longer."
            ),
            "no-machine-code",
            {"capability": "12.0"},
        ),
        (
            (
                f"2019-01-01 12:00:00.000000: I {GPU_DEVICE}:1325] Created TensorFlow device (/job:localhost/replica:0/task:0/"
                "device:GPU:0 with 10413 MB memory) -> physical GPU (device: 0, name: GeForce GTX 1080 Ti, pci bus id: "
                "0000:03:00.0, compute capability: 6.1)"
            ),
            "device-created",
            {
                "logical": "/job:localhost/replica:0/task:0/device:GPU:0",
                "memory_mb": "10413",
                "device": "0",
                "name": "GeForce GTX 1080 Ti",
                "pci": "0000:03:00.0",
                "capability": "6.1",
            },
        ),
        (
            (
                "E0508 03:34:06.237713 14701 cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.0.0 but source was compiled "
                "with: 9.1.1.  CuDNN library needs to have matching major version and equal or higher minor version."
            ),
            "cudnn-too-old",
            {"loaded": "9.0.0", "compiled": "9.1.1"},
        ),
        (
            (
                "Loaded runtime CuDNN library: 7003 (compatibility version 7000) but source was compiled with 6021 "
                "(compatibility version 6000)."
            ),
            "cudnn-too-old",
            {"loaded": "7003", "compiled": "6021"},
        ),
        (
            "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
            "cudnn-part-missing",
            {"library": "libcudnn_cnn_infer.so.8", "error": "libnvrtc.so: cannot open shared object file"},
        ),
        (
            (
                "2023-05-06 16:19:54.078575: W tensorflow/compiler/xla/service/gpu/llvm_gpu_backend/gpu_backend_lib.cc:274] "
                "libdevice is required by this HLO module but was not found at ./libdevice.10.bc"
            ),
            "libdevice-missing",
            {"path": "./libdevice.10.bc"},
        ),
        (
            (
                "2023-09-26 23:49:25.317379: W external/xla/xla/stream_executor/gpu/asm_compiler.cc:231] Falling back to the "
                "CUDA driver for PTX compilation; ptxas does not support CC 9.0"
            ),
            "ptxas-too-old",
            {"capability": "9.0"},
        ),
        ("UNAVAILABLE: No PTX compilation provider is available. Neither ptxas/nvlink nor", "ptxas-missing", {}),
        (
            (
                "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no "
                "CUDA-capable device is detected"
            ),
            "cuinit-failed",
            {"error": "CUDA_ERROR_NO_DEVICE", "meaning": "no CUDA-capable device is detected"},
        ),
        (
            "RuntimeError: module compiled against API version 0xf but this version of numpy is 0xd",
            "numpy-abi",
            {"built": "0xf", "found": "0xd"},
        ),
        ("ImportError: numpy.core.multiarray failed to import", "numpy-abi", {}),
        ("TypeError: Descriptors cannot be created directly.", "protobuf-mismatch", {}),
        (
            (
                "W0000 00:00:1.1 5 bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB "
                "(rounded to 1073741824)requested by op Sub"
            ),
            "out-of-memory",
            {"allocator": "GPU_0_bfc", "size": "1.00GiB"},
        ),
        (
            "E tensorflow/stream_executor/cuda/cuda_dnn.cc:328] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
            "handle-failed",
            {"library": "cudnn", "error": "CUDNN_STATUS_INTERNAL_ERROR"},
        ),
        (
            "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: cublas error",
            "handle-failed",
            {"library": "cublas", "error": "cublas"},
        ),
        (
            (
                "2023-12-09 11:22:33.000000: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register "
                "cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered"
            ),
            "benign-factory",
            {"library": "cuDNN"},
        ),
        (
            (
                "2020-01-01 00:00:00.000000: I tensorflow/stream_executor/cuda/cuda_gpu_executor.cc:937] successful NUMA node "
                "read from SysFS had negative value (-1), but there must be at least one NUMA node"
            ),
            "benign-numa",
            {},
        ),
        (
            "'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'",
            "code-rejected",
            {"error": "CUDA_ERROR_INVALID_PTX"},
        ),
    ],
)
def test_forms(line: str, kind: str, values: dict[str, str]) -> None:
    (event,) = read(line)
    assert (event.kind, event.values) == (kind, values)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Epoch 1/10",
        "I0000 00:00:1795203577.194753     947 port.cc:153] oneDNN custom operations are on.",
        (
            "2023-12-17 14:27:12.744715: I tensorflow/core/common_runtime/gpu/gpu_device.cc:2015] Ignoring visible gpu device "
            "(device: 0, name: Radeon RX 7900 XTX, pci bus id: 0000:2d:00.0) with AMDGPU version : gfx1100."
        ),
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert read(line) == ()


def test_equal_events_are_kept_once_and_not_without_end() -> None:
    line = "failed call to cuInit: UNKNOWN ERROR (303)\n"
    assert len(read(line * 9)) == 1
    assert len(read("\n".join(f"Could not load dynamic library 'lib{i}.so'" for i in range(999)))) == LIMIT


def test_the_real_tensorflow_under_a_libcuda_that_refuses(
    tensorflow_directory: Path, workshop: Workshop, tmp_path: Path
) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": "803", "KERAS_HOME": str(tmp_path)}
    answers = Patient((sys.executable,), env).ask([tensorflow.import_task((), 60)], limit_s=60)
    got = tensorflow.read_import(answers, TensorFlow(directory=str(tensorflow_directory)))
    said = got.said("cuinit-failed")
    assert isinstance(said, tuple)
    assert [e.values["error"] for e in said] == ["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"]
    assert isinstance(got.loaded, tuple)
    assert str(tmp_path / "libcuda.so.1") in got.loaded
