"""Memory of vertex programs: the working arrays of the engine, and the arrays of the question beside them.

Before and during a run, the question holds the initial values and a flag for each vertex, and for a moment
the arrays that the initial values are made from.  After the run these are gone.  It then holds the final
values, perhaps with a copy in another order of the vertices, and the arrays that the answer is made from.
"""

from __future__ import annotations

from dataclasses import dataclass

POSITION = 8  # bytes of the position of a vertex in a list

# On the CPU.
NOTIFIED_BYTES = 20  # per vertex: a mark, and its place in the lists of active and of notified vertices
LISTED_BYTES = 64  # per vertex listed at once: start and end of its edges, in this part and the last
LISTED_PART = 8  # one vertex in eight is listed at once ...
LISTED_LEAST = 1 << 6  # ... but at least this number
BLOCK_BYTES = 192  # per block: its rows, its waiting vertices, its cost so far, and how it is chosen
LEAST_PAGE = 1 << 14  # smallest page, in bytes, if there is room for it: many small pages are slow

# On a GPU, with the edges in its memory.
RUN_BYTES = 1 << 18  # per run, whatever its size: counters, parameters and the like
HUB_EDGE_BYTES = 1  # per edge, at most: hubs and the pieces of their rows
SHARD_EDGE_BYTES = 4  # per edge of a shard: its place in the shard, while it is computed and as it is kept

# On a GPU, with shards, wherever the edges are.
LOCAL_BYTES = 2  # per edge: its vertex, counted from the first of the shard
SHARD_BYTES = 28  # per shard: its first vertex and piece, its copies, and its ticket; a shard has a piece
PIECE_BYTES = 4  # per piece: its shard; its result comes on top
FEWEST_PIECE_EDGES = 1 << 12  # edges of a piece, if the shard has more
LEAST_SHARED_BYTES, MOST_COPIES = 24 << 10, 32  # a block's shared memory, and copies of a vertex in it

# On a GPU, with the edges outside it.
FIXED_BYTES = 1 << 14  # counters, parameters, and upload buffers
LINKED_PART = 1 << 16  # of columns in a file, at least, while trees are linked along them
TABLE_BYTES = 112  # per page: starts and lengths of its lists, and its notified vertices
HUB_BYTES = 128  # per piece of a long row: hubs and their pieces
OFFSET_SHARE = 4  # while columns are packed, one row offset is read for so many edges at a time

# Memory of the search along edges over which the distance does not grow.  Per such edge: the edge list, the
# rows, and the sort.  Per vertex: the row offsets, the search, and the vertices that it starts from.
LEVEL_EDGE_BYTES, LEVEL_VERTEX_BYTES = 48, 40


@dataclass(frozen=True)
class RunShape:
    """Properties of a run that determine its memory; `vertex`, `value` and `weight` are bytes."""

    n_vertices: int
    n_edges: int  # that the run gathers over
    vertex: int
    value: int
    weight: int = 0  # 0 in an unweighted run
    symmetric: bool = True  # the adjacency is its own transpose
    asynchronous: bool = False
    scatters: bool = False  # messages differ from values
    notifies: bool = True  # an iteration may gather for the notified vertices only
    uses_degrees: bool = False  # the program's functions take the degree
    copies_degrees: bool = False  # the run may not write to the degrees
    counts_degrees: bool = False  # degrees are sums of weights, so that a run that gathers also counts edges
    shards: bool = False  # a GPU that gathers for all vertices does so by shards

    @property
    def edge(self) -> int:
        """Bytes of an edge: its destination and its weight."""
        return self.vertex + self.weight


def listed_at_once(n_vertices: int) -> int:
    """Return the number of notified vertices whose edges are listed at once."""
    return max(n_vertices // LISTED_PART, LISTED_LEAST)


def working_bytes(run: RunShape) -> int:
    """Return the bytes of a run on the CPU: values, messages, flags and, if it notifies, its lists."""
    n = run.n_vertices
    arrays = (1 if run.asynchronous else 2) * (2 if run.scatters else 1)
    held = arrays * run.value + 1
    held += 8 if run.counts_degrees else 0
    held += 8 if run.copies_degrees else 0
    listed = 0
    if run.notifies:
        taken_over = 0 if run.asynchronous else run.value
        listed = (NOTIFIED_BYTES + taken_over) * n + LISTED_BYTES * min(listed_at_once(n), n)
    return held * n + listed


def push_bytes(run: RunShape) -> int:
    """Return the bytes of a push: lists and, in a synchronous run, a message and old value of each vertex."""
    buffers = 0 if run.asynchronous else 2 * run.value
    # `POSITION`: the active vertices are listed once more when the lists are read.
    return run.n_vertices * (3 * run.vertex + 1 + buffers + POSITION)


def block_state_bytes(run: RunShape, n_blocks: int) -> int:
    """Return the bytes of a run over blocks, without the blocks in memory: values, flags, and three lists.

    A vertex has an entry in a list, and a flag, for each block that its row extends into.
    """
    n_items = run.n_vertices + n_blocks
    held = run.value + 1 + (8 if run.copies_degrees else 0)
    return run.n_vertices * held + n_items * (3 * run.vertex + 1) + n_blocks * BLOCK_BYTES


def block_state_bytes_on_gpu(run: RunShape, n_blocks: int, offset: int, chunks: int) -> int:
    """Return the bytes of a run over blocks on a GPU, without the blocks in its memory.

    They hold values, flags, offsets of `offset` bytes, and perhaps degrees; for each vertex, and for each
    block that its row extends into, places in two queues and four bits; and two lists of `chunks` entries.
    """
    n_items = run.n_vertices + n_blocks
    held = run.value + 1 + offset + (8 if run.uses_degrees else 0)
    lists = 2 * run.vertex * n_items + 4 * (n_items // 8 + 4) + 2 * 8 * chunks
    return run.n_vertices * held + lists + n_blocks * BLOCK_BYTES + FIXED_BYTES


def page_bytes(n_edges: int, n_rows: int, edge: int, offset: int) -> int:
    """Return the bytes of a page on the CPU: its edges, and an offset for each row and for the end."""
    return n_edges * edge + offset * (n_rows + 1)


def resident_bytes(run: RunShape) -> int:
    """Return the bytes of a run on a GPU that has the edges in its memory.

    They hold values, two kinds of messages, flags and marks; two queues and two lists of rows; and hubs with
    the pieces of their rows, or the edges of shards.
    """
    own = 3 * run.value + 3 + 4 * run.vertex
    edge = SHARD_EDGE_BYTES if run.shards else HUB_EDGE_BYTES
    return own * run.n_vertices + RUN_BYTES + edge * run.n_edges


def shard_table_bytes(run: RunShape) -> int:
    """Return the most bytes of the shards of streamed edges, except those that end with a page.

    A shard ends where its next vertex would exceed a block's shared memory, or that vertex's edges the size
    of a piece.  A vertex whose own edges exceed a piece is a shard by itself.  `page_table_bytes` has the
    rest.
    """
    narrowest = LEAST_SHARED_BYTES // (run.value * MOST_COPIES)
    n_shards = run.n_vertices // narrowest + 2 * (run.n_edges // FEWEST_PIECE_EDGES) + 1
    n_pieces = n_shards + run.n_edges // FEWEST_PIECE_EDGES
    return SHARD_BYTES * n_shards + (PIECE_BYTES + run.value) * n_pieces


def page_table_bytes(run: RunShape) -> int:
    """Return the bytes per page of the tables of a run: at its end a shard may end early."""
    return TABLE_BYTES + (SHARD_BYTES + PIECE_BYTES + run.value + POSITION if run.shards else 0)


def streamed_vertex_bytes(run: RunShape, offset: int) -> int:
    """Return the bytes per vertex on a GPU to which edges are streamed, with offsets of `offset` bytes."""
    messages = 1 if run.asynchronous else 2
    held = (1 + messages) * run.value + 1 + offset * (1 if run.symmetric else 2)
    held += 8 if run.uses_degrees else 0
    return held + (1 + run.vertex if run.notifies else 0)


def streamed_bytes(run: RunShape, offset: int, piece_edges: int) -> int:
    """Return the bytes of a run with streamed edges, without the pages and their table."""
    hubs = HUB_BYTES * (run.n_edges // piece_edges)
    shards = shard_table_bytes(run) if run.shards else 0
    return run.n_vertices * streamed_vertex_bytes(run, offset) + FIXED_BYTES + hubs + shards


def packing_bytes(n_blocks: int, block_edges: int, column: int) -> int:
    """Return the bytes in which a GPU packs blocks of columns of `column` bytes.

    They hold the columns and at most as many bytes of words, two bits for each edge, row offsets and starts.
    """
    block = 2 * block_edges * column + 2 * block_edges // 8 + POSITION * block_edges // OFFSET_SHARE + 128
    return n_blocks * block + FIXED_BYTES


def question_bytes(value: int, ranked: bool, given: int = 0, own: int = 0) -> int:
    """Return the most bytes per vertex that a question about a program holds in addition to the run.

    `given` are those for preparing the initial values, of `value` bytes each, and `own` those for processing
    the final ones.  If `ranked`, the order of internal ids differs from that of the caller's ids.
    """
    return max(value + 1 + given, value * (1 + ranked) + POSITION + own)


def tree_bytes(vertex: int, ranked: bool) -> int:
    """Return the bytes per vertex of a tree: predecessors, flags, and copies in the caller's order."""
    return (1 + ranked) * vertex + 4


def equals_bytes(n_vertices: int, n_edges: int) -> int:
    """Return the bytes of a search along the edges over which the distance does not grow."""
    return LEVEL_EDGE_BYTES * n_edges + LEVEL_VERTEX_BYTES * n_vertices
