"""(g) Comparison of a search with the memory bandwidth: its traffic against a copy in the same run.

Levels: the bytes that the trace estimates for each (edges examined, the state they touch, the rows or bitmaps
that are read) over its time, as a share of the bandwidth of a copy; for the root of median time, and summed
by direction if there are many levels.

Search: the floor is the time in which a copy moves what every search must move once: the distance and
predecessor of each vertex written, and one neighbour read for each vertex reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav.engines.interface import BfsOptions, LevelTrace

from .rows import Row, of_times, ratio, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.engines.interface import Search

    from .lab import Lab

GRAPHS = ("rmat20", "rmat24", "grid4096")
TABLES = {
    "searches": (
        "graph", "vertices", "roots", "median_ms", "levels", "floor_bytes", "floor_ms", "share_of_limit",
        "traced_bytes", "traced_ms", "copy_gb_s",
    ),
    "levels": (
        "graph", "level", "direction", "levels", "frontier", "edges", "bytes", "ms", "gb_s", "share_of_copy",
    ),
}  # fmt: skip
MANY_LEVELS = 60


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    bandwidth = lab.copy_bandwidth
    for name in names:
        for table, row in one(lab, name, bandwidth):
            yield {"benchmark": "limit", "table": table, "graph": name, "name": "rapids_trav", **row}


def one(lab: Lab, name: str, bandwidth: float) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph = lab.graph(edges)
    roots, ours = lab.roots(edges), lab.ours(graph)
    ms = lab.timings(ours, roots)
    middle = roots[int(np.argsort(ms)[len(ms) // 2])]
    traced = lab.ours(graph, BfsOptions(trace=True))
    traced.run(traced.prepare(middle))  # to compile
    found = traced.run(traced.prepare(middle))
    floor = floor_bytes(found)
    times, levels = of_times(ms), found.trace
    floor_ms = short(1e3 * floor / bandwidth)
    yield "searches", {
        "vertices": graph.n_vertices, "seed": lab.seed, **times, "levels": len(levels),
        "floor_bytes": floor, "floor_ms": floor_ms, "share_of_limit": ratio(floor_ms, times["median_ms"]),
        "traced_bytes": sum(level.bytes for level in levels),
        "traced_ms": short(sum(level.milliseconds for level in levels)), "copy_gb_s": short(bandwidth / 1e9),
    }  # fmt: skip
    for row in level_rows(levels, bandwidth):
        yield "levels", row


def floor_bytes(found: Search) -> int:
    """Return the bytes of distances, predecessors, and a neighbour of each vertex reached from another."""
    read = (int((found.distance >= 0).sum()) - 1) * found.predecessor.dtype.itemsize
    return found.distance.nbytes + found.predecessor.nbytes + read


def level_rows(levels: Sequence[LevelTrace], bandwidth: float) -> Iterator[Row]:
    """Yield a row for each level, or for each direction if there are many levels."""
    if len(levels) <= MANY_LEVELS:
        groups = [(level.level, level.direction, [level]) for level in levels]
    else:
        directions = dict.fromkeys(level.direction for level in levels)
        groups = [(None, d, [level for level in levels if level.direction == d]) for d in directions]
    for number, direction, group in groups:
        yield {"level": number, "direction": direction, **traffic(group, bandwidth)}


def traffic(group: Sequence[LevelTrace], bandwidth: float) -> Row:
    """Return sums over the levels and their bandwidth, which is None where the measured time is zero."""
    n_bytes, ms = sum(level.bytes for level in group), sum(level.milliseconds for level in group)
    rate = None if ms <= 0 else short(n_bytes / ms / 1e6)
    sums: Row = {name: sum(getattr(level, name) for level in group) for name in ("frontier", "edges")}
    share = ratio(rate, bandwidth / 1e9)
    moved = {"bytes": n_bytes, "ms": short(ms), "gb_s": rate, "share_of_copy": share}
    return {"levels": len(group), **sums, **moved}


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    """Plot the achieved bandwidth by level, as a share of the copy's."""
    levels: list[Any] = [row for row in rows if row["table"] == "levels" and row["share_of_copy"] is not None]
    for graph in dict.fromkeys(row["graph"] for row in levels):
        mine = [row for row in levels if row["graph"] == graph and row["level"] is not None]
        if mine:
            numbers, shares = ([row[key] for row in mine] for key in ("level", "share_of_copy"))
            axes.plot(numbers, shares, "o-", label=graph)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--", label="a copy")
    axes.set(xlabel="level", ylabel="share of the copy's bandwidth")
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize="x-small")
