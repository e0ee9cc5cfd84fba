"""Memory for sums over many searches whose distances and predecessors are not kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from rapids_trav.engines.interface import Engine, SumsOf
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import Searches, edge_shares_bytes, shares_bytes
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


def sharing(storage: Storage, engine: Engine, n_vertices: int, n_edges: int) -> AbstractContextManager[None]:
    """Hold memory for the shares of vertices, and of `n_edges` edges, in shortest paths."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    n_bytes = shares_bytes(host, n_vertices, n_edges, vertex, threads_of(engine.place))
    return storage.room(n_bytes + edge_shares_bytes(n_edges, vertex), "the betweenness")
