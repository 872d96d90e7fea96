"""How long gpudoctor takes, as ratios to other commands in the same run.

    python -m benchmarks.startup [--other CUDA_DOCTOR] [--python PATH] [--rounds N]

`--other` is an installed `cuda-doctor` (PyPI, 0.2.0 is what the goals were set against); without it, only
the quick examination is measured. The commands take turns, so that a busy machine slows all of them alike;
the figure of each is the median.

Goals: `gpudoctor --version` is not slower than `cuda-doctor --version`; `gpudoctor check --level quick
--no-trials` takes at most 1.5 s more than `gpudoctor --version` on a machine without a GPU; a question put to the
knowledge in compat/ takes at most 0.05 s more in its process than the same process without it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

_IMPORT = "from gpudoctor import compat\n"
_QUESTION = """
machine = compat.Machine(platform="linux-x86_64", driver="535.161.08", python="3.11", gpus=(compat.gpu_named("H100"),))
print(compat.answer(compat.releases_like("2.21")[0], machine).verdict)
"""


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - started


def main() -> int:
    """Measure, print a table, exit with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", help="the cuda-doctor command to compare with")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that the quick level examines")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    own = shutil.which("gpudoctor", path=str(Path(sys.executable).parent)) or "gpudoctor"
    commands = {
        "gpudoctor --version": [own, "--version"],
        "gpudoctor check --level quick --no-trials": [
            own, "check", "--level", "quick", "--no-trials", "--python", options.python,
        ],
        "import gpudoctor.compat": [sys.executable, "-c", _IMPORT],
        "import gpudoctor.compat, one question": [sys.executable, "-c", _IMPORT + _QUESTION],
    }  # fmt: skip
    if options.other:
        commands["cuda-doctor --version"] = [options.other, "--version"]
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for round_ in range(options.rounds + 1):
        for name, command in commands.items():
            took = seconds(command)
            if round_:  # the first round warms the caches
                runs[name].append(took)
    medians = {name: statistics.median(took) for name, took in runs.items()}
    base = medians["gpudoctor --version"]
    for name, median in medians.items():
        print(f"{name:45} {median:6.3f} s   {median / base:5.2f} x gpudoctor --version")
    more = medians["gpudoctor check --level quick --no-trials"] - base
    met = more <= 1.5
    question = medians["import gpudoctor.compat, one question"] - medians["import gpudoctor.compat"]
    met = met and question <= 0.05
    print(f"one question beyond start-up: {question:.3f} s (goal: at most 0.05 s)")
    print(f"quick examination beyond start-up: {more:.3f} s (goal: at most 1.5 s without a GPU)")
    if options.other:
        ratio = base / medians["cuda-doctor --version"]
        met = met and ratio <= 1.0
        print(f"gpudoctor --version / cuda-doctor --version: {ratio:.2f} (goal: at most 1)")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
