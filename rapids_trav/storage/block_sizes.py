"""Memory of a graph's questions within a budget: blocks of edges, searches, sums over them, and runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rapids_trav.csr.adjacency import BLOCK
from rapids_trav.engines.interface import Engine, Place, SumsOf
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import OFFSET_BYTES, READ_BYTES, vertex_bytes
from rapids_trav.memory.model.program import resident_bytes
from rapids_trav.memory.model.search import SHARED, Searches, edge_shares_bytes, shares_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.storage.in_memory import InMemory, MemoryView

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


SEARCH = "a search"


def room_of(asked: Searches, place: Place, n_vertices: int) -> int:
    """Return the bytes of these searches, run at once by an engine whose arrays are in `place`."""
    return asked.nbytes(place == "host", n_vertices, vertex_bytes(n_vertices), threads_of(place))


def threads_of(place: Place) -> int:
    """Return the number of threads with working memory of their own, for an engine in `place`."""
    if place == "device":
        return 1
    from rapids_trav.jit.kernels import Threads

    return Threads().size


def needed_beside(asked: Searches, n_bytes: int) -> int:
    """Return the bytes that a question may need beyond the `n_bytes` of its searches, then or later."""
    return max(asked.beside, asked.later - n_bytes)


def most_within(room: int, most: int, asked: Searches, place: Place, n_vertices: int) -> int:
    """Return the number of searches, from 1 up to `most`, that can run at once in `room` bytes."""
    room -= asked.beside
    while most > 1 and room_of(replace(asked, number=most), place, n_vertices) > room:
        most = most * 3 // 4
    return most


@contextmanager
def adding_up(view: MemoryView, n_sources: int, of: SumsOf, beside: int = 0) -> Iterator[int]:
    """Hold memory for sums over distances; yield the number of searches that there is room for at once.

    The question may ask for `beside` bytes meanwhile.
    """
    asked = Searches(number=n_sources, sums=of, beside=beside)
    together = view.searches_at_once(n_sources, asked)
    with view.searching(replace(asked, number=together)):
        yield together


@contextmanager
def sharing(storage: InMemory, engine: Engine, view: MemoryView, edges: bool) -> Iterator[int]:
    """Hold memory for the shares of vertices, and of edges if asked, in shortest paths.

    Yield the number of searches that there is room for at once.
    """
    n, n_edges, vertex = view.n_vertices, view.stored.n_edges, vertex_bytes(view.n_vertices)
    host = engine.place == "host"
    answer = edge_shares_bytes(n_edges, vertex) if edges else 0

    def nbytes(together: int) -> int:
        return shares_bytes(host, n, n_edges, edges, vertex, together) + answer

    together = threads_of(engine.place) if host else SHARED
    if not host and nbytes(together) > (storage.budget.free if storage.budget else engine.free_bytes()):
        together = 1
    with storage.room(nbytes(together), "the betweenness"):
        yield together


PIECE_EDGES = 1 << 14  # edges of a piece of a long row on a GPU, at least


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

    return plan.least_bytes(view, program, options, OFFSET_BYTES, PIECE_EDGES)
