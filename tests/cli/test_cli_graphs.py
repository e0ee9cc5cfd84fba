"""Command line on saved graphs, with a memory limit, and for vertex programs."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from rich.console import Console

from rapids_trav import Graph, TravError
from rapids_trav.cli import run
from rapids_trav.cli.commands import app
from rapids_trav.cli.wording import on_command_line, options_of
from rapids_trav.utilities.progress import PageProgress
from rapids_trav.utilities.sizes import readable


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setattr("rapids_trav.cli.edges.gpu_is_there", lambda: False)


@pytest.fixture
def edges(tmp_path):
    """Return the path of a file with a path a-b-c and a separate edge x-y."""
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
        (["--undirected"], "--undirected is for edges, and .* is a saved graph: leave it out"),
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
    assert run(["bfs", edges, "-s", "a", "--memory-limit", "lots"]) == 2
    assert "--memory-limit lots is not an amount of memory" in capsys.readouterr().err
    assert run(["bfs", edges, "-s", "a", "--memory-limit", "0"]) == 2
    assert "--memory-limit 0 leaves no memory to search in" in capsys.readouterr().err
    column = tmp_path / "graph" / "column_indices.npy"
    column.write_bytes(column.read_bytes()[:-1])
    assert run(["bfs", folder, "-s", "a"]) == 1
    assert "column_indices.npy has" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (
            "300 B are needed, and memory_limit=1.2 kB leaves 80 B: give memory_limit at least 1.5 kB.",
            "300 B are needed, and --memory-limit 1.2kB leaves 80 B: give --memory-limit at least 1.5kB.",
        ),
        ("name another folder with spill=, or give", "name another folder with --spill, or give"),
        (
            "resume=True continues from a checkpoint: name its folder with checkpoint=.",
            "--resume continues from a checkpoint: name its folder with --checkpoint.",
        ),
        ("checkpoint='a folder/x' cannot be made", "--checkpoint 'a folder/x' cannot be made"),
        ("is not used: run without resume=True, or", "is not used: run without --resume, or"),
        ("name their column with graph(weight=...).", "name their column with --weight."),
        (
            "where='open' holds 2 nulls: edges['open'].fillna",
            "--where open holds 2 nulls: edges['open'].fillna",
        ),
        ("tol=0.5 is too", "--tol 0.5 is too"),
        ("checkpoint_every=0 writes none, max_iter=3.", "--checkpoint-every 0 writes none, --max-iter 3."),
        ("sources contains 2 unknown vertices", "--source contains 2 unknown vertices"),
        ("occur in the edges, or add them with graph(vertices=...).", "occur in the edges."),
        (
            "name a boolean one, for example with a column that compares it, edges['w'] == value.",
            "name a boolean one.",
        ),
        ("fill them first, for example with fillna.", "fill them first."),
        ("name a numeric one, or convert it with astype.", "name a numeric one."),
        ("choose one of 'a'; after adding a column, build the graph again.", "choose one of 'a'."),
        ("The edges changed: build the graph again.", "The edges changed: run the command again."),
        (
            "say header=True or header=False (--header or --no-header on the command line).",
            "say --header or --no-header.",
        ),
        ("/tmp/x1/standard-input holds no edges.", "the standard input holds no edges."),
        ("It is where the source directed the weight.", "It is where the source directed the weight."),
        ("raise max_iter or tol", "raise --max-iter or --tol"),
        ("/data/where=1/part.parquet", "/data/where=1/part.parquet"),
    ],
)
def test_messages_speak_of_the_options_of_the_command_line(said, written):
    assert on_command_line(said, options_of(app.commands.values())) == written


def test_errors_name_the_options_that_were_typed(edges, tmp_path, capsys):
    assert run(["bfs", edges, "-s", "a", "--memory-limit", "9"]) == 1
    error = capsys.readouterr().err
    assert "and --memory-limit 9B leaves" in error and "give --memory-limit at least" in error
    limit = error.partition("at least ")[2].strip().removesuffix(".").replace(" ", "")
    assert run(["bfs", edges, "-s", "a", "--memory-limit", limit, "--spill", str(tmp_path)]) == 0
    capsys.readouterr()
    for options, message in (
        (
            ["--checkpoint", edges],
            f"--checkpoint {edges} cannot be made a folder: File exists; name another folder.",
        ),
        (["--spill", edges], f"--spill {edges} is a file: name an existing folder."),
        (["--resume"], "--resume continues from a checkpoint: name its folder with --checkpoint."),
        (["--tol", "-1"], "--tol -1"),
    ):
        assert run(["pagerank", edges, *options]) in (1, 2)
        assert message in capsys.readouterr().err


def test_small_residuals_are_shown(edges, capsys):
    assert run(["pagerank", edges, "--trace", "--tol", "1e-9", "--max-iter", "900"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "e-" in line]
    assert len(lines) > 5 and "e-10" in lines[-1]


def test_pictures_of_runs(edges, tmp_path, capsys):
    for name in ("components", "pagerank"):
        picture = tmp_path / f"{name}.svg"
        assert run([name, edges, "--plot", str(picture)]) == 0
        assert "milliseconds" in picture.read_text()
        assert "trace" not in capsys.readouterr().out
    assert run(["pagerank", edges, "--plot", str(tmp_path / "x.txt")]) == 2
    assert "has no extension of a picture" in capsys.readouterr().err


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
    assert run(["pagerank", edges, "--resume"]) == 2
    assert "name its folder" in capsys.readouterr().err
    assert run(["pagerank", edges, *options, "--resume", "--alpha", "0.5"]) == 1
    assert "is of another" in capsys.readouterr().err


def test_a_run_goes_on_from_its_pages(edges, tmp_path, capsys):
    options = ["--checkpoint", str(tmp_path / "kept"), "--checkpoint-every", "page"]
    assert run(["pagerank", edges, *options]) == 2
    assert "--checkpoint-every page is for asynchronous runs" in (said := capsys.readouterr().err)
    assert "give --asynchronous, or a number" in said
    first = answer(["pagerank", edges, *options, "--asynchronous"], capsys)
    assert answer(["pagerank", edges, *options, "--asynchronous", "--resume"], capsys) == first
    assert run(["pagerank", edges, "--checkpoint", "x", "--checkpoint-every", "pages"]) == 2
    assert "'pages' is not a valid integer" in capsys.readouterr().err


def test_progress_in_python(monkeypatch):
    """With `progress=True` a run shows what it streams; without it, nothing is shown."""
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("rich.console.Console", lambda stderr: screen)
    edges = pd.DataFrame({"src": [i % 300 for i in range(3000)], "dst": [(7 * i) % 301 for i in range(3000)]})
    graph = edges.trav.graph(memory_limit="40kB")
    graph.pagerank()
    assert screen.file.getvalue() == ""
    trace = graph.pagerank(progress=True, trace=True).trace
    shown = screen.file.getvalue()
    assert (
        "pagerank" in shown and f"{trace['pages'].sum():,} pages, {readable(trace['bytes'].sum())}" in shown
    )
    for ask in (graph.components, graph.pagerank):
        with pytest.raises(TravError, match="progress='yes' is neither True nor False"):
            ask(progress="yes")


def test_progress_of_pages():
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    with PageProgress("Running", screen) as pages:
        pages.on_page(1, 2_000_000)
        pages.on_page(2, 1_000_000)
    assert (pages.pages, pages.bytes) == (3, 3_000_000)
    assert "3 pages, 3 MB" in screen.file.getvalue()


# ---- counts in messages: a count of one takes the singular


def test_one_edge_is_not_one_edges(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n1,1\n")
    assert run(["bfs", str(path), "-s", "1"]) == 0
    assert ": 1 vertex, 1 edge, undirected;" in capsys.readouterr().out
    assert run(["save", str(path), str(tmp_path / "graph")]) == 0
    assert "1 vertex and 1 edge saved in" in capsys.readouterr().out


# ---- conditions of `--where`, and weights of `paths`, on the command line


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
