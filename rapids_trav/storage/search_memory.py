"""How many searches there is room for, and what those take that a question asks for."""

from __future__ import annotations

from dataclasses import replace

from rapids_trav.engines.interface import Place
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import Searches

SEARCH = "a search"


def room_of(asked: Searches, place: Place, n_vertices: int) -> int:
    """Return the bytes of these searches, run at once by an engine whose arrays lie there."""
    return asked.nbytes(place == "host", n_vertices, vertex_bytes(n_vertices), threads_of(place))


def threads_of(place: Place) -> int:
    """Return how many threads take room of their own, for an engine whose arrays lie there."""
    if place == "device":
        return 1
    from rapids_trav.engines.cpu.runtime.compile import Team

    return Team().size


def needed_beside(asked: Searches, n_bytes: int) -> int:
    """Return what a question may need beyond the `n_bytes` of its searches: with them, or after them."""
    return max(asked.beside, asked.later - n_bytes)


def most_within(room: int, most: int, asked: Searches, place: Place, n_vertices: int) -> int:
    """Return how many searches at once, up to `most`, `room` bytes are enough for; one in any case."""
    room -= asked.beside
    while most > 1 and room_of(replace(asked, number=most), place, n_vertices) > room:
        most = most * 3 // 4
    return most
