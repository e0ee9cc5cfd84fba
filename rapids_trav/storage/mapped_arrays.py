"""Memory-mapped arrays: in the files of a saved graph, and in temporary files of a graph larger than memory.

A mapped array is used like any other NumPy array.  The operating system reads the pages that are accessed,
and drops them again when memory is short.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.utilities.atomic_files import open_plain
from rapids_trav.utilities.sizes import readable

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # the name is new in Python 3.12; Linux's value


def open_array(path: Path) -> np.ndarray:
    """Map the array in a .npy file; writing to the array does not change the file.

    The array is writable because kernels are compiled for writable arrays.  A write goes to a private copy of
    the page.
    """
    with open_plain(path) as file:
        shape, dtype = _header(file)
        start = file.tell()
        size = os.fstat(file.fileno()).st_size
        if dtype.kind not in "iuf" or dtype.itemsize not in (4, 8):
            raise ValueError("it does not hold numbers of 32 or 64 bits")
        if len(shape) != 1 or size != start + shape[0] * dtype.itemsize:
            raise ValueError("its header does not fit its size")
        if start % dtype.itemsize:
            raise ValueError("its numbers are not aligned")
        if shape[0] == 0:
            return np.empty(0, dtype)
        how = {"flags": mmap.MAP_PRIVATE | _NO_RESERVE, "prot": mmap.PROT_READ | mmap.PROT_WRITE}
        return np.frombuffer(mmap.mmap(file.fileno(), size, **how), dtype, shape[0], start)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    try:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            return shape, dtype
    except Exception:  # NumPy parses the header as Python, and the errors of that quote its bytes
        raise ValueError("its header cannot be read") from None
    raise ValueError("its header is not of version 1.0")


def preallocate(file: IO[bytes], n_bytes: int) -> None:
    """Extend a file to `n_bytes` and reserve the disk space: without it, writes to a map could crash."""
    if n_bytes:
        os.posix_fallocate(file.fileno(), 0, n_bytes)


def place_of(array: Array) -> str:
    """Return the place of an array: "device", "host" or "disk" (mapped from a file)."""
    if not isinstance(array, np.ndarray):
        return "host" if _is_over_host_memory(array) else "device"
    home: object = array
    while home is not None and not isinstance(home, mmap.mmap):
        home = home.obj if isinstance(home, memoryview) else getattr(home, "base", None)
    return "host" if home is None else "disk"


def _is_over_host_memory(array: Array) -> bool:
    """Return whether a CuPy array is a view of host memory."""
    from cupy.cuda import runtime

    of_host = 1  # cudaMemoryTypeHost
    return array.nbytes > 0 and runtime.pointerGetAttributes(array.data.ptr).type == of_host


class Scratch:
    """Factory of arrays that are too large for memory, in unnamed files that leave nothing behind.

    They are in `folder`, by default the system's folder for temporary files.
    """

    def __init__(self, folder: str | os.PathLike | None = None) -> None:
        self.folder = tempfile.gettempdir() if folder is None else os.fspath(folder)

    def on_disk(self, n: int, dtype: npt.DTypeLike, what: str) -> np.ndarray:
        """Return an array of n entries in a file that is deleted when the array is no longer used."""
        dtype = np.dtype(dtype)
        if n == 0:
            return np.empty(0, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                preallocate(file, n * dtype.itemsize)
                return np.frombuffer(mmap.mmap(file.fileno(), n * dtype.itemsize), dtype)
        except OSError as error:
            if not Path(self.folder).is_dir():
                raise TravError(
                    f"The folder {self.folder} for {what} does not exist: create it, or name another folder "
                    f"with spill=."
                ) from error
            raise TravMemoryError(
                f"{readable(n * dtype.itemsize)} for {what} cannot be reserved in {self.folder} "
                f"({error.strerror or error}): free space there, name another folder with spill=, or give a "
                f"larger memory_limit."
            ) from error

    def spare(self, n: int, dtype: npt.DTypeLike, what: str, most_bytes: int) -> np.ndarray:
        """Return an array of n entries: in memory up to `most_bytes`, else in such a file."""
        dtype = np.dtype(dtype)
        return np.empty(n, dtype) if n * dtype.itemsize <= most_bytes else self.on_disk(n, dtype, what)

    def copied(self, array: Array, what: str) -> np.ndarray:
        """Return a copy of an array in such a file."""
        copy = self.on_disk(len(array), array.dtype, what)
        copy[:] = array
        return copy
