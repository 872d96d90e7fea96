"""The Windows Subsystem for Linux, whose driver is the one of Windows."""

from __future__ import annotations

from gpudoctor.checks._cuinit import MAPPED, SUCCESS, init_evidence, lies_in
from gpudoctor.checks._reasons import short
from gpudoctor.checks._said import fails, left_open, lines
from gpudoctor.facts import Facts, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage, on_library_path
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_WSL = "/usr/lib/wsl/"
_NO_GPU = ("tf-lists-no-gpu", "cuinit-fails", "cuinit-no-device", "cuinit-no-answer", "libcuda-not-found")


@check(
    "GD120",
    "wsl-libcuda-path",
    stage=Stage.DRIVER,
    explains=(
        *_NO_GPU,
        "driver-libcuda-not-on-path",
        "driver-library-mismatch",
        "driver-missing",
    ),
)
def wsl_libcuda_path(facts: Facts) -> Findings:
    """Under WSL2 another libcuda than the one of Windows is loaded, or none.

    What it looks at: on WSL2 alone, the path of the libcuda.so.1 that this environment loads, where cuInit fails, and
    whether Windows' driver has handed in its own below /usr/lib/wsl/lib.

    Why it matters: under WSL2 the driver is Windows' own, and only its libcuda knows the way to the GPU. A Linux driver
    that was installed inside puts another one before it, which finds no GPU.

    How to fix: remove NVIDIA's Linux driver packages inside WSL2 (install the CUDA toolkit only), and put
    /usr/lib/wsl/lib on the loader's path.

    Source: NVIDIA, CUDA on WSL user guide.
    """
    if facts.text.is_all and (told := _not_found_by_cudnn(facts)):
        yield Found(
            message="cuDNN finds no libcuda.so under WSL, where it lies in /usr/lib/wsl/lib.",
            proof=lines(told),
            fixes=(on_library_path([f"{_WSL}lib"]),),
        )
        return
    if not known(facts.system.wsl):
        raise NotApplicable("this is no WSL2")
    lib = facts.driver.libcuda
    path = known(lib.path)
    if path is not None and (path.startswith(_WSL) or lib.init_result == SUCCESS):
        if facts.text.is_all:  # what the cache lists there is not yet what a program finds
            known(lib.init_result)
        return f"libcuda.so.1 is {short(path)}"
    if lies_in(lib, "stubs") or lies_in(lib, "compat"):
        raise NotApplicable(f"the libcuda that is loaded, {path}, is no driver's own")
    if not any(c.startswith(_WSL) for c in known(lib.candidates)):
        return f"there is no libcuda in {_WSL}"
    if path is not None and isinstance(lib.no_answer, Unread | None):
        known(lib.init_result)
    yield Found(
        message=f"{path} is loaded, and Windows' driver has its own libcuda in {_WSL}lib."
        if path is not None
        else f"Windows' driver has its libcuda in {_WSL}lib, where the loader does not look.",
        proof=(
            *((init_evidence(lib),) if path is not None and not isinstance(lib.init_result, Unread) else ()),
            Evidence(text=f"libcuda.so.1 is {path or 'not found'}", source=MAPPED if path else "dynamic loader"),
            Evidence(text="libcuda.so.1 lies in /usr/lib/wsl/lib", source="files"),
        ),
        fixes=(
            on_library_path([f"{_WSL}lib"]),
            Fix(
                kind="command",
                risk="needs root",
                summary="Remove the Linux driver's libraries inside WSL2, and tell the loader's cache",
                steps=("sudo apt-get remove --purge 'libnvidia-compute-*' 'nvidia-driver-*'", "sudo ldconfig"),
                verify="nvidia-smi",
            ),
        ),
    )


def _not_found_by_cudnn(facts: Facts) -> tuple[TextEvent, ...]:
    """TensorFlow found libcuda.so.1 and the GPU; a part of cuDNN asks for libcuda.so, which stands on no path."""
    under_wsl = facts.system.wsl is True or facts.text.said("wsl-named")
    return tuple(e for e in facts.text.said("cudnn-lacks-libcuda") if "libcuda.so" in e.text) if under_wsl else ()


def _by_its_windows(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that names a Windows from before WSL2, where somebody is in its subsystem."""
    inside = any(not _AWAY.search(e.text) for e in facts.text.said("wsl-named"))
    return facts.text.said("windows-before-wsl2") if inside else ()


_AWAY = Pattern(
    r"(?i)(?:\b(?:not|no|never|without|instead of)\b|n't\b)[^.\n]{0,10}\bwsl|\bwsl\b[^.\n]{0,10}(?:\bnot\b|n't\b)|\bdual[- ]?boot"
)
"""Who is elsewhere."""
_FIRST = Pattern(r"(?:4\.4\.0-\d+|3\.4\.0)-Microsoft")
"""The release that WSL 1 tells, which is no Linux kernel but Windows' own; WSL2's ends with microsoft-standard-WSL2."""


@check(
    "GD126",
    "wsl1-no-gpu",
    stage=Stage.DRIVER,
    explains=(
        *_NO_GPU,
        "nvidia-smi-fails",
        "driver-does-not-load",
        "driver-missing",
        "driver-module-not-loaded",
        "wsl-libcuda-path",
    ),
)
def wsl1_no_gpu(facts: Facts) -> Findings:
    """This is WSL 1, which has no GPU.

    What it looks at: the kernel's release. WSL 1 has none of its own and tells of 4.4.0-…-Microsoft; WSL2 runs a Linux kernel, whose
    release ends with microsoft-standard-WSL2. In a pasted text, its release, somebody who says WSL 1, or WSL
    on a Windows from before WSL2 (build 18362), where no GPU is found.

    Why it matters: no driver for Linux can be loaded there, and nothing that is installed inside changes that.

    How to fix: turn the distribution into one of WSL2: in Windows, `wsl --set-version NAME 2`.

    Source: Microsoft, 'Comparing WSL versions'; NVIDIA, CUDA on WSL user guide ('WSL 2 is required').
    """
    if facts.text.is_all:
        told = facts.text.said("wsl-1")
        if not told and not facts.text.said("wsl-2"):
            told = facts.text.said("wsl-1-named") or _by_its_windows(facts)
        if not told or not fails(facts):
            raise left_open("uname -r")
        proof = lines(told)
    else:
        if not known(facts.system.wsl):
            raise NotApplicable("this is no WSL")
        release = known(facts.system.kernel)
        if _FIRST.fullmatch(release) is None:
            return f"the kernel is {release}"
        proof = (Evidence(text=release, source="uname -r"),)
    yield Found(
        message="WSL 1 has no Linux kernel, so that no driver of a GPU can be loaded in it.",
        proof=proof,
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="In PowerShell: wsl --list --verbose names the distribution, wsl --set-version NAME 2 turns it into one of WSL2 "
                "(this takes minutes; back up first what must not be lost)",
                steps=("wsl --list --verbose", "wsl --set-version NAME 2"),
                verify="uname -r; nvidia-smi",
            ),
        ),
    )
