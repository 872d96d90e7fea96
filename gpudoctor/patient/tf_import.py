"""TensorFlow, imported once: its devices, and kernels on them."""

import time
import traceback
from typing import Any, Dict, List, Optional, Sequence

from .core import answer, forked
from .fitting import fitting
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
    until_s: Optional[float] = None,
    costs: Sequence[Sequence[Any]] = (),
) -> None:
    """Import TensorFlow once; list its devices and run `kernels`, in forked children.

    The native kernels are waited for, for `native_limit_s` at most; `until_s` seconds after the start no kernel runs any more,
    and what does not fit is left out; `costs`: [kernel, seconds, seconds for each further GPU], the most telling first. Forking before any device is touched keeps a wedged or
    crashing GPU out of the other children.
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
    until = started + until_s if until_s is not None else float("inf")
    left_s = max(0.0, until - time.time())
    listed = forked("listing the devices", min(list_limit_s, left_s), lambda: _list_devices(tf))
    if listed.get("timed_out") and left_s < list_limit_s:
        listed = {"skipped": "TensorFlow had not listed its devices when the time was over (--budget)"}
    if "value" in listed:
        answer("loaded", listed["value"]["loaded"])
        listed["value"] = listed["value"]["devices"]
    answer("devices", listed)
    if kernels and "value" in listed:
        gpus = sum(d["type"] == "GPU" for d in listed["value"])
        wait_for_native(min(native_limit_s, max(0.0, until - time.time())))
        deadline = min(time.time() + kernels_limit_s, until)
        asked = [(k, one + more * max(0, gpus - 1)) for k, one, more in costs if k in kernels]
        _, left_out = fitting(asked, until - time.time())
        answer("left_out", left_out)
        kernels = [k for k in kernels if k not in left_out]
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
