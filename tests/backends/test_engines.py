"""The engine of functions that search from many nodes is chosen by the work and by the GPU that is there."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from rapids_trav.backends import engines
from rapids_trav.backends.graphs import structure_of
from rapids_trav.errors import TravError


@pytest.fixture
def structure():
    graph = nx.gnp_random_graph(50, 0.1, seed=1, directed=True)
    return structure_of(converted(graph))


def converted(graph):
    return nx.utils.backends.backends["trav"].load().convert_from_nx(graph)


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Take a GPU for small graphs too."""
    monkeypatch.setattr(engines, "LEAST_ENTRIES", 0)


@pytest.fixture
def asked(monkeypatch):
    """Count how often a GPU is looked for; there is none."""
    calls = []
    monkeypatch.setattr(engines, "gpu_is_there", lambda: bool(calls.append(1)))
    return calls


def test_little_work_asks_for_no_gpu(structure, asked):
    assert engines.RowsView.of(structure, structure.n).engine.name == "cpu"
    assert not asked


def test_many_searches_of_a_small_graph_ask_for_no_gpu(structure, asked, monkeypatch):
    monkeypatch.setattr(engines, "LEAST_ENTRIES", len(structure.rows.columns) + 1)
    assert engines.RowsView.of(structure, engines.WORTHWHILE).engine.name == "cpu"
    assert not asked


def test_without_a_gpu_large_work_is_done_on_the_cpu(structure, asked):
    n_searches = engines.WORTHWHILE // len(structure.rows.columns) + 1
    assert engines.RowsView.of(structure, n_searches).engine.name == "cpu"
    assert len(asked) == 1


def test_a_gpu_that_does_not_work_is_not_used(structure, monkeypatch):
    def broken():
        raise TravError("The driver does not start.")

    monkeypatch.setattr(engines, "gpu_is_there", broken)
    assert engines.RowsView.of(structure, engines.WORTHWHILE).engine.name == "cpu"


def test_a_view_backwards_has_the_rows_of_incoming_edges(structure):
    along = engines.RowsView.of(structure, 1)
    against = engines.RowsView.of(structure, 1, backwards=True)
    assert along.out is along.stored
    for one, other in ((along.out, against.into), (along.into, against.out)):
        np.testing.assert_array_equal(one.row_offsets, other.row_offsets)
        np.testing.assert_array_equal(one.column_indices, other.column_indices)
    assert along.out.row_offsets.dtype == np.int32
    assert along.coo.src.tolist() == np.repeat(np.arange(50), np.diff(along.out.row_offsets)).tolist()


def test_sums_and_shares_of_a_path_of_three():
    view = engines.RowsView.of(structure_of(converted(nx.path_graph(3))), 3)
    sums = view.distance_sums(np.arange(3), "vertices")
    assert (sums.total.tolist(), sums.largest.tolist()) == ([3, 2, 3], [2, 1, 2])
    assert view.path_shares(np.arange(3)).vertices.tolist() == [0, 2, 0]
