"""Programs over several processes and machines, second GPUs and set-ups, as people paste and tell of them; and where they tell nothing."""

from __future__ import annotations

import pytest

from gpudoctor.textual import setups
from tests.logs.judged import judged, said

FOUND = "Found device 0 with properties:\nname: Tesla V100-SXM2-16GB major: 7 minor: 0 memoryClockRate(GHz): 1.53\n"
RANK = 'Traceback (most recent call last):\n  File "bench.py", line 41, in <module>\n    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")\n'
BEYOND = "IndexError: list index out of range\n"
TASKS = (
    'os.environ["TF_CONFIG"] = json.dumps({{\n  "cluster": {{\n    "worker": ["{a}:12345", "{b}:23456"]\n  }},\n}})\n'
)
SERVER = "tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server\n"
BOUND = 'E1203 server_chttp2.cc:40] {"description":"Failed to add port to server","os_error":"Address already in use","syscall":"bind"}\n'
MODEL = "ValueError: To call `multi_gpu_model` with `gpus=2`, we expect the following devices to be available: ['/cpu:0', '/gpu:0', '/gpu:1']. However this machine only has: ['/cpu:0'{has}].\n"
SECOND = "My second GPU is not detected\nThe machine has a {a} and a {b}, TensorFlow 2.3\n"
UNKNOWN = "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
DLL = "ImportError: Could not find 'cudnn64_7.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH%\n"
COLAB = (
    "On Colab the GPU was there\nBut after this cell and a restart it switches to the CPU:\n!pip install {package}\n"
)
DLOPEN = (
    "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly\n"
)
RANKS, LOCAL, TAKEN, SMALL = (
    "horovod-more-processes-than-gpus",
    "tf-config-localhost",
    "tf-config-port-taken",
    "gpu-ignored-few-sms",
)
GLIBC, OLD = "glibc-too-old", "gpu-compute-capability-too-old"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # ranks and GPUs
        (FOUND + RANK + BEYOND, RANKS),
        (RANK + BEYOND, None),  # there may be no GPU at all
        (FOUND + RANK + "\n\n\n" + BEYOND, None),
        (FOUND + "config.gpu_options.visible_device_list = str(hvd.local_rank())\nInternalError: 'visible_device_list' listed an invalid GPU id '1' but visible device count is 1\n", RANKS),
        (FOUND + "InternalError: 'visible_device_list' listed an invalid GPU id '1' but visible device count is 1\n", None),
        # addresses
        ("It hangs. This is on machine 1, on machine 2 the index is 1\n" + TASKS.format(a="localhost", b="localhost"), LOCAL),
        ("It hangs on both servers\n" + TASKS.format(a="127.0.0.1", b="127.0.0.1"), LOCAL),
        ("It hangs with two processes\n" + TASKS.format(a="localhost", b="localhost"), None),
        ("It hangs on both servers\n" + TASKS.format(a="10.0.0.4", b="10.0.0.5"), None),
        (BOUND + SERVER + "print(os.environ['TF_CONFIG'])\n", TAKEN),
        (SERVER + "print(os.environ['TF_CONFIG'])\n", None),
        ("OSError: [Errno 98] Address already in use\nTF_CONFIG is not set\n", None),
        # a second GPU
        (SECOND.format(a="RTX 2080", b="GTX 1050 Ti"), SMALL),
        (SECOND.format(a="RTX 2080", b="GTX 1080 Ti"), None),
        (SECOND.format(a="GT 1030", b="GTX 1050"), None),
        # an old system
        ("On CentOS 6.10 I can't import tensorflow 1.8\n", GLIBC),
        ("On CentOS 7.6 I can't import tensorflow 1.8\n", None),
        ("On CentOS 6.10 I can't import tensorflow 2.4\n", None),
        ("On CentOS 6.10 I train with tensorflow 1.8\n", None),
        # what a build does not support any more
        ("Was support for compute capability 5.0 dropped in tensorflow 2.4? I have a GTX 960M\n", OLD),
        ("Is this card no longer supported by tensorflow 2.4? It is a GTX 960M\n", OLD),
        ("Was support for Python 3.6 dropped in tensorflow 2.7? I have a GTX 960M\n", None),
        ("Is this card no longer supported by tensorflow 2.4? It is an RTX 3090\n", None),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    if cause == SMALL:
        roots = [r.cause for r in judged(text).diagnosis.root_causes]
    if cause is None:
        assert not {*roots} & {RANKS, LOCAL, TAKEN, SMALL, GLIBC, OLD}
    else:
        assert roots == [cause]


@pytest.mark.parametrize(
    ("text", "cause", "first"),
    [
        ("It is Windows 10 with Intel UHD Graphics 630\n" + UNKNOWN, "no-nvidia-gpu", True),
        ("It is Windows 10 with a GeForce GTX 1650\n" + UNKNOWN, "no-nvidia-gpu", False),
        ("The page asks for cuDNN 6, which I took\n" + DLL, "cudnn-wrong-major", True),
        ("On Colab:\ncudaGetDevice() failed. Status: cudaGetErrorString symbol not found.\n", "cuda-version-mismatch", True),
        ("At home:\ncudaGetDevice() failed. Status: cudaGetErrorString symbol not found.\n", "cuda-version-mismatch", False),
        ("The GPU is not used by TensorFlow 2.4.0\nconda env, CUDA 11.1 and cuDNN 8.0.5 are installed\n", "cuda-version-mismatch", True),
        ("The GPU is not used by TensorFlow 2.4.0\nconda env, CUDA 11.0 and cuDNN 8.0.5 are installed\n", "cuda-version-mismatch", False),
        ("The guide does not speak of setting a path, so I have not set one\n" + DLOPEN, "ld-library-path-not-set", True),
    ],
)  # fmt: skip
def test_it_goes_first(text: str, cause: str, first: bool) -> None:
    roots, left = said(judged(text))
    assert ([*roots, *left][:1] == [cause]) is first, (roots, left)


@pytest.mark.parametrize(
    ("text", "cause", "speaks"),
    [
        ("The page asks for cuDNN 6, which I took\n" + DLL, "cudnn-wrong-major", True),
        ("The page asks for cuDNN 7, which I took\n" + DLL, "cudnn-wrong-major", False),
        (COLAB.format(package="tensorflow==2.4.0"), "cuda-version-mismatch", True),
        (COLAB.format(package="tensorflow-gpu==1.14"), "cuda-version-mismatch", True),
        (COLAB.format(package="tensorflow==1.14"), "cuda-version-mismatch", False),
        (COLAB.format(package="tensorflow"), "cuda-version-mismatch", False),
    ],
)
def test_what_a_setup_speaks_for(text: str, cause: str, speaks: bool) -> None:
    assert (cause in setups.speaks(judged(text).facts)) is speaks


LOST, INVALID, RANGE = "tf-config-address-unreachable", "tf-config-invalid", "tf-config-task-out-of-range"
STARTED = "2021-02-04 10:40:31.617000: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:427] Started server with target: grpc://10.0.0.4:2222\n"
WAITS = "2021-02-04 10:40:31.617000: I tensorflow/core/distributed_runtime/master.cc:267] CreateSession still waiting for response from worker: /job:worker/replica:0/task:1\n"
CLUSTER = '{{"cluster": {{{chief}"ps": ["p:2222"], "worker": ["b:2222", "c:2222"]}}, "task": {{"type": "worker", "index": 0}}}}'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("MultiWorkerMirroredStrategy hangs on two machines\n\nBoth of them print this, what can I do?\n" + STARTED, LOST),
        ("It is stuck at this line, do I have to open a port?\n" + STARTED, LOST),
        (WAITS, LOST),
        ("MultiWorkerMirroredStrategy does not proceed\n\nEach of two computers waits. The firewall is on.\n", LOST),
        ("TF_CONFIG with two machines: it hangs, the first worker waits for the other one\n", LOST),
        ("ParameterServerStrategy: the coordinator hangs, its workers are on other hosts behind a firewall\n", LOST),
        ("It hangs\n\nTF_CONFIG=" + CLUSTER.format(chief="") + " for the estimator\n", INVALID),
        ("TF_CONFIG has no master, and t2t-trainer hangs\n", INVALID),
        ("train_and_evaluate waits for ever\n\nI did not put a chief into TF_CONFIG.\n", INVALID),
        ('ValueError: If "cluster" is set in TF_CONFIG, it must have one "chief" node.\n', INVALID),
        ('ValueError: The "cluster" in TF_CONFIG must have only one "chief" node.\n', INVALID),
        ('ValueError: If "cluster" is set in TF_CONFIG, task type must be set.\n', INVALID),
        ("ValueError: There must be at most one 'chief' job.\n", INVALID),
        ("ValueError: The `task_id` 2 exceeds the maximum id of worker.\n", RANGE),
        ("ValueError: `task_type` 'worker' not found in cluster_spec.\n", RANGE),
    ],
)  # fmt: skip
def test_processes_that_wait_for_each_other(text: str, cause: str) -> None:
    roots, left = said(judged(text))
    assert [*roots, *left][0] == cause
    assert bool(roots) is text.startswith("ValueError")


@pytest.mark.parametrize(
    "text",
    [
        STARTED + "Epoch 1/3\n70/70 - 3s - loss: 2.2\nEpoch 2/3\n70/70 - 1s - loss: 1.2\n",
        "How do I set TF_CONFIG for two machines?\n",
        "Does MultiWorkerMirroredStrategy work over several machines?\n",
        "MirroredStrategy hangs on two GPUs at the first step\n\nOne GPU works.\n",
        "Horovod on two hosts hangs in the first allreduce\n",
        "It hangs\n\nTF_CONFIG=" + CLUSTER.format(chief='"chief": ["a:2222"], ') + "\n",
    ],
)
def test_nothing_waits_for_another_machine(text: str) -> None:
    roots, left = said(judged(text))
    assert [*roots, *left][:1] not in ([LOST], [INVALID])


def test_windows_has_no_device_nodes() -> None:
    roots, left = said(judged("It is Windows 10 with a GeForce GTX 1650\n" + UNKNOWN))
    assert "cuinit-uvm-device-missing" not in (*roots, *left)
    assert "cuinit-unknown-after-suspend" in (*roots, *left)


@pytest.mark.parametrize(("has", "none"), [("", True), (", '/gpu:0'", False)])
def test_what_a_model_for_several_gpus_finds(has: str, none: bool) -> None:
    facts = judged(MODEL.format(has=has)).facts
    assert (facts.tensorflow.devices == ()) is none


def test_the_form_of_an_issue_does_not_hang() -> None:
    asked = "2. If your question is about hang, did you read this doc (horovod/docs/running.rst)?\n"
    assert not judged(asked).facts.text.said("collective-hangs")
    assert judged("It hangs with horovod on two hosts\n").facts.text.said("collective-hangs")


@pytest.mark.parametrize(
    ("cause", "command"),
    [
        (
            "tf-config-address-unreachable",
            "nc -vz HOST PORT, with each address of TF_CONFIG, from each of the machines",
        ),
        ("tf-config-proxy", "env | grep -i proxy"),
    ],
)
def test_a_text_leaves_the_way_to_other_tasks_open(cause: str, command: str) -> None:
    text = "My ParameterServerStrategy hangs, its workers wait for the ps. TF_CONFIG is set.\n"
    left = {u.cause: (u.why, u.settle) for u in judged(text).unknown}
    assert left[cause] == ("the text does not decide it", command)
