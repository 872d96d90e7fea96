"""Makes a GPU slow or full for others, by gpudoctor's own kernels: `python load.py busy|full GPU [MIB]`.

'busy' keeps it at work; 'full' holds all its memory but MIB. It prints 'ready' when it is so, and goes on until it is killed. Needs the
driver alone.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from gpudoctor import patient

WARM_S = 2.0
"""NVML's utilisation is the mean of up to a second."""
_PIECE = 256 << 20


def main(kind: str, ordinal: int, left_mib: int) -> None:
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # as NVML counts
    names: dict[str, object] = {"__name__": "patient"}
    exec(compile(patient.program(["ptx.units_of"]), "patient", "exec"), names)
    gpu = names["Gpu"](names["Cuda"](), ordinal).open()  # type: ignore[operator]
    if kind == "full":
        while gpu.memory_bytes()[0] > (left_mib << 20) + _PIECE:
            gpu.allocate(_PIECE)
        say_ready()
        while True:
            time.sleep(1)
    units, memory = names["Units"](gpu), gpu.allocate(_PIECE)  # type: ignore[operator]
    warm = time.monotonic() + WARM_S
    told = False
    while True:
        for seed in range(64):
            units.fill(memory, _PIECE, 0, seed)
        gpu.wait()
        if not told and time.monotonic() >= warm:
            say_ready()
            told = True


def say_ready() -> None:
    print("ready", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
