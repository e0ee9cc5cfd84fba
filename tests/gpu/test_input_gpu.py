"""Invalid and unusual input on the GPU: the same answers and errors as with pandas."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import TravError, UnknownVertexError, generators

pytestmark = pytest.mark.gpu


@pytest.fixture
def cudf():
    return pytest.importorskip("cudf")


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_nested_ids_are_refused(cudf, values):
    frame = cudf.DataFrame({"src": cudf.Series(values), "dst": [1, 2]})
    with pytest.raises(TravError, match="whose values cannot be ids"):
        frame.trav.graph()
    with pytest.raises(TravError, match="whose values are not ids"):
        cudf.DataFrame({"src": [0], "dst": [1]}).trav.bfs(frame["src"])


def test_big_endian_sources(cudf):
    graph = cudf.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    for sources in (np.array([0], ">i8"), pd.Series(np.array([0], ">i8"))):
        assert graph.bfs(sources)["distance"].to_arrow().to_pylist() == [0, 1, 2]


def test_big_endian_edges_on_the_gpu():
    frame = pd.DataFrame({"src": np.array([0, 1], ">i8"), "dst": np.array([1, 2], ">i8")})
    assert frame.trav.bfs(0, engine="cuda")["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("sources", [(1, "a"), [(1, "a")]])
def test_tuples_for_ids_of_one_column_are_explained(cudf, sources):
    graph = cudf.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    with pytest.raises(TravError, match="a tuple is one id only if"):
        graph.bfs(sources)


@pytest.mark.parametrize("make", [generators.path, generators.star, generators.rmat])
def test_arguments_of_generators(cudf, make):
    with pytest.raises(TravError, match="is not accepted: give an integer from 0"):
        make(-1, library="cudf")
    assert make(4, library="cudf").to_pandas().equals(make(4))


def test_the_largest_seed(cudf):
    made = generators.rmat(4, seed=2**63 - 1, library="cudf").to_pandas()
    assert made.equals(generators.rmat(4, seed=2**63 - 1))


def test_a_repeated_target_has_one_path_at_its_first_mention(cudf):
    graph = cudf.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}).trav.graph()
    answer = graph.paths(0, [3, 1, 3, 1])
    assert answer["target"].to_arrow().to_pylist() == [3] * 4 + [1] * 2
    assert answer["vertex"].to_arrow().to_pylist() == [0, 1, 2, 3, 0, 1]


def test_a_repeated_unknown_vertex_counts_once(cudf):
    graph = cudf.DataFrame({"src": [0], "dst": [1]}).trav.graph()
    for given in ([9, 9], np.array([9, 9]), cudf.Series([9, 9])):
        with pytest.raises(TravError, match="contains 1 unknown vertex: 9:"):
            graph.bfs(given)
    words = cudf.DataFrame({"src": ["a"], "dst": ["b"]}).trav.graph()
    with pytest.raises(TravError, match="contains 1 unknown vertex: 'z':"):
        words.bfs(cudf.Series(["z", "z"]))
    with pytest.raises(TravError, match="sources holds 1, but the graph's ids are"):
        words.bfs(["a", 1])
    with pytest.raises(TravError, match="sources holds b'a', but the graph's ids are"):
        words.bfs(b"a")
    with pytest.raises(TravError, match=r"sources holds .*2000.*, but the graph's ids are"):
        words.bfs(cudf.Series(pd.date_range("2000", periods=2)))


@pytest.mark.parametrize("gaps", [False, True])
def test_unknown_categories_are_refused(cudf, gaps):
    """In cuDF, unknown categories have null codes."""
    names = pd.CategoricalDtype(["a", "b", "c", "d", "e"])
    ends = {"src": ["b", "c"], "dst": ["c", "e" if gaps else "d"]}
    graph = cudf.from_pandas(pd.DataFrame(ends).astype(names)).trav.graph()
    for unknown in ("a", "nowhere"):
        with pytest.raises(UnknownVertexError, match=f"^sources contains 1 unknown vertex: '{unknown}':"):
            graph.bfs(["b", unknown])
    assert graph.bfs("b")["distance"].to_arrow().to_pylist() == [0, 1, 2]
