"""Pages as runs of shards: where both are cut, and the bytes that shards take (SYSTEMS G4), without a GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cuda.stream import plan as page_plan
from rapids_trav.engines.cuda.stream.plan import plan_stream
from rapids_trav.engines.runs import GatherView, Pages, RunOptions
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.program import (
    FEWEST_PIECE_EDGES,
    LEAST_SHARED_BYTES,
    PIECE_BYTES,
    SHARD_BYTES,
    RunShape,
    page_table_bytes,
    shard_table_bytes,
)
from rapids_trav.programs import shipped
from rapids_trav.published.garaph.shards import FACTORS, cut_shards, replication_factor
from rapids_trav.storage.paged import cut_within

RANDOM = np.random.default_rng(6)
PAGE = 40_000
DEGREES = {
    "even": np.full(4000, 20),
    "sorted": np.sort(RANDOM.zipf(1.6, 4000).clip(max=6000))[::-1],
    "a giant row": np.concatenate([np.full(1000, 9), [30_000], np.full(1000, 9)]),
    "empty shards": np.concatenate([[5], np.zeros(60_000, int), [7]]),
    "no edges": np.zeros(9000, int),
}


def offsets(degrees):
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)


@pytest.mark.parametrize("weight", [None, "float64"])
@pytest.mark.parametrize("name", DEGREES)
def test_pages_are_the_longest_runs_of_whole_shards_that_fit(name, weight, monkeypatch):
    """No page has room for the next shard, and a shard that is larger than a page ends with it."""
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", PAGE)
    row_offsets, budget = offsets(DEGREES[name]), Budget(1 << 26)
    rows = Adjacency(row_offsets, np.zeros(row_offsets[-1], np.int32))
    weights = None if weight is None else np.ones(row_offsets[-1], weight)
    edge = 4 + (0 if weight is None else 8)
    pages = Pages(np.array([0, len(row_offsets) - 1]), budget, 3, cut_within(budget, row_offsets, edge, 8))
    view = GatherView(rows, rows, weights, np.diff(row_offsets), pages)
    options = RunOptions(gather="replicas", mode="pull")
    plan = plan_stream(view, shipped.connected_components(), options, 4)
    shards = cut_shards(row_offsets, 28_000, FEWEST_PIECE_EDGES, "formula", plan.firsts[1:])

    def n_bytes(first, last):
        """Return the bytes of rows: columns, weights, places in shards, and places in a list."""
        return int(row_offsets[last] - row_offsets[first]) * (edge + 2) + int(last - first) * 8

    longest = int(np.diff(row_offsets).max())
    room = max(PAGE, longest * (edge + 2) + 8)
    firsts = shards.firsts.tolist()
    assert set(plan.firsts.tolist()) <= set(firsts)
    for page in range(plan.n_pages):
        first, after = plan.rows(page)
        assert n_bytes(first, after) <= room or after == first + 1
        if page + 1 < plan.n_pages:
            following = firsts[firsts.index(after) + 1]
            assert n_bytes(first, following) > room
    assert plan.n_pages > 1


@pytest.mark.parametrize("replication", ["formula", *FACTORS])
@pytest.mark.parametrize("name", DEGREES)
def test_shards_within_pages_have_their_own_factors(name, replication):
    row_offsets = offsets(DEGREES[name])
    n = len(row_offsets) - 1
    ends = [n // 7, n // 3, n // 3 + 1, n]
    shards = cut_shards(row_offsets, 3000, FEWEST_PIECE_EDGES, replication, ends)
    n_vertices, n_edges = np.diff(shards.firsts), np.diff(row_offsets[shards.firsts])
    assert {0, *ends} <= set(shards.firsts.tolist()) and n_vertices.min() > 0
    assert (n_vertices * shards.factors).max() <= 3000
    if replication == "formula":
        formula = [replication_factor(int(e), int(v)) for e, v in zip(n_edges, n_vertices, strict=True)]
        assert shards.factors.tolist() == formula
    else:
        assert (shards.factors == replication).all()


@settings(max_examples=200)
@given(
    degrees=st.lists(st.tuples(st.sampled_from([0, 1, 3, 40, 900, 5000, 20_000]), st.integers(1, 400))),
    n_pages=st.integers(1, 12),
    value=st.sampled_from([4, 8]),
    replication=st.sampled_from(["formula", *FACTORS]),
)
def test_shards_take_no_more_than_the_model_says(degrees, n_pages, value, replication):
    """Even in the smallest shared memory, with the smallest pieces."""
    row_offsets = offsets(np.repeat([d for d, _ in degrees], [times for _, times in degrees]).astype(int))
    n = len(row_offsets) - 1
    ends = np.linspace(0, n, n_pages + 1).astype(int)[1:]
    room = LEAST_SHARED_BYTES // value
    shards = cut_shards(row_offsets, room, FEWEST_PIECE_EDGES, replication, ends)
    taken = SHARD_BYTES * len(shards.factors) + (PIECE_BYTES + value) * shards.n_pieces
    run = RunShape(n, int(row_offsets[-1]), 4, value, shards=True)
    more = page_table_bytes(run) - page_table_bytes(replace(run, shards=False))
    assert taken <= shard_table_bytes(run) + n_pages * more
