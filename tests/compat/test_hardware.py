from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor import compat
from gpudoctor.compat import GpuAttributes, Peak, files
from gpudoctor.compat.records import Gpus, Record, Xids

MODELS = compat.gpus().models
RECORDS: tuple[Record, ...] = (
    *MODELS,
    *compat.gpus().pci,
    *compat.gpus().fp32_rates,
    *compat.gpus().tensor_rates,
    *compat.xids().xids,
)


def names(text: str) -> list[str]:
    return [m.name for m in compat.gpu_models(text)]


@pytest.mark.parametrize(("file", "type_"), [("gpus.json", Gpus), ("xid.json", Xids)])
def test_the_files_are_in_their_written_form(file: str, type_: type) -> None:
    text = (Path(files.DIRECTORY) / file).read_text()
    assert files.text_of(msgspec.json.decode(text, type=type_)) == text


def test_every_record_has_a_source() -> None:
    for record in RECORDS:
        assert record.source.strip()
        assert not re.search(r"/work|/tmp|/home|https?://", record.source)


def test_models() -> None:
    ids = {d.id for d in compat.gpus().pci}
    for model in MODELS:
        assert re.fullmatch(r"\d+\.\d", model.compute_capability)
        assert set(model.pci_ids) <= ids
        assert (model.figures is None) == (model.figures_source is None)
        assert model.figures is not None or (model.multiprocessors, model.memory_gb, model.tdp_w) == (None, None, None)
        assert (model.p2p is None) == (model.p2p_source is None)
        assert model.p2p != "nvlink only" or model.nvlink is not None
    assert len({(m.name, m.pci_ids, m.memory_gb) for m in MODELS}) == len(MODELS)


def test_models_and_ids_agree() -> None:
    for device in compat.gpus().pci:
        assert re.fullmatch(r"[0-9a-f]{4}", device.id)
        assert any(m.name == device.name and device.id in m.pci_ids for m in MODELS), device
    for model in MODELS:
        for one in model.pci_ids:
            assert model.name in {d.name for d in compat.gpu_by_pci(one)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RTX 4090", ["NVIDIA GeForce RTX 4090"]),
        ("rtx5090", ["NVIDIA GeForce RTX 5090"]),
        ("4090", ["NVIDIA GeForce RTX 4090"]),
        ("h100 pcie", ["NVIDIA H100 PCIe"]),
        ("H100 SXM", ["NVIDIA H100 80GB HBM3"]),
        ("NVIDIA H200", ["NVIDIA H200"]),
        ("H200", ["NVIDIA H200", "NVIDIA H200 NVL"]),
        ("GTX 1080", ["NVIDIA GeForce GTX 1080"]),
        ("K80", ["Tesla K80"]),
        ("A100-SXM4-80GB", ["NVIDIA A100-SXM4-80GB"]),
        ("A100 80GB", ["NVIDIA A100 80GB PCIe", "NVIDIA A100-SXM4-80GB"]),
        ("Tesla T4", ["Tesla T4"]),
        ("B200", ["NVIDIA B200"]),
        ("GH200", ["NVIDIA GH200 120GB", "NVIDIA GH200 144G HBM3e", "NVIDIA GH200 480GB"]),
        ("L4", ["NVIDIA L4"]),
        ("L40", ["NVIDIA L40"]),
        ("L40S", ["NVIDIA L40S"]),
        ("RTX 6000 Ada", ["NVIDIA RTX 6000 Ada Generation"]),
        ("Quadro RTX 6000", ["Quadro RTX 6000"]),
        ("RTX A6000", ["NVIDIA RTX A6000"]),
        ("RTX 6000", ["Quadro RTX 6000", "NVIDIA RTX 6000 Ada Generation"]),
        ("RTX 3080", ["NVIDIA GeForce RTX 3080", "NVIDIA GeForce RTX 3080"]),
        ("RTX 3060 12GB", ["NVIDIA GeForce RTX 3060"]),
        ("rtx 3060 laptop", ["NVIDIA GeForce RTX 3060 Laptop GPU"]),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", ["NVIDIA H100 80GB HBM3"]),
        ("10de:2335", ["NVIDIA H200"]),
        ("2335", ["NVIDIA H200"]),
        ("RTX 4095", []),
        ("nvidia", []),
        ("GeForce", []),
        ("", []),
    ],
)
def test_what_people_type(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_name_of_several_products() -> None:
    assert {m.compute_capability for m in compat.gpu_models("V100")} == {"7.0"}
    assert {"Tesla V100-SXM2-16GB", "Tesla V100-PCIE-32GB"} <= set(names("V100"))
    assert {"NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL"} <= set(names("nvidia h100"))
    assert [m.memory_gb for m in compat.gpu_models("RTX 4060 Ti")] == [8, 16]
    assert {d.name for d in compat.gpu_by_pci("25b6")} == {"NVIDIA A16", "NVIDIA A2"}


@given(st.sampled_from(MODELS), st.booleans())
def test_nvml_name_finds_its_model(model: compat.records.GpuModel, lower: bool) -> None:
    assert model in compat.gpu_models(model.name.lower() if lower else model.name)
    for also in model.also:
        assert model in compat.gpu_models(also)
    older = model.name.removeprefix("NVIDIA ")  # as drivers before 465 print it
    assert model in compat.gpu_models(older)


@given(st.text() | st.text(alphabet="rtxga 0123456789-:mig", max_size=12))
def test_no_text_is_too_odd(text: str) -> None:
    compat.gpu_by_pci(text)
    assert all(isinstance(n, str) for n in compat.near(text))
    for model in compat.gpu_models(text):
        assert model in MODELS


def test_by_pci_id() -> None:
    for asked in ("2335", "10de:2335", "0x2335", 0x2335, " 10DE:2335 "):
        assert [d.name for d in compat.gpu_by_pci(asked)] == ["NVIDIA H200"]
    for asked in ("1002:2335", "ffff", "23", -1, 1 << 20, "²³³⁵"):
        assert compat.gpu_by_pci(asked) == ()


def test_near() -> None:
    assert "NVIDIA GeForce RTX 4090" in compat.near("RTX 4095")
    assert "NVIDIA GeForce RTX 3090" in compat.near("GeForc 3090")
    assert compat.near("Radeon") == () or all("NVIDIA" in n for n in compat.near("Radeon"))


def test_xids() -> None:
    codes = [x.code for x in compat.xids().xids]
    assert codes == sorted(set(codes))
    assert compat.xid(79) is not None
    assert compat.xid(0) is None
    assert compat.xid(100_000) is None
    fell, page = compat.xid(79), compat.xid(63)
    assert fell is not None
    assert page is not None
    assert (fell.meaning, fell.action) == ("GPU has fallen off the bus", "RESTART_BM")
    assert page.action == "IGNORE"
    assert page.older_meaning is not None
    for code in (31, 32, 38, 44, 63, 94):  # a table that is not NVIDIA's calls these fatal
        one = compat.xid(code)
        assert one is not None
        assert one.action in ("RESTART_APP", "IGNORE")
    for one in compat.xids().xids:
        assert (one.action is None) == (one.action_text is None)
        assert one.code <= 161 or one.action is None  # none is published


# --------------------------------------------------------------------------- peaks


def value(peak: Peak | None) -> float:
    assert peak is not None
    return peak.value


# Name, capability, multiprocessors, clock of the data sheet (MHz), FP16 with FP32 accumulation (TFLOP/s, dense).
DATA_SHEETS = [
    ("NVIDIA H100 80GB HBM3", "9.0", 132, 1830, 989),
    ("NVIDIA A100-SXM4-80GB", "8.0", 108, 1410, 312),
    ("Tesla V100-SXM2-16GB", "7.0", 80, 1530, 125),
    ("Tesla T4", "7.5", 40, 1590, 65),
    ("Quadro RTX 6000", "7.5", 72, 1770, 130.5),
    ("GeForce RTX 2080 Ti", "7.5", 68, 1635, 56.9),
    ("NVIDIA A10", "8.6", 72, 1695, 125),
    ("NVIDIA A40", "8.6", 84, 1740, 149.7),
    ("NVIDIA GeForce RTX 3090", "8.6", 82, 1695, 71.2),
    ("NVIDIA L4", "8.9", 58, 2040, 121),
    ("NVIDIA L40", "8.9", 142, 2490, 181),
    ("NVIDIA L40S", "8.9", 142, 2520, 362),
    ("NVIDIA GeForce RTX 4090", "8.9", 128, 2520, 165.2),
    ("NVIDIA RTX 6000 Ada Generation", "8.9", 142, 2505, 364.2),
    ("NVIDIA B200", "10.0", 148, 1855, 2250),
    ("NVIDIA GeForce RTX 5090", "12.0", 170, 2407, 209.5),
    ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0", 188, 2617, 503.8),
]


@pytest.mark.parametrize(("name", "capability", "multiprocessors", "clock", "expected"), DATA_SHEETS)
def test_tensor_peaks_of_data_sheets(
    name: str, capability: str, multiprocessors: int, clock: int, expected: float
) -> None:
    device = GpuAttributes(name=name, compute_capability=capability, multiprocessors=multiprocessors, clock_mhz=clock)
    assert value(compat.peaks(device).fp16_tflops) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("bits", "clock", "expected"),
    [(6016, 3201, 4800), (5120, 2619, 3350), (5120, 1215, 1555), (256, 5001, 320), (192, 6251, 300)],
)
def test_memory_bandwidth_of_data_sheets(bits: int, clock: int, expected: float) -> None:
    peak = compat.peaks(GpuAttributes(memory_width_bits=bits, memory_clock_mhz=clock)).memory_gb_per_s
    assert value(peak) == pytest.approx(expected, rel=0.03)
    assert peak is not None
    assert peak.certain


def test_fp32_and_tf32() -> None:
    """The H100's 66.9 TFLOP/s counts with the highest clock, unlike its tensor figures."""
    h100 = GpuAttributes(name="NVIDIA H100 80GB HBM3", compute_capability="9.0", multiprocessors=132, clock_mhz=1980)
    assert value(compat.peaks(h100).fp32_tflops) == pytest.approx(66.9, rel=0.03)
    a100 = GpuAttributes(name="NVIDIA A100-SXM4-40GB", compute_capability="8.0", multiprocessors=108, clock_mhz=1410)
    assert value(compat.peaks(a100).tf32_tflops) == pytest.approx(156, rel=0.03)
    gtx = GpuAttributes(name="NVIDIA GeForce GTX 1080", compute_capability="6.1", multiprocessors=20, clock_mhz=1733)
    assert value(compat.peaks(gtx).fp32_tflops) == pytest.approx(8.9, rel=0.03)
    assert compat.peaks(gtx).fp16_tflops is None


def test_what_is_unknown_stays_unknown() -> None:
    whole = GpuAttributes(name="NVIDIA H200", compute_capability="9.0", multiprocessors=132, clock_mhz=1980)
    for missing in ("compute_capability", "multiprocessors", "clock_mhz"):
        assert compat.peaks(msgspec.structs.replace(whole, **{missing: None})).fp32_tflops is None
    for name in ("NVIDIA H20", None, "NVIDIA Graphics Device"):  # of its capability, and not of its rate
        peaks = compat.peaks(msgspec.structs.replace(whole, name=name))
        assert peaks.fp16_tflops is None
        assert peaks.fp32_tflops is not None
    assert compat.peaks(msgspec.structs.replace(whole, compute_capability="99.0")).fp32_tflops is None
    for name, capability in (("NVIDIA A10G", "8.6"), ("NVIDIA GeForce RTX 5090 D", "12.0"), ("NVIDIA T1000", "7.5")):
        rate = compat.tensor_rate(name, capability)
        assert rate is None or rate.fp16_flop_per_sm is None


def test_ceilings_are_those_of_the_fastest_product() -> None:
    """A name that is sold with half the rate, and one that is not in the table, have the same as the fastest."""
    geforce = GpuAttributes(
        name="NVIDIA GeForce RTX 4090", compute_capability="8.9", multiprocessors=128, clock_mhz=2520
    )
    assert value(compat.ceilings(geforce).fp16_tflops) == pytest.approx(2 * 165.2, rel=0.03)
    assert value(compat.ceilings(geforce).fp8_tflops) == pytest.approx(4 * 165.2, rel=0.03)
    for name in ("NVIDIA H200", "NVIDIA H20", None):
        one = GpuAttributes(name=name, compute_capability="9.0", multiprocessors=132, clock_mhz=1830)
        assert value(compat.ceilings(one).fp16_tflops) == pytest.approx(989.4, rel=0.03)
        assert value(compat.ceilings(one).fp8_tflops) == pytest.approx(1978.9, rel=0.03)
    older = GpuAttributes(compute_capability="8.0", multiprocessors=108, clock_mhz=1410)
    assert compat.ceilings(older).fp8_tflops is None
    assert (
        compat.ceilings(GpuAttributes(compute_capability="6.1", multiprocessors=20, clock_mhz=1733)).fp16_tflops is None
    )
    blackwell = compat.ceilings(GpuAttributes(compute_capability="10.0", multiprocessors=148, clock_mhz=1965))
    assert blackwell.fp16_tflops is not None
    assert not blackwell.fp16_tflops.certain


def test_hearsay_judges_no_machine() -> None:
    for model in MODELS:
        peaks = compat.peaks(model)
        for peak in (peaks.fp32_tflops, peaks.tf32_tflops, peaks.fp16_tflops, peaks.memory_gb_per_s):
            assert peak is None or not peak.certain
            assert peak is None or "compat/gpus.json" in peak.basis
    for rate in (*compat.gpus().fp32_rates, *compat.gpus().tensor_rates):
        assert "memory" not in rate.source or rate.confidence in ("recall", "reported")
    device = GpuAttributes(name="NVIDIA B200", compute_capability="10.0", multiprocessors=148, clock_mhz=1965)
    peak = compat.peaks(device).fp32_tflops
    assert peak is not None
    assert not peak.certain
