"""Graphs of all shapes on many ranks in one process."""

from __future__ import annotations

import pandas as pd
import pytest
from named_graphs import CASES, FEW_LEVELS
from rank_cases import same, spread


@pytest.mark.parametrize("name", CASES)
def test_six_ranks(name):
    case = CASES[name]()
    graph = spread(case.edges, (3, 2), **case.options)
    same(graph.frame("degrees", "both"), graph.local.degrees("both"))
    for source in case.sources:
        for asked in ({}, {"direction": "in"}, {"where": "open", "reached_only": True}):
            asked = asked | {"deterministic": True}
            same(graph.frame("bfs", source, **asked), graph.local.bfs(source, **asked))


@pytest.mark.slow
def test_four_hundred_ranks():
    """One directed graph contains all shapes with few levels, which share no vertex."""
    first, edges, sources = 0, [], []
    for name in FEW_LEVELS:
        case = CASES[name]()
        edges.append(case.edges.assign(src=case.edges["src"] + first, dst=case.edges["dst"] + first))
        sources += [source + first for source in case.sources]
        first += 1000
    graph = spread(pd.concat(edges, ignore_index=True), (16, 25), partitions=30, directed=True)
    same(graph.frame("bfs", sources, deterministic=True), graph.local.bfs(sources, deterministic=True))
