"""An allocation that fails is told to the caller by one kind of error, whichever library it failed in.

Memory runs out in many places, of which some have an exception of their own: NumPy and CuPy raise kinds of
`MemoryError`, and so do RMM and cuDF for an allocation; the CUDA runtime, its driver and Thrust raise a
`RuntimeError` that carries a code or the words.  Whatever it was, a caller gets a `TravMemoryError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from rapids_trav.errors import TravMemoryError, first_line
from rapids_trav.utilities.sizes import readable

CUDA_OUT_OF_MEMORY = 2  # the code of the runtime and of the driver
WORDS = ("out_of_memory", "out of memory", "bad_alloc", "bad allocation", "cudaErrorMemoryAllocation")


@runtime_checkable
class HasFreeBytes(Protocol):
    """An engine, which knows how much memory is left."""

    def free_bytes(self) -> int:
        """Return the bytes of its memory that can be had."""


@contextmanager
def telling_of_memory(task: str, engine: object) -> Iterator[None]:
    """Raise a `TravMemoryError` for an allocation that fails, whichever library tells of it.

    `engine` is one or, before it is chosen, its name.
    """
    try:
        yield
    except TravMemoryError:
        raise
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        place, remedy = "memory", "close what is no longer needed"
        if getattr(engine, "name", engine) == "cuda":
            place, remedy = "GPU memory", "free frames that are no longer needed or choose engine='cpu'"
        raise TravMemoryError(
            f"{task} ran out of {place} ({first_line(error)}){_left(engine)}: {remedy}, ask for less at a "
            f"time, or give a memory_limit."
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception says that an allocation has failed."""
    if isinstance(error, MemoryError):
        return True
    if getattr(error, "status", None) == CUDA_OUT_OF_MEMORY:
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in WORDS)


def _left(engine: object) -> str:
    """Return how much memory is left, if the engine can be asked."""
    try:
        return f", with {readable(engine.free_bytes())} left" if isinstance(engine, HasFreeBytes) else ""
    except (MemoryError, RuntimeError, OSError):
        return ""
