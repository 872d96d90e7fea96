"""The platform, the package and the container, told in many ways: each with the release or command that makes it the cause, and with
the one that rules it out."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

_LISTS = "TensorFlow version: {v}\n>>> tf.config.list_physical_devices('GPU')\n[]"


def _report(told: str, shows: str, title: str = "TensorFlow does not use the GPU") -> str:
    return f"{title}\n\n{told}\n\n{shows}\n\nWhat can I do?\n"


WINDOWS = {
    "field": "- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): Windows 10",
    "short": "OS = win11",
    "table": "| OS | Windows 11 |",
    "prose": "I use Windows, not Linux.",
    "prompt": "(tf) C:\\Users\\ana>python train.py",
    "path of CUDA": "set PATH=C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v11.8\\bin;%PATH%",
    "nvidia-smi": "|   0  NVIDIA GeForce RTX 3060      WDDM  | 00000000:01:00.0  On |                  N/A |",
    "conda": "vs2015_runtime            14.34.31931          h4c5c07a_10",
    "conda's file": "  - vs2015_runtime=14.27.29016=h5e58377_2",
    "Chinese": "系统是Windows 10,显卡RTX 3060",
    "glued": "win11系统 RTX3060显卡",
}


@pytest.mark.parametrize("told", WINDOWS.values(), ids=WINDOWS)
def test_windows(told: str) -> None:
    assert first(_report(told, _LISTS.format(v="2.13.0"))) == "tf-windows-native-cpu-only"
    assert first(_report(told, _LISTS.format(v="2.10.0"))) != "tf-windows-native-cpu-only"


@pytest.mark.parametrize(
    "told",
    [
        "I am on Windows 11 and run it in WSL2 (Ubuntu 22.04).",
        "我在Windows 11的WSL2里运行",
        "It works on Windows with 2.10, but not on my Ubuntu machine with an RTX 3060.",
        "I moved from Windows to Ubuntu 22.04 last week.",
        "I use Google Colab from my Windows 10 laptop.",
    ],
)
def test_not_windows_itself(told: str) -> None:
    assert first(_report(told, _LISTS.format(v="2.13.0"))) != "tf-windows-native-cpu-only"


@pytest.mark.parametrize("release", ["2.6.0", "2.10.0"])
def test_a_release_that_pip_is_asked_for_has_cuda_on_windows(release: str) -> None:
    text = _report(
        "I am on Windows 11 and I have a RTX 3060.",
        f"pip install tensorflow=={release}\n\n>>> tf.config.list_physical_devices('GPU')\n[]",
    )
    assert first(text) != "tf-windows-native-cpu-only"


MACOS = {
    "field": "- OS Platform and Distribution: macOS 13.4",
    "sys.platform": ">>> sys.platform\n'darwin'",
    "brew": "brew install python@3.10",
    "Chinese": "mac系统 python 3.9",
    "glued": "我用的是MacBook Pro M1",
}


@pytest.mark.parametrize("told", MACOS.values(), ids=MACOS)
def test_macos(told: str) -> None:
    assert first(_report(told, _LISTS.format(v="2.13.0"))) == "tf-macos-no-cuda"


ARM = {
    "uname -m": "$ uname -m\naarch64",
    "platform.machine": ">>> platform.machine()\n'aarch64'",
    "lscpu": "$ lscpu\nArchitecture:            aarch64\n  CPU op-mode(s):        32-bit, 64-bit",
    "hostnamectl": "Operating System: Ubuntu 22.04.2 LTS\n    Architecture: arm64",
    "a path": "ls /usr/lib/aarch64-linux-gnu/libcuda*\n/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "a package": "tensorflow-cpu-aws           2.13.0",
    "machine": "linux aarch64 machine with an H100",
    "server": "ARM64 Ubuntu server with an NVIDIA L4.",
    "Graviton": "This is an AWS Graviton instance (g5g) with a T4G.",
    "Chinese": "系统是aarch64的Ubuntu 22.04",
}


@pytest.mark.parametrize("told", ARM.values(), ids=ARM)
def test_arm(told: str) -> None:
    assert first(_report(told, _LISTS.format(v="2.13.0"))) == "tf-aarch64-cpu-only"


@pytest.mark.parametrize(
    "told", ["The server is x86_64, not aarch64.", "I also have an ARM server, no problem there; this PC has an i7."]
)
def test_not_arm(told: str) -> None:
    assert first(_report(told, _LISTS.format(v="2.13.0"))) != "tf-aarch64-cpu-only"


_NOT_AVAILABLE = ">>> tf.test.is_gpu_available()\nFalse"
OLD = {
    "pip": "pip install tensorflow=={v}",
    "wheel": "Downloading tensorflow-{v}-cp36-cp36m-manylinux1_x86_64.whl (109.2MB)",
    "Docker": "RUN pip install tensorflow=={v}",
    "poetry": '[tool.poetry.dependencies]\npython = "^3.6"\ntensorflow = "{v}"',
    "environment": "dependencies:\n  - python=3.6\n  - pip:\n    - tensorflow=={v}",
    "list": "$ pip list | grep tensor\ntensorboard          {v}\ntensorflow           {v}",
    "frozen": "$ pip freeze\nabsl-py==0.8.0\ntensorflow=={v}",
}


@pytest.mark.parametrize("told", OLD.values(), ids=OLD)
def test_a_package_for_processors_only(told: str) -> None:
    with_cuda = told.replace("tensorflow", "tensorflow_gpu" if ".whl" in told else "tensorflow-gpu")
    assert first(_report(told.format(v="1.14.0"), _NOT_AVAILABLE)) == "tf-cpu-only-package"
    assert first(_report(told.format(v="2.3.0"), _NOT_AVAILABLE)) != "tf-cpu-only-package"
    assert first(_report(with_cuda.format(v="2.0.0"), _NOT_AVAILABLE)) != "tf-cpu-only-package"


CPU = {
    "pip": "python -m pip install tensorflow_cpu==2.10.0",
    "wheel": "Downloading tensorflow_cpu-2.10.0-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl (183.6 MB)",
    "poetry": "poetry add tensorflow-cpu",
    "uv": "uv add tensorflow-cpu",
    "table": "| tensorflow-cpu | 2.10.0 |",
    "prose": "My requirements pin tensorflow-cpu.",
}


@pytest.mark.parametrize("told", CPU.values(), ids=CPU)
def test_tensorflow_cpu(told: str) -> None:
    assert first(_report(told, _NOT_AVAILABLE)) == "tf-cpu-only-package"


@pytest.mark.parametrize(
    "told",
    [
        "I have tensorflow-gpu 2.4.0, not tensorflow-cpu.",
        "I uninstalled tensorflow-cpu and installed tensorflow-gpu==2.4.0.",
    ],
)
def test_not_tensorflow_cpu(told: str) -> None:
    assert first(_report(told, _NOT_AVAILABLE)) != "tf-cpu-only-package"


CONDA = {
    "list": "tensorflow                2.11.0           {b}_py310h1234567_0    conda-forge",
    "mamba": "  + tensorflow                2.11.0  {b}_py310h1234567_0  conda-forge/linux-64     42kB",
    "explicit": "https://conda.anaconda.org/conda-forge/linux-64/tensorflow-2.11.0-{b}_py310h1234567_0.conda",
    "lock": "- name: tensorflow\n  version: 2.11.0\n  build: {b}_py310h1234567_0",
    "prose": "conda list shows the build {b}_py310h1234567_0 of tensorflow 2.11.0.",
}


@pytest.mark.parametrize("told", CONDA.values(), ids=CONDA)
def test_builds_of_conda(told: str) -> None:
    assert first(_report(told.replace("{b}", "mkl"), _NOT_AVAILABLE)) == "conda-cpu-build"
    assert first(_report(told.replace("{b}", "cuda112"), _NOT_AVAILABLE)) not in (
        "conda-cpu-build",
        "tf-cpu-only-package",
    )


_NO_LIBCUDA = (
    "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; "
    "dlerror: libcuda.so.1: cannot open shared object file: No such file or directory"
)
_NO_SMI = "# nvidia-smi\nbash: nvidia-smi: command not found"
CONTAINERS = {
    "nerdctl": (
        "nerdctl run -it --rm tensorflow/tensorflow:2.10.0-gpu",
        "nerdctl run --gpus all -it --rm tensorflow/tensorflow:2.10.0-gpu",
    ),
    "docker": (
        "docker run -it tensorflow/tensorflow:2.10.0-gpu",
        "docker run --gpus all -it tensorflow/tensorflow:2.10.0-gpu",
    ),
    "compose": (
        "services:\n  tf:\n    image: tensorflow/tensorflow:2.10.0-gpu",
        "services:\n  tf:\n    image: tensorflow/tensorflow:2.10.0-gpu\n    gpus: all",
    ),
    "said": ("I start the container without the --gpus flag.", "I run it in a docker container with --gpus all."),
}


@pytest.mark.parametrize("shows", [_NO_LIBCUDA, _NO_SMI], ids=["libcuda", "nvidia-smi"])
@pytest.mark.parametrize(("without", "asked"), CONTAINERS.values(), ids=CONTAINERS)
def test_containers(without: str, asked: str, shows: str) -> None:
    assert first(_report(without, shows)) == "container-no-gpus-flag"
    assert first(_report(asked, shows)) != "container-no-gpus-flag"


APPTAINER = {
    "command": ("apptainer exec tf.sif python train.py", "apptainer exec --nv tf.sif python train.py"),
    "lines": (
        "apptainer exec \\\n    --bind /data \\\n    tf.sif python train.py",
        "apptainer exec \\\n    --nv \\\n    --bind /data \\\n    tf.sif python train.py",
    ),
    "said": (
        "I run it in a Singularity container without --nv.",
        "I run it in a Singularity container with --nv.",
    ),
}


@pytest.mark.parametrize(("without", "asked"), APPTAINER.values(), ids=APPTAINER)
def test_apptainer(without: str, asked: str) -> None:
    assert first(_report(without, _NO_LIBCUDA)) == "apptainer-no-nv"
    assert first(_report(asked, _NO_LIBCUDA)) not in ("apptainer-no-nv", "container-no-gpus-flag")


@pytest.mark.parametrize(
    ("missing", "here"),
    [
        ("The nvidia container toolkit is not installed on the host.", "The nvidia-container-toolkit is installed."),
        (
            "I have not installed nvidia-docker.",
            "ii  nvidia-container-toolkit  1.14.3-1  amd64  NVIDIA Container toolkit",
        ),
        (
            "docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
            "$ docker info | grep -i runtime\n Runtimes: io.containerd.runc.v2 nvidia runc\n Default Runtime: nvidia",
        ),
    ],
)
def test_the_toolkit(missing: str, here: str) -> None:
    command = "docker run --gpus all -it tensorflow/tensorflow:2.10.0-gpu"
    assert first(_report(command, missing)) == "container-toolkit-missing"
    assert first(_report(command, f"{here}\n\n{_LISTS.format(v='2.10.0')}")) != "container-toolkit-missing"


def test_tensorflow_gpu_that_is_installed_is_not_gone() -> None:
    text = "pip install tensorflow-gpu==2.10.1\nSuccessfully installed tensorflow-gpu-2.10.1"
    assert first(_report(text, ">>> tf.config.list_physical_devices('GPU')\n[]")) != "tensorflow-gpu-package-removed"
