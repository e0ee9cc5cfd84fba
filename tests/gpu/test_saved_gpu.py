"""Saved graphs and checkpoints on the GPU: invalid files never reach a kernel, and ended runs stay ended."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "ci"))
from hostile.contents import npy
from hostile.saved import bases

from .program_cases import labelled

pytestmark = pytest.mark.gpu
pytest.importorskip("cudf", reason="cuDF is not installed")


@pytest.fixture(scope="module")
def saved(cupy):
    return {base.name: base for base in bases()}


@pytest.mark.parametrize("name", ["plain", "sorted", "columns"])
def test_untouched_folders_answer_as_on_the_cpu(saved, tmp_path, name):
    folder = saved[name].write(tmp_path / "graph")
    ours, theirs = (Graph.open(folder, engine=engine) for engine in ("cuda", "cpu"))
    pd.testing.assert_frame_equal(
        ours.components().to_pandas().astype(object), theirs.components().astype(object)
    )


@pytest.mark.parametrize("values", ["repeated", "past the end", "negative", "too short"])
@pytest.mark.parametrize("verify", [None, False])
def test_an_order_that_is_not_a_permutation_is_refused(saved, tmp_path, values, verify):
    base = saved["sorted"]
    order = np.load(io.BytesIO(base.files["order.npy"]))
    if values == "too short":
        order = order[:-1]
    else:
        order[3] = {"repeated": order[4], "past the end": len(order), "negative": -1}[values]
    folder = base.with_file("order.npy", npy(order)).write(tmp_path / "graph")
    with pytest.raises(TravError, match=r"order\.npy holds places to none|order\.npy does not hold each"):
        Graph.open(folder, engine="cuda", verify=verify)


def test_edges_that_lead_nowhere_are_refused(saved, tmp_path):
    base = saved["plain"]
    columns = np.load(io.BytesIO(base.files["column_indices.npy"]))
    columns[5] = 2**30
    folder = base.with_file("column_indices.npy", npy(columns)).write(tmp_path / "graph")
    with pytest.raises(TravError, match="holds edges to none of the 40 vertices"):
        Graph.open(folder, engine="cuda", verify=False)


def graph(engine, limit):
    random = np.random.default_rng(0)
    edges = pd.DataFrame(random.integers(0, 3000, (300_000, 2)), columns=["src", "dst"])
    edges["weight"] = random.integers(1, 9, len(edges))
    return edges.trav.graph(weight="weight", engine=engine, memory_limit=limit)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("every", [1, 3, 10])
@pytest.mark.parametrize(
    ("limit", "processor"), [(None, "auto"), ("6MB", "gpu"), ("6MB", "hybrid"), (None, "cpu")]
)
@pytest.mark.parametrize("question", ["pagerank", "run", "sssp"])
def test_a_run_that_has_ended_stays(engine, tmp_path, question, limit, processor, every, asynchronous):
    of = graph(engine, limit)
    options = {"processor": processor, "checkpoint": tmp_path, "checkpoint_every": every}
    options["asynchronous"] = asynchronous

    def ask(**more):
        if question == "run":
            return labelled(of, **options, **more)
        if question == "sssp":
            return of.sssp(0, predecessors=False, **options, **more)
        return of.pagerank(**options, **more)

    answer = ask()
    kept = (tmp_path / "checkpoint.trav").read_bytes()
    for _ in range(2):
        again = ask(resume=True)
        pd.testing.assert_frame_equal(again, answer, check_exact=True)
    assert (tmp_path / "checkpoint.trav").read_bytes() == kept
