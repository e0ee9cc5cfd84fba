"""Waiting for tasks from within a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def thread_for_others() -> Iterator[None]:
    """Let the worker run other tasks in this thread's place meanwhile, if a task runs the block.

    Dask's own `compute` does so, too.  Otherwise tasks that wait for others may occupy all threads.
    """
    from distributed import rejoin, secede

    try:
        secede()
    except (ValueError, KeyError):  # not in a task, or in one that has left already
        yield
        return
    try:
        yield
    finally:
        rejoin()
