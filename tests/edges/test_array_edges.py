"""Pairs of arrays and sparse matrices as edges, and inputs that are refused."""

import numpy as np
import pandas as pd
import pytest
from common import rows
from scipy import sparse
from scipy.sparse import csgraph

from rapids_trav import Graph, TravError

SRC, DST, KM = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.5, 2.5, 0.5])


def test_two_arrays_have_no_weights_and_three_have():
    pair, triple = Graph.from_edges((SRC, DST)), Graph.from_edges((SRC, DST, KM))
    assert (pair.weight, triple.weight) == (None, "weight")
    assert not pair.directed
    assert pair.edge_columns == ["src", "dst"]
    assert rows(triple.sssp(0, predecessors=False)) == [(0, 0.0), (1, 1.5), (2, 2.0)]
    assert Graph.from_edges((SRC, DST), directed=True).bfs(2, reached_only=True)["vertex"].tolist() == [2]


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float64", "datetime64[s]", "U3", "object"])
def test_types_of_arrays(dtype):
    src, dst = (ends.astype(str) if dtype == "object" else ends.astype(dtype) for ends in (SRC, DST))
    answer = Graph.from_edges((src.astype(dtype), dst.astype(dtype))).bfs(src[:1])
    right = pd.DataFrame({"src": src.astype(dtype), "dst": dst.astype(dtype)}).trav.bfs(src[:1])
    pd.testing.assert_frame_equal(answer, right)


def test_a_matrix_is_a_directed_graph_with_weights_and_all_rows():
    random = np.random.default_rng(3)
    dense = np.where(random.random((30, 30)) < 0.05, random.random((30, 30)), 0)
    matrix = sparse.csr_array(dense)
    graph = Graph.from_edges(matrix)
    assert (graph.directed, graph.weight, graph.n_vertices, graph.n_edges) == (True, "weight", 30, matrix.nnz)
    right = csgraph.dijkstra(matrix, indices=4)
    found = graph.sssp(4, predecessors=False)["distance"].to_numpy(float, na_value=np.inf)
    np.testing.assert_allclose(found, right)
    both = Graph.from_edges(matrix, directed=False).sssp(4, predecessors=False)["distance"]
    undirected = csgraph.dijkstra(matrix, directed=False, indices=4)
    np.testing.assert_allclose(both.to_numpy(float, na_value=np.inf), undirected)
    assert graph.degrees()["vertex"].dtype == np.int32
    np.testing.assert_array_equal(graph.to_scipy().toarray(), dense)


def test_vertices_of_a_matrix_and_of_the_caller():
    graph = Graph.from_edges(sparse.coo_array((3, 3)), vertices=[7])
    assert graph.degrees()["vertex"].tolist() == [0, 1, 2, 7]


def test_repeated_entries_are_added_and_zeros_are_edges():
    matrix = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    graph = Graph.from_edges(matrix)
    assert rows(graph.sssp(0, predecessors=False)) == [(0, 0), (1, 3), (2, 3)]
    assert matrix.nnz == 3  # the caller's matrix is unchanged
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert Graph.from_edges(twice).n_edges == 1
    assert twice.nnz == 2


def test_booleans_are_edges_without_weights():
    graph = Graph.from_edges(sparse.coo_array(np.eye(3, k=1, dtype=bool)))
    assert (graph.weight, graph.n_edges) == (None, 2)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (sparse.csr_array((2, 3)), "^The csr_array has the shape 2 by 3, .*: give a square one"),
        (sparse.coo_matrix((1, 2)), "^The coo_matrix has the shape 1 by 2"),
        (sparse.coo_array(np.eye(2, dtype=complex)), "weight='weight' is a column of complex128"),
        ((SRC, DST[:2]), r"different lengths \(src 3, dst 2\): give each edge one value in each"),
        ((SRC, DST, KM, KM), "a tuple that holds 4 arrays: give two arrays, the ends of the edges, or three"),
        ((SRC,), "a tuple that holds 1 array: give two arrays"),
        ((SRC, [1, 2, 3]), "a tuple that holds an object of type list: give two arrays"),
        ((SRC, np.eye(3)), "^The array of dst has 2 dimensions: give one dimension"),
        ([SRC, DST], r"edges is a list of arrays: give .* a tuple of two arrays, \(src, dst\)"),
        (np.column_stack([SRC, DST]), r"edges is a numpy.ndarray of arrays: give .* a tuple of two arrays"),
        ((SRC, np.array([0.5, 1, 2])), "^Column 'dst' holds 0.5, which is not a whole number"),
    ],
)
def test_what_is_refused(edges, message):
    with pytest.raises(TravError, match=message):
        Graph.from_edges(edges)


@pytest.mark.parametrize(
    "kind, part, value",
    [("csr", "indices", 5_000), ("csc", "indices", -5), ("bsr", "indptr", 10**6), ("csr", "indptr", -5),
     ("coo", "coords", 5_000)],
)  # fmt: skip
def test_indices_outside_a_matrix_never_reach_its_loops(kind, part, value):
    matrix = sparse.coo_array((np.ones(3), ([0, 1, 2], [1, 2, 0])), shape=(4, 4)).asformat(kind)
    if kind == "coo":
        matrix.coords[0][1] = value
    else:
        getattr(matrix, part)[1] = value
    with pytest.raises(TravError, match=r"_array do not fit together .*: make the matrix anew"):
        Graph.from_edges(matrix)


@pytest.mark.parametrize("kind", ["csr", "coo"])
@pytest.mark.parametrize(
    "dtype, value",
    [("int8", 100), ("uint8", 200), ("int16", 2**15 - 1), ("int32", 2**31 - 1), ("uint32", 2**32 - 1),
     ("int64", 2**61), ("uint64", 2**61), ("float32", 2**24 + 2)],
)  # fmt: skip
def test_repeated_entries_are_added_in_a_type_that_holds_the_sum(kind, dtype, value):
    data = np.array([value, value, 1, 0], dtype)
    rows, columns = np.array([0, 0, 0, 1]), np.array([1, 1, 1, 2])
    matrix = sparse.coo_array((data, (rows, columns)), shape=(3, 3))
    if kind == "csr":
        matrix = sparse.csr_array((data, columns, np.array([0, 3, 4, 4])), shape=(3, 3))
    graph = Graph.from_edges(matrix)
    assert graph.sssp(0)["distance"].tolist() == [0, 2 * value + 1, 2 * value + 1]
    assert int(graph.to_scipy()[0, 1]) == 2 * value + 1


def test_a_sum_that_no_integer_holds_is_refused():
    data = np.full(2, 2**62)
    one = sparse.coo_array((data, ([0, 1], [1, 2])), shape=(3, 3))
    assert Graph.from_edges(one).to_scipy()[0, 1] == 2**62
    with pytest.raises(TravError, match=r"add up to 9223372036854775808, more than 2\^63 - 1"):
        Graph.from_edges(sparse.coo_array((data, ([0, 0], [1, 1])), shape=(3, 3)))
