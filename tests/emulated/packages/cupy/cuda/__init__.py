"""Streams, events, memory and devices of the stand-in."""

from __future__ import annotations

from cupy._allocations import MemoryPointer, UnownedMemory, alloc
from cupy._allocations import PlainMemory as Memory
from cupy._streams import Event, Stream, get_current_stream, get_elapsed_time
from cupy.cuda import driver, function, runtime
from cupy.cuda.device import Device
from cupy.cuda.pinned import PinnedMemory, PinnedMemoryPointer
from cupy.cuda.pool import MemoryPool, using_allocator

__all__ = [
    "Device", "Event", "Memory", "MemoryPointer", "MemoryPool", "PinnedMemory", "PinnedMemoryPointer",
    "Stream", "UnownedMemory", "alloc", "driver", "function", "get_current_stream", "get_elapsed_time",
    "runtime", "using_allocator",
]  # fmt: skip
