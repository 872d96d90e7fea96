"""Lines that install into the examined interpreter."""

from __future__ import annotations

from shlex import quote

from gpudoctor.facts import Facts


def pip(facts: Facts, *words: str) -> tuple[str, ...]:
    """The lines that run `pip WORDS` for the examined interpreter; words that come from facts must be quoted.

    With uv where uv made its environment and there is no pip in it; with the word that an interpreter wants which
    the system's own package manager looks after.
    """
    python = facts.python
    executable = quote(python.executable) if isinstance(python.executable, str) else "python3"
    if python.pip is False and python.made_by_uv is True:
        meant = {"--force-reinstall": "--reinstall", "-y": ""}
        rest = [meant.get(w, w) for w in words[1:]]
        return (" ".join(w for w in ("uv pip", words[0], "--python", executable, *rest) if w),)
    first = (f"{executable} -m ensurepip --upgrade",) if python.pip is False else ()
    more = ("--break-system-packages",) if python.externally_managed is True else ()
    return (*first, " ".join((executable, "-m pip", words[0], *more, *words[1:])))
