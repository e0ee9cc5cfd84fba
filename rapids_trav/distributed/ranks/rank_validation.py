"""A search that is checked by the five rules of Graph500 against the edges that the ranks were handed."""

from __future__ import annotations

from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.rank_graph import RankGraph
from rapids_trav.engines.multigpu.validate import parents, validate
from rapids_trav.engines.verdict import Verdict
from rapids_trav.errors import TravError


def check_search(graph: RankGraph, source: object, options: SearchOptions) -> Verdict:
    """Search from one vertex and check the tree; every rank calls it and gets the same verdict.

    Raises
    ------
    TravError
        If the graph is directed, does not have the vertex, or has not kept its edges.
    """
    graph.rows.check_kept("validate")
    if graph.directed:
        raise TravError(
            "validate goes by the rules of Graph500, which are for undirected graphs: build the graph with "
            "directed=False."
        )
    question = ask(graph, source, options, what="source")
    if len(question.sources) != 1:
        raise TravError(f"source names {len(question.sources)} vertices: give one.")
    rank, grid = graph.rank, graph.numbering.grid
    found = graph.engine.bfs(question.view, question.sources, question.options)
    assert found.predecessor is not None and graph.rows.ends is not None
    root = int(question.sources[0])
    parent = parents(grid, rank.rank, _padded(graph, found.predecessor), root)
    level = _padded(graph, found.distance)
    return validate(rank.communicator, grid, root, parent, graph.rows.ends, xp=rank.xp, level=level)


def _padded(graph: RankGraph, values: Array) -> Array:
    """Return values of the vertices owned here for all of the block, -1 for the rest."""
    block = graph.rank.xp.full(graph.numbering.grid.block, -1, values.dtype)
    block[: len(values)] = values
    return block
