"""Iterations in each mode: active vertices, counters of the trace, and pages read from outside memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Program
from rapids_trav.algorithms.pictures import block_spans, n_ranks, rank_costs, rows_alone
from rapids_trav.programs import shipped

FURTHER = Program("further", "int64", "min", scatter=lambda value, degree: value + degree)
CAPPED = Program(
    "capped",
    "int64",
    "min",
    gather=lambda message: message + 1,
    apply=lambda value, gathered: min(value, gathered),
)


def path_frame(n):
    return pd.DataFrame({"src": np.arange(n - 1), "dst": np.arange(1, n)})


def paged_path(n):
    """Return a path with each edge ten times, and memory for the vertices' values and a few pages only."""
    return pd.concat([path_frame(n)] * 10).trav.graph(memory_limit=165_000)


@pytest.mark.parametrize("mode", ["pull", "notify", "push", "auto"])
def test_messages_of_a_scatter_take_their_places(mode):
    graph = path_frame(30).trav.graph(directed=True)
    found = graph.run(FURTHER, initial={0: 0}, mode=mode)
    assert found["value"].tolist() == list(range(30))


def test_few_active_vertices_notify():
    graph = path_frame(30).trav.graph(directed=True)
    found = graph.run(CAPPED, initial={0: 0}, trace=True)
    assert found.result["value"].tolist() == list(range(30))
    assert set(found.trace["mode"]) == {"notify"}


def test_from_storage_few_active_vertices_are_fewer():
    """A tenth of the edges notify in memory; a scattered read of storage costs ten times as much (G14)."""
    n = 2000
    for graph, mode in ((path_frame(n).trav.graph(), "notify"), (paged_path(n), "pull")):
        initial = dict.fromkeys(range(n // 10), 0)
        assert set(graph.run(CAPPED, initial=initial, max_iterations=1, trace=True).trace["mode"]) == {mode}


@pytest.mark.parametrize("program", [CAPPED, shipped.breadth_first()])
def test_notified_rows_at_the_bounds_of_pages(program):
    n = 2000
    graph = paged_path(n)
    options = {"initial": {0: 0}, "trace": True}
    found = graph.run(program, mode="notify", **options)
    assert found.result["value"].tolist() == list(range(n))
    assert found.trace["pages"].max() <= 2  # the neighbours of one vertex are on two pages at most


def test_every_iteration_streams_every_edge_once():
    """A page holds a 4-byte offset for each row, one more offset, and 4 bytes for each edge."""
    n = 2000
    graph = paged_path(n)
    trace = graph.run(CAPPED, initial={0: 0}, mode="pull", max_iterations=3, trace=True).trace
    pages = trace["pages"].iloc[0]
    assert trace["pages"].tolist() == [pages] * 3 and pages > 2
    n_entries = 2 * graph.n_edges
    assert trace["bytes"].tolist() == [4 * n_entries + 4 * (n + pages)] * 3


def test_a_vertex_that_two_push_to_is_active_once():
    """Vertices 0 and 1 have the values 5 and 3, so the value of vertex 2 falls twice in one iteration."""
    edges = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [2, 2, 3, 4]})
    graph = edges.trav.graph(directed=True)
    program = shipped.breadth_first()
    found = graph.run(program, initial={0: 5, 1: 3}, mode="push", trace=True)
    assert found.result["value"].tolist() == [5, 3, 4, 5, 6]
    assert found.trace["active"].tolist() == [2, 1, 1, 1]


def test_far_vertices_wait_for_their_turn():
    """Only the first few of the 3000 pairs are below the first threshold; the others come later."""
    n = 6000
    edges = pd.DataFrame({"src": np.arange(0, n, 2), "dst": np.arange(1, n, 2)})
    graph = edges.trav.graph()
    labels = graph.run(
        shipped.connected_components("int64"), initial=np.arange(n), mode="push", asynchronous=True
    )
    assert labels["value"].tolist() == [v // 2 * 2 for v in range(n)]


# ---- rows about ranks and blocks that are read from a trace


ROWS = pd.DataFrame({"level": [1, 2], "milliseconds": [3.0, 4.0], "bytes": [50, 70]})
OF_RANKS = ROWS.assign(
    following_ms_0=[1.0, 2.0], exchange_ms_0=[2.0, 2.0], bytes_0=[20, 30],
    following_ms_1=[0.5, 0.5], exchange_ms_1=[2.0, 1.0], bytes_1=[30, 40],
)  # fmt: skip
OF_BLOCKS = pd.DataFrame(
    {
        "iteration": [1, 2, 3],
        "span_block": [[4, 5], [], [4]],
        "span_what": [["load", "stay"], [], ["work"]],
        "span_begin": [[0.0, 1.5], [], [7.0]],
        "span_end": [[0.5, 2.0], [], [8.0]],
    }
)


def test_ranks():
    assert n_ranks(OF_RANKS) == 2 and n_ranks(ROWS) == 0
    costs = rank_costs(OF_RANKS)
    assert costs["rank"].tolist() == [0, 0, 1, 1] and costs["level"].tolist() == [1, 2, 1, 2]
    assert costs["bytes"].tolist() == [20, 30, 30, 40]
    assert costs["following_ms"].tolist() == [1.0, 2.0, 0.5, 0.5]
    assert rank_costs(ROWS).empty
    pd.testing.assert_frame_equal(rows_alone(OF_RANKS), ROWS)


def test_spans():
    spans = block_spans(OF_BLOCKS)
    assert list(spans.itertuples(index=False, name=None)) == [
        (1, 4, "load", 0.0, 0.5),
        (1, 5, "stay", 1.5, 2.0),
        (3, 4, "work", 7.0, 8.0),
    ]
    assert spans["block"].dtype == "int64" and spans["end"].dtype == "float64"
    assert block_spans(ROWS).empty and list(rows_alone(OF_BLOCKS)) == ["iteration"]
