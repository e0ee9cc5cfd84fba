"""Arrays of vertex values, where internal ids are in the order of the caller's ids and where they are not."""

import numpy as np
import pandas as pd
import pytest

# Vertex 9 has three edges, 4 has two and the others have one: sorted by degree, 9, 4, 2, 5, 7.
EDGES = pd.DataFrame({"src": [9, 9, 9, 4], "dst": [2, 4, 5, 7]})
IDS = [2, 4, 5, 7, 9]


@pytest.fixture(params=[False, True], ids=["ascending", "by degree"])
def graph(request):
    return EDGES.trav.graph(degree_sort=request.param)


def of_ids(graph, function):
    """Return `function` of the caller's id of each vertex, in the order of internal ids."""
    return np.array([function(int(label)) for label in graph.ids.decode()[0][internal_places(graph)]])


def internal_places(graph):
    """Return the position of each internal id in the order of the caller's ids."""
    places = np.empty(len(IDS), int)
    for place, label in enumerate(IDS):
        places[int(graph.ids.encoder()([pd.Series([label])])[0])] = place
    return places


def test_the_order_is_another_if_sorted():
    assert internal_places(EDGES.trav.graph(degree_sort=True)).tolist() == [4, 1, 0, 2, 3]


def test_values_in_the_callers_order_and_back(graph):
    internal = of_ids(graph, lambda label: label * 10)
    assert graph.values.in_order(internal).tolist() == [label * 10 for label in IDS]
    both = np.stack([internal, -internal])
    assert graph.values.in_order(both).tolist() == [[20, 40, 50, 70, 90], [-20, -40, -50, -70, -90]]
    assert graph.values.placed(np.array(IDS) * 10).tolist() == internal.tolist()


def test_places_and_the_vertices_at_them(graph):
    places = graph.values.places(np.int32)
    assert places.tolist() == internal_places(graph).tolist()
    assert places.dtype == np.int32
    assert places[graph.values.at()].tolist() == [0, 1, 2, 3, 4]
    assert graph.values.at(np.array([3, 0])).tolist() == graph.values.at()[[3, 0]].tolist()


def test_flags_and_the_chosen_in_the_callers_order(graph):
    named = graph.ids.encoder()([pd.Series([9, 4])])
    flags = graph.values.flags(named)
    assert flags.sum() == 2
    assert graph.ids.decode(graph.values.chosen(flags))[0].tolist() == [4, 9]
    assert graph.values.flags().tolist() == [True] * 5


def test_one_value_for_all(graph):
    filled = graph.values.filled(7, "float32")
    assert filled.tolist() == [7.0] * 5
    assert filled.dtype == np.float32


def test_levels_are_counted_for_each_search(graph):
    distance = np.array([[0, 1, 1, -1, -1], [2, 1, 0, 1, 1]])
    search, (level, count, total) = graph.values.count_many_levels(distance, 4)
    assert list(zip(search, level, count, total, strict=True)) == [
        (0, 0, 1, 1), (0, 1, 2, 3), (0, -1, 2, 5), (1, 0, 1, 1), (1, 1, 3, 4), (1, 2, 1, 5)
    ]  # fmt: skip
    for at_once in (1, 2, 9):
        one = graph.values.count_levels(distance[0], 3, at_once)
        assert list(zip(*one, strict=True)) == [(0, 1, 1), (1, 2, 3), (-1, 2, 5)]
        reached = graph.values.count_levels(distance[1], 4, at_once)
        assert list(zip(*reached, strict=True)) == [(0, 1, 1), (1, 3, 4), (2, 1, 5)]
