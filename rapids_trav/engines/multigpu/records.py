"""Options of a search over many ranks, and the answer of each rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.engines.multigpu.communicator import Form, Traffic
from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, LocalWork
from rapids_trav.errors import TravError, listed

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


DIRECTIONS = ("out", "in", "both")
CLAIMS = ("atomics", "sort")
INLINE = 1 << 12  # 16 KiB, which take no longer than a number


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search, the same on every rank.

    Attributes
    ----------
    direction : {"out", "in", "both"}
        Direction in which edges are followed; it has no effect in an undirected graph.
    depth_limit : int or None
        Levels to search; 0 gives only the sources.
    targets : int array or None
        Stop after the level in which the last of these vertices is found.
    predecessors : bool
    deterministic : bool
        Return the smallest of all valid predecessors.  This sends the levels of all vertices to the ranks
        that have edges with them, 4 bytes per vertex and message.
    exchange : {"auto", "list", "bitmap"}
        Format of the messages; auto takes the shorter one for each message.
    claim : {"atomics", "sort"}
        How a rank determines the vertices that are new to it: by a bitmap (atomics), or by sorting all
        candidates (sort), the baseline.
    bottom_up : bool or None
        Let each rank, at each level, search from the vertices that it has not claimed for edges from the
        frontier, if that is likely to examine fewer edges.  This needs the edges grouped by both ends, which
        takes twice the memory.  None: where a rank has memory for them, but not with claim="sort".
    inline : int
        Most 32-bit words of a frontier that are sent along with the sums.  Longer ones are sent on their own
        when their lengths are known.
    trace : bool
    """

    direction: str = "out"
    depth_limit: int | None = None
    targets: Array | None = None
    predecessors: bool = True
    deterministic: bool = False
    exchange: str = "auto"
    claim: str = "atomics"
    bottom_up: bool | None = False
    inline: int = INLINE
    trace: bool = False

    def __post_init__(self) -> None:
        for name, known in (("direction", DIRECTIONS), ("exchange", EXCHANGES), ("claim", CLAIMS)):
            if getattr(self, name) not in known:
                raise TravError(
                    f"{name}={getattr(self, name)!r} is not known: choose one of {listed(known)}."
                )
        if self.depth_limit is not None and self.depth_limit < 0:
            raise TravError(f"depth_limit={self.depth_limit} is negative: give 0 or more, or None.")
        if self.bottom_up and self.claim == "sort":
            raise TravError(
                "bottom_up=True claims by a bitmap, and claim='sort' does not: choose one of them."
            )


@dataclass(frozen=True)
class LevelRow:
    """Record of one level on one rank.

    Attributes
    ----------
    level : int
        Distance of the vertices that the level found.
    rank : int
    frontier : int
        Vertices of this rank in the frontier that was expanded.
    direction : str
        "push" or "pull", or "mixed" if the sweeps differ.
    edges : int
        Edges followed (push) or examined (pull).
    candidates : int
        Vertices claimed, and therefore sent to their owners.
    expand_kind, fold_kind : str
        Format of the messages to other ranks: "list", "bitmap" or "mixed"; "" if there were none.
    expand_bytes, fold_bytes : int
        Bytes sent to other ranks.
    messages : int
        Messages sent to other ranks.
    sum_ms, expand_ms, follow_ms, fold_ms, settle_ms : float
        Milliseconds of steps 1 to 5 of `search2d`, including the wait for other ranks.
    """

    level: int
    rank: int
    frontier: int
    direction: str
    edges: int
    candidates: int
    expand_kind: str
    fold_kind: str
    expand_bytes: int
    fold_bytes: int
    messages: int
    sum_ms: float
    expand_ms: float
    follow_ms: float
    fold_ms: float
    settle_ms: float


@dataclass(frozen=True)
class RankSearch:
    """One rank's part of the answer, for the vertices `grid.owned(rank)`.

    Attributes
    ----------
    distance : int32 array
        -1 where unreached.
    predecessor : array of `grid.vertex_dtype` or None
        Global ids; -1 at sources and where unreached.
    trace : list of LevelRow
        Empty unless asked for.
    levels : int
        Levels expanded.
    traffic : Traffic
        Everything that this rank sent to others.
    resolution : Traffic
        The part of `traffic` that was for predecessors.
    """

    distance: Array
    predecessor: Array | None
    trace: list[LevelRow]
    levels: int
    traffic: Traffic
    resolution: Traffic
