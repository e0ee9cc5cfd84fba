"""Searches by ranks that each launch their own kernel, as workers do; here they share a GPU."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from loopback import run_ranks
from pairs import pairs

from rapids_trav.distributed.ranks.rank_engine import ROWS, SHARED
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravMemoryError

from .member_cases import DEADLINE, case_of, together, whole
from .member_processes import run_processes
from .small_graphs import GRAPHS, Graph, check_tree
from .test_one_launch_gpu import rmat

pytestmark = pytest.mark.gpu

SHAPES = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)]


@pairs(name=GRAPHS, shape=SHAPES, n_sources=[1, 2])
def test_ranks_agree_with_scipy(cupy, name, shape, n_sources):
    graph = GRAPHS[name]
    sources = list(dict.fromkeys([graph.n - 1, 0][-n_sources:]))
    answers = together(cupy, graph, shape, lambda case: (case, case.search(sources, trace=True)))
    cases, found = zip(*answers, strict=True)
    distance, predecessor = whole(cases, found, graph)
    assert np.array_equal(distance, graph.distance(sources))
    check_tree(graph, sources, distance, predecessor)
    # In one launch; otherwise the memory says why not.
    assert all(level.exchange for one in found for level in one.trace), cases[0].memory()


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_directions(cupy, direction):
    graph = rmat(7, 4, 3)
    graph = Graph(graph.n, graph.u, graph.v)  # directed
    followed = {"out": graph, "in": Graph(graph.n, graph.v, graph.u)}
    followed["both"] = Graph(graph.n, graph.u, graph.v, symmetric=True)
    answers = together(
        cupy, graph, (2, 1), lambda case: (case, case.search([5], trace=True), case.memory()), direction
    )
    cases, found, memory = zip(*answers, strict=True)
    distance, predecessor = whole(cases, found, graph)
    assert np.array_equal(distance, followed[direction].distance([5]))
    check_tree(followed[direction], [5], distance, predecessor)
    assert all(level.exchange for level in found[0].trace)
    assert all(names == [f"{ROWS['both']}, direction {direction}", f"{SHARED}, direction {direction}"]
               for names in ([name for name, _ in rows] for rows in memory))  # fmt: skip


def test_limits_and_targets(cupy):
    graph = GRAPHS["grid"]
    want = graph.distance([0])
    far = int(np.argmax(want))

    def ask(case):
        limited = case.search([0], depth_limit=2)
        return case, limited, case.search([0], targets=[far, 1]), case.search([0], targets=[1])

    cases, limited, aimed, near = zip(*together(cupy, graph, (2, 1), ask), strict=True)
    assert np.array_equal(whole(cases, limited, graph)[0], np.where(want > 2, -1, want))
    assert np.array_equal(whole(cases, aimed, graph)[0], want)
    assert whole(cases, near, graph)[0].max() == 1  # the search ends with the level of its target


def test_lean_rows_where_both_do_not_fit(cupy, monkeypatch):
    from rapids_trav.engines.multigpu.local_cuda import CudaWork
    from rapids_trav.memory.model import spread

    graph = rmat(8, 8, 5)
    n_entries = len(graph.edges[0])
    monkeypatch.setattr(spread, "SORTED_AT_ONCE", 64)
    both = spread.deal_bytes(graph.n, n_entries, 2, "both")
    monkeypatch.setattr(CudaWork, "free_bytes", lambda self: both - 1)

    def ask(case):
        return case, case.search([3], trace=True), case.memory()

    cases, found, memory = zip(*together(cupy, graph, (2, 1), ask), strict=True)
    distance, predecessor = whole(cases, found, graph)
    assert np.array_equal(distance, graph.distance([3]))
    check_tree(graph, [3], distance, predecessor)
    assert memory[0][0][0] == ROWS["lean"]
    assert "offers" in {level.exchange for level in found[0].trace}


def test_threads_that_begin_together_name_one_process(cupy, monkeypatch):
    """With two names a rank would open memory of its own process by a handle, which CUDA refuses."""
    from rapids_trav.engines.multigpu.one_launch import peers

    made = uuid.uuid4

    def slowly():
        time.sleep(0.02)  # lets other threads in
        return made()

    monkeypatch.setattr(uuid, "uuid4", slowly)
    spec = importlib.util.spec_from_file_location("handles_again", peers.__file__)
    again = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, again)  # where a dataclass looks for its module
    spec.loader.exec_module(again)
    assert len(set(asked_together(again._process))) == 1


def test_threads_that_begin_together_take_turns_at_one_lock(cupy, monkeypatch):
    from rapids_trav.engines.multigpu.one_launch import peers

    class Slow(peers._Turns):
        def __init__(self):
            time.sleep(0.02)
            super().__init__()

    monkeypatch.setattr(peers, "_Turns", Slow)
    monkeypatch.setattr(peers, "_turns", {})
    first, *others = asked_together(lambda: peers._turns_of(0))
    assert all(one is first for one in others)
    assert peers._turns_of(0) is first


def asked_together(ask, n_threads=8):
    """Return what `ask` returns in each of some threads, which begin at the same time."""
    barrier = threading.Barrier(n_threads)

    def asked(_):
        barrier.wait()
        return ask()

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(asked, range(n_threads)))


@pytest.mark.parametrize("reason", ["rows", "room", "handle", "host", "opened"])
def test_ranks_without_one_launch_take_the_grid_and_say_why(cupy, monkeypatch, reason):
    """All ranks decide alike, though the reason is one rank's."""
    from rapids_trav.engines.multigpu.local_cuda import CudaWork
    from rapids_trav.engines.multigpu.one_launch import launch, peers

    of_rank = threading.local()
    runtime = cupy.cuda.runtime
    error = runtime.CUDARuntimeError(1) if reason in ("handle", "opened") else None

    def on_rank_1(function, instead):
        return lambda *given: (instead if of_rank.number == 1 else function)(*given)

    def fails(*_):
        raise error

    def has_no_room(*_):
        raise TravMemoryError("GPU 0 has 1.0 kB outside RMM's pool: give the pool fewer bytes.")

    if reason == "rows":
        monkeypatch.setattr(CudaWork, "free_bytes", on_rank_1(CudaWork.free_bytes, lambda self: 1000))
    elif reason == "room":
        monkeypatch.setattr(launch, "reachable", on_rank_1(launch.reachable, has_no_room))
    elif reason == "handle":
        monkeypatch.setattr(runtime, "ipcGetMemHandle", on_rank_1(runtime.ipcGetMemHandle, fails))
    else:
        monkeypatch.setattr(peers, "_process", lambda: f"process of rank {of_rank.number}")
        if reason == "host":
            monkeypatch.setattr(peers, "_host", lambda: f"host of rank {of_rank.number}")

    def ask(case):
        return case, case.search([0], trace=True), case.memory()

    def asked(communicator):
        of_rank.number = communicator.rank
        return ask(case_of(cupy, communicator, GRAPHS["grid"], (2, 1)))

    graph = GRAPHS["grid"]
    cases, found, memory = zip(*run_ranks(2, asked, deadline=DEADLINE), strict=True)
    distance, predecessor = whole(cases, found, graph)
    assert np.array_equal(distance, graph.distance([0]))
    check_tree(graph, [0], distance, predecessor)
    assert not any(level.exchange for one in found for level in one.trace)
    expected = {
        "rows": "rank 1 has 1 kB free on its GPU, and rows for one launch take ",
        "room": "GPU 0 has 1.0 kB outside RMM's pool: give the pool fewer bytes",
        "handle": "CUDA gives no handle for memory of this GPU (",
        "host": "rank 1 is on another host than rank 0",
        "opened": "rank 0 cannot open the memory of rank 1 (",
    }[reason]
    for structures in memory:
        [(name, n_bytes)] = structures
        assert name.startswith(f"searches are variant '2d': {expected}") and n_bytes == 0


def test_the_grid_is_searched_where_it_is_asked_for(cupy):
    def ask(case):
        plain = case.search([0], variant="2d", trace=True)
        tuned = case.search([0], of_ranks={"exchange": "list"}, trace=True)
        return plain.trace + tuned.trace, case.memory()

    for trace, memory in together(cupy, GRAPHS["grid"], (2, 1), ask):
        assert trace and not any(level.exchange for level in trace)
        assert memory == []  # no rows were dealt


def test_a_rank_that_fails_ends_the_search_of_the_others(cupy, monkeypatch):
    """It fails after all are ready: the others' kernels wait for one that never comes."""
    from rapids_trav.engines.multigpu.one_launch import launch

    start = launch.Launch.start

    def fails(self):
        if self._rank.rows.rank == 1:
            raise RuntimeError("no launch")
        start(self)

    def ask(case):
        case.search([0])
        monkeypatch.setattr(launch.Launch, "start", fails)
        begin = time.monotonic()
        try:
            case.search([0])
        finally:
            assert time.monotonic() - begin < DEADLINE / 2

    with pytest.raises(RankError, match=r"^Rank 1 failed while searching: no launch; the graph is lost"):
        together(cupy, GRAPHS["grid"], (2, 1), ask)


def test_a_rank_that_never_launches_is_named(cupy, monkeypatch):
    from rapids_trav.engines.multigpu.one_launch import launch

    start = launch.Launch.start
    monkeypatch.setattr(launch.Launch, "start", lambda self: self._rank.rows.rank == 1 or start(self))

    def asked(communicator):
        case = case_of(cupy, communicator, GRAPHS["grid"], (2, 1))
        member = case.view.launched.member("out")
        member.common = replace(member.common, deadline=0.002)
        case.search([0])

    with pytest.raises(RankError, match=r"^Rank 1 did not answer rank 0 within 0\.002 s; the graph is lost"):
        run_ranks(2, asked, deadline=DEADLINE)


def test_ranks_in_processes_reach_each_other_by_handles(cupy):
    """Two graphs, so that each process opens two pieces of memory of each other one."""
    graphs = [GRAPHS["grid"], rmat(8, 8, 2)]
    for graph, (distance, predecessor, exchanges, structures) in zip(
        graphs, run_processes(graphs, 3), strict=True
    ):
        assert np.array_equal(distance, graph.distance([0]))
        check_tree(graph, [0], distance, predecessor)
        assert exchanges and all(exchanges)
        assert structures == [ROWS["both"], SHARED]
