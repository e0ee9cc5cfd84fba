"""Decomposition of the edges into paths: each edge is in one path, and paths end at the right vertices."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import peak_of
from random_graphs import common, shapes

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu.build import build_adjacency
from rapids_trav.generators import grid, rmat
from rapids_trav.jit.kernels import Threads
from rapids_trav.memory.model.build import layout_bytes
from rapids_trav.published.largegraph.path_decomposition import decompose


def rows_of(n, edges, *, directed=True, weights=None):
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    chunk = (u, v) if weights is None else (u, v, weights)
    return build_adjacency(lambda: iter([chunk]), n, symmetric=not directed)


def edges_of(rows):
    """Count the edges of an adjacency, with their weights if it has any."""
    sources = np.repeat(np.arange(rows.n_vertices), np.diff(rows.row_offsets))
    weights = () if rows.weights is None else (rows.weights.tolist(),)
    return Counter(zip(sources.tolist(), rows.column_indices.tolist(), *weights, strict=True))


def paths_of(layout):
    return [part.tolist() for part in np.split(layout.vertices, layout.starts[1:-1])][: layout.n_paths]


def edges_along(layout):
    pairs = [pair for path in paths_of(layout) for pair in pairwise(path)]
    if layout.weights is None:
        return Counter(pairs)
    return Counter((*pair, weight) for pair, weight in zip(pairs, layout.weights.tolist(), strict=True))


def plainly(rows, relaxed):
    """Return the paths of one range, found with plain lists."""
    n = rows.n_vertices
    left = [part.tolist() for part in np.split(rows.column_indices, rows.row_offsets[1:-1])][:n]
    led_to = np.bincount(rows.column_indices, minlength=n)
    paths = []
    for root in range(n):
        stack = [root]
        while stack:
            u = stack[-1]
            if not left[u]:
                stack.pop()
                continue
            while left[u]:
                if u not in stack:
                    stack.append(u)
                path = [u]
                while left[u]:
                    row = left[u]
                    if relaxed and len(path) > 1 and len(row) > 1 and row[0] == path[-2]:
                        row[0], row[1] = row[1], row[0]
                    u = row.pop(0)
                    path.append(u)
                    if len(path) > relaxed if relaxed else led_to[u] > 1:
                        break
                paths.append(path)
    return paths


@common
@given(
    shapes(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 8]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([None, np.int32, np.float64]),
    st.sampled_from([np.int32, np.int64]),
)
def test_each_edge_is_in_one_path(shape, directed, relaxed, n_ranges, weight, dtype):
    n, edges = shape
    weights = None if weight is None else np.arange(len(edges)).astype(weight)
    rows = rows_of(n, edges, directed=directed, weights=weights if edges else None)
    columns = rows.column_indices.astype(dtype)
    layout = decompose(Adjacency(rows.row_offsets, columns, weights=rows.weights), relaxed, n_ranges)
    assert edges_along(layout) == edges_of(rows)
    assert layout.vertices.dtype == dtype
    assert (layout.n_edges, layout.n_vertices, layout.relaxed) == (rows.n_edges, n, relaxed)
    assert len(layout.vertices) == rows.n_edges + layout.n_paths == layout.starts[-1]
    assert layout.weights is None or layout.weights.dtype == weight
    assert (np.diff(layout.starts) >= 2).all()
    led_to = np.bincount(columns, minlength=n)
    inside = Counter(v for path in paths_of(layout) for v in path[1:-1])
    if relaxed:
        assert all(len(path) <= relaxed + 1 for path in paths_of(layout))
    else:
        assert all(led_to[v] == 1 and times == 1 for v, times in inside.items())
    if n_ranges == 1:
        assert paths_of(layout) == plainly(rows, relaxed)


@pytest.mark.parametrize("relaxed", [0, 8])
@pytest.mark.parametrize("edges", [grid(100, 100), rmat(11, 16)], ids=["grid", "rmat"])
def test_threads_make_other_paths_of_the_same_edges(edges, relaxed):
    rows = rows_of(int(edges.max().max()) + 1, edges.to_numpy(), directed=False)
    layouts = []
    for size in (1, 8):
        with Threads.limited(size):
            layouts.append(decompose(rows, relaxed))
    one, eight = layouts
    assert edges_along(one) == edges_along(eight) == edges_of(rows)
    if relaxed:
        assert eight.n_paths > one.n_paths  # paths end where they leave a range


def test_ranges_have_about_as_many_edges():
    star = rows_of(1000, [(0, leaf) for leaf in range(1, 1000)] + [(1, leaf) for leaf in range(2, 1000)])
    layout = decompose(star, 0, 4)
    assert edges_along(layout) == edges_of(star)


@pytest.mark.parametrize("relaxed", [0, 8])
def test_a_path_goes_on_to_its_end(relaxed):
    line = rows_of(6, [(i, i + 1) for i in range(5)])
    assert paths_of(decompose(line, relaxed, 1)) == [[0, 1, 2, 3, 4, 5]]
    with Threads.limited(1):  # the first range is done before the second
        assert paths_of(decompose(line, relaxed, 2)) == [[0, 1, 2], [2, 3, 4, 5]]


def test_a_cycle_is_one_path_back_to_its_start():
    cycle = rows_of(5, [(i, (i + 1) % 5) for i in range(5)])
    assert paths_of(decompose(cycle, 0, 1)) == [[0, 1, 2, 3, 4, 0]]


def test_self_loops_and_repeated_edges():
    loop = rows_of(3, [(0, 0), (0, 1), (1, 2)])
    assert paths_of(decompose(loop, 0, 1)) == [[0, 0, 1, 2]]
    repeated = rows_of(4, [(0, 1), (0, 1), (1, 2), (2, 3)])
    assert paths_of(decompose(repeated, 0, 1)) == [[0, 1], [1, 2, 3], [0, 1]]


def test_a_path_ends_where_edges_of_any_range_lead():
    """Vertex 1 has one in-edge from its own range, which is 0 and 1, and one from the other range."""
    rows = rows_of(8, [(0, 1), (1, 2), (5, 1), (6, 7)])
    assert paths_of(decompose(rows, 0, 2)) == [[0, 1], [1, 2], [5, 1], [6, 7]]


def test_relaxed_paths_do_not_go_straight_back():
    rows = rows_of(4, [(0, 1), (1, 2), (2, 3)], directed=False)
    assert paths_of(decompose(rows, 8, 1)) == [[0, 1, 2, 3, 2, 1, 0]]
    assert paths_of(decompose(rows, 2, 1))[0] == [0, 1, 2]


@pytest.mark.parametrize("relaxed", [0, 8])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_graphs_without_edges(n, relaxed):
    layout = decompose(rows_of(n, []), relaxed, 3)
    assert (layout.n_paths, layout.n_edges, layout.mean_length, layout.single) == (0, 0, 0.0, 0.0)
    assert layout.starts.tolist() == [0]


def chains(n_chains=400, length=40, core=512):
    """Return a directed graph of chains that leave a core and return to it."""
    random = np.random.default_rng(0)
    along = [random.integers(0, core, (6 * core, 2))]
    for chain in range(n_chains):
        begin = core + chain * length
        inner = np.arange(begin, begin + length - 1)
        along += [np.stack([inner, inner + 1], 1)]
        along += [[[random.integers(core), begin], [begin + length - 1, random.integers(core)]]]
    return core + n_chains * length, np.concatenate(along)


def test_long_paths_are_those_of_chains_in_one_direction():
    n, edges = chains()
    layout = decompose(rows_of(n, edges), 0, 1)
    assert layout.mean_length > 3
    assert layout.ratio < 0.6
    assert layout.single > 0.8  # the edges of the core


def test_strict_paths_of_undirected_graphs_are_single_edges():
    rows = rows_of(10_000, grid(100, 100).to_numpy(), directed=False)
    strict, relaxed = decompose(rows, 0, 1), decompose(rows, 8, 1)
    assert strict.mean_length < 1.01 and strict.single > 0.99
    assert strict.ratio > 1.9
    assert 7 < relaxed.mean_length <= 8
    assert relaxed.ratio < 0.9


@pytest.mark.parametrize("relaxed", [0, 8])
def test_it_takes_what_is_declared(relaxed):
    edges = grid(300, 300).to_numpy()
    rows = rows_of(90_000, edges, directed=False, weights=np.ones(len(edges)))
    decompose(rows, relaxed)
    peak = peak_of(lambda: decompose(rows, relaxed))
    declared = layout_bytes(90_000, rows.n_edges, 8, relaxed=relaxed > 0)
    assert 0.9 * declared < peak < declared + 20_000
