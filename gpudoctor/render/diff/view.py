"""What a comparison says, derived once for every format: the verdict and its sentence, what changed, what is worse."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Iterable
from functools import cached_property

import msgspec

from ...compare import Change, Comparison, Explanation, GoneFinding, NewFinding, NotKnown, Shift, sentence
from ...compare.model import Word
from .. import measured
from ..view import count

MARKS = {"worse": "✗", "better": "✓", "changed": "·", "same": "✓"}


@dataclasses.dataclass(frozen=True)
class View:
    """A comparison, as every format sees it."""

    comparison: Comparison
    verbose: bool = False

    @property
    def verdict(self) -> Word:
        """One word."""
        return self.comparison.verdict

    @property
    def exit_code(self) -> int:
        """What `gpudoctor diff` ends with."""
        return 1 if self.comparison.is_worse else 0

    @property
    def causes(self) -> tuple[str, ...]:
        """Names of the findings that came, in their order."""
        return tuple(dict.fromkeys(one.finding.cause for one in self.comparison.new_findings))

    @property
    def head(self) -> str:
        """Which two are compared."""
        one = self.comparison
        old = "the baseline" if one.basis == "baseline" else "the report"
        runs = f" ({one.old.runs} runs)" if one.old.runs > 1 else ""
        on = {"same": "one host", "different": "two different hosts", "not known": "whether of one host is not known"}
        return f"{old} of {one.old.started_at}{runs} → {one.new.started_at} · {on[one.hosts]}: {one.hosts_because}"

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        one = self.comparison
        than = "the baseline" if one.basis == "baseline" else "before"
        if one.verdict == "worse":
            return f"Worse than {than}: {'; '.join(self._worse())}."
        gone = [finding for finding in one.gone_findings if finding.now != "not known"]
        said = [
            f"{count(len(gone), 'finding')} less" if gone else "",
            f"{count(len(one.gains), 'figure')} faster" if one.gains else "",
            count(len(self.leading), "change") if self.leading else "",
        ]
        told = "; ".join(text for text in said if text)
        word = {"better": "Better than", "changed": "Not worse than", "same": "The same as"}[one.verdict]
        open_ = one.new.verdict == "unknown" and one.old.verdict != "unknown"
        left = ", as far as could be looked at now" if open_ else ""
        return f"{word} {than}{left}{f': {told}' if told else ''}."

    def _worse(self) -> list[str]:
        one = self.comparison
        new, slower = len(one.new_findings), len(one.losses)
        said = [f"{count(new, 'new finding')}: {', '.join(self.causes)}"] if new else []
        if one.lists_fewer:
            said.append(
                f"TensorFlow lists {count(one.new.tensorflow_gpus or 0, 'GPU')}, {one.old.tensorflow_gpus} before"
            )
        said += [f"lost: {'; '.join(self.said(one.lost))}"] if one.lost else []
        said += [f"{count(slower, 'figure')} slower beyond the noise"] if slower else []
        if one.verdict_fell and not said:
            said.append(f"the verdict is {one.new.verdict}, and was {one.old.verdict}")
        return said

    @cached_property
    def leading(self) -> tuple[Change, ...]:
        """The changes that stand for themselves."""
        return tuple(c for c in self.comparison.changes if c.id in self._explaining or not c.follows)

    @cached_property
    def telling(self) -> tuple[Change, ...]:
        """Of these, what is more than a detail; all, where there is nothing else."""
        return (
            tuple(one for one in self.leading if one.importance != "low" or one.id in self._explaining) or self.leading
        )

    @property
    def _explaining(self) -> set[str]:
        return {change.id for one in self.comparison.new_findings for change in one.explanation.changes}

    @cached_property
    def following(self) -> tuple[Change, ...]:
        """The changes that others bring about."""
        leading = {one.id for one in self.leading}
        return tuple(one for one in self.comparison.changes if one.id not in leading)

    @cached_property
    def groups(self) -> dict[str, list[Change]]:
        """The changes that are shown, by heading; the order of the headings is that of what they begin with."""
        shown = self.comparison.changes if self.verbose else self.telling
        found: dict[str, list[Change]] = {}
        for one in shown:
            found.setdefault(one.group, []).append(one)
        return found

    def said(self, changes: Iterable[Change]) -> list[str]:
        """The changes in words. What changed alike on several GPUs, or pairs of them, is said once; with `verbose` of each."""
        alike: dict[Hashable, list[Change]] = {}
        for one in changes:
            what = _GPU.sub("", one.subject)
            alone = self.verbose or what == one.subject
            alike.setdefault(one.id if alone else (what, one.what, one.kind, one.old, one.new), []).append(one)
        return [changed(ones[0], _together(ones)) for ones in alike.values()]

    @property
    def folded(self) -> tuple[Change, ...]:
        """The changes that `groups` leaves out."""
        shown = {one.id for changes in self.groups.values() for one in changes}
        return tuple(one for one in self.comparison.changes if one.id not in shown)

    @property
    def alike(self) -> str:
        """What was compared and is the same."""
        one = self.comparison
        gone, come = one.measured_gone, one.measured_once - one.measured_gone
        once = f"; {count(gone, 'figure')} of before only" if gone else ""
        once += f"; {count(come, 'figure')} of now only" if come else ""
        left = list(dict.fromkeys((*one.old.ignored, *one.new.ignored)))
        once += f"; ignored, and so not compared: {', '.join(left)}" if left else ""
        cut = "; there are more differences than are looked at" if one.cut else ""
        return f"{count(one.measured_alike, 'figure')} within the noise{once}{cut}"


_GPU = re.compile(r"GPU (\d+) \([\da-fA-F:.]+\)")


def _together(ones: list[Change]) -> str:
    """'GPUs 0, 1, 2, 3' or '12 pairs of GPUs', for what changed alike on them."""
    if len(ones) == 1:
        return ones[0].subject
    numbers = [_GPU.findall(one.subject) for one in ones]
    if any(len(pair) > 1 for pair in numbers):
        return f"{len(ones)} pairs of GPUs"
    each = ", ".join(sorted((number for (number,) in numbers), key=int))
    return _GPU.sub(f"GPUs {each}", ones[0].subject)


def changed(one: Change, subject: str = "") -> str:
    """'GPU 1 (0000:00:07.0): power limit: 700 W → 500 W (down)'; `subject`: what it is said of, where that is more than its own."""
    how = f" ({one.kind})" if one.kind in ("up", "down") else ""
    return f"{sentence(msgspec.structs.replace(one, subject=subject or one.subject))}{how}"


def because(one: Explanation) -> str:
    """'Most likely because of …' or that nothing explains it."""
    if not one.changes:
        return f"Not explained: {one.words}."
    return f"Most likely because of {one.words}."


def others(one: Explanation) -> str:
    """What else could have done it; '' where nothing could."""
    return f"Less likely: {'; '.join(map(sentence, one.others))}" if one.others else ""


def slower(one: Shift) -> str:
    """'matmul-float16 8192 on GPU 1 (0000:00:07.0): 660 → 500 TFLOP/s, -24% (noise 7%: 20 runs on 2x H200)'."""
    old = measured.rate(one.old, one.old, one.unit) if one.old is not None else "?"
    if one.new is None or one.change is None:
        return f"{one.what} on {one.where}: {old} → failed ({one.failed})"
    new = measured.rate(one.new, one.new, one.unit)
    return f"{one.what} on {one.where}: {old} → {new}, {one.change:+.0%} (noise {one.noise:.0%}: {one.noise_from}; {one.basis})"


def came(one: NewFinding) -> str:
    """What the old report said of it, where that is more than that it was not there."""
    told = {
        "not known": "It could not be looked at before, and may be old.",
        "lower": "It was there before, and less bad.",
    }
    return told.get(one.before, "")


def went(one: GoneFinding) -> str:
    """'cuda-visible-devices-empty GD151: …'; what is not known now is said."""
    still = " (could not be looked at now, and may still be there)" if one.now == "not known" else ""
    return f"{one.cause} {one.code}: {one.title}{still}"


def beside(one: Shift) -> str:
    """What changed, too, and can have to do with it; '' where nothing did."""
    return f"changed, too: {'; '.join(map(changed, one.beside))}" if one.beside else ""


NOT_EXPLAINED = "no recorded change explains it"


def not_known(one: NotKnown) -> str:
    """'GPU 0 (…): temperature: NVML did not answer'."""
    return f"{one.subject}: {one.what}: {one.why}"
