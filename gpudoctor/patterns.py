"""Regular expressions that are compiled when they are first used: there are hundreds, and one text needs few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any


class Pattern:
    """Like the re.Pattern of `source` and `flags`. Raises re.error on its first use, where `source` is wrong."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags

    if TYPE_CHECKING:

        def search(self, text: str, at: int = 0) -> re.Match[str] | None: ...  # noqa: D102
        def match(self, text: str, at: int = 0) -> re.Match[str] | None: ...  # noqa: D102
        def fullmatch(self, text: str) -> re.Match[str] | None: ...  # noqa: D102
        def finditer(self, text: str) -> Iterator[re.Match[str]]: ...  # noqa: D102
        def findall(self, text: str) -> list[Any]: ...  # noqa: D102
        def sub(self, by: str, text: str) -> str: ...  # noqa: D102

    else:

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            compiled = re.compile(self.source, self.flags)
            for method in ("search", "match", "fullmatch", "finditer", "findall", "sub"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)
