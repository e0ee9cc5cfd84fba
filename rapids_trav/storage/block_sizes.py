"""Sizes of blocks of edges within a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.csr.blocks import BLOCK
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import READ_BYTES

READ_SHARE = 4  # a block takes a quarter of the free memory at most; the rest is for other threads
FEWEST_IN_HAND = 1 << 5  # smallest block, in edges, for limits that leave room for no more
FEWEST_READ = 1 << 12  # smallest block, in edges, of passes in which smaller ones would be too slow


def block_within(
    budget: Budget | None, most: int = BLOCK, *, edge_bytes: int = READ_BYTES, beside: int = 0
) -> int:
    """Return the number of edges of a block that fits a budget with `beside` bytes; `most` without one."""
    if budget is None:
        return most
    return max(min(most, (budget.free - beside) // edge_bytes), FEWEST_READ)


@contextmanager
def reading(
    budget: Budget | None,
    n_edges: int,
    edge_bytes: int,
    most: int = BLOCK,
    *,
    fewest: int = FEWEST_IN_HAND,
) -> Iterator[int]:
    """Hold memory for a block of edges, of `edge_bytes` each, and yield the number of edges."""
    if budget is None:
        yield most
        return
    block = max(min(most, n_edges, budget.free // READ_SHARE // edge_bytes), fewest)
    with budget.hold(edge_bytes * min(block, n_edges), "a block of edges"):
        yield block
