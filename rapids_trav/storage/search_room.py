"""What a breadth-first search takes while it runs, by the engine that runs it.

Of n vertices with v bytes an id (4, from 2^31 vertices on 8):

- on the CPU  distances, predecessors, a queue and bitmaps: (5 + 2 v) n; of k searches run together
  (4 + v) k n, and (24 + 2 v) n for each thread that runs a group of them;
- on a GPU    at most 32 n; of k searches (4 + v) k n, 24 n for each 64 up to 256, and 2 v n.

Searches that are run one after another, as variants by name are, hold their answers twice when they are put
together.
"""

from __future__ import annotations

from typing import Any

SEARCH = "a search"
GPU_BYTES = 32


def search_bytes(engine: Any, n_vertices: int, vertex: int) -> int:
    """Of a search from one frontier, at most."""
    return (5 + 2 * vertex if engine.name == "cpu" else GPU_BYTES) * n_vertices


def searches_bytes(engine: Any, n_vertices: int, vertex: int, n_searches: int, together: bool) -> int:
    """Of searches that are independent, run together or one after another."""
    answers = n_searches * (4 + vertex) * n_vertices * (1 if together else 2)
    if not together:
        return answers + search_bytes(engine, n_vertices, vertex)
    if engine.name != "cpu":
        return answers + (24 * min(-(-n_searches // 64), 4) + 2 * vertex) * n_vertices
    from rapids_trav.engines.cpu.compile import Team

    return answers + min(n_searches, Team().size) * (24 + 2 * vertex) * n_vertices
