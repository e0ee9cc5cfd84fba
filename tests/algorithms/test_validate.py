"""Validation of search trees: the blockwise check finds what a plain check of all edges finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav import Graph, generators
from rapids_trav.algorithms import validation
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.memory.budget import Budget

ENGINE = CpuEngine()


class View:
    def __init__(self, n, src, dst, symmetric):
        self.stored = ENGINE.build_adjacency(lambda: iter([(src, dst)]), n, symmetric=symmetric)
        self.n_vertices = n


def plainly(view, sources, distance, predecessor, depth_limit):
    """Return the first vertex that breaks each rule, or the end of the first edge, from all edges at once."""
    vertex, edges = np.arange(view.n_vertices), ENGINE.expand_rows(view.stored)
    source, led = np.isin(vertex, sources), predecessor >= 0
    joined = set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    near, far = distance[edges.src], distance[edges.dst]
    searched = (near >= 0) & (near < (np.inf if depth_limit is None else depth_limit))
    unjoined = [p >= 0 and (p, v) not in joined for v, p in enumerate(predecessor.tolist())]
    wrong = {
        validation.SOURCES: vertex[source != (distance == 0)],
        validation.ROOTS: vertex[source & led],
        validation.REACHED: vertex[~source & ((distance > 0) != led)],
        validation.UP: vertex[led & (distance[np.where(led, predecessor, 0)] + 1 != distance)],
        validation.EDGE: vertex[unjoined],
        validation.LEVEL: edges.dst[searched & ((far < 0) | (far > near + 1))],
    }
    return [f"{rule} (internal vertex {found[0]})" for rule, found in wrong.items() if len(found)]


@st.composite
def trees(draw):
    """Draw a graph and the tree of a search, in which a few entries may have been changed."""
    n = draw(st.integers(1, 12))
    ends = st.lists(st.integers(0, n - 1), min_size=1, max_size=30)
    src = np.array(draw(ends), np.int32)
    dst = np.array(draw(st.lists(st.integers(0, n - 1), min_size=len(src), max_size=len(src))), np.int32)
    view = View(n, src, dst, draw(st.booleans()))
    sources = np.array(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2, unique=True)))
    depth = draw(st.sampled_from([None, 1, 2]))
    view.out = view.into = view.stored
    found = ENGINE.search(view, sources, BfsOptions(variant="push", depth_limit=depth))
    for array, top in ((found.distance, 4), (found.predecessor, n - 1)):
        for vertex in draw(st.lists(st.integers(0, n - 1), max_size=2)):
            array[vertex] = draw(st.integers(-1, top))
    return view, sources, found.distance, found.predecessor, depth


@settings(max_examples=300)
@given(trees(), st.sampled_from([1, 2, 3, 1 << 24]))
def test_blocks_find_what_a_look_at_all_finds(tree, block):
    view, sources, distance, predecessor, depth = tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "BLOCK", block)
        found = validation.broken_rules(ENGINE, view, sources, distance, predecessor, depth)
    assert found == plainly(view, sources, distance, predecessor, depth)


def test_a_budget_decides_the_block(monkeypatch):
    read = []

    def blocks(adjacency, xp, block):
        read.append(block)
        return iter(())

    monkeypatch.setattr(validation, "edge_blocks", blocks)
    rows = Adjacency(np.array([0, 1 << 20]), np.zeros(1 << 20, np.int32))
    view = type("View", (), {"n_vertices": 1, "stored": rows})
    for limit in (1 << 20, 1 << 24, 1 << 40):
        budget = Budget(limit)
        validation.broken_rules(ENGINE, view, np.zeros(1, int), np.zeros(1, np.int32), budget=budget)
        assert budget.used == 0 and 0 < budget.peak <= limit
    assert read == [(1 << 20) // 4 // 128 - 1, (1 << 24) // 4 // 128 - 1, 1 << 20]


def test_a_graph_in_files_is_checked_within_its_limit():
    edges = generators.rmat(12, 16)
    graph = Graph.from_edges(edges, memory_limit="700kB")
    assert graph.budget is not None
    root = int(edges["src"][0])
    result = graph.bfs(root)
    validation.check_tree(graph, result, root)
    deepest = result["distance"].fillna(-1).to_numpy().argmax()
    result.loc[deepest, "predecessor"] = result["vertex"][deepest]
    with pytest.raises(validation.TreeError, match="rule 3"):
        validation.check_tree(graph, result, root)
    assert graph.budget.peak <= graph.budget.limit
