"""The fused search with integer widths that small graphs do not need."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.engines.interface import BfsOptions

from .small_graphs import Graph, GraphView, check_tree, random, star

pytestmark = pytest.mark.gpu


def with_widths(graph: Graph, engine, vertex, offset) -> GraphView:
    """Return a view with columns and offsets of the given types."""
    from rapids_trav.engines.cuda.build.in_memory import with_first_neighbors

    view = GraphView(graph, engine)

    def widened(rows):
        return with_first_neighbors(rows.row_offsets.astype(offset), rows.column_indices.astype(vertex))

    out, into = view.out, view.into
    wide = widened(out)
    view.__dict__ |= {"out": wide, "into": wide if into is out else widened(into)}
    return view


def check(engine, graph: Graph, view: GraphView, sources) -> None:
    found = engine.search(view, engine.xp.asarray(sources), BfsOptions(variant="fused"))
    distance = found.distance.get()
    assert np.array_equal(distance, graph.distance(sources))
    check_tree(graph, sources, distance, found.predecessor.get())


@pairs(
    vertex=["int32", "int64"],
    offset=["int32", "int64"],
    symmetric=[False, True],
    whole=[False, True],
    least_pull=[0, 1 << 20],
    allowed=lambda vertex, offset, **_: (vertex, offset) != ("int32", "int32"),
)
def test_queues_have_room_in_every_width(cupy, monkeypatch, vertex, offset, symmetric, whole, least_pull):
    """The widths include wide ids with narrow offsets, as for many vertices with few edges."""
    from rapids_trav.engines.cuda import CudaEngine
    from rapids_trav.engines.cuda.bfs import fused

    if not whole:
        monkeypatch.setattr(fused, "WHOLE_QUEUE", 0)
    graph = random(60_000, 150_000, symmetric, seed=6)
    engine = CudaEngine(least_pull=least_pull)
    view = with_widths(graph, engine, vertex, offset)
    for sources in [(0,), (graph.n - 1,), tuple(range(0, graph.n, 7))]:
        check(engine, graph, view, sources)


@pytest.mark.parametrize("most", [1025, 4000])
def test_a_degree_beyond_what_a_block_keeps_is_looked_up(cupy, monkeypatch, most):
    """A lower limit stands for a vertex with 2^31 edges or more."""
    from rapids_trav.engines.cuda import CudaEngine
    from rapids_trav.engines.cuda.bfs import fused

    monkeypatch.setattr(fused, "TUNED", fused.TUNED | {"MOST_KEPT": most})
    engine, hub = CudaEngine(), star(9000)
    tail = np.arange(9001, 9100)
    u = np.concatenate([hub.u, [9000], tail[:-1]])
    v = np.concatenate([hub.v, [9001], tail[1:]])
    for symmetric in (False, True):
        graph = Graph(9100, u, v, symmetric)
        view = with_widths(graph, engine, np.int32, np.int64)
        for sources in [(0,), (9000,), (9099,), (5, 9050)]:
            check(engine, graph, view, sources)
