"""A recorded host with four GPUs, and as many again: what a machine with eight reports."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from gpudoctor.facts import Facts, with_fact
from tests.boards import recorded

T = TypeVar("T")
_NUMBERS = re.compile(r'"(index|minor_number|minor|first|second|device|peer|board_id)":(\d+)')
_ADDRESS = re.compile(r"0000:00:0([6-9])")
_DIGITS = re.compile(r"(GPU-)(.)")
_NAME = re.compile(r"\bGPU:(\d)")


def other(one: T) -> T:
    """The same of the GPU four places further."""
    text = msgspec.json.encode(one).decode()
    text = _NUMBERS.sub(lambda m: f'"{m[1]}":{int(m[2]) + 4}', text)
    text = _ADDRESS.sub(lambda m: f"0000:00:0{int(m[1]) + 4:x}", text)
    text = _DIGITS.sub(lambda m: f"{m[1]}{(int(m[2], 16) + 1) % 16:x}", text)
    text = _NAME.sub(lambda m: f"GPU:{int(m[1]) + 4}", text)
    return msgspec.json.decode(text.replace("serial-", "serial-8"), type=type(one))


def twice(ones: tuple[T, ...], which: str = "") -> tuple[T, ...]:
    """With those of the other GPUs behind them; `which`: only what has this in it is a GPU's."""
    return (*ones, *(other(one) for one in ones if which in msgspec.json.encode(one).decode()))


def eight() -> Facts:
    """The facts of the host."""
    facts = recorded("h200-x4-healthy-full")
    libcuda, gpu = facts.driver.libcuda, facts.gpu
    across = [(a, b) for a in range(4) for b in range(4, 8)]
    assert isinstance(gpu.pairs, tuple)
    assert isinstance(libcuda.pairs, tuple)
    pairs = (*twice(gpu.pairs), *(msgspec.structs.replace(gpu.pairs[0], first=a, second=b) for a, b in across))
    both = [*across, *((b, a) for a, b in across)]
    cuda = (*twice(libcuda.pairs), *(msgspec.structs.replace(libcuda.pairs[0], device=a, peer=b) for a, b in both))
    changed: dict[str, object] = {
        "gpu.devices": twice(gpu.devices),  # type: ignore[arg-type]
        "gpu.pairs": pairs,
        "driver.libcuda.devices": twice(libcuda.devices),  # type: ignore[arg-type]
        "driver.libcuda.pairs": cuda,
        "driver.gpus": twice(facts.driver.gpus),  # type: ignore[arg-type]
        "pci.devices": twice(facts.pci.devices, '"vendor":4318'),  # type: ignore[arg-type]
        "tensorflow.devices": twice(facts.tensorflow.devices, '"GPU"'),  # type: ignore[arg-type]
        "measurements": twice(facts.measurements, '"device":"GPU:'),
    }
    for name, value in changed.items():
        facts = with_fact(facts, name, value)
    return facts
