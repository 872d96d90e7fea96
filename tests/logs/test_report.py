"""What people state of their environment."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts, Unread
from tests.logs.judged import judged, said


def facts(text: str) -> Facts:
    return judged(text).facts


OLD = """\
**System information**
- Have I written custom code (as opposed to using a stock example script provided in TensorFlow): no
- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): {system}
- TensorFlow installed from (source or binary): binary
- **TensorFlow version (use command below)**: v2.4.0-49-g85c8b2a817f 2.4.1
- Python version: 3.8.7
- CUDA/cuDNN version: 11.0 / 8.0.5
- GPU model and memory: RTX 3070, 8 GB
"""
NEW = """\
### TensorFlow version

tf 2.14.0

### OS platform and distribution

{system}

### Python version

3.10.12

### CUDA/cuDNN version

11.8/8.7

### GPU model and memory

_No response_

### Current behavior?

"""


def test_the_forms_of_issue_trackers() -> None:
    old, new = facts(OLD.format(system="Windows 10")), facts(NEW.format(system="Linux Ubuntu 22.04"))
    assert (old.tensorflow.version, old.python.version, old.system.system) == ("2.4.1", "3.8.7", "Windows")
    assert (new.tensorflow.version, new.python.version, new.system.system) == ("2.14.0", "3.10.12", "Linux")
    claims: dict[str, str] = {}
    for event in old.text.said("says"):
        claims |= event.values
    assert (claims["cuda"], claims["cudnn"], claims["gpu"]) == ("11.0", "8.0.5", "RTX 3070")


@pytest.mark.parametrize(
    ("text", "system", "machine"),
    [
        ("PS C:\\work\\nets> pip list", "Windows", None),
        ("Using cached numpy-1.19.5-cp38-cp38-win_amd64.whl (13 MB)", "Windows", "AMD64"),
        ("(tf) C:\\Users\\kim>python train.py", "Windows", None),
        ("(tf) kim@lab3:~/nets$ python train.py", "Linux", None),
        ('  File "/Users/kim/nets/env/lib/python3.9/site-packages/tensorflow/x.py", line 3, in y', "Darwin", None),
        ("macOS-13.4-arm64-arm-64bit", "Darwin", "arm64"),
        ("- OS: Windows 11, WSL2 with Ubuntu 22.04", "Linux", None),
        ("Darwin mini.local 22.5.0 Darwin Kernel Version 22.5.0: root:xnu-8796 arm64", "Darwin", "arm64"),
        ("I run this on a Jetson Orin NX", "Linux", "aarch64"),
        ("platform : linux-64", "Linux", "x86_64"),
    ],
)
def test_systems(text: str, system: str, machine: str | None) -> None:
    got = facts(text).system
    assert got.system == system
    assert machine is None or got.machine == machine


def test_banners() -> None:
    got = facts("Python 3.7.9 (tags/v3.7.9:13c94747c7, Aug 17 2020, 18:58:18) [MSC v.1900 64 bit (AMD64)] on win32\n")
    assert (got.python.version, got.python.bits, got.system.system) == ("3.7.9", 64, "Windows")
    assert (
        facts("Python 3.9.2 (default, Feb 28 2021, 17:03:44) \n[GCC 10.2.1 20210110] on linux\n").system.system
        == "Linux"
    )
    assert facts("ldd (Ubuntu GLIBC 2.31-0ubuntu9.9) 2.31").python.glibc == "2.31"


def test_what_weighs_more() -> None:
    assert facts("- Python version: 3.8\nPython 3.10.4\n").python.version == "3.10.4"
    assert facts("TensorFlow version: 2.5\n>>> tf.__version__\n'2.6.0'\n").tensorflow.version == "2.6.0"
    both = facts("With TensorFlow 2.10 it works, TensorFlow 2.12 does not.")
    assert isinstance(both.tensorflow.version, Unread)
    assert facts("With tf 2.12 it does not. I mean TensorFlow 2.12.0").tensorflow.version == "2.12.0"


def test_questions_and_answers() -> None:
    text = ">>> import tensorflow as tf\n>>> tf.test.is_built_with_cuda()\nTrue\n>>> tf.config.list_physical_devices('GPU')\n[]\n"
    got = facts(text)
    assert got.tensorflow.build.cuda is True
    assert got.tensorflow.devices == ()
    assert facts("print(len(x))\n[]\n").tensorflow.devices != ()
    info = "OrderedDict([('cpu_compiler', '/usr/bin/gcc'), ('cuda_version', '11.2'), ('cudnn_version', '8'), ('is_cuda_build', True)])"
    built = facts(info).tensorflow.build
    assert (built.cuda, built.cuda_version, built.cudnn_version) == (True, "11.2", "8")
    local = '[name: "/device:CPU:0"\ndevice_type: "CPU"\n, name: "/device:GPU:0"\ndevice_type: "GPU"\n]'
    assert facts(local).tensorflow.gpus()
    assert facts('[name: "/device:CPU:0"\ndevice_type: "CPU"\n]').tensorflow.gpus() == ()


CPU = "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"


@pytest.mark.parametrize(
    "text",
    [
        NEW.format(system="Windows 11 22H2") + CPU,
        NEW.format(system="Windows 10") + "The GPU isn't detected at all.",
        "TensorFlow version: latest\nOS: Windows 11\nPython version: 3.12.3\nNum GPUs Available:  0",
        "  Downloading tensorflow-2.15.0-cp311-cp311-win_amd64.whl (2.1 kB)\n" + CPU,
        ">>> tf.__version__\n'2.13.1'\n>>> tf.test.is_built_with_cuda()\nFalse\nC:\\Users\\li\\miniconda3\\envs\\t\\lib\\site-packages\\x",
    ],
)
def test_windows_without_cuda(text: str) -> None:
    assert said(judged(text)) == (["tf-windows-native-cpu-only"], [])


@pytest.mark.parametrize(
    "text",
    [
        OLD.format(system="Windows 10") + CPU,  # 2.4: it has CUDA
        NEW.format(system="Windows 11, inside WSL2") + CPU,
        NEW.format(system="Windows 11") + "In a docker container: \n" + CPU,
        NEW.format(system="Windows 11") + "model.fit is slow",
        NEW.format(system="Ubuntu 22.04") + CPU,
        NEW.format(system="Windows 11") + "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]",
    ],
)
def test_windows_that_is_not_the_reason(text: str) -> None:
    assert "tf-windows-native-cpu-only" not in said(judged(text))[0]


def test_macos() -> None:
    mac = "pip install x/tensorflow-2.15.0-cp311-cp311-macosx_14_0_arm64.whl\n"
    assert said(judged(mac + CPU)) == (["tf-macos-no-cuda"], [])
    lacks = "ERROR: No matching distribution found for tensorflow-gpu==2.4.0\n"
    assert said(judged(lacks + '  File "/Users/kim/v/lib/python3.8/site-packages/x.py", line 3, in y'))[0] == [
        "tf-macos-no-cuda"
    ]
    assert said(judged(NEW.format(system="macOS 13.1") + CPU)) == (["tf-macos-no-cuda"], [])
    assert said(judged("On my MacBook: pip install tensorflow-gpu\nWhich file is it?"))[0] == ["tf-macos-no-cuda"]
    assert said(judged("How do I use the NVIDIA eGPU of my Mac with TensorFlow?"))[0] == ["tf-macos-no-cuda"]
    assert said(judged(NEW.format(system="macOS 13.1") + "model.save fails")) == ([], [])


def test_aarch64() -> None:
    jetson = "Jetson Orin Nano, JetPack 5.1\nPython 3.8.10\n>>> tf.config.list_physical_devices('GPU')\n[]\n"
    assert said(judged(jetson)) == (["tf-aarch64-cpu-only"], [])
    assert said(judged(jetson + "tensorflow==2.11.0+nv23.1\n"))[0] == []
    assert said(judged(jetson + "tf.test.is_built_with_cuda() True"))[0] == []


def test_a_build_without_cuda() -> None:
    asked = ">>> tf.test.is_built_with_cuda()\nFalse\n"
    assert said(judged("OS: Ubuntu 20.04\n" + asked)) == (["tf-cpu-only-package"], [])
    assert said(judged(asked.replace("False", "True"))) == ([], [])


def test_a_healthy_report() -> None:
    assert said(judged(NEW.format(system="Linux Ubuntu 22.04") + "How do I save a model?")) == ([], [])
    assert said(judged(OLD.format(system="Windows 10") + "Loss is nan.")) == ([], [])


@pytest.mark.parametrize("value", ["cuda 11.5 cudnn 8.3.1", "cudnn-windows-x86_64-8.3.1.22 cuda 11.5", "11.5 / 8.3.1"])
def test_cuda_and_cudnn_of_one_field_in_either_order(value: str) -> None:
    (said,) = (e for e in facts(f"- CUDA/cuDNN version: {value}\n").text.said("says"))
    assert said.values == {"cuda": "11.5", "cudnn": "8.3.1"}
