"""Engine of a rank, behind the interface that algorithms call, and the storage of the rank's edges.

Ranks whose GPUs can access each other's memory search in one launch on each GPU
(`engines.multigpu.one_launch`), unless the caller asks for the variant "2d" or for one of its settings; all
others search on the grid.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from operator import add
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.distributed.ranks.rank_rows import RankRows, degrees
from rapids_trav.engines.multigpu.communicator import RankError, aborting
from rapids_trav.engines.multigpu.follow import sweeps
from rapids_trav.engines.multigpu.one_launch.dealing import SHARED, Dealing
from rapids_trav.engines.multigpu.one_launch.trace import levels_together
from rapids_trav.engines.multigpu.partition import Part, build
from rapids_trav.engines.multigpu.predecessors import smallest
from rapids_trav.engines.multigpu.records import LevelRow
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.engines.searches import BfsOptions, LevelTrace, RankCosts, Search
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move

if TYPE_CHECKING:
    from rapids_trav.engines.multigpu.one_launch.group import Member
    from rapids_trav.memory.model.search import Needed


ROWS = {"both": "rows by both ends for one launch", "lean": "rows by destination for one launch (lean)"}


@dataclass
class LaunchedRows:
    """Rows for searches in one launch on each GPU, by direction, dealt at the first search."""

    numbering: Numbering
    part: Part
    round_edges: int
    members: dict[str, Member] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # why there are none

    def member(self, direction: str) -> Member | None:
        """Return this rank's part in searches in a direction; every rank calls it.

        There is none on CPUs, and where the ranks cannot search in one launch.
        """
        if self.part.work.xp is np or not self.numbering.n:
            return None
        name = direction if self.part.directed else "out"
        if name not in self.members and name not in self.refused:
            try:
                self.members[name] = self._dealt(name)
            except TravError as error:
                if isinstance(error, RankError):
                    raise
                self.refused[name] = str(error)
        return self.members.get(name)

    def memory(self) -> list[tuple[str, int]]:
        """Return the name and the bytes of each structure, and the reason where there is none."""
        held = []
        for direction, member in self.members.items():
            rows, of = member.rank.rows, f", direction {direction}" if self.part.directed else ""
            held.append((f"{ROWS[rows.layout]}{of}", rows.nbytes))
            held.append((f"{SHARED}{of}", member.rank.layout.n_bytes))
        for direction, reason in self.refused.items():
            of = f" in direction {direction}" if self.part.directed else ""
            held.append((f"searches{of} are variant '2d': {reason}", 0))
        return held

    def release(self) -> list[object]:
        """Let go of memory of other ranks; return memory that they may still read."""
        shared: list[object] = [member.release() for member in self.members.values()]
        self.members.clear()
        return shared

    def _dealt(self, direction: str) -> Member:
        from rapids_trav.engines.multigpu.one_launch.deal_among import deal_among, layout_for
        from rapids_trav.engines.multigpu.one_launch.group import Member

        communicator, n = self.numbering.rank.communicator, self.numbering.n
        layout = layout_for(communicator, self.part, n, direction)
        dealing = Dealing(n, communicator.size)
        rows = deal_among(communicator, self.part, dealing, direction, layout, self.round_edges)
        return Member(communicator, rows)


@dataclass(frozen=True)
class RankView:
    """A rank's edges, read in one direction.

    It has the part of `storage.in_memory.MemoryView` that searches use.
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

    def searching(
        self, needed: Needed, variant: str = "auto", most: int = 1, later: int = 0
    ) -> AbstractContextManager[int]:
        """Give 1: ranks search from one source after another, and each search gives its own frame."""
        return nullcontext(1)


class RankStorage:
    """Storage of the edges of one rank.

    When the edges of a filter are built, a rank sends and receives `round_edges` in a round, at most.
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


@dataclass(frozen=True)
class RankEngine:
    """Searches over all ranks, each with the values of the vertices that it owns.

    Every rank calls a method at the same time.  The class has the part of `engines.interface.Engine` that
    searches use.
    """

    numbering: Numbering

    variants = ("auto", "2d")
    gathers = ()
    schedules = ("auto",)
    answers = None
    degree_sort = "radix"
    prefers_asynchronous = False

    @property
    def xp(self) -> ModuleType:
        return self.numbering.rank.xp

    @property
    def name(self) -> str:
        return "cpu" if self.xp is np else "cuda"

    @property
    def place(self) -> str:
        return "host" if self.xp is np else "device"

    @property
    def processor(self) -> str:
        return "cpu" if self.xp is np else "gpu"

    def synchronize(self) -> None:
        """Wait until the device has finished the work on the current stream."""
        self.numbering.rank.synchronize()

    def search(self, view: RankView, sources: Array, options: BfsOptions) -> Search:
        """Search from all sources at once; distance and predecessor have the shape (owned,)."""
        if options.variant == "auto" and not options.of_ranks and view.launched is not None:
            member = view.launched.member(view.direction)
            if member is not None:
                return self._launch(member, sources, options)
        numbering = self.numbering
        found = search(numbering.rank.communicator, view.part, sources, options, direction=view.direction)
        own = slice(numbering.n_owned)
        predecessor = None if found.predecessor is None else found.predecessor[own]
        return Search(found.distance[own], predecessor, self._added_up(found.trace) if options.trace else [])

    def search_each(self, view: RankView, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k sources by itself; distance and predecessor have the shape (k, owned)."""
        xp = self.xp
        found = [self.search(view, source[None], options) for source in sources]
        distance = xp.stack([one.distance for one in found])
        predecessor = xp.stack([one.predecessor for one in found]) if options.predecessors else None
        return Search(distance, predecessor, [level for one in found for level in one.trace])

    def smallest_predecessors(self, view: RankView, distance: Array, ordered: None = None) -> Array:
        """Return each vertex's neighbour one level up that is first in the caller's order, -1 if none."""
        numbering, xp = self.numbering, self.xp
        communicator, owned = numbering.rank.communicator, numbering.place_of_owned
        place = numbering.in_block(owned, np.iinfo(owned.dtype).max)
        rows = []
        with aborting(communicator, "searching for predecessors"):
            for levels in xp.atleast_2d(distance):
                ways = sweeps(view.part, view.direction, False, False)
                whole = numbering.in_block(levels)
                rows.append(smallest(communicator, view.part, ways, whole, place)[: numbering.n_owned])
            return xp.stack(rows).reshape(distance.shape)

    def _launch(self, member: Member, sources: Array, options: BfsOptions) -> Search:
        """Search in one launch on each GPU; every rank calls it."""
        rank, own = self.numbering.rank, slice(self.numbering.n_owned)
        if options.targets is not None:
            options = replace(options, targets=move(options.targets, np))
        with aborting(rank.communicator, "searching"):
            found, levels = member.search(rank.communicator, np.unique(move(sources, np)), options)
        trace = []
        if options.trace:
            trace = levels_together(rank.communicator.gather_objects(levels), member.rank.rows.dealing)
        predecessor = None if found.predecessor is None else found.predecessor[own]
        return Search(found.distance[own], predecessor, trace, device_seconds=found.device_seconds)

    def _added_up(self, rows: list[LevelRow]) -> list[LevelTrace]:
        """Return the levels with counts added up over all ranks, and the time of the slowest rank."""
        mine = [
            (
                row.direction, row.frontier, row.edges, row.expand_bytes + row.fold_bytes, row.follow_ms,
                row.sum_ms + row.expand_ms + row.fold_ms + row.settle_ms,
            )
            for row in rows
        ]  # fmt: skip
        found = []
        for row, *of_ranks in zip(rows, *self.numbering.rank.communicator.gather_objects(mine), strict=True):
            ways, frontier, edges, sent, following, exchange = zip(*of_ranks, strict=True)
            found.append(
                LevelTrace(
                    row.level,
                    ways[0] if len(set(ways)) == 1 else "mixed",
                    sum(frontier),
                    sum(edges),
                    sum(sent),
                    max(map(add, following, exchange)),
                    ranks=tuple(map(RankCosts, following, exchange, sent)),
                )
            )
        return found
