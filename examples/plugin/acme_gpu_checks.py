"""What we want of our machines, beside what gpudoctor knows."""

from gpudoctor.facts import Facts, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, Stage
from gpudoctor.registry import check

BRANCH = 570
"""The driver's branch that our images are tested with."""


@check("ACME101", "acme-driver-branch", stage=Stage.DRIVER, level=Level.WARN)
def driver_branch(facts: Facts) -> Findings:
    """The driver is not of the branch that our images are tested with.

    What it looks at: the version of the loaded kernel module.

    Why it matters: our images are tested with one branch.

    How to fix: install that branch, and reboot.

    Source: our handbook, chapter 4.
    """
    version = known(facts.driver.kernel_version)
    if version is None or version.startswith(f"{BRANCH}."):
        return f"the driver is {version}"
    yield Found(
        message=f"The driver is {version}; our images are tested with R{BRANCH}.",
        proof=(Evidence(text=version, source="/sys/module/nvidia/version"),),
        fixes=(
            Fix(
                kind="command",
                risk="needs reboot",
                summary=f"Install R{BRANCH}",
                steps=(f"sudo apt-get install -y nvidia-driver-{BRANCH}", "sudo reboot"),
            ),
        ),
    )
