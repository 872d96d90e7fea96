"""Container engines that keep their containers away from the GPU, and images that do not go with it."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _engines, _image
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._engines import ANY_IMAGE, NOT_STARTED, with_root
from gpudoctor.checks._handed_over import nothing_here
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import Facts, TextEvent, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_ITS_OWN = ("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "driver-library-mismatch", "nvidia-smi-fails")
_SNAP = "snap list docker; which docker"


@check(
    "GD625",
    "container-snap-docker",
    stage=Stage.CONTAINER,
    explains=(NOT_STARTED, "container-toolkit-missing", "container-host-driver-broken", "container-driver-root-wrong"),
)
def container_snap_docker(facts: Facts) -> Findings:
    """docker comes from snap, which keeps it away from the driver and from the container toolkit.

    What it looks at: in a pasted text, paths, lists and commands that show docker from snap, where a container with GPUs is
    not started. On a host whose only docker is a snap: whether its settings name NVIDIA's runtime, which newer snaps set up on
    some systems; for information.

    Why it matters: docker of a snap sees neither the host's nvidia-container-runtime nor its driver libraries, whatever is
    installed beside it.

    How to fix: remove it and install docker from docker's own packages.

    Source: canonical/docker-snap issues 148 and 180.
    """
    if not facts.text.is_all:
        return (yield from _snap_without_gpus(facts))
    snap = said(facts, "docker-of-snap", settle=_SNAP)
    failed = [
        e
        for e in facts.text.shows(NOT_STARTED)
        if e.kind in ("no-gpu-device-driver", "no-gpu-runtime", "container-no-nvml")
    ]
    if not failed:
        raise left_open(_SNAP)
    yield Found(
        message="docker is the one from snap, which has no access to the GPU.",
        proof=lines((snap[0], *failed)),
        fixes=(_OTHER_DOCKER,),
    )


_OTHER_DOCKER = with_root(
    "Take docker from docker's own packages (images and volumes of the snap's docker are not taken over)",
    "sudo snap remove docker",
    "curl -fsSL https://get.docker.com | sudo sh",
    "sudo nvidia-ctk runtime configure --runtime=docker",
    "sudo systemctl restart docker",
)


@check(
    "GD629",
    "container-docker-desktop-linux",
    stage=Stage.CONTAINER,
    explains=(NOT_STARTED, "container-toolkit-missing", "container-host-driver-broken"),
)
def container_docker_desktop_linux(facts: Facts) -> Findings:
    """Docker Desktop runs its containers in a virtual machine, which has no GPU on Linux.

    What it looks at: in a pasted text, Docker Desktop on a machine that is not Windows or a Mac, where a container with
    GPUs is not started; or one that starts with sudo docker alone. On a host: DOCKER_HOST, DOCKER_CONTEXT and the context that docker's settings choose; for information.

    Why it matters: the engine is inside a virtual machine that sees neither the host's driver nor its toolkit. Only on
    Windows (WSL 2) the GPU is handed through.

    How to fix: install Docker Engine, and use its context.

    Source: Docker Desktop documentation, 'GPU support' (Windows with WSL 2 only).
    """
    if not facts.text.is_all:
        return (yield from _talks_to_a_virtual_machine(facts))
    if as_root := _starts_as_root_alone(facts):
        yield Found(
            message="A container with GPUs starts for root and not for this user: another engine answers him, as Docker Desktop's does.",
            proof=lines(as_root),
            fixes=(_OWN_ENGINE,),
        )
        return None
    desktop = said(facts, "docker-desktop", settle="docker context ls")
    failed = facts.text.said("no-gpu-device-driver", "no-gpu-runtime", "container-no-nvml")
    if not failed and facts.text.said("linux-host-named") and any(_IS_IN_USE.search(e.text) for e in desktop):
        failed = nothing_here(facts) or facts.text.said("torch-lacks-gpu", "nvml-failed", "container-mount-uvm")
    if not failed or facts.text.said("on-windows", "on-a-mac", "mac-named"):
        raise left_open("docker context ls")
    yield Found(
        message="The engine is Docker Desktop's, in whose virtual machine there is no GPU.",
        proof=lines((desktop[0], *failed)),
        fixes=(_OWN_ENGINE,),
        explains=(
            NOT_STARTED,
            "container-toolkit-missing",
            "container-host-driver-broken",
            *_ITS_OWN,
            "container-no-gpus-flag",
            "libcuda-not-found",
        ),
    )


_IS_IN_USE = Pattern(
    r"(?i)^\W{0,3}(?:context: +desktop-linux|operating system: +docker desktop|name: +docker-desktop)|\bdesktop-linux ?\*"
)
"""docker's own words for which engine answers."""


def _starts_as_root_alone(facts: Facts) -> tuple[TextEvent, ...]:
    """The driver's library is not found, and the same with sudo prints the image's banner."""
    failed, root, banner = (facts.text.said(k) for k in ("container-no-nvml", "sudo-docker-run", "image-banner"))
    if not (failed and root and banner) or facts.text.said("rootless"):
        return ()
    after = all(e.line < root[0].line for e in failed) and root[0].line < banner[0].line
    return (failed[0], root[0], banner[0]) if after else ()


_OWN_ENGINE = Fix(
    kind="command",
    risk="safe",
    summary="Use the host's own engine (install docker-ce where there is none)",
    steps=("docker context use default",),
    verify=ANY_IMAGE,
)


@check(
    "GD632",
    "wsl-driver-toolkit-mismatch",
    stage=Stage.CONTAINER,
    explains=(NOT_STARTED, "nvidia-smi-fails", "tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device"),
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
                verify=ANY_IMAGE,
            ),
        ),
    )


@check(
    "GD634",
    "container-image-has-driver-files",
    stage=Stage.CONTAINER,
    explains=(NOT_STARTED, *_ITS_OWN),
)
def container_image_has_driver_files(facts: Facts) -> Findings:
    """The image itself holds files of the driver, in the place where the host's are to be mounted.

    What it looks at: in a pasted text, nvidia-container-cli's 'file exists' for a library of the driver, and a container that meets
    'Driver/library version mismatch' beside one of another image that does not, or a host that works, or whose driver is told
    to be of another branch than NVML's library. Inside a container:
    a libcuda of another release than the host's kernel module, which is loaded and was not mounted.

    Why it matters: such images were built with a driver in them, or committed while one was mounted. The driver's library
    must be of the release of the host's kernel module: cuInit answers 803 otherwise. Under WSL, where the toolkit makes links,
    such containers can't be started.

    How to fix: remove the files from the image.

    Source: NVIDIA/nvidia-docker issue 1551.
    """
    if not facts.text.is_all:
        return (yield from _image.own_driver_files(facts))
    if found := _image.differs_in_it(facts):
        yield Found(
            message="The driver's libraries in this container are not the host's: with another image it works on the same host, so that the "
            "image brings its own.",
            proof=lines(found),
            fixes=(_image.without_driver("/usr/lib/x86_64-linux-gnu"),),
        )
        return
    if apart := _image.differs_from_the_host(facts):
        yield Found(
            message=f"The driver's libraries in this container are of {facts.gpu.nvml_version}, and the host's driver is of branch "
            f"{apart[0].values['branch']}: the image brings its own.",
            proof=lines(apart),
            fixes=(_image.without_driver("/usr/lib/x86_64-linux-gnu"),),
        )
        return
    if packages := _image.installs_a_driver(facts):
        yield Found(
            message=f"The image installs the driver's libraries of branch {packages[0].values['branch']}, and the host's kernel module is of another.",
            proof=lines(packages),
            fixes=(_image.without_driver("/usr/lib/x86_64-linux-gnu"),),
            explains=(NOT_STARTED, *_ITS_OWN, "cuda-compat-unsupported"),
        )
        return
    if put := _image.is_given_a_driver(facts):
        yield Found(
            message="A driver was installed in the image, beside the host's, which is of another release.",
            proof=lines(put),
            fixes=(_image.without_driver("/usr/lib/x86_64-linux-gnu"),),
            explains=(NOT_STARTED, *_ITS_OWN, "cuda-compat-unsupported"),
        )
        return
    told = said(facts, "container-has-driver-files")
    yield Found(
        message=f"The image holds {told[0].values['library']}, which the toolkit wants to put there.",
        proof=lines(told),
        fixes=(_image.without_driver("/usr/lib/x86_64-linux-gnu"),),
    )


# ------------------------------------------------------------------------------- what a host shows


def _snap_without_gpus(facts: Facts) -> Findings:
    _engines.on_host(facts)
    if not known(facts.container.docker_snap):
        raise NotApplicable("docker does not come from snap here")
    if "dockerd" in _engines.tools(facts):
        raise NotApplicable("another docker is installed beside the snap's")
    if "nvidia" in (known(facts.container.docker_snap_runtimes) or ()):
        return "snap's docker has the runtime nvidia"
    yield Found(
        message="docker on this host is the one from snap, and has no runtime for GPUs.",
        proof=(
            Evidence(text="docker is a snap", source="/snap/bin/docker"),
            Evidence(text="its settings name no runtime nvidia", source="/var/snap/docker/current/config/daemon.json"),
        ),
        fixes=(_OTHER_DOCKER,),
        explains=(NOT_STARTED,),
        level=Level.INFO,
    )


def _talks_to_a_virtual_machine(facts: Facts) -> Findings:
    _engines.on_host(facts)
    if known(facts.system.wsl):
        raise NotApplicable("under WSL Docker Desktop hands GPUs through")
    server = known(facts.container.docker_server)
    if server is None or not (server == "desktop-linux" or "/.docker/desktop/" in server):
        return f"docker's server is {short(server)}" if server else "docker is told to go to no other server"
    yield Found(
        message="This user's docker talks to Docker Desktop, in whose virtual machine there is no GPU.",
        proof=(Evidence(text=f"docker's server is {server}", source="docker's settings and variables of this user"),),
        fixes=(_OWN_ENGINE,),
        explains=(NOT_STARTED,),
        level=Level.INFO,
    )
