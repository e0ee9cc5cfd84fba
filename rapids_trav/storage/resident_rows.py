"""GPU-resident parts of adjacencies that are outside the GPU's memory, for searches.

Row offsets, first neighbours and the edges of the longest and the shortest rows, as far as the budget allows,
are copied to the GPU.  The copies can be made again, so they are freed when something else needs the memory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.pages import resident_ends
from rapids_trav.engines.interface import DeviceEngine
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import resident_rows_bytes
from rapids_trav.memory.model.search import GPU_BYTES
from rapids_trav.storage.block_sizes import SEARCH

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
        rows = self._reached(adjacency, least, room)
        budget.allocate(_device_bytes(rows), ROWS)
        budget.keep_for(rows, _device_bytes(rows), ROWS, spare=True)
        return rows

    def _reached(self, adjacency: Adjacency, least: int, room: int) -> Adjacency:
        """Make up to `room` bytes of edges resident, or fewer if the free memory is fragmented."""
        vertex = adjacency.column_indices.dtype.itemsize
        assert self._engine is not None  # the CPU engine reads rows in place
        while True:
            head, begin = resident_ends(adjacency.row_offsets, room, vertex)
            n_bytes = (head + adjacency.n_edges - begin) * vertex
            try:
                with self._budget.hold(least + n_bytes, ROWS):
                    return self._engine.reach_outside(adjacency, head, begin)
            except MemoryError:
                if n_bytes == 0:
                    raise
                room = n_bytes // 2


def _device_bytes(adjacency: Adjacency) -> int:
    return adjacency.nbytes - adjacency.column_indices.nbytes
