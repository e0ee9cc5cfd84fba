"""Counters show that the copies of a shard's vertices are filled and merged (SYSTEMS G8, G9, G11)."""

from dataclasses import replace

import numpy as np
import pytest

from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.definition import Program

from .program_cases import CASES, gather_view, start
from .replica_counts import expected_counters

pytestmark = pytest.mark.gpu

FACTORS = (1, 2, 4, 8, 16, 32)
SUM = Program("sum", "int64", "sum")  # of ones: every message that arrives changes a value
OPTIONS = RunOptions(mode="pull", gather="replicas", max_iterations=1, trace=True)


@pytest.fixture(scope="module", params=["rmat", "wheel", "big star", "directed"])
def view(request, engine):
    return gather_view(CASES[request.param], engine)


def run(engine, view, options, program=SUM):
    state = start(program, view.n_vertices, np.ones(view.n_vertices), True, engine.xp)
    return engine.run(view, program, state, options)


@pytest.mark.parametrize("replication", ["formula", *FACTORS])
def test_copies_are_filled_by_lane_and_merged(engine, view, replication):
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor

    options = replace(OPTIONS, replication=replication)
    state = start(SUM, view.n_vertices, np.ones(view.n_vertices), True, engine.xp)
    shards = ResidentExecutor(view, SUM, state, options).shards.shards
    offsets = view.into.row_offsets.get().astype(np.int64)
    expected = expected_counters(shards, offsets)
    done = run(engine, view, options)
    assert done.counters == expected
    assert (expected["filled"] > 0) == bool((shards.factors > 1).any()) == (expected["merged"] > 0)
    assert np.array_equal(done.values.get(), np.diff(offsets))  # each edge is counted once


def test_more_copies_are_filled_by_a_larger_factor(engine, view):
    counts = [run(engine, view, replace(OPTIONS, replication=factor)).counters for factor in FACTORS]
    assert counts[0] == {"filled": 0, "merged": 0}
    filled = [count["filled"] for count in counts]
    assert filled == sorted(set(filled))


def test_minima_are_merged_too(engine):
    """The smallest message to a hub arrives in one lane, and the first copy belongs to another lane."""
    view = gather_view(CASES["wheel"], engine)
    program = Program("least", "int32", "min")
    done = run(engine, view, replace(OPTIONS, replication=32), program)
    assert done.counters["filled"] > 0


@pytest.mark.parametrize("changes", [{"trace": False}, {"gather": "rows"}])
def test_nothing_is_counted_unasked(engine, view, changes):
    assert run(engine, view, replace(OPTIONS, **changes)).counters == {}
