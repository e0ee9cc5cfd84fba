"""Program that runs under cudf.pandas: ``python -m cudf.pandas PATH_OF_THIS_FILE ENGINE CASE...``.

ENGINE is the engine that must run: "cuda" or, on a machine without a GPU, "cpu".  With ``--later`` after the
cases, and without ``-m cudf.pandas``, it imports rapids_trav first and installs cudf.pandas afterwards.
"""

import sys

import rapids_trav

if "--later" in sys.argv:
    import cudf.pandas

    cudf.pandas.install()

import numpy as np
import pandas as pd
from cudf.pandas import Profiler, as_proxy_object, is_proxy_object

from rapids_trav.frames.libraries import PandasFrames

ENGINE, *CASES = (word for word in sys.argv[1:] if word != "--later")
LIBRARY = "cudf" if ENGINE == "cuda" else "pandas"
RNG = np.random.default_rng(7)
IDS = {
    "int32": np.arange(60, dtype=np.int32),
    "int64": np.arange(60) * 10**12 - 5,
    "strings": [f"v{i:02}" for i in range(60)],
    "dates": pd.date_range("2020-01-01", periods=60).to_numpy(),
}


def frame(kind: str = "int64") -> pd.DataFrame:
    ids = pd.Series(IDS[kind])
    ends = RNG.integers(0, 50, (2, 90))
    return pd.DataFrame({"src": ids.take(ends[0]).array, "dst": ids.take(ends[1]).array})


def inside(found):
    """Return the pandas frame behind a result, which must be a proxy."""
    assert is_proxy_object(found), type(found)
    return found.as_cpu_object()


def rows(found) -> list[tuple]:
    """Return the rows of a result, with None for null."""
    columns = [inside(found)[name] for name in inside(found)]
    plain = ([None if missing else v for v, missing in zip(c, c.isna(), strict=True)] for c in columns)
    return list(zip(*plain, strict=True))


def check_engine(graph) -> None:
    assert (graph.engine.name, graph.frame_library) == (ENGINE, LIBRARY), graph


def engine():
    edges = frame()
    assert is_proxy_object(edges)
    graph = edges.trav.graph()
    check_engine(graph)
    check_engine(rapids_trav.Graph.from_edges(edges))
    result = edges.trav.bfs(edges["src"].iloc[0])
    assert isinstance(result, pd.DataFrame)
    assert str(inside(result)["distance"].dtype) == "Int32"
    assert edges.trav.graph(engine="cpu").engine.name == "cpu"
    assert not is_proxy_object(PandasFrames().column([1])), "pandas is replaced within the package too"


QUESTIONS = (
    lambda graph, some: graph.bfs(some, deterministic=True),
    lambda graph, some: graph.bfs(some.iloc[0], deterministic=True, targets=some),
    lambda graph, some: graph.bfs(list(some), mode="each", deterministic=True),
    lambda graph, some: graph.bfs(some, reached_only=True, predecessors=False),
    lambda graph, some: graph.bfs(some, trace=True, deterministic=True).result,
    lambda graph, some: graph.paths(some.head(1), some, deterministic=True),
    lambda graph, some: graph.levels(some),
    lambda graph, some: graph.khop(some, 1).vertices,
    lambda graph, some: graph.khop(some, 1).edges,
    lambda graph, some: graph.degrees(),
    lambda graph, some: graph.components(),
)


def answers():
    """Check that results on the chosen engine and on the CPU are the same, and that all are proxies."""
    for kind in IDS:
        edges = frame(kind)
        isolated = pd.Series(IDS[kind]).tail(2)
        one, other = (edges.trav.graph(engine=name, vertices=isolated) for name in ("auto", "cpu"))
        check_engine(one)
        some = edges["src"].head(3)
        for ask in QUESTIONS:
            expected = rows(ask(other, some))
            assert expected
            assert rows(ask(one, some)) == expected
        assert is_proxy_object(one.memory())
        assert is_proxy_object(one.bfs(some, trace=True).trace)
        assert is_proxy_object(one.components(trace=True).trace)
        ranks = inside(one.pagerank(tol=1e-9))
        assert np.allclose(ranks["pagerank"], inside(other.pagerank(tol=1e-9))["pagerank"], atol=1e-6)


def inputs():
    """Check inputs that may hold proxies: several frames, a function, values of a program, an index."""
    first, second = frame(), frame()
    together = pd.concat([first, second], ignore_index=True)
    expected = rows(together.trav.graph().bfs(first["src"].iloc[0], deterministic=True))
    for edges in ([first, second], iter([first, second]), lambda: iter([first, second])):
        graph = rapids_trav.Graph.from_edges(edges)
        check_engine(graph)
        assert rows(graph.bfs(first["src"].iloc[0], deterministic=True)) == expected
    graph = together.trav.graph()
    smallest = rapids_trav.Program("smallest", dtype="int64", reducer="min")
    chosen = first["src"].drop_duplicates().head(2)
    values = pd.Series([5, 7], index=pd.Index(chosen.array))
    named = pd.DataFrame({"vertex": chosen.array, "value": [5, 7]})
    assert rows(graph.run(smallest, initial=values)) == rows(graph.run(smallest, initial=named))
    together["kept"] = together["src"] != chosen.iloc[0]
    filtered = together.trav.graph()
    check_engine(filtered)
    assert len(rows(filtered.bfs(chosen.iloc[1], where="kept"))) == filtered.n_vertices


def sides():
    """Check that a CPU frame moves to the GPU, and that one that cuDF cannot hold is used on the CPU."""
    moved = as_proxy_object(frame().as_cpu_object())
    check_engine(moved.trav.graph())
    mixed = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "what": [object(), "x"]})
    graph = mixed.trav.graph()
    assert graph.engine.name == "cpu"
    assert [distance for _, distance, _ in rows(graph.bfs(0))] == [0, 1, 2]
    both = rapids_trav.Graph.from_edges([mixed[["src", "dst"]], mixed])
    assert both.n_edges == 4


def made_here():
    """Check that frames made by the package are proxies too, and can be written like any other."""
    import tempfile
    from pathlib import Path

    from rapids_trav import datasets, generators
    from rapids_trav.io import read_edges, write_frame

    made = [generators.path(10), datasets.load("facebook")]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("edges.parquet", "edges.csv"):
            write_frame(made[0], Path(folder, name))
            made.append(read_edges(Path(folder, name)))
            assert len(inside(made[-1])) == 9
        from_file = rapids_trav.Graph.from_edges(Path(folder, "edges.parquet"))
        assert rows(from_file.bfs(0))[-1][1] == 9
    for edges in made:
        assert is_proxy_object(edges)
        check_engine(edges.trav.graph())


def profile():
    """Check that no step of a build or a question falls back to the CPU."""
    scale = 20
    edges = pd.DataFrame({name: RNG.integers(0, 1 << scale, 16 << scale) for name in ("src", "dst")})
    edges["src"].max()
    with Profiler() as profiler:
        graph = edges.trav.graph()
        graph.bfs(0)
        graph.bfs(edges["src"].head(3))
        edges.trav.bfs(0, reached_only=True)
    check_engine(graph)
    fallen = {name: len(calls["cpu"]) for name, calls in profiler.per_function_stats.items() if calls["cpu"]}
    assert not fallen, fallen


for case in CASES:
    globals()[case]()
    print("done:", case)
