"""How many edges a block may have within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.csr.blocks import BLOCK
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import READ_BYTES

READ_SHARE = 4  # of what is free a block takes one part: the rest is for other threads
FEWEST_IN_HAND = 1 << 5  # edges of a block in any case, where a small limit leaves room for no more
FEWEST_READ = 1 << 12  # edges of a block in any case: fewer take too long


def block_within(
    budget: Budget | None, most: int = BLOCK, *, edge_bytes: int = READ_BYTES, beside: int = 0
) -> int:
    """Return the edges of a block that fits a budget beside so many bytes; without one, `most`."""
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
    """Hold room for a block of edges in hand, of `edge_bytes` each; how many they are."""
    if budget is None:
        yield most
        return
    block = max(min(most, n_edges, budget.free // READ_SHARE // edge_bytes), fewest)
    with budget.hold(edge_bytes * min(block, n_edges), "a block of edges"):
        yield block
