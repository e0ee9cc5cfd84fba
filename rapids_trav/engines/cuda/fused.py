"""The fused search: a whole BFS in one cooperative launch of `kernels/bfs_fused.cu`.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012;
D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012.

The idea: a level of a small frontier costs less than telling the host about it, so the host is not told.  The
device chooses each level's direction and stops by itself; the host launches once and gets arrays back.

Steps: take the working memory in one allocation, clear the block of counters, launch.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from rapids_trav.engines.cuda.loader import Defines, defines_of, load_for, multiprocessors
from rapids_trav.errors import TravError
from rapids_trav.structures import Adjacency, BfsOptions, LevelTrace, Search, View

FILE = "bfs_fused.cu"
# Must agree with the kernel: most edges of a vertex that is no hub, most edges of a frontier that one block
# searches alone, bytes of `Control`.
HUB_DEGREE = 128
SOLO_EDGES = 1024
CONTROL_BYTES = 256
TRACE_ROW = 4
TRACE_LEVELS = 1 << 22
# Push while the frontier has fewer edges than the unexplored part over alpha; after a pull, push again when
# it has fewer vertices than the unvisited part over beta.
ALPHA, BETA = 30.0, 24.0

# Threads of a block; there is one block to a multiprocessor.  More of them keep more of memory busy, fewer
# meet sooner at the end of a level: so it goes by what a level has to do.
SMALL_BLOCK, LARGE_BLOCK = 512, 1024
SMALL_DEGREE = 16

SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (FILE, defines_of(FILE, vertex, edge, BLOCK_SIZE=block_size, PREDECESSORS=parents, TRACE=trace))
    for vertex, edge, block_size in (
        (32, 32, SMALL_BLOCK),
        (32, 32, LARGE_BLOCK),
        (32, 64, SMALL_BLOCK),
        (32, 64, LARGE_BLOCK),
        (64, 64, SMALL_BLOCK),
    )
    for parents in (0, 1)
    for trace in (0, 1)
)


def _block_size(out: Adjacency) -> int:
    # With 64-bit ids a thread needs more registers than a full block leaves it.
    wide = out.column_indices.dtype.itemsize == 8
    return SMALL_BLOCK if wide or out.n_edges < SMALL_DEGREE * out.n_vertices else LARGE_BLOCK


def bfs_fused(view: View, sources: Any, options: BfsOptions, hub_words: int = 0) -> Search:
    """Search from `sources` (unique internal ids, one joint frontier) in one launch."""
    out, into = view.out, view.into
    n_vertices, vertex = view.n_vertices, out.column_indices.dtype
    distance = cupy.empty(n_vertices, np.int32)
    predecessor = cupy.empty(n_vertices, vertex) if options.predecessors else None
    if n_vertices == 0:
        return Search(distance, predecessor)
    targets, n_targets = _bitmap(options.targets, n_vertices)
    trace = cupy.empty((min(n_vertices + 1, TRACE_LEVELS), TRACE_ROW), np.int64) if options.trace else None
    workspace, pointers = _workspace(out, len(sources))
    limit = np.iinfo(np.int32).max - 1 if options.depth_limit is None else options.depth_limit

    block_size = _block_size(out)
    kernels = load_for(
        FILE,
        out,
        cooperative=True,
        BLOCK_SIZE=block_size,
        PREDECESSORS=int(options.predecessors),
        TRACE=int(options.trace),
    )
    control = pointers["control"]
    stream = cupy.cuda.get_current_stream()
    cupy.cuda.runtime.memsetAsync(control, 0, CONTROL_BYTES, stream.ptr)
    kernels.function("bfs_fused")(
        (multiprocessors(cupy.cuda.runtime.getDevice()),),
        (block_size,),
        (
            out.row_offsets,
            out.column_indices,
            into.row_offsets,
            into.column_indices,
            _pointer(into.first_neighbors),
            vertex.type(n_vertices),
            # In a symmetric graph the only edge of a leaf leads back to where the search came from.
            vertex.type(1 if into is out else 0),
            vertex.type(hub_words),
            sources.astype(vertex, copy=False),
            vertex.type(len(sources)),
            _pointer(targets),
            np.uint64(n_targets),
            np.int32(min(limit, np.iinfo(np.int32).max - 1)),
            np.float32(ALPHA),
            np.float32(BETA),
            distance,
            _pointer(predecessor),
            *(np.uint64(pointers[name]) for name in _QUEUES),
            np.uint64(control),
            _pointer(trace),
            np.uint32(0 if trace is None else len(trace)),
        ),
    )
    rows = [] if trace is None else _levels(trace, workspace, out)
    return Search(distance, predecessor, rows)


_QUEUES = ("near", "visited", "bitmap_a", "bitmap_b", "narrow_a", "narrow_b", "hubs_a", "hubs_b")


def _workspace(out: Adjacency, n_sources: int) -> tuple[Any, dict[str, int]]:
    """Working memory in one allocation, and where each part of it begins; the control block comes first."""
    words = -(-out.n_vertices // 32)
    vertex, edge = out.column_indices.dtype.itemsize, out.row_offsets.dtype.itemsize
    # A level is pushed only while its edges are few, and so is what it finds.
    pushed = int(max(out.n_edges / ALPHA, 2 * out.n_vertices / BETA)) + SOLO_EDGES + n_sources
    narrow = min(out.n_vertices, pushed) * -(-(vertex + edge + 4) // 16) * 16
    hubs = 16 * (min(out.n_vertices, out.n_edges // (HUB_DEGREE + 1)) + 1)
    sizes = {
        "control": CONTROL_BYTES,
        "near": out.n_vertices,
        "visited": 4 * words,
        "bitmap_a": 4 * words,
        "bitmap_b": 4 * words,
    }
    sizes |= {"narrow_a": narrow, "narrow_b": narrow, "hubs_a": hubs, "hubs_b": hubs}
    begins, total = {}, 0
    for name, size in sizes.items():
        begins[name] = total
        total += -(-size // 256) * 256
    memory = cupy.empty(total, np.uint8)
    return memory, {name: memory.data.ptr + begin for name, begin in begins.items()}


def _bitmap(vertices: Any, n_vertices: int) -> tuple[Any, int]:
    if vertices is None:
        return None, 0
    marks = cupy.zeros(-(-n_vertices // 32) * 32, np.bool_)
    marks[vertices] = True
    return cupy.packbits(marks, bitorder="little"), int(marks.sum())


def _pointer(array: Any) -> np.uint64:
    return np.uint64(0 if array is None else array.data.ptr)


def _levels(trace: Any, workspace: Any, out: Adjacency) -> list[LevelTrace]:
    n_levels = int(workspace[:CONTROL_BYTES].view(np.uint32)[_LEVELS])
    if n_levels >= TRACE_LEVELS:
        raise TravError(
            f"The search has {n_levels} levels and a trace holds {TRACE_LEVELS - 1}: use trace=False."
        )
    rows = trace[: n_levels + 1].get()
    vertex, edge = out.column_indices.dtype.itemsize, out.row_offsets.dtype.itemsize
    bitmaps = 3 * out.n_vertices // 8
    found = []
    for level in range(1, n_levels + 1):
        pull, frontier, edges, end = (int(value) for value in rows[level])
        moved = edges * (vertex + 4) + (bitmaps if pull else frontier * (vertex + 2 * edge))
        milliseconds = (end - int(rows[level - 1][3])) / 1e6
        found.append(LevelTrace(level, "pull" if pull else "push", frontier, edges, moved, milliseconds))
    return found


# Where `Control.levels` lies, in 32-bit words: behind three levels of 64 bytes, `solo` and the barrier.
_LEVELS = (3 * 64 + 32 + 4) // 4
