"""The tree of a search as text."""

from __future__ import annotations

import pandas as pd

from rapids_trav import datasets, generators
from rapids_trav.algorithms.search_tree import SearchTree
from rapids_trav.cli import run
from rapids_trav.cli.report import console
from rapids_trav.cli.tables import LONGEST, MOST_VERTICES, tree_text


def lines_of(result):
    screen = console()
    screen.width = 100
    with screen.capture() as text:
        screen.print(tree_text(SearchTree(result)))
    return text.get().splitlines()


def test_the_largest_branches_of_a_search():
    found = datasets.load("facebook").trav.graph().bfs(0)
    head, source, *others = lines_of(found)
    assert head == f"tree of predecessors, {MOST_VERTICES} of 4,039 vertices: the largest branches"
    assert source == "└── 0: 347 children, 4,038 below"
    assert len(others) == MOST_VERTICES - 1 and others[0].startswith("    ├── ")


def test_a_whole_tree():
    edges = pd.DataFrame({"src": ["a", "b", "a", "x"], "dst": ["b", "c", "d", "y"]})
    assert lines_of(edges.trav.bfs(["a", "x"])) == [
        "tree of predecessors",
        "├── a: 2 children, 3 below",
        "│   ├── b: 1 child",
        "│   │   └── c",
        "│   └── d",
        "└── x: 1 child",
        "    └── y",
    ]


def test_a_long_path_ends_with_the_number_below():
    lines = lines_of(generators.path(1000).trav.bfs(0))
    assert len(lines) == 10 and lines[-1].strip() == "└── 8: 1 child, 991 below"


def test_names_that_are_long_or_odd():
    edges = pd.DataFrame({"src": ["[bold]x", "[bold]x"], "dst": ["two\nlines", "n" * 100]})
    _, source, *others = lines_of(edges.trav.bfs("[bold]x"))
    assert source == "└── [bold]x: 2 children"
    assert {line[8:] for line in others} == {"two lines", "n" * (LONGEST - 3) + "..."}


def test_where_it_is_shown(capsys, monkeypatch):
    search = ["bfs", "facebook", "-s", "0", "-s", "7"]
    assert run(search) == 0
    assert "tree of predecessors" in capsys.readouterr().out
    assert run([*search, "--mode", "each"]) == 0
    assert "tree of predecessors of the first source, " in capsys.readouterr().out
    assert run([*search, "--no-predecessors"]) == 0
    assert "tree" not in capsys.readouterr().out
    monkeypatch.setattr("rapids_trav.cli.questions.MOST", 4000)
    assert run(search) == 0
    assert "tree" not in capsys.readouterr().out
