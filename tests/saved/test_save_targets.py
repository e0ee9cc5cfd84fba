"""Paths where a graph can be saved, and paths that the system does not accept."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from rapids_trav import Graph, TravError, datasets
from rapids_trav.cli import run as command_line
from rapids_trav.io import read_edges, write_frame
from rapids_trav.saved import write
from rapids_trav.utilities.atomic_files import folder_in_the_making

EDGES = pd.DataFrame({"src": [3, 1, 1], "dst": [1, 2, 9]})
LONG = "x" * 256
TOO_LONG = r"cannot be reached \(File name too long\): use another path\.$"


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_link_to_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    EDGES.trav.graph().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and left_in(tmp_path) == ["link", "real"]
    for name in ("link", "real"):
        assert Graph.open(tmp_path / name, engine="cpu").n_edges == 3
    with pytest.raises(TravError, match=r"link exists already: remove it first"):
        EDGES.trav.graph().save(tmp_path / "link")


def test_a_link_to_nothing_says_where_the_folder_goes(tmp_path):
    (tmp_path / "link").symlink_to("real")
    EDGES.trav.graph().save(tmp_path / "link")
    assert Graph.open(tmp_path / "real", engine="cpu").n_edges == 3


def test_a_place_that_another_save_takes_in_the_meantime(tmp_path, monkeypatch):
    graph, others = EDGES.trav.graph(), [EDGES.iloc[:1].trav.graph()]
    sync = write.sync_folder

    def overtaken(folder):
        while others:
            others.pop().save(tmp_path / "graph")
        sync(folder)

    monkeypatch.setattr(write, "sync_folder", overtaken)
    with pytest.raises(TravError, match=r"graph exists already: remove it first, or name another folder\.$"):
        graph.save(tmp_path / "graph")
    assert left_in(tmp_path) == ["graph"]
    assert Graph.open(tmp_path / "graph", engine="cpu").n_edges == 1


def test_links_that_cannot_be_saved_to(tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("kept")
    (tmp_path / "to file").symlink_to("file")
    (tmp_path / "disk").mkdir()
    graph = EDGES.trav.graph()
    with pytest.raises(TravError, match="loop cannot be created: "):
        graph.save(tmp_path / "loop")
    with pytest.raises(TravError, match="to file exists already"):
        graph.save(tmp_path / "to file")
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "disk")
    with pytest.raises(TravError, match="is the mount point of a disk, which cannot be replaced"):
        graph.save(tmp_path / "disk")
    assert left_in(tmp_path) == ["disk", "file", "loop", "to file"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: EDGES.trav.graph().save(path),
        lambda path: Graph.open(path, engine="cpu"),
        lambda path: EDGES.trav.graph().pagerank(checkpoint=path),
        lambda path: EDGES.trav.graph().pagerank(checkpoint=path, resume=True),
        lambda path: EDGES.trav.graph(memory_limit="1MB", spill=path),
        lambda path: Graph.from_edges(str(path)),
        lambda path: Graph.from_edges([path.with_suffix(".parquet")]),
        lambda path: read_edges(path.with_suffix(".csv")),
        lambda path: write_frame(EDGES, path.with_suffix(".csv")),
        lambda path: Graph.open(path / "a folder in it", engine="cpu"),
    ],
)
def test_names_that_are_too_long(tmp_path, ask):
    with pytest.raises(TravError, match=TOO_LONG) as error:
        ask(tmp_path / LONG)
    assert len(str(error.value)) < 300 and left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["bfs", LONG + ".csv", "-s", "0"], 1),
        (["bfs", "facebook", "-s", "0", "--output", LONG + ".csv"], 2),
        (["bfs", "facebook", "-s", "0", "--plot", LONG + ".png"], 2),
        (["bfs", "facebook", "-s", "0", "--spill", LONG], 2),
        (["pagerank", "facebook", "--checkpoint", LONG], 2),
        (["save", "facebook", LONG], 2),
        (["graph500", "--scale", "4", "--json", LONG + ".json"], 2),
    ],
)
def test_names_that_are_too_long_on_the_command_line(words, code, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert command_line(words) == code
    said = capsys.readouterr().err
    assert "cannot be reached (File name too long): use another path." in said and "Traceback" not in said


@pytest.mark.parametrize("length", [200, 236, 255])
def test_names_as_long_as_they_may_be(tmp_path, length):
    """No letter can be added to such a name, so the temporary folder beside it has an unrelated name."""
    name = "é" * (length // 2) + "y" * (length % 2)
    assert len(os.fsencode(name)) == length
    EDGES.trav.graph().save(tmp_path / name)
    assert Graph.open(tmp_path / name, engine="cpu").n_edges == 3
    with folder_in_the_making(tmp_path / (name[:-3] + "z")) as partial:
        partial.rmdir()
    file = tmp_path / ("y" * (length - 4) + ".csv")
    write_frame(EDGES, file)
    assert len(read_edges(file)) == 3 and sorted(left_in(tmp_path)) == sorted([name, file.name])


def test_a_folder_that_was_left_under_a_short_name_is_removed(tmp_path):
    name = "x" * 250
    with pytest.raises(KeyboardInterrupt), folder_in_the_making(tmp_path / name) as partial:
        assert partial.name.startswith(".") and len(partial.name) < 100
        left = partial
        raise KeyboardInterrupt
    left.mkdir()  # as a killed process leaves it
    EDGES.trav.graph().save(tmp_path / name)
    assert left_in(tmp_path) == [name]


def test_remote_paths_stay_as_they_are():
    """A path with a scheme is left to the file system library and is not looked for here."""
    path = datasets.path("facebook")
    assert Graph.from_edges(f"file://{path}").n_vertices == 4039
