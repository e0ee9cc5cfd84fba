"""Plots of a search (vertices and cost by level) and of a vertex program's run (cost by iteration).

matplotlib comes with the extra `plot` and is imported only where something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.io.write import check_writable, to_pandas
from rapids_trav.programs.definition import kind_of
from rapids_trav.utilities.figures import new_figure
from rapids_trav.utilities.locations import file_location

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY_LEVELS = 60  # from here on, levels are drawn as one outline instead of single bars
COLORS = {"push": "#1f77b4", "pull": "#ff7f0e", "notify": "#2ca02c", "blocks": "#9467bd"}


def search(levels: Frame, trace: Frame | None = None, *, title: str = "") -> Figure:
    """Draw a search: vertices by distance and, with a trace, edges examined and time by level.

    Parameters
    ----------
    levels : frame
        Columns `distance` and `vertices`, as `graph.levels(...)` returns; a null distance is "unreached".
    trace : frame, optional
        The trace of `graph.bfs(..., trace=True)`: columns `level`, `direction`, `edges`, `milliseconds`.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to any window; `save` writes it.
    """
    levels = _table("levels", levels, ("distance", "vertices"), "the frame of graph.levels(...)")
    if trace is not None:
        columns = ("level", "direction", "edges", "milliseconds")
        trace = _table("trace", trace, columns, "the .trace of graph.bfs(..., trace=True)")
    rows = 1 if trace is None else 3
    figure = _figure(rows)
    axes = figure.subplots(rows, 1, squeeze=False)[:, 0]
    _draw_levels(axes[0], levels)
    if trace is not None:
        _draw_trace(axes[1], trace, "edges", "edges examined")
        _draw_trace(axes[2], trace, "milliseconds", "milliseconds")
    figure.suptitle(title, parse_math=False)  # a $ in a file name is not mathematical notation
    return figure


def run(trace: Frame, *, title: str = "") -> Figure:
    """Draw a run of a vertex program: time by iteration and, where edges were streamed, bytes and overlap.

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
    """
    columns = ("iteration", "mode", "milliseconds", "bytes", "overlap")
    trace = _table("trace", trace, columns, "the .trace of graph.run(..., trace=True)")
    trace = trace.rename(columns={"mode": "direction"})
    panels = {"milliseconds": "milliseconds"}
    if trace["bytes"].any():
        trace["megabytes"] = trace["bytes"] / 1e6
        panels |= {"megabytes": "MB moved", "overlap": "share of copying hidden"}
    figure = _figure(len(panels))
    for axes, (column, label) in zip(
        figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels.items(), strict=True
    ):
        _draw_trace(axes, trace, column, label, by="iteration", legend="mode")
        if column == "overlap":
            axes.set_ylim(0, 1)
    figure.suptitle(title, parse_math=False)
    return figure


def _table(what: str, frame: Frame, columns: Sequence[str], source: str) -> pd.DataFrame:
    """Convert a frame to pandas, and check its columns; `source` names the call that returns them."""
    if not hasattr(frame, "columns"):
        raise TravError(f"{what} is {kind_of(frame)}, not a frame: give {source}.")
    if missing := [name for name in columns if name not in frame.columns]:
        raise TravError(f"{what} has no column {missing[0]!r}: give {source}.")
    return to_pandas(frame)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure in the format of the file's extension: .png, .svg, .pdf, ..."""
    path = check_picture(path)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise TravError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_picture(path: str | Path) -> Path:
    """Return the path if a picture can be written there; called before the work starts."""
    path = file_location("path", path)
    formats = _figure(1).canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in formats:
        raise TravError(f"{path} has no extension of a picture: use one of .{', .'.join(sorted(formats))}.")
    return check_writable(path)


def _figure(panels: int) -> Figure:
    """Return an empty figure sized for this many panels, one below the other."""
    return new_figure(7, 1 + 2.5 * panels)


def _draw_levels(axes: Axes, levels: pd.DataFrame) -> None:
    reached = levels[levels["distance"].notna()]
    unreached = int(levels["vertices"][levels["distance"].isna()].sum())
    _bars(
        axes, reached["distance"].to_numpy(np.int64), reached["vertices"].to_numpy(np.int64), COLORS["push"]
    )
    _finish(axes, "distance", "vertices")
    if unreached:
        axes.set_title(f"{unreached:,} vertices unreached", fontsize="small")


def _draw_trace(
    axes: Axes, trace: pd.DataFrame, column: str, label: str, by: str = "level", legend: str = "direction"
) -> None:
    heights = trace[column].fillna(0).clip(lower=0)
    levels = trace[by].to_numpy(np.int64)
    for direction, color in COLORS.items():
        rows = (trace["direction"] == direction).to_numpy(bool)
        if rows.any():
            _bars(axes, levels, np.where(rows, heights, 0), color, direction)
    _finish(axes, by, label)
    if axes.get_legend_handles_labels()[0]:  # a search or run may have ended before its first
        axes.legend(title=legend, fontsize="small")


def _bars(axes: Axes, x: np.ndarray, heights: np.ndarray, color: str, label: str | None = None) -> None:
    if len(x) < MANY_LEVELS:
        axes.bar(x, heights, color=color, label=label)
        axes.set_xticks(x if len(x) <= 20 else x[::5])
    else:
        axes.fill_between(x, heights, step="mid", color=color, label=label)


def _finish(axes: Axes, xlabel: str, ylabel: str) -> None:
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_ylim(bottom=0)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
