"""Iteration over the edges of an adjacency in blocks."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.csr.adjacency import BLOCK, Adjacency, duplicate_edges, edge_blocks, self_loops, sources
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.block_sizes import FEWEST_READ, block_within


class Counting:
    """A few functions of NumPy as another array module, so that rows are found by search as on a GPU."""

    asarray, searchsorted, zeros, cumsum = map(
        staticmethod, (np.asarray, np.searchsorted, np.zeros, np.cumsum)
    )
    add = np.add


@st.composite
def adjacencies(draw):
    degrees = draw(st.lists(st.integers(0, 7), min_size=1, max_size=20))
    row_offsets = np.concatenate([[0], np.cumsum(degrees)])
    n = len(degrees)
    rows = [sorted(draw(st.lists(st.integers(0, n - 1), min_size=d, max_size=d))) for d in degrees]
    return Adjacency(row_offsets, np.array(list(chain(*rows)), dtype=np.int32))


@settings(max_examples=100)
@given(adjacencies(), st.integers(1, 9), st.integers(0, 2), st.sampled_from([np, Counting]))
def test_blocks_are_the_edges_in_order(adjacency, block, overlap, xp):
    edges = CpuEngine().expand_rows(adjacency)
    begin = 0
    for part in edge_blocks(adjacency, xp, overlap, block):
        first, end = max(begin - overlap, 0), min(begin + block, adjacency.n_edges)
        assert part.src.dtype == part.dst.dtype == np.int32
        assert part.src.tolist() == edges.src[first:end].tolist()
        assert part.dst.tolist() == edges.dst[first:end].tolist()
        begin = end
    assert begin == adjacency.n_edges


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_counts_do_not_depend_on_blocks(block):
    adjacency = Adjacency(np.array([0, 3, 6, 6, 8]), np.array([0, 0, 1, 0, 1, 1, 3, 3], dtype=np.int32))
    assert self_loops(adjacency, np, block) == 6
    assert duplicate_edges(adjacency, np, directed=True, block=block) == 3
    assert duplicate_edges(adjacency, np, directed=False, block=block) == 3


def test_rows_of_a_stretch_of_edges():
    adjacency = Adjacency(np.array([0, 0, 5, 5, 6]), np.zeros(6, dtype=np.int32))
    for xp in (np, Counting):
        assert sources(adjacency, 2, 6, xp).tolist() == [1, 1, 1, 3]
        assert sources(adjacency, 4, 5, xp).tolist() == [1]


def test_a_block_is_as_long_as_the_budget_allows():
    assert block_within(None) == BLOCK
    budget = Budget("100MB")
    assert block_within(budget) == 100_000_000 // 256
    budget.allocate(99_999_000, "all but a little")
    assert block_within(budget) == FEWEST_READ


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.sssp(0),
        lambda graph: graph.pagerank(),
        lambda graph: graph.bfs(0, variant="edge", predecessors=False),
        lambda graph: graph.n_self_loops,
        lambda graph: graph.n_duplicate_edges,
    ],
    ids=["sssp", "pagerank", "edge", "self-loops", "duplicates"],
)
def test_questions_read_what_lies_outside_in_small_blocks(ask, monkeypatch):
    """For each question, an array with an entry for each edge would exceed the memory limit."""
    random = np.random.default_rng(3)
    ends = random.integers(0, 1000, (2, 300_000))
    edges = pd.DataFrame({"src": ends[0], "dst": ends[1], "w": random.integers(1, 9, 300_000)})
    graph = edges.trav.graph(weight="w", memory_limit="2MB")
    wanted = ask(edges.trav.graph(weight="w"))
    longest = 0

    def noted(array):
        nonlocal longest
        longest = max(longest, array.nbytes)
        return array

    for name in ("asarray", "repeat"):
        real = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *a, real=real, **k: noted(real(*a, **k)))
    bincount = np.bincount

    def counted(ends, weights=None, minlength=0):
        noted(ends.astype(np.int64))
        return bincount(ends, weights, minlength)

    monkeypatch.setattr(np, "bincount", counted)
    found = ask(graph)
    monkeypatch.undo()
    assert graph.budget is not None and 0 < longest <= graph.budget.limit
    if isinstance(wanted, int):
        assert found == wanted
    else:
        pd.testing.assert_frame_equal(found, wanted)
