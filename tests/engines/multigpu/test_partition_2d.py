"""Distribution of edges to their ranks, and compression there (K2, K4)."""

from __future__ import annotations

from collections import Counter

import grid_graphs as graphs
import numpy as np
import pytest
from grid_graphs import GRIDS, Graph
from loopback import run_ranks

from rapids_trav.csr.adjacency import offset_dtype
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build


def built(graph: Graph, shape, chunks_of, **options):
    grid = Grid(*shape, graph.n)

    def rank(communicator):
        chunks = chunks_of(communicator.rank, communicator.size)
        return build(communicator, grid, chunks, CpuWork(), directed=graph.directed, **options)

    return grid, run_ranks(grid.size, rank, deadline=30)


def edges_of(part, compressed) -> tuple[np.ndarray, np.ndarray]:
    degrees = np.diff(compressed.offsets)
    return np.repeat(np.arange(len(degrees), dtype=np.int32), degrees), compressed.targets


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", [*GRIDS, (1, 1), (5, 3)])
def test_each_edge_is_on_its_rank_once(shape, directed):
    """The start of an edge does not matter; repeated edges are all kept, and self-loops are stored once."""
    graph = graphs.random_graph(5, 700, 2000, directed)
    rng = np.random.default_rng(0)
    starts_at = rng.integers(0, shape[0] * shape[1], len(graph.src))

    def chunks_of(rank, size):
        mine = np.flatnonzero(starts_at == rank)
        for some in np.array_split(mine, 3):
            yield graph.src[some], graph.dst[some].astype(np.int32)  # any integer dtype is allowed

    grid, parts = built(graph, shape, chunks_of)
    found: Counter = Counter()
    for rank, part in enumerate(parts):
        row, column = grid.place(rank)
        local_u, local_v = edges_of(part, part.by_source)
        assert len(part.by_source.offsets) == grid.local_columns + 1
        assert part.by_source.targets.dtype == part.by_source.offsets.dtype == np.int32
        u, v = grid.source(column, local_u), grid.destination(row, local_v)
        assert (grid.edge_rank(u, v) == rank).all()
        found.update(zip(u.tolist(), v.tolist(), strict=True))
        back_v, back_u = edges_of(part, part.by_destination)
        assert len(part.by_destination.offsets) == grid.local_rows + 1
        assert Counter(zip(back_u.tolist(), back_v.tolist(), strict=True)) == Counter(
            zip(local_u.tolist(), local_v.tolist(), strict=True)
        )
    u, v = graph.followed()
    assert found == Counter(zip(u.tolist(), v.tolist(), strict=True))


@pytest.mark.parametrize("who", ["all of them on rank 0", "all of them for one rank", "spread"])
def test_rounds_bound_what_is_under_way(who):
    """However uneven the edges are, no rank has more than twice the edges of a round in transit."""
    n, m, bound = 640, 5000, 240
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 32 if who == "all of them for one rank" else n, (2, m))
    graph = Graph(n, src, dst, directed=True)

    def chunks_of(rank, size):
        mine = slice(rank, None, size) if who == "spread" else slice(0, m if rank == 0 else 0)
        yield src[mine], dst[mine]  # one chunk, larger than a round

    grid, parts = built(graph, (2, 3), chunks_of, round_edges=bound)
    assert sum(part.n_edges for part in parts) == m
    assert max(part.most_waiting for part in parts) <= 2 * bound
    assert len({part.rounds for part in parts}) == 1
    assert parts[0].rounds >= m // (bound * grid.size)


def test_undirected_edges_are_bounded_too():
    graph = graphs.star(640, 3)
    _, parts = built(
        graph, (2, 2), lambda rank, size: [(graph.src[rank::size], graph.dst[rank::size])], round_edges=64
    )
    assert sum(part.n_edges for part in parts) == 2 * len(graph.src)
    assert max(part.most_waiting for part in parts) <= 2 * 64


def test_no_rank_has_edges():
    _, parts = built(graphs.path(1), (2, 2), lambda rank, size: [])
    assert [part.n_edges for part in parts] == [0] * 4
    assert parts[0].nbytes == parts[0].by_source.offsets.nbytes


@pytest.mark.parametrize(("end", "at"), [(-1, "src"), (50, "dst")])
def test_an_end_that_is_not_a_vertex_is_named(end, at):
    src, dst = np.array([0, 1, 2]), np.array([3, 4, 5])
    (src if at == "src" else dst)[1] = end
    graph = Graph(50, src, dst)
    with pytest.raises(RankError, match=f"An edge has the end {end}, but the vertices are 0 to 49"):
        built(graph, (2, 2), lambda rank, size: [(src, dst)] if rank == 2 else [])


def test_chunks_of_unequal_ends_are_refused():
    with pytest.raises(RankError, match="2 sources and 3 destinations"):
        built(graphs.path(9), (2, 1), lambda rank, size: [(np.arange(2), np.arange(3))])


def test_a_grid_of_another_size_is_refused():
    with pytest.raises(RankError, match="A grid of 2 x 2 needs 4 ranks, but the communicator has 3"):
        run_ranks(3, lambda communicator: build(communicator, Grid(2, 2, 9), [], CpuWork()))


def test_chunks_that_fail_on_one_rank_end_all():
    def chunks_of(rank, size):
        yield np.arange(3), np.arange(3)
        if rank == 1:
            raise OSError("the file cannot be read")

    with pytest.raises(RankError, match="Rank 1 failed while distributing edges: the file cannot be read"):
        built(graphs.path(99), (2, 2), chunks_of)


def test_offsets_are_as_wide_as_the_edges_need():
    assert offset_dtype(2**31 - 1) == np.int32
    assert offset_dtype(2**31) == np.int64
