"""Bottom-up steps stop at the first neighbour in the frontier (SYSTEMS P2, V4), as their edge counts show."""

import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import generators
from rapids_trav.engines.interface import BfsOptions

SCALE = 12


@pytest.fixture(scope="module")
def graphs():
    edges = generators.rmat(SCALE, 16, seed=4)
    return {sort: edges.trav.graph(degree_sort=sort == "radix") for sort in ("none", "radix")}


def searched(graph, root, variant):
    source = graph.ids.encoder()([pd.Series([root])])
    view = graph.storage.view()
    return view, graph.engine.search(view, source, BfsOptions(variant, trace=True))


def serial_checks(view, distance, level):
    """Count the edges of unreached vertices: up to the first one from the level before, and all."""
    offsets, columns = view.into.row_offsets, view.into.column_indices
    checks = degrees = 0
    for v in np.flatnonzero((distance < 0) | (distance >= level)):
        row = distance[columns[offsets[v] : offsets[v + 1]]]
        hits = np.flatnonzero(row == level - 1)
        checks += hits[0] + 1 if len(hits) else len(row)
        degrees += len(row)
    return checks, degrees


def some_roots(graph, n=6):
    found = graph.degrees()
    return found["vertex"][found["degree"] > 0].sample(n, random_state=2).tolist()


@pytest.mark.parametrize("sort", ["none", "radix"])
@pytest.mark.parametrize("variant", ["pull", "auto"])
def test_edges_are_those_up_to_the_first_parent(graphs, variant, sort):
    graph = graphs[sort]
    stopped_early = 0
    for root in some_roots(graph, 3):
        view, found = searched(graph, root, variant)
        pulled = [row for row in found.trace if row.direction == "pull"]
        assert pulled
        for row in pulled:
            checks, degrees = serial_checks(view, found.distance, row.level)
            assert row.edges == checks
            stopped_early += checks < degrees
    assert stopped_early


@pytest.mark.parametrize("variant", ["pull", "auto"])
def test_rows_in_order_of_degree_are_left_sooner(graphs, variant):
    """Rows in order of degree shorten the bottom-up levels of several searches together on a Kronecker graph.

    From a root of few edges, the first such level reads further into the rows, because the root stands late
    in them. The search that chooses its direction itself has no bottom-up level so early.
    """
    edges = {}
    for sort, graph in graphs.items():
        edges[sort] = [
            sum(row.edges for row in searched(graph, root, variant)[1].trace if row.direction == "pull")
            for root in some_roots(graphs["none"])
        ]
    assert sum(edges["radix"]) < sum(edges["none"])
    if variant == "auto":
        assert all(few <= many for few, many in zip(edges["radix"], edges["none"], strict=True))
