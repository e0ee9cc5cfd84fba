"""Rows as a picture with one panel for each benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .rows import Row

OURS, THEIRS = "#76b900", "#7f7f7f"

Draw = Callable[[Axes, Sequence[Row]], None]


def make(rows: Sequence[Row], draws: Mapping[str, Draw]) -> Figure:
    """A panel for each benchmark that has rows."""
    panels = {name: [row for row in rows if row["benchmark"] == name] for name in draws}
    panels = {name: chosen for name, chosen in panels.items() if chosen}
    width = 1 if len(panels) < 2 else 2
    height = max(1, -(-len(panels) // width))
    figure = Figure(figsize=(8 * width, 4.5 * height), layout="constrained")
    axes = figure.subplots(height, width, squeeze=False).ravel()
    for panel, (name, chosen) in zip(axes, panels.items(), strict=False):
        draws[name](panel, chosen)
        panel.set_title(name)
    for panel in axes[len(panels) :]:
        panel.remove()
    return figure


def bars(axes: Axes, rows: Sequence[Row], column: str, label: str, *, log: bool = False) -> None:
    """A horizontal bar for each row that has the figure, the first on top: ours in green, others in grey."""
    rows = [row for row in rows if row.get(column) is not None]
    graphs = {row.get("graph") for row in rows}
    names = [f"{row['graph']}  {row['name']}" if len(graphs) > 1 else row["name"] for row in rows]
    colors = [THEIRS if "cugraph" in row["name"] else OURS for row in rows]
    drawn = axes.barh(range(len(rows)), [row[column] for row in rows], color=colors)
    axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=6)
    axes.set_yticks(range(len(rows)), names, fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    if log:
        axes.set_xscale("log")
