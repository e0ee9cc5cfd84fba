"""Weakly connected components, by linking trees or by label propagation with shortcuts.

Engines with the method `links` link trees, mostly along a part of the edges (`engines.cpu.components`,
`engines.cuda.components`), unless the caller gives an option that only label propagation has.  Otherwise
labels are propagated:

S. Stergiou, D. Rughwani, K. Tsioutsiouliklis, "Shortcutting label propagation for distributed connected
components", WSDM 2018.

The initial label of a vertex is its place in the caller's order of ids.  In each iteration a vertex takes the
smallest label among its own and its neighbours' (`programs.connected_components`).  Alone, this takes as many
iterations as the diameter of the component.  Therefore, after the first few iterations, each vertex also
takes, between two iterations, the label of the vertex that its label names.  This doubles the reach of a
label.  The final label is the smallest id of the component.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import ComponentsOptions
from rapids_trav.algorithms.run import Answer, OnPage, answer, execute, gather_view, running
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.runs import Run, RunOptions
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.model.program import question_bytes, shortcut_bytes, union_bytes, union_bytes_on_gpu
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import connected_components
from rapids_trav.utilities.progress import streamed

FIRST = 4  # iterations before the first shortcut; graphs of small diameter need none


def components(graph: TraversableGraph, options: ComponentsOptions) -> Answer:
    """Return the frame that `Graph.components` documents."""
    with labelled(graph, options, streamed()) as done:
        label = graph.values.in_order(done.values)
        columns = graph.id_columns("vertex") | graph.id_columns("component", graph.values.at(label))
        return answer(graph, columns, done, options.as_program)


@contextmanager
def labelled(
    graph: TraversableGraph, options: ComponentsOptions, on_page: OnPage | None = None
) -> Iterator[Run]:
    """Run the algorithm and yield the run, whose values are the labels of the vertices.

    A label is the place, in the caller's order of ids, of the first vertex of the component.  The memory that
    the answer needs beside the values is held until the block ends.
    """
    with (_linked if _links(graph, options) else _propagated)(graph, options, on_page) as done:
        yield done


def _links(graph: TraversableGraph, options: ComponentsOptions) -> bool:
    """Return whether to link trees; raise a `TravError` if the caller asks for it and the engine cannot."""
    engine, processor = graph.engine, options.processor
    can = engine.links is not None and processor in ("auto", engine.processor)
    if options.mode == "union" and not can:
        if engine.links is None:
            raise TravError(
                f"mode='union' is not available with the engine {engine.name!r}: use mode='auto', or build "
                f"with engine='cpu'."
            )
        raise TravError(
            f"mode='union' runs where the graph is, on the {engine.processor.upper()}, and "
            f"processor={processor!r}: leave out processor, or use mode='auto'."
        )
    return can and options.may_link


@contextmanager
def _linked(graph: TraversableGraph, options: ComponentsOptions, on_page: OnPage | None) -> Iterator[Run]:
    assert graph.engine.links is not None
    view = graph.storage.link_view(graph.rows.resolve(options.where))
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


@contextmanager
def _propagated(graph: TraversableGraph, options: ComponentsOptions, on_page: OnPage | None) -> Iterator[Run]:
    question = options.as_program.filtered(graph.rows.resolve(options.where))
    dtype = vertex_dtype(graph.n_vertices)
    program, ranked = connected_components(dtype.name), graph.ids.rank is not None
    view = gather_view(graph, program, question)
    room = question_bytes(dtype.itemsize, ranked)
    between = shortcut_bytes(dtype.itemsize, ranked, graph.engine.place == "host")
    with running(graph, view, program, question, room, between):
        labels = graph.values.places(dtype)
        state = RunState(labels, graph.values.flags())
        shortcuts = Shortcuts(labels, graph.ids.rank, graph.engine.xp)
        own = {"between": shortcuts, "between_from": FIRST, "between_bytes": between}
        del labels, shortcuts
        done = execute(graph, view, program, state, question, on_page=on_page, **own)
        del state, own
        yield done


class Shortcuts:
    """Callback that hooks and shortcuts labels between iterations; it activates vertices whose label changes.

    Parameters
    ----------
    labels : vertex array, (n,)
        The initial labels of the run.
    rank : vertex array, (n,), or None
        The vertex that each label names; None: a label is the internal id itself.
    """

    def __init__(self, labels: Array, rank: Array | None, xp: ModuleType) -> None:
        self._before, self._rank, self._xp = labels, rank, xp

    def __call__(self, state: RunState) -> RunState:
        xp = np if isinstance(state.values, np.ndarray) else self._xp  # a GPU's graph may run on the CPU
        before, self._rank = move(self._before, xp), None if self._rank is None else move(self._rank, xp)
        values = state.values.copy()
        changed = xp.flatnonzero(before != values)
        xp.minimum.at(values, self._named(before[changed]), values[changed])
        self._before = values = values[self._named(values)]
        return RunState(values, (values != state.values) | state.active, state.iteration)

    def _named(self, labels: Array) -> Array:
        return labels if self._rank is None else self._rank[labels]
