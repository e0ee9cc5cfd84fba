"""Graphs on several GPUs of one process: the answers are those of one GPU, and all of them take part.

The ranks share one GPU, or have one each where there are several.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from common import gpu_count, to_pandas
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, TravError, TravMemoryError

pytestmark = pytest.mark.gpu

N = 400


def edge_frame(seed: int = 1) -> pd.DataFrame:
    """Return edges with hubs, self-loops and repeated ones, between ids with gaps."""
    random = np.random.default_rng(seed)
    src = (N * random.random(1500) ** 2).astype(np.int64) * 3
    dst = (N * random.random(1500) ** 3).astype(np.int64) * 3
    return pd.DataFrame({"src": src, "dst": dst, "w": random.random(1500), "kept": random.random(1500) < 0.6})


EDGES = edge_frame()
SOURCES = EDGES["src"].unique()[[0, 7]].tolist()


@pytest.fixture(params=["shared", pytest.param("several", marks=pytest.mark.multigpu)])
def on_devices(request, engine, monkeypatch):
    """Return a function that builds a graph of a number of ranks: on one GPU, or on a GPU each."""

    def build(n_ranks=2, edges=EDGES, **how) -> Graph:
        how.setdefault("engine", engine)  # turns bottom-up in small graphs
        if request.param == "shared":
            tuning = {"ranks_share_devices": True} | how.pop("tuning", {})
            return Graph.from_edges(edges, devices=[0] * n_ranks, tuning=tuning, **how)
        return Graph.from_edges(edges, devices=range(min(n_ranks, gpu_count())), **how)

    if request.param == "several":  # even small graphs
        from rapids_trav.engines.multigpu import devices

        monkeypatch.setattr(devices, "FEW_ENTRIES", 0)
        monkeypatch.setattr(devices, "FEW_A_VERTEX", 0)
    return build


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def directed(request):
    return request.param


@pytest.fixture(scope="module")
def expected(directed):
    return EDGES.trav.graph(directed=directed)


def same(found, expected) -> None:
    assert_frame_equal(to_pandas(found), to_pandas(expected), check_dtype=False)


@pytest.mark.parametrize("n_ranks", [2, 3])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_answers_are_those_of_one_device(on_devices, expected, directed, direction, n_ranks):
    graph = on_devices(n_ranks, directed=directed)
    how = {"direction": direction, "deterministic": True}
    for asked in (
        {},
        {"depth_limit": 2},
        {"reached_only": True},
        {"mode": "each"},
        {"predecessors": False, "deterministic": False},
    ):
        same(graph.bfs(SOURCES, **how | asked), expected.bfs(SOURCES, **how | asked))
    same(graph.levels(SOURCES, direction=direction), expected.levels(SOURCES, direction=direction))
    same(graph.degrees(direction), expected.degrees(direction))


def test_targets_end_the_search(on_devices, expected, directed):
    graph = on_devices(directed=directed)
    source = SOURCES[0]
    whole = expected.bfs(source).dropna(subset="distance")
    targets = whole[whole["distance"] == 2]["vertex"].head(3).tolist()
    found = graph.bfs(source, targets=targets)
    assert to_pandas(found)["distance"].max() == 2
    walked = to_pandas(graph.paths(source, targets))
    assert walked.groupby("target")["step"].max().tolist() == [2] * len(targets)
    wanted = pd.MultiIndex.from_frame(EDGES[["src", "dst"]])
    pairs = [pair for pair in pairwise(walked["vertex"].to_list()) if pair[1] != source]
    assert all(pair in wanted or (not directed and pair[::-1] in wanted) for pair in pairs)


def test_neighbourhoods_have_the_rows_of_the_frame(on_devices, expected, directed):
    found, wanted = on_devices(directed=directed).khop(SOURCES, 2), expected.khop(SOURCES, 2)
    same(found.vertices, wanted.vertices)
    same(found.edges, wanted.edges)


def test_ranks_search_together_and_say_how(on_devices, monkeypatch):
    """Each search is one launch on each rank; the trace has the exchanges."""
    from rapids_trav.engines.multigpu.one_launch import launch

    graph = on_devices(3)
    launched = []
    start = launch.Launch.start
    monkeypatch.setattr(launch.Launch, "start", lambda self: launched.append(self._rank) or start(self))
    answer, trace = graph.bfs(SOURCES[0], trace=True)
    ranks = {rank.rows.rank for rank in launched}
    assert len(launched) == len(ranks) > 1
    assert ranks == set(range(len(ranks)))
    trace = to_pandas(trace)
    assert trace["exchange"].iloc[0] == "lists"
    assert set(trace["exchange"]) <= {"lists", "copies", "words"}
    vertices = to_pandas(answer)["distance"].value_counts()
    assert trace["frontier"].tolist() == [vertices[level - 1] for level in trace["level"]]
    assert (trace["edges"] > 0).all()
    assert "exchange" not in EDGES.trav.graph().bfs(SOURCES[0], trace=True).trace
    launched.clear()
    graph.bfs(SOURCES[0], variant="fused")
    graph.bfs(SOURCES[0], where="kept")
    assert launched == []  # on one GPU


def test_directions_are_dealt_when_they_are_asked_for(on_devices):
    graph = on_devices(2, directed=True)

    def directions() -> set[str]:
        names = to_pandas(graph.memory())["structure"]
        return {name.rpartition(" ")[2] for name in names if "rows by both ends" in name}

    assert directions() == {"out"}
    graph.bfs(SOURCES[0])
    assert directions() == {"out"}
    graph.bfs(SOURCES[0], direction="both")
    assert directions() == {"out", "both"}


def test_memory_tells_the_bytes_of_each_device(on_devices):
    graph = on_devices(2)
    held = to_pandas(graph.memory())
    rows = held[held["structure"] == "rows by both ends"]
    # Both orientations of the entries, in four bytes each.
    loops = (EDGES["src"] == EDGES["dst"]).sum()
    assert rows["bytes"].sum() >= 2 * 4 * (2 * len(EDGES) - loops)
    assert set(rows["place"]) <= {"device 0", "device 1"}
    assert "CSR, symmetrised" not in set(held["structure"])
    graph.components()
    assert "CSR, symmetrised" in set(to_pandas(graph.memory())["structure"])


def test_the_model_of_memory_has_the_rows(on_devices, directed):
    """What a rank holds is within the model, and more than half of it."""
    from rapids_trav.memory.model.spread import dealt_rows_bytes

    edges = pd.concat([EDGES] * 20)
    graph = on_devices(2, edges=edges, directed=directed)
    held = to_pandas(graph.memory())
    rows = held[held["place"].str.startswith("device ")]["bytes"].sum()
    entries = len(edges) if directed else 2 * len(edges)
    most = 2 * dealt_rows_bytes(graph.n_vertices, entries, 2)
    assert most / 2 < rows <= 1.2 * most  # headers, and ids that no vertex has, count in small graphs


@pytest.mark.parametrize("layout", ["both", "lean", None])
def test_the_layout_that_fits_is_chosen_and_told(on_devices, monkeypatch, layout):
    """One that is named is taken; otherwise both orientations, where they fit beside a search."""
    from rapids_trav.engines.multigpu.devices import DevicesEngine
    from rapids_trav.memory.model.spread import deal_bytes, dealt_bytes, dealt_rows_bytes

    expected = EDGES.trav.graph()
    how = {} if layout is None else {"tuning": {"layout": layout}}

    def made(free=None):
        with monkeypatch.context() as changed:
            if free is not None:
                changed.setattr(DevicesEngine, "_free_of_ranks", lambda self: [10 * free, free])
            return on_devices(2, **how)

    n, entries = expected.n_vertices, 2 * len(EDGES)
    fits = max(
        deal_bytes(n, entries, 2),
        dealt_rows_bytes(n, entries, 2) + dealt_bytes(n, 2, predecessors=True),
    )
    for graph, lean in ((made(fits), layout == "lean"), (made(fits - 1), layout != "both")):
        names = set(to_pandas(graph.memory())["structure"])
        assert ("rows by destination alone (lean)" in names) is lean
        assert ("rows by both ends" in names) is not lean
        answer, trace = graph.bfs(SOURCES, trace=True)
        same(answer[["vertex", "distance"]], expected.bfs(SOURCES)[["vertex", "distance"]])
        assert ("offers" in set(to_pandas(trace)["exchange"])) is lean
        assert ("lists" in set(to_pandas(trace)["exchange"].head(1))) is not lean
        for ask in (
            lambda graph: graph.bfs(SOURCES, deterministic=True),
            lambda graph: graph.bfs(SOURCES, mode="each", deterministic=True),
            lambda graph: graph.levels(SOURCES),
            lambda graph: graph.degrees(),
        ):
            same(ask(graph), ask(expected))


@pytest.mark.multigpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs 2 GPUs")
@pytest.mark.parametrize(
    ("entries", "of_a_vertex", "layout", "together"),
    [(0, 0, None, True), (0, 1000, None, False), (10**6, 0, None, False), (10**6, 0, "both", True)],
)
def test_a_graph_that_one_gpu_searches_faster_is_there_alone(
    engine, expected, directed, monkeypatch, entries, of_a_vertex, layout, together
):
    """Many searches are still split over all GPUs; one that the current GPU cannot hold is dealt."""
    from rapids_trav.engines.multigpu import devices

    monkeypatch.setattr(devices, "FEW_ENTRIES", entries)
    monkeypatch.setattr(devices, "FEW_A_VERTEX", of_a_vertex)
    how = {"engine": engine, "devices": [0, 1], "directed": directed}
    graph = EDGES.trav.graph(**how, tuning=None if layout is None else {"layout": layout})
    assert ("rows by both ends" in " ".join(to_pandas(graph.memory())["structure"])) is together
    same(graph.bfs(SOURCES, deterministic=True), expected.bfs(SOURCES, deterministic=True))
    assert ("exchange" in graph.bfs(SOURCES, trace=True).trace) is together
    same(graph.degrees(), expected.degrees())
    each = {"mode": "each", "deterministic": True}
    same(graph.bfs(SOURCES, **each), expected.bfs(SOURCES, **each))
    held = to_pandas(graph.memory())
    assert set(held[held["structure"].str.startswith("copy of the rows")]["place"]) == {"device 1"}
    monkeypatch.setattr(devices.DevicesEngine, "free_bytes", lambda self: 1000)
    named = set(to_pandas(EDGES.trav.graph(**how).memory())["structure"])
    assert any(name.startswith("rows by") for name in named)


def test_lean_rows_take_half_and_what_the_model_says(on_devices):
    from rapids_trav.memory.model.spread import dealt_rows_bytes

    edges = pd.concat([EDGES] * 20)
    made = [on_devices(2, edges=edges, tuning={"layout": layout}) for layout in ("both", "lean")]
    held = [to_pandas(graph.memory()) for graph in made]
    both, lean = (one[one["structure"].str.startswith("rows by")]["bytes"].sum() for one in held)
    assert lean < 0.55 * both
    for graph, one, layout in zip(made, held, ("both", "lean"), strict=True):
        most = 2 * dealt_rows_bytes(graph.n_vertices, 2 * len(edges), 2, layout)
        found = one[one["place"].str.startswith("device ")]["bytes"].sum()
        assert most / 2 < found <= 1.3 * most  # as above


@pytest.mark.parametrize("layout", ["both", "lean"])
def test_rows_that_do_not_fit_are_told_with_their_bytes(on_devices, monkeypatch, layout):
    from rapids_trav.engines.multigpu.one_launch import spread
    from rapids_trav.memory.model.spread import deal_bytes
    from rapids_trav.utilities.sizes import readable

    def refuses(*given, **how):
        raise MemoryError

    monkeypatch.setattr(spread, "deal_edges", refuses)
    n = len(EDGES.trav.graph().degrees())
    needed = readable(deal_bytes(n, 2 * len(EDGES), 2, layout))
    with pytest.raises(
        TravMemoryError, match=f"^building the rows of a GPU needs about {needed} of GPU memory"
    ):
        on_devices(2, tuning={"layout": layout})


def test_lean_rows_are_for_edges_both_ways(on_devices):
    with pytest.raises(TravError, match="layout='lean' is for searches that follow each edge both ways"):
        on_devices(2, directed=True, tuning={"layout": "lean"})


def test_other_questions_are_answered_from_one_device(on_devices, expected, directed):
    graph = on_devices(directed=directed, weight="w")
    same(graph.components(), expected.components())
    same(
        graph.bfs(SOURCES, where="kept", deterministic=True),
        expected.bfs(SOURCES, where="kept", deterministic=True),
    )
    weighted = EDGES.trav.graph(directed=directed, weight="w")
    same(graph.sssp(SOURCES[0])[["vertex", "distance"]], weighted.sssp(SOURCES[0])[["vertex", "distance"]])
    pairs = [SOURCES[0]], [SOURCES[1]]
    same(graph.distances(pairs), expected.distances(pairs))
    streamed = dict(graph.bfs_stream(SOURCES, deterministic=True))
    for source in SOURCES:
        same(streamed[source], expected.bfs(source, deterministic=True))


def test_many_searches_are_split_over_copies_of_the_graph(on_devices, expected, directed, monkeypatch):
    from rapids_trav.engines.multigpu import replicas

    graph = on_devices(directed=directed)
    counted = []
    search = replicas.search_on_each

    def on_each(copies, sources, one):
        counted.append(len(copies))
        return search(copies, sources, one)

    monkeypatch.setattr(replicas, "search_on_each", on_each)
    many = EDGES["src"].unique()[:150].tolist()
    many.append(many[0])
    how = {"mode": "each", "deterministic": True}
    same(graph.bfs(many, **how), expected.bfs(many, **how))
    copies = to_pandas(graph.memory())["structure"].str.startswith("copy of the rows").sum()
    assert set(counted) == {1 + copies}
    assert copies == (0 if graph.engine.devices == (0, 0) else 1)


def test_many_searches_on_a_graph_that_fits_no_single_device(on_devices, expected, directed, monkeypatch):
    """Each search is run by all ranks, and questions that need one device say why they cannot be answered."""
    from rapids_trav.engines.multigpu.devices import DevicesEngine

    monkeypatch.setattr(DevicesEngine, "free_bytes", lambda self: 1000)
    graph = on_devices(directed=directed)
    same(
        graph.bfs(SOURCES, mode="each", deterministic=True),
        expected.bfs(SOURCES, mode="each", deterministic=True),
    )
    same(graph.khop(SOURCES, 1).vertices, expected.khop(SOURCES, 1).vertices)
    for ask in (graph.components, lambda: graph.bfs(SOURCES[0], variant="fused")):
        with pytest.raises(TravMemoryError, match="This question needs all edges on the current GPU"):
            ask()


def test_ids_of_any_kind(on_devices):
    names = EDGES.assign(src="v" + EDGES["src"].astype(str), dst="v" + EDGES["dst"].astype(str))
    how = {"deterministic": True}
    source = names["src"][0]
    same(
        on_devices(edges=names, vertices=["alone"]).bfs(source, **how),
        names.trav.graph(vertices=["alone"]).bfs(source, **how),
    )
    with pytest.raises(TravError, match="sources"):
        on_devices(edges=names).bfs("nobody")


def test_graphs_without_edges_or_vertices(on_devices):
    empty = pd.DataFrame({"src": [], "dst": []}, dtype=np.int64)
    nothing = on_devices(edges=empty)
    assert len(nothing.components()) == len(nothing.degrees()) == 0
    with pytest.raises(TravError, match="sources"):
        nothing.bfs(0)
    graph = on_devices(edges=empty, vertices=[4, 5])
    assert to_pandas(graph.bfs(4))["distance"].tolist() == [0, pd.NA]


def test_a_frame_of_cudf(on_devices, expected):
    cudf = pytest.importorskip("cudf")
    graph = on_devices(edges=cudf.DataFrame(EDGES))
    undirected = EDGES.trav.graph()
    for how in ({}, {"reached_only": True}, {"mode": "each"}, {"deterministic": True}):
        found = to_pandas(graph.bfs(SOURCES, **how))["distance"]
        wanted = undirected.bfs(SOURCES, **how)["distance"]
        assert found.tolist() == wanted.tolist()
    with pytest.raises(TravError, match="sources"):
        graph.bfs(10**6)


@pytest.fixture(params=["a pool", "an asynchronous pool"])
def pools(request):
    """Let RMM allocate from a pool on each GPU."""
    rmm = pytest.importorskip("rmm")
    before = [rmm.mr.get_per_device_resource(device) for device in range(gpu_count())]
    if request.param == "a pool":
        rmm.reinitialize(pool_allocator=True, devices=list(range(gpu_count())), initial_pool_size=1 << 28)
    else:
        import cupy

        for device in range(gpu_count()):
            with cupy.cuda.Device(device):  # which the pool belongs to
                rmm.mr.set_per_device_resource(
                    device, rmm.mr.CudaAsyncMemoryResource(initial_pool_size=1 << 26)
                )
    yield
    for device, resource in enumerate(before):
        rmm.mr.set_per_device_resource(device, resource)


def test_gpus_with_pools(pools, on_devices):
    cudf = pytest.importorskip("cudf")
    expected = EDGES.trav.graph().bfs(SOURCES)["distance"]
    with on_devices(edges=cudf.DataFrame(EDGES)) as graph:
        for how in ({}, {"deterministic": True}):
            assert to_pandas(graph.bfs(SOURCES, **how))["distance"].tolist() == expected.tolist()
        assert len(graph.bfs(SOURCES * 70, mode="each")) == 140 * len(expected)


def test_one_gpu_alone_makes_the_ordinary_graph(cupy):
    graph = EDGES.trav.graph(engine="cuda", devices=[0])
    assert type(graph.engine).__name__ == "CudaEngine"
    if gpu_count() == 1:
        assert type(EDGES.trav.graph(engine="cuda", devices="all").engine).__name__ == "CudaEngine"


def test_all_gpus(cupy):
    graph = EDGES.trav.graph(engine="cuda", devices="all")
    assert getattr(graph.engine, "devices", (0,)) == tuple(range(gpu_count()))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"devices": [0, 0]}, "names a GPU twice"),
        ({"devices": [0, 99]}, "names GPU 99, but this process sees GPUs 0 to"),
        ({"devices": []}, "does not name GPUs"),
        ({"devices": np.array(0)}, "does not name GPUs"),
        ({"devices": [-1]}, "does not name GPUs"),
        ({"devices": "both"}, 'give their numbers, such as .0, 1., or "all"'),
        ({"devices": [0, True]}, "does not name GPUs"),
        ({"devices": [0, 1], "memory_limit": "1GB"}, "memory_limit='1GB' has no meaning with devices"),
        ({"devices": [0, 1], "order": "locality"}, "order='locality' does not go with devices"),
        ({"devices": [0, 1], "degree_sort": False}, "degree_sort=False does not go with devices"),
        ({"devices": [0, 1], "engine": "cpu"}, "devices=.0, 1. is for GPUs, but the graph is on the cpu"),
    ],
)
def test_what_does_not_go_with_devices_is_refused(cupy, how, message):
    with pytest.raises(TravError, match=message):
        Graph.from_edges(EDGES, **{"engine": "cuda"} | how)


@pytest.mark.parametrize("status", [None, 2, 9])
def test_a_pool_that_holds_the_whole_gpu_is_named(cupy, monkeypatch, status):
    """What other GPUs read is outside the pool; errors other than of memory are not explained by it."""
    from rapids_trav.engines.multigpu.one_launch.peers import reachable

    class Told(RuntimeError):
        def __init__(self) -> None:
            self.status = status

    error = MemoryError() if status is None else Told()

    def refuses(n_bytes):
        raise error

    monkeypatch.setattr(cupy.cuda.runtime, "CUDARuntimeError", Told)
    monkeypatch.setattr(cupy.cuda, "Memory", refuses)
    expected = "outside RMM's pool, but what other GPUs read there takes 1 MB: .* by its maximum_pool_size"
    with pytest.raises(Told if status == 9 else TravMemoryError, match=None if status == 9 else expected):
        reachable(10**6)


@pytest.mark.skipif(gpu_count() < 2, reason="needs 2 GPUs")
def test_the_current_gpu_must_be_among_them(cupy):
    with cupy.cuda.Device(1), pytest.raises(TravError, match="leaves out GPU 1, the current one"):
        Graph.from_edges(EDGES, engine="cuda", devices=[0], tuning={"ranks_share_devices": True})


def test_gpus_that_do_not_reach_each_other_are_named(cupy, monkeypatch):
    from rapids_trav.engines.multigpu.one_launch.peers import reach_each_other

    monkeypatch.setattr(
        cupy.cuda.runtime, "deviceCanAccessPeer", lambda one, other: int((one, other) != (2, 0))
    )
    monkeypatch.setattr(cupy.cuda.runtime, "deviceEnablePeerAccess", lambda other: None)
    monkeypatch.setattr(cupy.cuda, "Device", lambda device: pytest.MonkeyPatch.context())
    with pytest.raises(TravError, match="GPU 2 cannot reach the memory of GPU 0"):
        reach_each_other([0, 1, 2])
