"""The index of rows on a GPU finds the rows that a look at all of them finds, also through cuDF frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav.storage.edge_rows import RowIndex

N, M = 2000, 30_000

pytestmark = pytest.mark.gpu


def ends():
    random = np.random.default_rng(3)
    return [(N * random.random(M) ** 3).astype(np.int64) for _ in "uv"]


@pytest.mark.parametrize("every", [1, 2, 7, 100, N])
def test_rows_with_both_ends_chosen(engine, every):
    u, v = ends()
    chosen = np.arange(N) % every == every - 1
    index = RowIndex(engine, N, *map(engine.xp.asarray, (u, v)))
    found = index.inside(engine.xp.asarray(chosen.astype(np.int32) - 1))
    if every == 1:
        assert found is None  # it would read every row
    else:
        assert found.tolist() == np.flatnonzero(chosen[u] & chosen[v]).tolist()


@pytest.mark.parametrize("where", [None, "open", "km > 0.5", "mask"])
def test_neighbourhoods_of_cudf_frames(engine, where):
    cudf = pytest.importorskip("cudf")
    u, v = ends()
    random = np.random.default_rng(4)
    host = pd.DataFrame({"src": u, "dst": v, "open": random.random(M) < 0.6, "km": random.random(M)})
    graph, wanted = cudf.from_pandas(host).trav.graph(), host.trav.graph()
    mask = {"mask": [(host["km"] < 0.7).to_numpy()] * 2}.get(where, [where] * 2)
    for seed in (0, 1999, 1500, int(u.max())):
        found, right = graph.khop(seed, 1, where=mask[0]), wanted.khop(seed, 1, where=mask[1])
        pd.testing.assert_frame_equal(found.edges.to_pandas(), right.edges)
    assert "index of rows" in graph.memory()["structure"].to_pandas().tolist()


CHANGES = {  # which both libraries can make to a frame
    "fewer digits": lambda frame: frame.__setitem__("km", frame["km"].astype("float32")),
    "categories": lambda frame: frame.__setitem__("open", frame["open"].astype("int32").astype("category")),
    "other labels": lambda frame: setattr(frame, "index", frame.index[::-1]),
    "a name of the labels": lambda frame: setattr(frame, "index", frame.index.rename("row")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_a_cudf_frame_that_the_caller_changes(engine, change):
    cudf = pytest.importorskip("cudf")
    u, v = ends()
    random = np.random.default_rng(4)
    host = pd.DataFrame({"src": u, "dst": v, "open": random.random(M) < 0.6, "km": random.random(M)})
    frame = cudf.from_pandas(host)
    before, wanted = frame.trav.graph(), edges_near(host.trav.graph())
    for _ in range(2):  # by the index of rows from the second on
        pd.testing.assert_frame_equal(edges_near(before).to_pandas(), wanted)
    for changed in (frame, host):
        CHANGES[change](changed)
    pd.testing.assert_frame_equal(edges_near(before).to_pandas(), wanted)
    after, wanted = frame.trav.graph(), edges_near(host.trav.graph())
    for _ in range(2):
        pd.testing.assert_frame_equal(edges_near(after).to_pandas(), wanted)


def edges_near(graph):
    return graph.khop(1500, 1).edges
