"""Placement of vertices and edges in a grid of ranks, and local ids (K1 to K3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rapids_trav.engines.multigpu.grid import Grid, choose_grid
from rapids_trav.errors import TravError

SHAPES = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (5, 3), (16, 25)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 31, 1000, 12_807])
def test_every_vertex_has_one_owner(shape, n):
    grid = Grid(*shape, n)
    n_rows = shape[0]
    assert grid.block % 32 == 0
    assert grid.size * grid.block >= n > grid.size * (grid.block - 32)
    vertices = np.arange(n)
    rows, columns = grid.place(grid.owner(vertices))
    b = vertices // grid.block  # the formula of K1
    assert np.array_equal(rows, b % n_rows)
    assert np.array_equal(columns, b // n_rows)
    assert np.array_equal(grid.rank(rows, columns), grid.owner(vertices))
    assert [v for rank in range(grid.size) for v in grid.owned(rank)] == vertices.tolist()


def test_the_block_of_the_paper():
    """1,200 vertices on 16 x 25 ranks are blocks of 3; here a word of 32 vertices stands for each."""
    assert Grid(16, 25, 1200 * 32).block == 3 * 32


@pytest.mark.parametrize("shape", SHAPES)
def test_sources_share_columns_and_destinations_rows(shape):
    grid = Grid(*shape, 5000)
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, 5000, (2, 20_000))
    ranks = grid.edge_rank(u, v)
    rows, columns = grid.place(ranks)
    assert np.array_equal(rows, grid.place(grid.owner(v))[0])
    assert np.array_equal(columns, grid.place(grid.owner(u))[1])
    for rank in range(grid.size):
        row, column = grid.place(rank)
        here = ranks == rank
        assert set(grid.owner(u[here])) <= set(grid.ranks_of_column(column))
        assert set(grid.owner(v[here])) <= set(grid.ranks_of_row(row))


@pytest.mark.parametrize("shape", SHAPES)
def test_local_ids_are_a_bijection(shape):
    """On each rank, columns are 0 to N/C - 1 and rows 0 to N/R - 1, ordered by the blocks of the ranks."""
    n_rows, n_columns = shape
    grid = Grid(*shape, 3000)
    padded = grid.block * grid.size
    assert (grid.local_rows * n_rows, grid.local_columns * n_columns) == (padded, padded)
    for row in range(n_rows):
        local = np.arange(grid.local_rows, dtype=np.int32)
        vertices = grid.destination(row, local)
        assert np.array_equal(grid.row_id(vertices), local)
        assert np.array_equal(grid.owner(vertices), np.repeat(grid.ranks_of_row(row), grid.block))
        m, offset = local // grid.block, local % grid.block
        assert np.array_equal(vertices, (m * n_rows + row) * grid.block + offset)  # the inverse in K3
    for column in range(n_columns):
        local = np.arange(grid.local_columns, dtype=np.int32)
        vertices = grid.source(column, local)
        assert np.array_equal(grid.column_id(vertices), local)
        assert np.array_equal(grid.owner(vertices), np.repeat(grid.ranks_of_column(column), grid.block))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10**12), st.data())
def test_integers_and_arrays_agree(n_rows, n_columns, n, data):
    try:
        grid = Grid(n_rows, n_columns, n)
    except TravError:
        assert max(n_rows, n_columns) * -(-n // (n_rows * n_columns)) + 31 * 9 >= 2**31 - 1
        return
    if n == 0:
        return
    u, v = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    one = np.array([u], grid.vertex_dtype), np.array([v], grid.vertex_dtype)
    assert grid.edge_rank(*one) == [grid.edge_rank(u, v)]
    row, column = grid.place(grid.edge_rank(u, v))
    column_id, row_id = grid.column_id(u), grid.row_id(v)
    assert 0 <= column_id < 2**31
    assert 0 <= row_id < 2**31
    assert (grid.source(column, column_id), grid.destination(row, row_id)) == (u, v)
    assert grid.source(column, np.array([column_id], np.int32)) == [u]
    assert grid.destination(row, np.array([row_id], np.int32)) == [v]


@pytest.mark.parametrize(
    ("n_ranks", "shape"), [(1, (1, 1)), (2, (2, 1)), (6, (3, 2)), (7, (7, 1)), (400, (20, 20)), (8, (4, 2))]
)
def test_the_squarest_grid(n_ranks, shape):
    assert choose_grid(n_ranks) == shape


def test_wrong_grids_are_refused():
    for grid, message in [
        ((0, 2, 5), "has no ranks"),
        ((2, 2, -1), "negative"),
        ((1, 4, 2**33), "larger or squarer"),
    ]:
        with pytest.raises(TravError, match=message):
            Grid(*grid)
    with pytest.raises(TravError, match="n_ranks=0"):
        choose_grid(0)
