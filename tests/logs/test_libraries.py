"""CUDA's libraries: what TensorFlow could not open, against what the text names or shows."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

_LOADER = "2021-03-04 05:06:07.00000{}: {} tensorflow/stream_executor/platform/default/dso_loader.cc:{}] "
_NOT_REGISTERED = (
    "2021-03-04 05:06:07.000009: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1757] Cannot dlopen some GPU libraries. "
    "Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.\n"
    "Skipping registering GPU devices...\n"
)
_CUDA_10_1 = (
    "libcudart.so.10.1", "libcublas.so.10", "libcufft.so.10", "libcurand.so.10", "libcusolver.so.10", "libcusparse.so.10",
    "libcudnn.so.7",
)  # fmt: skip


def lost(*names: str, opened: tuple[str, ...] = ()) -> str:
    """TensorFlow's log where these could not be opened."""
    fine = (f"{_LOADER.format(1, 'I', 49)}Successfully opened dynamic library {name}\n" for name in opened)
    gone = (
        f"{_LOADER.format(2, 'W', 60)}Could not load dynamic library '{name}'; dlerror: {name}: cannot open shared object "
        "file: No such file or directory\n"
        for name in names
    )
    return "".join((*fine, *gone)) + _NOT_REGISTERED


NO_CUDNN = lost("libcudnn.so.8", opened=("libcudart.so.11.0",))
NOTHING = lost(*_CUDA_10_1)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (NO_CUDNN + "ls: cannot access '/usr/local/cuda-11.2/lib64/libcudnn*': No such file or directory\n", "cudnn-missing"),
        (NO_CUDNN + "dpkg-query: no packages found matching libcudnn8\n", "cudnn-missing"),
        (NOTHING + "ls: cannot access '/usr/local/cuda*': No such file or directory\n", "cuda-toolkit-missing"),
        (NOTHING + "dpkg-query: no packages found matching cuda-toolkit-10-1\n", "cuda-toolkit-missing"),
        (NO_CUDNN + "ii  libcudnn7  7.6.5.32-1+cuda10.2  amd64\n", "cudnn-wrong-major"),
        (NO_CUDNN + "cuDNN version: 7.6.5\n", "cudnn-wrong-major"),
        (NOTHING + "Cuda compilation tools, release 11.2, V11.2.152\n", "cuda-version-mismatch"),
        (NOTHING + "drwxr-xr-x  15 root root  4096 Mar  1 09:00 cuda-11.2\n", "cuda-version-mismatch"),
        (
            lost("libcusolver.so.11", opened=("libcudart.so.11.0",)) + "Cuda compilation tools, release 11.0, V11.0.194\n",
            "cuda-version-mismatch",
        ),
        (lost("libcudart.so.10.1") + "/opt/cuda-10.1/lib64/libcudart.so.10.1\n", "ld-library-path-not-set"),
        (
            lost("libcudnn.so.8") + "/srv/env/lib/python3.9/site-packages/nvidia/cudnn/lib/libcudnn.so.8\n",
            "pip-nvidia-libs-not-found",
        ),
        (
            f"{_LOADER.format(1, 'W', 60)}Could not load dynamic library 'libcudnn.so.8'; dlerror: /srv/lib/libcudnn.so.8: file too short\n",
            "cuda-lib-unusable",
        ),
    ],
)  # fmt: skip
def test_what_is_there_decides(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (NO_CUDNN + "cuDNN version: 8.0.4\n", "ld-library-path-not-set"),
        (NOTHING + "Cuda compilation tools, release 10.1, V10.1.243\n", "ld-library-path-not-set"),
    ],
)
def test_the_right_version_decides_nothing(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert (roots, candidates[:1]) == ([], [first])


@pytest.mark.parametrize(
    "text",
    [
        "ls: cannot access '/usr/local/cuda*': No such file or directory\n",
        "dpkg-query: no packages found matching libcudnn8\n",
        "Cuda compilation tools, release 11.2, V11.2.152\ncuDNN version: 7.6.5\n",
    ],
)
def test_where_nothing_is_missed_nothing_is_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])
