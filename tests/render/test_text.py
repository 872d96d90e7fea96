from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from gpudoctor import bundle
from gpudoctor.facts import Facts, Trial, Unread
from gpudoctor.render import text
from tests.checks.test_libraries import gap
from tests.factory import cannot_open, cu_init, found, healthy, lists_no_gpu, with_, with_variable


def shown(facts: Facts, *, width: int = 80, terminal: bool = False, verbose: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, no_color=True, highlight=False)
    text.show(bundle.make(facts, "2026-11-21T00:00:00+00:00"), console, verbose=verbose)
    return file.getvalue()


def tried() -> Facts:
    facts = gap()
    env, link = found(facts)["tf-wheel-runpath-gap"].fixes
    cause = "tf-wheel-runpath-gap"
    return with_(
        facts,
        trials=(
            Trial(cause=cause, steps=env.steps, worked=True, outcome="TensorFlow then lists 2 GPUs", judged_by="list"),
            Trial(cause=cause, steps=link.steps, worked=False, outcome="it still can't", judged_by="loader"),
        ),
    )


def test_what_is_wrong_the_proof_and_the_fix_come_first() -> None:
    lines = shown(tried()).splitlines()
    assert lines[0].startswith("gpudoctor ")
    assert lines[2].startswith("✗ TensorFlow's own wheel does not look")
    proof, fix = lines.index("  Proof"), next(i for i, line in enumerate(lines) if line.startswith("  Fix:"))
    assert proof < fix
    assert "tried here, works: TensorFlow then lists 2 GPUs" in lines[fix]
    assert lines[fix + 1].strip().startswith("export LD_LIBRARY_PATH=")
    assert "tried here, not enough: it still can't" in "\n".join(lines)
    assert lines[-1] == "Faulty: 1 root cause: tf-wheel-runpath-gap"


@pytest.mark.parametrize(("width", "terminal"), [(40, True), (40, False), (200, True)])
def test_lines_to_paste_are_never_wrapped(width: int, terminal: bool) -> None:
    (step,) = found(gap())["tf-wheel-runpath-gap"].fixes[0].steps
    assert f"    {step}" in shown(tried(), width=width, terminal=terminal)


def test_a_terminal_wraps_prose_with_its_indent() -> None:
    lines = shown(tried(), width=60, terminal=True).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  TensorFlow 2.21.0 can't find"))
    assert lines[start + 1].startswith("  ")
    assert len(lines[start]) <= 60


def test_no_terminal_no_escape_sequences_and_no_wrapping() -> None:
    printed = shown(tried(), width=40)
    assert "\x1b" not in printed
    assert "which opens it, does not look there." in printed
    assert not any(line != line.rstrip() for line in printed.splitlines())


def test_several_causes_and_one_fix_for_all() -> None:
    printed = shown(cu_init(with_variable(gap(), "CUDA_VISIBLE_DEVICES", "-1"), 100))
    assert "All 2 causes stand in the way." in printed
    assert printed.splitlines()[-1].startswith(
        "Faulty: 2 root causes: cuda-visible-devices-empty, tf-wheel-runpath-gap"
    )


def test_a_symptom_that_nothing_explains() -> None:
    printed = shown(lists_no_gpu(healthy()))
    assert "Unexplained: none of the causes that gpudoctor knows explains it." in printed
    assert "no cause could be named" in printed


def test_candidates_with_what_settles_them() -> None:
    facts = with_(Facts(), tensorflow=lists_no_gpu(healthy()).tensorflow)
    printed = shown(facts)
    assert "The cause could not be determined." in printed
    assert "no-nvidia-gpu: not recorded" in printed


def test_healthy() -> None:
    printed = shown(healthy())
    assert printed.splitlines()[-1] == "✓ Healthy: TensorFlow lists 2 GPUs."
    assert "  GPU:0,1 NVIDIA H200, TensorFlow\n    matmul float32 8192: 51.1 TFLOP/s, spread 5%, verified\n" in printed


def test_what_the_cpu_did_is_one_line() -> None:
    one = msgspec.structs.replace(healthy().measurements[0], device="CPU:0")
    facts = with_(healthy(), measurements=(one, msgspec.structs.replace(one, kernel="fft")))
    assert "  TensorFlow's CPU: 2 kernels, verified (-v shows them)\n" in shown(facts)
    assert "    fft float32" in shown(facts, verbose=True)
    wrong = with_(healthy(), measurements=(msgspec.structs.replace(one, verified=False),))
    assert "WRONG NUMBERS" in shown(wrong)


def test_verbose_lists_what_was_ruled_out() -> None:
    assert "GD101 driver-missing" not in shown(healthy())
    assert "GD101 driver-missing" in shown(healthy(), verbose=True)


def test_nothing_in_the_facts_can_move_the_cursor() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e[bold]"
    facts = with_(gap(), tensorflow__version=evil, python__executable=evil)
    printed = shown(facts, terminal=True)
    assert "\x1b]0;" not in printed
    assert "\x1b[2J" not in printed
    assert "\u202e" not in printed
    assert "[bold]" in printed


def test_many_kernels_on_many_gpus_fit_a_screen() -> None:
    one = healthy().measurements[0]
    made = [
        msgspec.structs.replace(one, kernel=k, device=f"GPU:{i}", value=50.0 + i)
        for k in ("matmul", "fft", "solve", "xla")
        for i in range(8)
    ]
    failed = Unread(why="fft was ended by signal 11")
    made[11] = msgspec.structs.replace(made[11], value=failed, verified=failed)
    made[21] = msgspec.structs.replace(made[21], verified=False)
    no = Unread(why="TF32 needs a newer GPU", chosen=True)
    made += [
        msgspec.structs.replace(one, kernel="matmul-tf32", device=f"GPU:{i}", value=no, verified=no) for i in range(8)
    ]
    together = ",".join(f"GPU:{i}" for i in range(8))
    made.append(msgspec.structs.replace(one, kernel="all-reduce", device=together, value=241.0, unit="GB/s"))
    lines = shown(with_(healthy(), measurements=tuple(made))).splitlines()
    block = lines[lines.index("Measured") + 1 :][: len(made)]
    block = block[: block.index("")]
    assert len(block) <= 14
    assert block[:2] == [
        "  GPU:0-7 NVIDIA H200, TensorFlow",
        "    matmul float32 8192: 50 to 57 TFLOP/s, spread 5%, verified",
    ]
    assert block[block.index("  GPU:3 NVIDIA H200, TensorFlow") + 1] == "    fft failed (fft was ended by signal 11)"
    assert block[block.index("  GPU:5 NVIDIA H200, TensorFlow") + 1].endswith("WRONG NUMBERS")
    assert any(line.startswith("    all-reduce") and "241 GB/s" in line for line in block)
    assert block[-1] == "  not measured: matmul-tf32: TF32 needs a newer GPU"


def test_a_terminal_cuts_no_path() -> None:
    """A path is proof only when it is whole: it goes on in the next line."""
    place = "/home/firstname.lastname/miniconda3/envs/tensorflow-gpu-2.20/lib/python3.12/site-packages/nvidia/cudnn/lib"
    lines = shown(cannot_open(healthy(), "libcudnn.so.9", (place,)), width=60, terminal=True).splitlines()
    assert place in "".join(line.strip() for line in lines)
    assert not any("…" in line for line in lines)
