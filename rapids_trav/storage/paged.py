"""Edges that are larger than the engine's memory (SYSTEMS G4, G5).

On the CPU their arrays are files, mapped: every search reads them as it reads arrays in memory.  On a GPU
they are in host memory that the GPU reaches (or in files, where the host's memory is short too): searches
read them there, with their shortest rows in the GPU's memory as far as the budget goes.  Vertex programs
stream them page by page.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rapids_trav import host_memory
from rapids_trav.edge_blocks import BLOCK, edge_blocks
from rapids_trav.errors import TravMemoryError
from rapids_trav.sizes import readable
from rapids_trav.structures import Adjacency, Array, EdgeList, GatherView, Pages

from .arrays import Scratch, place_of
from .budget import Budget
from .memory import Chunks, InMemory, Structures
from .pages import first_resident, longest_row, page_rows, plan_pages
from .strengths import strengths

VERTEX_BYTES = 64  # what a vertex program holds for each vertex, at most
SEARCH_BYTES = 32  # what a search does
STREAMS = 3
OFFSETS_SHARE = 1 / 4  # of what is left of the budget: row offsets up to this are in memory
OFFSET_BYTES = 8  # of a page for each row, and one
FEWEST_READ = 1 << 12  # edges that are read back at once in any case: fewer take too long
READ_BYTES = 256  # of the budget for each edge that is read back at once, with what is made of it


class Outside:
    """Builds adjacencies whose large arrays lie outside the engine's memory.

    Parameters
    ----------
    engine
    budget : Budget
        Of the engine's memory.
    spill : path, optional
        Folder for arrays in files; by default that for temporary files.
    """

    def __init__(self, engine: Any, budget: Budget, spill: Any = None) -> None:
        self.engine = engine
        self.xp = engine.xp
        self.budget = budget
        self.scratch = Scratch(budget, spill)

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """As the engine's own, in NumPy arrays."""
        return self.engine.build_outside(chunks, n_vertices, self, symmetric=symmetric, transpose=transpose)

    def allocate(self, n: int, dtype: Any, what: str) -> np.ndarray:
        """An array of the result: in host memory if a GPU will read it and there is room, else in a file."""
        n_bytes = n * np.dtype(dtype).itemsize
        if self.engine.name == "cpu":
            small = what == "row offsets" and n_bytes <= OFFSETS_SHARE * self.budget.free
            return (self.scratch.in_memory if small else self.scratch.on_disk)(n, dtype, what)
        if n_bytes <= host_memory.available_bytes() - host_memory.RESERVE:
            try:
                return self.engine.empty_pinned(n, dtype)
            except MemoryError:
                pass  # the system allows less of it than there is
        return self.scratch.on_disk(n, dtype, what)

    def cut(self, row_offsets: np.ndarray, page_bytes: int, edge_bytes: int, row_bytes: int) -> np.ndarray:
        """Pages of an adjacency; see `pages.page_rows`."""
        return page_rows(row_offsets, page_bytes, edge_bytes, row_bytes)

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """An adjacency of mapped arrays; in host memory if a GPU will read it and there is room."""
        if self.engine.name == "cpu":
            return adjacency

        def loaded(array: np.ndarray | None, what: str) -> np.ndarray | None:
            if array is None or array.nbytes > host_memory.available_bytes() - host_memory.RESERVE:
                return array
            copy = self.allocate(len(array), array.dtype, what)
            copy[:] = array
            return copy

        columns = loaded(adjacency.column_indices, "column indices")
        return Adjacency(adjacency.row_offsets, columns, weights=loaded(adjacency.weights, "weights"))

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """The edges one by one; their sources are a file."""
        if self.engine.name != "cpu":
            raise TravMemoryError(
                f"variant='edge' needs a list of all edges, {readable(2 * adjacency.column_indices.nbytes)}, "
                f"and memory_limit={readable(self.budget.limit)} leaves them outside the GPU: use another."
            )
        columns = adjacency.column_indices
        rows = self.scratch.on_disk(len(columns), columns.dtype, "the edge list")
        first = 0
        for edges in edge_blocks(adjacency, np):
            rows[first : first + len(edges.src)] = edges.src
            first += len(edges.src)
        return EdgeList(rows, columns)


class PagedStructures(Structures):
    """The adjacencies of one set of edges, outside the engine's memory.

    Weights are built with their adjacency: to read the edges once more would need the room of a second one.
    """

    def __init__(
        self,
        outside: Outside,
        n_vertices: int,
        chunks: Chunks,
        directed: bool,
        weighted: Chunks | None = None,
        forward: Adjacency | None = None,
    ) -> None:
        super().__init__(outside, n_vertices, weighted or chunks, directed, weighted, forward)
        self._outside = outside
        self._reached: dict[str, Adjacency] = {}  # as a GPU's searches read them

    def adjacency(self, name: str) -> Adjacency:
        name = name if self.directed else "forward"
        if self._outside.engine.name == "cpu":
            return getattr(self, name)
        if name not in self._reached:
            self._reached[name] = self._reach(
                getattr(self, name), shares=1 + (self.directed and name != "symmetric")
            )
        return self._reached[name]

    def _reach(self, adjacency: Adjacency, shares: int) -> Adjacency:
        """The adjacency for searches of a GPU; one of `shares` that a search uses at once."""
        budget, n = self._outside.budget, self.n_vertices
        held = sum(_device_bytes(reached) for reached in self._reached.values())
        rows_bytes = (OFFSET_BYTES + adjacency.column_indices.dtype.itemsize) * n  # with first neighbours
        room = (budget.free + held - SEARCH_BYTES * n) // shares - rows_bytes
        first = first_resident(
            adjacency.row_offsets,
            min(room, budget.free - rows_bytes),
            adjacency.column_indices.dtype.itemsize,
        )
        kept = adjacency.column_indices[first:].nbytes
        with budget.hold(rows_bytes + kept, "the rows of a search"):
            reached = self._outside.engine.reach_outside(adjacency, first)
        budget.allocate_for(reached, _device_bytes(reached), "the rows of a search")
        return reached

    def gather_view(self, direction: str, weighted: bool, pushed: bool) -> GatherView:
        """What a vertex program needs; it never pushes along edges that are streamed."""
        self._reached.clear()  # a run needs their room
        into, out = self._into_and_out(direction)
        weights = self.weights(into) if weighted else None
        rows, transposed = getattr(self, into), getattr(self, out)
        if (into, weighted) not in self._degrees:
            self._degrees[into, weighted] = (
                np.diff(transposed.row_offsets)
                if weights is None
                else strengths(rows.column_indices, weights, self.n_vertices, np)
            )
        return GatherView(
            rows, transposed, weights, self._degrees[into, weighted], self._pages(rows, weights)
        )

    def _pages(self, rows: Adjacency, weights: Array | None) -> Pages:
        edge_bytes = rows.column_indices.dtype.itemsize + (0 if weights is None else weights.dtype.itemsize)
        budget, longest = self._outside.budget, longest_row(rows.row_offsets)

        def cut(resident: int, n_streams: int, most_bytes: int | None = None) -> tuple[np.ndarray, int]:
            free = budget.free - resident - OFFSET_BYTES * n_streams
            plan = plan_pages(
                rows.row_offsets,
                free,
                edge_bytes=edge_bytes,
                row_bytes=OFFSET_BYTES,
                n_streams=n_streams,
                most_bytes=most_bytes,
                longest=longest,
            )
            return plan.firsts, plan.n_streams

        if self._outside.engine.name == "cpu":
            firsts, streams = cut(VERTEX_BYTES * self.n_vertices, 1)
        else:  # what a vertex takes there depends on the program: the engine cuts again
            firsts, streams = cut(0, STREAMS)
        return Pages(firsts, budget, streams, cut)

    def weights(self, name: str) -> Array:
        getattr(self, name)
        return self._weights[name]

    def _rebuilt(self, **how: bool) -> Adjacency:
        weights, xp = self._weights.get("forward"), self._outside.xp
        size = max(min(BLOCK, self._outside.budget.free // READ_BYTES), FEWEST_READ)

        def chunks() -> Iterator[tuple[Array, ...]]:
            first = 0
            for edges in edge_blocks(self.forward, xp, block=size):
                last = first + len(edges.src)
                own = () if weights is None else (xp.asarray(weights[first:last]),)
                yield edges.src, edges.dst, *own
                first = last

        built = self._outside.build_adjacency(chunks, self.n_vertices, **how)
        if built.weights is not None:
            self._weights["backward" if "transpose" in how else "symmetric"] = built.weights
        return replace(built, weights=None)

    def held(self) -> Iterator[tuple[str, Array]]:
        yield from super().held()
        for reached in self._reached.values():
            yield from (("rows of searches", part) for part in reached.parts if place_of(part) == "device")


def _device_bytes(adjacency: Adjacency) -> int:
    return adjacency.nbytes - adjacency.column_indices.nbytes


class Paged(InMemory):
    """Storage of a graph that does not fit the engine's memory; parameters as for `InMemory`, and

    Parameters
    ----------
    budget : Budget
        Of the engine's memory.
    spill : path, optional
        Folder for arrays in files.
    """

    def __init__(self, engine: Any, *rest: Any, budget: Budget, spill: Any = None, **named: Any) -> None:
        self.budget = budget
        self._outside = Outside(engine, budget, spill)
        super().__init__(engine, *rest, **named)

    def _built(self, *arguments: Any) -> Structures:
        return PagedStructures(self._outside, *arguments)

    def _pairs(self, where: Hashable) -> Chunks:
        return lambda: self._filtered(where)
