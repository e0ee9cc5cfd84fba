"""Builder of adjacencies whose large arrays are outside the engine's memory, in host memory or files.

Their row offsets, first neighbours and the edges of the longest and the shortest rows, as far as the budget
allows, are copied to the GPU for searches.  The copies can be made again, so they are freed when something
else needs the memory.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList, edge_blocks
from rapids_trav.csr.pages import page_rows, resident_ends
from rapids_trav.engines.interface import Chunks, DeviceEngine, DType, Engine, Place, is_device
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import resident_rows_bytes, spilled_build_bytes, vertex_bytes
from rapids_trav.memory.model.search import GPU_BYTES, QueryBytes
from rapids_trav.storage.block_sizes import SEARCH, block_within
from rapids_trav.storage.mapped_arrays import Scratch
from rapids_trav.utilities import machine
from rapids_trav.utilities.sizes import readable

ROWS = "the rows of a search"


class ResidentRows:
    """Resident parts of all adjacencies under one budget, cached by the structures that own them."""

    def __init__(self, engine: DeviceEngine | None, budget: Budget) -> None:
        self._engine, self._budget = engine, budget
        self._kept: WeakKeyDictionary[object, dict[str, Adjacency]] = WeakKeyDictionary()
        self._lock = threading.Lock()
        budget.on_shortage(self.give_up)

    def give_up(self) -> None:
        """Free all cached parts; one that a search is reading lives until the search ends."""
        self._kept = WeakKeyDictionary()  # no lock, since the calling thread may hold the budget's lock

    @property
    def nbytes(self) -> int:
        """Bytes that `give_up` would free."""
        with self._lock:
            return sum(_device_bytes(rows) for kept in self._kept.values() for rows in kept.values())

    def of(self, owner: object) -> Iterator[Adjacency]:
        with self._lock:
            found = list(self._kept.get(owner, {}).values())
        yield from found

    def get(self, owner: object, names: tuple[str, ...], adjacency: Adjacency) -> Adjacency:
        """Return, for searches, the adjacency that `owner` knows by the first of `names`.

        A search may use the adjacencies of all `names` at once, so they share the free memory.
        """
        with self._lock:
            found = self._kept.get(owner, {}).get(names[0])
            if found is None:
                found = self._made(owner, names, adjacency)
                self._kept.setdefault(owner, {})[names[0]] = found
            return found

    def _give_up_but(self, owner: object, kept: dict[str, Adjacency]) -> None:
        self.give_up()
        self._kept[owner] = kept

    def _made(self, owner: object, names: tuple[str, ...], adjacency: Adjacency) -> Adjacency:
        budget, n = self._budget, adjacency.n_vertices
        least = resident_rows_bytes(n)
        state = max(GPU_BYTES * n - budget.held().get(SEARCH, 0), 0)

        mine = self._kept.get(owner, {})  # another thread may give up
        read = {name: mine[name] for name in names if name in mine}
        for stay in (None, read, {}):  # keep all; keep those that this search may be reading; keep none
            if stay is not None:
                self._give_up_but(owner, stay)
            missing = len(names) - len(read if stay is None else stay)
            if missing * least + state <= budget.free:
                break
        budget.require(missing * least + state, ROWS)
        room = (budget.free - state) // missing - least
        return self._reached(adjacency, least, room)

    def _reached(self, adjacency: Adjacency, least: int, room: int) -> Adjacency:
        """Make up to `room` bytes of edges resident, or fewer if the free memory is fragmented."""
        vertex = adjacency.column_indices.dtype.itemsize
        assert self._engine is not None  # the CPU engine reads rows in place
        while True:
            head, begin = resident_ends(adjacency.row_offsets, room, vertex)
            n_bytes = (head + adjacency.n_edges - begin) * vertex
            try:
                with self._budget.hold(least + n_bytes, ROWS) as held:
                    rows = self._engine.reach_outside(adjacency, head, begin)
                    held.keep(rows, _device_bytes(rows), spare=True)
                    return rows
            except MemoryError:
                if n_bytes == 0:
                    raise
                room = n_bytes // 2


def _device_bytes(adjacency: Adjacency) -> int:
    return adjacency.nbytes - adjacency.column_indices.nbytes


SPARE_SHARE = 16  # a spare array of each thread takes at most this share of the limit in memory


class LimitedArrays:
    """The arrays of a build in host memory under a limit; the caller has counted all but the spare ones.

    The spare arrays are as long as the largest bucket of the build, in which a hub may have most edges.
    """

    def __init__(self, budget: Budget, spill: str | os.PathLike[str] | None = None) -> None:
        self.budget = budget
        self.scratch = Scratch(spill)

    def allocate(self, n: int, dtype: DType, what: str) -> Array:
        """Allocate an array of the result."""
        return np.empty(n, dtype)

    def allocate_spare(self, n: int, dtype: DType, what: str, n_threads: int) -> Array:
        """Allocate a spare array of one of `n_threads`: in a file if it exceeds a share of the limit."""
        return self.scratch.spare(n, dtype, what, self.budget.limit // (SPARE_SHARE * n_threads))

    def cut(self, row_offsets: Array, page_bytes: int, edge_bytes: int, row_bytes: int) -> Array:
        """Return the first rows of the pages of an adjacency; see `csr.pages.page_rows`."""
        return page_rows(np.asarray(row_offsets), page_bytes, edge_bytes, row_bytes)


class SpilledBuild(LimitedArrays):
    """Builder of adjacencies whose large arrays are outside the engine's memory; files are in `spill`."""

    def __init__(self, engine: Engine, budget: Budget, spill: str | os.PathLike[str] | None = None) -> None:
        super().__init__(budget, spill)
        self.engine = engine
        self.xp = engine.xp
        self.search_rows = ResidentRows(engine if is_device(engine) else None, budget)

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Build an adjacency as the engine does, but in NumPy arrays."""
        self.search_rows.give_up()
        needed = spilled_build_bytes(self.engine.place == "host", n_vertices)
        self.budget.require(needed, "building the adjacency")  # the build would be slow, or fail halfway
        return self.engine.build_outside(chunks, n_vertices, self, symmetric=symmetric, transpose=transpose)

    def rebuild(self, forward: Adjacency, weights: Array | None, *, symmetric: bool) -> Adjacency:
        """Build from the rows by source the symmetrised ones if `symmetric`, else those by destination."""
        self.search_rows.give_up()
        size = block_within(self.budget)

        def chunks() -> Iterator[tuple[Array, ...]]:
            first = 0
            for edges in edge_blocks(forward, self.xp, block=size):
                last = first + len(edges.src)
                own = () if weights is None else (self.xp.asarray(weights[first:last]),)
                yield edges.src, edges.dst, *own
                first = last

        return self.build_adjacency(chunks, forward.n_vertices, symmetric=symmetric, transpose=not symmetric)

    def allocate(self, n: int, dtype: DType, what: str) -> Array:
        """Allocate an array of the result: for a GPU in host memory if there is room, else in a file."""
        n_bytes = n * np.dtype(dtype).itemsize
        if not is_device(self.engine):
            return self.scratch.on_disk(n, dtype, what)
        if n_bytes <= machine.available_bytes() - machine.RESERVE:
            try:
                return self.engine.empty_pinned(n, dtype)
            except MemoryError:
                pass  # the system may allow less pinned memory than is free
        return self.scratch.on_disk(n, dtype, what)

    def kept(self, array: Array, what: str) -> Array:
        """Return a host array to be kept: for the CPU engine, whose memory is limited, a copy in a file."""
        return self.scratch.copied(array, what) if self.engine.place == "host" else array

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Return an adjacency of mapped arrays; for a GPU, copied to host memory if there is room."""
        if self.engine.place == "host":
            return adjacency

        def loaded(array: Array, what: str) -> Array:
            if array.nbytes > machine.available_bytes() - machine.RESERVE:
                return array
            copy = self.allocate(len(array), array.dtype, what)
            copy[:] = array
            return copy

        columns = loaded(adjacency.column_indices, "column indices")
        weights = None if adjacency.weights is None else loaded(adjacency.weights, "weights")
        return Adjacency(adjacency.row_offsets, columns, weights=weights)

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges in coordinate form, with the array of sources in a file."""
        if self.engine.place != "host":
            raise TravMemoryError(
                f"variant='edge' and betweenness of edges need a list of all edges, "
                f"{readable(2 * adjacency.column_indices.nbytes)}, but memory_limit="
                f"{readable(self.budget.limit)} leaves them outside the GPU: use another variant, ask about "
                f"vertices, or give a larger memory_limit."
            )
        columns = adjacency.column_indices
        rows = self.scratch.on_disk(len(columns), columns.dtype, "the edge list")
        first = 0
        for edges in edge_blocks(adjacency, np, block=block_within(self.budget)):
            rows[first : first + len(edges.src)] = edges.src
            first += len(edges.src)
        return EdgeList(rows, columns)


def least_bytes(place: Place, n_vertices: int, n_adjacencies: int) -> int:
    """Return the fewest bytes with which a graph can be built and `n_adjacencies` of it be searched."""
    host = place == "host"
    rows = 0 if host else n_adjacencies * resident_rows_bytes(n_vertices)
    search = QueryBytes(host, n_vertices, vertex_bytes(n_vertices)).state
    return max(spilled_build_bytes(host, n_vertices), search + rows)
