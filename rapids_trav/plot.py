"""Plots of a search (tree, vertices and cost by level) and of a program's run (cost by iteration, blocks).

matplotlib comes with the extra `plot` and is imported only where something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rapids_trav.algorithms.pictures import (
    RANK_PANELS,
    block_spans,
    draw_blocks,
    draw_layers,
    draw_ranks,
    layers_width,
    n_ranks,
    rank_costs,
)
from rapids_trav.algorithms.search_tree import SearchTree
from rapids_trav.errors import TravError
from rapids_trav.frames import forms
from rapids_trav.frames.columns import Frame, id_names
from rapids_trav.io.write import check_writable, to_pandas
from rapids_trav.programs.definition import kind_of
from rapids_trav.utilities.figures import legend_above, new_figure, set_scale
from rapids_trav.utilities.locations import file_location

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

NUMBERS = {"level", "iteration", "distance", "vertices", "edges", "milliseconds", "bytes", "overlap"}
TREE_HEIGHT = 1.8
MANY_LEVELS = 60  # from here on, levels are drawn as one outline instead of single bars
FEWEST = 4  # levels; fewer are drawn as wide as these would be
FEW_LEVELS = 12  # up to here, bars have their number above
TREE_ROWS, TREE_LAYERS = 10, 10  # of the vertices of a search's tree
COLORS = {"push": "#1f77b4", "pull": "#ff7f0e", "notify": "#2ca02c", "blocks": "#9467bd"}
COLORS |= {"mixed": "#8c564b", "hook": "#1f77b4", "rest": "#ff7f0e"}
OTHER = "#7f7f7f"


def search(
    levels: Frame, trace: Frame | None = None, *, result: Frame | None = None, title: str = ""
) -> Figure:
    """Draw a search: vertices by distance, with a trace edges examined and time by level, and its tree.

    A scale is logarithmic where its smallest number could not be seen beside the largest.

    Parameters
    ----------
    levels : frame
        Columns `distance` and `vertices`, as `graph.levels(...)` returns; a null distance is "unreached".
    trace : frame, optional
        The trace of `graph.bfs(..., trace=True)`: columns `level`, `direction`, `edges`, `milliseconds`.
        That of a graph on several workers also has the times and bytes of each.
    result : frame, optional
        The frame of `graph.bfs(...)`, with predecessors: up to ten vertices of each of the first ten layers
        are drawn with the tree's edges, those with the largest branches.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to any window; `save` writes it.

    Examples
    --------
    >>> from rapids_trav import datasets, plot
    >>> friends = datasets.load("facebook").trav.graph()
    >>> figure = plot.search(friends.levels(0), friends.bfs(0, trace=True).trace)
    >>> len(figure.axes)
    3
    """
    levels = _table("levels", levels, ("distance", "vertices"), "the frame of graph.levels(...)")
    if trace is not None:
        columns = ("level", "direction", "edges", "milliseconds")
        trace = _table("trace", trace, columns, "the .trace of graph.bfs(..., trace=True)")
    tree = None
    if result is not None:
        result = _table("result", result, ["distance"], "the frame of graph.bfs(...)")
        own = id_names("predecessor", 2 if "vertex_0" in result else 1)
        tree = SearchTree(_table("result", result, own, "the frame of graph.bfs(...)"))
        tree = tree if len(tree.parent) else None
    if trace is not None and "batch" in trace:
        trace = _by_level(trace)
    layers = tree.layers(TREE_ROWS, TREE_LAYERS) if tree else []
    names = [tree.names(layer) for layer in layers] if tree else []
    ranks = n_ranks(trace) if trace is not None else 0
    heights = [*[TREE_HEIGHT] * bool(tree), *[1] * (1 if trace is None else 3)]
    heights += [1 + ranks / 32] * (len(RANK_PANELS) if ranks else 0)
    figure, panels = _panels(heights, layers_width(names))
    if tree:
        _draw_tree(next(panels), tree, layers, names)
    _draw_levels(next(panels), levels)
    if trace is not None:
        _draw_trace(next(panels), trace, "edges", "edges examined")
        _draw_trace(next(panels), trace, "milliseconds", "milliseconds")
    if trace is not None and ranks:
        costs = rank_costs(trace)
        for name in RANK_PANELS:
            draw_ranks(next(panels), costs, name)
    figure.suptitle(title, parse_math=False)  # a $ in a file name is not mathematical notation
    return figure


def run(trace: Frame, *, title: str = "") -> Figure:
    """Draw a run of a vertex program: time by iteration and, where edges were streamed, bytes and overlap.

    Bytes and overlap that are 0 throughout are left out.  A run with `schedule="paths"` is also drawn by
    block: when each was loaded, in memory and worked on.  Scales are as in `search`.

    Parameters
    ----------
    trace : frame
        The trace of `graph.run(..., trace=True)`, `components`, `sssp` or `pagerank`: columns `iteration`,
        `mode`, `milliseconds`, `bytes` and `overlap`.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to any window; `save` writes it.

    Examples
    --------
    >>> from rapids_trav import datasets, plot
    >>> friends = datasets.load("facebook").trav.graph()
    >>> figure = plot.run(friends.pagerank(trace=True).trace, title="PageRank")
    >>> figure.axes[-1].get_xlabel()
    'iteration'
    """
    columns = ("iteration", "mode", "milliseconds", "bytes", "overlap")
    trace = _table("trace", trace, columns, "the .trace of graph.run(..., trace=True)")
    trace = trace.rename(columns={"mode": "direction"})
    panels = {"milliseconds": "milliseconds"}
    if trace["bytes"].any():
        trace["megabytes"] = trace["bytes"] / 1e6
        panels["megabytes"] = "MB moved"
    if trace["overlap"].any():
        panels["overlap"] = "share of copying hidden"
    spans = block_spans(trace)
    figure, axes_of = _panels([*[1] * len(panels), *[1.6] * bool(len(spans))])
    for column, label in panels.items():
        axes = next(axes_of)
        _draw_trace(axes, trace, column, label, by="iteration", legend="mode")
    if len(spans):
        draw_blocks(next(axes_of), spans)
    figure.suptitle(title, parse_math=False)
    return figure


def _table(what: str, frame: Frame, columns: Sequence[str], source: str) -> pd.DataFrame:
    """Convert a frame to pandas, and check its columns; `source` names the call that returns them."""
    if not hasattr(frame, "columns"):
        raise TravError(f"{what} is {kind_of(frame)}, not a frame: give {source}.")
    frame = forms.opened(frame.compute() if hasattr(frame, "__dask_graph__") else frame)
    if missing := [name for name in columns if name not in frame.columns]:
        raise TravError(f"{what} has no column {missing[0]!r}: give {source}.")
    table = to_pandas(frame)
    for name in columns:
        if name in NUMBERS and not pd.api.types.is_numeric_dtype(table[name]):
            raise TravError(
                f"Column {name!r} of {what} holds {table[name].dtype}, not numbers: give {source}."
            )
    return table


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure in the format of the file's extension: .png, .svg, .pdf, ...

    Examples
    --------
    >>> from rapids_trav import datasets, plot
    >>> friends = datasets.load("facebook").trav.graph()
    >>> plot.save(plot.search(friends.levels(0)), "levels.svg")
    """
    if not hasattr(figure, "savefig"):
        raise TravError(f"figure is {kind_of(figure)}, not a figure: give what search or run returns.")
    path = check_picture(path)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise TravError(
            f"{path} cannot be written: {error.strerror or error}; choose another path or free space there."
        ) from error


def check_picture(path: str | Path) -> Path:
    """Return the path if a picture can be written there; called before the work starts."""
    path = file_location("path", path)
    formats = new_figure(1, 1).canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in formats:
        raise TravError(f"{path} has no extension of a picture: use one of .{', .'.join(sorted(formats))}.")
    return check_writable(path)


def _by_level(trace: pd.DataFrame) -> pd.DataFrame:
    """Return the trace of several batches of searches with the sums of each level."""
    ways = trace.groupby("level")["direction"].agg(
        lambda names: names.iloc[0] if names.nunique() == 1 else "mixed"
    )
    sums = trace.drop(columns=["batch", "direction"]).groupby("level").sum()
    return sums.assign(direction=ways).reset_index()


def _panels(heights: Sequence[float], width: float = 0) -> tuple[Figure, Iterator[Axes]]:
    """Return a figure and its panels, one below the other, whose heights are given in bars' panels."""
    figure = new_figure(max(7, width), 1 + 2.5 * sum(heights))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
    return figure, iter(axes[:, 0])


def _draw_tree(
    axes: Axes, tree: SearchTree, layers: Sequence[np.ndarray], names: Sequence[Sequence[str]]
) -> None:
    rows = np.concatenate(layers)
    place = {row: i for i, row in enumerate(rows.tolist())}
    ends = zip(tree.parent[rows].tolist(), range(len(rows)), strict=True)
    totals = np.bincount(tree.distance)[: len(layers)].tolist()
    draw_layers(axes, names, totals, [(place[parent], child) for parent, child in ends if parent >= 0])
    n_layers = int(tree.distance.max()) + 1
    some = f", the first {len(layers)} of {n_layers:,} layers" if n_layers > len(layers) else ""
    title = f"{tree.title}: {len(rows):,} of {len(tree.parent):,} vertices{some}"
    axes.set_title(title, fontsize="small", loc="left")


def _draw_levels(axes: Axes, levels: pd.DataFrame) -> None:
    reached = levels[levels["distance"].notna()]
    unreached = int(levels["vertices"][levels["distance"].isna()].sum())
    vertices = reached["vertices"].to_numpy(np.int64)
    if not len(vertices):
        axes.text(0.5, 0.5, "no vertex reached", ha="center", transform=axes.transAxes)
    set_scale(axes, vertices, "vertices")
    bars = _bars(axes, reached["distance"].to_numpy(np.int64), vertices, COLORS["push"])
    if bars is not None and len(vertices) <= FEW_LEVELS:
        axes.bar_label(bars, fmt="{:,.0f}", fontsize="small", padding=1)
    _finish(axes, "distance")
    if unreached:
        axes.set_title(f"{unreached:,} vertices unreached", fontsize="small", loc="left")


def _draw_trace(
    axes: Axes, trace: pd.DataFrame, column: str, label: str, by: str = "level", legend: str = "direction"
) -> None:
    heights = trace[column].fillna(0).clip(lower=0).to_numpy(np.float64)
    levels = trace[by].to_numpy(np.int64)
    if column == "overlap":
        axes.set(ylim=(0, 1), ylabel=label)
    else:
        set_scale(axes, heights, label)
    for direction in trace["direction"].unique():
        rows = (trace["direction"] == direction).to_numpy(bool)
        _bars(axes, levels, np.where(rows, heights, 0), COLORS.get(direction, OTHER), direction)
    _finish(axes, by)
    total, most = heights.sum(), heights.max(initial=0)
    if column != "overlap" and len(levels) > 1 and most > total / 2:
        whole = f"{total:,.0f}" if total >= 100 else f"{total:.3g}"
        share = f"{by} {levels[heights.argmax()]:,}: {most / total:.1%} of {whole}"
        axes.set_title(share, fontsize="small", loc="left")
    if axes.get_legend_handles_labels()[0]:  # a search or run may have ended before its first
        legend_above(axes, legend + ":")


def _bars(
    axes: Axes, x: np.ndarray, heights: np.ndarray, color: str, label: str | None = None
) -> BarContainer | None:
    """Draw single bars and return them, or one outline of many."""
    if len(x) >= MANY_LEVELS:
        axes.fill_between(x, heights, axes.get_ylim()[0], step="mid", color=color, label=label)
        return None
    bars = axes.bar(x, heights, color=color, label=label)
    axes.set_xticks(x if len(x) <= 20 else x[::5])
    if 0 < len(x) < FEWEST:
        middle = (x[0] + x[-1]) / 2
        axes.set_xlim(middle - FEWEST / 2, middle + FEWEST / 2)
    return bars


def _finish(axes: Axes, xlabel: str) -> None:
    axes.set_xlabel(xlabel)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
