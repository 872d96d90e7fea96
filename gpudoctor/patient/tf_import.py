"""TensorFlow, imported once: its devices, and kernels on them."""

import time
import traceback
from typing import Any, Dict, List

from .core import answer, forked
from .gate import wait_for_native
from .two_workers import TWO_WORKERS, run_two_workers
from .workers import mapped, run_kernels


def tensorflow(
    kernels: List[str],
    list_limit_s: float,
    native_limit_s: float,
    kernel_limit_s: float,
    kernels_limit_s: float,
    repeats: int,
) -> None:
    """Import TensorFlow once; list its devices and run `kernels`, in forked children.

    The native kernels are waited for, for `native_limit_s` at most. Forking before any device is touched keeps a wedged or crashing GPU out of the other children.
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
    if "value" in listed:
        answer("loaded", listed["value"]["loaded"])
        listed["value"] = listed["value"]["devices"]
    answer("devices", listed)
    if kernels and "value" in listed:
        gpus = sum(d["type"] == "GPU" for d in listed["value"])
        wait_for_native(native_limit_s)
        deadline = time.time() + kernels_limit_s
        run_kernels(tf, gpus, [k for k in kernels if k != TWO_WORKERS], repeats, kernel_limit_s, deadline)
        if TWO_WORKERS in kernels:
            run_two_workers(tf, gpus, repeats, kernel_limit_s, deadline)


def _list_devices(tf: Any) -> Dict[str, Any]:
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
    return {"devices": devices, "loaded": mapped()}
