"""Vertices without edges cost a search only their rows in the answer (SYSTEMS V5), as a counter shows."""

import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions

EDGES = generators.rmat(11, 8, seed=6) * 3  # gaps between the ids, which isolated vertices fill
N = int(EDGES.to_numpy().max()) + 1
WHERE = {"behind": np.arange(N, 5 * N), "between": np.arange(5 * N), "before": np.arange(-2 * N, 0)}


@pytest.fixture(scope="module")
def bare():
    return EDGES.trav.graph()


@pytest.fixture(scope="module", params=WHERE)
def padded(request):
    return EDGES.trav.graph(vertices=WHERE[request.param])


def traced(graph, root, variant):
    source = graph.ids.encoder()([pd.Series([root])])
    return graph.engine.search(graph.storage.view(), source, BfsOptions(variant, trace=True))


@pytest.mark.parametrize("variant", ["auto", "direction"])
def test_isolated_vertices_are_not_looked_at(padded, variant):
    """A bottom-up level looks only at unreached vertices that have an edge."""
    linked = np.diff(padded.storage.view().into.row_offsets) > 0
    assert linked.sum() < padded.n_vertices / 2
    for root in EDGES["src"].iloc[:5]:
        found = traced(padded, root, variant)
        levels = [row.level for row in found.trace if row.direction == "pull"]
        unreached = [linked & ((found.distance < 0) | (found.distance >= level)) for level in levels]
        assert found.counters["looked"] == sum(int(vertices.sum()) for vertices in unreached) > 0


@pytest.mark.parametrize("variant", ["auto", "direction"])
def test_vertices_with_self_loops_alone_are_not_looked_at(variant):
    """Neither are they if the loop is given several times; a vertex with another edge is looked at."""
    first = N * 3
    alone = np.repeat(np.arange(first, first + 3000), 2)
    mixed = EDGES["src"].unique()
    loops = pd.DataFrame({"src": np.r_[alone, mixed], "dst": np.r_[alone, mixed]})
    graph = pd.concat([EDGES, loops]).trav.graph()
    has_other = graph.degrees()["vertex"].to_numpy() < first
    assert (~has_other).sum() == 3000
    has_other = has_other if graph.ids.order is None else has_other[graph.ids.order]
    for root in EDGES["src"].iloc[:5]:
        found = traced(graph, root, variant)
        levels = [row.level for row in found.trace if row.direction == "pull"]
        unreached = [has_other & ((found.distance < 0) | (found.distance >= level)) for level in levels]
        assert found.counters["looked"] == sum(int(vertices.sum()) for vertices in unreached) > 0
    answer = graph.bfs(first, variant=variant)
    assert answer["vertex"][answer["distance"].notna()].tolist() == [first]


def test_the_plain_search_ends_at_the_last_row_with_an_edge(bare):
    padded = EDGES.trav.graph(vertices=WHERE["behind"])
    root = EDGES["src"].iloc[0]
    few, many = traced(bare, root, "pull"), traced(padded, root, "pull")
    assert many.counters == few.counters and few.counters["looked"] > 0


@pytest.mark.parametrize("variant", CpuEngine.variants)
def test_answers_have_every_vertex(bare, padded, variant):
    root = int(EDGES["dst"].iloc[0])
    answer = padded.bfs(root, variant=variant)
    assert len(answer) == padded.n_vertices > bare.n_vertices
    few = bare.bfs(root, variant=variant).set_index("vertex")
    isolated = ~answer["vertex"].isin(few.index)
    assert isolated.sum() == padded.n_vertices - bare.n_vertices
    assert answer["distance"][isolated].isna().all() and answer["predecessor"][isolated].isna().all()
    reached = answer[~isolated].set_index("vertex")["distance"]
    pd.testing.assert_series_equal(reached, few["distance"], check_index_type=False)


@pytest.mark.parametrize("mode", ["joint", "each"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_source_may_be_isolated_or_lead_out_alone(directed, mode):
    """One source is isolated. In a directed graph, a source without in-edges still leads to others."""
    star = pd.DataFrame({"src": np.full(300, 900), "dst": np.arange(300)})
    tail = pd.DataFrame({"src": np.arange(299), "dst": np.arange(1, 300)})
    graph = pd.concat([star, tail]).trav.graph(directed=directed, vertices=np.arange(1000))
    for variant in CpuEngine.variants:
        answer = graph.bfs([900, 950], mode=mode, variant=variant)
        near = answer[answer["distance"].notna()]
        expected = {900: 0, 950: 0} | dict.fromkeys(range(300), 1)
        assert dict(zip(near["vertex"], near["distance"], strict=True)) == expected, variant
        targeted = graph.bfs([900], targets=[950], variant=variant)["distance"]
        assert targeted.notna().sum() == 301


def test_which_rows_have_an_edge_to_another_vertex():
    rng = np.random.default_rng(1)
    for n in (0, 1, 63, 64, 65, 1000, 200_000):
        u = rng.integers(0, max(n, 1), n // 3)
        v = (u + 1) % max(n, 1)
        adjacency = CpuEngine().build_adjacency(lambda u=u, v=v: iter([(u, v)]), n)
        wanted = np.bincount(u, minlength=n)[:n] > 0
        bits = np.unpackbits(adjacency.linked.view(np.uint8), bitorder="little").astype(bool)
        if wanted.all():
            assert len(bits) == 0
        else:
            assert np.array_equal(bits[:n], wanted) and not bits[n:].any()
        assert adjacency.n_linked == (int(u.max()) + 1 if len(u) else 0)


def test_a_graph_outside_memory_keeps_no_marks_of_its_rows():
    """The marks belong to the memory that a search declares, and are freed with it."""
    vertices = np.arange(N)
    outside = EDGES.trav.graph(vertices=vertices, memory_limit="100kB")
    root = int(EDGES["src"].iloc[0])
    found, traced = outside.bfs(root, trace=True)
    assert "pull" in set(traced["direction"])
    held = outside.memory()
    assert set(held["place"]) == {"host", "disk"}
    assert outside.budget.used == held["bytes"][held["place"] == "host"].sum()
    inside = EDGES.trav.graph(vertices=vertices)
    pd.testing.assert_frame_equal(found[["vertex", "distance"]], inside.bfs(root)[["vertex", "distance"]])
