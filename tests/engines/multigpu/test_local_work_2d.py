"""A rank's own steps: both engines against the plain NumPy version (K5 to K7, K10)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_work import NumpyWork
from pairs import pairs

from rapids_trav.engines.multigpu.follow import expand_sorted
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.local_work import Owned, Reach

N_FROM, BLOCK, N_BLOCKS = 96, 64, 3
N_TO = BLOCK * N_BLOCKS
PLAIN = NumpyWork()


def cuda_work():
    pytest.importorskip("cupy")
    from rapids_trav.engines.multigpu.local_cuda import CudaWork

    return CudaWork()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def work(request):
    return CpuWork() if request.param == "cpu" else cuda_work()


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def sorted_lists(found):
    return [sorted(on_host(offsets).tolist()) for offsets in found]


def keys_of(case: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    n_edges = {"none": 0, "one": 1, "few": 60, "many": 4000, "hub": 3000}[case]
    u, v = rng.integers(0, N_FROM, n_edges), rng.integers(0, N_TO, n_edges)
    if case == "hub":
        u[::2] = 40
        v[1::2] = 100
    return u << 32 | v


CASES = ("none", "one", "few", "many", "hub")


def same_edges(one, other):
    assert np.array_equal(on_host(one.offsets), other.offsets)
    assert on_host(one.offsets).dtype == other.offsets.dtype
    assert on_host(one.targets).dtype == np.int32
    for u in range(len(other.offsets) - 1):
        row = slice(int(other.offsets[u]), int(other.offsets[u + 1]))
        assert sorted(on_host(one.targets)[row].tolist()) == sorted(other.targets[row].tolist())


@pytest.mark.parametrize("case", CASES)
def test_compressing_and_transposing(work, case):
    keys = keys_of(case)
    pieces = [work.xp.asarray(piece) for piece in np.array_split(keys, 3)]
    edges = work.compress(pieces, N_FROM)
    assert pieces == []
    plain = PLAIN.compress([keys], N_FROM)
    same_edges(edges, plain)
    same_edges(work.transpose(edges, N_TO), PLAIN.transpose(plain, N_TO))


def reach(xp, keep):
    return Reach(
        xp.zeros(N_TO // 32, np.uint32),
        xp.full(N_TO, -1, np.int32) if keep else None,
        xp.full(N_TO, -7, np.int32),
    )


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("claim", ["atomics", "sort"])
@pytest.mark.parametrize("case", CASES)
def test_expanding_level_after_level(work, case, claim, wide, keep):
    """Frontiers hold vertices without edges, no vertex, or all vertices; claims persist over the levels."""
    keys = keys_of(case)
    plain, plain_reach = PLAIN.compress([keys], N_FROM), reach(np, keep)
    edges, own_reach = work.compress([work.xp.asarray(keys)], N_FROM), reach(work.xp, keep)
    if wide:
        edges = type(edges)(edges.offsets.astype(np.int64), edges.targets)
    rng = np.random.default_rng(1)
    frontiers = [rng.choice(N_FROM, k, replace=False).astype(np.int32) for k in (1, 0, 5, 30, N_FROM)]
    for frontier in frontiers:
        given, plain_given = work.frontier(edges, work.xp.asarray(frontier)), PLAIN.frontier(plain, frontier)
        assert given.n_edges == plain_given.n_edges == len(PLAIN.followed(plain, frontier)[0])
        if claim == "sort":
            found = expand_sorted(work, edges, given, own_reach, BLOCK, N_BLOCKS)
        else:
            found = work.expand(edges, given, own_reach, BLOCK, N_BLOCKS)
        wanted = PLAIN.expand(plain, plain_given, plain_reach, BLOCK, N_BLOCKS)
        assert sorted_lists(found) == sorted_lists(wanted)
        assert np.array_equal(on_host(own_reach.claimed), plain_reach.claimed)
        if keep:  # any vertex of the frontier with an edge to it will do
            before = on_host(own_reach.predecessor)
            assert np.array_equal(before >= 0, plain_reach.predecessor >= 0)
            new = np.concatenate([on_host(x) + m * BLOCK for m, x in enumerate(found)]).astype(np.int64)
            pairs = set(keys.tolist())
            assert all(int(before[v]) << 32 | int(v) in pairs and before[v] in frontier for v in new)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_pulling_claims_what_expanding_does(work, case, wide, keep):
    keys = keys_of(case)
    plain, plain_reach = PLAIN.compress([keys], N_FROM), reach(np, keep)
    reverse, own_reach = work.compress([work.xp.asarray(keys)], N_FROM), reach(work.xp, keep)
    reverse = work.transpose(reverse, N_TO)
    if wide:
        reverse = type(reverse)(reverse.offsets.astype(np.int64), reverse.targets)
    pulling, host_reach = PLAIN.transpose(plain, N_TO), reach(np, keep)
    rng = np.random.default_rng(2)
    left = np.arange(N_FROM)
    for k in (1, 0, 20, 40):  # each vertex is in one frontier, as in a search
        frontier, left = np.split(rng.permutation(left).astype(np.int32), [k])
        words = work.to_words(work.xp.asarray(frontier), N_FROM // 32)
        found, looked_at = work.pull(reverse, words, own_reach, BLOCK, N_BLOCKS)
        wanted = PLAIN.expand(plain, PLAIN.frontier(plain, frontier), plain_reach, BLOCK, N_BLOCKS)
        assert sorted_lists(found) == sorted_lists(wanted)
        assert np.array_equal(on_host(own_reach.claimed), plain_reach.claimed)
        _, wanted_looks = PLAIN.pull(pulling, on_host(words), host_reach, BLOCK, N_BLOCKS)
        if not hasattr(reverse.targets, "get"):  # GPU rows have another order, so the first hit differs
            assert looked_at <= len(keys)
        assert (looked_at == 0) == (wanted_looks == 0)
        if keep:
            before = on_host(own_reach.predecessor)
            pairs = set(keys.tolist())
            new = np.concatenate([on_host(x) + m * BLOCK for m, x in enumerate(found)]).astype(np.int64)
            assert all(int(before[v]) << 32 | int(v) in pairs and before[v] in frontier for v in new)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_smallest_vertex_one_level_nearer(work, case, wide):
    """Unreached vertices have level -1, one below level 0, and lead nowhere."""
    rng = np.random.default_rng(9)
    from_level = rng.integers(-1, 4, N_FROM, dtype=np.int32)
    to_level = rng.integers(-1, 5, N_TO, dtype=np.int32)
    edges = work.compress([work.xp.asarray(keys_of(case))], N_FROM)
    if wide:
        edges = type(edges)(edges.offsets.astype(np.int64), edges.targets)
    found = work.smallest_before(edges, work.xp.asarray(from_level), work.xp.asarray(to_level))
    plain = PLAIN.smallest_before(PLAIN.compress([keys_of(case)], N_FROM), from_level, to_level)
    assert on_host(found).dtype == np.int32
    assert np.array_equal(on_host(found), plain)
    assert (plain >= 0).any() == (case not in ("none", "one"))


@pytest.mark.parametrize("case", CASES)
def test_the_first_vertex_one_level_nearer_in_another_order(work, case):
    rng = np.random.default_rng(9)
    from_level = rng.integers(-1, 4, N_FROM, dtype=np.int32)
    to_level = rng.integers(-1, 5, N_TO, dtype=np.int32)
    order = rng.permutation(N_FROM).astype(np.int32)
    edges = work.compress([work.xp.asarray(keys_of(case))], N_FROM)
    found = work.smallest_before(edges, *map(work.xp.asarray, (from_level, to_level, order)))
    plain = PLAIN.smallest_before(PLAIN.compress([keys_of(case)], N_FROM), from_level, to_level, order)
    assert on_host(found).dtype == np.int32
    assert np.array_equal(on_host(found), plain)


@pytest.mark.parametrize("case", CASES)
def test_candidates_are_all_edges_of_the_frontier(work, case):
    keys = keys_of(case)
    frontier = np.array([40, 3, 95, 0], np.int32)
    edges = work.compress([work.xp.asarray(keys)], N_FROM)
    found = on_host(work.candidates(edges, work.frontier(edges, work.xp.asarray(frontier))))
    plain = PLAIN.compress([keys], N_FROM)
    wanted = PLAIN.candidates(plain, PLAIN.frontier(plain, frontier))
    assert found.dtype == np.int64
    assert sorted(found.tolist()) == sorted(wanted.tolist())


@pytest.mark.parametrize("keep", [True, False])
def test_settling(work, keep):
    """The first message that holds a vertex visits it, once; messages may overlap and be empty."""
    rng = np.random.default_rng(5)
    messages = [(rng.choice(BLOCK, k, replace=False).astype(np.int32), 10 + k) for k in (0, 9, 20, 64, 3)]

    def owned(xp):
        finder = xp.full(BLOCK, -1, np.int32) if keep else None
        return Owned(xp.zeros(BLOCK // 32, np.uint32), xp.full(BLOCK, -1, np.int32), finder)

    mine, plain = owned(work.xp), owned(np)
    for level, some in [(0, messages[:2]), (1, messages[1:3]), (2, []), (3, messages)]:
        given = [(work.xp.asarray(offsets), finder) for offsets, finder in some]
        frontier = work.settle(mine, given, level)
        wanted = PLAIN.settle(plain, some, level)
        assert sorted(on_host(frontier).tolist()) == sorted(wanted.tolist())
        assert on_host(frontier).dtype == np.int32
        for name in ("visited", "distance", "finder"):
            assert np.array_equal(on_host(getattr(mine, name)), getattr(plain, name)), name


@pytest.mark.parametrize("k", [0, 1, 17, BLOCK])
def test_bitmaps_and_lists(work, k):
    offsets = np.random.default_rng(k).choice(BLOCK, k, replace=False).astype(np.int32)
    words = work.to_words(work.xp.asarray(offsets), BLOCK // 32)
    assert np.array_equal(on_host(words), PLAIN.to_words(offsets, BLOCK // 32))
    for known in (None, k):
        back = on_host(work.to_offsets(words, known))
        assert back.dtype == np.int32
        wanted = PLAIN.to_offsets(on_host(words))
        assert sorted(back.tolist()) == sorted(wanted.tolist()) == sorted(offsets.tolist())


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (1, 4)])
def test_a_whole_search_by_the_plain_steps(shape):
    import grid_graphs as graphs

    graph = graphs.rmat(7, directed=True)
    source = int(graph.src[0])
    for direction in ("out", "in", "both"):
        answer = graphs.searched(graph, shape, [source], work=NumpyWork, direction=direction)
        assert np.array_equal(answer.distance, graph.distance([source], direction))


@pytest.mark.gpu
@pairs(
    shape=[(1, 1), (2, 2), (3, 2), (1, 4), (4, 1)],
    direction=["out", "in", "both"],
    options=[
        {},
        {"claim": "sort"},
        {"exchange": "bitmap"},
        {"exchange": "list"},
        {"bottom_up": True},
        {"deterministic": True},
    ],
)
def test_ranks_that_share_one_gpu(shape, direction, options):
    """Loopback ranks run in threads and share this device."""
    cupy = pytest.importorskip("cupy")
    import grid_graphs as graphs

    graph = graphs.rmat(11, directed=True)
    on_device = graphs.Graph(graph.n, cupy.asarray(graph.src), cupy.asarray(graph.dst), directed=True)
    sources = [int(graph.src[0]), int(graph.dst[1])]
    cuda_work()
    from rapids_trav.engines.multigpu.local_cuda import CudaWork

    answer = graphs.searched(on_device, shape, sources, work=CudaWork, direction=direction, **options)
    distance = np.concatenate([rank.distance.get() for rank in answer.ranks])
    predecessor = np.concatenate([rank.predecessor.get() for rank in answer.ranks])
    assert np.array_equal(distance, graph.distance(sources, direction))
    graph.check_tree(sources, distance, predecessor, direction)
