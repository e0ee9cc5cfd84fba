"""The command line on saved graphs, with a memory limit, and for vertex programs."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from rich.console import Console

from rapids_trav import Graph
from rapids_trav.cli import report, run


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setattr("rapids_trav.cli.edges.choose_engine", lambda: "cpu")


@pytest.fixture
def edges(tmp_path):
    """A path a-b-c and an edge x-y apart from it."""
    path = tmp_path / "edges.csv"
    path.write_text("src,dst,metres\na,b,1.5\nb,c,2\nx,y,1\n")
    return str(path)


@pytest.fixture
def folder(edges, tmp_path, capsys):
    assert run(["save", edges, str(tmp_path / "graph"), "--weight", "metres"]) == 0
    assert "5 vertices and 3 edges saved in" in capsys.readouterr().out
    return str(tmp_path / "graph")


def answer(arguments, capsys):
    assert run([*arguments, "-o", "-"]) == 0, capsys.readouterr().err
    return pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False).to_numpy().tolist()


def test_a_saved_graph_answers(folder, edges, capsys):
    for question in (
        ["bfs", "-s", "a", "--deterministic"],
        ["bfs", "-s", "a", "--memory-limit", "1kB"],
        ["paths", "-s", "a", "-t", "c"],
        ["components"],
    ):
        name, *options = question
        assert answer([name, folder, *options], capsys) == answer([name, edges, *options], capsys)
    weighted = answer(["pagerank", edges, "--weight", "metres"], capsys)
    assert answer(["pagerank", folder], capsys) == weighted != answer(["pagerank", edges], capsys)
    assert answer(["khop", folder, "-s", "a", "-k", "1"], capsys) == [["a", "b", 1.5]]
    assert answer(["sssp", folder, "-s", "a"], capsys)[2] == ["c", "3.5", "b"]
    assert answer(["sssp", edges, "-s", "a", "--weight", "metres"], capsys)[2] == ["c", "3.5", "b"]
    assert Graph.open(folder, engine="cpu").weight == "metres"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--src", "a", "--dst", "b"], "--src is for edges, and .* is a saved graph: leave it out"),
        (["--directed"], "--directed is for edges"),
        (["--format", "csv"], "--format is for edges"),
    ],
)
def test_options_of_files_mean_nothing_to_a_saved_graph(folder, capsys, options, message):
    assert run(["bfs", folder, "-s", "a", *options]) == 2
    assert pd.Series(capsys.readouterr().err).str.contains(message).all()


def test_what_cannot_be_saved_or_opened(folder, edges, tmp_path, capsys):
    assert run(["save", edges, folder]) == 1
    assert "exists already: remove it first" in capsys.readouterr().err
    assert run(["save", edges, edges]) == 2
    assert "is a file: name a folder" in capsys.readouterr().err
    assert run(["bfs", edges, "-s", "a", "--memory-limit", "lots"]) == 1
    assert "'lots' is no amount of memory" in capsys.readouterr().err
    column = tmp_path / "graph" / "column_indices.npy"
    column.write_bytes(column.read_bytes()[:-1])
    assert run(["bfs", folder, "-s", "a"]) == 1
    assert "column_indices.npy has" in capsys.readouterr().err


def test_summaries(edges, folder, capsys):
    assert run(["components", edges]) == 0
    assert "2 components\na: 3 vertices\nx: 2 vertices\n" in capsys.readouterr().out
    assert run(["sssp", folder, "-s", "a", "--trace"]) == 0
    out = capsys.readouterr().out
    assert "3 of 5 vertices reached, the farthest at 3.5" in out and "iteration" in out
    assert run(["pagerank", edges]) == 0
    assert "b: 0." in capsys.readouterr().out
    assert run(["save", edges, f"{folder}2", "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_pages_are_counted(tmp_path, capsys):
    edges = pd.DataFrame({"src": [i % 300 for i in range(3000)], "dst": [(7 * i) % 301 for i in range(3000)]})
    edges.to_parquet(tmp_path / "edges.parquet")
    arguments = ["pagerank", str(tmp_path / "edges.parquet"), "--directed", "--memory-limit", "40kB"]
    assert run(arguments) == 0
    assert "streamed " in capsys.readouterr().out


def test_a_run_goes_on_from_its_checkpoint(edges, tmp_path, capsys):
    options = ["--checkpoint", str(tmp_path / "kept"), "--checkpoint-every", "1"]
    first = answer(["pagerank", edges, *options], capsys)
    again = answer(["pagerank", edges, *options, "--resume"], capsys)
    assert [rank for _, rank in again] == pytest.approx([rank for _, rank in first], abs=1e-5)
    assert run(["pagerank", edges, "--resume"]) == 1
    assert "name its folder" in capsys.readouterr().err
    assert run(["pagerank", edges, *options, "--resume", "--alpha", "0.5"]) == 1
    assert "is of another" in capsys.readouterr().err


def test_progress_of_pages(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr(report, "console", lambda stderr: screen)
    with report.PageProgress("Running") as pages:
        pages.on_page(1, 2_000_000)
        pages.on_page(2, 1_000_000)
    assert (pages.pages, pages.bytes) == (3, 3_000_000)
    assert "3 pages, 3 MB" in screen.file.getvalue()
