"""`Graph.run`: user-defined programs in each mode, synchronous and asynchronous, against plain Python."""

from __future__ import annotations

from decimal import Decimal
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas
from gas_reference import history

import rapids_trav
from rapids_trav import Program, Traced, TravError, UnknownVertexError
from rapids_trav.engines.cpu.programs import push
from rapids_trav.programs import shipped

WIDEST = Program("widest", "float64", "max", gather=lambda message, weight: min(message, weight))
COUNT = Program(
    "count",
    "int64",
    "sum",
    scatter=lambda value: value % 7,
    gather=lambda message, weight: 2 * message + weight,
    apply=lambda value, gathered, total, parameters: (value + gathered + int(total)) % int(parameters[0]),
    total=lambda value, degree: value * degree,
)
WALKS = Program("walks", "int64", "sum")  # counts the walks of each length
DAMPED = Program(
    "damped",
    "float32",
    "min",
    scatter=lambda value, degree: value + degree,
    apply=lambda value, gathered: 0.5 * value + 0.5 * min(value, gathered),
    active=lambda value, new: value - new > 0.01,
)


def random_edges(seed=0, n=40, m=120, weights=True):
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m))
    return pd.DataFrame({"src": src, "dst": dst, "cost": rng.integers(1, 9, m) if weights else 1})


def triples(frame, directed, weighted):
    """Return the edges for the reference: both directions if undirected, but each self-loop once."""
    found = []
    for u, v, w in zip(frame["src"], frame["dst"], frame["cost"], strict=True):
        weight = int(w) if weighted else 1
        found.append((u, v, weight))
        if not directed and u != v:
            found.append((v, u, weight))
    return found


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("program", "weighted", "parameters", "first"),
    [
        (shipped.breadth_first(), False, (), lambda n: np.where(np.arange(n) == 3, 0, 2**31 - 1)),
        (shipped.connected_components(), False, (), lambda n: np.arange(n)),
        (shipped.shortest_paths("int64"), True, (), lambda n: np.where(np.arange(n) == 3, 0, 2**63 - 1)),
        (WIDEST, True, (), lambda n: np.where(np.arange(n) == 3, np.inf, -np.inf)),
        (COUNT, True, (1009,), lambda n: np.arange(n)),
        (WALKS, False, (), lambda n: np.arange(n)),
        (DAMPED, False, (), lambda n: np.arange(n)),
    ],
    ids=["breadth_first", "components", "shortest_paths", "widest", "count", "walks", "damped"],
)
def test_synchronous_runs_are_jacobis_step_by_step(program, weighted, parameters, first, directed):
    frame = random_edges()
    n = 40
    graph = frame.trav.graph(directed=directed, weight="cost", vertices=range(n))
    steps = history(program, triples(frame, directed, weighted), first(n), parameters, most=8)
    options = {"initial": first(n), "weighted": weighted, "parameters": parameters}
    # With an activity threshold, modes other than pull may skip inactive vertices.
    modes = ["pull"]
    if program is not DAMPED:
        modes += ["auto"] + ["notify"] * program.may_notify + ["push"] * program.may_push
    for mode in modes:
        for i, wanted in enumerate(steps):
            got = graph.run(program, max_iterations=i, mode=mode, **options)
            np.testing.assert_array_equal(got["value"].to_numpy(), wanted, err_msg=f"{mode}, iteration {i}")


@pytest.mark.parametrize("mode", ["auto", "pull", "notify"])
def test_walks_from_one_vertex_are_counted(mode):
    """The vertex itself, which is active and has no in-edge, no longer has a walk after the first step."""
    edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 3]})
    graph = edges.trav.graph(directed=True)
    for n_steps, wanted in enumerate([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0]]):
        got = graph.run(WALKS, initial={0: 1}, max_iterations=n_steps, mode=mode)
        assert got["value"].tolist() == wanted


@pytest.mark.parametrize("source", [3, [3, 17]])
def test_modes_and_orders_come_to_the_same_end(source):
    frame = random_edges(1, 60, 200).astype({"cost": float})
    graph = frame.trav.graph(directed=True, weight="cost", vertices=range(60))
    for program, best, rest in ((WIDEST, np.inf, -np.inf), (shipped.shortest_paths(), 0.0, np.inf)):
        initial = np.full(60, rest)
        initial[source] = best
        ends = [
            graph.run(
                program, initial=initial, sources=source, weighted=True, mode=mode, asynchronous=asynchronous
            )
            for mode in ("auto", "pull", "notify", "push")
            for asynchronous in (False, True)
        ]
        for end in ends[1:]:
            pd.testing.assert_frame_equal(end, ends[0])


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize(
    "program",
    [
        Program("least", "int64", "min", scatter=lambda value, degree: value + degree),
        pytest.param(
            Program("most", "float64", "max", scatter=lambda value, degree: value - 0.1 * degree),
            marks=pytest.mark.release,
        ),
    ],
    ids=lambda program: program.name,
)
def test_pulls_gather_what_asynchronous_pushes_have_changed(program, paged, monkeypatch):
    """Messages differ from values, and a push in order of value does not store them."""
    frame = pd.DataFrame(
        (300 * np.random.default_rng(28).random((1800, 2)) ** 4).astype(int), columns=["src", "dst"]
    )
    first = int(frame["src"][0])
    wanted = frame.trav.graph(directed=True).run(program, initial={first: 0}, mode="pull", asynchronous=False)
    took_turns = cycle([True, False])
    monkeypatch.setattr(push, "pays", lambda work: work.may_push and next(took_turns))
    graph = frame.trav.graph(directed=True, memory_limit=39_600 if paged else None)
    got, trace = graph.run(program, initial={first: 0}, asynchronous=True, trace=True)
    assert trace["mode"].tolist()[:2] in (["push", "pull"], ["push", "notify"])
    pd.testing.assert_frame_equal(got, wanted)


@pytest.mark.parametrize("wide", [1, 1 << 15])
def test_asynchronous_pushes_on_one_thread_and_on_several(monkeypatch, wide):
    """If `wide` is 1, threads share every pass and update values by compare-and-swap."""
    monkeypatch.setattr(push, "WIDE", wide)
    frame = random_edges(2, 3000, 30000)
    graph = frame.trav.graph(weight="cost", vertices=range(3000))
    for weighted, program in ((True, shipped.shortest_paths("int64")), (False, shipped.breadth_first())):
        initial = np.full(3000, program.identity)
        initial[7] = 0
        options = {"initial": initial, "sources": 7, "weighted": weighted}
        wanted = graph.run(program, mode="pull", **options)
        for _ in range(5):
            got = graph.run(program, mode="push", asynchronous=True, **options)
            pd.testing.assert_frame_equal(got, wanted)


def test_asynchronous_runs_need_no_more_iterations():
    frame = random_edges(3, 500, 900)
    graph = frame.trav.graph(weight="cost")
    for mode in ("auto", "pull", "notify"):
        iterations = [
            len(
                graph.run(
                    shipped.connected_components(),
                    initial=range(graph.n_vertices),
                    asynchronous=asynchronous,
                    mode=mode,
                    trace=True,
                ).trace
            )
            for asynchronous in (False, True)
        ]
        assert iterations[1] <= iterations[0], mode


def test_result_and_trace():
    graph = pd.DataFrame({"src": ["a", "b", "x"], "dst": ["b", "c", "y"]}).trav.graph(directed=True)
    answer = graph.run(shipped.breadth_first(), initial={"a": 0}, sources="a", trace=True)
    assert isinstance(answer, Traced)
    assert rows(answer.result) == [("a", 0), ("b", 1), ("c", 2), ("x", 2**31 - 1), ("y", 2**31 - 1)]
    trace = to_pandas(answer.trace)
    assert list(trace.columns) == [
        "iteration", "mode", "active", "edges", "pages", "bytes", "milliseconds", "overlap", "residual"
    ]  # fmt: skip
    assert trace["iteration"].tolist() == [1, 2, 3]
    assert trace["active"].tolist() == [1, 1, 1]
    assert trace["residual"].isna().all()
    pulled = graph.run(shipped.breadth_first(), initial={"a": 0}, mode="pull", trace=True).trace
    assert to_pandas(pulled)["edges"].tolist() == [3, 3, 3]


def test_directions_and_filters():
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 4], "open": [True, True, False]})
    graph = frame.trav.graph(directed=True)

    def reached(**options):
        answer = graph.run(shipped.breadth_first(), initial={2: 0}, **options)
        return dict(row for row in rows(answer) if row[1] < 9)

    assert reached() == {2: 0, 3: 1, 4: 2}
    assert reached(direction="in") == {2: 0, 1: 1}
    assert reached(direction="both") == {2: 0, 1: 1, 3: 1, 4: 2}
    assert reached(where="open") == {2: 0, 3: 1}
    assert reached(max_iterations=1) == {2: 0, 3: 1}
    assert reached(max_iterations=0) == {2: 0}


@pytest.mark.parametrize(
    "initial",
    [
        [0, 5, 6],
        np.array([0, 5, 6], "uint8"),
        pd.Series([0.0, 5.0, 6.0]),
        {"c": 6, "b": 5, "a": 0},
        pd.DataFrame({"value": [6, 0, 5], "vertex": ["c", "a", "b"]}),
    ],
)
def test_forms_of_initial_values(initial):
    graph = pd.DataFrame({"src": ["a"], "dst": ["b"]}).trav.graph(directed=True, vertices=["c"])
    answer = graph.run(shipped.connected_components(), initial=initial, max_iterations=0)
    assert rows(answer) == [("a", 0), ("b", 5), ("c", 6)]
    one = graph.run(shipped.connected_components(), initial=7, max_iterations=0)
    assert one["value"].tolist() == [7, 7, 7]
    some = graph.run(shipped.shortest_paths(), initial={"b": 1}, max_iterations=0)
    assert some["value"].tolist() == [np.inf, 1, np.inf]


def test_series_are_aligned_by_their_ids():
    graph = pd.DataFrame({"src": ["a"], "dst": ["b"]}).trav.graph(directed=True, vertices=["c"])
    most = 2**31 - 1

    def started(initial, graph=graph):
        return graph.run(LABELS, initial=initial, max_iterations=0)["value"].tolist()

    assert started(pd.Series([6, 0, 5], index=["c", "a", "b"])) == [0, 5, 6]
    assert started(pd.Series([6], index=["b"])) == [most, 6, most]
    numbered = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    values = pd.Series([7, 5, 6])
    assert started(values, numbered) == [7, 5, 6]
    assert started(values.sort_values(), numbered) == [7, 5, 6]
    assert started(values[values < 7], numbered) == [most, 5, 6]
    pairs = pd.DataFrame({"a": ["x", "x"], "b": [1, 2], "c": ["x", "y"], "d": [2, 1]})
    by_pair = pd.Series([4], index=pd.MultiIndex.from_tuples([("x", 2)]))
    assert started(by_pair, pairs.trav.graph(["a", "b"], ["c", "d"])) == [most, 4, most]


def test_the_vertices_that_a_series_names_are_active():
    graph = pd.DataFrame({"src": [5, 6], "dst": [6, 7]}).trav.graph(directed=True)
    answer, trace = graph.run(shipped.breadth_first(), initial=pd.Series([0], index=[6]), trace=True)
    assert rows(answer) == [(5, 2**31 - 1), (6, 0), (7, 1)]
    assert trace["active"].tolist()[0] == 1


def test_initial_values_of_ids_of_several_columns():
    frame = pd.DataFrame({"a": ["x", "x"], "b": [1, 2], "c": ["x", "y"], "d": [2, 1]})
    graph = frame.trav.graph(["a", "b"], ["c", "d"], directed=True)
    wanted = [("x", 1, 0), ("x", 2, 1), ("y", 1, 2)]
    assert rows(graph.run(shipped.breadth_first(), initial={("x", 1): 0})) == wanted
    by_frame = pd.DataFrame({"vertex_0": ["x"], "vertex_1": [1], "value": [0]})
    assert rows(graph.run(shipped.breadth_first(), initial=by_frame)) == wanted


@pytest.mark.parametrize("degree_sort", [True, False])
def test_values_stay_with_their_vertices_in_any_internal_order(degree_sort):
    frame = pd.DataFrame({"src": [5, 5, 5, 1], "dst": [6, 7, 8, 2]})
    graph = frame.trav.graph(degree_sort=degree_sort)
    answer = graph.run(shipped.connected_components(), initial=[10, 20, 30, 5, 1, 2])
    assert rows(answer) == [(1, 10), (2, 10), (5, 1), (6, 1), (7, 1), (8, 1)]


def test_a_graph_without_edges_or_vertices():
    empty = pd.DataFrame({"src": np.array([], "int64"), "dst": np.array([], "int64")})
    for vertices in (None, [4, 2]):
        graph = empty.trav.graph(vertices=vertices)
        for mode in ("auto", "pull", "notify", "push"):
            answer = graph.run(shipped.connected_components(), initial=3, mode=mode)
            assert answer["value"].tolist() == [3] * graph.n_vertices
    counted = graph.run(COUNT, initial=1, parameters=[10], max_iterations=2)
    assert counted["value"].tolist() == [1, 1]


def test_the_callers_values_stay_as_they_are():
    graph = random_edges().trav.graph()
    initial = np.arange(graph.n_vertices, dtype="int32")
    for asynchronous in (False, True):
        graph.run(shipped.connected_components(), initial=initial, asynchronous=asynchronous)
        assert (initial == np.arange(graph.n_vertices)).all()


def test_one_line_form():
    frame = random_edges(4, 20, 40)
    graph = frame.trav.graph(directed=True)
    pd.testing.assert_frame_equal(
        frame.trav.run(shipped.connected_components(), directed=True, initial=range(graph.n_vertices)),
        graph.run(shipped.connected_components(), initial=range(graph.n_vertices)),
    )


MODES = ("auto", "pull", "notify", "push")


# Each case compiles a program for every mode, so few run always.  Infinity stays what it is whatever is
# added, so floats say less than integers, which wrap around.
@pytest.mark.parametrize(
    ("dtype", "reducer", "function"),
    [
        ("int32", "min", "scatter"),
        ("int64", "max", "gather"),
        pytest.param("int32", "max", "gather", marks=pytest.mark.release),
        pytest.param("int64", "min", "scatter", marks=pytest.mark.release),
        *(
            pytest.param(dtype, reducer, function, marks=pytest.mark.release)
            for dtype in ("float32", "float64")
            for reducer, function in (("min", "gather"), ("max", "scatter"))
        ),
    ],
)
def test_an_identity_says_nothing(dtype, reducer, function):
    """Arithmetic on the identity could wrap around in integers, or send messages of unreached vertices."""
    step = 1 if reducer == "min" else -1
    program = Program("hops", dtype, reducer, **{function: lambda value: value + step})
    frame = pd.DataFrame({"src": [0, 0, 1, 3, 3, 5], "dst": [1, 2, 3, 4, 3, 4]})
    graph = frame.trav.graph(directed=True)
    wanted = np.array([0, step, step, 2 * step, 3 * step, program.identity], dtype)
    for mode in MODES:
        for asynchronous in (False, True):
            got = graph.run(program, initial={0: 0}, mode=mode, asynchronous=asynchronous)
            np.testing.assert_array_equal(got["value"].to_numpy(), wanted, err_msg=f"{mode}, {asynchronous}")


@pytest.mark.release  # integers that wrap around show it above
@pytest.mark.parametrize("function", ["scatter", "gather"])
def test_functions_are_not_called_with_an_identity(function):
    program = Program("three", "int64", "min", **{function: lambda value: 3})
    graph = pd.DataFrame({"src": [0, 1, 4], "dst": [1, 2, 5]}).trav.graph(directed=True)
    nothing = program.identity
    for mode in MODES:
        got = graph.run(program, initial={0: 9}, mode=mode)["value"].tolist()
        assert got == [9, 3, 3, nothing, nothing], mode


def test_the_zero_of_a_sum_is_a_number():
    program = Program("more", "int64", "sum", scatter=lambda value: value + 1, gather=lambda value: value + 1)
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph(directed=True)
    for mode in ("pull", "notify"):
        assert graph.run(program, initial=0, max_iterations=1, mode=mode)["value"].tolist() == [0, 2, 2]


def test_sources_with_values_of_their_own_alone():
    graph = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}).trav.graph(directed=True)
    program = Program("least", "int64", "min")
    with pytest.raises(TravError, match="initial gives vertex 0 the value 0, but sources leaves it out"):
        graph.run(program, initial=[0, 5, 3, 9], sources=[2])
    nothing = program.identity
    for mode in MODES:
        got = graph.run(program, initial=[nothing, nothing, 3, nothing], sources=[2], mode=mode)
        assert got["value"].tolist() == [nothing, nothing, 3, 3]
    names = pd.DataFrame({"a": ["x"], "b": [1], "c": ["y"], "d": [2]}).trav.graph(["a", "b"], ["c", "d"])
    with pytest.raises(TravError, match=r"initial gives vertex \('x', 1\) the value 4"):
        names.run(program, initial=4, sources=[("y", 2)])


def test_dtypes_of_numpy():
    for dtype in (np.int64, np.dtype("int64"), "int64"):
        assert Program("p", dtype, "min").dtype == "int64"


def test_initial_values_past_int64_are_of_floats():
    graph = pd.DataFrame({"src": [0], "dst": [1]}).trav.graph(directed=True)
    answer = graph.run(shipped.shortest_paths(), initial=[2**70, 1], max_iterations=0)
    assert answer["value"].tolist() == [2.0**70, 1.0]
    integers = pd.Series([3, 1], dtype=object).tolist()
    assert graph.run(LABELS, initial=np.array(integers, object), max_iterations=0)["value"].tolist() == [3, 1]


def test_too_few_parameters_are_counted():
    program = Program("p", "float64", "sum", apply=lambda value, gathered, total, given: value + given[1])
    with pytest.raises(TravError) as caught:
        EDGES.trav.graph().run(program, initial=0, parameters=[2])
    assert str(caught.value) == (
        "apply of program 'p' reads parameters[1], but parameters has 1 number: give at least 2 with "
        "parameters=."
    )
    answer = EDGES.trav.graph().run(program, initial=0, parameters=[2, 3], max_iterations=2)
    assert answer["value"].tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("apply", "sentence"),
    [
        (lambda value, g, t, given: given[0] if value < 0 else given[THIRD], r"reads parameters\[2\], but "),
        (lambda value, g, t, given: given[-1], r"reads parameters\[-1\]: count them from the fr"),
    ],
)
def test_parameters_are_counted_for_every_engine(monkeypatch, apply, sentence):
    """The check comes before the engine runs, since some engines, as on a GPU, do not check themselves."""
    graph = EDGES.trav.graph()
    monkeypatch.setattr(type(graph.engine), "run", None)
    program = Program("p", "float64", "sum", apply=apply)
    with pytest.raises(TravError, match=sentence):
        graph.run(program, initial=0, parameters=[1, 2])


def test_computed_indices_are_checked_in_the_run():
    def apply(value, gathered, total, parameters):
        sums = 0.0
        for i in range(int(parameters[0])):
            sums += parameters[i]
        return sums

    program = Program("p", "float64", "sum", apply=apply)
    answer = EDGES.trav.graph().run(program, initial=0, parameters=[2, 3], max_iterations=1)
    assert answer["value"].tolist() == [5, 5, 5]
    with pytest.raises(TravError, match=r"^apply of program 'p' .* its parameters, of which there are 2 \("):
        EDGES.trav.graph().run(program, initial=0, parameters=[3, 3])


def test_the_shipped_programs_can_be_imported_by_their_name():
    import rapids_trav.programs as named

    assert named is rapids_trav.programs
    assert named.shortest_paths() is shipped.shortest_paths()


EDGES = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "open": [True, False]})
LABELS = shipped.connected_components()
MOST = 2**31 - 1
THIRD = 2
WRONG = {
    "a number for a program": (
        {"program": 3},
        "program is an int: give a rapids_trav.Program, or one of rapids_trav.programs.",
    ),
    "no program": (
        {"program": "bfs"},
        "program is a str: give a rapids_trav.Program, or one of rapids_trav.programs.",
    ),
    "too few values": (
        {"initial": [1, 2]},
        "initial holds 2 values, and the graph has 3 vertices: give one for each, in ascending order of the "
        "ids, or name the vertices in a dict or a frame.",
    ),
    "a column of values": (
        {"initial": np.zeros((3, 1))},
        "initial has 2 dimensions, 3 by 1: give a flat sequence of 3 values, one for each vertex in "
        "ascending order of the ids.",
    ),
    "a vertex named twice": (
        {"initial": pd.Series([1, 2, 3], index=[1, 2, 1])},
        "initial repeats vertices in 1 of its 3 rows: give each vertex one value, for example with "
        "groupby(...).min().",
    ),
    "a series of other ids": (
        {"initial": pd.Series([1, 2, 3], index=[1, 2, 9])},
        "initial contains 1 unknown vertex: 9: give ids that occur in the edges, or add them with "
        "graph(vertices=...).",
    ),
    "fractions for integers": (
        {"initial": [1, 2.5, 3]},
        "initial holds 2.5, which int32, the dtype of program 'connected_components', cannot hold: "
        "give values of that type, or change the program's dtype.",
    ),
    "too large for the dtype": (
        {"initial": 2**40},
        "initial holds 1099511627776, which int32, the dtype of program 'connected_components', cannot "
        "hold: give values of that type, or change the program's dtype.",
    ),
    "words": (
        {"initial": ["a", "b", "c"]},
        "initial holds 'a', but program 'connected_components' computes with int32: give numbers without "
        "nulls.",
    ),
    "nulls": (
        {"initial": [1, None, float("nan")]},
        "initial holds None, but program 'connected_components' computes with int32: give numbers without "
        "nulls.",
    ),
    "a word for all": (
        {"initial": "3"},
        "initial holds '3', but program 'connected_components' computes with int32: give numbers without "
        "nulls.",
    ),
    "a decimal": (
        {"initial": {1: Decimal(2)}},
        "initial holds Decimal('2'), but program 'connected_components' computes with int32: give numbers "
        "without nulls.",
    ),
    "too large for any dtype": (
        {"initial": [1, 2**70, 3]},
        "initial holds 1180591620717411303424, which int32, the dtype of program 'connected_components', "
        "cannot hold: give values of that type, or change the program's dtype.",
    ),
    "a value outside the sources": (
        {"initial": [MOST, 3, 2], "sources": 3},
        "initial gives vertex 2 the value 3, but sources leaves it out: leave out sources, or give values "
        "only to the sources.",
    ),
    "notify with a total": (
        {"program": COUNT, "mode": "notify", "parameters": [3]},
        "mode='notify' is not for program 'count', whose total may change the new value of every "
        "vertex: use mode='pull' or 'auto'.",
    ),
    "no parameters": (
        {"program": COUNT},
        "apply of program 'count' takes parameters, but parameters has 0 numbers: give them with "
        "parameters=, or remove the argument from apply.",
    ),
    "unknown replication": (
        {"tuning": {"replication": 3, "gather": "replicas"}},
        "replication=3 is not known: choose one of 'auto', 'formula', 1, 2, 4, 8, 16, 32.",
    ),
    "replication of rows": (
        {"tuning": {"replication": 4}},
        "replication=4 applies only to gather='replicas': leave it out, or give gather='replicas' as well.",
    ),
    "how often, but no checkpoint": (
        {"checkpoint_every": 3},
        "checkpoint_every=3 applies only with checkpoint=: name the folder for checkpoints, or leave it out.",
    ),
    "unknown vertex": (
        {"initial": {9: 1}},
        "initial contains 1 unknown vertex: 9: give ids that occur in the edges, or add them with "
        "graph(vertices=...).",
    ),
    "frame without values": (
        {"initial": pd.DataFrame({"vertex": [1]})},
        "initial has no column 'value': give vertex and value, as in an answer.",
    ),
    "unknown source": (
        {"sources": 9},
        "sources contains 1 unknown vertex: 9: give ids that occur in the edges, or add them with "
        "graph(vertices=...).",
    ),
    "weighted without weights": (
        {"weighted": True},
        "weighted=True needs weights, and the graph has none: name their column with graph(weight=...).",
    ),
    "unknown mode": (
        {"mode": "pul"}, "mode='pul' is not known: choose one of 'auto', 'pull', 'notify', 'push'."
    ),
    "push of sums": (
        {"program": COUNT, "mode": "push", "parameters": [3]},
        "mode='push' is not possible for program 'count', since pushing supports only min or max "
        "without apply, total and start, and needs memory for its lists: use mode='auto'.",
    ),
    "processor that is not there": (
        {"processor": "gpu"},
        "processor='gpu' needs a graph on the GPU: build it with engine='cuda', or use 'auto'.",
    ),
    "hybrid without a GPU": (
        {"processor": "hybrid"},
        "processor='hybrid' needs a graph on the GPU: build it with engine='cuda', or use 'auto'.",
    ),
    "asynchronous sums": (
        {"program": COUNT, "asynchronous": True, "parameters": [3]},
        "asynchronous=True is not for program 'count', whose sums depend on the order of the updates: "
        "leave it out, or define the program with asynchronous=True if every order leads to the same result.",
    ),
    "parameters": (
        {"parameters": 3},
        "parameters=3 is not a sequence of numbers: give the numbers that the program's apply reads.",
    ),
    "parameters in words": (
        {"parameters": "12"},
        "parameters='12' is not a sequence of numbers: give the numbers that the program's apply reads.",
    ),
    "parameters that would be rounded": (
        {"parameters": [1, 2**53 + 1]},
        "parameters holds 9007199254740993, which float64 cannot hold exactly: give another number, or "
        "round it with float().",
    ),
    "negative iterations": (
        {"max_iterations": -1},
        "max_iterations=-1 is not a number of iterations: give an integer of 0 or more (None has no limit).",
    ),
    "resume from nowhere": (
        {"resume": True}, "resume=True continues from a checkpoint: name its folder with checkpoint=."
    ),
    "never a checkpoint": (
        {"checkpoint": "x", "checkpoint_every": 0},
        "checkpoint_every=0 writes no checkpoint: give at least 1, or no checkpoint.",
    ),
    "checkpoints in words": (
        {"checkpoint": "x", "checkpoint_every": "3"},
        "checkpoint_every='3' is not a number of iterations: give an integer of 1 or more ('page' writes "
        "what each page changed).",
    ),
    "pages of a synchronous run": (
        {"checkpoint": "x", "checkpoint_every": "page"},
        "checkpoint_every='page' is for asynchronous runs, since what a page of another run changes counts "
        "only at the end of an iteration: give asynchronous=True, or a number of iterations.",
    ),
    "pages of a program whose order counts": (
        {
            "checkpoint": "x", "checkpoint_every": "page", "asynchronous": None,
            "program": COUNT, "parameters": [3],
        },
        "checkpoint_every='page' is for asynchronous runs, and program 'count' does not allow them: give a "
        "number of iterations.",
    ),
    "pages, but no checkpoint": (
        {"checkpoint_every": "page", "asynchronous": True},
        "checkpoint_every='page' applies only with checkpoint=: name the folder for checkpoints, or leave it "
        "out.",
    ),
    "unknown direction": (
        {"direction": "up"}, "direction='up' is not known: choose one of 'out', 'in', 'both'."
    ),
    "flag": ({"trace": 1}, "trace=1 is neither True nor False: give one of them."),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_runs(case):
    asked, sentence = WRONG[case]
    asked = {"program": LABELS, "initial": 0, **asked}
    with pytest.raises(TravError) as caught:
        EDGES.trav.graph().run(asked.pop("program"), **asked)
    assert str(caught.value) == sentence
    assert isinstance(caught.value, UnknownVertexError) == ("unknown vertex:" in sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"reducer": "mean"},
            "reducer='mean' of a program is not known: choose one of 'min', 'max', 'sum'.",
        ),
        ({"dtype": "int8"}, "dtype='int8' of a program is not known: choose one of 'int32', 'int64', "),
        ({"dtype": np.int8}, "of a program is not known: choose one of 'int32', 'int64', "),
        ({"dtype": None}, "dtype=None of a program is not known: choose one of 'int32', 'int64', "),
        ({"gather": 3}, "gather of program 'p' is an int: give a Python function"),
        (
            {"gather": lambda a, b, c: a},
            "gather of program 'p' takes 3 arguments: it may take message, weight, or fewer from the left.",
        ),
        ({"gather": lambda: 1}, "gather of program 'p' takes 0 arguments"),
        ({"apply": lambda *all: 1}, r"of program 'p' takes *arguments or keywords"),
        ({"gather": abs}, "gather of program 'p' is a builtin_function_or_method: give a Python function"),
        (
            {"tolerance": float("nan")},
            "tolerance=nan of program 'p' is not a number of 0 or more: give the sum of ",
        ),
        ({"tolerance": -1}, "tolerance=-1 of program 'p' is not a number of 0 or more"),
        ({"tolerance": "1e-5"}, "tolerance='1e-5' of program 'p' is not a number of 0 or more"),
        ({"asynchronous": "no"}, "asynchronous='no' of program 'p' is neither True nor False: give one of "),
    ],
)
def test_wrong_programs(options, sentence):
    with pytest.raises(TravError) as caught:
        Program(**{"name": "p", "dtype": "int32", "reducer": "min", **options})
    assert sentence in str(caught.value)


def test_a_function_that_cannot_be_compiled_is_named():
    program = Program("p", "int32", "min", gather=lambda message: message.number)
    with pytest.raises(TravError, match="gather of program 'p' cannot be compiled"):
        EDGES.trav.graph().run(program, initial=0)


FLOATS_OF_INTEGERS = (
    "gives float64, and the program's values are int32: make it an integer there, with int() or //, or give "
    "the program a dtype of floats."
)
NO_TRUTH = "which is neither true nor false: return a comparison."


@pytest.mark.parametrize("mode", ["pull", "push"])
@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ({"scatter": lambda value, degree: value / degree}, f"scatter of program 'p' {FLOATS_OF_INTEGERS}"),
        ({"gather": lambda message: 0.5 * message}, f"gather of program 'p' {FLOATS_OF_INTEGERS}"),
        ({"apply": lambda value: 1.5 if value > 3 else value}, f"apply of program 'p' {FLOATS_OF_INTEGERS}"),
        ({"active": lambda value, new: "no"}, f"active of program 'p' gives Literal[str](no), {NO_TRUTH}"),
        ({"active": lambda value, new: new / 2}, f"active of program 'p' gives float64, {NO_TRUTH}"),
        (
            {"gather": lambda message: "no"},
            "gather of program 'p' cannot be compiled (it gives Literal[str](no)): return a real number on "
            "every path.",
        ),
    ],
)
def test_what_functions_give_is_not_cut_to_the_dtype(function, sentence, mode):
    program = Program("p", "int32", "min", **function)
    with pytest.raises(TravError) as caught:
        EDGES.trav.graph().run(program, initial=8, mode=mode if program.may_push else "pull")
    assert str(caught.value) == sentence


def test_integers_and_truth_values_are_of_every_dtype():
    halves = Program("halves", "int32", "min", gather=lambda message: int(0.5 * message))
    assert EDGES.trav.graph().run(halves, initial=8, max_iterations=1)["value"].tolist() == [4, 4, 4]
    flags = Program("flags", "float32", "min", gather=lambda message: message > 5)
    assert EDGES.trav.graph().run(flags, initial=8, max_iterations=1)["value"].tolist() == [1, 1, 1]
