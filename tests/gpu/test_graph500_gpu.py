"""The Graph500 benchmark on the GPU: validation compared with the CPU's, and whole runs."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from graph500_trees import DST, LEVEL, MUTATIONS, PARENT, ROOT, SRC, garbage, lasso, mutated

from rapids_trav import engines, generators, graph500
from rapids_trav.engines.multigpu import devices
from rapids_trav.errors import TravError
from rapids_trav.graph500 import harness

pytestmark = pytest.mark.gpu


def validate(cupy, parent, root, src, dst, level=None):
    parent, src, dst = (cupy.asarray(array) for array in (parent, src, dst))
    return graph500.validate(parent, root, src, dst, None if level is None else cupy.asarray(level))


def test_a_right_tree_is_valid(cupy):
    assert validate(cupy, PARENT, ROOT, SRC, DST, LEVEL).valid
    assert validate(cupy, PARENT, ROOT, SRC, DST).valid


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_tree_breaks_its_rule(cupy, name, dtype):
    parent, level, faults = mutated(name)
    assert validate(cupy, parent.astype(dtype), ROOT, SRC, DST, level).broken == faults


@pytest.mark.parametrize("seed", range(40))
def test_garbage_is_judged_as_on_the_cpu(cupy, seed):
    case = garbage(seed)
    assert validate(cupy, *case) == graph500.validate(*case)


@pytest.mark.parametrize("n", [2, 3, 1000, 100_003])
def test_long_cycles_end(cupy, n):
    parent, src, dst = lasso(n)
    assert validate(cupy, parent, 0, src, dst).rule_1 == n - 1


def test_a_large_broken_tree_is_judged_as_on_the_cpu(cupy):
    n = 1 << 16
    edges = generators.rmat(16, seed=3)
    src, dst = edges["src"].to_numpy(), edges["dst"].to_numpy()
    parent = np.random.default_rng(1).permutation(n).astype(np.int32)
    assert validate(cupy, parent, 5, src, dst) == graph500.validate(parent, 5, src, dst)


def test_arrays_of_two_devices_are_refused(cupy):
    with pytest.raises(TravError, match="src is a numpy array and parent a cupy array"):
        graph500.validate(cupy.asarray(PARENT), ROOT, SRC, DST)


def test_pieces_agree_with_the_cpu(cupy):
    from rapids_trav.graph500 import cpu, cuda

    src, dst = cupy.asarray(SRC), cupy.asarray(DST)
    assert np.array_equal(cuda.has_neighbor(src, dst, 9), cpu.has_neighbor(SRC, DST, 9))
    assert cuda.component_edges(cupy.asarray(PARENT), src) == cpu.component_edges(PARENT, SRC)
    labels, predecessor = np.array([1, 4, 5, 7], np.int32), np.array([-1, 0, 1, -1], np.int32)
    on_gpu = cuda.to_labels(cupy.asarray(labels), cupy.asarray(predecessor), 1, 9)
    assert np.array_equal(on_gpu.get(), cpu.to_labels(labels, predecessor, 1, 9))


@pytest.mark.parametrize("scale", [1, 5, 12])
def test_a_run_finds_what_the_cpu_finds(cupy, scale):
    gpu, host = (graph500.run(scale, roots=16, seed=2, engine=engine) for engine in ("cuda", "cpu"))
    assert gpu.valid is True
    same = ["root", "edges", "vertices", "depth"]
    assert gpu.searches[same].equals(host.searches[same])
    assert gpu.n_vertices == host.n_vertices
    assert (gpu.searches["device_seconds"] > 0).all()
    assert gpu.streamed_seconds > 0
    assert (gpu.searches["device_seconds"] <= gpu.searches["seconds"]).all()


def test_a_run_at_scale_20_is_valid(cupy):
    report = graph500.run(20, seed=4, engine="cuda")
    assert report.valid is True
    assert len(report.searches) == 64


def test_a_run_leaves_the_allocator_as_it_was(cupy):
    import rmm

    before = rmm.mr.get_current_device_resource()
    graph500.run(6, roots=2, engine="cuda")
    assert rmm.mr.get_current_device_resource() is before


@pytest.fixture(params=["shared", pytest.param("several", marks=pytest.mark.multigpu)])
def spread(request, monkeypatch):
    """Return the devices of two ranks: one GPU that both share, or two.  Small graphs are spread too."""
    over = devices.spread_over
    monkeypatch.setattr(devices, "spread_over", lambda engine, named: over(engine, named, shared=True))
    return [0, 0] if request.param == "shared" else [0, 1]


def test_ranks_find_what_one_gpu_finds(cupy, spread):
    """Whole runs, on frames of cuDF."""
    pytest.importorskip("cudf")
    together, alone = (graph500.run(12, roots=16, seed=2, engine="cuda", devices=on) for on in (spread, None))
    assert together.valid is True
    same = ["root", "edges", "vertices", "depth"]
    assert together.searches[same].equals(alone.searches[same])
    assert together.device == f"2 x {alone.device}"
    assert together.streamed_seconds is None


def test_the_steps_of_a_run_by_ranks(cupy, spread):
    """Searches by two ranks are valid, and timed by their own clock."""
    from rapids_trav.graph500 import cuda

    steps = SimpleNamespace(**vars(cuda) | {"LIBRARY": "pandas"})
    frames = list(generators.rmat_frames(9, seed=2, rows=5000))
    engine = devices.spread_over(engines.select("cuda", "pandas"), spread)
    bench = harness._Bench(steps, engine, frames, 1 << 9)
    bench.src, bench.dst = (list(map(cupy.asarray, ends)) for ends in (bench.src, bench.dst))
    roots = harness.draw_roots(bench.has_neighbor(), 5, 1)
    graph = bench.construct(frames)
    assert not any("CSR" in name for name, *_ in graph.storage.memory())  # nothing but the ranks' rows
    rows = bench.searches(graph, roots, True, lambda *_: None)
    assert all(row["valid"] for row in rows)
    alone = pd.concat(frames).trav.graph()
    assert graph.n_vertices == alone.n_vertices
    for row, root in zip(rows, roots, strict=True):
        assert row["device_seconds"] > 0
        distance = alone.bfs(root, reached_only=True)["distance"]
        assert row["vertices"] == len(distance)
        assert row["depth"] == distance.max()
    assert bench.streamed_seconds(graph, roots) is None


@pytest.mark.multigpu
def test_a_small_graph_is_searched_by_one_gpu(cupy):
    pytest.importorskip("cudf")
    report = graph500.run(8, roots=2, engine="cuda", devices=[0, 1])
    assert report.valid is True
    assert not report.device.startswith("2 x")
