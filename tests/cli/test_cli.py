"""Command line as used from a shell: results, summaries, messages and exit codes."""

import datetime
import io
import json
import os
import signal
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from rapids_trav import datasets
from rapids_trav.cli import run
from rapids_trav.cli.commands import app

COMMAND = [sys.executable, "-c", "from rapids_trav.cli import main; main()"]


@pytest.fixture(autouse=True)
def without_a_gpu(request, monkeypatch):
    """Let `--engine auto` choose the CPU, so that tests do not depend on the machine."""
    if "gpu" not in request.keywords:
        monkeypatch.setattr("rapids_trav.cli.edges.gpu_is_there", lambda: False)


@pytest.fixture
def edges(tmp_path):
    """Return the arguments for a file with a path a-b-c and a separate edge x-y."""
    path = tmp_path / "edges.csv"
    path.write_text("from,to,open\na,b,True\nb,c,False\nx,y,True\n")
    return [str(path), "--src", "from", "--dst", "to"]


def test_main_job_shows_levels(capsys):
    assert run(["bfs", "facebook", "--source", "0"]) == 0
    out = capsys.readouterr().out
    assert "4,039 vertices, 88,234 edges, undirected" in out
    assert "cumulative" in out
    assert "1,742" in out  # vertices at distance 3


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.parquet", "r.csv.gz"])
def test_results_in_files(edges, tmp_path, capsys, name):
    path = tmp_path / name
    assert run(["bfs", *edges, "-s", "a", "-o", str(path)]) == 0
    read = (
        pd.read_parquet(path) if "parquet" in name else pd.read_csv(path, sep="\t" if "tsv" in name else ",")
    )
    assert read["vertex"].tolist() == ["a", "b", "c", "x", "y"]
    assert read["distance"].fillna(-1).tolist() == [0, 1, 2, -1, -1]
    assert read["predecessor"].fillna("").tolist() == ["", "a", "b", "", ""]
    assert "unreached" in capsys.readouterr().out


def test_result_on_standard_output(edges, capsys):
    assert run(["bfs", *edges, "-s", "a", "--no-predecessors", "--reached-only", "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "vertex,distance\na,0\nb,1\nc,2\n"
    assert "unreached" in captured.err  # the summary goes to standard error


def test_quiet(edges, capsys):
    assert run(["bfs", *edges, "-s", "a", "-q"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    ("options", "distances"),
    [
        (["--depth-limit", "0"], {"a": 0}),
        (["--depth-limit", "1"], {"a": 0, "b": 1}),
        (["--target", "b"], {"a": 0, "b": 1}),
        (["--where", "open"], {"a": 0, "b": 1}),
        (["--source", "y"], {"a": 0, "b": 1, "c": 2, "x": 1, "y": 0}),
        (["--directed", "--direction", "in"], {"a": 0}),
        (["--directed", "--direction", "both"], {"a": 0, "b": 1, "c": 2}),
        (["--variant", "pull", "--deterministic"], {"a": 0, "b": 1, "c": 2}),
        (["--variant", "direction", "--policy", "beamer"], {"a": 0, "b": 1, "c": 2}),
        (["--engine", "cpu"], {"a": 0, "b": 1, "c": 2}),
    ],
)
def test_options(edges, tmp_path, options, distances):
    path = tmp_path / "r.parquet"
    assert run(["bfs", *edges, "-s", "a", "-q", "--reached-only", "-o", str(path), *options]) == 0
    read = pd.read_parquet(path)
    assert dict(zip(read["vertex"], read["distance"], strict=True)) == distances


def test_each_source_by_itself(edges, tmp_path, capsys):
    path = tmp_path / "r.parquet"
    assert (
        run(["bfs", *edges, "-s", "a", "-s", "x", "--mode", "each", "-o", str(path), "--reached-only"]) == 0
    )
    read = pd.read_parquet(path)
    assert read["source"].tolist() == ["a", "a", "a", "x", "x"]
    assert read["vertex"].tolist() == ["a", "b", "c", "x", "y"]


def test_integer_and_string_ids_are_those_of_the_file(tmp_path, capsys):
    path = tmp_path / "edges.txt"
    path.write_text("7 07\n07 8\n")
    assert run(["bfs", str(path), "-s", "7", "-q", "-o", "-"]) == 0
    assert capsys.readouterr().out == "vertex,distance,predecessor\n07,1,7\n7,0,\n8,2,07\n"


def test_ids_of_two_columns(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("host,port,peer,peer_port\na,1,b,1\nb,1,b,2\n")
    options = ["--src", "host", "--src", "port", "--dst", "peer", "--dst", "peer_port"]
    assert run(["bfs", str(path), *options, "-s", "a,1", "-q", "--no-predecessors", "-o", "-"]) == 0
    assert capsys.readouterr().out == "vertex_0,vertex_1,distance\na,1,0\nb,1,1\nb,2,2\n"
    assert run(["paths", str(path), *options, "-s", "a,1", "-t", "b,2"]) == 0
    assert "b,2: 2 steps: a,1 > b,1 > b,2" in capsys.readouterr().out
    assert run(["bfs", str(path), *options, "-s", "a"]) == 1
    assert "2 columns" in capsys.readouterr().err


def test_ids_of_two_columns_with_commas(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text('name,at,next,its\n"Lee, Ann","x ""y""",Bo,\'z\nBo,\'z,Cy,w\n')
    edges = [str(path), "--src", "name", "--src", "at", "--dst", "next", "--dst", "its"]
    first = '"Lee, Ann","x ""y"""'
    assert run(["bfs", *edges, "-s", first, "-t", "Bo,'z", "-q", "--reached-only", "-o", "-"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert sorted(rows) == [f"{first},0,,", f"Bo,'z,1,{first}"]
    assert run(["paths", *edges, "-s", first, "-t", "Cy,w", "-q"]) == 0
    assert run(["khop", *edges, "-s", first, "-k", "1", "-q"]) == 0
    for wrong in ("Lee, Ann,x", '"Lee, Ann', '"Lee, Ann"x,y', ""):
        assert run(["bfs", *edges, "-s", wrong]) == 1
        error = capsys.readouterr().err
        assert f"--source {wrong}: ids have 2 columns, written as a,b; put a value that holds" in error
        assert error.endswith("""as in '"a,b",c'.\n""")


def test_trace_and_picture(tmp_path, capsys):
    picture = tmp_path / "levels.png"
    assert run(["bfs", "facebook", "-s", "0", "--trace", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "frontier" in capsys.readouterr().out


def test_shipped_graphs_know_their_direction(capsys):
    assert run(["bfs", "citations-hepph", "-s", "0", "--depth-limit", "1"]) == 0
    assert ", directed" in capsys.readouterr().out
    assert run(["bfs", "citations-hepph", "-s", "0", "--depth-limit", "1", "--undirected"]) == 0
    assert ", undirected" in capsys.readouterr().out


def test_symmetric_matrix_leads_both_ways_when_directed(tmp_path, capsys):
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    for option in ("--directed", "--undirected"):
        assert run(["bfs", str(path), option, "-s", "1", "-q", "--no-predecessors", "-o", "-"]) == 0
        assert capsys.readouterr().out == "vertex,distance\n1,0\n2,1\n3,2\n"


def test_parquet_folder(tmp_path, capsys):
    datasets.load("facebook")[:100].to_parquet(tmp_path / "0.parquet")
    datasets.load("facebook")[100:200].to_parquet(tmp_path / "1.parquet")
    assert run(["bfs", str(tmp_path), "-s", "0"]) == 0
    assert "200 edges" in capsys.readouterr().out


def test_paths(edges, capsys):
    assert run(["paths", *edges, "-s", "a", "-t", "c", "-t", "y"]) == 0
    out = capsys.readouterr().out
    assert "c: 2 steps: a > b > c" in out
    assert "y: not reached" in out
    assert run(["paths", *edges, "-s", "a", "-t", "c", "-q", "-o", "-"]) == 0
    assert capsys.readouterr().out == "target,step,vertex\nc,0,a\nc,1,b\nc,2,c\n"


def test_paths_can_be_the_same_in_every_run(tmp_path, capsys):
    edges = tmp_path / "square.csv"
    edges.write_text("src,dst\n1,3\n1,2\n3,4\n2,4\n")
    assert run(["paths", str(edges), "-s", "1", "-t", "4", "--deterministic", "-q", "-o", "-"]) == 0
    assert capsys.readouterr().out == "target,step,vertex\n4,0,1\n4,1,2\n4,2,4\n"


def test_a_null_among_booleans_is_told(tmp_path, capsys):
    edges = tmp_path / "holes.csv"
    edges.write_text("src,dst,open\n1,2,True\n3,4,\n2,3,False\n")
    assert run(["bfs", str(edges), "-s", "1", "--where", "open"]) == 1
    assert "open holds 1 null" in capsys.readouterr().err


def test_khop(edges, tmp_path, capsys):
    vertices = tmp_path / "v.csv"
    assert run(["khop", *edges, "--seed", "a", "-k", "1", "--vertices", str(vertices), "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "from,to,open\na,b,True\n"
    assert "2 vertices and 1 edge within 1 step" in captured.err
    assert pd.read_csv(vertices)["vertex"].tolist() == ["a", "b"]
    for out, other in (("-", "-"), (vertices, f"{tmp_path}/../{tmp_path.name}/v.csv")):
        seed = ["khop", *edges, "--seed", "a", "-k", "1", "-o", str(out), "--vertices", str(other)]
        assert run(seed) == 2
        assert "is where --output goes" in capsys.readouterr().err
    assert pd.read_csv(vertices)["vertex"].tolist() == ["a", "b"]


def test_doctor(capsys):
    assert run(["doctor"]) == 0
    assert "numba" in capsys.readouterr().out
    assert run(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"][0]["works"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ["bfs", "nofile", "-s", "0"],
            1,
            "There is no file nofile: check the path, or name one of the shipped",
        ),
        (["bfs", "facebook", "-s", "99999"], 1, "99999"),
        (["bfs", "facebook", "-s", "zero"], 1, "--source zero"),
        (["bfs", "facebook", "-s", "0", "-t", "1.5"], 1, "--target 1.5"),
        (["bfs", "no-such-file.csv", "-s", "0"], 1, "no file no-such-file.csv"),
        (["bfs", "facebook", "-s", "0", "--src", "a", "--dst", "b"], 1, "'a'"),
        (["bfs", "facebook", "-s", "0", "--src", "src"], 2, "--dst"),
        (["bfs", "facebook", "-s", "0", "--where", "open"], 1, "'open'"),
        (["bfs", "facebook", "-s", "0", "-o", "r.xlsx"], 2, "no extension of a result"),
        (["bfs", "facebook", "-s", "0", "-o", "no/such/r.csv"], 2, "no folder"),
        (["bfs", "facebook", "-s", "0", "--plot", "r.docx"], 2, "no extension of a picture"),
        (["bfs", "facebook", "-s", "0", "--variant", "private", "--engine", "cpu"], 2, "private"),
        (["bfs", "facebook", "-s", "0", "--policy", "gap"], 2, "or give --variant direction as well"),
        (["bfs", "facebook", "-s", "0", "-o", "tests"], 2, "no extension of a result"),
        (["khop", "facebook", "-s", "0", "-k", "1", "--vertices", "r.json"], 2, "no extension of a result"),
        (["bfs", "facebook", "-s", "0", "--delimiter", "xx"], 2, "--delimiter xx cannot stand"),
        (["bfs", "facebook", "-s", "0", "--delimiter", ""], 2, "--delimiter"),
        (["bfs", "facebook", "-s", "0", "--spill", "/no/such"], 2, "--spill /no/such does not exist"),
        (
            ["bfs", "nofile", "-s", "0"],
            1,
            "There is no file nofile: check the path, or name one of the shipped",
        ),
        (["bfs", "facebook", "-s", "99999"], 1, "give ids that occur in the edges."),
        (["pagerank", "facebook", "--resume"], 2, "name its folder with --checkpoint"),
        (["pagerank", "facebook", "--resume"], 2, "--resume continues from a checkpoint"),
        (["pagerank", "facebook", "--checkpoint-every", "3"], 2, "--checkpoint-every 3 applies only with"),
        (["pagerank", "facebook", "--alpha", "2"], 2, "--alpha 2.0 is not"),
        (["graph500", "--scale", "6", "--seed", "99999999999999999999"], 2, "99999999999999999999"),
        (["graph500", "--scale", "-1"], 2, "-1"),
        (["graph500", "--scale", "99"], 2, "99"),
        (["graph500", "--scale", "5", "--roots", "0"], 2, "0"),
        (["graph500", "--scale", "5", "--json", "no/such/r.json"], 2, "no folder"),
        (["paths", "facebook", "-s", "0", "-t", "99999"], 1, "99999"),
        (["save", "facebook", ""], 2, "FOLDER is empty: give the name of a folder."),
        (["bfs", "facebook"], 2, "--source"),
        (["bfs", "facebook", "-s", "0", "--depth-limit", "-1"], 2, "-1"),
        (["bfs", "facebook", "-s", "0", "--mode", "all"], 2, "all"),
        (["bfs", "facebook", "-s", "0", "--speed"], 2, "--speed"),
        (["bfs", "facebook", "-s", "0", "--devices", "0,one"], 2, "--devices 0,one does not name GPUs: give"),
        (["bfs", "facebook", "-s", "0", "--devices", ""], 2, "--devices '' does not name GPUs"),
        (
            ["bfs", "facebook", "-s", "0", "--engine", "cpu", "--devices", "0,1"],
            2,
            "--devices 0,1 is for GPUs, but the graph is on the cpu engine: give --engine cuda, or leave",
        ),
        (
            ["khop", "facebook", "-s", "0", "-k", "1", "--devices", "all", "--memory-limit", "1GB"],
            2,
            "--memory-limit 1GB has no meaning with devices",
        ),
        (["graph500", "--scale", "5", "--engine", "cpu", "--devices", "all"], 2, "--devices all is for GPUs"),
        (
            ["graph500", "--scale", "5", "--scheduler", "tcp://x:1", "--devices", "all"],
            2,
            "--devices is for GPUs of this process, and --scheduler runs on workers: leave it out",
        ),
        (["search"], 2, "search"),
        ([], 2, "Usage"),
    ],
)
def test_messages_and_exit_codes(capsys, words, code, sentence):
    assert run(words) == code
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_cuda_without_its_packages(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert run(["bfs", "facebook", "-s", "0", "--engine", "cuda"]) == 2
    assert "--engine cuda needs cupy" in capsys.readouterr().err
    assert run(["graph500", "--scale", "5", "--engine", "cuda"]) == 2
    assert "--engine cuda needs cupy" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_edges_are_not_written_over(tmp_path, capsys, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    name = "edges.csv" if option == "--output" else "edges.png"
    (tmp_path / name).write_text("src,dst\n1,2\n")
    asked = ["components", str(tmp_path / name), "--format", "csv", option, name]
    assert run(asked) == 2
    assert f"{name} is where the edges are" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "src,dst\n1,2\n"


def test_results_do_not_go_among_the_edges(tmp_path, capsys):
    pd.DataFrame({"src": [1], "dst": [2]}).to_parquet(tmp_path / "0.parquet")
    assert run(["components", str(tmp_path), "-o", str(tmp_path / "1.parquet")]) == 2
    assert "is where the edges are" in capsys.readouterr().err
    asked = ["khop", str(tmp_path), "-s", "1", "-k", "1", "--vertices", str(tmp_path / "1.parquet")]
    assert run(asked) == 2


@pytest.mark.parametrize("option", [["--delimiter", ";"], ["--header"], ["--no-header"], ["--string-ids"]])
@pytest.mark.parametrize("name", ["a.parquet", "a.mtx"])
def test_options_of_text_are_for_text(tmp_path, capsys, name, option):
    path = tmp_path / name
    if name == "a.mtx":
        path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    else:
        pd.DataFrame({"src": [1], "dst": [2]}).to_parquet(path)
    assert run(["bfs", str(path), "-s", "1", *option]) == 2
    error = capsys.readouterr().err
    assert "is for text" in error and "leave it out" in error
    assert run(["bfs", str(path), "-s", "1"]) == 0


def test_rows_that_are_all_too_long(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n1,2,3\n2,3,9\n")
    assert run(["components", str(path), "-q", "-o", "-"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "Line 2 of" in captured.err and "2 fields are expected" in captured.err


def test_empty_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["components", "-", "--format", "csv"]) == 1
    assert capsys.readouterr().err == "rapids-trav: the standard input holds no edges: give at least one.\n"


def test_malformed_file(tmp_path, capsys):
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n3\n")
    assert run(["bfs", str(path), "-s", "1"]) == 1
    assert "Line 2 of" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["bfs", "paths", "khop", "sssp"])
def test_help_tells_how_ids_are_quoted(capsys, command):
    assert run([command, "--help"]) == 0
    assert """'"a,b",c'""" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--help"], ["bfs", "-h"], ["--version"]])
def test_help(capsys, words):
    assert run(words) == 0
    assert "rapids-trav" in capsys.readouterr().out


def test_no_command_is_clipped_in_the_list(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert len(commands) == len(app.commands) >= 10
    assert all(line.endswith(".") and "..." not in line for line in commands)


def test_interrupt(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rapids_trav.cli.questions.open_graph", interrupted)
    assert run(["bfs", "facebook", "-s", "0"]) == 128 + signal.SIGINT
    assert "interrupted" in capsys.readouterr().err


def test_memory_error_is_a_sentence(monkeypatch, capsys):
    def too_large(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rapids_trav.cli.questions.open_graph", too_large)
    assert run(["bfs", "facebook", "-s", "0"]) == 1
    assert "memory" in capsys.readouterr().err


def test_reader_that_leaves():
    """In `rapids-trav ... | head -1` the process ends without a message, with SIGPIPE's exit code."""
    words = [*COMMAND, "bfs", "citations-hepph", "-s", "0", "-q", "-o", "-"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"vertex,distance,predecessor\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("command", [COMMAND, [sys.executable, "-m", "rapids_trav"]])
def test_process_exit_code_and_streams(command):
    done = subprocess.run([*command, "bfs", "nothing"], capture_output=True, env=os.environ, check=False)
    assert done.returncode == 2
    assert done.stdout == b""


def test_repeated_sources_of_each(edges, capsys):
    assert run(["bfs", *edges, "-s", "a", "-s", "a", "--mode", "each", "--depth-limit", "0"]) == 0
    unreached = next(line for line in capsys.readouterr().out.splitlines() if "unreached" in line)
    assert "8" in unreached and "-" not in unreached


def test_whole_floats_beside_integers_are_the_same_ids(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n1.0,2\n2.0,3\n")
    assert run(["bfs", str(path), "-s", "1", "-q", "--no-predecessors", "-o", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[3].startswith("3")
    assert run(["paths", str(path), "-s", "1", "-t", "3", "-q", "-o", "-"]) == 0


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("1.5,2\n", "fractions"),
        ("1,2\n3,NA\n", "which means that there is no value"),
    ],
)
def test_text_that_is_no_id_names_the_option_that_helps(tmp_path, capsys, rows, problem):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n" + rows)
    source = rows.partition(",")[0]
    for ends in ([], ["--src", "src", "--dst", "dst"]):
        assert run(["bfs", str(path), "-s", source, *ends]) == 1
        error = capsys.readouterr().err
        assert problem in error and "--string-ids" in error
    assert run(["bfs", str(path), "-s", source, "--string-ids", "-q"]) == 0


@pytest.mark.parametrize(
    ("column", "known", "unknown", "what"),
    [
        (pa.array(["a", "b"]).dictionary_encode(), "a", None, None),
        (pa.array([5, 6]).dictionary_encode(), "5", "a", "whole numbers"),
        (pa.array([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]), "2020-01-01", "never", "dates"),
        (pa.array([Decimal("1.50"), Decimal("2.50")]), "1.5", "a", "decimal numbers"),
        (pa.array([b"a", b"b"]), "a", None, None),
        (pa.array([0, 1], pa.timestamp("us")), "1970-01-01", "garbage", "times without a zone"),
        (pa.array([0, 1], pa.timestamp("us")), "1970-01-01", "1970-01-01T00Z", "times without a zone"),
        (pa.array([0, 1], pa.timestamp("us", "UTC")), "1970-01-01", "garbage", "times in UTC"),
        (pa.array([0, 1], pa.duration("s")), "0 s", "garbage", "durations"),
    ],
)
def test_parquet_ids_of_every_type(tmp_path, capsys, column, known, unknown, what):
    path = tmp_path / "edges.parquet"
    pyarrow.parquet.write_table(pa.table({"src": column, "dst": column.take(pa.array([1, 0]))}), path)
    assert run(["bfs", str(path), "-s", known, "--trace"]) == 0
    assert "2 vertices" in capsys.readouterr().out
    if unknown:
        assert run(["bfs", str(path), "-s", unknown]) == 1
        assert f"--source {unknown}: the ids of these edges are {what}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "column",
    [
        pa.array([bytes(range(i, i + 16)) for i in (1, 2, 3)], pa.uuid()),
        pa.array([b"a\xff", b"0x61", b"a"]),
        pa.array([datetime.time(1, 2, i) for i in (1, 2, 3)]),
        pa.array([1, 10**15, 2 * 10**15], pa.timestamp("us", "Europe/Oslo")),
        pa.array([Decimal("1.50"), Decimal("1000.00"), Decimal("-2.25")]),
    ],
    ids=["uuid", "bytes", "times of a day", "times", "decimals"],
)
def test_ids_are_printed_as_they_can_be_given_back(tmp_path, column):
    path, out = tmp_path / "edges.parquet", tmp_path / "out.csv"
    pyarrow.parquet.write_table(pa.table({"src": column[:2], "dst": column[1:]}), path)
    assert run(["components", str(path), "-q", "-o", str(out)]) == 0
    for vertex in pd.read_csv(out, dtype=str)["vertex"]:
        assert run(["bfs", str(path), "-s", vertex, "-o", str(out)]) == 0
        assert pd.read_csv(out, dtype=str).set_index("vertex")["distance"][vertex] == "0"


def test_parquet_lists_are_no_ids(tmp_path, capsys):
    path = tmp_path / "edges.parquet"
    pyarrow.parquet.write_table(pa.table({"src": [[1], [2]], "dst": [[2], [3]]}), path)
    assert run(["bfs", str(path), "-s", "1"]) == 1
    error = capsys.readouterr().err
    assert "Column 'src' of" in error and "holds list<" in error


def test_names_are_printed_as_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "[bold]:cat:$x_$.csv"
    (tmp_path / name).write_text("src,dst\n[red]a,b\n")
    assert run(["bfs", name, "-s", "[red]a", "--plot", "levels.svg"]) == 0
    assert capsys.readouterr().out.startswith(f"{name}: 2 vertices")


def test_a_first_line_that_may_be_names_has_to_be_explained(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("person,friend\na,b\n")
    assert run(["bfs", str(path), "-s", "a"]) == 1
    assert "'person friend', words above words" in capsys.readouterr().err
    for said in (["--header"], ["--no-header"]):
        code = run(
            [
                "bfs",
                str(path),
                "-s",
                "a",
                *said,
                *(["--src", "person", "--dst", "friend"] * (said == ["--header"])),
            ]
        )
        assert (code, capsys.readouterr().err) == (0, "")


def test_standard_input(monkeypatch, tmp_path, capsys):
    for format, data in (("csv", b"src,dst\na,b\n"), ("text", b"# c\na b\n")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        words = (
            ["bfs", "-", "--format", format, "--no-header"]
            if format == "text"
            else ["bfs", "-", "--format", "csv"]
        )
        assert run([*words, "-s", "a", "-q", "--no-predecessors", "-o", "-"]) == 0
        assert capsys.readouterr().out == "vertex,distance\na,0\nb,1\n"


def test_pipe_as_a_file():
    """Edges may come from a pipe, as in `bfs <(zcat edges.csv.gz) --format csv`; khop reads them twice."""
    words = f"exec {sys.executable} -c '{COMMAND[2]}' khop /dev/stdin --format csv -s a -k 1 -q -o -"
    done = subprocess.run(["sh", "-c", words], input=b"src,dst\na,b\nb,c\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"src,dst\na,b\n", b"")


FULL = "rapids-trav: The output cannot be written: No space left on device.\n"


def test_full_disk_is_a_sentence():
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        words = [*COMMAND, "bfs", "facebook", "-s", "0"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.decode()) == (1, FULL)


def test_a_table_on_a_full_disk(monkeypatch, capsys):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["bfs", "facebook", "-s", "0", "-q", "-o", "-"]) == 1
    assert capsys.readouterr().err == FULL


def test_summary_in_ascii(tmp_path, monkeypatch, capsys):
    path, printed = tmp_path / "edges.csv", tmp_path / "printed"
    path.write_text("src,dst\na,\u00e9\n", encoding="utf-8")
    with printed.open("w", encoding="ascii") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert run(["bfs", str(path), "-s", "a"]) == 0
        assert "##" in printed.read_text() and "`-- \\xe9" in printed.read_text()
        assert run(["bfs", str(path), "-s", "a", "-q", "-o", "-"]) == 1
    error = "rapids-trav: The output cannot be written in ascii: set LC_ALL=C.UTF-8.\n"
    assert capsys.readouterr().err == error


def test_summary_whose_reader_left(monkeypatch, capsys):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert run(["bfs", "facebook", "-s", "0"]) == 128 + signal.SIGPIPE
    assert capsys.readouterr().err == ""


def test_interrupt_while_the_commands_are_imported(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, path=None, target=None):
            if name == "rapids_trav.cli.commands":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "rapids_trav.cli.commands", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert run(["--help"]) == 128 + signal.SIGINT
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.gpu
def test_cuda_engine(tmp_path, capsys):
    outputs = []
    for engine in ("cpu", "cuda"):
        path = tmp_path / f"{engine}.csv"
        assert (
            run(["bfs", "facebook", "-s", "0", "--engine", engine, "--deterministic", "-o", str(path)]) == 0
        )
        assert f"{engine} engine" in capsys.readouterr().out
        outputs.append(path.read_text())
    assert outputs[0] == outputs[1]


def test_start_waits_for_no_library_that_few_questions_need():
    wanted = "{'matplotlib', 'scipy.io', 'cupy', 'cudf'}"
    script = f"import sys; import rapids_trav.cli.commands; print(sorted({wanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_ids_that_floats_would_round_are_strings(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n12345678901234567890.0,2\n1.0,3\n")
    assert run(["bfs", str(path), "-s", "2"]) == 0
    assert "12345678901234567890" in capsys.readouterr().out
