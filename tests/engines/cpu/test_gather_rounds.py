"""Rounds over few edges: several run in one call, with the result of rounds that run one by one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from gas_reference import iterate

from rapids_trav import Program, TravError
from rapids_trav.engines.cpu.programs import run
from rapids_trav.engines.cpu.runtime.intrinsics import abandon, new_gate, passed
from rapids_trav.jit.kernels import Threads
from rapids_trav.jit.launches import count_launches
from rapids_trav.programs import shipped

N = 300
# A sum whose changes never end, and which counts every vertex in `total`.
GROWING = Program(
    "growing",
    "int64",
    "sum",
    scatter=lambda value, degree: value * 2 + degree,
    gather=lambda message, weight: message * weight,
    apply=lambda value, gathered, total: (3 * value + gathered + int(total)) % 1009,
    total=lambda value, degree: value,
)
# As above, without `scatter`: the messages are the values themselves.
PLAIN = Program("plain", "int64", "sum", apply=lambda value, gathered: (value + gathered) % 1009)
DIFFERENT = Program("different", "int64", "sum", apply=lambda value, gathered: min(value, gathered))


def edges_of(seed=0, n=N, m=2000):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"src": rng.integers(0, n, m), "dst": rng.integers(0, n, m)})


@pytest.fixture
def shared(monkeypatch):
    """Return a function after which each round is handed out to the threads."""
    return lambda: monkeypatch.setattr(run, "ALONE", -1)


@pytest.fixture(params=[1, 2, 5])
def parts(request, monkeypatch):
    """Let this number of threads share the rounds of a call, however few edges there are."""
    monkeypatch.setattr(run, "MEETING", 1)
    with Threads.limited(request.param):
        yield request.param


def rounds_of(counts):
    return sum(n for name, n in counts.items() if name.startswith("rounds_"))


@pytest.mark.parametrize("n_rounds", [1, 2, 7])
@pytest.mark.parametrize("program", [GROWING, PLAIN], ids=["scatter", "values"])
def test_rounds_are_those_of_the_reference(program, n_rounds, parts):
    """Odd and even numbers: the current values are in one array or the other."""
    edges = edges_of()
    graph = edges.trav.graph(directed=True, vertices=range(N))
    initial = np.arange(N) % 7
    with count_launches() as counts:
        found = graph.run(program, initial=initial, mode="pull", max_iterations=n_rounds)["value"].to_numpy()
    assert rounds_of(counts) == (n_rounds > 1)
    values = initial
    for _ in range(n_rounds):
        values, _ = iterate(program, [(u, v, 1) for u, v in edges.to_numpy().tolist()], values)
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_ranks_are_those_of_shared_rounds(shared, asynchronous):
    graph = edges_of(1).trav.graph(directed=True)
    with count_launches() as counts:
        alone = graph.pagerank(asynchronous=asynchronous)
    assert rounds_of(counts) == 1
    shared()
    with count_launches() as counts:
        wanted = graph.pagerank(asynchronous=asynchronous)
    assert rounds_of(counts) == 0
    np.testing.assert_allclose(alone["pagerank"], wanted["pagerank"], rtol=1e-4 if asynchronous else 1e-12)


def test_ranks_do_not_depend_on_the_number_of_threads(parts):
    graph = edges_of(1).trav.graph(directed=True)
    with Threads.limited(1):
        wanted = graph.pagerank()
    for _ in range(20):
        np.testing.assert_allclose(graph.pagerank()["pagerank"], wanted["pagerank"], rtol=1e-12)


def test_more_threads_than_vertices(monkeypatch):
    monkeypatch.setattr(run, "MEETING", 1)
    with Threads.limited(7):
        found = pd.DataFrame({"src": [0], "dst": [1]}).trav.pagerank()
    assert found["pagerank"].tolist() == pytest.approx([0.5, 0.5])


def test_without_a_second_thread_one_runs_all_rounds(monkeypatch):
    """Threads may fail to start, the first one or a later one."""
    graph = edges_of(1).trav.graph(directed=True)
    wanted = graph.pagerank()
    monkeypatch.setattr(run, "MEETING", 1)
    start, started = threading.Thread.start, []

    def start_some(thread):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    for most in (0, 1, 2):
        started.clear()
        with Threads.limited(4):
            found = graph.pagerank()
        assert len(started) == most
        pd.testing.assert_frame_equal(found, wanted)


def test_a_part_that_raises_ends_the_others():
    gate, seen = new_gate(), {}

    def function(part):
        if part == 2:
            raise ZeroDivisionError("in part 2")
        seen[part] = passed(gate, 3, 1)

    with Threads(3) as threads, pytest.raises(ZeroDivisionError, match="in part 2"):
        threads.run_together(function, 3, abandon=lambda: abandon(gate))
    assert seen == {0: False, 1: False}


def test_many_questions_at_once(parts):
    graph = edges_of(1).trav.graph(directed=True)
    wanted = graph.pagerank()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: graph.pagerank(), range(40)):
            np.testing.assert_allclose(found["pagerank"], wanted["pagerank"], rtol=1e-12)


def test_a_call_ends_after_enough_edges(monkeypatch):
    """So that the process can be interrupted; the next call goes on where it ended."""
    graph = edges_of(2).trav.graph()
    wanted = graph.pagerank()
    monkeypatch.setattr(run, "AT_ONCE", 3 * (2 * graph.n_edges + graph.n_vertices))
    with count_launches() as counts:
        found = graph.pagerank()
    assert rounds_of(counts) > 1
    pd.testing.assert_frame_equal(found, wanted)


def test_the_last_round_is_recorded():
    """Residual and convergence are those of a run with a trace, which has the rounds one by one."""
    graph = edges_of(3).trav.graph()
    trace = graph.pagerank(trace=True).trace
    with pytest.raises(
        Exception, match=r"has not converged in max_iter=3 .* still change by (\S+) in all"
    ) as told:
        graph.pagerank(max_iter=3)
    residual = float(str(told.value).partition("still change by ")[2].partition(" ")[0])
    assert residual == pytest.approx(trace["residual"].iloc[2], rel=1e-2)
    assert graph.pagerank(max_iter=len(trace)) is not None
    with pytest.raises(TravError, match="has not converged"):
        graph.pagerank(max_iter=len(trace) - 1)


def test_each_tolerance_is_kept():
    """Programs that differ in the tolerance alone are compiled once."""
    graph = edges_of(7).trav.graph()
    counts = [len(graph.pagerank(tol=tol, trace=True).trace) for tol in (1e-3, 1e-6, 1e-9)]
    assert counts[0] < counts[1] < counts[2]
    for tol, count in zip((1e-3, 1e-6, 1e-9), counts, strict=True):
        graph.pagerank(tol=tol, max_iter=count)
        with pytest.raises(TravError, match="has not converged"):
            graph.pagerank(tol=tol, max_iter=count - 1)


def test_rounds_end_when_nothing_changes():
    graph = edges_of(4).trav.graph(directed=True, vertices=range(N))
    found = graph.run(DIFFERENT, initial=np.zeros(N, np.int64), max_iterations=50)
    assert (found["value"] == 0).all()


def test_what_looks_between_rounds_has_them_one_by_one(tmp_path):
    """With a trace or checkpoints, and where the active vertices decide who gathers."""
    graph = edges_of(5).trav.graph()
    labels = np.arange(graph.n_vertices, dtype=np.int32)
    for ask in (
        lambda: graph.pagerank(trace=True),
        lambda: graph.pagerank(checkpoint=tmp_path / "state", checkpoint_every=1),
        lambda: graph.run(shipped.connected_components(), initial=labels),
    ):
        with count_launches() as counts:
            ask()
        assert counts and rounds_of(counts) == 0


def test_pull_alone_may_run_for_programs_of_the_smallest(shared):
    """With mode="pull" all vertices gather in every round, whoever is active."""
    graph = edges_of(6).trav.graph(directed=True)
    initial = {int(edges_of(6)["src"][0]): 0}
    with count_launches() as counts:
        found = graph.run(shipped.breadth_first(), initial=initial, mode="pull")
    assert rounds_of(counts) == 1
    shared()
    wanted = graph.run(shipped.breadth_first(), initial=initial, mode="pull")
    pd.testing.assert_frame_equal(found, wanted)
