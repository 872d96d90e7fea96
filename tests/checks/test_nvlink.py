from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.facts import Facts, NvLink, Unread
from tests.factory import found, gpu_device, healthy, outcome, roots, with_

NAMES = ("nvlink-down", "nvlink-degraded")
UNREAD = Unread(why="no answer", settle="nvidia-smi nvlink -s")


def links(active: int, count: int = 18, remote: str | None = "switch") -> tuple[NvLink, ...]:
    return tuple(NvLink(index=i, active=i < active, version=6, remote=remote) for i in range(count))


def host(*each: Any, **changes: Any) -> Facts:
    """A host of GPUs with these links."""
    gpus = tuple(gpu_device(i, f"0000:00:0{i + 6}.0", nvlinks=one, **changes) for i, one in enumerate(each))
    return with_(healthy(), gpu__devices=gpus, gpu__pairs=())


def outcomes(facts: Facts) -> list[str]:
    return [outcome(facts, name) for name in NAMES]


def test_all_links_up() -> None:
    assert outcomes(healthy()) == ["passed", "passed"]
    assert outcomes(host(links(18), links(18), links(18), links(18))) == ["passed", "passed"]


def test_down() -> None:
    facts = host(links(18), links(0), links(18))
    assert outcomes(facts) == ["found", "passed"]
    one = found(facts)["nvlink-down"]
    assert (one.about, one.level) == (("gpu1",), "fail")
    assert one.message == "No NVLink of GPU 1 (NVIDIA H200) is up; GPU 0 has 18."


def test_degraded() -> None:
    facts = host(links(18), links(18), links(16))
    assert outcomes(facts) == ["passed", "found"]
    one = found(facts)["nvlink-degraded"]
    assert (one.about, one.level) == (("gpu2",), "warn")
    assert one.proof[0].text == "GPU 2: 16 of 18 links active (down: 16, 17)"


def test_both_are_roots() -> None:
    facts = host(links(18), links(0), links(16))
    assert [r for r in roots(facts) if r in NAMES] == list(NAMES)


def test_modules_that_are_linked_to_each_other() -> None:
    mesh = host(links(6, 6, "gpu"), links(5, 6, "gpu"), name="Tesla V100-SXM2-32GB")
    assert outcomes(with_(mesh, system__hypervisor=False)) == ["passed", "found"]
    whole = host(*(links(6, 6, "gpu"),) * 7, links(5, 6, "gpu"), name="Tesla V100-SXM2-32GB")
    assert outcomes(whole) == ["passed", "found"]


def test_a_part_of_a_board_in_a_virtual_machine_lacks_links_by_design() -> None:
    part = host(links(2, 6, "gpu"), links(3, 6, "gpu"), name="Tesla V100-SXM2-16GB")
    assert outcomes(part) == ["skipped", "skipped"]
    assert outcomes(with_(part, system__hypervisor=Unread(why="?"))) == ["unknown", "unknown"]


@pytest.mark.parametrize(
    "facts",
    [
        host((), ()),
        host(None, None),
        host(links(4, 4, "gpu"), links(4, 4, "gpu"), links(0, 4), links(0, 4), name="NVIDIA RTX A6000"),
        host(links(18, 18, "gpu"), links(0), name="NVIDIA H200 NVL"),
        host(links(0), links(0)),
        host(links(18), links(0), mig_mode=True),
        host(links(0)),
    ],
    ids=["no NVLink", "not supported", "two of four bridged", "one bridge end", "none bridged", "MIG", "one GPU"],
)
def test_what_is_by_design_is_no_finding(facts: Facts) -> None:
    assert outcomes(facts) == ["skipped", "skipped"]


def test_another_model_is_no_sibling() -> None:
    gpus = (
        gpu_device(0),
        gpu_device(1, "0000:00:07.0"),
        gpu_device(2, "0000:00:08.0", name="NVIDIA RTX A6000", nvlinks=links(0, 4)),
    )
    assert outcomes(with_(healthy(), gpu__devices=gpus)) == ["passed", "passed"]


def test_a_virtual_machine_hides_addresses_and_a_fabric_of_state_0_is_no_fault() -> None:
    assert outcomes(host(links(18), links(18), fabric_state=0)) == ["passed", "passed"]


def test_unread() -> None:
    assert outcomes(host(links(18), UNREAD)) == ["unknown", "unknown"]
    assert outcomes(host(links(18), links(17), UNREAD)) == ["unknown", "found"]
    assert outcomes(host(links(18), links(17), mig_mode=UNREAD)) == ["unknown", "unknown"]
    assert outcomes(with_(healthy(), gpu__devices=UNREAD)) == ["unknown", "unknown"]
