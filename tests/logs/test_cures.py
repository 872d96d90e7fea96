"""What somebody did, and it worked, tells what it was; what did not help, what is asked and what another says does not."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged

DONE = {
    "driver-secure-boot": ("disabling Secure Boot in the BIOS", "disabled Secure Boot in the BIOS"),
    "driver-nouveau-conflict": ("blacklisting nouveau", "blacklisted nouveau"),
    "container-no-gpus-flag": ("adding --gpus all to docker run", "added --gpus all to docker run"),
    "container-toolkit-missing": ("installing nvidia-container-toolkit", "installed nvidia-container-toolkit"),
    "container-runtime-not-default": ("setting nvidia as the default runtime", "set nvidia as the default runtime"),
    "cuinit-uvm-device-missing": ("installing nvidia-modprobe", "installed nvidia-modprobe"),
    "device-node-permission": ("adding my user to the video group", "added my user to the video group"),
    "driver-missing": ("installing the NVIDIA driver", "installed the NVIDIA driver"),
    "driver-too-old": ("updating the driver to 535", "updated the driver to 535"),
    "tf-cpu-only-package": ("installing tensorflow-gpu instead", "installed tensorflow-gpu instead"),
    "cuda-version-mismatch": ("downgrading CUDA from 10.1 to 10.0", "downgraded CUDA from 10.1 to 10.0"),
    "cudnn-missing": ("installing cuDNN", "installed cuDNN"),
    "ld-library-path-not-set": ("adding the CUDA bin folder to PATH", "added the CUDA bin folder to PATH"),
    "cuda-visible-devices-empty": ("unsetting CUDA_VISIBLE_DEVICES", "unset CUDA_VISIBLE_DEVICES"),
    "msvc-runtime-missing": ("installing the Visual C++ redistributable", "installed the Visual C++ redistributable"),
    "python-version-unsupported": ("using Python 3.6 instead of 3.7", "used Python 3.6 instead of 3.7"),
    "python-32bit": ("switching to 64-bit Python", "switched to 64-bit Python"),
    "apptainer-no-nv": ("starting singularity with --nv", "started singularity with --nv"),
    "fabric-manager-not-running": ("starting nvidia-fabricmanager", "started nvidia-fabricmanager"),
    "zlibwapi-missing": ("copying zlibwapi.dll next to cuDNN", "copied zlibwapi.dll next to cuDNN"),
}
WORKED = (
    "{doing} solved it.",
    "I {did} and it works now.",
    "Solved: I {did}.",
    "It works after {doing}.",
    "After I {did}, everything works.",
    "The fix was {doing}.",
    "I finally {did} and voila, it worked.",
    "It did not work until I {did}; then the GPU was found again.",
    "I {did}. Now it works.",
)
DID_NOT = (
    "{doing} did not help.",
    "I {did} and it still does not work.",
    "Would {doing} solve it?",
    "People say that {doing} helps.",
    "I {did}, no luck.",
    "Should it work after {doing}?",
)


def text(said: str) -> str:
    return f"TensorFlow does not use my GPU\n\nTraining ran on the CPU and I did not know why. I searched for two days.\n{said}\nWhy is that so?\n"


def said(form: str, cause: str) -> str:
    doing, did = DONE[cause]
    told = form.format(doing=doing, did=did)
    return told[0].upper() + told[1:]


@pytest.mark.parametrize("form", WORKED)
@pytest.mark.parametrize("cause", DONE)
def test_what_worked_tells_what_it_was(cause: str, form: str) -> None:
    events = judged(text(said(form, cause))).facts.text.said("cured")
    assert [e.values["cause"] for e in events] == [cause]


@pytest.mark.parametrize("cause", DONE)
def test_it_is_named_first(cause: str) -> None:
    assert first(text(said(WORKED[1], cause))) == cause


@pytest.mark.parametrize("form", DID_NOT)
@pytest.mark.parametrize("cause", DONE)
def test_what_did_not_or_is_only_asked_tells_nothing(cause: str, form: str) -> None:
    assert not judged(text(said(form, cause))).facts.text.said("cured")


@pytest.mark.parametrize(
    "line",
    [
        "$ docker run --rm --gpus all -v $PWD:/work image nvidia-smi",
        "nvidia-smi is working in the container (docker run --runtime=nvidia).",
        "Note that installing cuDNN is a separate step from installing CUDA, and this DLL is often found in a different directory.",
        "In the video he installs tensorflow-gpu, for him it works.",
        "I did install cuDNN as in the docs, and it worked on Tuesday. Wednesday I added torch.",
        "After updating the driver the GPU is gone.",
    ],
)
def test_a_command_that_works_and_what_others_do_tell_nothing(line: str) -> None:
    assert not judged(text(line)).facts.text.said("cured")
