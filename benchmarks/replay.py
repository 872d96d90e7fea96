"""How fast a report of eight GPUs is judged again, and whether a thousand in a row take more memory than ten.

    python -m benchmarks.replay [--count N]

Goals: `gpudoctor replay` of its zip within 1 s more than `gpudoctor --version`, and 1,000 in one process with flat memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from gpudoctor import api, bundle, cli_report, recorded, redact
from tests.eight import eight

WHEN = "2026-11-22T00:00:00+00:00"


def packed() -> bytes:
    """The zip of a machine with eight GPUs."""
    leaves = redact.together(bundle.make(eight(), WHEN), (), redact.Identity())
    return cli_report.zipped(leaves, cli_report.rendered_files(leaves.report, None, "warn", recorded=True), [], [])


def took(*arguments: str) -> float:
    """Seconds of a run of the command, as a user starts it."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gpudoctor", *arguments], stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def main() -> int:
    """Measure, print, exit with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    count = parser.parse_args().count
    data = packed()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "bundle.zip")
        file.write_bytes(data)
        pairs = [(took("--version"), took("replay", str(file))) for _ in range(6)][1:]
    version, replay = (min(one) for one in zip(*pairs, strict=True))
    print(f"the zip of 8 GPUs                  {len(data) / 1000:7.0f} kB")
    print(f"gpudoctor --version                {version:7.2f} s")
    print(
        f"gpudoctor replay of it             {replay:7.2f} s   {replay / version:.1f} times --version (goal: at most 1 s more)"
    )
    memory: dict[int, float] = {}
    began = time.perf_counter()
    for number in range(1, count + 1):
        api.judged(recorded.read(data))
        if number in (10, 100, count):
            memory[number] = psutil.Process().memory_info().rss / 1e6
            each = (time.perf_counter() - began) / number
            print(f"after {number:5} in one process       {memory[number]:7.0f} MB   {each * 1000:.0f} ms each")
    grown = memory[count] / memory[min(memory)]
    print(f"memory                             {grown:7.2f} times that after {min(memory)} (goal: at most 1.1)")
    return 0 if replay - version <= 1 and grown <= 1.1 else 1


if __name__ == "__main__":
    sys.exit(main())
