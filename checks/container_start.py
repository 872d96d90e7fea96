"""Containers that are not started: what docker, podman and nvidia-container-cli say of it. Read from pasted texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor import compat
from gpudoctor.checks._driver_said import decided, in_container
from gpudoctor.checks._handed_over import driver_works
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import Facts, TextEvent
from gpudoctor.findings import Fix, Found, Stage
from gpudoctor.registry import check

_NOT_STARTED = "container-does-not-start"
_NO_GPU = ("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "libcuda-not-found", "nvidia-smi-fails")
_ANY_IMAGE = "docker run --rm --gpus all ubuntu nvidia-smi"
_RUNTIMES = "docker info | grep -i -A2 runtimes; nvidia-ctk --version"
_TOOLKIT = "nvidia-container-cli --version; docker version"
_ON_HOST = "nvidia-smi  # on the host"
_SNAP = "snap list docker; which docker"
_NO_LIBRARY = 12
"""NVML's code: libnvidia-ml.so.1 is not found."""
_ROOT = "nvidia-container-cli info; grep -E 'root|ldconfig' /etc/nvidia-container-runtime/config.toml"


def _with_root(summary: str, *steps: str) -> Fix:
    return Fix(kind="command", risk="needs root", summary=summary, steps=steps, verify=_ANY_IMAGE)


@check("GD620", "container-toolkit-missing", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def container_toolkit_missing(facts: Facts) -> Iterator[Found]:
    """The NVIDIA container toolkit is not installed, or the engine does not know of it.

    What it looks at: in a pasted text, docker's and podman's words for: nobody here can hand over a GPU.

    Why it matters: the engine itself knows nothing of GPUs; the toolkit's runtime or its CDI specification puts the
    driver's nodes and libraries into a container.

    How to fix: install nvidia-container-toolkit on the host, configure the engine with nvidia-ctk, restart it.

    Source: docker's device driver lookup ('could not select device driver'); NVIDIA Container Toolkit, installation guide.
    """
    kinds = ("no-gpu-device-driver", "no-gpu-runtime", "toolkit-absent", "cdi-unresolved")
    told = said(facts, *kinds, settle=_RUNTIMES)
    if all(e.kind == "cdi-unresolved" and not e.values["device"].endswith("=all") for e in told):
        raise left_open("nvidia-ctk cdi list")
    engine = _with_root(
        "Install the toolkit and make it known to docker",
        "sudo apt-get install -y nvidia-container-toolkit",
        "sudo nvidia-ctk runtime configure --runtime=docker",
        "sudo systemctl restart docker",
    )
    cdi = _with_root(
        "Install the toolkit and let it describe the GPUs",
        "sudo apt-get install -y nvidia-container-toolkit",
        "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
    )
    by_cdi = told[0].kind == "cdi-unresolved"
    yield Found(
        message="The container engine has nothing that could hand over a GPU.",
        proof=lines(told),
        fixes=(cdi if by_cdi else engine,),
    )


@check("GD621", "container-driver-too-old", stage=Stage.CONTAINER, explains=(_NOT_STARTED, "driver-too-old", *_NO_GPU))
def container_driver_too_old(facts: Facts) -> Iterator[Found]:
    """The host's driver is older than this image needs.

    What it looks at: in a pasted text, nvidia-container-cli's 'unsatisfied condition', and what the entry point of
    NVIDIA's images says of the driver.

    Why it matters: the CUDA libraries come with the image, the driver is the host's. An image states the oldest driver
    for its CUDA, or the cards (brand=…) for which an older one will do, and the toolkit refuses to start it on others.

    How to fix: install a newer driver on the host, or take an image with an older CUDA.

    Source: NVIDIA Container Toolkit documentation, 'Constraints'; CUDA compatibility.
    """
    told = _image_is_newer(facts) or said(facts, "container-unsatisfied", "ngc-driver-too-old", settle=_ON_HOST)
    if facts.driver.libcuda.init_result in (803, 804) and not facts.text.said("container-unsatisfied"):
        raise left_open(_ON_HOST)
    wants = next((e.values["condition"] for e in told if "condition" in e.values), None)
    yield Found(
        message="The image needs a newer driver than the host has" + (f" ({wants})." if wants else "."),
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary="Install a newer driver on the host, or take an image for the CUDA version that nvidia-smi shows there",
                steps=(),
                verify=_ANY_IMAGE,
            ),
        ),
    )


def _image_is_newer(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that show an image of a CUDA version for which the host's driver is too old, and that it is not started."""
    failed = facts.text.said("container-hook-failed")
    has = facts.gpu.driver_version
    if not failed or not isinstance(has, str):
        return ()
    asked = [e for e in facts.text.said("gpus-asked") if "image" in e.values]
    newest = max(asked, key=lambda e: _numbers(e.values["image"]), default=None)
    needs = compat.floor(newest.values["image"]) if newest is not None else None
    return (newest, *failed) if newest is not None and needs is not None and _numbers(has) < _numbers(needs) else ()


def _numbers(version: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", version)]


@check(
    "GD622",
    "container-host-driver-broken",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "container-toolkit-missing"),
)
def container_host_driver_broken(facts: Facts) -> Iterator[Found]:
    """The host's driver does not work, so that no container gets a GPU.

    What it looks at: in a pasted text, what nvidia-container-cli, which asks the driver on the host, says of it: it is not
    loaded, or its library libnvidia-ml.so.1 is not there. Where nvidia-smi works on the host, it is not the driver.

    Why it matters: a container uses the host's driver; nothing inside an image replaces it.

    How to fix: make nvidia-smi work on the host: install the driver, or build and load its kernel module; reboot.

    Source: libnvidia-container, nvc_info.c; NVML, NVML_ERROR_DRIVER_NOT_LOADED.
    """
    told = said(facts, "container-driver-not-loaded", "container-no-nvml", settle=_ON_HOST)
    if driver_works(facts):
        return
    if facts.text.said("on-windows", "driver-root-set"):
        raise left_open(_ON_HOST)
    yield Found(
        message="The driver does not work on the host.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary="Make nvidia-smi work on the host first (it says what is wrong there); then start the container again",
                steps=("nvidia-smi", "lsmod | grep nvidia"),
                verify=_ANY_IMAGE,
            ),
        ),
    )


@check("GD623", "container-cgroupv2-unsupported", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def container_cgroupv2_unsupported(facts: Facts) -> Iterator[Found]:
    """The container toolkit is older than this system's control groups (version 2).

    What it looks at: in a pasted text, nvidia-container-cli's 'cgroup subsystem devices not found', or that the kernel
    refuses the program (BPF) by which it lets a container open the GPUs.

    Why it matters: with version 2, which distributions use since 2021, there is no subsystem of that name, but a program in the
    kernel. libnvidia-container knows that from 1.8.0 on, and some later releases write a program that newer kernels refuse.

    How to fix: update the toolkit. Until then: no-cgroups = true and the device nodes by --device, or
    systemd.unified_cgroup_hierarchy=0 on the kernel's command line.

    Source: NVIDIA/nvidia-docker issue 1447; libnvidia-container 1.8.0.
    """
    told = said(facts, "container-cgroup-v2", "container-cgroup-program", settle=_TOOLKIT)
    if not facts.text.said("container-cgroup-v2") and facts.text.said("rootless"):
        raise left_open(_TOOLKIT)
    yield Found(
        message="The toolkit can't write device rules for control groups of this system (version 2).",
        proof=lines(told),
        fixes=(
            _with_root(
                "Update the toolkit",
                "sudo apt-get update",
                "sudo apt-get install -y nvidia-container-toolkit libnvidia-container1",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check(
    "GD624", "container-rootless-cgroups", stage=Stage.CONTAINER, explains=(_NOT_STARTED, "container-toolkit-too-old")
)
def container_rootless_cgroups(facts: Facts) -> Iterator[Found]:
    """The container engine runs without root's rights and can't write the device rules.

    What it looks at: in a pasted text, that nvidia-container-cli is refused when it writes the rules of the control group
    (devices.allow, BPF_CGROUP_DEVICE): the engine is rootless, or itself runs in an unprivileged container.

    Why it matters: only root of the host may change which devices a control group may open; a rootless container may open
    what its user may.

    How to fix: no-cgroups = true in /etc/nvidia-container-runtime/config.toml, or hand the GPUs over by the Container Device
    Interface.

    Source: NVIDIA Container Toolkit, installation guide, 'Rootless mode'.
    """
    kinds = ("container-rules-refused", "container-rules-fail", "container-cgroup-program")
    told = said(facts, *kinds, settle=_TOOLKIT)
    if not facts.text.said("container-rules-refused", "rootless"):
        raise left_open(_TOOLKIT)
    yield Found(
        message="The engine may not write the rules by which a container may open the GPUs.",
        proof=lines(told),
        fixes=(
            _with_root(
                "Let the toolkit leave control groups alone",
                "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place",
            ),
        ),
    )


@check(
    "GD625",
    "container-snap-docker",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "container-toolkit-missing", "container-host-driver-broken", "container-driver-root-wrong"),
)
def container_snap_docker(facts: Facts) -> Iterator[Found]:
    """docker comes from snap, which keeps it away from the driver and from the container toolkit.

    What it looks at: in a pasted text, paths, lists and commands that show docker from snap, where a container with GPUs is
    not started.

    Why it matters: docker of a snap sees neither the host's nvidia-container-runtime nor its driver libraries, whatever is
    installed beside it.

    How to fix: remove it and install docker from docker's own packages.

    Source: canonical/docker-snap issues 148 and 180.
    """
    snap = said(facts, "docker-of-snap", settle=_SNAP)
    failed = [
        e
        for e in facts.text.shows(_NOT_STARTED)
        if e.kind in ("no-gpu-device-driver", "no-gpu-runtime", "container-no-nvml")
    ]
    if not failed:
        raise left_open(_SNAP)
    yield Found(
        message="docker is the one from snap, which has no access to the GPU.",
        proof=lines((snap[0], *failed)),
        fixes=(
            _with_root(
                "Take docker from docker's own packages (images and volumes of the snap's docker are not taken over)",
                "sudo snap remove docker",
                "curl -fsSL https://get.docker.com | sudo sh",
                "sudo nvidia-ctk runtime configure --runtime=docker",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check(
    "GD626",
    "container-ldconfig-path",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, *_NO_GPU, "container-no-gpus-flag", "driver-missing", "driver-libcuda-not-on-path"),
)
def container_ldconfig_path(facts: Facts) -> Iterator[Found]:
    """The container toolkit calls an ldconfig that does not exist: the loader does not find the driver's libraries.

    What it looks at: in a pasted text, nvidia-container-cli's 'ldcache error', or nvidia-smi that is inside a container with
    GPUs and does not find its library.

    Why it matters: the libraries are mounted into the container and are not in the loader's cache, which the toolkit
    writes with the ldconfig that its settings name. It is /sbin/ldconfig.real on Ubuntu and /sbin/ldconfig elsewhere.

    How to fix: set ldconfig in /etc/nvidia-container-runtime/config.toml to the host's file, with @ before it. At once:
    call ldconfig inside the container.

    Source: NVIDIA/nvidia-docker issues 587, 1163 and 1399.
    """
    told = said(facts, "container-ldconfig", "nvml-failed", settle=_ROOT)
    inside = facts.text.said("gpus-asked") and not facts.text.shows(_NOT_STARTED)
    inside = inside or (in_container(facts) and facts.text.said("ldconfig-cures"))
    if not facts.text.said("container-ldconfig") and not (inside and facts.gpu.nvml_error == _NO_LIBRARY):
        raise left_open(_ROOT)
    yield Found(
        message="The driver's libraries are not in the loader's cache of the container.",
        proof=lines(told),
        fixes=(
            _with_root(
                "Let the toolkit use the host's ldconfig",
                "ls -l /sbin/ldconfig.real /sbin/ldconfig",
                "sudo nvidia-ctk config --set nvidia-container-cli.ldconfig=@/sbin/ldconfig --in-place",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check(
    "GD627",
    "container-driver-root-wrong",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "container-host-driver-broken"),
)
def container_driver_root_wrong(facts: Facts) -> Iterator[Found]:
    """The container toolkit looks for the driver in a directory where it is not.

    What it looks at: in a pasted text, nvidia-container-cli's 'change root failed', or a driver that it does not find while
    its settings name /run/nvidia/driver.

    Why it matters: that directory is for drivers that come in a container themselves (the GPU operator). A driver that is
    installed on the host lies in /.

    How to fix: set root = "/" in the toolkit's config.toml (for the GPU operator: driver.enabled=false, then deploy again).

    Source: NVIDIA/gpu-operator issues 350, 443 and 511.
    """
    told = said(facts, "container-driver-root", "driver-root-set", settle=_ROOT)
    if not facts.text.said("container-driver-root") and not facts.text.said(
        "container-no-nvml", "container-driver-request", "container-driver-not-loaded", "container-nvml-refused"
    ):
        raise left_open(_ROOT)
    yield Found(
        message="The toolkit's settings name a root directory in which there is no driver.",
        proof=lines(told),
        fixes=(
            _with_root(
                "Let the toolkit look for the driver in the host's own root",
                "sudo nvidia-ctk config --set nvidia-container-cli.root=/ --in-place",
                "sudo systemctl restart docker containerd",
            ),
        ),
    )


@check("GD628", "container-toolkit-too-old", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def container_toolkit_too_old(facts: Facts) -> Iterator[Found]:
    """The container toolkit is too old, or its packages are of different releases.

    What it looks at: in a pasted text, words that only old or mixed packages say: options that one part does not know,
    volumes of nvidia-docker 1.

    Why it matters: the runtime, its hook, the command and the library are of one release and call each other; old ones know
    neither the conditions of new images nor the files of new drivers.

    How to fix: remove nvidia-docker, nvidia-docker2 and nvidia-container-runtime, install nvidia-container-toolkit.

    Source: NVIDIA/nvidia-container-toolkit issues 14 and 59; nvidia-docker issue 493.
    """
    yield Found(
        message="The parts of the container toolkit do not fit each other, the image or the driver.",
        proof=lines(said(facts, "container-toolkit-old", settle=_TOOLKIT)),
        fixes=(
            _with_root(
                "Replace all its packages by the current ones",
                "sudo apt-get remove -y nvidia-docker nvidia-docker2 nvidia-container-runtime",
                "sudo apt-get update",
                "sudo apt-get install -y nvidia-container-toolkit",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check(
    "GD629",
    "container-docker-desktop-linux",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "container-toolkit-missing", "container-host-driver-broken"),
)
def container_docker_desktop_linux(facts: Facts) -> Iterator[Found]:
    """Docker Desktop runs its containers in a virtual machine, which has no GPU on Linux.

    What it looks at: in a pasted text, Docker Desktop on a machine that is not Windows or a Mac, where a container with
    GPUs is not started.

    Why it matters: the engine is inside a virtual machine that sees neither the host's driver nor its toolkit. Only on
    Windows (WSL 2) the GPU is handed through.

    How to fix: install Docker Engine, and use its context.

    Source: Docker Desktop documentation, 'GPU support' (Windows with WSL 2 only).
    """
    desktop = said(facts, "docker-desktop", settle="docker context ls")
    failed = facts.text.said("no-gpu-device-driver", "no-gpu-runtime", "container-no-nvml")
    if not failed or facts.text.said("on-windows", "on-a-mac"):
        raise left_open("docker context ls")
    yield Found(
        message="The engine is Docker Desktop's, in whose virtual machine there is no GPU.",
        proof=lines((desktop[0], *failed)),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Use the host's own engine (install docker-ce where there is none)",
                steps=("docker context use default",),
                verify=_ANY_IMAGE,
            ),
        ),
    )


@check(
    "GD632",
    "wsl-driver-toolkit-mismatch",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "nvidia-smi-fails", "tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device"),
)
def wsl_driver_toolkit_mismatch(facts: Facts) -> Iterator[Found]:
    """Under WSL, Windows' driver and the container toolkit (Docker Desktop) are too far apart in age.

    What it looks at: in a pasted text from WSL, nvidia-container-cli's 'failed to process request', a mount of
    /proc/driver/nvidia/gpus that fails, or nvidia-smi's 'GPU access blocked by the operating system' inside a container.

    Why it matters: the toolkit must know how this driver of Windows shows itself in WSL; it changed in 2021 and later.

    How to fix: update the driver of Windows, WSL (wsl --update) and Docker Desktop or the toolkit.

    Source: NVIDIA/nvidia-docker issues 1316 and 1496; docker/for-win issue 11309.
    """
    told = decided(facts, "wsl-driver-toolkit-mismatch")
    if not told:
        told = said(
            facts, "container-driver-request", "container-mount-wsl", settle="nvidia-smi  # in Windows; docker version"
        )
        if not facts.text.said("on-windows"):
            raise left_open("uname -r; docker version")
    yield Found(
        message="The toolkit does not understand this driver of Windows.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary="Update the driver in Windows, WSL (wsl --update, wsl --shutdown) and Docker Desktop",
                steps=(),
                verify=_ANY_IMAGE,
            ),
        ),
    )


@check("GD634", "container-image-has-driver-files", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def container_image_has_driver_files(facts: Facts) -> Iterator[Found]:
    """The image itself holds files of the driver, in the place where the host's are to be mounted.

    What it looks at: in a pasted text, nvidia-container-cli's 'file exists' for a library of the driver.

    Why it matters: such images were built or committed while a driver was mounted. Under WSL, where the toolkit makes links,
    they can't be started.

    How to fix: remove the files from the image.

    Source: NVIDIA/nvidia-docker issue 1551.
    """
    told = said(facts, "container-has-driver-files")
    yield Found(
        message=f"The image holds {told[0].values['library']}, which the toolkit wants to put there.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Build the image anew with: RUN rm -f /usr/lib/x86_64-linux-gnu/lib{cuda,nvidia-ml}.so*",
                steps=(),
                verify=_ANY_IMAGE,
            ),
        ),
    )
