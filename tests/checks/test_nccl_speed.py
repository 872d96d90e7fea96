"""Settings and links by the all-reduce that was measured with them."""

from __future__ import annotations

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import (
    ALL_REDUCE,
    CudaPair,
    Facts,
    GpuPair,
    NcclFile,
    NcclSetting,
    PciAcs,
    PciDevice,
    Unread,
)
from gpudoctor.verdicts.collective import all_reduce
from tests.factory import found, healthy, measured, outcome, reduced, roots, with_, with_gpu, with_variable
from tests.figures import native

P2P, SHM, CHANNELS = "nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env", "nccl-channels-limited"
TUNING, SLOW, NOT_USED = "nccl-tuning-forced", "slow-collective", "p2p-not-used"
THROUGH_SHM, THROUGH_NET = (26.3, "SHM/direct/direct"), (2.9, "NET/Socket/0")


def test_a_healthy_machine_is_silent() -> None:
    assert outcome(healthy(), SLOW) == "passed"
    assert outcome(reduced(healthy(), 283.0), SLOW) == "passed"
    assert outcome(reduced(healthy(), 140.0), SLOW) == "passed"
    for cause in (P2P, SHM, CHANNELS, TUNING, NOT_USED):
        assert outcome(healthy(), cause) == "passed"


def test_slow_for_no_reason_that_is_known() -> None:
    facts = reduced(healthy(), 60.0)
    one = found(facts)[SLOW]
    assert (one.level, one.symptom, one.about) == ("warn", True, ("gpu0", "gpu1"))
    assert "reaches 60 GB/s through P2P/CUMEM where 18 NVLinks allow 478, 6.6 times slower" in one.message
    diagnosis = judge(facts).diagnosis
    assert (diagnosis.verdict, roots(facts)) == ("warning", [])
    (left,) = diagnosis.unexplained
    assert left.symptom == SLOW
    assert {P2P, CHANNELS, TUNING, NOT_USED, "gpu-busy-with-other-work"} <= set(left.ruled_out)


def test_where_there_is_nothing_to_compare_with() -> None:
    facts = reduced(healthy(), 3.0)
    alone = tuple(m for m in facts.measurements if m.kernel != "copy-pair")
    assert outcome(with_(facts, measurements=alone), SLOW) == "skipped"
    assert outcome(with_(facts, measurements=()), SLOW) == "skipped"
    small = tuple(
        msgspec.structs.replace(m, size=(1 << 20,)) if m.kernel == ALL_REDUCE else m for m in facts.measurements
    )
    assert outcome(with_(facts, measurements=small), SLOW) == "skipped"
    wrong = tuple(
        msgspec.structs.replace(m, verified=False) if m.kernel == ALL_REDUCE else m for m in facts.measurements
    )
    assert outcome(with_(facts, measurements=wrong), SLOW) == "skipped"


def test_gpus_that_share_a_way_over_pcie_may_be_slower() -> None:
    """Four GPUs without NVLink: a fifth of what one pair alone does is what the host's memory gives."""
    facts = with_gpu(with_gpu(healthy(), 0, nvlinks=()), 1, nvlinks=())
    facts = with_(facts, gpu__pairs=(GpuPair(first=0, second=1, read="ok", nvlink="not-supported", topology="SYS"),))
    one = native("all-reduce", "GPU:0,GPU:1", size=(32 << 20,), value=5.0, samples=(5.0,) * 3)
    four = msgspec.structs.replace(
        one,
        device="GPU:0,GPU:1,GPU:2,GPU:3",
        pci_addresses=(*map(str, one.pci_addresses), "x", "y"),  # type: ignore[arg-type]
    )
    copies = tuple(native("copy-pair", d, value=25.0) for d in ("GPU:0,GPU:1", "GPU:1,GPU:0"))
    assert outcome(with_(facts, measurements=(four, *copies)), SLOW) == "passed"
    assert outcome(with_(facts, measurements=(one, *copies)), SLOW) == "found"
    less = msgspec.structs.replace(four, value=3.0)
    assert outcome(with_(facts, measurements=(less, *copies)), SLOW) == "found"


def test_p2p_that_is_off_is_named_with_its_factor() -> None:
    facts = with_variable(reduced(healthy(), *THROUGH_SHM), "NCCL_P2P_DISABLE", "1")
    assert roots(facts) == [P2P]
    (root,) = judge(facts).diagnosis.root_causes
    assert root.explains == (SLOW,)
    assert root.message.endswith(
        "all-reduce reaches 26.3 GB/s through SHM/direct/direct where 18 NVLinks allow 478, 15 times slower than copies between the "
        "same GPUs (394 GB/s)."
    )
    assert any("SHM/direct/direct, 24 channel(s)" in p.text for p in root.proof)
    assert root.fixes[0].steps == ("unset NCCL_P2P_DISABLE",)


def test_a_setting_that_keeps_nobody_from_going_straight_is_no_finding() -> None:
    assert outcome(with_variable(healthy(), "NCCL_P2P_DISABLE", "1"), P2P) == "passed"
    assert outcome(with_variable(reduced(healthy(), 26.3), "NCCL_P2P_DISABLE", "1"), P2P) == "passed"
    unsaid = tuple(
        msgspec.structs.replace(m, transport=Unread(why="no log")) if m.kernel == ALL_REDUCE else m
        for m in healthy().measurements
    )
    assert outcome(with_(with_variable(healthy(), "NCCL_P2P_DISABLE", "1"), measurements=unsaid), P2P) == "found"


def test_a_level_that_only_the_measurement_shows() -> None:
    facts = with_variable(healthy(), "NCCL_P2P_LEVEL", "PIX")
    assert outcome(facts, P2P) == "passed"
    assert roots(reduced(facts, *THROUGH_SHM)) == [P2P]
    assert outcome(reduced(with_variable(healthy(), "NCCL_P2P_LEVEL", "SYS"), *THROUGH_SHM), P2P) == "passed"


def test_without_p2p_and_shared_memory() -> None:
    facts = with_variable(
        with_variable(reduced(healthy(), *THROUGH_NET), "NCCL_P2P_DISABLE", "1"), "NCCL_SHM_DISABLE", "1"
    )
    assert roots(facts) == [P2P, SHM]
    for cause in (P2P, SHM):
        assert "2.9 GB/s through NET/Socket/0" in found(facts)[cause].message
        assert "136 times slower" in found(facts)[cause].message
    combined = judge(facts).diagnosis.combined_fix
    assert combined is not None
    assert combined.steps == ("unset NCCL_P2P_DISABLE", "unset NCCL_SHM_DISABLE")
    harmless = with_variable(reduced(healthy(), *THROUGH_SHM), "NCCL_SHM_DISABLE", "1")
    assert outcome(harmless, SHM) == "passed"


@pytest.mark.parametrize(("limit", "rate", "used", "expected"), [
    ("1", 20.3, 1, "found"), ("1", 283.0, 24, "passed"), ("4", 80.0, 4, "found"), ("8", 150.0, 8, "found"),
    ("16", 270.0, 16, "passed"), ("32", 60.0, 24, "passed"), ("2", 230.0, 2, "passed"),
])  # fmt: skip
def test_channels_by_what_was_measured(limit: str, rate: float, used: int, expected: str) -> None:
    facts = with_variable(reduced(healthy(), rate, channels=used), "NCCL_MAX_NCHANNELS", limit)
    assert outcome(facts, CHANNELS) == expected
    if expected == "found":
        assert roots(facts) == [CHANNELS]
        assert f"all-reduce reaches {rate:.3g} GB/s" in found(facts)[CHANNELS].message
        assert "times slower than copies" in found(facts)[CHANNELS].message


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_PROTO", "LL"), ("NCCL_ALGO", "Tree"), ("NCCL_BUFFSIZE", "4096"), ("NCCL_NTHREADS", "64")]
)
def test_what_is_forced_counts_where_it_costs_something(name: str, value: str) -> None:
    facts = with_variable(healthy(), name, value)
    assert outcome(facts, TUNING) == "passed"
    slow = reduced(facts, 90.0)
    assert roots(slow) == [TUNING]
    assert found(slow)[TUNING].message.startswith(
        f"{name}={value} takes a choice from NCCL: all-reduce reaches 90 GB/s"
    )
    assert found(slow)[TUNING].fixes[0].steps == (f"unset {name}",)
    assert outcome(reduced(with_variable(healthy(), name, ""), 90.0), TUNING) == "passed"
    unmeasured = with_(facts, measurements=())
    assert outcome(unmeasured, TUNING) == "unknown"
    assert judge(unmeasured).diagnosis.verdict == "healthy"


def in_file(facts: Facts, path: str, *settings: tuple[str, str]) -> Facts:
    ours = tuple(NcclSetting(name=n, value=v, file=path, line=i) for i, (n, v) in enumerate(settings, 1))
    return with_(facts, nccl__files=(NcclFile(path=path, exists=True, settings=ours),))


def test_what_a_file_says_is_overruled_by_a_variable() -> None:
    slow = reduced(healthy(), 90.0)
    both = in_file(slow, "/etc/nccl.conf", ("NCCL_BUFFSIZE", "4096"), ("NCCL_NTHREADS", "64"))
    now, *later = found(both)[TUNING].fixes
    assert now.steps == ("export NCCL_BUFFSIZE=", "export NCCL_NTHREADS=")
    assert [(f.kind, f.risk) for f in later] == [("advice", "needs root")] * 2
    # an empty NCCL_ALGO or NCCL_PROTO would leave NCCL none
    system = found(in_file(slow, "/etc/nccl.conf", ("NCCL_PROTO", "LL")))[TUNING].fixes
    assert [f.kind for f in system] == ["advice"]
    own = found(in_file(slow, "/home/user/.nccl.conf", ("NCCL_PROTO", "LL")))[TUNING].fixes
    assert own[0].steps == ("export NCCL_CONF_FILE=/dev/null",)
    mixed = found(with_variable(in_file(slow, "/etc/nccl.conf", ("NCCL_BUFFSIZE", "4096")), "NCCL_PROTO", "LL"))
    assert mixed[TUNING].fixes[0].steps == ("unset NCCL_PROTO", "export NCCL_BUFFSIZE=")


def test_links_that_are_there_and_not_used() -> None:
    facts = reduced(healthy(), *THROUGH_SHM)
    assert roots(facts) == [NOT_USED]
    assert "15 times slower" in found(facts)[NOT_USED].message
    assert outcome(with_variable(facts, "NCCL_P2P_DISABLE", "1"), NOT_USED) == "skipped"
    apart = (GpuPair(first=0, second=1, read="ok", nvlink="not-supported", topology="PHB"),)
    assert outcome(with_(facts, gpu__pairs=apart), NOT_USED) == "skipped"
    assert outcome(with_(facts, measurements=()), NOT_USED) == "skipped"


def test_a_busy_gpu_makes_the_collective_slow() -> None:
    facts = measured(reduced(healthy(), 60.0), "matmul-float16", "GPU:1", value=350.0)
    busy = with_gpu(facts, 1, utilisation_gpu_percent=100, clock_event_reasons=(), processes=())
    assert roots(busy) == ["gpu-busy-with-other-work"]
    assert set(judge(busy).diagnosis.root_causes[0].explains) == {SLOW, "gpu-outlier"}


def test_traffic_over_pcie_that_is_redirected_and_slow() -> None:
    facts = with_gpu(with_gpu(healthy(), 0, nvlinks=()), 1, nvlinks=())
    facts = with_(
        facts,
        gpu__pairs=(GpuPair(first=0, second=1, read="ok", nvlink="not-supported", topology="PHB"),),
        driver__libcuda__pairs=tuple(
            CudaPair(device=a, peer=b, can_access=True, native_atomics=False) for a, b in ((0, 1), (1, 0))
        ),
    )
    bridge = PciDevice(
        address="0000:00:01.0", vendor=1, device=1, pci_class=0x060400, driver=None, parent=None,
        acs=PciAcs(capability=0x5F, control=0x1D),
    )  # fmt: skip
    devices = facts.pci.devices
    assert isinstance(devices, tuple)
    gpus = tuple(
        msgspec.structs.replace(d, parent=bridge.address, iommu_group=7, iommu_type=None)
        for d in devices
        if d.is_nvidia_gpu
    )
    facts = with_(facts, pci__devices=(bridge, *gpus))
    for direction in ("GPU:0,GPU:1", "GPU:1,GPU:0"):
        facts = measured(facts, "copy-pair", direction, value=26.0)
    slow = reduced(facts, 2.0)
    one = found(slow)["nccl-p2p-iommu-acs"]
    assert (roots(slow), one.level, one.may_explain) == (
        ["nccl-p2p-iommu-acs"],
        "warn",
        (SLOW, "scaling-below-expected"),
    )
    assert outcome(reduced(facts, 18.0), "nccl-p2p-iommu-acs") == "skipped"


def test_the_best_of_the_large_ones_counts() -> None:
    best = all_reduce(healthy())
    assert best is not None
    assert (best.rate, best.copy_rate, best.linked, best.is_direct) == (328.0, 394.0, True, True)
    assert not best.suffers
