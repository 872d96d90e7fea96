"""TensorFlow's figures beside the native ones, and several GPUs beside one: as data and in words."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from rich.console import Console

from gpudoctor import bundle
from gpudoctor.facts import Facts, Measurement
from gpudoctor.render import bench, bench_text, measured, text
from gpudoctor.verdicts.beside import Beside, beside
from gpudoctor.verdicts.scaling import mixed_gain, scaling
from tests.factory import healthy, with_, with_variable
from tests.figures import ADDRESSES, in_tensorflow, native, step

BOTH = "GPU:0,GPU:1"
MATRIX: dict[str, Any] = {"unit": "TFLOP/s", "size": (8192, 8192, 8192)}


def facts(*ones: Measurement) -> Facts:
    return with_(healthy(), measurements=(*healthy().measurements, *ones))


def row(kernel: str, of: Facts) -> Beside:
    (one,) = [b for b in beside(of) if b.kernel == kernel and b.device in ("GPU:0", BOTH)]
    return one


def test_a_product_beside_the_native_one() -> None:
    one = row("matmul", healthy())
    assert (one.native, one.in_tensorflow, one.without, one.why) == ("matmul-float32", 51.1, 51.2, None)
    assert one.ratio == pytest.approx(51.1 / 51.2)


def test_matrices_of_another_size_are_not_compared() -> None:
    small = in_tensorflow("matmul-float16", 100.0, **{**MATRIX, "dtype": "float16", "size": (4096, 4096, 4096)})
    assert not [b for b in beside(facts(small)) if b.kernel == "matmul-float16"]


def test_copies_are_of_pageable_memory() -> None:
    one = row("host-to-device", facts(in_tensorflow("host-to-device", 6.6)))
    assert one.native == "copy-host-to-device"
    assert one.why == "TensorFlow copies pageable memory, which without TensorFlow is 9.1 GB/s, too"


def test_a_starved_input_is_told() -> None:
    fed = [in_tensorflow("dataset", 2.5), in_tensorflow("host-to-device", 6.6)]
    slow = facts(*fed, in_tensorflow("dataset-to-device", 1.8), in_tensorflow("dataset-to-device-prefetch", 2.4))
    assert "each batch is made at 2.5 GB/s, then copied" in str(row("dataset-to-device", slow).why)
    assert "at 2.5 GB/s only, less than a copy takes: starved input" in str(row("dataset-to-device-prefetch", slow).why)
    quick = facts(in_tensorflow("dataset", 20.0), fed[1], in_tensorflow("dataset-to-device-prefetch", 6.5))
    assert "starved" not in str(row("dataset-to-device-prefetch", quick).why)


def test_tf32_that_is_off() -> None:
    tf32 = facts(in_tensorflow("matmul-tf32", 51.0, **{**MATRIX, "dtype": "tf32"}))
    assert row("matmul-tf32", tf32).why == "why is not known"
    off = with_variable(tf32, "NVIDIA_TF32_OVERRIDE", "0")
    assert row("matmul-tf32", off).why == "NVIDIA_TF32_OVERRIDE=0 switches TF32 off"


def test_another_library_is_named() -> None:
    mine = in_tensorflow("matmul-float16", 300.0, **{**MATRIX, "dtype": "float16"}, library_version="12.5.3")
    both = with_(facts(mine), measurements=(mine, native("matmul-float16", "GPU:0", library_version="12.9.1")))
    assert row("matmul-float16", both).why == "cuBLAS 12.5.3 in TensorFlow, 12.9.1 without"


@pytest.mark.parametrize(
    ("kernel", "operation", "said"),
    [
        ("all-reduce", "CollectiveReduceV2", "the native one is of 128 MiB, TensorFlow's of 256"),
        ("all-reduce", "no collective: ReductionToOneDevice", "TensorFlow uses no collective (ReductionToOneDevice)"),
        ("all-reduce-hierarchical", "no collective: HierarchicalCopyAllReduce", "without NCCL"),
        ("all-reduce-two-workers", "CollectiveReduceV2", "adds up over gRPC"),
    ],
)
def test_all_reduces(kernel: str, operation: str, said: str) -> None:
    one = in_tensorflow(kernel, 100.0, BOTH, size=(64 << 20,), operation=operation)
    got = row(kernel, facts(one))
    assert said in str(got.why)
    assert got.without == 284.0  # 128 MiB is nearest to 256
    assert row(kernel, facts(msgspec.structs.replace(one, value=250.0))).why is None


def test_the_same_gpu_is_found_by_its_place_on_the_bus() -> None:
    """CUDA numbers the GPUs the other way round for the native kernel."""
    turned = native("matmul-float32", "GPU:1", value=40.0, pci_addresses=(ADDRESSES[0],))
    only = with_(healthy(), measurements=(in_tensorflow("matmul", 20.0, **MATRIX), turned))
    assert row("matmul", only).ratio == 0.5


def test_what_is_wrong_or_without_value_is_not_compared() -> None:
    wrong = tuple(msgspec.structs.replace(m, verified=False) for m in healthy().measurements)
    assert beside(with_(healthy(), measurements=wrong)) == ()


def test_speed_up_and_efficiency() -> None:
    one, two, four = scaling([step(4, 3300.0), step(1, 1000.0), step(2, 1900.0, busy=(97, 80))])
    assert (one.count, one.speed_up, one.efficiency, one.expected) == (1, 1.0, 1.0, 1.0)
    assert (two.speed_up, two.efficiency, two.expected) == (1.9, 0.95, 1.8)
    assert (two.utilisation_percent, two.peak_memory_bytes) == ((97, 80), (4 << 30,) * 2)
    assert (four.speed_up, four.expected) == (3.3, 3.2)
    assert scaling([step(2, 1900.0)]) == ()
    cpu = [msgspec.structs.replace(s, device=s.device.replace("GPU", "CPU")) for s in (step(1, 10.0), step(2, 10.0))]
    assert scaling(cpu) == ()
    assert mixed_gain([step(1, 1000.0), step(1, 1600.0, kernel="training-step-mixed")]) == 1.6
    assert mixed_gain([step(1, 1000.0)]) is None


TRAINED = (step(1, 3210.0), step(2, 6120.0, busy=(97, 95)), step(1, 5500.0, kernel="training-step-mixed"))


def test_check_shows_it() -> None:
    file = io.StringIO()
    of = facts(in_tensorflow("host-to-device", 6.6), *TRAINED)
    out = Console(file=file, width=100, no_color=True, highlight=False)
    text.show(bundle.make(of, "2026-11-21T00:00:00+00:00"), out, verbose=False)
    printed = file.getvalue()
    assert "training-step float32 128x112x112x3: 3210 images/s" in printed
    assert "training-step float32 128x112x112x3: 6120 images/s" in printed
    assert "TensorFlow beside native: matmul 100%, host-to-device 12%" in printed
    assert "host-to-device 6.6 of 55.4 GB/s (copy-host-to-device): TensorFlow copies pageable memory" in printed
    assert (
        "training-step on 2 GPUs: 1.91 times one (efficiency 95%), utilisation 95 to 97%, memory 4 GiB to 4 GiB each"
        in printed
    )
    assert "mixed_float16: 1.71 times float32 on one GPU" in printed
    assert "✓ Healthy" in printed


def test_the_standard_level_says_nothing_of_it() -> None:
    file = io.StringIO()
    of = facts(in_tensorflow("host-to-device", 6.6))
    text.show(bundle.make(of, "2026-11-21T00:00:00+00:00"), Console(file=file, width=100), verbose=True)
    assert "beside native" not in file.getvalue()


def test_a_benchmark_shows_it() -> None:
    file = io.StringIO()
    report = bundle.make(facts(in_tensorflow("host-to-device", 6.6), *TRAINED), "2026-11-21T00:00:00+00:00")
    bench_text.show(report, Console(file=file, width=200, no_color=True), price=None, verbose=False)
    printed = file.getvalue()
    assert "TensorFlow beside the same without a framework" in printed
    assert "TensorFlow copies pageable memory" in printed
    assert "training-step on 2 GPUs: 1.91 times one" in printed
    read = msgspec.json.decode(bench.json(report, None))
    assert [s["count"] for s in read["scaling"]] == [1, 2]
    assert {b["kernel"] for b in read["beside"]} == {"matmul", "host-to-device"}
    assert read["mixed_precision_gain"] == pytest.approx(1.71, abs=0.01)


def test_without_tensorflow_there_is_nothing_beside() -> None:
    only = with_(healthy(), measurements=tuple(m for m in healthy().measurements if not m.in_tensorflow))
    assert measured.beside_native(only) == []
    assert measured.speed_ups(only.measurements) == []
