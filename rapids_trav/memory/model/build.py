"""Memory of graphs, and of building them.

A graph of n vertices has M adjacency entries: its m edges, or 2 m if it is undirected.  With v bytes for a
vertex id and s structures (1, or 2 if directed), it takes, in bytes:

- on the CPU  s (8 n + v M), and 2 M while it is built;
- on a GPU    s (8 n + v M + v n), and 16 M while it is built, or 24 M if directed.

Weights take another 8 M s, and on a GPU, while they are built, what `device_build_bytes` says.  A question
takes up to 160 n beside the graph: a vertex program with its initial values and the answer made from its
values.
"""

from __future__ import annotations

OFFSET_BYTES = 8  # per row: the offset of its first edge
QUESTION_BYTES = 160  # per vertex: the most that a question on a graph in memory takes
QUESTION_FIXED = 1 << 14  # per question, whatever the size of the graph: the block of rows being read
WEIGHT_BYTES = 8  # per edge, at most

RENUMBER_BYTES = 48  # per id, while all are renumbered at once: the id, its code, and a table or a sort
PASS_ROW_BYTES = 256  # bytes of the limit per row of the edge list that is read at once
SORT_BYTES = {True: 2, False: 24}  # per entry built: low bits on the host (True), a sort on a GPU (False)
LARGE = 1 << 26  # entries from which a GPU builds an adjacency one range of rows after another
RANGES = {False: 8, True: 16}  # such ranges, without and with weights
PAIR_BYTES = 40  # per entry sorted on a GPU through an index, without its weight
DEGREE_BYTES = 17  # per vertex: its degree, as counted and as kept

# Builds outside a GPU's memory.
ENTRY_BYTES = 96  # per entry of a block, while it is sorted and placed, with weights
ROW_BYTES = 16  # per row: its count, and the position of its next edge
FEWEST_PLACED = 1 << 8  # smallest number of edges that a GPU places at once

# Per edge of the block being processed.
READ_BYTES = 256  # the edge, and the temporary arrays of rebuilding an adjacency
COUNTED_BYTES = 32  # both ends, and the results of comparisons
FOUND_BYTES = 96  # a row of the caller's edges: its ends in both kinds of ids, and whether they are chosen
TIGHT_BYTES = 80  # both ends, weight and distances, and the results of comparisons
CHECKED_BYTES = 128  # both ends, their distances and predecessors, and the results of comparisons


def vertex_bytes(n_vertices: int) -> int:
    """Return the bytes of an internal id."""
    return 4 if n_vertices < 2**31 else 8


def in_memory_bytes(
    host: bool, n_vertices: int, n_edges: int, *, directed: bool, weighted: bool = False
) -> int:
    """Return the most bytes that a graph in memory takes, including building it and one question.

    That includes the weights, which are built beside the rows when they are first asked for.
    """
    graph = graph_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted)
    if directed:  # the rows by destination are made from those by source, expanded to edges
        source = _rows_bytes(host, n_vertices) + vertex_bytes(n_vertices) * n_edges
        source += edge_list_bytes(n_vertices, n_edges)
        graph = max(graph, source + adjacency_bytes(host, n_vertices, n_edges))
    needed = graph + QUESTION_BYTES * n_vertices
    if weighted:
        entries, structures = (n_edges, 2) if directed else (2 * n_edges, 1)
        vertex = vertex_bytes(n_vertices)
        rows = structures * (_rows_bytes(host, n_vertices) + vertex * entries)
        others = (structures - 1) * WEIGHT_BYTES * entries
        needed = max(needed, rows + others + adjacency_bytes(host, n_vertices, entries, WEIGHT_BYTES))
    return needed


def graph_bytes(host: bool, n_vertices: int, n_edges: int, *, directed: bool, weighted: bool = False) -> int:
    """Return the most bytes that a graph in memory takes, including building it."""
    entries = n_edges if directed else 2 * n_edges
    vertex = vertex_bytes(n_vertices)
    structures = 2 if directed else 1
    held = structures * (OFFSET_BYTES * n_vertices + vertex * entries)
    held += structures * WEIGHT_BYTES * entries if weighted else 0
    if host:
        return held + SORT_BYTES[host] * entries
    held += structures * (vertex * n_vertices + word_rows_bytes(n_vertices))
    working = (24 if directed else 16) * entries
    if weighted:
        built = device_build_bytes(n_vertices, entries, WEIGHT_BYTES, symmetric=not directed)
        working = max(working, built - (vertex + WEIGHT_BYTES) * entries)
    return held + working


def adjacency_bytes(host: bool, n_vertices: int, entries: int, weight: int = 0) -> int:
    """Return the most bytes of building an adjacency in memory: the adjacency, its weights, and the sort.

    One with weights may have a row of most entries; a GPU then sorts all of them at once.
    """
    vertex = vertex_bytes(n_vertices)
    rows = _rows_bytes(host, n_vertices)
    needed = entries * (vertex + 2 * weight + SORT_BYTES[host]) + rows
    if host or not weight:
        return needed
    return max(needed, device_build_bytes(n_vertices, entries, weight, symmetric=False, large=None))


def device_build_bytes(
    n_vertices: int, entries: int, weight: int, *, symmetric: bool, large: int | None = LARGE
) -> int:
    """Return the bytes of building an adjacency on a GPU, the result included.

    With fewer than `large` entries all are sorted at once (None: however many), and edges and result take
    less than the sort.  Otherwise edges, result and the sort of one of the ranges are there together.
    """
    vertex = vertex_bytes(n_vertices)
    rows = _rows_bytes(False, n_vertices)
    if vertex == 8:
        return (48 + 2 * weight) * entries + rows
    sort = PAIR_BYTES + weight if weight else 16
    if large is None or entries < large:
        return sort * entries + rows
    edges = (2 * vertex + weight) * (entries // 2 if symmetric else entries)
    return edges + (vertex + weight) * entries + sort * entries // RANGES[bool(weight)] + rows


def _rows_bytes(host: bool, n_vertices: int) -> int:
    """Return the bytes of offsets, and on a GPU of the rows' first neighbours and lengths."""
    offsets = OFFSET_BYTES * (n_vertices + 1)
    if host:
        return offsets
    return offsets + vertex_bytes(n_vertices) * (n_vertices + 1) + word_rows_bytes(n_vertices)


def word_rows_bytes(n_vertices: int) -> int:
    """Return the GPU memory of the lengths and beginnings of rows, one for every 32 rows."""
    return 2 * OFFSET_BYTES * -(-n_vertices // 32)


def edge_list_bytes(n_vertices: int, entries: int) -> int:
    """Return the bytes of expanding an adjacency to coordinates: the rows, and the arrays they come from."""
    return entries * (vertex_bytes(n_vertices) + 1) + 16 * n_vertices


def renumber_bytes(n_edges: int, id_bytes: int) -> int:
    """Return the bytes of renumbering with all edges in memory, whose id columns have `id_bytes`."""
    return 2 * RENUMBER_BYTES * n_edges + 4 * id_bytes


def codes_bytes(n_vertices: int, n_edges: int) -> int:
    """Return the bytes of both ends of all edges in internal ids."""
    return 2 * n_edges * vertex_bytes(n_vertices)


def order_bytes(n_vertices: int) -> int:
    """Return the bytes of an order of the vertices: the rank of each vertex, and the vertex of each rank."""
    return 2 * vertex_bytes(n_vertices) * n_vertices


def grown_bytes(n_vertices: int) -> int:
    """Return the bytes of computing the locality order: the order, a list of visited vertices, and flags."""
    return (2 * vertex_bytes(n_vertices) + 1) * n_vertices


def layout_bytes(n_vertices: int, n_entries: int, weight: int, *, relaxed: bool) -> int:
    """Return the bytes of decomposing edges into paths.

    Each edge takes at most two vertices, a length and its weight.  Each vertex takes its next edge, an entry
    on a stack, and either its skipped edge (relaxed paths) or its in-degree (strict paths).
    """
    vertex = vertex_bytes(n_vertices)
    length = 4 if 2 * n_entries < 2**31 else 8
    state = OFFSET_BYTES + vertex + (OFFSET_BYTES if relaxed else 1)
    return n_entries * (2 * vertex + length + weight) + n_vertices * state


def spilled_build_bytes(host: bool, n_vertices: int) -> int:
    """Return the fewest bytes with which an adjacency outside the engine's memory can be built."""
    return 0 if host else ROW_BYTES * n_vertices + 2 * ENTRY_BYTES * FEWEST_PLACED


def resident_rows_bytes(n_vertices: int) -> int:
    """Return the GPU memory, at least, of rows outside it: their offsets, first neighbours and lengths."""
    per_vertex = OFFSET_BYTES * (n_vertices + 1) + vertex_bytes(n_vertices) * n_vertices
    return per_vertex + word_rows_bytes(n_vertices)
