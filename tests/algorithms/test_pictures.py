"""Pictures of neighbourhoods: which vertices and edges are drawn, in SVG and with matplotlib."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rapids_trav import Graph, datasets, generators
from rapids_trav.algorithms import pictures


def of(found):
    return found._picture()


def arrow(edges):
    return pa.Table.from_pandas(edges)


def test_a_small_neighbourhood_is_drawn_whole():
    edges = pd.DataFrame({"src": ["a", "b", "b", "c", "a"], "dst": ["b", "c", "d", "d", "a"]})
    found = edges.trav.khop("a", 3)
    picture = of(found)
    assert picture.names == [["a"], ["b"], ["c", "d"]] and picture.totals == [1, 1, 2]
    assert picture.edges == [(0, 1), (1, 2), (1, 3), (2, 3)] and picture.n_edges == 5
    assert repr(found) == "<Neighborhood: 4 vertices, 5 edges>"
    html = found._repr_html_()
    assert "4 vertices by distance, 5 edges" in html and html.count("<circle") == 4


def test_those_drawn_are_joined_to_the_next_layer():
    """Each vertex that is drawn has a neighbour drawn one layer nearer, if one layer has room for them."""
    graph = datasets.load("facebook").trav.graph()
    picture = of(graph.khop(0, 3))
    assert [len(layer) for layer in picture.names] == [1, *3 * [pictures.MOST]]
    assert picture.totals == graph.levels(0, depth_limit=3)["vertices"].tolist()[:4]
    ends = np.cumsum([0, *map(len, picture.names)])
    layer = np.repeat(np.arange(4), np.diff(ends))
    nearer = {v for u, v in picture.edges if layer[u] < layer[v]}
    assert nearer == set(range(1, ends[-1]))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library):
    edges = generators.rmat(6, 4, seed=3)[["src", "dst"]]
    wanted = of(edges.trav.khop(int(edges["src"][0]), 2))
    other = pytest.importorskip("polars").from_pandas(edges) if library == "polars" else arrow(edges)
    found = of(Graph.from_edges(other).khop(int(edges["src"][0]), 2))
    assert (found.names, found.edges, found.totals) == (wanted.names, wanted.edges, wanted.totals)


def test_ids_of_several_columns_and_markup_in_them():
    edges = pd.DataFrame({"u": ["<b>", "<b>"], "x": [1, 1], "v": ["&", "'"], "y": [2, 3]})
    found = edges.trav.graph(["u", "x"], ["v", "y"]).khop(("<b>", 1), 1)
    assert of(found).names == [["<b>, 1"], ["&, 2", "', 3"]]
    assert "&lt;b&gt;, 1" in found._repr_html_() and "<b>" not in found._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "long"])
def test_of_a_large_one_only_the_numbers(monkeypatch, library):
    edges = generators.rmat(8, 8, seed=1)
    if library == "long":
        found = generators.path(40).trav.khop(0, 30)
    else:
        monkeypatch.setattr(pictures, "MANY", 10)
        found = Graph.from_edges(edges if library == "pandas" else arrow(edges)).khop(0, 2)
    picture = of(found)
    assert not any(picture.names) and sum(picture.totals) == len(found.vertices)
    assert found._repr_html_().count("<rect") == len(picture.totals)


def test_an_answer_on_workers_is_not_computed():
    dd = pytest.importorskip("dask.dataframe")
    found = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.khop(0, 1)
    lazy = type(found).of(*(dd.from_pandas(frame, npartitions=1) for frame in found), found._columns)
    assert lazy._repr_html_().startswith("<pre>") and "<svg" not in lazy._repr_html_()


@pytest.mark.parametrize("many", [10, 100_000])
def test_with_matplotlib(monkeypatch, many, tmp_path):
    pytest.importorskip("matplotlib")
    from rapids_trav import plot

    monkeypatch.setattr(pictures, "MANY", many)
    found = generators.rmat(8, 8, seed=1).trav.khop(0, 2)
    figure = found.plot()
    (axes,) = figure.axes
    if many == 10:
        assert [bar.get_height() for bar in axes.patches] == of(found).totals
    else:
        drawn = [name for layer in of(found).names for name in layer]
        assert [text.get_text() for text in axes.texts if text.get_text()] == drawn
    plot.save(figure, tmp_path / "near.svg")
    assert (tmp_path / "near.svg").stat().st_size > 1000


def test_changed_and_handmade_neighbourhoods():
    found = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.khop(0, 2)
    assert found._replace(edges=found.edges.head(1))._repr_html_().count("<path") == 1
    assert type(found)(*found)._repr_html_().startswith("<pre>")


def test_long_names_and_many_layers_with_matplotlib():
    pytest.importorskip("matplotlib")
    names = pd.DataFrame({"src": ["x" * 200, "y\n" * 50], "dst": ["y\n" * 50, "z" * 200]})
    small = datasets.load("facebook").trav.khop(0, 1).plot().axes[0]
    assert [label.get_text() for label in small.get_xticklabels()] == ["0\n1", "1\n347\n12 shown"]
    texts = [text.get_text() for text in names.trav.khop("x" * 200, 2).plot().axes[0].texts]
    assert max(map(len, texts)) == 14 and "\n" not in "".join(texts)
    found = generators.path(2000).trav.khop(0, 1999)
    (axes,) = found.plot().axes
    heights = [bar.get_height() for bar in axes.patches]
    assert len(heights) <= pictures.MOST_BARS and sum(heights) == 2000
    assert len(axes.get_xticklabels()) <= 2 * pictures.MOST_LAYERS
    assert found._repr_html_().count("<rect") == len(heights)
