"""Formats of messages with vertices: a list of offsets or a bitmap of the block, whichever is shorter.

k vertices of a block of nb take 4 * k bytes as a list, int32, and nb / 8 bytes as a bitmap, uint32 words; so
a bitmap is shorter if k > nb / 32.  The dtype of the array tells the receiver which of the two it got
(docs/systems.md, K10).
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.multigpu.communicator import Form
from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, LocalWork

EXCHANGES = ("auto", "list", "bitmap")
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
