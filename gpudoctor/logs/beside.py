"""The log of a program beside the facts of the machine that it ran on."""

from __future__ import annotations

import msgspec

from ..facts import Facts, Text, Unread
from .report import LANGUAGE as REPORT

_FROM_THE_LOG = ("import_error", "log", "events")


def beside(machine: Facts, told: Facts) -> Facts:
    """`machine`, with what the log alone tells: its events, and of TensorFlow what nobody else said. What people write has no place
    in a program's log. The devices of the log count where it tells that there is no GPU: a program may leave some out on purpose."""
    tensorflow = machine.tensorflow
    for name in _FROM_THE_LOG:
        said = getattr(told.tensorflow, name)
        if isinstance(getattr(tensorflow, name), Unread) and not isinstance(said, Unread):
            tensorflow = msgspec.structs.replace(tensorflow, **{name: said})
    listed = told.tensorflow.gpus()
    if isinstance(tensorflow.devices, Unread) and not isinstance(listed, Unread) and not listed:
        tensorflow = msgspec.structs.replace(tensorflow, devices=told.tensorflow.devices)
    events = tuple(e for e in told.text.understood() if not e.is_weak and e.language != REPORT)
    text = Text(left_out=told.text.left_out, events=events)
    return msgspec.structs.replace(machine, tensorflow=tensorflow, text=text)
