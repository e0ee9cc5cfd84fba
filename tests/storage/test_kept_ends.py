"""Filters look up only the ends of the edges that they keep, in parts where the ids allow it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav.errors import TravError
from rapids_trav.jit.launches import count_launches
from rapids_trav.storage import edge_rows as kept

N, M = 500, 4000
IDS = {
    "range": lambda v: v,
    "shifted": lambda v: v - 250,
    "gaps": lambda v: 3 * v + 7,
    "unsigned": lambda v: (3 * v).astype(np.uint64) + np.uint64(2**63),
    "narrow": lambda v: (v % 100).astype(np.int8),
    "huge": lambda v: v * 2**50,
    "float": lambda v: v.astype(float),
    "nullable": lambda v: pd.array(v, dtype="Int64"),
    "text": lambda v: v.astype(str),
    "category": lambda v: pd.Categorical(v.astype(str), categories=[str(i) for i in range(N)]),
}
IN_PARTS = ("range", "shifted", "gaps", "unsigned", "narrow")


def edges_of(ids, share):
    random = np.random.default_rng(2)
    src, dst = (IDS[ids](random.integers(0, N, M)) for _ in "uv")
    return pd.DataFrame({"src": src, "dst": dst, "open": random.random(M) < share, "w": random.random(M)})


@pytest.mark.parametrize("degree_sort", [False, True])
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize("ids", IDS)
def test_a_filtered_graph_is_that_of_its_edges(ids, share, degree_sort, monkeypatch):
    monkeypatch.setattr(kept, "ROWS", 100)
    monkeypatch.setattr(kept, "SHARED", 1)
    edges = edges_of(ids, share)
    some = edges[edges["open"]]
    vertices = pd.concat([edges["src"], edges["dst"]], ignore_index=True)
    root = edges["src"].iloc[0]
    options = {"directed": True, "degree_sort": degree_sort, "weight": "w"}
    graph, wanted = edges.trav.graph(**options), some.trav.graph(**options, vertices=vertices)
    with count_launches() as counts:
        found = graph.bfs(root, where="open", deterministic=True)
    assert counts["keep_rows"] == (ids in IN_PARTS)
    pd.testing.assert_frame_equal(found, wanted.bfs(root, deterministic=True))
    found = graph.sssp(root, where="open")
    pd.testing.assert_frame_equal(found, wanted.sssp(root))
    near = graph.khop(root, 1, where="open").edges
    pd.testing.assert_frame_equal(near, wanted.khop(root, 1).edges)


def test_an_id_that_was_not_there_is_noticed(monkeypatch):
    monkeypatch.setattr(kept, "ROWS", 100)
    monkeypatch.setattr(kept, "SHARED", 1)
    ends = [np.arange(1000), np.arange(1000)]
    flags = np.ones(1000, bool)

    def encode(columns):
        return np.where(columns[0] < 950, columns[0], -1)

    with pytest.raises(TravError, match="edges changed"):
        kept.kept_ends(encode, ends, flags, np.dtype(np.int32))
    flags[950:] = False
    u, v = kept.kept_ends(encode, ends, flags, np.dtype(np.int32))
    assert u.tolist() == v.tolist() == list(range(950)) and u.dtype == np.int32
