"""Repeated targets of `paths`: each has one path, at the position of its first occurrence."""

import pandas as pd
import pytest
from click.testing import CliRunner

from rapids_trav.cli.commands import app

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
