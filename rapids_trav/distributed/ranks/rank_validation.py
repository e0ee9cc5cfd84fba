"""Validation of a search by the five rules of Graph500, against the edges that the ranks were given."""

from __future__ import annotations

from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.distributed.ranks.rank_graph import RankGraph
from rapids_trav.engines.multigpu.validate import parents, validate
from rapids_trav.engines.searches import Search, Verdict
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
            "validate applies the rules of Graph500, which are for undirected graphs: build the graph with "
            "directed=False."
        )
    view, sources, asked = ask(graph, source, options, what="source")
    if len(sources) != 1:
        raise TravError(f"source names {len(sources)} vertices: give one.")
    return check_tree(graph, graph.engine.search(view, sources, asked), int(sources[0]))


def check_tree(graph: RankGraph, found: Search, root: int) -> Verdict:
    """Check the result of a search from `root`, an internal id; the padding of a block is ignored."""
    assert found.predecessor is not None and graph.rows.ends is not None
    rank, numbering = graph.rank, graph.numbering
    parent = parents(numbering.grid, rank.rank, numbering.in_block(found.predecessor), root)
    level = numbering.in_block(found.distance)
    return validate(rank.communicator, numbering.grid, root, parent, graph.rows.ends, xp=rank.xp, level=level)
