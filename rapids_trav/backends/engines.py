"""The engine of functions that search from many nodes: a GPU, if there is one and enough to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rapids_trav.backends.structure import Rows, Structure
from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList, offset_dtype
from rapids_trav.engines import gpu_is_there
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import Engine
from rapids_trav.engines.searches import DistanceSums, PathShares, SumsOf
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.memory.model.search import SHARED, QueryBytes

WORTHWHILE = 1 << 32  # searches times entries of the rows: about a second of the CPU's work
# Entries of the rows from which a GPU gains.  An H100 takes 0.1 ms for a level of 256 searches, be it small:
# 16 cores are 1.4 times as fast on R-MAT 15 (0.9 million entries), and 2.4 times on a grid of 16,384 nodes.
LEAST_ENTRIES = 1 << 21


@dataclass(frozen=True)
class RowsView:
    """Rows of a graph in an engine's memory; sums of distances and shares of paths need no order of rows."""

    engine: Engine
    out: Adjacency
    into: Adjacency

    @classmethod
    def of(cls, structure: Structure, n_searches: int, *, backwards: bool = False) -> RowsView:
        """Return the view along the edges, or against them with `backwards`, for so many searches."""
        engine = _engine(structure, n_searches)
        out = engine.take_over(_adjacency(structure.rows))
        into = out if not structure.directed else engine.take_over(_adjacency(structure.transpose[0]))
        return cls(engine, into, out) if backwards else cls(engine, out, into)

    @property
    def n_vertices(self) -> int:
        return self.out.n_vertices

    @property
    def stored(self) -> Adjacency:
        return self.out

    @cached_property
    def coo(self) -> EdgeList:
        return self.engine.expand_rows(self.out)

    def distance_sums(self, sources: Array, of: SumsOf) -> DistanceSums:
        """Return sums, in host memory, over the distances from each of the nodes `sources`."""
        sums = self.engine.distance_sums(self, self.engine.xp.asarray(sources), of, len(sources))
        return sums.mapped(lambda array: move(array, np))

    def path_shares(self, sources: Array) -> PathShares:
        """Return the shares of nodes in the shortest paths from `sources`, in host memory."""
        sources = self.engine.xp.asarray(sources)
        shares = self.engine.shortest_path_shares(self, sources, edges=False, together=SHARED)
        return PathShares(move(shares.vertices, np), None, move(shares.reached, np))


def _engine(structure: Structure, n_searches: int) -> Engine:
    rows = structure.rows
    entries = len(rows.columns)
    if entries < LEAST_ENTRIES or n_searches * entries < WORTHWHILE or not _gpu_works():
        return CpuEngine()
    from rapids_trav.engines.cuda import CudaEngine

    engine: Engine = CudaEngine()
    n_bytes = (1 + structure.directed) * sum(part.nbytes for part in rows)
    n_bytes += QueryBytes(False, structure.n, 8).shares(entries, False, SHARED)  # more than any other
    return engine if n_bytes <= engine.free_bytes() else CpuEngine()


def _gpu_works() -> bool:
    try:
        return gpu_is_there()
    except TravError:  # a GPU that does not work; the CPU gives the same answers
        return False


def _adjacency(rows: Rows) -> Adjacency:
    return Adjacency(rows.offsets.astype(offset_dtype(len(rows.columns)), copy=False), rows.columns)
