"""What a comparison says, as data: changes, findings that came and went, what was measured to be slower or faster."""

from __future__ import annotations

from typing import Literal

from ..bundle import Tool
from ..findings import Finding, Statement, Verdict

Kind = Literal["added", "removed", "changed", "up", "down"]
"""'up' and 'down' are of versions and of measures of one unit."""
Importance = Literal["high", "middle", "low"]
Basis = Literal["report", "baseline"]
"""What is compared with: another report, or what was saved of a known-good day."""
Word = Literal["worse", "better", "changed", "same"]
"""'worse': a finding came, the verdict fell, or something is slower than the noise allows."""
Hosts = Literal["same", "different", "not known"]


class Change(Statement, frozen=True, kw_only=True):
    """A fact that is another one now. What could not be read on one side is none."""

    id: str
    """'python.distributions.version:tensorflow': the fact, and which of several."""
    group: str
    """'driver', 'GPUs', 'variables', …"""
    subject: str
    """What it is about: 'GPU 1 (0000:00:07.0)', 'tensorflow', 'LD_LIBRARY_PATH'; 'the driver' where there is but one."""
    what: str
    """'power limit'."""
    kind: Kind
    old: str | None
    """As a person reads it, with its unit; None: it was not there."""
    new: str | None
    importance: Importance
    follows: tuple[str, ...] = ()
    """Ids of other changes here that bring it about, as far as one knows from what facts depend on. Nothing: it stands for itself."""


def sentence(one: Change) -> str:
    """'GPU 1 (0000:00:07.0): power limit: 700 W → 500 W'."""
    head = f"{one.what} {one.subject}" if one.what in _OF_MANY else f"{one.subject}: {one.what}"
    return f"{head}: {one.old or 'nothing'} → {one.new or 'nothing'}"


_OF_MANY = ("variable", "setting", "package")


class NotKnown(Statement, frozen=True, kw_only=True):
    """A fact that was read on one side only, and so may be a change or not."""

    id: str
    subject: str
    what: str
    side: Literal["before", "now"]
    """Where it is not known."""
    why: str


class Explanation(Statement, frozen=True, kw_only=True):
    """Which change most likely brought a finding about: the new facts were judged again with the change put back, and the finding
    was gone."""

    changes: tuple[Change, ...]
    """One, or the fewest that do it together; nothing: no recorded change explains it."""
    how: Literal["alone", "with what follows", "together", "none"]
    """'alone': the finding goes when this one fact is put back. 'with what follows': when the facts that depend on it are put back,
    too."""
    others: tuple[Change, ...] = ()
    """Changes each of which would explain it as well, and that are less likely."""
    words: str
    """A sentence."""


class NewFinding(Statement, frozen=True, kw_only=True):
    """A warning or failure that the old report has not, or has at a lower level."""

    finding: Finding
    before: Literal["ruled out", "not known", "lower", "not applicable"]
    """What the old report says of it. 'not known': it could not be looked at then, and may be old."""
    explanation: Explanation


class GoneFinding(Statement, frozen=True, kw_only=True):
    """A warning or failure of the old report that the new one has not."""

    code: str
    cause: str
    title: str
    level: str
    symptom: bool
    message: str
    now: Literal["ruled out", "not known", "lower", "not applicable"]
    """'not known': it could not be looked at, and may still be there."""


class Shift(Statement, frozen=True, kw_only=True):
    """Something measured on both sides whose difference is larger than the noise of both."""

    kernel: str
    backend: str
    dtype: str | None
    size: tuple[int, ...] | None
    what: str
    """'matmul-float16 8192'."""
    where: str
    """'GPU 1 (0000:00:07.0)'; 'all 8 GPUs'."""
    unit: str
    old: float | None
    """Median; of several baselines their median; of all GPUs the median GPU's."""
    new: float | None
    """None: it failed."""
    change: float | None
    """new / old - 1: -0.2 is a fifth less. Of latencies more is worse."""
    noise: float
    """The part of the larger figure by which both may differ without meaning anything."""
    noise_from: str
    """Where that comes from."""
    basis: str
    """What `old` is: 'the old report', 'baseline: median of 3 runs'."""
    whole: bool = False
    """Of all GPUs together, which shows what each alone hides in its noise."""
    failed: str | None = None
    """Why it has no result now."""
    beside: tuple[Change, ...] = ()
    """Changes that can have to do with it."""


class Side(Statement, frozen=True, kw_only=True):
    """One of the two reports."""

    started_at: str
    verdict: Verdict
    root_causes: tuple[str, ...]
    """Those that are more than information."""
    runs: int = 1
    """How many runs its measurements are of."""
    tensorflow_gpus: int | None = None
    """How many GPUs TensorFlow lists; None: it is not known."""
    ignored: tuple[str, ...] = ()
    """Causes of which findings count for nothing, by the ignore list."""


class Comparison(Statement, frozen=True, kw_only=True):
    """What `gpudoctor diff --format json` prints."""

    tool: Tool = Tool()
    basis: Basis
    verdict: Word
    hosts: Hosts
    hosts_because: str
    old: Side
    new: Side
    new_findings: tuple[NewFinding, ...]
    losses: tuple[Shift, ...]
    lost: tuple[Change, ...]
    """Changes that are losses of themselves, whether a check finds fault with what is left or not: a GPU, lanes of its link."""
    changes: tuple[Change, ...]
    """Those that explain a finding first, then by importance; what follows from others last."""
    gone_findings: tuple[GoneFinding, ...]
    gains: tuple[Shift, ...]
    not_known: tuple[NotKnown, ...]
    measured_alike: int
    """How many figures were compared and differ by no more than the noise."""
    measured_once: int
    """How many figures one side only has."""
    measured_gone: int = 0
    """Of these, how many the old one has."""
    cut: bool = False
    """There are more differences than were looked at."""

    @property
    def is_worse(self) -> bool:
        """A regression: exit code 1."""
        return self.verdict == "worse"

    @property
    def lists_fewer(self) -> bool:
        """TensorFlow lists fewer GPUs of the same host, whatever the reason."""
        return lists_fewer(self.old, self.new, self.hosts)

    @property
    def verdict_fell(self) -> bool:
        """The verdict is worse than it was; 'unknown' is neither better nor worse than another."""
        return fell(self.old.verdict, self.new.verdict)


_ORDER: dict[Verdict, int] = {"healthy": 0, "warning": 1, "faulty": 2}


def fell(old: Verdict, new: Verdict) -> bool:
    """Whether a verdict is worse than another; one that is open compares with none."""
    return old in _ORDER and new in _ORDER and _ORDER[new] > _ORDER[old]


def lists_fewer(old: Side, new: Side, hosts: Hosts) -> bool:
    """Whether TensorFlow lists fewer GPUs than before, of what is not another host; not where the ignore list knows that."""
    before, now = old.tensorflow_gpus, new.tensorflow_gpus
    if {"tf-lists-no-gpu", "fewer-gpus"} & {*new.ignored}:
        return False
    return hosts != "different" and before is not None and now is not None and now < before
