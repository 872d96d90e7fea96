"""What is right for each text of the corpus: decided by what the text can show, not by what was done to make it.

    python -m tests.logs.answers          writes corpus/answers.json and h200/answers.json, one line a text

kind        right is
cause       one cause, the first of `causes`, as the first answer; the further ones are as true, and may be named beside it
candidates  candidates, all of `causes` among them; one cause alone is wrong, whichever it is, unless `also` has it
nothing wrong   that nothing in the text is wrong

`also` names what is right as well: a single cause, or 'nothing wrong'. `must_not` names what may be neither the answer nor
a candidate. A text that says no more than that the list is empty has no `causes`: any candidates will do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.logs.cases import CASES, RELEASES

HERE = Path(__file__).parent
Right = dict[str, Any]


def cause(*names: str, must_not: tuple[str, ...] = ()) -> Right:
    return {"kind": "cause", "causes": list(names), "must_not": list(must_not)}


def candidates(*names: str, must_not: tuple[str, ...] = (), also: tuple[str, ...] = ()) -> Right:
    right: Right = {"kind": "candidates", "causes": list(names), "must_not": list(must_not)}
    return right | ({"also": list(also)} if also else {})


def fine(*must_not: str) -> Right:
    return {"kind": "nothing wrong", "causes": [], "must_not": list(must_not)}


NO_DRIVER = ("driver-missing", "container-no-gpus-flag", "no-nvidia-gpu")
LIBS = ("cuda-libs-missing", "ld-library-path-not-set")
HIDDEN = ("cuda-visible-devices-empty", "cuda-visible-devices-wrong")
NODES = ("device-nodes-missing", "device-node-permission", "container-cgroup-devices-lost")
EMPTY_LIST = candidates(also=("nothing wrong",))
"""Nothing but '[]': the user's own print, which a reader need not understand."""


def version(release: str) -> tuple[int, ...]:
    """'cpu-2.18.1' -> (2, 18, 1)."""
    return tuple(map(int, release.rsplit("-", 1)[-1].split(".")))


def right(release: str, case: str) -> Right:
    """The answer to the text of a release and a case."""
    if release == "none":
        return cause("tf-not-installed")
    at = version(release)
    special = SPECIAL.get(case)
    if special is not None:
        return special
    if release.startswith("cpu-") or release == "1.15.5":  # these builds have no CUDA and never mention it
        return EMPTY_LIST if at[0] > 1 else fine()
    if case.startswith("cuinit-"):
        return cuinit(at, case.removeprefix("cuinit-"))
    if case.startswith("cvd-"):
        if not at >= SHOWS_VISIBLE:
            return cuinit(at, "100")
        return cause("cuda-visible-devices-wrong" if case == "cvd-7" else "cuda-visible-devices-empty")
    if case.startswith("libs-"):
        return libraries(at, case.removeprefix("libs-"))
    return driver(at, case)


SHOWS_VISIBLE = (2, 19)
SILENT_CUINIT = {(2, 12), (2, 13)}  # they say nothing where libcuda is not found
SILENT_DIAGNOSTICS = (
    2,
    12,
)  # from here on a missing module and a missing /dev/nvidia0 both leave the lines on versions out
SILENT_LIBRARIES = (2, 12)  # from here on


def driver(at: tuple[int, ...], case: str) -> Right:
    """No libcuda, or no libnvidia-ml."""
    if case == "no-libcuda":
        return candidates("driver-libcuda-not-on-path", "container-capabilities-without-compute")
    if case == "no-nvml":
        return EMPTY_LIST
    if case == "no-driver-libs" and at[:2] in SILENT_CUINIT:
        return EMPTY_LIST
    return candidates(*NO_DRIVER, must_not=HIDDEN)


def cuinit(at: tuple[int, ...], code: str) -> Right:
    """cuInit answered a code."""
    hidden = HIDDEN if at < SHOWS_VISIBLE else ()
    unknown = ("cuinit-uvm-device-missing", "cuinit-unknown-after-suspend")
    node: tuple[str, ...] = ("device-nodes-missing", "container-no-gpus-flag")
    module: tuple[str, ...] = ("driver-module-not-loaded", "container-no-gpus-flag")
    if at >= SILENT_DIAGNOSTICS:
        node = module = ("device-nodes-missing", "driver-module-not-loaded", "container-no-gpus-flag")
    versions = ("driver-library-mismatch", "cuda-compat-unsupported")
    return {
        "100": candidates(*NODES, *hidden, must_not=() if hidden else HIDDEN),
        "100-no-node": candidates(*node),
        "100-no-module": candidates(*module),
        "999": candidates(*unknown, must_not=HIDDEN),
        "999-no-libs": candidates(*unknown, must_not=("driver-missing",)),
        "999-no-module": candidates("cuinit-uvm-device-missing"),
        "803": candidates(*versions),
        "803-older": candidates(*versions),
        "804": candidates(*versions),
        "802": candidates("fabric-manager-not-running", "fabric-manager-version-mismatch"),
        "34": cause("libcuda-stub-loaded"),
        "46": candidates("compute-mode-prohibited", "gpu-exclusive-busy"),
        "2": candidates("address-space-limit", "gpu-memory-held-by-other-process"),
    }.get(code) or candidates(must_not=HIDDEN)


def libraries(at: tuple[int, ...], case: str) -> Right:
    """CUDA libraries that can't be opened."""
    gap = ("tf-wheel-runpath-gap",) if at[:2] == (2, 21) else ()
    if case == "no-cusolver-vlog":
        return candidates(*LIBS, *gap)
    if at >= SILENT_LIBRARIES:
        if case in ("none", "no-cudart", "other-major"):
            return candidates(*LIBS, must_not=("driver-missing", "no-nvidia-gpu"))
        cudnn = case in ("no-cudnn", "other-cudnn", "cudnn-short")
        if gap and cudnn:  # this release has a line of its own for cuDNN
            return candidates("cudnn-missing", "cudnn-wrong-major", "ld-library-path-not-set")
        return candidates(*LIBS, *(gap or ("cudnn-missing",)))
    if case in ("none", "other-major"):
        return candidates(*LIBS, "cuda-version-mismatch", must_not=("driver-missing",))
    if case in ("no-cudnn", "other-cudnn"):
        return candidates("cudnn-missing", "cudnn-wrong-major", "ld-library-path-not-set")
    if case in ("cudnn-short", "cublas-no-elf"):
        return cause("cuda-lib-unusable")
    if case == "cusolver-needs":
        return candidates("cuda-libs-missing", "cuda-lib-from-other-toolkit")
    return candidates(*LIBS)


SPECIAL: dict[str, Right] = {
    "no-driver-quiet": EMPTY_LIST,
    "shadowed": candidates("tf-shadowed", "tf-import-broken", also=("tf-shadowed",)),
    "numpy-2": cause("numpy-abi-break"),
    "numpy-old": cause("numpy-abi-break"),
    "protobuf-4": cause("protobuf-mismatch"),
    "protobuf-5": cause("protobuf-mismatch"),
    "keras-other": cause("tf-import-broken"),
}

OPENED = candidates(*LIBS, "tf-wheel-runpath-gap")
NO_CUDART = candidates(*LIBS, must_not=("driver-missing", "no-nvidia-gpu"))
H200: dict[str, Right] = {
    "compat-libcuda": candidates(
        "cuda-compat-unsupported", "driver-library-mismatch", also=("cuda-compat-unsupported",)
    ),
    "cudnn-cu13-first": fine(),
    "cvd-bad-uuid": cause("cuda-visible-devices-wrong"),
    "cvd-empty": cause("cuda-visible-devices-empty"),
    "cvd-minus1": cause("cuda-visible-devices-empty"),
    "cvd-out-of-range": cause("cuda-visible-devices-wrong"),
    "cvd-partial": fine(),
    "healthy": fine(),
    "nccl-bad-ifname": cause("nccl-wrong-interface"),
    "nccl-ok": fine(),
    "nccl-p2p-disabled": cause("nccl-p2p-disabled-by-env"),
    "nccl-p2p-shm-disabled": cause("nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env"),
    "nccl-ring-1chan": cause("nccl-channels-limited"),
    "nccl-small-shm": cause("nccl-shm-too-small", "nccl-p2p-disabled-by-env"),
    "no-ctl": candidates(*NODES, must_not=HIDDEN),
    "no-cublas": OPENED,
    "no-cuda_nvcc": fine(),
    "no-cuda_runtime": NO_CUDART,
    "no-cudnn": fine("cudnn-missing"),
    "no-cufft": OPENED,
    "no-cusolver": OPENED,
    "no-cusparse": fine(),
    "no-libcuda": fine(),
    "no-nccl": fine(),
    "no-nvidia-wheels": NO_CUDART,
    "no-nvidia0": fine(),
    "no-nvjitlink": OPENED,
    "no-uvm": candidates("cuinit-uvm-device-missing", "cuinit-unknown-after-suspend", must_not=HIDDEN),
    "plain-pip": OPENED,
    "stub-libcuda": cause("libcuda-stub-loaded"),
    "tf32-override-off": fine(),
    "vlog-plain": candidates("tf-wheel-runpath-gap", *LIBS, also=("tf-wheel-runpath-gap",)),
}


def corpus() -> list[dict[str, Any]]:
    """The answers to the texts that are there."""
    return [
        {
            "file": f"{release.name}-{case}.log",
            "made": f"{release.title}: {CASES[case].made}",
            "right": right(release.name, case),
        }
        for release in RELEASES
        for case in CASES
        if (HERE / "corpus" / f"{release.name}-{case}.log").exists()
    ]


def h200() -> list[dict[str, Any]]:
    """The answers to the texts recorded on a host with two GPUs."""
    made = "TensorFlow 2.21.0 on a host with two H200, one fault: "
    return [{"file": f"{name}.log", "made": made + name, "right": one} for name, one in H200.items()]


def write(place: Path, answers: list[dict[str, Any]]) -> None:
    """One line a text."""
    lines = ",\n".join(json.dumps(one) for one in sorted(answers, key=lambda a: str(a["file"])))
    (place / "answers.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    write(HERE / "corpus", corpus())
    write(HERE / "h200", h200())
