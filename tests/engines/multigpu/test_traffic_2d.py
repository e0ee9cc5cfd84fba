"""Traffic of the ranks against counts from SciPy's distances, and the message formats (K10, K11)."""

from __future__ import annotations

import grid_graphs as graphs
import numpy as np
import pytest
from grid_graphs import expected_traffic, searched

from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.records import INLINE, as_bitmap, kinds, pack, unpack

SHAPES = [(1, 4), (4, 1), (2, 2), (3, 2), (2, 5)]


@pytest.mark.parametrize("inline", [0, 4, INLINE])
@pytest.mark.parametrize("direction", ["out", "in"])
@pytest.mark.parametrize("exchange", ["list", "bitmap", "auto"])
@pytest.mark.parametrize("shape", SHAPES)
def test_counters_are_those_of_the_formula(shape, exchange, direction, inline):
    graph = graphs.rmat(9, 4, directed=direction == "in")
    sources = [int(graph.src[5]), int(graph.dst[9])]
    expected = expected_traffic(graph, shape, sources, exchange, direction, inline)
    answer = searched(
        graph, shape, sources, exchange=exchange, direction=direction, inline=inline, trace=True
    )
    n_rows, n_columns = shape
    for rank, found in enumerate(answer.ranks):
        counted = [
            (row.frontier, row.candidates, row.expand_bytes, row.fold_bytes, row.messages)
            for row in found.trace
        ]
        wanted = [
            value for (kind, place), value in expected.items() if place == rank and kind != "resolution"
        ]
        assert counted == wanted
        assert found.resolution.bytes == expected["resolution", rank]
        assert all(row.messages <= (n_rows - 1) + (n_columns - 1) for row in found.trace)
        levels = sum(row.messages for row in found.trace)
        in_levels = sum(row.expand_bytes + row.fold_bytes for row in found.trace)
        assert found.traffic.messages == levels + found.resolution.messages
        assert found.traffic.bytes == in_levels + found.resolution.bytes
        assert found.traffic.sums == found.levels + 1
        assert found.traffic.sum_messages == found.traffic.sums * ((n_rows - 1) + (n_columns - 1))
        assert found.levels == len(found.trace)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_form_of_message_gives_the_same(shape):
    """The graph is dense, so that auto uses lists at first and bitmaps later."""
    graph = graphs.random_graph(8, 3000, 40_000)
    by = {
        exchange: searched(graph, shape, [17], exchange=exchange, trace=True)
        for exchange in ("list", "bitmap", "auto")
    }
    wanted = graph.distance([17])
    rows = {name: [row for rank in answer.ranks for row in rank.trace] for name, answer in by.items()}
    for name, answer in by.items():
        assert np.array_equal(answer.distance, wanted), name
    for phase in ("expand_kind", "fold_kind"):
        used = {name: {getattr(row, phase) for row in of} for name, of in rows.items()}
        if used["auto"] != {""}:  # along an axis of one rank nothing is sent
            assert used["list"] == {"list"}
            assert used["bitmap"] == {"bitmap"}
            assert {"list", "bitmap"} <= used["auto"] <= {"list", "bitmap", "mixed"}
    for many in zip(*rows.values(), strict=True):
        sent = dict(zip(rows, (row.expand_bytes + row.fold_bytes for row in many), strict=True))
        assert sent["auto"] <= min(sent["list"], sent["bitmap"])


@pytest.mark.parametrize("k", [0, 1, 3, 4, 5, 128])
def test_a_message_has_the_shorter_form(k):
    block = 128  # 4 words
    offsets = np.random.default_rng(k).choice(block, k, replace=False).astype(np.int32)
    assert as_bitmap(k, block, "auto") == (k > 4)
    for exchange, n_bytes in [("list", 4 * k), ("bitmap", 16), ("auto", min(4 * k, 16))]:
        message = pack(CpuWork(), offsets, block, exchange)
        assert message.nbytes == n_bytes
        assert sorted(unpack(CpuWork(), message).tolist()) == sorted(offsets.tolist())
        assert kinds([message]) == (
            "bitmap" if exchange == "bitmap" or (exchange == "auto" and k > 4) else "list"
        )
