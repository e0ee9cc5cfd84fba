"""A finished run gives the same result however often it is resumed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Program, TravError
from rapids_trav.programs.checkpoint import load
from rapids_trav.programs.shipped import connected_components

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
