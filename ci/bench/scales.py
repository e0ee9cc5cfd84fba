"""(a) R-MAT of growing scale, edge factor 16, against pylibcugraph's direction-optimising search.

GTEPS are those of Graph500: the edge tuples in the root's component, each once, over the time of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from . import pictures, versus
from .rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .lab import Lab

GRAPHS = tuple(f"rmat{scale}" for scale in range(18, 27))
TABLES = {"scales": versus.COLUMNS}


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        for row in versus.compare(lab, name, (True,)):
            yield {"benchmark": "scales", "table": "scales", **row}


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    """Plot GTEPS by scale: the harmonic mean as a line, the range of the roots as a band."""
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name and "gteps_harmonic_mean" in row]
        graphs = [row["graph"] for row in mine]
        color = None if "cugraph" in name else pictures.OURS
        low, mean, high = ([row[f"gteps_{key}"] for row in mine] for key in ("min", "harmonic_mean", "max"))
        (line,) = axes.plot(graphs, mean, "o-", color=color, label=name)
        axes.fill_between(graphs, low, high, alpha=0.2, color=line.get_color())
    axes.set_yscale("log")
    axes.set_ylabel("GTEPS (harmonic mean, least to most)")
    axes.tick_params("x", labelsize="small")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")
