"""Fixed messages of other programs: what each leaves open, and that the same words in another sense show nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

WITHOUT_CUDA = "tf-cpu-only-package"
TOOLKIT = "cuda-toolkit-missing"


@pytest.mark.parametrize("title", ["", "Error when I start the program\n\n"])
@pytest.mark.parametrize(
    ("message", "cause"),
    [
        # builds without CUDA
        ("warning: not compiled with GPU offload support, --gpu-layers option will be ignored", WITHOUT_CUDA),
        ("ValueError: This CTranslate2 package was not compiled with CUDA support", WITHOUT_CUDA),
        ("XGBoostError: [10:00:00] ../common/common.h:239: XGBoost version not compiled with GPU support.", WITHOUT_CUDA),
        ("cv2.error: error: (-216:No CUDA support) The library is compiled without CUDA support in function 'throw_no_cuda'", WITHOUT_CUDA),
        ("MXNetError: [10:00:00] src/storage/storage.cc:119: Compile with USE_CUDA=1 to enable GPU usage", WITHOUT_CUDA),
        ("ValueError: Cannot use GPU because you have installed CPU version PaddlePaddle.", WITHOUT_CUDA),
        ("lightgbm.basic.LightGBMError: GPU Tree Learner was not enabled in this build.", WITHOUT_CUDA),
        ("Unable to initialize backend 'cuda': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'", WITHOUT_CUDA),
        ("UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'CPUExecutionProvider'", WITHOUT_CUDA),
        ("torch                     2.0.0+cpu", WITHOUT_CUDA),
        ("WARNING:absl:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)", WITHOUT_CUDA),
        # no GPU, no driver
        ("RuntimeError: No HIP GPUs are available", "amd-gpu"),
        ("RuntimeError: No CUDA GPUs are available", "cuda-visible-devices-wrong"),
        ("level=INFO source=gpu.go:346 msg=\"no compatible GPUs were discovered\"", "driver-missing"),
        ("warning: no usable GPU found, --gpu-layers option will be ignored", "driver-missing"),
        ("Error: Found no Cycles device of the specified type", "driver-missing"),
        ("CUDA driver initialization failed, you might not have a CUDA gpu.", "driver-missing"),
        ("CudaSupportError: Error at driver init: CUDA driver library cannot be found.", "driver-missing"),
        ("[h264_nvenc @ 0x55d] Cannot load nvcuda.dll", "driver-missing"),
        ("RuntimeError: Unable to load CUDA. Is it installed?", "driver-missing"),
        ("* Device #1: Outdated or broken NVIDIA driver '384.111' detected!", "driver-too-old"),
        ("Error: CUDA Driver version is too old for this version of OptiX", "driver-too-old"),
        ("msg=\"error looking up nvidia GPU memory\" error=\"cuda driver library failed to get device context 999\"", "cuinit-uvm-device-missing"),
        # libraries
        ("NvvmSupportError: libNVVM cannot be found. Do `conda install cudatoolkit`:", TOOLKIT),
        ("LinkerError: libcudadevrt.a not found", TOOLKIT),
        ("NvvmSupportError: No supported GPU compute capabilities found. Please check your cudatoolkit version matches your CUDA version.", "cuda-version-mismatch"),
        ("RuntimeError: Unable to load cuDNN. Is it installed?", "cudnn-missing"),
        ("PreconditionNotMetError: Cannot load cudnn shared library. Cannot invoke method cudnnGetVersion.", "cudnn-missing"),
        ("Failed to load library libonnxruntime_providers_cuda.so with error: libcudnn_adv.so.9: cannot open shared object file: No such file or directory", "cudnn-incomplete-install"),
        ("CuPy failed to load nvrtc64_120_0.dll: FileNotFoundError: Could not find module 'nvrtc64_120_0.dll' (or one of its dependencies).", "cuda-libs-missing"),
        ("RuntimeError: CuPy failed to load libnvrtc.so.11.2: OSError: libnvrtc.so.11.2: cannot open shared object file: No such file or directory", "cuda-libs-missing"),
        ("[W:onnxruntime:Default, onnxruntime_pybind_state.cc:640] Failed to create CUDAExecutionProvider. Please reference https://onnxruntime.ai/docs/", "cuda-version-mismatch"),
        ("* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.", TOOLKIT),
        ("OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.", TOOLKIT),
        ("Exception: >- DeepSpeed Op Builder: Installed CUDA version 12.1 does not match the version torch was compiled with 11.8", "cuda-version-mismatch"),
        ("RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions.", "cuda-version-mismatch"),
        ("ImportError: /site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister", "ld-library-path-wrong-toolkit"),
        ("OSError: [WinError 126] The specified module could not be found. Error loading \"C:\\Lib\\site-packages\\torch\\lib\\fbgemm.dll\" or one of its dependencies.", "msvc-runtime-missing"),
        ("XlaRuntimeError: INTERNAL: RET_CHECK failure (external/xla/xla/service/gpu/gpu_compiler.cc:626) dnn != nullptr", "gpu-memory-handle-alloc"),
        # cards
        ("ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.", "gpu-compute-capability-too-old"),
        ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", "gpu-compute-capability-too-old"),
        ("[E] [TRT] Target GPU SM 120 is not supported by this TensorRT release.", "gpu-too-new-for-build"),
        ("Internal Error (Unsupported SM: 0x809)", "gpu-too-new-for-build"),
        ("Driver temperature threshold met on GPU #3. Expect reduced performance.", "gpu-throttling-thermal"),
        ("traps: llama-run[1907] trap invalid opcode ip:7f2d23f352ac sp:7ffcf9dbfd20 error:0 in libggml-cpu.so[3a2ac]", "cpu-no-avx"),
        # memory
        ("ValueError: Free memory on device (3.63/39.39 GiB) on startup is less than desired GPU memory utilization (0.9, 35.45 GiB).", "gpu-memory-held-by-other-process"),
        ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "gpu-oom-model-or-data"),
    ],
)  # fmt: skip
def test_a_message_alone(message: str, cause: str, title: str) -> None:
    assert first(f"{title}{message}\n") == cause


@pytest.mark.parametrize(
    "message",
    [
        "This build is compiled with CUDA support",
        "Compile with USE_CUDA=0 for a machine without one",
        "Available providers: 'CUDAExecutionProvider, CPUExecutionProvider'",
        "torch 2.0.0+cu118",
        "[E] [TRT] Target GPU SM 30 is not supported by this TensorRT release.",
        "Internal Error (Unsupported SM: 0x305)",
        "traps: game[1907] trap invalid opcode ip:7f2d sp:7ffc error:0 in libgame.so.1[3a2ac]",
    ],
)
def test_words_that_are_alike(message: str) -> None:
    kinds = {e.kind for e in judged(f"{message}\n").facts.text.understood() if e.language == "programs"}
    assert not kinds


def test_a_program_proves_no_cause() -> None:
    assert said(judged("RuntimeError: No CUDA GPUs are available\n"))[0] == []
