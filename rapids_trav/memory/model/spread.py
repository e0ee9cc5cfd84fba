"""Memory of a graph that is dealt to several GPUs, for each of its ranks.

A rank of P has n / P vertices and, since vertices are dealt by degree, M / P of the M entries: those that
lead to its vertices.  There are two layouts.  With "both" orientations the entries take 2 v bytes each, with
v bytes for a vertex, and there is an offset for each own vertex and for each vertex of the graph.  The "lean"
one, of symmetric graphs, has the rows of own vertices alone, and room for 2 v bytes for each vertex of the
graph, which is offered to its owner there.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapids_trav.memory.model.build import OFFSET_BYTES, vertex_bytes
from rapids_trav.tuning import Layout

BUILD_BYTES = {4: 18, 8: 48}  # per entry of a rank that is built, by bytes of a vertex
SORT_BYTES = {4: 24, 8: 56}  # per entry of lean rows that are sorted at once
SORTED_AT_ONCE = 1 << 27  # entries; a longer row is sorted alone
QUEUED_BYTES = 24  # per vertex whose row a rank has, at most: its place in the rank's queue
STATE_BYTES = 8  # per own vertex: distance, visited, near
# With both orientations, the ranks send each other what they find from a frontier of at most this many edges:
# each has two inboxes with room for as many vertices from each rank, if a rank has as many.
THIN_EDGES = 1 << 16


def layout_that_fits(n_vertices: int, n_entries: int, free: Sequence[int], *, symmetric: bool) -> Layout:
    """Return "both" if the rows in both orientations fit, with a search, in the bytes `free` for each rank.

    Otherwise it is "lean", if the graph is symmetric.
    """
    needed = spread_bytes(n_vertices, n_entries, len(free))
    return "lean" if symmetric and needed > min(free) else "both"


def spread_bytes(n_vertices: int, n_entries: int, n_ranks: int, layout: Layout = "both") -> int:
    """Return the most bytes that a rank takes: to build its rows, or to hold them with a search."""
    search = dealt_bytes(n_vertices, n_ranks, predecessors=True, layout=layout)
    held = dealt_rows_bytes(n_vertices, n_entries, n_ranks, layout) + search
    return max(held, deal_bytes(n_vertices, n_entries, n_ranks, layout))


def dealt_bytes(n_vertices: int, n_ranks: int, *, predecessors: bool, layout: Layout = "both") -> int:
    """Return the most bytes that a search takes on a GPU of one rank, with the answer of all vertices."""
    vertex, own = vertex_bytes(n_vertices), -(-n_vertices // n_ranks)
    answer = (4 + (vertex if predecessors else 0)) * n_vertices
    queued = n_vertices if layout == "both" else own
    offered = 0 if layout == "both" else n_vertices // 8
    return answer + own * (STATE_BYTES + vertex) + QUEUED_BYTES * queued + offered


def dealt_rows_bytes(n_vertices: int, n_entries: int, n_ranks: int, layout: Layout = "both") -> int:
    """Return the bytes of a rank's rows and of the memory that others reach."""
    vertex, own = vertex_bytes(n_vertices), -(-n_vertices // n_ranks)
    entries = vertex * -(-n_entries // n_ranks)
    rows = entries + (OFFSET_BYTES + vertex) * own
    shared = n_vertices // 4 + 2 * vertex * own
    if layout == "both":
        inboxes = 2 * n_ranks * min(own, THIN_EDGES) * 2 * vertex
        return rows + entries + OFFSET_BYTES * n_vertices + shared + inboxes
    return rows + shared + 2 * vertex * n_vertices


def deal_bytes(n_vertices: int, n_entries: int, n_ranks: int, layout: Layout = "both") -> int:
    """Return the most bytes that building the rows of a rank takes, with the edges that it is built from.

    The edges of lean rows are read twice and not held.
    """
    vertex, entries = vertex_bytes(n_vertices), -(-n_entries // n_ranks)
    if layout == "both":
        return dealt_rows_bytes(n_vertices, 0, n_ranks) + BUILD_BYTES[vertex] * entries
    rows = dealt_rows_bytes(n_vertices, n_entries, n_ranks, layout)
    rows += 2 * OFFSET_BYTES * -(-n_vertices // n_ranks)  # degrees, and the next free place of each row
    return rows + SORT_BYTES[vertex] * min(entries, SORTED_AT_ONCE)
