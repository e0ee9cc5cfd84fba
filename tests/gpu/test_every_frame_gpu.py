"""Arrow frames, arrays and matrices on the CUDA engine: converted to cuDF, answered in their own type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from common import rows
from scipy import sparse

from rapids_trav import Graph

pytestmark = pytest.mark.gpu
RANDOM = np.random.default_rng(18)
EDGES = pd.DataFrame(
    {"src": RANDOM.integers(0, 60, 200), "dst": RANDOM.integers(0, 60, 200), "km": RANDOM.integers(1, 9, 200)}
)
EDGES["open"] = RANDOM.random(200) < 0.8
TABLE = pa.Table.from_pandas(EDGES, preserve_index=False)


def plain(frame):
    """Return the rows of a frame of any library, with None for null."""
    if isinstance(frame, pl.DataFrame):
        return frame.rows()
    return [tuple(row.values()) for row in frame.to_pylist()] if isinstance(frame, pa.Table) else rows(frame)


@pytest.mark.parametrize("make", [lambda: pl.DataFrame(EDGES), lambda: TABLE, lambda: TABLE.to_reader()])
def test_answers_of_tables(make):
    on_cpu, on_gpu = (
        Graph.from_edges(EDGES, weight="km"),
        Graph.from_edges(make(), weight="km", engine="cuda"),
    )
    assert on_gpu.engine.name == "cuda"
    assert on_gpu.rows.source.library.name == "cudf"
    kind = type(on_gpu.rows.source._frames[0])
    for ask in (
        lambda graph: graph.bfs(3, predecessors=False),
        lambda graph: graph.bfs([3, 5], mode="each", deterministic=True),
        lambda graph: graph.bfs(3, where="open", deterministic=True, reached_only=True),
        lambda graph: graph.paths(3, [9, 20], deterministic=True),
        lambda graph: graph.khop(3, 1).vertices,
        lambda graph: graph.khop(3, 1).edges,
        lambda graph: graph.levels(3),
        lambda graph: graph.degrees(),
        lambda graph: graph.components(),
        lambda graph: graph.sssp(3, predecessors=False),
    ):
        assert type(ask(on_gpu)) is kind
        assert plain(ask(on_gpu)) == plain(ask(on_cpu))
    annotated = on_gpu.annotate(make(), on_gpu.bfs(3, predecessors=False))
    assert plain(annotated) == plain(on_cpu.annotate(EDGES, on_cpu.bfs(3, predecessors=False)))


@pytest.mark.parametrize(
    "dtype",
    [
        pl.Int32(),
        pl.UInt64(),
        pl.Float64(),
        pl.String(),
        pl.Categorical(),
        pl.Enum(["3", "2", "1"]),
        pl.Datetime("ms"),
    ],
    ids=str,
)
def test_types_of_ids(dtype):
    values = pl.Series(["1", "2", "3"])
    values = values.cast(dtype) if dtype in (pl.String(), pl.Categorical(), pl.Enum(["3", "2", "1"])) else (
        values.cast(pl.Int64()).cast(dtype)
    )  # fmt: skip
    edges = pl.DataFrame({"src": values[[0, 1]], "dst": values[[1, 2]]})
    answer = Graph.from_edges(edges, engine="cuda").bfs(values[:1])
    assert answer.schema == {"vertex": dtype, "distance": pl.Int32(), "predecessor": dtype}
    assert answer.sort("distance")["vertex"].to_list() == values.to_list()


def test_arrays_of_the_gpu_and_matrices():
    import cudf
    import cupy

    src, dst = (cupy.asarray(EDGES[name].to_numpy()) for name in ("src", "dst"))
    answer = Graph.from_edges((src, dst)).bfs(3, predecessors=False)
    assert isinstance(answer, cudf.DataFrame)
    assert rows(answer) == rows(EDGES.trav.bfs(3, predecessors=False))
    series = Graph.from_edges((cudf.Series(src), cudf.Series(dst, index=cupy.arange(200)[::-1])))
    assert rows(series.bfs(3, predecessors=False)) == rows(answer)
    matrix = sparse.random_array((50, 50), density=0.05, rng=RANDOM, format="csr")
    found = Graph.from_edges(matrix, engine="cuda").bfs(0, predecessors=False)
    assert rows(found) == rows(Graph.from_edges(matrix).bfs(0, predecessors=False))
    assert isinstance(found, pd.DataFrame)


def test_answers_joined_to_cudf_frames_and_matrices_out():
    import cudf

    edges = cudf.DataFrame(EDGES)
    graph, right = edges.trav.graph(weight="km"), EDGES.trav.graph(weight="km")
    found = graph.annotate(edges, graph.bfs(3, depth_limit=1, predecessors=False, reached_only=True))
    assert isinstance(found, cudf.DataFrame)
    expected = right.annotate(EDGES, right.bfs(3, depth_limit=1, predecessors=False, reached_only=True))
    assert rows(found) == rows(expected)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), right.to_scipy().toarray())
    assert set(graph.khop(3, 1).to_networkx()) == set(right.khop(3, 1).to_networkx())
