"""What checks of a host's container engines share: where they apply, what is installed, how the toolkit is installed."""

from __future__ import annotations

from gpudoctor.checks._said import machines_alone
from gpudoctor.facts import Facts, UnknownFactError, Unread, known
from gpudoctor.findings import Fix, NotApplicable

NOT_STARTED = "container-does-not-start"
ANY_IMAGE = "docker run --rm --gpus all ubuntu nvidia-smi"
GPU_KIND = "nvidia.com/gpu"
TOOLKIT_FILE = "/etc/nvidia-container-runtime/config.toml"
_REPOSITORY = "https://nvidia.github.io/libnvidia-container"
_KEYRING = "/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg"
_SIGNED = f"sed 's#deb https://#deb [signed-by={_KEYRING}] https://#'"
_APT_LIST = "/etc/apt/sources.list.d/nvidia-container-toolkit.list"
_YUM_REPO = "/etc/yum.repos.d/nvidia-container-toolkit.repo"
_APT = (
    f"curl -fsSL {_REPOSITORY}/gpgkey | sudo gpg --dearmor -o {_KEYRING}",
    f"curl -fsSL {_REPOSITORY}/stable/deb/nvidia-container-toolkit.list | {_SIGNED} | sudo tee {_APT_LIST}",
    "sudo apt-get update",
    "sudo apt-get install -y nvidia-container-toolkit",
)
_DNF = (
    f"curl -fsSL {_REPOSITORY}/stable/rpm/nvidia-container-toolkit.repo | sudo tee {_YUM_REPO}",
    "sudo dnf install -y nvidia-container-toolkit",
)
_ZYPPER = (
    f"sudo zypper addrepo {_REPOSITORY}/stable/rpm/nvidia-container-toolkit.repo",
    "sudo zypper --gpg-auto-import-keys install -y nvidia-container-toolkit",
)
_BY_DISTRIBUTION = {
    **dict.fromkeys(("debian", "ubuntu", "linuxmint", "pop"), _APT),
    **dict.fromkeys(("rhel", "centos", "rocky", "almalinux", "ol", "fedora", "amzn"), _DNF),
    **dict.fromkeys(("opensuse-leap", "opensuse-tumbleweed", "sles"), _ZYPPER),
    "arch": ("sudo pacman -S --needed nvidia-container-toolkit",),
}
"""ID of /etc/os-release -> the steps of NVIDIA's installation guide, with its repository."""


def with_root(summary: str, *steps: str, verify: str = ANY_IMAGE) -> Fix:
    """Lines for somebody who is root on the host."""
    return Fix(kind="command", risk="needs root", summary=summary, steps=steps, verify=verify)


def on_host(facts: Facts) -> None:
    """Not applicable but on a host with NVIDIA's driver, and where nobody asks for the engine of a text."""
    machines_alone(facts, "it is for hosts that can be looked at")
    if known(facts.system.container) is not None:
        raise NotApplicable("the container engine is the host's")
    if known(facts.driver.kernel_version) is None:
        raise NotApplicable("the NVIDIA kernel module is not loaded")


def tools(facts: Facts) -> dict[str, str]:
    """Engines and NVIDIA's programs by name, with their paths; not those of snap, which see little of the host."""
    return {t.name: t.path for t in known(facts.container.tools) if not t.path.startswith("/snap/")}


def toolkit_release(facts: Facts) -> tuple[str, tuple[int, ...]]:
    """Of libnvidia-container; not applicable where it is not installed."""
    ours = [t for t in known(facts.container.tools) if t.name == "nvidia-container-cli" and "/snap/" not in t.path]
    if not ours:
        raise NotApplicable("nvidia-container-cli is not installed")
    version = known(ours[0].version)
    if version is None:
        raise UnknownFactError(
            Unread(why="no file tells the toolkit's version", settle="nvidia-container-cli --version")
        )
    return version, tuple(int(n) for n in version.split(".") if n.isdigit())


def setting(facts: Facts, name: str) -> str | None:
    """The value in the toolkit's config.toml, without quotes; None where it is not set."""
    for line in known(facts.container.toolkit_settings) or ():
        key, _, value = line.partition("=")
        if key.strip() == name:
            return value.partition("#")[0].strip().strip("\"'")
    return None


def describes_gpus(facts: Facts) -> bool:
    """Whether a CDI specification names the GPUs."""
    return any(known(s.kind) == GPU_KIND for s in known(facts.container.cdi_specs))


def install_steps(facts: Facts) -> tuple[str, ...]:
    """How the toolkit is installed on this distribution; none where it is not known."""
    name = facts.system.distribution
    return _BY_DISTRIBUTION.get(name, ()) if isinstance(name, str) else ()
