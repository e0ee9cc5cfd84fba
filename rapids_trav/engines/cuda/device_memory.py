"""Device memory for one task: the allocator that cuDF uses, and errors that name the task.

CuPy is imported when a task begins, not with this module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType, TracebackType
from typing import TypeVar, cast

from rapids_trav.errors import TravMemoryError

Function = TypeVar("Function", bound=Callable[..., object])


class device_memory:
    """Allocate as cuDF does inside the block; if memory runs out, say that `task` needs `n_bytes`.

    These may be returned by a function, which is called only then.  A small question enters half a dozen of
    these contexts, and a generator's would take three times as long.
    """

    def __init__(self, task: str, n_bytes: int | Callable[[], int]) -> None:
        self._task, self._n_bytes = task, n_bytes
        self._allocator: AbstractContextManager

    def __enter__(self) -> None:
        self._allocator = _memory().rapids_allocator()
        self._allocator.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._allocator.__exit__(kind, error, traceback)
        if isinstance(error, MemoryError) and not isinstance(error, TravMemoryError):
            n_bytes = self._n_bytes() if callable(self._n_bytes) else self._n_bytes
            raise _memory().shortage(self._task, n_bytes) from error


def allocating(task: str, n_bytes: Callable[..., int]) -> Callable[[Function], Function]:
    """Let a function allocate as inside `device_memory`; `n_bytes` takes its positional arguments."""

    def decorated(function: Function) -> Function:
        @functools.wraps(function)
        def allocated(*given: object, **named: object) -> object:
            with device_memory(task, lambda: n_bytes(*given)):
                return function(*given, **named)

        return cast(Function, allocated)

    return decorated


@functools.cache  # an import statement takes ten times as long, even of a module that is loaded
def _memory() -> ModuleType:
    from rapids_trav.engines.cuda.runtime import memory

    return memory
