"""Storage of edges that are larger than the engine's memory (docs/systems.md, G4 and G5).

For the CPU, the arrays are memory-mapped files, which searches read like arrays in memory.  For a GPU, they
are in host memory that the GPU can access, or in files if host memory is short too.  Searches read them
there, except for the shortest rows, which are copied to the GPU as far as the budget allows.  Vertex programs
stream the edges page by page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, strengths
from rapids_trav.csr.packed import PackedHome
from rapids_trav.csr.pages import longest_row, plan_pages
from rapids_trav.engines.runs import GatherView, LinkView, Pages
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import OFFSET_BYTES, resident_rows_bytes
from rapids_trav.memory.model.search import Needed
from rapids_trav.storage.block_sizes import SEARCH, block_within, most_within, query_bytes
from rapids_trav.storage.in_memory import AdjacencySet, GraphEdges, InMemory
from rapids_trav.storage.mapped_arrays import place_of
from rapids_trav.storage.spilled_build import SpilledBuild
from rapids_trav.utilities.sizes import readable

STREAMS = 3
PUSHING = ("push", "edge", "frontier", "private")  # variants that never read the transposed adjacency


class PagedAdjacencySet(AdjacencySet):
    """The adjacencies of one set of edges, outside the engine's memory.

    Weights are built together with their adjacency, since to read the edges once more for them would need the
    room of a second adjacency.
    """

    def __init__(self, outside: SpilledBuild, n_vertices: int, edges: GraphEdges) -> None:
        super().__init__(outside, n_vertices, replace(edges, chunks=edges.weighted or edges.chunks))
        self._outside = outside
        self._packed: dict[str, PackedHome] = {}
        self._framed: dict[str, PackedHome] = {}

    def adjacency(self, name: str) -> Adjacency:
        name = name if self.directed else "forward"
        if self._outside.engine.place == "host":
            return getattr(self, name)
        return self._outside.search_rows.get(self, self._read_with(name), getattr(self, name))

    def _read_with(self, name: str) -> tuple[str, ...]:
        """Return the names of the adjacencies that a search along this one reads, its own name first."""
        other = {"forward": "backward", "backward": "forward"}.get(name)
        return (name, other) if other is not None and self.directed else (name,)

    @contextmanager
    def searching(self, direction: str, needed: Needed, variant: str, most: int, later: int) -> Iterator[int]:
        outside, n = self._outside, self.n_vertices
        budget, table = outside.budget, query_bytes(outside.engine.place, n)
        on_gpu, names = not table.host, self._read_with(self.into_and_out(direction)[1])
        if on_gpu and variant not in PUSHING:
            for name in names:  # builds them before the search takes its memory
                getattr(self, name)
        before = outside.search_rows.nbytes
        room = budget.free + before
        room //= 2 if on_gpu else 1  # half is for rows
        number = most_within(room - later, most, partial(needed, table))
        n_bytes, usual = needed(table, number), table.state
        rows = len(names) * resident_rows_bytes(n) if on_gpu else 0
        try:
            with budget.hold(n_bytes, SEARCH, lambda: max(rows, later)):
                try:
                    yield number
                finally:
                    if not on_gpu:
                        for name in names:
                            getattr(self, name).forget_linked()
        finally:
            if n_bytes > usual and outside.search_rows.nbytes != before:
                outside.search_rows.give_up()  # the next search may have room for more rows

    def searching_ahead(self, most: int, needed: Needed) -> AbstractContextManager[int]:
        return nullcontext(0)  # each search has all the memory for its rows

    def gather_view(self, direction: str, weighted: bool, pushed: bool) -> GatherView:
        """Return the view for a vertex program."""
        into, out = self.into_and_out(direction)
        weights = self.weights(into) if weighted else None
        rows, transposed = getattr(self, into), getattr(self, out)
        if (into, weighted) not in self._degrees:
            if weights is None:
                degrees = np.diff(transposed.row_offsets)
            else:  # on the host, whose memory the budget limits only for the CPU engine
                budget = self._outside.budget if self._outside.engine.place == "host" else None
                block = block_within(budget)
                degrees = strengths(rows.column_indices, weights, self.n_vertices, np, block)
            self._degrees[into, weighted] = self._outside.kept(degrees, "degrees")
        self._outside.search_rows.give_up()  # the run needs their memory
        homes = self._packed.setdefault(into, PackedHome()), self._framed.setdefault(out, PackedHome())
        degrees, pages = self._degrees[into, weighted], self._pages(rows, weights, *homes)
        out_weights = self.weights(out) if weighted and pushed else None
        return GatherView(
            rows, transposed, weights, degrees, pages, out_weights, weight_range=lambda: self.weight_range
        )

    def link_view(self) -> LinkView:
        """Return the edges in a form for finding components: if directed, only by source, read once."""
        return LinkView(self.forward, None if self.directed else self.forward, paged=True)

    def _pages(self, rows: Adjacency, weights: Array | None, packed: PackedHome, framed: PackedHome) -> Pages:
        edge_bytes = rows.column_indices.dtype.itemsize + (0 if weights is None else weights.dtype.itemsize)
        budget = self._outside.budget
        # A page on the CPU has the offsets of its rows, and one on a GPU lists the rows.
        on_cpu = self._outside.engine.place == "host"
        row_bytes = OFFSET_BYTES if on_cpu else rows.column_indices.dtype.itemsize
        cut = cut_within(budget, rows.row_offsets, edge_bytes, row_bytes)
        # The memory per vertex depends on the program, so the engine cuts the pages again.
        return Pages(np.array([0, rows.n_vertices]), budget, STREAMS, cut, packed, framed)

    def weights(self, name: str) -> Array:
        getattr(self, name)
        return self._weights[name]

    def _rebuilt(self, *, symmetric: bool) -> Adjacency:
        weights = self._weights.get("forward")
        built = self._outside.rebuild(self.forward, weights, symmetric=symmetric)
        if weights is not None:  # `built.weights` is None if there are no edges
            name = "symmetric" if symmetric else "backward"
            self._weights[name] = weights[:0] if built.weights is None else built.weights
        return replace(built, weights=None)

    def held(self) -> Iterator[tuple[str, Array]]:
        yield from super().held()
        for name, packed in list(self._packed.items()):  # threads add some
            yield from ((f"packed columns of {self.label(name)}", part) for part in packed.arrays)
        for name, framed in list(self._framed.items()):
            yield from ((f"framed columns of {self.label(name)}", part) for part in framed.arrays)
        for rows in self._outside.search_rows.of(self):
            yield from (("rows of searches", part) for part in rows.parts if place_of(part) == "device")


class Paged(InMemory):
    """Storage of a graph that does not fit the engine's memory."""

    def __init__(self, outside: SpilledBuild, n_vertices: int, edges: GraphEdges) -> None:
        self.budget: Budget = outside.budget
        self._outside = outside
        super().__init__(outside.engine, n_vertices, edges, partial(PagedAdjacencySet, outside))

    def _outside_limit(self, array: np.ndarray) -> np.ndarray:
        return np.asarray(self._outside.kept(array, "a path layout"))


Cut = Callable[[int, int, int | None, int], tuple[np.ndarray, int]]


def cut_within(budget: Budget, row_offsets: Array, edge_bytes: int, row_bytes: int) -> Cut:
    """Return a function that cuts rows into pages for the memory left by the budget; see `Pages.cut`.

    The function takes the bytes that stay resident in addition to the pages, and the bytes of an edge in
    addition to `edge_bytes`.  It raises a TravMemoryError if the memory left is too small for the longest
    row.
    """
    longest = longest_row(row_offsets)

    def cut(
        resident: int, n_streams: int, most_bytes: int | None = None, more_edge_bytes: int = 0
    ) -> tuple[np.ndarray, int]:
        others = resident + row_bytes * n_streams
        edge = edge_bytes + more_edge_bytes
        page = longest * edge + row_bytes
        parts = f"{readable(others)} for its vertices, {readable(page)} for a page"
        budget.require(others + page, f"a vertex program ({parts})")
        plan = plan_pages(
            row_offsets,
            budget.free - others,
            edge_bytes=edge,
            row_bytes=row_bytes,
            n_streams=n_streams,
            most_bytes=most_bytes,
            longest=longest,
        )
        return plan.firsts, plan.n_streams

    return cut
