"""The transfers of an iteration: counted, reported as pages finish, and timed by events if traced."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import cupy

from rapids_trav.engines.cuda.stream.plan import hidden_share
from rapids_trav.engines.runs import Moved, PageSpan, RunOptions

Span = tuple[cupy.cuda.Event, cupy.cuda.Event]  # the events at its start and its end


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
