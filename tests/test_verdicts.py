"""Measurements judged: each kernel's limit on several GPUs, and siblings."""

from __future__ import annotations

import statistics
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.facts import ClockReason, CudaDevice, Facts, Gpu, GpuPair, NvLink, Unread
from gpudoctor.verdicts import Verdict, verdicts
from tests.factory import gpu_device, healthy, lists_no_gpu, measured, with_, with_gpu
from tests.figures import MIB, load, native

NONE = Unread(why="a test does without")


def verdict(facts: Facts, kernel: str, device: str = "GPU:0") -> Verdict:
    """The native one, of the first size."""
    return next(v for v in verdicts(facts) if (v.kernel, v.device, v.backend) == (kernel, device, "native"))


def test_a_healthy_machine_is_ok() -> None:
    judged = verdicts(healthy())
    assert len(judged) == sum(isinstance(m.value, float) for m in healthy().measurements)
    assert {v.verdict for v in judged} == {"ok", "not judged"}
    assert {v.kernel for v in judged if v.verdict == "not judged"} == {"copy-latency"}
    for one in judged:
        assert one.why
        assert (one.kind == "none") == (one.expected is None) == (one.ratio is None)
        if one.expected is not None:
            assert one.ratio == pytest.approx(one.value / one.expected)
            assert one.ratio is not None and one.ratio < 1
            assert one.basis.startswith(f"{one.kind}: ")
    assert {(v.dtype, v.size, v.unit) for v in judged if v.kernel == "copy-inside"} == {("bytes", (512 * MIB,), "GB/s")}


H200 = {
    "matmul-float32": 66.9,
    "matmul-tf32": 535.3,
    "matmul-float16": 1070.5,
    "matmul-bfloat16": 1070.5,
    "matmul-float8": 2141.1,
    "repeat-matmul": 1070.5,
    "memory-pattern": 4814.3,
    "copy-inside": 2407.2,
    "copy-host-to-device": 63.0,
    "copy-device-to-host": 63.0,
    "copy-both-ways": 126.0,
    "copy-host-to-device-pageable": 63.0,
    "copy-device-to-host-pageable": 63.0,
}


@pytest.mark.parametrize(("kernel", "expected"), H200.items())
def test_limits_of_an_h200(kernel: str, expected: float) -> None:
    one = verdict(healthy(), kernel)
    assert one.kind == "limit"
    assert one.expected == pytest.approx(expected, rel=1e-3)
    just, above = measured(healthy(), kernel, "GPU:0", value=expected * 1.01), expected * 1.03
    assert verdict(just, kernel).verdict == "ok"
    wrong = verdict(measured(healthy(), kernel, "GPU:0", value=above), kernel)
    assert (wrong.verdict, wrong.kind) == ("impossible", "limit")
    assert "the measurement is wrong" in wrong.why


def test_limits_of_pairs_and_collectives() -> None:
    for kernel, device in (("copy-pair", "GPU:1,GPU:0"), ("all-reduce", "GPU:0,GPU:1")):
        one = verdict(healthy(), kernel, device)
        assert one.expected == pytest.approx(18 * 26.562)
        assert "18 NVLinks" in one.basis
        assert verdict(measured(healthy(), kernel, device, value=500.0), kernel, device).verdict == "impossible"


def machine(name: str, capability: tuple[int, int], sms: int, mhz: int, memory: tuple[int, int], **nvml: Any) -> Facts:
    """One GPU, with its own attributes; the memory's clock in MHz and width in bits."""
    facts = healthy()
    device = CudaDevice(
        index=0,
        name=name,
        pci_address="0000:00:06.0",
        compute_capability=capability,
        multiprocessors=sms,
        clock_khz=mhz * 1000,
        memory_clock_khz=memory[0] * 1000,
        memory_bus_bits=memory[1],
        l2_bytes=40 * MIB,
        integrated=False,
    )
    gpu = gpu_device(0, name=name, clock_sm_max_mhz=mhz, clock_memory_max_mhz=memory[0], nvlinks=(), **nvml)
    all_of_it = [
        msgspec.structs.replace(m, device_name=name, load=None)
        for m in facts.measurements
        if m.device == "GPU:0" and m.backend == "native"
    ]
    return with_(
        facts,
        driver__libcuda=msgspec.structs.replace(facts.driver.libcuda, devices=(device,), pairs=()),
        gpu=Gpu(devices=(gpu,), pairs=()),
        measurements=tuple(all_of_it),
    )


def h100_pcie() -> Facts:
    return machine("NVIDIA H100 PCIe", (9, 0), 114, 1755, (1593, 5120))


def a100() -> Facts:
    return machine("NVIDIA A100-SXM4-80GB", (8, 0), 108, 1410, (1593, 5120), pcie_generation_max=4)


def rtx_4090() -> Facts:
    return machine("NVIDIA GeForce RTX 4090", (8, 9), 128, 3105, (10501, 384), pcie_generation_max=4)


def rtx_2080_ti() -> Facts:
    return machine("NVIDIA GeForce RTX 2080 Ti", (7, 5), 68, 2100, (7000, 352), pcie_generation_max=3)


OTHERS = [
    (h100_pcie, {"matmul-float32": 51.2, "matmul-float16": 819.4, "matmul-float8": 1638.9, "copy-inside": 1019.5, "copy-host-to-device": 63.0}),
    (a100, {"matmul-float32": 19.5, "matmul-tf32": 156, "matmul-bfloat16": 312, "copy-inside": 1019.5, "copy-both-ways": 63.0}),
    (rtx_4090, {"matmul-float32": 101.7, "matmul-tf32": 203.5, "matmul-float16": 407, "matmul-float8": 814, "copy-inside": 504.0, "copy-device-to-host": 31.5}),
    (rtx_2080_ti, {"matmul-float32": 18.3, "matmul-float16": 146.2, "copy-inside": 308, "copy-host-to-device": 15.76}),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), OTHERS)
def test_limits_of_other_gpus(make: Any, expected: dict[str, float]) -> None:
    """A GeForce's are those of the fastest product of its capability: its own rate is no limit that may be too low."""
    for kernel, bound in expected.items():
        low = verdict(measured(make(), kernel, "GPU:0", value=bound * 0.9), kernel)
        assert low.expected == pytest.approx(bound, rel=5e-3)
        assert low.verdict == "ok"
        assert verdict(measured(make(), kernel, "GPU:0", value=bound * 1.05), kernel).verdict == "impossible"


def test_what_is_not_known_is_not_judged() -> None:
    for kernel, capability in (("matmul-float16", (10, 0)), ("matmul-float32", (99, 0)), ("matmul-float8", (8, 0))):
        one = verdict(machine("NVIDIA Something", capability, 148, 1965, (3996, 8192)), kernel)
        assert (one.verdict, one.kind, one.expected, one.basis) == ("not judged", "none", None, "none")
    lost = with_(without_cuda(healthy()), measurements=(native("matmul-float16", "GPU:0"),))
    assert "not known" in verdict(lost, "matmul-float16").why
    unseen = with_(healthy(), gpu__devices=NONE, measurements=(native("copy-host-to-device", "GPU:0", load=None),))
    assert verdict(unseen, "copy-host-to-device").verdict == "not judged"


def test_a_wrong_result_has_no_rate() -> None:
    assert verdict(measured(healthy(), "matmul-tf32", "GPU:0", verified=False), "matmul-tf32").verdict == "not judged"


def test_kernels_without_a_limit_and_devices_without_one() -> None:
    tensorflow = msgspec.structs.replace(native("copy-inside", "GPU:0"), backend="tensorflow", kernel="fft")
    on_cpu = msgspec.structs.replace(tensorflow, kernel="matmul", device="CPU:0", pci_addresses=NONE)
    one, other = verdicts(with_(healthy(), measurements=(tensorflow, on_cpu)))
    assert (one.verdict, other.verdict) == ("not judged", "not judged")
    assert "processor" in other.why


def test_tensorflows_kernels_are_judged_too() -> None:
    """587 GB/s over a link of 63: it had not been copied in the timed region."""
    copy = msgspec.structs.replace(
        native("copy-host-to-device", "GPU:0"),
        backend="tensorflow",
        kernel="host-to-device",
        pci_addresses=NONE,
        load=None,
    )
    facts = with_(healthy(), measurements=(copy, msgspec.structs.replace(copy, value=587.0)))
    assert [v.verdict for v in verdicts(facts)] == ["ok", "impossible"]


def test_the_link_under_load_counts_and_never_falsely() -> None:
    slow = measured(healthy(), "copy-host-to-device", "GPU:0", load=load(pcie_generation=3), value=12.3)
    assert "PCIe 3.0 x16" in verdict(slow, "copy-host-to-device").basis
    asleep = measured(healthy(), "copy-host-to-device", "GPU:0", load=load(pcie_generation=1))
    assert verdict(asleep, "copy-host-to-device").basis == "limit: PCIe 5.0 x16, 63 GB/s"
    half = with_gpu(measured(healthy(), "copy-both-ways", "GPU:0", load=None), 0, pcie_width_max=8)
    assert verdict(half, "copy-both-ways").expected == pytest.approx(63.0, rel=1e-3)


def test_links_that_are_no_pcie() -> None:
    chip = with_gpu(measured(healthy(), "copy-host-to-device", "GPU:0", value=415.0), 0, c2c=True)
    assert verdict(chip, "copy-host-to-device").expected == 450
    assert verdict(chip, "copy-both-ways").expected == 900
    newer = with_cuda(chip, compute_capability=(11, 0))
    assert only(newer, "copy-host-to-device").verdict == "not judged"
    assert "shares the host's memory" in only(with_cuda(healthy(), integrated=True), "copy-host-to-device").why
    arm = with_(with_gpu(healthy(), 0, c2c=NONE), system__machine="aarch64")
    assert "chip to chip" in only(arm, "copy-host-to-device").why
    assert only(with_(arm, system__machine="x86_64"), "copy-host-to-device").kind == "limit"


def with_cuda(facts: Facts, **changes: Any) -> Facts:
    """`facts` with fields of CUDA's first device changed."""
    lib = facts.driver.libcuda
    assert isinstance(lib.devices, tuple)
    first, *rest = lib.devices
    devices = (msgspec.structs.replace(first, **changes), *rest)
    return with_(facts, driver__libcuda=msgspec.structs.replace(lib, devices=devices))


def without_cuda(facts: Facts) -> Facts:
    """`facts` where CUDA's devices could not be read."""
    return with_(facts, driver__libcuda=msgspec.structs.replace(facts.driver.libcuda, devices=NONE))


def only(facts: Facts, kernel: str) -> Verdict:
    """`kernel` on GPU 0 alone, without siblings and without what NVML saw meanwhile."""
    return verdict(with_(facts, measurements=(native(kernel, "GPU:0", load=None),)), kernel)


def test_copies_that_the_cache_may_serve() -> None:
    small = native("copy-inside", "GPU:0", size=(128 * MIB,), value=6000.0)
    one = verdict(with_(healthy(), measurements=(small,)), "copy-inside")
    assert one.verdict == "not judged"
    assert "cache of 60 MiB" in one.why
    assert only(with_cuda(healthy(), l2_bytes=NONE), "copy-inside").verdict == "not judged"


def pairs(facts: Facts, nvlink: str | Unread | None) -> Facts:
    return with_(facts, gpu__pairs=(GpuPair(first=0, second=1, read="ok", nvlink=nvlink, topology="PHB"),))


def test_pairs_without_nvlink_go_over_pcie() -> None:
    facts = pairs(with_gpu(healthy(), 1, pcie_generation_max=4), "not-supported")
    one = verdict(measured(facts, "copy-pair", "GPU:0,GPU:1", value=25.0), "copy-pair", "GPU:0,GPU:1")
    assert one.expected == pytest.approx(31.5, rel=1e-3)
    assert verdict(facts, "copy-pair", "GPU:0,GPU:1").verdict == "impossible"


def test_a_staged_pair_goes_over_pcie_or_the_driver_did_not_stage_it() -> None:
    staged = native("copy-pair", "GPU:0,GPU:1", value=40.0)
    staged = msgspec.structs.replace(staged, kernel="copy-pair-no-peer")
    facts = with_(healthy(), measurements=(staged,))
    assert "PCIe" in verdict(facts, "copy-pair-no-peer", "GPU:0,GPU:1").basis
    direct = measured(facts, "copy-pair-no-peer", "GPU:0,GPU:1", value=390.0)
    assert "NVLinks" in verdict(direct, "copy-pair-no-peer", "GPU:0,GPU:1").basis


def test_fewer_links_are_a_lower_limit_and_unknown_ones_none() -> None:
    def links(count: int, speed: int | Unread = 26562, remote: str = "switch") -> tuple[NvLink, ...]:
        return tuple(
            NvLink(index=i, active=i < count, version=6, remote=remote, speed_mb_per_s=speed) for i in range(18)
        )

    one = verdict(with_gpu(healthy(), 1, nvlinks=links(9)), "all-reduce", "GPU:0,GPU:1")
    assert one.expected == pytest.approx(9 * 26.562)
    assert one.verdict == "impossible"
    assert verdict(with_gpu(healthy(), 1, nvlinks=links(18, NONE)), "copy-pair", "GPU:0,GPU:1").kind == "siblings"
    bridged = with_gpu(with_gpu(healthy(), 0, nvlinks=links(4, remote="gpu")), 1, nvlinks=links(4, remote="gpu"))
    bridged = measured(bridged, "copy-pair", "GPU:0,GPU:1", value=40.0)
    bridged = measured(bridged, "copy-pair", "GPU:1,GPU:0", value=40.0)
    assert verdict(bridged, "copy-pair", "GPU:0,GPU:1").verdict == "ok"  # of four links one may lead there


def test_switches_that_add_up_allow_more() -> None:
    fast = measured(healthy(), "all-reduce", "GPU:0,GPU:1", value=600.0)
    assert verdict(fast, "all-reduce", "GPU:0,GPU:1").verdict == "impossible"
    for transport in (("P2P/CUMEM", "NVLS"), NONE):
        added = measured(fast, "all-reduce", "GPU:0,GPU:1", transport=transport)
        assert verdict(added, "all-reduce", "GPU:0,GPU:1").verdict == "ok"
        twice = measured(added, "all-reduce", "GPU:0,GPU:1", value=1000.0)
        assert verdict(twice, "all-reduce", "GPU:0,GPU:1").verdict == "impossible"


def test_copies_in_turn_have_no_switch_that_adds_up() -> None:
    facts = measured(healthy(), "all-reduce", "GPU:0,GPU:1", value=600.0, transport=NONE)
    by_copies = tuple(
        msgspec.structs.replace(m, kernel="all-reduce-hierarchical", backend="tensorflow")
        if m.kernel == "all-reduce"
        else m
        for m in facts.measurements
    )
    told = verdicts(with_(facts, measurements=by_copies))
    assert [v.verdict for v in told if v.kernel == "all-reduce-hierarchical"][:1] == ["impossible"]


def test_an_all_reduce_without_nvlink() -> None:
    facts = with_gpu(with_gpu(healthy(), 0, nvlinks=()), 1, nvlinks=(), pcie_width_max=8)
    one = verdict(measured(facts, "all-reduce", "GPU:0,GPU:1", value=20.0), "all-reduce", "GPU:0,GPU:1")
    assert one.expected == pytest.approx(31.5, rel=1e-3)
    assert one.verdict == "ok"


LESS = [("matmul-float16", 400.0), ("copy-inside", 1200.0), ("copy-host-to-device", 25.0), ("copy-both-ways", 60.0)]


@pytest.mark.parametrize(("kernel", "value"), LESS)
def test_less_than_usual_is_information(kernel: str, value: float) -> None:
    facts = measured(measured(healthy(), kernel, "GPU:0", value=value), kernel, "GPU:1", value=value)
    one = verdict(facts, kernel)
    assert (one.verdict, one.kind) == ("info", "limit")
    assert "usual" in one.why
    assert "sw-power-cap in 90% of the time" in one.why


def test_what_is_usual_elsewhere_is_not_asked_of_another_product() -> None:
    facts = with_(
        h100_pcie(), measurements=(native("matmul-float16", "GPU:0", device_name="NVIDIA H100 PCIe", value=380.0),)
    )
    assert verdict(facts, "matmul-float16").verdict == "ok"


def test_pageable_copies() -> None:
    ok = verdict(healthy(), "copy-host-to-device-pageable")
    assert ok.verdict == "ok"
    assert "buffers of its own" in ok.why
    slow = verdict(
        measured(healthy(), "copy-host-to-device-pageable", "GPU:0", value=1.1), "copy-host-to-device-pageable"
    )
    assert (slow.verdict, slow.kind, slow.expected) == ("info", "table", 2.0)


def several(*values: float, kernel: str = "matmul-float16", spread: float = 0.0, **change: Any) -> Facts:
    """As many H200, a value for each GPU; `change` of the last."""
    facts, addresses = healthy(), tuple(f"0000:00:{6 + i:02x}.0" for i in range(len(values)))
    lib = facts.driver.libcuda
    assert isinstance(lib.devices, tuple)
    devices = tuple(
        msgspec.structs.replace(lib.devices[0], index=i, pci_address=address) for i, address in enumerate(addresses)
    )
    made = [
        native(kernel, f"GPU:{i}", addresses=addresses, value=v, samples=(v, v * (1 + spread)), spread=spread)
        for i, v in enumerate(values)
    ]
    made[-1] = msgspec.structs.replace(made[-1], **change)
    return with_(
        facts,
        gpu__devices=tuple(gpu_device(i, address) for i, address in enumerate(addresses)),
        driver__libcuda=msgspec.structs.replace(lib, devices=devices),
        measurements=tuple(made),
    )


def words(facts: Facts) -> list[str]:
    return [v.verdict for v in verdicts(facts)]


def test_siblings() -> None:
    slow = several(700.0, 690.0, 710.0, 400.0)
    assert words(slow) == ["ok", "ok", "ok", "low"]
    low = verdicts(slow)[-1]
    assert (low.kind, low.expected, low.basis) == ("siblings", 700.0, "siblings: median of the 3 others")
    assert words(several(700.0, 600.0, 710.0)) == ["ok", "ok", "ok"]
    assert words(several(700.0, 690.0, 400.0, 400.0)) == ["ok", "ok", "low", "low"]


def test_two_alone_must_be_steady() -> None:
    assert words(several(700.0, 510.0)) == ["ok", "low"]
    assert words(several(700.0, 510.0, spread=0.2)) == ["ok", "info"]
    assert words(several(700.0, 700.0, 500.0, samples=(490.0, 500.0, 600.0), spread=0.22)) == ["ok", "ok", "info"]
    assert words(several(700.0, 700.0, 510.0, samples=(400.0, 510.0, 520.0), spread=0.24)) == ["ok", "ok", "low"]


@pytest.mark.parametrize(
    "change",
    [
        {"device_name": "NVIDIA H20"},
        {"device_name": NONE},
        {"verified": False},
        {"verified": NONE},
        {"size": (16384, 16384, 16384)},
        {"backend": "tensorflow"},
    ],
)
def test_only_what_is_alike_is_compared(change: dict[str, Any]) -> None:
    assert "low" not in words(several(700.0, 700.0, 520.0, **change))


def test_an_impossible_figure_is_no_sibling() -> None:
    assert words(several(700.0, 5000.0, 5000.0)) == ["ok", "impossible", "impossible"]


def test_copies_are_compared_over_equal_links_only() -> None:
    by_design = several(55.0, 55.0, 27.0, kernel="copy-host-to-device", load=load(pcie_width=8))
    assert words(by_design) == ["ok", "ok", "ok"]
    assert words(several(55.0, 55.0, 27.0, kernel="copy-host-to-device"))[-1] == "low"
    assert "low" not in words(several(9.0, 9.0, 3.0, kernel="copy-host-to-device-pageable"))


def test_pairs_are_compared_where_they_are_linked_alike() -> None:
    slow = measured(healthy(), "copy-pair", "GPU:1,GPU:0", value=280.0)
    assert verdict(slow, "copy-pair", "GPU:1,GPU:0").verdict == "low"
    unknown = with_(slow, gpu__pairs=NONE)
    assert verdict(unknown, "copy-pair", "GPU:1,GPU:0").verdict == "info"
    cuda_pairs = healthy().driver.libcuda.pairs
    assert isinstance(cuda_pairs, tuple)
    farther = (cuda_pairs[0], msgspec.structs.replace(cuda_pairs[1], performance_rank=1))
    other = with_(slow, driver__libcuda=msgspec.structs.replace(slow.driver.libcuda, pairs=farther))
    assert verdict(other, "copy-pair", "GPU:1,GPU:0").verdict == "info"


def test_without_a_limit_the_siblings_are_the_basis() -> None:
    blind = without_cuda(several(700.0, 690.0, 710.0))
    one = verdicts(blind)[0]
    assert (one.verdict, one.kind, one.expected) == ("ok", "siblings", 700.0)


def test_cudas_numbers_are_not_nvmls() -> None:
    """CUDA_VISIBLE_DEVICES=1: GPU:0 is NVML's 1, whose link is narrower."""
    devices = healthy().driver.libcuda.devices
    assert isinstance(devices, tuple)
    facts = with_gpu(healthy(), 1, pcie_width_max=8)
    facts = with_(
        facts,
        driver__libcuda=msgspec.structs.replace(
            facts.driver.libcuda, devices=(msgspec.structs.replace(devices[1], index=0),)
        ),
    )
    copy = native("copy-host-to-device", "GPU:0", load=None, value=27.0)
    for known in (("0000:00:07.0",), NONE):
        one = verdict(
            with_(facts, measurements=(msgspec.structs.replace(copy, pci_addresses=known),)), "copy-host-to-device"
        )
        assert "PCIe 5.0 x8" in one.basis


def test_where_tensorflow_leaves_a_gpu_out_its_numbers_tell_nothing() -> None:
    copy = msgspec.structs.replace(
        native("copy-host-to-device", "GPU:0", load=None),
        backend="tensorflow",
        kernel="host-to-device",
        pci_addresses=NONE,
    )
    facts = with_(lists_no_gpu(healthy()), measurements=(copy,))
    assert verdicts(facts)[0].verdict == "not judged"


def test_the_reasons_of_lower_clocks_are_named() -> None:
    hot = load(clock_reasons=(ClockReason(name="idle", share=0.5), ClockReason(name="hw-thermal-slowdown", share=0.25)))
    facts = with_(healthy(), measurements=(native("matmul-tf32", "GPU:0", value=150.0, load=hot),))
    why = verdicts(facts)[0].why
    assert "hw-thermal-slowdown in 25% of the time" in why
    assert "idle" not in why


def test_a_verdict_is_data() -> None:
    one = verdicts(healthy())[0]
    assert msgspec.json.decode(msgspec.json.encode(one), type=Verdict) == one


@given(st.lists(st.sampled_from((40.0, 45.0, 50.0, 51.0, 52.0)), min_size=3, max_size=9))
def test_siblings_are_the_median_of_the_others(values: list[float]) -> None:
    """Equal values, too, and as many as there are GPUs."""
    one = next(m for m in healthy().measurements if m.kernel == "matmul-float32" and m.device == "GPU:0")
    figures = tuple(msgspec.structs.replace(one, device=f"GPU:{n}", value=value) for n, value in enumerate(values))
    judged = verdicts(msgspec.structs.replace(healthy(), measurements=figures))
    assert [v.siblings for v in judged] == [statistics.median(values[:n] + values[n + 1 :]) for n in range(len(values))]
