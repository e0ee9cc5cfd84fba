"""The times at which blocks are loaded, stay in memory and are worked on, for a trace."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from time import perf_counter

from rapids_trav.engines.blocks.loading import Copy
from rapids_trav.engines.runs import BlockSpan


class Timeline:
    """Recorder of a run over blocks.

    Spans of work of one block that follow each other, launch after launch, are one span.  Work and stays
    that go on at the end of an iteration are cut there; a load counts where it ends.
    """

    def __init__(self) -> None:
        self._start = perf_counter()
        self._spans: deque[BlockSpan] = deque()  # the loader's thread appends to it
        self._resident: dict[int, float] = {}  # blocks in memory, and since when
        self._working: dict[int, tuple[float, float]] = {}  # spans of work that may be continued

    def now(self) -> float:
        """Return the milliseconds since the start of the run."""
        return 1e3 * (perf_counter() - self._start)

    def timed(self, copy: Copy) -> Copy:
        """Return a copy of a block that also records its time; it may run on another thread."""

        def copied(block: int, place: int) -> int:
            begin = self.now()
            n_bytes = copy(block, place)
            self.loaded(block, begin)
            return n_bytes

        return copied

    def loaded(self, block: int, begin: float) -> None:
        """Record a load that began at `begin` and ends now."""
        self._spans.append(BlockSpan(block, "load", begin, self.now()))

    def holds(self, blocks: Iterable[int]) -> None:
        """Record which blocks are in memory from now on."""
        now, held = self.now(), set(blocks)
        for block in self._resident.keys() - held:
            self._spans.append(BlockSpan(block, "stay", self._resident.pop(block), now))
        for block in held - self._resident.keys():
            self._resident[block] = now

    def worked(self, blocks: Iterable[int], begin: float) -> None:
        """Record that a launch, which began at `begin` and ends now, worked on these blocks."""
        now, before = self.now(), self._working
        self._working = {block: (before.pop(block, (begin, now))[0], now) for block in blocks}
        self._end_work(before)

    def _end_work(self, working: dict[int, tuple[float, float]]) -> None:
        self._spans.extend(BlockSpan(block, "work", *span) for block, span in working.items())

    def taken(self) -> tuple[BlockSpan, ...]:
        """Return the spans since the last call, in the order of their beginnings."""
        now = self.now()
        self._end_work(self._working)
        self._working = {}
        for block, begin in self._resident.items():
            self._spans.append(BlockSpan(block, "stay", begin, now))
            self._resident[block] = now
        spans = [self._spans.popleft() for _ in range(len(self._spans))]
        return tuple(sorted(spans, key=lambda span: (span.begin, span.block)))
