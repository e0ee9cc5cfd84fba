"""Resuming with other settings: the error names what differs; harmless differences are accepted."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import TravError
from rapids_trav.programs import shipped

EDGES = pd.DataFrame({"src": range(29), "dst": range(1, 30), "w": 1.0, "open": [True] * 28 + [False]})


@pytest.fixture
def directed():
    return EDGES.trav.graph(weight="w", directed=True)


@pytest.mark.parametrize(
    ("ask", "difference"),
    [
        (lambda graph, **options: graph.pagerank(**options), "program"),
        (
            lambda graph, **options: graph.sssp(0, where="open", **options),
            "choice of where .None; this is 'open'.",
        ),
        (
            lambda graph, **options: graph.sssp(0, direction="in", **options),
            "choice of direction .'out'; this is 'in'.",
        ),
        (lambda graph, **options: graph.sssp(1, **options), "choice of initial values"),
    ],
    ids=["another question", "a filter", "a direction", "another source"],
)
def test_what_differs_is_named(directed, tmp_path, ask, difference):
    directed.sssp(0, checkpoint=tmp_path)
    with pytest.raises(TravError, match=f"is of another {difference}"):
        ask(directed, checkpoint=tmp_path, resume=True)


def test_another_graph_is_named_where_the_question_is_the_same(directed, tmp_path):
    directed.sssp(0, checkpoint=tmp_path)
    other = EDGES.assign(dst=0).trav.graph(weight="w", directed=True)
    with pytest.raises(TravError, match="is of another graph"):
        other.sssp(0, checkpoint=tmp_path, resume=True)


def test_directions_of_an_undirected_graph_are_the_same(tmp_path):
    graph = EDGES.trav.graph(weight="w")
    answer = graph.sssp(0, direction="out", checkpoint=tmp_path, predecessors=False)
    again = graph.sssp(0, direction="in", checkpoint=tmp_path, resume=True, predecessors=False)
    pd.testing.assert_frame_equal(answer, again)


def test_a_smaller_tolerance_goes_on_to_better_ranks(directed, tmp_path):
    rough = directed.pagerank(tol=0.5, checkpoint=tmp_path)["pagerank"]
    fine = directed.pagerank(tol=1e-9, checkpoint=tmp_path, resume=True)["pagerank"]
    expected = directed.pagerank(tol=1e-9)["pagerank"]
    assert np.abs(fine - expected).sum() < 1e-8 < np.abs(rough - expected).sum()


def test_another_mode_goes_on_to_the_same_distances(directed, tmp_path):
    program, start = shipped.breadth_first(), {"initial": {0: 0}, "checkpoint": tmp_path}
    directed.run(program, mode="push", max_iterations=5, **start)
    again = directed.run(program, mode="pull", resume=True, **start)
    assert again["value"].tolist() == list(range(30))
