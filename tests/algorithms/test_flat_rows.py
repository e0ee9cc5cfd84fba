"""Rows of several searches as one array: rows that are spaced apart are moved together in place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from rapids_trav import generators
from rapids_trav.algorithms.results import _flat
from rapids_trav.cli.commands import app
from rapids_trav.engines.cpu.bfs import multi_source


@pytest.mark.parametrize("shape", [(1, 5), (2, 7), (5, 3), (64, 100)])
@pytest.mark.parametrize("spare", [1, 2, 9])
def test_spaced_rows_move_together_in_place(shape, spare):
    k, n = shape
    whole = np.full((k, n + spare), -9)
    rows = whole[:, :n]
    rows[:] = np.arange(k * n).reshape(shape)
    flat = _flat(rows)
    assert flat.tolist() == list(range(k * n))
    assert np.shares_memory(flat, whole)


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(12),
        np.arange(12).reshape(3, 4),
        np.arange(24).reshape(3, 8)[:, 2:6],
        np.arange(24).reshape(6, 4)[:3],
        np.arange(24).reshape(6, 4)[::2],
        np.arange(12).reshape(4, 3).T,
        np.empty((0, 4), int),
        np.empty((3, 4), int)[:, :0],
    ],
    ids=[
        "one row",
        "contiguous",
        "from the middle",
        "some rows",
        "every other row",
        "turned",
        "no rows",
        "empty rows",
    ],
)
def test_other_rows_stay_where_they_are(rows):
    before, wanted = rows.copy(), rows.reshape(-1).tolist()
    assert _flat(rows).tolist() == wanted
    np.testing.assert_array_equal(rows, before)


def test_searches_of_spaced_rows_have_their_own_answers():
    """2^13 vertices are a length at which rows of searches that run together are spaced apart."""
    n = 1 << 13
    edges = generators.rmat(13, seed=1)
    graph = edges.trav.graph(vertices=range(n))
    assert multi_source._spaced_rows(4, n, np.dtype(np.int32)).shape[1] > n
    sources = edges["src"].iloc[:20].drop_duplicates().tolist()
    found = graph.bfs(sources, mode="each").set_index("source")
    for source in sources:
        alone = graph.bfs(source)
        for column in ("vertex", "distance"):
            assert found.loc[source, column].tolist() == alone[column].tolist()


# ---- repeated targets of `paths`: each has one path, at the position of its first occurrence


EDGES = pd.DataFrame({"src": [0, 1, 2, 3, 7], "dst": [1, 2, 3, 4, 8]})


def test_a_repeated_target_has_one_path():
    answer = EDGES.trav.paths(0, [4, 2, 4, 8, 2, 8])
    assert answer["target"].tolist() == [4] * 5 + [2] * 3 + [8]
    assert answer["vertex"].astype(object).where(answer["vertex"].notna(), None).tolist() == [
        *range(5),
        *range(3),
        None,
    ]


def test_a_repeated_target_has_one_path_for_each_source():
    answer = EDGES.trav.paths([0, 3], [2, 2], mode="each")
    assert answer[["source", "vertex"]].values.tolist() == [[0, 0], [0, 1], [0, 2], [3, 3], [3, 2]]


@pytest.mark.parametrize("targets", [["3"], ["3", "3"], ["3", "3", "3"]])
def test_the_command_line_names_a_path_once(tmp_path, targets):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    words = [word for target in targets for word in ("-t", target)]
    told = CliRunner().invoke(app, ["paths", str(tmp_path / "edges.csv"), "-s", "1", *words])
    assert "3: 2 steps: 1 > 2 > 3\n" in told.output
