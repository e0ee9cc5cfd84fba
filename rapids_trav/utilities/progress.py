"""Progress display of a run that streams its edges, in pages and bytes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rapids_trav.utilities.checks import flag
from rapids_trav.utilities.sizes import readable

if TYPE_CHECKING:
    from rich.console import Console


class PageProgress:
    """A line on a terminal or in a notebook with the pages and bytes of a run and their speed.

    `on_page` takes the pages and bytes streamed since the last call.
    """

    def __init__(self, task: str, screen: Console) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # takes a moment

        self.pages = self.bytes = 0
        self._lock = threading.Lock()  # pages may come from several threads
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[streamed]}"),
            console=screen,
            transient=True,
            disable=not (screen.is_terminal or screen.is_jupyter),
        )
        self._task = self._bar.add_task(task, total=None, streamed="")
        self._start = 0.0

    def __enter__(self) -> PageProgress:
        self._bar.start()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def on_page(self, pages: int, n_bytes: int) -> None:
        with self._lock:
            self.pages += pages
            self.bytes += n_bytes
            speed = self.bytes / max(time.perf_counter() - self._start, 1e-6)
            streamed = f"{self.pages:,} page{'' if self.pages == 1 else 's'}, {readable(self.bytes)}"
            self._bar.update(self._task, streamed=f"{streamed}, {readable(int(speed))}/s")


@contextmanager
def shown(task: str, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Yield the function that shows streamed pages on standard error, or None if `wanted` is false."""
    flag("progress", wanted)
    if not wanted:
        yield None
        return
    from rich.console import Console

    with PageProgress(task, Console(stderr=True)) as pages:
        yield pages.on_page
