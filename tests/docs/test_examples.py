"""Every example runs and prints what it should."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_run_here():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == {
        "maze_routing",
        "dependency_graph",
        "coming_from_cugraph",
        "vertex_program",
        "dask_cluster",  # tested in test_dask_page.py
    }


def test_maze_routing(tmp_path, capsys):
    maze = load("maze_routing")
    maze.main(str(tmp_path / "maze.png"))
    out = capsys.readouterr().out
    assert "net A: 49 steps" in out
    assert "no way" not in out
    assert (tmp_path / "maze.png").read_bytes().startswith(b"\x89PNG")


def test_wires_are_connected_free_and_apart():
    maze = load("maze_routing")
    free, used = maze.free_cells(), set()
    routed = maze.route_all()
    assert len(routed) > 1
    for name, wire in routed.items():
        assert [tuple(wire[0]), tuple(wire[-1])] == list(maze.NETS[name])
        assert (np.abs(np.diff(wire, axis=0)).sum(axis=1) == 1).all()
        cells = set(map(tuple, wire))
        assert all(free[cell] for cell in cells)
        assert not cells & used
        used |= cells


def test_a_net_is_routed_by_a_shortest_way_or_not_at_all():
    maze = load("maze_routing")
    free = np.ones((5, 5), dtype=bool)
    assert len(maze.route(free, (0, 0), (4, 4))) == 9
    free[2, :4] = False
    assert len(maze.route(free, (0, 0), (4, 0))) == 13
    free[2, 4] = False
    assert maze.route(free, (0, 0), (4, 4)) is None


def test_dependency_graph(capsys):
    load("dependency_graph").main()
    out = capsys.readouterr().out
    assert "six: notebook-report > matplotlib > python-dateutil > six" in out
    assert re.search(r"churn-model +2\n", out)


def test_vertex_program(capsys):
    load("vertex_program").main()
    out = capsys.readouterr().out
    assert re.search(r"Trondheim +3\n", out)
    assert re.search(r"Oslo +1\.08\n", out)
    assert "notify" in out


def test_coming_from_cugraph(capsys):
    load("coming_from_cugraph").main()
    out = capsys.readouterr().out
    assert "rapids_trav on pandas" in out or "the same in cuGraph" in out


def test_cugraph_results_are_brought_into_form():
    theirs = pd.DataFrame(
        {
            "vertex": np.array([2, 0, 1], np.int64),
            "distance": np.array([2**31 - 1, 0, 1], np.int32),
            "predecessor": np.array([-1, -1, 0], np.int64),
        }
    )
    example = load("coming_from_cugraph")
    edges = pd.DataFrame({"src": [0], "dst": [1]})
    pd.testing.assert_frame_equal(example.normalise(theirs), edges.trav.bfs(0, vertices=[2]))


@pytest.mark.gpu
def test_coming_from_cugraph_side_by_side(capsys):
    load("coming_from_cugraph").main()
    assert "are the same in cuGraph" in capsys.readouterr().out
