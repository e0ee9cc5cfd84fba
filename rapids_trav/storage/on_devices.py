"""Storage of edges that are dealt to several devices of one process, direction by direction, on first use.

A graph that one device searches faster is kept there alone.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.interface import Engine, Replica, SpreadEngine, SpreadRows
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.model.build import graph_bytes
from rapids_trav.storage.in_memory import AdjacencySet, GraphEdges, InMemory, MemoryView
from rapids_trav.utilities.sizes import readable


class OnDemand(AdjacencySet):
    """An `AdjacencySet` on the current device that is built when something other than a search reads it."""

    def __init__(self, engine: Engine, n_vertices: int, edges: GraphEdges) -> None:
        self._engine, self._free_bytes = engine, engine.free_bytes
        self.n_vertices, self.directed, self._weighted = n_vertices, edges.directed, edges.weighted
        self._n_edges, self._chunks = edges.n_edges, edges.chunks
        self._weights, self._by_weight, self._degrees, self._coo = {}, {}, {}, {}
        self._runs_by_weight = 0
        self._making = threading.RLock()

    @cached_property
    def forward(self) -> Adjacency:  # type: ignore[override]
        with self._making:
            if (made := self.__dict__.get("forward")) is not None:
                return made
            if not self.fits:
                raise TravMemoryError(
                    f"This question needs all edges on the current GPU, about {readable(self._needed)}, but "
                    f"{readable(self._free_bytes())} are free there: a graph that fits only several GPUs "
                    f"answers bfs, paths, levels, khop and degrees, with variant='auto' and without where."
                )
            return self._engine.build_adjacency(self._chunks, self.n_vertices, symmetric=not self.directed)

    @property
    def fits(self) -> bool:
        """Whether all edges are on the current device, or fit there."""
        return "forward" in self.__dict__ or self._needed <= self._free_bytes()

    @property
    def _needed(self) -> int:
        return graph_bytes(False, self.n_vertices, self._n_edges, directed=self.directed)


class OnDevices(InMemory):
    """Storage of a graph whose edges are dealt to several devices."""

    engine: SpreadEngine

    def __init__(self, engine: SpreadEngine, n_vertices: int, edges: GraphEdges) -> None:
        super().__init__(engine, n_vertices, edges, partial(OnDemand, engine))
        self._directed, self._chunks = edges.directed, edges.chunks
        self._n_vertices = n_vertices
        self._spread: dict[str, SpreadRows] = {}
        self._replicas: dict[str, Sequence[Replica]] = {}
        self._making = threading.RLock()
        n_entries = edges.n_edges if edges.directed else 2 * edges.n_edges
        self._alone = not engine.gains(n_vertices, n_entries) and self._fits_one
        if self._alone:
            _ = self._all.forward
        elif n_vertices:
            self.rows("out")

    def view(self, direction: str = "out", where: Hashable | None = None) -> DevicesView:
        return DevicesView(self._structures(where), direction, self if where is None else None)

    def rows(self, direction: str) -> SpreadRows:
        """Return the edges as searches in a direction follow them, dealt on first use."""
        name = direction if self._directed else "out"
        with self._making:
            if name not in self._spread:
                self._spread[name] = self.engine.spread(
                    self._chunks,
                    self._n_vertices,
                    n_edges=self._n_edges,
                    symmetric=not self._directed or name == "both",
                    transpose=name == "in",
                )
            return self._spread[name]

    def replicas(self, direction: str) -> Sequence[Replica]:
        """Return the edges on each device, copied on first use; none if they do not fit all of them."""
        name = direction if self._directed else "out"
        with self._making:
            if name not in self._replicas:
                view = super().view(name)
                self._replicas[name] = self.engine.replicated(view) if self._fits_one else ()
            return self._replicas[name]

    @property
    def is_spread(self) -> bool:
        """Whether the edges are dealt to the devices, and not on the current one alone, which is faster."""
        return not self._alone

    @property
    def _fits_one(self) -> bool:
        return isinstance(self._all, OnDemand) and self._all.fits

    def memory(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each existing structure."""
        found = super().memory()
        for direction, rows in list(self._spread.items()):  # threads add some
            of = f" for direction {direction}" if self._directed else ""
            found += [(f"{name}{of}", n_bytes, f"device {device}") for name, n_bytes, device in rows.held()]
        for direction, copies in list(self._replicas.items()):
            of = f" for direction {direction}" if self._directed else ""
            for copy in copies[1:]:
                n_bytes = copy.out.nbytes + (0 if copy.into is copy.out else copy.into.nbytes)
                found.append((f"copy of the rows{of}", n_bytes, f"device {copy.device}"))
        return found

    def close(self) -> None:
        """Stop the search that runs, if any."""
        for rows in list(self._spread.values()):
            rows.stop()


@dataclass(frozen=True)
class DevicesView(MemoryView):
    """View of a graph that is dealt to several devices, unless it is filtered."""

    storage: OnDevices | None

    def spread(self) -> SpreadRows | None:
        storage = self.storage
        return None if storage is None or not storage.is_spread else storage.rows(self.direction)

    def replicas(self) -> Sequence[Replica]:
        return () if self.storage is None else self.storage.replicas(self.direction)

    def degrees(self) -> Array:
        rows = self.spread() if self.n_vertices else None
        return super().degrees() if rows is None else rows.degrees()
