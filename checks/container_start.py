"""Containers that are not started: what docker, podman and nvidia-container-cli say of it, and what this host shows before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor import compat
from gpudoctor.checks import _engines, _image
from gpudoctor.checks._cuinit import COMPAT_NOT_SUPPORTED, DRIVER_MISMATCH
from gpudoctor.checks._driver_release import in_words
from gpudoctor.checks._engines import ANY_IMAGE, NOT_STARTED, with_root
from gpudoctor.checks._handed_over import driver_works
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "libcuda-not-found", "nvidia-smi-fails")
_RUNTIMES = "docker info | grep -i -A2 runtimes; nvidia-ctk --version"
_TOOLKIT = "nvidia-container-cli --version; docker version"
_ON_HOST = "nvidia-smi  # on the host"


@check("GD620", "container-toolkit-missing", stage=Stage.CONTAINER, explains=(NOT_STARTED,))
def container_toolkit_missing(facts: Facts) -> Findings:
    """The NVIDIA container toolkit is not installed, or the engine does not know of it.

    What it looks at: in a pasted text, docker's and podman's words for: nobody here can hand over a GPU. On a host with a
    driver and an engine: whether the toolkit's programs are there, docker's runtimes, podman's hooks, and the
    specifications of the Container Device Interface. That is for information: it matters once somebody starts a
    container with GPUs.

    Why it matters: the engine itself knows nothing of GPUs; the toolkit's runtime or its CDI specification puts the
    driver's nodes and libraries into a container.

    How to fix: install nvidia-container-toolkit on the host, configure the engine with nvidia-ctk, restart it.

    Source: docker's device driver lookup ('could not select device driver'); NVIDIA Container Toolkit, installation guide.
    """
    if not facts.text.is_all:
        return (yield from _nobody_hands_over(facts))
    kinds = ("no-gpu-device-driver", "no-gpu-runtime", "toolkit-absent", "cdi-unresolved")
    engine = with_root(
        "Install the toolkit and make it known to docker",
        "sudo apt-get install -y nvidia-container-toolkit",
        "sudo nvidia-ctk runtime configure --runtime=docker",
        "sudo systemctl restart docker",
    )
    if stated := facts.text.said("toolkit-said"):
        yield Found(
            message="The container toolkit was not installed, as somebody says.",
            proof=lines(stated),
            fixes=(engine,),
            explains=(NOT_STARTED, *_NO_GPU, "container-no-gpus-flag", READS_LIKE_A_FAULT),
        )
        return
    if not facts.text.said(*kinds) and (here := facts.text.said("toolkit-here")):
        return f"the toolkit is there: {short(here[0].text)}"
    told = said(facts, *kinds, settle=_RUNTIMES)
    if facts.text.said("snap-named") and not facts.text.said("toolkit-absent"):
        raise left_open("snap list docker")
    of_cdi = all(e.kind == "cdi-unresolved" for e in told)
    if of_cdi and (
        facts.text.said("container-toolkit-old") or not any(e.values["device"].endswith("=all") for e in told)
    ):
        raise left_open("nvidia-ctk cdi list")
    cdi = with_root(
        "Install the toolkit and let it describe the GPUs",
        "sudo apt-get install -y nvidia-container-toolkit",
        _DESCRIBE,
    )
    by_cdi = told[0].kind == "cdi-unresolved"
    yield Found(
        message="The container engine has nothing that could hand over a GPU.",
        proof=lines(told),
        fixes=(cdi if by_cdi else engine,),
    )


@check("GD621", "container-driver-too-old", stage=Stage.CONTAINER, explains=(NOT_STARTED, "driver-too-old", *_NO_GPU))
def container_driver_too_old(facts: Facts) -> Findings:
    """The host's driver is older than this image needs.

    What it looks at: in a pasted text, nvidia-container-cli's 'unsatisfied condition', and what the entry point of
    NVIDIA's images says of the driver. Inside a container: the condition itself (NVIDIA_REQUIRE_CUDA, which not every way
    of handing over GPUs checks) against the CUDA version of the driver; for information where TensorFlow lists GPUs.

    Why it matters: the CUDA libraries come with the image, the driver is the host's. An image states the oldest driver
    for its CUDA, or the cards (brand=…) for which an older one will do, and the toolkit refuses to start it on others.

    How to fix: install a newer driver on the host, or take an image with an older CUDA.

    Source: NVIDIA Container Toolkit documentation, 'Constraints'; CUDA compatibility.
    """
    if not facts.text.is_all:
        return (yield from _image.needs_newer_driver(facts))
    told = (
        _image_is_newer(facts)
        or _wanted(facts)
        or said(facts, "container-unsatisfied", "ngc-driver-too-old", settle=_ON_HOST)
    )
    answer, named = facts.driver.libcuda.init_result, any("driver" in e.values for e in told)
    at_start = not named and not facts.text.said("container-unsatisfied")
    went_on = facts.text.said("require-disabled-said")  # and CUDA was asked
    if (answer in (DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED) and at_start) or (answer == COMPAT_NOT_SUPPORTED and went_on):
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
                verify=ANY_IMAGE,
            ),
        ),
        explains=(NOT_STARTED, "driver-too-old", "cuda-compat-unsupported", *_NO_GPU, READS_LIKE_A_FAULT),
    )


def _wanted(facts: Facts) -> tuple[TextEvent, ...]:
    """The condition of an image, as somebody tells it, and no program's line shows another failure."""
    if facts.text.said("container-unsatisfied", "ngc-driver-too-old") or facts.text.shows_a_failure:
        return ()
    named = isinstance(facts.system.container, str) or facts.text.said("container-named", "container-run")
    return facts.text.said("image-wants-cuda-said") if named else ()


def _image_is_newer(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that show an image of a CUDA version for which the host's driver is too old, and that it is not started."""
    failed = facts.text.said("container-hook-failed")
    has = facts.gpu.driver_version
    passing = {one.release for one in in_words(facts) if "." in one.release}
    if not isinstance(has, str) and len(passing) == 1:
        has = passing.pop()
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
    explains=(NOT_STARTED, "container-toolkit-missing"),
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
                verify=ANY_IMAGE,
            ),
        ),
    )


@check("GD623", "container-cgroupv2-unsupported", stage=Stage.CONTAINER, explains=(NOT_STARTED,))
def container_cgroupv2_unsupported(facts: Facts) -> Findings:
    """The container toolkit is older than this system's control groups (version 2).

    What it looks at: in a pasted text, nvidia-container-cli's 'cgroup subsystem devices not found', or that the kernel
    refuses the program (BPF) by which it lets a container open the GPUs. On a host: the version of the control groups at
    /sys/fs/cgroup and that of libnvidia-container, for information.

    Why it matters: with version 2, which distributions use since 2021, there is no subsystem of that name, but a program in the
    kernel. libnvidia-container knows that from 1.8.0 on, and some later releases write a program that newer kernels refuse.

    How to fix: update the toolkit. Until then: no-cgroups = true and the device nodes by --device, or
    systemd.unified_cgroup_hierarchy=0 on the kernel's command line.

    Source: NVIDIA/nvidia-docker issue 1447; libnvidia-container 1.8.0.
    """
    if not facts.text.is_all:
        return (yield from _before_control_groups(facts))
    told = said(facts, "container-cgroup-v2", "container-cgroup-program", settle=_TOOLKIT)
    if not facts.text.said("container-cgroup-v2") and facts.text.said("rootless"):
        raise left_open(_TOOLKIT)
    yield Found(
        message="The toolkit can't write device rules for control groups of this system (version 2).",
        proof=lines(told),
        fixes=(
            with_root(
                "Update the toolkit",
                "sudo apt-get update",
                "sudo apt-get install -y nvidia-container-toolkit libnvidia-container1",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check(
    "GD624", "container-rootless-cgroups", stage=Stage.CONTAINER, explains=(NOT_STARTED, "container-toolkit-too-old")
)
def container_rootless_cgroups(facts: Facts) -> Findings:
    """The container engine runs without root's rights and can't write the device rules.

    What it looks at: in a pasted text, that nvidia-container-cli is refused when it writes the rules of the control group
    (devices.allow, BPF_CGROUP_DEVICE): the engine is rootless, or itself runs in an unprivileged container. On a host: a
    rootless docker of this user, and that no-cgroups is not set in the toolkit's config.toml; for information.

    Why it matters: only root of the host may change which devices a control group may open; a rootless container may open
    what its user may.

    How to fix: no-cgroups = true in /etc/nvidia-container-runtime/config.toml, or hand the GPUs over by the Container Device
    Interface.

    Source: NVIDIA Container Toolkit, installation guide, 'Rootless mode'.
    """
    if not facts.text.is_all:
        return (yield from _rootless_writes_rules(facts))
    kinds = ("container-rules-refused", "container-rules-fail", "container-cgroup-program")
    told = said(facts, *kinds, settle=_TOOLKIT)
    if not facts.text.said("container-rules-refused", "rootless"):
        raise left_open(_TOOLKIT)
    yield Found(
        message="The engine may not write the rules by which a container may open the GPUs.",
        proof=lines(told),
        fixes=(
            with_root(
                "Let the toolkit leave control groups alone",
                "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place",
            ),
        ),
    )


# ------------------------------------------------------------------------------- what a host shows before


def _nobody_hands_over(facts: Facts) -> Findings:
    """docker or podman is here, and nothing by which it could hand over a GPU."""
    _engines.on_host(facts)
    tools = _engines.tools(facts)
    if not {"dockerd", "podman"} & set(tools):
        raise NotApplicable("neither docker nor podman is installed here (snap's docker brings a toolkit of its own)")
    described, without, fixes = _engines.describes_gpus(facts), [], []
    installed = "nvidia-ctk" in tools or "nvidia-container-cli" in tools
    install = () if installed else _engines.install_steps(facts)
    summary = "Make it known to" if installed else "Install the toolkit and make it known to"
    runtimes = known(facts.container.docker_runtimes) if "dockerd" in tools else None
    if (
        "dockerd" in tools
        and not described
        and "nvidia-container-runtime-hook" not in tools
        and "nvidia" not in (runtimes or ())
    ):
        without.append("docker")
        steps = ("sudo nvidia-ctk runtime configure --runtime=docker", "sudo systemctl restart docker")
        fixes.append(with_root(f"{summary} docker", *install, *steps))
    if "podman" in tools and not described and not known(facts.container.podman_hooks):
        without.append("podman")
        verify = "podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi"
        fixes.append(with_root(f"{summary} podman, by a specification (CDI)", *install, _DESCRIBE, verify=verify))
    if not without:
        return f"{' and '.join(n for n in ('dockerd', 'podman') if n in tools)} can hand over GPUs"
    both = " and ".join(without)
    yield Found(
        message=f"{both} on this host can't hand a GPU to a container: "
        + (
            "the toolkit is installed, and not known to it."
            if installed
            else "the NVIDIA container toolkit is not installed."
        ),
        proof=(
            *(
                Evidence(text=f"{name} is installed", source=tools[name])
                for name in ("dockerd", "podman")
                if name in tools
            ),
            Evidence(
                text=f"nvidia-ctk is {'here' if installed else 'not here'}, no specification names nvidia.com/gpu",
                source="files of the toolkit, /etc/cdi, /var/run/cdi",
            ),
        ),
        fixes=tuple(fixes),
        level=Level.INFO,
    )


def _before_control_groups(facts: Facts) -> Findings:
    _engines.on_host(facts)
    version, release = _engines.toolkit_release(facts)
    if release >= _KNOWS_VERSION_2 or known(facts.container.control_groups) != _VERSION_2:
        return f"libnvidia-container {version} knows this host's control groups"
    if _engines.setting(facts, "no-cgroups") == "true":
        return "the toolkit is told to leave control groups alone"
    yield Found(
        message=f"libnvidia-container {version} does not know this host's control groups (version 2).",
        proof=(
            Evidence(text=f"libnvidia-container {version}; 1.8.0 is the first that does", source="its file's name"),
            Evidence(text="cgroup2 is mounted at /sys/fs/cgroup", source="/proc/self/mountinfo"),
        ),
        fixes=(with_root("Update the toolkit", *_engines.install_steps(facts), "sudo systemctl restart docker"),),
        level=Level.INFO,
    )


_DESCRIBE = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
_VERSION_2, _KNOWS_VERSION_2 = 2, (1, 8)


def _rootless_writes_rules(facts: Facts) -> Findings:
    _engines.on_host(facts)
    rootless = known(facts.container.rootless_docker)
    if not rootless:
        raise NotApplicable("this user has no rootless docker")
    if "nvidia-container-cli" not in _engines.tools(facts):
        raise NotApplicable("nvidia-container-cli is not installed")
    if _engines.setting(facts, "no-cgroups") == "true":
        return "the toolkit is told to leave control groups alone"
    yield Found(
        message="This user's docker is rootless, and the toolkit is not told to leave control groups alone.",
        proof=(
            Evidence(text=f"{rootless[0]} is there", source="files"),
            Evidence(text="no-cgroups is not true", source=_engines.TOOLKIT_FILE),
        ),
        fixes=(
            with_root(
                "Let the toolkit leave control groups alone; docker of root then needs the GPUs by CDI",
                "nvidia-ctk runtime configure --runtime=docker --config=$HOME/.config/docker/daemon.json",
                "systemctl --user restart docker",
                "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place",
            ),
        ),
        level=Level.INFO,
    )
