"""Rows about ranks and blocks that are read from a trace."""

from __future__ import annotations

import pandas as pd

from rapids_trav.algorithms.pictures import block_spans, n_ranks, rank_costs, rows_alone

ROWS = pd.DataFrame({"level": [1, 2], "milliseconds": [3.0, 4.0], "bytes": [50, 70]})
OF_RANKS = ROWS.assign(
    following_ms_0=[1.0, 2.0], exchange_ms_0=[2.0, 2.0], bytes_0=[20, 30],
    following_ms_1=[0.5, 0.5], exchange_ms_1=[2.0, 1.0], bytes_1=[30, 40],
)  # fmt: skip
OF_BLOCKS = pd.DataFrame(
    {
        "iteration": [1, 2, 3],
        "span_block": [[4, 5], [], [4]],
        "span_what": [["load", "stay"], [], ["work"]],
        "span_begin": [[0.0, 1.5], [], [7.0]],
        "span_end": [[0.5, 2.0], [], [8.0]],
    }
)


def test_ranks():
    assert n_ranks(OF_RANKS) == 2 and n_ranks(ROWS) == 0
    costs = rank_costs(OF_RANKS)
    assert costs["rank"].tolist() == [0, 0, 1, 1] and costs["level"].tolist() == [1, 2, 1, 2]
    assert costs["bytes"].tolist() == [20, 30, 30, 40]
    assert costs["following_ms"].tolist() == [1.0, 2.0, 0.5, 0.5]
    assert rank_costs(ROWS).empty
    pd.testing.assert_frame_equal(rows_alone(OF_RANKS), ROWS)


def test_spans():
    spans = block_spans(OF_BLOCKS)
    assert list(spans.itertuples(index=False, name=None)) == [
        (1, 4, "load", 0.0, 0.5),
        (1, 5, "stay", 1.5, 2.0),
        (3, 4, "work", 7.0, 8.0),
    ]
    assert spans["block"].dtype == "int64" and spans["end"].dtype == "float64"
    assert block_spans(ROWS).empty and list(rows_alone(OF_BLOCKS)) == ["iteration"]
