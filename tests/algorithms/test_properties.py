"""Property tests of every CPU variant against NetworkX, on random graphs with all kinds of ids."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pandas as pd
from common import rows
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, graphs

from rapids_trav import Graph
from rapids_trav.algorithms.validation import check_tree
from rapids_trav.engines.cpu import CpuEngine

VARIANTS = CpuEngine.variants


def oracle(ids, edges, directed, keep=None):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(ids)
    graph.add_edges_from(edges if keep is None else itertools.compress(edges, keep))
    return graph


def reach(graph, sources):
    """Return the distance of each vertex from the nearest source."""
    found = {}
    for source in sources:
        for vertex, distance in nx.single_source_shortest_path_length(graph, source).items():
            found[vertex] = min(distance, found.get(vertex, distance))
    return found


def by_vertex(result, width) -> dict:
    return {(row[:width] if width > 1 else row[0]): row[width] for row in rows(result)}


@common
@given(graphs(), st.data())
def test_search(drawn, data):
    frame, ends, ids, edges, directed = drawn
    width = len(ids[0]) if isinstance(ids[0], tuple) else 1
    graph = frame.trav.graph(*ends, directed=directed, vertices=list(ids))
    sources = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4))
    direction = data.draw(st.sampled_from(["out", "in", "both"]))
    where = data.draw(st.sampled_from([None, "open"]))
    limit = data.draw(st.sampled_from([None, 0, 1, 2, 5]))

    truth = oracle(ids, edges, directed, frame["open"] if where else None)
    truth = truth.reverse() if directed and direction == "in" else truth
    truth = truth.to_undirected() if direction == "both" else truth
    wanted = {v: d for v, d in reach(truth, sources).items() if limit is None or d <= limit}

    options = {"direction": direction, "where": where, "depth_limit": limit}
    for variant in VARIANTS:
        result = graph.bfs(sources, variant=variant, **options)
        found = by_vertex(result, width)
        assert list(found) == sorted(ids), variant
        assert {v: d for v, d in found.items() if d is not None} == wanted, variant
        check_tree(graph, result, sources, **options)
    smallest = graph.bfs(sources, deterministic=True, **options)
    check_tree(graph, smallest, sources, **options)
    for row in rows(smallest):
        vertex, before = (row[:width], row[width + 1 :]) if width > 1 else (row[0], row[2])
        if row[width]:
            near = truth.predecessors(vertex) if truth.is_directed() else truth[vertex]
            assert before == min(u for u in near if wanted.get(u) == row[width] - 1)


@common
@given(graphs(), st.data())
def test_each_paths_and_levels(drawn, data):
    frame, ends, ids, edges, directed = drawn
    width = len(ids[0]) if isinstance(ids[0], tuple) else 1
    graph = frame.trav.graph(*ends, directed=directed, vertices=list(ids))
    truth = oracle(ids, edges, directed)
    sources = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=5))
    targets = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=5))
    wanted = [reach(truth, [source]) for source in sources]

    def key(part):
        return part if width > 1 else part[0]

    found = iter(rows(graph.bfs(sources, mode="each")))
    for source, distances in zip(sources, wanted, strict=True):
        for vertex in sorted(ids):
            row = next(found)
            assert key(row[:width]) == source
            assert key(row[width : 2 * width]) == vertex
            assert row[2 * width] == distances.get(vertex)
    assert next(found, None) is None

    steps = iter(rows(graph.paths(sources, targets, mode="each")))
    for source, distances in zip(sources, wanted, strict=True):
        for target in dict.fromkeys(targets):  # repeated targets count once
            path = [next(steps) for _ in range(distances.get(target, 0) + 1)]
            assert all(key(row[:width]) == source for row in path)
            assert all(key(row[width : 2 * width]) == target for row in path)
            if target not in distances:
                assert path[0][2 * width :] == (None,) * (width + 1)
                continue
            assert [row[2 * width] for row in path] == list(range(len(path)))
            vertices = [key(row[2 * width + 1 :]) for row in path]
            assert (vertices[0], vertices[-1]) == (source, target)
            assert all(truth.has_edge(u, v) for u, v in itertools.pairwise(vertices))

    counted = {row[0]: row[1] for row in rows(graph.levels(sources))}
    joint = reach(truth, sources)
    assert sum(counted.values()) == len(ids)
    assert counted.get(None, 0) == len(ids) - len(joint)
    assert all(counted[d] == list(joint.values()).count(d) for d in joint.values())


@common
@given(graphs(), st.data())
def test_neighbourhoods_and_counts(drawn, data):
    frame, ends, ids, edges, directed = drawn
    graph = frame.trav.graph(*ends, directed=directed, vertices=list(ids))
    seeds = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
    k = data.draw(st.integers(0, 3))
    hood = graph.khop(seeds, k)
    near = {v: d for v, d in reach(oracle(ids, edges, directed), seeds).items() if d <= k}
    assert by_vertex(hood.vertices, graph.ids.width) == near
    inside = [u in near and v in near for u, v in edges]
    pd.testing.assert_frame_equal(hood.edges, frame[np.array(inside, dtype=bool)])

    assert graph.n_edges == len(edges)
    assert graph.n_self_loops == sum(u == v for u, v in edges)
    distinct = set(edges) if directed else {frozenset(edge) for edge in edges}
    assert graph.n_duplicate_edges == len(edges) - len(distinct)


@common
@given(graphs(), st.integers(1, 5))
def test_chunks_make_no_difference(drawn, size):
    frame, ends, ids, _, directed = drawn
    parts = [frame.iloc[i : i + size] for i in range(0, max(len(frame), 1), size)]
    one = frame.trav.graph(*ends, directed=directed, vertices=list(ids))
    many = Graph.from_edges(iter(parts), *ends, directed=directed, vertices=list(ids))
    answers = [graph.bfs([ids[0]], deterministic=True) for graph in (one, many)]
    pd.testing.assert_frame_equal(*answers, check_dtype=len(frame) > 0)
    assert rows(one.bfs([ids[0]], where="open", predecessors=False)) == rows(
        many.bfs([ids[0]], where="open", predecessors=False)
    )
