"""Graphs on ranks that work on GPUs, each with a part of the edges, and the answers of all ranks together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from loopback import run_ranks

from rapids_trav.distributed.ranks.numbering import build_numbering
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.rank_engine import LaunchedRows, RankEngine, RankView
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.multigpu.partition import build

DEADLINE = 120.0  # emulated ranks take turns


@dataclass
class Case:
    """A graph on one rank: its engine, its view of all edges in a direction, and the ids of its vertices."""

    engine: RankEngine
    view: RankView
    ids: np.ndarray

    def search(self, sources, **options):
        targets = options.pop("targets", None)
        if targets is not None:
            options["targets"] = self.ids[np.asarray(targets)]
        return self.engine.search(self.view, self.ids[np.asarray(sources)], BfsOptions(**options))

    @property
    def block(self):
        return self.engine.numbering.grid.block

    def memory(self):
        return self.view.launched.memory()


def case_of(cupy, communicator, graph, shape, direction="out"):
    """Build a rank of a graph, each with a part of the edges."""
    from rapids_trav.engines.multigpu.local_cuda import CudaWork

    rank = Rank(communicator, CudaWork(), None)
    u, v = graph.u, graph.v
    degree = np.bincount(u, minlength=graph.n) + np.bincount(v, minlength=graph.n)
    firsts = np.linspace(0, graph.n, rank.size + 1).astype(np.int64)
    held = slice(*firsts[rank.rank : rank.rank + 2])
    numbering = build_numbering(rank, firsts, graph.n, cupy.asarray(degree[held]), shape)
    ids = numbering.internal_by_place()[:-1].get()
    mine = slice(rank.rank, None, rank.size)
    chunk = cupy.asarray(ids[u[mine]]), cupy.asarray(ids[v[mine]])
    part = build(communicator, numbering.grid, [chunk], rank.work, directed=not graph.symmetric)
    return Case(
        RankEngine(numbering), RankView(part, direction, numbering, LaunchedRows(numbering, part, 64)), ids
    )


def together(cupy, graph, shape, ask, direction="out"):
    """Call `ask(case)` on each rank; return what they return."""
    return run_ranks(
        shape[0] * shape[1],
        lambda communicator: ask(case_of(cupy, communicator, graph, shape, direction)),
        deadline=DEADLINE,
    )


def whole(cases, found, graph):
    """Return distances and predecessors of the graph's vertices from those of the ranks."""
    ids, size = cases[0].ids, len(cases)
    block = cases[0].block
    distance = np.full(size * block, -1)
    predecessor = np.full(size * block, -1)
    for number, one in enumerate(found):
        begin = number * block
        distance[begin : begin + len(one.distance)] = _on_host(one.distance)
        predecessor[begin : begin + len(one.distance)] = _on_host(one.predecessor)
    vertex_of = np.full(size * block + 1, -1)  # and of -1, none
    vertex_of[ids] = np.arange(graph.n)
    return distance[ids], vertex_of[predecessor[ids]]


def _on_host(array):
    return array.get() if hasattr(array, "get") else array
