"""Device memory: the allocator that cuDF uses, and errors that say how much was needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

import cupy
import cupyx
import numpy as np
import numpy.typing as npt

from rapids_trav.csr.array import Array
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import readable

ALIGNMENT = 256  # bytes, the alignment of a device allocation


def rapids_allocator() -> AbstractContextManager:
    """Make CuPy allocate from RMM inside the block, if RMM is installed, whether or not cuDF did so."""
    allocator = _rmm_allocator()
    if allocator is None or cupy.cuda.get_allocator() is allocator:
        return nullcontext()
    return cupy.cuda.using_allocator(allocator)


@functools.cache
def _rmm_allocator() -> Callable[[int], cupy.cuda.MemoryPointer] | None:
    """Return RMM's allocator, or None without RMM; kept, since a failed import takes as long as a search."""
    try:
        from rmm.allocators.cupy import rmm_cupy_allocator
    except ImportError:
        return None
    allocator: Callable[[int], cupy.cuda.MemoryPointer] = rmm_cupy_allocator
    return allocator


def free_bytes() -> int:
    """Return the bytes of the device that are available: the free ones, and those that a pool keeps.

    RMM does not report how much of a pool is in use, so the whole pool counts.  If an allocation then fails,
    the graph is built again outside the device.
    """
    free, total = cupy.cuda.runtime.memGetInfo()
    free += cupy.get_default_memory_pool().free_bytes()
    try:
        import rmm
    except ImportError:
        return free
    resource = rmm.mr.get_current_device_resource()
    while resource is not None:
        if hasattr(resource, "pool_size"):
            return min(free + resource.pool_size(), total)
        resource = getattr(resource, "upstream_mr", None)
    return free


def aligned(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Return where parts of these sizes begin in one allocation, and its size."""
    begins, total = [], 0
    for size in sizes:
        begins.append(total)
        total += -(-size // ALIGNMENT) * ALIGNMENT
    return begins, total


class Allocation:
    """Memory for arrays of these lengths and dtypes, which lives as long as any of them.

    An allocation costs the host some ten microseconds, and each array another two: a quarter of a small
    search.  A kernel can be given the addresses, so that the arrays are created while it runs.
    """

    def __init__(self, *shapes: tuple[int, npt.DTypeLike]) -> None:
        self._shapes = shapes
        self._begins, total = _layout(shapes)
        self._memory = cupy.cuda.alloc(total)
        first = self._memory.ptr
        self.addresses = [first + begin for begin in self._begins]

    def arrays(self) -> list[cupy.ndarray]:
        return _parts(self._memory, self._begins, self._shapes)


def together(*shapes: tuple[int, npt.DTypeLike]) -> list[cupy.ndarray]:
    """Return uninitialised arrays of these lengths and dtypes in one allocation."""
    return Allocation(*shapes).arrays()


@functools.lru_cache(maxsize=64)  # a graph is asked again and again for answers of one size
def _layout(shapes: tuple[tuple[int, npt.DTypeLike], ...]) -> tuple[tuple[int, ...], int]:
    """Return where arrays of these lengths and dtypes begin in one allocation, and its size."""
    begins, total = aligned(length * np.dtype(dtype).itemsize for length, dtype in shapes)
    return tuple(begins), total


def copied_together(*arrays: np.ndarray) -> list[cupy.ndarray]:
    """Return one-dimensional arrays of the host in one allocation, by one copy."""
    begins, total = aligned(array.nbytes for array in arrays)
    host = np.empty(total, np.uint8)
    for begin, array in zip(begins, arrays, strict=True):
        host[begin : begin + array.nbytes] = array.view(np.uint8)
    return _parts(cupy.asarray(host).data, begins, [(len(array), array.dtype) for array in arrays])


def _parts(
    memory: cupy.cuda.MemoryPointer, begins: Sequence[int], shapes: Iterable[tuple[int, npt.DTypeLike]]
) -> list[cupy.ndarray]:
    """Return arrays of these lengths and dtypes that begin at these bytes of an allocation."""
    return [
        cupy.ndarray((length,), dtype, memory + begin)
        for begin, (length, dtype) in zip(begins, shapes, strict=True)
    ]


class Staging:
    """Pinned buffers that `n_threads` fill with edges in files, which are copied to the device from there."""

    def __init__(self, n_buffers: int, n_bytes: int, n_threads: int, name: str) -> None:
        self.n_buffers = n_buffers
        self._buffers = [empty_pinned(n_bytes, np.uint8) for _ in range(n_buffers)]
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix=f"rapids_trav {name}")
        self.submit = self._pool.submit

    def filled(self, buffer: int, sources: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the sources in a buffer from which nothing is copied any more."""
        begins, _ = aligned(source.nbytes for source in sources)
        parts = []
        for begin, source in zip(begins, sources, strict=True):
            part = self._buffers[buffer][begin : begin + source.nbytes].view(source.dtype)
            np.copyto(part, source)
            parts.append(part)
        return parts

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


FEW = 4096  # more are copied, since CuPy keeps pinned memory of each size for later


class HostNumbers:
    """Numbers that kernels launched inside a ``with`` block read or write, and that the host has after it.

    Few of them are in pinned memory, which kernels reach: a copy of a few numbers takes longer than a kernel.
    """

    def __init__(self, memory: Array) -> None:
        self._memory = memory

    @classmethod
    def empty(cls, n: int, dtype: npt.DTypeLike) -> Self:
        """Make room for `n` numbers."""
        return cls(cupyx.empty_pinned(n, dtype) if n <= FEW else cupy.empty(n, dtype))

    @classmethod
    def of(cls, values: np.ndarray, dtype: npt.DTypeLike) -> Self:
        """Copy numbers of the host."""
        if len(values) > FEW:
            return cls(cupy.asarray(values, dtype))
        numbers = cls.empty(len(values), dtype)
        numbers._memory[:] = values
        return numbers

    @property
    def argument(self) -> Array | int:
        """The numbers in the form that kernels take: an address or a device array."""
        return host_address(self._memory) if isinstance(self._memory, np.ndarray) else self._memory

    @property
    def on_host(self) -> np.ndarray:
        """The numbers, after the block."""
        found: np.ndarray = cupy.asnumpy(self._memory)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for the kernels, on an error too, since they may still write."""
        cupy.cuda.get_current_stream().synchronize()


def host_address(source: np.ndarray) -> int:
    """Return the address of an array; `source.ctypes.data` takes several times as long."""
    return source.__array_interface__["data"][0]


def to_device(target: Array, source: np.ndarray, stream: cupy.cuda.Stream) -> None:
    """Copy pinned host memory to the device, in the order of a stream."""
    if source.nbytes:
        bytes_to_device(target.data.ptr, host_address(source), source.nbytes, stream)


def bytes_to_device(target: int, source: int, n_bytes: int, stream: cupy.cuda.Stream) -> None:
    """Do the same with addresses, which take the host less time than views of arrays."""
    runtime = cupy.cuda.runtime
    runtime.memcpyAsync(target, source, n_bytes, runtime.memcpyHostToDevice, stream.ptr)


def to_host(target: np.ndarray, source: Array, stream: cupy.cuda.Stream) -> None:
    """Copy an array from the device, in the order of a stream."""
    runtime = cupy.cuda.runtime
    if target.nbytes:
        kind = runtime.memcpyDeviceToHost
        runtime.memcpyAsync(target.ctypes.data, source.data.ptr, target.nbytes, kind, stream.ptr)


def shifted(memory: Array, begin: int, dtype: np.dtype, first: int) -> int:
    """Return the address of entry 0 of an array whose entry `first` is at byte `begin` of `memory`."""
    return (memory.data.ptr + begin - first * dtype.itemsize) % (1 << 64)


def shortage(task: str, n_bytes: int) -> TravMemoryError:
    """Return an error, in place of an allocator's, that names the bytes and the remedy."""
    free, total = cupy.cuda.runtime.memGetInfo()
    return TravMemoryError(
        f"{task} needs about {readable(n_bytes)} of GPU memory, but {readable(free)} of the device's "
        f"{readable(total)} are free (memory pools and other arrays hold the rest): free frames that "
        f"are no longer needed, or choose engine='cpu'."
    )
