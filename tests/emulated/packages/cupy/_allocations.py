"""Memory of the device, which is the host's.

Allocations are counted, filled with a pattern, and stand between guards of that pattern.  As in CuPy's pool,
memory is freed in the order of the stream on which it was allocated: it gets the pattern again when that
stream arrives there.  A write to a guard or to freed memory is reported at the next synchronisation.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import weakref
from typing import NamedTuple

import numpy as np

from cupy._counting import count
from cupy._devices import RANGES, current_device
from cupy._queues import DEVICE
from cupy._streams import get_current_stream

TOTAL = int(os.environ.get("EMULATED_MEMORY", 4 << 30))
POISON = 0xA5
ALIGNMENT = 512


class OutOfMemoryError(MemoryError):
    """Report that the device has too little memory left."""


class Usage:
    """The bytes in use."""

    def __init__(self) -> None:
        self.used = 0
        # Finalizers of other allocations may run while this thread holds it.
        self._lock = threading.RLock()

    def add(self, n_bytes: int) -> None:
        with self._lock:
            if self.used + n_bytes > TOTAL:
                raise OutOfMemoryError(f"Out of memory allocating {n_bytes:,} bytes")
            self.used += n_bytes

    def subtract(self, n_bytes: int) -> None:
        with self._lock:
            self.used -= n_bytes


USAGE = Usage()


class Memory:
    """An allocation."""

    def __init__(self, size: int) -> None:
        USAGE.add(size)
        count("allocations")
        whole = self._bytes(size + 3 * ALIGNMENT)
        whole.fill(POISON)
        begin = ALIGNMENT + -whole.ctypes.data % ALIGNMENT
        self.size = size
        self.bytes = whole[begin : begin + size]
        self.ptr = ptr = whole.ctypes.data + begin
        self.device = current_device()
        RANGES.add(ptr, size, self.device)
        queue = get_current_stream().queue

        def free() -> None:
            _check(whole[:begin], "memory before an allocation was written to")
            _check(whole[begin + size :], "memory after an allocation was written to")
            whole.fill(POISON)
            DEVICE.keep(Freed(whole))

        def release() -> None:
            RANGES.remove(ptr)
            USAGE.subtract(size)
            DEVICE.release(queue, free)

        weakref.finalize(self, release).atexit = False

    def _bytes(self, size: int) -> np.ndarray:
        return np.empty(size, np.uint8)


class PlainMemory(Memory):
    """An allocation of its own, outside any pool, which other processes can open by a handle."""

    def _bytes(self, size: int) -> np.ndarray:
        file = os.memfd_create("emulated GPU memory")
        os.truncate(file, size)
        found = np.frombuffer(mmap.mmap(file, size), np.uint8)
        weakref.finalize(found, os.close, file)
        HANDLES[found.ctypes.data + ALIGNMENT] = Handle(os.getpid(), file, size)
        weakref.finalize(found, HANDLES.pop, found.ctypes.data + ALIGNMENT)
        return found


class Handle(NamedTuple):
    """What another process needs to open memory; 64 bytes long as CUDA's."""

    process: int
    file: int
    size: int

    def __bytes__(self) -> bytes:
        return np.array(self, np.int64).tobytes().ljust(HANDLE_BYTES, b"\0")

    @classmethod
    def parse(cls, data: bytes) -> Handle:
        return cls(*np.frombuffer(data, np.int64)[:3].tolist())


HANDLE_BYTES = 64
HANDLES: dict[int, Handle] = {}  # by the address of the memory


class Freed:
    """Freed memory; it must have the pattern when it goes."""

    def __init__(self, whole: np.ndarray) -> None:
        self._whole = whole

    def __del__(self) -> None:
        _check(self._whole, "memory was written to after it had been freed")


def _check(part: np.ndarray, error: str) -> None:
    if not (part == POISON).all():
        DEVICE.fail(error)


class UnownedMemory:
    """Memory that has another owner, at an address; every device reaches it."""

    device = None

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner = ptr, size, owner
        self.bytes = np.frombuffer((ctypes.c_uint8 * size).from_address(ptr), np.uint8)


class MemoryPointer:
    """An address in memory."""

    def __init__(self, mem: Memory | UnownedMemory, offset: int) -> None:
        self.mem, self._offset = mem, offset

    @property
    def ptr(self) -> int:
        return self.mem.ptr + self._offset

    @property
    def device_id(self) -> int:
        return self.mem.device or 0

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    def bytes(self, n: int) -> np.ndarray:
        """Return `n` bytes from here."""
        if self._offset + n > self.mem.size:
            raise ValueError("an array is larger than its memory")
        return self.mem.bytes[self._offset : self._offset + n]


def alloc(n_bytes: int) -> MemoryPointer:
    return MemoryPointer(Memory(n_bytes), 0)
