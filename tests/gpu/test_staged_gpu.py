"""Ranks that work on one GPU exchange arrays through the host."""

from __future__ import annotations

import numpy as np
import pytest
from loopback import run_ranks

from rapids_trav.engines.multigpu.communicator import DEADLINE, Note, RankError

pytestmark = pytest.mark.gpu


def staged(cupy, size, function):
    from rapids_trav.engines.multigpu.staged import StagedCommunicator

    return run_ranks(size, lambda host: function(StagedCommunicator(host)), deadline=DEADLINE)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float64"])
def test_arrays_arrive_on_the_gpu(cupy, dtype):
    def rank(communicator):
        mine = [cupy.full(k + 1, 10 * communicator.rank + k, dtype) for k in range(3)]
        forms = [(np.dtype(dtype), communicator.rank + 1)] * 3
        received = communicator.exchange((0, 1, 2), mine, forms)
        assert received[communicator.rank] is mine[communicator.rank]
        assert all(isinstance(array, cupy.ndarray) and array.dtype == dtype for array in received)
        gathered = communicator.all_gather((0, 1, 2), mine[0])
        assert communicator.traffic.messages == 4
        return [array.get().tolist() for array in received], [int(array[0]) for array in gathered]

    for number, (received, gathered) in enumerate(staged(cupy, 3, rank)):
        assert received == [[10 * k + number] * (number + 1) for k in range(3)]
        assert gathered == [0, 10, 20]


def test_meetings(cupy):
    def rank(communicator):
        note = cupy.full(2, communicator.rank, np.int32) if communicator.rank else None
        met = communicator.meet([communicator.rank, 1], Note((0, 1), communicator.rank + 5, note, 2))
        assert all(isinstance(words, cupy.ndarray) for words in met.notes)
        return met.sums, met.numbers, met.notes[1][:2].get().tolist()

    assert staged(cupy, 2, rank) == [([1, 2], [5, 6], [1, 1])] * 2


def test_failures_pass_through(cupy):
    def rank(communicator):
        if communicator.rank == 0:
            communicator.abort("rank 1 is tired", 1)
        while True:
            communicator.check()

    with pytest.raises(RankError, match=r"^Rank 1 is tired; the graph is lost") as caught:
        staged(cupy, 2, rank)
    assert caught.value.rank == 1


def test_ranks_that_share_a_gpu_take_it_and_do_not_ask_nccl(cupy, monkeypatch):
    from rapids_trav.distributed.session import devices
    from rapids_trav.engines.multigpu.staged import StagedCommunicator

    monkeypatch.setattr(devices, "has_gpu", lambda: True)

    def rank(host):
        device, communicator = devices.connect_devices(host, None)
        assert isinstance(communicator, StagedCommunicator)
        return device, communicator.sum([1])

    assert run_ranks(2, rank, deadline=DEADLINE) == [("cuda", [2])] * 2
