"""Ranks over TCP pass the tests of ranks in one process, and further tests of what only TCP has."""

from __future__ import annotations

import asyncio
import threading
import time

import grid_graphs
import loopback
import numpy as np
import pytest
import test_loopback_ranks
import test_search_2d
import test_traffic_2d
from tcp_ranks import close_connections, communicators, run_ranks

from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.engines.multigpu.tcp import Links

SHARED = [
    "test_gathering_in_groups",
    "test_exchanging_many_times",
    "test_sums",
    "test_meeting",
    "test_forms_that_are_known",
    "test_a_rank_that_raises_ends_the_others",
    "test_a_rank_that_is_held_up_is_not_named",
    "test_a_rank_that_returns_early_is_missed_too",
    "test_aborting_from_another_thread",
    "test_a_wait_elsewhere_hears_of_a_failure_and_its_rank",
    "test_calls_after_a_failure_fail_at_once",
]


@pytest.mark.parametrize("name", SHARED)
def test_as_in_one_process(name, monkeypatch):
    monkeypatch.setattr(test_loopback_ranks, "run_ranks", run_ranks)
    getattr(test_loopback_ranks, name)()


@pytest.mark.parametrize("call", ["sum", "gather"])
def test_a_silent_rank_is_named(call, monkeypatch):
    monkeypatch.setattr(test_loopback_ranks, "run_ranks", run_ranks)
    test_loopback_ranks.test_a_rank_that_never_comes_is_named_at_the_deadline(call)


@pytest.mark.parametrize("test", ["test_a_rank_that_raises", "test_the_next_search_is_not_harmed"])
def test_failures_in_a_search(test, monkeypatch):
    monkeypatch.setattr(test_search_2d, "run_ranks", run_ranks)
    getattr(test_search_2d, test)()


@pytest.mark.parametrize("shape", [(2, 2), (3, 2)])
def test_traffic_is_that_of_the_formula(shape, monkeypatch):
    monkeypatch.setattr(grid_graphs, "run_ranks", run_ranks)
    test_traffic_2d.test_counters_are_those_of_the_formula(shape, "auto", "out", 4)


@pytest.mark.parametrize("shape", [(3, 3), (1, 4)])
def test_a_level_reaches_only_a_row_and_a_column(shape, monkeypatch):
    """Messages of levels and synchronisations, counted where connections take them, and by the counters."""
    graph, posted, post = grid_graphs.rmat(8), {}, Links.post
    grid = Grid(*shape, graph.n)
    bound = sum(shape) - 2

    def counted(links, messages):
        for k in messages:
            if "label" in messages[k]:
                posted.setdefault(links._rank, []).append(k)
        return post(links, messages)

    def rank(communicator):
        mine = slice(communicator.rank, None, grid.size)
        part = build(communicator, grid, [(graph.src[mine], graph.dst[mine])], CpuWork())
        posted.pop(communicator.rank)
        found = search(communicator, part, [int(graph.src[0])], **grid_graphs.asked(predecessors=False))
        return found.traffic, found.levels, posted[communicator.rank]

    monkeypatch.setattr(Links, "post", counted)
    for number, (traffic, levels, to) in enumerate(run_ranks(grid.size, rank)):
        row, column = grid.place(number)
        assert set(to) == {*grid.ranks_of_row(row), *grid.ranks_of_column(column)} - {number}
        assert len(to) == traffic.messages + traffic.sum_messages
        assert traffic.sum_messages == bound * traffic.sums == bound * (levels + 1)
        assert traffic.messages <= bound * levels


def test_a_rank_that_is_held_up_in_another_row_is_not_named():
    """In a sum of 2 x 2 ranks, rank 0 waits for rank 2, which waits for rank 3 in its column."""
    given_up = threading.Event()

    def rank(communicator):
        if communicator.rank == 3:
            return given_up.wait(60)
        try:
            if communicator.rank == 2:
                time.sleep(0.5)  # rank 0 gives up first
            return communicator.sum([1])
        except RankError:
            given_up.set()
            raise

    for of in (run_ranks, loopback.run_ranks):
        given_up.clear()
        with pytest.raises(RankError, match=r"Rank 3 did not answer rank \d within 2 s") as caught:
            of(4, rank, deadline=2)
        assert caught.value.rank == 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, "M8[ns]", bool])
def test_types_lengths_and_ownership(dtype):
    """Arrays of any dtype, even empty, strided or read-only, arrive writable; a sender may change its own."""
    sizes = [0, 1, 300_001]

    def rank(communicator):
        for length in sizes:
            array = np.arange(2 * length).astype(dtype)[::2]
            array.flags.writeable = False
            received = communicator.all_gather(range(3), array)
            for k in {0, 1, 2} - {communicator.rank}:
                assert received[k].dtype == array.dtype and np.array_equal(received[k], array)
                assert received[k].flags.writeable
        return True

    assert all(run_ranks(3, rank))


def test_an_array_may_be_changed_after_a_large_send():
    def rank(communicator):
        array = np.full(4_000_000, communicator.rank)
        for _ in range(3):
            received = communicator.all_gather(range(2), array)
            array[:] = -1
            other = 1 - communicator.rank
            assert (received[other] == other).all()
            array[:] = communicator.rank
        return True

    assert all(run_ranks(2, rank))


def test_an_array_may_be_changed_while_it_is_sent():
    """Rank 0 has all that it waits for before it sends, so it goes on at once."""

    def rank(communicator):
        large = np.zeros(4_000_000 if communicator.rank == 0 else 0)
        if communicator.rank == 0:
            with communicator._changed:
                assert communicator._wait(lambda: communicator._inbox[1], 30)
        received = communicator.exchange((0, 1), [np.zeros(0), large])
        large[:] = -1
        communicator.sum([1])
        return communicator.rank == 0 or not received[0].any()

    assert run_ranks(2, rank) == [True, True]


def test_a_closed_connection_ends_all_calls_and_names_the_peer():
    with communicators(3, deadline=60) as ranks:
        errors = []

        def wait(rank):
            try:
                rank.sum([1])
            except RankError as error:
                errors.append(error)

        threads = [threading.Thread(target=wait, args=(rank,)) for rank in ranks[:2]]
        for thread in threads:
            thread.start()
        lost = ranks[2]
        lost._links._loop.call_soon_threadsafe(close_connections, lost)
        for thread in threads:
            thread.join(30)
        assert [error.rank for error in errors] == [2, 2]
        assert all("onnection with rank 2, tcp://127.0.0.1" in str(error) for error in errors)


def test_a_rank_in_another_call_is_found_before_the_deadline():
    def rank(communicator):
        if communicator.rank == 1:
            return communicator.sum([1])
        return communicator.all_gather(range(2), np.zeros(1))

    with pytest.raises(RankError, match=r"while rank . calls (sum|exchange)"):
        run_ranks(2, rank, deadline=60)


def test_conclusions():
    def rank(communicator):
        first = communicator.conclude(None)
        second = communicator.conclude(["TypeError", "no"] if communicator.rank else None)
        return first, [each and each[0] for each in second], communicator.early_end()

    assert run_ranks(3, rank) == [([None] * 3, [None, "TypeError", "TypeError"], None)] * 3


def test_a_rank_that_ended_with_an_error_is_not_waited_for():
    def rank(communicator):
        if communicator.rank == 1:
            return communicator.conclude(["KeyError", "no such vertex"])
        return communicator.all_gather(range(3), np.zeros(1))

    with pytest.raises(RankError, match=r"Rank 1 failed alone: no such vertex") as caught:
        run_ranks(3, rank, deadline=60)
    assert caught.value.rank == 1


def test_a_rank_that_ended_well_before_the_others():
    def rank(communicator):
        return communicator.conclude(None) if communicator.rank else communicator.sum([1])

    with pytest.raises(RankError, match=r"Rank . ended before the others"):
        run_ranks(3, rank, deadline=60)


def test_what_a_wait_of_another_kind_is_told():
    """A wait in an NCCL call polls this: an error of another rank ends the wait, a normal end does not."""
    with communicators(3) as ranks:
        threads = [
            threading.Thread(target=pytest.raises, args=(RankError, rank.conclude, outcome))
            for rank, outcome in zip(ranks[1:], [None, ["MemoryError", "all gone"]], strict=True)
        ]
        assert ranks[0].early_end() is None
        for thread in threads:
            thread.start()
        until = threading.Event()
        for _ in range(600):
            if ranks[0].early_end():
                break
            until.wait(0.05)
        assert ranks[0].early_end() == ("rank 2 failed alone: all gone", 2)
        ranks[0].abort("rank 0 stops")
        for thread in threads:
            thread.join(30)
        assert ranks[0].early_end() == ("rank 0 stops", 0)


def test_a_rank_that_leaves_is_missed_at_once():
    with communicators(2, deadline=60) as ranks:
        errors = []

        def wait():
            with pytest.raises(RankError, match=r"Rank 1 has left") as caught:
                ranks[0].sum([1])
            errors.append(caught.value)

        waiting = threading.Thread(target=wait)
        waiting.start()
        with ranks[1]._changed:
            assert ranks[1]._wait(lambda: ranks[1]._inbox[0], 30)
        leave(ranks[1])
        waiting.join(30)
        assert [error.rank for error in errors] == [1]


def test_a_rank_that_has_left_is_missed_at_once():
    """A send to it may fail before its farewell is read; the error then says that the connection was lost."""
    with communicators(2, deadline=60) as ranks:
        leave(ranks[1])
        with pytest.raises(RankError, match=r"Rank 1 has left|connection with rank 1, .* was lost") as caught:
            ranks[0].sum([1])
        assert caught.value.rank == 1


def leave(communicator):
    asyncio.run_coroutine_threadsafe(communicator.close(), communicator._links._loop).result(30)


def test_one_rank_alone():
    def rank(communicator):
        return communicator.sum([2]), communicator.all_gather([0], np.ones(1)), communicator.conclude(None)

    assert run_ranks(1, rank) == [([2], [np.ones(1)], [None])]
