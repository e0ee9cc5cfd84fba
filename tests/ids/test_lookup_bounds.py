"""Unknown ids close to those of a vertex, sources given twice, and filters used in turn."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import UnknownVertexError
from rapids_trav.ids.degree_order import BACK_ENDS, descending


@pytest.mark.parametrize("first", [0, 5, -3])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_ids_beside_a_range_are_unknown(first, degree_sort):
    ids = np.arange(first, first + 8)
    graph = pd.DataFrame({"src": ids[:-1], "dst": ids[1:]}).trav.graph(degree_sort=degree_sort)
    for unknown in (first - 1, first + 8):
        for question in (unknown, [unknown], [first, unknown]):
            with pytest.raises(UnknownVertexError, match=rf"1 unknown vertex: {unknown}:"):
                graph.bfs(question)
    assert graph.bfs(first + 7)["distance"].tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_half_a_pair_is_unknown():
    """The key of ("b", 3) would be one less than that of ("b", 1): that is the key of ("a", 2)."""
    edges = pd.DataFrame({"town": ["a"], "number": [2], "next": ["b"], "its": [1]})
    graph = edges.trav.graph(["town", "number"], ["next", "its"])
    for unknown in (("b", 3), ("b", 0), ("c", 1), ("a", 3)):
        with pytest.raises(UnknownVertexError):
            graph.bfs(unknown)
    assert graph.bfs(("a", 2))["distance"].tolist() == [0, 1]


def test_a_source_that_is_given_twice_is_searched_from_once():
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    graph = edges.trav.graph()
    for variant in ("auto", "frontier", "direction"):
        found = graph.bfs([3, 0, 0, 3, 3, 0], variant=variant, trace=True)
        assert found.result["distance"].tolist() == [0, 1, 1, 0]
        assert found.trace["frontier"].tolist()[0] == 2


def test_what_is_not_reached_is_null():
    edges = pd.DataFrame({"src": [0, 2], "dst": [1, 3]})
    found = edges.trav.graph().bfs(0)
    assert found["distance"].isna().tolist() == [False, False, True, True]
    assert found["predecessor"].isna().tolist() == [True, False, True, True]


def test_filters_in_turn_give_their_own_edges():
    edges = pd.DataFrame(
        {"src": [0, 1, 0], "dst": [1, 2, 2], "one": [True, True, False], "two": [False, False, True]}
    )
    graph = edges.trav.graph()
    for _ in range(2):
        assert graph.bfs(0, where="one")["distance"].tolist() == [0, 1, 2]
        assert graph.bfs(0, where="two").fillna(-1)["distance"].tolist() == [0, -1, 1]


def test_rows_of_a_neighbourhood_pass_the_filter():
    edges = pd.DataFrame({"src": [0, 1, 0, 0], "dst": [1, 2, 2, 1], "open": [True, True, False, False]})
    graph = edges.trav.graph()
    assert graph.khop(0, 2, where="open").edges.index.tolist() == [0, 1]
    assert graph.khop(0, 2).edges.index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_sort_back_end_is_the_one_that_is_named(back_end):
    class Recording:
        used = ()

        def argsort(self, key, kind):
            self.used += ("radix",)
            return np.argsort(key, kind=kind)

        def lexsort(self, keys):
            self.used += ("merge",)
            return np.lexsort(keys)

    xp = Recording()
    assert descending(np.array([1, 5, 3, 5]), back_end, xp).tolist() == [1, 3, 2, 0]
    assert xp.used == (back_end,)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("ids", [(1, 2, 3), (1, 9, 100)], ids=["range", "gaps"])
@pytest.mark.parametrize("beyond", [2**8, 2**16, 2**32, 2**63])
def test_an_id_past_the_dtype_of_the_ids_does_not_wrap(dtype, ids, beyond):
    graph = pd.DataFrame({"src": np.array(ids[:-1], dtype), "dst": np.array(ids[1:], dtype)}).trav.graph()
    unknown = ids[0] + beyond
    questions = [unknown, [unknown], pd.Series([unknown], dtype="UInt64"), np.full(100, unknown, "u8")]
    for question in questions:
        with pytest.raises(UnknownVertexError, match=f"1 unknown vertex: {unknown}:"):
            graph.bfs(question)
        with pytest.raises(UnknownVertexError):
            graph.bfs(question, mode="each")
    with pytest.raises(UnknownVertexError):
        graph.distances(([ids[0]], [unknown]))
    people = pd.DataFrame({"id": np.array([unknown, ids[0]], "u8")})
    joined = graph.annotate(people, graph.bfs(ids[0]), on="id")
    assert joined["distance"].isna().tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32"])
def test_a_part_of_an_id_past_its_dtype_does_not_wrap(dtype):
    part = np.array([1, 2], dtype)
    graph = pd.DataFrame({"a": part, "b": part, "c": part[::-1], "d": part}).trav.graph(
        ["a", "b"], ["c", "d"]
    )
    for unknown in ((2**32 + 1, 1), (1, 2**32 + 1)):
        with pytest.raises(UnknownVertexError):
            graph.bfs([unknown])
