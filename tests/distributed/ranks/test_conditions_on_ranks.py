"""Conditions are evaluated on the ranks that hold the partitions, with the same answers as in one process."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rank_cases import joined, same, spread

from rapids_trav.distributed.ranks import service
from rapids_trav.errors import TravError

RNG = np.random.default_rng(6)
EDGES = pd.DataFrame(RNG.integers(0, 60, (150, 2)), columns=["src", "dst"])
EDGES["weight"] = RNG.integers(0, 9, 150).astype("float64")
EDGES["kind"] = RNG.choice(["road", "rail"], 150)
CONDITION = "weight > 3 or kind == 'rail'"


@pytest.mark.parametrize("directed", [False, True])
def test_answers_are_those_of_one_process(directed):
    graph = spread(EDGES, (2, 2), directed=directed)
    source = int(EDGES["src"].iloc[0])
    wanted = ((EDGES["weight"] > 3) | (EDGES["kind"] == "rail")).to_numpy()
    for where in (CONDITION, "weight <= 3", CONDITION):
        asked = {"where": where, "deterministic": True}
        same(graph.frame("bfs", source, **asked), graph.local.bfs(source, **asked))
    same(
        graph.frame("bfs", source, where=CONDITION, deterministic=True),
        graph.local.bfs(source, where=wanted, deterministic=True),
    )
    kept = graph.ask("khop", source, 2, where=CONDITION)
    found = joined([of.frames["vertices"] for of in kept])
    same(found, graph.local.khop(source, 2, where=CONDITION).vertices)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("weight > 3", r"^where='weight > 3' is null for 15 edges, because a column"),
        ("weight > ", r"at character 10, where a column or a value is expected"),
        ("kind > 3", "compares different kinds of values"),
        ("wieght > 3", "^Column 'wieght', in where='wieght > 3' at character 1, is not in the edges"),
        (EDGES["weight"] > 3, r"^where is a Series, and a graph on the workers .* takes no masks"),
    ],
)
def test_what_is_refused_is_refused_by_all_ranks_alike(where, message):
    edges = EDGES.assign(weight=EDGES["weight"].where(EDGES.index % 10 > 0))
    source = int(edges["src"].iloc[0])

    def refused(state):
        with pytest.raises(TravError, match=message):
            service.ask(state, "bfs", (source,), {"where": where})
        return service.ask(state, "levels", (source,), {})  # the ranks still answer

    assert len(spread(edges, (2, 2)).on_all(refused)) == 4


# ---- filters by several columns of one graph, used in turn and repeatedly


@pytest.mark.parametrize("directed", [False, True])
def test_each_answers_by_its_own_column(directed):
    rng = np.random.default_rng(6)
    edges = pd.DataFrame(rng.integers(0, 60, (150, 2)), columns=["src", "dst"])
    edges["open"], edges["paved"] = (rng.random(150) < share for share in (0.7, 0.4))
    graph = spread(edges, (2, 2), directed=directed)
    source = int(edges["src"].iloc[0])
    for where in ("open", "paved", None, "paved", "open"):
        asked = {"where": where, "deterministic": True}
        same(graph.frame("bfs", source, **asked), graph.local.bfs(source, **asked))
