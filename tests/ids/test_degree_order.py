"""Answers do not depend on the internal order of the vertices."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.generators import rmat
from rapids_trav.ids.degree_order import BACK_ENDS, descending
from rapids_trav.storage.build import degrees

EDGES = {
    "integers": rmat(7, 3, seed=4),
    "sparse": rmat(6, 3, seed=5).astype("int64") * 10**9 - 7,
    "strings": rmat(6, 2, seed=6).astype(str),
}


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", EDGES)
def test_answers_do_not_depend_on_it(kind, directed, back_end):
    edges = EDGES[kind]
    plain = edges.trav.graph(directed=directed, degree_sort=False)
    ordered = edges.trav.graph(directed=directed, degree_sort=True, tuning={"sort": back_end})
    one, other = edges["src"].iloc[0], edges["dst"].iloc[-1]
    for question in [
        lambda graph: graph.bfs(one, deterministic=True),
        lambda graph: graph.bfs([one, other], mode="each", deterministic=True),
        lambda graph: graph.bfs(one, reached_only=True, deterministic=True),
        lambda graph: graph.bfs([one, other], mode="each", deterministic=True, reached_only=True),
        lambda graph: graph.paths(one, [other, one], deterministic=True),
        lambda graph: graph.khop(one, 1).vertices,
        lambda graph: graph.khop(one, 1).edges,
        lambda graph: graph.levels(other),
        lambda graph: graph.degrees(),
    ]:
        assert_frame_equal(question(plain), question(ordered))
    assert "degree sort" in ordered.build_times
    assert "degree sort" not in plain.build_times


def test_several_columns_and_isolated_vertices():
    edges = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"], "c": [1, 2, 2], "d": ["y", "x", "z"]})
    extra = pd.DataFrame({"a": [0], "b": ["w"]})
    answers = [
        edges.trav.graph(["a", "b"], ["c", "d"], vertices=extra, degree_sort=sort).bfs((1, "x"))
        for sort in (False, True)
    ]
    assert_frame_equal(*answers)


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_order_descends_and_ties_are_by_id(back_end):
    edges = rmat(8, 4, seed=2).to_numpy()
    n = edges.max() + 1
    degree = degrees([(edges[:, 0], edges[:, 1])], n, CpuEngine())
    assert degree.sum() == 2 * len(edges)
    order = descending(degree, back_end, np)
    assert sorted(order) == list(range(n))
    keys = list(zip(-degree[order], order, strict=True))
    assert keys == sorted(keys)


def test_no_vertices():
    assert len(descending(np.zeros(0, dtype=np.int64), "radix", np)) == 0
    empty = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    assert empty.trav.graph(degree_sort=True).n_vertices == 0


def test_unknown_sort():
    with pytest.raises(ValueError, match=r"^sort='quick' is not known: choose one of 'radix', 'merge'\.$"):
        EDGES["integers"].trav.graph(degree_sort=True, tuning={"sort": "quick"})
    with pytest.raises(ValueError, match=r"^degree_sort='radix' is neither True nor False"):
        EDGES["integers"].trav.graph(degree_sort="radix")


@pytest.mark.parametrize("degree_sort", [None, False])
def test_a_sort_is_for_graphs_that_are_sorted(degree_sort):
    with pytest.raises(
        ValueError, match=r"^sort='merge' applies only to the order by degree: leave it out, or give deg"
    ):
        EDGES["integers"].trav.graph(degree_sort=degree_sort, tuning={"sort": "merge"})
