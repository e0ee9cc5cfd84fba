"""Edges from a function, which is called each time they are read."""

from __future__ import annotations

import functools
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, generators
from rapids_trav.errors import TravError, UnknownColumnError

EDGES = generators.rmat(7, 8).assign(open=lambda edges: (edges["src"] + edges["dst"]) % 3 > 0)
PARTS = [EDGES[:300], EDGES[300:310], EDGES[310:]]


def three_frames():
    yield from PARTS


@pytest.mark.parametrize("make", [three_frames, lambda: PARTS, lambda: map(pd.DataFrame.copy, PARTS)])
@pytest.mark.parametrize("limit", [None, "16kB"])
def test_a_function_is_as_its_frames(make, limit):
    graph, whole = Graph.from_edges(make, memory_limit=limit), Graph.from_edges(EDGES)
    assert (graph.budget is None) == (limit is None)
    root = int(EDGES["src"][0])
    for how in ({}, {"where": "open"}):
        found, wanted = (
            other.bfs(root, deterministic=True, predecessors=True, **how) for other in (graph, whole)
        )
        pd.testing.assert_frame_equal(found, wanted)
    pd.testing.assert_frame_equal(graph.khop(root, 1).edges, whole.khop(root, 1).edges)


def test_generated_edges_are_made_block_by_block():
    make = functools.partial(generators.rmat_frames, 7, 8, rows=100)
    assert [len(frame) for frame in make()] == [100] * 10 + [24]
    assert pd.concat(make(), ignore_index=True).equals(EDGES[["src", "dst"]])
    graph = Graph.from_edges(make, memory_limit="16kB")
    assert graph.components().equals(EDGES.trav.graph().components())
    assert pickle.loads(pickle.dumps(Graph.from_edges(make))).n_edges == len(EDGES)


def test_few_frames_are_in_memory():
    alive, most = [], []

    def make():
        for part in np.array_split(np.arange(len(EDGES)), 20):
            frame = EDGES.iloc[part].copy()
            alive.append(weakref.ref(frame))
            most.append(sum(other() is not None for other in alive))
            yield frame
            del frame

    Graph.from_edges(make, memory_limit="16kB")
    assert len(most) > 40 and max(most) <= 3


def empty():
    yield EDGES[:0]


def test_no_rows():
    assert Graph.from_edges(empty, vertices=[3]).bfs(3)["vertex"].tolist() == [3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EDGES, "returned an object of type pandas.*DataFrame: return an iterable of frames"),
        (lambda: 7, "returned an object of type int: return an iterable"),
        (lambda: iter(()), "yields no frames: yield at least one"),
        (
            lambda: ["edges.parquet"],
            "yielded an object of type str: yield frames of pandas, polars",
        ),
        (lambda: [EDGES, None], "yielded an object of type NoneType"),
        (
            functools.partial(lambda frames: frames, iter(PARTS)),
            "returned the same iterator twice: return a new one",
        ),
    ],
)
def test_what_is_no_function_of_frames(make, message):
    with pytest.raises(TravError, match=message):
        Graph.from_edges(make)


def test_columns_of_later_frames():
    with pytest.raises(UnknownColumnError, match="Column 'open' is in the first edge frame but not"):
        Graph.from_edges(lambda: [EDGES, EDGES[["src", "dst"]]])


@pytest.mark.parametrize(
    ("limit", "change"),
    [(limit, change) for limit in (None, "16kB") for change in ("more", "fewer", "other ids")]
    + [("16kB", "other ends")],
)
def test_edges_that_change_are_noticed(change, limit):
    """A change is found between the readings of a build, and when a filter reads the edges again."""
    readings = []

    def make():
        readings.append(1)
        if len(readings) < (4 if limit is None else 5):
            return [EDGES]
        swapped = EDGES.assign(src=EDGES["dst"].where(EDGES.index > 500, EDGES["src"][0]))
        return {
            "more": [EDGES, EDGES[:1]],
            "fewer": [EDGES[1:]],
            "other ends": [swapped],
            "other ids": [EDGES.assign(dst=EDGES["dst"] + 1000)],
        }[change]

    with pytest.raises(TravError, match="The edges changed since the graph was built"):
        Graph.from_edges(make, memory_limit=limit).bfs(int(EDGES["src"][0]), where="open")


CHANGED = EDGES.index[EDGES["open"]][300]  # a row that the filter keeps, since its ids are looked up
OTHERS = {
    "strings": lambda edges: edges.assign(src=edges["src"].astype(str)),
    "nulls": lambda edges: edges.assign(dst=edges["dst"].astype("Int64").mask(edges.index == CHANGED)),
    "NaN": lambda edges: edges.assign(dst=edges["dst"].astype("float64").mask(edges.index == CHANGED)),
    "fractions": lambda edges: edges.assign(src=edges["src"] + 0.5),
    "dates": lambda edges: edges.assign(src=pd.to_datetime(edges["src"], unit="D")),
    "weights without a value": lambda edges: edges.assign(cost=edges["cost"].mask(edges.index == CHANGED)),
    "weights as text": lambda edges: edges.assign(cost="1"),
}


@pytest.mark.parametrize("change", OTHERS)
@pytest.mark.parametrize("limit", [None, "30kB"])
@pytest.mark.parametrize("ends", [{}, {"src": ["src", "of"], "dst": ["dst", "of"]}], ids=["one", "two"])
def test_columns_of_another_kind_are_noticed(change, limit, ends):
    """A change is found at whichever reading of a build or a filter it begins, from the fourth on."""
    edges = EDGES.assign(cost=1.5, of=EDGES["src"] % 2)
    root = int(EDGES["src"][0]) if not ends else tuple(edges[["src", "of"]].iloc[0].tolist())

    def ask(first):
        readings = iter(range(100))
        make = lambda: [OTHERS[change](edges) if next(readings) >= first else edges]  # noqa: E731
        graph = Graph.from_edges(make, weight="cost", memory_limit=limit, **ends)
        graph.sssp(root)
        graph.sssp(root, where="open")
        return next(readings)

    usual = ask(100)
    for first in range(3, usual):
        with pytest.raises(TravError, match=r"The edges changed since the graph was built|weight=.cost. "):
            ask(first)
