"""Figures of matplotlib, which comes with the extra `plot` and is imported only where something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_trav.utilities.extras import needed_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, not tied to any window."""
    with needed_for("Drawing", "matplotlib", "plot"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")
