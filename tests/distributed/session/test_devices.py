"""Devices of ranks: all ranks choose GPUs or none does; NCCL, replaced by a stand-in, is guarded by TCP."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest
from fake_nccl import Fabric, on_device
from tcp_ranks import close_connections, communicators, run_ranks

from rapids_trav.distributed.session import devices
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravError


def test_no_gpu_here_without_the_packages(monkeypatch):
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    assert not devices.has_gpu()


@pytest.mark.parametrize("wanted", [None, "cpu"])
def test_ranks_without_gpus_talk_through_tcp(wanted, monkeypatch):
    monkeypatch.setattr(devices, "has_gpu", lambda: False)

    def rank(control):
        device, communicator = devices.connect_devices(control, wanted)
        return device, communicator is control

    assert run_ranks(3, rank) == [("cpu", True)] * 3


def test_one_rank_without_a_gpu_is_enough(monkeypatch):
    asked = itertools.count()
    monkeypatch.setattr(devices, "has_gpu", lambda: next(asked) % 3 > 0)

    def rank(control):
        assert devices.connect_devices(control, None) == ("cpu", control)
        with pytest.raises(TravError, match=r"2 of 3 workers have a GPU with cuDF and CuPy: start all of"):
            devices.connect_devices(control, "cuda")
        return True

    assert all(run_ranks(3, rank))


@pytest.fixture
def guarded(monkeypatch):
    """Function that makes a rank's communicator, with stand-ins for CuPy and NCCL."""
    pytest.importorskip("cupy")
    from rapids_trav.distributed.session import guarded_nccl
    from rapids_trav.engines.multigpu import nccl

    fabrics = {}

    def make(control):
        fabric = fabrics.setdefault(control.size, Fabric())
        cupy, fake = fabric.modules(control.size)
        monkeypatch.setattr(nccl, "cupy", cupy)
        monkeypatch.setattr(nccl, "nccl", fake)
        return guarded_nccl.GuardedNccl(b"id", control)

    return make


def test_nccl_carries_the_calls(guarded):
    def rank(control):
        communicator = guarded(control)
        sums = communicator.sum([communicator.rank, 1])
        received = communicator.all_gather(range(3), on_device(np.full(2, communicator.rank)))
        assert (communicator.traffic.messages, control.traffic.messages) == (2, 0)
        control.sum([1])
        communicator.release()
        return sums, [array.tolist() for array in received]

    assert run_ranks(3, rank) == [([3, 3], [[0, 0], [1, 1], [2, 2]])] * 3


def error_of(communicator, errors, wait="in NCCL"):
    try:
        while wait == "for a kernel":
            communicator.check()
            time.sleep(0.01)
        communicator.sum([1])
    except RankError as error:
        errors[communicator.rank] = error


@pytest.mark.parametrize("wait", ["in NCCL", "for a kernel"])
@pytest.mark.parametrize("how", ["lost", "aborted", "ended with an error"])
def test_a_rank_that_waits_hears_of_the_others(guarded, how, wait):
    said = {
        "lost": "rank 2, .*was lost",
        "aborted": "Enough",
        "ended with an error": "Rank 2 failed alone: no",
    }
    with communicators(3, deadline=60) as controls:
        errors = {}

        def work(control):
            error_of(guarded(control), errors, wait)

        threads = [threading.Thread(target=work, args=(control,), daemon=True) for control in controls[:2]]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        last = controls[2]
        if how == "lost":
            last._links._loop.call_soon_threadsafe(close_connections, last)
        elif how == "aborted":
            guarded(last).abort("enough")
        else:
            threads.append(
                threading.Thread(target=pytest.raises, args=(RankError, last.conclude, ["x", "no"]))
            )
            threads[-1].start()
        for thread in threads:
            thread.join(30)
        assert set(errors) == {0, 1}
        for error in errors.values():
            assert error.rank == 2
            with pytest.raises(RankError, match=said[how]):
                raise error


def test_an_error_of_nccl_reaches_all(guarded):
    """NCCL itself gives up at the deadline; the other ranks need not wait for their own."""
    with communicators(2, deadline=1) as controls:
        errors = {}

        def work():
            error_of(guarded(controls[0]), errors)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(30)
        assert "waited 1 s for the others without an answer" in str(errors[0])
        until = time.monotonic() + 30
        while controls[1].failure is None and time.monotonic() < until:
            time.sleep(0.05)
        with pytest.raises(RankError, match=r"waited 1 s for the others without an answer"):
            controls[1].sum([1])
