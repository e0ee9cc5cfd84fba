"""The current device of each thread, and what belongs to which device.

All devices are this CPU.  An array belongs to the device on which it was made; operations and kernels on
another device may only copy it, or reach it by addresses that are themselves in memory of their device.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right, insort

N_DEVICES = int(os.environ.get("EMULATED_DEVICES", 4))
_CURRENT = threading.local()


def current_device() -> int:
    return getattr(_CURRENT, "device", 0)


def use_device(device: int) -> None:
    if not 0 <= device < N_DEVICES:
        raise RuntimeError(f"there is no device {device}")
    _CURRENT.device = device


class Ranges:
    """The live allocations of all devices, by address."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._begins: list[int] = []
        self._of: dict[int, tuple[int, int]] = {}

    def add(self, begin: int, n_bytes: int, device: int) -> None:
        with self._lock:
            insort(self._begins, begin)
            self._of[begin] = begin + n_bytes, device

    def remove(self, begin: int) -> None:
        with self._lock:
            self._begins.remove(begin)
            del self._of[begin]

    def device_of(self, address: int) -> int | None:
        """Return the device to whose memory an address belongs; None if it is not known."""
        with self._lock:
            place = bisect_right(self._begins, address) - 1
            if place < 0:
                return None
            end, device = self._of[self._begins[place]]
            return device if address < end else None


RANGES = Ranges()
