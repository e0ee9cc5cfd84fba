"""Unexpected option values, one for each way in which a comparison or an error message can fail."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, Program, TravError, UnknownColumnError
from rapids_trav.cli import run
from rapids_trav.graph500 import run as graph500
from rapids_trav.io import read_edges

EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "km": [1, 2]})
# Comparisons with the first four have no truth value; the last has too many digits for a message.
ODD = {
    "null": pd.NA,
    "array": np.array([1, 2]),
    "Series": pd.Series([1, 2]),
    "frame": pd.DataFrame({"a": [1]}),
    "huge": 10**5000,
}
odd = pytest.mark.parametrize("value", ODD.values(), ids=ODD)


@odd
@pytest.mark.parametrize("option", ["src", "weight", "engine", "degree_sort"])
def test_options_of_graphs(option, value):
    ends = {"src": "src", "dst": "dst"}
    with pytest.raises(TravError) as error:
        Graph.from_edges(EDGES, **{**ends, option: value})
    assert "\n" not in str(error.value)


@odd
def test_filters(value):
    with pytest.raises(TravError) as error:
        EDGES.trav.bfs(0, where=value)
    assert "\n" not in str(error.value)


def test_huge_labels_are_unknown_columns():
    with pytest.raises(UnknownColumnError, match="an integer of 16610 bits is not in the edges"):
        EDGES.trav.graph(weight=10**5000)


@odd
@pytest.mark.parametrize("option", ["dtype", "reducer", "tolerance"])
def test_options_of_programs(option, value):
    with pytest.raises(TravError, match=rf"^{option}=") as error:
        Program(**{"name": "p", "dtype": "int64", "reducer": "min", option: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype(np.float32)])
def test_dtypes_of_programs_in_every_spelling(dtype):
    assert Program("p", dtype=dtype, reducer="min").dtype == "float32"


@pytest.mark.parametrize("option", ["alpha", "tol"])
def test_numbers_past_floats(option):
    with pytest.raises(TravError, match=rf"^{option}=an integer of"):
        EDGES.trav.pagerank(**{option: 10**5000})


@odd
@pytest.mark.parametrize("option", ["engine", "scale", "seed"])
def test_options_of_graph500(option, value):
    with pytest.raises(TravError, match=rf"^{option}="):
        graph500(**{"scale": 3, "engine": "cpu", option: value})


def test_names_that_the_file_system_does_not_take(tmp_path):
    graph = EDGES.trav.graph()
    for use in (graph.save, Graph.open, lambda name: graph.pagerank(checkpoint=name)):
        with pytest.raises(TravError, match="has a character that no file name can have"):
            use(str(tmp_path / "\ud800"))


def test_arrays_without_dimensions():
    pairs = pd.DataFrame({"a": [0], "b": [1], "c": [2], "d": [3]}).trav.graph(["a", "b"], ["c", "d"])
    with pytest.raises(TravError, match="sources holds 3, but ids have 2 columns"):
        pairs.bfs(np.array(3))
    with pytest.raises(TravError, match=r"edges holds an object of type numpy\.ndarray"):
        Graph.from_edges(np.array(3))


def test_initial_values_that_make_no_array():
    import pyarrow as pa

    column = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(["a", "b", "c"], pa.string_view())))
    with pytest.raises(TravError, match="initial cannot be converted to an array"):
        EDGES.trav.run(Program("p", dtype="int64", reducer="min"), initial=column)


@pytest.mark.parametrize(
    "option",
    [
        *({"header": "yes"}, {"header": 1}, {"header": []}),
        *({"columns": "src"}, {"columns": 3}, {"columns": []}, {"columns": ["src", 3]}),
        *(
            {"src": True},
            {"dst": [None]},
            {"weight": 1.5},
            {"quote": "ab"},
            {"comment": " "},
            {"decimal": ";"},
        ),
        *({"encoding": "none"}, {"encoding": 3}),
    ],
)
def test_options_of_reading(tmp_path, option):
    path = tmp_path / "a.csv"
    path.write_text("src,dst\n1,2\n")
    with pytest.raises(TravError, match=rf"^{next(iter(option))}="):
        read_edges(path, **option)


@pytest.mark.parametrize("words", [["bfs", "a\nb", "-s", "0"], ["bfs", "facebook", "-s", "0\n1"]])
def test_words_of_several_lines_are_told_in_one(words, capsys):
    assert run(words) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and r"\n" in said
