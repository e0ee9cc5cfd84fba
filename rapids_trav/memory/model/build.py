"""Bytes of graphs and of building them.

What a graph of n vertices and M adjacency entries (its m edges, twice that if undirected) takes in memory,
with v bytes a vertex id, s structures (1, or 2 if directed) and 8 M s for weights:

- on the CPU  s (8 n + v M), and 2 M while it is built;
- on a GPU    s (8 n + v M + v n), and 16 M while it is built, or 24 M if directed.

Beside it a question takes up to 160 n: a vertex program with what it starts from, and what is made of its
values.
"""

from __future__ import annotations

OFFSET_BYTES = 8  # of a row: where its edges begin
QUESTION_BYTES = 160  # of a vertex, that a question on a graph in memory takes
QUESTION_FIXED = 1 << 14  # that it takes whatever the size of the graph: rows in hand
WEIGHT_BYTES = 8  # of an edge, at most

RENUMBER_BYTES = 48  # of an id, while all are renumbered at once: itself, its code, and a table or a sort
PASS_ROW_BYTES = 256  # of the limit for each row of the edges that is read at once
SORT_BYTES = {True: 2, False: 24}  # of an entry that is built, on the host and on a GPU: low bits; a sort
DEGREE_BYTES = 17  # of a vertex: its degree, as it is counted and as it is kept

# Building outside a GPU's memory.
ENTRY_BYTES = 96  # what a block takes for each entry while it is sorted and placed, with weights
ROW_BYTES = 16  # of a row: its count, and where its next edge goes
FEWEST_PLACED = 1 << 8  # edges that a GPU places at once

# Blocks of edges in hand, of each edge.
READ_BYTES = 256  # with what is made of it when an adjacency is rebuilt
COUNTED_BYTES = 32  # its ends, and what is compared
FOUND_BYTES = 96  # of a row of the caller's edges: its ends in both kinds of ids, and whether they are chosen
TIGHT_BYTES = 80  # its ends, weight and distances, and what is compared
CHECKED_BYTES = 128  # its ends, their distances and predecessors, and what is compared


def vertex_bytes(n_vertices: int) -> int:
    """Return the bytes of an internal id."""
    return 4 if n_vertices < 2**31 else 8


def in_memory_bytes(
    host: bool, n_vertices: int, n_edges: int, *, directed: bool, weighted: bool = False
) -> int:
    """Return what a graph takes in memory at most, with a question."""
    graph = graph_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted)
    return graph + QUESTION_BYTES * n_vertices


def graph_bytes(host: bool, n_vertices: int, n_edges: int, *, directed: bool, weighted: bool = False) -> int:
    """Return what a graph takes in memory at most, and building it."""
    entries = n_edges if directed else 2 * n_edges
    vertex = vertex_bytes(n_vertices)
    structures = 2 if directed else 1
    held = structures * (OFFSET_BYTES * n_vertices + vertex * entries)
    held += structures * WEIGHT_BYTES * entries if weighted else 0
    if host:
        return held + SORT_BYTES[host] * entries
    return held + structures * vertex * n_vertices + (24 if directed else 16) * entries


def adjacency_bytes(host: bool, n_vertices: int, entries: int, weight: int = 0) -> int:
    """Return what building an adjacency in memory takes: itself, its weights twice, and what sorts it."""
    vertex = vertex_bytes(n_vertices)
    rows = OFFSET_BYTES if host else OFFSET_BYTES + vertex
    return entries * (vertex + 2 * weight + SORT_BYTES[host]) + rows * (n_vertices + 1)


def edge_list_bytes(n_vertices: int, entries: int) -> int:
    """Return what listing the edges of an adjacency takes: their rows, and what those are repeated from."""
    return entries * (vertex_bytes(n_vertices) + 1) + 16 * n_vertices


def renumber_bytes(n_edges: int, id_bytes: int) -> int:
    """Return what renumbering takes with the ids of all edges in memory, whose columns have `id_bytes`."""
    return 2 * RENUMBER_BYTES * n_edges + 4 * id_bytes


def codes_bytes(n_vertices: int, n_edges: int) -> int:
    """Return what both ends of all edges take in internal ids."""
    return 2 * n_edges * vertex_bytes(n_vertices)


def order_bytes(n_vertices: int) -> int:
    """Return what an order of the vertices takes: their ranks, and whose each rank is."""
    return 2 * vertex_bytes(n_vertices) * n_vertices


def grown_bytes(n_vertices: int) -> int:
    """Return what finding the order of locality takes: the order, the vertices seen, and a byte for each."""
    return (2 * vertex_bytes(n_vertices) + 1) * n_vertices


def layout_bytes(n_vertices: int, n_entries: int, weight: int, *, relaxed: bool) -> int:
    """Return what cutting edges into paths takes.

    For each edge at most two vertices and a length, and its weight.  For each vertex its next edge, its place
    on a stack, and the edge that was passed over (of relaxed paths) or how many edges lead to it.
    """
    vertex = vertex_bytes(n_vertices)
    length = 4 if 2 * n_entries < 2**31 else 8
    state = OFFSET_BYTES + vertex + (OFFSET_BYTES if relaxed else 1)
    return n_entries * (2 * vertex + length + weight) + n_vertices * state


def spilled_build_bytes(host: bool, n_vertices: int) -> int:
    """Return the least that building an adjacency takes whose arrays lie outside the engine's memory."""
    return 0 if host else ROW_BYTES * n_vertices + 2 * ENTRY_BYTES * FEWEST_PLACED


def resident_rows_bytes(n_vertices: int) -> int:
    """Return the least that rows outside a GPU's memory take in it: offsets and first neighbours."""
    return OFFSET_BYTES * (n_vertices + 1) + vertex_bytes(n_vertices) * n_vertices
