"""A machine with an environment on which a fault is made, gpudoctor is run, and its fixes are pasted."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.building import Workshop
from tests.provoked.environments import Place, Wheelhouse
from tests.provoked.proof import STAND_INS_SPEED, Proof
from tests.provoked.scene import HERE, Scene
from tests.running import COMMAND, ROOT, report

LIMIT_S = 240
NO_TOOLKIT = """
for one in /usr/local/cuda* /opt/cuda* /usr/lib/cuda; do
    if [ -d "$one" ] && [ ! -L "$one" ]; then mount -t tmpfs none "$one"; fi
done
ldconfig
"""
LAUNCH = HERE / "launch.py"


@dataclasses.dataclass
class Bench:
    """`place` is examined, on `machine`, which has two GPUs and of which no fault here changes anything."""

    place: Place
    house: Wheelhouse
    workshop: Workshop
    tmp: Path
    machine: Scene
    env: dict[str, str]
    cwd: Path
    level: tuple[str, ...] = ("--level", "quick")
    python: str | None = None
    """The interpreter to examine, where it is not the place's."""
    around: tuple[str, ...] = ()
    """Words before the shell, which change what it sees of the machine."""
    path: str = ""
    """Directories before those of PATH."""

    @property
    def site(self) -> Path:
        """The site-packages of the place."""
        return self.place.site

    def environment(self) -> dict[str, str]:
        """The variables of a user who works here."""
        bare = {k: v for k, v in self.machine.env.items() if k != "PYTHONPATH"}
        path = {"PATH": f"{self.path}:{bare['PATH']}"} if self.path else {}
        return {**bare, **self.place.env, **path, **self.env}

    def _arguments(self) -> list[str]:
        words = ["check", *self.level, "--no-redact", "--format", "json"]
        return [*COMMAND, *words, "--python", self.python or str(self.place.prefix)]

    def shell(self, lines: tuple[str, ...], *then: str) -> subprocess.CompletedProcess[str]:
        """A shell of the user's: `lines` as they are, then a command of gpudoctor's in the same shell."""
        script = "\n".join(
            [
                "set -e",
                "exec 3>&1 1>&2",
                *lines,
                "set +e",
                "exec 1>&3 3>&-",
                'PYTHONPATH="$GPUDOCTOR_ROOT${PYTHONPATH:+:$PYTHONPATH}" exec "$@"',
            ]
        )
        env = {**self.environment(), "GPUDOCTOR_ROOT": str(ROOT)}
        words = [sys.executable, str(LAUNCH), *self.around, "bash", "-c", script, "bash", *then]
        command = self.machine.inside(self.cwd, *words)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    def check(self, pasted: tuple[str, ...] = ()) -> dict[str, Any]:
        """What gpudoctor reports, after these lines were pasted into the shell that starts it."""
        done = self.shell(pasted, *self._arguments())
        try:
            return report(done)
        except ValueError:
            raise AssertionError(f"{pasted}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}") from None


@dataclasses.dataclass(frozen=True)
class Case(Proof):
    """A fault: the cause that is expected first, how it is made, and what is done to make it."""

    make: Callable[[Bench], None]
    left: tuple[str, ...] = ()
    """Causes that are there besides, by themselves, and that the fix leaves."""
    advice: bool = False
    """Its fix is none that a line could do."""
    name: str = ""
    then: str = ""
    """The environment in the home that the fix makes, and that is to be examined then."""

    def __str__(self) -> str:
        return f"{self.cause}{'-' if self.name else ''}{self.name}"


def roots(seen: dict[str, Any]) -> list[dict[str, Any]]:
    """The root causes, in order."""
    found: list[dict[str, Any]] = seen["diagnosis"]["root_causes"]
    return found


def gone(cause: str, seen: dict[str, Any]) -> bool:
    """Whether the cause was looked for and is not there: nobody was prevented from looking."""
    unread = [u["cause"] for u in seen["unknown"] if not u["chosen"]]
    return cause not in [f["cause"] for f in seen["findings"]] and cause not in unread


Maker = Callable[[], Bench]


def prove(case: Case, make: Maker) -> None:
    """The cause stands first, and each of its fixes, pasted where it was shown, cures it."""
    number, count = 0, 1
    while number < count:
        bench = make()
        case.make(bench)
        seen = bench.check()
        found = roots(seen)
        assert [r["cause"] for r in found][:1] == [case.cause], [(r["cause"], r["message"]) for r in found]
        assert {r["cause"] for r in found[1:]} <= {*case.left, *STAND_INS_SPEED}, [
            (r["cause"], r["message"]) for r in found
        ]
        lines = [tuple(f["steps"]) for f in found[0]["fixes"] if f["steps"]]
        assert bool(lines) is not case.advice, found[0]["fixes"]
        count = len(lines)
        if number < count:
            if case.then:
                bench.python = str(bench.place.home / case.then)
            after = bench.check(lines[number])
            assert gone(case.cause, after), (lines[number], [(r["cause"], r["message"]) for r in roots(after)])
        number += 1
