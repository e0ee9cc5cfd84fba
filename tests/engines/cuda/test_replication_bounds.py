"""The replication factor on both sides of each ratio of edges to vertices at which it doubles."""

import math

import pytest

from rapids_trav.published.garaph.shards import replication_factor

VERTICES = 10_000


@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16])
def test_the_factor_doubles_at_roots_of_two(factor):
    """The exponent, ceil(log2(e / v) - 1/2), next rises at e / v = factor * sqrt(2)."""
    bound = math.floor(VERTICES * factor * math.sqrt(2))
    assert replication_factor(bound, VERTICES) == factor
    assert replication_factor(bound + 1, VERTICES) == 2 * factor
