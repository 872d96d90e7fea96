"""Signs of a cause that stand in the lines of programs, or in words of other scripts."""

from __future__ import annotations

import pytest

from gpudoctor.logs import alike
from gpudoctor.textual import together
from tests.logs.judged import first, judged, said

P = "2023-02-01 10:00:00.123456: "
NO_GPU = f"{P}I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU instructions\n[]\n"
CREATED = f"{P}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1406] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with {{}} MB memory)\n"
HANDLE = f"{P}E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
FFT = f"{P}E tensorflow/stream_executor/cuda/cuda_fft.cc:223] failed to make cuFFT batched plan:5\n"
COMPAT = "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW\n"
UNSATISFIED = "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.2, please update your driver to a newer version\n"
HELD, HANDLES = "gpu-memory-held-by-other-process", "gpu-memory-handle-alloc"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # Windows
        (
            ("Il ne voit pas ma carte\n\nTensorFlow 2.19, Windows 11, RTX 3070\nWARNING:tensorflow:TensorFlow GPU support is not available on "
            "native Windows for TensorFlow >= 2.11. Even if CUDA/cuDNN are installed, GPU will not be used. Please use WSL2 or the "
            "TensorFlow-DirectML plugin.\n[]\n"),
            "tf-windows-native-cpu-only",
        ),
        ("윈도우에서 GPU 인식 안됨\n\ntensorflow 2.16.1, RTX 3070\n>>> tf.config.list_physical_devices('GPU')\n[]\n", "tf-windows-native-cpu-only"),
        ("tensorflow 2.16.1 は ウィンドウズ で GPU なし\n\nRTX 3070\n>>> tf.config.list_physical_devices('GPU')\n[]\n", "tf-windows-native-cpu-only"),
        # a line that the width of another made look wrapped
        (
            ("tensorflow 2.10 + RTX 3060 Windows, 훈련 시작시 그냥 프로세스가 죽어요\n\nCUDA 11.2, cuDNN 8.4.1 (공식은 8.1인데 더 최신으로). GPU 인식은 됩니다. "
            "Dense만 있는 예제는 되는데 CNN 예제 model.fit 하면:\n\nEpoch 1/10\n2022-10-02 14:55:31.770294: I tensorflow/stream_executor/cuda/"
            "cuda_dnn.cc:384] Loaded cuDNN version 8401\nCould not locate zlibwapi.dll. Please make sure it is in your library path!\n"),
            "zlibwapi-missing",
        ),
        # cuDNN
        ("RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 3, 2) but linked against (8, 0, 3)\n", "cudnn-version-too-old"),
        ("RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 7).\n", "cudnn-wrong-major"),
        # Secure Boot, where the module's own line does not say that the driver does not load
        (
            ("The list is empty\n\n[    7.774015] Loading of module with unavailable key is rejected\nmokutil --sb-state: SecureBoot enabled\n"
            "$ python -c 'import tensorflow as tf; print(tf.config.list_physical_devices(\"GPU\"))'\n[]\n"),
            "driver-secure-boot",
        ),
        # who holds the memory
        ("Does not start on our V100\n\n" + CREATED.format(1190) + HANDLE, HELD),
        ("Does not start on our V100\n\n" + CREATED.format(15000) + HANDLE, HANDLES),
        ("Does not start on our RTX A6000\n\n" + CREATED.format(402) + FFT, HELD),
        # what was asked of CUDA after the container was started all the same
        (f"It needs NVIDIA_DISABLE_REQUIRE=1, else: {UNSATISFIED}{COMPAT}", "cuda-compat-unsupported"),
        (UNSATISFIED, "container-driver-too-old"),
        # the package for CPUs, of TensorFlow 1.x
        (
            ("All on the CPU, why\n\nI did `pip install tensorflow` (1.12.0), Ubuntu 18.04, GTX 1070\nInvalidArgumentError: Cannot assign a device for "
            "operation 'a': Operation was explicitly assigned to /device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/"
            "device:CPU:0 ]. Make sure the device specification refers to a valid device.\n"),
            "tf-cpu-only-package",
        ),
        (
            ("kein Attribut\n\nTraceback (most recent call last):\n  File \"/home/me/kurs/tensorflow.py\", line 5, in <module>\n    sess = tf.Session()\n"
            "AttributeError: module 'tensorflow' has no attribute 'Session'\n"),
            "tf-shadowed",
        ),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "line",
    [
        "E0001 CUDA_ERROR_ILLEGAL_INSTRUCTION: an illegal instruction was encountered",
        "clFinish() fails, and with cuda: illegal instruction",
    ],
)
def test_an_illegal_instruction_of_the_gpu_is_none_of_the_processor(line: str) -> None:
    roots, candidates = said(judged(f"Always on the second card\n\n{line}\n"))
    assert "cpu-no-avx" not in (*roots, *candidates[:1])


@pytest.mark.parametrize(
    ("rates", "is_first"),
    [((("2.60", "1.58"), ("2.12", "1.70")), True), ((("22.60", "11.58"), ("12.12", "21.70")), False)],
)
def test_peers_that_crawl(rates: tuple[tuple[str, str], ...], is_first: bool) -> None:
    (a, b), (c, d) = rates
    table = f"   D\\D     0      1      2\n     0 673.49   {a}   {b}\n     1   {c} 672.33   {d}\n     2   {c}   {b} 673.78\n"
    text = (
        "Training in parallel hangs, A6000\n\nDevice=0 CAN Access Peer Device=1\nDevice=0 CAN Access Peer Device=2\n"
        f"Device=1 CAN Access Peer Device=2\nUnidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n{table}"
    )
    assert together.peers_crawl(judged(text).facts) is is_first


@pytest.mark.parametrize(
    "words", ["그래픽카드가 안 잡혀요", "الكرت لا يعمل مع البرنامج", "การ์ดจอไม่ทำงาน", "η κάρτα δεν φαίνεται"]
)
def test_people_who_write_in_other_scripts(words: str) -> None:
    assert alike.is_people([words])


def test_a_deprecation_is_no_word_of_somebody() -> None:
    assert not alike.is_people(
        ["From train.py:5: The name tf.Session is deprecated. Please use tf.compat.v1.Session instead."], False
    )


DIFFERS = "Failed to initialize NVML: Driver/library version mismatch\n"
MAKES_NONE = "2021-03-02 10:00:00.123456: E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"[Solved] Thanks! A reboot was all that it took\n\n{DIFFERS}", "driver-library-mismatch"),
        (f"Show how much memory is free\n\n### Issue type\n\nFeature Request\n\n{MAKES_NONE}", HANDLES),
        (f"A better message, please\n\nThis is not a bug, I just want it to say more.\n{MAKES_NONE}", HANDLES),
    ],
)
def test_who_reports_no_fault_gets_no_single_cause(text: str, cause: str) -> None:
    roots, candidates = said(judged(text))
    assert (roots, candidates[:1]) == ([], [cause])


@pytest.mark.parametrize(
    "words",
    [
        "It is a bug, I think.",
        "Is this not a bug report for you?",
        "Feature columns don't matter here.",
        "I solved nothing.",
    ],
)
def test_who_reports_one_gets_it(words: str) -> None:
    roots, _ = said(judged(f"nvidia-smi does not work\n\n{words}\n{DIFFERS}"))
    assert roots == ["driver-library-mismatch"]


ONNX = (
    "2024-02-22 17:10:31.118238371 [E:onnxruntime:Default, provider_bridge_ort.cc:1480 TryGetProviderInfo_CUDA] /onnxruntime_src/onnxruntime/core/"
    "session/provider_bridge_ort.cc:1193 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load "
    "library libonnxruntime_providers_cuda.so with error: libcublasLt.so.11: cannot open shared object file: No such file or directory\n"
)


def test_a_library_that_onnxruntime_asks_for() -> None:
    report = judged(f"Which version should I install?\n\nI have cuda 12.2\n{ONNX}")
    (root,) = report.diagnosis.root_causes
    assert root.cause == "cuda-version-mismatch"
    assert root.message == "onnxruntime asks for libcublasLt.so.11, which CUDA 12.2 does not bring."
    assert "onnxruntime-gpu" in root.fixes[0].summary


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "import tensorflow as tf gives ImportError: libcusolver.so.8.0: cannot open shared object file: No such file or directory. CUDA 9.0 is here\n",
            "cuda-version-mismatch",
        ),
        (
            "# Set PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python (but this will use pure-Python parsing and will be much slower)\n\nFirst cell fails\n",
            "protobuf-mismatch",
        ),
        (
            "libcudnn_cnn_infer.so.8 is not loaded\n\nSolved by a link to /usr/lib/wsl/lib/libcuda.so.1, Ubuntu in WSL\nIt works now.\n",
            "wsl-libcuda-path",
        ),
    ],
)
def test_what_stands_in_the_middle_of_a_line(text: str, cause: str) -> None:
    assert first(text) == cause


INSUFFICIENT = "RuntimeError: CUDA failed with error CUDA driver version is insufficient for CUDA runtime version\n"
COMPOSE = "services:\n  whisper:\n    image: lscr.io/linuxserver/faster-whisper:gpu\n    ports:\n      - 10300:10300\n"


def test_a_container_without_gpus_has_no_driver() -> None:
    roots, candidates = said(judged(f"The container of my docker-compose.yml fails\n\n{COMPOSE}{INSUFFICIENT}"))
    assert (roots, candidates[:2]) == ([], ["container-no-gpus-flag", "driver-too-old"])
    roots, _ = said(
        judged(f"The container of my docker-compose.yml fails\n\nThe driver is 390.48\n{COMPOSE}{INSUFFICIENT}")
    )
    assert roots[:1] == ["driver-too-old"]
