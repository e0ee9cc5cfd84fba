"""Rows as a figure with one panel for each benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .rows import Row

OURS, THEIRS = "#76b900", "#7f7f7f"
FAR_APART = 30

Draw = Callable[[Axes, Sequence[Row]], None]


def make(rows: Sequence[Row], draws: Mapping[str, Draw]) -> Figure:
    """Draw a panel for each benchmark that has rows."""
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


def bars(axes: Axes, rows: Sequence[Row], column: str, label: str) -> None:
    """Draw a horizontal bar for each row that has the value, the first on top: ours green, others grey.

    If values differ widely, the axis is logarithmic, as the label then says.
    """
    rows = [row for row in rows if row.get(column) is not None]
    if not rows:
        return
    names = [f"{row['graph']}  {row['name']}" for row in rows]
    colors = [THEIRS if "cugraph" in row["name"] else OURS for row in rows]
    drawn = axes.barh(range(len(rows)), [row[column] for row in rows], color=colors)
    axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=6)
    axes.set_yticks(range(len(rows)), names, fontsize=6)
    axes.invert_yaxis()
    least, most = (end(row[column] for row in rows) for end in (min, max))
    if most > FAR_APART * least > 0:
        axes.set_xscale("log")
        axes.set_xlim(least / 3, most * 2)
        label += " (logarithmic)"
    else:
        axes.margins(x=0.1)
    axes.set_xlabel(label)
