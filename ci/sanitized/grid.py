"""The search on a grid of ranks: each kernel alone, and whole searches by ranks that share the GPU."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from rapids_trav.engines.multigpu.local_cuda import CudaWork
from rapids_trav.engines.multigpu.local_work import SHIFT, Compressed, LocalWork, Owned, Reach
from tests.engines.multigpu.numpy_work import NumpyWork
from tests.support.grid_graphs import Graph, rmat, searched

N_FROM, BLOCK, N_BLOCKS = 96, 64, 3
N_TO = BLOCK * N_BLOCKS
HUB = 40  # source of half of the edges, and target of as many
DEADLINE = 600.0  # seconds; under a sanitizer the other ranks' kernels compile and run slowly
PLAIN = NumpyWork()
OPTIONS: tuple[dict[str, Any], ...] = (
    {"exchange": "list"},
    {"exchange": "bitmap", "direction": "both"},
    {"claim": "sort"},
    {"bottom_up": True},
    {"deterministic": True, "direction": "in"},
    {"predecessors": False},
)


def on_host(array: Any) -> np.ndarray:
    return array.get() if hasattr(array, "get") else array


def listed(blocks: list[Any]) -> list[list[int]]:
    """Return the contents of each block, in order."""
    return [sorted(on_host(offsets).tolist()) for offsets in blocks]


def reach_of(xp: Any, keep: bool) -> Reach:
    before = xp.full(N_TO, -1, np.int32) if keep else None
    return Reach(xp.zeros(N_TO // 32, np.uint32), before, xp.empty(N_TO, np.int32))


def check_following(work: LocalWork, edge_bits: int, keep: bool) -> None:
    """Follow the edges of successive frontiers, from both of their ends."""
    rng = np.random.default_rng(7)
    u, v = rng.integers(0, N_FROM, 4000), rng.integers(0, N_TO, 4000)
    u[::2], v[1::2] = HUB, HUB
    keys = u << SHIFT | v
    plain = PLAIN.compress([keys], N_FROM)
    narrow = work.compress([work.xp.asarray(keys)], N_FROM)
    out, into = (
        Compressed(edges.offsets.astype(f"int{edge_bits}"), edges.targets)
        for edges in (narrow, work.transpose(narrow, N_TO))
    )
    wanted_reach, pushed_reach, pulled_reach = (reach_of(xp, keep) for xp in (np, work.xp, work.xp))
    for frontier in np.split(rng.permutation(N_FROM).astype(np.int32), [1, 1, 6, 40]):
        given = work.frontier(out, work.xp.asarray(frontier))
        plainly = PLAIN.frontier(plain, frontier)
        wanted = PLAIN.expand(plain, plainly, wanted_reach, BLOCK, N_BLOCKS)
        pushed = work.expand(out, given, pushed_reach, BLOCK, N_BLOCKS)
        words = work.to_words(given.vertices, N_FROM // 32)
        pulled, _ = work.pull(into, words, pulled_reach, BLOCK, N_BLOCKS)
        assert given.n_edges == plainly.n_edges
        assert listed(pushed) == listed(pulled) == listed(wanted)
        for reach in (pushed_reach, pulled_reach):
            assert np.array_equal(on_host(reach.claimed), wanted_reach.claimed)
        candidates = on_host(work.candidates(out, given))
        assert np.array_equal(np.sort(candidates), np.sort(PLAIN.candidates(plain, plainly)))
    levels = rng.integers(-1, 4, N_FROM, dtype=np.int32), rng.integers(-1, 5, N_TO, dtype=np.int32)
    smallest = on_host(work.smallest_before(out, *map(work.xp.asarray, levels)))
    assert np.array_equal(smallest, PLAIN.smallest_before(plain, *levels))


def check_settling(work: LocalWork, keep: bool) -> None:
    """Visit the vertices of overlapping messages, and convert each message to either form."""
    rng = np.random.default_rng(5)
    told = [(rng.choice(BLOCK, k, replace=False).astype(np.int32), 10 + k) for k in (9, 0, 40, BLOCK)]

    def owned(xp: Any) -> Owned:
        finder = xp.full(BLOCK, -1, np.int32) if keep else None
        return Owned(xp.zeros(BLOCK // 32, np.uint32), xp.full(BLOCK, -1, np.int32), finder)

    mine, plain = owned(work.xp), owned(np)
    for level, messages in enumerate((told[:2], told[1:3], told[3:], told)):
        frontier = work.settle(mine, [(work.xp.asarray(some), who) for some, who in messages], level)
        assert listed([frontier]) == listed([PLAIN.settle(plain, messages, level)])
        for name in ("visited", "distance", "finder"):
            assert np.array_equal(on_host(getattr(mine, name)), getattr(plain, name)), name
    for offsets, _ in told:
        words = work.to_words(work.xp.asarray(offsets), BLOCK // 32)
        assert np.array_equal(on_host(words), PLAIN.to_words(offsets, BLOCK // 32))
        assert listed([work.to_offsets(words)]) == listed([offsets])


def check_searches(work: type[LocalWork], shape: tuple[int, int]) -> None:
    """Search by ranks in threads, one option at a time."""
    graph, xp = rmat(7, directed=True), work.xp
    given = Graph(graph.n, xp.asarray(graph.src), xp.asarray(graph.dst), directed=True)
    sources = [int(graph.src[0]), int(graph.dst[1])]
    for options in OPTIONS:
        direction = options.get("direction", "out")
        ranks = searched(given, shape, sources, work=work, deadline=DEADLINE, **options).ranks
        distance = np.concatenate([on_host(rank.distance) for rank in ranks])
        assert np.array_equal(distance, graph.distance(sources, direction)), options
        if options.get("predecessors", True):
            before = np.concatenate([on_host(rank.predecessor) for rank in ranks])
            graph.check_tree(sources, distance, before, direction)


def run() -> None:
    print("kernels of the search on a grid", flush=True)
    for keep in (True, False):
        for edge_bits in (32, 64):
            check_following(CudaWork(), edge_bits, keep)
        check_settling(CudaWork(), keep)
    cupy.cuda.runtime.deviceSynchronize()


def run_ranks() -> None:
    print("a grid of ranks", flush=True)
    for shape in ((2, 2), (1, 3)):
        check_searches(CudaWork, shape)
    cupy.cuda.runtime.deviceSynchronize()
