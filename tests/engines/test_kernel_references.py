"""The NumPy references of the kernels agree with the CPU engine, which is tested by other oracles as well."""

from __future__ import annotations

from types import SimpleNamespace

import kernel_references as reference
import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs.pages import StreamedEdges
from rapids_trav.engines.interface import Ordered
from rapids_trav.engines.runs import GatherView

N = 300


@pytest.fixture(scope="module")
def edges():
    """Return ends with a hub, self-loops, repeated edges and vertices without any."""
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, N - 20, (2, 500))
    u[:150] = 7
    v[200:220] = u[200:220]
    u[220:240], v[220:240] = u[:20], v[:20]
    return u, v


@pytest.fixture(scope="module")
def adjacency(edges):
    return CpuEngine().build_adjacency(lambda: iter([edges]), N, symmetric=True)


@pytest.fixture(scope="module")
def searched(edges):
    """Return the answer of a search from 7 over the same edges, by vertex; unreached ones have -1."""
    found = pd.DataFrame({"src": edges[0], "dst": edges[1]}).trav.graph().bfs(7, deterministic=True)
    found = found.set_index("vertex").reindex(range(N)).fillna(-1).astype(np.int64)
    return found["distance"].to_numpy(), found["predecessor"].to_numpy()


@pytest.mark.parametrize("symmetric", [False, True])
def test_building(edges, symmetric):
    built = CpuEngine().build_adjacency(lambda: iter([edges]), N, symmetric=symmetric)
    offsets, columns = reference.build(*edges, N, symmetric)
    np.testing.assert_array_equal(built.row_offsets, offsets)
    np.testing.assert_array_equal(built.column_indices, columns)


def test_first_neighbors_by_hand():
    offsets, columns = np.array([0, 0, 1, 4]), np.array([2, 0, 1, 2])
    assert reference.first_neighbors(offsets, columns).tolist() == [-1, -4, 0]


def test_word_rows_by_hand():
    lengths = np.array([3] * 32 + [2] * 31 + [1] + [0] * 32 + [5] * 3)
    offsets = np.append(0, lengths.cumsum())
    assert reference.word_rows(offsets).tolist() == [[0, 3], [96, 0], [159, 0], [159, 0]]


def test_smallest_predecessors(adjacency, searched):
    distance, predecessor = searched
    rows = adjacency.row_offsets, adjacency.column_indices, distance
    np.testing.assert_array_equal(reference.smallest_predecessors(*rows), predecessor)
    order = np.random.default_rng(4).permutation(N)
    ordered = Ordered(order, np.argsort(order))
    view = SimpleNamespace(into=adjacency)
    theirs = CpuEngine().smallest_predecessors(view, distance.astype(np.int32), ordered)
    np.testing.assert_array_equal(reference.smallest_predecessors(*rows, order), theirs)
    assert (theirs != predecessor).any()


def test_walking(searched):
    targets = np.append(np.arange(N), -1)
    lengths, vertices = CpuEngine().walk(searched[1], targets)
    paths = reference.walk(searched[1], targets)
    assert [len(path) for path in paths] == lengths.tolist()
    assert [v for path in paths for v in path] == vertices.tolist()


def test_answers():
    """An answer is in the order of the caller's ids, whatever the numbers of the vertices."""
    edges = pd.DataFrame({"src": [90, 50, 30, 20], "dst": [50, 70, 50, 10]})
    found = edges.trav.graph().bfs(90)
    names = np.array([50, 10, 20, 90, 70, 30])
    distance, predecessor = np.array([1, -1, -1, 0, 2, 2]), np.array([3, -1, -1, -1, 0, 0])
    rows = found.astype(object).where(found.notna(), None).itertuples(index=False, name=None)
    assert list(rows) == reference.answer(distance, predecessor, np.argsort(names), names)


def test_queues(adjacency):
    degrees = np.diff(adjacency.row_offsets)
    active = np.arange(N) % 3 != 0
    light, heavy = reference.active_queue(active, degrees, 100)
    assert heavy.tolist() == [7]
    assert sorted([*light, *heavy]) == np.flatnonzero(active).tolist()
    assert degrees[light].max() < 100 <= degrees[heavy].min()


def test_counts_of_pages(adjacency):
    """The CPU reads the pages in which a row is marked, and lists these rows' edges."""
    marks = np.isin(np.arange(N), [0, 7, 8, 150, N - 1]).astype(np.uint8)
    firsts = np.array([0, 8, 8, 100, 200, N])
    counts = reference.count_pages(adjacency.row_offsets, firsts, marks)
    view = GatherView(adjacency, adjacency, None, None)
    pages = StreamedEdges(view, firsts, adjacency.n_edges, N)
    pieces = [(len(piece.rows), int(piece.starts[-1])) for piece in pages.pieces(np.flatnonzero(marks))]
    assert pieces == [tuple(row) for row in counts.tolist() if row[0]]
    assert counts[:, 0].tolist() == [2, 0, 1, 1, 1]
