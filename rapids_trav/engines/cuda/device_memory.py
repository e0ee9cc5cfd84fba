"""Device memory for one task: the allocator that cuDF uses, and errors that name the task.

CuPy is imported when a task begins, not with this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def device_memory(task: str, n_bytes: int) -> Iterator[None]:
    """Allocate as cuDF does inside the block; if memory runs out, say that `task` needs `n_bytes`."""
    from rapids_trav.engines.cuda.runtime import memory

    with memory.rapids_allocator(), memory.saying_what_is_needed(task, n_bytes):
        yield
