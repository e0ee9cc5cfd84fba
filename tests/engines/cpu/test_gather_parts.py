"""Gathering in parts of equally many edges (SYSTEMS G12), and the vertices that gather (G13, G14)."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from gas_reference import iterate

from rapids_trav import Program, TravError
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs import run
from rapids_trav.engines.cpu.programs import run as gas
from rapids_trav.engines.cpu.programs.pages import ResidentEdges
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.cpu.runtime.intrinsics import abandon, new_gate, passed
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import PIECES_PER_THREAD, Threads
from rapids_trav.jit.launches import count_launches
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState, gather_mode

# Sums of integers, so that a lost or doubled edge shows; every vertex counts in `total`.
SUMS = Program(
    "sums",
    "int64",
    "sum",
    gather=lambda message, weight: message * weight,
    apply=lambda value, gathered: 2 * value + gathered,
    total=lambda value, degree: value,
    tolerance=0.5,
)


def view_of(n, src, dst, weights):
    engine = CpuEngine()
    into = engine.build_adjacency(lambda: iter([(src, dst, weights)]), n, transpose=True)
    out = engine.build_adjacency(lambda: iter([(src, dst)]), n)
    return GatherView(into, out, into.weights, np.diff(out.row_offsets))


def hub(n=30):
    """Return a graph in which vertex 4 gathers from all vertices; 0, 5, 6 and the last gather from none."""
    rng = np.random.default_rng(0)
    others = rng.choice(np.setdiff1d(np.arange(1, n - 1), [4, 5, 6]), 10)
    return n, np.concatenate([np.arange(n), rng.integers(0, n, 10)]), np.concatenate([[4] * n, others])


GRAPHS = {
    "hub": hub(),
    "hub alone": (3, np.array([0, 2] * 20), np.array([1] * 40)),
    "hub last": (3, np.array([0, 1] * 20), np.array([2] * 40)),
    "random": (50, *np.random.default_rng(1).integers(0, 50, (2, 170))),
    "no edges": (5, np.array([], int), np.array([], int)),
    "one edge": (4, np.array([2]), np.array([1])),
    "no vertices": (0, np.array([], int), np.array([], int)),
}


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4, 7, 16, 300])
@pytest.mark.parametrize("name", GRAPHS)
def test_parts_of_any_number_give_the_same(name, n_parts):
    """Cases: one part; three or more parts within one hub's row; more parts than edges."""
    n, src, dst = GRAPHS[name]
    rng = np.random.default_rng(2)
    weights, values = rng.integers(1, 100, len(src)), rng.integers(-50, 50, n)
    edges = list(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    wanted, active = iterate(SUMS, edges, values)
    with Threads() as team:
        state = RunState(values, np.ones(n, bool))
        work = ProgramWork(view_of(n, src, dst, weights), SUMS, state, RunOptions(), team)
        (piece,) = ResidentEdges(work.view).pieces(None)
        stats = run.gather(work, piece, n_parts)
    np.testing.assert_array_equal(work.new_values, wanted)
    np.testing.assert_array_equal(work.active, active)
    out_degrees = np.bincount(src, minlength=n)
    assert stats[:4].tolist() == [
        active.sum(), out_degrees[active].sum(), abs(wanted - values).sum(), wanted.sum()
    ]  # fmt: skip


@pytest.mark.parametrize("n_parts", [1, 3, 50])
def test_listed_vertices_gather_alone(n_parts):
    n, src, dst = GRAPHS["hub"]
    values, weights = np.arange(n), np.ones(len(src), int)
    wanted, _ = iterate(SUMS, list(zip(src.tolist(), dst.tolist(), weights, strict=True)), values)
    rows = np.array([0, 4, 5, 9, n - 1])
    with Threads() as team:
        state = RunState(values, np.ones(n, bool))
        work = ProgramWork(view_of(n, src, dst, weights), SUMS, state, RunOptions(), team)
        work.new_values[:] = -1
        (piece,) = ResidentEdges(work.view).pieces(rows)
        run.gather(work, piece, n_parts)
    np.testing.assert_array_equal(work.new_values[rows], wanted[rows])
    assert (np.delete(work.new_values, rows) == -1).all()


@pytest.mark.parametrize("apply", [None, lambda value, gathered: min(value, gathered)])
def test_who_is_notified(apply):
    """Out-neighbours of active vertices are notified; active ones too, if `apply` may change them further."""
    program = Program("p", "int64", "min", apply=apply)
    view = view_of(5, np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4]), np.ones(4, int))
    active = np.array([True, False, False, False, True])
    with Threads() as team:
        work = ProgramWork(view, program, RunState(np.arange(5), active), RunOptions(), team)
        assert run.notified(work).tolist() == ([1, 2] if apply is None else [0, 1, 2, 4])


@pytest.mark.parametrize(
    ("active", "edges", "paged", "mode"),
    [
        (0, 0, False, "notify"),
        (0, 100, False, "notify"),
        (50, 100, False, "notify"),
        (51, 100, False, "pull"),
        (50, 101, False, "notify"),
        (50, 99, False, "pull"),
        (100, 100, False, "pull"),
        (5, 100, True, "notify"),
        (6, 100, True, "pull"),
        (2**62, 2**63, False, "notify"),
    ],
)
def test_choice_of_the_mode_at_its_bounds(active, edges, paged, mode):
    """Notify if the active share f of the edges is at most 1/2; from storage, at most 1/(2 k) with k = 10."""
    assert gather_mode(active, edges, paged) == mode
    assert gather_mode(1, 7, paged=True, penalty=3) == "notify"
    assert gather_mode(1, 5, paged=True, penalty=3) == "pull"


# ---- the edges that a page gathers over are cut into parts of equal length, however long the rows are (G12)


LARGEST = Program("largest", "int64", "max")


class Recorded(Threads):
    """Threads that records the arguments of the gather kernel by name."""

    def run(self, function, n_items, *arguments, grain):
        names = inspect.signature(function.py_func).parameters
        if "cuts" in names:
            self.gathered = dict(zip(names, arguments, strict=False)) | {"n_parts": n_items}
        return super().run(function, n_items, *arguments, grain=grain)


def parts_of(degrees, rows=None, n_parts=None, n_threads=2):
    """Return the edges of each part of an iteration in which vertex v gathers over `degrees[v]` edges."""
    n, dst = len(degrees), np.repeat(np.arange(len(degrees)), degrees)
    chunks = lambda: iter([(np.zeros_like(dst), dst)])  # noqa: E731
    engine = CpuEngine()
    into, out = engine.build_adjacency(chunks, n, transpose=True), engine.build_adjacency(chunks, n)
    with Recorded(n_threads) as team:
        view = GatherView(into, out, None, np.diff(out.row_offsets))
        work = ProgramWork(view, LARGEST, RunState(np.arange(n), np.ones(n, bool)), RunOptions(), team)
        (piece,) = ResidentEdges(view).pieces(rows)
        gas.gather(work, piece, n_parts)
        cuts = team.gathered["cuts"]
    gathered = np.asarray(degrees) if rows is None else np.asarray(degrees)[rows]
    assert cuts[-1] - cuts[0] == gathered.sum() and len(cuts) == team.gathered["n_parts"] + 1
    return np.diff(cuts)


SKEWED = np.random.default_rng(1).zipf(1.5, 3000) % 5000
DEGREES = {"hub": [1] * 999 + [9000], "hub first": [9000] + [1] * 999, "even": [7] * 1000, "skewed": SKEWED}


@pytest.mark.parametrize("n_parts", [1, 2, 3, 16, 1000])
@pytest.mark.parametrize("name", DEGREES)
def test_parts_differ_by_an_edge_at_most(name, n_parts):
    parts = parts_of(DEGREES[name], n_parts=n_parts)
    assert len(parts) == n_parts
    assert parts.max() - parts.min() <= 1


def test_notified_rows_are_cut_alike():
    parts = parts_of(DEGREES["skewed"], rows=np.arange(5, 3000, 60), n_parts=7)
    assert parts.max() - parts.min() <= 1


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_get_several_parts_each_of_a_wide_iteration(n_threads):
    parts = parts_of([1_000_000, 1, 1, 200_000], n_threads=n_threads)
    assert len(parts) == PIECES_PER_THREAD * n_threads
    assert parts.max() - parts.min() <= 1
    assert len(parts_of([3, 0, 2], n_threads=n_threads)) == 1  # a few edges are not worth another thread


# ---- asynchronous runs use a new value in the iteration that makes it, synchronous ones in the next (G17)


LENGTH = 2000
SUM = Program("sum", "int64", "sum", apply=lambda value, gathered: value + gathered, asynchronous=True)


def path(memory_limit):
    """Return a path with every edge ten times, whose vertices gather in order; paged if there is a limit."""
    src, dst = np.arange(LENGTH - 1), np.arange(1, LENGTH)
    edges = pd.concat([pd.DataFrame({"src": src, "dst": dst})] * 10)
    return edges.trav.graph(directed=True, memory_limit=memory_limit)


@pytest.mark.parametrize("limit", [None, 200_000], ids=["in memory", "paged"])
def test_a_value_goes_as_far_as_the_order_lets_it(limit):
    graph = path(limit)
    options = {"initial": {0: 0}, "mode": "pull", "max_iterations": 1, "trace": True}
    reached = {}
    for asynchronous in (False, True):
        found = graph.run(shipped.breadth_first(), asynchronous=asynchronous, **options)
        assert (found.trace["pages"].iloc[0] > 1) == (limit is not None)
        values = found.result["value"]
        reached[asynchronous] = int((values < LENGTH).sum())
        assert values[: reached[asynchronous]].tolist() == list(range(reached[asynchronous]))
    assert reached[False] == 2
    # One thread reaches all vertices; several reach at least those of the first part of the path.
    assert reached[True] > LENGTH / 20


@pytest.mark.parametrize("limit", [None, 200_000], ids=["in memory", "paged"])
def test_a_sum_takes_what_is_new(limit):
    """The second vertex gathers ten edges from the first, the third ten from the second: old or new value."""
    graph, initial = path(limit), np.ones(LENGTH, np.int64)
    ends = {
        asynchronous: graph.run(
            SUM, initial=initial, mode="pull", max_iterations=1, asynchronous=asynchronous
        )["value"]
        for asynchronous in (False, True)
    }
    assert ends[False][:4].tolist() == [1, 11, 11, 11]
    assert ends[True][:4].tolist() == [1, 11, 111, 1111]


# ---- rounds over few edges: several run in one call, with the result of rounds that run one by one


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
