"""Smallest predecessors in an order that rows do not follow: both kernels, the reference, and edges read."""

from types import SimpleNamespace

import kernel_references as reference
import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.interface import Ordered

from .program_cases import CASES
from .small_graphs import GRAPHS, GraphView

pytestmark = pytest.mark.gpu


def ordered(n, xp, dtype):
    order = np.random.default_rng(n).permutation(n).astype(dtype)
    return Ordered(xp.asarray(order), xp.asarray(np.argsort(order).astype(dtype)))


def check(engine, into, distance, symmetric):
    """Check one search, or several, against the reference and the plain kernel."""
    xp = engine.xp
    by_place = ordered(into.n_vertices, xp, into.column_indices.dtype)
    order = by_place.order.get()
    view = SimpleNamespace(out=into if symmetric else None, into=into)
    found = engine.smallest_predecessors(view, xp.asarray(distance), by_place)
    assert found.shape == distance.shape
    assert found.dtype == into.column_indices.dtype
    rows = into.row_offsets.get(), into.column_indices.get()
    for of_one, parents in zip(np.atleast_2d(distance), np.atleast_2d(found.get()), strict=True):
        expected = reference.smallest_predecessors(*rows, of_one, order)
        np.testing.assert_array_equal(parents, expected)
        plain = xp.empty(into.n_vertices, into.column_indices.dtype)
        loader.load_for("ordered_tree.cu", into).launch(
            "ordered_predecessors_plain", into.n_vertices, into.row_offsets, into.column_indices,
            into.n_vertices, xp.asarray(of_one), by_place.order, plain,
        )  # fmt: skip
        np.testing.assert_array_equal(plain.get(), expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_agrees_with_the_reference(engine, name):
    graph = GRAPHS[name]
    view = GraphView(graph, engine)
    sources = range(min(graph.n, 3))
    distance = np.array([graph.distance([source]) for source in sources], np.int32)
    check(engine, view.into, distance, view.out is view.into)
    check(engine, view.into, distance[0], view.out is view.into)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_rows_in_several_spans(engine, name, symmetric):
    graph = CASES[name]
    ends = [engine.xp.asarray(end.astype(np.int32)) for end in (graph.u, graph.v)]
    into = engine.build_adjacency(lambda: iter([ends]), graph.n, symmetric=symmetric, transpose=True)
    distance = distances(into, [0], graph.n)
    check(engine, into, distance, symmetric)


def distances(into, sources, n):
    """Return the distances from some vertices by the rows of in-neighbours."""
    offsets, columns = into.row_offsets.get(), into.column_indices.get()
    of_row = np.repeat(np.arange(n), np.diff(offsets))
    distance = np.full(n, -1, np.int32)
    distance[sources] = level = 0
    while (distance == level).any():
        near = of_row[distance[columns] == level]
        distance[near[distance[near] < 0]] = level + 1
        level += 1
    return distance


@pytest.mark.parametrize("back", [False, True])
def test_distances_beyond_a_byte(engine, back):
    """Bytes tell distances from 255 on apart from each other no more, nor from unreached vertices."""
    n = 900
    ends = [np.arange(n - 1), np.arange(1, n)]
    if back:  # directed edges from far vertices to near ones
        ends = [np.append(ends[0], np.arange(300, n - 2)), np.append(ends[1], np.arange(2, n - 300))]
    given = [engine.xp.asarray(end.astype(np.int32)) for end in ends]
    into = engine.build_adjacency(lambda: iter([given]), n + 5, symmetric=not back, transpose=True)
    check(engine, into, distances(into, [0], n + 5), not back)


def test_few_edges_of_the_level_before_are_read_in_place_of_many(engine):
    """Most edges are inside the last level, and the one before it has few: those alone are read."""
    from rapids_trav.engines.cuda.predecessors import ordered_predecessors

    xp = engine.xp
    n = 4000
    random = np.random.default_rng(2)
    u = np.append(np.zeros(8, int), random.integers(1, 9, n))  # the source, 8 vertices, and those behind them
    v = np.append(np.arange(1, 9), np.arange(9, n + 9))
    inside = random.integers(9, n + 9, (2, 20 * n))  # most edges are inside the last level
    ends = [xp.asarray(np.append(*pair).astype(np.int32)) for pair in zip((u, v), inside, strict=True)]
    into = engine.build_adjacency(lambda: iter([ends]), n + 9, symmetric=True)
    distance = distances(into, [0], n + 9)
    read = {}
    for symmetric in (False, True):
        by_place, examined = ordered(n + 9, xp, np.int32), xp.zeros(1, np.uint64)
        found = ordered_predecessors(into, xp.asarray(distance), by_place, symmetric, examined)
        rows = into.row_offsets.get(), into.column_indices.get()
        expected = reference.smallest_predecessors(*rows, distance, by_place.order.get())
        np.testing.assert_array_equal(found.get(), expected)
        read[symmetric] = int(examined[0])
    degrees = np.diff(into.row_offsets.get())
    assert read[False] == degrees[distance > 0].sum()
    assert read[True] == degrees[distance < 2].sum()  # the source's 8 edges are fewer by far as well
