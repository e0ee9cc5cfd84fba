"""Memory of a graph that is dealt to several GPUs, for each of its ranks.

A rank of P has n / P vertices and, since vertices are dealt by degree, M / P of the M entries: those that
lead to its vertices.  In both orientations they take 2 v bytes for each entry, with v bytes for a vertex,
and an offset for each own vertex and for each vertex of the graph.
"""

from __future__ import annotations

from rapids_trav.memory.model.build import OFFSET_BYTES, vertex_bytes

BUILD_BYTES = {4: 18, 8: 48}  # per entry of a rank that is built, by bytes of a vertex
QUEUED_BYTES = 24  # per vertex of the graph, at most: its place in a rank's queue
STATE_BYTES = 8  # per own vertex: distance, visited, near


def dealt_bytes(n_vertices: int, n_ranks: int, *, predecessors: bool) -> int:
    """Return the most bytes that a search takes on a GPU of one rank, with the answer of all vertices."""
    vertex = vertex_bytes(n_vertices)
    answer = (4 + (vertex if predecessors else 0)) * n_vertices
    own = -(-n_vertices // n_ranks) * (STATE_BYTES + vertex)
    return answer + own + QUEUED_BYTES * n_vertices


def dealt_rows_bytes(n_vertices: int, n_entries: int, n_ranks: int) -> int:
    """Return the bytes of a rank's rows in both orientations and of the memory that others reach."""
    vertex, own = vertex_bytes(n_vertices), -(-n_vertices // n_ranks)
    entries = -(-n_entries // n_ranks)
    rows = 2 * vertex * entries + OFFSET_BYTES * (own + n_vertices) + vertex * own
    return rows + n_vertices // 4 + 2 * vertex * own


def deal_bytes(n_vertices: int, n_entries: int, n_ranks: int) -> int:
    """Return the most bytes that building the rows of a rank takes, with the edges that it is built from."""
    vertex = vertex_bytes(n_vertices)
    return dealt_rows_bytes(n_vertices, 0, n_ranks) + BUILD_BYTES[vertex] * -(-n_entries // n_ranks)
