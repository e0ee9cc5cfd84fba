"""Bytes of a vertex program: what the engine works in, and what the question has beside it.

Before and while a program runs, the question has the values that it starts from, of s bytes each, and a flag
for each vertex; what initial values were made of, for a moment.  Afterwards these are gone, and there are the
values that it ended with, perhaps once more in another order of vertices, and what the answer is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

POSITION = 8  # bytes of the position of a vertex in a list
OFFSET_BYTES = 8  # of a row in a page, and one

# On the CPU.
NOTIFIED_BYTES = 20  # of a vertex: a mark, and its place among the active ones and among those notified
LISTED_BYTES = 64  # of a notified vertex in hand: where its edges begin and end, and the same of the last
LISTED_PART = 8  # one vertex in so many is in hand at once ...
LISTED_LEAST = 1 << 6  # ... and so many in any case
BLOCK_BYTES = 192  # of a block: its rows, what waits for it and what it has cost, and how it is chosen
LEAST_PAGE = 1 << 14  # bytes of a page where there is room for them: many small ones take long

# On a GPU, with the edges in its memory.
RUN_BYTES = 1 << 18  # of a run, whatever its size: counters, parameters and the like
HUB_EDGE_BYTES = 1  # of an edge: hubs and the pieces of their rows, at most
SHARD_EDGE_BYTES = 4  # of an edge of a shard: its place in it, as it is made and as it is kept

# On a GPU, with the edges outside it.
FIXED_BYTES = 1 << 14  # counters, parameters, and what is uploaded through
TABLE_BYTES = 112  # of a page: where its lists begin, their lengths, what is notified
HUB_BYTES = 128  # for each piece of a row: hubs and their pieces

# Of the edges along which a distance does not grow, and of the vertices while those are searched: the edges
# listed and in rows with what sorts them; rows, a search and the vertices that it starts from.
LEVEL_EDGE_BYTES, LEVEL_VERTEX_BYTES = 48, 40


@dataclass(frozen=True)
class RunShape:
    """Properties of a run that decide the memory it takes.

    Attributes
    ----------
    n_vertices, n_edges : int
        `n_edges` are those gathered over.
    vertex, value, weight : int
        Bytes of an id, of a value and of a weight (0 in an unweighted run).
    symmetric : bool
        Whether the edges read the same both ways.
    asynchronous : bool
    scatters : bool
        Whether messages are other than values.
    notifies : bool
        Whether an iteration may gather for the notified vertices alone.
    uses_degrees : bool
        Whether the program's functions take the degree.
    copies_degrees, counts_degrees : bool
        Whether degrees are copied, since they may not be written; and whether they are sums of weights, so
        that a run that gathers counts edges beside them.
    between : int
        Bytes for each vertex of what is made between iterations.
    """

    n_vertices: int
    n_edges: int
    vertex: int
    value: int
    weight: int = 0
    symmetric: bool = True
    asynchronous: bool = False
    scatters: bool = False
    notifies: bool = True
    uses_degrees: bool = False
    copies_degrees: bool = False
    counts_degrees: bool = False
    between: int = 0

    @property
    def edge(self) -> int:
        """Bytes of an edge: where it leads, and its weight."""
        return self.vertex + self.weight


def listed_at_once(n_vertices: int) -> int:
    """Return how many notified vertices have their edges listed at once."""
    return max(n_vertices // LISTED_PART, LISTED_LEAST)


def working_bytes(run: RunShape) -> int:
    """Return what a run takes on the CPU: values and messages, flags, and what one that notifies lists."""
    n = run.n_vertices
    arrays = (1 if run.asynchronous else 2) * (2 if run.scatters else 1)
    held = arrays * run.value + 1
    held += 8 if run.counts_degrees else 0
    held += 8 if run.copies_degrees else 0
    listed = 0
    if run.notifies:
        taken_over = 0 if run.asynchronous else run.value
        listed = (NOTIFIED_BYTES + taken_over) * n + LISTED_BYTES * min(listed_at_once(n), n)
    return held * n + max(listed, run.between * n)  # one after another


def push_bytes(run: RunShape) -> int:
    """Return what a push takes: its lists and, in rounds, a message and a former value of each vertex."""
    buffers = 0 if run.asynchronous else 2 * run.value
    # What is active is listed once more when the lists are read.
    return run.n_vertices * (3 * run.vertex + 1 + buffers + POSITION)


def block_state_bytes(run: RunShape, n_blocks: int) -> int:
    """Return what a run over blocks takes beside its places: values, flags, and three lists.

    A vertex has an entry in a list, and a flag, for each block that its row reaches into.
    """
    n_items = run.n_vertices + n_blocks
    held = run.value + 1 + (8 if run.copies_degrees else 0)
    # Values are made of those that the run starts with before anything is made between iterations.
    return run.n_vertices * (held + run.between) + n_items * (3 * run.vertex + 1) + n_blocks * BLOCK_BYTES


def page_bytes(n_edges: int, n_rows: int, edge: int) -> int:
    """Return the bytes of a page on the CPU, with the longest rows and the most rows that any page has."""
    return n_edges * edge + OFFSET_BYTES * (n_rows + 1)


def resident_bytes(run: RunShape, shards: bool = False) -> int:
    """Return what a run takes on a GPU that has the edges in its memory.

    Values, two kinds of messages, flags and marks; two queues and two lists of rows; hubs and the pieces of
    their rows, or the edges of shards.
    """
    own = 3 * run.value + 3 + 4 * run.vertex + run.between
    return own * run.n_vertices + RUN_BYTES + (SHARD_EDGE_BYTES if shards else HUB_EDGE_BYTES) * run.n_edges


def streamed_vertex_bytes(run: RunShape, offset: int) -> int:
    """Return what a vertex takes on a GPU that edges stream through, if offsets have `offset` bytes."""
    messages = 1 if run.asynchronous else 2
    held = (1 + messages) * run.value + 1 + offset * (1 if run.symmetric else 2)
    held += 8 if run.uses_degrees else 0
    return held + (1 + run.vertex if run.notifies else 0)


def streamed_bytes(run: RunShape, offset: int, piece_edges: int) -> int:
    """Return what such a run takes beside its pages and the table of them."""
    hubs = HUB_BYTES * (run.n_edges // piece_edges)
    return run.n_vertices * streamed_vertex_bytes(run, offset) + FIXED_BYTES + hubs


def question_bytes(value: int, ranked: bool, given: int = 0, own: int = 0) -> int:
    """Return, for each vertex, what a question about a program takes at any time beside the run.

    Parameters
    ----------
    value : int
        Bytes of a value.
    ranked : bool
        Whether internal ids are in another order than the caller's.
    given, own : int
        What the question takes for the values to start from, and for what it makes of those at the end.
    """
    return max(value + 1 + given, value * (1 + ranked) + POSITION + own)


def shortcut_bytes(vertex: int, ranked: bool, host: bool) -> int:
    """Return, for each vertex, what shortcuts of labels take between iterations.

    The new labels; which changed, and where; and those labels, and what they name.  A GPU finds positions in
    two steps, of which each makes a list.
    """
    return POSITION * (1 if host else 2) + (3 + ranked) * vertex + 2


def union_bytes(n_vertices: int, vertex: int) -> int:
    """Return what linking trees takes to find components: a parent of each vertex."""
    return n_vertices * vertex


def tree_bytes(vertex: int, ranked: bool) -> int:
    """Return, for each vertex, what a tree takes: predecessors, flags, and all in the caller's order."""
    return (1 + ranked) * vertex + 4


def equals_bytes(n_vertices: int, n_edges: int) -> int:
    """Return what searching the edges takes along which distances do not grow."""
    return LEVEL_EDGE_BYTES * n_edges + LEVEL_VERTEX_BYTES * n_vertices
