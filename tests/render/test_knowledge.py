from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from gpudoctor import compat
from gpudoctor.compat.records import Architecture
from gpudoctor.render import knowledge

HOPPER = Architecture(
    source="a test",
    name="Hopper",
    compute_capabilities=("9.0",),
    first_cuda="11.8",
    last_cuda=None,
    last_branch=None,
)


def console(width: int = 80, *, terminal: bool = False) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=width, force_terminal=terminal, no_color=True, highlight=False), file


def gpu(asked: str, width: int = 80, *, terminal: bool = False) -> str:
    screen, file = console(width, terminal=terminal)
    models = compat.gpu_models(asked)
    knowledge.gpus(asked, models, screen, near=compat.near(asked), architectures=(HOPPER,))
    return file.getvalue()


def xid(code: int) -> str:
    screen, file = console()
    knowledge.xid(code, compat.xid(code), screen)
    return file.getvalue()


def test_a_gpu() -> None:
    printed = gpu("NVIDIA H200")
    assert printed.startswith("NVIDIA H200   compute capability 9.0 (Hopper)\n")
    for part in (
        "10de:2335",
        "141 GB, 6016 bits, 4800 GB/s",
        "PCIe 5 x16; NVLink 4: 18 links, 900 GB/s, both directions together",
        "132 multiprocessors, 1830 MHz boost",
        "128 FP32 operations a multiprocessor (certain)",
        "4096 FLOP in FP16, 2048 in TF32",
        "989.4 TFLOP/s (as others report it)",
        "700 W",
        "no machine is judged by them",
    ):
        assert part in printed
    assert "None" not in printed


def test_what_is_unknown_is_not_printed() -> None:
    printed = gpu("GTX 1660")
    assert "compute capability 7.5" in printed
    for part in ("None", "Memory", "Peak", "P2P", "figures"):
        assert part not in printed
    assert "no tensor cores" in gpu("GTX 1080")


def test_several_and_none() -> None:
    printed = gpu("V100")
    assert printed.startswith("V100 may be one of 9:")
    assert "Tesla V100-SXM2-32GB" in printed
    printed = gpu("RTX 4095\x1b[2J")
    assert printed.startswith("No GPU is known here by the name RTX 4095\\x1b[2J.")
    assert "NVIDIA GeForce RTX 4090" in gpu("RTX 4095")
    assert gpu("?") == "No GPU is known here by the name ?.\n"


def test_a_narrow_terminal_wraps_below_the_first_word() -> None:
    lines = re.sub(r"\x1b\[\d*m", "", gpu("NVIDIA H200", width=60, terminal=True)).splitlines()
    assert max(len(line) for line in lines) <= 60
    assert any(line.startswith(" " * 12) for line in lines)


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (
            79,
            (
                "Xid 79   ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS",
                "fallen off the bus",
                "reboot the machine (RESTART_BM)",
            ),
        ),
        (63, ("GPU memory remapping event", "a memory page was retired", "none is needed (IGNORE)")),
        (48, ("WORKFLOW_XID_48",)),
        (61, ("not published for Ampere", "PMU Breakpoint")),
        (165, ("NVIDIA publishes no action for it", "ISINK_ZERO_LIFETIME")),
        (9999, ("Nothing is known here of Xid 9999.",)),
    ],
)
def test_an_xid(code: int, parts: tuple[str, ...]) -> None:
    printed = xid(code)
    for part in parts:
        assert part in printed
    assert "None" not in printed


@settings(max_examples=60)
@given(st.sampled_from(compat.gpus().models))
def test_every_model_can_be_shown(model: compat.records.GpuModel) -> None:
    screen, file = console()
    knowledge.gpus(model.name, (model,), screen)
    assert model.name in file.getvalue()
    assert model.source in file.getvalue()
    assert "None" not in file.getvalue()


def test_every_xid_can_be_shown() -> None:
    for one in compat.xids().xids:
        assert one.source in xid(one.code)
