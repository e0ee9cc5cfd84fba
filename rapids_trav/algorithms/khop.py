"""Neighbourhoods: the vertices within k edges of some seeds, and the rows of the edge list among them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions, whole_number
from rapids_trav.algorithms.request import ask
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.memory.model.build import FOUND_BYTES
from rapids_trav.memory.model.search import KHOP_BYTES, Searches, neighborhood_bytes
from rapids_trav.storage.block_sizes import reading

FEWEST_ROWS = 1 << 7  # at once, however small the limit: a frame of fewer is mostly overhead


class Neighborhood(NamedTuple):
    """Vertices and edges within k edges of the seeds.

    Attributes
    ----------
    vertices : DataFrame
        `vertex`, ascending, and `distance`.
    edges : DataFrame
        The rows of the edge list whose both ends are among them.
    """

    vertices: Frame
    edges: Frame


def khop(graph: TraversableGraph, seeds: object, k: int, options: SearchOptions) -> Neighborhood:
    """The neighbourhood that `Graph.khop` documents."""
    limited = replace(options, depth_limit=whole_number("k", k), predecessors=False)
    question = ask(graph, seeds, limited, what="seeds")
    n_bytes = neighborhood_bytes(graph.n_vertices, graph.ids.nbytes)
    in_hand = FOUND_BYTES * min(FEWEST_ROWS, graph.n_edges)
    asked = Searches(question.options.variant, answer=KHOP_BYTES, later=n_bytes + in_hand)
    with question.view.searching(asked):
        distance = graph.engine.bfs(question.view, question.sources, question.options).distance
        chosen = distance >= 0
        places, near = graph.values.reached(distance)
        del distance
        rows = graph.collector(None)
        columns = graph.vertex_columns("vertex", places) | {"distance": Masked(near, near >= 0)}
        rows.add(columns, len(near))
        del places, near, columns
        found = graph.deliver(rows.frame())
    with (
        graph.storage.room(n_bytes, "the vertices of a neighbourhood", in_hand),
        reading(graph.budget, graph.n_edges, FOUND_BYTES, fewest=FEWEST_ROWS) as block,
    ):
        at_once = None if graph.budget is None else block
        edges = graph.deliver(graph.rows.inside(chosen, question.where, at_once))
    return Neighborhood(vertices=found, edges=edges)
