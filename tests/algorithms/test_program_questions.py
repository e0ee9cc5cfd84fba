"""`components`, `sssp` and `pagerank` compared with SciPy and NetworkX on graphs of many shapes."""

from __future__ import annotations

import itertools

import networkx as nx
import numba
import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from rapids_trav import Graph, Program, TravError, datasets, programs
from rapids_trav.cli import run as command_line
from rapids_trav.generators import grid, path, rmat, star
from rapids_trav.programs.parameters import parameter_numbers

RNG = np.random.default_rng(0)


def shuffled(frame, seed=0):
    """Return the graph with its ids permuted, so that labels travel far."""
    n = int(max(frame["src"].max(), frame["dst"].max())) + 1
    order = np.random.default_rng(seed).permutation(n)
    return pd.DataFrame({"src": order[frame["src"]], "dst": order[frame["dst"]]})


def gapped(n=400, m=500):
    """Return a sparse graph of many components, with gaps in its ids, self-loops and repeated edges."""
    src, dst = RNG.integers(0, n, (2, m)) * 7 - 400
    return pd.DataFrame({"src": np.r_[src, 5, 5, 5], "dst": np.r_[dst, 5, 12, 12]})


GRAPHS = {
    "random": lambda: gapped(),
    "R-MAT": lambda: rmat(9, 4),
    "grid": lambda: shuffled(grid(20, 30)),
    "path": lambda: shuffled(path(2000)),
    "star": lambda: star(500),
    "loops": lambda: pd.DataFrame({"src": [3, 4], "dst": [3, 4]}),
    "facebook": lambda: datasets.load("facebook")[:15000],
}


@pytest.fixture(params=GRAPHS)
def edges(request):
    frame = GRAPHS[request.param]()[["src", "dst"]].copy()
    rng = np.random.default_rng(1)
    frame["cost"] = rng.integers(0, 5, len(frame)) / 4  # multiples of 1/4 add up exactly; some weights are 0
    frame["cents"] = rng.integers(0, 1000, len(frame)).astype("int16")
    frame["open"] = rng.random(len(frame)) < 0.7
    return frame


def matrix(graph, frame, weight=None, directed=False, kept=None):
    """Return a matrix of the smallest weights between vertices, in the order of ids; 0 means no edge."""
    vertex = graph.degrees()["vertex"].to_numpy()
    u, v = (np.searchsorted(vertex, frame[side]) for side in ("src", "dst"))
    w = np.ones(len(frame)) if weight is None else frame[weight].to_numpy(float)
    if kept is not None:
        u, v, w = u[kept], v[kept], w[kept]
    if not directed:
        u, v, w = np.r_[u, v], np.r_[v, u], np.r_[w, w]
    least = pd.DataFrame({"u": u, "v": v, "w": w}).groupby(["u", "v"], as_index=False).min()
    return coo_matrix((least["w"], (least["u"], least["v"])), shape=(len(vertex),) * 2).tocsr()


def check_shortest_tree(graph, frame, result, sources, weight, directed):
    """Check that an edge from each predecessor gives the distance, and that predecessors lead to a source."""
    table = result.set_index("vertex")
    distance, predecessor = table["distance"].to_dict(), table["predecessor"].dropna().to_dict()
    reached = {v for v, d in distance.items() if not pd.isna(d)}
    assert set(predecessor) == reached - set(sources)
    weights = {}
    for u, v, w in zip(frame["src"], frame["dst"], frame[weight], strict=True):
        for pair in [(u, v)] if directed else [(u, v), (v, u)]:
            weights.setdefault(pair, set()).add(w)
    for v, u in predecessor.items():
        assert any(distance[u] + w == distance[v] for w in weights[u, v])
    settled = set(sources)
    for v in predecessor:
        way = []
        while v not in settled:
            way.append(v)
            assert len(way) <= len(predecessor), "a cycle"
            v = predecessor[v]
        settled.update(way)


@pytest.mark.parametrize("where", [None, "open"])
@pytest.mark.parametrize("directed", [True, False])
def test_components(edges, directed, where):
    graph = edges.trav.graph(directed=directed)
    answer = graph.components(where=where)
    kept = edges["open"].to_numpy() if where else None
    _, label = connected_components(matrix(graph, edges, kept=kept), directed=False)
    vertex = graph.degrees()["vertex"].to_numpy()
    smallest = pd.Series(vertex).groupby(label).transform("min")
    assert answer["vertex"].tolist() == vertex.tolist()
    assert answer["component"].tolist() == smallest.tolist()
    assert answer.dtypes.tolist() == [vertex.dtype] * 2
    propagated, trace = graph.components(where=where, tuning={"gather": "rows"}, trace=True)
    assert propagated.equals(answer) and not {"hook", "rest"} & set(trace["mode"])
    place = pd.Series(np.arange(len(vertex))).groupby(label).transform("min")
    for asynchronous in (True, False):
        labels = graph.run(
            programs.connected_components(), initial=np.arange(len(vertex)), direction="both", where=where,
            asynchronous=asynchronous,
        )  # fmt: skip
        assert labels["value"].tolist() == place.tolist()


@pytest.mark.parametrize("weight", ["cost", "cents"])
@pytest.mark.parametrize("directed", [True, False])
def test_sssp(edges, directed, weight):
    graph = edges.trav.graph(directed=directed, weight=weight)
    vertex = graph.degrees()["vertex"].tolist()
    sources = vertex[:: len(vertex) // 2 + 1]
    # SciPy reads a weight of 0 as no edge, so add a shift that is too small to change a result.
    shift = 2.0**-20
    known = matrix(graph, edges.assign(shifted=edges[weight] + shift), "shifted", directed)
    wanted = np.floor(
        dijkstra(known, indices=[vertex.index(s) for s in sources], min_only=True) * 4
    ) / 4  # fmt: skip
    for asynchronous in (True, False):
        answer = graph.sssp(sources, asynchronous=asynchronous)
        found = answer["distance"].to_numpy(float, na_value=np.inf)
        np.testing.assert_array_equal(found, wanted)
        check_shortest_tree(graph, edges, answer, sources, weight, directed)
    assert str(answer["distance"].dtype) == ("Float64" if weight == "cost" else "Int64")
    assert answer["vertex"].tolist() == vertex
    part = graph.sssp(sources, predecessors=False, reached_only=True)
    assert part["vertex"].tolist() == answer["vertex"][answer["distance"].notna()].tolist()
    assert list(part.columns) == ["vertex", "distance"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [True, False])
def test_pagerank(edges, directed, weighted):
    graph = edges.trav.graph(directed=directed, weight="cost")
    truth = nx.MultiDiGraph()
    truth.add_nodes_from(graph.degrees()["vertex"].tolist())
    for u, v, w in zip(edges["src"].tolist(), edges["dst"].tolist(), edges["cost"].tolist(), strict=True):
        truth.add_edge(u, v, weight=w if weighted else 1)
        if not directed and u != v:
            truth.add_edge(v, u, weight=w if weighted else 1)
    wanted = nx.pagerank(truth, tol=1e-14, max_iter=1000)
    for asynchronous in (False, True):
        answer = graph.pagerank(tol=1e-9, weighted=weighted, asynchronous=asynchronous, max_iter=300)
        assert answer["vertex"].tolist() == sorted(wanted)
        np.testing.assert_allclose(answer["pagerank"], [wanted[v] for v in sorted(wanted)], atol=1e-8)
        assert answer["pagerank"].sum() == pytest.approx(1, abs=1e-7)


def test_directions_and_filters_of_sssp():
    frame = pd.DataFrame(
        {"src": [1, 2, 1], "dst": [2, 3, 3], "w": [1.5, 1.5, 9.0], "open": [True, False, True]}
    )
    graph = frame.trav.graph(directed=True, weight="w")

    def found(**options):
        return [row[1] for row in rows(graph.sssp(2, **options))]

    assert found() == [None, 0, 1.5]
    assert found(direction="in") == [1.5, 0, None]
    assert found(direction="both") == [1.5, 0, 1.5]
    assert found(direction="both", where="open") == [1.5, 0, 10.5]
    assert found(direction="both") == [1.5, 0, 1.5]
    held = to_pandas(graph.memory())["structure"].tolist()
    assert "weights of CSC" in held and "weights of CSR, symmetrised, where 'open'" in held
    assert frame.trav.sssp(2, directed=True, weight="w", reached_only=True)["vertex"].tolist() == [2, 3]


def test_chains_of_weights_that_do_not_show():
    """Zero weights and weights lost in rounding still give a tree, even where edges close cycles."""
    n = 300
    chain = pd.DataFrame({"src": range(n - 1), "dst": range(1, n), "w": 0.0})
    back = pd.DataFrame({"src": range(10, n), "dst": range(n - 10), "w": 0.0})
    lost = pd.DataFrame(
        {"src": [0, n, n + 1, n + 2], "dst": [n, n + 1, n + 2, n], "w": [1e20, 1.0, 1.0, 1.0]}
    )
    frame = shuffled(pd.concat([chain, back, lost], ignore_index=True), 3).assign(
        w=[*chain["w"], *back["w"], *lost["w"]]
    )
    for directed in (True, False):
        graph = frame.trav.graph(directed=directed, weight="w")
        source = int(frame["src"].iloc[0])
        for result in (graph.sssp(source), graph.sssp(source, direction="both")):
            assert result["distance"].notna().all()
        check_shortest_tree(graph, frame, graph.sssp(source), [source], "w", directed)


def test_predecessors_in_blocks_of_edges(monkeypatch):
    """Shortest path trees follow the same rules when edges are streamed."""
    from rapids_trav.algorithms import sssp

    monkeypatch.setattr(sssp, "BLOCK", 10)
    frame = gapped(60, 100).assign(w=np.arange(103) % 4)
    graph = frame.trav.graph(directed=True, weight="w", memory_limit=11_000)
    assert graph.storage.gather_view("out", weighted=True).pages is not None
    source = int(frame["src"].iloc[0])
    check_shortest_tree(graph, frame, graph.sssp(source), [source], "w", True)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("int8", "Int64"), ("uint32", "Int64"), ("int64", "Int64"), ("float32", "Float64"),
        ("Int16", "Int64"), ("Float64", "Float64"), ("int32[pyarrow]", "Int64"),
    ],
)  # fmt: skip
def test_types_of_weights(dtype, wanted):
    frame = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "w": pd.array([1, 2], dtype=dtype)})
    answer = frame.trav.sssp(1, weight="w")
    assert str(answer["distance"].dtype) == wanted
    assert answer["distance"].tolist() == [0, 1, 3]


def test_single_precision_weights_are_added_in_double():
    w = np.float32(0.1)
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "w": [w, w]})
    assert frame.trav.sssp(0, weight="w")["distance"].tolist() == [0, float(w), float(w) + float(w)]


def test_several_frames_of_weights_of_several_types():
    parts = [
        pd.DataFrame({"src": [1], "dst": [2], "w": np.array([2**40], "int64")}),
        pd.DataFrame({"src": [2], "dst": [3], "w": np.array([3], "int8")}),
        pd.DataFrame(
            {"src": [3], "dst": [4], "w": np.array([], "float32")[:0].sum() + np.ones(1, "float32")}
        ),
    ]
    assert Graph.from_edges(parts[:2], weight="w").sssp(1)["distance"].tolist() == [0, 2**40, 2**40 + 3]
    assert str(Graph.from_edges(parts, weight="w").sssp(1)["distance"].dtype) == "Float64"


@pytest.mark.parametrize("degree_sort", [False, True])
def test_ids_of_strings_and_of_several_columns(degree_sort):
    frame = pd.DataFrame({"src": ["d", "c", "z"], "dst": ["c", "b", "y"], "w": [1, 2, 3]})
    graph = frame.trav.graph(weight="w", degree_sort=degree_sort)
    assert rows(graph.components()) == [("b", "b"), ("c", "b"), ("d", "b"), ("y", "y"), ("z", "y")]
    assert rows(graph.sssp("b")) == [
        ("b", 0, None), ("c", 2, "b"), ("d", 3, "c"), ("y", None, None), ("z", None, None)
    ]  # fmt: skip
    pairs = pd.DataFrame({"a": [2, 1], "b": ["x", "x"], "c": [1, 1], "d": ["x", "w"], "w": [1.0, 2.0]})
    graph = pairs.trav.graph(["a", "b"], ["c", "d"], weight="w", degree_sort=degree_sort, vertices=[(0, "q")])
    assert list(graph.components().columns) == ["vertex_0", "vertex_1", "component_0", "component_1"]
    assert rows(graph.components()) == [
        (0, "q", 0, "q"),
        *((*v, 1, "w") for v in [(1, "w"), (1, "x"), (2, "x")]),
    ]
    assert rows(graph.sssp((2, "x")))[1] == (1, "w", 3.0, 1, "x")
    assert graph.pagerank().shape == (4, 3)


def test_graphs_without_edges_or_vertices():
    empty = pd.DataFrame(
        {"src": np.array([], "int64"), "dst": np.array([], "int64"), "w": np.array([], float)}
    )
    nothing = empty.trav.graph(weight="w")
    assert len(nothing.components()) == len(nothing.pagerank()) == 0
    lonely = empty.trav.graph(weight="w", vertices=[3, 1])
    assert rows(lonely.components()) == [(1, 1), (3, 3)]
    assert rows(lonely.pagerank()) == [(1, 0.5), (3, 0.5)]
    assert rows(lonely.sssp(3)) == [(1, None, None), (3, 0, None)]


def test_one_line_forms_and_traces():
    frame = gapped(50, 60)
    graph = frame.trav.graph(directed=True)
    pd.testing.assert_frame_equal(frame.trav.components(directed=True), graph.components())
    pd.testing.assert_frame_equal(frame.trav.pagerank(0.5, directed=True), graph.pagerank(0.5))
    traced = graph.pagerank(trace=True)
    residual = to_pandas(traced.trace)["residual"]
    assert (residual.iloc[:-1] >= 1e-5).all() and residual.iloc[-1] < 1e-5


CASES = {
    "no weights": (
        lambda graph: graph.sssp(1),
        "sssp needs weights, and the graph has none: name their column with graph(weight=...), or use bfs.",
    ),
    "weighted without weights": (
        lambda graph: graph.pagerank(weighted=True),
        "weighted=True needs weights, and the graph has none: name their column with graph(weight=...).",
    ),
    "alpha": (
        lambda graph: graph.pagerank(1.0),
        "alpha=1.0 is not the probability of following an edge: give a number between 0 and 1.",
    ),
    "alpha in words": (
        lambda graph: graph.pagerank("high"),
        "alpha='high' is not the probability of following an edge: give a number between 0 and 1.",
    ),
    "tol": (
        lambda graph: graph.pagerank(tol=0),
        "tol=0 is not the change below which to stop: give a number above 0.",
    ),
    "alpha of nothing": (
        lambda graph: graph.pagerank(0),
        "alpha=0 is not the probability of following an edge: give a number between 0 and 1.",
    ),
    "alpha in digits": (
        lambda graph: graph.pagerank("0.5"),
        "alpha='0.5' is not the probability of following an edge: give a number between 0 and 1.",
    ),
    "tol that is none": (
        lambda graph: graph.pagerank(tol=float("nan")),
        "tol=nan is not the change below which to stop: give a number above 0.",
    ),
    "max_iter": (
        lambda graph: graph.pagerank(max_iter=1.5),
        "max_iter=1.5 is not a number of iterations: give an integer of 1 or more.",
    ),
    "no iteration": (
        lambda graph: graph.pagerank(max_iter=0),
        "max_iter=0 allows no iteration: give at least 1.",
    ),
    "unknown filter": (
        lambda graph: graph.components(where="shut"),
        "Column 'shut' is not in the edges: choose one of 'src', 'dst'; after adding a column, build the "
        "graph again.",
    ),
    "flag": (
        lambda graph: graph.sssp(1, asynchronous="yes"),
        "asynchronous='yes' is neither True nor False: give one of them.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_questions(case):
    question, sentence = CASES[case]
    with pytest.raises(TravError) as caught:
        question(pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).trav.graph())
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--alpha", "0"], "is not the probability of following an edge: give a number between 0 and 1."),
        (["--alpha", "1"], "is not the probability of following an edge: give a number between 0 and 1."),
        (["--tol", "nan"], "is not the change below which to stop: give a number above 0."),
        (["--max-iter", "0"], "allows no iteration: give at least 1."),
    ],
)
def test_the_command_line_refuses_the_same_before_it_reads(option, sentence, capsys):
    assert command_line(["pagerank", "no such file.csv", *option]) == 2
    assert sentence in capsys.readouterr().err


def test_ranks_that_do_not_converge(tmp_path):
    graph = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).trav.graph(directed=True)
    saved = {"checkpoint": tmp_path / "ranks", "checkpoint_every": 1}
    for resume in (False, True):
        with pytest.raises(TravError, match="the ranks still change by"):
            graph.pagerank(max_iter=2, resume=resume, **saved)
    with pytest.raises(
        TravError, match=r"^pagerank has not converged in max_iter=2 iterations: the ranks still"
    ):
        graph.pagerank(max_iter=2)


@pytest.mark.parametrize(
    ("weights", "question", "sentence"),
    [
        (
            [1.0, -0.5],
            lambda graph: graph.sssp(1),
            "weight='w' holds -0.5, and shortest paths are for weights of 0 or more: leave out such edges "
            "with where=.",
        ),
        (
            [1, -5],
            lambda graph: graph.pagerank(),
            "weight='w' holds -5, and ranks are for weights of 0 or more: leave out such edges with where=.",
        ),
        (
            [2**62, 2**62],
            lambda graph: graph.sssp(1),
            "weight='w' holds 4611686018427387904, and all weights together are 9223372036854775808, which "
            "int64 does not hold: convert it, for example with astype('float64').",
        ),
        (
            np.array([1, 2**63], "uint64"),
            lambda graph: None,
            "weight='w' holds 9223372036854775808, which does not fit int64: convert it, for example with "
            "astype('float64').",
        ),
        (
            [1.0, np.nan],
            lambda graph: None,
            "weight='w' holds 1 null or NaN: fill it first, for example with fillna(0.0).",
        ),
    ],
)
def test_weights_that_cannot_be_used(weights, question, sentence):
    with pytest.raises(TravError) as caught:
        question(pd.DataFrame({"src": [1, 2], "dst": [2, 3], "w": weights}).trav.graph(weight="w"))
    assert str(caught.value) == sentence


def test_infinite_weights_lead_nowhere():
    frame = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "w": [1.0, np.inf]})
    assert frame.trav.sssp(1, weight="w")["distance"].isna().tolist() == [False, False, True]


@pytest.mark.filterwarnings("error")
def test_sums_past_every_float_are_refused_where_they_count():
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 4], "w": [1e308, 1e308, 1.0]})
    with pytest.raises(TravError) as caught:
        frame.trav.sssp(1, weight="w", directed=True)
    sentence = "weight='w' holds 1e+308, and the sum along a path overflows float64: scale the weights down."
    assert str(caught.value) == sentence
    assert frame.trav.sssp(2, weight="w", directed=True)["distance"].tolist()[1:] == [0, 1e308, 1e308]
    frame.loc[3] = [1, 3, 5.0]  # another path to 3, short enough
    found = frame.trav.sssp(1, weight="w", directed=True)
    assert found["distance"].tolist() == [0, 1e308, 5, 6]
    assert found["predecessor"].tolist()[1:] == [1, 1, 3]


def test_vertices_that_initial_does_not_name_are_not_active():
    """If they were active, arithmetic on the reducer's identity would overflow."""
    graph = pd.DataFrame({"src": [0, 1, 5], "dst": [1, 2, 6]}).trav.graph(directed=True)
    hops = Program("hops", "int64", "min", gather=lambda message: message + 1)
    most = np.iinfo(np.int64).max
    for initial in ({0: 0}, pd.DataFrame({"vertex": [0], "value": [0]})):
        assert graph.run(hops, initial=initial)["value"].tolist() == [0, 1, 2, most, most]
    assert graph.run(hops, initial={})["value"].tolist() == [most] * 5


def test_a_program_not_told_from_others_keeps_no_checkpoint(tmp_path):
    helper = numba.njit(lambda value: value + 1)
    graph = pd.DataFrame({"src": [0], "dst": [1]}).trav.graph()
    program = Program("p", "int64", "max", gather=lambda value: helper(value))
    with pytest.raises(TravError, match="can be recognised"):
        graph.run(program, initial=0, max_iterations=2, checkpoint=tmp_path)


def test_infinite_weights_have_no_ranks():
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "w": [np.inf, 1.0, 1.0]})
    with pytest.raises(TravError, match="'w' holds inf"):
        edges.trav.graph(weight="w").pagerank()
    ranks = edges.assign(w=1.0).trav.graph(weight="w").pagerank(dtype=np.float32)
    assert ranks["pagerank"].dtype == "float32"


RING = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 1]})


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [(1e308, "float64"), (1e-310, "float64"), (1e38, "float32"), (1e-40, "float32")],
)
def test_weights_that_no_rank_can_be_divided_by(largest, dtype):
    """Sums of these weights, or ranks divided by such sums, would overflow without an error."""
    graph = RING.assign(w=np.array([1.0, 1.0, 0.5, 1.0]) * largest).trav.graph(directed=True, weight="w")
    with pytest.raises(TravError, match=rf"^weight='w' adds up to between .*{dtype} cannot be divided"):
        graph.pagerank(dtype=dtype)
    assert graph.pagerank(weighted=False, dtype=dtype)["pagerank"].sum() == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-290, 1e-3, 1e290])
def test_ranks_depend_on_proportions_of_weights(scale):
    weights = np.array([1.0, 3.0, 0.0, 1.0])
    wanted, found = (
        RING.assign(w=weights * by)
        .trav.graph(directed=True, weight="w")
        .pagerank(tol=1e-12, max_iter=500)["pagerank"]
        for by in (1, scale)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_extremes_of_weights_are_those_of_the_filtered_edges():
    """They are also cached: later runs do not read all weights again."""
    frame = RING.assign(w=[1, 2, -3, 4], open=[True, True, False, True])
    graph = frame.trav.graph(directed=True, weight="w")
    for _ in range(2):
        assert graph.sssp(0, where="open")["distance"].tolist() == [0, 1, 3]
        with pytest.raises(TravError, match="holds -3"):
            graph.sssp(0)
    view = graph.storage.gather_view("out", None, True)
    view.weights[:] = 1
    with pytest.raises(TravError, match="holds -3"):
        graph.sssp(0)


def test_the_smallest_of_the_nearer_predecessors_is_taken():
    frame = pd.DataFrame({"src": [0, 0, 0, 3, 2, 1], "dst": [1, 2, 3, 4, 4, 4], "w": [1, 1, 1, 1, 1, 2]})
    for kind in ("int64", "float64"):
        answer = frame.astype({"w": kind}).trav.sssp(0, directed=True, weight="w")
        assert rows(answer[["predecessor"]]) == [(None,), (0,), (0,), (0,), (2,)]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 0.95])
def test_ranks_are_as_near_as_the_tolerance_promises(alpha, asynchronous):
    graph = rmat(9, 8).trav.graph(directed=True)
    exact = graph.pagerank(alpha, tol=1e-14, max_iter=2000)["pagerank"]
    for tol in (1e-1, 1e-3, 1e-5):
        found = graph.pagerank(alpha, tol=tol, max_iter=500, asynchronous=asynchronous)["pagerank"]
        assert np.abs(found - exact).sum() < tol * alpha / (1 - alpha)


def test_functions_of_a_program_have_no_defaults():
    with pytest.raises(TravError, match="defaults"):
        Program("p", "int64", "max", scatter=lambda value, k=3: value + k)


def test_ids_of_objects_are_not_saved(tmp_path):
    graph = pd.DataFrame({"src": [(1, 2), (0, 1)], "dst": [(0, 1), (3, 3)]}).trav.graph()
    with pytest.raises(TravError, match="cannot be saved"):
        graph.save(tmp_path / "tuples")
    assert not (tmp_path / "tuples").exists()


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, np.int64(2**53 + 1), 10**400])
def test_parameters_that_float64_does_not_hold(number):
    with pytest.raises(TravError, match=r"^parameters holds .*, which float64 cannot hold exactly: give"):
        parameter_numbers([number])


def test_parameters_that_float64_holds():
    assert parameter_numbers([2**53 + 2, np.int64(-3), 2**70, 0.1]) == (2**53 + 2, -3, 2**70, 0.1)


def test_no_sources_are_refused_and_not_taken_for_all_or_none():
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    with pytest.raises(TravError, match="sources is empty"):
        graph.run(Program("largest", "int64", "max"), initial=0, sources=[])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"parameters": np.ones((2, 2))},
            r"^parameters=array\(\[\[1., 1.\], \[1., 1.\]\]\) is not a sequence",
        ),
        ({"parameters": [10**400]}, "which float64 cannot hold exactly"),
        ({"parameters": {1: 2}}, r"^parameters=\{1: 2\} is not a sequence of numbers"),
        ({"parameters": ["1"]}, "is not a sequence of numbers"),
        ({"tuning": {"replication": np.ones(2)}}, r"^replication=array\(\[1., 1.\]\) is not known"),
        ({"tuning": {"replication": True}}, "^replication=True is not known"),
        ({"initial": [[1], [2, 3], 1]}, "^initial holds sequences of several lengths"),
        ({"initial": {1: [1, 2]}}, "^initial holds a sequence for a vertex"),
        ({"initial": np.ma.array([1, 2, -5], mask=[0, 0, 1])}, "^initial has masked values"),
    ],
)
def test_odd_forms_are_refused_in_a_sentence(given, sentence):
    graph = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).trav.graph(directed=True)
    with pytest.raises(TravError, match=sentence):
        graph.run(Program("least", "int64", "min"), **({"initial": 1} | given))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("mode", ["pull", "push"])
@pytest.mark.parametrize(
    "weights", [[10**15] + 9_999 * [1], [2**63 - 3, 1], [2**62 + 5], [2**62, 2**62 - 3, 1]], ids=len
)
def test_integer_weights_are_added_up_to_what_all_together_are(weights, mode, directed):
    n = len(weights)
    frame = pd.DataFrame({"src": range(n), "dst": range(1, n + 1), "w": weights})
    graph = frame.trav.graph(weight="w", directed=directed)
    answer = graph.sssp(0, mode=mode)
    assert answer["distance"].tolist() == [0, *itertools.accumulate(weights)]
    assert answer["predecessor"].tolist()[1:] == list(range(n))
