"""The tables of a comparison name facts that there are; and several upgrades in one night are told apart."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator

import pytest

from gpudoctor import bundle
from gpudoctor.compare import Explanation, compare, policy
from gpudoctor.compare.follows import FOLLOWS
from gpudoctor.compare.policy import named
from gpudoctor.compare.words import amount, version_direction, words
from gpudoctor.facts import Fact, Facts, Unread
from gpudoctor.findings import Found, Level, Stage
from gpudoctor.registry import Body, Check
from tests.compare.pairs import driver, gap, gpu, lost_link, other_cudnn, with_wheels, without_wheel
from tests.factory import healthy, measured, with_variable


def facts_of(kind: type[Fact], before: str = "") -> Iterator[str]:
    """Every fact by its name: 'gpu.devices', 'gpu.devices.power_limit_w'."""
    for field, hint in typing.get_type_hints(kind).items():
        if field not in kind.__struct_fields__:
            continue
        yield f"{before}{field}"
        for inner in _facts_in(hint):
            yield from facts_of(inner, f"{before}{field}.")


def _facts_in(hint: object) -> Iterator[type[Fact]]:
    if isinstance(hint, type) and issubclass(hint, Fact) and hint is not Unread:
        yield hint
    for argument in typing.get_args(hint):
        yield from _facts_in(argument)


FACTS = sorted(set(facts_of(Facts)))


def test_the_names_are_read_from_the_types() -> None:
    assert {
        "gpu.devices",
        "gpu.devices.nvlinks.active",
        "environment.variables.value",
        "measurements.load.pcie_width",
    } <= set(FACTS)


def test_every_label_is_of_a_fact() -> None:
    assert set(policy._LABELS) - set(FACTS) == set()
    assert all(policy.group(fact) in policy.GROUPS for fact in FACTS if not fact.startswith(("run", "text", "trials")))


KEYS = ("gpu-0", "0000:00:06.0", "CUDA_VISIBLE_DEVICES", "PATH", "SLURM_JOB_ID", "PYTHONHASHSEED", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
        "CUDA_HOME", "NVIDIA_VISIBLE_DEVICES", "TF_CONFIG", "NCCL_X", "tensorflow", "nvidia-nccl-cu12", "keras (shadowed)", "veth1", "lo", "")  # fmt: skip


def matches(pattern: str) -> bool:
    """It fits some fact, with some key."""
    return any(re.match(pattern.partition("@")[0], named(fact, (key,))) for fact in FACTS for key in KEYS)


@pytest.mark.parametrize(
    "pattern", [p for p, _ in policy._IMPORTANCE] + list(policy._OF_THE_MOMENT + policy._NAMES_A_MACHINE)
)
def test_every_row_of_what_facts_count_for_fits_one(pattern: str) -> None:
    assert matches(pattern)


@pytest.mark.parametrize("row", range(len(FOLLOWS)))
def test_every_row_of_what_follows_fits_one(row: int) -> None:
    effect, causes = FOLLOWS[row]
    assert matches(effect)
    assert all(matches(cause) for cause in causes if "libnccl" not in cause), causes


# ------------------------------------------------------------------------------- several upgrades


def limited(facts: Facts) -> Facts:
    return measured(gpu(0, power_limit_w=350.0)(facts), "matmul-float16", "GPU:0", value=330.0, samples=(330.0,) * 3)


def hidden(facts: Facts) -> Facts:
    return with_variable(facts, "CUDA_VISIBLE_DEVICES", "-1")


NIGHTS: tuple[tuple[tuple[Callable[[Facts], Facts], ...], dict[str, str]], ...] = (
    (
        (gap, hidden, lost_link),
        {
            "tf-wheel-runpath-gap": "python.distributions.version:tensorflow",
            "cuda-visible-devices-empty": "environment.variables:CUDA_VISIBLE_DEVICES",
            "nvlink-degraded": "gpu.devices.nvlinks:gpu-1",
        },
    ),
    ((driver("590.44.01"), limited, other_cudnn), {"gpu-power-limit-lowered": "gpu.devices.power_limit_w:gpu-0"}),
    (
        (other_cudnn, without_wheel, lost_link),
        {
            "cuda-libs-missing": "python.distributions:nvidia-cusolver-cu12",
            "nvlink-degraded": "gpu.devices.nvlinks:gpu-1",
        },
    ),
)


@pytest.mark.parametrize(("upgrades", "expected"), NIGHTS)
def test_each_finding_has_its_own_change(
    upgrades: tuple[Callable[[Facts], Facts], ...], expected: dict[str, str]
) -> None:
    old = new = with_wheels(healthy())
    for upgrade in upgrades:
        new = upgrade(new)
    made = compare(*(bundle.make(f, "2026-11-21T00:00:00+00:00") for f in (old, new)))  # type: ignore[arg-type]
    by_cause = {n.finding.cause: n.explanation for n in made.new_findings}
    assert {cause: by_cause[cause].changes[0].id for cause in expected} == expected
    leading = {c.id for c in made.changes if not c.follows}
    assert set(expected.values()) <= leading


def either(facts: Facts) -> Iterator[Found]:
    """One of two switches is on."""
    on = [name for name in ("CUDA_A", "CUDA_B") if facts.environment.known(name) == "1"]
    if on:
        yield Found(message=f"{' and '.join(on)}: on")


def measured_high(facts: Facts) -> Iterator[Found]:
    """A GPU is warm."""
    devices = facts.gpu.devices
    assert isinstance(devices, tuple)
    if any(isinstance(d.temperature_c, int) and d.temperature_c > 80 for d in devices):
        yield Found(message="warm")


def check(body: Body) -> tuple[Check, ...]:
    return (Check("GD999", "of-this-test", Stage.USE, Level.WARN, (), None, body),)


def explained(old: Facts, new: Facts, body: Body) -> Explanation:
    checks = check(body)
    at = "2026-11-21T00:00:00+00:00"
    made = compare(bundle.make(old, at, checks), bundle.make(new, at, checks), checks=checks)
    (one,) = made.new_findings
    return one.explanation


def test_what_only_several_changes_do_together() -> None:
    """Each is enough for the finding, so both must be put back; a third has nothing to do with it."""
    new = with_variable(with_variable(healthy(), "CUDA_A", "1"), "CUDA_B", "1")
    one = explained(healthy(), with_variable(new, "CUDA_C", "1"), either)
    assert (one.how, {c.id for c in one.changes}) == (
        "together", {"environment.variables:CUDA_A", "environment.variables:CUDA_B"}
    )  # fmt: skip
    before = with_variable(healthy(), "CUDA_A", "1")
    one = explained(with_variable(healthy(), "CUDA_A", "0"), before, either)
    assert (one.how, [c.id for c in one.changes]) == ("alone", ["environment.variables.value:CUDA_A"])


def test_what_is_of_the_moment_explains_nothing_and_is_said() -> None:
    new = with_variable(gpu(1, temperature_c=91)(healthy()), "CUDA_C", "1")
    one = explained(healthy(), new, measured_high)
    assert (one.how, one.changes) == ("none", ())
    assert re.search(r"of the moment: GPU 1 \(0000:00:07.0\): temperature: \d+ °C → 91 °C", one.words)


# ------------------------------------------------------------------------------- words


def test_values_have_units() -> None:
    assert words("gpu.devices.power_limit_w", 700.0) == "700 W"
    assert words("system.shm_total_bytes", 64 << 20) == "64 MiB"
    assert words("pci.devices.max_link_speed_gt_per_s", 32.0) == "32 GT/s (generation 5)"
    assert words("gpu.devices.row_remap_pending", True) == "yes"
    assert words("x", None) is None
    assert words("x", "") == "(empty)"
    assert len(words("x", "y" * 5000) or "") == 300
    assert amount(1536) == "1.5 KiB"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2.20.0", "2.21.0", "up"),
        ("580.159.04", "570.1", "down"),
        ("6.8.0-45-generic", "6.11.0-9-generic", "up"),
        ("96.00.A5.00.1A", "96.00.FF.00.01", "changed"),
        ("1.0", "1.0.0", "changed"),
        ("what", "ever", "changed"),
    ],
)
def test_versions_go_up_and_down(old: str, new: str, said: str) -> None:
    assert version_direction(old, new) == said


def test_names_in_temporary_directories_are_no_change() -> None:
    def made(path: str) -> Facts:
        return with_variable(healthy(), "LD_LIBRARY_PATH", path)

    def ids(old: str, new: str) -> list[str]:
        reports = (bundle.make(made(path), "2026-11-21T00:00:00+00:00") for path in (old, new))
        return [c.id for c in compare(*reports).changes]  # type: ignore[arg-type]

    assert ids("/tmp/tmpab12cd/lib:/opt/x", "/tmp/tmpzz99yy/lib:/opt/x") == []
    assert ids("/tmp/tmpab12cd/lib:/opt/x", "/tmp/tmpzz99yy/lib:/opt/y") == [
        "environment.variables.value:LD_LIBRARY_PATH"
    ]
    assert ids("/opt/tmp/a", "/opt/tmp/b") == ["environment.variables.value:LD_LIBRARY_PATH"]
