"""Edges read from every format, and the error message for every kind of bad file."""

import bz2
import errno
import gzip
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.io import read_edges, write_frame
from rapids_trav.io import rows as text_rows
from rapids_trav.io.columns import usual_ends
from rapids_trav.io.write import to_pandas

EDGES = pd.DataFrame({"src": [1, 3, 5], "dst": [2, 4, 6]})
SNAP = "# Directed graph: a.txt\n# FromNodeId\tToNodeId\n1\t2\n3\t4\n5\t6\n"
MATRIX = """%%MatrixMarket matrix coordinate {field} {symmetry}
% a comment
4 4 3
2 1{a}
4 3{b}
3 3{c}
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        if name.endswith(".gz"):
            data = gzip.compress(data)
        elif name.endswith(".bz2"):
            data = bz2.compress(data)
        elif name.endswith(".zst"):
            data = pa.compress(data, codec="zstd", asbytes=True)
        path.write_bytes(data)
        return path

    return write


def rows(frame):
    return frame.to_numpy().tolist()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "src,dst\n1,2\n3,4\n5,6\n"),
        ("a.csv", "1,2\n3,4\n5,6\n"),
        ("a.csv", "1;2\n3;4\n5;6\n"),
        ("a.csv", '"src", "dst"\r\n1, 2\r\n3, 4\r\n5, 6\r\n'),
        ("a.csv", b"\xef\xbb\xbfsrc,dst\n1,2\n3,4\n5,6"),
        ("a.csv.gz", "src,dst\n1,2\n3,4\n5,6\n"),
        ("a.csv.bz2", "src,dst\n1,2\n3,4\n5,6\n"),
        ("a.csv.zst", "src,dst\n1,2\n3,4\n5,6\n"),
        ("a.tsv", "src\tdst\n1\t2\n3\t4\n5\t6\n"),
        ("a.tsv.gz", "1\t2\n3\t4\n5\t6\n"),
        ("a.txt", SNAP),
        ("a.txt.gz", SNAP),
        ("a.snap", "\n  1   2\n3 4\n\n# in the middle\n5\t6\n"),
        ("a.edges", "% sym unweighted\n1 2\n3 4\n5 6\n"),
        ("a.el", "1 2\n3 4\n5 6"),
    ],
)
def test_text_formats_agree(write, name, text):
    pd.testing.assert_frame_equal(read_edges(write(name, text)), EDGES)


def test_names_stay_as_the_file_has_them(write):
    frame = read_edges(write("a.csv", "from,to,kind\n1,2,x\n3,4,y\n"))
    assert list(frame.columns) == ["from", "to", "kind"]


def test_files_without_names_get_them(write):
    frame = read_edges(write("a.txt", "1 2 0.5 7\n3 4 nan 8\n"))
    assert list(frame.columns) == ["src", "dst", "weight", "column_3"]
    assert frame["weight"].isna().tolist() == [False, True]


def test_words_above_numbers_are_names(write):
    assert list(read_edges(write("a.csv", "p,q\n1,2\n")).columns) == ["p", "q"]


def test_words_above_words_have_to_be_explained(write):
    path = write("a.csv", "p,q\nr,s\n")
    with pytest.raises(TravError, match=r"'p q', words above words, .*: say header=True or header=False"):
        read_edges(path)
    assert len(read_edges(path, header=False)) == 2
    assert list(read_edges(path, header=True).columns) == ["p", "q"]


def test_string_ids(write):
    marks = write("a.csv", "src,dst\nx,y\nNA,null\nnan,x y\n")
    with pytest.raises(TravError, match=r"Line 3 of .* has 'NA' in column 'src', .*add string_ids=True"):
        read_edges(marks)
    assert rows(read_edges(marks, string_ids=True)) == [["x", "y"], ["NA", "null"], ["nan", "x y"]]
    cities = write("b.txt", "New York\tBoston\nBoston\tSalem\n")
    assert rows(read_edges(cities, header=False))[0] == ["New York", "Boston"]
    quote = write("c.txt", 'it"s b\nb c\n')
    assert rows(read_edges(quote, header=False)) == [['it"s', "b"], ["b", "c"]]


def test_columns_keep_their_types(write):
    assert rows(read_edges(write("a.csv", "src,dst\n1.0,2\n2.0,3\n"))) == [[1, 2], [2, 3]]
    assert rows(read_edges(write("b.csv", "src,dst\n1,a\n2,b\n"))) == [["1", "a"], ["2", "b"]]


def test_integers_that_are_written_in_another_way_are_strings(write):
    for word in ("007", "0x7", "+7", "7e0"):
        path = write("a.csv", f"src,dst\n7,1\n{word},1\n")
        assert rows(read_edges(path)) == [["7", "1"], [word, "1"]]
    assert read_edges(write("a.csv", "src,dst\n7,1\n"), string_ids=True)["src"].tolist() == ["7"]


@pytest.mark.parametrize("word", ["-07", "007,1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_of_many_blocks(write, monkeypatch, word, end):
    monkeypatch.setattr(text_rows, "BLOCK", 100)
    monkeypatch.setattr(text_rows, "PIECE", 3)
    for at in range(2, 40):
        lines = ["src,dst", *(f"{i},{7 * i}" for i in range(50)), ""]
        lines[at] = lines[at].split(",")[0] + "," + word if word == "-07" else word
        found = read_edges(write("a.csv", "\ufeff" + end.join(lines) + end))
        assert rows(found) == [line.split(",") for line in lines[1:-1]]
    times = "".join(f"{i},{i + 1},2020-01-05 00:00:{i:02},1e-05{end}" for i in range(50))
    found = read_edges(write("a.csv", f"src,dst,at,weight{end}{times}"))
    assert found["dst"].tolist() == list(range(1, 51))
    assert found["weight"].tolist() == [1e-05] * 50


def test_huge_ids(write):
    exact = read_edges(write("a.csv", "src,dst\n9007199254740993,2\n3.0,4\n"))
    assert rows(exact) == [[9007199254740993, 2], [3, 4]]
    assert read_edges(write("a.csv", f"src,dst\n1,{2**64 - 1}\n"))["dst"].tolist() == [2**64 - 1]
    assert read_edges(write("a.csv", f"src,dst\n1,{10**30}\n"))["dst"].tolist() == [str(10**30)]
    assert read_edges(write("a.txt", f"{2**62} {2**62 + 1}\n")).iloc[0].tolist() == [2**62, 2**62 + 1]


def test_delimiter_and_format_by_name(write):
    path = write("a.dat", "1|2\n3|4\n5|6\n")
    pd.testing.assert_frame_equal(read_edges(path, format="text", delimiter="|"), EDGES)


@pytest.mark.parametrize("delimiter", ["xx", "", '"', "\n", "\0", "→", 7])
def test_delimiters_that_are_none(write, delimiter):
    with pytest.raises(TravError, match="cannot stand between two fields: give one ASCII character"):
        read_edges(write("a.csv", "src,dst\n1,2\n"), delimiter=delimiter)


def test_parquet_file_folder_and_columns(tmp_path):
    folder = tmp_path / "edges"
    folder.mkdir()
    EDGES[:2].assign(extra=1.0).to_parquet(folder / "0.parquet")
    EDGES[2:].assign(extra=2.0).to_parquet(folder / "1.parquet")
    assert len(read_edges(folder)) == 3
    pd.testing.assert_frame_equal(read_edges(folder, columns=["src", "dst"]), EDGES)
    assert len(read_edges(folder / "0.parquet")) == 2


@pytest.mark.parametrize("name", ["m.mtx", "m.mtx.gz"])
def test_matrix_market_ids_count_from_one(write, name):
    text = MATRIX.format(field="pattern", symmetry="general", a="", b="", c="")
    assert rows(read_edges(write(name, text))) == [[2, 1], [4, 3], [3, 3]]


def test_symmetric_matrix_market_gives_entries_once_or_both_ways(write):
    path = write("m.mtx", MATRIX.format(field="real", symmetry="symmetric", a=" .5", b=" 2", c=" 1"))
    once = read_edges(path)
    assert sorted(map(tuple, rows(once))) == [(2, 1, 0.5), (3, 3, 1), (4, 3, 2)]
    both = read_edges(path, both_directions=True)
    assert sorted(map(tuple, rows(both[["src", "dst"]]))) == [(1, 2), (2, 1), (3, 3), (3, 4), (4, 3)]


def test_matrix_market_array(write):
    path = write("m.mtx", "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n0\n0\n")
    assert rows(read_edges(path)) == [[2, 1, 1]]


def matrix(first, *lines):
    return "\n".join([f"%%MatrixMarket matrix coordinate {first}", *lines, ""])


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "", "holds no edges"),
        ("a.csv", "src,dst\n", "holds no edges"),
        ("a.txt", "# only\n# comments\n", "holds no edges"),
        ("a.txt", "\n\n\n", "holds no edges"),
        ("a.csv", b"\xef\xbb\xbf", "holds no edges"),
        ("a.parquet", "", "holds no edges"),
        ("a.csv", "src,dst\n1\n", "Line 2 of"),
        ("a.csv", "src,dst,w\n1,2,3\n1,2", "Line 3 of"),
        ("a.csv", 'src,dst\n"1,2\n3,4\n', "with a quote that encloses no field of the line"),
        ("a.csv", "\0" * 100, "holds no text of edges"),
        ("a.csv", "src,dst\n1,2\n3,4,5\n", "Line 3 of"),
        ("a.csv", "src,dst\n1,2,3\n2,3,9\n", "Line 2 of"),
        ("a.csv", "src,dst\n0,2,3\n1,3,9\n", "Line 2 of"),
        ("a.csv", "src,dst\n1,2,\n2,3,9\n", "Line 2 of"),
        ("a.csv", "src,dst\n1,2,,\n2,3,,\n", "Line 2 of"),
        ("a.csv", "src,dst\n1,2,NA\n2,3,NA\n", "Line 2 of"),
        ("a.csv", "src,dst\n1,2,3,4\n2,3,9,9\n", "2 fields are expected"),
        ("a.tsv", "src\tdst\n1\t2\t3\n2\t3\t9\n", "Line 2 of"),
        ("a.csv", "src,dst\n1,2\n\n3,\n", "Line 4 of"),
        ("a.txt", "# c\n1 2\n3\n", "Line 3 of"),
        ("a.txt.gz", "# c\n1 2\n3 4 5\n", "Line 3 of"),
        ("a.txt", "1\n2\n", "Line 1 of"),
        ("a.csv", "src,src\n1,2\n", "two columns 'src'"),
        ("a.csv", b"src,dst\n1,\xff\xfe\n", "byte 0xff, which is not UTF-8: name the encoding"),
        (
            "a.parquet",
            "no\0parquet",
            "a.parquet is not a complete Parquet file: check it, or name another format",
        ),
        ("a.parquet", "PAR1PAR1", "is not a complete Parquet file"),
        ("a.mtx", "1 2 3\n", "cannot be read"),
        ("a.mtx", "", "Missing banner"),
        ("a.mtx", "3 3 2\n1 2\n2 3\n", "Missing banner"),
        ("a.mtx.gz", "a b\n1 2\n3 4\n", "Missing banner"),
        ("a.mtx", matrix("pattern general", "3 3 2", "1 2"), "Truncated"),
        ("a.mtx", matrix("pattern general", "3 3 1", "1 9"), "out of bounds"),
        ("a.mtx", matrix("pattern general", "3 4 1", "1 2"), "3 x 4 matrix"),
        ("a.mtx", matrix("complex general", "3 3 1", "1 2 1 1"), "complex"),
        ("a.mtx", matrix("pattern general", "3 3 0"), "holds no edges"),
        ("a.mtx", matrix("pattern general", "3 3 1", "0 1"), "out of bounds"),
        ("a.mtx", matrix("pattern general", "3 3 1", "1 2", "2 1"), "Too many lines"),
        ("a.mtx", matrix("pattern general", "9" * 31 + " 2 1", "1 2"), "out of range"),
        ("a.mtx", matrix("pattern general", "-2 -2 1", "1 2"), "negative"),
        ("a.mtx", matrix("real general", "3 3 1", "1 2 x"), "Line 3: Invalid floating-point value"),
        ("a.mtx", matrix("words general", "3 3 1", "1 2"), "header element: words"),
        ("a.mtx", matrix("real skew-symmetric", "3 3 1", "2 1 1"), "does not describe edges"),
        ("a.mtx", "%%MatrixMarket vector coordinate real general\n2 1\n1 2\n", "2 x 1 matrix"),
    ],
)
def test_wrong_files_get_one_sentence(write, name, text, sentence):
    with pytest.raises(TravError) as caught:
        read_edges(write(name, text))
    message = str(caught.value)
    assert sentence in message
    assert message.endswith(".") and "\n" not in message


def test_cut_compressed_file(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 10_000)[:-12])
    with pytest.raises(TravError, match="cannot be read"):
        read_edges(path)


@pytest.mark.parametrize("name", ["0.csv", "9.csv"])
def test_folder_with_a_file_that_is_no_parquet(tmp_path, name):
    EDGES.to_parquet(tmp_path / "5.parquet")
    (tmp_path / name).write_text("src,dst\n1,2\n")
    with pytest.raises(
        TravError, match=rf"{name} is not a complete Parquet file: check it, or [^\n]*\.$"
    ) as caught:
        Graph.from_edges(tmp_path)
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid)


def test_frames_of_different_ids_are_told_apart():
    frames = [pd.DataFrame({"src": [1], "dst": [2]}), pd.DataFrame({"src": ["a"], "dst": ["b"]})]
    with pytest.raises(TravError, match=r"Column 'src' is int64 in some of the edges and .* in others"):
        Graph.from_edges(frames)


def test_wrong_questions(write, tmp_path):
    path = write("a.csv", "src,dst\n1,2\n")
    (tmp_path / "empty").mkdir()
    EDGES.to_parquet(tmp_path / "a.parquet")
    for call, sentence in [
        (lambda: read_edges(tmp_path / "none.csv"), "There is no file"),
        (lambda: read_edges(path, format="xls"), "format='xls' is not known"),
        (lambda: read_edges(path, library="polars"), "library='polars' is not known"),
        (lambda: read_edges(path, columns=["src", "to"]), "no column 'to': choose one of src"),
        (lambda: read_edges(tmp_path / "a.parquet", columns=["to"]), "no column 'to': choose one of src"),
        (lambda: read_edges(tmp_path / "empty"), "holds no files of edges"),
    ]:
        with pytest.raises(TravError, match=sentence):
            call()


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.csv.gz", "r.parquet", "r.pq"])
def test_results_come_back(tmp_path, name):
    result = pd.DataFrame({"vertex": ["a", "b"], "distance": pd.array([0, None], dtype="Int32")})
    write_frame(result, tmp_path / name)
    if "parquet" in name or "pq" in name:
        back = pd.read_parquet(tmp_path / name)
    else:
        back = pd.read_csv(tmp_path / name, sep="\t" if "tsv" in name else ",", dtype={"distance": "Int32"})
    assert back["vertex"].tolist() == ["a", "b"]
    assert back["distance"].isna().tolist() == [False, True]


def test_results_that_cannot_be_written(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for name, sentence in [
        ("r.xlsx", "no extension"),
        ("r.parquet.gz", "no extension"),
        ("no/r.csv", "no folder"),
        ("folder.csv", "is a folder"),
    ]:
        with pytest.raises(TravError, match=sentence):
            write_frame(EDGES, tmp_path / name)


class TooLarge(pd.DataFrame):
    """Frame that is too large for the disk."""

    def to_csv(self, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    to_parquet = to_csv


@pytest.mark.parametrize("name", ["r.csv", "r.tsv.gz", "r.parquet"])
@pytest.mark.parametrize("older", [b"older", None])
def test_a_full_disk_leaves_what_was_there(tmp_path, name, older):
    target = tmp_path / name
    if older is not None:
        target.write_bytes(older)
    with pytest.raises(TravError, match="cannot be written: No space left on device"):
        write_frame(TooLarge({"vertex": [1]}), target)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == ({name: older} if older else {})


def test_results_replace_the_file_of_a_link_and_keep_its_mode(tmp_path):
    target, link = tmp_path / "r", tmp_path / "link.csv.gz"
    target.write_text("older")
    target.chmod(0o640)
    link.symlink_to(target.name)
    write_frame(EDGES, link)
    pd.testing.assert_frame_equal(pd.read_csv(link), EDGES)
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in tmp_path.iterdir()} == {"r", "link.csv.gz"}


def test_results_go_straight_to_what_is_no_file(tmp_path):
    link = tmp_path / "null.csv"
    link.symlink_to("/dev/null")
    write_frame(EDGES, link)
    assert link.is_char_device()
    assert list(tmp_path.iterdir()) == [link]


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.txt"])
def test_cudf_frames_equal_pandas_frames(tmp_path, name):
    path = tmp_path / name
    EDGES.to_parquet(path) if name.endswith("parquet") else EDGES.to_csv(path, index=False, sep="\t")
    frame = read_edges(path, library="cudf")
    assert type(frame).__module__.startswith("cudf")
    pd.testing.assert_frame_equal(to_pandas(frame), EDGES, check_dtype=False)


@pytest.mark.gpu
def test_cudf_categories_and_numbers_come_to_pandas():
    import cudf

    frame = cudf.DataFrame({"vertex": ["a", "b"], "distance": cudf.Series([0, None], dtype="int32")})
    result = to_pandas(frame.astype({"vertex": "category"}))
    assert result["vertex"].tolist() == ["a", "b"]
    assert str(result["distance"].dtype) == "Int32"


def test_ids_in_other_columns(write):
    path = write("a.csv", "kind,from,to\n,NA,1\nx,2,3\n")
    frame = read_edges(path, src="from", dst="to", string_ids=True)
    assert rows(frame[["from", "to"]]) == [["NA", "1"], ["2", "3"]]
    with pytest.raises(TravError, match=r"Line 3 of .* from and to must not be empty"):
        read_edges(write("b.csv", "kind,from,to\n,1,1\nx,2,\n"), src="from", dst="to")
    with pytest.raises(TravError, match="no column 'src'"):
        read_edges(path, src="src", dst="to")


def test_a_folder_of_parquet_files_of_different_types(tmp_path):
    def put(name, **columns):
        pd.DataFrame(columns).to_parquet(tmp_path / f"{name}.parquet")

    put("one", src=[7], dst=pd.array([8], "int32"))
    put("two", src=[8], dst=[2**40])
    assert read_edges(tmp_path)["dst"].tolist() == [8, 2**40]
    put("two", src=["007"], dst=[9])
    with pytest.raises(TravError, match="src has incompatible types"):
        read_edges(tmp_path)


# ---- text rows that are too short, very long fields, and the usual column names of the two ends


@pytest.fixture
def read(tmp_path):
    def read(name, text, **options):
        path = tmp_path / name
        path.write_text(text)
        return read_edges(path, **options)

    return read


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.txt", "1 2 3 4 5\n2 3\n", 2),  # an adjacency list
        ("a.txt", "# nodes\n1 2 3\n\n2 3 4 # three\n5 6\n7 8 9\n", 5),
        ("a.csv", "src,dst,weight\n1,2,0.5\n2,3\n", 3),
        ("a.csv", "src,dst,weight\n1,2\n2,3\n", 2),
        ("a.tsv", "1\t2\t3\n2\t3\n", 2),
        ("a.csv", 'src,dst,note\n1,2,"two\nlines"\n2,3\n', 4),
    ],
)
def test_short_rows_are_refused(read, name, text, line):
    with pytest.raises(TravError, match=rf"Line {line} of .*fields are expected"):
        read(name, text)


def test_an_adjacency_list_is_called_one(read):
    with pytest.raises(TravError, match="if this is an adjacency list, write each edge on a line of its own"):
        read("a.txt", "1 2 3 4 5\n2 3\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "src,dst,weight\n1,2,\n2,3,NA\n"),
        ("a.txt", "1 2 nan # a comment\n2 3 nan # and another\n\n"),
        ("a.csv", 'src,dst,note\n1,2,"two\nlines"\n2,3,\n'),
    ],
)
def test_fields_that_are_there_may_be_null(read, name, text):
    frame = read(name, text)
    assert frame["dst"].tolist() == [2, 3] and frame.iloc[:, 2].isna().any()


@pytest.mark.parametrize("row", ["{}", '"{}"'])
def test_long_fields(read, row):
    """A quoted one exceeds the field limit of Python's CSV reader, which looks at the first lines."""
    long = "x" * 200_000
    text = f"src,dst\n{row.format(long)},b\nb,c\n"
    assert read("a.csv", text)["src"].tolist() == [long, "b"]


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        (["src", "dst", "from", "to"], ("src", "dst")),
        (["destination", "source", "target"], ("source", "destination")),
        (["running", "from", "to"], ("from", "to")),
        (["FromNodeId", "ToNodeId"], ("FromNodeId", "ToNodeId")),
        (["Source", "Target", "weight"], ("Source", "Target")),
        (["from", "to", "u", "v"], None),  # either pair may be meant
        (["From", "from", "to"], None),
        (["from", "dst"], None),
    ],
)
def test_usual_ends(names, ends):
    assert usual_ends(names) == ends


def test_ids_are_the_ends_wherever_they_stand(read):
    frame = read("a.csv", "from,weight,to\n01,2,NA\n", string_ids=True)
    assert frame.loc[0].tolist() == ["01", 2, "NA"]
