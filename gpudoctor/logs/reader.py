"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: languages.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from ..facts import COMPLAINT, NOTHING_WRONG, READS_LIKE_A_FAULT, Alike, Facts, TextEvent
from ..patterns import Pattern, expect
from . import (
    alike,
    answered,
    answers,
    bindings,
    claims,
    clusters,
    cured_by,
    cures,
    devices,
    driver_releases,
    generations,
    images,
    import_order,
    languages,
    lost_libraries,
    memory_said,
    nvidia_smi,
    nvidia_smi_query,
    pci,
    python,
    report,
    several,
    sift,
    tables,
    tensorflow_facts,
    told_cards,
    told_faults,
)
from .language import LONGEST, Understood
from .notebook import Notebook
from .text import Line, Pasted

_OF_PEOPLE = frozenset(("complaints",))
_GOOD = ("device-created", "cudnn-loaded")
"""TensorFlow's lines of a GPU that it uses."""
_PRINTED = (".cc:", ".h:", " NCCL INFO ", " NCCL WARN ", *alike.WITHOUT_PLACE)
"""A program's line: no complaint stands in it (languages of Prose know it themselves)."""
_LOGGED = Pattern(
    r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF]|[IWEF]\d{4} \d\d:\d\d:[\d.]+ +\d+) [\w./-]{1,120}\.(?:cc|h):\d+\] "
    rf"|(?:{'|'.join(alike.WITHOUT_PLACE)})|[\w.-]{{1,60}}:\d{{1,8}}:\d{{1,8}} \[\d{{1,3}}\] (?:[\w./-]{{1,120}}\.(?:cc|h):\d{{1,6}} )?NCCL (?:INFO|WARN) "
)
"""A whole line of TensorFlow's log, or of NCCL's."""
_PROGRAMS = ("tensorflow", "python", "nvidia-smi", "kernel", "nccl", "containers")
"""Languages of programs whose lines nobody writes as a sentence."""
_OURS = Pattern(
    r"^(?:GD\d{3} [a-z0-9-]+(?:$|: )|[\u2717!i?] .{1,200} GD\d{3}$|(?:[a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){1,8}, ){2})"
)
"""A line of our own report that names causes: they were looked at, or found, and are not what the text shows."""
_BOX = ("| ", "+-", "|=", "|-")
"""How lines of nvidia-smi's table begin."""
_INACTIVE = (": Not Active",)
"""What nvidia-smi -q says that it is not."""
_FORM = Pattern(
    r"Please go to Stack ?Overflow for help|https://stackoverflow\.com/questions/tagged/tensorflow$|If you open a GitHub issue, here is|\d\. (?:It must be a bug|The form below must|It shouldn't be a TensorBoard)"
    r"|\*\*Here's why we have that policy|You can collect some of this information|https://github\.com/tensorflow/tensorflow/(?:tree|blob)/master/tools|You can (?:also )?obtain the TensorFlow version"
    r"|python -c \"import tensorflow as tf; print\(|Describe the (?:problem|current behavior|expected behavior)|Please make sure that this is|<em>Please make sure"
    r"|(?:Provide|Include) (?:any|the|a reproducible)|Please provide an? (?:detailed|clear)|- \*\*(?:Have I written custom|Bazel version|GCC/Compiler|Exact command)"
)
"""What stands in the forms of issue trackers, whoever fills them in."""
_QUOTES, _HIDES = " '\"", ("", "-1", "none", "void", "NoDevFiles")
"""Around the value of CUDA_VISIBLE_DEVICES, and those that hide all GPUs."""
_MANY = 1000
"""From so many lines on a look at their words is worth its preparation."""
_ALIKE = 100
"""Of lines that differ in their numbers only, how many are read."""
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))


_STILL_READ = frozenset(("devices", "circumstances"))
"""Of the languages one by one, those that read TensorFlow's lines of a GPU that it uses, too."""
_PASSED_OVER = (nvidia_smi.LANGUAGE, python.LANGUAGE, claims.LANGUAGE, pci.LANGUAGE, report.LANGUAGE)
"""And others that do not."""


@functools.cache
def _all_but_devices() -> frozenset[str]:
    return frozenset(one.name for one in languages.known()) - _STILL_READ | {*_PASSED_OVER}


Spoken = tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood | None], bool]
"""A language's name, its words, what reads a line of it, and whether only people speak it."""


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks, bus, statements = python.Reader(notes), pci.Reader(), report.Reader(notes)
    table, cards = nvidia_smi.Devices(notes), several.Reader(notes)
    many = len(pasted.lines) > _MANY
    lines: Iterable[Line] = answers.together(tables.joined(pasted.lines))
    if many:
        whole = unlogged = ""
        by_line = languages.all_of_them()
    else:
        lines = tuple(lines)
        whole = "\n".join(line.text for line in lines)
        unlogged = "\n".join(line.text for line in lines if not _is_logged(line.text))
        by_line = languages.of(whole, unlogged)
    readers: tuple[Spoken, ...] = (
        (tensorflow_facts.LANGUAGE, tensorflow_facts.WORDS, tensorflow_facts.line, False),
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.Reader(notes, table).line, False),
        (nvidia_smi.LANGUAGE, nvidia_smi_query.WORDS, nvidia_smi_query.Reader(notes, table).line, False),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number), False),
        (claims.LANGUAGE, claims.WORDS, claims.line, True),
        (bindings.LANGUAGE.name, bindings.WORDS, bindings.Reader().line, False),
        (import_order.LANGUAGE.name, import_order.Orders.WORDS, import_order.Orders().line, True),
        (tables.LANGUAGE.name, tables.RATE_WORDS, tables.Rates().line, True),
        (driver_releases.PRINTED.name, driver_releases.Answers.WORDS, driver_releases.Answers().line, True),
        (images.LANGUAGE, images.WORDS, images.Reader().line, False),
        (pci.LANGUAGE, pci.WORDS, lambda text, number, _: bus.line(text, number), False),
        *((one.name, one.words, one.line, one.foreign) for one in by_line),
        (report.LANGUAGE, report.WORDS, lambda text, number, _: statements.line(text, number), True),
        (devices.LANGUAGE.name, devices.WORDS, devices.claims, True),
        (lost_libraries.LANGUAGE, lost_libraries.WORDS, lost_libraries.line, False),
        (cures.LANGUAGE, cures.WORDS, cures.line, True),
        (cured_by.LANGUAGE, cured_by.WORDS, cured_by.Apart().line, True),
        (several.LANGUAGE, several.WORDS, cards.line, True),
    )
    expect(whole)
    here = () if many else _spoken_in(readers, whole, unlogged)
    spoken_in = _quickly(readers) if many else lambda text: _spoken(here, text)
    seen: set[tuple[str, str]] = set()
    alike: dict[str, int] = {}
    logs = False
    for line in lines:
        if _OURS.match(line.text):
            continue
        if many:
            form = line.text.translate(_NO_DIGITS)
            alike[form] = alike.get(form, 0) + 1
            if alike[form] > _ALIKE:
                continue
        printed = any(one in line.text for one in _PRINTED)
        passed_over = _OF_PEOPLE if printed else frozenset()
        logged = printed and _LOGGED.match(line.text) is not None
        logs = logs or logged
        for language, _, reads, foreign in spoken_in(line.text):
            if language in passed_over or (logged and foreign):
                continue
            told = reads(line.text, line.number, notes)
            if told is None or not told.kind:
                continue
            kind = told.kind
            text = told.values.pop("", line.text)
            key = (kind, "" if told.once else text)
            if key not in seen:
                seen.add(key)
                notes.note(
                    TextEvent(
                        line=line.number, language=language, kind=kind, text=text[:LONGEST],
                        values=told.values, symptom=told.symptom,
                    )
                )  # fmt: skip
            if language != tensorflow_facts.LANGUAGE:
                continue
            if kind.startswith("benign-"):
                break  # the other languages have nothing to say of it
            if kind in _GOOD:
                passed_over = _all_but_devices()
    tracebacks.finish()
    claims.settle(notes)
    somebodys = _somebody_wrote(notes, pasted)
    wrote = somebodys or not logs or _is_titled(notes, pasted)
    theirs = [(line.number, line.text) for line in pasted.lines if not _OURS.match(line.text)] if wrote else []
    if wrote:
        from . import told_speed  # a log alone needs none of its patterns

        cards.finish()
        told_speed.settle(notes, theirs)
    statements.finish()
    tensorflow_facts.settle(notes)
    generations.settle(notes)
    answered.settle(notes)
    clusters.settle(notes)
    if wrote:
        from . import told_devices, told_releases, told_work

        told_devices.settle(notes, theirs)
        told_releases.settle(notes, theirs)
        told_work.settle(notes, theirs)
        if any(e.kind in _OF_CLUSTERS for e in notes.events):
            from . import told_clusters

            told_clusters.settle(notes, theirs)
    return _with_likeness(notes, pasted, somebodys)


_OF_CLUSTERS = {"server-started", "session-waits", "cluster-named", "workers-named", "chief-named"}
"""Kinds of lines without which nobody speaks of processes that wait for each other."""


def _merely_asks(left: list[str], found: tuple[Alike, ...]) -> bool:
    from . import asked_of_speed

    each = (
        asked_of_speed.merely_asks, asked_of_speed.is_brief, asked_of_speed.is_explained, asked_of_speed.is_reckoned,
    )  # fmt: skip
    return any(says(left, found) for says in each)


def _idles(pasted: Pasted, notes: Notebook) -> bool:
    if not any(word in line.text for line in pasted.lines[:_MANY] for word in _FIRST_GENERATION):
        return False
    from . import idle_link

    return idle_link.is_all(pasted.lines[:_MANY], notes)


_FIRST_GENERATION = (
    "2.5GT/s",
    "2.5 GT/s",
    "en1",
    "EN1",
    "en 1",
    "EN 1",
    "eneration 1",
    "gen.current",
    "x16 1.1",
    "x8 1.1",
)
"""One of these stands where a link of the first generation is told of."""


def _asks_before(pasted: Pasted, harmless: set[int], notes: Notebook) -> bool:
    from . import asked_before

    left = (line for line in pasted.lines if line.text.strip() and line.number not in harmless)
    spoken = [line.text for line in left if not alike.is_log(line.text)]
    return asked_before.asks(spoken, notes)


def _printed(notes: Notebook) -> set[int]:
    """The lines that programs print."""
    return {e.line for e in notes.events if e.language in _PROGRAMS} | _harmless(notes)


def _harmless(notes: Notebook) -> set[int]:
    return {e.line for e in notes.events if e.kind.startswith("benign-") or e.kind == "library-opened"}


def _first(pasted: Pasted) -> int:
    """The number of the first line that holds anything; 0: none does."""
    return next((line.number for line in pasted.lines if line.text.strip()), 0)


def _is_titled(notes: Notebook, pasted: Pasted) -> bool:
    """Whether the text begins with a few words, and not as a program or a shell does."""
    first = next((line for line in pasted.lines if line.text.strip()), None)
    if first is None or first.number in _printed(notes) or alike.is_log(first.text):
        return False
    others = sum(_LETTERS.search(word) is not None for word in first.text.split()[1:])
    return others >= _FEW and _BEGINS.match(first.text) is not None


_BEGINS = Pattern(
    r"\W{0,3}(?!(?:Traceback|WARNING|INFO|ERROR|File|Using|Epoch|name|total|pciBusID|Thread|Collecting|Requirement|docker|python3?|pip3?|import|from|export|sudo)\b)[^\W\d]"
)
_LETTERS = Pattern(r"[^\W\d]{2}")
_FEW = 2


def _somebody_wrote(notes: Notebook, pasted: Pasted) -> bool:
    """Whether a part of the text is somebody's own words."""
    if any(line.text.startswith("gpudoctor ") for line in pasted.lines[:3]):
        return False
    printed = _printed(notes)
    left = (line.text for line in pasted.lines if line.number not in printed)
    return alike.is_people(left, _first(pasted) not in printed, len(pasted.lines) <= _MESSAGE)


def _with_likeness(notes: Notebook, pasted: Pasted, theirs: bool) -> Facts:
    """What reports that read alike are about; where that is a fault, the first line of what somebody wrote shows it. Not where
    the title is a harmless line, which is what is asked about."""
    harmless, printed, first = _harmless(notes), _printed(notes), _first(pasted)
    benign_at = {e.line for e in notes.events if e.kind.startswith("benign-")}
    left = [line.text for line in pasted.lines if line.number not in printed]
    words = [
        line
        for line in pasted.lines
        if line.number not in harmless
        and line.text[:2] not in _BOX
        and not _FORM.match(line.text)
        and not line.text.endswith(_INACTIVE)
    ]
    values = {e.values.get("value", "").strip(_QUOTES) for e in notes.events if e.kind == "visible-set"}
    shows_some = bool(values) and not values & {*_HIDES}
    found = _meant(alike.alike(line.text for line in words), words, shows_some) if theirs else ()
    memory_said.settle(notes, found)
    asked = first in harmless or _asks_of_the_harmless(notes, pasted, first)
    faint = bool(benign_at) and bool(found) and found[0].share < _FAINT and not answered.fails(notes)
    asked = asked or faint or memory_said.asks(notes, found) or answered.answered(notes, found)
    asked = _idles(pasted, notes) or asked
    asked = told_faults.of_a_card(left, notes) or asked or told_faults.asks_or_praises(left, notes)
    clear = bool(found) and found[0].cause != NOTHING_WRONG and found[0].share >= _CLEAR and not benign_at
    clear = clear and _has_words(words)
    asked = asked or (bool(found) and not clear and _asks_before(pasted, harmless, notes))
    asked = asked or (bool(found) and not answered.fails(notes) and _merely_asks(left, found))
    hides = bool(values & {*_HIDES}) and any(
        one.cause == "cuda-visible-devices-empty" and (at == 0 or one.share >= _FAINT) for at, one in enumerate(found)
    )
    spoken = [line for line in words if line.number not in printed and not alike.is_log(line.text)] if theirs else []
    count = sum(len(line.text.split()) for line in spoken if alike.is_of_people(line.text))
    whole: tuple[Alike, ...] = ()
    if theirs and _is_a_report(words) and _is_told(spoken):
        whole = _meant(alike.alike((line.text for line in words), alike.REPORTS), words, shows_some)
    is_cut = any(e.kind == python.CUT for e in notes.events)
    asked = asked or (bool(whole) and whole[0].cause == NOTHING_WRONG and whole[0].share >= _AS_IF_NOTHING)
    if not asked and (hides or is_cut or alike.speaks_of_a_fault(found, count) or _is_a_fault(whole)):
        line = next(one for one in pasted.lines if not alike.is_log(one.text))
        notes.note(
            TextEvent(
                line=line.number, language=COMPLAINT, kind=READS_LIKE_A_FAULT, text=line.text[:LONGEST], symptom=READS_LIKE_A_FAULT,
            )
        )  # fmt: skip
    if found and found[0].share >= _LIKELY and found[0].cause != NOTHING_WRONG:
        texts = [line.text for line in spoken[:_LOOKED_AT]]
        if alike.shares(texts)[found[0].cause] >= _BY_THEMSELVES:
            line = spoken[alike.telling(texts, found[0].cause)]
            found = (msgspec.structs.replace(found[0], line=line.number, text=line.text[:LONGEST]), *found[1:])
    told_faults.settle(notes, [line.text for line in pasted.lines[:_MANY]])
    told_cards.settle(notes)
    facts = notes.facts(pasted.count, pasted.left_out)
    return msgspec.structs.replace(
        facts, text=msgspec.structs.replace(facts.text, alike=found, whole=whole, words=count)
    )


def _is_told(spoken: Sequence[Line]) -> bool:
    """Whether somebody tells something in lines that no program prints."""
    told = 0
    for line in spoken:
        if alike.is_people([line.text]):
            told += max(len(line.text.split()), len(line.text) // _LETTERS_OF_A_WORD)
            if told >= _TOLD:
                return True
    return False


_LETTERS_OF_A_WORD = 8


def _is_a_fault(whole: tuple[Alike, ...]) -> bool:
    """Whether a report reads much more like one of a fault than as if nothing were wrong."""
    nothing = next((one.share for one in whole if one.cause == NOTHING_WRONG), 0.0)
    return bool(whole) and whole[0].share >= max(_OF_A_FAULT, _TIMES * nothing)


def _is_a_report(lines: Sequence[Line]) -> bool:
    return len(lines) >= _LINES and _has_words(lines)


def _has_words(lines: Sequence[Line]) -> bool:
    return sum(len(line.text.split()) for line in lines) >= _WORDS


def _meant(found: tuple[Alike, ...], words: Sequence[Line], shows_some: bool) -> tuple[Alike, ...]:
    """`found` without what the words deny. `shows_some`: the text sets the GPUs that are visible, and hides none."""
    denied = {
        c for c, p in _DENIED.items() if any(one.cause == c for one in found) and any(p.search(x.text) for x in words)
    }
    if shows_some:
        denied.add("cuda-visible-devices-empty")
    if found:
        from .named_by import unnamed

        denied |= unnamed(found, (line.text for line in words))
    return tuple(one for one in found if one.cause not in denied)


_DENIED = {
    "cpu-no-avx": Pattern(r"\bAVX\w* instructions, but these are available on your machine"),
    "cgroup-memory-limit": memory_said.NOT_KILLED,
    "gpu-exclusive-busy": Pattern(r"(?i)\bbusy (?:at|to|by) \d+ ?%|\d ?% busy\b"),
    "ecc-uncorrectable-error": Pattern(r"(?i)\b(?:no|zero|0|without|never) (?:\w+ )?ecc err"),
}
"""What words tell in spite of which a cause is not meant."""
_MESSAGE = 6
"""Lines of a message in a chat, at most."""
_AS_IF_NOTHING = 0.2
"""From this share on a report reads as those do in which nothing is wrong."""
_OF_A_FAULT, _TIMES = 0.12, 2.0
_TOLD = 6
"""Words of somebody, at least: 'Hello' and 'Thanks' around a log are none."""
_LINES, _WORDS = 5, 40
"""Of a report, at least: a sentence or two read like anything that their words occur in."""
_FAINT = 0.25
"""Of what reads so faintly like a fault, beside harmless lines, these are what is asked about."""
_CLEAR = 0.55
"""From this share on a text reads so much like a fault that a question before or behind it tells nothing else."""
_LIKELY = 0.4
"""From this share on it is worth while to look which line says it."""
_BY_THEMSELVES = 0.3
"""What people write must say it also without the programs' lines beside it."""
_LOOKED_AT = 100
"""Lines."""


def _asks_of_the_harmless(notes: Notebook, pasted: Pasted, first: int) -> bool:
    """Whether a title calls an error what a harmless line says, and nothing else fails: 'cuBLAS error' over its factory's line;
    or a program calls what this release of TensorFlow does not have."""
    if answered.fails(notes):
        return False
    if any(e.kind in ("api-absent", "only-asked") for e in notes.events):
        return True
    title = next((line.text for line in pasted.lines if line.number == first), "").lower()
    benign = [e for e in notes.events if e.kind.startswith("benign-")]
    names = {value.lower() for e in benign for value in e.values.values()} | {
        e.kind.removeprefix("benign-").replace("-", " ") for e in benign
    }
    repeats = not answered.lacks(notes) and any(_repeats(title, e.text.lower()) for e in benign)
    return bool(benign) and (
        repeats or "warning" in title or any(len(name) > _SHORT and name in title for name in names)
    )


def _repeats(title: str, line: str) -> bool:
    """Whether a title has several words in a row of a line."""
    words = title.split()
    return any(" ".join(words[at : at + _IN_A_ROW]) in line for at in range(len(words) - _IN_A_ROW + 1))


_IN_A_ROW = 5
"""Words."""


_SHORT = 3


def _is_logged(text: str) -> bool:
    return any(one in text for one in _PRINTED) and _LOGGED.match(text) is not None


def _spoken_in(readers: Iterable[Spoken], whole: str, unlogged: str) -> tuple[Spoken, ...]:
    """The languages of which a text holds a word, as languages.of()."""
    return tuple(one for one in readers if languages.holds_one(unlogged if one[3] else whole, one[1]))


def _spoken(readers: Iterable[Spoken], text: str) -> list[Spoken]:
    """The languages of which a line holds a word."""
    return [one for one in readers if languages.holds_one(text, one[1])]


def _quickly(readers: tuple[Spoken, ...]) -> Callable[[str], list[Spoken]]:
    """The same for many lines: one look at a line finds the words of all languages."""
    finder = re.compile(f"(?=({sift.tree(word for one in readers for word in one[1])}))")
    by_word: dict[str, frozenset[int]] = {}

    def of(word: str) -> frozenset[int]:
        # what is found is the shortest word at its place: it may be the beginning of others
        found = by_word.get(word)
        if found is None:
            spoken = (at for at, one in enumerate(readers) if any(w.startswith(word) for w in one[1]))
            found = by_word[word] = frozenset(spoken)
        return found

    def spoken_in(text: str) -> list[Spoken]:
        words = set(finder.findall(text))
        if not words:
            return []
        return _spoken((readers[at] for at in sorted(frozenset().union(*map(of, words)))), text)

    return spoken_in
