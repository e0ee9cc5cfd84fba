"""Searches by ranks whose offsets are near 2^31 and 2^32, as those of graphs with so many entries.

Every offset is moved up by the same number, and the arrays that offsets index as far down.
"""

from dataclasses import replace

import numpy as np
import pytest

from .ranked_graphs import ranked
from .small_graphs import star
from .test_one_launch_gpu import check, rmat

pytestmark = pytest.mark.gpu

GRAPHS = {"rmat": lambda: rmat(12, 16, seed=4), "star": lambda: star(60_000)}


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("by", [2**31 - 5000, 2**31 + 7, 2**32 - 2**20 - 140_000])
@pytest.mark.parametrize("kind", GRAPHS)
def test_offsets_have_no_sign(cupy, monkeypatch, kind, by, lean):
    from rapids_trav.engines.multigpu.one_launch import launch

    def moved(rows):
        words = rows.word_rows.reshape(-1, 2).copy()  # where rows begin, and their length
        words[:, 0] += np.uint32(by)
        return replace(
            rows,
            row_offsets=rows.row_offsets + np.uint32(by),
            word_rows=words.reshape(rows.word_rows.shape),
        )

    def arguments(side, rows):
        return rows_of(side, rows) | {
            f"{side}_indices": (rows.column_indices.data.ptr - 4 * by) % 2**64,
        }

    made = ranked(cupy, GRAPHS[kind](), 2, 3, lean=lean)
    before = [rank.rows for rank in made.group.ranks]  # kept, as the kernels read their arrays
    for rank, rows in zip(made.group.ranks, before, strict=True):
        into = moved(rows.into)
        out = into if rows.lean else moved(rows.out)
        own = into.row_offsets if rows.own_offsets is rows.into.row_offsets else rows.own_offsets
        rank.rows = replace(rows, into=into, out=out, own_offsets=own)
    rows_of = launch.rows_of
    monkeypatch.setattr(launch, "rows_of", arguments)
    n = made.graph.n
    for sources in ([1], [n - 1], range(0, n, 7)):
        check(made, list(sources))
