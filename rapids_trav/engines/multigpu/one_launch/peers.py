"""GPUs that can access each other's memory, in one process (CUDA peer access) or in several (by handles).

The numbers of GPUs differ between processes: dask-cuda rotates CUDA_VISIBLE_DEVICES, and a container may show
a single GPU.  So GPUs are identified by their UUID, and a rank finds out whether it can access another's
memory by opening it.  A process cannot open its own handles; ranks in threads of one process use each other's
addresses directly.
"""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError, TravMemoryError, first_line
from rapids_trav.utilities.sizes import readable

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
_ALREADY_ENABLED = 704  # cudaErrorPeerAccessAlreadyEnabled


def reach_each_other(devices: Sequence[int]) -> None:
    """Let kernels on each of the devices use the memory of the others.

    Raises a `TravError` if two of them cannot.
    """
    runtime = cupy.cuda.runtime
    for one, other in permutations(sorted(set(devices)), 2):
        if not runtime.deviceCanAccessPeer(one, other):
            raise TravError(
                f"GPU {one} cannot reach the memory of GPU {other}: give devices that are connected by "
                f"NVLink, or leave devices out and use one GPU."
            )
        with cupy.cuda.Device(one):
            try:
                runtime.deviceEnablePeerAccess(other)
            except runtime.CUDARuntimeError as error:
                if error.status != _ALREADY_ENABLED:
                    raise


def copied_to(device: int, array: Array) -> Array:
    """Return a copy of an array, of any device, on `device`.

    The host waits before the copy, for the work on the array's device, and after it, so that the array may be
    freed.
    """
    source, runtime = array.data.device_id, cupy.cuda.runtime
    with cupy.cuda.Device(source):
        given = cupy.ascontiguousarray(array)
        cupy.cuda.get_current_stream().synchronize()
    with cupy.cuda.Device(device):
        copy = cupy.empty(given.shape, given.dtype)
        open_to(device, given)
        open_to(source, copy)
        stream = cupy.cuda.get_current_stream()
        runtime.memcpyAsync(
            copy.data.ptr, given.data.ptr, given.nbytes, runtime.memcpyDeviceToDevice, stream.ptr
        )
        stream.synchronize()
    return copy


def open_to(device: int, array: Array) -> None:
    """Let a device reach the asynchronous pool that an array is in, if it is in one; RMM has such pools.

    Peer access is for other memory; without this a copy from or to such a pool fails.
    """
    if array.data.device_id == device:
        return
    try:
        from cuda.bindings import driver
    except ImportError:  # without RAPIDS there is no RMM either
        return
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
    _, pool = driver.cuPointerGetAttribute(attribute, array.data.ptr)
    if not pool or not int(pool):
        return
    reader = driver.CUmemAccessDesc()
    reader.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    reader.location.id = device
    reader.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    _, flags = driver.cuMemPoolGetAccess(pool, reader.location)
    if flags != reader.flags:
        driver.cuMemPoolSetAccess(pool, [reader], 1)


def reachable(n_bytes: int) -> Array:
    """Allocate bytes on the current device that the others can reach; memory of a pool may have no handle.

    Raises a `TravMemoryError` if the device has too little memory outside RMM's pool.
    """
    runtime = cupy.cuda.runtime
    try:
        memory = cupy.cuda.Memory(n_bytes)
    except (MemoryError, runtime.CUDARuntimeError) as error:
        if getattr(error, "status", _OUT_OF_MEMORY) != _OUT_OF_MEMORY:
            raise
        raise TravMemoryError(
            f"GPU {runtime.getDevice()} has {readable(runtime.memGetInfo()[0])} outside RMM's pool, but what "
            f"other GPUs read there takes {readable(n_bytes)}: give the pool fewer bytes, by its "
            f"maximum_pool_size, or the rmm_pool_size of dask-cuda."
        ) from error
    return cupy.ndarray((n_bytes,), np.uint8, cupy.cuda.MemoryPointer(memory, 0))


def synchronize(device: int) -> None:
    """Wait for the work on a device, before other streams read its results."""
    with cupy.cuda.Device(device):
        cupy.cuda.get_current_stream().synchronize()


@contextmanager
def turn(devices: Sequence[int]) -> Iterator[None]:
    """Wait until no other search of several ranks runs on these devices, and keep them for the block.

    Kernels that wait for each other must not enter two devices in opposite orders: each would keep the other
    from starting.  All threads take devices in ascending order, so that none waits forever.
    """
    kept = [_turns_of(device) for device in sorted(set(devices))]
    with ExitStack() as stack:
        for turns in kept:
            stack.enter_context(turns.lock)
        try:
            yield
        finally:
            for turns in kept:
                turns.unfreed.clear()


def free_between_searches(owner: object, memory: Array) -> None:
    """Free memory that `reachable` allocated once its owner has gone and no search runs on the device.

    CUDA waits for the device's kernels when it frees such memory.  If another thread did so between two
    launches of a search, the first would wait for the second, which CUDA would not begin.
    """
    held = [memory.data.mem]
    weakref.finalize(owner, _let_go, memory.data.device_id, held).atexit = False


def _let_go(device: int, held: list[cupy.cuda.Memory]) -> None:
    """Free memory now or, while a search runs, when it ends; the calling thread may be that of the search."""
    turns = _turns_of(device)
    turns.unfreed.append(held.pop())
    if turns.lock.acquire(blocking=False):
        try:
            turns.unfreed.clear()
        finally:
            turns.lock.release()


class _Turns:
    """The lock of a device, and memory to be freed by whoever has it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.unfreed: list[cupy.cuda.Memory] = []


_turns: dict[int, _Turns] = {}  # by device; one for a process, as is the CUDA context


def _turns_of(device: int) -> _Turns:
    """Return the one `_Turns` of a device, whichever thread asks first."""
    return _turns.get(device) or _turns.setdefault(device, _Turns())


_BOOT = Path("/proc/sys/kernel/random/boot_id")  # the same in all containers of a host
_TOKEN = uuid.uuid4().hex  # made by the import, so that all threads have the same one


@dataclass(frozen=True)
class Card:
    """Description of a rank's memory, from which the other ranks can open it."""

    host: str  # name of the host, different from all others
    process: str
    gpu: str  # UUID and place
    device: int  # number of the GPU in its process
    address: int  # of the memory in its process
    handle: bytes  # of the memory for other processes

    @classmethod
    def of(cls, memory: Array) -> Card:
        """Return the card for memory on the current GPU that `peers.reachable` allocated.

        Raises a `TravError` if CUDA gives no handle for it.
        """
        runtime = cupy.cuda.runtime
        try:
            handle = runtime.ipcGetMemHandle(memory.data.ptr)
        except runtime.CUDARuntimeError as error:
            raise TravError(f"CUDA gives no handle for memory of this GPU ({first_line(error)})") from error
        return cls(_host(), _process(), gpu(), runtime.getDevice(), memory.data.ptr, bytes(handle))


class Opened:
    """The memory of all ranks, as the GPU of `rank` reaches it, until `close` or the end of this object.

    Raises a `TravError` if the memory of another rank cannot be reached; its message is a reason, in lower
    case.
    """

    def __init__(self, cards: Sequence[Card], rank: int) -> None:
        opened: list[int] = []
        self.close = weakref.finalize(self, _close, opened, cards[rank].device)
        self.close.atexit = False  # the process gives its memory back by itself, and CUDA may be gone
        self.addresses = [card.address for card in cards]
        for number, card in enumerate(cards):
            if card.process == cards[rank].process:
                if card.device != cards[rank].device:
                    reach_each_other((card.device, cards[rank].device))
                continue
            if card.host != cards[rank].host:
                raise TravError(f"rank {number} is on another host than rank {rank}")
            try:
                address = cupy.cuda.runtime.ipcOpenMemHandle(card.handle)
            except cupy.cuda.runtime.CUDARuntimeError as error:
                raise TravError(
                    f"rank {rank} cannot open the memory of rank {number} ({first_line(error)})"
                ) from error
            opened.append(address)
            self.addresses[number] = address


def gpu() -> str:
    """Return the UUID and the place of the current GPU."""
    runtime = cupy.cuda.runtime
    found = runtime.getDeviceProperties(runtime.getDevice())
    place = ":".join(f"{found.get(name, 0):x}" for name in ("pciDomainID", "pciBusID", "pciDeviceID"))
    return f"{bytes(found['uuid']).hex()} at {place}"


def _close(opened: list[int], device: int) -> None:
    with cupy.cuda.Device(device):
        while opened:
            cupy.cuda.runtime.ipcCloseMemHandle(opened.pop())


def _host() -> str:
    return _BOOT.read_text().strip() if _BOOT.is_file() else os.uname().nodename


def _process() -> str:
    """Return a name of this process, whose number may occur twice, in different containers."""
    return f"{os.getpid()} {_TOKEN}"
