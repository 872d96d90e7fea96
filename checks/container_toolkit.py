"""The container toolkit's settings and packages: as this host has them, or as a pasted text shows them."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _engines
from gpudoctor.checks._driver_asked import in_container
from gpudoctor.checks._engines import NOT_STARTED, TOOLKIT_FILE, with_root
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, ToolkitPath, known
from gpudoctor.findings import Evidence, Findings, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "libcuda-not-found", "nvidia-smi-fails")
_TOOLKIT = "nvidia-container-cli --version; docker version"
_ROOT = "nvidia-container-cli info; grep -E 'root|ldconfig' /etc/nvidia-container-runtime/config.toml"
_NO_LIBRARY = 12
"""NVML's code: libnvidia-ml.so.1 is not found."""
_OF_ONE_RELEASE = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container1",
    "libnvidia-container-tools",
)
_SINCE = (1, 6)
"""From here on these packages carry one number."""


@check(
    "GD626",
    "container-ldconfig-path",
    stage=Stage.CONTAINER,
    explains=(NOT_STARTED, *_NO_GPU, "container-no-gpus-flag", "driver-missing", "driver-libcuda-not-on-path"),
)
def container_ldconfig_path(facts: Facts) -> Findings:
    """The container toolkit calls an ldconfig that does not exist: the loader does not find the driver's libraries.

    What it looks at: in a pasted text, nvidia-container-cli's 'ldcache error', or nvidia-smi that is inside a container with
    GPUs and does not find its library. On a host: whether the file that config.toml names is there; for information.

    Why it matters: the libraries are mounted into the container and are not in the loader's cache, which the toolkit
    writes with the ldconfig that its settings name. It is /sbin/ldconfig.real on Ubuntu and /sbin/ldconfig elsewhere.

    How to fix: set ldconfig in /etc/nvidia-container-runtime/config.toml to the host's file, with @ before it. At once:
    call ldconfig inside the container.

    Source: NVIDIA/nvidia-docker issues 587, 1163 and 1399.
    """
    if not facts.text.is_all:
        return (yield from _no_such_ldconfig(facts))
    told = said(facts, "container-ldconfig", "nvml-failed", settle=_ROOT)
    inside = facts.text.said("gpus-asked") and not facts.text.shows(NOT_STARTED)
    inside = inside or (in_container(facts) and facts.text.said("ldconfig-cures"))
    if not facts.text.said("container-ldconfig") and not (inside and facts.gpu.nvml_error == _NO_LIBRARY):
        raise left_open(_ROOT)
    yield Found(
        message="The driver's libraries are not in the loader's cache of the container.",
        proof=lines(told),
        fixes=(
            with_root(
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
    explains=(NOT_STARTED, "container-host-driver-broken"),
)
def container_driver_root_wrong(facts: Facts) -> Findings:
    """The container toolkit looks for the driver in a directory where it is not.

    What it looks at: in a pasted text, nvidia-container-cli's 'change root failed', or a driver that it does not find while
    its settings name /run/nvidia/driver. On a host: whether a library of the driver lies in the root that config.toml names;
    for information.

    Why it matters: that directory is for drivers that come in a container themselves (the GPU operator). A driver that is
    installed on the host lies in /.

    How to fix: set root = "/" in the toolkit's config.toml (for the GPU operator: driver.enabled=false, then deploy again).

    Source: NVIDIA/gpu-operator issues 350, 443 and 511.
    """
    if not facts.text.is_all:
        return (yield from _no_driver_in_root(facts))
    told = said(facts, "container-driver-root", "driver-root-set", settle=_ROOT)
    if not facts.text.said("container-driver-root") and not facts.text.said(
        "container-no-nvml", "container-driver-request", "container-driver-not-loaded", "container-nvml-refused"
    ):
        raise left_open(_ROOT)
    yield Found(
        message="The toolkit's settings name a root directory in which there is no driver.",
        proof=lines(told),
        fixes=(
            with_root(
                "Let the toolkit look for the driver in the host's own root",
                "sudo nvidia-ctk config --set nvidia-container-cli.root=/ --in-place",
                "sudo systemctl restart docker containerd",
            ),
        ),
    )


@check("GD628", "container-toolkit-too-old", stage=Stage.CONTAINER, explains=(NOT_STARTED,))
def container_toolkit_too_old(facts: Facts) -> Findings:
    """The container toolkit is too old, or its packages are of different releases.

    What it looks at: in a pasted text, words that only old or mixed packages say: options that one part does not know,
    volumes of nvidia-docker 1. On a host: the numbers of the installed packages, which are one from 1.6 on; for information.

    Why it matters: the runtime, its hook, the command and the library are of one release and call each other; old ones know
    neither the conditions of new images nor the files of new drivers.

    How to fix: remove nvidia-docker, nvidia-docker2 and nvidia-container-runtime, install nvidia-container-toolkit.

    Source: NVIDIA/nvidia-container-toolkit issues 14 and 59; nvidia-docker issue 493.
    """
    if not facts.text.is_all:
        return (yield from _releases_differ(facts))
    yield Found(
        message="The parts of the container toolkit do not fit each other, the image or the driver.",
        proof=lines(said(facts, "container-toolkit-old", settle=_TOOLKIT)),
        fixes=(
            with_root(
                "Replace all its packages by the current ones",
                "sudo apt-get remove -y nvidia-docker nvidia-docker2 nvidia-container-runtime",
                "sudo apt-get update",
                "sudo apt-get install -y nvidia-container-toolkit",
                "sudo systemctl restart docker",
            ),
        ),
    )


@check("GD641", "container-no-cgroups-set", stage=Stage.CONTAINER)
def container_no_cgroups_set(facts: Facts) -> Findings:
    """The container toolkit writes no device rules, and docker runs as root: its containers may not open the GPUs.

    What it looks at: no-cgroups = true in the toolkit's config.toml, on a host whose docker belongs to root and where this
    user has no rootless one. Specifications of the Container Device Interface do without these rules' writer. In a pasted text: the setting,
    with NVML's 'Unknown Error' or no device, where docker of root is named; somebody whom 'false' helped.

    Why it matters: the guides for rootless docker set it. docker of root confines its containers to devices that are on a
    list, and the toolkit then does not put the GPUs on it: NVML says 'Unknown Error', CUDA finds no device.

    How to fix: set it to false.

    Source: NVIDIA Container Toolkit, installation guide, 'Rootless mode'; NVIDIA/nvidia-container-toolkit issue 381.
    """
    if facts.text.is_all:
        yield Found(
            message="The toolkit is told to write no device rules, and docker of root needs them.",
            proof=lines(_without_rules(facts)),
            fixes=(_WRITE_RULES,),
            explains=(NOT_STARTED, "nvidia-smi-fails", *_NO_GPU, READS_LIKE_A_FAULT, "container-cgroup-devices-lost"),
        )
        return None
    _engines.on_host(facts)
    if "dockerd" not in _engines.tools(facts):
        raise NotApplicable("docker is not installed here")
    if _engines.setting(facts, "no-cgroups") != "true" or known(facts.container.rootless_docker):
        return "docker is rootless" if _engines.setting(facts, "no-cgroups") == "true" else "no-cgroups is not true"
    if _engines.setting(facts, "mode") == "cdi":
        return "the toolkit hands GPUs over by CDI"
    yield Found(
        message="The toolkit is told to write no device rules, which containers of this host's docker need.",
        proof=(
            Evidence(text="no-cgroups = true", source=TOOLKIT_FILE),
            Evidence(text="docker runs as root", source=_engines.tools(facts)["dockerd"]),
        ),
        fixes=(_WRITE_RULES,),
        level=Level.INFO,
    )
    return None


_WRITE_RULES = with_root(
    "Let it write them",
    "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false --in-place",
    "sudo systemctl restart docker",
)


def _without_rules(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text that show it: the setting, docker of root and NVML that may not open the GPUs; or that 'false' helped."""
    told = facts.text.said
    if cured := told("no-cgroups-cures"):
        return cured
    unset = said(
        facts,
        "no-cgroups-set",
        settle="grep no-cgroups /etc/nvidia-container-runtime/config.toml; docker info | grep -i rootless",
    )
    failed = told("nvml-failed") if facts.gpu.nvml_error == _UNKNOWN else told("cuda-answers-100", "cuinit-failed")
    if not failed or not told("rootful-named"):
        raise left_open("docker info | grep -i rootless")
    return (*unset[:1], *failed[:1], *told("rootful-named")[:1])


_UNKNOWN = 999
"""NVML's code for what it has no name for."""


# ------------------------------------------------------------------------------- what a host shows


def _named(facts: Facts, setting: str) -> list[ToolkitPath]:
    """What the toolkit's settings name and what is not what it should be."""
    _engines.on_host(facts)
    paths = known(facts.container.toolkit_paths)
    if paths is None:
        raise NotApplicable(f"there is no {TOOLKIT_FILE}")
    return [p for p in paths if p.setting == setting and not known(p.holds)]


def _no_such_ldconfig(facts: Facts) -> Findings:
    for named in _named(facts, "ldconfig"):
        plain = named.path.removesuffix(".real")
        right = f"@{quote(plain)}" if plain != named.path else '"@$(readlink -f "$(command -v ldconfig)")"'
        yield Found(
            message=f"The container toolkit is told to call {named.path}, which does not exist on this host.",
            proof=(Evidence(text=f'ldconfig = "@{named.path}"; there is no such file', source=TOOLKIT_FILE),),
            fixes=(
                with_root(
                    "Let the toolkit use the host's ldconfig",
                    f"sudo nvidia-ctk config --set nvidia-container-cli.ldconfig={right} --in-place",
                ),
            ),
            level=Level.INFO,
        )
    return "the toolkit's settings name no ldconfig that is not there"


def _no_driver_in_root(facts: Facts) -> Findings:
    for named in _named(facts, "root"):
        if named.path.rstrip("/") == "":
            return "the toolkit looks in the host's own root"  # what is missing there is the driver's
        yield Found(
            message=f"The container toolkit is told to look for the driver in {named.path}, where none is.",
            proof=(
                Evidence(text=f'root = "{named.path}"', source=TOOLKIT_FILE),
                Evidence(text="neither libcuda.so nor libnvidia-ml.so is in its library directories", source="files"),
            ),
            fixes=(_OWN_ROOT,),
            level=Level.INFO,
        )
    return "the toolkit's settings name no root without a driver"


_OWN_ROOT = with_root(
    "Let the toolkit look for the driver in the host's own root",
    "sudo nvidia-ctk config --set nvidia-container-cli.root=/ --in-place",
    "sudo systemctl restart docker",
)


def _releases_differ(facts: Facts) -> Findings:
    _engines.on_host(facts)
    packages = known(facts.container.packages)
    if packages is None:
        raise NotApplicable("neither dpkg nor rpm is here")
    versions = {p.name: p.version for p in packages}
    first = versions.get("nvidia-docker")
    numbers = {
        name: versions[name] for name in _OF_ONE_RELEASE if name in versions and _release(versions[name]) >= _SINCE
    }
    if first is None and len(set(numbers.values())) < 2:
        return (
            f"the toolkit's packages are of {next(iter(numbers.values()))}"
            if numbers
            else "no packages must be of one release"
        )
    listed = ", ".join(
        f"{name} {version}" for name, version in versions.items() if name in (*_OF_ONE_RELEASE, "nvidia-docker")
    )
    yield Found(
        message=f"The packages of the container toolkit do not belong together: {listed}.",
        proof=(Evidence(text=listed, source="the package manager's list"),),
        fixes=(
            with_root(
                "Bring them to one release",
                *_engines.install_steps(facts)[:-1],
                *_all_of(facts, [n for n in versions if n in _OF_ONE_RELEASE], removed=first is not None),
                "sudo systemctl restart docker",
            ),
        ),
        level=Level.INFO,
    )


def _all_of(facts: Facts, names: list[str], *, removed: bool) -> Iterator[str]:
    """The steps that update these packages together, by this host's package manager."""
    together = " ".join(names or ["nvidia-container-toolkit"])
    last = " ".join(_engines.install_steps(facts)[-1:]).split()
    manager = next((name for name in ("apt-get", "dnf", "zypper") if name in last), "apt-get")
    if removed:
        yield f"sudo {manager} remove -y nvidia-docker"
    yield f"sudo {manager} install -y {together}"


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in version.split(".") if n.isdigit())
