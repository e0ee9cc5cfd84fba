"""Launches over a page in a slot: its columns are unpacked, its rows listed, gathered over and applied.

A page comes to the same slot in every sweep, where only the messages and the counters are others.  Everything
else that its launches take is therefore prepared once: views of arrays, and arguments in CuPy's form, would
take the host longer than the link takes for a small page.

The values that pages of an asynchronous run have computed, on their way to a checkpoint.

docs/systems.md, G18, has the requirement.

The copy of a page's values follows its computation on the stream of its slot.  The host records them once the
slot is free, and before another page is launched on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import PreparedGather
from rapids_trav.engines.cuda.programs.state import Edges, ProgramState
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.buffers import Slot, shifted, to_host
from rapids_trav.engines.cuda.stream.packing import prepared_unpack
from rapids_trav.engines.cuda.stream.page_lists import PageLists
from rapids_trav.engines.cuda.stream.plan import StreamPlan


class PageLaunches(NamedTuple):
    """The launches over a page: those before the rows are gathered over, and that of the gather.

    `gather` is None if the page has no rows, or is gathered over by shards, with `edges`.
    """

    before: tuple[Callable[[], None], ...]
    edges: Edges
    gather: PreparedGather | None


class PageGather:
    """The launches over all pages of a run.

    Parameters
    ----------
    shards : published.garaph.shard_gather.PageShards or None
    in_place : (int, int or None)
        Addresses of edge 0's column and weight for pages that are read where they are stored.
    """

    def __init__(
        self,
        state: ProgramState,
        plan: StreamPlan,
        lists: PageLists,
        shards: Any,
        in_place: Edges,
    ) -> None:
        self._state, self._plan, self._lists, self._shards = state, plan, lists, shards
        self._in_place = in_place
        self._column, self._weights = state.view.into.column_indices.dtype, state.view.weights
        self._unpacking = load("packed.cu", 8 * self._column.itemsize)
        self._prepared: dict[tuple[int, int, bool, bool], PageLaunches] = {}

    def launch(self, page: int, slot: Slot, home: Array, read: bool, marks: Array | None, row: Array) -> None:
        """Gather over a page at the marked rows, or at all, on the current stream.

        Parameters
        ----------
        home : uint8 array
            Memory that holds the page's edges, that of the slot or the page's own.
        read : bool
            Whether the edges are read where they are stored instead.
        row : array
            Counters of the iteration.
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
        n_threads = self._lists.n_threads(page)
        gather = self._state.prepared_gather(lists, self._lists.hubs(page), n_threads, edges, marks)
        return PageLaunches(tuple(before), edges, gather)

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
    """The values of pages in progress on their way to `record`.

    Parameters
    ----------
    plan : StreamPlan
    values : array, (n,)
        On the device; a page writes those of its own rows.
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
