"""`Graph.path_layout`: path layouts as users request them."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError, TravMemoryError
from rapids_trav.distributed.questions import DistributedQuestions
from rapids_trav.generators import grid, rmat
from rapids_trav.published.largegraph.path_layout import path_layout
from rapids_trav.storage.paged import Paged


@pytest.mark.parametrize("order", ["ids", "degree", "locality"])
@pytest.mark.parametrize("relaxed", [0, 4])
@pytest.mark.parametrize("directed", [False, True])
def test_its_edges_are_those_of_the_graph(directed, relaxed, order):
    edges = rmat(6, 3, seed=2).astype(str)
    edges["w"] = np.arange(len(edges)) % 5 + 0.5
    graph = edges.trav.graph(directed=directed, weight="w", order=order)
    layout = graph.path_layout(relaxed)
    (names,) = graph.ids.decode(layout.vertices)
    names = np.asarray(names)
    found = Counter()
    for p, (begin, end) in enumerate(zip(layout.starts[:-1], layout.starts[1:], strict=True)):
        found.update((names[i], names[i + 1], layout.weights[i - p]) for i in range(begin, end - 1))
    both = edges if directed else pd.concat(
        [edges, edges[edges["src"] != edges["dst"]].rename(columns={"src": "dst", "dst": "src"})]
    )  # fmt: skip
    assert found == Counter(both[["src", "dst", "w"]].itertuples(index=False, name=None))


def test_strict_is_the_default():
    graph = grid(30, 30).trav.graph()
    assert graph.path_layout().relaxed == 0
    assert graph.path_layout().n_paths == graph.path_layout(0).n_paths == 2 * graph.n_edges
    assert graph.path_layout(8).n_paths < graph.n_edges
    assert graph.path_layout().weights is None


@pytest.mark.parametrize("relaxed", [-1, 1.5, True, "many", None])
def test_what_is_no_number_of_edges_is_refused(relaxed):
    with pytest.raises(
        TravError, match=r"^relaxed=.* is not a number of edges: give an integer of 0 or more\.$"
    ):
        grid(3, 3).trav.graph().path_layout(relaxed)


def test_edges_in_files_are_cut_within_the_limit(tmp_path):
    edges = grid(60, 60)
    with edges.trav.graph(memory_limit="150kB") as graph:
        assert isinstance(graph.storage, Paged)
        with pytest.raises(
            TravMemoryError, match=r"^\S+ kB are needed for the paths of the edges, and memory_"
        ):
            graph.path_layout()
    with edges.trav.graph(memory_limit="280kB") as graph:
        assert isinstance(graph.storage, Paged)
        assert graph.path_layout().n_paths == edges.trav.graph().path_layout().n_paths
        assert graph.budget.peak <= graph.budget.limit
    edges.trav.graph().save(tmp_path / "graph")
    assert Graph.open(tmp_path / "graph").path_layout(8).n_edges == 2 * len(edges)


def test_it_is_refused_once_the_graph_is_closed():
    graph = grid(3, 3).trav.graph()
    graph.close()
    with pytest.raises(TravError, match=r"^The graph is closed: "):
        graph.path_layout()


def test_workers_do_not_answer_it():
    questions = DistributedQuestions.__new__(DistributedQuestions)
    with pytest.raises(TravError, match=r"^path_layout is not answered by a graph on the workers"):
        questions.ask(path_layout, 0)
