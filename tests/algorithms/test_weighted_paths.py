"""Weighted paths: lengths equal those of NetworkX, steps are edges, and the form is that of other paths."""

from __future__ import annotations

import itertools

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, shapes

from rapids_trav import TravError, UnknownVertexError

WEIGHTS = {
    "int64": [0, 1, 2, 7, 2**40],
    "float64": [0.0, 0.5, 1.0, 2.25, 1e9],
}


@st.composite
def weighted(draw):
    n, pairs = draw(shapes())
    dtype = draw(st.sampled_from(list(WEIGHTS)))
    weight = draw(st.lists(st.sampled_from(WEIGHTS[dtype]), min_size=len(pairs), max_size=len(pairs)))
    edges = pd.DataFrame(pairs, columns=["src", "dst"]).astype("int64")
    edges["weight"] = pd.Series(weight, dtype=dtype)
    return n, edges, draw(st.booleans())


def oracle(n, edges, directed):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    for u, v, weight in edges.itertuples(index=False):
        least = min(weight, graph.edges[u, v]["weight"]) if graph.has_edge(u, v) else weight
        graph.add_edge(u, v, weight=least)
    return graph


def check_path(rows, reference, sources, target, distance):
    """Check one path of the answer against the length in the reference."""
    if distance is None:
        assert rows["step"].isna().tolist() == [True]
        assert rows["vertex"].isna().all() and rows["distance"].isna().all()
        return
    vertices = rows["vertex"].tolist()
    assert rows["step"].tolist() == list(range(len(vertices)))
    assert vertices[0] in sources and vertices[-1] == target
    assert len(set(vertices)) == len(vertices)
    lengths = [0]
    for u, v in itertools.pairwise(vertices):
        lengths.append(lengths[-1] + reference.edges[u, v]["weight"])
    assert rows["distance"].tolist() == lengths
    assert lengths[-1] == distance


@common
@given(weighted(), st.data())
def test_agrees_with_networkx(case, data):
    n, edges, directed = case
    reference = oracle(n, edges, directed)
    graph = edges.trav.graph(directed=directed, weight="weight", vertices=list(range(n)))
    some = st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)
    sources, targets = data.draw(some), data.draw(some)
    found = graph.paths(sources, targets, weighted=True)
    assert found["target"].drop_duplicates().tolist() == targets
    lengths = nx.multi_source_dijkstra_path_length(reference, set(sources))
    for target, rows in found.groupby("target"):
        check_path(rows, reference, sources, target, lengths.get(target))
    each = graph.paths(sources, targets, weighted=True, mode="each")
    assert each["source"].drop_duplicates().tolist() == sources
    for source in sources:
        lengths = nx.single_source_dijkstra_path_length(reference, source)
        for target, rows in each[each["source"] == source].groupby("target"):
            check_path(rows, reference, [source], target, lengths.get(target))


EDGES = pd.DataFrame(
    {
        "src": ["OSL", "OSL", "BGO", "TRD"],
        "dst": ["BGO", "SVG", "SVG", "TOS"],
        "km": [100, 550, 210, 800],
        "open": [True, True, False, True],
    }
)


def rows(frame):
    return [
        tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)
    ]


def test_the_columns_and_the_special_targets():
    graph = EDGES.trav.graph(weight="km")
    found = graph.paths("OSL", ["SVG", "TOS", "OSL", "SVG"], weighted=True)
    assert list(found.columns) == ["target", "step", "vertex", "distance"]
    assert rows(found) == [
        ("SVG", 0, "OSL", 0),
        ("SVG", 1, "BGO", 100),
        ("SVG", 2, "SVG", 310),
        ("TOS", None, None, None),
        ("OSL", 0, "OSL", 0),
    ]
    by_steps = graph.paths("OSL", ["SVG", "TOS", "OSL", "SVG"])
    assert rows(by_steps)[:2] == [("SVG", 0, "OSL"), ("SVG", 1, "SVG")]
    assert dict(found.dtypes[:3]) == dict(by_steps.dtypes)


def test_filters_directions_and_limits():
    for options in ({}, {"memory_limit": "200kB"}):
        graph = EDGES.trav.graph(weight="km", directed=True, **options)
        for where in ("open", "open == true", "km != 210", EDGES["open"]):
            assert rows(graph.paths("OSL", "SVG", weighted=True, where=where))[-1] == ("SVG", 1, "SVG", 550)
        assert graph.paths("SVG", "OSL", weighted=True)["step"].isna().all()
        backwards = graph.paths("SVG", "OSL", weighted=True, direction="in")
        assert backwards["vertex"].tolist() == ["SVG", "BGO", "OSL"]
    assert EDGES.trav.paths("OSL", "SVG", weight="km", weighted=True)["distance"].max() == 310


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth_limit": 2}, "^depth_limit=2 is for paths with the fewest edges, but weighted=True asks for"),
        ({"deterministic": True}, "^deterministic=True is for paths with the fewest edges"),
        ({"variant": "push"}, "^variant='push' is for paths"),
        ({"weighted": 1}, "^weighted=1 "),
        ({"where": "shut"}, "^Column 'shut' is not in the edges"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(TravError, match=message):
        EDGES.trav.graph(weight="km").paths("OSL", "SVG", **({"weighted": True} | options))


def test_questions_that_are_refused():
    with pytest.raises(TravError, match=r"^weighted=True needs weights, and the graph has none: name their"):
        EDGES.trav.graph().paths("OSL", "SVG", weighted=True)
    graph = EDGES.assign(km=[-1, 1, 1, 1]).trav.graph(weight="km")
    with pytest.raises(TravError, match="holds -1, and shortest paths are for weights of 0 or more"):
        graph.paths("OSL", "SVG", weighted=True)
    for sources, targets in (("OSL", "XXX"), ("XXX", "SVG")):
        with pytest.raises(UnknownVertexError):
            EDGES.trav.graph(weight="km").paths(sources, targets, weighted=True)
