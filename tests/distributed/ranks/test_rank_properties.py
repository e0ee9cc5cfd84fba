"""Random graphs with ids of every kind, on ranks and in one process."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from pairs import FULL
from random_graphs import common, graphs
from rank_cases import joined, same, spread

from rapids_trav import generators

SHAPES = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (1, 3)]


@settings(common, max_examples=40 if FULL else 25)
@given(graphs(), st.sampled_from(SHAPES), st.data())
def test_every_question_on_any_graph(case, shape, data):
    frame, (src, dst), ids, edges, directed = case
    extra = data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if len(edges) else []
    options = {"src": src, "dst": dst, "directed": directed, "vertices": extra or None}
    graph = spread(frame, shape, data.draw(st.integers(1, 9)), **options)
    for direction in ("out", "in", "both"):
        same(graph.frame("degrees", direction), graph.local.degrees(direction))
    assert set(graph.ask("n_self_loops")) == {graph.local.n_self_loops}
    assert set(graph.ask("n_duplicate_edges")) == {graph.local.n_duplicate_edges}
    ends = [end for edge in edges for end in edge]
    if not ends:
        return
    sources = data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=3))
    targets = data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=3))
    asked = {
        "mode": data.draw(st.sampled_from(["joint", "each"])),
        "direction": data.draw(st.sampled_from(["out", "in", "both"])),
        "depth_limit": data.draw(st.sampled_from([None, 0, 1, 3])),
        "where": data.draw(st.sampled_from([None, "open"])),
    }
    same(graph.frame("levels", sources, **asked), graph.local.levels(sources, **asked))
    asked |= {"deterministic": True}
    same(graph.frame("paths", sources, targets, **asked), graph.local.paths(sources, targets, **asked))
    asked |= {"reached_only": data.draw(st.booleans())}
    asked |= {"targets": data.draw(st.sampled_from([None, targets]))}
    same(graph.frame("bfs", sources, **asked), graph.local.bfs(sources, **asked))
    near = {"direction": asked["direction"], "where": asked["where"]}
    kept = graph.ask("khop", sources, 1, **near)
    wanted = graph.local.khop(sources, 1, **near)
    same(joined([of.frames["vertices"] for of in kept]), wanted.vertices)
    parts = [part for of in kept for part in zip(of.about["partitions"], of.frames["edges"], strict=True)]
    same(pd.concat([of for _, of in sorted(parts, key=lambda part: part[0])]), wanted.edges)


@pytest.mark.parametrize("kind", ["integers", "strings", "dates", "categories"])
def test_ids_of_many_kinds(kind):
    edges = generators.rmat(7, 4)[["src", "dst"]]
    change = {
        "integers": lambda of: of.astype("int32") * 7 - 100,
        "strings": lambda of: "vertex " + of.astype(str),
        "dates": lambda of: pd.to_datetime(of, unit="D"),
        "categories": lambda of: pd.Categorical(of.astype(str), categories=sorted(map(str, range(128)))),
    }[kind]
    edges = pd.DataFrame({name: change(edges[name]) for name in edges})
    graph = spread(edges, (3, 2), directed=True)
    sources = edges["src"].iloc[:2]
    for asked in ({"deterministic": True}, {"deterministic": True, "reached_only": True, "depth_limit": 1}):
        same(graph.frame("bfs", sources, **asked), graph.local.bfs(sources, **asked))


def test_twenty_ranks():
    """`test_named_graphs` has four hundred."""
    rng = np.random.default_rng(2)
    edges = pd.DataFrame(rng.integers(0, 900, (2500, 2)), columns=["src", "dst"])
    graph = spread(edges, (4, 5))
    source = [int(edges["src"].iloc[0])]
    same(graph.frame("bfs", source, deterministic=True), graph.local.bfs(source, deterministic=True))
