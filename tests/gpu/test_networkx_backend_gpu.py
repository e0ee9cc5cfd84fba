"""NetworkX's functions that search from many nodes run on the GPU where that pays, with the CPU's answers."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.jit.launches import count_launches

nx = pytest.importorskip("networkx")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        "trav" not in nx.utils.backends.backends, reason="the package is not installed, so NetworkX lacks it"
    ),
]

GRAPHS = {
    "undirected": lambda: nx.gnp_random_graph(120, 0.04, seed=3),
    "connected": lambda: nx.connected_watts_strogatz_graph(150, 4, 0.3, seed=1),
    "directed": lambda: nx.gnp_random_graph(90, 0.05, seed=2, directed=True),
    "names": lambda: nx.relabel_nodes(nx.karate_club_graph(), str),
    "loops": lambda: nx.Graph([(0, 0), (0, 1), (1, 2), (3, 3), (4, 5)]),
}
FUNCTIONS = {
    "closeness_centrality": {},
    "harmonic_centrality": {},
    "betweenness_centrality": {},
    "eccentricity": {},
    "diameter": {},
    "average_shortest_path_length": {},
}
KERNELS = {"settle_vertices", "gather_shares"}


@pytest.fixture(autouse=True)
def always_on_gpu(cupy, monkeypatch):
    """Use the GPU for small graphs too."""
    from rapids_trav.backends import engines

    monkeypatch.setattr(engines, "gpu_is_there", lambda: True)
    monkeypatch.setattr(engines, "WORTHWHILE", 1)
    monkeypatch.setattr(engines, "LEAST_ENTRIES", 1)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", GRAPHS)
def test_answers_are_those_of_networkx(kind, function):
    graph, options = GRAPHS[kind](), FUNCTIONS[function]
    call = getattr(nx, function)
    try:
        wanted = call(graph, **options, backend="networkx")
    except nx.NetworkXError as error:
        with pytest.raises(type(error), match=str(error)):
            call(graph, **options, backend="trav")
        return
    with count_launches() as counts:
        found = call(graph, **options, backend="trav")
    assert KERNELS & set(counts)
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        found, wanted = list(found.values()), list(wanted.values())
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def test_closeness_of_one_node_of_a_directed_graph():
    graph = GRAPHS["directed"]()
    with count_launches() as counts:
        found = nx.closeness_centrality(graph, 5, backend="trav")
    assert counts["settle_sources"]
    assert found == pytest.approx(nx.closeness_centrality(graph, 5, backend="networkx"))


def test_little_work_stays_on_the_cpu(monkeypatch):
    from rapids_trav.backends import engines

    monkeypatch.setattr(engines, "WORTHWHILE", 1 << 32)
    with count_launches() as counts:
        nx.closeness_centrality(GRAPHS["undirected"](), backend="trav")
    assert not KERNELS & set(counts)


def test_a_graph_that_does_not_fit_stays_on_the_cpu(monkeypatch):
    from rapids_trav.engines.cuda import CudaEngine

    monkeypatch.setattr(CudaEngine, "free_bytes", lambda self: 10_000)
    with count_launches() as counts:
        nx.closeness_centrality(GRAPHS["undirected"](), backend="trav")
    assert not KERNELS & set(counts)
