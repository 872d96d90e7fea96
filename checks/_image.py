"""What the image of a container brings along that this host's driver must match: conditions, and files of a driver."""

from __future__ import annotations

import os
import re
from shlex import quote

from gpudoctor.checks._cuinit import answered, own_libraries, starts
from gpudoctor.checks._reasons import short
from gpudoctor.facts import Facts, TextEvent, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable
from gpudoctor.patterns import Pattern

_REQUIRES = "NVIDIA_REQUIRE_CUDA"
_CONDITION = Pattern(r"(cuda|driver)(>=|<=|!=|>|<|=)(\d[\d.]*)$")


def needs_newer_driver(facts: Facts) -> Findings:
    """The condition of the image is not met: alternatives stand between blanks, and what must hold together between commas."""
    container = known(facts.system.container)
    if container is None:
        raise NotApplicable("this is no container")
    condition = facts.environment.known(_REQUIRES)
    if not condition:
        raise NotApplicable(f"{_REQUIRES} is not set")
    if facts.driver.libcuda.path is None:
        raise NotApplicable("there is no libcuda.so.1 that could be asked for its CUDA version")
    number = known(facts.driver.libcuda.api_version)
    has = {"cuda": (number // 1000, number % 1000 // 10), "driver": _numbers(known(facts.driver.kernel_version) or "")}
    if not has["driver"] or any(_may_hold(one, has) for one in condition.split()):
        return (
            f"the driver, of CUDA {facts.driver.libcuda.cuda}, meets {_REQUIRES}"
            if has["driver"]
            else "the driver's release is not known"
        )
    wants = next((one for one in condition.split() if one.startswith("cuda")), condition)
    listed = facts.tensorflow.gpus()
    fine = starts(facts) and listed != ()
    cuda = facts.driver.libcuda.cuda
    yield Found(
        message=f"The image wants {wants}, and the host's driver {facts.driver.kernel_version} is of CUDA {cuda}.",
        proof=(
            Evidence(text=f"{_REQUIRES}={condition}", source="environment of the examined process"),
            Evidence(text=f"cuDriverGetVersion answers {number}", source="libcuda, in a child process"),
            Evidence(text=f"kernel module {facts.driver.kernel_version}", source="/proc/driver/nvidia/version"),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="needs reboot",
                summary=f"Take an image for CUDA {cuda} or older, or install a driver on the host that has {wants}",
                steps=(),
                verify="nvidia-smi, on the host: its CUDA version",
            ),
        ),
        level=Level.INFO if fine else Level.FAIL,
    )


def _may_hold(alternative: str, has: dict[str, tuple[int, ...]]) -> bool:
    """Whether every condition that can be decided here holds; which brand a GPU is of is not decided."""
    for one in alternative.split(","):
        match = _CONDITION.match(one.strip())
        if match and not _compare(has[match.group(1)], match.group(2), _numbers(match.group(3))):
            return False
    return True


def _compare(has: tuple[int, ...], how: str, wanted: tuple[int, ...]) -> bool:
    """As libnvidia-container does: by as many parts as the condition names."""
    ours = (*has, 0, 0, 0)[: len(wanted)]
    return {
        ">=": ours >= wanted, "<=": ours <= wanted, ">": ours > wanted, "<": ours < wanted, "=": ours == wanted, "!=": ours != wanted,
    }[how]  # fmt: skip


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version))


def own_driver_files(facts: Facts) -> Findings:
    """The libcuda that is loaded is the image's: no mount brought it, and it is not of the host's release."""
    container = known(facts.system.container)
    if container is None:
        raise NotApplicable("this is no container")
    kernel = known(facts.driver.kernel_version)
    if kernel is None:
        raise NotApplicable("the host's kernel has no NVIDIA module loaded")
    lib = facts.driver.libcuda
    if lib.path is None or starts(facts):
        return "there is no libcuda.so.1" if lib.path is None else "cuInit answers 0"
    path = known(lib.path) or ""
    if not own_libraries((path,)):
        return f"{short(path)} is no driver's own library"
    version = known(lib.version)
    if version is None or version == kernel:
        return f"libcuda is of {version or 'no release that it names'}, the host's driver of {kernel}"
    if any(path == m or path.startswith(m.rstrip("/") + "/") for m in known(facts.container.driver_mounts)):
        return f"{short(path)} is mounted into the container"
    yield Found(
        message=f"This {container} container uses the image's own libcuda, {version}; the host's driver is {kernel}.",
        proof=(
            Evidence(text=f"{path} is loaded; nothing is mounted there", source="/proc/self/mountinfo"),
            Evidence(text=f"kernel module {kernel}, the host's", source="/proc/driver/nvidia/version"),
            Evidence(text=answered(known(lib.init_result)), source=f"{path}, asked in a child process"),
        ),
        fixes=(without_driver(os.path.dirname(path)),),
    )


def differs_in_it(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text by which a container that is started with GPUs meets a driver of another release, and that of another image
    on the same host does not: the host's own files would be wrong in both."""
    bad = facts.text.said("image-mismatch")
    named = {e.values["image"] for e in bad}
    good = tuple(e for e in facts.text.said("image-run") if e.values["image"] not in named)
    works = good or facts.text.said("host-works")
    return (*works[:1], *bad[:1], *facts.text.said("nvml-failed")[-1:]) if bad and works else ()


def differs_from_the_host(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text by which a container meets two releases of the driver: NVML names its library's, and the host's driver is told
    to be of another branch. What the host mounts would be its own."""
    said, library = facts.text.said, facts.gpu.nvml_version
    host = [e for e in said("host-driver-said") if e.values["branch"] != str(library).partition(".")[0]]
    inside = isinstance(facts.system.container, str) or said(
        "talks-of-a-container", "container-shell", "image-mismatch"
    )
    if facts.gpu.nvml_error != _MISMATCH or not isinstance(library, str) or not inside:
        return ()
    failed, named = said("nvml-failed"), said("nvml-version")
    return (*host[:1], *failed[:1], *named[:1]) if host and len(named) == 1 else ()


def installs_a_driver(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of an image that installs the driver's libraries by packages, of another branch than the host's kernel module; they are
    what is loaded where that is told, or the container meets two releases."""
    said, (kernel, library) = facts.text.said, (facts.driver.kernel_version, facts.driver.libcuda.version)
    recipe = [e.line for e in said("builds-an-image", "container-run") if _RECIPE.match(e.text)]
    host = kernel if isinstance(kernel, str) else facts.gpu.driver_version
    if not _two_releases(facts) or not isinstance(host, str):
        return ()
    loaded = (library.partition(".")[0],) if isinstance(library, str) else ()
    other = (e for e in said("driver-libraries-named") if e.values["branch"] != host.partition(".")[0])
    packages = tuple(
        e
        for e in other
        if (not loaded or e.values["branch"] in loaded)
        and (_OF_AN_IMAGE.search(e.text) or any(n < e.line for n in recipe))
    )
    return (*packages[:2], *said("driver-versions-differ", "nvml-failed")[:1]) if packages else ()


def is_given_a_driver(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines by which a driver, or a CUDA that brings one, is installed in the image or the container, which meets two releases; none
    where the host meets them."""
    said = facts.text.said
    differ = said("driver-versions-differ", "nvml-failed") if _two_releases(facts) else ()
    of_the_host = said("container-libraries-differ", "driver-was-updated", "reboot-helps")
    put = said("driver-into-image-said")
    return (*put[:1], *differ[:1]) if differ and put and not of_the_host else ()


def _two_releases(facts: Facts) -> bool:
    return (
        bool(facts.text.said("driver-versions-differ"))
        or facts.gpu.nvml_error == _MISMATCH
        or facts.driver.libcuda.init_result in (803, 804)
    )


_RECIPE = Pattern(r"FROM |Step \d|#\d")
_OF_AN_IMAGE = Pattern(r"^RUN |(?i:\bimages?\b|\bdocker ?file\b|\bcontainer(?:'s)?\b)")
"""A line of a Dockerfile, or one that speaks of what an image holds."""
_MISMATCH = 18
"""NVML's code: library and module are of two releases."""


def without_driver(directory: str) -> Fix:
    """The line for the Dockerfile."""
    names = " ".join(f"{quote(directory)}/{name}" for name in ("libcuda.so*", "libnvidia-*.so*"))
    return Fix(
        kind="advice",
        risk="safe",
        summary="Build the image anew without the driver's packages and files: in its Dockerfile, last",
        steps=(f"RUN rm -f {names} && ldconfig",),
        verify="docker run --rm --gpus all IMAGE nvidia-smi",
    )
