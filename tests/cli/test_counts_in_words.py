"""Counts in messages: a count of one takes the singular."""

from rapids_trav.cli import run


def test_one_edge_is_not_one_edges(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n1,1\n")
    assert run(["bfs", str(path), "-s", "1"]) == 0
    assert ": 1 vertex, 1 edge, undirected;" in capsys.readouterr().out
    assert run(["save", str(path), str(tmp_path / "graph")]) == 0
    assert "1 vertex and 1 edge saved in" in capsys.readouterr().out
