"""Another cuDNN than the one that is installed is loaded: of a package that is imported first, or of a directory on the path."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

OLDER = "It ends at the first convolution\nE tensorflow/stream_executor/cuda/cuda_dnn.cc:352] Loaded runtime CuDNN library: 8.7.0 but source was compiled with: 8.9.4.  CuDNN library needs to have matching major version and equal or higher minor version.\n"
TOO_OLD, PRELOADED, PATH = (
    "cudnn-version-too-old",
    "cuda-lib-preloaded-by-other-package",
    "ld-library-path-wrong-toolkit",
)
ORDERS = (
    "import torch\nimport tensorflow as tf\n-> the line above\n\nimport tensorflow as tf\nimport torch\n-> trains\n"
)
WHEEL = "nvidia-cudnn-cu12 8.9.4.25\n"
SET_TO = "LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64:/opt/lib\n"
FILE = "/usr/local/cuda-11.8/lib64/libcudnn.so.8.7.0\n"


@pytest.mark.parametrize(
    "text",
    [
        "If the linter sorts `import tensorflow as tf` down it fails, with tensorflow placed above torch it's fine.\n",
        "It works when tensorflow is imported before torch.\n",
        "Moving the tensorflow import to the top of the file solved it.\n",
        "I put import tensorflow above import torch and the error disappears.\n",
        "When I import torch after tensorflow there are no errors.\n",
        "As soon as TF is imported first everything is fine.\n",
        "The error goes away if I move the tensorflow import above the torch one.\n",
        "Importing CuPy after TensorFlow works.\n",
        ORDERS,
    ],
)
def test_the_order_of_imports_decides(text: str) -> None:
    assert said(judged(OLDER + text)) == ([PRELOADED], [])


@pytest.mark.parametrize(
    "text",
    [
        "Moving the tensorflow import to the top did not help.\n",
        "Should I import tensorflow before torch?\n",
        "Some suggest to put tensorflow above torch, then it works for them.\n",
        "I moved tensorflow to the top of requirements.txt, pip works now.\n",
        "import torch\nimport tensorflow as tf\n",
        "Either order fails:\n" + ORDERS.replace("-> trains\n", ""),
    ],
)
def test_the_order_of_imports_tells_nothing(text: str) -> None:
    assert said(judged(OLDER + text)) == ([TOO_OLD], [])


@pytest.mark.parametrize(("first", "then"), [("tensorrt", "torch"), ("torch", "tensorflow"), ("tensorflow", "torch")])
@pytest.mark.parametrize(
    "told",
    [
        "Segmentation fault if {0} is imported ahead of {1}",
        "My program segfaults if {0} is imported before {1}; with {0} imported after {1} it runs",
        "it crashes when I import {0} before {1}",
        "when importing {1} first it works, but importing {0} first gives an error",
    ],
)
def test_of_two_frameworks_each_may_be_the_first(told: str, first: str, then: str) -> None:
    assert said(judged(told.format(first, then) + "\n"))[0] == [PRELOADED]


@pytest.mark.parametrize(
    "told",
    [
        "it crashes whether I import {0} before {1} or after",
        "do I have to import {0} before {1}?",
    ],
)
def test_whether_it_fails_by_the_order_is_not_told(told: str) -> None:
    assert PRELOADED not in said(judged(told.format("torch", "tensorflow") + "\n"))[0]


def test_both_orders_alone_are_no_fault() -> None:
    assert PRELOADED not in said(judged(ORDERS))[0]


@pytest.mark.parametrize(
    "text",
    [
        WHEEL + SET_TO + FILE,
        SET_TO + "-rwxr-xr-x 1 root root 150200 Feb 1 2023 " + FILE + "pip says nvidia-cudnn-cu12==8.9.4.25\n",
        "cuDNN 8.9.7 is installed by apt\n" + SET_TO + FILE,
        "After unset LD_LIBRARY_PATH it works.\n",
        "Without LD_LIBRARY_PATH everything is fine.\n",
        "Removing /usr/local/cuda from LD_LIBRARY_PATH solved it.\n",
        "With LD_LIBRARY_PATH unset there is no error.\n",
        "The error goes away when I unset LD_LIBRARY_PATH\n",
    ],
)
def test_the_path_leads_to_an_older_cudnn(text: str) -> None:
    assert said(judged(OLDER + text)) == ([PATH], [])


@pytest.mark.parametrize(
    "text",
    [
        SET_TO + FILE,
        WHEEL + SET_TO,
        WHEEL + SET_TO + "/usr/lib/x86_64-linux-gnu/libcudnn.so.8.7.0\n",
        "cuDNN 8.8.1 is installed by apt\n" + SET_TO + FILE,
        "unset LD_LIBRARY_PATH did not help\n",
        "Should I unset LD_LIBRARY_PATH? I hope it works then\n",
        "Without LD_LIBRARY_PATH it does not work either\n",
        "Somebody suggested that it works without LD_LIBRARY_PATH\n",
    ],
)
def test_the_path_does_not_lead_to_it(text: str) -> None:
    assert said(judged(OLDER + text)) == ([TOO_OLD], [])
