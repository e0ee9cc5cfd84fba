"""Pinned host memory, which the GPU can access.

CUDA's own allocation touches every page on one thread, at less than 2 GB a second.  Large arrays are
therefore allocated from the operating system in large pages, touched on all cores, and then pinned.
"""

from __future__ import annotations

import mmap
import os
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from rapids_trav.utilities.sizes import readable

MUCH = 1 << 26  # bytes
_PIECE = 1 << 26  # bytes that a thread touches at a time
_SMALL_PAGE = 4096


def empty_pinned(n: int, dtype: npt.DTypeLike, much: int = MUCH) -> np.ndarray:
    """Allocate n entries of pinned host memory that the GPU can access, from `much` bytes on page by page.

    The memory goes back to the system when it is no longer used, whereas CuPy's pool would keep it.
    """
    import cupy

    n_bytes = n * np.dtype(dtype).itemsize
    if n_bytes == 0:
        return np.empty(0, dtype)
    try:
        if n_bytes >= much:
            return np.asarray(_Registered(n, np.dtype(dtype)))
        return np.ndarray(n, dtype, cupy.cuda.PinnedMemoryPointer(cupy.cuda.PinnedMemory(n_bytes), 0))
    except (cupy.cuda.runtime.CUDARuntimeError, OSError) as error:
        raise MemoryError(f"{readable(n_bytes)} of host memory cannot be pinned: {error}") from error


class _Registered:
    """Pages from the system, pinned as long as an array over them is used."""

    def __init__(self, n: int, dtype: np.dtype) -> None:
        from cupy.cuda import runtime

        n_bytes = n * dtype.itemsize
        self._memory = mmap.mmap(-1, n_bytes)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self._memory.madvise(mmap.MADV_HUGEPAGE)
        pages = np.frombuffer(self._memory, np.uint8)

        def touch(begin: int) -> None:
            pages[begin : begin + _PIECE : _SMALL_PAGE] = 0

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(touch, range(0, n_bytes, _PIECE)))
        pointer = pages.ctypes.data
        runtime.hostRegister(pointer, n_bytes, 0)
        weakref.finalize(self, _release, pointer).atexit = False
        self.__array_interface__ = {
            "data": (pointer, False), "shape": (n,), "typestr": dtype.str, "version": 3,
        }  # fmt: skip


def _release(pointer: int) -> None:
    from cupy.cuda import runtime

    runtime.deviceSynchronize()  # the device may still be reading there
    runtime.hostUnregister(pointer)
