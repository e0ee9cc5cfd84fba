"""A saved graph without weights cannot be given any; messages say how to save one with weights."""

import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.cli import run

EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "w": [3, 4]})


@pytest.fixture
def plain(tmp_path):
    EDGES.trav.graph().save(tmp_path / "plain")
    return tmp_path / "plain"


def test_questions_that_need_weights_say_to_save_the_edges_again(plain):
    graph = Graph.open(plain, engine="cpu")
    advice = r"the graph has none: save the edges again with weight=\.\.\."
    with pytest.raises(TravError, match=f"{advice}, or use bfs"):
        graph.sssp(0)
    with pytest.raises(TravError, match=advice):
        graph.pagerank(weighted=True)


def test_the_command_line_does_not_send_in_a_circle(plain, capsys):
    assert run(["sssp", str(plain), "-s", "0"]) == 1
    assert "save the edges again with --weight, or use bfs." in capsys.readouterr().err
    assert run(["sssp", str(plain), "-s", "0", "--weight", "w"]) == 2
    told = capsys.readouterr().err
    assert "was saved without weights: save the edges again with --weight w." in told


def test_a_saved_graph_has_its_weights_already(tmp_path, capsys):
    EDGES.trav.graph(weight="w").save(tmp_path / "weighted")
    assert run(["sssp", str(tmp_path / "weighted"), "-s", "0", "--weight", "w"]) == 2
    assert "is a saved graph, with its weights: leave it out." in capsys.readouterr().err
    assert run(["sssp", str(tmp_path / "weighted"), "-s", "0"]) == 0
