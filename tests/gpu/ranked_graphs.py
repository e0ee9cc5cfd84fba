"""Graphs on ranks that share a GPU, and their searches by one launch for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .small_graphs import Graph


@dataclass
class Ranked:
    """A graph on ranks of one device, with its vertices dealt by degree."""

    graph: Graph
    dealing: object
    group: object
    ids: np.ndarray  # of the graph's vertices

    def search(self, sources, **options):
        """Return distances and predecessors of the graph's vertices, and the levels of each rank."""
        from rapids_trav.engines.interface import BfsOptions

        targets = options.pop("targets", None)
        if targets is not None:
            options["targets"] = self.ids[np.asarray(targets)]
        found, levels = self.group.search(self.ids[np.asarray(sources)], BfsOptions(**options))
        distance = np.concatenate([one.distance.get() for one in found])[self.ids]
        unreached = {int(one.n_unreached[0]) for one in found}
        if "targets" not in options:
            assert unreached == {np.count_nonzero(distance < 0)}
        predecessor = None
        if found[0].predecessor is not None:
            vertex_of = np.full(self.dealing.n_ids + 1, -1)  # and of -1, none
            vertex_of[self.ids] = np.arange(self.graph.n)
            predecessor = vertex_of[np.concatenate([one.predecessor.get() for one in found])[self.ids]]
        return distance, predecessor, levels


def ranked(cupy, graph: Graph, n_ranks: int, blocks: int = 1, devices=None, lean=False, **how) -> Ranked:
    """Deal the vertices of a graph to ranks and build the rows of each; they share a GPU by default."""
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
    from rapids_trav.engines.multigpu.one_launch.group import LaunchGroup
    from rapids_trav.engines.multigpu.one_launch.peers import reach_each_other
    from rapids_trav.engines.multigpu.one_launch.rows import lean_rows, rows_of

    u, v = graph.edges
    degree = np.bincount(u, minlength=graph.n) + np.bincount(v, minlength=graph.n)
    place = np.empty(graph.n, np.int64)
    place[np.argsort(-degree, kind="stable")] = np.arange(graph.n)
    dealing = Dealing(graph.n, n_ranks)
    ids = dealing.id(place)
    source, destination = ids[u], ids[v]
    out_degrees = np.bincount(source, minlength=dealing.n_ids).reshape(n_ranks, -1)
    rows, devices = [], devices or [0] * n_ranks
    for rank in range(n_ranks):
        mine = dealing.owner(destination) == rank
        cupy.cuda.Device(devices[rank]).use()
        edges = cupy.asarray(place[u[mine]]), cupy.asarray(destination[mine] - dealing.first(rank))
        if lean:
            rows.append(lean_rows(dealing, rank, devices[rank], lambda edges=edges: [edges]))
            continue
        degrees = None if graph.symmetric else cupy.asarray(out_degrees[rank])
        rows.append(rows_of(dealing, rank, [edges], degrees))
    cupy.cuda.Device(0).use()
    reach_each_other(devices)
    return Ranked(graph, dealing, LaunchGroup(rows, devices, blocks=blocks, **how), ids)
