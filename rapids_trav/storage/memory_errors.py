"""Conversion of failed allocations of all libraries to `TravMemoryError`.

NumPy and CuPy raise subclasses of `MemoryError` if an allocation fails, and so do RMM and cuDF.  The CUDA
runtime, its driver and Thrust raise a `RuntimeError` with an error code or a message.  The caller gets a
`TravMemoryError` in all cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.engines.interface import Engine
from rapids_trav.errors import TravMemoryError, first_line
from rapids_trav.utilities.sizes import readable

CUDA_OUT_OF_MEMORY = 2  # error code of both the runtime and the driver
WORDS = ("out_of_memory", "out of memory", "bad_alloc", "bad allocation", "cudaErrorMemoryAllocation")


@contextmanager
def telling_of_memory(task: str, engine: Engine | str) -> Iterator[None]:
    """Raise a `TravMemoryError` if an allocation fails in a block, whichever library reports it.

    `engine` is the engine or, before it has been created, its name.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        raise as_memory_error(error, task, engine)  # noqa: B904 -- it is the error itself, or has its cause


def as_memory_error(error: Exception, task: str, engine: Engine | str) -> Exception:
    """Return the `TravMemoryError` for an allocation of `task` that failed; any other error as it is."""
    if isinstance(error, TravMemoryError) or not is_out_of_memory(error):
        return error
    place, remedy = "memory", "close what is no longer needed"
    if getattr(engine, "name", engine) == "cuda":
        place, remedy = "GPU memory", "free frames that are no longer needed or choose engine='cpu'"
    told = TravMemoryError(
        f"{task} ran out of {place} ({first_line(error)}){_left(engine)}: {remedy}, ask for less at a "
        f"time, or give a memory_limit."
    )
    told.__cause__ = error
    return told


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception stands for a failed allocation."""
    if isinstance(error, MemoryError):
        return True
    if getattr(error, "status", None) == CUDA_OUT_OF_MEMORY:
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in WORDS)


def _left(engine: Engine | str) -> str:
    """Return a phrase with the free memory; empty if the engine cannot report it."""
    try:
        return f", with {readable(engine.free_bytes())} left" if isinstance(engine, Engine) else ""
    except (MemoryError, RuntimeError, OSError):
        return ""
