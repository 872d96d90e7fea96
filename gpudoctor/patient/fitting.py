"""Which pieces of work fit into the time that is left."""

from typing import Any, List, Sequence, Tuple


def fitting(costs: Sequence[Tuple[Any, float]], left_s: float) -> Tuple[List[Any], List[Any]]:
    """Of `costs`, (what, seconds) each and the most telling first: what is done within `left_s` seconds, and what is left out."""
    kept, out = [], []  # type: List[Any], List[Any]
    for what, seconds in costs:
        if seconds <= left_s:
            kept.append(what)
            left_s -= seconds
        else:
            out.append(what)
    return kept, out
