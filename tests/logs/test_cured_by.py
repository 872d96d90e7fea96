"""A command and the word that it helped stand in different lines."""

from __future__ import annotations

import pytest

from gpudoctor.logs.cured_by import Apart
from gpudoctor.logs.notebook import Notebook
from tests.logs.judged import first

COMMANDS = [
    ("export LD_LIBRARY_PATH=/usr/local/lib/python3.11/site-packages/nvidia/cudnn/lib/:$LD_LIBRARY_PATH", "pip-nvidia-libs-not-found"),
    ("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH", "wsl-libcuda-path"),
    ("export LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64", "ld-library-path-not-set"),
    ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', "cuda-visible-devices-wrong"),
    ("sudo nvidia-ctk runtime configure --runtime=docker", "container-runtime-not-default"),
    ("sudo apt-get install -y nvidia-container-toolkit", "container-toolkit-missing"),
    ("docker run --rm --gpus all tensorflow/tensorflow:latest-gpu", "container-no-gpus-flag"),
    ("sudo rmmod nvidia_uvm", "cuinit-unknown-after-suspend"),
    ("sudo nvidia-modprobe -u -c=0", "cuinit-uvm-device-missing"),
    ("sudo systemctl enable --now nvidia-fabricmanager", "fabric-manager-not-running"),
    ("sudo prime-select nvidia", "optimus-gpu-powered-off"),
    ("sudo mokutil --disable-validation", "driver-secure-boot"),
    ('pip install "numpy<2"', "numpy-abi-break"),
    ("pip install protobuf==3.20.3", "protobuf-mismatch"),
    ("python3 -m pip install tensorflow[and-cuda]", "cuda-libs-missing"),
]  # fmt: skip


def cured(*lines: str) -> str:
    """The cause that lines tell the cure of; '': none."""
    reader, notes = Apart(), Notebook()
    told = (reader.line(text, number, notes) for number, text in enumerate(lines, 1))
    return next((one.values["cause"] for one in told if one is not None), "")


@pytest.mark.parametrize(("command", "cause"), COMMANDS)
@pytest.mark.parametrize("said", ["These two lines solved it:", "update: it runs right after", "My solution was:"])
def test_what_is_promised_comes_below(command: str, cause: str, said: str) -> None:
    assert cured(said, "", command) == cause


@pytest.mark.parametrize(("command", "cause"), COMMANDS)
@pytest.mark.parametrize("said", ["Now it works.", "and that was it", "After that everything works", "Fixed!"])
def test_what_is_confirmed_stands_above(command: str, cause: str, said: str) -> None:
    assert cured(command, said) == cause


@pytest.mark.parametrize(
    "lines",
    [
        ("This should have solved it:", COMMANDS[0][0]),
        ("This did not help:", COMMANDS[0][0]),
        ("How is it solved?", COMMANDS[0][0]),
        (COMMANDS[0][0], "and it still does not work"),
        (COMMANDS[0][0], "It works on another machine"),
        ("Solved:", "", "", "", COMMANDS[0][0]),
        ("I also ran", COMMANDS[0][0], "and then rebooted"),
        ("It works now:", "export LD_LIBRARY_PATH=/opt/mine/lib"),
    ],
)
def test_what_tells_no_cure(lines: tuple[str, ...]) -> None:
    assert cured(*lines) == ""


def test_it_goes_first() -> None:
    text = (
        "problem with libcudnn_cnn\n\nUnable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, libcudnn_cnn.so.9, libcudnn_cnn.so}\n"
        "Invalid handle. Cannot load symbol cudnnCreateConvolutionDescriptor\n"
    )
    assert first(text) != "pip-nvidia-libs-not-found"
    assert first(f"{text}update: it runs right after\n{COMMANDS[0][0]}\n") == "pip-nvidia-libs-not-found"
