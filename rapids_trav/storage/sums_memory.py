"""Room for sums over many searches, of which neither distances nor predecessors are kept."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rapids_trav.engines.interface import Engine, SumsOf
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import bounds_bytes, edge_shares_bytes, shares_bytes, sums_bytes
from rapids_trav.storage.interface import Storage


def adding_up(
    storage: Storage, engine: Engine, n_vertices: int, of: SumsOf, what: str
) -> AbstractContextManager[None]:
    """Hold room for sums over distances."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    return storage.room(sums_bytes(host, n_vertices, vertex, _threads(host), of == "vertices"), what)


def sharing(storage: Storage, engine: Engine, n_vertices: int, n_edges: int) -> AbstractContextManager[None]:
    """Hold room for the shares of vertices, and of so many edges, in shortest paths."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    n_bytes = shares_bytes(host, n_vertices, n_edges, vertex, _threads(host))
    return storage.room(n_bytes + edge_shares_bytes(n_edges, vertex), "the betweenness")


def bounding(storage: Storage, engine: Engine, n_vertices: int) -> AbstractContextManager[None]:
    """Hold room for eccentricities by bounds, and for the sums that may end them."""
    host, vertex = engine.place == "host", vertex_bytes(n_vertices)
    return storage.room(bounds_bytes(host, n_vertices, vertex, _threads(host)), "the eccentricities")


def _threads(host: bool) -> int:
    if not host:
        return 1
    from rapids_trav.engines.cpu.runtime.compile import Team

    return Team().size
