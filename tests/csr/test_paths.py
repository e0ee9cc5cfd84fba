"""Path layouts: their statistics, copies of vertex values, and dependencies between paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, shapes
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.cpu.build import build_adjacency
from rapids_trav.generators import grid
from rapids_trav.published.largegraph.path_decomposition import decompose


def rows_of(n, edges, directed=True, weights=None):
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    chunk = (u, v) if weights is None else (u, v, weights)
    return build_adjacency(lambda: iter([chunk]), n, symmetric=not directed)


def paths_of(layout):
    return [part.tolist() for part in np.split(layout.vertices, layout.starts[1:-1])][: layout.n_paths]


def depends(q, p, relaxed):
    return bool(set(q[:-1]) & set(p)) if relaxed else q[0] in p


def brute_force(layout, active):
    """Return flags of the paths with an active vertex and of all paths that depend on them."""
    paths = paths_of(layout)
    found = {i for i, path in enumerate(paths) if any(active[v] for v in path)}
    queue = list(found)
    for p in queue:
        more = {q for q in range(len(paths)) if depends(paths[q], paths[p], layout.relaxed)} - found
        found |= more
        queue += more
    return [i in found for i in range(len(paths))]


@common
@given(shapes(), st.booleans(), st.sampled_from([0, 1, 3, 8]), st.sampled_from([1, 4]), st.data())
def test_the_closure_is_what_a_search_over_paths_reaches(shape, directed, relaxed, n_ranges, data):
    n, edges = shape
    layout = decompose(rows_of(n, edges, directed), relaxed, n_ranges)
    active = np.zeros(n, bool)
    active[data.draw(st.lists(st.integers(0, n - 1), max_size=2))] = True
    assert layout.active_paths(active).tolist() == brute_force(layout, active)


@common
@given(shapes(), st.booleans(), st.sampled_from([0, 1, 3, 8]), st.sampled_from([1, 4]), st.integers(0, 39))
def test_paths_outside_it_have_nothing_to_do(shape, directed, relaxed, n_ranges, source):
    """Every edge from a vertex that the active one reaches is in a path of the closure."""
    n, edges = shape
    source %= n
    rows = rows_of(n, edges, directed)
    layout = decompose(rows, relaxed, n_ranges)
    plain = csr_matrix((np.ones(rows.n_edges), rows.column_indices, rows.row_offsets), (n, n))
    reached = np.isfinite(dijkstra(plain, indices=source, unweighted=True))
    active = layout.active_paths(np.arange(n) == source)
    for path, chosen in zip(paths_of(layout), active, strict=True):
        assert chosen or not reached[path[:-1]].any()


def test_relaxed_paths_that_meet_inside_depend_on_each_other():
    """They would not by the rule for strict paths, since the second does not start on the first."""
    layout = PathLayout(np.array([0, 1, 2, 3, 1, 4]), np.array([0, 3, 6]), None, 5, relaxed=2)
    active = np.arange(5) == 0
    assert layout.active_paths(active).tolist() == [True, True]
    meeting_at_the_end = PathLayout(np.array([0, 1, 2, 3, 2]), np.array([0, 3, 5]), None, 4, relaxed=2)
    assert meeting_at_the_end.active_paths(np.arange(4) == 0).tolist() == [True, False]


def test_nothing_depends_on_nothing():
    rows = rows_of(100, grid(10, 10).to_numpy(), directed=False)
    for relaxed in (0, 8):
        layout = decompose(rows, relaxed)
        assert not layout.active_paths(np.zeros(100, bool)).any()
        assert layout.active_paths(np.arange(100) == 7).all()  # the graph is undirected and connected


def along_paths(layout, values, weighted):
    """Propagate values along all paths until none changes, and return the number of passes."""
    passes, weights = 0, layout.weights
    while True:
        passes += 1
        state = layout.state_of(values)
        for p, (begin, end) in enumerate(zip(layout.starts[:-1], layout.starts[1:], strict=True)):
            for i in range(begin, end - 1):
                more = weights[i - p] if weighted else 0
                state[i + 1] = min(state[i + 1], state[i] + more)
        before = values.copy()
        layout.merge(state, values, np.minimum)
        if np.array_equal(values, before):
            return passes


@common
@given(shapes(), st.booleans(), st.sampled_from([0, 3, 8]), st.sampled_from([1, 4]))
def test_values_handed_on_along_paths_are_exact(shape, directed, relaxed, n_ranges):
    n, edges = shape
    weights = np.arange(len(edges)) % 7 + 1.0
    rows = rows_of(n, edges, directed, weights if edges else None)
    layout = decompose(rows, relaxed, n_ranges)
    distance = np.where(np.arange(n) == 0, 0.0, np.inf)
    if edges:
        along_paths(layout, distance, weighted=True)
    lightest = np.full((n, n), np.inf)
    sources = np.repeat(np.arange(n), np.diff(rows.row_offsets))
    if edges:
        np.minimum.at(lightest, (sources, rows.column_indices), rows.weights)
    assert (
        distance.tolist()
        == dijkstra(csr_matrix(np.where(np.isinf(lightest), 0, lightest)), indices=0).tolist()
    )
    if not directed:
        label = np.arange(n)
        along_paths(layout, label, weighted=False)
        _, found = connected_components(csr_matrix(np.isfinite(lightest)), directed=False)
        assert label.tolist() == [found.tolist().index(part) for part in found]


def test_a_pass_takes_values_to_the_end_of_a_path():
    rows = rows_of(1000, [(i, i + 1) for i in range(999)], weights=np.ones(999))
    distance = np.where(np.arange(1000) == 0, 0.0, np.inf)
    assert along_paths(decompose(rows, 0, 1), distance, weighted=True) == 2  # the second changes nothing
    assert distance.tolist() == list(range(1000))


@pytest.mark.parametrize("weighted", [False, True])
def test_figures(weighted):
    weights = np.array([1.0, 2.0, 3.0]) if weighted else None
    layout = PathLayout(np.array([0, 1, 2, 2, 0], np.int32), np.array([0, 3, 5], np.int32), weights, 3)
    assert (layout.n_paths, layout.n_edges, layout.mean_length, layout.single) == (2, 3, 1.5, 0.5)
    more = 24 if weighted else 0
    assert (layout.nbytes, layout.rows_nbytes) == (5 * 4 + 3 * 4 + more, 4 * 8 + 3 * 4 + more)
    assert layout.ratio == 32 / 44
    edges = layout.edges()
    assert (edges.src.tolist(), edges.dst.tolist()) == ([0, 1, 2], [1, 2, 0])
    assert str(layout) == (
        f"Strict paths: 2 for 3 edges, 1.50 edges long on average, 50.0% of them single; {32 + more} B, "
        f"0.73 times the bytes of compressed rows."
    )
