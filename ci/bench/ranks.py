"""(p) Effect of each part of the search by several GPUs: the size of blocks, and inboxes for short lists.

Each kernel searches the same graph from the same roots, on all GPUs.  Times are by the device clock, from
where all have begun to the end of the last kernel.  The table "kernel levels" has the levels of a search from
the first root with each kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import devices, launch_levels
from .libraries import REFUSALS, reason
from .pictures import bars
from .rows import Row, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .lab import Lab

GRAPHS = ("rmat24", "rmat26", "grid4096")
# What each kernel is compiled with that the default is not.
KERNELS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("default", {}),
    ("totals read after a barrier", {"COUNTED": 0}),
    ("blocks of 512 threads", {"BLOCK_SIZE": 512}),
    ("blocks of 768 threads", {"BLOCK_SIZE": 768}),
    ("blocks of 1024 threads", {"BLOCK_SIZE": 1024}),
    ("no inboxes", {"THIN_EDGES": 0}),
)
TABLES = {
    "kernels": (
        "graph", "gpus", "name", "roots", "median_ms", "min_ms", "max_ms", "gteps_harmonic_mean", "levels",
        "us_a_level", "share_of_default", "checked", "wrong", "note",
    ),
    "kernel levels": (
        "graph", "name", "root", "level", "direction", "exchange", "frontier", "edges", "ms",
    ),
}  # fmt: skip


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        facts = {"benchmark": "ranks", "graph": name, "seed": lab.seed, "gpus": lab.n_devices}
        edges = lab.load(name)
        roots = lab.roots(edges)
        try:
            graph = devices.spread(lab, edges, lab.n_devices)
        except REFUSALS as error:
            yield {**facts, "table": "kernels", "note": f"not measured, {reason(error)}"}
            continue
        ranks = graph.storage.view("out").spread().group.ranks
        default = None
        for kernel, defines in KERNELS:
            for rank in ranks:
                rank.changed = defines
            row = devices.searched(lab, graph, edges, roots)
            default = default or row["gteps_harmonic_mean"]
            share = ratio(row["gteps_harmonic_mean"], default)
            yield {**facts, "table": "kernels", "name": kernel, **row, "share_of_default": share}
            levels = devices.traced(lab, graph, roots[0])
            for level in launch_levels.rows(levels, graph.n_vertices, lab.n_devices, {"root": roots[0]}):
                yield {**level, **facts, "table": "kernel levels", "name": kernel}
        del graph, ranks, edges


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    kernels: list[dict[str, Any]] = [row for row in rows if row["table"] == "kernels"]
    bars(axes, kernels, "gteps_harmonic_mean", "GTEPS (harmonic mean)")
