"""Arguments of the kernel for several ranks, and the memory where they meet (`kernels/fused_meeting.cuh`)."""

from __future__ import annotations

from typing import NamedTuple

from rapids_trav.engines.cuda.bfs.fused_arguments import ARGUMENTS
from rapids_trav.engines.cuda.runtime.arguments import I32, POINTER, U64, struct
from rapids_trav.engines.cuda.runtime.memory import aligned
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS, Dealing

_SLOT_BYTES = 128
SHARED_BYTES = _SLOT_BYTES * (1 + 2 * MOST_RANKS)  # the size of the kernel's `Shared`
MEETING_BYTES = 2048  # at least the size of its `Meeting`
HEAD_BYTES = 48  # of `Meeting`, with the following
STOP_WORD = 2  # why the search was given up
CLOCK_WORD = 2  # of 64 bits: four times, as in the kernel's `Clock`

# Keyed by bytes of a vertex.
RANKED_ARGUMENTS = {
    size: struct(
        "Arguments",
        base,
        own_offsets=POINTER,
        listed_a=POINTER,
        listed_b=POINTER,
        offers=POINTER,
        offered=POINTER,
        shared=POINTER,
        meeting=POINTER,
        deadline=U64,
        total_vertices=U64,
        total_linked=U64,
        total_edges=U64,
        n_each=base.kinds["n_vertices"],
        rank=I32,
        n_ranks=I32,
    )
    for size, base in ARGUMENTS.items()
}


class SharedLayout(NamedTuple):
    """First bytes of the parts of the memory that other ranks reach, and its size: the same on all ranks."""

    header: int
    bitmap_a: int
    bitmap_b: int
    listed_a: int
    listed_b: int
    offers: int
    n_bytes: int


def shared_layout(dealing: Dealing, lean: bool) -> SharedLayout:
    """Lay out the memory that other ranks reach: two bitmaps of all ids and two lists of own vertices.

    Ranks with rows of own vertices alone, which are `lean`, also have room to offer each id to its owner.
    """
    bitmap = dealing.n_ids // 8
    listed = dealing.each * dealing.vertex_dtype.itemsize
    offers = 2 * dealing.n_ids * dealing.vertex_dtype.itemsize if lean else 0
    begins, n_bytes = aligned((SHARED_BYTES, bitmap, bitmap, listed, listed, offers))
    return SharedLayout._make([*begins, n_bytes])
