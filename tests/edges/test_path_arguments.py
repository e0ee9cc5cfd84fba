"""Empty paths, paths of bytes and other objects are refused with a message wherever a path is expected."""

import os

import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.cli import run
from rapids_trav.io import check_output, read_edges, write_frame

FRAME = pd.DataFrame({"src": [0], "dst": [1]})


class Numbered(os.PathLike):
    """Path-like object whose path is an integer."""

    def __fspath__(self):
        return 1


def entry_of_bytes(folder):
    (folder / "edges.csv").touch()
    with os.scandir(os.fsencode(folder)) as entries:
        return next(entries)


@pytest.mark.parametrize(
    "ask",
    [
        Graph.from_edges,
        lambda path: Graph.from_edges([path]),
        read_edges,
        check_output,
        lambda path: write_frame(FRAME, path),
        FRAME.trav.graph().save,
        lambda path: Graph.open(path, engine="cpu"),
    ],
    ids=["edges", "several", "read", "check", "write", "save", "open"],
)
@pytest.mark.parametrize("make", [entry_of_bytes, lambda folder: Numbered(), lambda folder: ""])
def test_what_is_not_a_path(ask, make, tmp_path):
    with pytest.raises(TravError, match=r"=.* is not a path: give the name of a "):
        ask(make(tmp_path))


@pytest.mark.parametrize("command", [["bfs", "", "-s", "0"], ["components", ""], ["save", "", "graph"]])
def test_empty_edges_are_not_the_current_folder(command, capsys):
    assert run(command) == 2
    assert "EDGES is empty: name a file" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_an_empty_name_of_a_result_is_not_passed_over(option, capsys):
    assert run(["bfs", "facebook", "-s", "0", option, ""]) == 2
    assert "The name of a file to write is empty" in capsys.readouterr().err


def test_the_current_folder_is_named_as_it_was_given(capsys):
    assert run(["bfs", "facebook", "-s", "0", "-o", "."]) == 2
    assert "Error: . has no extension of a result" in capsys.readouterr().err
