"""The runtime of the stand-in."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cupy._allocations import ALIGNMENT, HANDLES, TOTAL, USAGE, Handle
from cupy._devices import N_DEVICES, RANGES, current_device
from cupy._errors import CUDARuntimeError
from cupy._queues import DEVICE, OPENED
from cupy.cuda import device_limits

__all__ = ["CUDARuntimeError"]

memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = 1, 2, 3
streamPerThread = 2

# An attribute's number is its place here.
_ATTRIBUTES = (
    device_limits.MULTIPROCESSORS,
    device_limits.SHARED_BYTES_BY_OPTING_IN,
    device_limits.SHARED_BYTES_OF_MULTIPROCESSOR,
    device_limits.SHARED_BYTES_RESERVED,
)
(
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor,
    cudaDevAttrReservedSharedMemoryPerBlock,
) = range(len(_ATTRIBUTES))

_DEVICE_MEMORY, _PINNED_MEMORY = 2, 1  # cudaMemoryType
_pinned: dict[int, int] = {}  # bytes of pinned memory by address


def getDeviceCount() -> int:
    return N_DEVICES


def getDevice() -> int:
    return current_device()


def deviceCanAccessPeer(device: int, peer: int) -> int:
    return int(device != peer)


def deviceEnablePeerAccess(peer: int) -> None:
    """Let kernels of the current device reach a peer's memory, which they do anyway."""


def deviceGetAttribute(attribute: int, device: int) -> int:
    return _ATTRIBUTES[attribute]


def getDeviceProperties(device: int) -> dict:
    return {
        "name": b"CPU",
        "multiProcessorCount": device_limits.MULTIPROCESSORS,
        "totalGlobalMem": TOTAL,
        "uuid": b"emulated GPU %3d" % device,
    }


def memGetInfo() -> tuple[int, int]:
    return TOTAL - USAGE.used, TOTAL


def deviceSynchronize() -> None:
    DEVICE.synchronize_all()


def memcpyAsync(target: int, source: int, n_bytes: int, kind: int, stream: int) -> None:
    DEVICE.enqueue(DEVICE.queue_of(stream), lambda: ctypes.memmove(target, source, n_bytes))


def streamQuery(stream: int) -> int:
    with DEVICE.lock:
        queue = DEVICE.queue_of(stream)
        queue.run_some()
        return 0 if queue.n_run == queue.end else 600


def ipcGetMemHandle(pointer: int) -> bytes:
    if pointer not in HANDLES:
        raise CUDARuntimeError("memory of a pool has no handle")
    return bytes(HANDLES[pointer])


def ipcOpenMemHandle(data: bytes) -> int:
    handle = Handle.parse(data)
    if handle.process == os.getpid():
        raise CUDARuntimeError("a process cannot open its own handle")
    with Path(f"/proc/{handle.process}/fd/{handle.file}").open("r+b") as file:
        opened = np.frombuffer(mmap.mmap(file.fileno(), handle.size), np.uint8)
    pointer = opened.ctypes.data + ALIGNMENT
    RANGES.add(pointer, handle.size - ALIGNMENT, current_device())
    OPENED[pointer] = opened
    return pointer


def ipcCloseMemHandle(pointer: int) -> None:
    RANGES.remove(pointer)
    del OPENED[pointer]


def hostRegister(pointer: int, n_bytes: int, flags: int) -> None:
    _pinned[pointer] = n_bytes


def hostUnregister(pointer: int) -> None:
    del _pinned[pointer]


class PointerAttributes(NamedTuple):
    """The kind of memory at an address, and its device."""

    type: int
    device: int


def pointerGetAttributes(pointer: int) -> PointerAttributes:
    pinned = any(begin <= pointer < begin + n_bytes for begin, n_bytes in list(_pinned.items()))
    return PointerAttributes(_PINNED_MEMORY if pinned else _DEVICE_MEMORY, RANGES.device_of(pointer) or 0)
