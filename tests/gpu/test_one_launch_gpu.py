"""Searches by several ranks with one launch each, which meet inside the kernel; the ranks share a GPU."""

from __future__ import annotations

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from pairs import pairs

from .ranked_graphs import ranked
from .small_graphs import GRAPHS, Graph, check_tree, grid, path, random, star

pytestmark = pytest.mark.gpu

RANKS = [1, 2, 3, 4]
LAYOUTS = pytest.mark.parametrize("lean", [False, True], ids=["both", "lean"])
CASES = [(name, False) for name in GRAPHS] + [(name, True) for name in GRAPHS if GRAPHS[name].symmetric]


def check(made, sources, limit=None) -> None:
    distance, predecessor, _ = made.search(sources, depth_limit=limit)
    want = made.graph.distance(sources)
    if limit is not None:
        want = np.where(want > limit, -1, want)
    assert np.array_equal(distance, want)
    check_tree(made.graph, sources, distance, predecessor)


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize(
    ("name", "lean"), CASES, ids=[f"{name}-{'lean' if lean else 'both'}" for name, lean in CASES]
)
def test_ranks_agree_with_scipy(cupy, name, lean, n_ranks):
    graph = GRAPHS[name]
    made = ranked(cupy, graph, n_ranks, lean=lean)
    assert {rank.rows.lean for rank in made.group.ranks} == {lean}
    check(made, [0])
    check(made, [graph.n - 1])
    check(made, list(range(0, graph.n, 3)))


def test_each_rank_is_timed_without_its_wait_for_the_others(cupy, monkeypatch):
    """Each rank has four times in order, of which the second to the third is the wait."""
    from rapids_trav.engines.interface import BfsOptions
    from rapids_trav.engines.multigpu.one_launch import launch, layout

    made = ranked(cupy, GRAPHS["undirected"], 2)
    heads, read = [], launch.RankMemory.head
    monkeypatch.setattr(launch.RankMemory, "head", lambda self: heads.append(read(self)) or heads[-1])
    found, _ = made.group.search(made.ids[[0]], BfsOptions())
    for head, one in zip(heads, found, strict=True):
        began, arrived, met, finished = head.view(np.uint64)[layout.CLOCK_WORD :].tolist()
        assert 0 < began <= arrived <= met <= finished
        assert one.device_seconds == pytest.approx((arrived - began + finished - met) / 1e9)
        assert one.device_seconds > 0


def rmat(scale: int, factor: int, seed: int) -> Graph:
    """Return an undirected R-MAT graph."""
    random = np.random.default_rng(seed)
    u, v = np.zeros((2, factor << scale), np.int64)
    for _ in range(scale):
        i = random.random(len(u)) > 0.76
        j = random.random(len(u)) > np.where(i, 0.19 / 0.24, 0.57 / 0.76)
        u, v = 2 * u + i, 2 * v + j
    return Graph(1 << scale, u, v, symmetric=True)


@pytest.mark.parametrize("idle", [False, True])
def test_a_search_after_a_pause_wakes_the_link(cupy, monkeypatch, idle):
    """Each rank first reads memory of the next one, into memory that the search clears."""
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, grid(23), 3)
    check(made, [0])
    monkeypatch.setattr(launch, "IDLE", -1.0 if idle else 1e9)
    read, copy = [], cupy.cuda.runtime.memcpyAsync
    monkeypatch.setattr(cupy.cuda.runtime, "memcpyAsync", lambda *how: read.append(how[1]) or copy(*how))
    check(made, [7])
    places = [rank.shared.data.ptr for rank in made.group.ranks]
    assert [place for place in read if place in places] == (places[1:] + places[:1] if idle else [])


@pairs(("both", 1, 3), ("lean", 1, 3), layout=["both", "lean"], blocks=[1, 3], n_ranks=RANKS)
def test_every_exchange_is_used_and_right(cupy, layout, blocks, n_ranks):
    """A pull takes the frontier from lists, from copies of bitmaps, or as words that were sent.

    A push takes it from lists, or with rows of own vertices alone offers what it finds.
    """
    lean = layout == "lean"
    made = ranked(cupy, rmat(11, 16, seed=3), n_ranks, blocks, lean=lean)
    seen = set()
    for sources in ([0], [5], [1000], range(24)):
        check(made, sources)
        *_, levels = made.search(sources, trace=True)
        # All ranks make the same decisions.
        assert len({tuple(level[:3] for level in rank) for rank in levels}) == 1
        seen |= {level[:2] for level in levels[0]}
    push = ("push", "offers" if lean else "lists")
    assert seen == {push, ("pull", "lists"), ("pull", "copies"), ("pull", "words")}


@pytest.mark.parametrize("n_ranks", [1, 3])
@pytest.mark.parametrize("n_hubs", [1, 32, 33])
def test_a_frontier_of_few_vertices_is_right(cupy, n_hubs, n_ranks):
    """The hubs are the frontier; some have rows of two edges, some rows that all warps share."""
    n_long, n_leaves = (n_hubs + 1) // 2, 12_000
    hubs = np.arange(1, n_hubs + 1)
    leaves = n_hubs + 1 + np.arange(n_leaves)
    ends = n_hubs + 1 + n_leaves + np.arange(n_hubs)
    u = np.concatenate([np.zeros(n_hubs, np.int64), hubs, np.repeat(hubs[:n_long], n_leaves), ends])
    v = np.concatenate([hubs, ends, np.tile(leaves, n_long), np.roll(ends, 1)])
    made = ranked(cupy, Graph(int(ends[-1]) + 1, u, v, symmetric=True), n_ranks, 2, least_pull=1 << 40)
    check(made, [0])
    *_, levels = made.search([0], trace=True)
    assert [level[:2] for level in levels[0][:2]] == [("push", "lists")] * 2


@LAYOUTS
def test_deferred_vertices_reach_the_other_ranks(cupy, lean):
    """Leaves are found after the words of their ranks have been sent, and others are behind each of them."""
    n_cold, n_hubs, n_leaves = 300, 40, 1000
    first = n_cold + n_hubs
    leaves = first + np.arange(n_leaves)
    u = np.concatenate([np.repeat(leaves, first), leaves])
    v = np.concatenate([np.tile(np.arange(first), n_leaves), n_leaves + leaves])
    made = ranked(cupy, Graph(first + 2 * n_leaves, u, v, symmetric=True), 2, lean=lean)
    sources = list(range(n_cold, first))
    check(made, sources)
    *_, levels = made.search(sources, trace=True)
    assert [level[:2] for level in levels[0][:2]] == [("pull", "lists"), ("pull", "copies")]


@pytest.mark.parametrize("n_ranks", [2, 3])
@pytest.mark.parametrize("symmetric", [False, True])
def test_frontiers_that_swell_and_shrink(cupy, monkeypatch, n_ranks, symmetric):
    """With short queues, a frontier of many edges is pushed to the bitmap, from which all ranks copy."""
    from rapids_trav.engines.cuda.bfs import fused

    monkeypatch.setattr(fused, "WHOLE_QUEUE", 0)
    graph = random(30_000, 150_000, symmetric, seed=6)
    for least_pull in (0, 1 << 40):
        made = ranked(cupy, graph, n_ranks, 2, least_pull=least_pull)
        check(made, [0])
        check(made, [graph.n - 1])
        check(made, list(range(0, graph.n, 7)))


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_few_vertices_behind_many_edges_are_queued_alone(cupy, monkeypatch, n_ranks):
    """A frontier of many edges is pushed to the bitmap and finds three vertices, which are pushed alone."""
    from rapids_trav.engines.cuda.bfs import fused
    from rapids_trav.engines.multigpu.one_launch import launch

    monkeypatch.setattr(fused, "WHOLE_QUEUE", 0)
    monkeypatch.setitem(launch.TUNED, "CHEAP_PULL", 0)
    among, three, hub, leaves = 1 + np.arange(200), 201 + np.arange(3), 204, 205 + np.arange(4000)
    drawn = np.random.default_rng(4).integers(1, 201, (2, 10_000))
    ends = [
        (np.zeros(200, int), among),
        drawn,
        (among[:3], three),
        (three, [hub] * 3),
        ([hub] * 4000, leaves),
    ]
    u, v = (np.concatenate(side) for side in zip(*ends, strict=True))
    graph = Graph(4205, u, v, symmetric=True)
    made = ranked(cupy, graph, n_ranks, least_pull=1 << 40)
    check(made, [0])
    *_, levels = made.search([0], trace=True)
    steps = [(level.direction, level.frontier) for level in levels[0][:4]]
    assert steps == [("push", 1), ("push", 200), ("push", 3), ("push", 1)]
    assert sum(rank[2].edges for rank in levels) == 6


@pytest.mark.parametrize("n_ranks", RANKS)
@LAYOUTS
def test_depth_limits_and_targets(cupy, lean, n_ranks):
    graph = grid(23)
    made = ranked(cupy, graph, n_ranks, lean=lean)
    want = graph.distance([0])
    for limit in (0, 1, 7):
        check(made, [0], limit)
    targets = np.flatnonzero(want == 9)[:4]
    distance, _, levels = made.search([0], targets=targets, trace=True)
    assert np.array_equal(distance[targets], want[targets])
    assert {len(rank) for rank in levels} == {9}
    distance, predecessor, _ = made.search([0], predecessors=False)
    assert predecessor is None
    assert np.array_equal(distance, want)


@pytest.mark.parametrize("n_ranks", [2, 4])
@LAYOUTS
def test_long_paths_and_large_stars(cupy, lean, n_ranks):
    """Distances do not fit into a byte, or one row holds all edges."""
    made = ranked(cupy, path(400), n_ranks, lean=lean)
    check(made, [0])
    check(made, [200])
    made = ranked(cupy, star(9000), n_ranks, 3, lean=lean)
    for sources in ([0], [4000], [1, 9000]):
        check(made, sources)


@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize(("paths", "leaves", "per_level"), [(40, 0, 1), (32, 40, 1), (33, 40, 2)])
def test_short_rows_and_few_vertices_take_one_barrier_a_level(cupy, n_ranks, paths, leaves, per_level):
    """Short rows, and rows of at most 32 vertices, are not queued first, which takes a barrier more."""
    length, blocks = 60, 3
    n = paths * length
    along = np.arange(n).reshape(paths, length)
    u = np.concatenate([along[:, :-1].ravel(), np.repeat(np.arange(n), leaves)])
    v = np.concatenate([along[:, 1:].ravel(), n + np.arange(n * leaves)])
    made = ranked(cupy, Graph(n * (1 + leaves), u, v, symmetric=True), n_ranks, blocks, least_pull=1 << 40)
    for rank in made.group.ranks:
        rank.changed = {"COUNTED": 0}  # blocks arrive at a barrier, which counts them from search to search
    sources = along[:, 0].tolist()
    check(made, sources)

    def barriers(levels: int) -> int:
        counter = made.group.ranks[0].control[:4].view(np.uint32)
        before = int(counter[0])
        made.search(sources, depth_limit=levels)
        return (int(counter[0]) - before) // blocks

    assert barriers(40) - barriers(20) == 20 * per_level


@pytest.mark.parametrize("n_ranks", [1, 3])
@pytest.mark.parametrize("wide", [False, True])
def test_frontiers_go_through_inboxes_and_lists_in_turn(cupy, monkeypatch, wide, n_ranks):
    """A frontier of more edges than an inbox has room for is listed, and one of fewer is sent again."""
    from rapids_trav.engines.multigpu.one_launch import launch, layout
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    if wide:
        monkeypatch.setattr(Dealing, "vertex_dtype", np.dtype(np.int64))
    monkeypatch.setattr(layout, "THIN_EDGES", 8)
    monkeypatch.setitem(launch.TUNED, "THIN_EDGES", 8)
    graph = grid(19)  # of which frontiers grow to 76 edges and shrink again
    made = ranked(cupy, graph, n_ranks, 2, least_pull=1 << 40)
    for sources in ([0], [9 * 19 + 9], [0, 18, 180]):
        check(made, sources)


@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_wide_ids_and_offsets(cupy, monkeypatch, vertex):
    from rapids_trav.engines.cuda.build import in_memory
    from rapids_trav.engines.multigpu.one_launch import rows
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    for module, name in ((rows, "edge_type"), (rows, "offset_type"), (in_memory, "edge_type")):
        monkeypatch.setattr(module, name, lambda n: np.dtype(np.int64))
    monkeypatch.setattr(Dealing, "vertex_dtype", np.dtype(vertex))
    graph = rmat(11, 16, seed=4)
    check(ranked(cupy, graph, 3), [1])
    check(ranked(cupy, random(3000, 20_000, symmetric=False), 2), [0, 9])


@pytest.mark.parametrize("lean", [False, True])
def test_ranks_agree_on_offsets_where_one_needs_wide_ones(cupy, monkeypatch, lean):
    """A graph near 2^32 entries a rank has ranks on both sides of the limit."""
    from rapids_trav.engines.multigpu.one_launch import rows

    graph = rmat(11, 16, seed=4)
    entries = [rank.rows.n_edges for rank in ranked(cupy, graph, 2).group.ranks]
    most = max(entries)
    assert min(entries) < most
    made = []

    def offset_type(n):
        made.append(np.dtype(np.uint32 if n < most else np.int64))
        return made[-1]

    monkeypatch.setattr(rows, "offset_type", offset_type)
    check(ranked(cupy, graph, 2, lean=lean), [1])
    assert set(made) == {np.dtype(np.uint32), np.dtype(np.int64)}


@pytest.mark.parametrize("lean", [False, True])
def test_offsets_that_were_built_wide_become_narrow(cupy, monkeypatch, lean):
    """Rows of 2^31 entries are built with offsets of 64 bits, and searched with 32 bits without a sign."""
    from rapids_trav.engines.cuda.build import in_memory
    from rapids_trav.engines.multigpu.one_launch import rows

    for module in (rows, in_memory):
        monkeypatch.setattr(module, "edge_type", lambda n: np.dtype(np.int64))
    for graph in (rmat(11, 16, seed=4), *([] if lean else [random(3000, 20_000, symmetric=False)])):
        made = ranked(cupy, graph, 2, lean=lean)
        for rank in made.group.ranks:
            arrays = rank.rows.into.row_offsets, rank.rows.out.row_offsets, rank.rows.own_offsets
            assert {array.dtype for array in arrays} == {np.dtype(np.uint32)}
            assert rank.rows.into.word_rows.dtype == np.uint32
        check(made, [1])


@pytest.mark.parametrize(("entries", "bits"), [(2**32 - 2**20 - 1, 32), (2**32 - 2**20, 64)])
def test_offsets_leave_room_for_entries_past_the_end(cupy, entries, bits):
    from rapids_trav.engines.multigpu.one_launch.rows import offset_type

    assert 8 * offset_type(entries).itemsize == bits


def test_a_rank_that_never_launches_ends_the_others(cupy, monkeypatch):
    """They wait until the deadline and say which GPU was missing; the next search is answered."""
    from rapids_trav.engines.multigpu.communicator import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 3, deadline=0.5)
    start = launch.Launch.start
    monkeypatch.setattr(launch.Launch, "start", lambda self: self._rank.rows.rank == 1 or start(self))
    with pytest.raises(
        RankError, match=r"GPU 0 \(rank 1\) did not answer GPU 0 \(rank [02]\) within"
    ) as told:
        made.search([0])
    assert told.value.rank == 1
    monkeypatch.undo()
    made.group.common = replace(made.group.common, deadline=60.0)
    check(made, [0])


def test_ranks_that_are_told_to_stop_do_not_wait(cupy, monkeypatch):
    """The word is in the memory of one rank, which tells the others; the deadline is far."""
    from rapids_trav.engines.multigpu.communicator import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 3, deadline=1e6)
    start = launch.Launch.start
    launched = []

    def only_others(self):
        if self._rank.rows.rank != 1:
            launched.append(start(self))

    made.group.ranks[0].shared.view(np.uint32)[0] = 2**32 - 1
    monkeypatch.setattr(launch.Launch, "start", only_others)
    with pytest.raises(RankError, match="The search was stopped"):
        made.search([0])
    assert len(launched) == 2
    monkeypatch.undo()
    check(made, [0])


@LAYOUTS
@pytest.mark.parametrize("ask_every", [1, 2])
def test_all_blocks_leave_wherever_they_wait(cupy, monkeypatch, lean, ask_every):
    """Some see that the ranks have met, and go on to a barrier; others see first that they should stop.

    The last block of a rank may leave at a barrier, too.  If it did not tell the other rank, that would wait
    until the deadline, and say so.
    """
    from rapids_trav.engines.multigpu.communicator import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    monkeypatch.setitem(launch.TUNED, "ASK_EVERY", ask_every)
    made = ranked(cupy, star(300), 2, 3, lean=lean, deadline=30.0)  # a long row takes a barrier
    for _ in range(20):
        made.group.ranks[1].shared.view(np.uint32)[0] = 2**32 - 1
        with pytest.raises(RankError, match="The search was stopped"):
            made.search([0])
    check(made, [0])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_launch_that_fails_ends_those_before(cupy, monkeypatch, error):
    """Ranks that were launched are told to stop, however far the deadline; the next search is answered."""
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 3, deadline=1e6)
    start = launch.Launch.start

    def fails(self):
        if self._rank.rows.rank == 2:
            raise error
        start(self)

    monkeypatch.setattr(launch.Launch, "start", fails)
    with pytest.raises(error):
        made.search([0])
    monkeypatch.undo()
    check(made, [0])


def test_a_caller_who_is_interrupted_ends_the_search(cupy, monkeypatch):
    """The host asks whether the ranks have ended, and is interrupted while one never launches."""
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 2, deadline=1e6)
    start = launch.Launch.start

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(launch.Launch, "start", lambda self: self._rank.rows.rank == 1 or start(self))
    monkeypatch.setattr(launch.RankMemory, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.search([0])
    monkeypatch.undo()
    check(made, [0])


def test_closing_ends_the_search_of_another_thread(cupy, monkeypatch):
    """The search waits for a rank that never launches, until `stop` is called."""
    from rapids_trav.engines.multigpu.communicator import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 2, deadline=1e6)
    start, launched = launch.Launch.start, threading.Event()

    def start_one(self):
        if self._rank.rows.rank == 0:
            start(self)
            launched.set()

    monkeypatch.setattr(launch.Launch, "start", start_one)
    wait, request, stopped = launch.RankMemory.wait, launch.RankMemory.request_stop, threading.Event()
    # The emulation runs the kernel when somebody waits for it, and then until it ends.
    monkeypatch.setattr(launch.RankMemory, "wait", lambda self: stopped.wait(60) and wait(self))
    monkeypatch.setattr(launch.RankMemory, "request_stop", lambda self: (request(self), stopped.set()))
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(made.search, [0])
        assert launched.wait(60)
        made.group.stop()
        with pytest.raises(RankError, match="The search was stopped"):
            search.result()
    monkeypatch.undo()
    made.group.stop()  # no search runs
    check(made, [0])


def test_a_rank_that_fails_to_launch_leaves_no_other_waiting(cupy, monkeypatch):
    """All memory is taken before the first launch, so the next search is answered."""
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["grid"], 2)
    taken = launch.bitmap_of
    calls = []

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise MemoryError("no room")
        return taken(*arguments)

    monkeypatch.setattr(launch, "bitmap_of", fails)
    with pytest.raises(MemoryError, match="no room"):
        made.search([0])
    check(made, [0])


@pytest.fixture
def no_garbage():
    """Free what earlier tests left, and nothing more until the test has ended.

    CUDA waits for all kernels when it unloads a module or frees pinned memory.  On one GPU, where a test has
    several ranks, that may be between the launches of two that wait for each other.
    """
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_searches_of_threads_enter_devices_in_one_order(cupy, monkeypatch, no_garbage):
    """Two groups name the same devices in opposite orders, and no search begins while another one runs."""
    from rapids_trav.engines.multigpu.one_launch import launch

    last = cupy.cuda.runtime.getDeviceCount() - 1
    graphs = [GRAPHS["undirected"], GRAPHS["grid"]]
    made = [ranked(cupy, graphs[0], 2, devices=[0, last]), ranked(cupy, graphs[1], 2, devices=[last, 0])]
    entered = []
    start = launch.Launch.start

    def noted(self):
        entered.append(self._rank.rows.dealing)
        time.sleep(1e-4)  # lets the other thread go first, if it may
        start(self)

    def search(one, root):
        # From CuPy's pool, as the ranks share a GPU: RMM's default, which cuDF chooses, frees memory by a
        # call that waits for all kernels of the device.
        with cupy.cuda.using_allocator(cupy.get_default_memory_pool().malloc):
            return one.search([root])

    monkeypatch.setattr(launch.Launch, "start", noted)
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(search, one, root) for root in range(20) for one in made]
    for root in range(20):
        for graph, search in zip(graphs, found[2 * root : 2 * root + 2], strict=True):
            assert np.array_equal(search.result()[0], graph.distance([root]))
    assert all(one is other for one, other in zip(entered[::2], entered[1::2], strict=True))
    assert len(entered) == 80


def test_a_kernel_that_failed_is_an_error_and_not_waited_for(cupy, monkeypatch):
    class Fault(RuntimeError): ...

    class Failed:
        ptr = 1

        def synchronize(self):
            raise Fault

    made, answers = ranked(cupy, GRAPHS["undirected"], 2), iter([700] * 100)
    monkeypatch.setattr(cupy.cuda.runtime, "streamQuery", lambda ptr: next(answers, 0))
    monkeypatch.setattr(made.group.ranks[0], "stream", Failed())
    with pytest.raises(Fault):
        made.group.ranks[0].wait()


def test_memory_is_freed_when_no_search_runs(cupy):
    """A graph that goes while another one is searched keeps what CUDA would wait to free."""
    from rapids_trav.engines.multigpu.one_launch import peers

    made = [ranked(cupy, GRAPHS["grid"], 2) for _ in range(2)]
    addresses = [{rank.shared.data.mem.ptr for rank in one.group.ranks} for one in made]
    unfreed = peers._turns_of(0).unfreed
    gc.collect()
    assert not unfreed
    with peers.turn([0]):
        del made[0]
        gc.collect()
        assert {memory.ptr for memory in unfreed} == addresses[0]
    assert not unfreed
    with peers.turn([cupy.cuda.runtime.getDeviceCount()]):  # of another device
        made.clear()
        gc.collect()
        assert not unfreed


def test_blocks_are_large_where_a_level_has_much_work(cupy):
    from rapids_trav.engines.cuda.bfs import fused
    from rapids_trav.engines.multigpu.one_launch.launch import LARGE_BLOCK, WIDE_BLOCK, Common, block_size

    def size(edges, vertices, n_ranks, edge=np.uint32):
        common = Common(np.dtype(edge), edges, vertices, 1.0, 1.0, 0)
        return block_size(common, vertices, n_ranks)

    assert size(1 << 29, 1 << 24, 2) == LARGE_BLOCK
    assert size(1 << 26, 1 << 21, 2) == fused.SMALL_BLOCK  # few edges for each rank
    assert size(1 << 30, 1 << 28, 2) == fused.SMALL_BLOCK  # as a grid's
    assert size(1 << 33, 1 << 27, 2, np.int64) == WIDE_BLOCK
