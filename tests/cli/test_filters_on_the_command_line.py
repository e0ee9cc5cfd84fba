"""Conditions of `--where`, and weights of `paths`, on the command line."""

from __future__ import annotations

import pandas as pd
import pytest

from rapids_trav.cli import run


@pytest.fixture
def roads(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("src,dst,km,kind\nOSL,BGO,100,road\nOSL,SVG,550,rail\nBGO,SVG,210,road\n")
    return str(path)


@pytest.mark.parametrize("command", ["bfs", "sssp"])
def test_conditions(roads, tmp_path, command):
    output = tmp_path / "found.csv"
    weight = ["--weight", "km"] if command == "sssp" else []
    words = [command, roads, "-s", "OSL", "--where", "km < 300 and kind == 'road'", *weight]
    assert run([*words, "-o", str(output)]) == 0
    found = pd.read_csv(output).set_index("vertex")["distance"].to_dict()
    assert found == (
        {"BGO": 1, "OSL": 0, "SVG": 2} if command == "bfs" else {"BGO": 100, "OSL": 0, "SVG": 310}
    )


def test_conditions_that_are_refused(roads, capsys):
    assert run(["bfs", roads, "-s", "OSL", "--where", "km <"]) == 1
    said = capsys.readouterr().err
    assert "ends at character 5, where a column or a value is expected" in said
    assert said.count("\n") == 1


def test_paths_by_weight(roads, capsys):
    assert run(["paths", roads, "-s", "OSL", "-t", "SVG"]) == 0
    assert "SVG: 1 step: OSL > SVG" in capsys.readouterr().out
    assert run(["paths", roads, "-s", "OSL", "-t", "SVG", "--weight", "km"]) == 0
    assert "SVG: 2 steps: OSL > BGO > SVG" in capsys.readouterr().out
    assert run(["paths", roads, "-s", "OSL", "-t", "SVG", "--weight", "km", "--depth-limit", "1"]) == 2
    assert "--depth-limit" in capsys.readouterr().err


def test_paths_by_weight_of_a_saved_graph(roads, tmp_path, capsys):
    assert run(["save", roads, str(tmp_path / "graph"), "--weight", "km"]) == 0
    assert run(["paths", str(tmp_path / "graph"), "-s", "OSL", "-t", "SVG", "--weighted"]) == 0
    assert "SVG: 2 steps: OSL > BGO > SVG" in capsys.readouterr().out
    assert run(["paths", roads, "-s", "OSL", "-t", "SVG", "--weighted"]) == 1
    assert "needs weights" in capsys.readouterr().err
