"""Device memory: the allocator that cuDF uses, and errors that say what was needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import cupy

from rapids_trav.errors import TravMemoryError


def rapids_allocator() -> AbstractContextManager:
    """CuPy allocates from RMM inside, if RMM is installed, whether or not cuDF has told it to."""
    try:
        from rmm.allocators.cupy import rmm_cupy_allocator
    except ImportError:
        return nullcontext()
    return cupy.cuda.using_allocator(rmm_cupy_allocator)


@contextmanager
def saying_what_is_needed(task: str, n_bytes: int) -> Iterator[None]:
    """Turns an allocator's error into one that names the bytes and the remedy."""
    try:
        yield
    except TravMemoryError:
        raise
    except MemoryError as error:
        free, total = cupy.cuda.runtime.memGetInfo()
        raise TravMemoryError(
            f"{task} needs about {_readable(n_bytes)} of GPU memory, and {_readable(free)} of the device's "
            f"{_readable(total)} are free (memory pools and other arrays hold the rest): free frames that "
            f"are no longer needed, or choose engine='cpu'"
        ) from error


def _readable(n_bytes: int) -> str:
    """Bytes in decimal units: 1500000 is "1.5 MB"."""
    size = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
