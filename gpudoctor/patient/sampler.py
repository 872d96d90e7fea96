"""What NVML says of a GPU while work runs on it: clocks, power, temperature, link, what holds the clocks down.

Asked in a thread; a question takes some hundredths of a millisecond, and a copy at work is not slower for it. An NVML that
does not answer costs the figures about the work, never the work.
"""

import ctypes
import threading
import time
from ctypes import byref, c_uint, c_ulonglong, c_void_p
from typing import Any, Callable, Dict, List, Optional

_EVERY_S = 0.005
_PATIENCE_S = 2.0


class _Rates(ctypes.Structure):
    _fields_ = [("gpu", c_uint), ("memory", c_uint)]


_SILENT = "NVML did not answer within %.3g s" % _PATIENCE_S


def _aside(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.daemon = True
    thread.start()
    return thread


class Sampler:
    """Asks NVML about one GPU, every `every_s` seconds between `begin` and `end`."""

    def __init__(self, pci_address: str, every_s: float = _EVERY_S) -> None:
        self._every_s = every_s
        self._why: Optional[str] = None
        self._thread: Optional[threading.Thread] = None
        self._handle = c_void_p()
        self._kept: List[Dict[str, int]] = []
        self._over = threading.Event()
        self._whole: Dict[str, Any] = {}
        first = _aside(lambda: self._open(pci_address))
        first.join(_PATIENCE_S)
        if first.is_alive():
            self._why = _SILENT

    def _open(self, pci_address: str) -> None:
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
            result = self._nvml.nvmlInit_v2()
            if result == 0:
                get = self._nvml.nvmlDeviceGetHandleByPciBusId_v2
                result = get(pci_address.encode(), byref(self._handle))
            if result:
                self._why = "NVML answers %d" % result
        except (OSError, AttributeError) as e:
            self._why = str(e)

    def begin(self) -> None:
        """The work begins."""
        if self._why is not None:
            return
        self._kept, self._over, self._whole = [], threading.Event(), {}
        self._thread = _aside(self._watch)

    def end(self) -> Dict[str, Any]:
        """The work is over: the answers as lists by name, in the order in which they came; 'why' where NVML has none."""
        if self._why is not None or self._thread is None:
            return {"why": self._why or "nothing was watched"}
        self._over.set()
        self._thread.join(_PATIENCE_S)
        if self._thread.is_alive():
            self._why = _SILENT
            return {"why": self._why}
        if not any(self._kept):
            return {"why": "NVML says nothing about this GPU"}
        got: Dict[str, Any] = dict(self._whole, samples=len(self._kept))
        for name in sorted({name for one in self._kept for name in one}):
            got[name] = [one[name] for one in self._kept if name in one]
        return got

    def _watch(self) -> None:
        began, energy = time.time(), self._energy()
        while True:
            self._kept.append(self._look())
            if len(self._kept) >= 2000 or self._over.wait(self._every_s):
                break
        used = self._energy()
        self._whole["seconds"] = time.time() - began
        if energy is not None and used is not None:
            self._whole["energy_mj"] = used - energy

    def _energy(self) -> Optional[int]:
        return self._one("nvmlDeviceGetTotalEnergyConsumption", c_ulonglong)

    def _look(self) -> Dict[str, int]:
        got = {
            "clock_sm_mhz": self._one("nvmlDeviceGetClockInfo", c_uint, 1),
            "clock_memory_mhz": self._one("nvmlDeviceGetClockInfo", c_uint, 2),
            "power_mw": self._one("nvmlDeviceGetPowerUsage", c_uint),
            "temperature_c": self._one("nvmlDeviceGetTemperature", c_uint, 0),
            "reasons": self._one("nvmlDeviceGetCurrentClocksThrottleReasons", c_ulonglong),
            "pcie_generation": self._one("nvmlDeviceGetCurrPcieLinkGeneration", c_uint),
            "pcie_width": self._one("nvmlDeviceGetCurrPcieLinkWidth", c_uint),
        }
        rates = _Rates()
        try:
            if self._nvml.nvmlDeviceGetUtilizationRates(self._handle, byref(rates)) == 0:
                got["utilisation_percent"] = rates.gpu
        except AttributeError:
            pass
        return {name: value for name, value in got.items() if value is not None}

    def _one(self, function: str, kind: Any, *which: int) -> Optional[int]:
        """A number; None where this GPU or this NVML does not have it."""
        value = kind()
        try:
            result = getattr(self._nvml, function)(self._handle, *which, byref(value))
        except AttributeError:
            return None
        return None if result else int(value.value)
