"""A title that repeats a harmless line, nvidia-smi's CUDA beside that of a build, and a processor with which it works."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

RETRIED = "W tensorflow/core/common_runtime/bfc_allocator.cc:211] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.29GiB. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory were available.\n"
TABLE = "| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |\n"
LISTS = (
    ">>> tf.config.list_physical_devices('GPU')\n[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\n"
)
ROUTINE = "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed.\n"


@pytest.mark.parametrize(
    "text",
    [
        "ran out of memory trying to allocate 2.29GiB, is it bad?\n" + RETRIED + "The loss goes down\n",
        "Allocator (GPU_0_bfc) ran out of memory, but training continues\n" + RETRIED,
        "CUDA 12.8 in nvidia-smi, TF 2.18 wants CUDA 12.5\n" + TABLE + LISTS,
        "CUDA version 12.8 from nvidia-smi and CUDA 12.5 of TF 2.18 differ\n" + TABLE + LISTS,
    ],
)
def test_what_is_asked_about_is_harmless(text: str) -> None:
    assert said(judged(text)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "ran out of memory trying to allocate 2.29GiB and it crashes\n" + RETRIED + "Then the process is killed, it does not work\n",
        "ran out of memory trying to allocate 2.29GiB\n" + RETRIED + "ResourceExhaustedError: OOM when allocating tensor with shape[64,512] and type float on device:GPU:0\n",
        "CUDA 12.2 in nvidia-smi, TF 2.18 wants CUDA 12.5\nCUDA driver version is insufficient for CUDA runtime version\n",
        "CUDA 12.8 in nvidia-smi but TF 2.18 wants 12.5, it finds no GPU\n>>> tf.config.list_physical_devices('GPU')\n[]\n",
    ],
)  # fmt: skip
def test_what_is_asked_about_is_a_fault(text: str) -> None:
    assert said(judged(text)) != ([], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("It is a Pentium G4400. On my office i5-8400 the same environment is ok.\n", True),
        ("Pentium G4560; it works on my i7-7700.\n", True),
        ("On the Celeron G3900 it fails, on an i5-9400F it runs\n", True),
        ("AMD Phenom II X4 here. My laptop with an i7-8750H imports it fine.\n", True),
        ("This PC has a Core 2 Duo E8400, the same wheel works on my brother's Ryzen 5 2600\n", True),
        ("It fails on my i5-8400.\n", False),
        ("An i7-8700 and a Pentium G4400, both fail\n", False),
        ("Pentium G4400 and i5-8400: the same on both\n", False),
        ("On my i5-8400 it does not work\n", False),
    ],
)
def test_it_works_on_a_processor_with_avx(text: str, first: bool) -> None:
    assert (said(judged(ROUTINE + text))[1][0] == "cpu-no-avx") is first


TENSORRT = (
    "2023-04-19 18:24:42.166097: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory\n"
    "2023-04-19 18:24:42.166144: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Cannot dlopen some TensorRT libraries.\n"
)


@pytest.mark.parametrize("asked", ["Will it not use my GPU then?", "Does this mean that it doesn't use the GPU?"])
def test_who_asks_whether_the_gpu_is_not_used_has_no_trouble_yet(asked: str) -> None:
    assert not first(f"A question about the log\n\n{asked}\n\n{TENSORRT}")
    assert first(f"A question about the log\n\nTraining does not use my GPU.\n\n{TENSORRT}")


@pytest.mark.parametrize(
    "lost", ["\u7f3acublas64_11.dll", "\u627e\u4e0d\u5230cublas64_11.dll", "\u6ca1\u627e\u5230 cublas64_11.dll"]
)
def test_a_library_that_is_lost_in_chinese(lost: str) -> None:
    report = judged(
        f"\u62a5\u9519\n\n\u7528\u7684\u662fCUDA 12.6\u548ccuDNN 9.5\n\u8bad\u7ec3\u7684\u65f6\u5019\u8bf4{lost}\n"
    )
    assert any(e.values.get("library") == "cublas64_11.dll" for e in report.facts.text.said("library-not-loaded"))
