"""What `gpudoctor bench` prints: a table that fits, CSV, JSON; what is wrong, slow, failed or missing is seen at a glance."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from rich.console import Console
from rich.text import Text

from gpudoctor import bundle, registry
from gpudoctor.cli_bench import SUBJECTS
from gpudoctor.facts import ClockReason, Facts, Measurement, Unread
from gpudoctor.kernels.native import STANDARD, left_out
from gpudoctor.render import bench, bench_text, columns
from gpudoctor.render.columns import Column
from tests.factory import healthy, measured, with_
from tests.figures import MIB, load, native

CUBLAS = "/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13"


def report(facts: Facts) -> bundle.Report:
    return bundle.make(facts, "2026-11-21T00:00:00+00:00", registry.select(SUBJECTS))


def natively(facts: Facts, *more: Measurement) -> Facts:
    """Without TensorFlow's measurements."""
    return with_(facts, measurements=(*(m for m in facts.measurements if not m.in_tensorflow), *more))


def shown(
    facts: Facts,
    *,
    width: int | None = None,
    price: float | None = None,
    verbose: bool = False,
) -> list[str]:
    """The lines; `width`: of a terminal."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=width is not None, color_system=None, highlight=False)
    bench_text.show(report(facts), console, price=price, verbose=verbose)
    return file.getvalue().splitlines()


def row(lines: list[str], beginning: str) -> list[str]:
    """The cells of the only line that begins so."""
    (line,) = [line for line in lines if line.startswith(beginning)]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


# ----------------------------------------------------------------------------- the table


def test_the_table_of_a_healthy_machine() -> None:
    lines = shown(natively(healthy()))
    assert lines[0].startswith("gpudoctor ")
    assert lines[0].endswith(" · 2x NVIDIA H200 · driver 580.159.04")
    assert lines[2] == "Without a framework"
    head = lines[4].split()
    assert head == ["kernel", "GPU", "measured", "expected", "spread", "power", "energy", "busy"]
    assert row(lines, "matmul-tf32 8192") == [
        "matmul-tf32 8192",
        "GPU:0,1",
        "368 TFLOP/s",
        "69%",
        "4.0%",
        "690 W",
        "140 J",
        "100%",
        "verified",
    ]
    assert row(lines, "matmul-float8 8192")[2:4] == ["1.2 PFLOP/s", "56%"]
    assert row(lines, "copy-inside 512 MiB")[2:4] == ["2.1 TB/s", "87%"]
    assert row(lines, "copy-pair 256 MiB")[1:3] == ["GPU:0↔1", "394 to 395 GB/s"]
    assert row(lines, "all-reduce float32 1 GiB")[1:4] == ["GPU:0,1", "328 GB/s", "69%"]
    assert row(lines, "copy-latency 4 B")[2:4] == ["6.4 us", "5.0%"]
    assert "  · copy-both-ways: limit: PCIe 5.0 x16, 63 GB/s a direction" in lines
    assert "  · all-reduce went through P2P/CUMEM, by NCCL's own log" in lines
    assert not [line for line in lines if line != line.rstrip()]
    words = " ".join(lines)
    assert "Failed" not in words and "Not measured" not in words and "low" not in words.split()


def test_tensorflow_has_a_table_of_its_own() -> None:
    lines = shown(healthy())
    assert lines.index("Without a framework") != lines.index("TensorFlow")
    assert row(lines, "matmul float32 8192")[1:3] == ["GPU:0,1", "51.1 TFLOP/s"]


@pytest.mark.parametrize("width", [80, 90, 100, 120, 160])
@pytest.mark.parametrize("price", [None, 30000.0])
def test_the_table_fits_the_terminal_and_nothing_is_cut(width: int, price: float | None) -> None:
    path = measured(healthy(), "matmul-float16", "GPU:0", library=CUBLAS, library_version="13.1.0", value=650.4)
    lines = shown(natively(path), width=width, price=price)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    for kernel in ("copy-host-to-device-pageable", "all-reduce float32 128 MiB", "matmul-float8 8192"):
        assert kernel in text
    assert CUBLAS in "".join(line.strip() for line in lines)
    assert text.count("verified") == 17
    if price is None:
        assert row(lines, "matmul-float16 8192")[2:4] == ["650 to 700 TFLOP/s", "61 to 65%"]


def test_what_tells_least_is_left_out_first() -> None:
    heads = {width: shown(natively(healthy()), width=width)[4].split() for width in (120, 100, 90, 80, 64)}
    assert heads[120][4:] == ["spread", "power", "energy", "busy"]
    assert heads[100][4:] == ["spread", "power"]
    assert heads[90][4:] == ["spread"]
    assert heads[80] == ["kernel", "GPU", "measured", "expected"]
    assert shown(natively(healthy()), width=64)[3].split() == ["kernel", "GPU", "measured"]
    folded = shown(natively(healthy()), width=80)
    at = next(i for i, line in enumerate(folded) if line.startswith("copy-host-to-device-pageable"))
    assert folded[at + 1] == "128 MiB"


def test_verbose_shows_each_gpu_with_samples_clocks_and_link() -> None:
    facts = natively(measured(healthy(), "matmul-tf32", "GPU:1", value=350.0))
    lines = shown(facts, verbose=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("matmul-tf32 8192  "))
    assert "GPU:0" in lines[at] and "368 TFLOP/s" in lines[at]
    assert "GPU:1" in lines[at + 2] and "350 TFLOP/s" in lines[at + 2]
    assert lines[at + 3].strip() == (
        "· samples 350 350 350 TFLOP/s, each of 8; SM clock 1755 MHz (down to 1695); memory clock 3201 MHz; "
        "held down: sw-power-cap in 90% of the time; 55 °C; PCIe 5.0 x16"
    )
    pair = next(i for i, line in enumerate(lines) if "GPU:0→1" in line)
    assert lines[pair + 1].strip() == "· samples 394.6 395 395.4 GB/s, each of 8"
    reduced = next(i for i, line in enumerate(lines) if line.startswith("all-reduce float32 1 GiB"))
    assert lines[reduced + 1].endswith("; P2P/CUMEM")


def test_gpus_stand_in_order_whoever_was_first() -> None:
    two = [native("matmul-tf32", "GPU:1"), native("matmul-float16", "GPU:1"), native("matmul-tf32", "GPU:0")]
    lines = shown(with_(healthy(), measurements=tuple(two)), verbose=True)
    at = [line.split()[:3:2] for line in lines if line.startswith("matmul")]
    assert at == [["matmul-tf32", "GPU:0"], ["matmul-tf32", "GPU:1"], ["matmul-float16", "GPU:1"]]


def test_what_nvml_did_not_see_is_not_told() -> None:
    one = native("copy-inside", "GPU:0", load=load(energy_j=0.0, utilisation_percent=None, clock_reasons=None))
    (line,) = [x for x in shown(with_(healthy(), measurements=(one,))) if x.startswith("copy-inside")]
    assert "690 W" in line
    assert row([line], "copy-inside")[-2:] == ["690 W", "verified"]
    silent = native("copy-inside", "GPU:0", load=Unread(why="NVML answers 9"))
    assert any(
        x.endswith("clocks: NVML answers 9") for x in shown(with_(healthy(), measurements=(silent,)), verbose=True)
    )


def test_one_sample_has_no_spread() -> None:
    one = native("repeat-matmul", "GPU:0", samples=(690.0,), spread=0.0)
    assert "0.0%" not in " ".join(shown(with_(healthy(), measurements=(one,))))


# ----------------------------------------------------------------------------- what is wrong


def test_wrong_numbers_stand_apart() -> None:
    lines = shown(natively(measured(healthy(), "copy-inside", "GPU:1", verified=False)), width=80)
    ones = [line for line in lines if line.startswith("copy-inside")]
    assert [row([line], "copy-inside")[-1] for line in ones] == ["verified", "WRONG NUMBERS"]
    assert any("gpu-wrong-result" in line for line in lines)


def test_a_slow_gpu_stands_apart_with_its_cause() -> None:
    facts = measured(healthy(), "matmul-float32", "GPU:1", value=25.0)
    lines = shown(natively(facts))
    ones = [row([line], "matmul-float32") for line in lines if line.startswith("matmul-float32")]
    assert [(cells[1], cells[-1]) for cells in ones] == [("GPU:0", "verified"), ("GPU:1", "low")]
    assert ones[1][3] == "49%"
    assert any("gpu-outlier" in line for line in lines)
    assert "  · matmul-float32: siblings: the other one" in lines


def test_less_than_usual_is_told_and_no_fault() -> None:
    facts = healthy()
    for gpu in ("GPU:0", "GPU:1"):
        facts = measured(facts, "matmul-float16", gpu, value=500.0)
    lines = shown(natively(facts))
    assert row(lines, "matmul-float16")[-1] == "verified"
    at = lines.index("Less than usual, and no fault by itself")
    assert lines[at + 1].startswith(
        "  · matmul-float16 on GPU:0: 0.47 of the limit, 1.00 of what its sibling reaches; 0.6 or more"
    )
    assert "Less than usual, and no fault by itself" not in shown(natively(healthy()))


def test_more_than_is_possible_is_not_believed() -> None:
    lines = shown(natively(measured(healthy(), "copy-host-to-device", "GPU:0", value=587.0)))
    ones = [row([line], "copy-host-to-device 128") for line in lines if line.startswith("copy-host-to-device 128")]
    assert [(cells[1], cells[-1]) for cells in ones] == [("GPU:0", "not believable"), ("GPU:1", "verified")]


def test_what_failed_and_what_there_was_nothing_to_do_for() -> None:
    died = Unread(why="matmul-float16 was ended by signal 9")
    none = Unread(why="float8 needs a GPU of compute capability 8.9 or higher, this is 8.0", chosen=True)
    no_library = Unread(why="there is no libnccl.so here; pip install nvidia-nccl-cu12 brings it", chosen=True)
    facts = measured(healthy(), "matmul-float16", "GPU:1", value=died, verified=died, samples=none)
    for gpu in ("GPU:0", "GPU:1"):
        facts = measured(facts, "matmul-float8", gpu, value=none, verified=none, samples=none)
    facts = measured(facts, "all-reduce", "GPU:0,GPU:1", value=no_library, verified=no_library, samples=none)
    lines = shown(natively(facts))
    assert row(lines, "matmul-float16 8192")[1] == "GPU:0"
    at = lines.index("Failed")
    assert lines[at + 1] == "  · matmul-float16 on GPU:1: matmul-float16 was ended by signal 9"
    at = lines.index("Not measured")
    assert lines[at + 1] == f"  · matmul-float8: {none.why}"
    assert lines[at + 2] == f"  · all-reduce: {no_library.why}"
    assert not any(line.startswith(("matmul-float8", "all-reduce float32")) for line in lines)


def test_what_a_budget_left_out_is_said() -> None:
    facts, devices = natively(healthy()), {"value": [{"name": "NVIDIA H200", "pci_address": "0000:01:00.0"}]}
    plan = tuple(one for one in STANDARD if one.name in ("launch-latency", "copy-latency"))
    out = left_out(plan, (1, 0), devices, None)
    lines = shown(with_(facts, measurements=(*facts.measurements, *out)))
    at = lines.index("Not measured")
    assert lines[at + 1] == "  · launch-latency, copy-latency: left out for want of time (--budget)"


def test_a_machine_without_a_gpu() -> None:
    lines = shown(with_(healthy(), measurements=(), driver__libcuda__devices=()))
    assert lines[-1].startswith("There was nothing to measure on: CUDA shows no GPU here.")


def test_nothing_in_a_name_can_move_the_cursor() -> None:
    evil = "\x1b]0;owned\x07[bold]"
    why = Unread(why=evil)
    one = native("copy-inside", "GPU:0", library=evil, library_version=evil)
    bad = native("copy-inside", "GPU:1", value=why, verified=why, samples=why)
    text = "\n".join(shown(with_(healthy(), measurements=(one, bad)), width=100, verbose=True))
    assert "\x1b" not in text and "\x07" not in text
    assert "[bold]" in text


# ----------------------------------------------------------------------------- what it costs


def test_a_price() -> None:
    lines = shown(natively(healthy()), price=20000.0)
    assert row(lines, "matmul-tf32 8192")[-2] == "18.4 TFLOP/s"
    assert row(lines, "matmul-float8 8192")[-2] == "60 TFLOP/s"
    assert row(lines, "copy-latency")[-2] == "100%"
    assert row(lines, "all-reduce float32 1 GiB")[-2] == "1.0%"
    assert lines[lines.index("Per 1000") + 1] == "  · of the price of one GPU, 20000"
    assert row(shown(natively(healthy()), price=1.0), "matmul-float16 8192")[-2] == "700 PFLOP/s"
    latency = with_(healthy(), measurements=(native("copy-latency", "GPU:0"),))
    assert "Per 1000" not in shown(latency, price=5.0)


# ----------------------------------------------------------------------------- for programs


def test_csv_has_a_line_for_each_measurement() -> None:
    none = Unread(why="no libnccl", chosen=True)
    facts = measured(healthy(), "all-reduce", "GPU:0,GPU:1", value=none, verified=none, samples=none)
    facts = natively(measured(facts, "matmul-tf32", "GPU:1", value=100.0))
    lines = list(csv.DictReader(io.StringIO(bench.csv(report(facts), 20000.0))))
    assert len(lines) == len(facts.measurements)
    by = {(one["kernel"], one["device"]): one for one in lines}
    slow = by["matmul-tf32", "GPU:1"]
    assert (slow["value"], slow["unit"], slow["size"], slow["dtype"]) == ("100", "TFLOP/s", "8192x8192x8192", "tf32")
    assert (slow["verdict"], slow["basis"], slow["expected"]) == ("low", "siblings: the other one", "367.6")
    assert (slow["samples"], slow["clock_sm_mhz"], slow["pcie_generation"]) == ("100 100 100", "1755", "5")
    assert float(slow["value_per_price"]) == pytest.approx(100 / 20000)
    assert by["copy-latency", "GPU:0"]["value_per_price"] == ""
    assert by["copy-pair", "GPU:0,GPU:1"]["value_per_price"] == ""
    skipped = by["all-reduce", "GPU:0,GPU:1"]
    assert (skipped["value"], skipped["why_not"], skipped["verdict"]) == ("", "no libnccl", "")
    assert "value_per_price" not in bench.csv(report(facts), None)


def test_json_is_read_back_as_it_was() -> None:
    made = report(natively(healthy()))
    text = bench.json(made, 5.0)
    assert text.endswith("}\n")
    got = msgspec.json.decode(text, type=bench.Bench)
    assert got == bench.bench(made, 5.0)
    assert got.measurements == made.measurements
    assert (got.gpus, got.driver_version, got.price) == (("NVIDIA H200",) * 2, "580.159.04", 5.0)
    assert len(got.verdicts) == sum(isinstance(m.value, float) for m in made.measurements)


# ----------------------------------------------------------------------------- columns


def texts(*cells: str) -> list[Text]:
    return [Text(cell) for cell in cells]


def test_columns_of_a_terminal_that_is_much_too_narrow() -> None:
    """Longer lines, and every word."""
    table = [Column("what", texts("copy-pair 256 MiB"), folds="at first"), Column("", texts("WRONG NUMBERS"))]
    made = [[line.plain for line in row] for row in columns.lines(table, 10)]
    assert made == [["what", "─" * 24], ["copy-pair  WRONG NUMBERS", "256 MiB"]]


def test_a_column_of_nothing_is_not_there() -> None:
    table = [Column("a", texts("1", "2")), Column("b", texts("", ""))]
    assert [[line.plain for line in row] for row in columns.lines(table, 80)] == [["a", "─"], ["1"], ["2"]]


def test_reasons_why_clocks_are_held_down_leave_idle_out() -> None:
    reasons = (ClockReason(name="idle", share=0.5), ClockReason(name="hw-thermal-slowdown", share=0.25))
    one = native("copy-inside", "GPU:0", size=(512 * MIB,), load=load(clock_reasons=reasons))
    text = "\n".join(shown(with_(healthy(), measurements=(one,)), verbose=True))
    assert "held down: hw-thermal-slowdown in 25% of the time" in text
    assert "idle" not in text
