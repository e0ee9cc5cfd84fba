"""Bundled data sets: names, files, and graphs as their page describes them."""

import pytest

from rapids_trav import datasets
from rapids_trav.errors import TravError


@pytest.mark.parametrize(
    ("name", "vertices", "rows"),
    [("facebook", 4_039, 88_234), ("twitter-ego", 81_306, 1_342_310), ("citations-hepph", 34_546, 421_578)],
)
def test_sizes(name, vertices, rows):
    edges = datasets.load(name)
    assert list(edges.columns) == ["src", "dst"]
    assert set(edges.dtypes.astype(str)) == {"int32"}
    assert len(edges) == rows
    assert len(set(edges["src"]) | set(edges["dst"])) == vertices


def test_names_and_paths():
    assert datasets.names() == ["facebook", "twitter-ego", "citations-hepph"]
    assert all(datasets.path(name).is_file() for name in datasets.names())


def test_unknown_name():
    with pytest.raises(TravError, match="No data set is called 'karate'"):
        datasets.load("karate")


@pytest.mark.gpu
def test_cudf():
    assert len(datasets.load("facebook", library="cudf")) == 88_234
