"""Predecessors of shortest paths on the GPU: the kernel, a plain kernel, the CPU engine, and whole calls."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  registers .trav
from rapids_trav import generators
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs import shipped
from rapids_trav.programs.definition import DTYPES

from .program_cases import CASES, gather_view, root, start

pytestmark = pytest.mark.gpu


def distances(cpu, host, graph):
    """Return distances from the vertex with the most out-edges, and the distance of unreached vertices."""
    program = shipped.shortest_paths("int64" if host.weights.dtype.kind == "i" else "float64")
    source = np.arange(graph.n) == root(graph)
    first = start(program, graph.n, np.where(source, 0, program.identity), source, np)
    return cpu.run(host, program, first, RunOptions(weighted=True)).values, program.identity


def plain(engine, into, weights, distance, unreached):
    predecessor = engine.xp.empty(into.n_vertices, into.column_indices.dtype)
    kernels = loader.load_for("shortest_tree.cu", into, WEIGHT=1 + DTYPES.index(weights.dtype.name))
    kernels.launch(
        "tight_predecessors_plain", into.n_vertices, into.row_offsets, into.column_indices, weights,
        into.n_vertices, distance, distance.dtype.type(unreached), predecessor,
    )  # fmt: skip
    return predecessor


def check(engine, cpu, device, host, graph):
    """Check that all three agree and that all reached vertices but the source have a predecessor."""
    distance, unreached = distances(cpu, host, graph)
    wanted = cpu.tight_predecessors(host.into, host.weights, distance, unreached)
    given = (device.weights, engine.xp.asarray(distance), unreached)
    for _ in range(3):
        np.testing.assert_array_equal(engine.tight_predecessors(device.into, *given).get(), wanted)
    np.testing.assert_array_equal(plain(engine, device.into, *given).get(), wanted)
    assert (wanted[distance == unreached] == -1).all()
    assert (wanted >= 0).sum() == (distance != unreached).sum() - 1  # no weight here is 0
    return wanted


@pytest.mark.parametrize("weight", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_cpu(engine, cpu, name, weight):
    graph = CASES[name]
    check(engine, cpu, *(gather_view(graph, each, weight) for each in (engine, cpu)), graph)


@pytest.mark.parametrize("bits", [(32, 64), (64, 64)])
@pytest.mark.parametrize("weight", ["int64", "float32"])
def test_wide_offsets_and_ids(engine, cpu, weight, bits):
    graph = CASES["directed rmat"]
    device, host = (gather_view(graph, each, weight) for each in (engine, cpu))
    into = replace(
        device.into,
        row_offsets=device.into.row_offsets.astype(f"int{bits[1]}"),
        column_indices=device.into.column_indices.astype(f"int{bits[0]}"),
    )
    check(engine, cpu, replace(device, into=into), host, graph)


@pytest.mark.parametrize("name", ["rmat", "directed rmat", "wheel", "multi", "square"])
def test_the_smallest_of_many(engine, cpu, name):
    """With weights of 1, every edge from the previous level is tight."""
    graph = CASES[name]
    views = [replace(gather_view(graph, each, "float32"), out_weights=None) for each in (engine, cpu)]
    for view in views:
        view.weights.fill(1)
    wanted = check(engine, cpu, *views, graph)
    distance, unreached = distances(cpu, views[1], graph)
    u, v = graph.edges
    tight = (distance[u] + 1 == distance[v]) & (distance[v] != unreached)
    smallest = np.full(graph.n, graph.n)
    np.minimum.at(smallest, v[tight], u[tight])
    np.testing.assert_array_equal(wanted, np.where(smallest == graph.n, -1, smallest))


def test_infinite_weights_lead_nowhere(engine, cpu):
    graph = CASES["directed rmat"]
    device, host = (replace(gather_view(graph, each, "float64"), out_weights=None) for each in (engine, cpu))
    barred = np.random.default_rng(0).random(len(host.weights)) < 0.9
    host.weights[barred] = np.inf
    device.weights[:] = engine.xp.asarray(host.weights)
    wanted = check(engine, cpu, device, host, graph)
    assert (wanted == -1).sum() > 1


def weighted(frame, least=0):
    """Return edges whose weights are multiples of 1/8, from `least`/8 on, so that every sum is exact."""
    cost = np.random.default_rng(len(frame)).integers(least, 9, len(frame)) / 8
    return frame.assign(cost=cost)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("edges", [generators.rmat(10), generators.grid(30, 40)], ids=["rmat", "grid"])
def test_whole_calls_give_trees(edges, least, directed):
    frame = weighted(edges, least)
    theirs = frame.trav.graph(directed=directed, weight="cost", engine="cpu")
    ours = frame.trav.graph(directed=directed, weight="cost", engine="cuda")
    source = int(frame["src"].iloc[0])
    wanted = theirs.sssp(source)
    least_cost = {}
    for u, v, cost in zip(frame["src"], frame["dst"], frame["cost"], strict=True):
        for pair in [(u, v)] if directed else [(u, v), (v, u)]:
            least_cost.setdefault(pair, set()).add(cost)
    for mode in ("auto", "pull"):
        found = ours.sssp(source, mode=mode)
        pd.testing.assert_frame_equal(found[["vertex", "distance"]], wanted[["vertex", "distance"]])
        table = found.set_index("vertex")
        distance = table["distance"].dropna().to_dict()
        predecessor = table["predecessor"].dropna().to_dict()
        assert set(predecessor) == set(distance) - {source}
        assert all(distance[v] - distance[u] in least_cost[u, v] for v, u in predecessor.items())
        depth = {source: 0}
        for v in predecessor:
            way = []
            while v not in depth:
                way.append(v)
                assert len(way) <= len(predecessor), "a cycle"
                v = predecessor[v]
            depth.update((w, depth[v] + i) for i, w in enumerate(reversed(way), 1))
    part = ours.sssp(source, reached_only=True)
    reached = wanted["distance"].notna()
    assert part["vertex"].tolist() == wanted["vertex"][reached].tolist()
    assert part["distance"].tolist() == wanted["distance"][reached].tolist()
