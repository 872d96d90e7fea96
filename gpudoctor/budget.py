"""An examination that ends in time: which kernels without a framework it leaves out for that, and how long the others may take.

TensorFlow's are chosen by the child that runs them, when it knows how long the import took (`gpudoctor/patient/tf_import.py`).
"""

from __future__ import annotations

import dataclasses

from .examine import Options, framework_of
from .kernels import native

_NATIVE_SHARE, _NATIVE_MOST = 0.4, 0.6
"""Of the time, where TensorFlow's kernels follow: what native ones are chosen for, and when the last of them ends."""


def in_time(options: Options, longer: float = 1.0) -> Options:
    """`options` with those native kernels that fit into its `budget_s` and tell most, and `left_out` with the others.

    `longer`: how much more than those of the standard level they take.
    """
    work_s = options.work_s
    if work_s is None:
        return options
    followed = bool(framework_of(options))
    share_s = work_s * _NATIVE_SHARE if followed else work_s
    plan, out = native.within(options.native, share_s / longer)
    return dataclasses.replace(
        options,
        native=plan,
        native_limit_s=min(options.native_limit_s, work_s * _NATIVE_MOST if followed else work_s),
        left_out=out,
    )
