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
from rapids_trav.algorithms.run import Answer, OnPage, answer, execute, gather_view, running
from rapids_trav.engines.runs import Run, RunOptions
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.program import question_bytes
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import connected_components
from rapids_trav.storage.block_sizes import query_bytes
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
    """Yield the run, whose values are labels, while holding memory for it and for the answer."""
    if options.tuning:
        with _propagated(graph, options, on_page) as done:
            yield done
        return
    view = graph.storage.link_view(resolve(graph, options.where))
    ranked = graph.ids.rank is not None

    def needed() -> int:
        return query_bytes(graph.engine.place, graph.n_vertices).components(ranked, view.paged)

    with holding(graph.budget, needed, "the components of vertices"):
        places = graph.values.places(vertex_dtype(graph.n_vertices)) if ranked else None
        yield graph.engine.links(view, places, RunOptions(trace=options.trace, on_page=on_page))


@contextmanager
def _propagated(graph: TraversableGraph, options: ComponentsOptions, on_page: OnPage | None) -> Iterator[Run]:
    """Yield the run of the program that hands on the smallest label, as `labelled` does."""
    question = options.as_program.changed(where=resolve(graph, options.where))
    label = vertex_dtype(graph.n_vertices)
    program = connected_components(label.name)
    view = gather_view(graph, program, question)
    room = question_bytes(label.itemsize, graph.ids.rank is not None)
    with running(graph, view, program, question, room):
        state = RunState(graph.values.places(label), graph.values.flags())
        yield execute(graph, view, program, state, question, on_page)
