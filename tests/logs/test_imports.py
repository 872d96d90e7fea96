"""Why an import fails, in the words of Windows, Linux, Python and TensorFlow."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

FRAMES = (
    "Traceback (most recent call last):\n"
    '  File "{site}tensorflow/python/pywrap_tensorflow.py", line 64, in <module>\n'
    "    from tensorflow.python._pywrap_tensorflow_internal import *\n"
)
LINUX = FRAMES.format(site="/srv/venv/lib/python3.9/site-packages/")
WINDOWS = FRAMES.format(site="D:\\venv\\Lib\\site-packages\\").replace("/", "\\")
NEED = "(required by /srv/venv/lib/python3.9/site-packages/tensorflow/libtensorflow_framework.so.2)"
BROKEN = "\n\nFailed to load the native TensorFlow runtime.\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (WINDOWS + "ImportError: Could not find the DLL(s) 'msvcp140.dll or msvcp140_1.dll'. TensorFlow requires that …", "msvc-runtime-missing"),
        ("ImportError: Could not find 'msvcp140.dll'. TensorFlow requires that this DLL be installed", "msvc-runtime-missing"),
        (LINUX + f"ImportError: /lib64/libm.so.6: version `GLIBC_2.27' not found {NEED}", "glibc-too-old"),
        ("ImportError: /lib64/libc.so.6: version GLIBC_2.17 not found", "glibc-too-old"),
        (LINUX + f"ImportError: /usr/lib64/libstdc++.so.6: version `GLIBCXX_3.4.22' not found {NEED}", "glibc-too-old"),
        ("F tensorflow/core/platform/cpu_feature_guard.cc:37] The TensorFlow library was compiled to use AVX2 instructions, but these aren't available on your machine.", "cpu-no-avx"),
        (">>> import tensorflow as tf\nIllegal instruction (core dumped)", "cpu-no-avx"),
        ("Process finished with exit code -1073741795 (0xC000001D)\n", "cpu-no-avx"),
        (WINDOWS + "ImportError: DLL load failed with error code -1073741795", "cpu-no-avx"),
        ("Could not locate zlibwapi.dll. Please make sure it is in your library path!", "zlibwapi-missing"),
        ('  File "/srv/p/tensorflow/python/pywrap_tensorflow_internal.py", line 114\n    def TFE_ContextOptionsSetAsync(arg1, async):\n                                           ^\nSyntaxError: invalid syntax', "python-version-unsupported"),
        ("ModuleNotFoundError: No module named 'tensorflow.keras'; 'tensorflow' is not a package", "tf-shadowed"),
        ("ImportError: Could not import tensorflow. Do not import tensorflow from its source directory; change directory", "tf-shadowed"),
        ('  File "/home/li/try/tensorflow.py", line 3, in <module>\nAttributeError: module \'tensorflow\' has no attribute \'Variable\'', "tf-shadowed"),
        ("Could not load library zlibwapi.dll. Error code 126. Please verify that the library is built correctly", "zlibwapi-missing"),
        (LINUX + f"ImportError: /lib64/libm.so.6: version `GLIBC_2.23\\' not found {NEED}\\n\\nFailed to load the native TensorFlow runtime.", "glibc-too-old"),
        ("TypeError: Descriptors cannot not be created directly.\nIf this call came from a _pb2.py file", "protobuf-mismatch"),
        ("ImportError: cannot import name 'builder' from 'google.protobuf.internal' (/srv/p/google/protobuf/internal/__init__.py)", "protobuf-mismatch"),
        ("RuntimeError: module compiled against API version 0xf but this version of numpy is 0xd", "numpy-abi-break"),
        ("TypeError: Unable to convert function return value to a Python type! The signature was\n\t() -> handle", "numpy-abi-break"),
        ("A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.1.0 as it may crash.", "numpy-abi-break"),
        ("ModuleNotFoundError: No module named 'tensorflow'", "tf-not-installed"),
    ],
)  # fmt: skip
def test_it_is_stated(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (WINDOWS + "ImportError: DLL load failed: The specified module could not be found.", "msvc-runtime-missing"),
        (WINDOWS + "ImportError: DLL load failed: 找不到指定的模块。", "msvc-runtime-missing"),
        ("ImportError: DLL load failed while importing _pywrap_tensorflow_internal: Das angegebene Modul wurde nicht gefunden.", "msvc-runtime-missing"),
        (WINDOWS + "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed.", "msvc-runtime-missing"),
        (WINDOWS + "ImportError: DLL load failed: %1 is not a valid Win32 application.", "python-32bit"),
        (LINUX + "ImportError: libcublas.so.9.0: wrong ELF class: ELFCLASS32" + BROKEN, "cuda-lib-unusable"),
        (LINUX + "ImportError: /srv/p/tensorflow/libtensorflow_cc.so.2: undefined symbol: _ZTVN3tsl3ProE", "tf-packages-overlap"),
        ("AttributeError: module 'tensorflow' has no attribute '__version__'", "tf-shadowed"),
        ("InvalidArgumentError: No OpKernel was registered to support Op 'CudnnRNN'\nRegistered devices: [CPU, XLA_CPU]", "tf-no-gpu-registered"),
        ("ValueError: Cannot assign a device for operation 'a/b': /device:GPU:0 but available devices are [ /job:x/device:CPU:0 ]", "tf-no-gpu-registered"),
        (LINUX + f"ImportError: /srv/miniconda3/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found {NEED}", "glibc-too-old"),
    ],
)  # fmt: skip
def test_it_may_be(text: str, cause: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == cause


def test_the_frames_of_notebooks() -> None:
    """What fails there is TensorFlow's import."""
    ends = "ImportError: numpy.core.multiarray is missing a part\n"
    for frames in (
        "File ~\\miniconda3\\Lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py:70\n     69 try:\n",
        "d:\\envs\\tf1\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py in <module>\n     57 \n",
        "File /srv/env/lib/python3.11/site-packages/tensorflow/__init__.py:38, in <module>\n",
    ):
        facts = judged("Traceback (most recent call last)\n" + frames + ends).facts
        assert isinstance(facts.tensorflow.import_error, str)
    assert judged("File ~\\miniconda3\\Lib\\site-packages\\tensorflow\\x.py:70\n").facts.system.system == "Windows"


@pytest.mark.parametrize(
    "text",
    [
        "Warp exception: illegal instruction",
        "CUDA error: an illegal instruction was encountered",
        "Xid 13 (illegal instruction)",
        "SM 3: illegal instruction",
        "misaligned address, illegal instruction",
    ],
)
def test_an_illegal_instruction_of_a_gpu(text: str) -> None:
    assert "cpu-no-avx" not in said(judged(f"Serving a model\n{text}\n"))[0]
    assert not any(e.kind == "illegal-instruction" for e in judged(text).facts.text.understood())


def test_an_illegal_instruction_of_something_else() -> None:
    started = "2023-05-01 10:00:00.000001: I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU instructions\n"
    assert said(judged(started + "Illegal instruction (core dumped)"))[0] == []
    arm = "Linux nano 4.9.140-tegra #1 SMP PREEMPT aarch64 aarch64 aarch64 GNU/Linux\n"
    assert said(judged(arm + ">>> import tensorflow\nIllegal instruction (core dumped)"))[0] == []


def test_words_beside_an_import_that_works() -> None:
    made = (
        "2024-05-01 10:00:00.000001: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1928] Created device /job:localhost/"
        "replica:0/task:0/device:GPU:0 with 22000 MB memory:  -> device: 0, name: NVIDIA L4, pci bus id: 0000:00:03.0, compute capability: 8.9\n"
    )  # fmt: skip
    for words in (
        "RuntimeError: module compiled against API version 0xf but this version of numpy is 0xd",
        "Downgrade the protobuf package to 3.20.x or lower.",
    ):
        assert said(judged(made + words))[0] == []
    assert shown(judged("module 'tensorflow' has no attribute 'Session'")) == ([], [])
    assert said(
        judged(
            "File \"/srv/p/site-packages/horovod/tensorflow.py\", line 3, in f\nAttributeError: module 'tensorflow' has no attribute 'Session'"
        )
    ) == ([], [])


SOURCES = """$ python
>>> import tensorflow
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
  File "{0}/__init__.py", line 24, in <module>
    from tensorflow.python import *
  File "{0}/python/__init__.py", line 49, in <module>
    {1}
{2}
"""
LOST = [
    ("from tensorflow.core.framework.graph_pb2 import *", "ImportError: No module named core.framework.graph_pb2"),
    ("from tensorflow.core.framework.graph_pb2 import *", "ModuleNotFoundError: No module named 'tensorflow.core'"),
    ("from tensorflow.python import pywrap_tensorflow", "ImportError: cannot import name 'pywrap_tensorflow'"),
    ("from tensorflow.python.platform import googletest", "ImportError: No module named platform"),
]


@pytest.mark.parametrize("place", ["tensorflow", "/home/li/tensorflow/tensorflow", "/srv/tensorflow-1.4/tensorflow"])
@pytest.mark.parametrize(("statement", "error"), LOST)
def test_the_sources_of_tensorflow_are_imported(place: str, statement: str, error: str) -> None:
    assert said(judged(SOURCES.format(place, statement, error))) == (["tf-shadowed"], [])


@pytest.mark.parametrize(
    "place",
    [
        "/usr/lib/python3/dist-packages/tensorflow",
        "/srv/_python_build/tensorflow/tensorflow",
        "/srv/bazel-bin/tf.runfiles/tensorflow/tensorflow",
    ],
)
@pytest.mark.parametrize(("statement", "error"), LOST)
def test_what_is_installed_or_built_is_no_source_tree(place: str, statement: str, error: str) -> None:
    assert "tf-shadowed" not in said(judged(SOURCES.format(place, statement, error)))[0]


CUT = """my program ends, then I get this error

- TensorFlow version: 1.14.0
- CUDA/cuDNN version: {}

Traceback (most recent call last):
  File "/srv/env/lib/python3.6/site-packages/deepspeech/impl.py", line 14, in swig_import_helper
    return importlib.import_module(mname)
"""


def test_a_traceback_that_is_cut_off_shows_a_failure() -> None:
    assert said(judged(CUT.format("10.1")))[1][0] == "cuda-version-mismatch"
    assert "cuda-version-mismatch" not in said(judged(CUT.format("10.0")))[1]
