"""Plots need nothing but result frames, with few levels and with many."""

import pandas as pd
import pytest

from rapids_trav import plot  # registers .trav
from rapids_trav.algorithms.bfs import Traced
from rapids_trav.errors import TravError


def levels(n, unreached=0):
    distance = pd.array([*range(n), None][: n + bool(unreached)], dtype="Int32")
    return pd.DataFrame({"distance": distance, "vertices": [*range(1, n + 1), unreached][: len(distance)]})


def trace(n):
    return pd.DataFrame(
        {
            "level": range(n),
            "direction": ["push" if level % 2 else "pull" for level in range(n)],
            "edges": [-1, *range(1, n)],
            "milliseconds": [0.5] * n,
        }
    )


@pytest.mark.parametrize("n", [1, 5, 30, 500])
def test_panels(n):
    assert len(plot.search(levels(n)).axes) == 1
    figure = plot.search(levels(n, unreached=7), trace(n), title="a search")
    assert [axes.get_ylabel() for axes in figure.axes] == ["vertices", "edges examined", "milliseconds"]
    assert "7 vertices unreached" in figure.axes[0].get_title()


def iterations(n, moved):
    return pd.DataFrame(
        {
            "iteration": range(1, n + 1),
            "mode": ["pull", "notify", "push"] * (n // 3) + ["pull"] * (n % 3),
            "milliseconds": [0.5] * n,
            "bytes": [moved * i for i in range(n)],
            "overlap": [0.25] * n,
        }
    )


@pytest.mark.parametrize("n", [1, 6, 500])
def test_panels_of_a_run(n):
    figure = plot.run(iterations(n, 0), title="a run")
    assert [axes.get_ylabel() for axes in figure.axes] == ["milliseconds"]
    figure = plot.run(iterations(n + 1, 2_000_000))
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "milliseconds",
        "MB moved",
        "share of copying hidden",
    ]
    assert {axes.get_xlabel() for axes in figure.axes} == {"iteration"}
    if n == 6:
        heights = [
            sum(bars)
            for bars in zip(
                *([bar.get_height() for bar in group] for group in figure.axes[1].containers), strict=True
            )
        ]
        assert heights == [0, 2, 4, 6, 8, 10, 12]
        assert figure.axes[2].get_ylim() == (0, 1)
        assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
            "push",
            "pull",
            "notify",
        ]


def test_a_run_that_streams_is_drawn_as_it_was():
    edges = pd.DataFrame({"src": [i % 300 for i in range(3000)], "dst": [(7 * i) % 301 for i in range(3000)]})
    graph = edges.trav.graph(memory_limit="40kB")
    trace = graph.pagerank(trace=True).trace
    figure = plot.run(trace)
    bars = figure.axes[1].containers[0]
    assert [bar.get_height() for bar in bars] == [n_bytes / 1e6 for n_bytes in trace["bytes"]]


def test_bar_heights_are_the_counts():
    axes = plot.search(levels(4)).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [1, 2, 3, 4]


@pytest.mark.filterwarnings("error")
def test_a_run_without_iterations():
    assert len(plot.run(iterations(0, 0)).axes) == 1
    assert len(plot.search(levels(0), trace(1)[:0]).axes) == 3


@pytest.mark.parametrize(
    ("draw", "arguments", "sentence"),
    [
        (plot.run, (None,), r"trace is a NoneType, not a frame: give the \.trace of graph\.run"),
        (plot.run, (Traced(levels(1), iterations(1, 0)),), r"trace is a Traced, not a frame"),
        (plot.run, (trace(3),), r"trace has no column 'iteration': give the \.trace of graph\.run"),
        (plot.search, (levels(3), iterations(3, 0)), r"trace has no column 'level': .* graph\.bfs"),
        (plot.search, (trace(3),), r"levels has no column 'distance': give the frame of graph\.levels"),
    ],
)
def test_what_is_no_such_frame(draw, arguments, sentence):
    with pytest.raises(TravError, match=sentence):
        draw(*arguments)


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_save(tmp_path, name):
    plot.save(plot.search(levels(3)), tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "sentence"), [("a.xyz", "no extension of a picture"), ("no/a.png", "no folder")]
)
def test_save_where_it_cannot_be(tmp_path, name, sentence):
    with pytest.raises(TravError, match=sentence):
        plot.save(plot.search(levels(3)), tmp_path / name)
