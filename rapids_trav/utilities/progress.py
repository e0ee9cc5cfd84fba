"""Progress of a call: what is done of what, on a line of the terminal or to a function of the caller's.

Code that works for long calls `report`; it reaches the call that `shown` surrounds, if that wants to know.
`PhaseTimes` measures the seconds of its phases.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rapids_trav.errors import TravError, written
from rapids_trav.utilities.sizes import readable

if TYPE_CHECKING:
    from rich.console import Console

Tell: TypeAlias = Callable[[int, int | None, str], object]  # takes what is done, of how much, and the unit
ProgressOption: TypeAlias = bool | Tell
OnPage: TypeAlias = Callable[[int, int], None]


class Told(NamedTuple):
    """Functions that take what is done, of how much, the unit and a note; and pages and bytes."""

    tell: Callable[[int, int | None, str, str], object]
    on_page: OnPage


_told: ContextVar[Told | None] = ContextVar("rapids_trav_progress", default=None)


class PageProgress:
    """A line on a terminal or in a notebook, with what is done and the pages, bytes and speed of a stream."""

    def __init__(self, task: str, screen: Console) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # takes a moment

        self.pages = self.bytes = 0
        self._done = ""
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

    def tell(self, done: int, total: int | None, unit: str, note: str = "") -> None:
        """Show what is done of how much."""
        of = "" if total is None else f" of {total:,}"
        amounts = (readable(done), "" if total is None else f" of {readable(total)}")
        self._done = "".join(amounts) if unit == "bytes" else f"{done:,}{of} {unit}"
        self._done += f", {note}" if note else ""
        self._show()

    def on_page(self, pages: int, n_bytes: int) -> None:
        """Add pages and bytes that were streamed since the last call."""
        with self._lock:
            self.pages += pages
            self.bytes += n_bytes
            self._show()

    def _show(self) -> None:
        parts = [self._done] if self._done else []
        if self.pages:
            speed = self.bytes / max(time.perf_counter() - self._start, 1e-6)
            streamed = f"{self.pages:,} page{'' if self.pages == 1 else 's'}, {readable(self.bytes)}"
            parts.append(f"{streamed}, {readable(int(speed))}/s")
        self._bar.update(self._task, said="; ".join(parts))


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
    """Refuse what is neither True nor False nor a function of three arguments."""
    if not isinstance(wanted, (bool, np.bool_)) and not _takes_three(wanted):
        raise TravError(
            f"progress={written(wanted)} is neither True nor False: give one of them, or a function of what "
            f"is done, of how much (or None) and the unit."
        )


def _takes_three(function: object) -> bool:
    if not callable(function) or isinstance(function, type):
        return False
    try:
        inspect.signature(function).bind(0, None, "")
    except TypeError:
        return False
    except ValueError:  # a function in C may not tell its arguments
        pass
    return True


def report(done: int, total: int | None, unit: str, note: str = "") -> None:
    """Tell the surrounding call, if it wants to know, what is done of how much; a line shows the note."""
    if (telling := _told.get()) is not None:
        telling.tell(int(done), None if total is None else int(total), unit, note)


def reporter() -> Callable[[int, int | None, str], None]:
    """Return `report` for the call that surrounds this one, to be called in any thread."""
    context = copy_context()
    return lambda done, total, unit: context.run(report, done, total, unit)


def listening() -> bool:
    """Return whether the surrounding call wants to know what is done."""
    return _told.get() is not None


def streamed() -> OnPage | None:
    """Return the function that takes the pages and bytes streamed since its last call, if one is wanted."""
    return None if (telling := _told.get()) is None else telling.on_page


@contextmanager
def told_to(told: Told) -> Iterator[None]:
    """Hand over what is reported inside the block."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def part_of(first: int, total: int, unit: str) -> Iterator[None]:
    """Let what is reported in this unit inside the block count from `first`, of `total`."""
    outer = _told.get()
    if outer is None:
        yield
        return

    def tell(done: int, of: int | None, found: str, note: str) -> None:
        outer.tell(*((first + done, total) if found == unit else (done, of)), found, note)

    with told_to(Told(tell, outer.on_page)):
        yield


@contextmanager
def opened(task: str, wanted: ProgressOption) -> Iterator[Told | None]:
    """Yield what shows or tells progress: a line on standard error, a function of the caller's, or None."""
    check_progress(wanted)
    if callable(wanted):
        yield Told(lambda done, total, unit, note: wanted(done, total, unit), Pages(wanted).on_page)
    elif wanted:
        from rich.console import Console

        with PageProgress(task, Console(stderr=True)) as line:
            yield Told(line.tell, line.on_page)
    else:
        yield None


@contextmanager
def shown(task: str, wanted: ProgressOption) -> Iterator[None]:
    """Show or tell what is reported inside the block."""
    if wanted is False:
        yield
        return
    with opened(task, wanted) as told:
        if told is None:
            yield
            return
        with told_to(told):
            yield


class PhaseTimes:
    """Seconds by phase; `synchronize` waits for the device, so each phase is charged for its own work."""

    def __init__(self, synchronize: Callable[[], None]) -> None:
        self._synchronize = synchronize
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._synchronize()
        self.seconds[name] = time.perf_counter() - start
