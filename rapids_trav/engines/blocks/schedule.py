"""The order in which blocks are loaded and read in place, for the executor of a CPU or a GPU.

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: an efficient dependency-aware
GPU-accelerated large-scale graph processing", ACM TACO 18(4), 2021 (docs/systems.md, L5 to L7, L9, L10).

1. Of the absent blocks that have waiting items, those where a load is cheaper than reading the waiting rows
   in place are loaded: first the one whose waiting value comes first in order.
2. The other ones are "rented": their rows are read where they are stored.
3. The run ends when nothing waits and nothing is listed; then nothing is being loaded either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.residency import ABSENT, Copy, Loading, Residency
from rapids_trav.engines.runs import BlockCounts, BlockSpan
from rapids_trav.programs.definition import Program


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


# Columns of the counts for each block: waiting items, and their edges; items in lists; items that became
# active since the host last looked; and the cost so far of reading its rows in place, in edges of a load.
WAITING, WAITING_EDGES, LISTED, ACTIVATED, SPENT, N_COUNTS = 0, 1, 2, 3, 4, 8
# Cost of an edge that is read in place on the CPU, in edges of a load.  With 5 % of the edges in memory, 2
# moves 0.6 to 0.8 of the bytes that 4 does on R-MAT 18, a road-like lattice and a shuffled path, and 1.1 on a
# grid; with 8 all but the grid move more.
PRICE = 2


class BlockSchedule:
    """The blocks in memory, those under way, and what waits for the others.

    `price` is the cost of an edge that is read where it is stored, in edges of a load; None: it cannot be.
    """

    def __init__(
        self,
        cut: Cut,
        program: Program,
        loader: Loading,
        timeline: Timeline | None,
        on_page: Callable[[int, int], None] | None,
        price: int | None = PRICE,
    ) -> None:
        self._cut, self._identity, self._price = cut, program.identity, price
        self.first = np.maximum if program.reducer == "max" else np.minimum
        self._loader, self._timeline, self._on_page = loader, timeline, on_page
        self._n_rows = np.maximum(cut.ends - cut.firsts, 1)
        self.residency = Residency(cut.n_blocks, cut.n_places)
        self.may_load = True  # whether another block could have been loaded when loads last began
        self.counts: Array = np.zeros((cut.n_blocks, N_COUNTS), np.int64)
        self.least: Array = np.full(cut.n_blocks, self._identity)  # of waiting values, the first in order

    @property
    def waits(self) -> bool:
        """Whether items wait for a block."""
        return bool(self.counts[:, WAITING].any())

    @property
    def is_loading(self) -> bool:
        return self._loader.n_coming > 0

    def has_waiting(self, block: int) -> bool:
        """Return whether items wait for a block."""
        return bool(self.counts[block, WAITING])

    def land(self, moved: Moving, wait: bool) -> int | None:
        """Return the block that has arrived and has its place now; None if there is none."""
        landed = self._loader.landed(wait)
        if landed is None:
            return None
        self.residency.land(landed.block, landed.place)
        self._show_residents()
        moved.loads += 1
        moved.loaded += landed.n_bytes
        if self._on_page is not None:
            self._on_page(1, landed.n_bytes)
        return landed.block

    def begin_loads(self) -> list[int]:
        """Start to load blocks, first the one whose waiting value comes first in order; return them."""
        most = self._loader.most - self._loader.n_coming
        self.may_load = most > 0
        begun: list[int] = []
        if most <= 0:
            return begun
        for block in self._in_order(np.flatnonzero(self._absent() & ~self._affordable()))[:most]:
            place = self.residency.room(lambda block: self.counts[block, LISTED] == 0)
            if place is None:
                self.may_load = False
                break
            self.counts[block, SPENT] = 0
            self.residency.begin(block)
            self._loader.begin(block, place)
            begun.append(block)
        if begun:
            self.may_load = self.may_load and len(begun) < most
            self._show_residents()
        return begun

    def _in_order(self, blocks: Array) -> list[int]:
        """Return blocks in the order of their first waiting values; equal ones stay in order."""
        least = self.least[blocks]
        if self.first is np.minimum:
            return blocks[np.argsort(least, kind="stable")].tolist()
        return blocks[::-1][np.argsort(least[::-1], kind="stable")][::-1].tolist()

    def rented(self) -> list[int]:
        """Return absent blocks whose waiting items are to be read in place now, and charge their cost."""
        blocks = np.flatnonzero(self._absent() & self._affordable())
        if self._price is not None:
            self.counts[blocks, SPENT] += self._price * self.counts[blocks, WAITING_EDGES]
        return blocks.tolist()

    def left_over(self) -> int | None:
        """Return the block used least of those to be loaded, if these are more than are loaded at once."""
        wanted = np.flatnonzero(self._absent() & ~self._affordable())
        if len(wanted) <= self._loader.most - self._loader.n_coming:
            return None
        return int(wanted[np.argmin(self.residency.frequency[wanted])])

    def entered(self, block: int) -> None:
        """Record that the waiting items of a block are listed now."""
        counts = self.counts
        counts[block, LISTED] += counts[block, WAITING]
        counts[block, WAITING] = counts[block, WAITING_EDGES] = 0
        self.least[block] = self._identity

    def used(self) -> None:
        """Count the items that became active in a launch as uses of their blocks."""
        self.residency.use(self.counts[:, ACTIVATED] / self._n_rows)
        self.counts[:, ACTIVATED] = 0

    def _absent(self) -> Array:
        """Return for each block whether it is absent and has waiting items."""
        return (self.residency.place == ABSENT) & (self.counts[:, WAITING] > 0)

    def _affordable(self) -> Array:
        """Return for each block whether reading its waiting rows in place stays below the cost of a load."""
        if self._price is None:
            return np.zeros(self._cut.n_blocks, bool)
        counts = self.counts
        return counts[:, SPENT] + self._price * counts[:, WAITING_EDGES] < self._cut.n_edges

    def _show_residents(self) -> None:
        if self._timeline:
            self._timeline.holds([*self.residency.hot, *self.residency.rotating])


class Moving:
    """Counts of the current iteration so far."""

    def __init__(self, residency: Residency) -> None:
        self._residency = residency
        self._reloads, self._evictions = residency.reloads, residency.evictions
        self.loads = self.loaded = self.launches = self.rounds = self.pushed = self.rented = 0

    def counts(self, edge: int) -> BlockCounts:
        """Return the counts, for edges of `edge` bytes."""
        reloads = self._residency.reloads - self._reloads
        evictions = self._residency.evictions - self._evictions
        return BlockCounts(
            self.loads, self.loaded, self.rented * edge, reloads, evictions, self.launches, self.rounds
        )
