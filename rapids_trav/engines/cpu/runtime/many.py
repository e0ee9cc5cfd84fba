"""Searches from many sources, on all threads, that a signal ends and whose progress can be shown."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import numpy as np

from rapids_trav.jit.kernels import SHORT, Threads
from rapids_trav.jit.launches import launched
from rapids_trav.utilities.progress import report

Result = TypeVar("Result")


class Watch:
    """What the threads of one question share: a word that ends them, and the number of sources done."""

    def __init__(self, total: int, unit: str) -> None:
        self.stop = np.zeros(1, np.int64)  # kernels look at it, and end once it is not 0
        self._total, self._unit = total, unit
        self._done = 0
        self._lock = Lock()

    @property
    def stopped(self) -> bool:
        return bool(self.stop[0])

    def done(self, n: int) -> None:
        """Count `n` more sources."""
        with self._lock:
            self._done += n

    def report(self) -> None:
        report(self._done, self._total, self._unit)


def search_all(
    function: Callable[[int, int], Result],
    n_items: int,
    watch: Watch,
    work: int,
    at_once: int | None = None,
    n_parts: int | None = None,
) -> list[Result]:
    """Call `function(begin, end)` for equal parts of the items; results in order.

    There are `n_parts`, by default one for each thread, of which at most `at_once` have some.  The calling
    thread takes part only in short `work`, counted in edges and vertices.
    """
    launched(function.__name__)
    with Threads() as team:
        if work > SHORT:
            return team.run_aside(function, n_items, watch.stop, at_once, watch.report, n_parts)
        results = team.run_parts(function, n_items, at_once)
        watch.report()
        return results
