"""Plots need nothing but result frames, with few levels and with many; the small is seen beside the large."""

import warnings

import pandas as pd
import pytest

from rapids_trav import Graph, datasets, generators, plot  # registers .trav
from rapids_trav.algorithms.bfs import Traced
from rapids_trav.engines.searches import RankCosts
from rapids_trav.errors import TravError, TravWarning


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


def labels(figure):
    return [axes.get_ylabel().partition("\n")[0] for axes in figure.axes]


@pytest.mark.parametrize("n", [1, 5, 30, 500])
def test_panels(n):
    assert len(plot.search(levels(n)).axes) == 1
    figure = plot.search(levels(n, unreached=7), trace(n), title="a search")
    assert labels(figure) == ["vertices", "edges examined", "milliseconds"]
    assert figure.axes[0].get_title(loc="left") == "7 vertices unreached"
    scales = ["log" if n >= 30 else "linear", "log" if n > 30 else "linear", "linear"]
    assert [axes.get_yscale() for axes in figure.axes] == scales
    assert [axes.get_ylabel().endswith("(log scale)") for axes in figure.axes] == [s == "log" for s in scales]


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
    figure = plot.run(iterations(n, 0).assign(overlap=0.0), title="a run")
    assert labels(figure) == ["milliseconds"]
    figure = plot.run(iterations(n + 1, 2_000_000))
    assert labels(figure) == ["milliseconds", "MB moved", "share of copying hidden"]
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
        legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert legend == ["mode:", "pull", "notify", "push"]


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


def test_one_and_thousands_are_both_seen():
    found = pd.DataFrame({"distance": [0, 1, 2], "vertices": [1, 4000, 30]})
    axes = plot.search(found).axes[0]
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "log" and low < 1 < 4000 < high
    assert [text.get_text() for text in axes.texts] == ["1", "4,000", "30"]


def test_an_iteration_that_dwarfs_the_others_is_named():
    long = iterations(5, 0).assign(milliseconds=[0.5, 0.25, 999.0, 0.25, 0.5])
    axes = plot.run(long).axes[0]
    assert axes.get_yscale() == "log" and axes.get_title(loc="left") == "iteration 3: 99.9% of 1,000"
    assert plot.run(iterations(5, 0)).axes[0].get_title(loc="left") == ""


@pytest.mark.parametrize("n", [4, 100])
def test_no_mode_is_left_out(n):
    modes = ["hook", "rest", "mixed", "another"] * (n // 4)
    axes = plot.run(iterations(n, 0).assign(mode=modes)).axes[0]
    shown = [*axes.containers, *axes.collections]
    assert [part.get_label() for part in shown] == ["hook", "rest", "mixed", "another"]


def test_batches_of_searches_are_added_up():
    batches = pd.concat([trace(3), trace(4).assign(direction="push")]).assign(batch=[0] * 3 + [1] * 4)
    axes = plot.search(levels(4), batches).axes[2]
    heights = {group.get_label(): [bar.get_height() for bar in group] for group in axes.containers}
    assert heights == {"mixed": [1, 0, 1, 0], "push": [0, 1, 0, 0.5]}


def test_the_tree():
    graph = datasets.load("facebook").trav.graph()
    figure = plot.search(graph.levels(0), result=graph.bfs(0))
    tree = figure.axes[0]
    assert tree.get_title(loc="left") == "tree of predecessors: 61 of 4,039 vertices"
    assert [label.get_text() for label in tree.get_xticklabels()][:3] == [
        "0\n1",
        "1\n347\n10 shown",
        "2\n1,171\n10 shown",
    ]
    names = [text.get_text() for text in tree.texts if text.get_text()]
    assert len(names) == len(set(names)) == 61 and "0" in names
    assert len(tree.texts) == 61 + 60  # an edge to each vertex but the source
    path = generators.path(50).trav.graph()
    title = plot.search(path.levels(0), result=path.bfs(0)).axes[0].get_title(loc="left")
    assert title == "tree of predecessors: 10 of 50 vertices, the first 10 of 50 layers"


@pytest.mark.parametrize("library", ["polars", "pyarrow", "dask.dataframe"])
def test_frames_of_other_libraries(library):
    module = pytest.importorskip(library)
    big = 2**60  # a double cannot hold these ids
    edges = pd.DataFrame({"src": [big + 1, big + 1, big + 3], "dst": [big + 2, big + 3, big + 5]})
    if library == "dask.dataframe":
        edges = module.from_pandas(edges, npartitions=1)
    else:
        edges = module.from_pandas(edges) if library == "polars" else module.Table.from_pandas(edges)
    with warnings.catch_warnings(action="ignore", category=TravWarning):
        graph = Graph.from_edges(edges)
    found, by_level = graph.bfs(big + 1, trace=True)
    figure = plot.search(graph.levels(big + 1), by_level, result=found)
    assert figure.axes[0].get_title(loc="left") == "tree of predecessors: 4 of 4 vertices"
    assert [bar.get_height() for bar in figure.axes[1].patches] == [1, 2, 1]
    if library != "dask.dataframe":  # with a client, the graph is on its workers, where there is no PageRank
        label = plot.run(graph.pagerank(trace=True).trace).axes[0].get_ylabel()
        assert label.startswith("milliseconds")


def test_nothing_reached():
    found = generators.path(3).trav.bfs(0)[:0]
    (axes,) = plot.search(levels(0), result=found).axes
    assert [text.get_text() for text in axes.texts] == ["no vertex reached"]


def test_ids_of_several_columns():
    edges = pd.DataFrame({"u": ["p", "p"], "x": [1, 1], "v": ["q", "r"], "y": [2, 3]})
    graph = edges.trav.graph(["u", "x"], ["v", "y"])
    tree = plot.search(graph.levels(("p", 1)), result=graph.bfs(("p", 1))).axes[0]
    assert {text.get_text() for text in tree.texts} == {"", "p,1", "q,2", "r,3"}


def test_each_rank_has_a_row():
    costs = {f"{name}_{rank}": [1.0 + rank, 0, 90] for rank in range(2) for name in RankCosts._fields}
    figure = plot.search(levels(4), trace(4)[1:].assign(**costs), title="ranks")
    maps = [axes for axes in figure.axes if axes.get_ylabel() == "rank"]
    assert len(maps) == 3
    for axes in maps:
        (mesh,) = axes.collections
        assert mesh.get_array().filled(0).tolist() == [[1, 0, 90], [2, 0, 90]]
        assert axes.get_xlabel() == "level (white: 0)"
    assert labels(figure)[-3:] == ["milliseconds,", "milliseconds,", "bytes sent (log)"]


def over_blocks(*ends):
    """Return the trace of a run over blocks whose iterations end at these times."""
    n = len(ends)
    begins = [0.0, *ends[:-1]]
    spans = {
        "span_block": [[7, 8]] * n,
        "span_what": [["load", "work"]] * n,
        "span_begin": [[begin, begin] for begin in begins],
        "span_end": [[end, end] for end in ends],
    }
    return iterations(n, 1000).assign(mode="blocks", overlap=0.0, **spans)


def corners(collection):
    return [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in collection.get_paths()]


def test_blocks_over_time():
    figure = plot.run(over_blocks(2.0, 3.0, 6.0))
    assert labels(figure) == ["milliseconds", "MB moved", "block"]
    axes = figure.axes[-1]
    drawn = {collection.get_label(): corners(collection) for collection in axes.collections}
    assert drawn == {
        "in memory": [],
        "loaded": [(0, 2), (2, 3), (3, 6)],
        "worked on": [(0, 2), (2, 3), (3, 6)],
    }
    assert axes.get_xlim() == (0, 6) and axes.get_ylim() == (8.5, -0.5)
    assert [line.get_xdata()[0] for line in axes.lines] == [2, 3]


def test_iterations_of_blocks_too_short_to_see_are_drawn():
    axes = plot.run(over_blocks(2000.0, 2001.0, 2003.0)).axes[-1]
    drawn = {collection.get_label(): corners(collection) for collection in axes.collections}
    assert drawn["loaded"] == [(0, 1), (1, 2), (2, 3)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "2,000", "2,001", "2,003"]
    assert "as long as the others" in axes.get_xlabel()


@pytest.mark.filterwarnings("error")
def test_a_run_without_iterations():
    assert len(plot.run(iterations(0, 0)).axes) == 1
    assert len(plot.search(levels(0), trace(1)[:0]).axes) == 3


def draw_result(result):
    return plot.search(levels(3), result=result)


@pytest.mark.parametrize(
    ("draw", "arguments", "sentence"),
    [
        (plot.run, (None,), r"trace is a NoneType, not a frame: give the \.trace of graph\.run"),
        (plot.run, (Traced(levels(1), iterations(1, 0)),), r"trace is a Traced, not a frame"),
        (plot.run, (trace(3),), r"trace has no column 'iteration': give the \.trace of graph\.run"),
        (plot.search, (levels(3), iterations(3, 0)), r"trace has no column 'level': .* graph\.bfs"),
        (draw_result, (levels(3),), r"result has no column 'predecessor': give the frame of graph\.bfs"),
        (plot.search, (trace(3),), r"levels has no column 'distance': give the frame of graph\.levels"),
        (plot.search, (levels(3).astype(str),), r"Column '\w+' of levels holds \w+, not numbers: give the"),
        (plot.save, ("picture", "a.png"), r"figure is a str, not a figure: give what search or run returns"),
    ],
)
def test_what_is_no_such_frame(draw, arguments, sentence):
    with pytest.raises(TravError, match=sentence):
        draw(*arguments)


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_save(tmp_path, name):
    plot.save(plot.search(levels(3)), tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000


def test_save_where_there_is_no_space(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    figure = plot.search(levels(3))
    monkeypatch.setattr(figure, "savefig", full)
    with pytest.raises(
        TravError, match=r"a\.png cannot be written: No space left on device; choose another "
    ):
        plot.save(figure, tmp_path / "a.png")


@pytest.mark.parametrize(
    ("name", "sentence"), [("a.xyz", "no extension of a picture"), ("no/a.png", "no folder")]
)
def test_save_where_it_cannot_be(tmp_path, name, sentence):
    with pytest.raises(TravError, match=sentence):
        plot.save(plot.search(levels(3)), tmp_path / name)
