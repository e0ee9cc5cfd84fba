"""Neighbourhoods: the vertices within k edges of some seeds, and the rows of the edge list among them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import ask, whole_number
from rapids_trav.frames.columns import Masked
from rapids_trav.memory.model.build import FOUND_BYTES
from rapids_trav.memory.model.search import KHOP_BYTES, Searches, neighborhood_bytes
from rapids_trav.storage.block_sizes import reading

FEWEST_ROWS = 1 << 7  # at once, however small the limit: a frame of fewer is mostly overhead


class Neighborhood(NamedTuple):
    """What lies within k edges of the seeds.

    Attributes
    ----------
    vertices : DataFrame
        `vertex`, ascending, and `distance`.
    edges : DataFrame
        The rows of the edge list whose both ends are among them.
    """

    vertices: Any
    edges: Any


def khop(
    graph: TraversableGraph, seeds: Any, k: int, *, direction: str = "out", where: Hashable | None = None
) -> Neighborhood:
    """The neighbourhood that `Graph.khop` documents."""
    limit = whole_number("k", k)
    question = ask(
        graph,
        seeds,
        depth_limit=limit,
        direction=direction,
        where=where,
        predecessors=False,
        what="seeds",
    )
    n_bytes = neighborhood_bytes(graph.n_vertices, graph.ids.nbytes)
    in_hand = FOUND_BYTES * min(FEWEST_ROWS, graph.n_edges)
    asked = Searches(question.options.variant, answer=KHOP_BYTES, later=n_bytes + in_hand)
    with question.view.searching(asked):
        distance = graph.engine.bfs(question.view, question.sources, question.options).distance
        chosen = distance >= 0
        rank = graph.ids.rank
        vertex = graph.engine.xp.flatnonzero(chosen) if rank is None else rank[chosen[rank]]
        near = distance[vertex]
        del distance
        columns = graph.id_columns("vertex", vertex) | {"distance": Masked(near, near >= 0)}
        del vertex, near
        found = graph.deliver(graph.frame(columns))
    with (
        graph.storage.room(n_bytes, "the vertices of a neighbourhood", in_hand),
        reading(graph.budget, graph.n_edges, FOUND_BYTES, fewest=FEWEST_ROWS) as rows,
    ):
        at_once = None if graph.budget is None else rows
        edges = graph.deliver(graph.rows.inside(chosen, where, at_once))
    return Neighborhood(vertices=found, edges=edges)
