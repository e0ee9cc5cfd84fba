"""Ordered breadth-first search: pulled levels have the same order as pushed levels."""

import networkx as nx
import numpy as np
import pytest

from rapids_trav.backends.discovery import discover
from rapids_trav.backends.graphs import from_networkx, structure_of
from rapids_trav.backends.kernels.ordered_bfs import ordered_bfs


def pushed(structure, source):
    """Return the results of a search that only pushes."""
    rows, into, n = structure.rows, structure.incoming, structure.n
    order, parent = np.empty(n, np.int32), np.empty(n, np.int32)
    ends, place = np.empty(n + 1, np.int64), np.full(n, -1, np.int32)
    found, levels, pulled = ordered_bfs(
        *rows, *into, np.array([source]), n, place, order, parent, ends, False, np.zeros(1, np.int64)
    )
    assert pulled == 0
    return order[:found], parent[:found], ends[:levels], place


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [False, True])
def test_both_ways_are_in_one_order(seed, directed):
    graph = nx.gnm_random_graph(300, 300 * (1 + seed), seed=seed, directed=directed)
    structure = structure_of(from_networkx(graph))
    assert structure.incoming is not None  # a search pulls only with rows of incoming edges
    found = discover(structure, [seed])
    for own, expected in zip(
        (found.order, found.parent, found.ends, found.place), pushed(structure, seed), strict=True
    ):
        np.testing.assert_array_equal(own, expected)


def test_wide_levels_are_pulled():
    structure = structure_of(from_networkx(nx.gnm_random_graph(300, 3000, seed=1)))
    assert discover(structure, [0]).pulled > 0
    assert discover(structure_of(from_networkx(nx.path_graph(300))), [0]).pulled == 0
