"""The GPU code of one or several objects, counted."""

from __future__ import annotations

from collections import Counter

from gpudoctor.compat.records import Kernels, Ptx

from . import fatbin
from .wheel import Data


class Code:
    """What the fat binaries hold, of all objects that were added."""

    def __init__(self) -> None:
        self.machine_code: Counter[int] = Counter()
        """Architecture -> entries with machine code."""
        self.ptx: Counter[int] = Counter()
        """Architecture -> entries with PTX."""
        self.makes: Counter[tuple[tuple[int, ...], tuple[tuple[str, str], ...]]] = Counter()
        """Architectures with machine code and (PTX version, target), side by side -> fat binaries."""
        self.unread = 0
        """Entries with PTX whose beginning can't be read."""
        self.binaries: Counter[int] = Counter()
        """Architecture -> fat binaries with machine code for it."""
        self.with_machine_code = 0
        """Fat binaries with machine code for any architecture."""

    def add(self, data: Data, *, headers: bool = True) -> bool:
        """Count the code of an object; whether there is any. `headers`: read versions and targets of the PTX."""
        before = self.total
        for binary in fatbin.fat_binaries(data):
            archs = {e.arch for e in binary if e.kind == "elf"}
            self.with_machine_code += bool(archs)
            self.binaries.update(archs)
            modules = []
            for entry in binary:
                if entry.kind == "elf":
                    self.machine_code[entry.arch] += 1
                elif entry.kind == "ptx":
                    self.ptx[entry.arch] += 1
                    if headers:
                        found = fatbin.ptx_header(data, entry)
                        self.unread += found is None
                        modules += [found] if found is not None else []
            self.makes[tuple(sorted(archs)), tuple(sorted(set(modules), key=_order))] += 1
        return self.total > before

    def kernels(self) -> tuple[Kernels, ...]:
        """The fat binaries by what they hold side by side; those that hold neither are left out."""
        return tuple(
            Kernels(
                machine_code=tuple(f"sm_{a}" for a in archs),
                ptx=tuple(Ptx(isa=isa, target=target) for isa, target in modules),
                count=count,
            )
            for (archs, modules), count in sorted(self.makes.items(), key=lambda m: (-m[1], m[0]))
            if archs or modules
        )

    @property
    def total(self) -> int:
        """All entries."""
        return self.machine_code.total() + self.ptx.total()

    def complete(self) -> tuple[str, ...]:
        """Architectures in every fat binary that has machine code at all."""
        return tuple(f"sm_{a}" for a in sorted(self.binaries) if self.binaries[a] == self.with_machine_code)

    def partial(self) -> tuple[str, ...]:
        """Architectures in some of them only."""
        return tuple(f"sm_{a}" for a in sorted(self.binaries) if self.binaries[a] < self.with_machine_code)


def _order(module: tuple[str, str]) -> tuple[list[int], str]:
    return [int(n) for n in module[0].split(".")], module[1]
