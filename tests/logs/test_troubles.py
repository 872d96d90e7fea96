"""What people say of packages, libraries and memory, where no program's line shows it; and what such words must not do."""

from __future__ import annotations

import pytest

from .judged import judged, said


def first(text: str) -> str:
    """The first candidate; 'nothing', or the cause that is certain with '!'."""
    roots, candidates = said(judged(text))
    return f"{roots[0]}!" if roots else candidates[0] if candidates else "nothing"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("No GPU build of tensorflow on aarch64: is a CUDA wheel planned?\n", "tf-aarch64-cpu-only"),
        ("Installing it on arm64 fails, and we want the GPU\n", "tf-aarch64-cpu-only"),
        ("Is there a wheel for aarch64?\n", "tf-aarch64-no-wheel"),
        ("pip install can't be done on the Jetson board\n", "tf-aarch64-no-wheel"),
        ("The package does not install on arm64\n", "tf-aarch64-no-wheel"),
        ("Can TensorFlow use the GPU of a MacBook Pro\n", "tf-macos-no-cuda"),
        ("OS X: which build has GPU support\n", "tf-macos-no-cuda"),
        ("The requirements replace it by the CPU version of tensorflow\n", "tf-cpu-only-package"),
        ("the cpu-only build of keras is installed instead\n", "tf-cpu-only-package"),
        ("With tensorflow installed the CPU is taken although tensorflow-gpu is there\n", "tf-cpu-only-package"),
        ("both tensorflow and tensorflow-gpu are there and it is the CPU that works\n", "tf-cpu-only-package"),
        (
            "Since 1.13 a minimum of 6.0 is asked as compute capability, mine has 5.2\n",
            "gpu-compute-capability-too-old",
        ),
        ("compute capability 3.0 is too low, it says\n", "gpu-compute-capability-too-old"),
        ("libdevice not found with a fresh environment\n", "libdevice-missing"),
        ("XLA can't find libdevice in the new image\n", "libdevice-missing"),
        ("the trainer overwrites CUDA_VISIBLE_DEVICES\n", "cuda-visible-devices-wrong"),
        ("CUDA_VISIBLE_DEVICES is hardcoded in fit.py\n", "cuda-visible-devices-wrong"),
        ("On the shared card mnist consumes almost all device memory\n", "tf-preallocates-all-memory"),
        ("It reserves as much GPU memory as it can, others run there\n", "tf-preallocates-all-memory"),
        ("no process is using the GPU that has the memory of the notebook\n", "gpu-memory-held-by-other-process"),
    ],
)
def test_words(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "tensorflow-metal is slower on the GPU of my MacBook\n",
        "I took the CPU version of tensorflow for this machine\n",
        "TensorFlow does not take all the GPU memory\n",
        "Have it take only as much of the whole GPU memory as needed\n",
        "W0000 00:00:1 nvptx_compiler.cc:930] the loop overwrites CUDA_VISIBLE_DEVICES\n",
        "This runs on the Jetson since yesterday\n",
        "Set CUDA_VISIBLE_DEVICES before the import\n",
        "W0000 nvptx.cc:1] Can't find libdevice directory ${CUDA_DIR}\nEpoch 1/2\n5/5 [====] - 1s 5ms/step\n",
    ],
)
def test_nothing_is_wrong(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_a_line_of_a_program_counts_more() -> None:
    text = "no GPU build of tensorflow on aarch64?\nTypeError: Descriptors cannot not be created directly.\n"
    assert first(text) == "protobuf-mismatch!"


def test_long_lines_are_no_prose() -> None:
    assert said(judged("libdevice not found, " + "and so on " * 60 + "\n")) == ([], [])
    assert said(judged("\n" * 3001 + "libdevice not found\n")) == ([], [])


# ------------------------------------------------------------------- imports

FRAMES = (
    'Traceback (most recent call last):\n  File "train.py", line 2, in <module>\n    import tensorflow as tf\n'
    '  File "/opt/x/lib/python3.9/site-packages/tensorflow/__init__.py", line 41, in <module>\n'
    "    from tensorflow.python.tools import module_util as _module_util\n"
)


def test_a_traceback_that_is_cut() -> None:
    assert first(FRAMES) == "tf-import-broken"
    assert first("a problem with protobuf\n" + FRAMES) == "protobuf-mismatch"
    assert (
        first(FRAMES + '  File "/opt/x/lib/python3.9/site-packages/tensorflow/a_pb2.py", line 6, in <module>\n')
        == "protobuf-mismatch"
    )


def test_a_traceback_with_its_end_is_not_cut() -> None:
    assert first(FRAMES + "ImportError: libcudart.so.9.0: cannot open shared object file\n") == "cuda-version-mismatch"
    assert said(judged(FRAMES.replace("/site-packages/tensorflow/", "/site-packages/other/"))) == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        'KeyError: "Couldn\'t find field google.protobuf.FileOptions.java_x"',
        "[libprotobuf FATAL common.cc:61] This program requires version 3.5.0 of the Protocol Buffer runtime library, but",
    ],
)
def test_protobuf(line: str) -> None:
    assert first(line + "\n") == "protobuf-mismatch!"


def test_no_protobuf_at_all() -> None:
    assert first("ImportError: No module named protobuf\n") == "protobuf-mismatch"


def test_numpy_in_a_text_that_is_cut() -> None:
    text = "downgrade to 'numpy<2' or try to upgrade the affected module.\n" + FRAMES
    assert first(text) == "numpy-abi-break!"


# ------------------------------------------------------------------- libraries

ASKED = "ImportError: libcudart.so.7.5: cannot open shared object file: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (ASKED, "cuda-version-mismatch"),
        (ASKED + "only in the console of PyCharm\n", "ld-library-path-not-set"),
        (ASKED + "it comes with sudo ./train.py\n", "sudo-stripped-environment"),
        ("ImportError libcudnn.so.5 : cannot open shared object file\n", "cudnn-missing"),
        ("libcusolver.so.10 won't load\n", "cuda-version-mismatch"),
        ("Cudnn64_7.dll not found\n", "cudnn-missing"),
        (
            "F cuda_dnn.cc:207] could not find cudnnCreate in cudnn DSO; dlerror: /x/tensorflow/a.so: undefined symbol: cudnnCreate\n",
            "cudnn-missing",
        ),
        (
            "F statusor.h:205] Non-OK-status: could not dlopen DSO: libcupti.so.8.0; dlerror: none\n",
            "ld-library-path-not-set",
        ),
        ("failed initializing StreamExecutor for CUDA device ordinal 0\n", "gpu-memory-held-by-other-process"),
        ("keras and darknet in one program: CUDA Error: out of memory\n", "tf-preallocates-all-memory"),
        (
            "Could not load library libcudnn_cnn_train.so.8. Error: /a/libcudnn_ops_train.so.8: symbol "
            + "x" * 210
            + ", version libcudnn_ops_infer.so.8 not defined in file libcudnn_ops_infer.so.8\n",
            "cudnn-version-mismatch",
        ),
    ],
)
def test_libraries(text: str, cause: str) -> None:
    assert first(text) == cause


def test_a_question_names_the_file_that_is_there() -> None:
    assert (
        first("cudart64_101.dll not found while the folder contains a cudart64_102.dll?\n") == "cuda-version-mismatch!"
    )
    assert first("Could not find cudart64_101.dll. Do I have CUDA 10.2?\n") == "cuda-toolkit-missing"


# ------------------------------------------------------------------- no GPU, by release and system

NO_GPU = "TensorFlow doesn't detect my GPU\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("- TensorFlow version: 1.12.0\n", "tf-cpu-only-package"),
        ("- TensorFlow version: 2.8.0\n", "cuda-libs-missing"),
        ("- TensorFlow version: 2.8.0\n- CUDA version: 10.1\n", "cuda-version-mismatch!"),
        ("- TensorFlow version: 2.12.0\n- CUDA version: 11.8\n", "ld-library-path-not-set"),
        ("- TensorFlow version: 2.16.1\n- CUDA version: 11.8\n", "cuda-version-mismatch"),
        ("- TensorFlow version: 2.16.1\n- CUDA version: 12.3\n", "pip-nvidia-libs-not-found"),
        ("- OS: Windows 10\n- TensorFlow version: 1.12.0\n", "tf-cpu-only-package"),
        ("- OS: Windows 10\n- TensorFlow version: 2.8.0\n", "cuda-version-mismatch"),
        (
            "Cannot assign a device: '/gpu:0' because no devices matching that specification are registered\n- TensorFlow version: 1.4.0\n",
            "tf-cpu-only-package",
        ),
    ],
)
def test_no_gpu(text: str, cause: str) -> None:
    assert first(NO_GPU + text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "I'd like to know whether my GPU is not used or only the CPU\n",
        "How to empty the memory of the unused GPU\n",
        "TensorFlow can't be run on CPU\n",
    ],
)
def test_who_does_not_complain(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_the_pool_in_the_table_is_tensorflows_own() -> None:
    text = (
        "Resource exhausted: OOM when allocating tensor with shape[64,3] on /device:GPU:0 by allocator GPU_0_bfc\n"
        "|   0  GeForce GTX 107...  Off  | 00000000:01:00.0  On |                  N/A |\n"
        "|  0%   61C    P0    58W / 180W |   7940MiB /  8112MiB |      3%      Default |\n"
    )
    assert first(text) == "gpu-oom-model-or-data!"


def test_the_release_behind_its_question() -> None:
    report = judged('Output from `python -c "import tensorflow; print(tensorflow.__version__)"`. 1.4.1\n')
    assert report.facts.tensorflow.version == "1.4.1"


def test_a_card_by_its_bare_number() -> None:
    assert (
        first("GeForce 3070, TensorFlow 1.15\nBlas GEMM launch failed : a.shape=(4, 2)\n") == "gpu-too-new-for-build!"
    )
