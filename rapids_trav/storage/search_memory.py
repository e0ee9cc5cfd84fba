"""Memory of the searches that a question asks for, and the number of searches that fit a budget."""

from __future__ import annotations

from dataclasses import replace

from rapids_trav.engines.interface import Place
from rapids_trav.memory.model.build import vertex_bytes
from rapids_trav.memory.model.search import Searches

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
