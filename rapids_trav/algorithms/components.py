"""Weakly connected components, by linking trees mostly along a part of the edges.

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling",
IPDPS 2018 (Afforest; `engines.cpu.components`, `engines.cuda.components`).

A label is the place, in the caller's order of ids, of the first vertex of the component.  The answer names
the smallest id of each vertex's component.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import ComponentsOptions
from rapids_trav.algorithms.request import resolve
from rapids_trav.algorithms.run import Answer, OnPage, answer
from rapids_trav.engines.runs import Run, RunOptions
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.model.program import question_bytes, union_bytes, union_bytes_on_gpu
from rapids_trav.utilities.progress import streamed


def components(graph: TraversableGraph, options: ComponentsOptions) -> Answer:
    """Return the frame that `Graph.components` documents."""
    with labelled(graph, options, streamed()) as done:
        label = graph.values.in_order(done.values)
        columns = graph.id_columns("vertex") | graph.id_columns("component", graph.values.at(label))
        return answer(graph, columns, done, options.trace)


@contextmanager
def labelled(
    graph: TraversableGraph, options: ComponentsOptions, on_page: OnPage | None = None
) -> Iterator[Run]:
    """Yield the run, whose values are labels, while holding the memory that the answer needs beside them."""
    view = graph.storage.link_view(resolve(graph, options.where))
    n, dtype, ranked = graph.n_vertices, vertex_dtype(graph.n_vertices), graph.ids.rank is not None
    own = question_bytes(dtype.itemsize, ranked) * n
    trees = (
        union_bytes(n, dtype.itemsize)
        if graph.engine.place == "host"
        else union_bytes_on_gpu(n, dtype.itemsize, view.paged)
    )
    with graph.storage.room(own, "the components of vertices", trees):
        places = graph.values.places(dtype) if ranked else None
        yield graph.engine.links(view, places, RunOptions(trace=options.trace, on_page=on_page))
