"""Text rows that are too short, very long fields, and the usual column names of the two ends."""

import pytest

from rapids_trav import TravError
from rapids_trav.io import read_edges
from rapids_trav.io.columns import usual_ends


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
