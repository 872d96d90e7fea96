"""A measurement is worse only beyond the noise of both sides."""

from __future__ import annotations

import itertools
import json
import random
import statistics
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor import api, bundle
from gpudoctor.bundle import Report
from gpudoctor.compare import Comparison, compare, noise
from gpudoctor.facts import NATIVE, TENSORFLOW, Facts, Measurement, Unread
from tests.boards import HOSTS, recorded
from tests.compare.pairs import moved, replaced
from tests.factory import healthy, measured, with_, with_variable

CAPTURES = Path(__file__).parent.parent / "captures"
RECORDED = sorted(path.stem for path in HOSTS.glob("*.json"))


def report(facts: Facts) -> Report:
    return bundle.make(facts, "2026-11-21T00:00:00+00:00")


def of(old: Facts, new: Facts, *earlier: Facts) -> Comparison:
    return compare(report(old), report(new), earlier)


def again(one: Measurement, chance: random.Random) -> Measurement:
    """Another run of the same: samples drawn from those that were taken, and as much off as runs are from each other."""
    if not isinstance(one.samples, tuple) or not isinstance(one.value, float) or not one.samples:
        return one
    spread = next((s.part for s in noise.SPREADS if s.kernel == one.kernel and s.backend == one.backend), noise.LEAST)
    off = 1 + chance.uniform(-spread / 2, spread / 2)
    samples = tuple(off * chance.choice(one.samples) for _ in one.samples)
    counted = sorted(samples)[1:-1] if len(samples) >= 5 else samples
    value = statistics.median(counted)
    return msgspec.structs.replace(one, samples=samples, value=value, spread=(max(counted) - min(counted)) / value)


AGAIN = [("h200-x4-healthy", n) for n in range(20)]
AGAIN += [(name, n) for name in ("h200-x2-tf-2.20-healthy", "h100-x1-healthy-user") for n in range(5)]


@pytest.mark.parametrize(("name", "seed"), AGAIN)
def test_the_same_host_again_is_no_worse(name: str, seed: int) -> None:
    facts, chance = recorded(name), random.Random(seed)
    run = with_(
        facts,
        measurements=tuple(again(one, chance) for one in facts.measurements),
        system__uptime_seconds=chance.uniform(1e2, 1e6),
        system__memory_available_bytes=chance.randrange(1 << 38),
        gpu__devices=tuple(
            replaced(d, temperature_c=chance.randrange(28, 80), power_draw_w=chance.uniform(70, 690),
                     memory_free_bytes=chance.randrange(1 << 36), pcie_generation=chance.choice((1, 5)),
                     utilisation_gpu_percent=0, clock_sm_mhz=chance.choice((345, 1980)))
            for d in facts.gpu.devices  # type: ignore[union-attr]
        ),
        tensorflow__import_seconds=chance.uniform(4, 14),
    )  # fmt: skip
    run = with_variable(run, "SLURM_JOB_ID", str(chance.randrange(10**6)))
    made = of(with_variable(facts, "SLURM_JOB_ID", "1"), run)
    assert made.losses == ()
    assert made.new_findings == ()
    assert made.changes == ()
    assert made.verdict in ("same", "better")


@pytest.mark.parametrize(
    "pair", [("h200-x4-healthy", "h200-x4-healthy-full"), ("h100-x1-healthy", "h100-x1-healthy-user")]
)
def test_real_runs_on_one_host(pair: tuple[str, str]) -> None:
    for old, new in (pair, pair[::-1]):
        made = compare(api.replay(HOSTS / f"{old}.json"), api.replay(HOSTS / f"{new}.json"))
        assert (made.hosts, made.losses, made.gains, made.new_findings) == ("same", (), (), ())
        told = [m for m in recorded(new).measurements if isinstance(m.value, float) and noise.tells(m)]
        assert made.measured_alike == len(told)


@pytest.mark.parametrize("name", RECORDED)
def test_every_recording_with_itself(name: str) -> None:
    one = api.replay(HOSTS / f"{name}.json")
    made = compare(one, one)
    assert (made.verdict, made.changes, made.not_known, made.measured_once) == ("same", (), (), 0)


def with_latency(facts: Facts) -> Facts:
    """What takes time, and how long, was measured, too."""
    like = [m for m in facts.measurements if m.kernel == "copy-inside"]
    more = (
        replaced(m, kernel="launch-latency", unit="us", dtype="none", value=12.0, samples=(12.0,) * 3) for m in like
    )
    return with_(facts, measurements=(*facts.measurements, *more))


def slower(facts: Facts, kernel: str, device: str, part: float) -> Facts:
    """A kernel reaches this part of what it did."""
    (old,) = [m.value for m in facts.measurements if m.kernel == kernel and m.device == device and not m.in_tensorflow]
    assert isinstance(old, float)
    return measured(facts, kernel, device, value=old * part, samples=(old * part,) * 3)


@pytest.mark.parametrize(
    ("kernel", "part", "worse"),
    [
        ("copy-inside", 0.98, False),
        ("copy-inside", 0.95, True),
        ("matmul-float32", 0.85, False),
        ("matmul-float32", 0.8, True),
        ("matmul-float16", 0.95, False),
        ("matmul-float16", 0.88, True),
        ("copy-host-to-device", 0.98, False),
        ("copy-host-to-device", 0.9, True),
        ("copy-host-to-device-pageable", 0.6, False),
        ("copy-host-to-device-pageable", 0.2, True),
        ("launch-latency", 1.2, False),
        ("launch-latency", 2.0, True),
        ("launch-latency", 0.5, False),
    ],
)
def test_the_noise_of_each_kernel(kernel: str, part: float, worse: bool) -> None:
    host = with_latency(healthy())
    made = of(host, slower(host, kernel, "GPU:1", part))
    assert [(s.kernel, s.where) for s in made.losses] == ([(kernel, "GPU 1 (0000:00:07.0)")] if worse else [])
    back = of(slower(host, kernel, "GPU:1", part), host)
    assert [s.kernel for s in back.gains] == [s.kernel for s in made.losses]


def test_a_latency_that_is_longer_is_worse() -> None:
    host = with_latency(healthy())
    (loss,) = of(host, slower(host, "launch-latency", "GPU:0", 3.0)).losses
    assert loss.unit == "us"
    assert loss.change == pytest.approx(2.0)
    made = of(host, slower(host, "launch-latency", "GPU:0", 0.3))
    assert (len(made.losses), len(made.gains), made.verdict) == (0, 1, "better")


def test_samples_that_are_far_apart_hide_more() -> None:
    wild = measured(healthy(), "matmul-float32", "GPU:1", value=42.0, samples=(33.0, 42.0, 51.0), spread=18.0 / 42.0)
    steady = measured(healthy(), "matmul-float32", "GPU:1", value=42.0, samples=(42.0,) * 3, spread=0.0)
    assert of(healthy(), wild).losses == ()
    (loss,) = of(healthy(), steady).losses
    assert loss.change == pytest.approx(42.0 / 51.2 - 1)
    assert loss.basis == "the old report"


def test_all_gpus_together_show_what_each_hides() -> None:
    def run(value: float) -> Facts:
        facts = healthy()
        for device in ("GPU:0", "GPU:1"):
            samples = (value * 0.93, value, value * 1.07)
            facts = measured(facts, "matmul-float32", device, value=value, samples=samples, spread=0.14)
        return facts

    (loss,) = of(run(50.0), run(43.0)).losses
    assert (loss.whole, loss.where, loss.kernel) == (True, "all 2 GPUs", "matmul-float32")
    assert of(run(50.0), run(46.0)).losses == ()


def test_several_baselines_show_their_noise() -> None:
    runs = [slower(healthy(), "matmul-float32", "GPU:1", part) for part in (0.75, 1.0, 1.04)]
    now = slower(healthy(), "matmul-float32", "GPU:1", 0.8)
    assert [s.kernel for s in of(healthy(), now).losses] == ["matmul-float32"]
    assert of(healthy(), now, *runs).losses == ()
    (loss,) = of(healthy(), slower(healthy(), "matmul-float32", "GPU:1", 0.5), *runs).losses
    assert loss.basis == "the old report: median of 4 runs"
    assert loss.noise == pytest.approx(1 - 0.75 / 1.04)
    assert loss.noise_from == "the 4 runs of the baseline"


def test_a_gpu_is_known_by_itself_and_not_by_its_number() -> None:
    """CUDA numbers the GPUs the other way round."""
    facts = slower(healthy(), "matmul-float32", "GPU:1", 0.8)
    cuda = facts.driver.libcuda.devices
    assert isinstance(cuda, tuple)
    swap = {"GPU:0": "GPU:1", "GPU:1": "GPU:0"}
    other = with_(
        facts,
        driver__libcuda__devices=tuple(replaced(d, index=n) for n, d in enumerate(reversed(cuda))),
        measurements=tuple(replaced(m, device=swap.get(m.device, m.device)) for m in facts.measurements),
    )
    made = of(facts, other)
    assert [s for s in (*made.losses, *made.gains) if not s.kernel.startswith("copy-pair")] == []
    assert {s.where for s in of(healthy(), other).losses} == {"GPU 1 (0000:00:07.0)"}


def test_a_moved_gpu_is_compared_with_itself() -> None:
    made = of(healthy(), slower(moved(healthy()), "matmul-float32", "GPU:1", 0.8))
    (loss,) = made.losses
    assert loss.where == "GPU 1 (0000:a1:00.0)"
    assert [c.id for c in loss.beside] == ["gpu.devices.pci_address:gpu-1"] or loss.beside == ()


def test_what_is_not_the_same_is_not_compared() -> None:
    (one,) = [m for m in healthy().measurements if m.kernel == "matmul-float32" and m.device == "GPU:1"]
    for changes in (
        {"unit": "GFLOP/s"},
        {"dtype": "float64"},
        {"size": (4096, 4096, 4096)},
        {"device_name": "NVIDIA H100"},
        {"verified": False},
        {"backend": "tensorflow"},
    ):
        slow = msgspec.structs.replace(one, value=5.0, samples=(5.0,) * 3, **changes)
        others = tuple(m for m in healthy().measurements if m is not one)
        facts = with_(healthy(), measurements=tuple(slow if m == one else m for m in others))
        assert of(healthy(), facts).losses == (), changes


def test_a_kernel_that_fails_now_is_a_loss() -> None:
    died = Unread(why="it was ended by signal 11")
    made = of(healthy(), measured(healthy(), "copy-inside", "GPU:0", value=died, samples=died, verified=died))
    (loss,) = [s for s in made.losses if s.failed]
    assert (loss.kernel, loss.where, loss.new, loss.failed) == (
        "copy-inside", "GPU 0 (0000:00:06.0)", None, "it was ended by signal 11"
    )  # fmt: skip


def test_what_was_not_run_is_no_loss() -> None:
    left_out = Unread(why="left out, to end in time", chosen=True)
    made = of(healthy(), measured(healthy(), "copy-inside", "GPU:0", value=left_out, samples=left_out))
    assert (made.losses, made.verdict, made.measured_once) == ((), "same", 1)
    assert made.measured_gone == 1


def test_every_spread_has_its_source() -> None:
    for one in noise.SPREADS:
        assert one.source
        assert 0 < one.least < one.most
        found = noise.floor(one.kernel.replace("*", "x"), one.backend)
        assert noise.LEAST <= found.part < 1
    assert noise.floor("something-new", "native").source == "nobody took the spread of this kernel"


# ----------------------------------------------------------------------------- one host, many times


def run_of(ones: list[dict[str, Any]], host: str) -> Facts:
    """The recorded host, with what was measured in this run."""
    figures = []
    for one in ones:
        samples = tuple(one["samples"])
        counted = sorted(samples)[1:-1] if len(samples) >= 5 and one["backend"] == "native" else samples
        value = statistics.median(counted)
        figures.append(
            Measurement(
                **{**one, "samples": samples, "size": tuple(one["size"])},
                device_name="NVIDIA H200",
                value=value,
                spread=(max(counted) - min(counted)) / value,
                verified=True,
            )
        )
    return with_(recorded(host), measurements=tuple(figures))


@pytest.mark.parametrize(
    ("capture", "host", "figures"),
    [("h200-x4-eight-runs", "h200-x4-healthy", 100), ("h200-x2-twenty-runs", "h200-x2-healthy", 50)],
)
def test_real_runs_on_one_host_are_alike(capture: str, host: str, figures: int) -> None:
    told = json.loads((CAPTURES / f"{capture}.json").read_text())
    runs = [report(run_of(run["measurements"], host)) for run in told["runs"]]
    for old, new in itertools.permutations(runs, 2):
        made = compare(old, new)
        assert [(s.what, s.where, s.old, s.new) for s in made.losses] == []
        assert made.verdict != "worse"
        assert made.measured_alike > figures


def test_what_all_gpus_share_is_less_for_all_of_them_at_a_time() -> None:
    for kernel, backend in (("copy-both-ways", NATIVE), ("host-to-device", TENSORFLOW)):
        assert noise.of_all(kernel, backend) == noise.floor(kernel, backend)
    alone, together = noise.floor("matmul-float8", NATIVE), noise.of_all("matmul-float8", NATIVE)
    assert together.part == pytest.approx(alone.part * 2 / 3)
