"""The runtime of the stand-in."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from cupy._allocations import TOTAL, USAGE
from cupy._devices import N_DEVICES, RANGES, current_device
from cupy._errors import CUDARuntimeError
from cupy._queues import DEVICE
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
    return {"name": b"CPU", "multiProcessorCount": device_limits.MULTIPROCESSORS, "totalGlobalMem": TOTAL}


def memGetInfo() -> tuple[int, int]:
    return TOTAL - USAGE.used, TOTAL


def deviceSynchronize() -> None:
    DEVICE.synchronize_all()


def memcpyAsync(target: int, source: int, n_bytes: int, kind: int, stream: int) -> None:
    DEVICE.enqueue(DEVICE.queue_of(stream), lambda: ctypes.memmove(target, source, n_bytes))


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
