"""Which causes fit a line that shows a failure and does not decide, one file a subject.

CLUES of each module: kind of a line -> the causes, the likely ones first. A cause stands in every list that it fits: where a
text has several such lines, what fits all of them is left.
"""

from __future__ import annotations

from . import collectives, containers, driver, hardware, installs, programs

CLUES: dict[str, tuple[str, ...]] = {
    **containers.CLUES,
    **driver.CLUES,
    **installs.CLUES,
    **programs.CLUES,
    **hardware.CLUES,
    **collectives.CLUES,
}
"""Kind of a line -> the causes that fit it."""
