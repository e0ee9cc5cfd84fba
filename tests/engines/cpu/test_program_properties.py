"""Vertex programs over random graphs of every shape: each mode, in memory and paged, against oracles."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
from common import rows
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import shapes

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import GatherView, Pages, RunOptions
from rapids_trav.memory.budget import Budget
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState

common = settings(max_examples=30)


@common
@given(shapes(), st.data())
def test_questions(shape, data):
    n, edges = shape
    directed = data.draw(st.booleans())
    quarters = data.draw(st.lists(st.integers(0, 9), min_size=len(edges), max_size=len(edges)))
    weights = [quarter / 4 for quarter in quarters]
    frame = pd.DataFrame({"src": [u for u, _ in edges], "dst": [v for _, v in edges], "w": weights})
    frame = frame.astype({"src": "int64", "dst": "int64", "w": "float64"})
    graph = frame.trav.graph(directed=directed, weight="w", vertices=range(n))
    truth = nx.MultiDiGraph() if directed else nx.MultiGraph()
    truth.add_nodes_from(range(n))
    truth.add_weighted_edges_from(frame.itertuples(index=False, name=None))

    parts = nx.connected_components(nx.Graph(truth))
    wanted = {v: min(part) for part in parts for v in part}
    source = data.draw(st.integers(0, n - 1))
    distance = nx.single_source_dijkstra_path_length(truth, source)
    assert dict(rows(graph.components())) == wanted
    for asynchronous in (False, True):
        found = rows(graph.sssp(source, reached_only=True, asynchronous=asynchronous))
        assert {v: d for v, d, _ in found} == distance
        for v, d, u in found:
            hops = [w["weight"] for w in truth.get_edge_data(u, v).values()] if u is not None else []
            assert d - distance[u] in hops if hops else v == source


@common
@given(shapes(), st.data())
def test_pages(shape, data):
    """Streaming page by page gives the values of a run in memory and keeps to the budget."""
    n, edges = shape
    src, dst = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    engine = CpuEngine()
    triples = (src, dst, np.array(weights, dtype="float32"))
    into = engine.build_adjacency(lambda: iter([triples]), n, transpose=True)
    out = engine.build_adjacency(lambda: iter([(src, dst)]), n)
    weighted = data.draw(st.booleans())
    degrees = np.bincount(src, triples[2], n) if weighted else np.diff(out.row_offsets)
    view = GatherView(into, out, into.weights if weighted else None, degrees)
    cuts = data.draw(st.lists(st.integers(0, n), max_size=4))
    budget = Budget(1 << 20)
    pages = Pages(np.unique([0, *cuts, n]), budget)
    mapped = replace(into, row_offsets=into.row_offsets.view(), column_indices=into.column_indices.view())
    for array in (mapped.row_offsets, mapped.column_indices):
        array.flags.writeable = False  # as arrays mapped from files are
    paged = GatherView(mapped, out, view.weights, degrees, pages)
    mode = data.draw(st.sampled_from(["auto", "pull", "notify"]))
    for program, first, parameters in (
        (shipped.shortest_paths(), np.where(np.arange(n) == 0, 0.0, np.inf), ()),
        (shipped.pagerank(1e-12), np.full(n, 1 / n), (0.85, 1 / n)),
    ):
        start = RunState(first, np.ones(n, bool))
        seen = []
        options = {"parameters": parameters, "weighted": weighted, "max_iterations": 40}
        whole = engine.run(view, program, start, RunOptions(mode="pull", **options))
        asked = RunOptions(
            mode=mode, trace=True, on_page=lambda *page, seen=seen: seen.append(page), **options
        )
        run = engine.run(paged, program, start, asked)
        np.testing.assert_allclose(run.values, whole.values, rtol=1e-12)
        assert sum(row.pages for row in run.trace) == len(seen)
        assert sum(row.bytes for row in run.trace) == sum(n_bytes for _, n_bytes in seen)
        assert budget.used == 0 and 0 < budget.peak <= budget.limit
        assert all(row.pages <= len(pages.firsts) - 1 for row in run.trace)
