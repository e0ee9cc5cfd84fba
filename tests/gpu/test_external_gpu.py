"""Graphs larger than the GPU: generated edges, placement, whole builds, and the validation of a tree."""

from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from rapids_trav import Graph, generators
from rapids_trav.algorithms.validation import broken_rules
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.interface import BfsOptions

from .small_graphs import GRAPHS, check_tree

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("scale", "factor", "seed"), [(1, 40, 2), (11, 5, 1), (16, 16, 3)])
def test_generated_edges_are_the_same_everywhere(cupy, scale, factor, seed):
    pytest.importorskip("cudf")
    ours = generators.rmat(scale, factor, seed=seed, library="cudf").to_pandas()
    assert ours.equals(generators.rmat(scale, factor, seed=seed))
    frames = generators.rmat_frames(scale, factor, seed=seed, library="cudf", rows=len(ours) // 3)
    begin = 0
    for frame in frames:
        assert frame.to_pandas().equals(ours[begin : begin + len(frame)].reset_index(drop=True))
        begin += len(frame)
    assert begin == len(ours)


@pytest.mark.parametrize("weight", [None, np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
@pytest.mark.parametrize("both", [False, True])
def test_places_agree_with_the_plain_ones(cupy, weight, vertex, both):
    from rapids_trav.engines.cuda.build.host_rows import place_edges
    from rapids_trav.engines.cuda.build.places import both_ways, place_plainly

    n, m, first, after = 300, 20_000, 40, 120
    rows, columns = cupy.random.default_rng(5).integers(0, n, (2, m)).astype(vertex)
    weights = None if weight is None else (columns * 1000 + rows).astype(weight)
    entries = both_ways(rows, columns, None, cupy)[0] if both else rows
    starts = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(cupy.bincount(entries, minlength=n))])
    begin, end = int(starts[first]), int(starts[after])

    def placed_by(place):
        free = starts[:-1].copy()
        placed = cupy.full(end - begin, -1, vertex)
        own = None if weight is None else cupy.full(end - begin, -1, weight)
        place(rows, columns, weights, both, first, after, begin, free, placed, own)
        row = cupy.repeat(cupy.arange(first, after), cupy.diff(starts)[first:after].tolist())
        beside = cupy.zeros(len(row), np.int64) if own is None else own.astype(np.int64)
        order = cupy.lexsort(cupy.stack([beside, placed.astype(np.int64), row]))
        return free, placed[order], beside[order]

    plain = functools.partial(place_plainly, xp=cupy)
    for one, other in zip(placed_by(place_edges), placed_by(plain), strict=True):
        assert (one == other).all()


def test_places_past_the_range_are_left_alone(cupy):
    from rapids_trav.engines.cuda.build.host_rows import place_edges

    free, memory = cupy.array([4, 6, 8]), cupy.full(9, -1, np.int32)
    rows = cupy.array([1, 1, 1, 0, 2, 1], np.int32)
    place_edges(rows, cupy.arange(6, dtype=np.int32), None, False, 1, 2, 6, free, memory[:3], None)
    assert free.tolist() == [4, 10, 8]
    assert (memory[:3] >= 0).all() and (memory[3:] == -1).all()


@pytest.fixture(params=["ranges", "at once"])
def way(request, monkeypatch):
    """Return how edges are built: in ranges that fit on the device, or written directly to the host."""
    from rapids_trav.engines.cuda.build import spilled

    if request.param == "at once":
        monkeypatch.setattr(spilled, "MOST_RANGES", 0)
    return request.param


@pytest.mark.parametrize("limit", ["12MB", "20MB"])
def test_made_edges_built_outside_are_those_in_memory(cupy, way, limit):
    pytest.importorskip("cudf")
    make = functools.partial(generators.rmat_frames, 16, 24, library="cudf", rows=100_000)
    graph = Graph.from_edges(make, memory_limit=limit)
    whole = Graph.from_edges(generators.rmat(16, 24, library="cudf"))
    assert graph.budget is not None and graph.budget.peak <= graph.budget.limit
    ours, theirs = graph.storage.view("out").stored, whole.storage.view("out").out
    assert (ours.row_offsets == theirs.row_offsets.get()).all()
    assert (ours.column_indices == theirs.column_indices.get()).all()
    found = graph.bfs(7, deterministic=True)
    assert found.equals(whole.bfs(7, deterministic=True))


# Edges before the first and from the second on are in the GPU's memory as well.
PLACES = {
    "all": (0, 0),
    "all first": (2000, 2000),
    "last": (0, 1000),
    "first": (700, 2000),
    "both ends": (300, 1500),
    "none": (0, 2000),
}


@pytest.mark.parametrize("wide", [False, True], ids=["32-bit offsets", "64-bit offsets"])
@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("out", PLACES)
@pytest.mark.parametrize("into", PLACES)
def test_edges_in_two_places(engine, cupy, out, into, trace, wide):
    """In each direction, the GPU's memory also holds all or none of the edges, or some at either end."""
    graph, rows = GRAPHS["directed"], {}
    for name, ends, transpose in (("out", PLACES[out], False), ("into", PLACES[into], True)):
        offsets, columns = graph.rows(transpose)
        pinned = engine.empty_pinned(len(columns), np.int32)
        pinned[:] = columns
        rows[name] = engine.reach_outside(Adjacency(offsets.astype(np.int64), pinned), *ends)
        if wide:
            rows[name] = replace(rows[name], row_offsets=rows[name].row_offsets.astype(np.int64))
    view = SimpleNamespace(**rows, n_vertices=graph.n)
    found = engine.search(view, cupy.zeros(1, np.int32), BfsOptions(trace=trace))
    assert np.array_equal(found.distance.get(), graph.distance([0]))
    check_tree(graph, [0], found.distance.get(), found.predecessor.get())
    if trace:
        read = sum(level.host_bytes for level in found.trace)
        assert read == 0 or not {out, into} <= {"all", "all first"}
        assert read > 0 or out != "none" or into != "none"
    cupy.cuda.runtime.deviceSynchronize()  # before the host memory is freed


@pytest.mark.parametrize("variant", ["auto", "push", "direction"])
def test_traces_tell_what_was_read_outside(cupy, variant):
    make = functools.partial(generators.rmat_frames, 15, 32)
    graph = Graph.from_edges(make, memory_limit="6MB", engine="cuda")
    in_memory = Graph.from_edges(make, engine="cuda")
    degrees = in_memory.degrees().sort_values("degree", ascending=False)
    source = int(degrees["vertex"].iloc[1000])  # rows of more neighbours, and of fewer, are kept on the GPU
    paged = graph.bfs(source, variant=variant, trace=True).trace
    whole = in_memory.bfs(source, variant=variant, trace=True).trace
    assert graph.budget is not None
    assert paged[["level", "frontier"]].equals(whole[["level", "frontier"]])
    assert (whole["host_bytes"] == 0).all()
    assert (paged["host_bytes"] <= 4 * paged["edges"]).all() and paged["host_bytes"].sum() > 0
    if variant != "auto":  # "auto" reads most of the edges from the GPU's memory
        assert (paged["host_bytes"] == 4 * paged["edges"]).all()


def test_trees_of_a_graph_outside_are_checked(cupy):
    """Every rule is checked over edges in host memory, in blocks that fit into the budget."""
    pytest.importorskip("cudf")
    make = functools.partial(generators.rmat_frames, 15, 32, library="cudf")
    graph = Graph.from_edges(make, memory_limit="30MB")
    view, source = graph.storage.view("out"), cupy.zeros(1, np.int32)
    found = graph.engine.search(view, source, BfsOptions())
    distance, predecessor = found.distance, found.predecessor

    def broken(depth=distance, led=predecessor):
        return broken_rules(graph.engine, view, source, depth, led, budget=graph.budget)

    used = graph.budget.used
    assert broken() == [] and graph.budget.used == used and graph.budget.peak <= graph.budget.limit
    far = int(distance.argmax())
    near = int(cupy.flatnonzero(distance == 1)[0])

    def changed(array, vertex, value):
        other = array.copy()
        other[vertex] = value
        return other

    assert broken(depth=changed(distance, near, 0))[0].startswith("rule 1")
    assert broken(led=changed(predecessor, far, -1))[0].startswith("rule 2")
    assert any(rule.startswith("rule 3") for rule in broken(led=changed(predecessor, far, far)))
    above = cupy.flatnonzero(distance == distance[far] - 1).tolist()
    loner = next(v for v in above if not joined(view, v, far))
    assert [rule[:6] for rule in broken(led=changed(predecessor, far, loner))] == ["rule 4"]
    assert any(rule.startswith("rule 5") for rule in broken(depth=changed(distance, far, -1)))


def joined(view, u, v):
    rows = view.stored
    return v in rows.column_indices[int(rows.row_offsets[u]) : int(rows.row_offsets[u + 1])]


def test_much_pinned_memory(engine):
    """Large pinned arrays are allocated page by page and freed with the last array over them.

    Host and device both read and write them.
    """
    from rapids_trav.engines.cuda.build import host_rows
    from rapids_trav.engines.cuda.runtime import pinned

    host = pinned.empty_pinned(100_000, np.int32, much=1)
    host[:] = np.arange(100_000)
    device = host_rows.over_host(host[10:])
    assert int(device.sum()) == int(host[10:].sum())
    device[:5] = -1
    engine.xp.cuda.Device().synchronize()
    assert host[8:16].tolist() == [8, 9, -1, -1, -1, -1, -1, 15]
    other = pinned.empty_pinned(7, np.float64, much=1)
    pointer, part = other.ctypes.data, other[2:5]
    attributes = engine.xp.cuda.runtime.pointerGetAttributes
    del other
    assert attributes(pointer).type == attributes(host.ctypes.data).type  # still pinned
    del part
    assert attributes(pointer).type != attributes(host.ctypes.data).type
