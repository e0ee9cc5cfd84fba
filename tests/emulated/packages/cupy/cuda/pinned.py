"""Host memory that the device can access."""

from __future__ import annotations

import weakref

import numpy as np

from cupy._allocations import POISON
from cupy._queues import DEVICE
from cupy.cuda import runtime


class PinnedMemory:
    """An allocation, which lasts as long as an array over its bytes."""

    def __init__(self, size: int, flags: int = 0) -> None:
        buffer = bytearray([POISON]) * size
        self.bytes = np.ndarray(size, np.uint8, buffer)
        self.ptr, self.size = self.bytes.ctypes.data, size
        runtime.hostRegister(self.ptr, size, flags)
        # NumPy takes this array, not `self`, for the owner of arrays over it.
        weakref.finalize(self.bytes, _free, self.ptr, buffer).atexit = False


def _free(pointer: int, buffer: bytearray) -> None:
    runtime.hostUnregister(pointer)
    DEVICE.keep(buffer)


class PinnedMemoryPointer:
    """An address in an allocation, from which NumPy takes memory."""

    def __new__(cls, mem: PinnedMemory, offset: int) -> np.ndarray:  # type: ignore[misc]
        return mem.bytes[offset:]
