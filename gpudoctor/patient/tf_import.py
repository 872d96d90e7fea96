"""TensorFlow, imported once: its devices, and kernels on them."""

import functools
import time
import traceback
from typing import Any, Dict, List

from .core import answer, fork, forked, join
from .kernels import KERNELS


def tensorflow(kernels: List[str], list_limit_s: float, kernel_limit_s: float) -> None:
    """Import TensorFlow once; list its devices and run `kernels` in forked children, a child a device.

    Forking before any device is touched keeps a wedged or crashing GPU out of the other children.
    """
    started = time.time()
    answer("import_started", None)
    try:
        import tensorflow as tf
    except BaseException as e:
        answer(
            "import_failed",
            {"type": type(e).__name__, "text": traceback.format_exc(), "seconds": time.time() - started},
        )
        return
    answer(
        "imported",
        {
            "version": getattr(tf, "__version__", None),
            "file": getattr(tf, "__file__", None),
            "seconds": time.time() - started,
        },
    )
    if not hasattr(tf, "config"):
        answer(
            "import_failed",
            {"type": "AttributeError", "text": "the module tensorflow has no attribute 'config'", "seconds": 0},
        )
        return
    listed = forked("listing the devices", list_limit_s, lambda: _list_devices(tf))
    answer("devices", listed)
    if not kernels or "value" not in listed:
        return
    gpus = [d for d in listed["value"] if d["type"] == "GPU"]
    targets = [("GPU", i) for i in range(len(gpus))] or [("CPU", 0)]
    for name in kernels:
        children = []
        for kind, index in targets:
            work = functools.partial(KERNELS[name], tf, kind, index)
            children.append((kind, index, time.time(), fork(work)))
        for kind, index, started, child in children:
            got = join(child, name, started + kernel_limit_s)
            got.update({"kernel": name, "device": "%s:%d" % (kind, index), "total_seconds": time.time() - started})
            answer("kernel", got)


def _list_devices(tf: Any) -> List[Dict[str, Any]]:
    devices = []
    list_physical = getattr(tf.config, "list_physical_devices", None) or tf.config.experimental.list_physical_devices
    for device in list_physical():
        details = {}
        try:
            details = dict(tf.config.experimental.get_device_details(device))
        except Exception:
            pass
        devices.append(
            {
                "name": device.name,
                "type": device.device_type,
                "model": details.get("device_name"),
                "capability": list(details.get("compute_capability") or ()),
            }
        )
    return devices
