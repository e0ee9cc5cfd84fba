"""Pictures of neighbourhoods, by layers of distance: SVG for notebooks, and matplotlib.

Each layer shows a few vertices (`MOST`), first of all the neighbours of those shown in the next layer.  The
edges are those among the vertices shown.  Where there are more than `MANY` vertices or edges, or more than
`MOST_LAYERS` layers, only the numbers of vertices by distance are drawn.

With matplotlib alone: pictures of what each rank of a search took, and of the times of blocks of a run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rapids_trav.engines.runs import BlockSpan
from rapids_trav.engines.searches import RankCosts
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.exchange import EdgeColumns, ends_of, names_of, on_host
from rapids_trav.utilities import svg
from rapids_trav.utilities.figures import is_uneven, legend_above, new_figure, set_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 12  # vertices drawn of a layer
MOST_LAYERS = 12
MOST_BARS = 300
MANY = 100_000


class LayeredPicture:
    """The vertices of a neighbourhood that are drawn, layer by layer, and the edges among them.

    `names` are the ids drawn in each layer, `totals` the numbers of its vertices, `edges` pairs of drawn
    vertices, numbered layer after layer, and `n_edges` counts those of the neighbourhood.
    """

    def __init__(self, vertices: Frame, edges: Frame, columns: EdgeColumns) -> None:
        self.n_edges = len(edges)
        table = on_host(vertices)
        distance = table["distance"].to_numpy(np.int64)
        self.totals = np.bincount(distance).tolist()
        if max(len(table), self.n_edges) > MANY or len(self.totals) > MOST_LAYERS:
            self.names: list[list[str]] = [[] for _ in self.totals]
            self.edges: list[tuple[int, int]] = []
            return
        u, v = ends_of(table, on_host(edges), columns)
        layers = _drawn(distance, len(self.totals), np.concatenate([u, v]), np.concatenate([v, u]))
        ids = names_of(table, columns)
        self.names = [[_written(ids[row]) for row in layer.tolist()] for layer in layers]
        self.edges = _among(np.concatenate([*layers, np.zeros(0, np.int64)]), u, v)

    def html(self) -> str:
        """Return a title and the picture as SVG, with bars where no vertex is drawn."""
        title = f"{sum(self.totals):,} vertices by distance, {self.n_edges:,} edges among them"
        if any(self.names):
            picture = svg.layers(self.names, self.totals, self.edges, title)
        else:
            picture = svg.bars(*self._bars(), "vertices by distance")
        return f"<div><div>{title}</div>{picture}</div>"

    def figure(self) -> Figure:
        """Return the picture as a matplotlib figure."""
        figure = new_figure(2 + 1.6 * min(max(len(self.totals), 1), MOST_LAYERS), 4)
        axes = figure.subplots()
        if not any(self.names):
            heights, labels = self._bars()
            axes.bar(range(len(heights)), heights, color=svg.COLORS[1])
            every = slice(None, None, -(-len(labels) // MOST_LAYERS) or 1)
            axes.set_xticks(range(len(labels))[every], labels[every])
            axes.set_xlabel("distance")
            set_scale(axes, heights, "vertices")
            return figure
        draw_layers(axes, self.names, self.totals, self.edges)
        return figure

    def _bars(self) -> tuple[list[int], list[str]]:
        """Return the numbers of vertices by distance, or by a few distances if there are many, and labels."""
        n, step = len(self.totals), -(-len(self.totals) // MOST_BARS) or 1
        firsts = range(0, n, step)
        heights = [sum(self.totals[first : first + step]) for first in firsts]
        return heights, [str(d) if step == 1 else f"{d} to {min(d + step, n) - 1}" for d in firsts]


def layers_width(names: Sequence[Sequence[str]]) -> float:
    """Return the inches of a figure in which the longest names of layers do not touch."""
    return 1 + sum(0.4 + 0.08 * max((len(svg.short(name)) for name in layer), default=0) for layer in names)


def draw_layers(
    axes: Axes, names: Sequence[Sequence[str]], totals: Sequence[int], edges: Sequence[tuple[int, int]]
) -> None:
    """Draw named points in layers, under the number of points that each layer has, and lines among them.

    Points are numbered layer after layer, as in `svg.layers`.
    """
    at = np.array(svg.positions([len(layer) for layer in names])).reshape(-1, 2)
    at *= (1 / svg.COLUMN, -1 / svg.ROW)
    for u, v in edges:
        bow = 0.3 if at[u, 0] == at[v, 0] else 0  # an edge within a layer would hide in a line of them
        line = {"arrowstyle": "-", "connectionstyle": f"arc3,rad={bow}", "color": "gray", "alpha": 0.3}
        axes.annotate("", at[v], at[u], arrowprops=line, zorder=1)
    layer = np.repeat(np.arange(len(names)), [len(layer) for layer in names])
    axes.scatter(at[:, 0], at[:, 1], c=[svg.COLORS[i % len(svg.COLORS)] for i in layer], zorder=2)
    for x, y, name in zip(*at.T.tolist(), (name for layer in names for name in layer), strict=True):
        axes.annotate(
            svg.short(name),
            (x, y),
            (5, 0),
            textcoords="offset points",
            fontsize="small",
            va="center",
            parse_math=False,
        )
    shown = [
        "" if len(layer) == n else f"\n{len(layer)} shown" for layer, n in zip(names, totals, strict=True)
    ]
    axes.set_xticks(range(len(totals)), [f"{d}\n{n:,}{shown[d]}" for d, n in enumerate(totals)])
    axes.set(xlabel="distance, and vertices", yticks=[])
    axes.set_xlim(-0.3, len(totals) - 0.25)  # with room for the names of the last layer


def _drawn(distance: np.ndarray, n_layers: int, u: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """Return the rows of the vertices to draw at each distance, given the edges in both directions."""
    layers: list[np.ndarray] = []
    near = np.zeros(len(distance), bool)
    for d in reversed(range(n_layers)):
        rows = np.flatnonzero(distance == d)
        layers.insert(0, np.sort(rows[np.argsort(~near[rows], kind="stable")][:MOST]))
        near[v[np.isin(u, layers[0])]] = True
    return layers


def _among(order: np.ndarray, u: np.ndarray, v: np.ndarray) -> list[tuple[int, int]]:
    """Return the distinct edges between the rows in `order`, as positions in it, without self-loops."""
    place = {row: i for i, row in enumerate(order.tolist())}
    kept = np.isin(u, order) & np.isin(v, order) & (u != v)
    pairs = {
        (min(place[a], place[b]), max(place[a], place[b]))
        for a, b in zip(u[kept].tolist(), v[kept].tolist(), strict=True)
    }
    return sorted(pairs)


def _written(vertex: Hashable | Sequence[Hashable]) -> str:
    return ", ".join(map(str, vertex)) if isinstance(vertex, tuple) else str(vertex)


# Of the times of blocks: the colour, and the part of the block's row, since work and stays coincide.
SPANS = {
    "stay": ("in memory", "#c6dbef", 1.0),
    "load": ("loaded", "#d62728", 1.0),
    "work": ("worked on", "#08519c", 0.5),
}
MOST_TICKS = 10
RANK_PANELS = {
    "following_ms": "milliseconds,\nfollowing edges",
    "exchange_ms": "milliseconds,\nmessages and waiting",
    "bytes": "bytes sent",
}


def draw_ranks(axes: Axes, costs: pd.DataFrame, name: str) -> None:
    """Draw the numbers of each rank as a map, one row for each rank and one column for each level."""
    table = costs.pivot_table(name, "rank", "level", aggfunc="sum")
    values = np.ma.masked_equal(table.to_numpy(np.float64), 0)
    norm = "log" if is_uneven(values.compressed()) else "linear"
    levels, ranks = table.columns.to_numpy(np.int64), table.index.to_numpy(np.int64)
    mesh = axes.pcolormesh(levels, ranks, values, norm=norm, shading="nearest", cmap="viridis")
    axes.figure.colorbar(mesh, ax=axes, label=RANK_PANELS[name] + (" (log)" if norm == "log" else ""))
    axes.set(xlabel="level" if values.count() == values.size else "level (white: 0)", ylabel="rank")
    axes.locator_params(integer=True)
    axes.invert_yaxis()


def draw_blocks(axes: Axes, spans: pd.DataFrame) -> None:
    """Draw a row for each block, with the times in which it was loaded, in memory and worked on."""
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    ends = spans.groupby("iteration")["end"].max().to_numpy()
    xlabel = "milliseconds; a line ends an iteration"
    if is_uneven(np.diff(ends, prepend=0)):  # the short iterations would not be seen
        places = np.arange(len(ends) + 1)
        times = np.concatenate([[0], ends])
        spans = spans.assign(**{name: np.interp(spans[name], times, places) for name in ("begin", "end")})
        every = slice(None, None, -(-len(places) // MOST_TICKS))
        axes.set_xticks(places[every], [f"{time:,.4g}" for time in times[every]])
        ends, xlabel = places[1:], "milliseconds; each iteration is drawn as long as the others"
    for what, (label, color, thickness) in SPANS.items():
        block, begin, end = (
            spans.loc[spans["what"] == what, name].to_numpy() for name in ("block", "begin", "end")
        )
        low, high = block - thickness / 2, block + thickness / 2
        corners = [np.stack(corner, 1) for corner in ((begin, low), (begin, high), (end, high), (end, low))]
        rows = list(np.stack(corners, 1))
        # The line around a span keeps one that is narrower than a pixel visible.
        axes.add_collection(
            PolyCollection(rows, facecolor=color, edgecolor=color, linewidth=0.3, label=label)
        )
    for end in ends[:-1]:
        axes.axvline(end, color="gray", linewidth=0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel=xlabel, ylabel="block", xlim=(0, ends[-1]), ylim=(spans["block"].max() + 0.5, -0.5))
    legend_above(axes)


SPAN = "span_"  # begins the names of the columns of lists


def n_ranks(trace: pd.DataFrame) -> int:
    """Return the number of ranks that a trace covers; 0 for one of a single machine."""
    rank = 0
    while f"{RankCosts._fields[0]}_{rank}" in trace:
        rank += 1
    return rank


def rank_costs(trace: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each rank and row of the trace: `level`, `rank` and the numbers of `RankCosts`."""
    parts = [
        pd.DataFrame({"level": trace["level"], "rank": rank}).assign(
            **{name: trace[f"{name}_{rank}"] for name in RankCosts._fields}
        )
        for rank in range(n_ranks(trace))
    ]
    return (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["level", "rank", *RankCosts._fields])
    )


def block_spans(trace: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each span of a block: `iteration`, `block`, `what`, `begin`, `end`; perhaps none."""
    names = [SPAN + name for name in BlockSpan._fields]
    if not set(names) <= set(trace.columns):
        return pd.DataFrame(columns=["iteration", *BlockSpan._fields])
    spans = trace[["iteration", *names]].explode(names).dropna(subset=names)
    spans = spans.rename(columns=dict(zip(names, BlockSpan._fields, strict=True)))
    return spans.astype({"block": "int64", "begin": "float64", "end": "float64"}).reset_index(drop=True)


def rows_alone(trace: pd.DataFrame) -> pd.DataFrame:
    """Return a trace without the columns of these parts."""
    ranks = [f"{name}_{rank}" for rank in range(n_ranks(trace)) for name in RankCosts._fields]
    return trace.drop(columns=[*ranks, *(name for name in trace if str(name).startswith(SPAN))])
