"""How the CPU engine compiles its kernels: Numba, without the interpreter lock, kept on disk.

Kernels take a range `begin, end` and are plain loops; `Team` runs ranges on several Python threads at once.
This replaces Numba's own `parallel=True`: it compiles several times faster, a narrow BFS level pays nothing
for it, and any number of Python threads may call the engine at the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numba

PIECES_PER_THREAD = 8


def kernel(function: Callable) -> Callable:
    """Compile `function` at its first call; later processes load it from Numba's cache folder."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written
        return numba.njit(**options)(function)


class Team:
    """The threads of one question, started when a step is first wide enough to share.

    The size is `NUMBA_NUM_THREADS`, by default the number of cores that the process may use.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or numba.config.NUMBA_NUM_THREADS
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, function: Callable, n_items: int, *arguments: Any, grain: int) -> list:
        """Call `function(*arguments, begin, end)` for ranges that cover `n_items`.

        Gives the results in any order.  No range is shorter than `grain` items unless it is the only one.
        A thread takes the next range when it has finished one, so unequal ranges balance out.
        """
        pieces = min(PIECES_PER_THREAD * self.size, n_items // grain)
        if pieces <= 1 or self.size == 1:
            return [function(*arguments, 0, n_items)]
        ranges = deque((n_items * i // pieces, n_items * (i + 1) // pieces) for i in range(pieces))
        results: list = []

        def work() -> None:
            while True:
                try:
                    begin, end = ranges.popleft()
                except IndexError:
                    return
                results.append(function(*arguments, begin, end))

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, thread_name_prefix="rapids_trav")
        helpers = []
        with suppress(RuntimeError):  # the system may start no more threads: those there are do it all
            for _ in range(min(self.size, pieces) - 1):
                helpers.append(self._pool.submit(work))
        work()
        for helper in helpers:
            if not helper.cancel():
                helper.result()
        return results
