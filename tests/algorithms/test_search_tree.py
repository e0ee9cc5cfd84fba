"""The tree of a search: its branches, and the part that is shown."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, datasets, generators
from rapids_trav.algorithms.search_tree import SearchTree

FACEBOOK = datasets.load("facebook").trav.graph().bfs(0)


def as_networkx(result):
    tree = nx.DiGraph()
    tree.add_nodes_from(result["vertex"])
    later = result.dropna(subset=["predecessor"])
    tree.add_edges_from(
        zip(later["predecessor"].astype(result["vertex"].dtype), later["vertex"], strict=True)
    )
    return tree


def test_branches_are_those_of_the_predecessors():
    tree, other = SearchTree(FACEBOOK), as_networkx(FACEBOOK)
    for row, vertex in enumerate(FACEBOOK["vertex"]):
        children = tree.children(row)
        assert set(tree.names(children)) == set(map(str, other.successors(vertex)))
        assert (np.diff(tree.below[children]) <= 0).all()
    for row in range(0, 4039, 97):
        assert tree.below[row] == len(nx.descendants(other, FACEBOOK["vertex"][row]))


@pytest.mark.parametrize(("n", "depth"), [(1, 8), (16, 8), (16, 1), (10_000, 3), (10_000, 100)])
def test_the_part_is_joined_and_has_the_largest_branches(n, depth):
    tree = SearchTree(FACEBOOK)
    part = tree.part(n, depth)
    rows = [shown.row for shown in part]
    assert len(set(rows)) == len(rows) == min(n, int((tree.distance <= depth).sum()))
    assert [shown.depth for shown in part] == tree.distance[rows].tolist()
    for i, row in enumerate(rows[1:], 1):  # in preorder the parent is the last one before that is higher
        above = next(other for other in reversed(part[:i]) if other.depth < part[i].depth)
        assert above.row == tree.parent[row]
    left_out = np.setdiff1d(np.flatnonzero(tree.distance <= depth), rows)
    assert tree.below[left_out].max(initial=0) <= tree.below[rows].min()


def test_layers_have_the_parents_of_all_that_they_show():
    tree = SearchTree(FACEBOOK)
    layers = tree.layers(5, 6)
    assert [len(layer) for layer in layers] == [1, 5, 5, 5, 5, 5]
    for above, layer in pairwise(layers):
        places = [above.tolist().index(parent) for parent in tree.parent[layer].tolist()]
        assert places == sorted(places)
    deepest = tree.layers(1, 100)
    assert len(deepest) == 7  # one vertex of each layer: a path to the last
    assert [tree.parent[layer[0]] for layer in deepest[1:]] == [layer[0] for layer in deepest[:-1]]


def test_several_sources_and_unreached_vertices():
    edges = pd.DataFrame({"src": ["a", "b", "x", "s"], "dst": ["b", "c", "y", "t"]})
    tree = SearchTree(edges.trav.bfs(["x", "a"]))
    assert tree.names(tree.sources) == ["a", "x"] and not tree.is_first
    assert [(shown.depth, shown.children, shown.below) for shown in tree.part(9, 9)] == [
        (0, 1, 2), (1, 1, 1), (2, 0, 0), (0, 1, 1), (1, 0, 0)
    ]  # fmt: skip


@pytest.mark.parametrize("sources", [["x", "a"], ["x", "a", "x"]])
@pytest.mark.parametrize("reached_only", [False, True])
def test_of_several_searches_it_is_the_first(sources, reached_only):
    edges = pd.DataFrame({"src": ["a", "b", "x"], "dst": ["b", "c", "y"]})
    found = edges.trav.bfs(sources, mode="each", reached_only=reached_only)
    tree = SearchTree(found)
    assert tree.names(range(len(tree.parent))) == ["x", "y"] and tree.is_first


def test_ids_of_several_columns_and_other_libraries():
    edges = pd.DataFrame({"u": ["p", "p"], "x": [1, 1], "v": ["q", "r"], "y": [2, 3]})
    tree = SearchTree(edges.trav.graph(["u", "x"], ["v", "y"]).bfs(("p", 1)))
    assert tree.names([shown.row for shown in tree.part(9, 9)]) == ["p,1", "q,2", "r,3"]
    polars = pytest.importorskip("polars")
    found = Graph.from_edges(polars.from_pandas(generators.star(5))).bfs(0)
    assert SearchTree(found).part(1, 9)[0].below == 4


def test_an_empty_result():
    found = generators.path(3).trav.bfs(0)
    tree = SearchTree(found[:0])
    assert tree.part(9, 9) == [] and tree.layers(9, 9) == [] and tree.names([]) == []
