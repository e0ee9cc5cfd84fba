"""What a question about a graph of string ids asks of cuDF, as a stand-in for it counts."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import kernel_references as reference
import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph
from rapids_trav.errors import UnknownVertexError
from rapids_trav.jit.launches import count_launches

pytestmark = pytest.mark.gpu

N = 120
NAMES = np.array([f"user{i * 7919 % 1000:03}" for i in range(N)], dtype=object)


def edges():
    """Return the columns of the edges: a tree, which has one answer, and a part that it does not reach."""
    child = np.arange(1, N - 2)
    src, dst = np.append(child // 3, N - 2), np.append(child, N - 1)
    return {"src": NAMES[src], "dst": NAMES[dst]}


@pytest.fixture
def device(cupy, monkeypatch):
    """Return a function that builds a graph of the stand-in's frame, and its lists of sizes."""
    pytest.importorskip("cupy._counting", reason="counts requests of the emulated CuPy")
    from . import strings_on_device

    modules, gathers, hashed = strings_on_device.modules()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)

    def build(**how):
        columns = {name: strings_on_device.Series(column) for name, column in edges().items()}
        graph = Graph.from_edges(strings_on_device.DataFrame(columns), engine="cuda", **how)
        gathers.clear()
        hashed.clear()
        return graph

    return SimpleNamespace(build=build, gathers=gathers, hashed=hashed)


QUESTIONS = {  # with the sizes of the columns of strings that each may gather
    "bfs": (lambda graph: graph.bfs(NAMES[0]), [N]),
    "distances": (lambda graph: graph.bfs(NAMES[0], predecessors=False), []),
    "reached": (lambda graph: graph.bfs(NAMES[0], reached_only=True), [N - 2, N - 2]),
    "joint": (lambda graph: graph.bfs([NAMES[0], NAMES[N - 1]]), [N]),
    "each": (lambda graph: graph.bfs(list(NAMES[:2]), mode="each"), [2, 2 * N, 2 * N, 2 * N]),
    "levels": (lambda graph: graph.levels(NAMES[0]), []),
    "paths": (lambda graph: graph.paths(NAMES[0], [NAMES[1]]), [2, 2]),
    "components": (lambda graph: graph.components(), [N]),
}


@pytest.mark.parametrize("degree_sort", [False, True])
@pytest.mark.parametrize("name", QUESTIONS)
def test_strings_are_gathered_once_and_only_where_asked(device, name, degree_sort):
    graph = device.build(degree_sort=degree_sort)
    ask, most = QUESTIONS[name]
    found = ask(graph)
    expected = ask(Graph.from_edges(pd.DataFrame(edges()), engine="cpu"))
    assert list(found.columns) == list(expected.columns)
    plain = expected.astype(object).where(expected.notna(), None)
    assert found.to_host() == {column: plain[column].tolist() for column in plain.columns}
    assert sorted(device.gathers) == sorted(most)
    assert device.hashed == []


@pytest.mark.parametrize("given", ["nobody", "zzz", ["user000", ""]])
def test_a_few_strings_are_looked_up_without_hashing_all(device, given):
    graph = device.build()
    with pytest.raises(UnknownVertexError, match=r"^sources contains 1 unknown vertex"):
        graph.bfs(given)
    assert device.hashed == []
    assert max(device.gathers) <= 2


def test_many_strings_are_hashed(device):
    graph = device.build()
    many = pd.Series([NAMES[i] for i in range(100)])
    assert len(graph.bfs(many)) == N
    assert device.hashed == [N]


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_a_few_strings_are_looked_up_in_one_launch(device, degree_sort, offsets, monkeypatch):
    from rapids_trav.algorithms.request import vertices

    from . import strings_on_device

    monkeypatch.setattr(strings_on_device.TextColumn, "offset_type", offsets)
    graph = device.build(degree_sort=degree_sort)
    asked = [NAMES[5], NAMES[N - 1], NAMES[0], NAMES[5]]
    vertices(graph, "sources", asked)  # the addresses are kept
    with count_launches() as launches:
        found = vertices(graph, "sources", asked)
    assert dict(launches) == {"locate_texts": 1}
    assert graph.ids.decode(graph.engine.xp.asarray(found))[0].column.values.tolist() == asked


LONG = ["", "a", "a" * 70, "a" * 70 + "b", "ab", "b", "\u00e9", "\u4e2d", "\U0001f600"]


def test_strings_are_compared_by_their_bytes(cupy, engine):
    from rapids_trav.ids.maps import TextTable

    words = sorted(LONG)
    texts = [word.encode() for word in words]
    text = cupy.asarray(np.frombuffer(b"".join(texts), np.uint8))
    offsets = cupy.asarray(np.cumsum([0, *map(len, texts)]).astype(np.int32))
    table = TextTable(offsets.data.ptr, text.data.ptr, 4, (text, offsets))
    asked = [*words, "aa", "a" * 69, "c", "\u00e8", "\U0001f601"]
    found = engine.answers.locate_texts([word.encode() for word in asked], table, len(words))
    expected = reference.places_of_texts([word.encode() for word in asked], [word.encode() for word in words])
    assert found.tolist() == expected.tolist() == [*range(len(words)), -1, -1, -1, -1, -1]
