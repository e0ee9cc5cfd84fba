"""Progress of a call: what is done of what, on a line of the terminal or to a function of the caller's.

Code that works for long calls `report`; it reaches the call that `shown` surrounds, if that wants to know.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rapids_trav.errors import TravError, written
from rapids_trav.utilities.sizes import readable

if TYPE_CHECKING:
    from rich.console import Console

Tell: TypeAlias = Callable[[int, int | None, str], object]  # called with what is done, of how much, and the unit
ProgressOption: TypeAlias = bool | Tell
_told: ContextVar[Tell | None] = ContextVar("rapids_trav_progress", default=None)


class PageProgress:
    """A line on a terminal or in a notebook, with what is done and the pages, bytes and speed of a stream."""

    def __init__(self, task: str, screen: Console) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # takes a moment

        self.pages = self.bytes = 0
        self._lock = threading.Lock()  # pages may come from several threads
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[said]}"),
            console=screen,
            transient=True,
            disable=not (screen.is_terminal or screen.is_jupyter),
        )
        self._task = self._bar.add_task(task, total=None, said="")
        self._start = 0.0

    def __enter__(self) -> PageProgress:
        self._bar.start()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def tell(self, done: int, total: int | None, unit: str) -> None:
        """Show what is done of how much."""
        if unit == "pages":  # `on_page` shows them with their bytes
            return
        of = "" if total is None else f" of {total:,}"
        self._bar.update(self._task, said=f"{done:,}{of} {unit}")

    def on_page(self, pages: int, n_bytes: int) -> None:
        """Add pages and bytes that were streamed since the last call."""
        with self._lock:
            self.pages += pages
            self.bytes += n_bytes
            speed = self.bytes / max(time.perf_counter() - self._start, 1e-6)
            streamed = f"{self.pages:,} page{'' if self.pages == 1 else 's'}, {readable(self.bytes)}"
            self._bar.update(self._task, said=f"{streamed}, {readable(int(speed))}/s")


class Pages:
    """Counts pages for a function of the caller's."""

    def __init__(self, tell: Tell) -> None:
        self._pages = 0
        self._lock = threading.Lock()
        self._tell = tell

    def on_page(self, pages: int, n_bytes: int) -> None:
        with self._lock:
            self._pages += pages
            self._tell(self._pages, None, "pages")


def check_progress(wanted: object) -> None:
    """Refuse what is neither True nor False nor a function."""
    if not isinstance(wanted, (bool, np.bool_)) and not callable(wanted):
        raise TravError(
            f"progress={written(wanted)} is neither True nor False: give one of them, or a function of what "
            f"is done, of how much (or None) and the unit."
        )


def report(done: int, total: int | None, unit: str) -> None:
    """Tell the surrounding call, if it wants to know, that `done` of `total` are done."""
    if (tell := _told.get()) is not None:
        tell(int(done), None if total is None else int(total), unit)


@contextmanager
def telling(tell: Tell | None) -> Iterator[None]:
    """Let `report` reach a function inside the block, or nothing."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def shown(task: str, wanted: ProgressOption) -> Iterator[Callable[[int, int], None] | None]:
    """Show or tell what is reported inside the block; yield the function that takes streamed pages, or None.

    A function of the caller's, or True for a line on standard error.
    """
    check_progress(wanted)
    if callable(wanted):
        with telling(wanted):
            yield Pages(wanted).on_page
    elif wanted:
        from rich.console import Console

        with PageProgress(task, Console(stderr=True)) as line, telling(line.tell):
            yield line.on_page
    else:
        yield None
