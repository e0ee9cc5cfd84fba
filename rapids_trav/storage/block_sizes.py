"""Memory of a graph's questions within a budget: blocks of edges, searches, and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rapids_trav.csr.adjacency import BLOCK
from rapids_trav.engines.interface import Place
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import OFFSET_BYTES, READ_BYTES, vertex_bytes
from rapids_trav.memory.model.program import resident_bytes
from rapids_trav.memory.model.search import WORD, QueryBytes
from rapids_trav.programs.definition import Program

READ_SHARE = 4  # a block takes a quarter of the free memory at most; the rest is for other threads
FEWEST_IN_HAND = 1 << 5  # smallest block, in edges, for limits that leave room for no more
FEWEST_READ = 1 << 12  # smallest block, in edges, of passes in which smaller ones would be too slow
SEARCH = "a search"


def block_within(budget: Budget | None) -> int:
    """Return the number of edges of a block that fits a budget."""
    return BLOCK if budget is None else max(min(BLOCK, budget.free // READ_BYTES), FEWEST_READ)


@contextmanager
def reading(
    budget: Budget | None,
    n_edges: int,
    edge_bytes: int,
    most: int = BLOCK,
    *,
    fewest: int = FEWEST_IN_HAND,
    fixed: int = 0,
) -> Iterator[int]:
    """Hold `fixed` bytes and memory for a block of edges, of `edge_bytes` each; yield the number of edges."""
    if budget is None:
        yield most
        return
    block = max(min(most, n_edges, (budget.free - fixed) // READ_SHARE // edge_bytes), fewest)
    with budget.hold(fixed + edge_bytes * min(block, n_edges), "a block of edges"):
        yield block


def query_bytes(place: Place, n_vertices: int) -> QueryBytes:
    """Return the table for a graph of an engine whose arrays are in `place`."""
    return QueryBytes(place == "host", n_vertices, vertex_bytes(n_vertices), threads_of(place))


def threads_of(place: Place) -> int:
    """Return the number of threads with working memory of their own, for an engine in `place`."""
    if place == "device":
        return 1
    from rapids_trav.jit.kernels import Threads

    return Threads().size


def most_within(room: int, most: int, needed: Callable[[int], int]) -> int:
    """Return the number of searches, from 1 up to `most`, that can run at once in `room` bytes.

    Fewer than `most` fill whole words of a bit-parallel search, if they fill one.
    """
    while most > 1 and needed(most) > room:
        most = most * 3 // 4
        most = most // WORD * WORD or most
    return most


def least_of_run(place: Place, view: GatherView, program: Program, options: RunOptions) -> int:
    """Return bytes that suffice for a run on an engine whose arrays are in `place`.

    Any larger amount suffices as well.  A smaller one may, with smaller pages.
    """
    if place == "host":
        from rapids_trav.engines.cpu.programs.run import least_bytes

        return least_bytes(view, program, options)
    if view.pages is None:
        return resident_bytes(run_shape(view, program, options))
    if options.schedule == "paths":
        from rapids_trav.engines.cuda.blocks import plan as blocks

        return blocks.least_bytes(view, program, options)
    from rapids_trav.engines.cuda.stream import plan

    return plan.least_bytes(view, program, options, OFFSET_BYTES)
