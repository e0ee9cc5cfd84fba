"""(d) The shipped data sets against both settings of pylibcugraph; a directed graph allows only one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rapids_trav import datasets

from . import graphs, pictures, versus
from .rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .lab import Lab

GRAPHS = tuple(datasets.names())
TABLES = {"real": versus.COLUMNS}


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        settings = (False,) if graphs.is_directed(name) else (True, False)
        for row in versus.compare(lab, name, settings):
            yield {"benchmark": "real", "table": "real", **row}


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    pictures.bars(axes, rows, "median_ms", "median ms")
