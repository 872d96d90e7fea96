"""What works with what: the compatibility matrix, from compat/matrix.json."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor import compat
from gpudoctor.compat.records import Hazard, Record, Release
from gpudoctor.render.compat import COLUMNS, LEGEND, row
from handbook.markdown import plain, table

_INTRODUCTION = """From [the knowledge base](knowledge.md). `?` is what nobody knows; a number in brackets leads to the source. Which of these
work on one machine, and the command that installs the best: `gpudoctor compat solve`."""


def page() -> str:
    """The page."""
    known = compat.matrix()
    sources = _Sources()
    releases = table(
        (*COLUMNS, "source"),
        [(*map(plain, row(one)), sources.of(_witnesses(one))) for one in compat.releases()],
    )
    majors = table(
        ("CUDA", "oldest driver, Linux", "oldest driver, Windows", "source"),
        [(f"{m.cuda}.x", plain(m.linux), plain(m.windows or "none"), sources.of([m])) for m in known.cuda_majors],
    )
    branches = table(
        ("driver", "CUDA", "kind", "end of life", "source"),
        [
            (f"R{b.branch}", b.cuda or "?", b.kind or "", b.end_of_life or "", sources.of([b]))
            for b in known.driver_branches
        ],
    )
    architectures = table(
        ("GPUs", "compute capability", "first CUDA", "last CUDA", "last driver", "source"),
        [
            (
                plain(a.name),
                ", ".join(a.compute_capabilities),
                a.first_cuda,
                a.last_cuda or "",
                f"R{a.last_branch}" if a.last_branch else "",
                sources.of([a]),
            )
            for a in known.architectures
        ],
    )
    support = table(
        ("library", "versions", "CUDA", "lowest compute capability", "oldest driver", "source"),
        [
            (
                s.library,
                plain(s.versions),
                ", ".join(map(str, s.cuda_majors)),
                s.minimum_compute_capability or "?",
                ", ".join(f"{driver} (CUDA {major})" for major, driver in s.minimum_driver.items()) or "?",
                sources.of([s]),
            )
            for s in known.support
        ],
    )
    hazards = table(
        ("TensorFlow", "where", "what happens", "what helps", "source"),
        [(plain(h.tensorflow), _where(h), plain(h.effect), plain(h.fix), sources.of([h])) for h in known.hazards],
    )
    return "\n\n".join(
        [
            "# What works with what",
            _INTRODUCTION,
            f"## TensorFlow\n\n{plain(LEGEND)}\n\n{releases}",
            f"## Drivers\n\nA driver from here on runs programs of any CUDA of this major version.\n\n{majors}\n\n{branches}",
            f"## GPUs\n\n{architectures}",
            f"## cuDNN and NCCL\n\n{support}",
            f"## What fails although the documents allow it\n\n{hazards}",
            f"## Sources\n\n{sources.page()}",
        ]
    ) + "\n"  # fmt: skip


def _witnesses(release: Release) -> list[Record]:
    """The wheel, where it was read, and what was published."""
    build = compat.build(release.version)
    return [build, release] if build is not None else [release]


def _where(hazard: Hazard) -> str:
    named = (("driver", hazard.driver), ("Python", hazard.python), ("compute capability", hazard.compute_capability))
    parts = [f"{name} {value}" for name, value in named if value]
    parts += [f"{name} {version}".rstrip() for name, version in hazard.packages.items()]
    return plain("; ".join([*parts, *hazard.platforms])) or "everywhere"


class _Sources:
    """Numbers for sources, in the order in which they are first named."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, records: Iterable[Record]) -> str:
        """'[3] [4]', as links."""
        numbers = []
        for one in records:
            text = one.source + ("" if one.confidence == "certain" else f" ({one.confidence})")
            numbers.append(self._numbers.setdefault(text, len(self._numbers) + 1))
        return " ".join(f"[\\[{n}\\]](#source-{n})" for n in dict.fromkeys(numbers))

    def page(self) -> str:
        return table(
            ("", "source"), [(f'<a id="source-{n}"></a>{n}', plain(text)) for text, n in self._numbers.items()]
        )
