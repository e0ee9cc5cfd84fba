"""The search on a grid of ranks against SciPy, on random and named graphs (K5 to K9, K12, K13)."""

from __future__ import annotations

import threading
import time
from collections import Counter

import grid_graphs as graphs
import numpy as np
import pytest
from grid_graphs import GRIDS, Graph, searched
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import run_ranks

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.multigpu.communicator import NO_NOTE, RankError
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.records import INLINE
from rapids_trav.engines.multigpu.search2d import search

common = settings(max_examples=40)


def shape_edges(kind: str, n: int) -> list[tuple[int, int]]:
    return {
        "none": [],
        "star": [(0, leaf) for leaf in range(1, n)],
        "line": [(i, i + 1) for i in range(n - 1)],
        "two components": [(i, (i + 2) % n) for i in range(n - n % 2)],
        "loops": [(i, i) for i in range(n)],
    }[kind]


@st.composite
def small_graphs(draw) -> Graph:
    """Draw a few vertices with edges of some shape and random ones, with ids spread over up to six ranks."""
    n = draw(st.integers(1, 30))
    ends = st.integers(0, n - 1)
    kind = draw(st.sampled_from(["none", "star", "line", "two components", "loops"]))
    edges = shape_edges(kind, n) + draw(st.lists(st.tuples(ends, ends), max_size=2 * n))
    n_vertices = draw(st.integers(n, 400))  # the other vertices are isolated
    ids = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).choice(n_vertices, n, replace=False)
    src, dst = ids[np.array(edges, np.int64).reshape(-1, 2)].T
    return Graph(n_vertices, src, dst, draw(st.booleans()))


@common
@given(small_graphs(), st.data())
def test_random_graphs(graph, data):
    ends = np.unique(np.append(graph.src, graph.dst)).tolist()
    vertices = st.one_of(st.integers(0, graph.n - 1), st.sampled_from(ends) if ends else st.nothing())
    sources = data.draw(st.lists(vertices, min_size=1, max_size=4))
    direction = data.draw(st.sampled_from(["out", "in", "both"]))
    limit = data.draw(st.sampled_from([None, 0, 1, 3]))
    options = {
        "direction": direction,
        "depth_limit": limit,
        "exchange": data.draw(st.sampled_from(["auto", "list", "bitmap"])),
        "inline": data.draw(st.sampled_from([0, 2, INLINE])),
        **data.draw(st.sampled_from([{}, {"claim": "sort"}, {"bottom_up": True}, {"deterministic": True}])),
    }
    wanted = graph.distance(sources, direction, limit)
    for shape in GRIDS:
        answer = searched(graph, shape, sources, **options)
        assert answer.distance.dtype == np.int32
        assert np.array_equal(answer.distance, wanted), shape
        graph.check_tree(sources, answer.distance, answer.predecessor, direction)
        if "deterministic" in options:
            assert np.array_equal(answer.predecessor, graph.smallest_predecessor(wanted, direction))


@common
@given(small_graphs(), st.data())
def test_targets_end_a_search_early(graph, data):
    vertex = st.integers(0, graph.n - 1)
    source = data.draw(vertex)
    targets = data.draw(st.lists(vertex, min_size=1, max_size=3))
    full = graph.distance([source])
    wanted = full.copy()
    if (full[targets] >= 0).all():
        wanted[wanted > full[targets].max()] = -1
    for shape in GRIDS:
        answer = searched(graph, shape, [source], targets=np.array(targets))
        assert np.array_equal(answer.distance, wanted), shape


NAMED = {
    "path": graphs.path(300),
    "star from a leaf's side": graphs.star(333, 250),
    "sparse, disconnected": graphs.random_graph(1, 777, 500),
    "dense": graphs.random_graph(2, 200, 9000),
    "directed": graphs.random_graph(3, 500, 1500, directed=True),
    "rmat": graphs.rmat(9),
    "directed rmat": graphs.rmat(9, directed=True),
    "no edges": Graph(100, np.array([], np.int64), np.array([], np.int64)),
    "one vertex": Graph(1, np.array([0]), np.array([0])),
}


@pytest.mark.parametrize("shape", GRIDS)
@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name, shape):
    """Sources are the first vertex, the last one, which is on the last rank that has any, or several."""
    graph = NAMED[name]
    for sources in ([0], [graph.n - 1], list(range(0, graph.n, 1 + graph.n // 5))):
        answer = searched(graph, shape, sources)
        assert np.array_equal(answer.distance, graph.distance(sources))
        graph.check_tree(sources, answer.distance, answer.predecessor, "out")


@pytest.mark.parametrize(
    "direction",
    [
        pytest.param("both", marks=pytest.mark.slow),
        pytest.param("out", marks=pytest.mark.release),
        pytest.param("in", marks=pytest.mark.release),
    ],
)
def test_the_grid_of_the_paper(direction):
    """The grid is 16 x 25, on a graph of few levels."""
    graph = graphs.random_graph(4, 400 * 32 - 5, 60_000, directed=True)
    answer = searched(graph, (16, 25), [graph.n - 1, 7], direction=direction)
    assert np.array_equal(answer.distance, graph.distance([graph.n - 1, 7], direction))
    assert sum(part.n_edges for part in answer.parts) == len(graph.src)
    rng = np.random.default_rng(0)
    few = rng.choice(graph.n, 500, replace=False)
    src, dst = graph.followed(direction)
    edges = set(zip(src.tolist(), dst.tolist(), strict=True))
    for v in few[answer.distance[few] > 0]:
        before = answer.predecessor[v]
        assert answer.distance[before] == answer.distance[v] - 1
        assert (before, v) in edges


def test_the_engine_of_one_machine_agrees():
    graph = graphs.rmat(10)
    engine = CpuEngine()
    adjacency = engine.build_adjacency(lambda: iter([(graph.src, graph.dst)]), graph.n, symmetric=True)

    class View:
        n_vertices, out, into = graph.n, adjacency, adjacency

    for root in (int(graph.src[0]), int(graph.dst[7])):
        alone = engine.search(View(), np.array([root]), BfsOptions())
        assert np.array_equal(searched(graph, (3, 2), [root]).distance, alone.distance)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_sorting_finds_what_atomics_find(direction):
    """K7 finds the frontiers and candidates of K6 on every rank and level, by its own steps."""
    graph = graphs.rmat(9, directed=True)
    source, by, steps = int(graph.src[3]), {}, []

    class Noting(CpuWork):
        def expand(self, *arguments):
            steps.append("atomics")
            return super().expand(*arguments)

        def candidates(self, *arguments):
            steps.append("sort")
            return super().candidates(*arguments)

    for claim in ("atomics", "sort"):
        how = {"claim": claim, "bottom_up": False, "direction": direction, "trace": True}
        by[claim] = searched(graph, (3, 2), [source], work=Noting, **how)
        assert set(steps) == {claim}
        steps.clear()
    assert np.array_equal(by["sort"].distance, by["atomics"].distance)
    graph.check_tree([source], by["sort"].distance, by["sort"].predecessor, direction)
    counted = [
        [(row.level, row.frontier, row.edges, row.candidates) for rank in answer.ranks for row in rank.trace]
        for answer in by.values()
    ]
    assert counted[0] == counted[1]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_bottom_up_saves_edges_and_changes_nothing_else(direction):
    """Each rank claims as many vertices at each level, but looks at fewer edges."""
    graph = graphs.rmat(10, 16, directed=True)
    source = int(graph.src[3])
    down, up = (
        searched(graph, (3, 2), [source], bottom_up=bottom_up, direction=direction, trace=True)
        for bottom_up in (False, True)
    )
    assert np.array_equal(up.distance, graph.distance([source], direction))
    graph.check_tree([source], up.distance, up.predecessor, direction)
    rows = [[row for rank in answer.ranks for row in rank.trace] for answer in (down, up)]
    sent = [
        [(row.level, row.frontier, row.candidates, row.expand_bytes, row.fold_bytes) for row in of]
        for of in rows
    ]
    assert sent[0] == sent[1]
    assert {row.direction for row in rows[0]} == {"push"}
    assert {"push", "pull"} <= {row.direction for row in rows[1]}
    edges = [sum(row.edges for row in of) for of in rows]
    assert edges[1] < edges[0] / 2


@pytest.mark.parametrize("shape", GRIDS)
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_the_smallest_predecessor(direction, shape):
    """The predecessor is the same on every grid, with the traffic that the documentation states."""
    graph = graphs.rmat(9, directed=True)
    sources = [int(graph.src[3]), int(graph.dst[4])]
    answer = searched(graph, shape, sources, direction=direction, deterministic=True)
    wanted = graph.distance(sources, direction)
    assert np.array_equal(answer.distance, wanted)
    assert np.array_equal(answer.predecessor, graph.smallest_predecessor(wanted, direction))
    down, along = shape[0] - 1, shape[1] - 1
    messages = {"out": down + 2 * along, "in": along + 2 * down, "both": 3 * (down + along)}[direction]
    for rank in answer.ranks:
        assert (rank.resolution.messages, rank.resolution.bytes) == (
            messages,
            messages * 4 * answer.grid.block,
        )


def test_without_predecessors_nothing_is_asked():
    graph = graphs.rmat(8)
    answer = searched(graph, (2, 2), [int(graph.src[0])], predecessors=False)
    assert np.array_equal(answer.distance, graph.distance([int(graph.src[0])]))
    assert all(rank.predecessor is None and rank.resolution.messages == 0 for rank in answer.ranks)


def test_edges_followed_are_those_of_the_frontier():
    """Each level follows the edges of its frontier and of no other vertex."""
    graph = graphs.rmat(9)
    root = int(graph.src[0])
    distance = graph.distance([root])
    src, _ = graph.followed()
    answer = searched(graph, (3, 2), [root], trace=True)
    levels = max(row.level for row in answer.ranks[0].trace)
    assert levels == distance.max() + 1
    for level in range(1, levels + 1):
        rows = [rank.trace[level - 1] for rank in answer.ranks]
        assert [row.rank for row in rows] == list(range(6))
        assert {row.level for row in rows} == {level}
        assert sum(row.edges for row in rows) == np.count_nonzero(distance[src] == level - 1)
        assert sum(row.frontier for row in rows) == np.count_nonzero(distance == level - 1)


def test_a_wrong_source_is_named_on_every_rank():
    with pytest.raises(RankError, match="source 99 is not a vertex: give ids from 0 to 98"):
        searched(graphs.path(99), (2, 2), [3, 99])


def test_wrong_options_are_refused():
    for option, message in [
        ({"exchange": "zip"}, "exchange='zip'"),
        ({"claim": "luck"}, "claim='luck'"),
        ({"bottom_up": True, "claim": "sort"}, "choose one of them"),
    ]:
        with pytest.raises(RankError, match=message):
            searched(graphs.path(9), (1, 1), [0], **option)


# ---- a rank that fails or hangs in the middle of a search causes an error that names it, and no hang


CHAIN = graphs.path(400)


class Failing(CpuWork):
    """Work that calls `instead` first at the third level."""

    def __init__(self, instead) -> None:
        self._levels = 0
        self._instead = instead

    def expand(self, *arguments):
        self._levels += 1
        if self._levels == 3:
            self._instead()
        return super().expand(*arguments)


def run(instead, deadline, victim=4):
    def rank(communicator):
        work = Failing(instead) if communicator.rank == victim else CpuWork()
        mine = slice(communicator.rank, None, communicator.size)
        part = build(communicator, Grid(3, 2, CHAIN.n), [(CHAIN.src[mine], CHAIN.dst[mine])], work)
        return search(communicator, part, np.array([0])).distance

    return run_ranks(6, rank, deadline=deadline)


def test_a_rank_that_raises():
    def instead():
        raise MemoryError("out of memory allocating 8,589,934,592 bytes")

    start = time.monotonic()
    with pytest.raises(RankError, match="Rank 4 failed while searching: out of memory allocating") as caught:
        run(instead, deadline=60)
    assert time.monotonic() - start < 30
    assert caught.value.rank == 4
    assert isinstance(caught.value.__cause__, MemoryError)


def test_a_rank_that_goes_silent():
    run(lambda: None, deadline=60)  # compiles first: the deadline leaves no time for that
    stuck = threading.Event()
    with pytest.raises(RankError, match=r"Rank 4 did not answer rank \d within 1 s") as caught:
        run(stuck.wait, deadline=1)
    stuck.set()
    assert caught.value.rank == 4


def test_the_next_search_is_not_harmed():
    with pytest.raises(RankError):
        run(lambda: 1 / 0, deadline=60)
    distance = np.concatenate(run(lambda: None, deadline=60))
    assert np.array_equal(distance, np.arange(400))


# ---- errors in a published sketch of this search, each of which would go unnoticed on one rank


GRAPH = graphs.random_graph(6, 900, 3000, directed=True)
SOURCE = int(GRAPH.src[0])


class Recorder:
    """Communicator that records what a search gathers at each level and exchanges, not the build."""

    def __init__(self, communicator):
        self._inner = communicator
        self.level = -1
        self.gathered: dict = {}
        self.exchanged: list = []

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def meet(self, values, note=NO_NOTE):
        self.level += len(note.partners) > 0
        return self._inner.meet(values, note)

    def all_gather(self, group, array, known=None):
        received = self._inner.all_gather(group, array, known)
        self.gathered[self.level] = (group, array.copy(), received)
        return received

    def exchange(self, group, arrays, known=None):
        received = self._inner.exchange(group, arrays, known)
        if len(group) < self.size:
            self.exchanged.append((group, [array.copy() for array in received]))
        return received


def recorded(shape, direction):
    recorders = {}

    def on_rank(communicator):
        return recorders.setdefault(communicator.rank, Recorder(communicator))

    answer = searched(
        GRAPH,
        shape,
        [SOURCE],
        on_rank=on_rank,
        direction=direction,
        exchange="list",
        predecessors=False,
        inline=0,
    )
    return answer, recorders


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("direction", ["out", "in"])
def test_axes_buffers_and_receipts(shape, direction):
    answer, recorders = recorded(shape, direction)
    grid = answer.grid
    wanted = GRAPH.distance([SOURCE], direction)
    assert np.array_equal(answer.distance, wanted)
    for rank, recorder in recorders.items():
        row, column = grid.place(rank)
        axes = [grid.ranks_of_column(column), grid.ranks_of_row(row)]
        expand, fold = axes if direction == "out" else axes[::-1]
        assert len(recorder.exchanged) == wanted.max() + 1

        members = np.concatenate([grid.owned(owner) for owner in expand])
        assert sorted(recorder.gathered) == np.unique(wanted[members][wanted[members] >= 0]).tolist()
        for level, (group, own, received) in recorder.gathered.items():
            assert group == expand  # all of the column, including this rank
            for owner, offsets in zip(group, received, strict=True):
                members = np.array(grid.owned(owner))
                assert sorted(members[offsets]) == members[wanted[members] == level].tolist()
            mine = received[group.index(rank)]
            assert np.array_equal(own, mine)  # the sent array is unchanged

        told: Counter = Counter()
        for group, received in recorder.exchanged:
            assert group == fold
            for finder, offsets in zip(group, received, strict=True):
                told.update((finder, offset) for offset in offsets.tolist())
        assert max(told.values(), default=1) == 1  # a finder reports a vertex once, in one level


def test_a_transposed_exchange_is_seen(monkeypatch):
    """With expand along the rows and fold along the columns, as in the sketch, vertices are lost."""

    class Transposed(Grid):
        """Square grid whose ranks use the wrong axis."""

        def ranks_of_column(self, column):
            return super().ranks_of_row(column)

        def ranks_of_row(self, row):
            return super().ranks_of_column(row)

        def place(self, rank):
            return super().place(rank)[::-1] if isinstance(rank, int) else super().place(rank)

    monkeypatch.setattr(graphs, "Grid", Transposed)
    answer = searched(GRAPH, (2, 2), [SOURCE], predecessors=False)
    assert np.count_nonzero(answer.distance >= 0) < np.count_nonzero(GRAPH.distance([SOURCE]) >= 0)
