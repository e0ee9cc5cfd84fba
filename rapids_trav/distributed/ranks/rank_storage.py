"""Storage of a rank's edges: in the grid, filtered by the most recent filter, and as rows for one launch."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.launched_rows import LaunchedRows
from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.distributed.ranks.part_counts import degrees
from rapids_trav.distributed.ranks.rank_rows import RankRows
from rapids_trav.engines.multigpu.partition import Part, build
from rapids_trav.memory.budget import Beside
from rapids_trav.memory.model.search import Searches


@dataclass(frozen=True)
class RankView:
    """A rank's edges, read in one direction.

    It has the part of `storage.interface.SearchView` that searches use.
    """

    part: Part
    direction: str
    numbering: Numbering
    launched: LaunchedRows | None = None  # of all edges; None for those of a filter
    limited = False

    @property
    def into(self) -> RankView:
        """The view that predecessors are read from: this one."""
        return self

    def degrees(self) -> Array:
        """Return the number of edges in this direction at each vertex owned here; every rank calls it."""
        communicator = self.numbering.rank.communicator
        return degrees(communicator, self.part, self.direction)[: self.numbering.n_owned]

    def searching(self, asked: Searches) -> AbstractContextManager[None]:
        return nullcontext()

    def searches_at_once(self, most: int, asked: Searches) -> int:
        """Return 1: ranks search from one source after another, and each search gives its own frame."""
        return 1

    def searching_ahead(self, most: int, asked: Searches) -> AbstractContextManager[int]:
        return nullcontext(0)


class RankStorage:
    """Storage of the edges of one rank.

    Parameters
    ----------
    numbering : Numbering
    part : Part
    rows : RankRows
    round_edges : int
        Edges that a rank sends and receives in a round when the edges of a filter are built, at most.
    """

    budget = None

    def __init__(self, numbering: Numbering, part: Part, rows: RankRows, round_edges: int) -> None:
        self.part = part
        self._numbering = numbering
        self._rows = rows
        self._round_edges = round_edges
        self._recent: tuple[Hashable, Part] | None = None
        self._launched = LaunchedRows(numbering, part, round_edges)

    def view(self, direction: str = "out", where: Hashable | None = None) -> RankView:
        """Return the edges in a direction; if `where` is given, every rank calls it."""
        launched = self._launched if where is None else None
        return RankView(self._part(where), direction, self._numbering, launched)

    def room(self, n_bytes: int, what: str, beside: Beside = 0) -> AbstractContextManager[None]:
        return nullcontext()

    def _part(self, where: Hashable | None) -> Part:
        if where is None:
            return self.part
        if self._recent is None or self._recent[0] != where:
            self._recent = None  # freed before its successor is built
            rank, whole = self._numbering.rank, self.part
            chunks = self._rows.filtered(where)
            part = build(
                rank.communicator,
                whole.grid,
                chunks,
                whole.work,
                directed=whole.directed,
                round_edges=self._round_edges,
            )
            self._recent = (where, part)
        return self._recent[1]

    def release(self) -> list[object]:
        """Let go of memory of other ranks; return memory that they may still read."""
        return self._launched.release()

    def memory(self) -> list[tuple[str, int]]:
        """Return the name and the bytes of each structure of this rank."""
        held = self._held("", self.part)
        if self._recent is not None:
            held += self._held(f", where {self._recent[0]!r}", self._recent[1])
        return held + self._launched.memory()

    def _held(self, note: str, part: Part) -> list[tuple[str, int]]:
        forward = "CSR" if part.directed else "CSR, symmetrised"
        transposed = part.nbytes - part.by_source.nbytes
        return [(f"{forward}{note}", part.by_source.nbytes)] + [(f"CSC{note}", transposed)] * (transposed > 0)
