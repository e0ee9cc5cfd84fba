"""Memory for sums over many searches whose distances and predecessors are not kept."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rapids_trav.engines.interface import Engine, SumsOf
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import bounds_bytes, edge_shares_bytes, shares_bytes, sums_bytes
from rapids_trav.storage.interface import Storage
from rapids_trav.storage.search_memory import threads_of


def adding_up(
    storage: Storage, engine: Engine, n_vertices: int, of: SumsOf, what: str
) -> AbstractContextManager[None]:
    """Hold memory for sums over distances."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    n_bytes = sums_bytes(host, n_vertices, vertex, threads_of(engine.place), of == "vertices")
    return storage.room(n_bytes, what)


def sharing(storage: Storage, engine: Engine, n_vertices: int, n_edges: int) -> AbstractContextManager[None]:
    """Hold memory for the shares of vertices, and of `n_edges` edges, in shortest paths."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    n_bytes = shares_bytes(host, n_vertices, n_edges, vertex, threads_of(engine.place))
    return storage.room(n_bytes + edge_shares_bytes(n_edges, vertex), "the betweenness")


def bounding(storage: Storage, engine: Engine, n_vertices: int) -> AbstractContextManager[None]:
    """Hold memory for eccentricities by bounds, and for the sums over distances that may finish them."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    n_bytes = bounds_bytes(host, n_vertices, vertex, threads_of(engine.place))
    return storage.room(n_bytes, "the eccentricities")
