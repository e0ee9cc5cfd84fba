"""Neighbourhoods: the vertices within k edges of some seeds, and the rows of the edge list among them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from rapids_trav.frames import Masked

from .question import ask, whole_number

if TYPE_CHECKING:
    from rapids_trav.graph import Graph


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
    graph: Graph, seeds: Any, k: int, *, direction: str = "out", where: Hashable | None = None
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
    with question.view.searching(question.options):
        distance = graph.engine.bfs(question.view, question.sources, question.options).distance
    chosen = distance >= 0
    rank = graph.ids.rank
    vertex = graph.engine.xp.flatnonzero(chosen) if rank is None else rank[chosen[rank]]
    near = distance[vertex]
    columns = graph.id_columns("vertex", vertex) | {"distance": Masked(near, near >= 0)}
    return Neighborhood(
        vertices=graph.deliver(graph.frame(columns)),
        edges=graph.deliver(graph.rows.inside(chosen, where)),
    )
