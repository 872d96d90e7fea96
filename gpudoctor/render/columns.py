"""Columns of text that fit a terminal: what tells least is left out, what may be folded is, nothing is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.text import Text

GAP = 2
"""Spaces between two columns."""


class Column(NamedTuple):
    """A column; its cells are one for each row."""

    title: str
    cells: Sequence[Text]
    right: bool = False
    """Its text ends at the right."""
    folds: Literal["never", "at first", "at last"] = "never"
    """Whether a cell may go on in the next line: at its first space; or, if nothing else helps, at its last."""
    spare: int = 0
    """The higher, the sooner it is left out where there is no room; 0: never. -1: only after columns were folded at first spaces, -2:
    and at last ones."""

    def parts(self, cell: str) -> list[str]:
        """A cell in two lines, where it may be and can be."""
        if self.folds == "never":
            return [cell]
        return cell.split(" ", 1) if self.folds == "at first" else cell.rsplit(" ", 1)

    def narrow(self) -> int:
        """The width that it needs when all its cells are folded."""
        texts = [part for cell in self.cells for part in self.parts(cell.plain)]
        return max(cell_len(text) for text in [*texts, *self.title.split(" ")])

    def wide(self) -> int:
        """The width of its longest cell."""
        return max([self.narrow(), *(cell.cell_len for cell in self.cells)])


def lines(columns: Sequence[Column], width: int) -> Iterator[list[Text]]:
    """The lines of the head with a rule below them, then those of each row. Where `width` is too little for what must be there,
    they are longer."""
    columns = [c for c in columns if any(c.cells)]
    while (spare := _least_telling(columns)) and _needed(columns, spare.spare) > width:
        columns = [c for c in columns if c is not spare]
    widths = [c.wide() for c in columns]
    for index, column in enumerate(columns):
        over = max(0, sum(widths) + GAP * (len(columns) - 1) - width)
        widths[index] = max(column.narrow(), widths[index] - over)
    titles = [textwrap.wrap(c.title, w) for c, w in zip(columns, widths, strict=True)]
    tallest = max(map(len, titles))
    yield [
        *_joined(columns, widths, [[Text(t, "bold") for t in [""] * (tallest - len(all_)) + all_] for all_ in titles]),
        Text("─" * (sum(widths) + GAP * (len(columns) - 1))),
    ]
    for row in zip(*(c.cells for c in columns), strict=True):
        yield _joined(
            columns,
            widths,
            [
                [cell] if cell.cell_len <= w else [Text(part, cell.style) for part in c.parts(cell.plain)]
                for c, cell, w in zip(columns, row, widths, strict=True)
            ],
        )


def _least_telling(columns: Sequence[Column]) -> Column | None:
    return max((c for c in columns if c.spare), key=lambda c: c.spare, default=None)


def _needed(columns: Sequence[Column], spare: int) -> int:
    """The width that they need before a column of this `spare` is left out."""
    folded = {-1: ("at first",), -2: ("at first", "at last")}.get(spare, ())
    return sum(c.narrow() if c.folds in folded else c.wide() for c in columns) + GAP * (len(columns) - 1)


def _joined(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Sequence[Text]]) -> list[Text]:
    """Lines of cells side by side, without blanks at their ends."""
    made = []
    for number in range(max(map(len, cells))):
        line = Text()
        for index, (column, width, cell) in enumerate(zip(columns, widths, cells, strict=True)):
            part = cell[number] if number < len(cell) else Text()
            blank = " " * (width - part.cell_len)
            line.append(" " * GAP if index else "")
            line.append_text(Text(blank) + part if column.right else part + Text(blank))
        line.rstrip()
        made.append(line)
    return made
