"""Two reports become comparable: names, tokens, hosts, which GPU is which."""

from __future__ import annotations

import pytest

from gpudoctor import api, bundle, redact
from gpudoctor.bundle import Report
from gpudoctor.compare import compare
from gpudoctor.facts import Facts, Unread
from gpudoctor.redact import Identity
from tests.boards import HOSTS
from tests.compare.pairs import listed, lost, module_missing, moved
from tests.factory import healthy, with_, with_variable

HOME = "/home/gretchen"


def report(facts: Facts) -> Report:
    return bundle.make(facts, "2026-11-21T00:00:00+00:00")


def named(facts: Facts) -> Facts:
    """A host and a user whose names stand in paths, too."""
    facts = with_(
        facts,
        system__hostname="node7.corp.example",
        system__user_name="gretchen",
        system__home=HOME,
        python__executable=f"{HOME}/env/bin/python3",
        python__prefix=f"{HOME}/env",
    )
    return with_variable(facts, "LD_LIBRARY_PATH", f"{HOME}/lib")


def hidden(facts: Facts, key: bytes | None = None) -> Report:
    made = redact.report(report(facts), Identity(), key=key)
    assert made.redactions
    assert "gretchen" not in str(made.facts)
    return made


def test_one_redacted_and_one_plain_report_of_one_host_are_the_same() -> None:
    for old, new in (
        (hidden(named(healthy())), report(named(healthy()))),
        (report(named(healthy())), hidden(named(healthy()))),
        (hidden(named(healthy())), hidden(named(healthy()))),
    ):
        made = compare(old, new)
        assert (made.verdict, made.changes, made.hosts) == ("same", (), "same")


def test_what_changed_is_seen_between_a_redacted_and_a_plain_one() -> None:
    made = compare(hidden(named(healthy())), report(with_variable(named(healthy()), "CUDA_VISIBLE_DEVICES", "0,7")))
    assert [c.id for c in made.changes] == ["environment.variables:CUDA_VISIBLE_DEVICES"]
    assert [n.finding.cause for n in made.new_findings] == ["cuda-visible-devices-wrong"]


@pytest.mark.parametrize("key", [b"of another boot", None])
def test_tokens_of_another_key_are_left_out(key: bytes | None) -> None:
    """A container that was started anew has other tokens for the same names."""
    other = hidden(named(healthy()), b"of this boot")
    new = hidden(named(healthy()), key) if key else report(named(healthy()))
    made = compare(other, new)
    assert made.changes == ()
    assert made.hosts == "not known"
    assert "tokens that do not compare" in made.hosts_because
    worse = hidden(with_variable(named(healthy()), "NCCL_P2P_DISABLE", "1"), b"third")
    assert [c.id for c in compare(other, worse).changes] == ["environment.variables:NCCL_P2P_DISABLE"]


def test_nothing_that_was_hidden_is_in_what_is_said() -> None:
    made = compare(hidden(named(healthy())), report(named(moved(healthy()))))
    assert "gretchen" not in str(made)
    assert "node7" not in str(made)


def test_hosts() -> None:
    one, two, four = (
        api.replay(HOSTS / f"{n}.json") for n in ("h100-x1-healthy", "h200-x2-healthy", "h200-x4-healthy")
    )
    for old, new in ((one, two), (two, four), (two, one)):
        made = compare(old, new)
        assert made.hosts == "different"
        assert not any(c.id in ("system.hostname", "gpu.devices.uuid:gpu-0") for c in made.changes)
        assert made.lost == ()
    assert compare(one, one).hosts == "same"
    assert compare(report(healthy()), report(module_missing(healthy()))).hosts == "same"
    unnamed = with_(healthy(), system__hostname=Unread(why="no"), gpu__devices=Unread(why="no"))
    for path in ("driver__gpus", "driver__libcuda__devices"):
        unnamed = with_(unnamed, **{path: Unread(why="no")})
    assert compare(report(healthy()), report(unnamed)).hosts == "not known"


def test_a_container_has_another_name_each_time() -> None:
    old = with_(healthy(), system__container="docker", system__hostname="3f2a9c1b7d00")
    new = with_(healthy(), system__container="docker", system__hostname="99ee01aa3355")
    made = compare(report(old), report(new))
    assert made.hosts == "same"  # by its GPUs
    assert made.changes == ()


def test_a_gpu_in_another_slot_and_another_gpu_in_its_slot() -> None:
    made = compare(report(healthy()), report(moved(healthy())))
    (change,) = [c for c in made.changes if not c.follows]
    assert (change.subject, change.what, change.old, change.new) == (
        "GPU 1 (0000:a1:00.0)", "slot", "0000:00:07.0", "0000:a1:00.0"
    )  # fmt: skip
    other = healthy()
    for path in ("gpu.devices", "driver.gpus", "driver.libcuda.devices"):
        other = listed(
            other, path, lambda d: d.pci_address == "0000:00:07.0", uuid="GPU-77777777-0000-4000-8000-000000000000"
        )
    made = compare(report(healthy()), report(other))
    assert [c.id for c in made.changes if not c.follows] == ["gpu.devices.uuid:gpu-1"]


def test_a_gpu_that_is_gone_is_a_loss_and_one_that_came_is_none() -> None:
    made = compare(report(healthy()), report(lost(healthy())))
    (change,) = made.lost
    assert change.subject == "GPU 1 (0000:00:07.0) NVIDIA H200"
    assert (change.old, change.new) == ("on the bus, to the kernel module, to NVML, to CUDA", None)
    back = compare(report(lost(healthy())), report(healthy()))
    assert (back.lost, back.verdict) == ((), "changed")


def test_what_is_not_read_is_no_change() -> None:
    blind = with_(healthy(), gpu__devices=Unread(why="NVML: no permission"), system__kernel=Unread(why="not asked"))
    made = compare(report(healthy()), report(blind))
    assert made.changes == ()
    assert {(n.id, n.side, n.why) for n in made.not_known} == {
        ("gpu.devices", "now", "NVML: no permission"),
        ("system.kernel", "now", "not asked"),
    }
    assert {n.side for n in compare(report(blind), report(healthy())).not_known} == {"before"}
    assert compare(report(blind), report(blind)).not_known == ()


def test_a_finding_that_could_not_be_looked_at_may_be_old() -> None:
    hidden_before = with_(healthy(), environment__variables=Unread(why="not recorded"))
    made = compare(report(hidden_before), report(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "")))
    (one,) = [n for n in made.new_findings if n.finding.cause == "cuda-visible-devices-empty"]
    assert one.before == "not known"
    assert (one.explanation.how, one.explanation.changes) == ("none", ())


def test_a_verdict_that_is_open_is_no_worse() -> None:
    nothing = Facts()
    made = compare(report(healthy()), report(nothing))
    assert made.new.verdict == "unknown"
    assert made.verdict == "same"
    assert made.not_known
