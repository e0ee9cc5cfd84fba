"""Neighbourhoods by the index of rows, which is kept from the second question on, equal those without."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pairs import pairs

from rapids_trav import Graph
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.storage.edge_rows import EdgeRows, RowIndex

N, M = 400, 3000
IDS = {
    "integers": lambda v: 3 * v + 7,
    "text": lambda v: v.astype(str),
    "nullable": lambda v: pd.array(v, dtype="Int64"),
    "category": lambda v: pd.Categorical(v.astype(str), categories=[str(i) for i in range(N)]),
}
FILTERS = {
    "none": lambda edges: None,
    "column": lambda edges: "open",
    "condition": lambda edges: "km > 0.4 and open",
    "mask": lambda edges: (edges["km"] > 0.4).to_numpy(),
}
FORMS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def edges_of(ids="integers"):
    """Edges with hubs, self-loops and repeated rows, under an index that is not in order."""
    random = np.random.default_rng(5)
    ends = [(N * random.random(M) ** 2).astype(np.int64) for _ in "uv"]
    src, dst = (IDS[ids](end) for end in ends)
    frame = pd.DataFrame({"src": src, "dst": dst, "open": random.random(M) < 0.7, "km": random.random(M)})
    return frame.set_axis(random.permutation(M))


@pytest.fixture
def scanned(monkeypatch):
    """Return a function that asks a new graph, which has no index."""

    def khop(graph, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(EdgeRows, "_rows_inside", lambda *_: None)
            return graph.khop(*arguments, **options).edges

    return khop


def same(found, wanted):
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted)
    else:
        assert found.equals(wanted)


def structures(graph):
    return graph.memory()["structure"].tolist()


@pairs(ids=list(IDS), directed=[False, True], where=list(FILTERS))
def test_rows_by_the_index_are_those_of_a_scan(ids, directed, where, scanned):
    edges = edges_of(ids)
    graph = edges.trav.graph(directed=directed)
    options = {"where": FILTERS[where](edges)}
    seeds = edges["src"].drop_duplicates().tolist()[::20]
    graph.khop(seeds[0], 1)
    for seed in seeds:
        for k in (0, 1, 2):
            same(graph.khop(seed, k, **options).edges, scanned(graph, seed, k, **options))
    assert structures(graph)[-1] == "index of rows"


@pytest.mark.parametrize("order", ["degree", "locality", "ids"])
@pytest.mark.parametrize("form", FORMS)
def test_frames_and_orders(form, order, scanned):
    edges = FORMS[form](edges_of().reset_index(drop=True))
    graph = Graph.from_edges(edges, order=order)
    seeds = [7 + 3 * i for i in (390, 395, 2)]
    graph.khop(seeds[0], 1)
    for seed in seeds:
        same(graph.khop(seed, 1).edges, scanned(graph, seed, 1))
        same(graph.khop(seed, 1, where="open").edges, scanned(graph, seed, 1, where="open"))


def test_the_index_is_made_at_the_second_question():
    graph = edges_of().trav.graph()
    graph.khop(7, 1)
    assert "index of rows" not in structures(graph)
    graph.khop(7, 1)
    table = graph.memory().set_index("structure")["bytes"]
    assert table["index of rows"] == 8 * M + 4 * (graph.n_vertices + 1)


def test_a_graph_with_a_limit_has_no_index():
    graph = edges_of().trav.graph(memory_limit="10MB")
    for _ in range(3):
        graph.khop(7, 1)
    assert "index of rows" not in structures(graph)


def test_edges_in_several_frames_are_scanned(scanned):
    edges = edges_of()
    graph = Graph.from_edges([edges[:1000], edges[1000:]])
    for _ in range(3):
        same(graph.khop(7, 1).edges, scanned(graph, 7, 1))
    assert "index of rows" not in structures(graph)


def test_a_pickled_graph_leaves_the_index_behind():
    graph = edges_of().trav.graph()
    wanted = [graph.khop(7, 1).edges for _ in range(3)]
    again = pickle.loads(pickle.dumps(graph))
    assert "index of rows" not in structures(again)
    for edges in wanted:
        same(again.khop(7, 1).edges, edges)


def test_most_rows_are_faster_read_than_looked_up():
    edges = edges_of()
    u, v = ((edges[name].to_numpy() - 7) // 3 for name in ("src", "dst"))
    index = RowIndex(CpuEngine(), N, u, v)
    assert index.inside(np.zeros(N, np.int32)) is None
    assert index.inside(np.full(N, -1, np.int32)).tolist() == []
    few = np.arange(N) % 9 == 0
    assert index.inside(few.astype(np.int32) - 1).tolist() == np.flatnonzero(few[u] & few[v]).tolist()
