"""A graph's rows with the neighbours of each vertex in no order, to measure what ascending rows save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapids_trav.csr.adjacency import Adjacency

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph


@dataclass(frozen=True)
class OneAdjacency:
    """A view (`engines.interface.View`) of an undirected graph's rows."""

    out: Adjacency

    @property
    def into(self) -> Adjacency:
        return self.out

    @property
    def n_vertices(self) -> int:
        return self.out.n_vertices


def unordered(lab: Lab, graph: Graph) -> OneAdjacency:
    """Return the rows of an undirected graph, each in random order."""
    xp, rows = lab.xp, graph.storage.view("out").out
    edges = graph.engine.expand_rows(rows)
    order = xp.argsort(xp.random.default_rng(lab.seed).random(rows.n_edges))
    order = order[xp.argsort(edges.src[order], kind="stable")]
    return OneAdjacency(lab.adjacency(rows.row_offsets, edges.dst[order]))
