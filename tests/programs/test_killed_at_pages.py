"""Asynchronous runs that are killed among their pages go on from the last, and lead to the same result."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from killed_processes import counted, killed_at

import rapids_trav  # noqa: F401 -- registers .trav
from rapids_trav.programs.checkpoint import NAME, load
from rapids_trav.programs.page_journal import SUFFIX, PageJournal
from rapids_trav.programs.shipped import connected_components

KILLS = 4
N = 3000
REPEATED = 6  # times each edge, so that there are several pages
MOMENT = 0.002  # seconds after a page begins to be recorded, at most, when a kill comes
TOLERANCE = 1e-6


def edges():
    """Return a cycle with chords in no order of ids, which takes many iterations; in the end ranks differ."""
    order = np.random.default_rng(3).permutation(N)
    around, chord = np.arange(N), np.arange(0, N, 40)
    src, dst = np.concatenate([around, chord]), np.concatenate([(around + 1) % N, (chord * 7) % N])
    cost = np.random.default_rng(4).integers(1, 60, len(src))
    once = pd.DataFrame({"src": order[src], "dst": order[dst], "cost": cost})
    return pd.concat([once] * REPEATED)


def notified(graph, **options):
    """Propagate labels in sweeps over the pages that active vertices lead to."""
    program, initial = connected_components("int32"), np.arange(N)
    options = {"mode": "notify", "schedule": "sweep", "asynchronous": None, **options}
    return graph.run(program, initial=initial, direction="both", **options)


def blocks(graph, **options):
    program, initial = connected_components("int32"), np.arange(N)
    options = {"schedule": "paths", "asynchronous": None, **options}
    return graph.run(program, initial=initial, direction="both", **options)


def distances(graph, **options):
    """Find distances over blocks, with the values in order."""
    return graph.sssp(0, schedule="paths", predecessors=False, **options)


def ranks(graph, **options):
    return graph.pagerank(tol=TOLERANCE, max_iter=1000, asynchronous=True, **options)


def close(found, wanted):
    if "pagerank" in wanted:
        # Either is within TOLERANCE * alpha / (1 - alpha) of the exact ranks.
        apart = (found["pagerank"] - wanted["pagerank"]).abs().sum()
        return apart <= 2 * TOLERANCE * 0.85 / 0.15
    return found.equals(wanted)


@pytest.fixture(scope="module")
def graph():
    return edges().trav.graph(weight="cost", memory_limit=250_000)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.release) for seed in (1, 2))])
@pytest.mark.parametrize("question", [notified, blocks, distances, ranks])
def test_killed_among_pages(tmp_path, graph, question, seed):
    wanted = question(graph)  # also compiles the program
    with counted(PageJournal, "record") as pages:
        question(graph, checkpoint=tmp_path / "whole", checkpoint_every="page")
    assert [path.name for path in (tmp_path / "whole").iterdir()] == [NAME]
    moments = random.Random(seed)
    killed = runs = journals = 0
    for _ in range(10 * KILLS):
        folder = tmp_path / f"run {runs}"
        again = partial(question, graph, checkpoint=folder, checkpoint_every="page", resume=True)
        page, moment = moments.randint(1, 1 + pages[0] // KILLS), moments.uniform(0, MOMENT)
        if killed_at(page, moment, PageJournal, "record", again):
            killed += 1
            journals += (folder / NAME).with_suffix(SUFFIX).exists()
            if killed == KILLS:
                break
        else:  # the run ended before the kill: start a new one
            assert close(question(graph, checkpoint=folder, resume=True), wanted)
            runs += 1
    assert killed == KILLS and journals > 0
    assert close(question(graph, checkpoint=folder, checkpoint_every="page", resume=True), wanted)


@pytest.mark.parametrize(("mode", "schedule"), [("pull", "sweep"), ("notify", "sweep"), ("auto", "paths")])
def test_pages_together_are_the_iteration(tmp_path, graph, mode, schedule, monkeypatch):
    """All pages of a sweep are recorded, with all their rows, and all rows for each block."""
    recorded, records = PageJournal.record, []

    def noted(self, first, values):
        recorded(self, first, values)
        records.append((first, values.copy()))

    monkeypatch.setattr(PageJournal, "record", noted)
    initial = np.arange(N)
    found = graph.run(
        connected_components("int32"), initial=initial, direction="both", mode=mode, schedule=schedule,
        asynchronous=True, max_iterations=1, checkpoint=tmp_path, checkpoint_every="page",
    )  # fmt: skip
    values = initial.copy()
    for first, new in records:
        values[first : first + len(new)] = new
    assert len(records) > 1
    if schedule == "sweep":
        assert values.tolist() == found["value"].tolist()
    else:
        assert all(first == 0 and len(new) == N for first, new in records)
        assert (found["value"] <= values).all() and (values < initial).any()


class Killed(BaseException):
    """Simulated end of the process."""


@pytest.mark.parametrize("question", [notified, blocks, distances, ranks])
def test_killed_after_each_of_the_first_pages(tmp_path, graph, question, monkeypatch):
    """What is recorded is not lost: the state to go on from has the values of every page up to the last."""
    wanted, recorded = question(graph), PageJournal.record
    for most in range(1, 12):
        folder, values = tmp_path / str(most), []

        def until_killed(self, first, new, values=values, most=most):
            recorded(self, first, new)
            values.append((first, new.copy()))
            if len(values) == most:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(PageJournal, "record", until_killed)
            try:
                question(graph, checkpoint=folder, checkpoint_every="page")
            except Killed:
                first, new = values[-1]
                np.testing.assert_array_equal(load(folder, {}).values[first : first + len(new)], new)
        assert close(question(graph, checkpoint=folder, checkpoint_every="page", resume=True), wanted)
