"""The parts of a trace beside its rows: what each rank of a search took, and the times of blocks of a run."""

from __future__ import annotations

import pandas as pd

from rapids_trav.engines.runs import BlockSpan
from rapids_trav.engines.searches import RankCosts

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
