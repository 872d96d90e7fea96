"""How fast `gpudoctor log` is: its start beside that of `--version`, and long texts of several kinds.

    python -m benchmarks.log [--megabytes N] [--rounds N]

Goals: a small text takes at most 0.1 s more than `gpudoctor --version`; long texts are read at 20 MB/s or more, in less than
300 MB of memory.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SMALL = Path(__file__).parents[1] / "tests" / "logs" / "h200" / "healthy.log"
RUN = [sys.executable, "-m", "gpudoctor"]


def steps() -> Iterator[bytes]:
    """A training's lines: none tells anything."""
    chance = random.Random(1)
    lines = [
        f"step {n} loss {chance.random():.5f} accuracy {chance.random():.4f} {chance.randbytes(24).hex()}\n".encode()
        for n in range(20_000)
    ]
    while True:
        yield b"".join(chance.sample(lines, 2000))


def errors() -> Iterator[bytes]:
    """TensorFlow's errors, no two alike."""
    chance = random.Random(1)
    place = "E tensorflow/stream_executor/cuda/cuda_driver.cc:328] error"
    while True:
        yield b"".join(
            f"2024-05-01 12:00:{n % 60:02d}.{n:06d}: {place} {chance.randbytes(4).hex()} happened\n".encode()
            for n in range(2000)
        )


def one_line() -> Iterator[bytes]:
    """A line that has no end."""
    while True:
        yield b"x cuda Error " * 10_000


def junk() -> Iterator[bytes]:
    """A text that goes over into what is none."""
    yield b"hello\n" * 2000
    while True:
        yield os.urandom(1 << 20)


TEXTS: dict[str, Callable[[], Iterator[bytes]]] = {
    "lines of a training": steps, "a million errors": errors, "one line": one_line, "a text, then junk": junk,
}  # fmt: skip


def run(*arguments: str) -> tuple[float, float]:
    """Seconds, and the most memory in MB."""
    began = time.perf_counter()
    with subprocess.Popen([*RUN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return time.perf_counter() - began, used.ru_maxrss / 1024


def main() -> int:
    """Measure, print a table, exit with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    version, small = [], []
    for _ in range(options.rounds + 1):  # in turns; the first round warms the caches
        version.append(run("--version")[0])
        small.append(run("log", str(SMALL))[0])
    base, whole = statistics.median(version[1:]), statistics.median(small[1:])
    print(f"gpudoctor --version       {base:6.3f} s")
    print(f"gpudoctor log, small text {whole:6.3f} s   {whole - base:+.3f} s (goal: at most +0.1 s)")
    met = whole - base <= 0.1
    with tempfile.TemporaryDirectory() as place:
        for name, made in TEXTS.items():
            path = Path(place, "text.log")
            with path.open("wb") as stream:
                for piece in made():
                    stream.write(piece)
                    if stream.tell() >= options.megabytes * 1_000_000:
                        break
            took, memory = run("log", str(path))
            rate = path.stat().st_size / 1e6 / took
            met = met and rate >= 20 and memory < 300
            print(f"{name:25} {rate:6.1f} MB/s   {memory:4.0f} MB of memory (goals: 20 MB/s, 300 MB)")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
