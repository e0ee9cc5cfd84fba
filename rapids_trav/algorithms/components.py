"""Weakly connected components: label propagation with shortcuts.

S. Stergiou, D. Rughwani, K. Tsioutsiouliklis, "Shortcutting label propagation for distributed connected
components", WSDM 2018.

Every vertex starts with its own place in the caller's order of ids as its label, and takes the smallest label
around it (`programs.connected_components`).  By itself that takes as many iterations as the component is
wide.  So from the time that a few were not enough, between two iterations every vertex takes the label of the
vertex that its label names, which doubles the reach of a label.  In the end a label is the smallest id of the
component.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rapids_trav.ids import vertex_dtype
from rapids_trav.structures import Array, Run, State

from .programs import connected_components
from .run import RunQuestion, answer, execute, gather_view, in_order

if TYPE_CHECKING:
    from rapids_trav.graph import Graph

FIRST = 4  # iterations after which a component counts as wide


def components(graph: Graph, **asked: Any) -> Any:
    """Frame of the components that `Graph.components` documents."""
    question = RunQuestion(direction="both", **asked)
    xp, n = graph.engine.xp, graph.n_vertices
    dtype = vertex_dtype(n)
    labels = xp.arange(n, dtype=dtype) if graph.ids.order is None else graph.ids.order.astype(dtype)
    done = _labelled(graph, State(labels, xp.ones(n, dtype=bool)), question)
    label = in_order(graph, done.values)
    columns = graph.id_columns("vertex") | graph.id_columns("component", graph.ids.placed(label))
    return answer(graph, columns, done, question)


def _labelled(graph: Graph, state: State, question: RunQuestion) -> Run:
    program = connected_components(state.values.dtype.name)
    view = gather_view(graph, program, question)
    trace: list = []
    begun, limit = state, FIRST
    while True:
        question = replace(question, max_iterations=limit)
        done = execute(graph, view, program, state, question, begun)
        trace += done.trace
        if done.converged:
            return replace(done, trace=trace)
        state = _shortcut(graph, state.values, done)
        question = replace(question, resume=False)  # it has gone on from there
        limit = done.iterations + 1


def _shortcut(graph: Graph, before: Array, done: Run) -> State:
    """Hook and shortcut the labels of a run that began with `before`; what they change is active too."""
    xp, rank = graph.engine.xp, graph.ids.rank

    def named(labels: Array) -> Array:
        return labels if rank is None else rank[labels]

    values = done.values.copy()
    changed = xp.flatnonzero(before != values)
    xp.minimum.at(values, named(before[changed]), values[changed])
    values = values[named(values)]
    active = values != done.values
    active |= True if done.active is None else done.active
    return State(values, active, done.iterations)
