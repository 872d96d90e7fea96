"""The machinery of the faults, without a GPU: TensorFlow's real loader object, stub libraries, a libcuda and an NVML that
are fakes, and the files that a kernel with a driver shows."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from tests.building import Workshop, put
from tests.gpu import judging
from tests.gpu.faults import PAIRS, Case, draw, faults, pairs
from tests.gpu.scene import Machine, base_environment, look_at, names
from tests.probes.test_tensorflow import lay_out_site

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root")
VERSION = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x@)  \nGCC version: x\n"
NODES = ("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1")


def kernel(place: Path) -> tuple[list[object], ...]:
    """What a kernel with the driver shows, as far as the checks ask; the nodes are /dev/null by other names."""
    nvidia = place / "proc" / "nvidia"
    for index in range(2):
        gpu = nvidia / "gpus" / f"0000:0{index + 1}:00.0"
        gpu.mkdir(parents=True)
        (gpu / "information").write_text(
            f"Model: \t\t Fake GPU\nBus Location: \t 0000:0{index + 1}:00.0\nDevice Minor: \t {index}\nGPU Excluded:\t No\n"
        )
        device = place / "pci" / f"0000:0{index + 1}:00.0"
        device.mkdir(parents=True)
        for name, text in (("vendor", "0x10de"), ("device", "0x2335"), ("class", "0x030200")):
            (device / name).write_text(text + "\n")
    (nvidia / "version").write_text(VERSION)
    (place / "devices").write_text("Character devices:\n195 nvidia\n  1 nvidia-uvm\n\nBlock devices:\n")
    (place / "modules").write_text("nvidia_uvm 1 0 - Live 0x0 (O)\nnvidia 1 1 nvidia_uvm, Live 0x0 (O)\n")
    mounts: list[list[object]] = [
        ["shadow", "/proc/driver", [], {"nvidia": str(nvidia)}],
        ["bind", str(place / "devices"), "/proc/devices"],
        ["bind", str(place / "modules"), "/proc/modules"],
        ["bind", str(place / "pci"), "/sys/bus/pci/devices"],
        ["devices", [], {}, {name: [1, 3] for name in NODES}],
    ]
    return tuple(m for m in mounts if m[0] != "bind" or os.path.exists(str(m[2])))


def recorded(site: Path, component: str, *, sizes: bool = True) -> None:
    """What pip writes down of a wheel."""
    info = site / f"nvidia_{component}_cu12-12.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: nvidia-{component}-cu12\nVersion: 12.0\n")
    files = list((site / "nvidia" / component / "lib").iterdir())
    lines = [f"{p.relative_to(site)},,{p.stat().st_size if sizes else ''}\n" for p in files]
    (info / "RECORD").write_text("".join(lines))


@pytest.fixture(scope="module")
def machine(tensorflow_directory: Path, workshop: Workshop, place: Path) -> Machine:
    lay_out_site(tensorflow_directory, workshop, place)
    for component in ("cufft", "cudnn", "cublas"):
        recorded(place / "site", component)
    recorded(place / "site", "cusparse", sizes=False)
    put(workshop.fake("libcuda.c", "libcuda.so.1"), place / "driver", "libcuda.so.1")
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), place / "driver", "libnvidia-ml.so.1")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA_", "NVIDIA_", "NCCL_", "TF_"))}
    env = base_environment(plain)
    env |= {
        "PYTHONPATH": f"{env['PYTHONPATH']}:{place / 'site'}",
        "LD_LIBRARY_PATH": str(place / "driver"),
    }
    made, report = look_at(
        {**env, "FAKE_CUDA_DEVICES": "2", "FAKE_NVML_COUNT": "2"}, workshop, place, "quick", kernel(place)
    )
    assert names(report) == []
    return made


def answer(machine: Machine, *names_: str, **variables: str) -> judging.Answer:
    """The answer to the faults of these names, made at once."""
    known = {f.name: f for f in faults(machine)}
    case = Case(tuple(known[n] for n in names_))
    if variables:
        machine = dataclasses.replace(machine, env={**machine.env, **variables})
    return judging.tried(machine, case)


FOREIGN = ("libcufft.so.11", "libcudnn.so.9", "libcublas.so.12", "libcusparse.so.12", "libcusolver.so.11")
"""With a RECORD that tells sizes, one that tells none (cusparse), and none (cusolver)."""
RIGHT = (
    ("CUDA_VISIBLE_DEVICES='-1'",),
    ("libcuda in lib64/stubs answers 34",),
    ("libcuda of driver preloaded, answers 803",),
    ("libcuda moved off the path",),
    ("cuInit: crash",),
    ("LD_LIBRARY_PATH without the wheels",),
    ("every wheel in another site-packages",),
    ("libcufft.so.11 cut after 9000 bytes",),
    ("libcufft.so.11 gone from its wheel",),
    *((f"{soname} for another processor, and no other",) for soname in FOREIGN),
    ("libcusparse.so.12 is a web page",),
    ("libcusparse.so.12 gone from its wheel",),
    ("libcuda is empty",),
    ("libcuda cut after 9000 bytes",),
    ("a libcuda first on the path is a web page",),
    ("NVIDIA_TF32_OVERRIDE=0",),
    ("HOME that can't be written",),
    ("CUDA_MPS_PIPE_DIRECTORY=/nowhere/nvidia-mps",),
    ("PATH=/nowhere",),
    ("SLURM_JOB_ID=4711",),
    ("libcublas.so.12 cut, of another toolkit first on the path", "libcuda in driver answers 803"),
    ("LD_LIBRARY_PATH without the wheels", "libcuda in driver answers 803"),
    ("every wheel in another site-packages", "libcuda of driver preloaded, answers 803"),
    (
        "libcuda moved off the path",
        "libcublas.so.12 of another toolkit first on the path, which needs what is not there",
    ),
    ("CUDA_VISIBLE_DEVICES=''", "libcuda of driver preloaded, answers 803"),
    ("CUDA_VISIBLE_DEVICES='99'", "libcuda cut after 9000 bytes"),
    ("NCCL_P2P_DISABLE=1 in the environment", "NCCL_MAX_CTAS=1 in /etc/nccl.conf"),
    ("libcudnn.so.9 in another site-packages",),
    ("libcublas.so.12 cut, of another toolkit first on the path",),
    ("libcublas.so.12 of another toolkit first on the path, which needs what is not there",),
    ("libcudnn.so.9 in a toolkit off the path alone",),
    ("cuDNN 8 alone, on the path",),
    ("a file tensorflow.py of the user's",),
    ("NCCL_P2P_DISABLE=1 in /etc/nccl.conf",),
    ("NVIDIA_VISIBLE_DEVICES=void",),
    ("CUDA_VISIBLE_DEVICES='99'", "libcufft.so.11 not installed"),
)
"""Of each way to make a fault, one; and a pair."""


@pytest.mark.parametrize("names_", RIGHT, ids=" + ".join)
def test_a_fault_is_made_and_named(machine: Machine, names_: tuple[str, ...]) -> None:
    before = sorted(os.listdir("/dev"))
    said = answer(machine, *names_)
    assert said.problems == []
    assert sorted(os.listdir("/dev")) == before


@pytest.mark.parametrize(
    "name", ["no nvidia-uvm", "nvidia-uvm with the major of no driver", "no nvidiactl", "nvidia-uvm root's alone"]
)
def test_nodes(machine: Machine, name: str) -> None:
    """The driver here is a fake, which opens none; on a real one, cuInit says this."""
    known = {f.name for f in faults(machine)}
    if name not in known:
        pytest.skip("another user can't run this interpreter here")
    assert answer(machine, name, FAKE_CUDA_INIT="999").problems == []


def test_a_wrong_answer_is_seen(machine: Machine) -> None:
    """A fault that is not made, and one that is called harmless."""
    known = {f.name: f for f in faults(machine)}
    nothing = dataclasses.replace(known["CUDA_VISIBLE_DEVICES='-1'"], make=lambda _: None)
    assert "named first" in judging.tried(machine, Case((nothing,))).problems[0]
    harmless = dataclasses.replace(known["CUDA_VISIBLE_DEVICES='-1'"], causes=())
    assert "a false alarm" in judging.tried(machine, Case((harmless,))).problems[1]
    text = judging.table([judging.tried(machine, Case((nothing,)))], 7, "a machine")
    assert "0 right" in text
    assert "**none**" in text


def test_the_same_seed_draws_the_same(machine: Machine) -> None:
    one, same, other = (draw(machine, 90, seed) for seed in (5, 5, 6))
    assert [c.name for c in one] == [c.name for c in same] != [c.name for c in other]
    assert len(one) == 90
    assert sum(len(c.faults) == 2 for c in one) == 30
    assert len({c.name for c in draw(machine, 600, 5)}) == 600
    every = draw(machine, None, 5)
    assert {c.name for c in every if len(c.faults) == 1} == {f.name for f in faults(machine)}
    subjects = [frozenset(f.subject for f in c.faults) for c in every if len(c.faults) == 2]
    assert len(set(subjects)) == len(subjects) == len({frozenset(p) for p in PAIRS})


def test_pairs_do_not_hide_each_other(machine: Machine) -> None:
    known = faults(machine)
    every = pairs(known)
    assert len(every) > 500
    for case in every:
        assert len(case.causes) == len({c for f in case.faults for c in f.causes})
        assert all(f.causes for f in case.faults)
        assert not (any(f.as_nobody for f in case.faults) and any(f.at_home for f in case.faults))
    assert len({(f.name, f.route, f.library) for f in known if f.causes}) >= 60
