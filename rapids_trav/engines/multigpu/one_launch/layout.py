"""Arguments of the kernel for several ranks, and the memory where they meet (`kernels/fused_meeting.cuh`)."""

from __future__ import annotations

from typing import NamedTuple

from rapids_trav.engines.cuda.runtime.arguments import I32, I64, arguments_of
from rapids_trav.engines.cuda.runtime.memory import aligned
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS, Dealing
from rapids_trav.memory.model.spread import THIN_EDGES

_SLOT_BYTES = 128
SHARED_BYTES = _SLOT_BYTES * (1 + 2 * MOST_RANKS)  # the size of the kernel's `Shared`
MEETING_BYTES = 1024  # at least the size of its `Meeting`
HEAD_BYTES = 40  # of `Meeting`, which the host reads
STOP_WORD = 1  # 32-bit word of the head that says why the search stopped
CLOCK_WORD = 1  # 64-bit word of the head where the four times of the kernel's `Clock` begin

# Keyed by bytes of a vertex.
RANKED_ARGUMENTS = {
    size: arguments_of("bfs_fused.cu", vertex=vertex, ranked=True) for size, vertex in ((4, I32), (8, I64))
}


class SharedLayout(NamedTuple):
    """First bytes of the parts of the memory that other ranks reach, and its size: the same on all ranks."""

    header: int
    bitmap_a: int
    bitmap_b: int
    listed_a: int
    listed_b: int
    inbox: int
    offers: int
    n_bytes: int


def shared_layout(dealing: Dealing, lean: bool) -> SharedLayout:
    """Lay out the memory that other ranks reach: two bitmaps of all ids and two lists of own vertices.

    Ranks with rows of all ids also have two inboxes for short lists of the others.  Those with rows of own
    vertices alone, which are `lean`, have room to offer each id to its owner.
    """
    bitmap = dealing.n_ids // 8
    listed = dealing.each * dealing.vertex_dtype.itemsize
    sent = 0 if lean else 2 * dealing.n_ranks * min(dealing.each, THIN_EDGES)  # to both inboxes
    offers = 2 * dealing.n_ids * dealing.vertex_dtype.itemsize if lean else 0
    inbox = 2 * dealing.vertex_dtype.itemsize * sent
    begins, n_bytes = aligned((SHARED_BYTES, bitmap, bitmap, listed, listed, inbox, offers))
    return SharedLayout._make([*begins, n_bytes])
