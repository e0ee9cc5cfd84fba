"""Figures of matplotlib, which comes with the extra `plot` and is imported only where something is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.utilities.extras import needed_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


UNEVEN = 30  # from here on, the largest of some numbers hides the smallest


def is_uneven(numbers: Sequence[float] | np.ndarray) -> bool:
    """Return whether the largest is many times the smallest that is not 0."""
    values = np.asarray(numbers, np.float64)
    positive = values[values > 0]
    return bool(len(positive) and positive.max() >= UNEVEN * positive.min())


def shares(counts: Sequence[int], log: bool) -> list[float]:
    """Return the length of a bar for each count, the longest being 1; 0 has none on either scale."""
    most = max([*counts, 1])
    return [math.log1p(count) / math.log1p(most) if log else count / most for count in counts]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, not tied to any window."""
    with needed_for("Drawing", "matplotlib", "plot"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


def set_scale(axes: Axes, heights: Sequence[float] | np.ndarray, label: str) -> None:
    """Label the upright axis and choose its scale, so that the smallest of the heights can be seen."""
    heights = np.asarray(heights)
    most = heights.max(initial=0) or 1
    if is_uneven(heights):
        axes.set_yscale("log")
        axes.set_ylim(heights[heights > 0].min() / 2, 2.5 * most)
        label += "\n(log scale)"
    else:
        axes.set_ylim(0, 1.15 * most)
        if (heights % 1 == 0).all():
            axes.locator_params(axis="y", integer=True)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_ylabel(label)


def legend_above(axes: Axes, title: str = "") -> None:
    """Put the legend in a line above the panel, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if title:
        handles, labels = [axes.plot([], [], alpha=0)[0], *handles], [title, *labels]
    axes.legend(
        handles,
        labels,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0,
        frameon=False,
        ncols=len(labels),
        fontsize="small",
        handlelength=1,
        columnspacing=1,
    )
