"""(v) Effect of each part of the kernel that searches with one GPU: what shortens its steps and their ends.

Each kernel searches the same graph from the same roots, by the device's clock.  All of them are compiled from
the same sources; each but the default has one setting changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from unittest.mock import patch

from .checks import Checker
from .lab import DEFAULT
from .pictures import bars
from .rows import Row, of_rates, of_times, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .lab import Lab

GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
# What each kernel is compiled with that the default is not.
KERNELS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("default", {}),
    ("totals read after a barrier", {"COUNTED": 0}),
    ("four edges of a lane in flight", {"UNROLL": 4}),
    ("tiles always word by word", {"DENSE_WORD": 1}),
    ("tiles always by lists", {"DENSE_WORD": 33}),
    ("claims read first, in small levels too", {"EAGER_EDGES": 0}),
)
TABLES = {
    "parts": (
        "graph", "name", "roots", "median_ms", "min_ms", "max_ms", "worst_over_median",
        "gteps_harmonic_mean", "over_default", "checked", "wrong",
    ),
}  # fmt: skip


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    from rapids_trav.engines.cuda.bfs import fused

    for name in names:
        edges = lab.load(name)
        roots, graph = lab.roots(edges), lab.graph(edges)
        checker, default = Checker(lab, graph, edges), None
        for kernel, defines in KERNELS:
            checker.restart()
            with patch.dict(fused.TUNED, defines):
                ours = lab.ours(graph, DEFAULT, engine=lab.engine(None))
                ms = lab.device_timings(ours, roots, checker)
            row = {**of_times(ms), **of_rates(ms, checker.traversed(roots)), **checker.verdict()}
            default = default or row["median_ms"]
            yield {
                "benchmark": "parts",
                "table": "parts",
                "graph": name,
                "seed": lab.seed,
                "name": kernel,
                **row,
                "over_default": ratio(row["median_ms"], default),
            }
        del graph, checker, edges


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, rows, "median_ms", "median ms")
