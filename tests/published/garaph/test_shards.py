"""Shards for a GPU's shared memory: every figure of SYSTEMS G1 to G3, G9 and G10, without a GPU.

The kernel computes the addresses of copies (G8) and merges them (G11): see gpu/test_replica_counters_gpu.py.
"""

import math

import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime.loader import block_bytes
from rapids_trav.errors import TravError
from rapids_trav.published.garaph import shards
from rapids_trav.published.garaph.shards import FACTORS, cut_shards, replication_factor

KB = 1024
RANDOM = np.random.default_rng(4)


def offsets(degrees):
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)


GRAPHS = {
    "even": offsets(np.full(5000, 20)),
    "sparse": offsets(RANDOM.integers(0, 2, 90_000)),
    "no edges": offsets(np.zeros(200_000, int)),
    "one": offsets([0]),
    "loop": offsets([1]),
    "hub": offsets([0, 0, 100_000, 3, 3]),
    "descending": offsets(np.sort(RANDOM.zipf(1.6, 30_000) % 60_000)[::-1]),
    "mixed": offsets(RANDOM.zipf(1.6, 30_000) % 60_000),
}


def test_capacity_of_the_paper():
    assert shards.capacity(block_bytes(1, 48 * KB), 4) == 12_288
    assert shards.capacity(block_bytes(1, 48 * KB), 8) == 6144
    assert shards.capacity(block_bytes(2, 48 * KB), 4) == 6144


def test_capacity_of_an_h100():
    assert shards.capacity(block_bytes(1, 227 * KB), 4) == 58_112
    assert shards.capacity(block_bytes(1, 227 * KB, 228 * KB, KB), 4) == 58_112
    assert block_bytes(2, 227 * KB, 228 * KB, KB) == 113 * KB
    assert block_bytes(4, 227 * KB, 228 * KB, KB) == 56 * KB


def test_no_more_vertices_than_16_bits_name():
    assert shards.capacity(1 << 30, 4) == 65_536


@pytest.mark.parametrize(
    ("ratio", "factor"),
    [(0.5, 1), (0.7, 1), (1, 1), (1.42, 2), (2.9, 4), (5.7, 8), (11.4, 16), (22.7, 32), (1000, 32)],
)
def test_factor_by_formula(ratio, factor):
    assert replication_factor(round(100 * ratio), 100) == factor


def test_factor_of_nothing():
    assert replication_factor(0, 100) == replication_factor(0, 0) == replication_factor(1, 10**6) == 1


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1, 1.5, 2, 3, 5, 8, 11, 16, 20, 30, 60, 1000])
def test_formula_is_near_the_least_of_the_model(ratio):
    v = 1000
    e = round(ratio * v)
    best = min(FACTORS, key=lambda factor: shards.gather_cost(factor, e, v))
    assert abs(math.log2(replication_factor(e, v)) - math.log2(best)) <= 1


def test_the_model():
    assert shards.gather_cost(1, 10, 5) == 5 + 10 + 20 + 0
    assert shards.gather_cost(4, 10, 5) == 20 + 10 + 5 + 10
    assert shards.gather_cost(4, 10, 5, local_time=2, atomic_time=3) == 40 + 20 + 15 + 30


@pytest.mark.parametrize("times", [{}, {"local_time": 2.0, "atomic_time": 8.0}])
def test_without_merging_the_published_factor_is_the_best(times):
    best = 9.0 * math.sqrt(times.get("atomic_time", 1.0) / times.get("local_time", 1.0))

    def cost(factor):
        merging = 100 * times.get("atomic_time", 1.0) * math.log2(factor)
        return shards.gather_cost(factor, 900, 100, **times) - merging

    assert cost(best) < min(cost(0.99 * best), cost(1.01 * best))


def test_the_default_has_the_least_cost_by_the_model():
    """It differs from the formula: with 1.7 edges, a second copy costs more than it saves."""
    row_offsets = np.arange(0, 17 * 1001, 17) // 10
    chosen = [cut_shards(row_offsets, 2048, 8192, how).factors.tolist() for how in ("auto", "formula")]
    assert chosen == [[1], [2]]
    assert shards.cheapest_factor(0, 5) == shards.cheapest_factor(5, 0) == 1
    assert shards.gather_cost(1, 1700, 1000) < shards.gather_cost(2, 1700, 1000)


@pytest.mark.parametrize("value_bytes", [4, 8])
@pytest.mark.parametrize("n_blocks", [1, 2, 4])
@pytest.mark.parametrize("replication", ["auto", "formula", *FACTORS])
@pytest.mark.parametrize("name", GRAPHS)
def test_shards_partition_and_fit(name, replication, n_blocks, value_bytes):
    row_offsets = GRAPHS[name]
    n_bytes = block_bytes(n_blocks, 227 * KB, 228 * KB, KB)
    cut = cut_shards(row_offsets, shards.capacity(n_bytes, value_bytes), 8192, replication)
    n_vertices, n_edges = np.diff(cut.firsts), np.diff(row_offsets[cut.firsts])
    assert cut.firsts[0] == 0 and cut.firsts[-1] == len(row_offsets) - 1
    assert n_vertices.min() >= 1 and n_vertices.max() <= shards.LOCAL_VERTICES
    assert (cut.factors * n_vertices * value_bytes).max() <= n_bytes
    assert cut.most_copies == (cut.factors * n_vertices).max()
    assert (n_edges[n_vertices > 1] <= cut.piece_edges).all()
    pieces = np.diff(cut.first_pieces)
    assert (pieces == np.maximum(1, -(-n_edges // cut.piece_edges))).all()
    assert (n_vertices[pieces > 1] == 1).all()
    assert cut.piece_shards.tolist() == [s for s, count in enumerate(pieces) for _ in range(count)]
    if replication in FACTORS:
        assert (cut.factors == replication).all()
    else:
        choose = shards.CHOICES[replication]
        assert cut.factors.tolist() == [
            choose(*map(int, pair)) for pair in zip(n_edges, n_vertices, strict=True)
        ]


def test_local_ids_fit_16_bits():
    """G3: the edges of a shard store a vertex as its distance from the shard's first vertex."""
    cut = cut_shards(GRAPHS["no edges"], shards.capacity(1 << 30, 4), 8192, 1)
    assert np.diff(cut.firsts).tolist() == [65_536] * 3 + [200_000 - 3 * 65_536]
    assert np.diff(cut.firsts).max() - 1 == np.iinfo(np.uint16).max


def test_edges_to_a_piece():
    assert shards.edges_to_a_piece(0, 264) == 4096
    assert shards.edges_to_a_piece(1 << 25, 264) == -(-(1 << 25) // (8 * 264))
    assert shards.edges_to_a_piece(1 << 31, 264) == 65_536


@pytest.mark.parametrize("replication", [0, 3, 64, "none"])
def test_unknown_replication(replication):
    with pytest.raises(TravError, match="replication="):
        cut_shards(GRAPHS["even"], 1000, 8192, replication)


def test_a_block_without_room():
    with pytest.raises(TravError, match="room"):
        cut_shards(GRAPHS["even"], 8, 8192, 1)
