"""Makes the texts of tests/logs/corpus: real TensorFlow releases, each under one fault at a time.

    python -m tests.logs.make --work DIR --pythons DIR [--release NAME …] [--case NAME …] [--keep]

DIR of --pythons holds one interpreter a directory, named by version, with bin/python (as pyenv lays them out). Wanted
besides: gcc, pip and its index. A release is installed into a venv under --work (about 2 GB), without its CUDA extra; the
CUDA libraries, the driver and its kernel module are stand-ins compiled from faking/ and tests/fakes. What is printed is
the text, with stdout and stderr together; then only these names are replaced:

* the venv by /home/user/venv, the directory of the script by /home/user/work, --pythons by /home/user/.pyenv/versions;
* the stand-in libraries' directory by /usr/local/cuda/lib64, the driver's by /usr/lib/x86_64-linux-gnu;
* the name of the host by 'host'.

The answers are written by `python -m tests.logs.answers`, from what is decided there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.building import Workshop, put
from tests.logs.cases import CASES, RELEASES, Case, Release

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
CUDA, DRIVER = "/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"
KERNEL_SAYS = """NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue Feb 27 18:22:31 UTC 2024
GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)
"""
SCRIPT = """import tensorflow as tf

print(tf.__version__)
print(tf.config.list_physical_devices('GPU'))
print(tf.matmul(tf.ones((2, 2)), tf.ones((2, 2))))
"""
SCRIPT_1 = """import tensorflow as tf

print(tf.__version__)
print(tf.test.is_gpu_available())
with tf.Session() as session:
    print(session.run(tf.matmul(tf.ones((2, 2)), tf.ones((2, 2)))))
"""


def sonames(version: str) -> dict[str, str]:
    """Short name -> soname of the CUDA libraries that a release opens: {'cudart': 'libcudart.so.12', …}."""
    builds = json.loads((HERE.parents[1] / "compat" / "matrix.json").read_text())["builds"]
    for build in builds:
        if build["version"] == version and build["platform"] == "linux-x86_64":
            return {s.removeprefix("lib").split(".so")[0]: s for s in build["sonames"]}
    raise LookupError(version)


def next_major(soname: str) -> str:
    """The same library, one major version on."""
    head, _, tail = soname.partition(".so.")
    return f"{head}.so.{int(tail.split('.')[0]) + 1}"


class Bench:
    """The place of work: venvs, stand-ins and the hosts made of them."""

    def __init__(self, work: Path, pythons: Path) -> None:
        self.work, self.pythons = work.resolve(), pythons.resolve()
        built = self.work / "built"
        built.mkdir(parents=True, exist_ok=True)
        self.shop = Workshop(built)

    def interpreter(self, version: str) -> Path:
        """The newest interpreter of a version."""
        return max(self.pythons.glob(f"{version}.*/bin/python"))

    def venv(self, release: Release) -> Path:
        """The release's venv, made where it is not there."""
        place = self.work / f"venv-{release.name}"
        if not (place / "ready").exists():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([self.interpreter(release.python), "-m", "venv", place], check=True)
            if release.package:
                self.install(place, f"{release.package}=={release.version}", *release.pins)
            (place / "ready").touch()
        return place

    def install(self, venv: Path, *words: str) -> None:
        """What pip is told, in a venv."""
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "-q", "--no-compile", *words], check=True)

    def compiled(self, source: str, *options: str) -> Path:
        """A stand-in of faking/."""
        out = self.work / "built" / (source + "".join(options).replace("/", ""))
        if not out.exists():
            command = ["gcc", "-shared", "-fPIC", *options, "-o", str(out), str(HERE / "faking" / source), "-ldl"]
            subprocess.run(command, check=True)
        return out

    def stand_in(self, name: str, soname: str, needed: tuple[str, ...] = ()) -> Path:
        """A library that is found."""
        if name == "cudart":
            major = soname.rsplit(".so.", 1)[1].split(".")
            version = int(major[0]) * 1000 + int(major[1] if len(major) > 1 else 2) * 10
            return self.compiled("libcudart.c", f"-DCUDART={version}", f"-Wl,-soname,{soname}")
        if name == "cudnn":
            return self.compiled("libcudnn.c", f"-DMAJOR={soname.rsplit('.', 1)[1]}", f"-Wl,-soname,{soname}")
        return self.shop.stub(soname, needed)

    def libraries(self, case: Case, names: dict[str, str], place: Path) -> None:
        """The CUDA libraries of a case, in a directory."""
        place.mkdir()
        for name, soname in names.items():
            if case.libraries == "all" and name not in case.without:
                damage = case.damaged[1] if case.damaged and case.damaged[0] == name else ""
                needed = (damage.split()[1],) if damage.startswith("needs") else ()
                made = put(self.stand_in(name, soname, needed), place, soname)
                if damage == "short":
                    made.write_bytes(made.read_bytes()[:20])
                elif damage == "no-elf":
                    made.write_text("version 1\noid sha256:0d1e2f\nsize 107480464\n" + "#" * 4096 + "\n")
            elif name in case.other_major:
                other = next_major(soname)
                put(self.stand_in(name, other), place, other)

    def host(self, case: Case, names: dict[str, str]) -> dict[str, str]:
        """The environment of a case, its directories made."""
        here = self.work / "host"
        shutil.rmtree(here, ignore_errors=True)
        (here / "home").mkdir(parents=True)
        (here / "numa_node").write_text("-1\n")
        paths = []
        if case.libraries != "none" or case.other_major:
            self.libraries(case, names, here / "cuda")
            paths.append(here / "cuda")
        found = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(here / "home"), "LANG": "C.UTF-8",
            "LD_PRELOAD": str(self.compiled("host.c")), "FAKE_CUDA_INIT": str(case.cuinit), "FAKE_CUDA_DEVICES": "1",
            "FAKE_NUMA_NODE": str(here / "numa_node"), "FAKE_NVML_COUNT": "1", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        if case.libcuda is not None:
            file = "libcuda.so." + (case.libcuda or "1")
            put(self.compiled("libcuda.c", "-Wl,-soname,libcuda.so.1"), here / "driver", file)
            if case.libcuda:
                (here / "driver" / "libcuda.so.1").symlink_to(file)
            if case.nvml:
                nvml = self.shop.fake("libnvidia_ml.c", "libnvidia-ml.so.1")
                put(nvml, here / "driver", "libnvidia-ml.so.1")
            paths.append(here / "driver")
        if case.kernel is not None:
            says = here / "version"
            says.write_text(KERNEL_SAYS.format(version=case.kernel))
            found["FAKE_KERNEL_DRIVER"] = str(says)
        if case.nvidia0:
            found["FAKE_NVIDIA0"] = "1"
        if paths:
            found["LD_LIBRARY_PATH"] = ":".join(map(str, paths))
        return found | dict(case.environment)

    def clean(self, text: str, python: Path) -> str:
        """The text as a user's machine would have printed it."""
        for old, new in (
            (str(self.work / "host/cuda"), CUDA),
            (str(self.work / "host/driver"), DRIVER),
            (str(self.work / "host/home"), "/home/user"),
            (str(self.work / "script"), "/home/user/work"),
            (str(python.parents[1]), "/home/user/venv"),
            (str(self.pythons), "/home/user/.pyenv/versions"),
            (str(HERE.parents[1]), "/home/user"),
            (str(self.work), "/home/user"),
        ):
            text = text.replace(old, new)
        return re.sub(rf"\b{re.escape(platform.node())}\b", "host", text)

    def run(self, release: Release, case: Case, python: Path, names: dict[str, str]) -> str:
        """What the script prints in a case."""
        script = self.work / "script"
        shutil.rmtree(script, ignore_errors=True)
        script.mkdir()
        (script / "train.py").write_text(SCRIPT_1 if release.version.startswith("1.") else SCRIPT)
        for name, content in case.beside:
            (script / name).write_text(content)
        out = self.work / "out"
        with out.open("wb") as stream:
            subprocess.run(
                [python, "train.py"],
                cwd=script, env=self.host(case, names), stdout=stream, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, timeout=300, check=False, preexec_fn=lambda: os.nice(5),
            )  # fmt: skip
        return self.clean(out.read_text(errors="replace"), python)


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    words.add_argument("--work", type=Path, required=True)
    words.add_argument("--pythons", type=Path, required=True)
    words.add_argument("--release", nargs="*", help="names of releases; all without it")
    words.add_argument("--case", nargs="*", help="names of cases; those of the release without it")
    words.add_argument("--missing", action="store_true", help="only what has no text yet")
    words.add_argument(
        "--keep", action="store_true", help="keep the venvs, which makes cases with packages unrepeatable"
    )
    given = words.parse_args()
    bench = Bench(given.work, given.pythons)
    CORPUS.mkdir(exist_ok=True)
    for release in RELEASES:
        if given.release and release.name not in given.release:
            continue
        venv = bench.venv(release)
        names = sonames(release.version) if release.package else {}
        for name in sorted(given.case or release.cases, key=lambda n: len(CASES[n].packages)):
            case, text_file = CASES[name], CORPUS / f"{release.name}-{name}.log"
            if set(case.without) - set(names) or (given.missing and text_file.exists()):
                continue
            if case.packages:
                bench.install(venv, "--no-deps", "--force-reinstall", *case.packages)
            text = bench.run(release, case, venv / "bin/python", names)
            if case.packages:
                bench.install(venv, f"{release.package}=={release.version}", *release.pins)
            text_file.write_text(text)
            print(f"{release.name}-{name}: {len(text)} characters", file=sys.stderr, flush=True)
        if not given.keep:
            shutil.rmtree(venv)


if __name__ == "__main__":
    main()
