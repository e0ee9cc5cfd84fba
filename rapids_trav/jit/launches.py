"""Counts of kernel launches, to show that one launch does the work of many levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_counted: ContextVar[Counter[str] | None] = ContextVar("rapids_trav_launches", default=None)


@contextmanager
def count_launches() -> Iterator[Counter[str]]:
    """Count the launches inside the block, by kernel name.

    Only the engines' own kernels count, not those of CuPy or NumPy, and only launches from the thread that
    entered the block.  On the CPU a launch is a step of a search: a compiled function that is called once, or
    once for each range of a team's work.
    """
    counts: Counter[str] = Counter()
    token = _counted.set(counts)
    try:
        yield counts
    finally:
        _counted.reset(token)


def launched(name: str) -> None:
    """Count a launch of the kernel `name`, if the thread is inside `count_launches`."""
    if (counts := _counted.get()) is not None:
        counts[name] += 1
