"""Messages about edges, filters, checkpoints, programs and standard input name the cause and a remedy."""

import gzip
import io
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, Program, TravError
from rapids_trav.cli import run

FRAME = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        (["x.parquet", FRAME], "edges mixes frames and paths: read the files into frames first"),
        ([FRAME, "x.parquet"], "edges mixes frames and paths: read the files into frames first"),
        (FRAME["src"], "edges is a Series of pandas, not a frame"),
        (FRAME["src"].astype(str), "edges is a Series of pandas, not a frame"),
        (FRAME.index, "edges is a RangeIndex of pandas, not a frame"),
    ],
    ids=["path first", "frame first", "numbers", "words", "index"],
)
def test_edges_that_are_no_frame(edges, sentence):
    with pytest.raises(TravError, match=sentence):
        Graph.from_edges(edges)


def test_a_folder_without_parquet_files(tmp_path):
    with pytest.raises(TravError, match="hold no Parquet files: name a folder that does"):
        Graph.from_edges(tmp_path)


@pytest.mark.parametrize(
    ("values", "remedy", "mend"),
    [
        ([True, None], "fillna(False).astype(bool)", lambda column: column.fillna(False).astype(bool)),
        ([True, False], "astype(bool)", lambda column: column.astype(bool)),
    ],
    ids=["null", "objects"],
)
def test_what_a_filter_of_objects_is_told_helps(values, remedy, mend):
    edges = FRAME.assign(open=pd.Series(values, dtype=object))
    with pytest.raises(TravError, match=re.escape(f" edges['open'].{remedy}")):
        edges.trav.bfs(1, where="open")
    mended = edges.assign(open=mend(edges["open"]))
    assert mended.trav.bfs(1, where="open")["distance"].tolist()[:2] == [0, 1]


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_in_the_place_of_a_checkpoint(tmp_path, resume):
    (tmp_path / "checkpoint.trav").mkdir()
    with pytest.raises(TravError, match=r"checkpoint\.trav is a folder, not a file: remove it"):
        FRAME.trav.pagerank(checkpoint=tmp_path, resume=resume)


def test_a_file_is_not_the_folder_of_a_graph(tmp_path):
    (tmp_path / "graph").touch()
    with pytest.raises(TravError, match="graph is a file: name the folder that a graph was saved in"):
        Graph.open(tmp_path / "graph", engine="cpu")


@pytest.mark.parametrize("name", ["scatter", "total"])
@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda *values: 1, r"takes \*arguments or keywords"),
        (lambda value, *, degree: 1, r"takes \*arguments or keywords"),
        (lambda value, degree=1: 1, "has arguments with defaults"),
    ],
)
def test_functions_of_programs_are_named(name, function, sentence):
    with pytest.raises(TravError, match=f"^{name} of program 'odd' {sentence}"):
        Program("odd", "float64", "sum", **{name: function})


def test_pagerank_takes_a_dtype_of_numpy():
    for dtype in (np.dtype("float32"), np.float32, "float32"):
        assert FRAME.trav.pagerank(dtype=dtype)["pagerank"].dtype == np.float32


def test_the_standard_input_has_no_name_that_says_what_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"garbage, and more of it")))
    assert run(["bfs", "-", "--format", "parquet", "-s", "1"]) == 1
    told = capsys.readouterr().err
    assert "is not a complete Parquet file: check it, or name another format with --format." in told
    assert "its extension" not in told and "input'" not in told


def test_the_standard_input_may_be_compressed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"1,2\n", mtime=0))))
    assert run(["bfs", "-", "--format", "csv", "-s", "1", "-q"]) == 0


def test_an_empty_id_is_shown(tmp_path, capsys):
    FRAME.to_csv(tmp_path / "edges.csv", index=False)
    assert run(["bfs", str(tmp_path / "edges.csv"), "--source", ""]) == 1
    assert "--source '': the ids of these edges are whole numbers: give one" in capsys.readouterr().err


def test_a_damaged_parquet_file_is_named(tmp_path, capsys):
    path = tmp_path / "edges.parquet"
    FRAME.to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56  # the first page; the footer stays valid
    path.write_bytes(content)
    assert run(["bfs", str(path), "--source", "1"]) == 1
    told = capsys.readouterr().err
    assert f"Edges {path} cannot be read as Parquet: " in told
    assert told.endswith("; check that the files are complete, or write them again.\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_not_unicode_is_told_as_that(tmp_path, capsys):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.csv")
    FRAME.to_csv(path, index=False)
    assert run(["bfs", path, "-s", "1"]) == 1
    assert "has a name that is not valid Unicode" in capsys.readouterr().err
