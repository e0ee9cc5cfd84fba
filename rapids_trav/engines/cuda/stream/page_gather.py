"""Launches over a page in a slot: its columns are unpacked, its rows listed, gathered over and applied.

A page comes to the same slot in every sweep, where only the messages and the counters are others.  Everything
else that its launches take is therefore prepared once: views of arrays, and arguments in CuPy's form, would
take the host longer than the link takes for a small page.

The rows of a page are sorted into bins for `gather_rows` (`row_gather.py`).  Their number in each bin is
counted once; the lists themselves are made on the page's stream and in its buffer, and the host does not wait
for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import Lists, RowLists
from rapids_trav.engines.cuda.programs.state import Edges, PreparedGather, ProgramState
from rapids_trav.engines.cuda.runtime.loader import BLOCK, load, load_for, most_blocks
from rapids_trav.engines.cuda.runtime.memory import shifted, to_host
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.packing import prepared_unpack
from rapids_trav.engines.cuda.stream.plan import StreamPlan
from rapids_trav.engines.cuda.stream.transfers import Slot

_MOST_ROWS_OF_BLOCKS = 65535


class PageLists(RowLists):
    """Lists of the rows of each page; `room` is memory with an entry for each row of the longest."""

    def __init__(self, state: ProgramState, plan: StreamPlan, room: Array) -> None:
        into = state.view.into
        super().__init__(state.rows_kernels, into.row_offsets, plan.firsts, state.dtype, room)
        self._pages_kernels = load_for("pages.cu", into)
        self._n_pages, self._longest = plan.n_pages, int(np.diff(plan.firsts).max(initial=0))
        self._firsts_on_device = cupy.asarray(plan.firsts)
        self._marked = cupy.zeros((plan.n_pages, 2), np.uint64)

    def prepared(self, page: int, room: Array, marks: Array | None) -> tuple[Lists, Callable[[], None]]:
        """Return a page's lists in `room`, and the launch that makes them of the marked rows (None: all)."""
        lists = self.lists(page, room, self._sizes[page])
        return lists, self.listing(page, marks, None, room, lists.sizes)

    def marked(self, marks: Array) -> np.ndarray:
        """Return the marked rows of each page, and their edges, (k, 2); wait for them."""
        self._marked.fill(0)
        if k := self._n_pages:
            wide = max(1, min(-(-self._longest // BLOCK), most_blocks() // k))
            self._pages_kernels.launch_grid(
                "count_pages", (wide, min(k, _MOST_ROWS_OF_BLOCKS)), self._row_offsets,
                self._firsts_on_device, k, marks, self._marked,
            )  # fmt: skip
        return self._marked.get().astype(np.int64)


class PageLaunches(NamedTuple):
    """The launches over a page: those before the rows are gathered over, and that of the gather.

    `gather` is None if the page has no rows, or is gathered over by shards, with `edges`.
    """

    before: tuple[Callable[[], None], ...]
    edges: Edges
    gather: PreparedGather | None


class PageGather:
    """The launches over all pages of a run, by `shards` (`published.garaph.shard_gather`) if there are any.

    `in_place` are the addresses of edge 0's column and weight for pages that are read where they are stored.
    """

    def __init__(
        self, state: ProgramState, plan: StreamPlan, lists: PageLists, shards: Any, in_place: Edges
    ) -> None:
        self._state, self._plan, self._lists, self._shards = state, plan, lists, shards
        self._in_place = in_place
        self._column, self._weights = state.view.into.column_indices.dtype, state.view.weights
        self._unpacking = load("packed.cu", 8 * self._column.itemsize)
        self._prepared: dict[tuple[int, int, bool, bool], PageLaunches] = {}

    def launch(self, page: int, slot: Slot, home: Array, read: bool, marks: Array | None, row: Array) -> None:
        """Gather over a page at the marked rows, or at all, on the current stream, and count in `row`.

        Its edges are in `home`, the memory of the slot or the page's own, or `read` where they are stored.
        """
        key = page, slot.number, read, marks is None
        launches = self._prepared.get(key)
        if launches is None:
            launches = self._prepared[key] = self._prepare(page, slot, home, read, marks)
        for launch in launches.before:
            launch()
        if launches.gather is not None:
            self._state.repeat(launches.gather, row)
        elif self._shards is not None and marks is None:
            self._shards.gather(page, launches.edges, slot.memory, row)

    def _prepare(self, page: int, slot: Slot, home: Array, read: bool, marks: Array | None) -> PageLaunches:
        edges = self._in_place if read else self._edges(page, slot, home)
        before = []
        (first, after), n_edges = self._plan.rows(page), self._plan.n_edges(page)
        if self._plan.packed is not None and not read and n_edges:
            starts, words, _ = self._plan.places(page, home is not slot.memory)
            columns = self._column_zero(page, slot.memory)
            before.append(
                prepared_unpack(self._unpacking, home[starts:], home[words:], self._plan.edges(page), columns)
            )
        if after == first or (self._shards is not None and marks is None):
            return PageLaunches(tuple(before), edges, None)
        begin, vertex = self._plan.layouts[page].rows, self._state.vertex
        room = slot.memory[begin : begin + (after - first) * vertex.itemsize].view(vertex)
        lists, make = self._lists.prepared(page, room, marks)
        before.append(make)
        return PageLaunches(tuple(before), edges, self._state.prepared_gather(lists, edges, marks))

    def _edges(self, page: int, slot: Slot, home: Array) -> Edges:
        """Return the addresses of edge 0's column and weight for a page that was copied to `home`.

        Packed columns are unpacked into the slot.
        """
        columns = self._column_zero(page, home if self._plan.packed is None else slot.memory)
        if self._weights is None:
            return columns, None
        *_, begin = self._plan.places(page, home is not slot.memory)
        return columns, shifted(home, begin, self._weights.dtype, self._plan.edges(page)[0])

    def _column_zero(self, page: int, memory: Array) -> int:
        """Return the address of edge 0's column, such that the page's columns begin at that of `memory`."""
        return shifted(memory, 0, self._column, self._plan.edges(page)[0])


Record = Callable[[int, Array], None]  # as `RunOptions.record_page`


class PageValues:
    """The values that pages of an asynchronous run have computed, on their way to a checkpoint (G18).

    The copy of a page's values follows its computation on the stream of its slot.  The host records them once
    the slot is free, and before another page is launched on it.
    """

    def __init__(self, record: Record, plan: StreamPlan, values: Array) -> None:
        self._record, self._plan, self._values = record, plan, values
        self._on_host: np.ndarray = empty_pinned(len(values), values.dtype)
        self._coming: deque[tuple[int, cupy.cuda.Event]] = deque()

    def send(self, page: int, slot: Slot) -> None:
        """Copy what a page has computed, on the stream of its slot."""
        rows = slice(*self._plan.rows(page))
        to_host(self._on_host[rows], self._values[rows], slot.stream)

    def launched(self, page: int, slot: Slot) -> None:
        """Note a page whose copy ends when its slot is free, and record the one that takes the next slot."""
        self._coming.append((page, slot.free))
        self.record_until(self._plan.n_slots - 1)

    def record_until(self, n_left: int) -> None:
        """Wait for pages, and record them, until `n_left` are in progress."""
        while len(self._coming) > n_left:
            page, copied = self._coming.popleft()
            copied.synchronize()
            first, after = self._plan.rows(page)
            self._record(first, self._on_host[first:after])
