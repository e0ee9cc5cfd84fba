"""Runs killed at any moment resume from their last checkpoint and give the same result."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from common import to_pandas
from killed_processes import counted, killed_at

from rapids_trav import TravError
from rapids_trav.programs.checkpoint import NAME, Writer
from rapids_trav.programs.definition import Program
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
