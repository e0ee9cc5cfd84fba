"""Ranks as threads of one process: their exchanges, and their end when one of them fails."""

from __future__ import annotations

import pickle
import threading
import time

import numpy as np
import pytest
from loopback import run_ranks

from rapids_trav.engines.multigpu.communicator import InterruptError, Note, RankError, Traffic, aborting
from rapids_trav.errors import TravError

SHORT = 0.5  # seconds: a deadline that ranks are meant to miss
LATE = 2.0  # a longer one, which no other rank may miss, even on a busy machine


def test_gathering_in_groups():
    """Even and odd ranks gather separately, with arrays of different lengths and dtypes."""

    def rank(communicator):
        group = range(communicator.rank % 2, communicator.size, 2)
        dtype = np.uint32 if communicator.rank == 2 else np.int32
        received = communicator.all_gather(group, np.full(communicator.rank, communicator.rank, dtype))
        return [(array.tolist(), array.dtype) for array in received], communicator.traffic

    for place, (received, traffic) in enumerate(run_ranks(5, rank)):
        group = range(place % 2, 5, 2)
        assert received == [([k] * k, np.uint32 if k == 2 else np.int32) for k in group]
        assert traffic == Traffic(len(group) - 1, 4 * place * (len(group) - 1))


def test_exchanging_many_times():
    """The k-th array goes to the k-th rank of the group, in either order of the group, again and again."""

    def rank(communicator):
        group = tuple(reversed(range(communicator.size)))
        for turn in range(50):
            arrays = [np.array([turn, communicator.rank, other]) for other in group]
            received = communicator.exchange(group, arrays)
            for array in arrays:
                array[:] = -1  # the sender may change an array that it has sent
            mine = group.index(communicator.rank)
            for k, other in enumerate(group):
                assert k == mine or received[k].tolist() == [turn, other, communicator.rank]
        return communicator.traffic

    assert run_ranks(4, rank) == [Traffic(150, 150 * 24)] * 4


def test_sums():
    def rank(communicator):
        return communicator.sum([1, communicator.rank, 2**40]), communicator.traffic.sums

    assert run_ranks(3, rank) == [([3, 3, 3 * 2**40], 1)] * 3


def test_meeting():
    """Sums over all ranks come with a number and a note of each partner; partners may differ."""
    lengths = [0, 3, 1 << 15]  # the last is sent in a frame of its own between processes

    def rank(communicator):
        me = communicator.rank
        partners = [k for k in range(4) if k % 2 == me % 2]
        found = []
        for length in lengths:
            met = communicator.meet([me, 1], Note(partners, 10 + me, np.full(length, me, np.int32), length))
            assert [note[:length].tolist() for note in met.notes] == [[k] * length for k in partners]
            found.append((met.sums, met.numbers))
        return found, communicator.traffic

    traffic = Traffic(bytes=4 * sum(lengths), sums=3, sum_messages=6)
    of_pair = [([([6, 4], numbers)] * 3, traffic) for numbers in ([10, 12], [11, 13])]
    assert run_ranks(4, rank) == of_pair * 2


def test_an_interrupt_ends_a_request_on_all_ranks_at_one_meeting():
    def work(communicator):
        for turn in range(6):
            communicator.stopping = (communicator.rank, turn) == (1, 4)
            try:
                with aborting(communicator, "counting"):
                    assert communicator.sum([1, turn]) == [3, 3 * turn]
            except InterruptError as error:
                assert pickle.loads(pickle.dumps(error)).args == error.args
                ended = turn
        return ended

    assert run_ranks(3, work) == [4, 4, 4]


def test_forms_that_are_known():
    def rank(communicator):
        arrays = [np.arange(k + communicator.rank, dtype=np.int32) for k in range(3)]
        forms = [(np.dtype(np.int32), communicator.rank + k) for k in range(3)]
        received = communicator.exchange(range(3), arrays, forms)
        return [array.tolist() for array in received]

    assert run_ranks(3, rank) == [[list(range(me + k)) for k in range(3)] for me in range(3)]


def test_a_rank_that_raises_ends_the_others():
    seen = {}

    def rank(communicator):
        try:
            communicator.sum([1])  # over TCP, the failure may overtake the sum on its way to a slow rank
            if communicator.rank == 2:
                raise ZeroDivisionError("nothing to divide by")
            communicator.all_gather(range(4), np.zeros(1))
        except RankError as error:
            seen[communicator.rank] = str(error)
            raise

    start = time.monotonic()
    with pytest.raises(RankError, match="Rank 2 failed while working: nothing to divide by") as caught:
        run_ranks(4, rank, deadline=30)
    assert time.monotonic() - start < 15  # no rank waited for the deadline
    assert caught.value.rank == 2
    assert isinstance(caught.value, TravError)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert set(seen) == {0, 1, 3}
    assert all("Rank 2 failed" in message for message in seen.values())


@pytest.mark.parametrize("call", ["sum", "gather"])
def test_a_rank_that_never_comes_is_named_at_the_deadline(call):
    given_up = threading.Event()

    def rank(communicator):
        if communicator.rank == 1:
            return given_up.wait(60)
        try:
            if call == "sum":
                return communicator.sum([1])
            return communicator.all_gather((1, 2), np.zeros(1)) if communicator.rank else None
        except RankError:
            given_up.set()
            raise

    with pytest.raises(RankError, match=r"Rank 1 did not answer rank \d within 2 s") as caught:
        run_ranks(3, rank, deadline=LATE)
    assert caught.value.rank == 1


def test_a_rank_that_is_held_up_is_not_named():
    """Rank 0 gives up first. Of the two ranks that it misses, rank 1 is itself waiting for rank 2."""
    asked, given_up = threading.Event(), threading.Event()

    def rank(communicator):
        if communicator.rank == 2:
            return given_up.wait(60)
        try:
            if communicator.rank == 0:
                asked.set()
                return communicator.sum([1])
            asked.wait(60)
            time.sleep(LATE / 2)
            return communicator.all_gather((1, 2), np.zeros(1))
        except RankError:
            given_up.set()
            raise

    with pytest.raises(RankError, match=r"Rank 2 did not answer rank 0 within 2 s") as caught:
        run_ranks(3, rank, deadline=LATE)
    assert caught.value.rank == 2


def test_a_rank_that_returns_early_is_missed_too():
    def rank(communicator):
        return communicator.rank or communicator.sum([1])

    with pytest.raises(RankError, match="Rank 1 did not answer"):
        run_ranks(2, rank, deadline=SHORT)


def test_a_rank_that_never_ends_is_named():
    stuck = threading.Event()
    with pytest.raises(RankError, match="Rank 1 did not end within"):
        run_ranks(2, lambda communicator: communicator.rank and stuck.wait(), deadline=SHORT)
    stuck.set()


def test_aborting_from_another_thread():
    """A watcher of lost workers aborts from its own thread."""

    def rank(communicator):
        if communicator.rank == 0:
            threading.Timer(0.1, communicator.abort, ["worker tcp://10.0.0.7:1234 was lost"]).start()
        else:
            communicator.sum([1])

    with pytest.raises(RankError, match=r"Worker tcp://10.0.0.7:1234 was lost; the graph is lost"):
        run_ranks(3, rank, deadline=30)


def test_a_wait_elsewhere_hears_of_a_failure_and_its_rank():
    """A rank that waits for a kernel, say, asks now and then; rank 0 tells of another one."""

    def rank(communicator):
        communicator.check()
        communicator.sum([1])
        if communicator.rank == 0:
            communicator.abort("rank 1 did not answer", 1)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            communicator.check()
            time.sleep(0.01)

    with pytest.raises(RankError, match="Rank 1 did not answer; the graph is lost") as caught:
        run_ranks(3, rank, deadline=30)
    assert caught.value.rank == 1


def test_calls_after_a_failure_fail_at_once():
    outcomes = {}

    def rank(communicator):
        try:
            if communicator.rank == 0:
                communicator.abort("enough")
            communicator.sum([1])
        except RankError:
            start = time.monotonic()
            with pytest.raises(RankError, match="Enough"):
                communicator.exchange((0, 1), [np.zeros(1)] * 2)
            outcomes[communicator.rank] = time.monotonic() - start

    with pytest.raises(RankError, match="Enough"):
        run_ranks(2, rank, deadline=30)
    assert set(outcomes) == {0, 1}
    assert max(outcomes.values()) < 15
