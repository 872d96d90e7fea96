"""What several driver checks ask of cuInit's answer and of a libcuda's path."""

from __future__ import annotations

import os

from gpudoctor import compat
from gpudoctor.facts import Facts, Libcuda, SearchStep, Unread, known
from gpudoctor.findings import Evidence, NotApplicable

SUCCESS, STUB, NO_DEVICE, UNKNOWN_ERROR = 0, 34, 100, 999
OLD_STUB = -1
"""What the stubs of CUDA 11.0 and older answer."""
NOT_READY, DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED = 802, 803, 804


def answered(result: int) -> str:
    """'cuInit answered 100 (CUDA_ERROR_NO_DEVICE: no CUDA-capable device …)'."""
    named = compat.cuda_result(result)
    return f"cuInit answered {result}" + (f" ({named.name}: {named.meaning})" if named else "")


def init_result(facts: Facts) -> int:
    """cuInit's answer; not applicable where there is no library that could be asked."""
    lib = facts.driver.libcuda
    if lib.path is None:
        raise NotApplicable("there is no libcuda.so.1 that could be asked")
    return known(lib.init_result)


def starts(facts: Facts) -> bool:
    """CUDA starts, and so has what it needs: what is refused or not there belongs to others, or is not needed."""
    return facts.driver.libcuda.init_result == SUCCESS


def init_evidence(lib: Libcuda) -> Evidence:
    source = lib.path if isinstance(lib.path, str) else "libcuda.so.1"
    return Evidence(text=answered(known(lib.init_result)), source=f"{source}, asked in a child process")


MAPPED = "dladdr, in a child process"
"""Who says from which file libcuda was loaded."""


def kernel_release(facts: Facts) -> str:
    """The kernel module's release, for a person; 'not loaded' only where that was seen."""
    version = facts.driver.kernel_version
    return "of unknown release" if isinstance(version, Unread) else version or "not loaded"


def lies_in(lib: Libcuda, part: str) -> bool:
    """Whether the libcuda that is loaded lies in a directory called `part`, or was found through one."""
    path = lib.path if isinstance(lib.path, str) else ""
    found = lib.found_in.directory + "/" if isinstance(lib.found_in, SearchStep) else ""
    return directory_matches(path, part) or directory_matches(found, part)


def directory_matches(path: str, part: str) -> bool:
    return part in os.path.dirname(path).split("/")


def path_of(lib: Libcuda, *, decided: bool) -> str:
    """The path of the libcuda that is loaded; '' where it is not known and cuInit's answer has `decided` without it."""
    return (lib.path if isinstance(lib.path, str) else "") if decided else known(lib.path) or ""


def own_libraries(candidates: tuple[str, ...]) -> list[str]:
    """Those that may be the driver's own: no toolkit's stub, no forward-compatibility library."""
    return [c for c in candidates if not directory_matches(c, "stubs") and not directory_matches(c, "compat")]
