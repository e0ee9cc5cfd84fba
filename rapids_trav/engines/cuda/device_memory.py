"""Device memory for one task: the allocator that cuDF uses, and errors that name the task.

CuPy is imported when a task begins, not with this module.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType


class device_memory:
    """Allocate as cuDF does inside the block; if memory runs out, say that `task` needs `n_bytes`.

    A small question enters half a dozen of these, and a generator's would take three times as long.
    """

    def __init__(self, task: str, n_bytes: int) -> None:
        self._task, self._n_bytes = task, n_bytes
        self._allocator: AbstractContextManager

    def __enter__(self) -> None:
        from rapids_trav.engines.cuda.runtime import memory

        self._allocator = memory.rapids_allocator()
        self._allocator.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._allocator.__exit__(kind, error, traceback)
        if isinstance(error, MemoryError):
            from rapids_trav.engines.cuda.runtime import memory

            with memory.saying_what_is_needed(self._task, self._n_bytes):
                raise error
