"""Runs killed at any moment resume from their last checkpoint and give the same result."""

from __future__ import annotations

import math
import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from common import to_pandas
from killed_processes import counted, killed_at

from rapids_trav import Program, TravError
from rapids_trav.programs import checkpoint, shipped
from rapids_trav.programs.checkpoint import NAME, Writer, load
from rapids_trav.programs.shipped import connected_components

KILLS = 10
MOMENT = 0.002  # seconds after a checkpoint begins to be written, at most, when a kill comes
HALVE = Program(
    "halve",
    "float64",
    "sum",
    scatter=lambda value, degree: value / degree,
    apply=lambda value, gathered, total, parameters: parameters[0] * gathered + 1e-9 * total,
    total=lambda value, degree: value,
)


def ring(n=3000):
    """Return the edges of a cycle with chords, on which labels travel far and need many iterations."""
    vertex = np.arange(n)
    chord = np.arange(0, n, 7)
    src, dst = np.concatenate([vertex, chord]), np.concatenate([(vertex + 1) % n, (chord + 3) % n])
    return pd.DataFrame({"src": src, "dst": dst})


def labels(graph, **options):
    """Run label propagation: hundreds of iterations, most of which change little."""
    initial = np.arange(graph.n_vertices)
    program = connected_components("int32")
    return graph.run(program, initial=initial, direction="both", max_iterations=150, **options)


def sums(graph, **options):
    """Run a program in which every iteration matters: it has float sums, a total and a parameter."""
    initial = np.random.default_rng(0).random(graph.n_vertices)
    return graph.run(HALVE, initial=initial, parameters=(0.999,), max_iterations=150, **options)


def resumed(question, graph, folder):
    return to_pandas(question(graph, checkpoint=folder, resume=True))


@pytest.mark.parametrize("question", [labels, sums])
@pytest.mark.parametrize("limit", [None, 250_000], ids=["in memory", "paged"])
def test_killed_and_resumed(tmp_path, question, limit):
    graph = ring().trav.graph(memory_limit=limit)
    assert (graph.budget is not None) == (limit is not None)
    wanted = to_pandas(question(graph))  # also compiles the program
    with counted(Writer, "write") as written:
        question(graph, checkpoint=tmp_path / "whole", checkpoint_every=1)
    moments = random.Random(1)
    killed = runs = 0
    for _ in range(10 * KILLS):
        folder = tmp_path / f"run {runs}"
        again = partial(question, graph, checkpoint=folder, checkpoint_every=1, resume=True)
        nth, moment = moments.randint(1, 1 + written[0] // 3), moments.uniform(0, MOMENT)
        if killed_at(nth, moment, Writer, "write", again):
            killed += 1
            if killed == KILLS:
                break
        else:  # the run ended before the kill: start a new one
            pd.testing.assert_frame_equal(resumed(question, graph, folder), wanted, check_exact=True)
            runs += 1
    assert killed == KILLS
    pd.testing.assert_frame_equal(resumed(question, graph, folder), wanted, check_exact=True)


def test_a_checkpoint_of_another_graph_or_program_is_refused(tmp_path):
    graph = ring().trav.graph()
    sums(graph, checkpoint=tmp_path, checkpoint_every=100)
    with pytest.raises(TravError, match="is of another program"):
        labels(graph, checkpoint=tmp_path, resume=True)
    other = ring()
    other.loc[0, "dst"] = 17
    with pytest.raises(TravError, match="is of another graph"):
        sums(other.trav.graph(), checkpoint=tmp_path, resume=True)
    content = bytearray((tmp_path / NAME).read_bytes())
    content[len(content) // 2] ^= 8
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(TravError, match="is damaged"):
        sums(graph, checkpoint=tmp_path, resume=True)


def test_a_checkpoint_goes_on_in_other_storage(tmp_path):
    """A run resumes whether its graph is in memory, paged, or opened from a folder."""
    graph = ring().trav.graph()
    wanted = to_pandas(sums(graph))
    initial = np.random.default_rng(0).random(graph.n_vertices)
    options = {"initial": initial, "parameters": (0.999,), "checkpoint": tmp_path / "run"}
    graph.run(HALVE, max_iterations=60, checkpoint_every=50, **options)
    paged = ring().trav.graph(memory_limit=250_000)
    paged.run(HALVE, max_iterations=120, checkpoint_every=50, resume=True, **options)
    paged.save(tmp_path / "graph")
    opened = type(graph).open(tmp_path / "graph", engine="cpu")
    found = opened.run(HALVE, max_iterations=150, resume=True, **options)
    pd.testing.assert_frame_equal(to_pandas(found), wanted, check_exact=True)


def test_a_checkpoint_past_the_limit_is_refused(tmp_path):
    graph = ring().trav.graph()
    initial = np.arange(graph.n_vertices)
    options = {"initial": initial, "checkpoint": tmp_path, "checkpoint_every": 1}
    program = connected_components("int32")
    done = graph.run(program, max_iterations=8, **options)
    same = graph.run(program, max_iterations=8, resume=True, **options)
    pd.testing.assert_frame_equal(to_pandas(same), to_pandas(done))
    with pytest.raises(TravError, match=r"is of iteration 8, past the limit of 5 iterations: give a larger"):
        graph.run(program, max_iterations=5, resume=True, **options)


# ---- a checkpoint is valid for its sources and weights only, and is written as often as requested


N = 60
EDGES = pd.DataFrame({"src": np.arange(N - 1), "dst": np.arange(1, N), "w": np.ones(N - 1, int)})
HOPS = Program("hops", "int64", "min", gather=lambda message, weight: message + weight)


def test_other_sources_or_weights_are_refused(tmp_path):
    initial = np.full(N, np.iinfo(np.int64).max)
    initial[:2] = 0
    options = {"initial": initial, "weighted": True, "checkpoint": tmp_path, "max_iterations": 5}
    EDGES.trav.graph(weight="w").run(HOPS, sources=[0, 1], checkpoint_every=1, **options)
    with pytest.raises(TravError, match="is of another choice of sources"):
        EDGES.trav.graph(weight="w").run(HOPS, sources=[0, 1, 2], resume=True, **options)
    heavier = EDGES.assign(w=[*EDGES["w"][:-1], 2])
    with pytest.raises(TravError, match="is of another choice of weights"):
        heavier.trav.graph(weight="w").run(HOPS, sources=[0, 1], resume=True, **options)


@pytest.mark.parametrize(("every", "written"), [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (8, [7])])
def test_checkpoints_come_every_few_iterations_and_at_the_end(tmp_path, monkeypatch, every, written):
    seen = []
    monkeypatch.setattr(checkpoint.Writer, "write", lambda self, state: seen.append(state.iteration))
    graph = EDGES.trav.graph()
    options = {"checkpoint": tmp_path, "checkpoint_every": every, "max_iterations": 7}
    graph.run(shipped.breadth_first(), initial={0: 0}, **options)
    assert seen == written


# ---- resuming with other settings: the error names what differs; harmless differences are accepted


FILTERED = pd.DataFrame({"src": range(29), "dst": range(1, 30), "w": 1.0, "open": [True] * 28 + [False]})


@pytest.fixture
def directed():
    return FILTERED.trav.graph(weight="w", directed=True)


@pytest.mark.parametrize(
    ("ask", "difference"),
    [
        (lambda graph, **options: graph.pagerank(**options), "program"),
        (
            lambda graph, **options: graph.sssp(0, where="open", **options),
            "choice of where .None; this is 'open'.",
        ),
        (
            lambda graph, **options: graph.sssp(0, direction="in", **options),
            "choice of direction .'out'; this is 'in'.",
        ),
        (lambda graph, **options: graph.sssp(1, **options), "choice of initial values"),
    ],
    ids=["another question", "a filter", "a direction", "another source"],
)
def test_what_differs_is_named(directed, tmp_path, ask, difference):
    directed.sssp(0, checkpoint=tmp_path)
    with pytest.raises(TravError, match=f"is of another {difference}"):
        ask(directed, checkpoint=tmp_path, resume=True)


def test_another_graph_is_named_where_the_question_is_the_same(directed, tmp_path):
    directed.sssp(0, checkpoint=tmp_path)
    other = FILTERED.assign(dst=0).trav.graph(weight="w", directed=True)
    with pytest.raises(TravError, match="is of another graph"):
        other.sssp(0, checkpoint=tmp_path, resume=True)


def test_directions_of_an_undirected_graph_are_the_same(tmp_path):
    graph = FILTERED.trav.graph(weight="w")
    answer = graph.sssp(0, direction="out", checkpoint=tmp_path, predecessors=False)
    again = graph.sssp(0, direction="in", checkpoint=tmp_path, resume=True, predecessors=False)
    pd.testing.assert_frame_equal(answer, again)


def test_a_smaller_tolerance_goes_on_to_better_ranks(directed, tmp_path):
    rough = directed.pagerank(tol=0.5, checkpoint=tmp_path)["pagerank"]
    fine = directed.pagerank(tol=1e-9, checkpoint=tmp_path, resume=True)["pagerank"]
    expected = directed.pagerank(tol=1e-9)["pagerank"]
    assert np.abs(fine - expected).sum() < 1e-8 < np.abs(rough - expected).sum()


def test_another_mode_goes_on_to_the_same_distances(directed, tmp_path):
    program, start = shipped.breadth_first(), {"initial": {0: 0}, "checkpoint": tmp_path}
    directed.run(program, mode="push", max_iterations=5, **start)
    again = directed.run(program, mode="pull", resume=True, **start)
    assert again["value"].tolist() == list(range(30))


# ---- a finished run gives the same result however often it is resumed


AVERAGE = Program(
    "average",
    "float64",
    "sum",
    scatter=lambda value, degree: value / degree if degree > 0 else 0.0,
    apply=lambda value, gathered: 0.15 + 0.85 * gathered,
    tolerance=1e-6,
    asynchronous=True,
)
LARGEST = Program("largest", "int64", "max")


def graph(limit=None):
    random = np.random.default_rng(0)
    edges = pd.DataFrame(random.integers(0, 300, (1200, 2)), columns=["src", "dst"])
    edges["weight"] = random.integers(1, 9, len(edges))
    return edges.trav.graph(directed=True, weight="weight", degree_sort=True, memory_limit=limit)


def ranks(graph, **options):
    return graph.pagerank(tol=1e-7, **options)


def average(graph, **options):
    return graph.run(AVERAGE, initial=1.0, **options)


def cut_average(graph, **options):
    return graph.run(AVERAGE, initial=1.0, max_iterations=7, **options)


def cut_largest(graph, **options):
    return graph.run(LARGEST, initial=range(graph.n_vertices), max_iterations=3, **options)


def distances(graph, **options):
    return graph.sssp(graph.bfs(0)["vertex"][0], **options)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("every", [1, 2, 3, 10])
@pytest.mark.parametrize("question", [ranks, average, cut_average, cut_largest, distances])
def test_the_answer_stays(tmp_path, question, every, asynchronous):
    of = graph()
    options = {"checkpoint": tmp_path, "checkpoint_every": every, "asynchronous": asynchronous}
    answer = question(of, **options)
    kept = (tmp_path / "checkpoint.trav").read_bytes()
    for _ in range(3):
        again = question(of, resume=True, **options)
        pd.testing.assert_frame_equal(again, answer, check_exact=True)
    assert (tmp_path / "checkpoint.trav").read_bytes() == kept


@pytest.mark.parametrize("limit", [None, 120_000], ids=["in memory", "paged"])
@pytest.mark.parametrize("question", [ranks, average, cut_average, distances])
def test_the_answer_stays_after_pages(tmp_path, question, limit):
    of = graph(limit)
    options = {"checkpoint": tmp_path, "checkpoint_every": "page", "asynchronous": True}
    answer = question(of, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.trav"]
    kept = (tmp_path / "checkpoint.trav").read_bytes()
    for every in ("page", 3):
        again = question(of, resume=True, **options | {"checkpoint_every": every})
        pd.testing.assert_frame_equal(again, answer, check_exact=True)
    assert (tmp_path / "checkpoint.trav").read_bytes() == kept


def test_a_run_that_was_cut_goes_on_if_it_may(tmp_path):
    of = graph()
    whole = average(of)
    cut_average(of, checkpoint=tmp_path)
    pd.testing.assert_frame_equal(average(of, checkpoint=tmp_path, resume=True), whole, check_exact=True)


def test_a_smaller_tolerance_goes_on_and_a_larger_one_does_not(tmp_path):
    of = graph()
    of.pagerank(tol=1e-4, checkpoint=tmp_path)
    rough = load(tmp_path, {})
    of.pagerank(tol=1e-3, checkpoint=tmp_path, resume=True)
    assert load(tmp_path, {}).iteration == rough.iteration and rough.residual < 1e-4
    found = of.pagerank(tol=1e-9, checkpoint=tmp_path, resume=True)
    assert load(tmp_path, {}).iteration > rough.iteration
    pd.testing.assert_frame_equal(found, of.pagerank(tol=1e-9), check_exact=True)


def test_ranks_that_did_not_converge_say_so_again(tmp_path):
    of = graph()
    options = {"tol": 1e-12, "max_iter": 5, "checkpoint": tmp_path, "checkpoint_every": 2}
    sentences = []
    for resume in (False, True, True):
        with pytest.raises(TravError, match="not converged in max_iter=5 iterations: the ranks still change"):
            of.pagerank(resume=resume, **options)
        try:
            of.pagerank(resume=resume, **options)
        except TravError as error:
            sentences.append(str(error))
    assert len(set(sentences)) == 1


def test_without_a_tolerance_there_is_no_residual(tmp_path):
    of = graph()
    of.run(connected_components("int64"), initial=range(of.n_vertices), direction="both", checkpoint=tmp_path)
    assert math.isnan(load(tmp_path, {}).residual)


def test_a_finished_run_has_an_empty_trace(tmp_path):
    of = graph()
    ranks(of, checkpoint=tmp_path)
    result, trace = ranks(of, checkpoint=tmp_path, resume=True, trace=True)
    assert len(trace) == 0 and len(result) == of.n_vertices
