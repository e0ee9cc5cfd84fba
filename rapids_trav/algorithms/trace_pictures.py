"""Pictures of what each rank of a search took, and of the times of blocks of a run, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rapids_trav.engines.runs import BlockSpan
from rapids_trav.engines.searches import RankCosts
from rapids_trav.utilities.figures import is_uneven, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
