"""Questions about many distances have the same answers on a GPU as on the CPU."""

import pandas as pd
import pytest

from rapids_trav import generators

pytestmark = pytest.mark.gpu

QUESTIONS = {
    "closeness": lambda graph, some: graph.closeness(),
    "closeness of some": lambda graph, some: graph.closeness(some, direction="out", improved=False),
    "harmonic": lambda graph, some: graph.harmonic(),
    "eccentricity": lambda graph, some: graph.eccentricity(),
    "eccentricity of some": lambda graph, some: graph.eccentricity(some, direction="in"),
    "betweenness": lambda graph, some: graph.betweenness(),
    "betweenness, sampled": lambda graph, some: graph.betweenness(sources=some, endpoints=True),
    "betweenness of edges": lambda graph, some: graph.betweenness(of="edges", normalized=False),
    "distances": lambda graph, some: graph.distances((some, some[::-1])),
}


def edges_of(kind):
    if kind == "R-MAT":
        return generators.rmat(9, 4, seed=3)
    if kind == "path":
        return pd.DataFrame({"src": range(70), "dst": range(1, 71)})
    return pd.DataFrame({"src": [0, 0, 0, 5, 7, 7], "dst": [1, 1, 0, 6, 8, 9]})  # multi-edges and components


SOME = {"R-MAT": 300, "path": 20, "parts": 9}  # for R-MAT, more sources than one joint search takes


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["R-MAT", "path", "parts"])
def test_as_on_the_cpu(kind, directed, question):
    import cudf

    edges = edges_of(kind)
    some = edges["src"].drop_duplicates().head(SOME[kind]).tolist()
    wanted = QUESTIONS[question](edges.trav.graph(directed=directed), some)
    found = QUESTIONS[question](cudf.from_pandas(edges).trav.graph(directed=directed), some)
    pd.testing.assert_frame_equal(found.to_pandas(nullable=True), wanted.convert_dtypes(), check_dtype=False)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["R-MAT", "path", "parts"])
def test_the_diameter(kind, directed):
    import cudf

    edges = edges_of(kind)
    graph = cudf.from_pandas(edges).trav.graph(directed=directed)
    assert graph.diameter() == edges.trav.graph(directed=directed).diameter()
