"""The transfers of a streamed run: where pages come from, the buffers that they are copied to, and a trace.

Edges that already are in pinned memory are copied from there.  Edges in files go through pinned buffers,
which threads fill in advance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.memory import Staging, host_address
from rapids_trav.engines.cuda.stream.plan import StreamPlan, hidden_share
from rapids_trav.engines.runs import Moved, PageSpan, RunOptions

KEPT_TOGETHER = 1 << 30  # bytes of pages in one allocation; larger ones fail if free memory is fragmented
Span = tuple[cupy.cuda.Event, cupy.cuda.Event]  # the events at its start and its end


@dataclass
class Slot:
    """A buffer for a page, and the stream that computes on it."""

    number: int
    memory: Array
    stream: cupy.cuda.Stream
    copied: cupy.cuda.Event  # recorded when its page has been copied
    free: cupy.cuda.Event  # recorded when its page is done

    @classmethod
    def of(cls, number: int, memory: Array) -> Slot:
        """Return a slot that is free."""
        copied, free = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
        return cls(number, memory, cupy.cuda.Stream(non_blocking=True), copied, free)


class Buffers:
    """Memory for pages."""

    def __init__(self, plan: StreamPlan) -> None:
        slots = cupy.empty((plan.n_slots, plan.slot_bytes), np.uint8)
        self.slots = [Slot.of(number, memory) for number, memory in enumerate(slots)]
        # The buffer of each page that stays; fewer than planned if the free memory is fragmented.
        self.kept: dict[int, Array] = {}
        for pages in plan.kept_together(KEPT_TOGETHER):
            sizes = [plan.layouts[page].kept_bytes for page in pages]
            try:
                memory = cupy.empty(sum(sizes), np.uint8)
            except MemoryError:
                break  # the others are streamed
            self.kept |= zip(pages, cupy.split(memory, np.cumsum(sizes)[:-1]), strict=True)

    def synchronize(self) -> None:
        for slot in self.slots:
            slot.stream.synchronize()


class Task(NamedTuple):
    """A page and how its edges are read: after a "copy", by a "read" in place, or from a "kept" copy."""

    page: int
    action: str


class Ready(NamedTuple):
    """A task whose edges can be copied: columns, packed or not, and weights if there are any."""

    task: Task
    parts: tuple[tuple[int, int], ...] = ()  # address and bytes of each
    n_bytes: int = 0  # of all parts
    copied: cupy.cuda.Event | None = (
        None  # recorded after the copy, if they are in a buffer that is used again
    )

    @classmethod
    def of(cls, task: Task, parts: Iterable[np.ndarray], copied: cupy.cuda.Event | None = None) -> Ready:
        """Return a task and the parts to copy; the caller holds their memory."""
        places = tuple((host_address(part), part.nbytes) for part in parts)
        return cls(task, places, sum(n_bytes for _, n_bytes in places), copied)


class Feed:
    """The pages of an adjacency."""

    def __init__(self, columns: Array, weights: Array | None, plan: StreamPlan) -> None:
        arrays = (columns,) if weights is None else (columns, weights)
        self._arrays = tuple(map(np.asarray, arrays))
        self._plan = plan
        self._copied_parts: dict[int, Ready] = {}  # of pages that are copied from where they are stored
        reachable = [over_host(array) is not None for array in self._arrays]
        self.reachable = all(reachable)  # kernels can read the edges where they are stored
        self._staging: Staging | None = None
        if not (self.reachable if plan.packed is None else all(reachable[1:])):
            n = plan.n_slots
            self._staging = Staging(n, plan.slot_bytes, n, "pages")
            self._copied = [cupy.cuda.Event(disable_timing=True) for _ in range(n)]

    @property
    def addresses(self) -> tuple[int, int | None]:
        """Addresses at which kernels read the columns and the weights, if they can."""
        columns, *weights = (array.ctypes.data for array in self._arrays)
        return columns, weights[0] if weights else None

    def close(self) -> None:
        if self._staging is not None:
            self._staging.close()

    def ahead(self, tasks: Iterable[Task]) -> Iterator[Ready]:
        """Yield the tasks in order, reading ahead as many as there are buffers."""
        staging = self._staging
        if staging is None:
            yield from map(self._stored, tasks)
            return
        reading: deque = deque()
        turn = 0
        for task in tasks:
            reading.append((task, turn, staging.submit(self._read, staging, task, turn)))
            turn = (turn + 1) % staging.n_buffers
            if len(reading) == staging.n_buffers:
                yield self._first_of(reading)
        while reading:
            yield self._first_of(reading)

    def _first_of(self, reading: deque) -> Ready:
        task, turn, future = reading.popleft()
        return Ready.of(task, future.result(), self._copied[turn])

    def _stored(self, task: Task) -> Ready:
        """Return a task with the parts of its page where they are stored."""
        if task.action != "copy":
            return Ready(task)
        if task.page not in self._copied_parts:
            self._copied_parts[task.page] = Ready.of(task, self._slices(task))
        return self._copied_parts[task.page]

    def _slices(self, task: Task) -> tuple[np.ndarray, ...]:
        if task.action != "copy":
            return ()
        first, last = self._plan.edges(task.page)
        columns, *weights = self._arrays
        packed = self._plan.packed
        own = (columns[first:last],) if packed is None else packed.page(first, last)
        return (*own, *(array[first:last] for array in weights))

    def _read(self, staging: Staging, task: Task, turn: int) -> list[np.ndarray]:
        """Read the parts of a page into a pinned buffer whose previous copy has finished."""
        self._copied[turn].synchronize()
        return staging.filled(turn, self._slices(task))


class UnderWay(NamedTuple):
    """A page that has been launched."""

    page: int
    n_bytes: int
    copy: Span | None
    computing: Span


class TransferTrace:
    """Recorder of the pages of an iteration."""

    def __init__(self, options: RunOptions) -> None:
        self._timed = options.trace
        self._on_page = options.on_page
        self._read_later = options.trace or options.on_page is not None  # events of pages that have ended
        self._waiting: deque[UnderWay] = deque()
        self._spans: list[UnderWay] = []
        self._start: cupy.cuda.Event = None
        self._pages = self._n_bytes = 0

    def mark(self, stream: cupy.cuda.Stream, known: cupy.cuda.Event | None = None) -> cupy.cuda.Event:
        """Record an event on a stream: `known` again, unless its last recording is still to be read."""
        if known is None or self._read_later:
            known = cupy.cuda.Event(disable_timing=not self._timed)
        known.record(stream)
        return known

    def mark_begin(self, stream: cupy.cuda.Stream) -> cupy.cuda.Event:
        """Record the start of a span, if spans are timed; otherwise return that of the iteration."""
        return self.mark(stream) if self._timed else self._start

    def restart(self, stream: cupy.cuda.Stream) -> cupy.cuda.Event:
        """Begin an iteration; return the event at its start."""
        self._waiting.clear()
        self._spans.clear()
        self._pages = self._n_bytes = 0
        self._start = self.mark(stream, self._start)
        return self._start

    def add(self, number: int, n_bytes: int, copy: Span | None, computing: Span) -> None:
        """Record the launch of a page for which `n_bytes` are moved."""
        page = UnderWay(number, n_bytes, copy, computing)
        if n_bytes:
            self._pages += 1
            self._n_bytes += n_bytes
            if self._on_page is not None:
                self._waiting.append(page)
                self._report(wait=False)
        if self._timed:
            self._spans.append(page)

    def _report(self, wait: bool) -> None:
        while self._waiting and (wait or self._waiting[0].computing[1].done):
            page = self._waiting.popleft()
            page.computing[1].synchronize()
            if self._on_page is not None:
                self._on_page(1, page.n_bytes)

    def report_rest(self) -> None:
        """Report the remaining pages to the caller, as they finish."""
        if self._on_page is not None:
            self._report(wait=True)

    def moved(self) -> Moved:
        """Return the sums of the iteration; everything launched must have finished."""
        if not self._spans:
            return Moved(self._pages, self._n_bytes, 0.0)
        spans = tuple(self._timed_span(page) for page in self._spans)
        copies = [span.copy for span in spans if span.copy is not None]
        overlap = hidden_share(copies, [span.computing for span in spans])
        return Moved(self._pages, self._n_bytes, overlap, spans)

    def _timed_span(self, page: UnderWay) -> PageSpan:
        copy = None if page.copy is None else self.times(page.copy)
        return PageSpan(page.page, copy, self.times(page.computing))

    def times(self, span: Span) -> tuple[float, float]:
        """Return the start and end of a span, in milliseconds from the start of the iteration."""
        begin, end = (cupy.cuda.get_elapsed_time(self._start, event) for event in span)
        return begin, end
