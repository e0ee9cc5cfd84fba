"""Memory for sums over many searches whose distances and predecessors are not kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rapids_trav.engines.interface import Engine, SumsOf
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import SHARED, Searches, edge_shares_bytes, shares_bytes
from rapids_trav.storage.interface import SearchView, Storage
from rapids_trav.storage.search_memory import threads_of


@contextmanager
def adding_up(view: SearchView, n_sources: int, of: SumsOf, beside: int = 0) -> Iterator[int]:
    """Hold memory for sums over distances; yield the number of searches that there is room for at once.

    The question may ask for `beside` bytes meanwhile.
    """
    asked = Searches(number=n_sources, sums=of, beside=beside)
    together = view.searches_at_once(n_sources, asked)
    with view.searching(replace(asked, number=together)):
        yield together


@contextmanager
def sharing(storage: Storage, engine: Engine, view: SearchView, edges: bool) -> Iterator[int]:
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
