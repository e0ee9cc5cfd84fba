"""Messages of a search over many ranks, and the answer of each rank.

Vertices are sent as a list of offsets or a bitmap of the block, whichever is shorter: k vertices of a block
of nb take 4 * k bytes as a list, int32, and nb / 8 bytes as a bitmap, uint32 words, so a bitmap is shorter if
k > nb / 32.  The dtype of the array tells the receiver which of the two it got (docs/systems.md, K10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.engines.multigpu.communicator import Form, Traffic
from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, LocalWork

LIST, BITMAP = np.dtype(np.int32), np.dtype(np.uint32)


def as_bitmap(n_vertices: int, block: int, exchange: str) -> bool:
    """Return whether `n_vertices` vertices of a block are sent as a bitmap."""
    return exchange == "bitmap" or (exchange == "auto" and n_vertices > block // WORD)


def form(n_vertices: int, block: int, exchange: str) -> Form:
    """Return dtype and length of the message with `n_vertices` vertices of a block."""
    return (BITMAP, block // WORD) if as_bitmap(n_vertices, block, exchange) else (LIST, n_vertices)


def pack(work: LocalWork, offsets: Array, block: int, exchange: str) -> Array:
    """Return the array to send for these offsets into a block."""
    return work.to_words(offsets, block // WORD) if as_bitmap(len(offsets), block, exchange) else offsets


def unpack(work: LocalWork, message: Array, n_vertices: int | None = None) -> Array:
    """Return the offsets in a message as a list; their number need not be known."""
    return work.to_offsets(message, n_vertices) if message.dtype == BITMAP else message


def kinds(messages: list[Array]) -> str:
    """Return the format of messages for a trace: "list", "bitmap" or "mixed", and "" for no messages."""
    found = {"bitmap" if message.dtype == BITMAP else "list" for message in messages}
    return "mixed" if len(found) > 1 else found.pop() if found else ""


INLINE = 1 << 12  # 16 KiB, which take no longer than a number


@dataclass(frozen=True)
class LevelRow:
    """Record of one level on one rank."""

    level: int  # distance of the vertices that the level found
    rank: int
    frontier: int  # vertices of this rank in the frontier that was expanded
    direction: str  # "push" or "pull", or "mixed" if the sweeps differ
    edges: int  # followed (push) or examined (pull)
    candidates: int  # vertices claimed, and therefore sent to their owners
    expand_kind: str  # format of the messages to others: "list", "bitmap" or "mixed"; "" if there were none
    fold_kind: str
    expand_bytes: int  # sent to other ranks
    fold_bytes: int
    messages: int  # sent to other ranks, without those of sums
    sum_ms: float  # milliseconds of steps 1 to 5 of `search2d`, including the wait for other ranks
    expand_ms: float
    follow_ms: float
    fold_ms: float
    settle_ms: float


@dataclass(frozen=True)
class RankSearch:
    """One rank's part of the answer, for the vertices `grid.owned(rank)`."""

    distance: Array  # int32, -1 where unreached
    predecessor: Array | None  # `grid.vertex_dtype`, global ids; -1 at sources and where unreached
    trace: list[LevelRow]  # empty unless asked for
    levels: int  # expanded
    traffic: Traffic  # everything that this rank sent to others
    resolution: Traffic  # the part of it that was for predecessors
