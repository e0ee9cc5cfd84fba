"""The NCCL communicator: its own logic over a stand-in, one rank on a GPU, and several on several GPUs."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import grid_graphs as graphs
import numpy as np
import pytest
from fake_nccl import Fabric, on_device

from rapids_trav.engines.multigpu.communicator import Note, RankError, Traffic
from rapids_trav.engines.multigpu.grid import Grid, choose_grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.errors import TravError

OPTIONS: list[dict] = [
    {}, {"exchange": "list"}, {"exchange": "bitmap"}, {"claim": "sort"}, {"bottom_up": True},
    {"deterministic": True},
]  # fmt: skip


def run_threads(size, function):
    """Call `function(rank)` on `size` threads; return the results, or errors in their place."""
    results: list = [None] * size

    def work(rank):
        try:
            results[rank] = function(rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return results


@pytest.fixture
def over_fakes(monkeypatch):
    """Run a function on the communicators of some ranks, without a GPU."""
    pytest.importorskip("cupy")
    from rapids_trav.engines.multigpu import nccl

    def run(size, function, absent=(), **options):
        cupy, fake = Fabric().modules(size)
        monkeypatch.setattr(nccl, "cupy", cupy)
        monkeypatch.setattr(nccl, "nccl", fake)

        def rank(number):
            if number in absent:
                return None
            communicator = nccl.NcclCommunicator(b"id", number, size, **options)
            try:
                return function(communicator)
            finally:
                communicator.close()

        return run_threads(size, rank)

    return run


def test_exchanging_arrays_of_any_length_and_type(over_fakes):
    def rank(communicator):
        group = tuple(reversed(range(3)))
        mine = group.index(communicator.rank)
        types = (np.int32, np.uint32, np.int64)
        for turn in range(5):
            sent = [on_device(np.full(turn * k, 10 * communicator.rank + k, types[k])) for k in range(3)]
            received = communicator.exchange(group, sent)
            for k, array in enumerate(received):
                assert array.dtype == types[mine]
                assert array.tolist() == [10 * group[k] + mine] * (turn * mine)
            assert received[mine] is sent[mine]
        gathered = communicator.all_gather(range(3), on_device(np.arange(communicator.rank)))
        assert [array.tolist() for array in gathered] == [[], [0], [0, 1]]
        return communicator.traffic

    first = [sum(turn * k * size for turn in range(5)) for k, size in enumerate((4, 4, 8))]
    for place, traffic in enumerate(over_fakes(3, rank)):
        others = [n for k, n in enumerate(first) if k != 2 - place]
        assert traffic == Traffic(12, sum(others) + 2 * 8 * place)


def test_groups_and_sums(over_fakes):
    def rank(communicator):
        group = range(communicator.rank % 2, 4, 2)
        ends = communicator.all_gather(group, on_device([communicator.rank]))
        return [int(end[0]) for end in ends], communicator.sum([communicator.rank, True])

    assert over_fakes(4, rank) == [([0, 2], [6, 4]), ([1, 3], [6, 4])] * 2


def test_meeting(over_fakes):
    """Sums over all ranks come with a number and a note of each partner, which may be the rank itself."""

    def rank(communicator):
        me = communicator.rank
        partners = [k for k in range(4) if k % 2 == me % 2]
        note = on_device(np.arange(me, dtype=np.int32)) if me else None
        sums, numbers, notes = communicator.meet([me, 1], Note(partners, 10 + me, note, 5))
        told = [words[:k].tolist() for k, words in zip(partners, notes, strict=True)]
        return sums, numbers, told, communicator.meet([5]), communicator.traffic

    found = over_fakes(4, rank)
    for me, (sums, numbers, told, alone, traffic) in enumerate(found):
        assert (sums, numbers) == ([6, 4], [10 + me % 2, 12 + me % 2])
        assert told == [list(range(me % 2)), list(range(2 + me % 2))]
        assert alone == ([20], [], [])
        assert traffic == Traffic(bytes=4 * me, sums=2, sum_messages=4)


def test_known_forms_need_no_header(over_fakes, monkeypatch):
    from rapids_trav.engines.multigpu import nccl

    def rank(communicator):
        arrays = [on_device(np.full(k + communicator.rank, communicator.rank, np.int64)) for k in range(3)]
        forms = [(np.dtype(np.int64), communicator.rank + k) for k in range(3)]
        received = communicator.exchange(range(3), arrays, forms)
        return [array.tolist() for array in received]

    monkeypatch.setattr(nccl, "header", None)  # not called
    assert over_fakes(3, rank) == [[[k] * (me + k) for k in range(3)] for me in range(3)]


def test_a_whole_search(over_fakes):
    graph = graphs.rmat(8)
    grid = Grid(3, 2, graph.n)
    root = int(graph.src[0])

    class Carrying:
        """Communicator that copies host arrays to the fake device and back."""

        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

        def all_gather(self, group, array, known=None):
            return [np.asarray(a) for a in self._inner.all_gather(group, on_device(array), known)]

        def exchange(self, group, arrays, known=None):
            return [np.asarray(a) for a in self._inner.exchange(group, list(map(on_device, arrays)), known)]

    def rank(communicator):
        mine = slice(communicator.rank, None, 6)
        carried = Carrying(communicator)
        part = build(carried, grid, [(graph.src[mine], graph.dst[mine])], CpuWork())
        return search(carried, part, np.array([root]), **graphs.asked(trace=True))

    answers = over_fakes(6, rank)
    by_loopback = graphs.searched(graph, (3, 2), [root])
    assert np.array_equal(np.concatenate([a.distance for a in answers]), by_loopback.distance)
    assert [a.traffic for a in answers] == [a.traffic for a in by_loopback.ranks]


def test_a_rank_that_never_comes_ends_at_the_deadline(over_fakes):
    start = time.monotonic()
    errors = over_fakes(3, lambda communicator: communicator.sum([1]), absent=(2,), deadline=0.5)
    assert time.monotonic() - start < 20
    for rank in (0, 1):
        assert isinstance(errors[rank], RankError)
        assert f"Rank {rank} waited 0.5 s for the others without an answer" in str(errors[rank])


def test_a_reason_heard_from_outside(over_fakes):
    reasons = iter([None, None, "worker tcp://10.0.0.7:1234 was lost"])
    errors = over_fakes(
        2, lambda c: c.exchange((0, 1), [on_device([1])] * 2), absent=(1,), watch=lambda: next(reasons)
    )
    assert "Worker tcp://10.0.0.7:1234 was lost; the graph is lost" in str(errors[0])


def test_calls_after_an_abort_and_after_closing(over_fakes):
    def rank(communicator):
        if communicator.rank == 1:
            communicator.abort("enough")
            communicator.abort("a later reason")
            with pytest.raises(RankError, match="Enough"):
                communicator.sum([1])
        communicator.close()
        if communicator.rank == 0:
            with pytest.raises(TravError, match="closed"):
                communicator.sum([1])
        return "checked"

    assert over_fakes(2, rank) == ["checked"] * 2


def test_a_type_that_cannot_be_sent(over_fakes):
    (error, _) = over_fakes(2, lambda c: c.exchange((0, 1), [on_device([True])] * 2), absent=(1,))
    assert "array of bool cannot be sent" in str(error)


@contextmanager
def own_pool(device):
    """Use CuPy's own pool on a device: frees of cuDF's allocator wait for all devices of the process."""
    import cupy

    with cupy.cuda.Device(device), cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc):
        yield


def check_devices(n_ranks):
    """Search over NCCL with one thread and one device per rank, and compare with SciPy."""
    import cupy

    from rapids_trav.engines.multigpu.local_cuda import CudaWork
    from rapids_trav.engines.multigpu.nccl import NcclCommunicator

    graph = graphs.rmat(12, directed=True)
    sources = [int(graph.src[0]), int(graph.dst[1])]
    unique_id = cupy.cuda.nccl.get_unique_id()
    grid = Grid(*choose_grid(n_ranks), graph.n)

    def rank(number):
        with own_pool(number):
            communicator = NcclCommunicator(unique_id, number, n_ranks)
            mine = slice(number, None, n_ranks)
            chunks = [(cupy.asarray(graph.src[mine]), cupy.asarray(graph.dst[mine]))]
            part = build(communicator, grid, chunks, CudaWork(), directed=True, round_edges=10_000)
            found = []
            for direction in ("out", "in", "both"):
                for options in OPTIONS:
                    one = search(communicator, part, sources, **graphs.asked(direction, **options))
                    found.append((direction, one.distance.get(), one.predecessor.get()))
            communicator.close()
            return found

    results = run_threads(n_ranks, rank)
    for result in results:
        if isinstance(result, Exception):
            raise result
    for parts in zip(*results, strict=True):
        direction = parts[0][0]
        distance = np.concatenate([part[1] for part in parts])
        predecessor = np.concatenate([part[2] for part in parts])
        assert np.array_equal(distance, graph.distance(sources, direction))
        graph.check_tree(sources, distance, predecessor, direction)


@pytest.mark.gpu
def test_one_rank_on_a_gpu():
    check_devices(1)


@pytest.mark.multigpu
def test_a_rank_on_each_gpu():
    import cupy

    check_devices(cupy.cuda.runtime.getDeviceCount())


@pytest.mark.multigpu
def test_a_partner_that_never_comes_on_gpus():
    """The device stays usable after the abort."""
    import cupy

    from rapids_trav.engines.multigpu.nccl import NcclCommunicator

    unique_id = cupy.cuda.nccl.get_unique_id()

    def rank(number):
        with own_pool(number):
            communicator = NcclCommunicator(unique_id, number, 2, deadline=5)
            assert communicator.sum([1]) == [2]
            if number == 1:
                return None
            with pytest.raises(RankError, match="waited 5 s for the others without an answer"):
                communicator.exchange((0, 1), [cupy.arange(10)] * 2)
            return int(cupy.arange(10).sum())

    assert run_threads(2, rank) == [45, None]
